//! Tables of the catalogue: numbers in every column but the target, without a hole.

use crate::{Column, DataError, Field, Limits, Row, RowFile, RowFormat, Table, TargetColumn};
use ndarray::Array2;

/// How the columns of a table are read.
///
/// ```
/// use mercer_datasets::{Limits, RowFormat, Table, TableOptions, TargetColumn};
/// let text = b"7 box f 1.5\n8 ball m 3\n";
/// let options = TableOptions { target: TargetColumn::First, drop: vec![0, 2], ..Default::default() };
/// let table = Table::read(text, "toys", RowFormat::Text(b' '), &options, &Limits::default())?;
/// assert_eq!(table.inputs, ndarray::array![[1.5], [3.0]]);
/// assert_eq!(table.targets.name(0), "box");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    /// Whether the first line of a text names the columns. `None` decides by whether that line holds text where the
    /// second holds a number.
    pub header: Option<bool>,
    /// Which column is the target, after those dropped.
    pub target: TargetColumn,
    /// Columns to leave out, from 0, as the file has them.
    pub drop: Vec<usize>,
}

impl Table {
    /// Reads a table of text or Parquet: finite numbers in every column but the target, which may be text. `file` is how
    /// errors call it.
    ///
    /// ```
    /// use mercer_datasets::{Limits, RowFormat, Table, TableOptions};
    /// let read = |text: &[u8]| {
    ///     Table::read(text, "toys", RowFormat::Text(b','), &TableOptions::default(), &Limits::default())
    /// };
    /// let table = read(b"width,height,kind\n1.5,2,box\n3,-4e-1,ball\n")?;
    /// assert_eq!(table.inputs, ndarray::array![[1.5, 2.0], [3.0, -0.4]]);
    /// assert_eq!(table.targets.name(1), "ball");
    /// assert_eq!(read(b"1,x\n,y\n").unwrap_err().to_string(), "toys:2: column 1 is empty");
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Line`] with the line, or the number of the row, for a wrong number of columns, an empty field, or an
    /// input that is no finite number; [`DataError::Format`] for a file that is no such table; [`DataError::TooLarge`]
    /// beyond the limits.
    pub fn read(
        bytes: &[u8],
        file: &str,
        format: RowFormat,
        options: &TableOptions,
        limits: &Limits,
    ) -> Result<Self, DataError> {
        let source = RowFile::spooled(bytes, file, Some(format))?;
        let typed = format == RowFormat::Parquet;
        let header = !typed && options.header.map_or_else(|| has_header(&source), Ok)?;
        let mut rows = source.rows()?;
        let mut names = rows.names().map(<[String]>::to_vec);
        let (mut columns, mut values, mut labels) = (None, Vec::new(), Vec::new());
        while let Some((line, row)) = rows.next()? {
            let Row::Fields(fields) = row else {
                return Err(DataError::format(file, "is svmlight, not a table of columns"));
            };
            let first = columns.is_none();
            let (target, inputs) = match &columns {
                Some(known) => known,
                None => columns.insert(placed(fields.len(), file, options)?),
            };
            if first && header {
                names = Some((0..fields.len()).map(|at| fields.raw(at).text()).collect());
                continue;
            }
            limits.check(file, labels.len() + 1, inputs.len())?;
            for &at in inputs {
                let value = number(fields.field(at), typed).ok_or_else(|| {
                    let name = names
                        .as_ref()
                        .map_or_else(|| (at + 1).to_string(), |names| names[at].clone());
                    DataError::line(file, line, wrong(fields.raw(at), &name))
                })?;
                values.push(value);
            }
            let label = fields.raw(*target);
            if label == Field::Missing {
                return Err(DataError::line(file, line, "the target is empty"));
            }
            labels.push((label.text(), number(label, typed)));
        }
        if labels.is_empty() {
            return Err(DataError::format(file, "holds no rows"));
        }
        let shape = (labels.len(), values.len() / labels.len());
        let inputs = Array2::from_shape_vec(shape, values)
            .map_err(|error| DataError::format(file, error.to_string()))?;
        let numbers: Option<Vec<f64>> = labels.iter().map(|(_, number)| *number).collect();
        let names = || labels.into_iter().map(|(name, _)| name).collect();
        let targets = numbers.map_or_else(|| Column::Names(names()), Column::Numbers);
        Ok(Self { inputs, targets })
    }
}

/// The target, and the inputs in order.
fn placed(
    width: usize,
    file: &str,
    options: &TableOptions,
) -> Result<(usize, Vec<usize>), DataError> {
    let mut inputs: Vec<usize> = (0..width).filter(|at| !options.drop.contains(at)).collect();
    if inputs.len() < 2 {
        let problem = "needs at least one input column and a target; is the separator right?";
        return Err(DataError::format(file, problem));
    }
    let at = match options.target {
        TargetColumn::First => 0,
        TargetColumn::Last => inputs.len() - 1,
    };
    Ok((inputs.remove(at), inputs))
}

/// The number of a field. A format with types has no numbers that are texts.
fn number(field: Field<'_>, typed: bool) -> Option<f64> {
    if typed && matches!(field, Field::Text(_)) { None } else { field.number() }
}

/// What is wrong with an input.
fn wrong(field: Field<'_>, name: &str) -> String {
    if field == Field::Missing {
        return format!("column {name} is empty");
    }
    let shown: String = field.text().chars().take(32).collect();
    format!("`{shown}` in column {name} is not a finite number")
}

/// Whether the first row holds text where the second holds a number.
fn has_header(source: &RowFile) -> Result<bool, DataError> {
    let mut rows = source.rows()?;
    let mut are_numbers = || -> Result<Option<Vec<bool>>, DataError> {
        Ok(rows.next()?.map(|(_, row)| match row {
            Row::Fields(fields) => {
                (0..fields.len()).map(|at| fields.number(at).is_some()).collect()
            }
            Row::Sparse { .. } => Vec::new(),
        }))
    };
    let (first, second) = (are_numbers()?, are_numbers()?);
    let pairs = first.iter().flatten().zip(second.iter().flatten());
    Ok(pairs.into_iter().any(|(first, second)| !first && *second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_parquet::Compression;
    use ndarray::array;
    use polars_core::prelude::{DataFrame, NamedFrom, Series};
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> Result<Table, DataError> {
        Table::read(bytes, "f", RowFormat::Text(b','), &TableOptions::default(), &Limits::default())
    }

    fn parquet(bytes: &[u8], limits: &Limits) -> Result<Table, DataError> {
        Table::read(bytes, "f", RowFormat::Parquet, &TableOptions::default(), limits)
    }

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
            Series::new("b".into(), [3i32, 4]),
            Series::new("kind".into(), ["box", "7"]),
        ])
    }

    #[test]
    fn headers_are_found_and_quotes_taken_apart() {
        let table = text(b"a,\"b, or c\",y\r\n1,\"2\",x\r\n\r\n3,4,\"z, w\"\r\n").unwrap();
        assert_eq!(table.inputs, array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(table.targets, Column::Names(vec!["x".to_owned(), "z, w".to_owned()]));
        let bare = text(b"1,2,0\n3,4,1").unwrap();
        assert_eq!(bare.inputs, array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(bare.targets, Column::Numbers(vec![0.0, 1.0]));
        assert_eq!(text(b"1,2,no\n3,4,yes\n").unwrap().inputs.nrows(), 2);
        let inches = text(b"1,7\" pipe\n2,\"7\"\" pipe, \xc3\xa9\"\n").unwrap();
        let names = ["7\" pipe", "7\" pipe, \u{e9}"].map(str::to_owned).to_vec();
        assert_eq!(inches.targets, Column::Names(names));
    }

    #[test]
    fn faults_are_named_with_file_and_line() {
        for (bytes, message) in [
            (&b"1,2,0\n1,2\n"[..], "f:2: has 2 fields, expected 3"),
            (b"1,2,0\n\n1,2,3,4\n", "f:3: has 4 fields, expected 3"),
            (b"1,2,0\n1,,1\n", "f:2: column 2 is empty"),
            (b"1,2,0\n1,nan,1\n", "f:2: `nan` in column 2 is not a finite number"),
            (b"1,2,0\n1,1e999,1\n", "f:2: `1e999` in column 2 is not a finite number"),
            (b"a,b c,y\n1,2,0\n1,x y,1\n", "f:3: `x y` in column b c is not a finite number"),
            (b"1,2,0\n1,2,\n", "f:2: the target is empty"),
            (b"1,\"2,0\n1,2,\n", "f:1: opens a quote that never closes"),
            (b"1,2\n\xff\xfe,2\n", "f:2: is not UTF-8 text"),
            (b"1\n2\n", "f: needs at least one input column and a target"),
            (b"", "f: holds no rows"),
            (b"\n \n", "f: holds no rows"),
            (b"1,2\n,\n", "f:2: column 1 is empty"),
        ] {
            let error = text(bytes).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}\nexpected {message}");
        }
        let options = TableOptions { header: Some(true), ..TableOptions::default() };
        let format = RowFormat::Text(b',');
        let error = Table::read(b"a,b\n", "f", format, &options, &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "f: holds no rows");
    }

    #[test]
    fn parquet_is_read_by_its_types() {
        let limits = Limits::default();
        let table = parquet(&example(), &limits).unwrap();
        assert_eq!(table.inputs, array![[1.5, 3.0], [-2.0, 4.0]]);
        assert_eq!(table.targets, Column::Names(vec!["box".to_owned(), "7".to_owned()]));
        let y = || Series::new("y".into(), [1.0, 2.0]);
        for (column, message) in [
            (Series::new("a".into(), ["1", "2"]), "f:1: `1` in column a is not a finite number"),
            (Series::new("a".into(), [Some(1.5), None]), "f:2: column a is empty"),
            (Series::new("a".into(), [1.5, f64::NAN]), "f:2: column a is empty"),
            (Series::new("a".into(), [1.5, f64::INFINITY]), "f:2: `inf` in column a is not a"),
        ] {
            let error = parquet(&written(vec![column, y()]), &limits).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}\nexpected {message}");
        }
        let small = Limits { cells: 3, ..limits };
        let error = parquet(&example(), &small).unwrap_err();
        assert!(matches!(error, DataError::TooLarge { field: "cells", .. }));
        let error = parquet(b"PAR1", &limits).unwrap_err().to_string();
        assert!(error.starts_with("f: is not Parquet"), "{error}");
    }

    /// Found by the fuzz driver: a column that holds another number of rows than the footer promises, a page of fewer
    /// values than none, and a column of a type that the library lacks, which the file does not hold.
    #[test]
    fn what_the_footer_promises_and_the_file_lacks_is_refused() {
        let uneven = &include_bytes!("../tests/fixtures/uneven-columns.parquet")[..];
        let minus = &include_bytes!("../tests/fixtures/page-of-minus-values.parquet")[..];
        let absent = &include_bytes!("../tests/fixtures/constant-of-sixteen-bits.parquet")[..];
        for bytes in [uneven, minus, absent] {
            let error = parquet(bytes, &Limits::default()).unwrap_err().to_string();
            assert!(error.starts_with("f:"), "{error}");
        }
    }

    /// A file of this content with some bytes changed, and perhaps cut short.
    fn damaged(
        mut bytes: Vec<u8>,
        edits: &[(prop::sample::Index, u8)],
        cut: Option<prop::sample::Index>,
    ) -> Vec<u8> {
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_files_never_panic(
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            cut in any::<Option<prop::sample::Index>>(),
            bytes in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let limits = Limits { cells: 1 << 12, ..Limits::default() };
            let csv = b"a,b,\"c\"\n1,2,x\n3,-4e1,\"y\"\"z\"\n5,6,x\n".to_vec();
            let found = [
                text(&bytes),
                text(&damaged(csv, &edits, cut)),
                parquet(&damaged(example(), &edits, cut), &limits),
            ];
            for table in found.into_iter().flatten() {
                prop_assert!(table.inputs.iter().all(|value| value.is_finite()));
                prop_assert_eq!(table.inputs.nrows(), table.targets.len());
            }
        }
    }
}
