mod search;

use search::{Search, named};

use crate::prepare::{inner_folds, inner_split};
use crate::{HarnessError, Parts};
use mercer_learning::{
    LearningError, Limits, Method, Metric, Sample, Settings, Shape, Space, Streams,
};
use mercer_records::Tuning;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Successive halving: a search that spends full effort on the best candidates only. All candidates run at a small
/// effort, the best third at three times that, the best ninth at full effort. Every method gets the same budget.
///
/// A method without a resource (a closed form) fits every candidate in full at the first rung.
///
/// ```
/// use mercer_harness::Tuner;
/// // 27 at a ninth, 9 at a third, 3 in full; on 80 % of the rows; and the final fit.
/// assert!((Tuner::default().cost() - (0.8 * (3.0 + 3.0 + 3.0) + 1.0)).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuner {
    /// Candidates at the first rung.
    pub candidates: usize,
    /// Share of the full effort at each rung, rising to 1.
    pub rungs: Vec<f64>,
    /// Share of the training part that trains; the rest scores.
    pub train: f64,
    /// Training rows used at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Parts of the rows, two at least, for cross-validation in place of one held-out share. Each part scores what the
    /// others train; `train` then does not count. A fifth of a few hundred rows tells the best candidate from the next
    /// only where they are points apart; folds score with every row, for as many times the fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// Time limit of the search in seconds. After it no further candidate is begun, and the current one is ended at its
    /// next step. The first candidate's time at the first rung says how many of `candidates` there is time for, two at
    /// least. The best of the highest rung with a score is taken, and where none has one the first. The choice then
    /// depends on the machine, so no study sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether an effort in rows (a setting `cap`) is a share of the present rows. This holds where the rows are fewer
    /// than the setting; the share is a hundred rows at least. Rungs that would fit the same rows are one. The studies'
    /// tuner takes the share of the setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_rows: bool,
    /// Whether the method's defaults are the first candidate, before its anchors. They are the defaults for your own
    /// table ([`Method::begun`]), which then complete all candidates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defaults_first: bool,
    /// Whether a search spends nothing on what it knows already:
    /// - Settings that come to the same once they are completed are one candidate.
    /// - A rung has at least twice the resource of the one below.
    /// - As many go on as keep the next rung as cheap.
    /// - An anchor that is no candidate of the fixed settings is moved into its range ([`Space::anchored`]).
    /// - A search of few candidates begins at the rung from which two are left for the last, and it ends where one is
    ///   left.
    ///
    /// The studies' tuner fits 27, 9 and 3, whatever they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparing: bool,
    /// Metric that scores candidates. Without one it is the accuracy or the root mean squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// A grid whose every point is tried, in place of draws. Each point is fitted in full and by cross-validation:
    /// `candidates` is their number, and no other part of the budget counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
}

/// The grid that a paper prints. It has the values of each setting, and the settings that each method searches.
///
/// ```
/// use mercer_harness::PrintedGrid;
/// let text = "folds = 5\naxes = { std = [0.5, 1.0], lambda1 = [1e-3, 1e-2, 1e-1] }\n\
///             methods = { sk = [\"std\"], askl = [\"std\", \"lambda1\"] }";
/// let printed: PrintedGrid = toml::from_str(text)?;
/// assert_eq!(printed.of("sk").unwrap().len(), 2);
/// assert_eq!(printed.of("askl").unwrap().len(), 6);
/// assert!(printed.of("gaussian-svm").is_none()); // keeps its own search
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedGrid {
    /// Parts of the training rows, at least 2; each scores what the others train.
    pub folds: usize,
    /// The values by setting.
    pub axes: BTreeMap<String, Vec<Value>>,
    /// The settings by method.
    pub methods: BTreeMap<String, Vec<String>>,
}

impl PrintedGrid {
    /// Returns the grid of a method; `None` where it has none.
    pub fn of(&self, method: &str) -> Option<Grid> {
        let own = self.methods.get(method)?;
        let axes = self.axes.iter().filter(|(name, _)| own.contains(name));
        let axes = axes.map(|(name, values)| (name.clone(), values.clone()));
        Some(Grid { folds: self.folds, axes: axes.collect() })
    }

