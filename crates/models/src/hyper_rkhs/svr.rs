use super::nystrom::draw_landmarks;
use super::ridge::{check_points, facts};
use super::system::Span;
use super::{Learned, PairTarget, Stopped, of_kernel, positive, refused};
use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, PairSections, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError};
use mercer_linalg::multiplied;
use mercer_solvers::{Dual, InteriorPoint, KernelRows, Precomputed, Smo, Solution};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Hyper-SVR: `min_{k, b} ½ ‖k‖² + C Σ_ij max(0, |k(x_i, x_j) + b − Y_ij| − ε)`.
///
/// The sum is over ordered pairs; with unordered ones the dual variable of pair `p` has the box `[−w_p C, w_p C]`. SMO
/// solves it on rows of the hyper-Gram matrix that are computed as they are needed (an outer product of point factors
/// for a Gaussian hyper-kernel). The bias belongs to the learned kernel here: without it the tube would not bound the
/// errors of the regression. An SVM with a bias of its own is not changed by it.
///
/// Beyond `exact_points` points, the hyper-kernel is Nyström's approximation in the pairs of
/// `landmarks` points, and the sum is over `pairs` ordered pairs drawn at random, each with the weight
/// `m²/pairs`. The dual is then solved by interior points ([`InteriorPoint`]), to the same tolerance.
///
/// In terms of hyper-KRR's ridge, `C = 1/(2 λ m²)`: the same `C` regularises the less the more points there
/// are. Where a number is to mean the same for few points and for many, [`PairSvr::ridge`] says it.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{PairSvr, PairTarget};
/// use ndarray::array;
/// let points = array![[0.0], [0.1], [1.0], [1.1]];
/// let target = PairTarget::classes(&[0, 0, 1, 1], 1.0, -1.0)?;
/// let kernel = HyperKernel::Gaussian(GaussianHyper::constructed(0.3, 0.3)?);
/// let learned = PairSvr::default().learn(&kernel, points.view(), &target, &Fitting::seeded(1))?;
/// let gram = learned.kernel.gram(points.view(), 1);
/// assert!(gram[[0, 1]] > gram[[0, 2]]); // of one class, and of two
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PairSvr {
    /// `C > 0`; what it is set to counts where there is no `ridge`.
    pub cost: f64,
    /// `λ > 0` of the regression: `C = 1/(2 λ m²)` for however many points `m` it is given.
    pub ridge: Option<f64>,
    /// Half-width `ε ≥ 0` of the tube without loss, in units of the target.
    pub epsilon: f64,
    /// The fit ends when no two dual variables violate optimality by more than this.
    pub tolerance: f64,
    /// Steps of the solver at most.
    pub steps: usize,
    /// Points up to which all pairs are used.
    pub exact_points: usize,
    /// Nyström points beyond that.
    pub landmarks: usize,
    /// Ordered pairs drawn beyond that.
    pub pairs: usize,
}

impl Default for PairSvr {
    fn default() -> Self {
        Self {
            cost: 1.0,
            ridge: None,
            epsilon: 0.1,
            tolerance: 1e-3,
            steps: 10_000_000,
            exact_points: 276,
            landmarks: 20,
            pairs: 20_000,
        }
    }
}

/// Bytes of kernel rows that are kept: all of 108 points' pairs, a tenth of 276 points'.
const CACHE: usize = 512 << 20;
/// Bytes of a Wishart hyper-kernel's matrix up to which all of it is stored, in one pass over it with every core. Rows
/// that are asked for cost a determinant an entry each time.
const STORED: usize = 1 << 30;
/// Columns up to which interior points solve the approximated problem: a step takes the square of them.
const FEW_FEATURES: usize = 1000;

