use crate::clock::thread_seconds;
use mercer_linalg::dispatch;
use ndarray::Array2;
use std::sync::OnceLock;
use std::time::Instant;

/// Returns the processor model and the vector instructions in use. Where OpenBLAS is asked for kernels of another
/// processor, it names that one too.
///
/// ```
/// let level = format!("{:?}", mercer_linalg::dispatch());
/// assert!(mercer_harness::host().ends_with(&level)); // the processor, and the level in use
/// ```
pub fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map_or("unknown processor", |(_, name)| name.trim());
        let asked = std::env::var("OPENBLAS_CORETYPE").ok().filter(|core| !core.is_empty());
        let core = asked.map_or_else(String::new, |core| format!(", OpenBLAS as {core}"));
        format!("{model}{core}, {:?}", dispatch())
    })
}

/// Products in a sample, and numbers of samples; the best sample counts.
const PRODUCTS: usize = 4;
const SAMPLES: usize = 5;

/// Times a fixed product of two 512 × 512 matrices in double precision. It is in processor seconds: the best of five
/// means of four products. It tells a slow machine from a slow program. Time in which other programs ran does not
/// count, where the system reports it (otherwise the clock on the wall does). Measured once a process.
///
/// ```
/// use mercer_harness::reference_seconds;
/// let seconds = reference_seconds();
/// assert!(seconds > 1e-5); // 2 · 512³ flops: at most some 27 Tflop/s
/// assert_eq!(seconds, reference_seconds()); // measured once
/// ```
pub fn reference_seconds() -> f64 {
    static SECONDS: OnceLock<f64> = OnceLock::new();
    *SECONDS.get_or_init(measured)
}

fn measured() -> f64 {
    let matrix = Array2::from_shape_fn((512, 512), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
    let once = || {
        let (start, ran) = (Instant::now(), thread_seconds());
        for _ in 0..PRODUCTS {
            std::hint::black_box(matrix.dot(&matrix));
        }
        let took = match (ran, thread_seconds()) {
            (Some(before), Some(now)) => now - before,
            _ => start.elapsed().as_secs_f64(),
        };
        took / PRODUCTS as f64
    };
    (0..SAMPLES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Ends the process at once. Nothing that other threads hold or work on is taken down first, which a library of theirs
/// may not survive.
///
/// ```no_run
/// // What Ctrl-C comes to where nobody else heeds it.
/// mercer_harness::leave(130);
/// ```
pub fn leave(status: i32) -> ! {
    // SAFETY: it takes any number, asks for nothing, and does not come back.
    unsafe { libc::_exit(status) }
}

/// Returns the bytes that this process may still allocate. It is the least of what the system calls available, with
/// free swap, and what its limits of address space and of its control group leave. `None` where the system does not
/// say.
///
/// ```
/// let free = mercer_harness::free_memory();
/// assert!(free.is_none_or(|bytes| bytes < 1 << 56)); // bytes, not pages or kilobytes of them
/// ```
pub fn free_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| {
        let kilobytes = |name: &str| -> Option<u64> {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Some(1024 * (kilobytes("MemAvailable:")? + kilobytes("SwapFree:").unwrap_or(0)))
    });
    let address_space = read("/proc/self/limits").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("Max address space"))?;
        let limit: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
        let used: u64 = read("/proc/self/statm")?.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(4096 * used))
    });
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| {
        let limit: u64 = text.trim().parse().ok()?;
        let used: u64 = read("/sys/fs/cgroup/memory.current")?.trim().parse().ok()?;
        Some(limit.saturating_sub(used))
    });
    [machine, address_space, group].into_iter().flatten().min()
}

/// Returns the most bytes that this process had resident. The system counts them; `None` where it does not.
///
/// ```
/// let peak = mercer_harness::peak_memory();
/// assert!(peak.is_none_or(|bytes| bytes > 1 << 20)); // bytes, not kilobytes of them
/// ```
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// What would be unwound or handed over first says so by another status: a child leaves while a thread
    /// holds a lock and a value waits to be dropped.
    #[test]
    fn leave_ends_a_process_with_its_status_and_nothing_else() {
        const CHILD: &str = "MERCER_TEST_LEAVES";
        struct Loud;
        impl Drop for Loud {
            fn drop(&mut self) {
                println!("dropped");
            }
        }
        if std::env::var_os(CHILD).is_some() {
            let _loud = Loud;
            let lock = std::sync::Mutex::new(());
            std::thread::scope(|scope| {
                let _held = lock.lock();
                scope.spawn(|| lock.lock().is_ok());
                leave(130);
            });
        }
        // The harness of tests prints its own end where a test comes back.
        let this = std::env::current_exe().unwrap();
        let name = "host::tests::leave_ends_a_process_with_its_status_and_nothing_else";
        let child = std::process::Command::new(this)
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, "yes")
            .output()
            .unwrap();
        assert_eq!(child.status.code(), Some(130), "{child:?}");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(said.contains("running 1 test"), "{said}");
        assert!(!said.contains("dropped") && !said.contains("test result"), "{said}");
    }

    /// By the wall it would be some eight times as long: nine threads want each processor.
    #[test]
    fn the_yardstick_does_not_measure_the_load() {
        if thread_seconds().is_none() {
            return;
        }
        let alone = measured();
        let done = AtomicBool::new(false);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let loaded = std::thread::scope(|scope| {
            for _ in 0..8 * cores {
                scope.spawn(|| {
                    let mut sum = 1.0_f64;
                    while !done.load(Ordering::Relaxed) {
                        sum = std::hint::black_box(sum * 1.000_001);
                    }
                });
            }
            let loaded = measured();
            done.store(true, Ordering::Relaxed);
            loaded
        });
        assert!(loaded > 0.0 && loaded < 3.0 * alone, "{alone} s alone, {loaded} s under load");
    }
}