    /// The fault in it, given the methods of its study.
    pub(crate) fn fault(&self, study: &[&str]) -> Option<String> {
        if self.folds < 2 || self.axes.values().any(Vec::is_empty) {
            return Some("a grid needs two folds and values on every axis".to_owned());
        }
        if let Some(name) = self.methods.keys().find(|name| !study.contains(&name.as_str())) {
            return Some(format!(
                "the grid is searched by `{name}`, which is no method of the study"
            ));
        }
        let named: Vec<&String> = self.methods.values().flatten().collect();
        if let Some(name) = named.iter().find(|name| !self.axes.contains_key(**name)) {
            return Some(format!("a method searches `{name}`, which is no axis of the grid"));
        }
        let idle = self.axes.keys().find(|axis| !named.contains(axis))?;
        Some(format!("`{idle}` is an axis that no method searches"))
    }
}

/// The values that a search tries of each setting, all of them together. It also has the folds that score them.
///
/// ```
/// use mercer_harness::Grid;
/// let text = "folds = 5\naxes = { std = [0.5, 1.0], lambda1 = [1e-3, 1e-2, 1e-1] }";
/// let grid: Grid = toml::from_str(text)?;
/// let points = grid.points();
/// assert_eq!((points.len(), grid.len()), (6, 6));
/// assert_eq!(points[1].to_string(), r#"{"lambda1":0.001,"std":1.0}"#); // the last setting by name runs first
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Parts of the training rows, at least 2; each scores what the others train.
    pub folds: usize,
    /// The values by setting.
    pub axes: BTreeMap<String, Vec<Value>>,
}

impl Grid {
    /// Returns how many points it has.
    pub fn len(&self) -> usize {
        self.axes.values().map(Vec::len).product()
    }

    /// Returns whether an axis has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all points, the last setting by name running first.
    pub fn points(&self) -> Vec<Settings> {
        self.axes.iter().fold(vec![Settings::new()], |points, (name, values)| {
            let with = |point: &Settings| {
                values
                    .iter()
                    .map(|value| point.clone().with(name, value.clone()))
                    .collect::<Vec<_>>()
            };
            points.iter().flat_map(with).collect()
        })
    }
}

/// Rows below which a rung says nothing, where [`Tuner::of_rows`].
const FEWEST: f64 = 100.0;

impl Default for Tuner {
    fn default() -> Self {
        Self {
            candidates: 27,
            rungs: vec![1.0 / 9.0, 1.0 / 3.0, 1.0],
            train: 0.8,
            rows: Some(10_000),
            folds: None,
            seconds: None,
            of_rows: false,
            defaults_first: false,
            sparing: false,
            metric: None,
            grid: None,
        }
    }
}

