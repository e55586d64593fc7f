//! What of a result depends on the processor, and that nothing of it depends on how the work was shared out:
//! the same trials at every level of vector instructions, by any number of jobs and shards.
//!
//! `MERCER_DETERMINISM=PATH` makes the run write what differed, and by how much.

use crate::place::{Ended, Place, files};
use mercer_records::{Kind, Numbers, Predicted, Record, distance, numbers, promised};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

const KINDS: [Kind; 4] = [Kind::Metric, Kind::Fact, Kind::Curve, Kind::Prediction];

/// By method: trials, trials whose check sum differs, trials for which the tuner chose something else, and the
/// largest difference of each kind with its name; none where nothing of the kind was measured.
#[derive(Debug, Default)]
struct Differences {
    trials: usize,
    differing: usize,
    tuned: usize,
    chosen: usize,
    /// With a promise, and without one.
    largest: BTreeMap<(Kind, bool), (f64, String)>,
    /// What is further apart than was promised.
    broken: Vec<String>,
}

impl Differences {
    fn add(&mut self, ours: &Record, theirs: &Record) {
        self.trials += 1;
        self.differing += usize::from(ours.result_sha256 != theirs.result_sha256);
        let chosen = |record: &Record| record.result.tuning.as_ref().map(|own| own.chosen.clone());
        self.tuned += usize::from(chosen(theirs).is_some());
        self.chosen += usize::from(chosen(ours) != chosen(theirs));
        let method = &theirs.key.method;
        let (ours, theirs) = (numbers(ours), numbers(theirs));
        let names: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        for name in names {
            let of = |numbers: &Numbers| numbers.get(name).cloned().unwrap_or_default();
            let apart = distance(&name.1, &of(&ours), &of(&theirs));
            if promised(name.0, &name.1).is_some_and(|most| apart > most) {
                self.broken.push(format!("{method}: {} {apart:.2e}", name.1));
            }
            let held = promised(name.0, &name.1).is_some();
            let largest = self.largest.entry((name.0, held)).or_default();
            if apart > largest.0 {
                *largest = (apart, name.1.clone());
            }
        }
    }

    /// For how many trials the tuner chose something else, where it chose.
    fn chosen(&self) -> String {
        if self.tuned == 0 { "not measured".to_owned() } else { self.chosen.to_string() }
    }

    fn cell(&self, kind: Kind) -> String {
        let found: Vec<&(f64, String)> =
            [true, false].iter().filter_map(|&held| self.largest.get(&(kind, held))).collect();
        if found.is_empty() {
            return "not measured".to_owned();
        }
        let said = |(apart, name): &(f64, String)| match *apart {
            apart if apart <= 0.0 => None,
            apart if apart.is_infinite() => Some(format!("{name}: not there in both")),
            apart => Some(format!("{name} {apart:.2e}")),
        };
        let said: Vec<String> = found.into_iter().filter_map(said).collect();
        if said.is_empty() { "none".to_owned() } else { said.join("; ") }
    }
}

fn records(place: &Place, directory: &str) -> BTreeMap<String, Record> {
    let named = |path: &std::path::PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        stem.len() == 64 && path.extension().is_some_and(|end| end == "json")
    };
    files(&place.path(directory))
        .into_iter()
        .filter(named)
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let record = Record::parse(&text, &path).unwrap();
            (record.key.digest(), record)
        })
        .collect()
}

fn compare(place: &Place, level: &str, reference: &str) -> BTreeMap<String, Differences> {
    let (ours, theirs) = (records(place, level), records(place, reference));
    assert!(ours.keys().eq(theirs.keys()), "{level}: other trials than {reference}");
    let mut methods: BTreeMap<String, Differences> = BTreeMap::new();
    for (digest, record) in &ours {
        methods.entry(record.key.method.clone()).or_default().add(record, &theirs[digest]);
    }
    methods
}

/// Processes side by side, 1, 2 and 7, and the trials side by side in each, 1 to 4.
const SHARES: [(usize, usize); 3] = [(1, 1), (2, 3), (7, 2)];

/// Runs into a directory, one selection after the other, each by so many processes at once.
fn run(place: &Place, what: &[&str], directory: &str, shares: (usize, usize), level: Level<'_>) {
    for what in what {
        run_one(place, what, directory, shares, level);
    }
}

/// Variables that keep our loops and OpenBLAS from the best vector instructions; none for the best level.
#[derive(Clone, Copy)]
struct Level<'a>(&'a [(&'a str, &'a str)]);

