//! Golden blocks `rftk-2` and `rftk-3`, what must hold whatever the numbers, and Monte Carlo.

use approx::assert_relative_eq;
use mercer_linalg::symmetric_eigen;
use mercer_theory::{
    RidgeCondition, RidgelessLimit, SgdRegime, TheoryError, bias_rate, effective_rank,
    effective_ridge, effective_ridge_beside, effective_ridge_limit, penalty_at_start,
    ridgeless_excess_risk, ridgeless_limit, ridgeless_variance_factor, sgd_error_rate, sgd_regime,
    sgd_step_limit, split_excess_risk, trace_scale_from_features, trace_scale_from_gram,
};
use ndarray::{Array1, Array2, ArrayView2, array, s};
use proptest::prelude::*;

fn golden() -> toml::Table {
    include_str!("../../../experiments/golden/rftk.toml").parse().unwrap()
}

fn number(table: &toml::Table, name: &str) -> f64 {
    table[name].as_float().unwrap()
}

fn numbers(table: &toml::Table, name: &str) -> Vec<f64> {
    table[name].as_array().unwrap().iter().map(|entry| entry.as_float().unwrap()).collect()
}

fn count(value: &toml::Value) -> usize {
    value.as_integer().unwrap() as usize
}

fn counts(table: &toml::Table, name: &str) -> Vec<usize> {
    table[name].as_array().unwrap().iter().map(count).collect()
}

fn close(ours: f64, theirs: f64) {
    assert_relative_eq!(ours, theirs, max_relative = 1e-8);
}

/// `exp(−rate (x − z)²)` between two lists of points.
fn gaussian(x: &[f64], z: &[f64], rate: f64) -> Array2<f64> {
    Array2::from_shape_fn((x.len(), z.len()), |(i, j)| (-rate * (x[i] - z[j]).powi(2)).exp())
}

/// The five points of block `rftk-2`, and the kernel matrix with the test point in the last place.
pub(super) struct Example {
    pub(super) joint: Array2<f64>,
    pub(super) targets: Array1<f64>,
}

pub(super) fn example() -> Example {
    let all = golden();
    let golden = all["rftk-2"].as_table().unwrap();
    let mut points = numbers(golden, "inputs");
    points.push(number(golden, "test-point"));
    let joint = gaussian(&points, &points, number(golden, "kernel-rate"));
    Example { joint, targets: numbers(golden, "targets").into() }
}

impl Example {
    pub(super) fn limit(&self) -> RidgelessLimit {
        let n = self.targets.len();
        let cross = self.joint.slice(s![n.., ..n]);
        let own = self.joint.slice(s![n.., n]);
        ridgeless_limit(self.joint.slice(s![..n, ..n]), cross, own, self.targets.view()).unwrap()
    }
}

#[test]
fn golden_ridgeless_predictor_and_its_variances() {
    let all = golden();
    let golden = all["rftk-2"].as_table().unwrap();
    let limit = example().limit();
    close(limit.predictions[0], number(golden, "prediction"));
    close(limit.norm_squared, number(golden, "norm-squared"));
    close(limit.posterior_variances[0], number(golden, "posterior-variance"));
    assert_eq!(limit.rank, 5);
    let variances = numbers(golden, "variances");
    let sampled = numbers(golden, "sampled-variances");
    for (i, features) in counts(golden, "features").into_iter().enumerate() {
        close(limit.variances(features).unwrap()[0], variances[i]);
        // 1e5 samples, kurtosis of a few: within 1 %.
        assert_relative_eq!(sampled[i], variances[i], max_relative = 0.01);
        let excess = limit.excess_risk(features).unwrap();
        close(excess.value, variances[i]);
        // κ² = 1: Theorem 2's form is an upper bound of it.
        let m = features as f64;
        let bound = excess.term("M/(M−n−1)").unwrap() * limit.norm_squared / m;
        assert!(excess.value <= bound);
    }
}

