use crate::kernel_machine::{
    TOLERANCE, convergence, facts, labels, machine_restored, machine_state, scores, second_stage,
    signs, stage_facts,
};
use crate::subsample::at_most;
use mercer_learning::{
    Allowed, Condition, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner,
    LearningError, Method, Outcome, Parameters, Predictor, Sample, Settings, Space, State, Task,
    Tasks, Where, declared, fact, with_conditions, with_hints,
};
use mercer_linalg::{Cholesky, cos, product, symmetric_product};
use mercer_solvers::OneVersusOne;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};
use rand::Rng;
use rand::seq::index;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

pub(crate) const METHOD: Method = Method {
    name: "random-kernel",
    title: "RF alignment",
    summary: "kernel learned by reweighting 10,000 random features; then a support vector machine",
    formula: "weights a ≥ 0, Σ a = 1 of random features maximise Σ_j a_j (φ_jᵀ y)² within ‖a − 1/N‖² ≤ radius; then an SVM",
    when: "many irrelevant columns; a learned kernel in a second",
    cites: "Sinha & Duchi (2016)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "n N d + n^2 D, N = 10 D, n = min(n, cap)",
        predict: "D d",
        memory: "n D + n^2",
    },
    resource: None,
    warnings: &[],
    settings: &|| {
        const CONDITIONS: &[Condition] = &[
            (&["lambda"], &[Where::is("stage", &["ridge"])]),
            (&["tolerance"], &[Where::is_not("stage", &["ridge"])]),
        ];
        with_hints(
            with_conditions(declared::<RandomKernelParams>(), CONDITIONS),
            &[("tolerance", ConvergenceHint::Larger)],
        )
    },
    defaults: &|_| Settings::of(&RandomKernelParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(RandomKernel::new(settings.read("random-kernel")?)?)),
    restore: &CosinePredictor::restore,
};

/// The model fitted on the learned features.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_baselines::{RandomKernelParams, SecondStage};
/// // The paper has a machine, its public code a ridge.
/// let read = |word: &str| Settings::new().with("stage", word).read::<RandomKernelParams>("random-kernel");
/// assert_eq!(read("ridge")?.stage, SecondStage::Ridge);
/// assert_eq!(RandomKernelParams::default().stage, SecondStage::Machine);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("machine, ridge"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondStage {
    /// An SVM with the learned kernel `2 Σ a_j φ_j φ_jᵀ`.
    Machine,
    /// Ridge regression on the features of positive weight, each as large as the others. The public code does this.
    Ridge,
}

mercer_learning::parameters! {
    /// Settings of [`RandomKernel`].
    ///
    /// ```
    /// use mercer_baselines::{RandomKernel, RandomKernelParams};
    /// let refused = RandomKernel::new(RandomKernelParams { radius: 0.0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `radius` is 0; it must be positive and finite");
    /// ```
    pub struct RandomKernelParams {
        /// Number of features drawn, `N`.
        pub features: usize = 10_000, Allowed::COUNT;
        /// The weights stay within `|a − 1/N|² ≤ radius`.
        pub radius: f64 = 0.005, Allowed::POSITIVE;
        /// Length scale of the Gaussian whose features are drawn; the median distance of training rows if not
        /// set.
        pub width: Option<f64> = None, Allowed::POSITIVE;
        /// What is fitted on the learned features.
        pub stage: SecondStage = SecondStage::Machine;
        /// `λ` of the ridge.
        pub lambda: f64 = 0.05, Allowed::POSITIVE;
        /// No pair of the SVM's dual variables violates optimality by more than this.
        pub tolerance: f64 = 1e-3, TOLERANCE;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = 4000, Allowed::PAIR;
    }
}

/// Kernel learning with random features (Sinha & Duchi 2016).
///
/// Of `N` features `φ_j(x) = cos(w_j·x + b_j)` of a Gaussian kernel, the weights `a` maximise
/// `Σ_j a_j s_j`, `s_j = Σ_c (φ_jᵀ y_c)²` with `±1` columns `y_c`, over the simplex within
/// `|a − 1/N|² ≤ radius`; about `1/radius` features are left, whatever `N`. The public code fixes
/// the width at 1 whatever the data; here it is the median distance unless set. Neither labels nor
/// features are centred, as in the public code.
///
/// The facts hold `width`, the number of features kept (`features-kept`) and `λ` of the ball
/// (`multiplier`).
///
/// ```
/// use mercer_baselines::{RandomKernel, RandomKernelParams};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::Array2;
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
/// let sample = Sample::classification(x, (0..20).map(|i| i % 2).collect(), 2)?;
/// let learner = RandomKernel::new(RandomKernelParams { features: 200, ..Default::default() })?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["features-kept"] <= 200.0);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RandomKernel {
    params: RandomKernelParams,
}

