//! One convolution with stride 1 whose output has the size of its input. It uses a matrix of patches (im2col), image by
//! image.

use crate::layer::{sum_rows, view, view_mut};
use crate::pool::Grid;
use mercer_linalg::{Real, dispatched, product};
use std::ops::Range;

/// Sizes of a convolution and its place among the parameters.
///
/// Weights are kernel row, kernel column, channel in (slowest to fastest) by channel out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Convolution {
    pub input: Grid,
    pub filters: usize,
    /// Kernel size, odd.
    pub size: usize,
    pub start: usize,
}

/// What one image needs on its way, reused for the next.
#[derive(Debug)]
pub(crate) struct Scratch<F> {
    padded: Vec<F>,
    columns: Vec<F>,
}

impl Convolution {
    /// Returns the number of entries of a patch.
    pub const fn patch(&self) -> usize {
        self.size * self.size * self.input.channels
    }

    pub const fn output(&self) -> Grid {
        Grid { channels: self.filters, ..self.input }
    }

    pub fn weights(&self) -> Range<usize> {
        self.start..self.start + self.patch() * self.filters
    }

    pub fn biases(&self) -> Range<usize> {
        let start = self.weights().end;
        start..start + self.filters
    }

    const fn padded_width(&self) -> usize {
        self.input.width + self.size - 1
    }

    const fn positions(&self) -> usize {
        self.input.height * self.input.width
    }

    pub fn scratch<F: Real>(&self) -> Scratch<F> {
        let rows = self.input.height + self.size - 1;
        Scratch {
            padded: vec![F::zero(); rows * self.padded_width() * self.input.channels],
            columns: vec![F::zero(); self.positions() * self.patch()],
        }
    }

    /// Fills the matrix of patches: a row a position, zeros beyond the edges.
    fn unfold<F: Real>(&self, image: &[F], scratch: &mut Scratch<F>) {
        let Scratch { padded, columns } = scratch;
        let (c, margin) = (self.input.channels, self.size / 2);
        let (row, wide) = (self.input.width * c, self.padded_width() * c);
        // The margins are zero from the start; only the middle changes.
        for (y, from) in image.chunks_exact(row).enumerate() {
            let to = (y + margin) * wide + margin * c;
            padded[to..to + row].copy_from_slice(from);
        }
        let run = self.size * c;
        for (position, patch) in columns.chunks_exact_mut(self.patch()).enumerate() {
            let (y, x) = (position / self.input.width, position % self.input.width);
            for (k, to) in patch.chunks_exact_mut(run).enumerate() {
                let from = (y + k) * wide + x * c;
                to.copy_from_slice(&padded[from..from + run]);
            }
        }
    }

    /// `out ← image * W`, positions by filters, without the bias.
    pub fn forward<F: Real>(
        &self,
        parameters: &[F],
        image: &[F],
        scratch: &mut Scratch<F>,
        out: &mut [F],
    ) {
        self.unfold(image, scratch);
        let w = view(&parameters[self.weights()], self.patch(), self.filters);
        let columns = view(&scratch.columns, self.positions(), self.patch());
        let out = view_mut(out, self.positions(), self.filters);
        product(F::one(), columns, w, F::zero(), out);
    }

    /// Adds this image's part to `gradient` (weights and biases of this convolution). The part comes from `delta`
    /// (positions by filters).
    pub fn gradient<F: Real>(
        &self,
        image: &[F],
        delta: &[F],
        scratch: &mut Scratch<F>,
        gradient: &mut [F],
    ) {
        self.unfold(image, scratch);
        let columns = view(&scratch.columns, self.positions(), self.patch());
        let rows = view(delta, self.positions(), self.filters);
        let weights = view_mut(&mut gradient[self.weights()], self.patch(), self.filters);
        product(F::one(), columns.t(), rows, F::one(), weights);
        sum_rows(delta, &mut gradient[self.biases()]);
    }

    /// `back ←` the gradient of the image. The scratch's matrix of patches is overwritten.
    pub fn back<F: Real>(
        &self,
        parameters: &[F],
        delta: &[F],
        scratch: &mut Scratch<F>,
        back: &mut [F],
    ) {
        let w = view(&parameters[self.weights()], self.patch(), self.filters);
        let rows = view(delta, self.positions(), self.filters);
        let columns = view_mut(&mut scratch.columns, self.positions(), self.patch());
        product(F::one(), rows, w.t(), F::zero(), columns);
        let Scratch { padded, columns } = scratch;
        let (c, margin) = (self.input.channels, self.size / 2);
        let (row, wide) = (self.input.width * c, self.padded_width() * c);
        padded.fill(F::zero());
        fold(columns, padded, [self.input.width, self.size * c, c, wide]);
        for (y, to) in back.chunks_exact_mut(row).enumerate() {
            let from = (y + margin) * wide + margin * c;
            to.copy_from_slice(&padded[from..from + row]);
        }
        clear_margins(padded, margin, self.input, wide);
    }
}

/// Makes the margins zero again, as [`Convolution::unfold`] expects them.
fn clear_margins<F: Real>(padded: &mut [F], margin: usize, grid: Grid, wide: usize) {
    let inside = grid.width * grid.channels;
    for (y, row) in padded.chunks_exact_mut(wide).enumerate() {
        if y < margin || y >= margin + grid.height {
            row.fill(F::zero());
        } else {
            let left = margin * grid.channels;
            row[..left].fill(F::zero());
            row[left + inside..].fill(F::zero());
        }
    }
}

dispatched! {
    /// Adds each patch to the places it was taken from: the transpose of unfolding.
    /// `sizes` are the image's width, a patch's run, the channels, and a padded row.
    fn fold<F: Real>(columns: &[F], padded: &mut [F], sizes: [usize; 4]) {
        let [width, run, c, wide] = sizes;
        let size = run / c;
        for (position, patch) in columns.chunks_exact(size * run).enumerate() {
            let (y, x) = (position / width, position % width);
            for (k, from) in patch.chunks_exact(run).enumerate() {
                let start = (y + k) * wide + x * c;
                for (to, &value) in padded[start..start + run].iter_mut().zip(from) {
                    *to += value;
                }
            }
        }
    }
}
