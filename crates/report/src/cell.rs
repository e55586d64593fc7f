use crate::{ExperimentError, Ratio};
use mercer_harness::{SplitRule, Trial, TuningSource};
use mercer_learning::{Metric, Task, fact};
use mercer_records::{Key, Record, Status, Tuning};
use mercer_statistics::{TTest, corrected_t, mcnemar, paired_bootstrap, paired_t, summarise};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Resamples of the bootstrap over rows and seeds.
const RESAMPLES: usize = 2000;

/// [`StudyCell::tuning`] where a tuned variant fell back on given settings.
pub(crate) const NOT_TUNED: &str = "given, not tuned";

/// All repeats of one method on one dataset in one variant.
#[derive(Debug, Clone)]
pub struct StudyCell {
    trials: Vec<Trial>,
    records: Vec<Option<Arc<Record>>>,
    metric: Metric,
    ratio: Option<Ratio>,
}

/// Mean and deviation of a cell in the unit in which papers print: percent, or target units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean over the repeats that ended with a score.
    pub mean: f64,
    /// Deviation divided by `J − 1`; 0 for one repeat.
    pub std: f64,
    /// Repeats that ended with a score.
    pub repeats: usize,
}

/// Two cells of the same row compared, pair by pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Mean of (first − second), in printed units.
    pub difference: f64,
    /// 95 % interval of it by the corrected test.
    pub interval: (f64, f64),
    /// Two-sided p of the papers' test; none for a single pair.
    pub p_naive: Option<f64>,
    /// Two-sided p of the corrected test; where the test part is fixed, the larger of the bootstrap's over rows
    /// and seeds and of the paired t-test's over seeds.
    pub p_corrected: f64,
    /// McNemar's exact test on each pair, where the test part is fixed.
    pub p_mcnemar: Vec<f64>,
    /// Pairs.
    pub pairs: usize,
    /// Whether all differences are the same, up to rounding: p is then 0 or 1 by convention.
    pub degenerate: bool,
    /// Whether the test part is fixed, so that `p_corrected` speaks of rows and seeds.
    pub fixed_test: bool,
}

/// Below it a p is called significant.
pub(crate) const LEVEL: f64 = 0.05;

impl Comparison {
    /// Why the pairs say nothing of the methods, where they do not: one pair has no spread over seeds,
    /// and pairs without any spread have none to test against.
    pub fn untested(&self) -> Option<&'static str> {
        match self.pairs {
            0 | 1 if self.fixed_test => Some("one seed"),
            0 | 1 => Some("one pair"),
            _ if self.degenerate => Some("no spread over the pairs"),
            _ => None,
        }
    }

    /// Whether the corrected test says at 5 % that the methods differ.
    pub fn significant(&self) -> bool {
        self.untested().is_none() && self.p_corrected < LEVEL
    }
}

impl StudyCell {
    /// A cell with its first trial.
    pub fn new(trial: Trial, record: Option<Arc<Record>>, ratio: Option<Ratio>) -> Self {
        let entry = mercer_datasets::Catalogue::builtin().find(&trial.key.dataset);
        let metric = match entry.map(|entry| entry.task) {
            Ok(Task::Regression) => Metric::Rmse,
            _ => Metric::Accuracy,
        };
        Self { trials: vec![trial], records: vec![record], metric, ratio }
    }

    /// Whether a trial of this key belongs to the cell.
    pub fn is_of(&self, key: &Key) -> bool {
        let own = self.key();
        (&own.variant, &own.dataset, &own.method) == (&key.variant, &key.dataset, &key.method)
    }

