use crate::kernel_matrix::require_whole;
use crate::prerequisites::require_room;
use crate::rescaling::rescaled;
use crate::unheld::one_class_first;
use crate::windows::first_rows;
use crate::{Choices, Division, Table, WorkbenchError, require_weighing};
use mercer_datasets::{Scaling, Split, subsample};
use mercer_harness::{Parts, Tuner, tune_on};
use mercer_learning::{Limits, Method, Metric, Sample, Settings, Shape, Streams, Task};
use mercer_records::Tuning;
use std::str::FromStr;

/// What tuning may cost.
///
/// ```
/// use mercer_workbench::Budget;
/// assert_eq!("27".parse::<Budget>()?, Budget::default());
/// assert_eq!("5m".parse::<Budget>()?, Budget::Seconds(300.0));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Settings tried at the first rung.
    Candidates(usize),
    /// Time limit of the search in seconds. No candidate is begun after it, and the current one ends at its next step
    /// (a closed form has none). The best until then is taken; without one the method's defaults. The fit with what was
    /// chosen comes on top. The result depends on the machine.
    Seconds(f64),
}

impl Default for Budget {
    /// The tables' 27 candidates.
    fn default() -> Self {
        Self::Candidates(Tuner::default().candidates)
    }
}

impl FromStr for Budget {
    type Err = WorkbenchError;

    fn from_str(text: &str) -> Result<Self, WorkbenchError> {
        let refused = || WorkbenchError::Argument {
            name: "budget",
            value: format!("`{text}`"),
            must: "a number of settings to try (27), or a time (60s, 5m, 1h), above 0".to_owned(),
        };
        let unit = text.chars().last().filter(char::is_ascii_alphabetic);
        let Some(unit) = unit else {
            let count: usize = text.parse().map_err(|_| refused())?;
            return if count == 0 { Err(refused()) } else { Ok(Self::Candidates(count)) };
        };
        let factor = match unit {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            _ => return Err(refused()),
        };
        let number: f64 = text[..text.len() - 1].parse().map_err(|_| refused())?;
        let seconds = number * factor;
        if seconds > 0.0 && seconds.is_finite() {
            Ok(Self::Seconds(seconds))
        } else {
            Err(refused())
        }
    }
}

/// Settings tried at the first rung at most, whatever the time.
const MOST: usize = 243;

/// Rows below which candidates are scored in five folds. A fifth of 1000 rows tells two accuracies of 85 % apart from
/// 2.5 points on (a standard error of one part), all of them from 1.1 on.
const FOLDED_BELOW: usize = 1000;

/// What scores a candidate: for whoever asks how a choice was made.
pub(crate) fn scoring(rows: usize, division: Option<&Division>) -> &'static str {
    match division.filter(|division| division.divides()).map(Division::in_groups) {
        Some(true) => return "scored on whole groups held out",
        Some(false) => return "scored on the last fifth of the rows in time",
        None => {}
    }
    if rows < FOLDED_BELOW {
        "scored on each fifth of the rows after training on the others"
    } else {
        "on four fifths of the rows, scored on the rest"
    }
}

impl Budget {
    /// Successive halving within the budget, the method's defaults first.
    fn tuner(self, rows: usize) -> Tuner {
        let folds = (rows < FOLDED_BELOW).then_some(5);
        let tables =
            Tuner { of_rows: true, defaults_first: true, sparing: true, folds, ..Tuner::default() };
        match self {
            Self::Candidates(candidates) => Tuner { candidates, ..tables },
            Self::Seconds(seconds) => Tuner { candidates: MOST, seconds: Some(seconds), ..tables },
        }
    }
}

/// What tuning is asked for.
pub(crate) struct Asked<'a> {
    pub budget: Budget,
    pub metric: Option<Metric>,
    pub scaling: Scaling,
    /// How the rows of the table are divided, if by a column: rows are held out by it here too.
    pub division: Option<&'a Division>,
}

impl<'a> Asked<'a> {
    pub fn of(budget: Budget, choices: &Choices<'_>, division: Option<&'a Division>) -> Self {
        // What measures probabilities cannot tune what is calibrated afterwards: then it ranks only.
        let of_shares = [Metric::LogLoss, Metric::Brier];
        let metric =
            choices.metric.filter(|metric| !(choices.calibrate && of_shares.contains(metric)));
        Self { budget, metric, scaling: choices.scaling, division }
    }

    /// The parts, each scaled by the rows that train, and whether they are drawn at random though a column divides the rows.
    fn parts(
        &self,
        sample: &Sample,
        tuner: &Tuner,
        streams: &Streams,
    ) -> Result<(Vec<Parts>, bool), WorkbenchError> {
        let scaled = |Parts { train, test }: Parts| {
            let (train, test) = rescaled(self.scaling, train, test)?;
            Ok(Parts { train, test })
        };
        let of_rows = |rows: &[usize]| {
            self.division.zip(sample.numbers()).and_then(|(division, (numbers, _))| {
                division.within(&rows.iter().map(|&row| numbers[row]).collect::<Vec<_>>())
            })
        };
        let all: Vec<usize> = (0..sample.rows()).collect();
        let most = tuner.rows.unwrap_or(all.len()).min(all.len());
        let rows = if most < all.len() && self.division.is_some() {
            subsample(&all, most, &mut streams.rng("inner rows"))
        } else {
            all
        };
        let at_random = || {
            let mut parts = tuner.parts(sample, streams)?;
            // The only row of one of two classes trains; without it nothing can be learned.
            parts.retain(|part| part.train.require_two_classes().is_ok());
            let divided = self.division.is_some_and(Division::divides);
            let parts =
                parts.into_iter().map(scaled).collect::<Result<Vec<_>, WorkbenchError>>()?;
            Ok((parts, divided))
        };
        let Some(division) = of_rows(&rows) else { return at_random() };
        let named = |places: &[usize]| places.iter().map(|&at| rows[at]).collect::<Vec<_>>();
        let part = |split: Split| {
            let [train, test] = [&split.train, &split.test].map(|at| sample.select(&named(at)));
            scaled(Parts { train: train?, test: test? })
        };
        let labels =
            sample.labels().map(|own| rows.iter().map(|&row| own[row]).collect::<Vec<_>>());
        let parts = division.inside(tuner.folds, labels.as_deref(), streams)?.into_iter().map(part);
        let mut parts = parts.collect::<Result<Vec<_>, WorkbenchError>>()?;
        // A class may live in one group: then rows at random are all that can be held out.
        let both = |part: &Sample| part.require_two_classes().is_ok();
        if !parts.iter().any(|part| both(&part.train) && both(&part.test)) {
            return at_random();
        }
        parts.retain(|part| both(&part.train));
        Ok((parts, false))
    }
}

