//! `mercer reproduce`: cells, exit status, and what stands in the way.

use crate::place::{Ended, Place, files, smoke};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Cheap, and still of every variant.
const FEW: &str = "--method sk --method askl --method majority --method mean";

#[test]
fn every_cell_has_the_fields_of_the_design() {
    let place = Place::new();
    let json = place.reproduce("--json").with_code(0).json();
    assert_eq!(json["profile"], "smoke");
    let cells = json["cells"].as_array().unwrap();
    // Two datasets; 5 methods printed and released, and those of the task corrected.
    assert!(cells.len() >= 30, "{} cells", cells.len());
    for cell in cells {
        for field in [
            "artefact",
            "dataset",
            "method",
            "variant",
            "metric",
            "mean",
            "std",
            "repeats",
            "repeats_of_paper",
            "published",
            "verdict",
            "p_naive",
            "p_corrected",
        ] {
            assert!(cell.get(field).is_some(), "{field} is missing from {cell}");
        }
        assert_eq!(cell["repeats"], 2);
        assert_eq!(cell["repeats_of_paper"], 30);
        let mean = cell["mean"].as_f64().unwrap();
        if cell["metric"] == "accuracy" {
            assert!(mean > 1.0 && mean <= 100.0, "percentages as the paper prints them: {cell}");
        }
        // Two of thirty repeats, on a fraction of the rows: never an agreement.
        if cell["published"].is_object() {
            assert!(cell["published"]["mean"].is_f64() && cell["published"]["std"].is_f64());
            assert_eq!(cell["verdict"], "short", "{cell}");
        }
        for p in ["p_naive", "p_corrected"] {
            assert!(cell[p].as_f64().is_none_or(|p| (0.0..=1.0).contains(&p)), "{cell}");
        }
    }
    let written = std::fs::read_to_string(place.path("results/part/cells.json")).unwrap();
    // The file has all but the numbers of the artefacts, which lie beside it as tables.
    let mut printed = json.clone();
    let numbers = printed.as_object_mut().unwrap().remove("numbers").unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), printed);
    assert_eq!(numbers.as_array().map(Vec::len), json["artefacts"].as_array().map(Vec::len));
    let table = &numbers[0]["tables"][0];
    assert_eq!(table["id"], "askl/table2");
    assert!(!table["rows"].as_array().unwrap().is_empty());
    assert!(place.path("results/part/index.html").is_file());
    for end in ["md", "csv"] {
        assert!(place.path(&format!("results/part/askl/table2.{end}")).is_file());
    }
}

#[test]
fn a_second_run_goes_on_and_changes_nothing() {
    let place = Place::new();
    let first = place.reproduce(&format!("{FEW} --repeats 1 --json")).with_code(0).json();
    let before = place.records("results");
    let dry = place.reproduce(&format!("{FEW} --dry-run")).with_code(0);
    let recorded = before.len();
    assert!(recorded > 10 && first["cells"][0]["repeats"] == 1);
    assert!(dry.stdout.contains("recorded") && !dry.stdout.contains(" 0 recorded"), "{dry:?}");
    place.reproduce(FEW).with_code(0);
    let after = place.records("results");
    assert!(after.len() > before.len());
    assert!(before.iter().all(|(name, sum)| after[name] == *sum));
    // Nothing is left to do; the tables come from the records.
    let again = place.reproduce(&format!("{FEW} --dry-run")).with_code(0);
    assert!(again.stdout.contains(" 0 to run"), "{again:?}");
}