impl PairSvr {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn check(&self) -> Result<(), LearningError> {
        positive("cost", self.cost)?;
        positive("ridge", self.ridge.unwrap_or(1.0))?;
        positive("tolerance", self.tolerance)?;
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(refused("epsilon", self.epsilon, "at least 0 and finite"));
        }
        for (name, count) in
            [("steps", self.steps), ("landmarks", self.landmarks), ("pairs", self.pairs)]
        {
            if count == 0 {
                return Err(refused(name, count, "at least 1"));
            }
        }
        Ok(())
    }

    /// Converts `cost` from the pairs of `from` points to the pairs of `to` points. The result weighs errors against
    /// the norm as `cost` does, at the same `λ` in `C = 1/(2 λ m²)`.
    ///
    /// ```
    /// use mercer_models::hyper_rkhs::PairSvr;
    /// assert_eq!(PairSvr::carried_over(0.1, 80.0, 160.0), 0.025); // four times the pairs
    /// ```
    pub fn carried_over(cost: f64, from: f64, to: f64) -> f64 {
        cost * (from / to).powi(2)
    }

    /// `C` for the pairs of `m` points.
    fn cost_for(&self, m: usize) -> f64 {
        self.ridge.map_or(self.cost, |lambda| 1.0 / (2.0 * lambda * (m as f64).powi(2)))
    }

    /// Learns a kernel from points and the target of their pairs. The points are the rows of `inputs` (`m × d`).
    ///
    /// # Errors
    /// [`LearningError::Setting`] for settings out of range or fewer than two points;
    /// [`LearningError::Length`] if the target is of other points; [`LearningError::InputNotFinite`];
    /// [`LearningError::Numerical`]; and what the limits say.
    pub fn learn(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        self.check()?;
        check_points(inputs, target)?;
        if inputs.nrows() > self.exact_points {
            return self.approximate(kernel, inputs, target, fitting);
        }
        let cost = self.cost_for(inputs.nrows());
        let mut path = self.exact_path(kernel, inputs, target, &[cost], fitting)?;
        Ok(path.remove(0))
    }

    /// Learns kernels from all pairs of the points at these costs, which ascend. It stops at the first cost at which no
    /// pair's weight came to its bound: that is the kernel of all larger costs too, to the digit. Every run begins at
    /// 0, so that each kernel is what [`PairSvr::learn`] gives at its cost; `cost`, `ridge` and `exact_points` do not
    /// count.
    ///
    /// ```
    /// use mercer_kernels::{GaussianHyper, HyperKernel};
    /// use mercer_learning::Fitting;
    /// use mercer_models::hyper_rkhs::{PairSvr, PairTarget};
    /// use ndarray::array;
    /// let points = array![[0.0], [0.1], [1.0], [1.1]];
    /// let target = PairTarget::classes(&[0, 0, 1, 1], 1.0, -1.0)?;
    /// let kernel = HyperKernel::Gaussian(GaussianHyper::constructed(0.3, 0.3)?);
    /// let svr = PairSvr { epsilon: 0.3, ..PairSvr::default() };
    /// let costs = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
    /// let path = svr.learn_path(&kernel, points.view(), &target, &costs, &Fitting::seeded(1))?;
    /// assert!(path.len() < costs.len());
    /// let last = PairSvr { cost: 1000.0, ..svr };
    /// let last = last.learn(&kernel, points.view(), &target, &Fitting::seeded(1))?;
    /// assert_eq!(path.last().map(|found| &found.facts), Some(&last.facts));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`PairSvr::learn`], and [`LearningError::Setting`] without costs, or if they do not ascend.
    pub fn learn_path(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        costs: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Learned>, LearningError> {
        self.check()?;
        for &cost in costs {
            positive("cost", cost)?;
        }
        if costs.is_empty() || costs.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(refused("costs", format!("{costs:?}"), "ascending, and at least one"));
        }
        check_points(inputs, target)?;
        self.exact_path(kernel, inputs, target, costs, fitting)
    }

    fn exact_path(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        costs: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Learned>, LearningError> {
        let pairs = Pairs::all(inputs.nrows());
        let solutions = match kernel {
            HyperKernel::Gaussian(gaussian) => {
                fitting.limits.reserve((CACHE + 64 * pairs.len()) as u64)?;
                let rows = ProductRows::new(gaussian, inputs, &pairs);
                self.solutions(&rows, &pairs, target, costs, fitting)?
            }
            HyperKernel::Wishart(_) if pairs.len().pow(2) * 8 > STORED => {
                fitting.limits.reserve((CACHE + 64 * pairs.len()) as u64)?;
                let rows = SectionRows::new(kernel.sections(inputs, &pairs));
                self.solutions(&rows, &pairs, target, costs, fitting)?
            }
            HyperKernel::Wishart(_) => {
                fitting.limits.reserve(8 * (pairs.len() * pairs.len()) as u64)?;
                let gram = kernel.gram(inputs, &pairs, fitting.threads);
                fitting.limits.check()?;
                let rows = Precomputed::new(gram.view()).map_err(|error| say(error.into()))?;
                self.solutions(&rows, &pairs, target, costs, fitting)?
            }
        };
        let learned = |solution: &Solution| {
            let weights = &solution.weights;
            let learned = LearnedKernel::new(kernel.clone(), inputs, &pairs, weights);
            Ok(Self::learned(learned.map_err(of_kernel)?, solution, inputs.nrows().pow(2)))
        };
        solutions.iter().map(learned).collect()
    }

    /// One a cost, up to the first whose bounds no weight comes to.
    fn solutions(
        &self,
        rows: &impl KernelRows,
        pairs: &Pairs,
        target: &PairTarget<'_>,
        costs: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Solution>, LearningError> {
        let (y, weights) = (target.at(pairs), pairs.weights().collect());
        let mut solutions = Vec::with_capacity(costs.len());
        for &cost in costs {
            let solution = self.solve(rows, &self.dual(&y, &weights, cost)?, fitting)?;
            let bounded = solution.bounded;
            solutions.push(solution);
            if !bounded {
                break;
            }
        }
        Ok(solutions)
    }

    fn approximate(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let m = inputs.nrows();
        if self.landmarks > m {
            return Err(refused("landmarks", self.landmarks, "at most the number of points"));
        }
        let chosen = draw_landmarks(&fitting.streams.child("subset 0"), m, self.landmarks);
        let centres = inputs.select(Axis(0), &chosen);
        let all = Pairs::all(self.landmarks);
        fitting.limits.reserve((CACHE + 16 * self.pairs * all.len()) as u64)?;
        let sections = kernel.sections(centres.view(), &all);
        let span = Span::new(sections.gram(fitting.threads).view(), 1e-10)?;
        let mut rng = fitting.streams.rng("pairs");
        let drawn = (0..self.pairs).map(|_| (rng.gen_range(0..m), rng.gen_range(0..m)));
        let pairs = Pairs::new(drawn.collect::<Vec<_>>());
        let values = sections.at(inputs, &pairs, fitting.threads);
        let features = multiplied(values.view(), span.basis.view());
        drop(values);
        fitting.limits.check()?;
        let weight = (m * m) as f64 / self.pairs as f64;
        let weights = Array1::from_elem(self.pairs, weight);
        let y = target.at(&pairs);
        let dual = self.dual(&y, &weights, self.cost_for(m))?;
        let solution = self.solve_features(&features, &dual, fitting)?;
        let coefficients = span.basis.dot(&features.t().dot(&solution.weights));
        let learned = LearnedKernel::new(kernel.clone(), centres.view(), &all, &coefficients)
            .map_err(of_kernel)?;
        Ok(Self::learned(learned, &solution, self.pairs))
    }

    fn dual(
        &self,
        y: &Array1<f64>,
        weights: &Array1<f64>,
        cost: f64,
    ) -> Result<Dual, LearningError> {
        Dual::regression(y.view(), self.epsilon, cost)
            .and_then(|dual| dual.weighted(weights.view()))
            .map_err(|error| say(error.into()))
    }

    fn solve(
        &self,
        rows: &impl KernelRows,
        dual: &Dual,
        fitting: &Fitting<'_>,
    ) -> Result<Solution, LearningError> {
        let smo = Smo {
            tolerance: self.tolerance,
            cache_bytes: CACHE,
            max_steps: Some(self.steps),
            ..Smo::default()
        };
        smo.solve_checked(rows, dual, None, || fitting.limits.check().map_err(Stopped::Outside))
            .map_err(say)
    }

    /// Interior points where the features are few: unlike SMO's, their time does not grow with the cost.
    fn solve_features(
        &self,
        features: &Array2<f64>,
        dual: &Dual,
        fitting: &Fitting<'_>,
    ) -> Result<Solution, LearningError> {
        if features.ncols() <= FEW_FEATURES {
            let max_steps = self.steps.min(InteriorPoint::default().max_steps);
            let interior = InteriorPoint { tolerance: self.tolerance, max_steps };
            let check = || fitting.limits.check().map_err(Stopped::Outside);
            let solution = interior
                .solve_checked(features.view(), dual, check)
                .map_err(|stopped: Stopped| stopped.in_words("interior points over pairs"))?;
            if solution.converged || self.steps <= max_steps {
                return Ok(solution);
            }
        }
        self.solve(&FeatureRows { features }, dual, fitting)
    }

    fn learned(kernel: LearnedKernel, solution: &Solution, pairs: usize) -> Learned {
        let convergence = if solution.converged {
            Convergence::Converged { iterations: solution.steps }
        } else {
            let (iterations, residual) = (solution.steps, solution.violation);
            Convergence::NotConverged { iterations, residual }
        };
        Learned {
            kernel: kernel.with_bias(solution.bias),
            convergence,
            facts: facts([
                ("pairs", pairs as f64),
                ("support-pairs", solution.support() as f64),
                ("objective", solution.objective),
                ("violation", solution.violation),
                ("iterations", solution.steps as f64),
            ]),
        }
    }
}

fn say(stopped: Stopped) -> LearningError {
    stopped.in_words("sequential minimal optimisation over pairs")
}

/// Rows of the hyper-Gram matrix over all pairs: `h(p, (k, l)) = β_p β_kl w_p(k) w_p(l)`.
struct ProductRows<'a> {
    pairs: &'a Pairs,
    /// `u`, `m × m`.
    factors: Array2<f64>,
    /// `β` of each pair.
    beta: Array1<f64>,
}

