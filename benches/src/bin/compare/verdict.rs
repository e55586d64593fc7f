//! The statistic of a comparison, and when it is an alarm.

use mercer_statistics::{StatisticsError, row_bootstrap};
use serde::Serialize;

/// The least slowdown, and the least growth of a count of instructions, that matters.
pub const GATE: f64 = 0.03;

/// Which build a measurement is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    Base,
    Head,
    /// The base again: it differs from the base by noise alone.
    Control,
}

/// Returns the four pairs of a round: the head with the base, and the control with the base, each in both places. A
/// place is a processor, or the turn where one runs after the other. Whatever favours a place cancels.
pub const fn pairs(round: usize) -> [[Arm; 2]; 4] {
    use Arm::{Base, Control, Head};
    if round.is_multiple_of(2) {
        [[Base, Head], [Control, Base], [Base, Control], [Head, Base]]
    } else {
        [[Control, Base], [Base, Head], [Head, Base], [Base, Control]]
    }
}

/// Log-ratios to the base of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    pub head: f64,
    pub control: f64,
}

impl Round {
    /// Takes the arms and the times of the four pairs.
    pub fn new(pairs: [([Arm; 2], [f64; 2]); 4]) -> Self {
        let ratio = |wanted| -> f64 {
            let of = |(arms, times): &([Arm; 2], [f64; 2])| {
                let log = (times[1] / times[0]).ln();
                match arms {
                    [_, arm] if *arm == wanted => 0.5 * log,
                    [arm, _] if *arm == wanted => -0.5 * log,
                    _ => 0.0,
                }
            };
            pairs.iter().map(of).sum()
        };
        Self { head: ratio(Arm::Head), control: ratio(Arm::Control) }
    }
}

/// A relative change and its 95 % interval: 0.05 is 5 % slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// What one run found of one bench.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Head over base.
    pub head: Change,
    /// Base over base.
    pub control: Change,
    pub rounds: Vec<Round>,
}

impl Run {
    /// Medians over the rounds, with intervals by a bootstrap over the rounds.
    pub fn new(rounds: Vec<Round>) -> Result<Self, StatisticsError> {
        let columns = [|round: &Round| round.head, |round: &Round| round.control]
            .map(|of| rounds.iter().map(of).collect::<Vec<f64>>());
        let medians = |drawn: &[f64]| {
            columns.iter().map(|values| median(values, drawn)).collect::<Vec<f64>>()
        };
        let intervals = row_bootstrap(rounds.len(), medians, 2000, 0.95, 1)?;
        let all = vec![1.0; rounds.len()];
        let change = |at: usize| {
            let found: f64 = median(&columns[at], &all);
            // Rounds that agree have no spread.
            let (low, high) = intervals[at].unwrap_or((found, found));
            Change { median: found.exp_m1(), low: low.exp_m1(), high: high.exp_m1() }
        };
        Ok(Self { head: change(0), control: change(1), rounds })
    }

    /// Returns the farther end of the control's interval: what noise alone does in this run.
    pub fn floor(&self) -> f64 {
        self.control.low.abs().max(self.control.high.abs())
    }

    fn limit(&self) -> f64 {
        self.floor().max(GATE)
    }

    /// Returns whether the whole interval lies above both limits.
    pub fn is_slower(&self) -> bool {
        self.head.low > self.limit()
    }

    fn is_faster(&self) -> bool {
        self.head.high < -self.limit()
    }
}

/// The median of values that were each drawn so many times.
fn median(values: &[f64], drawn: &[f64]) -> f64 {
    let mut sorted: Vec<(f64, f64)> = values
        .iter()
        .copied()
        .zip(drawn.iter().copied())
        .filter(|(_, times)| *times > 0.0)
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * drawn.iter().sum::<f64>();
    let mut below = 0.0;
    for (at, &(value, times)) in sorted.iter().enumerate() {
        below += times;
        if below > half {
            return value;
        }
        if below >= half {
            return 0.5 * (value + sorted[at + 1].0);
        }
    }
    f64::NAN
}

/// The verdict on a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Slower,
    /// The two runs disagree, and the instructions grew.
    SlowerByInstructions,
    /// A commit message accepts the slowdown.
    Accepted,
    Unconfirmed,
    NoDifference,
    Faster,
    /// The base does not have it.
    New,
    Vanished,
}

impl Verdict {
    /// Judges a first run, a second one, and the growth of the instructions. The second run is made where the first is
    /// slower.
    pub fn of(
        first: &Run,
        second: Option<&Run>,
        instructions: Option<f64>,
        accepted: bool,
    ) -> Self {
        let verdict = match (first.is_slower(), second.is_some_and(Run::is_slower)) {
            (true, true) => Self::Slower,
            (true, false) if instructions.is_some_and(|growth| growth > GATE) => {
                Self::SlowerByInstructions
            }
            (true, false) => Self::Unconfirmed,
            _ if first.is_faster() => Self::Faster,
            _ => Self::NoDifference,
        };
        if accepted && verdict.fails() { Self::Accepted } else { verdict }
    }

