//! `mercer results` and `mercer report`: records are compared, moved, folded, and shown again.

use crate::place::{Place, files};
use std::path::Path;

const FEW: &str = "--method sk --method askl --method majority --method mean";

#[test]
fn diff_finds_what_differs_and_nothing_else() {
    let place = Place::new();
    place.reproduce(&format!("{FEW} --results a")).with_code(0);
    place.reproduce(&format!("{FEW} --results b")).with_code(0);
    let same = place.run("results diff a b").with_code(0);
    assert!(same.stdout.is_empty() && same.stderr.contains("0 differences"), "{same:?}");
    let gone = files(&place.path("b/askl")).swap_remove(0);
    std::fs::remove_file(&gone).unwrap();
    let one = place.run("results diff a b").with_code(3);
    assert_eq!(one.stdout.lines().count(), 1);
    assert!(one.stdout.starts_with("only in a: askl/table2"), "{one:?}");
    let nowhere = place.run("results diff a nowhere").with_code(1);
    assert!(nowhere.stderr.contains("no record directory at nowhere; name one"), "{nowhere:?}");
    assert!(!place.path("nowhere").exists());
}

#[test]
fn merge_copies_what_is_missing() {
    let place = Place::new();
    place.reproduce(&format!("{FEW} --shard 1/2 --results one")).with_code(0);
    place.reproduce(&format!("{FEW} --shard 2/2 --results two")).with_code(0);
    place.reproduce(&format!("{FEW} --results whole")).with_code(0);
    let (one, two) = (place.records("one").len(), place.records("two").len());
    assert!(one > 0 && two > 0);
    let merged = place.run("results merge one two --results both").with_code(0);
    assert!(merged.stdout.starts_with(&format!("{} records copied, 0 were there", one + two)));
    assert_eq!(place.records("both"), place.records("whole"));
    place.run("results diff both whole").with_code(0);
    let again = place.run("results merge one --results both").with_code(0);
    assert!(again.stdout.starts_with(&format!("0 records copied, {one} were there")), "{again:?}");
}

#[test]
fn compacted_records_render_the_same_report() {
    let place = Place::new();
    place.reproduce("").with_code(0);
    let there = "--profile smoke --data data --accept-version";
    place.run(&format!("report askl mce {there} --out from-records")).with_code(0);
    let compact = place.run("results compact").with_code(0);
    assert!(compact.stdout.contains("reports/records/askl-table2.parquet"), "{compact:?}");
    std::fs::rename(place.path("results"), place.path("moved-away")).unwrap();
    // What was folded can be taken apart again.
    place.run("results diff moved-away reports/records").with_code(0);
    let count = place.records("moved-away").len();
    let merged = place.run("results merge reports/records --results again").with_code(0);
    assert!(merged.stdout.starts_with(&format!("{count} records copied")), "{merged:?}");
    assert_eq!(place.records("again"), place.records("moved-away"));
    // Whole, though their predictions stayed behind: nothing is set aside, nothing is missing.
    place.run("results diff moved-away again").with_code(0);
    assert_eq!(place.records("again").len(), count);
    place.reproduce("--results again").with_code(0);
    assert_eq!(place.records("again"), place.records("moved-away"));
    let damaged = files(&place.path("again"));
    assert!(damaged.iter().all(|path| path.extension().is_none_or(|end| end != "damaged")));
    place.run(&format!("report askl mce {there} --out from-archive")).with_code(0);
    assert!(!place.path("results").exists(), "a report creates no record directory");
    let cells = |folder: &str| {
        std::fs::read_to_string(place.path(&format!("{folder}/cells.json"))).unwrap()
    };
    assert_eq!(cells("from-records"), cells("from-archive"));
    assert!(cells("from-archive").contains("\"repeats\": 2"));
    let names = |folder: &str| -> Vec<_> {
        let root = place.path(folder);
        files(&root).iter().map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect()
    };
    assert_eq!(names("from-records"), names("from-archive"));
    for name in names("from-records") {
        let read = |folder: &str| std::fs::read(place.path(folder).join(&name)).unwrap();
        assert_eq!(read("from-records"), read("from-archive"), "{}", name.display());
    }
    // Folding again what is folded adds nothing; folding new records keeps the old ones.
    std::fs::rename(place.path("moved-away"), place.path("results")).unwrap();
    let again = place.run("results compact").with_code(0);
    assert_eq!(again.stdout, compact.stdout);
}

