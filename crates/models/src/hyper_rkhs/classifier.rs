use super::linear_stage::LinearStage;
use super::machine::Machines;
use super::predictor::HyperMachine;
use super::row_stage::RowStage;
use super::search::{Chosen, search, some_rows};
use super::settings::{HyperClassifierParams, Search, Stage1, Stage2};
use super::{Learned, PairTarget, Stopped, many_subsets, of_kernel};
use mercer_kernels::{HyperKernel, LearnedKernel};
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Outcome, SECOND_STAGE, Sample, Targets,
    Task, fact,
};
use mercer_linalg::in_order;
use mercer_solvers::Spectrum;
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;

/// A support vector machine (SVM) whose kernel is learned from the labels of training rows.
///
/// Stage 1 regresses the ideal kernel (`same` for two rows of a class, `other` else) in a hyper-kernel's space. Stage 2
/// is an SVM with the learned kernel for each two classes, and most votes win. Facts of a fit:
/// - the facts of stage 1;
/// - `smallest-eigenvalue`, `largest-eigenvalue`, `negative-mass` and [`fact::KERNEL_VARIATION`] of the learned Gram
///   matrix (of 1000 rows at most);
/// - with a tube also `negative-mass-without-bias`: the regression's bias adds a constant to the kernel, which is of no
///   consequence to an SVM that has its own bias;
/// - `support-vectors` of the SVMs, `rows-kept` in the model (all of them with a corrected spectrum), `machines`,
///   `machine-rows` and `stage-1-rows`.
///
/// `pairs` are ordered pairs, however the solver counts them; with [`Search::Folds`] what it chose and
/// `search-not-converged`.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Sample};
/// use mercer_models::hyper_rkhs::HyperClassifierParams;
/// use ndarray::array;
/// // Exclusive or.
/// let corners = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
/// let sample = Sample::classification(corners, vec![0, 0, 1, 1], 2)?;
/// let learner = HyperClassifierParams { width: 0.5, cost: 10.0, ..Default::default() }.checked()?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(sample.inputs())?;
/// assert_eq!(said, mercer_learning::Predictions::Classes(vec![0, 0, 1, 1]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HyperClassifier(HyperClassifierParams);

/// Rows whose learned Gram matrix is decomposed for the record.
const SPECTRUM_ROWS: usize = 1000;
/// Rows of it that are looked at where signed features take the place of the matrix.
const FEW_ROWS: usize = 200;

impl HyperClassifierParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<HyperClassifier, LearningError> {
        self.check()?;
        Ok(HyperClassifier(self))
    }

    /// Stage 1 on all of these points at once. The defaults must fit few rows too; settings that were
    /// chosen are held to.
    fn learn_one(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let target = PairTarget::classes(labels, self.same, self.other)?;
        if self.stage1 == Stage1::Svr {
            let mut svr = self.svr();
            if self.landmarks.is_none() {
                svr.landmarks = svr.landmarks.min(inputs.nrows());
            }
            return svr.learn(kernel, inputs, &target, fitting);
        }
        let mut ridge = self.ridge();
        if ridge.landmarks.is_none() && inputs.nrows() > NON_NEGATIVE_POINTS {
            ridge.landmarks = Some(NON_NEGATIVE_LANDMARKS);
        }
        ridge.learn(kernel, inputs, &target, fitting)
    }
}

impl HyperClassifier {
    /// Returns the settings.
    pub const fn params(&self) -> &HyperClassifierParams {
        &self.0
    }

    /// Stage 1 alone: the kernel learned for the rows of `inputs` and their labels.
    ///
    /// # Errors
    /// As [`PairRidge::learn`](super::PairRidge::learn) and [`PairSvr::learn`](super::PairSvr::learn).
    pub fn learn_kernel(
        &self,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let params = &self.0;
        let kernel = params.kernel(inputs)?;
        let target = PairTarget::classes(labels, params.same, params.other)?;
        match params.stage1 {
            Stage1::Ridge => params.ridge().learn(&kernel, inputs, &target, fitting),
            _ if params.subsets == 1 => params.learn_one(&kernel, inputs, labels, fitting),
            _ => self.learn_by_subsets(&kernel, inputs, labels, fitting),
        }
    }

