use crate::design::Design;
use crate::error::check_range;
use crate::random::SplitMix;
use crate::{StatisticsError, corrected_t, paired_t, wilson_interval};
use serde::{Deserialize, Serialize};

/// How often the naive and the corrected test reject a null hypothesis that is true.
///
/// ```
/// use mercer_statistics::{EqualMethods, null_rejection_rates};
/// let equal = EqualMethods::default();
/// let rates =
///     null_rejection_rates(200, 0.05, equal.test_over_train(), |study| equal.differences(study))?;
/// // The naive test is not honest: its interval lies above the level, that of the corrected one not.
/// assert!(rates.naive_interval.0 > 0.3 && rates.corrected_interval.0 < rates.level);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectionRates {
    /// Number of simulated studies.
    pub studies: u64,
    /// Level of the tests, and the rate that an honest test has.
    pub level: f64,
    /// Share rejected by [`paired_t`].
    pub naive: f64,
    /// Share rejected by [`corrected_t`].
    pub corrected: f64,
    /// 95 % Wilson interval of `naive`.
    pub naive_interval: (f64, f64),
    /// 95 % Wilson interval of `corrected`.
    pub corrected_interval: (f64, f64),
}

/// Runs both t tests on `studies` simulated studies of two equally good methods.
///
/// - `test_over_train`: `n_test / n_train` of the splits
/// - `study`: the paired differences of one study, given its number; independent between numbers
///
/// ```
/// use mercer_statistics::{EqualMethods, null_rejection_rates};
/// let equal = EqualMethods::default(); // 30 random 80/20 splits
/// let rates =
///     null_rejection_rates(500, 0.05, equal.test_over_train(), |study| equal.differences(study))?;
/// assert!(rates.naive > 0.4 && rates.corrected < 0.1);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No studies, `level` outside `(0, 1)`, or what the tests say of a study's differences.
pub fn null_rejection_rates(
    studies: u64,
    level: f64,
    test_over_train: f64,
    mut study: impl FnMut(u64) -> Vec<f64>,
) -> Result<RejectionRates, StatisticsError> {
    check_range("studies", studies as f64, |n| n >= 1.0, "at least 1")?;
    check_range("level", level, |l| l > 0.0 && l < 1.0, "in (0, 1)")?;
    let (mut naive, mut corrected) = (0, 0);
    for number in 0..studies {
        let differences = study(number);
        naive += u64::from(paired_t(&differences)?.p_two_sided < level);
        corrected += u64::from(corrected_t(&differences, test_over_train)?.p_two_sided < level);
    }
    Ok(RejectionRates {
        studies,
        level,
        naive: naive as f64 / studies as f64,
        corrected: corrected as f64 / studies as f64,
        naive_interval: wilson_interval(naive, studies, 0.95)?,
        corrected_interval: wilson_interval(corrected, studies, 0.95)?,
    })
}

/// A study of two methods that are equally good by symmetry. It uses `J` random splits of one sample.
///
/// Two classes have means `∓ signal` in each of `2 × inputs` independent unit normal columns. Both
/// methods assign a row to the nearer class mean of the training part; one sees the first half of
/// the columns, the other the second half. Over samples their errors have the same distribution,
/// so the null hypothesis is true; over the splits of one sample they share rows, as in any study
/// that repeats random splits.
///
/// ```
/// use mercer_statistics::EqualMethods;
/// let equal = EqualMethods::default();
/// assert_eq!((equal.splits, equal.test_over_train()), (30, 0.25));
/// let differences = equal.differences(3);
/// assert_eq!(differences.len(), 30);
/// assert_eq!(differences, equal.differences(3)); // a study is told by its number
/// assert_ne!(differences, equal.differences(4));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EqualMethods {
    /// Rows of the sample.
    pub rows: usize,
    /// Rows of each test part.
    pub test_rows: usize,
    /// Columns that each method sees.
    pub inputs: usize,
    /// Distance of each class mean from 0, in every column, in its deviations.
    pub signal: f64,
    /// `J`, the number of splits.
    pub splits: usize,
    /// Root of the random stream; a study uses `seed` and its own number.
    pub seed: u64,
}

