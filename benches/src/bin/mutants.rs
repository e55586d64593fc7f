//! Do the tests notice a change of the code? A seeded sample of mutants of one crate, tried by
//! cargo-mutants, and the page that says what became of them.
//!
//! `mutants try CRATE [SEED]` lists the mutants of `mercer-CRATE`, draws 150 of them, runs the crate's
//! own tests and documentation examples against each, and writes the outcome into
//! `benches/mutants.toml`: a draw by another seed stands beside the earlier ones, since tests written for
//! what one draw missed make that draw say little of the rest. `mutants again CRATE` tries those that the
//! last draw missed once more, after tests were added. `mutants draw CRATE [SEED]` writes
//! `target/mutants/CRATE/sample.toml` alone, for a run by hand (`cargo mutants --config`), whose outcome
//! `mutants take CRATE [SEED]` takes. `mutants page` writes `reports/mutants.md`. A mutant that no test can
//! notice, because the program does the same, has its reason in `benches/mutants-equivalent.toml`, written
//! by hand.

use mercer_benches::{revision, told};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Seed of the draw where none is named; the crate is its stream.
const SEED: u64 = 20_261_120;
/// Mutants drawn of a crate.
const COUNT: usize = 150;
/// Share of the mutants that should be caught, in percent.
const WANTED: f64 = 85.0;
/// Processor seconds after which a test binary counts as hanging: many times what it needs. Wall-clock
/// seconds would call a busy machine a caught mutant.
const PROCESSOR_SECONDS: u32 = 40;

/// Seconds of the clock on the wall after which one that waits for ever is stopped: as many times what it needs as
/// no load makes of it.
const SECONDS: u32 = 300;

/// Tests that hold the optimised loops to a time: the crate under change is compiled for speed of compiling.
const TIMED: [&str; 1] = ["double::tests::the_library_is_not_called_where_it_is_not_needed"];

/// What became of one sample of a crate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    /// Seed of the draw.
    seed: u64,
    /// Revision of the source.
    code: String,
    /// Mutants of the crate, of which the sample was drawn.
    listed: usize,
    /// A test failed.
    caught: usize,
    /// Not reached, or the tests were still running after a quarter of an hour: nothing is known.
    undecided: usize,
    /// Did not compile: no mutant.
    unviable: usize,
    /// All tests passed.
    missed: Vec<String>,
    /// Of those missed at first, the ones that a test added since catches.
    #[serde(default)]
    caught_since: Vec<String>,
}

impl Tried {
    /// Mutants that compile and whose tests ended.
    fn viable(&self) -> usize {
        self.caught + self.missed.len()
    }
}

type Equivalent = BTreeMap<String, String>;

/// The draws of each crate, in the order in which they were tried first.
type Draws = BTreeMap<String, Vec<Tried>>;

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

fn results() -> Result<Draws, String> {
    let path = root().join("benches/mutants.toml");
    toml::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn keep(results: &Draws) -> Result<(), String> {
    let text = toml::to_string_pretty(results).map_err(|error| error.to_string())?;
    let head = "# What became of seeded samples of mutants. Written by `just mutants`.\n\n";
    put(&root().join("benches/mutants.toml"), &format!("{head}{text}"))
}

fn package(name: &str) -> String {
    format!("mercer-{name}")
}

/// All mutants of a crate, one a line: place and change.
fn list(name: &str) -> Result<Vec<String>, String> {
    let listed = told("cargo", &["mutants", "--list", "--package", &package(name)])
        .map_err(|error| format!("{error}; `./setup --checks` installs cargo-mutants"))?;
    let listed: Vec<String> = listed.lines().map(str::to_owned).collect();
    if listed.is_empty() {
        return Err(format!("`{name}` has no mutants; name a crate of crates/"));
    }
    Ok(listed)
}

/// `count` of the mutants, in their order; the stream of the draw is named by the crate.
fn draw(name: &str, seed: u64, listed: &[String], count: usize) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // FNV-1a: the same number on every machine.
    let stream = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    rng.set_stream(stream);
    let mut chosen = sample(&mut rng, listed.len(), count.min(listed.len())).into_vec();
    chosen.sort_unstable();
    // Two changes may have one name, as of two types in a macro: they are tried, and count, as one.
    let mut seen = BTreeSet::new();
    let names = chosen.into_iter().map(|index| &listed[index]);
    names.filter(|name| seen.insert(*name)).cloned().collect()
}