/// Computes the weights that maximise `aᵀ s` over a chi-square ball. The ball is `a ≥ 0`, `Σ a = 1`,
/// `|a − 1/N|² ≤ radius`; the multiplier `λ` of the ball is returned too. Both are exact, from the sorted scores.
///
/// With `k` weights positive they are `1/N + (s_i − ν)/λ`; `k` is the largest for which all are.
/// If the ball holds every vertex of the simplex (`radius ≥ 1 − 1/N`), the largest score takes all,
/// and `λ` is 0. Equal scores keep equal weights, and then `λ` is 0 too.
///
/// ```
/// use mercer_baselines::chi_square_ball;
/// let (weights, _) = chi_square_ball(ndarray::array![3.0, 1.0, 2.0].view(), 0.02);
/// assert!((weights.sum() - 1.0).abs() < 1e-12 && weights[0] > weights[2] && weights[2] > weights[1]);
/// ```
///
/// # Panics
/// If there is no score.
pub fn chi_square_ball(scores: ArrayView1<'_, f64>, radius: f64) -> (Array1<f64>, f64) {
    let big_n = scores.len();
    assert!(big_n > 0, "at least one feature");
    let n = big_n as f64;
    let mut order: Vec<usize> = (0..big_n).collect();
    order.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]));
    let mut weights = Array1::zeros(big_n);
    if radius >= 1.0 - 1.0 / n {
        weights[order[0]] = 1.0;
        return (weights, 0.0);
    }
    // Mean and squared deviations of the k largest, for every k, by Welford's update.
    let (mut mean, mut squares) = (0.0, 0.0);
    let moments: Vec<(f64, f64)> = order
        .iter()
        .enumerate()
        .map(|(before, &i)| {
            let from_old = scores[i] - mean;
            mean += from_old / (before + 1) as f64;
            squares += from_old * (scores[i] - mean);
            (mean, squares)
        })
        .collect();
    for k in (1..=big_n).rev() {
        let (m, v) = moments[k - 1];
        let (kept, left) = (k as f64, n - k as f64);
        let q = radius - left / (n * n) - left * left / (n * n * kept);
        if q <= 0.0 {
            continue;
        }
        let lambda = (v / q).sqrt();
        let nu = m - lambda * (1.0 - kept / n) / kept;
        let weight = |i: usize| 1.0 / n + (scores[i] - nu) / lambda;
        if lambda > 0.0 && weight(order[k - 1]) > 0.0 {
            order[..k].iter().for_each(|&i| weights[i] = weight(i));
            return (weights, lambda);
        }
        if lambda <= 0.0 {
            // The k largest are equal: nothing tells them apart.
            order[..k].iter().for_each(|&i| weights[i] = 1.0 / kept);
            return (weights, 0.0);
        }
    }
    weights[order[0]] = 1.0;
    (weights, 0.0)
}

/// Ridge regression of `y − ȳ` on features, `min ‖Z w − (y − ȳ)‖² + λ ‖w‖²`: `(ZᵀZ + λ I) w = Zᵀ (y − ȳ)`, the `λ` as
/// in the public code, not divided by the rows.
fn ridge(
    features: ArrayView2<'_, f64>,
    targets: ArrayView1<'_, f64>,
    lambda: f64,
) -> Result<Array1<f64>, LearningError> {
    let centred = &targets - targets.sum() / targets.len() as f64;
    let mut gram = symmetric_product(features);
    gram.diag_mut().mapv_inplace(|entry| entry + lambda);
    let right = features.t().dot(&centred).insert_axis(Axis(1));
    let solved = Cholesky::factor(gram).and_then(|factor| factor.solve(&right));
    let solved = solved.map_err(|error| LearningError::Numerical {
        operation: "ridge on random features",
        reason: error.to_string(),
    })?;
    Ok(solved.column(0).to_owned())
}

/// `cos(w_j·x_i + b_j)`, `n × N`, for frequencies in rows (`N × d`).
fn cosines(
    inputs: ArrayView2<'_, f64>,
    frequencies: ArrayView2<'_, f64>,
    phases: ArrayView1<'_, f64>,
) -> Array2<f64> {
    let mut angles = Array2::zeros((inputs.nrows(), frequencies.nrows()));
    product(1.0, inputs, frequencies.t(), 0.0, angles.view_mut());
    angles += &phases.insert_axis(Axis(0));
    let mut values = Array2::zeros(angles.dim());
    let all = "standard layout: just made";
    cos(angles.as_slice().expect(all), values.as_slice_mut().expect(all));
    values
}

