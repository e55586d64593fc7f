//! The results do not depend on the order or the number of parallel trials. Nor do they depend on the process.

use crate::bench::{STUDY, all, results, runner};
use mercer_harness::{Options, Shard, Silent, run};
use proptest::prelude::*;

#[test]
fn jobs_change_nothing() {
    let trials = all(STUDY);
    let mut reference = None;
    for jobs in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { jobs, ..Options::default() };
        let summary = run(&trials, &runner(folder.path()), &options, &Silent).unwrap();
        assert_eq!((summary.trials, summary.done, summary.recorded), (24, 24, 0));
        let found = results(folder.path());
        assert_eq!(found.len(), 32, "24 trials and 8 tunings");
        assert_eq!(*reference.get_or_insert_with(|| found.clone()), found, "{jobs} jobs");
    }
}

#[test]
fn shards_do_every_trial_once_and_change_nothing() {
    let trials = all(STUDY);
    let whole = tempfile::tempdir().unwrap();
    run(&trials, &runner(whole.path()), &Options::default(), &Silent).unwrap();
    let reference = results(whole.path());
    for count in [1, 2, 7] {
        let mut merged = std::collections::BTreeMap::new();
        for index in 1..=count {
            // Each shard writes a directory of its own, as on machines without a shared disk.
            let folder = tempfile::tempdir().unwrap();
            let shard = Shard { index, count };
            let options = Options { jobs: 2, shard, ..Options::default() };
            let summary = run(&trials, &runner(folder.path()), &options, &Silent).unwrap();
            let own = results(folder.path());
            assert_eq!(summary.done, summary.trials);
            for (name, result) in own {
                let before = merged.insert(name.clone(), result);
                assert_eq!(before, None, "{name} was done by two of {count} shards");
            }
        }
        assert_eq!(merged, reference, "{count} shards");
    }
}

#[test]
fn the_order_of_the_plan_changes_nothing() {
    let mut trials = all(STUDY);
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&trials, &runner(a.path()), &Options::default(), &Silent).unwrap();
    trials.reverse();
    run(&trials, &runner(b.path()), &Options::default(), &Silent).unwrap();
    assert_eq!(results(a.path()), results(b.path()));
}

proptest! {
    #[test]
    fn a_shard_reads_as_it_is_written(count in 1..1000usize, index in 0..1001usize) {
        let read = format!("{index}/{count}").parse::<Shard>();
        if (1..=count).contains(&index) {
            prop_assert_eq!(read, Ok(Shard { index, count }));
        } else {
            prop_assert!(read.unwrap_err().contains("1 <= I <= N"));
        }
    }
}
