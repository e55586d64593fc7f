//! `mercer evaluate --coverage`: sets that hold the truth as often as is asked.

use crate::place::Place;
use std::fmt::Write as _;

#[test]
fn coverage_size_and_worst_class_are_printed() {
    let place = Place::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/iris/iris.svm");
    let line = format!(
        "evaluate --method kernel-ridge --data {data} --folds 5 --repeats 1 --coverage 0.9"
    );
    let found = place.run(&format!("{line} --json")).with_code(0).json();
    assert_eq!((&found["rows"], &found["calibration_rows"]), (&150.into(), &30.into()));
    let number = |of: &str| found[of].as_f64().unwrap();
    // Of 30 calibration rows the 28th decides: 28/31 are covered in the mean.
    assert!((0.83..=0.98).contains(&number("covered")), "{found}");
    assert!((0.8..1.3).contains(&number("size")), "{found}");
    assert!(found["worst_class"][1].as_f64().unwrap() <= number("covered"));
    let text = place.run(&line).with_code(0).stdout;
    for part in
        ["30 calibration rows", "asked for 0.9", "of 150 test rows", "mean size", "worst class"]
    {
        assert!(text.contains(part), "{text}");
    }
    let said = place.run(&line.replace("0.9", "0.99")).with_code(2).stderr;
    assert!(
        said.contains("`coverage` is 0.99; it must be at most 0.968 with 30 calibration rows"),
        "{said}"
    );
    assert!(place.run(&line.replace("0.9", "1.5")).with_code(2).stderr.contains("--coverage"));
    let each = place.run(&format!("{line} --each-class")).with_code(0).stdout;
    assert!(each.contains("asked for 0.9 of each class"), "{each}");
    // Ten calibration rows of a class decide by their tenth, where 28 of 30 did by all.
    let each = place.run(&format!("{line} --each-class --json")).with_code(0).json();
    assert!(each["size"].as_f64() > found["size"].as_f64(), "{each} {found}");
}

#[test]
fn intervals_of_numbers_have_a_width_in_units_of_the_target() {
    let place = Place::new();
    let mut rows = "x,y\n".to_owned();
    for row in 0..120 {
        writeln!(rows, "{},{}.5", row % 11, (row * 37) % 120).unwrap();
    }
    std::fs::write(place.path("rows.csv"), rows).unwrap();
    let text =
        place.run("evaluate --method mean --data rows.csv --coverage 0.9").with_code(0).stdout;
    let width = text.lines().find_map(|line| line.strip_prefix("mean width")).unwrap();
    let width: f64 = width.trim().parse().unwrap();
    assert!((95.0..125.0).contains(&width), "{text}"); // nine tenths of 0 to 120
    assert!(!text.contains("worst class"), "{text}");
    let said = place.run("evaluate --method mean --data rows.csv --coverage 0.9 --each-class");
    assert!(said.with_code(2).stderr.contains("without --each-class: the target is a number"));
}

/// Rows whose target is ten times a column and some noise.
fn noisy(from: usize, to: usize) -> String {
    let mut rows = "x,y\n".to_owned();
    for row in from..to {
        let (x, noise) = (row * 31 % 97, row * 7919 % 101);
        writeln!(rows, "{x},{}.5", 10 * x + noise).unwrap();
    }
    rows
}