    /// The average of kernels learned on disjoint random subsets, each with its own landmarks and, if they are counted,
    /// its own pairs.
    fn learn_by_subsets(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let (params, m) = (&self.0, inputs.nrows());
        let v = params.subsets;
        if v > m / 2 {
            return Err(many_subsets(v, m));
        }
        let mut rows: Vec<usize> = (0..m).collect();
        rows.shuffle(&mut fitting.streams.rng("subsets"));
        let (streams, limits) = (&fitting.streams, fitting.limits);
        let parts = in_order(fitting.threads, v, |part| {
            let mut chosen = rows[m * part / v..m * (part + 1) / v].to_vec();
            chosen.sort_unstable();
            let own: Vec<u32> = chosen.iter().map(|&row| labels[row]).collect();
            let streams = streams.child(&format!("subset {part}"));
            let inner = Fitting { streams, limits, ..Fitting::seeded(0) };
            params.learn_one(kernel, inputs.select(Axis(0), &chosen).view(), &own, &inner)
        });
        let parts = parts.into_iter().collect::<Result<Vec<Learned>, _>>()?;
        let kernels: Vec<_> = parts.iter().map(|part| part.kernel.clone()).collect();
        let mut facts = std::collections::BTreeMap::new();
        for part in &parts {
            for (name, &value) in &part.facts {
                // Work adds up; of how far a solver came, the worst part tells.
                let summed = SUMMED.contains(&name.as_str());
                let join =
                    |all: &mut f64| *all = if summed { *all + value } else { all.max(value) };
                facts.entry(name.clone()).and_modify(join).or_insert(value);
            }
        }
        let lacking = PairTarget::classes(labels, params.same, params.other)?.lacking(&rows, v);
        if lacking > 0 {
            facts.insert(fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), lacking as f64);
        }
        let open = |part: &&Learned| part.convergence.is_open();
        let convergence = parts.iter().find(open).unwrap_or(&parts[0]).convergence;
        Ok(Learned {
            kernel: LearnedKernel::mean(&kernels).map_err(of_kernel)?,
            convergence,
            facts,
        })
    }
}

/// Facts of subsets whose sum is the fact of the whole fit.
const SUMMED: [&str; 5] =
    ["iterations", "landmark-pairs", "pairs", "support-pairs", "machine-steps"];

/// Rows up to which all pairs may have a coefficient, and landmarks beyond.
const NON_NEGATIVE_POINTS: usize = 40;
const NON_NEGATIVE_LANDMARKS: usize = 20;

/// How far the values of a kernel for two rows that differ lie apart: largest less smallest, as a share of its largest.
/// Where the values are all the same, the kernel knows only that two rows differ. `None` of so few rows that equal
/// values are no surprise.
fn variation(gram: ArrayView2<'_, f64>, points: ArrayView2<'_, f64>) -> Option<f64> {
    if gram.nrows() < 4 {
        return None;
    }
    let apart = |&((i, j), _): &((usize, usize), &f64)| i != j && points.row(i) != points.row(j);
    let off = gram.indexed_iter().filter(apart).map(|(_, &k)| k);
    let (least, most) =
        off.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), k| (a.min(k), b.max(k)));
    let largest = gram.iter().fold(0.0f64, |all, k| all.max(k.abs()));
    // No two rows that differ: nothing is said.
    (most >= least).then(|| if largest > 0.0 { (most - least) / largest } else { 0.0 })
}

