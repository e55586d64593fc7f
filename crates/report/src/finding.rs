use crate::query::{Query, spelled};
use crate::{ExperimentError, RenderContext};
use mercer_records::Key;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Why numbers differ: a page whose every number is a query that is answered anew each time.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its id: the file name.
    pub id: &'static str,
    /// One line.
    pub title: String,
    /// What went wrong.
    pub mistake: Mistake,
    /// The artefacts that it explains.
    pub explains: Vec<String>,
    /// The single cells that it explains: where these differ from the printed ones, the table
    /// leads here.
    pub cells: Vec<Cells>,
    /// Whether it says why these cells differ, or only shows that neither the text nor the code gives
    /// them.
    pub cause_known: bool,
    /// The audit, artefact or test that shows it.
    pub shown_by: String,
    /// Numbers in the text that are quoted from the paper, its code or its text, not measured.
    pub quoted: Vec<String>,
    numbers: BTreeMap<String, Query>,
    asserted: BTreeMap<String, Bounds>,
    body: &'static str,
}

/// What went wrong: findings are listed by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// Settings chosen on test rows, or on too few.
    Tuning,
    /// Methods that did not have the same.
    Unequal,
    /// What the paper does not state decides.
    Settings,
    /// The code does not do what the text says.
    Code,
    /// A formula is wrong, or says less than it seems.
    Formula,
    /// Rounding, and averages of fits that are not alike.
    Numerics,
    /// The largest class or the mean does as well.
    Trivial,
    /// A gain is claimed and none is shown.
    NoGain,
    /// Printed numbers contradict each other, the text or what can be.
    Print,
    /// A bound that says little.
    Bounds,
    /// None: it comes out.
    Holds,
}

impl Mistake {
    /// All with their heads, in the order of the page.
    pub(crate) const ALL: [(Self, &str); 11] = [
        (Self::Tuning, "Tuned on test rows, or on too few"),
        (Self::Unequal, "Compared unequally"),
        (Self::Settings, "Decided by what the paper does not state"),
        (Self::Code, "Code that does not do what the text says"),
        (Self::Formula, "Errors in formulas"),
        (Self::Numerics, "Numerical noise"),
        (Self::Trivial, "No better than the largest class or the mean"),
        (Self::NoGain, "No gain where one is claimed"),
        (Self::Print, "Printed numbers that cannot be right"),
        (Self::Bounds, "Bounds that guarantee little"),
        (Self::Holds, "What comes out as printed"),
    ];
}

/// What the sentence around a number says of it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    above: Option<f64>,
    below: Option<f64>,
}

/// Cells of one variant of a table: the named datasets by the named methods; all, where none is
/// named.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// `askl/table2`.
    pub artefact: String,
    /// `released`.
    pub variant: String,
    /// Datasets.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Methods.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Whether the cause is known of these cells, where that is not so of all cells of the page.
    #[serde(default)]
    pub cause_known: Option<bool>,
    /// On which side of the print what the page says puts ours: a cell on the other side is not
    /// explained by it.
    #[serde(default)]
    pub ours: Option<Side>,
    /// Words of which a cell's label has all, where several numbers of a cell are judged.
    #[serde(default)]
    pub label: Vec<String>,
}

/// A side of a printed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Ours is the larger.
    Above,
    /// Ours is the smaller.
    Below,
}

impl Cells {
    /// Whether a cell leads here whose number is so much above the printed one.
    pub fn lead(&self, difference: f64) -> bool {
        match self.ours {
            None => true,
            Some(Side::Above) => difference > 0.0,
            Some(Side::Below) => difference < 0.0,
        }
    }

    /// Whether its words are those of a label.
    pub fn speak_of(&self, label: &str) -> bool {
        self.label.iter().all(|words| label.contains(words.as_str()))
    }

    /// Whether a cell is among them.
    pub fn include(&self, artefact: &str, variant: &str, dataset: &str, method: &str) -> bool {
        let among =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        self.artefact == artefact
            && self.variant == variant
            && among(&self.datasets, dataset)
            && among(&self.methods, method)
    }
}

/// The finding that explains a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// Its id.
    pub finding: &'static str,
    /// Whether it says why the cell differs.
    pub known: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    title: String,
    mistake: Mistake,
    explains: Vec<String>,
    #[serde(default)]
    cells: Vec<Cells>,
    #[serde(default = "yes")]
    cause_known: bool,
    shown_by: String,
    #[serde(default)]
    quoted: Vec<String>,
    #[serde(default)]
    numbers: BTreeMap<String, Query>,
    #[serde(default)]
    asserted: BTreeMap<String, Bounds>,
}