#[test]
fn golden_effective_ridge_conditions_and_trace_start() {
    let all = golden();
    let golden = all["rftk-3"].as_table().unwrap();
    let eigenvalues = numbers(golden, "eigenvalues");
    let (shifts, lambdas) = (numbers(golden, "shifts"), numbers(golden, "lambdas"));
    for (i, features) in counts(golden, "features").into_iter().enumerate() {
        let ridge = effective_ridge(&eigenvalues, features, RidgeCondition::Features).unwrap();
        close(ridge.shift, shifts[i]);
        close(ridge.lambda, lambdas[i]);
        close(ridge.trace, features as f64);
        let limit = effective_ridge_limit(eigenvalues.iter().sum(), eigenvalues.len(), features);
        assert!(ridge.lambda <= limit.unwrap().value);
    }
    let misprinted = numbers(golden, "misprinted-shifts");
    for (i, features) in counts(golden, "misprinted-features").into_iter().enumerate() {
        let ridge = effective_ridge(&eigenvalues, features, RidgeCondition::Misprinted).unwrap();
        close(ridge.shift, misprinted[i]);
        close(ridge.trace, features as f64 / 4.0);
    }
    let (rows, iterations) = (count(&golden["rows"]), count(&golden["iterations"]));
    let limit = sgd_step_limit(rows, iterations, number(golden, "delta")).unwrap();
    close(limit.term("n/(9T·ln(n/δ))").unwrap(), number(golden, "limit-by-rows"));
    close(limit.term("1/(8(1+ln T))").unwrap(), number(golden, "limit-by-iterations"));
    close(limit.value, number(golden, "limit-by-iterations"));
    close(limit.term("32·ln²(2/δ)").unwrap(), number(golden, "rows-needed"));
    assert_eq!(limit.vacuous, Some(false));

    let (weight, share) = (number(golden, "trace-weight"), number(golden, "recorded-share"));
    let start = penalty_at_start(weight, count(&golden["trace-rows"]), share).unwrap();
    close(start.value, number(golden, "trace-start"));
}

#[test]
fn at_the_threshold_one_condition_interpolates_and_the_misprint_does_not() {
    let eigenvalues = [1.0, 0.5, 0.25, 0.125];
    let right = effective_ridge(&eigenvalues, 4, RidgeCondition::Features).unwrap();
    assert_eq!((right.lambda, right.trace, right.evaluations), (0.0, 4.0, 0));
    let misprinted = effective_ridge(&eigenvalues, 4, RidgeCondition::Misprinted).unwrap();
    assert!(misprinted.lambda > 0.3);
    close(misprinted.trace, 1.0);
    // And beyond: λ stays 0.
    let beyond = effective_ridge(&eigenvalues, 5, RidgeCondition::Features).unwrap();
    assert_eq!((beyond.lambda, beyond.evaluations), (0.0, 0));
}

#[test]
fn the_ridge_of_equal_eigenvalues_has_a_closed_form() {
    // n c/(c + t) = M: t = c (n − M)/M.
    for (n, m, c) in [(10, 3, 2.0), (1000, 999, 1e-12), (1000, 1, 1e200), (2, 1, 5e-324)] {
        let ridge = effective_ridge(&vec![c; n], m, RidgeCondition::Features).unwrap();
        let expected = c * (n - m) as f64 / m as f64;
        assert_relative_eq!(ridge.shift, expected, max_relative = 1e-12);
    }
}

