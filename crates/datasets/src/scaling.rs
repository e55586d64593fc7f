use crate::DataError;
use crate::preparation::Moments;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Zip};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How input columns are scaled.
///
/// ```
/// use mercer_datasets::{Scaler, Scaling};
/// use ndarray::array;
/// let (train, x) = (array![[0.0], [4.0]], array![[3.0]]);
/// let scaled = |name: &str| {
///     let scaling: Scaling = name.parse()?;
///     Ok::<_, mercer_datasets::DataError>(Scaler::fit(scaling, train.view()).apply(x.view())[[0, 0]])
/// };
/// assert_eq!((scaled("unit-interval")?, scaled("symmetric")?), (0.75, 0.5));
/// assert_eq!((scaled("standard")?, scaled("none")?), (0.5, 3.0));
/// let bytes = Scaler::fit(Scaling::Bytes, train.view());
/// assert_eq!(bytes.apply(array![[255.0]].view()), array![[1.0]]);
/// assert_eq!(
///     scaled("max").unwrap_err().to_string(),
///     "`scaling` is `max`; it must be none, unit-interval, symmetric, standard or bytes"
/// );
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Not at all.
    #[default]
    None,
    /// `(x − min) / (max − min)`: training rows fill `[0, 1]`.
    UnitInterval,
    /// `2 (x − min) / (max − min) − 1`: training rows fill `[−1, 1]`.
    Symmetric,
    /// `(x − mean) / deviation`, with the deviation divided by `n`.
    Standard,
    /// `x / 127.5 − 1`: bytes fill `[−1, 1]`, whatever the training rows hold; for images.
    Bytes,
}

impl FromStr for Scaling {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "none" => Ok(Self::None),
            "unit-interval" => Ok(Self::UnitInterval),
            "symmetric" => Ok(Self::Symmetric),
            "standard" => Ok(Self::Standard),
            "bytes" => Ok(Self::Bytes),
            _ => Err(DataError::Argument {
                name: "scaling",
                value: format!("`{text}`"),
                must: "none, unit-interval, symmetric, standard or bytes".to_owned(),
            }),
        }
    }
}

/// An affine map per column, `x ↦ a (x − c) + b`, fitted on training rows.
///
/// A column that is constant on the training rows maps to 0, whatever it is elsewhere; with
/// [`Scaling::None`] nothing changes, constant columns included, and [`Scaling::Bytes`] does not
/// look at the rows.
///
/// ```
/// use mercer_datasets::{Scaler, Scaling};
/// use ndarray::array;
/// let train = array![[0.0, 5.0], [10.0, 5.0]];
/// let scaler = Scaler::fit(Scaling::Symmetric, train.view());
/// assert_eq!(scaler.apply(train.view()), array![[-1.0, 0.0], [1.0, 0.0]]);
/// assert_eq!(scaler.apply(array![[20.0, 7.0]].view()), array![[3.0, 0.0]]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaler {
    centres: Array1<f64>, // c
    factors: Array1<f64>, // a
    offsets: Array1<f64>, // b
}

impl Scaler {
    /// Fits the map to `inputs`, `n × d`: pass the training rows and nothing else.
    ///
    /// # Panics
    /// If `inputs` has no rows.
    pub fn fit(scaling: Scaling, inputs: ArrayView2<'_, f64>) -> Self {
        assert!(inputs.nrows() > 0, "a scaler needs at least one row");
        let d = inputs.ncols();
        let mut scaler =
            Self { centres: Array1::zeros(d), factors: Array1::ones(d), offsets: Array1::zeros(d) };
        let (range, offset) = match scaling {
            Scaling::None => return scaler,
            Scaling::UnitInterval => (1.0, 0.0),
            Scaling::Symmetric => (2.0, -1.0),
            Scaling::Standard => {
                scaler.standardise(inputs);
                return scaler;
            }
            Scaling::Bytes => {
                scaler.factors.fill(1.0 / 127.5);
                scaler.offsets.fill(-1.0);
                return scaler;
            }
        };
        let (low, high) = extremes(inputs);
        for j in 0..d {
            let factor = range / (high[j] - low[j]);
            // A width so small that its reciprocal overflows is as good as none.
            let varies = high[j] > low[j] && factor.is_finite();
            scaler.centres[j] = low[j];
            scaler.factors[j] = if varies { factor } else { 0.0 };
            scaler.offsets[j] = if varies { offset } else { 0.0 };
        }
        scaler
    }