/// Chooses settings for a method on a prepared sample by successive halving. It trains on four fifths of the rows and
/// scores on the rest; below a thousand rows it uses five folds. The method's defaults are tried first. Nothing else is
/// looked at.
///
/// # Errors
/// If no candidate could be fitted, or a limit was reached.
pub(crate) fn tune_sample(
    method: &Method,
    sample: &Sample,
    fixed: &Settings,
    asked: &Asked<'_>,
    streams: &Streams,
    limits: &dyn Limits,
) -> Result<(Tuning, bool), WorkbenchError> {
    offered(asked.metric, sample.task())?;
    if sample.rows() < 5 {
        return Err(WorkbenchError::Argument {
            name: "rows",
            value: sample.rows().to_string(),
            must: "at least 5 to tune: a fifth of the rows scores; add rows, or fit without tuning"
                .to_owned(),
        });
    }
    let streams = streams.child("tuning");
    let tuner = Tuner { metric: asked.metric, ..asked.budget.tuner(sample.rows()) };
    let anchor = Settings::new();
    let fixed = &method.as_meant(fixed);
    let (parts, at_random) = asked.parts(sample, &tuner, &streams)?;
    let found =
        tune_on(method, sample.shape(), &parts, (fixed, &anchor), &tuner, &streams, limits)?;
    Ok((found, at_random))
}

/// Whether there is anything to tune of a method.
pub(crate) fn has_space(method: &Method, shape: &Shape) -> bool {
    !(method.space)(shape).axes.is_empty()
}

/// Refuses a metric that the task does not have.
pub(crate) fn offered(metric: Option<Metric>, task: Task) -> Result<(), WorkbenchError> {
    let known = Metric::of_task(task);
    let Some(strange) = metric.filter(|metric| !known.contains(metric)) else { return Ok(()) };
    let names: Vec<&str> = known.iter().map(|metric| metric.name()).collect();
    let must = format!("one of {}", names.join(", "));
    Err(WorkbenchError::Argument { name: "metric", value: format!("`{}`", strange.name()), must })
}

/// Chooses settings for a method on all rows of a table; see [`Budget`].
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_learning::find;
/// use mercer_workbench::{Budget, Choices, Table, tune};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let method = find(BASELINES, "kernel-ridge")?;
/// let found = tune(method, &table, Budget::Candidates(3), &Choices::plain())?;
/// assert_eq!(found.history.len(), 3); // so few rows are one rung
/// assert!(found.chosen.contains_key("lambda"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// If no candidate could be fitted.
pub fn tune(
    method: &Method,
    table: &Table,
    budget: Budget,
    choices: &Choices<'_>,
) -> Result<Tuning, WorkbenchError> {
    require_weighing(std::slice::from_ref(method), method.name, table, choices)?;
    require_whole(table, &choices.settings)?;
    let sample = if let Some(unheld) = &table.unheld {
        let first = first_rows(unheld, table, choices)?;
        first.require_two_classes().map_err(|_| one_class_first(first.rows()))?;
        first
    } else {
        let rows: Vec<usize> = (0..table.rows()).collect();
        let preparation = table.prepare(&rows, choices.scaling, choices.impute)?;
        table.training(&rows, &preparation, choices)?
    };
    sample.require_two_classes()?;
    method.check_active(&choices.settings, &sample.shape())?;
    require_room(method, &sample, choices)?;
    let streams = Streams::root(choices.seed);
    let (found, at_random) = tune_sample(
        method,
        &sample,
        &choices.settings,
        &Asked::of(budget, choices, table.division.as_ref()),
        &streams,
        choices.limits,
    )?;
    match table.division.as_ref().filter(|_| at_random) {
        None => Ok(found),
        Some(division) => Err(WorkbenchError::Argument {
            name: "column",
            value: division.named(),
            must: "one by which rows of two classes can be held out and others train; or tune without it".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_score_in_folds_and_a_page_says_so() {
        let folds = |rows| Budget::default().tuner(rows).folds;
        assert_eq!([5, 999, 1000, 100_000].map(folds), [Some(5), Some(5), None, None]);
        assert!(
            scoring(999, None).contains("each fifth") && scoring(1000, None).contains("the rest")
        );
    }

    #[test]
    fn a_budget_is_a_count_or_a_time_above_0() {
        let read = |text: &str| text.parse::<Budget>();
        assert_eq!(read("9").unwrap(), Budget::Candidates(9));
        assert_eq!(read("60s").unwrap(), Budget::Seconds(60.0));
        assert_eq!(read("1.5m").unwrap(), Budget::Seconds(90.0));
        for wrong in ["0", "0s", "-3", "x", "", "5d", "s", "nans", "infs"] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("`budget`") && error.contains("60s"), "{wrong}: {error}");
        }
    }
}
