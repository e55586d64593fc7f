//! Table 2: what the methods cost, measured, beside what the paper says.

use crate::rftk::{exponent, standard_error};
use crate::{Artefact, Computed, Desk, ExperimentError, Rendered, registry};
use mercer_kernels::{FeatureMapParams, Kernel, Map};
use mercer_learning::{Fitting, LearningError, Limits, Sample, Settings, Streams, find};
use mercer_linalg::{Cholesky, semidefinite_solve, symmetric_product};
use mercer_render::{Cell, Column, Row, Table};
use ndarray::{Array2, Axis};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "rftk/table2",
    title: "Costs of the methods, measured",
    studies: &[],
    datasets: &[],
    computed: &["rftk/table2"],
    render,
};

pub(crate) const MEASUREMENT: Computed =
    Computed { name: "rftk/table2", revision: 1, settings, compute };

/// Times that each fit is repeated; the shortest counts.
const REPEATS: usize = 3;
/// Input columns.
const INPUTS: usize = 10;
/// Flops that a cosine or an exponential counts for: some 20 instructions on vectors.
const ELEMENTARY: f64 = 20.0;

/// The numbers that a cost depends on.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    n: usize,
    m: usize,
    b: usize,
    t: usize,
    s: usize,
}

const START: Sizes = Sizes { n: 8000, m: 500, b: 32, t: 200, s: 10 };

/// One variable of one method: five values over a factor of at least 4.
struct Series {
    method: &'static str,
    title: &'static str,
    /// As printed.
    claim: &'static str,
    variable: &'static str,
    /// Exponent that the claim has.
    claimed: f64,
    values: [usize; 5],
    at: fn(usize) -> Sizes,
}

const fn series(
    method: &'static str,
    title: &'static str,
    claim: &'static str,
    variable: &'static str,
    claimed: f64,
    values: [usize; 5],
    at: fn(usize) -> Sizes,
) -> Series {
    Series { method, title, claim, variable, claimed, values, at }
}

const RF: &str = "O(nM² + M³)";
const SGD: &str = "O(MbT)";
const RFTK: &str = "O(nMbT/s)";

const SERIES: &[Series] = &[
    series(
        "kernel-ridge",
        "Kernel Ridge",
        "O(n³)",
        "n",
        3.0,
        [1500, 2121, 3000, 4243, 6000],
        |n| Sizes { n, ..START },
    ),
    series(
        "kernel-ridgeless",
        "Kernel Ridgeless",
        "O(n³)",
        "n",
        3.0,
        [600, 849, 1200, 1697, 2400],
        |n| Sizes { n, ..START },
    ),
    series("rf-ridge", "RF", RF, "n", 1.0, [4000, 5657, 8000, 11_314, 16_000], |n| Sizes {
        n,
        ..START
    }),
    series("rf-ridge", "RF", RF, "M", 2.0, [400, 566, 800, 1131, 1600], |m| Sizes { m, ..START }),
    series("rf-sgd", "RF-SGD", SGD, "M", 1.0, [1000, 1414, 2000, 2828, 4000], |m| Sizes {
        n: 256,
        m,
        ..START
    }),
    series("rf-sgd", "RF-SGD", SGD, "b", 1.0, [32, 45, 64, 91, 128], |b| Sizes {
        n: 256,
        m: 2000,
        b,
        ..START
    }),
    series("rf-sgd", "RF-SGD", SGD, "T", 1.0, [200, 283, 400, 566, 800], |t| Sizes {
        n: 256,
        m: 2000,
        t,
        ..START
    }),
    series("rftk", "RFTK", RFTK, "n", 1.0, [2000, 2828, 4000, 5657, 8000], |n| Sizes {
        n,
        ..START
    }),
    series("rftk", "RFTK", RFTK, "M", 1.0, [250, 354, 500, 707, 1000], |m| Sizes { m, ..START }),
    series("rftk", "RFTK", RFTK, "b", 1.0, [32, 45, 64, 91, 128], |b| Sizes { b, ..START }),
    series("rftk", "RFTK", RFTK, "T", 1.0, [100, 140, 200, 280, 400], |t| Sizes { t, ..START }),
    series("rftk", "RFTK", RFTK, "s", -1.0, [5, 7, 10, 14, 20], |s| Sizes { s, ..START }),
];

fn settings() -> Value {
    let series: Vec<Value> =
        SERIES.iter().map(|s| json!([s.method, s.variable, s.values])).collect();
    json!({ "series": series, "repeats": REPEATS, "inputs": INPUTS })
}

