//! The cost model on the records of the reference run.

use mercer_experiments::{Shelf, plannable};
use mercer_harness::{CostModel, HoldOut, understood};
use mercer_learning::{Shape, Task};
use std::path::Path;

/// The total of what the model has not seen, within a quarter: what a forecast of `paper` promises.
#[test]
fn the_total_of_unseen_records_is_predicted_within_a_quarter() {
    let mut shelf = Shelf::new();
    shelf.add_archive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records")).unwrap();
    let methods = plannable();
    let fifths = CostModel::held_out(shelf.records(), &methods, HoldOut::Fifths).unwrap();
    assert!(fifths.records > 1000, "{fifths:?}");
    assert!((fifths.total - 1.0).abs() < 0.25, "{fifths:?}");
    assert!(fifths.median < 2.0, "{fifths:?}");
    // A dataset that was never run is harder: the sum still has the right size.
    let datasets = CostModel::held_out(shelf.records(), &methods, HoldOut::Datasets).unwrap();
    assert!((0.5..2.0).contains(&datasets.total), "{datasets:?}");
}

/// A cost that the model cannot read is no cost: such methods once counted as nothing in a forecast.
#[test]
fn every_declared_cost_is_understood() {
    for method in plannable() {
        for task in [Task::Classification { classes: 10 }, Task::Regression] {
            let shape = Shape { rows: 5000, features: 784, task };
            if method.tasks.include(task) {
                assert_eq!(understood(&method, &shape), Ok(()), "{}", method.name);
            }
        }
    }
}
