use crate::{Eigen, LinalgError, multiplied, product, symmetric_eigen, symmetric_product};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// A symmetric positive semidefinite matrix that is known by its products only.
///
/// ```
/// use mercer_linalg::{LinalgError, SymmetricOperator, conjugate_gradients};
/// use ndarray::{Array2, ArrayView2, array};
/// /// `2 I`, which nobody stores.
/// struct Twice(usize);
/// impl SymmetricOperator for Twice {
///     fn size(&self) -> usize { self.0 }
///     fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> { 2.0 * &x }
/// }
/// let right = array![[1.0], [4.0]];
/// let solved = conjugate_gradients(&Twice(2), right.view(), |r| r.to_owned(), 1e-12, 9, |_, _| {
///     Ok::<(), LinalgError>(())
/// })?;
/// assert_eq!((solved.x, solved.converged), (array![[0.5], [2.0]], true));
/// # Ok::<(), LinalgError>(())
/// ```
pub trait SymmetricOperator {
    /// Number of rows `n`.
    fn size(&self) -> usize;

    /// `A X` for the columns of `x` (`n × r`).
    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64>;
}

impl SymmetricOperator for Array2<f64> {
    fn size(&self) -> usize {
        self.nrows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        multiplied(self.view(), x)
    }
}

/// What conjugate gradients reached.
///
/// ```
/// use mercer_linalg::{LinalgError, conjugate_gradients};
/// use ndarray::array;
/// let solve = |b: ndarray::Array2<f64>| {
///     let a = array![[1.0, 1.0], [1.0, 1.0]]; // singular, of range (1, 1)
///     conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-12, 10, |_, _| Ok::<(), LinalgError>(()))
/// };
/// let inside = solve(array![[2.0], [2.0]])?.useful()?;
/// assert!(inside.converged && (inside.x[[0, 0]] - 1.0).abs() < 1e-12); // (1, 1), of least norm
/// let outside = solve(array![[1.0], [-1.0]])?;
/// assert_eq!((outside.converged, outside.residual), (false, 1.0));
/// assert!(matches!(outside.useful(), Err(LinalgError::NoProgress { .. })));
/// # Ok::<(), LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Iterated {
    /// The solution (`n × r`).
    pub x: Array2<f64>,
    /// Products with the operator.
    pub iterations: usize,
    /// Largest relative residual `‖b − A x‖/‖b‖` over the right-hand sides.
    pub residual: f64,
    /// Whether every right-hand side met the tolerance.
    pub converged: bool,
}

impl Iterated {
    /// Itself, if it is nearer to a solution than zeros are.
    ///
    /// # Errors
    /// [`LinalgError::NoProgress`] where the residual is 1, which zeros have, or above, or NaN.
    pub fn useful(self) -> Result<Self, LinalgError> {
        if self.residual < 1.0 {
            return Ok(self);
        }
        Err(LinalgError::NoProgress { residual: self.residual, iterations: self.iterations })
    }
}

/// A residual this many times the least one seen ends a column's round: of a singular system whose
/// right-hand side is out of range, the recurrence runs away. (The residual of a system of condition
/// `κ` may rise by `√κ` on its way down.)
const RUNAWAY: f64 = 1e4;

/// So many iterations without a smaller residual end it as well.
const STALLED: usize = 50;

