//! Methods on the same splits, and their pages.

use super::{QUICK, place_with, toys};
use crate::place::Place;
use serde_json::json;
use std::fmt::Write as _;

#[test]
fn methods_are_compared_on_the_same_splits_with_a_page() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line =
        "compare --methods kernel-ridge,majority,gaussian-svm --data toys.csv --report c.html";
    let told = place.run(line).with_code(0);
    assert!(
        told.stdout.contains("p corrected") && told.stdout.contains("kernel-ridge"),
        "{told:?}"
    );
    let page = std::fs::read_to_string(place.path("c.html")).unwrap();
    for part in
        ["Which differences are real", "critical difference", "Holm", "<svg", "gaussian-svm"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("src=\"http") && !page.contains("@import"), "the page asks nobody");
    let json = place.run(&line.replace("--report c.html", "--json")).with_code(0).json();
    assert_eq!(json["splits"], 10);
    assert_eq!(json["methods"].as_array().unwrap().len(), 3);
    // What it takes to do it again.
    for part in [
        "Command",
        "mercer compare --methods kernel-ridge,majority,gaussian-svm --data toys.csv",
        "SHA-256",
        "Seed",
        "Left out",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let holm = json["pairs"][0]["p_holm"].as_f64().unwrap();
    assert!(holm >= json["pairs"][0]["p_corrected"].as_f64().unwrap());
    // Whoever reads the text knows what was predicted, and what for.
    assert!(
        told.stdout.starts_with(
            "toys.csv: 60 rows, target `kind`, classification (3 classes); 5 folds, 2 times"
        ),
        "{told:?}"
    );
    // A method that cannot be fitted has its error in its place, and the status says so.
    let failing =
        place.run("compare --methods gaussian-svm,kernel-ridge --data toys.csv --set cap=1");
    assert_eq!(failing.code, Some(3), "{failing:?}");
    // Splits that the rows do not allow are no failure of each method, but the one who asked's.
    let folds = place.run("compare --methods majority,kernel-ridge --data toys.csv --folds 61");
    assert_eq!(folds.code, Some(2), "{folds:?}");
    let told = "at most 60: the table has 60 rows\n";
    assert!(folds.stderr.contains(told) && folds.stdout.is_empty(), "{folds:?}");
}

/// Of one split there is no spread: that is said, with what gives one, and no table stands empty.
#[test]
fn one_split_has_no_test_and_says_why() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "compare --methods kernel-ridge,majority --data toys.csv --holdout 0.3";
    let told = place.run(&format!("{line} --report one.html")).with_code(0).stdout;
    assert!(told.contains("no test: one split has no spread"), "{told}");
    assert!(told.contains("--folds 5") && !told.contains("p corrected"), "{told}");
    let page = std::fs::read_to_string(place.path("one.html")).unwrap();
    assert!(
        page.contains("There is no test: one split has no spread") && !page.contains("p corrected")
    );
    assert!(page.contains("Scores on the one test part") && page.contains("Wilson"));
    let told = place.run(&format!("{line} --repeats 3")).with_code(0).stdout;
    assert!(told.contains("p corrected") && !told.contains("no test"), "{told}");
    // Files of both tasks have no scale in common.
    let files = "--data toys.csv,numbers.csv --folds 2 --repeats 1";
    let numbers: String = toys(60).lines().fold(String::new(), |all, line| {
        let fields: Vec<&str> = line.split(',').collect();
        all + &format!("{},{}\n", fields[0], fields[1])
    });
    std::fs::write(place.path("numbers.csv"), numbers).unwrap();
    let told = place.run(&format!("compare --methods kernel-ridge,rf {files}")).with_code(0).stdout;
    assert!(told.contains("no test over the files: accuracies and errors"), "{told}");
    assert!(told.contains("regression") && told.contains("classification (3 classes)"), "{told}");
}

