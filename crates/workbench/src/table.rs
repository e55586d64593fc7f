mod samples;

pub(crate) use samples::{require_cells, sample_of};

use crate::splitting::singles;
use crate::unheld::Unheld;
use crate::weights::row_weights;
use crate::{DivideBy, Division, Splitting, WorkbenchError};
use mercer_datasets::{
    DataError, Impute, Kind, Reading, RowFile, Schema, SchemaOptions, Split, Truths, Widened,
    survey,
};
use mercer_learning::{Streams, Task, counted};
use mercer_linalg::{Matrix, SparseRows, dense_rows};
use ndarray::Array2;

/// A user's file in memory. Its numbers are as the schema reads them, not yet filled or scaled.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, Truths};
/// use mercer_workbench::Table;
/// let text = "width,kind\n1.5,box\n,ball\n2,box\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// assert_eq!((&table.truths, &table.lines[..]), (&Truths::Classes(vec![1, 0, 1]), &[2, 3, 4][..]));
/// assert!(table.raw.at(1, 0).is_nan()); // missing, until a fit fills it
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// How errors call the file.
    pub name: String,
    /// What its columns mean.
    pub schema: Schema,
    /// Its numbers, `n × d`, NaN where one is missing. Of rows that are mostly 0 only the others are held.
    pub raw: Matrix,
    /// Its targets.
    pub truths: Truths,
    /// The line of each row.
    pub lines: Vec<usize>,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub sha256: String,
    /// How its rows may be divided, where a column says it.
    pub division: Option<Division>,
    /// How often each row counts in a fit, where a column says it.
    pub weights: Option<RowWeights>,
    /// Source of its numbers, where they are not held: `raw` then has no rows.
    pub unheld: Option<Unheld>,
}

/// How often each row counts in a fit; 0 leaves it out.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::Table;
/// let file = RowFile::spooled(&b"x,w,kind\n1,2,a\n2,0,b\n3,0.5,a\n"[..], "toys", None)?;
/// let table = Table::read_beside(&file, &SchemaOptions::default(), None, Some("w"))?;
/// let weights = table.weights.expect("they were named");
/// assert_eq!((weights.column.as_str(), weights.values), ("w", vec![2.0, 0.0, 0.5]));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RowWeights {
    /// The column that has them.
    pub column: String,
    /// A number from 0 a row.
    pub values: Vec<f64>,
}

impl Table {
    /// Learns what the columns of a file mean, then reads it.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::Table;
    /// let text = "width,kind\n1.5,box\n0.5,ball\n2,box\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// assert_eq!((table.rows(), table.schema.width()), (3, 1));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`survey`] and of [`mercer_datasets::Reading::next`].
    pub fn read(file: &RowFile, options: &SchemaOptions) -> Result<Self, WorkbenchError> {
        let (schema, rows) = survey(file, options)?;
        // Of svmlight the numbers that are not 0 count, once they are read.
        if !schema.sparse {
            require_cells(file.name(), (rows, schema.width()), options.limits.cells)?;
        }
        Self::with_schema(file, schema)
    }

    /// Reads a table with a column that says how the rows may be divided. That column is no feature.
    ///
    /// # Errors
    /// Those of [`Table::read`], of a column that is not there, and of one that does not divide the rows.
    pub fn read_divided(
        file: &RowFile,
        options: &SchemaOptions,
        by: &DivideBy,
    ) -> Result<Self, WorkbenchError> {
        Self::read_beside(file, options, Some(by), None)
    }

