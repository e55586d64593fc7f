//! What an artefact becomes: tables, drawings, and the cells behind them.

use crate::{Comparison, ExperimentError, StudyCell};
use mercer_render::{Diagram, Figure, Table};
use serde::Serialize;

/// How a table is headed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub caption: &'a str,
}

/// A table or figure among several of an artefact.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub id: String,
    pub title: String,
    pub caption: String,
}

impl Head<'_> {
    /// With a name behind the artefact's own, a title and a caption, where they are given.
    pub fn with(self, name: Option<&str>, title: Option<&str>, caption: Option<&str>) -> Own {
        let id = name.map_or_else(|| self.id.to_owned(), |name| format!("{}-{name}", self.id));
        let [title, caption] =
            [title.unwrap_or(self.title), caption.unwrap_or(self.caption)].map(str::to_owned);
        Own { id, title, caption }
    }

    /// A fault of what the artefact's file asks for, with the name of the file.
    pub fn in_file(self, error: ExperimentError) -> ExperimentError {
        match error {
            ExperimentError::Form { file, reason } if file == crate::query::ASKED_BY => {
                let file = format!("artefacts/{}.toml", self.id.replacen('/', "-", 1));
                ExperimentError::Form { file, reason }
            }
            other => other,
        }
    }
}

/// What a rendering leaves.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Tables, in order.
    pub tables: Vec<Table>,
    /// Figures and diagrams, in order.
    pub drawings: Vec<Drawing>,
    /// The cells behind the tables, for `--json`.
    pub cells: Vec<CellReport>,
}

/// A figure with numbers, or one drawn from structure alone.
#[derive(Debug, Clone)]
pub enum Drawing {
    /// Curves and points.
    Figure(Figure),
    /// Boxes and arrows.
    Diagram(Diagram),
}

impl Drawing {
    /// `askl/figure3`.
    pub fn id(&self) -> &str {
        match self {
            Self::Figure(figure) => &figure.id,
            Self::Diagram(diagram) => &diagram.id,
        }
    }
}

/// One cell as `reproduce --json` prints it: percentages and target units as the paper has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CellReport {
    /// `askl/table2`.
    pub artefact: String,
    /// Dataset.
    pub dataset: String,
    /// Name of the method in the registry.
    pub method: String,
    /// Head of the column.
    pub label: String,
    /// Variant.
    pub variant: String,
    /// `accuracy` (percent) or `rmse` (target units).
    pub metric: String,
    /// Mean over the repeats with a score.
    pub mean: Option<f64>,
    /// Deviation divided by `J − 1`.
    pub std: Option<f64>,
    /// Repeats with a score.
    pub repeats: usize,
    /// Repeats of the paper.
    pub repeats_of_paper: u32,
    /// How the settings were found.
    pub tuning: String,
    /// The printed number.
    pub published: Option<PublishedNumber>,
    /// `exact`, `agrees`, `by choice`, `differs`, `open`, `short`, `missing`, or nothing where nothing was printed.
    pub verdict: Option<String>,
    /// The finding that explains why it differs; none where that is an open question.
    pub finding: Option<String>,
    /// Whether that finding says why, or only that neither the text nor the code gives the number.
    pub cause_known: Option<bool>,
    /// Our mean minus theirs.
    pub difference: Option<f64>,
    /// Welch's 95 % interval of that difference.
    pub interval: Option<(f64, f64)>,
    /// Its mean minus that of the best of the paper's methods, over the repeats that both have; none
    /// where it is that best.
    pub over_best: Option<f64>,
    /// Against the best of the paper's methods in the row: p of the paper's test.
    pub p_naive: Option<f64>,
    /// Against the best of the paper's methods in the row: p of the corrected test; where the test part is fixed,
    /// the larger of the bootstrap's over rows and seeds and the t-test's over seeds.
    pub p_corrected: Option<f64>,
    /// McNemar's exact test on the pair of each seed, where the test part is fixed.
    pub p_mcnemar: Vec<f64>,
    /// Repeats common to it and that best; none where it is the best.
    pub pairs: usize,
    /// Whether the differences have no spread: p is then 0 or 1 by convention, not by evidence.
    pub degenerate: bool,
    /// Best mean of the paper's methods in its row.
    pub best: bool,
    /// Why there is no score, if there is none.
    pub note: Option<String>,
    /// The number of each repeat, as `mean` is.
    #[serde(skip)]
    pub values: Vec<f64>,
}

impl CellReport {
    /// Of a cell with its score, beside another if there is one.
    pub(crate) fn of(artefact: &str, cell: &StudyCell, against: Option<&Comparison>) -> Self {
        let (key, score) = (cell.key(), cell.score());
        Self {
            artefact: artefact.to_owned(),
            dataset: key.dataset.clone(),
            method: key.method.clone(),
            label: cell.label().to_owned(),
            variant: key.variant.clone(),
            metric: cell.metric().name().to_owned(),
            mean: score.map(|score| score.mean),
            std: score.map(|score| score.std),
            repeats: score.map_or(0, |score| score.repeats),
            repeats_of_paper: cell.repeats_of_paper(),
            tuning: cell.tuning().to_owned(),
            values: cell.values().into_iter().map(|(_, value)| value).collect(),
            p_naive: against.and_then(|test| test.p_naive),
            p_corrected: against.map(|test| test.p_corrected),
            p_mcnemar: against.map_or_else(Vec::new, |test| test.p_mcnemar.clone()),
            pairs: against.map_or(0, |test| test.pairs),
            degenerate: against.is_some_and(|test| test.degenerate),
            ..Self::default()
        }
    }
}

/// A printed mean with its deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedNumber {
    /// Mean.
    pub mean: f64,
    /// Deviation.
    pub std: f64,
}
