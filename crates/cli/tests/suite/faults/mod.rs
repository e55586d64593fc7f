//! Seeded faults: whatever a machine does, no trial is lost, none is doubled, and no result changes.
//!
//! `MERCER_RELIABILITY=PATH` makes the large run write what it tried and what survived.

mod disk;
mod process;

use crate::place::Place;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// One kind of fault, and how often it was tried and survived.
pub struct Line {
    pub fault: &'static str,
    pub how: &'static str,
    pub tried: usize,
    pub survived: usize,
    /// The first case that was not, with its seed.
    pub failure: Option<String>,
    /// Why it was not tried, if it was not.
    pub skipped: Option<&'static str>,
}

impl Line {
    /// Tries a fault with so many seeds.
    pub fn of(
        fault: &'static str,
        how: &'static str,
        seeds: std::ops::Range<u64>,
        case: impl Fn(u64) -> Result<(), String> + Sync,
    ) -> Self {
        let tried = (seeds.end - seeds.start) as usize;
        let failures: Mutex<Vec<(u64, String)>> = Mutex::default();
        for seed in seeds {
            if let Err(reason) = case(seed) {
                failures.lock().unwrap_or_else(PoisonError::into_inner).push((seed, reason));
            }
        }
        let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failure = failures.first().map(|(seed, reason)| format!("seed {seed}: {reason}"));
        Self { fault, how, tried, survived: tried - failures.len(), failure, skipped: None }
    }

    /// A fault that this machine cannot make.
    pub fn skipped(fault: &'static str, how: &'static str, why: &'static str) -> Self {
        Self { fault, how, tried: 0, survived: 0, failure: None, skipped: Some(why) }
    }
}

/// `disk` seeds for each fault of the store's double, a tenth of them for each fault of a process.
fn try_all(disk: u64, process: u64, seconds_stopped: u64) -> Vec<Line> {
    let mut lines = disk::lines(disk);
    lines.extend(process::lines(&Place::new(), process, seconds_stopped));
    lines
}

fn survived(lines: &[Line]) {
    for line in lines {
        assert_eq!(
            line.survived,
            line.tried,
            "{}: {}",
            line.fault,
            line.failure.as_deref().unwrap_or("")
        );
    }
}

fn report(lines: &[Line]) -> String {
    let mut text = "# Reliability\n\nWritten by `just faults`: faults drawn by seed, into a run that is then let \
        finish. A fault is survived if\n\n- every trial has exactly one record, and every result equals that of an \
        undisturbed run;\n- no trial that was reported as recorded before the fault runs again, but those whose \
        file was damaged;\n- a run that ended early said why, naming the file and the cause; a damaged record was \
        set aside and named.\n\n| fault | how it is made | tried | survived |\n|:--|:--|--:|--:|\n"
        .to_owned();
    for line in lines {
        let _ = match line.skipped {
            None => writeln!(
                text,
                "| {} | {} | {} | {} |",
                line.fault, line.how, line.tried, line.survived
            ),
            Some(why) => {
                writeln!(text, "| {} | {} | 0 | not tried: {why} |", line.fault, line.how)
            }
        };
    }
    let sum = |of: fn(&Line) -> usize| lines.iter().map(of).sum::<usize>();
    let (tried, kept) = (sum(|line| line.tried), sum(|line| line.survived));
    let _ = writeln!(text, "| **all** | | **{tried}** | **{kept}** |");
    for line in lines {
        if let Some(failure) = &line.failure {
            let _ = writeln!(text, "\nNot survived: {}: {failure}", line.fault);
        }
    }
    text
}

#[test]
fn a_few_faults_of_every_kind_are_survived() {
    survived(&try_all(2, 1, 0));
}

#[test]
fn slow_a_thousand_faults_are_survived() {
    let lines = try_all(130, 12, 60);
    if let Some(path) = std::env::var_os("MERCER_RELIABILITY") {
        std::fs::write(path, report(&lines)).unwrap();
    }
    survived(&lines);
    assert!(lines.iter().map(|line| line.tried).sum::<usize>() >= 1000);
}
