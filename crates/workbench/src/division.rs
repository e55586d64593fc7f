//! Rows that belong together, follow each other, or are test rows already.

use crate::{Splitting, WorkbenchError};
use mercer_datasets::Split;
use mercer_learning::{Streams, counted};
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};

/// Whether rows were held out at random where a column should have done it, as a fact of a fit.
pub(crate) const AT_RANDOM: &str = "held-out-at-random";

/// What a column says about how rows may be divided. The column is no feature then.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{DivideBy, Table};
/// let text = "patient,x,sick\np1,1,no\np1,2,no\np2,3,yes\np2,4,yes\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let by = DivideBy::Groups("patient".to_owned());
/// let table = Table::read_divided(&file, &SchemaOptions::default(), &by)?;
/// assert_eq!((table.rows(), table.schema.width()), (4, 1));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DivideBy {
    /// Rows with the same text train together or test together.
    Groups(String),
    /// Rows that test come after all that train. The column has numbers, or dates that begin as 2026-11-27 does.
    Time(String),
    /// `train` and `test` of each row.
    Part(String),
}

impl DivideBy {
    /// Returns the column.
    pub const fn column(&self) -> &String {
        let (Self::Groups(column) | Self::Time(column) | Self::Part(column)) = self;
        column
    }

    /// How it is asked for on the command line.
    pub(crate) const fn flag(&self) -> &'static str {
        match self {
            Self::Groups(_) => "--groups",
            Self::Time(_) => "--time",
            Self::Part(_) => "--split-column",
        }
    }
}

/// How the rows of a table may be divided.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_learning::Streams;
/// use mercer_workbench::{DivideBy, Splitting, Table};
/// let text = "day,x,sick\n1,1,no\n2,2,yes\n3,3,no\n4,4,yes\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let by = DivideBy::Time("day".to_owned());
/// let table = Table::read_divided(&file, &SchemaOptions::default(), &by)?;
/// let splits = table.splits(Splitting::HoldOut { test: 0.25, repeats: 1 }, &Streams::root(1))?;
/// assert_eq!((splits[0].train.as_slice(), splits[0].test.as_slice()), (&[0, 1, 2][..], &[3][..]));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Division {
    by: DivideBy,
    /// Of each row: its group, its place in time, or 1 where it tests.
    of_row: Vec<usize>,
    /// How many different ones there are.
    count: usize,
    /// Whether the rows that test came from a file of their own, which `by` then names.
    of_files: bool,
}

impl Division {
    /// From the texts of the column, and the lines of the file in which they stand.
    pub(crate) fn of(
        by: &DivideBy,
        texts: &[String],
        lines: &[usize],
        file: &str,
    ) -> Result<Self, WorkbenchError> {
        let refused = |row: usize, problem: String| {
            let (column, line) = (by.column(), lines[row]);
            let problem = format!("line {line}, column `{column}`: {problem}");
            Err(mercer_datasets::DataError::Format { file: file.to_owned(), problem }.into())
        };
        if let Some(row) = texts.iter().position(|text| text.trim().is_empty()) {
            return refused(
                row,
                format!("is empty; write its value, or remove the row ({})", by.flag()),
            );
        }
        let of_row: Vec<usize> = match by {
            DivideBy::Groups(_) => places(texts.iter().map(|text| text.trim())),
            DivideBy::Time(_) => match times(texts) {
                Ok(of_row) => of_row,
                Err((row, problem)) => return refused(row, problem),
            },
            DivideBy::Part(_) => {
                let mut parts = Vec::with_capacity(texts.len());
                for (row, text) in texts.iter().enumerate() {
                    parts.push(match text.trim().to_lowercase().as_str() {
                        "train" | "training" => 0,
                        "test" | "testing" => 1,
                        _ => return refused(row, format!("`{text}` is neither train nor test; write one of the two in each row")),
                    });
                }
                parts
            }
        };
        let count = of_row.iter().max().map_or(0, |last| last + 1);
        let found = Self { by: by.clone(), of_row, count, of_files: false };
        if count < 2 || !found.of_row.contains(&0) {
            let (name, value) = ("column", format!("`{}` ({})", by.column(), by.flag()));
            let must = "one with at least two values, or no row can be held out".to_owned();
            return Err(WorkbenchError::Argument { name, value, must });
        }
        Ok(found)
    }

