//! Tables: rows of cells under heads, written in four languages.

mod csv;
mod html;
mod latex;
mod markdown;
mod pair;

pub use pair::{Estimate, EstimatePair};

pub(crate) use html::{badge as html_badge, caption as html_caption, notes as html_notes};

/// A table: knows what its cells say and how they look, not what they mean.
///
/// All texts are plain; each language escapes them in its own way. Bold and underline mean
/// whatever the caller's caption says that they mean.
///
/// ```
/// use mercer_render::{Cell, Column, Row, Table};
/// let table = Table::new("demo/table", "Test accuracy")
///     .columns([Column::left("Dataset"), Column::right("SK"), Column::right("ASKL")])
///     .row(Row::new([
///         Cell::text("segment"),
///         Cell::mean_std(89.931, 1.46, 2).repeats("7/30"),
///         Cell::mean_std(96.687, 0.98, 2).repeats("7/30").bold(),
///     ]));
/// assert!(table.to_markdown().contains("| segment | 89.93±1.46 (7/30) | **96.69±0.98** (7/30) |"));
/// assert!(table.to_latex().contains("segment & 89.93$\\pm$1.46"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name, unique in a report: `askl/table2`.
    pub id: String,
    /// One line.
    pub title: String,
    /// What is shown and how to read it.
    pub caption: String,
    /// Heads, from the left.
    pub columns: Vec<Column>,
    /// Rows, from the top; each has a cell a column.
    pub rows: Vec<Row>,
    /// Lines below the table.
    pub notes: Vec<String>,
}

/// Where the text of a column stands.
///
/// ```
/// use mercer_render::{Align, Cell, Column, Row, Table};
/// let column = |align| Column { head: "n".into(), align, ..Column::default() };
/// let markdown = |align| {
///     Table::new("demo/align", "T").columns([column(align)]).row(Row::new([Cell::text("1")])).to_markdown()
/// };
/// assert!(markdown(Align::Right).contains("-:"));
/// assert!(!markdown(Align::Left).contains("-:"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Text.
    #[default]
    Left,
    /// Short marks.
    Center,
    /// Numbers.
    Right,
}

/// A head.
///
/// ```
/// use mercer_render::{Align, Cell, Column, Row, Table};
/// let grouped = |head| Column { group: Some("letter".into()), ..Column::right(head) };
/// let table = Table::new("demo/heads", "T")
///     .columns([grouped("SK"), grouped("ASKL")])
///     .row(Row::new([Cell::number(1.0, 1), Cell::number(2.0, 1)]));
/// assert_eq!(table.columns[0].align, Align::Right);
/// assert!(table.to_csv().starts_with("letter: SK,letter: ASKL\r\n"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Its text.
    pub head: String,
    /// A head that spans this column and its neighbours of the same group.
    pub group: Option<String>,
    /// Where the text stands.
    pub align: Align,
}

/// A row.
///
/// ```
/// use mercer_render::{Cell, Column, Row, Table};
/// let row = Row { group: Some("Small".into()), ..Row::new([Cell::text("wine"), Cell::number(2.0, 0)]) };
/// let table = Table::new("demo/rows", "T").columns([Column::left("Dataset"), Column::right("n")]).row(row);
/// assert!(table.to_csv().contains("Small,wine,2")); // a section has the first column
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// One cell a column; the first one heads the row.
    pub cells: Vec<Cell>,
    /// The section that the row belongs to; its name is printed above the first row of each run.
    pub group: Option<String>,
    /// Its address in a report, for links to it.
    pub id: Option<String>,
}

