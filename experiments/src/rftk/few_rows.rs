//! Random-feature regression on a few training rows, and the kernel regression beside it: what the
//! paths of Figure 2(a) share.

use mercer_harness::Parts;
use mercer_kernels::Kernel;
use mercer_learning::{LearningError, Sample};
use mercer_linalg::{Eigen, cos, product, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::TAU;

/// Features of a block of the test product: `10000 × 512` single-precision numbers are 20 MB.
const BLOCK: usize = 512;

/// The kernel that the features approach: `exp(−k² ‖x − x'‖² / 2) / 2`, since `φ = cos / √M`.
pub(super) struct KernelSide {
    /// Of the Gram matrix of the training rows.
    pub(super) eigen: Eigen,
    /// Of the test rows with the training rows.
    pub(super) cross: Array2<f64>,
}

impl KernelSide {
    pub(super) fn new(parts: &Parts, std: f64) -> Result<Self, LearningError> {
        let kernel = Kernel::Gaussian { std };
        let gram = kernel.gram(parts.train.inputs()).mapv(|k| 0.5 * k);
        let cross = kernel.cross_gram(parts.test.inputs(), parts.train.inputs());
        Ok(Self { eigen: decompose(gram.view())?, cross: cross.mapv(|k| 0.5 * k) })
    }

    /// Kernel ridge regression of the test rows.
    pub(super) fn scores(&self, targets: &Array2<f64>, lambda: f64) -> Array2<f64> {
        self.cross.dot(&dual(&self.eigen, targets, lambda))
    }
}

pub(super) fn decompose(gram: ArrayView2<'_, f64>) -> Result<Eigen, LearningError> {
    symmetric_eigen(gram).map_err(|error| LearningError::Numerical {
        operation: "eigendecomposition",
        reason: error.to_string(),
    })
}

/// `(G + λ n I)⁺ Y`; eigenvalues at most `n ε` of the largest count as 0.
pub(super) fn dual(eigen: &Eigen, targets: &Array2<f64>, lambda: f64) -> Array2<f64> {
    let n = targets.nrows() as f64;
    let largest = eigen.values.iter().fold(0.0f64, |a, &b| a.max(b));
    let cutoff = n * f64::EPSILON * largest;
    let inverse = eigen.values.mapv(|value| {
        let ridged = value.max(0.0) + lambda * n;
        if ridged > cutoff { 1.0 / ridged } else { 0.0 }
    });
    let rotated = eigen.vectors.t().dot(targets);
    eigen.vectors.dot(&(&rotated * &inverse.insert_axis(Axis(1))))
}

pub(super) fn one_hot(sample: &Sample) -> Array2<f64> {
    let mut targets = Array2::zeros((sample.rows(), sample.task().outputs()));
    for (i, &label) in sample.labels().unwrap_or_default().iter().enumerate() {
        targets[[i, label as usize]] = 1.0;
    }
    targets
}

/// Test error of the largest score, and the mean squared distance of the scores to one-hot rows.
pub(super) fn judge(scores: ArrayView2<'_, f64>, test: &Sample) -> (f64, f64) {
    let truth = test.labels().unwrap_or_default();
    let (mut wrong, mut squares) = (0usize, 0.0);
    for (row, &label) in scores.rows().into_iter().zip(truth) {
        wrong += usize::from(mercer_learning::argmax(row) != label);
        let off = |(class, &score): (usize, &f64)| {
            (score - f64::from(u8::from(class == label as usize))).powi(2)
        };
        squares += row.iter().enumerate().map(off).sum::<f64>();
    }
    let rows = truth.len() as f64;
    (wrong as f64 / rows, squares / rows)
}

/// `φ(x) = cos(Oᵀx + b) / √M`, in single precision.
pub(super) struct Features {
    frequencies: Array2<f32>,
    phases: Array1<f32>,
}

impl Features {
    pub(super) fn draw(std: f64, d: usize, features: usize, rng: &mut impl Rng) -> Self {
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        let frequencies =
            Array2::from_shape_simple_fn((d, features), || (std * normal(rng)) as f32);
        let phases = Array1::from_shape_simple_fn(features, || rng.gen_range(0.0..TAU) as f32);
        Self { frequencies, phases }
    }

    pub(super) fn of(&self, inputs: ArrayView2<'_, f32>) -> Array2<f32> {
        self.block(inputs, 0, self.phases.len())
    }

    /// The features from `start` to `end`.
    fn block(&self, inputs: ArrayView2<'_, f32>, start: usize, end: usize) -> Array2<f32> {
        let frequencies = self.frequencies.slice(s![.., start..end]);
        let phases = self.phases.slice(s![start..end]);
        let shape = (inputs.nrows(), end - start);
        let mut angles =
            phases.broadcast(shape).map_or_else(|| Array2::zeros(shape), |b| b.to_owned());
        product(1.0, inputs, frequencies, 1.0, angles.view_mut());
        let mut features = Array2::zeros(shape);
        if let (Some(from), Some(to)) = (angles.as_slice(), features.as_slice_mut()) {
            cos(from, to);
        }
        features / (self.phases.len() as f32).sqrt()
    }

    /// `Φ w` for each weight matrix, block by block of features.
    pub(super) fn scores(
        &self,
        inputs: ArrayView2<'_, f32>,
        weights: &[Array2<f64>],
    ) -> Vec<Array2<f64>> {
        let classes = weights.first().map_or(0, Array2::ncols);
        let views: Vec<_> = weights.iter().map(Array2::view).collect();
        // All ridges side by side: one product a block.
        let stacked = ndarray::concatenate(Axis(1), &views).unwrap_or_default().mapv(|w| w as f32);
        let mut total = Array2::<f32>::zeros((inputs.nrows(), stacked.ncols()));
        for start in (0..self.phases.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.phases.len());
            let phi = self.block(inputs, start, end);
            product(1.0, phi.view(), stacked.slice(s![start..end, ..]), 1.0, total.view_mut());
        }
        (0..weights.len())
            .map(|i| total.slice(s![.., i * classes..(i + 1) * classes]).mapv(f64::from))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_datasets::Library;
    use ndarray::array;

    /// The curve of `‖ΦΦᵀ − K‖_F/n²` that is saved with the authors' code, for n = 100 images, flattens at 0.00097
    /// where it should go to 0: the features approach half the kernel, and what is left is `‖K‖_F/(2n²)`.
    #[test]
    fn the_saved_distance_to_the_kernel_is_half_of_the_kernel_itself() {
        const SAVED: f64 = 0.00097;
        let mnist = Library::discover(None).unwrap().load("mnist").unwrap();
        let pixels = mnist.sample.inputs();
        let (n, std) = (100, 0.1);
        let norm = |matrix: &Array2<f64>| {
            matrix.iter().map(|k| k * k).sum::<f64>().sqrt() / (n * n) as f64
        };
        let mut halves = Vec::new();
        for sample in 0..20 {
            let mut rng = mercer_learning::Streams::root(sample).rng("images");
            let rows = rand::seq::index::sample(&mut rng, pixels.nrows(), n).into_vec();
            let x = pixels.select(Axis(0), &rows).mapv(|byte| 2.0 * byte / 255.0 - 1.0);
            let whole = Kernel::Gaussian { std }.gram(x.view());
            halves.push(norm(&whole) / 2.0);
            if sample == 0 {
                let narrow = x.mapv(|x| x as f32);
                let phi = Features::draw(std, x.ncols(), 10_000, &mut rng).of(narrow.view());
                let phi = phi.mapv(f64::from);
                let gram = phi.dot(&phi.t());
                let (to_whole, to_half) =
                    (norm(&(&gram - &whole)), norm(&(&gram - &(0.5 * &whole))));
                assert!((to_whole / halves[0] - 1.0).abs() < 0.03, "{to_whole} {}", halves[0]);
                assert!(to_half < 0.1 * to_whole, "{to_half} {to_whole}");
            }
        }
        // One hundred images were drawn there, which are not known: it lies among such draws.
        halves.sort_by(f64::total_cmp);
        assert!(halves[0] < SAVED && SAVED < halves[19], "{halves:?}");
        let median = f64::midpoint(halves[9], halves[10]);
        assert!((median / SAVED - 1.0).abs() < 0.05, "{median}");
    }

    #[test]
    fn without_a_ridge_and_with_enough_features_the_training_rows_are_interpolated() {
        let x = array![[0.0f32, 1.0], [1.0, 0.5], [-0.5, 0.2]];
        let mut rng = mercer_learning::Streams::root(1).rng("test");
        let draw = Features::draw(1.0, 2, 600, &mut rng);
        let targets = array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
        let phi = draw.of(x.view()).mapv(f64::from);
        let eigen = decompose(phi.dot(&phi.t()).view()).unwrap();
        let weights = phi.t().dot(&dual(&eigen, &targets, 0.0));
        let scores = &draw.scores(x.view(), &[weights])[0];
        for (a, b) in scores.iter().zip(&targets) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn the_dual_ridge_solution_is_the_primal_one() {
        let phi = array![[0.3, -0.2], [0.1, 0.9], [-0.4, 0.5]];
        let targets = array![[1.0], [0.0], [2.0]];
        let lambda = 0.05;
        let eigen = decompose(phi.dot(&phi.t()).view()).unwrap();
        let w = phi.t().dot(&dual(&eigen, &targets, lambda));
        // (ΦᵀΦ + λ n I) w = Φᵀ y
        let left = phi.t().dot(&phi).dot(&w) + &w * (3.0 * lambda);
        for (a, b) in left.iter().zip(&phi.t().dot(&targets)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
