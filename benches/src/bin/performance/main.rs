//! The page on speed: instructions, ratios to other programs, and history of criterion's times. The instructions are of
//! the hot paths.
//!
//! `performance record REMARK` appends the times that criterion left in `target/criterion` to
//! `benches/history.jsonl`, with the day, the revision and the machine. `performance record REMARK CHECKOUT` takes them from
//! the folder of another checkout, such as one of an older revision. `performance page` writes
//! `reports/performance/index.md` from that file, `benches/counts.toml` and `benches/peers.jsonl`.

mod growth;
mod history;
mod trends;

use history::{Entry, history, put, read, root};
use mercer_benches::{revision, told};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// What criterion left of a benchmark: median and interval in nanoseconds, and when.
struct Left {
    times: [f64; 3],
    at: SystemTime,
}

/// Every `new/estimates.json` below criterion's folder, with the benchmark's name.
fn estimates(folder: &Path, found: &mut BTreeMap<String, Left>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if !path.is_dir() {
            continue;
        }
        let (names, numbers) = (path.join("benchmark.json"), path.join("estimates.json"));
        if path.ends_with("new") && names.is_file() && numbers.is_file() {
            let at = numbers.metadata().and_then(|data| data.modified()).map_err(fault)?;
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
                found.insert(name.to_owned(), Left { times: [median, low, high], at });
            }
        } else {
            estimates(&path, found)?;
        }
    }
    Ok(())
}

/// All benches take three quarters of an hour, more on a slow machine: older times are of another run, and maybe of
/// another source.
const A_RUN: Duration = Duration::from_hours(2);

/// The times of the last run, and the names of benchmarks that criterion has times of from before.
fn last_run(found: BTreeMap<String, Left>) -> (BTreeMap<String, [f64; 3]>, Vec<String>) {
    let newest = found.values().map(|left| left.at).max();
    let (now, before): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, left)| {
        newest.is_some_and(|newest| newest.duration_since(left.at).is_ok_and(|age| age <= A_RUN))
    });
    let times = now.into_iter().map(|(name, left)| (name, left.times)).collect();
    (times, before.into_iter().map(|(name, _)| name).collect())
}

