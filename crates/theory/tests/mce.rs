//! The theory of the embedding paper against its golden values, brute force and properties.

use approx::assert_relative_eq;
use mercer_theory::{
    VACUOUS_COMPLEXITY, ball_complexity, best_embedding_rate, clipped_risk, deviation_term,
    embedding_complexity, embedding_rate, embedding_risk, entropy_factor, log_distance_bound,
    loss_multiplier,
};
use ndarray::{Array2, array};
use proptest::prelude::*;

fn golden() -> toml::Table {
    include_str!("../../../experiments/golden/mce.toml").parse().unwrap()
}

fn numbers(block: &toml::Table, name: &str) -> Vec<f64> {
    let entry = |v: &toml::Value| v.as_float().unwrap_or_else(|| v.as_integer().unwrap() as f64);
    block[name].as_array().unwrap().iter().map(entry).collect()
}

fn close(found: f64, golden: f64) {
    assert_relative_eq!(found, golden, max_relative = 1e-8);
}

#[test]
fn golden_bound_of_four_points() {
    let golden = golden()["mce-1"].as_table().unwrap().clone();
    let number = |name: &str| golden[name].as_float().unwrap();
    let (loss, r) = (number("mean-loss"), number("complexity"));
    let bound = embedding_risk(loss, r, 4, number("beta")).unwrap();
    close(bound.value, number("bound"));
    assert_eq!(bound.vacuous, Some(true));
}

#[test]
fn golden_multipliers_deviations_and_rates() {
    let golden = golden()["mce-4"].as_table().unwrap().clone();
    let number = |name: &str| golden[name].as_float().unwrap();
    for (epsilon, multiplier) in
        numbers(&golden, "epsilons").into_iter().zip(numbers(&golden, "multipliers"))
    {
        let epsilon = if epsilon == 0.0 { (-1f64).exp() } else { epsilon };
        close(loss_multiplier(epsilon).unwrap().value, multiplier);
    }
    // Handed down with five digits.
    let tiny = loss_multiplier(number("smallest-epsilon")).unwrap().value;
    assert_relative_eq!(tiny, number("its-multiplier"), max_relative = 5e-5);
    let beta = number("beta");
    for (rows, deviation) in
        numbers(&golden, "rows").into_iter().zip(numbers(&golden, "deviations"))
    {
        close(deviation_term(rows as usize, beta).unwrap().value, deviation);
    }
    let enough = golden["rows-below-one"].as_integer().unwrap() as usize;
    assert_eq!(deviation_term(enough, beta).unwrap().vacuous, Some(false));
    assert_eq!(deviation_term(enough - 1, beta).unwrap().vacuous, Some(true));
    close(VACUOUS_COMPLEXITY, number("vacuous-from"));
    let rows = golden["rate-rows"].as_integer().unwrap() as usize;
    let best = best_embedding_rate(rows).unwrap();
    close(best.value, number("rate"));
    close(embedding_rate(rows, best.term("λ").unwrap()).unwrap().value, number("rate"));
}

#[test]
fn the_bound_is_vacuous_from_its_complexity_on_whatever_the_rows() {
    let at = |r: f64| embedding_risk(0.0, r, 1 << 50, 0.05).unwrap();
    assert!(at(VACUOUS_COMPLEXITY).value >= 1.0);
    assert!(at(0.999 * VACUOUS_COMPLEXITY).value < 1.0);
    // Below it no embedding has that loss: with so small an r every row loses 1 and more.
    let below = at(0.05);
    assert_eq!((below.vacuous, below.term("least loss at this r")), (Some(true), Some(1.0)));
    assert_eq!(at(1.5).term("least loss at this r"), Some(0.0));
    assert_relative_eq!(at(0.5).term("least loss at this r").unwrap(), 2f64.ln());
}

/// The exact complexity of a ball lies below the bound for a fixed kernel, and that below Theorem 2.
#[test]
fn the_ball_is_below_both_bounds() {
    let points: Array2<f64> = array![[0.0, 0.1], [0.7, -0.4], [1.0, 1.0], [-0.3, 0.9], [0.2, 0.2]];
    let gram = Array2::from_shape_fn((5, 5), |(i, j)| {
        let d = &points.row(i) - &points.row(j);
        (-0.5 * d.dot(&d)).exp()
    });
    let exact = ball_complexity(gram.view(), 1.7).unwrap().value;
    let bound = embedding_complexity(1.0, 1.7, 5).unwrap();
    assert!(exact <= bound.term("fixed kernel").unwrap());
    assert!(bound.term("fixed kernel").unwrap() <= bound.value);
    // All patterns, none left out: by hand.
    let mut sum = 0.0;
    for pattern in 0..32 {
        let s =
            ndarray::Array1::from_shape_fn(5, |i| if pattern >> i & 1 == 1 { -1.0 } else { 1.0 });
        sum += s.dot(&gram.dot(&s)).sqrt();
    }
    assert_relative_eq!(exact, 2.0 / 5.0 * 1.7 * sum / 32.0, max_relative = 1e-13);
    assert!(ball_complexity(Array2::zeros((21, 21)).view(), 1.0).is_err());
    assert!(ball_complexity(Array2::zeros((2, 3)).view(), 1.0).is_err());
}

