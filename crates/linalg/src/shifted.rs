use crate::conjugate_gradients::check_system;
use crate::{LinalgError, SymmetricOperator};
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// What the solver for several shifts reached.
///
/// ```
/// use mercer_linalg::{LinalgError, shifted_conjugate_gradients};
/// use ndarray::array;
/// let a = array![[2.0, 0.0], [0.0, 1.0]];
/// let shifts = [1.0, 3.0];
/// let solved = shifted_conjugate_gradients(&a, array![1.0, 1.0].view(), &shifts, 1e-12, 10, |_, _| {
///     Ok::<(), LinalgError>(())
/// })?;
/// // Two eigenvalues, two products; a second shift adds none.
/// assert!(solved.converged && solved.iterations <= 2);
/// let expected = array![[1.0 / 3.0, 1.0 / 5.0], [1.0 / 2.0, 1.0 / 4.0]];
/// assert!((&solved.x - &expected).iter().all(|gap| gap.abs() < 1e-12));
/// assert!(solved.residuals.iter().all(|&residual| residual < 1e-12));
/// # Ok::<(), LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Shifted {
    /// The solutions, one a column, in the order of the shifts (`n × S`).
    pub x: Array2<f64>,
    /// Products with the operator, but for the last, which measures the residual.
    pub iterations: usize,
    /// Relative residuals `‖b − (A + t I) x‖ / ‖b‖` of each shift (`S`). They come from the recurrence where a product
    /// with the result for the smallest shift, the hardest, confirms it to a tenth of the tolerance; else from that
    /// product.
    pub residuals: Array1<f64>,
    /// Whether each of them met the tolerance.
    pub converged: bool,
}

