use crate::design::Design;
use crate::null::{nearest_mean_errors, stream, two_classes};
use crate::random::SplitMix;
use crate::{Ours, Published, StatisticsError, Verdict, summarise, verdict, wilson_interval};
use serde::{Deserialize, Serialize};

/// Two studies of the same method on the same rows. Any verdict that they differ is wrong.
///
/// Two classes with means `∓ signal` in each of `inputs` unit normal columns; a row goes to the nearer class mean of
/// the training part. Each study draws splits of its own.
///
/// ```
/// use mercer_statistics::SameProcedure;
/// let study = SameProcedure::default();
/// let (ours, paper) = study.accuracies(3);
/// assert_eq!((ours.len(), paper.len()), (10, 30));
/// assert_eq!(study.accuracies(3), study.accuracies(3)); // a study is told by its number
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SameProcedure {
    /// Rows of the sample.
    pub rows: usize,
    /// Columns.
    pub inputs: usize,
    /// Distance of each class mean from 0, in every column.
    pub signal: f64,
    /// How both studies split.
    pub design: Design,
    /// Repeats of ours.
    pub ours: usize,
    /// Repeats of the paper.
    pub paper: usize,
    /// Root of the random stream.
    pub seed: u64,
}

impl Default for SameProcedure {
    /// 10 against 30 random 80/20 splits of 500 rows.
    fn default() -> Self {
        let design = Design::Random { test_rows: 100 };
        Self { rows: 500, inputs: 2, signal: 0.7, design, ours: 10, paper: 30, seed: 20_260_201 }
    }
}

/// Shares of simulated studies by their verdict.
///
/// ```
/// use mercer_statistics::VerdictRates;
/// let rates = VerdictRates::of(400, 20, 300)?;
/// assert_eq!((rates.differs, rates.agrees), (0.05, 0.75));
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRates {
    /// Number of simulated studies.
    pub studies: u64,
    /// Share that `differs`.
    pub differs: f64,
    /// Share that agrees, or is exact.
    pub agrees: f64,
    /// 95 % Wilson interval of `differs`.
    pub differs_interval: (f64, f64),
}

impl SameProcedure {
    /// Accuracies in percent of our repeats and of the paper's, in study `number`.
    ///
    /// # Panics
    /// Unless there is a test row and a training row.
    pub fn accuracies(&self, number: u64) -> (Vec<f64>, Vec<f64>) {
        let mut rng = stream(self.seed, number);
        let sample = two_classes(&mut rng, self.rows, self.inputs, self.signal);
        let ours = self.repeats(&mut rng, &sample, self.ours);
        (ours, self.repeats(&mut rng, &sample, self.paper))
    }

    fn repeats(&self, rng: &mut SplitMix, sample: &[(f64, Vec<f64>)], count: usize) -> Vec<f64> {
        let accuracy = |(train, test): (Vec<usize>, Vec<usize>)| {
            let wrong = nearest_mean_errors(sample, &train, &test, 0..self.inputs);
            100.0 * (1.0 - wrong / test.len() as f64)
        };
        self.design.splits(rng, sample.len(), count).into_iter().map(accuracy).collect()
    }

    /// Returns the verdicts on studies whose printed mean is `shift` points too high.
    ///
    /// ```
    /// use mercer_statistics::SameProcedure;
    /// let study = SameProcedure::default();
    /// let (null, far) = (study.verdicts(200, 0.0)?, study.verdicts(200, 20.0)?);
    /// assert!(null.differs < 0.12 && far.differs > 0.99);
    /// # Ok::<(), mercer_statistics::StatisticsError>(())
    /// ```
    ///
    /// # Errors
    /// No studies.
    pub fn verdicts(&self, studies: u64, shift: f64) -> Result<VerdictRates, StatisticsError> {
        let (mut differs, mut agrees) = (0, 0);
        for number in 0..studies {
            match self.verdict_of(&self.accuracies(number), shift)? {
                Verdict::Differs { .. } => differs += 1,
                Verdict::Agrees | Verdict::Exact => agrees += 1,
                Verdict::Open | Verdict::Short => {}
            }
        }
        VerdictRates::of(studies, differs, agrees)
    }

    /// Returns the verdict on one study, as [`SameProcedure::accuracies`] has it.
    ///
    /// # Errors
    /// A study without repeats.
    pub fn verdict_of(
        &self,
        (ours, paper): &(Vec<f64>, Vec<f64>),
        shift: f64,
    ) -> Result<Verdict, StatisticsError> {
        let printed = summarise(paper).map(|summary| (summary.mean, summary.sample_std));
        let (mean, std) = printed.unwrap_or((f64::NAN, 0.0));
        let published = Published { mean: mean + shift, std, repeats: paper.len(), digits: 2 };
        let ours = Ours { values: ours.clone(), paper_repeats: paper.len(), complete: true };
        Ok(verdict(&ours, &published)?.verdict)
    }
}

impl VerdictRates {
    /// Returns the rates: of so many studies these many differ and agree.
    ///
    /// # Errors
    /// No studies.
    pub fn of(studies: u64, differs: u64, agrees: u64) -> Result<Self, StatisticsError> {
        let share = |count: u64| count as f64 / studies as f64;
        Ok(Self {
            studies,
            differs: share(differs),
            agrees: share(agrees),
            differs_interval: wilson_interval(differs, studies, 0.95)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The designs of ASKL, RFTK and hyper-RKHS: 3 to 7 % false `differs`, and the power for four points.
    #[test]
    fn the_same_procedure_differs_as_often_as_the_level_says() {
        let of = |test_rows, ours, paper| SameProcedure {
            design: Design::Random { test_rows },
            ours,
            paper,
            ..SameProcedure::default()
        };
        for study in [of(100, 10, 30), of(100, 10, 10), of(300, 10, 10)] {
            let null = study.verdicts(2000, 0.0).unwrap();
            assert!((0.03..0.07).contains(&null.differs), "{study:?}: {null:?}");
            let shifted = study.verdicts(400, 4.0).unwrap();
            assert!(shifted.differs > 0.6, "{study:?}: {shifted:?}");
        }
    }

    /// Ten folds of the same rows: each study tests every row once, so that their means hardly differ.
    #[test]
    fn folds_of_the_same_rows_seldom_differ() {
        let study = SameProcedure {
            design: Design::Folds,
            ours: 10,
            paper: 10,
            ..SameProcedure::default()
        };
        assert!(study.verdicts(1000, 0.0).unwrap().differs < 0.01);
    }
}
