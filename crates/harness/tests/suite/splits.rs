//! Training and test rows depend on the data and the repeat, not on the method. So every comparison is paired.

use crate::bench::{STUDY, all};
use mercer_datasets::{Dataset, Library, Parts};
use mercer_harness::{FoldOrder, Protocol, SplitRule, Trial, prepare};
use mercer_learning::{Sample, Streams, Task};
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn iris() -> Dataset {
    Library::of_folders([]).unwrap().load("iris").unwrap()
}

fn same_parts(a: &Trial, b: &Trial) -> bool {
    let iris = iris();
    let of = |trial: &Trial| prepare(&iris, &trial.protocol, &trial.streams).unwrap();
    let (a, b) = (of(a), of(b));
    a.train == b.train && a.test == b.test
}

#[test]
fn methods_and_variants_share_the_splits_and_repeats_do_not() {
    let trials = all(STUDY);
    for trial in &trials {
        for other in &trials {
            let same = trial.key.repeat == other.key.repeat;
            assert_eq!(trial.streams == other.streams, same);
        }
    }
    let mut shown = BTreeSet::new();
    for trial in &trials {
        let first = trials.iter().find(|other| other.key.repeat == trial.key.repeat).unwrap();
        assert!(same_parts(trial, first));
        shown.insert(
            prepare(&iris(), &trial.protocol, &trial.streams)
                .unwrap()
                .test
                .inputs()
                .sum()
                .to_bits(),
        );
    }
    assert_eq!(shown.len(), 4, "four repeats, four splits");
}

#[test]
fn a_paired_study_shares_the_splits_of_another() {
    let renamed = STUDY.replace("test/study", "test/ablation");
    let paired = renamed.replacen("question", "paired_with = \"test/study\"\nquestion", 1);
    let (own, paired, alone) = (all(STUDY), all(&paired), all(&renamed));
    for ((own, paired), alone) in own.iter().zip(&paired).zip(&alone) {
        assert_ne!(own.key.digest(), paired.key.digest());
        assert_eq!(own.streams, paired.streams);
        assert!(same_parts(own, paired));
        assert_ne!(own.streams, alone.streams);
        // A study that changes its partner changes its keys.
        assert_ne!(paired.key.digest(), alone.key.digest());
    }
}

/// Rows that carry their own number, in a first part and an official test part.
fn numbered(train: usize, test: usize) -> Dataset {
    let rows = train + test;
    let inputs = Array2::from_shape_fn((rows, 1), |(row, _)| row as f64);
    let sample = Sample::regression(inputs, Array1::zeros(rows)).unwrap();
    let parts = Parts::divided(train, test);
    let (name, fingerprint) = ("made".to_owned(), String::new());
    Dataset { name, fingerprint, sample, parts, labels: Vec::new(), note: None }
}

fn numbers(sample: &Sample) -> Vec<usize> {
    sample.inputs().iter().map(|&row| row as usize).collect()
}

proptest! {
    #[test]
    fn a_random_split_divides_the_rows_without_rest(
        rows in 2..200usize, share in 0.05..0.95f64, seed in any::<u64>(),
    ) {
        let split = Some(SplitRule::Random { train: share });
        let protocol = Protocol { split, ..Protocol::default() };
        let parts = prepare(&numbered(rows, 7), &protocol, &Streams::root(seed)).unwrap();
        let mut all = numbers(&parts.train);
        all.extend(numbers(&parts.test));
        all.sort_unstable();
        // The official test part takes no part in a random split.
        prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
    }

    #[test]
    fn an_official_split_keeps_the_test_part(
        rows in 2..100usize, take in 1..150usize, cut in 1..150usize, seed in any::<u64>(),
    ) {
        let split = Some(SplitRule::Official { train: Some(take) });
        let protocol = Protocol { split, rows: Some(cut), ..Protocol::default() };
        let parts = prepare(&numbered(rows, 9), &protocol, &Streams::root(seed)).unwrap();
        prop_assert_eq!(numbers(&parts.test), (rows..rows + 9).collect::<Vec<_>>());
        let train: BTreeSet<usize> = numbers(&parts.train).into_iter().collect();
        prop_assert_eq!(train.len(), rows.min(take).min(cut));
        prop_assert!(train.iter().all(|&row| row < rows));
    }

    /// Fewer training rows, same test rows: a cut does not unpair anything.
    #[test]
    fn a_cut_takes_training_rows_only(rows in 10..200usize, cut in 1..50usize, seed in any::<u64>()) {
        let whole = Protocol::default();
        let less = Protocol { rows: Some(cut), ..whole };
        let (dataset, streams) = (numbered(rows, 0), Streams::root(seed));
        let (whole, less) =
            (prepare(&dataset, &whole, &streams).unwrap(), prepare(&dataset, &less, &streams).unwrap());
        prop_assert_eq!(numbers(&whole.test), numbers(&less.test));
        let all: BTreeSet<usize> = numbers(&whole.train).into_iter().collect();
        prop_assert_eq!(numbers(&less.train).len(), cut.min(all.len()));
        prop_assert!(numbers(&less.train).iter().all(|row| all.contains(row)));
    }
}

