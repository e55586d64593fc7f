//! What a file says of a method.

use mercer_learning::Tasks;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub method: BTreeMap<String, Declared>,
}

/// A method as it stands in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declared {
    pub title: Option<String>,
    pub summary: Option<String>,
    /// Program and arguments; the folder of a request is the last of them.
    #[serde(default)]
    pub command: Vec<String>,
    /// `module:Class` of an estimator with the interface of scikit-learn, in place of a command.
    pub classifier: Option<String>,
    pub regressor: Option<String>,
    /// What `command` can do; of estimators their fields tell.
    #[serde(default)]
    pub tasks: Vec<TaskName>,
    #[serde(default)]
    pub data: Data,
    #[serde(default)]
    pub mode: Mode,
    /// Seconds that a prediction may take; a fit has the limits of its trial.
    #[serde(default = "an_hour")]
    pub seconds: f64,
    #[serde(default)]
    pub settings: BTreeMap<String, DeclaredSetting>,
}

const fn an_hour() -> f64 {
    3600.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskName {
    Classification,
    Regression,
}

/// The format of tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Data {
    #[default]
    Parquet,
    Csv,
}

impl Data {
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// Whether the program is started for each request, or once for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    #[default]
    Once,
    Worker,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeclaredSetting {
    /// Without it the program's own.
    #[serde(default)]
    pub default: Value,
    #[serde(default)]
    pub meaning: String,
    pub tune: Option<Tune>,
}

/// What a tuner may try.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Tune {
    Choices {
        choices: Vec<Value>,
    },
    Between {
        from: f64,
        to: f64,
        #[serde(default)]
        scale: Scale,
        #[serde(default)]
        whole: bool,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    #[default]
    Linear,
    Log,
}

impl Declared {
    pub(crate) fn fault(&self) -> Option<String> {
        let estimator = self.classifier.is_some() || self.regressor.is_some();
        if estimator != self.command.is_empty() {
            return Some("give `command`, or `classifier` or `regressor`, and not both".to_owned());
        }
        if estimator != self.tasks.is_empty() {
            return Some(
                if estimator {
                    "`tasks` is for a `command`; of estimators `classifier` and `regressor` tell"
                } else {
                    "`tasks` is missing: [\"classification\"], [\"regression\"], or both"
                }
                .to_owned(),
            );
        }
        for path in [&self.classifier, &self.regressor].into_iter().flatten() {
            if !path.split_once(':').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()) {
                return Some(format!("`{path}` is no `module:Class`"));
            }
        }
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Some(format!("`seconds` is {}; it must be positive", self.seconds));
        }
        self.settings.iter().find_map(|(name, setting)| {
            let Some(Tune::Between { from, to, scale, whole }) = &setting.tune else { return None };
            let positive = *scale == Scale::Linear || *from > 0.0;
            let integral = !whole || (from.fract() == 0.0 && to.fract() == 0.0);
            (!(from < to && to.is_finite() && positive && integral)).then(|| {
                format!("`settings.{name}.tune`: from {from} to {to} is no range to search: `from` is the smaller, above 0 on a log scale, and both are whole where `whole` is true")
            })
        })
    }

    /// What it can do.
    pub(crate) fn can(&self) -> Option<Tasks> {
        let named = |task| self.tasks.contains(&task);
        let classes = named(TaskName::Classification) || self.classifier.is_some();
        let values = named(TaskName::Regression) || self.regressor.is_some();
        match (classes, values) {
            (true, true) => Some(Tasks::Both),
            (true, false) => Some(Tasks::Classification),
            (false, true) => Some(Tasks::Regression),
            (false, false) => None,
        }
    }
}
