//! Killed or asked to stop at any moment, a run goes on from what it had finished.

use crate::place::{Ended, Place, files, smoke};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the process catches the signal of Ctrl-C, as the kernel's mask of caught signals says.
fn wait_until_heard(child: &Child) {
    const INTERRUPT: u64 = 1 << (2 - 1);
    let start = Instant::now();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(caught.trim(), 16).unwrap() & INTERRUPT != 0 {
            return;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "no handler in a minute: {status}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Number of files that look like records, whole or not.
fn records_so_far(place: &Place, directory: &str) -> usize {
    let records = files(&place.path(directory));
    let of_page = |path: &PathBuf| path.file_name().is_some_and(|name| name == "cells.json");
    let json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    records.iter().filter(|path| json(path) && !of_page(path)).count()
}

#[test]
fn ctrl_c_keeps_what_is_finished_and_says_how_to_go_on() {
    let place = Place::new();
    // One job on everything: about a second, so that the signal comes in the middle.
    let line = smoke("--jobs 1 --results part");
    let child = place.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while records_so_far(&place, "part") == 0 {
        assert!(start.elapsed() < Duration::from_mins(1), "no record in a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(&child);
    let ended = Ended::of(&child.wait_with_output().unwrap()).with_code(130);
    assert!(ended.stderr.contains("stopping"), "{ended:?}");
    let to_go_on = format!("To go on: {} {line}\n", place.command("").get_program().display());
    assert!(ended.stderr.ends_with(&to_go_on), "{ended:?}");
    assert!(ended.stdout.is_empty(), "a run that was stopped shows no table: {ended:?}");
    let kept = place.records("part");
    place.reproduce("--results whole").with_code(0);
    let whole = place.records("whole");
    assert!(!kept.is_empty() && kept.len() < whole.len(), "{} of {}", kept.len(), whole.len());
    place.run(&line).with_code(0);
    assert_eq!(place.records("part"), whole);
}

/// Kills a run fifty times at random moments, then lets it end: the records are those of a run
/// that nobody disturbed, each once.
fn kill_and_resume(place: &Place, command: &dyn Fn(&str) -> Command) {
    let start = Instant::now();
    let whole = Ended::of(&command("--results whole").output().unwrap());
    whole.with_code(0);
    let window = start.elapsed();
    let reference = place.records("whole");
    let mut rng = ChaCha8Rng::seed_from_u64(50);
    let mut at_work = 0;
    for round in 0..50 {
        // Every tenth round begins afresh, so that kills meet every stage of the work.
        if round % 10 == 0 {
            let _ = std::fs::remove_dir_all(place.path("part"));
        }
        let mut child =
            command("--results part").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(window.mul_f64(rng.gen_range(0.0..0.6)));
        let running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        // What is there is whole, and equal to the undisturbed result.
        let there = place.records("part");
        for (name, sum) in &there {
            assert_eq!(reference.get(name), Some(sum), "round {round}: {name}");
        }
        at_work += usize::from(running && there.len() < reference.len());
        if there.len() == reference.len() {
            // Nothing is left to be killed at.
            std::fs::remove_dir_all(place.path("part")).unwrap();
        }
    }
    assert!(at_work >= 25, "only {at_work} of 50 kills met a process with trials to run");
    Ended::of(&command("--results part").output().unwrap()).with_code(0);
    assert_eq!(place.records("part"), reference);
    let damaged = files(&place.path("part"));
    assert!(damaged.iter().all(|path| path.extension().is_none_or(|e| e != "damaged")));
    place.run("results diff part whole").with_code(0);
}

#[test]
fn fifty_kills_lose_nothing() {
    let place = Place::new();
    kill_and_resume(&place, &|rest| place.command(&smoke(rest)));
}

/// A network is kept every step and killed as soon as it is: its curve is that of a run that nobody
/// disturbed.
#[test]
fn a_network_killed_between_steps_goes_on_to_the_same_curve() {
    let place = Place::new();
    let command = |results: &str, every: u32| {
        let line = format!(
            "reproduce mce/table1 --variant released --method cen-2 --dataset wine --repeats 1 \
             --profile quick --jobs 1 --results {results} --checkpoint-every {every}"
        );
        let mut command = place.command(&line);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(command("whole", 300).status().unwrap().success());
    let whole = place.records("whole");
    assert_eq!(whole.len(), 1);
    let kept = || {
        let kept = files(&place.path("part")).into_iter();
        let kept = kept.filter(|path| path.extension().is_some_and(|end| end == "checkpoint"));
        kept.filter_map(|path| path.metadata().ok()?.modified().ok()).max()
    };
    for kill in 0..4 {
        let before = kept();
        let mut child = command("part", 0).spawn().unwrap();
        while kept() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(child.try_wait().unwrap().is_none(), "done before kill {kill}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(place.records("part").is_empty(), "recorded before kill {kill}");
    }
    assert!(command("part", 300).status().unwrap().success());
    assert_eq!(place.records("part"), whole);
}

#[test]
fn slow_fifty_kills_lose_nothing_on_the_real_data() {
    let place = Place::new();
    kill_and_resume(&place, &|rest| {
        place.command(&format!("reproduce askl/table2 --profile smoke {rest}"))
    });
}

/// On people's own data nothing is kept of what was stopped: status 130, no file, no temporary one.
#[test]
fn ctrl_c_leaves_nothing_of_a_fit_a_tuning_a_comparison_or_predictions() {
    let place = Place::new();
    let mut text = "a,b,kind\n".to_owned();
    for row in 0..600 {
        let wave = |k: u32| (f64::from(row * k) * 0.618).sin();
        writeln!(text, "{},{},{}", wave(31), wave(17), ["u", "v"][row as usize % 2]).unwrap();
    }
    std::fs::write(place.path("rows.csv"), &text).unwrap();
    std::fs::write(
        place.path("many.csv"),
        format!("a,b\n{}", "0.25,-1.5\n0.5,2.5\n".repeat(3_000_000)),
    )
    .unwrap();
    place.run("fit --method rf --data rows.csv --out m").with_code(0);
    let before = files(&place.path(""));
    let long = "--method askl --data rows.csv --set epochs=1000000";
    for line in [
        format!("fit {long} --out n"),
        format!("fit {long} --buffer 100 --out n"),
        format!("evaluate {long}"),
        "tune --method askl --data rows.csv --set epochs=1000000 --budget 1h --report t.html"
            .to_owned(),
        "compare --methods askl,majority --data rows.csv --set epochs=1000000 --report c.html"
            .to_owned(),
        // Read for longer than one look takes.
        "fit --method rf-sgd --data many.csv --header yes --task regression --buffer 1000 --out n"
            .to_owned(),
        "predict m --data many.csv --out p.csv".to_owned(),
        // From a pipe into which nobody writes.
        "fit --method majority --data - --out n".to_owned(),
        "predict m --data - --out p.csv".to_owned(),
    ] {
        let mut command = place.command(&line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        wait_until_heard(&child);
        // Into the work, not only into its beginning.
        std::thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "`{line}` ended by itself");
        let asked = Instant::now();
        interrupt(&child);
        let pipe = child.stdin.take();
        let ended = Ended::of(&child.wait_with_output().unwrap());
        drop(pipe);
        assert_eq!(ended.code, Some(130), "`{line}`: {ended:?}");
        assert!(ended.stderr.ends_with("error: interrupted\n"), "`{line}`: {ended:?}");
        assert!(asked.elapsed() < Duration::from_secs(20), "`{line}`: {:?}", asked.elapsed());
        assert_eq!(files(&place.path("")), before, "`{line}`");
    }
}
