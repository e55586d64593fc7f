use crate::board::Board;
use crate::curves::Curves;
use crate::errata::{self, Erratum};
use crate::facts::Facts;
use crate::growth::Exponents;
use crate::pairs::{self, Pair};
use crate::rendered::{Drawing, Head, Rendered};
use crate::results_table::ResultsTable;
use crate::structure::Structure;
use crate::{ExperimentError, RenderContext};
use serde::Deserialize;
use std::collections::BTreeSet;

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
    /// Tables of numbers that queries answer.
    #[serde(default)]
    pub(crate) facts: Vec<Facts>,
    /// Figures of lines.
    #[serde(default)]
    pub(crate) curves: Vec<Curves>,
    /// How the times that its simulations measured grow.
    #[serde(default)]
    pub(crate) timing: Option<Exponents>,
    /// Boxes and arrows.
    #[serde(default)]
    pub(crate) diagram: Option<Structure>,
    /// Whether it is ours, although its name is that of a table or figure of the paper.
    #[serde(default)]
    pub(crate) ours: bool,
    /// Its tables that stand on the page of the audits, by what their names have behind its own.
    #[serde(default)]
    pub(crate) aside: Vec<String>,
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
        for facts in &self.facts {
            rendered.tables.push(facts.render(context, self.head())?);
        }
        if let Some(timing) = &self.timing {
            rendered.tables.push(timing.table(context, self.head(), &self.simulations)?);
        }
        for curves in &self.curves {
            let figure = curves.render(context, self.head())?;
            rendered.drawings.extend(figure.map(Drawing::Figure));
        }
        let diagram = self.diagram.as_ref().map(|diagram| diagram.diagram(self.head()));
        rendered.drawings.extend(diagram.map(Drawing::Diagram));
        Ok(rendered)
    }

    fn head(&self) -> Head<'_> {
        Head { id: &self.id, title: &self.title, caption: &self.caption }
    }

    /// What is wrong with its file.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        if self.code.is_some() != self.renderer.is_some() {
            return Some("`code` must be there where a function renders it, and nowhere else");
        }
        let unnamed = [
            self.results.is_some(),
            self.board.is_some(),
            !self.pairs.is_empty(),
            !self.errata.is_empty(),
            self.diagram.is_some(),
        ];
        let names = unnamed.into_iter().filter(|there| *there).map(|_| None);
        let names = names.chain(self.facts.iter().map(|facts| facts.name.as_deref()));
        let names = names.chain(self.curves.iter().map(|curves| curves.name.as_deref()));
        let names = names.chain(self.timing.iter().map(|timing| timing.name.as_deref()));
        let names: Vec<Option<&str>> = names.collect();
        if names.is_empty() && self.renderer.is_none() {
            return Some(
                "nothing is shown: it needs [results], [board], [[pair]], [[erratum]], [[facts]], [[curves]], [timing], [diagram] or `code`",
            );
        }
        (names.iter().collect::<BTreeSet<_>>().len() < names.len())
            .then_some("two of its tables and figures have one name: give all but one a `name`")
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
