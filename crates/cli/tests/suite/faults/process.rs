//! Faults of the process and of real file systems, met by the program itself.

use super::{Line, Met};
use crate::place::{Ended, Place, files, smoke};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const WHAT: &str = "--method sk --method askl --method majority --jobs 1 --results";

/// The program in a place, what an undisturbed run leaves, how long it takes, and how much of that after its
/// first record.
struct Bench<'a> {
    place: &'a Place,
    reference: BTreeMap<String, String>,
    window: Duration,
    rest: Duration,
}

impl<'a> Bench<'a> {
    fn new(place: &'a Place) -> Self {
        let start = Instant::now();
        let mut child = spawned(&mut place.command(&Self::line("whole"))).unwrap();
        let window = Duration::ZERO;
        let mut bench = Self { place, reference: BTreeMap::new(), window, rest: window };
        assert!(bench.recording("whole", 0, &mut child).unwrap());
        let first = start.elapsed();
        assert!(child.wait().unwrap().success());
        bench.window = start.elapsed();
        bench.rest = bench.window.saturating_sub(first);
        bench.reference = place.records("whole");
        bench
    }

    /// Waits until a run has written a record more than there were: what strikes then strikes the trials, not
    /// the start. Whether it did before it ended.
    fn recording(&self, directory: &str, before: usize, child: &mut Child) -> Result<bool, String> {
        let directory = self.place.path(directory);
        while count(&directory) <= before {
            if child.try_wait().map_err(|e| e.to_string())?.is_some() {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(true)
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

    /// A moment of what follows the first record.
    fn later(&self, rng: &mut ChaCha8Rng) -> Duration {
        self.rest.mul_f64(rng.gen_range(0.0..0.9))
    }

    /// A moment within a run.
    fn moment(&self, rng: &mut ChaCha8Rng) -> Duration {
        self.window.mul_f64(rng.gen_range(0.05..0.9))
    }
}

/// Records in a directory, whole or not: they are named by a digest of 64 digits.
fn count(directory: &Path) -> usize {
    let named = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "json")
            && path.file_stem().is_some_and(|stem| stem.len() == 64)
    };
    files(directory).iter().filter(|path| named(path)).count()
}

/// How often a fault is aimed at a run before it counts as one that cannot be made.
const AIMS: u32 = 12;

/// Tries until the fault has struck, each time earlier and in a directory of its own.
fn aimed(
    name: &str,
    seed: u64,
    mut case: impl FnMut(&str, f64) -> Result<Struck, String>,
) -> Result<(), String> {
    for aim in 0..AIMS {
        let directory = format!("{name}-{seed}-{aim}");
        if case(&directory, 0.8f64.powi(aim as i32))? == Struck::Yes {
            return Ok(());
        }
    }
    Err(format!("not once in {AIMS} runs did the fault strike"))
}

/// Whether a fault met the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Struck {
    Yes,
    /// The run had ended, or had what it needed.
    No,
}

fn spawned(command: &mut Command) -> Result<Child, String> {
    spawned_telling(command, Stdio::null())
}

/// As [`spawned`], with a place for what it says on standard error.
fn spawned_telling(command: &mut Command, told: Stdio) -> Result<Child, String> {
    // A group of its own: a signal to it reaches what a wrapper has started.
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(told);
    command.process_group(0).spawn().map_err(|e| e.to_string())
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill {name} {process}");
}

/// Kills a process and all that it started; whether the process was alive and died of that.
fn kill_group(child: &mut Child) -> Result<bool, String> {
    // One that has ended is not reaped yet, so its number is nobody else's.
    let alive = child.try_wait().map_err(|e| e.to_string())?.is_none();
    let group = format!("-{}", child.id());
    let sent = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status()
        .map_err(|e| e.to_string())?;
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok(alive && sent.success() && status.signal() == Some(SIGKILL))
}

const SIGKILL: i32 = 9;

