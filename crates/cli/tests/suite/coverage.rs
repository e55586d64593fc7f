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
}
