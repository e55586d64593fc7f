mod machine;
mod predictor;

use crate::kernel_choice::{self, KernelChoice, KernelName};
use crate::kernel_machine::TOLERANCE;
use crate::kernel_ridge::default_std;
use crate::subsample::{at_most_from, drawn};
use machine::{Dual, Problem};
use mercer_learning::{
    Allowed, Axis as Setting, Condition, Convergence, ConvergenceHint, Cost, Fitted, Fitting,
    Learner, LearningError, Method, Outcome, Parameters, Range, SECOND_STAGE, Sample, Settings,
    Shape, Space, Streams, Targets, Task, Tasks, Where, declared, fact, with_conditions,
    with_hints,
};
use ndarray::{Array1, ArrayView1};
use predictor::{Reading, SupportVectors};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const METHOD: Method = Method {
    name: "gaussian-svm",
    title: "Gaussian SVM",
    summary: "support vector machine, Gaussian by default; by our own solver, or by linfa-svm",
    formula: "f(x) = Σ α_i k(x, x_i) + b, −C ≤ α_i ≤ C, k(x, z) = exp(−s² ‖x − z‖²/2) by default",
    when: "the first method to try on up to 20,000 rows",
    cites: "Cortes & Vapnik (1995); Drucker et al. (1997)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "P r^2 (d + 1), P = max(1, K (K - 1)/2), r = min(n, 2 n/K, cap)",
        predict: "n_sv (d + K^2/2)",
        memory: "min(min(n, cap), 8192)^2",
    },
    // A tuner's early rungs use fewer rows.
    resource: Some("cap"),
    warnings: kernel_choice::WARNINGS,
    settings: &|| {
        const CONDITIONS: &[Condition] = &[
            (&["epsilon"], &[Where::is("task", &["regression"])]),
            (&["multiclass"], &[Where::is("task", &["classification"])]),
            (&["solver"], &[Where::is("kernel", &["gaussian"])]),
        ];
        let hints = [("tolerance", ConvergenceHint::Larger), ("cost", ConvergenceHint::Smaller)];
        let declared = with_conditions(declared::<GaussianSvmParams>(), CONDITIONS);
        with_hints(with_conditions(declared, &kernel_choice::CONDITIONS), &hints)
    },
    defaults: &|shape| {
        let std = default_std(shape.features);
        Settings::new().with("std", std).with("cost", 10.0).with("cap", CAP)
    },
    // The studies compare with linfa.
    user_defaults: &|_| Settings::new().with("solver", "smo").with("cap", USER_CAP),
    space: &space,
    build: &|settings| Ok(Box::new(GaussianSvm::new(settings.read("gaussian-svm")?)?)),
    restore: &|state| Ok(Box::new(SupportVectors::restore(state)?)),
};

/// linfa's matrix of so many rows fills 128 MB, and an SVM takes seconds.
const CAP: usize = 4000;

/// Beyond 8192 rows our solver computes kernel rows as it asks for them: letter's 18,000 in two classes take 6 s.
const USER_CAP: usize = 20_000;

fn space(shape: &Shape) -> Space {
    let centre = default_std(shape.features).log2();
    // On targets of deviation 1 a larger cost than 2^6 fits noise, at minutes a machine: SMO's
    // iterations grow about as the cost (4,000 rows: 3 s at 10, 300 s at 1000).
    let highest = if shape.task == Task::Regression { 6.0 } else { 10.0 };
    let mut axes = vec![
        Setting { name: "std", range: Range::Log2(centre - 4.0, centre + 4.0) },
        Setting { name: "cost", range: Range::Log2(-5.0, highest) },
    ];
    if shape.task == Task::Regression {
        axes.push(Setting { name: "epsilon", range: Range::Log2(-8.0, -1.0) });
    }
    Space { axes, anchors: vec![(METHOD.defaults)(shape)] }
}

