//! The tuner sees only the training part, and spends the same on every method.

use crate::bench::{STUDY, all, carry_out, planned, stand_in};
use crate::doubles::{METHODS, page};
use mercer_datasets::{Dataset, Library, Parts as Ranges};
use mercer_harness::{
    Protocol, Runner, Selection, Stop, Trial, Tuner, TuningSource, prepare, tune,
};
use mercer_learning::{Axis, Method, Range, Sample, Settings, Space, Streams, Unlimited, find};
use mercer_records::{Record, Store, Tuning};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;
use std::path::Path;

/// An input that no honest row has, by nine orders of magnitude.
const POISON: f64 = 1e9;

/// Iris as label and inputs, in the order of the file.
fn iris() -> Vec<(String, Vec<f64>)> {
    let dataset = Library::of_folders([]).unwrap().load("iris").unwrap();
    let (inputs, labels) = (dataset.sample.inputs(), dataset.sample.labels().unwrap());
    let rows = inputs.rows().into_iter().zip(labels);
    rows.map(|(row, &label)| (dataset.labels[label as usize].clone(), row.to_vec())).collect()
}

/// The rows that `prepare` puts into the test part, found by giving every row its own number.
fn test_rows(rows: usize, protocol: &Protocol, streams: &Streams) -> Vec<usize> {
    let inputs = Array2::from_shape_fn((rows, 1), |(row, _)| row as f64);
    let sample = Sample::regression(inputs, Array1::zeros(rows)).unwrap();
    let protocol = Protocol { scale: None, targets: None, ..*protocol };
    let parts = prepare(&dataset(sample), &protocol, streams).unwrap();
    parts.test.inputs().iter().map(|&row| row as usize).collect()
}

fn dataset(sample: Sample) -> Dataset {
    let parts = Ranges::undivided(sample.rows());
    let (name, fingerprint) = ("made".to_owned(), String::new());
    Dataset { name, fingerprint, sample, parts, labels: Vec::new(), note: None }
}

/// The fingerprint of the data found, for a plan.
fn version(library: &Library, name: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), library.load(name).unwrap().fingerprint)])
}

/// The first repeat of the tuned drifting mean on these rows: its tuning and its trial.
fn tuned_on(rows: &[(String, Vec<f64>)], spec: &str) -> (Record, Record) {
    let folder = tempfile::tempdir().unwrap();
    let library = stand_in(folder.path(), "iris", &[("all", rows.to_vec())]);
    let selection = Selection {
        variants: vec!["tuned".to_owned()],
        methods: vec!["drifting-mean".to_owned()],
        repeats: Some(1),
        datasets: Vec::new(),
        grid: false,
        versions: version(&library, "iris"),
        ..Selection::default()
    };
    let trials = planned(spec, &selection);
    let store = Store::open(folder.path().join("results")).unwrap();
    let runner = Runner::new(METHODS, library, store.clone(), Stop::default());
    let summary = carry_out(&trials, &runner);
    assert_eq!(summary.done, 1, "{summary:?}");
    let TuningSource::Tuner { key, .. } = &trials[0].tuning else { panic!("no tuner") };
    (store.get(key).unwrap().unwrap(), store.get(&trials[0].key).unwrap().unwrap())
}

/// Iris with poison in the inputs and wrong labels, in the test rows of the first repeat only.
fn poisoned(spec: &str) -> Vec<(String, Vec<f64>)> {
    let trial = all(spec).swap_remove(0);
    let mut rows = iris();
    let test = test_rows(rows.len(), &trial.protocol, &trial.streams);
    assert_eq!(test.len(), 30);
    for row in test {
        let (label, inputs) = &mut rows[row];
        *label = String::from(if label == "1" { "2" } else { "1" });
        inputs.fill(POISON);
    }
    rows
}

/// The study, with a page of the diary for its drifting mean.
fn spec(token: &str, scaled_on: &str) -> String {
    STUDY.replace("from = \"training\"", &format!("from = \"{scaled_on}\"")).replace(
        "{ name = \"drifting-mean\" }",
        &format!("{{ name = \"drifting-mean\", settings = {{ token = \"{token}\" }} }}"),
    )
}

