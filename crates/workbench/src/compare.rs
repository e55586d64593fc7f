use crate::evaluate::chance;
use crate::intervals::alike;
use crate::provenance::provenance;
use crate::tuning::offered;
use crate::{
    Choices, Evaluation, Splitting, Table, WorkbenchError, evaluate, method_for, primary,
    require_weighing,
};
use mercer_learning::{LearningError, Method, Metric, Settings, Shape, Streams, find};
use mercer_statistics::{
    average_ranks, corrected_t, holm, nemenyi_critical_difference, paired_t, without_rounding,
};
use serde::Serialize;
use serde_json::Value;

/// One method of a comparison.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, compare};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// # let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let ridge = &found.methods[0];
/// assert_eq!((ridge.method.as_str(), ridge.rank), ("kernel-ridge", Some(1.0)));
/// let evaluation = ridge.evaluation.as_ref().expect("it was fitted");
/// assert_eq!(evaluation.splits.len(), 4); // two folds, twice
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodScores {
    /// Its evaluation, or why there is none.
    pub evaluation: Result<Evaluation, String>,
    /// The method.
    pub method: String,
    /// Mean rank over the splits, 1 the best.
    pub rank: Option<f64>,
}

/// The best method against another.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # use mercer_workbench::{Choices, Splitting, Table, compare};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// # let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let pair = &found.pairs[0];
/// assert_eq!((pair.best.as_str(), pair.other.as_str()), ("kernel-ridge", "majority"));
/// assert!(pair.difference > 0.4 && pair.p_naive <= pair.p_corrected);
/// assert_eq!(pair.p_holm, pair.p_corrected); // a single pair
/// assert!(pair.degenerate); // 1 against 0.5 on each of four splits
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The method of the best mean.
    pub best: String,
    /// The other.
    pub other: String,
    /// Mean difference of the metric, best minus other.
    pub difference: f64,
    /// 95 % interval of it by the corrected test.
    pub interval: (f64, f64),
    /// Two-sided p of the paired t-test that takes the splits for independent.
    pub p_naive: f64,
    /// Two-sided p of the corrected resampled t-test.
    pub p_corrected: f64,
    /// The same after Holm, over all pairs of this table.
    pub p_holm: f64,
    /// Whether the difference is the same on every split. That is no test, as there is no spread to go by:
    /// each p is 0, or 1 where there is no difference, by convention, and Holm does not count it.
    pub degenerate: bool,
}

/// Several methods on identical splits of one table.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// use mercer_workbench::{Choices, Splitting, Table, compare};
/// let names = ["majority".to_owned(), "kernel-ridge".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// assert_eq!((found.metric.name(), found.chance, found.failed()), ("accuracy", 0.5, 0));
/// assert!(found.methods[1].rank < found.methods[0].rank);
/// assert_eq!(found.pairs[0].difference, 0.5);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The table's file.
    pub data: String,
    /// Its rows and columns.
    pub shape: (usize, usize),
    /// The target.
    pub target: String,
    /// The task.
    pub task: &'static str,
    /// The classes, if it has some.
    pub classes: Vec<String>,
    /// How the rows were divided.
    pub splitting: String,
    /// How many splits.
    pub splits: usize,
    /// What the methods are compared by.
    pub metric: Metric,
    /// A reference for the scores: the largest class's share, or the target's standard deviation.
    pub chance: f64,
    /// The methods in the order asked for.
    pub methods: Vec<MethodScores>,
    /// The best against each other one, in that order.
    pub pairs: Vec<Pair>,
    /// Differences of mean ranks below this are not significant (Nemenyi, 5 %). The splits share rows, so it is smaller
    /// than it should be.
    pub critical_difference: Option<f64>,
    /// Notes beside the scores, every method's once.
    pub notes: Vec<String>,
    /// Data to repeat the comparison: check sum, seed, scaling, what was filled and left out.
    pub provenance: Vec<(&'static str, String)>,
}

