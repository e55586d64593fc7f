//! What of a result depends on the processor: the same trials at every level of vector instructions.
//!
//! `MERCER_DETERMINISM=PATH` makes the run write what differed, and by how much.

use crate::place::{Ended, Place, files, mirror};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Metrics of every trial that ended with a score, and its method.
type Scores = BTreeMap<String, (String, BTreeMap<String, f64>)>;

fn scores(place: &Place, directory: &str) -> Scores {
    let mut scores = Scores::new();
    for path in files(&place.path(directory)) {
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if stem.len() != 64 || path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        let method = record["key"]["method"].as_str().unwrap().to_owned();
        let metrics = record["result"]["metrics"].as_object().unwrap();
        let metrics = metrics.iter().map(|(name, value)| (name.clone(), value.as_f64().unwrap()));
        scores.insert(stem.to_owned(), (method, metrics.collect()));
    }
    scores
}

/// By method: trials, trials whose check sum differs, and the largest difference of each metric.
#[derive(Default)]
struct Differences {
    trials: usize,
    differing: usize,
    largest: BTreeMap<String, f64>,
}

/// What a difference of a metric is measured in: shares as they are, errors, which are in units of the
/// target, relative to their size.
fn scale(metric: &str, value: f64) -> f64 {
    if metric.ends_with("accuracy") { 1.0 } else { value.abs().max(1e-300) }
}

#[test]
fn differences_of_shares_are_shares() {
    assert_eq!(scale("accuracy", 0.5).to_bits(), 1.0_f64.to_bits());
    assert_eq!(scale("balanced-accuracy", 0.5).to_bits(), 1.0_f64.to_bits());
    assert_eq!(scale("rmse", -4.0).to_bits(), 4.0_f64.to_bits());
}

fn compare(place: &Place, level: &str, reference: &str) -> BTreeMap<String, Differences> {
    let (ours, theirs) = (scores(place, level), scores(place, reference));
    let (sums, others) = (place.records(level), place.records(reference));
    assert!(ours.keys().eq(theirs.keys()), "{level}: other trials than {reference}");
    let mut methods: BTreeMap<String, Differences> = BTreeMap::new();
    for (name, (method, metrics)) in &ours {
        let found = methods.entry(method.clone()).or_default();
        found.trials += 1;
        let file = format!("{name}.json");
        found.differing += usize::from(sums[&file] != others[&file]);
        for (metric, value) in metrics {
            let other = theirs[name].1[metric];
            let scale = scale(metric, other);
            let largest = found.largest.entry(metric.clone()).or_default();
            *largest = largest.max((value - other).abs() / scale);
        }
    }
    methods
}

fn measure(what: &str) -> Option<String> {
    let mirror = mirror()?;
    let place = Place::new();
    let run = |directory: &str, environment: &[(&str, &str)]| {
        let line = format!("reproduce {what} --results {directory} --quiet");
        let mut command = place.command(&line);
        let command = command.env("MERCER_DATA", &mirror).envs(environment.iter().copied());
        let ended = Ended::of(&command.output().unwrap());
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    };
    run("best", &[]);
    let mut text = "# Determinism\n\nWritten by `just determinism`: the trials of the profile `smoke`, at lower \
        levels of vector instructions, beside the best of this machine. The levels are those of our own loops \
        (`MERCER_DISPATCH`); matrix products choose their instructions for themselves, and OpenBLAS is lowered by \
        `OPENBLAS_CORETYPE`. Differences of accuracies are in shares, of errors relative to the error.\n"
        .to_owned();
    // The same level twice must agree in every bit, also side by side.
    run("again", &[]);
    assert_eq!(place.records("again"), place.records("best"));
    for (level, environment) in [
        ("avx2", &[("MERCER_DISPATCH", "avx2"), ("OPENBLAS_CORETYPE", "Haswell")][..]),
        ("baseline", &[("MERCER_DISPATCH", "baseline"), ("OPENBLAS_CORETYPE", "Nehalem")]),
    ] {
        run(level, environment);
        let _ = writeln!(
            text,
            "\n## {level} against the best level\n\n| method | trials | with any other bit | largest differences |\n|:--|--:|--:|:--|"
        );
        let mut all = Differences::default();
        for (method, found) in compare(&place, level, "best") {
            let largest: Vec<String> = found
                .largest
                .iter()
                .filter(|(_, value)| **value > 0.0)
                .map(|(metric, value)| format!("{metric} {value:.2e}"))
                .collect();
            let largest = if largest.is_empty() { "none".to_owned() } else { largest.join(", ") };
            let Differences { trials, differing, .. } = found;
            let _ = writeln!(text, "| {method} | {trials} | {differing} | {largest} |");
            all.trials += trials;
            all.differing += differing;
        }
        let _ = writeln!(text, "| **all** | **{}** | **{}** | |", all.trials, all.differing);
    }
    Some(text)
}

#[test]
fn one_level_gives_one_result() {
    // Two methods whose loops are vectorised, and one without.
    measure("askl/table2 --profile smoke --method sk --method kernel-ridge --method majority");
}

#[test]
fn slow_levels_are_compared_over_all_papers() {
    let text = measure("--profile smoke");
    if let (Some(path), Some(text)) = (std::env::var_os("MERCER_DETERMINISM"), text) {
        std::fs::write(path, text).unwrap();
    }
}