    pub const fn fails(self) -> bool {
        matches!(self, Self::Slower | Self::SlowerByInstructions | Self::Vanished)
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::Slower => "SLOWER",
            Self::SlowerByInstructions => "SLOWER: the runs disagree, more instructions",
            Self::Accepted => "slower, accepted by a commit",
            Self::Unconfirmed => "not confirmed",
            Self::NoDifference => "no difference",
            Self::Faster => "faster",
            Self::New => "new",
            Self::Vanished => "VANISHED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_has_each_place_as_often() {
        for round in 0..2 {
            let found = pairs(round);
            let count = |pair: [Arm; 2]| found.iter().filter(|other| **other == pair).count();
            for arm in [Arm::Head, Arm::Control] {
                assert_eq!((count([Arm::Base, arm]), count([arm, Arm::Base])), (1, 1));
            }
        }
        assert_ne!(pairs(0), pairs(1));
    }

    /// A head that is 8 % slower, in a second place that is 30 % slower, while the machine slows from pair to pair.
    #[test]
    fn places_and_what_both_feel_cancel_and_the_slowdown_stays() {
        for round in 0..2 {
            let mut both = 1.0;
            let round = Round::new(pairs(round).map(|arms| {
                both *= 1.4;
                let own = |arm| if arm == Arm::Head { 1.08 } else { 1.0 };
                (arms, [both * own(arms[0]), 1.3 * both * own(arms[1])])
            }));
            assert!((round.head - 1.08_f64.ln()).abs() < 1e-12, "{round:?}");
            assert!(round.control.abs() < 1e-12, "{round:?}");
        }
    }

    fn run(head: &[f64], control: &[f64]) -> Run {
        let rounds = head.iter().zip(control);
        Run::new(rounds.map(|(&head, &control)| Round { head, control }).collect()).unwrap()
    }

    #[test]
    fn the_change_is_the_median_and_one_wild_round_does_not_move_it() {
        let mut head = [0.08_f64.ln_1p(); 11];
        head[4] = 3.0;
        let found = run(&head, &[0.0; 11]);
        assert!((found.head.median - 0.08).abs() < 1e-12);
        assert!((found.head.low - 0.08).abs() < 1e-12 && (found.head.high - 0.08).abs() < 1e-12);
        assert_eq!((found.control.median, found.floor()), (0.0, 0.0));
        // Ten rounds of half and half: between the two middle ones.
        let halves = [0.0, 0.2].map(|log| [log; 5]).concat();
        assert!((run(&halves, &[0.0; 10]).head.median - 0.1_f64.exp_m1()).abs() < 1e-12);
    }

    /// The interval of a median of eleven has order statistics for ends: the second and the tenth have a coverage of
    /// 0.988, the third and the ninth one of 0.935.
    #[test]
    fn the_interval_lies_between_the_order_statistics_that_cover_it() {
        let logs: Vec<f64> = (0..11).map(|i| 0.01 * f64::from(i)).collect();
        let found = run(&logs, &[0.0; 11]);
        let log = |change: f64| change.ln_1p();
        assert!((log(found.head.median) - 0.05).abs() < 1e-12);
        assert!((0.01 - 1e-9..=0.03).contains(&log(found.head.low)), "{found:?}");
        assert!((0.07..=0.09 + 1e-9).contains(&log(found.head.high)), "{found:?}");
    }

    fn of(low: f64, high: f64, floor: f64) -> Run {
        let head = Change { median: 0.5 * (low + high), low, high };
        let control = Change { median: 0.0, low: -floor, high: 0.5 * floor };
        Run { head, control, rounds: Vec::new() }
    }

    #[test]
    fn an_alarm_clears_three_per_cent_and_the_floor_twice() {
        let slower = of(0.05, 0.11, 0.02);
        for (first, second, instructions, verdict) in [
            (of(0.05, 0.11, 0.02), Some(slower.clone()), None, Verdict::Slower),
            // Equal instructions do not acquit what is slower twice.
            (of(0.05, 0.11, 0.02), Some(slower.clone()), Some(0.0), Verdict::Slower),
            (of(0.029, 0.11, 0.02), Some(slower.clone()), None, Verdict::NoDifference),
            (of(0.05, 0.11, 0.06), Some(slower.clone()), None, Verdict::NoDifference),
            (of(0.05, 0.11, 0.02), Some(of(0.02, 0.11, 0.02)), None, Verdict::Unconfirmed),
            (of(0.05, 0.11, 0.02), None, None, Verdict::Unconfirmed),
            (of(0.05, 0.11, 0.02), Some(of(0.05, 0.11, 0.2)), Some(0.03), Verdict::Unconfirmed),
            (
                of(0.05, 0.11, 0.02),
                Some(of(0.02, 0.11, 0.02)),
                Some(0.031),
                Verdict::SlowerByInstructions,
            ),
            // Instructions alone are the affair of `just bench-counts`.
            (of(-0.01, 0.01, 0.02), None, Some(0.2), Verdict::NoDifference),
            (of(-0.09, -0.04, 0.02), None, None, Verdict::Faster),
            (of(-0.09, -0.02, 0.02), None, None, Verdict::NoDifference),
            (of(-0.09, -0.04, 0.05), None, None, Verdict::NoDifference),
        ] {
            let found = Verdict::of(&first, second.as_ref(), instructions, false);
            assert_eq!(found, verdict, "{first:?} {second:?}");
            let accepted = Verdict::of(&first, second.as_ref(), instructions, true);
            assert!(!accepted.fails());
            assert_eq!(accepted == Verdict::Accepted, verdict.fails());
        }
    }
}
