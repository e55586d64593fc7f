//! The costs that the papers claim:
//! - O(m⁶), O(m²M⁴) and O(m²M⁴/v) of learning a kernel from pairs;
//! - O(MbT), O(nM) and O(nMdT/s) of stochastic gradients;
//! - O(n³), O(nM² + M³) and `O(n_b³)` of the closed forms.
//!
//! The series are the same as on the page `complexity/exponents`. The page of performance draws the five times of each
//! on logarithmic axes, and fits a slope. Ten samples of a large size can be a minute.

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use mercer_benches::claim_group;
use mercer_experiments::{Scaling, claimed_costs};
use mercer_harness::program_seconds;
use ndarray::Array2;
use std::hint::black_box;
use std::time::Duration;

/// Processor seconds of a product of the library on one thread: what the machine did, by the clock of the others.
fn product(criterion: &mut Criterion) {
    let matrix = Array2::from_shape_fn((512, 512), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
    let mut group = criterion.benchmark_group("claim-product");
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    group.bench_function("512", |bencher| {
        bencher.iter_custom(|runs| {
            let start = program_seconds().expect("a clock of the processor");
            for _ in 0..runs {
                black_box(matrix.dot(black_box(&matrix)));
            }
            let end = program_seconds().expect("a clock of the processor");
            Duration::from_secs_f64(end - start)
        });
    });
    group.finish();
}

fn claims(criterion: &mut Criterion) {
    for scaling in claimed_costs() {
        series(criterion, scaling);
    }
}

fn series(criterion: &mut Criterion, scaling: &Scaling) {
    let mut group = criterion.benchmark_group(claim_group(scaling));
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    for value in scaling.values {
        group.bench_function(BenchmarkId::from_parameter(value), |bencher| {
            // Processor seconds of the fit alone, as on the page: data are drawn outside.
            bencher.iter_custom(|runs| {
                (0..runs)
                    .map(|_| Duration::from_secs_f64((scaling.seconds)(value).expect("it fits")))
                    .sum()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, product, claims);
criterion_main!(benches);
