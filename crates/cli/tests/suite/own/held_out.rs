//! Rows of another file that test, the predictions of held-out rows, and metrics of parts that lack a class.

use super::{place_with, rare, toys};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rows `from..to` of a table, under its head.
fn part(text: &str, from: usize, to: usize) -> String {
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let rows: Vec<&str> = lines.skip(from).take(to - from).collect();
    format!("{head}\n{}\n", rows.join("\n"))
}

#[test]
fn rows_of_another_file_test() {
    let all = toys(60);
    let alike: String = all
        .lines()
        .filter(|line| !line.contains("cone") && !line.contains("box"))
        .fold(String::new(), |text, line| text + line + "\n");
    let place = place_with(&[
        ("one.csv", &alike),
        ("rows.json", "{\"x\":1,\"kind\":\"a\"}\n{\"x\":2,\"kind\":\"b\"}\n"),
        ("train.csv", &part(&all, 0, 40)),
        ("test.csv", &part(&all, 40, 60)),
        ("hole.csv", &part(&all, 40, 60).replacen("1.", ",", 1).replacen(",,", ",", 1)),
        ("fault.csv", &part(&all, 40, 60).replace("blue", "green")),
    ]);
    let line = "evaluate --method kernel-ridge --data train.csv --test test.csv --json";
    let found = place.run(line).with_code(0).json();
    assert_eq!((found["test_rows"].as_u64(), found["rows"].as_u64()), (Some(20), Some(60)));
    assert_eq!(found["splitting"], "fitted to 40 rows, tested on test.csv");
    // As a model that is fitted to the one file and scored on the other.
    place.run("fit --method kernel-ridge --data train.csv --out m").with_code(0);
    let model = place.run("evaluate m --data test.csv --json").with_code(0).json();
    assert_eq!(found["metrics"], model["metrics"]);
    let compared =
        "compare --methods kernel-ridge,majority --data train.csv --test test.csv --report c.html";
    let told = place.run(compared).with_code(0);
    let words: Vec<&str> = told.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("fitted to 40 rows, tested on test.csv"), "{told:?}");
    assert!(
        told.stdout.contains("one split has no spread") && !told.stdout.contains("--folds"),
        "{told:?}"
    );
    assert!(std::fs::read_to_string(place.path("c.html")).unwrap().contains("tested on test.csv"));
    for (line, code, told) in [
        ("evaluate --method kernel-ridge --data train.csv --test fault.csv", 1, "category `green`"),
        ("evaluate --method kernel-ridge --data train.csv --test gone.csv", 4, "gone.csv"),
        ("evaluate --method kernel-ridge --data train.csv --test test.csv --folds 3", 2, "--folds"),
        (
            "compare --methods majority,mean --data train.csv,test.csv --test test.csv",
            2,
            "one file",
        ),
        ("evaluate m --data test.csv --test test.csv", 2, "--test"),
        ("evaluate --method kernel-ridge --data train.csv --metric rmse", 2, "accuracy"),
        ("evaluate --method kernel-ridge --data train.csv --metric pinball", 2, "half of mae"),
        ("evaluate --method kernel-ridge --data train.csv --report -", 1, "name a file"),
        ("evaluate --method kernel-ridge --data rows.json --skip 1", 1, "no delimited text"),
    ] {
        let ended = place.run(line).with_code(code);
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
    // A metric that the rows do not define says so.
    let one =
        place.run("evaluate --method kernel-ridge --data train.csv --test one.csv").with_code(0);
    assert!(one.stderr.contains("`auc` is not defined on 1 of 1 test part"), "{one:?}");
    let one = place.run("evaluate m --data one.csv").with_code(0);
    assert!(one.stderr.contains("`auc` is not defined on 1 of 1 test part"), "{one:?}");
    // What the fit did not see is let go where that is asked for.
    let zeros = place.run("evaluate m --data fault.csv --unknown zeros --json").with_code(0).json();
    assert_eq!(zeros["test_rows"], 20);
    let skipped =
        place.run("evaluate m --data fault.csv --unknown skip --json").with_code(0).json();
    let green = part(&all, 40, 60).matches("blue").count();
    assert_eq!(skipped["test_rows"].as_u64(), Some(20 - green as u64));
}

