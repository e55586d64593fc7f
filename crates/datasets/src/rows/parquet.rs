use super::columns::{Clock, Kept, Sorted};
use super::{Field, Fields};
use crate::pages::{broken, damaged, first_line, not_parquet};
use crate::quiet::quietly;
use crate::shell::shell_word;
use crate::{DataError, pages};
use mercer_parquet::{FileMetadata, read, read_metadata};
use polars_core::prelude::{Column, DataFrame, DataType, PolarsError};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Rows decoded at a time.
const CHUNK: usize = 65_536;

/// Rows of a Parquet file, decoded some at a time, and of it only the columns that are wanted.
pub(super) struct ParquetRows<'a> {
    path: PathBuf,
    name: &'a str,
    metadata: FileMetadata,
    names: Vec<String>,
    /// What each column holds that no number or text is, if it does.
    refused: Vec<Option<&'static str>>,
    clocks: Vec<Option<Clock>>,
    index: Vec<String>,
    wanted: Vec<usize>,
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

/// A column's cells, as the file has them: labels must come back as they were.
#[derive(Debug)]
enum Cells {
    /// Not wanted.
    Unread,
    Doubles(Vec<Option<f64>>),
    Singles(Vec<Option<f32>>),
    Signed(Vec<Option<i64>>),
    Unsigned(Vec<Option<u64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
}

impl std::fmt::Debug for ParquetRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRows").field("rows", &self.metadata.num_rows).finish_non_exhaustive()
    }
}

