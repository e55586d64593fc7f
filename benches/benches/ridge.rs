//! Ridge paths and Gram matrices, each beside the products and decompositions that it cannot avoid.

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use mercer_kernels::{GaussianOperator, Kernel};
use mercer_linalg::{RidgePath, SymmetricOperator, product, symmetric_eigen, symmetric_product};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

/// As the program has it: pages of large matrices are part of a time.
#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

const ROWS: usize = 8192;
const FEATURES: usize = 2000;
const INPUTS: usize = 784;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

/// `AᵀA` by a product that does not know of the symmetry.
fn whole_product(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut gram = Array2::zeros((a.ncols(), a.ncols()));
    product(1.0, a.t(), a, 0.0, gram.view_mut());
    gram
}

fn ridge_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ridge-8192x2000");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let (phi, y) = (random(ROWS, FEATURES, 1), random(ROWS, 10, 2));
    let ridges: Vec<f64> = (0..20).map(|i| 10f64.powf(0.5 * f64::from(i) - 6.0)).collect();
    group.bench_function("product", |bencher| {
        bencher.iter(|| whole_product(black_box(phi.view())));
    });
    group.bench_function("symmetric-product", |bencher| {
        bencher.iter(|| symmetric_product(black_box(phi.view())));
    });
    let gram = symmetric_product(phi.view());
    group.bench_function("eigen", |bencher| {
        bencher.iter(|| symmetric_eigen(black_box(gram.view())).expect("finite"));
    });
    // Twenty solutions with the generalised cross-validation of each; then leave-one-out too.
    for leave_one_out in [false, true] {
        let name = if leave_one_out { "path-20-leave-one-out" } else { "path-20" };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let path = RidgePath::new(black_box(phi.view()), y.view()).expect("finite");
                let mut total = 0.0;
                for &ridge in &ridges {
                    total += path.solve(ridge).expect("a ridge")[[0, 0]];
                    total += path.generalised_cross_validation(ridge).expect("a ridge");
                }
                if leave_one_out {
                    let errors = path.leave_one_out_errors(&ridges).expect("ridges");
                    total += errors.iter().sum::<f64>();
                }
                total
            });
        });
    }
    group.finish();
}

fn gram(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gram-8192x784");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let x = random(ROWS, INPUTS, 3);
    let kernel = Kernel::Gaussian { std: 0.05 };
    group.bench_function("product-inside", |bencher| {
        bencher.iter(|| symmetric_product(black_box(x.t())));
    });
    group.bench_function("gaussian", |bencher| {
        bencher.iter(|| kernel.gram(black_box(x.view())));
    });
    let y = random(ROWS, 10, 4);
    for threads in [1, 2] {
        let operator = GaussianOperator::new(x.view(), 0.05, 0.1, threads);
        group.bench_function(format!("matrix-free-product-{threads}-threads"), |bencher| {
            bencher.iter(|| operator.apply(black_box(y.view())));
        });
    }
    group.finish();
}

criterion_group!(benches, ridge_path, gram);
criterion_main!(benches);
