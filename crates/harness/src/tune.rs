use crate::{HarnessError, prepare::inner_split};
use mercer_learning::{
    Fitting, LearningError, Limits, Method, Metric, Sample, Settings, Space, Streams, Task, score,
};
use mercer_records::{Tuning, TuningStep};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Instant;

/// Successive halving: all candidates at a small effort, the best third at three times that,
/// the best ninth at full effort. Every method gets the same budget.
///
/// A method without a resource (a closed form) fits every candidate in full at the first rung.
///
/// ```
/// use mercer_harness::Tuner;
/// // 27 at a ninth, 9 at a third, 3 in full; on 80 % of the rows; and the final fit.
/// assert!((Tuner::default().cost() - (0.8 * (3.0 + 3.0 + 3.0) + 1.0)).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuner {
    /// Candidates at the first rung.
    pub candidates: usize,
    /// Share of the full effort at each rung, rising to 1.
    pub rungs: Vec<f64>,
    /// Share of the training part that trains; the rest scores.
    pub train: f64,
    /// Training rows used at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Seconds after which no further candidate is begun and the one under way is ended at its next
    /// step. The first candidate's time at the first rung says how many of `candidates` there is time
    /// for, two at least; the best of the highest rung with a score is taken, and where none has one the
    /// first. What is chosen then depends on the machine, so no study sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether an effort that counts rows (a setting `cap`) is a share of the rows that there are,
    /// where these are fewer than the setting, and of a hundred rows at least: rungs that would fit the
    /// same rows are one. The studies' tuner takes the share of the setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_rows: bool,
    /// Whether the method's defaults are the first candidate, before its anchors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defaults_first: bool,
}

/// Rows below which a rung says nothing, where [`Tuner::of_rows`].
const FEWEST: f64 = 100.0;

impl Default for Tuner {
    fn default() -> Self {
        Self {
            candidates: 27,
            rungs: vec![1.0 / 9.0, 1.0 / 3.0, 1.0],
            train: 0.8,
            rows: Some(10_000),
            seconds: None,
            of_rows: false,
            defaults_first: false,
        }
    }
}

impl Tuner {
    /// Cost in full fits, the final fit included.
    pub fn cost(&self) -> f64 {
        let mut left = self.candidates as f64;
        let mut cost = 0.0;
        for &effort in &self.rungs {
            cost += left * effort;
            left = (left / 3.0).ceil();
        }
        self.train * cost + 1.0
    }

    /// The efforts of the rungs as shares of the full one, and what the resource then is; of a method
    /// without one, a single rung.
    fn efforts(&self, full: Option<f64>, rows: Option<usize>) -> Vec<(f64, Option<u64>)> {
        let Some(full) = full else { return vec![(1.0, None)] };
        let full = rows.map_or(full, |rows| full.min(rows as f64));
        let least = if rows.is_some() { FEWEST.min(full) } else { 1.0 };
        let mut efforts: Vec<(f64, Option<u64>)> = Vec::new();
        for &share in &self.rungs {
            let amount = (full * share).round().max(least);
            let effort = if rows.is_some() { amount / full } else { share };
            let amount = Some(amount as u64);
            if rows.is_some() && efforts.last().is_some_and(|&(_, last)| last == amount) {
                continue;
            }
            efforts.push((effort, amount));
        }
        efforts
    }
}

/// The limits of the whole, and the tuner's own seconds.
struct Timed<'a> {
    limits: &'a dyn Limits,
    started: Instant,
    seconds: Option<f64>,
}

impl Timed<'_> {
    fn late(&self) -> bool {
        self.seconds.is_some_and(|seconds| self.started.elapsed().as_secs_f64() >= seconds)
    }

    /// Whether it was the tuner's seconds that ended a fit: no error, but the end of the search.
    fn ended(&self, stop: &LearningError) -> bool {
        matches!(stop, LearningError::OutOfTime { .. })
            && self.late()
            && self.limits.check().is_ok()
    }

    /// How many candidates there is time for, if the first took what is gone at the first of the rungs,
    /// each of which costs the same: a third of the candidates at three times the effort.
    fn affordable(&self, rungs: usize) -> usize {
        let Some(seconds) = self.seconds else { return usize::MAX };
        let one = self.started.elapsed().as_secs_f64().max(1e-6);
        ((seconds / (one * rungs as f64)) as usize).max(2)
    }
}

