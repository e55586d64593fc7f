use crate::{LinalgError, WorkerPool};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::prelude::{IntoConst, Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};
use ndarray::{Array1, Array2, ArrayView2};
use std::sync::{Mutex, PoisonError};

/// Relative jitters worth trying before a nearly singular matrix is given up.
///
/// Rounding in `K + λ n I` perturbs eigenvalues by about `n ε` times the mean diagonal; the ladder
/// starts below that and ends where a kernel matrix would visibly change.
pub const JITTER_LADDER: [f64; 5] = [1e-15, 1e-13, 1e-11, 1e-9, 1e-7];

/// The Cholesky factor of a symmetric positive definite matrix, `A = L Lᵀ`.
///
/// Factored in place, in f64, on the calling thread by default, in `n³/3` flops.
///
/// ```
/// use mercer_linalg::Cholesky;
/// use ndarray::array;
/// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 3.0]])?;
/// let x = factor.solve(&array![[8.0], [7.0]])?;
/// assert!((x[[0, 0]] - 1.25).abs() < 1e-15 && (x[[1, 0]] - 1.5).abs() < 1e-15);
/// assert!((factor.log_determinant() - 8f64.ln()).abs() < 1e-15);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    /// Column-major `n × n`: `L` on and below the diagonal, what was left of `A` above it.
    storage: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Factors `matrix` (`n × n`), whose memory it takes over. Only the triangle on and above the
    /// diagonal is read.
    ///
    /// # Errors
    /// [`LinalgError::NotSquare`], [`LinalgError::Empty`], [`LinalgError::NotPositiveDefinite`]
    /// with the pivot, or [`LinalgError::NotFinite`].
    pub fn factor(matrix: Array2<f64>) -> Result<Self, LinalgError> {
        Self::factor_on(1, matrix)
    }

    /// Runs [`Cholesky::factor`] on so many threads; 0 counts as 1.
    ///
    /// # Errors
    /// As [`Cholesky::factor`].
    pub fn factor_on(threads: usize, matrix: Array2<f64>) -> Result<Self, LinalgError> {
        let mut factor = Self::store(matrix)?;
        factor.run(threads)?;
        Ok(factor)
    }

    /// Factors `matrix`, or else `matrix + j I` for the first `j` of a ladder that succeeds. It returns that `j`, 0 if
    /// none was needed.
    ///
    /// The ladder's entries are relative to the mean diagonal of `matrix`
    /// ([`JITTER_LADDER`] is a good one); the returned jitter is absolute. No copy of the matrix
    /// is made: after a failed attempt it is put back from the triangle below the diagonal. So both triangles must be
    /// filled, unlike for [`Cholesky::factor`].
    ///
    /// # Errors
    /// As [`Cholesky::factor`], with the pivot of the last attempt; [`LinalgError::Argument`] for a
    /// jitter that is not positive and finite.
    pub fn with_jitter(matrix: Array2<f64>, ladder: &[f64]) -> Result<(Self, f64), LinalgError> {
        Self::with_jitter_on(1, matrix, ladder)
    }

    /// Runs [`Cholesky::with_jitter`] on so many threads; 0 counts as 1.
    ///
    /// # Errors
    /// As [`Cholesky::with_jitter`].
    pub fn with_jitter_on(
        threads: usize,
        matrix: Array2<f64>,
        ladder: &[f64],
    ) -> Result<(Self, f64), LinalgError> {
        if let Some(&value) = ladder.iter().find(|j| !(**j > 0.0 && j.is_finite())) {
            let (name, must) = ("jitter", "positive and finite");
            return Err(LinalgError::Argument { name, value, must });
        }
        let mut factor = Self::store(matrix)?;
        let n = factor.size;
        let diagonal: Vec<f64> = (0..n).map(|i| factor.storage[i * n + i]).collect();
        let mean = diagonal.iter().sum::<f64>() / n as f64;
        let mut failure = match factor.run(threads) {
            Ok(()) => return Ok((factor, 0.0)),
            Err(failure) => failure,
        };
        for relative in ladder {
            if !matches!(failure, LinalgError::NotPositiveDefinite { .. }) {
                break;
            }
            let jitter = relative * mean;
            factor.restore(&diagonal, jitter);
            match factor.run(threads) {
                Ok(()) => return Ok((factor, jitter)),
                Err(next) => failure = next,
            }
        }
        Err(failure)
    }

    /// Returns the number of rows `n`.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns `A⁻¹ B` for the right-hand sides in the columns of `right` (`n × m`).
    ///
    /// # Errors
    /// [`LinalgError::Height`].
    pub fn solve(&self, right: &Array2<f64>) -> Result<Array2<f64>, LinalgError> {
        self.solved(right, |factor, right| {
            llt::solve::solve_in_place(factor, right, Par::Seq, MemStack::new(&mut []));
        })
    }

    /// Returns `L⁻¹ B` for the columns of `right` (`n × m`).
    ///
    /// ```
    /// use mercer_linalg::Cholesky;
    /// use ndarray::array;
    /// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 10.0]])?; // L = (2 0; 1 3)
    /// let solved = factor.solve_lower(&array![[2.0], [7.0]])?;
    /// assert!((solved - array![[1.0], [2.0]]).iter().all(|off| off.abs() < 1e-15)); // rounding is the processor's
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError::Height`].
    pub fn solve_lower(&self, right: &Array2<f64>) -> Result<Array2<f64>, LinalgError> {
        self.solved(right, |factor, right| solve_lower_triangular_in_place(factor, right, Par::Seq))
    }

    /// Returns `L⁻ᵀ B` for the columns of `right` (`n × m`).
    ///
    /// ```
    /// use mercer_linalg::Cholesky;
    /// use ndarray::array;
    /// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 10.0]])?; // L = (2 0; 1 3)
    /// let solved = factor.solve_upper(&array![[4.0], [6.0]])?;
    /// assert!((solved - array![[1.0], [2.0]]).iter().all(|off| off.abs() < 1e-15)); // rounding is the processor's
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError::Height`].
    pub fn solve_upper(&self, right: &Array2<f64>) -> Result<Array2<f64>, LinalgError> {
        self.solved(right, |factor, right| {
            solve_upper_triangular_in_place(factor.transpose(), right, Par::Seq);
        })
    }

    /// What a solver makes of right-hand sides, row by row.
    fn solved(
        &self,
        right: &Array2<f64>,
        solver: impl Fn(MatRef<'_, f64>, MatMut<'_, f64>),
    ) -> Result<Array2<f64>, LinalgError> {
        let (expected, (found, columns)) = (self.size, right.dim());
        if expected != found {
            return Err(LinalgError::Height { expected, found });
        }
        let mut storage: Vec<f64> = right.iter().copied().collect();
        solver(self.view(), MatMut::from_row_major_slice_mut(&mut storage, found, columns));
        let mut solution = Array2::zeros((found, columns));
        solution.iter_mut().zip(storage).for_each(|(to, value)| *to = value);
        Ok(solution)
    }

    /// Computes the diagonal of `A⁻¹`, from `L⁻¹`. It takes `n³/3` multiply-adds, a sixth of what solving for all unit
    /// vectors takes.
    ///
    /// ```
    /// use mercer_linalg::Cholesky;
    /// use ndarray::array;
    /// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 3.0]])?;
    /// let diagonal = factor.inverse_diagonal();
    /// assert!((diagonal[0] - 0.375).abs() < 1e-15 && (diagonal[1] - 0.5).abs() < 1e-15);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    pub fn inverse_diagonal(&self) -> Array1<f64> {
        let mut inverse = Mat::<f64>::zeros(self.size, self.size);
        invert_lower_triangular(inverse.as_mut(), self.view(), Par::Seq);
        (0..self.size).map(|j| (j..self.size).map(|i| inverse[(i, j)].powi(2)).sum()).collect()
    }

    /// Returns `ln det A = 2 Σ ln L_ii`.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.pivots().map(f64::ln).sum::<f64>()
    }

    /// Returns the factor `L`, lower triangular.
    pub fn lower(&self) -> Array2<f64> {
        let n = self.size;
        Array2::from_shape_fn((n, n), |(i, j)| if i >= j { self.storage[j * n + i] } else { 0.0 })
    }

    /// Returns the remainder of the factored matrix, row by row. Strictly below the diagonal stand its entries, on it
    /// and above it the entries of `Lᵀ`.
    ///
    /// Whoever needs the matrix once more is so spared a copy.
    ///
    /// ```
    /// use mercer_linalg::Cholesky;
    /// use ndarray::array;
    /// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 3.0]])?;
    /// assert_eq!(factor.remainder()[[1, 0]], 2.0);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    #[expect(clippy::missing_panics_doc, reason = "the storage always holds n × n entries")]
    pub fn remainder(&self) -> ArrayView2<'_, f64> {
        ArrayView2::from_shape((self.size, self.size), &self.storage)
            .expect("the storage holds n × n entries")
    }

    /// Returns the memory, for the next matrix of the size; its entries mean nothing.
    #[expect(clippy::missing_panics_doc, reason = "the storage always holds n × n entries")]
    pub fn into_memory(self) -> Array2<f64> {
        let size = (self.size, self.size);
        Array2::from_shape_vec(size, self.storage).expect("the storage holds n × n entries")
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.storage, self.size, self.size)
    }

    /// `L_ii`.
    fn pivots(&self) -> impl Iterator<Item = f64> {
        (0..self.size).map(|i| self.storage[i * self.size + i])
    }

    fn store(matrix: Array2<f64>) -> Result<Self, LinalgError> {
        let (rows, columns) = matrix.dim();
        if rows != columns {
            return Err(LinalgError::NotSquare { rows, columns });
        }
        if rows == 0 {
            return Err(LinalgError::Empty { rows, columns });
        }
        // Row-major read as column-major is the transpose; of a symmetric matrix, itself.
        let matrix = if matrix.is_standard_layout() {
            matrix
        } else {
            matrix.as_standard_layout().into_owned()
        };
        let (mut storage, offset) = matrix.into_raw_vec_and_offset();
        // A slice that was moved out of a larger array keeps that array's memory.
        let start = offset.unwrap_or(0);
        storage.truncate(start + rows * rows);
        storage.drain(..start);
        Ok(Self { storage, size: rows })
    }

    /// Left-looking as a whole, or panel by panel: each panel is then taken from the matrix right of it. (The engine's
    /// own whole-matrix routine uses the triangle above the diagonal as scratch; these leave it alone, which is what
    /// lets a ladder of jitters do without a second matrix.)
    fn run(&mut self, threads: usize) -> Result<(), LinalgError> {
        let n = self.size;
        let matrix = MatMut::from_column_major_slice_mut(&mut self.storage, n, n);
        if n < LARGE && (n < ALIAS || !n.is_multiple_of(ALIAS)) {
            left_looking(matrix, 128, (0, n), threads)?;
        } else {
            by_panels(matrix, threads)?;
        }
        // A NaN or an infinity anywhere in the triangle ends up in the pivot of its row.
        if self.pivots().any(|pivot| !pivot.is_finite()) {
            return Err(LinalgError::NotFinite { operation: OPERATION });
        }
        Ok(())
    }

    /// Puts `A + jitter I` back after a failed attempt, from the triangle that was not touched.
    fn restore(&mut self, diagonal: &[f64], jitter: f64) {
        // In tiles: a plain transposition misses the cache on every write.
        const TILE: usize = 64;
        let n = self.size;
        for columns in (0..n).step_by(TILE) {
            for rows in (columns..n).step_by(TILE) {
                for column in columns..(columns + TILE).min(n) {
                    for row in rows.max(column + 1)..(rows + TILE).min(n) {
                        self.storage[column * n + row] = self.storage[row * n + column];
                    }
                }
            }
        }
        for (i, entry) in diagonal.iter().enumerate() {
            self.storage[i * n + i] = entry + jitter;
        }
    }
}