fn named(what: &str, series: &Series, value: usize) -> String {
    format!("{what} {} {}={value}", series.method, series.variable)
}

fn compute() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for series in SERIES {
        for value in series.values {
            let sizes = (series.at)(value);
            let fault = |error: &dyn std::fmt::Display| ExperimentError::Form {
                file: named(ARTEFACT.id, series, value),
                reason: error.to_string(),
            };
            let mut shortest = f64::INFINITY;
            for _ in 0..REPEATS {
                let seconds = seconds(series.method, sizes).map_err(|error| fault(&error))?;
                shortest = shortest.min(seconds);
            }
            let (dominant, all) = flops(series.method, sizes);
            numbers.insert(named("seconds", series, value), shortest);
            numbers.insert(named("flops", series, value), all);
            numbers.insert(named("share", series, value), dominant / all);
        }
    }
    Ok(numbers)
}

/// Flops of the term that the claim names, and of all.
fn flops(method: &str, Sizes { n, m, b, t, s }: Sizes) -> (f64, f64) {
    let [n, m, b, t, s, d] = [n, m, b, t, s, INPUTS].map(|size| size as f64);
    // A feature: its product with the inputs, the cosine, and as much again for its gradient.
    let feature = 2.0 * d + ELEMENTARY;
    match method {
        "kernel-ridge" | "kernel-ridgeless" => {
            let cubic = n * n * n / 3.0;
            (cubic, cubic + n * n * (d + ELEMENTARY / 2.0))
        }
        "rf-ridge" => {
            let named = n * m * m + m * m * m / 3.0;
            (named, named + n * m * feature)
        }
        "rf-sgd" => (t * b * m * (feature + 4.0), t * b * m * (feature + 4.0)),
        // Every s-th step the features of all rows and their gradient.
        _ => {
            let trace = t / s * n * m * (feature + 2.0 * d);
            (trace, trace + t * b * m * (feature + 4.0) + t / s * b * m * 4.0 * d)
        }
    }
}

