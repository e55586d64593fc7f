//! Weights of rows and of classes.

use super::place_with;
use serde_json::json;
use std::fmt::Write as _;

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
            told.contains("fitted to 54 rows") && told.contains("weights: rows by `w`"),
            "{told}"
        );
        fit("--data all.csv --out all.model").with_code(0);
        let scores = |model: &str| {
            place.run(&format!("evaluate {model} --data all.csv --json")).with_code(0).json()
        };
        assert_eq!(scores("w.model")["metrics"], scores("all.model")["metrics"], "{method}");
    }
    let info = place.run("info w.model").with_code(0).stdout;
    assert!(info.contains("weights        rows by `w`"), "{info}");
    // The column is no input of the model, and may stand in a file to predict.
    place.run("predict w.model --data w.csv").with_code(0);
    let fit = "fit --method gaussian-svm --data w.csv --force --out c.model";
    place.run(&format!("{fit} --weights w --class-weight ill=2,well=0.5")).with_code(0);
    let info = place.run("info c.model").with_code(0).stdout;
    assert!(info.contains("rows by `w`, classes ill=2,well=0.5"), "{info}");
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
        (
            format!("{fit} w.csv --class-weight sick=2"),
            2,
            "CLASS=NUMBER with a class of the target: `ill`, `well`",
        ),
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