fn record(remark: &str, checkout: &Path) -> Result<(), String> {
    let checkout = checkout.canonicalize().map_err(|e| format!("{}: {e}", checkout.display()))?;
    let mut found = BTreeMap::new();
    estimates(&checkout.join("target/criterion"), &mut found)?;
    let (times, before) = last_run(found);
    if !before.is_empty() {
        let (count, hours) = (before.len(), A_RUN.as_secs() / 3600);
        eprintln!(
            "left out, timed more than {hours} hours before the last: {count} of {}",
            before.join(", ")
        );
    }
    if times.is_empty() {
        return Err(
            "criterion left no times in target/criterion; run `just bench` first".to_owned()
        );
    }
    let cpu = read(Path::new("/proc/cpuinfo"))?;
    let told_of = |what: &str| {
        let value = |line: &str| {
            Some(line.strip_prefix(what)?.trim_start().strip_prefix(':')?.trim().to_owned())
        };
        cpu.lines().find_map(value).unwrap_or_else(|| "unknown".to_owned())
    };
    // Two kinds of machine can have one name.
    let [name, family, model] = ["model name", "cpu family", "model"].map(told_of);
    let entry = Entry {
        day: told("date", &["-u", "+%F"])?,
        code: revision(&checkout.to_string_lossy())?,
        machine: format!(
            "{name} (family {family}, model {model}), {}",
            mercer_linalg::dispatch().name()
        ),
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

/// Ratios of one comparison with another program, one a round.
#[derive(Debug, Deserialize)]
struct Comparison {
    what: String,
    peer: String,
    minimum: f64,
    median: f64,
    maximum: f64,
    /// Milliseconds by variant: `ours`, and every way to run theirs that was tried.
    #[serde(default)]
    variants: BTreeMap<String, f64>,
    /// Of a whole command: seconds, the most megabytes, and the score.
    #[serde(default)]
    sides: Option<Sides>,
}

impl Comparison {
    /// Whether it is of the same with the same program, whatever the version.
    fn is_like(&self, other: &Self) -> bool {
        let program = |own: &Self| own.peer.split([' ', ',']).next().map(str::to_owned);
        self.what == other.what && program(self) == program(other)
    }

    /// Whether it is of a case that could not be timed, such as `KernelRidge, letter, 18000 rows, theirs`.
    fn is_of(&self, missing: &str) -> bool {
        let mut parts = missing.split(", ");
        let (Some(peer), Some(data), Some(rows)) = (parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let rows = rows.trim_end_matches(" rows");
        self.peer.contains(peer) && self.what.contains(&format!("{data}, {rows} x "))
    }
}

#[derive(Debug, Deserialize)]
struct Sides {
    ours: [f64; 3],
    theirs: [f64; 3],
}

/// What one run of `peers/all.py` left.
#[derive(Debug, Deserialize)]
struct Peers {
    day: String,
    code: String,
    load: Option<f64>,
    /// Model of the processor; runs before the nineteenth have none.
    machine: Option<String>,
    remark: String,
    /// Of the whole commands: empty where all cases were timed.
    cases: Option<String>,
    missing: BTreeMap<String, String>,
    rows: Vec<Comparison>,
}

// Writing to a string cannot fail.
macro_rules! say {
    ($text:expr, $($told:tt)*) => { let _ = writeln!($text, $($told)*); };
}

/// A count of instructions, and the reason of the last change.
#[derive(Debug, Deserialize)]
struct Count {
    instructions: u64,
    because: String,
}

fn counts(text: &mut String) -> Result<(), String> {
    text.push_str(
        "## Instructions of the hot paths\n\nCounted by valgrind on a virtual processor without AVX-512. \
         `just bench-counts` fails when a count is more than 3 % above or below these.\n\n\
         | hot path | instructions | reason of the last change |\n|:--|--:|:--|\n",
    );
    let counts: BTreeMap<String, Count> =
        toml::from_str(&read(&root().join("benches/counts.toml"))?).map_err(|e| e.to_string())?;
    for (name, Count { instructions, because }) in &counts {
        say!(text, "| {name} | {instructions} | {because} |");
    }
    Ok(())
}

fn peers(text: &mut String) -> Result<(), String> {
    text.push_str("\n## Beside other programs\n\n");
    let found = read(&root().join("benches/peers.jsonl"))?;
    let runs: Vec<Peers> = found
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|e| format!("benches/peers.jsonl: {e}")))
        .collect::<Result<_, _>>()?;
    beside(text, &runs);
    Ok(())
}

/// What the last run that has it says of each comparison, and the number of that run: one of a single script leaves the
/// others as they were. What a later run could not time is left out.
fn latest(runs: &[Peers]) -> Vec<(usize, &Comparison)> {
    let mut found: Vec<(usize, &Comparison)> = Vec::new();
    for (number, run) in (1..).zip(runs) {
        for row in &run.rows {
            match found.iter_mut().find(|(_, known)| known.is_like(row)) {
                Some(known) => *known = (number, row),
                None => found.push((number, row)),
            }
        }
        found.retain(|(_, row)| !run.missing.keys().any(|case| row.is_of(case)));
    }
    found
}

/// The index of the last run that timed every whole command. What only an earlier run has is no case any more.
fn last_of_all_cases(runs: &[Peers]) -> usize {
    let all = |run: &Peers| {
        run.cases.as_deref() == Some("") && run.rows.iter().any(|row| row.sides.is_some())
    };
    runs.iter().rposition(all).unwrap_or(0)
}

/// The last numbers in full, and how the medians of the ones before them were.
fn beside(text: &mut String, runs: &[Peers]) {
    let Some((last, earlier)) = runs.split_last() else {
        text.push_str("Not run yet: `just bench-peers`.\n");
        return;
    };
    let (mut whole, rows): (Vec<_>, Vec<_>) =
        latest(runs).into_iter().partition(|(_, row)| row.sides.is_some());
    let complete = last_of_all_cases(runs);
    whole.retain(|(run, _)| *run > complete);
    comparisons(text, runs, &rows);
    variants(text, &rows);
    whole_commands(text, &whole);
    text.push_str(LEFT_OUT);
    let missing: BTreeMap<_, _> = runs[complete..].iter().flat_map(|run| &run.missing).collect();
    let timed_since = |case: &str| whole.iter().any(|(_, row)| row.is_of(case));
    for (what, reason) in missing
        .iter()
        .filter(|(what, reason)| !reason.contains("not reached") && !timed_since(what))
    {
        say!(text, "\nNot measured: {what} ({reason}).");
    }
    if earlier.is_empty() {
        say!(text, "\nRun 1: {}.", last.circumstances());
        return;
    }
    let numbers: Vec<String> = (1..=runs.len()).map(|run| format!("run {run}")).collect();
    say!(
        text,
        "\nThe medians of each run, and milliseconds of ours. Machines and their neighbours differ from run to run.\n\n\
         | what | {} |\n|:--{}|",
        numbers.join(" | "),
        "|--:".repeat(runs.len())
    );
    for (_, row) in &rows {
        let cells: Vec<String> = runs.iter().map(|run| run.median_of(&row.what)).collect();
        say!(text, "| {} | {} |", row.what, cells.join(" | "));
    }
    text.push('\n');
    for (run, number) in runs.iter().zip(1..) {
        say!(text, "- run {number}: {}", run.circumstances());
    }
}

/// What was timed alone, beside other programs.
fn comparisons(text: &mut String, runs: &[Peers], rows: &[(usize, &Comparison)]) {
    // One lucky run is no evidence.
    let typical = |row: &Comparison| {
        let of_all = runs.iter().flat_map(|run| &run.rows).filter(|own| own.is_like(row));
        let mut all: Vec<f64> = of_all.map(|own| own.median).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    // A limit of our own is no other program.
    let programs = || rows.iter().filter(|(_, row)| !row.peer.contains(" times "));
    let faster = programs().filter(|(_, row)| typical(row) > 1.0).count();
    let ratios: Vec<f64> = programs().map(|(_, row)| row.median).collect();
    let [least, most] =
        [(f64::INFINITY, f64::min as fn(f64, f64) -> f64), (f64::NEG_INFINITY, f64::max)]
            .map(|(start, of)| ratios.iter().copied().fold(start, of));
    say!(
        text,
        "By the medians of all runs, ours is faster in {faster} of {} comparisons. In the last run of each their time over ours is {least:.2} to {most:.2}.\n\n\
         Ratios are medians over rounds in which both alternate (`just bench-peers`). Above 1, ours is faster. \
         Each row is from the last run that timed it; the last column has the medians of all runs.\n\n\
         | what | peer | run | theirs over ours | over its rounds | over all runs |\n|:--|:--|--:|--:|--:|--:|",
        programs().count()
    );
    for (run, row) in rows {
        let Comparison { what, peer, minimum, median, maximum, .. } = row;
        let all = runs.iter().flat_map(|run| &run.rows).filter(|own| own.is_like(row));
        let (all, least, most) = all.fold((0, f64::INFINITY, 0.0), |(all, least, most), row| {
            (all + 1, row.median.min(least), row.median.max(most))
        });
        say!(
            text,
            "| {what} | {peer} | {run} | {median:.2} | {minimum:.2} to {maximum:.2} | {least:.2} to {most:.2} ({all} runs) |"
        );
    }
}

/// Which cases no script has, and why.
const LEFT_OUT: &str = "\nNot in the table: SVM and kernel ridge at 200,000 rows (a kernel matrix of \
    320 GB; LIBSVM was not tried). Gaussian processes above 2,000 rows (scikit-learn's time grows with their cube). \
    xRFM above 2,000 rows, but for letter (see below). The package Falkon, which does not install here. No dataset at hand has 16 or 100 \
    columns at each size: letter has 16, MNIST as means of pixels 100, covtype both, and cadata 8.\n";

/// From the file to the predictions, as a person waits for it.
fn whole_commands(text: &mut String, rows: &[(usize, &Comparison)]) {
    if rows.is_empty() {
        return;
    }
    let faster = |way: &str| {
        let own = || rows.iter().filter(|(_, row)| row.what.ends_with(way));
        (own().filter(|(_, row)| row.median > 1.0).count(), own().count())
    };
    let ((commands, of_commands), (python, of_python)) =
        (faster("two commands"), faster("in Python"));
    say!(
        text,
        "\n### From a CSV file to predictions\n\nOurs is faster in {commands} of {of_commands} cases as two commands, and in \
         {python} of {of_python} in Python. Time and memory are of whole processes that read, fit, predict and write. Both \
         sides have the same length scale, C, ridge and number of features. Score: accuracy, or R² on cadata.\n\n\
         | ours | theirs | run | theirs over ours | seconds, ours | theirs | MB, ours | theirs | score, ours | theirs |\n\
         |:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    for (run, row) in rows {
        let Some(Sides { ours, theirs }) = &row.sides else { continue };
        say!(
            text,
            "| {} | {} | {run} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} | {:.3} | {:.3} |",
            row.what,
            row.peer,
            row.median,
            ours[0],
            theirs[0],
            ours[1],
            theirs[1],
            ours[2],
            theirs[2]
        );
    }
}

impl Peers {
    /// When, of what, and beside what it was timed.
    fn circumstances(&self) -> String {
        let Self { day, code, remark, .. } = self;
        let load = self.load.map(|load| format!("{load:.1} programs wanted two cores: "));
        let machine = self.machine.as_ref().map(|machine| format!("{machine}; "));
        let (load, machine) = (load.unwrap_or_default(), machine.unwrap_or_default());
        format!("{day}, revision {code}; {machine}{load}{remark}")
    }

    /// `3.52 (1.712 ms)`, or a dash where this run has no such row.
    fn median_of(&self, what: &str) -> String {
        let Some(row) = self.rows.iter().find(|row| row.what == what) else {
            return "-".to_owned();
        };
        match row.variants.get("ours") {
            Some(ours) => format!("{:.2} ({ours:.3} ms)", row.median),
            None => format!("{:.2}", row.median),
        }
    }
}

/// Every way to run theirs, where several were tried: one table for each set of ways.
fn variants(text: &mut String, rows: &[(usize, &Comparison)]) {
    let names = |row: &Comparison| -> Vec<String> {
        row.variants.keys().filter(|name| *name != "ours").cloned().collect()
    };
    let mut sets: Vec<Vec<String>> = Vec::new();
    for set in rows.iter().map(|(_, row)| names(row)) {
        if !set.is_empty() && !sets.contains(&set) {
            sets.push(set);
        }
    }
    for set in sets {
        say!(
            text,
            "\nMedian milliseconds of each way to run theirs:\n\n| what | ours | {} |\n|:--|--:{}|",
            set.join(" | "),
            "|--:".repeat(set.len())
        );
        for (_, row) in rows.iter().filter(|(_, row)| names(row) == set) {
            let ours = row.variants.get("ours").copied().unwrap_or(f64::NAN);
            let theirs: Vec<String> =
                set.iter().map(|name| format!("{:.3}", row.variants[name])).collect();
            say!(text, "| {} | {ours:.3} | {} |", row.what, theirs.join(" | "));
        }
    }
}

/// A time over the one before, as it is and in products of the library.
fn ratios(
    before: Option<(f64, Option<f64>)>,
    (median, product): (f64, Option<f64>),
) -> [Option<f64>; 2] {
    let Some((earlier, its_product)) = before else { return [None; 2] };
    let ratio = median / earlier;
    [Some(ratio), product.zip(its_product).map(|(product, its)| ratio * its / product)]
}

fn times(text: &mut String, history: &[Entry]) -> Result<(), String> {
    text.push_str("\n## Times\n\n");
    if history.is_empty() {
        text.push_str("None recorded yet: `just bench`, then `just performance-record`.\n");
        return Ok(());
    }
    trends::draw(history, text)?;
    text.push_str(
        "| run | day | revision | machine | matrix product | remark |\n|--:|:--|:--|:--|--:|:--|\n",
    );
    for (run, entry) in history.iter().enumerate() {
        let Entry { day, code, machine, remark, .. } = entry;
        let product = entry.yardstick("").map_or_else(|| "-".to_owned(), time);
        say!(text, "| {} | {day} | {code} | {machine} | {product} | {remark} |", run + 1);
    }
    text.push_str(
        "\nMedians of criterion with their 95 % intervals. Ratio: to the run before on the same machine. Last column: \
         that ratio over the matrix product's. `claim-...` and the hot paths are processor seconds, beside `claim-product`; \
         all others are seconds.\n\n\
         | benchmark | run | median | interval | ratio | over the product's |\n|:--|--:|--:|--:|--:|--:|\n",
    );
    let mut last: BTreeMap<(&str, &str), (f64, Option<f64>)> = BTreeMap::new();
    let mut lines: Vec<(&str, usize, String)> = Vec::new();
    for (run, entry) in history.iter().enumerate() {
        for (name, [median, low, high]) in &entry.times {
            let now = (*median, entry.yardstick(name));
            let before = last.insert((name, &entry.machine), now);
            let [ratio, products] = ratios(before, now)
                .map(|ratio| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
            let interval = format!("{} to {}", time(*low), time(*high));
            let median = time(*median);
            let line =
                format!("| {name} | {} | {median} | {interval} | {ratio} | {products} |", run + 1);
            lines.push((name, run, line));
        }
    }
    lines.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    for (_, _, line) in lines {
        say!(text, "{line}");
    }
    Ok(())
}

fn page() -> Result<(), String> {
    let history = history()?;
    let mut text = "# Performance\n\nThis page is written by `just performance`.\n".to_owned();
    peers(&mut text)?;
    text.push_str("\n## Costs that the papers print\n\n");
    growth::draw(&history, &mut text)?;
    text.push('\n');
    counts(&mut text)?;
    times(&mut text, &history)?;
    put(&root().join("reports/performance/index.md"), &text)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match told[..] {
        ["record", remark] => record(remark, &root()),
        ["record", remark, checkout] => record(remark, Path::new(checkout)),
        ["page"] => page(),
        _ => Err("performance record REMARK [CHECKOUT] | performance page".to_owned()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests;
