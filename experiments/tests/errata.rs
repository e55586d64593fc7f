//! Errors in print are shown by tests: those that the artefacts name are there, and two of them stand here.

use mercer_kernels::{Kernel, std_of_bandwidth};
use mercer_linalg::symmetric_eigen;
use mercer_theory::{RidgeCondition, effective_ridge};
use ndarray::{Array2, array};
use std::path::Path;

/// The tests that lines `shown-by` name and that are not there, or are no tests.
fn unfounded(text: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let artefact: toml::Table = text.parse().unwrap();
    let errata =
        artefact.get("erratum").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let shown_by = errata.iter().flat_map(|own| own["shown-by"].as_array().unwrap().clone());
    let named = shown_by.map(|test| test.as_str().unwrap().to_owned());
    named
        .filter(|named| {
            let (file, test) = named.split_once(' ').unwrap();
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            let before = text.split(&format!("fn {test}(")).next().unwrap_or_default();
            before.len() == text.len() || !before.contains("#[test]")
        })
        .collect()
}

#[test]
fn every_test_that_an_erratum_names_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artefacts");
    let mut named = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        named += text.matches("shown-by").count();
        assert_eq!(unfounded(&text), [""; 0]);
    }
    assert!(named > 50, "{named}");
    let stranger = "[[erratum]]\nshown-by = [\"experiments/src/lib.rs no_such_test\"]";
    assert_eq!(unfounded(stranger), ["experiments/src/lib.rs no_such_test"]);
}

#[test]
fn of_gaussian_kernels_the_trace_is_one_and_the_effective_ridge_is_not() {
    let x = Array2::from_shape_fn((12, 2), |(i, j)| {
        ((5 * i + 3 * j) % 7) as f64 / 3.0 + i as f64 / 50.0
    });
    let [narrow, wide] = [2.0, 0.5].map(|std| Kernel::Gaussian { std }.gram(x.view()));
    for gram in [&narrow, &wide] {
        assert!((gram.diag().sum() - 12.0).abs() < 1e-12);
    }
    let ridge = |gram: &Array2<f64>| {
        let values = symmetric_eigen(gram.view()).unwrap().values;
        effective_ridge(values.as_slice().unwrap(), 4, RidgeCondition::Features).unwrap().lambda
    };
    assert!(ridge(&narrow) > 2.0 * ridge(&wide), "{} {}", ridge(&narrow), ridge(&wide));
}

/// The σ² = 100 of the text, read by its first convention, is the k = 0.1 of the code; by its second it would
/// be k = 10.
#[test]
fn three_conventions_name_one_kernel() {
    let variance = 100.0_f64;
    let (x, z) = (array![0.5, -1.0, 2.0], array![3.0, 0.5, -1.0]);
    let apart: f64 = (&x - &z).mapv(|gap| gap * gap).sum();
    let code = |std: f64| Kernel::Gaussian { std }.of(x.view(), z.view());
    let first = (-apart / (2.0 * variance)).exp();
    let second = |variance: f64| (-variance * apart / 2.0).exp();
    assert!((std_of_bandwidth(variance.sqrt()) - 0.1).abs() < 1e-15);
    assert!((code(0.1) - first).abs() < 1e-14);
    assert!((second(0.01) - first).abs() < 1e-14);
    assert!((code(10.0) - second(variance)).abs() < 1e-14 && second(variance) < 1e-300);
}
