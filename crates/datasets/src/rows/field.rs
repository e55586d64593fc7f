//! How the rows of a file are written, and the fields of a row.

/// How the rows of a file are written.
///
/// ```
/// use mercer_datasets::{RowFile, RowFormat};
/// let format = |text: &str| RowFile::spooled(text.as_bytes(), "pipe", None).map(|file| file.format());
/// assert_eq!(format("a\tb\n1\t2\n")?, RowFormat::Text(b'\t'));
/// assert_eq!(format("a,b;c\n1,2\n")?, RowFormat::Text(b',')); // a comma goes first
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Delimited text with this byte between fields.
    Text(u8),
    /// `target column:value ...`.
    Svmlight,
    /// Parquet.
    Parquet,
}

/// One field of a row.
///
/// ```
/// use mercer_datasets::Field;
/// assert_eq!(Field::Text("1e3").number(), Some(1000.0));
/// assert_eq!(Field::Text("red").number(), None);
/// assert_eq!((Field::Flag(true).number(), Field::Flag(true).text()), (Some(1.0), "true".to_owned()));
/// // One more than f64 can tell from its neighbour: as a label it keeps its name.
/// assert_eq!(Field::Whole(9_007_199_254_740_993).text(), "9007199254740993");
/// assert_eq!(Field::Single(0.1).text(), "0.1"); // not 0.10000000149
/// assert_eq!(Field::Missing.number(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// A number, where the format has types.
    Number(f64),
    /// A number of single precision.
    Single(f32),
    /// A whole number of up to 64 bits; `f64` does not distinguish all of them.
    Whole(i128),
    /// Yes or no: 1 or 0 as a number.
    Flag(bool),
    /// Text, without blanks around it unless they were quoted.
    Text(&'a str),
    /// Nothing.
    Missing,
}

/// A text without the blanks around it where they mean nothing: a number is one with blanks, and nothing is nothing.
pub(crate) fn meant(text: &str) -> &str {
    let trimmed = text.trim();
    let plain = trimmed.len() == text.len()
        || Field::of(trimmed) == Field::Missing
        || Field::Text(trimmed).number().is_some();
    if plain { trimmed } else { text }
}

/// Text that stands for a missing value: what pandas, R and spreadsheets write, and `?`.
pub(crate) const MISSING: [&str; 17] = [
    "", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "-NaN", "-nan", "null", "NULL", "None", "<NA>",
    "#N/A", "#NA", "#N/A N/A", "?",
];

impl<'a> Field<'a> {
    /// The field that a text is: missing if it is one of the usual spellings of that.
    pub(crate) fn of(text: &'a str) -> Self {
        // What begins a number, and most words, begins none of the spellings.
        let maybe = match text.as_bytes() {
            [] | [b'N' | b'n' | b'?' | b'<' | b'#', ..] => true,
            [b'-', second, ..] => matches!(second, b'N' | b'n'),
            _ => false,
        };
        if maybe && MISSING.contains(&text) { Self::Missing } else { Self::Text(text) }
    }

    /// Whether a text is one of the usual spellings of a missing value.
    pub(crate) fn is_spelled_missing(text: &str) -> bool {
        !text.is_empty() && MISSING.contains(&text)
    }

    /// Returns its number, if it is one and finite.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) => value.is_finite().then_some(value),
            Self::Single(value) => value.is_finite().then_some(value.into()),
            Self::Whole(value) => Some(value as f64),
            Self::Flag(value) => Some(value.into()),
            Self::Text(text) => crate::number::number(text.as_bytes())
                .filter(|&(value, end)| end == text.len() && value.is_finite())
                .map(|(value, _)| value),
            Self::Missing => None,
        }
    }

    /// Returns its text, for a category or a label.
    pub fn text(self) -> String {
        match self {
            Self::Number(value) => crate::table::label_name(value),
            // Adding zero turns -0 into 0.
            Self::Single(value) => (value + 0.0).to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Flag(value) => value.to_string(),
            Self::Text(text) => text.to_owned(),
            Self::Missing => String::new(),
        }
    }
}

/// A row at hand.
///
/// ```
/// use mercer_datasets::{Row, RowFile, RowFormat};
/// let text = &b"-1 2:0.5\n+1 1:3\n"[..];
/// let file = RowFile::spooled(text, "toys.svm", Some(RowFormat::Svmlight))?;
/// let mut rows = file.rows()?;
/// let Some((line, Row::Sparse { target, entries })) = rows.next()? else { panic!("svmlight") };
/// assert_eq!((line, target, entries), (1, -1.0, [(2, 0.5)].as_slice())); // column 1 is 0
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// One field a column.
    Fields(&'a dyn Fields),
    /// A target and the columns that are not 0, rising, numbered as in the file.
    Sparse {
        /// The target.
        target: f64,
        /// Column and value.
        entries: &'a [(u32, f64)],
    },
}

/// The fields of a row.
///
/// ```
/// use mercer_datasets::{Field, Row, RowFile};
/// let file = RowFile::spooled(&b"1.5,NA,None\n"[..], "toys", None)?;
/// let mut rows = file.rows()?;
/// let Some((_, Row::Fields(fields))) = rows.next()? else { panic!("delimited text") };
/// assert_eq!((fields.len(), fields.field(0).number()), (3, Some(1.5)));
/// assert_eq!(fields.field(1), Field::Missing);
/// // Among inputs `None` is nothing; among targets it may be the name of a class.
/// assert_eq!((fields.field(2), fields.raw(2)), (Field::Missing, Field::Text("None")));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
pub trait Fields: std::fmt::Debug {
    /// Returns how many there are.
    fn len(&self) -> usize;

    /// Returns whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the field in a column.
    fn field(&self, column: usize) -> Field<'_>;

    /// Returns the field in a column of targets. There only nothing is missing: a class may be called `None`.
    fn raw(&self, column: usize) -> Field<'_>;

    /// Returns the number in a column, if it is one and finite.
    ///
    /// ```
    /// use mercer_datasets::{Row, RowFile};
    /// let file = RowFile::spooled(&b"1.5, 2 ,NA,red\n"[..], "toys", None)?;
    /// let mut rows = file.rows()?;
    /// let Some((_, Row::Fields(fields))) = rows.next()? else { panic!("delimited text") };
    /// assert_eq!([0, 1, 2, 3].map(|at| fields.number(at)), [Some(1.5), Some(2.0), None, None]);
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    fn number(&self, column: usize) -> Option<f64> {
        self.field(column).number()
    }
}
