//! Time, memory and the user stop a trial, each in its own way.

use crate::bench::{all, carry_out, one_method, results, runner, stoppable};
use crate::doubles::page;
use mercer_harness::Stop;
use mercer_records::{Record, Status};
use std::time::Instant;

/// The record of the first of the trials of one method.
fn record_of(settings: &str, top: &str) -> Record {
    let mut trials = all(&one_method(settings, top));
    trials.truncate(1);
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    let summary = carry_out(&trials, &runner);
    assert_eq!(summary.failed.len(), 1, "{summary:?}");
    runner.store.get(&trials[0].key).unwrap().expect("a stopped trial leaves a record")
}

#[test]
fn a_slow_trial_is_stopped() {
    let start = Instant::now();
    let record = record_of("epochs = 1000000, conduct = \"dawdles\"", "seconds = 0.05");
    assert_eq!(record.result.status, Status::OutOfTime);
    assert!(record.result.error.unwrap().contains("time limit"));
    assert!(record.result.metrics.is_empty());
    assert_eq!(record.key.limits["seconds"], 0.05);
    // A thousand seconds without the limit; generous, for a busy machine.
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn a_tuner_is_stopped_by_the_same_clock() {
    let spec = one_method("epochs = 1000000, conduct = \"dawdles\"", "seconds = 0.05").replace(
        "summary = \"only\"",
        "summary = \"only\"\ntuner = { candidates = 9, rungs = [1.0], train = 0.8 }",
    );
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    let trials = &all(&spec)[..1];
    carry_out(trials, &runner);
    let records = runner.store.list().unwrap().records;
    assert_eq!(records.len(), 1, "an unfinished tuning leaves no record of its own");
    assert_eq!(records[0].key, trials[0].key);
    assert_eq!(records[0].result.status, Status::OutOfTime);
}

#[test]
fn a_trial_that_holds_too_much_is_stopped() {
    let limit: u64 = 16 << 20;
    let record = record_of("epochs = 100000, conduct = \"hoards\"", &format!("bytes = {limit}"));
    assert_eq!(record.result.status, Status::OutOfMemory);
    let peak = record.run.peak_bytes;
    assert!((limit..limit + (4 << 20)).contains(&peak), "{peak} bytes");
}

#[test]
fn a_trial_that_would_need_too_much_is_refused_before_it_takes_it() {
    let record = record_of("conduct = \"reserves\"", "bytes = 16777216");
    assert_eq!(record.result.status, Status::OutOfMemory);
    let error = record.result.error.unwrap();
    assert!(error.contains("limit of 16777216 bytes"), "{error}");
    assert!(record.run.peak_bytes < 16 << 20);
}

#[test]
fn without_a_limit_nothing_is_stopped() {
    let trials = all(&one_method("epochs = 20, conduct = \"hoards\"", ""));
    let folder = tempfile::tempdir().unwrap();
    let summary = carry_out(&trials, &runner(folder.path()));
    assert_eq!((summary.done, summary.failed.len()), (4, 0));
}

#[test]
fn an_interruption_leaves_no_record_of_the_trial_in_flight() {
    let spec = one_method("conduct = \"interrupts\", token = \"stopped\"", "");
    let trials = all(&spec);
    let folder = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    page("stopped", |page| page.stop = Some(stop.clone()));
    let summary = carry_out(&trials, &stoppable(folder.path(), stop.clone()));
    assert!(stop.asked() && summary.interrupted);
    assert_eq!((summary.done, summary.failed.len()), (2, 0));
    let before = results(folder.path());
    assert_eq!(before.len(), 2);

    // The fourth fit is not the third: the same plan goes on from here.
    let resumed = carry_out(&trials, &runner(folder.path()));
    assert!(!resumed.interrupted);
    assert_eq!((resumed.recorded, resumed.done), (2, 2));
    let after = results(folder.path());
    assert!(before.iter().all(|(name, result)| after[name] == *result));
    let undisturbed = tempfile::tempdir().unwrap();
    carry_out(&trials, &runner(undisturbed.path()));
    assert_eq!(results(undisturbed.path()), after);
}

#[test]
fn a_stop_asked_for_beforehand_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stop = Stop::default();
    stop.ask();
    let summary = carry_out(&all(&one_method("", "")), &stoppable(folder.path(), stop));
    assert!(summary.interrupted);
    assert!(results(folder.path()).is_empty());
}