impl Comparison {
    /// A single method's, without tests.
    pub(crate) fn of_one(
        evaluation: Evaluation,
        table: &Table,
        splitting: String,
        metric: Metric,
        provenance: Vec<(&'static str, String)>,
    ) -> Self {
        let (method, notes) = (evaluation.method.clone(), evaluation.notes.clone());
        Self {
            data: table.name.clone(),
            shape: (table.rows(), table.schema.width()),
            target: table.schema.target.name.clone(),
            task: table.task().name(),
            classes: table.schema.target.labels.clone(),
            splitting,
            splits: evaluation.splits.len(),
            metric,
            chance: chance(table).1,
            methods: vec![MethodScores { evaluation: Ok(evaluation), method, rank: None }],
            pairs: Vec::new(),
            critical_difference: None,
            notes,
            provenance,
        }
    }

    /// Returns why there is no test, where there is none, and how to get one.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # use mercer_workbench::{Choices, Splitting, Table, compare};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
    /// # let choices = Choices::plain();
    /// let once = Splitting::HoldOut { test: 0.5, repeats: 1 };
    /// let found = compare(BASELINES, &names, &table, once, &choices, |_, _, _| {})?;
    /// assert!(found.untested().expect("one split").contains("--folds 5"));
    /// let twice = Splitting::HoldOut { test: 0.5, repeats: 2 };
    /// let found = compare(BASELINES, &names, &table, twice, &choices, |_, _, _| {})?;
    /// assert_eq!(found.untested(), None);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn untested(&self) -> Option<&'static str> {
        if !self.pairs.is_empty() {
            None
        } else if self.methods.len() - self.failed() < 2 {
            Some("fewer than two methods have scores")
        } else if self.splits > 1 && [Metric::Brier, Metric::LogLoss].contains(&self.metric) {
            Some(
                "fewer than two methods have probabilities, which this metric is of; --calibrate learns them",
            )
        } else if self.splits > 1 {
            Some(
                "fewer than two methods have this metric on every split; take larger test parts or another --metric",
            )
        } else {
            Some(
                "one split has no spread; several splits have one: --folds 5 --repeats 2, or \
                 --holdout 0.3 --repeats 10",
            )
        }
    }

    /// Counts methods that could not be evaluated.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// # let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
    /// # let splitting = Splitting::Folds { folds: 2, repeats: 1 };
    /// use mercer_learning::Settings;
    /// use mercer_workbench::{Choices, Splitting, Table, compare};
    /// let settings = Settings::new().with("kernel-ridge.lambda", -1.0);
    /// let choices = Choices { settings, ..Choices::plain() };
    /// let found = compare(BASELINES, &names, &table, splitting, &choices, |_, _, _| {})?;
    /// assert_eq!(found.failed(), 1); // the other one is scored
    /// let why = found.methods[0].evaluation.as_ref().unwrap_err();
    /// assert!(why.contains("`lambda` is -1"), "{why}");
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn failed(&self) -> usize {
        self.methods.iter().filter(|method| method.evaluation.is_err()).count()
    }
}

/// Whether a method has such a setting.
fn has(method: &Method, setting: &str) -> bool {
    (method.settings)().iter().any(|declared| declared.name == setting)
}

/// Settings of one method. They are the settings of all methods that this one has and that have an effect here. Over
/// them come the settings `METHOD.NAME` of this method, which are refused where it has none or they would do nothing.
fn settings_of(of: &Method, given: &Settings, shape: &Shape) -> Settings {
    let idle = idle(of, given, shape);
    let all = given.iter().filter(|(name, _)| {
        !name.contains('.') && has(of, name) && !idle.iter().any(|(idle, _)| idle == name)
    });
    all.chain(own(of, given))
        .fold(Settings::new(), |settings, (name, value)| settings.with(name, value.clone()))
}

/// Settings of this method alone.
fn own<'a>(of: &Method, given: &'a Settings) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let method = of.name;
    given.iter().filter_map(move |(name, value)| match name.split_once('.') {
        Some((owner, setting)) if owner == method => Some((setting, value)),
        _ => None,
    })
}

