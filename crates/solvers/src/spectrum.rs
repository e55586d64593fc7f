use crate::{Solution, SolverError};
use mercer_linalg::{Eigen, product, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

/// The correction of a kernel matrix `K = V diag(d) Vᵀ` with negative eigenvalues.
///
/// ```
/// use mercer_solvers::{PsdCorrection, Spectrum};
/// use ndarray::array;
/// let spectrum = Spectrum::of(array![[0.0, 2.0], [2.0, 0.0]].view())?; // eigenvalues −2 and 2
/// let eigenvalues = |how| {
///     let mended = Spectrum::of(spectrum.mended(how).train.view())?;
///     Ok::<_, mercer_solvers::SolverError>(mended.values().to_vec())
/// };
/// let near = |found: Vec<f64>, values: [f64; 2]| {
///     found.iter().zip(values).all(|(found, value)| (found - value).abs() < 1e-12)
/// };
/// assert!(near(eigenvalues(PsdCorrection::AsIs)?, [-2.0, 2.0]));
/// assert!(near(eigenvalues(PsdCorrection::Clip)?, [0.0, 2.0]));
/// assert!(near(eigenvalues(PsdCorrection::Flip)?, [2.0, 2.0]));
/// assert!(near(eigenvalues(PsdCorrection::Shift)?, [0.0, 4.0]));
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PsdCorrection {
    /// Nothing: the solver finds a stationary point.
    AsIs,
    /// Negative eigenvalues become 0.
    Clip,
    /// They change their sign.
    Flip,
    /// The smallest is subtracted from all: only `k(x_i, x_i)` of the training points changes.
    Shift,
}

/// As a setting has it: `as-is`, in backquotes.
///
/// ```
/// assert_eq!(mercer_solvers::PsdCorrection::AsIs.to_string(), "`as-is`");
/// ```
impl std::fmt::Display for PsdCorrection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AsIs => "`as-is`",
            Self::Clip => "`clip`",
            Self::Flip => "`flip`",
            Self::Shift => "`shift`",
        })
    }
}

/// The eigenvalues of a symmetric kernel matrix, and corrections of the negative ones.
///
/// Eigenvalues within `n ε max |d|` of 0 are rounding, and count as 0.
///
/// ```
/// use mercer_solvers::{PsdCorrection, Spectrum};
/// use ndarray::array;
/// let gram = array![[0.0, 2.0], [2.0, 0.0]]; // eigenvalues −2 and 2
/// let spectrum = Spectrum::of(gram.view())?;
/// assert!((spectrum.smallest() + 2.0).abs() < 1e-12);
/// assert!((spectrum.negative_share() - 0.5).abs() < 1e-12);
/// let flipped = spectrum.mended(PsdCorrection::Flip);
/// assert!((flipped.train[[0, 0]] - 2.0).abs() < 1e-12);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    gram: Array2<f64>,
    eigen: Eigen,
}

/// A kernel matrix after [`Spectrum::mended`], with what test points need.
///
/// ```
/// use mercer_solvers::{PsdCorrection, Spectrum};
/// use ndarray::array;
/// let gram = array![[0.0, 2.0], [2.0, 0.0]];
/// let spectrum = Spectrum::of(gram.view())?;
/// // A test point that is the first training point has its row of the mended matrix.
/// let flipped = spectrum.mended(PsdCorrection::Flip);
/// let row = flipped.test(array![[0.0, 2.0]].view());
/// assert!((&row.row(0) - &flipped.train.row(0)).iter().all(|gap| gap.abs() < 1e-12));
/// // A shift is of the training points alone.
/// assert_eq!(spectrum.mended(PsdCorrection::Shift).test(array![[0.0, 2.0]].view()), array![[0.0, 2.0]]);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedKernel {
    /// The matrix to train with, `n × n`.
    pub train: Array2<f64>,
    /// `T` in `k'(x) = T k(x)`, where test rows change.
    map: Option<Array2<f64>>,
}

impl Spectrum {
    /// Returns the eigenvalues of a symmetric matrix.
    ///
    /// # Errors
    /// [`SolverError::Linalg`] if the matrix is not square or not finite.
    pub fn of(gram: ArrayView2<'_, f64>) -> Result<Self, SolverError> {
        let mut eigen = symmetric_eigen(gram)?;
        let largest = eigen.values.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
        let rounding = gram.nrows() as f64 * f64::EPSILON * largest;
        eigen.values.mapv_inplace(|d| if d.abs() <= rounding { 0.0 } else { d });
        Ok(Self { gram: gram.to_owned(), eigen })
    }

