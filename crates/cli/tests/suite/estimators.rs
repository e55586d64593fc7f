//! What scikit-learn's estimator checks verify of estimators, of every registered method, through
//! the workbench: from text to a model file and back.

use mercer_datasets::{RowFile, RowFormat, SchemaOptions};
use mercer_experiments::registry;
use mercer_learning::{Method, Settings, Task};
use mercer_workbench::{Choices, Model, Predicted, Table, WorkbenchError, fit};
use ndarray::{Axis, s};
use std::fmt::Write;
use std::path::Path;

fn wave(i: usize, k: usize) -> f64 {
    ((i * k) as f64 * 0.618).sin()
}

/// Two classes whose names are words, or a number, from two columns.
fn text(task: Task, rows: usize) -> String {
    let mut text = "x,z,y\n".to_owned();
    for i in 0..rows {
        let (x, z) = (2.0 * wave(i, 31), wave(i, 17));
        match task {
            Task::Classification { .. } => {
                let name = if x + 0.3 * z > 0.0 { "yes, so" } else { "no" };
                writeln!(text, "{x},{z},\"{name}\"").unwrap();
            }
            Task::Regression => writeln!(text, "{x},{z},{}", 100.0 + 7.0 * x - z).unwrap(),
        }
    }
    text
}

fn read(text: &str) -> (RowFile, Result<Table, WorkbenchError>) {
    let file = RowFile::spooled(text.as_bytes(), "text", Some(RowFormat::Text(b','))).unwrap();
    let table = Table::read(&file, &SchemaOptions::default());
    (file, table)
}

fn choices(method: &Method, table: &Table) -> Choices<'static> {
    let shape = mercer_learning::Shape {
        rows: table.rows(),
        features: table.schema.width(),
        task: table.task(),
    };
    let defaults = (method.defaults)(&shape);
    let small = [("features", 64.0), ("epochs", 3.0)].into_iter();
    let settings = small
        .filter(|(name, _)| defaults.get(name).is_some())
        .fold(Settings::new(), |all, (name, value)| all.with(name, value as u64));
    Choices { settings, ..Choices::plain() }
}

fn fitted(method: &Method, table: &Table, file: &RowFile) -> Result<Model, WorkbenchError> {
    fit(&registry(), method.name, table, file, &choices(method, table))
}

fn every(mut check: impl FnMut(&Method, Task)) {
    for method in registry() {
        for task in [Task::Classification { classes: 2 }, Task::Regression] {
            if method.tasks.include(task) {
                check(&method, task);
            }
        }
    }
}

#[test]
fn every_model_survives_its_file_bit_by_bit() {
    every(|method, task| {
        let (file, table) = read(&text(task, 60));
        let table = table.unwrap();
        let model =
            fitted(method, &table, &file).unwrap_or_else(|e| panic!("{}: {e}", method.name));
        let bytes = model.to_bytes().unwrap();
        let again = Model::from_bytes(&bytes, Path::new("m"), &registry())
            .unwrap_or_else(|e| panic!("{}: {e}", method.name));
        assert_eq!(again.header, model.header, "{}", method.name);
        assert_eq!(again.to_bytes().unwrap(), bytes, "{}", method.name);
        let predict =
            |model: &Model| model.predict(table.raw.clone(), "t", &table.lines, 2).unwrap();
        assert_eq!(predict(&again), predict(&model), "{}", method.name);
        // The same words give the same model, to the last bit.
        assert_eq!(
            fitted(method, &table, &file).unwrap().to_bytes().unwrap(),
            bytes,
            "{}",
            method.name
        );
        // No threads, no company, no order changes a row's prediction.
        let alone = model.predict(table.raw.slice(s![7..8, ..]).to_owned(), "t", &[1], 1).unwrap();
        let mut turned = table.raw.clone();
        turned.invert_axis(Axis(0));
        let turned =
            model.predict(turned.as_standard_layout().into_owned(), "t", &table.lines, 1).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs().max(1.0);
        match (predict(&model), alone, turned) {
            (Predicted::Classes(all), Predicted::Classes(one), Predicted::Classes(back)) => {
                assert_eq!(one[0], all[7], "{}", method.name);
                assert!(back.iter().rev().eq(&all), "{}", method.name);
            }
            (Predicted::Values(all), Predicted::Values(one), Predicted::Values(back)) => {
                assert!(near(one[0], all[7]), "{}", method.name);
                assert!(back.iter().rev().zip(&all).all(|(a, b)| near(*a, *b)), "{}", method.name);
            }
            other => panic!("{}: {other:?}", method.name),
        }
        assert_eq!(
            model.header.schema.target.labels.len(),
            if task == Task::Regression { 0 } else { 2 }
        );
    });
}

#[test]
fn every_method_keeps_the_settings_that_it_was_given() {
    every(|method, task| {
        let (file, table) = read(&text(task, 40));
        let table = table.unwrap();
        let choices = choices(method, &table);
        let model = fitted(method, &table, &file).unwrap();
        for (name, value) in choices.settings.iter() {
            assert_eq!(model.header.settings.get(name), Some(value), "{}: {name}", method.name);
        }
        // What the header says builds the same learner.
        method.learner(&model.header.settings, task).unwrap();
    });
}

#[test]
fn few_rows_and_columns_end_in_a_model_or_in_a_clear_error() {
    every(|method, task| {
        let whole = text(task, 40);
        let lines: Vec<&str> = whole.lines().collect();
        let each = |change: &dyn Fn(usize, &str) -> String| {
            let changed = lines.iter().enumerate().map(|(at, line)| change(at, line));
            changed.collect::<Vec<_>>().join("\n")
        };
        let narrow = each(&|_, line| line.split_once(',').unwrap().1.to_owned());
        let constant = each(&|at, line| format!("{},{line}", if at == 0 { "c" } else { "1" }));
        for (what, text) in [
            ("one row", format!("{}\n{}\n", lines[0], lines[1])),
            ("two rows", format!("{}\n{}\n{}\n", lines[0], lines[1], lines[3])),
            ("one column", narrow),
            ("a constant column", constant),
        ] {
            let (file, table) = read(&text);
            let ended =
                table.and_then(|table| fitted(method, &table, &file).map(|model| (table, model)));
            match ended {
                Ok((table, model)) => {
                    let found = model.predict(table.raw.clone(), "t", &table.lines, 1).unwrap();
                    if let Predicted::Values(values) = found {
                        assert!(values.iter().all(|v| v.is_finite()), "{} of {what}", method.name);
                    }
                }
                Err(error) => {
                    assert!(error.to_string().len() > 20, "{} of {what}: {error}", method.name);
                }
            }
        }
    });
}

/// Numbers that single precision can hold give the same model whichever way they are written.
#[test]
fn narrow_and_wide_numbers_are_the_same_numbers() {
    let plain = "a,y\n0.5,u\n0.25,v\n-1.5,u\n2,v\n";
    let wide = "a,y\n0.5000000000000000,u\n2.5e-1,v\n-15e-1,u\n+2.0,v\n";
    every(|method, task| {
        if task != Task::Regression {
            let model = |text: &str| {
                let (file, table) = read(text);
                let table = table.unwrap();
                fitted(method, &table, &file)
                    .map(|model| model.predict(table.raw.clone(), "t", &table.lines, 1).unwrap())
            };
            match (model(plain), model(wide)) {
                (Ok(a), Ok(b)) => assert_eq!(a, b, "{}", method.name),
                (a, b) => assert!(a.is_err() && b.is_err(), "{}", method.name),
            }
        }
    });
}