impl<'a> ParquetRows<'a> {
    pub(super) fn new(path: &Path, name: &'a str) -> Result<Self, DataError> {
        let Kept { metadata, columns: Sorted { names, refused, clocks }, index } = quietly(|| {
            let metadata = read_metadata(&mut open(path)?);
            Kept::of(&metadata.map_err(|error| not_parquet(name, &error))?, name)
        })
        .unwrap_or_else(|| Err(damaged(name)))?;
        Ok(Self {
            path: path.to_owned(),
            name,
            metadata,
            wanted: (0..names.len()).collect(),
            names,
            refused,
            clocks,
            index,
            start: 0,
            chunk: Chunk::default(),
        })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Columns that pandas calls the index, which are left out.
    pub(super) fn index(&self) -> &[String] {
        &self.index
    }

    /// Decodes no other columns than these.
    pub(super) fn only(&mut self, columns: &[usize]) -> Result<(), DataError> {
        self.wanted = columns.to_vec();
        self.wanted.sort_unstable();
        self.wanted.dedup();
        self.check()
    }

    /// That all that are wanted can be had.
    fn check(&self) -> Result<(), DataError> {
        for &at in &self.wanted {
            if let Some(held) = self.refused[at] {
                let name = &self.names[at];
                return Err(DataError::format(
                    self.name,
                    format!(
                        "column `{name}` holds {held}, neither numbers nor text; leave it out (--drop {}), \
                         or write it as numbers or text",
                        shell_word(name)
                    ),
                ));
            }
        }
        Ok(())
    }

    /// That no page of those that are wanted claims more values than there are rows.
    fn check_pages(&self) -> Result<(), DataError> {
        let wanted: HashSet<&str> = self.wanted.iter().map(|&at| self.names[at].as_str()).collect();
        let mut file = BufReader::new(open(&self.path)?);
        let found = quietly(|| {
            pages::check(&self.metadata, |name| wanted.contains(name), &mut file, self.name)
        });
        found.unwrap_or_else(|| Err(damaged(self.name)))
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
        if start >= self.metadata.num_rows {
            return Ok(None);
        }
        self.check()?;
        if start == 0 {
            self.check_pages()?;
        }
        let count = CHUNK.min(self.metadata.num_rows - start);
        let frame = match self.decoded(&self.wanted, start, count)? {
            Ok(frame) => frame,
            Err(reason) => return Err(self.undecoded(start, count, &reason)),
        };
        let columns = self.cells(&frame)?;
        if frame.height() != count || columns.iter().any(|cells| !cells.are(count)) {
            let problem = "is damaged: its columns hold fewer rows than its footer says; write or fetch it again";
            return Err(DataError::format(self.name, problem));
        }
        self.chunk = Chunk { columns, rows: count, at: 0 };
        self.start = start;
        Ok(Some(start + 1))
    }

    /// Some columns of some rows, or why they cannot be had: nothing where the decoder did not say.
    fn decoded(
        &self,
        columns: &[usize],
        start: usize,
        count: usize,
    ) -> Result<Result<DataFrame, String>, DataError> {
        let names: Vec<String> = columns.iter().map(|&at| self.names[at].clone()).collect();
        let mut file = open(&self.path)?;
        let found = quietly(|| {
            let frame = read(&mut file, &self.metadata, Some(&names), start..start + count);
            frame.map_err(|error| first_line(&error))
        });
        Ok(found.unwrap_or_else(|| Err(String::new())))
    }

    /// The error for rows that cannot be decoded: of one column, where the others can do without it.
    fn undecoded(&self, start: usize, count: usize, reason: &str) -> DataError {
        let alone = |&at: &usize| match self.decoded(&[at], start, count) {
            Ok(Err(reason)) => Some((at, reason)),
            _ => None,
        };
        let (Some((at, reason)), true) = (self.wanted.iter().find_map(alone), self.names.len() > 1)
        else {
            return if reason.is_empty() { damaged(self.name) } else { broken(self.name, reason) };
        };
        let name = &self.names[at];
        let reason = if reason.is_empty() { "its pages do not fit its footer" } else { &reason };
        let problem = format!(
            "column `{name}` cannot be decoded ({reason}); write it again with plain encoding, packed by \
             snappy or zstd, or leave it out (--drop {})",
            shell_word(name)
        );
        DataError::format(self.name, problem)
    }

    fn cells(&self, frame: &DataFrame) -> Result<Vec<Cells>, DataError> {
        let mut cells: Vec<Cells> = self.names.iter().map(|_| Cells::Unread).collect();
        for &at in &self.wanted {
            let column = frame.column(&self.names[at]);
            let column = match self.clocks[at] {
                Some(Clock::Decimals(scale)) => column.and_then(|own| Cells::decimals(own, scale)),
                _ => column.and_then(Cells::of),
            };
            let column = column.map_err(|error| broken(self.name, &first_line(&error)))?;
            cells[at] = match (self.clocks[at], column) {
                (Some(Clock::Decimals(_)), column) => column,
                (Some(clock), Cells::Signed(counts)) => {
                    let text = |count: Option<i64>| count.map(|count| clock.text(count));
                    Cells::Texts(counts.into_iter().map(text).collect())
                }
                (_, column) => column,
            };
        }
        Ok(cells)
    }
}

impl Cells {
    /// Whole numbers of powers of ten, as numbers or as the bytes of one, the highest first.
    fn decimals(column: &Column, scale: i32) -> Result<Self, PolarsError> {
        let power = 10f64.powi(scale);
        if *column.dtype() == DataType::Binary {
            let of = |bytes: &[u8]| {
                let sign =
                    if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1 } else { 0 };
                bytes.iter().fold(sign, |all: i128, byte| all << 8 | i128::from(*byte))
            };
            let number = |bytes: Option<&[u8]>| bytes.map(|bytes| of(bytes) as f64 / power);
            return Ok(Self::Doubles(column.binary()?.iter().map(number).collect()));
        }
        let whole = column.cast(&DataType::Int64)?;
        let number = |count: Option<i64>| count.map(|count| count as f64 / power);
        Ok(Self::Doubles(whole.i64()?.iter().map(number).collect()))
    }

    fn of(column: &Column) -> Result<Self, PolarsError> {
        Ok(match column.dtype() {
            DataType::Boolean => Self::Flags(column.bool()?.iter().collect()),
            DataType::Float32 => Self::Singles(column.f32()?.iter().collect()),
            DataType::UInt64 => Self::Unsigned(column.u64()?.iter().collect()),
            DataType::Int32 | DataType::Int64 | DataType::UInt32 => {
                Self::Signed(column.cast(&DataType::Int64)?.i64()?.iter().collect())
            }
            // Numbers of 16 bits, which the library cannot read as such: other bytes are refused.
            DataType::Binary => {
                let half = |bytes: Option<&[u8]>| Some(half(bytes?.try_into().ok()?));
                Self::Singles(column.binary()?.iter().map(half).collect())
            }
            DataType::String => {
                let text = |text: Option<&str>| text.map(|text| super::meant(text).to_owned());
                Self::Texts(column.str()?.iter().map(text).collect())
            }
            _ => Self::Doubles(column.cast(&DataType::Float64)?.f64()?.iter().collect()),
        })
    }

