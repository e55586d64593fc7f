//! The costs that the papers claim:
//! - O(m⁶), O(m²M⁴) and O(m²M⁴/v) of learning a kernel from pairs;
//! - O(MbT), O(nM) and O(nMdT/s) of stochastic gradients;
//! - O(n³), O(nM² + M³) and `O(n_b³)` of the closed forms.
//!
//! The series are the same as on the page `complexity/exponents`, at their smallest size and at their middle one.
//! Criterion watches that neither grows. The page fits its exponents to sizes up to four times as large, where ten
//! samples of some series would be minutes.

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
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
    let Scaling { method, variable, values: [smallest, _, middle, ..], .. } = scaling;
    // The name of a group is that of a folder.
    let mut group =
        criterion.benchmark_group(format!("claim-{}-in-{variable}", method.replace(' ', "-")));
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    for value in [smallest, middle] {
        group.bench_function(BenchmarkId::from_parameter(value), |bencher| {
            // Processor seconds of the fit alone, as on the page: data are drawn outside.
            bencher.iter_custom(|runs| {
                (0..runs)
                    .map(|_| Duration::from_secs_f64((scaling.seconds)(*value).expect("it fits")))
                    .sum()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, product, claims);
criterion_main!(benches);
