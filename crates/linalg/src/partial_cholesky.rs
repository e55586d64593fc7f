use crate::{LinalgError, for_each, product};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};
use ndarray::{Array1, Array2, ArrayViewMut2, Axis, s};

/// Rows that one task of a panel update covers.
const ROWS: usize = 2048;
/// Candidates for pivots that are looked at together.
const BLOCK: usize = 48;

/// `A ≈ C Cᵀ` of a positive semidefinite matrix that is known by its entries: a pivoted Cholesky
/// factorisation that stops early.
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
    /// `diagonal` is that of `A` (`n`); `columns(pivots, rows, to)` writes the entries
    /// `A[rows, pivots]` into `to`. Pivots are found some dozens at a time, so that the work, of order
    /// `n L²` multiply-adds, consists of matrix products: the candidates of a round are spread over
    /// the residual's diagonal in proportion to it (systematic sampling, without randomness), and
    /// those that the round itself explains are passed over. (Sampling by the residual's diagonal is
    /// that of Chen, Epperly, Tropp and Webber, 2023.)
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
        columns: impl Fn(&[usize], std::ops::Range<usize>, ArrayViewMut2<'_, f64>) + Sync,
        tolerance: f64,
        most: usize,
        threads: usize,
    ) -> Result<Self, LinalgError> {
        let n = diagonal.len();
        let operation = "the partial Cholesky factorisation";
        if n == 0 {
            return Err(LinalgError::Empty { rows: 0, columns: 0 });
        }
        if !(0.0..1.0).contains(&tolerance) {
            let (name, must) = ("tolerance", "at least 0 and below 1");
            return Err(LinalgError::Argument { name, value: tolerance, must });
        }
        if diagonal.iter().any(|entry| !entry.is_finite()) {
            return Err(LinalgError::NotFinite { operation });
        }
        let mut left = diagonal.mapv(|entry| entry.max(0.0));
        let goal = tolerance * left.sum();
        // Below this a pivot would be rounding: n ε of the largest entry.
        let floor = n as f64 * f64::EPSILON * left.fold(0.0, |a: f64, &b| a.max(b));
        let most = most.min(n);
        let mut factor = Array2::<f64>::zeros((n, 0));
        let mut pivots: Vec<usize> = Vec::new();
        while pivots.len() < most && left.sum() > goal {
            let Some((chosen, lower)) =
                round(&left, &factor, &columns, floor, most - pivots.len(), goal)
            else {
                break;
            };
            if lower.iter().any(|entry| !entry.is_finite()) {
                return Err(LinalgError::NotFinite { operation });
            }
            let (old, new) = (pivots.len(), chosen.len());
            let known = factor.select(Axis(0), &chosen);
            let mut wider = Array2::zeros((n, old + new));
            wider.slice_mut(s![.., ..old]).assign(&factor);
            drop(factor);
            let bands = wider.axis_chunks_iter_mut(Axis(0), ROWS);
            let bands = bands.zip(left.axis_chunks_iter_mut(Axis(0), ROWS)).enumerate();
            for_each(threads, bands, |(band, (mut rows, mut left))| {
                let (before, mut panel) = rows.view_mut().split_at(Axis(1), old);
                let start = band * ROWS;
                columns(&chosen, start..start + panel.nrows(), panel.view_mut());
                product(-1.0, before.view(), known.t(), 1.0, panel.view_mut());
                divide(&lower, &mut panel);
                for (left, row) in left.iter_mut().zip(panel.rows()) {
                    *left = (*left - row.dot(&row)).max(0.0);
                }
            });
            for &pivot in &chosen {
                left[pivot] = 0.0;
            }
            factor = wider;
            pivots.extend(chosen);
        }
        if factor.iter().any(|entry| !entry.is_finite()) {
            return Err(LinalgError::NotFinite { operation });
        }
        let largest = left.fold(0.0, |a: f64, &b| a.max(b));
        Ok(Self { factor, pivots, residual: left.sum(), largest })
    }
}

