use super::LEVELS;
use super::column::{self, COUNTED, almost_number};
use crate::rows::{Field, RowFile, RowFormat};
use crate::schema::{TargetColumnKept, alike, shown, spelled_twice};
use crate::table::sort_labels;
use crate::{DataError, Kind};
use mercer_learning::counted;
use std::collections::BTreeSet;

/// Different numbers that can still be classes, see [`super::SchemaOptions::kind`].
const CLASSES: usize = 50;

/// Whole numbers from which on it is said that they are taken for classes: two are yes and no.
const TOLD: usize = 3;

/// Up to so many it is no warning.
const USUAL: usize = 10;

/// Labels that are kept: real targets have as many as rows.
const KEPT: usize = 100_000;

/// The note on a target of whole numbers whose task is a guess: classes where each occurs twice on average, else
/// numbers.
fn told_of(name: &str, whole: &BTreeSet<u64>, few: bool, rows: usize) -> Option<String> {
    let count = whole.len();
    // Where no number occurs twice, or all do, there is nothing to guess.
    if !(2..rows).contains(&count) || few && count < TOLD {
        return None;
    }
    let mut values: Vec<f64> = whole.iter().map(|&bits| f64::from_bits(bits)).collect();
    values.sort_by(f64::total_cmp);
    let shown: Vec<String> = values.iter().take(4).map(f64::to_string).collect();
    let more = if count > shown.len() { ", ..." } else { "" };
    let (taken, other) =
        if few { ("classes", "regression") } else { ("quantities", "classification") };
    Some(format!(
        "target `{name}`: {count} different whole numbers in {} ({}{more}) are taken for {taken}; \
         say --task {other} if they are not",
        counted(rows, "row", "rows"),
        shown.join(", ")
    ))
}

/// All rows, whose number may be one.
fn all_of(rows: usize) -> String {
    match rows {
        1 => "the only row".to_owned(),
        rows => format!("all {rows} rows"),
    }
}

/// The error for a target of nearly all different texts, unless classes were asked for; and a word on one of many.
fn all_different(name: &str, classes: usize, rows: usize, asked: bool) -> Option<String> {
    if classes < COUNTED || 2 * classes <= rows {
        return None;
    }
    let rows_told = counted(rows, "row", "rows");
    if 10 * classes >= 9 * rows && !asked {
        return Some(format!(
            "target `{name}` has {classes} different texts in {rows_told}: name another column (--target), or \
             ask for classes (--task classification) if that many are meant"
        ));
    }
    tracing::warn!(
        "target `{name}` has {classes} different classes in {rows_told}; is it the column to predict? name another \
         with --target"
    );
    None
}

/// The error for a target of one class.
fn one_class(name: &str, only: &str, rows: usize, format: RowFormat) -> String {
    let (only, all) = (shown(only), all_of(rows));
    if format == RowFormat::Svmlight {
        return format!(
            "the target is `{only}` in {all}, or no row has one; begin each row with its target, or add rows of \
             another class"
        );
    }
    format!(
        "target `{name}` is `{only}` in {all}; there is nothing to tell apart: add rows of another class, or name \
         another column (--target)"
    )
}

/// The classes in order, or the error in them. What may be a slip in their spelling is said.
fn classes(
    name: &str,
    mut labels: Vec<String>,
    rows: usize,
    (all_numbers, asked): (bool, bool),
    format: RowFormat,
) -> Result<Vec<String>, String> {
    if let [only] = labels.as_slice() {
        return Err(one_class(name, only, rows, format));
    }
    if 2 * labels.len() > rows.max(4) && all_numbers || labels.len() > LEVELS {
        return Err(format!(
            "target `{name}` has {} different values in {}; is it a number \
             (--task regression) or another column (--target)?",
            labels.len(),
            counted(rows, "row", "rows")
        ));
    }
    if let Some(problem) = all_different(name, labels.len(), rows, asked) {
        return Err(problem);
    }
    sort_labels(&mut labels);
    if let Some((a, b)) = spelled_twice(&labels) {
        tracing::warn!(
            "target `{name}`: `{a}` and `{b}` are one number and two classes; write it in one \
             way if it is one class"
        );
    }
    if let Some(told) = alike(&labels, "classes") {
        tracing::warn!("target `{name}`: {told}; write a class in one way if it is one");
    }
    Ok(labels)
}

/// What is wrong with a target that is a number in disguise, where classes were not asked for.
pub(super) fn disguised(name: &str, text: &str) -> Option<String> {
    if let Some(plain) = column::comma_remedy(text) {
        return Some(format!(
            "the target `{text}` (column `{name}`) is a number with a comma; {plain}, read all numbers so \
             (--decimal ,), or ask for classes (--task classification)"
        ));
    }
    if let Some(plain) = column::with_thousands(text) {
        return Some(format!(
            "the target `{text}` (column `{name}`) is a number with its thousands apart; write {plain}, or \
             ask for classes (--task classification)"
        ));
    }
    if let Some(plain) = column::of_an_accountant(text) {
        return Some(format!(
            "the target `{text}` (column `{name}`) is a negative number as accountants write it; write {plain}, \
             or ask for classes (--task classification)"
        ));
    }
    column::with_sign(text).then(|| {
        format!(
            "the target `{text}` (column `{name}`) is a number with a sign; write the number alone, \
             or ask for classes (--task classification)"
        )
    })
}

/// What was seen of the target.
pub(super) struct Targets {
    labels: BTreeSet<String>,
    /// Different values, while they are whole and few.
    whole: Option<BTreeSet<u64>>,
    numbers: usize,
    texts: usize,
    /// The first text that is no number, and its line.
    first_text: Option<(usize, String)>,
    /// The first that may stand for a missing value, its line, and how many do.
    spelled: Option<(usize, String)>,
    spelled_missing: usize,
    first: Option<f64>,
    varies: bool,
}

