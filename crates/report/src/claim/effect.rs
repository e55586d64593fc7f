//! Our gain of one method over another beside the gain that a paper prints.

use super::interval::{Interval, counted};
use crate::published::PublishedCell;
use crate::{Catalogue, ExperimentError};
use mercer_render::probability;
use mercer_statistics::{p_of_interval, replication_bayes_factor};
use serde::Serialize;

/// Half of a 95 % interval of a normal number, in standard errors.
pub(super) const NORMAL: f64 = 1.959_963_984_540_054;

/// What became of a printed gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Ours is above 0, and may be the printed one.
    Replicated,
    /// Ours is above the printed one.
    Larger,
    /// Ours is above 0 and below the printed one.
    Smaller,
    /// Ours is below the printed one, and may be 0.
    Absent,
    /// Ours is below 0.
    Reversed,
    /// Ours may be 0, and may be the printed one.
    Inconclusive,
}

/// The mean gain over the data sets of a claim, in points of accuracy: ours and the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// Data sets with both.
    pub datasets: usize,
    /// Ours.
    pub ours: f64,
    /// Its 95 % interval.
    pub ours_interval: (f64, f64),
    /// The printed one.
    pub printed: f64,
    /// Its 95 % interval, at its widest: the print does not say how the methods move together.
    pub printed_interval: (f64, f64),
    /// What became of it.
    pub outcome: Outcome,
    /// How many times as likely ours is if the printed gain is true as if there is none.
    pub bayes_factor: f64,
    /// Two-sided p that ours is the printed one.
    #[serde(skip)]
    pub p_printed: f64,
}

impl Effect {
    /// The gains of a method over another in a study whose numbers a paper prints; none where it prints none, or no
    /// gain.
    ///
    /// # Errors
    /// If the file of the published numbers does not have its form.
    pub(crate) fn of(
        catalogue: &Catalogue,
        study: &str,
        better: &str,
        worse: &str,
        gains: &[(String, Interval)],
    ) -> Result<Option<Self>, ExperimentError> {
        let Some((paper, columns)) = catalogue.columns(study) else { return Ok(None) };
        let (repeats, cells) = catalogue.published(paper)?;
        let of = |dataset: &str, method: &str| -> Option<&PublishedCell> {
            let (_, name) = columns.iter().find(|(own, _)| own == method)?;
            cells.iter().find(|cell| {
                cell.dataset == dataset
                    && cell.method == *name
                    && cell.metric == "accuracy_percent"
                    && ["", "2"].contains(&cell.table.as_str())
            })
        };
        let (mut own, mut printed) = (Vec::new(), Vec::new());
        for (dataset, gain) in gains {
            if let (Some(a), Some(b)) = (of(dataset, better), of(dataset, worse)) {
                let variance = (a.std * a.std + b.std * b.std) / repeats as f64;
                own.push(*gain);
                printed.push((a.mean - b.mean, variance));
            }
        }
        let count = printed.len() as f64;
        let theirs = printed.iter().map(|(gain, _)| gain).sum::<f64>() / count;
        let error = printed.iter().map(|(_, variance)| variance).sum::<f64>().sqrt() / count;
        if own.is_empty() || theirs.is_nan() || theirs <= 0.0 || error.is_nan() {
            return Ok(None);
        }
        Ok(Some(Self::between(Interval::mean_of(&own), (theirs, error), own.len())))
    }

