//! Power indices and operation counts of the hyper-RKHS paper.

use approx::assert_relative_eq;
use mercer_theory::{PairRegularity, pair_ridge_index, pair_ridge_operations, pair_svr_index};
use proptest::prelude::*;
use toml::{Table, Value};

fn golden() -> Table {
    let golden: Table = include_str!("../../../experiments/golden/hyper.toml").parse().unwrap();
    golden["hyper-4"].as_table().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn golden_power_indices() {
    let golden = golden();
    let (p, q) = (golden["p"].as_float().unwrap(), golden["q"].as_float().unwrap());
    let (limits, terms) = (numbers(&golden["svr-limits"]), rows(&golden["svr-terms"]));
    let (indices, rates) = (numbers(&golden["svr-indices"]), numbers(&golden["svr-rates"]));
    let (ridge_limits, ridge) = (numbers(&golden["krr-limits"]), numbers(&golden["krr-indices"]));
    // The table prints ten digits of some.
    for (row, given) in rows(&golden["problems"]).iter().enumerate() {
        let problem = PairRegularity { alpha: given[0], source: given[1], capacity: given[2] };
        let svr = pair_svr_index(problem, p, q, false).unwrap();
        assert_relative_eq!(svr.value, indices[row], max_relative = 1e-8);
        assert_relative_eq!(svr.term("Θ/q").unwrap(), rates[row], max_relative = 1e-8);
        assert_relative_eq!(svr.term("limit of α").unwrap(), limits[row], max_relative = 1e-8);
        assert_relative_eq!(svr.term("θ").unwrap(), 2.0 / 3.0, max_relative = 1e-15);
        for (name, value) in ["α r", "sample", "capacity"].iter().zip(&terms[row]) {
            assert_relative_eq!(svr.term(name).unwrap(), *value, max_relative = 1e-8);
        }
        assert_eq!(svr.vacuous, Some(false));
        let krr = pair_ridge_index(problem, false).unwrap();
        assert_relative_eq!(krr.value, ridge[row], max_relative = 1e-8);
        assert_relative_eq!(
            krr.term("limit of α").unwrap(),
            ridge_limits[row],
            max_relative = 1e-8
        );
    }
}

#[test]
fn golden_operation_counts() {
    let golden = golden();
    let of = |name: &str| golden[name].as_integer().unwrap();
    let count = |name: &str| of(name) as usize;
    let cost =
        pair_ridge_operations(count("points"), count("landmarks"), count("subsets")).unwrap();
    let wanted = [("m⁶", "exact"), ("m² M⁴", "nystrom"), ("m² M⁴/v", "divided")];
    for (term, name) in wanted {
        assert_relative_eq!(cost.term(term).unwrap(), of(name) as f64);
    }
    let factor = of("unordered-factor") as f64;
    assert_relative_eq!(cost.term("m⁶/8").unwrap() * factor, cost.term("m⁶").unwrap());
}

#[test]
fn the_claimed_rate_of_one_over_m_does_not_follow() {
    // "Rate 1/m for α ≥ 1/2": the best case of the printed index is below 1/2, and the bias alone,
    // of index α r/2 for the norm, is at most 1/2 at α = 1.
    let problem = |alpha, capacity| PairRegularity { alpha, source: 1.0, capacity };
    for alpha in [0.5, 0.75, 1.0] {
        assert!(pair_ridge_index(problem(alpha, 1e-6), false).unwrap().value <= 0.5);
        let squared = pair_ridge_index(problem(alpha, 1e-6), true).unwrap();
        assert!(squared.term("α r").unwrap() <= alpha);
    }
}

#[test]
fn the_limits_of_alpha_are_printed_beside_the_indices() {
    // r = 0.8, s = 0.5, p = q = 2 (θ = 2/3): (1 + s)/(s (2 + s − θ)) and (1 + s)/(s (2 + s)).
    let problem = PairRegularity { alpha: 0.6, source: 0.8, capacity: 0.5 };
    let svr = pair_svr_index(problem, 2.0, 2.0, false).unwrap();
    assert_relative_eq!(svr.term("θ").unwrap(), 2.0 / 3.0, max_relative = 1e-15);
    assert_relative_eq!(svr.term("limit of α").unwrap(), 18.0 / 11.0, max_relative = 1e-15);
    let krr = pair_ridge_index(problem, false).unwrap();
    assert_relative_eq!(krr.term("limit of α").unwrap(), 1.2, max_relative = 1e-15);
    assert_relative_eq!(krr.term("capacity").unwrap(), 0.2, max_relative = 1e-15);
    // Beyond the limit, 2/3 at s = 1, nothing is said.
    let beyond = PairRegularity { alpha: 0.7, source: 0.8, capacity: 1.0 };
    assert_eq!(pair_ridge_index(beyond, false).unwrap().vacuous, Some(true));
}

/// r = 0.8, s = 0.5, p = q = 2, so θ = 2/3: each index that the proofs give, by hand.
#[test]
fn the_consistent_indices_follow_from_the_proofs() {
    let problem = PairRegularity { alpha: 0.6, source: 0.8, capacity: 0.5 };
    let svr = pair_svr_index(problem, 2.0, 2.0, true).unwrap();
    // 1/(2 − 2/3) − 0.3 · 0.2, and 1/(2.5 − 2/3) − 0.15/1.5.
    let (sample, capacity) = (0.75 - 0.06, 6.0 / 11.0 - 0.1);
    for (name, value) in [("α r", 0.48), ("sample", sample), ("capacity", capacity)] {
        assert_relative_eq!(svr.term(name).unwrap(), value, max_relative = 1e-14);
    }
    assert_relative_eq!(svr.value, capacity, max_relative = 1e-14);
    assert_relative_eq!(svr.term("Θ/q").unwrap(), capacity / 2.0, max_relative = 1e-14);
    let krr = pair_ridge_index(problem, true).unwrap();
    // 1 + 0.48 − 0.6, and 0.7/1.5.
    for (name, value) in [("α r", 0.48), ("sample", 0.88), ("capacity", 7.0 / 15.0)] {
        assert_relative_eq!(krr.term(name).unwrap(), value, max_relative = 1e-14);
    }
    assert_relative_eq!(krr.value, 7.0 / 15.0, max_relative = 1e-14);
    assert_eq!((svr.vacuous, krr.vacuous), (Some(false), Some(false)));
    // No rate at all: (1 − α s)/(1 + s) is 0 at α s = 1, and below beyond.
    for capacity in [2.0, 3.0] {
        let none = PairRegularity { alpha: 0.5, source: 0.8, capacity };
        let index = pair_ridge_index(none, true).unwrap();
        assert_eq!((index.value, index.vacuous), (0.0, Some(true)));
    }
}

/// s = 4, p = q = 2, so θ = 2/3: the printed limit of α is 5/(4 · 16/3) = 0.234375; where the norm is
/// bounded by a square root, the capacity's index 1/(2 + s − θ) − α s/(2 (1 + s)) is 0 at twice that.
#[test]
fn the_limit_of_alpha_is_where_the_index_of_the_capacity_ends() {
    let index = |alpha, consistent| {
        let problem = PairRegularity { alpha, source: 0.8, capacity: 4.0 };
        pair_svr_index(problem, 2.0, 2.0, consistent).unwrap()
    };
    for (consistent, limit) in [(false, 0.234375), (true, 0.46875)] {
        let found = index(0.1, consistent).term("limit of α").unwrap();
        assert_relative_eq!(found, limit, max_relative = 1e-14);
        let (below, above) = (index(0.99 * limit, consistent), index(1.01 * limit, consistent));
        assert_eq!((below.vacuous, above.vacuous), (Some(false), Some(true)));
        assert!(below.term("capacity").unwrap() > 0.0 && above.term("capacity").unwrap() < 0.0);
    }
}

/// The theorem's p is in (0, ∞], its q in (1, ∞): without noise near the median θ = min(2/q, 1).
#[test]
fn the_noise_condition_may_have_infinite_p_and_wants_q_above_one() {
    let problem = PairRegularity { alpha: 0.3, source: 0.8, capacity: 0.5 };
    for (q, theta) in [(1.5, 1.0), (2.0, 1.0), (4.0, 0.5)] {
        let index = pair_svr_index(problem, f64::INFINITY, q, false).unwrap();
        assert_relative_eq!(index.term("θ").unwrap(), theta, max_relative = 1e-15);
    }
    let refused = |p, q| pair_svr_index(problem, p, q, false).unwrap_err().to_string();
    for (p, q) in [(f64::NAN, 2.0), (-1.0, 2.0), (0.0, 2.0), (f64::NEG_INFINITY, 2.0)] {
        assert!(refused(p, q).contains("`p`"), "{}", refused(p, q));
    }
    for q in [1.0, 0.5, f64::INFINITY, f64::NAN] {
        assert!(refused(2.0, q).contains("above 1 and finite"), "{}", refused(2.0, q));
    }
}

proptest! {
    #[test]
    fn the_consistent_indices_are_not_smaller_than_the_printed_ones(
        alpha in 0.01..1.0f64, source in 0.01..1.0f64, capacity in 0.001..5.0f64,
        p in 0.1..10.0f64, q in 1.001..10.0f64,
    ) {
        let problem = PairRegularity { alpha, source, capacity };
        let printed = pair_svr_index(problem, p, q, false).unwrap();
        let consistent = pair_svr_index(problem, p, q, true).unwrap();
        for name in ["sample", "capacity"] {
            prop_assert!(consistent.term(name).unwrap() >= printed.term(name).unwrap() - 1e-12);
        }
        prop_assert!(consistent.value >= printed.value - 1e-12);
    }
}
