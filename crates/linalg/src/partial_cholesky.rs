use crate::{LinalgError, for_each, product};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use std::ops::Range;

/// Rows that one task of a panel update covers.
const ROWS: usize = 2048;
/// Candidates for pivots that are looked at together.
const BLOCK: usize = 48;

/// `A ≈ C Cᵀ` of a positive semidefinite matrix that is known by its entries. It is a pivoted Cholesky factorisation
/// that stops early.
///
/// The residual `E = A − C Cᵀ` is positive semidefinite, so its diagonal, which is known, bounds it:
/// ```text
/// |E_ij| ≤ √(E_ii E_jj) ≤ max E_ii,     0 ≤ vᵀ E v ≤ min( tr(E) |v|²,  max E_ii (Σ|v_i|)² )
/// ```
///
/// ```
/// use mercer_linalg::PartialCholesky;
/// use ndarray::{Array2, array};
/// let a: Array2<f64> = Array2::from_shape_fn((6, 6), |(i, j)| (-0.1 * (i as f64 - j as f64).powi(2)).exp());
/// let entries = |pivots: &[usize], rows: std::ops::Range<usize>, mut to: ndarray::ArrayViewMut2<'_, f64>| {
///     for (i, row) in rows.enumerate() {
///         pivots.iter().enumerate().for_each(|(j, &pivot)| to[[i, j]] = a[[row, pivot]]);
///     }
/// };
/// let found = PartialCholesky::new(&a.diag().to_owned(), entries, 0.0, 3, 1)?;
/// assert_eq!((found.factor.dim(), found.pivots.len()), ((6, 3), 3));
/// // The diagonal of what is left bounds every entry of it.
/// let left = &a - &found.factor.dot(&found.factor.t());
/// assert!((left.diag().sum() - found.residual).abs() < 1e-12);
/// assert!(left.iter().all(|entry| entry.abs() <= found.largest + 1e-12));
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PartialCholesky {
    /// `C`, one row a row of `A` (`n × L`).
    pub factor: Array2<f64>,
    /// The rows that were pivots, in order (`L`); `E` is 0 there, but for rounding.
    pub pivots: Vec<usize>,
    /// `tr(E)`.
    pub residual: f64,
    /// `max E_ii`.
    pub largest: f64,
}

impl PartialCholesky {
    /// Factors until `tr(E) ≤ tolerance · tr(A)`, or `most` pivots.
    ///
    /// `diagonal` is the diagonal of `A` (`n`); `columns(pivots, rows, to)` writes the entries `A[rows, pivots]` into
    /// `to`. Pivots are found some dozens at a time, so that the work, of order `n L²` multiply-adds, consists of
    /// matrix products. The candidates of a round are spread over the residual's diagonal in proportion to it
    /// (systematic sampling, without randomness). Candidates that the round itself explains are passed over. (Sampling
    /// by the residual's diagonal follows Chen, Epperly, Tropp and Webber, 2023.)
    ///
    /// The result is the same for any number of `threads`.
    ///
    /// ```
    /// use mercer_linalg::PartialCholesky;
    /// use ndarray::{array, Array1};
    /// let a = array![[2.0, 1.0], [1.0, 0.5]]; // of rank 1
    /// let found = PartialCholesky::new(
    ///     &a.diag().to_owned(),
    ///     |pivots, rows, mut to| {
    ///         for (i, row) in rows.enumerate() {
    ///             for (j, &pivot) in pivots.iter().enumerate() {
    ///                 to[[i, j]] = a[[row, pivot]];
    ///             }
    ///         }
    ///     },
    ///     1e-12,
    ///     2,
    ///     1,
    /// )?;
    /// assert_eq!(found.pivots.len(), 1);
    /// assert!(found.residual < 1e-12);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError::Empty`]; [`LinalgError::Argument`] for a tolerance outside `[0, 1)`;
    /// [`LinalgError::NotFinite`] if a diagonal entry is not, or an entry of a pivot's column.
    pub fn new(
        diagonal: &Array1<f64>,
        columns: impl Fn(&[usize], Range<usize>, ArrayViewMut2<'_, f64>) + Sync,
        tolerance: f64,
        most: usize,
        threads: usize,
    ) -> Result<Self, LinalgError> {
        let mut growing = GrowingCholesky::new(diagonal, columns, tolerance, most, threads)?;
        growing.grow(most)?;
        Ok(growing.ended())
    }
}

/// A [`PartialCholesky`] that can go on where it stopped. More columns cost what they cost, and present ones are
/// neither computed nor moved again.
///
/// Columns stand in panels of some dozens (`n × 48` at most), one a round of pivots, so that a sum over columns, such
/// as `|Cᵀ v|²`, can be carried on as well ([`GrowingCholesky::panels`]).
///
/// ```
/// use mercer_linalg::{GrowingCholesky, PartialCholesky};
/// use ndarray::{Array1, Array2};
/// let a = |i: usize, j: usize| (-0.02 * (i as f64 - j as f64).powi(2)).exp();
/// let entries = |pivots: &[usize], rows: std::ops::Range<usize>, mut to: ndarray::ArrayViewMut2<'_, f64>| {
///     for (i, row) in rows.enumerate() {
///         pivots.iter().enumerate().for_each(|(j, &pivot)| to[[i, j]] = a(row, pivot));
///     }
/// };
/// let diagonal = Array1::ones(200);
/// let mut growing = GrowingCholesky::new(&diagonal, entries, 0.0, 30, 1)?;
/// growing.grow(10)?;
/// let ten = growing.residual();
/// growing.grow(15)?;
/// assert!(growing.rank() == 15 && growing.residual() < ten);
/// // As if it had been so many from the beginning.
/// let whole = PartialCholesky::new(&diagonal, entries, 0.0, 15, 1)?;
/// assert_eq!(growing.pivots(), whole.pivots);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GrowingCholesky<F> {
    columns: F,
    threads: usize,
    most: usize,
    /// The trace at which it ends, and the rounding on the diagonal.
    goal: f64,
    floor: f64,
    /// The residual's diagonal as the last round found it, and with the columns in use.
    before: Array1<f64>,
    left: Array1<f64>,
    /// `n ×` the pivots of each round. Of the last one some may not be in use yet.
    rounds: Vec<Array2<f64>>,
    pivots: Vec<usize>,
    used: usize,
}

