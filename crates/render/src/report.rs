//! The HTML report: sections of tables, figures and prose on one self-contained page.

mod markdown;
mod page;
mod site;
mod theme;

pub use site::{search_index, site};

use crate::{Badge, Bars, Diagram, Figure, RenderError, Table};

/// A page of sections.
///
/// One file without any request: style, script and figures are inline, and a content policy in its
/// head forbids everything else. Tables sort by click or key (three states: up, down, as written),
/// a box filters the rows of all tables if there are any, light and dark follow the system or a button, printing
/// opens what is folded. An address that ends in `#sort=ID:COLUMN:descending&filter=TEXT&theme=dark`
/// (columns from 0, each part optional) opens it that way.
///
/// ```
/// use mercer_render::{Block, Cell, Column, Report, Row, Section, Table};
/// let table = Table::new("demo/table", "Accuracy")
///     .columns([Column::left("Dataset"), Column::right("SK")])
///     .row(Row::new([Cell::text("a<b"), Cell::number(89.9, 1)]));
/// let section = Section::new("demo", "A demonstration").intro("What *this* shows.").block(Block::Table(table));
/// let html = Report::new("Report").section(section).to_html()?;
/// assert!(html.contains("a&lt;b") && html.contains("<em>this</em>"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Head of the page.
    pub title: String,
    /// A line below it.
    pub subtitle: String,
    /// How it came about: name and value, shown at its end.
    pub provenance: Vec<(String, String)>,
    /// From the top.
    pub sections: Vec<Section>,
    /// Its file, if it is a page of a [`site`]: `index.html`.
    pub file: String,
    /// Its name in the header of the site; pages of one name have one entry.
    pub label: String,
}

/// A part of the page with an entry in its contents; its tables and figures have entries below.
///
/// ```
/// use mercer_render::{Block, RenderError, Report, Section};
/// let section = || Section::new("demo", "A part").intro("See <b>and</b> *this*.");
/// let html = Report::new("Report").section(section().block(Block::Text("- one".into()))).to_html()?;
/// assert!(html.contains("&lt;b&gt;") && html.contains("<em>this</em>") && html.contains("<li>"));
/// // Two parts of one address would make links ambiguous.
/// let twice = Report::new("Report").section(section()).section(section()).to_html();
/// assert!(matches!(twice, Err(RenderError::DuplicateId(id)) if id == "demo"));
/// # Ok::<(), RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Address, unique in the page.
    pub id: String,
    /// Head.
    pub title: String,
    /// Markdown.
    pub intro: String,
    /// From the top.
    pub blocks: Vec<Block>,
}

/// A part of a section.
///
/// Markdown means: paragraphs, heads, lists, pipe tables, fenced code, `code`, *emphasis*,
/// **strong**, links to `http(s)://`, `mailto:`, `./` and `../` paths or ids of the same page, and images
/// at `./` and `../` paths.
/// Everything else is text.
///
/// ```
/// use mercer_render::{Block, Finding, Link, Report, Section};
/// let finding = Finding { id: "f1".into(), title: "A misprint".into(), ..Finding::default() };
/// let link = Link { text: "Table 2".into(), target: "f1".into(), note: "explained".into() };
/// let section = Section::new("demo", "A part")
///     .block(Block::Findings(vec![finding]))
///     .block(Block::List(vec![link]))
///     .block(Block::Text("`code`".into()));
/// let html = Report::new("Report").section(section).to_html()?;
/// assert!(html.contains("A misprint") && html.contains("<code>code</code>"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// A diagram.
    Diagram(Diagram),
    /// Bars of counts, with a text beside each.
    Bars(Bars),
    /// Markdown.
    Text(String),
    /// Findings, folded.
    Findings(Vec<Finding>),
    /// Links.
    List(Vec<Link>),
}

/// A difference with its reason.
///
/// ```
/// use mercer_render::{Badge, Block, Finding, Kind, Report, Section};
/// let finding = Finding {
///     id: "sign".into(),
///     title: "A sign is lost".into(),
///     badge: Some(Badge { text: "differs".into(), kind: Kind::Bad }),
///     affects: vec![],
///     body: "In **(13)**.".into(),
/// };
/// let section = Section::new("demo", "Findings").block(Block::Findings(vec![finding]));
/// let html = Report::new("Report").section(section).to_html()?;
/// assert!(html.contains("id=\"sign\"") && html.contains("differs"));
/// assert!(html.contains("<strong>(13)</strong>"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finding {
    /// Address.
    pub id: String,
    /// One line.
    pub title: String,
    /// Its state.
    pub badge: Option<Badge>,
    /// Ids of the tables and figures that it explains.
    pub affects: Vec<String>,
    /// Markdown.
    pub body: String,
}

/// A link with a remark.
///
/// ```
/// use mercer_render::{Block, Link, Report, Section};
/// let link = |target: &str| Link { text: "data".into(), target: target.into(), note: "".into() };
/// let links = vec![link("https://archive.ics.uci.edu/"), link("demo")];
/// let section = Section::new("demo", "Links").block(Block::List(links));
/// let html = Report::new("Report").section(section).to_html()?;
/// assert!(html.contains("href=\"https://archive.ics.uci.edu/\"") && html.contains("href=\"#demo\""));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// What is clicked.
    pub text: String,
    /// Where it leads: an id of the page or an address.
    pub target: String,
    /// Written behind it.
    pub note: String,
}

impl Report {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With this line below the head.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// With one more line on how it came about.
    #[must_use]
    pub fn provenance(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.provenance.push((name.into(), value.into()));
        self
    }

    /// With one more section.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// As a page of a [`site`].
    #[must_use]
    pub fn page(mut self, file: impl Into<String>, label: impl Into<String>) -> Self {
        (self.file, self.label) = (file.into(), label.into());
        self
    }

    /// The page alone, without a header of other pages.
    ///
    /// # Errors
    /// [`RenderError::DuplicateId`] if two parts have one address; whatever a figure returns.
    ///
    /// # Panics
    /// If a row of a table has not one cell a column.
    pub fn to_html(&self) -> Result<String, RenderError> {
        Ok(page::page(self, "")?.0)
    }
}

impl Section {
    /// An empty section.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self { id: id.into(), title: title.into(), ..Self::default() }
    }

    /// With this Markdown below its head.
    #[must_use]
    pub fn intro(mut self, intro: impl Into<String>) -> Self {
        self.intro = intro.into();
        self
    }

    /// With one more block.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}