/// What a badge tells at a glance; it carries its text too, so colour is never alone.
///
/// ```
/// use mercer_render::{Badge, Cell, Column, Kind, Row, Table};
/// assert_eq!(Kind::default(), Kind::Neutral);
/// let cell = |kind| Cell { badge: Some(Badge { text: "agrees".into(), kind }), ..Cell::text("95.0") };
/// let text = |kind| {
///     Table::new("demo/kind", "T").columns([Column::left("c")]).row(Row::new([cell(kind)])).to_markdown()
/// };
/// assert!(text(Kind::Good).contains("95.0 ✓") && text(Kind::Bad).contains("95.0 ✗"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// As hoped: exact, agrees, holds.
    Good,
    /// Against it: differs, does not hold.
    Bad,
    /// Against it, for a reason that is known.
    Explained,
    /// Against it, shown, for an unknown reason.
    Shown,
    /// Neither: undecided.
    #[default]
    Neutral,
    /// Not comparable: short, missing.
    Muted,
}

/// A short word on a coloured ground.
///
/// ```
/// use mercer_render::{Badge, Cell, Column, Kind, Row, Table};
/// let badge = Badge { text: "exact".into(), kind: Kind::Good };
/// let cell = Cell { badge: Some(badge), ..Cell::number(95.0, 1) };
/// let table = Table::new("demo/badge", "T").columns([Column::right("ours")]).row(Row::new([cell]));
/// assert!(table.to_markdown().contains("exact") && table.to_latex().contains("exact"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Badge {
    /// The word.
    pub text: String,
    /// Its colour.
    pub kind: Kind,
}

/// One cell.
///
/// ```
/// use mercer_render::{Cell, Column, Row, Table};
/// let cell = Cell::mean_std(0.5, 0.25, 2).bold();
/// assert_eq!((cell.text.as_str(), cell.sort), ("0.50±0.25", Some(0.5))); // sorted as the number it is
/// let table = Table::new("demo/cell", "T").columns([Column::right("a_b")]).row(Row::new([cell]));
/// assert!(table.to_markdown().contains("**0.50±0.25**"));
/// assert!(table.to_latex().contains("a\\_b"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// In bold.
    pub bold: bool,
    /// Underlined.
    pub underline: bool,
    /// The number to sort by; a cell without one sorts last among numbers.
    pub sort: Option<f64>,
    /// How many repeats stand behind it, `7/30`.
    pub repeats: Option<String>,
    /// A verdict.
    pub badge: Option<Badge>,
    /// A second, smaller line: the published value, a remedy, a p-value.
    pub detail: Option<String>,
    /// Where a click leads: an id of the same report, or an address with a scheme or a path.
    pub link: Option<String>,
    /// Drawn before the text on a page, and nowhere else.
    pub pair: Option<EstimatePair>,
    /// What a page shows after a click on the text, with the detail.
    pub drawer: Option<Drawer>,
}

/// What stands behind a number: a page shows it after a click, with the cell's detail.
///
/// ```
/// use mercer_render::{Cell, Column, Drawer, Row, Table};
/// let repeats = vec![91.0, 92.0];
/// let drawer = Drawer { cell: "demo:tuned:askl:wine".into(), repeats, ..Drawer::default() };
/// let row = Row::new([Cell::number(91.5, 1).drawer(drawer)]);
/// let page = Table::new("demo/drawer", "T").columns([Column::right("ours")]).row(row).to_html();
/// assert!(page.contains("data-cell=\"demo:tuned:askl:wine\"") && page.contains("data-repeats=\"91 92\""));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Drawer {
    /// `ARTEFACT:VARIANT:METHOD:DATASET`, which `mercer show` and `mercer reproduce` find; empty where they do not.
    pub cell: String,
    /// The number of each repeat.
    pub repeats: Vec<f64>,
    /// Mean and standard deviation beside which the repeats are drawn; NaN where no deviation is known.
    pub beside: Option<(f64, f64)>,
    /// A line above the detail.
    pub text: String,
}

/// A p-value: two decimals, or a power of ten where that would say nothing.
///
/// ```
/// assert_eq!(mercer_render::probability(0.898), "0.90");
/// assert_eq!(mercer_render::probability(0.0547), "0.055"); // and not 0.05
/// assert_eq!(mercer_render::probability(4.88e-4), "5e-4");
/// ```
pub fn probability(p: f64) -> String {
    match p {
        // On which side of the level it is must be seen.
        0.045..0.055 => format!("{p:.3}"),
        0.01.. => format!("{p:.2}"),
        _ => format!("{p:.0e}"),
    }
}

