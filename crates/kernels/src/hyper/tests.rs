use super::*;
use crate::KernelError;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_linalg::{SymmetricOperator, symmetric_eigen};
use ndarray::{Array1, Array2, Axis, array, s};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use toml::{Table, Value};

fn golden() -> Table {
    include_str!("../../../../experiments/golden/hyper.toml").parse().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_float().unwrap()
}

fn numbers(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A pair of points of the plane, or of the line.
fn pair(value: &Value) -> [Array1<f64>; 2] {
    let points = value.as_array().unwrap();
    let point =
        |value: &Value| value.as_array().map_or_else(|| array![number(value)], |_| numbers(value));
    [point(&points[0]), point(&points[1])]
}

fn at(kernel: &HyperKernel, p: &[Array1<f64>; 2], q: &[Array1<f64>; 2]) -> f64 {
    kernel.of((p[0].view(), p[1].view()), (q[0].view(), q[1].view()))
}

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

fn kernels(d: usize) -> [HyperKernel; 4] {
    let mixed = random(d, d + 2, 9);
    let scale = mixed.dot(&mixed.t()) + Array2::<f64>::eye(d);
    [
        HyperKernel::Gaussian(GaussianHyper::printed(0.6, 0.3).unwrap()),
        HyperKernel::Gaussian(GaussianHyper::constructed(0.4, 0.9).unwrap()),
        HyperKernel::Wishart(WishartHyper::isotropic(0.8, d).unwrap()),
        HyperKernel::Wishart(WishartHyper::new(scale.view(), d as f64 + 1.5).unwrap()),
    ]
}

#[test]
fn golden_gaussian_hyper_kernels() {
    let golden = &golden()["hyper-1"];
    let (p, q) = (pair(&golden["first"]), pair(&golden["second"]));
    let (s, sh) = (number(&golden["variance"]), number(&golden["spread"]));
    let forms = [
        (GaussianHyper::printed(s, sh).unwrap(), "printed", "printed-unnormalised"),
        (GaussianHyper::constructed(s, sh).unwrap(), "constructed", "constructed-unnormalised"),
    ];
    for (kernel, name, bare) in forms {
        let kernel = HyperKernel::Gaussian(kernel);
        let value = at(&kernel, &p, &q);
        assert_relative_eq!(value, number(&golden[bare]), max_relative = 1e-8);
        let normalised = (value.ln() + kernel.log_normaliser(2)).exp();
        assert_relative_eq!(normalised, number(&golden[name]), max_relative = 1e-8);
    }
    let (p, q) = (pair(&golden["line-first"]), pair(&golden["line-second"]));
    let line = |kernel: GaussianHyper| {
        let kernel = HyperKernel::Gaussian(kernel);
        at(&kernel, &p, &q) * kernel.log_normaliser(1).exp()
    };
    let constructed = line(GaussianHyper::constructed(s, sh).unwrap());
    assert_relative_eq!(constructed, number(&golden["line-constructed"]), max_relative = 1e-8);
    let printed = line(GaussianHyper::printed(s, sh).unwrap());
    let tolerance = number(&golden["line-printed-tolerance"]);
    assert_relative_eq!(printed, number(&golden["line-printed"]), max_relative = tolerance);
}

#[test]
fn the_construction_is_the_integral_of_four_bumps_and_a_blur() {
    let bump = |variance: f64, a: f64, b: f64| {
        (-(a - b).powi(2) / (2.0 * variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
    };
    let (s, sh, p, q) = (0.7, 0.4, [0.3, -0.5], [1.1, 0.2]);
    // The trapezoidal rule converges faster than any power for such integrands.
    let nodes: Vec<f64> = (-400..=400).map(|i| f64::from(i) * 0.02).collect();
    let of = |pair: [f64; 2], z: f64| bump(s, pair[0], z) * bump(s, pair[1], z);
    let integral: f64 = nodes
        .iter()
        .map(|&z| of(p, z) * nodes.iter().map(|&t| bump(sh, z, t) * of(q, t)).sum::<f64>())
        .sum::<f64>()
        * 0.02
        * 0.02;
    let kernel = HyperKernel::Gaussian(GaussianHyper::constructed(s, sh).unwrap());
    let value = at(&kernel, &p.map(|x| array![x]), &q.map(|x| array![x]));
    assert_relative_eq!(integral, value * kernel.log_normaliser(1).exp(), max_relative = 1e-12);
}

#[test]
fn golden_wishart_hyper_kernel() {
    let golden = &golden()["hyper-3"];
    let scale = array![[number(&golden["line-scale"])]];
    let line = WishartHyper::new(scale.view(), number(&golden["line-freedom"])).unwrap();
    let rows = golden["scale"].as_array().unwrap();
    let scale = Array2::from_shape_fn((2, 2), |(i, j)| number(&rows[i].as_array().unwrap()[j]));
    let plane = WishartHyper::new(scale.view(), number(&golden["freedom"])).unwrap();
    let cases = [
        (line, "line-first", "line-second", "line", "line-unnormalised"),
        (plane, "first", "second", "plane", "plane-unnormalised"),
    ];
    for (kernel, first, second, name, bare) in cases {
        let kernel = HyperKernel::Wishart(kernel);
        let value = at(&kernel, &pair(&golden[first]), &pair(&golden[second]));
        assert_relative_eq!(value, number(&golden[bare]), max_relative = 1e-8);
        let normalised = value * kernel.log_normaliser(0).exp();
        assert_relative_eq!(normalised, number(&golden[name]), max_relative = 1e-8);
    }
}

#[test]
fn the_wishart_kernel_mixes_gaussian_ones_without_a_blur() {
    // d = 1: the variance is inverse gamma; integrate over its logarithm.
    let (scale, freedom) = (1.3, 3.0);
    let (p, q): ([f64; 2], [f64; 2]) = ([0.3, -0.5], [1.1, 0.2]);
    let log_gamma = statrs::function::gamma::ln_gamma(0.5 * freedom);
    let integral: f64 = (-600..=600)
        .map(|i| {
            let log = f64::from(i) * 0.02;
            let variance = log.exp();
            // h_KJ with sh = 0, normalised: sp = 2v, tau = v.
            let within = (p[0] - p[1]).powi(2) + (q[0] - q[1]).powi(2);
            let means = 0.25 * (p[0] + p[1] - q[0] - q[1]).powi(2);
            let tau = std::f64::consts::TAU;
            let bumps = (-within / (4.0 * variance) - means / (2.0 * variance)).exp()
                / (2.0 * tau * variance * (tau * variance).sqrt());
            let density = 0.5 * freedom * (scale / 2.0f64).ln()
                - log_gamma
                - (0.5 * freedom + 1.0) * log
                - scale / (2.0 * variance);
            bumps * density.exp() * variance * 0.02
        })
        .sum();
    let kernel = WishartHyper::new(array![[scale]].view(), freedom).unwrap();
    let kernel = HyperKernel::Wishart(kernel);
    let value = at(&kernel, &p.map(|x| array![x]), &q.map(|x| array![x]));
    assert_relative_eq!(integral, value * kernel.log_normaliser(1).exp(), max_relative = 1e-10);
}

#[test]
fn gram_matrices_and_blocks_agree_with_the_definition_across_tiles() {
    for (m, d) in [(1, 1), (4, 3), (25, 2)] {
        // 25 points have 325 pairs: a tile and a bit. Far from the origin, where means cancel.
        let x = random(m, d, 1) + 100.0;
        let pairs = Pairs::all(m);
        let of = |q: usize| {
            let (i, j) = pairs.as_slice()[q];
            (x.row(i), x.row(j))
        };
        for kernel in kernels(d) {
            let gram = kernel.gram(x.view(), &pairs, 2);
            assert_eq!(gram, gram.t(), "exact symmetry");
            for ((p, q), &value) in gram.indexed_iter() {
                assert_abs_diff_eq!(value, kernel.of(of(p), of(q)), epsilon = 1e-10);
            }
            let sections = kernel.sections(x.view(), &pairs);
            assert_abs_diff_eq!(sections.at(x.view(), &pairs, 1), gram, epsilon = 1e-12);
            let z = random(3, d, 2) + 100.0;
            let block = sections.at_block(z.view(), x.view(), 2);
            for ((p, q), &value) in block.indexed_iter() {
                let pair = (z.row(p / m), x.row(p % m));
                assert_abs_diff_eq!(value, kernel.of(pair, of(q)), epsilon = 1e-10);
            }
        }
    }
}

#[test]
fn a_learned_kernel_is_its_expansion_on_blocks() {
    let (m, d) = (40, 3);
    let (x, left, right) = (random(m, d, 3), random(7, d, 4), random(530, d, 5));
    let pairs = Pairs::all(m);
    let mut coefficients = random(pairs.len(), 1, 6).remove_axis(Axis(1));
    coefficients.slice_mut(s![..;3]).fill(0.0);
    for kernel in kernels(d) {
        let learned = LearnedKernel::new(kernel.clone(), x.view(), &pairs, &coefficients)
            .unwrap()
            .with_bias(0.25);
        assert!(learned.len() < pairs.len());
        let values = kernel.sections(x.view(), &pairs).at_block(left.view(), right.view(), 1);
        let values = values.dot(&coefficients) + 0.25;
        for threads in [1, 3] {
            let block = learned.block(left.view(), right.view(), threads);
            for ((i, j), &value) in block.indexed_iter() {
                assert_abs_diff_eq!(value, values[i * 530 + j], epsilon = 1e-11);
            }
        }
        assert_eq!(
            learned.block(left.view(), right.view(), 1),
            learned.block(left.view(), right.view(), 3)
        );
        let gram = learned.gram(left.view(), 2);
        assert_eq!(gram, gram.t());
        assert_abs_diff_eq!(gram, learned.block(left.view(), left.view(), 1), epsilon = 1e-11);
        let dense = kernel.gram(x.view(), &pairs, 1);
        let norm = coefficients.dot(&dense.dot(&coefficients));
        assert_relative_eq!(learned.norm_squared(1), norm, max_relative = 1e-10);
    }
}

#[test]
fn the_operator_over_all_pairs_is_the_weighted_gram_matrix() {
    for (m, shift) in [(1, 0.0), (3, 0.0), (37, 50.0)] {
        let x = random(m, 4, 7) * 2.0 + shift;
        for kernel in &kernels(4)[..2] {
            let HyperKernel::Gaussian(gaussian) = kernel else { unreachable!() };
            let pairs = Pairs::all(m);
            let dense = kernel.gram(x.view(), &pairs, 1);
            let roots: Array1<f64> = pairs.weights().map(f64::sqrt).collect();
            let v = random(pairs.len(), 2, 8);
            let expected = &roots.view().insert_axis(Axis(1))
                * &dense.dot(&(&v * &roots.view().insert_axis(Axis(1))));
            let one = PairOperator::new(gaussian, x.view(), 1);
            assert_eq!(one.size(), pairs.len());
            assert_abs_diff_eq!(one.apply(v.view()), expected, epsilon = 1e-10);
            let three = PairOperator::new(gaussian, x.view(), 3);
            assert_eq!(one.apply(v.view()), three.apply(v.view()));
        }
    }
}

#[test]
fn nothing_overflows_at_any_bandwidth() {
    // Widths a million times too small or too large, far from the origin.
    let x = random(12, 3, 9) * 10.0 + 1e4;
    let pairs = Pairs::all(12);
    for variance in [1e-12, 1e-3, 1e12] {
        let gaussian = GaussianHyper::constructed(variance, variance).unwrap();
        let operator = PairOperator::new(&gaussian, x.view(), 1);
        let image = operator.apply(Array2::ones((pairs.len(), 1)).view());
        assert!(image.iter().all(|value| value.is_finite() && *value >= 0.0));
        let gram = HyperKernel::Gaussian(gaussian).gram(x.view(), &pairs, 1);
        assert!(gram.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}

#[test]
fn bad_settings_are_named() {
    for (variance, spread, name) in [
        (0.0, 1.0, "variance"),
        (1.0, 0.0, "spread"),
        (1.0, f64::NAN, "spread"),
        (-1.0, 1.0, "variance"),
    ] {
        let error = GaussianHyper::constructed(variance, spread).unwrap_err();
        assert!(matches!(error, KernelError::Deviation { name: found, .. } if found == name));
    }
    let unit = Array2::<f64>::eye(3);
    // b must exceed d - 1.
    assert!(matches!(
        WishartHyper::new(unit.view(), 2.0),
        Err(KernelError::Freedom { features: 3, .. })
    ));
    assert!(WishartHyper::new(unit.view(), 2.1).is_ok());
    for scale in [
        array![[1.0, 2.0], [2.0, 1.0]],
        array![[1.0, 0.5], [0.4, 1.0]],
        array![[1.0, f64::NAN], [f64::NAN, 1.0]],
        array![[1.0, 0.0]],
    ] {
        let error = WishartHyper::new(scale.view(), 5.0).unwrap_err();
        assert!(matches!(error, KernelError::NotPositiveDefinite { .. }), "{error}");
    }
    assert!(WishartHyper::isotropic(0.0, 3).is_err());
    assert!(WishartHyper::isotropic(1.0, 0).is_err());
    let kernel = HyperKernel::Gaussian(GaussianHyper::printed(1.0, 1.0).unwrap());
    let x = random(2, 2, 1);
    let new = |c: Array1<f64>| LearnedKernel::new(kernel.clone(), x.view(), &Pairs::all(2), &c);
    assert!(matches!(new(array![1.0]), Err(KernelError::Shape { expected: 3, found: 1, .. })));
    assert!(matches!(new(array![1.0, f64::NAN, 0.0]), Err(KernelError::NotFinite { at: 1, .. })));
}

#[test]
fn kernels_of_the_same_pairs_are_evaluated_together_and_others_one_by_one() {
    let (x, z) = (random(6, 2, 3), random(4, 2, 4));
    for kernel in kernels(2) {
        let points = random(5, 2, 30);
        let one = |pairs: usize, factor: f64| {
            let pairs = Pairs::new((0..pairs).map(|q| (q % 5, (2 * q) % 5)));
            let coefficients = Array1::from_shape_fn(pairs.len(), |q| factor + q as f64);
            LearnedKernel::new(kernel.clone(), points.view(), &pairs, &coefficients)
                .unwrap()
                .with_bias(factor)
        };
        for path in [vec![one(7, 1.0), one(7, -2.0), one(7, 0.5)], vec![one(7, 1.0), one(6, 1.0)]] {
            let blocks = LearnedKernel::blocks(&path, x.view(), z.view(), 2);
            let grams = LearnedKernel::grams(&path, x.view(), 1);
            for ((kernel, block), gram) in path.iter().zip(&blocks).zip(&grams) {
                assert_abs_diff_eq!(*block, kernel.block(x.view(), z.view(), 1), epsilon = 1e-13);
                assert_abs_diff_eq!(*gram, kernel.gram(x.view(), 1), epsilon = 1e-13);
                assert_eq!(*gram, gram.t());
            }
        }
    }
    assert!(LearnedKernel::blocks(&[], x.view(), z.view(), 1).is_empty());
}

#[test]
fn the_mean_of_learned_kernels_is_that_of_their_values() {
    let (x, z) = (random(5, 2, 3), random(4, 2, 4));
    for kernel in kernels(2) {
        let parts: Vec<LearnedKernel> = (0..3)
            .map(|part| {
                let points = random(part + 2, 2, 20 + part as u64);
                let pairs = Pairs::all(part + 2);
                let coefficients = Array1::from_shape_fn(pairs.len(), |q| q as f64 - part as f64);
                LearnedKernel::new(kernel.clone(), points.view(), &pairs, &coefficients)
                    .unwrap()
                    .with_bias(part as f64)
            })
            .collect();
        let mean = LearnedKernel::mean(&parts).unwrap();
        let values = |kernel: &LearnedKernel| kernel.block(x.view(), z.view(), 1);
        let wanted = parts.iter().map(&values).reduce(|a, b| a + b).unwrap() / 3.0;
        assert_abs_diff_eq!(values(&mean), wanted, epsilon = 1e-13);
    }
    let none = LearnedKernel::mean(&[]).unwrap_err();
    assert!(matches!(none, KernelError::Shape { expected: 1, found: 0, .. }));
}

#[test]
fn the_total_variance_is_half_the_mean_squared_distance() {
    let x = random(30, 5, 10);
    let mut sum = 0.0;
    for a in x.rows() {
        for b in x.rows() {
            sum += (&a - &b).mapv(|v| v * v).sum();
        }
    }
    assert_relative_eq!(total_variance(x.view()), 0.5 * sum / 900.0, max_relative = 1e-12);
    assert_relative_eq!(entry_variance(x.view()), x.var(0.0), max_relative = 1e-12);
    // Equal rows have none.
    assert_abs_diff_eq!(total_variance(Array2::ones((4, 3)).view()), 0.0);
}

proptest! {
    #[test]
    fn hyper_gram_matrices_have_no_negative_eigenvalue_and_neither_have_sections_on_points(
        seed in 0u64..500, m in 2usize..6, d in 1usize..4, which in 0usize..4,
    ) {
        let x = random(m, d, seed);
        let kernel = &kernels(d)[which];
        let pairs = Pairs::all(m);
        let gram = kernel.gram(x.view(), &pairs, 1);
        let values = symmetric_eigen(gram.view()).unwrap().values;
        prop_assert!(values[0] > -1e-12 * pairs.len() as f64, "{}", values[0]);
        // With one pair fixed, a kernel of points.
        let first = LearnedKernel::new(
            kernel.clone(), x.view(), &Pairs::new([(1, 0)]), &array![1.0],
        ).unwrap();
        let values = symmetric_eigen(first.gram(x.view(), 1).view()).unwrap().values;
        prop_assert!(values[0] > -1e-12 * m as f64, "{}", values[0]);
    }

    #[test]
    fn the_order_within_a_pair_and_of_the_pairs_does_not_matter(
        seed in 0u64..500, d in 1usize..5, which in 0usize..4,
    ) {
        let x = random(4, d, seed);
        let kernel = &kernels(d)[which];
        let (a, b, c, e) = (x.row(0), x.row(1), x.row(2), x.row(3));
        let value = kernel.of((a, b), (c, e));
        prop_assert!(value > 0.0 && value <= 1.0);
        for other in [kernel.of((b, a), (c, e)), kernel.of((c, e), (a, b)), kernel.of((e, c), (a, b))] {
            prop_assert!((value - other).abs() <= 1e-14 * value);
        }
    }
}

/// Where squares overflow a value is no number, and never the value of equal pairs.
#[test]
fn squares_that_overflow_make_no_equal_pairs() {
    let points = array![[1e200, 0.0], [0.0, -2e200], [3e200, 1e200]];
    let pairs = Pairs::all(3);
    let wishart = HyperKernel::Wishart(WishartHyper::isotropic(0.8, 2).unwrap());
    let gaussian = HyperKernel::Gaussian(GaussianHyper::constructed(0.8, 0.8).unwrap());
    for kernel in [wishart, gaussian] {
        let gram = kernel.gram(points.view(), &pairs, 1);
        for ((p, q), &value) in gram.indexed_iter() {
            assert!(p == q || value.is_nan() || value < 1e-9, "{p} and {q}: {value}");
        }
    }
}