const OPERATION: &str = "the Cholesky factorisation";
/// Rows from which panels pay that are factored and then taken from the rest.
const LARGE: usize = 2048;
/// Columns this many doubles apart, or a multiple of it, share a set of the first cache: of 8192 rows a
/// left-looking factor took 1.4 times as long as of 8200.
const ALIAS: usize = 512;
/// Columns of a panel: so many flops there are to each number of the rest that is read and written.
const PANEL: usize = 384;
/// Rows of a panel that a thread takes at once.
const STRIP: usize = 288;
/// Up to so many threads, one factors the next panel alone, while the others take the last one from the rest; with
/// more they would wait for it.
const AHEAD: usize = 4;

/// A thread's piece: the next panel, whose outcome it writes down, or columns of the rest. The first of these columns
/// is number `start`.
enum Piece<'a> {
    Panel {
        panel: MatMut<'a, f64>,
        desk: MatMut<'a, f64>,
        outcome: &'a mut Result<(), LinalgError>,
    },
    Rest {
        start: usize,
        columns: MatMut<'a, f64>,
    },
}

/// Memory of one panel's columns each, for whoever works.
type Rooms<'a> = Mutex<Vec<MatMut<'a, f64>>>;

/// Factors a matrix by panels of columns; each panel is then taken from the matrix right of it. There the next panel
/// comes first: one thread factors it while the others go on with the rest. So none waits for a panel as long as the
/// rest is large.
fn by_panels(mut matrix: MatMut<'_, f64>, threads: usize) -> Result<(), LinalgError> {
    let n = matrix.nrows();
    let threads = threads.clamp(1, n.div_ceil(PANEL));
    let mut crew = WorkerPool::new(threads);
    // Taken once: touching new memory for each panel cost a tenth of a second of 8192 rows. Its columns do not share
    // cache sets.
    let mut memory = Mat::<f64>::zeros(PANEL + 8, (threads + 2) * PANEL);
    let (mut desk, rooms) = memory.as_mut().split_at_col_mut(2 * PANEL);
    let rooms = Mutex::new(side_by_side(rooms, PANEL).collect());
    let nothing = MatRef::from_column_major_slice(&[], n, 0);
    let first = matrix.rb_mut().subcols_mut(0, PANEL.min(n));
    factor_panel(first, nothing, (0, n), &mut crew, desk.rb_mut(), &rooms)?;
    for start in (PANEL..n).step_by(PANEL) {
        let rows = n - start;
        let (done, open) = matrix.rb_mut().split_at_col_mut(start);
        let known = done.into_const().submatrix(start, start - PANEL, rows, PANEL);
        let (mut panel, right) = open.subrows_mut(start, rows).split_at_col_mut(PANEL.min(rows));
        let mut outcome = Ok(());
        let mut pieces = Vec::new();
        let width = panel.ncols();
        if threads <= AHEAD && rows >= LARGE {
            pieces.push(Piece::Panel { panel, desk: desk.rb_mut(), outcome: &mut outcome });
        } else {
            factor_panel(panel.rb_mut(), known, (start, n), &mut crew, desk.rb_mut(), &rooms)?;
        }
        let starts = (width..).step_by(PANEL);
        let rest = starts.zip(side_by_side(right, PANEL));
        pieces.extend(rest.map(|(start, columns)| Piece::Rest { start, columns }));
        // Pieces are handed to whichever thread is free, the tallest first: what becomes of one does not depend on
        // the others.
        crew.for_each(&mut pieces, |_, piece| match piece {
            Piece::Panel { panel, desk, outcome } => {
                let (alone, place) = (&mut WorkerPool::new(1), (start, n));
                **outcome =
                    factor_panel(panel.rb_mut(), known, place, alone, desk.rb_mut(), &rooms);
            }
            Piece::Rest { start, columns } => take_from(columns.rb_mut(), *start, known, &rooms),
        });
        drop(pieces);
        outcome?;
    }
    Ok(())
}

