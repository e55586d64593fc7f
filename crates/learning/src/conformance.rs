//! The laws that every registered method keeps, checked by one call from a test.
//!
//! ```
//! use mercer_learning::conformance::{Conformance, distinct_names};
//! # use mercer_learning::Method;
//! # const METHODS: &[Method] = &[];
//! distinct_names(METHODS).unwrap();
//! for method in METHODS {
//!     Conformance::of(method).check().unwrap();
//! }
//! ```
//!
//! A newcomer is so tested before its author writes a test. The toy samples are drawn here from
//! fixed seeds: two Gaussian blobs, three blobs, and a noisy linear target.

mod toys;

use toys::{Kept, Steps, toy};

mod weights;

use crate::{
    Allowed, Fitting, Kind, LearningError, Method, Predictions, Predictor, Sample, Setting,
    Settings, Shape, State, Task, accuracy, root_mean_squared_error,
};
use ndarray::{Array2, ArrayView2, Axis, s};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// A law that a method broke.
///
/// ```
/// use mercer_learning::conformance::Violation;
/// let violation = Violation {
///     method: "nearest-mean".to_owned(),
///     law: "same seed, same answer",
///     detail: "two fits with one seed differ".to_owned(),
/// };
/// assert_eq!(
///     violation.to_string(),
///     "`nearest-mean` breaks a law (same seed, same answer): two fits with one seed differ"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{method}` breaks a law ({law}): {detail}")]
pub struct Violation {
    /// Name of the method.
    pub method: String,
    /// The law, in words.
    pub law: &'static str,
    /// What was found instead.
    pub detail: String,
}

/// The checks of one method.
///
/// ```
/// use mercer_learning::conformance::Conformance;
/// use mercer_learning::{Cost, Learner, LearningError, Method, Settings, Space, Tasks};
/// /// Takes settings of any name without a word.
/// const CARELESS: Method = Method {
///     name: "careless",
///     title: "careless",
///     summary: "does not read its settings",
///     formula: "f(x) = the mean of y",
///     when: "as a floor",
///     cites: "nobody",
///     revision: 1,
///     tasks: Tasks::Both,
///     cost: Cost { fit: "n", predict: "1", memory: "1" },
///     resource: None,
///     warnings: &[],
///     settings: &mercer_learning::undeclared,
///     defaults: &|_| Settings::new(),
///     user_defaults: &mercer_learning::same_as_study,
///     space: &|_| Space::default(),
///     build: &|_| Ok(Box::new(Nothing)),
///     restore: &mercer_learning::never_kept,
/// };
/// struct Nothing;
/// # use mercer_learning::{Fitted, Fitting, Sample};
/// impl Learner for Nothing {
/// #     fn fit(&self, _: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
/// #         Err(LearningError::Interrupted)
/// #     }
///     // ...
/// }
/// let violation = Conformance::of(&CARELESS).check().unwrap_err();
/// assert_eq!(violation.law, "an unknown setting is refused");
/// ```
#[derive(Debug, Clone)]
pub struct Conformance<'a> {
    method: &'a Method,
    settings: Settings,
}

