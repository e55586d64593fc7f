//! Verdicts over the records that are committed.

use crate::common::committed;
use crate::made_up;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, plan};
use mercer_report::{CellReport, RecordSet, RenderContext, Rendered};
use std::collections::{BTreeMap, BTreeSet};

/// A finding that says why cells differ must be on the right side of the print, cell by cell; and the
/// classes of the verdicts add up to the cells that are printed.
#[test]
fn verdicts_add_up_and_causes_point_the_right_way() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let records = committed();
    let selection = Selection::default();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let findings = catalogue().findings().unwrap();
    let (mut summed, mut explained) = (0, 0);
    for id in ["askl/table2", "rftk/table1", "hyper/table1", "hyper/table3"] {
        let artefact = catalogue().artefacts().iter().find(|artefact| artefact.id == id).unwrap();
        let Rendered { tables, cells, .. } = artefact.render(&context).unwrap();
        let summary = tables.iter().find(|table| table.id.ends_with("-verdicts")).unwrap();
        let head = |name: &str| summary.columns.iter().position(|c| c.head == name).unwrap();
        let (first, all) = (head("exact"), head("all"));
        assert_eq!(all - first, 9, "{id}: a column for each class");
        let mut total = 0;
        for row in &summary.rows {
            let count = |at: usize| row.cells[at].text.parse::<usize>().unwrap();
            assert_eq!((first..all).map(count).sum::<usize>(), count(all), "{id}");
            total += count(all);
            summed += 1;
        }
        // A line without a number that could be judged is left out.
        let judged = |cell: &&CellReport| {
            cell.verdict.as_deref().is_some_and(|verdict| !["short", "missing"].contains(&verdict))
        };
        let lines: BTreeSet<(&str, &str)> =
            cells.iter().filter(judged).map(|cell| (&*cell.variant, &*cell.metric)).collect();
        let of_lines = cells.iter().filter(|cell| {
            cell.verdict.is_some() && lines.contains(&(&*cell.variant, &*cell.metric))
        });
        assert_eq!(total, of_lines.count(), "{id}");
        for cell in cells.iter().filter(|cell| cell.verdict.as_deref() == Some("differs")) {
            let place =
                format!("{} {} {} {}", cell.artefact, cell.dataset, cell.method, cell.variant);
            let Some(named) = &cell.finding else { continue };
            let finding = findings.iter().find(|finding| finding.id == named).unwrap();
            let claimed = finding.cells.iter().find(|cells| {
                cells.include(&cell.artefact, &cell.variant, &cell.dataset, &cell.method)
                    && cells.speak_of(&cell.label)
                    && cells.lead(cell.difference.unwrap())
            });
            let claimed = claimed.unwrap_or_else(|| panic!("{place}: the other side of {named}"));
            if cell.cause_known == Some(true) && id == "askl/table2" {
                assert!(claimed.ours.is_some(), "{place}: the cause names no side of the print");
                explained += 1;
            }
        }
    }
    assert!(summed >= 6 && explained >= 6, "{summed} {explained}");
}

/// What a control leaves out the printed cells have: it is judged against none of them. And the penalty
/// of RFTK does what it is for where its weight is large, in the few steps that it takes part in.
#[test]
fn controls_have_no_verdict_and_say_what_their_penalty_did() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let records = committed();
    let selection = Selection::default();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let rendered = |id: &str| {
        let artefact = catalogue().artefacts().iter().find(|artefact| artefact.id == id).unwrap();
        artefact.render(&context).unwrap()
    };
    let table1 = rendered("rftk/table1");
    let of = |variant: &str| -> Vec<Option<&str>> {
        let own = table1.cells.iter().filter(|cell| cell.variant == variant);
        own.filter(|cell| cell.mean.is_some()).map(|cell| cell.verdict.as_deref()).collect()
    };
    for control in ["no-trace", "printed-no-trace", "tuned-no-trace"] {
        assert!(!of(control).is_empty(), "{control} has no cell");
        assert!(of(control).iter().all(Option::is_none), "{control}: {:?}", of(control));
    }
    // Ours stand beside the strokes of the paper, too, without a verdict.
    let mut printed =
        table1.cells.iter().filter(|cell| cell.variant == "released" && cell.published.is_some());
    assert!(printed.all(|cell| cell.mean.is_none() || cell.verdict.is_some()));
    let audit = rendered("audit/rftk-beta-zero");
    let steps = audit.tables.iter().find(|t| t.id == "audit/rftk-beta-zero-steps").unwrap();
    let row = |variant: &str, dataset: &str| -> Vec<f64> {
        let own = |row: &&mercer_render::Row| {
            (row.cells[0].text.as_str(), row.cells[1].text.as_str()) == (variant, dataset)
        };
        let row = steps.rows.iter().find(own).unwrap();
        row.cells[2..6].iter().map(|cell| cell.text.parse().unwrap()).collect()
    };
    let [moves, penalised, with, without] = row("released", "dna")[..] else { unreachable!() };
    assert_eq!((moves, penalised), (500.0, 10.0));
    assert!(with < 0.5 * without, "{with} {without}");
    assert_eq!(row("printed", "wine")[..2], [5.0, 5.0]); // s = 100
}