impl Level<'_> {
    fn command(self, place: &Place, line: &str) -> Command {
        let mut command = place.command(line);
        command.envs(self.0.iter().copied());
        command
    }

    /// The processor whose kernels OpenBLAS takes, as it says when it is loaded.
    fn blas(self, place: &Place) -> String {
        let output =
            self.command(place, "--version").env("OPENBLAS_VERBOSE", "2").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let core = said.lines().find_map(|line| line.strip_prefix("Core: "));
        core.unwrap_or_else(|| panic!("OpenBLAS names no processor: {said}")).trim().to_owned()
    }
}

fn run_one(
    place: &Place,
    what: &str,
    directory: &str,
    (shards, jobs): (usize, usize),
    level: Level<'_>,
) {
    let children: Vec<_> = (1..=shards)
        .map(|shard| {
            let line = format!(
                "reproduce {what} --results {directory} --quiet --jobs {jobs} --shard {shard}/{shards} \
                 --out {directory}-report-{shard}"
            );
            let mut command = level.command(place, &line);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let ended = Ended::of(&child.wait_with_output().unwrap());
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    }
}

/// Runs the same trials by every share of `shares` and asserts that nothing differs; a line of what was compared.
fn shared_out(place: &Place, what: &[&str], shares: &[(usize, usize)]) -> String {
    let mut said = Vec::new();
    let mut reference = None;
    for &(shards, jobs) in shares {
        let directory = format!("by-{shards}-{jobs}");
        run(place, what, &directory, (shards, jobs), BEST);
        let found = place.records(&directory);
        let reference = reference.get_or_insert_with(|| found.clone());
        assert!(!found.is_empty());
        assert_eq!(&found, reference, "{shards} shards, {jobs} jobs");
        said.push(format!("{shards} x {jobs}"));
    }
    let count = reference.map_or(0, |records| records.len());
    format!(
        "## Jobs and shards\n\nThe {count} records are bit-identical, however many processes and jobs share the work. \
         Tried: {} (processes x jobs of each).\n",
        said.join(", ")
    )
}

const BEST: Level<'_> = Level(&[]);

fn measure(what: &[&str], shares: &[(usize, usize)]) -> String {
    let place = Place::new();
    // The same level again and again must agree in every bit.
    let shared = shared_out(&place, what, shares);
    let best = format!("by-{}-{}", shares[0].0, shares[0].1);
    let host = records(&place, &best).into_values().next().unwrap().run.host;
    let (processor, level) = host.rsplit_once(", ").unwrap_or((&host, "unknown"));
    let mut cores = vec![BEST.blas(&place)];
    let mut text = format!(
        "# Determinism\n\nOn one processor, results are bit-identical for any number of jobs and processes. With lower \
         vector instructions some methods differ; the tables below say by how much.\n\n\
         Written by `just determinism` at revision {}, on {processor} with {level}. Trials: {}.\n\n{shared}\n## Levels\n\n\
         The same trials at lower levels, beside the best. `MERCER_DISPATCH` lowers our own loops, `OPENBLAS_CORETYPE` \
         lowers OpenBLAS (at best {}). Matrix products of the pure-Rust engine cannot be lowered, so another processor may \
         differ in more than shown here.\n\n\
         Each column names the number that differs most, and the one without a promise in CONTRIBUTING.md where that is another. \
         Accuracies, classes and wrong rows are shares; all else is relative to its largest size. \"None\": compared and equal.\n",
        env!("MERCER_CODE"),
        what.iter().map(|what| format!("`{what}`")).collect::<Vec<_>>().join(" and "),
        cores[0]
    );
    let avx2 = [("MERCER_DISPATCH", "avx2"), ("OPENBLAS_CORETYPE", "Haswell")];
    let baseline = [("MERCER_DISPATCH", "baseline"), ("OPENBLAS_CORETYPE", "Nehalem")];
    let best_level = level.to_lowercase();
    for (level, how) in [("avx2", Level(&avx2)), ("baseline", Level(&baseline))] {
        // On a processor without AVX-512 that was the first run.
        if level == best_level {
            continue;
        }
        run(&place, what, level, (1, 2), how);
        let core = how.blas(&place);
        // Two levels by the same kernels would agree whatever they do.
        assert!(!cores.contains(&core), "{level}: OpenBLAS as {core} again");
        let _ = writeln!(
            text,
            "\n### {level} against the best level\n\nOpenBLAS as {core}.\n\n| method | trials | with any other bit | with another choice of the \
             tuner | metrics | facts | curves | predictions |\n|:--|--:|--:|--:|:--|:--|:--|:--|"
        );
        let mut all = Differences::default();
        cores.push(core);
        for (method, found) in compare(&place, level, &best) {
            // Nothing is promised of a fit by gradients with other vector instructions.
            if !by_gradients(&method) {
                assert!(found.broken.is_empty(), "{level}: promised otherwise: {:?}", found.broken);
                assert_eq!(found.chosen, 0, "{level}: the tuner of {method} chose something else");
            }
            let chosen = found.chosen();
            let Differences { trials, differing, .. } = found;
            let cells = KINDS.map(|kind| found.cell(kind)).join(" | ");
            let _ = writeln!(text, "| {method} | {trials} | {differing} | {chosen} | {cells} |");
            all.trials += trials;
            all.differing += differing;
            all.tuned += found.tuned;
            all.chosen += found.chosen;
        }
        let chosen = all.chosen();
        let Differences { trials, differing, .. } = all;
        let _ =
            writeln!(text, "| **all** | **{trials}** | **{differing}** | **{chosen}** | | | | |");
    }
    text
}

/// Methods that are trained step by step in single precision.
fn by_gradients(method: &str) -> bool {
    let sgd = ["sk", "nsk", "skl", "nskl", "askl", "rf-sgd", "rftk", "gmce-sgd", "softmax-mlp"];
    sgd.contains(&method) || method.starts_with("cen-")
}

/// The page that is committed is of a run that kept the promises.
#[test]
fn the_committed_page_keeps_what_is_promised() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/determinism.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut bounded = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| method")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, method, _, _, chosen, numbers @ .., _] = &cells[..] else { panic!("{row}") };
        if by_gradients(method) || *method == "**all**" {
            continue;
        }
        assert!(matches!(*chosen, "0" | "not measured"), "{row}");
        let all = KINDS.into_iter().zip(numbers);
        for (kind, cell) in
            all.flat_map(|(kind, cell)| cell.split("; ").map(move |one| (kind, one)))
        {
            let Some((name, apart)) = cell.rsplit_once(' ') else { continue };
            let Ok(apart) = apart.parse::<f64>() else { continue };
            if let Some(most) = promised(kind, name) {
                assert!(apart <= most, "{method}: {cell}");
                bounded += 1;
            }
        }
    }
    assert!(bounded > 20, "{bounded} numbers of a kind with a promise");
}

