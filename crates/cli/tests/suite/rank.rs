//! `mercer rank`: from somebody's scores to ranks.

use crate::place::{Ended, Place};
use serde_json::json;

/// Five datasets on which `a` is best, `b` second, and `c` and `d` equal.
fn scores() -> String {
    let rows =
        (0..5).map(|set| format!("d{set},a,0.9\nd{set},b,0.8\nd{set},c,0.5\nd{set},d,0.5\n"));
    "dataset,method,score\n".to_owned() + &rows.collect::<String>()
}

fn ranked(text: &str, rest: &str) -> Ended {
    let place = Place::new();
    std::fs::write(place.path("scores.csv"), text).unwrap();
    place.run(&format!("rank scores.csv {rest}"))
}

#[test]
fn ranks_intervals_and_groups_are_printed() {
    // χ² = 3 · (7.5² + 2.5² + 2 · 5²)/(5 · (2.25 + 0.25 + 1 + 1)) with 3 degrees of freedom is 15; CD = 2.569 √(20/30).
    let expected = "\
4 methods on 5 datasets; larger scores are better

place  method  mean rank  95 % from  to    best on
1      a       1.00       1.00       1.00  5
2      b       2.00       2.00       2.00  0
3=     c       3.50       3.50       3.50  0
3=     d       3.50       3.50       3.50  0

Friedman: p = 0.0018, some methods differ. Nemenyi at 5 %: two methods differ if their mean ranks
are at least 2.10 apart
not told apart: a, b
not told apart: b, c, d
";
    assert_eq!(ranked(&scores(), "").with_code(0).stdout, expected);
}

#[test]
fn smaller_scores_and_repeats_and_other_names_are_understood() {
    let text = scores().replace("score", "seconds").replace("method", "program");
    let found =
        ranked(&text, "--smaller --score seconds --method program --json").with_code(0).json();
    assert_eq!(found["methods"][3]["method"], "a");
    assert_eq!(
        found["methods"][0],
        json!({
            "method": "c", "place": "1=", "mean_rank": 1.5, "interval": [1.5, 1.5], "best_on": 5
        })
    );
    assert_eq!(found["groups"], json!([["c", "d", "b"], ["b", "a"]]));
    let twice =
        "dataset,method,repeat,score\nu,a,1,3\nu,b,1,1\nu,a,2,0\nu,b,2,4\nv,a,1,5\nv,b,1,4\n";
    let found = ranked(twice, "").with_code(0).stdout;
    assert!(
        found.contains("up to 2 repeats averaged") && found.contains("no difference at 5 %"),
        "{found}"
    );
}

#[test]
fn the_diagram_is_a_file_that_is_not_overwritten() {
    let place = Place::new();
    std::fs::write(place.path("scores.csv"), scores()).unwrap();
    place.run("rank scores.csv --diagram ranks.svg").with_code(0);
    let drawn = std::fs::read_to_string(place.path("ranks.svg")).unwrap();
    assert!(drawn.contains("a (1.00)") && drawn.contains("critical difference 2.10"));
    assert!(
        place.run("rank scores.csv --diagram ranks.svg").with_code(2).stderr.contains("--force")
    );
    place.run("rank scores.csv --diagram ranks.svg --force").with_code(0);
}

#[test]
fn what_is_wrong_with_the_scores_is_named() {
    let missing = scores().replace("d3,b,0.8\n", "");
    let said = ranked(&missing, "").with_code(1).stderr;
    assert!(said.contains("scores.csv: has no score of `b` on `d3`; add the rows"), "{said}");
    let said = ranked(&scores().replace("d3,b,0.8", "d3,b,good"), "").with_code(1).stderr;
    assert!(said.contains("scores.csv:15: the score `good` is not a finite number"), "{said}");
    let said = ranked(&scores(), "--score accuracy").with_code(2).stderr;
    assert!(
        said.contains("has no column `accuracy` in its first row (dataset, method, score)"),
        "{said}"
    );
    let said = ranked("dataset,method,score\nu,a,1\nv,a,1\n", "").with_code(1).stderr;
    assert!(said.contains("has 1 method (`a`); ranks need at least two"), "{said}");
    Place::new().run("rank nowhere.csv").with_code(4);
}
