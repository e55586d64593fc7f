//! The objective of conditional mean embeddings with its gradient. Beside it stands the factorisation that it cannot do
//! without.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mercer_kernels::Covariance;
use mercer_linalg::Cholesky;
use mercer_models::mce::{Explicit, Form, Implicit, Objective};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

/// As the program has it: pages of large matrices are part of a time.
#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// Rows, columns and classes: segment, and 5000 images with one length scale a pixel.
const SHAPES: [(usize, usize, usize); 2] = [(2000, 20, 7), (5000, 784, 10)];

fn rows(n: usize, d: usize, classes: u32) -> (Array2<f64>, Vec<u32>) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let x = Array2::from_shape_simple_fn((n, d), || rng.gen_range(0.0..1.0));
    let y = (0..n).map(|_| rng.gen_range(0..classes)).collect();
    (x, y)
}

fn implicit(criterion: &mut Criterion) {
    let objective = Objective { form: Form::Sum, ..Objective::default() };
    for (n, d, classes) in SHAPES {
        let (x, y) = rows(n, d, classes as u32);
        let lengths = vec![(d as f64 / 6.0).sqrt(); d];
        let kernel = Covariance::Gaussian { scale: 1.0, lengths };
        let lambda = 1e-3;
        let mut group = criterion.benchmark_group(format!("embedding-n{n}-d{d}"));
        group.sample_size(10);
        let mut memory = Array2::zeros((n, n));
        group.bench_function("objective-and-gradient", |bencher| {
            bencher.iter(|| {
                let now = std::mem::take(&mut memory);
                let embedding = Implicit::in_memory(&kernel, x.view(), &y, classes, lambda, now)
                    .expect("λ > 0");
                let gradient = embedding.gradient(&objective, None).expect("a factor");
                memory = embedding.into_memory();
                black_box(gradient.value.objective)
            });
        });
        let mut matrix = kernel.gram(x.view());
        matrix.diag_mut().mapv_inplace(|entry| entry + n as f64 * lambda);
        let mut memory = matrix.clone();
        group.bench_function("factorisation-alone", |bencher| {
            bencher.iter(|| {
                // The copy stands for the Gram matrix that would be there.
                let mut now = std::mem::take(&mut memory);
                now.assign(&matrix);
                let factor = Cholesky::factor(now).expect("positive definite");
                black_box(factor.log_determinant());
                memory = factor.into_memory();
            });
        });
        group.bench_function("gram-alone", |bencher| {
            bencher.iter(|| kernel.gram_into(x.view(), memory.view_mut()));
        });
        group.finish();
    }
}

fn explicit(criterion: &mut Criterion) {
    let objective = Objective { form: Form::Sum, ..Objective::default() };
    let mut group = criterion.benchmark_group("embedding-explicit");
    group.sample_size(20);
    for (n, p) in [(2000, 32), (6000, 1024)] {
        let (z, y) = rows(n, p, 10);
        group.bench_function(BenchmarkId::new(format!("n{n}"), p), |bencher| {
            bencher.iter(|| {
                let embedding = Explicit::new(z.view(), &y, 10, 0.1).expect("λ > 0");
                black_box(embedding.gradient(&objective, None).expect("a factor").value.objective)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, implicit, explicit);
criterion_main!(benches);
