//! A search under way: rung by rung, fewer candidates at each.

use super::{Rung, Timed, Tuner};
use crate::Parts;
use mercer_learning::{Fitting, LearningError, Method, Metric, Settings, Streams, Task};
use mercer_records::TuningStep;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) method: &'a Method,
    /// What trains the candidates, and what scores them: once, or in folds.
    pub(super) parts: &'a [Parts],
    pub(super) defaults: &'a Settings,
    pub(super) tuner: &'a Tuner,
    pub(super) streams: &'a Streams,
    pub(super) timed: Timed<'a>,
    /// Every candidate at every rung that it was tried at.
    pub(super) history: Vec<TuningStep>,
    /// Why a candidate could not be fitted, of the first that could not.
    pub(super) first_error: Option<LearningError>,
}

impl Search<'_> {
    /// Fits the candidates rung by rung, fewer at each, and gives the best of the last rung that has a
    /// score.
    pub(super) fn climb(
        &mut self,
        mut candidates: Vec<Settings>,
        rungs: &[Rung],
    ) -> Result<Option<Settings>, LearningError> {
        let mut best = None;
        for (height, &rung) in rungs.iter().enumerate() {
            // Time for the first rung is time for the others, which cost as much.
            let foreseen = (height == 0).then_some(rungs.len());
            let (ranked, out_of_time) = self.ranked(candidates, rung, foreseen)?;
            if !(out_of_time && ranked.is_empty()) {
                best = ranked.first().cloned();
            }
            let Some(next) = rungs.get(height + 1).filter(|_| !out_of_time) else { break };
            let keep = self.tuner.kept(ranked.len(), next.effort / rung.effort);
            if ranked.is_empty() || (self.tuner.sparing && keep == 1) {
                break;
            }
            candidates = ranked;
            candidates.truncate(keep);
        }
        Ok(best)
    }

    /// The candidates that a rung gives a score, the best first, and whether the tuner's seconds ended
    /// it early. With `foreseen` rungs to climb, the first candidate's time says how many are tried.
    fn ranked(
        &mut self,
        candidates: Vec<Settings>,
        rung: Rung,
        foreseen: Option<usize>,
    ) -> Result<(Vec<Settings>, bool), LearningError> {
        let mut scored: Vec<(f64, Settings)> = Vec::new();
        let mut affordable = usize::MAX;
        let mut out_of_time = false;
        for (at, candidate) in candidates.into_iter().enumerate() {
            if let (1, Some(rungs)) = (at, foreseen) {
                affordable = self.timed.affordable(rungs);
            }
            // One candidate is always begun, however small the budget.
            out_of_time = !self.history.is_empty() && self.timed.late();
            if out_of_time || at >= affordable {
                break;
            }
            let score = match self.score(&candidate, rung) {
                Ok(score) => Some(score),
                Err(stop) if self.timed.ended(&stop) => {
                    out_of_time = true;
                    None
                }
                Err(stop @ (LearningError::Interrupted | LearningError::OutOfTime { .. })) => {
                    return Err(stop);
                }
                Err(error) => {
                    self.first_error.get_or_insert(error);
                    None
                }
            };
            let (settings, effort) = (named(&candidate), rung.effort);
            self.history.push(TuningStep { settings, effort, score });
            scored.extend(score.map(|score| (score, candidate)));
            if out_of_time {
                break;
            }
        }
        // A stable sort: ties stay in the order of the candidates.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok((scored.into_iter().map(|(_, candidate)| candidate).collect(), out_of_time))
    }

    /// Fits a candidate with what a rung gives it and scores it on the rows held out, an error with its sign
    /// turned; in the mean over folds.
    fn score(&self, candidate: &Settings, rung: Rung) -> Result<f64, LearningError> {
        let mut settings = self.defaults.clone().overridden_by(candidate);
        if let (Some(name), Some(amount)) = (self.method.resource, rung.amount) {
            settings = settings.with(name, amount);
        }
        let (mut sum, mut defined) = (0.0, 0_usize);
        for (fold, Parts { train, test }) in self.parts.iter().enumerate() {
            let learner = self.method.learner(&settings, train.task())?;
            // Each fold starts elsewhere: a start that is lucky for one is not what the final fit begins with.
            let streams = self.streams.child("tuning fit");
            let streams = if fold == 0 { streams } else { streams.child(&fold.to_string()) };
            let room = rung.amount.is_none_or(|amount| amount >= train.task().outputs() as u64);
            let (limits, every_class) = (&self.timed, self.tuner.defaults_first && room);
            let mut fitting = Fitting { streams, limits, every_class, ..Fitting::seeded(0) };
            let fitted = learner.fit(train, &mut fitting)?;
            let metric = self.tuner.metric.unwrap_or(match train.task() {
                Task::Classification { .. } => Metric::Accuracy,
                Task::Regression => Metric::Rmse,
            });
            // Rows that lack a class, say, do not define it: the other folds tell, the same for every candidate.
            let Some(value) = metric.of(&*fitted.predictor, test)? else {
                if fold + 1 < self.parts.len() || defined > 0 {
                    continue;
                }
                return Err(LearningError::Numerical {
                    operation: "validation",
                    reason: format!(
                        "`{}` is not defined: the method has no probabilities, or the rows lack a class; tune by \
                         another metric (--metric)",
                        metric.name()
                    ),
                });
            };
            sum += if metric.larger_is_better() { value } else { -value };
            defined += 1;
        }
        let value = sum / defined as f64;
        if value.is_finite() {
            Ok(value)
        } else {
            let (operation, reason) = ("validation", json!(value).to_string());
            Err(LearningError::Numerical { operation, reason })
        }
    }
}

pub(super) fn named(settings: &Settings) -> BTreeMap<String, Value> {
    settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}