/// A regular expression that matches this text and no other.
fn exactly(text: &str) -> String {
    let mut escaped = String::from("^");
    for letter in text.chars() {
        // Not `<` and `>`: with a backslash they are the borders of a word.
        if r"\.+*?()|[]{}^$".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped.push('$');
    escaped
}

fn folder(name: &str) -> PathBuf {
    root().join("target/mutants").join(name)
}

/// Writes the configuration that lets cargo-mutants try these and no others.
fn choose(name: &str, mutants: &[String]) -> Result<PathBuf, String> {
    let config = folder(name).join("sample.toml");
    let chosen: Vec<String> = mutants.iter().map(|mutant| exactly(mutant)).collect();
    let text = toml::to_string(&BTreeMap::from([("examine_re", chosen)]));
    put(&config, &text.map_err(|error| error.to_string())?)?;
    Ok(config)
}

/// Runs the crate's tests against these mutants: caught, missed, undecided, did not compile.
fn run(name: &str, mutants: &[String]) -> Result<[Vec<String>; 4], String> {
    let (folder, config) = (folder(name), choose(name, mutants)?);
    let triple = format!("{}_UNKNOWN_LINUX_GNU", std::env::consts::ARCH.to_uppercase());
    let runner = format!("CARGO_TARGET_{triple}_RUNNER");
    let status = Command::new("cargo")
        .args(["mutants", "--package", &package(name), "--profile", "release", "--jobs", "1"])
        // Features as everywhere, so that outside crates are compiled once (and, with a
        // CARGO_TARGET_DIR that holds them, not at all); the crate itself some hundred times, so fast.
        .arg("--cargo-arg=--package=mercer-dependencies")
        .arg(format!("--cargo-arg=--config=profile.release.package.{}.opt-level=1", package(name)))
        .arg(format!("--cargo-arg=--config=profile.release.package.{}.debug=0", package(name)))
        .env("CARGO_INCREMENTAL", "1")
        .env(runner, format!("timeout --signal=KILL {SECONDS} prlimit --cpu={PROCESSOR_SECONDS}"))
        // In a random order, so that what is tried of a run that was stopped is a sample, too.
        .args(["--shuffle", "--colors", "never", "--timeout", "900", "--config"])
        .arg(&config)
        .arg("--output")
        .arg(&folder)
        .args(["--", "--"])
        .args(TIMED.iter().flat_map(|test| ["--skip", test]))
        .current_dir(root())
        .status()
        .map_err(|error| format!("cannot run cargo mutants: {error}"))?;
    // 0: all caught; 2: some missed; 3: some ran too long. Others: nothing was tried.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!("cargo mutants ended with {status}; its tests must pass unchanged"));
    }
    outcome(name, mutants)
}

