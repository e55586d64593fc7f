//! Tables for programs, and their answers.

use mercer_learning::{Sample, Task};
use mercer_parquet::{Compression, read, read_metadata, write};
use ndarray::{Array2, ArrayView2};
use polars_core::prelude::{Column, DataFrame, DataType, PolarsResult};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The column of the target.
pub(crate) const TARGET: &str = "target";

/// `x0`, `x1`, …
pub(crate) fn columns(features: usize) -> Vec<String> {
    (0..features).map(|column| format!("x{column}")).collect()
}

/// Writes the training rows; classes are numbers from 0.
pub(crate) fn write_sample(path: &Path, sample: &Sample) -> Result<(), String> {
    let labels = sample.labels().into_iter().flatten().map(|&label| f64::from(label));
    let target: Vec<f64> = labels.chain(sample.values().into_iter().flatten().copied()).collect();
    write_columns(path, sample.inputs(), Some(&target))
}

/// Writes rows to be predicted.
pub(crate) fn write_inputs(path: &Path, inputs: ArrayView2<'_, f64>) -> Result<(), String> {
    write_columns(path, inputs, None)
}

fn write_columns(
    path: &Path,
    inputs: ArrayView2<'_, f64>,
    target: Option<&[f64]>,
) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
    let names = columns(inputs.ncols());
    if is_csv(path) {
        return write_csv(path, &names, inputs, target).map_err(|error| told(&error));
    }
    let inputs = names.iter().zip(inputs.columns());
    let columns = inputs.map(|(name, values)| Column::new(name.as_str().into(), values.to_vec()));
    let target = target.map(|own| Column::new(TARGET.into(), own));
    let columns: Vec<Column> = columns.chain(target).collect();
    let height = columns.first().map_or(0, Column::len);
    let frame = DataFrame::new(height, columns).map_err(|error| told(&error))?;
    let sink = BufWriter::new(File::create(path).map_err(|error| told(&error))?);
    write(&frame, Compression::Snappy, sink).map_err(|error| told(&error))
}

fn write_csv(
    path: &Path,
    names: &[String],
    inputs: ArrayView2<'_, f64>,
    target: Option<&[f64]>,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let heads = names.iter().map(String::as_str).chain(target.map(|_| TARGET));
    writeln!(file, "{}", heads.collect::<Vec<_>>().join(","))?;
    for (number, row) in inputs.rows().into_iter().enumerate() {
        let target = target.map(|own| &own[number]);
        let fields: Vec<String> = row.iter().chain(target).map(f64::to_string).collect();
        writeln!(file, "{}", fields.join(","))?;
    }
    file.flush()
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "csv")
}

/// Reads an answer: `value`, or `class`, or a score for each class, `score0` and on.
pub(crate) fn predictions(path: &Path, rows: usize, task: Task) -> Result<Array2<f64>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !path.exists() {
        return Err(format!("it left no {name}"));
    }
    let table = if is_csv(path) { read_csv(path) } else { read_parquet(path) };
    let table = table.map_err(|error| format!("{name} cannot be read: {error}"))?;
    let named = |wanted: &str| table.iter().find(|(own, _)| own == wanted).map(|(_, own)| own);
    let heads = || table.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let checked = |column: &str, values: &[f64]| {
        if values.len() != rows {
            return Err(format!("{name} has {} rows where {rows} were asked for", values.len()));
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(row) => Err(format!("{name}: `{column}` of row {row} is {}", values[row])),
            None => Ok(()),
        }
    };
    let Task::Classification { classes } = task else {
        let values = named("value")
            .ok_or_else(|| format!("{name} has no column `value`; it has {}", heads()))?;
        checked("value", values)?;
        return Ok(Array2::from_shape_fn((rows, 1), |(row, _)| values[row]));
    };
    let mut scores = Array2::zeros((rows, classes));
    if named("score0").is_some() {
        for (class, mut scores) in scores.columns_mut().into_iter().enumerate() {
            let column = format!("score{class}");
            let values = named(&column).ok_or_else(|| {
                format!("{name} has no column `{column}`; there are {classes} classes")
            })?;
            checked(&column, values)?;
            scores.iter_mut().zip(values).for_each(|(score, value)| *score = *value);
        }
        return Ok(scores);
    }
    let labels = named("class").ok_or_else(|| {
        format!("{name} has no column `class`, and no `score0`; it has {}", heads())
    })?;
    checked("class", labels)?;
    for (row, label) in labels.iter().enumerate() {
        if label.fract() != 0.0 || !(0.0..classes as f64).contains(label) {
            return Err(format!(
                "{name}: `class` of row {row} is {label}; classes are 0 to {}",
                classes - 1
            ));
        }
        scores[(row, *label as usize)] = 1.0;
    }
    Ok(scores)
}

type Columns = Vec<(String, Vec<f64>)>;

/// Numbers alone, with a line of names, which may stand in quotes.
fn read_csv(path: &Path) -> Result<Columns, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let heads = lines.next().unwrap_or_default().split(',');
    let mut columns: Columns =
        heads.map(|name| (name.trim().trim_matches('"').to_owned(), Vec::new())).collect();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != columns.len() {
            return Err(format!("`{line}` has {} fields of {}", fields.len(), columns.len()));
        }
        for ((name, values), field) in columns.iter_mut().zip(fields) {
            let value = field.trim().parse();
            values.push(value.map_err(|_| format!("`{field}` in column `{name}` is no number"))?);
        }
    }
    Ok(columns)
}

fn read_parquet(path: &Path) -> Result<Columns, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    // The decoder panics in some damaged files.
    let read =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| -> PolarsResult<Columns> {
            let footer = read_metadata(&mut file)?;
            let frame = read(&mut file, &footer, None, 0..usize::MAX)?;
            let column = |column: &Column| {
                let numbers = column.cast(&DataType::Float64)?;
                let values = numbers.f64()?.iter().map(|value| value.unwrap_or(f64::NAN));
                Ok((column.name().to_string(), values.collect()))
            };
            frame.columns().iter().map(column).collect()
        }));
    read.map_err(|_| "it is damaged".to_owned())?.map_err(|error| error.to_string())
}
