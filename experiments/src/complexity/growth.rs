use super::{REPEATS, Scaling};
use mercer_render::{Cell, Column, Row, Table};
use mercer_statistics::{Line, line, summarise};
use std::collections::BTreeMap;

/// Share of the operations that the named term must have.
pub(super) const DOMINANT: f64 = 0.8;

/// By how much an exponent may miss: other terms, a fifth of the operations at most, can move it by
/// `ln(1/0.8) / ln 4` over a factor of four.
const MARGIN: f64 = 0.16;

/// Half-width of an interval beyond which nothing is said.
const WIDEST: f64 = 0.5;

/// How a measured exponent stands to a printed one. A cost in `O` notation bounds from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The interval comes within the margin of the printed exponent.
    Holds,
    /// The interval lies below: the bound holds, and is not tight over these sizes.
    Below,
    /// The interval lies above.
    Fails,
    /// The interval is too wide, or sizes are missing.
    Undecided,
}

impl Verdict {
    const fn text(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Below => "holds as a bound, grows less",
            Self::Fails => "does not hold",
            Self::Undecided => "undecided",
        }
    }

    fn of(claimed: f64, interval: Option<(f64, f64)>) -> Self {
        match interval {
            Some((low, high)) if high - low <= 2.0 * WIDEST => {
                if low > claimed + MARGIN {
                    Self::Fails
                } else if high < claimed - MARGIN {
                    Self::Below
                } else {
                    Self::Holds
                }
            }
            _ => Self::Undecided,
        }
    }
}

/// A series with what was measured of it.
pub(crate) struct Growth {
    scaling: &'static Scaling,
    /// Exponent of the printed cost over the same sizes.
    claimed: f64,
    /// Through the logarithms of sizes and median seconds; none if a size is missing.
    measured: Option<Line>,
    /// Exponent of the counted operations: of the code as it is, so that a better count needs no new
    /// times.
    counted: Option<f64>,
    /// Smallest share of the named term.
    share: f64,
    /// Median seconds at the largest size.
    longest: Option<f64>,
}

impl Growth {
    /// From the seconds of a record.
    pub(super) fn of(scaling: &'static Scaling, seconds: &BTreeMap<String, f64>) -> Self {
        let logarithms = |at: &dyn Fn(usize) -> Option<f64>| -> Option<Line> {
            let point = |&value: &usize| Some(((value as f64).ln(), at(value)?.ln()));
            line(&scaling.values.iter().map(point).collect::<Option<Vec<_>>>()?).ok()
        };
        let median = |value: usize| {
            let name = scaling.named("seconds", value);
            let times = (1..=REPEATS).map(|repeat| seconds.get(&format!("{name} #{repeat}")));
            Some(summarise(&times.map(Option::<&f64>::copied).collect::<Option<Vec<_>>>()?)?.median)
        };
        let shares = scaling.values.iter().map(|&value| {
            let work = (scaling.work)(value);
            work.named / work.all
        });
        Self {
            scaling,
            claimed: logarithms(&|value| Some((scaling.printed)(value as f64)))
                .map_or(f64::NAN, |line| line.slope),
            measured: logarithms(&median),
            counted: logarithms(&|value| Some((scaling.work)(value).all)).map(|line| line.slope),
            share: shares.fold(1.0, f64::min),
            longest: median(scaling.values[4]),
        }
    }

    /// The 95 % interval of the exponent.
    fn interval(&self) -> Option<(f64, f64)> {
        self.measured?.interval(0.95).ok()
    }

    /// How the claim stands.
    pub(crate) fn verdict(&self) -> Verdict {
        match Verdict::of(self.claimed, self.interval()) {
            // Other terms can only have added to the time.
            Verdict::Below => Verdict::Below,
            verdict if self.share >= DOMINANT => verdict,
            _ => Verdict::Undecided,
        }
    }

    fn row(&self) -> Row {
        let scaling = self.scaling;
        let or_dash = |cell: Option<Cell>| cell.unwrap_or_else(|| Cell::text("-"));
        let interval = self.interval().map(|(low, high)| format!("{low:.2} to {high:.2}"));
        Row::new([
            Cell::text(scaling.title),
            Cell::text(scaling.claim),
            Cell::text(scaling.variable),
            Cell::count(scaling.values[0]),
            Cell::count(scaling.values[4]),
            Cell::number(self.claimed, 2),
            or_dash(self.measured.map(|line| Cell::number(line.slope, 2))),
            or_dash(interval.map(Cell::text)),
            or_dash(self.counted.map(|slope| Cell::number(slope, 2))),
            Cell::number(100.0 * self.share, 0),
            or_dash(self.longest.map(|seconds| Cell::number(seconds, 3))),
            Cell::text(self.verdict().text()),
        ])
        .under(scaling.source)
    }
}

