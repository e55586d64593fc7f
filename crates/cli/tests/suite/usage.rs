//! Wrong words, closed pipes, and commands that only look.

use crate::place::{Ended, Place, files};
use std::fmt::Write as _;
use std::process::Stdio;

#[test]
fn lists_say_what_there_is() {
    let place = Place::new();
    for (what, named) in
        [("artefacts", "askl/table2"), ("methods", "kernel-ridge"), ("datasets", "segment")]
    {
        let text = place.run(&format!("list {what}")).with_code(0);
        assert!(text.stdout.contains(named) && text.stderr.is_empty(), "{text:?}");
        let json = place.run(&format!("list {what} --json")).with_code(0).json();
        let heads = json[0].as_object().unwrap();
        assert!(json.as_array().unwrap().len() > 5 && heads.len() > 2, "{what}");
    }
    // Where data is found depends on the place.
    let here = place.run("data list --data data --json").with_code(0).json();
    let segment = here.as_array().unwrap().iter().find(|row| row["dataset"] == "segment").unwrap();
    assert_eq!(segment["found"], "data");
    assert_eq!(segment["classes"], 7);
}

/// It is copied to clusters and containers.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn the_program_is_small() {
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_mercer")).unwrap();
    assert!(program.len() <= 45_000_000, "{} bytes", program.len());
}

/// Long lists are read on a terminal: no line is wider than it, and all words are there.
#[test]
fn lists_are_as_wide_as_the_terminal() {
    let place = Place::new();
    for line in ["list methods", "list datasets", "list artefacts", "list methods askl", "bound"] {
        let wide = |columns: &str| {
            let output = place.command(line).env("COLUMNS", columns).output().unwrap();
            crate::place::Ended::of(&output).with_code(0).stdout
        };
        let widest = |text: &str| text.lines().map(|l| l.chars().count()).max().unwrap();
        let (narrow, usual, all) = (wide("80"), place.run(line).stdout, wide("1000"));
        // Seven columns of words that cannot be broken want more.
        assert!(widest(&narrow) <= 80 || line == "list datasets", "{line}: {narrow}");
        assert!(widest(&usual) <= 100, "{line}: {usual}");
        // Lines are broken between words, and none is lost.
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(words(&narrow), words(&all), "{line}");
    }
    let all = place.run("list methods").stdout;
    assert!(all.starts_with("Five to try first:\nkernel-ridge "), "{all}");
    assert!(
        all.contains("mercer list methods NAME") && !all.contains("epochs n D (d + K)"),
        "{all}"
    );
    let askl = place.run("list methods askl").stdout;
    assert!(askl.contains("epochs n D (d + K)") && askl.contains("memory"), "{askl}");
}

