//! Times one way of learning a kernel from pairs and prints one JSON line. It has processor seconds of the main thread,
//! which are all of them on one thread, wall-clock seconds, and the largest memory that the process held.
//!
//! `pairs CASE [BYTES [THREADS]]`, a case of those that `pairs` without one lists, of those in linear time the most
//! bytes of the two factors (1 GiB), and the threads (one). One case a process, so that the memory is that case's. Rows
//! are uniform in the unit cube, but for the cases of a dataset. These read it where `MERCER_DATA` says, scale its
//! training rows to the unit interval and learn with the settings that the committed records chose for it. Reading is
//! not timed.

use mercer_datasets::{Library, Scaler, Scaling, random_split};
use mercer_kernels::{GaussianHyper, HyperKernel, Pairs, total_variance};
use mercer_learning::Fitting;
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairSvr, PairTarget};
use ndarray::{Array2, ArrayView2, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// Name, points and inputs.
const CASES: [(&str, usize, usize); 12] = [
    ("cholesky-108", 108, 13),
    ("conjugate-gradients-276", 276, 13),
    ("conjugate-gradients-552", 552, 13),
    ("conjugate-gradients-1600", 1600, 13),
    ("svr-108", 108, 13),
    ("gram-108", 108, 13),
    ("all-pairs-49990", 49_990, 22),
    ("all-pairs-232405", 232_405, 54),
    ("ijcnn1", 49_990, 22),
    ("ijcnn1 small-ridge", 49_990, 22),
    ("covtype", 232_405, 54),
    ("covtype large-ridge", 232_405, 54),
];

/// What the tuner chose for a dataset: `σ²` over the total variance, `σ_h²` over `σ²`, and `λ`. The records are of
/// `hyper/all-pairs`, with 3000 and with 8000 rows in stage 2, and of `hyper/covtype`, in the first and in the third
/// repeat.
const CHOSEN: [(&str, [f64; 3]); 4] = [
    ("ijcnn1", [0.0921, 2.0, 0.0136]),
    ("ijcnn1 small-ridge", [0.0754, 1.0, 9.7e-5]),
    ("covtype", [0.0643, 4.0, 0.00333]),
    ("covtype large-ridge", [0.37, 0.5, 0.0663]),
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(&(name, rows, inputs)) = CASES.iter().find(|case| case.0 == name) else {
        for (name, ..) in CASES {
            eprintln!("{name}");
        }
        return ExitCode::from(2);
    };
    let chosen = CHOSEN.iter().find(|chosen| chosen.0 == name);
    let work = match chosen {
        Some((_, settings)) => match of_dataset(name, rows, settings) {
            Ok(work) => work,
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        },
        None => made(rows, inputs),
    };
    let (start, ran) = (Instant::now(), processor_seconds());
    let facts = run(name, &work);
    let processor = processor_seconds().zip(ran).map(|(end, start)| end - start);
    let line = serde_json::json!({
        "case": name,
        "processor_seconds": processor,
        "wall_seconds": start.elapsed().as_secs_f64(),
        "peak_mb": peak_megabytes(),
        "facts": facts,
    });
    println!("{line}");
    ExitCode::SUCCESS
}

/// Points with their classes, and with what a kernel is learned from them.
struct Work {
    points: Array2<f64>,
    labels: Vec<u32>,
    width: f64,
    spread: f64,
    lambda: f64,
}

/// Uniform points, a bent plane between two classes, `σ_h² = σ²` the total variance, and the ridge 1e-3.
fn made(rows: usize, inputs: usize) -> Work {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let points = Array2::from_shape_simple_fn((rows, inputs), || rng.gen_range(0.0..1.0));
    let side = |x: ndarray::ArrayView1<'_, f64>| x[0] + x[1] * x[1] > 0.8;
    let labels = points.rows().into_iter().map(|x| u32::from(side(x))).collect();
    Work { points, labels, width: 1.0, spread: 1.0, lambda: 1e-3 }
}

/// The training rows of a dataset, official or 40 % at random, and its second class against the others.
fn of_dataset(name: &str, rows: usize, settings: &[f64; 3]) -> Result<Work, String> {
    let library = Library::discover(None).map_err(|error| error.to_string())?;
    let dataset = name.split(' ').next().unwrap_or(name);
    let dataset = library.load(dataset).map_err(|error| error.to_string())?;
    let all = dataset.parts.train.clone();
    let chosen: Vec<usize> = if dataset.parts.test.is_empty() {
        random_split(all.len(), 0.4, &mut ChaCha8Rng::seed_from_u64(1)).train
    } else {
        all.collect()
    };
    if chosen.len() != rows {
        return Err(format!("{} training rows instead of {rows}", chosen.len()));
    }
    let labels = dataset.sample.labels().ok_or("it has no classes")?;
    let labels = chosen.iter().map(|&row| u32::from(labels[row] == 1)).collect();
    let points = dataset.sample.inputs().select(Axis(0), &chosen);
    let points = Scaler::fit(Scaling::UnitInterval, points.view()).apply(points.view());
    let &[width, spread, lambda] = settings;
    Ok(Work { points, labels, width, spread, lambda })
}

/// The work of a case.
fn run(name: &str, work: &Work) -> std::collections::BTreeMap<String, f64> {
    let x: ArrayView2<'_, f64> = work.points.view();
    let variance = work.width * total_variance(x);
    let gaussian =
        GaussianHyper::constructed(variance, work.spread * variance).expect("points that differ");
    let hyper = HyperKernel::Gaussian(gaussian);
    let target = PairTarget::classes(&work.labels, 1.0, -1.0).expect("two values");
    let threads = std::env::args().nth(3).and_then(|told| told.parse().ok()).unwrap_or(1);
    let fitting = Fitting { threads, ..Fitting::seeded(1) };
    let usual = PairRidge { lambda: work.lambda, tolerance: 1e-6, ..PairRidge::default() };
    let ridge = match name {
        "gram-108" => {
            let pairs = Pairs::all(x.nrows());
            let entries = (pairs.len() * pairs.len()) as f64;
            // The machine gives memory out more slowly the first time: the median of five.
            let nanoseconds = |threads| {
                let mut times = [0.0; 5].map(|_: f64| {
                    let start = Instant::now();
                    std::hint::black_box(hyper.gram(x, &pairs, threads));
                    1e9 * start.elapsed().as_secs_f64() / entries
                });
                times.sort_by(f64::total_cmp);
                times[2]
            };
            return [
                ("entries".to_owned(), entries),
                ("nanoseconds an entry, 1 thread".to_owned(), nanoseconds(1)),
                ("nanoseconds an entry, 2 threads".to_owned(), nanoseconds(2)),
            ]
            .into();
        }
        "svr-108" => {
            let svr = PairSvr { cost: 1.0, epsilon: 0.1, tolerance: 1e-3, ..PairSvr::default() };
            return svr.learn(&hyper, x, &target, &fitting).expect("finite numbers").facts;
        }
        "cholesky-108" => PairRidge { solver: PairSolver::Cholesky, ..usual },
        _ if name.starts_with("conjugate") => {
            PairRidge { solver: PairSolver::ConjugateGradients, ..usual }
        }
        _ => PairRidge {
            solver: PairSolver::LinearTime,
            landmarks: Some(14),
            normal_tolerance: Some(0.01),
            solution_tolerance: Some(0.01),
            rank: 1000,
            factor_bytes: bytes().unwrap_or(usual.factor_bytes),
            ..usual
        },
    };
    ridge.learn(&hyper, x, &target, &fitting).expect("finite numbers").facts
}

/// The bytes that were asked for.
fn bytes() -> Option<u64> {
    std::env::args().nth(2)?.parse().ok()
}

/// Seconds that this thread has run, where the system tells (Linux).
fn processor_seconds() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * told.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// The most memory that the process held at once, where the system tells (Linux).
fn peak_megabytes() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = told.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024e-6)
}
