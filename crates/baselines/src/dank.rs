mod ascent;

use crate::kernel_machine::{Base, BaseSections, TOLERANCE, facts, failed, labels};
use crate::subsample::at_most;
use crate::svm_cv::{SvmCv, SvmCvParams};
use mercer_learning::{
    Allowed, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Predictor, Sample, Settings, Space, State, Task, Tasks, declared, fact,
    with_hints,
};
use mercer_solvers::{Dual, Precomputed, Smo};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2};
use serde::{Deserialize, Serialize};

pub use ascent::DankProblem;

pub(crate) const METHOD: Method = Method {
    name: "dank",
    title: "DANK",
    summary: "Gaussian kernel times a learned matrix near all ones; test points copy their neighbour's row",
    formula: "SVM with the kernel exp(−‖x − z‖²/(2σ²)) F(x, z); the matrix F stays near all ones and maximises the margin",
    when: "to check the paper; nearly the plain kernel on new rows",
    cites: "Liu, Huang, Gong, Yang & Li (2020)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost { fit: "n^3 · steps", predict: "n d", memory: "n^2" },
    resource: None,
    warnings: &[],
    settings: &|| {
        let hints = [("steps", ConvergenceHint::More), ("tolerance", ConvergenceHint::Larger)];
        with_hints(declared::<DankParams>(), &hints)
    },
    defaults: &|_| Settings::of(&DankParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(Dank::new(settings.read("dank")?)?)),
    restore: &DankPredictor::restore,
};

/// How the learned matrix is continued to points that were not trained on.
///
/// ```
/// use mercer_baselines::{DankMachine, DankParams, Extension};
/// use mercer_learning::Fitting;
/// use ndarray::array;
/// let x = array![[-2.0], [-1.0], [1.0], [2.0]];
/// let positive = [false, false, true, true];
/// let machine =
///     DankMachine::fit(x.view(), &positive, (1.0, 1.0), &DankParams::default(), &Fitting::seeded(1))?;
/// let gap = |extension| (machine.cross(x.view(), extension) - machine.kernel()).mapv(f64::abs).sum();
/// assert!(gap(Extension::Nearest) < 1e-12); // a training point is its own neighbour
/// assert!(gap(Extension::Plain) > 1e-6); // the plain kernel is another one
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extension {
    /// A point copies the row of its nearest training point.
    Nearest,
    /// A point copies it only if it is also that training point's nearest test point. Otherwise its row is all ones.
    /// The prediction of a point then depends on the other test points.
    Reciprocal,
    /// All ones: the plain kernel, with the weights of the adapted one.
    Plain,
}

mercer_learning::parameters! {
    /// Settings of [`Dank`].
    ///
    /// ```
    /// use mercer_baselines::{Dank, DankParams};
    /// let refused = Dank::new(DankParams { threshold: 0.0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `threshold` is 0; it must be positive and finite");
    /// ```
    pub struct DankParams {
        /// `1/(2τ)` as a share of `n`: what each eigenvalue of the learned matrix loses.
        pub threshold: f64 = 0.01, Allowed::POSITIVE;
        /// `tr(Γ)/(4 τ η)` as a share of `n`: how far the labels pull the matrix from all ones.
        pub pull: f64 = 0.1, Allowed::POSITIVE;
        /// How the matrix is continued; reciprocal neighbours need all test points at once, which a
        /// predictor that answers row by row does not have.
        pub extension: Extension = Extension::Nearest;
        /// The ascent ends when no weight moves by more than this share of the cost.
        pub tolerance: f64 = 1e-6, TOLERANCE;
        /// Steps of the ascent at most.
        pub steps: usize = 500, Allowed::COUNT;
        /// Training rows beyond this are left out, by seed: each step decomposes an `n × n` matrix.
        pub cap: usize = 500, Allowed::PAIR;
    }
}

