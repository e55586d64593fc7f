use crate::SolverError;
use crate::active_set::ActiveSet;
use mercer_linalg::{Cholesky, JITTER_LADDER};
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// What the solver for non-negative variables reached.
///
/// ```
/// use mercer_solvers::non_negative_quadratic;
/// use ndarray::array;
/// let (q, c) = (array![[2.0, 1.0], [1.0, 2.0]], array![1.0, -1.0]);
/// let found = non_negative_quadratic(&q, c.view(), 1e-12)?;
/// assert!(found.converged && found.violation <= 1e-12);
/// // Without the constraint it would be Q⁻¹ c = (1, −1).
/// assert_eq!(found.x, array![0.5, 0.0]);
/// assert!(non_negative_quadratic(&q, array![1.0].view(), 1e-12).is_err()); // another size
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NonNegative {
    /// The minimiser (`n`).
    pub x: Array1<f64>,
    /// The largest violation of optimality: `−∂f/∂x_i`, or `|∂f/∂x_i|` where `x_i > 0`.
    pub violation: f64,
    /// Systems solved.
    pub iterations: usize,
    /// Whether no violation exceeds the tolerance.
    pub converged: bool,
}

/// Minimises `½ xᵀ Q x − cᵀ x` over `x ≥ 0`, for a symmetric positive semidefinite `Q` (`n × n`).
///
/// The active-set method of Lawson and Hanson (1974) works on the normal equations. The variable with the steepest
/// descent enters, the system of the entered variables is solved, and variables that would turn negative leave. Each
/// system costs a third of the cube of the entered variables' number. `tolerance` is absolute, in units of `c`.
///
/// ```
/// use ndarray::array;
/// let (q, c) = (array![[2.0, 1.0], [1.0, 2.0]], array![1.0, -1.0]);
/// let found = mercer_solvers::non_negative_quadratic(&q, c.view(), 1e-12)?;
/// assert_eq!(found.x, array![0.5, 0.0]);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
///
/// # Errors
/// [`SolverError::Lengths`] if sizes differ, [`SolverError::NotFinite`], [`SolverError::Setting`] for a
/// tolerance that is not positive, [`SolverError::Linalg`] if `Q` is not semidefinite.
pub fn non_negative_quadratic(
    q: &Array2<f64>,
    c: ArrayView1<'_, f64>,
    tolerance: f64,
) -> Result<NonNegative, SolverError> {
    let n = c.len();
    if q.dim() != (n, n) {
        let (what, found) = ("the rows of the quadratic form", q.nrows());
        return Err(SolverError::Lengths { what, expected: n, found });
    }
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        let (value, must) = (tolerance.to_string(), "positive and finite");
        return Err(SolverError::Setting { name: "tolerance", value, must });
    }
    if let Some(&value) = q.iter().chain(&c).find(|value| !value.is_finite()) {
        return Err(SolverError::NotFinite { what: "the quadratic form", value });
    }
    let mut at = ActiveSet::new(n);
    let mut barred = vec![false; n];
    let mut iterations = 0;
    loop {
        let descent = &c - &q.dot(&at.x);
        let open = |i: &usize| at.x[*i] == 0.0 && !barred[*i] && !at.free.contains(i);
        let steepest = (0..n).filter(open).max_by(|&a, &b| descent[a].total_cmp(&descent[b]));
        let enters = steepest.filter(|&i| descent[i] > tolerance);
        let Some(newcomer) = enters.filter(|_| iterations < 10 * n.max(10)) else {
            let violation = (0..n)
                .map(|i| if at.x[i] > 0.0 { descent[i].abs() } else { descent[i] })
                .fold(0.0, f64::max);
            let converged = violation <= tolerance;
            return Ok(NonNegative { x: at.x, violation, iterations, converged });
        };
        at.free.push(newcomer);
        while !at.free.is_empty() {
            iterations += 1;
            let solved = restricted(q, c, &at.free)?;
            let smallest = solved.iter().fold(f64::INFINITY, |a, &b| a.min(b));
            if smallest > 0.0 {
                at.take(solved.view());
                barred.fill(false);
                break;
            }
            at.approach(solved.view());
            // Rounding may throw the newcomer out at once; it is then not tried again from here.
            if at.x[newcomer] <= 0.0 {
                barred[newcomer] = true;
            }
            at.hold(None);
        }
    }
}

/// The solution of the equations of the entered variables.
fn restricted(
    q: &Array2<f64>,
    c: ArrayView1<'_, f64>,
    entered: &[usize],
) -> Result<Array1<f64>, SolverError> {
    let size = entered.len();
    let matrix = Array2::from_shape_fn((size, size), |(i, j)| q[[entered[i], entered[j]]]);
    let right: Array1<f64> = entered.iter().map(|&i| c[i]).collect();
    let right = right.insert_axis(Axis(1));
    let (factor, _) = Cholesky::with_jitter(matrix.clone(), &JITTER_LADDER)?;
    let mut solution = factor.solve(&right)?;
    // One refinement: what a jitter or an ill-conditioned factor left.
    let rest = &right - &matrix.dot(&solution);
    solution += &factor.solve(&rest)?;
    Ok(solution.remove_axis(Axis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    /// All supports, one after the other.
    fn enumerated(q: &Array2<f64>, c: &Array1<f64>) -> f64 {
        let n = c.len();
        let mut best = 0.0f64;
        for support in 1..1usize << n {
            let entered: Vec<usize> = (0..n).filter(|i| support >> i & 1 == 1).collect();
            let x = restricted(q, c.view(), &entered).unwrap();
            if x.iter().all(|&value| value >= 0.0) {
                let mut whole = Array1::zeros(n);
                entered.iter().zip(&x).for_each(|(&i, &value)| whole[i] = value);
                best = best.min(0.5 * whole.dot(&q.dot(&whole)) - c.dot(&whole));
            }
        }
        best
    }

    #[test]
    fn it_finds_the_best_of_all_supports() {
        for seed in 0..40 {
            let n = 2 + seed % 7;
            let wave = |i: usize, j: usize| {
                ((i * i * 31 + (j + 1) * (j + i) * 17 + seed * 7) as f64 * 0.61).sin()
            };
            let b = Array2::from_shape_fn((n + 2, n), |(i, j)| wave(i, j));
            let q = b.t().dot(&b);
            let c = Array1::from_shape_fn(n, |i| wave(i + 50, 3));
            let found = non_negative_quadratic(&q, c.view(), 1e-10).unwrap();
            assert!(found.converged && found.x.iter().all(|&value| value >= 0.0));
            let value = 0.5 * found.x.dot(&q.dot(&found.x)) - c.dot(&found.x);
            assert_abs_diff_eq!(value, enumerated(&q, &c), epsilon = 1e-9);
        }
    }

    #[test]
    fn nothing_to_gain_is_zero_and_bad_input_is_named() {
        let q = Array2::eye(3);
        let found = non_negative_quadratic(&q, array![-1.0, 0.0, -2.0].view(), 1e-9).unwrap();
        assert_eq!(found.x, Array1::<f64>::zeros(3));
        assert_eq!((found.iterations, found.converged), (0, true));
        let run = |c: Array1<f64>, tolerance| non_negative_quadratic(&q, c.view(), tolerance);
        assert!(matches!(run(array![1.0], 1e-9), Err(SolverError::Lengths { .. })));
        assert!(matches!(run(Array1::ones(3), 0.0), Err(SolverError::Setting { .. })));
        let bad = run(array![1.0, f64::NAN, 0.0], 1e-9);
        assert!(matches!(bad, Err(SolverError::NotFinite { .. })));
    }
}