impl<'a> ProductRows<'a> {
    fn new(kernel: &GaussianHyper, inputs: ArrayView2<'_, f64>, pairs: &'a Pairs) -> Self {
        let all = kernel.pair_kernel().gram(inputs);
        let beta = pairs.as_slice().iter().map(|&(i, j)| all[[i, j]]).collect();
        Self { pairs, factors: kernel.point_factors(inputs, inputs), beta }
    }

    fn products(&self, row: usize) -> Array1<f64> {
        let (i, j) = self.pairs.as_slice()[row];
        &self.factors.row(i) * &self.factors.row(j)
    }
}

impl KernelRows for ProductRows<'_> {
    fn size(&self) -> usize {
        self.pairs.len()
    }

    fn diagonal(&self, t: usize) -> f64 {
        let (i, j) = self.pairs.as_slice()[t];
        let own = self.factors[[i, j]];
        (self.beta[t] * own).powi(2)
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        let products = self.products(row);
        let scale = self.beta[row];
        let pairs = self.pairs.as_slice();
        for (value, &column) in values.iter_mut().zip(columns) {
            let (k, l) = pairs[column];
            *value = scale * self.beta[column] * products[k] * products[l];
        }
    }
}

/// Rows of the matrix of any hyper-kernel, computed as they are asked for.
struct SectionRows {
    sections: PairSections,
    diagonal: Array1<f64>,
}

