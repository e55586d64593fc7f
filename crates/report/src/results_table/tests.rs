use super::*;
use crate::comparison::class;

fn table_1() -> ResultsTable {
    toml::from_str(
        r#"
            study = "rftk/table1"
            paper = "rftk"
            columns = [["rf-sgd", "RF-SGD"]]
            equivalent = ["rf-sgd", "rf-sgd"]
            chosen = { released = ["pendigits", "vowel"] }
            splits = "random splits"
            printed-deviation = "by J"
            notes = []
            "#,
    )
    .unwrap()
}

const HEAD: Head<'_> = Head { id: "", title: "Table 1", caption: "" };

fn report(variant: &str, dataset: &str, verdict: &str) -> CellReport {
    CellReport {
        dataset: dataset.to_owned(),
        method: "rf-sgd".to_owned(),
        variant: variant.to_owned(),
        metric: "accuracy".to_owned(),
        published: Some(PublishedNumber { mean: 50.0, std: 1.0 }),
        verdict: Some(verdict.to_owned()),
        difference: Some(0.1),
        interval: Some((-1.0, 1.0)),
        ..CellReport::default()
    }
}

#[test]
fn what_agrees_by_choice_is_counted_apart() {
    let reports = [
        report("released", "pendigits", BY_CHOICE),
        report("released", "vowel", "open"),
        report("released", "usps", "agrees"),
    ];
    let table = table_1();
    assert!(table.chosen_by_print("released", "vowel"));
    assert!(!table.chosen_by_print("tuned", "vowel"));
    assert!(!table.chosen_by_print("released", "usps"));
    let said = table.agreement_by_choice(&reports);
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("By choice: in released the scaling of pendigits, vowel was"));
    assert!(table.agreement_by_choice(&reports[2..]).is_empty());
    let summary = table.summary(HEAD, &reports, false);
    assert_eq!(summary.notes[VERDICTS.len() + 1..], said);
    let counted: Vec<usize> = reports.iter().filter_map(class).collect();
    assert_eq!(
        counted.iter().map(|at| CLASSES[*at]).collect::<Vec<_>>(),
        [BY_CHOICE, "open", "agrees"]
    );
}

#[test]
fn the_caption_says_by_what_each_deviation_is_divided() {
    let notes = table_1().reading(&[], false);
    assert_eq!(notes[0], "± divides by J − 1 in our cells, in the published ones by J.");
}

#[test]
fn folds_are_said_to_have_the_ordinary_test() {
    let table = table_1();
    for (folds, name) in [(false, "corrected resampled t-test"), (true, "paired t-test")] {
        assert!(table.reading(&[], folds)[1].contains(&format!("by the {name}.")), "{name}");
    }
    let heads = table.summary(HEAD, &[], true).columns;
    assert_eq!(heads.last().map(|column| column.head.as_str()), Some("paired t"));
}

#[test]
fn lines_that_have_not_been_run_are_named_with_their_datasets() {
    let mut lines = BTreeMap::new();
    lines.insert("printed", vec!["usps"]);
    lines.insert("tuned", vec!["pendigits", "mnist"]);
    assert_eq!(missing_by_variant(&lines), "printed (usps), tuned (pendigits, mnist)");
}