/// Factors a panel, less what the one before it, `known`, explains; see [`left_looking`] for `place`. The work is done
/// in copies, since the columns of the matrix itself may lie in one and the same set of a cache. The block on the
/// diagonal is copied to the `desk`, two panels wide, and the rows below it to `rooms`.
fn factor_panel(
    panel: MatMut<'_, f64>,
    known: MatRef<'_, f64>,
    place: (usize, usize),
    crew: &mut WorkerPool,
    desk: MatMut<'_, f64>,
    rooms: &Rooms<'_>,
) -> Result<(), LinalgError> {
    let size = panel.ncols();
    let (mut block, below) = panel.split_at_row_mut(size);
    let (beside, under) = known.split_at_row(size);
    let (across, corner) = desk.split_at_col_mut(PANEL);
    let mut across = across.submatrix_mut(0, 0, size, known.ncols());
    let mut corner = corner.submatrix_mut(0, 0, size, size);
    across.copy_from(beside);
    copy_lower(corner.rb_mut(), block.rb());
    take_square(corner.rb_mut(), across.rb());
    left_looking(corner.rb_mut(), 128, place, 1)?;
    copy_lower(block.rb_mut(), corner.rb());
    let (across, corner) = (across.rb(), corner.rb());
    let mut strips: Vec<_> = side_by_side(below.transpose_mut(), STRIP).collect();
    crew.for_each(&mut strips, |number, strip| {
        let mut strip = strip.rb_mut().transpose_mut();
        let explaining = under.subrows(number * STRIP, strip.nrows());
        within(rooms, |room| {
            let mut copy = room.submatrix_mut(0, 0, strip.nrows(), size);
            copy.copy_from(strip.rb());
            matmul(copy.rb_mut(), Accum::Add, explaining, across.transpose(), -1.0, Par::Seq);
            solve_lower_triangular_in_place(corner, copy.rb_mut().transpose_mut(), Par::Seq);
            strip.copy_from(copy.rb());
        });
    });
    Ok(())
}

