//! Files that are larger than what is held of them.

use super::{QUICK, place_with, toys};
use serde_json::json;
use std::fmt::Write as _;

/// A closed form has the scores of rows that are held, whatever the buffer; what trains in mini-batches learns.
#[test]
fn what_is_larger_than_its_buffer_is_evaluated_compared_and_tuned() {
    let (rows, mut noisy) = (toys(300), "x,kind\n".to_owned());
    for i in 0..200 {
        let [wave, noise] = [0.618, 2.399].map(|step| (f64::from(i) * step).sin());
        writeln!(noisy, "{wave},{}", if wave + noise > 0.0 { "a" } else { "b" }).unwrap();
    }
    let (head, lines) = rows.split_once('\n').unwrap();
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_by_key(|line| line.splitn(4, ',').nth(3));
    let sorted = format!("{head}\n{}\n", lines.join("\n"));
    let first = toys(100);
    let place = place_with(&[
        ("toys.csv", &rows),
        ("first.csv", &first),
        ("noisy.csv", &noisy),
        ("sorted.csv", &sorted),
    ]);
    let json = |line: &str| place.run(&format!("{line} --json")).with_code(0).json();
    let rf = "evaluate --method rf --data toys.csv --set features=40 --set lambda=0.01";
    let (held, passes) = (json(rf), json(&format!("{rf} --buffer 50")));
    assert_eq!(held["metrics"], passes["metrics"]);
    assert_eq!((&held["confusion"], &held["test_rows"]), (&passes["confusion"], &json!(60)));
    let compared = place
        .run("compare --methods rf,rf-sgd,kernel-ridge --data toys.csv --buffer 50 --json --report c.html")
        .with_code(3);
    assert!(compared.stderr.contains("`kernel-ridge` needs all 240 rows at once"), "{compared:?}");
    let of = |at: usize| compared.json()["methods"][at]["evaluation"]["Ok"].clone();
    assert!(of(0)["estimates"]["accuracy"]["mean"].as_f64().unwrap() > 0.95);
    assert!(of(1)["estimates"]["accuracy"]["mean"].as_f64().unwrap() > 0.95);
    // Tuning sees the first buffer: of 300 rows what it has of a file of 100.
    let tuned =
        |more: &str| json(&format!("tune --method rf --budget 3 --scale none --data {more}"));
    assert_eq!(tuned("toys.csv --buffer 100")["chosen"], tuned("first.csv")["chosen"]);
    place.run("fit --method rf --data toys.csv --set features=40 --out m").with_code(0);
    let scored =
        |more: &str| json(&format!("evaluate m --data toys.csv {more}"))["metrics"].clone();
    assert_eq!(scored(""), scored("--buffer 7"));
    // What is chosen can be typed, also where a kernel leaves a setting idle.
    for kernel in ["linear", "laplace"] {
        let line = format!("tune --method svm --data first.csv --budget 4 --set kernel={kernel}");
        let chosen = json(&line)["chosen"].clone();
        assert_eq!(chosen.get("std").is_some(), kernel == "laplace", "{chosen}");
    }
    // The floors need no more rows than others.
    let floor = |buffer: &str| {
        json(&format!("evaluate --method majority --data toys.csv {buffer}"))["estimates"].clone()
    };
    assert_eq!(floor(""), floor("--buffer 7"));
    // An interval depends on the rows, not on who read them.
    let held_out = |buffer: &str| {
        let line = format!("{rf} --holdout 0.3 {buffer}").replace("toys", "noisy");
        json(&line)["estimates"]["f1"]["interval"].clone()
    };
    assert_eq!(held_out(""), held_out("--buffer 31"));
    // A file that is sorted by class.
    let line = "--method rf-sgd --data sorted.csv --buffer 50";
    let fit = place.run(&format!("fit {line} --set features=40 --out s")).with_code(0);
    assert!(fit.stderr.contains("buffers have rows of one class only"), "{fit:?}");
    assert!(fit.stdout.contains("on the first 50 of its own training rows"), "{fit:?}");
    for (line, told) in [
        (format!("tune {line}"), "`buffer` is 50; it must be so large"),
        ("evaluate m --data toys.csv --coverage 0.9".to_owned(), "cannot be used with"),
        (
            "predict m --data toys.csv --drop size".to_owned(),
            "cannot be read without `size` (--drop)",
        ),
    ] {
        let refused = place.run(&line);
        assert!(refused.code != Some(0) && refused.stderr.contains(told), "{line}: {refused:?}");
    }
    let grouped = "evaluate --method rf --data toys.csv --buffer 20";
    for (more, told) in [
        (
            "--importance",
            "`importance` is given; it must be left out where rows are read in passes",
        ),
        ("--calibrate", "`calibrate` is given"),
        ("--coverage 0.9", "`coverage` is given"),
        ("--class-weight balanced", "`class-weight` is `balanced`"),
        ("--weights size", "`weights` is `size`"),
    ] {
        let refused = place.run(&format!("{grouped} {more}")).with_code(2);
        assert!(refused.stderr.contains(told), "{more}: {refused:?}");
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
            .run(&format!("fit --method {method} {line} --buffer 6.4e1 --out small --force"))
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
        ("fit --method rf-sgd --data toys.csv --buffer 0.5", 2, "such as 100000 or 1e5"),
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