    /// Returns the eigenvalues `d`, ascending.
    pub fn values(&self) -> ArrayView1<'_, f64> {
        self.eigen.values.view()
    }

    /// Returns the smallest eigenvalue.
    pub fn smallest(&self) -> f64 {
        self.eigen.values.first().copied().unwrap_or(0.0)
    }

    /// Returns `Σ |d| over d < 0`, divided by `Σ |d|`; 0 for a matrix of zeros.
    pub fn negative_share(&self) -> f64 {
        let all: f64 = self.eigen.values.iter().map(|d| d.abs()).sum();
        // The sum of nothing is −0.
        let negative: f64 =
            self.eigen.values.iter().map(|d| (-d).max(0.0)).fold(0.0, |sum, d| sum + d);
        if all > 0.0 { negative / all } else { 0.0 }
    }

    /// Returns the matrix with its negative eigenvalues dealt with.
    pub fn mended(&self, how: PsdCorrection) -> CorrectedKernel {
        let (train, map) = match how {
            PsdCorrection::AsIs => (self.gram.clone(), None),
            PsdCorrection::Clip => (
                self.with_values(|d| d.max(0.0)),
                Some(self.with_values(|d| if d > 0.0 { 1.0 } else { 0.0 })),
            ),
            PsdCorrection::Flip => (self.with_values(f64::abs), Some(self.signs())),
            PsdCorrection::Shift => {
                let mut shifted = self.gram.clone();
                let by = self.smallest().min(0.0);
                shifted.diag_mut().mapv_inplace(|k| k - by);
                (shifted, None)
            }
        };
        CorrectedKernel { train, map }
    }

    /// `V diag(sign d) Vᵀ`.
    fn signs(&self) -> Array2<f64> {
        self.with_values(|d| if d == 0.0 { 0.0 } else { d.signum() })
    }

    /// `V diag(of(d)) Vᵀ`.
    fn with_values(&self, of: impl Fn(f64) -> f64) -> Array2<f64> {
        let n = self.gram.nrows();
        let scaled = &self.eigen.vectors * &self.eigen.values.mapv(of).insert_axis(Axis(0));
        let mut composed = Array2::zeros((n, n));
        product(1.0, scaled.view(), self.eigen.vectors.t(), 0.0, composed.view_mut());
        composed
    }

    /// Least squares in the Krein space of the kernel, `u = K α`:
    ///
    /// ```text
    /// min  (1/n) ‖u − y‖² + plus ‖f₊‖² + minus ‖f₋‖²     [ with ‖u‖ = radius ]
    /// ```
    ///
    /// Oglic & Gärtner, *Learning in reproducing kernel Kreĭn spaces*, ICML 2018: both parts of the
    /// function are penalised, and with the sphere the global optimum is found although the problem
    /// is not convex. Returns `α` and the multiplier of the sphere, 0 without it.
    ///
    /// # Errors
    /// [`SolverError::Lengths`]; [`SolverError::Setting`] unless both penalties are positive and
    /// the radius, if given, too; [`SolverError::NotFinite`] for such targets.
    pub fn krein_ridge(
        &self,
        targets: ArrayView1<'_, f64>,
        plus: f64,
        minus: f64,
        radius: Option<f64>,
    ) -> Result<(Array1<f64>, f64), SolverError> {
        let n = self.gram.nrows();
        check_krein(targets, n, plus, minus, radius)?;
        let along = self.eigen.vectors.t().dot(&targets); // Vᵀ y
        let penalty = |d: f64| if d > 0.0 { plus } else { minus };
        let kept: Vec<usize> = (0..n).filter(|&k| self.eigen.values[k] != 0.0).collect();
        let curvature = |k: usize| {
            let d = self.eigen.values[k];
            penalty(d) / d.abs()
        };
        let Some(radius) = radius else {
            let mut inner = Array1::zeros(n);
            for &k in &kept {
                let d = self.eigen.values[k];
                inner[k] = d.signum() * along[k] / (d.abs() + n as f64 * penalty(d));
            }
            return Ok((self.eigen.vectors.dot(&inner), 0.0));
        };
        let share = |k: usize, mu: f64| along[k] / n as f64 / (curvature(k) + mu);
        let norm = |mu: f64| kept.iter().map(|&k| share(k, mu).powi(2)).sum::<f64>().sqrt();
        let least = kept.iter().map(|&k| curvature(k)).fold(f64::INFINITY, f64::min);
        // ‖Vᵀ y‖/n over the directions that the kernel has.
        let pull = kept.iter().map(|&k| (along[k] / n as f64).powi(2)).sum::<f64>().sqrt();
        if pull <= 0.0 {
            let value = "0".to_owned();
            let must = "nonzero along the kernel: without a pull every direction is as good";
            return Err(SolverError::Setting { name: "targets", value, must });
        }
        // The norm falls from infinity at −least (where the targets pull along that direction) to
        // 0; at the upper end every denominator is at least pull/radius.
        let mu = bisected(-least, pull / radius - least, |mu| norm(mu) > radius);
        let mut inner = Array1::zeros(n);
        for &k in &kept {
            inner[k] = share(k, mu) / self.eigen.values[k];
        }
        Ok((self.eigen.vectors.dot(&inner), mu))
    }
}

