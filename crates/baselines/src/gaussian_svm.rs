mod machine;
mod predictor;

use crate::kernel_machine::TOLERANCE;
use crate::kernel_ridge::default_std;
use crate::subsample::{at_most_from, drawn};
use machine::{Dual, Machine};
use mercer_kernels::Kernel;
use mercer_learning::{
    Allowed, Axis as Setting, Condition, Convergence, ConvergenceHint, Cost, Fitted, Fitting,
    Learner, LearningError, Method, Outcome, Parameters, Range, SECOND_STAGE, Sample, Settings,
    Shape, Space, Streams, Targets, Task, Tasks, Where, declared, fact, with_conditions,
    with_hints,
};
use ndarray::{Array1, ArrayView1};
use predictor::{Reading, SupportVectors};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const METHOD: Method = Method {
    name: "gaussian-svm",
    title: "Gaussian SVM",
    summary: "support vector machine with a Gaussian kernel, by way of linfa-svm",
    cites: "Cortes & Vapnik (1995); Drucker et al. (1997)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "P r^2 (d + 1), P = max(1, K (K - 1)/2), r = min(n, 2 n/K, cap)",
        predict: "n_sv (d + K^2/2)",
        memory: "n^2",
    },
    // A tuner's early rungs use fewer rows.
    resource: Some("cap"),
    settings: &|| {
        const CONDITIONS: &[Condition] = &[
            (&["epsilon"], &[Where::is("task", &["regression"])]),
            (&["multiclass"], &[Where::is("task", &["classification"])]),
        ];
        let hints = [("tolerance", ConvergenceHint::Larger), ("cost", ConvergenceHint::Smaller)];
        with_hints(with_conditions(declared::<GaussianSvmParams>(), CONDITIONS), &hints)
    },
    defaults: &|shape| {
        let std = default_std(shape.features);
        Settings::new().with("std", std).with("cost", 10.0).with("cap", CAP)
    },
    user_defaults: &mercer_learning::same_as_study,
    space: &space,
    build: &|settings| Ok(Box::new(GaussianSvm::new(settings.read("gaussian-svm")?)?)),
    restore: &|state| Ok(Box::new(SupportVectors::restore(state)?)),
};

/// linfa's matrix of so many rows fills 128 MB, and a machine takes seconds.
const CAP: usize = 4000;

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

/// How binary machines are combined for more than two classes.
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
    /// A machine for each pair of classes; most votes win, ties go to the smaller index.
    OneVersusOne,
    /// A machine for each class against the others; the largest decision value wins.
    OneVersusRest,
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
    /// That of the second stage of the methods that learn a kernel first.
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
        /// `s > 0` in `exp(−s² ‖x − z‖² / 2)`; `1/√d` if not set.
        pub std: Option<f64> = None, Allowed::between(1e-100, true, 1e100, true, "between 1e-100 and 1e100");
        /// Half-width `ε ≥ 0` of the tube without loss, in deviations of the target (regression).
        pub epsilon: f64 = 0.1, Allowed::NOT_NEGATIVE;
        /// The fit ends when no pair of dual variables violates optimality by more than this.
        pub tolerance: f64 = 1e-3, TOLERANCE;
        /// What is done about more than two classes.
        pub multiclass: MultiClass = MultiClass::OneVersusOne;
        /// Training rows of a machine beyond this are left out, by seed: it holds an `n × n` matrix. One
        /// against one, a machine holds the rows of its two classes only.
        pub cap: usize = CAP, Allowed::PAIR;
        /// Which rows those of `cap` are: of its own draw, or of the draw that gives a hyper-kernel method's machine its
        /// `machine_rows`, so that as many are the same ones. Of more than two classes, one against one, each machine
        /// has its own.
        pub draw: RowDraw = RowDraw::Own;
    }
}