#[test]
fn the_root_is_found_on_wide_and_on_spiked_spectra() {
    // Not wider: below n ε of the largest an eigenvalue counts as 0.
    let geometric: Vec<f64> = (0..15).map(|i| 10f64.powi(-i)).collect();
    for m in 1..15 {
        let ridge = effective_ridge(&geometric, m, RidgeCondition::Features).unwrap();
        assert_relative_eq!(ridge.trace, m as f64, max_relative = 1e-12);
        assert!(ridge.evaluations <= 6, "{} evaluations at M = {m}", ridge.evaluations);
    }
    // Half-way between two of its eigenvalues Newton's steps are right at once.
    for m in [4, 5, 8, 10, 12] {
        let ridge = effective_ridge(&geometric, m, RidgeCondition::Features).unwrap();
        assert!(ridge.evaluations <= 4, "{} evaluations at M = {m}", ridge.evaluations);
    }
    // From one side alone the bracket stays wide while Newton's steps close in.
    for power in [1, 2, 4] {
        let polynomial: Vec<f64> = (1..500).map(|i| f64::from(i).powi(-power)).collect();
        for m in [1, 2, 5, 14, 30, 100] {
            let ridge = effective_ridge(&polynomial, m, RidgeCondition::Features).unwrap();
            assert_relative_eq!(ridge.trace, m as f64, max_relative = 1e-14);
            let evaluations = ridge.evaluations;
            assert!(evaluations <= 9, "{evaluations} evaluations at M = {m}, power {power}");
        }
    }
    // One large among many small: Newton alone would crawl.
    let mut spiked = vec![1e-10; 500];
    spiked[250] = 1.0;
    for m in [1, 2, 250, 499] {
        let ridge = effective_ridge(&spiked, m, RidgeCondition::Features).unwrap();
        assert_relative_eq!(ridge.trace, m as f64, max_relative = 1e-12);
        assert!(ridge.evaluations < 100, "{} evaluations at M = {m}", ridge.evaluations);
    }
    // Rank 2 of 4: two features interpolate what can be interpolated.
    let deficient = [1.0, 0.5, 1e-17, -1e-17];
    let ridge = effective_ridge(&deficient, 2, RidgeCondition::Features).unwrap();
    assert_eq!((ridge.rank, ridge.lambda, ridge.trace), (2, 0.0, 2.0));
    assert!(effective_ridge(&deficient, 1, RidgeCondition::Features).unwrap().lambda > 0.0);
}

#[test]
fn the_cases_of_the_corollary_cost_what_it_says() {
    for (rows, features) in [(100usize, 7usize), (10_000, 200), (1_000_000, 2000)] {
        let (n, m) = (rows as f64, features as f64);
        let [single, batches, all] =
            SgdRegime::ALL.map(|regime| sgd_regime(regime, rows, features, 0.05).unwrap());
        assert_relative_eq!(single.cost, n * m, max_relative = 1e-12);
        assert_relative_eq!(batches.cost, n * m, max_relative = 1e-12);
        assert_relative_eq!(all.cost, n.powf(1.5) * m, max_relative = 1e-12);
        assert_relative_eq!(single.passes, 1.0, max_relative = 1e-12);
        assert_relative_eq!(all.passes, n.sqrt(), max_relative = 1e-12);
        for (setting, noise) in [(&single, n.powf(-0.5)), (&batches, n.powf(-0.5)), (&all, 1.0 / n)]
        {
            assert_relative_eq!(setting.error.terms[0].1, noise, max_relative = 1e-12);
            assert_relative_eq!(setting.error.terms[1].1, n.powf(-0.5), max_relative = 1e-12);
        }
        // γ = 1 is never below 1/(8 (1 + ln T)).
        assert!(!batches.covered() && !all.covered());
    }
    // Case 1 is covered from about 12 600 rows on.
    let covered = |n| sgd_regime(SgdRegime::SingleRow, n, 1, 0.05).unwrap().covered();
    assert!(!covered(12_500) && covered(12_700) && covered(1_000_000));
}

/// Each shape in its own words, so that a slip in one is a slip against the other.
#[test]
fn shapes_against_their_formulas() {
    close(sgd_error_rate(10, 0.5, 20).unwrap().value, 0.5 / 10.0 + 1.0 / (0.5 * 20.0));
    close(ridgeless_variance_factor(100, 101).unwrap().value, 101.0);
    close(ridgeless_variance_factor(100, 99).unwrap().value, 100.0);
    assert_eq!(ridgeless_variance_factor(100, 101).unwrap().term("M/(M−n−1)"), None);
    close(ridgeless_variance_factor(3, 6).unwrap().term("M/(M−n−1)").unwrap(), 3.0);
    assert_eq!(sgd_step_limit(435, 100, 0.05).unwrap().vacuous, Some(true));
    assert_eq!(sgd_step_limit(436, 100, 0.05).unwrap().vacuous, Some(false));
    // (6) as printed fails for distances above 1.
    let risk = split_excess_risk(1.0, 2.0, 4.0, 5.0).unwrap();
    assert_eq!((risk.value, risk.term("(6) as printed").unwrap()), (36.0, 6.0));
    assert!(risk.value <= risk.term("3·Σ squares").unwrap());
}