impl Tuner {
    /// Returns the same study's search over a grid in place of its draws.
    ///
    /// ```
    /// use mercer_harness::{Grid, Tuner};
    /// let values = |count: u32| (0..count).map(Into::into).collect();
    /// let axes = [("lambda1".to_owned(), values(10)), ("std".to_owned(), values(21))].into();
    /// let tuner = Tuner::default().over(Grid { folds: 5, axes });
    /// // 210 points, each in five fits on four fifths of the rows; and the final fit.
    /// assert!((tuner.cost() - (210.0 * 4.0 + 1.0)).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn over(&self, grid: Grid) -> Self {
        let (candidates, rungs) = (grid.len(), vec![1.0]);
        Self { candidates, rungs, rows: None, folds: None, grid: Some(grid), ..self.clone() }
    }

    /// Returns what trains and scores the candidates: rows of the training part, drawn once or in folds.
    ///
    /// ```
    /// use mercer_harness::Tuner;
    /// use mercer_learning::{Sample, Streams};
    /// let sample = Sample::regression(ndarray::Array2::zeros((10, 1)), ndarray::Array1::zeros(10))?;
    /// let parts = Tuner::default().parts(&sample, &Streams::root(1))?;
    /// assert_eq!((parts.len(), parts[0].train.rows(), parts[0].test.rows()), (1, 8, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a part has no row.
    pub fn parts(&self, train: &Sample, streams: &Streams) -> Result<Vec<Parts>, HarnessError> {
        match (&self.grid, self.folds) {
            (Some(grid), _) => inner_folds(train, grid.folds, None, false, streams),
            (None, Some(folds)) => inner_folds(train, folds, self.rows, self.of_rows, streams),
            (None, None) => {
                Ok(vec![inner_split(train, self.train, self.rows, self.of_rows, streams)?])
            }
        }
    }

    /// Returns the cost in full fits, the final fit included.
    ///
    /// ```
    /// use mercer_harness::Tuner;
    /// // Five fits on four fifths of the rows where there was one.
    /// let folded = Tuner { folds: Some(5), ..Tuner::default() };
    /// assert!((folded.cost() - (5.0 * 0.8 * 9.0 + 1.0)).abs() < 1e-12);
    /// ```
    pub fn cost(&self) -> f64 {
        if let Some(grid) = &self.grid {
            return (grid.len() * (grid.folds - 1)) as f64 + 1.0;
        }
        let mut left = self.candidates as f64;
        let mut cost = 0.0;
        for &effort in &self.rungs {
            cost += left * effort;
            left = (left / 3.0).ceil();
        }
        self.folds.map_or(self.train, |folds| folds as f64 - 1.0) * cost + 1.0
    }

    /// The rungs for a method whose resource is `full` in a full fit; of a method without one, a
    /// single rung. `rows` are those that there are, where the resource counts rows.
    fn rungs(&self, full: Option<f64>, rows: Option<usize>) -> Vec<Rung> {
        let Some(full) = full else { return vec![Rung { effort: 1.0, amount: None }] };
        let full = rows.map_or(full, |rows| full.min(rows as f64));
        let least = if rows.is_some() { FEWEST.min(full) } else { 1.0 };
        let mut rungs: Vec<Rung> = Vec::new();
        for &share in &self.rungs {
            let amount = (full * share).round().max(least);
            let effort = if rows.is_some() || self.sparing { amount / full } else { share };
            let last = rungs.last().and_then(|rung| rung.amount);
            if self.sparing && last.is_some_and(|last| amount < 2.0 * last as f64) {
                // The full effort is always one of them.
                if amount < full {
                    continue;
                }
                rungs.pop();
            } else if rows.is_some() && last == Some(amount as u64) {
                continue;
            }
            rungs.push(Rung { effort, amount: Some(amount as u64) });
        }
        rungs
    }

    /// How many of `count` candidates go on from a rung to the next, which has `times` its effort.
    fn kept(&self, count: usize, times: f64) -> usize {
        if self.sparing {
            // Whole numbers of epochs or rows are not a third to the last digit: a tenth of a candidate is none.
            (count as f64 / times - 0.1).ceil().max(1.0) as usize
        } else {
            count.div_ceil(3)
        }
    }

    /// The rungs that so many candidates climb: at the last one at least two are compared.
    fn climbed(&self, candidates: usize, mut rungs: Vec<Rung>) -> Vec<Rung> {
        let arrive = |rungs: &[Rung]| {
            let up = rungs.windows(2).map(|pair| pair[1].effort / pair[0].effort);
            up.fold(candidates, |left, times| self.kept(left, times))
        };
        while self.sparing && rungs.len() > 1 && arrive(&rungs) < 2 {
            rungs.remove(0);
        }
        rungs
    }
}

/// What a candidate gets at one height of the climb.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rung {
    /// Share of the full effort, in `(0, 1]`.
    effort: f64,
    /// What the method's resource then is, if it has one.
    amount: Option<u64>,
}

/// The limits of the whole, and the tuner's own seconds.
struct Timed<'a> {
    limits: &'a dyn Limits,
    started: Instant,
    seconds: Option<f64>,
}

impl Timed<'_> {
    fn late(&self) -> bool {
        self.seconds.is_some_and(|seconds| self.started.elapsed().as_secs_f64() >= seconds)
    }

    /// Whether it was the tuner's seconds that ended a fit: no error, but the end of the search.
    fn ended(&self, stop: &LearningError) -> bool {
        matches!(stop, LearningError::OutOfTime { .. })
            && self.late()
            && self.limits.check().is_ok()
    }

    /// How many candidates there is time for, by the time that the first one took at the first rung. Each rung costs
    /// the same: a third of the candidates at three times the effort.
    fn affordable(&self, rungs: usize) -> usize {
        let Some(seconds) = self.seconds else { return usize::MAX };
        let one = self.started.elapsed().as_secs_f64().max(1e-6);
        ((seconds / (one * rungs as f64)) as usize).max(2)
    }
}

impl Limits for Timed<'_> {
    fn check(&self) -> Result<(), LearningError> {
        self.limits.check()?;
        match self.seconds {
            Some(seconds) if self.late() => Err(LearningError::OutOfTime { seconds }),
            _ => Ok(()),
        }
    }

    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        self.limits.reserve(bytes)
    }
}

