mod fista;
mod interior;
mod solution;

use crate::kernel_machine::{
    BLOCK, Base, BaseSections, CAP, TOLERANCE, facts, folds_of, labels, scores,
};
use crate::subsample::at_most;
use mercer_learning::{
    Allowed, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Predictor, Sample, Settings, Space, State, Task, Tasks, declared, fact,
    with_hints,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix2, s};

use solution::Solution;

pub use fista::{FistaRun, MixedNorm, fista};

pub(crate) const METHOD: Method = Method {
    name: "mikl",
    title: "MIKL",
    summary: "squared hinge with an l1 penalty over the columns of several kernels, indefinite or not",
    formula: "f(x) = Σ_k Σ_j α_jk k_k(x_j, x) minimises Σ (1 − y_i f(x_i))₊² + λ ‖α‖₁",
    when: "to combine given kernels, indefinite ones too, with few columns of them",
    cites: "Kowalski, Szafranski & Ralaivola (2009)",
    revision: 2,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "60 K n (5 P n + 60 k^2), P = 3, k = min(n, 200), n = min(n, cap)",
        predict: "P n_used d",
        memory: "3 P n^2, P = 3",
    },
    resource: None,
    warnings: &[],
    settings: &|| {
        let hints =
            [("newton_steps", ConvergenceHint::More), ("tolerance", ConvergenceHint::Larger)];
        with_hints(declared::<MiklParams>(), &hints)
    },
    defaults: &|_| Settings::of(&MiklParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(Mikl::new(settings.read("mikl")?)?)),
    restore: &Expansion::restore,
};

/// The kernels that the hyper-RKHS paper names: linear, and Gaussians of widths 0.1 and 100.
const KERNELS: [Base; 3] = [Base::Linear, Base::Gaussian(0.1), Base::Gaussian(100.0)];

mercer_learning::parameters! {
    /// Settings of [`Mikl`].
    ///
    /// ```
    /// use mercer_baselines::{Mikl, MiklParams};
    /// let refused = Mikl::new(MiklParams { steps: 0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `steps` is 0; it must be at least 1");
    /// ```
    pub struct MiklParams {
        /// Penalties tried by 5-fold cross-validation, as shares of the largest that leaves any
        /// weight: so many logarithmic steps from 1 down to 10⁻³.
        pub steps: usize = 10, Allowed::COUNT;
        /// Duality gap, relative to the objective, at which a fit ends.
        pub tolerance: f64 = 1e-8, TOLERANCE;
        /// Newton steps at most, in each fit.
        pub newton_steps: usize = 2000, Allowed::COUNT;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = CAP, Allowed::PAIR;
    }
}

/// Multiple indefinite kernel learning with the `l1` norm.
///
/// ```text
/// min over α ∈ R^{nP}   Σ_i (1 − y_i f(x_i))₊² + λ ‖α‖₁,    f(x) = Σ_k Σ_j α_jk k_k(x_j, x)
/// ```
///
/// without a bias, convex for any symmetric kernels. Kernels: linear, Gaussians of widths 0.1 and
/// 100 (the last is nearly constant on the unit cube: it is the bias). More than two classes: one
/// against the others, largest value. `λ` by 5-fold cross-validation between `10⁻³ λ_max` and
/// `λ_max = 2 ‖K_yᵀ 1‖_∞`, at which nothing is left.
///
/// Solved by a primal-dual interior point (Mehrotra 1992) over the weights that can be nonzero, down to a duality gap.
/// The columns of the wide Gaussian are nearly equal. [`fista`], the paper's algorithm, for the other mixed norms too,
/// takes tens of thousands of steps on six points. Coordinate descent left gaps of up to half the objective. The facts
/// hold `lambda-share`, the weights in use (`columns`) and the gap left (`gap`).
///
/// ```
/// use mercer_baselines::{Mikl, MiklParams};
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use ndarray::{Array2, array};
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
/// let sample = Sample::classification(x, (0..20).map(|i| i % 2).collect(), 2)?;
/// let fitted = Mikl::new(MiklParams::default())?.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(array![[-1.0], [1.1]].view())?;
/// assert_eq!(said, Predictions::Classes(vec![0, 1]));
/// assert!(fitted.facts["columns"] < 60.0); // few of the 3 · 20 weights are in use
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mikl {
    params: MiklParams,
}