#[test]
fn scale_free_rank_of_known_matrices() {
    let identity = Array2::eye(7);
    close(trace_scale_from_gram(identity.view()).unwrap().effective_rank, 7.0);
    let ones = Array2::from_elem((7, 7), 0.3);
    close(trace_scale_from_gram(ones.view()).unwrap().effective_rank, 1.0);
    let diagonal = Array2::from_diag(&array![3.0, 1.0]);
    close(trace_scale_from_gram(diagonal.view()).unwrap().effective_rank, 1.6);
}

#[test]
fn arguments_out_of_range_are_named() {
    let range = |error: TheoryError| match error {
        TheoryError::Range { argument, .. } => argument,
        other => panic!("{other}"),
    };
    assert_eq!(range(sgd_step_limit(0, 1, 0.1).unwrap_err()), "rows");
    assert_eq!(range(sgd_step_limit(9, 0, 0.1).unwrap_err()), "iterations");
    assert_eq!(range(sgd_step_limit(9, 1, 1.0).unwrap_err()), "delta");
    assert_eq!(range(sgd_error_rate(0, 1.0, 1).unwrap_err()), "batch");
    assert_eq!(range(sgd_error_rate(1, 0.0, 1).unwrap_err()), "step");
    assert_eq!(range(sgd_regime(SgdRegime::AllRows, 9, 0, 0.1).unwrap_err()), "features");
    assert_eq!(range(ridgeless_variance_factor(9, 9).unwrap_err()), "features");
    assert_eq!(range(ridgeless_excess_risk(1.0, 1.0, 9, 10).unwrap_err()), "features");
    assert_eq!(range(ridgeless_excess_risk(-1.0, 1.0, 9, 12).unwrap_err()), "posterior_variance");
    assert_eq!(range(effective_ridge_limit(0.0, 9, 1).unwrap_err()), "trace");
    assert_eq!(range(effective_ridge_beside(&[1.0], 1, -0.1).unwrap_err()), "lambda");
    assert_eq!(range(effective_rank(1.0, 1.1).unwrap_err()), "frobenius");
    assert_eq!(range(penalty_at_start(1.0, 9, 1.1).unwrap_err()), "recorded_share");
    assert_eq!(range(bias_rate(1.0, f64::NAN, 9).unwrap_err()), "trace");
    assert_eq!(range(split_excess_risk(0.0, 0.0, -1.0, 0.0).unwrap_err()), "bias");

    let ridge = |d: &[f64], m| effective_ridge(d, m, RidgeCondition::Features);
    assert!(matches!(ridge(&[], 1), Err(TheoryError::Empty { argument: "eigenvalues" })));
    assert_eq!(range(ridge(&[1.0], 0).unwrap_err()), "features");
    for broken in [[0.0, 0.0], [1.0, -0.5], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        assert_eq!(range(ridge(&broken, 1).unwrap_err()), "eigenvalues");
    }
    assert_eq!(range(trace_scale_from_gram(Array2::zeros((2, 2)).view()).unwrap_err()), "gram");
    let indefinite = array![[1.0, 2.0], [2.0, 1.0]];
    assert_eq!(range(trace_scale_from_gram(indefinite.view()).unwrap_err()), "frobenius");
    let wide = trace_scale_from_gram(Array2::zeros((2, 3)).view()).unwrap_err();
    assert_eq!(wide.to_string(), "`gram` is 2 x 3; it must be 2 x 2");
    let none = trace_scale_from_features(Array2::zeros((2, 0)).view()).unwrap_err();
    assert!(matches!(none, TheoryError::Empty { argument: "features" }));

    let (gram, y) = (Array2::<f64>::eye(2), array![1.0, 2.0]);
    let limit = |gram: ArrayView2<'_, f64>, cross: Array2<f64>, own: f64, y: &Array1<f64>| {
        ridgeless_limit(gram, cross.view(), array![own].view(), y.view())
    };
    let cross = array![[0.5, 0.5]];
    // 0.4 < 0.25 + 0.25: no kernel has these values.
    assert_eq!(range(limit(gram.view(), cross.clone(), 0.4, &y).unwrap_err()), "self_kernels");
    assert_eq!(range(limit(indefinite.view(), cross.clone(), 1.0, &y).unwrap_err()), "gram");
    let poisoned = array![1.0, f64::NAN];
    assert_eq!(range(limit(gram.view(), cross.clone(), 1.0, &poisoned).unwrap_err()), "targets");
    let narrow = limit(gram.view(), array![[0.5]], 1.0, &y).unwrap_err();
    assert_eq!(narrow.to_string(), "`cross` is 1 x 1; it must be 1 x 2");
    let fine = limit(gram.view(), cross, 1.0, &y).unwrap();
    assert_eq!(range(fine.variances(3).unwrap_err()), "features");
    assert!(fine.variances(4).is_ok());
}

