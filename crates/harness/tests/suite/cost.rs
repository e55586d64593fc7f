//! What the cost model learns from records, and what it predicts without any.

use crate::bench::{STUDY, all};
use crate::doubles::METHODS;
use mercer_datasets::Catalogue;
use mercer_harness::{Basis, CostModel, Trial, TuningSource};
use mercer_records::{Record, Run, Status, TrialResult};
use std::collections::BTreeMap;

const DATASETS: [&str; 8] =
    ["abalone", "australian", "dna", "letter", "segment", "satimage", "vowel", "wine"];

/// The trials of the study as if they were of another dataset.
fn of(dataset: &str) -> Vec<Trial> {
    let mut trials = all(STUDY);
    trials.retain(|trial| trial.key.variant == "given");
    for trial in &mut trials {
        dataset.clone_into(&mut trial.key.dataset);
    }
    trials
}

/// A record of a machine that takes a microsecond for each entry of the training part, with noise.
fn record(trial: &Trial, yardstick: f64) -> Record {
    let entry = Catalogue::builtin().find(&trial.key.dataset).unwrap();
    let noise = 1.0 + 0.05 * f64::from(trial.key.repeat % 3) - 0.05;
    let seconds = 1e-5 * 0.8 * (entry.parts.train * entry.features) as f64 * noise;
    let result = TrialResult {
        status: Status::Done,
        error: None,
        metrics: BTreeMap::new(),
        facts: BTreeMap::new(),
        convergence: serde_json::Value::Null,
        settings: BTreeMap::new(),
        tuning: None,
        curve: Vec::new(),
        predicted: None,
        wrong: None,
        rows: [1, 1],
    };
    let run = Run {
        seconds: BTreeMap::from([("fit".to_owned(), seconds * yardstick / 0.005)]),
        peak_bytes: 8_000 * entry.features as u64,
        yardstick_seconds: yardstick,
        ..Run::default()
    };
    Record::new(trial.key.clone(), result, run)
}

fn records(yardstick: f64) -> Vec<Record> {
    DATASETS.iter().flat_map(|name| of(name)).map(|trial| record(&trial, yardstick)).collect()
}

#[test]
fn a_cell_costs_the_mean_of_its_records_and_another_its_declared_cost() {
    let records = records(0.005);
    let model = CostModel::fit(&records, METHODS, 0.005);
    let known = &of("segment")[0];
    let told = model.predict(&known.key);
    // Three repeats of the same cell, and a fourth that is like the first.
    let each = [0, 1, 2, 0].map(|repeat| {
        let mut trial = known.clone();
        trial.key.repeat = repeat;
        record(&trial, 0.005).run.seconds["fit"]
    });
    assert_eq!(told.basis, Basis::Cell);
    assert!((told.seconds / (each.iter().sum::<f64>() / 4.0) - 1.0).abs() < 1e-9, "{told:?}");
    let bytes = record(known, 0.005).run.peak_bytes as f64;
    assert!((told.bytes / bytes - 1.0).abs() < 1e-9, "{told:?}");
    // The toys declare `n d`, which is how long they take.
    let unknown = &of("pendigits")[0];
    let told = model.predict(&unknown.key);
    assert_eq!(told.basis, Basis::Method);
    let measured = record(unknown, 0.005).run.seconds["fit"];
    assert!((told.seconds / measured - 1.0).abs() < 0.1, "{told:?} {measured}");
}

/// Milliseconds measure starts: where a method has longer trials they alone make its factor.
#[test]
fn short_trials_leave_the_factor_of_a_method_alone() {
    let mut records = records(0.005);
    let of_another = &of("pendigits")[0];
    let before = CostModel::fit(&records, METHODS, 0.005).predict(&of_another.key);
    for record in &mut records {
        if record.run.seconds["fit"] < 0.05 {
            record.run.seconds.values_mut().for_each(|seconds| *seconds = 0.049);
        }
    }
    assert_eq!(CostModel::fit(&records, METHODS, 0.005).predict(&of_another.key), before);
}