/// `s_j = Σ_c (φ_jᵀ y_c)²`.
fn alignments(features: ArrayView2<'_, f64>, targets: ArrayView2<'_, f64>) -> Array1<f64> {
    let mut products = Array2::zeros((features.ncols(), targets.ncols()));
    product(1.0, features.t(), targets, 0.0, products.view_mut());
    products.mapv(|p| p * p).sum_axis(Axis(1))
}

/// [`alignments`] of all features, some of them at a time.
fn all_alignments(
    sample: &Sample,
    frequencies: &Array2<f64>,
    phases: &Array1<f64>,
    signs: ArrayView2<'_, f64>,
    fitting: &Fitting<'_>,
) -> Result<Array1<f64>, LearningError> {
    let big_n = phases.len();
    let mut all = Array1::zeros(big_n);
    for start in (0..big_n).step_by(TILE) {
        fitting.limits.check()?;
        let end = (start + TILE).min(big_n);
        let part = frequencies.slice(s![start..end, ..]);
        let values = cosines(sample.inputs(), part, phases.slice(s![start..end]));
        all.slice_mut(s![start..end]).assign(&alignments(values.view(), signs));
    }
    Ok(all)
}

/// Median distance between rows; of at most 500 of them, by seed.
fn median_distance(inputs: ArrayView2<'_, f64>, rng: &mut impl Rng) -> f64 {
    let n = inputs.nrows();
    let mut rows = index::sample(rng, n, n.min(500)).into_vec();
    rows.sort_unstable();
    let mut distances = Vec::with_capacity(rows.len() * rows.len() / 2);
    for (k, &i) in rows.iter().enumerate() {
        for &j in &rows[k + 1..] {
            let squared: f64 =
                inputs.row(i).iter().zip(inputs.row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            distances.push(squared.sqrt());
        }
    }
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    // Mostly equal rows: any width tells as much.
    if median > 0.0 { median } else { 1.0 }
}

impl RandomKernel {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: RandomKernelParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }
}

/// Features drawn at once: their values fill a few megabytes a thousand rows.
const TILE: usize = 1000;

impl Learner for RandomKernel {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let (labels, (n, d)) = (labels(&sample)?, sample.inputs().dim());
        let (big_n, task) = (self.params.features, sample.task());
        let width = self.params.width.unwrap_or_else(|| {
            median_distance(sample.inputs(), &mut fitting.streams.rng("median"))
        });
        let mut rng = fitting.streams.rng("features");
        let frequencies = Array2::from_shape_simple_fn((big_n, d), || {
            rng.sample::<f64, _>(StandardNormal) / width
        });
        let phases = Array1::from_shape_simple_fn(big_n, || rng.gen_range(0.0..TAU));
        let signs = signs(labels, task.outputs());
        let all = all_alignments(&sample, &frequencies, &phases, signs.view(), fitting)?;
        let (weights, multiplier) = chi_square_ball(all.view(), self.params.radius);
        let kept: Vec<usize> = (0..big_n).filter(|&j| weights[j] > f64::EPSILON).collect();
        fitting.limits.reserve(8 * (n * (kept.len() + n)) as u64)?;
        let frequencies = frequencies.select(Axis(0), &kept);
        let phases = phases.select(Axis(0), &kept);
        let mut features = cosines(sample.inputs(), frequencies.view(), phases.view());
        let mut learned = facts([
            ("width", width),
            ("features-kept", kept.len() as f64),
            ("multiplier", multiplier),
        ]);
        let (weights, biases, reading, convergence) = match self.params.stage {
            SecondStage::Machine => {
                let roots: Array1<f64> = kept.iter().map(|&j| (2.0 * weights[j]).sqrt()).collect();
                features *= &roots.view().insert_axis(Axis(0));
                let gram = symmetric_product(features.t());
                let (machine, choice) =
                    second_stage(gram.view(), labels, self.params.tolerance, fitting)?;
                learned.extend(stage_facts(&machine, &choice, n));
                let weights = features.t().dot(&machine.weights) * roots.insert_axis(Axis(1));
                let convergence = convergence(&machine);
                let biases = machine.biases.clone();
                // The weights of the points have become weights of the features.
                (weights, biases, Reading::Machine(machine.kept(&[])), convergence)
            }
            SecondStage::Ridge => {
                let scale = (2.0 / kept.len() as f64).sqrt();
                features *= scale;
                let (mut columns, mut biases) = (Vec::new(), Vec::new());
                for target in signs.columns() {
                    columns.push(ridge(features.view(), target, self.params.lambda)? * scale);
                    biases.push(target.sum() / n as f64);
                }
                let views: Vec<_> = columns.iter().map(Array1::view).collect();
                let weights = ndarray::stack(Axis(1), &views).expect("columns of one length");
                learned.insert(fact::ROWS_USED.to_owned(), n as f64);
                (weights, Array1::from_vec(biases), Reading::Scores, Convergence::Exact)
            }
        };
        let predictor = CosinePredictor { task, frequencies, phases, weights, biases, reading };
        Ok(Outcome { predictor, convergence, facts: learned }.boxed())
    }
}

