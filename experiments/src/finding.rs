use crate::query::Query;
use crate::{Desk, ExperimentError};
use mercer_records::Key;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The pages, by file name.
const PAGES: &[(&str, &str)] = &[
    ("askl-frozen-read-out", include_str!("../findings/askl-frozen-read-out.md")),
    ("askl-frozen-cannot-reach", include_str!("../findings/askl-frozen-cannot-reach.md")),
    ("askl-unclipped-is-harmless", include_str!("../findings/askl-unclipped-is-harmless.md")),
    (
        "askl-code-minimises-something-else",
        include_str!("../findings/askl-code-minimises-something-else.md"),
    ),
    ("askl-norm-or-square", include_str!("../findings/askl-norm-or-square.md")),
    ("askl-fixed-columns", include_str!("../findings/askl-fixed-columns.md")),
    ("askl-half-a-kernel", include_str!("../findings/askl-half-a-kernel.md")),
    ("askl-scaling-decides", include_str!("../findings/askl-scaling-decides.md")),
    ("askl-worse-than-the-mean", include_str!("../findings/askl-worse-than-the-mean.md")),
    (
        "askl-real-on-abalone-and-cpusmall",
        include_str!("../findings/askl-real-on-abalone-and-cpusmall.md"),
    ),
    ("askl-majority-on-poker", include_str!("../findings/askl-majority-on-poker.md")),
    ("askl-one-epoch-on-satimage", include_str!("../findings/askl-one-epoch-on-satimage.md")),
    ("askl-tuned-for-one-method", include_str!("../findings/askl-tuned-for-one-method.md")),
    (
        "askl-objectives-do-not-compare",
        include_str!("../findings/askl-objectives-do-not-compare.md"),
    ),
    ("askl-deviations-too-large", include_str!("../findings/askl-deviations-too-large.md")),
    ("askl-underlines-contradict", include_str!("../findings/askl-underlines-contradict.md")),
    ("rftk-penalty-shows-no-gain", include_str!("../findings/rftk-penalty-shows-no-gain.md")),
    (
        "rftk-noise-of-single-precision",
        include_str!("../findings/rftk-noise-of-single-precision.md"),
    ),
    ("rftk-vowel-left-out", include_str!("../findings/rftk-vowel-left-out.md")),
    ("rftk-frequencies-too-fast", include_str!("../findings/rftk-frequencies-too-fast.md")),
    ("rftk-trace-and-accuracy", include_str!("../findings/rftk-trace-and-accuracy.md")),
    ("rftk-kernel-ridge-on-mnist", include_str!("../findings/rftk-kernel-ridge-on-mnist.md")),
    ("rftk-distance-in-parameters", include_str!("../findings/rftk-distance-in-parameters.md")),
    ("rftk-one-bandwidth-for-all", include_str!("../findings/rftk-one-bandwidth-for-all.md")),
    ("rftk-tuned-on-the-test-part", include_str!("../findings/rftk-tuned-on-the-test-part.md")),
    ("rftk-half-a-kernel", include_str!("../findings/rftk-half-a-kernel.md")),
    ("rftk-broadcast-loss", include_str!("../findings/rftk-broadcast-loss.md")),
    ("rftk-slope-beside-theorem-1", include_str!("../findings/rftk-slope-beside-theorem-1.md")),
    ("rftk-slips-of-the-text", include_str!("../findings/rftk-slips-of-the-text.md")),
    ("mce-two-rows-to-the-digit", include_str!("../findings/mce-two-rows-to-the-digit.md")),
    ("mce-mean-is-a-constant", include_str!("../findings/mce-mean-is-a-constant.md")),
    ("mce-other-folds", include_str!("../findings/mce-other-folds.md")),
    ("mce-median-is-level", include_str!("../findings/mce-median-is-level.md")),
    ("mce-median-per-column", include_str!("../findings/mce-median-per-column.md")),
    ("mce-bound-is-vacuous", include_str!("../findings/mce-bound-is-vacuous.md")),
    ("mce-bound-interpolates-yeast", include_str!("../findings/mce-bound-interpolates-yeast.md")),
    ("mce-scale-is-redundant", include_str!("../findings/mce-scale-is-redundant.md")),
    ("mce-one-for-alpha", include_str!("../findings/mce-one-for-alpha.md")),
    ("mce-networks-sum-too", include_str!("../findings/mce-networks-sum-too.md")),
    ("mce-batch-validation", include_str!("../findings/mce-batch-validation.md")),
    ("mce-one-draw", include_str!("../findings/mce-one-draw.md")),
    ("mce-slips-of-the-text", include_str!("../findings/mce-slips-of-the-text.md")),
    ("mce-scaled-over-the-file", include_str!("../findings/mce-scaled-over-the-file.md")),
    (
        "hyper-fertility-is-the-majority",
        include_str!("../findings/hyper-fertility-is-the-majority.md"),
    ),
    ("hyper-ijcnn1-is-the-majority", include_str!("../findings/hyper-ijcnn1-is-the-majority.md")),
    ("hyper-normaliser-is-a-ridge", include_str!("../findings/hyper-normaliser-is-a-ridge.md")),
    ("hyper-total-variance", include_str!("../findings/hyper-total-variance.md")),
    ("hyper-wishart-width-collapses", include_str!("../findings/hyper-wishart-width-collapses.md")),
    (
        "hyper-dank-is-the-plain-kernel",
        include_str!("../findings/hyper-dank-is-the-plain-kernel.md"),
    ),
    ("hyper-two-forms", include_str!("../findings/hyper-two-forms.md")),
    ("hyper-errors-follow-the-ridge", include_str!("../findings/hyper-errors-follow-the-ridge.md")),
    ("hyper-log-kernel-on-wine", include_str!("../findings/hyper-log-kernel-on-wine.md")),
    ("hyper-log-kernel-flipped", include_str!("../findings/hyper-log-kernel-flipped.md")),
    ("hyper-table3-needs-a-budget", include_str!("../findings/hyper-table3-needs-a-budget.md")),
    ("hyper-subsets-small-ridge", include_str!("../findings/hyper-subsets-small-ridge.md")),
    ("hyper-table3-outliers", include_str!("../findings/hyper-table3-outliers.md")),
    (
        "hyper-all-pairs-beat-the-majority",
        include_str!("../findings/hyper-all-pairs-beat-the-majority.md"),
    ),
    (
        "hyper-parts-do-not-average-away",
        include_str!("../findings/hyper-parts-do-not-average-away.md"),
    ),
    ("hyper-log-kernel-on-guide1-t", include_str!("../findings/hyper-log-kernel-on-guide1-t.md")),
    ("hyper-landmarks-are-enough", include_str!("../findings/hyper-landmarks-are-enough.md")),
    ("hyper-luck-of-a-fifth", include_str!("../findings/hyper-luck-of-a-fifth.md")),
    ("hyper-two-kinds-of-fits", include_str!("../findings/hyper-two-kinds-of-fits.md")),
    ("hyper-negative-eigenvalues", include_str!("../findings/hyper-negative-eigenvalues.md")),
    ("hyper-theorem8-index", include_str!("../findings/hyper-theorem8-index.md")),
    ("hyper-slips-of-the-text", include_str!("../findings/hyper-slips-of-the-text.md")),
    ("paired-t-false-alarms", include_str!("../findings/paired-t-false-alarms.md")),
    ("askl-tuned-below-the-code", include_str!("../findings/askl-tuned-below-the-code.md")),
    ("askl-bound-is-vacuous", include_str!("../findings/askl-bound-is-vacuous.md")),
    ("askl-bound-is-loose", include_str!("../findings/askl-bound-is-loose.md")),
    ("askl-slips-of-the-text", include_str!("../findings/askl-slips-of-the-text.md")),
];