/// What a page of tuning came from stands in it, as in that of a comparison.
#[test]
fn pages_say_what_they_came_from() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "tune --method kernel-ridge --data toys.csv --target weight --drop kind --seed 7 \
                --budget 3 --report tune.html";
    let told = place.run(line).with_code(0).stdout;
    assert!(
        told.starts_with("kernel-ridge on toys.csv: 60 rows, target `weight`, regression"),
        "{told}"
    );
    assert!(told.contains("rmse / deviation") && !told.contains(" -0."), "{told}");
    let nothing = place.run("tune --method majority --data toys.csv").with_code(0).stdout;
    assert!(nothing.contains("chosen: the defaults"), "{nothing}");
    place
        .run("compare --methods kernel-ridge,majority --data toys.csv --report compare.html")
        .with_code(0);
    place
        .run("compare --methods kernel-ridge,mean --data toys.csv --target weight --report numbers.html")
        .with_code(0);
    let page = |name| std::fs::read_to_string(place.path(name)).unwrap();
    let (tune, compare) = (page("tune.html"), page("compare.html"));
    for name in
        ["Command", "Library", "Date", "Data", "SHA-256", "Rows", "Columns", "Task", "Target"]
    {
        let line = format!("<dt>{name}</dt><dd>");
        assert!(tune.contains(&line) && compare.contains(&line), "{name}");
    }
    for fact in [
        format!("<dd>mercer {}</dd>", line.split_whitespace().collect::<Vec<_>>().join(" ")),
        "<dt>Rows</dt><dd>60</dd>".to_owned(),
        "<dt>Columns</dt><dd>2, which are 3 inputs</dd>".to_owned(),
        "<dt>Task</dt><dd>regression</dd>".to_owned(),
        "<dt>Target</dt><dd>weight</dd>".to_owned(),
        "<dt>Seed</dt><dd>7</dd>".to_owned(),
        "<dt>Left out</dt><dd>kind</dd>".to_owned(),
    ] {
        assert!(tune.contains(&fact), "{fact}");
    }
    assert!(compare.contains("<dt>Task</dt><dd>classification, 3 classes</dd>"));
    // The intervals' name stands once, below the table.
    let numbers = page("numbers.html");
    assert_eq!(numbers.matches("corrected resampled t over the splits").count(), 1);
    assert!(!numbers.contains("interval of the mean:"));
    // Every row is right on every split: no interval of width 0, and no test without a spread.
    assert!(!compare.contains("100.00 to 100.00") && compare.contains("the same on every split"));
}

#[test]
fn several_files_are_compared_one_by_one_and_together() {
    let place = place_with(&[("a.csv", &toys(60)), ("b.csv", &toys(75)), ("c.csv", &toys(90))]);
    let line = "compare --methods majority,kernel-ridge --data a.csv,b.csv --data c.csv --folds 2 --repeats 1";
    let told = place.run(&format!("{line} --report all.html")).with_code(0);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = told.stdout.lines().map(words).collect();
    assert!(lines.contains(&words("mean rank - - - 2.00 1.00")), "{told:?}");
    assert!(told.stdout.contains("3/0/0"), "{told:?}");
    // Each file with its target and task.
    let named = |line: &[String]| line.starts_with(&words("a.csv kind classification (3 classes)"));
    assert!(lines.iter().any(|line| named(line)), "{told:?}");
    let page = std::fs::read_to_string(place.path("all.html")).unwrap();
    // Three files that agree leave Iman and Davenport no spread; of χ² = 3 with one degree of freedom.
    for part in ["all files rank them alike, p = 0.0833 over 3 files", "<dt>Target</dt>"] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["across-ranks", "file-1-scores", "file-3-pairs", "Wilcoxon", "c.csv: The methods"]
    {
        assert!(page.contains(part), "{part}");
    }
    let json = place.run(&format!("{line} --json")).with_code(0).json();
    assert_eq!(json["files"].as_array().unwrap().len(), 3);
    // Of two methods on three files the smallest p there is: 2/2^3.
    assert_eq!(json["pairs"][0]["p"], 0.25);
    assert_eq!(json["friedman"]["datasets"], 3);
    // A file that cannot be read is said before anything is fitted.
    let told = place.run(&format!("{line} --data missing.csv --report late.html"));
    assert!(told.code != Some(0) && told.stderr.contains("missing.csv"), "{told:?}");
    assert!(!place.path("late.html").exists());
}