/// The revision and every setting stand in the key: what an older revision left, or a study that gave
/// another value, would double its cells in an export, and no run and no table finds it.
#[test]
fn trials_that_nothing_asks_for_are_counted_and_dropped_on_request() {
    use mercer_records::{Record, Store};
    let place = Place::new();
    place.reproduce(FEW).with_code(0);
    let store = Store::open(place.path("results")).unwrap();
    let now = store.list().unwrap().records;
    let is_mean = |record: &&Record| record.key.method == "mean";
    let old = now.iter().filter(is_mean).map(|record| {
        let mut key = record.key.clone();
        key.revision -= 1;
        Record::new(key, record.result.clone(), record.run.clone())
    });
    let old: Vec<Record> = old.collect();
    for record in &old {
        store.put(record).unwrap();
    }
    let old = old.len();
    // Of a setting that no study gives.
    let mut key = now[0].key.clone();
    key.settings.insert("cap".to_owned(), 17.into());
    store.put(&Record::new(key, now[0].result.clone(), now[0].run.clone())).unwrap();
    let old = old + 1;
    // Of a study that is not known here nothing can be said.
    let mut key = now[0].key.clone();
    key.artefact = "one's own".to_owned();
    store.put(&Record::new(key, now[0].result.clone(), now[0].run.clone())).unwrap();
    let all = now.len() + old + 1;

    let lines = |line: &str| place.run(line).with_code(0).stdout.lines().count();
    assert_eq!(lines("results export --json"), all);
    assert_eq!(lines("results export --json --current"), all - old);
    let kept = place.run("results compact").with_code(0);
    let (study, own) = (all - 1, 1);
    assert!(kept.stdout.contains(&format!("{study} records, ")), "{kept:?}");
    assert!(kept.stdout.contains(&format!("{own} records, ")), "{kept:?}");
    let note = format!(", {old} that nothing asks for among them (--current drops them)");
    assert!(kept.stdout.contains(&note), "{kept:?}");
    assert_eq!(lines("results export --json --results reports/records"), all);
    // Also of those that lie in the Parquet file already.
    let dropped = place.run("results compact --current").with_code(0);
    assert!(
        dropped.stdout.contains(&format!(", {old} that nothing asks for dropped")),
        "{dropped:?}"
    );
    assert_eq!(lines("results export --json --results reports/records"), all - old);
    assert_eq!(lines("results export --json"), all, "the directory is left alone");
}

#[test]
fn archived_tunings_are_not_made_again() {
    let place = Place::new();
    let line = "reproduce askl/table2 --profile paper --repeats 2 --method kernel-ridge \
                --dataset segment --variant corrected --data data --accept-version";
    place.run(line).with_code(0);
    place.run("results compact").with_code(0);
    let reference = place.records("results");
    place.run(&format!("{line} --results fresh")).with_code(0);
    let fresh = place.records("fresh");
    // Two trials; their two tunings are in reports/records.
    assert_eq!((reference.len(), fresh.len()), (4, 2));
    assert!(fresh.iter().all(|(name, sum)| reference[name] == *sum));
}

#[test]
fn a_reference_run_is_extended_from_what_is_committed() {
    let place = Place::new();
    let run = |rest: &str| place.reproduce(&format!("--method sk --dataset segment {rest}"));
    run("--variant released").with_code(0);
    place.run("results compact").with_code(0);
    let committed = place.records("results").len();
    // The wider run makes only what the narrower one left open, and shows both.
    let wider = run("--extend --results more --json").with_code(0);
    assert!(wider.stderr.contains(&format!("{committed} trials are recorded")), "{wider:?}");
    let more = place.records("more");
    assert!(place.records("results").keys().all(|trial| !more.contains_key(trial)));
    let cells = wider.json();
    let shown = |variant: &str| {
        let cells = cells["cells"].as_array().unwrap();
        cells.iter().any(|cell| cell["variant"] == variant && cell["repeats"] != 0)
    };
    assert!(shown("released") && shown("printed"), "{cells}");
    // Without the word, everything is run here.
    run("--variant released --results anew").with_code(0);
    assert_eq!(place.records("anew").len(), committed);
}

#[test]
fn a_record_says_which_source_made_it() {
    let place = Place::new();
    place.reproduce(FEW).with_code(0);
    let json = place.run("results export --json").with_code(0).stdout;
    for line in json.lines() {
        let record: mercer_records::Record = serde_json::from_str(line).unwrap();
        assert!(!record.run.code.is_empty());
    }
}

#[test]
fn a_damaged_record_is_named_and_its_trial_runs_again() {
    let place = Place::new();
    place.reproduce(FEW).with_code(0);
    let reference = place.records("results");
    let folder = place.path("results/askl/table2");
    let victim =
        files(&folder).into_iter().find(|path| path.extension().is_some_and(|e| e == "json"));
    let victim = victim.unwrap();
    std::fs::write(&victim, "{").unwrap();
    let again = place.reproduce(FEW).with_code(0);
    assert!(again.stderr.contains("damaged record set aside"), "{again:?}");
    assert!(again.stderr.contains(victim.file_stem().unwrap().to_str().unwrap()), "{again:?}");
    assert_eq!(place.records("results"), reference);
}

