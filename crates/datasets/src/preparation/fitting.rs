//! A preparation is learned from the training rows, one at a time.

use super::{Impute, Moments, Preparation, TargetStandard, column_of, missing};
use crate::schema::{Categories, Holds, Schema, Truth};
use crate::shell::shell_word;
use crate::{DataError, Scaler, Scaling};
use mercer_linalg::{SparseRows, sparse_row};
use std::collections::BTreeMap;

/// The error for numbers whose spread is no number.
const TOO_LARGE: &str = "has numbers so large that their spread overflows (above about 1e150); divide the column by a power of ten";

/// Learns a [`Preparation`] from training rows, one at a time.
///
/// Rows in the same order give the same preparation to the last bit, whether they come from memory
/// or from a file.
///
/// ```
/// use mercer_datasets::{Preparing, RowFile, Scaling, SchemaOptions, Truth, survey};
/// let file = RowFile::spooled(&b"x,y\n1,0.5\n3,2.5\n"[..], "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
/// for line in [2, 3] {
///     preparing.see(&[1.0], Some(Truth::Value(7.0)), "toys", line)?;
/// }
/// let standard = preparing.finish()?.target().unwrap(); // targets that do not vary stay as they are
/// assert_eq!((standard.mean, standard.deviation), (7.0, 1.0));
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
/// let refused = preparing.see(&[f64::NAN], Some(Truth::Value(7.0)), "toys", 2).unwrap_err();
/// assert!(refused.to_string().contains("`x`"), "{refused}"); // a missing number names its column
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug)]
pub struct Preparing<'a> {
    schema: &'a Schema,
    scaling: Scaling,
    impute: Option<Impute>,
    moments: Vec<Moments>,
    /// How often each feature was missing, by the weights of the rows.
    missing: Vec<f64>,
    /// In how many rows it was.
    holes: Vec<usize>,
    /// All numbers of each feature, for medians, and their weights where rows have some.
    values: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
    /// How often each level of an ordinal column occurred, by feature.
    codes: BTreeMap<usize, BTreeMap<u32, f64>>,
    target: Moments,
    /// The rows are mostly 0, and shall stay so: nothing is subtracted from them; and how many were seen.
    sparse: bool,
    rows: usize,
}

impl<'a> Preparing<'a> {
    /// Starts with nothing seen yet.
    pub fn new(schema: &'a Schema, scaling: Scaling, impute: Option<Impute>) -> Self {
        let width = schema.width();
        let held = if impute == Some(Impute::Median) { width } else { 0 };
        let mut codes = BTreeMap::new();
        let mut feature = 0;
        for column in &schema.columns {
            if matches!(column.content, Holds::Categories { encoding: Categories::Ordinal, .. }) {
                codes.insert(feature, BTreeMap::new());
            }
            feature += column.width();
        }
        Self {
            schema,
            scaling,
            impute,
            moments: vec![Moments::default(); width],
            missing: vec![0.0; width],
            holes: vec![0; width],
            values: vec![Vec::new(); held],
            weights: vec![Vec::new(); held],
            codes,
            target: Moments::default(),
            sparse: false,
            rows: 0,
        }
    }

    /// Adds one more row, from this line of a file, with its target.
    ///
    /// # Errors
    /// [`DataError::Line`] for a missing number that is not to be filled.
    pub fn see(
        &mut self,
        row: &[f64],
        truth: Option<Truth>,
        file: &str,
        line: usize,
    ) -> Result<(), DataError> {
        for (at, &value) in row.iter().enumerate() {
            if value.is_nan() {
                if self.impute.is_none() {
                    let remedy = "fill it (--impute mean or median), or remove the row";
                    return Err(missing(self.schema, (at, value), file, line, remedy));
                }
                self.missing[at] += 1.0;
                self.holes[at] += 1;
                continue;
            }
            self.moments[at].see(value);
            if let Some(values) = self.values.get_mut(at) {
                values.push(value);
            }
        }
        for (&at, counts) in &mut self.codes {
            if !row[at].is_nan() {
                *counts.entry(row[at] as u32).or_default() += 1.0;
            }
        }
        if let Some(Truth::Value(value)) = truth {
            self.target.see(value);
        }
        Ok(())
    }

