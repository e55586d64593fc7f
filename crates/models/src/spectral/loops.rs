//! Loops over slices, compiled for each instruction set.

use super::Scalar;
use mercer_linalg::dispatched;

/// `Σ a²`, the last sum in double precision.
pub(super) fn squares<F: Scalar>(a: &[F]) -> f64 {
    let mut lanes = [F::zero(); LANES];
    square_lanes(a, &mut lanes);
    lanes.iter().map(|lane| lane.wide()).sum()
}

/// Independent sums, so that they can be vectorised.
const LANES: usize = 32;

dispatched! {
    fn square_lanes<F: Scalar>(a: &[F], lanes: &mut [F; LANES]) {
        let mut chunks = a.chunks_exact(LANES);
        for chunk in &mut chunks {
            for (lane, &a) in lanes.iter_mut().zip(chunk) {
                *lane += a * a;
            }
        }
        for (lane, &a) in lanes.iter_mut().zip(chunks.remainder()) {
            *lane += a * a;
        }
    }
}

dispatched! {
    /// `to = a + b`.
    pub(super) fn sum<F: Scalar>(a: &[F], b: &[F], to: &mut [F]) {
        for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
            *to = a + b;
        }
    }
}

dispatched! {
    /// `to = factor · a`.
    pub(super) fn scaled<F: Scalar>(factor: F, a: &[F], to: &mut [F]) {
        for (to, &a) in to.iter_mut().zip(a) {
            *to = factor * a;
        }
    }
}

dispatched! {
    /// `to = factor · (a + b)`.
    pub(super) fn scaled_sum<F: Scalar>(factor: F, a: &[F], b: &[F], to: &mut [F]) {
        for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
            *to = factor * (a + b);
        }
    }
}

dispatched! {
    /// `to = to + factor · a`.
    pub(super) fn add_scaled<F: Scalar>(factor: F, a: &[F], to: &mut [F]) {
        for (to, &a) in to.iter_mut().zip(a) {
            *to += factor * a;
        }
    }
}

dispatched! {
    /// `to = to · a`, entrywise.
    pub(super) fn times<F: Scalar>(to: &mut [F], a: &[F]) {
        for (to, &a) in to.iter_mut().zip(a) {
            *to *= a;
        }
    }
}

dispatched! {
    /// Kahan's summation of `change` onto `total`; `lost` is carried from call to call.
    pub(super) fn compensated_sum<F: Scalar>(total: &mut [F], lost: &mut [F], change: &[F]) {
        for ((total, lost), &change) in total.iter_mut().zip(lost).zip(change) {
            let wanted = change - *lost;
            let reached = *total + wanted;
            *lost = (reached - *total) - wanted;
            *total = reached;
        }
    }
}
