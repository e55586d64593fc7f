//! Parquet tables, by way of polars.

use crate::quiet::quietly;
use crate::{Column, DataError, Limits, Table, pages};
use mercer_parquet::read_metadata;
use ndarray::Array2;
use polars_core::prelude::{DataFrame, DataType, PolarsError};
use std::io::Cursor;

/// Reads a Parquet table: numbers in every column but the target, which may be text.
///
/// `target` names the target column; without it, it is the last one.
///
/// Before a page is decoded, the number of rows and columns is checked against the limits, and the number of values
/// that each page claims against the rows. A panic of the decoder is an error. Files of a manifest are compared with
/// their SHA-256 first.
///
/// ```
/// use mercer_datasets::{Limits, parquet};
/// use mercer_parquet::{Compression, write};
/// use polars_core::prelude::{Column, DataFrame};
/// let size = Column::new("size".into(), [1.5, 3.0]);
/// let kind = Column::new("kind".into(), ["box", "ball"]);
/// let mut bytes = Vec::new();
/// write(&DataFrame::new(2, vec![size, kind])?, Compression::Snappy, &mut bytes)?;
/// let table = parquet::parse(&bytes, "toys.parquet", Some("kind"), &Limits::default())?;
/// assert_eq!(table.inputs, ndarray::array![[1.5], [3.0]]);
/// assert_eq!(table.targets.name(1), "ball");
/// assert!(parquet::parse(&bytes[4..], "toys.parquet", None, &Limits::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DataError::Format`] for a file that is no such table, has empty cells, or inputs that are no
/// finite numbers; [`DataError::TooLarge`] beyond the limits.
pub fn parse(
    bytes: &[u8],
    file: &str,
    target: Option<&str>,
    limits: &Limits,
) -> Result<Table, DataError> {
    // What is done with decoded columns may panic as the decoder does.
    let table = quietly(|| table(&read(bytes, file, limits)?, file, target));
    table.unwrap_or_else(|| Err(pages::damaged(file)))
}

fn table(frame: &DataFrame, file: &str, target: Option<&str>) -> Result<Table, DataError> {
    let wrong = |problem: String| DataError::format(file, problem);
    if frame.height() == 0 {
        return Err(wrong("holds no rows".to_owned()));
    }
    let names = frame.get_column_names();
    let target = match target {
        None => frame.width() - 1,
        Some(name) => names
            .iter()
            .position(|n| n.as_str() == name)
            .ok_or_else(|| wrong(format!("has no column `{name}`; its columns are {names:?}")))?,
    };
    if frame.width() < 2 {
        return Err(wrong("needs at least one input column and a target".to_owned()));
    }
    let number_column = |at: usize| -> Result<Vec<f64>, DataError> {
        let column = &frame.columns()[at];
        let (name, kind) = (names[at], column.dtype());
        // Of some types the library knows the name alone.
        let cast = quietly(|| column.strict_cast(&DataType::Float64)).ok_or_else(|| {
            wrong(format!(
                "column `{name}` is {kind}, which is not read as numbers; write it as f64"
            ))
        })?;
        let cast = cast.map_err(|_| wrong(format!("column `{name}` is {kind}, not numbers")))?;
        let cells = cast.f64().map_err(|error| wrong(error.to_string()))?;
        let row = |row: usize, what: &str| {
            wrong(format!("row {} of column `{}` is {what}", row + 1, names[at]))
        };
        let finite = |(at, cell): (usize, Option<f64>)| match cell {
            Some(value) if value.is_finite() => Ok(value),
            Some(value) => Err(row(at, &format!("{value}, which is not finite"))),
            None => Err(row(at, "empty")),
        };
        cells.iter().enumerate().map(finite).collect()
    };
    let mut inputs = Array2::zeros((frame.height(), frame.width() - 1));
    for (j, at) in (0..frame.width()).filter(|&at| at != target).enumerate() {
        if !frame.columns()[at].dtype().is_primitive_numeric()
            && *frame.columns()[at].dtype() != DataType::Boolean
        {
            let kind = frame.columns()[at].dtype();
            return Err(wrong(format!("column `{}` is {kind}, not numbers", names[at])));
        }
        for (cell, value) in inputs.column_mut(j).iter_mut().zip(number_column(at)?) {
            *cell = value;
        }
    }
    let targets = match frame.columns()[target].str() {
        Ok(texts) => {
            let label = |(row, text): (usize, Option<&str>)| {
                text.map(str::to_owned)
                    .ok_or_else(|| wrong(format!("the target of row {} is empty", row + 1)))
            };
            Column::Names(texts.iter().enumerate().map(label).collect::<Result<_, _>>()?)
        }
        Err(_) => Column::Numbers(number_column(target)?),
    };
    Ok(Table { inputs, targets })
}

/// Checks the promised size before anything of that size is read.
fn read(bytes: &[u8], file: &str, limits: &Limits) -> Result<DataFrame, DataError> {
    let mut source = Cursor::new(bytes);
    let footer = read_metadata(&mut source).map_err(|error| not_parquet(file, &error))?;
    limits.check(file, footer.num_rows, footer.schema().fields().len())?;
    pages::check(&footer, |_| true, &mut source, file)?;
    mercer_parquet::read(&mut source, &footer, None, 0..footer.num_rows)
        .map_err(|error| broken(file, &first_line(&error)))
}