/// How values become scores.
enum Reading {
    Machine(OneVersusOne),
    Scores,
}

/// Linear functions of cosine features.
struct CosinePredictor {
    task: Task,
    frequencies: Array2<f64>,
    phases: Array1<f64>,
    weights: Array2<f64>,
    biases: Array1<f64>,
    reading: Reading,
}

impl CosinePredictor {
    fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let task: Task = state.value("task")?;
        let frequencies = state.array::<f64, Ix2>("frequencies")?;
        let kept = frequencies.nrows();
        let phases = state.array_of::<f64, Ix1>("phases", kept)?;
        let (reading, columns) = if state.value("machine")? {
            let machine = machine_restored(state.part("machine")?, task)?;
            let columns = machine.biases.len();
            (Reading::Machine(machine), columns)
        } else {
            (Reading::Scores, if task.outputs() == 2 { 1 } else { task.outputs() })
        };
        let weights = state.array_of::<f64, Ix2>("weights", (kept, columns))?;
        let biases = state.array_of::<f64, Ix1>("biases", columns)?;
        Ok(Box::new(Self { task, frequencies, phases, weights, biases, reading }))
    }
}

impl Predictor for CosinePredictor {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.frequencies.ncols()
    }

    fn state(&self) -> State {
        let state = State::new()
            .with("task", self.task)
            .with("machine", matches!(self.reading, Reading::Machine(_)))
            .with_array("frequencies", &self.frequencies)
            .with_array("phases", &self.phases)
            .with_array("weights", &self.weights)
            .with_array("biases", &self.biases);
        match &self.reading {
            Reading::Machine(machine) => state.with_part("machine", machine_state(machine)),
            Reading::Scores => state,
        }
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut all = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for start in (0..inputs.nrows()).step_by(TILE) {
            let rows = s![start..(start + TILE).min(inputs.nrows()), ..];
            let features = cosines(inputs.slice(rows), self.frequencies.view(), self.phases.view());
            let values = features.dot(&self.weights) + &self.biases;
            let part = match &self.reading {
                Reading::Machine(machine) => {
                    machine.scores_of_values(values.view(), self.task.outputs())
                }
                Reading::Scores => scores(values, self.task),
            };
            all.slice_mut(rows).assign(&part);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use ndarray::array;
    use proptest::prelude::*;

    fn golden_features() -> Array2<f64> {
        let w = array![
            [0.5, 1.1],
            [-1.2, 0.2],
            [0.3, -0.7],
            [0.8, 0.6],
            [-0.4, -1.3],
            [1.5, 0.4],
            [0.1, 0.9],
            [-0.9, -0.5]
        ];
        let b = array![0.3, 1.2, 2.5, 4.0, 5.1, 0.9, 3.3, 6.0];
        cosines(toy::points().view(), w.view(), b.view())
    }

    #[test]
    fn golden_weights_and_ridges() {
        let golden: toml::Table =
            include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        let golden = golden["base-2"].as_table().unwrap();
        let number = |name: &str| golden[name].as_float().unwrap();
        let numbers = |name: &str| -> Array1<f64> {
            golden[name].as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect()
        };
        let features = golden_features();
        let s = alignments(features.view(), signs(&toy::A, 2).view());
        assert_relative_eq!(s, numbers("scores"), max_relative = 1e-8);
        let (small, lambda) = chi_square_ball(s.view(), 0.5 / 8.0);
        assert_relative_eq!(small, numbers("small-weights"), max_relative = 1e-8);
        assert_relative_eq!(small.dot(&s), number("small-objective"), max_relative = 1e-8);
        // As s and a above give it: (s_1 − s_2)/(a_1 − a_2).
        assert_relative_eq!(lambda, number("small-multiplier"), max_relative = 1e-8);
        let (large, lambda) = chi_square_ball(s.view(), 2.0 / 8.0);
        assert_relative_eq!(large, numbers("large-weights"), max_relative = 1e-8);
        assert_relative_eq!(large.dot(&s), number("large-objective"), max_relative = 1e-8);
        assert_relative_eq!(lambda, number("large-multiplier"), max_relative = 1e-8);

        let kept: Vec<usize> = (0..8).filter(|&j| large[j] > f64::EPSILON).collect();
        let y = signs(&toy::A, 2).column(0).to_owned();
        let chosen = features.select(Axis(1), &kept);
        let plain = &chosen * (2.0 / kept.len() as f64).sqrt();
        let w = ridge(plain.view(), y.view(), 0.05).unwrap();
        assert_relative_eq!(w, numbers("plain-ridge"), max_relative = 1e-8);
        let roots: Array1<f64> = kept.iter().map(|&j| (2.0 * large[j]).sqrt()).collect();
        let w = ridge((&chosen * &roots).view(), y.view(), 0.05).unwrap();
        assert_relative_eq!(w, numbers("weighted-ridge"), max_relative = 1e-8);
    }

    proptest! {
        /// `s_i − λ(a_i − 1/N)` equals one `ν` where `a > 0`, and is not above it elsewhere.
        #[test]
        fn the_optimality_conditions_of_the_ball_hold(
            s in prop::collection::vec(0.0..100.0f64, 2..40), share in 0.001..0.99f64,
        ) {
            let n = s.len() as f64;
            let s = Array1::from_vec(s);
            let radius = share * (1.0 - 1.0 / n);
            let (a, lambda) = chi_square_ball(s.view(), radius);
            prop_assert!((a.sum() - 1.0).abs() < 1e-9 && a.iter().all(|&a| a >= 0.0));
            let distance = a.mapv(|a| (a - 1.0 / n).powi(2)).sum();
            prop_assert!(distance <= radius * (1.0 + 1e-9));
            if lambda > 0.0 {
                prop_assert!((distance - radius).abs() <= 1e-8 * radius);
                let nu: Vec<f64> =
                    (0..s.len()).map(|i| s[i] - lambda * (a[i] - 1.0 / n)).collect();
                let top = nu.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for i in 0..s.len() {
                    prop_assert!(a[i] == 0.0 || (nu[i] - top).abs() <= 1e-7 * (1.0 + top.abs()));
                }
            }
        }
    }

    #[test]
    fn a_ball_that_holds_the_simplex_takes_the_largest_and_equal_scores_share() {
        let (a, lambda) = chi_square_ball(array![1.0, 5.0, 2.0].view(), 0.9);
        assert_eq!((a, lambda.to_bits()), (array![0.0, 1.0, 0.0], 0));
        let (a, _) = chi_square_ball(array![2.0, 2.0, 2.0, 2.0].view(), 0.1);
        assert_abs_diff_eq!(a, Array1::from_elem(4, 0.25), epsilon = 1e-15);
    }

    #[test]
    fn both_second_stages_tell_the_classes_apart() {
        let inputs = Array2::from_shape_fn((80, 2), |(i, j)| {
            let angle = i as f64 * 0.9;
            (1.0 + (i % 2) as f64) * if j == 0 { angle.cos() } else { angle.sin() }
        });
        let labels: Vec<u32> = (0..80).map(|i| i % 2).collect();
        let sample = Sample::classification(inputs, labels.clone(), 2).unwrap();
        for stage in [SecondStage::Machine, SecondStage::Ridge] {
            let params = RandomKernelParams { features: 2000, stage, ..Default::default() };
            let learner = RandomKernel::new(params).unwrap();
            let fitted = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap();
            let said = fitted.predictor.predict(sample.inputs()).unwrap();
            assert_eq!(said, mercer_learning::Predictions::Classes(labels.clone()), "{stage:?}");
            assert!(fitted.facts["features-kept"] < 1200.0, "{:?}", fitted.facts);
        }
        for params in [
            RandomKernelParams { features: 0, ..Default::default() },
            RandomKernelParams { radius: 0.0, ..Default::default() },
            RandomKernelParams { width: Some(-1.0), ..Default::default() },
            RandomKernelParams { lambda: f64::NAN, ..Default::default() },
        ] {
            assert!(RandomKernel::new(params).is_err());
        }
    }
}
