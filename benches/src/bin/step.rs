//! Times training steps of ASKL and prints one JSON line: the counterpart of `peers/torch_askl.py`.
//!
//! `step --d 784 --k 10 --threads 2 --steps 300 [--trials 1] [--features 2000] [--method askl]`
//!
//! With `--trials 2` two fits run side by side: the throughput mode of the harness.

use mercer_benches::{arguments, median, step_times};

#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

fn main() {
    let options = arguments(&[
        ("d", 784),
        ("k", 10),
        ("threads", 1),
        ("trials", 1),
        ("steps", 300),
        ("features", 2000),
    ]);
    let [d, k, threads, trials, steps, features] = options[..] else {
        unreachable!("as many values as names")
    };
    let times: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let fits: Vec<_> = (0..trials)
            .map(|trial| {
                scope
                    .spawn(move || step_times("askl", d, k, features, threads, steps, trial as u64))
            })
            .collect();
        fits.into_iter().map(|fit| fit.join().expect("a fit")).collect()
    });
    let all: Vec<f64> = times.concat();
    let per_second: f64 = times.iter().map(|fit| 1.0 / median(fit)).sum();
    println!(
        "{{\"d\":{d},\"k\":{k},\"threads\":{threads},\"trials\":{trials},\"steps\":{steps},\
         \"dispatch\":\"{}\",\"median_ms\":{:.5},\"best_ms\":{:.5},\"steps_per_second\":{:.1}}}",
        mercer_linalg::dispatch().name(),
        1e3 * median(&all),
        1e3 * all.iter().copied().fold(f64::INFINITY, f64::min),
        per_second,
    );
}