impl Limits for Timed<'_> {
    fn check(&self) -> Result<(), LearningError> {
        self.limits.check()?;
        match self.seconds {
            Some(seconds) if self.late() => Err(LearningError::OutOfTime { seconds }),
            _ => Ok(()),
        }
    }

    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        self.limits.reserve(bytes)
    }
}

/// The defaults of what the space tunes, before its anchors and not among them again.
fn put_first(space: &mut Space, defaults: &Settings) {
    let first = space.axes.iter().fold(Settings::new(), |first, axis| {
        defaults.get(axis.name).map_or(first.clone(), |value| first.with(axis.name, value.clone()))
    });
    space.anchors.retain(|anchor| *anchor != first);
    space.anchors.insert(0, first);
}

/// Tunes `method` on the training part alone.
///
/// Candidates are `fixed` overridden by the anchor, by the space's anchors, and by seeded draws.
/// The score is accuracy, or minus the root mean squared error, on the held-out fifth; ties go
/// to the earlier candidate. A candidate that fails or diverges scores nothing.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{Tuner, tune};
/// use mercer_learning::{Sample, Settings, Streams, Unlimited};
/// let labels: Vec<u32> = (0..100).map(|row| u32::from(row % 4 == 0)).collect();
/// let sample = Sample::classification(ndarray::Array2::zeros((100, 1)), labels, 2)?;
/// let tuner = Tuner { candidates: 4, rungs: vec![1.0], ..Tuner::default() };
/// let (none, streams) = (Settings::new(), Streams::root(1));
/// let found = tune(&METHODS[0], &sample, &none, &none, &tuner, &streams, &Unlimited)?;
/// assert!(found.history.iter().any(|step| step.settings == found.chosen));
/// assert!(found.history.iter().all(|step| step.score.is_some_and(|score| score > 0.5)));
/// let again = tune(&METHODS[0], &sample, &none, &none, &tuner, &streams, &Unlimited)?;
/// assert_eq!(found, again);
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
///
/// # Errors
/// If no candidate could be fitted, or a limit was reached.
pub fn tune(
    method: &Method,
    train: &Sample,
    fixed: &Settings,
    anchor: &Settings,
    tuner: &Tuner,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<Tuning, HarnessError> {
    let parts = inner_split(train, tuner.train, tuner.rows, streams)?;
    // Candidates are completed as the final fit will be, which sees the whole training part.
    let shape = train.shape();
    let defaults = (method.defaults)(&shape);
    let mut space = (method.space)(&shape).given(&defaults.clone().overridden_by(fixed));
    if tuner.defaults_first {
        put_first(&mut space, &defaults);
    }
    if !anchor.is_empty() {
        space.anchors.insert(0, anchor.clone());
    }
    let full = method
        .resource
        .and_then(|name| fixed.get(name).or_else(|| defaults.get(name)))
        .and_then(Value::as_f64);
    let mut left: Vec<Settings> = space
        .candidates(tuner.candidates, &mut streams.rng("candidates"))
        .iter()
        .map(|candidate| candidate.clone().overridden_by(fixed))
        .collect();
    let mut history = Vec::new();
    let mut first_error = None;
    let first = left.first().cloned();
    let timed = Timed { limits, started: Instant::now(), seconds: tuner.seconds };
    // Best of the last rung that was begun.
    let mut best: Option<Settings> = None;
    let rows = (tuner.of_rows && method.resource == Some("cap")).then(|| parts.train.rows());
    let rungs = tuner.efforts(full, rows);
    for (rung, &(effort, amount)) in rungs.iter().enumerate() {
        let mut scored: Vec<(f64, Settings)> = Vec::new();
        let mut out_of_time = false;
        let mut affordable = usize::MAX;
        for (at, candidate) in left.into_iter().enumerate() {
            // One candidate is always begun, however small the budget.
            if !history.is_empty() && timed.late() {
                out_of_time = true;
                break;
            }
            if (rung, at) == (0, 1) {
                affordable = timed.affordable(rungs.len());
            }
            if at >= affordable {
                break;
            }
            let mut settings = defaults.clone().overridden_by(&candidate);
            if let (Some(name), Some(amount)) = (method.resource, amount) {
                settings = settings.with(name, amount);
            }
            let found = attempt(method, &parts.train, &parts.test, &settings, streams, &timed);
            let score = match found {
                Ok(score) => Some(score),
                Err(stop) if timed.ended(&stop) => {
                    out_of_time = true;
                    None
                }
                Err(stop @ (LearningError::Interrupted | LearningError::OutOfTime { .. })) => {
                    return Err(stop.into());
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                    None
                }
            };
            history.push(TuningStep { settings: named(&candidate), effort, score });
            if let Some(score) = score {
                scored.push((score, candidate));
            }
            if out_of_time {
                break;
            }
        }
        // A stable sort: ties stay in the order of the candidates.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        if !(out_of_time && scored.is_empty()) {
            best = scored.first().map(|(_, first)| first.clone());
        }
        let last = rung + 1 == rungs.len() || out_of_time;
        let keep = if last { 1 } else { scored.len().div_ceil(3) };
        left = scored.into_iter().take(keep).map(|(_, candidate)| candidate).collect();
        if last || left.is_empty() {
            break;
        }
    }
    // Nothing failed, and nothing had the time to end.
    let unscored = || first.filter(|_| first_error.is_none() && timed.late());
    match best.or_else(unscored) {
        Some(best) => Ok(Tuning { chosen: named(&best), history }),
        None => Err(first_error
            .unwrap_or(LearningError::Numerical {
                operation: "tuning",
                reason: "there was no candidate".to_owned(),
            })
            .into()),
    }
}