/// Data-adaptive non-parametric kernels (Liu et al. 2020). It is an SVM whose Gaussian kernel is multiplied entry by
/// entry by a learned matrix `F`.
///
/// ```text
/// max over α ∈ A  min over F ⪰ 0   1ᵀα − ½ (α∘y)ᵀ (F∘K) (α∘y) + η ‖F‖_* + τη ‖F − 11ᵀ‖_F²
/// ```
///
/// The article could not be read beyond its abstract: formulation, defaults and the rule for new points are recalled.
/// The numbers that are said to be its defaults give `F = 0` for fewer than 50 points. The settings here are free of
/// scale: with them `‖F − 11ᵀ‖_F / n` is 0.04 to 0.06. Width and cost come from [`SvmCv`]; more than two classes are
/// separated pair by pair.
///
/// ```
/// use mercer_baselines::{Dank, DankParams, Extension};
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use ndarray::{Array2, array};
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
/// let sample = Sample::classification(x, (0..20).map(|i| i % 2).collect(), 2)?;
/// let fitted = Dank::new(DankParams::default())?.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(array![[-1.0], [1.1]].view())?;
/// assert_eq!(said, Predictions::Classes(vec![0, 1]));
/// // Reciprocal neighbours need all test points at once.
/// assert!(Dank::new(DankParams { extension: Extension::Reciprocal, ..Default::default() }).is_err());
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dank {
    params: DankParams,
}

impl Dank {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: DankParams) -> Result<Self, LearningError> {
        params.in_range()?;
        if params.extension == Extension::Reciprocal {
            let (name, value) = ("extension", "reciprocal".to_owned());
            let must = "nearest or plain: a predictor answers row by row";
            return Err(LearningError::Setting { name, value, must });
        }
        Ok(Self { params })
    }
}

/// An SVM for two classes with its adapted kernel.
///
/// ```
/// use mercer_baselines::{DankMachine, DankParams, Extension};
/// use mercer_learning::Fitting;
/// use ndarray::array;
/// let x = array![[-2.0], [-1.0], [1.0], [2.0]];
/// let positive = [false, false, true, true];
/// let machine =
///     DankMachine::fit(x.view(), &positive, (1.0, 1.0), &DankParams::default(), &Fitting::seeded(1))?;
/// let f = machine.decision(x.view(), Extension::Nearest);
/// assert!(f.iter().zip(positive).all(|(&f, positive)| (f > 0.0) == positive));
/// assert!(machine.weights.sum().abs() < 1e-9); // Σ y_i α_i = 0
/// assert!(machine.matrix.iter().all(|entry| (entry - 1.0).abs() < 0.5)); // near all ones
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub struct DankMachine {
    points: Array2<f64>,
    sections: BaseSections,
    /// The learned matrix `F`, `n × n`.
    pub matrix: Array2<f64>,
    /// `y_i α_i`.
    pub weights: Array1<f64>,
    /// Bias.
    pub bias: f64,
    /// Steps of the ascent.
    pub steps: usize,
    /// Whether the ascent met its tolerance.
    pub converged: bool,
    /// Width `σ` of the Gaussian, and cost `C`.
    pub width_and_cost: (f64, f64),
}