/// How binary SVMs are combined for more than two classes.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_baselines::{GaussianSvmParams, MultiClass};
/// // As LIBSVM does it: a machine a pair of classes.
/// let read = |word: &str| Settings::new().with("multiclass", word).read::<GaussianSvmParams>("gaussian-svm");
/// assert_eq!(read("one-versus-rest")?.multiclass, MultiClass::OneVersusRest);
/// assert_eq!(GaussianSvmParams::default().multiclass, MultiClass::OneVersusOne);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("one-versus-one, one-versus-rest"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiClass {
    /// An SVM for each pair of classes; most votes win. Ties go to the smaller index.
    OneVersusOne,
    /// An SVM for each class against the others; the largest decision value wins.
    OneVersusRest,
}

/// Who solves the dual problems.
///
/// ```
/// use mercer_baselines::{GaussianSvmParams, SvmSolver};
/// use mercer_learning::Settings;
/// let read = |word: &str| Settings::new().with("solver", word).read::<GaussianSvmParams>("gaussian-svm");
/// assert_eq!(read("smo")?.solver, SvmSolver::Smo);
/// assert_eq!(GaussianSvmParams::default().solver, SvmSolver::Linfa);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("linfa, smo"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SvmSolver {
    /// linfa-svm, which knows the Gaussian kernel and one cost a class.
    Linfa,
    /// [`mercer_solvers::Smo`], on computed kernel rows where there are many. They are computed as they are asked for.
    Smo,
}

/// Whose draw of rows a capped fit uses.
///
/// ```
/// use mercer_baselines::{GaussianSvmParams, RowDraw};
/// use mercer_learning::Settings;
/// let read = |word: &str| Settings::new().with("draw", word).read::<GaussianSvmParams>("gaussian-svm");
/// assert_eq!(read("second-stage")?.draw, RowDraw::SecondStage);
/// assert_eq!(GaussianSvmParams::default().draw, RowDraw::Own);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowDraw {
    /// Its own.
    Own,
    /// As in the second stage of the methods that learn a kernel first.
    SecondStage,
}

impl RowDraw {
    const fn stream(self) -> &'static str {
        match self {
            Self::Own => "rows",
            Self::SecondStage => SECOND_STAGE,
        }
    }
}

mercer_learning::parameters! {
    /// Settings of [`GaussianSvm`].
    ///
    /// ```
    /// use mercer_baselines::{GaussianSvm, GaussianSvmParams};
    /// let refused = GaussianSvm::new(GaussianSvmParams { cost: -1.0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `cost` is -1; it must be positive and finite");
    /// ```
    pub struct GaussianSvmParams {
        /// `C > 0`, the weight of the losses, summed over rows.
        pub cost: f64 = 10.0, Allowed::POSITIVE;
        /// `gaussian` is `exp(−s² ‖x − z‖² / 2)`, `laplace` `exp(−s ‖x − z‖)`, `polynomial`
        /// `(s² x·z + offset)^degree`; the Matérn kernels are smoother than `laplace`. With
        /// `precomputed` the inputs are the kernel matrix itself, unscaled: a column for each row of the table, in the
        /// order of the rows. Rows to predict have the same columns.
        pub kernel: KernelName = KernelName::Gaussian;
        /// `s > 0` of the kernel, one over the length scale; `1/√d` if not set.
        pub std: Option<f64> = None, Allowed::between(1e-100, true, 1e100, true, "between 1e-100 and 1e100");
        /// Degree of the polynomial kernel.
        pub degree: u32 = 3, Allowed::COUNT;
        /// What the polynomial kernel adds to the product.
        pub offset: f64 = 1.0, Allowed::NOT_NEGATIVE;
        /// Who solves the dual problems: `linfa`, or `smo`, our own, which also solves those of rows with weights.
        pub solver: SvmSolver = SvmSolver::Linfa;
        /// Half-width `ε ≥ 0` of the tube without loss, in standard deviations of the target (regression).
        pub epsilon: f64 = 0.1, Allowed::NOT_NEGATIVE;
        /// The fit ends when no pair of dual variables violates optimality by more than this.
        pub tolerance: f64 = 1e-3, TOLERANCE;
        /// What is done about more than two classes.
        pub multiclass: MultiClass = MultiClass::OneVersusOne;
        /// Training rows of an SVM beyond this are left out, by seed. One
        /// against one, an SVM holds the rows of its two classes only.
        pub cap: usize = CAP, Allowed::PAIR;
        /// How the rows of `cap` are drawn: on its own, or as a hyper-kernel method draws its `machine_rows`, so that both
        /// have the same ones. With more than two classes, one against one, each SVM draws its own.
        pub draw: RowDraw = RowDraw::Own;
    }
}