/// A mean over four repeats is no rival of one over ten: on those four the other may lead. And the marks of a
/// row are those of the paper's methods, whatever stands beside them.
#[test]
fn means_are_ranked_over_common_repeats() {
    let (methods, missing) = (plannable(), BTreeMap::new());
    let selection = Selection {
        repeats: Some(10),
        variants: vec!["tuned".to_owned()],
        datasets: vec!["segment".to_owned()],
        ..Selection::default()
    };
    let spec = catalogue().study("askl/table2").unwrap();
    let trials = plan(&spec, &methods, "paper", &selection, &|_| None).unwrap();
    let records = trials.iter().filter_map(|trial| {
        let (method, repeat) = (trial.key.method.as_str(), trial.key.repeat);
        let accuracy = match (method, repeat) {
            ("gaussian-svm" | "askl", 4..) => return None,
            ("gaussian-svm" | "askl", _) => 0.97,
            ("rf-ridge", _) => 0.99,
            ("nskl", 0..4) => 0.98,
            ("nskl", _) => 0.95,
            _ => 0.9,
        };
        let mut record = made_up::record(trial);
        record
            .result
            .metrics
            .insert("accuracy".to_owned(), accuracy + 1e-4 * f64::from(repeat % 3));
        Some(record)
    });
    let mut set = RecordSet::new();
    set.add(records);
    let context = made_up::context(&set, &methods, &selection, &missing);
    let table =
        catalogue().artefacts().iter().find(|artefact| artefact.id == "askl/table2").unwrap();
    let rendered = table.render(&context).unwrap();
    let cell = |method: &str| rendered.cells.iter().find(|cell| cell.method == method).unwrap();
    let mean = |method: &str| cell(method).mean.unwrap();
    assert!(mean("askl") > mean("nskl"), "each by its own repeats");
    let best = rendered.cells.iter().filter(|cell| cell.best);
    let best: Vec<&str> = best.map(|cell| cell.method.as_str()).collect();
    // Nor is a method for reference, though ahead of all: the paper's marks are among its own methods.
    assert_eq!(best, ["nskl"]);
    let line = rendered.tables[0].rows.iter().find(|row| row.cells[0].text == "tuned").unwrap();
    let shown = |head: &str| {
        let columns = &rendered.tables[0].columns;
        &line.cells[columns.iter().position(|column| column.head == head).unwrap()]
    };
    let badge = |head: &str| shown(head).badge.as_ref().map(|badge| badge.text.as_str());
    let marked = |head: &str| shown(head).bold || shown(head).underline;
    assert_eq!(
        ["random (solved)", "kernel ridge"].map(badge),
        [Some("significantly better +2.80"), Some("significantly worse -6.20")]
    );
    assert_eq!(["random (solved)", "Gaussian SVM", "NSKL"].map(marked), [false, false, true]);
    assert!((cell("rf-ridge").over_best.unwrap() - 2.8).abs() < 1e-9);
    assert_eq!((cell("gaussian-svm").pairs, cell("nskl").over_best), (4, None));
    let claims = catalogue().claims("askl").unwrap();
    let claim = claims.iter().find(|claim| claim.id == "gaussian-svm-ahead-of-all").unwrap();
    let results = claim.check(&context).unwrap();
    let corrected = results.iter().find(|result| result.variant == "tuned").unwrap();
    assert!(corrected.numbers.contains("best on 0"), "{}", corrected.numbers);
}

/// Each published cell has its dataset and its method in the study that reproduces it.
#[test]
fn every_published_number_stands_beside_one_of_ours() {
    let (repeats, cells) = catalogue().published("askl").unwrap();
    let spec = catalogue().study("askl/table2").unwrap();
    assert_eq!((repeats, cells.len()), (spec.repeats as usize, 60));
    let (methods, missing) = (plannable(), BTreeMap::new());
    let (records, selection) = (made_up::full(&methods), made_up::selection());
    let context = made_up::context(&records, &methods, &selection, &missing);
    let table =
        catalogue().artefacts().iter().find(|artefact| artefact.id == "askl/table2").unwrap();
    let shown = table.render(&context).unwrap().cells;
    for published in cells {
        assert!(published.std >= 0.0 && published.mean > 0.0);
        for variant in &spec.variants {
            let beside = shown.iter().filter(|cell| {
                cell.dataset == published.dataset
                    && cell.label == published.method
                    && cell.variant == variant.name
            });
            let of_variant: Vec<_> = beside.collect();
            let (dataset, method) = (&published.dataset, &published.method);
            assert_eq!(of_variant.len(), 1, "{dataset} {method} {}", variant.name);
            let number = of_variant[0].published.unwrap();
            assert_eq!((number.mean, number.std), (published.mean, published.std));
            // Two of the paper's thirty repeats decide nothing.
            assert_eq!(of_variant[0].verdict.as_deref(), Some("short"));
        }
    }
}