fn killed(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    aimed("killed", seed, |directory, share| {
        for _ in 0..rng.gen_range(1..3) {
            let before = count(&bench.place.path(directory));
            let mut child = spawned(&mut bench.place.command(&Bench::line(directory)))?;
            if !bench.recording(directory, before, &mut child)? {
                return Ok(Struck::No);
            }
            std::thread::sleep(bench.later(&mut rng).mul_f64(share));
            if !kill_group(&mut child)? {
                return Ok(Struck::No);
            }
        }
        bench.finish(directory).map(|()| Struck::Yes)
    })
}

/// The state of a process, as the kernel says it: `T` where a signal has stopped it.
fn state(process: u32) -> Option<char> {
    let told = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    told.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Another process goes on with the same trials while the first one is stopped; then it wakes up.
fn stopped(bench: &Bench<'_>, seed: u64, seconds: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    aimed("stopped", seed, |directory, share| {
        let mut command = bench.place.command(&Bench::line(directory));
        let mut child = spawned_telling(&mut command, Stdio::piped())?;
        if !bench.recording(directory, 0, &mut child)? {
            return Ok(Struck::No);
        }
        std::thread::sleep(bench.later(&mut rng).mul_f64(0.5 * share));
        signal("-STOP", child.id());
        // Not at once, and never where it has ended.
        let start = Instant::now();
        while !matches!(state(child.id()), Some('T' | 'Z') | None)
            && start.elapsed() < Duration::from_secs(5)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        if state(child.id()) != Some('T') {
            child.wait().map_err(|e| e.to_string())?;
            return Ok(Struck::No);
        }
        let meanwhile = bench.finish(directory);
        // The first of the seeds sleeps for the whole time, the others for a moment.
        let asleep =
            if seed == 0 { Duration::from_secs(seconds) } else { Duration::from_millis(200) };
        std::thread::sleep(asleep.saturating_sub(start.elapsed()));
        signal("-CONT", child.id());
        let ended = Ended::of(&child.wait_with_output().map_err(|e| e.to_string())?);
        meanwhile?;
        if ended.code != Some(0) {
            return Err(format!("the process that was stopped ended so: {ended:?}"));
        }
        bench.same(directory).map(|()| Struck::Yes)
    })
}

