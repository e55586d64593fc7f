//! How often the rules behind verdicts and claims err where there is no difference, and what they see where there is one.

use mercer_report::{ExperimentError, Simulation};
use mercer_statistics::{
    Design, EqualMethods, SameProcedure, Verdict, below_the_best, corrected_t, paired_t, stouffer,
    wilcoxon_signed_rank,
};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const SIMULATION: Simulation =
    Simulation { name: "audit/rule-sizes", measures: false, revision: 1, settings, compute };

/// Simulated studies of each design.
const STUDIES: u64 = 4000;
/// And where each has many data sets or methods.
const MANY: u64 = 2000;
/// Level of the tests.
const LEVEL: f64 = 0.05;
/// Points by which the printed mean is moved.
const SHIFTS: [f64; 4] = [0.0, 1.0, 2.0, 4.0];
/// Points by which the first of two methods is better.
const GAINS: [f64; 4] = [0.0, 0.5, 1.0, 2.0];
/// Data sets of a claim.
const DATA_SETS: [usize; 3] = [6, 9, 12];
/// Methods of a row.
const METHODS: [usize; 2] = [5, 9];
/// Repeats of a study of methods.
const REPEATS: usize = 10;

const EIGHTY: Design = Design::Random { test_rows: 100 };
const FORTY: Design = Design::Random { test_rows: 300 };

/// What two studies of a cell may be: name, design, repeats of ours and of the paper.
const CELLS: [(&str, Design, usize, usize); 4] = [
    ("80/20, 10 against 30", EIGHTY, 10, 30),
    ("80/20, 10 against 10", EIGHTY, 10, 10),
    ("40/60, 10 against 10", FORTY, 10, 10),
    ("ten folds against ten", Design::Folds, 10, 10),
];

/// Splits of two methods, with the ratio of the corrected test.
const SPLITS: [(&str, Design, f64); 3] =
    [("80/20", EIGHTY, 0.25), ("40/60", FORTY, 1.5), ("ten folds", Design::Folds, 1.0 / 9.0)];

fn settings() -> Value {
    json!({
        "studies": STUDIES, "many": MANY, "level": LEVEL, "shifts": SHIFTS, "gains": GAINS,
        "data sets": DATA_SETS, "methods": METHODS, "repeats": REPEATS,
        "cell": SameProcedure::default(), "study": EqualMethods::default(),
    })
}

fn study() -> EqualMethods {
    EqualMethods { splits: REPEATS, ..EqualMethods::default() }
}

/// How often each of some tests says something, over so many studies.
fn shares<const N: usize>(
    studies: u64,
    one: impl Fn(u64) -> Result<[bool; N], ExperimentError> + Sync,
) -> Result<[f64; N], ExperimentError> {
    let all: Vec<[bool; N]> =
        (0..studies).into_par_iter().map(&one).collect::<Result<_, ExperimentError>>()?;
    Ok(std::array::from_fn(|i| all.iter().filter(|said| said[i]).count() as f64 / studies as f64))
}

fn compute() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for (name, design, ours, paper) in CELLS {
        let study = SameProcedure { design, ours, paper, ..SameProcedure::default() };
        let found = shares(STUDIES, |number| {
            let both = study.accuracies(number);
            let mut differs = [false; SHIFTS.len()];
            for (differs, shift) in differs.iter_mut().zip(SHIFTS) {
                *differs = matches!(study.verdict_of(&both, shift)?, Verdict::Differs { .. });
            }
            Ok(differs)
        })?;
        numbers.extend(
            SHIFTS.iter().zip(found).map(|(shift, share)| (format!("{name} shift {shift}"), share)),
        );
    }
    for (name, design, ratio) in SPLITS {
        let found = shares(STUDIES, |number| {
            let gains = gains(&study().errors(number, 2, design), 0.0);
            let tests = [paired_t(&gains)?, corrected_t(&gains, ratio)?];
            Ok(tests.map(|test| test.p_two_sided < LEVEL))
        })?;
        let names = ["ordinary", "corrected"];
        numbers.extend(names.iter().zip(found).map(|(test, at)| (format!("{test} {name}"), at)));
    }
    for gain in GAINS {
        let found = shares(MANY, |number| over_data_sets(number, gain))?;
        for (at, count) in DATA_SETS.iter().enumerate() {
            numbers.insert(format!("stouffer {count} gain {gain}"), found[at]);
            numbers.insert(format!("wilcoxon {count} gain {gain}"), found[DATA_SETS.len() + at]);
        }
    }
    for methods in METHODS {
        let found = shares(MANY, |number| below_its_row(number, methods))?;
        numbers.insert(format!("hsu {methods}"), found[0]);
        numbers.insert(format!("one pair {methods}"), found[1]);
    }
    Ok(numbers)
}

/// Gains of the first of two methods over the second, split by split.
fn gains(errors: &[Vec<f64>], more: f64) -> Vec<f64> {
    errors[0].iter().zip(&errors[1]).map(|(own, other)| other - own + more).collect()
}

/// Whether a claim over 6, 9 and 12 data sets is decided, by Stouffer's combination and by Wilcoxon's test.
fn over_data_sets(number: u64, gain: f64) -> Result<[bool; 6], ExperimentError> {
    let most = DATA_SETS[DATA_SETS.len() - 1];
    let (mut p_values, mut means) = (Vec::new(), Vec::new());
    for dataset in 0..most {
        let errors = study().errors(number * most as u64 + dataset as u64, 2, EIGHTY);
        let test = corrected_t(&gains(&errors, gain), 0.25)?;
        p_values.push(test.p_greater.clamp(1e-15, 1.0 - 1e-15));
        means.push(test.mean_difference);
    }
    let mut said = [false; 6];
    for (at, count) in DATA_SETS.into_iter().enumerate() {
        said[at] = stouffer(&p_values[..count])?.p_two_sided < LEVEL;
        said[DATA_SETS.len() + at] = wilcoxon_signed_rank(&means[..count])?.p_two_sided < LEVEL;
    }
    Ok(said)
}

/// Whether the first of equal methods is called worse than the best, by Hsu's comparison and by the test of that pair.
fn below_its_row(number: u64, methods: usize) -> Result<[bool; 2], ExperimentError> {
    let errors = study().errors(number, methods, EIGHTY);
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    let (mut least, mut of_best) = (1.0f64, (f64::INFINITY, 1.0));
    for other in &errors[1..] {
        let behind: Vec<f64> = errors[0].iter().zip(other).map(|(own, its)| own - its).collect();
        let test = corrected_t(&behind, 0.25)?;
        least = least.min(test.p_greater);
        if mean(other) < of_best.0 {
            let p = if test.mean_difference > 0.0 { test.p_two_sided } else { 1.0 };
            of_best = (mean(other), p);
        }
    }
    let least = least.clamp(1e-15, 1.0 - 1e-15);
    let hsu = below_the_best(least, REPEATS as f64 - 1.0, methods - 1)?;
    Ok([hsu < LEVEL, of_best.1 < LEVEL])
}