#[test]
fn a_poisoned_test_row_changes_nothing_before_the_score() {
    let spec = spec("poison", "training");
    let (clean_tuning, clean) = tuned_on(&iris(), &spec);
    let (tuning, trial) = tuned_on(&poisoned(&spec), &spec);
    assert_eq!(tuning.result, clean_tuning.result);
    assert_eq!(trial.result.settings, clean.result.settings);
    assert_eq!(trial.result.facts, clean.result.facts);
    let largest = page("poison", |page| page.largest_fitted);
    assert!(largest < 10.0, "a fit was shown {largest}");
    // The poison was there: the score saw it.
    assert_ne!(trial.result.metrics, clean.result.metrics);
}

#[test]
fn calibration_adds_scores_of_probabilities_and_changes_nothing_else() {
    let plain = spec("calibration", "training");
    let asked = plain.replace("[protocol]", "[protocol]\ncalibrate = true");
    let (plain_tuning, plain) = tuned_on(&iris(), &plain);
    let (tuning, trial) = tuned_on(&iris(), &asked);
    // A search is found again whether or not its trial is calibrated.
    assert_eq!((&tuning.key, &tuning.result), (&plain_tuning.key, &plain_tuning.result));
    assert_ne!(trial.key.digest(), plain.key.digest());
    let mut metrics = trial.result.metrics.clone();
    let log_loss = metrics.remove("log-loss").unwrap();
    let error = metrics.remove("calibration-error").unwrap();
    assert_eq!(metrics, plain.result.metrics);
    assert_eq!(trial.result.facts, plain.result.facts);
    // Better than equal probabilities of three classes, whose loss is ln 3.
    assert!(log_loss > 0.0 && log_loss < 0.5 * 3f64.ln(), "{log_loss}");
    assert!((0.0..0.3).contains(&error), "{error}");
}

#[test]
fn a_scaler_of_all_rows_would_be_noticed() {
    let spec = spec("leak", "all");
    let (clean_tuning, _) = tuned_on(&iris(), &spec);
    let (tuning, _) = tuned_on(&poisoned(&spec), &spec);
    assert_ne!(tuning.result, clean_tuning.result);
}

#[test]
fn target_scaling_follows_the_training_rows() {
    let text = "scale = { to = \"symmetric\", from = \"training\" }\n\
                targets = { low = 0, high = 100, from = \"training\" }";
    let protocol: Protocol = toml::from_str(text).unwrap();
    let streams = Streams::root(3);
    let inputs = Array2::from_shape_fn((50, 3), |(i, j)| ((7 * i + 5 * j) % 13) as f64);
    let values = Array1::from_shape_fn(50, |i| ((11 * i) % 17) as f64);
    let mut spoiled = (inputs.clone(), values.clone());
    for row in test_rows(50, &protocol, &streams) {
        spoiled.0.row_mut(row).fill(POISON);
        spoiled.1[row] = -POISON;
    }
    let of = |inputs, values| {
        let sample = Sample::regression(inputs, values).unwrap();
        prepare(&dataset(sample), &protocol, &streams).unwrap()
    };
    let (clean, spoiled) = (of(inputs, values), of(spoiled.0, spoiled.1));
    assert_eq!(clean.train, spoiled.train);
    assert_ne!(clean.test, spoiled.test);
    let scaled = clean.train.values().unwrap().to_owned();
    let ends = scaled.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
    assert_eq!(ends, (0.0, 100.0));
}

/// Candidates at each effort, in order.
fn rungs(tuning: &Tuning) -> Vec<(f64, usize)> {
    let mut rungs: Vec<(f64, usize)> = Vec::new();
    for step in &tuning.history {
        match rungs.last_mut() {
            Some((effort, count)) if effort.to_bits() == step.effort.to_bits() => *count += 1,
            _ => rungs.push((step.effort, 1)),
        }
    }
    rungs
}

fn tuned(method: &str, fixed: &Settings, anchor: &Settings) -> Tuning {
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let method = find(METHODS, method).unwrap();
    let (tuner, streams) = (Tuner::default(), Streams::root(1));
    tune(method, &sample, fixed, anchor, &tuner, &streams, &Unlimited).unwrap()
}

