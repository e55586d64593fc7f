//! Likeness of a record and its re-run. They are bit-identical, the same to rounding, further off on another kind
//! of processor, or different.

use crate::{Predicted, Record};
use std::collections::BTreeMap;

/// What a re-run made of a record.
///
/// ```
/// use mercer_records::Likeness;
/// assert!(Likeness::Bits < Likeness::Rounding && Likeness::Processor < Likeness::Different);
/// assert_eq!(Likeness::Rounding.to_string(), "same to rounding");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Every number of the record, to the last bit.
    Bits,
    /// Every number within [`promised`] of the record's.
    Rounding,
    /// Further off, but the record was made with other vector instructions. A fit by gradients carries their rounding
    /// on.
    Processor,
    /// Another status, or a further difference with the same vector instructions. That is another choice of the tuner
    /// or a number further off.
    Different,
}

impl std::fmt::Display for Likeness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bits => "bit-identical",
            Self::Rounding => "same to rounding",
            Self::Processor => "further off on another kind of processor",
            Self::Different => "different",
        })
    }
}

/// Where in a result a number stands.
///
/// ```
/// use mercer_records::{Kind, promised};
/// assert!(Kind::Metric < Kind::Fact);
/// assert_eq!(promised(Kind::Fact, "steps"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A score on the test rows.
    Metric,
    /// How the fit went.
    Fact,
    /// A value along the fit.
    Curve,
    /// Predicted values or classes, or which rows are wrong.
    Prediction,
}

/// Everything that a record says in numbers, by kind and name.
///
/// ```
/// use mercer_records::{Kind, Numbers};
/// let numbers = Numbers::from([((Kind::Metric, "rmse".to_owned()), vec![0.5])]);
/// assert_eq!(numbers[&(Kind::Metric, "rmse".to_owned())], [0.5]);
/// ```
pub type Numbers = BTreeMap<(Kind, String), Vec<f64>>;

/// Returns the numbers of a record.
///
/// ```
/// use mercer_records::{Kind, numbers};
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let record = mercer_records::Record::new(key, result, Default::default());
/// assert_eq!(numbers(&record)[&(Kind::Metric, "accuracy".to_owned())], [0.75]);
/// ```
pub fn numbers(record: &Record) -> Numbers {
    let result = &record.result;
    let mut numbers = Numbers::new();
    for (name, value) in &result.metrics {
        numbers.insert((Kind::Metric, name.clone()), vec![*value]);
    }
    for (name, value) in &result.facts {
        numbers.insert((Kind::Fact, name.clone()), vec![*value]);
    }
    for point in &result.curve {
        for (name, value) in &point.values {
            numbers.entry((Kind::Curve, name.clone())).or_default().push(*value);
        }
    }
    let predicted = match &result.predicted {
        Some(Predicted::Classes(classes)) => {
            Some(("classes", classes.iter().map(|&class| f64::from(class)).collect()))
        }
        Some(Predicted::Real(values)) => Some(("values", values.clone())),
        None => None,
    };
    // Where the classes themselves are not kept: which rows are wrong, row by row.
    let wrong = result.wrong.as_ref().map(|wrong| {
        let mut rows = vec![0.0; result.rows[1] as usize];
        for &row in wrong {
            rows[row as usize] = 1.0;
        }
        ("wrong rows", rows)
    });
    for (name, values) in predicted.into_iter().chain(wrong) {
        numbers.insert((Kind::Prediction, name.to_owned()), values);
    }
    numbers
}

/// Returns how far two lists of numbers are apart. Classes and wrong rows: the share of rows that differ. Accuracies:
/// the largest difference, in shares. All else, which has a unit: the largest difference over the largest size.
/// Infinite where the lists have not the same length, or one has a number where the other has none.
///
/// ```
/// use mercer_records::distance;
/// assert_eq!(distance("accuracy", &[0.5], &[0.25]), 0.25);
/// assert_eq!(distance("rmse", &[-3.0], &[-4.0]), 0.25);
/// assert_eq!(distance("classes", &[1.0, 2.0], &[1.0, 0.0]), 0.5);
/// assert_eq!(distance("norm", &[1.0, 1.0], &[1.0]), f64::INFINITY);
/// ```
pub fn distance(name: &str, ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() {
        return f64::INFINITY;
    }
    let apart = |(a, b): (&f64, &f64)| match (a.is_finite(), b.is_finite()) {
        (true, true) => (a - b).abs(),
        _ if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) => 0.0,
        _ => f64::INFINITY,
    };
    let pairs = || ours.iter().zip(theirs);
    if matches!(name, "classes" | "wrong rows") {
        return pairs().filter(|(a, b)| a.to_bits() != b.to_bits()).count() as f64
            / ours.len().max(1) as f64;
    }
    let largest = pairs().map(apart).fold(0.0, f64::max);
    let size = theirs.iter().map(|value| value.abs()).filter(|size| size.is_finite());
    match size.fold(0.0, f64::max) {
        _ if name.ends_with("accuracy") => largest,
        0.0 => largest,
        size => largest / size,
    }
}

