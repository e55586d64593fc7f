//! How the time of a method grows with one size, held against what a paper prints.
//!
//! A [`Scaling`] is one variable of one cost: five sizes over a factor of at least four, all else fixed, at which the
//! term that the paper names is at least four fifths of the operations. Each size is timed a few times; a line through
//! the logarithms of the medians gives an exponent with its interval, and that a verdict against the exponent that the
//! printed cost has over the same sizes.

use crate::rendered::{Head, Own};
use crate::{ExperimentError, RenderContext, Simulation};
use mercer_learning::LearningError;
use mercer_render::{Cell, Column, Row, Table};
use mercer_statistics::{Line, line, summarise};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Times that each size is timed; the median counts.
pub const REPEATS: usize = 3;

/// Counted floating-point operations; a multiply-add is two.
#[derive(Debug, Clone, Copy)]
pub struct Operations {
    /// Of the terms that the claim names.
    pub named: f64,
    /// Of all terms.
    pub all: f64,
}

/// One variable of one cost that a paper claims, or that we do.
#[derive(Debug)]
pub struct Scaling {
    /// What is timed; with the variable, the name of the series in the record.
    pub method: &'static str,
    /// The same for a reader.
    pub title: &'static str,
    /// The cost as printed, `O(n³)`.
    pub claim: &'static str,
    /// Who claims it, and where.
    pub source: &'static str,
    /// The size that varies.
    pub variable: &'static str,
    /// Its values.
    pub values: [usize; 5],
    /// The printed cost there, up to a constant.
    pub printed: fn(f64) -> f64,
    /// Operations there.
    pub work: fn(usize) -> Operations,
    /// Processor seconds there, of one run, no threads asked for.
    pub seconds: fn(usize) -> Result<f64, LearningError>,
}

impl Scaling {
    /// What a record calls a number of it at one of its values.
    pub fn named(&self, what: &str, value: usize) -> String {
        format!("{what} {} {}={value}", self.method, self.variable)
    }
}

/// A measurement and what it measures, with what its rows need said.
pub struct Timing {
    /// Its record has the times.
    pub measurement: &'static Simulation,
    /// In the order of a table.
    pub series: &'static [Scaling],
    /// Lines below it.
    pub notes: &'static [&'static str],
}

/// A table of exponents: what the simulations of an artefact measured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exponents {
    /// The end of its id, where the artefact shows more than this.
    pub name: Option<String>,
    /// In place of the artefact's.
    title: Option<String>,
}

