//! Printed numbers judged one by one, in tables that are no grid of datasets and methods.

use crate::published::PublishedCell;
use crate::rendered::PublishedNumber;
use crate::{CellReport, ExperimentError, RenderContext, StudyCell};
use mercer_render::{Cell, Column, Drawer, Kind, Row, Table};
use mercer_statistics::{Ours, Published, Verdict, summarise, verdict, verdict_on_error};

/// A printed number with ours, both in the unit in which it is judged.
pub struct PublishedComparison<'a> {
    /// `hyper/table1`.
    pub artefact: &'a str,
    /// Where ours come from.
    pub cell: &'a StudyCell,
    /// What it is, with the paper's name of the method.
    pub label: String,
    /// `accuracy` or `rmse`.
    pub metric: &'static str,
    /// One number a repeat.
    pub values: Vec<f64>,
    /// The printed one, if there is one.
    pub theirs: Option<&'a PublishedCell>,
    /// What the printed one is multiplied by, a power of ten: hundredths are judged as points are.
    pub scale: f64,
    /// Repeats behind it, where a deviation is printed; one without a deviation stands for itself.
    pub repeats: usize,
}

impl PublishedComparison<'_> {
    /// The verdict, and the finding that explains it where it says `differs`.
    ///
    /// # Errors
    /// Of the verdict, if a number is not finite.
    pub fn report(&self, context: &RenderContext<'_>) -> Result<CellReport, ExperimentError> {
        let key = self.cell.key();
        let ours = summarise(&self.values);
        let theirs = self.theirs.map(|cell| self.printed(cell));
        let judgement = match (&ours, theirs) {
            (Some(_), Some(theirs)) => {
                let ours = Ours {
                    values: self.values.clone(),
                    paper_repeats: self.cell.repeats_of_paper() as usize,
                    complete: self.cell.complete(),
                };
                Some(if self.metric == "accuracy" {
                    verdict(&ours, &theirs)?
                } else {
                    verdict_on_error(&ours, &theirs)?
                })
            }
            _ => None,
        };
        // Judged in points, reported in the unit of the table.
        let unit = |value: f64| value / self.scale;
        let word = judgement.map_or("missing", |judgement| word(judgement.verdict));
        let cause = match word {
            "differs" => {
                context.cause(key, &self.label, judgement.map(|found| found.difference))?
            }
            _ => None,
        };
        Ok(CellReport {
            label: self.label.clone(),
            metric: self.metric.to_owned(),
            mean: ours.as_ref().map(|ours| unit(ours.mean)),
            std: ours.as_ref().map(|ours| unit(ours.sample_std)),
            repeats: self.values.len(),
            published: theirs
                .map(|cell| PublishedNumber { mean: unit(cell.mean), std: unit(cell.std) }),
            verdict: theirs.map(|_| word.to_owned()),
            finding: cause.map(|cause| cause.finding.to_owned()),
            cause_known: cause.map(|cause| cause.known),
            difference: judgement.map(|judgement| unit(judgement.difference)),
            interval: judgement.map(|it| (unit(it.interval.0), unit(it.interval.1))),
            note: ours.is_none().then(|| "not run yet".to_owned()),
            values: self.values.iter().copied().map(unit).collect(),
            ..CellReport::of(self.artefact, self.cell, None)
        })
    }

    /// The printed number as a statistic. One without a deviation may be of a single run, and is judged
    /// as one more of ours: the paper says nothing that would narrow it.
    fn printed(&self, cell: &PublishedCell) -> Published {
        let digits = cell.digits.saturating_sub(self.scale.log10().round() as usize);
        let (std, repeats) =
            if cell.std.is_nan() { (0.0, 1) } else { (self.scale * cell.std, self.repeats) };
        Published { mean: self.scale * cell.mean, std, repeats, digits }
    }
}

/// A verdict in a word.
pub(crate) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exact => "exact",
        Verdict::Agrees => "agrees",
        Verdict::Differs { .. } => "differs",
        Verdict::Open => "open",
        Verdict::Short => "short",
    }
}