/// Each row once, by a fit that had not seen it: the accuracy of the file is the accuracy of the table.
/// Rows that can be divided in one way are divided once: a repeat would count the same splits as new ones.
#[test]
fn leaving_each_out_is_done_once() {
    let mut text = "g,x,y\n".to_owned();
    for row in 0..12 {
        writeln!(text, "g{},{},{:.3}", row / 3, row % 5, (f64::from(row) * 0.618).sin()).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    for (split, folds) in [("--folds 12 --drop g", 12), ("--groups g --folds 4", 4)] {
        let line = format!("evaluate --method kernel-ridge --data t.csv {split}");
        let found = place.run(&format!("{line} --json")).with_code(0).json();
        assert_eq!(found["splits"].as_array().unwrap().len(), folds, "{found}");
        let told = place.run(&format!("{line} --repeats 2")).with_code(2).stderr;
        assert!(told.contains("`repeats` is 2; it must be 1: "), "{told}");
    }
    // Folds that are drawn once have the plain interval, and say so.
    let line = "evaluate --method kernel-ridge --data t.csv --drop g --folds 3";
    for (repeats, by) in [(1, "t over the folds, drawn once"), (2, "corrected resampled t")] {
        let told = place.run(&format!("{line} --repeats {repeats}")).with_code(0).stdout;
        assert!(told.contains(by), "{told}");
    }
}

/// The class that is looked for divides no row in another way.
#[test]
fn the_positive_class_leaves_the_splits_alone() {
    let place = place_with(&[("rare.csv", &rare(60))]);
    let line = "evaluate --method majority --data rare.csv --holdout 0.3 --predictions";
    let rows = |class: &str| {
        place.run(&format!("{line} of-{class}.csv --positive {class}")).with_code(0);
        let text = std::fs::read_to_string(place.path(&format!("of-{class}.csv"))).unwrap();
        let lines: Vec<String> =
            text.lines().filter_map(|line| Some(line.split(',').next()?.to_owned())).collect();
        lines
    };
    assert_eq!(rows("rare"), rows("usual"));
}

/// The only row of one of two classes trains wherever rows are held out.
#[test]
fn a_rare_row_is_tuned_and_calibrated_with_others() {
    let mut one = "x,z,kind\n".to_owned();
    for row in 0..40 {
        let kind = if row == 0 { "rare" } else { "usual" };
        writeln!(one, "{row}.5,{},{kind}", row * row % 7).unwrap();
    }
    let two = one.replacen("1.5,1,usual", "1.5,1,rare", 1);
    let three =
        one.replacen("2.5,4,usual", "2.5,4,other", 1).replacen("3.5,2,usual", "3.5,2,other", 1);
    let place = place_with(&[("one.csv", &one), ("two.csv", &two), ("three.csv", &three)]);
    for line in [
        "tune --method krr --data one.csv --budget 3",
        "fit --method svm --data one.csv --tune --budget 4 --out m --force",
        "evaluate --method svm --data two.csv --folds 5 --repeats 1 --tune --budget 3",
        "evaluate --method svm --data two.csv --folds 2 --repeats 1 --tune --budget 3",
        "fit --method krr --data one.csv --set cap=5 --tune --budget 2 --out m --force",
        "evaluate --method svm --data three.csv --folds 3 --repeats 1 --calibrate",
    ] {
        place.run(line).with_code(0);
    }
    let told = place.run("evaluate --method svm --data one.csv --calibrate").with_code(2).stderr;
    assert!(told.contains("a class has one of 32 training rows"), "{told}");
}

/// Where the target does not vary in a training part, that value is what is predicted.
#[test]
fn a_constant_training_part_predicts_its_value() {
    let mut text = "day,x,y\n".to_owned();
    for day in 0..30 {
        let y = if day < 16 { "0.5".to_owned() } else { format!("{day}.25") };
        writeln!(text, "{day},{},{y}", day * day % 11).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    let found =
        place.run("compare --methods krr,mean,gp,svr --data t.csv --time day --folds 3 --json");
    assert!(found.stderr.contains("target `y` is 0.5 in all rows of a training part"), "{found:?}");
    assert!(found.with_code(0).json()["methods"].as_array().unwrap().len() == 4);
}

/// A class of one row trains only; the others have an area under their curves.
#[test]
fn a_class_of_one_row_takes_no_metric_away() {
    let text = toys(60) + "0.5,9.0,red,sphere\n";
    let place = place_with(&[("toys.csv", &text)]);
    let found = place.run("evaluate --method gaussian-svm --data toys.csv --folds 3 --json");
    let found = found.with_code(0).json();
    assert!(found["estimates"]["auc"]["std"].is_number(), "{found}");
}

/// A column that divides the rows so that a part trains on one class says so, with what to do.
#[test]
fn a_part_that_trains_on_one_class_is_refused() {
    let mut text = "day,half,x,kind\n".to_owned();
    for day in 0..40 {
        let (half, kind) = if day < 20 { ("first", "a") } else { ("second", "b") };
        writeln!(text, "{day},{half},{},{kind}", day % 7).unwrap();
    }
    let place = place_with(&[("days.csv", &text)]);
    for command in ["evaluate --method kernel-ridge", "compare --methods kernel-ridge,majority"] {
        let line = format!("{command} --data days.csv");
        let told = place.run(&format!("{line} --time day --folds 3")).with_code(2).stderr;
        assert!(
            told.contains("`time` is `day`, and split 1 of 3 trains on class `a` alone"),
            "{told}"
        );
        // Its remedy.
        assert!(told.contains("--holdout 0.2"), "{told}");
        place.run(&format!("{line} --time day --holdout 0.2")).with_code(0);
        let told = place.run(&format!("{line} --groups half --folds 2")).with_code(2).stderr;
        assert!(told.contains("`groups` is `half`") && told.contains("left out"), "{told}");
    }
    let told = place
        .run("evaluate --method majority --data days.csv --groups half,day")
        .with_code(2)
        .stderr;
    assert!(told.contains("has no column `half,day` (--groups)"), "{told}");
}

#[test]
fn predictions_of_held_out_rows_are_written() {
    let place = place_with(&[("toys.csv", &toys(60)), ("rare.csv", &rare(90))]);
    let line =
        "evaluate --method gaussian-svm --data toys.csv --folds 5 --repeats 1 --json --calibrate";
    let found = place.run(&format!("{line} --predictions p.csv")).with_code(0).json();
    let text = std::fs::read_to_string(place.path("p.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("line,kind,prediction,p(ball),\"p(box, big)\",p(cone)"));
    let rows: Vec<String> = lines.map(|line| line.replace("\"box, big\"", "box")).collect();
    let fields: Vec<Vec<&str>> = rows.iter().map(|row| row.split(',').collect()).collect();
    let numbers: Vec<usize> = fields.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(numbers, (2..62).collect::<Vec<_>>());
    let right = fields.iter().filter(|row| row[1] == row[2]).count() as f64 / 60.0;
    assert!((right - found["metrics"]["accuracy"].as_f64().unwrap()).abs() < 1e-12);
    for row in &fields {
        let sum: f64 = row[3..].iter().map(|share| share.parse::<f64>().unwrap()).sum();
        assert!(row.len() == 6 && (sum - 1.0).abs() < 1e-9, "{row:?}");
    }
    place.run(&format!("{line} --predictions p.csv")).with_code(2);
    place.run(&format!("{line} --predictions p.csv --force")).with_code(0);
    // Of numbers, and without probabilities.
    let line = "evaluate --method kernel-ridge --data toys.csv --target size --holdout 0.25 --predictions q.csv";
    place.run(line).with_code(0);
    let text = std::fs::read_to_string(place.path("q.csv")).unwrap();
    assert!(text.starts_with("line,size,prediction\n") && text.lines().count() == 16, "{text}");
}

/// What is written nowhere, and what a person of another library types, is named.
#[test]
fn faults_name_the_folder_the_output_and_the_setting() {
    let place = place_with(&[
        ("rows.txt", "1 1:0.5 3:2\n-1 2:1\n1 1:1\n-1 3:4\n"),
        ("toys.csv", &toys(30)),
    ]);
    let mut piped = place.command("fit --method krr --data -");
    piped.env("TMPDIR", place.path("gone")).stdin(std::process::Stdio::null());
    let told = String::from_utf8_lossy(&piped.output().unwrap().stderr).into_owned();
    assert!(told.contains("temporary folder") && told.contains("set TMPDIR"), "{told}");
    if let Ok(full) = std::fs::File::create("/dev/full") {
        let output = place.command("list methods").stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("standard output: "), "{told}");
    }
    for (line, told) in [
        ("fit --method krr --data rows.txt", "--format svmlight"),
        ("fit --method svm --data toys.csv --set C=2", "did you mean `cost`?"),
        (
            "fit --method svm --data toys.csv --set gamma=2",
            "did you mean `std` (its square is 2 gamma)?",
        ),
    ] {
        let ended = place.run(line);
        assert!(ended.code != Some(0) && ended.stderr.contains(told), "{line}: {ended:?}");
    }
    place.run("fit --method krr --data toys.csv --set lambda=.5 --out m").with_code(0);
}

/// Fraud is rare and comes before `ok`: what ranks rows is of the class that was named.
#[test]
fn the_positive_class_is_named() {
    let mut text = "x,patient,kind\n".to_owned();
    for row in 0..120 {
        let fraud = row % 10 == 0;
        let x = f64::from(row * 37 % 120) / 60.0 + if fraud { 0.8 } else { 0.0 };
        writeln!(text, "{x:.3},p{},{}", row / 5, if fraud { "fraud" } else { "ok" }).unwrap();
    }
    let place = place_with(&[("f.csv", &text)]);
    let line = "evaluate --method kernel-ridge --data f.csv --drop patient --json";
    let score = |more: &str| {
        let found = place.run(&format!("{line} {more}")).with_code(0);
        let json = found.json();
        let of = |name: &str| json["metrics"][name].as_f64().unwrap();
        (of("average-precision"), of("auc"), json["classes"].clone(), found.stderr)
    };
    let (usual, named) = (score(""), score("--positive fraud"));
    assert!(usual.0 > 0.9 && named.0 < 0.8, "{usual:?} {named:?}");
    // The order of the classes changes the folds a little.
    assert!((usual.1 - named.1).abs() < 0.05, "{usual:?} {named:?}");
    assert_eq!(named.2, serde_json::json!(["ok", "fraud"]));
    assert!(usual.3.contains("--positive fraud") && !named.3.contains("--positive"), "{usual:?}");
    let wrong = place.run(&format!("{line} --positive frod")).with_code(2).stderr;
    assert!(wrong.contains("its target has `fraud` and `ok`"), "{wrong}");
    // The page marks the best of each metric, by the larger or the smaller.
    place
        .run("compare --methods kernel-ridge,majority --data f.csv --drop patient --positive fraud --report c.html")
        .with_code(0);
    let page = std::fs::read_to_string(place.path("c.html")).unwrap();
    let majority =
        page.split("<tr").find(|row| row.contains("majority class") || row.contains(">majority<"));
    assert!(!majority.unwrap().contains("<strong>"), "{majority:?}");
    // A column that repeats an identifier.
    let grouped = place.run("evaluate --method kernel-ridge --data f.csv --categorical patient");
    assert!(grouped.with_code(0).stderr.contains("--groups patient"));
    let apart = place.run("evaluate --method kernel-ridge --data f.csv --groups patient");
    assert!(!apart.with_code(0).stderr.contains("--groups"));
    // Decision values, of rows to predict and of held-out ones.
    place.run("fit --method gaussian-svm --data f.csv --drop patient --out m").with_code(0);
    let told = place.run("predict m --data f.csv --drop patient --scores").with_code(0).stdout;
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("prediction,score(fraud),score(ok)"));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [fraud, ok] = [1, 2].map(|at| fields[at].parse::<f64>().unwrap());
        assert_eq!(fields[0], if fraud >= ok { "fraud" } else { "ok" }, "{line}");
    }
    place
        .run("evaluate --method gaussian-svm --data f.csv --drop patient --predictions p.csv")
        .with_code(0);
    let text = std::fs::read_to_string(place.path("p.csv")).unwrap();
    assert!(text.starts_with("line,kind,prediction,score(fraud),score(ok)\n"), "{text}");
}