const OPERATION: &str = "the partial Cholesky factorisation";

impl<F> GrowingCholesky<F>
where
    F: Fn(&[usize], Range<usize>, ArrayViewMut2<'_, f64>) + Sync,
{
    /// Prepares at most so many columns, none computed yet; arguments are as in [`PartialCholesky::new`].
    ///
    /// # Errors
    /// As [`PartialCholesky::new`], of the diagonal and the tolerance.
    pub fn new(
        diagonal: &Array1<f64>,
        columns: F,
        tolerance: f64,
        most: usize,
        threads: usize,
    ) -> Result<Self, LinalgError> {
        let n = diagonal.len();
        if n == 0 {
            return Err(LinalgError::Empty { rows: 0, columns: 0 });
        }
        if !(0.0..1.0).contains(&tolerance) {
            let (name, must) = ("tolerance", "at least 0 and below 1");
            return Err(LinalgError::Argument { name, value: tolerance, must });
        }
        if diagonal.iter().any(|entry| !entry.is_finite()) {
            return Err(LinalgError::NotFinite { operation: OPERATION });
        }
        let left = diagonal.mapv(|entry| entry.max(0.0));
        Ok(Self {
            columns,
            threads,
            most: most.min(n),
            goal: tolerance * left.sum(),
            // Below this a pivot would be rounding: n ε of the largest entry.
            floor: n as f64 * f64::EPSILON * left.fold(0.0, |a: f64, &b| a.max(b)),
            before: left.clone(),
            left,
            rounds: Vec::new(),
            pivots: Vec::new(),
            used: 0,
        })
    }

    /// Goes on to so many columns, or the most. It ends earlier when the tolerance is met or nothing but rounding is
    /// left.
    ///
    /// # Errors
    /// [`LinalgError::NotFinite`] if an entry of a pivot's column is not.
    pub fn grow(&mut self, columns: usize) -> Result<(), LinalgError> {
        let wanted = columns.min(self.most);
        loop {
            self.take_up(wanted);
            if self.used >= wanted || self.left.sum() <= self.goal || !self.round()? {
                return Ok(());
            }
        }
    }

    /// Returns the number of columns in use, `L`.
    pub const fn rank(&self) -> usize {
        self.used
    }

    /// Returns the rows that were pivots, in order (`L`).
    pub fn pivots(&self) -> &[usize] {
        &self.pivots[..self.used]
    }

    /// Returns `tr(E)`.
    pub fn residual(&self) -> f64 {
        self.left.sum()
    }

    /// Returns `max E_ii`.
    pub fn largest(&self) -> f64 {
        self.left.fold(0.0, |a: f64, &b| a.max(b))
    }

    /// Returns the columns in use from this one on. They come in order, some at a time (`n ×` some).
    pub fn panels(&self, from: usize) -> Vec<ArrayView2<'_, f64>> {
        let mut start = 0;
        let mut panels = Vec::new();
        for round in &self.rounds {
            let end = (start + round.ncols()).min(self.used);
            if from < end {
                panels.push(round.slice(s![.., from.max(start) - start..end - start]));
            }
            start += round.ncols();
        }
        panels
    }

    /// Returns these rows of the columns in use (`rows × L`).
    ///
    /// # Panics
    /// If there is no such row.
    pub fn rows(&self, rows: &[usize]) -> Array2<f64> {
        let mut found = Array2::zeros((rows.len(), self.used));
        let mut start = 0;
        for panel in self.panels(0) {
            let end = start + panel.ncols();
            for (&row, mut to) in rows.iter().zip(found.slice_mut(s![.., start..end]).rows_mut()) {
                to.assign(&panel.row(row));
            }
            start = end;
        }
        found
    }

    /// Uses up to so many of the columns that are there.
    fn take_up(&mut self, wanted: usize) {
        let Some(round) = self.rounds.last() else { return };
        let begun = self.pivots.len() - round.ncols();
        let used = wanted.min(self.pivots.len());
        if used <= self.used {
            return;
        }
        let before = self.before.axis_chunks_iter(Axis(0), ROWS);
        let bands = self.left.axis_chunks_iter_mut(Axis(0), ROWS).zip(before);
        let bands = bands.zip(round.axis_chunks_iter(Axis(0), ROWS));
        for_each(self.threads, bands, |((mut left, before), rows)| {
            let rows = rows.slice_move(s![.., ..used - begun]);
            for ((left, before), row) in left.iter_mut().zip(before).zip(rows.rows()) {
                *left = (before - row.dot(&row)).max(0.0);
            }
        });
        for &pivot in &self.pivots[begun..used] {
            self.left[pivot] = 0.0;
        }
        self.used = used;
    }

    /// Finds another round of pivots and computes their columns, where all that are there are in use; whether
    /// there were any.
    fn round(&mut self) -> Result<bool, LinalgError> {
        let Self { columns, left, .. } = &*self;
        let room = self.most - self.used;
        let known = |rows: &[usize]| self.rows(rows);
        let Some((chosen, lower)) = round(left, known, columns, self.floor, room, self.goal) else {
            return Ok(false);
        };
        if lower.iter().any(|entry| !entry.is_finite()) {
            return Err(LinalgError::NotFinite { operation: OPERATION });
        }
        let known: Vec<Array2<f64>> =
            self.rounds.iter().map(|round| round.select(Axis(0), &chosen)).collect();
        let mut panel = Array2::zeros((left.len(), chosen.len()));
        let bands = panel.axis_chunks_iter_mut(Axis(0), ROWS).enumerate();
        for_each(self.threads, bands, |(band, mut panel)| {
            let rows = band * ROWS..band * ROWS + panel.nrows();
            columns(&chosen, rows.clone(), panel.view_mut());
            for (round, known) in self.rounds.iter().zip(&known) {
                product(-1.0, round.slice(s![rows.clone(), ..]), known.t(), 1.0, panel.view_mut());
            }
            divide(&lower, &mut panel);
        });
        if panel.iter().any(|entry| !entry.is_finite()) {
            return Err(LinalgError::NotFinite { operation: OPERATION });
        }
        self.before.assign(&self.left);
        self.rounds.push(panel);
        self.pivots.extend(chosen);
        Ok(true)
    }

    /// All of it in one matrix.
    fn ended(self) -> PartialCholesky {
        let (residual, largest) = (self.residual(), self.largest());
        let mut factor = Array2::zeros((self.left.len(), self.used));
        let mut start = 0;
        for panel in self.panels(0) {
            let end = start + panel.ncols();
            factor.slice_mut(s![.., start..end]).assign(&panel);
            start = end;
        }
        let mut pivots = self.pivots;
        pivots.truncate(self.used);
        PartialCholesky { factor, pivots, residual, largest }
    }
}

