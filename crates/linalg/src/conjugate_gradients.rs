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
    /// Returns the number of rows `n`.
    fn size(&self) -> usize;

    /// Returns `A X` for the columns of `x` (`n × r`).
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

/// Runs preconditioned conjugate gradients for several right-hand sides at once. It solves `A x_i = b_i` with the
/// columns of `right` (`n × r`), from `x = 0`.
///
/// Each column runs its own recurrence (Hestenes & Stiefel 1952); they share the products with `A`, which is what an
/// iteration costs. A column stops when its residual is at most `tolerance · ‖b_i‖`. The residual that counts is
/// recomputed from `A x`, not taken from the recurrence. A column whose recurrence was too optimistic starts again from
/// where it is. For a singular `A` it tends to the solution of least norm if `b` is in the range of `A`; if not, the
/// recurrence comes near and then runs away. The result is the nearest iterate of each column, so that no residual is
/// above 1. Where the recurrence brings nothing nearer, the iterations that are left are of conjugate residuals. Their
/// residual falls in every step, to the residual of least squares (Stiefel 1955).
///
/// `precondition` applies an approximation of `A⁻¹`, symmetric and positive definite. `watch` is called before each
/// product with the number of iterations and the largest relative residual, and ends the iteration with an error.
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
    let system = System::new(operator, right.view(), tolerance, most_iterations)?;
    watched(&system, &Steps { operator, trusted: 0.0 }, precondition, watch)
}

/// How far the residual of a round falls with an approximate operator before it is computed anew.
const TRUSTED: f64 = 1e-4;

/// Returns the same with two operators: iterative refinement (Wilkinson 1963; Carson & Higham, 2018).
///
/// The recurrences run on `rough`, an approximation of `operator` with cheaper products, such as the same matrix in
/// single precision. A round of them ends when its residual has fallen by 10⁴; then the residual is computed with
/// `operator`, and the next round goes on from there. The result is judged by `operator` alone, and its products are
/// one a round. The solution is as exact as the solution of [`conjugate_gradients`] if `rough` differs from it by less
/// than its smallest eigenvalue. Where it differs by more, as for a matrix that is singular to single precision, rounds
/// gain nothing, and the nearest iterate says how far it came.
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
    let system = System::new(operator, right.view(), tolerance, most_iterations)?;
    watched(&system, &Steps { operator: rough, trusted: TRUSTED }, precondition, watch)
}

/// What the recurrences multiply with, and how far its residuals are believed, relative to where a round begins.
struct Steps<'a> {
    operator: &'a dyn SymmetricOperator,
    trusted: f64,
}

/// The system to solve, and when it ends.
struct System<'a> {
    operator: &'a dyn SymmetricOperator,
    right: ArrayView2<'a, f64>,
    /// What residuals are relative to: the norms of the right-hand sides, or 1 for zeros, which zeros solve.
    scales: Array1<f64>,
    tolerance: f64,
    most_iterations: usize,
}

impl<'a> System<'a> {
    fn new(
        operator: &'a dyn SymmetricOperator,
        right: ArrayView2<'a, f64>,
        tolerance: f64,
        most_iterations: usize,
    ) -> Result<Self, LinalgError> {
        check_system(operator.size(), right.nrows(), tolerance)?;
        let scales = norms(&right.to_owned()).mapv(|norm| if norm > 0.0 { norm } else { 1.0 });
        Ok(Self { operator, right, scales, tolerance, most_iterations })
    }

    fn start(&self) -> Reached {
        Reached { x: Array2::zeros(self.right.dim()), r: self.right.to_owned(), iterations: 0 }
    }

    /// Which columns have a residual above the tolerance.
    fn open(&self, r: &Array2<f64>) -> Vec<bool> {
        let columns = norms(r).into_iter().zip(&self.scales);
        columns.map(|(norm, scale)| norm > self.tolerance * scale).collect()
    }

    fn ended(&self, at: Reached) -> Iterated {
        let residual = largest(&at.r, &self.scales);
        let converged = residual <= self.tolerance;
        Iterated { x: at.x, iterations: at.iterations, residual, converged }
    }
}

/// Refuses right-hand sides of another height than the operator's, and a tolerance outside `(0, 1)`.
pub(crate) fn check_system(
    expected: usize,
    found: usize,
    tolerance: f64,
) -> Result<(), LinalgError> {
    if expected != found {
        return Err(LinalgError::Height { expected, found });
    }
    if !(tolerance > 0.0 && tolerance < 1.0) {
        let (name, must) = ("tolerance", "above 0 and below 1");
        return Err(LinalgError::Argument { name, value: tolerance, must });
    }
    Ok(())
}

