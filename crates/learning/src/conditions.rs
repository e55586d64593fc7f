use crate::{LearningError, Method, Setting, Settings, Shape, Task};
use serde_json::{Value, json};
use std::fmt;

/// Condition on another setting under which a setting is used. Two names are no settings: `method`, the name of the
/// method, where several share a type of settings, and `task`, `classification` or `regression`.
///
/// ```
/// use mercer_learning::Where;
/// let words = |condition: Where| condition.to_string();
/// assert_eq!(words(Where::is("map", &["fourier"])), "`map` is fourier");
/// assert_eq!(words(Where::is("method", &["nsk", "nskl"])), "the method is nsk or nskl");
/// assert_eq!(words(Where::is_not("dropout", &["0"])), "`dropout` is not 0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Where {
    /// The other setting.
    pub by: &'static str,
    /// Values of it, as they are written after `--set NAME=`; `null` where it is not set.
    pub values: &'static [&'static str],
    /// Whether it must be one of them, or none.
    pub among: bool,
}

impl Where {
    /// It is one of these.
    pub const fn is(by: &'static str, values: &'static [&'static str]) -> Self {
        Self { by, values, among: true }
    }

    /// It is none of these.
    pub const fn is_not(by: &'static str, values: &'static [&'static str]) -> Self {
        Self { by, values, among: false }
    }

    fn holds(self, found: &str) -> bool {
        self.values.contains(&found) == self.among
    }

    fn noun(self) -> String {
        match self.by {
            "method" | "task" => format!("the {}", self.by),
            name => format!("`{name}`"),
        }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, last) = match (self.among, self.values.len()) {
            (true, _) => ("", " or "),
            (false, 0 | 1) => ("not ", " or "),
            (false, 2) => ("neither ", " nor "),
            (false, _) => ("none of ", " and "),
        };
        write!(f, "{} is {before}{}", self.noun(), listed(self.values, last))
    }
}

/// `a, b or c`.
fn listed<T: fmt::Display>(items: &[T], last: &str) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    match &items[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., end] => format!("{}{last}{end}", most.join(", ")),
    }
}

/// Settings that are used where any of some conditions holds.
///
/// ```
/// use mercer_learning::{Condition, Where};
/// // The order of batches, where there are several, by their number or by their size.
/// const ORDER: Condition =
///     (&["order"], &[Where::is_not("batches", &["1"]), Where::is_not("batch", &["null"])]);
/// assert_eq!(ORDER.1.len(), 2);
/// ```
pub type Condition = (&'static [&'static str], &'static [Where]);

/// Returns those settings, where each line of `lines` states conditions under which some are used. Of several lines
/// that name a setting, each must hold. What does nothing is refused to those who give it ([`Method::check_active`]); a
/// study or a tuner may leave it where it is.
///
/// ```
/// use mercer_learning::{Condition, Where, declared, with_conditions, parameters};
/// parameters! {
///     /// Settings of a toy.
///     pub struct ToyParams {
///         /// Whether it learns.
///         pub learns: bool = true;
///         /// Passes over the rows.
///         pub epochs: usize = 10;
///         /// Learning rate.
///         pub rate: f64 = 0.1;
///     }
/// }
/// const CONDITIONS: &[Condition] = &[(&["epochs", "rate"], &[Where::is("learns", &["true"])])];
/// let settings = with_conditions(declared::<ToyParams>(), CONDITIONS);
/// assert_eq!(settings[1].heeded[0][0].to_string(), "`learns` is true");
/// assert!(settings[0].heeded.is_empty());
/// ```
///
/// # Panics
/// If a line names a setting, or sets a condition on one, that is not declared: a slip in the code.
#[must_use]
pub fn with_conditions(mut settings: Vec<Setting>, lines: &[Condition]) -> Vec<Setting> {
    for (names, any) in lines {
        for condition in *any {
            let known = ["method", "task"].contains(&condition.by)
                || settings.iter().any(|setting| setting.name == condition.by);
            assert!(known, "a condition on `{}`, which is not declared", condition.by);
        }
        for name in *names {
            let setting = settings.iter_mut().find(|setting| setting.name == *name);
            let setting = setting.unwrap_or_else(|| panic!("`{name}` is not declared"));
            setting.heeded.push(any);
        }
    }
    settings
}