/// Support vector machine (SVM): C-SVC for classes, ε-SVR for real targets.
///
/// `min_f ½ ‖f‖² + C Σ loss(f(x_i) + b, y_i)` with the hinge, or with `max(0, |y − f| − ε)` on targets standardised to
/// mean 0 and deviation 1. Weights of rows multiply their `C`. The dual is solved by SMO: by linfa-svm, or by
/// [`mercer_solvers::Smo`], which alone knows other kernels and weights of rows. SVMs of several classes are solved
/// side by side. Reaching the limit of iterations (10 million an SVM) is reported as convergence. The violation of
/// optimality that is left stands among the facts (`kkt-violation`), with `rows-used` (by any SVM), `support-vectors`
/// and `machines`. linfa's SVM cannot be interrupted while it runs: limits act between SVMs.
///
/// ```
/// use linfa::{DatasetBase, traits::{Fit, Predict}};
/// use mercer_baselines::{GaussianSvm, GaussianSvmParams};
/// use mercer_learning::Estimator;
/// use ndarray::array;
/// let corners = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]; // exclusive or
/// let dataset = DatasetBase::new(corners.clone(), array![0, 0, 1, 1]);
/// let params = GaussianSvmParams { std: Some(1.0), cost: 100.0, ..Default::default() };
/// let estimator = Estimator { learner: GaussianSvm::new(params)?, seed: 1 };
/// assert_eq!(estimator.fit(&dataset)?.predict(&corners), array![0, 0, 1, 1]);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianSvm {
    params: GaussianSvmParams,
}

impl GaussianSvm {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: GaussianSvmParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }
}

impl Learner for GaussianSvm {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let GaussianSvmParams { cost, tolerance, multiclass, cap, draw, .. } = self.params;
        // One against one, each machine is handed what it can hold of its two classes.
        let by_pair = matches!(sample.targets(), Targets::Classes { classes: 3.., .. })
            && multiclass == MultiClass::OneVersusOne;
        let most = if by_pair { usize::MAX } else { cap };
        let sample = self.params.kernel.points(sample)?;
        let sample = at_most_from(draw.stream(), &sample, most, fitting)?;
        sample.require_two_classes()?;
        let Shape { rows: n, features: d, task } = sample.shape();
        let std = self.params.std.unwrap_or(default_std(d));
        sample.require_distances(std)?;
        let (weights, limits) = (sample.weights(), fitting.limits);
        let GaussianSvmParams { kernel: name, degree, offset, solver, .. } = self.params;
        let choice = KernelChoice { name, std, degree, offset };
        let kernel = choice.of(sample.matrix())?;
        // linfa knows no other kernel and no weights of rows.
        let known = name == KernelName::Gaussian && weights.is_none();
        let linfa = (solver == SvmSolver::Linfa && known).then_some(std);
        let inputs = match linfa {
            Some(_) => sample.inputs().into(),
            None => sample.matrix(),
        };
        let dual = Dual { inputs, kernel, linfa, cost, tolerance, weights, limits };
        let (problems, reading) = self.problems(&sample, &fitting.streams);
        let used = if by_pair {
            problems.iter().flat_map(Problem::rows).collect::<BTreeSet<_>>().len()
        } else {
            n
        };
        let machines = dual.solve_all(&problems, fitting.threads)?;