/// Settings of all methods that this one has and that would do nothing there.
fn idle(of: &Method, given: &Settings, shape: &Shape) -> Vec<(&'static str, LearningError)> {
    let all = given.iter().filter(|(name, _)| !name.contains('.') && has(of, name));
    let both = all
        .chain(own(of, given))
        .fold(Settings::new(), |settings, (name, value)| settings.with(name, value.clone()));
    let mut idle = of.inactive(&both, shape);
    idle.retain(|(name, _)| !own(of, given).any(|(own, _)| own == *name));
    idle
}

/// Evaluates several methods on identical splits and tests the best against the others.
///
/// A setting holds for all methods that have it, with a note that names the others, or, as `METHOD.NAME`,
/// for one. A method whose fit fails has its error
/// in its place. The test is the corrected resampled t
/// (Nadeau and Bengio 2003) with Holm over the pairs; that the best was chosen by looking is not
/// corrected for.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, compare};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// assert_eq!((found.pairs[0].best.as_str(), found.splits), ("kernel-ridge", 4));
/// assert!(found.pairs[0].p_holm >= found.pairs[0].p_corrected);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// Fewer than two methods, one twice, or one that cannot do the task; a setting of none of them; splits that the
/// rows do not allow.
pub fn compare(
    methods: &[Method],
    names: &[String],
    table: &Table,
    splitting: Splitting,
    choices: &Choices<'_>,
    mut told: impl FnMut(&str, usize, usize),
) -> Result<Comparison, WorkbenchError> {
    check_names(methods, names, table, choices)?;
    let shape = Shape { rows: table.rows(), features: table.schema.width(), task: table.task() };
    let mut notes = check_settings(methods, names, &choices.settings, &shape)?;
    // What no method could be split by is no failure of each.
    table.splits(splitting, &Streams::root(choices.seed))?;
    offered(choices.metric, table.task())?;
    let metric = choices.metric.unwrap_or(primary(table.task()));
    let mut scored = Vec::new();
    for name in names {
        let settings = settings_of(find(methods, name)?, &choices.settings, &shape);
        let choices = Choices { settings, ..choices.clone() };
        let told = |at, of| told(name, at, of);
        let evaluation = match evaluate(methods, name, table, splitting, &choices, told) {
            Ok(evaluation) => Ok(evaluation),
            Err(WorkbenchError::Learning(error @ LearningError::Interrupted)) => {
                return Err(error.into());
            }
            Err(error) => Err(error.to_string()),
        };
        scored.push(MethodScores { evaluation, method: name.clone(), rank: None });
    }
    notes.extend(alone(&scored, metric));
    let counted = table.division.as_ref().map_or(splitting, |own| own.splitting(splitting));
    let (pairs, critical_difference) = judge(&mut scored, metric, counted)?;
    for note in scored.iter().filter_map(|m| m.evaluation.as_ref().ok()).flat_map(|e| &e.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let splits =
        scored.iter().find_map(|m| m.evaluation.as_ref().ok()).map_or(0, |e| e.splits.len());
    Ok(Comparison {
        data: table.name.clone(),
        shape: (table.rows(), table.schema.width()),
        target: table.schema.target.name.clone(),
        task: table.task().name(),
        classes: table.schema.target.labels.clone(),
        splitting: table.describe(splitting),
        splits,
        metric,
        chance: chance(table).1,
        methods: scored,
        pairs,
        critical_difference,
        notes,
        provenance: provenance(table, choices),
    })
}

/// Refuses methods that cannot do the task, one alone, and one that is named twice.
fn check_names(
    methods: &[Method],
    names: &[String],
    table: &Table,
    choices: &Choices<'_>,
) -> Result<(), WorkbenchError> {
    let refused = |value: String, must: &str| {
        let must = must.to_owned();
        Err(WorkbenchError::Argument { name: "methods", value, must })
    };
    // A name that is none is said before their number.
    names.iter().try_for_each(|name| method_for(methods, name, table.task()).map(drop))?;
    if names.len() < 2 {
        return refused(names.join(","), "at least two, separated by commas");
    }
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return refused(name.clone(), "named once");
        }
        require_weighing(methods, name, table, choices)?;
    }
    Ok(())
}