impl DankMachine {
    /// Learns the matrix and the SVM on some points.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] of the solvers, and what the limits say.
    pub fn fit(
        inputs: ArrayView2<'_, f64>,
        positive: &[bool],
        width_and_cost: (f64, f64),
        params: &DankParams,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let (width, cost) = width_and_cost;
        let n = inputs.nrows();
        let base = Base::Gaussian(width);
        let gram = base.gram(inputs);
        let dual = Dual::classification(positive, cost).map_err(|error| failed(&error))?;
        let smo = Smo { tolerance: 1e-8, ..Smo::default() };
        let solve = |gram: ArrayView2<'_, f64>| {
            Precomputed::new(gram)
                .and_then(|rows| smo.solve(&rows, &dual))
                .map_err(|error| failed(&error))
        };
        let plain = solve(gram.view())?;
        let tau = 0.5 / (params.threshold * n as f64);
        let size = plain.weights.dot(&plain.weights);
        // With K_ii = 1, tr Γ = ‖α‖².
        let eta = (size / (4.0 * tau * params.pull * n as f64)).max(f64::MIN_POSITIVE);
        let signs = positive.iter().map(|&sign| if sign { 1.0 } else { -1.0 }).collect();
        let problem = DankProblem { gram, signs, cost, tau, eta };
        let start = plain.weights.mapv(f64::abs);
        let mut check = || fitting.limits.check();
        let found = problem.maximise(&start, params.tolerance, params.steps, &mut check)?;
        let kernel = &found.matrix * &problem.gram;
        let machine = solve(kernel.view())?;
        Ok(Self {
            points: inputs.to_owned(),
            sections: base.sections(inputs),
            matrix: found.matrix,
            weights: machine.weights,
            bias: machine.bias,
            steps: found.steps,
            converged: found.converged,
            width_and_cost,
        })
    }

    /// Returns the kernel that the SVM was trained with, `F ∘ K`, `n × n`.
    pub fn kernel(&self) -> Array2<f64> {
        &self.matrix * &Base::Gaussian(self.width_and_cost.0).gram(self.points.view())
    }

    fn state(&self) -> State {
        State::new()
            .with("bias", self.bias)
            .with("steps", self.steps)
            .with("converged", self.converged)
            .with("width-and-cost", self.width_and_cost)
            .with_part("sections", self.sections.state())
            .with_array("points", &self.points)
            .with_array("matrix", &self.matrix)
            .with_array("weights", &self.weights)
    }

    fn restore(state: &State) -> Result<Self, LearningError> {
        let sections = BaseSections::restore(state.part("sections")?)?;
        let n = sections.len();
        Ok(Self {
            points: state.array_of::<f64, Ix2>("points", (n, sections.features()))?,
            matrix: state.array_of::<f64, Ix2>("matrix", (n, n))?,
            weights: state.array_of::<f64, Ix1>("weights", n)?,
            sections,
            bias: state.value("bias")?,
            steps: state.value("steps")?,
            converged: state.value("converged")?,
            width_and_cost: state.value("width-and-cost")?,
        })
    }

    /// Returns the rows of the adapted kernel for new points, `m × n`.
    pub fn cross(&self, inputs: ArrayView2<'_, f64>, extension: Extension) -> Array2<f64> {
        let mut cross = self.sections.at(inputs);
        if extension == Extension::Plain {
            return cross;
        }
        let near = neighbours(self.points.view(), inputs);
        let back = match extension {
            Extension::Reciprocal => Some(neighbours(inputs, self.points.view())),
            _ => None,
        };
        for (j, mut row) in cross.rows_mut().into_iter().enumerate() {
            let i = near[j];
            if back.as_ref().is_none_or(|back| back[i] == j) {
                row *= &self.matrix.row(i);
            }
        }
        cross
    }

    /// Returns `f(x)` for new points, all of them test points for [`Extension::Reciprocal`].
    pub fn decision(&self, inputs: ArrayView2<'_, f64>, extension: Extension) -> Array1<f64> {
        self.cross(inputs, extension).dot(&self.weights) + self.bias
    }
}

/// For each row of `inputs` the nearest of `points`, ties to the lowest index.
fn neighbours(points: ArrayView2<'_, f64>, inputs: ArrayView2<'_, f64>) -> Vec<usize> {
    inputs
        .rows()
        .into_iter()
        .map(|x| {
            let mut best = (0, f64::INFINITY);
            for (i, z) in points.rows().into_iter().enumerate() {
                let squared: f64 = x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum();
                if squared < best.1 {
                    best = (i, squared);
                }
            }
            best.0
        })
        .collect()
}