#[test]
fn export_has_a_line_a_record() {
    let place = Place::new();
    place.reproduce(FEW).with_code(0);
    let records = place.records("results").len();
    let csv = place.run("results export").with_code(0).stdout;
    assert_eq!(csv.lines().count(), records + 1);
    assert!(csv.lines().next().unwrap().contains("dataset"));
    let json = place.run("results export --json").with_code(0).stdout;
    assert_eq!(json.lines().count(), records);
    for line in json.lines() {
        let record: mercer_records::Record = serde_json::from_str(line).unwrap();
        assert_eq!(record.result.digest(), record.result_sha256);
    }
}

#[test]
fn status_counts_what_is_done() {
    let place = Place::new();
    let status = |rest: &str| {
        let line = format!(
            "status askl/table2 --profile smoke --data data --accept-version --json {rest}"
        );
        place.run(&line).with_code(0).json()[0].clone()
    };
    let before = status("");
    assert_eq!(before["done"], 0);
    assert_eq!(before["trials"], before["to_run"]);
    place.reproduce("--method majority").with_code(0);
    let after = status("");
    assert_eq!((after["done"].as_u64(), &after["trials"]), (Some(2), &before["trials"]));
    assert_eq!(status("--method majority")["to_run"], 0);
    assert_eq!(after["to_extend"], after["to_run"]);
    let text = place.run("status askl --profile smoke").with_code(0).stdout;
    assert!(text.starts_with("artefact") && text.contains("askl/figure3"), "{text}");
}

/// A few trials of the profile that is committed.
const PAPER: &str = "askl/table2 --data data --accept-version --variant printed --method sk --dataset segment \
    --repeats 3";

const CELL: &str = "askl/table2:printed:sk:segment --data data --accept-version";

#[test]
fn committed_records_are_shown_at_once_and_run_again_within_a_budget() {
    let place = Place::new();
    // Nothing is committed yet: everything is built from what is run here, and says so.
    let fresh = place.run(&format!("reproduce {PAPER}")).with_code(0);
    assert!(fresh.stderr.contains("0 of 3 trials are on record in reports"), "{fresh:?}");
    place.run("results compact").with_code(0);
    std::fs::remove_dir_all(place.path("results")).unwrap();

    let shown = place.run(&format!("reproduce {PAPER} --minutes 0")).with_code(0);
    assert!(shown.stderr.contains("all of 3 trials on record"), "{shown:?}");
    assert_eq!(place.records("results").len(), 0);
    let page = |name: &str| std::fs::read_to_string(place.path("results/part").join(name)).unwrap();
    assert!(page("index.html").contains("Run again here: 0 of 3 trials"));
    // A part of the report is a site too.
    assert_eq!(crate::site::broken(&place.path("results/part")), [""; 0]);

    let again = place.run(&format!("reproduce {PAPER} --minutes 1")).with_code(0);
    assert!(
        again.stderr.contains("askl: 3 of 3 recorded trials run again here: 3 bit-identical"),
        "{again:?}"
    );
    assert_eq!(place.records("results").len(), 3);
    assert!(
        page("verified.md").contains("| **all** | 3 | 3 | 3 | 0 | 0 |"),
        "{}",
        page("verified.md")
    );
    assert!(page("askl/table2.csv").contains("run again: 3 same"), "{}", page("askl/table2.csv"));
    // It goes on from there: nothing is left to run.
    let more = place.run(&format!("reproduce {PAPER} --minutes 1")).with_code(0);
    assert!(more.stderr.contains("0 trials to run"), "{more:?}");
}

#[test]
fn a_damaged_data_file_is_named_before_anything_runs_again_and_on_the_page() {
    let place = Place::new();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::create_dir_all(place.path("cut/ecoli")).unwrap();
    std::fs::copy(repository.join("data/MANIFEST.toml"), place.path("cut/MANIFEST.toml")).unwrap();
    for file in files(&repository.join("data/ecoli")) {
        let cut = &std::fs::read(&file).unwrap()[1..];
        std::fs::write(place.path("cut/ecoli").join(file.file_name().unwrap()), cut).unwrap();
    }
    let ended = place
        .run(&format!(
            "reproduce mce/table1 --variant printed --method gmce --dataset ecoli --dataset wine --minutes 1 \
             --data cut --reports {}",
            repository.join("reports").display()
        ))
        .with_code(4);
    let (before, after) = ended.stderr.split_once("trials to run").unwrap();
    for part in [before, after] {
        assert!(part.contains("not run again, no data for ecoli: "), "{ended:?}");
        assert!(part.contains("is damaged: its SHA-256 is "), "{ended:?}");
    }
    assert!(after.contains("mce: "), "wine is run again: {ended:?}");
    let page = std::fs::read_to_string(place.path("results/part/index.html")).unwrap();
    assert!(page.contains("Not run again, no data for ecoli: "));
}