    /// Reads a table with columns that are no features. One says how the rows may be divided; one of numbers from 0
    /// says how often each row counts in a fit.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::Table;
    /// let file = RowFile::spooled(&b"x,w,kind\n1,2,a\n2,0,b\n3,0.5,a\n"[..], "toys", None)?;
    /// let table = Table::read_beside(&file, &SchemaOptions::default(), None, Some("w"))?;
    /// assert_eq!((table.schema.width(), table.weights.unwrap().values), (1, vec![2.0, 0.0, 0.5]));
    /// let wrong = RowFile::spooled(&b"x,w,kind\n1,2,a\n2,-1,b\n"[..], "toys", None)?;
    /// let refused = Table::read_beside(&wrong, &SchemaOptions::default(), None, Some("w"));
    /// assert!(refused.unwrap_err().to_string().starts_with("toys:3: column `w` `-1` is negative"));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Table::read_divided`]; [`DataError::Line`] for a weight that is negative, missing or no number;
    /// [`DataError::Format`] if all are 0.
    pub fn read_beside(
        file: &RowFile,
        options: &SchemaOptions,
        by: Option<&DivideBy>,
        weights: Option<&str>,
    ) -> Result<Self, WorkbenchError> {
        let options = with_aside(options, by, weights);
        let mut table = Self::read(file, &options)?;
        table.look_beside(file, by, weights)?;
        Ok(table)
    }

    /// Opens a table whose numbers stay in the file. Whoever fits to rows of it, or predicts them, reads them in passes
    /// and holds at most `buffer` of them at a time. Targets and line numbers are held.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_learning::Settings;
    /// use mercer_models::rftk::METHODS;
    /// use mercer_workbench::{Choices, Splitting, Table, evaluate};
    /// let rows: String = (0..40).map(|row| format!("{row},{}\n", if row % 20 < 10 { "a" } else { "b" })).collect();
    /// let read = || RowFile::spooled(format!("x,kind\n{rows}").as_bytes(), "toys", None);
    /// let options = SchemaOptions::default();
    /// let choices = Choices { settings: Settings::new().with("features", 20), ..Choices::plain() };
    /// let accuracy = |table: &Table| {
    ///     let found = evaluate(METHODS, "rf-ridge", table, Splitting::default(), &choices, |_, _| {})?;
    ///     Ok::<_, mercer_workbench::WorkbenchError>(found.estimates["accuracy"].mean)
    /// };
    /// let held = Table::read(&read()?, &options)?;
    /// let unheld = Table::in_passes(read()?, &options, None, 7)?;
    /// assert_eq!(accuracy(&held)?, accuracy(&unheld)?);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Table::read_divided`]; [`WorkbenchError::Argument`] for a buffer below 2 rows.
    pub fn in_passes(
        file: RowFile,
        options: &SchemaOptions,
        by: Option<&DivideBy>,
        buffer: usize,
    ) -> Result<Self, WorkbenchError> {
        let options = with_aside(options, by, None);
        let (schema, _) = survey(&file, &options)?;
        let unheld = Unheld::new(file, Widened::default(), buffer, options.limits.cells)?;
        let mut table = Self::with_rows_in(unheld.clone(), schema, &Widened::default())?;
        table.look_beside(unheld.file(), by, None)?;
        Ok(table)
    }

    /// Opens in passes a file that has more columns than the schema. It may be a file to score a model on.
    ///
    /// # Errors
    /// Those of [`Table::wider`]; [`WorkbenchError::Argument`] for a buffer below 2 rows.
    pub fn wider_in_passes(
        file: RowFile,
        schema: Schema,
        widened: &Widened,
        buffer: usize,
    ) -> Result<Self, WorkbenchError> {
        let cells = SchemaOptions::default().limits.cells;
        Self::with_rows_in(Unheld::new(file, widened.clone(), buffer, cells)?, schema, widened)
    }

    /// Targets and lines of a file whose numbers stay there.
    fn with_rows_in(
        unheld: Unheld,
        schema: Schema,
        widened: &Widened,
    ) -> Result<Self, WorkbenchError> {
        let file = unheld.file();
        let mut reading = reading_with_target(file, &schema, widened)?;
        let (mut truths, mut lines) = (Truths::none(schema.target.kind), Vec::new());
        while let Some(row) = reading.next(true)? {
            lines.push(row.line);
            truths.push(row.truth.expect("the file has the target"));
        }
        drop(reading);
        require_rows(file, lines.len())?;
        let (name, sha256) = (file.name().to_owned(), file.sha256()?);
        let raw = Array2::zeros((0, schema.width())).into();
        let (division, weights, unheld) = (None, None, Some(unheld));
        Ok(Self { name, schema, raw, truths, lines, sha256, division, weights, unheld })
    }

