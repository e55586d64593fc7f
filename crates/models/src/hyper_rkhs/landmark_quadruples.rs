//! The normal matrix over all pairs, entry by entry, and its distance from a factor. The factor is of the pair kernel.

use mercer_kernels::{Kernel, Pairs};
use mercer_learning::Fitting;
use mercer_linalg::{in_order, multiplied};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::seq::index;

/// Rows that the estimate of the error looks at.
const SAMPLE: usize = 1000;
/// Entries of the normal matrix that it looks at, about: every so many-th of the distinct ones.
const ENTRIES: usize = 300;
/// Products of landmark factors that are looked at together.
const BLOCK: usize = 128;

/// Multisets of four of `M` landmarks.
pub(super) struct LandmarkQuadruples {
    pub(super) sets: Vec<[usize; 4]>,
    places: Vec<u32>,
    landmarks: usize,
}

impl LandmarkQuadruples {
    pub(super) fn new(landmarks: usize) -> Self {
        let m = landmarks;
        let mut sets = Vec::new();
        let mut places = vec![0; m.pow(4)];
        for a in 0..m {
            for b in a..m {
                for c in b..m {
                    for d in c..m {
                        places[((a * m + b) * m + c) * m + d] = sets.len() as u32;
                        sets.push([a, b, c, d]);
                    }
                }
            }
        }
        Self { sets, places, landmarks }
    }

    pub(super) fn index(&self, i: usize, j: usize, k: usize, l: usize) -> usize {
        let mut set = [i, j, k, l];
        set.sort_unstable();
        let m = self.landmarks;
        let [a, b, c, d] = set;
        self.places[((a * m + b) * m + c) * m + d] as usize
    }

    /// `Σ (β_q β_r)²` over the entries `(q, r)` of the normal matrix that a multiset stands for, so that
    /// `‖G‖² = Σ weight · S²`.
    fn weights(&self, all: &Pairs, beta: &Array1<f64>) -> Vec<f64> {
        let mut weights = vec![0.0; self.sets.len()];
        for (q, &(i, j)) in all.as_slice().iter().enumerate() {
            for (r, &(k, l)) in all.as_slice().iter().enumerate() {
                weights[self.index(i, j, k, l)] += (beta[q] * beta[r]).powi(2);
            }
        }
        weights
    }
}

/// Estimates `‖G − Ĝ‖_F / ‖G‖_F` of a factor `C` from some of the rows.
///
/// `S − Ŝ = Σ_ij E_ij t_i t_j` with `E = B − C Cᵀ`. Over `n` rows drawn without replacement it takes the sums of its
/// diagonal and of its other entries. Times `m/n` and `m(m − 1)/(n(n − 1))` they have the whole sums as their
/// expectation; with `n = m` they are the whole sums. Squares of noisy entries are too large on average, so the
/// estimate errs upwards. Of many distinct entries it takes every so many-th.
pub(super) struct ErrorProbe {
    rows: Vec<usize>,
    /// `B` among the rows (`n × n`).
    kernel: Array2<f64>,
    /// `t` of some multisets at the rows (`multisets × n`).
    vectors: Array2<f64>,
    weights: Vec<f64>,
    /// `m/n` and `m(m − 1)/(n(n − 1))`.
    scales: (f64, f64),
    /// The same estimate of `‖G‖_F`.
    norm: f64,
    threads: usize,
}

impl ErrorProbe {
    /// `squared` is `B`; `factors` are `u` of every landmark and row (`M × m`).
    pub(super) fn new(
        squared: &Kernel,
        inputs: ArrayView2<'_, f64>,
        factors: &Array2<f64>,
        quads: &LandmarkQuadruples,
        (all, beta): (&Pairs, &Array1<f64>),
        fitting: &Fitting<'_>,
    ) -> Self {
        let m = inputs.nrows();
        let n = m.min(SAMPLE);
        let mut rng = fitting.streams.rng("rows of the error");
        let mut rows = index::sample(&mut rng, m, n).into_vec();
        rows.sort_unstable();
        let few = factors.select(Axis(1), &rows);
        let step = quads.sets.len().div_ceil(ENTRIES).max(1);
        let looked: Vec<&[usize; 4]> = quads.sets.iter().step_by(step).collect();
        let mut vectors = Array2::zeros((looked.len(), n));
        for (&&[a, b, c, d], mut to) in looked.iter().zip(vectors.rows_mut()) {
            let product = &(&few.row(a) * &few.row(b)) * &(&few.row(c) * &few.row(d));
            to.assign(&product);
        }
        let (all_rows, drawn) = (m as f64, n as f64);
        let others =
            if n < 2 { 0.0 } else { all_rows * (all_rows - 1.0) / (drawn * (drawn - 1.0)) };
        let kernel = squared.gram(inputs.select(Axis(0), &rows).view());
        let mut probe = Self {
            rows,
            kernel,
            vectors,
            weights: quads.weights(all, beta).into_iter().step_by(step).collect(),
            scales: (all_rows / drawn, others),
            norm: 1.0,
            threads: fitting.threads,
        };
        probe.norm = probe.norm_of(probe.kernel.view());
        probe
    }

    /// Rows that it looks at.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// `‖G − Ĝ‖_F / ‖G‖_F` of the factor `C`, known at [`Self::rows`] (`n × L`), estimated.
    pub(super) fn error(&self, own: &Array2<f64>) -> f64 {
        let residual = &self.kernel - &multiplied(own.view(), own.t());
        let (left, all) = (self.norm_of(residual.view()), self.norm);
        // Of a kernel so narrow that none of these rows is near a landmark there is nothing to leave out.
        if left == 0.0 { 0.0 } else { left / all }
    }

    /// The Frobenius norm of the matrix whose entries are `tᵀ A t`, for `A` known among the rows.
    fn norm_of(&self, among: ArrayView2<'_, f64>) -> f64 {
        let count = self.vectors.nrows();
        let diagonal = among.diag();
        let (own, others) = self.scales;
        let parts = in_order(self.threads, count.div_ceil(BLOCK), |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(count);
            let vectors = self.vectors.slice(s![range.clone(), ..]);
            let images = multiplied(vectors, among);
            let rows = vectors.rows().into_iter().zip(images.rows()).zip(&self.weights[range]);
            rows.map(|((t, image), weight)| {
                let on = t.iter().zip(diagonal).map(|(t, a)| a * t * t).sum::<f64>();
                let form = own * on + others * (t.dot(&image) - on);
                weight * form * form
            })
            .sum::<f64>()
        });
        parts.into_iter().sum::<f64>().sqrt()
    }
}
