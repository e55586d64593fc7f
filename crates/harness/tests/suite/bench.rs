//! A runner over iris, which is built in, or over a folder of the test.

use crate::doubles::METHODS;
use mercer_datasets::Library;
use mercer_harness::{Options, Runner, Selection, Silent, Spec, Stop, Summary, Trial, plan, run};
use mercer_records::{Record, Store, sha256_hex};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Four repeats of three methods, given and tuned. There are 24 trials, and tunings of the two methods that have
/// something to tune.
pub const STUDY: &str = r#"
artefact = "test/study"
question = "Do the doubles keep the promises of the harness?"
seed = 11
repeats = 4
datasets = ["iris"]

[protocol]
split = { kind = "random", train = 0.8 }
scale = { to = "standard", from = "training" }

[[variants]]
name = "given"
summary = "as given"
methods = [{ name = "drifting-mean" }, { name = "closed-mean" }, { name = "plain-mean" }]

[[variants]]
name = "tuned"
summary = "tuned inside the training part"
tuner = { candidates = 9, rungs = [0.1111111111111111, 0.3333333333333333, 1.0], train = 0.8 }
methods = [{ name = "drifting-mean" }, { name = "closed-mean" }, { name = "plain-mean" }]
"#;

/// Returns one method with some settings, and more at the level of the spec.
pub fn one_method(settings: &str, top: &str) -> String {
    format!(
        "artefact = \"test/one\"\nquestion = \"?\"\nseed = 5\nrepeats = 4\ndatasets = [\"iris\"]\n{top}\n\
         [[variants]]\nname = \"only\"\nsummary = \"only\"\n\
         methods = [{{ name = \"drifting-mean\", settings = {{ {settings} }} }}]\n"
    )
}

/// Plans the trials of a spec under the profile `paper`.
pub fn planned(spec: &str, selection: &Selection) -> Vec<Trial> {
    let spec = Spec::parse(spec, Path::new("test.toml")).unwrap();
    plan(&spec, METHODS, "paper", selection, &|_| None).unwrap()
}

/// Returns all trials of a spec.
pub fn all(spec: &str) -> Vec<Trial> {
    planned(spec, &Selection::default())
}

/// Returns a runner over iris.
pub fn runner(folder: &Path) -> Runner<'static> {
    stoppable(folder, Stop::default())
}

/// Returns a runner over iris that `stop` stops.
pub fn stoppable(folder: &Path, stop: Stop) -> Runner<'static> {
    let library = Library::of_folders([]).unwrap();
    Runner::new(METHODS, library, Store::open(folder).unwrap(), stop)
}

/// Runs trials one at a time.
pub fn carry_out(trials: &[Trial], runner: &Runner<'_>) -> Summary {
    run(trials, runner, &one_job(), &Silent).unwrap()
}

/// Returns the options for one job, one shard, failures kept.
pub fn one_job() -> Options {
    Options { jobs: 1, ..Options::default() }
}

/// Returns name and check sum of every record below a folder; nothing may be damaged.
pub fn results(folder: &Path) -> BTreeMap<String, String> {
    let listing = Store::open(folder).unwrap().list().unwrap();
    assert!(listing.set_aside.is_empty(), "{:?}", listing.set_aside);
    let named = |record: Record| (record.key.digest(), record.result_sha256);
    listing.records.into_iter().map(named).collect()
}

/// One part of a stand-in: its manifest role, and its rows as label and inputs.
pub type Part<'a> = (&'a str, Vec<(String, Vec<f64>)>);

/// Writes a data folder with one dataset, as svmlight. It has the name of a catalogue entry.
pub fn stand_in(folder: &Path, name: &str, parts: &[Part<'_>]) -> Library {
    let mut files = String::new();
    let mut features = 0;
    for (role, rows) in parts {
        let mut text = String::new();
        for (label, inputs) in rows {
            features = inputs.len();
            text.push_str(label);
            for (column, value) in inputs.iter().enumerate() {
                write!(text, " {}:{value:?}", column + 1).unwrap();
            }
            text.push('\n');
        }
        let file = format!("{name}.{role}.svm");
        std::fs::write(folder.join(&file), &text).unwrap();
        writeln!(
            files,
            "  {{ path = \"{file}\", sha256 = \"{}\", rows = {}, role = \"{role}\", bytes = {} }},",
            sha256_hex(text.as_bytes()),
            rows.len(),
            text.len()
        )
        .unwrap();
    }
    let manifest = format!(
        "schema = 1\n[[dataset]]\nname = \"{name}\"\ntask = \"classification\"\n\
         features = {features}\nfiles = [\n{files}]\n"
    );
    std::fs::write(folder.join("MANIFEST.toml"), manifest).unwrap();
    Library::of_folders([folder.to_owned()]).unwrap().accept_version(true)
}