/// Iterates with their residuals, and the products so far.
#[derive(Clone)]
struct Reached {
    x: Array2<f64>,
    r: Array2<f64>,
    iterations: usize,
}

impl Reached {
    /// Computes the residuals anew; the columns that are `worse` by their norms, now and before, go back to where they
    /// were.
    fn judge(&mut self, system: &System<'_>, begun: &Self, worse: impl Fn(f64, f64) -> bool) {
        self.r = &system.right - &system.operator.apply(self.x.view());
        let (now, before) = (norms(&self.r), norms(&begun.r));
        for column in (0..now.len()).filter(|&column| worse(now[column], before[column])) {
            self.x.column_mut(column).assign(&begun.x.column(column));
            self.r.column_mut(column).assign(&begun.r.column(column));
        }
    }
}

/// Applies an approximation of `A⁻¹`.
type Precondition<'a> = &'a mut dyn FnMut(ArrayView2<'_, f64>) -> Array2<f64>;

/// Receives the iterations and the residual; false ends them.
type Watch<'a> = &'a mut dyn FnMut(usize, f64) -> bool;

/// The rounds, compiled once, under a watch with an error of its own.
fn watched<E: From<LinalgError>>(
    system: &System<'_>,
    steps: &Steps<'_>,
    mut precondition: impl FnMut(ArrayView2<'_, f64>) -> Array2<f64>,
    mut watch: impl FnMut(usize, f64) -> Result<(), E>,
) -> Result<Iterated, E> {
    let mut said = None;
    let mut goes_on = |done: usize, residual: f64| {
        said = watch(done, residual).err();
        said.is_none()
    };
    let ended = in_rounds(system, steps, &mut precondition, &mut goes_on);
    ended.map_err(|error| match error {
        Some(error) => error.into(),
        None => said.expect("without an error of its own it ends by the watch"),
    })
}

/// An error is `None` where the watch ends it.
fn in_rounds(
    system: &System<'_>,
    steps: &Steps<'_>,
    precondition: Precondition<'_>,
    watch: Watch<'_>,
) -> Result<Iterated, Option<LinalgError>> {
    let mut at = system.start();
    // Each round ends when the recurrences say that all is done, and is believed if A x says so.
    loop {
        let open = system.open(&at.r);
        if !open.contains(&true) || at.iterations >= system.most_iterations {
            return Ok(system.ended(at));
        }
        let begun = at.clone();
        at.x = round(system, steps, &mut at, open, precondition, watch)?;
        at.judge(system, &begun, |now, before| now > before);
        let residual = largest(&at.r, &system.scales);
        // A round that gained nothing would only be repeated.
        let stuck = residual > 0.5 * largest(&begun.r, &system.scales);
        if stuck || at.iterations == begun.iterations {
            if residual > system.tolerance && at.iterations < system.most_iterations {
                residuals(system, steps, &mut at, watch)?;
            }
            return Ok(system.ended(at));
        }
    }
}

/// One round of the `open` columns' recurrences; returns the nearest iterate of each column.
fn round(
    system: &System<'_>,
    steps: &Steps<'_>,
    at: &mut Reached,
    mut open: Vec<bool>,
    precondition: Precondition<'_>,
    watch: Watch<'_>,
) -> Result<Array2<f64>, Option<LinalgError>> {
    let mut nearest = Nearest::new(at, system.most_iterations);
    let goals: Vec<f64> = nearest
        .norms
        .iter()
        .zip(&system.scales)
        .map(|(norm, scale)| (system.tolerance * scale).max(steps.trusted * norm))
        .collect();
    let mut p = precondition(at.r.view());
    let mut rz = dots(&at.r, &p);
    while open.contains(&true) && at.iterations < system.most_iterations {
        if !watch(at.iterations, largest(&at.r, &system.scales)) {
            return Err(None);
        }
        let image = steps.operator.apply(p.view());
        at.iterations += 1;
        if image.iter().any(|entry| !entry.is_finite()) {
            if at.iterations == 1 {
                let operation = "a product in conjugate gradients";
                return Err(LinalgError::NotFinite { operation }.into());
            }
            // It ran away within one step: what came before it counts.
            break;
        }
        let curvature = dots(&p, &image);
        for column in 0..open.len() {
            // No curvature along p: the rest of the residual is outside A's range, or rounding.
            if !open[column] || curvature[column] <= 0.0 || rz[column] <= 0.0 {
                open[column] = false;
                continue;
            }
            let step = rz[column] / curvature[column];
            at.x.column_mut(column).scaled_add(step, &p.column(column));
            at.r.column_mut(column).scaled_add(-step, &image.column(column));
            let norm = at.r.column(column).dot(&at.r.column(column)).sqrt();
            open[column] = nearest.follows(&at.x, norm, column) && norm > goals[column];
        }
        let z = precondition(at.r.view());
        let next = dots(&at.r, &z);
        for column in (0..open.len()).filter(|&column| open[column]) {
            turn(&mut p, column, next[column] / rz[column], &z);
        }
        rz = next;
    }
    Ok(nearest.x)
}

/// The nearest iterates of a round, the norms of their residuals, and the iterations since.
struct Nearest {
    x: Array2<f64>,
    norms: Array1<f64>,
    since: Vec<usize>,
    patience: usize,
}

impl Nearest {
    fn new(at: &Reached, most_iterations: usize) -> Self {
        let since = vec![0; at.x.ncols()];
        let patience = STALLED.min(most_iterations / 4);
        Self { x: at.x.clone(), norms: norms(&at.r), since, patience }
    }

    /// Looks at the next iterate of a column; false where its recurrence runs away.
    fn follows(&mut self, x: &Array2<f64>, norm: f64, column: usize) -> bool {
        if norm < self.norms[column] {
            self.norms[column] = norm;
            self.x.column_mut(column).assign(&x.column(column));
            self.since[column] = 0;
        }
        self.since[column] += 1;
        let far = norm.is_nan() || norm > RUNAWAY * self.norms[column];
        !far && self.since[column] <= self.patience
    }
}

/// Turns a column's direction: `p = turn · p + r`.
fn turn(p: &mut Array2<f64>, column: usize, turn: f64, r: &Array2<f64>) {
    let mut p = p.column_mut(column);
    p *= turn;
    p += &r.column(column);
}

/// Conjugate residuals from where it is, one product with the operator beside those that count. Of each column the
/// nearer of start and end is left. The error is that the watch ends it.
fn residuals(
    system: &System<'_>,
    steps: &Steps<'_>,
    at: &mut Reached,
    watch: Watch<'_>,
) -> Result<(), Option<LinalgError>> {
    let begun = at.clone();
    let mut mark = norms(&at.r);
    let mut open = system.open(&at.r);
    let mut since = vec![0; open.len()];
    if !watch(at.iterations, largest(&at.r, &system.scales)) {
        return Err(None);
    }
    let (mut p, mut image) = (at.r.clone(), steps.operator.apply(at.r.view()));
    at.iterations += 1;
    let mut curvature = dots(&at.r, &image);
    while open.contains(&true) && at.iterations < system.most_iterations {
        for column in 0..open.len() {
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
            at.x.column_mut(column).scaled_add(step, &p.column(column));
            at.r.column_mut(column).scaled_add(-step, &flow);
            let norm = at.r.column(column).dot(&at.r.column(column)).sqrt();
            since[column] += 1;
            if norm < 0.99 * mark[column] {
                (mark[column], since[column]) = (norm, 0);
            }
            open[column] =
                norm > system.tolerance * system.scales[column] && since[column] < STALLED;
        }
        if !watch(at.iterations, largest(&at.r, &system.scales)) {
            return Err(None);
        }
        let next = steps.operator.apply(at.r.view());
        at.iterations += 1;
        let turned = dots(&at.r, &next);
        for column in (0..open.len()).filter(|&column| open[column]) {
            let by = turned[column] / curvature[column];
            turn(&mut p, column, by, &at.r);
            turn(&mut image, column, by, &next);
        }
        curvature = turned;
    }
    at.judge(system, &begun, |now, before| now.is_nan() || now > before);
    Ok(())
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
    /// Builds the preconditioner from columns `C` of `K` (`n × l`, `l ≤ n`). `core` are the rows of `C` that belong to
    /// the chosen columns (indices below `n`), and `t ≥ 0` is the ridge.
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

    /// Returns `P⁻¹ X` (`n × r`).
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
mod tests;