/// Names in kebab-case, none of them twice, titles and citations not empty.
///
/// ```
/// use mercer_learning::conformance::distinct_names;
/// # use mercer_learning::{Cost, LearningError, Method, Settings, Space, Tasks};
/// # const FIRST: Method = Method {
/// #     name: "mean", title: "mean", summary: "the mean", formula: "f(x) = the mean of y", when: "as a floor", cites: "folklore", revision: 1,
/// #     tasks: Tasks::Regression, cost: Cost { fit: "n", predict: "1", memory: "1" }, resource: None, warnings: &[],
/// #     settings: &mercer_learning::undeclared, defaults: &|_| Settings::new(), space: &|_| Space::default(),
/// #     user_defaults: &mercer_learning::same_as_study,
/// #     build: &|_| Err(LearningError::Interrupted), restore: &mercer_learning::never_kept,
/// # };
/// let second = Method { name: "median", ..FIRST };
/// assert_eq!(distinct_names(&[FIRST, second]), Ok(()));
/// assert_eq!(distinct_names(&[FIRST, second, FIRST]).unwrap_err().law, "names are unique");
/// let loud = Method { name: "Mean", ..FIRST };
/// assert_eq!(distinct_names(&[loud]).unwrap_err().law, "names are kebab-case");
/// ```
///
/// # Errors
/// The first [`Violation`].
pub fn distinct_names(methods: &[Method]) -> Result<(), Violation> {
    for (index, method) in methods.iter().enumerate() {
        let broken =
            |law, detail: String| Err(Violation { method: method.name.to_owned(), law, detail });
        if methods[..index].iter().any(|earlier| earlier.name == method.name) {
            return broken("names are unique", format!("entry {index} repeats it"));
        }
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if method.name.is_empty() || !method.name.chars().all(plain) {
            return broken("names are kebab-case", format!("entry {index}"));
        }
        let Method { title, summary, formula, when, cites, .. } = method;
        if [title, summary, formula, when, cites].iter().any(|text| text.trim().is_empty()) {
            let law = "title, summary, formula, when and citation say something";
            return broken(law, format!("entry {index}"));
        }
    }
    Ok(())
}

impl<'a> Conformance<'a> {
    /// Returns the checks of `method` at its default settings.
    pub const fn of(method: &'a Method) -> Self {
        Self { method, settings: Settings::new() }
    }

    /// These settings in place of the defaults of the same names: fewer features, say.
    #[must_use]
    pub fn with(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Walks the laws, stopping at the first that does not hold.
    ///
    /// For each of the method's tasks:
    /// - default and tunable settings build for every shape, and unknown settings are refused by name;
    /// - the declared values are accepted, are used where nothing is given, and the defaults and the tuner's values lie in the
    ///   declared ranges;
    /// - fits are reproducible;
    /// - a row's prediction depends neither on the order nor on the company of the other rows;
    /// - inputs of a wrong width and NaN are refused;
    /// - one column, one class, and rows that are all equal end in a fit or in a clear error;
    /// - it can be kept and restored, and a fit that was kept when it was cut off goes on to the same bits;
    /// - where it weighs rows, a weight is so many equal rows;
    /// - it beats chance.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check(&self) -> Result<(), Violation> {
        let tasks = [
            Task::Classification { classes: 2 },
            Task::Classification { classes: 3 },
            Task::Regression,
        ];
        self.settings_build()?;
        let declared = (self.method.settings)();
        self.settings_are_declared(&declared)?;
        for task in tasks {
            if self.method.tasks.include(task) {
                self.fits(task)?;
            } else if !matches!(
                self.method.learner(&Settings::new(), task),
                Err(LearningError::Task { .. })
            ) {
                return self.broken("other tasks are refused", format!("{task:?} was not"));
            }
        }
        // After the law that two fits with one seed agree, on which it rests.
        for task in [tasks[1], tasks[2]] {
            if self.method.tasks.include(task) {
                self.declared_is_used(&declared, task)?;
            }
        }
        if self.method.tasks.include(tasks[0]) {
            self.one_class()?;
        }
        Ok(())
    }

    fn settings_build(&self) -> Result<(), Violation> {
        let tasks = [2, 26]
            .map(|classes| Task::Classification { classes })
            .into_iter()
            .chain([Task::Regression]);
        for task in tasks.filter(|&task| self.method.tasks.include(task)) {
            for (rows, features) in [(20, 1), (3000, 16), (50_000, 784)] {
                let shape = Shape { rows, features, task };
                let defaults = (self.method.defaults)(&shape);
                let space = (self.method.space)(&shape);
                let draws = space.candidates(27, &mut ChaCha8Rng::seed_from_u64(27));
                let all = draws.iter().map(|draw| defaults.clone().overridden_by(draw));
                let begun = self.method.begun(&shape);
                for settings in [defaults.clone(), begun].into_iter().chain(all) {
                    if let Err(error) = self.method.learner(&settings, task) {
                        let detail = format!("{settings} for {shape:?}: {error}");
                        return self.broken("its own settings build", detail);
                    }
                }
                let unknown = defaults.with("no-such-setting", 1.0);
                match self.method.learner(&unknown, task) {
                    Err(error) if error.to_string().contains("no-such-setting") => {}
                    Err(error) => {
                        let detail = format!("the message was: {error}");
                        return self.broken("an unknown setting is named", detail);
                    }
                    Ok(_) => {
                        let detail = "it was accepted".to_owned();
                        return self.broken("an unknown setting is refused", detail);
                    }
                }
            }
        }
        Ok(())
    }