#[test]
fn a_result_that_differs_from_its_record_is_an_error_that_names_it() {
    let place = Place::new();
    place.run(&format!("reproduce {PAPER} --fresh --all")).with_code(0);
    // Somebody commits a better score than the program gives.
    let parse = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let record = mercer_records::Record::parse(&text, &path).unwrap();
        (path, record)
    };
    // Those without a score are of the tuner.
    let mut records = files(&place.path("results/askl")).into_iter().map(parse);
    let (path, record) = records.find(|(_, record)| !record.result.metrics.is_empty()).unwrap();
    let mut result = record.result.clone();
    result.metrics.values_mut().for_each(|value| *value += 0.2);
    let better = mercer_records::Record::new(record.key, result, record.run);
    std::fs::write(&path, serde_json::to_string(&better).unwrap()).unwrap();
    place.run("results compact").with_code(0);
    std::fs::remove_dir_all(place.path("results")).unwrap();
    let ended = place.run(&format!("reproduce {PAPER} --all")).with_code(3);
    assert!(ended.stderr.contains("2 bit-identical, 0 same to rounding, 1 different"), "{ended:?}");
    let told = "show askl/table2:printed:sk:segment` has both";
    assert!(ended.stderr.contains("different: askl/table2 printed segment sk repeat"), "{ended:?}");
    assert!(ended.stderr.contains(told), "{ended:?}");
    let shown = place.run(&format!("show {CELL}")).with_code(0);
    assert!(
        shown.stdout.contains("different (") && shown.stdout.contains("on record"),
        "{shown:?}"
    );
    let why = place.run(&format!("why {CELL}")).with_code(0);
    assert!(why.stdout.contains("trials are on record"), "{why:?}");
}

#[test]
fn a_budget_that_suffices_for_nothing_says_what_is_left() {
    let place = Place::new();
    let ended = place.run(&format!("reproduce {PAPER} --fresh --minutes 0")).with_code(0);
    assert!(ended.stderr.contains("3 of 3 trials did not fit into 0 s"), "{ended:?}");
    // Without records and without time there is nothing to show.
    let empty = Place::new().run(&format!("reproduce {PAPER} --minutes 0")).with_code(1);
    assert!(empty.stderr.contains("no records in reports"), "{empty:?}");
    let wrong = place.run(&format!("reproduce {PAPER} --minutes -1"));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

#[test]
fn a_table_is_shown_as_markdown_as_latex_and_as_cells() {
    let place = Place::new();
    let reports = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports");
    let show = |rest: &str| place.run(&format!("show {rest} --reports {reports}"));
    let text = show("askl/table2").with_code(0);
    assert!(text.stdout.starts_with("**") && text.stdout.contains("| *segment (accuracy)* |"));
    let latex = show("askl/table2 --latex").with_code(0);
    assert!(latex.stdout.contains("\\begin{table}") && latex.stdout.contains("\\toprule"));
    let cells = show("askl/table2 --json").with_code(0).json();
    assert!(cells.as_array().is_some_and(|cells| cells.len() > 100));
    // A figure has none, and a cell is no table; both say what to type.
    let figure = show("askl/figure1").with_code(2);
    assert!(figure.stderr.contains("mercer reproduce askl/figure1 --minutes 0"), "{figure:?}");
    let cell = show(&format!("{CELL} --latex")).with_code(2);
    assert!(cell.stderr.contains("write askl/table2"), "{cell:?}");
}

#[test]
fn a_method_joins_the_leaderboard_and_only_its_trials_run() {
    let place = Place::new();
    let reports = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports");
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
    let line = format!("reproduce leaderboard --add majority --reports {reports} --data {data}");
    let ended = place.run(&line).with_code(0);
    let ran = place.records("results");
    let trials =
        ended.stdout.split("\n- ").find_map(|note| note.split_once(" datasets, 3 repeats."));
    let datasets: usize = trials.expect("a note of them").0.parse().unwrap();
    assert_eq!(ran.len(), 3 * datasets, "{ran:?}");
    assert!(ended.stdout.contains("| joined |"), "{ended:?}");
    assert!(ended.stdout.contains("| Gaussian SVM | fixed |"), "{ended:?}");
    for (wrong, told) in [
        ("leaderboard --add mean", "`mean` predicts numbers"),
        ("leaderboard --add kta", "`kta` is on the leaderboard"),
        ("leaderboard --add majority --variant programs", "leave --variant out"),
        ("leaderboard --add majorty", "did you mean `majority`"),
        ("askl/table2 --add majority", "mercer reproduce leaderboard --add majority"),
    ] {
        let refused = place.run(&format!("reproduce {wrong} --reports {reports}")).with_code(2);
        assert!(refused.stderr.contains(told), "{wrong}: {refused:?}");
    }
}