/// The class against all others is 1 in both parts, and it stands in the key; without the rule the key says nothing of
/// it.
#[test]
fn one_class_against_the_rest_makes_two() {
    let dataset = iris();
    let plain = Protocol::default();
    let rule = Protocol { against_rest: Some(2), ..plain };
    assert!(!plain.key().contains_key("against-rest"));
    assert_eq!(rule.key()["against-rest"], 2);
    let streams = Streams::root(1);
    let of = |protocol| prepare(&dataset, protocol, &streams).unwrap();
    let (three, two) = (of(&plain), of(&rule));
    for (three, two) in [(&three.train, &two.train), (&three.test, &two.test)] {
        assert_eq!(three.inputs(), two.inputs());
        assert_eq!(two.task(), Task::Classification { classes: 2 });
        let same = three.labels().unwrap().iter().zip(two.labels().unwrap());
        assert!(same.into_iter().all(|(&of_three, &of_two)| (of_three == 2) == (of_two == 1)));
    }
    let wrong = Protocol { against_rest: Some(3), ..plain };
    let error = prepare(&dataset, &wrong, &streams).err().unwrap().to_string();
    assert!(error.contains("against-rest") && error.contains('3'), "{error}");
}

#[test]
fn a_dataset_without_the_official_test_part_is_refused() {
    let split = Some(SplitRule::Official { train: None });
    let protocol = Protocol { split, ..Protocol::default() };
    let error = prepare(&iris(), &protocol, &Streams::root(1)).err().unwrap().to_string();
    assert!(error.contains("test part empty") && error.contains("official"), "{error}");
}

fn folds(dataset: &Dataset, order: FoldOrder, blocks: usize) -> Vec<(Vec<u32>, usize)> {
    let rule = SplitRule::Folds { blocks, order, seed: 0, index: 0 };
    (0..blocks as u32)
        .map(|repeat| {
            let protocol = Protocol { split: Some(rule.of_repeat(repeat)), ..Protocol::default() };
            // Folds come from the rule alone: any streams will do.
            let streams = Streams::root(u64::from(repeat));
            let parts = prepare(dataset, &protocol, &streams).unwrap();
            (parts.test.labels().unwrap().to_vec(), parts.train.rows())
        })
        .collect()
}

#[test]
fn released_folds_are_blocks_of_numpy_s_permutation() {
    let iris = iris();
    let tested = folds(&iris, FoldOrder::Permuted, 10);
    assert!(tested.iter().all(|(test, train)| (test.len(), *train) == (15, 135)));
    // NumPy, RandomState(0).permutation(150), its first rows; iris is sorted, 50 rows a class.
    let first = [114, 62, 33, 107, 7, 100, 40, 86, 76, 71, 134, 51, 73, 54, 63];
    assert_eq!(tested[0].0, first.map(|row: u32| row / 50).to_vec());
    let file = folds(&iris, FoldOrder::File, 10);
    assert_eq!(file[0].0, [0; 15]);
    assert_eq!(file[9].0, [2; 15]);
    for (test, _) in folds(&iris, FoldOrder::Stratified, 10) {
        let count = |class| test.iter().filter(|&&label| label == class).count();
        assert_eq!([0, 1, 2].map(count), [5, 5, 5]);
    }
}

#[test]
fn a_round_of_folds_is_followed_by_one_of_another_permutation() {
    let rule = SplitRule::Folds { blocks: 10, order: FoldOrder::Permuted, seed: 0, index: 0 };
    let fold = |repeat| rule.of_repeat(repeat).fold(150).unwrap();
    assert_eq!((fold(3).index, fold(3).seed), (3, 0));
    assert_eq!((fold(13).index, fold(13).seed), (3, 1));
    assert_eq!(SplitRule::Random { train: 0.8 }.fold(150), None);
    for blocks in [0, 1, 151] {
        let split = SplitRule::Folds { blocks, order: FoldOrder::File, seed: 0, index: 0 };
        let protocol = Protocol { split: Some(split), ..Protocol::default() };
        assert!(prepare(&iris(), &protocol, &Streams::root(1)).is_err(), "{blocks} blocks");
    }
}