#[test]
fn machines_are_compared_by_their_yardsticks() {
    let trial = &of("letter")[0];
    let fast = CostModel::fit(&records(0.005), METHODS, 0.005).predict(&trial.key);
    let slow = CostModel::fit(&records(0.005), METHODS, 0.015).predict(&trial.key);
    assert!((slow.seconds / fast.seconds - 3.0).abs() < 1e-9);
    // Records of a slow machine say the same of a fast one.
    let learned_there = CostModel::fit(&records(0.02), METHODS, 0.005).predict(&trial.key);
    assert!((learned_there.seconds / fast.seconds - 1.0).abs() < 1e-9);
}

/// A yardstick that another program has stretched says nothing of the trial: dividing by it would make
/// half of these trials ten times too cheap.
#[test]
fn a_yardstick_taken_beside_other_work_is_not_believed() {
    let mut records = records(0.005);
    let trial = &of("letter")[0];
    let honest = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key).seconds;
    for record in records.iter_mut().step_by(2) {
        record.run.yardstick_seconds = 0.05;
    }
    let told = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key).seconds;
    assert!((told / honest - 1.0).abs() < 0.1, "{told} s, not {honest} s");
    // Another type of machine may be ten times as slow.
    for record in &mut records {
        if record.run.yardstick_seconds > 0.005 {
            record.run.host = "slow".to_owned();
            record.run.seconds.values_mut().for_each(|seconds| *seconds *= 10.0);
        }
    }
    let told = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key).seconds;
    assert!((told / honest - 1.0).abs() < 1e-6, "{told} s, not {honest} s");
}

/// What a loaded machine adds is on the wall only.
#[test]
fn processor_seconds_outrank_those_of_the_wall() {
    let trial = &of("letter")[0];
    let honest = CostModel::fit(&records(0.005), METHODS, 0.005).predict(&trial.key).seconds;
    let mut records = records(0.005);
    for record in &mut records {
        record.run.processor_seconds = record.run.seconds.clone();
        record.run.seconds.values_mut().for_each(|seconds| *seconds *= 7.0);
    }
    let told = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key).seconds;
    assert!((told / honest - 1.0).abs() < 1e-9, "{told} s, not {honest} s");
    // A fit on several threads: those of its first one are a part of it.
    for record in &mut records {
        record.key.limits.insert("threads".to_owned(), 4.into());
    }
    let told = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key).seconds;
    // The threads are part of the limits, which do not make a cell.
    assert!((told / honest / 7.0 - 1.0).abs() < 1e-9, "{told} s, not {honest} s");
}

#[test]
fn the_order_of_the_records_does_not_matter() {
    let trial = &of("dna")[1];
    let mut records = records(0.005);
    let one = CostModel::fit(&records, METHODS, 0.005).predict(&trial.key);
    records.reverse();
    assert_eq!(CostModel::fit(&records, METHODS, 0.005).predict(&trial.key), one);
}

#[test]
fn without_records_the_declared_cost_answers() {
    let model = CostModel::fit(&[], METHODS, 0.005);
    let (small, large) = (model.predict(&of("wine")[0].key), model.predict(&of("letter")[0].key));
    assert_eq!((small.basis, large.basis), (Basis::Declared, Basis::Declared));
    assert!(small.seconds > 0.0 && large.seconds > 10.0 * small.seconds);
}

/// With an official split one tuning serves all repeats.
#[test]
fn a_tuning_that_trials_share_counts_once() {
    let official = STUDY
        .replace("split = { kind = \"random\", train = 0.8 }", "split = { kind = \"official\" }");
    let model = CostModel::fit(&[], METHODS, 0.005);
    let mut trials = all(&official);
    trials.retain(|trial| trial.key.variant == "tuned" && trial.key.method == "closed-mean");
    assert_eq!(trials.len(), 4);
    let fit = model.predict(&trials[0].key).seconds;
    let TuningSource::Tuner { key, .. } = &trials[0].tuning else { panic!("tuned") };
    let tuning = model.predict(key).seconds;
    assert!(tuning > fit);
    let forecast = model.forecast(&trials);
    assert!((forecast.seconds - 4.0 * fit - tuning).abs() < 1e-12);
    model.predict_costs(&mut trials);
    let weights: Vec<f64> = trials.iter().map(|trial| trial.weight).collect();
    assert!((weights[0] - fit - tuning).abs() < 1e-12 && (weights[3] - fit).abs() < 1e-12);
    assert_eq!(forecast.bases, [0, 0, 4]);
    assert!((forecast.seconds_by_basis[2] - forecast.seconds).abs() < 1e-12);
}