/// What cargo-mutants left of these mutants.
fn outcome(name: &str, mutants: &[String]) -> Result<[Vec<String>; 4], String> {
    let lines = |file: &str| -> Result<Vec<String>, String> {
        let text = read(&folder(name).join("mutants.out").join(file))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let outcome =
        [lines("caught.txt")?, lines("missed.txt")?, lines("timeout.txt")?, lines("unviable.txt")?];
    let of_sample = sampled(outcome, mutants);
    if of_sample.iter().all(Vec::is_empty) && !mutants.is_empty() {
        return Err(format!("nothing of the sample was tried; see {}", folder(name).display()));
    }
    Ok(by_name(of_sample))
}

/// What is of the sample: `examine_re` lets a field that is left out of a struct pass whatever it says, so
/// cargo-mutants tries a few more.
fn sampled(outcome: [Vec<String>; 4], mutants: &[String]) -> [Vec<String>; 4] {
    outcome.map(|names| names.into_iter().filter(|name| mutants.contains(name)).collect())
}

/// Each name once: of several changes with one name the one that fared worst for the tests counts, missed
/// before undecided before caught.
fn by_name([caught, missed, undecided, unviable]: [Vec<String>; 4]) -> [Vec<String>; 4] {
    let mut seen = BTreeSet::new();
    let [missed, undecided, caught, unviable] = [missed, undecided, caught, unviable]
        .map(|names| names.into_iter().filter(|name| seen.insert(name.clone())).collect());
    [caught, missed, undecided, unviable]
}

/// The sample of a crate, and how many mutants it was drawn of.
fn drawn(name: &str, seed: u64) -> Result<(Vec<String>, usize), String> {
    let listed = list(name)?;
    Ok((draw(name, seed, &listed, COUNT), listed.len()))
}

fn attempt(name: &str, seed: u64) -> Result<(), String> {
    let (drawn, listed) = drawn(name, seed)?;
    let code = revision()?;
    let outcome = run(name, &drawn)?;
    write(name, (seed, code), [listed, drawn.len()], outcome)
}

fn take(name: &str, seed: u64) -> Result<(), String> {
    let (drawn, listed) = drawn(name, seed)?;
    write(name, (seed, revision()?), [listed, drawn.len()], outcome(name, &drawn)?)
}

fn write(
    name: &str,
    (seed, code): (u64, String),
    [listed, drawn]: [usize; 2],
    [caught, missed, _, unviable]: [Vec<String>; 4],
) -> Result<(), String> {
    let tried = Tried {
        seed,
        code,
        listed,
        caught: caught.len(),
        undecided: drawn - caught.len() - missed.len() - unviable.len(),
        unviable: unviable.len(),
        missed,
        caught_since: Vec::new(),
    };
    let mut results = results()?;
    beside(results.entry(name.to_owned()).or_default(), tried);
    keep(&results)?;
    page()
}

/// A draw that was tried before, at another revision, is replaced; another stands beside it, last.
fn beside(draws: &mut Vec<Tried>, tried: Tried) {
    draws.retain(|earlier| earlier.seed != tried.seed);
    draws.push(tried);
}

fn again(name: &str) -> Result<(), String> {
    let mut results = results()?;
    let tried = results
        .get_mut(name)
        .and_then(|draws| draws.last_mut())
        .ok_or_else(|| format!("`{name}` was not tried yet"))?;
    let left: Vec<String> =
        tried.missed.iter().filter(|m| !tried.caught_since.contains(m)).cloned().collect();
    let [caught, ..] = run(name, &left)?;
    tried.caught_since.extend(caught);
    tried.caught_since.sort();
    keep(&results)?;
    page()
}

fn share(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of as f64
}

/// How the share that is caught stands to the one wanted, whatever became of the undecided.
fn judged(caught: usize, viable: usize, undecided: usize) -> &'static str {
    if share(caught, viable + undecided) >= WANTED {
        "met"
    } else if share(caught + undecided, viable + undecided) < WANTED {
        "not met"
    } else {
        "open"
    }
}

fn page() -> Result<(), String> {
    let path = root().join("benches/mutants-equivalent.toml");
    let equivalent: Equivalent =
        toml::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let results = results()?;
    let mut text = format!(
        "# Mutants\n\nWritten by `just mutants CRATE`: cargo-mutants changes one place of the code at a time, and the \
         crate's own tests and documentation examples should fail. Of all mutants of a crate {COUNT} are drawn by a \
         seed (stream: the crate's name); tests written for what one draw missed make it say little of the others, \
         so that a later draw by another seed is the fairer measure. A test binary that hangs is stopped after {PROCESSOR_SECONDS} seconds of \
         processor time, or {SECONDS} of the clock on the wall, and has failed; what a run that was stopped had not reached (they are tried in a random order) is \
         undecided. Shares are of \
         the mutants that compile and were decided. A mutant missed at first and not equivalent became a test; the \
         last share counts these, tried again. The verdict is of those caught at first, before any test was written for \
         the draw: a crate stands by its last one.\n\n\
         | crate | seed | revision | mutants | drawn | do not compile | caught | undecided | missed | caught (%) | equivalent | caught at first of those not equivalent (%) | at least {WANTED} % | caught with tests added since (%) |\n\
         |:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|:--|--:|\n"
    );
    // Writing to a string cannot fail.
    let draws = || results.iter().flat_map(|(name, draws)| draws.iter().map(move |t| (name, t)));
    for (name, tried) in draws() {
        let viable = tried.viable();
        let (noticed, since) = (tried.caught, tried.caught_since.len());
        let same = tried.missed.iter().filter(|mutant| equivalent.contains_key(*mutant)).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {same} | {:.1} | {} | {:.1} |",
            tried.seed,
            tried.code,
            tried.listed,
            viable + tried.unviable + tried.undecided,
            tried.unviable,
            tried.caught,
            tried.undecided,
            tried.missed.len(),
            share(noticed, viable),
            share(noticed, viable - same),
            judged(noticed, viable - same, tried.undecided),
            share(noticed + since, viable),
        );
    }
    for (name, tried) in draws() {
        let _ = write!(text, "\n## Missed in {name}, seed {}\n\n", tried.seed);
        if tried.missed.is_empty() {
            text.push_str("None.\n");
        }
        for mutant in &tried.missed {
            let now = if tried.caught_since.contains(mutant) {
                "caught by a test added since"
            } else {
                equivalent.get(mutant).map_or("still missed", String::as_str)
            };
            let _ = writeln!(text, "- `{mutant}`: {now}");
        }
    }
    put(&root().join("reports/mutants.md"), &text)
}

