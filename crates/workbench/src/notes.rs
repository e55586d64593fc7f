//! Notes on a fit to a person's table, beside the method's own warnings.

use crate::division::AT_RANDOM;
use crate::passes::ONE_CLASS;
use crate::{Adjustment, Header, Scores, Table};
use mercer_datasets::{Holds, Truths, shell_word};
use mercer_learning::{Calibration, Method, Metric, Task, counted, fact, find, one_line};
use mercer_linalg::Matrix;
use std::collections::BTreeMap;

impl Header {
    /// Returns the warnings of a fit: the warnings of its method and of its rows.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Choices, Table, fit};
    /// let file = RowFile::spooled(&b"x,kind\n-1,a\n1,b\n"[..], "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// let mut header = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?.header;
    /// assert!(header.warnings(BASELINES).is_empty());
    /// header.facts.insert("jitter".to_owned(), 1e-10);
    /// assert!(header.warnings(BASELINES)[0].contains("1e-10 added to its diagonal"));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn warnings(&self, methods: &[Method]) -> Vec<String> {
        let own = find(methods, &self.method)
            .map(|method| method.warnings_of(&self.settings, &self.facts, self.data.rows));
        let of_rows = [
            sorted_by_class(&self.method, &self.facts),
            classes_missing(&self.facts),
            held_at_random(&self.facts),
            wrong_way(self.adjustment.as_ref()),
        ];
        own.into_iter().flatten().chain(of_rows.into_iter().flatten()).collect()
    }
}

/// Returns a note where a method was fitted to fewer rows than it was given. The method says so in `rows-used`; with a
/// learned kernel in `stage-1-rows` and `machine-rows`.
///
/// ```
/// use mercer_workbench::rows_left_out;
/// let facts = [("rows-used".to_owned(), 4000.0)].into();
/// let told = rows_left_out("gaussian-svm", &facts, 9000).expect("fewer were used");
/// assert!(told.contains("4000 of 9000") && told.contains("--set cap=9000"));
/// assert_eq!(rows_left_out("gaussian-svm", &facts, 4000), None);
/// let facts = [("stage-1-rows".to_owned(), 9000.0), ("machine-rows".to_owned(), 3000.0)].into();
/// let told = rows_left_out("hyper-krr-linear", &facts, 9000).expect("the machine has fewer");
/// assert!(told.contains("its machine to 3000 of 9000") && told.contains("--set machine_rows=9000"));
/// ```
pub fn rows_left_out(method: &str, facts: &BTreeMap<String, f64>, rows: usize) -> Option<String> {
    let fewer = |name: &str| {
        let used = facts.get(name).map(|&used| used as usize);
        used.filter(|&used| used < rows)
    };
    let stages =
        [("stage-1-rows", "points", "its kernel"), ("machine-rows", "machine_rows", "its machine")];
    let stages = stages.into_iter().filter_map(|(name, setting, what)| {
        fewer(name).map(|used| (setting, format!("{what} to {used} of {rows}")))
    });
    let (settings, told): (Vec<&str>, Vec<String>) = match fewer(fact::ROWS_USED) {
        Some(used) => (vec!["cap"], vec![format!("{used} of {rows}")]),
        None => stages.unzip(),
    };
    if told.is_empty() {
        return None;
    }
    let to = if settings == ["cap"] { "was fitted to" } else { "fitted" };
    let names = settings.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let flags: Vec<String> = settings.iter().map(|name| format!("--set {name}={rows}")).collect();
    let (noun, takes) = if flags.len() == 1 { ("setting", "takes") } else { ("settings", "take") };
    Some(format!(
        "{method} {to} {} training rows, drawn at random: its {noun} {names}; {} {takes} all, and more time and memory",
        told.join(" and "),
        flags.join(" ")
    ))
}

/// A word where a method that trains in passes met buffers with rows of one class only, by the fact
/// `buffers-of-one-class`: it forgets a class while it sees another.
pub(crate) fn sorted_by_class(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let count = *facts.get(ONE_CLASS)?;
    let (buffers, have) =
        (counted(count as usize, "buffer", "buffers"), if count > 1.0 { "have" } else { "has" });
    Some(format!(
        "{method}: {buffers} {have} rows of one class only, and it forgets a class while it sees another: shuffle the file \
         (shuf), or take a larger --buffer"
    ))
}

