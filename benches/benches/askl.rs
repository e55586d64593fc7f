//! The training step of ASKL, singular value thresholding, and prediction.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mercer_benches::{sample, step_times};
use mercer_learning::{Fitting, Settings, find};
use mercer_models::askl::METHODS;
use mercer_solvers::{Shrinkage, Threshold};
use ndarray::Array2;
use std::hint::black_box;
use std::time::Duration;

/// The papers' two extremes: MNIST and letter.
const SHAPES: [(usize, usize); 2] = [(784, 10), (16, 26)];

fn training_step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("askl-step");
    group.sample_size(10);
    for (d, k) in SHAPES {
        for threads in [1, 2] {
            let id = BenchmarkId::new(format!("d{d}-k{k}"), format!("{threads}-threads"));
            group.bench_function(id, |bencher| {
                // A fit is timed from inside, step by step, so that its set-up does not count.
                bencher.iter_custom(|steps| {
                    let times = step_times("askl", d, k, 2000, threads, steps as usize, 1);
                    Duration::from_secs_f64(times.iter().take(steps as usize).sum())
                });
            });
        }
    }
    group.finish();
}

fn thresholding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("thresholding-2000");
    for k in [10, 26] {
        let w = Array2::from_shape_fn((2000, k), |(i, j)| ((i * k + j) as f64 * 0.77).sin());
        let gram: Vec<f64> = w.t().dot(&w).iter().copied().collect();
        let threshold = Threshold { tau: 1e-5, clip: true };
        let mut shrinkage = Shrinkage::new(k);
        group.bench_function(BenchmarkId::new("plan-from-gram", k), |bencher| {
            bencher.iter(|| {
                let plan = shrinkage.plan(black_box(&gram), 2000, 1e-7, 1e-6, threshold);
                plan.map(|removed| removed[0])
            });
        });
        group.bench_function(BenchmarkId::new("whole", k), |bencher| {
            bencher.iter(|| threshold.apply(black_box(w.view())).expect("finite"));
        });
        group.bench_function(BenchmarkId::new("whole-by-svd", k), |bencher| {
            bencher.iter_batched(
                || w.view(),
                |w| mercer_linalg::thin_svd(w).expect("finite"),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn prediction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("askl-prediction");
    group.sample_size(20);
    for (d, k) in SHAPES {
        let rows = 4096;
        let data = sample(rows, d, k, 3);
        let settings = Settings::new().with("epochs", 0.01).with("std", 0.1);
        let learner = find(METHODS, "askl").and_then(|m| m.learner(&settings, data.task()));
        let learner = learner.expect("a method with these settings");
        let fitted = learner.fit(&data, &mut Fitting::seeded(1)).expect("a fit");
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(format!("d{d}-k{k}"), |bencher| {
            bencher.iter(|| fitted.predictor.decision(black_box(data.inputs())));
        });
    }
    group.finish();
}

criterion_group!(benches, training_step, thresholding, prediction);
criterion_main!(benches);
