use crate::bmkl::{BmklParams, Fit, fit_rows};
use crate::kernel_machine::{facts, labels, scores};
use mercer_learning::{
    Allowed, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method, Outcome,
    Parameters, Predictor, Sample, Settings, Space, State, Task, Tasks, declared, fact,
};
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub(crate) const METHOD: Method = Method {
    name: "distributed-bmkl",
    title: "distributed BMKL",
    summary: "BMKL on disjoint random parts of the training rows, their outputs averaged",
    formula: "the mean of `bmkl` on v disjoint random parts of the rows",
    when: "`bmkl` on more than some thousand rows",
    cites: "Gönen (2012); Liu, Shi, Huang, Yang & Suykens (2021)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        // A value of a kernel takes 6 ns, as long as some 700 of the terms of the factorisations: as much for
        // all parts together, however many there are.
        fit: "parts r (200 K r^2 + 14 (d + 700) n_test), r = min(n/parts, cap)",
        predict: "P n (d + K)",
        memory: "P n^2/parts^2, P = 14",
    },
    resource: None,
    warnings: &[],
    settings: &declared::<DistributedBmklParams>,
    defaults: &|shape| {
        let parts = shape.rows.div_ceil(2500).max(2);
        Settings::of(&DistributedBmklParams { parts, ..Default::default() })
    },
    user_defaults: &mercer_learning::same_as_study,
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(DistributedBmkl::new(settings.read("distributed-bmkl")?)?)),
    restore: &Averaged::restore,
};

mercer_learning::parameters! {
    /// Settings of [`DistributedBmkl`].
    ///
    /// ```
    /// use mercer_baselines::{BASELINES, DistributedBmkl, DistributedBmklParams};
    /// use mercer_learning::{Shape, Task, find};
    /// let refused = DistributedBmkl::new(DistributedBmklParams { parts: 0, ..Default::default() }).unwrap_err();
    /// assert_eq!(refused.to_string(), "setting `parts` is 0; it must be at least 1");
    /// // As many parts as leave 2500 rows each.
    /// let shape = Shape { rows: 10_000, features: 3, task: Task::Classification { classes: 2 } };
    /// let defaults = (find(BASELINES, "distributed-bmkl")?.defaults)(&shape);
    /// assert_eq!(defaults.get("parts"), Some(&4.into()));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct DistributedBmklParams {
        /// Number of parts `v`.
        pub parts: usize = 2, Allowed::COUNT;
        /// How the parts' outputs are merged.
        pub merge: Merge = Merge::Mean;
        /// Variational iterations in each part.
        pub iterations: usize = 200, Allowed::COUNT;
        /// Rows of a part at most; the others are left out.
        pub cap: usize = 2500, Allowed::PAIR;
    }
}

/// How the outputs of parts become one.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_baselines::{DistributedBmklParams, Merge};
/// // How the paper merges its parts is not said: the mean, unless votes are asked for.
/// let read = |word: &str| Settings::new().with("merge", word).read::<DistributedBmklParams>("distributed-bmkl");
/// assert_eq!(read("vote")?.merge, Merge::Vote);
/// assert_eq!(DistributedBmklParams::default().merge, Merge::Mean);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("mean, vote"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// The mean of `f`.
    Mean,
    /// A vote a part, ties to the smaller class.
    Vote,
}

/// [`crate::Bmkl`] by divide and conquer. It has `v` disjoint random parts of the training rows, each with its own
/// start, and takes the mean of their outputs. How the paper merges the parts is not said.
///
/// Every part must hold two classes: parts are stratified, so only a class with fewer rows than
/// parts can be missing from some, which then say no to it.
///
/// ```
/// use mercer_baselines::{DistributedBmkl, DistributedBmklParams};
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use ndarray::{Array2, array};
/// let x = Array2::from_shape_fn((16, 1), |(i, _)| if i % 2 == 0 { -1.0 } else { 1.0 } + 0.01 * i as f64);
/// let sample = Sample::classification(x, (0..16).map(|i| i % 2).collect(), 2)?;
/// let learner = DistributedBmkl::new(DistributedBmklParams { iterations: 20, ..Default::default() })?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// let said = fitted.predictor.predict(array![[-1.0], [1.1]].view())?;
/// assert_eq!(said, Predictions::Classes(vec![0, 1]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DistributedBmkl {
    params: DistributedBmklParams,
}

impl DistributedBmkl {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: DistributedBmklParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }
}

impl Learner for DistributedBmkl {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let (labels, task) = (labels(sample)?, sample.task());
        let v = self.params.parts;
        if v > sample.rows() / 2 {
            let must = "at most half the training rows";
            return Err(LearningError::Setting { name: "parts", value: v.to_string(), must });
        }
        let held = if v == 1 {
            vec![0; labels.len()]
        } else {
            mercer_learning::folds(labels, v, &mut fitting.streams.rng("parts"))
        };
        let params = BmklParams { iterations: self.params.iterations, ..Default::default() };
        let (mut fits, mut used, mut lacking) = (Vec::new(), 0, 0);
        let present = distinct(labels);
        for part in 0..v {
            let mut rows: Vec<usize> = (0..held.len()).filter(|&t| held[t] == part).collect();
            if rows.len() > self.params.cap {
                rows.shuffle(&mut fitting.streams.rng(&format!("rows of part {part}")));
                rows.truncate(self.params.cap);
                rows.sort_unstable();
            }
            used += rows.len();
            let inputs = sample.inputs().select(Axis(0), &rows);
            let own: Vec<u32> = rows.iter().map(|&t| labels[t]).collect();
            lacking += usize::from(distinct(&own) < present);
            // One part is the method itself, with its own start.
            let purpose = if v == 1 { "bmkl".to_owned() } else { format!("bmkl {part}") };
            fits.push(fit_rows(&params, inputs.view(), &own, task.outputs(), fitting, &purpose)?);
        }
        let bound = fits.iter().map(|fit| fit.bound).sum();
        let mut facts =
            facts([(fact::ROWS_USED, used as f64), ("parts", v as f64), ("bound", bound)]);
        if lacking > 0 {
            facts.insert(fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), lacking as f64);
        }
        let (features, merge) = (sample.features(), self.params.merge);
        let predictor = Averaged { task, features, merge, fits };
        let convergence = Convergence::FixedSteps { steps: v * self.params.iterations };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

