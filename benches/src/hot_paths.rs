//! The hot paths, at sizes of milliseconds: valgrind counts their instructions, criterion times them.

use crate::sample;
use mercer_kernels::{
    Covariance, FeatureMapParams, GaussianHyper, HyperKernel, Kernel, Map, PairOperator, Pairs,
};
use mercer_learning::{Fitting, Settings, find};
use mercer_linalg::{
    Cholesky, RidgePath, SymmetricOperator, WorkerPool, cos, exp, sin_cos, symmetric_eigen,
    symmetric_product,
};
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
use mercer_models::mce::{Explicit, Implicit, Objective};
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Initialisation, Last, Network};
use mercer_solvers::{Dual, InteriorPoint, Precomputed, Smo, Threshold};
use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

/// The measured work of a hot path, any number of times.
type Work = Box<dyn FnMut()>;

/// A piece of work that fits and predictions spend their time in.
#[derive(Debug)]
pub struct HotPath {
    /// The crate that the path belongs to, without `mercer-`: criterion's group.
    pub package: &'static str,
    /// Its name in `counts.toml`, and criterion's name in the group.
    pub name: &'static str,
    prepare: fn() -> Work,
}

impl HotPath {
    /// Returns criterion's name of it.
    ///
    /// ```
    /// assert_eq!(mercer_benches::HOT_PATHS[0].id(), "linalg/cosine");
    /// ```
    pub fn id(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// Makes the inputs, and returns the work on them.
    ///
    /// ```
    /// let mut work = mercer_benches::HOT_PATHS[0].prepare();
    /// work();
    /// ```
    pub fn prepare(&self) -> Work {
        (self.prepare)()
    }
}

const fn path(package: &'static str, name: &'static str, prepare: fn() -> Work) -> HotPath {
    HotPath { package, name, prepare }
}

/// All hot paths, in the order of their crates.
pub const HOT_PATHS: &[HotPath] = &[
    path("linalg", "cosine", cosine),
    path("linalg", "sine-and-cosine", sine_and_cosine),
    path("linalg", "exponential", exponential),
    path("linalg", "symmetric-product", gram_of_features),
    path("linalg", "cholesky", cholesky),
    path("linalg", "eigen", eigen),
    path("linalg", "ridge-path", ridge_path),
    path("kernels", "features", features),
    path("kernels", "gram", gram),
    path("kernels", "hyper-gram", hyper_gram),
    path("kernels", "pair-product", pair_product),
    path("solvers", "support-vectors", support_vectors),
    path("solvers", "interior-points", interior_points),
    path("solvers", "thresholding", thresholding),
    path("networks", "network-step", network_step),
    path("networks", "convolution-step", convolution_step),
    path("models", "training-steps", training_steps),
    path("models", "all-pairs", all_pairs),
    path("models", "embedding", embedding),
    path("models", "explicit-embedding", explicit_embedding),
];

/// Paths that reach unsafe places with two threads alone. They are watched in memory, neither counted nor timed.
pub const OF_TWO_THREADS: &[HotPath] = &[
    path("linalg", "crew-of-two", crew_of_two),
    path("networks", "network-of-two", network_of_two),
    path("models", "training-of-two", training_of_two),
];

/// Work whose result is made, and thrown away.
fn work<T>(mut run: impl FnMut() -> T + 'static) -> Work {
    Box::new(move || {
        black_box(run());
    })
}

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

const NUMBERS: usize = 16_384;

fn numbers() -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let x = (0..NUMBERS).map(|i| (i as f32 - 8192.0) * 1e-3).collect();
    (x, vec![0.0; NUMBERS], vec![0.0; NUMBERS])
}

fn cosine() -> Work {
    let (x, mut a, _) = numbers();
    work(move || cos(black_box(&x), &mut a))
}

fn sine_and_cosine() -> Work {
    let (x, mut a, mut b) = numbers();
    work(move || sin_cos(black_box(&x), &mut a, &mut b))
}

fn exponential() -> Work {
    let (x, mut a, _) = numbers();
    work(move || exp(black_box(&x), &mut a))
}

