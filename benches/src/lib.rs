//! Common parts of the benches: made-up samples of a given shape, and training-step times.
//!
//! The benches time public functions on shapes of the papers; it does not know what the numbers
//! should be. `README.md` beside it states them.

mod hot_paths;

pub use hot_paths::{HOT_PATHS, HotPath, OF_TWO_THREADS};

use mercer_learning::{Fitting, LearningError, Limits, Sample, Settings, find};
use mercer_models::askl::METHODS;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

/// Steps at the start that are not timed: caches and the team settle.
const WARM_UP: usize = 20;

/// Returns what a program prints, run in the folder of the benches.
///
/// ```
/// assert_eq!(mercer_benches::told("echo", &["a", "b"]), Ok("a b".to_owned()));
/// assert!(mercer_benches::told("no-such-program", &[]).unwrap_err().contains("no-such-program"));
/// ```
///
/// # Errors
/// The program cannot be run, or what it said where it failed.
pub fn told(program: &str, arguments: &[&str]) -> Result<String, String> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} {}: {}", arguments.join(" "), said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the revision of the source in a checkout, such as `".."` for this one. It ends in `-dirty` where the source was
/// changed since.
///
/// ```
/// let revision = mercer_benches::revision("..")?;
/// assert!(revision.trim_end_matches("-dirty").chars().all(|digit| digit.is_ascii_hexdigit()));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// There is no git, or no repository.
pub fn revision(checkout: &str) -> Result<String, String> {
    let head = told("git", &["-C", checkout, "rev-parse", "--short=12", "HEAD"])?;
    // What these programs write is no part of it.
    let source = ["crates", "experiments/src", "benches/src", "benches/benches", "Cargo.lock"];
    let source = source.map(|path| format!(":/{path}"));
    let mut words = vec!["-C", checkout, "status", "--porcelain", "--"];
    words.extend(source.iter().map(String::as_str));
    let changed = !told("git", &words)?.is_empty();
    Ok(if changed { format!("{head}-dirty") } else { head })
}

/// Returns criterion's group of a claimed cost, which is also the name of its folder. Of two series of a method in one
/// variable the second has its smallest size in the name.
///
/// ```
/// let mut claims = mercer_experiments::claimed_costs().map(mercer_benches::claim_group);
/// assert!(claims.any(|group| group == "claim-hyper-krr-nystrom-in-v"));
/// assert!(claims.any(|group| group == "claim-gmce-fourier-in-p-from-800"));
/// ```
#[cfg(feature = "claims")]
pub fn claim_group(scaling: &mercer_experiments::Scaling) -> String {
    let alike = |other: &&mercer_experiments::Scaling| {
        (other.method, other.variable) == (scaling.method, scaling.variable)
    };
    let first = mercer_experiments::claimed_costs().find(alike);
    let second = first.is_some_and(|first| first.values != scaling.values);
    let from = if second { format!("-from-{}", scaling.values[0]) } else { String::new() };
    format!("claim-{}-in-{}{from}", scaling.method.replace(' ', "-"), scaling.variable)
}

/// Draws a classification sample with uniform inputs in `[-1, 1]` and random labels.
///
/// # Panics
/// If a size is 0.
pub fn sample(n: usize, d: usize, k: usize, seed: u64) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let inputs = Array2::from_shape_simple_fn((n, d), || rng.gen_range(-1.0..1.0));
    let labels = (0..n).map(|_| rng.gen_range(0..k as u32)).collect();
    Sample::classification(inputs, labels, k).expect("a valid sample")
}

/// A clock that a fit looks at once a step.
#[derive(Default)]
struct Clock(Mutex<Vec<Instant>>);

impl Limits for Clock {
    fn check(&self) -> Result<(), LearningError> {
        self.0.lock().expect("one fit").push(Instant::now());
        Ok(())
    }
    fn reserve(&self, _bytes: u64) -> Result<(), LearningError> {
        Ok(())
    }
}

/// Times each of `steps` training steps (batch 32) of a method, after a warm-up. The times are seconds.
///
/// # Panics
/// If the fit fails.
pub fn step_times(
    method: &str,
    d: usize,
    k: usize,
    features: usize,
    threads: usize,
    steps: usize,
    seed: u64,
) -> Vec<f64> {
    let sample = sample(4096, d, k, seed);
    let epochs = (steps + WARM_UP + 1) as f64 * 32.0 / sample.rows() as f64;
    let settings = Settings::new()
        .with("features", features)
        .with("epochs", epochs)
        .with("std", 1.0 / (d as f64).sqrt())
        .with("loss", "cross-entropy")
        .with("rate", 1e-3)
        .with("lambda1", 1e-4)
        .with("lambda2", if method == "askl" { 1e-4 } else { 0.0 });
    let learner = find(METHODS, method)
        .and_then(|method| method.learner(&settings, sample.task()))
        .expect("a method with these settings");
    let clock = Clock::default();
    let mut fitting = Fitting { threads, limits: &clock, ..Fitting::seeded(seed) };
    learner.fit(&sample, &mut fitting).expect("a fit");
    let ticks = clock.0.into_inner().expect("one fit");
    ticks.windows(2).skip(WARM_UP).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect()
}

/// Returns the median.
///
/// # Panics
/// If there are no times.
pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns the values of `--name value` arguments, in the order of `names`. The names carry the defaults.
///
/// # Panics
/// On an unknown name or a value that is not a whole number.
pub fn arguments(names: &[(&str, usize)]) -> Vec<usize> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let mut values: Vec<usize> = names.iter().map(|&(_, default)| default).collect();
    for pair in given.chunks(2) {
        let name = pair[0].trim_start_matches("--");
        let place = names.iter().position(|&(known, _)| known == name);
        let place = place.unwrap_or_else(|| panic!("unknown option `{}`", pair[0]));
        let value = pair.get(1).and_then(|value| value.parse().ok());
        values[place] = value.unwrap_or_else(|| panic!("`{}` needs a whole number", pair[0]));
    }
    values
}
