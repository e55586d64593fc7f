//! Rows that are mostly 0 stay so, and give the numbers of rows that are not.

use mercer_baselines::BASELINES;
use mercer_datasets::{RowFile, RowFormat, Scaling, SchemaOptions};
use mercer_learning::{Settings, Streams};
use mercer_linalg::Matrix;
use mercer_models::rftk;
use mercer_workbench::{
    Budget, Choices, ExtraColumns, Model, Predicted, PredictedRows, Splitting, Table,
    WorkbenchError, evaluate, fit, tune,
};
use rand::Rng;
use std::path::Path;

const COLUMNS: usize = 6000;

/// Two classes, or a number, of rows with some 20 of 6000 columns.
fn text(rows: usize, numbers: bool) -> String {
    let mut rng = Streams::root(7).rng("rows");
    let row = |_| {
        let second = rng.gen_bool(0.5);
        let mut columns: Vec<usize> = (0..20).map(|_| rng.gen_range(1..=COLUMNS)).collect();
        // A third of each row tells its class.
        columns.extend((0..6).map(|_| rng.gen_range(1..40) + if second { 100 } else { 0 }));
        columns.sort_unstable();
        columns.dedup();
        let noise: f64 = rng.gen_range(-0.3..0.3);
        let target = if numbers { f64::from(second) + noise } else { f64::from(second) };
        let entries: Vec<String> =
            columns.into_iter().map(|at| format!("{at}:{:.3}", rng.gen_range(0.5..2.0))).collect();
        format!("{target} {}\n", entries.join(" "))
    };
    // Every column occurs.
    let all: Vec<String> = (1..=COLUMNS).map(|at| format!("{at}:0.001")).collect();
    let first = format!("{} {}\n", f64::from(numbers) * 0.5, all.join(" "));
    first + &(1..rows).map(row).collect::<String>()
}

fn tables(numbers: bool) -> (Table, Table) {
    let text = text(300, numbers);
    let file = RowFile::spooled(text.as_bytes(), "rows", Some(RowFormat::Svmlight)).unwrap();
    let kind = numbers.then_some(mercer_datasets::Kind::Regression);
    let sparse = Table::read(&file, &SchemaOptions { kind, ..SchemaOptions::default() }).unwrap();
    assert!(matches!(sparse.raw, Matrix::Sparse(_)));
    let dense = Table { raw: sparse.raw.dense(0..300).into(), ..sparse.clone() };
    (sparse, dense)
}

fn scores(model: &Model, table: &Table) -> Vec<f64> {
    let rows = table.raw.dense(0..table.rows());
    let decided = model.decision(rows, &table.name, &table.lines, 2).unwrap();
    decided.into_iter().collect()
}

/// A kernel of distances is blind to what is subtracted from all rows, so that the standard scaling gives equal numbers;
/// products are not, and are compared unscaled.
#[test]
fn sparse_rows_give_the_numbers_of_dense_ones() {
    let methods = mercer_methods::registry();
    for numbers in [false, true] {
        let (sparse, dense) = tables(numbers);
        for (method, kernel, scaling) in [
            ("gaussian-svm", "gaussian", Scaling::Standard),
            ("gaussian-svm", "linear", Scaling::None),
            ("kernel-ridge", "gaussian", Scaling::Standard),
            ("kernel-ridge", "matern-3/2", Scaling::Standard),
            ("kernel-ridge", "polynomial", Scaling::None),
            ("falkon", "laplace", Scaling::Standard),
            ("metric-svm", "", Scaling::Standard),
        ] {
            let kernel = Settings::new().with("kernel", kernel);
            let settings = match method {
                "gaussian-svm" => kernel.with("tolerance", 1e-9),
                "metric-svm" => Settings::new().with("tolerance", 1e-9),
                "falkon" => kernel.with("centres", 100).with("lambda", 1e-3),
                _ => kernel.with("lambda", 1e-3),
            };
            let choices = Choices { settings, scaling, ..Choices::plain() };
            let [of_sparse, of_dense] =
                [&sparse, &dense].map(|table| fit(&methods, method, table, &choices).unwrap());
            for (found, expected) in
                scores(&of_sparse, &dense).iter().zip(scores(&of_dense, &dense))
            {
                let apart = (found - expected).abs();
                assert!(apart < 1e-6, "{method}: {found} {expected}");
            }
            assert_eq!(
                of_sparse.score(&sparse, 2).unwrap().0,
                of_sparse.score(&dense, 1).unwrap().0
            );
            // It is kept by what is not 0: twelve bytes a number, not eight a column.
            let (bytes, held) = (of_sparse.to_bytes().unwrap(), sparse.raw.dim());
            if method != "falkon" {
                assert!(bytes.len() < held.0 * held.1 * 2, "{method} {}", bytes.len());
            }
            let again = Model::from_bytes(&bytes, Path::new("m"), &methods).unwrap();
            assert_eq!(scores(&again, &sparse), scores(&of_sparse, &sparse));
        }
    }
}