#[test]
fn settings_are_tuned_within_a_budget() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "--method kernel-ridge --data toys.csv";
    let tuned =
        place.run(&format!("tune {line} --budget 5 --report t.html --json")).with_code(0).json();
    // Five settings, once each: the fifth of the rows is too small a part to be worth a rung.
    assert_eq!(tuned["history"].as_array().unwrap().len(), 5);
    assert!(tuned["chosen"]["std"].is_f64(), "{tuned}");
    assert!(std::fs::read_to_string(place.path("t.html")).unwrap().contains("<svg"));
    assert!(
        place
            .run(&format!("tune {line} --budget 2s"))
            .with_code(0)
            .stdout
            .contains("chosen: --set")
    );
    place.run(&format!("fit {line} --tune --budget 4 --out t.model")).with_code(0);
    let info = place.run("info t.model --json").with_code(0).json();
    assert_eq!(info["tuning"]["history"].as_array().unwrap().len(), 4);
    assert_eq!(info["settings"]["std"], info["tuning"]["chosen"]["std"]);
    // Of more rows: five settings on a hundred of them, the better two on all; a third is nearly a hundred.
    std::fs::write(place.path("more.csv"), toys(450)).unwrap();
    let line = "tune --method kernel-ridge --data more.csv --budget 5 --json";
    let tuned = place.run(line).with_code(0).json();
    let efforts: Vec<f64> = tuned["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["effort"].as_f64().unwrap() * 360.0).round())
        .collect();
    assert_eq!(efforts, [100.0, 100.0, 100.0, 100.0, 100.0, 360.0, 360.0]);
}

/// No setting is fitted twice at one effort, the defaults are tried once, and the last rung has two at least.
#[test]
fn a_search_fits_nothing_twice() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    for method in ["kernel-ridge", "gaussian-svm", "askl", "rf-sgd"] {
        let quick = if method == "askl" { QUICK } else { "" };
        for budget in [1, 2, 4] {
            let line = format!("tune --method {method} --data toys.csv {quick} --budget {budget}");
            let found = place.run(&format!("{line} --json")).with_code(0).json();
            let history = found["history"].as_array().unwrap();
            let seen: Vec<String> =
                history.iter().map(|s| format!("{} {}", s["effort"], s["settings"])).collect();
            let mut distinct = seen.clone();
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), seen.len(), "{line}: {seen:?}");
            let last = &history.last().unwrap()["effort"];
            let at_last = history.iter().filter(|step| step["effort"] == *last).count();
            assert!(at_last > 1 || budget == 1, "{line}: {seen:?}");
        }
    }
}

/// A class of one row, and one of three rows in five folds.
#[test]
fn rare_classes_are_spread_over_the_folds() {
    let mut text = "a,y\n".to_owned();
    for row in 0..40 {
        let class = if row == 7 { "once" } else { ["u", "v"][row % 2] };
        writeln!(text, "{}.5,{class}", 10 * (row % 2) + row).unwrap();
    }
    let two: Vec<String> =
        (0..23).map(|row| format!("{row}.5,{}", if row > 20 { "x" } else { "z" })).collect();
    let place =
        place_with(&[("rare.csv", &text), ("two.csv", &format!("a,y\n{}\n", two.join("\n")))]);
    let told = place.run("evaluate --method kernel-ridge --data rare.csv --json").with_code(0);
    assert!(told.stderr.contains("class `once` has one row"), "{told:?}");
    assert_eq!(told.json()["test_rows"], 8);
    for method in ["kernel-ridge", "gaussian-svm", "majority"] {
        place.run(&format!("evaluate --method {method} --data two.csv --json")).with_code(0);
        place.run(&format!("evaluate --method {method} --data two.csv --holdout 0.1")).with_code(0);
    }
}

/// Copies of rows may train and test at once.
#[test]
fn repeated_rows_are_said_where_rows_are_divided() {
    let once = toys(60);
    let lines: Vec<&str> = once.lines().skip(1).take(6).collect();
    let place =
        place_with(&[("once.csv", &once), ("twice.csv", &format!("{once}{}\n", lines.join("\n")))]);
    for (name, said) in [("once", false), ("twice", true)] {
        for line in ["evaluate --method majority", "compare --methods majority,kernel-ridge"] {
            let ended = place.run(&format!("{line} --data {name}.csv --folds 2 --repeats 1"));
            let told =
                ended.with_code(0).stderr.contains("twice.csv: 6 of 66 rows repeat an earlier one");
            assert_eq!(told, said, "{line} {name}");
        }
    }
}