    /// Reads the columns that divide and weigh the rows.
    fn look_beside(
        &mut self,
        file: &RowFile,
        by: Option<&DivideBy>,
        weights: Option<&str>,
    ) -> Result<(), WorkbenchError> {
        let divided = by.map(|by| by.column().clone());
        let keep: Vec<String> = divided.into_iter().chain(weights.map(str::to_owned)).collect();
        if keep.is_empty() {
            return Ok(());
        }
        let widened = Widened { keep, ..Widened::default() };
        let mut reading = self.schema.read_wider(file, &widened)?;
        while reading.next(true)?.is_some() {}
        let rows = reading.take_kept();
        drop(reading);
        let texts = |at: usize| rows.iter().map(|row| row[at].clone()).collect::<Vec<String>>();
        if let Some(by) = by {
            self.division = Some(Division::of(by, &texts(0), &self.lines, &self.name)?);
        }
        if let Some(column) = weights {
            let texts = texts(usize::from(by.is_some()));
            let values = row_weights(column, &texts, &self.lines, &self.name)?;
            self.weights = Some(RowWeights { column: column.to_owned(), values });
        }
        Ok(())
    }

    /// Returns whether so many folds divide the rows in one way only: each row, or each group, is one. Classes of one
    /// row, which are in no test part, are not counted.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::Table;
    /// let file = RowFile::spooled(&b"x,y\n1,0.5\n2,1.5\n3,2.5\n"[..], "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// assert!(table.one_way(3) && !table.one_way(2));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn one_way(&self, folds: usize) -> bool {
        match (&self.division, &self.truths) {
            (Some(division), _) => division.one_way(folds),
            (None, Truths::Classes(labels)) => folds + singles(labels).len() == self.rows(),
            (None, Truths::Values(_)) => folds == self.rows(),
        }
    }

    /// Splits its rows. The splits depend on the seed and not on any method.
    ///
    /// # Errors
    /// As [`Splitting::splits`]; repeats of a division that is always the same.
    pub fn splits(
        &self,
        splitting: Splitting,
        streams: &Streams,
    ) -> Result<Vec<Split>, WorkbenchError> {
        if let Splitting::Folds { folds, repeats } = splitting
            && repeats > 1
            && self.one_way(folds)
        {
            return Err(WorkbenchError::Argument {
                name: "repeats",
                value: repeats.to_string(),
                must: format!("1: {folds} folds divide these rows in one way only"),
            });
        }
        // Which of two classes is called positive divides no row in another way.
        let mut own = self.truths.clone();
        if let Truths::Classes(labels) = &mut own
            && self.schema.target.is_turned()
        {
            for label in labels.iter_mut() {
                *label = 1 - *label;
            }
        }
        match &self.division {
            Some(division) => {
                let labels = match &own {
                    Truths::Classes(labels) => Some(labels.as_slice()),
                    Truths::Values(_) => None,
                };
                let splits = division.splits(splitting, labels, streams)?;
                if let Truths::Classes(labels) = &self.truths {
                    division.two_classes(&splits, labels, &self.schema.target.labels)?;
                }
                Ok(splits)
            }
            None => splitting.splits(&own, streams),
        }
    }

    /// Classes of one row, which is in no test part.
    pub(crate) fn classes_alone(&self) -> Vec<usize> {
        match &self.truths {
            Truths::Classes(labels) if self.division.is_none() => {
                singles(labels).into_iter().map(|row| labels[row] as usize).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Describes in words how its rows are divided.
    pub fn describe(&self, splitting: Splitting) -> String {
        let divided = self.division.as_ref().map(|division| division.describe(splitting));
        divided.unwrap_or_else(|| splitting.describe())
    }

    /// Reads a file whose columns are known, from a model, say.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::Table;
    /// let later = RowFile::spooled(&b"x,kind\n7,b\n"[..], "later", None)?;
    /// let later = Table::with_schema(&later, table.schema.clone())?;
    /// assert_eq!(later.schema.target.labels, ["a", "b"]); // those of the first file
    /// let bare = RowFile::spooled(&b"x\n7\n"[..], "bare", None)?;
    /// let refused = Table::with_schema(&bare, table.schema.clone()).unwrap_err().to_string();
    /// assert!(refused.starts_with("bare has no column `kind`, the target"), "{refused}");
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`mercer_datasets::Reading::next`]; [`WorkbenchError::NoTarget`].
    pub fn with_schema(file: &RowFile, schema: Schema) -> Result<Self, WorkbenchError> {
        Self::wider(file, schema, &Widened::default())
    }

    /// Reads a file that has more columns than the schema.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_datasets::Widened;
    /// use mercer_workbench::Table;
    /// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "toys", None);
    /// let table = Table::read(&read("x,kind\n1,a\n2,b\n3,a\n")?, &SchemaOptions::default())?;
    /// let widened = Widened { drop: vec!["note".to_owned()], ..Widened::default() };
    /// let wider = Table::wider(&read("note,x,kind\nnew,7,b\n")?, table.schema, &widened)?;
    /// assert_eq!(wider.raw.at(0, 0), 7.0);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Table::with_schema`], and of a column to leave out that is not there.
    pub fn wider(
        file: &RowFile,
        schema: Schema,
        widened: &Widened,
    ) -> Result<Self, WorkbenchError> {
        let mut reading = reading_with_target(file, &schema, widened)?;
        let (raw, truths, lines) = if schema.sparse {
            let (rows, truths, lines) = reading.sparse(usize::MAX, true)?;
            (held(rows, file.name())?, truths, lines)
        } else {
            let (rows, truths, lines) = reading.chunk(usize::MAX, true)?;
            (rows.into(), truths, lines)
        };
        drop(reading);
        require_rows(file, lines.len())?;
        let (name, sha256) = (file.name().to_owned(), file.sha256()?);
        let (division, weights, unheld) = (None, None, None);
        Ok(Self { name, schema, raw, truths, lines, sha256, division, weights, unheld })
    }

    /// Appends rows of another file, read with the same schema, that test what is fitted to the rows of this one. It has
    /// one split then.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_learning::Streams;
    /// use mercer_workbench::{Splitting, Table};
    /// let read = |text: &'static str, name| RowFile::spooled(text.as_bytes(), name, None);
    /// let train = Table::read(&read("x,kind\n-1,a\n1,b\n-2,a\n", "train")?, &SchemaOptions::default())?;
    /// let test = Table::with_schema(&read("x,kind\n3,b\n", "test")?, train.schema.clone())?;
    /// let both = train.tested_on(test, None)?;
    /// let once = Splitting::Folds { folds: 5, repeats: 1 };
    /// let splits = both.splits(once, &Streams::root(1))?;
    /// assert_eq!((splits[0].train.as_slice(), splits[0].test.as_slice()), (&[0, 1, 2][..], &[3][..]));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Format`] for a hole in the other file that is not to be filled.
    pub fn tested_on(mut self, test: Self, impute: Option<Impute>) -> Result<Self, WorkbenchError> {
        if let (None, Some((column, rows))) = (impute, test.holes().first()) {
            let problem = format!(
                "column `{column}` has no value in {}; fill it (--impute mean or median), or remove them",
                counted(*rows, "row", "rows")
            );
            return Err(DataError::Format { file: test.name, problem }.into());
        }
        self.division = Some(Division::of_files(self.rows(), test.rows(), &test.name));
        self.raw = self.raw.above(test.raw);
        self.truths.append(test.truths);
        self.lines.extend(test.lines);
        if let Some(weights) = &mut self.weights {
            weights.values.resize(self.lines.len(), 1.0);
        }
        Ok(self)
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Returns the task.
    pub const fn task(&self) -> Task {
        task_of(&self.schema)
    }

    /// Returns how many rows are held at a time, where not all are.
    pub fn buffer(&self) -> Option<usize> {
        self.unheld.as_ref().map(|unheld| unheld.most.0)
    }
}

/// Returns the options with the columns put aside that divide the rows or weigh them.
///
/// ```
/// use mercer_datasets::SchemaOptions;
/// use mercer_workbench::{DivideBy, with_aside};
/// let by = DivideBy::Groups("patient".to_owned());
/// let options = with_aside(&SchemaOptions::default(), Some(&by), None);
/// assert_eq!(options.aside, [("patient".to_owned(), "--groups")]);
/// ```
pub fn with_aside(
    options: &SchemaOptions,
    by: Option<&DivideBy>,
    weights: Option<&str>,
) -> SchemaOptions {
    let divided = by.map(|by| (by.column().clone(), by.flag()));
    let weighed = weights.map(|column| (column.to_owned(), "--weights"));
    SchemaOptions { aside: divided.into_iter().chain(weighed).collect(), ..options.clone() }
}

/// A pass over a file that has the target.
fn reading_with_target<'a>(
    file: &'a RowFile,
    schema: &'a Schema,
    widened: &'a Widened,
) -> Result<Reading<'a>, WorkbenchError> {
    let reading = schema.read_wider(file, widened)?;
    if reading.has_target() {
        return Ok(reading);
    }
    let (file, target) = (file.name().to_owned(), schema.target.name.clone());
    Err(WorkbenchError::NoTarget { file, target })
}