/// As it is written after `--set NAME=`.
fn written(value: Option<&Value>) -> String {
    match value {
        None => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        // 0, not 0.0.
        Some(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN).to_string(),
        Some(Value::Object(_)) => "given as JSON".to_owned(),
        Some(other) => other.to_string(),
    }
}

impl Method {
    /// Returns whether a setting of its type of settings can ever do anything here. Some are another method's.
    pub fn offers(&self, setting: &Setting) -> bool {
        let own = |one: &Where| one.by != "method" || one.holds(self.name);
        setting.heeded.iter().all(|any| any.iter().any(own))
    }

    /// Says in a sentence where a setting is used by this method. `None` if it is always used.
    pub fn only(&self, setting: &Setting) -> Option<String> {
        let own = |one: &Where| one.by == "method";
        let open = |any: &&&[Where]| !any.iter().any(|one| own(one) && one.holds(self.name));
        let others = |any: &&[Where]| {
            let others: Vec<Where> = any.iter().copied().filter(|one| !own(one)).collect();
            (!others.is_empty()).then(|| listed(&others, " or "))
        };
        let all: Vec<String> = setting.heeded.iter().filter(open).filter_map(others).collect();
        (!all.is_empty()).then(|| format!("Only where {}.", all.join(", and ")))
    }

    /// Refuses what was given and would do nothing, for another setting is what it is. A setting given as null is not
    /// set, and so is not refused. Nor is a setting that would be there without being given, so that all the settings
    /// of a fit can be given again.
    ///
    /// # Errors
    /// [`LearningError::Unheeded`] names the first, and what it hangs on.
    pub fn check_active(&self, given: &Settings, shape: &Shape) -> Result<(), LearningError> {
        self.inactive(given, shape).into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Returns all settings that do nothing beside these.
    pub fn idle(&self, settings: &Settings, task: Task) -> Vec<&'static str> {
        let holds = |one: &Where| one.holds(&self.found(one, settings, task));
        let idle = |setting: &Setting| !setting.heeded.iter().all(|any| any.iter().any(holds));
        (self.settings)().iter().filter(|setting| idle(setting)).map(|s| s.name).collect()
    }

    fn found(&self, condition: &Where, settings: &Settings, task: Task) -> String {
        match condition.by {
            "method" => self.name.to_owned(),
            "task" => task.name().to_owned(),
            name => written(settings.get(name)),
        }
    }

