//! Elementwise sine, cosine and exponential over 64 Ki numbers of either precision.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mercer_linalg::{cos, exp, sin_cos};
use std::hint::black_box;

fn elementary(criterion: &mut Criterion) {
    const N: usize = 65_536;
    let x: Vec<f32> = (0..N).map(|i| (i as f32 - 32_768.0) * 1e-3).collect();
    let (mut a, mut b) = (vec![0.0; N], vec![0.0; N]);
    let mut group = criterion.benchmark_group("elementary-64Ki-f32");
    group.throughput(Throughput::Elements(N as u64));
    group.bench_function("cos", |bencher| bencher.iter(|| cos(black_box(&x), &mut a)));
    group.bench_function("sin_cos", |bencher| {
        bencher.iter(|| sin_cos(black_box(&x), &mut a, &mut b));
    });
    group.bench_function("exp", |bencher| bencher.iter(|| exp(black_box(&x), &mut a)));
    group.bench_function("cos-standard-library", |bencher| {
        bencher.iter(|| {
            for (a, x) in a.iter_mut().zip(black_box(&x)) {
                *a = x.cos();
            }
        });
    });
    group.finish();
}

fn double(criterion: &mut Criterion) {
    const N: usize = 65_536;
    let x: Vec<f64> = (0..N).map(|i| (i as f64 - 32_768.0) * 1e-3).collect();
    let (mut a, mut b) = (vec![0.0; N], vec![0.0; N]);
    let mut group = criterion.benchmark_group("elementary-64Ki-f64");
    group.throughput(Throughput::Elements(N as u64));
    group.bench_function("cos", |bencher| bencher.iter(|| cos(black_box(&x), &mut a)));
    group.bench_function("sin_cos", |bencher| {
        bencher.iter(|| sin_cos(black_box(&x), &mut a, &mut b));
    });
    group.bench_function("exp", |bencher| bencher.iter(|| exp(black_box(&x), &mut a)));
    group.finish();
}

criterion_group!(benches, elementary, double);
criterion_main!(benches);