/// A file whose footer is none, in one line.
pub(crate) fn not_parquet(file: &str, error: &PolarsError) -> DataError {
    DataError::format(
        file,
        format!(
            "is not Parquet, or packed, which Parquet may not be, or cut short ({}); unpack it, or write \
             or fetch it again",
            first_line(error)
        ),
    )
}

/// A file whose columns are not what its footer promises, in one line.
pub(crate) fn broken(file: &str, reason: &str) -> DataError {
    DataError::format(file, format!("cannot be decoded ({reason}); write or fetch it again"))
}

/// What the library says, without what it adds for its own developers.
pub(crate) fn first_line(error: &PolarsError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim().chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_parquet::Compression;
    use ndarray::array;
    use polars_core::prelude::{NamedFrom, Series};
    use proptest::prelude::*;

    fn written(columns: Vec<Series>) -> Vec<u8> {
        let height = columns[0].len();
        let columns = columns.into_iter().map(Into::into).collect();
        let frame = DataFrame::new(height, columns).unwrap();
        let mut bytes = Vec::new();
        mercer_parquet::write(&frame, Compression::Uncompressed, &mut bytes).unwrap();
        bytes
    }

    fn example() -> Vec<u8> {
        written(vec![
            Series::new("a".into(), [1.5, -2.0]),
            Series::new("kind".into(), ["box", "ball"]),
            Series::new("b".into(), [3i32, 4]),
        ])
    }

    #[test]
    fn columns_become_inputs_and_targets() {
        let limits = Limits::default();
        let table = parse(&example(), "f", Some("kind"), &limits).unwrap();
        assert_eq!(table.inputs, array![[1.5, 3.0], [-2.0, 4.0]]);
        assert_eq!(table.targets, Column::Names(vec!["box".to_owned(), "ball".to_owned()]));
        let error = parse(&example(), "f", None, &limits).unwrap_err().to_string();
        assert!(error.starts_with("f: column `kind` is str, not numbers"), "{error}");
    }

    #[test]
    fn faults_are_named() {
        let limits = Limits::default();
        let hole = written(vec![
            Series::new("a".into(), [Some(1.5), None]),
            Series::new("y".into(), [1.0, 2.0]),
        ]);
        let error = parse(&hole, "f", None, &limits).unwrap_err().to_string();
        assert_eq!(error, "f: row 2 of column `a` is empty");
        let nan = written(vec![
            Series::new("a".into(), [1.5, f64::NAN]),
            Series::new("y".into(), [1.0, 2.0]),
        ]);
        let error = parse(&nan, "f", None, &limits).unwrap_err().to_string();
        assert_eq!(error, "f: row 2 of column `a` is NaN, which is not finite");
        let error = parse(&example(), "f", Some("z"), &limits).unwrap_err().to_string();
        assert!(error.starts_with("f: has no column `z`; its columns are"), "{error}");
        let small = Limits { cells: 5, ..limits };
        assert!(matches!(
            parse(&example(), "f", Some("kind"), &small),
            Err(DataError::TooLarge { field: "cells", .. })
        ));
        let error = parse(b"PAR1", "f", None, &limits).unwrap_err().to_string();
        assert!(error.starts_with("f: is not Parquet"), "{error}");
    }

    /// Found by the fuzz driver: the footer promises 3 rows, the last column holds another number.
    #[test]
    fn columns_of_different_length_are_refused() {
        let bytes = include_bytes!("../tests/fixtures/uneven-columns.parquet");
        let error = parse(bytes, "f", None, &Limits::default()).unwrap_err().to_string();
        assert!(error.starts_with("f: cannot be decoded ("), "{error}");
    }

    /// Found by the fuzz driver: the head of a page claims fewer values than none, for which the decoder made room.
    #[test]
    fn a_page_of_fewer_values_than_none_is_refused() {
        let bytes = include_bytes!("../tests/fixtures/page-of-minus-values.parquet");
        let error = parse(bytes, "f", None, &Limits::default()).unwrap_err().to_string();
        assert!(error.starts_with("f: is damaged"), "{error}");
    }

    /// Found by the fuzz driver: a column that the file does not hold, of a type that the library lacks.
    #[test]
    fn a_column_that_only_the_schema_has_is_refused() {
        let bytes = include_bytes!("../tests/fixtures/constant-of-sixteen-bits.parquet");
        let error = parse(bytes, "f", None, &Limits::default()).unwrap_err().to_string();
        assert!(error.starts_with("f: cannot be decoded ("), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_files_never_panic(
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            cut in any::<prop::sample::Index>(),
            cuts: bool,
        ) {
            let mut bytes = example();
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            let limits = Limits { cells: 1 << 12, ..Limits::default() };
            if let Ok(table) = parse(&bytes, "f", Some("kind"), &limits) {
                prop_assert_eq!(table.inputs.nrows(), table.targets.len());
            }
        }
    }
}
