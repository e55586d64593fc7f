//! How the time of a method grows with one size, held against what a paper prints.
//!
//! A [`Scaling`] is one variable of one cost: five sizes over a factor of at least four, all else
//! fixed, at which the term that the paper names is at least four fifths of the operations. Each
//! size is timed a few times; a line through the logarithms of the medians gives an exponent with
//! its interval ([`Growth`]), and that a verdict against the exponent that the printed cost has over
//! the same sizes.

mod clock;
mod growth;
pub(crate) mod hyper;
pub(crate) mod hyper_memory;
pub(crate) mod mce;
pub(crate) mod page;
pub(crate) mod sgd;
pub(crate) mod threshold;

pub(crate) use clock::{processor_seconds, step_seconds};
pub(crate) use growth::{Growth, growth_table};

use mercer_learning::LearningError;
use mercer_report::{ExperimentError, RenderContext, Simulation};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Times that each size is timed; the median counts.
pub(crate) const REPEATS: usize = 3;

/// Seconds that a timing takes at least: shorter work is done again, and the mean counts.
const SHORTEST: f64 = 0.1;
/// How often it is done again at most.
const MOST: usize = 30;

/// Operations that a cosine or an exponential counts for: some 20 instructions on vectors.
pub(crate) const ELEMENTARY: f64 = 20.0;

/// Counted floating-point operations; a multiply-add is two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Of the terms that the claim names.
    pub(crate) named: f64,
    /// Of all terms.
    pub(crate) all: f64,
}

/// One variable of one cost that a paper claims, or that we do. [`crate::claimed_costs`] lists them all.
///
/// ```
/// use mercer_experiments::claimed_costs;
/// let pairs = claimed_costs().find(|cost| cost.claim == "O(m⁶)").unwrap();
/// assert_eq!((pairs.method, pairs.variable, pairs.values[0]), ("hyper-krr", "m", 40));
/// let seconds = (pairs.seconds)(10).unwrap(); // learning a kernel from all pairs of ten points
/// assert!(seconds < 10.0);
/// ```
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
    pub(crate) work: fn(usize) -> Work,
    /// Processor seconds there, of one run, no threads asked for.
    pub seconds: fn(usize) -> Result<f64, LearningError>,
}

impl Scaling {
    fn named(&self, what: &str, value: usize) -> String {
        format!("{what} {} {}={value}", self.method, self.variable)
    }

    /// The times of a measurement of this series.
    fn measure(&self, numbers: &mut BTreeMap<String, f64>) -> Result<(), ExperimentError> {
        for value in self.values {
            for repeat in 1..=REPEATS {
                let name = self.named("seconds", value);
                let seconds = mean_seconds(&name, || (self.seconds)(value))?;
                numbers.insert(format!("{name} #{repeat}"), seconds);
            }
        }
        Ok(())
    }
}

/// Mean seconds of enough runs to be told from the grain of the clock, or an error that names what is timed.
pub(crate) fn mean_seconds(
    name: &str,
    seconds: impl Fn() -> Result<f64, LearningError>,
) -> Result<f64, ExperimentError> {
    let (mut sum, mut runs) = (0.0, 0);
    while sum < SHORTEST && runs < MOST {
        sum += seconds().map_err(|error| ExperimentError::Form {
            file: name.to_owned(),
            reason: error.to_string(),
        })?;
        runs += 1;
    }
    Ok(sum / runs as f64)
}

/// Settings of a measurement, part of its key.
pub(crate) fn settings(series: &[Scaling]) -> Value {
    let series: Vec<Value> =
        series.iter().map(|s| json!([s.method, s.variable, s.values])).collect();
    json!({ "series": series, "repeats": REPEATS })
}

/// Times all sizes of these series.
pub(crate) fn measure(series: &[Scaling]) -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for scaling in series {
        scaling.measure(&mut numbers)?;
    }
    Ok(numbers)
}

/// What a record of a measurement says of these series; `None` where there is none yet.
pub(crate) fn growths(
    context: &RenderContext<'_>,
    measurement: &Simulation,
    series: &'static [Scaling],
) -> Option<Vec<Growth>> {
    let record = context.records.get(&measurement.key())?;
    Some(series.iter().map(|scaling| Growth::of(scaling, &record.run.seconds)).collect())
}

/// What every list of series promises, so that an exponent means what it seems to.
#[cfg(test)]
pub(crate) fn check<'a>(series: impl IntoIterator<Item = &'a Scaling>) {
    for scaling in series {
        let [first, .., last] = scaling.values;
        let name = scaling.named("series", first);
        assert!(last >= 4 * first, "{name}");
        assert!(scaling.values.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        for value in scaling.values {
            let Work { named, all } = (scaling.work)(value);
            assert!(named >= growth::DOMINANT * all, "{name} at {value}: {}", named / all);
            assert!(all >= named, "{name} at {value}");
        }
    }
}
