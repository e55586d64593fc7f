use crate::SolverError;
use crate::active_set::ActiveSet;
use mercer_linalg::minimum_norm_solve;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};

/// Minimises `‖A x − b‖²` over `x ≥ 0`. It uses the active-set method of Lawson & Hanson (*Solving Least Squares
/// Problems*, 1974, ch. 23); `A` is `m × n`, `b` has `m` entries.
///
/// Least squares on the free columns are solved by singular values, so dependent columns do no
/// harm; which of them carries the weight is then not determined, `A x` is.
///
/// # Errors
/// [`SolverError::Lengths`], [`SolverError::NotFinite`], or [`SolverError::Linalg`] of a
/// factorisation.
///
/// ```
/// use mercer_solvers::nonnegative_least_squares;
/// use ndarray::array;
/// let a = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let x = nonnegative_least_squares(a.view(), array![2.0, -1.0, 1.0].view())?;
/// assert!((x[0] - 1.5).abs() < 1e-12 && x[1] == 0.0);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
pub fn nonnegative_least_squares(
    matrix: ArrayView2<'_, f64>,
    right: ArrayView1<'_, f64>,
) -> Result<Array1<f64>, SolverError> {
    let (m, n) = matrix.dim();
    if right.len() != m {
        let (what, found) = ("the right-hand sides", right.len());
        return Err(SolverError::Lengths { what, expected: m, found });
    }
    for (what, value) in matrix
        .iter()
        .map(|value| ("the matrix", value))
        .chain(right.iter().map(|value| ("the right-hand side", value)))
    {
        if !value.is_finite() {
            return Err(SolverError::NotFinite { what, value: *value });
        }
    }
    let mut at = ActiveSet::new(n);
    let pull = |x: &Array1<f64>| matrix.t().dot(&(&right - &matrix.dot(x)));
    let start = pull(&at.x);
    let tolerance = 1e-13 * start.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let mut residual = right.dot(&right);
    for _ in 0..10 * n {
        let gradient = pull(&at.x);
        let best = (0..n)
            .filter(|j| !at.free.contains(j))
            .max_by(|&i, &j| gradient[i].total_cmp(&gradient[j]))
            .filter(|&j| gradient[j] > tolerance);
        let Some(entering) = best else { break };
        let before = at.x.clone();
        at.free.push(entering);
        settle(matrix, right, &mut at)?;
        let error = &right - &matrix.dot(&at.x);
        let now = error.dot(&error);
        if now >= residual {
            // Rounding: the entering column gains nothing.
            return Ok(before);
        }
        residual = now;
    }
    Ok(at.x)
}

/// Solves for the free columns, and for fewer of them until no weight is negative.
fn settle(
    matrix: ArrayView2<'_, f64>,
    right: ArrayView1<'_, f64>,
    at: &mut ActiveSet,
) -> Result<(), SolverError> {
    while !at.free.is_empty() {
        let columns = matrix.select(Axis(1), &at.free);
        let b = right.to_owned().insert_axis(Axis(1));
        let solution = minimum_norm_solve(columns.view(), b.view(), None)?.x;
        let wanted = solution.column(0);
        if wanted.iter().all(|&value| value > 0.0) {
            at.take(wanted);
            break;
        }
        at.approach(wanted);
        let weights = at.free.iter().zip(wanted).filter(|(_, value)| **value <= 0.0);
        let leaves = weights.map(|(&j, _)| j).min_by(|&a, &b| at.x[a].total_cmp(&at.x[b]));
        at.hold(leaves);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_optimality_conditions_hold(
            seed in 0u64..1000, m in 1usize..12, n in 1usize..8,
        ) {
            let entry = |k: u64| {
                let x = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ (seed * 2 + 1)).rotate_left(23);
                (x.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64 - 0.4
            };
            let a = Array2::from_shape_fn((m, n), |(i, j)| entry((i * n + j) as u64));
            let b: Array1<f64> = (0..m).map(|i| entry(1000 + i as u64)).collect();
            let x = nonnegative_least_squares(a.view(), b.view()).unwrap();
            let gradient = a.t().dot(&(&b - &a.dot(&x)));
            for j in 0..n {
                prop_assert!(x[j] >= 0.0 && gradient[j] <= 1e-10, "{x} {gradient}");
                prop_assert!(x[j] == 0.0 || gradient[j].abs() <= 1e-10, "{x} {gradient}");
            }
        }
    }

    #[test]
    fn equal_columns_share_what_one_would_carry() {
        let a = array![[1.0, 1.0, -1.0], [2.0, 2.0, 0.5]];
        let x = nonnegative_least_squares(a.view(), array![1.0, 2.0].view()).unwrap();
        assert_abs_diff_eq!(x[0] + x[1], 1.0, epsilon = 1e-12);
        assert_abs_diff_eq!(a.dot(&x), array![1.0, 2.0], epsilon = 1e-12);
        let none = nonnegative_least_squares(a.view(), array![-1.0, -2.0].view()).unwrap();
        assert_abs_diff_eq!(none[0] + none[1], 0.0, epsilon = 0.0);
        assert!(nonnegative_least_squares(a.view(), array![1.0].view()).is_err());
        assert!(nonnegative_least_squares(a.view(), array![1.0, f64::NAN].view()).is_err());
    }
}
