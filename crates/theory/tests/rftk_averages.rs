//! Means over draws of random features against the formulas.

use super::rftk::example;
use approx::assert_relative_eq;
use mercer_linalg::{Cholesky, symmetric_eigen};
use mercer_theory::{RidgeCondition, effective_ridge, effective_ridge_beside};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn normals(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || rng.sample(StandardNormal))
}

/// Ridgeless regression on `n` rows of features, at the row that follows them.
fn ridgeless(features: ArrayView2<'_, f64>, targets: &Array1<f64>) -> f64 {
    let n = targets.len();
    let (train, test) = (features.slice(s![..n, ..]), features.row(n));
    let factor = Cholesky::factor(train.dot(&train.t())).unwrap();
    let dual = factor.solve(&targets.clone().insert_axis(Axis(1))).unwrap();
    train.dot(&test).dot(&dual.column(0))
}

/// Mean, variance, and the standard errors of both.
fn moments(draws: &[f64]) -> [f64; 4] {
    let count = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / count;
    let central = |power| draws.iter().map(|draw| (draw - mean).powi(power)).sum::<f64>() / count;
    let (second, fourth) = (central(2), central(4));
    let error = ((fourth - second * second) / count).sqrt();
    [mean, second, (second / count).sqrt(), error]
}

#[test]
fn gaussian_features_have_the_stated_mean_and_variance() {
    let example = example();
    let limit = example.limit();
    let root = Cholesky::factor(example.joint.clone()).unwrap().lower();
    let mut rng = ChaCha8Rng::seed_from_u64(20_260_101);
    for features in [10, 20, 40] {
        let draws: Vec<f64> = (0..40_000)
            .map(|_| {
                let columns = root.dot(&normals(6, features, &mut rng));
                ridgeless(columns.view(), &example.targets)
            })
            .collect();
        let [mean, variance, mean_error, variance_error] = moments(&draws);
        let expected = limit.variances(features).unwrap()[0];
        // Five standard errors; and errors small enough for that to mean something.
        assert!(variance_error < 0.03 * expected, "{variance_error} of {expected}");
        let (low, high) = (expected - 5.0 * variance_error, expected + 5.0 * variance_error);
        assert!((low..high).contains(&variance), "M = {features}: {variance} for {expected}");
        assert!((mean - limit.predictions[0]).abs() < 5.0 * mean_error);
    }
}

/// For large `M` the variance of `f_M(x)` is `E[a²b²]/M`, `a = φ(x) − k_x K⁻¹ φ(X)` the part of a
/// feature at `x` that the training points do not explain and `b = φ(X)ᵀ K⁻¹ y`. The identity has
/// `E[a²] E[b²]`, which is the same where features are Gaussian, since then `a` and `b` are
/// independent. A Fourier feature of high frequency makes both large at once.
#[test]
fn for_fourier_features_the_identity_lacks_a_factor_of_twelve() {
    let example = example();
    let limit = example.limit();
    let points = [-1.0, -0.5, 0.0, 0.5, 1.0, 0.33];
    let factor = Cholesky::factor(example.joint.slice(s![..5, ..5]).to_owned()).unwrap();
    let solve =
        |right: Array1<f64>| factor.solve(&right.insert_axis(Axis(1))).unwrap().column(0).to_vec();
    let (weights, dual) =
        (solve(example.joint.slice(s![..5, 5]).to_owned()), solve(example.targets.clone()));

    // a = √2 Re(A e^{iβ}), b = √2 Re(B e^{iβ}) with a uniform phase β: E_β[a²b²] =
    // |A|²|B|² + Re((A conj B)²)/2. The frequency is N(0, 4): the trapezoid rule over 10 deviations.
    let transform = |omega: f64, coefficients: &[f64]| {
        let terms = coefficients
            .iter()
            .zip(points)
            .map(|(c, x)| (c * (omega * x).cos(), c * (omega * x).sin()));
        terms.fold((0.0, 0.0), |sum: (f64, f64), term| (sum.0 + term.0, sum.1 + term.1))
    };
    let step = 1e-3;
    let (mut of_a, mut of_b, mut of_both) = (0.0, 0.0, 0.0);
    for i in -20_000..=20_000 {
        let omega = f64::from(i) * step;
        let density = step * (-omega * omega / 8.0).exp() / (8.0 * std::f64::consts::PI).sqrt();
        let explained = transform(omega, &weights);
        let own = ((0.33 * omega).cos(), (0.33 * omega).sin());
        let (a, b) = ((own.0 - explained.0, own.1 - explained.1), transform(omega, &dual));
        let (aa, bb) = (a.0 * a.0 + a.1 * a.1, b.0 * b.0 + b.1 * b.1);
        let (real, imaginary) = (a.0 * b.0 + a.1 * b.1, a.1 * b.0 - a.0 * b.1);
        of_a += density * aa;
        of_b += density * bb;
        of_both += density * (aa * bb + 0.5 * (real * real - imaginary * imaginary));
    }
    // Both marginal parts are those of the identity.
    assert_relative_eq!(of_a, limit.posterior_variances[0], max_relative = 1e-8);
    assert_relative_eq!(of_b, limit.norm_squared, max_relative = 1e-8);
    let factor = of_both / (of_a * of_b);
    assert_relative_eq!(factor, 11.805596749637365, max_relative = 1e-8);

    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let features = 400;
    let draws: Vec<f64> = (0..10_000)
        .map(|_| {
            let mut phi = Array2::zeros((6, features));
            for mut column in phi.columns_mut() {
                let omega = 2.0 * rng.sample::<f64, _>(StandardNormal);
                let phase = rng.gen_range(0.0..std::f64::consts::TAU);
                column.iter_mut().zip(points).for_each(|(v, x)| *v = (omega * x + phase).cos());
            }
            ridgeless(phi.view(), &example.targets)
        })
        .collect();
    let [_, variance, _, error] = moments(&draws);
    let expected = factor * limit.variances(features).unwrap()[0];
    assert!(error < 0.05 * expected);
    // Five standard errors, and the next term of the expansion, of relative order n/M.
    let allowed = 5.0 * error + 5.0 / features as f64 * expected;
    assert!((variance - expected).abs() < allowed, "{variance} ± {error} for {expected}");
}

