//! A dense layer over flat slices: `h ↦ relu(h W + b)`, its gradients, and how rows are shared out.

use mercer_linalg::{Real, dispatched, product};
use ndarray::{ArrayView2, ArrayViewMut2};
use std::ops::Range;

/// Rows of one chunk at least, and chunks at most: chunks stay in cache, and enough of them keep
/// the threads evenly busy.
pub(crate) const ROWS: usize = 64;
const CHUNKS: usize = 16;

/// The chunks of `n` rows: contiguous, of sizes that differ by at most 1, their number a function
/// of `n` alone.
pub(crate) fn chunks(n: usize) -> impl Iterator<Item = Range<usize>> {
    let count = (n / ROWS).clamp(1, CHUNKS);
    (0..count).map(move |i| n * i / count..n * (i + 1) / count)
}

/// Sizes of a dense layer and its place among the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// Where its weights begin; the biases follow them.
    pub start: usize,
    /// Whether `max(·, 0)` follows.
    pub rectified: bool,
}

impl Layer {
    /// Returns the range of its weights.
    pub fn weights(&self) -> Range<usize> {
        self.start..self.start + self.inputs * self.outputs
    }

    /// Returns the range of its biases.
    pub fn biases(&self) -> Range<usize> {
        let start = self.weights().end;
        start..start + self.outputs
    }

    /// Its weights as a matrix, inputs by outputs.
    pub fn matrix<'a, F>(&self, parameters: &'a [F]) -> ArrayView2<'a, F> {
        view(&parameters[self.weights()], self.inputs, self.outputs)
    }

    /// `out ← relu(inputs W + b)`.
    pub fn forward<F: Real>(&self, parameters: &[F], inputs: ArrayView2<'_, F>, out: &mut [F]) {
        let (rows, biases) = (inputs.nrows(), &parameters[self.biases()]);
        let w = self.matrix(parameters);
        product(F::one(), inputs, w, F::zero(), view_mut(out, rows, self.outputs));
        add_bias(out, biases, if self.rectified { F::zero() } else { F::neg_infinity() });
    }

    /// Makes `delta` (`∂L/∂out`) the gradient before the activation.
    pub fn unrectify<F: Real>(&self, out: &[F], delta: &mut [F]) {
        if self.rectified {
            mask(out, delta);
        }
    }

    /// The gradients of weights and biases from `delta` before the activation.
    pub fn gradient<F: Real>(&self, inputs: ArrayView2<'_, F>, delta: &[F], gradient: &mut [F]) {
        let weights = view_mut(&mut gradient[self.weights()], self.inputs, self.outputs);
        let delta_rows = view(delta, inputs.nrows(), self.outputs);
        product(F::one(), inputs.t(), delta_rows, F::zero(), weights);
        let sums = &mut gradient[self.biases()];
        sums.fill(F::zero());
        sum_rows(delta, sums);
    }

    /// `back ← delta Wᵀ`, the gradient of the inputs.
    pub fn back<F: Real>(&self, parameters: &[F], delta: &[F], back: &mut [F]) {
        let rows = delta.len() / self.outputs;
        let w = self.matrix(parameters);
        let back = view_mut(back, rows, self.inputs);
        product(F::one(), view(delta, rows, self.outputs), w.t(), F::zero(), back);
    }
}

pub(crate) fn view<F>(data: &[F], rows: usize, columns: usize) -> ArrayView2<'_, F> {
    ArrayView2::from_shape((rows, columns), data).expect("as many entries as the shape says")
}

pub(crate) fn view_mut<F>(data: &mut [F], rows: usize, columns: usize) -> ArrayViewMut2<'_, F> {
    ArrayViewMut2::from_shape((rows, columns), data).expect("as many entries as the shape says")
}

dispatched! {
    /// `out ← max(out + bias, floor)`, row by row.
    fn add_bias<F: Real>(out: &mut [F], bias: &[F], floor: F) {
        for row in out.chunks_exact_mut(bias.len()) {
            for (h, &b) in row.iter_mut().zip(bias) {
                let sum = *h + b;
                // So written, NaN stays NaN.
                *h = if sum < floor { floor } else { sum };
            }
        }
    }
}

dispatched! {
    /// `delta ← delta ∘ 1[out > 0]`. A product with 0 or 1: a choice between the two became a
    /// branch that cost more than the matrix products.
    fn mask<F: Real>(out: &[F], delta: &mut [F]) {
        for (d, &h) in delta.iter_mut().zip(out) {
            *d *= if h > F::zero() { F::one() } else { F::zero() };
        }
    }
}

dispatched! {
    /// `sums += Σ rows`.
    pub(crate) fn sum_rows<F: Real>(rows: &[F], sums: &mut [F]) {
        for row in rows.chunks_exact(sums.len()) {
            for (sum, &d) in sums.iter_mut().zip(row) {
                *sum += d;
            }
        }
    }
}

dispatched! {
    /// `to += from`.
    pub(crate) fn add<F: Real>(to: &mut [F], from: &[F]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to += from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_rows_in_order() {
        for n in [1, 63, 64, 130, 1000, 2079, 60_000] {
            let ranges: Vec<_> = chunks(n).collect();
            assert_eq!(ranges[0].start, 0);
            assert_eq!(ranges.last().unwrap().end, n);
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.len() <= CHUNKS && ranges.iter().all(|range| !range.is_empty()));
        }
    }
}