/// `A ← A − L Lᵀ` on and below the diagonal of some columns; the first of these is number `start`.
fn take_from(columns: MatMut<'_, f64>, start: usize, factor: MatRef<'_, f64>, rooms: &Rooms<'_>) {
    let (rows, size) = (columns.nrows() - start, columns.ncols());
    let (block, below) = columns.subrows_mut(start, rows).split_at_row_mut(size);
    let (beside, under) = factor.subrows(start, rows).split_at_row(size);
    within(rooms, |room| {
        let mut across = room.submatrix_mut(0, 0, size, factor.ncols());
        across.copy_from(beside);
        take_square(block, across.rb());
        matmul(below, Accum::Add, under, across.transpose(), -1.0, Par::Seq);
    });
}

/// Works in a room that nobody else is in; there is one for each thread.
fn within(rooms: &Rooms<'_>, work: impl FnOnce(MatMut<'_, f64>)) {
    let free = || rooms.lock().unwrap_or_else(PoisonError::into_inner);
    let mut room = free().pop().expect("a room for each thread");
    work(room.rb_mut());
    free().push(room);
}

/// The matrix in pieces of so many columns; the last piece may have fewer.
fn side_by_side(matrix: MatMut<'_, f64>, width: usize) -> impl Iterator<Item = MatMut<'_, f64>> {
    let mut rest = Some(matrix);
    std::iter::from_fn(move || {
        let matrix = rest.take().filter(|matrix| matrix.ncols() > 0)?;
        let size = width.min(matrix.ncols());
        let (own, others) = matrix.split_at_col_mut(size);
        rest = Some(others);
        Some(own)
    })
}

/// `B ← B − L Lᵀ` on and below the diagonal of a square block.
fn take_square(block: MatMut<'_, f64>, factor: MatRef<'_, f64>) {
    let whole = BlockStructure::Rectangular;
    let lower = BlockStructure::TriangularLower;
    let across = factor.transpose();
    triangular::matmul(block, lower, Accum::Add, factor, whole, across, whole, -1.0, Par::Seq);
}

/// Factors the first columns of a matrix, all that `columns` (`m × k`) has of it: `width` of them at a time, each
/// after what the ones before explain of it. The triangle above the diagonal is left alone. Its first row is
/// number `place.0` of `place.1`.
fn left_looking(
    mut columns: MatMut<'_, f64>,
    width: usize,
    place: (usize, usize),
    threads: usize,
) -> Result<(), LinalgError> {
    let (rows, count) = (columns.nrows(), columns.ncols());
    let spec = Spec::default();
    let need = llt::factor::cholesky_in_place_scratch::<f64>(width, Par::Seq, spec);
    let mut scratch = MemBuffer::new(need);
    let mut corner = Mat::<f64>::zeros(width, width);
    for start in (0..count).step_by(width) {
        let size = width.min(count - start);
        let (done, mut open) = columns.rb_mut().split_at_col_mut(start);
        let done = done.into_const();
        // What the finished columns explain of these: of the block on their diagonal, in a copy
        // that spares the triangle above, and of the rows below.
        let (_, known) = done.split_at_row(start);
        let mut block = corner.as_mut().submatrix_mut(0, 0, size, size);
        block.copy_from(open.rb().submatrix(start, 0, size, size));
        let rest = rows - start - size;
        let below = open.rb_mut().submatrix_mut(start + size, 0, rest, size);
        explain(block.rb_mut(), below, known, threads);
        let stack = MemStack::new(&mut scratch);
        let regular = llt::factor::LltRegularization::default();
        let result = llt::factor::cholesky_in_place(block.rb_mut(), regular, Par::Seq, stack, spec);
        if let Err(llt::factor::LltError::NonPositivePivot { index }) = result {
            return Err(if block[(index, index)].is_nan() {
                LinalgError::NotFinite { operation: OPERATION }
            } else {
                let (first, size) = place;
                LinalgError::NotPositiveDefinite { pivot: first + start + index, size }
            });
        }
        copy_lower(open.rb_mut().submatrix_mut(start, 0, size, size), block.rb());
        // L_21 = (A_21 - L_20 L_10') L_11'^-1, row by row the same work.
        divide(open.submatrix_mut(start + size, 0, rest, size), block.rb(), threads);
    }
    Ok(())
}

/// `to ← from` on and below the diagonal.
fn copy_lower(mut to: MatMut<'_, f64>, from: MatRef<'_, f64>) {
    for column in 0..to.ncols() {
        let rows = to.nrows() - column;
        to.rb_mut()
            .col_mut(column)
            .subrows_mut(column, rows)
            .copy_from(from.col(column).subrows(column, rows));
    }
}

/// Fewest rows of a panel that are worth a thread of their own: starting one takes as long as some
/// hundred rows.
const ROWS_OF_A_THREAD: usize = 256;

/// `P ← P − L_0 L_10ᵀ` for the rows of a panel, the rows of the block on the diagonal first; `known` are the finished
/// columns of all these rows, `L_10` its first. Shared among threads.
fn explain(block: MatMut<'_, f64>, below: MatMut<'_, f64>, known: MatRef<'_, f64>, threads: usize) {
    let (beside, under) = known.split_at_row(block.nrows());
    let subtract = |to: MatMut<'_, f64>, from: MatRef<'_, f64>| {
        matmul(to, Accum::Add, from, beside.transpose(), -1.0, Par::Seq);
    };
    let rows = below.nrows();
    let threads = threads.min((block.nrows() + rows) / ROWS_OF_A_THREAD).max(1);
    // The block is the first thread's, which takes so many rows less.
    let first = ((block.nrows() + rows) / threads).saturating_sub(block.nrows());
    let (top, bottom) = below.split_at_row_mut(first);
    let (under_top, under_bottom) = under.split_at_row(first);
    std::thread::scope(|scope| {
        let (mut bottom, mut under) = (bottom, under_bottom);
        for left in (1..threads).rev() {
            let share = bottom.nrows() / left;
            let (own, next) = bottom.split_at_row_mut(share);
            let (own_under, next_under) = under.split_at_row(share);
            scope.spawn(move || subtract(own, own_under));
            (bottom, under) = (next, next_under);
        }
        subtract(block, beside);
        subtract(top, under_top);
    });
}

/// `P ← P L⁻ᵀ` for the rows of a panel, shared among threads.
fn divide(panel: MatMut<'_, f64>, block: MatRef<'_, f64>, threads: usize) {
    let threads = threads.min(panel.nrows() / ROWS_OF_A_THREAD).max(1);
    std::thread::scope(|scope| {
        let mut rest = panel;
        for left in (2..=threads).rev() {
            let share = rest.nrows() / left;
            let (own, next) = rest.split_at_row_mut(share);
            scope.spawn(move || {
                solve_lower_triangular_in_place(block, own.transpose_mut(), Par::Seq);
            });
            rest = next;
        }
        solve_lower_triangular_in_place(block, rest.transpose_mut(), Par::Seq);
    });
}

#[cfg(test)]
mod tests;
