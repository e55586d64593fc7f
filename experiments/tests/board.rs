//! The leaderboard: ranks, what has no score, what is not run.

use crate::made_up;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, plan};
use mercer_records::{Record, Status};
use mercer_render::Table;
use mercer_report::{Drawing, RecordSet, RenderContext, Rendered};
use std::collections::BTreeMap;

const STUDY: &str = "leaderboard/board";

/// The board of these records: made up, but for what `change` makes of each; it leaves out what it gives none for.
fn board(change: impl Fn(Record) -> Option<Record>) -> Rendered {
    let (methods, selection) = (plannable(), Selection::default());
    let spec = catalogue().study(STUDY).unwrap();
    let trials = plan(&spec, &methods, "paper", &selection, &|_| None).unwrap();
    let mut records = RecordSet::new();
    let timed = |mut record: Record| {
        record.run.seconds = [("fit".to_owned(), 1.0)].into();
        record
    };
    records.add(trials.iter().map(made_up::record).map(timed).filter_map(change));
    let missing = BTreeMap::new();
    let context =
        RenderContext::new(catalogue(), &records, &methods, "paper", &selection, &missing);
    let artefact = catalogue().artefacts().iter().find(|artefact| artefact.id == STUDY).unwrap();
    artefact.render(&context).unwrap()
}

/// With this accuracy.
fn scored(mut record: Record, accuracy: f64) -> Record {
    record.result.metrics.insert("accuracy".to_owned(), accuracy);
    Record::new(record.key, record.result, record.run)
}

/// The cells of the row of a method, by the head of their column.
fn row<'a>(table: &'a Table, method: &str) -> BTreeMap<&'a str, &'a str> {
    let of_method = |row: &&mercer_render::Row| row.cells.iter().any(|cell| cell.text == method);
    let row = table.rows.iter().find(of_method).unwrap();
    let heads = table.columns.iter().map(|column| column.head.as_str());
    heads.zip(row.cells.iter().map(|cell| cell.text.as_str())).collect()
}

#[test]
fn the_best_everywhere_has_rank_one_and_its_gain_is_in_points() {
    let rendered = board(|record| {
        let accuracy = match record.key.method.as_str() {
            "rfm" => 0.9,
            "gaussian-svm" => 0.85,
            _ => 0.5,
        };
        Some(scored(record, accuracy))
    });
    let [table, scores] = &rendered.tables[..] else { panic!("{}", rendered.tables.len()) };
    let first = row(table, "RFM");
    let said = "The methods differ (Friedman's test, p = ";
    assert!(table.caption.starts_with(said), "{}", table.caption);
    assert!(table.caption.contains("of each kind: RFM (learned) 1.0, Gaussian SVM"));
    assert_eq!((first["Place"], first["Mean rank"], first["Gain (points)"]), ("1", "1.00", "5.0"));
    assert_eq!((first["P(gains a point)"], first["Won : lost"]), ("1.00", "12:0"));
    assert!(!first.contains_key("No score on"));
    assert_eq!(row(table, "Gaussian SVM")["Gain (points)"], "-"); // against itself
    assert_eq!(row(scores, "RFM")["iris"], "90.0");
    // A diagram of ranks, the costs, the map.
    assert_eq!(rendered.drawings.len(), 3);
    for drawing in &rendered.drawings {
        let svg = match drawing {
            Drawing::Figure(figure) => figure.svg(),
            Drawing::Diagram(diagram) => diagram.svg(),
        };
        assert!(svg.unwrap().contains("RFM"));
    }
}

/// Three repeats add up in any order; means that differ by rounding are a tie.
#[test]
fn a_tie_is_a_tie_in_any_order_of_the_repeats() {
    let scores = [[0.9, 0.8, 0.7], [0.7, 0.9, 0.8]];
    let rendered = board(|record| {
        let repeat = record.key.repeat as usize;
        let accuracy = match record.key.method.as_str() {
            "rfm" => scores[0][repeat],
            "gaussian-svm" => scores[1][repeat],
            _ => 0.5,
        };
        Some(scored(record, accuracy))
    });
    let first = row(&rendered.tables[0], "RFM");
    assert_eq!((first["Place"], first["Won : lost"]), ("1=", "0:0"));
}

#[test]
fn what_has_no_score_is_ranked_last() {
    let rendered = board(|mut record| {
        if record.key.method != "askl" || record.key.dataset != "iris" {
            return Some(record);
        }
        record.result.metrics.clear();
        record.result.status = Status::OutOfTime;
        Some(Record::new(record.key, record.result, record.run))
    });
    let [table, scores] = &rendered.tables[..] else { panic!("{}", rendered.tables.len()) };
    assert_eq!(row(table, "ASKL")["No score on"], "1");
    assert_eq!(row(scores, "ASKL")["iris"], "-");
    assert!(table.notes.iter().all(|note| !note.contains("Left out")), "{:?}", table.notes);
}

#[test]
fn a_dataset_that_a_method_was_not_run_on_is_left_out_and_named() {
    let lacks = |record: &Record| record.key.method == "askl" && record.key.dataset == "iris";
    let rendered = board(|record| (!lacks(&record)).then_some(record));
    let [table, scores] = &rendered.tables[..] else { panic!("{}", rendered.tables.len()) };
    assert!(scores.columns.iter().all(|column| column.head != "iris"));
    assert!(table.notes.iter().any(|note| note.contains("iris (askl)")), "{:?}", table.notes);
}
