//! The law of methods that weigh rows.

use super::{Conformance, Violation, toy};
use crate::{Fitting, LearningError, Sample, Setting, Settings, Task};
use serde_json::Value;

impl Conformance<'_> {
    /// Weights of 0, 1, 2 and 3 are so many equal rows, and two equal rows may share a weight in fractions.
    pub(super) fn weights_count_rows(&self, task: Task) -> Result<(), Violation> {
        let law = "a weight is so many equal rows";
        if !self.method.weighs_rows() {
            return Ok(());
        }
        let bare = toy(task, 2, 60, 5);
        let times: Vec<usize> = (0..60).map(|row| (row * 7 + row / 3) % 4).collect();
        let repeat = |row: usize| std::iter::repeat_n(row, times[row]);
        let rows: Vec<usize> = (0..60).flat_map(repeat).collect();
        let repeated = bare.select(&rows).expect("rows of the sample");
        let settings = (self.method.defaults)(&bare.shape())
            .overridden_by(&exact(&(self.method.settings)(), 120))
            .overridden_by(&self.settings);
        let learner = match self.method.learner(&settings, task) {
            Ok(learner) => learner,
            Err(error) => return self.broken(law, format!("{settings}: {error}")),
        };
        let weights: Vec<f64> = times.iter().map(|&times| times as f64).collect();
        let twice: Vec<usize> = (0..120).map(|row| row / 2).collect();
        let share = |row: usize| weights[row / 2] * if row.is_multiple_of(2) { 0.3 } else { 0.7 };
        let shares: Vec<f64> = (0..120).map(share).collect();
        let split = bare.select(&twice).expect("rows of the sample");
        let fitted = |sample: Result<Sample, LearningError>| {
            let fitted = sample.and_then(|own| learner.fit(&own, &mut Fitting::seeded(7)));
            match fitted {
                Ok(fitted) => Ok(fitted.predictor.decision(bare.inputs())),
                Err(error) => self.broken(law, format!("{task:?}: {error}")),
            }
        };
        let expected = fitted(Ok(repeated))?;
        let scale = expected.iter().fold(1e-3, |most: f64, score| most.max(score.abs()));
        for (how, weighted) in
            [("", bare.clone().weighted(&weights)), (" shared", split.weighted(&shares))]
        {
            let found = fitted(weighted)?;
            let apart = (&found - &expected).iter().fold(0.0, |most: f64, gap| most.max(gap.abs()));
            // NaN is no agreement.
            if apart.is_nan() || apart > 1e-5 * scale {
                let detail =
                    format!("{task:?}: with weights{how}, scores differ by {apart:e} of {scale:e}");
                return self.broken(law, detail);
            }
        }
        Ok(())
    }
}

/// Settings at which equal fits end in equal numbers, among the settings that a method declares. They are one batch of
/// all rows, in their order, double precision, and an iteration that ends at its limit. Frequencies that are learned
/// move.
fn exact(declared: &[Setting], rows: usize) -> Settings {
    let batch = Value::from(rows);
    [
        ("batch", batch),
        ("sampling", "shuffled".into()),
        ("precision", "f64".into()),
        ("tolerance", 1e-9.into()),
        ("every", 3.into()),
        ("trace_every", 6.into()),
    ]
    .into_iter()
    .filter(|(name, _)| declared.iter().any(|setting| setting.name == *name))
    .fold(Settings::new(), |all, (name, value)| all.with(name, value))
}
