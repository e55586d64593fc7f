//! Programs of Python's standard library alone. They do what they should, and all that they should not.

use mercer_learning::conformance::Conformance;
use mercer_learning::{
    Fitting, LearningError, Limits, Method, Predictions, Sample, Settings, Task, find,
};
use mercer_outside::methods_of;
use ndarray::{Array1, Array2, array};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Nearest mean for classes, the nearest row for values; tables are CSV.
const NEAREST: &str = r#"
import csv, json, pathlib, pickle, sys

def distance(row, other):
    return sum((a - b) ** 2 for a, b in zip(row, other))

def answer(folder):
    request = json.loads((folder / "request.json").read_text())
    with open(folder / request["data"], newline="") as file:
        rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
    if request["action"] == "fit":
        (folder / "model").write_bytes(pickle.dumps(rows))
        (folder / "facts.json").write_text(json.dumps({"rows": len(rows)}))
        return
    shift = request["settings"].get("shift", 0)
    known = pickle.loads((folder / "model").read_bytes())
    if request["classes"]:
        groups = {}
        for row in known:
            groups.setdefault(int(row[-1]), []).append(row[:-1])
        means = {c: [sum(v) / len(v) for v in zip(*own)] for c, own in groups.items()}
        head, answers = "class", [min(means, key=lambda c: distance(row, means[c])) for row in rows]
    else:
        head, answers = "value", [min(known, key=lambda own: distance(row, own))[-1] + shift for row in rows]
    (folder / request["predictions"]).write_text("\n".join([head, *map(repr, answers)]) + "\n")

if len(sys.argv) > 1:
    answer(pathlib.Path(sys.argv[1]))
else:
    for line in sys.stdin:
        answer(pathlib.Path(json.loads(line)["folder"]))
        print("{}", flush=True)
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The method of a program; `more` stands beside its command.
    fn method(&self, program: &str, more: &str) -> Method {
        std::fs::write(self.0.path().join("program.py"), program).unwrap();
        let file = self.0.path().join("methods.toml");
        let text = format!(
            "[method.own]\ncommand = [\"python3\", \"program.py\"]\ntasks = [\"classification\", \"regression\"]\ndata = \"csv\"\n{more}\n"
        );
        std::fs::write(&file, text).unwrap();
        methods_of(&file).unwrap()[0]
    }
}

/// Needs R (`./setup --checks`).
#[test]
fn slow_a_script_of_base_r_keeps_the_laws_of_every_method() {
    let place = Place::new();
    let script = include_str!("nearest.R");
    std::fs::write(place.0.path().join("nearest.R"), script).unwrap();
    let file = place.0.path().join("methods.toml");
    let text = "[method.own]\ncommand = [\"Rscript\", \"nearest.R\"]\ntasks = [\"classification\"]\ndata = \"csv\"\n";
    std::fs::write(&file, text).unwrap();
    let method = methods_of(&file).unwrap()[0];
    let fitted = method.learner(&Settings::new(), classes().task()).unwrap();
    let fitted = fitted.fit(&classes(), &mut Fitting::seeded(1)).unwrap();
    // The means are 4.5 and 14.5.
    let predicted = fitted.predictor.predict(array![[9.4], [9.6]].view()).unwrap();
    assert_eq!(predicted, Predictions::Classes(vec![0, 1]));
    Conformance::of(&method).check().unwrap();
}

fn line() -> Sample {
    let inputs = Array2::from_shape_fn((20, 1), |(row, _)| row as f64);
    Sample::regression(inputs, Array1::from_iter((0..20).map(|row| f64::from(row) / 3.0))).unwrap()
}

fn classes() -> Sample {
    let inputs = Array2::from_shape_fn((20, 1), |(row, _)| row as f64);
    let labels = (0..20).map(|row| u32::from(row >= 10)).collect();
    Sample::classification(inputs, labels, 2).unwrap()
}

/// The message to a program that predicts so.
fn refused(program: &str, more: &str, sample: &Sample) -> String {
    let place = Place::new();
    let method = place.method(program, more);
    let learner = method.learner(&Settings::new(), sample.task()).unwrap();
    let said = match learner.fit(sample, &mut Fitting::seeded(1)) {
        Err(error) => error,
        Ok(fitted) => fitted.predictor.predict(array![[1.0], [2.0]].view()).unwrap_err(),
    };
    said.to_string()
}

/// A program that fits nothing and answers so.
fn answering(answer: &str) -> String {
    format!(
        "import json, pathlib, sys\nfolder = pathlib.Path(sys.argv[1])\nrequest = json.loads((folder / 'request.json').read_text())\nif request['action'] == 'predict':\n    (folder / request['predictions']).write_text({answer:?})\n"
    )
}