fn require_rows(file: &RowFile, rows: usize) -> Result<(), WorkbenchError> {
    if rows > 0 {
        return Ok(());
    }
    let (file, problem) = (file.name().to_owned(), "holds no rows".to_owned());
    Err(DataError::Format { file, problem }.into())
}

/// The task that a schema's target poses.
pub(crate) const fn task_of(schema: &Schema) -> Task {
    match schema.target.kind {
        Kind::Classification => Task::Classification { classes: schema.target.labels.len() },
        Kind::Regression => Task::Regression,
    }
}

/// Share of numbers up to which svmlight rows are held by what is not 0, and numbers from which they are.
const MOSTLY_ZERO: f64 = 0.1;
const MANY: usize = 1 << 20;

/// Returns sparse rows as a table holds them: as they are where they are many and mostly 0, and have no hole; else with all
/// their numbers.
///
/// ```
/// use mercer_linalg::{Matrix, sparse_rows};
/// let few = mercer_workbench::held(sparse_rows(3, [vec![(1, 2.0)]]), "one row")?;
/// assert_eq!(few, ndarray::array![[0.0, 2.0, 0.0]].into());
/// let many = mercer_workbench::held(sparse_rows(1 << 20, [vec![(1, 2.0)]]), "a wide row")?;
/// assert!(matches!(many, Matrix::Sparse(_)));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`DataError::Format`] for more numbers than are held at once, if all are to be.
pub fn held(rows: SparseRows, file: &str) -> Result<Matrix, WorkbenchError> {
    let (n, d) = rows.shape();
    let cells = n.saturating_mul(d);
    let mostly_zero = cells >= MANY && rows.nnz() as f64 <= MOSTLY_ZERO * cells as f64;
    // A hole is filled as in any table.
    if mostly_zero && rows.data().iter().all(|value| !value.is_nan()) {
        return Ok(Matrix::Sparse(rows));
    }
    require_cells(file, (n, d), SchemaOptions::default().limits.cells)?;
    Ok(Matrix::Dense(dense_rows(&rows, 0..n)))
}