/// Returns how far another processor may move a number, as CONTRIBUTING.md promises it. Nothing is promised of facts,
/// which say how a fit went, and of counts of iterations.
///
/// ```
/// use mercer_records::{Kind, promised};
/// assert_eq!(promised(Kind::Metric, "accuracy"), Some(0.005)); // of the rows
/// assert_eq!(promised(Kind::Metric, "rmse"), Some(1e-5)); // of its size
/// assert_eq!(promised(Kind::Curve, "machine iterations"), None);
/// ```
pub fn promised(kind: Kind, name: &str) -> Option<f64> {
    let count = name.contains("iterations") || name.contains("steps");
    match kind {
        Kind::Fact => None,
        Kind::Curve if count => None,
        Kind::Curve => Some(5e-3),
        Kind::Metric | Kind::Prediction if name.ends_with("accuracy") => Some(5e-3),
        Kind::Metric | Kind::Prediction if matches!(name, "classes" | "wrong rows") => Some(5e-3),
        Kind::Metric | Kind::Prediction => Some(1e-5),
    }
}

/// Compares a re-run with its record. It returns how alike they are, and the number that is furthest apart.
///
/// Only what the record has is compared: an archive keeps no predictions, and a later program may note more.
/// A simulation, whose result is its facts alone, promises 1e-5 of them.
///
/// ```
/// use mercer_records::{Likeness, Record, compare};
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let scored = |accuracy: f64| {
///     let metrics = [("accuracy".to_owned(), accuracy)].into();
///     Record::new(key.clone(), mercer_records::TrialResult { metrics, ..result.clone() }, Default::default())
/// };
/// let then = scored(0.75);
/// assert_eq!(compare(&then, &scored(0.75)).0, Likeness::Bits);
/// assert_eq!(compare(&then, &scored(0.751)).0, Likeness::Rounding); // one row of a thousand
/// let (likeness, furthest) = compare(&then, &scored(0.5));
/// assert_eq!(likeness, Likeness::Different);
/// assert_eq!(furthest.unwrap(), "accuracy: 0.75 on record, 0.5 here");
/// let mut elsewhere = scored(0.5);
/// elsewhere.run.host = "some processor, Avx2".to_owned();
/// let then = Record { run: mercer_records::Run { host: "another, Avx512".to_owned(), ..then.run.clone() }, ..then };
/// assert_eq!(compare(&then, &elsewhere).0, Likeness::Processor);
/// ```
pub fn compare(then: &Record, now: &Record) -> (Likeness, Option<String>) {
    if then.result_sha256 == now.result_sha256 {
        return (Likeness::Bits, None);
    }
    if then.result.status != now.result.status {
        let (then, now) = (then.result.status, now.result.status);
        return (Likeness::Different, Some(format!("status: {then:?} on record, {now:?} here")));
    }
    // A host ends with the vector instructions in use.
    let level = |record: &Record| record.run.host.rsplit(", ").next().map(str::to_owned);
    let off = if level(then) == level(now) { Likeness::Different } else { Likeness::Processor };
    let chosen = |record: &Record| record.result.tuning.as_ref().map(|own| own.chosen.clone());
    if chosen(then) != chosen(now) {
        return (off, Some("the tuner chose other settings".to_owned()));
    }
    let (theirs, ours) = (numbers(then), numbers(now));
    let facts_alone = theirs.keys().all(|(kind, _)| *kind == Kind::Fact);
    let none = Vec::new();
    let mut likeness = Likeness::Bits;
    let mut furthest: Option<(f64, String)> = None;
    for (place, theirs) in &theirs {
        let ours = ours.get(place).unwrap_or(&none);
        if ours.iter().map(|v| v.to_bits()).eq(theirs.iter().map(|v| v.to_bits())) {
            continue;
        }
        let apart = distance(&place.1, ours, theirs);
        let most = promised(place.0, &place.1).or(facts_alone.then_some(1e-5));
        let own = if most.is_some_and(|most| apart > most) { off } else { Likeness::Rounding };
        if own > likeness
            || furthest.as_ref().is_none_or(|(most, _)| own == likeness && apart > *most)
        {
            let pair = ours.iter().zip(theirs).find(|(a, b)| a.to_bits() != b.to_bits());
            let text = match pair {
                Some((now, then)) => format!("{}: {then} on record, {now} here", place.1),
                None => {
                    format!("{}: {} values on record, {} here", place.1, theirs.len(), ours.len())
                }
            };
            furthest = Some((apart, text));
        }
        likeness = likeness.max(own);
    }
    (likeness, furthest.map(|(_, text)| text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_in_shares_or_relative() {
        let apart = |name: &str, ours: &[f64], theirs: &[f64], wanted: f64| {
            let found = distance(name, ours, theirs);
            assert!(
                (found - wanted).abs() < 1e-15 || (found > 1e300 && wanted > 1e300),
                "{name}: {found}"
            );
        };
        apart("accuracy", &[0.5], &[0.25], 0.25);
        apart("balanced-accuracy", &[0.5], &[0.25], 0.25);
        apart("rmse", &[-3.0], &[-4.0], 0.25);
        // Along a curve that crosses zero, relative to the curve.
        apart("objective", &[2.0, 0.5, -4.0], &[2.0, 0.0, -4.0], 0.125);
        apart("classes", &[1.0, 2.0, 3.0, 9.0], &[1.0, 2.0, 3.0, 1.0], 0.25);
        apart("norm", &[0.0], &[0.0], 0.0);
        apart("norm", &[f64::NAN], &[f64::NAN], 0.0);
        apart("norm", &[f64::NAN], &[1.0], f64::INFINITY);
        apart("norm", &[1.0, 1.0], &[1.0], f64::INFINITY);
    }
}
