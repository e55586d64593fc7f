//! What the cost model learns from records, and what it says without any.

use crate::bench::{STUDY, all};
use crate::doubles::METHODS;
use mercer_datasets::Catalogue;
use mercer_harness::{Basis, CostModel, HoldOut, Trial};
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
fn a_law_is_found_and_holds_where_nothing_was_seen() {
    let records = records(0.005);
    let fifths = CostModel::held_out(&records, METHODS, HoldOut::Fifths).unwrap();
    assert_eq!(fifths.records, DATASETS.len() * 12);
    assert!((fifths.total - 1.0).abs() < 0.1 && fifths.nine_of_ten < 1.2, "{fifths:?}");
    let datasets = CostModel::held_out(&records, METHODS, HoldOut::Datasets).unwrap();
    assert!((datasets.total - 1.0).abs() < 0.25 && datasets.nine_of_ten < 2.0, "{datasets:?}");
    let model = CostModel::fit(&records, METHODS, 0.005);
    let known = &of("segment")[0];
    let told = model.fit_of(known);
    let measured = record(known, 0.005).run;
    assert_eq!(told.basis, Basis::Cell);
    assert!((told.seconds / measured.seconds["fit"] - 1.0).abs() < 0.15, "{told:?}");
    assert!((told.bytes / measured.peak_bytes as f64 - 1.0).abs() < 0.3, "{told:?}");
    assert_eq!(model.fit_of(&of("pendigits")[0]).basis, Basis::Method);
}

#[test]
fn machines_are_compared_by_their_yardsticks() {
    let trial = &of("letter")[0];
    let fast = CostModel::fit(&records(0.005), METHODS, 0.005).fit_of(trial);
    let slow = CostModel::fit(&records(0.005), METHODS, 0.015).fit_of(trial);
    assert!((slow.seconds / fast.seconds - 3.0).abs() < 1e-9);
    // Records of a slow machine say the same of a fast one.
    let learned_there = CostModel::fit(&records(0.02), METHODS, 0.005).fit_of(trial);
    assert!((learned_there.seconds / fast.seconds - 1.0).abs() < 1e-9);
}

/// A yardstick that another program has stretched says nothing of the trial: dividing by it would make
/// half of these trials ten times too cheap.
#[test]
fn a_yardstick_taken_beside_other_work_is_not_believed() {
    let mut records = records(0.005);
    let trial = &of("letter")[0];
    let honest = CostModel::fit(&records, METHODS, 0.005).fit_of(trial).seconds;
    for record in records.iter_mut().step_by(2) {
        record.run.yardstick_seconds = 0.05;
    }
    let told = CostModel::fit(&records, METHODS, 0.005).fit_of(trial).seconds;
    assert!((told / honest - 1.0).abs() < 0.1, "{told} s, not {honest} s");
    let cells = CostModel::held_out(&records, METHODS, HoldOut::Cells).unwrap();
    assert_eq!((cells.records, cells.doubtful), (DATASETS.len() * 6, DATASETS.len() * 6));
    // Another type of machine may be ten times as slow.
    for record in &mut records {
        if record.run.yardstick_seconds > 0.005 {
            record.run.host = "slow".to_owned();
            record.run.seconds.values_mut().for_each(|seconds| *seconds *= 10.0);
        }
    }
    let told = CostModel::fit(&records, METHODS, 0.005).fit_of(trial).seconds;
    assert!((told / honest - 1.0).abs() < 1e-6, "{told} s, not {honest} s");
    assert_eq!(CostModel::held_out(&records, METHODS, HoldOut::Cells).unwrap().doubtful, 0);
}

