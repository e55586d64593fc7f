//! What scikit-learn's estimator checks verify of estimators, of every registered method, through
//! the workbench: from text to a model file and back.

use mercer_datasets::{RowFile, RowFormat, SchemaOptions};
use mercer_learning::{Method, Settings, Task};
use mercer_methods::registry;
use mercer_workbench::{Choices, Model, Origin, Predicted, Table, WorkbenchError, fit};
use ndarray::Axis;
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
    let small = [("features", 64.0), ("epochs", 3.0), ("steps", 5.0)].into_iter();
    let settings = small
        .filter(|(name, _)| defaults.get(name).is_some())
        .fold(Settings::new(), |all, (name, value)| all.with(name, value as u64));
    // Without an explicit map there are no features to count, and without learning no epochs.
    let idle = method.inactive(&settings, &shape);
    let heeded = settings.iter().filter(|(name, _)| idle.iter().all(|(idle, _)| idle != name));
    let settings = heeded.fold(Settings::new(), |all, (name, value)| all.with(name, value.clone()));
    Choices { settings, ..Choices::plain() }
}

fn fitted(method: &Method, table: &Table) -> Result<Model, WorkbenchError> {
    fit(&registry(), method.name, table, &choices(method, table))
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
        let (_, table) = read(&text(task, 60));
        let table = table.unwrap();
        let model = fitted(method, &table).unwrap_or_else(|e| panic!("{}: {e}", method.name));
        let bytes = model.to_bytes().unwrap();
        let again = Model::from_bytes(&bytes, Path::new("m"), &registry())
            .unwrap_or_else(|e| panic!("{}: {e}", method.name));
        assert_eq!(again.header, model.header, "{}", method.name);
        assert_eq!(again.to_bytes().unwrap(), bytes, "{}", method.name);
        let predict = |model: &Model| {
            model.predict(table.raw.dense(0..table.rows()), "t", &table.lines, 2).unwrap()
        };
        assert_eq!(predict(&again), predict(&model), "{}", method.name);
        // The same words give the same model, to the last bit.
        assert_eq!(fitted(method, &table).unwrap().to_bytes().unwrap(), bytes, "{}", method.name);
        assert_eq!(
            model.header.schema.target.labels,
            if task == Task::Regression { vec![] } else { vec!["no", "yes, so"] },
            "{}",
            method.name
        );
        // What it predicts is in the words and units of the target.
        match predict(&model) {
            Predicted::Classes(classes) => assert!(classes.iter().all(|&class| class < 2)),
            Predicted::Values(values) => assert!(
                values.iter().all(|value| (70.0..130.0).contains(value)),
                "{}: {values:?}",
                method.name
            ),
        }
        // No threads, no company, no order changes a row's prediction.
        let alone = model.predict(table.raw.dense(7..8), "t", &[1], 1).unwrap();
        let mut turned = table.raw.dense(0..table.rows());
        turned.invert_axis(Axis(0));
        let turned =
            model.predict(turned.as_standard_layout().into_owned(), "t", &table.lines, 1).unwrap();
        // Of deviations of the target, about 5: what rounding in other block sizes may do in single
        // precision, and far less than what a row's company could do.
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * 5.0;
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
    });
}

#[test]
fn every_method_keeps_the_settings_that_it_was_given() {
    every(|method, task| {
        let (_, table) = read(&text(task, 40));
        let table = table.unwrap();
        let choices = choices(method, &table);
        let model = fitted(method, &table).unwrap();
        let given = &choices.settings;
        // All defaults that were not given, and all that was given: nothing else, and nothing changed.
        let shape = mercer_learning::Shape {
            rows: table.rows(),
            features: table.schema.width(),
            task: table.task(),
        };
        let complete = (method.settings)()
            .into_iter()
            .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default))
            .overridden_by(&method.begun(&shape))
            .overridden_by(given);
        assert_eq!(model.header.settings, complete, "{}", method.name);
        for (name, _) in complete.iter() {
            let origin = if given.get(name).is_some() { Origin::Given } else { Origin::Default };
            assert_eq!(model.header.origin(name), Some(origin), "{}: {name}", method.name);
        }
        // What the header says, given in full, makes the same model: no default hides behind it.
        let again = Choices { settings: model.header.settings.clone(), ..choices };
        let mut again = fit(&registry(), method.name, &table, &again).unwrap();
        again.header.chosen.clone_from(&model.header.chosen);
        assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap(), "{}", method.name);
        // And a fit leaves its learner as it was: the second of one learner is the first.
        let learner = method.learner(&complete, task).unwrap();
        let rows: Vec<usize> = (0..table.rows()).collect();
        let preparation = table.prepare(&rows, Choices::plain().scaling, None).unwrap();
        let sample = table.sample(&rows, &preparation).unwrap();
        let state = || {
            let fitted = learner.fit(&sample, &mut mercer_learning::Fitting::seeded(1)).unwrap();
            let scores = fitted.predictor.decision(sample.inputs());
            scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(state(), state(), "{}", method.name);
    });
}