/// Preconditioned conjugate gradients for several right-hand sides at once: `A x_i = b_i` with the
/// columns of `right` (`n × r`), from `x = 0`.
///
/// Each column runs its own recurrence (Hestenes & Stiefel 1952); they share the products with `A`,
/// which is what an iteration costs. A column stops when its residual is at most
/// `tolerance · ‖b_i‖`; the residual that counts is recomputed from `A x`, not taken from the
/// recurrence, and a column whose recurrence was too optimistic starts again from where it is.
/// For a singular `A` it tends to the solution of least norm if `b` is in the range of `A`; if not, the
/// recurrence comes near and then runs away. What is returned is the nearest iterate of each
/// column, so that no residual is above 1. Where the recurrence
/// brings nothing nearer, the iterations that are left are of conjugate residuals, whose residual falls in
/// every step, to that of least squares (Stiefel 1955).
///
/// `precondition` applies an approximation of `A⁻¹`, symmetric and positive definite; `watch` is
/// called before each product with the number of iterations and the largest relative residual, and
/// ends the iteration with an error.
///
/// ```
/// use mercer_linalg::conjugate_gradients;
/// use ndarray::array;
/// let (a, b) = (array![[4.0, 1.0], [1.0, 3.0]], array![[1.0], [2.0]]);
/// let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-12, 10, |_, _| {
///     Ok::<(), mercer_linalg::LinalgError>(())
/// })?;
/// assert!(solved.converged && solved.iterations <= 4);
/// assert!((solved.x[[0, 0]] - 1.0 / 11.0).abs() < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError::Height`]; [`LinalgError::Argument`] for a tolerance outside `(0, 1)`;
/// [`LinalgError::NotFinite`] if a product is not; and what `watch` says.
pub fn conjugate_gradients<E: From<LinalgError>>(
    operator: &impl SymmetricOperator,
    right: ArrayView2<'_, f64>,
    precondition: impl FnMut(ArrayView2<'_, f64>) -> Array2<f64>,
    tolerance: f64,
    most_iterations: usize,
    watch: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<Iterated, E> {
    let steps = Steps { operator, trusted: 0.0 };
    let goal = Goal { right, tolerance, most_iterations };
    watched(operator, &steps, &goal, precondition, watch)
}

/// How far the residual of a round falls with an approximate operator before it is computed anew.
const TRUSTED: f64 = 1e-4;

/// The same with two operators: iterative refinement (Wilkinson 1963; Carson & Higham, 2018).
///
/// The recurrences run on `rough`, an approximation of `operator` with cheaper products, such as the same
/// matrix in single precision. A round of them ends when its residual has fallen by 10⁴; then the residual
/// is computed with `operator`, and the next round goes on from there. What is returned is judged by `operator`
/// alone, and its products are one a round: the solution is as exact as that of [`conjugate_gradients`]
/// if `rough` differs from it by less than its smallest eigenvalue. Where it differs by more, as for a matrix
/// that is singular to single precision, rounds gain nothing, and the nearest iterate says how far it came.
///
/// `iterations` counts products with `rough`.
///
/// ```
/// use mercer_linalg::{LinalgError, refined_gradients};
/// use ndarray::array;
/// let (a, b) = (array![[4.0, 1.0], [1.0, 3.0]], array![[1.0], [2.0]]);
/// let rough = a.mapv(|entry| entry + 1e-3);
/// let solved = refined_gradients(&a, &rough, b.view(), |r| r.to_owned(), 1e-14, 50, |_, _| {
///     Ok::<(), LinalgError>(())
/// })?;
/// assert!(solved.converged && (solved.x[[0, 0]] - 1.0 / 11.0).abs() < 1e-14); // of a, not of rough
/// # Ok::<(), LinalgError>(())
/// ```
///
/// # Errors
/// As [`conjugate_gradients`], and [`LinalgError::Height`] if the operators differ in size.
pub fn refined_gradients<E: From<LinalgError>>(
    operator: &impl SymmetricOperator,
    rough: &impl SymmetricOperator,
    right: ArrayView2<'_, f64>,
    precondition: impl FnMut(ArrayView2<'_, f64>) -> Array2<f64>,
    tolerance: f64,
    most_iterations: usize,
    watch: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<Iterated, E> {
    let (expected, found) = (operator.size(), rough.size());
    if expected != found {
        return Err(LinalgError::Height { expected, found }.into());
    }
    let steps = Steps { operator: rough, trusted: TRUSTED };
    let goal = Goal { right, tolerance, most_iterations };
    watched(operator, &steps, &goal, precondition, watch)
}

/// What the recurrences multiply with, and how far its residuals are believed, relative to where a round begins.
struct Steps<'a> {
    operator: &'a dyn SymmetricOperator,
    trusted: f64,
}

/// What is solved, and when it ends.
struct Goal<'a> {
    right: ArrayView2<'a, f64>,
    tolerance: f64,
    most_iterations: usize,
}

/// Told the iterations and the residual; false ends them.
type Watch<'a> = &'a mut dyn FnMut(usize, f64) -> bool;

/// The rounds, compiled once, under a watch with an error of its own.
fn watched<E: From<LinalgError>>(
    operator: &dyn SymmetricOperator,
    steps: &Steps<'_>,
    goal: &Goal<'_>,
    mut precondition: impl FnMut(ArrayView2<'_, f64>) -> Array2<f64>,
    mut watch: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<Iterated, E> {
    let mut said = None;
    let mut goes_on = |done: usize, residual: f64| {
        said = watch(done, residual).err();
        said.is_none()
    };
    let ended = in_rounds(operator, steps, goal, &mut precondition, &mut goes_on);
    ended.map_err(|error| match error {
        Some(error) => error.into(),
        None => said.expect("without an error of its own it ends by the watch"),
    })
}

/// An error is `None` where the watch ends it.
fn in_rounds(
    operator: &dyn SymmetricOperator,
    steps: &Steps<'_>,
    &Goal { right, tolerance, most_iterations }: &Goal<'_>,
    precondition: &mut dyn FnMut(ArrayView2<'_, f64>) -> Array2<f64>,
    watch: Watch<'_>,
) -> Result<Iterated, Option<LinalgError>> {
    let (expected, (found, columns)) = (operator.size(), right.dim());
    if expected != found {
        return Err(LinalgError::Height { expected, found }.into());
    }
    if !(tolerance > 0.0 && tolerance < 1.0) {
        let (name, must) = ("tolerance", "above 0 and below 1");
        return Err(LinalgError::Argument { name, value: tolerance, must }.into());
    }
    let not_finite = || LinalgError::NotFinite { operation: "a product in conjugate gradients" };
    // A right-hand side of zeros is solved by zeros; its residual counts as 0.
    let scales = norms(&right.to_owned()).mapv(|norm| if norm > 0.0 { norm } else { 1.0 });
    let mut x = Array2::zeros((found, columns));
    let mut r = right.to_owned();
    let mut iterations = 0;
    // Each round ends when the recurrences say that all is done, and is believed if A x says so.
    loop {
        let mut open: Vec<bool> =
            norms(&r).iter().zip(&scales).map(|(norm, scale)| *norm > tolerance * scale).collect();
        let mut residual = largest(&r, &scales);
        if !open.contains(&true) || iterations >= most_iterations {
            return Ok(Iterated { x, iterations, residual, converged: residual <= tolerance });
        }
        let (round, at_start) = (iterations, residual);
        let (begun, r_begun) = (x.clone(), r.clone());
        let (mut best, mut least) = (x.clone(), norms(&r));
        let goals: Vec<f64> = least
            .iter()
            .zip(&scales)
            .map(|(norm, scale)| (tolerance * scale).max(steps.trusted * norm))
            .collect();
        let mut since = vec![0; columns];
        let mut z = precondition(r.view());
        let mut p = z.clone();
        let mut rz = dots(&r, &z);
        while open.contains(&true) && iterations < most_iterations {
            if !watch(iterations, residual) {
                return Err(None);
            }
            let image = steps.operator.apply(p.view());
            iterations += 1;
            if image.iter().any(|entry| !entry.is_finite()) {
                if iterations == 1 {
                    return Err(not_finite().into());
                }
                // It ran away within one step: what came before it counts.
                break;
            }
            let curvature = dots(&p, &image);
            for column in 0..columns {
                // No curvature along p: the rest of the residual is outside A's range, or rounding.
                if !open[column] || curvature[column] <= 0.0 || rz[column] <= 0.0 {
                    open[column] = false;
                    continue;
                }
                let step = rz[column] / curvature[column];
                x.column_mut(column).scaled_add(step, &p.column(column));
                r.column_mut(column).scaled_add(-step, &image.column(column));
                let norm = r.column(column).dot(&r.column(column)).sqrt();
                if norm < least[column] {
                    least[column] = norm;
                    best.column_mut(column).assign(&x.column(column));
                    since[column] = 0;
                }
                since[column] += 1;
                let runs_away = norm.is_nan()
                    || norm > RUNAWAY * least[column]
                    || since[column] > STALLED.min(most_iterations / 4);
                open[column] = norm > goals[column] && !runs_away;
            }
            residual = largest(&r, &scales);
            z = precondition(r.view());
            let next = dots(&r, &z);
            for column in (0..columns).filter(|&column| open[column]) {
                let turn = next[column] / rz[column];
                let mut p = p.column_mut(column);
                p *= turn;
                p += &z.column(column);
            }
            rz = next;
        }
        x = best;
        r = &right - &operator.apply(x.view());
        let (now, before) = (norms(&r), norms(&r_begun));
        for column in (0..columns).filter(|&column| now[column] > before[column]) {
            x.column_mut(column).assign(&begun.column(column));
            r.column_mut(column).assign(&r_begun.column(column));
        }
        residual = largest(&r, &scales);
        // A round that gained nothing would only be repeated.
        if iterations == round || residual > 0.5 * at_start {
            if residual > tolerance && iterations < most_iterations {
                let left = most_iterations - iterations;
                let system = (&right, &scales, tolerance);
                let (x, r) = (&mut x, &mut r);
                let before = iterations;
                let mut watch = |done, now| watch(before + done, now);
                let done = residuals(operator, steps, system, (x, r), left, &mut watch);
                iterations += done.ok_or(None)?;
                residual = largest(r, &scales);
            }
            return Ok(Iterated { x, iterations, residual, converged: residual <= tolerance });
        }
    }
}

/// Conjugate residuals from `x` with its residual `r`, at most `most` products with the operator
/// beside one at the end; returns how many there were. Of each column the nearer of start and end
/// is left. None where the watch ends it.
fn residuals(
    operator: &dyn SymmetricOperator,
    steps: &Steps<'_>,
    (right, scales, tolerance): (&ArrayView2<'_, f64>, &Array1<f64>, f64),
    (x, r): (&mut Array2<f64>, &mut Array2<f64>),
    most: usize,
    watch: Watch<'_>,
) -> Option<usize> {
    let columns = x.ncols();
    let (begun, r_begun) = (x.clone(), r.clone());
    let before = norms(r);
    let (mut mark, mut since) = (before.clone(), vec![0; columns]);
    let mut open: Vec<bool> =
        before.iter().zip(scales).map(|(norm, scale)| *norm > tolerance * scale).collect();
    if !watch(0, largest(r, scales)) {
        return None;
    }
    let (mut p, mut image) = (r.clone(), steps.operator.apply(r.view()));
    let (mut done, mut curvature) = (1, dots(r, &image));
    while open.contains(&true) && done < most {
        for column in 0..columns {
            if !open[column] {
                continue;
            }
            let flow = image.column(column);
            let squares = flow.dot(&flow);
            // No curvature along r: what is left of it is out of range.
            if !(curvature[column] > 0.0 && squares > 0.0 && squares.is_finite()) {
                open[column] = false;
                continue;
            }
            let step = curvature[column] / squares;
            x.column_mut(column).scaled_add(step, &p.column(column));
            r.column_mut(column).scaled_add(-step, &flow);
            let norm = r.column(column).dot(&r.column(column)).sqrt();
            since[column] += 1;
            if norm < 0.99 * mark[column] {
                (mark[column], since[column]) = (norm, 0);
            }
            open[column] = norm > tolerance * scales[column] && since[column] < STALLED;
        }
        if !watch(done, largest(r, scales)) {
            return None;
        }
        let next = steps.operator.apply(r.view());
        done += 1;
        let turned = dots(r, &next);
        for column in (0..columns).filter(|&column| open[column]) {
            let turn = turned[column] / curvature[column];
            let mut p = p.column_mut(column);
            p *= turn;
            p += &r.column(column);
            let mut image = image.column_mut(column);
            image *= turn;
            image += &next.column(column);
        }
        curvature = turned;
    }
    *r = right - &operator.apply(x.view());
    let now = norms(r);
    let worse = |column: &usize| now[*column].is_nan() || now[*column] > before[*column];
    for column in (0..columns).filter(worse) {
        x.column_mut(column).assign(&begun.column(column));
        r.column_mut(column).assign(&r_begun.column(column));
    }
    Some(done)
}

fn norms(x: &Array2<f64>) -> Array1<f64> {
    dots(x, x).mapv(f64::sqrt)
}

fn dots(a: &Array2<f64>, b: &Array2<f64>) -> Array1<f64> {
    let mut dots = Array1::zeros(a.ncols());
    for (a, b) in a.rows().into_iter().zip(b.rows()) {
        for ((dot, a), b) in dots.iter_mut().zip(a).zip(b) {
            *dot += a * b;
        }
    }
    dots
}

/// Largest relative residual; NaN stays NaN.
fn largest(r: &Array2<f64>, scales: &Array1<f64>) -> f64 {
    let relative = norms(r) / scales;
    relative.iter().fold(0.0, |most: f64, &value| if value <= most { most } else { value })
}

/// Nyström preconditioner of `K + t I` from `l` columns of `K`.
///
/// With `K ≈ C B⁻¹ Cᵀ` (`C` the chosen columns, `B` their rows), the eigenpairs `U diag(s) Uᵀ` of
/// the approximation give
/// ```text
/// P⁻¹ = (s_l + t) U diag(1/(s + t)) Uᵀ + (I − U Uᵀ)
/// ```
/// (Frangella, Tropp & Udell 2023, eq. 1.3). The condition number of `P^-½ (K + t I) P^-½` is then
/// about `1 + s_{l+1}/t`, whatever the larger eigenvalues are.
///
/// ```
/// use mercer_linalg::Nystrom;
/// use ndarray::array;
/// // From all columns of K = diag(4, 1) it is (s_l + t)(K + t I)⁻¹, with t = 1 and s_l = 1.
/// let k = array![[4.0, 0.0], [0.0, 1.0]];
/// let preconditioner = Nystrom::new(k.view(), &[0, 1], 1.0)?;
/// let image = preconditioner.apply(array![[1.0], [1.0]].view());
/// assert!((image - array![[2.0 / 5.0], [1.0]]).iter().all(|gap| gap.abs() < 1e-14));
/// assert!(Nystrom::new(k.view(), &[0], 1.0).is_err()); // one index a column
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Nystrom {
    vectors: Array2<f64>,
    /// `1 − (s_l + t)/(s_j + t)`.
    damping: Array1<f64>,
}

impl Nystrom {
    /// From columns `C` of `K` (`n × l`, `l ≤ n`), the rows of `C` that belong to the chosen
    /// columns (`core`, indices below `n`), and the ridge `t ≥ 0`.
    ///
    /// # Errors
    /// [`LinalgError::Height`] if there is not one index a column; [`LinalgError::Argument`] for a
    /// bad ridge; and those of [`symmetric_eigen`].
    pub fn new(
        columns: ArrayView2<'_, f64>,
        core: &[usize],
        ridge: f64,
    ) -> Result<Self, LinalgError> {
        let (expected, found) = (columns.ncols(), core.len());
        if expected != found {
            return Err(LinalgError::Height { expected, found });
        }
        if !(ridge >= 0.0 && ridge.is_finite()) {
            let (name, must) = ("ridge", "at least 0 and finite");
            return Err(LinalgError::Argument { name, value: ridge, must });
        }
        // K ≈ F Fᵀ with F = C Q diag(b)^-½, B = Q diag(b) Qᵀ; and F = U diag(√s) Vᵀ by way of FᵀF.
        let Eigen { values, vectors } = symmetric_eigen(columns.select(Axis(0), core).view())?;
        let (values, vectors) = leading(values, vectors, expected as f64 * f64::EPSILON);
        let half = multiplied(columns, (vectors / values.mapv(f64::sqrt)).view());
        let Eigen { values, vectors } = symmetric_eigen(symmetric_product(half.view()).view())?;
        // Singular vectors of values far below are not orthogonal enough to be of use.
        let (values, vectors) = leading(values, vectors, 1e-10);
        let vectors = multiplied(half.view(), vectors.view()) / values.mapv(f64::sqrt);
        let smallest = values.first().copied().unwrap_or(0.0);
        let damping = values.mapv(|value| {
            if value + ridge > 0.0 { 1.0 - (smallest + ridge) / (value + ridge) } else { 0.0 }
        });
        Ok(Self { vectors, damping })
    }

    /// `P⁻¹ X` (`n × r`).
    pub fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut coordinates = multiplied(self.vectors.t(), x);
        coordinates *= &self.damping.view().insert_axis(Axis(1));
        let mut image = x.to_owned();
        product(-1.0, self.vectors.view(), coordinates.view(), 1.0, image.view_mut());
        image
    }
}

/// The eigenpairs above `relative` times the largest value.
fn leading(values: Array1<f64>, vectors: Array2<f64>, relative: f64) -> (Array1<f64>, Array2<f64>) {
    let floor = relative * values.last().copied().unwrap_or(0.0).max(0.0);
    let first = values.iter().take_while(|&&value| value <= floor).count();
    (values.slice_move(s![first..]), vectors.slice_move(s![.., first..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cholesky, minimum_norm_solve};
    use approx::assert_abs_diff_eq;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
    }

    /// A Gaussian kernel matrix of points in the plane: eigenvalues over many orders.
    fn kernel(n: usize) -> Array2<f64> {
        let x = random(n, 2, 1);
        Array2::from_shape_fn((n, n), |(i, j)| {
            let apart = &x.row(i) - &x.row(j);
            (-0.5 * apart.dot(&apart)).exp()
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the signature of a watch")]
    fn quiet(_: usize, _: f64) -> Result<(), LinalgError> {
        Ok(())
    }

    #[test]
    fn several_right_hand_sides_agree_with_a_direct_solve() {
        let a = kernel(60) + 0.1 * Array2::<f64>::eye(60);
        let mut b = random(60, 4, 2);
        b.column_mut(2).fill(0.0);
        let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
        let plain = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-11, 500, quiet).unwrap();
        assert!(plain.converged && plain.residual <= 1e-11, "{plain:?}");
        assert_abs_diff_eq!(plain.x, expected, epsilon = 1e-9);
        assert_eq!(plain.x.column(2).sum().to_bits(), 0f64.to_bits());
    }

    /// A matrix that counts what it is asked for.
    struct Counting(Array2<f64>, std::cell::Cell<usize>);

    impl SymmetricOperator for Counting {
        fn size(&self) -> usize {
            self.0.nrows()
        }

        fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
            self.1.set(self.1.get() + 1);
            self.0.dot(&x)
        }
    }

    #[test]
    fn a_right_hand_side_of_zeros_asks_for_no_product() {
        let a = Counting(kernel(5), std::cell::Cell::new(0));
        let zeros = Array2::zeros((5, 2));
        let solved =
            conjugate_gradients(&a, zeros.view(), |r| r.to_owned(), 1e-9, 20, quiet).unwrap();
        assert!(solved.converged && solved.x == zeros);
        assert_eq!((solved.iterations, a.1.get()), (0, 0));
    }

    /// Along a negative eigenvalue a step would solve the equation and be no minimum: an operator is
    /// semidefinite, and what says otherwise is rounding.
    #[test]
    fn a_direction_of_negative_curvature_is_left_alone() {
        let a = Array2::from_diag(&ndarray::array![1.0, -1.0]);
        let b = ndarray::array![[0.0], [1.0]];
        let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-9, 20, quiet).unwrap();
        assert_eq!((solved.x, solved.converged), (Array2::zeros((2, 1)), false));
        assert!((solved.residual - 1.0).abs() < f64::EPSILON, "{}", solved.residual);
    }

    /// The tolerance is relative: a right-hand side a thousand times as large takes as many steps.
    #[test]
    fn conjugate_residuals_take_as_many_steps_at_any_scale() {
        let a = kernel(60) + 0.1 * Array2::<f64>::eye(60);
        let b = random(60, 1, 2);
        let products = |b: Array2<f64>| {
            let (mut x, mut r) = (Array2::zeros(b.dim()), b.clone());
            let system = (&b.view(), &norms(&b), 1e-4);
            let steps = Steps { operator: &a, trusted: 0.0 };
            let products =
                residuals(&a, &steps, system, (&mut x, &mut r), 500, &mut |_, _| true).unwrap();
            assert!(norms(&r)[0] <= 1.01e-4 * norms(&b)[0]);
            products
        };
        let steps = products(b.clone());
        assert!((5..60).contains(&steps), "{steps}");
        assert_eq!([1e3, 1e-3].map(|scale| products(&b * scale)), [steps; 2]);
    }

    /// What the residual can still lose is far below a hundredth of it: the rounds end after
    /// [`STALLED`] of them, though there are steps left that would gain something.
    #[test]
    fn conjugate_residuals_end_where_they_gain_nothing_to_speak_of() {
        let n = 400;
        let mut diagonal = Array1::from_shape_fn(n, |i| (1 + i) as f64);
        diagonal[0] = 0.0;
        let a = Array2::from_diag(&diagonal);
        let mut b = Array2::from_elem((n, 1), 1e-3);
        b[[0, 0]] = 1.0;
        let (mut x, mut r) = (Array2::zeros((n, 1)), b.clone());
        let system = (&b.view(), &norms(&b), 1e-9);
        let steps = Steps { operator: &a, trusted: 0.0 };
        let products =
            residuals(&a, &steps, system, (&mut x, &mut r), 10 * n, &mut |_, _| true).unwrap();
        assert_eq!(products, STALLED + 1);
        assert!(norms(&r)[0] < norms(&b)[0]);
    }

    #[test]
    fn the_preconditioner_saves_iterations_and_changes_no_solution() {
        let (n, ridge) = (300, 1e-4);
        let k = kernel(n);
        let a = &k + ridge * Array2::<f64>::eye(n);
        let b = random(n, 2, 3);
        let core: Vec<usize> = (0..40).map(|i| i * 7).collect();
        let nystrom = Nystrom::new(k.select(Axis(1), &core).view(), &core, ridge).unwrap();
        let solve = |x: ArrayView2<'_, f64>| nystrom.apply(x);
        let with = conjugate_gradients(&a, b.view(), solve, 1e-8, 500, quiet).unwrap();
        let without =
            conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-8, 500, quiet).unwrap();
        assert!(with.converged && with.iterations < 15, "{}", with.iterations);
        assert!(without.iterations > 3 * with.iterations, "{}", without.iterations);
        let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
        // Residual 1e-8 times the condition number, at worst.
        let scale = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
        assert!((&with.x - &expected).iter().all(|x| x.abs() < 1e-4 * scale));
        // With all columns it is the inverse up to a factor.
        let all: Vec<usize> = (0..30).collect();
        let small = k.slice(s![..30, ..30]).to_owned();
        let exact = Nystrom::new(small.view(), &all, 0.1).unwrap();
        let shifted = &small + 0.1 * Array2::<f64>::eye(30);
        let once = conjugate_gradients(
            &shifted,
            b.slice(s![..30, ..]),
            |x| exact.apply(x),
            1e-6,
            9,
            quiet,
        );
        assert!(once.unwrap().iterations <= 3);
    }

    #[test]
    fn a_singular_system_tends_to_the_shortest_solution() {
        let half = random(20, 5, 4);
        let a = half.dot(&half.t());
        let b = a.dot(&random(20, 2, 5));
        let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-12, 50, quiet).unwrap();
        let expected = minimum_norm_solve(a.view(), b.view(), Some(1e-10)).unwrap().x;
        assert!(solved.converged);
        assert_abs_diff_eq!(solved.x, expected, epsilon = 1e-10);
    }

    #[test]
    fn what_is_not_reached_is_said() {
        let a = kernel(50);
        // Not in the numerical range of A: the residual cannot vanish.
        let b = random(50, 1, 6);
        let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 40, quiet).unwrap();
        assert!(!solved.converged && solved.iterations <= 40 && solved.residual > 1e-10);
        let residual = &b - &a.dot(&solved.x);
        let norm = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_abs_diff_eq!(solved.residual, norm(&residual) / norm(&b), epsilon = 1e-9);
    }

    /// Rounded to single precision, and what comes of it is the solution of the matrix itself.
    #[test]
    fn a_rough_operator_gives_the_exact_solution_for_few_exact_products() {
        let a = kernel(120) + 0.05 * Array2::<f64>::eye(120);
        let b = random(120, 3, 8);
        let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
        let exact = Counting(a.clone(), std::cell::Cell::new(0));
        let rough = Counting(a.mapv(|entry| f64::from(entry as f32)), std::cell::Cell::new(0));
        let solved =
            refined_gradients(&exact, &rough, b.view(), |r| r.to_owned(), 1e-12, 500, quiet)
                .unwrap();
        assert!(solved.converged && solved.residual <= 1e-12, "{solved:?}");
        assert_abs_diff_eq!(solved.x, expected, epsilon = 1e-9);
        assert_eq!(rough.1.get(), solved.iterations);
        // Twelve digits at four a round.
        assert!((3..=4).contains(&exact.1.get()), "{}", exact.1.get());
        let other = Array2::<f64>::eye(119);
        let refused = refined_gradients(&a, &other, b.view(), |r| r.to_owned(), 1e-12, 500, quiet);
        assert_eq!(refused, Err(LinalgError::Height { expected: 120, found: 119 }));
    }

    /// Where the matrix is singular to single precision, what is said is the residual of the matrix itself, and
    /// no worse than that of zeros.
    #[test]
    fn a_rough_operator_that_is_too_rough_is_found_out() {
        let a = kernel(100);
        let b = random(100, 2, 9);
        let rough = a.mapv(|entry| f64::from(entry as f32));
        for iterations in [20, 300] {
            let solved =
                refined_gradients(&a, &rough, b.view(), |r| r.to_owned(), 1e-10, iterations, quiet)
                    .unwrap();
            assert!(!solved.converged && solved.residual < 1.0, "{solved:?}");
            assert!(solved.iterations <= iterations);
            let left = norms(&(&b - &a.dot(&solved.x))) / norms(&b);
            let most = left.iter().fold(0f64, |most, &value| most.max(value));
            assert_abs_diff_eq!(solved.residual, most, epsilon = 1e-9);
        }
    }

    #[test]
    fn a_right_hand_side_out_of_range_keeps_the_nearest_iterate() {
        // No solution, and no curvature along the misfit.
        let (a, b) = doubled(3);
        let mut before = 1.0;
        for iterations in [60, 120, 400] {
            let solved =
                conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, iterations, quiet)
                    .unwrap();
            assert!(!solved.converged && solved.residual < 1.0, "{iterations}: {solved:?}");
            let left = norms(&(&b - &a.dot(&solved.x))) / norms(&b);
            let most = left.iter().fold(0f64, |most, &value| most.max(value));
            assert_abs_diff_eq!(solved.residual, most, epsilon = 1e-9);
            assert!(solved.clone().useful().is_ok() && solved.residual <= before + 1e-9);
            before = solved.residual;
            if iterations == 400 {
                // What no solution can reach: half the difference of the two targets of a row.
                let misfit = Array2::from_shape_fn((80, 3), |(i, j)| {
                    0.5 * (b[[i, j]] - b[[(i + 40) % 80, j]])
                });
                let least = norms(&misfit) / norms(&b);
                assert!(least.iter().all(|least| solved.residual > *least - 1e-9), "{least}");
            }
        }
        // No iterate is better than zeros: said, not returned as a solution.
        let twice = ndarray::array![[1.0, 1.0], [1.0, 1.0]];
        let opposite = ndarray::array![[1.0], [-1.0]];
        let stuck =
            conjugate_gradients(&twice, opposite.view(), |r| r.to_owned(), 1e-10, 50, quiet)
                .unwrap();
        assert_eq!(stuck.residual.to_bits(), 1f64.to_bits());
        let error = stuck.useful().unwrap_err().to_string();
        assert!(error.contains("residual 1e0") && error.contains("ridge"), "{error}");
    }

    /// Every row twice with different targets: the recurrence of a column runs away.
    fn doubled(columns: usize) -> (Array2<f64>, Array2<f64>) {
        let half = kernel(40);
        let a = Array2::from_shape_fn((80, 80), |(i, j)| half[[i % 40, j % 40]]);
        (a, random(80, columns, 8))
    }

    #[test]
    fn a_recurrence_that_runs_away_is_not_followed() {
        // Solved on the range but for rounding, what is left has next to no curvature: a step without end.
        let a = Array2::from_diag(&ndarray::array![1.0, 0.3, 0.7, 0.0]);
        let b = ndarray::array![[0.1], [0.7], [1.1], [1.3]];
        let mut least = f64::INFINITY;
        let watch = |_: usize, residual: f64| {
            least = least.min(residual);
            assert!(residual <= RUNAWAY * least, "{residual} after {least}");
            Ok::<(), LinalgError>(())
        };
        conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 400, watch).unwrap();
    }

    #[test]
    fn there_are_never_more_products_than_allowed() {
        let (a, b) = doubled(1);
        for most in 1..8 {
            let plain = |r: ArrayView2<'_, f64>| r.to_owned();
            let solved = conjugate_gradients(&a, b.view(), plain, 1e-10, most, quiet).unwrap();
            assert!(solved.iterations <= most, "{} of {most}", solved.iterations);
        }
    }

    #[test]
    fn conjugate_residuals_solve_in_as_many_steps_as_there_are_unknowns() {
        let a = kernel(6) + 0.1 * Array2::<f64>::eye(6);
        let b = random(6, 2, 11);
        let (mut x, mut r, scales) = (Array2::zeros((6, 2)), b.clone(), norms(&b));
        let system = (&b.view(), &scales, 1e-10);
        let steps = Steps { operator: &a, trusted: 0.0 };
        let done = residuals(&a, &steps, system, (&mut x, &mut r), 8, &mut |_, _| true).unwrap();
        assert!(done <= 7 && largest(&r, &scales) < 1e-9, "{done}: {r}");
        assert_abs_diff_eq!(a.dot(&x), b, epsilon = 1e-8);
    }

    #[test]
    fn what_is_solved_already_costs_one_product() {
        // Residual and bound are both 0: a column that is exact is not open.
        let a = kernel(4);
        let (mut x, mut r, scales) =
            (Array2::zeros((4, 2)), Array2::zeros((4, 2)), Array1::zeros(2));
        let right = Array2::zeros((4, 2));
        let system = (&right.view(), &scales, 1e-10);
        let steps = Steps { operator: &a, trusted: 0.0 };
        let done = residuals(&a, &steps, system, (&mut x, &mut r), 8, &mut |_, _| true).unwrap();
        assert_eq!((done, x), (1, Array2::zeros((4, 2))));
    }

    #[test]
    fn rounds_that_gain_little_end_in_least_squares() {
        // Every row twice: the targets of a row are alike but for a twentieth, which no solution can reach.
        let half = kernel(40) + Array2::<f64>::eye(40);
        let a = Array2::from_shape_fn((80, 80), |(i, j)| half[[i % 40, j % 40]]);
        let (told, misfit) = (random(40, 2, 9), random(40, 2, 10));
        let sign = |i: usize| if i < 40 { 0.05 } else { -0.05 };
        let b = Array2::from_shape_fn((80, 2), |(i, j)| {
            told[[i % 40, j]] + sign(i) * misfit[[i % 40, j]]
        });
        let out = Array2::from_shape_fn((80, 2), |(i, j)| sign(i) * misfit[[i % 40, j]]);
        let least = largest(&out, &norms(&b));
        assert!(least < 0.25, "{least}"); // below a half: the first round gains enough for a second
        let solved =
            conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 3000, quiet).unwrap();
        assert!(!solved.converged && solved.iterations < 600, "{}", solved.iterations);
        assert!(solved.residual < 1.0001 * least, "{} beside {least}", solved.residual);
    }

    #[test]
    fn bad_arguments_and_products_are_named() {
        let (a, b) = (Array2::eye(3), Array2::ones((3, 1)));
        let plain = |r: ArrayView2<'_, f64>| r.to_owned();
        for bad in [0.0, 1.0, f64::NAN] {
            let error = conjugate_gradients(&a, b.view(), plain, bad, 5, quiet);
            assert!(matches!(error, Err(LinalgError::Argument { name: "tolerance", .. })));
        }
        let error = conjugate_gradients(&a, Array2::ones((2, 1)).view(), plain, 0.1, 5, quiet);
        assert!(matches!(error, Err(LinalgError::Height { .. })));
        let poisoned = Array2::from_elem((3, 3), f64::NAN);
        let error = conjugate_gradients(&poisoned, b.view(), plain, 0.1, 5, quiet);
        assert!(matches!(error, Err(LinalgError::NotFinite { .. })));
        let stop = |_: usize, _: f64| Err(LinalgError::NotFinite { operation: "a test" });
        assert!(conjugate_gradients(&a, b.view(), plain, 0.1, 5, stop).is_err());
        assert!(matches!(
            Nystrom::new(a.view(), &[0, 1], 0.1),
            Err(LinalgError::Height { expected: 3, found: 2 })
        ));
        assert!(matches!(
            Nystrom::new(a.view(), &[0, 1, 2], -0.1),
            Err(LinalgError::Argument { name: "ridge", .. })
        ));
    }
}