impl Default for EqualMethods {
    /// 30 random 80/20 splits of 500 rows, two columns a method.
    fn default() -> Self {
        Self { rows: 500, test_rows: 100, inputs: 2, signal: 0.5, splits: 30, seed: 20_260_101 }
    }
}

impl EqualMethods {
    /// Returns `n_test / n_train`.
    pub fn test_over_train(&self) -> f64 {
        self.test_rows as f64 / (self.rows - self.test_rows) as f64
    }

    /// Returns the difference of the two methods' test errors on each split. The errors are fractions, in study
    /// `number`.
    ///
    /// # Panics
    /// Unless there is a test row and at least one training row.
    pub fn differences(&self, number: u64) -> Vec<f64> {
        assert!(
            0 < self.test_rows && self.test_rows < self.rows,
            "`test_rows` is {}; it must lie in 1..{}",
            self.test_rows,
            self.rows
        );
        let mut rng = stream(self.seed, number);
        let columns = 2 * self.inputs;
        let sample = two_classes(&mut rng, self.rows, columns, self.signal);
        let mut order: Vec<usize> = (0..self.rows).collect();
        (0..self.splits)
            .map(|_| {
                for i in 0..self.test_rows {
                    order.swap(i, i + rng.below(self.rows - i));
                }
                let (test, train) = order.split_at(self.test_rows);
                let wrong = |columns| nearest_mean_errors(&sample, train, test, columns);
                let gap = wrong(0..self.inputs) - wrong(self.inputs..columns);
                gap / self.test_rows as f64
            })
            .collect()
    }
}

impl EqualMethods {
    /// Returns the test errors in percent of `methods` equal methods, split by split. Each method has columns of its
    /// own, in study `number`; there are as many folds as splits.
    ///
    /// ```
    /// use mercer_statistics::{Design, EqualMethods};
    /// let study = EqualMethods { splits: 10, ..EqualMethods::default() };
    /// let errors = study.errors(1, 5, Design::Folds);
    /// assert_eq!((errors.len(), errors[0].len()), (5, 10));
    /// ```
    ///
    /// # Panics
    /// Unless there is a test row and a training row.
    pub fn errors(&self, number: u64, methods: usize, design: Design) -> Vec<Vec<f64>> {
        let mut rng = stream(self.seed, number);
        let sample = two_classes(&mut rng, self.rows, methods * self.inputs, self.signal);
        let mut errors = vec![Vec::new(); methods];
        for (train, test) in design.splits(&mut rng, self.rows, self.splits) {
            for (method, errors) in errors.iter_mut().enumerate() {
                let columns = method * self.inputs..(method + 1) * self.inputs;
                let wrong = nearest_mean_errors(&sample, &train, &test, columns);
                errors.push(100.0 * wrong / test.len() as f64);
            }
        }
        errors
    }
}

/// The stream of a study: a hash of the root plus the number, hashed again on first use, so that they are far apart.
pub(crate) fn stream(seed: u64, number: u64) -> SplitMix {
    let mut root = SplitMix::seeded(seed);
    SplitMix::seeded(root.next().wrapping_add(number.wrapping_mul(0xd1b5_4a32_d192_ed03)))
}

/// Rows of two classes with means `∓ signal` in each of so many independent unit normal columns.
pub(crate) fn two_classes(
    rng: &mut SplitMix,
    rows: usize,
    columns: usize,
    signal: f64,
) -> Vec<(f64, Vec<f64>)> {
    let row = |rng: &mut SplitMix| {
        let class = if rng.below(2) == 0 { -1.0 } else { 1.0 };
        (class, (0..columns).map(|_| class * signal + rng.normal()).collect())
    };
    (0..rows).map(|_| row(rng)).collect()
}

