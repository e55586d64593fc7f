mod bound;
mod update;

use crate::kernel_machine::{BLOCK, Base, BaseSections, facts, labels, powers, scores, signs};
use crate::subsample::at_most;
use mercer_learning::{
    Allowed, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Predictor, Sample, Settings, Space, State, Task, Tasks, declared, fact,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};
use rand::Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

pub use update::{Posterior, Prior, Variational};

pub(crate) const METHOD: Method = Method {
    name: "bmkl",
    title: "BMKL",
    summary: "Bayesian multiple kernel learning by variational inference, 11 Gaussians and 3 polynomials",
    formula: "f(x) = b + Σ_k e_k Σ_i a_i k_k(x, x_i), 14 kernels k_k; means of a variational posterior of a, e and b",
    when: "up to some thousand rows; to learn weights of 14 kernels without tuning",
    cites: "Gönen (2012)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "P n^3 + 200 K (2/3 n^3 + 2 P n^2), P = 14, n = min(n, cap)",
        predict: "P n (d + K)",
        memory: "P n^2, P = 14",
    },
    resource: None,
    warnings: &[],
    settings: &declared::<BmklParams>,
    defaults: &|_| Settings::of(&BmklParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(Bmkl::new(settings.read("bmkl")?)?)),
    restore: &BmklPredictor::restore,
};

/// Where the variational iteration begins.
///
/// ```
/// use mercer_baselines::{Bmkl, BmklParams, Start};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::array;
/// let x = array![[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]];
/// let sample = Sample::classification(x, vec![0, 0, 0, 1, 1, 1], 2)?;
/// let scores = |start, seed| {
///     let learner = Bmkl::new(BmklParams { start, iterations: 3, ..Default::default() })?;
///     let fitted = learner.fit(&sample, &mut Fitting::seeded(seed))?;
///     Ok::<_, mercer_learning::LearningError>(fitted.predictor.decision(sample.inputs()))
/// };
/// assert_eq!(scores(Start::Plain, 1)?, scores(Start::Plain, 2)?);
/// assert_ne!(scores(Start::Random, 1)?, scores(Start::Random, 2)?); // few iterations: the start shows
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Normal numbers by seed, as in the public code.
    Random,
    /// Zero weights, and outputs at the margin.
    Plain,
}

mercer_learning::parameters! {
    /// Settings of [`Bmkl`]; the defaults are those of the public code.
    ///
    /// ```
    /// use mercer_baselines::{Bmkl, BmklParams};
    /// assert_eq!(BmklParams::default().iterations, 200); // the public code's number
    /// let refused = Bmkl::new(BmklParams { noise: 0.0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `noise` is 0; it must be positive and finite");
    /// ```
    pub struct BmklParams {
        /// Variational iterations; there is no stopping test.
        pub iterations: usize = 200, Allowed::COUNT;
        /// Half-width of the band without labels.
        pub margin: f64 = 1.0, Allowed::NOT_NEGATIVE;
        /// Standard deviation `σ_g` of the intermediate outputs.
        pub noise: f64 = 0.1, Allowed::POSITIVE;
        /// Shape of the Gamma priors of all precisions.
        pub shape: f64 = 1.0, Allowed::POSITIVE;
        /// Scale of the Gamma priors of all precisions.
        pub scale: f64 = 1.0, Allowed::POSITIVE;
        /// Where the iteration begins.
        pub start: Start = Start::Random;
        /// Training rows beyond this are left out, by seed: 14 kernel matrices are held.
        pub cap: usize = 2500, Allowed::PAIR;
    }
}

impl BmklParams {
    fn prior(&self) -> Prior {
        Prior { shape: self.shape, scale: self.scale, margin: self.margin, noise: self.noise }
    }
}