#[test]
fn a_program_keeps_the_laws_of_every_method() {
    let more =
        "mode = \"worker\"\nsettings.shift = { default = 0.0, meaning = \"Is added to values.\" }";
    let place = Place::new();
    let method = place.method(NEAREST, more);
    // Of classes it does not read the setting, which the law about settings in use asks of every task.
    let regression = Method { tasks: mercer_learning::Tasks::Regression, ..method };
    Conformance::of(&regression).check().unwrap();
    let place = Place::new();
    let method = place.method(NEAREST, "mode = \"worker\"");
    Conformance::of(&method).check().unwrap();
}

#[test]
fn settings_facts_and_classes_reach_the_program_and_come_back() {
    let more = "settings.shift = { default = 0, tune = { from = 1, to = 100, scale = \"log\", whole = true } }";
    let place = Place::new();
    let method = place.method(NEAREST, more);
    let learner = method.learner(&Settings::new().with("shift", 5), Task::Regression).unwrap();
    let fitted = learner.fit(&line(), &mut Fitting::seeded(1)).unwrap();
    assert!((fitted.facts["rows"] - 20.0).abs() < 1e-12);
    let said = fitted.predictor.predict(array![[3.2], [7.0]].view()).unwrap();
    // Every digit of a target arrives.
    assert_eq!(said, Predictions::Real(vec![6.0, 7.0 / 3.0 + 5.0]));
    let space = (method.space)(&line().shape());
    let mercer_learning::Range::Choice(values) = &space.axes[0].range else { panic!("{space:?}") };
    assert_eq!((&values[0], values.last().unwrap()), (&1.into(), &100.into()));
    let error = method.learner(&Settings::new().with("shft", 5), Task::Regression).err().unwrap();
    assert!(error.to_string().contains("unknown setting `shft`; there are shift"), "{error}");
}

#[test]
fn a_wrong_answer_is_one_failure_with_the_reason() {
    for (answer, says) in [
        ("value\n1\n", "has 1 rows where 2 were asked for"),
        ("value\n1\nNaN\n", "`value` of row 1 is NaN"),
        ("value\n1\nx\n", "`x` in column `value` is no number"),
        ("other\n1\n2\n", "has no column `value`; it has other"),
    ] {
        let said = refused(&answering(answer), "", &line());
        assert!(said.starts_with("the program failed: ") && said.contains(says), "{said}");
    }
    for (answer, says) in [
        ("class\n0\n2\n", "`class` of row 1 is 2; classes are 0 to 1"),
        ("score0\n1\n2\n", "has no column `score1`; there are 2 classes"),
    ] {
        let said = refused(&answering(answer), "", &classes());
        assert!(said.contains(says), "{said}");
    }
    assert!(refused("pass", "", &line()).contains("it left no predictions.csv"));
}

#[test]
fn a_crash_is_told_with_the_last_words_of_the_program() {
    let said = refused("raise ValueError('out of luck')", "", &line());
    assert!(said.contains("exit status: 1") && said.contains("out of luck"), "{said}");
    let said = refused("import os\nos.kill(os.getpid(), 9)", "", &line());
    assert!(said.contains("signal: 9"), "{said}");
}