/// A mean over the classes that a part happens to have is another quantity.
#[test]
fn metrics_over_classes_count_all_folds_where_a_part_lacks_one() {
    let mut text = "day,x,kind\n".to_owned();
    for row in 0..60 {
        // The rare class comes in the first groups only.
        let kind = if row < 20 && row % 4 == 0 { "rare" } else { "usual" };
        writeln!(text, "g{},{:.3},{kind}", row / 10, (f64::from(row) * 0.7).sin()).unwrap();
    }
    let place = place_with(&[("days.csv", &text)]);
    let line =
        "evaluate --method majority --data days.csv --groups day --folds 6 --repeats 1 --json";
    let found = place.run(line).with_code(0).json();
    // Majority says `usual` everywhere: precision 55/60 and 0, recall 1 and 0.
    let f1 = 2.0 * (55.0 / 60.0) / (55.0 / 60.0 + 1.0) / 2.0;
    for (metric, value) in [
        ("f1", f1),
        ("precision", 55.0 / 120.0),
        ("balanced-accuracy", 0.5),
        ("accuracy", 55.0 / 60.0),
    ] {
        let mean = found["metrics"][metric].as_f64().unwrap();
        assert!((mean - value).abs() < 1e-12, "{metric}: {mean} {value}");
    }
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("balanced accuracy, precision and F1 count the rows of all folds"),
        "{notes}"
    );
    // Tuning looks at the parts that have both classes.
    let line = "evaluate --method kernel-ridge --data days.csv --groups day --folds 6 --repeats 1 --metric auc \
                --tune --budget 3 --json";
    let tuned = place.run(line).with_code(0).json();
    let auc = tuned["metrics"]["auc"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&auc), "{auc}");
}

