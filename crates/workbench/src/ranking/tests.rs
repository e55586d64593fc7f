use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use serde_json::Value;
use std::fmt::Write as _;

fn read(text: &str, columns: &ScoreColumns) -> Result<ScoreTable, WorkbenchError> {
    ScoreTable::read(&RowFile::spooled(text.as_bytes(), "scores", None).unwrap(), columns)
}

fn said(text: &str) -> String {
    read(text, &ScoreColumns::default()).unwrap_err().to_string()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

/// `tests/fixtures/ranking.py` says how they were made.
#[test]
fn ranks_and_tests_are_those_of_scipy() {
    let all: Value =
        serde_json::from_str(include_str!("../../tests/fixtures/ranking.json")).unwrap();
    assert_eq!(all["program"], "SciPy 1.17.1");
    for given in all["tables"].as_array().unwrap() {
        let [dataset, method, score] = ["task", "model", "accuracy"].map(str::to_owned);
        let columns = ScoreColumns { dataset, method, score, repeat: Some("fold".to_owned()) };
        let table = read(given["csv"].as_str().unwrap(), &columns).unwrap();
        let found = rank(&table, false).unwrap();
        let number = |name: &str| given[name].as_f64().unwrap();
        for (ours, theirs) in [
            (found.friedman.chi_squared, "chi_squared"),
            (found.friedman.p_chi_squared, "p"),
            (found.friedman.iman_davenport, "iman_davenport"),
            (found.friedman.p_iman_davenport, "p_iman_davenport"),
            (found.critical_difference, "critical_difference"),
        ] {
            assert_relative_eq!(ours, number(theirs), max_relative = 1e-9);
        }
        let ranks = numbers(&given["ranks"]);
        for (at, name) in table.methods.iter().enumerate() {
            let own = found.methods.iter().find(|one| one.method == *name).unwrap();
            assert_abs_diff_eq!(own.mean_rank, ranks[at], epsilon = 1e-12);
            assert_eq!(own.best_on as u64, given["best_on"][at].as_u64().unwrap());
            // The ends lie on a lattice: of 10,000 resamples and of 200,000 at most a step apart, a rank on
            // one dataset.
            let (ends, step) = (numbers(&given["intervals"][at]), 1.0 / table.scores.len() as f64);
            assert_abs_diff_eq!(own.interval.0, ends[0], epsilon = step);
            assert_abs_diff_eq!(own.interval.1, ends[1], epsilon = step);
        }
    }
}

#[test]
fn smaller_turns_the_order_and_units_do_not_count() {
    let text = "dataset,method,score\nu,a,1\nu,b,2\nu,c,3\nv,a,100\nv,b,300\nv,c,200\n";
    let table = read(text, &ScoreColumns::default()).unwrap();
    let names = |smaller| -> Vec<String> {
        rank(&table, smaller).unwrap().methods.into_iter().map(|one| one.method).collect()
    };
    assert_eq!(names(true), ["a", "b", "c"]);
    assert_eq!(names(false), ["b", "c", "a"]);
    let found = rank(&table, true).unwrap();
    let places: Vec<&str> = found.methods.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(places, ["1", "2=", "2="]);
}

#[test]
fn means_that_differ_by_rounding_are_a_tie() {
    // 0.1 + 0.2 + 0.3 is no longer 0.3 + 0.2 + 0.1.
    let mut text = "dataset,method,repeat,score\n".to_owned();
    for set in ["u", "v"] {
        for (repeat, (a, b)) in [(0.1, 0.3), (0.2, 0.2), (0.3, 0.1)].into_iter().enumerate() {
            write!(text, "{set},a,{repeat},{a}\n{set},b,{repeat},{b}\n").unwrap();
        }
    }
    let found = rank(&read(&text, &ScoreColumns::default()).unwrap(), false).unwrap();
    assert_eq!((found.repeats, found.methods[0].place.as_str()), (3, "1="));
}

/// Without a difference by Friedman's test nobody is distinguished, whatever Nemenyi's difference is.
#[test]
fn groups_follow_both_tests() {
    let named = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|number| format!("{prefix}{number}")).collect()
    };
    let table = |count: usize, row: [f64; 3]| ScoreTable {
        datasets: named("d", count),
        methods: named("m", 3),
        scores: vec![row.to_vec(); count],
        repeats: 1,
    };
    let equal = rank(&table(12, [1.0; 3]), false).unwrap();
    assert!(!equal.apart && equal.groups == [["m0", "m1", "m2"]]);
    assert!(equal.methods.iter().all(|one| one.place == "1=" && one.interval == (2.0, 2.0)));
    // Mean ranks 1, 2 and 3; the critical difference is 2.343 over the root of the datasets / 2.
    let clear = rank(&table(10, [3.0, 2.0, 1.0]), false).unwrap();
    assert!(clear.apart && clear.groups == [["m0", "m1"], ["m1", "m2"]]);
    let clearer = rank(&table(12, [3.0, 2.0, 1.0]), false).unwrap();
    assert!(clearer.apart && clearer.groups.is_empty());
    assert_relative_eq!(clearer.critical_difference, 2.343 / 6f64.sqrt(), max_relative = 1e-3);
}

#[test]
fn what_a_table_lacks_is_named() {
    for (text, expected) in [
        (
            "set,method,score\nu,a,1\n",
            "scores: has no column `dataset` in its first row (set, method, score); name the column by --dataset",
        ),
        (
            "dataset,method,score\nu,a,1\nv,a,2\n",
            "scores: has 1 method (`a`); ranks need at least two",
        ),
        ("dataset,method,score\n", "scores: has 0 methods; ranks need at least two"),
        (
            "dataset,method,score\nu,a,1\nu,b,2\n",
            "scores: has 1 dataset; tests over datasets need at least two",
        ),
        (
            "dataset,method,score\nu,a,good\nu,b,2\n",
            "scores:2: the score `good` is not a finite number",
        ),
        (
            "dataset,method,score\nu,a,1\nu,b,\n",
            "scores:3: the score is missing; leave out the dataset or the method",
        ),
        (
            "dataset,method,score\nu,a,1\n,b,2\n",
            "scores:3: the name of the dataset or of the method is missing",
        ),
        (
            "dataset,method,score\nu,a,1\nu,b,2\nu,c,3\nv,a,1\nw,a,3\nw,b,3\nw,c,4\n",
            "scores: has no score of `b` on `v` and 1 more pairs; add the rows, or leave out 1 dataset or the method",
        ),
        (
            "dataset,method,score\nu,a,1\nu,a,2\n",
            "scores:3: `a` on `u` has a score in line 2, too; leave one out, or name the column that numbers the repeats by --repeat",
        ),
        (
            "dataset,method,repeat,score\nu,a,1,1\nu,a,1,2\n",
            "scores:3: `a` on `u` in repeat `1` has a score in line 2, too; leave one out",
        ),
        (
            "dataset,method,repeat,score\nu,a,1,1\nu,b,2,2\nv,a,1,1\nv,b,1,2\n",
            "scores: repeat `1` of `u` has a score of `a` or of `b`, but not of both; keep the repeats that all methods have",
        ),
    ] {
        assert_eq!(said(text), expected);
    }
}