/// The pivots of one round and the Cholesky factor of the residual among them; nothing if none is
/// above rounding.
fn round(
    left: &Array1<f64>,
    factor: &Array2<f64>,
    columns: &(impl Fn(&[usize], std::ops::Range<usize>, ArrayViewMut2<'_, f64>) + Sync),
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
    let known = factor.select(Axis(0), &candidates);
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
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    fn gaussian(n: usize, rate: f64) -> Array2<f64> {
        let x = |i: usize, c: usize| ((i * (7 * c + 3)) as f64 * 0.37).sin();
        Array2::from_shape_fn((n, n), |(i, j)| {
            let squared: f64 = (0..3).map(|c| (x(i, c) - x(j, c)).powi(2)).sum();
            (-rate * squared).exp()
        })
    }

    fn factored(a: &Array2<f64>, tolerance: f64, most: usize, threads: usize) -> PartialCholesky {
        PartialCholesky::new(
            &a.diag().to_owned(),
            |pivots, rows, mut to| {
                for (i, row) in rows.enumerate() {
                    for (j, &pivot) in pivots.iter().enumerate() {
                        to[[i, j]] = a[[row, pivot]];
                    }
                }
            },
            tolerance,
            most,
            threads,
        )
        .unwrap()
    }

    /// The largest, those that equal steps of the sum fall on, and nothing at or below the floor.
    #[test]
    fn nothing_is_chosen_at_the_floor() {
        assert!(spread(&Array1::zeros(3), 0.0).is_empty());
        assert!(spread(&Array1::from_elem(3, 0.5), 0.5).is_empty());
        assert_eq!(spread(&ndarray::array![0.5, 2.0, 0.5], 0.5), [1]);
        assert_eq!(spread(&ndarray::array![1.0, 0.0, 2.0], 0.0), [2, 0]);
    }

    #[test]
    fn one_round_takes_all_pivots_that_know_nothing_of_each_other() {
        let unrelated =
            |pivots: &[usize], rows: std::ops::Range<usize>, mut to: ArrayViewMut2<'_, f64>| {
                for (i, row) in rows.enumerate() {
                    for (j, &pivot) in pivots.iter().enumerate() {
                        to[[i, j]] = f64::from(u8::from(row == pivot));
                    }
                }
            };
        let (left, nothing) = (Array1::ones(20), Array2::zeros((20, 0)));
        let (taken, lower) = round(&left, &nothing, &unrelated, 1e-12, 10, 0.0).unwrap();
        assert_eq!((taken.len(), lower), (10, Array2::eye(10)));
        // Each once, and no more than bring the trace of 20 down to the goal.
        let mut distinct = taken;
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 10);
        let (taken, _) = round(&left, &nothing, &unrelated, 1e-12, 10, 14.5).unwrap();
        assert_eq!(taken.len(), 6);
    }

    #[test]
    fn rows_are_spread_over_equal_shares_of_what_is_left() {
        let chosen = spread(&Array1::ones(8 * BLOCK), 0.0);
        // The last of the largest, then the middle of each of as many shares of eight rows.
        let shares = (0..BLOCK).map(|share| 8 * share + 4);
        let expected: Vec<usize> = std::iter::once(8 * BLOCK - 1).chain(shares).collect();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn at_full_rank_it_is_the_matrix() {
        for n in [1, 5, 60, 200] {
            let a = gaussian(n, 8.0);
            let found = factored(&a, 0.0, n, 1);
            assert_abs_diff_eq!(found.factor.dot(&found.factor.t()), a, epsilon = 1e-10);
            assert!(found.residual < 1e-10 * n as f64, "{}", found.residual);
        }
    }

    #[test]
    fn it_stops_at_the_tolerance_and_is_nearly_as_short_as_can_be() {
        let a = gaussian(600, 0.5);
        let values = crate::symmetric_eigen(a.view()).unwrap().values;
        for tolerance in [1e-2, 1e-4, 1e-6] {
            let found = factored(&a, tolerance, 600, 1);
            assert!(found.residual <= tolerance * 600.0);
            let residual = &a - &found.factor.dot(&found.factor.t());
            assert_abs_diff_eq!(residual.diag().sum(), found.residual, epsilon = 1e-9);
            let largest = residual.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
            assert!(largest <= found.largest + 1e-12);
            // The eigendecomposition needs so many; no factorisation needs fewer.
            let mut tail = 600.0;
            let best = values.iter().rev().take_while(|&&v| {
                let open = tail > tolerance * 600.0;
                tail -= v;
                open
            });
            let best = best.count();
            assert!(found.pivots.len() <= 2 * best + BLOCK, "{} {best}", found.pivots.len());
        }
    }

    #[test]
    fn threads_do_not_change_it() {
        let n = 2 * ROWS + 100;
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618).fract()).collect();
        let run = |threads| {
            PartialCholesky::new(
                &Array1::ones(n),
                |pivots, rows, mut to| {
                    for (i, row) in rows.enumerate() {
                        for (j, &pivot) in pivots.iter().enumerate() {
                            to[[i, j]] = (-20.0 * (x[row] - x[pivot]).powi(2)).exp();
                        }
                    }
                },
                1e-8,
                100,
                threads,
            )
            .unwrap()
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one, three);
        assert!(one.residual <= 1e-8 * n as f64);
    }

    #[test]
    fn what_cannot_be_factored_is_named() {
        let nothing = |_: &[usize], _: std::ops::Range<usize>, _: ArrayViewMut2<'_, f64>| {};
        let run = |diagonal: Array1<f64>, tolerance| {
            PartialCholesky::new(&diagonal, nothing, tolerance, 5, 1)
        };
        assert!(matches!(run(Array1::zeros(0), 0.1), Err(LinalgError::Empty { .. })));
        assert!(matches!(run(Array1::ones(2), 1.0), Err(LinalgError::Argument { .. })));
        assert!(matches!(
            run(Array1::from_elem(2, f64::NAN), 0.1),
            Err(LinalgError::NotFinite { .. })
        ));
        // The zero matrix is C Cᵀ with no columns.
        assert_eq!(run(Array1::zeros(3), 0.1).unwrap().pivots.len(), 0);
    }

    proptest! {
        #[test]
        fn the_error_of_a_quadratic_form_has_one_sign_and_the_bound_holds(
            n in 2usize..80, rate in 0.1..10.0f64, most in 1usize..40, seed in 0u64..100,
        ) {
            let a = gaussian(n, rate);
            let found = factored(&a, 0.0, most, 1);
            let v = Array1::from_shape_fn(n, |i| ((i as f64 + seed as f64) * 1.7).sin());
            let image = found.factor.t().dot(&v);
            let error = v.dot(&a.dot(&v)) - image.dot(&image);
            let one: f64 = v.iter().map(|v| v.abs()).sum();
            let bound = (found.residual * v.dot(&v)).min(found.largest * one * one);
            prop_assert!(error >= -1e-10 && error <= bound + 1e-10, "{error} {bound}");
        }
    }
}
