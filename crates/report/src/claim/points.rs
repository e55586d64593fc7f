//! Points of the curves of a method: where a value is smallest or peaks, and below what it stays.

use super::interval::{Interval, OPEN, Part, is_level, joint, over};
use super::scope::{Scope, Side, curve};
use super::{Answer, Holds};
use crate::cell::StudyCell;
use crate::peak::Repeats;
use mercer_render::probability;
use mercer_statistics::summarise;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A value peaks at a step, or is smaller there than at others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extremum {
    /// The method that is a whole curve.
    pub method: Side,
    /// The value.
    pub value: String,
    /// The step.
    pub at: u64,
    /// What it is there.
    #[serde(default)]
    pub is: Is,
}

/// What a value is at a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Is {
    /// An interior maximum that it rises to from a dip, there in 95 % of resampled repeats.
    #[default]
    Peak,
    /// That of its logarithm: for what grows without bound.
    PeakOfLogarithm,
    /// Smaller than at each of these steps: the corrected test, on every dataset.
    SmallerThanAt(Vec<u64>),
}

/// A value stays below a limit at these steps, on every dataset.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Below {
    /// The method that is a whole curve.
    pub method: Side,
    /// The value.
    pub value: String,
    /// The steps.
    pub at: Vec<u64>,
    /// The limit.
    pub limit: f64,
}

/// Repeat and value at a step of the curves of a cell.
pub(super) fn at(cell: &StudyCell, step: u64, value: &str) -> BTreeMap<u32, f64> {
    let of = |record: &mercer_records::Record| {
        Some((record.key.repeat, *curve(record, value).get(&step)?))
    };
    cell.records().filter_map(of).collect()
}

/// The mean of some numbers, if there are any.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    summarise(&values.collect::<Vec<_>>()).map(|summary| summary.mean)
}

fn no_curves() -> Answer {
    Answer::not_run("no curves")
}

impl Below {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        self.at.is_empty().then_some("`at` names no step")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Answer {
        let Self { value, limit, .. } = self;
        let (mut parts, mut largest): (Vec<Part>, _) = (Vec::new(), None::<(f64, &str)>);
        for cell in scope.cells(&self.method) {
            for step in &self.at {
                let room: Vec<f64> =
                    at(cell, *step, value).into_values().map(|v| limit - v).collect();
                let Some(room) = Interval::of(&room, cell.ratio_of(value)) else { continue };
                let mean = limit - room.mean;
                if largest.is_none_or(|(most, _)| mean > most) {
                    largest = Some((mean, &cell.key().dataset));
                }
                parts.push(room.above(0.0));
            }
        }
        let Some((most, dataset)) = largest else { return no_curves() };
        let shown = parts.iter().filter(|part| part.0 == Holds::Yes).count();
        let numbers = format!(
            "{value} below {limit} in {shown} of {} (corrected 95 % intervals); the largest mean is {most:.3}, on {dataset}",
            parts.len()
        );
        Answer::of(joint(&parts), numbers)
    }
}

impl Extremum {
    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Answer {
        let cells = scope.cells(&self.method);
        match &self.is {
            Is::Peak => self.peak(&cells, false),
            Is::PeakOfLogarithm => self.peak(&cells, true),
            Is::SmallerThanAt(others) => self.smallest(&cells, others),
        }
    }

    /// The corrected test against each of the other steps.
    fn smallest(&self, cells: &[&StudyCell], others: &[u64]) -> Answer {
        let (mut parts, mut ahead, mut levels) = (Vec::new(), 0, 0);
        let mut against = String::new();
        for cell in cells {
            let own = at(cell, self.at, &self.value);
            let size = mean(own.values().copied()).unwrap_or(0.0);
            for other in others {
                let theirs = at(cell, *other, &self.value);
                let gains: Vec<f64> = own
                    .iter()
                    .filter_map(|(repeat, value)| Some(theirs.get(repeat)? - value))
                    .collect();
                let Some(gain) = Interval::of(&gains, cell.ratio_of(&self.value)) else { continue };
                ahead += usize::from(gain.mean > 0.0);
                if gains.len() < 2 {
                    parts.push(OPEN);
                    continue;
                }
                let level = is_level(gain.mean, false, size);
                levels += usize::from(level);
                let part = gain.above_margin(level);
                if part.0 == Holds::No {
                    against.push_str(if against.is_empty() {
                        "; significantly worse on "
                    } else {
                        ", "
                    });
                    let (dataset, p) = (&cell.key().dataset, probability(part.1));
                    let _ = write!(against, "{dataset} ({:+.3}, p = {p})", gain.mean);
                }
                parts.push(part);
            }
        }
        if parts.is_empty() {
            return no_curves();
        }
        let shown = parts.iter().filter(|part| part.0 == Holds::Yes).count();
        let numbers = format!(
            "better in {ahead} of {} comparisons, {shown} of them significantly by the corrected test, within 1 % in {levels}{against}",
            parts.len()
        );
        Answer::of(joint(&parts), numbers)
    }

    /// An interior maximum next to the step.
    fn peak(&self, cells: &[&StudyCell], log: bool) -> Answer {
        let Some(curves) = Repeats::of(cells.iter().copied(), &self.value, log) else {
            return no_curves();
        };
        let (at, over) = (self.at, over(curves.count(), "repeat", 0.0));
        let Some(peak) = curves.peak() else {
            let holds = if curves.count() > 1 { Holds::No } else { Holds::Undecided };
            return Answer::counted(holds, format!("no peak, where {at} is claimed; {over}"));
        };
        let nearest = curves.sizes().iter().copied().min_by_key(|size| size.abs_diff(at));
        // The step itself need not be among the points: its neighbours on either side count.
        let below = curves.sizes().iter().copied().rfind(|&size| size <= at);
        let above = curves.sizes().iter().copied().find(|&size| size >= at);
        let near = |size: u64| [below, above, nearest].contains(&Some(size));
        let shown = |height: f64| if log { height.exp() } else { height };
        let mut found =
            format!("peak {:.3} at {}, where {at} is claimed", shown(peak.height), peak.at);
        if let (Some(below), Some(above)) = (below, above)
            && below < above
        {
            let _ = write!(found, " (not evaluated; {below} and {above} are)");
        }
        let (largest, place) = curves.largest();
        if largest > peak.height {
            let _ = write!(found, "; more still at {place}: {:.3}", shown(largest));
        }
        let Some(intervals) = curves.intervals() else {
            return Answer::counted(Holds::Undecided, format!("{found}; {over}"));
        };
        let (place, height) = (intervals.at, intervals.height);
        let holds = if near(place.0) && near(place.1) {
            Holds::Yes
        } else if place.1 < below.unwrap_or(0) || place.0 > above.unwrap_or(u64::MAX) {
            Holds::No
        } else {
            Holds::Undecided
        };
        // Single heights may have no mean: over draws of the features at M = n their variance has none.
        let of = if log { "the heights' geometric mean" } else { "height" };
        let numbers = format!(
            "{found}; from {} to {}, {of} {:.3} to {:.3}, {over}",
            place.0,
            place.1,
            shown(height.0),
            shown(height.1)
        );
        Answer::counted(holds, numbers)
    }
}