/// What the eigenvalues of a learned Gram matrix say, and what they say without the regression's bias where
/// it has one.
fn spectrum_facts(
    gram: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
    bias: f64,
) -> Result<Vec<(String, f64)>, LearningError> {
    let of = |gram: ArrayView2<'_, f64>| {
        Spectrum::of(gram)
            .map_err(|error| Stopped::from(error).in_words("the spectrum of the learned kernel"))
    };
    let spectrum = of(gram)?;
    let mut facts = vec![
        ("smallest-eigenvalue", spectrum.smallest()),
        ("largest-eigenvalue", spectrum.values().last().copied().unwrap_or(0.0)),
        ("negative-mass", spectrum.negative_share()),
    ];
    facts.extend(variation(gram, points).map(|variation| (fact::KERNEL_VARIATION, variation)));
    // A machine has a bias of its own: the kernel's is a negative eigenvalue without a consequence.
    if bias != 0.0 {
        facts.push(("negative-mass-without-bias", of((&gram - bias).view())?.negative_share()));
    }
    Ok(facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What a second stage is fitted to.
struct Second<'a> {
    task: Task,
    params: &'a HyperClassifierParams,
    learned: Learned,
    points: Array2<f64>,
    labels: Vec<u32>,
    /// Rows of stage 1.
    first: usize,
}

