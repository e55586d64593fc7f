use mercer_learning::{Fitting, NumpyRandomState};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Where the order of the batches comes from.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{BatchOrder, EmbeddingParams};
/// // Ours come from the fit's streams; the authors' from the generator of their folds.
/// let read = |word: &str| Settings::new().with("order", word).read::<EmbeddingParams>("mce");
/// assert_eq!(read("released")?.order, BatchOrder::Released);
/// assert_eq!(EmbeddingParams::default().order, BatchOrder::Seeded);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("seeded, released"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchOrder {
    /// From the random streams of the fit.
    Seeded,
    /// From NumPy's legacy generator, as in the authors' code. The code goes on using it after it has made the folds
    /// with it: each fit draws one permutation at its start and one a pass.
    Released,
}

/// Consecutive rows of a permutation, a fresh one each pass.
pub(super) struct Batches {
    rows: usize,
    size: usize,
    order: Vec<usize>,
    pass: usize,
    source: Source,
}

enum Source {
    Legacy(Box<NumpyRandomState>),
    Streams(Box<ChaCha8Rng>),
}

impl Batches {
    /// Batches of `size` of `rows` rows; `share` of a fold's training rows is a batch, `steps` steps
    /// are a fit: what the fits of earlier folds have drawn.
    pub(super) fn new(
        rows: usize,
        size: usize,
        share: &dyn Fn(usize) -> usize,
        steps: usize,
        order: BatchOrder,
        fitting: &Fitting<'_>,
    ) -> Self {
        let source = match (order, fitting.fold) {
            (BatchOrder::Seeded, _) => Source::Streams(Box::new(fitting.streams.rng("batches"))),
            (BatchOrder::Released, None) => Source::Legacy(Box::new(NumpyRandomState::seed(0))),
            (BatchOrder::Released, Some(fold)) => {
                let (_, mut generator) = fold.generator();
                for earlier in 0..fold.index {
                    let rows = fold.training_rows(earlier);
                    let passes = (steps.saturating_sub(1)) * share(rows) / rows;
                    (0..=passes).for_each(|_| generator.skip_permutation(rows));
                }
                Source::Legacy(Box::new(generator))
            }
        };
        let mut batches = Self { rows, size, order: Vec::new(), pass: 0, source };
        batches.shuffle();
        batches
    }

    /// The rows of a step, counted from 0. Steps must be asked for in order.
    pub(super) fn of_step(&mut self, step: usize) -> Vec<usize> {
        let start = step * self.size;
        if start / self.rows > self.pass {
            self.pass += 1;
            self.shuffle();
        }
        (start..start + self.size).map(|at| self.order[at % self.rows]).collect()
    }

    fn shuffle(&mut self) {
        match &mut self.source {
            Source::Legacy(generator) => self.order = generator.permutation(self.rows),
            Source::Streams(rng) => {
                self.order = (0..self.rows).collect();
                self.order.shuffle(rng);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Fold;

    #[test]
    fn a_later_fold_goes_on_where_the_earlier_fits_stopped() {
        let share = |rows: usize| rows / 10;
        let fold = |index| Fold { rows: 178, blocks: 10, index, seed: 0 };
        let fitting = |index| Fitting { fold: Some(fold(index)), ..Fitting::seeded(1) };
        let steps = 25;
        // By hand: the folds' permutation, then what the first fit draws step by step.
        let (_, mut generator) = fold(0).generator();
        let mut first = Batches::new(160, 16, &share, steps, BatchOrder::Released, &fitting(0));
        let mut order = generator.permutation(160);
        for step in 0..steps {
            if step == 10 || step == 20 {
                order = generator.permutation(160);
            }
            let start = (step * 16) % 160;
            assert_eq!(first.of_step(step), order[start..start + 16], "step {step}");
        }
        let mut second = Batches::new(160, 16, &share, steps, BatchOrder::Released, &fitting(1));
        assert_eq!(second.of_step(0), generator.permutation(160)[..16]);
    }

    #[test]
    fn a_pass_of_seeded_batches_sees_every_row_once() {
        let mut batches =
            Batches::new(12, 4, &|rows| rows / 3, 9, BatchOrder::Seeded, &Fitting::seeded(3));
        let mut passes = Vec::new();
        for pass in 0..3 {
            let rows: Vec<usize> =
                (0..3).flat_map(|batch| batches.of_step(3 * pass + batch)).collect();
            let mut sorted = rows.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>());
            passes.push(rows);
        }
        assert_ne!(passes[0], passes[1]);
    }
}