    fn settings_are_declared(&self, declared: &[Setting]) -> Result<(), Violation> {
        for (index, setting) in declared.iter().enumerate() {
            let twice = declared[..index].iter().any(|earlier| earlier.name == setting.name);
            if twice || setting.meaning.len() < 8 || setting.allowed().is_empty() {
                let detail = format!("{setting:?}");
                return self.broken("settings are declared once, with meaning and range", detail);
            }
        }
        if let Some(setting) = declared.iter().find(|s| s.name == "tolerance" && s.eases.is_none())
        {
            let detail = format!("{setting:?}");
            return self
                .broken("a tolerance eases a fit that ends above it (`with_hints`)", detail);
        }
        for setting in declared {
            // What is taken away by another setting can be absent.
            let other = |name| declared.iter().find(|other| other.name == name);
            let absent = setting.replaces.is_none_or(|name| {
                other(name).is_some_and(|o| matches!(o.kind, Kind::Optional(_)))
            });
            if !absent {
                let detail = format!("{setting:?}");
                return self.broken("a setting replaces a declared one that may be null", detail);
            }
        }
        for task in [Task::Classification { classes: 3 }, Task::Regression] {
            if self.method.tasks.include(task) {
                self.declared_holds(declared, task)?;
            }
        }
        Ok(())
    }

    /// Defaults and tuner know declared names only, and stay in range; out of it a method refuses.
    fn declared_holds(&self, declared: &[Setting], task: Task) -> Result<(), Violation> {
        let shape = Shape { rows: 300, features: 4, task };
        let (defaults, space) = ((self.method.defaults)(&shape), (self.method.space)(&shape));
        let begun = self.method.begun(&shape);
        let draws = space.candidates(27, &mut ChaCha8Rng::seed_from_u64(27));
        for (name, value) in draws.iter().chain([&defaults, &begun]).flat_map(Settings::iter) {
            let Some(setting) = declared.iter().find(|setting| setting.name == name) else {
                return self.broken("defaults and tuner set what is declared", name.to_owned());
            };
            let outside = value.as_f64().filter(|&v| setting.range.is_some_and(|r| !r.holds(v)));
            if let Some(value) = outside {
                let detail = format!("{name} = {value}");
                return self.broken("defaults and tuner stay in range", detail);
            }
        }
        for setting in declared {
            for bad in setting.range.into_iter().flat_map(Allowed::outside) {
                let value = match setting.kind.innermost() {
                    Kind::Whole if bad < 0.0 || bad.fract() != 0.0 => continue,
                    Kind::Whole => Value::from(bad as u64),
                    _ => Value::from(bad),
                };
                let list = matches!(setting.kind, Kind::List(_));
                let value = if list { Value::from(vec![value]) } else { value };
                let settings = defaults.clone().with(setting.name, value);
                match self.method.learner(&settings, task) {
                    Err(error) if error.to_string().contains(setting.name) => {}
                    other => {
                        let said = other.err().map(|error| error.to_string());
                        let detail = format!("{} = {bad}: {said:?}", setting.name);
                        return self.broken("numbers out of range are refused by name", detail);
                    }
                }
            }
        }
        Ok(())
    }