fn named(settings: &Settings) -> std::collections::BTreeMap<String, Value> {
    settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

fn attempt(
    method: &Method,
    train: &Sample,
    held_out: &Sample,
    settings: &Settings,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<f64, LearningError> {
    let learner = method.learner(settings, train.task())?;
    let mut fitting =
        Fitting { streams: streams.child("tuning fit"), limits, ..Fitting::seeded(0) };
    let fitted = learner.fit(train, &mut fitting)?;
    let metrics = score(&fitted.predictor.predict(held_out.inputs())?, held_out);
    let value = match train.task() {
        Task::Classification { .. } => metrics[Metric::Accuracy.name()],
        Task::Regression => -metrics[Metric::Rmse.name()],
    };
    if value.is_finite() {
        Ok(value)
    } else {
        let (operation, reason) = ("validation", json!(value).to_string());
        Err(LearningError::Numerical { operation, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_of_rows_is_a_share_of_those_that_there_are() {
        let studies = Tuner::default();
        let own = Tuner { of_rows: true, ..Tuner::default() };
        let amounts = |tuner: &Tuner, full, rows| -> Vec<u64> {
            tuner.efforts(full, rows).into_iter().filter_map(|(_, amount)| amount).collect()
        };
        assert_eq!(amounts(&studies, Some(12_000.0), None), [1333, 4000, 12_000]);
        assert_eq!(amounts(&own, Some(12_000.0), Some(900)), [100, 300, 900]);
        assert_eq!(amounts(&own, Some(12_000.0), Some(240)), [100, 240]);
        assert_eq!(amounts(&own, Some(12_000.0), Some(48)), [48]);
        assert_eq!(amounts(&own, Some(4000.0), Some(50_000)), [444, 1333, 4000]);
        assert_eq!(own.efforts(None, Some(48)), [(1.0, None)]);
        let efforts: Vec<f64> =
            own.efforts(Some(12_000.0), Some(240)).iter().map(|e| e.0).collect();
        assert_eq!(efforts, [100.0 / 240.0, 1.0]);
        // What studies have in their keys has not changed.
        assert!(!serde_json::to_string(&studies).unwrap().contains("of_rows"));
    }

    #[test]
    fn the_first_candidate_says_how_many_there_is_time_for() {
        let gone = std::time::Duration::from_secs(100);
        let timed = |seconds| Timed {
            limits: &mercer_learning::Unlimited,
            started: Instant::now().checked_sub(gone).expect("the machine runs for longer"),
            seconds,
        };
        // 2750 s hold 9 candidates on three rungs that cost 100 s each, and 27 fits in full.
        assert_eq!(timed(Some(2750.0)).affordable(3), 9);
        assert_eq!(timed(Some(2750.0)).affordable(1), 27);
        assert_eq!(timed(Some(101.0)).affordable(3), 2);
        assert_eq!(timed(None).affordable(3), usize::MAX);
        assert!(timed(Some(99.0)).late() && !timed(Some(2750.0)).late());
    }
}
