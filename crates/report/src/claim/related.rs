//! A smaller value goes with a larger one.

use super::interval::{Interval, over};
use super::points::{at, mean};
use super::scope::{Scope, Side, curve};
use super::{Answer, Holds};
use crate::cell::StudyCell;
use mercer_statistics::summarise;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A smaller value goes with a larger other one: Kendall's τ over methods at the end of training, repeat by repeat; or
/// over points of the curves of one, dataset by dataset.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Related {
    /// The methods. One of another variant is left out where it has no curves.
    pub methods: Vec<Side>,
    /// What should be smaller.
    pub smaller: String,
    /// What should be larger.
    pub larger: String,
    /// The claim is that they are hardly related over points of the curves of one method.
    pub weakly: Option<Weakly>,
}

/// What is hardly related.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weakly {
    /// Steps of points that are compared with each other.
    pub groups: Vec<Vec<u64>>,
    /// τ that is still weak.
    pub within: f64,
}

/// Pairs of fits below which any order is chance: one pair is in order every other time.
const FEWEST_PAIRS: usize = 5;

/// Both values of some fits at the end of training, by repeat.
type Ends = BTreeMap<u32, (f64, f64)>;

impl Related {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let one = self.methods.len() == 1;
        (one != self.weakly.is_some())
            .then_some("name two `methods`, or one that is `weakly` related")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Answer {
        match &self.weakly {
            Some(weakly) => self.over_points(scope, weakly),
            None => self.over_methods(scope),
        }
    }

    fn over_methods(&self, scope: Scope<'_>) -> Answer {
        let (mut fits, mut ratio) = (Vec::new(), 0.0f64);
        for side in &self.methods {
            let cells = scope.cells(side);
            match cells.first().filter(|cell| cell.score().is_some()) {
                Some(cell) => {
                    fits.push(self.ends(cell));
                    ratio = ratio.max(cell.test_over_train());
                }
                None if side.here().is_some() => return Answer::not_run("no curves"),
                None => {}
            }
        }
        in_order(&fits, ratio).map_or_else(
            || Answer::not_run("no curves"),
            |(part, told)| {
                let Self { smaller, larger, .. } = self;
                let numbers = format!("Kendall's τ of smaller {smaller} with higher {larger} at the end of training, {told}");
                Answer::of(part, numbers)
            },
        )
    }

    fn ends(&self, cell: &StudyCell) -> Ends {
        let of = |record: &mercer_records::Record| {
            let end = |value: &str| curve(record, value).last_key_value().map(|(_, end)| *end);
            Some((record.key.repeat, (end(&self.smaller)?, end(&self.larger)?)))
        };
        cell.records().filter_map(of).collect()
    }

    /// Of the means of each group of points; the interval is over datasets.
    fn over_points(&self, scope: Scope<'_>, weakly: &Weakly) -> Answer {
        let mut taus = Vec::new();
        for cell in self.methods.iter().flat_map(|side| scope.cells(side)) {
            let mut orders = Vec::new();
            for group in &weakly.groups {
                let of = |step: u64, value: &str| mean(at(cell, step, value).into_values());
                let point = |&step: &u64| Some((of(step, &self.smaller)?, of(step, &self.larger)?));
                orders.extend(pairs(&group.iter().filter_map(point).collect::<Vec<_>>()));
            }
            taus.extend(mean(orders.into_iter().filter(|order| *order != 0.0)));
        }
        let Some(tau) = Interval::of(&taus, 0.0) else { return Answer::not_run("no curves") };
        let numbers = format!(
            "Kendall's τ of smaller {} with higher {} {}; {}; weak: within {}",
            self.smaller,
            self.larger,
            tau.text(2),
            over(taus.len(), "dataset", 0.0),
            weakly.within
        );
        Answer { p: None, ..Answer::of(tau.within(weakly.within), numbers) }
    }
}

/// Of each pair of points: 1 if the one with the smaller first number has the larger second, −1 if the smaller, 0 if
/// they are equal in one.
fn pairs(points: &[(f64, f64)]) -> Vec<f64> {
    let pairs =
        points.iter().enumerate().flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (a, b)));
    pairs
        .map(|(a, b)| match (b.0 - a.0) * (a.1 - b.1) {
            product if product > 0.0 => 1.0,
            product if product < 0.0 => -1.0,
            _ => 0.0,
        })
        .collect()
}

/// Kendall's τ in each repeat that all fits have: what is equal is neither in order nor against it.
fn in_order(fits: &[Ends], ratio: f64) -> Option<(super::interval::Part, String)> {
    let tau = |repeat: &u32| {
        let row: Option<Vec<(f64, f64)>> = fits.iter().map(|of| of.get(repeat).copied()).collect();
        let orders = pairs(&row?);
        Some((orders.len(), summarise(&orders)?.mean))
    };
    let taus: Vec<(usize, f64)> = fits.first()?.keys().filter_map(tau).collect();
    let &(pairs, _) = taus.first()?;
    let tau = Interval::of(&taus.iter().map(|(_, tau)| *tau).collect::<Vec<_>>(), ratio)?;
    let (holds, p) = tau.above(0.0);
    let holds = if pairs < FEWEST_PAIRS { Holds::Undecided } else { holds };
    let told = format!(
        "over {pairs} pairs of {} fits: {}; {}",
        fits.len(),
        tau.text(4),
        over(taus.len(), "repeat", ratio)
    );
    Some(((holds, p), told))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three fits are three pairs, which chance puts in order every sixth time.
    #[test]
    fn an_order_of_fits_needs_pairs_and_repeats() {
        let fits = |ends: &[(f64, f64)]| -> Vec<Ends> {
            let repeats = |end: (f64, f64)| (0..3).map(move |r| (r, (end.0 + f64::from(r), end.1)));
            ends.iter().map(|end| repeats(*end).collect()).collect()
        };
        let falling = [(4.0, 0.1), (3.0, 0.2), (2.0, 0.3), (1.0, 0.4)];
        let rising = falling.map(|(value, accuracy)| (-value, accuracy));
        let table: &[(&[(f64, f64)], Holds)] =
            &[(&falling, Holds::Yes), (&rising, Holds::No), (&falling[..3], Holds::Undecided)];
        for (ends, holds) in table {
            assert_eq!(
                in_order(&fits(ends), 0.0).map(|(part, _)| part.0),
                Some(*holds),
                "{ends:?}"
            );
        }
        let (_, told) = in_order(&fits(&[falling[0], falling[1], (2.0, 0.15)]), 0.0).unwrap();
        // Two pairs in order, one against.
        assert_eq!(told, "over 3 pairs of 3 fits: 0.3333 (0.3333 to 0.3333); 95 % over 3 repeats");
        assert_eq!(in_order(&[], 0.0), None);
        assert_eq!(in_order(&[Ends::new(), Ends::new()], 0.0), None);
    }
}
