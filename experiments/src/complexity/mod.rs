//! Times of the papers' methods: what is measured, and how. The exponents that come out are a kind of table.

mod clock;
pub(crate) mod hyper;
pub(crate) mod hyper_memory;
pub(crate) mod mce;
pub(crate) mod page;
pub(crate) mod sgd;
pub(crate) mod threshold;

pub(crate) use clock::{processor_seconds, step_seconds};
pub(crate) use mercer_report::Operations;

use mercer_learning::LearningError;
use mercer_report::{ExperimentError, REPEATS, Scaling};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Seconds that a timing takes at least: shorter work is done again, and the mean counts.
const SHORTEST: f64 = 0.1;
/// How often it is done again at most.
const MOST: usize = 30;

/// Operations that a cosine or an exponential counts for: some 20 instructions on vectors.
pub(crate) const ELEMENTARY: f64 = 20.0;

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
        for value in scaling.values {
            for repeat in 1..=REPEATS {
                let name = scaling.named("seconds", value);
                let seconds = mean_seconds(&name, || (scaling.seconds)(value))?;
                numbers.insert(format!("{name} #{repeat}"), seconds);
            }
        }
    }
    Ok(numbers)
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
            let Operations { named, all } = (scaling.work)(value);
            assert!(named >= mercer_report::DOMINANT * all, "{name} at {value}: {}", named / all);
            assert!(all >= named, "{name} at {value}");
        }
    }
}
