mod learning;
mod objective;

use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_kernels::{Covariance, Smoothness};
use mercer_learning::{Predictor, entropies};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

fn labels(rows: usize, classes: u32, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..rows).map(|_| rng.gen_range(0..classes)).collect()
}

fn objectives() -> Vec<Objective> {
    let mut all = Vec::new();
    for form in [Form::Sum, Form::Mean] {
        for sensitivity in [Sensitivity::Supremum, Sensitivity::One] {
            for weight in [0.0, 0.7, 4.0 * std::f64::consts::E] {
                all.push(Objective { form, weight, sensitivity, ..Objective::default() });
            }
        }
    }
    all
}

/// Central differences of two widths, combined so that their error is of fourth order: the
/// logarithm of a small probability bends too much for one.
fn difference(at: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    let h = 1e-4;
    (4.0 * central(h) - central(2.0 * h)) / 3.0
}

/// Random rows that lie apart by class, so that no probability is near 0.
fn apart(columns: usize, labels: &[u32], seed: u64) -> Array2<f64> {
    let mut rows = random(labels.len(), columns, seed) * 0.7;
    for (mut row, &label) in rows.rows_mut().into_iter().zip(labels) {
        row[label as usize] += 1.0;
    }
    rows
}

/// Eighteen rows of three kinds, each column in `[0, 1]`.
fn kinds() -> (Array2<f64>, Vec<u32>) {
    let hundredths = [
        [10, 21],
        [18, 12],
        [5, 30],
        [22, 25],
        [15, 5],
        [28, 18],
        [81, 20],
        [92, 11],
        [77, 31],
        [88, 26],
        [70, 15],
        [95, 5],
        [50, 90],
        [42, 81],
        [58, 77],
        [47, 95],
        [61, 88],
        [52, 70],
    ];
    let x = Array2::from_shape_fn((18, 2), |(i, j)| (f64::from(hundredths[i][j]) - 5.0) / 90.0);
    (x, (0..18).map(|i| i / 6).collect())
}

/// The golden values of the paper.
fn golden() -> toml::Table {
    include_str!("../../../../../experiments/golden/mce.toml").parse().unwrap()
}

fn numbers(block: &toml::Table, name: &str) -> Vec<f64> {
    block[name].as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect()
}

fn matrix(block: &toml::Table, name: &str) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = block[name]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect())
        .collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn classes_of(block: &toml::Table) -> Vec<u32> {
    block["labels"].as_array().unwrap().iter().map(|v| v.as_integer().unwrap() as u32).collect()
}

fn golden_close(found: f64, golden: f64) {
    assert_relative_eq!(found, golden, max_relative = 1e-8, epsilon = 1e-11);
}

fn blobs(rows: usize, classes: u32, seed: u64) -> mercer_learning::Sample {
    let y = labels(rows, classes, seed);
    mercer_learning::Sample::classification(apart(4, &y, seed), y, classes as usize).unwrap()
}

fn fitted(
    params: EmbeddingParams,
    sample: &mercer_learning::Sample,
) -> Result<mercer_learning::Outcome<Embedding>, LearningError> {
    params.checked()?.embed(sample, &mut mercer_learning::Fitting::seeded(1))
}