/// One test part: every metric that is printed has an interval, which says how it was made; the seed
/// names the resamples.
#[test]
fn every_metric_of_one_test_part_has_an_interval() {
    let place = place_with(&[("toys.csv", &toys(120))]);
    let one = |line: &str| place.run(&format!("evaluate {line} --json")).with_code(0).json();
    let askl = "--method askl --set features=64 --set epochs=1 --set loss=cross-entropy";
    place.run(&format!("fit {askl} --data toys.csv --out m")).with_code(0);
    place.run("fit --method mean --data toys.csv --target weight --out w").with_code(0);
    for (line, metrics) in [
        (format!("{askl} --data toys.csv --holdout 0.4"), 8),
        ("m --data toys.csv".to_owned(), 8),
        ("--method kernel-ridge --target weight --data toys.csv --holdout 0.4".to_owned(), 4),
        ("w --data toys.csv".to_owned(), 4),
    ] {
        let found = one(&line);
        let estimates = found["estimates"].as_object().unwrap();
        assert_eq!(estimates.len(), metrics, "{found}");
        // Rows in perfect order are so in every resample.
        let perfect = |estimate: &serde_json::Value| {
            estimate["mean"].as_f64() == Some(1.0) && estimate["interval"].is_null()
        };
        for (name, estimate) in estimates.iter().filter(|(_, estimate)| !perfect(estimate)) {
            let ends = [0, 1].map(|end| estimate["interval"][end].as_f64().unwrap_or(f64::NAN));
            let mean = estimate["mean"].as_f64().unwrap();
            assert!(ends[0] <= mean && mean <= ends[1], "{line}, {name}: {estimate}");
            let by = if name.contains("accuracy") { "Wilson" } else { "2000 resamples" };
            assert!(estimate["interval_by"].as_str().unwrap().contains(by), "{name}: {estimate}");
        }
        assert_eq!(one(&line), found, "the same again");
        assert_eq!((&found["data"], found["rows"].as_u64()), (&"toys.csv".into(), Some(120)));
        let weight = line.contains("weight") || line.starts_with('w');
        assert_eq!(found["target"], if weight { "weight" } else { "kind" });
        assert_eq!(found["task"], if weight { "regression" } else { "classification" });
        let classes = found["classes"].as_array().unwrap();
        assert_eq!(classes.len(), if weight { 0 } else { 3 });
    }
    let table = place.run(&format!("evaluate {askl} --data toys.csv --holdout 0.4")).with_code(0);
    assert!(table.stdout.contains("BCa bootstrap of the test rows"), "{table:?}");
    let head = "askl on toys.csv: 120 rows, target `kind`, classification (3 classes); 40 % of the";
    assert!(table.stdout.starts_with(head), "{table:?}");
    // The mean explains nothing of its own rows, up to rounding.
    let nothing = place.run("evaluate w --data toys.csv").with_code(0).stdout;
    assert!(!nothing.contains("-0.0000"), "{nothing}");
    let several = one(&format!("{askl} --data toys.csv --folds 3"));
    let by = several["estimates"]["brier"]["interval_by"].as_str().unwrap();
    assert!(by.contains("corrected resampled t"), "{several}");
}

#[test]
fn words_that_differ_in_capitals_only_are_pointed_out() {
    let mut text = "size,region,kind\n".to_owned();
    for i in 0..24 {
        let region = ["north", "South", "North", "south."][i % 4];
        writeln!(text, "{i},{region},{}", ["yes", "no", "Yes", "no"][i / 2 % 4]).unwrap();
    }
    let place = place_with(&[("cases.csv", &text)]);
    let told = place.run("fit --method majority --data cases.csv --out m").with_code(0).stderr;
    assert!(
        told.contains(
            "column `region`: `North` and `north`, `South` and `south.` differ in capitals, dots or blanks only"
        ),
        "{told}"
    );
    assert!(told.contains("target `kind`: `Yes` and `yes` differ in capitals only"), "{told}");
}

#[test]
fn a_setting_may_be_of_one_of_the_methods_that_are_compared() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "compare --methods askl,rf,majority --data toys.csv --folds 2 --repeats 1 --json";
    let found = place
        .run(&format!("{line} --set askl.epochs=2 --set askl.features=32 --set rf.features=48"))
        .with_code(0)
        .json();
    let of = |method: usize, name: &str| {
        found["methods"][method]["evaluation"]["Ok"]["settings"][0][name].clone()
    };
    assert_eq!(
        (of(0, "epochs"), of(0, "features"), of(1, "features")),
        (2.into(), 32.into(), 48.into())
    );
    assert_eq!(found["methods"][2]["method"], "majority");
    let told = place.run(&format!("{line} --set gmce.epochs=2")).with_code(2).stderr;
    assert!(told.contains("METHOD.NAME of one of askl, rf-ridge, majority"), "{told}");
}

