//! Test of whether a change slows the benches. Criterion times a base commit and the working tree side by side.
//!
//! `compare [BASE] [--minutes N] [--only WORD] [--all]` builds the benches of both, and measures those hot paths whose
//! crates the change touches. Head and base run at the same time, each on a processor of its own, and then with their
//! places changed; so do base and base as a control. The statistic is the median over such rounds of the log-ratio.
//! `--all` measures every bench of every file, one program after the other where it is no hot path. `--only` takes
//! names that have the word, touched or not. It ends with 1 where a bench is slower, twice, or has vanished. Numbers
//! are left in `target/bench-ci/comparison.json`, a table in `$GITHUB_STEP_SUMMARY`.

mod selection;
mod sides;
mod table;
mod verdict;

use mercer_benches::{revision, told};
use selection::{Metadata, Touched};
use sides::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use table::{Comparison, Row};
use verdict::{Arm, Round, Run, Verdict, pairs};

/// Rounds of a run, at least and at most.
const ROUNDS: std::ops::RangeInclusive<usize> = 11..=31;

/// A short measurement: thirty samples of three milliseconds or one iteration.
const SHORT: [&str; 8] = [
    "--warm-up-time=0.03",
    "--measurement-time=0.1",
    "--sample-size=30",
    "--nresamples=1001",
    "--noplot",
    "--quiet",
    "--bench",
    "--exact",
];