/// A number with a fixed count of decimals; `-` if it is not finite, and no negative zero.
///
/// ```
/// assert_eq!(mercer_render::number(-0.001, 2), "0.00");
/// assert_eq!(mercer_render::number(f64::NAN, 2), "-");
/// ```
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
        _ => text,
    }
}

impl Table {
    /// An empty table.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self { id: id.into(), title: title.into(), ..Self::default() }
    }

    /// With this caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// With these heads after those that are there.
    #[must_use]
    pub fn columns(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// With one more row.
    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    /// With one more line below.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// A `table` environment for LaTeX with the packages `booktabs` and `adjustbox`, which fits it to the page. Second lines stand in a small row of
    /// their own, badges are small.
    ///
    /// # Panics
    /// If a row has not one cell a column.
    pub fn to_latex(&self) -> String {
        self.assert_shape();
        latex::table(self)
    }

    /// A pipe table with its title, caption and notes.
    ///
    /// # Panics
    /// If a row has not one cell a column.
    pub fn to_markdown(&self) -> String {
        self.assert_shape();
        markdown::table(self)
    }

    /// A list for rows whose second lines are long: a head a section, an item a row, and below it a line for each
    /// part of a second line.
    ///
    /// ```
    /// use mercer_render::{Badge, Cell, Column, Kind, Row, Table};
    /// let badge = Badge { text: "holds".into(), kind: Kind::Good };
    /// let came_out = Cell { badge: Some(badge), detail: Some("gain 2; p = 0.01".into()), ..Cell::default() };
    /// let table = Table::new("answers", "Claims")
    ///     .columns(["Variant", "What came out"].map(Column::left))
    ///     .row(Row::new([Cell::text("tuned"), came_out]).under("A beats B"));
    /// let list = "## Claims\n\n**A beats B**\n\n- tuned: *holds*\n  - gain 2\n  - p = 0.01\n";
    /// assert_eq!(table.to_markdown_list(), list);
    /// ```
    ///
    /// # Panics
    /// If a row has not one cell a column.
    pub fn to_markdown_list(&self) -> String {
        self.assert_shape();
        markdown::list(self)
    }

    /// Comma-separated values (RFC 4180): a line of heads (`group: head`), then the rows. Repeats,
    /// badges and second lines have columns of their own, beside the cell's, where there are any;
    /// sections have the first column.
    ///
    /// # Panics
    /// If a row has not one cell a column.
    pub fn to_csv(&self) -> String {
        self.assert_shape();
        csv::table(self)
    }

    /// A `figure` element with caption, table and notes. The script of
    /// [`Report`](crate::Report) makes it sortable; it reads well without.
    ///
    /// # Panics
    /// If a row has not one cell a column.
    pub fn to_html(&self) -> String {
        self.assert_shape();
        html::table(self)
    }

    fn assert_shape(&self) {
        for (i, row) in self.rows.iter().enumerate() {
            assert_eq!(
                row.cells.len(),
                self.columns.len(),
                "row {i} of table {:?} must have a cell a column",
                self.id
            );
        }
    }

    /// Runs of neighbouring columns with the same group: `(group, count)`.
    fn spans(&self) -> Vec<(Option<&str>, usize)> {
        let mut spans: Vec<(Option<&str>, usize)> = Vec::new();
        for column in &self.columns {
            let group = column.group.as_deref();
            match spans.last_mut() {
                Some((last, count)) if *last == group => *count += 1,
                _ => spans.push((group, 1)),
            }
        }
        spans
    }

    /// Runs of neighbouring rows with the same group.
    fn sections(&self) -> impl Iterator<Item = (Option<&str>, &[Row])> {
        self.rows.chunk_by(|a, b| a.group == b.group).map(|rows| (rows[0].group.as_deref(), rows))
    }
}