impl SectionRows {
    fn new(sections: PairSections) -> Self {
        let diagonal = sections.diagonal();
        Self { sections, diagonal }
    }
}

impl KernelRows for SectionRows {
    fn size(&self) -> usize {
        self.sections.len()
    }

    fn diagonal(&self, t: usize) -> f64 {
        self.diagonal[t]
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        let all = self.sections.row(row);
        columns.iter().zip(values).for_each(|(&column, value)| *value = all[column]);
    }
}

/// Rows of `F Fᵀ`.
struct FeatureRows<'a> {
    features: &'a Array2<f64>,
}

impl KernelRows for FeatureRows<'_> {
    fn size(&self) -> usize {
        self.features.nrows()
    }

    fn diagonal(&self, t: usize) -> f64 {
        let row = self.features.row(t);
        row.dot(&row)
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        let own = self.features.row(row);
        if columns.len() == self.features.nrows() {
            let all = self.features.dot(&own);
            columns.iter().zip(values).for_each(|(&column, value)| *value = all[column]);
        } else {
            let each = columns.iter().zip(values);
            each.for_each(|(&column, value)| *value = self.features.row(column).dot(&own));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn regression(pairs: usize, columns: usize) -> (Array2<f64>, Dual) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let scale = (columns as f64).sqrt().recip();
        let features =
            Array2::from_shape_simple_fn((pairs, columns), || scale * rng.gen_range(-1.0..1.0));
        let targets: Array1<f64> =
            features.rows().into_iter().map(|row| row[0] * 9.0 + row[1].signum()).collect();
        let dual = Dual::regression(targets.view(), 0.1, 2.0).unwrap();
        (features, dual)
    }

    #[test]
    fn smo_finds_on_rows_of_features_what_interior_points_find() {
        let svr = PairSvr { tolerance: 1e-6, ..PairSvr::default() };
        let fitting = Fitting::seeded(1);
        let (features, dual) = regression(120, 30);
        let interior = svr.solve_features(&features, &dual, &fitting).unwrap();
        let smo = svr.solve(&FeatureRows { features: &features }, &dual, &fitting).unwrap();
        assert!(interior.converged && smo.converged && interior.steps < smo.steps);
        assert!((interior.objective / smo.objective - 1.0).abs() < 1e-6);
        let images = |solution: &Solution| features.t().dot(&solution.weights);
        let apart = images(&interior) - images(&smo);
        assert!(apart.iter().all(|d| d.abs() < 1e-4), "{apart}");
    }

    #[test]
    fn rows_as_they_are_asked_for_are_those_of_the_stored_matrix() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let points = Array2::from_shape_simple_fn((14, 3), || rng.gen_range(0.0..1.0));
        let labels: Vec<u32> = (0..14).map(|i| u32::from(points[[i, 0]] > 0.5)).collect();
        let wishart = mercer_kernels::WishartHyper::isotropic(0.3, 3).unwrap();
        let (kernel, pairs) = (HyperKernel::Wishart(wishart), Pairs::all(14));
        let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
        let (svr, fitting) =
            (PairSvr { tolerance: 1e-8, ..PairSvr::default() }, Fitting::seeded(1));
        let gram = kernel.gram(points.view(), &pairs, 1);
        let stored = Precomputed::new(gram.view()).unwrap();
        let asked = SectionRows::new(kernel.sections(points.view(), &pairs));
        let mut values = [0.0; 3];
        asked.fill(9, &[50, 9, 2], &mut values);
        for (value, column) in values.iter().zip([50, 9, 2]) {
            assert!((value - gram[[9, column]]).abs() < 1e-14);
        }
        assert!((asked.diagonal(9) - gram[[9, 9]]).abs() < 1e-14);
        let one =
            svr.solutions(&stored, &pairs, &target, &[10.0], &fitting).unwrap().swap_remove(0);
        let two = svr.solutions(&asked, &pairs, &target, &[10.0], &fitting).unwrap().swap_remove(0);
        assert!(one.converged && two.converged && one.support() > 5);
        let apart = &one.weights - &two.weights;
        assert!(apart.iter().all(|d| d.abs() < 1e-6), "{apart}");
    }

    #[test]
    fn many_features_are_left_to_smo() {
        let svr = PairSvr { tolerance: 1e-6, ..PairSvr::default() };
        let fitting = Fitting::seeded(1);
        let (features, dual) = regression(80, FEW_FEATURES + 1);
        let found = svr.solve_features(&features, &dual, &fitting).unwrap();
        let gram = features.dot(&features.t());
        let rows = Precomputed::new(gram.view()).unwrap();
        let expected = svr.solve(&rows, &dual, &fitting).unwrap();
        assert_eq!((found.converged, found.steps), (true, expected.steps));
        assert!((found.objective / expected.objective - 1.0).abs() < 1e-9);
    }
}