const USAGE: &str = "compare [BASE] [--minutes N] [--only WORD] [--all]";

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq)]
struct Options {
    base: Option<String>,
    minutes: f64,
    only: Option<String>,
    all: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self { base: None, minutes: 10.0, only: None, all: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{argument} needs a value: {USAGE}"));
            match argument.as_str() {
                "--minutes" => {
                    let told = value()?;
                    let minutes = told.parse().ok().filter(|minutes| *minutes > 0.0);
                    options.minutes = minutes
                        .ok_or(format!("--minutes {told} is not a number above 0: --minutes 10"))?;
                }
                "--only" => options.only = Some(value()?.clone()),
                "--all" => options.all = true,
                base if !base.starts_with('-') && options.base.is_none() => {
                    options.base = Some(base.to_owned());
                }
                other => return Err(format!("`{other}` is not expected: {USAGE}")),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Options::parse(&arguments).and_then(|options| compare(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing is slower, and nothing has vanished.
fn compare(options: &Options) -> Result<bool, String> {
    let end = Instant::now() + Duration::from_secs_f64(60.0 * options.minutes);
    let nothing = |why: &str| {
        report(&format!("{why}: no bench compared\n"))?;
        Ok(true)
    };
    let base = match &options.base {
        Some(base) => {
            let commit = format!("{base}^{{commit}}");
            let known = sides::git(&["rev-parse", "--verify", "--quiet", &commit]);
            known.map_err(|_| {
                format!("git knows no commit {base}: git fetch --unshallow, or another")
            })?
        }
        None => match sides::base() {
            Some(base) => base,
            None => return nothing("git knows no commit before this one"),
        },
    };
    let metadata: Metadata =
        serde_json::from_str(&told("cargo", &["metadata", "--no-deps", "--format-version", "1"])?)
            .map_err(|error| format!("cargo metadata: {error}"))?;
    let files = sides::changed_since(&base)?;
    let touched = metadata.touched(files.iter().map(String::as_str));
    let wanted = |bench: &str| match &options.only {
        Some(word) => bench.contains(word.as_str()),
        None => options.all || selected(bench, &touched),
    };
    if !mercer_benches::HOT_PATHS.iter().any(|path| wanted(&path.id())) && options.only.is_none() {
        return nothing(&format!(
            "the change since {} touches no crate of a hot path",
            &base[..12]
        ));
    }

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    let folder = root.join("target/bench-ci");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let build = Wanted { all: options.all, planted: std::env::var_os("MERCER_PLANTED").is_some() };
    let left = || end.saturating_duration_since(Instant::now());
    let ours = sides::build(&root, &root.join("target"), build, left())
        .map_err(|error| format!("the working tree: {error}"))?;
    let plain = Wanted { planted: false, ..build };
    let theirs = match sides::build_commit(&root, &folder, &base, plain, left()) {
        Ok(theirs) => theirs,
        Err(error) => return nothing(&format!("{} cannot be built ({error})", &base[..12])),
    };
    // Names of one length: a longer one shifts the stack of a program, which alone makes a loop 2 % slower.
    let ours = sides::benches(&sides::copy(&ours, &folder.join("head"))?)?;
    let theirs = sides::benches(&sides::copy(&theirs, &folder.join("base"))?)?;
    let accepted = sides::accepted(&base)?;
    let mut comparison = Comparison {
        base: base[..12].to_owned(),
        head: revision("..")?,
        rounds: 0,
        load: 0.0,
        rows: alone(&ours, &theirs, &accepted, wanted),
        left_out: Vec::new(),
    };
    let processors = processors();
    let pairs: Vec<Pair> = ours
        .iter()
        .filter(|(bench, _)| wanted(bench))
        .filter_map(|(bench, head)| {
            let (bench, base) = (bench.clone(), theirs.get(bench)?.clone());
            let hot = mercer_benches::HOT_PATHS.iter().any(|path| path.id() == bench);
            let processors = processors.filter(|_| hot);
            Some(Pair {
                bench,
                base,
                head: head.clone(),
                home: folder.join("criterion"),
                processors,
            })
        })
        .collect();
    if pairs.is_empty() && comparison.rows.is_empty() {
        let word = options.only.as_deref().unwrap_or_default();
        return Err(format!(
            "no bench has `{word}` in its name: --only cosine, or --all --only exp"
        ));
    }
    measure(pairs, &accepted, &base, left(), &mut comparison)?;
    if comparison.rows.is_empty() {
        return nothing("no path has eleven rounds in this time, see --minutes");
    }
    let numbers = serde_json::to_string_pretty(&comparison).map_err(|error| error.to_string())?;
    let path = folder.join("comparison.json");
    std::fs::write(&path, numbers).map_err(|error| format!("{}: {error}", path.display()))?;
    print!("{}", comparison.text());
    summary(&comparison.markdown())?;
    Ok(!comparison.fails())
}

/// Whether the change touches a hot path's crate, or one below it.
fn selected(bench: &str, touched: &Touched) -> bool {
    let path = mercer_benches::HOT_PATHS.iter().find(|path| path.id() == bench);
    // A path that the list has lost is missed whatever was touched.
    path.is_none_or(|path| touched.has(&format!("mercer-{}", path.package)))
}

/// What one side alone has.
fn alone(
    ours: &BTreeMap<String, PathBuf>,
    theirs: &BTreeMap<String, PathBuf>,
    accepted: &BTreeSet<String>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Row> {
    let row = |bench: &String, verdict| {
        let bench = bench.clone();
        Row { bench, verdict, instructions: None, first: None, second: None }
    };
    let gone =
        theirs.keys().filter(|bench| !ours.contains_key(*bench) && !accepted.contains(*bench));
    let new = ours.keys().filter(|bench| !theirs.contains_key(*bench));
    gone.map(|bench| row(bench, Verdict::Vanished))
        .chain(new.map(|bench| row(bench, Verdict::New)))
        .filter(|row| wanted(&row.bench))
        .collect()
}

/// A bench that both sides have.
struct Pair {
    bench: String,
    base: PathBuf,
    head: PathBuf,
    /// Where criterion leaves its numbers.
    home: PathBuf,
    /// Where the two run at once. None for what is timed by the clock, and may have threads.
    processors: Option<[usize; 2]>,
}

impl Pair {
    /// A short run of criterion, with its numbers in a folder of the place.
    fn start(&self, arm: Arm, place: usize) -> Result<Child, String> {
        let program = if arm == Arm::Head { &self.head } else { &self.base };
        let home = self.home.join(place.to_string());
        let _ = std::fs::remove_dir_all(&home);
        let mut command = match self.processors {
            Some(processors) => {
                let mut pinned = Command::new("taskset");
                pinned.args(["-c", &processors[place].to_string()]).arg(program);
                pinned
            }
            None => Command::new(program),
        };
        command.args(SHORT).arg(&self.bench).env("CRITERION_HOME", &home);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let spawned = command.spawn();
        spawned.map_err(|error| format!("{}: {error}", command.get_program().display()))
    }

    /// Nanoseconds of an iteration: the fastest of the samples, which other work on the machine disturbed least.
    fn finish(&self, run: Child, place: usize) -> Result<f64, String> {
        let output = run.wait_with_output().map_err(|error| error.to_string())?;
        let sample = sample_file(&self.home.join(place.to_string()));
        let sample = sample.filter(|_| output.status.success()).ok_or_else(|| {
            format!("{}: {}", self.bench, String::from_utf8_lossy(&output.stderr).trim())
        })?;
        let text = std::fs::read_to_string(&sample).map_err(|error| error.to_string())?;
        fastest(&text).ok_or(format!("{} has no times", sample.display()))
    }

    /// The times of two programs. They run at once where each has a processor, else the second after the first.
    fn times(&self, arms: [Arm; 2]) -> Result<[f64; 2], String> {
        let first = self.start(arms[0], 0)?;
        if self.processors.is_none() {
            return Ok([self.finish(first, 0)?, self.finish(self.start(arms[1], 1)?, 1)?]);
        }
        let second = self.start(arms[1], 1)?;
        Ok([self.finish(first, 0)?, self.finish(second, 1)?])
    }

    fn round(&self, number: usize) -> Result<Round, String> {
        let mut round = [([Arm::Base; 2], [0.0; 2]); 4];
        for (slot, arms) in round.iter_mut().zip(pairs(number)) {
            *slot = (arms, self.times(arms)?);
        }
        Ok(Round::new(round))
    }
}

/// The first and the last processor that this program may use; the same twice where it has one.
fn processors() -> Option<[usize; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    allowed(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

/// The ends of a list such as `0-3,8`.
fn allowed(list: &str) -> Option<[usize; 2]> {
    let mut numbers = list.trim().split([',', '-']).map(|number| number.parse().ok());
    let first = numbers.next()??;
    Some([first, numbers.next_back().unwrap_or(Some(first))?])
}

/// The `new/sample.json` below criterion's folder.
fn sample_file(folder: &Path) -> Option<PathBuf> {
    let file = folder.join("new/sample.json");
    if file.is_file() {
        return Some(file);
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    entries.filter(|entry| entry.path().is_dir()).find_map(|entry| sample_file(&entry.path()))
}

/// The least time of an iteration in criterion's samples, each the time of so many.
fn fastest(sample: &str) -> Option<f64> {
    let sample: serde_json::Value = serde_json::from_str(sample).ok()?;
    let (times, iterations) = (sample["times"].as_array()?, sample["iters"].as_array()?);
    let of = |(time, iterations): (&serde_json::Value, &serde_json::Value)| {
        Some(time.as_f64()? / iterations.as_f64()?)
    };
    times.iter().zip(iterations).filter_map(of).min_by(f64::total_cmp)
}

/// Measures the pairs that fit into the time; half of the time is kept for the second run.
fn measure(
    pairs: Vec<Pair>,
    accepted: &BTreeSet<String>,
    base: &str,
    left: Duration,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let start = Instant::now();
    let mut costs = Vec::new();
    for pair in pairs {
        let began = Instant::now();
        pair.times([Arm::Base, Arm::Head])?;
        costs.push((began.elapsed().as_secs_f64(), pair));
    }
    // Each base has an order of its own, so that no path is left out each time.
    costs.sort_by_cached_key(|(_, pair)| {
        let mut hasher = DefaultHasher::new();
        (base, &pair.bench).hash(&mut hasher);
        hasher.finish()
    });
    let half = 0.5 * left.saturating_sub(start.elapsed()).as_secs_f64();
    let (pairs, rounds, left_out) = fitting(costs, half);
    comparison.left_out = left_out.into_iter().map(|pair| pair.bench).collect();
    comparison.rounds = rounds;
    let first = runs(&pairs.iter().collect::<Vec<_>>(), rounds)?;
    let suspects: Vec<&Pair> =
        pairs.iter().zip(&first).filter(|(_, run)| run.is_slower()).map(|(pair, _)| pair).collect();
    let second = runs(&suspects, rounds)?;
    let mut second: BTreeMap<&str, Run> =
        suspects.iter().map(|pair| pair.bench.as_str()).zip(second).collect();
    let growth = growth(base);
    for (pair, first) in pairs.iter().zip(first) {
        let bench = pair.bench.clone();
        let second = second.remove(bench.as_str());
        let path = bench.split_once('/').map_or("", |(_, name)| name);
        let instructions = growth.get(path).copied();
        let accepted = accepted.contains(&bench);
        let verdict = Verdict::of(&first, second.as_ref(), instructions, accepted);
        comparison.rows.push(Row { bench, verdict, instructions, first: Some(first), second });
    }
    comparison.load = load();
    comparison.sort();
    Ok(())
}

/// From what one pair of measurements of each takes: the items that have the fewest rounds in these seconds, the first
/// first, the rounds that fit then, and the others.
fn fitting<T>(costs: Vec<(f64, T)>, seconds: f64) -> (Vec<T>, usize, Vec<T>) {
    let (mut round, mut inside, mut outside) = (0.0, Vec::new(), Vec::new());
    for (cost, item) in costs {
        let longer = round + pairs(0).len() as f64 * cost;
        if longer * *ROUNDS.start() as f64 <= seconds {
            round = longer;
            inside.push(item);
        } else {
            outside.push(item);
        }
    }
    let rounds = (seconds / round) as usize;
    (inside, rounds.clamp(*ROUNDS.start(), *ROUNDS.end()), outside)
}

/// A run of all pairs: a round of each, then the next.
fn runs(pairs: &[&Pair], rounds: usize) -> Result<Vec<Run>, String> {
    let mut found: Vec<Vec<Round>> = pairs.iter().map(|_| Vec::new()).collect();
    for number in 0..rounds {
        for (pair, found) in pairs.iter().zip(&mut found) {
            found.push(pair.round(number)?);
        }
    }
    found.into_iter().map(|rounds| Run::new(rounds).map_err(|error| error.to_string())).collect()
}

/// By how much the accepted instructions of each hot path grew since the base.
fn growth(base: &str) -> BTreeMap<String, f64> {
    let now = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.toml"));
    let before = sides::git(&["show", &format!("{base}:benches/counts.toml")]);
    let (now, before) = (counts(&now.unwrap_or_default()), counts(&before.unwrap_or_default()));
    let grown = |(name, now): (String, f64)| Some((name.clone(), now / before.get(&name)? - 1.0));
    now.into_iter().filter_map(grown).collect()
}

fn counts(text: &str) -> BTreeMap<String, f64> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let count = |(name, counted): (String, toml::Value)| {
        Some((name, counted.get("instructions")?.as_integer()? as f64))
    };
    table.into_iter().filter_map(count).collect()
}

/// Runnable processes on average over the last minute.
fn load() -> f64 {
    let told = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}

fn report(text: &str) -> Result<(), String> {
    print!("{text}");
    summary(text)
}

/// Appends to the summary of a workflow of GitHub, where there is one.
fn summary(markdown: &str) -> Result<(), String> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else { return Ok(()) };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| writeln!(file, "{markdown}"))
        .map_err(|error| format!("{}: {error}", Path::new(&path).display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read_or_refused_with_a_remedy() {
        let parse = |text: &str| {
            Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        let usual = Options { base: None, minutes: 10.0, only: None, all: false };
        assert_eq!(parse(""), Ok(usual.clone()));
        let (base, only) = (Some("HEAD~3".to_owned()), Some("gram".to_owned()));
        let expected = Options { base, minutes: 2.5, only, ..usual };
        assert_eq!(parse("HEAD~3 --minutes 2.5 --only gram"), Ok(expected));
        assert!(parse("--minutes soon").unwrap_err().contains("--minutes 10"));
        assert!(parse("--minutes -1").is_err() && parse("--only").is_err());
        assert!(parse("a b").unwrap_err().contains("`b` is not expected"));
    }

    #[test]
    fn the_paths_of_touched_crates_are_selected_and_one_that_the_list_lost() {
        let touched = Touched::Packages(["mercer-models".to_owned()].into());
        let chosen = ["models/all-pairs", "linalg/cosine", "linalg/gone"]
            .map(|bench| selected(bench, &touched));
        assert_eq!(chosen, [true, false, true]);
        assert!(selected("linalg/cosine", &Touched::All));
    }

    #[test]
    fn a_bench_that_vanished_fails_unless_a_commit_accepts_it() {
        let side = |names: &[&str]| -> BTreeMap<String, PathBuf> {
            names.iter().map(|name| ((*name).to_owned(), PathBuf::new())).collect()
        };
        let (ours, theirs) = (side(&["a/new", "a/same"]), side(&["a/gone", "a/same", "b/gone"]));
        let found = |accepted: &[&str], wanted: fn(&str) -> bool| {
            let accepted = accepted.iter().map(|name| (*name).to_owned()).collect();
            let rows = alone(&ours, &theirs, &accepted, wanted);
            rows.into_iter().map(|row| (row.bench, row.verdict)).collect::<Vec<_>>()
        };
        let gone = |name: &str| (name.to_owned(), Verdict::Vanished);
        let new = ("a/new".to_owned(), Verdict::New);
        assert_eq!(found(&[], |_| true), [gone("a/gone"), gone("b/gone"), new.clone()]);
        assert_eq!(found(&["a/gone"], |_| true), [gone("b/gone"), new]);
        assert_eq!(found(&[], |name| name.starts_with('b')), [gone("b/gone")]);
        assert!(Verdict::Vanished.fails() && !Verdict::New.fails());
    }

    #[test]
    fn benches_fit_in_their_order_and_the_rest_of_the_time_goes_into_rounds() {
        let costs = || vec![(0.1, "fast"), (1.0, "slow"), (0.2, "middle")];
        // 11 rounds of 4 x 0.3 s are 13.2 s; of 4 x 1.3 s 57.2 s.
        assert_eq!(fitting(costs(), 13.0), (vec!["fast"], 31, vec!["slow", "middle"]));
        assert_eq!(fitting(costs(), 13.3), (vec!["fast", "middle"], 11, vec!["slow"]));
        assert_eq!(fitting(costs(), 53.0), (vec!["fast", "slow"], 12, vec!["middle"]));
        assert_eq!(fitting(costs(), 57.5), (vec!["fast", "slow", "middle"], 11, vec![]));
        assert_eq!(fitting(costs(), 1.0).0, Vec::<&str>::new());
    }

    #[test]
    fn two_programs_get_the_ends_of_the_allowed_processors() {
        assert_eq!(allowed("\t0-1\n"), Some([0, 1]));
        assert_eq!(allowed("2,4-7,9"), Some([2, 9]));
        assert_eq!(allowed("3"), Some([3, 3]));
        assert_eq!(allowed("all"), None);
    }

    #[test]
    fn the_time_of_an_iteration_is_that_of_the_fastest_sample() {
        let sample =
            r#"{"sampling_mode":"Linear","iters":[10.0,20.0,30.0],"times":[90.0,160.0,330.0]}"#;
        assert_eq!(fastest(sample), Some(8.0));
        assert_eq!(fastest(r#"{"iters":[],"times":[]}"#), None);
    }

    #[test]
    fn accepted_counts_are_compared_by_name() {
        let text = "[cosine]\ninstructions = 200\nbecause = \"a test\"\n";
        assert_eq!(counts(text), BTreeMap::from([("cosine".to_owned(), 200.0)]));
        assert!(counts("").is_empty());
    }
}