    /// Whether they are so many, or none were read.
    const fn are(&self, count: usize) -> bool {
        let found = match self {
            Self::Unread => return true,
            Self::Doubles(values) => values.len(),
            Self::Singles(values) => values.len(),
            Self::Signed(values) => values.len(),
            Self::Unsigned(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        };
        found == count
    }
}

impl Fields for Chunk {
    fn len(&self) -> usize {
        self.columns.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        match self.raw(column) {
            Field::Text(text) => Field::of(text),
            field => field,
        }
    }

    fn raw(&self, column: usize) -> Field<'_> {
        let found = match &self.columns[column] {
            Cells::Unread => None,
            // NaN is how many programs write a missing number.
            Cells::Doubles(values) => values[self.at].filter(|v| !v.is_nan()).map(Field::Number),
            Cells::Singles(values) => values[self.at].filter(|v| !v.is_nan()).map(Field::Single),
            Cells::Signed(values) => values[self.at].map(|value| Field::Whole(value.into())),
            Cells::Unsigned(values) => values[self.at].map(|value| Field::Whole(value.into())),
            Cells::Flags(values) => values[self.at].map(Field::Flag),
            Cells::Texts(texts) => {
                texts[self.at].as_deref().filter(|text| !text.is_empty()).map(Field::Text)
            }
        };
        found.unwrap_or(Field::Missing)
    }
}

/// A number of 16 bits, lowest byte first: IEEE 754's half precision, whose numbers single precision all holds.
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u16::from_le_bytes(bytes);
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn open(path: &Path) -> Result<File, DataError> {
    File::open(path).map_err(DataError::io(path))
}

/// The files of `tests/fixtures` were written by pyarrow 26.0.1, two of them through pandas 3.1.1.
#[cfg(test)]
mod tests {
    use crate::{Kind, RowFile, RowFormat, SchemaOptions, Truths, survey};
    use mercer_parquet::Compression;

    const TYPES: &[u8] = include_bytes!("../../tests/fixtures/types.parquet");
    const INDEX: &[u8] = include_bytes!("../../tests/fixtures/index.parquet");
    const NAMED: &[u8] = include_bytes!("../../tests/fixtures/named-index.parquet");

    /// What no number or text is, and what the message calls it.
    const REFUSED: [(&str, &str); 6] = [
        ("time", "times of day"),
        ("time64", "times of day"),
        ("binary", "bytes"),
        ("fixed", "bytes"),
        ("list", "lists or structures"),
        ("struct", "lists or structures"),
    ];

    fn file(bytes: &[u8]) -> RowFile {
        RowFile::spooled(bytes, "f.parquet", Some(RowFormat::Parquet)).unwrap()
    }

    fn column(name: &str) -> Vec<String> {
        let file = file(TYPES);
        let mut rows = file.rows().unwrap();
        let at = rows.names().unwrap().iter().position(|found| found == name).unwrap();
        rows.only(&[at]).unwrap();
        let mut found = Vec::new();
        while let Some((_, row)) = rows.next().unwrap() {
            let crate::Row::Fields(fields) = row else { panic!("a table") };
            found.push(fields.field(at).text());
        }
        found
    }