/// Bounds of lists and tables, from a file, from words, and from words over a file.
#[test]
fn a_bound_takes_arrays() {
    let place = Place::new();
    std::fs::write(
        place.path("k.json"),
        r#"{"eigenvalues": [1, 0.5, 0.25, 0.125], "features": 2}"#,
    )
    .unwrap();
    let value = |line: &str| place.run(line).with_code(0).json()["value"].as_f64().unwrap();
    let expected = 0.125f64.sqrt() / 4.0;
    assert!((value("bound rftk-effective-ridge --from k.json --json") - expected).abs() < 1e-15);
    let line = "bound rftk-effective-ridge --from k.json --features 4 --json";
    assert!(value(line).abs() < 1e-15);
    let line = "bound mce-ball-complexity gram=[[1,0],[0,1]] --norm 3 --json";
    assert!((value(line) - 3.0 * 2f64.sqrt()).abs() < 1e-12);
    for text in ["1,0\n0,1\n", "a;b\r\n1;0\r\n0;1\r\n", "[[1, 0], [0, 1]]", "\u{feff}1 0\n0 1"] {
        std::fs::write(place.path("gram.csv"), text).unwrap();
        let line = "bound mce-ball-complexity --gram @gram.csv norm=3 --json";
        assert!((value(line) - 3.0 * 2f64.sqrt()).abs() < 1e-12, "{text}");
    }
    let missing = place.run("bound mce-ball-complexity gram=@nothing.csv norm=3").with_code(4);
    assert!(missing.stderr.contains("nothing.csv"), "{missing:?}");
    std::fs::write(place.path("words.csv"), "a,b\n1,x\n").unwrap();
    for (line, told) in [
        ("bound mce-ball-complexity gram=[[1,0],[0]] norm=3", "as JSON"),
        ("bound mce-ball-complexity gram=@words.csv norm=3", "a CSV or JSON file of numbers"),
        ("bound mce-ball-complexity gram=[[1,0]] norm=3", "`gram` is 1 x 2"),
        ("bound mce-ball-complexity gram=[[1,0],[0,1]]", "needs `norm`"),
        ("bound mce-entropy-factor truth=[0.5,0.5] estimate=x", "as JSON"),
    ] {
        let ended = place.run(line).with_code(2);
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
}

#[test]
fn a_method_tells_its_settings() {
    let place = Place::new();
    let wide = place.command("list methods rf").env("COLUMNS", "200").output().unwrap();
    let text = crate::place::Ended::of(&wide).with_code(0).stdout;
    for part in ["rf-ridge", "alias", "lambda", "f64, f32-inverse", "a whole number", "2000"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = place.run("list methods askl --json").with_code(0).json();
    assert_eq!(json["proba"], "with --set loss=cross-entropy");
    let settings = json["settings"].as_array().unwrap();
    let of = |name: &str| settings.iter().find(|s| s["setting"] == name).unwrap();
    assert!(of("optimiser")["allowed"].as_str().unwrap().contains("adam"), "{json}");
    assert!(of("features")["meaning"].as_str().unwrap().contains("Features"), "{json}");
    for (line, told) in [
        ("list methods kernl-ridge", "did you mean `kernel-ridge`?"),
        ("fit --method krr --data x.csv --set sigma=2", "did you mean `std` (1 / sigma)?"),
        (
            "fit --method SVM --data x.csv --set kernel=rbf",
            "polynomial, linear, precomputed; did you mean `gaussian`?",
        ),
        ("evaluate --method kernl-ridge --data x.csv", "did you mean `kernel-ridge`?"),
        ("compare --methods majority,kernl-ridge --data x.csv", "did you mean `kernel-ridge`?"),
        ("list datasets askl", "after `methods` only"),
        (
            "evaluate --method kernel-ridge --set lamda=1 --data x.csv",
            "did you mean `lambda`? There are",
        ),
        ("evaluate --method kernel-ridge --set lambda=-1 --data x.csv", "at least 0 and finite"),
        (
            "evaluate --method kernel-ridge --set cap=x --data x.csv",
            "it must be a whole number, at least 2",
        ),
        ("evaluate --method majority --set cap=3 --data x.csv", "the method has none"),
        ("evaluate --method majority --holdout 30% --data x.csv", "such as 0.3"),
        ("evaluate --method majority --holdout 1.5 --data x.csv", "above 0 and below 1"),
        (
            "fit --method majority --scale standrd --data x.csv",
            "a similar value exists: 'standard'",
        ),
        ("bound askl-rat", "did you mean `askl-rate`? `mercer bound` lists them"),
    ] {
        std::fs::write(place.path("x.csv"), "a,y\n1,u\n2,v\n3,u\n4,v\n5,u\n6,v\n").unwrap();
        let ended = place.run(line).with_code(2);
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
}

/// Equation (12) of the ASKL paper, `B √(K/n)`, at numbers that a hand can check.
#[test]
fn a_bound_is_evaluated_term_by_term() {
    let place = Place::new();
    let line = "bound askl-rate trace-norm=3 outputs=4 rows=100";
    let bound = place.run(&format!("{line} --json")).with_code(0).json();
    assert!((bound["value"].as_f64().unwrap() - 0.6).abs() < 1e-15);
    assert!(bound["vacuous"].is_null(), "a rate is compared with nothing: {bound}");
    let text = place.run(line).with_code(0).stdout;
    assert!(text.contains("0.2") && text.contains("equation (12)"), "{text}");
    assert!(text.contains("vacuous or not: not applicable"), "{text}");
    let risk = place.run("bound mce-deviation rows=100 beta=0.05").with_code(0).stdout;
    assert!(risk.contains("not vacuous"), "{risk}");
    // Inputs as flags, with a blank or a sign before the number.
    for line in [
        "bound askl-rate --trace-norm 3 --outputs 4 --rows=100 --json",
        "bound --json askl-rate trace-norm=3 --outputs 4 rows=100",
    ] {
        assert_eq!(place.run(line).with_code(0).json(), bound, "{line}");
    }
    for (line, told) in [
        ("bound askl-rate --trace-norm", "--trace-norm"),
        ("bound askl-rate --trace-nrm 3 outputs=4 rows=100", "--trace-nrm"),
        ("bound askl-rate trace-nrm=3 outputs=4 rows=100", "has no input `trace-nrm`"),
        ("bound askl-rate --trace-norm x outputs=4 rows=100", "input `trace-norm` is x"),
        ("bound askl-rat", "did you mean `askl-rate`?"),
    ] {
        let ended = place.run(line).with_code(2);
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
    let all = place.run("bound --json").with_code(0).json();
    for calculator in all.as_array().unwrap() {
        let name = calculator["bound"].as_str().unwrap();
        let inputs = place.run(&format!("bound {name} --json")).with_code(0).json();
        let examples: Vec<String> = inputs
            .as_array()
            .unwrap()
            .iter()
            .map(|input| format!("{}={}", input["input"].as_str().unwrap(), input["example"]))
            .collect();
        let line = format!("bound {name} --json {}", examples.join(" "));
        assert!(place.run(&line).with_code(0).json()["value"].is_f64(), "{line}");
    }
}

#[test]
fn a_wrong_word_is_wrong_usage_and_names_a_right_one() {
    let place = Place::new();
    for (line, told) in [
        ("reproduce askl/tabel2", "did you mean `askl/table2`? `mercer list` prints them all"),
        ("report asklt", "did you mean `askl`"),
        ("status askl/tabel2", "did you mean `askl/table2`"),
        ("reproduce askl/table2 --dataset segmnet", "did you mean `segment`? askl/table2 has"),
        ("reproduce askl/table2 --method nksl --dry-run", "did you mean `nskl`"),
        ("reproduce askl/table2 --variant tuend --dry-run", "tuned"),
        ("reproduce askl/table2 --profile smok --dry-run", "did you mean `smoke`"),
        ("reproduce askl/table2 --profile smoke --dataset mnist", "profile `smoke` has no trial"),
        (
            "reproduce rftk/table1 --profile paper --tuner grid --dry-run",
            "no method of what was named",
        ),
        ("reproduce askl/table2 --tuner grids --dry-run", "grid"),
        ("reproduce --shard 3/2", "1 <= I <= N"),
        ("reproduce --shard zero", "2/3"),
        ("reproduce --jobs 0", "--jobs"),
        ("reproduce --repeats 0", "--repeats"),
        ("reprduce", "reproduce"),
        ("svm", "`gaussian-svm` is a method, not a command: "),
        ("list method", "methods"),
        ("data verify segmnet --data data", "segmnet"),
        ("results merge", "<FROM>"),
        ("bound askl-rat", "askl-rate"),
        ("bound askl-rate trace-norm=x", "such as trace-norm=20"),
        ("bound askl-rate trace-norm=-1 outputs=2 rows=4", "`trace-norm` is -1"),
        ("bound askl-rate trace-norm=1 outputs=2 rows=0", "rows"),
    ] {
        let ended = place.run(line).with_code(2);
        assert!(ended.stderr.contains(told), "`{line}` should say {told}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "`{line}` printed {}", ended.stdout);
    }
    assert!(!place.path("results").exists(), "wrong usage creates nothing");
}

#[test]
fn without_a_word_there_is_help() {
    let place = Place::new();
    let bare = place.run("");
    assert_eq!(bare.code, Some(0));
    assert!(bare.stdout.contains("mercer reproduce"), "{bare:?}");
    assert!(bare.stdout.lines().count() <= 10, "{bare:?}");
    let help = place.run("--help").with_code(0).stdout;
    assert!(help.contains("\n  0    done") && help.contains("\n  130  interrupted"), "{help}");
    assert!(place.run("--version").with_code(0).stdout.starts_with("mercer "));
}

#[test]
fn a_data_folder_that_is_none_is_named() {
    let place = Place::new();
    for line in ["list datasets", "reproduce askl/table2 --profile smoke"] {
        let output = place.command(line).env("MERCER_DATA", "nowhere").output().unwrap();
        let ended = crate::place::Ended::of(&output).with_code(2);
        assert!(ended.stderr.contains("nowhere"), "{ended:?}");
    }
}

#[test]
fn a_record_folder_that_cannot_be_is_named_once_with_its_remedy() {
    let place = Place::new();
    std::fs::write(place.path("file"), "").unwrap();
    for line in ["reproduce askl/table1 --profile smoke --results file/x", "report --reports no"] {
        let ended = place.run(line).with_code(1);
        let said = |what: &str| ended.stderr.matches(what).count();
        assert_eq!(said("(os error"), usize::from(line.contains("file/x")), "{ended:?}");
        assert!(
            said("--results file/x: point it") + said("--reports no: no folder") == 1,
            "{ended:?}"
        );
    }
}

#[test]
fn data_of_another_version_is_verified_as_such() {
    let place = Place::new();
    let ended = place.run("data verify segment --data data").with_code(1);
    // What differs, both values, and the two remedies.
    for told in [
        "`segment` is another version than the catalogue's: ",
        "its number of rows is 280 + 0, not 2310 + 0;",
        "--accept-version",
    ] {
        assert!(ended.stderr.contains(told), "it should say {told}: {ended:?}");
    }
    // No other folder vouches for what the named one lacks.
    std::fs::create_dir(place.path("lacking")).unwrap();
    std::fs::copy(place.path("data/MANIFEST.toml"), place.path("lacking/MANIFEST.toml")).unwrap();
    let mut elsewhere = place.command("data verify segment --data lacking");
    let ended = Ended::of(&elsewhere.env("MERCER_DATA", place.path("data")).output().unwrap());
    assert_eq!(ended.with_code(4).stdout, "segment: not in lacking\n");
    let missing = place.run("data verify mnist --data data").with_code(4);
    assert!(missing.stdout.contains("mercer data fetch mnist"), "{missing:?}");
    let iris = place.run("data verify iris").with_code(0);
    assert!(iris.stdout.contains("iris: 150 rows, 4 columns"), "{iris:?}");
}

/// Whoever reads the first line and closes the pipe gets it, and no complaint.
#[test]
fn a_closed_pipe_is_quiet() {
    let place = Place::new();
    // Something to export and to compare.
    std::fs::create_dir_all(place.path("other")).unwrap();
    place.reproduce("--dataset segment --method majority --repeats 1").with_code(0);
    for (line, code) in [
        ("list methods", 0),
        ("list datasets --json", 0),
        ("data verify iris", 0),
        ("status --json", 0),
        ("results export", 0),
        ("results export --json", 0),
        // The status is the answer, whether or not somebody reads the lines.
        ("results diff results other", 3),
        ("results diff results results", 0),
    ] {
        // Closed before the program starts: every write meets a closed pipe.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = place.command(line).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&child.stderr);
        assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{line}: {told}");
        assert_eq!(child.status.code(), Some(code), "{line}: {told}");
    }
    // And where nobody hears of an error either.
    for line in [
        "status --results nowhere",
        "show no/cell",
        "fit",
        "compare --methods svm,krr --data none.csv",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let both = place.command(line).stdout(writer.try_clone().unwrap()).stderr(writer).status();
        assert_ne!(both.unwrap().code(), Some(101), "{line}");
    }
}

#[test]
fn a_look_creates_nothing() {
    let place = Place::new();
    let before = files(&place.path("."));
    place.run("status").with_code(0);
    std::fs::write(place.path("file"), "").unwrap();
    let told = place.run("status --results file").with_code(1);
    assert!(told.stderr.contains("--results file is a file"), "{told:?}");
    std::fs::remove_file(place.path("file")).unwrap();
    place.run("list").with_code(0);
    let dry = place.reproduce("--dry-run").with_code(0);
    assert!(dry.stdout.contains("0 recorded"), "{dry:?}");
    assert_eq!(files(&place.path(".")), before);
    assert!(!place.path("results").exists());
}

/// What the help of a command about one's own table ends with is run, in an order in which each finds its files.
#[test]
fn examples_of_the_help_run() {
    let place = Place::new();
    std::fs::create_dir(place.path("book")).unwrap();
    let flowers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/flowers.csv");
    std::fs::copy(flowers, place.path("book/flowers.csv")).unwrap();
    let mut scores = "dataset,method,score\n".to_owned();
    for dataset in 0..6 {
        for method in ["a", "b", "c"] {
            let score =
                0.5 + f64::from(dataset) / 20.0 + f64::from(method.as_bytes()[0] - b'a') / 9.0;
            writeln!(scores, "d{dataset},{method},{score}").unwrap();
        }
    }
    std::fs::write(place.path("scores.csv"), scores).unwrap();
    let own = "fit predict evaluate compare tune rank info bound list data";
    for command in own.split(' ') {
        let help = place.run(&format!("{command} --help")).with_code(0).stdout;
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        for example in examples.lines() {
            let words = example.trim().strip_prefix("mercer ").unwrap();
            place.run(words).with_code(0);
        }
    }
}