#[test]
fn every_method_has_the_same_budget() {
    let nothing = Settings::new();
    let iterative = tuned("drifting-mean", &nothing, &nothing);
    assert_eq!(rungs(&iterative), [(1.0 / 9.0, 27), (1.0 / 3.0, 9), (1.0, 3)]);
    // A closed form has no effort to scale, so that its first rung is its last.
    assert_eq!(rungs(&tuned("closed-mean", &nothing, &nothing)), [(1.0, 27)]);
    // And with nothing to tune there is one candidate.
    assert_eq!(rungs(&tuned("plain-mean", &nothing, &nothing)), [(1.0, 1)]);
}

#[test]
fn rungs_keep_the_best_third_and_ties_go_to_the_earlier() {
    let tuning = tuned("drifting-mean", &Settings::new(), &Settings::new());
    let mut start = 0;
    for count in [27, 9] {
        let rung = &tuning.history[start..start + count];
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| rung[b].score.unwrap().total_cmp(&rung[a].score.unwrap()));
        let kept: Vec<_> = order[..count / 3].iter().map(|&i| &rung[i].settings).collect();
        start += count;
        let next: Vec<_> =
            tuning.history[start..start + count / 3].iter().map(|step| &step.settings).collect();
        assert_eq!(kept, next);
    }
    let last = &tuning.history[start..];
    let best = last.iter().map(|step| step.score.unwrap()).fold(f64::MIN, f64::max);
    let first = last.iter().find(|step| step.score == Some(best)).unwrap();
    assert_eq!(first.settings, tuning.chosen);
}

#[test]
fn anchors_are_tried_first_and_fixed_settings_hold() {
    let anchor = Settings::new().with("rate", 0.5);
    let tuning = tuned("drifting-mean", &Settings::new().with("epochs", 18), &anchor);
    let rate = |step: usize| tuning.history[step].settings["rate"].as_f64().unwrap();
    assert_eq!((rate(0), rate(1)), (0.5, 0.02));
    assert!(tuning.history.iter().all(|step| step.settings["epochs"] == 18));
    let fixed = tuned("drifting-mean", &Settings::new().with("rate", 0.3), &anchor);
    assert!(fixed.history.iter().all(|step| step.settings["rate"] == 0.3));
}

#[test]
fn a_candidate_that_fails_scores_nothing_and_is_not_chosen() {
    let conduct = Settings::new().with("conduct", "fails-when-fast");
    let tuning = tuned("drifting-mean", &conduct, &Settings::new());
    let (failed, scored): (Vec<_>, Vec<_>) =
        tuning.history.iter().partition(|step| step.score.is_none());
    assert!(!failed.is_empty() && !scored.is_empty());
    assert!(failed.iter().all(|step| step.settings["rate"].as_f64().unwrap() > 0.1));
    assert!(tuning.chosen["rate"].as_f64().unwrap() <= 0.1);
}

#[test]
fn without_a_candidate_that_fits_the_first_error_is_told() {
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let method = find(METHODS, "drifting-mean").unwrap();
    let fixed = Settings::new().with("conduct", "fails");
    let (tuner, streams) = (Tuner::default(), Streams::root(1));
    let error = tune(method, &sample, &fixed, &Settings::new(), &tuner, &streams, &Unlimited);
    assert!(error.unwrap_err().to_string().contains("told to fail"));
}

/// With a fixed test part nothing is resampled: the first repeat's tuning serves all of them.
#[test]
fn a_fixed_test_part_is_tuned_once() {
    let spec = STUDY
        .replace("\"iris\"", "\"letter\"")
        .replace("split = { kind = \"random\", train = 0.8 }", "split = { kind = \"official\" }");
    let folder = tempfile::tempdir().unwrap();
    let (test, train) = iris().into_iter().enumerate().partition::<Vec<_>, _>(|(i, _)| i % 5 == 0);
    let rows = |part: Vec<(usize, _)>| part.into_iter().map(|(_, row)| row).collect();
    let parts = [("train", rows(train)), ("test", rows(test))];
    let library = stand_in(folder.path(), "letter", &parts);
    let selection = Selection {
        variants: vec!["tuned".to_owned()],
        methods: vec!["drifting-mean".to_owned()],
        versions: version(&library, "letter"),
        ..Selection::default()
    };
    let trials = planned(&spec, &selection);
    let store = Store::open(folder.path().join("results")).unwrap();
    let runner = Runner::new(METHODS, library, store.clone(), Stop::default());
    let options = mercer_harness::Options { jobs: 3, ..Default::default() };
    let summary = mercer_harness::run(&trials, &runner, &options, &mercer_harness::Silent).unwrap();
    assert_eq!(summary.done, 4);
    let listing = store.list().unwrap();
    let (tunings, fits): (Vec<_>, Vec<_>) = listing.records.iter().partition(|record| {
        record.result.tuning.as_ref().is_some_and(|tuning| !tuning.history.is_empty())
    });
    assert_eq!((tunings.len(), fits.len()), (1, 4));
    let chosen = &tunings[0].result.tuning.as_ref().unwrap().chosen;
    for record in fits {
        assert_eq!(&record.result.tuning.as_ref().unwrap().chosen, chosen);
        assert_eq!(record.result.rows, [120, 30]);
        let wrong = record.result.wrong.as_ref().unwrap().len() as f64;
        let accuracy = record.result.metrics["accuracy"];
        assert!((accuracy - (1.0 - wrong / 30.0)).abs() < 1e-12);
    }
}

