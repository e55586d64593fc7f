use super::LEVELS;
use crate::rows::{Field, RowFile};
use crate::schema::{TargetColumnKept, cased_twice, spelled_twice};
use crate::table::sort_labels;
use crate::{DataError, Kind};
use std::collections::BTreeSet;

/// Different numbers that can still be classes, see [`super::SchemaOptions::kind`].
const CLASSES: usize = 50;

/// Whole numbers from which on it is said that they are taken for classes: more than the digits.
const TOLD: usize = 11;

/// Labels that are kept: real targets have as many as rows.
const KEPT: usize = 100_000;

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

    pub(super) fn conclude(
        self,
        file: &RowFile,
        name: &str,
        position: usize,
        rows: usize,
        kind: Option<Kind>,
    ) -> Result<TargetColumnKept, DataError> {
        let wrong = |problem: String| Err(DataError::format(file.name(), problem));
        let all_numbers = self.texts == 0;
        let few = self.whole.as_ref().is_some_and(|whole| 2 * whole.len() <= rows);
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
                "target `{name}`: `{text}` is taken for a class in {} rows; remove them if it stands for \
                 a missing value",
                self.spelled_missing
            );
        }
        if let Some((line, text)) = &self.first_text
            && kind != Some(Kind::Classification)
            && (self.numbers > self.texts && !few || kind.is_some() && self.numbers > 0)
        {
            let text: String = text.chars().take(32).collect();
            let problem = format!(
                "the target `{text}` (column `{name}`) is not a finite number, as {} others are; mend \
                 it, remove the row, or ask for classes (--task classification)",
                self.numbers
            );
            return Err(DataError::line(file.name(), *line, problem));
        }
        let likely = if all_numbers && !few { Kind::Regression } else { Kind::Classification };
        if let Some(whole) = self.whole.as_ref().filter(|whole| whole.len() >= TOLD)
            && kind.is_none()
            && all_numbers
            && few
        {
            tracing::warn!(
                "target `{name}`: {} whole numbers taken for classes; --task regression otherwise",
                whole.len()
            );
        }
        let kind = kind.unwrap_or(likely);
        let mut labels = Vec::new();
        if kind == Kind::Classification {
            labels = self.labels.into_iter().collect();
            if let [only] = labels.as_slice() {
                return wrong(format!(
                    "target `{name}` is `{only}` in all {rows} rows; there is nothing to tell apart"
                ));
            }
            if 2 * labels.len() > rows.max(4) && all_numbers || labels.len() > LEVELS {
                return wrong(format!(
                    "target `{name}` has {} different values in {rows} rows; is it a number \
                     (--task regression) or another column (--target)?",
                    labels.len()
                ));
            }
            sort_labels(&mut labels);
            if let Some((a, b)) = spelled_twice(&labels) {
                tracing::warn!(
                    "target `{name}`: `{a}` and `{b}` are one number and two classes; write it in one \
                     way if it is one class"
                );
            }
            if let Some((a, b)) = cased_twice(&labels) {
                tracing::warn!(
                    "target `{name}`: `{a}` and `{b}` differ in capitals only and are two classes; write \
                     it in one way if it is one class"
                );
            }
        } else if !all_numbers {
            return wrong(format!("target `{name}` holds text; it cannot be regressed on"));
        } else if !self.varies {
            let value = self.first.unwrap_or_default();
            return wrong(format!(
                "target `{name}` is {value} in all {rows} rows; there is nothing to learn"
            ));
        }
        Ok(TargetColumnKept { name: name.to_owned(), position, kind, labels })
    }
}
