//! Instructions of the hot paths, counted by valgrind and held against a committed baseline.
//!
//! `counts` runs each hot path once under `valgrind --tool=callgrind`, which counts the instructions of the measured
//! function alone. It compares them with `benches/counts.toml`. More than 3 % above the baseline fails, and so does a
//! hot path that is missing there or that counted nothing. So does more than 3 % below it: a gain that is not accepted
//! could be lost again unseen, and below 70 % work may have been lost. `counts --accept NAME --because REASON` writes
//! the count of today and why it changed; several names are separated by commas, and `all` is every hot path.
//! `counts --json` prints what was found. `counts --memory` runs each under valgrind's memcheck instead, which fails on
//! a wrong access: the unsafe places of the vectorised loops are on these paths. Beside them it runs the code that
//! hands memory from one thread to another, on two threads. What it ran stands in `benches/memcheck.toml`.
//! `counts --sanitize` runs the same as they are, in a program built with `AddressSanitizer`: at the best level of
//! vector instructions, which valgrind hides. What it ran stands in `benches/sanitizer.toml`.
//!
//! Counts do not depend on the load of the machine. Valgrind shows programs a processor without
//! AVX-512, so the AVX2 loops are counted, on every machine that has them.

use mercer_benches::{HOT_PATHS, OF_TWO_THREADS, revision, told};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// How far from its baseline a count may be.
const GATE: f64 = 0.03;
/// Below this share of its baseline a count is more likely to have lost its work than to have gained so much.
const FAR: f64 = 0.7;
/// A baseline, and why it is what it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Baseline {
    instructions: u64,
    because: String,
}

/// What callgrind counts: the calls of this function, whatever they call.
#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match told[..] {
        ["--run", "level"] => {
            println!("{}", mercer_linalg::dispatch().name());
            Ok(true)
        }
        ["--run", PLANTED] => {
            planted();
            Ok(true)
        }
        ["--run", name] => {
            match HOT_PATHS.iter().chain(OF_TWO_THREADS).find(|path| path.name == name) {
                Some(path) => {
                    measured(&mut *path.prepare());
                    Ok(true)
                }
                None => Err(format!("no hot path `{name}`")),
            }
        }
        [] => check(false),
        ["--json"] => check(true),
        ["--memory"] => memory(),
        ["--sanitize"] => sanitize(),
        ["--accept", names, "--because", reason] => accept(names, reason),
        _ => Err("counts [--json | --memory | --sanitize | --accept NAME,... --because REASON]"
            .to_owned()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.toml")
}

fn baselines() -> Result<BTreeMap<String, Baseline>, String> {
    let text = match std::fs::read_to_string(file()) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", file().display())),
    };
    toml::from_str(&text).map_err(|error| format!("{}: {error}", file().display()))
}

/// Instructions of the measured function of a hot path.
fn count(name: &str) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        // By the name that people read, and by both that linkers do.
        .args(["--toggle-collect=*counts::measured*", "--toggle-collect=*6counts8measured*"])
        .arg(&program)
        .args(["--run", name])
        // A thread of a library would be counted or not as the machine likes.
        .envs([("OPENBLAS_NUM_THREADS", "1"), ("RAYON_NUM_THREADS", "1")])
        .output()
        .map_err(|error| format!("cannot run valgrind (a package of the system): {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name} failed under valgrind: {said}"));
    }
    collected(&said).ok_or_else(|| format!("valgrind counted nothing for {name}: {said}"))
}

/// The number in `==123== Collected : 367300`.
fn collected(said: &str) -> Option<u64> {
    let (_, number) = said.lines().find_map(|line| line.split_once("Collected : "))?;
    number.split_whitespace().next()?.parse().ok()
}

/// How a count stands to its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Fewer,
    FarFewer,
    TooMany,
    NoBaseline,
    Nothing,
}

impl Verdict {
    fn of(instructions: u64, baseline: Option<&Baseline>) -> Self {
        match baseline.map(|baseline| ratio(instructions, baseline)) {
            _ if instructions == 0 => Self::Nothing,
            None => Self::NoBaseline,
            Some(ratio) if ratio > 1.0 + GATE => Self::TooMany,
            Some(ratio) if ratio < FAR => Self::FarFewer,
            Some(ratio) if ratio < 1.0 - GATE => Self::Fewer,
            Some(_) => Self::Ok,
        }
    }

    /// Whether the gate lets it pass.
    const fn passes(self) -> bool {
        matches!(self, Self::Ok)
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fewer => "fewer: accept it, so that the gain is kept",
            Self::FarFewer => "far fewer: accept it, if it still does its work",
            Self::TooMany => "too many",
            Self::NoBaseline => "has no baseline",
            Self::Nothing => "counted nothing",
        }
    }
}