/// Numbers outside the metrics: a path keeps everything in its curve, and was called equal unseen.
#[test]
fn what_differs_is_seen_wherever_it_stands() {
    let place = Place::new();
    place.reproduce("--method sk --dataset abalone --variant corrected --results r").with_code(0);
    let record = records(&place, "r").into_values().find(|r| !r.result.metrics.is_empty()).unwrap();
    let compared = |change: &dyn Fn(&mut Record)| {
        let mut other = record.clone();
        change(&mut other);
        let other = Record::new(other.key, other.result, other.run);
        let mut found = Differences::default();
        found.add(&other, &record);
        (found.differing, found.chosen, KINDS.map(|kind| found.cell(kind)))
    };
    let point = |value: f64| mercer_records::CurvePoint {
        step: 1,
        epoch: 1.0,
        values: BTreeMap::from([("spread".to_owned(), value)]),
    };
    let (differing, chosen, cells) = compared(&|_| {});
    assert_eq!((differing, chosen, cells[0].as_str()), (0, 0, "none"));
    assert_eq!(promised(Kind::Curve, "machine iterations"), None);
    let (differing, _, cells) = compared(&|r| r.result.curve = vec![point(1.0)]);
    assert_eq!((differing, cells[2].as_str()), (1, "spread: not there in both"));
    let (_, _, cells) = compared(&|r| {
        r.result.facts.insert("made up".to_owned(), 1.0);
    });
    assert_eq!(cells[1], "made up: not there in both");
    let (_, _, cells) = compared(&|r| r.result.predicted = Some(Predicted::Real(vec![1.0])));
    assert!(cells[3].contains("not there in both"), "{cells:?}");
    let (_, _, cells) =
        compared(&|r| r.result.metrics.values_mut().for_each(|value| *value *= 1.5));
    assert!(cells[0].ends_with("5.00e-1"), "{cells:?}");
    let nothing = Differences::default();
    assert!(KINDS.iter().all(|&kind| nothing.cell(kind) == "not measured"));
}

#[test]
fn one_level_gives_one_result() {
    // Two methods whose loops are vectorised, and one without.
    let what = "askl/table2 --profile smoke --method sk --method kernel-ridge --method majority";
    measure(&[what], &[(1, 2), (1, 1)]);
}

/// `smoke` does not tune. There is no archive of tunings in these places: the tuner runs.
const TUNED: &str =
    "rftk/table1 mce/table1 --profile paper --variant tuned --dataset wine --repeats 1";
const TUNED_ASKL: &str =
    "askl/table2 --profile paper --variant tuned --dataset segment --repeats 1";

#[test]
fn slow_levels_are_compared_over_all_papers() {
    let text = measure(&["--profile smoke", TUNED, TUNED_ASKL], &SHARES);
    if let Some(path) = std::env::var_os("MERCER_DETERMINISM") {
        assert!(!text.contains("**not measured**"), "no tuner chose");
        std::fs::write(path, text).unwrap();
    }
}
