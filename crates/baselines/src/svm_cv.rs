use crate::gaussian_svm::{GaussianSvm, GaussianSvmParams};
use crate::kernel_machine::{
    Base, CAP, Combination, FOLDS, MachinePredictor, Stop, TOLERANCE, convergence, facts, folds_of,
    labels, powers,
};
use crate::subsample::at_most;
use mercer_kernels::std_of_bandwidth;
use mercer_learning::{
    Allowed, ConvergenceHint, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Predictions, Sample, Settings, Space, Tasks, declared, fact, with_hints,
};
use mercer_solvers::{CostChoice, OneVersusOne, Smo, choose_cost};
use ndarray::Axis;
use serde::{Deserialize, Serialize};

pub(crate) const METHOD: Method = Method {
    name: "svm-cv",
    title: "SVM-CV",
    summary: "Gaussian support vector machine, width and cost by 5-fold cross-validation over 121 cells",
    formula: "SVM with k(x, z) = exp(−‖x − z‖²/(2σ²)); σ and C by 5-fold cross-validation over 121 pairs",
    when: "the baseline of the hyper-RKHS paper; takes no tuning of its own",
    cites: "Cortes & Vapnik (1995)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "11 (n^2 d + 55 n · iterations), iterations = n, n = min(n, cap)",
        predict: "n_sv d",
        memory: "n^2",
    },
    // The search over the grid is the method: a tuner has nothing to add.
    resource: None,
    warnings: &[],
    settings: &|| {
        let hints = [("tolerance", ConvergenceHint::Larger)];
        with_hints(declared::<SvmCvParams>(), &hints)
    },
    defaults: &|_| Settings::of(&SvmCvParams::default()),
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(SvmCv::new(settings.read("svm-cv")?)?)),
    restore: &MachinePredictor::restore,
};

/// Who solves the dual problems.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_baselines::{Engine, SvmCvParams};
/// // Costs upwards from each other's solutions, unless linfa's solver is asked for.
/// let read = |word: &str| Settings::new().with("engine", word).read::<SvmCvParams>("svm-cv");
/// assert_eq!(read("linfa")?.engine, Engine::Linfa);
/// assert_eq!(SvmCvParams::default().engine, Engine::Smo);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("smo, linfa"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// [`Smo`]: a kernel matrix a width, and costs upwards from each other's solutions.
    Smo,
    /// linfa-svm: every cell afresh.
    Linfa,
}

mercer_learning::parameters! {
    /// Settings of [`SvmCv`].
    ///
    /// ```
    /// use mercer_baselines::{SvmCv, SvmCvParams};
    /// use mercer_learning::{Fitting, Sample};
    /// use ndarray::Array2;
    /// let x = Array2::from_shape_fn((20, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
    /// let sample = Sample::classification(x, (0..20).map(|i| i % 2).collect(), 2)?;
    /// let grid = SvmCv::new(SvmCvParams::default())?.grid(&sample, &Fitting::seeded(1))?;
    /// assert_eq!((grid.len(), grid[0].1.right.len()), (11, 11)); // widths by costs
    /// assert!(grid.windows(2).all(|pair| pair[0].0 > pair[1].0)); // the widest first
    /// assert!(SvmCv::new(SvmCvParams { cap: 1, ..Default::default() }).is_err());
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct SvmCvParams {
        /// Who solves the dual problems of the grid; the final machines are always ours.
        pub engine: Engine = Engine::Smo;
        /// No pair of dual variables violates optimality by more than this.
        pub tolerance: f64 = 1e-3, TOLERANCE;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = CAP, Allowed::PAIR;
    }
}

/// Gaussian C-SVC, one SVM a pair of classes, with `σ` and `C` in `2⁻⁵ .. 2⁵` by 5-fold cross-validation on the
/// training rows: the widest kernel, then the smallest cost, among the cells with the most rows right.
///
/// The facts hold the choice (`width`, `cost`) and the accuracy of its cell
/// (`validation-accuracy`).
///
/// ```
/// use linfa::{DatasetBase, traits::{Fit, Predict}};
/// use mercer_baselines::{SvmCv, SvmCvParams};
/// use mercer_learning::Estimator;
/// use ndarray::{Array1, Array2};
/// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i as f64 - 20.0) / 10.0);
/// let y: Array1<usize> = x.column(0).mapv(|x| usize::from(x.abs() < 1.0));
/// let estimator = Estimator { learner: SvmCv::new(SvmCvParams::default())?, seed: 1 };
/// let fitted = estimator.fit(&DatasetBase::new(x, y))?;
/// assert_eq!(fitted.predict(&ndarray::array![[0.0], [-1.7]]), ndarray::array![1, 0]);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SvmCv {
    params: SvmCvParams,
}

