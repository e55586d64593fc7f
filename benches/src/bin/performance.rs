//! The page on speed: instructions of the hot paths, and the history of criterion's times.
//!
//! `performance record REMARK` appends the times that criterion left in `target/criterion` to
//! `benches/history.jsonl`, with the day, the revision and the machine; `performance page` writes
//! `reports/performance/index.md` from that file and `benches/counts.toml`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// One run of the benches.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Day, `2026-01-31`.
    day: String,
    /// Revision of the source.
    code: String,
    /// Processor and vector instructions.
    machine: String,
    /// What the numbers suffer from, such as other work on the machine.
    remark: String,
    /// Median nanoseconds and their 95 % interval, by benchmark.
    times: BTreeMap<String, [f64; 3]>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn put(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn history() -> Result<Vec<Entry>, String> {
    let text = read(&root().join("benches/history.jsonl"))?;
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("history.jsonl: {error}")))
        .collect()
}

/// The first line that a program prints.
fn told(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Every `new/estimates.json` below criterion's folder, with the benchmark's name.
fn estimates(folder: &Path, found: &mut BTreeMap<String, [f64; 3]>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if !path.is_dir() {
            continue;
        }
        let (names, numbers) = (path.join("benchmark.json"), path.join("estimates.json"));
        if path.ends_with("new") && names.is_file() && numbers.is_file() {
            let json = |path: &Path| -> Result<Value, String> {
                serde_json::from_str(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))
            };
            let (names, numbers) = (json(&names)?, json(&numbers)?);
            let interval = &numbers["median"]["confidence_interval"];
            let values = [
                &numbers["median"]["point_estimate"],
                &interval["lower_bound"],
                &interval["upper_bound"],
            ];
            if let (Some(name), [Some(median), Some(low), Some(high)]) =
                (names["full_id"].as_str(), values.map(Value::as_f64))
            {
                found.insert(name.to_owned(), [median, low, high]);
            }
        } else {
            estimates(&path, found)?;
        }
    }
    Ok(())
}

fn record(remark: &str) -> Result<(), String> {
    let mut times = BTreeMap::new();
    estimates(&root().join("target/criterion"), &mut times)?;
    if times.is_empty() {
        return Err(
            "criterion left no times in target/criterion; run `just bench` first".to_owned()
        );
    }
    let cpu = read(Path::new("/proc/cpuinfo"))?;
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let entry = Entry {
        day: told("date", &["-u", "+%F"])?,
        code: told("git", &["rev-parse", "--short", "HEAD"])?,
        machine: format!("{model}, {}", mercer_linalg::dispatch().name()),
        remark: remark.to_owned(),
        times,
    };
    let path = root().join("benches/history.jsonl");
    let line = serde_json::to_string(&entry).map_err(|error| error.to_string())?;
    put(&path, &format!("{}{line}\n", read(&path)?))
}

/// A time in the unit that suits it.
fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (scale, unit) =
        units.into_iter().find(|(scale, _)| nanoseconds >= *scale).unwrap_or((1.0, "ns"));
    format!("{:.3} {unit}", nanoseconds / scale)
}

fn page() -> Result<(), String> {
    let mut text = "# Performance\n\nWritten by `just performance`.\n\n## Instructions of the hot paths\n\nCounted by \
        valgrind, which shows programs a processor without AVX-512; `just bench-counts` fails when a count is more \
        than 3 % above this baseline.\n\n| hot path | instructions | why it is what it is |\n|:--|--:|:--|\n"
        .to_owned();
    let counts: BTreeMap<String, toml::Table> =
        toml::from_str(&read(&root().join("benches/counts.toml"))?).map_err(|e| e.to_string())?;
    for (name, baseline) in &counts {
        let instructions = baseline.get("instructions").and_then(toml::Value::as_integer);
        let because = baseline.get("because").and_then(toml::Value::as_str);
        let (instructions, because) = (instructions.unwrap_or(0), because.unwrap_or_default());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {instructions} | {because} |");
    }
    let history = history()?;
    text.push_str("\n## Times\n\n");
    if history.is_empty() {
        text.push_str("None recorded yet: `just bench`, then `just performance-record`.\n");
    } else {
        text.push_str(
            "Medians of criterion with their 95 % intervals; the ratio is to the run before on the same machine.\n\n\
             | benchmark | day | revision | median | interval | ratio | machine | remark |\n|:--|:--|:--|--:|:--|--:|:--|:--|\n",
        );
    }
    let mut last: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut lines: Vec<(&str, usize, String)> = Vec::new();
    for (run, entry) in history.iter().enumerate() {
        let Entry { day, code, machine, remark, times } = entry;
        for (name, [median, low, high]) in times {
            let before = last.insert((name, machine), *median);
            let ratio = before.map_or(String::new(), |before| format!("{:.2}", median / before));
            let interval = format!("{} to {}", time(*low), time(*high));
            lines.push((
                name,
                run,
                format!("| {name} | {day} | {code} | {} | {interval} | {ratio} | {machine} | {remark} |", time(*median)),
            ));
        }
    }
    lines.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    for (_, _, line) in lines {
        let _ = writeln!(text, "{line}");
    }
    put(&root().join("reports/performance/index.md"), &text)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match told[..] {
        ["record", remark] => record(remark),
        ["page"] => page(),
        _ => Err("performance record REMARK | performance page".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