#[test]
fn a_point_given_twice_adds_nothing() {
    let points = [-0.8, 0.1, 0.9];
    let doubled = [-0.8, 0.1, 0.1, 0.9];
    let at = [0.4];
    let limit = |x: &[f64], y: Array1<f64>| {
        let (gram, cross) = (gaussian(x, x, 2.0), gaussian(&at, x, 2.0));
        ridgeless_limit(gram.view(), cross.view(), array![1.0].view(), y.view()).unwrap()
    };
    let (once, twice) =
        (limit(&points, array![1.0, -0.5, 0.25]), limit(&doubled, array![1.0, -0.5, -0.5, 0.25]));
    assert_eq!((once.rank, twice.rank), (3, 3));
    assert_relative_eq!(once.predictions[0], twice.predictions[0], max_relative = 1e-9);
    assert_relative_eq!(once.norm_squared, twice.norm_squared, max_relative = 1e-9);
    close(once.variances(9).unwrap()[0], twice.variances(9).unwrap()[0]);
}

#[test]
fn a_ridge_beside_another_is_found_in_as_many_halvings_as_a_float_has_digits() {
    let found = effective_ridge_beside(&[1.0, 0.5, 0.25, 0.125], 3, 0.01).unwrap();
    assert!((30..80).contains(&found.evaluations), "{}", found.evaluations);
}

#[test]
fn what_rounding_makes_negative_is_measured_by_the_largest_eigenvalue() {
    let ridge = |smallest: f64| effective_ridge(&[4.0, 1.0, smallest], 1, RidgeCondition::Features);
    assert_eq!(ridge(-3e-9).unwrap().rank, 2);
    assert!(matches!(ridge(-5e-9), Err(TheoryError::Range { argument: "eigenvalues", .. })));
}

fn spectrum() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec((-10.0..2.0f64).prop_map(|exponent| 10f64.powf(exponent)), 2..40)
}