    /// Adds one more row that counts as `weight` equal rows. A row of weight 0 is not looked at. All rows are to be
    /// seen so, or none.
    ///
    /// ```
    /// # use mercer_datasets::{Preparing, RowFile, Scaling, SchemaOptions, Truth, survey};
    /// # let file = RowFile::spooled(&b"x,y\n1,0.5\n4,2.5\n"[..], "toys", None)?;
    /// # let (schema, _) = survey(&file, &SchemaOptions::default())?;
    /// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
    /// preparing.see_weighted(&[1.0], Some(Truth::Value(0.5)), "toys", 2, 2.0)?;
    /// preparing.see_weighted(&[4.0], Some(Truth::Value(2.5)), "toys", 3, 1.0)?;
    /// let mut inputs = ndarray::array![[2.0]];
    /// preparing.finish()?.apply(&mut inputs, &schema, "toys", &[4])?;
    /// assert_eq!(inputs, ndarray::array![[0.0]]); // the mean of 1, 1 and 4
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Preparing::see`].
    pub fn see_weighted(
        &mut self,
        row: &[f64],
        truth: Option<Truth>,
        file: &str,
        line: usize,
        weight: f64,
    ) -> Result<(), DataError> {
        if weight == 0.0 {
            return Ok(());
        }
        for (at, &value) in row.iter().enumerate() {
            if value.is_nan() {
                if self.impute.is_none() {
                    let remedy = "fill it (--impute mean or median), or remove the row";
                    return Err(missing(self.schema, (at, value), file, line, remedy));
                }
                self.missing[at] += weight;
                self.holes[at] += 1;
                continue;
            }
            self.moments[at].repeat(value, weight);
            if let Some((values, weights)) = self.values.get_mut(at).zip(self.weights.get_mut(at)) {
                values.push(value);
                weights.push(weight);
            }
        }
        for (&at, counts) in &mut self.codes {
            if !row[at].is_nan() {
                *counts.entry(row[at] as u32).or_default() += weight;
            }
        }
        if let Some(Truth::Value(value)) = truth {
            self.target.repeat(value, weight);
        }
        Ok(())
    }

    /// Returns this for rows that are mostly 0 and shall stay so: the standard scaling then divides by the deviation and
    /// subtracts no mean.
    #[must_use]
    pub const fn keeping_zeros(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Adds some rows that are held by what is not 0 in them, and have no holes. `of` is a row's target, and how often
    /// it counts.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn see_sparse(
        &mut self,
        all: &SparseRows,
        rows: &[usize],
        of: impl Fn(usize) -> (Truth, f64),
    ) {
        let mut total = 0.0;
        for &row in rows {
            let (truth, weight) = of(row);
            let (columns, values) = sparse_row(all, row);
            for (&column, &value) in columns.iter().zip(values) {
                self.moments[column as usize].repeat(value, weight);
                if let Some(values) = self.values.get_mut(column as usize) {
                    values.push(value);
                }
            }
            if let Truth::Value(value) = truth {
                self.target.repeat(value, weight);
            }
            total += weight;
        }
        self.rows += rows.len();
        for moments in &mut self.moments {
            moments.repeat(0.0, total - moments.count);
        }
    }

    /// Returns the preparation.
    ///
    /// # Errors
    /// [`DataError::Format`] for a column that is missing in every training row, or numbers so large that their squares
    /// overflow.
    pub fn finish(mut self) -> Result<Preparation, DataError> {
        let fill = self.impute.map(|impute| self.fill(impute)).transpose()?;
        if let Some(fill) = &fill {
            for ((moments, &value), &missing) in
                self.moments.iter_mut().zip(fill).zip(&self.missing)
            {
                moments.repeat(value, missing);
            }
        }
        for (at, moments) in self.moments.iter().enumerate() {
            let spread = match self.scaling {
                Scaling::None | Scaling::Bytes => continue,
                Scaling::UnitInterval | Scaling::Symmetric => moments.high - moments.low,
                Scaling::Standard => moments.deviation(),
            };
            if !spread.is_finite() && moments.count > 0.0 {
                let name = column_of(self.schema, at);
                let other = moments.high - moments.low;
                let remedy = if self.scaling == Scaling::Standard && other.is_finite() {
                    ", or scale by its smallest and largest number (--scale unit-interval)"
                } else {
                    ""
                };
                let problem = format!("{TOO_LARGE}{remedy}");
                return Err(DataError::format(&format!("column `{name}`"), problem));
            }
        }
        let mut scaler = Scaler::of_moments(self.scaling, &self.moments);
        if self.sparse && self.scaling == Scaling::Standard {
            scaler.subtract_nothing();
        }
        let target = if self.schema.target.kind == crate::Kind::Regression {
            let deviation = self.target.deviation();
            if !deviation.is_finite() {
                let name = format!("the target `{}`", self.schema.target.name);
                return Err(DataError::format(&name, TOO_LARGE));
            }
            if deviation == 0.0 {
                tracing::warn!(
                    "target `{}` is {} in all rows of a training part: that is what is predicted there",
                    self.schema.target.name,
                    self.target.mean()
                );
            }
            let deviation = if deviation > 0.0 { deviation } else { 1.0 };
            Some(TargetStandard { mean: self.target.mean(), deviation })
        } else {
            None
        };
        let mut at = 0;
        let missing = self.schema.columns.iter().map(|column| {
            let rows = self.holes[at];
            at += column.width();
            rows
        });
        let missing = if fill.is_some() { missing.collect() } else { Vec::new() };
        Ok(Preparation { fill, missing, scaler, target })
    }

    fn fill(&mut self, impute: Impute) -> Result<Vec<f64>, DataError> {
        let mut fill = Vec::with_capacity(self.moments.len());
        for column in &self.schema.columns {
            let at = fill.len();
            if self.moments[at].count() == 0.0 {
                let remedy = if self.schema.sparse {
                    "remove it from the file".to_owned()
                } else {
                    format!("leave it out (--drop {})", shell_word(&column.name))
                };
                let problem = format!("is missing in every training row; {remedy}");
                return Err(DataError::format(&format!("column `{}`", column.name), problem));
            }
            match &column.content {
                Holds::Numbers => fill.push(match impute {
                    Impute::Mean => self.moments[at].mean(),
                    // Of weighted rows too each counts once.
                    Impute::Median if self.sparse => {
                        median_with_zeros(&mut self.values[at], self.rows)
                    }
                    Impute::Median if self.weights[at].is_empty() => median(&mut self.values[at]),
                    Impute::Median => weighted_median(&self.values[at], &self.weights[at]),
                }),
                Holds::Categories { encoding: Categories::Ordinal, .. } => {
                    // Of equally frequent levels the first.
                    let counts = self.codes[&at].iter();
                    let most = counts.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
                    fill.push(most.map_or(0.0, |(&code, _)| f64::from(code)));
                }
                Holds::Categories { encoding: Categories::OneHot, levels } => {
                    let shares = &self.moments[at..at + levels.len()];
                    let mut most = 0;
                    for (level, share) in shares.iter().enumerate() {
                        if share.mean() > shares[most].mean() {
                            most = level;
                        }
                    }
                    fill.extend((0..levels.len()).map(|level| f64::from(u8::from(level == most))));
                }
            }
        }
        Ok(fill)
    }
}

/// The middle number, or the mean of the two in the middle.
pub(super) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() < middle || values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// The median of these numbers and as many zeros as make `rows` of them.
fn median_with_zeros(values: &mut [f64], rows: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let (below, zeros) = (values.partition_point(|value| *value < 0.0), rows - values.len());
    let at = |place: usize| match place {
        _ if place < below => values[place],
        _ if place < below + zeros => 0.0,
        _ => values[place - zeros],
    };
    f64::midpoint(at((rows - 1) / 2), at(rows / 2))
}

/// The median of numbers that each occur as often as a weight says: the number at half the weight, or where two meet
/// there, their mean.
fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (at, &(value, weight)) in pairs.iter().enumerate() {
        below += weight;
        let left = 2.0 * below - total;
        if left.abs() <= 1e-12 * total {
            return f64::midpoint(value, pairs.get(at + 1).map_or(value, |next| next.0));
        }
        if left > 0.0 {
            return value;
        }
    }
    pairs.last().map_or(f64::NAN, |last| last.0)
}