/// Removes settings that do nothing beside the fixed ones, and would do something without them.
fn leave_idle(space: &mut Space, method: &Method, shape: &Shape, fixed: &Settings) {
    let declared = (method.settings)()
        .into_iter()
        .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default));
    let defaults = declared.overridden_by(&method.begun(shape));
    let usual = method.idle(&defaults, shape.task);
    let mut idle = method.idle(&defaults.overridden_by(fixed), shape.task);
    idle.retain(|name| !usual.contains(name));
    space.axes.retain(|axis| !idle.contains(&axis.name));
    for anchor in &mut space.anchors {
        let kept = anchor.iter().filter(|(name, _)| !idle.contains(name));
        *anchor = kept.fold(Settings::new(), |all, (name, value)| all.with(name, value.clone()));
    }
}

/// The defaults of what the space tunes, before its anchors and not among them again, whatever an anchor
/// leaves out: `completed` says what a fit would take.
fn put_first(
    space: &mut Space,
    defaults: &Settings,
    completed: impl Fn(&Settings) -> BTreeMap<String, Value>,
) {
    let first = space.axes.iter().fold(Settings::new(), |first, axis| {
        defaults.get(axis.name).map_or(first.clone(), |value| first.with(axis.name, value.clone()))
    });
    let whole = completed(&first);
    space.anchors.retain(|anchor| completed(anchor) != whole);
    space.anchors.insert(0, first);
}

/// The ranges of this case; the anchors moved into them, where the studies' candidates do not depend on it.
fn in_case(space: Space, case: &Settings, tuner: &Tuner) -> Space {
    let space = if tuner.sparing { space.anchored(case) } else { space };
    space.given(case)
}

/// All settings of a fit: the declared ones, the defaults for the shape, and over them the candidate's. One number is
/// one value, however it is written.
fn completed(
    method: &Method,
    defaults: &Settings,
    candidate: &Settings,
) -> BTreeMap<String, Value> {
    let declared = (method.settings)()
        .into_iter()
        .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default));
    let all = declared.overridden_by(defaults).overridden_by(candidate);
    let one = |value: &Value| value.as_f64().map_or_else(|| value.clone(), Value::from);
    all.iter().map(|(name, value)| (name.to_owned(), one(value))).collect()
}

/// The first `count` candidates that do not come to the same as one before.
fn keep_distinct(
    candidates: &mut Vec<Settings>,
    count: usize,
    completed: impl Fn(&Settings) -> BTreeMap<String, Value>,
) {
    let mut seen = BTreeSet::new();
    candidates.retain(|candidate| seen.insert(json!(completed(candidate)).to_string()));
    candidates.truncate(count);
}

/// What a search tries: the points of its grid, or else anchors and draws, over them what is fixed.
fn candidates(
    space: &Space,
    (fixed, anchor): (&Settings, &Settings),
    tuner: &Tuner,
    streams: &Streams,
    completed: impl Fn(&Settings) -> BTreeMap<String, Value>,
) -> Vec<Settings> {
    // Of draws that are left out for having been drawn before others take the place, while there are any.
    let drawn = tuner.candidates.saturating_mul(if tuner.sparing { 4 } else { 1 });
    let mut candidates: Vec<Settings> = space
        .candidates(drawn, &mut streams.rng("candidates"))
        .iter()
        .map(|candidate| candidate.clone().overridden_by(fixed))
        .collect();
    if tuner.sparing {
        keep_distinct(&mut candidates, tuner.candidates, completed);
    }
    if let Some(grid) = &tuner.grid {
        // What the grid does not name is what the paper or its code gives.
        let point = |point: Settings| anchor.clone().overridden_by(&point).overridden_by(fixed);
        candidates = grid.points().into_iter().map(point).collect();
    }
    candidates
}