    /// Spelled out, the declared defaults change nothing.
    fn declared_is_used(&self, declared: &[Setting], task: Task) -> Result<(), Violation> {
        let sample = toy(task, 2, 60, 3);
        let given = (self.method.defaults)(&sample.shape()).overridden_by(&self.settings);
        let all = declared
            .iter()
            .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default.clone()))
            .overridden_by(&given);
        let law = "declared defaults are what is used";
        let mut scores = Vec::new();
        for settings in [given, all] {
            let fitted = self
                .method
                .learner(&settings, task)
                .and_then(|learner| learner.fit(&sample, &mut Fitting::seeded(7)));
            match fitted {
                Ok(fitted) => scores.push(fitted.predictor.decision(sample.inputs())),
                Err(error) => return self.broken(law, format!("{settings}: {error}")),
            }
        }
        if !scores[0].iter().zip(&scores[1]).all(|(a, b)| a.to_bits() == b.to_bits()) {
            return self.broken(law, format!("{task:?}: spelled out they give other scores"));
        }
        Ok(())
    }

    fn fits(&self, task: Task) -> Result<(), Violation> {
        let (train, test) = (toy(task, 2, 160, 1), toy(task, 2, 80, 2));
        let predictor = self.fit(&train, 7)?;
        if predictor.task() != task || predictor.features() != 2 {
            let found = format!("{:?}, {} columns", predictor.task(), predictor.features());
            return self.broken("the predictor knows its task and width", found);
        }
        let predictions = self.predict(&*predictor, test.inputs())?;
        let scores = predictor.decision(test.inputs());
        if scores.dim() != (80, task.outputs()) || predictions.len() != 80 {
            let found = format!("{:?}, {} predictions", scores.dim(), predictions.len());
            return self.broken("one row of scores a row of inputs", found);
        }
        let again = self.fit(&train, 7)?.decision(test.inputs());
        if !scores.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()) {
            let detail = format!("{task:?}: two fits with one seed differ");
            return self.broken("same seed, same answer", detail);
        }
        self.rows_stand_alone(&*predictor, test.inputs(), &scores)?;
        self.inputs_are_checked(&*predictor, test.inputs())?;
        self.can_be_kept(&*predictor, test.inputs(), &scores)?;
        self.goes_on(&train, test.inputs(), &scores)?;
        // A prediction at no cost looks at no input.
        if self.method.cost.predict != "1" {
            self.beats_chance(&predictions, &test)?;
        }
        self.equal_rows(&train)?;
        self.weights_count_rows(task)?;
        // One column is enough to learn from, or to be refused; never to panic on.
        let narrow = toy(task, 1, 40, 3);
        let predictor = self.fit(&narrow, 7)?;
        self.predict(&*predictor, narrow.inputs())?;
        Ok(())
    }

    /// Rows that nothing tells apart are refused, or end in a model that can be kept and has numbers as scores.
    fn equal_rows(&self, train: &Sample) -> Result<(), Violation> {
        let inputs = Array2::from_shape_fn((24, 2), |(_, column)| 0.3 + column as f64);
        let rows: Vec<usize> = (0..24).collect();
        let sample = train.select(&rows).expect("rows of the sample").map_inputs(|to| *to = inputs);
        let sample = sample.expect("finite inputs, and as many rows");
        let Ok(predictor) = self.try_fit(&sample, 7) else { return Ok(()) };
        let scores = predictor.decision(sample.inputs());
        if scores.iter().any(|score| !score.is_finite()) {
            let detail = format!("fitted to equal rows it gives {}", scores.row(0));
            return self.broken("scores are numbers", detail);
        }
        self.can_be_kept(&*predictor, sample.inputs(), &scores)
    }

    /// Reversed and one at a time, rows keep their scores, to within single precision.
    fn rows_stand_alone(
        &self,
        predictor: &dyn Predictor,
        inputs: ArrayView2<'_, f64>,
        scores: &Array2<f64>,
    ) -> Result<(), Violation> {
        let finite = scores.iter().filter(|score| score.is_finite());
        let scale = finite.fold(1.0, |largest: f64, score| largest.max(score.abs()));
        // Sums over features are taken in another order: √D ε of f32 at D = 2000, times a margin.
        let equal = |a: &f64, b: &f64| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-4 * scale;
        let reversed = predictor.decision(inputs.slice(s![..;-1, ..]));
        let back = reversed.slice(s![..;-1, ..]);
        if !scores.iter().zip(&back).all(|(a, b)| equal(a, b)) {
            let detail = "scores changed when the rows were reversed".to_owned();
            return self.broken("the order of the rows does not matter", detail);
        }
        for (index, row) in scores.axis_iter(Axis(0)).enumerate() {
            let alone = predictor.decision(inputs.slice(s![index..=index, ..]));
            if alone.dim() != (1, row.len()) || !row.iter().zip(&alone).all(|(a, b)| equal(a, b)) {
                let detail = format!("row {index}: {row} in company, {alone} alone");
                return self.broken("rows are predicted one by one", detail);
            }
        }
        Ok(())
    }

    /// Restored from its state a predictor is the same to the last bit; an incomplete state is refused.
    fn can_be_kept(
        &self,
        predictor: &dyn Predictor,
        inputs: ArrayView2<'_, f64>,
        scores: &Array2<f64>,
    ) -> Result<(), Violation> {
        let law = "a fitted model can be kept";
        let state = predictor.state();
        let restored = match (self.method.restore)(&state) {
            Ok(restored) => restored,
            Err(error) => return self.broken(law, format!("its own state: {error}")),
        };
        let same = |a: &Array2<f64>, b: &Array2<f64>| {
            a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        let probabilities = match (predictor.probabilities(inputs), restored.probabilities(inputs))
        {
            (Some(a), Some(b)) => same(&a, &b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let shape = |predictor: &dyn Predictor| (predictor.task(), predictor.features());
        if shape(&*restored) != shape(predictor)
            || !same(&restored.decision(inputs), scores)
            || !probabilities
            || restored.state() != state
        {
            return self.broken(law, "restored, it is another model".to_owned());
        }
        if (self.method.restore)(&State::new()).is_ok() {
            return self.broken(law, "it was restored from nothing".to_owned());
        }
        for name in state.tensors().into_keys() {
            if let Some(cut) = state.cut(&name)
                && (self.method.restore)(&cut).is_ok()
            {
                let detail = format!("it was restored although `{name}` was cut short");
                return self.broken(law, detail);
            }
        }
        Ok(())
    }

    /// Cut off in its seventh step, a fit that keeps where it stands goes on to the same scores; from
    /// the state of another fit it begins anew.
    fn goes_on(
        &self,
        train: &Sample,
        inputs: ArrayView2<'_, f64>,
        scores: &Array2<f64>,
    ) -> Result<(), Violation> {
        const STEPS: usize = 6;
        let settings = (self.method.defaults)(&train.shape()).overridden_by(&self.settings);
        let fit = |limits: &Steps, kept: &mut Kept| {
            let learner = self.method.learner(&settings, train.task())?;
            let mut fitting = Fitting { limits, checkpoints: Some(kept), ..Fitting::seeded(7) };
            learner.fit(train, &mut fitting)
        };
        let mut kept = Kept::default();
        match fit(&Steps::until(STEPS), &mut kept) {
            Err(LearningError::Interrupted) => {}
            Err(error) => return self.broken("a fit can be interrupted", error.to_string()),
            // Over before it could be cut off.
            Ok(_) => return Ok(()),
        }
        let Some(state) = kept.last else { return Ok(()) };
        let law = "a fit that was cut off goes on";
        let mut used = Vec::new();
        for state in [state, State::new().with("done", 3)] {
            let limits = Steps::until(usize::MAX);
            let fitted = match fit(&limits, &mut Kept { last: Some(state) }) {
                Ok(fitted) => fitted,
                Err(error) => return self.broken(law, error.to_string()),
            };
            let again = fitted.predictor.decision(inputs);
            if !scores.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()) {
                return self.broken(law, "to another predictor".to_owned());
            }
            used.push(limits.asked());
        }
        if used[0] + STEPS != used[1] {
            let detail = format!("{} steps were left of {} after {STEPS}", used[0], used[1]);
            return self.broken(law, detail);
        }
        Ok(())
    }

    fn inputs_are_checked(
        &self,
        predictor: &dyn Predictor,
        inputs: ArrayView2<'_, f64>,
    ) -> Result<(), Violation> {
        let wide = Array2::zeros((3, inputs.ncols() + 1));
        match predictor.predict(wide.view()) {
            Err(LearningError::Width { expected: 2, found: 3 }) => {}
            other => {
                let detail = format!("3 columns for 2 gave {other:?}");
                return self.broken("inputs of a wrong width are refused", detail);
            }
        }
        for bad in [f64::NAN, f64::INFINITY] {
            let mut poisoned = inputs.to_owned();
            poisoned[[1, 0]] = bad;
            match predictor.predict(poisoned.view()) {
                Err(LearningError::InputNotFinite { row: 1, column: 0, .. }) => {}
                other => {
                    let detail = format!("{bad} in row 1, column 0 gave {other:?}");
                    return self.broken("NaN and infinity are refused", detail);
                }
            }
        }
        Ok(())
    }

    /// At most half the error of the constant predictor; the blobs' Bayes error is below 5 %.
    fn beats_chance(&self, predictions: &Predictions, test: &Sample) -> Result<(), Violation> {
        let (error, chance) = match (predictions, test.labels(), test.values()) {
            (Predictions::Classes(labels), Some(truth), _) => {
                (1.0 - accuracy(labels, truth), 1.0 - 1.0 / test.task().outputs() as f64)
            }
            (Predictions::Real(values), _, Some(truth)) => {
                (root_mean_squared_error(values, &truth.to_vec()), truth.std(0.0))
            }
            _ => {
                let detail = format!("{:?} for {:?}", predictions, test.task());
                return self.broken("predictions are of the task", detail);
            }
        };
        if error > 0.5 * chance {
            let detail =
                format!("error {error:.3} where chance is {chance:.3} ({:?})", test.task());
            return self.broken("it beats chance", detail);
        }
        Ok(())
    }

    fn one_class(&self) -> Result<(), Violation> {
        let sample = toy(Task::Classification { classes: 2 }, 2, 40, 4);
        let rows: Vec<usize> = (0..40).step_by(2).collect();
        let sample = sample.select(&rows).expect("rows of the sample");
        match self.try_fit(&sample, 7) {
            Err(LearningError::OneClass { .. }) => Ok(()),
            Ok(predictor) => match self.predict(&*predictor, sample.inputs())? {
                Predictions::Classes(labels) if labels.iter().all(|&label| label == 0) => Ok(()),
                other => self.broken("with one class, that class", format!("predicted {other:?}")),
            },
            Err(error) => self.broken("one class is fitted or refused as such", error.to_string()),
        }
    }

    fn try_fit(&self, sample: &Sample, seed: u64) -> Result<Box<dyn Predictor>, LearningError> {
        let settings = (self.method.defaults)(&sample.shape()).overridden_by(&self.settings);
        let learner = self.method.learner(&settings, sample.task())?;
        Ok(learner.fit(sample, &mut Fitting::seeded(seed))?.predictor)
    }

    fn fit(&self, sample: &Sample, seed: u64) -> Result<Box<dyn Predictor>, Violation> {
        self.try_fit(sample, seed).or_else(|error| {
            self.broken("the toy sample can be fitted", format!("{:?}: {error}", sample.shape()))
        })
    }

    fn predict(
        &self,
        predictor: &dyn Predictor,
        inputs: ArrayView2<'_, f64>,
    ) -> Result<Predictions, Violation> {
        predictor.predict(inputs).or_else(|error| {
            self.broken("rows like the training rows can be predicted", error.to_string())
        })
    }

    fn broken<T>(&self, law: &'static str, detail: String) -> Result<T, Violation> {
        Err(Violation { method: self.method.name.to_owned(), law, detail })
    }
}

#[cfg(test)]
mod tests;
