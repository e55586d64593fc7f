//! The cost model on the records of the reference run.

use mercer_experiments::{Shelf, plannable};
use mercer_harness::{CostModel, HoldOut, declared_bytes, understood};
use mercer_learning::{Settings, Shape, Task, find};
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
        assert!(error.seconds > error.doubtful_seconds, "{by:?}: {error:?}");
        assert!((error.total - 1.0).abs() < 0.25, "{by:?}: {error:?}");
        assert!(error.median < median && error.nine_of_ten < nine_of_ten, "{by:?}: {error:?}");
        // Memory is asked for with this factor.
        assert!(error.bytes < 4.0, "{by:?}: {error:?}");
    }
    // So do the largest declared costs of each method, predicted from the smaller ones.
    let largest = CostModel::held_out(shelf.records(), &methods, HoldOut::Largest).unwrap();
    println!("largest: {largest:?}");
    assert!(largest.records > 1000 && (largest.total - 1.0).abs() < 0.25, "{largest:?}");
    assert!(largest.median < 3.0, "{largest:?}");
    // A method that has no record has its declared cost alone: a forecast says how many hours are of that kind.
    let methods = CostModel::held_out(shelf.records(), &methods, HoldOut::Methods).unwrap();
    println!("methods: {methods:?}");
    assert!(methods.total > 1.0 / 3.0 && methods.total < 3.0, "{methods:?}");
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