impl Learner for Dank {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let (labels, task, n) = (labels(&sample)?, sample.task(), sample.rows());
        fitting.limits.reserve(8 * (8 * n * n) as u64)?;
        let chosen = SvmCv::new(SvmCvParams::default())?.fit(&sample, fitting)?;
        let width_and_cost = (chosen.facts["width"], chosen.facts["cost"]);
        let mut present = labels.to_vec();
        present.sort_unstable();
        present.dedup();
        let mut machines = Vec::new();
        for (k, &first) in present.iter().enumerate() {
            for &second in &present[k + 1..] {
                let rows: Vec<usize> =
                    (0..n).filter(|&t| [first, second].contains(&labels[t])).collect();
                let positive: Vec<bool> = rows.iter().map(|&t| labels[t] == second).collect();
                let inputs = sample.inputs().select(Axis(0), &rows);
                let machine = DankMachine::fit(
                    inputs.view(),
                    &positive,
                    width_and_cost,
                    &self.params,
                    fitting,
                )?;
                machines.push(((first, second), machine));
            }
        }
        let steps = machines.iter().map(|(_, machine)| machine.steps).sum();
        let departure = machines.iter().map(|(_, machine)| {
            let f = &machine.matrix;
            f.mapv(|entry| (entry - 1.0).powi(2)).sum().sqrt() / f.nrows() as f64
        });
        let facts = facts([
            (fact::ROWS_USED, n as f64),
            ("width", width_and_cost.0),
            ("cost", width_and_cost.1),
            ("departure", departure.fold(0.0, f64::max)),
        ]);
        let convergence = if machines.iter().all(|(_, machine)| machine.converged) {
            Convergence::Converged { iterations: steps }
        } else {
            Convergence::NotConverged { iterations: steps, residual: f64::NAN }
        };
        let (features, extension) = (sample.features(), self.params.extension);
        let predictor = DankPredictor { task, features, extension, machines };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

struct DankPredictor {
    task: Task,
    features: usize,
    extension: Extension,
    machines: Vec<((u32, u32), DankMachine)>,
}

impl DankPredictor {
    fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let task: Task = state.value("task")?;
        let (features, extension) = (state.value("features")?, state.value("extension")?);
        let pairs: Vec<(u32, u32)> = state.value("pairs")?;
        let mut machines = Vec::new();
        for (k, &pair) in pairs.iter().enumerate() {
            let machine = DankMachine::restore(state.part(&format!("machine {k}"))?)?;
            let known = pair.0.max(pair.1) < task.outputs() as u32;
            if !known || machine.points.ncols() != features {
                let problem = format!("does not fit {task:?} of {features} columns");
                return Err(LearningError::State { name: format!("machine {k}"), problem });
            }
            machines.push((pair, machine));
        }
        Ok(Box::new(Self { task, features, extension, machines }))
    }
}

