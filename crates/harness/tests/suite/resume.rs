//! A run goes on where the last one ended, whatever ended it.

use crate::bench::{STUDY, all, carry_out, one_job, one_method, results, runner, stoppable};
use crate::doubles::page;
use mercer_harness::{Options, Silent, Stop, run};
use mercer_records::{Record, Status, Store};
use std::fs;
use std::time::Duration;

#[test]
fn only_what_is_missing_runs() {
    let trials = all(STUDY);
    let (whole, part) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    carry_out(&trials, &runner(whole.path()));
    let reference = results(whole.path());
    let records = Store::open(whole.path()).unwrap().list().unwrap().records;
    let store = Store::open(part.path()).unwrap();
    // All tunings, which a recorded trial does not ask for again, and every third trial.
    let of_trial = |record: &&Record| trials.iter().any(|trial| trial.key == record.key);
    let (fits, tunings): (Vec<&Record>, Vec<&Record>) = records.iter().partition(of_trial);
    let kept: Vec<&Record> = fits.into_iter().step_by(3).collect();
    for record in kept.iter().chain(&tunings) {
        store.put(record).unwrap();
    }
    let kept = kept.len();
    let summary = carry_out(&trials, &runner(part.path()));
    assert_eq!((summary.recorded, summary.done), (kept, 24 - kept));
    assert_eq!(results(part.path()), reference);
    let again = carry_out(&trials, &runner(part.path()));
    assert_eq!((again.recorded, again.done), (24, 0));
}

/// Stopped in the middle of its third trial, a run goes on in the middle of it, and nobody can tell
/// from the results.
#[test]
fn a_trial_that_was_cut_off_goes_on_where_it_was() {
    let trials = all(&one_method("conduct = \"interrupts\", token = \"goes-on\"", ""));
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stop = Stop::default();
    page("goes-on", |page| page.stop = Some(stop.clone()));
    let first = carry_out(&trials, &stoppable(folder.path(), stop));
    assert!(first.interrupted && first.done == 2, "{first:?}");
    assert_eq!(page("goes-on", |page| page.steps), 9 + 9 + 4);
    let second = carry_out(&trials, &runner(folder.path()));
    assert_eq!((second.recorded, second.done), (2, 2));
    assert_eq!(page("goes-on", |page| page.steps), 4 * 9);
    carry_out(&trials, &runner(other.path()));
    assert_eq!(results(folder.path()), results(other.path()));
}

/// A trial with more epochs goes on from the shorter one, whose record stays.
#[test]
fn a_longer_trial_goes_on_from_a_shorter_one() {
    let trials = |epochs: u64| {
        let settings = format!("conduct = \"sound\", token = \"longer\", epochs = {epochs}");
        all(&one_method(&settings, ""))
    };
    let steps = || page("longer", |page| page.steps);
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let keeping = || runner(folder.path()).checkpoints_every(Duration::ZERO);
    carry_out(&trials(10), &keeping());
    carry_out(&trials(25), &keeping());
    assert_eq!(steps(), 4 * 25);
    // Shorter ones begin anew, and so does one whose state was damaged.
    carry_out(&trials(5), &keeping());
    assert_eq!(steps(), 4 * (25 + 5));
    let kept = fs::read_dir(folder.path().join("test/one")).unwrap();
    let kept = kept.map(|entry| entry.unwrap().path());
    for path in kept.filter(|path| path.extension().is_some_and(|end| end == "checkpoint")) {
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    }
    carry_out(&trials(30), &keeping());
    assert_eq!(steps(), 4 * (25 + 5 + 30));
    for epochs in [10, 25, 5, 30] {
        carry_out(&trials(epochs), &runner(other.path()));
    }
    assert_eq!(results(folder.path()), results(other.path()));
}