    /// Rows that train, and behind them rows of another file, which test.
    pub(crate) fn of_files(train: usize, test: usize, name: &str) -> Self {
        let of_row = [vec![0; train], vec![1; test]].concat();
        Self { by: DivideBy::Part(name.to_owned()), of_row, count: 2, of_files: true }
    }

    /// Returns the number of rows that train, where those that test came from another file.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Division, Table};
    /// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "toys", None);
    /// let table = Table::read(&read("x,kind\n1,a\n2,b\n3,a\n")?, &SchemaOptions::default())?;
    /// let test = Table::wider(&read("x,kind\n4,b\n")?, table.schema.clone(), &Default::default())?;
    /// let both = table.tested_on(test, None)?;
    /// assert_eq!((both.rows(), both.division.as_ref().and_then(Division::training_rows)), (4, Some(3)));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn training_rows(&self) -> Option<usize> {
        self.of_files.then(|| self.sizes()[0])
    }

    /// The splits of the rows; they depend on the seed and not on any method.
    pub(crate) fn splits(
        &self,
        splitting: Splitting,
        labels: Option<&[u32]>,
        streams: &Streams,
    ) -> Result<Vec<Split>, WorkbenchError> {
        let repeats = splitting.repeats();
        let refused = |name, value: usize, must: String| {
            Err(WorkbenchError::Argument { name, value: value.to_string(), must })
        };
        if repeats == 0 {
            return refused("repeats", 0, "at least 1".to_owned());
        }
        if repeats > 1 && !matches!(self.by, DivideBy::Groups(_)) {
            let must = format!("1: `{}` divides the rows in one way only", self.by.column());
            return refused("repeats", repeats, must);
        }
        let parts = match (&self.by, splitting) {
            (DivideBy::Part(_), _) => {
                return Ok(vec![self.split(|part| part == 1, |part| part == 0)]);
            }
            (DivideBy::Groups(_), Splitting::Folds { folds, .. }) => folds,
            (DivideBy::Time(_), Splitting::Folds { folds, .. }) => folds + 1,
            (_, Splitting::HoldOut { .. }) => 2,
        };
        // In time the first part only trains.
        let first = usize::from(matches!(self.by, DivideBy::Time(_)));
        if parts < 2 || parts > self.count {
            let (least, most) = (2 - first, self.count - first);
            let must = format!("at least {least} and at most {most}: {}", self.describe_values());
            return refused("folds", parts - first, must);
        }
        if let Splitting::HoldOut { test, .. } = splitting
            && !(test > 0.0 && test < 1.0)
        {
            let must = "above 0 and below 1".to_owned();
            return Err(WorkbenchError::Argument {
                name: "holdout",
                value: test.to_string(),
                must,
            });
        }
        if matches!(self.by, DivideBy::Time(_)) {
            return Ok(self.in_time(splitting));
        }
        Ok(self.of_groups(splitting, labels, streams))
    }

    /// Whole groups at random, each repeat by its own stream.
    fn of_groups(
        &self,
        splitting: Splitting,
        labels: Option<&[u32]>,
        streams: &Streams,
    ) -> Vec<Split> {
        let mut splits = Vec::new();
        for repeat in 0..splitting.repeats() {
            let mut rng = streams.child("splits").rng(&format!("repeat {repeat}"));
            match splitting {
                Splitting::Folds { folds, .. } => {
                    let fold_of = self.fold_of(folds, labels, &mut rng);
                    splits.extend((0..folds).map(|fold| {
                        self.split(|group| fold_of[group] == fold, |group| fold_of[group] != fold)
                    }));
                }
                Splitting::HoldOut { test, .. } => {
                    let held = self.held_out(test, &mut rng);
                    splits.push(self.split(|group| held[group], |group| !held[group]));
                }
            }
        }
        splits
    }

    /// Refuses splits of which one trains on rows of a single class. The classes have these names.
    pub(crate) fn two_classes(
        &self,
        splits: &[Split],
        labels: &[u32],
        names: &[String],
    ) -> Result<(), WorkbenchError> {
        let class_of = |split: &Split| {
            let mut classes = split.train.iter().map(|&row| labels[row]);
            let first = classes.next()?;
            classes.all(|other| other == first).then_some(first)
        };
        let alone = splits.iter().enumerate().find_map(|(at, own)| Some((at, class_of(own)?)));
        let Some((at, class)) = alone else { return Ok(()) };
        let (column, class) = (self.by.column(), &names[class as usize]);
        let trains =
            format!("split {} of {} trains on class `{class}` alone", at + 1, splits.len());
        let must = match self.by {
            DivideBy::Groups(_) => {
                "a column that leaves two classes to each training part, or left out to hold out rows at random"
            }
            DivideBy::Time(_) => {
                "used with fewer folds or with --holdout 0.2, or left out to hold out rows at random"
            }
            DivideBy::Part(_) => "a column whose training rows have two classes",
        };
        Err(WorkbenchError::Argument {
            name: self.by.flag().trim_start_matches('-'),
            value: format!("`{column}`, and {trains}"),
            must: must.to_owned(),
        })
    }

    /// Whether so many folds are each a group.
    pub(crate) const fn one_way(&self, folds: usize) -> bool {
        matches!(self.by, DivideBy::Groups(_)) && folds == self.count
    }

    /// Whether rows are to be held out by it.
    pub(crate) const fn divides(&self) -> bool {
        !matches!(self.by, DivideBy::Part(_))
    }

    /// Whether groups are held out whole, and not the last rows.
    pub(crate) const fn in_groups(&self) -> bool {
        matches!(self.by, DivideBy::Groups(_))
    }

    /// The column with its flag.
    pub(crate) fn named(&self) -> String {
        format!("`{}` ({})", self.by.column(), self.by.flag())
    }

    /// The same of some rows, if it can still divide them: rows that train are not divided into train and test again.
    pub(crate) fn within(&self, rows: &[usize]) -> Option<Self> {
        let kept: BTreeSet<usize> = rows.iter().map(|&row| self.of_row[row]).collect();
        let place: BTreeMap<usize, usize> =
            kept.into_iter().enumerate().map(|(place, one)| (one, place)).collect();
        let divides = !matches!(self.by, DivideBy::Part(_)) && place.len() > 1;
        divides.then(|| Self {
            by: self.by.clone(),
            of_row: rows.iter().map(|&row| place[&self.of_row[row]]).collect(),
            count: place.len(),
            of_files: false,
        })
    }

    /// What trains and what scores inside a training part: folds of groups where folds are asked for, else a fifth of the
    /// rows, in time the last.
    pub(crate) fn inside(
        &self,
        folds: Option<usize>,
        labels: Option<&[u32]>,
        streams: &Streams,
    ) -> Result<Vec<Split>, WorkbenchError> {
        let splitting = match (&self.by, folds) {
            (DivideBy::Groups(_), Some(folds)) => {
                Splitting::Folds { folds: folds.min(self.count), repeats: 1 }
            }
            _ => Splitting::HoldOut { test: 0.2, repeats: 1 },
        };
        self.splits(splitting, labels, streams)
    }

    /// The fold in which each row is held out: groups whole; in time the last fifth in the first fold, and no other row.
    pub(crate) fn dealt(&self, folds: usize, labels: &[u32], rng: &mut impl Rng) -> Vec<usize> {
        if matches!(self.by, DivideBy::Groups(_)) {
            let fold_of = self.fold_of(folds.min(self.count), Some(labels), rng);
            return self.of_row.iter().map(|&group| fold_of[group]).collect();
        }
        let mut held = vec![usize::MAX; self.of_row.len()];
        for split in self.in_time(Splitting::HoldOut { test: 0.2, repeats: 1 }) {
            split.test.iter().for_each(|&row| held[row] = 0);
        }
        held
    }

    /// Rows whose group, place or part tests, and rows whose trains.
    fn split(&self, tests: impl Fn(usize) -> bool, trains: impl Fn(usize) -> bool) -> Split {
        let rows = |wanted: &dyn Fn(usize) -> bool| {
            (0..self.of_row.len()).filter(|&row| wanted(self.of_row[row])).collect()
        };
        Split { train: rows(&trains), test: rows(&tests) }
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.count];
        self.of_row.iter().for_each(|&one| sizes[one] += 1);
        sizes
    }

    /// The fold of each group: the largest first into the fold that has the fewest rows of its rarest class, equal groups
    /// in a random order. Without classes the fold with the fewest rows.
    fn fold_of(&self, folds: usize, labels: Option<&[u32]>, rng: &mut impl Rng) -> Vec<usize> {
        let sizes = self.sizes();
        let labels = labels.unwrap_or_default();
        let mut of_class: BTreeMap<u32, usize> = BTreeMap::new();
        for &label in labels {
            *of_class.entry(label).or_default() += 1;
        }
        let mut rarest = vec![0_u32; self.count];
        let mut counts = vec![BTreeMap::<u32, usize>::new(); self.count];
        for (&group, &label) in self.of_row.iter().zip(labels) {
            *counts[group].entry(label).or_default() += 1;
        }
        for (own, rarest) in counts.iter().zip(&mut rarest) {
            *rarest = own.keys().copied().min_by_key(|class| of_class[class]).unwrap_or(0);
        }
        let mut groups: Vec<usize> = (0..self.count).collect();
        groups.shuffle(rng);
        let rare = |group: usize| of_class.get(&rarest[group]).copied().unwrap_or(0);
        groups.sort_by_key(|&group| (rare(group), std::cmp::Reverse(sizes[group])));
        let (mut rows, mut fold_of) = (vec![0; folds], vec![0; self.count]);
        let mut found = vec![BTreeMap::<u32, usize>::new(); folds];
        for group in groups {
            let of_rarest = |fold: usize| found[fold].get(&rarest[group]).copied().unwrap_or(0);
            let fold = (0..folds).min_by_key(|&fold| (of_rarest(fold), rows[fold])).unwrap_or(0);
            rows[fold] += sizes[group];
            for (&class, &count) in &counts[group] {
                *found[fold].entry(class).or_default() += count;
            }
            fold_of[group] = fold;
        }
        fold_of
    }

    /// Random groups until a share of the rows is held out; at least one group trains, and one tests.
    fn held_out(&self, test: f64, rng: &mut impl Rng) -> Vec<bool> {
        let (sizes, wanted) = (self.sizes(), test * self.of_row.len() as f64);
        let mut groups: Vec<usize> = (0..self.count).collect();
        groups.shuffle(rng);
        let (mut rows, mut held) = (0, vec![false; self.count]);
        for (at, &group) in groups.iter().enumerate() {
            if at > 0 && (rows as f64 >= wanted || at + 1 == self.count) {
                break;
            }
            held[group] = true;
            rows += sizes[group];
        }
        held
    }

    /// Successive parts with about as many rows: each tests a fit to all before it. Rows of one time stay in one part.
    fn in_time(&self, splitting: Splitting) -> Vec<Split> {
        let (sizes, rows) = (self.sizes(), self.of_row.len() as f64);
        // The first place in time of each part but the first.
        let cut = |share: f64, after: usize, left: usize| {
            let mut before: usize = sizes[..after].iter().sum();
            let mut at = after;
            while at < self.count - left && (before as f64) < share * rows {
                before += sizes[at];
                at += 1;
            }
            at.max(after + 1).min(self.count - left)
        };
        match splitting {
            Splitting::HoldOut { test, .. } => {
                let from = cut(1.0 - test, 0, 1);
                vec![self.split(|place| place >= from, |place| place < from)]
            }
            Splitting::Folds { folds, .. } => {
                let mut starts = vec![0];
                for part in 1..=folds {
                    let share = part as f64 / (folds + 1) as f64;
                    starts.push(cut(share, starts[part - 1], folds + 1 - part));
                }
                starts.push(self.count);
                let part = |part: usize| {
                    let (from, to) = (starts[part], starts[part + 1]);
                    self.split(|place| (from..to).contains(&place), |place| place < from)
                };
                (1..=folds).map(part).collect()
            }
        }
    }

    fn describe_values(&self) -> String {
        let column = self.by.column();
        match self.by {
            DivideBy::Groups(_) => {
                format!("`{column}` has {}", counted(self.count, "group", "groups"))
            }
            _ => format!(
                "`{column}` has {}",
                counted(self.count, "different time", "different times")
            ),
        }
    }

    /// In words.
    pub(crate) fn describe(&self, splitting: Splitting) -> String {
        let column = self.by.column();
        match (&self.by, splitting) {
            (DivideBy::Groups(_), splitting) => {
                format!("{}, groups of `{column}` whole", splitting.describe())
            }
            (DivideBy::Time(_), Splitting::Folds { folds, .. }) => format!(
                "{folds} parts in the order of `{column}`, each tested by a fit to all rows before it"
            ),
            (DivideBy::Time(_), Splitting::HoldOut { test, .. }) => {
                format!("the last {:.0} % of the rows by `{column}` held out", 100.0 * test)
            }
            (DivideBy::Part(_), _) if self.of_files => {
                format!("fitted to {}, tested on {column}", counted(self.sizes()[0], "row", "rows"))
            }
            (DivideBy::Part(_), _) => format!("the rows whose `{column}` says test"),
        }
    }

    /// The note on tests and intervals on such splits.
    pub(crate) fn note(&self) -> Option<String> {
        matches!(self.by, DivideBy::Time(_)).then(|| {
            "parts in the order of time are no random splits: intervals and tests over them are a guide only"
                .to_owned()
        })
    }

    /// The splitting that counts for the tests: of rows that are divided already, their share.
    pub(crate) fn splitting(&self, asked: Splitting) -> Splitting {
        if !matches!(self.by, DivideBy::Part(_)) {
            return asked;
        }
        let test = self.sizes()[1] as f64 / self.of_row.len() as f64;
        Splitting::HoldOut { test, repeats: 1 }
    }
}

