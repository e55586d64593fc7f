use crate::board::Board;
use crate::errata::{self, Erratum};
use crate::pairs::{self, Pair};
use crate::rendered::{Head, Rendered};
use crate::results_table::ResultsTable;
use crate::{ExperimentError, RenderContext};
use serde::Deserialize;

/// Turns records into tables and figures; fits nothing.
pub type Renderer = fn(&RenderContext<'_>, &Artefact) -> Result<Rendered, ExperimentError>;

/// A table or figure of a paper, or one of ours: one TOML file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Artefact {
    /// `askl/table2`: the name of its file.
    #[serde(skip)]
    pub id: String,
    /// Its file, below the root of the repository.
    #[serde(skip)]
    pub source: String,
    /// Its place in the report.
    pub(crate) order: u32,
    /// One line.
    pub title: String,
    /// Studies whose records it shows.
    #[serde(default)]
    pub studies: Vec<String>,
    /// Datasets of those studies that it needs; empty means all.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Simulations whose records it shows.
    #[serde(default)]
    pub simulations: Vec<String>,
    /// What stands above the table.
    #[serde(default)]
    pub caption: String,
    /// A printed table of accuracies or errors beside ours.
    #[serde(default)]
    pub(crate) results: Option<ResultsTable>,
    /// Paired comparisons, a section each.
    #[serde(default, rename = "pair")]
    pub(crate) pairs: Vec<Pair>,
    /// Errors in print, a line each.
    #[serde(default, rename = "erratum")]
    pub(crate) errata: Vec<Erratum>,
    /// Methods ranked over the datasets of a study.
    #[serde(default)]
    pub(crate) board: Option<Board>,
    /// Whether it is ours, although its name is that of a table or figure of the paper.
    #[serde(default)]
    pub(crate) ours: bool,
    /// The file of the function that renders it, where none of the kinds above is all that it shows.
    #[serde(default)]
    pub code: Option<String>,
    #[serde(skip)]
    pub(crate) renderer: Option<Renderer>,
}

impl Artefact {
    /// Its tables and figures.
    ///
    /// # Errors
    /// Of the studies, the printed numbers or the tests.
    pub fn render(&self, context: &RenderContext<'_>) -> Result<Rendered, ExperimentError> {
        self.renderer.map_or_else(|| self.declared(context), |renderer| renderer(context, self))
    }

    /// What its file alone declares.
    ///
    /// # Errors
    /// As [`Artefact::render`].
    pub fn declared(&self, context: &RenderContext<'_>) -> Result<Rendered, ExperimentError> {
        let mut rendered = match (&self.results, &self.board) {
            (Some(results), _) => results.render(context, self.head())?,
            (None, Some(board)) => board.render(context, self.head())?,
            (None, None) => Rendered::default(),
        };
        if !self.pairs.is_empty() {
            let shown = pairs::render(context, self.head(), &self.pairs)?;
            rendered.tables.extend(shown.tables);
            rendered.cells.extend(shown.cells);
        }
        if !self.errata.is_empty() {
            rendered.tables.push(errata::table(self.head(), &self.errata));
        }
        Ok(rendered)
    }

    fn head(&self) -> Head<'_> {
        Head { id: &self.id, title: &self.title, caption: &self.caption }
    }

    /// What is wrong with its file.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let kinds = usize::from(self.results.is_some())
            + usize::from(self.board.is_some())
            + usize::from(!self.pairs.is_empty())
            + usize::from(!self.errata.is_empty());
        if self.code.is_some() != self.renderer.is_some() {
            return Some("`code` must be there where a function renders it, and nowhere else");
        }
        match (kinds, self.renderer) {
            (0, None) => Some(
                "nothing is shown: it needs [results], [board], [[pair]], [[erratum]] or `code`",
            ),
            (0 | 1, _) => None,
            _ => Some(
                "[results], [board], [[pair]] and [[erratum]] are tables of one name: take one of them",
            ),
        }
    }

    /// Whether it belongs to a paper: one of its tables and figures, an audit of it, its theory or its
    /// costs.
    pub(crate) fn is_of(&self, paper: &str) -> bool {
        let (folder, name) = self.id.split_once('/').unwrap_or((&self.id, ""));
        let about = || {
            let rest = name.strip_prefix(paper);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        folder == paper || (["audit", "theory", "complexity"].contains(&folder) && about())
    }
}