impl Second<'_> {
    /// SVMs on all of the rows, by kernel rows that are computed as they are asked for.
    fn by_rows(mut self, fitting: &Fitting<'_>) -> Result<Fitted, LearningError> {
        let (kernel, points) = (&self.learned.kernel, self.points.view());
        let (stage, ended) =
            RowStage::fit(self.task, kernel, points, &self.labels, self.params.cost, fitting)?;
        self.look(fitting);
        let mut facts = self.learned.facts;
        let (support, machines) = stage.counts();
        for (name, value) in [
            ("support-vectors", support),
            ("machines", machines),
            ("machine-rows", self.points.nrows()),
            ("machine-steps", ended.steps),
            ("stage-1-rows", self.first),
        ] {
            facts.insert(name.to_owned(), value as f64);
        }
        let convergence = ended_by(self.learned.convergence, ended.convergence, ended.steps);
        Ok(Outcome { predictor: stage, convergence, facts }.boxed())
    }

    /// Ridge classification on signed features.
    fn by_features(mut self, fitting: &Fitting<'_>) -> Result<Fitted, LearningError> {
        let (kernel, points) = (&self.learned.kernel, self.points.view());
        let how = (self.params.cost, self.params.feature_rank);
        let stage = LinearStage::fit(self.task, kernel, points, &self.labels, how, fitting)?;
        let (features, negative) = stage.counts();
        let (looked, gram) = self.look(fitting);
        let mut facts = self.learned.facts;
        for (name, value) in [
            ("features", features as f64),
            ("negative-features", negative as f64),
            (fact::FEATURES_ERROR, stage.error(looked.view(), gram.view())),
            ("machine-rows", self.points.nrows() as f64),
            ("stage-1-rows", self.first as f64),
        ] {
            facts.insert(name.to_owned(), value);
        }
        let convergence = self.learned.convergence;
        Ok(Outcome { predictor: stage, convergence, facts }.boxed())
    }

    /// A few of the rows and the learned Gram matrix of them, whose [`variation`] becomes a fact.
    fn look(&mut self, fitting: &Fitting<'_>) -> (Array2<f64>, Array2<f64>) {
        let looked = some_rows(self.points.nrows(), FEW_ROWS, "spectrum", fitting);
        let looked = self.points.select(Axis(0), &looked);
        let gram = self.learned.kernel.gram(looked.view(), fitting.threads);
        let variation = variation(gram.view(), looked.view());
        let facts = &mut self.learned.facts;
        facts.extend(variation.map(|value| (fact::KERNEL_VARIATION.to_owned(), value)));
        (looked, gram)
    }

    /// SVMs on the learned Gram matrix.
    fn by_matrix(
        self,
        searched: Option<&Chosen>,
        fitting: &Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let Self { task, params, learned, points, labels, first } = self;
        let n = points.nrows();
        fitting.limits.reserve(8 * (3 * n * n) as u64)?;
        let gram = learned.kernel.gram(points.view(), fitting.threads);
        fitting.limits.check()?;
        let machines = Machines::fit(gram.view(), &labels, params.cost, params.spectrum, fitting)?;
        let looked = some_rows(n, SPECTRUM_ROWS, "spectrum", fitting);
        let part = gram.select(Axis(0), &looked).select(Axis(1), &looked);
        drop(gram);
        let mut facts = learned.facts;
        let at = points.select(Axis(0), &looked);
        facts.extend(spectrum_facts(part.view(), at.view(), learned.kernel.bias())?);
        let (machine_steps, support) = (machines.steps, machines.support);
        let machine = if machines.converged {
            None
        } else {
            let (iterations, residual) = (machines.steps, machines.violation);
            Some(Convergence::NotConverged { iterations, residual })
        };
        let count = machines.pairs.len();
        let predictor = HyperMachine::new(task, learned.kernel, points.view(), machines);
        for (name, value) in [
            ("support-vectors", support as f64),
            ("rows-kept", predictor.support() as f64),
            ("machines", count as f64),
            ("machine-rows", n as f64),
            ("machine-steps", machine_steps as f64),
            ("stage-1-rows", first as f64),
        ] {
            facts.insert(name.to_owned(), value);
        }
        if let Some(searched) = searched {
            facts.extend(searched.facts());
        }
        let convergence = ended_by(learned.convergence, machine, machine_steps);
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

/// How a fit of two stages ended.
fn ended_by(learned: Convergence, machine: Option<Convergence>, steps: usize) -> Convergence {
    match (learned, machine) {
        (open, _) if open.is_open() => open,
        (_, Some(open)) => open,
        (Convergence::Exact, None) => Convergence::Converged { iterations: steps },
        (closed, None) => closed,
    }
}

impl Learner for HyperClassifier {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        let Targets::Classes { labels, .. } = sample.targets() else {
            let method = "hyper-krr".to_owned();
            return Err(LearningError::Task { method, task: sample.task().name() });
        };
        let inputs = sample.inputs();
        let searched = match self.0.search {
            Search::None => None,
            Search::Folds
            | Search::PrintedFolds
            | Search::FittedFolds
            | Search::RegularisedFolds => Some(search(&self.0, inputs, labels, fitting)?),
        };
        let mut worker =
            Self(searched.as_ref().map_or_else(|| self.0.clone(), |s| s.params.clone()));
        if worker.0.points < sample.rows() {
            // A tuner's early rungs have fewer points than the full fit has landmarks.
            let most = worker.0.points / worker.0.subsets.max(1);
            worker.0.landmarks = worker.0.landmarks.map(|landmarks| landmarks.min(most.max(1)));
        }
        // Also where all pairs have a coefficient and landmarks are not looked at.
        if worker.0.subsets <= sample.rows() / 2 {
            worker.0.ridge().landmarks_of(sample.rows() / worker.0.subsets)?;
        }
        let params = &worker.0;
        let select = |rows: &[usize]| -> (Array2<f64>, Vec<u32>) {
            (inputs.select(Axis(0), rows), rows.iter().map(|&row| labels[row]).collect())
        };
        let first = some_rows(sample.rows(), params.points, "stage 1", fitting);
        let (points, own) = select(&first);
        let mut learned = worker.learn_kernel(points.view(), &own, fitting)?;
        fitting.limits.check()?;
        let second = some_rows(sample.rows(), params.machine_rows, SECOND_STAGE, fitting);
        let (points, labels) = select(&second);
        let first = first.len();
        learned.facts.extend(params.unread(first));
        let second = Second { task: sample.task(), params, learned, points, labels, first };
        match params.stage2 {
            Stage2::Features => second.by_features(fitting),
            Stage2::Rows => second.by_rows(fitting),
            Stage2::Machine => second.by_matrix(searched.as_ref(), fitting),
        }
    }
}
