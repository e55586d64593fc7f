//! `cargo run --release -- TARGET [--seconds 60] [--seed 1]`, on the stable toolchain.
//!
//! Each round takes a file from the pool, mutates it and hands it to a parser. A file whose outcome
//! (the error without its numbers, or the success) is new joins the pool: a cheap stand-in for
//! coverage. A panic, an answer that contradicts itself, or more than two seconds for one small
//! file ends the run with exit code 1 and leaves the file in `findings/`; what is found becomes a
//! unit test of the crate.

mod mutate;
mod targets;

use mercer_learning::Streams;
use rand::Rng;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SLOW: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let at = words.iter().position(|word| word == name);
        at.and_then(|at| words.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let Some(target) = words.first().and_then(|name| targets::find(name)) else {
        eprintln!("usage: TARGET [--seconds N] [--seed N]; targets: {}", targets::names());
        return ExitCode::from(2);
    };
    // The parsers' own panics are counted, not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut rng = Streams::root(option("--seed", 1)).rng(target.name);
    let mut pool = (target.seeds)();
    let mut outcomes = HashSet::new();
    let end = Instant::now() + Duration::from_secs(option("--seconds", 60));
    let (mut rounds, mut slowest) = (0u64, Duration::ZERO);
    while Instant::now() < end {
        let mut bytes = pool[rng.gen_range(0..pool.len())].clone();
        if rounds > 0 {
            mutate::mutate(&mut bytes, &pool, target.words, &mut rng);
        }
        if target.may_abort {
            // A failed allocation ends the process: what was read must already be on disk.
            let kept = std::fs::create_dir_all("findings")
                .and_then(|()| std::fs::write(format!("findings/{}-current", target.name), &bytes));
            if let Err(error) = kept {
                eprintln!("findings/: {error}");
                return ExitCode::from(2);
            }
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes)));
        let took = start.elapsed();
        slowest = slowest.max(took);
        rounds += 1;
        let fault = match outcome {
            Err(_) => Some("panicked".to_owned()),
            Ok(Err(contradiction)) => Some(contradiction),
            Ok(Ok(_)) if took > SLOW => Some(format!("took {took:?}")),
            Ok(Ok(outcome)) => {
                let kind: String =
                    outcome.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
                if pool.len() < 4096 && outcomes.insert(kind) {
                    pool.push(bytes.clone());
                }
                None
            }
        };
        if let Some(fault) = fault {
            let path = format!("findings/{}-{rounds}", target.name);
            let kept =
                std::fs::create_dir_all("findings").and_then(|()| std::fs::write(&path, &bytes));
            eprintln!("{}: {fault} in round {rounds}", target.name);
            match kept {
                Ok(()) => eprintln!("the file is in {path}"),
                Err(error) => eprintln!("{path}: {error}; the file: {}", bytes.escape_ascii()),
            }
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{}: {rounds} files, {} kinds of outcome, slowest {slowest:.1?}, nothing found",
        target.name,
        outcomes.len()
    );
    ExitCode::SUCCESS
}
