//! Learning kernels from pairs: hyper-Gram blocks, exact solvers, all pairs in linear time, a tube.

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use mercer_kernels::{GaussianHyper, HyperKernel, PairOperator, Pairs, total_variance};
use mercer_learning::Fitting;
use mercer_linalg::SymmetricOperator;
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairSvr, PairTarget};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::time::Duration;

/// As the program has it: pages of large matrices are part of a time.
#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// Inputs as in the paper: in the unit cube, thirteen of them for the small sets.
fn points(rows: usize, inputs: usize) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Array2::from_shape_simple_fn((rows, inputs), || rng.gen_range(0.0..1.0))
}

/// Classes that a plane divides, with a bend.
fn labels(points: ArrayView2<'_, f64>) -> Vec<u32> {
    let side = |x: ndarray::ArrayView1<'_, f64>| x[0] + x[1] * x[1] > 0.8;
    points.rows().into_iter().map(|x| u32::from(side(x))).collect()
}

fn hyper(points: ArrayView2<'_, f64>) -> GaussianHyper {
    let variance = total_variance(points);
    GaussianHyper::constructed(variance, variance).expect("points that differ")
}

fn fitting(threads: usize) -> Fitting<'static> {
    Fitting { threads, ..Fitting::seeded(1) }
}

fn blocks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hyper-gram");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    // 108 points: 5886 pairs, 34.6 million entries, half of them computed.
    let x = points(108, 13);
    let (kernel, pairs) = (HyperKernel::Gaussian(hyper(x.view())), Pairs::all(108));
    for threads in [1, 2] {
        group.bench_function(format!("gram-108-{threads}-threads"), |bencher| {
            bencher.iter(|| kernel.gram(black_box(x.view()), &pairs, threads));
        });
        let sections = kernel.sections(x.view(), &pairs);
        group.bench_function(format!("block-108-{threads}-threads"), |bencher| {
            bencher.iter(|| sections.at(black_box(x.view()), &pairs, threads));
        });
    }
    // One product with the exact matrix over all pairs: m⁴/2 flops.
    for m in [276, 552] {
        let x = points(m, 13);
        let operator = PairOperator::new(&hyper(x.view()), x.view(), 2);
        let v = Array2::ones((operator.size(), 1));
        group.bench_function(format!("product-{m}-2-threads"), |bencher| {
            bencher.iter(|| operator.apply(black_box(v.view())));
        });
    }
    group.finish();
}

fn exact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hyper-krr");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .measurement_time(Duration::from_secs(5));
    for (m, solver, name) in [
        (108, PairSolver::Cholesky, "cholesky-108"),
        (108, PairSolver::ConjugateGradients, "conjugate-gradients-108"),
        (276, PairSolver::ConjugateGradients, "conjugate-gradients-276"),
        (552, PairSolver::ConjugateGradients, "conjugate-gradients-552"),
    ] {
        let x = points(m, 13);
        let kernel = HyperKernel::Gaussian(hyper(x.view()));
        let labels = labels(x.view());
        let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
        let ridge = PairRidge { solver, ..PairRidge::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                ridge.learn(&kernel, black_box(x.view()), &target, &fitting(2)).expect("finite")
            });
        });
    }
    group.finish();
}

fn linear(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hyper-krr-all-pairs");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .measurement_time(Duration::from_secs(5));
    // The sizes of ijcnn1 and of half of covtype.
    for (name, rows, inputs, rank) in [
        ("49990x22-rank-100", 49_990, 22, 100),
        ("49990x22-rank-200", 49_990, 22, 200),
        ("232405x54-rank-200", 232_405, 54, 200),
    ] {
        let x = points(rows, inputs);
        let kernel = HyperKernel::Gaussian(hyper(x.view()));
        let labels = labels(x.view());
        let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
        let ridge = PairRidge {
            solver: PairSolver::LinearTime,
            landmarks: Some(14),
            rank,
            rank_tolerance: 1e-6,
            ..PairRidge::default()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                ridge.learn(&kernel, black_box(x.view()), &target, &fitting(2)).expect("finite")
            });
        });
    }
    group.finish();
}

fn tube(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hyper-svr");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .measurement_time(Duration::from_secs(5));
    let x = points(108, 13);
    let kernel = HyperKernel::Gaussian(hyper(x.view()));
    let labels = labels(x.view());
    let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
    group.bench_function("108", |bencher| {
        let svr = PairSvr::default();
        bencher.iter(|| {
            svr.learn(&kernel, black_box(x.view()), &target, &fitting(1)).expect("finite")
        });
    });
    // Beyond all pairs: the pairs of twenty landmarks, twenty thousand pairs drawn of sixteen million.
    let x = points(4000, 13);
    let kernel = HyperKernel::Gaussian(hyper(x.view()));
    let labels = self::labels(x.view());
    let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
    for cost in [1e-6, 1e-2] {
        group.bench_function(format!("4000-cost-{cost}"), |bencher| {
            let svr = PairSvr { cost, ..PairSvr::default() };
            bencher.iter(|| {
                svr.learn(&kernel, black_box(x.view()), &target, &fitting(1)).expect("finite")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, blocks, exact, linear, tube);
criterion_main!(benches);