/// Number of test rows nearer to the other class's training mean.
pub(crate) fn nearest_mean_errors(
    sample: &[(f64, Vec<f64>)],
    train: &[usize],
    test: &[usize],
    columns: std::ops::Range<usize>,
) -> f64 {
    let mean_of = |class: f64| -> Vec<f64> {
        let rows: Vec<_> = train.iter().filter(|&&i| sample[i].0 == class).collect();
        let column_mean =
            |j| rows.iter().map(|&&i| sample[i].1[j]).sum::<f64>() / rows.len().max(1) as f64;
        columns.clone().map(column_mean).collect()
    };
    let (negative, positive) = (mean_of(-1.0), mean_of(1.0));
    let wrong = |&&i: &&usize| {
        let (class, inputs) = &sample[i];
        let score: f64 = (columns.clone().zip(negative.iter().zip(&positive)))
            .map(|(j, (low, high))| (inputs[j] - 0.5 * (low + high)) * (high - low))
            .sum();
        score * class <= 0.0
    };
    test.iter().filter(wrong).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_thirty_splits_the_naive_test_rejects_half_of_the_true_nulls() {
        let equal = EqualMethods::default();
        let ratio = equal.test_over_train();
        assert_eq!(ratio, 0.25);
        let rates =
            null_rejection_rates(2000, 0.05, ratio, |study| equal.differences(study)).unwrap();
        // Design: 47 to 50 % and 4 to 6 %; three deviations of a share of 2000 are 3.4 and 1.5 %.
        assert!((0.44..0.53).contains(&rates.naive), "{rates:?}");
        assert!((0.03..0.07).contains(&rates.corrected), "{rates:?}");
    }

    #[test]
    fn with_independent_differences_the_naive_test_is_honest() {
        let study = |number: u64| {
            let mut rng = SplitMix::seeded(number.wrapping_mul(0x1234_5678_9abc_def1));
            (0..30).map(|_| rng.normal()).collect()
        };
        let rates = null_rejection_rates(4000, 0.05, 0.25, study).unwrap();
        assert!((0.04..0.06).contains(&rates.naive), "{rates:?}");
        assert!(rates.corrected < 1e-3, "{rates:?}");
    }

    #[test]
    fn a_study_depends_on_its_number_only() {
        let equal = EqualMethods { rows: 50, test_rows: 10, ..EqualMethods::default() };
        assert_eq!(equal.differences(3), equal.differences(3));
        assert_ne!(equal.differences(3), equal.differences(4));
        assert!(null_rejection_rates(0, 0.05, 0.25, |n| equal.differences(n)).is_err());
    }

    #[test]
    fn a_row_counts_where_the_mean_of_the_other_class_is_nearer() {
        // Class means -2 and 2 in the first column, where one of three test rows is on the wrong side,
        // and the other way round in the second, where two are.
        let row = |class: f64, first: f64, second: f64| (class, vec![first, second]);
        let sample = [
            row(-1.0, -2.0, 2.0),
            row(1.0, 2.0, -2.0),
            row(-1.0, -1.0, -1.0),
            row(1.0, 1.0, 3.0),
            row(1.0, -0.5, -1.0),
        ];
        let wrong = |columns| nearest_mean_errors(&sample, &[0, 1], &[2, 3, 4], columns);
        assert_eq!((wrong(0..1), wrong(1..2)), (1.0, 2.0));
    }

    #[test]
    fn both_methods_see_as_many_columns() {
        let equal = EqualMethods { inputs: 8, splits: 4, ..EqualMethods::default() };
        let all: Vec<f64> = (0..40).flat_map(|study| equal.differences(study)).collect();
        let summary = crate::summarise(&all).unwrap();
        // A method of two columns would err 0.16 more often than one of eight.
        assert!(summary.mean.abs() < 0.01, "{summary:?}");
    }

    #[test]
    fn classes_far_apart_are_told_by_both_methods() {
        let far = EqualMethods { signal: 40.0, splits: 3, ..EqualMethods::default() };
        assert_eq!(far.differences(1), [0.0; 3]);
    }

    #[test]
    fn a_study_at_the_level_itself_is_no_rejection() {
        let differences = vec![0.3, -0.1, 0.2, 0.4];
        let rejected =
            |level| null_rejection_rates(1, level, 0.25, |_| differences.clone()).unwrap();
        let naive = paired_t(&differences).unwrap().p_two_sided;
        assert_eq!(rejected(naive).naive, 0.0);
        assert_eq!(rejected(naive * (1.0 + 1e-9)).naive, 1.0);
        let corrected = corrected_t(&differences, 0.25).unwrap().p_two_sided;
        assert_eq!(rejected(corrected).corrected, 0.0);
        assert_eq!(rejected(corrected * (1.0 + 1e-9)).corrected, 1.0);
        for level in [0.0, 1.0] {
            assert!(null_rejection_rates(1, level, 0.25, |_| differences.clone()).is_err());
        }
    }
}
