//! `cargo run --release -- TARGET [--seconds 600] [--seed 1] [--table FILE]`, on the stable toolchain.
//!
//! Each round takes a file from the pool, mutates it and hands it to a parser. A file whose outcome
//! (the error without its numbers, or the success) is new joins the pool: a cheap stand-in for
//! coverage. A panic, an answer that contradicts itself, or more than two seconds for one small
//! file ends the run with exit code 1 and leaves the file in `findings/`; what is found becomes a
//! unit test of the crate. With `--table` the run that found nothing replaces the target's section of
//! that file.

mod mutate;
mod program;
mod targets;
mod upper;

use mercer_learning::Streams;
use rand::Rng;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use targets::Target;

const SLOW: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let at = words.iter().position(|word| word == name);
        at.and_then(|at| words.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let Some(target) = words.first().and_then(|name| targets::find(name)) else {
        eprintln!(
            "usage: TARGET [--seconds N] [--seed N] [--table FILE]; targets: {}",
            targets::names()
        );
        return ExitCode::from(2);
    };
    let pool = (target.seeds)();
    if pool.is_empty() {
        eprintln!("{}: no file to begin with", target.name);
        return ExitCode::from(2);
    }
    // The parsers' own panics are counted, not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let (seed, seconds) = (option("--seed", 1), option("--seconds", 600));
    let mut rng = Streams::root(seed).rng(target.name);
    let mut search =
        Search { target, pool, outcomes: HashSet::new(), rounds: 0, slowest: Duration::ZERO };
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let bytes = search.next(&mut rng);
        // A failed allocation ends the process: what was read must already be on disk.
        if target.may_abort
            && let Err(error) = keep(&format!("findings/{}-current", target.name), &bytes)
        {
            eprintln!("findings/: {error}");
            return ExitCode::from(2);
        }
        if let Some(fault) = search.fault(&bytes) {
            let path = format!("findings/{}-{}", target.name, search.rounds);
            eprintln!("{}: {fault} in round {}", target.name, search.rounds);
            match keep(&path, &bytes) {
                Ok(()) => eprintln!("the file is in {path}"),
                Err(error) => eprintln!("{path}: {error}; the file: {}", bytes.escape_ascii()),
            }
            return ExitCode::FAILURE;
        }
    }
    let table = words.iter().position(|word| word == "--table").and_then(|at| words.get(at + 1));
    if let Some(path) = table
        && let Err(error) = note(path, target.name, &search.section(seed, seconds))
    {
        eprintln!("{path}: {error}");
        return ExitCode::from(2);
    }
    println!(
        "{}: {} files, {} kinds of outcome, slowest {:.1?}, nothing found",
        target.name,
        search.rounds,
        search.outcomes.len(),
        search.slowest
    );
    ExitCode::SUCCESS
}

/// The files of a target that are worth mutating, and what came of those that were tried.
struct Search {
    target: &'static Target,
    pool: Vec<Vec<u8>>,
    outcomes: HashSet<String>,
    rounds: u64,
    slowest: Duration,
}

impl Search {
    /// A mutated file of the pool; the first is as it was.
    fn next(&self, rng: &mut impl Rng) -> Vec<u8> {
        let mut bytes = self.pool[rng.gen_range(0..self.pool.len())].clone();
        if self.rounds > 0 {
            mutate::mutate(&mut bytes, &self.pool, self.target.words, rng);
        }
        bytes
    }

    /// Tries a file, and takes it into the pool if its outcome is new; returns what is wrong.
    fn fault(&mut self, bytes: &[u8]) -> Option<String> {
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.target.run)(bytes)));
        let took = start.elapsed();
        self.slowest = self.slowest.max(took);
        self.rounds += 1;
        match outcome {
            Err(_) => Some("panicked".to_owned()),
            Ok(Err(contradiction)) => Some(contradiction),
            Ok(Ok(_)) if took > SLOW => Some(format!("took {took:?}")),
            Ok(Ok(outcome)) => {
                let kind = outcome.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
                if self.pool.len() < 4096 && self.outcomes.insert(kind) {
                    self.pool.push(bytes.to_owned());
                }
                None
            }
        }
    }

    /// Of the table.
    fn section(&self, seed: u64, seconds: u64) -> String {
        format!(
            "[{}]\nrevision = \"{}\"\nseconds = {seconds}\nseed = {seed}\nfiles = {}\noutcomes = {}\nslowest-ms = {}\n",
            self.target.name,
            revision(),
            self.rounds,
            self.outcomes.len(),
            self.slowest.as_millis()
        )
    }
}

fn keep(path: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all("findings").and_then(|()| std::fs::write(path, bytes))
}

/// Of the source around this program; the table that it writes is no part of it.
fn revision() -> String {
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        let output = git.args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(head) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_owned() };
    match git(&["status", "--porcelain", "--", "../crates", "../Cargo.lock"]) {
        Some(changed) if changed.is_empty() => head,
        _ => format!("{head}-dirty"),
    }
}

/// Replaces the section of a target in the table, or adds it.
fn note(path: &str, name: &str, section: &str) -> std::io::Result<()> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "# What `just fuzz` tried last, by parser, without a finding. Written by it.\n"
                .to_owned()
        }
        Err(error) => return Err(error),
    };
    let head = format!("[{name}]\n");
    let others = text.split("\n\n").filter(|part| !part.starts_with(&head)).map(str::trim_end);
    let mut parts: Vec<&str> = others.filter(|part| !part.is_empty()).collect();
    parts.push(section.trim_end());
    std::fs::write(path, parts.join("\n\n") + "\n")
}