/// Tunes `method` on the training part alone.
///
/// Candidates are `fixed` overridden by the anchor, by the space's anchors, and by seeded draws.
/// The score is accuracy, or minus the root mean squared error, on the rows held out, in the mean over
/// folds; ties go to the earlier candidate. A candidate that fails or diverges, on one fold even, scores
/// nothing.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{Tuner, tune};
/// use mercer_learning::{Sample, Settings, Streams, Unlimited};
/// let labels: Vec<u32> = (0..100).map(|row| u32::from(row % 4 == 0)).collect();
/// let sample = Sample::classification(ndarray::Array2::zeros((100, 1)), labels, 2)?;
/// let tuner = Tuner { candidates: 4, rungs: vec![1.0], ..Tuner::default() };
/// let (none, streams) = (Settings::new(), Streams::root(1));
/// let found = tune(&METHODS[0], &sample, &none, &none, &tuner, &streams, &Unlimited)?;
/// assert!(found.history.iter().any(|step| step.settings == found.chosen));
/// assert!(found.history.iter().all(|step| step.score.is_some_and(|score| score > 0.5)));
/// let again = tune(&METHODS[0], &sample, &none, &none, &tuner, &streams, &Unlimited)?;
/// assert_eq!(found, again);
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
///
/// # Errors
/// If no candidate could be fitted, or a limit was reached.
pub fn tune(
    method: &Method,
    train: &Sample,
    fixed: &Settings,
    anchor: &Settings,
    tuner: &Tuner,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<Tuning, HarnessError> {
    let parts = tuner.parts(train, streams)?;
    tune_on(method, train.shape(), &parts, (fixed, anchor), tuner, streams, limits)
}

/// [`tune`] on parts of one's own, for a final fit to rows of this shape. Each part is trained and scored as it comes.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::METHODS;
/// use mercer_harness::{Tuner, tune, tune_on};
/// use mercer_learning::{Sample, Settings, Streams, Unlimited};
/// let inputs = ndarray::Array2::from_shape_fn((30, 1), |(row, _)| f64::from(u8::from(row % 2 == 1)));
/// let sample = Sample::classification(inputs, (0..30).map(|row| row % 2).collect(), 2)?;
/// let (none, tuner, streams) = (Settings::new(), Tuner::default(), Streams::root(1));
/// let plain = tune(&METHODS[0], &sample, &none, &none, &tuner, &streams, &Unlimited)?;
/// let parts = tuner.parts(&sample, &streams)?;
/// let same = tune_on(&METHODS[0], sample.shape(), &parts, (&none, &none), &tuner, &streams, &Unlimited)?;
/// assert_eq!(plain.chosen, same.chosen);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`tune`].
///
/// # Panics
/// If there are no parts.
pub fn tune_on(
    method: &Method,
    shape: Shape,
    parts: &[Parts],
    (fixed, anchor): (&Settings, &Settings),
    tuner: &Tuner,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<Tuning, HarnessError> {
    // Candidates are completed as the final fit will be, which sees the whole training part.
    let own = tuner.defaults_first;
    let defaults = if own { method.begun(&shape) } else { (method.defaults)(&shape) };
    let whole = |candidate: &Settings| {
        completed(method, &defaults, &candidate.clone().overridden_by(fixed))
    };
    let mut space = (method.space)(&shape);
    if own {
        leave_idle(&mut space, method, &shape, fixed);
        put_first(&mut space, &defaults, whole);
    }
    let mut space = in_case(space, &defaults.clone().overridden_by(fixed), tuner);
    if !anchor.is_empty() {
        space.anchors.insert(0, anchor.clone());
    }
    let full = method
        .resource
        .and_then(|name| fixed.get(name).or_else(|| defaults.get(name)))
        .and_then(Value::as_f64);
    let candidates = candidates(&space, (fixed, anchor), tuner, streams, whole);
    let rows = (tuner.of_rows && method.resource == Some("cap")).then(|| parts[0].train.rows());
    let rungs = tuner.climbed(candidates.len(), tuner.rungs(full, rows));
    let first = candidates.first().cloned();
    let mut search = Search {
        method,
        parts,
        defaults: &defaults,
        tuner,
        streams,
        timed: Timed { limits, started: Instant::now(), seconds: tuner.seconds },
        history: Vec::new(),
        first_error: None,
    };
    let best = search.climb(candidates, &rungs)?;
    let Search { timed, history, first_error, .. } = search;
    // Nothing failed, and nothing had the time to end.
    let unscored = || first.filter(|_| first_error.is_none() && timed.late());
    match best.or_else(unscored) {
        Some(best) => Ok(Tuning { chosen: named(&best), history }),
        None => Err(first_error
            .unwrap_or(LearningError::Numerical {
                operation: "tuning",
                reason: "there was no candidate".to_owned(),
            })
            .into()),
    }
}

#[cfg(test)]
mod tests;