    /// The dataset of the paper of which this cell has some of the rows.
    pub(crate) fn subset_of(&self) -> Option<&'static str> {
        mercer_datasets::Catalogue::builtin().find(&self.key().dataset).ok()?.subset_of.as_deref()
    }

    /// Adds a repeat.
    pub fn push(&mut self, trial: Trial, record: Option<Arc<Record>>) {
        self.trials.push(trial);
        self.records.push(record);
    }

    /// Key of the first repeat.
    pub fn key(&self) -> &Key {
        &self.trials[0].key
    }

    /// Head of the column.
    pub fn label(&self) -> &str {
        &self.trials[0].label
    }

    /// Its trials, run or not, one a repeat.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter()
    }

    /// What is printed of it.
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// The paper's number of repeats.
    pub fn repeats_of_paper(&self) -> u32 {
        self.trials[0].repeats_of_paper
    }

    /// Whether rows, steps and features are all that the paper has.
    pub fn complete(&self) -> bool {
        self.trials.iter().all(|trial| trial.complete)
    }

    /// How the settings were found: `tuned`, `given`, or `given, not tuned` where a tuned variant
    /// fell back on them.
    pub fn tuning(&self) -> &'static str {
        use serde_json::Value;
        match &self.key().tuning {
            Value::Null => "given",
            Value::String(_) => NOT_TUNED,
            _ => "tuned",
        }
    }

    /// The searches for its settings that are recorded, each once: repeats on a fixed test part share
    /// one.
    pub fn tunings(&self) -> Vec<&Tuning> {
        let mut seen = BTreeSet::new();
        let searched = self.trials.iter().filter_map(|trial| match &trial.tuning {
            TuningSource::Tuner { key, archived, .. } => Some((key.digest(), archived.as_ref()?)),
            TuningSource::None => None,
        });
        searched
            .filter(|(digest, _)| seen.insert(digest.clone()))
            .map(|(_, found)| &**found)
            .collect()
    }

    /// The records that there are.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().flatten().map(|record| &**record)
    }

    /// Records without a score, with their status.
    pub fn without_score(&self) -> impl Iterator<Item = (&Record, Status)> {
        self.records()
            .map(|record| (record, record.result.status))
            .filter(|(_, status)| *status != Status::Done)
    }

    /// Records with a score behind which some fit ended above its tolerance.
    pub fn open(&self) -> usize {
        let done = self.records().filter(|record| record.result.status == Status::Done);
        done.filter(|record| record.result.open_fits() > 0).count()
    }

    /// Whether all of them ended so: the numbers are of what came out when it was stopped.
    pub fn unsolved(&self) -> bool {
        let done = self.records().filter(|record| record.result.status == Status::Done).count();
        done > 0 && self.open() == done
    }

    /// How many there are, in words, where there are any: `2 of 10 not converged`.
    pub fn open_in_words(&self) -> Option<String> {
        let all = self.records().filter(|record| record.result.status == Status::Done).count();
        Some(self.open())
            .filter(|open| *open > 0)
            .map(|open| format!("{open} of {all} not converged"))
    }

    /// Repeat and score, in printed units, of the records that have one.
    pub fn values(&self) -> Vec<(u32, f64)> {
        self.of(self.metric.name())
            .into_iter()
            .map(|(repeat, value)| (repeat, self.printed(value)))
            .collect()
    }

    /// Repeat and raw value of a metric or fact, of the records that have it.
    pub fn of(&self, name: &str) -> Vec<(u32, f64)> {
        self.records()
            .filter(|record| record.result.status == Status::Done)
            .filter_map(|record| {
                let result = &record.result;
                let value = result.metrics.get(name).or_else(|| result.facts.get(name))?;
                Some((record.key.repeat, *value))
            })
            .collect()
    }

    fn printed(&self, value: f64) -> f64 {
        if self.metric.larger_is_better() { 100.0 * value } else { value }
    }

    /// Mean and deviation, if there is a score.
    pub fn score(&self) -> Option<Score> {
        let values: Vec<f64> = self.values().into_iter().map(|(_, value)| value).collect();
        let summary = summarise(&values)?;
        Some(Score { mean: summary.mean, std: summary.sample_std, repeats: summary.count })
    }

    /// Mean over these repeats; none if one of them has no score, or there are none.
    pub fn mean_over(&self, repeats: &BTreeSet<u32>) -> Option<f64> {
        let values: Vec<f64> = self
            .values()
            .into_iter()
            .filter(|(repeat, _)| repeats.contains(repeat))
            .map(|(_, value)| value)
            .collect();
        summarise(&values).filter(|summary| summary.count == repeats.len()).map(|s| s.mean)
    }

    /// Rows that the fits used, in the mean, and rows that they were offered, where a cap left some out.
    pub fn capped(&self) -> Option<(f64, f64)> {
        let used: Vec<f64> = self.of(fact::ROWS_USED).into_iter().map(|(_, rows)| rows).collect();
        let offered: Vec<f64> = self
            .records()
            .filter(|record| record.result.facts.contains_key(fact::ROWS_USED))
            .map(|record| record.result.rows[0] as f64)
            .collect();
        let (used, offered) = (summarise(&used)?.mean, summarise(&offered)?.mean);
        (used < offered).then_some((used, offered))
    }

    /// `n_test / n_train` of random splits, for the corrected test; 0 where the test part is fixed, and of folds, whose
    /// test parts have no row in common: there the ordinary paired test has its size.
    pub fn test_over_train(&self) -> f64 {
        match self.trials[0].protocol.split {
            Some(SplitRule::Official { .. } | SplitRule::Folds { .. }) => 0.0,
            Some(SplitRule::Random { train }) => (1.0 - train) / train,
            None => 0.25,
        }
    }

    /// Whether the repeats are folds, which the ordinary paired t-test compares.
    pub fn is_of_folds(&self) -> bool {
        matches!(self.trials[0].protocol.split, Some(SplitRule::Folds { .. }))
    }

    /// `n_test / n_train` behind a value of the curves: of the split, but where the path fits a part of its training
    /// rows. A curve that used fewer rows than the split has says so in its values `points` and `test points`.
    pub fn ratio_of(&self, value: &str) -> f64 {
        let mean = |name| {
            let values: Vec<f64> = self.at_end(name).into_iter().map(|(_, value)| value).collect();
            summarise(&values).map(|summary| summary.mean)
        };
        let of_split = match (mean("test points"), mean("points")) {
            (Some(test), Some(train)) if train > 0.0 => test / train,
            _ => self.test_over_train(),
        };
        self.ratio.map_or(of_split, |ratio| ratio(of_split, value))
    }

    /// A value at the last point of the curve of each repeat.
    pub fn at_end(&self, name: &str) -> Vec<(u32, f64)> {
        self.records()
            .filter_map(|record| {
                let value = record.result.curve.last()?.values.get(name)?;
                Some((record.key.repeat, *value))
            })
            .collect()
    }

    fn fixed_test(&self) -> bool {
        matches!(self.trials[0].protocol.split, Some(SplitRule::Official { .. }))
    }

    /// Whether `a` is a better score than `b`.
    pub fn better(&self, a: f64, b: f64) -> bool {
        if self.metric.larger_is_better() { a > b } else { a < b }
    }
}

