//! The cost model among the records of the reference run.

use mercer_experiments::plannable;
use mercer_harness::{Basis, CostModel, check_cost_expressions, declared_bytes};
use mercer_learning::{Settings, Shape, Task, find};
use mercer_records::Record;
use mercer_report::RecordSet;
use std::collections::BTreeMap;
use std::path::Path;

/// Predicted over measured seconds: of all, and the median factor and that of nine in ten of those above 0.05 s.
fn error(model: &CostModel, left_out: &[&Record], basis: Basis) -> (f64, f64, f64) {
    let methods = plannable();
    // The mean of a cell with a single record is its record.
    let measured = CostModel::fit(left_out.iter().copied(), &methods, 0.005);
    let (mut sums, mut factors, mut bytes) = ((0.0, 0.0), Vec::new(), Vec::new());
    for record in left_out {
        let [told, took] = [model, &measured].map(|model| model.predict(&record.key));
        if (told.basis, took.basis) != (basis, Basis::Cell) {
            continue;
        }
        sums = (sums.0 + told.seconds, sums.1 + took.seconds);
        if took.seconds > 0.05 {
            factors.push((told.seconds / took.seconds).max(took.seconds / told.seconds));
        }
        bytes.push(took.bytes / told.bytes);
    }
    factors.sort_by(f64::total_cmp);
    bytes.sort_by(f64::total_cmp);
    let at = |all: &[f64], share: f64| all[(share * (all.len() - 1) as f64) as usize];
    let found = (sums.0 / sums.1, at(&factors, 0.5), at(&factors, 0.9));
    // Seen with --no-capture.
    println!(
        "{basis:?}: {} records, {:.1} h, total {:.3}, median {:.2}, nine of ten {:.2}, bytes {:.2} {:.2}",
        bytes.len(),
        sums.1 / 3600.0,
        found.0,
        found.1,
        found.2,
        at(&bytes, 0.5),
        at(&bytes, 0.95)
    );
    found
}

/// The records, with a number of their cell.
fn cells(records: &RecordSet) -> Vec<(usize, &Record)> {
    let mut numbers = BTreeMap::new();
    let mut found = Vec::new();
    // They come in any order, and the fifth cell shall be the same each time.
    let in_order: BTreeMap<String, &Record> =
        records.records().map(|record| (record.key.digest(), record)).collect();
    for record in in_order.into_values() {
        let key = &record.key;
        let part = key.tuning.get("part").is_some();
        let name = (&key.artefact, &key.variant, &key.dataset, &key.method, part);
        let count = numbers.len();
        found.push((*numbers.entry(name).or_insert(count), record));
    }
    found
}

/// The last repeat of each cell is predicted from the others: what a forecast of `paper` promises.
#[test]
fn cost_model_predicts_a_repeat_left_out() {
    let mut records = RecordSet::new();
    records.add_archive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records"));
    let cells = cells(&records);
    let mut last: BTreeMap<usize, u32> = BTreeMap::new();
    for (cell, record) in &cells {
        let most = last.entry(*cell).or_default();
        *most = record.key.repeat.max(*most);
    }
    let (out, rest): (Vec<_>, Vec<_>) = cells
        .iter()
        .partition(|(cell, record)| record.key.repeat > 0 && record.key.repeat == last[cell]);
    let of = |all: Vec<&(usize, &'_ Record)>| -> Vec<Record> {
        all.into_iter().map(|(_, record)| (*record).clone()).collect()
    };
    let (out, rest) = (of(out), of(rest));
    let model = CostModel::fit(&rest, &plannable(), 0.005);
    let (total, median, nine_of_ten) = error(&model, &out.iter().collect::<Vec<_>>(), Basis::Cell);
    assert!((total - 1.0).abs() < 0.2 && median < 1.3 && nine_of_ten < 2.0);
}

/// Every fifth cell is left out whole: its method's factor times its declared cost tells the order of magnitude.
#[test]
fn cost_model_predicts_cells_without_a_record_by_a_factor() {
    let mut records = RecordSet::new();
    records.add_archive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records"));
    let cells = cells(&records);
    let (out, rest): (Vec<_>, Vec<_>) = cells.iter().partition(|(cell, _)| cell % 5 == 0);
    let model = CostModel::fit(rest.iter().map(|(_, record)| *record), &plannable(), 0.005);
    // One repeat of each: the mean of a cell stands for itself.
    let out: Vec<&Record> = out.iter().map(|(_, record)| *record).collect();
    let (total, median, nine_of_ten) = error(&model, &out, Basis::Method);
    assert!(total > 1.0 / 3.0 && total < 3.0 && median < 2.0 && nine_of_ten < 10.0);
}

/// A cost that the model cannot read is no cost: such methods once counted as nothing in a forecast.
#[test]
fn every_declared_cost_can_be_evaluated() {
    for method in plannable() {
        for task in [Task::Classification { classes: 10 }, Task::Regression] {
            let shape = Shape { rows: 5000, features: 784, task };
            if method.tasks.include(task) {
                assert_eq!(check_cost_expressions(&method, &shape), Ok(()), "{}", method.name);
            }
        }
    }
}

/// Explicit features are there for many rows: they are not charged for the Gram matrix.
#[test]
fn explicit_features_are_not_charged_for_the_gram_matrix() {
    let methods = plannable();
    let shape = Shape { rows: 60_000, features: 2, task: Task::Classification { classes: 2 } };
    for name in ["gmce", "gmce-sgd", "mce-erm", "mce-median"] {
        let method = find(&methods, name).unwrap();
        let bytes = |settings: &Settings| {
            let settings = (method.defaults)(&shape).overridden_by(settings);
            declared_bytes(method, &shape, &settings).unwrap()
        };
        assert!((bytes(&Settings::new()) / 28.8e9 - 1.0).abs() < 1e-12, "{name}");
        let fourier = bytes(&Settings::new().with("map", "fourier").with("features", 200));
        assert!((0.096e9..0.6e9).contains(&fourier), "{name}: {fourier}");
        // 21 monomials of two columns up to degree 5.
        let monomials = Settings::new().with("map", "monomials").with("kernel", "polynomial");
        let monomials = bytes(&monomials.with("degree", 5));
        assert!((0.01e9..0.06e9).contains(&monomials), "{name}: {monomials}");
    }
}