#[test]
fn a_setting_of_all_methods_is_for_those_that_have_it() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "compare --methods rf,kernel-ridge,majority --data toys.csv --folds 2 --repeats 1";
    let found = place.run(&format!("{line} --set features=48 --json")).with_code(0).json();
    let settings = |method: usize| &found["methods"][method]["evaluation"]["Ok"]["settings"][0];
    assert_eq!(settings(0)["features"], 48);
    assert!(settings(1)["features"].is_null() && settings(2)["features"].is_null());
    let note = "`features` is no setting of kernel-ridge, majority";
    assert!(found["notes"].as_array().unwrap().contains(&note.into()), "{}", found["notes"]);
    let told = place.run(&format!("{line} --set featurs=48")).with_code(2).stderr;
    assert!(told.contains("featurs"), "{told}");
}

/// Rows of one patient on both sides flatter; the numbers of the others are on the same rows.
#[test]
fn evaluate_divides_the_rows_by_a_column() {
    let place = Place::new();
    let mut text = "patient,day,x,part,sick\n".to_owned();
    for row in 0..60 {
        let (patient, sick) = (row % 12, if row % 12 < 6 { "yes" } else { "no" });
        let part = if patient % 4 == 0 { "test" } else { "train" };
        writeln!(text, "p{patient},2026-01-{:02},{},{part},{sick}", row % 28 + 1, patient * 10)
            .unwrap();
    }
    std::fs::write(place.path("visits.csv"), text).unwrap();
    let run = |rest: &str| {
        place.run(&format!(
            "evaluate --method kernel-ridge --data visits.csv --target sick {rest} --json"
        ))
    };
    let groups = run("--groups patient --drop day,part --folds 4 --repeats 1").with_code(0).json();
    assert_eq!(groups["splits"].as_array().unwrap().len(), 4);
    let part = run("--split-column part --drop patient,day").with_code(0).json();
    assert_eq!((part["splits"].as_array().unwrap().len(), &part["test_rows"]), (1, &json!(15)));
    let time = run("--time day --drop patient,part --folds 3").with_code(0);
    assert!(time.stderr.contains("a guide only"), "{time:?}");
    for (rest, words) in [
        ("--groups patent", "has no column `patent` (--groups); did you mean `patient`?"),
        ("--groups sick", "cannot leave out `sick` (--groups): it is the target"),
        ("--groups part --folds 3", "`part` has 2 groups"),
        ("--time day --repeats 4", "`day` divides the rows in one way only"),
        ("--split-column patient", "line 2, column `patient`: `p0` is neither train nor test"),
    ] {
        // A cell of the file is at fault, not what was typed.
        let code = if rest == "--split-column patient" { 1 } else { 2 };
        let refused = run(rest).with_code(code);
        assert!(refused.stderr.contains(words), "{rest}: {refused:?}");
    }
    run("--groups patient --time day").with_code(2);
}

/// A patient's number tells the patient's class and nothing of other patients: rows drawn at random score it well.
#[test]
fn tuning_and_calibration_hold_groups_out_whole() {
    let place = Place::new();
    let mut text = "patient,x,sick\n".to_owned();
    for row in 0..120_u32 {
        let patient = row % 24;
        let sick = if 0b1011_0011_1000_1011_0100_1110 >> patient & 1 == 1 { "yes" } else { "no" };
        writeln!(text, "p{patient},{},{sick}", f64::from(patient) + 0.001 * f64::from(row))
            .unwrap();
    }
    std::fs::write(place.path("visits.csv"), text).unwrap();
    let best = |rest: &str| {
        let line = format!("tune --method gaussian-svm --data visits.csv {rest} --budget 9 --json");
        let found = place.run(&line).with_code(0).json();
        let scores = found["history"].as_array().unwrap().iter();
        scores.filter_map(|step| step["score"].as_f64()).fold(0.0, f64::max)
    };
    let (random, whole) = (best("--drop patient"), best("--groups patient"));
    assert!(random > 0.95 && whole < 0.75, "{random} {whole}");
    let slope = |rest: &str| {
        let line = format!(
            "fit --method gaussian-svm --data visits.csv {rest} --set std=15 --calibrate --out m --force"
        );
        place.run(&line).with_code(0);
        place.run("predict m --data visits.csv --drop patient").with_code(0);
        let header = place.run("info m --json").with_code(0).json();
        header["adjustment"]["calibration"]["sigmoid"]["slope"].as_f64().unwrap()
    };
    let (random, whole) = (slope("--drop patient"), slope("--groups patient"));
    assert!(random > 1.5 && whole < 0.5, "{random} {whole}");
}

