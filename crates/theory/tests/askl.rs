//! Golden block `askl-4`, and what must hold of the bounds whatever the numbers.

use approx::assert_relative_eq;
use mercer_theory::{
    TheoryError, askl_rate, enumerate_rademacher, excess_risk_first_term, find_calculator,
    rademacher_from_features, rademacher_from_frequencies, rademacher_from_trace,
    spectral_diagonals,
};
use ndarray::{Array2, ArrayView2, array};
use proptest::prelude::*;

fn golden() -> toml::Table {
    let all: toml::Table = include_str!("../../../experiments/golden/askl.toml").parse().unwrap();
    all["askl-4"].as_table().unwrap().clone()
}

fn number(table: &toml::Table, name: &str) -> f64 {
    table[name].as_float().unwrap()
}

fn matrix(table: &toml::Table, name: &str) -> Array2<f64> {
    let rows = table[name].as_array().unwrap();
    let row = |row: &toml::Value| -> Vec<f64> {
        row.as_array().unwrap().iter().map(|entry| entry.as_float().unwrap()).collect()
    };
    let entries: Vec<f64> = rows.iter().flat_map(row).collect();
    Array2::from_shape_vec((rows.len(), entries.len() / rows.len()), entries).unwrap()
}

/// `ψ(X)`, one row a point: `1/√(4D) [cos(Oᵀx) + cos(O'ᵀx); sin(Oᵀx) + sin(O'ᵀx)]`.
fn psi(o: ArrayView2<f64>, o_prime: ArrayView2<f64>, x: ArrayView2<f64>) -> Array2<f64> {
    let (u, v) = (x.dot(&o), x.dot(&o_prime));
    let features = o.ncols();
    let scale = 1.0 / f64::sqrt(4.0 * features as f64);
    Array2::from_shape_fn((x.nrows(), 2 * features), |(i, j)| {
        if j < features {
            scale * (u[[i, j]].cos() + v[[i, j]].cos())
        } else {
            let j = j - features;
            scale * (u[[i, j]].sin() + v[[i, j]].sin())
        }
    })
}

#[test]
fn golden_bound_rate_and_exact_averages() {
    let golden = golden();
    let (o, o_prime) = (matrix(&golden, "frequencies"), matrix(&golden, "frequencies-prime"));
    let x = matrix(&golden, "x");
    let (b, k) = (number(&golden, "trace-norm"), golden["outputs"].as_integer().unwrap() as usize);
    let close = |ours: f64, name: &str| {
        assert_relative_eq!(ours, number(&golden, name), max_relative = 1e-8);
    };

    let diagonals = spectral_diagonals(o.view(), o_prime.view(), x.view()).unwrap();
    let printed = golden["diagonals"].as_array().unwrap();
    assert_eq!(diagonals.len(), printed.len());
    for (ours, printed) in diagonals.iter().zip(printed) {
        assert_relative_eq!(*ours, printed.as_float().unwrap(), max_relative = 1e-8);
    }
    close(diagonals.sum(), "trace");

    let bound = rademacher_from_frequencies(b, k, o.view(), o_prime.view(), x.view()).unwrap();
    close(bound.value, "rademacher-from-frequencies");
    close(askl_rate(b, k, x.nrows()).unwrap().value, "rate");
    close(bound.term("rate").unwrap(), "rate");
    let first = excess_risk_first_term(2f64.sqrt(), bound.value, 1.0).unwrap();
    close(first.value, "excess-risk-first-term");
    assert_eq!(first.vacuous, Some(true));

    // For ψ the two forms of (11) are equal, not only in expectation.
    let features = psi(o.view(), o_prime.view(), x.view());
    let norms: Vec<f64> = features.rows().into_iter().map(|row| row.dot(&row)).collect();
    let from_features = rademacher_from_features(b, k, &norms).unwrap();
    assert_relative_eq!(from_features.value, bound.value, max_relative = 1e-12);

    let gram = features.dot(&features.t());
    let averages = enumerate_rademacher(b, k, gram.view()).unwrap();
    close(averages.spectral, "average-spectral-norm");
    close(averages.frobenius, "average-frobenius-norm");
}

#[test]
fn at_its_random_start_the_bound_is_fifty_times_the_loss() {
    let golden = golden();
    let (b, rows, features, outputs) = (number(&golden, "normal-trace-norm"), 54_000, 2000.0, 10);
    // All singular values of a tall normal matrix are near √D: ‖W‖_* is a little below K √D.
    assert_relative_eq!(b, outputs as f64 * f64::sqrt(features), max_relative = 0.01);
    let rate = askl_rate(b, outputs, rows).unwrap();
    let first = excess_risk_first_term(2f64.sqrt(), rate.value, 1.0).unwrap();
    assert_relative_eq!(first.value, number(&golden, "normal-first-term"), max_relative = 1e-3);
    assert_eq!(first.vacuous, Some(true));
    assert_eq!(excess_risk_first_term(1.0, 0.1, 1.0).unwrap().vacuous, Some(false));
}

#[test]
fn exact_averages_agree_with_sums_over_signed_features() {
    // K = 1: both norms are ‖Σ ε_i φ(x_i)‖; four patterns of three points, the first sign fixed.
    let phi = array![[1.0f64, 0.5], [-0.3, 0.8], [0.2, -0.9]];
    let mut sum = 0.0f64;
    for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
        let total = &phi.row(0) + &(&phi.row(1) * signs[0]) + &phi.row(2) * signs[1];
        sum += f64::sqrt(total.dot(&total));
    }
    let averages = enumerate_rademacher(2.0, 1, phi.dot(&phi.t()).view()).unwrap();
    assert_relative_eq!(averages.spectral, 2.0 / 3.0 * sum / 4.0, max_relative = 1e-12);
    assert_relative_eq!(averages.frobenius, averages.spectral, max_relative = 1e-12);
}

