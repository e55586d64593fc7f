//! Faults of the process and of real file systems, met by the program itself.

use super::Line;
use crate::place::{Ended, Place, files, smoke};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WHAT: &str = "--method sk --method askl --method majority --jobs 1 --results";

/// The program in a place, what an undisturbed run leaves, and how long it takes.
struct Bench<'a> {
    place: &'a Place,
    reference: BTreeMap<String, String>,
    window: Duration,
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place) -> Self {
        let start = Instant::now();
        place.reproduce(&format!("{WHAT} whole")).with_code(0);
        Self { place, reference: place.records("whole"), window: start.elapsed() }
    }

    fn line(directory: &str) -> String {
        smoke(&format!("{WHAT} {directory}"))
    }

    /// Lets the run in a directory finish and compares.
    fn finish(&self, directory: &str) -> Result<(), String> {
        let ended = self.place.run(&Self::line(directory));
        if ended.code != Some(0) {
            return Err(format!("{ended:?}"));
        }
        self.same(directory)
    }

    fn same(&self, directory: &str) -> Result<(), String> {
        let found = self.place.records(directory);
        if found == self.reference {
            Ok(())
        } else {
            Err(format!("{} records of {}", found.len(), self.reference.len()))
        }
    }

    /// A moment within a run.
    fn moment(&self, rng: &mut ChaCha8Rng) -> Duration {
        self.window.mul_f64(rng.gen_range(0.05..0.9))
    }
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill {name} {process}");
}

fn killed(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("killed-{seed}");
    for _ in 0..rng.gen_range(1..3) {
        let mut command = bench.place.command(&Bench::line(&directory));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        std::thread::sleep(bench.moment(&mut rng));
        child.kill().map_err(|e| e.to_string())?;
        child.wait().map_err(|e| e.to_string())?;
    }
    bench.finish(&directory)
}

/// Another process goes on with the same trials while the first one is stopped; then it wakes up.
fn stopped(bench: &Bench<'_>, seed: u64, seconds: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("stopped-{seed}");
    let mut command = bench.place.command(&Bench::line(&directory));
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| e.to_string())?;
    std::thread::sleep(bench.moment(&mut rng).mul_f64(0.5));
    signal("-STOP", child.id());
    let start = Instant::now();
    let meanwhile = bench.finish(&directory);
    // The first of the seeds sleeps for the whole time, the others for a moment.
    let asleep = if seed == 0 { Duration::from_secs(seconds) } else { Duration::from_millis(200) };
    std::thread::sleep(asleep.saturating_sub(start.elapsed()));
    signal("-CONT", child.id());
    let status = child.wait().map_err(|e| e.to_string())?;
    meanwhile?;
    if !status.success() {
        return Err(format!("the process that was stopped ended with {status}"));
    }
    bench.same(&directory)
}

/// The kernel refuses memory: the process dies in an allocation, as it does when the machine has no
/// more; the kernel's own killer sends what `killed` sends.
fn without_memory(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("memory-{seed}");
    let program = bench.place.command("");
    let program = program.get_program().to_string_lossy().into_owned();
    // From too little to start up to nearly enough.
    let kilobytes = rng.gen_range(30_000..250_000);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {kilobytes}; exec {program} {}", Bench::line(&directory))])
        .current_dir(bench.place.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_remove("MERCER_RESULTS");
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    // Where OpenBLAS is refused its buffers it asks again without end; the limit of a batch system
    // ends such a process.
    let patience = Instant::now() + 20 * bench.window + Duration::from_secs(5);
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        if Instant::now() > patience {
            child.kill().map_err(|e| e.to_string())?;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bench.finish(&directory)
}

/// A small or read-only file system of its own, mounted where the records go.
struct Mount(String);

impl Mount {
    fn new(path: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(path).ok()?;
        let path = path.to_str()?.to_owned();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "none", &path])
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(path))
    }

    fn again(&self, options: &str) -> Result<(), String> {
        let mounted = Command::new("mount").args(["-o", options, &self.0]).status();
        mounted.is_ok_and(|s| s.success()).then_some(()).ok_or(format!("cannot remount {}", self.0))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn told(ended: &Ended, cause: &str, directory: &str) -> Result<(), String> {
    let named = ended.stderr.contains(cause) && ended.stderr.contains(directory);
    if ended.code == Some(1) && named { Ok(()) } else { Err(format!("{ended:?}")) }
}

fn full(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("full-{seed}");
    let path = bench.place.path(&directory);
    let size = 4 * rng.gen_range(4..20);
    let mount = Mount::new(&path, &format!("size={size}k")).ok_or("cannot mount")?;
    let ended = bench.place.run(&Bench::line(&directory));
    told(&ended, "No space left on device", &directory)?;
    mount.again("remount,size=64m")?;
    bench.finish(&directory)
}

fn read_only(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("read-only-{seed}");
    let mount = Mount::new(&bench.place.path(&directory), "size=64m").ok_or("cannot mount")?;
    let mut command = bench.place.command(&Bench::line(&directory));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|e| e.to_string())?;
    std::thread::sleep(bench.moment(&mut rng).mul_f64(0.6));
    // Busy for as long as a record is being written.
    let locked = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        Command::new("mount")
            .args(["-o", "remount,ro", &mount.0])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    });
    let ended = Ended::of(&child.wait_with_output().map_err(|e| e.to_string())?);
    // Too late for this one: it had ended.
    if locked && ended.code != Some(0) {
        told(&ended, "Read-only file system", &directory)?;
    }
    mount.again("remount,rw")?;
    bench.finish(&directory)
}