/// Runs conjugate gradients for `(A + t_k I) x_k = b` with every `t_k` at once. All `shifts` cost the products of the
/// hardest alone, the smallest shift.
///
/// The Krylov spaces of `A + t I` do not depend on `t`, and the residuals of all systems, started
/// from 0, are parallel: `r_k = ζ_k r`. A three-term recurrence of the `ζ_k` gives the steps of each
/// system without further products (Jegerlehner 1996; Frommer and Maass 1999). A system that has met
/// its tolerance is left alone. No preconditioner is possible, as it would turn the residuals.
///
/// `watch` is called before each product with the number of iterations and the largest relative
/// residual, and ends the iteration with an error.
///
/// ```
/// use mercer_linalg::{LinalgError, shifted_conjugate_gradients};
/// use ndarray::array;
/// let (a, b) = (array![[2.0, 0.0], [0.0, 1.0]], array![1.0, 1.0]);
/// let solved = shifted_conjugate_gradients(&a, b.view(), &[1.0, 3.0], 1e-12, 10, |_, _| {
///     Ok::<(), LinalgError>(())
/// })?;
/// assert!(solved.converged);
/// assert!((solved.x[[0, 0]] - 1.0 / 3.0).abs() < 1e-12 && (solved.x[[1, 1]] - 0.25).abs() < 1e-12);
/// # Ok::<(), LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError::Height`]; [`LinalgError::Argument`] for a tolerance outside `(0, 1)` or a shift
/// that is negative or not finite; [`LinalgError::NotFinite`] if a product is not; and what `watch`
/// says.
pub fn shifted_conjugate_gradients<E: From<LinalgError>>(
    operator: &impl SymmetricOperator,
    right: ArrayView1<'_, f64>,
    shifts: &[f64],
    tolerance: f64,
    most_iterations: usize,
    mut watch: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<Shifted, E> {
    check_system(operator.size(), right.len(), tolerance)?;
    if let Some(&value) = shifts.iter().find(|t| !(t.is_finite() && **t >= 0.0)) {
        let (name, must) = ("shift", "finite and at least 0");
        return Err(LinalgError::Argument { name, value, must }.into());
    }
    let scale = right.dot(&right).sqrt();
    let mut x = Array2::zeros((right.len(), shifts.len()));
    let smallest = (0..shifts.len()).min_by(|&a, &b| shifts[a].total_cmp(&shifts[b]));
    let Some(hardest) = smallest.filter(|_| scale != 0.0) else {
        let residuals = Array1::zeros(shifts.len());
        return Ok(Shifted { x, iterations: 0, residuals, converged: true });
    };
    let mut base = Base::new(shifts[hardest], right);
    let mut systems: Vec<System> =
        shifts.iter().map(|&t| System::new(t - base.shift, right)).collect();
    let mut before = (1.0, 0.0);
    let mut iterations = 0;
    let mut residual = 1.0f64;
    while residual > tolerance && iterations < most_iterations {
        watch(iterations, residual)?;
        iterations += 1;
        let Some(now) = base.advance(operator)? else { break };
        residual = 0.0;
        for (system, x) in systems.iter_mut().zip(x.columns_mut()) {
            if system.relative > tolerance {
                system.advance(now, before, &base.r, x);
                system.relative = system.zeta.abs() * base.rr.sqrt() / scale;
            }
            residual = residual.max(system.relative);
        }
        before = now;
    }
    // The recurrence falls on where rounding has ended all progress; only a product tells.
    let left = base.image(operator, x.column(hardest)) - right;
    let measured = left.dot(&left).sqrt() / scale;
    let floor = if measured > 1.1 * tolerance { measured } else { 0.0 };
    let residual = |(system, &t): (&System, &f64)| {
        // What did not get there by its own account is believed.
        let hard = t <= base.shift || system.relative <= tolerance;
        if hard { system.relative.max(floor) } else { system.relative }
    };
    let residuals: Array1<f64> = systems.iter().zip(shifts).map(residual).collect();
    let converged = residuals.iter().all(|&residual| residual <= tolerance);
    Ok(Shifted { x, iterations, residuals, converged })
}

/// The recurrence of the smallest shift, whose products serve all.
struct Base {
    shift: f64,
    r: Array1<f64>,
    p: Array1<f64>,
    /// `r·r`.
    rr: f64,
}

impl Base {
    fn new(shift: f64, right: ArrayView1<'_, f64>) -> Self {
        let r = right.to_owned();
        Self { shift, p: r.clone(), rr: r.dot(&r), r }
    }

    /// `(A + t I) v`.
    fn image(&self, operator: &dyn SymmetricOperator, v: ArrayView1<'_, f64>) -> Array1<f64> {
        let mut image = operator.apply(v.insert_axis(Axis(1))).remove_axis(Axis(1));
        image.scaled_add(self.shift, &v);
        image
    }

    /// Goes on to the next residual and direction; returns `α` and `β`, or none where no step is possible.
    fn advance(
        &mut self,
        operator: &dyn SymmetricOperator,
    ) -> Result<Option<(f64, f64)>, LinalgError> {
        let image = self.image(operator, self.p.view());
        let curvature = self.p.dot(&image);
        if !curvature.is_finite() {
            let operation = "a product in conjugate gradients";
            return Err(LinalgError::NotFinite { operation });
        }
        if curvature <= 0.0 {
            return Ok(None); // b has a part outside the range, or all that is left is rounding
        }
        let step = self.rr / curvature;
        self.r.scaled_add(-step, &image);
        let next = self.r.dot(&self.r);
        let turn = next / self.rr;
        self.p *= turn;
        self.p += &self.r;
        self.rr = next;
        Ok(Some((step, turn)))
    }
}

/// One shift's own recurrence.
struct System {
    /// Beyond the smallest.
    shift: f64,
    zeta: f64,
    zeta_before: f64,
    direction: Array1<f64>,
    relative: f64,
}

impl System {
    fn new(shift: f64, right: ArrayView1<'_, f64>) -> Self {
        Self { shift, zeta: 1.0, zeta_before: 1.0, direction: right.to_owned(), relative: 1.0 }
    }

    /// `(step, turn)` are `α_n, β_n` of the base system, `before` the same of the last iteration; `r` is its new
    /// residual.
    fn advance(
        &mut self,
        (step, turn): (f64, f64),
        before: (f64, f64),
        r: &Array1<f64>,
        mut x: ndarray::ArrayViewMut1<'_, f64>,
    ) {
        let (step_before, turn_before) = before;
        let (now, last) = (self.zeta, self.zeta_before);
        let denominator =
            step * turn_before * (last - now) + last * step_before * (1.0 + self.shift * step);
        let next = now * last * step_before / denominator;
        let ratio = next / now;
        x.scaled_add(step * ratio, &self.direction);
        self.direction *= turn * ratio * ratio;
        self.direction.scaled_add(next, r);
        (self.zeta_before, self.zeta) = (now, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cholesky;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[expect(clippy::unnecessary_wraps, reason = "a watch may end the iteration")]
    fn fine(_: usize, _: f64) -> Result<(), LinalgError> {
        Ok(())
    }

    #[test]
    fn every_shift_is_solved_as_alone() {
        let n = 80;
        let b = Array2::from_shape_fn((n, n), |(i, j)| ((i * 31 + j * 17) as f64 * 0.37).sin());
        let a = b.dot(&b.t()) / n as f64;
        let right = Array1::from_shape_fn(n, |i| (i as f64 * 1.3).cos());
        let shifts = [1.0, 1e-3, 10.0, 0.1, 0.1];
        let solved =
            shifted_conjugate_gradients(&a, right.view(), &shifts, 1e-12, 500, fine).unwrap();
        assert!(solved.converged);
        for (k, &t) in shifts.iter().enumerate() {
            let whole = &a + &(t * Array2::<f64>::eye(n));
            let factor = Cholesky::factor(whole.clone()).unwrap();
            let truth = factor.solve(&right.clone().insert_axis(Axis(1))).unwrap();
            let scale = truth.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            for (ours, truth) in solved.x.column(k).iter().zip(&truth) {
                assert_abs_diff_eq!(ours, truth, epsilon = 1e-8 * scale);
            }
            let left = &right - &whole.dot(&solved.x.column(k));
            let relative = (left.dot(&left) / right.dot(&right)).sqrt();
            assert!(relative < 1e-10, "shift {t}: {relative}");
        }
        // All of them for the products of the hardest.
        let alone =
            shifted_conjugate_gradients(&a, right.view(), &[1e-3], 1e-12, 500, fine).unwrap();
        assert_eq!(alone.iterations, solved.iterations);
    }

    #[test]
    fn residuals_are_relative_to_the_right_hand_side() {
        let a = array![[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]];
        let (b, shifts) = (array![3e6, -1e6, 2e6], [0.0, 0.7, 20.0]);
        let solved = shifted_conjugate_gradients(&a, b.view(), &shifts, 1e-14, 2, fine).unwrap();
        for ((x, &shift), &told) in
            solved.x.columns().into_iter().zip(&shifts).zip(&solved.residuals)
        {
            let rest = &b - &a.dot(&x) - &x * shift;
            let relative = (rest.dot(&rest) / b.dot(&b)).sqrt();
            assert!(
                (told - relative).abs() < 1e-9 && relative > 1e-6,
                "{shift}: {told} {relative}"
            );
        }
    }

    /// By the recurrence it would be at 1e-300 after some dozens of products.
    #[test]
    fn a_tolerance_beyond_rounding_is_not_called_met() {
        let n = 40;
        let a = Array2::from_shape_fn((n, n), |(i, j)| (-(i.abs_diff(j) as f64) / 4.0).exp());
        let b = Array1::from_shape_fn(n, |i| (i as f64 * 0.7).sin());
        for (tolerance, met) in [(1e-9, true), (1e-20, false), (1e-300, false)] {
            let solved =
                shifted_conjugate_gradients(&a, b.view(), &[0.01, 5.0], tolerance, 5000, fine)
                    .unwrap();
            assert_eq!(solved.converged, met, "{tolerance}: {:?}", solved.residuals);
            let rest = &b - &a.dot(&solved.x.column(0)) - &solved.x.column(0) * 0.01;
            let relative = (rest.dot(&rest) / b.dot(&b)).sqrt();
            let told = solved.residuals[0];
            assert!((told - relative).abs() <= 0.1 * tolerance.max(relative), "{told} {relative}");
        }
    }

    #[test]
    fn what_cannot_be_solved_is_named_and_what_does_not_converge_says_so() {
        let a = Array2::<f64>::eye(2);
        let b = array![1.0, 2.0];
        let run = |right: &Array1<f64>, shifts: &[f64], tolerance, most| {
            shifted_conjugate_gradients(&a, right.view(), shifts, tolerance, most, fine)
        };
        assert!(matches!(run(&array![1.0], &[1.0], 1e-3, 5), Err(LinalgError::Height { .. })));
        assert!(matches!(run(&b, &[-1.0], 1e-3, 5), Err(LinalgError::Argument { .. })));
        assert!(matches!(run(&b, &[1.0], 0.0, 5), Err(LinalgError::Argument { .. })));
        let stopped = run(&b, &[1.0], 1e-3, 0).unwrap();
        assert!(!stopped.converged && stopped.iterations == 0);
        assert!(run(&array![0.0, 0.0], &[1.0], 1e-3, 5).unwrap().converged);
    }
}