        let iterations = machines.iter().map(|machine| machine.iterations).sum();
        let violation = machines.iter().fold(0.0, |worst: f64, m| worst.max(m.violation));
        let convergence = if machines.iter().all(|machine| machine.finished) {
            Convergence::Converged { iterations }
        } else {
            Convergence::NotConverged { iterations, residual: violation }
        };
        let predictor = SupportVectors::new(task, kernel, inputs, &machines, reading);
        let facts = [
            (fact::ROWS_USED, used as f64),
            ("machines", machines.len() as f64),
            ("support-vectors", predictor.count() as f64),
            ("kkt-violation", violation),
        ];
        let facts: BTreeMap<String, f64> = facts
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .chain(choice.indefinite(sample.matrix()))
            .collect();
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    fn keeps_sparse(&self) -> bool {
        self.params.solver == SvmSolver::Smo || self.params.kernel != KernelName::Gaussian
    }
}

impl GaussianSvm {
    /// The problems of the SVMs, and how their values are read.
    fn problems(&self, sample: &Sample, streams: &Streams) -> (Vec<Problem>, Reading) {
        let all: Vec<usize> = (0..sample.rows()).collect();
        let split = |rows: Vec<usize>, labels: &[u32], class: u32| {
            let signs = rows.iter().map(|&row| labels[row] == class).collect();
            Problem::Signs { rows, signs }
        };
        match sample.targets() {
            Targets::Real(values) => {
                let (mean, deviation) = match sample.weights() {
                    None => (values.sum() / sample.rows() as f64, values.std(0.0)),
                    Some(weights) => weighted_moments(values, weights),
                };
                // Equal targets need no scale: the tube around their mean holds them all.
                let scale = if deviation > 0.0 { deviation } else { 1.0 };
                let targets = values.mapv(|value| (value - mean) / scale);
                let epsilon = self.params.epsilon;
                (vec![Problem::Values { targets, epsilon }], Reading::Value { mean, scale })
            }
            Targets::Classes { labels, classes: 2 } => (vec![split(all, labels, 1)], Reading::Sign),
            Targets::Classes { labels, classes } => {
                let occur: Vec<u32> = (0..*classes as u32).filter(|c| labels.contains(c)).collect();
                if self.params.multiclass == MultiClass::OneVersusRest {
                    let machines = occur.iter().map(|&class| split(all.clone(), labels, class));
                    (machines.collect(), Reading::Largest { classes: occur, of: *classes })
                } else {
                    let mut pairs = Vec::new();
                    for (index, &first) in occur.iter().enumerate() {
                        pairs.extend(occur[index + 1..].iter().map(|&second| (first, second)));
                    }
                    let machine = |&(first, second): &(u32, u32)| {
                        let rows = share(labels, [first, second], self.params.cap, streams);
                        split(rows, labels, first)
                    };
                    (pairs.iter().map(machine).collect(), Reading::Votes { pairs, of: *classes })
                }
            }
        }
    }
}

/// Mean and standard deviation of values that count by weights.
fn weighted_moments(values: &Array1<f64>, weights: ArrayView1<'_, f64>) -> (f64, f64) {
    let total = weights.sum();
    let mean = weights.dot(values) / total;
    (mean, (weights.dot(&values.mapv(|value| (value - mean).powi(2))) / total).sqrt())
}

/// The rows of two classes, or `cap` of them: each class its share, but one row at least.
fn share(labels: &[u32], [first, second]: [u32; 2], cap: usize, streams: &Streams) -> Vec<usize> {
    let of = |class| -> Vec<usize> {
        let label = labels.iter().enumerate().filter(|&(_, &label)| label == class);
        label.map(|(row, _)| row).collect()
    };
    let (mut one, mut other) = (of(first), of(second));
    let all = one.len() + other.len();
    if all > cap {
        let of_one = ((cap * one.len()) as f64 / all as f64).round() as usize;
        let of_one = of_one.clamp(1, cap - 1);
        let streams = streams.child(&format!("classes {first} and {second}"));
        for (rows, quota, name) in [(&mut one, of_one, "one"), (&mut other, cap - of_one, "other")]
        {
            if let Some(places) = drawn(rows.len(), quota, &streams.child(name)) {
                *rows = places.into_iter().map(|place| rows[place]).collect();
            }
        }
    }
    one.append(&mut other);
    one.sort_unstable();
    one
}
