//! A user's own file, from fit to page: what works, and what is said where it does not.

use crate::browser::{browse, hold_to_the_law};
use crate::place::{Ended, Place};
use crate::protocol::{Page, hold_to_the_reader};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

/// Three kinds of toys by size, weight and colour; the kinds' names need quotes in CSV.
fn toys(rows: usize) -> String {
    let mut text = "size,weight,colour,kind\n".to_owned();
    for i in 0..rows {
        let (kind, size, colour) =
            [("\"box, big\"", 5.0, "red"), ("ball", 1.0, "blue"), ("cone", -3.0, "red")][i % 3];
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let (size, weight) = (size + 0.5 * wave(31), 10.0 + 3.0 * wave(17) + size);
        writeln!(text, "{size:.3},{weight:.3},{colour},{kind}").unwrap();
    }
    text
}

fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        std::fs::write(place.path(name), text).unwrap();
    }
    place
}

#[test]
fn a_fit_that_does_not_converge_says_so_everywhere() {
    let mut text = "x,y\n".to_owned();
    for i in 0..80 {
        // Every row twice, with different targets.
        writeln!(text, "{},{}", i % 40, (f64::from(i) * 2.399).sin()).unwrap();
    }
    let place = place_with(&[("twice.csv", &text)]);
    let method = "kernel-ridgeless --set solver=iterative --set landmarks=10";
    let fit = place.run(&format!("fit --method {method} --data twice.csv --out twice.model"));
    let fit = fit.with_code(0);
    assert!(fit.stderr.contains("kernel-ridgeless: not converged: residual"), "{fit:?}");
    let data = "--data twice.csv --target y --folds 2 --repeats 1";
    let scored = place.run(&format!("evaluate --method {method} {data} --json")).with_code(0);
    assert!(scored.stderr.contains("not converged"), "{scored:?}");
    let notes = scored.json()["notes"].to_string();
    assert_eq!(notes.matches("not converged").count(), 2, "{notes}");
    let method = method.replacen(' ', ",mean ", 1);
    let compared = place.run(&format!("compare --methods {method} {data}"));
    assert!(compared.stderr.contains("kernel-ridgeless, split 1 of 2: not converged"));
}

/// The settings that are named are those of the method, and what a fit of unknown residual leaves is a model.
#[test]
fn what_to_do_about_an_open_end_is_said_in_the_words_of_the_method() {
    let mut text = "x,z,kind\n".to_owned();
    for i in 0..60 {
        let (x, z) = ((f64::from(i) * 0.618).sin(), (f64::from(i) * 2.399).sin());
        writeln!(text, "{x},{z},{}", if x * z > 0.0 { "a" } else { "b" }).unwrap();
    }
    let place = place_with(&[("toys.csv", &text)]);
    let line = "fit --method dank --set steps=1 --data toys.csv --out m";
    let fit = place.run(line).with_code(0);
    let said = "not converged after 1 iteration; take more `steps`, or a larger `tolerance`";
    assert!(fit.stderr.contains(said), "{fit:?}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains(said), "{info}");
    place.run("predict m --data toys.csv").with_code(0);
}

/// Of 90 rows only two are different: what the solution leaves out is said where it is told of.
#[test]
fn a_solution_of_lower_rank_says_so() {
    let mut text = "x,y\n".to_owned();
    for i in 0..90 {
        writeln!(text, "{},{}.5", i % 2, i % 5).unwrap();
    }
    let place = place_with(&[("twice.csv", &text)]);
    let line = "fit --method kernel-ridge --data twice.csv --out m --task regression";
    let fit = place.run(&format!("{line} --set lambda=0")).with_code(0).stdout;
    assert!(fit.contains("solved: rank 2 of 90: what is at or below"), "{fit}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains("solved         rank 2 of 90: what is at or below"), "{info}");
    let fit = place.run(&format!("{line} --force --set lambda=0.1")).with_code(0).stdout;
    assert!(!fit.contains("solved:"), "{fit}");
}

/// Numbers beyond those of the fit are said with the column and the width; frequencies that ran away, as
/// such; and no rate is blamed for what it has nothing to do with.
#[test]
fn what_overflows_is_said_with_its_column_and_the_width() {
    let mut text = "near,far,y\n".to_owned();
    for i in 0..40 {
        let wave = |k: u32| (f64::from(i * k) * 0.618).sin();
        writeln!(text, "{},{}e200,{}", wave(31), wave(17), wave(31) + wave(17)).unwrap();
    }
    let place = place_with(&[("far.csv", &text), ("near.csv", &text.replace("e200", ""))]);
    for method in ["rf-sgd", "rftk", "kernel-ridge"] {
        let line = format!("fit --method {method} --data far.csv --scale none --out m");
        let told = place.run(&line).with_code(1).stderr;
        assert!(told.contains("overflow") && told.contains("column `far`"), "{told}");
        assert!(told.contains("`std` is 0.707") && told.contains("scale the inputs"), "{told}");
    }
    let rftk = "fit --method rftk --set features=50 --set epochs=5 --data near.csv --out m --force";
    let told = place.run(&format!("{rftk} --set std=1e60")).with_code(1).stderr;
    assert!(told.contains("`std` is 1e60") && !told.contains("rate"), "{told}");
    let told = place.run(&format!("{rftk} --set frequency_rate=1e30")).with_code(0).stderr;
    assert!(told.contains("are cosines of angles so large"), "{told}");
    assert!(told.contains("--set frequency_rate="), "{told}");
    assert!(!place.run(rftk).with_code(0).stderr.contains("cosines"));
}

/// Small and quick, but a fit.
const QUICK: &str = "--set features=64 --set epochs=5";

#[test]
fn a_model_is_fitted_told_about_evaluated_and_predicts_the_labels_as_they_were() {
    let place = place_with(&[
        ("toys.csv", &toys(90)),
        ("new.csv", "size,weight,colour\n5.1,15,red\n0.9,11,blue\n"),
    ]);
    let fit = place
        .run(&format!("fit --method askl --data toys.csv {QUICK} --out toys.model"))
        .with_code(0);
    assert!(fit.stdout.contains("askl fitted to 90 rows of toys.csv"), "{fit:?}");
    let csv = place.run("predict toys.model --data new.csv").with_code(0);
    assert_eq!(csv.stdout, "prediction\n\"box, big\"\nball\n");
    let json = place.run("predict --model toys.model --data new.csv --json").with_code(0).json();
    assert_eq!(json[0]["prediction"], "box, big");
    // The same rows with the target, one thread, and from standard input.
    let all = place.run("predict toys.model --data toys.csv --threads 1").with_code(0).stdout;
    let mut child = place
        .command("predict toys.model --data -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(toys(90).as_bytes()).unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), all);
    let scored = place.run("evaluate toys.model --data toys.csv --json").with_code(0).json();
    assert_eq!(scored["metrics"]["accuracy"], 1.0);
    let info = place.run("info toys.model --json").with_code(0).json();
    assert_eq!(info["method"], "askl");
    assert_eq!(info["data"]["rows"], 90);
    assert_eq!(info["schema"]["target"]["labels"][2], "cone");
    assert_eq!(info["training"]["accuracy"], 1.0);
    assert!(place.run("info toys.model").with_code(0).stdout.contains("colour (2 categories)"));
    // The same words give the same bytes.
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out again.model")).with_code(0);
    let bytes = |name| std::fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("toys.model"), bytes("again.model"));
}

#[test]
fn numbers_are_predicted_in_their_own_units() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    let line = "--data toys.csv --target weight --impute mean";
    place.run(&format!("fit --method kernel-ridge {line} --out w.model")).with_code(0);
    let found = place.run("predict w.model --data toys.csv").with_code(0).stdout;
    let first: f64 = found.lines().nth(1).unwrap().parse().unwrap();
    assert!((10.0..20.0).contains(&first), "{first}");
    let evaluation = place
        .run(&format!("evaluate --method kernel-ridge {line} --holdout 0.3 --json"))
        .with_code(0)
        .json();
    let rmse = evaluation["metrics"]["rmse"].as_f64().unwrap();
    assert!(rmse > 0.0 && rmse < 10.0, "{evaluation}");
    let mean = place.run(&format!("evaluate --method mean {line} --json")).with_code(0).json();
    assert!(mean["estimates"]["rmse"]["interval"][0].is_f64(), "{mean}");
    assert!(mean["metrics"]["r2"].as_f64().unwrap() < 0.1, "{mean}");
    let told = place.run("predict w.model --data toys.csv --proba").with_code(2);
    assert!(told.stderr.contains("no probabilities"), "{told:?}");
}

#[test]
fn probabilities_stand_beside_labels_where_there_are_any() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    place.run("fit --method majority --data toys.csv --out m.model").with_code(0);
    let found = place.run("predict m.model --data toys.csv --proba").with_code(0).stdout;
    assert!(found.starts_with("prediction,p(ball),\"p(box, big)\",p(cone)\nball,0.33"), "{found}");
    let json = place.run("predict m.model --data toys.csv --proba --json").with_code(0).json();
    assert!((json[0]["probabilities"]["cone"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    // Scores that a cross-entropy has fitted are log-odds.
    place
        .run(&format!("fit --method askl --data toys.csv {QUICK} --set loss=cross-entropy --out c"))
        .with_code(0);
    let json = place.run("predict c --data toys.csv --proba --json").with_code(0).json();
    for row in json.as_array().unwrap() {
        let shares: Vec<f64> = row["probabilities"]
            .as_object()
            .unwrap()
            .values()
            .map(|p| p.as_f64().unwrap())
            .collect();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row}");
        let largest = row["probabilities"][row["prediction"].as_str().unwrap()].as_f64().unwrap();
        assert!(shares.iter().all(|&share| share <= largest && share >= 0.0), "{row}");
    }
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out h")).with_code(0);
    let told = place.run("predict h --data toys.csv --proba").with_code(2);
    assert!(told.stderr.contains("fit it again with --set loss=cross-entropy"), "{told:?}");
    // An unknown method is told before an output that exists.
    let slip = place.run("fit --method asql --data toys.csv --out h").with_code(2);
    assert!(slip.stderr.contains("`asql`") && !slip.stderr.contains("exists"), "{slip:?}");
}

#[test]
fn entropies_stand_beside_labels_and_are_those_of_the_probabilities() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    let fit = "--data toys.csv --scale unit-interval --set epochs=30 --out";
    place.run(&format!("fit --method gmce {fit} g")).with_code(0);
    let found = place.run("predict g --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy,embedded-entropy\n"), "{found}");
    let json = place.run("predict g --data toys.csv --proba --entropy --json").with_code(0).json();
    let rows = json.as_array().unwrap();
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(lines.len(), rows.len());
    for (row, line) in rows.iter().zip(lines) {
        let shares = row["probabilities"].as_object().unwrap().values();
        let of = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let expected: f64 = shares.map(|p| of(p.as_f64().unwrap())).sum();
        let said = row["entropy"].as_f64().unwrap();
        assert!((said - expected).abs() < 1e-12 && said <= 3f64.ln() + 1e-12, "{row}");
        let embedded = row["embedded-entropy"].as_f64().unwrap();
        assert!(embedded >= 0.0, "{row}");
        let numbers: Vec<f64> = line.rsplit(',').take(2).map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers, [embedded, said], "{line}");
    }
    // A network's scores are estimates of probabilities, too; log-odds are not.
    place.run(&format!("fit --method cen-1 {fit} c")).with_code(0);
    let found = place.run("predict c --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy,embedded-entropy\n"), "{found}");
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    let found = place.run("predict m --data toys.csv --entropy").with_code(0).stdout;
    assert!(found.starts_with("prediction,entropy\n"), "{found}");
    // Without probabilities there are none.
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out h")).with_code(0);
    let told = place.run("predict h --data toys.csv --entropy").with_code(2);
    assert!(told.stderr.contains("no probabilities"), "{told:?}");
}

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
        ["Which differences are real", "critical difference", "Holm", "<svg", "majority class"]
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
    assert!(folds.stderr.contains("at most the 60 rows") && folds.stdout.is_empty(), "{folds:?}");
}

