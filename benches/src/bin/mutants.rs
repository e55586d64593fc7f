//! Do the tests notice a change of the code? A seeded sample of mutants of one crate, tried by
//! cargo-mutants, and the page that says what became of them.
//!
//! `mutants try CRATE [COUNT]` lists the mutants of `mercer-CRATE`, draws 150 of them, runs the crate's
//! own tests and documentation examples against each, and writes the outcome into
//! `benches/mutants.toml`. `mutants again CRATE` tries those that were missed once more, after tests
//! were added. `mutants page` writes `reports/mutants.md`. A mutant that no test can notice, because
//! the program does the same, has its reason in `benches/mutants-equivalent.toml`, written by hand.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Seed of the draw; the crate is its stream.
const SEED: u64 = 20_261_120;
/// Mutants drawn of a crate.
const COUNT: usize = 150;

/// What became of the sample of one crate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tried {
    /// Revision of the source.
    code: String,
    /// Mutants of the crate, of which the sample was drawn.
    listed: usize,
    /// A test failed.
    caught: usize,
    /// The tests ran for longer than five times their usual time.
    timeout: usize,
    /// Did not compile: no mutant.
    unviable: usize,
    /// All tests passed.
    missed: Vec<String>,
    /// Of those missed at first, the ones that a test added since catches.
    #[serde(default)]
    caught_since: Vec<String>,
}

impl Tried {
    /// Mutants that compile.
    fn viable(&self) -> usize {
        self.caught + self.timeout + self.missed.len()
    }
}

type Equivalent = BTreeMap<String, String>;

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

fn results() -> Result<BTreeMap<String, Tried>, String> {
    let path = root().join("benches/mutants.toml");
    toml::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn keep(results: &BTreeMap<String, Tried>) -> Result<(), String> {
    let text = toml::to_string_pretty(results).map_err(|error| error.to_string())?;
    let head = "# What became of a seeded sample of mutants. Written by `just mutants`.\n\n";
    put(&root().join("benches/mutants.toml"), &format!("{head}{text}"))
}

/// What a program prints, where it succeeds.
fn told(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} {}: {}", arguments.join(" "), said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
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
fn draw(name: &str, listed: &[String], count: usize) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    // FNV-1a: the same number on every machine.
    let stream = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    rng.set_stream(stream);
    let mut chosen = sample(&mut rng, listed.len(), count.min(listed.len())).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|index| listed[index].clone()).collect()
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

/// Runs the crate's tests against these mutants: caught, missed, ran too long, did not compile.
fn run(name: &str, mutants: &[String]) -> Result<[Vec<String>; 4], String> {
    let folder = root().join("target/mutants").join(name);
    let config = folder.join("sample.toml");
    let chosen: Vec<String> = mutants.iter().map(|mutant| exactly(mutant)).collect();
    let text = toml::to_string(&BTreeMap::from([("examine_re", chosen)]));
    put(&config, &text.map_err(|error| error.to_string())?)?;
    let status = Command::new("cargo")
        .args(["mutants", "--package", &package(name), "--profile", "mutants", "--jobs", "1"])
        .args(["--no-shuffle", "--colors", "never", "--minimum-test-timeout", "20"])
        .args(["--timeout-multiplier", "5", "--config"])
        .arg(&config)
        .arg("--output")
        .arg(&folder)
        .current_dir(root())
        .status()
        .map_err(|error| format!("cannot run cargo mutants: {error}"))?;
    // 0: all caught; 2: some missed; 3: some ran too long. Others: nothing was tried.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!("cargo mutants ended with {status}; its tests must pass unchanged"));
    }
    let lines = |file: &str| -> Result<Vec<String>, String> {
        let text = read(&folder.join("mutants.out").join(file))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let outcome =
        [lines("caught.txt")?, lines("missed.txt")?, lines("timeout.txt")?, lines("unviable.txt")?];
    let tried: usize = outcome.iter().map(Vec::len).sum();
    if tried != mutants.len() {
        return Err(format!("{tried} mutants were tried, {} were asked for", mutants.len()));
    }
    Ok(outcome)
}

fn attempt(name: &str, count: usize) -> Result<(), String> {
    let listed = list(name)?;
    let drawn = draw(name, &listed, count);
    let code = told("git", &["rev-parse", "--short", "HEAD"])?;
    let [caught, missed, timeout, unviable] = run(name, &drawn)?;
    let tried = Tried {
        code,
        listed: listed.len(),
        caught: caught.len(),
        timeout: timeout.len(),
        unviable: unviable.len(),
        missed,
        caught_since: Vec::new(),
    };
    let mut results = results()?;
    results.insert(name.to_owned(), tried);
    keep(&results)?;
    page()
}

fn again(name: &str) -> Result<(), String> {
    let mut results = results()?;
    let tried = results.get_mut(name).ok_or_else(|| format!("`{name}` was not tried yet"))?;
    let left: Vec<String> =
        tried.missed.iter().filter(|m| !tried.caught_since.contains(m)).cloned().collect();
    let [caught, _, timeout, _] = run(name, &left)?;
    tried.caught_since.extend(caught.into_iter().chain(timeout));
    tried.caught_since.sort();
    keep(&results)?;
    page()
}

fn page() -> Result<(), String> {
    let path = root().join("benches/mutants-equivalent.toml");
    let equivalent: Equivalent =
        toml::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let results = results()?;
    let mut text = format!(
        "# Mutants\n\nWritten by `just mutants CRATE`: cargo-mutants changes one place of the code at a time, and the \
         crate's own tests and documentation examples should fail. Of all mutants of a crate {COUNT} are drawn by the \
         seed {SEED} (stream: the crate's name). Shares are of the mutants that compile; one that makes the tests run for \
         five times their usual time counts as caught, since a hanging test is noticed. A mutant missed at first and \
         not equivalent became a test; the last column counts these, tried again.\n\n\
         | crate | revision | mutants | drawn | do not compile | caught | ran too long | missed | caught (%) | equivalent | caught with tests added since (%) |\n\
         |:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let share = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
    // Writing to a string cannot fail.
    for (name, tried) in &results {
        let viable = tried.viable();
        let (noticed, since) = (tried.caught + tried.timeout, tried.caught_since.len());
        let same = tried.missed.iter().filter(|mutant| equivalent.contains_key(*mutant)).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {same} | {:.1} |",
            tried.code,
            tried.listed,
            viable + tried.unviable,
            tried.unviable,
            tried.caught,
            tried.timeout,
            tried.missed.len(),
            share(noticed, viable),
            share(noticed + since, viable),
        );
    }
    for (name, tried) in &results {
        let _ = write!(text, "\n## Missed in {name}\n\n");
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

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match told[..] {
        ["try", name] => attempt(name, COUNT),
        ["try", name, count] => count
            .parse()
            .map_err(|_| format!("`{count}` is no number of mutants"))
            .and_then(|count| attempt(name, count)),
        ["again", name] => again(name),
        ["page"] => page(),
        _ => Err("mutants try CRATE [COUNT] | mutants again CRATE | mutants page".to_owned()),
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
        let drawn = draw("theory", &listed, 150);
        assert_eq!(drawn, draw("theory", &listed, 150));
        assert_ne!(drawn, draw("linalg", &listed, 150));
        let mut distinct = drawn.clone();
        distinct.dedup();
        assert_eq!((drawn.len(), distinct.len()), (150, 150));
        assert_eq!(draw("theory", &listed[..7], 150), listed[..7]);
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
