//! One repeat of Figure 2: how near the Nyström matrices of few landmark points come to the
//! hyper-Gram matrix, from the whole training part and averaged over disjoint subsets.
//!
//! The printed figure averages matrices of disjoint subsets, which as printed live on different
//! pairs. Here each subset draws its `M` landmark points, all pairs of which approximate the whole
//! matrix, and the `v` approximations are averaged:
//! ```text
//! H̃ = (1/v) Σ_s C_s W_s⁺ C_sᵀ,    C_s = H[all pairs, landmark pairs],   W_s = H[landmark pairs, same]
//! ```
//! Norms are those over ordered pairs: an unordered pair of two points counts twice.

use mercer_harness::{Parts, Path};
use mercer_kernels::{GaussianHyper, HyperKernel, Pairs, total_variance};
use mercer_learning::{Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Tasks};
use mercer_linalg::{product, symmetric_eigen};
use mercer_records::CurvePoint;
use ndarray::{Array1, Array2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "hyper-nystrom-error",
        title: "Nyström error",
        summary: "relative error of Nyström hyper-Gram matrices over landmark points and subsets",
        cites: "Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 1,
        tasks: Tasks::Both,
        cost: Cost { fit: "n^2 M^4/8", predict: "-", memory: "n^2 M^2/4" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Landmark points of a subset: from 2 to this.
    landmarks: usize,
    /// Numbers of subsets.
    subsets: Vec<usize>,
    /// `σ_h²` over `σ²`, the total variance of the training rows.
    spread: f64,
    /// Whether the hyper-kernel is the one that the printed construction gives, not the printed one.
    constructed: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { landmarks: 12, subsets: vec![1, 2, 4, 8], spread: 1.0, constructed: false }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Eigenvalues of `W` at most this share of the largest count as 0.
const CUTOFF: f64 = 1e-12;

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let (whole, pairs) = weighted_gram(&parts.train, &params, fitting)?;
    let size = whole.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let m = parts.train.rows();
    let mut order: Vec<usize> = (0..m).collect();
    order.shuffle(&mut fitting.streams.rng("subsets"));
    let mut curve = Vec::new();
    for landmarks in 2..=params.landmarks {
        let count = Pairs::count(landmarks);
        let mut values = BTreeMap::from([("pairs".to_owned(), count as f64)]);
        for &v in &params.subsets {
            fitting.limits.check()?;
            if v == 0 || m / v < landmarks {
                continue;
            }
            let mut factors = Vec::new();
            for subset in 0..v {
                let own: Vec<usize> = order.iter().copied().skip(subset).step_by(v).collect();
                factors.push(factor(&whole, &pairs, &own[..landmarks])?);
            }
            let views: Vec<_> = factors.iter().map(Array2::view).collect();
            let factor = ndarray::concatenate(Axis(1), &views).expect("factors of one height");
            let error = distance(&whole, size, &factor, v) / size;
            values.insert(format!("error v={v}"), error);
            // Algorithm 1 on v subsets of m/v points: normal equations, then a factorisation.
            let points = (m / v) as f64;
            let (rows, columns) = (points * (points + 1.0) / 2.0, count as f64);
            let operations = v as f64 * (rows * columns * columns + columns.powi(3) / 3.0);
            values.insert(format!("operations v={v}"), operations);
        }
        curve.push(CurvePoint { step: landmarks as u64, epoch: 0.0, values });
    }
    Ok(curve)
}

/// `√w_p H_pq √w_q` over unordered pairs of all rows: its Frobenius norm is that over ordered pairs.
fn weighted_gram(
    sample: &Sample,
    params: &Params,
    fitting: &Fitting<'_>,
) -> Result<(Array2<f64>, Pairs), LearningError> {
    let failed = |error: mercer_kernels::KernelError| LearningError::Numerical {
        operation: "the hyper-kernel",
        reason: error.to_string(),
    };
    let variance = total_variance(sample.inputs());
    let spread = params.spread * variance;
    let kernel = if params.constructed {
        GaussianHyper::constructed(variance, spread)
    } else {
        GaussianHyper::printed(variance, spread)
    };
    let pairs = Pairs::all(sample.rows());
    fitting.limits.reserve(8 * (2 * pairs.len() * pairs.len()) as u64)?;
    let kernel = HyperKernel::Gaussian(kernel.map_err(failed)?);
    let mut gram = kernel.gram(sample.inputs(), &pairs, 1);
    let roots: Array1<f64> = pairs.weights().map(f64::sqrt).collect();
    gram *= &roots.view().insert_axis(Axis(0));
    gram *= &roots.insert_axis(Axis(1));
    Ok((gram, pairs))
}

/// `B` with `B Bᵀ` the Nyström matrix of the pairs of some landmark points.
fn factor(
    whole: &Array2<f64>,
    pairs: &Pairs,
    landmarks: &[usize],
) -> Result<Array2<f64>, LearningError> {
    let chosen: Vec<usize> = pairs
        .as_slice()
        .iter()
        .enumerate()
        .filter(|(_, (i, j))| landmarks.contains(i) && landmarks.contains(j))
        .map(|(place, _)| place)
        .collect();
    let columns = whole.select(Axis(1), &chosen);
    let eigen = symmetric_eigen(columns.select(Axis(0), &chosen).view()).map_err(|error| {
        LearningError::Numerical { operation: "the landmark pairs", reason: error.to_string() }
    })?;
    let largest = eigen.values.iter().fold(0.0f64, |a, &b| a.max(b));
    let scale = eigen.values.mapv(|d| if d > CUTOFF * largest { d.sqrt().recip() } else { 0.0 });
    let map = &eigen.vectors * &scale.insert_axis(Axis(0));
    let mut factor = Array2::zeros(columns.dim());
    product(1.0, columns.view(), map.view(), 0.0, factor.view_mut());
    Ok(factor)
}

/// `‖H − B Bᵀ/v‖_F`, by `‖H‖² − 2 tr(Bᵀ H B)/v + ‖Bᵀ B‖²/v²`.
fn distance(whole: &Array2<f64>, size: f64, factor: &Array2<f64>, v: usize) -> f64 {
    let mut image = Array2::zeros(factor.dim());
    product(1.0, whole.view(), factor.view(), 0.0, image.view_mut());
    let inner: f64 = factor.iter().zip(&image).map(|(b, hb)| b * hb).sum();
    let mut gram = Array2::zeros((factor.ncols(), factor.ncols()));
    product(1.0, factor.t(), factor.view(), 0.0, gram.view_mut());
    let own: f64 = gram.iter().map(|entry| entry * entry).sum();
    let v = v as f64;
    (size * size - 2.0 * inner / v + own / (v * v)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn parts(rows: usize) -> Parts {
        let inputs =
            Array2::from_shape_fn((rows, 3), |(i, j)| ((i * 7 + j * 3) as f64 * 0.61).sin());
        let sample = Sample::regression(inputs, Array1::zeros(rows)).unwrap();
        Parts { train: sample.clone(), test: sample }
    }

    #[test]
    fn with_all_points_as_landmarks_nothing_is_lost() {
        let params = Settings::new().with("landmarks", 6).with("subsets", vec![1]);
        let curve = run(&parts(6), &params, &mut Fitting::seeded(1)).unwrap();
        assert_eq!(curve.len(), 5);
        let errors: Vec<f64> = curve.iter().map(|point| point.values["error v=1"]).collect();
        assert!(errors[0] > 0.1 && errors.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6));
        // A square root of rounding.
        assert_abs_diff_eq!(errors[4], 0.0, epsilon = 1e-6);
        assert_abs_diff_eq!(curve[4].values["pairs"], 21.0);
    }

    #[test]
    fn the_distance_is_that_of_the_matrices() {
        let (params, fitting) = (Params::default(), Fitting::seeded(1));
        let (whole, pairs) = weighted_gram(&parts(8).train, &params, &fitting).unwrap();
        let size = whole.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let (a, b) = (
            factor(&whole, &pairs, &[0, 3, 5]).unwrap(),
            factor(&whole, &pairs, &[1, 2, 6]).unwrap(),
        );
        let average = (a.dot(&a.t()) + b.dot(&b.t())) / 2.0;
        let direct = (&whole - &average).mapv(|d| d * d).sum().sqrt();
        let joint = ndarray::concatenate![Axis(1), a, b];
        assert_abs_diff_eq!(distance(&whole, size, &joint, 2), direct, epsilon = 1e-9 * size);
    }

    #[test]
    fn subsets_without_enough_points_are_left_out() {
        let params = Settings::new().with("landmarks", 4).with("subsets", vec![1, 3]);
        let curve = run(&parts(9), &params, &mut Fitting::seeded(1)).unwrap();
        assert!(curve[1].values.contains_key("error v=3"));
        assert!(!curve[2].values.contains_key("error v=3"));
    }
}