/// The pivots of one round and the Cholesky factor of the residual among them; nothing if none is
/// above rounding. `known` gives rows of the columns that there are.
fn round(
    left: &Array1<f64>,
    known: impl Fn(&[usize]) -> Array2<f64>,
    columns: &(impl Fn(&[usize], Range<usize>, ArrayViewMut2<'_, f64>) + Sync),
    floor: f64,
    room: usize,
    goal: f64,
) -> Option<(Vec<usize>, Array2<f64>)> {
    let candidates = spread(left, floor);
    let size = candidates.len();
    if size == 0 {
        return None;
    }
    // The residual among the candidates.
    let mut among = Array2::zeros((size, size));
    for (i, &row) in candidates.iter().enumerate() {
        columns(&candidates, row..row + 1, among.slice_mut(s![i..=i, ..]));
    }
    let known = known(&candidates);
    product(-1.0, known.view(), known.t(), 1.0, among.view_mut());
    // Greedy elimination. A candidate of which the round has explained more than three quarters is
    // left for a later round, unless it is the first.
    let mut open: Vec<f64> = among.diag().to_vec();
    let whole = open.clone();
    let mut taken: Vec<usize> = Vec::new();
    let mut lower = Array2::<f64>::zeros((size, size));
    let mut trace = left.sum();
    while taken.len() < room.min(size) && trace > goal {
        let worth = |i: &usize| !taken.contains(i) && open[*i] > floor;
        let kept =
            (0..size).filter(worth).filter(|&i| taken.is_empty() || open[i] > 0.25 * whole[i]);
        let Some(best) = kept.max_by(|&a, &b| open[a].total_cmp(&open[b])) else { break };
        let (step, root) = (taken.len(), open[best].sqrt());
        for i in 0..size {
            let done = lower.slice(s![i, ..step]).dot(&lower.slice(s![best, ..step]));
            lower[[i, step]] = (among[[i, best]] - done) / root;
            if i != best {
                open[i] -= lower[[i, step]] * lower[[i, step]];
            }
        }
        // What this pivot takes from the whole trace is at least what it takes from its own row.
        trace -= open[best];
        taken.push(best);
    }
    if taken.is_empty() {
        return None;
    }
    let small = lower.select(Axis(0), &taken).slice_move(s![.., ..taken.len()]);
    Some((taken.into_iter().map(|i| candidates[i]).collect(), small))
}

/// Up to [`BLOCK`] rows: the largest of the residual's diagonal, and those that equal steps of its
/// cumulative sum fall on.
fn spread(left: &Array1<f64>, floor: f64) -> Vec<usize> {
    let total = left.sum();
    let largest = (0..left.len()).max_by(|&a, &b| left[a].total_cmp(&left[b]));
    let mut chosen: Vec<usize> = largest.into_iter().filter(|&i| left[i] > floor).collect();
    let step = total / BLOCK as f64;
    let (mut sum, mut next) = (0.0, 0.5 * step);
    for (i, &entry) in left.iter().enumerate() {
        sum += entry;
        if sum > next && entry > floor {
            if !chosen.contains(&i) {
                chosen.push(i);
            }
            while next < sum {
                next += step;
            }
        }
        if step <= 0.0 {
            break;
        }
    }
    chosen
}

/// `P ← P L⁻ᵀ` for the rows of `P`.
fn divide(lower: &Array2<f64>, panel: &mut ArrayViewMut2<'_, f64>) {
    let (size, rows) = (lower.nrows(), panel.nrows());
    let mut compact: Vec<f64> = panel.iter().copied().collect();
    let transposed = lower.t().to_owned(); // row-major of Lᵀ is column-major of L
    let transposed = transposed.as_standard_layout();
    let triangle =
        transposed.as_slice().map(|slice| MatRef::from_column_major_slice(slice, size, size));
    if let Some(triangle) = triangle {
        // The rows of P, read as columns.
        let right = MatMut::from_column_major_slice_mut(&mut compact, size, rows);
        solve_lower_triangular_in_place(triangle, right, Par::Seq);
    }
    panel.iter_mut().zip(compact).for_each(|(to, value)| *to = value);
}

#[cfg(test)]
mod tests;