/// What stands between two lines of +++ at the start of a file, and the text below.
pub(crate) fn front_matter<T: DeserializeOwned>(
    file: &str,
    text: &'static str,
) -> Result<(T, &'static str), ExperimentError> {
    let fault = |reason: String| ExperimentError::Form { file: file.to_owned(), reason };
    let parts = text.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++\n"));
    let (front, body) = parts
        .ok_or_else(|| fault("it must begin with front matter between lines of +++".to_owned()))?;
    let front = toml::from_str(front).map_err(|error| fault(error.to_string()))?;
    Ok((front, body.trim()))
}

const fn yes() -> bool {
    true
}

impl Finding {
    pub(crate) fn parse(id: &'static str, text: &'static str) -> Result<Self, ExperimentError> {
        let (front, body) = front_matter(&format!("findings/{id}.md"), text)?;
        let Front {
            title,
            mistake,
            explains,
            cells,
            cause_known,
            shown_by,
            quoted,
            numbers,
            asserted,
        }: Front = front;
        Ok(Self {
            id,
            title,
            mistake,
            explains,
            cells,
            cause_known,
            shown_by,
            quoted,
            numbers,
            asserted,
            body,
        })
    }

    /// The text with every number filled in; a number without records reads "(not run)".
    ///
    /// # Errors
    /// If a query names a study or a paper that does not exist.
    pub fn text(&self, context: &RenderContext<'_>) -> Result<String, ExperimentError> {
        spelled(self.body, &self.numbers, context)
    }

    /// Whether every number has its records.
    ///
    /// # Errors
    /// As [`Finding::text`].
    pub fn answered(&self, context: &RenderContext<'_>) -> Result<bool, ExperimentError> {
        for query in self.numbers.values() {
            if query.answer(context)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Numbers that are no longer what the sentences around them say: `poker is 21.01, not below 1`.
    /// Records that came since may have moved them. One without records contradicts nothing.
    ///
    /// # Errors
    /// As [`Finding::text`].
    pub fn contradictions(
        &self,
        context: &RenderContext<'_>,
    ) -> Result<Vec<String>, ExperimentError> {
        let mut found = Vec::new();
        for (name, &Bounds { above, below }) in &self.asserted {
            let Some(value) =
                self.numbers.get(name).map(|query| query.answer(context)).transpose()?.flatten()
            else {
                continue;
            };
            let fails = |bound: f64, sign: f64| value.is_nan() || sign * (value - bound) <= 0.0;
            let sides = [(above, 1.0, "above"), (below, -1.0, "below")];
            for (bound, sign, side) in sides {
                if let Some(bound) = bound.filter(|bound| fails(*bound, sign)) {
                    found.push(format!("{name} is {value:.4}, not {side} {bound}"));
                }
            }
        }
        Ok(found)
    }

    /// Whether it explains cells: every number has its records and is what the sentence around it says.
    ///
    /// # Errors
    /// As [`Finding::text`].
    pub fn stands(&self, context: &RenderContext<'_>) -> Result<bool, ExperimentError> {
        Ok(self.answered(context)? && self.contradictions(context)?.is_empty())
    }

    /// Whether it leads to a cell, by a number of that label which is so much above the printed one.
    pub(crate) fn cause(&self, key: &Key, label: &str, difference: Option<f64>) -> Option<Cause> {
        let leads = |cells: &&Cells| {
            cells.include(&key.artefact, &key.variant, &key.dataset, &key.method)
                && cells.speak_of(label)
                && difference.is_none_or(|difference| cells.lead(difference))
        };
        let cells = self.cells.iter().find(leads)?;
        Some(Cause { finding: self.id, known: cells.cause_known.unwrap_or(self.cause_known) })
    }

    /// What is wrong with the page itself: a hole without a query, a query without a hole, a bare
    /// number that is not declared as quoted.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut bare = self.body.to_owned();
        for name in self.numbers.keys() {
            let hole = format!("{{{name}}}");
            if !bare.contains(&hole) {
                faults.push(format!("`{name}` is asked for but not used"));
            }
            bare = bare.replace(&hole, "");
        }
        if bare.contains(['{', '}']) {
            faults.push("a hole has no query".to_owned());
        }
        let strangers = self.asserted.keys().filter(|name| !self.numbers.contains_key(*name));
        faults.extend(strangers.map(|name| format!("`{name}` is asserted but not asked for")));
        for quoted in &self.quoted {
            bare = bare.replace(quoted.as_str(), "");
        }
        let words =
            bare.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        // Names such as `table2` and L1 carry digits but are no numbers.
        let numbers = words.filter(|word| !word.contains(|c: char| c.is_ascii_alphabetic()));
        faults.extend(numbers.map(|word| format!("`{word}` is neither asked for nor quoted")));
        faults
    }
}
