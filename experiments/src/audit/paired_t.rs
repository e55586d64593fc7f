//! How often the papers' paired t-test finds a difference where there is none.

use mercer_report::{ExperimentError, Simulation};
use mercer_statistics::{EqualMethods, null_rejection_rates, wilson_interval};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const SIMULATION: Simulation =
    Simulation { name: "audit/paired-t", measures: false, revision: 1, settings, compute };

/// Simulated studies; the standard error of a rate near 5 % is then 0.3 points.
const STUDIES: u64 = 4000;
/// Level of the tests.
const LEVEL: f64 = 0.05;
/// Numbers of splits that are tried; the papers use 10 and 30.
const SPLITS: [usize; 3] = [5, 10, 30];

fn study(splits: usize) -> EqualMethods {
    EqualMethods { splits, ..EqualMethods::default() }
}

fn settings() -> Value {
    json!({ "studies": STUDIES, "level": LEVEL, "splits": SPLITS, "study": EqualMethods::default() })
}

fn compute() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for splits in SPLITS {
        let study = study(splits);
        let all: Vec<Vec<f64>> =
            (0..STUDIES).into_par_iter().map(|number| study.differences(number)).collect();
        let rates = null_rejection_rates(STUDIES, LEVEL, study.test_over_train(), |number| {
            all[number as usize].clone()
        })?;
        for (name, rate) in [("naive", rates.naive), ("corrected", rates.corrected)] {
            let rejected = (rate * STUDIES as f64).round() as u64;
            let interval = wilson_interval(rejected, STUDIES, 0.95)?;
            numbers.insert(format!("{name} {splits:02}"), rate);
            numbers.insert(format!("{name} {splits:02} low"), interval.0);
            numbers.insert(format!("{name} {splits:02} high"), interval.1);
        }
    }
    Ok(numbers)
}