/// What a loaded machine adds is on the wall only.
#[test]
fn processor_seconds_outrank_those_of_the_wall() {
    let trial = &of("letter")[0];
    let honest = CostModel::fit(&records(0.005), METHODS, 0.005).fit_of(trial).seconds;
    let mut records = records(0.005);
    for record in &mut records {
        record.run.processor_seconds = record.run.seconds.clone();
        record.run.seconds.values_mut().for_each(|seconds| *seconds *= 7.0);
    }
    let told = CostModel::fit(&records, METHODS, 0.005).fit_of(trial).seconds;
    assert!((told / honest - 1.0).abs() < 1e-9, "{told} s, not {honest} s");
    // A fit on several threads: those of its first one are a part of it.
    for record in &mut records {
        record.key.limits.insert("threads".to_owned(), 4.into());
    }
    let told = CostModel::fit(&records, METHODS, 0.005).fit_of(trial).seconds;
    // Not 7 to the last digit: longer trials weigh more.
    assert!((told / honest / 7.0 - 1.0).abs() < 1e-2, "{told} s, not {honest} s");
}

/// Held out with its cell, no repeat of a trial is seen: a deviation of the cell cannot help.
#[test]
fn whole_cells_are_held_out() {
    let mut records = records(0.005);
    for record in &mut records {
        if record.key.dataset == "dna" {
            record.run.seconds.values_mut().for_each(|seconds| *seconds *= 30.0);
        }
    }
    let error = |by| CostModel::held_out(&records, METHODS, by).unwrap();
    let (fifths, cells) = (error(HoldOut::Fifths), error(HoldOut::Cells));
    assert!(fifths.nine_of_ten < 3.0 && cells.nine_of_ten > fifths.nine_of_ten, "{cells:?}");
}

#[test]
fn the_order_of_the_records_does_not_matter() {
    let trial = &of("dna")[1];
    let mut records = records(0.005);
    let one = CostModel::fit(&records, METHODS, 0.005).fit_of(trial);
    records.reverse();
    assert_eq!(CostModel::fit(&records, METHODS, 0.005).fit_of(trial), one);
}

#[test]
fn without_records_the_declared_cost_answers() {
    let model = CostModel::fit(&[], METHODS, 0.005);
    let (small, large) = (model.fit_of(&of("wine")[0]), model.fit_of(&of("letter")[0]));
    assert_eq!((small.basis, large.basis), (Basis::Declared, Basis::Declared));
    assert!(small.seconds > 0.0 && large.seconds > 10.0 * small.seconds);
    assert!(CostModel::held_out(&[], METHODS, HoldOut::Fifths).is_none());
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
    let fit = model.fit_of(&trials[0]).seconds;
    let tuning = model.tuning_of(&trials[0]).unwrap().seconds;
    assert!(tuning > fit);
    let forecast = model.forecast(&trials);
    assert!((forecast.seconds - 4.0 * fit - tuning).abs() < 1e-12);
    model.weigh(&mut trials);
    let weights: Vec<f64> = trials.iter().map(|trial| trial.weight).collect();
    assert!((weights[0] - fit - tuning).abs() < 1e-12 && (weights[3] - fit).abs() < 1e-12);
    assert_eq!(forecast.bases, [0, 0, 4]);
    assert!((forecast.seconds_by_basis[2] - forecast.seconds).abs() < 1e-12);
}

/// A formula that explodes is not believed further than a thousand times what was seen, and says so.
#[test]
fn a_wrong_formula_does_not_give_centuries() {
    let exploding: Vec<_> = METHODS
        .iter()
        .map(|method| {
            let cost = mercer_learning::Cost { fit: "n^6", ..method.cost };
            mercer_learning::Method { cost, ..*method }
        })
        .collect();
    let records: Vec<Record> = of("wine").iter().map(|trial| record(trial, 0.005)).collect();
    let model = CostModel::fit(&records, &exploding, 0.005);
    let (seen, far) = (model.fit_of(&of("wine")[0]), model.fit_of(&of("letter")[0]));
    assert!(!seen.held_back && far.held_back, "{far:?}");
    assert!(far.seconds < 1e3 * seen.seconds, "{far:?} {seen:?}");
    let all = model.forecast(&of("letter"));
    assert_eq!((all.held_back, all.larger), (of("letter").len(), of("letter").len()));
    assert_eq!((all.larger_seconds, model.forecast(&of("wine")).larger), (all.seconds, 0));
    // Two more digits of rows: no difference any more.
    let farther = model.fit_of(&of("covtype")[0]);
    assert!(farther.held_back && farther.seconds < 10.0 * far.seconds, "{farther:?}");
}
