//! `max(·, 0)` and the maximum of 2 × 2 windows in one pass, and its gradient.

use mercer_linalg::{Real, dispatched};

/// The index of a window whose maximum is not positive: no entry of it moves the output.
const DEAD: u8 = 4;

/// Sizes of an image before pooling; odd rows and columns at the end are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
}

impl Grid {
    pub const fn size(self) -> usize {
        self.height * self.width * self.channels
    }

    /// Returns the image after pooling.
    pub const fn pooled(self) -> Self {
        Self { height: self.height / 2, width: self.width / 2, channels: self.channels }
    }
}

/// `pooled ← max(max over the window of (image + bias), 0)`; `index` says where the maximum was,
/// the first of equals, in reading order.
pub(crate) fn pool<F: Real>(
    image: &[F],
    bias: &[F],
    grid: Grid,
    pooled: &mut [F],
    index: &mut [u8],
) {
    let (c, row) = (grid.channels, grid.width * grid.channels);
    let out = grid.pooled();
    for y in 0..out.height {
        let (above, below) = image[2 * y * row..].split_at(row);
        for x in 0..out.width {
            let window = [
                &above[2 * x * c..],
                &above[(2 * x + 1) * c..],
                &below[2 * x * c..],
                &below[(2 * x + 1) * c..],
            ];
            let to = (y * out.width + x) * c;
            largest(window.map(|w| &w[..c]), bias, &mut pooled[to..to + c], &mut index[to..to + c]);
        }
    }
}

/// `delta ←` the gradient of the image before bias and maximum, from the gradient of the pooled image.
pub(crate) fn unpool<F: Real>(gradient: &[F], index: &[u8], grid: Grid, delta: &mut [F]) {
    let (c, row) = (grid.channels, grid.width * grid.channels);
    let out = grid.pooled();
    if grid.height % 2 == 1 || grid.width % 2 == 1 {
        delta.fill(F::zero());
    }
    for y in 0..out.height {
        let (above, below) = delta[2 * y * row..].split_at_mut(row);
        for x in 0..out.width {
            let from = (y * out.width + x) * c;
            let (g, i) = (&gradient[from..from + c], &index[from..from + c]);
            let at = 2 * x * c..2 * (x + 1) * c;
            let (first, second) = above[at.clone()].split_at_mut(c);
            let (third, fourth) = below[at].split_at_mut(c);
            scatter(g, i, [first, second, third, fourth]);
        }
    }
}

dispatched! {
    fn largest<F: Real>(window: [&[F]; 4], bias: &[F], pooled: &mut [F], index: &mut [u8]) {
        let n = bias.len();
        let [w0, w1, w2, w3] = window.map(|w| &w[..n]);
        let (pooled, index) = (&mut pooled[..n], &mut index[..n]);
        for k in 0..n {
            let (mut best, mut place) = (w0[k], 0u8);
            for (q, w) in [(1u8, w1), (2, w2), (3, w3)] {
                let larger = w[k] > best;
                best = if larger { w[k] } else { best };
                place = if larger { q } else { place };
            }
            let sum = best + bias[k];
            let dead = sum <= F::zero();
            pooled[k] = if dead { F::zero() } else { sum };
            index[k] = if dead { DEAD } else { place };
        }
    }
}

dispatched! {
    fn scatter<F: Real>(gradient: &[F], index: &[u8], window: [&mut [F]; 4]) {
        let n = gradient.len();
        let index = &index[..n];
        for (q, w) in window.into_iter().enumerate() {
            let w = &mut w[..n];
            for k in 0..n {
                w[k] = gradient[k] * if index[k] == q as u8 { F::one() } else { F::zero() };
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums and choices that are exact in f64")]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_a_window_is_found_and_its_gradient_goes_there() {
        // One channel, 3 x 5: the third row and the fifth column are left out.
        let grid = Grid { height: 3, width: 5, channels: 1 };
        let image =
            [1.0, 4.0, -9.0, -3.0, 50.0, 4.0, 2.0, -2.0, -8.0, 50.0, 9.0, 9.0, 9.0, 9.0, 9.0];
        let (mut pooled, mut index) = ([0.0; 2], [0; 2]);
        pool(&image, &[1.0], grid, &mut pooled, &mut index);
        assert_eq!((pooled, index), ([5.0, 0.0], [1, DEAD]));
        let mut delta = [7.0; 15];
        unpool(&[0.5, 3.0], &index, grid, &mut delta);
        let mut expected = [0.0; 15];
        expected[1] = 0.5;
        assert_eq!(delta, expected);
    }
}