#[test]
fn the_mean_projection_is_that_of_the_effective_ridge() {
    let example = example();
    let gram = example.joint.slice(s![..5, ..5]).to_owned();
    let eigen = symmetric_eigen(gram.view()).unwrap();
    let root = Cholesky::factor(gram).unwrap().lower();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let repeats = 20_000;
    for (features, printed) in [(2usize, 0.041), (3, 0.032), (4, 0.017)] {
        let mut mean = Array2::<f64>::zeros((5, 5));
        for _ in 0..repeats {
            let f = root.dot(&normals(5, features, &mut rng));
            let factor = Cholesky::factor(f.t().dot(&f)).unwrap();
            mean += &f.dot(&factor.solve(&f.t().to_owned()).unwrap());
        }
        mean /= f64::from(repeats);
        // Each projection has the trace M, not only their mean.
        assert_relative_eq!(mean.diag().sum(), features as f64, max_relative = 1e-9);
        let values = eigen.values.as_slice().unwrap();
        let error = |condition| {
            let t = effective_ridge(values, features, condition).unwrap().shift;
            let shrunk = &eigen.vectors * &eigen.values.mapv(|d| d / (d + t));
            let gap = shrunk.dot(&eigen.vectors.t()) - &mean;
            let norm = |matrix: &Array2<f64>| matrix.iter().map(|v| v * v).sum::<f64>().sqrt();
            norm(&gap) / norm(&mean)
        };
        let right = error(RidgeCondition::Features);
        assert!((right - printed).abs() < 0.008, "M = {features}: {right} for {printed}");
        assert!(error(RidgeCondition::Misprinted) > 5.0 * right);
    }
}

/// Ridge regression on Gaussian features, with fewer, as many and more features than rows: its mean
/// smoother is nearer to that of the ridge beside which `λ` is only a part than to that of `λ` itself.
#[test]
fn the_mean_smoother_is_that_of_the_ridge_beside_its_own() {
    let d: Vec<f64> = (1..=12).map(|i| 1.0 / f64::from(i)).collect();
    let (n, lambda, repeats) = (d.len(), 0.005, 4000);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for features in [6usize, 12, 24] {
        let mut mean = vec![0.0; n];
        for _ in 0..repeats {
            let mut f = normals(n, features, &mut rng) / (features as f64).sqrt();
            for (mut row, d) in f.rows_mut().into_iter().zip(&d) {
                row *= d.sqrt();
            }
            let gram = f.dot(&f.t());
            let mut ridged = gram.clone();
            ridged.diag_mut().mapv_inplace(|g| g + lambda * n as f64);
            let smoother = Cholesky::factor(ridged).unwrap().solve(&gram).unwrap();
            for (mean, own) in mean.iter_mut().zip(smoother.diag()) {
                *mean += own / f64::from(repeats);
            }
        }
        let off = |t: f64| -> f64 {
            d.iter().zip(&mean).map(|(d, own)| (d / (d + t) - own).abs()).fold(0.0, f64::max)
        };
        let ridge = effective_ridge_beside(&d, features, lambda).unwrap();
        let (ours, bare) = (off(ridge.shift), off(lambda * n as f64));
        assert!(ours < 0.03 && ours < 0.3 * bare, "M = {features}: {ours}, bare {bare}");
    }
}