impl SvmCv {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: SvmCvParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }

    /// Returns rows classified right while held out, for each cell of the grid. Widths are rows, widest first; costs
    /// are columns, ascending.
    ///
    /// # Errors
    /// As [`Learner::fit`].
    pub fn grid(
        &self,
        sample: &Sample,
        fitting: &Fitting<'_>,
    ) -> Result<Vec<(f64, CostChoice)>, LearningError> {
        let labels = labels(sample)?;
        let held = folds_of(labels, fitting);
        let smo = Smo { tolerance: self.params.tolerance, ..Smo::default() };
        let (n, costs) = (sample.rows(), powers());
        fitting.limits.reserve(8 * 3 * (n * n) as u64)?;
        let mut grid = Vec::new();
        for width in powers().into_iter().rev() {
            let choice = match self.params.engine {
                Engine::Smo => {
                    let gram = Base::Gaussian(width).gram(sample.inputs());
                    let check = || fitting.limits.check().map_err(Stop::Limit);
                    choose_cost(gram.view(), labels, &held, &costs, &smo, check)?
                }
                Engine::Linfa => {
                    let mut right = Vec::new();
                    let mut converged = true;
                    for &cost in &costs {
                        fitting.limits.check()?;
                        let (count, met) =
                            self.right_by_linfa(sample, &held, width, cost, fitting)?;
                        right.push(count);
                        converged &= met;
                    }
                    let most = right.iter().max().copied().unwrap_or(0);
                    let place = right.iter().position(|&count| count == most).unwrap_or(0);
                    CostChoice { cost: costs[place], right, converged }
                }
            };
            grid.push((width, choice));
        }
        Ok(grid)
    }

    /// Rows of a cell classified right by SVMs of linfa, and whether all converged.
    fn right_by_linfa(
        &self,
        sample: &Sample,
        held: &[usize],
        width: f64,
        cost: f64,
        fitting: &Fitting<'_>,
    ) -> Result<(usize, bool), LearningError> {
        let (std, tolerance) = (Some(std_of_bandwidth(width)), self.params.tolerance);
        let params =
            GaussianSvmParams { cost, std, tolerance, cap: usize::MAX, ..Default::default() };
        let machine = GaussianSvm::new(params)?;
        let labels = labels(sample)?;
        let (mut right, mut converged) = (0, true);
        for fold in 0..FOLDS {
            let part = |is: bool| -> Vec<usize> {
                (0..held.len()).filter(|&row| (held[row] == fold) == is).collect()
            };
            let (test, train) = (part(true), part(false));
            if test.is_empty() || train.is_empty() {
                continue;
            }
            let known: Vec<u32> = test.iter().map(|&row| labels[row]).collect();
            let train = sample.select(&train)?;
            if train.require_two_classes().is_err() {
                let only = train.labels().and_then(|labels| labels.first());
                right += known.iter().filter(|label| Some(*label) == only).count();
                continue;
            }
            let streams = fitting.streams.child("linfa");
            let mut inner = Fitting { streams, limits: fitting.limits, ..Fitting::seeded(0) };
            let fitted = machine.fit(&train, &mut inner)?;
            converged &= !fitted.convergence.is_open();
            let said = fitted.predictor.predict(sample.select(&test)?.inputs())?;
            if let Predictions::Classes(said) = said {
                right += known.iter().zip(&said).filter(|(a, b)| a == b).count();
            }
        }
        Ok((right, converged))
    }
}

impl Learner for SvmCv {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        let grid = self.grid(&sample, fitting)?;
        let most = grid.iter().flat_map(|(_, choice)| &choice.right).max().copied().unwrap_or(0);
        let (width, choice) = grid
            .iter()
            .find(|(_, choice)| choice.right.contains(&most))
            .expect("some cell has the most rows right");
        let (labels, n) = (labels(&sample)?, sample.rows());
        let base = Base::Gaussian(*width);
        let gram = base.gram(sample.inputs());
        let smo = Smo { tolerance: self.params.tolerance, ..Smo::default() };
        let check = || fitting.limits.check().map_err(Stop::Limit);
        let machine =
            OneVersusOne::path(gram.view(), labels, &[choice.cost], &smo, check)?.swap_remove(0);
        let support = machine.support();
        let rows = sample.inputs().select(Axis(0), &support);
        let kernel = Combination::new(&[base], &[1.0], rows.view());
        let facts = facts([
            (fact::ROWS_USED, n as f64),
            ("width", *width),
            ("cost", choice.cost),
            ("validation-accuracy", most as f64 / n as f64),
            ("support-vectors", support.len() as f64),
            ("kkt-violation", machine.violation),
        ]);
        let convergence = convergence(&machine);
        let machine = machine.kept(&support);
        let predictor = MachinePredictor { task: sample.task(), kernel, machine };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn rings(n: usize, classes: u32) -> Sample {
        let noise = |t: usize| (t * 7919 % 997) as f64 / 997.0;
        let labels: Vec<u32> = (0..n).map(|t| t as u32 % classes).collect();
        let inputs = Array2::from_shape_fn((n, 2), |(t, j)| {
            let angle = std::f64::consts::TAU * noise(t);
            let radius = 0.5 + 0.6 * f64::from(labels[t]) + 0.8 * (noise(t * 31 + 7) - 0.5);
            radius * if j == 0 { angle.cos() } else { angle.sin() }
        });
        Sample::classification(inputs, labels, classes as usize).unwrap()
    }

    #[test]
    fn both_engines_count_the_same_rows_right_in_every_cell() {
        for classes in [2, 3] {
            let sample = rings(60, classes);
            let grid = |engine| {
                let learner =
                    SvmCv::new(SvmCvParams { engine, tolerance: 1e-8, cap: 100 }).unwrap();
                learner.grid(&sample, &Fitting::seeded(3)).unwrap()
            };
            let (ours, theirs) = (grid(Engine::Smo), grid(Engine::Linfa));
            assert_eq!((ours.len(), ours[0].1.right.len()), (11, 11));
            assert_eq!(ours, theirs);
            let most = ours.iter().flat_map(|(_, choice)| &choice.right).max().unwrap();
            assert!(*most > 40, "{most} of 60 rows right");
        }
    }

    #[test]
    fn rows_above_the_cap_are_left_out_and_counted() {
        let params = SvmCvParams { cap: 30, ..Default::default() };
        let fitted =
            SvmCv::new(params).unwrap().fit(&rings(60, 2), &mut Fitting::seeded(1)).unwrap();
        assert!((fitted.facts["rows-used"] - 30.0).abs() < 1e-12);
        assert!(SvmCv::new(SvmCvParams { cap: 1, ..Default::default() }).is_err());
        assert!(SvmCv::new(SvmCvParams { tolerance: 0.0, ..Default::default() }).is_err());
    }
}