impl Mikl {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: MiklParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }

    /// Shares of `λ_max`, from 1 down.
    fn shares(&self) -> Vec<f64> {
        let last = (self.params.steps - 1).max(1) as f64;
        (0..self.params.steps).map(|step| 10f64.powf(-3.0 * step as f64 / last)).collect()
    }

    /// Weights along the path of penalties, one solution a share.
    fn path(
        &self,
        columns: ArrayView2<'_, f64>,
        shares: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Solution>, LearningError> {
        let largest = lambda_max(columns);
        let mut path: Vec<Solution> = Vec::new();
        for share in shares {
            fitting.limits.check()?;
            let start = path.last();
            let (tolerance, steps) = (self.params.tolerance, self.params.newton_steps);
            path.push(Solution::run(columns, share * largest, start, tolerance, steps));
        }
        Ok(path)
    }

    /// How many points the penalty of each share gets right that are held out.
    fn right(
        &self,
        stack: ArrayView2<'_, f64>,
        labels: &[u32],
        task: Task,
        shares: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<usize>, LearningError> {
        let (n, classes) = (labels.len(), separated(task));
        let held = folds_of(labels, fitting);
        let mut right = vec![0usize; shares.len()];
        let folds = held.iter().max().map_or(0, |&last| last + 1);
        for fold in 0..folds {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..n).partition(|&t| held[t] == fold);
            let kept: Vec<usize> =
                (0..KERNELS.len()).flat_map(|k| train.iter().map(move |&t| k * n + t)).collect();
            let part = stack.select(Axis(0), &kept);
            let (known, asked) = (part.select(Axis(1), &train), part.select(Axis(1), &test));
            let train_labels: Vec<u32> = train.iter().map(|&t| labels[t]).collect();
            let mut values = vec![Array2::zeros((test.len(), classes.len())); shares.len()];
            for (c, &class) in classes.iter().enumerate() {
                let columns = signed(known.view(), &signs(&train_labels, class));
                for (found, values) in
                    self.path(columns.view(), shares, fitting)?.iter().zip(&mut values)
                {
                    values.column_mut(c).assign(&found.weights.dot(&asked));
                }
            }
            for (values, right) in values.iter().zip(&mut right) {
                let scores = scores(values.clone(), task);
                *right += test
                    .iter()
                    .zip(scores.rows())
                    .filter(|(t, row)| mercer_learning::argmax(row.view()) == labels[**t])
                    .count();
            }
        }
        Ok(right)
    }
}

/// The classes that are told from all others: of two the second alone.
fn separated(task: Task) -> Vec<u32> {
    if task.outputs() == 2 { vec![1] } else { (0..task.outputs() as u32).collect() }
}

/// `λ_max = 2 ‖K_yᵀ 1‖_∞` for the columns of `K_y` in rows.
fn lambda_max(columns: ArrayView2<'_, f64>) -> f64 {
    2.0 * columns.sum_axis(Axis(1)).iter().fold(0.0, |a: f64, b| a.max(b.abs()))
}

/// The columns of `K_y = diag(y) [K_1 .. K_P]`, one in a row: `nP × n`.
fn signed(stack: ArrayView2<'_, f64>, signs: &Array1<f64>) -> Array2<f64> {
    &stack * &signs.view().insert_axis(Axis(0))
}

fn signs(labels: &[u32], class: u32) -> Array1<f64> {
    labels.iter().map(|&label| if label == class { 1.0 } else { -1.0 }).collect()
}

impl Learner for Mikl {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let (labels, n, task) = (labels(&sample)?, sample.rows(), sample.task());
        let classes = separated(task);
        fitting.limits.reserve(8 * (3 * KERNELS.len() * n * n) as u64)?;
        let grams: Vec<Array2<f64>> =
            KERNELS.iter().map(|base| base.gram(sample.inputs())).collect();
        let views: Vec<_> = grams.iter().map(Array2::view).collect();
        let stack = ndarray::concatenate(Axis(0), &views).expect("matrices of one width");
        drop(grams);
        let shares = self.shares();
        let right = self.right(stack.view(), labels, task, &shares, fitting)?;
        let most = right.iter().max().copied().unwrap_or(0);
        // Of equals the largest penalty: the sparsest.
        let chosen = right.iter().position(|&count| count == most).unwrap_or(0);