/// Describes in a line a solution of `rows` rows, by `rank`, `cutoff` and `jitter`. It is `None` for a solution that
/// used all rows as they are.
///
/// ```
/// use mercer_workbench::solved_at;
/// let of = |rank: f64, cutoff: f64, jitter: f64| {
///     [("rank", rank), ("cutoff", cutoff), ("jitter", jitter)]
///         .map(|(name, value)| (name.to_owned(), value))
///         .into()
/// };
/// let told = solved_at(&of(2.0, 1e-12, 0.0), 90).expect("88 are missing");
/// assert_eq!(told, "rank 2 of 90: what is at or below 1.0e-12 counts as 0");
/// let told = solved_at(&of(90.0, 0.0, 1e-10), 90).expect("it needed some");
/// assert_eq!(told, "with 1e-10 added to the diagonal");
/// assert_eq!(solved_at(&of(90.0, 1e-12, 0.0), 90), None);
/// assert_eq!(solved_at(&of(50.0, 0.0, 0.0), 90), None); // of 50 features, all
/// ```
pub fn solved_at(facts: &BTreeMap<String, f64>, rows: usize) -> Option<String> {
    let fact = |name: &str| facts.get(name).copied().filter(|&value| value > 0.0);
    let rows = facts.get(fact::ROWS_USED).map_or(rows, |&used| used as usize);
    let cut = facts.get("rank").zip(fact("cutoff")).filter(|(rank, _)| **rank < rows as f64);
    let cut = cut.map(|(rank, cutoff)| {
        format!("rank {rank} of {rows}: what is at or below {cutoff:.1e} counts as 0")
    });
    let added = fact("jitter").map(|jitter| format!("with {jitter:e} added to the diagonal"));
    let told: Vec<String> = cut.into_iter().chain(added).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Returns a note on scores that are no better than a constant prediction. A constant scores `1/K` of balanced
/// accuracy, or the target's standard deviation as an error.
///
/// ```
/// use mercer_learning::Task;
/// use mercer_workbench::{Scores, no_better};
/// let two = Task::Classification { classes: 2 };
/// let of = |accuracy: f64| Scores::from([("balanced-accuracy".to_owned(), accuracy)]);
/// assert!(no_better("askl", true, &of(0.5), two, None).expect("it is not").contains("--tune"));
/// assert_eq!(no_better("askl", true, &of(0.6), two, None), None);
/// // Some methods choose all by themselves.
/// assert!(!no_better("kta", false, &of(0.5), two, None).expect("it is not").contains("--tune"));
/// let error = Scores::from([("rmse".to_owned(), 3.1)]);
/// assert!(no_better("askl", true, &error, Task::Regression, Some(3.0)).is_some());
/// ```
pub fn no_better(
    method: &str,
    tunable: bool,
    scores: &Scores,
    task: Task,
    deviation: Option<f64>,
) -> Option<String> {
    let metric = match task {
        Task::Classification { .. } => Metric::BalancedAccuracy,
        Task::Regression => Metric::Rmse,
    };
    let score = *scores.get(metric.name())?;
    let told = match task {
        Task::Classification { classes } if score * classes as f64 <= 1.0 + 1e-9 => {
            format!("a balanced accuracy of {score:.4}")
        }
        Task::Regression
            if deviation.is_some_and(|own| own > 0.0 && score >= own * (1.0 - 1e-9)) =>
        {
            "an error as large as the target's deviation".to_owned()
        }
        _ => return None,
    };
    Some(format!(
        "{method} is no better than the same answer for every row ({told}): {}see what settings it has (mercer list \
         methods {method})",
        if tunable {
            "choose settings by --tune, or "
        } else {
            "its columns may say nothing of the target; "
        }
    ))
}

/// Values of a column from which on its rows may come in groups.
const GROUPS: usize = 10;

/// The last part of names that identifiers have.
const IDENTIFIERS: [&str; 12] = [
    "id",
    "patient",
    "subject",
    "person",
    "user",
    "session",
    "household",
    "customer",
    "group",
    "batch",
    "site",
    "family",
];

/// A note where a column repeats an identifier: it is called one, or each of its categories has one class where chance
/// would mix them.
pub(crate) fn looks_grouped(table: &Table) -> Option<String> {
    let Matrix::Dense(raw) = &table.raw else { return None };
    if table.division.is_some() || raw.is_empty() {
        return None;
    }
    let mut at = 0;
    for column in &table.schema.columns {
        let from = at;
        at += column.width();
        let numbers = column.content == Holds::Numbers;
        let own = &raw.slice(ndarray::s![.., from..at]);
        let named = is_identifier(&column.name);
        if numbers && (!named || own.iter().any(|value| value.fract() != 0.0)) {
            continue;
        }
        // Its values: of one-hot categories which cell is 1.
        let key = |row: ndarray::ArrayView1<'_, f64>| match row.len() {
            1 => row[0].to_bits(),
            _ => row.iter().position(|cell| *cell > 0.5).unwrap_or(row.len()) as u64,
        };
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (row, cells) in own.rows().into_iter().enumerate() {
            groups.entry(key(cells)).or_default().push(row);
        }
        let (count, rows) = (groups.len(), raw.nrows());
        let repeated = count >= GROUPS && 2 * count <= rows;
        if repeated && (named || of_one_class(&table.truths, &groups)) {
            let name = one_line(&column.name);
            return Some(format!(
                "column `{name}` has {count} values in {rows} rows: where rows of one value belong together, --groups \
                 {} keeps them all in training or in test",
                shell_word(&column.name)
            ));
        }
    }
    None
}

