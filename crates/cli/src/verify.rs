//! `mercer verify`: committed records, carried out again.

use crate::Ended;
use crate::args::{ReproduceArgs, VerifyArgs};
use crate::progress::Bar;
use crate::reproduce::{Planned, ended, laboratory, planned};
use crate::results::name;
use anyhow::Context;
use mercer_experiments::Shelf;
use mercer_harness::{Options, Trial, run as carry_out};
use mercer_records::{Record, Status, Store, sha256_hex};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

pub(crate) fn run(args: &VerifyArgs, quiet: bool) -> anyhow::Result<Ended> {
    let args_of_run = ReproduceArgs {
        narrow: args.narrow.clone(),
        places: args.places.clone(),
        jobs: args.jobs,
        shard: mercer_harness::Shard::default(),
        extend: false,
        retry_failed: false,
        checkpoint_every: 300,
        dry_run: false,
        json: false,
        out: None,
    };
    let Planned { methods, archive, work, .. } = planned(&args_of_run, None)?;
    let sample = Sample::draw(&work.trials, &archive, args);
    anyhow::ensure!(
        !sample.trials.is_empty(),
        "no committed record of these studies took at most {} seconds; raise --longest",
        args.longest
    );
    // Beside the records, and never among them: these are the same keys.
    let store = Store::open(args.places.results.join(".verify"))
        .with_context(|| format!("--results {}", args.places.results.display()))?;
    let laboratory = laboratory(&args_of_run, &methods, &store)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { jobs: args.jobs.map_or(cores, usize::from), ..Options::default() };
    let bar = Bar::new(quiet);
    let summary = carry_out(&sample.trials, &laboratory, &options, &bar)?;
    bar.finish();
    if summary.interrupted {
        eprintln!("interrupted; the same command goes on from here");
        return Ok(Ended::Interrupted);
    }
    let mut compared = Vec::new();
    for trial in &sample.trials {
        if let (Some(old), Some(new)) = (archive.get(&trial.key), store.get(&trial.key)?) {
            compared.push(Compared::of(old, &new));
        }
    }
    let page = page(&sample, &compared, args);
    if let Some(out) = &args.out {
        std::fs::write(out, &page).with_context(|| format!("cannot write {}", out.display()))?;
    }
    std::io::stdout().write_all(page.as_bytes())?;
    let differ = compared.iter().filter(|one| one.likeness == Likeness::Differs).count();
    Ok(if differ > 0 { Ended::Failed } else { ended(&summary) })
}

/// The trials to carry out again.
struct Sample {
    trials: Vec<Trial>,
    /// By study: its committed records of this profile, and how many of them are short enough.
    studies: BTreeMap<String, [usize; 2]>,
}

impl Sample {
    /// As many of each study, as far as it has them, in an order that the seed decides.
    fn draw(trials: &[Trial], archive: &Shelf, args: &VerifyArgs) -> Self {
        let mut studies: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        let mut short: BTreeMap<&str, Vec<(String, &Trial)>> = BTreeMap::new();
        for trial in trials {
            let Some(record) = archive.get(&trial.key) else { continue };
            let study = trial.key.artefact.as_str();
            let counts = studies.entry(study.to_owned()).or_default();
            counts[0] += 1;
            let seconds: f64 = record.run.seconds.values().sum();
            if record.result.status == Status::Done && seconds <= args.longest {
                counts[1] += 1;
                let draw = sha256_hex(format!("{} {}", args.seed, trial.key.digest()).as_bytes());
                short.entry(study).or_default().push((draw, trial));
            }
        }
        let mut queues: Vec<_> = short
            .into_values()
            .map(|mut drawn| {
                drawn.sort_by(|a, b| a.0.cmp(&b.0));
                drawn.into_iter().map(|(_, trial)| trial)
            })
            .collect();
        let mut chosen = Vec::new();
        while chosen.len() < args.trials && !queues.is_empty() {
            queues.retain_mut(|queue| {
                let next = queue.next().filter(|_| chosen.len() < args.trials);
                chosen.extend(next.cloned());
                next.is_some()
            });
        }
        Self { trials: chosen, studies }
    }
}

/// How near a record is to its re-run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// Every byte of the result.
    Bits,
    /// Every number that the record has; the re-run may tell more.
    Numbers,
    /// Not every number.
    Differs,
}

/// Every number of a result, by where it stands.
fn numbers(record: &Record) -> BTreeMap<String, f64> {
    let result = &record.result;
    let scores = result.metrics.iter().map(|(name, value)| (name.clone(), *value));
    let facts = result.facts.iter().map(|(name, value)| (format!("fact {name}"), *value));
    let points = result.curve.iter().flat_map(|point| {
        let of =
            move |(name, value): (&String, &f64)| (format!("{name} at {}", point.step), *value);
        point.values.iter().map(of)
    });
    scores.chain(facts).chain(points).collect()
}

/// A record beside its re-run.
struct Compared {
    study: String,
    name: String,
    /// From which source the record came: a revision, one with changes, or none recorded.
    source: &'static str,
    likeness: Likeness,
    /// Where metrics differ.
    detail: String,
}