impl Targets {
    pub(super) const fn new() -> Self {
        Self {
            labels: BTreeSet::new(),
            whole: Some(BTreeSet::new()),
            numbers: 0,
            texts: 0,
            first_text: None,
            spelled: None,
            spelled_missing: 0,
            first: None,
            varies: false,
        }
    }

    /// Takes note of a target as it stands in the file, and as a number if it is one.
    pub(super) fn see(&mut self, text: &str, number: Option<f64>, line: usize) {
        if let Some(value) = number {
            self.numbers += 1;
            let first = *self.first.get_or_insert(value);
            self.varies |= value.to_bits() != first.to_bits();
            if let Some(whole) = &mut self.whole {
                // Adding zero turns -0 into 0.
                whole.insert((value + 0.0).to_bits());
                if value.fract() != 0.0 || whole.len() > CLASSES {
                    self.whole = None;
                }
            }
        } else {
            self.texts += 1;
            if Field::is_spelled_missing(text) {
                self.spelled_missing += 1;
                self.spelled.get_or_insert_with(|| (line, text.to_owned()));
            }
            self.first_text.get_or_insert_with(|| (line, text.to_owned()));
        }
        if self.labels.len() <= KEPT && !self.labels.contains(text) {
            self.labels.insert(text.to_owned());
        }
    }

    /// The error where a text is likely a hole among numbers, or a slip; a word where it may be.
    fn check_texts(
        &self,
        file: &RowFile,
        name: &str,
        few: bool,
        kind: Option<Kind>,
    ) -> Result<(), DataError> {
        if let Some((line, text)) = &self.spelled {
            // Among numbers it is a hole; among words it is one of them.
            if kind != Some(Kind::Classification)
                && self.numbers > 0
                && self.spelled_missing == self.texts
            {
                let problem = format!(
                    "the target (column `{name}`) is missing (`{text}`); remove the row, name another \
                     column (--target), or ask for classes (--task classification) if it is one"
                );
                return Err(DataError::line(file.name(), *line, problem));
            }
            tracing::warn!(
                "target `{name}`: `{text}` is taken for a class in {}; remove {} if it stands for \
                 a missing value",
                counted(self.spelled_missing, "row", "rows"),
                if self.spelled_missing == 1 { "it" } else { "them" }
            );
        }
        if let Some((line, text)) = &self.first_text
            && kind != Some(Kind::Classification)
            && (self.numbers > self.texts && !few || kind.is_some() && self.numbers > 0)
        {
            let others = match self.numbers {
                1 => "1 other is".to_owned(),
                numbers => format!("{numbers} others are"),
            };
            let number = if almost_number(text) { "a finite number" } else { "a number" };
            let problem = format!(
                "the target `{}` (column `{name}`) is not {number}, but {others}; correct it, remove the row, \
                 or ask for classes (--task classification)",
                shown(text)
            );
            return Err(DataError::line(file.name(), *line, problem));
        }
        Ok(())
    }

    pub(super) fn conclude(
        self,
        file: &RowFile,
        name: &str,
        position: usize,
        rows: usize,
        kind: Option<Kind>,
    ) -> Result<TargetColumnKept, DataError> {
        let wrong = |problem: String| DataError::format(file.name(), problem);
        let all_numbers = self.texts == 0;
        let few = self.whole.as_ref().is_some_and(|whole| 2 * whole.len() <= rows);
        self.check_texts(file, name, few, kind)?;
        let likely = if all_numbers && !few { Kind::Regression } else { Kind::Classification };
        if let (Some(whole), None, true) = (&self.whole, kind, all_numbers)
            && let Some(told) = told_of(name, whole, few, rows)
        {
            // Digits and grades are classes as a rule.
            if few && whole.len() <= USUAL {
                tracing::info!("{told}");
            } else {
                tracing::warn!("{told}");
            }
        }
        let asked = kind.is_some();
        let kind = kind.unwrap_or(likely);
        let mut labels = Vec::new();
        if kind == Kind::Classification {
            let (found, format) = (self.labels.into_iter().collect(), file.format());
            labels = classes(name, found, rows, (all_numbers, asked), format).map_err(wrong)?;
        } else if !all_numbers {
            return Err(wrong(format!(
                "target `{name}` holds text; it cannot be regressed on: ask for classes (--task \
                 classification), or name another column (--target)"
            )));
        } else if !self.varies {
            let value = self.first.unwrap_or_default();
            return Err(wrong(format!(
                "target `{name}` is {value} in {}; there is nothing to learn: name another column \
                 (--target)",
                all_of(rows)
            )));
        }
        Ok(TargetColumnKept { name: name.to_owned(), position, kind, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::told_of;

    #[test]
    fn a_guess_is_said_where_it_could_be_wrong() {
        let told = |values: std::ops::Range<u32>, few: bool, rows: usize| {
            let whole = values.map(|value| f64::from(value).to_bits()).collect();
            told_of("rooms", &whole, few, rows)
        };
        // Yes and no are classes, and a number of its own in every row is one.
        assert_eq!(told(0..2, true, 9), None);
        assert_eq!(told(0..9, false, 9), None);
        assert_eq!(told(0..1, false, 1), None);
        assert_eq!(
            told(0..6, true, 90).unwrap(),
            "target `rooms`: 6 different whole numbers in 90 rows (0, 1, 2, 3, ...) are taken for classes; \
             say --task regression if they are not"
        );
        let told = told(0..2, false, 3).unwrap();
        assert!(
            told.contains("(0, 1) are taken for quantities; say --task classification"),
            "{told}"
        );
    }
}
