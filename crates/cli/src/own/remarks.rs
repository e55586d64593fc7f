//! What is said of a table and a model beside the results.

use mercer_datasets::{
    Holds, Impute, Imputed, Imputer, InputColumn, Numbering, Schema, Truths, shell_word,
};
use mercer_learning::{Calibration, Shape, Task, counted, find, one_line};
use mercer_methods::all;
use mercer_workbench::{Adjustment, Choices, Header as ModelHeader, Scores, Table, no_better};

/// A number as a person reads it.
pub(super) fn plain(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

/// How the columns of svmlight are numbered.
pub(super) fn numbering(schema: &Schema) -> Option<String> {
    let Numbering { first, present, rows } = schema.numbering?;
    let of = counted(rows, "row", "rows");
    let have = if present == 1 { "has" } else { "have" };
    Some(format!("from {first}, as in the file ({present} of {of} {have} column {first})"))
}

/// Columns that are named of many with holes.
const NAMED: usize = 20;

/// What a fit filled in which columns.
pub(super) fn filled(header: &ModelHeader) -> Option<String> {
    let impute = header.chosen.as_ref()?.impute?;
    let filled = header.preparation.filled(&header.schema);
    if filled.is_empty() {
        let own = |column: &InputColumn| match &column.content {
            Holds::Categories { levels, .. } => levels.iter().any(|level| level == "(missing)"),
            Holds::Numbers => false,
        };
        let told = if header.schema.columns.iter().any(own) {
            "no number was missing; a missing category is one of its own"
        } else {
            "nothing was missing"
        };
        return Some(told.to_owned());
    }
    let how = match impute {
        Impute::Mean => "mean",
        Impute::Median => "median",
    };
    let one = |column: &Imputed| {
        let rows = counted(column.rows, "row", "rows");
        let with = match &column.with {
            Imputer::Number(value) => format!("{} ({how})", plain(*value)),
            Imputer::Category(level) => format!("`{level}` (most frequent)"),
        };
        format!("`{}` in {rows} with {with}", column.column)
    };
    let mut told: Vec<String> = filled.iter().take(NAMED).map(one).collect();
    if filled.len() > NAMED {
        let more = counted(filled.len() - NAMED, "more column", "more columns");
        told.push(format!("and {more}"));
    }
    Some(told.join(", "))
}

/// What weights the fit heeded.
pub(super) fn weighed(header: &ModelHeader) -> Option<String> {
    let chosen = header.chosen.as_ref()?;
    let of_rows = chosen.weights.as_ref().map(|column| format!("rows by `{column}`"));
    let of_classes = chosen.class_weight.as_ref().map(|own| format!("classes {own}"));
    let told: Vec<String> = of_rows.into_iter().chain(of_classes).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// What was learned from rows held out inside the training part.
pub(super) fn adjusted(header: &ModelHeader) -> Option<String> {
    let Adjustment { calibration, threshold, .. } = header.adjustment?;
    let calibrated = calibration.map(|calibration| match calibration {
        Calibration::Sigmoid { slope, shift } => {
            let sign = if shift < 0.0 { '-' } else { '+' };
            let (slope, shift) = (plain(slope), plain(shift.abs()));
            format!("probabilities 1/(1 + exp(-({slope} m {sign} {shift}))), m the difference of the scores")
        }
        Calibration::Softmax { factor } => {
            format!("probabilities softmax({} scores)", plain(factor))
        }
    });
    let chosen = threshold.map(|chosen| {
        let second = header.schema.target.labels.last().cloned().unwrap_or_default();
        let (at, score) = (plain(chosen.at), plain(chosen.score));
        format!("`{second}` above {at} ({} {score} on rows held out)", chosen.metric.name())
    });
    Some(calibrated.into_iter().chain(chosen).collect::<Vec<_>>().join(", "))
}

/// Repeated rows that are worth a word: a twentieth of all.
const REPEATED: usize = 20;

/// Says of a table that is divided what its scores do not show: what is filled in every training part,
/// and rows that occur again.
pub(super) fn say_of_parts(table: &Table, impute: Option<Impute>) {
    if let (Truths::Classes(classes), [first, second]) =
        (&table.truths, &table.schema.target.labels[..])
    {
        let rows = classes.iter().filter(|class| **class == 1).count();
        if rows > 2 * (classes.len() - rows) {
            tracing::info!(
                "average precision, curves and thresholds are of `{}`, the more common class; --positive {} makes \
                 them of the other",
                one_line(second),
                shell_word(first)
            );
        }
    }
    let repeated = table.repeated();
    if repeated * REPEATED >= table.rows() && repeated > 0 {
        tracing::warn!(
            "{}: {repeated} of {} rows {} an earlier one; where one of two trains and the other tests, \
             scores flatter: remove {} if {}",
            table.name,
            table.rows(),
            if repeated == 1 { "repeats" } else { "repeat" },
            if repeated == 1 { "it" } else { "them" },
            if repeated == 1 { "it is a copy" } else { "they are copies" },
        );
    }
    let holes = table.holes();
    let (Some(impute), false) = (impute, holes.is_empty()) else { return };
    let one =
        |&(column, rows): &(&str, usize)| format!("`{column}` in {}", counted(rows, "row", "rows"));
    let mut told: Vec<String> = holes.iter().take(NAMED).map(one).collect();
    if holes.len() > NAMED {
        let more = counted(holes.len() - NAMED, "more column", "more columns");
        told.push(format!("and {more}"));
    }
    let how = match impute {
        Impute::Mean => "mean",
        Impute::Median => "median",
    };
    tracing::info!(
        "{}: missing and filled by the {how} (categories: the most frequent) of the training rows: {}",
        table.name,
        told.join(", ")
    );
}

/// Methods that are to say the same of every row.
const CONSTANT: [&str; 3] = ["majority", "mean", "zero"];

/// Whether a tuner has something to try of a method.
fn tunable(method: &str, task: Task) -> bool {
    let shape = Shape { rows: 100, features: 2, task };
    find(&all(), method).is_ok_and(|method| !(method.space)(&shape).axes.is_empty())
}

/// Says where tuning was asked for of a method that has nothing to tune.
pub(super) fn say_if_untunable(method: &str, choices: &Choices<'_>, task: Task) {
    if choices.tune.is_some() && !tunable(method, task) {
        tracing::warn!("{method} has nothing to tune: --tune and --budget do nothing");
    }
}

/// Says where a method learned nothing that shows in its scores; with `may_tune` tuning is still to be tried.
pub(super) fn say_if_no_better(
    method: &str,
    may_tune: bool,
    scores: &Scores,
    task: Task,
    deviation: Option<f64>,
) {
    if CONSTANT.contains(&method) {
        return;
    }
    let tunable = may_tune && tunable(method, task);
    if let Some(told) = no_better(method, tunable, scores, task, deviation) {
        tracing::warn!("{told}");
    }
}

/// Bytes of a model file from which its size is worth a word, and its arrays are not read for a look.
pub(super) const LARGE: u64 = 64 << 20;

/// A size as a person reads it.
pub(super) fn mebibytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let power = (bytes.max(1).ilog2() / 10).min(3);
    let value = bytes as f64 / 1024f64.powi(power as i32);
    let unit = UNITS[power as usize];
    if power == 0 { format!("{bytes} {unit}") } else { format!("{value:.1} {unit}") }
}

/// A text as a field of CSV: in quotes where it holds a comma, say.
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::mebibytes;

    #[test]
    fn sizes_are_read_by_people() {
        for (bytes, told) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (1 << 20, "1.0 MiB"),
            (1_610_612_736, "1.5 GiB"),
            (1 << 42, "4096.0 GiB"),
        ] {
            assert_eq!(mebibytes(bytes), told);
        }
    }
}