fn features() -> Work {
    let x = random(256, 16, 1);
    let params =
        FeatureMapParams { map: Map::Stationary, features: 512, std: 0.3, std_prime: None };
    let map = params.draw(16, &mut ChaCha8Rng::seed_from_u64(2)).expect("valid settings");
    work(move || map.features(black_box(x.view())))
}

/// Sixteen steps of ASKL at a batch of 32, set-up included: it is the same every time.
fn training_steps() -> Work {
    train(1)
}

/// The same by a team: barriers, and rows dealt out.
fn training_of_two() -> Work {
    train(2)
}

fn train(threads: usize) -> Work {
    let sample = sample(512, 16, 10, 3);
    let settings = Settings::new()
        .with("features", 256)
        .with("epochs", 1.0)
        .with("std", 0.25)
        .with("loss", "cross-entropy")
        .with("rate", 1e-3);
    let learner = find(mercer_models::askl::METHODS, "askl")
        .and_then(|method| method.learner(&settings, sample.task()))
        .expect("a method with these settings");
    work(move || {
        let mut fitting = Fitting { threads, ..Fitting::seeded(1) };
        learner.fit(&sample, &mut fitting).map(|_| ()).expect("a fit");
    })
}

fn gram() -> Work {
    let x = random(512, 16, 4);
    let kernel = Kernel::Gaussian { std: 0.5 };
    work(move || kernel.gram(black_box(x.view())))
}

fn gram_of_features() -> Work {
    let phi = random(1024, 192, 5);
    work(move || symmetric_product(black_box(phi.view())))
}

fn positive(n: usize) -> Array2<f64> {
    symmetric_product(random(2 * n, n, 6).view())
}

/// In the memory of the last factor, to which the matrix is copied.
fn cholesky() -> Work {
    let matrix = positive(256);
    let mut memory = matrix.clone();
    work(move || {
        let mut now = std::mem::take(&mut memory);
        now.assign(black_box(&matrix));
        memory = Cholesky::factor(now).expect("positive definite").into_memory();
    })
}

fn eigen() -> Work {
    let matrix = positive(128);
    work(move || symmetric_eigen(black_box(matrix.view())).expect("finite"))
}

fn ridge_path() -> Work {
    let (phi, y) = (random(512, 96, 7), random(512, 4, 8));
    work(move || {
        let path = RidgePath::new(black_box(phi.view()), y.view()).expect("finite");
        path.leave_one_out_errors(&[1e-4, 1e-2, 1.0]).expect("ridges")
    })
}

fn interior_points() -> Work {
    let features = random(1024, 24, 11);
    let targets: Array1<f64> = features.rows().into_iter().map(|row| row[0] * row[1]).collect();
    let dual = Dual::regression(targets.view(), 0.1, 1.0).expect("finite");
    let solver = InteriorPoint::default();
    work(move || solver.solve(black_box(features.view()), &dual).expect("finite"))
}

fn support_vectors() -> Work {
    let x = random(256, 4, 9);
    let gram = Kernel::Gaussian { std: 0.7 }.gram(x.view());
    let signs: Vec<bool> = x.rows().into_iter().map(|row| row[0] * row[1] > 0.0).collect();
    let dual = Dual::classification(&signs, 1.0).expect("both classes");
    work(move || {
        let kernel = Precomputed::new(gram.view()).expect("square");
        Smo::default().solve(black_box(&kernel), &dual).expect("finite")
    })
}

fn thresholding() -> Work {
    let w = random(1024, 26, 10);
    let threshold = Threshold { tau: 1e-3, clip: true };
    work(move || threshold.apply(black_box(w.view())).expect("finite"))
}

/// Points in a cube, and a hyper-kernel of their scale.
fn pairs_of_points(rows: usize) -> (Array2<f64>, GaussianHyper) {
    (random(rows, 13, 11), GaussianHyper::constructed(4.0, 4.0).expect("positive"))
}

