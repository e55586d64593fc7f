//! Findings: their numbers, and the sentences around them.

use crate::common::{committed, labels, planned};
use crate::made_up;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::Selection;
use mercer_records::Record;
use mercer_report::RenderContext;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_finding_points_at_something_and_every_number_has_a_query() {
    let known = |id: &String| catalogue().artefacts().iter().any(|artefact| artefact.id == *id);
    let findings = catalogue().findings().unwrap();
    assert!(!findings.is_empty());
    for finding in &findings {
        assert_eq!(finding.faults(), Vec::<String>::new(), "{}", finding.id);
        assert!(!finding.explains.is_empty(), "{} explains nothing", finding.id);
        let strangers: Vec<_> = finding.explains.iter().filter(|id| !known(id)).collect();
        assert!(strangers.is_empty(), "{} explains {strangers:?}", finding.id);
        assert!(known(&finding.shown_by), "{} is shown by {}", finding.id, finding.shown_by);
    }
    // Every cell that a finding claims exists, and no two findings claim the same.
    let methods = plannable();
    let mut idle: BTreeSet<_> = findings
        .iter()
        .flat_map(|finding| (0..finding.cells.len()).map(|i| (finding.id, i)))
        .collect();
    for name in catalogue().studies() {
        for trial in planned(&catalogue().study(&name).unwrap(), &methods, "paper") {
            let key = &trial.key;
            for label in labels(&key.artefact) {
                let mut by = BTreeSet::new();
                for finding in &findings {
                    for (i, cells) in finding.cells.iter().enumerate() {
                        let named = (&key.artefact, &key.variant, &key.dataset, &key.method);
                        if cells.include(named.0, named.1, named.2, named.3)
                            && (label.is_empty() || cells.speak_of(&label))
                        {
                            idle.remove(&(finding.id, i));
                            by.insert(finding.id);
                        }
                    }
                }
                assert!(by.len() < 2, "{} {} {label}: {by:?}", key.dataset, key.method);
            }
        }
    }
    assert!(idle.is_empty(), "these cells exist nowhere: {idle:?}");
    // No page lies in the folder unread.
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
    let pages: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(pages, findings.iter().map(|finding| finding.id.to_owned()).collect());
}

/// Numbers of findings are asked anew at every rendering; the sentences around them are not.
#[test]
fn sentences_around_numbers_hold_on_the_committed_records() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let records = committed();
    let selection = Selection::default();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let wrong: Vec<String> = catalogue()
        .findings()
        .unwrap()
        .iter()
        .flat_map(|finding| {
            let found = finding.contradictions(&context).unwrap();
            found.into_iter().map(|what| format!("{}: {what}", finding.id))
        })
        .collect();
    assert!(wrong.is_empty(), "reread these findings: {wrong:#?}");
}

/// A finding without records explains no cell; none waits for its own.
#[test]
fn findings_have_their_records() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let records = committed();
    let selection = Selection::default();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let all = catalogue().findings().unwrap();
    let waiting: Vec<&str> = all
        .iter()
        .filter(|finding| !finding.stands(&context).unwrap())
        .map(|finding| finding.id)
        .collect();
    assert!(waiting.is_empty(), "{waiting:?}");
}

/// What `askl-tuned-below-the-code` says of the search in words.
#[test]
fn on_poker_the_search_ends_on_both_sides_of_the_codes_values() {
    let given = catalogue().study("askl/table2").unwrap().given["poker"].clone();
    let records = committed();
    let of = |study: &str, variant: &str, method: &str| -> BTreeMap<u32, &Record> {
        let own = |record: &&Record| {
            let key = &record.key;
            let cell = (key.artefact.as_str(), key.variant.as_str(), key.method.as_str());
            cell == (study, variant, method)
                && key.dataset == "poker"
                && record.result.metrics.contains_key("accuracy")
        };
        records.records().filter(own).map(|record| (record.key.repeat, record)).collect()
    };
    let of_the_code = |record: &&&Record| {
        given.iter().all(|(name, value)| record.result.settings.get(name) == Some(value))
    };
    let nskl = of("askl/table2", "tuned", "nskl");
    assert_eq!((nskl.values().filter(of_the_code).count(), nskl.len()), (1, 10));
    let untuned = of("audit/askl", "standard-together", "askl");
    let gains: Vec<f64> = of("askl/table2", "tuned", "askl")
        .iter()
        .map(|(repeat, tuned)| {
            let accuracy = |record: &Record| record.result.metrics["accuracy"];
            100.0 * (accuracy(tuned) - accuracy(untuned[repeat]))
        })
        .collect();
    assert_eq!(gains.len(), 10);
    assert_eq!(gains.iter().filter(|gain| **gain > 0.0).count(), 8, "{gains:?}");
    let ends =
        gains.iter().fold((0f64, 0f64), |(low, high), &gain| (low.min(gain), high.max(gain)));
    assert_eq!((format!("{:.1}", ends.0), format!("{:.1}", ends.1)), ("-2.2".into(), "9.9".into()));
}

/// A misspelt study, variant, dataset, method or fact would stay "(not run)" for ever.
#[test]
fn every_query_of_a_finding_is_answered_by_a_full_set_of_records() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let (records, selection) = (made_up::with_simulations(&methods), made_up::selection());
    let context = made_up::context(&records, &methods, &selection, &missing);
    for finding in catalogue().findings().unwrap() {
        assert!(
            finding.answered(&context).unwrap(),
            "{}: {}",
            finding.id,
            finding.text(&context).unwrap()
        );
        let text = finding.text(&context).unwrap();
        assert!(!text.contains("(not run)") && !text.contains(['{', '}']), "{text}");
    }
}

/// The numbers of a finding are means over repeats, as in the table that shows it.
#[test]
fn a_finding_says_what_its_table_says() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let (records, selection) = (made_up::full(&methods), made_up::selection());
    let context = made_up::context(&records, &methods, &selection, &missing);
    let artefact =
        catalogue().artefacts().iter().find(|artefact| artefact.id == "rftk/figure1b").unwrap();
    let tables = artefact.render(&context).unwrap().tables;
    let head = |name: &str| tables[0].columns.iter().position(|c| c.head == name).unwrap();
    let (batch, end) = (head("Batch b"), head("100"));
    let found = catalogue().findings().unwrap();
    let text =
        |id: &str| found.iter().find(|finding| finding.id == id).unwrap().text(&context).unwrap();
    let said = text("rftk-distance-in-parameters");
    let mut compared = 0;
    for row in tables[0].rows.iter().filter(|row| row.cells[1].text == "printed") {
        if row.cells[batch].text == "10000" {
            let mean = row.cells[end].sort.unwrap();
            assert!(said.contains(&format!("{mean:.2}")), "{mean} is not in: {said}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
}