proptest! {
    #[test]
    fn more_rows_or_less_confidence_never_loosen(
        n in 1..100_000usize, beta in 1e-6..0.4f64, r in 0.0..5.0f64, loss in 0.0..3.0f64,
    ) {
        let bound = |n, beta| embedding_risk(loss, r, n, beta).unwrap().value;
        prop_assert!(bound(n + 1, beta) <= bound(n, beta));
        prop_assert!(bound(n, 2.0 * beta) <= bound(n, beta));
    }

    /// Whatever loss and complexity an embedding has: what says less than 1 is not of one.
    #[test]
    fn no_embedding_has_a_bound_below_one(
        r in 0.0..3.0f64, share in 0.0..1.0f64, epsilon in 1e-6..0.999f64, n in 1..1_000_000usize,
    ) {
        let least = (1.0 / r.max(epsilon)).ln().max(0.0);
        let largest = (1.0 / epsilon).ln();
        let loss = least + share * (largest - least).max(0.0);
        let own = clipped_risk(loss, r, epsilon, n, 0.05).unwrap();
        prop_assert!(own.value >= 1.0, "{own:?}");
        let any = clipped_risk(share * largest, r, epsilon, n, 0.05).unwrap();
        prop_assert_eq!(any.vacuous, Some(true), "{:?}", any);
        prop_assert_eq!(embedding_risk(share * largest, r, n, 0.05).unwrap().vacuous, Some(true));
    }

    #[test]
    fn the_multiplier_is_least_at_one_over_e(epsilon in 1e-9..0.999f64) {
        let least = loss_multiplier((-1f64).exp()).unwrap().value;
        prop_assert!(loss_multiplier(epsilon).unwrap().value >= least * (1.0 - 1e-15));
    }

    #[test]
    fn the_best_rate_is_best(n in 1..1_000_000usize, lambda in 1e-8..10.0f64) {
        let best = best_embedding_rate(n).unwrap().value;
        prop_assert!(embedding_rate(n, lambda).unwrap().value >= best * (1.0 - 1e-12));
    }

    #[test]
    fn logarithms_are_apart_by_at_most_their_bound(a in 1e-6..1.0f64, b in 1e-6..1.0f64) {
        let bound = log_distance_bound(a, b).unwrap().value;
        prop_assert!((a.ln() - b.ln()).abs() <= bound * (1.0 + 1e-12) + 1e-15);
    }

    /// Theorem 10 with the corrected factor: the entropy that is an embedding is off by no more.
    #[test]
    fn entropies_are_off_by_at_most_the_corrected_factor(
        raw in proptest::collection::vec(0.01..1.0f64, 2..6), shift in 0.01..0.9f64,
    ) {
        let total: f64 = raw.iter().sum();
        let truth: Vec<f64> = raw.iter().map(|p| p / total).collect();
        let k = truth.len() as f64;
        let estimate: Vec<f64> = truth.iter().map(|p| p + shift * (1.0 / k - p)).collect();
        let entropy = |p: &[f64]| p.iter().map(|p| -p * p.ln()).sum::<f64>();
        let distance =
            truth.iter().zip(&estimate).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let factor = entropy_factor(&truth, &estimate).unwrap().value;
        let off = (entropy(&truth) - entropy(&estimate)).abs();
        prop_assert!(off <= factor * distance * (1.0 + 1e-12) + 1e-14);
    }
}

#[test]
fn arguments_out_of_range_are_refused_by_name() {
    let said = |error: mercer_theory::TheoryError| error.to_string();
    for epsilon in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        assert!(said(loss_multiplier(epsilon).unwrap_err()).starts_with("`epsilon`"));
        let clipped = clipped_risk(0.1, 0.1, epsilon, 10, 0.05).unwrap_err();
        assert!(said(clipped).starts_with("`epsilon`"));
    }
    assert!(said(embedding_risk(-0.1, 0.1, 10, 0.05).unwrap_err()).starts_with("`loss`"));
    assert!(said(embedding_risk(0.1, f64::NAN, 10, 0.05).unwrap_err()).starts_with("`complexity`"));
    assert!(said(embedding_risk(0.1, 0.1, 0, 0.05).unwrap_err()).starts_with("`rows`"));
    assert!(said(embedding_risk(0.1, 0.1, 10, 1.0).unwrap_err()).starts_with("`beta`"));
    assert!(said(embedding_rate(10, 0.0).unwrap_err()).starts_with("`lambda`"));
    assert!(said(log_distance_bound(0.0, 1.0).unwrap_err()).starts_with("`first`"));
    assert!(said(entropy_factor(&[], &[]).unwrap_err()).contains("truth"));
    assert!(said(entropy_factor(&[0.5, 0.5], &[0.5]).unwrap_err()).contains("estimate"));
    for truth in [[7.0, 3.0], [0.7, 0.7]] {
        let refused = said(entropy_factor(&truth, &[0.5, 0.5]).unwrap_err());
        assert!(
            refused.contains("`sum of truth`") && refused.contains("probabilities"),
            "{refused}"
        );
    }
    assert!(said(entropy_factor(&[0.5, 0.0], &[0.5, 0.5]).unwrap_err()).contains("truth"));
}
