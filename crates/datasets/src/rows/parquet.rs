use super::{Field, Fields};
use crate::DataError;
use polars::prelude::{DataFrame, DataType, ParquetReader, PolarsError, SerReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows decoded at a time.
const CHUNK: usize = 65_536;

/// Rows of a Parquet file, decoded some at a time.
pub(super) struct ParquetRows<'a> {
    path: PathBuf,
    name: &'a str,
    names: Vec<String>,
    rows: usize,
    /// First row of the chunk at hand.
    start: usize,
    chunk: Chunk,
}

/// Some rows, and which of them is at hand.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    columns: Vec<Cells>,
    rows: usize,
    at: usize,
}

#[derive(Debug)]
enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl std::fmt::Debug for ParquetRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRows").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'a> ParquetRows<'a> {
    pub(super) fn new(path: &Path, name: &'a str) -> Result<Self, DataError> {
        let (names, rows) = guarded(name, || {
            let mut reader = ParquetReader::new(open(path)?);
            let wrong = |error: PolarsError| not_parquet(name, &error);
            let names =
                reader.schema().map_err(wrong)?.iter_names().map(ToString::to_string).collect();
            Ok((names, reader.num_rows().map_err(wrong)?))
        })?;
        let chunk = Chunk::default();
        Ok(Self { path: path.to_owned(), name, names, rows, start: 0, chunk })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) const fn record(&self) -> &Chunk {
        &self.chunk
    }

    /// Steps to the next row and returns its number, from 1.
    pub(super) fn advance(&mut self) -> Result<Option<usize>, DataError> {
        if self.chunk.at + 1 < self.chunk.rows {
            self.chunk.at += 1;
            return Ok(Some(self.start + self.chunk.at + 1));
        }
        let start = self.start + self.chunk.rows;
        if start >= self.rows {
            return Ok(None);
        }
        let count = CHUNK.min(self.rows - start);
        let frame = guarded(self.name, || {
            let reader = ParquetReader::new(open(&self.path)?).with_slice(Some((start, count)));
            reader.finish().map_err(|error| not_parquet(self.name, &error))
        })?;
        let columns = self.cells(&frame)?;
        if frame.height() != count || columns.iter().any(|cells| cells.len() != count) {
            let problem = "is damaged: its columns hold fewer rows than its footer says";
            return Err(DataError::format(self.name, problem));
        }
        self.chunk = Chunk { columns, rows: count, at: 0 };
        self.start = start;
        Ok(Some(start + 1))
    }

    fn cells(&self, frame: &DataFrame) -> Result<Vec<Cells>, DataError> {
        let wrong = |problem: String| DataError::format(self.name, problem);
        let cells = |column: &polars::prelude::Column| {
            if let Ok(texts) = column.str() {
                let text = |text: Option<&str>| text.map(|text| text.trim().to_owned());
                return Ok(Cells::Texts(texts.iter().map(text).collect()));
            }
            if matches!(column.dtype(), DataType::Categorical(..) | DataType::Enum(..)) {
                let texts = column.cast(&DataType::String).map_err(|e| wrong(e.to_string()))?;
                let texts = texts.str().map_err(|e| wrong(e.to_string()))?;
                return Ok(Cells::Texts(texts.iter().map(|t| t.map(str::to_owned)).collect()));
            }
            if !column.dtype().is_primitive_numeric() && *column.dtype() != DataType::Boolean {
                let (name, kind) = (column.name(), column.dtype());
                return Err(wrong(format!("column `{name}` is {kind}: neither numbers nor text")));
            }
            let numbers = column.cast(&DataType::Float64).map_err(|e| wrong(e.to_string()))?;
            let numbers = numbers.f64().map_err(|e| wrong(e.to_string()))?;
            Ok(Cells::Numbers(numbers.iter().collect()))
        };
        frame.columns().iter().map(cells).collect()
    }
}

impl Cells {
    const fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}

impl Fields for Chunk {
    fn len(&self) -> usize {
        self.columns.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        match &self.columns[column] {
            // NaN is how many programs write a missing number.
            Cells::Numbers(values) => match values[self.at] {
                Some(value) if !value.is_nan() => Field::Number(value),
                _ => Field::Missing,
            },
            Cells::Texts(texts) => texts[self.at].as_deref().map_or(Field::Missing, Field::of),
        }
    }
}

fn open(path: &Path) -> Result<File, DataError> {
    File::open(path).map_err(DataError::io(path))
}

/// The library indexes into damaged files and may panic there; it holds no state of ours.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(DataError::format(name, "is damaged: its pages do not fit its footer"))
    })
}

fn not_parquet(name: &str, error: &PolarsError) -> DataError {
    DataError::format(name, format!("is not Parquet: {error}"))
}
