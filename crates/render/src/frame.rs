//! Records as a data frame, one row a trial, and to and from Parquet.
//!
//! Plain fields and metrics (`metric.accuracy`) are columns to filter and group by; nested parts
//! are columns of canonical JSON, so nothing is lost: a record that went there and back has the
//! same result, bit by bit. Predictions are large and stand in a table of their own, joined by the
//! digest of the key.

mod read;
mod write;

use crate::{RenderError, escape, whole};
use mercer_parquet::{Compression, read_metadata};
use mercer_records::Record;
use polars_core::prelude::{AnyValue, DataFrame};
use std::fs::File;
use std::path::Path;

pub use read::{from_frame, named_from_frame};
pub use write::{predictions_frame, to_frame};

/// Before the name of a metric, in the name of its column.
const METRIC: &str = "metric.";

/// Writes a data frame as Parquet (Zstandard), whole or not at all.
///
/// ```
/// use mercer_render::frame::{from_frame, read_parquet, to_frame, write_parquet};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("records.parquet");
/// let records = Vec::new(); // from a `mercer_records::Store`
/// write_parquet(&to_frame(&records)?, &path)?;
/// assert_eq!(from_frame(&read_parquet(&path)?, None)?, records);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RenderError::Io`] or [`RenderError::Frame`] if the disk or the library refuses; an older file
/// stays as it was.
pub fn write_parquet(frame: &DataFrame, path: &Path) -> Result<(), RenderError> {
    let mut content = Vec::new();
    mercer_parquet::write(frame, Compression::Zstd(None), &mut content)
        .map_err(|source| RenderError::Frame { action: "write", source })?;
    whole::written(path, &content, true)
}

/// Reads a data frame from Parquet.
///
/// ```
/// use mercer_render::{RenderError, frame::read_parquet};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("records.parquet");
/// assert!(matches!(read_parquet(&path), Err(RenderError::Io { .. }))); // not there
/// std::fs::write(&path, "trial,status\n")?;
/// assert!(matches!(read_parquet(&path), Err(RenderError::Frame { .. }))); // no Parquet
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`RenderError::Io`] if the file cannot be opened, [`RenderError::Frame`] if it is no Parquet.
pub fn read_parquet(path: &Path) -> Result<DataFrame, RenderError> {
    let mut file = File::open(path).map_err(|source| RenderError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    read_metadata(&mut file)
        .and_then(|footer| mercer_parquet::read(&mut file, &footer, None, 0..footer.num_rows))
        .map_err(|source| RenderError::Frame { action: "read", source })
}

/// A data frame as CSV with a head, without its columns of lists: curves, and rows that were
/// predicted wrongly, do not fit into a cell.
///
/// ```
/// use mercer_render::frame::{csv, to_frame};
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let text = csv(&to_frame(&[mercer_records::Record::new(key, result, Default::default())])?)?;
/// let lines: Vec<&str> = text.lines().collect();
/// assert_eq!(lines.len(), 2);
/// assert!(lines[0].contains("metric.accuracy") && lines[1].contains("0.75"));
/// assert!(!lines[0].split(',').any(|column| column == "wrong")); // a list does not fit into a cell
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Frame`] if the library refuses.
pub fn csv(frame: &DataFrame) -> Result<String, RenderError> {
    let columns: Vec<_> =
        frame.columns().iter().filter(|column| !column.dtype().is_nested()).collect();
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let mut text = line(columns.iter().map(|column| escape::csv(column.name())).collect());
    for row in 0..frame.height() {
        let fields = columns.iter().map(|column| column.get(row).map(field));
        let fields: Result<_, _> = fields.collect();
        text.push_str(&line(
            fields.map_err(|source| RenderError::Frame { action: "write", source })?,
        ));
    }
    Ok(text)
}

/// A cell that reads back as the same number or text.
fn field(value: AnyValue<'_>) -> String {
    match value {
        AnyValue::Null => String::new(),
        AnyValue::Float64(number) => format!("{number:?}"),
        AnyValue::String(text) => escape::csv(text),
        other => other.to_string(),
    }
}

/// The name by which a record's predictions find it.
fn trial(record: &Record) -> String {
    record.key.digest()
}
