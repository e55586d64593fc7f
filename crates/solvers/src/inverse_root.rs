#![expect(
    clippy::inline_always,
    reason = "a body takes on the features of the level that calls it only when inlined there"
)]

use mercer_linalg::{Dispatch, dispatch};

/// Largest matrix: wider ones are left to the eigenvalue solver, which then costs no more.
const WIDEST: usize = 32;
/// Enough for condition numbers of some 1e5; beyond, the eigenvalue solver is as fast.
const ITERATIONS: usize = 14;
/// Residual `‖I − Z Y‖_F` at which the step about to be done is the last: it squares it.
const RESIDUAL: f64 = 1e-6;
/// Rows of a product that are summed at a time: their sums fill half of the registers.
const ROWS: usize = 4;

/// Rows of a square matrix, padded with zeros to `P` columns.
type Padded<const P: usize> = [[f64; P]; P];

/// Inverse square roots `G^-½` of small positive definite matrices by the coupled iteration of
/// Newton and Schulz:
/// ```text
/// Y_0 = G/c,  Z_0 = I,   T = (3 I − Z Y)/2,   Y ← Y T,  Z ← T Z   →   Z = (G/c)^-½
/// ```
/// It converges where the eigenvalues of `G/c` lie in `(0, 3)`, quadratically near 1, and is all products (Higham
/// 2008, *Functions of Matrices*, Section 6.7). Gram matrices of output weights are well conditioned, so a handful of
/// iterations is a fraction of an eigenvalue problem's time.
pub(crate) struct InverseRoot {
    size: usize,
    root: Vec<f64>,
}

impl InverseRoot {
    /// Makes room for matrices of `size × size`.
    pub fn new(size: usize) -> Self {
        Self { size, root: vec![0.0; size * size] }
    }

    /// Computes `G^-½`, row by row, and a lower bound of the smallest eigenvalue of `G`. It is `None` if the matrix is
    /// too large, not positive definite, or too ill-conditioned.
    pub fn of(&mut self, gram: &[f64]) -> Option<(&[f64], f64)> {
        let done = match self.size {
            0 => false,
            1..=16 => iterate::<16>(self.size, gram, &mut self.root),
            17..=WIDEST => iterate::<WIDEST>(self.size, gram, &mut self.root),
            _ => false,
        };
        if !done {
            return None;
        }
        // ‖G^-½‖_2 ≤ ‖G^-½‖_F, and its square is 1 over the smallest eigenvalue.
        let squared: f64 = self.root.iter().map(|z| z * z).sum();
        Some((&self.root, squared.recip()))
    }
}

