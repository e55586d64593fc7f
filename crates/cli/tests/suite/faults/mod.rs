//! Seeded faults: whatever a machine does, no trial is lost, none is doubled, and no result changes.
//!
//! `MERCER_RELIABILITY=PATH` makes the large run write what it tried and what survived.

mod disk;
mod process;

use crate::place::Place;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// Who meets the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// The harness inside the test, on a double of the disk or on files damaged by hand.
    Harness,
    /// The program, as a process of its own.
    Program,
}

/// One kind of fault, and how often it struck and was survived.
pub struct Line {
    pub fault: &'static str,
    pub how: &'static str,
    pub met: Met,
    /// Cases in which the fault was seen to strike: a case in which it was not has failed.
    pub tried: usize,
    pub survived: usize,
    /// The first case that was not, with its seed.
    pub failure: Option<String>,
    /// Why it was not tried, if it was not.
    pub skipped: Option<&'static str>,
}

impl Line {
    /// Tries a fault with so many seeds. A case is an error where the fault did not strike, too.
    pub fn of(
        met: Met,
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
        let survived = tried - failures.len();
        Self { fault, how, met, tried, survived, failure, skipped: None }
    }

    /// A fault that this machine cannot make.
    pub fn skipped(met: Met, fault: &'static str, how: &'static str, why: &'static str) -> Self {
        Self { fault, how, met, tried: 0, survived: 0, failure: None, skipped: Some(why) }
    }
}

/// `disk` seeds for each fault of the store's double, `process` for each fault of a process.
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

fn tried(lines: &[Line], met: Met) -> (usize, usize) {
    let of = lines.iter().filter(|line| line.met == met);
    of.fold((0, 0), |(tried, survived), line| (tried + line.tried, survived + line.survived))
}

fn report(lines: &[Line]) -> String {
    let [(first, of_first), (second, of_second)] =
        [Met::Harness, Met::Program].map(|met| tried(lines, met));
    let (all, survived) = (first + second, of_first + of_second);
    let mut text = format!(
        "# Reliability\n\n{survived} of {all} faults were survived: every trial has exactly one record, and every result \
        equals that of an undisturbed run.\n\n\
        Faults are drawn by seed and strike a run that then goes to its end. A fault that struck too late was drawn again. \
        Written by `just faults` at revision {}.\n\n\
        Also checked, where the column has the word:\n\n\
        - kept: no trial that was reported before the fault ran again;\n\
        - told: the run ended with an error that names the file and the cause, or named the damaged record.\n\n\
        Not tried: damage to a record's machine and seconds, which have no check sum. No score depends on them.\n\n\
        | fault | how it is made | also checked | tried | survived |\n|:--|:--|:--|--:|--:|\n",
        env!("MERCER_CODE")
    );
    for (met, heading, all) in [
        (
            Met::Harness,
            "the harness inside a test, on a double of the disk or on files changed by hand",
            "inside a test",
        ),
        (Met::Program, "the program, as processes of its own", "processes"),
    ] {
        let _ = writeln!(text, "| *{heading}* | | | | |");
        for line in lines.iter().filter(|line| line.met == met) {
            let (how, also) = line.how.split_once(" | ").unwrap_or((line.how, ""));
            let _ = match line.skipped {
                None => writeln!(
                    text,
                    "| {} | {how} | {also} | {} | {} |",
                    line.fault, line.tried, line.survived
                ),
                Some(why) => {
                    writeln!(text, "| {} | {how} | {also} | 0 | not tried: {why} |", line.fault)
                }
            };
        }
        let (tried, kept) = tried(lines, met);
        let _ = writeln!(text, "| **all {all}** | | | **{tried}** | **{kept}** |");
    }
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
    let page = std::env::var_os("MERCER_RELIABILITY");
    if let Some(path) = &page {
        std::fs::write(path, report(&lines)).unwrap();
    }
    survived(&lines);
    let (harness, program) = (tried(&lines, Met::Harness).0, tried(&lines, Met::Program).0);
    assert!(harness + program >= 1000, "{harness} inside a test, {program} processes");
    let skipped: Vec<_> =
        lines.iter().filter_map(|line| Some((line.fault, line.skipped?))).collect();
    // Elsewhere a machine may lack the means; a page of what was not tried would be no page.
    assert!(page.is_none() || skipped.is_empty(), "not tried: {skipped:?}");
}