    /// Ours beside a printed gain with its standard error.
    fn between(ours: Interval, (printed, error): (f64, f64), datasets: usize) -> Self {
        let Interval { mean, half, freedom } = ours;
        let theirs = NORMAL * error;
        // Of the printed gain minus ours.
        let between = half.hypot(theirs);
        let gap = printed - mean;
        let outcome = if mean + half < 0.0 {
            Outcome::Reversed
        } else if mean - half > 0.0 {
            match gap {
                gap if gap > between => Outcome::Smaller,
                gap if gap < -between => Outcome::Larger,
                _ => Outcome::Replicated,
            }
        } else if gap > between {
            Outcome::Absent
        } else {
            Outcome::Inconclusive
        };
        // The t interval as a normal one of the same width.
        let own_error = half / NORMAL;
        Self {
            datasets,
            ours: mean,
            ours_interval: (mean - half, mean + half),
            printed,
            printed_interval: (printed - theirs, printed + theirs),
            outcome,
            bayes_factor: replication_bayes_factor((mean, own_error), (printed, error)),
            p_printed: p_of_interval(gap, between, freedom),
        }
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        let range = |(low, high): (f64, f64)| format!("{low:.2} to {high:.2}");
        let beside = match self.outcome {
            Outcome::Replicated => "as",
            Outcome::Larger => "larger than",
            Outcome::Smaller => "smaller than",
            Outcome::Absent => "not shown, and below",
            Outcome::Reversed => "the reverse of",
            Outcome::Inconclusive => "not told apart from 0, nor from",
        };
        // Of a loss and a gain that is as far off the factor tells which is nearer, and no more.
        let factor = match self.outcome {
            Outcome::Reversed => String::new(),
            _ => format!(", replication Bayes factor {}", factor(self.bayes_factor)),
        };
        format!(
            "gain {:.2} points ({}), {beside} the paper's {:.2} ({}), on {}{factor}",
            self.ours,
            range(self.ours_interval),
            self.printed,
            range(self.printed_interval),
            counted(self.datasets, "dataset"),
        )
    }
}

/// A Bayes factor as it is shown: beyond a thousand its size says nothing more.
fn factor(value: f64) -> String {
    match value {
        many if many > 1000.0 => "above 1000".to_owned(),
        few if few < 0.001 => "below 0.001".to_owned(),
        other if other >= 10.0 => format!("{other:.0}"),
        other => probability(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(mean: f64, half: f64) -> Outcome {
        Effect::between(Interval { mean, half, freedom: 20.0 }, (1.0, 0.1), 6).outcome
    }

    #[test]
    fn a_printed_gain_is_there_again_or_not() {
        assert_eq!(outcome(0.9, 0.3), Outcome::Replicated);
        assert_eq!(outcome(3.0, 0.3), Outcome::Larger);
        assert_eq!(outcome(0.3, 0.2), Outcome::Smaller);
        assert_eq!(outcome(0.1, 0.3), Outcome::Absent);
        assert_eq!(outcome(-0.5, 0.3), Outcome::Reversed);
        assert_eq!(outcome(0.5, 0.9), Outcome::Inconclusive);
    }

    #[test]
    fn the_factor_speaks_for_what_is_nearer() {
        let of = |mean| {
            Effect::between(Interval { mean, half: 0.3, freedom: 20.0 }, (1.0, 0.1), 6).bayes_factor
        };
        assert!(of(0.9) > 100.0 && of(0.1) < 0.01);
        let words =
            Effect::between(Interval { mean: 0.1, half: 0.3, freedom: 20.0 }, (1.0, 0.1), 6);
        assert!(words.words().starts_with(
            "gain 0.10 points (-0.20 to 0.40), not shown, and below the paper's 1.00"
        ));
    }

    #[test]
    fn the_printed_gain_is_the_mean_over_the_rows_that_both_have() {
        let catalogue = crate::catalogue::toy();
        let gain = Interval { mean: 0.14, half: 0.7, freedom: 50.0 };
        let gains = ["wine", "iris", "zoo"].map(|name| (name.to_owned(), gain));
        let effect = Effect::of(&catalogue, "toy/table1", "a", "b", &gains).unwrap().unwrap();
        assert_eq!(effect.datasets, 2, "no b is printed on zoo");
        // 91 − 90 and 88 − 85, of ten repeats with deviations of 1.
        assert!((effect.printed - 2.0).abs() < 1e-12, "{effect:?}");
        let half = NORMAL * 0.4f64.sqrt() / 2.0;
        assert!((effect.printed_interval.1 - 2.0 - half).abs() < 1e-12, "{effect:?}");
        // Printed the other way round there is no gain to hold ours against.
        assert_eq!(Effect::of(&catalogue, "toy/table1", "b", "a", &gains).unwrap(), None);
        assert_eq!(Effect::of(&catalogue, "toy/other", "a", "b", &gains).unwrap(), None);
    }
}