    /// The map that [`Scaler::fit`] would find, from the known facts of each column.
    pub(crate) fn of_moments(scaling: Scaling, columns: &[Moments]) -> Self {
        let mut scaler = Self {
            centres: Array1::zeros(columns.len()),
            factors: Array1::ones(columns.len()),
            offsets: Array1::zeros(columns.len()),
        };
        for (j, column) in columns.iter().enumerate() {
            let (low, high) = column.extremes();
            let (centre, factor, offset) = match scaling {
                Scaling::None => (0.0, 1.0, 0.0),
                Scaling::Bytes => (0.0, 1.0 / 127.5, -1.0),
                Scaling::UnitInterval => (low, 1.0 / (high - low), 0.0),
                Scaling::Symmetric => (low, 2.0 / (high - low), -1.0),
                Scaling::Standard => (column.mean(), column.deviation().recip(), 0.0),
            };
            let fixed = matches!(scaling, Scaling::None | Scaling::Bytes);
            let varies = fixed || (high > low && factor.is_finite());
            scaler.centres[j] = centre;
            scaler.factors[j] = if varies { factor } else { 0.0 };
            scaler.offsets[j] = if varies { offset } else { 0.0 };
        }
        scaler
    }

    /// Whether it is a map of `columns` columns with finite numbers.
    pub(crate) fn fits(&self, columns: usize) -> bool {
        let parts = [&self.centres, &self.factors, &self.offsets];
        parts.iter().all(|part| part.len() == columns && part.iter().all(|v| v.is_finite()))
    }

    /// Leaves out what it subtracts.
    pub(crate) fn subtract_nothing(&mut self) {
        self.centres.fill(0.0);
    }

    /// Whether every 0 stays 0.
    pub(crate) fn keeps_zeros(&self) -> bool {
        (0..self.centres.len()).all(|column| self.of(column, 0.0) == 0.0)
    }

    /// The scaled number of a column.
    pub(crate) fn of(&self, column: usize, value: f64) -> f64 {
        (value - self.centres[column]) * self.factors[column] + self.offsets[column]
    }

    fn standardise(&mut self, inputs: ArrayView2<'_, f64>) {
        let n = inputs.nrows() as f64;
        let (low, high) = extremes(inputs);
        // Rows outside, columns inside: the matrix is walked in the order in which it lies.
        for row in inputs.rows() {
            Zip::from(&mut self.centres).and(row).for_each(|c, &x| *c += x / n);
        }
        let mut variances = Array1::<f64>::zeros(inputs.ncols());
        for row in inputs.rows() {
            Zip::from(&mut variances)
                .and(row)
                .and(&self.centres)
                .for_each(|v, &x, &c| *v += (x - c).powi(2) / n);
        }
        for (j, variance) in variances.iter().enumerate() {
            // The mean of equal numbers may differ from them in the last digit, so the deviation
            // of a constant column need not be 0: compare the extremes instead.
            let varies = high[j] > low[j] && *variance > 0.0;
            self.factors[j] = if varies { variance.sqrt().recip() } else { 0.0 };
        }
    }

    /// Returns the scaled inputs, in a new matrix.
    ///
    /// # Panics
    /// If the number of columns is not that of the fit.
    pub fn apply(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scaled = inputs.to_owned();
        self.apply_inplace(&mut scaled);
        scaled
    }

    /// Scales the inputs where they are.
    ///
    /// # Panics
    /// If the number of columns is not that of the fit.
    pub fn apply_inplace(&self, inputs: &mut Array2<f64>) {
        assert_eq!(inputs.ncols(), self.centres.len(), "columns of inputs and scaler");
        for mut row in inputs.axis_iter_mut(Axis(0)) {
            Zip::from(&mut row)
                .and(&self.centres)
                .and(&self.factors)
                .and(&self.offsets)
                .for_each(|x, &c, &a, &b| *x = (*x - c) * a + b);
        }
    }
}

fn extremes(inputs: ArrayView2<'_, f64>) -> (Array1<f64>, Array1<f64>) {
    let (mut low, mut high) = (inputs.row(0).to_owned(), inputs.row(0).to_owned());
    for row in inputs.rows() {
        Zip::from(&mut low).and(&mut high).and(row).for_each(|low, high, &x| {
            *low = low.min(x);
            *high = high.max(x);
        });
    }
    (low, high)
}

/// An affine map of regression targets whose training values fill `[low, high]`.
///
/// ```
/// use mercer_datasets::TargetScaler;
/// use ndarray::array;
/// let scaler = TargetScaler::fit(array![2.0, 4.0, 3.0].view(), 0.0, 100.0);
/// assert_eq!(scaler.apply(array![2.0, 3.0, 5.0].view()), array![0.0, 50.0, 150.0]);
/// assert_eq!(scaler.invert(array![50.0].view()), array![3.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetScaler {
    centre: f64,
    factor: f64,
    low: f64,
}

impl TargetScaler {
    /// Fits the map to the training targets; equal targets all map to 0.
    ///
    /// # Panics
    /// If `values` is empty or `low < high` does not hold.
    pub fn fit(values: ArrayView1<'_, f64>, low: f64, high: f64) -> Self {
        assert!(!values.is_empty(), "a scaler needs at least one target");
        assert!(low < high, "targets must be scaled to an interval, got [{low}, {high}]");
        let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
        let maximum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let factor = (high - low) / (maximum - minimum);
        if maximum > minimum && factor.is_finite() {
            Self { centre: minimum, factor, low }
        } else {
            Self { centre: minimum, factor: 0.0, low: 0.0 }
        }
    }

