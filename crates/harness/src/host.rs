use mercer_linalg::dispatch;
use ndarray::Array2;
use std::sync::OnceLock;
use std::time::Instant;

/// Processor model and the vector instructions in use.
pub fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map_or("unknown processor", |(_, name)| name.trim());
        format!("{model}, {:?}", dispatch())
    })
}

/// Seconds of a fixed product of two 512 × 512 matrices in double precision, the best of five:
/// tells a slow machine from a slow program. Measured once a process.
pub fn yardstick() -> f64 {
    static SECONDS: OnceLock<f64> = OnceLock::new();
    *SECONDS.get_or_init(|| {
        let matrix = Array2::from_shape_fn((512, 512), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
        let once = || {
            let start = Instant::now();
            std::hint::black_box(matrix.dot(&matrix));
            start.elapsed().as_secs_f64()
        };
        (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
    })
}
