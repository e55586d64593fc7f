use crate::{LearningError, Parameters, declared, nearest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What other programs call some settings, and how the values go together where they are not the same.
const ELSEWHERE: [(&str, &str, &str); 12] = [
    ("C", "cost", ""),
    ("alpha", "lambda", ""),
    ("gamma", "std", " (its square is 2 gamma)"),
    ("sigma", "std", " (1 / sigma)"),
    ("width", "std", " (1 / width)"),
    ("bandwidth", "std", " (1 / bandwidth)"),
    ("length", "std", " (1 / length)"),
    ("length_scale", "std", " (1 / length_scale)"),
    ("coef0", "offset", ""),
    ("n_components", "features", ""),
    ("max_iter", "iterations", ""),
    ("tol", "tolerance", ""),
];

/// What other programs call some values.
const VALUES: [(&str, &str); 5] = [
    ("rbf", "gaussian"),
    ("poly", "polynomial"),
    ("laplacian", "laplace"),
    ("matern", "matern-5/2"),
    ("log_loss", "cross-entropy"),
];

/// Named settings of a method, sorted by name: a part of a trial's key.
///
/// ```
/// use mercer_learning::Settings;
/// let settings = Settings::new().with("lambda", 1e-3).with("loss", "squared");
/// assert_eq!(settings.to_string(), r#"{"lambda":0.001,"loss":"squared"}"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Returns no settings: every default.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns this, with `name` set to `value`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Returns this, overridden by `other` where both have a value.
    ///
    /// ```
    /// use mercer_learning::Settings;
    /// let defaults = Settings::new().with("lambda", 1e-3).with("epochs", 10);
    /// let given = Settings::new().with("lambda", 0.5);
    /// assert_eq!(defaults.overridden_by(&given).to_string(), r#"{"epochs":10,"lambda":0.5}"#);
    /// ```
    #[must_use]
    pub fn overridden_by(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().map(|(k, v)| (k.clone(), v.clone())));
        self
    }

    /// Returns the value of `name`, if it is set.
    ///
    /// ```
    /// use mercer_learning::Settings;
    /// let settings = Settings::new().with("epochs", 10);
    /// assert_eq!(settings.get("epochs").and_then(|value| value.as_u64()), Some(10));
    /// assert_eq!(settings.get("lambda"), None); // the method's default
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Names and values in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads them as the declared parameter type of `method`. The learner checks the ranges.
    ///
    /// ```
    /// use mercer_learning::{Allowed, Settings, parameters};
    /// parameters! {
    ///     /// Settings of a toy.
    ///     pub struct ToyParams {
    ///         /// `λ ≥ 0`.
    ///         pub lambda: f64 = 1e-3, Allowed::NOT_NEGATIVE;
    ///     }
    /// }
    /// let refused = Settings::new().with("lamda", 0.1).read::<ToyParams>("toy").unwrap_err();
    /// assert!(refused.to_string().contains("`lamda` is no setting; did you mean `lambda`?"));
    /// let refused = Settings::new().with("alpha", 0.1).read::<ToyParams>("toy").unwrap_err();
    /// assert!(refused.to_string().contains("did you mean `lambda`?"), "{refused}"); // as scikit-learn calls it
    /// let refused = Settings::new().with("lambda", "x").read::<ToyParams>("toy").unwrap_err();
    /// assert!(refused.to_string().contains("it must be a number, at least 0 and finite"));
    /// ```
    ///
    /// # Errors
    /// [`LearningError::Settings`] that names the setting which is unknown, with the near one and all
    /// that there are, or which is of another type.
    pub fn read<T: Parameters>(&self, method: &str) -> Result<T, LearningError> {
        let known: Vec<&str> = T::ENTRIES
            .iter()
            .filter(|entry| entry.skipped.is_empty())
            .map(|entry| entry.name)
            .collect();
        self.require_known(&known, method)?;
        let said = match self.parse(method) {
            Err(LearningError::Settings { message, .. }) => message,
            other => return other,
        };
        // In the words of the declaration, where one setting alone is to blame.
        let alone = |name: &str, value: &Value| {
            let one = Self::new().with(name, value.clone());
            serde_json::from_value::<T>(Value::Object(one.0.into_iter().collect())).is_err()
        };
        let declared = declared::<T>();
        let blamed =
            self.iter().find(|(name, value)| alone(name, value)).and_then(|(name, value)| {
                let setting = declared.iter().find(|setting| setting.name == name)?;
                let allowed = setting.allowed();
                let meant = VALUES.iter().find(|(own, ours)| {
                    value.as_str().is_some_and(|word| word.eq_ignore_ascii_case(own))
                        && allowed.split(", ").any(|word| word == *ours)
                });
                let meant =
                    meant.map_or_else(String::new, |(_, ours)| format!("; did you mean `{ours}`?"));
                Some((format!("`{name}` is {value}; it must be {allowed}{meant}"), value))
            });
        let message = match blamed {
            // What lies within an object, only its parser can tell.
            Some((told, value)) if value.is_object() || value.is_array() => {
                format!("{told} ({said})")
            }
            Some((told, _)) => told,
            None => said,
        };
        Err(LearningError::Settings { method: method.to_owned(), message })
    }

    /// Refuses a setting whose name is not in `known`.
    ///
    /// ```
    /// use mercer_learning::Settings;
    /// let refused = Settings::new().with("C", 1.0).require_known(&["cost"], "svm").unwrap_err();
    /// assert!(refused.to_string().contains("did you mean `cost`?"), "{refused}");
    /// ```
    ///
    /// # Errors
    /// [`LearningError::Settings`] that names the setting, the near one, and all that there are.
    pub fn require_known(&self, known: &[&str], method: &str) -> Result<(), LearningError> {
        let unknown = self.0.keys().find(|name| !known.contains(&name.as_str()));
        let Some(name) = unknown else { return Ok(()) };
        let theirs = ELSEWHERE.iter().find(|(own, ours, _)| own == name && known.contains(ours));
        let near = match theirs {
            Some((_, ours, how)) => format!("; did you mean `{ours}`{how}?"),
            None => nearest(name, known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?")),
        };
        let all = match known {
            [] => "the method has none".to_owned(),
            known => format!("there are {}", known.join(", ")),
        };
        let message = format!("`{name}` is no setting{near}; {all}").replace("?;", "?");
        Err(LearningError::Settings { method: method.to_owned(), message })
    }

    /// Reads them as any type; unknown names are refused by that type's
    /// `deny_unknown_fields`.
    ///
    /// # Errors
    /// [`LearningError::Settings`] with the parser's message, and the setting that it is about.
    pub fn parse<T: DeserializeOwned>(&self, method: &str) -> Result<T, LearningError> {
        let object = Value::Object(self.0.clone().into_iter().collect());
        serde_json::from_value(object).map_err(|error| LearningError::Settings {
            method: method.to_owned(),
            message: self.culprit::<T>().unwrap_or_else(|| error.to_string()),
        })
    }

    /// The problem of the first setting that cannot be read even by itself.
    fn culprit<T: DeserializeOwned>(&self) -> Option<String> {
        let alone = |name: &String, value: &Value| {
            let object = Value::Object([(name.clone(), value.clone())].into_iter().collect());
            serde_json::from_value::<T>(object).err()
        };
        // A type without defaults refuses every setting by itself: nothing can be said then.
        serde_json::from_value::<T>(Value::Object(serde_json::Map::new())).ok()?;
        self.0.iter().find_map(|(name, value)| {
            let said = alone(name, value)?.to_string();
            let named = said.contains(&format!("`{name}`"));
            Some(if named { said } else { format!("`{name}` is {value}: {said}") })
        })
    }

    /// Returns the settings that a parameter type stands for.
    ///
    /// ```
    /// use mercer_learning::{Allowed, Settings, parameters};
    /// parameters! {
    ///     /// Settings of a toy.
    ///     pub struct ToyParams {
    ///         /// `λ ≥ 0`.
    ///         pub lambda: f64 = 0.5, Allowed::NOT_NEGATIVE;
    ///     }
    /// }
    /// assert_eq!(Settings::of(&ToyParams::default()).to_string(), r#"{"lambda":0.5}"#);
    /// ```
    ///
    /// # Panics
    /// If `params` does not serialise to an object: a fault of its type.
    pub fn of<T: Serialize>(params: &T) -> Self {
        match serde_json::to_value(params) {
            Ok(Value::Object(map)) => Self(map.into_iter().collect()),
            other => panic!("parameters must serialise to an object, got {other:?}"),
        }
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = serde_json::to_string(&self.0).map_err(|_| std::fmt::Error)?;
        f.write_str(&text)
    }
}