/// In time only the last rows are held out; what a column cannot hold out is said.
#[test]
fn tuning_and_calibration_heed_time_and_say_where_they_cannot() {
    let place = Place::new();
    let mut text = "day,kind,x,sick\n".to_owned();
    for row in 0..120_u32 {
        let patient = row / 5;
        let sick = if 0b1011_0011_1000_1011_0100_1110 >> patient & 1 == 1 { "yes" } else { "no" };
        let x = f64::from(patient) + 0.001 * f64::from(row);
        writeln!(text, "{row},{sick},{x},{sick}").unwrap();
    }
    std::fs::write(place.path("days.csv"), text).unwrap();
    let slope = |rest: &str| {
        let line = format!(
            "fit --method gaussian-svm --data days.csv {rest} --set std=15 --calibrate --out m --force"
        );
        let told = place.run(&line).with_code(0).stderr;
        let header = place.run("info m --json").with_code(0).json();
        (header["adjustment"]["calibration"]["sigmoid"]["slope"].as_f64().unwrap(), told)
    };
    let (random, in_time) = (slope("--drop day,kind"), slope("--drop kind --time day"));
    assert!(random.0 > 1.5 && (in_time.0 - random.0).abs() > 0.1, "{random:?} {in_time:?}");
    // The groups are the classes: no group can be held out.
    let (same, told) = slope("--drop day --groups kind");
    assert!((same - random.0).abs() < 0.2 && told.contains("held out at random"), "{same} {told}");
    let line = "tune --method gaussian-svm --data days.csv --drop day --groups kind --budget 3";
    let refused = place.run(line).with_code(2).stderr;
    assert!(refused.contains("`kind` (--groups)") && refused.contains("two classes"), "{refused}");
    let line =
        "fit --method gaussian-svm --data days.csv --drop day --groups kind --budget 3 --out n";
    assert!(place.run(line).with_code(0).stderr.contains("held out at random"));
    // What measures probabilities ranks what is calibrated after tuning.
    let line = "evaluate --method gaussian-svm --data days.csv --drop day,kind --budget 3 --calibrate --metric brier --folds 2";
    place.run(line).with_code(0);
}

/// A mean over the R2 of small parts names no best, and its figure has no line of another metric.
#[test]
fn what_is_pooled_is_not_tested_over_splits() {
    let place = Place::new();
    let noise = |row: usize| ((row * 7919) as f64 * 0.618).fract();
    let rows: Vec<String> =
        (0..25).map(|row| format!("{row},{}", 3.0 * row as f64 + 9.0 * noise(row))).collect();
    std::fs::write(place.path("few.csv"), format!("a,y\n{}\n", rows.join("\n"))).unwrap();
    let line = "compare --methods krr,mean --data few.csv --folds 12 --repeats 1";
    let told = place.run(&format!("{line} --metric r2 --report r2.html")).with_code(0).stdout;
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("fewer than two methods have this metric on every split"), "{told}");
    // What is of probabilities says how to get some.
    std::fs::write(place.path("two.csv"), format!("x,k\n{}", "1,a\n2,b\n3,a\n2.5,b\n".repeat(6)))
        .unwrap();
    let line_of = "compare --methods krr,svm --data two.csv --folds 2 --metric brier";
    let words = place.run(line_of).with_code(0).stdout.replace('\n', " ");
    assert!(words.contains("--calibrate learns them"), "{words}");
    let words = place.run(&format!("{line_of} --calibrate")).with_code(0).stdout;
    assert!(words.contains("p corrected"), "{words}");
    let told = place.run(&format!("{line} --report rmse.html")).with_code(0).stdout;
    assert!(told.contains("p corrected"), "{told}");
    for (page, line) in [("r2.html", false), ("rmse.html", true)] {
        let page = std::fs::read_to_string(place.path(page)).unwrap();
        assert_eq!(page.contains("without the inputs"), line);
    }
}

