//! The cost model on the records of the reference run.

use mercer_experiments::{Shelf, plannable};
use mercer_harness::{CostModel, HoldOut, understood};
use mercer_learning::{Shape, Task};
use std::path::Path;

/// The total of what the model has not seen, within a quarter: what a forecast of `paper` promises. Not
/// of other repeats alone: of cells (study, variant, dataset, method) and of datasets no record of which
/// it has seen. Single trials are told by a factor.
#[test]
fn the_total_of_unseen_cells_and_datasets_is_predicted_within_a_quarter() {
    let mut shelf = Shelf::new();
    shelf.add_archive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records")).unwrap();
    let methods = plannable();
    for (by, median, nine_of_ten) in
        [(HoldOut::Fifths, 2.0, 4.0), (HoldOut::Cells, 2.2, 6.0), (HoldOut::Datasets, 2.2, 6.0)]
    {
        let error = CostModel::held_out(shelf.records(), &methods, by).unwrap();
        // Seen with --no-capture.
        println!("{by:?}: {error:?}");
        assert!(error.records > 1000 && error.records > 2 * error.doubtful, "{by:?}: {error:?}");
        assert!((error.total - 1.0).abs() < 0.25, "{by:?}: {error:?}");
        assert!(error.median < median && error.nine_of_ten < nine_of_ten, "{by:?}: {error:?}");
        // Memory is asked for with this factor.
        assert!(error.bytes < 4.0, "{by:?}: {error:?}");
    }
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