/// The places of texts in time, or a row that has none and why.
fn times(texts: &[String]) -> Result<Vec<usize>, (usize, String)> {
    let number =
        |text: &String| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if texts.iter().all(|text| is_date(text.trim())) {
        return Ok(places(texts.iter().map(|text| text.trim())));
    }
    if texts.iter().any(|text| number(text).is_none()) {
        // The row that is unlike the first, or the first where that is no time itself.
        let dates = is_date(texts[0].trim());
        let other =
            |text: &String| if dates { !is_date(text.trim()) } else { number(text).is_none() };
        let row = texts.iter().position(other).unwrap_or(0);
        let text = &texts[row];
        let remedy = "write numbers, or dates as 2026-11-27, in all rows";
        return Err((row, format!("`{text}` has no place in time; {remedy}")));
    }
    let numbers: Vec<f64> = texts.iter().filter_map(number).collect();
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let place = |one: &f64| sorted.partition_point(|other| other < one);
    Ok(numbers.iter().map(place).collect())
}

/// Whether a text begins as 2026-11-27 does, so that it sorts as time does.
fn is_date(text: &str) -> bool {
    let pattern = "dddd-dd-dd".bytes();
    let looks = text.len() >= 10
        && text.bytes().zip(pattern).all(|(own, wanted)| match wanted {
            b'd' => own.is_ascii_digit(),
            other => own == other,
        });
    let number = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse().ok());
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    looks && (1..=days_of(year, month)).contains(&day)
}

/// Days of a month; 0 where there is no such month.
const fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Numbers of texts, in the order in which they sort.
fn places<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = texts.clone().map(|text| (text, 0)).collect();
    known.values_mut().enumerate().for_each(|(place, own)| *own = place);
    texts.map(|text| known[text]).collect()
}

#[cfg(test)]
mod tests;
