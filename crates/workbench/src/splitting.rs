//! How rows are divided into training and test rows.

use crate::WorkbenchError;
use mercer_datasets::{Split, Truths, k_folds, random_split, stratified_split};
use mercer_learning::{Streams, folds};
use std::collections::BTreeMap;

/// How the rows are divided into training and test rows.
///
/// ```
/// use mercer_workbench::Splitting;
/// assert_eq!(Splitting::default().describe(), "5 folds, 2 times");
/// let splitting = Splitting::HoldOut { test: 0.2, repeats: 10 };
/// assert_eq!(splitting.test_over_train(), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Splitting {
    /// `repeats` times into `folds` parts; each is the test part once.
    Folds {
        /// Number of parts, at least 2.
        folds: usize,
        /// How often the rows are shuffled anew.
        repeats: usize,
    },
    /// `repeats` random test parts of this share.
    HoldOut {
        /// Share of the rows that test, in `(0, 1)`.
        test: f64,
        /// How many.
        repeats: usize,
    },
}

impl Default for Splitting {
    /// Ten splits: five folds, twice.
    fn default() -> Self {
        Self::Folds { folds: 5, repeats: 2 }
    }
}

impl Splitting {
    /// Splits the rows of these targets. The splits depend on the seed and not on any method.
    ///
    /// Classes are spread over the parts as evenly as it goes. The row of a class that has no other
    /// trains in every split, and is tested in none.
    ///
    /// ```
    /// use mercer_datasets::Truths;
    /// use mercer_learning::Streams;
    /// use mercer_workbench::Splitting;
    /// let truths = Truths::Classes(vec![0, 0, 0, 1, 1, 1, 2]);
    /// let splitting = Splitting::Folds { folds: 3, repeats: 1 };
    /// for split in splitting.splits(&truths, &Streams::root(1))? {
    ///     assert_eq!(split.test.len(), 2); // one row of either class
    ///     assert!(split.train.contains(&6));
    /// }
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::Argument`] if there are too few rows, or nothing to do.
    pub fn splits(self, truths: &Truths, streams: &Streams) -> Result<Vec<Split>, WorkbenchError> {
        let refused =
            |name, value: String, must: String| Err(WorkbenchError::Argument { name, value, must });
        let labels = match truths {
            Truths::Classes(labels) => Some(labels.as_slice()),
            Truths::Values(_) => None,
        };
        let alone = labels.map_or_else(Vec::new, singles);
        let rows = truths.len() - alone.len();
        let mut splits = Vec::new();
        let repeats = self.repeats();
        if repeats == 0 {
            return refused("repeats", "0".to_owned(), "at least 1".to_owned());
        }
        for repeat in 0..repeats {
            let mut rng = streams.child("splits").rng(&format!("repeat {repeat}"));
            match self {
                Self::Folds { folds, .. } => {
                    if folds < 2 || folds > rows {
                        if rows < 2 {
                            // No number of folds would do.
                            let must =
                                if alone.is_empty() { "at least 2 to divide" } else { ONE_EACH };
                            return refused("rows", truths.len().to_string(), must.to_owned());
                        }
                        let must = if alone.is_empty() {
                            format!("at least 2 and at most {rows}: the table has {rows} rows")
                        } else {
                            format!(
                                "at least 2 and at most {rows}: the table has {rows} rows whose class has others"
                            )
                        };
                        return refused("folds", folds.to_string(), must);
                    }
                    splits.extend(match labels {
                        Some(labels) => stratified_folds(labels, &alone, folds, &mut rng),
                        None => k_folds(rows, folds, &mut rng),
                    });
                }
                Self::HoldOut { test, .. } => {
                    if !(test > 0.0 && test < 1.0) {
                        let must = "above 0 and below 1".to_owned();
                        return refused("holdout", test.to_string(), must);
                    }
                    if rows < 2 {
                        let must = "at least 2 to hold some out".to_owned();
                        return refused("rows", rows.to_string(), must);
                    }
                    splits.push(match labels {
                        Some(labels) => stratified_split(labels, 1.0 - test, &mut rng),
                        None => random_split(rows, 1.0 - test, &mut rng),
                    });
                }
            }
        }
        Ok(splits)
    }

    /// How often the rows are divided anew.
    pub(crate) const fn repeats(self) -> usize {
        match self {
            Self::Folds { repeats, .. } | Self::HoldOut { repeats, .. } => repeats,
        }
    }

    /// Returns `n_test / n_train` of splits that overlap, which the corrected test needs. It is 0 for folds that are drawn
    /// once: each row tests once, and the ordinary paired t-test has the right size there.
    ///
    /// ```
    /// use mercer_workbench::Splitting;
    /// let splitting = Splitting::Folds { folds: 5, repeats: 2 };
    /// assert_eq!(splitting.test_over_train(), 0.25); // one part tests, four train
    /// assert_eq!(Splitting::Folds { folds: 5, repeats: 1 }.test_over_train(), 0.0);
    /// ```
    pub const fn test_over_train(self) -> f64 {
        match self {
            Self::Folds { repeats: ..=1, .. } => 0.0,
            Self::Folds { folds, .. } => 1.0 / (folds as f64 - 1.0),
            Self::HoldOut { test, .. } => test / (1.0 - test),
        }
    }

    /// Describes it in words.
    ///
    /// ```
    /// use mercer_workbench::Splitting;
    /// assert_eq!(Splitting::Folds { folds: 10, repeats: 1 }.describe(), "10 folds, once");
    /// let splitting = Splitting::HoldOut { test: 0.3, repeats: 4 };
    /// assert_eq!(splitting.describe(), "30 % of the rows held out, 4 times");
    /// ```
    pub fn describe(self) -> String {
        let times =
            |count: usize| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        match self {
            Self::Folds { folds, repeats } => format!("{folds} folds, {}", times(repeats)),
            Self::HoldOut { test, repeats } => {
                format!("{:.0} % of the rows held out, {}", 100.0 * test, times(repeats))
            }
        }
    }
}

/// What rows must be to be held out.
const ONE_EACH: &str = "more than one of some class: every class has a single row, which can only train; add rows, or give \
     numbers as targets with --task regression";

/// Rows whose class has no other row.
pub(crate) fn singles(labels: &[u32]) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_insert(0usize) += 1;
    }
    (0..labels.len()).filter(|&row| counts[&labels[row]] == 1).collect()
}

/// Folds of all rows but those `alone`, with each class spread over them; the latter train.
fn stratified_folds(
    labels: &[u32],
    alone: &[usize],
    count: usize,
    rng: &mut impl rand::Rng,
) -> Vec<Split> {
    let rows: Vec<usize> = (0..labels.len()).filter(|row| !alone.contains(row)).collect();
    let of_rows: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
    let held = folds(&of_rows, count, rng);
    (0..count)
        .map(|fold| {
            let (test, train): (Vec<_>, Vec<_>) =
                rows.iter().zip(&held).partition(|&(_, &held)| held == fold);
            let row = |(row, _): (&usize, &usize)| *row;
            let mut train: Vec<usize> = train.into_iter().map(row).chain(alone.to_vec()).collect();
            train.sort_unstable();
            Split { train, test: test.into_iter().map(row).collect() }
        })
        .collect()
}