fn ratio(instructions: u64, baseline: &Baseline) -> f64 {
    instructions as f64 / baseline.instructions.max(1) as f64
}

/// Baselines of paths that are not measured.
fn strangers(baselines: &BTreeMap<String, Baseline>) -> Vec<&str> {
    let known = |name: &&String| HOT_PATHS.iter().any(|path| path.name == **name);
    baselines.keys().filter(|name| !known(name)).map(String::as_str).collect()
}

fn check(json: bool) -> Result<bool, String> {
    let baselines = baselines()?;
    let mut sound = true;
    let mut found = BTreeMap::new();
    for stranger in strangers(&baselines) {
        eprintln!("{stranger}: has a baseline, but is measured no more");
        sound = false;
    }
    for path in HOT_PATHS {
        let name = path.name;
        let instructions = count(name)?;
        let baseline = baselines.get(name);
        let ratio = baseline.map(|baseline| ratio(instructions, baseline));
        let verdict = Verdict::of(instructions, baseline);
        sound &= verdict.passes();
        let verdict = verdict.text();
        let change =
            ratio.map_or(String::new(), |ratio| format!("{:+.2} %", 100.0 * (ratio - 1.0)));
        if json {
            found.insert(name, serde_json::json!({ "instructions": instructions, "ratio": ratio, "verdict": verdict }));
        } else {
            println!("{name:<18} {instructions:>14} {change:>9}  {verdict}");
        }
    }
    if json {
        println!("{}", serde_json::json!(found));
    }
    if !sound {
        eprintln!("an intended change is accepted with: counts --accept NAME --because REASON");
    }
    Ok(sound)
}

/// Results of the last run under a watcher of memory: written whole, so that paths no longer run are not in it.
#[derive(Serialize)]
struct Memory {
    watcher: String,
    revision: String,
    /// Level of vector instructions that the program saw.
    level: String,
    paths: BTreeMap<&'static str, &'static str>,
}

const SOUND: &str = "no wrong access";

/// The path that must be found wrong.
const PLANTED: &str = "planted";

/// Reads one number behind its own memory: a watcher that lets it pass watches nothing, and its silence on the
/// other paths says nothing.
fn planted() {
    let numbers = black_box(vec![1.0_f64; 8]);
    // SAFETY: not sound, and run on purpose, under a watcher alone. Without one it reads eight bytes that the
    // allocator has behind a block of 64: what they are is not looked at.
    let beyond = unsafe { std::ptr::read_volatile(numbers.as_ptr().add(numbers.len())) };
    black_box(beyond);
}

/// Runs every hot path under memcheck.
fn memory() -> Result<bool, String> {
    let version = told("valgrind", &["--version"])
        .map_err(|error| format!("{error}; valgrind is a package of the system"))?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let under = |words: &[&str]| {
        let mut command = Command::new("valgrind");
        // The threads of a pair take turns, so that neither starves while it polls.
        command.args(["--fair-sched=yes", "--tool=memcheck", "--quiet", "--error-exitcode=9"]);
        command.arg(&program).args(words);
        command
    };
    watched(version, "just memcheck", "memcheck.toml", under)
}

/// Runs every hot path in this program, which must have been built with `AddressSanitizer`.
fn sanitize() -> Result<bool, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let absent = |error: std::io::Error| error.to_string();
    // A program with it answers this by its flags; one without it would find everything sound.
    let helped = Command::new(&program)
        .args(["--run", "level"])
        .env("ASAN_OPTIONS", "help=1")
        .output()
        .map_err(absent)?;
    if !String::from_utf8_lossy(&helped.stderr).contains("AddressSanitizer") {
        return Err("this program was built without AddressSanitizer: just sanitize".to_owned());
    }
    let under = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words);
        command
    };
    let version = format!("AddressSanitizer of {}", told("rustc", &["--version"])?);
    watched(version, "just sanitize", "sanitizer.toml", under)
}

/// Runs every hot path under a watcher, and writes what it met.
fn watched(
    watcher: String,
    recipe: &str,
    name: &str,
    under: impl Fn(&[&str]) -> Command,
) -> Result<bool, String> {
    let run = |name: &str| {
        under(&["--run", name])
            .envs([("OPENBLAS_NUM_THREADS", "1"), ("RAYON_NUM_THREADS", "1")])
            .output()
            .map_err(|error| error.to_string())
    };
    let level = String::from_utf8_lossy(&run("level")?.stdout).trim().to_owned();
    let said = String::from_utf8_lossy(&run(PLANTED)?.stderr).into_owned();
    // As valgrind and AddressSanitizer call it: a program that ends for another reason was found by neither.
    if !["Invalid read of size 8", "heap-buffer-overflow"].iter().any(|name| said.contains(name)) {
        return Err(format!("{watcher} let a read behind the end of an array pass: {said}"));
    }
    println!("{PLANTED:<18} found, as it must be");
    let revision = revision("..")?;
    let mut met = Memory { watcher, revision, level, paths: BTreeMap::new() };
    for path in HOT_PATHS.iter().chain(OF_TWO_THREADS) {
        let name = path.name;
        let start = Instant::now();
        let output = run(name)?;
        let verdict = if output.status.success() { SOUND } else { "wrong" };
        println!("{name:<18} {verdict} ({:.0} s)", start.elapsed().as_secs_f64());
        if verdict != SOUND {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        }
        met.paths.insert(name, verdict);
    }
    let text = toml::to_string(&met).map_err(|error| error.to_string())?;
    let head = format!(
        "# What `{recipe}` ran last. Written by it; the unsafe places of the harness are not on these paths.\n\n"
    );
    std::fs::write(file().with_file_name(name), head + &text).map_err(|error| error.to_string())?;
    Ok(met.paths.values().all(|verdict| *verdict == SOUND))
}

