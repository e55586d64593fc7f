//! The objective of conditional mean embeddings with its gradient. Beside it stands the factorisation that it cannot do
//! without. Both are in processor time: a figure that other work on the machine hardly moves.
//!
//! `objective ROWS COLUMNS CLASSES ROUNDS` prints medians over the rounds, and the most memory held.

use mercer_benches::median;
use mercer_kernels::Covariance;
use mercer_linalg::Cholesky;
use mercer_models::mce::{Form, Implicit, Objective};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// Seconds that this process has run on a processor.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.expect("Linux keeps the time of each process") / 1e9
}

/// The time of `work`, and what it returns.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = processor_seconds();
    let value = work();
    (processor_seconds() - start, value)
}

fn main() {
    let numbers: Vec<usize> =
        std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let [n, d, classes, rounds] = numbers[..] else {
        eprintln!("usage: objective ROWS COLUMNS CLASSES ROUNDS");
        std::process::exit(2);
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let x = Array2::from_shape_simple_fn((n, d), || rng.gen_range(0.0..1.0));
    let y: Vec<u32> = (0..n).map(|_| rng.gen_range(0..classes as u32)).collect();
    let objective = Objective { form: Form::Sum, ..Objective::default() };
    let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![(d as f64 / 6.0).sqrt(); d] };
    let lambda = 1e-3;
    let mut memory = Array2::zeros((n, n));
    let mut rows = Vec::new();
    for _ in 0..rounds.max(1) {
        let (value, embedding) = timed(|| {
            Implicit::in_memory(&kernel, x.view(), &y, classes, lambda, memory).expect("λ > 0")
        });
        let (gradient, found) = timed(|| embedding.gradient(&objective, None).expect("a factor"));
        black_box(found.value.objective);
        memory = embedding.into_memory();
        kernel.gram_into(x.view(), memory.view_mut());
        memory.diag_mut().mapv_inplace(|entry| entry + n as f64 * lambda);
        let (alone, factor) = timed(|| Cholesky::factor(memory).expect("positive definite"));
        memory = factor.into_memory();
        rows.push([value, gradient, alone]);
    }
    let of = |part: fn(&[f64; 3]) -> f64| median(&rows.iter().map(part).collect::<Vec<_>>());
    println!("matrix, factor and weights  {:.4} s", of(|row| row[0]));
    println!("gradient                    {:.4} s", of(|row| row[1]));
    println!("factorisation alone         {:.4} s", of(|row| row[2]));
    println!("both over the last          {:.2}", of(|row| (row[0] + row[1]) / row[2]));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    if let Some(kilobytes) = kilobytes {
        let matrices = kilobytes * 1024.0 / (8 * n * n) as f64;
        println!("most memory                 {matrices:.2} matrices of n x n doubles");
    }
}