#[test]
fn predict_adds_intervals_that_hold_as_many_new_rows_as_was_asked() {
    let place = Place::new();
    for (name, from, to) in [("fit", 0, 300), ("apart", 300, 500), ("new", 500, 900)] {
        std::fs::write(place.path(&format!("{name}.csv")), noisy(from, to)).unwrap();
    }
    place.run("fit --method kernel-ridge --data fit.csv --out m.safetensors").with_code(0);
    let line = "predict m.safetensors --data new.csv --coverage 0.9 --calibration apart.csv";
    let text = place.run(line).with_code(0).stdout;
    assert!(text.starts_with("prediction,low,high\n"), "{text}");
    let truths = noisy(500, 900);
    let truths: Vec<&str> =
        truths.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    let held = |text: &str| {
        let within = |(line, truth): &(&str, &&str)| {
            let ends: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
            (ends[1]..=ends[2]).contains(&truth.parse().unwrap())
        };
        text.lines().skip(1).zip(&truths).filter(within).count()
    };
    // 360 of 400 in the mean; calibration and test together deviate by some 10 rows.
    assert!((320..=395).contains(&held(&text)), "{}", held(&text));
    let json = place.run(&format!("{line} --json")).with_code(0).json();
    assert!(json[0]["low"].as_f64().unwrap() < json[0]["high"].as_f64().unwrap());

    let said = place.run(&line.replace("apart.csv", "fit.csv")).with_code(0).stderr;
    assert!(said.contains("the file that the model was fitted to"), "{said}");
    let said = place.run(&line.replace("0.9", "0.999")).with_code(2).stderr;
    assert!(said.contains("at most 0.995 with 200 calibration rows"), "{said}");

    // A column that one of the files has, and the model has not.
    let mut wider = noisy(300, 500).replace('\n', ",1\n");
    wider = wider.replacen("x,y,1", "x,y,w", 1);
    std::fs::write(place.path("wider.csv"), wider).unwrap();
    let wider = line.replace("apart.csv", "wider.csv");
    let said = place.run(&wider).with_code(1).stderr;
    assert!(said.contains("--drop w"), "{said}");
    assert_eq!(place.run(&format!("{wider} --drop w")).with_code(0).stdout, text);
    let said = place.run(&format!("{wider} --drop w,nothing")).with_code(1).stderr;
    assert!(said.contains("neither file has a column `nothing`"), "{said}");

    // Kernel ridge needs no rows apart; what cannot leave its rows out says so.
    let alone = "predict m.safetensors --data new.csv --coverage";
    let left_out = place.run(&format!("{alone} 0.9")).with_code(0).stdout;
    assert!((320..=395).contains(&held(&left_out)), "{}", held(&left_out));
    let said = place.run(&format!("{alone} 0.999")).with_code(2).stderr;
    assert!(said.contains("at most 0.997 with 300 training rows"), "{said}");
    place.run("fit --method mean --data fit.csv --out m.safetensors --force").with_code(0);
    assert!(place.run(&format!("{alone} 0.9")).with_code(2).stderr.contains("--calibration FILE"));
    let line = "evaluate --method kernel-ridge --data fit.csv --coverage 0.9 --jackknife";
    let text = place.run(line).with_code(0).stdout;
    assert!(text.contains("240 rows left out one"), "{text}");
}

/// The classes of a set are parted by a sign in CSV.
#[test]
fn a_label_with_the_sign_that_parts_classes_is_refused_but_in_json() {
    let place = Place::new();
    let rows: Vec<_> = (0..40).map(|row| format!("{row},{}", ["a", "a|b"][row / 20])).collect();
    std::fs::write(place.path("rows.csv"), format!("x,kind\n{}", rows.join("\n"))).unwrap();
    place.run("fit --method kernel-ridge --data rows.csv --out m.safetensors").with_code(0);
    let line = "predict m.safetensors --data rows.csv --coverage 0.9 --calibration rows.csv";
    let said = place.run(line).with_code(1).stderr;
    assert!(said.contains("class `a|b`") && said.contains("--json"), "{said}");
    place.run(&format!("{line} --json")).with_code(0);
}

#[test]
fn predict_adds_sets_of_classes() {
    let place = Place::new();
    let iris = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/iris/iris.svm");
    let iris = std::fs::read_to_string(iris).unwrap();
    let part = |own: usize| -> Vec<&str> { iris.lines().skip(own).step_by(3).collect() };
    for (own, name) in ["fit", "apart", "new"].iter().enumerate() {
        std::fs::write(place.path(&format!("{name}.svm")), part(own).join("\n")).unwrap();
    }
    place.run("fit --method kernel-ridge --data fit.svm --out m.safetensors").with_code(0);
    let line = "predict m.safetensors --data new.svm --coverage 0.9 --calibration apart.svm";
    let text = place.run(line).with_code(0).stdout;
    assert_eq!(text.lines().next(), Some("prediction,set"));
    let json = place.run(&format!("{line} --json")).with_code(0).json();
    let truths = part(2).into_iter().map(|line| line.split(' ').next().unwrap());
    let held =
        json.as_array().unwrap().iter().zip(truths).filter(|(row, truth)| {
            row["set"].as_array().unwrap().iter().any(|class| class == truth)
        });
    // Of 50 new rows nine tenths in the mean; 40 are more than two standard errors below.
    assert!(held.count() >= 40, "{text}");
}