fn accept(names: &str, reason: &str) -> Result<bool, String> {
    if reason.trim().is_empty() {
        return Err("say why the count changed: --because REASON".to_owned());
    }
    let mut baselines = baselines()?;
    let chosen: Vec<&str> = match names {
        "all" => HOT_PATHS.iter().map(|path| path.name).collect(),
        _ => names.split(',').collect(),
    };
    for name in chosen {
        if HOT_PATHS.iter().all(|path| path.name != name) {
            return Err(format!("no hot path `{name}`"));
        }
        let instructions = count(name)?;
        if instructions == 0 {
            return Err(format!("{name} counted nothing"));
        }
        println!("{name:<18} {instructions:>14}");
        baselines.insert(name.to_owned(), Baseline { instructions, because: reason.to_owned() });
    }
    let text = toml::to_string(&baselines).map_err(|error| error.to_string())?;
    let head = "# Instructions of the hot paths under valgrind. Written by `counts --accept`.\n\n";
    std::fs::write(file(), format!("{head}{text}")).map_err(|error| error.to_string())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_benches::HotPath;

    fn baseline(instructions: u64) -> Baseline {
        Baseline { instructions, because: "a test".to_owned() }
    }

    #[test]
    fn the_gate_is_three_per_cent_on_both_sides() {
        let of = |instructions| Verdict::of(instructions, Some(&baseline(10_000)));
        let found = [9_699, 9_700, 10_000, 10_300, 10_301].map(of);
        assert_eq!(
            found,
            [Verdict::Fewer, Verdict::Ok, Verdict::Ok, Verdict::Ok, Verdict::TooMany]
        );
        // A gain that is not accepted could be lost again unseen.
        assert_eq!(found.map(Verdict::passes), [false, true, true, true, false]);
        // What counts so much less may have lost its work.
        assert_eq!([6_999, 7_000].map(of), [Verdict::FarFewer, Verdict::Fewer]);
        assert!(!Verdict::FarFewer.passes());
    }

    #[test]
    fn a_hot_path_that_is_missing_or_counted_nothing_fails() {
        assert_eq!(Verdict::of(5, None), Verdict::NoBaseline);
        assert_eq!(Verdict::of(0, None), Verdict::Nothing);
        assert_eq!(Verdict::of(0, Some(&baseline(0))), Verdict::Nothing);
        assert_eq!(Verdict::of(0, Some(&baseline(10_000))), Verdict::Nothing);
        // A baseline of nothing is no leave to count anything.
        assert_eq!(Verdict::of(10, Some(&baseline(0))), Verdict::TooMany);
        for verdict in [Verdict::NoBaseline, Verdict::Nothing, Verdict::TooMany] {
            assert!(!verdict.passes(), "{verdict:?}");
        }
        let known = BTreeMap::from([("gram".to_owned(), baseline(1))]);
        assert!(strangers(&known).is_empty());
        let gone =
            BTreeMap::from([("gone".to_owned(), baseline(1)), ("gram".to_owned(), baseline(1))]);
        assert_eq!(strangers(&gone), ["gone"]);
    }

    #[test]
    fn valgrinds_count_is_read_or_missed() {
        let said = "==7== Events    : Ir\n==7== Collected : 367300\n==7== \n";
        assert_eq!(collected(said), Some(367_300));
        assert_eq!(collected("==7== Collected : \n"), None);
        assert_eq!(collected("valgrind: no such tool"), None);
    }

    /// The committed file has a baseline with a reason for every hot path, and no other.
    #[test]
    fn every_hot_path_has_a_baseline_with_a_reason() {
        let baselines = baselines().unwrap();
        assert!(strangers(&baselines).is_empty());
        for HotPath { name, .. } in HOT_PATHS {
            let baseline = &baselines[*name];
            assert!(baseline.instructions > 0 && !baseline.because.trim().is_empty(), "{name}");
        }
    }
}