/// First minus second, repeat by repeat, in printed units.
pub(crate) fn paired(a: &StudyCell, b: &StudyCell) -> Vec<f64> {
    let theirs: std::collections::BTreeMap<u32, f64> = b.values().into_iter().collect();
    let pairs = a.values().into_iter();
    snapped(pairs.filter_map(|(repeat, value)| Some(value - theirs.get(&repeat)?)).collect())
}

/// Compares two cells of the same data on the repeats that both have; `None` without a pair.
///
/// # Errors
/// Of the tests.
pub fn compare(a: &StudyCell, b: &StudyCell) -> Result<Option<Comparison>, ExperimentError> {
    let differences = paired(a, b);
    if differences.is_empty() {
        return Ok(None);
    }
    let pairs = differences.len();
    let mean = differences.iter().sum::<f64>() / pairs as f64;
    if a.fixed_test() {
        return over_rows(a, b, &differences);
    }
    if pairs < 2 {
        // One pair says nothing of its own spread.
        let nothing = (f64::NEG_INFINITY, f64::INFINITY);
        return Ok(Some(Comparison {
            difference: mean,
            interval: nothing,
            p_naive: None,
            p_corrected: 1.0,
            p_mcnemar: Vec::new(),
            pairs,
            degenerate: false,
            fixed_test: false,
        }));
    }
    let naive: TTest = paired_t(&differences)?;
    let corrected = corrected_t(&differences, a.test_over_train())?;
    Ok(Some(Comparison {
        difference: mean,
        interval: corrected.interval(0.95),
        p_naive: Some(naive.p_two_sided),
        p_corrected: corrected.p_two_sided,
        p_mcnemar: Vec::new(),
        pairs,
        degenerate: corrected.degenerate,
        fixed_test: false,
    }))
}

/// The cell with the best mean of a row, trivial predictors and all; the first of equals.
///
/// Two cells are held against each other on the repeats that both have: means over different repeats,
/// that is over different splits, do not rank methods. The best is behind no other. Where there is none
/// such, since pairs with different repeats may go round in a circle, the means over the repeats that
/// all of the row have decide, and without any such repeat, each cell's own mean.
pub fn best_of<'a>(row: &[&'a StudyCell]) -> Option<&'a StudyCell> {
    let scored: Vec<&StudyCell> =
        row.iter().copied().filter(|cell| cell.score().is_some()).collect();
    let behind = |cell: &StudyCell, other: &StudyCell| {
        let common = common_repeats(&[cell, other]);
        match (cell.mean_over(&common), other.mean_over(&common)) {
            (Some(own), Some(its)) => cell.better(its, own),
            _ => false,
        }
    };
    let unbeaten = |cell: &&StudyCell| scored.iter().all(|other| !behind(cell, other));
    if common_repeats(&scored).is_empty() {
        let own = |cell: &StudyCell| cell.score().map(|score| score.mean);
        return first_best(&scored, &own);
    }
    scored.iter().copied().find(unbeaten).or_else(|| {
        let common = common_repeats(&scored);
        first_best(&scored, &|cell| cell.mean_over(&common))
    })
}

/// The first of the cells with the best mean.
fn first_best<'a>(
    cells: &[&'a StudyCell],
    mean: &dyn Fn(&StudyCell) -> Option<f64>,
) -> Option<&'a StudyCell> {
    cells.iter().copied().reduce(|best, cell| match (mean(best), mean(cell)) {
        (Some(b), Some(c)) if cell.better(c, b) => cell,
        _ => best,
    })
}