/// The printed grid in place of the study's search: other trials, told in hours before they run, for the methods
/// that tune an axis of it; the others are planned as they are.
#[test]
fn a_dry_run_tells_the_hours_of_a_printed_grid() {
    let place = Place::new();
    let told = |rest: &str| {
        let of =
            "reproduce askl/table2 --profile paper --variant printed --repeats 1 --dataset segment";
        let dry = place.run(&format!("{of} --dry-run --json {rest}")).with_code(0).json();
        let all = &dry["all"];
        // Each call takes the speed of the machine anew.
        let hours = all["hours"].as_f64().unwrap() / dry["machine_factor"].as_f64().unwrap();
        (all["trials"].as_u64().unwrap(), hours)
    };
    let (halving, grid) = (told("--method sk"), told("--method sk --tuner grid"));
    assert_eq!((halving.0, grid.0), (1, 1));
    // 1051 fits for 8.2.
    let ratio = grid.1 / halving.1;
    assert!((90.0..170.0).contains(&ratio), "{halving:?} {grid:?}");
    let nsk = told("--method nsk --tuner grid").1 / told("--method nsk").1;
    assert!((15.0..30.0).contains(&(nsk / ratio)), "22,051 fits for 1051: {nsk} {ratio}");
    assert_eq!(told("--tuner grid").0, told("").0);
}

