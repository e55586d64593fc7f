use crate::random::SplitMix;
use serde::{Deserialize, Serialize};

/// How two studies split the same rows.
///
/// ```
/// use mercer_statistics::{Design, SameProcedure};
/// let folds = SameProcedure { design: Design::Folds, ours: 10, paper: 10, ..Default::default() };
/// let (ours, _) = folds.accuracies(1);
/// assert_eq!(ours.len(), 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Random splits, each with so many test rows.
    Random {
        /// Test rows.
        test_rows: usize,
    },
    /// Folds of one shuffle, as many as repeats.
    Folds,
}

impl Design {
    /// Training and test rows of so many repeats.
    pub(crate) fn splits(
        self,
        rng: &mut SplitMix,
        rows: usize,
        count: usize,
    ) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut order: Vec<usize> = (0..rows).collect();
        let shuffle = |order: &mut Vec<usize>, first: usize, rng: &mut SplitMix| {
            for i in 0..first {
                order.swap(i, i + rng.below(rows - i));
            }
        };
        match self {
            Self::Random { test_rows } => {
                assert!(
                    0 < test_rows && test_rows < rows,
                    "`test_rows` is {test_rows}; it must lie in 1..{rows}"
                );
                let mut split = || {
                    shuffle(&mut order, test_rows, rng);
                    (order[test_rows..].to_vec(), order[..test_rows].to_vec())
                };
                (0..count).map(|_| split()).collect()
            }
            Self::Folds => {
                shuffle(&mut order, rows, rng);
                let fold = |k: usize| {
                    let (from, to) = (k * rows / count, (k + 1) * rows / count);
                    ([&order[..from], &order[to..]].concat(), order[from..to].to_vec())
                };
                (0..count).map(fold).collect()
            }
        }
    }
}
