use super::Scalar;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// Features of fixed frequencies that are kept at most: those of 60,000 rows in single precision.
pub(super) const KEPT_BYTES: u64 = 512 << 20;

/// `φ` of the training rows under frequencies that never move: computed once a row, not once a pass.
pub(super) struct KeptFeatures<F> {
    /// `n × D_b`.
    features: Array2<F>,
    /// Rows that have theirs.
    known: Vec<bool>,
}

impl<F: Scalar> KeptFeatures<F> {
    /// Of so many rows, none known yet.
    pub fn new(rows: usize, features: usize) -> Self {
        Self { features: Array2::zeros((rows, features)), known: vec![false; rows] }
    }

    /// Returns the places in a batch of the rows to compute. They are none or at least two: the product of a single row
    /// sums in another order, so that another row is computed again beside it.
    pub fn missing(&self, batch: &[usize]) -> Vec<usize> {
        let mut places: Vec<usize> =
            (0..batch.len()).filter(|&place| !self.known[batch[place]]).collect();
        if let [only] = places[..] {
            places.push(usize::from(only == 0));
        }
        places
    }

    /// Keeps what was computed for the rows of a batch at these places.
    pub fn keep(&mut self, batch: &[usize], places: &[usize], computed: ArrayView2<'_, F>) {
        for (&place, features) in places.iter().zip(computed.rows()) {
            self.features.row_mut(batch[place]).assign(&features);
            self.known[batch[place]] = true;
        }
    }

    /// Writes the features of the rows of a batch, all of them known.
    pub fn recall(&self, batch: &[usize], mut to: ArrayViewMut2<'_, F>) {
        for (mut to, &row) in to.rows_mut().into_iter().zip(batch) {
            to.assign(&self.features.row(row));
        }
    }
}
