//! Times one way of learning a kernel from pairs and prints one JSON line: processor seconds on one
//! thread, wall-clock seconds, and the largest memory that the process held.
//!
//! `pairs CASE`, one of those that `pairs` without one lists. One case a process, so that the memory is
//! that case's.

use mercer_kernels::{GaussianHyper, HyperKernel, Pairs, total_variance};
use mercer_learning::Fitting;
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairSvr, PairTarget};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// Name, points and inputs.
const CASES: [(&str, usize, usize); 8] = [
    ("cholesky-108", 108, 13),
    ("conjugate-gradients-276", 276, 13),
    ("conjugate-gradients-552", 552, 13),
    ("conjugate-gradients-1600", 1600, 13),
    ("svr-108", 108, 13),
    ("gram-108", 108, 13),
    ("all-pairs-49990", 49_990, 22),
    ("all-pairs-232405", 232_405, 54),
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(&(name, rows, inputs)) = CASES.iter().find(|case| case.0 == name) else {
        for (name, ..) in CASES {
            eprintln!("{name}");
        }
        return ExitCode::from(2);
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let x = Array2::from_shape_simple_fn((rows, inputs), || rng.gen_range(0.0..1.0));
    let (start, ran) = (Instant::now(), processor_seconds());
    let facts = run(name, x.view());
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

/// The work of a case: the ridge 1e-3, `σ_h² = σ²` the total variance, and a bent plane between two classes.
fn run(name: &str, x: ArrayView2<'_, f64>) -> std::collections::BTreeMap<String, f64> {
    let side = |x: ndarray::ArrayView1<'_, f64>| x[0] + x[1] * x[1] > 0.8;
    let labels: Vec<u32> = x.rows().into_iter().map(|x| u32::from(side(x))).collect();
    let variance = total_variance(x);
    let gaussian = GaussianHyper::constructed(variance, variance).expect("points that differ");
    let hyper = HyperKernel::Gaussian(gaussian);
    let target = PairTarget::classes(&labels, 1.0, -1.0).expect("two values");
    let fitting = Fitting::seeded(1);
    let usual = PairRidge { lambda: 1e-3, tolerance: 1e-6, ..PairRidge::default() };
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
            rank: 1000,
            ..usual
        },
    };
    ridge.learn(&hyper, x, &target, &fitting).expect("finite numbers").facts
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