/// The iteration on the level of this machine.
fn iterate<const P: usize>(k: usize, gram: &[f64], root: &mut [f64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,fma")]
    fn avx512<const P: usize>(k: usize, gram: &[f64], root: &mut [f64]) -> bool {
        newton_schulz::<P, true>(k, gram, root)
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2<const P: usize>(k: usize, gram: &[f64], root: &mut [f64]) -> bool {
        newton_schulz::<P, true>(k, gram, root)
    }
    match dispatch() {
        // SAFETY: this level is only reported on a processor that has the features.
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512 => unsafe { avx512::<P>(k, gram, root) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2 => unsafe { avx2::<P>(k, gram, root) },
        _ => newton_schulz::<P, false>(k, gram, root),
    }
}

#[inline(always)]
fn newton_schulz<const P: usize, const FMA: bool>(
    k: usize,
    gram: &[f64],
    root: &mut [f64],
) -> bool {
    let rows = || gram.chunks_exact(k);
    // The largest row sum bounds the largest eigenvalue; two thirds of it put the spectrum of
    // G/c below 1.5, hence nearer to 1 than the bound itself would.
    let bound = rows().map(|row| row.iter().map(|g| g.abs()).sum()).fold(0.0, f64::max);
    let c = bound / 1.5;
    if !(c > 0.0 && c.is_finite()) || gram.iter().any(|g| g.is_nan()) {
        return false;
    }
    let (mut y, mut z) = ([[0.0; P]; P], [[0.0; P]; P]);
    let (mut t, mut next) = ([[0.0; P]; P], [[0.0; P]; P]);
    for (i, row) in rows().enumerate() {
        for (y, g) in y[i].iter_mut().zip(row) {
            *y = g / c;
        }
        z[i][i] = 1.0;
    }
    for _ in 0..ITERATIONS {
        multiply::<P, FMA>(k, &z, &y, &mut t);
        let mut residual = 0.0;
        for (i, row) in t.iter_mut().enumerate().take(k) {
            for (j, entry) in row.iter_mut().enumerate().take(k) {
                let rest = if i == j { 1.0 - *entry } else { -*entry };
                residual += rest * rest;
                *entry = 0.5 * rest + if i == j { 1.0 } else { 0.0 };
            }
        }
        let residual = residual.sqrt();
        if residual.is_nan() || residual > 1e3 {
            return false;
        }
        multiply::<P, FMA>(k, &t, &z, &mut next);
        std::mem::swap(&mut z, &mut next);
        if residual < RESIDUAL {
            let scale = c.sqrt().recip();
            for (to, from) in root.chunks_exact_mut(k).zip(&z) {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = scale * from;
                }
            }
            return true;
        }
        multiply::<P, FMA>(k, &y, &t, &mut next);
        std::mem::swap(&mut y, &mut next);
    }
    false
}

/// `c = a b` of the leading `k × k` parts.
#[inline(always)]
fn multiply<const P: usize, const FMA: bool>(
    k: usize,
    a: &Padded<P>,
    b: &Padded<P>,
    c: &mut Padded<P>,
) {
    for (a, c) in a.chunks_exact(ROWS).zip(c.chunks_exact_mut(ROWS)).take(k.div_ceil(ROWS)) {
        let mut sums = [[0.0; P]; ROWS];
        for (l, b) in b.iter().enumerate().take(k) {
            for (sums, a) in sums.iter_mut().zip(a) {
                let factor = a[l];
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = if FMA { factor.mul_add(*b, *sum) } else { factor * b + *sum };
                }
            }
        }
        c.copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_inverts_the_matrix_and_bounds_its_spectrum() {
        for k in [1usize, 2, 5, 10, 16, 17, 26, 32] {
            for spread in [0.0, 0.3, 3.0] {
                // A symmetric matrix with known eigenvalues 10^(-spread) to 1, times 1700.
                let reflect = |i: usize, j: usize| {
                    let v = |i: usize| ((i + 1) as f64 * 0.9).sin() + 0.1;
                    let norm: f64 = (0..k).map(|i| v(i) * v(i)).sum();
                    f64::from(u8::from(i == j)) - 2.0 * v(i) * v(j) / norm
                };
                let g = |l: usize| 1700.0 * 10f64.powf(-spread * l as f64 / k as f64);
                let gram: Vec<f64> = (0..k * k)
                    .map(|e| (0..k).map(|l| reflect(e / k, l) * g(l) * reflect(l, e % k)).sum())
                    .collect();
                let mut solver = InverseRoot::new(k);
                let (root, smallest) = solver.of(&gram).unwrap();
                for (e, &found) in root.iter().enumerate() {
                    let exact: f64 =
                        (0..k).map(|l| reflect(e / k, l) * reflect(l, e % k) / g(l).sqrt()).sum();
                    let scale = g(k - 1).sqrt().recip();
                    assert!((found - exact).abs() < 1e-9 * scale, "{k} {spread}");
                }
                assert!(
                    smallest <= g(k - 1) * (1.0 + 1e-9) && smallest * k as f64 > 0.99 * g(k - 1)
                );
            }
        }
    }

    #[test]
    fn what_has_no_root_is_refused() {
        assert!(InverseRoot::new(2).of(&[1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(InverseRoot::new(2).of(&[1.0, 1.0, 1.0, 1.0]).is_none());
        assert!(InverseRoot::new(2).of(&[0.0; 4]).is_none());
        assert!(InverseRoot::new(1).of(&[f64::NAN]).is_none());
        assert!(InverseRoot::new(33).of(&[0.0; 33 * 33]).is_none());
    }
}