/// Support vector machine with a Gaussian kernel: C-SVC for classes, ε-SVR for real targets.
///
/// `min_f ½ ‖f‖² + C Σ loss(f(x_i) + b, y_i)` with the hinge, or with `max(0, |y − f| − ε)` on
/// targets standardised to mean 0 and deviation 1. Weights of rows multiply their `C`. linfa-svm solves the dual by SMO. Its iteration
/// limit (10 million a machine) is reported as convergence; the violation of optimality that it
/// left is measured afresh here and stands among the facts (`kkt-violation`), with `rows-used` (by any
/// machine), `support-vectors` and `machines`. A machine cannot be interrupted while it runs; time limits
/// act between machines. linfa gives all rows of a class one cost: rows with weights are solved by [`mercer_solvers::Smo`].
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
        let GaussianSvmParams { cost, epsilon, tolerance, multiclass, cap, draw, .. } = self.params;
        // One against one, each machine is handed what it can hold of its two classes.
        let by_pair = matches!(sample.targets(), Targets::Classes { classes: 3.., .. })
            && multiclass == MultiClass::OneVersusOne;
        let most = if by_pair { usize::MAX } else { cap };
        let sample = at_most_from(draw.stream(), sample, most, &fitting.streams)?;
        sample.require_two_classes()?;
        let Shape { rows: n, features: d, task } = sample.shape();
        let std = self.params.std.unwrap_or(default_std(d));
        sample.require_distances(std)?;
        let (weights, limits) = (sample.weights(), fitting.limits);
        let dual = Dual { inputs: sample.inputs(), std, cost, tolerance, weights, limits };
        let everything: Vec<usize> = (0..n).collect();
        let mut used = vec![!by_pair; n];
        let mut machines = Vec::new();
        let mut run = |rows: &[usize], machine: &dyn Fn() -> Result<Machine, LearningError>| {
            fitting.limits.check()?;
            // linfa's matrix, and the rows copied for it.
            fitting.limits.reserve(8 * (rows.len() * (rows.len() + d)) as u64)?;
            machines.push(machine()?);
            Ok::<(), LearningError>(())
        };
        let reading = match sample.targets() {
            Targets::Real(values) => {
                let (mean, deviation) = match weights {
                    None => (values.sum() / n as f64, values.std(0.0)),
                    Some(weights) => weighted_moments(values, weights),
                };
                // Equal targets need no scale: the tube around their mean holds them all.
                let scale = if deviation > 0.0 { deviation } else { 1.0 };
                let standard = values.mapv(|value| (value - mean) / scale);
                run(&everything, &|| dual.regression(&standard, epsilon))?;
                Reading::Value { mean, scale }
            }
            Targets::Classes { labels, classes: 2 } => {
                let positive = |&row: &usize| labels[row] == 1;
                run(&everything, &|| dual.classification(&everything, &positive))?;
                Reading::Sign
            }
            Targets::Classes { labels, classes } => {
                let occur: Vec<u32> = (0..*classes as u32).filter(|c| labels.contains(c)).collect();
                match multiclass {
                    MultiClass::OneVersusRest => {
                        for &class in &occur {
                            let positive = |&row: &usize| labels[row] == class;
                            run(&everything, &|| dual.classification(&everything, &positive))?;
                        }
                        Reading::Largest { classes: occur, of: *classes }
                    }
                    MultiClass::OneVersusOne => {
                        let mut pairs = Vec::new();
                        for (index, &first) in occur.iter().enumerate() {
                            for &second in &occur[index + 1..] {
                                let rows = share(labels, [first, second], cap, &fitting.streams);
                                for &row in &rows {
                                    used[row] = true;
                                }
                                let positive = |&row: &usize| labels[row] == first;
                                run(&rows, &|| dual.classification(&rows, &positive))?;
                                pairs.push((first, second));
                            }
                        }
                        Reading::Votes { pairs, of: *classes }
                    }
                }
            }
        };

        let iterations = machines.iter().map(|machine| machine.iterations).sum();
        let violation = machines.iter().fold(0.0, |worst: f64, m| worst.max(m.violation));
        let convergence = if machines.iter().all(|machine| machine.finished) {
            Convergence::Converged { iterations }
        } else {
            Convergence::NotConverged { iterations, residual: violation }
        };
        let kernel = Kernel::Gaussian { std };
        let predictor = SupportVectors::new(task, kernel, sample.inputs(), &machines, reading);
        let facts = [
            (fact::ROWS_USED, used.iter().filter(|used| **used).count() as f64),
            ("machines", machines.len() as f64),
            ("support-vectors", predictor.count() as f64),
            ("kkt-violation", violation),
        ];
        let facts: BTreeMap<String, f64> =
            facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
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