/// Of one split there is no spread: that is said, with what gives one, and no table stands empty.
#[test]
fn one_split_has_no_test_and_says_why() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let line = "compare --methods kernel-ridge,majority --data toys.csv --holdout 0.3";
    let told = place.run(&format!("{line} --report one.html")).with_code(0).stdout;
    assert!(told.contains("no test: of one split there is no spread"), "{told}");
    assert!(told.contains("--folds 5") && !told.contains("p corrected"), "{told}");
    let page = std::fs::read_to_string(place.path("one.html")).unwrap();
    assert!(page.contains("There is no test: of one split") && !page.contains("p corrected"));
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

/// A file as a spreadsheet writes it: a byte-order mark, semicolons, both ends of line, quotes in
/// names, holes, and a column that counts the rows.
#[test]
fn a_file_from_a_spreadsheet_is_read_and_its_traps_are_named() {
    let mut text = "\u{feff}id;\"size, cm\";\"the \"\"colour\"\"\";kind\r\n".to_owned();
    for row in 0..40 {
        let (size, kind) = if row % 2 == 0 { (row, "\"box; big\"") } else { (row + 100, "ball") };
        let size = if row == 7 { "NA".to_owned() } else { format!("{size}.5") };
        write!(text, "{};{size};\"red, dark\";{kind}\r\n", row + 1).unwrap();
    }
    let place = place_with(&[("sheet.csv", &text), ("comma.csv", "a;b\r\n1,5;x\r\n2,5;y\r\n")]);
    let told = place.run("fit --method kernel-ridge --data sheet.csv --out m").with_code(1);
    assert!(told.stderr.contains("sheet.csv:9: column `size, cm` has no value"), "{told:?}");
    let told = place
        .run("fit --method kernel-ridge --data sheet.csv --impute mean --out m --force")
        .with_code(0);
    assert!(told.stderr.contains("column `id` counts the rows"), "{told:?}");
    let told = place
        .run("fit --method kernel-ridge --data sheet.csv --impute mean --drop id --out m --force")
        .with_code(0);
    assert!(!told.stderr.contains("counts the rows"), "{told:?}");
    let info = place.run("info m").with_code(0).stdout;
    assert!(info.contains("\"size, cm\", \"the \"\"colour\"\"\" (1 category)"), "{info}");
    let said = place.run("predict m --data sheet.csv").with_code(0).stdout;
    assert!(said.starts_with("prediction\nbox; big\nball\n"), "{said}");
    let told = place.run("fit --method majority --data comma.csv --out c").with_code(1);
    assert!(
        told.stderr.contains("column `a` holds `1,5`, a number with a comma; write 1.5"),
        "{told:?}"
    );
}

/// The pages of `compare` and `tune` keep what the report keeps, in the same browser.
#[test]
fn in_a_browser_pages_of_own_data_keep_the_laws_of_every_page() {
    let place = place_with(&[("a.csv", &toys(45)), ("b.csv", &toys(60))]);
    for (line, page) in [
        ("compare --methods kernel-ridge,majority --data a.csv --report one.html", "one.html"),
        (
            "compare --methods kernel-ridge,majority --data a.csv,b.csv --report two.html",
            "two.html",
        ),
        ("tune --method kernel-ridge --data a.csv --budget 3 --report tune.html", "tune.html"),
    ] {
        place.run(line).with_code(0);
        let html = std::fs::read_to_string(place.path(page)).unwrap();
        hold_to_the_law(&html);
        hold_to_the_reader(&html);
    }
}

/// The pages of `evaluate` and `compare` show the test rows: curves and calibration of two classes, curves of each of
/// three against the rest, residuals of numbers, each with words for who cannot see it; on a phone their letters are
/// at least 9 pixels high and nothing of them is cut off.
#[test]
fn in_a_browser_figures_of_the_test_rows_are_read_on_a_phone() {
    let (mut classes, mut numbers) = ("a,b,kind\n".to_owned(), "a,b,y\n".to_owned());
    for i in 0..90 {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if wave(3) + 0.7 * wave(7) > 0.2 { "good" } else { "bad" };
        writeln!(classes, "{:.3},{:.3},{kind}", wave(3), wave(11)).unwrap();
        writeln!(numbers, "{:.3},{:.3},{:.3}", wave(3), wave(11), wave(3) + 0.1 * wave(5)).unwrap();
    }
    let place = place_with(&[("two.csv", &classes), ("three.csv", &toys(60)), ("y.csv", &numbers)]);
    place.run("fit --method rf --data two.csv --out m").with_code(0);
    let curves = ["roc", "precision-recall"];
    for (line, figures, said) in [
        (
            "evaluate --method gaussian-process --data two.csv --folds 3",
            [&curves[..], &["calibration"]].concat(),
            "Share of good found at 10 % false alarms: ",
        ),
        ("evaluate m --data two.csv", curves.to_vec(), "Average precision for good: rf-ridge 0."),
        (
            "compare --methods kernel-ridge,majority --data three.csv --folds 3",
            curves.to_vec(),
            "kernel ridge, cone: 100 %",
        ),
        (
            "compare --methods kernel-ridge,mean --data y.csv --folds 3 --importance --learning-curve",
            vec!["residuals", "learning-curve", "importance"],
            "The middle half of the residuals: kernel ridge from -",
        ),
    ] {
        place.run(&format!("{line} --report page.html --force")).with_code(0);
        let html = std::fs::read_to_string(place.path("page.html")).unwrap();
        assert!(html.contains(said), "{line}: {said}");
        let confusion = html.contains("id=\"confusion\"");
        assert_eq!(confusion, figures[0] != "residuals", "{line}");
        hold_to_the_law(&html);
        if browse(&html, "", "return 1;").is_none() {
            continue;
        }
        let mut page = Page::open(&html);
        page.window(360, 800);
        for figure in figures {
            let svg = format!("document.querySelector('#{figure} svg')");
            let words = page.value(&format!("{svg}.ariaLabel.length"));
            assert!(words.as_u64().unwrap() > 40, "{line}, {figure}: {words} letters");
            let cut = page.value(&format!(
                "{svg}.closest('.scroll').scrollWidth - {svg}.closest('.scroll').clientWidth"
            ));
            assert_eq!(cut, 0, "{line}, {figure}");
            // The letters of ticks are 11 high at full size.
            let scale = page.value(&format!("{svg}.getBoundingClientRect().width / 340"));
            assert!(11.0 * scale.as_f64().unwrap() >= 9.0, "{line}, {figure}: {scale}");
        }
    }
}

/// Two classes of numbers, the second rare: one row in six.
fn rare(rows: usize) -> String {
    let mut text = "x,z,kind\n".to_owned();
    for i in 0..rows {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if i % 6 == 0 { "rare" } else { "usual" };
        let x = wave(3) + if i % 6 == 0 { 1.0 } else { 0.0 };
        writeln!(text, "{x:.3},{:.3},{kind}", wave(11)).unwrap();
    }
    text
}