impl Exponents {
    /// The table.
    ///
    /// # Errors
    /// If nothing is declared about one of the simulations.
    pub(crate) fn table(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
        simulations: &[String],
    ) -> Result<Table, ExperimentError> {
        let (mut all, mut notes, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for name in simulations {
            let timing = context.catalogue.timing(name).ok_or_else(|| {
                let reason = format!("`{name}` measures no times of series");
                artefact.in_file(crate::query::form(&reason))
            })?;
            notes.extend(timing.notes.iter().copied());
            match context.records.get(&timing.measurement.key()) {
                Some(record) => {
                    let seconds = &record.run.seconds;
                    all.extend(timing.series.iter().map(|own| Growth::of(own, seconds)));
                }
                None => missing.push(name.as_str()),
            }
        }
        let Own { id, title, .. } =
            artefact.with(self.name.as_deref(), self.title.as_deref(), None);
        let table = notes.into_iter().fold(growth_table(&id, &title, &all), Table::note);
        let missing = missing.join(", ");
        Ok(if missing.is_empty() {
            table
        } else {
            table.note(format!("Not run yet ({missing}): mercer reproduce {}", artefact.id))
        })
    }
}

/// Share of the operations that the named term must have.
pub const DOMINANT: f64 = 0.8;

/// By how much the terms that a cost does not name can move the slope of a line.
///
/// With `T = N / s`, where the named term `N` is the share `s` of all, `share ≤ s ≤ 1`, the logarithm of the
/// time is that of `N` and `ln(1/s)`, from 0 to `ln(1/share)`. Over the ends alone that moves a slope by
/// `ln(1/share) / ln(last/first)`, `ln(1/share) / ln 4` over a factor of four. The slope of least squares is
/// `Σ cᵢ ln Tᵢ` with `cᵢ = (xᵢ − x̄) / Σ (x − x̄)²`, so the worst that numbers of that range can do is
/// `ln(1/share) Σ max(cᵢ, 0)`: a fifth more than by the ends for five sizes at equal ratios. Nothing where
/// the named term is all there is.
fn margin(share: f64, values: &[usize]) -> f64 {
    let x: Vec<f64> = values.iter().map(|&value| (value as f64).ln()).collect();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let spread: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    let above: f64 = x.iter().map(|x| (x - mean).max(0.0)).sum();
    -share.ln() * above / spread
}

/// Width of an interval beyond which nothing is said.
const WIDEST: f64 = 1.0;
/// Width beyond which an interval that has the printed exponent has one a quarter away as well.
const NARROW: f64 = 0.5;

/// How a measured exponent stands to a printed one. A cost in `O` notation bounds from above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// A narrow interval comes within the margin of the printed exponent.
    Holds,
    /// A wide one does: of the printed exponent, and of others.
    Agrees,
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
            Self::Agrees => "agrees, in a wide interval",
            Self::Below => "holds as a bound, grows less",
            Self::Fails => "fails",
            Self::Undecided => "inconclusive",
        }
    }

    fn of(claimed: f64, interval: Option<(f64, f64)>, margin: f64) -> Self {
        // An exact power law misses its exponent by rounding.
        let margin = margin + 1e-9;
        match interval {
            Some((low, high)) if high - low <= WIDEST => {
                if low > claimed + margin {
                    Self::Fails
                } else if high < claimed - margin {
                    Self::Below
                } else if high - low <= NARROW {
                    Self::Holds
                } else {
                    Self::Agrees
                }
            }
            _ => Self::Undecided,
        }
    }
}