/// What the records of a folder chose, by their keys.
fn tunings(folder: &Path) -> BTreeMap<String, std::sync::Arc<Tuning>> {
    let records = Store::open(folder).unwrap().list().unwrap().records.into_iter();
    records
        .filter_map(|record| Some((record.key.digest(), record.result.tuning?)))
        .filter(|(_, tuning)| !tuning.history.is_empty())
        .collect()
}

#[test]
fn an_archived_tuning_is_used_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let trials = all(STUDY);
    carry_out(&trials, &crate::bench::runner(folder.path()));
    let archived = tunings(folder.path());
    assert_eq!(archived.len(), 8);
    let spec = mercer_harness::Spec::parse(STUDY, Path::new("test.toml")).unwrap();
    let archive = |key: &mercer_records::Key| archived.get(&key.digest()).cloned();
    let again =
        mercer_harness::plan(&spec, METHODS, "paper", &Selection::default(), &archive).unwrap();
    let other = tempfile::tempdir().unwrap();
    carry_out(&again, &crate::bench::runner(other.path()));
    let (before, after) =
        (crate::bench::results(folder.path()), crate::bench::results(other.path()));
    assert_eq!((before.len(), after.len()), (32, 24));
    assert!(after.iter().all(|(name, result)| before[name] == *result));
}