impl Compared {
    fn of(old: &Record, new: &Record) -> Self {
        let (ours, theirs) = (numbers(new), numbers(old));
        let mut differing: Vec<(f64, String)> = theirs
            .iter()
            .filter(|(name, then)| ours.get(*name).map(|v| v.to_bits()) != Some(then.to_bits()))
            .map(|(name, then)| match ours.get(name) {
                Some(now) => {
                    let apart = (now - then).abs() / then.abs().max(now.abs());
                    (apart, format!("{name} {then} then, {now} now"))
                }
                None => (f64::INFINITY, format!("{name} {then} then, none now")),
            })
            .collect();
        differing.sort_by(|a, b| b.0.total_cmp(&a.0));
        let likeness = if old.result_sha256 == new.result_sha256 {
            Likeness::Bits
        } else if differing.is_empty() && old.result.status == new.result.status {
            Likeness::Numbers
        } else {
            Likeness::Differs
        };
        let count = differing.len();
        let mut detail: Vec<String> = differing.into_iter().take(2).map(|(_, text)| text).collect();
        if count > 2 {
            detail.push(format!("{count} of {} numbers in all", theirs.len()));
        }
        let source = match old.run.code.as_str() {
            "" => "not recorded",
            code if code.ends_with("-dirty") => "a revision with changes",
            _ => "a revision",
        };
        Self {
            study: old.key.artefact.clone(),
            name: name(old),
            source,
            likeness,
            detail: detail.join("; "),
        }
    }
}

fn counts<'a>(of: impl Iterator<Item = &'a Compared>) -> [usize; 4] {
    of.fold([0; 4], |mut counts, one| {
        counts[0] += 1;
        counts[1 + one.likeness as usize] += 1;
        counts
    })
}

fn page(sample: &Sample, compared: &[Compared], args: &VerifyArgs) -> String {
    let mut text = format!(
        "# Records, carried out again\n\n\
         Written by `mercer verify --profile {}`: committed records drawn by the seed {}, as many of each study, among \
         those that took at most {} seconds, carried out again by the program of revision {} on {}. Same bits: every \
         byte of the result. Same numbers: every score, fact and point of a curve that the record has, to the last bit; \
         the later program notes more beside them. Of those that differ the numbers furthest apart are named.\n\n\
         | study | committed | short enough | carried out again | same bits | same numbers | differ |\n\
         |:--|--:|--:|--:|--:|--:|--:|\n",
        args.narrow.profile,
        args.seed,
        args.longest,
        env!("MERCER_CODE"),
        mercer_harness::host(),
    );
    let mut say = |first: &str, [all, bits, numbers, differ]: [usize; 4]| {
        let _ = writeln!(text, "| {first} | {all} | {bits} | {numbers} | {differ} |");
    };
    for (study, [committed, short]) in &sample.studies {
        let own = counts(compared.iter().filter(|one| one.study == *study));
        say(&format!("{study} | {committed} | {short}"), own);
    }
    let [committed, short] =
        sample.studies.values().fold([0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
    say(&format!("**all** | {committed} | {short}"), counts(compared.iter()));
    text.push_str(
        "\n| source of the record | carried out again | same bits | same numbers | differ |\n|:--|--:|--:|--:|--:|\n",
    );
    for source in ["a revision", "a revision with changes", "not recorded"] {
        let own = counts(compared.iter().filter(|one| one.source == source));
        let [all, bits, numbers, differ] = own;
        let _ = writeln!(text, "| {source} | {all} | {bits} | {numbers} | {differ} |");
    }
    let differing: Vec<&Compared> =
        compared.iter().filter(|one| one.likeness == Likeness::Differs).collect();
    if !differing.is_empty() {
        text.push_str("\nRecords that differ:\n\n");
        for one in differing {
            let _ = writeln!(text, "- {}: {}", one.name, one.detail);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_records::{Key, Run, SCHEMA, TrialResult};

    fn record(accuracy: f64, steps: f64, code: &str) -> Record {
        let key = Key {
            schema: SCHEMA,
            artefact: "toy/table".into(),
            variant: "printed".into(),
            dataset: "iris".into(),
            fingerprint: "00".into(),
            method: "majority".into(),
            revision: 1,
            settings: [].into(),
            tuning: serde_json::Value::Null,
            protocol: [].into(),
            repeat: 0,
            seed: 1,
            limits: [].into(),
        };
        let result = TrialResult {
            status: Status::Done,
            error: None,
            metrics: [("accuracy".to_owned(), accuracy)].into(),
            facts: [("steps".to_owned(), steps)].into(),
            convergence: serde_json::Value::Null,
            settings: [].into(),
            tuning: None,
            curve: Vec::new(),
            predicted: None,
            wrong: None,
            rows: [8, 2],
        };
        Record::new(key, result, Run { code: code.to_owned(), ..Run::default() })
    }

    #[test]
    fn a_record_is_held_to_its_bits_then_to_its_numbers() {
        let old = record(0.5, 3.0, "abc-dirty");
        let like = |accuracy, steps| Compared::of(&old, &record(accuracy, steps, "def"));
        assert_eq!(like(0.5, 3.0).likeness, Likeness::Bits);
        assert_eq!(like(0.5, 4.0).likeness, Likeness::Differs);
        let other = like(0.5f64.next_up(), 3.0);
        assert_eq!(other.likeness, Likeness::Differs);
        assert_eq!(other.detail, "accuracy 0.5 then, 0.5000000000000001 now");
        assert_eq!(other.source, "a revision with changes");
        assert_eq!(counts([like(0.5, 3.0), other].iter()), [2, 1, 0, 1]);
        // A number that a later program notes beside the others takes nothing away from them.
        let mut more = record(0.5, 3.0, "def");
        more.result.facts.insert("rows".to_owned(), 8.0);
        let more = Record::new(more.key, more.result, more.run);
        assert_eq!(Compared::of(&old, &more).likeness, Likeness::Numbers);
        assert_eq!(Compared::of(&more, &old).likeness, Likeness::Differs);
    }
}