/// Bayesian efficient multiple kernel learning (Gönen 2012), for two classes or more. For more it has one target a
/// class and shared kernel weights.
///
/// Mean-field inference in `g_mi ~ N(aᵀ k_m,i, σ_g²)`, `f_i ~ N(b + eᵀ g_i, 1)`, `y_i f_i > margin`,
/// with Gamma priors on the precisions of `a`, `b` and the kernel weights `e`, which may be
/// negative. Kernels: Gaussians with `σ` in `2⁻⁵ .. 2⁵`, polynomials of degrees 1 to 3 with unit
/// diagonal. After 200 iterations, the public code's number, different starts still differ; the
/// number and the bound reached (`bound`) stand in the record. Probabilities divide by the deviation
/// of `f`; the public code divides by its variance.
///
/// ```
/// use mercer_baselines::{Bmkl, BmklParams};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::array;
/// let x = array![[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]];
/// let sample = Sample::classification(x, vec![0, 0, 0, 1, 1, 1], 2)?;
/// let learner = Bmkl::new(BmklParams { iterations: 20, ..Default::default() })?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// let shares = fitted.predictor.probabilities(array![[-1.2], [1.2]].view()).expect("it has them");
/// assert!(shares[[0, 0]] > 0.5 && shares[[1, 1]] > 0.5);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bmkl {
    params: BmklParams,
}

impl Bmkl {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: BmklParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }
}

/// The kernels of the hyper-RKHS paper's comparison.
fn bases() -> Vec<Base> {
    powers().into_iter().map(Base::Gaussian).chain((1..=3).map(Base::Polynomial)).collect()
}

/// A fitted part: its rows' kernels and what the inference says of them.
pub(crate) struct Fit {
    sections: Vec<BaseSections>,
    posterior: Posterior,
    pub(crate) bound: f64,
}

/// Fits the model to some rows; the start is drawn from the stream of `purpose`.
pub(crate) fn fit_rows(
    params: &BmklParams,
    inputs: ArrayView2<'_, f64>,
    labels: &[u32],
    classes: usize,
    fitting: &Fitting<'_>,
    purpose: &str,
) -> Result<Fit, LearningError> {
    let bases = bases();
    let n = inputs.nrows();
    fitting.limits.reserve(8 * ((bases.len() + 4) * n * n) as u64)?;
    let grams: Vec<Array2<f64>> = bases.iter().map(|base| base.gram(inputs)).collect();
    let mut rng = fitting.streams.rng(purpose);
    let mut draw = || match params.start {
        Start::Random => Some(rng.sample::<f64, _>(StandardNormal)),
        Start::Plain => None,
    };
    let mut variational =
        Variational::start(&grams, signs(labels, classes).view(), params.prior(), &mut draw)?;
    for _ in 0..params.iterations {
        fitting.limits.check()?;
        variational.iterate(&grams)?;
    }
    let bound = variational.bound();
    let sections = bases.iter().map(|base| base.sections(inputs)).collect();
    Ok(Fit { sections, posterior: variational.posterior(), bound })
}

impl Fit {
    pub(crate) fn features(&self) -> usize {
        self.sections.first().map_or(0, BaseSections::features)
    }

    pub(crate) fn state(&self) -> State {
        let state = State::new()
            .with("bound", self.bound)
            .with("kernels", self.sections.len())
            .with_array("samples", &self.posterior.a)
            .with_array("combination", &self.posterior.be)
            .with_array("covariance", &self.posterior.covariance);
        self.sections.iter().enumerate().fold(state, |state, (k, sections)| {
            state.with_part(&format!("kernel {k}"), sections.state())
        })
    }

    pub(crate) fn restore(state: &State, task: Task) -> Result<Self, LearningError> {
        let kernels: usize = state.value("kernels")?;
        let targets = if task.outputs() == 2 { 1 } else { task.outputs() };
        let size = targets + kernels;
        let a = state.array::<f64, Ix2>("samples")?;
        let be = state.array_of::<f64, Ix1>("combination", size)?;
        let covariance = state.array_of::<f64, Ix2>("covariance", (size, size))?;
        let part = |k: usize| {
            let name = format!("kernel {k}");
            let sections = BaseSections::restore(state.part(&name)?)?;
            if sections.len() == a.nrows() && a.ncols() == targets {
                return Ok(sections);
            }
            let problem = format!("does not stand at {} points", a.nrows());
            Err(LearningError::State { name, problem })
        };
        let sections = (0..kernels).map(part).collect::<Result<Vec<_>, LearningError>>()?;
        let posterior = Posterior { a, be, covariance };
        Ok(Self { sections, posterior, bound: state.value("bound")? })
    }