#[test]
fn jobs_and_shards_leave_the_same_records() {
    let place = Place::new();
    let datasets = "--dataset segment --method sk --method majority";
    for jobs in 1..=4 {
        place.reproduce(&format!("{datasets} --jobs {jobs} --results jobs{jobs}")).with_code(0);
    }
    let reference = place.records("jobs1");
    for jobs in 2..=4 {
        assert_eq!(place.records(&format!("jobs{jobs}")), reference, "{jobs} jobs");
    }
    // Three processes at once in one directory.
    let children: Vec<_> = (1..=3)
        .map(|shard| {
            let rest = format!("{datasets} --shard {shard}/3 --results shared --out out{shard}");
            place.command(&smoke(&rest)).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(place.records("shared"), reference);
}

#[test]
fn missing_data_ends_with_4_and_says_how_to_get_it() {
    let place = Place::new();
    let line =
        "reproduce rftk/table1 --profile paper --dataset sensorless --variant released --json";
    let none = place.run(line).with_code(4);
    assert!(none.stderr.contains("mercer data fetch sensorless"), "{none:?}");
    for cell in none.json()["cells"].as_array().unwrap() {
        assert!(cell["mean"].is_null() && cell["note"].is_string(), "{cell}");
    }
    // Another version without leave to use it is no data either.
    let refused = place.run("reproduce askl/table2 --profile smoke --data data").with_code(4);
    assert!(refused.stderr.contains("--accept-version"), "{refused:?}");
    assert!(place.records("results").is_empty());
}

/// The name of a record speaks of the data that was used, not of the data in the catalogue.
#[test]
fn data_of_another_version_has_records_of_its_own() {
    let place = Place::new();
    place.reproduce("--method majority").with_code(0);
    let text = std::fs::read_to_string(place.path("results/part/cells.json")).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(shown["cells"].as_array().unwrap().iter().all(|cell| cell["repeats"] == 2));
    let catalogue = include_str!("../../../../data/catalogue.toml");
    let mut looked_at = 0;
    for path in files(&place.path("results/askl")) {
        let record: serde_json::Value =
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let fingerprint = record["key"]["fingerprint"].as_str().unwrap();
        assert!(fingerprint.len() == 64 && !catalogue.contains(fingerprint));
        looked_at += 1;
    }
    assert_eq!(looked_at, 2);
    // And a look without that leave does not count them.
    let status = |rest: &str| {
        let line = format!("status askl/table2 --profile smoke --method majority --json {rest}");
        place.run(&line).with_code(0).json()[0]["done"].clone()
    };
    assert_eq!(status(""), 0);
    assert_eq!(status("--data data --accept-version"), 2);
}

/// Most artefacts do not know a dataset that one of them has.
#[test]
fn the_status_of_a_dataset_lists_the_artefacts_that_have_it() {
    let place = Place::new();
    let lines = place.run("status --dataset wine --profile smoke --json").with_code(0).json();
    let listed: Vec<&str> =
        lines.as_array().unwrap().iter().map(|line| line["artefact"].as_str().unwrap()).collect();
    assert!(listed.contains(&"mce/table1") && !listed.contains(&"askl/table2"), "{listed:?}");
    let all = place.run("status --profile smoke --json").with_code(0).json();
    assert!(all.as_array().unwrap().len() > listed.len());
    // What two artefacts show counts in both.
    let one = place.run("status mce/table1 --dataset wine --profile smoke --json").with_code(0);
    let of_table = lines.as_array().unwrap().iter().find(|line| line["artefact"] == "mce/table1");
    assert_eq!(Some(&one.json()[0]), of_table);
    place.run("status --dataset iirs").with_code(2);
}

/// Some trials fail: status 3, a table all the same, and the way to run them again.
#[test]
fn a_failed_trial_ends_with_3_and_is_tried_again_on_request() {
    let place = Place::new();
    place.reproduce("--method sk --dataset segment --variant released").with_code(0);
    // Damage a record into a failed one, as a full memory would have left it.
    let path = files(&place.path("results/askl")).swap_remove(0);
    let mut record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let good = record["result_sha256"].clone();
    record["result"]["status"] = "failed".into();
    record["result"]["error"] = "told to fail".into();
    let result: mercer_records::TrialResult =
        serde_json::from_value(record["result"].clone()).unwrap();
    record["result_sha256"] = result.digest().into();
    std::fs::write(&path, record.to_string()).unwrap();

    let failed = place.reproduce("--method sk --dataset segment --variant released").with_code(3);
    assert!(failed.stderr.contains("told to fail"), "{failed:?}");
    assert!(failed.stderr.contains("--retry-failed"), "{failed:?}");
    assert!(failed.stdout.contains("| released |"), "there is a table all the same: {failed:?}");
    let again = "--method sk --dataset segment --variant released --retry-failed";
    place.reproduce(again).with_code(0);
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(place.records("results")[name], good);
}

#[test]
fn a_results_directory_that_cannot_be_written_is_named() {
    let place = Place::new();
    std::fs::write(place.path("in-the-way"), "").unwrap();
    let ended = place.reproduce("--method majority --results in-the-way").with_code(1);
    assert!(ended.stderr.contains("in-the-way") && ended.stderr.contains("error"), "{ended:?}");

    // Permissions do not hold for root.
    let locked = place.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(locked.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    let ended = place.reproduce("--method majority --results locked").with_code(1);
    assert!(ended.stderr.contains("locked"), "{ended:?}");
}

/// A disk of 64 KiB: the run ends with the name of the file, whole records stay, none is cut.
#[test]
fn a_full_disk_ends_the_run_and_damages_nothing() {
    let place = Place::new();
    let disk = place.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let full = place.reproduce("--results disk --out out");
    let left = place.records("disk");
    let aside =
        files(&disk).iter().filter(|path| path.to_string_lossy().contains("damaged")).count();
    let unmounted = Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    let full: Ended = full.with_code(1);
    assert!(full.stderr.contains("disk/askl/table2") && full.stderr.contains("space"), "{full:?}");
    assert_eq!(aside, 0);
    place.reproduce("--results whole").with_code(0);
    let whole = place.records("whole");
    assert!(left.iter().all(|(name, sum)| whole[name] == *sum));
    assert!(!left.is_empty() && left.len() < whole.len(), "{} of {}", left.len(), whole.len());
}

#[test]
fn quiet_is_quiet_and_a_file_gets_no_progress_bar() {
    let place = Place::new();
    let loud = place.reproduce("--method majority").with_code(0);
    assert!(loud.stderr.contains("files in results/part"), "{loud:?}");
    assert!(!loud.stderr.contains('\r') && !loud.stderr.contains('\x1b'), "{loud:?}");
    let quiet = place.reproduce("--method majority --quiet").with_code(0);
    assert_eq!(quiet.stderr, "", "messages are not errors");
    assert_eq!(quiet.stdout, loud.stdout);
}

/// The same on the real data, which the program has inside.
#[test]
fn a_bare_binary_runs_the_smoke_profile() {
    let place = Place::new();
    let bare = place.path("mercer");
    std::fs::copy(env!("CARGO_BIN_EXE_mercer"), &bare).unwrap();
    let line = "reproduce askl/table2 --profile smoke --json";
    let json = Ended::of(&place.command_of(&bare, line).output().unwrap()).with_code(0).json();
    let cells = json["cells"].as_array().unwrap();
    assert!(cells.len() >= 30 && cells.iter().all(|cell| cell["repeats"] == 2));
}