#[test]
fn a_damaged_record_is_set_aside_and_made_again() {
    let trials = all(STUDY);
    let folder = tempfile::tempdir().unwrap();
    carry_out(&trials, &runner(folder.path()));
    let reference = results(folder.path());
    let store = Store::open(folder.path()).unwrap();
    let paths = [0, 7].map(|trial| store.path(&trials[trial].key));
    let whole = fs::read(&paths[0]).unwrap();
    fs::write(&paths[0], &whole[..whole.len() / 2]).unwrap();
    fs::write(&paths[1], b"").unwrap();
    let summary = carry_out(&trials, &runner(folder.path()));
    assert_eq!((summary.recorded, summary.done), (22, 2));
    for path in paths {
        assert!(path.exists() && path.with_extension("json.damaged").exists());
    }
    assert_eq!(results(folder.path()), reference);
}

#[test]
fn a_failure_is_kept_until_a_retry_is_asked_for() {
    let trials = all(&one_method("conduct = \"fails\", token = \"retry\"", ""));
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    let first = carry_out(&trials, &runner);
    assert_eq!((first.done, first.failed.len()), (0, 4));
    assert!(first.failed[0].0.contains("test/one only iris drifting-mean"), "{:?}", first.failed);
    assert!(first.failed[0].1.contains("told to fail"));
    let record = runner.store.get(&trials[0].key).unwrap().unwrap();
    assert_eq!(record.result.status, Status::Failed);
    assert!(record.result.metrics.is_empty() && record.result.error.is_some());

    page("retry", |page| page.mended = true);
    let kept = carry_out(&trials, &runner);
    assert_eq!((kept.recorded, kept.done, kept.failed.len()), (4, 0, 4));
    assert_eq!(page("retry", |page| page.fits), 4);

    let options = Options { retry_failed: true, ..one_job() };
    let retried = run(&trials, &runner, &options, &Silent).unwrap();
    assert_eq!((retried.recorded, retried.done, retried.failed.len()), (0, 4, 0));
    // What is done is not done again.
    let again = run(&trials, &runner, &options, &Silent).unwrap();
    assert_eq!((again.recorded, again.done), (4, 0));
    assert_eq!(page("retry", |page| page.fits), 8);
}

#[test]
fn a_panic_costs_its_trial_and_not_the_run() {
    let trials = all(&one_method("conduct = \"panics\", token = \"panics\"", ""));
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    let summary = carry_out(&trials, &runner);
    assert_eq!((summary.done, summary.failed.len()), (0, 4));
    let record = runner.store.get(&trials[0].key).unwrap().unwrap();
    assert_eq!(record.result.status, Status::Failed);
    assert!(record.result.error.unwrap().contains("panicked: a double was told to"));
}

#[test]
fn divergence_is_a_result_and_stays() {
    let trials = all(&one_method("conduct = \"diverges\", token = \"diverged\"", ""));
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    let first = carry_out(&trials, &runner);
    assert_eq!((first.done, first.diverged, first.failed.len()), (0, 4, 0));
    let options = Options { retry_failed: true, ..one_job() };
    let again = run(&trials, &runner, &options, &Silent).unwrap();
    assert_eq!((again.recorded, again.diverged), (4, 4));
    assert_eq!(page("diverged", |page| page.fits), 4);
    let record = runner.store.get(&trials[0].key).unwrap().unwrap();
    assert_eq!(record.result.status, Status::Diverged);
}

/// A record is named by the data that was planned: other data is refused, not misfiled.
#[test]
fn data_of_another_version_than_planned_is_refused() {
    let mut trials = all(STUDY);
    trials.truncate(1);
    trials[0].key.fingerprint = "0".repeat(64);
    let folder = tempfile::tempdir().unwrap();
    let error = run(&trials, &runner(folder.path()), &one_job(), &Silent).unwrap_err();
    assert!(error.to_string().contains("`iris` was planned with fingerprint 0000"), "{error}");
    assert!(results(folder.path()).is_empty());
}

#[test]
fn a_record_directory_that_fails_ends_the_run_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(folder.path());
    // A file where the study's directory should be: no record can be written.
    fs::create_dir(folder.path().join("test")).unwrap();
    fs::write(folder.path().join("test/study"), "in the way").unwrap();
    let error = run(&all(STUDY), &runner, &one_job(), &Silent).unwrap_err().to_string();
    assert!(error.contains("test/study"), "{error}");
}
