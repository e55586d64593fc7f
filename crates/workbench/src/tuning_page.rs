use crate::page::listed;
use crate::provenance::provenance;
use crate::tuning::scoring;
use crate::{Choices, Provenance, Table, WorkbenchError, primary};
use mercer_learning::{Method, Metric};
use mercer_records::Tuning;
use mercer_render::{Axis, Block, Cell, Column, Figure, Panel, Report, Row, Section, Series};

/// Returns the page of a tuning: every candidate with its score, by rung.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Provenance, Budget, Choices, Table, method_for, tune, tuning_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let method = method_for(BASELINES, "kernel-ridge", table.task())?;
/// let choices = Choices { seed: 7, ..Choices::plain() };
/// let tuning = tune(method, &table, Budget::Candidates(3), &choices)?;
/// let asked = Provenance { command: "mercer tune ...", date: "2026-11-20" };
/// let page = tuning_page(&table, method, &tuning, &choices, asked)?;
/// assert!(page.contains("kernel ridge") && page.contains("<dt>Seed</dt><dd>7</dd>"));
/// assert!(page.contains(&table.sha256) && page.contains("<dt>Target</dt><dd>kind</dd>"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn tuning_page(
    table: &Table,
    method: &Method,
    tuning: &Tuning,
    choices: &Choices<'_>,
    asked: Provenance<'_>,
) -> Result<String, WorkbenchError> {
    let metric = choices.metric.unwrap_or(primary(table.task()));
    let (factor, label) = match metric {
        Metric::Accuracy => (100.0, "accuracy, %".to_owned()),
        Metric::Rmse => (-1.0, "error, in deviations of the target".to_owned()),
        other => (if other.larger_is_better() { 1.0 } else { -1.0 }, other.name().to_owned()),
    };
    let chosen = listed(tuning.chosen.iter().map(|(name, value)| (name.as_str(), value)));
    let section = Section::new("tuning", "What was tried")
        .intro(format!(
            "Settings of {} for {} of `{}`: successive halving, {}; ties go to the earlier candidate, \
             and the method's defaults are the first. Chosen: `{chosen}`.",
            method.name,
            table.task().name(),
            table.schema.target.name,
            scoring(table.rows(), table.division.as_ref())
        ))
        .block(Block::Figure(history(tuning, factor, &label)))
        .block(Block::Table(candidates(tuning, factor, &label)));
    let report = Report::new(format!("Tuning {} on {}", method.name, table.name))
        .subtitle(method.summary)
        .section(section);
    let report = provenance(table, choices)
        .into_iter()
        // It is a tuning.
        .filter(|(name, _)| *name != "Tuned")
        .fold(asked.begin(report), |report, (name, value)| report.provenance(name, value));
    Ok(report.to_html()?)
}

/// The scores in the order in which they were found, a series a rung.
fn history(tuning: &Tuning, factor: f64, label: &str) -> Figure {
    let mut efforts: Vec<f64> = tuning.history.iter().map(|step| step.effort).collect();
    efforts.sort_by(f64::total_cmp);
    efforts.dedup();
    let mut panel = Panel::new(Axis::linear("candidate, in the order tried"), Axis::linear(label));
    for &effort in &efforts {
        let points = tuning.history.iter().enumerate().filter_map(|(at, step)| {
            let here = step.effort.to_bits() == effort.to_bits();
            step.score.filter(|_| here).map(|score| (at as f64 + 1.0, factor * score))
        });
        let name = format!("{:.0} % of the full effort", 100.0 * effort);
        panel = panel.series(Series::points(name, points));
    }
    Figure::new("history", "Scores on rows held out of training")
        .caption("One point a candidate and rung, in the order tried.")
        .panel(panel)
}

/// A row a candidate and rung.
fn candidates(tuning: &Tuning, factor: f64, label: &str) -> mercer_render::Table {
    let mut candidates = mercer_render::Table::new("candidates", "All candidates")
        .caption("Effort is the share of a full fit; bold is what was chosen.")
        .columns([
            Column::right("tried"),
            Column::right("effort"),
            Column::right(label),
            Column::left("settings"),
        ]);
    for (at, step) in tuning.history.iter().enumerate() {
        let score = step.score.map_or_else(
            || Cell::text("failed"),
            |score| Cell::number(factor * score, if factor > 1.0 { 2 } else { 4 }),
        );
        let settings = listed(step.settings.iter().map(|(name, value)| (name.as_str(), value)));
        let mut row =
            [Cell::count(at + 1), Cell::number(step.effort, 2), score, Cell::text(settings)];
        if step.settings == tuning.chosen {
            row = row.map(Cell::bold);
        }
        candidates = candidates.row(Row::new(row));
    }
    candidates
}