/// Probabilities of a method that has none are learned from rows held out, kept in the model, and say the truth about
/// as well as they claim; a threshold by balanced accuracy finds the rare class.
#[test]
fn calibration_and_threshold_are_learned_and_kept() {
    let place = place_with(&[("rare.csv", &rare(240)), ("toys.csv", &toys(60))]);
    let fit = "fit --method gaussian-svm --data rare.csv --force --out";
    place.run(&format!("{fit} plain")).with_code(0);
    place.run("predict plain --data rare.csv --proba").with_code(2);
    let fitted =
        place.run(&format!("{fit} m --calibrate --threshold balanced-accuracy")).with_code(0);
    assert!(fitted.stdout.contains("adjusted: probabilities 1/(1 + exp(-("), "{fitted:?}");
    assert!(place.run("info m").with_code(0).stdout.contains("(balanced-accuracy 0."));
    let model = place.run("info m --json").with_code(0).json();
    let sigmoid = &model["adjustment"]["calibration"]["sigmoid"];
    assert!(sigmoid["slope"].as_f64().unwrap() > 0.0, "{model}");
    let at = model["adjustment"]["threshold"]["at"].as_f64().unwrap();
    let predicted = place.run("predict m --data rare.csv --proba --json").with_code(0).json();
    let mut sum = 0.0;
    for row in predicted.as_array().unwrap() {
        let usual = row["probabilities"]["usual"].as_f64().unwrap();
        assert_eq!(row["prediction"] == "usual", usual > at, "{row}");
        sum += usual / 240.0;
    }
    // Five rows in six are usual.
    assert!((sum - 5.0 / 6.0).abs() < 0.05, "{sum}");
    let scored = |rest: &str| {
        let line = format!(
            "evaluate --method gaussian-svm --data rare.csv --folds 4 --repeats 1 --json {rest}"
        );
        place.run(&line).with_code(0).json()["metrics"].clone()
    };
    let (plain, moved) = (scored(""), scored("--threshold balanced-accuracy --calibrate"));
    let balanced = |of: &serde_json::Value| of["balanced-accuracy"].as_f64().unwrap();
    assert!(balanced(&moved) > balanced(&plain), "{moved} {plain}");
    assert!(plain["brier"].is_null() && moved["brier"].is_f64(), "{moved} {plain}");
    // The shares of the classes alone have a Brier score of 2 (1/6) (5/6).
    assert!(moved["brier"].as_f64().unwrap() < 2.0 * 5.0 / 36.0, "{moved}");
    let three = "fit --method kernel-ridge --data toys.csv --force --out t";
    let fitted = place.run(&format!("{three} --calibrate")).with_code(0);
    assert!(fitted.stdout.contains("probabilities softmax("), "{fitted:?}");
    place.run("predict t --data toys.csv --proba").with_code(0);
    for (line, told) in [
        (format!("{three} --threshold f1"), "`threshold` is asked for 3 classes"),
        (
            format!("{fit} b --threshold auc"),
            "must be one of accuracy, balanced-accuracy, f1, precision",
        ),
        (
            "tune --method gaussian-svm --data rare.csv --calibrate".to_owned(),
            "fit, evaluate or compare",
        ),
        (
            format!("{fit} b --method rf-sgd --calibrate --buffer 9").replacen(
                "--method gaussian-svm",
                "",
                1,
            ),
            "in passes",
        ),
    ] {
        let refused = place.run(&line).with_code(2);
        assert!(refused.stderr.contains(told), "{line}: {refused:?}");
    }
}

/// What is missing is the user's choice, and the model keeps it.
#[test]
fn texts_that_are_missing_can_be_named() {
    let text = "size,colour,kind\n1,NA,a\n2,none,b\n-999,NA,a\n4,red,b\n5,NA,a\n6,red,b\n";
    let place = place_with(&[("t.csv", text), ("n.csv", "size,colour\n-999,red\n3,none\n")]);
    let fit = "fit --method kernel-ridge --data t.csv --out m --force";
    let told = place.run(fit).with_code(1).stderr;
    let said =
        "t.csv:2: column `colour` has no value: `NA` is read as missing; make that a category";
    assert!(told.contains(said) && told.contains("(--missing LIST)"), "{told}");
    let told = place.run(&format!("{fit} --missing none,-999")).with_code(1).stderr;
    assert!(
        told.contains("t.csv:3: column `colour` has no value: `none` is read as missing"),
        "{told}"
    );
    let named = "--missing none,-999 --impute mean";
    let fitted = place.run(&format!("{fit} {named}")).with_code(0).stdout;
    // The mean of 1, 2, 4, 5 and 6.
    assert!(
        fitted.contains("filled: `size` in 1 row with 3.6000 (mean), `colour` in 1 row with `NA`"),
        "{fitted}"
    );
    let columns = place.run("info m --json").with_code(0).json()["schema"].clone();
    assert_eq!(columns["columns"][1]["content"]["levels"], json!(["NA", "red"]), "{columns}");
    let predicted = place.run("predict m --data n.csv").with_code(0);
    assert!(predicted.stderr.contains("something was missing in 2 of 2 rows"), "{predicted:?}");
}

/// A fit that takes longer than it may ends and leaves nothing.
#[test]
fn a_fit_stops_at_its_time_limit() {
    let place = place_with(&[("toys.csv", &toys(400))]);
    let line = "fit --method askl --data toys.csv --out m --set epochs=1000000 --max-seconds 0.5";
    let ended = place.run(line).with_code(1);
    assert!(
        ended.stderr.contains("stopped after 0.") && ended.stderr.contains("limit"),
        "{ended:?}"
    );
    assert!(!place.path("m").exists());
    place.run("fit --method askl --data toys.csv --out m --max-seconds 0").with_code(2);
}