fn hyper_gram() -> Work {
    let (x, hyper) = pairs_of_points(32);
    let (kernel, pairs) = (HyperKernel::Gaussian(hyper), Pairs::all(32));
    work(move || kernel.gram(black_box(x.view()), &pairs, 1))
}

fn pair_product() -> Work {
    let (x, hyper) = pairs_of_points(64);
    let operator = PairOperator::new(&hyper, x.view(), 1);
    let v = Array2::ones((operator.size(), 1));
    work(move || operator.apply(black_box(v.view())))
}

/// Steps of 64 and of 96 columns: the second adds to the first.
fn all_pairs() -> Work {
    let (x, hyper) = pairs_of_points(600);
    let labels: Vec<u32> = x.rows().into_iter().map(|row| u32::from(row[0] > 0.5)).collect();
    let (solver, landmarks) = (PairSolver::LinearTime, Some(6));
    let usual = PairRidge::default();
    let ridge = PairRidge { solver, landmarks, rank: 96, solution_tolerance: Some(1e-12), ..usual };
    let kernel = HyperKernel::Gaussian(hyper);
    work(move || {
        let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
        ridge.learn(&kernel, black_box(x.view()), &target, &Fitting::seeded(1)).expect("finite")
    })
}

fn classes(rows: usize) -> Vec<u32> {
    (0..rows).map(|row| (row % 4) as u32).collect()
}

fn embedding() -> Work {
    let (x, y) = (random(256, 8, 12), classes(256));
    let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.5; 8] };
    let objective = Objective::default();
    work(move || {
        let embedding = Implicit::new(&kernel, black_box(x.view()), &y, 4, 1e-3).expect("λ > 0");
        embedding.gradient(&objective, None).map(|_| ()).expect("a factor");
    })
}

fn explicit_embedding() -> Work {
    let (z, y) = (random(512, 96, 13), classes(512));
    let objective = Objective::default();
    work(move || {
        let embedding = Explicit::new(black_box(z.view()), &y, 4, 1e-3).expect("λ > 0");
        embedding.gradient(&objective, None).map(|_| ()).expect("a factor");
    })
}

/// Items that own memory, made on one thread, grown on either and read on the first; a panic on the way.
fn crew_of_two() -> Work {
    work(|| {
        let mut crew = WorkerPool::new(2);
        let mut items: Vec<Vec<usize>> = vec![Vec::new(); 64];
        for round in 0..20 {
            crew.for_each(&mut items, |index, item| item.push(index + round));
        }
        assert!(items.iter().all(|item| item.len() == 20), "every item once a round");
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            crew.for_each(&mut items, |index, item| {
                item.clear();
                assert_ne!(index, 40, "a panic is passed on");
            });
        }));
        assert!(panic.is_err(), "the panic was lost");
        crew.for_each(&mut items, |index, item| *item = vec![index; 8]);
        assert_eq!(items.iter().flatten().sum::<usize>(), 8 * (63 * 64 / 2));
    })
}

/// Features and their gradient of a batch.
fn network_step() -> Work {
    dense(1)
}

fn network_of_two() -> Work {
    dense(2)
}

fn dense(threads: usize) -> Work {
    let params = FullyConnectedParams { inputs: 19, widths: vec![96, 32], last: Last::Rectified };
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let net = params.draw(&Initialisation::FanIn, threads, &mut rng).expect("a network");
    step(net, 512, &mut rng)
}

/// The same of a network on images.
fn convolution_step() -> Work {
    let params = ConvolutionalParams {
        height: 12,
        width: 12,
        filters: vec![8],
        features: 32,
        ..ConvolutionalParams::default()
    };
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let net = params.draw(&Initialisation::FanIn, 1, &mut rng).expect("a network");
    step(net, 64, &mut rng)
}

fn step(mut net: impl Network<f32> + 'static, rows: usize, rng: &mut ChaCha8Rng) -> Work {
    let mut random =
        |columns| Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0f32));
    let (x, g) = (random(net.inputs()), random(net.outputs()));
    work(move || {
        net.forward(black_box(x.view()));
        net.backward(x.view(), g.view());
    })
}