/// Refuses settings that no method has or that do nothing in any; notes that name those without the others.
fn check_settings(
    methods: &[Method],
    names: &[String],
    settings: &Settings,
    shape: &Shape,
) -> Result<Vec<String>, WorkbenchError> {
    let mut notes: Vec<String> = Vec::new();
    for (setting, _) in settings.iter() {
        let refused = |must: &str| {
            let (name, value) = ("settings", format!("`{setting}`"));
            let must = format!("{must} {}", names.join(", "));
            Err(WorkbenchError::Argument { name, value, must })
        };
        if let Some((owner, _)) = setting.split_once('.') {
            if !names.iter().any(|name| name == owner) {
                return refused("NAME, or METHOD.NAME of one of");
            }
            continue;
        }
        let mut without = names.to_vec();
        without.retain(|name| find(methods, name).is_ok_and(|method| !has(method, setting)));
        if without.len() == names.len() {
            return refused("a setting of one of");
        }
        let mut nothing = Vec::new();
        for name in names.iter().filter(|name| !without.contains(name)) {
            let idle = idle(find(methods, name)?, settings, shape);
            if let Some((_, error)) = idle.into_iter().find(|(idle, _)| *idle == setting) {
                nothing.push(name.clone());
                if without.len() + nothing.len() == names.len() {
                    return Err(error.into());
                }
            }
        }
        if !without.is_empty() {
            notes.push(format!("`{setting}` is no setting of {}", without.join(", ")));
        }
        if !nothing.is_empty() {
            notes.push(format!("`{setting}` does nothing in {}", nothing.join(", ")));
        }
    }
    Ok(notes)
}

/// The note on root mean squared errors of one row each.
fn alone(scored: &[MethodScores], metric: Metric) -> Option<String> {
    let mut evaluated = scored.iter().filter_map(|method| method.evaluation.as_ref().ok());
    let alone =
        evaluated.any(|evaluation| evaluation.test_rows == 1 && evaluation.splits.len() > 1);
    let note = "test parts of one row: differences, tests and ranks compare the absolute errors of the rows";
    (metric == Metric::Rmse && alone).then(|| note.to_owned())
}

/// Ranks, and the tests of the best against the others.
fn judge(
    scored: &mut [MethodScores],
    metric: Metric,
    splitting: Splitting,
) -> Result<(Vec<Pair>, Option<f64>), WorkbenchError> {
    let values = on_every_split(scored, metric);
    if values.len() < 2 {
        return Ok((Vec::new(), None));
    }
    let splits = values[0].1.len();
    let of_split =
        |split| values.iter().map(|(_, scores)| without_rounding(scores[split])).collect();
    let by_split: Vec<Vec<f64>> = (0..splits).map(of_split).collect();
    let ranks = average_ranks(&by_split, metric.larger_is_better())?;
    for ((at, _), rank) in values.iter().zip(ranks) {
        scored[*at].rank = Some(rank);
    }
    let critical_difference = if splits > 1 {
        Some(nemenyi_critical_difference(values.len(), splits, 0.05)?)
    } else {
        None
    };
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let worth =
        |scores: &[f64]| if metric.larger_is_better() { mean(scores) } else { -mean(scores) };
    // Of equal means the one named first.
    let mut best = 0;
    for (index, (_, scores)) in values.iter().enumerate() {
        if worth(scores) > worth(&values[best].1) {
            best = index;
        }
    }
    if splits < 2 {
        return Ok((Vec::new(), None));
    }
    Ok((against(best, &values, scored, splitting)?, critical_difference))
}