/// Text and colour of a verdict.
pub fn badge(report: &CellReport) -> Option<(String, Kind)> {
    let verdict = report.verdict.as_deref()?;
    let kind = match verdict {
        "exact" | "agrees" => Kind::Good,
        BY_CHOICE | "open" => Kind::Neutral,
        "differs" if report.finding.is_none() => Kind::Bad,
        "differs" if report.cause_known == Some(false) => Kind::Shown,
        "differs" => Kind::Explained,
        _ => Kind::Muted,
    };
    let digits = digits(report);
    let text = match report.difference {
        Some(difference) if verdict == "open" => format!("open {difference:+.digits$}"),
        Some(difference) if verdict == "differs" && report.finding.is_none() => {
            format!("differs {difference:+.digits$}, unexplained")
        }
        Some(difference) if verdict == "differs" && report.cause_known == Some(false) => {
            format!("differs {difference:+.digits$}, cause unknown")
        }
        Some(difference) if verdict == "differs" => format!("differs {difference:+.digits$}"),
        _ => verdict.to_owned(),
    };
    Some((text, kind))
}

/// A cell with its verdict, and a link to the finding that explains it.
pub fn shown(cell: Cell, report: &CellReport) -> Cell {
    let mut shown = cell;
    if let Some((text, kind)) = badge(report) {
        shown = shown.badge(text, kind);
    }
    if let Some(finding) = &report.finding {
        shown = shown.link(format!("finding-{finding}")).detail(format!("see {finding}"));
    }
    shown.drawer(drawer(report))
}

/// Decimals of a difference: an error below 1 has three.
fn digits(report: &CellReport) -> usize {
    let small = report.metric != "accuracy" && report.mean.is_some_and(|mean| mean.abs() < 1.0);
    if small { 3 } else { 2 }
}

/// Its repeats beside the printed number, and the difference with its interval.
pub(crate) fn drawer(report: &CellReport) -> Drawer {
    let CellReport { artefact, variant, method, dataset, .. } = report;
    let (differs, digits) = (report.difference.zip(report.interval), digits(report));
    Drawer {
        cell: format!("{artefact}:{variant}:{method}:{dataset}"),
        repeats: report.values.clone(),
        beside: report.published.as_ref().map(|printed| (printed.mean, printed.std)),
        text: differs.map_or_else(String::new, |(difference, (low, high))| {
            // One repeat beside one printed number has no interval.
            let interval = format!(" ({low:.digits$} to {high:.digits$})");
            let interval = if low < high { &interval } else { "" };
            format!("ours minus the paper's {difference:.digits$}{interval}")
        }),
    }
}

/// The verdict of a cell that is exact or agrees where the scaling was chosen by what comes out.
pub(crate) const BY_CHOICE: &str = "by choice";

/// What became of a published cell: each is in one class.
pub(crate) const CLASSES: [&str; 9] = [
    "exact",
    "agrees",
    BY_CHOICE,
    "open",
    "explained",
    "cause unknown",
    "unexplained",
    "short",
    "missing",
];

/// Its class, an index into [`CLASSES`]; none where nothing is printed.
pub(crate) fn class(report: &CellReport) -> Option<usize> {
    Some(match report.verdict.as_deref()? {
        "exact" => 0,
        "agrees" => 1,
        BY_CHOICE => 2,
        "open" => 3,
        "differs" => match report.cause_known {
            Some(true) => 4,
            Some(false) => 5,
            None => 6,
        },
        "short" => 7,
        _ => 8,
    })
}

/// How many of these cells are in each class, and how many there are.
pub(crate) fn counts<'a>(reports: impl Iterator<Item = &'a CellReport>) -> Vec<Cell> {
    let mut counts = [0; CLASSES.len()];
    for class in reports.filter_map(class) {
        counts[class] += 1;
    }
    let all = counts.iter().sum();
    counts.into_iter().chain([all]).map(Cell::count).collect()
}

/// Whether there is enough to say whether a printed number comes out again.
pub(crate) fn decided(report: &CellReport) -> bool {
    class(report).is_some_and(|class| !["short", "missing"].contains(&CLASSES[class]))
}

/// How many cells came out which way: a line for each variant and metric.
pub fn summary(id: &str, title: &str, caption: &str, reports: &[CellReport]) -> Table {
    let mut table = Table::new(format!("{id}-verdicts"), format!("{title}, in numbers"))
        .caption(caption)
        .columns(["Variant", "Number"].map(Column::left))
        .columns(CLASSES.map(Column::right))
        .columns([Column::right("all")]);
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for report in reports.iter().filter(|report| decided(report)) {
        let line = (report.variant.as_str(), report.metric.as_str());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    for (variant, metric) in lines {
        let own = reports.iter().filter(|report| {
            (report.variant.as_str(), report.metric.as_str()) == (variant, metric)
        });
        let mut row = vec![Cell::text(variant), Cell::text(metric)];
        row.extend(counts(own));
        table = table.row(Row::new(row));
    }
    table
}