#[test]
fn arguments_out_of_range_are_named() {
    let range = |error: TheoryError| match error {
        TheoryError::Range { argument, .. } => argument,
        other => panic!("{other}"),
    };
    assert_eq!(range(askl_rate(-1.0, 2, 4).unwrap_err()), "trace_norm");
    assert_eq!(range(askl_rate(f64::NAN, 2, 4).unwrap_err()), "trace_norm");
    assert_eq!(range(askl_rate(1.0, 0, 4).unwrap_err()), "outputs");
    assert_eq!(range(askl_rate(1.0, 2, 0).unwrap_err()), "rows");
    assert_eq!(range(rademacher_from_trace(1.0, 2, 4, -1.0).unwrap_err()), "trace");
    assert_eq!(range(excess_risk_first_term(0.0, 1.0, 1.0).unwrap_err()), "lipschitz");
    assert_eq!(range(excess_risk_first_term(1.0, f64::INFINITY, 1.0).unwrap_err()), "rademacher");
    assert_eq!(range(excess_risk_first_term(1.0, 1.0, 0.0).unwrap_err()), "loss_range");
    assert!(matches!(rademacher_from_features(1.0, 1, &[]), Err(TheoryError::Empty { .. })));
    assert!(rademacher_from_features(1.0, 1, &[1.0, -1.0]).is_err());

    let (o, wide) = (Array2::zeros((2, 3)), Array2::zeros((3, 3)));
    let x = Array2::<f64>::zeros((4, 2));
    let shape = spectral_diagonals(o.view(), wide.view(), x.view()).unwrap_err();
    assert_eq!(shape.to_string(), "`frequencies_prime` is 3 x 3; it must be 2 x 3");
    let shape = spectral_diagonals(o.view(), o.view(), wide.view()).unwrap_err();
    assert_eq!(shape.to_string(), "`points` is 3 x 3; it must be 3 x 2");
    assert!(enumerate_rademacher(1.0, 1, o.view()).is_err());
    let many = enumerate_rademacher(1.0, 3, Array2::eye(7).view()).unwrap_err();
    assert!(many.to_string().contains("2^21"), "{many}");
    assert!(enumerate_rademacher(1.0, 1, array![[f64::NAN]].view()).is_err());
}

#[test]
fn counts_must_be_whole() {
    let rate = find_calculator("askl-rate").unwrap();
    for rows in [0.0, 2.5, -1.0, 1e300] {
        let inputs = [("trace-norm", 1.0), ("outputs", 1.0), ("rows", rows)].into();
        let error = rate.bound(&inputs).unwrap_err();
        assert!(matches!(error, TheoryError::Range { argument: "rows", .. }), "{error}");
    }
}

fn matrices() -> impl Strategy<Value = (Array2<f64>, Array2<f64>, Array2<f64>)> {
    let entries = |n| proptest::collection::vec(-3.0..3.0f64, n);
    (1usize..4, 1usize..5, 1usize..6).prop_flat_map(move |(d, features, n)| {
        let array = |rows, columns| {
            entries(rows * columns)
                .prop_map(move |v| Array2::from_shape_vec((rows, columns), v).unwrap())
        };
        (array(d, features), array(d, features), array(n, d))
    })
}

proptest! {
    #[test]
    fn the_bound_lies_between_the_exact_average_and_the_rate(
        (o, o_prime, x) in matrices(),
        b in 0.1..10.0f64,
        k in 1usize..3,
    ) {
        let bound = rademacher_from_frequencies(b, k, o.view(), o_prime.view(), x.view()).unwrap();
        let features = psi(o.view(), o_prime.view(), x.view());
        let exact = enumerate_rademacher(b, k, features.dot(&features.t()).view()).unwrap();
        let slack = 1.0 + 1e-9;
        prop_assert!(exact.spectral <= slack * exact.frobenius);
        prop_assert!(exact.frobenius <= slack * bound.value + 1e-12);
        prop_assert!(bound.value <= slack * bound.term("rate").unwrap());
        prop_assert!(bound.term("ratio to the rate").unwrap() <= slack);
    }

    #[test]
    fn diagonals_are_those_of_the_gram_matrix((o, o_prime, x) in matrices()) {
        let features = psi(o.view(), o_prime.view(), x.view());
        let diagonals = spectral_diagonals(o.view(), o_prime.view(), x.view()).unwrap();
        for (diagonal, row) in diagonals.iter().zip(features.rows()) {
            assert_relative_eq!(*diagonal, row.dot(&row), epsilon = 1e-12);
        }
    }

    #[test]
    fn more_rows_tighten_and_a_larger_class_loosens(
        b in 0.1..100.0f64,
        k in 1usize..50,
        n in 1usize..100_000,
        diagonal in 0.01..1.0f64,
    ) {
        let bound =
            |b, k, n: usize| rademacher_from_trace(b, k, n, diagonal * n as f64).unwrap().value;
        let here = bound(b, k, n);
        prop_assert!(bound(b, k, n + 1) < here);
        prop_assert!(bound(1.1 * b, k, n) > here);
        prop_assert!(bound(b, k + 1, n) > here);
        assert_relative_eq!(bound(2.0 * b, k, n), 2.0 * here, max_relative = 1e-12);
        assert_relative_eq!(bound(b, k, 4 * n), 0.5 * here, max_relative = 1e-12);
        let excess = |r| excess_risk_first_term(1.0, r, 1.0).unwrap().value;
        prop_assert!(excess(here) > here);
    }
}