    /// Returns all given settings that would do nothing, by name. Each comes with the error of [`Self::check_active`].
    pub fn inactive(&self, given: &Settings, shape: &Shape) -> Vec<(&'static str, LearningError)> {
        let declared = (self.settings)();
        let begun = declared
            .iter()
            .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default.clone()))
            .overridden_by(&self.begun(shape));
        let all = begun.clone().overridden_by(&self.as_meant(given));
        let found = |one: &Where| self.found(one, &all, shape.task);
        let holds = |any: &&&[Where]| any.iter().any(|one| one.holds(&found(one)));
        let text = |value: Option<&Value>| match value {
            Some(Value::Object(fields)) => json!(fields).to_string(),
            other => written(other),
        };
        let set = |setting: &&Setting| {
            let value = given.get(setting.name).filter(|value| !value.is_null());
            value.is_some_and(|_| text(value) != text(begun.get(setting.name)))
        };
        let error = |setting: &Setting| {
            let any = setting.heeded.iter().find(|any| !holds(any))?;
            let here: Vec<String> =
                any.iter().map(|one| format!("{} is {}", one.noun(), found(one))).collect();
            let (only, here) = (listed(any, " or "), listed(&here, " and "));
            Some((setting.name, LearningError::Unheeded { name: setting.name, only, here }))
        };
        declared.iter().filter(set).filter_map(error).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, Space, Tasks, declared};

    crate::parameters! {
        /// Settings of a toy.
        struct ToyParams {
            /// Which kernel.
            pub kernel: String = "gaussian".to_owned();
            /// Its degree.
            pub degree: usize = 2;
            /// Half-width of a tube.
            pub tube: f64 = 0.1;
            /// Share of what is dropped.
            pub dropout: f64 = 0.0;
            /// Masks of what is dropped.
            pub masks: usize = 2;
            /// Rows of a batch.
            pub batch: Option<usize> = None;
            /// Batches.
            pub batches: usize = 1;
            /// Order of the batches.
            pub order: String = "seeded".to_owned();
        }
    }

    const CONDITIONS: &[Condition] = &[
        (&["degree"], &[Where::is("kernel", &["polynomial", "power"])]),
        (&["tube"], &[Where::is("task", &["regression"])]),
        (&["tube"], &[Where::is_not("method", &["median"])]),
        (&["masks"], &[Where::is_not("dropout", &["0"])]),
        (&["order"], &[Where::is_not("batch", &["null"]), Where::is_not("batches", &["1"])]),
    ];

    fn settings() -> Vec<Setting> {
        with_conditions(declared::<ToyParams>(), CONDITIONS)
    }

    const TOY: Method = Method {
        name: "toy",
        title: "toy",
        summary: "a toy",
        formula: "f(x) = the mean of y",
        when: "as a floor",
        cites: "nobody",
        revision: 1,
        tasks: Tasks::Both,
        cost: Cost { fit: "n", predict: "1", memory: "1" },
        resource: None,
        warnings: &[],
        settings: &settings,
        defaults: &|_| Settings::new(),
        user_defaults: &|_| Settings::new(),
        space: &|_| Space::default(),
        build: &|_| Err(LearningError::Interrupted),
        restore: &crate::never_kept,
    };

    fn said(method: &Method, task: Task, given: &Settings) -> Option<String> {
        let shape = Shape { rows: 10, features: 2, task };
        method.check_active(given, &shape).err().map(|error| error.to_string())
    }

    #[test]
    fn what_would_do_nothing_is_refused_with_what_it_hangs_on() {
        let classes = Task::Classification { classes: 2 };
        let given = Settings::new().with("degree", 3);
        assert_eq!(
            said(&TOY, classes, &given).unwrap(),
            "setting `degree` would do nothing: it counts only where `kernel` is polynomial or power, \
             and here `kernel` is gaussian; leave it out"
        );
        assert_eq!(said(&TOY, classes, &given.with("kernel", "power")), None);
        let tube = Settings::new().with("tube", 0.2);
        let words = said(&TOY, classes, &tube).unwrap();
        assert!(words.contains("the task is regression, and here the task is classification"));
        assert_eq!(said(&TOY, Task::Regression, &tube), None);
        // Every line must hold; of a line, one condition.
        let median = Method { name: "median", ..TOY };
        assert!(
            said(&median, Task::Regression, &tube).unwrap().contains("the method is not median")
        );
        let order = Settings::new().with("order", "released");
        let words = said(&TOY, classes, &order).unwrap();
        assert!(words.contains("and here `batch` is null and `batches` is 1;"), "{words}");
        for (name, value) in [("batch", 5), ("batches", 2)] {
            assert_eq!(said(&TOY, classes, &order.clone().with(name, value)), None);
        }
    }

    #[test]
    fn what_does_nothing_beside_the_others_is_told() {
        let all = Settings::of(&ToyParams::default());
        assert_eq!(TOY.idle(&all, Task::Regression), ["degree", "masks", "order"]);
        let all = all.with("kernel", "power").with("dropout", 0.5).with("batches", 3);
        assert_eq!(TOY.idle(&all, Task::Classification { classes: 2 }), ["tube"]);
    }

    #[test]
    fn zero_is_zero_however_it_is_written_and_null_and_defaults_are_not_refused() {
        let masks = Settings::new().with("masks", 1);
        for zero in [Value::from(0), Value::from(0.0)] {
            let given = masks.clone().with("dropout", zero);
            assert!(said(&TOY, Task::Regression, &given).is_some());
        }
        assert_eq!(said(&TOY, Task::Regression, &masks.with("dropout", 0.5)), None);
        let degree = |value: Option<u64>| Settings::new().with("degree", value);
        assert!(said(&TOY, Task::Regression, &degree(Some(3))).is_some());
        for harmless in [None, Some(2)] {
            assert_eq!(said(&TOY, Task::Regression, &degree(harmless)), None);
        }
        let (median, settings) = (Method { name: "median", ..TOY }, settings());
        assert_eq!(TOY.only(&settings[2]).unwrap(), "Only where the task is regression.");
        assert_eq!(TOY.only(&settings[4]).unwrap(), "Only where `dropout` is not 0.");
        assert_eq!(TOY.only(&settings[0]), None);
        assert!(TOY.offers(&settings[2]) && !median.offers(&settings[2]));
        assert!(median.offers(&settings[1]));
    }
}