/// What an error about too few rows says, one of these: what there is too little of, or what a setting
/// must be.
const CLEAR: [&str; 6] = [
    "there is nothing to",
    "training rows belong to one class",
    "it must be",
    "a classifier needs at least",
    "is one and the same",
    "different values in",
];

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
            let (_, table) = read(&text);
            let ended = table.and_then(|table| fitted(method, &table).map(|model| (table, model)));
            match ended {
                Ok((table, model)) => {
                    let found = model
                        .predict(table.raw.dense(0..table.rows()), "t", &table.lines, 1)
                        .unwrap();
                    if let Predicted::Values(values) = found {
                        assert!(values.iter().all(|v| v.is_finite()), "{} of {what}", method.name);
                    }
                }
                Err(error) => {
                    // One row has nothing to tell apart; of two, parts are left without any. Who can
                    // mend that is told what to mend.
                    assert!(
                        ["one row", "two rows"].contains(&what),
                        "{} of {what}: {error}",
                        method.name
                    );
                    let told = error.to_string();
                    assert!(
                        CLEAR.iter().any(|word| told.contains(word)),
                        "{} of {what}: {told}",
                        method.name
                    );
                }
            }
        }
    });
}

/// Numbers that single precision can hold give the same model whether a file holds them in single or
/// in double precision, or as text.
#[test]
fn narrow_and_wide_numbers_are_the_same_numbers() {
    use mercer_parquet::Compression;
    use polars_core::prelude::{Column, DataFrame};
    let narrow: Vec<f32> = (0..24).map(|row| (3.0 * wave(row, 31)) as f32).collect();
    let wide: Vec<f64> = narrow.iter().map(|&value| f64::from(value)).collect();
    // Words part the classes; numbers that both precisions hold are the target of a regression.
    let words: Vec<&str> = narrow.iter().map(|&x| if x > 0.0 { "u" } else { "v" }).collect();
    let targets: Vec<f32> = narrow.iter().map(|&x| 4.0 * x + 0.5).collect();
    let parquet = |columns: Vec<Column>| {
        let frame = DataFrame::new(narrow.len(), columns).unwrap();
        let mut bytes = Vec::new();
        mercer_parquet::write(&frame, Compression::Zstd(None), &mut bytes).unwrap();
        RowFile::spooled(bytes.as_slice(), "f", Some(RowFormat::Parquet)).unwrap()
    };
    every(|method, task| {
        let (of_narrow, of_wide, text) = match task {
            Task::Classification { .. } => {
                let y = || Column::new("y".into(), &words);
                let text = wide.iter().zip(&words).map(|(x, y)| format!("{x},{y}\n"));
                (y(), y(), text.collect::<String>())
            }
            Task::Regression => {
                let widened: Vec<f64> = targets.iter().map(|&y| f64::from(y)).collect();
                let text = wide.iter().zip(&widened).map(|(x, y)| format!("{x},{y}\n"));
                let text = text.collect::<String>();
                (Column::new("y".into(), &targets), Column::new("y".into(), &widened), text)
            }
        };
        let files = [
            parquet(vec![Column::new("x".into(), &narrow), of_narrow]),
            parquet(vec![Column::new("x".into(), &wide), of_wide]),
            RowFile::spooled(format!("x,y\n{text}").as_bytes(), "f", Some(RowFormat::Text(b',')))
                .unwrap(),
        ];
        let bits: Vec<Vec<u64>> = files
            .iter()
            .map(|file| {
                let table = Table::read(file, &SchemaOptions::default()).unwrap();
                let model = fitted(method, &table)
                    .unwrap_or_else(|error| panic!("{}: {error}", method.name));
                match model.predict(table.raw.dense(0..table.rows()), "t", &table.lines, 1).unwrap()
                {
                    Predicted::Classes(classes) => classes.into_iter().map(u64::from).collect(),
                    Predicted::Values(values) => values.into_iter().map(f64::to_bits).collect(),
                }
            })
            .collect();
        assert_eq!(bits[0], bits[1], "{}: single and double precision", method.name);
        assert_eq!(bits[1], bits[2], "{}: Parquet and text", method.name);
    });
}