/// One row a series.
pub(crate) fn growth_table<'a>(
    id: &str,
    title: &str,
    growths: impl IntoIterator<Item = &'a Growth>,
) -> Table {
    let table = Table::new(id, title)
        .caption(format!(
            "Exponent of the processor seconds in one size at a time, the others fixed: least squares on the logarithms of five medians of {REPEATS} (each the mean of runs of a tenth of a second in all), no threads asked for, with the 95 % interval of the slope (t, 3 degrees of freedom). Printed: exponent of the printed cost over the same sizes. Operations: exponent of the counted operations of all terms. Share: smallest share of the printed terms in them; below 80 % no more is said than that the time grows less. A claim holds where the interval comes within {MARGIN} of the printed exponent (what a fifth of the operations can move it by over a factor of four), holds as a bound where it lies below, and does not hold where it lies above."
        ))
        .columns(["Method", "Printed cost", "In"].map(Column::left))
        .columns(
            ["From", "To", "Printed", "Measured", "95 %", "Operations", "Share (%)", "Longest (s)"]
                .map(Column::right),
        )
        .columns([Column::left("Verdict")]);
    growths.into_iter().fold(table, |table, growth| table.row(growth.row()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complexity::Work;

    const SQUARE: Scaling = Scaling {
        method: "square",
        title: "Square",
        claim: "O(n²)",
        source: "a test",
        variable: "n",
        values: [10, 14, 20, 28, 40],
        printed: |n| n * n,
        work: |n| Work { named: (n * n) as f64, all: (n * n) as f64 },
        seconds: |n| Ok((n * n) as f64),
    };
    static SERIES: [Scaling; 2] = [
        SQUARE,
        Scaling { work: |n| Work { named: (n * n) as f64, all: (2 * n * n) as f64 }, ..SQUARE },
    ];

    fn growth(time: impl Fn(f64) -> f64) -> Growth {
        growth_of(&SERIES[0], time)
    }

    fn growth_of(scaling: &'static Scaling, time: impl Fn(f64) -> f64) -> Growth {
        let mut seconds = BTreeMap::new();
        for value in SQUARE.values {
            for repeat in 1..=REPEATS {
                // One repeat is far off: medians do not care.
                let off = if repeat == 2 { 50.0 } else { 1.0 };
                seconds.insert(
                    format!("{} #{repeat}", SQUARE.named("seconds", value)),
                    off * time(value as f64),
                );
            }
        }
        Growth::of(scaling, &seconds)
    }

    #[test]
    fn a_power_law_is_found_and_judged() {
        let square = growth(|n| 3e-6 * n * n);
        assert!((square.claimed - 2.0).abs() < 1e-12);
        assert!((square.measured.unwrap().slope - 2.0).abs() < 1e-12);
        assert_eq!(square.verdict(), Verdict::Holds);
        assert_eq!(growth(|n| n.powf(2.15)).verdict(), Verdict::Holds);
        assert_eq!(growth(|n| n.powf(2.17)).verdict(), Verdict::Fails);
        assert_eq!(growth(|n| n.powf(1.83)).verdict(), Verdict::Below);
        // Times that jump say nothing.
        assert_eq!(growth(|n| if n < 15.0 { n } else { n * n }).verdict(), Verdict::Undecided);
    }

    #[test]
    fn a_missing_size_or_a_small_share_leaves_it_open() {
        let mut seconds = BTreeMap::new();
        SQUARE.measure(&mut seconds).unwrap();
        assert_eq!(Growth::of(&SERIES[0], &seconds).verdict(), Verdict::Holds);
        // Half of the operations are others: that it grows less can be said, and nothing else.
        let half = |time: fn(f64) -> f64| growth_of(&SERIES[1], time).verdict();
        assert_eq!(half(|n| n * n), Verdict::Undecided);
        assert_eq!(half(|n| n.powi(3)), Verdict::Undecided);
        assert_eq!(half(|n| n), Verdict::Below);
        seconds.remove("seconds square n=20 #3");
        let missing = Growth::of(&SERIES[0], &seconds);
        assert!(missing.measured.is_none());
        assert_eq!(missing.verdict(), Verdict::Undecided);
    }
}