    #[test]
    fn numbers_of_every_width_come_back_as_they_were() {
        for (name, values) in [
            ("int8", ["-128", "127", "", "1"]),
            ("int16", ["-32768", "32767", "", "1"]),
            ("int32", ["-2147483648", "2147483647", "", "1"]),
            ("int64", ["9007199254740992", "9007199254740993", "", "-1"]),
            ("uint8", ["0", "255", "", "1"]),
            ("uint16", ["0", "65535", "", "1"]),
            ("uint32", ["0", "4294967295", "", "1"]),
            ("uint64", ["0", "18446744073709551615", "", "1"]),
            ("float16", ["0.5", "1", "", "2"]),
            ("float32", ["0.1", "", "", "0"]),
            ("float64", ["0.1", "", "", "0"]),
            ("bool", ["true", "false", "", "true"]),
            ("text", [" red", "", "", "blue"]),
            ("large text", ["a", "b", "", ""]),
            ("dictionary", ["x", "y", "", "x"]),
            ("null", ["", "", "", ""]),
            ("date", ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
            (
                "timestamp",
                [
                    "2024-01-01T00:00:00",
                    "2024-01-02T00:00:00",
                    "2024-01-03T00:00:00",
                    "2024-01-04T00:00:00",
                ],
            ),
            ("decimal", ["1.25", "1.25", "1.25", "1.25"]),
        ] {
            assert_eq!(column(name), values, "{name}");
        }
    }

    #[test]
    fn numbers_of_16_bits_are_what_their_bits_say() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            let found = super::half(u16::to_le_bytes(bits));
            assert_eq!(found.to_bits(), f32::to_bits(value), "{bits:x}");
        }
        assert!(super::half([0, 0x7e]).is_nan());
        assert_eq!(super::half([0, 0x80]).to_bits(), (-0f32).to_bits());
    }

    /// The library panics in some of these; what it panics with is for its own developers.
    #[test]
    fn damage_is_told_in_one_line_and_no_panic_is_printed() {
        const ALONE: &str = "MERCER_TEST_ALONE";
        if std::env::var_os(ALONE).is_none() {
            // In a process of its own: others that panic on purpose would print here.
            let this = "rows::parquet::tests::damage_is_told_in_one_line_and_no_panic_is_printed";
            let program = std::env::current_exe().unwrap();
            let ended = std::process::Command::new(program)
                .args([this, "--exact", "--nocapture"])
                .env(ALONE, "1")
                .output()
                .unwrap();
            let (out, err) =
                [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes)).into();
            assert!(ended.status.success() && out.contains("1 passed"), "{out}{err}");
            assert!(!out.contains("panicked") && !err.contains("panicked"), "{out}{err}");
            return;
        }
        let mut told = 0;
        for at in (0..TYPES.len()).step_by(3) {
            let mut bytes = TYPES.to_vec();
            bytes[at] ^= 0x5a;
            let file = file(&bytes);
            let read = || {
                let mut rows = file.rows()?;
                let names = rows.names().unwrap_or_default();
                let refused = |name: &String| REFUSED.iter().any(|(known, _)| known == name);
                let kept: Vec<usize> =
                    (0..names.len()).filter(|&at| !refused(&names[at])).collect();
                rows.only(&kept)?;
                while rows.next()?.is_some() {}
                Ok::<_, crate::DataError>(())
            };
            if let Err(error) = read() {
                told += 1;
                let text = error.to_string();
                assert!(text.starts_with("f.parquet: ") && text.lines().count() == 1, "{text}");
            }
        }
        assert!(told > 100, "{told}");
    }

    /// A table without columns, as pandas writes an empty one, and one without inputs.
    #[test]
    fn a_table_without_columns_is_refused() {
        use polars_core::prelude::{DataFrame, NamedFrom, Series};
        let only = Series::new("kind".into(), ["a", "b"]).into();
        for (height, columns, told) in [
            (0, vec![], "f.parquet: holds no columns"),
            (2, vec![only], "f.parquet: needs at least one input column beside the target"),
        ] {
            let frame = DataFrame::new(height, columns).unwrap();
            let mut bytes = Vec::new();
            mercer_parquet::write(&frame, Compression::Zstd(None), &mut bytes).unwrap();
            let error = survey(&file(&bytes), &SchemaOptions::default()).unwrap_err().to_string();
            assert_eq!(error, told);
        }
    }

    /// Numbers of 16 bits in an encoding that the library does not know, beside others.
    #[test]
    fn a_column_that_cannot_be_decoded_is_named_and_can_be_left_out() {
        let file = file(include_bytes!("../../tests/fixtures/stream-split.parquet"));
        let error = survey(&file, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("f.parquet: column `h` cannot be decoded ("), "{error}");
        assert!(error.contains("plain encoding") && error.contains("(--drop h)"), "{error}");
        let drop = vec!["h".to_owned()];
        let (schema, rows) = survey(&file, &SchemaOptions { drop, ..Default::default() }).unwrap();
        assert_eq!((rows, schema.columns.len()), (40, 1));
    }

    #[test]
    fn what_is_neither_number_nor_text_is_named_and_can_be_left_out() {
        let file = file(TYPES);
        let names = file.rows().unwrap().names().unwrap().to_vec();
        let without = |kept: &[&str]| SchemaOptions {
            target: Some("int64".to_owned()),
            kind: Some(Kind::Regression),
            drop: names
                .iter()
                .filter(|name| *name != "int64" && !kept.contains(&name.as_str()))
                .cloned()
                .collect(),
            ..SchemaOptions::default()
        };
        for (name, held) in REFUSED {
            let error = survey(&file, &without(&["int8", name])).unwrap_err().to_string();
            let told = format!("f.parquet: column `{name}` holds {held}");
            assert!(error.starts_with(&told), "{error}\nexpected {told}");
            assert!(error.contains(&format!("(--drop {name})")), "{error}");
        }
        // Left out, they are no hindrance: here the target of the third row is.
        let error = survey(&file, &without(&["int8"])).unwrap_err().to_string();
        assert!(error.contains("f.parquet:3: the target (column `int64`) is missing"), "{error}");
        let options = SchemaOptions {
            target: Some("duration".to_owned()),
            kind: Some(Kind::Regression),
            drop: REFUSED
                .iter()
                .map(|(name, _)| *name)
                .chain(["null"])
                .map(str::to_owned)
                .collect(),
            ..SchemaOptions::default()
        };
        let (schema, rows) = survey(&file, &options).unwrap();
        assert_eq!((rows, schema.columns.len()), (4, names.len() - REFUSED.len() - 2));
        let (inputs, truths, _) = schema.read(&file).unwrap().chunk(9, true).unwrap();
        assert_eq!((inputs.nrows(), truths.len()), (4, 4));
        // All of them at once: the first is named.
        let error = survey(&file, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(error.contains("column `time` holds times of day"), "{error}");
        let drop = vec!["time,time64,binary,fixed,list,struct".into()];
        let told = SchemaOptions { target: Some("duration".into()), drop, ..Default::default() };
        let error = survey(&file, &told).unwrap_err().to_string();
        assert!(error.contains("column `null` is missing in every row"), "{error}");
    }

    #[test]
    fn labels_of_whole_numbers_and_flags_are_those_of_the_file() {
        use polars_core::prelude::{DataFrame, NamedFrom, Series};
        let (next, last) = (9_007_199_254_740_993i64, 9_007_199_254_740_992);
        let large = [next, last, 5, 5, last, next];
        let columns = vec![
            Series::new("x".into(), [0.5f64, 1.5, 2.5, 3.5, 4.5, 5.5]).into(),
            Series::new("flag".into(), [true, false, true, false, true, false]).into(),
            Series::new("single".into(), [0.1f32, 0.2, 0.1, 0.2, 0.1, 0.2]).into(),
            Series::new("large".into(), large).into(),
        ];
        let frame = DataFrame::new(6, columns).unwrap();
        let mut bytes = Vec::new();
        mercer_parquet::write(&frame, Compression::Zstd(None), &mut bytes).unwrap();
        let file = file(&bytes);
        for (target, labels, classes) in [
            ("flag", &["false", "true"][..], [1, 0, 1, 0, 1, 0]),
            ("single", &["0.1", "0.2"], [0, 1, 0, 1, 0, 1]),
            ("large", &["5", "9007199254740992", "9007199254740993"], [2, 1, 0, 0, 1, 2]),
        ] {
            let options = SchemaOptions {
                target: Some(target.to_owned()),
                kind: Some(Kind::Classification),
                ..SchemaOptions::default()
            };
            let (schema, _) = survey(&file, &options).unwrap();
            assert_eq!(schema.target.labels, labels, "{target}");
            let (_, truths, _) = schema.read(&file).unwrap().chunk(9, true).unwrap();
            assert_eq!(truths, Truths::Classes(classes.to_vec()), "{target}");
        }
    }

    /// `DataFrame.sample(frac=1).to_parquet` writes the order of the rows as a last column.
    #[test]
    fn the_index_of_pandas_is_no_column() {
        for (bytes, index) in [(INDEX, "__index_level_0__"), (NAMED, "id")] {
            let file = file(bytes);
            let rows = file.rows().unwrap();
            assert_eq!(rows.names().unwrap(), ["size", "kind"]);
            assert_eq!(rows.index(), [index]);
            let (schema, count) = survey(&file, &SchemaOptions::default()).unwrap();
            assert_eq!((count, schema.target.name.as_str()), (4, "kind"));
            assert_eq!(schema.target.labels, ["ball", "box"]);
            let (inputs, truths, _) = schema.read(&file).unwrap().chunk(9, true).unwrap();
            assert_eq!(inputs, ndarray::array![[1.5], [2.0], [3.0], [4.0]]);
            assert_eq!(truths, Truths::Classes(vec![1, 0, 1, 0]));
        }
        assert!(file(TYPES).rows().unwrap().index().is_empty());
    }
}