impl Column {
    fn new(head: impl Into<String>, align: Align) -> Self {
        Self { head: head.into(), group: None, align }
    }

    /// A column of text.
    pub fn left(head: impl Into<String>) -> Self {
        Self::new(head, Align::Left)
    }

    /// A column of short marks.
    pub fn center(head: impl Into<String>) -> Self {
        Self::new(head, Align::Center)
    }

    /// A column of numbers.
    pub fn right(head: impl Into<String>) -> Self {
        Self::new(head, Align::Right)
    }

    /// Under this spanning head.
    #[must_use]
    pub fn under(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }
}

impl Row {
    /// A row of these cells.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self { cells: cells.into_iter().collect(), ..Self::default() }
    }

    /// With this address in a report.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// In this section.
    #[must_use]
    pub fn under(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }
}

impl Badge {
    /// A word in a colour.
    pub fn new(text: impl Into<String>, kind: Kind) -> Self {
        Self { text: text.into(), kind }
    }
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number with so many decimals; `-` if it is not finite.
    pub fn number(value: f64, digits: usize) -> Self {
        Self { text: number(value, digits), sort: finite(value), ..Self::default() }
    }

    /// A whole number.
    pub fn count(value: usize) -> Self {
        Self { text: value.to_string(), sort: Some(value as f64), ..Self::default() }
    }

    /// `mean±std` with so many decimals: the mean alone if the deviation is not finite (one
    /// repeat), `-` if the mean is not. Sorts by the mean.
    pub fn mean_std(mean: f64, std: f64, digits: usize) -> Self {
        let mut cell = Self::number(mean, digits);
        if mean.is_finite() && std.is_finite() {
            cell.text.push('±');
            cell.text.push_str(&number(std, digits));
        }
        cell
    }

    /// A cell without a value: what is missing and how to get it.
    ///
    /// ```
    /// let cell = mercer_render::Cell::missing("data missing", "mercer data fetch sensorless");
    /// assert_eq!(cell.detail.as_deref(), Some("mercer data fetch sensorless"));
    /// ```
    pub fn missing(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into()).filter(|remedy| !remedy.is_empty());
        let badge = Some(Badge::new(what, Kind::Muted));
        Self { text: "-".to_owned(), badge, detail: remedy, ..Self::default() }
    }

    /// With the count of repeats behind it, `7/30`.
    #[must_use]
    pub fn repeats(mut self, repeats: impl Into<String>) -> Self {
        self.repeats = Some(repeats.into());
        self
    }

    /// In bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Underlined.
    #[must_use]
    pub fn underline(mut self) -> Self {
        self.underline = true;
        self
    }

    /// With a verdict.
    #[must_use]
    pub fn badge(mut self, text: impl Into<String>, kind: Kind) -> Self {
        self.badge = Some(Badge::new(text, kind));
        self
    }

    /// With a second line.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// With a page's detail, and what the badge adds after a comma, behind a click.
    ///
    /// ```
    /// use mercer_render::{Cell, Column, Drawer, Kind, Row, Table};
    /// let cell = Cell::number(91.5, 1).badge("differs +0.7, unexplained", Kind::Bad).detail("p = 0.2");
    /// let cell = cell.drawer(Drawer::default());
    /// let page = Table::new("demo/drawer", "T").columns([Column::right("ours")]).row(Row::new([cell])).to_html();
    /// assert!(page.contains("differs +0.7</span>") && page.contains("unexplained; p = 0.2"));
    /// ```
    #[must_use]
    pub fn drawer(mut self, drawer: Drawer) -> Self {
        self.drawer = Some(drawer);
        self
    }

    /// With a link.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// With two estimates drawn before it.
    #[must_use]
    pub fn pair(mut self, pair: EstimatePair) -> Self {
        self.pair = Some(pair);
        self
    }

    /// Sorted by this number.
    #[must_use]
    pub fn sort(mut self, value: f64) -> Self {
        self.sort = finite(value);
        self
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
