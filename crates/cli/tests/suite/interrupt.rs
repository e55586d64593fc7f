//! Killed or asked to stop at any moment, a run goes on from what it had finished.

use crate::place::{Ended, Place, files, mirror, smoke};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Number of files that look like records, whole or not.
fn records_so_far(place: &Place, directory: &str) -> usize {
    let records = files(&place.path(directory));
    records.iter().filter(|path| path.extension().is_some_and(|e| e == "json")).count()
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
    assert!(ended.stderr.contains("The same command goes on from here"), "{ended:?}");
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

/// Networks are kept every step and killed as soon as they are: the curves are those of a run that
/// nobody disturbed.
#[test]
fn networks_killed_between_steps_go_on_to_the_same_curves() {
    let Some(mirror) = mirror() else { return };
    let place = Place::new();
    let command = |results: &str, every: u32| {
        let line = format!(
            "reproduce mce/figure2-cnn --variant released --profile smoke --jobs 1 \
             --results {results} --checkpoint-every {every}"
        );
        let mut command = place.command(&line);
        command.env("MERCER_DATA", &mirror).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(command("whole", 300).status().unwrap().success());
    let whole = place.records("whole");
    assert_eq!(whole.len(), 2);
    let kept = || {
        let kept = files(&place.path("part")).into_iter();
        let kept = kept.filter(|path| path.extension().is_some_and(|end| end == "checkpoint"));
        kept.filter_map(|path| path.metadata().ok()?.modified().ok()).max()
    };
    let mut killed = 0;
    for _ in 0..3 {
        let before = kept();
        let mut child = command("part", 0).spawn().unwrap();
        while kept() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    }
    assert!(killed > 1, "the networks were done before they could be killed twice");
    assert!(command("part", 300).status().unwrap().success());
    assert_eq!(place.records("part"), whole);
}

#[test]
fn fifty_kills_lose_nothing_on_the_mirror() {
    let Some(mirror) = mirror() else { return };
    let place = Place::new();
    kill_and_resume(&place, &|rest| {
        let mut command = place.command(&format!("reproduce askl/table2 --profile smoke {rest}"));
        command.env("MERCER_DATA", &mirror);
        command
    });
}
