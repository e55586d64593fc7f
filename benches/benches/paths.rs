//! Times of the hot paths whose instructions are counted. They are small enough that `just bench-ci` compares each in
//! seconds.

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use mercer_benches::HOT_PATHS;
use mercer_harness::program_seconds;
use std::time::Duration;

/// As the program has it: pages of large matrices are part of a time.
#[global_allocator]
static ALLOCATOR: mercer_linalg::LargePages = mercer_linalg::LargePages;

/// By how much the working tree's build slows a path on purpose: `MERCER_PLANTED="linalg/cosine 0.08"`.
#[cfg(feature = "planted")]
fn planted(id: &str) -> f64 {
    let told = std::env::var("MERCER_PLANTED").unwrap_or_default();
    let share = told.split_once(' ').filter(|(slowed, _)| *slowed == id);
    share.map_or(0.0, |(_, share)| share.parse().expect("a share, such as 0.08"))
}

/// Seconds that this program has run on processors: seconds of other programs do not count.
fn seconds() -> f64 {
    program_seconds().expect("a clock of the processor")
}

fn paths(criterion: &mut Criterion) {
    for path in HOT_PATHS {
        let mut group = criterion.benchmark_group(path.package);
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(path.name, |bencher| {
            let mut work = path.prepare();
            #[cfg(feature = "planted")]
            let mut work = {
                let share = planted(&path.id());
                move || {
                    let start = seconds();
                    work();
                    let end = seconds() + share * (seconds() - start);
                    while seconds() < end {}
                }
            };
            bencher.iter_custom(|runs| {
                let start = seconds();
                (0..runs).for_each(|_| work());
                Duration::from_secs_f64(seconds() - start)
            });
        });
        group.finish();
    }
}

criterion_group!(benches, paths);
criterion_main!(benches);
