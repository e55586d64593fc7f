//! Hyper-KRR over all pairs, exactly.

use super::ridge::facts;
use super::{Learned, PairRidge, PairTarget, Stopped, numerical, of_kernel, refused};
use mercer_kernels::{HyperKernel, LearnedKernel, PairOperator, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError, fact};
use mercer_linalg::{Cholesky, JITTER_LADDER, shifted_conjugate_gradients};
use ndarray::{Array1, ArrayView2, Axis};

/// `(H + λ m² diag(1/w)) γ = y` by a Cholesky factorisation for each `λ`.
pub(super) fn by_cholesky(
    kernel: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    lambdas: &[f64],
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let m = inputs.nrows();
    let pairs = Pairs::all(m);
    // The matrix, and for a path a copy that is factored in place.
    let copies = if lambdas.len() > 1 { 2 } else { 1 };
    fitting.limits.reserve(8 * (copies * pairs.len() * pairs.len()) as u64)?;
    let mut gram = Some(kernel.gram(inputs, &pairs, fitting.threads));
    fitting.limits.check()?;
    let y = target.at(&pairs).insert_axis(Axis(1));
    let mut all = Vec::with_capacity(lambdas.len());
    for (index, &lambda) in lambdas.iter().enumerate() {
        let last = index + 1 == lambdas.len();
        let mut matrix = if last { gram.take() } else { gram.clone() }
            .unwrap_or_else(|| unreachable!("the matrix is taken by the last ridge only"));
        let ridge = lambda * (m * m) as f64;
        for (entry, weight) in matrix.diag_mut().iter_mut().zip(pairs.weights()) {
            *entry += ridge / weight;
        }
        let (factor, jitter) = Cholesky::with_jitter(matrix, &JITTER_LADDER)
            .map_err(numerical("factoring the hyper-Gram matrix"))?;
        fitting.limits.check()?;
        let gamma = factor
            .solve(&y)
            .map_err(numerical("solving with the hyper-Gram matrix"))?
            .remove_axis(Axis(1));
        all.push(Learned {
            kernel: LearnedKernel::new(kernel.clone(), inputs, &pairs, &gamma)
                .map_err(of_kernel)?,
            convergence: Convergence::Exact,
            facts: facts([("pairs", (m * m) as f64), ("jitter", jitter)]),
        });
    }
    Ok(all)
}

/// `(W^½ H W^½ + λ m² I) z = W^½ y`, `γ = W^½ z`, by conjugate gradients for every `λ` at once.
pub(super) fn by_conjugate_gradients(
    ridge: &PairRidge,
    kernel: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
    lambdas: &[f64],
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let HyperKernel::Gaussian(gaussian) = kernel else {
        let must = "another one with a Wishart hyper-kernel, which has no fast product";
        return Err(refused("solver", "conjugate-gradients", must));
    };
    let m = inputs.nrows();
    let numbers = (8 + 2 * lambdas.len()) * Pairs::count(m) + 10 * m * m;
    fitting.limits.reserve(8 * numbers as u64)?;
    let operator = PairOperator::new(gaussian, inputs, fitting.threads);
    let pairs = operator.pairs().clone();
    let roots: Array1<f64> = pairs.weights().map(f64::sqrt).collect();
    let right = target.at(&pairs) * &roots;
    let shifts: Vec<f64> = lambdas.iter().map(|lambda| lambda * (m * m) as f64).collect();
    let solved = shifted_conjugate_gradients(
        &operator,
        right.view(),
        &shifts,
        ridge.tolerance,
        ridge.iterations,
        |_, _| fitting.limits.check().map_err(Stopped::Outside),
    )
    .map_err(|stopped| stopped.in_words("conjugate gradients over pairs"))?;
    let iterations = solved.iterations;
    let columns = solved.x.axis_iter(Axis(1)).zip(&solved.residuals);
    columns
        .map(|(z, &residual)| {
            let gamma = &z * &roots;
            let convergence = if residual <= ridge.tolerance {
                Convergence::Converged { iterations }
            } else {
                Convergence::NotConverged { iterations, residual }
            };
            Ok(Learned {
                kernel: LearnedKernel::new(kernel.clone(), inputs, &pairs, &gamma)
                    .map_err(of_kernel)?,
                convergence,
                facts: facts([
                    ("pairs", (m * m) as f64),
                    (fact::ITERATIONS, iterations as f64),
                    (fact::RESIDUAL, residual),
                ]),
            })
        })
        .collect()
}