#[test]
fn three_classes_have_an_area_and_an_average_precision() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    let line = "evaluate --method gaussian-svm --data toys.csv --holdout 0.4 --json";
    let found = place.run(line).with_code(0).json();
    for metric in ["auc", "average-precision"] {
        let estimate = &found["estimates"][metric];
        let mean = estimate["mean"].as_f64().unwrap();
        assert!((0.9..=1.0).contains(&mean), "{metric}: {found}");
    }
    let by: BTreeMap<&str, f64> =
        [("recall", 0.0), ("average-precision", 0.0), ("auc", 0.0)].into();
    for metric in by.keys() {
        let line =
            format!("compare --methods svm,krr --data toys.csv --metric {metric} --holdout 0.4");
        let told = place.run(&line).with_code(0).stdout;
        let name = if *metric == "recall" { "balanced-accuracy" } else { metric };
        assert!(told.contains(name), "{told}");
    }
}

/// A table as a spreadsheet in many countries writes it.
#[test]
fn a_decimal_comma_is_read_by_every_command() {
    let points = toys(60);
    let semicolons = points.replace("\"box, big\"", "box").replace(',', ";").replace('.', ",");
    let place =
        place_with(&[("de.csv", &semicolons), ("en.csv", &points.replace("\"box, big\"", "box"))]);
    let refused = place.run("fit --method krr --data de.csv --out m").with_code(1);
    assert!(refused.stderr.contains("a number with a comma"), "{refused:?}");
    let scores = |line: &str| place.run(line).with_code(0).json()["metrics"].clone();
    let line = "evaluate --method krr --folds 3 --json --data";
    assert_eq!(scores(&format!("{line} de.csv --decimal ,")), scores(&format!("{line} en.csv")));
    place.run("fit --method krr --data de.csv --decimal , --out m").with_code(0);
    let of = |name: &str| place.run(&format!("predict m --data {name}")).with_code(0).stdout;
    assert_eq!(of("de.csv --decimal ,"), of("en.csv"));
}