/// Every point in full, by cross-validation, and the best mean is chosen: by hand.
#[test]
fn a_grid_is_searched_point_by_point_over_folds() {
    let spec = format!(
        "{STUDY}[grid]\nfolds = 4\naxes = {{ rate = [0.05, 0.2, 0.4] }}\nmethods = {{ drifting-mean = [\"rate\"] }}\n"
    );
    let spec = mercer_harness::Spec::parse(&spec, Path::new("test.toml")).unwrap();
    let planned = |grid: bool| {
        let selection = Selection { grid, repeats: Some(1), ..Selection::default() };
        mercer_harness::plan(&spec, METHODS, "paper", &selection, &|_| None).unwrap()
    };
    let of = |trials: &[Trial], method: &str| {
        let wanted = |t: &&Trial| t.key.variant == "tuned" && t.key.method == method;
        trials.iter().find(wanted).unwrap().clone()
    };
    let (grid, halving) = (planned(true), planned(false));
    // Who has no part in the grid keeps the study's search.
    assert_ne!(of(&grid, "drifting-mean").key, of(&halving, "drifting-mean").key);
    assert_eq!(of(&grid, "closed-mean").key, of(&halving, "closed-mean").key);
    let given = |trials: &[Trial]| {
        trials
            .iter()
            .filter(|t| t.key.variant == "given")
            .map(|t| t.key.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(given(&grid), given(&halving));
    let mercer_harness::TuningSource::Tuner { tuner, .. } = &of(&grid, "drifting-mean").tuning
    else {
        panic!("no tuner")
    };
    assert_eq!((tuner.candidates, tuner.cost()), (3, 3.0 * 3.0 + 1.0));
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let method = find(METHODS, "drifting-mean").unwrap();
    let none = Settings::new();
    let (root, token) = (Streams::root(1), Settings::new().with("token", "grid"));
    let found = tune(method, &sample, &token, &none, tuner, &root, &Unlimited).unwrap();
    let rates: Vec<f64> =
        found.history.iter().map(|step| step.settings["rate"].as_f64().unwrap()).collect();
    assert_eq!(rates, [0.05, 0.2, 0.4]);
    assert!(found.history.iter().all(|step| step.effort >= 1.0 && step.score.is_some()));
    let best = found.history.iter().filter_map(|step| step.score).fold(f64::MIN, f64::max);
    let first = found.history.iter().find(|step| step.score == Some(best)).unwrap();
    assert_eq!(found.chosen, first.settings);
}

/// What was chosen on all training rows is no tuning of fewer, and a setting that a profile cuts stays cut.
#[test]
fn a_cut_trial_runs_what_its_key_says() {
    let with = |cut: &str| {
        STUDY.replace(
            "summary = \"tuned inside the training part\"\n",
            "summary = \"tuned inside the training part\"\nsettings = { epochs = 6 }\n",
        ) + &format!("[profiles.quick]\ntune = false\ncut = {cut}\n")
    };
    let whole = tempfile::tempdir().unwrap();
    let trials = all(&with("{ rows = 50 }"));
    carry_out(&trials, &crate::bench::runner(whole.path()));
    let archived = tunings(whole.path());
    let archive = |key: &mercer_records::Key| archived.get(&key.digest()).cloned();
    let cut = |cut: &str| {
        let spec = mercer_harness::Spec::parse(&with(cut), Path::new("test.toml")).unwrap();
        let trials =
            mercer_harness::plan(&spec, METHODS, "quick", &Selection::default(), &archive).unwrap();
        let folder = tempfile::tempdir().unwrap();
        carry_out(&trials, &crate::bench::runner(folder.path()));
        let tuned = Store::open(folder.path()).unwrap().list().unwrap().records.into_iter();
        let tuned = tuned.filter(|record| record.key.variant == "tuned");
        let tuned = tuned.filter(|record| record.key.method == "drifting-mean");
        let tuned: Vec<_> = tuned.collect();
        assert_eq!(tuned.len(), 4);
        for record in &tuned {
            for (name, value) in &record.key.settings {
                assert_eq!(&record.result.settings[name], value, "{name}");
            }
        }
        tuned
    };
    for record in cut("{ rows = 50 }") {
        assert_eq!(record.key.tuning, "given settings: no tuning of these rows is archived");
        assert!(record.result.tuning.is_none() && record.result.rows[0] == 50);
    }
    for record in cut("{ at_most = { epochs = 2 } }") {
        let tuning = record.result.tuning.as_ref().unwrap();
        let epochs = &record.result.settings["epochs"];
        assert_eq!((&tuning.chosen["epochs"], epochs), (&6.into(), &2.into()));
        assert_eq!(record.result.settings["rate"], tuning.chosen["rate"]);
    }
}

/// A search with this budget over a sample of iris, the defaults first.
fn searched(method: &str, fixed: &Settings, candidates: usize, seconds: Option<f64>) -> Tuning {
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let tuner = Tuner { candidates, seconds, defaults_first: true, ..Tuner::default() };
    let (method, streams) = (find(METHODS, method).unwrap(), Streams::root(1));
    tune(method, &sample, fixed, &Settings::new(), &tuner, &streams, &Unlimited).unwrap()
}

/// A fit of 10^12 steps that each take a millisecond, or none of them ends this test.
#[test]
fn a_time_budget_ends_the_fit_under_way_and_leaves_the_defaults() {
    let endless = Settings::new().with("conduct", "dawdles").with("epochs", 1_000_000_000_000u64);
    let found = searched("drifting-mean", &endless.with("token", "endless"), 27, Some(0.02));
    let [only] = found.history.as_slice() else { panic!("{:?}", found.history) };
    assert_eq!((only.score, &only.settings), (None, &found.chosen));
    assert_eq!(found.chosen["rate"], 0.01); // not the anchor's 0.02
}

#[test]
fn the_defaults_are_compared_with_what_is_chosen() {
    for seconds in [None, Some(3600.0)] {
        let fixed = Settings::new().with("token", "first");
        let found = searched("drifting-mean", &fixed, 4, seconds);
        let rates: Vec<f64> =
            found.history[..2].iter().filter_map(|s| s.settings["rate"].as_f64()).collect();
        assert_eq!(rates, [0.01, 0.02]);
        assert!(found.history[0].score.is_some());
        let closed = searched("closed-mean", &Settings::new(), 5, seconds);
        assert_eq!((closed.history.len(), &closed.history[0].settings["shrink"]), (5, &0.0.into()));
        let best = closed.history.iter().filter_map(|step| step.score).fold(f64::MIN, f64::max);
        let first = closed.history.iter().find(|step| step.score == Some(best)).unwrap();
        assert_eq!(closed.chosen, first.settings); // of equals the first
    }
}

/// What the tables' search would spend on what it knows: the same settings under two names, rungs of one
/// epoch each, a single candidate on three rungs.
#[test]
fn a_sparing_search_fits_nothing_twice() {
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let none = Settings::new();
    let search = |method: &Method, fixed: &Settings, candidates, sparing| {
        let tuner = Tuner { candidates, sparing, defaults_first: true, ..Tuner::default() };
        tune(method, &sample, fixed, &none, &tuner, &Streams::root(1), &Unlimited).unwrap()
    };
    // Defaults that an anchor leaves out, one that it writes as another number, and two that may be drawn.
    let choosing = Method {
        space: &|_| Space {
            axes: vec![Axis { name: "shrink", range: Range::Choice(vec![0.into(), 0.5.into()]) }],
            anchors: vec![Settings::new(), Settings::new().with("shrink", 0)],
        },
        ..*find(METHODS, "closed-mean").unwrap()
    };
    let tried: Vec<f64> = search(&choosing, &none, 16, true)
        .history
        .iter()
        .map(|step| step.settings["shrink"].as_f64().unwrap())
        .collect();
    assert_eq!(tried, [0.0, 0.5]);
    assert_eq!(search(&choosing, &none, 16, false).history.len(), 16);

    let drifting = find(METHODS, "drifting-mean").unwrap();
    let counts = |fixed: &Settings, candidates| rungs(&search(drifting, fixed, candidates, true));
    assert_eq!(counts(&none, 27), [(1.0 / 9.0, 27), (3.0 / 9.0, 9), (1.0, 3)]);
    assert_eq!(counts(&none, 9), [(3.0 / 9.0, 9), (1.0, 3)]);
    assert_eq!(counts(&none, 3), [(1.0, 3)]);
    assert_eq!(counts(&Settings::new().with("epochs", 1), 27), [(1.0, 27)]);
    assert_eq!(counts(&Settings::new().with("epochs", 2), 27), [(0.5, 27), (1.0, 14)]);
    // With nothing left to tune there is one candidate, in full and once.
    assert_eq!(counts(&Settings::new().with("rate", 0.3), 27), [(1.0, 1)]);
}

/// Each part is held out once and the mean of its scores ranks: what a grid does, for draws. Without folds one
/// share does, and the studies' keys have no word of it.
#[test]
fn a_folded_search_scores_with_every_row() {
    let sample = Library::of_folders([]).unwrap().load("iris").unwrap().sample;
    let (none, root) = (Settings::new(), Streams::root(1));
    let method = find(METHODS, "closed-mean").unwrap();
    let search = |tuner: &Tuner| {
        tune(method, &sample, &none, &none, tuner, &root, &Unlimited).unwrap().history
    };
    let folded = Tuner { candidates: 9, folds: Some(5), ..Tuner::default() };
    let drawn = search(&folded);
    assert_eq!((drawn.len(), folded.cost()), (9, 5.0 * 0.8 * (1.0 + 1.0 + 1.0) + 1.0));
    let shrinks = drawn.iter().map(|step| step.settings["shrink"].clone()).collect();
    let axes = BTreeMap::from([("shrink".to_owned(), shrinks)]);
    assert_eq!(search(&folded.over(mercer_harness::Grid { folds: 5, axes })), drawn);
    assert_ne!(search(&Tuner { folds: None, ..folded.clone() }), drawn);
    // Of 60 rows each fold holds 12.
    let few = search(&Tuner { rows: Some(60), ..folded });
    assert!(few.iter().filter_map(|step| step.score).all(|score| {
        let right = score * 60.0;
        (right - right.round()).abs() < 1e-9
    }));
    assert!(!serde_json::to_string(&Tuner::default()).unwrap().contains("folds"));
}