impl Predictor for DankPredictor {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn state(&self) -> State {
        let pairs: Vec<(u32, u32)> = self.machines.iter().map(|(pair, _)| *pair).collect();
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("extension", self.extension)
            .with("pairs", pairs);
        self.machines.iter().enumerate().fold(state, |state, (k, (_, machine))| {
            state.with_part(&format!("machine {k}"), machine.state())
        })
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for ((first, second), machine) in &self.machines {
            let values = machine.decision(inputs, self.extension);
            for (mut row, f) in scores.rows_mut().into_iter().zip(values) {
                if self.machines.len() == 1 {
                    row.fill(f64::NEG_INFINITY);
                    row[*first as usize] = -f;
                    row[*second as usize] = f;
                } else {
                    row[if f > 0.0 { *second } else { *first } as usize] += 1.0;
                }
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use mercer_linalg::symmetric_eigen;
    use ndarray::array;

    fn problem(eta: f64, tau: f64) -> DankProblem {
        DankProblem {
            gram: Base::Gaussian(1.0).gram(toy::points().view()),
            signs: toy::A.iter().map(|&label| if label == 1 { 1.0 } else { -1.0 }).collect(),
            cost: 1.0,
            tau,
            eta,
        }
    }

    fn solved(eta: f64, tau: f64) -> (ascent::Ascent, DankMachine) {
        let problem = problem(eta, tau);
        let mut check = || Ok(());
        let found = problem.maximise(&Array1::zeros(6), 1e-13, 50_000, &mut check).unwrap();
        let kernel = &found.matrix * &problem.gram;
        let signs: Vec<bool> = toy::A.iter().map(|&label| label == 1).collect();
        let smo = Smo { tolerance: 1e-13, max_steps: Some(100_000), ..Smo::default() };
        let dual = Dual::classification(&signs, 1.0).unwrap();
        let machine = smo.solve(&Precomputed::new(kernel.view()).unwrap(), &dual).unwrap();
        let points = toy::points();
        let machine = DankMachine {
            sections: Base::Gaussian(1.0).sections(points.view()),
            points,
            matrix: found.matrix.clone(),
            weights: machine.weights,
            bias: machine.bias,
            steps: found.steps,
            converged: true,
            width_and_cost: (1.0, 1.0),
        };
        (found, machine)
    }

    fn rank(matrix: &Array2<f64>) -> usize {
        symmetric_eigen(matrix.view()).unwrap().values.iter().filter(|d| **d > 1e-9).count()
    }

    fn golden() -> toml::Table {
        let all: toml::Table =
            include_str!("../../../experiments/golden/base.toml").parse().unwrap();
        all["base-3"].as_table().unwrap().clone()
    }

    fn numbers(golden: &toml::Table, name: &str) -> Array1<f64> {
        golden[name].as_array().unwrap().iter().map(|value| value.as_float().unwrap()).collect()
    }

    fn counts(golden: &toml::Table, name: &str) -> Vec<usize> {
        let values = golden[name].as_array().unwrap().iter();
        values.map(|value| value.as_integer().unwrap() as usize).collect()
    }

    #[test]
    fn golden_kernels() {
        let golden = golden();
        let number = |name: &str| golden[name].as_float().unwrap();
        let count = |name: &str| golden[name].as_integer().unwrap() as usize;
        let (found, machine) = solved(1.0, 1.0);
        let alpha = numbers(&golden, "alpha");
        assert_relative_eq!(found.value, number("value"), max_relative = 1e-8);
        assert_abs_diff_eq!(found.alpha, alpha, epsilon = 1e-8);
        // The machine with the adapted kernel has the same weights.
        assert_abs_diff_eq!(machine.weights.mapv(f64::abs), alpha, epsilon = 1e-7);
        assert_abs_diff_eq!(machine.bias, number("bias"), epsilon = 1e-8);
        let row = numbers(&golden, "first-row");
        assert_abs_diff_eq!(found.matrix.row(0).to_owned(), row, epsilon = 1e-8);
        assert_relative_eq!(found.matrix[[2, 2]], number("third"), max_relative = 1e-8);
        assert_relative_eq!(found.matrix.diag().sum(), number("trace"), max_relative = 1e-8);
        assert_eq!(rank(&found.matrix), count("rank"));
        let (found, machine) = solved(0.2, 2.0);
        assert_relative_eq!(found.value, number("second-value"), max_relative = 1e-8);
        assert_abs_diff_eq!(found.alpha, numbers(&golden, "second-alpha"), epsilon = 1e-8);
        assert_abs_diff_eq!(machine.bias, number("second-bias"), epsilon = 1e-8);
        assert_relative_eq!(found.matrix.diag().sum(), number("second-trace"), max_relative = 1e-8);
        assert_eq!(rank(&found.matrix), count("second-rank"));
    }

    #[test]
    fn golden_extension_to_reciprocal_neighbours() {
        let golden = golden();
        let (_, machine) = solved(1.0, 1.0);
        let test = array![[1.5, 0.5], [0.1, -0.2], [2.2, 2.4], [0.2, 0.3]];
        let nearest = counts(&golden, "neighbours");
        assert_eq!(neighbours(toy::points().view(), test.view()), nearest);
        let back = neighbours(test.view(), toy::points().view());
        let reciprocal: Vec<usize> =
            nearest.iter().enumerate().map(|(j, &i)| usize::from(back[i] == j)).collect();
        assert_eq!(reciprocal, counts(&golden, "reciprocal"));
        let found = machine.decision(test.view(), Extension::Reciprocal);
        assert_abs_diff_eq!(found, numbers(&golden, "decisions"), epsilon = 1e-8);
        // Alone, each test point is its neighbours' nearest.
        let alone = machine.decision(test.slice(ndarray::s![3.., ..]), Extension::Reciprocal);
        let nearest = machine.decision(test.view(), Extension::Nearest);
        assert_abs_diff_eq!(alone[0], nearest[3], epsilon = 1e-12);
    }

    #[test]
    fn the_free_settings_move_the_matrix_a_little() {
        let sample = toy::clouds(40, 2);
        let signs: Vec<bool> = sample.labels().unwrap().iter().map(|&label| label == 1).collect();
        let machine = DankMachine::fit(
            sample.inputs(),
            &signs,
            (1.0, 4.0),
            &DankParams::default(),
            &Fitting::seeded(1),
        )
        .unwrap();
        assert!(machine.converged, "{} steps", machine.steps);
        let departure = machine.matrix.mapv(|entry| (entry - 1.0).powi(2)).sum().sqrt() / 40.0;
        assert!((0.01..0.2).contains(&departure), "{departure}");
        for params in [
            DankParams { threshold: 0.0, ..Default::default() },
            DankParams { pull: -1.0, ..Default::default() },
            DankParams { steps: 0, ..Default::default() },
            DankParams { extension: Extension::Reciprocal, ..Default::default() },
        ] {
            assert!(Dank::new(params).is_err());
        }
    }
}