        let mut weights = Array2::zeros((KERNELS.len() * n, classes.len()));
        let (mut gap, mut steps, mut met) = (0.0f64, 0, true);
        for (c, &class) in classes.iter().enumerate() {
            let columns = signed(stack.view(), &signs(labels, class));
            let path = self.path(columns.view(), &shares[..=chosen], fitting)?;
            let last = path.last().expect("at least one share");
            weights.column_mut(c).assign(&last.weights);
            gap = gap.max(last.gap / last.objective.max(f64::MIN_POSITIVE));
            steps += last.steps;
            met &= last.converged;
        }
        let facts = facts([
            (fact::ROWS_USED, n as f64),
            ("lambda-share", shares[chosen]),
            ("validation-accuracy", most as f64 / n as f64),
            ("columns", weights.iter().filter(|weight| **weight != 0.0).count() as f64),
            ("gap", gap),
        ]);
        let convergence = if met {
            Convergence::Converged { iterations: steps }
        } else {
            Convergence::NotConverged { iterations: steps, residual: gap }
        };
        let predictor = Expansion::of(&sample, &weights);
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

/// `f(x) = Σ_k Σ_j α_jk k_k(x_j, x)`.
struct Expansion {
    task: Task,
    features: usize,
    outputs: usize,
    parts: Vec<(BaseSections, Array2<f64>)>,
}

impl Expansion {
    /// Each kernel at the points where some of its weights (`nP ×` outputs) are not 0.
    fn of(sample: &Sample, weights: &Array2<f64>) -> Self {
        let n = sample.rows();
        let parts = KERNELS
            .iter()
            .enumerate()
            .filter_map(|(k, base)| {
                let own = weights.slice(s![k * n..(k + 1) * n, ..]);
                let used: Vec<usize> =
                    (0..n).filter(|&t| own.row(t).iter().any(|w| *w != 0.0)).collect();
                (!used.is_empty()).then(|| {
                    let rows = sample.inputs().select(Axis(0), &used);
                    (base.sections(rows.view()), own.select(Axis(0), &used))
                })
            })
            .collect();
        let (task, features) = (sample.task(), sample.features());
        Self { task, features, outputs: weights.ncols(), parts }
    }

    fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let task: Task = state.value("task")?;
        let features: usize = state.value("features")?;
        let outputs = if task.outputs() == 2 { 1 } else { task.outputs() };
        let mut parts = Vec::new();
        for k in 0..state.value("kernels")? {
            let part = state.part(&format!("kernel {k}"))?;
            let sections = BaseSections::restore(part.part("sections")?)?;
            if sections.features() != features {
                let problem = format!("has {} columns, not {features}", sections.features());
                return Err(LearningError::State { name: format!("kernel {k}"), problem });
            }
            let weights = part.array_of::<f64, Ix2>("weights", (sections.len(), outputs))?;
            parts.push((sections, weights));
        }
        Ok(Box::new(Self { task, features, outputs, parts }))
    }
}

impl Predictor for Expansion {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn state(&self) -> State {
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("kernels", self.parts.len());
        self.parts.iter().enumerate().fold(state, |state, (k, (sections, weights))| {
            let part = State::new().with_part("sections", sections.state());
            state.with_part(&format!("kernel {k}"), part.with_array("weights", weights))
        })
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut all = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let part = inputs.slice(rows);
            let mut values = Array2::zeros((part.nrows(), self.outputs));
            for (sections, weights) in &self.parts {
                values += &sections.at(part).dot(weights);
            }
            all.slice_mut(rows).assign(&scores(values, self.task));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{self, number, numbers};
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use ndarray::ArrayView1;
    use toml::{Table, Value};

    type Kernel = fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> f64;

    /// Columns of `K_y` in rows, and the kernels' values at the test point.
    fn problem(kernels: &[Kernel]) -> (Array2<f64>, Array1<f64>) {
        let (x, test) = (toy::points(), toy::test());
        let at = |row: usize, point: ArrayView1<'_, f64>| kernels[row / 6](x.row(row % 6), point);
        let stack = Array2::from_shape_fn((6 * kernels.len(), 6), |(row, i)| at(row, x.row(i)));
        let cross = (0..6 * kernels.len()).map(|row| at(row, test.row(0))).collect();
        (signed(stack.view(), &signs(&toy::A, 1)), cross)
    }