#[test]
fn what_is_learned_from_parts_is_learned_from_sparse_parts() {
    let (sparse, dense) = tables(false);
    let settings = Settings::new().with("std", 0.2);
    let choices = Choices { settings, scaling: Scaling::None, calibrate: true, ..Choices::plain() };
    let estimates = |table: &Table| {
        let split = Splitting::default();
        let found = evaluate(BASELINES, "gaussian-svm", table, split, &choices, |_, _| {}).unwrap();
        [found.estimates["accuracy"].mean, found.estimates["auc"].mean]
    };
    let (found, expected) = (estimates(&sparse), estimates(&dense));
    for (own, other) in found.iter().zip(expected) {
        assert!((own - other).abs() < 1e-6, "{found:?} {expected:?}");
    }
    assert!(found[0] > 0.8, "{found:?}");
    // New rows, read by what is not 0.
    let model = fit(BASELINES, "gaussian-svm", &sparse, &choices).unwrap();
    let file = RowFile::spooled(text(200, false).as_bytes(), "new", Some(RowFormat::Svmlight));
    let beside = ExtraColumns { probabilities: true, ..ExtraColumns::default() };
    let (mut classes, mut shares) = (Vec::new(), Vec::new());
    let form = |rows: PredictedRows| (rows.predicted, rows.probabilities.unwrap());
    let count = model.predict_file(&file.unwrap(), 2, &beside, form, |(predicted, own)| {
        if let Predicted::Classes(own) = predicted {
            classes.extend(own);
        }
        shares.extend(own);
        Ok::<(), WorkbenchError>(())
    });
    assert_eq!(count.unwrap(), 200);
    let first: Vec<usize> = (0..200).collect();
    let (rows, lines) = (dense.raw.select(&first), &dense.lines[..200]);
    let expected = model.probabilities(rows.clone(), "rows", lines, 1).unwrap();
    assert!(shares.iter().zip(&expected).all(|(own, other)| (own - other).abs() < 1e-12));
    assert_eq!(Predicted::Classes(classes), model.predict(rows, "rows", lines, 1).unwrap());
    let method = mercer_learning::find(BASELINES, "kernel-ridge").unwrap();
    let tuned = tune(method, &sparse, Budget::Candidates(3), &Choices::plain()).unwrap();
    assert!(tuned.history.len() >= 3 && tuned.chosen.contains_key("lambda"));
}

/// Whoever needs all numbers gets them, with the same scaling.
#[test]
fn other_methods_fit_to_all_numbers() {
    let (sparse, dense) = tables(false);
    let settings = Settings::new().with("features", 30);
    let choices = Choices { settings, scaling: Scaling::None, ..Choices::plain() };
    let said = |table: &Table| {
        let model = fit(rftk::METHODS, "rf-ridge", table, &choices).unwrap();
        let Predicted::Classes(classes) = model.score(&sparse, 1).unwrap().0 else { panic!() };
        classes
    };
    assert_eq!(said(&sparse), said(&dense));
}