/// The place of each method that has the metric on every split, with these scores.
fn on_every_split(scored: &[MethodScores], metric: Metric) -> Vec<(usize, Vec<f64>)> {
    let of = |(at, method): (usize, &MethodScores)| {
        let evaluation = method.evaluation.as_ref().ok()?;
        // What is taken over all rows of a repeat is no mean over splits; errors of single rows are.
        let own = evaluation.estimates.get(metric.name())?;
        let pooled = own.std.is_none() && evaluation.splits.len() > 1;
        if pooled && metric != Metric::Rmse {
            return None;
        }
        let values = evaluation.splits.iter().map(|split| split.get(metric.name()).copied());
        Some((at, values.collect::<Option<_>>()?))
    };
    scored.iter().enumerate().filter_map(of).collect()
}

/// The tests of the best of these scores against the others.
fn against(
    best: usize,
    values: &[(usize, Vec<f64>)],
    scored: &[MethodScores],
    splitting: Splitting,
) -> Result<Vec<Pair>, WorkbenchError> {
    let mut pairs = Vec::new();
    for (index, (at, scores)) in values.iter().enumerate().filter(|&(index, _)| index != best) {
        debug_assert_ne!(index, best);
        let differences: Vec<f64> = values[best].1.iter().zip(scores).map(|(a, b)| a - b).collect();
        let corrected = corrected_t(&differences, splitting.test_over_train())?;
        pairs.push(Pair {
            best: scored[values[best].0].method.clone(),
            other: scored[*at].method.clone(),
            difference: corrected.mean_difference,
            interval: corrected.interval(0.95),
            p_naive: paired_t(&differences)?.p_two_sided,
            p_corrected: corrected.p_two_sided,
            p_holm: corrected.p_two_sided,
            degenerate: alike(&differences),
        });
    }
    let tested = || pairs.iter().filter(|pair| !pair.degenerate).map(|pair| pair.p_corrected);
    if tested().next().is_some() {
        let adjusted = holm(&tested().collect::<Vec<_>>())?;
        for (pair, p) in pairs.iter_mut().filter(|pair| !pair.degenerate).zip(adjusted) {
            pair.p_holm = p;
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_baselines::BASELINES;
    use mercer_datasets::{RowFile, SchemaOptions};

    fn compared(name: &str, value: f64) -> Result<Comparison, WorkbenchError> {
        compared_in(2, name, value)
    }

    fn compared_in(folds: usize, name: &str, value: f64) -> Result<Comparison, WorkbenchError> {
        let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
        let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
        let table = Table::read(&file, &SchemaOptions::default()).unwrap();
        let names = ["kernel-ridge", "majority", "gaussian-svm"].map(str::to_owned);
        let choices = Choices { settings: Settings::new().with(name, value), ..Choices::plain() };
        let splitting = Splitting::Folds { folds, repeats: 1 };
        compare(BASELINES, &names, &table, splitting, &choices, |_, _, _| {})
    }

    #[test]
    fn a_setting_of_all_is_for_the_methods_that_have_it() {
        let found = compared("lambda", 0.125).unwrap();
        assert_eq!(found.failed(), 0);
        let of = |at: usize| &found.methods[at].evaluation.as_ref().unwrap().settings[0];
        assert_eq!(of(0).get("lambda"), Some(&0.125.into()));
        assert_eq!((of(1).get("lambda"), of(2).get("lambda")), (None, None));
        assert_eq!(found.notes, ["`lambda` is no setting of majority, gaussian-svm"]);
    }

    #[test]
    fn more_folds_than_rows_are_refused_before_any_fit() {
        let error = compared_in(9, "lambda", 0.125).unwrap_err();
        let argument =
            matches!(&error, WorkbenchError::Argument { name: "folds", value, .. } if value == "9");
        assert!(argument, "{error}");
    }

    #[test]
    fn a_setting_that_nobody_has_is_refused_and_so_is_one_that_its_method_has_not() {
        let nobody = compared("lamda", 0.125).unwrap_err().to_string();
        assert!(nobody.contains("`lamda`") && nobody.contains("a setting of one of"), "{nobody}");
        let owned = compared("majority.lambda", 0.125).unwrap();
        assert_eq!(owned.failed(), 1);
        let error = owned.methods[1].evaluation.as_ref().unwrap_err();
        assert!(error.contains("lambda"), "{error}");
    }
}