#[test]
fn a_program_that_refuses_a_single_class_is_told_as_every_method() {
    let inputs = Array2::from_shape_fn((6, 1), |(row, _)| row as f64);
    let sample = Sample::classification(inputs, vec![1; 6], 2).unwrap();
    let place = Place::new();
    let method = place.method("raise ValueError('one class')", "");
    let learner = method.learner(&Settings::new(), sample.task()).unwrap();
    let error = learner.fit(&sample, &mut Fitting::seeded(1)).err();
    assert_eq!(error, Some(LearningError::OneClass { rows: 6 }));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let place = Place::new();
    let file = place.0.path().join("methods.toml");
    std::fs::write(
        &file,
        "[method.own]\ncommand = [\"no-such-program\"]\ntasks = [\"regression\"]",
    )
    .unwrap();
    let method = methods_of(&file).unwrap()[0];
    let learner = method.learner(&Settings::new(), Task::Regression).unwrap();
    let error = learner.fit(&line(), &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(error.contains("there is no program `no-such-program`; install it"), "{error}");
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let place = Place::new();
    let method = place.method(NEAREST, "");
    drop(place);
    let learner = method.learner(&Settings::new(), Task::Regression).unwrap();
    let error = learner.fit(&line(), &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(error.contains("the folder of its file is gone: "), "{error}");
}

#[test]
fn a_late_prediction_is_ended() {
    let program = "import json, pathlib, sys, time\nrequest = json.loads((pathlib.Path(sys.argv[1]) / 'request.json').read_text())\nif request['action'] == 'predict':\n    time.sleep(60)\n";
    let began = Instant::now();
    let said = refused(program, "seconds = 0.3", &line());
    assert!(said.contains("no prediction within 0.3 seconds"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Ends a fit at the third question.
struct Third(AtomicUsize);

impl Limits for Third {
    fn check(&self) -> Result<(), LearningError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0..2 => Ok(()),
            _ => Err(LearningError::Interrupted),
        }
    }
    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

#[test]
fn an_interrupt_ends_the_program_and_what_it_started() {
    for mode in ["once", "worker"] {
        let place = Place::new();
        let child = place.0.path().join("child");
        let program = format!(
            "import subprocess, time\nchild = subprocess.Popen(['sleep', '600'])\nopen({child:?}, 'w').write(str(child.pid))\ntime.sleep(600)\n"
        );
        let method = place.method(&program, &format!("mode = \"{mode}\""));
        let learner = method.learner(&Settings::new(), Task::Regression).unwrap();
        // The limits are asked 50 times a second: time enough to start a child.
        let limits = Slow(Instant::now());
        let mut fitting = Fitting { limits: &limits, ..Fitting::seeded(1) };
        let error = learner.fit(&line(), &mut fitting).err();
        assert_eq!(error, Some(LearningError::Interrupted), "{mode}");
        let process = std::fs::read_to_string(&child).unwrap();
        let ended = || {
            let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
            state.map_or(true, |state| state.contains(") Z "))
        };
        let began = Instant::now();
        while !ended() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(ended(), "{mode}: process {process} goes on");
    }
    let limits = Third(AtomicUsize::new(0));
    let mut fitting = Fitting { limits: &limits, ..Fitting::seeded(1) };
    let place = Place::new();
    let method = place.method("import time\ntime.sleep(600)", "");
    let learner = method.learner(&Settings::new(), Task::Regression).unwrap();
    assert_eq!(learner.fit(&line(), &mut fitting).err(), Some(LearningError::Interrupted));
}

/// Ends a fit after two seconds.
struct Slow(Instant);

impl Limits for Slow {
    fn check(&self) -> Result<(), LearningError> {
        if self.0.elapsed() < Duration::from_secs(2) {
            Ok(())
        } else {
            Err(LearningError::Interrupted)
        }
    }
    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

#[test]
fn a_worker_is_started_once_and_started_again_when_it_has_ended() {
    let place = Place::new();
    let starts = place.0.path().join("starts");
    let answer = |after: &str| {
        format!(
            "import json, pathlib, sys\nopen({starts:?}, 'a').write('x')\nfor line in sys.stdin:\n    folder = pathlib.Path(json.loads(line)['folder'])\n    request = json.loads((folder / 'request.json').read_text())\n    if request['action'] == 'predict':\n        (folder / request['predictions']).write_text('value\\n4\\n4\\n')\n    print(json.dumps({{'ok': True}}), flush=True)\n{after}"
        )
    };
    let times = || std::fs::read_to_string(&starts).unwrap().len();
    let fit = |method: &Method| {
        let learner = method.learner(&Settings::new(), Task::Regression).unwrap();
        let fitted = learner.fit(&line(), &mut Fitting::seeded(1))?;
        fitted.predictor.predict(array![[1.0], [2.0]].view())
    };
    let method = place.method(&answer(""), "mode = \"worker\"");
    for _ in 0..3 {
        assert_eq!(fit(&method), Ok(Predictions::Real(vec![4.0, 4.0])));
    }
    assert_eq!(times(), 1);
    // One that ends after each answer costs a failure a fit, and never the study.
    let method = place.method(&answer("    break\n"), "mode = \"worker\"");
    let error = fit(&method).unwrap_err().to_string();
    assert!(error.contains("it has ended"), "{error}");
    // One that talks.
    let chatty = place.method("print('hello', flush=True)\ninput()", "mode = \"worker\"");
    let error = fit(&chatty).unwrap_err().to_string();
    assert!(error.contains("what is no answer: `hello`; print to standard error"), "{error}");
    // One that says why.
    let honest =
        "import sys\nfor line in sys.stdin:\n    print('{\"error\": \"no luck\"}', flush=True)\n";
    let error = fit(&place.method(honest, "mode = \"worker\"")).unwrap_err().to_string();
    assert_eq!(error, "the program failed: no luck");
}

#[test]
fn another_program_is_another_revision() {
    let place = Place::new();
    let revision = |program: &str, more: &str| place.method(program, more).revision;
    let first = revision(NEAREST, "");
    assert_eq!(first, revision(NEAREST, ""));
    assert_ne!(first, revision(&NEAREST.replace("+ shift", "- shift"), ""));
    assert_ne!(first, revision(NEAREST, "seconds = 5"));
}

#[test]
fn an_estimator_without_its_module_names_what_to_install() {
    let place = Place::new();
    let file = place.0.path().join("methods.toml");
    std::fs::write(&file, "[method.own]\nregressor = \"no_such_module:Class\"\ndata = \"csv\"")
        .unwrap();
    let methods = methods_of(Path::new(&file)).unwrap();
    let learner =
        find(&methods, "own").unwrap().learner(&Settings::new(), Task::Regression).unwrap();
    let error = learner.fit(&line(), &mut Fitting::seeded(1)).err().unwrap().to_string();
    let asked = error.contains("no module no_such_module: ") && error.contains("-m pip install");
    // A Python without numpy misses that first.
    assert!(asked || error.contains("no module numpy: "), "{error}");
}