/// Kilobytes of address space that a process has.
fn address_space(process: u32) -> Option<u64> {
    let told = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// The kernel refuses memory to a program at work, reading, planning or in its trials: after the first record
/// a run on an idle machine may need none any more.
fn without_memory(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    aimed("memory", seed, |directory, share| {
        let mut child = spawned(&mut bench.place.command(&Bench::line(directory)))?;
        std::thread::sleep(bench.moment(&mut rng).mul_f64(share));
        let Some(kilobytes) = address_space(child.id()) else {
            child.wait().map_err(|e| e.to_string())?;
            return Ok(Struck::No);
        };
        // Less than it has: not a page comes on top.
        let limit = format!("--as={:.0}", 1024.0 * kilobytes as f64 * rng.gen_range(0.2..0.9));
        let process = child.id().to_string();
        let limited = Command::new("prlimit").args(["--pid", &process, &limit]).status();
        // Where a library asks again without end the limit of a batch system ends the process.
        let patience = Instant::now() + 20 * bench.window + Duration::from_secs(5);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if Instant::now() > patience {
                kill_group(&mut child)?;
                break child.wait().map_err(|e| e.to_string())?;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        if status.success() || !limited.is_ok_and(|limited| limited.success()) {
            return Ok(Struck::No);
        }
        bench.finish(directory).map(|()| Struck::Yes)
    })
}

/// A group of processes whose memory together has a limit, under the one of this test.
struct Group {
    path: PathBuf,
    /// The files of the limit and of what is held now.
    limit: &'static str,
    held: &'static str,
}

impl Group {
    /// `None` where the kernel gives none: it needs root, and either version of its interface.
    fn new(name: &str) -> Option<Self> {
        let told = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let first = told.lines().find_map(|line| line.split_once(":memory:"));
        let (mount, below, limit, held) = if let Some((_, below)) = first {
            let files = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            ("/sys/fs/cgroup/memory", below, files.0, files.1)
        } else {
            let below = told.lines().find_map(|line| line.strip_prefix("0::"))?;
            ("/sys/fs/cgroup", below, "memory.max", "memory.current")
        };
        let path = Path::new(mount)
            .join(below.trim_start_matches('/'))
            .join(format!("mercer-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        let group = Self { path, limit, held };
        // What is swapped is not killed; a kernel that does not count swap has no such file.
        let _ = std::fs::write(group.path.join("memory.swap.max"), "0");
        group.kills().map(|_| group)
    }

    /// Takes from it what the kernel can take, and gives it nothing more: a share of what it holds, or as
    /// near to that as comes.
    fn tighten(&self, share: f64) {
        let held = std::fs::read_to_string(self.path.join(self.held)).unwrap_or_default();
        let Ok(held) = held.trim().parse::<f64>() else { return };
        for part in 0..20 {
            let limit = held * (1.0 - (1.0 - share) * f64::from(part) / 19.0);
            if std::fs::write(self.path.join(self.limit), format!("{limit:.0}")).is_err() {
                return; // all that is left is in use
            }
        }
    }

    /// How many of its processes the kernel has killed for want of memory.
    fn kills(&self) -> Option<u64> {
        ["memory.oom_control", "memory.events"].into_iter().find_map(|name| {
            let told = std::fs::read_to_string(self.path.join(name)).ok()?;
            told.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
    }
}

/// The kernel's own killer, in the midst of the trials: a group of processes may hold less than the program
/// wants.
fn out_of_memory(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let program = bench.place.command("").get_program().to_string_lossy().into_owned();
    aimed("out-of-memory", seed, |directory, share| {
        let group = Group::new(directory).ok_or("no group of processes")?;
        let enter = group.path.join("cgroup.procs").display().to_string();
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("echo $$ >{enter} && exec {program} {}", Bench::line(directory))])
            .current_dir(bench.place.path("."))
            .env_remove("MERCER_RESULTS");
        let mut child = spawned(&mut command)?;
        if bench.recording(directory, 0, &mut child)? {
            // Again and again: at its peak a program needs no more, and goes on.
            let part = rng.gen_range(0.05..0.5) * share;
            while child.try_wait().map_err(|e| e.to_string())?.is_none() {
                group.tighten(part);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        let kills = group.kills().ok_or("the kernel counts no kills")?;
        if kills == 0 {
            return Ok(Struck::No);
        }
        if status.signal() != Some(SIGKILL) {
            return Err(format!(
                "{kills} killed for want of memory, and yet it ended with {status}"
            ));
        }
        bench.finish(directory).map(|()| Struck::Yes)
    })
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
    aimed("read-only", seed, |directory, share| {
        let mount = Mount::new(&bench.place.path(directory), "size=64m").ok_or("cannot mount")?;
        let mut command = bench.place.command(&Bench::line(directory));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|e| e.to_string())?;
        std::thread::sleep(bench.moment(&mut rng).mul_f64(0.6 * share));
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
        if !locked || ended.code == Some(0) {
            // Too late: it had written all that it had to write.
            return Ok(Struck::No);
        }
        told(&ended, "Read-only file system", directory)?;
        mount.again("remount,rw")?;
        bench.finish(directory).map(|()| Struck::Yes)
    })
}

/// Seconds since 1970 by this clock.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Records in a directory whose time is more than a day off.
fn of_another_time(directory: &Path) -> usize {
    let wrong = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let record: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let finished = record.and_then(|record| record["run"]["finished"].as_u64());
        finished.is_some_and(|finished| finished.abs_diff(now()) > 86_400)
    };
    files(directory).iter().filter(|path| wrong(path)).count()
}

/// Two runs, each with a clock of its own, killed with all that they started.
fn clock_jumps(bench: &Bench<'_>, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let program = bench.place.command("").get_program().to_string_lossy().into_owned();
    aimed("clock", seed, |directory, _| {
        for _ in 0..2 {
            let days = rng.gen_range(30..3000) * if rng.gen_bool(0.5) { 1 } else { -1 };
            // Time also runs up to a hundred times too fast or too slow.
            let pace = 10f64.powf(rng.gen_range(-2.0..2.0));
            let mut command = Command::new("faketime");
            command
                .args(["-f", &format!("{days:+}d x{pace:.3}"), &program])
                .args(Bench::line(directory).split_whitespace())
                .current_dir(bench.place.path("."))
                .env_remove("MERCER_RESULTS");
            let errors = bench.place.path(&format!("{directory}.stderr"));
            let told = std::fs::File::create(&errors).map_err(|e| e.to_string())?;
            let mut child = spawned_telling(&mut command, told.into())?;
            // Not before something was recorded by the wrong clock: the rest of the run is drawn from.
            let patience = Instant::now() + 20 * bench.window + Duration::from_secs(5);
            while of_another_time(&bench.place.path(directory)) == 0
                && Instant::now() < patience
                && child.try_wait().map_err(|e| e.to_string())?.is_none()
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            std::thread::sleep(bench.moment(&mut rng).mul_f64(0.5));
            if !kill_group(&mut child)? {
                // It ended before: as it should, or because faketime could not start it. A wrapper
                // that was killed leaves a semaphore behind, named by its process number, on which
                // the next of that number fails.
                let status = child.wait().map_err(|e| e.to_string())?;
                let told = std::fs::read_to_string(&errors).unwrap_or_default();
                if !status.success() && told.contains("sem_open: File exists") {
                    return Ok(Struck::No);
                }
                if !status.success() {
                    return Err(format!("under faketime it ended with {status}: {told}"));
                }
            }
        }
        if of_another_time(&bench.place.path(directory)) == 0 {
            // Nothing was recorded while the clock was wrong.
            return Ok(Struck::No);
        }
        bench.finish(directory).map(|()| Struck::Yes)
    })
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
    let line = |fault, how, case: &(dyn Fn(u64) -> Result<(), String> + Sync)| {
        Line::of(Met::Program, fault, how, 0..seeds, case)
    };
    let mut lines = vec![
        line(
            "SIGKILL",
            "killed once or twice after a record of the run, each time until the process is gone",
            &|seed| killed(&bench, seed),
        ),
        line(
            "SIGSTOP",
            "stopped after its first record (the kernel says so), for a minute at the first seed; another process does its trials; woken up",
            &|seed| stopped(&bench, seed, seconds_stopped),
        ),
        line(
            "no address space",
            "at a moment of the run it may have less than it has already (prlimit): it ended in an allocation, or hung in one and was killed",
            &|seed| without_memory(&bench, seed),
        ),
        line("a truncated record", "cut at a random byte | told", &|seed| damaged(&bench, seed)),
    ];
    let mut perhaps =
        |possible: bool, why, fault, how, case: &(dyn Fn(u64) -> Result<(), String> + Sync)| {
            lines.push(if possible {
                line(fault, how, case)
            } else {
                Line::skipped(Met::Program, fault, how, why)
            });
        };
    perhaps(
        Group::new("probe").is_some(),
        "a group of processes with a limit of memory needs root",
        "out-of-memory kill",
        "after the first record its group of processes (cgroup) may hold hardly what it holds: the kernel kills the program and counts it",
        &|seed| out_of_memory(&bench, seed),
    );
    let mounts = Mount::new(&place.path("probe"), "size=16k").is_some();
    let root = "mounting needs root";
    perhaps(mounts, root, "full file system", "a tmpfs of 16 to 76 kB | told", &|seed| {
        full(&bench, seed)
    });
    perhaps(
        mounts,
        root,
        "file system that becomes read-only",
        "a tmpfs remounted read-only in a run | told",
        &|seed| read_only(&bench, seed),
    );
    let faketime = Command::new("faketime").arg("--version").stdout(Stdio::null()).status();
    perhaps(
        faketime.is_ok_and(|status| status.success()),
        "faketime is not installed",
        "clock jump in a run",
        "faketime: two runs one to 100 months away, at 0.01 to 100 times the pace, killed with all that they started; records carry the wrong time",
        &|seed| clock_jumps(&bench, seed),
    );
    lines
}