/// How many classes have a row.
fn distinct(labels: &[u32]) -> usize {
    labels.iter().collect::<BTreeSet<_>>().len()
}

struct Averaged {
    task: Task,
    features: usize,
    merge: Merge,
    fits: Vec<Fit>,
}

impl Averaged {
    fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let (task, merge): (Task, Merge) = (state.value("task")?, state.value("merge")?);
        let part = |k: usize| Fit::restore(state.part(&format!("part {k}"))?, task);
        let fits =
            (0..state.value("parts")?).map(part).collect::<Result<Vec<_>, LearningError>>()?;
        let features: usize = state.value("features")?;
        if fits.is_empty() || fits.iter().any(|fit| fit.features() != features) {
            let problem = format!("there must be at least one, of {features} columns");
            return Err(LearningError::State { name: "parts".to_owned(), problem });
        }
        Ok(Box::new(Self { task, features, merge, fits }))
    }
}

impl Predictor for Averaged {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn state(&self) -> State {
        let state = State::new()
            .with("task", self.task)
            .with("merge", self.merge)
            .with("features", self.features)
            .with("parts", self.fits.len());
        self.fits
            .iter()
            .enumerate()
            .fold(state, |state, (k, fit)| state.with_part(&format!("part {k}"), fit.state()))
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut sum = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for fit in &self.fits {
            let scores = scores(fit.outputs(inputs).0, self.task);
            match self.merge {
                Merge::Mean => sum.scaled_add(1.0 / self.fits.len() as f64, &scores),
                Merge::Vote => {
                    for (mut votes, row) in sum.rows_mut().into_iter().zip(scores.rows()) {
                        votes[mercer_learning::argmax(row) as usize] += 1.0;
                    }
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmkl::Bmkl;
    use crate::toy::clouds;
    use approx::assert_abs_diff_eq;

    fn decision(learner: &dyn Learner, sample: &Sample) -> Array2<f64> {
        let fitted = learner.fit(sample, &mut Fitting::seeded(5)).unwrap();
        fitted.predictor.decision(sample.inputs())
    }

    #[test]
    fn one_part_is_the_method_itself_and_votes_are_whole() {
        let sample = clouds(45, 3);
        let params = DistributedBmklParams { parts: 1, iterations: 20, ..Default::default() };
        let one = DistributedBmkl::new(params.clone()).unwrap();
        let whole = Bmkl::new(BmklParams { iterations: 20, ..Default::default() }).unwrap();
        assert_abs_diff_eq!(decision(&one, &sample), decision(&whole, &sample), epsilon = 1e-12);
        let params = DistributedBmklParams { parts: 3, merge: Merge::Vote, ..params };
        let votes = decision(&DistributedBmkl::new(params).unwrap(), &sample);
        assert!(votes.rows().into_iter().all(|row| (row.sum() - 3.0).abs() < 1e-12));
    }

    #[test]
    fn identical_parts_say_what_one_says() {
        let sample = clouds(30, 2);
        let params =
            BmklParams { iterations: 20, start: crate::Start::Plain, ..Default::default() };
        let fit = || {
            let labels = sample.labels().unwrap();
            fit_rows(&params, sample.inputs(), labels, 2, &Fitting::seeded(1), "part").unwrap()
        };
        let averaged =
            |fits| Averaged { task: sample.task(), features: 2, merge: Merge::Mean, fits };
        let two = averaged(vec![fit(), fit()]).decision(sample.inputs());
        let one = averaged(vec![fit()]).decision(sample.inputs());
        assert_abs_diff_eq!(two, one, epsilon = 1e-12);
    }

    /// A class of one row is in one of three parts.
    #[test]
    fn parts_without_a_class_are_counted() {
        let whole = clouds(30, 2);
        let fact = |sample: &Sample| {
            let params = DistributedBmklParams { parts: 3, iterations: 5, ..Default::default() };
            let learner = DistributedBmkl::new(params).unwrap();
            let facts = learner.fit(sample, &mut Fitting::seeded(5)).unwrap().facts;
            facts.get(fact::SUBSETS_WITHOUT_A_CLASS).copied()
        };
        assert_eq!(fact(&whole), None);
        let mut labels = whole.labels().unwrap().to_vec();
        labels[0] = 2;
        let rare = Sample::classification(whole.inputs().to_owned(), labels, 3).unwrap();
        assert_eq!(fact(&rare), Some(2.0));
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for params in [
            DistributedBmklParams { parts: 0, ..Default::default() },
            DistributedBmklParams { iterations: 0, ..Default::default() },
            DistributedBmklParams { cap: 1, ..Default::default() },
        ] {
            assert!(DistributedBmkl::new(params).is_err());
        }
        let sample = clouds(10, 2);
        let many = DistributedBmklParams { parts: 6, ..Default::default() };
        let refused = DistributedBmkl::new(many).unwrap().fit(&sample, &mut Fitting::seeded(1));
        assert!(matches!(refused.err(), Some(LearningError::Setting { name: "parts", .. })));
    }
}