/// Why numbers differ: a page whose every number is a query that is answered anew each time.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Its id: the file name.
    pub id: &'static str,
    /// One line.
    pub title: String,
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

const fn yes() -> bool {
    true
}

/// All findings.
///
/// # Errors
/// If a page's front matter does not have its form.
pub fn findings() -> Result<Vec<Finding>, ExperimentError> {
    PAGES.iter().map(|(id, text)| Finding::parse(id, text)).collect()
}

impl Finding {
    fn parse(id: &'static str, text: &'static str) -> Result<Self, ExperimentError> {
        let fault =
            |reason: String| ExperimentError::Form { file: format!("findings/{id}.md"), reason };
        let (front, body) =
            text.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++\n")).ok_or_else(
                || fault("it must begin with front matter between lines of +++".to_owned()),
            )?;
        let front: Front = toml::from_str(front).map_err(|error| fault(error.to_string()))?;
        let Front { title, explains, cells, cause_known, shown_by, quoted, numbers, asserted } =
            front;
        let body = body.trim();
        Ok(Self {
            id,
            title,
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
    pub fn text(&self, desk: &Desk<'_>) -> Result<String, ExperimentError> {
        let mut text = self.body.to_owned();
        for (name, query) in &self.numbers {
            let shown = query.answer(desk)?.map_or_else(
                || "(not run)".to_owned(),
                |value| mercer_render::number(value, query.digits()),
            );
            text = text.replace(&format!("{{{name}}}"), &shown);
        }
        Ok(text)
    }

    /// Whether every number has its records.
    ///
    /// # Errors
    /// As [`Finding::text`].
    pub fn answered(&self, desk: &Desk<'_>) -> Result<bool, ExperimentError> {
        for query in self.numbers.values() {
            if query.answer(desk)?.is_none() {
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
    pub fn contradictions(&self, desk: &Desk<'_>) -> Result<Vec<String>, ExperimentError> {
        let mut found = Vec::new();
        for (name, &Bounds { above, below }) in &self.asserted {
            let Some(value) =
                self.numbers.get(name).map(|query| query.answer(desk)).transpose()?.flatten()
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
    pub fn stands(&self, desk: &Desk<'_>) -> Result<bool, ExperimentError> {
        Ok(self.answered(desk)? && self.contradictions(desk)?.is_empty())
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
