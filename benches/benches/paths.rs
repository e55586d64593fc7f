//! The hot paths whose instructions are counted, timed: small enough that `just bench-ci` compares each in seconds.

use criterion::{Criterion, criterion_group, criterion_main};
use mercer_benches::HOT_PATHS;

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

fn paths(criterion: &mut Criterion) {
    for path in HOT_PATHS {
        criterion.benchmark_group(path.package).bench_function(path.name, |bencher| {
            let mut work = path.prepare();
            #[cfg(feature = "planted")]
            let mut work = {
                let share = planted(&format!("{}/{}", path.package, path.name));
                move || {
                    let start = std::time::Instant::now();
                    work();
                    let end = start.elapsed().mul_f64(1.0 + share);
                    while start.elapsed() < end {}
                }
            };
            bencher.iter(&mut work);
        });
    }
}

criterion_group!(benches, paths);
criterion_main!(benches);