/// Whether a name ends as those of identifiers do: `patient`, `user_id`, `userId`.
fn is_identifier(name: &str) -> bool {
    let last = name.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or(name);
    IDENTIFIERS.iter().any(|own| last.eq_ignore_ascii_case(own))
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// Whether nearly all groups have one class each, and by chance fewer than half would.
fn of_one_class(truths: &Truths, groups: &BTreeMap<u64, Vec<usize>>) -> bool {
    let Truths::Classes(labels) = truths else { return false };
    let classes = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut shares = vec![0.0; classes];
    for &label in labels {
        shares[label as usize] += 1.0 / labels.len() as f64;
    }
    let chance = |rows: &Vec<usize>| -> f64 {
        shares.iter().map(|share: &f64| share.powi(rows.len() as i32)).sum()
    };
    let pure = |rows: &&Vec<usize>| rows.iter().all(|&row| labels[row] == labels[rows[0]]);
    let (all, found) = (groups.len() as f64, groups.values().filter(pure).count() as f64);
    found >= 0.95 * all && groups.values().map(chance).sum::<f64>() < 0.5 * all
}

/// The note on rows that were held out at random though a column divides them.
pub(crate) fn held_at_random(facts: &BTreeMap<String, f64>) -> Option<String> {
    facts.contains_key(AT_RANDOM).then(|| {
        "inside the training part rows were held out at random: whole groups, or the last rows, lack a class".to_owned()
    })
}

/// The note on scores of held-out rows that order the classes the wrong way round.
pub(crate) fn wrong_way(adjustment: Option<&Adjustment>) -> Option<String> {
    match adjustment?.calibration? {
        Calibration::Sigmoid { slope, .. } if slope < 0.0 => Some(
            "on rows held out the scores order the classes the wrong way round, and --calibrate turns them: leave \
             it out, or try another method"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The note on a fit by subsets of the rows where some subsets lack a class.
pub(crate) fn classes_missing(facts: &BTreeMap<String, f64>) -> Option<String> {
    let lacking = facts.get(fact::SUBSETS_WITHOUT_A_CLASS).filter(|&&value| value > 0.0)?;
    let setting = if facts.contains_key("parts") { "parts" } else { "subsets" };
    Some(format!(
        "{lacking} {setting} have no row of some class, and what they learn knows nothing of it; \
         take fewer (`--set {setting}=...`)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_class_are_said() {
        let buffers = sorted_by_class("rf-sgd", &[(ONE_CLASS.to_owned(), 7.0)].into());
        assert!(buffers.unwrap().contains("7 buffers have rows of one class only"));
        assert_eq!(sorted_by_class("rf-sgd", &[].into()), None);
        let subsets = [(fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), 3.0)].into();
        assert!(classes_missing(&subsets).unwrap().contains("3 subsets"));
        assert_eq!(classes_missing(&[].into()), None);
    }
}
