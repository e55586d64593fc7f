use ndarray::{ArrayView2, Axis};

/// Returns the total variance `(1/m) Σ ‖x_i − x̄‖²` of the rows (`m × d`). It is in input units squared: half the mean
/// squared distance of two rows.
///
/// It is what "the variance of the data" has to mean as the width of a hyper-kernel. The variance of
/// an entry, [`entry_variance`], is some `d` times smaller, and with it a pair of sixty-dimensional
/// points has `exp(−‖x − x'‖²/(2σ²))` of order 1e-16: the learned kernel vanishes off the diagonal.
///
/// ```
/// let variance = mercer_kernels::total_variance(ndarray::array![[0.0, 0.0], [2.0, 4.0]].view());
/// assert_eq!(variance, 5.0);
/// ```
pub fn total_variance(inputs: ArrayView2<'_, f64>) -> f64 {
    inputs.mean_axis(Axis(0)).map_or(0.0, |mean| {
        let rows = inputs.rows().into_iter();
        let squares = rows.map(|x| x.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>());
        squares.sum::<f64>() / inputs.nrows() as f64
    })
}

/// Returns the variance over all entries of the rows (`m × d`). They count as one sample of `m d` numbers.
///
/// The literal reading of "the variance of the data"; kept to show what it does.
///
/// ```
/// let variance = mercer_kernels::entry_variance(ndarray::array![[0.0, 0.0], [2.0, 4.0]].view());
/// assert_eq!(variance, 2.75);
/// ```
pub fn entry_variance(inputs: ArrayView2<'_, f64>) -> f64 {
    inputs.mean().map_or(0.0, |mean| {
        inputs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / inputs.len() as f64
    })
}