/// A row of svmlight without a target is predicted, and is nothing to score or to fit.
#[test]
fn svmlight_without_targets_scores_nothing() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text).unwrap();
    write("some.svm", "1 1:0.5\n0 1:-0.5\n1 1:0.7\n0 1:-0.6\n");
    write("bare.svm", "1:0.5\n1:-1\n");
    write("one.svm", "1 1:0.5\n1:-1\n");
    place.run("fit --method krr --data some.svm --out m").with_code(0);
    assert_eq!(place.run("predict m --data bare.svm").with_code(0).stdout, "prediction\n1\n0\n");
    for (line, at) in [
        ("evaluate m --data bare.svm", "bare.svm:1"),
        ("evaluate m --data one.svm", "one.svm:2"),
        ("evaluate --method krr --data some.svm --test bare.svm", "bare.svm:1"),
        ("fit --method krr --data one.svm --out n", "one.svm:2"),
    ] {
        let refused = place.run(line).with_code(1).stderr;
        assert!(refused.contains(&format!("{at}: has no target")), "{line}: {refused}");
    }
}

/// What is said of a file stands after the error that it may explain; a test file's rows are not the table's; all columns
/// with holes are named; a file's name may hold a comma.
#[test]
fn what_is_said_of_a_file_helps_with_its_error() {
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text).unwrap();
    write("holes.csv", "a,b,c,kind\n1,,3,x\n2,5,,y\n3,6,1,x\n4,7,2,y\n1,,3,x\n");
    let told = place.run("fit --method kernel-ridge --data holes.csv").with_code(1).stderr;
    assert!(told.contains("2 columns have missing values: `b`, `c`"), "{told}");
    let rows: Vec<String> =
        (0..30).map(|row| format!("{},{}", row % 7, ["a", "b"][row % 2])).collect();
    write("few,many.csv", &format!("x,kind\n{}\n", rows.join("\n")));
    write("other.csv", "x,kind\n1,a\n2,b\n3,a\n4,b\n");
    let line = "compare --methods krr,majority --folds 2 --repeats 1 --data few,many.csv";
    let told = place.run(line).with_code(0).stdout;
    assert!(told.starts_with("few,many.csv: 30 rows"), "{told}");
    let two = place.run("compare --methods krr,majority --folds 2 --data other.csv,other.csv");
    assert!(two.stdout.contains("2 files") || two.stderr.contains("other.csv"), "{two:?}");
    let told =
        place.run("evaluate --method krr --data few,many.csv --test other.csv").with_code(0).stdout;
    assert!(told.contains("few,many.csv: 30 rows") && told.contains("fitted to 30 rows"), "{told}");
    // The first row is guessed to be names, and the error comes first.
    write("bare.csv", "tone,kind\nred,x\n,y\nred,x\nblue,y\n");
    for command in ["fit", "evaluate --folds 2", "compare --folds 2 --repeats 1"] {
        let methods = if command.starts_with("compare") { "--methods" } else { "--method" };
        let told = place.run(&format!("{command} {methods} krr --data bare.csv")).stderr;
        assert!(told.starts_with("error: ") && told.contains("--header no"), "{command}: {told}");
    }
    let told = place.run("evaluate --method krr --data bare.csv --impute mean --folds 2").stderr;
    assert!(told.contains("--header no"), "{told}");
}

/// Three rows of a class among forty: parts without it have no area under the curve, and the page has what the others have.
#[test]
fn a_metric_that_parts_lack_is_the_mean_over_the_others() {
    let mut rows = String::from("a,b,kind\n");
    for row in 0..40 {
        let kind = if row % 13 == 5 { "rare" } else { "usual" };
        let _ = writeln!(rows, "{row},{},{kind}", row % 7);
    }
    let place = place_with(&[("rare.csv", &rows)]);
    let line = "compare --methods majority,gaussian-process --data rare.csv --folds 5 --repeats 1 --metric auc \
                --report rare.html";
    place.run(line).with_code(0);
    assert!(std::fs::read_to_string(place.path("rare.html")).unwrap().contains("<svg"));
    // A constant ranks no row above another.
    let told = place.run("evaluate --method majority --data rare.csv --folds 5 --repeats 1 --json");
    let told = told.with_code(0);
    assert!(told.stderr.contains("it is the mean over the others"), "{told:?}");
    assert_eq!(told.json()["estimates"]["auc"]["mean"], 0.5);
    // A page where no part has the metric.
    place
        .run("evaluate --method kernel-ridge --data rare.csv --folds 2 --metric auc --report none.html")
        .with_code(0);
}