/// The repeats of which every one of these cells has a score.
pub fn common_repeats(cells: &[&StudyCell]) -> BTreeSet<u32> {
    let repeats = |cell: &&StudyCell| -> BTreeSet<u32> {
        cell.values().into_iter().map(|(repeat, _)| repeat).collect()
    };
    cells.iter().map(repeats).reduce(|common, own| &common & &own).unwrap_or_default()
}

/// Differences that are the same up to rounding become the same: noise in the last digits is no
/// spread, and would pass for a very significant difference.
pub(crate) fn snapped(differences: Vec<f64>) -> Vec<f64> {
    let (low, high) = differences
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &d| (low.min(d), high.max(d)));
    // Scores are of the order of 100: their rounding is far below 1e-9.
    if high - low > 1e-9 {
        return differences;
    }
    let common = if low.abs().max(high.abs()) <= 1e-9 { 0.0 } else { low };
    vec![common; differences.len()]
}

/// With a fixed test part nothing is resampled by the splits: bootstrap over its rows and seeds. Of a few
/// seeds it says too little: three of one sign leave no resample of the other, which chance alone brings about a
/// quarter of the time. The t-test over seeds knows that, but not the rows, so that a difference must convince both
/// (Berger 1982, *Technometrics* 24: of two tests at a level, to reject where both do is a test at that level).
fn over_rows(
    a: &StudyCell,
    b: &StudyCell,
    differences: &[f64],
) -> Result<Option<Comparison>, ExperimentError> {
    let theirs: std::collections::BTreeMap<u32, &Record> =
        b.records().map(|record| (record.key.repeat, record)).collect();
    let mut table = Vec::new();
    for ours in a.records() {
        let Some(other) = theirs.get(&ours.key.repeat) else { continue };
        let (Some(wrong), Some(other_wrong)) = (&ours.result.wrong, &other.result.wrong) else {
            continue;
        };
        // Correct minus correct, in percent: +100 where only the first is right.
        let mut row = vec![0.0; ours.result.rows[1] as usize];
        for &i in wrong {
            row[i as usize] -= 100.0;
        }
        for &i in other_wrong {
            row[i as usize] += 100.0;
        }
        table.push(row);
    }
    if table.is_empty() {
        return Ok(None);
    }
    let p_mcnemar = table.iter().map(|gains| {
        let only = |sign: f64| gains.iter().filter(|gain| **gain * sign > 0.0).count() as u64;
        mcnemar(only(1.0), only(-1.0)).p_exact
    });
    let p_mcnemar = p_mcnemar.collect();
    let bootstrap = paired_bootstrap(&table, RESAMPLES, 1)?;
    let over_seeds = (differences.len() > 1).then(|| paired_t(differences)).transpose()?;
    let (mut interval, mut p_corrected) = (bootstrap.interval(0.95), bootstrap.p_two_sided);
    if let Some(test) = over_seeds.as_ref().filter(|test| !test.degenerate) {
        let (low, high) = test.interval(0.95);
        interval = (interval.0.min(low), interval.1.max(high));
        p_corrected = p_corrected.max(test.p_two_sided);
    }
    Ok(Some(Comparison {
        difference: differences.iter().sum::<f64>() / differences.len() as f64,
        interval,
        p_naive: over_seeds.map(|test| test.p_two_sided),
        p_corrected,
        p_mcnemar,
        degenerate: bootstrap.degenerate,
        pairs: differences.len(),
        fixed_test: true,
    }))
}

/// Mean errors of both over their common repeats: 100 minus the accuracy in percent, or the RMSE. The
/// same up to rounding are the same.
pub(crate) fn common_errors(a: &StudyCell, b: &StudyCell) -> Option<[f64; 2]> {
    let theirs: std::collections::BTreeMap<u32, f64> = b.values().into_iter().collect();
    let pairs: Vec<[f64; 2]> = a
        .values()
        .into_iter()
        .filter_map(|(repeat, value)| Some([value, *theirs.get(&repeat)?]))
        .collect();
    let error = |side: usize| {
        let mean = pairs.iter().map(|pair| pair[side]).sum::<f64>() / pairs.len() as f64;
        if a.metric().larger_is_better() { 100.0 - mean } else { mean }
    };
    let [ours, others] = [error(0), error(1)];
    let others = if (ours - others).abs() <= 1e-9 { ours } else { others };
    (!pairs.is_empty()).then_some([ours, others])
}

/// How much smaller the first of two errors is, as a share of their sum: points of accuracy and errors of
/// targets are then of one size, and can be ranked together.
pub(crate) fn relative_gain([ours, theirs]: [f64; 2]) -> f64 {
    let gain = theirs - ours;
    if gain == 0.0 { 0.0 } else { gain / (ours + theirs) }
}