    pub(crate) fn weights(&self) -> ArrayView1<'_, f64> {
        self.posterior.kernel_weights()
    }

    /// Means and variances of `f` for each target, `m × L` each.
    pub(crate) fn outputs(&self, inputs: ArrayView2<'_, f64>) -> (Array2<f64>, Array2<f64>) {
        let targets = self.posterior.targets();
        let mut all =
            (Array2::zeros((inputs.nrows(), targets)), Array2::zeros((inputs.nrows(), targets)));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let part = inputs.slice(rows);
            // One kernel at a time: its values times the sample weights, m × L.
            let inner: Vec<Array2<f64>> = self
                .sections
                .iter()
                .map(|sections| sections.at(part).dot(&self.posterior.sample_weights()))
                .collect();
            let (mean, variance) = self.posterior.predict(&inner);
            all.0.slice_mut(rows).assign(&mean);
            all.1.slice_mut(rows).assign(&variance);
        }
        all
    }
}

impl Learner for Bmkl {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let (labels, task) = (labels(&sample)?, sample.task());
        let fit = fit_rows(&self.params, sample.inputs(), labels, task.outputs(), fitting, "bmkl")?;
        let used = fit.weights().iter().filter(|weight| weight.abs() > 0.01).count();
        let facts = facts([
            (fact::ROWS_USED, sample.rows() as f64),
            ("bound", fit.bound),
            ("kernels", used as f64),
        ]);
        let features = sample.features();
        let margin = self.params.margin;
        let predictor = BmklPredictor { task, features, margin, fit };
        let convergence = Convergence::FixedSteps { steps: self.params.iterations };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

struct BmklPredictor {
    task: Task,
    features: usize,
    margin: f64,
    fit: Fit,
}

impl BmklPredictor {
    fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let task: Task = state.value("task")?;
        let fit = Fit::restore(state.part("fit")?, task)?;
        let (features, margin) = (fit.features(), state.value("margin")?);
        Ok(Box::new(Self { task, features, margin, fit }))
    }
}

impl Predictor for BmklPredictor {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn state(&self) -> State {
        let state = State::new().with("task", self.task).with("margin", self.margin);
        state.with_part("fit", self.fit.state())
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        scores(self.fit.outputs(inputs).0, self.task)
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        let (mean, variance) = self.fit.outputs(inputs);
        let own = ndarray::Zip::from(&mean)
            .and(&variance)
            .map_collect(|&f, &v| update::probability(f, v, self.margin));
        let mut all = if self.task.outputs() == 2 {
            let p = own.column(0);
            ndarray::stack![Axis(1), p.mapv(|p| 1.0 - p), p]
        } else {
            own
        };
        // One target a class: their probabilities need not sum to 1 by themselves.
        let sums: Array1<f64> = all.sum_axis(Axis(1)).mapv(|sum| sum.max(f64::MIN_POSITIVE));
        all /= &sums.insert_axis(Axis(1));
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::update::probability;
    use super::*;
    use crate::toy::{self, number, numbers};
    use approx::assert_relative_eq;
    use toml::{Table, Value};

    fn golden() -> Value {
        let all: Table = include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        all["base-5"].clone()
    }

    /// Gaussians of widths 1/2 and 1, and `x·z + 1`.
    fn kernels() -> (Vec<Array2<f64>>, Vec<Array2<f64>>) {
        let (x, test) = (toy::points(), toy::test());
        let of = |left: &Array2<f64>| {
            vec![
                Base::Gaussian(0.5).sections(x.view()).at(left.view()),
                Base::Gaussian(1.0).sections(x.view()).at(left.view()),
                left.dot(&x.t()) + 1.0,
            ]
        };
        (of(&x), of(&test))
    }

