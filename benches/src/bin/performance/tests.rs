use super::*;
use crate::growth::Growth;
use crate::history::{YARDSTICK, YARDSTICK_OF_CLAIMS, group};
use crate::trends::trends;

fn entry(machine: &str, step: f64, gram: f64) -> Entry {
    let times = [("step/a", step), ("step/b", 4.0 * step), ("gram", gram), (YARDSTICK, 3.0)];
    Entry {
        day: "2026-01-31".to_owned(),
        code: "0123456".to_owned(),
        machine: machine.to_owned(),
        remark: String::new(),
        times: times.map(|(name, ns)| (name.to_owned(), [ns, ns, ns])).into(),
    }
}

#[test]
fn medians_of_all_runs_stand_beside_each_other() {
    let run = |day: &str, rows: &str| -> Peers {
        let text = format!(
            r#"{{"day":"{day}","code":"abc","load":0.1,"remark":"quiet","missing":{{}},"rows":[{rows}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let row = |what: &str, median: f64| {
        format!(
            r#"{{"what":"{what}","peer":"P","minimum":{median},"median":{median},"maximum":{median},"variants":{{"ours":2.0,"eager":7.0}}}}"#
        )
    };
    let mut text = String::new();
    let second = [row("step", 3.5), row("new", 2.0)].join(",");
    beside(&mut text, &[run("2026-01-01", &row("step", 1.5)), run("2026-01-02", &second)]);
    assert!(text.contains("- run 2: 2026-01-02, revision abc; 0.1 programs"), "{text}");
    assert!(text.contains(
        "faster in 2 of 2 comparisons. In the last run of each their time over ours is 2.00 to 3.50"
    ));
    assert!(
        text.contains("| step | P | 2 | 3.50 | 3.50 to 3.50 | 1.50 to 3.50 (2 runs) |"),
        "{text}"
    );
    assert!(text.contains("| step | 1.50 (2.000 ms) | 3.50 (2.000 ms) |"), "{text}");
    assert!(text.contains("| new | - | 2.00 (2.000 ms) |"), "{text}");
    let mut single = String::new();
    let third = run("2026-01-03", &row("new", 4.0));
    beside(&mut single, &[run("2026-01-01", &row("step", 1.5)), run("2026-01-02", &second), third]);
    assert!(
        single.contains("| new | P | 3 | 4.00 | 4.00 to 4.00 | 2.00 to 4.00 (2 runs) |"),
        "{single}"
    );
    assert!(single.contains("| step | 1.50 (2.000 ms) | 3.50 (2.000 ms) | - |"), "{single}");
    let mut alone = String::new();
    beside(&mut alone, &[run("2026-01-01", &row("step", 1.5))]);
    assert!(!alone.contains("medians of each run"), "{alone}");
}

#[test]
fn whole_commands_have_a_table_of_their_own() {
    let row = r#"{"what":"svm, two commands","peer":"P","minimum":2,"median":2,"maximum":2,"sides":{"ours":[1,50,0.9],"theirs":[2,200,0.9]}}"#;
    let text = format!(
        r#"{{"day":"2026-01-01","code":"abc","load":0.1,"remark":"quiet","missing":{{}},"rows":[{row}]}}"#
    );
    let mut page = String::new();
    beside(&mut page, &[serde_json::from_str(&text).unwrap()]);
    assert!(
        page.contains("Ours is faster in 1 of 1 cases as two commands, and in 0 of 0 in Python"),
        "{page}"
    );
    let line = "| svm, two commands | P | 1 | 2.00 | 1.00 | 2.00 | 50 | 200 | 0.900 | 0.900 |";
    assert!(page.contains(line) && page.contains("0 of 0 comparisons"), "{page}");
}

/// A case that the last complete run does not have was given up.
#[test]
fn a_run_of_all_cases_ends_the_earlier_ones() {
    let run = |what: &str, cases: &str| -> Peers {
        let text = format!(
            r#"{{"day":"2026-01-01","code":"abc","load":0.1,"remark":"quiet","cases":{cases},"missing":{{"no {what}":"it crashed"}},
            "rows":[{{"what":"{what}","peer":"P","minimum":2,"median":2,"maximum":2,"sides":{{"ours":[1,50,0.9],"theirs":[2,200,0.9]}}}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let mut page = String::new();
    let runs = [run("old", "null"), run("svm", r#""""#), run("rf", r#""--methods rf""#)];
    beside(&mut page, &runs);

    assert!(page.contains("| svm | P | 2 |") && page.contains("| rf | P | 3 |"), "{page}");
    assert!(page.contains("Not measured: no svm") && !page.contains("no old"), "{page}");
}

#[test]
fn a_case_that_a_later_run_could_not_time_is_left_out() {
    let run = |rows: &str, missing: &str| -> Peers {
        let text = format!(
            r#"{{"day":"2026-01-01","code":"abc","load":0.1,"remark":"quiet","missing":{{{missing}}},"rows":[{rows}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let row = |rows: usize| {
        format!(
            r#"{{"what":"kernel-ridge, letter, {rows} x 16, two commands","peer":"scikit-learn 1.9.1, KernelRidge","minimum":2,"median":2,"maximum":2,"sides":{{"ours":[1,50,0.9],"theirs":[2,200,0.9]}}}}"#
        )
    };
    let failed = r#""KernelRidge, letter, 18000 rows, theirs":"ended by signal 11","a_script":"no such program""#;
    let both = [row(2000), row(18000)].join(",");
    let runs = [run(&both, ""), run("", failed), run(&row(18000), "")];
    assert_eq!(latest(&runs[..1]).len(), 2);
    assert_eq!(latest(&runs[..2]).len(), 1);
    assert_eq!(latest(&runs).iter().map(|(run, _)| *run).collect::<Vec<_>>(), [1, 3]);
    let told = |runs: &[Peers]| {
        let mut page = String::new();
        beside(&mut page, runs);
        page.contains("Not measured: KernelRidge")
    };
    assert!(told(&runs[..2]) && !told(&runs), "what was timed since is measured");
}

#[test]
fn a_hot_path_has_a_panel_of_its_own() {
    let mut first = entry("here", 2.0, 1.0);
    for name in ["linalg/cosine", "linalg/exponential"] {
        first.times.insert(name.to_owned(), [3.0; 3]);
    }
    first.times.insert(YARDSTICK_OF_CLAIMS.to_owned(), [4.0; 3]);
    let mut second = first.clone();
    second.times.insert("linalg/cosine".to_owned(), [6.0; 3]);
    let trends = trends(&[first, second]);
    assert_eq!(trends["linalg/cosine"]["here"], [(1.0, 1.0), (2.0, 2.0)]);
    assert_eq!(trends["linalg/exponential"]["here"], [(1.0, 1.0), (2.0, 1.0)]);
}

#[test]
fn a_trend_is_relative_to_the_first_run_on_the_same_machine() {
    let history = [entry("here", 2.0, 1.0), entry("there", 8.0, 5.0), entry("here", 4.0, 0.5)];
    let trends = trends(&history);
    let near = |group: &str, expected: [(f64, f64); 2]| {
        assert_eq!(trends[group].len(), 2, "{group}: a line a machine");
        for ((run, ratio), (number, other)) in trends[group]["here"].iter().zip(expected) {
            assert!((run - number).abs() < 1e-12);
            assert!((ratio - other).abs() < 1e-12, "{group} {ratio} {other}");
        }
    };
    near("step", [(1.0, 1.0), (3.0, 2.0)]);
    near("gram", [(1.0, 1.0), (3.0, 0.5)]);
}

#[test]
fn a_slower_machine_of_the_same_name_moves_no_line() {
    let first = entry("here", 2.0, 1.0);
    let mut slower = entry("here", 4.0, 3.0);
    slower.times.insert(YARDSTICK.to_owned(), [6.0; 3]);
    let mut unknown = entry("here", 9.0, 9.0);
    unknown.times.remove(YARDSTICK);
    let trends = trends(&[first, unknown, slower]);
    assert_eq!(trends["step"]["here"], [(1.0, 1.0), (3.0, 1.0)]);
    assert_eq!(trends["gram"]["here"], [(1.0, 1.0), (3.0, 1.5)]);
    assert!(!trends.contains_key(group(YARDSTICK)));
    assert_eq!(ratios(Some((1.0, Some(3.0))), (3.0, Some(6.0))), [Some(3.0), Some(1.5)]);
    assert_eq!(ratios(Some((1.0, None)), (3.0, Some(6.0))), [Some(3.0), None]);
    assert_eq!(ratios(None, (3.0, Some(6.0))), [None, None]);
}

/// `just bench --bench askl` leaves the times of all others from the last time as they were.
#[test]
fn times_of_an_earlier_run_are_left_out() {
    let now = SystemTime::now();
    let left = |minutes: u64| Left { times: [1.0; 3], at: now - Duration::from_mins(minutes) };
    let found = BTreeMap::from([
        ("last".to_owned(), left(0)),
        ("first".to_owned(), left(70)),
        ("of yesterday".to_owned(), left(1500)),
    ]);
    let (times, before) = last_run(found);
    assert!(times.into_keys().eq(["first", "last"]));
    assert_eq!(before, ["of yesterday"]);
    assert!(last_run(BTreeMap::new()).0.is_empty());
}

/// Processor seconds are divided by processor seconds.
#[test]
fn claimed_costs_have_a_product_of_their_own() {
    let mut first = entry("here", 2.0, 1.0);
    first.times.insert("claim-a/1".to_owned(), [8.0; 3]);
    first.times.insert(YARDSTICK_OF_CLAIMS.to_owned(), [4.0; 3]);
    let mut second = first.clone();
    second.times.insert("claim-a/1".to_owned(), [16.0; 3]);
    second.times.insert(YARDSTICK_OF_CLAIMS.to_owned(), [8.0; 3]);
    let mut without = second.clone();
    without.times.remove(YARDSTICK_OF_CLAIMS);
    let trends = trends(&[first, second, without]);
    assert_eq!(trends["claim-a"]["here"], [(1.0, 1.0), (2.0, 1.0)]);
    assert_eq!(trends["step"]["here"].len(), 3);
    assert!(!trends.contains_key("claim-product"));
}

#[test]
fn a_single_run_is_no_trend() {
    let drawn = |history: &[Entry]| trends(history).into_keys().collect::<Vec<_>>();
    assert!(drawn(&[]).is_empty() && drawn(&[entry("here", 2.0, 1.0)]).is_empty());
    let mut second = entry("here", 2.0, 1.0);
    second.times.remove("gram");
    assert!(drawn(&[entry("here", 2.0, 1.0), entry("there", 2.0, 1.0)]).is_empty());
    assert_eq!(drawn(&[entry("here", 2.0, 1.0), second]), ["step"]);
}

#[test]
fn a_time_has_the_unit_that_suits_it() {
    assert_eq!(time(0.25), "0.250 ns");
    assert_eq!(time(1500.0), "1.500 µs");
    assert_eq!(time(2.5e9), "2.500 s");
}

/// Times that grow by the printed cost have its slope; a run that misses a size shows nothing.
#[test]
fn a_claimed_cost_is_fitted_over_all_its_sizes() {
    let mut run = entry("here", 2.0, 1.0);
    let scaling = mercer_experiments::claimed_costs().find(|own| own.claim == "O(m⁶)").unwrap();
    let group = mercer_benches::claim_group(scaling);
    for size in scaling.values {
        assert!(Growth::of(scaling, &run).is_none());
        let time = 3.0 * (scaling.printed)(size as f64);
        run.times.insert(format!("{group}/{size}"), [0.9 * time, time, 1.1 * time]);
    }
    let found = Growth::of(scaling, &run).unwrap();
    assert!((found.printed.slope - 6.0).abs() < 1e-9);
    assert!((found.measured.slope - 6.0).abs() < 1e-9);
}

/// Two series of one name timed over each other.
#[test]
fn each_claimed_cost_has_a_group_of_its_own() {
    let all: Vec<String> =
        mercer_experiments::claimed_costs().map(mercer_benches::claim_group).collect();
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}