const USE: &str = "mutants try|draw|take CRATE [SEED], mutants again CRATE, or mutants page";

fn obey(order: &str, name: &str, seed: u64) -> Result<(), String> {
    match order {
        "try" => attempt(name, seed),
        "draw" => drawn(name, seed).and_then(|(drawn, _)| choose(name, &drawn)).map(|_| ()),
        "take" => take(name, seed),
        _ => Err(USE.to_owned()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match told[..] {
        ["again", name] => again(name),
        [order, name] => obey(order, name, SEED),
        [order, name, seed] => seed
            .parse()
            .map_err(|_| format!("`{seed}` is no seed: a whole number of at most 64 bits"))
            .and_then(|seed| obey(order, name, seed)),
        ["page"] => page(),
        _ => Err(USE.to_owned()),
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
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_seeded_by_the_crate_and_has_no_doubles() {
        let listed: Vec<String> = (0..1000).map(|i| format!("mutant {i}")).collect();
        let drawn = draw("theory", SEED, &listed, 150);
        assert_eq!(drawn, draw("theory", SEED, &listed, 150));
        assert_ne!(drawn, draw("linalg", SEED, &listed, 150));
        assert_ne!(drawn, draw("theory", SEED + 1, &listed, 150));
        let mut distinct = drawn.clone();
        distinct.dedup();
        assert_eq!((drawn.len(), distinct.len()), (150, 150));
        assert_eq!(draw("theory", SEED, &listed[..7], 150), listed[..7]);
    }

    #[test]
    fn changes_of_one_name_count_once_and_as_the_worst() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let outcome = by_name([
            names(&["a", "a", "b", "c"]),
            names(&["b"]),
            names(&["c"]),
            names(&["d", "a"]),
        ]);
        assert_eq!(outcome, [names(&["a"]), names(&["b"]), names(&["c"]), names(&["d"])]);
        let tried = [names(&["a", "x"]), names(&["y"]), names(&["b"]), names(&[])];
        let of_sample = [names(&["a"]), names(&[]), names(&["b"]), names(&[])];
        assert_eq!(sampled(tried, &names(&["a", "b", "c"])), of_sample);
        let listed = names(&["a", "a", "b", "b"]);
        assert_eq!(draw("theory", SEED, &listed, 4), names(&["a", "b"]));
    }

    #[test]
    fn a_draw_tried_again_replaces_itself_and_another_comes_last() {
        let tried = |seed, caught| Tried { seed, caught, ..Tried::default() };
        let mut draws = vec![tried(1, 70)];
        beside(&mut draws, tried(2, 80));
        beside(&mut draws, tried(1, 75));
        let now: Vec<_> = draws.iter().map(|tried| (tried.seed, tried.caught)).collect();
        assert_eq!(now, [(2, 80), (1, 75)]);
    }

    #[test]
    fn the_share_is_judged_whatever_became_of_the_undecided() {
        assert_eq!(judged(85, 100, 0), "met");
        assert_eq!(judged(84, 100, 0), "not met");
        assert_eq!(judged(90, 95, 5), "met");
        assert_eq!(judged(82, 90, 10), "open");
        assert_eq!(judged(70, 90, 10), "not met");
    }

    #[test]
    fn an_expression_escapes_all_that_has_a_meaning() {
        let name = "a/b.rs:4:7: replace < with <= in <impl X for Y>::f -> Option<&[f64]> with None";
        let escaped = exactly(name);
        assert!(escaped.contains(r"<impl X for Y>::f -> Option<&\[f64\]> with None"));
        assert!(escaped.contains(r"a/b\.rs:4:7: replace"));
        assert!(escaped.starts_with('^') && escaped.ends_with('$'));
    }
}