    fn log(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        -(1.0 + (&x - &z).mapv(|d| d * d).sum().sqrt()).ln()
    }

    fn tanh(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        (0.5 * x.dot(&z) - 1.0).tanh()
    }

    fn gaussian(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>, width: f64) -> f64 {
        (-0.5 * (&x - &z).mapv(|d| d * d).sum() / (width * width)).exp()
    }

    fn golden() -> Value {
        let all: Table = include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        all["base-6"].clone()
    }

    #[test]
    fn golden_solutions_by_the_interior_point_and_by_fista() {
        let golden = golden();
        let (columns, cross) = problem(&[log, tanh]);
        let largest = number(&golden["largest-penalty"]);
        assert_relative_eq!(lambda_max(columns.view()), largest, max_relative = 1e-8);
        let lipschitz = number(&golden["lipschitz"]);
        for (row, lambda) in [1.0, 0.2].into_iter().enumerate() {
            let objective = number(&golden["objectives"][row]);
            let expected = numbers(&golden["weights"][row]);
            let f = number(&golden["decisions"][row]);
            let found = Solution::run(columns.view(), lambda, None, 1e-14, 1000);
            assert_abs_diff_eq!(found.weights, expected, epsilon = 1e-8);
            assert_relative_eq!(found.objective, objective, max_relative = 1e-8);
            assert_relative_eq!(found.weights.dot(&cross), f, max_relative = 1e-7);
            let run = fista(columns.view(), MixedNorm::L1, lambda, 1e-14, 200_000);
            assert_relative_eq!(run.lipschitz, lipschitz, max_relative = 1e-8);
            assert_abs_diff_eq!(run.weights, expected, epsilon = 1e-6);
            assert_relative_eq!(run.objective, objective, max_relative = 1e-8);
        }
    }

    #[test]
    fn golden_objectives_of_nearly_equal_columns() {
        let linear: Kernel = |x, z| x.dot(&z);
        let narrow: Kernel = |x, z| gaussian(x, z, 0.1);
        let wide: Kernel = |x, z| gaussian(x, z, 100.0);
        let (columns, _) = problem(&[linear, narrow, wide]);
        let objectives = numbers(&golden()["nearly-equal-objectives"]);
        assert_eq!(objectives.len(), 2);
        for (lambda, objective) in [1.0, 0.2].into_iter().zip(objectives) {
            let found = Solution::run(columns.view(), lambda, None, 1e-12, 1000);
            assert_relative_eq!(found.objective, objective, max_relative = 1e-9);
        }
    }

    #[test]
    fn at_the_largest_penalty_nothing_is_left_and_conditions_hold_below() {
        let (columns, _) = problem(&[log, tanh]);
        let largest = lambda_max(columns.view());
        let none = Solution::run(columns.view(), largest, None, 1e-10, 1000);
        assert!(none.weights.iter().all(|weight| *weight == 0.0) && none.converged);
        for share in [0.5, 0.1, 0.01] {
            let lambda = share * largest;
            let found = Solution::run(columns.view(), lambda, None, 1e-12, 1000);
            let margins = 1.0 - found.weights.dot(&columns);
            let pull = 2.0 * columns.dot(&margins.mapv(|m| m.max(0.0)));
            for (j, &pull) in pull.iter().enumerate() {
                assert!(pull.abs() <= lambda * (1.0 + 1e-6), "{j}: {pull} and {lambda}");
                if found.weights[j] != 0.0 {
                    let expected = lambda * found.weights[j].signum();
                    assert_abs_diff_eq!(pull, expected, epsilon = 1e-6 * lambda);
                }
            }
            assert!(found.gap >= -1e-12 && found.converged, "{found:?}");
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for params in [
            MiklParams { steps: 0, ..Default::default() },
            MiklParams { newton_steps: 0, ..Default::default() },
            MiklParams { tolerance: -1.0, ..Default::default() },
            MiklParams { cap: 0, ..Default::default() },
        ] {
            assert!(Mikl::new(params).is_err());
        }
    }
}