/// Seconds of one fit, on one thread.
fn seconds(method: &str, sizes: Sizes) -> Result<f64, LearningError> {
    let Sizes { n, m, b, t, s } = sizes;
    let streams = Streams::root(2).child(method);
    let sample = mercer_datasets::stand_in(n, INPUTS, 0, &mut streams.rng("data"));
    let std = 0.3;
    let numerical = |error: &dyn std::fmt::Display| LearningError::Numerical {
        operation: "a timed fit",
        reason: error.to_string(),
    };
    let y: Array2<f64> =
        sample.values().map(|y| y.to_owned().insert_axis(Axis(1))).unwrap_or_default();
    let ridge = 1e-3 * n as f64;
    let start = Instant::now();
    match method {
        "kernel-ridge" => {
            let mut gram = Kernel::Gaussian { std }.upper_gram(sample.inputs(), 1);
            gram.diag_mut().mapv_inplace(|entry| entry + ridge);
            let factor = Cholesky::factor(gram).map_err(|error| numerical(&error))?;
            std::hint::black_box(factor.solve(&y).map_err(|error| numerical(&error))?);
        }
        "kernel-ridgeless" => {
            let gram = Kernel::Gaussian { std }.gram(sample.inputs());
            let solved = semidefinite_solve(&gram, y.view(), Some(1e-8));
            std::hint::black_box(solved.map_err(|error| numerical(&error))?);
        }
        "rf-ridge" => {
            let map = FeatureMapParams { map: Map::Stationary, features: m, std, std_prime: None };
            let map = map.draw(INPUTS, &mut streams.rng("map")).map_err(|e| numerical(&e))?;
            let phi = map.features(sample.inputs());
            let mut gram: Array2<f64> = symmetric_product(phi.view());
            gram.diag_mut().mapv_inplace(|entry| entry + ridge);
            let factor = Cholesky::factor(gram).map_err(|error| numerical(&error))?;
            let right = phi.t().dot(&y);
            std::hint::black_box(factor.solve(&right).map_err(|error| numerical(&error))?);
        }
        _ => {
            let epochs = (t + 1) as f64 / n.div_ceil(b) as f64;
            let settings = Settings::new().with("features", m).with("std", std).with("rate", 1e-3);
            let settings = settings.with("batch", b).with("epochs", epochs);
            let settings = match method {
                "rftk" => settings.with("every", s).with("beta", 1e-6).with("frequency_rate", 1e-3),
                _ => settings,
            };
            return steps(method, &settings, &sample, &streams);
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Seconds between the first step of a fit and the last: what is done once does not count.
fn steps(
    method: &str,
    settings: &Settings,
    sample: &Sample,
    streams: &Streams,
) -> Result<f64, LearningError> {
    let methods = registry();
    let method = find(&methods, method)?;
    let settings = (method.defaults)(&sample.shape()).overridden_by(settings);
    let clock = Clock(Mutex::new(None));
    let streams = streams.child("fit");
    let mut fitting = Fitting { streams, limits: &clock, ..Fitting::seeded(0) };
    method.learner(&settings, sample.task())?.fit(sample, &mut fitting)?;
    let seen = clock.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(seen.map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64()))
}

/// Notes the first and the last step of a fit.
struct Clock(Mutex<Option<(Instant, Instant)>>);

impl Limits for Clock {
    fn check(&self) -> Result<(), LearningError> {
        let now = Instant::now();
        let mut seen = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let first = seen.map_or(now, |(first, _)| first);
        *seen = Some((first, now));
        Ok(())
    }

    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(ARTEFACT.id, ARTEFACT.title)
        .caption(format!(
            "Exponent of the time of a fit in one size at a time, the others fixed: least squares on the logarithms of five times, each the shortest of {REPEATS}, one thread, {INPUTS} inputs, one target, double precision (RF-SGD and RFTK: single); ± its standard error. Flops: exponent of the counted operations of all terms. Share: the smallest share of the claimed term among the counted flops. The cost that the paper prints for RFTK, nMbT/s, has a batch size in it which the trace over all n rows does not depend on."
        ))
        .columns(["Method", "Printed cost", "In"].map(Column::left))
        .columns(["From", "To", "Claimed", "Measured", "Flops", "Share (%)", "Longest (s)"].map(Column::right));
    let Some(record) = desk.shelf.get(&MEASUREMENT.key()) else {
        let table = table.note("Not run yet: mercer reproduce rftk/table2");
        return Ok(Rendered { tables: vec![table], ..Rendered::default() });
    };
    for series in SERIES {
        let points = |of: &BTreeMap<String, f64>, what: &str| -> Vec<(f64, f64)> {
            let number = |&value: &usize| {
                Some(((value as f64).ln(), of.get(&named(what, series, value))?.ln()))
            };
            series.values.iter().filter_map(number).collect()
        };
        let (times, counted) =
            (points(&record.run.seconds, "seconds"), points(&record.result.facts, "flops"));
        let shares = points(&record.result.facts, "share");
        let share = shares.iter().map(|(_, share)| share.exp()).fold(f64::INFINITY, f64::min);
        let longest = times.iter().map(|(_, time)| time.exp()).fold(0.0, f64::max);
        let measured = if times.len() == series.values.len() {
            let (slope, error) = (exponent(&times), standard_error(&times));
            Cell::text(format!("{slope:.2} ± {error:.2}")).sort(slope)
        } else {
            Cell::text("-")
        };
        table = table.row(Row::new([
            Cell::text(series.title),
            Cell::text(series.claim),
            Cell::text(series.variable),
            Cell::count(series.values[0]),
            Cell::count(series.values[4]),
            Cell::number(series.claimed, 0),
            measured,
            Cell::number(exponent(&counted), 2),
            Cell::number(100.0 * share, 0),
            Cell::number(longest, 2),
        ]));
    }
    table = table.note("RF has two terms: its exponent in M lies between 2 and 3, in n at most 1.");
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exponent is fitted only where the claimed term is most of the work, over a factor of 4.
    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        for series in SERIES {
            let [first, .., last] = series.values;
            assert!(last >= 4 * first, "{} {}", series.method, series.variable);
            for value in series.values {
                let (dominant, all) = flops(series.method, (series.at)(value));
                assert!(dominant >= 0.8 * all, "{}", named("share", series, value));
            }
        }
    }

    #[test]
    fn a_fit_takes_time_and_every_step_is_seen() {
        let small = Sizes { n: 64, m: 16, b: 8, t: 5, s: 2 };
        for method in ["kernel-ridge", "kernel-ridgeless", "rf-ridge", "rf-sgd", "rftk"] {
            let seconds = seconds(method, small).unwrap();
            assert!(seconds > 0.0 && seconds < 10.0, "{method}: {seconds}");
        }
    }
}