    /// Returns the scaled targets.
    pub fn apply(&self, values: ArrayView1<'_, f64>) -> Array1<f64> {
        values.mapv(|y| (y - self.centre) * self.factor + self.low)
    }

    /// Converts back to the targets' units; where all training targets were equal, to that value.
    pub fn invert(&self, scaled: ArrayView1<'_, f64>) -> Array1<f64> {
        if self.factor == 0.0 {
            return Array1::from_elem(scaled.len(), self.centre);
        }
        scaled.mapv(|y| (y - self.low) / self.factor + self.centre)
    }

    /// Returns the scaled units per unit of the targets. A root mean squared error divided by this is in the units of
    /// the targets. 0 where all training targets were equal.
    pub const fn factor(&self) -> f64 {
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn constant_columns_map_to_zero() {
        let train = array![[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]];
        for scaling in [Scaling::UnitInterval, Scaling::Symmetric, Scaling::Standard] {
            let scaler = Scaler::fit(scaling, train.view());
            assert_eq!(scaler.apply(train.view()).column(0), array![0.0, 0.0, 0.0]);
            assert_eq!(scaler.apply(array![[9.0, 1.0]].view()).column(0), array![0.0]);
        }
        assert_eq!(Scaler::fit(Scaling::None, train.view()).apply(train.view()), train);
        let same = TargetScaler::fit(array![7.0, 7.0].view(), 0.0, 100.0);
        assert_eq!(same.apply(array![7.0, 8.0].view()), array![0.0, 0.0]);
        assert_eq!(same.invert(array![0.0].view()), array![7.0]);
    }

    #[test]
    fn nearly_constant_columns_are_constant() {
        let train = array![[0.0], [f64::from_bits(1)]];
        for scaling in [Scaling::UnitInterval, Scaling::Symmetric, Scaling::Standard] {
            let scaled = Scaler::fit(scaling, train.view()).apply(train.view());
            assert_eq!(scaled, array![[0.0], [0.0]], "{scaling:?}");
        }
        let targets = TargetScaler::fit(train.column(0), 0.0, 100.0);
        assert_eq!(targets.apply(train.column(0)), array![0.0, 0.0]);
    }

    #[test]
    fn bytes_keep_one_scale_whatever_the_training_rows_hold() {
        let scaler = Scaler::fit(Scaling::Bytes, array![[0.0, 7.0], [9.0, 7.0]].view());
        let scaled = scaler.apply(array![[0.0, 255.0], [127.5, 51.0]].view());
        assert_abs_diff_eq!(scaled, array![[-1.0, 1.0], [0.0, -0.6]], epsilon = 1e-15);
    }

    #[test]
    fn names_are_those_of_specs() {
        assert_eq!("unit-interval".parse::<Scaling>().unwrap(), Scaling::UnitInterval);
        let error = "minmax".parse::<Scaling>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`scaling` is `minmax`; it must be none, unit-interval, symmetric, standard or bytes"
        );
    }

    proptest! {
        #[test]
        fn training_rows_fill_the_promised_range(
            values in proptest::collection::vec(-1e3..1e3f64, 12),
        ) {
            let inputs = Array2::from_shape_vec((4, 3), values).unwrap();
            let scaled = |scaling| Scaler::fit(scaling, inputs.view()).apply(inputs.view());
            for (scaling, low, high) in
                [(Scaling::UnitInterval, 0.0, 1.0), (Scaling::Symmetric, -1.0, 1.0)]
            {
                for column in scaled(scaling).columns() {
                    let minimum = column.iter().copied().fold(f64::INFINITY, f64::min);
                    let maximum = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    assert_abs_diff_eq!(minimum, low, epsilon = 1e-12);
                    assert_abs_diff_eq!(maximum, high, epsilon = 1e-12);
                }
            }
            for column in scaled(Scaling::Standard).columns() {
                assert_abs_diff_eq!(column.mean().unwrap(), 0.0, epsilon = 1e-9);
                assert_abs_diff_eq!(column.var(0.0), 1.0, epsilon = 1e-9);
            }
        }

        #[test]
        fn target_scaling_inverts(
            values in proptest::collection::vec(-1e4..1e4f64, 2..20),
        ) {
            let values = Array1::from(values);
            let scaler = TargetScaler::fit(values.view(), 0.0, 100.0);
            prop_assume!(scaler.factor() > 0.0);
            let back = scaler.invert(scaler.apply(values.view()).view());
            for (a, b) in values.iter().zip(&back) {
                assert_abs_diff_eq!(a, b, epsilon = 1e-8);
            }
        }
    }
}
