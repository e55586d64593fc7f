//! One closed form, timed: `closed cholesky|ridge --n N --threads T [--rounds R] [--out FILE]`.
//!
//! `cholesky` factors a Gaussian kernel matrix plus the identity; `ridge` fits kernel ridge
//! regression and predicts 2000 rows, which go to FILE as raw double-precision numbers. Prints the
//! seconds of each round. `peers/closed_forms.py` runs it beside SciPy and scikit-learn on the same
//! numbers.

use mercer_baselines::BASELINES;
use mercer_kernels::Kernel;
use mercer_learning::{Fitting, Sample, Settings, find};
use mercer_linalg::Cholesky;
use ndarray::{Array1, Array2};
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

const INPUTS: usize = 20;
const TEST_ROWS: usize = 2000;
const STD: f64 = 0.5;
const LAMBDA: f64 = 1e-4;

/// Uniform on [0, 1), by Knuth's linear congruential generator: the same in any language.
fn points(rows: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    Array2::from_shape_simple_fn((rows, INPUTS), || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

fn targets(x: &Array2<f64>) -> Array1<f64> {
    x.rows().into_iter().map(|x| x.iter().map(|x| (3.0 * x).sin()).sum()).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let what = arguments.first().map_or("", String::as_str);
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let number = |name: &str, default: usize| {
        value(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (n, threads, rounds) = (number("--n", 2000), number("--threads", 1), number("--rounds", 3));
    let x = points(n, 1);
    for _ in 0..rounds {
        let seconds = match what {
            "cholesky" => {
                let mut gram = Kernel::Gaussian { std: STD }.upper_gram(x.view(), threads);
                gram.diag_mut().mapv_inplace(|entry| entry + 1.0);
                let start = Instant::now();
                std::hint::black_box(Cholesky::factor_on(threads, gram).expect("definite"));
                start.elapsed()
            }
            "ridge" => {
                let sample = Sample::regression(x.clone(), targets(&x)).expect("a valid sample");
                let test = points(TEST_ROWS, 2);
                let settings = Settings::new().with("std", STD).with("lambda", LAMBDA);
                let settings = settings.with("centre", false).with("cap", n);
                let learner = find(BASELINES, "kernel-ridge")
                    .and_then(|method| method.learner(&settings, sample.task()))
                    .expect("valid settings");
                let start = Instant::now();
                let mut fitting = Fitting { threads, ..Fitting::seeded(1) };
                let fitted = learner.fit(&sample, &mut fitting).expect("a definite matrix");
                let predictions = fitted.predictor.decision(test.view());
                let elapsed = start.elapsed();
                if let Some(path) = value("--out") {
                    let bytes: Vec<u8> = predictions.iter().flat_map(|p| p.to_le_bytes()).collect();
                    std::fs::write(path, bytes).expect("a writable file");
                }
                elapsed
            }
            _ => panic!("usage: closed cholesky|ridge --n N --threads T [--rounds R] [--out FILE]"),
        };
        println!("{}", seconds.as_secs_f64());
    }
}