proptest! {
    #[test]
    fn the_effective_ridge_solves_its_equation_and_falls_in_the_features(d in spectrum()) {
        let n = d.len();
        let trace: f64 = d.iter().sum();
        let mut before = f64::INFINITY;
        for m in 1..n {
            let ridge = effective_ridge(&d, m, RidgeCondition::Features).unwrap();
            prop_assert!((ridge.trace - m as f64).abs() <= 1e-10 * m as f64);
            prop_assert!(ridge.lambda > 0.0 && ridge.lambda < before);
            let limit = effective_ridge_limit(trace, n, m).unwrap().value;
            prop_assert!(ridge.lambda <= (1.0 + 1e-12) * limit);
            prop_assert!(ridge.evaluations < 100);
            let misprinted = effective_ridge(&d, m, RidgeCondition::Misprinted).unwrap();
            prop_assert!(misprinted.lambda > ridge.lambda);
            before = ridge.lambda;
        }
        let interpolating = effective_ridge(&d, n, RidgeCondition::Features).unwrap();
        prop_assert_eq!((interpolating.lambda, interpolating.evaluations), (0.0, 0));
    }

    #[test]
    fn a_ridge_of_its_own_makes_the_effective_one_larger_and_fades_to_itself(
        d in spectrum(),
        exponent in -6.0..1.0f64,
        features in 1usize..80,
    ) {
        let (n, lambda) = (d.len() as f64, 10f64.powf(exponent));
        let ridge = effective_ridge_beside(&d, features, lambda).unwrap();
        let t = ridge.shift;
        let trace: f64 = d.iter().map(|d| d / (d + t)).sum();
        let right = lambda * n + t * trace / features as f64;
        prop_assert!((t - right).abs() <= 1e-12 * t, "{t} {right}");
        prop_assert!((ridge.target - ridge.trace).abs() <= 1e-9 * features as f64);
        prop_assert!(ridge.lambda >= lambda);
        let bare = effective_ridge(&d, features, RidgeCondition::Features).unwrap();
        prop_assert!(ridge.lambda >= bare.lambda);
        let next = effective_ridge_beside(&d, features + 1, lambda).unwrap();
        prop_assert!(next.lambda <= (1.0 + 1e-14) * ridge.lambda);
        let many = effective_ridge_beside(&d, 1_000_000_000, lambda).unwrap().lambda;
        prop_assert!((many / lambda - 1.0).abs() < 1e-3);
        let none = effective_ridge_beside(&d, features, 0.0).unwrap();
        prop_assert_eq!(none, bare);
    }

    #[test]
    fn the_effective_ridge_follows_the_scale_of_the_kernel(d in spectrum(), exponent in -200..200) {
        let scale = 2f64.powi(exponent);
        let scaled: Vec<f64> = d.iter().map(|d| scale * d).collect();
        let ridge = |d: &[f64]| effective_ridge(d, 1, RidgeCondition::Features).unwrap().lambda;
        prop_assert!((ridge(&scaled) / scale / ridge(&d) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_variance_explodes_at_the_threshold_and_tends_to_one(n in 2usize..1000, gap in 1usize..1000) {
        let factor = |m| ridgeless_variance_factor(n, m).unwrap().value;
        prop_assert!(factor(n + gap) > factor(n + gap + 1) && factor(n + gap + 1) > 1.0);
        if gap + 1 < n {
            prop_assert!(factor(n - gap) > factor(n - gap - 1));
        }
        prop_assert!(factor(1_000_000 * n) < 1.0 + 2e-6);
        let risk = |m| ridgeless_excess_risk(0.3, 2.0, n, m).unwrap().value;
        prop_assert!(risk(n + gap + 1) > risk(n + gap + 2));
    }

    #[test]
    fn smaller_failure_probability_and_longer_runs_narrow_the_step(
        n in 1usize..1_000_000,
        t in 1usize..100_000,
        delta in 1e-9..0.5f64,
    ) {
        let limit = |n, t, delta| sgd_step_limit(n, t, delta).unwrap().value;
        prop_assert!(limit(n, t, delta) <= 0.125);
        prop_assert!(limit(n, t + 1, delta) < limit(n, t, delta));
        prop_assert!(limit(n, t, delta) <= limit(n, t, 1.5 * delta));
        let needed = |delta| sgd_step_limit(n, t, delta).unwrap().terms[2].1;
        prop_assert!(needed(delta) > needed(1.5 * delta));
    }

    #[test]
    fn larger_batches_and_more_steps_bring_sgd_closer(
        b in 1usize..10_000,
        t in 1usize..10_000,
        step in 1e-6..10.0f64,
    ) {
        let rate = |b, step, t| sgd_error_rate(b, step, t).unwrap().value;
        let here = rate(b, step, t);
        prop_assert!(rate(2 * b, step, t) < here && rate(b, step, 2 * t) < here);
        // The best step is √(b/t): there the two terms are equal.
        prop_assert!(rate(b, (b as f64 / t as f64).sqrt(), t) <= here * (1.0 + 1e-12));
    }

    #[test]
    fn halved_features_have_a_quarter_of_the_trace_and_the_same_predictions(
        values in proptest::collection::vec(-2.0..2.0f64, 28),
    ) {
        let phi = Array2::from_shape_vec((4, 7), values).unwrap();
        let gram = phi.dot(&phi.t());
        prop_assume!(symmetric_eigen(gram.view()).unwrap().values[0] > 1e-3);
        let (full, half) = (
            trace_scale_from_features(phi.view()).unwrap(),
            trace_scale_from_features((&phi * 0.5).view()).unwrap(),
        );
        assert_relative_eq!(half.trace, 0.25 * full.trace, max_relative = 1e-12);
        assert_relative_eq!(half.effective_rank, full.effective_rank, max_relative = 1e-12);
        prop_assert!((1.0..=4.0 + 1e-12).contains(&full.effective_rank));
        // Both products give the same, and so does the Gram matrix.
        let by_gram = trace_scale_from_gram(gram.view()).unwrap();
        let transposed = trace_scale_from_features(phi.t()).unwrap();
        for other in [by_gram, transposed] {
            assert_relative_eq!(other.trace, full.trace, max_relative = 1e-12);
            assert_relative_eq!(other.frobenius, full.frobenius, max_relative = 1e-12);
        }
        let limit = |gram: &Array2<f64>| {
            let train = gram.slice(s![..3, ..3]);
            let (cross, own) = (gram.slice(s![3.., ..3]), gram.slice(s![3.., 3]));
            ridgeless_limit(train, cross, own, array![1.0, -1.0, 0.5].view()).unwrap()
        };
        let (of_full, of_half) = (limit(&gram), limit(&(&gram * 0.25)));
        assert_relative_eq!(of_full.predictions[0], of_half.predictions[0], max_relative = 1e-9);
        let bias = |limit: &RidgelessLimit, trace| {
            bias_rate(limit.norm_squared.sqrt(), trace, 3).unwrap().value
        };
        assert_relative_eq!(
            bias(&of_full, full.trace),
            bias(&of_half, half.trace),
            max_relative = 1e-9
        );
        let variance = |limit: &RidgelessLimit| limit.variances(9).unwrap()[0];
        assert_relative_eq!(
            variance(&of_full),
            variance(&of_half),
            max_relative = 1e-6,
            epsilon = 1e-12
        );
    }

    #[test]
    fn a_training_point_has_its_target_and_no_variance(
        y in proptest::collection::vec(-2.0..2.0f64, 4),
        which in 0usize..4,
    ) {
        let x = [-1.0, -0.2, 0.5, 1.3];
        let (gram, cross) = (gaussian(&x, &x, 2.0), gaussian(&x[which..=which], &x, 2.0));
        let y = Array1::from(y);
        let limit =
            ridgeless_limit(gram.view(), cross.view(), array![1.0].view(), y.view()).unwrap();
        prop_assert!((limit.predictions[0] - y[which]).abs() < 1e-10);
        prop_assert!(limit.posterior_variances[0] < 1e-10);
    }

    #[test]
    fn the_square_of_the_sum_lies_below_three_times_the_squares(
        a in 0.0..10.0f64,
        b in 0.0..10.0f64,
        bias in 0.0..10.0f64,
        variance in 0.0..10.0f64,
    ) {
        let risk = split_excess_risk(a, b, bias, variance).unwrap();
        prop_assert!(risk.value <= (1.0 + 1e-12) * risk.term("3·Σ squares").unwrap());
        prop_assert!(risk.value >= bias + variance - 1e-12);
        // As printed it is below the risk exactly where the distances add up to more than 1.
        let printed = risk.term("(6) as printed").unwrap();
        prop_assert_eq!(printed < risk.value, printed > 1.0);
    }
}