    fn prior() -> Prior {
        Prior { shape: 1.0, scale: 1.0, margin: 1.0, noise: 0.1 }
    }

    fn run(
        targets: ArrayView2<'_, f64>,
        iterations: usize,
    ) -> (Variational, Array2<f64>, Array2<f64>) {
        let (grams, cross) = kernels();
        let mut inference = Variational::start(&grams, targets, prior(), &mut || None).unwrap();
        let mut last = f64::NEG_INFINITY;
        for _ in 0..iterations {
            inference.iterate(&grams).unwrap();
            let bound = inference.bound();
            assert!(bound >= last - 1e-9 * bound.abs(), "{last} to {bound}");
            last = bound;
        }
        let inner: Vec<_> = cross.iter().map(|k| k.dot(&inference.sample_weights())).collect();
        let (mean, variance) = inference.posterior().predict(&inner);
        (inference, mean, variance)
    }

    #[test]
    fn golden_inference_of_two_classes() {
        let golden = golden();
        let targets = signs(&toy::A, 2);
        let rows = [(1, 1e-9), (200, 1e-9), (20_000, 1e-8)];
        for (row, (iterations, tolerance)) in rows.into_iter().enumerate() {
            let (inference, mean, variance) = run(targets.view(), iterations);
            let near = |found: f64, name: &str| {
                assert_relative_eq!(found, number(&golden[name][row]), max_relative = tolerance);
            };
            near(inference.biases()[0], "biases");
            let e = numbers(&golden["kernel-weights"][row]);
            assert_relative_eq!(inference.kernel_weights().to_owned(), e, max_relative = tolerance);
            near(mean[[0, 0]], "decisions");
            near(inference.bound(), "bounds");
            near(inference.printed_bound(), "printed-bounds");
            if iterations == 200 {
                let near = |found: f64, name: &str| {
                    assert_relative_eq!(found, number(&golden[name]), max_relative = 1e-9);
                };
                let found = inference.sample_weights().column(0).to_owned();
                let a = numbers(&golden["sample-weights"]);
                assert_relative_eq!(found, a, max_relative = 1e-9);
                let v = variance[[0, 0]];
                near(v, "variance");
                near(probability(mean[[0, 0]], v, 1.0), "probability");
                // The public code divides by the variance.
                near(probability(mean[[0, 0]], v * v, 1.0), "probability-by-variance");
            }
        }
    }

    #[test]
    fn golden_inference_of_three_classes() {
        let golden = golden();
        let (inference, mean, _) = run(signs(&toy::C, 3).view(), 200);
        let b = numbers(&golden["classes-biases"]);
        let e = numbers(&golden["classes-kernel-weights"]);
        let f = numbers(&golden["classes-decisions"]);
        assert_relative_eq!(inference.biases().to_owned(), b, max_relative = 1e-9);
        assert_relative_eq!(inference.kernel_weights().to_owned(), e, max_relative = 1e-9);
        assert_relative_eq!(mean.row(0).to_owned(), f, max_relative = 1e-9);
    }

    #[test]
    fn random_starts_reach_the_same_fixed_point() {
        let (grams, _) = kernels();
        let targets = signs(&toy::A, 2);
        let weights = |seed: u64| {
            let mut state = seed;
            let mut draw = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                Some((state >> 33) as f64 / (1u64 << 30) as f64 - 1.0)
            };
            let mut inference =
                Variational::start(&grams, targets.view(), prior(), &mut draw).unwrap();
            (0..20_000).for_each(|_| inference.iterate(&grams).unwrap());
            inference.kernel_weights().to_owned()
        };
        assert_relative_eq!(weights(1), weights(2), max_relative = 1e-8);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for params in [
            BmklParams { iterations: 0, ..Default::default() },
            BmklParams { margin: -1.0, ..Default::default() },
            BmklParams { noise: 0.0, ..Default::default() },
            BmklParams { shape: f64::NAN, ..Default::default() },
            BmklParams { cap: 1, ..Default::default() },
        ] {
            assert!(Bmkl::new(params).is_err());
        }
    }
}