fn clock_jumps(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("clock-{seed}");
    let program = bench.place.command("").get_program().to_string_lossy().into_owned();
    for _ in 0..2 {
        let days = rng.gen_range(-3000..3000);
        // Time also runs up to a hundred times too fast or too slow.
        let pace = 10f64.powf(rng.gen_range(-2.0..2.0));
        let mut command = Command::new("faketime");
        command
            .args(["-f", &format!("{days:+}d x{pace:.3}"), &program])
            .args(Bench::line(&directory).split_whitespace())
            .current_dir(bench.place.path("."))
            .env_remove("MERCER_RESULTS")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        std::thread::sleep(bench.moment(&mut rng));
        let _ = child.kill();
        child.wait().map_err(|e| e.to_string())?;
    }
    bench.finish(&directory)
}

/// Damaged records: the program says which, on standard error.
fn damaged(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let directory = format!("damaged-{seed}");
    bench.finish(&directory)?;
    let records: Vec<_> = files(&bench.place.path(&directory))
        .into_iter()
        .filter(|path| {
            path.extension().is_some_and(|end| end == "json") && !path.ends_with("cells.json")
        })
        .collect();
    let path = &records[rng.gen_range(0..records.len())];
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let kept = rng.gen_range(0..bytes.len() - 1);
    std::fs::write(path, &bytes[..kept]).map_err(|e| e.to_string())?;
    let ended = bench.place.run(&Bench::line(&directory));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !(ended.stderr.contains("damaged record set aside") && ended.stderr.contains(&name)) {
        return Err(format!("not named: {ended:?}"));
    }
    bench.finish(&directory)
}

pub fn lines(place: &Place, seeds: u64, seconds_stopped: u64) -> Vec<Line> {
    let bench = Bench::new(place);
    let mut lines = vec![
        Line::of(
            "SIGKILL, as the kernel's out-of-memory killer sends it",
            "the program killed once or twice in a run",
            0..seeds,
            |seed| killed(&bench, seed),
        ),
        Line::of(
            "SIGSTOP",
            "stopped in a run, for a minute at the first seed; another process does its trials; woken up",
            0..seeds,
            |seed| stopped(&bench, seed, seconds_stopped),
        ),
        Line::of(
            "no memory",
            "address space limited to 30 to 250 MB: an allocation ends the process, or suffices, or it hangs and is killed",
            0..seeds,
            |seed| without_memory(&bench, seed),
        ),
        Line::of(
            "a truncated record, told to the user",
            "a record cut at a random byte",
            0..seeds,
            |seed| damaged(&bench, seed),
        ),
    ];
    let (small, frozen) = ("full file system", "file system that becomes read-only");
    let (how_small, how_frozen) =
        ("a tmpfs of 16 to 76 kB", "a tmpfs remounted read-only in a run");
    if Mount::new(&place.path("probe"), "size=16k").is_some() {
        lines.push(Line::of(small, how_small, 0..seeds, |seed| full(&bench, seed)));
        lines.push(Line::of(frozen, how_frozen, 0..seeds, |seed| read_only(&bench, seed)));
    } else {
        let why = "mounting needs root";
        lines.push(Line::skipped(small, how_small, why));
        lines.push(Line::skipped(frozen, how_frozen, why));
    }
    let (jump, how) =
        ("clock jump in a run", "faketime: up to eight years away, at 0.01 to 100 times the pace");
    if Command::new("faketime")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
    {
        lines.push(Line::of(jump, how, 0..seeds, |seed| clock_jumps(&bench, seed)));
    } else {
        lines.push(Line::skipped(jump, how, "faketime is not installed"));
    }
    lines
}