/// On a window of 1200 pixels no table is cut, with every metric that there is, and on one of 400 none is
/// wider than what scrolls.
#[test]
fn in_a_browser_all_metrics_stand_beside_each_other() {
    let mut text = "size,weight,kind\n".to_owned();
    for i in 0..80 {
        let wave = |k: usize| ((i * k) as f64 * 0.618).sin();
        let kind = if wave(3) + 0.7 * wave(7) > 0.2 { "good" } else { "bad" };
        writeln!(text, "{:.3},{:.3},{kind}", wave(3), wave(11)).unwrap();
    }
    let place = place_with(&[("noisy.csv", &text)]);
    let methods = "gaussian-process,rf,kernel-ridge,gaussian-svm,majority";
    let line = format!("compare --methods {methods} --data noisy.csv --folds 3 --repeats 1");
    place.run(&format!("{line} --report wide.html")).with_code(0);
    let html = std::fs::read_to_string(place.path("wide.html")).unwrap();
    for head in ["accuracy, %", "auc", "balanced accuracy, %", "brier", "log loss", "mean rank"] {
        assert!(html.contains(&format!(">{head}</button>")), "{head}");
    }
    if browse(&html, "", "return 1;").is_none() {
        return;
    }
    let mut page = Page::open(&html);
    for (width, question) in [
        (
            1200,
            "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth)",
        ),
        (400, "[document.documentElement].filter((all) => all.scrollWidth > all.clientWidth)"),
    ] {
        page.window(width, 900);
        let cut = page.value(&format!("{question}.map((box) => box.ariaLabel ?? 'the page')"));
        assert_eq!(cut, json!([]), "on {width} pixels");
    }
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
    let place = place_with(&[("toys.csv", &toys(150))]);
    for method in ["kernel-ridge", "rf", "gaussian-svm", "askl", "gmce", "rf-sgd"] {
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

#[test]
fn every_format_gives_the_same_model_of_the_same_numbers() {
    let place = place_with(&[
        ("a.csv", "u,v,y\n1,2,a\n2,1,b\n3,5,a\n5,3,b\n"),
        ("b.tsv", "\u{feff}u\tv\ty\r\n1\t2\ta\r\n2\t1\tb\r\n\r\n3\t5\ta\r\n5\t3\tb"),
        ("c.txt", "u;v;y\n1;\"2\";a\n2;1;b\n3;5;a\n5;3;b\n"),
        ("d.svm", "0 1:1 2:2\n1 1:2 2:1\n0 1:3 2:5\n1 1:5 2:3\n"),
    ]);
    let predicted = |data: &str, more: &str| {
        place
            .run(&format!("fit --method kernel-ridge --data {data} {more} --out m --force"))
            .with_code(0);
        place.run(&format!("predict m --data {data} {more}")).with_code(0).stdout
    };
    let csv = predicted("a.csv", "");
    assert_eq!(predicted("b.tsv", ""), csv);
    assert_eq!(predicted("c.txt", "--format semicolon"), csv);
    assert_eq!(predicted("d.svm", ""), csv.replace('a', "0").replace('b', "1"));
}

/// What pandas writes: an index without a name before the columns, and a comma at the end.
#[test]
fn columns_without_names_are_used_and_left_out() {
    let index = |rows: std::ops::Range<usize>| {
        let whole = toys(rows.end);
        let lines: Vec<&str> = whole.lines().collect();
        let rows = rows.map(|row| format!("{row},{}\n", lines[row + 1]));
        format!(",{}\n{}", lines[0], rows.collect::<String>())
    };
    let trailing = toys(30).replace('\n', ",\n");
    let place = place_with(&[("index.csv", &index(0..40)), ("trailing.csv", &trailing)]);
    let told = place.run("fit --method kernel-ridge --data index.csv --out m").with_code(0);
    assert!(told.stderr.contains("column `1` counts the rows"), "{told:?}");
    let all = place.run("predict m --data index.csv").with_code(0).stdout;
    assert_eq!(all.lines().count(), 41);
    place.run("evaluate m --data index.csv").with_code(0);
    // Left out at fit time, it may be there or not.
    place.run("fit --method kernel-ridge --data index.csv --drop 1 --out d").with_code(0);
    std::fs::write(place.path("bare.csv"), toys(40)).unwrap();
    let with = place.run("predict d --data index.csv").with_code(0).stdout;
    assert_eq!(place.run("predict d --data bare.csv").with_code(0).stdout, with);
    place.run("evaluate d --data bare.csv").with_code(0);
    place.run("fit --method kernel-ridge --data trailing.csv --out t").with_code(0);
    let info = place.run("info t --json").with_code(0).json();
    assert_eq!(info["schema"]["target"]["name"], "kind");
    place.run("predict t --data trailing.csv").with_code(0);
    place.run("predict t --data bare.csv").with_code(0);
}

/// A name with a blank or a comma is quoted where it is said, and can be said that way.
#[test]
fn names_are_said_as_they_are_typed() {
    let mut text = "patient id,\"size, cm\",kind\n".to_owned();
    for row in 0..30 {
        writeln!(text, "{row},{}.5,{}", row % 7, ["u", "v"][row % 2]).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    let told = place.run("fit --method majority --data t.csv --out m").with_code(0);
    assert!(told.stderr.contains("--drop 'patient id'"), "{told:?}");
    let mut command = place.command("fit --method majority --data t.csv --out n --json");
    command.args(["--drop", "patient id"]);
    let json = Ended::of(&command.output().unwrap()).with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["name"], "size, cm");
    let mut command = place.command("fit --method majority --data t.csv --out o --json");
    command.args(["--categorical", "size, cm", "--drop", "patient id"]);
    let json = Ended::of(&command.output().unwrap()).with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["content"]["holds"], "categories");
}

#[test]
fn labels_come_back_letter_by_letter() {
    let labels = ["01", "1", "007", "7.0", "9007199254740993", "9007199254740992"];
    let rows = (0..60).map(|row| {
        let class = row % labels.len();
        format!("{},{},{}\n", 10 * class, row as f64 * 0.01, labels[class])
    });
    let text = format!("a,b,y\n{}", rows.collect::<String>());
    let place = place_with(&[("t.csv", &text)]);
    let line = "fit --method kernel-ridge --data t.csv --task classification --out m";
    let told = place.run(line).with_code(0);
    assert!(told.stderr.contains("`01` and `1` are one number and two classes"), "{told:?}");
    let said = place.run("predict m --data t.csv").with_code(0).stdout;
    let expected: Vec<&str> = (0..60).map(|row| labels[row % labels.len()]).collect();
    assert_eq!(said, format!("prediction\n{}\n", expected.join("\n")));
}

/// The model, the page and the predictions go where they were meant to, or nowhere.
#[cfg(unix)]
#[test]
fn a_file_is_written_in_its_place_and_never_in_that_of_another_thing() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let data = toys(30);
    let place = place_with(&[("house.csv", &data), ("old.model", "x")]);
    let line = "fit --method majority --data house.csv --force --out";
    for (out, told) in [
        ("house.csv", "house.csv: is what is read here; name another file"),
        ("./house.csv", "is what is read here"),
        ("/dev/full", "/dev/full: is a device, a pipe or a socket"),
        (".", "is a folder"),
        ("none/m", "there is no such folder"),
    ] {
        let ended = place.run(&format!("{line} {out}")).with_code(2);
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
    place.run("predict house.csv --data house.csv --out house.csv --force").with_code(2);
    let compare = "compare --methods majority,kernel-ridge --data house.csv --report house.csv";
    place.run(&format!("{compare} --force")).with_code(2);
    assert_eq!(std::fs::read_to_string(place.path("house.csv")).unwrap(), data);
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    // A link stays one, and what it leads to is written.
    symlink(place.path("old.model"), place.path("link")).unwrap();
    let mode =
        |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(place.path("old.model"), PermissionsExt::from_mode(0o640)).unwrap();
    place.run(&format!("{line} link")).with_code(0);
    assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert!(std::fs::read(place.path("old.model")).unwrap().len() > 100);
    assert_eq!(mode("old.model"), 0o640, "what is overwritten keeps its permissions");
    symlink("nowhere", place.path("dangling")).unwrap();
    place.run(&format!("{line} dangling")).with_code(2);
    // A new file has the permissions that other programs' files have here.
    place.run(&format!("{line} new.model")).with_code(0);
    std::fs::write(place.path("plain"), "x").unwrap();
    assert_eq!(mode("new.model"), mode("plain"));
    place.run("predict new.model --data house.csv --out p.csv").with_code(0);
    assert_eq!(mode("p.csv"), mode("plain"));
    // A disk that is full is named with the file.
    let ended = place.run("predict new.model --data house.csv --out /dev/full --force");
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// A model is what it is: what is decided when one is fitted is refused beside it, not overheard.
#[test]
fn a_model_is_scored_as_it_is_and_its_own_rows_are_called_so() {
    let place = place_with(&[("toys.csv", &toys(60)), ("more.csv", &toys(75))]);
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    for words in
        ["--folds 3", "--tune", "--impute mean", "--target size", "--holdout 0.5", "--set a=1"]
    {
        let ended = place.run(&format!("evaluate m --data toys.csv {words}")).with_code(2);
        assert!(ended.stderr.contains("cannot be used with"), "{ended:?}");
        place.run(&format!("evaluate --model m --data toys.csv {words}")).with_code(2);
    }
    let told = place.run("evaluate m --data toys.csv --json").with_code(0);
    assert!(told.stderr.contains("is the file that the model was fitted to"), "{told:?}");
    let how = told.json()["splitting"].as_str().unwrap().to_owned();
    assert!(how.ends_with("they are its training rows"), "{how}");
    let told = place.run("evaluate m --data more.csv --threads 1 --json").with_code(0);
    assert!(!told.stderr.contains("fitted to"), "{told:?}");
}

/// Rows that a method leaves out are counted where its scores stand.
#[test]
fn rows_that_are_left_out_are_said() {
    let place = place_with(&[("toys.csv", &toys(90))]);
    let line = "--data toys.csv --set cap=30";
    let told = place.run(&format!("fit --method kernel-ridge {line} --out m")).with_code(0);
    assert!(told.stdout.contains("kernel-ridge fitted to 30 of 90 rows"), "{told:?}");
    let note = "kernel-ridge was fitted to 30 of 90 training rows";
    assert!(told.stderr.contains(note), "{told:?}");
    let json = place
        .run(&format!("evaluate --method kernel-ridge {line} --holdout 0.5 --json"))
        .with_code(0)
        .json();
    assert!(json["notes"][0].as_str().unwrap().contains("to 30 of 45 training rows"), "{json}");
    let page = "compare --methods gaussian-svm,kernel-ridge --folds 2 --repeats 1 --report c.html";
    let told = place.run(&format!("{page} {line}")).with_code(0);
    assert!(told.stderr.contains("kernel-ridge was fitted to 30 of 45"), "{told:?}");
    let page = std::fs::read_to_string(place.path("c.html")).unwrap();
    assert!(page.contains("kernel-ridge was fitted to 30 of 45 training rows"));
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
    assert!(told.stderr.contains("class `once` has a single row"), "{told:?}");
    assert_eq!(told.json()["test_rows"], 8);
    for method in ["kernel-ridge", "gaussian-svm", "majority"] {
        place.run(&format!("evaluate --method {method} --data two.csv --json")).with_code(0);
        place.run(&format!("evaluate --method {method} --data two.csv --holdout 0.1")).with_code(0);
    }
}

/// What no machine has memory for is refused before anything is allocated.
#[test]
fn what_does_not_fit_is_refused() {
    let place = place_with(&[("toys.csv", &toys(30))]);
    for method in ["askl", "rf-sgd", "rf", "rftk", "rf-ridgeless"] {
        for (size, more) in [("100000000000", ""), ("1000000000000", "--buffer 20")] {
            let line =
                format!("fit --method {method} --data toys.csv --set features={size} {more}");
            let ended = place.run(&line);
            assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
            assert!(ended.stderr.contains("of memory, where"), "{line}: {ended:?}");
        }
    }
    let failing = place.run(
        "compare --methods askl,majority --data toys.csv --set features=1000000000000 --folds 2",
    );
    assert!(failing.stderr.contains("askl failed: needs"), "{failing:?}");
}

/// Words, the status that they end with, and what is said.
const REFUSED: &[(&str, i32, &str)] = &[
    ("fit --method majority --data constant.csv", 1, "`x` in all 3 rows"),
    ("fit --method mean --data level.csv --task regression", 1, "2.5 in all 3 rows"),
    (
        "fit --method majority --data lost.csv",
        1,
        "lost.csv:3: the target (column `y`) is missing; remove the row",
    ),
    (
        "fit --method majority --data text.csv",
        1,
        "text.csv:3: `two` in column `a` is not a finite number",
    ),
    ("fit --method majority --data infinite.csv", 1, "infinite.csv:3: `inf` in column `a`"),
    (
        "fit --method majority --data hole.csv",
        1,
        "hole.csv:3: column `a` has no value; fill it (--impute",
    ),
    (
        "fit --method majority --data ragged.csv",
        1,
        "ragged.csv:3: has 1 field, but the first row has 2: give it the others",
    ),
    ("fit --method majority --data open.csv", 1, "open.csv:2: opens a quote that never closes"),
    ("fit --method majority --data empty.csv", 1, "empty.csv: holds no rows"),
    ("fit --method majority --data bytes.csv", 1, "bytes.csv:2: holds a byte 0"),
    ("fit --method majority --data one.csv", 1, "one.csv"),
    ("fit --method majority --data words.json", 1, "is JSON, which is not read; write it as CSV"),
    ("fit --method majority --data gone.csv", 4, "gone.csv: No such file"),
    ("fit --method majority --data toys.csv --target hue", 2, "has no column `hue` (--target)"),
    ("fit --method majority --data toys.csv --drop hue", 2, "has no column `hue` (--drop)"),
    (
        "fit --method majority --data toys.csv --target size",
        2,
        "`majority` cannot do regression; these can: ",
    ),
    ("fit --method askk --data toys.csv", 2, "unknown method `askk`"),
    ("fit --method askl --data toys.csv --set featurs=9", 2, "featurs"),
    ("fit --method askl --data toys.csv --set features=0", 2, "features"),
    ("fit --method askl --data toys.csv --set features", 2, "NAME=VALUE"),
    ("fit --method askl --data toys.csv --scale minmax", 2, "minmax"),
    ("fit --method askl --data toys.csv --tune --budget 0", 2, "`budget` is `0`"),
    ("tune --method askl --data toys.csv --budget 0s", 2, "`budget` is `0s`"),
    (
        "fit --method majority --data toys.csv --out exists.model",
        2,
        "exists; choose another name, or overwrite it with --force",
    ),
    ("predict toys.model --data toys.csv --out exists.model", 2, "--force"),
    ("compare --methods majority,kernel-ridge --data toys.csv --report exists.model", 2, "--force"),
    ("compare --methods majority --data toys.csv", 2, "at least two"),
    ("compare --methods majority,majority --data toys.csv", 2, "named once"),
    ("evaluate --method majority --data toys.csv --folds 1", 2, "`folds` is 1"),
    ("evaluate --method majority --data toys.csv --folds 13", 2, "at most the 12 rows"),
    ("evaluate --method majority --data singles.csv", 2, "every class has a single row"),
    ("fit --method majority --data toys.csv --out /proc/a.model", 1, "no file can be made in"),
    ("fit --method majority --data packed.csv.xz --out a.model", 1, "does not begin as xz does"),
    ("evaluate --method majority --data toys.csv --holdout 1.5", 2, "above 0 and below 1"),
    ("evaluate --method majority --data toys.csv --repeats 0", 2, "`repeats` is 0"),
    ("evaluate --data toys.csv", 2, "--method"),
    ("predict toys.model --data fewer.csv", 1, "has no column `weight`"),
    ("predict toys.model --data green.csv", 1, "category `green` in column `colour` was not seen"),
    ("predict wide.model --data toys.csv", 1, "has no column `c0`"),
    ("predict gone.model --data toys.csv", 4, "gone.model: No such file"),
    ("predict exists.model --data toys.csv", 1, "exists.model is no model that can be used"),
    ("info toys.csv", 1, "toys.csv is no model"),
    ("info gone.model", 4, "gone.model: No such file"),
    ("evaluate gone.model --data toys.csv", 4, "gone.model: No such file"),
    ("compare --methods majority,mean --data toys.csv,gone.csv", 4, "gone.csv: No such file"),
    ("tune --method kernel-ridge --data gone.csv", 4, "gone.csv: No such file"),
    ("bound askl-rate --model gone.model", 4, "gone.model: No such file"),
    ("bound askl-rate --from gone.json", 4, "gone.json: No such file"),
    ("fit --method majority --data toys.csv --drop kind", 2, "it is the target"),
    (
        "fit --method mean --data thousand.csv --task regression",
        1,
        "write 12.345 if the comma begins the decimals, 12345 if it stands between thousands",
    ),
    ("evaluate toys.model --data green.csv", 1, "has no column `kind`, the target"),
];

/// Each bad input ends with its status and says what to do.
#[test]
fn what_cannot_be_used_is_named_with_its_place_and_a_remedy() {
    let good = toys(12);
    let wide: Vec<String> = (0..100_001).map(|at| format!("c{at}")).collect();
    let wide = format!("{1},y\n{0}1\n{0}2\n{0}1\n{0}2\n", "1,".repeat(100_001), wide.join(","));
    let place = place_with(&[
        ("toys.csv", &good),
        ("constant.csv", "a,y\n1,x\n2,x\n3,x\n"),
        ("singles.csv", "a,y\n1,p\n2,q\n3,r\n4,s\n"),
        ("packed.csv.xz", "a,y\n1,x\n2,z\n"),
        ("level.csv", "a,y\n1,2.5\n2,2.5\n3,2.5\n"),
        ("lost.csv", "a,y\n1,x\n2,\n3,z\n"),
        ("text.csv", "a,y\n1,x\ntwo,z\n3,x\n"),
        ("infinite.csv", "a,y\n1,x\ninf,z\n3,x\n"),
        ("hole.csv", "a,y\n1,x\n,z\n3,x\n"),
        ("ragged.csv", "a,y\n1,x\n2\n"),
        ("open.csv", "a,y\n1,\"x\n2,z\n"),
        ("empty.csv", ""),
        ("bytes.csv", "a,y\n1,\u{0}\n"),
        ("one.csv", "a,y\n1,x\n"),
        ("wide.csv", &wide),
        ("fewer.csv", "size,colour\n1,red\n"),
        ("green.csv", "size,weight,colour\n1,2,green\n"),
        ("words.json", "{}"),
        ("thousand.csv", "a;y\n12,345;1\n1,000;2\n"),
        ("exists.model", "x"),
    ]);
    place.run("fit --method majority --data toys.csv --out toys.model").with_code(0);
    place.run("fit --method majority --data wide.csv --out wide.model").with_code(0);
    for &(line, code, told) in REFUSED {
        let ended = place.run(line);
        assert_eq!(ended.code, Some(code), "`{line}`: {ended:?}");
        assert!(ended.stderr.contains(told), "`{line}` should say {told}: {}", ended.stderr);
        assert!(ended.stdout.is_empty() || line.starts_with("predict"), "`{line}`: {ended:?}");
    }
    assert_eq!(std::fs::read(place.path("exists.model")).unwrap(), b"x", "nothing was overwritten");
    assert!(!place.path("model.safetensors").exists(), "a refused fit leaves nothing");
}

/// What was decided about a file by its look is said, with the flag that decides otherwise.
#[test]
fn guesses_are_said() {
    let years: Vec<String> = (0..12)
        .map(|row| format!("{row}.25,{}.5,{}\n", 2 * row % 7, ["u", "v"][row % 2]))
        .collect();
    let codes: Vec<String> =
        (0..30).map(|row| format!("00{},{row}.5,{}\n", row % 7 + 100, row % 4)).collect();
    let place = place_with(&[
        ("years.csv", &format!("2019,2020,2021\n{}", years.concat())),
        ("words.csv", "red,box\nblue,ball\nred,box\nblue,box\n"),
        ("codes.csv", &format!("zip,size,rooms\n{}", codes.concat())),
        ("sheet.csv", "sep=;\r\na;kind\r\n1;u\r\n2;v\r\n"),
        ("remark.csv", "# 12 May: by hand\na,kind\n1,u\n2,v\n"),
    ]);
    for (words, told) in [
        ("--data years.csv", "years.csv: the first row (2019, 2020, 2021) is taken for names"),
        ("--data years.csv", "say --header no if it is data"),
        ("--data words.csv", "since `red` occurs again below it; say --header yes"),
        ("--data codes.csv", "column `zip` is read as numbers, 00100 as 100;"),
        (
            "--data codes.csv",
            "target `rooms`: 4 different whole numbers in 30 rows (0, 1, 2, 3) are taken for classes",
        ),
        ("--data remark.csv", "remark.csv: a line that begins with # is skipped"),
    ] {
        let ended =
            place.run(&format!("fit --method majority {words} --out m --force")).with_code(0);
        assert!(ended.stderr.contains(told), "{words} should say {told}: {}", ended.stderr);
    }
    // What was said goes away with the answer.
    for words in ["years.csv --header yes", "words.csv --header no"] {
        let line = format!("fit --method majority --data {words} --out m --force");
        let ended = place.run(&line).with_code(0);
        assert!(!ended.stderr.contains("first row"), "{words}: {}", ended.stderr);
    }
    let line = "fit --method majority --data codes.csv --categorical zip --task classification --out m --force";
    let ended = place.run(line).with_code(0);
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    let json =
        place.run("fit --method majority --data sheet.csv --out s --json").with_code(0).json();
    assert_eq!(json["schema"]["columns"][0]["name"], "a");
    assert_eq!(json["data"]["rows"], 2);
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

/// Columns of svmlight are read by their numbers; a file that is numbered in the other way is refused.
#[test]
fn a_model_knows_how_its_columns_are_numbered() {
    let rows = |first: usize, count: usize| -> String {
        let row = |at: usize| format!("{} {first}:{}.5 {}:{}\n", at % 2, at % 5, first + 1, at % 3);
        (0..count).map(row).collect()
    };
    let place = place_with(&[
        ("zero.svm", &rows(0, 40)),
        ("one.svm", &rows(1, 40)),
        ("few.svm", "1 1:2\n"),
        ("marked.svm", "0 0:0 1:2\n0 1:3\n"),
    ]);
    for (name, first) in [("zero", 0), ("one", 1)] {
        let told = place
            .run(&format!("fit --method kernel-ridge --data {name}.svm --out {name}"))
            .with_code(0);
        let expected = format!("columns are numbered from {first}, as in the file (40 of 40 rows");
        assert!(told.stdout.contains(&expected), "{told:?}");
        let info = place.run(&format!("info {name}")).with_code(0).stdout;
        assert!(info.contains(&format!("numbered       from {first}")), "{info}");
        let json = place.run(&format!("info {name} --json")).with_code(0).json();
        assert_eq!(json["schema"]["numbering"]["first"], first);
        let said = place.run(&format!("predict {name} --data {name}.svm")).with_code(0);
        assert!(said.stderr.contains(&format!("read as numbered from {first}")), "{said:?}");
    }
    let told = place.run("predict zero --data one.svm").with_code(1);
    assert!(told.stderr.contains("its columns seem to be numbered from 1"), "{told:?}");
    place.run("evaluate zero --data one.svm").with_code(1);
    let told = place.run("predict one --data zero.svm").with_code(1);
    assert!(told.stderr.contains("number the columns from 1"), "{told:?}");
    // A single row may lack it.
    let told = place.run("predict zero --data few.svm").with_code(0);
    assert!(told.stderr.contains("no row has column 0"), "{told:?}");
    let told = place.run("predict zero --data marked.svm").with_code(0);
    assert!(!told.stderr.contains("no row has"), "{told:?}");
}

/// How much was filled, with what, and which settings were chosen by whom.
#[test]
fn a_model_says_what_was_filled_and_what_was_given() {
    let mut text = "a,colour,y\n".to_owned();
    for row in 0..30 {
        let a = if row % 10 == 3 { String::new() } else { format!("{row}.5") };
        let colour = if row == 4 { "NA" } else { ["red", "red", "blue"][row % 3] };
        writeln!(text, "{a},{colour},{}", ["u", "v"][row % 2]).unwrap();
    }
    let place = place_with(&[("t.csv", &text)]);
    let line = "fit --method kernel-ridge --data t.csv --impute median --set lambda=0.01 --out m";
    let told = place.run(line).with_code(0);
    let filled =
        "filled: `a` in 3 rows with 15.5000 (median), `colour` in 1 row with `red` (most frequent)";
    assert!(told.stdout.contains(filled), "{told:?}");
    let info = place.run("info m").with_code(0).stdout;
    for part in [
        &filled.replace("filled: ", "filled         "),
        "lambda 0.01 (given), ",
        "std 0.",
        "(default)",
        "scaled         standard",
    ] {
        assert!(info.contains(part), "{part}: {info}");
    }
    let json = place.run("info m --json").with_code(0).json();
    assert_eq!(json["chosen"]["given"], serde_json::json!(["lambda"]));
    assert_eq!(json["preparation"]["missing"], serde_json::json!([3, 1]));
    // Complete: each setting of the method is there.
    let listed = place.run("list methods kernel-ridge --json").with_code(0).json();
    for setting in listed["settings"].as_array().unwrap() {
        let name = setting["setting"].as_str().unwrap();
        assert!(json["settings"].as_object().unwrap().contains_key(name), "{name}");
    }
    let said = place.run("predict m --data t.csv").with_code(0);
    assert!(said.stderr.contains("something was missing in 4 of 30 rows"), "{said:?}");
    let said =
        place.run("evaluate --method kernel-ridge --data t.csv --impute mean --json").with_code(0);
    assert!(
        said.stderr.contains("of the training rows: `a` in 3 rows, `colour` in 1 row"),
        "{said:?}"
    );
}

#[test]
fn a_damaged_model_is_refused() {
    let place = place_with(&[("toys.csv", &toys(12))]);
    place.run("fit --method kernel-ridge --data toys.csv --out toys.model").with_code(0);
    let whole = std::fs::read(place.path("toys.model")).unwrap();
    let refused = |bytes: &[u8], told: &str| {
        std::fs::write(place.path("bad.model"), bytes).unwrap();
        let ended = place.run("predict bad.model --data toys.csv").with_code(1);
        assert!(ended.stderr.contains(told), "{ended:?}");
    };
    refused(&whole[..whole.len() - 1], "cut short");
    refused(&whole[..20], "cut short");
    refused(b"", "it is empty");
    let mut edited = whole.clone();
    *edited.last_mut().unwrap() ^= 1;
    refused(&edited, "its check sum does not match");
    // A later major format says so before its header is looked at.
    let format = br#"\"format\":\"1.1\""#;
    let at = whole.windows(format.len()).position(|bytes| bytes == format);
    let at = at.expect("the header is JSON inside JSON") + 13;
    let mut later = whole.clone();
    assert_eq!(&later[at..at + 3], b"1.1");
    later[at] = b'2';
    refused(&later, "has model format 2.1; this program reads 1.x");
    // Sizes that a file only claims are never allocated.
    let mut claimed = whole;
    claimed[..8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    refused(&claimed, "is no model");
}

/// A file above 64 MiB is announced, and `info` reads its header and not its arrays.
#[test]
fn a_large_model_is_announced_and_looked_at_by_its_header() {
    let mut text = String::new();
    for i in 0..90 {
        let wave = (f64::from(i) * 0.618).sin();
        writeln!(text, "{} 1:{wave} 100000:{}", u8::from(wave > 0.0), 1.0 - wave).unwrap();
    }
    let place = place_with(&[("wide.svm", &text)]);
    let fit = place.run("fit --method kernel-ridge --data wide.svm --out m").with_code(0);
    assert!(fit.stderr.contains("m will have 7") && fit.stderr.contains(" MiB"), "{fit:?}");
    let told = place.run("info m").with_code(0).stdout;
    assert!(told.contains("header only; the arrays by `predict`, or here with --check"), "{told}");
    let mut bytes = std::fs::read(place.path("m")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(place.path("m"), &bytes).unwrap();
    assert_eq!(place.run("info m").with_code(0).stdout, told);
    let checked = place.run("info m --check").with_code(1);
    assert!(checked.stderr.contains("its check sum does not match"), "{checked:?}");
    place.run("predict m --data wide.svm").with_code(1);
    bytes.pop();
    std::fs::write(place.path("m"), &bytes).unwrap();
    assert!(place.run("info m").with_code(1).stderr.contains("cut short"));
    // A small one is read whole.
    let few = place_with(&[("toys.csv", &toys(12))]);
    few.run("fit --method kernel-ridge --data toys.csv --out m").with_code(0);
    assert!(few.run("info m").with_code(0).stdout.contains("checked        header and arrays"));
}

/// Noise that an interpolating fit would follow: without a ridge from the user the rows choose one, in
/// memory, in passes and in a search, which begins with it; a ridge that was given holds.
#[test]
fn a_first_run_chooses_its_ridge_by_the_rows() {
    let mut text = "a,b,c,d,e,f,y\n".to_owned();
    let mut many = text.clone();
    for i in 0..240 {
        let wave = |k: u32| (f64::from(i * k) * 0.618).sin();
        for k in [31, 17, 1009, 2003, 3001, 4001] {
            write!(text, "{},", wave(k)).unwrap();
            write!(many, "{},", wave(k)).unwrap();
        }
        let y = wave(31) + 1.5 * wave(7919);
        writeln!(text, "{y}").unwrap();
        writeln!(many, "{}", 1000.0 * y).unwrap();
    }
    let place = place_with(&[("noisy.csv", &text), ("thousandths.csv", &many)]);
    for method in ["kernel-ridge", "rf"] {
        let error = |more: &str| {
            let line = format!("evaluate --method {method} --data noisy.csv --json {more}");
            place.run(&line).with_code(0).json()["metrics"]["rmse"].as_f64().unwrap()
        };
        let (chosen, small) = (error(""), error("--set lambda=1e-6"));
        assert!(chosen < 0.6 * small, "{method}: {chosen}, {small}");
        let line = format!("fit --method {method} --data noisy.csv --out m --force");
        let fit = place.run(&line).with_code(0).stdout;
        assert!(fit.contains("chosen by leave-one-out: lambda 0."), "{fit}");
        // In the target's own unit: the same table in thousandths has an error a million times as large.
        let said = |fit: &str| -> f64 {
            let (_, tail) = fit.split_once("(mean squared error ").unwrap();
            tail.split([')', ';']).next().unwrap().parse().unwrap()
        };
        let line_of_many = line.replace("noisy.csv", "thousandths.csv");
        let many = place.run(&line_of_many).with_code(0).stdout;
        let ratio = said(&many) / said(&fit);
        assert!((ratio / 1e6 - 1.0).abs() < 1e-3, "{method}: {many} {fit}");
        let info = place.run("info m").with_code(0).stdout;
        assert!(info.contains("lambda null (default)"), "{info}");
        let fit = place.run(&format!("{line} --set lambda=0.01")).with_code(0).stdout;
        assert!(!fit.contains("leave-one-out"), "{fit}");
        let fit = place.run(&format!("{line} --set lambda=0.01 --tune --budget 3")).with_code(0);
        assert!(!fit.stdout.contains("leave-one-out"), "{fit:?}");
        let line = format!("tune --method {method} --data noisy.csv --budget 3 --json");
        let tuned = place.run(&line).with_code(0).json();
        assert_eq!(tuned["history"].as_array().unwrap().len(), 3, "{tuned}");
    }
}

/// A first run of hyper-SVR has a `pair_ridge`, which is heeded before `pair_cost`: whoever sets that alone
/// means it, in a fit and in a search; with both, the ridge holds.
#[test]
fn a_setting_that_says_the_same_in_another_way_takes_the_default_away() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let used = |more: &str| {
        let line = format!("fit --method hyper-svr --data toys.csv --out m --force {more}");
        place.run(&line).with_code(0);
        let info = place.run("info m --json").with_code(0).json();
        let told = |name: &str| info["settings"][name].as_f64();
        let pairs = info["facts"]["objective"].as_f64().unwrap();
        (told("pair_ridge"), told("pair_cost"), pairs)
    };
    let plain = used("");
    assert_eq!(plain.0, Some(1e-4));
    let (small, large) = (used("--set pair_cost=1e-3"), used("--set pair_cost=0.1"));
    assert_eq!((small.0, small.1, large.0), (None, Some(1e-3), None));
    let apart = |a: f64, b: f64| (a - b).abs() > 1e-6 * a.abs();
    assert!(apart(plain.2, small.2) && apart(small.2, large.2), "{plain:?} {small:?} {large:?}");
    // Beside its ridge a cost would not be looked at.
    let line = "fit --method hyper-svr --data toys.csv --out m --force";
    let both = place.run(&format!("{line} --set pair_cost=0.1 --set pair_ridge=0.01")).with_code(2);
    assert!(both.stderr.contains("`pair_cost` would do nothing"), "{both:?}");
    let tuned = used("--set pair_cost=0.1 --tune --budget 3");
    assert_eq!((tuned.0, tuned.1), (None, Some(0.1)));
}

/// A setting that another one puts out of use is refused before anything is fitted; where methods share it,
/// the comparison says of which.
#[test]
fn a_setting_that_would_do_nothing_is_refused() {
    let place = place_with(&[("toys.csv", &toys(40))]);
    for (method, given, hangs_on) in [
        ("mce-median", "epochs=10", "`learning` is objective"),
        ("mce-cv", "lambda=0.1", "`learning` is not cross-validation"),
        ("hyper-svr", "lambda=1", "the method is not hyper-svr or hyper-svr-wishart"),
        ("hyper-krr", "cost=3 --set search=folds", "`search` is none"),
        ("sk", "lambda2=1", "the method is askl"),
        ("gaussian-svm", "epsilon=1", "the task is regression"),
        ("cen-1", "masks=one", "`dropout` is not 0"),
    ] {
        for verb in ["fit --out m", "evaluate", "tune --budget 2"] {
            let line = format!("{verb} --method {method} --data toys.csv --set {given}");
            let refused = place.run(&line).with_code(2);
            let words = format!("would do nothing: it counts only where {hangs_on}");
            assert!(refused.stderr.contains(&words), "{line}: {refused:?}");
        }
    }
    let compare = "compare --data toys.csv --folds 2 --repeats 1 --set epochs=3 --methods";
    let both = place.run(&format!("{compare} gmce,mce-median,majority")).with_code(0);
    let all = format!("{}{}", both.stdout, both.stderr);
    assert!(all.contains("`epochs` does nothing in mce-median"), "{all}");
    assert!(all.contains("`epochs` is no setting of majority"), "{all}");
    let none = place.run(&format!("{compare} mce-cv,mce-median")).with_code(2);
    assert!(none.stderr.contains("`epochs` would do nothing"), "{none:?}");
    // A model tells what did nothing in it, in place of a value that looks used.
    place.run("fit --method hyper-krr --data toys.csv --set search=folds --out m").with_code(0);
    let info = place.run("info m").with_code(0).stdout;
    let line = |name: &str| info.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(!line("settings").contains(" cost 1"), "{info}");
    assert!(line("unused").contains("cost, ") && line("facts").contains("chosen-cost"), "{info}");
    // It is listed with what it hangs on, and not at all where it never counts.
    let listed = place.run("list methods mce-median --json").with_code(0).stdout;
    assert!(listed.contains("Only where `learning` is objective."), "{listed}");
    assert!(!place.run("list methods sk").with_code(0).stdout.contains("lambda2"));
}

/// Whoever has read enough closes the pipe, and hears no complaint.
#[test]
fn a_closed_pipe_ends_predictions_quietly() {
    let place = place_with(&[("toys.csv", &toys(3000))]);
    place.run("fit --method majority --data toys.csv --out m").with_code(0);
    for line in ["predict m --data toys.csv", "info m", "evaluate m --data toys.csv --json"] {
        let mut child =
            place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = Ended::of(&child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        assert!(
            !ended.stderr.contains("panicked") && !ended.stderr.contains("roken pipe"),
            "{ended:?}"
        );
    }
}

/// With a buffer for all rows the same model to the last bit; with a small one a model that learned.
#[test]
fn a_file_larger_than_its_buffer_is_read_in_passes() {
    let place = place_with(&[("toys.csv", &toys(300))]);
    let line = format!("--data toys.csv {QUICK}");
    for method in ["rf-sgd", "askl"] {
        place.run(&format!("fit --method {method} {line} --out whole --force")).with_code(0);
        place
            .run(&format!("fit --method {method} {line} --buffer 300 --out passes --force"))
            .with_code(0);
        let bytes = |name| std::fs::read(place.path(name)).unwrap();
        assert_eq!(bytes("whole"), bytes("passes"), "{method}");
        place
            .run(&format!("fit --method {method} {line} --buffer 64 --out small --force"))
            .with_code(0);
        assert_eq!(place.run("info small --json").json()["buffer"], 64);
        let scored = place.run("evaluate small --data toys.csv --json").with_code(0).json();
        assert!(scored["metrics"]["accuracy"].as_f64().unwrap() > 0.95, "{method}: {scored}");
    }
    place
        .run("fit --method rf --data toys.csv --set features=64 --buffer 50 --out rf")
        .with_code(0);
    // More features than rows, which is the default on a small file; and a ridge that is tuned.
    for more in ["", "--set features=400", "--set features=64 --tune --budget 3"] {
        place
            .run(&format!("fit --method rf --data toys.csv --buffer 100 --out rf --force {more}"))
            .with_code(0);
        let scored = place.run("evaluate rf --data toys.csv --json").with_code(0).json();
        assert!(scored["metrics"]["accuracy"].as_f64().unwrap() > 0.95, "{more}: {scored}");
    }
    for (line, code, told) in [
        (
            "fit --method kernel-ridge --data toys.csv --buffer 50",
            1,
            "needs all 300 rows at once, but only 50",
        ),
        ("fit --method rf-sgd --data toys.csv --buffer 0", 2, "`buffer` is 0"),
        (
            "fit --method rf-sgd --data toys.csv --buffer 50 --impute median",
            2,
            "mean where rows are read in passes",
        ),
    ] {
        let ended = place.run(line).with_code(code);
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}

/// A bound of a fitted model, from a file of numbers, and from words, which win.
#[test]
fn a_bound_takes_what_a_model_or_a_file_knows() {
    let place = place_with(&[
        ("toys.csv", &toys(90)),
        ("numbers.json", "{\"trace-norm\": 3, \"outputs\": 4, \"rows\": 100}"),
        ("words.json", "[\"trace-norm\"]"),
    ]);
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out m")).with_code(0);
    let info = place.run("info m --json").json();
    let norm = info["facts"]["trace-norm"].as_f64().unwrap();
    let bound = place.run("bound askl-rate --model m --json").with_code(0).json();
    let expected = norm * (3.0f64 / 90.0).sqrt();
    assert!((bound["value"].as_f64().unwrap() - expected).abs() < 1e-9 * expected, "{bound}");
    place.run("bound askl-rademacher --model m").with_code(0);
    let value = |line: &str| place.run(line).with_code(0).json()["value"].as_f64().unwrap();
    assert!((value("bound askl-rate --from numbers.json --json") - 0.6).abs() < 1e-12);
    assert!((value("bound askl-rate --from numbers.json rows=400 --json") - 0.3).abs() < 1e-12);
    place.run("bound askl-rate --from words.json").with_code(1);

    // Measured on rows: the trace is that of the rows given, the loss is clipped where the bound is.
    place.run("fit --method gmce --data toys.csv --set epochs=20 --out g").with_code(0);
    let on = |line: &str| place.run(line).with_code(0).json();
    let bound = on("bound mce-risk --model g --data toys.csv --json");
    let loss = bound["terms"]["mean loss"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&loss), "{bound}");
    // A model knows its kernel's largest root and the norm of its weights; words win.
    let facts = on("info g --json")["facts"].clone();
    let fact = |name: &str| facts[name].as_f64().unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} and {b}");
    near(value("bound mce-rademacher --model g norm=2 --json"), 4.0 * fact("scale"));
    near(value("bound mce-rademacher --model g --json"), 2.0 * fact("alpha") * fact("norm"));
    near(value("bound mce-rademacher --model g norm=2 sensitivity=3 --json"), 12.0);
    near(bound["terms"]["4e r"].as_f64().unwrap(), 4.0 * 1f64.exp() * fact("complexity"));
    let unknown = place.run("bound mce-rademacher --model m norm=2").with_code(2);
    assert!(unknown.stderr.contains("`sensitivity` is not given"), "{unknown:?}");
    // Without rows the loss is the mean over those of the fit, not the objective's sum.
    let alone = on("bound mce-risk --model g --json");
    near(alone["terms"]["mean loss"].as_f64().unwrap(), fact("loss") / 90.0);
    // A network's objective has 1 for alpha; the theorem wants that of its features.
    let line = "fit --method cen-1 --data toys.csv --set rate=0.1 --set epochs=500 --out c";
    place.run(line).with_code(0);
    let facts = on("info c --json")["facts"].clone();
    let fact = |name: &str| facts[name].as_f64().unwrap();
    assert!(fact("alpha") * fact("norm") > 2.0 * fact("complexity"), "{facts}");
    let bound = on("bound mce-risk --model c --json");
    near(bound["terms"]["4e r"].as_f64().unwrap(), 4.0 * 1f64.exp() * fact("alpha") * fact("norm"));
    assert_eq!(bound["vacuous"], true, "{bound}");
    let clipped = on("bound mce-clipped-risk --model g --data toys.csv epsilon=0.1 --json");
    let share = clipped["terms"]["loss/M"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share) && share > 0.0, "{clipped}");
    // The loss of the fit was clipped elsewhere, or where the theorem does not want it: rows are asked for.
    let told = place.run("bound mce-clipped-risk --model g epsilon=0.1").with_code(2).stderr;
    assert!(told.contains("epsilon = 0.1") && told.contains("--data"), "{told}");
    place.run("bound mce-clipped-risk --model g epsilon=0.1 loss=0.2").with_code(0);
    place
        .run("fit --method gmce --data toys.csv --set epochs=3 --set epsilon=0.9 --out wide")
        .with_code(0);
    let told = place.run("bound mce-risk --model wide").with_code(2).stderr;
    assert!(told.contains("epsilon = 0.9") && told.contains("1/e"), "{told}");
    let measured = on("bound mce-risk --model wide --data toys.csv --json");
    assert_eq!(measured["vacuous"], true, "{measured}");
    let too_large = "bound mce-clipped-risk loss=5 complexity=1 epsilon=0.5 rows=10";
    assert!(place.run(too_large).with_code(2).stderr.contains("at most log(1/epsilon)"));
    let from_fit = value("bound askl-rademacher --model m --json");
    let measured = value("bound askl-rademacher --model m --data toys.csv --json");
    assert!((measured / from_fit - 1.0).abs() < 1e-6, "{measured} and {from_fit}");
    place.run("bound mce-risk --data toys.csv").with_code(2);
    // Other rows than those of the fit are called so; the squared loss has no constant of its own.
    std::fs::write(place.path("other.csv"), toys(60)).unwrap();
    let told = place.run("bound mce-risk --model g --data other.csv").with_code(0);
    assert!(
        told.stderr.contains("other.csv is not the file that the model was fitted to"),
        "{told:?}"
    );
    assert!(place.run("bound mce-risk --model g --data toys.csv").with_code(0).stderr.is_empty());
    place
        .run(&format!(
            "fit --method askl --data toys.csv {QUICK} --target weight --drop kind --out r"
        ))
        .with_code(0);
    let told = place.run("bound askl-excess-risk --model r").with_code(2);
    assert!(told.stderr.contains("squared loss, which has no Lipschitz constant"), "{told:?}");
    place.run("bound askl-excess-risk --model r --lipschitz 4").with_code(0);
}

/// Of a model and rows: the kernel that was fitted, its eigenvalues, and the frequencies of a spectral one.
#[test]
fn a_bound_of_tables_is_measured_on_a_model_and_rows() {
    let place = place_with(&[("toys.csv", &toys(90)), ("few.csv", &toys(9))]);
    place.run(&format!("fit --method askl --data toys.csv {QUICK} --out m")).with_code(0);
    place.run("fit --method kernel-ridge --data toys.csv --out k").with_code(0);
    let on = |line: &str| place.run(line).with_code(0).json();
    let value = |line: &str| on(line)["value"].as_f64().unwrap();
    // The diagonal of the fitted features is what the scalar bound takes its trace from.
    let by_trace = value("bound askl-rademacher --model m --data toys.csv --json");
    let by_norms = value("bound askl-rademacher-features --model m --data toys.csv --json");
    assert!((by_norms / by_trace - 1.0).abs() < 1e-6, "{by_norms} and {by_trace}");
    let kernel = on("bound askl-rademacher-frequencies --model m --data toys.csv --json");
    let ratio = kernel["terms"]["ratio to the rate"].as_f64().unwrap();
    assert!(ratio > 0.5 && ratio <= 1.0, "{kernel}");
    // A Gaussian kernel's trace is the number of rows.
    let ridge = on("bound rftk-effective-ridge --model k --data toys.csv features=20 --json");
    assert!((ridge["terms"]["Tr[K(K + λnI)⁻¹]"].as_f64().unwrap() - 20.0).abs() < 1e-9);
    let limit = value("bound rftk-ridge-limit --model k --data toys.csv features=20 --json");
    let found = ridge["value"].as_f64().unwrap();
    assert!(found > 0.0 && found <= limit, "{found} of at most {limit}");
    let told = place.run("bound mce-ball-complexity --model k --data few.csv norm=2");
    assert!(told.with_code(0).stdout.contains("E√(σᵀKσ)"));
    let many = place.run("bound mce-ball-complexity --model k --data toys.csv norm=2").with_code(2);
    assert!(many.stderr.contains("at most 2^20"), "{many:?}");
    // A mean has no kernel.
    place.run("fit --method majority --data toys.csv --out none").with_code(0);
    let none =
        place.run("bound rftk-effective-rank-gram --model none --data toys.csv").with_code(2);
    assert!(none.stderr.contains("needs `gram` (K, the kernel matrix"), "{none:?}");
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
        (format!("{askl} --data toys.csv --holdout 0.4"), 6),
        ("m --data toys.csv".to_owned(), 6),
        ("--method kernel-ridge --target weight --data toys.csv --holdout 0.4".to_owned(), 4),
        ("w --data toys.csv".to_owned(), 4),
    ] {
        let found = one(&line);
        let estimates = found["estimates"].as_object().unwrap();
        assert_eq!(estimates.len(), metrics, "{found}");
        for (name, estimate) in estimates {
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
        let region = ["north", "South", "North"][i % 3];
        writeln!(text, "{i},{region},{}", ["yes", "no", "Yes", "no"][i % 4]).unwrap();
    }
    let place = place_with(&[("cases.csv", &text)]);
    let told = place.run("fit --method majority --data cases.csv --out m").with_code(0).stderr;
    assert!(
        told.contains("column `region`: `North` and `north` differ in capitals only"),
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

#[test]
fn threads_beyond_the_cores_are_not_begun() {
    let place = place_with(&[("toys.csv", &toys(60))]);
    let cores = std::thread::available_parallelism().unwrap();
    let line = "fit --method askl --data toys.csv --set features=8 --set epochs=1";
    let told = place.run(&format!("{line} --threads 65535 --out m --json")).with_code(0);
    assert!(told.stderr.contains("--threads 65535: this machine has"), "{told:?}");
    assert_eq!(told.json()["threads"], cores.get());
    let told = place.run("predict m --data toys.csv --threads 65535").with_code(0).stderr;
    assert!(told.contains("so many are used"), "{told}");
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

/// Sixty rows of a number, a weight and a class; the last six have weight 0, and are of another kind.
fn weighed() -> String {
    let mut text = "x,w,kind\n".to_owned();
    for row in 0..54 {
        let x = f64::from(row % 9) - 4.0 + 0.1 * f64::from(row % 7);
        let kind = if (row % 9 > 3) ^ (row % 5 == 0) { "ill" } else { "well" };
        writeln!(text, "{x},{},{kind}", row % 3 + 1).unwrap();
    }
    (0..6).for_each(|row| writeln!(text, "{row}000,0,ill").unwrap());
    text
}

/// The same with each row as often as its weight says, and no weights.
fn repeated() -> String {
    let text = weighed();
    let mut rows = text.lines();
    let mut all = rows.next().unwrap().replace(",w", "") + "\n";
    for row in rows {
        let fields: Vec<&str> = row.split(',').collect();
        for _ in 0..fields[1].parse::<usize>().unwrap() {
            writeln!(all, "{},{}", fields[0], fields[2]).unwrap();
        }
    }
    all
}

#[test]
fn weights_count_rows_from_the_file_to_the_prediction() {
    let place = place_with(&[("w.csv", &weighed()), ("all.csv", &repeated())]);
    for (method, set) in
        [("kernel-ridge", "lambda=1e-3"), ("gaussian-svm", "tolerance=1e-9"), ("majority", "")]
    {
        let set = if set.is_empty() { String::new() } else { format!("--set {set}") };
        let fit = |rest: &str| place.run(&format!("fit --method {method} {set} --force {rest}"));
        let told = fit("--data w.csv --weights w --out w.model").with_code(0).stdout;
        assert!(
            told.contains("fitted to 54 rows") && told.contains("weights: rows by a column"),
            "{told}"
        );
        fit("--data all.csv --out all.model").with_code(0);
        let scores = |model: &str| {
            place.run(&format!("evaluate {model} --data all.csv --json")).with_code(0).json()
        };
        assert_eq!(scores("w.model")["metrics"], scores("all.model")["metrics"], "{method}");
    }
    let info = place.run("info w.model").with_code(0).stdout;
    assert!(info.contains("weights        rows by a column"), "{info}");
    // The column is no input of the model, and may stand in a file to predict.
    place.run("predict w.model --data w.csv").with_code(0);
    let fit = "fit --method gaussian-svm --data w.csv --force --out c.model";
    place.run(&format!("{fit} --weights w --class-weight ill=2,well=0.5")).with_code(0);
    let info = place.run("info c.model").with_code(0).stdout;
    assert!(info.contains("rows by a column, classes ill=2,well=0.5"), "{info}");
    let tune =
        "tune --method kernel-ridge --data w.csv --weights w --class-weight balanced --budget 3";
    place.run(tune).with_code(0);
}

#[test]
fn weights_that_cannot_be_are_refused_by_name() {
    let place = place_with(&[
        ("w.csv", &weighed()),
        ("minus.csv", &weighed().replacen(",2,", ",-2,", 1)),
        ("text.csv", &weighed().replacen(",2,", ",2 kg,", 1)),
        ("hole.csv", &weighed().replacen(",2,", ",,", 1)),
        ("zero.csv", "x,w,kind\n1,0,a\n2,0,b\n3,0,a\n"),
    ]);
    let fit = "fit --method kernel-ridge --out m --weights w --data";
    for (line, code, words) in [
        (format!("{fit} minus.csv"), 1, "minus.csv:3: column `w` `-2` is negative"),
        (format!("{fit} text.csv"), 1, "text.csv:3: column `w` `2 kg` is not a number"),
        (format!("{fit} hole.csv"), 1, "hole.csv:3: column `w` is empty"),
        (format!("{fit} zero.csv"), 1, "zero.csv: column `w` is 0 in every row"),
        (format!("{fit} w.csv --buffer 10"), 2, "left out where rows are read in passes"),
        (format!("{fit} w.csv --class-weight sick=2"), 2, "of classes of the target: ill, well"),
        (
            "fit --method kernel-ridge --out m --weights v --data w.csv".to_owned(),
            2,
            "has no column `v` (--weights)",
        ),
        (
            "fit --method kernel-ridge --out m --target x --class-weight balanced --data w.csv"
                .to_owned(),
            2,
            "left out where the target is numbers",
        ),
        (
            "evaluate --method kta --weights w --data w.csv".to_owned(),
            2,
            "`--weights`: kta does not weigh rows; these do: sk, nsk,",
        ),
        // Before anything is fitted: the other one could be.
        (
            "compare --methods majority,kta --class-weight balanced --data w.csv".to_owned(),
            2,
            "`--class-weight`: kta does not weigh rows; these do: ",
        ),
    ] {
        let refused = place.run(&line).with_code(code);
        assert!(refused.stderr.contains(words), "{line}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{line}: {refused:?}");
    }
    let compared =
        "compare --methods majority,kernel-ridge --weights w --class-weight balanced --data w.csv";
    place.run(&format!("{compared} --folds 3 --repeats 1")).with_code(0);
    let listed = place.run("list methods").with_code(0).stdout;
    assert!(listed.contains("weighs rows"), "{listed}");
    let svm = place.run("list methods gaussian-svm --json").with_code(0).json();
    assert_eq!((&svm["weights"], svm["method"].as_str()), (&json!("yes"), Some("gaussian-svm")));
}
