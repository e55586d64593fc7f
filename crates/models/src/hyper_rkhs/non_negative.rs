//! Hyper-KRR with non-negative coefficients (Pan, Chen, Chen, Xu and Lai, IEEE TNNLS 2017).

use super::nystrom::draw_landmarks;
use super::ridge::facts;
use super::{Learned, PairRidge, PairTarget, Stopped, of_kernel};
use mercer_kernels::{HyperKernel, LearnedKernel, PairSections, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError};
use mercer_linalg::symmetric_product;
use mercer_solvers::non_negative_quadratic;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng;

/// Relative violation of optimality that is left, in units of the largest `|H t| / m²`.
const TOLERANCE: f64 = 1e-9;
/// Pairs whose hyper-kernel values are held at once.
const CHUNK: usize = 4096;

/// `min_(g ≥ 0) (1/m²) Σ_p w_p ((H g)_p − y_p)² + λ gᵀ H_MM g` over the pairs of the landmarks, or of all
/// points. With `g ≥ 0` the learned kernel is positive definite, as every `h(q, ·)` is.
pub(super) fn learn(
    ridge: &PairRidge,
    kernel: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    lambdas: &[f64],
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let m = inputs.nrows();
    let chosen = match ridge.landmarks {
        Some(_) => {
            let count = ridge.landmarks_of(m)?;
            draw_landmarks(&fitting.streams.child("subset 0"), m, count)
        }
        None => (0..m).collect(),
    };
    let points = inputs.select(Axis(0), &chosen);
    let pairs = Pairs::all(chosen.len());
    let width = pairs.len();
    fitting.limits.reserve(8 * (4 * width * width + 3 * CHUNK.min(m * m) * width) as u64)?;
    let sections = kernel.sections(points.view(), &pairs);
    let gram = sections.gram(fitting.threads);
    let (mut normal, mut right) = sums(ridge.pairs, &sections, inputs, target, fitting)?;
    let share = 1.0 / (m * m) as f64;
    normal *= share;
    right *= share;
    let scale = right.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    lambdas
        .iter()
        .map(|&lambda| {
            fitting.limits.check()?;
            let form = &normal + &(lambda * &gram);
            let tolerance = (TOLERANCE * scale).max(f64::MIN_POSITIVE);
            let found = non_negative_quadratic(&form, right.view(), tolerance)
                .map_err(|error| Stopped::from(error).in_words("non-negative hyper-KRR"))?;
            let convergence = if found.converged {
                Convergence::Converged { iterations: found.iterations }
            } else {
                let (iterations, residual) = (found.iterations, found.violation / scale);
                Convergence::NotConverged { iterations, residual }
            };
            let support = found.x.iter().filter(|value| **value > 0.0).count();
            Ok(Learned {
                kernel: LearnedKernel::new(kernel.clone(), points.view(), &pairs, &found.x)
                    .map_err(of_kernel)?,
                convergence,
                facts: facts([
                    ("pairs", ridge.pairs.unwrap_or(m * m) as f64),
                    ("landmark-pairs", width as f64),
                    ("support-pairs", support as f64),
                    ("violation", found.violation),
                ]),
            })
        })
        .collect()
}

/// `Σ_p w_p H_pᵀ H_p` and `Σ_p w_p H_p y_p` over all pairs with their weights, or over a sample of ordered ones that
/// stands for all.
fn sums(
    pairs: Option<usize>,
    sections: &PairSections,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    fitting: &Fitting<'_>,
) -> Result<(Array2<f64>, Array1<f64>), LearningError> {
    let (m, width) = (inputs.nrows(), sections.len());
    let mut normal = Array2::<f64>::zeros((width, width));
    let mut right = Array1::<f64>::zeros(width);
    let count = pairs.unwrap_or(Pairs::count(m));
    let mut rng = fitting.streams.rng("pairs");
    let equal = pairs.map(|count| (m * m) as f64 / count as f64);
    for start in (0..count).step_by(CHUNK) {
        fitting.limits.check()?;
        let end = (start + CHUNK).min(count);
        let chunk = if pairs.is_some() {
            let drawn = (start..end).map(|_| (rng.gen_range(0..m), rng.gen_range(0..m)));
            Pairs::new(drawn.collect::<Vec<_>>())
        } else {
            Pairs::some(m, start..end)
        };
        let mut values = sections.at(inputs, &chunk, fitting.threads);
        let y = target.at(&chunk);
        let weights = chunk.weights().map(|weight| equal.unwrap_or(weight));
        for ((mut row, weight), y) in values.rows_mut().into_iter().zip(weights).zip(y) {
            right.scaled_add(weight * y, &row);
            row *= weight.sqrt();
        }
        normal += &symmetric_product(values.view());
    }
    Ok((normal, right))
}