/// A series with what was measured of it.
struct Growth {
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
    fn of(scaling: &'static Scaling, seconds: &BTreeMap<String, f64>) -> Self {
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

    /// How far from the printed exponent the measured one may lie.
    fn margin(&self) -> f64 {
        margin(self.share, &self.scaling.values)
    }

    /// How the claim stands.
    fn verdict(&self) -> Verdict {
        if self.share >= DOMINANT {
            return Verdict::of(self.claimed, self.interval(), self.margin());
        }
        // Most of the work is not named: whether all of it grows less than the printed cost can be seen.
        match Verdict::of(self.claimed, self.interval(), 0.0) {
            Verdict::Below => Verdict::Below,
            _ => Verdict::Undecided,
        }
    }

    fn row(&self) -> Row {
        let scaling = self.scaling;
        let or_dash = |cell: Option<Cell>| cell.unwrap_or_else(|| Cell::text("-"));
        let interval = self.interval().map(|(low, high)| format!("{low:.3} to {high:.3}"));
        Row::new([
            Cell::text(scaling.title),
            Cell::text(scaling.claim),
            Cell::text(scaling.variable),
            Cell::count(scaling.values[0]),
            Cell::count(scaling.values[4]),
            Cell::number(self.claimed, 2),
            or_dash(self.measured.map(|line| Cell::number(line.slope, 3))),
            or_dash(interval.map(Cell::text)),
            or_dash(self.counted.map(|slope| Cell::number(slope, 2))),
            Cell::number(100.0 * self.share, 0),
            if self.share >= DOMINANT { Cell::number(self.margin(), 2) } else { Cell::text("-") },
            or_dash(self.longest.map(|seconds| Cell::number(seconds, 3))),
            Cell::text(self.verdict().text()),
        ])
        .under(scaling.source)
    }
}

/// One row a series.
fn growth_table<'a>(id: &str, title: &str, growths: impl IntoIterator<Item = &'a Growth>) -> Table {
    let table = Table::new(id, title)
        .caption("How processor seconds grow with one size while the others are fixed, beside the printed cost.")
        .note(format!("Measured: least squares on the logarithms of five medians of {REPEATS}, each the mean of runs of a tenth of a second in all, with the 95 % interval of the slope (t, 3 degrees of freedom)."))
        .note("Printed: exponent of the printed cost over the same sizes. Operations: exponent of the counted operations of all terms.")
        .note("Share: the smallest share of the printed terms in these operations. Below 80 % a slope can only show that the time grows less.")
        .note("Margin: the most by which the other terms can move the exponent. It is ln(1/share) times the weights of the larger sizes in the slope.")
        .note(format!("A claim holds where the interval comes within the margin of the printed exponent. It holds as a bound where the interval lies below, and does not hold where it lies above. An interval wider than {NARROW} can only agree; one wider than 1 is inconclusive."))
        .note("One or two of these intervals miss the true exponent by chance.")
        .columns(["Method", "Printed cost", "In"].map(Column::left))
        .columns(
            [
                "From", "To", "Printed", "Measured", "95 %", "Operations", "Share (%)", "Margin",
                "Longest (s)",
            ]
            .map(Column::right),
        )
        .columns([Column::left("Verdict")]);
    growths.into_iter().fold(table, |table, growth| table.row(growth.row()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Scaling = Scaling {
        method: "square",
        title: "Square",
        claim: "O(n²)",
        source: "a test",
        variable: "n",
        values: [10, 14, 20, 28, 40],
        printed: |n| n * n,
        work: |n| Operations { named: (n * n) as f64, all: (n * n) as f64 },
        seconds: |n| Ok((n * n) as f64),
    };
    static SERIES: [Scaling; 3] = [
        SQUARE,
        Scaling {
            work: |n| Operations { named: (n * n) as f64, all: (2 * n * n) as f64 },
            ..SQUARE
        },
        Scaling {
            work: |n| Operations { named: 0.9 * (n * n) as f64, all: (n * n) as f64 },
            ..SQUARE
        },
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
        // Nothing else is computed, so nothing else can have moved the exponent.
        assert_eq!(square.margin().abs().to_bits(), 0.0_f64.to_bits());
        assert_eq!(growth(|n| n.powf(2.01)).verdict(), Verdict::Fails);
        assert_eq!(growth(|n| n.powf(1.99)).verdict(), Verdict::Below);
        // Times that jump say nothing.
        assert_eq!(growth(|n| if n < 15.0 { n } else { n * n }).verdict(), Verdict::Undecided);
    }

    /// The largest slope of a line through numbers of the range, by trying all corners of it.
    #[test]
    fn the_margin_is_the_worst_that_other_terms_can_do() {
        for values in [[10, 14, 20, 28, 40], [1000, 1100, 1500, 3000, 8000]] {
            let slope = |corner: u32| {
                let point = |at: usize| {
                    let high = corner >> at & 1 == 1;
                    ((values[at] as f64).ln(), if high { -(0.8f64).ln() } else { 0.0 })
                };
                line(&[0, 1, 2, 3, 4].map(point)).unwrap().slope
            };
            let worst = (0..32).map(slope).fold(0.0, f64::max);
            assert!((margin(0.8, &values) - worst).abs() < 1e-12);
        }
        let even = margin(0.8, &[100, 200, 400, 800, 1600]);
        assert!((even - 1.2 * 1.25f64.ln() / 16f64.ln()).abs() < 1e-12);
        // The smaller the share, the more; a fifth of other work moves it by a fifth.
        assert!((margin(0.8, &SQUARE.values) - 0.193).abs() < 1e-3);
        assert!(margin(0.97, &SQUARE.values) < 0.03);
        let tenth = |power: f64| growth_of(&SERIES[2], move |n| n.powf(power)).verdict();
        let shares = [2.08, 2.1, 1.92, 1.9].map(tenth);
        assert_eq!(shares, [Verdict::Holds, Verdict::Fails, Verdict::Holds, Verdict::Below]);
    }

    #[test]
    fn a_missing_size_or_a_small_share_leaves_it_open() {
        let mut seconds = BTreeMap::new();
        for value in SQUARE.values {
            let time = (SQUARE.seconds)(value).unwrap();
            seconds.extend(
                (1..=REPEATS).map(|n| (format!("{} #{n}", SQUARE.named("seconds", value)), time)),
            );
        }
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
