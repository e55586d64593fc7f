//! What a user must know of a fit that ended.

use crate::{Method, Settings, counted, fact};
use serde_json::Value;
use std::collections::BTreeMap;

/// A fit that ended: the source of its warnings.
///
/// ```
/// use mercer_learning::{Ended, Settings};
/// let settings = Settings::new().with("beta", 0.5).with("spectrum", "flip");
/// let facts = [("penalised-steps".to_owned(), 0.0)].into();
/// let ended = Ended { method: "rftk", settings: &settings, facts: &facts, rows: 100 };
/// assert_eq!((ended.number("beta"), ended.word("spectrum")), (Some(0.5), Some("flip")));
/// assert_eq!((ended.fact("penalised-steps"), ended.positive("penalised-steps")), (Some(0.0), None));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// The name of its method.
    pub method: &'a str,
    /// All settings of the fit.
    pub settings: &'a Settings,
    /// What the learner stated.
    pub facts: &'a BTreeMap<String, f64>,
    /// Rows that it was fitted to.
    pub rows: usize,
}

/// One thing that may be wrong with a fit. It is a text that begins with the method's name and says what helps, or
/// nothing.
///
/// ```
/// use mercer_learning::{Ended, Settings, Warning};
/// const FEW: Warning = |ended| (ended.rows < 3).then(|| format!("{}: add rows", ended.method));
/// let ended = Ended { method: "toy", settings: &Settings::new(), facts: &[].into(), rows: 2 };
/// assert_eq!(FEW(&ended).as_deref(), Some("toy: add rows"));
/// ```
pub type Warning = fn(&Ended<'_>) -> Option<String>;

impl<'a> Ended<'a> {
    /// Returns a setting that is a number.
    pub fn number(&self, setting: &str) -> Option<f64> {
        self.settings.get(setting)?.as_f64()
    }

    /// Returns a setting that is a word.
    pub fn word(&self, setting: &str) -> Option<&'a str> {
        self.settings.get(setting).and_then(Value::as_str)
    }

    /// What the learner stated by this name.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.get(name).copied()
    }

    /// Returns the same, if it is above 0.
    pub fn positive(&self, name: &str) -> Option<f64> {
        self.fact(name).filter(|&value| value > 0.0)
    }
}

/// What can happen to any method.
const SHARED: [Warning; 3] = [jittered, search_cut_short, batch_beyond_the_rows];

impl Method {
    /// Returns all warnings of a fit with these settings. The fit stated these facts of so many rows.
    ///
    /// ```
    /// use mercer_learning::{Ended, Settings, Warning, find};
    /// # use mercer_learning::{Cost, Method, Space, Tasks};
    /// # const METHOD: Method = Method {
    /// #     name: "toy", title: "toy", summary: "a toy", formula: "", when: "", cites: "nobody", revision: 1,
    /// #     tasks: Tasks::Both, cost: Cost { fit: "n", predict: "1", memory: "1" }, resource: None,
    /// #     settings: &Vec::new, defaults: &|_| Settings::new(), user_defaults: &mercer_learning::same_as_study,
    /// #     space: &|_| Space::default(), build: &|_| unreachable!(), restore: &|_| unreachable!(), warnings: &[],
    /// # };
    /// const FLAT: Warning = |ended| Some(format!("{}: its kernel is flat", ended.method)).filter(|_| ended.fact("flat") == Some(1.0));
    /// let toy = Method { warnings: &[FLAT], ..METHOD };
    /// let facts = [("flat".to_owned(), 1.0), ("jitter".to_owned(), 1e-10)].into();
    /// let told = toy.warnings_of(&Settings::new(), &facts, 60);
    /// assert!(told[0].contains("1e-10 added to its diagonal") && told[1] == "toy: its kernel is flat");
    /// ```
    pub fn warnings_of(
        &self,
        settings: &Settings,
        facts: &BTreeMap<String, f64>,
        rows: usize,
    ) -> Vec<String> {
        let rows = facts.get(fact::ROWS_USED).map_or(rows, |&used| used as usize);
        let ended = Ended { method: self.name, settings, facts, rows };
        SHARED.iter().chain(self.warnings).filter_map(|warning| warning(&ended)).collect()
    }
}

/// A matrix had to have something added to its diagonal, to be factored or for the result to have digits. The facts
/// `jitter` (of the last factorisation) and `jitter-steps` (of the steps on the way) say so.
fn jittered(ended: &Ended<'_>) -> Option<String> {
    let steps = ended.positive("jitter-steps");
    let steps = steps.map(|steps| counted(steps as usize, "factorisation", "factorisations"));
    let when = match (ended.positive("jitter"), steps) {
        (Some(last), Some(steps)) => {
            format!("{last:e} added to its diagonal at the end, and something in {steps} before")
        }
        (Some(last), None) => format!("{last:e} added to its diagonal"),
        (None, Some(steps)) => format!("something added to its diagonal in {steps}"),
        (None, None) => return None,
    };
    let lengths = ended.facts.keys().any(|name| name == "length" || name.starts_with("length-"));
    let remedy = if lengths { " or a shorter length scale" } else { "" };
    Some(format!(
        "{}: a matrix kept digits only with {when}: rows that coincide or nearly do, or a \
         ridge near 0; a larger ridge (`--set lambda=...`){remedy} makes it regular",
        ended.method
    ))
}

/// Some fits of a search within the fit stopped at their limit of steps.
fn search_cut_short(ended: &Ended<'_>) -> Option<String> {
    let open = ended.positive(fact::SEARCH_NOT_CONVERGED)?;
    Some(format!(
        "{}: {open} of the fits that its search compares stopped at their limit of steps and were \
         judged by what they had reached; inputs of another scale (`--scale`) or a smaller grid by hand \
         (`--set search=none`, `--tune`) may do better",
        ended.method
    ))
}

/// A batch was asked for that is larger than the rows.
fn batch_beyond_the_rows(ended: &Ended<'_>) -> Option<String> {
    let asked = ended.number("batch")?;
    let used = ended.fact(fact::BATCH_USED).filter(|&used| used < asked)?;
    Some(format!(
        "{}: a batch of {asked} rows was asked for; each step took {used}, as many as the {used} rows there are",
        ended.method
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(warning: Warning, settings: &Settings, facts: &[(&str, f64)]) -> Option<String> {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        warning(&Ended { method: "toy", settings, facts: &facts, rows: 60 })
    }

    #[test]
    fn what_can_happen_to_any_method_is_said() {
        let plain = Settings::new();
        assert!(told(jittered, &plain, &[("jitter", 1e-10)]).unwrap().contains("1e-10"));
        assert_eq!(told(jittered, &plain, &[]), None);
        let cut = told(search_cut_short, &plain, &[(fact::SEARCH_NOT_CONVERGED, 7.0)]);
        assert!(cut.unwrap().contains("7 of the fits"));
        assert_eq!(told(search_cut_short, &plain, &[(fact::SEARCH_NOT_CONVERGED, 0.0)]), None);
        let asked = Settings::new().with("batch", 500);
        let few = told(batch_beyond_the_rows, &asked, &[(fact::BATCH_USED, 60.0)]).unwrap();
        assert!(few.contains("batch of 500") && few.contains("60 rows"), "{few}");
        assert_eq!(told(batch_beyond_the_rows, &asked, &[(fact::BATCH_USED, 500.0)]), None);
    }
}