/// The inputs of [`Spectrum::krein_ridge`] for `n` points.
fn check_krein(
    targets: ArrayView1<'_, f64>,
    n: usize,
    plus: f64,
    minus: f64,
    radius: Option<f64>,
) -> Result<(), SolverError> {
    if targets.len() != n {
        let (what, found) = ("the targets", targets.len());
        return Err(SolverError::Lengths { what, expected: n, found });
    }
    for (name, value) in [("plus", plus), ("minus", minus), ("radius", radius.unwrap_or(1.0))] {
        if !(value > 0.0 && value.is_finite()) {
            let (value, must) = (value.to_string(), "positive and finite");
            return Err(SolverError::Setting { name, value, must });
        }
    }
    match targets.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(SolverError::NotFinite { what: "the targets", value }),
        None => Ok(()),
    }
}

/// Where `below` turns from true to false between `low` and `high`.
fn bisected(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    // More halvings than a double has digits: the ends meet.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

impl CorrectedKernel {
    /// Returns the rows of test points with the corrected kernel. They come from the rows with the kernel itself:
    /// `k'(x) = T k(x)`, `m × n`.
    pub fn test(&self, cross: ArrayView2<'_, f64>) -> Array2<f64> {
        match &self.map {
            // T is symmetric.
            Some(map) => {
                let mut mapped = Array2::zeros(cross.dim());
                product(1.0, cross, map.view(), 0.0, mapped.view_mut());
                mapped
            }
            None => cross.to_owned(),
        }
    }

    /// Returns the weights `T β` that give the same values with the kernel itself. With [`PsdCorrection::Flip`] this is
    /// the stabilised SVM of Loosli, Canu & Ong, *Learning SVM in Kreĭn spaces*, IEEE TPAMI 38(6), 2016. They are not
    /// sparse.
    pub fn original_weights(&self, solution: &Solution) -> Array1<f64> {
        match &self.map {
            Some(map) => map.dot(&solution.weights),
            None => solution.weights.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{number, numbers};
    use crate::{Dual, Precomputed, Smo};
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use ndarray::array;
    use toml::{Table, Value};

    fn golden() -> Value {
        let all: Table = include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        all["base-7"].clone()
    }

    fn toy() -> (Array2<f64>, [bool; 6], Array2<f64>) {
        let points = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 2.0]];
        (points, [true, true, false, true, false, false], array![[1.5, 0.5]])
    }

    type Kernel = fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> f64;

    fn log(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        -(1.0 + (&x - &z).mapv(|d| d * d).sum().sqrt()).ln()
    }

    fn tanh(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        (x.dot(&z) - 1.0).tanh()
    }

    fn matrices(of: Kernel) -> (Array2<f64>, Array2<f64>) {
        let (x, _, test) = toy();
        let cross = |left: &Array2<f64>| {
            Array2::from_shape_fn((left.nrows(), 6), |(i, j)| of(left.row(i), x.row(j)))
        };
        (cross(&x), cross(&test))
    }

    fn solve(of: Kernel, how: PsdCorrection, cost: f64) -> (Solution, f64, CorrectedKernel) {
        let (gram, cross) = matrices(of);
        let mended = Spectrum::of(gram.view()).unwrap().mended(how);
        let smo = Smo { tolerance: 1e-13, max_steps: Some(100_000), ..Smo::default() };
        let dual = Dual::classification(&toy().1, cost).unwrap();
        let solution = smo.solve(&Precomputed::new(mended.train.view()).unwrap(), &dual).unwrap();
        let f = solution.decision(mended.test(cross.view()).view())[0];
        (solution, f, mended)
    }

    fn check(solution: &Solution, alpha: &Value, bias: &Value) {
        assert!(solution.violation < 1e-12, "{}", solution.violation);
        assert_abs_diff_eq!(solution.weights.mapv(f64::abs), numbers(alpha), epsilon = 1e-8);
        assert_relative_eq!(solution.bias, number(bias), max_relative = 1e-8);
    }

    #[test]
    fn golden_machines_of_the_log_kernel() {
        let golden = golden();
        let spectrum = Spectrum::of(matrices(log).0.view()).unwrap();
        let d = spectrum.values();
        let found = array![d[0], d[1], d[5]];
        assert_relative_eq!(found, numbers(&golden["log-eigenvalues"]), max_relative = 1e-8);
        let all =
            [PsdCorrection::Clip, PsdCorrection::Flip, PsdCorrection::Shift, PsdCorrection::AsIs];
        for (row, how) in all.into_iter().enumerate() {
            let (solution, found, mended) = solve(log, how, 1.0);
            check(&solution, &golden["log-weights"][row], &golden["log-biases"][row]);
            let f = number(&golden["log-decisions"][row]);
            assert_relative_eq!(found, f, max_relative = 1e-8);
            if how == PsdCorrection::AsIs {
                let minimum = number(&golden["log-minimum"]);
                assert_relative_eq!(solution.objective, minimum, max_relative = 1e-8);
            }
            if how == PsdCorrection::Flip {
                let original = mended.original_weights(&solution);
                let beta = numbers(&golden["stabilised-weights"]);
                assert_abs_diff_eq!(original, beta, epsilon = 1e-8);
                let direct = matrices(log).1.dot(&original)[0] + solution.bias;
                assert_relative_eq!(direct, found, max_relative = 1e-12);
            }
        }
    }

    #[test]
    fn golden_machines_of_the_tanh_kernel() {
        let golden = golden();
        let smallest = Spectrum::of(matrices(tanh).0.view()).unwrap().smallest();
        assert_relative_eq!(smallest, number(&golden["tanh-eigenvalue"]), max_relative = 1e-8);
        // At C = 10 the optimum is a vertex, and the bias the middle of an interval.
        let all =
            [(PsdCorrection::AsIs, 1.0), (PsdCorrection::AsIs, 10.0), (PsdCorrection::Flip, 1.0)];
        for (row, (how, cost)) in all.into_iter().enumerate() {
            let (solution, _, _) = solve(tanh, how, cost);
            check(&solution, &golden["tanh-weights"][row], &golden["tanh-biases"][row]);
            if how == PsdCorrection::AsIs {
                let minimum = number(&golden["tanh-minima"][row]);
                assert_relative_eq!(solution.objective, minimum, max_relative = 1e-8);
            }
        }
    }

    #[test]
    fn golden_ridges_in_the_krein_space() {
        let golden = golden();
        let near = |found: f64, name: &str| {
            assert_relative_eq!(found, number(&golden[name]), max_relative = 1e-8);
        };
        let (gram, cross) = matrices(tanh);
        let spectrum = Spectrum::of(gram.view()).unwrap();
        let y = array![1.0, 1.0, -1.0, 1.0, -1.0, -1.0];
        let (alpha, mu) = spectrum.krein_ridge(y.view(), 0.1, 0.2, None).unwrap();
        assert_abs_diff_eq!(alpha, numbers(&golden["ridge-weights"]), epsilon = 1e-8);
        near(cross.dot(&alpha)[0], "ridge-decision");
        assert_eq!(mu.to_bits(), 0);
        let (alpha, mu) = spectrum.krein_ridge(y.view(), 0.1, 0.2, Some(6f64.sqrt())).unwrap();
        near(mu, "sphere-multiplier");
        near(cross.dot(&alpha)[0], "sphere-decision");
        let u = gram.dot(&alpha);
        assert_relative_eq!(u.dot(&u), 6.0, max_relative = 1e-10);
        for (plus, minus, radius) in [(0.0, 0.1, None), (0.1, -1.0, None), (0.1, 0.1, Some(0.0))] {
            assert!(spectrum.krein_ridge(y.view(), plus, minus, radius).is_err());
        }
        assert!(spectrum.krein_ridge(array![1.0].view(), 0.1, 0.1, None).is_err());
        assert!(spectrum.krein_ridge(Array1::zeros(6).view(), 0.1, 0.1, Some(1.0)).is_err());
    }

    #[test]
    fn a_positive_kernel_is_left_as_it_is() {
        let gram = array![[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]];
        let spectrum = Spectrum::of(gram.view()).unwrap();
        assert!(spectrum.smallest() > 0.0 && spectrum.negative_share() == 0.0);
        for how in
            [PsdCorrection::AsIs, PsdCorrection::Clip, PsdCorrection::Flip, PsdCorrection::Shift]
        {
            let mended = spectrum.mended(how);
            assert_abs_diff_eq!(mended.train, gram, epsilon = 1e-12);
            assert_abs_diff_eq!(mended.test(gram.view()), gram, epsilon = 1e-12);
        }
    }
}
