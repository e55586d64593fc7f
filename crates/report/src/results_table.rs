//! A printed table of accuracies or errors beside ours: datasets down, methods across, a line a
//! variant.

mod entry;

use crate::cell::{LEVEL, best_of};
use crate::comparison::{BY_CHOICE, CLASSES, counts, decided, word};
use crate::published::PublishedCell;
use crate::query::{Query, spelled};
use crate::rendered::{Head, PublishedNumber};
use crate::{
    CellReport, Comparison, Drawing, ExperimentError, RenderContext, Rendered, StudyCell, compare,
};
use mercer_harness::Variant;
use mercer_learning::Metric;
use mercer_records::Key;
use mercer_render::{Cell, Column, Row, Table};
use mercer_statistics::{Judgement, Ours, Verdict, verdict, verdict_on_error};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is compared, and with which printed table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ResultsTable {
    /// Its study.
    pub study: String,
    /// The paper whose numbers are printed.
    pub paper: String,
    /// The paper's columns: the method's name here, and its name in the published numbers.
    pub columns: Vec<(String, String)>,
    /// The method that the paper proposes and its rival, held against each other dataset by dataset.
    pub equivalent: [String; 2],
    /// Variants that are controls of ours: what they leave out the printed cells have, so that they are
    /// judged against none.
    #[serde(default)]
    pub controls: Vec<String>,
    /// Variants with the datasets whose scaling was chosen because it comes nearer to the print: agreement there
    /// is a class of its own.
    #[serde(default)]
    chosen: BTreeMap<String, Vec<String>>,
    /// What the mean is taken over.
    splits: String,
    /// By what the paper's deviations are divided, in words.
    printed_deviation: String,
    /// Lines below the table, after those on the variants.
    notes: Vec<String>,
    /// Lines below the table of verdicts, with these numbers in braces.
    #[serde(default)]
    verdict_notes: Vec<String>,
    #[serde(default)]
    numbers: BTreeMap<String, Query>,
}

/// The note of a cell without a record.
const NOT_RUN: &str = "not run yet";

/// Whether nothing of a cell has been run although its data are there.
pub(crate) fn not_run(context: &RenderContext<'_>, cell: &StudyCell) -> bool {
    cell.records().next().is_none() && !context.missing.contains_key(&cell.key().dataset)
}

/// `printed (usps), tuned (pendigits, mnist)`: what has not been run, line by line.
pub(crate) fn missing_by_variant<T: AsRef<str>>(not_run: &BTreeMap<T, Vec<&str>>) -> String {
    let lines = not_run
        .iter()
        .map(|(line, datasets)| format!("{} ({})", line.as_ref(), datasets.join(", ")));
    lines.collect::<Vec<_>>().join(", ")
}

/// What the verdicts mean.
const VERDICTS: [&str; 6] = [
    "Differs: Welch's 95 % interval of our mean minus theirs excludes 0, and the difference exceeds half a point.",
    "Agrees: no such difference, and half of the interval is at most two points or the printed standard deviation.",
    "Open: the interval is too wide to say. A point is 1 % of accuracy, or 1 % of a printed error.",
    "By choice: it agrees, but the scaling was chosen because it comes nearer to the print.",
    "Explained: a finding gives the cause. Cause unknown: a finding shows the difference, not its cause. Unexplained: neither.",
    "Exact: every printed digit of mean and standard deviation is the same, by either divisor. Short: too few repeats or rows. Missing: not run.",
];

/// What needs no learning; the ones that fit the task share a column.
const TRIVIAL: [&str; 3] = ["majority", "mean", "zero"];

/// The columns of these.
const TRIVIAL_HEADS: [&str; 2] = ["majority / mean", "zero"];

/// What every line of a table is made from.
struct Source<'a, 'b> {
    context: &'a RenderContext<'b>,
    artefact: Head<'a>,
    cells: &'a [StudyCell],
    /// The printed cells, and the repeats behind each.
    printed: &'a [PublishedCell],
    repeats: usize,
    /// The methods of the columns.
    slots: &'a [&'a str],
}

/// A table while its lines are added, and what its lines leave to be said below it.
#[derive(Default)]
struct Filled<'a> {
    table: Table,
    reports: Vec<CellReport>,
    /// Variants with the datasets of lines without any number.
    not_run: BTreeMap<&'a str, Vec<&'a str>>,
    /// Variants and datasets with a cell that was not run.
    gaps: (BTreeSet<&'a str>, BTreeSet<&'a str>),
}

impl ResultsTable {
    /// The table, and how many cells came out which way.
    ///
    /// # Errors
    /// Of the study, the published numbers or the tests.
    pub(crate) fn render(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Rendered, ExperimentError> {
        let study = context.cells(&self.study)?;
        let (spec, cells) = &*study;
        let (repeats, printed) = context.catalogue.published(&self.paper)?;
        let baselines = self.baselines(cells);
        let own = self.columns.iter().chain(&baselines).map(|(name, _)| name.as_str());
        let slots: Vec<&str> = own.chain(TRIVIAL_HEADS).collect();
        let source = Source { context, artefact, cells, printed: &printed, repeats, slots: &slots };
        let table = self.headed(artefact, cells, &baselines);
        let mut filled = Filled { table, ..Filled::default() };
        for dataset in &spec.datasets {
            self.add_dataset(&source, dataset, &spec.variants, &mut filled)?;
        }
        let Filled { mut table, reports, not_run, gaps } = filled;
        if !not_run.is_empty() {
            let lines = missing_by_variant(&not_run);
            table = table.note(format!("Not run yet, so without a line: {lines}."));
        }
        if !gaps.0.is_empty() {
            table = table.note(resume_command(context, artefact, &gaps.0, &gaps.1));
        }
        let variants = spec.variants.iter();
        let variants = variants.map(|own| format!("{}: {}.", own.name, own.summary));
        let folds = cells.iter().any(StudyCell::is_of_folds);
        let notes = self.reading(&spec.datasets, folds).into_iter().chain(variants);
        table = notes.chain(self.notes.iter().cloned()).fold(table, Table::note);
        let mut summary = self.summary(artefact, &reports, folds);
        for note in &self.verdict_notes {
            summary = summary.note(spelled(note, &self.numbers, context)?);
        }
        let (ranks, equivalence) = self.ranked(artefact, context.catalogue, (spec, cells))?;
        Ok(Rendered {
            tables: vec![table, summary, equivalence],
            drawings: ranks.map(Drawing::Diagram).into_iter().collect(),
            cells: reports,
        })
    }

    /// The table without a line.
    fn headed(
        &self,
        artefact: Head<'_>,
        cells: &[StudyCell],
        baselines: &[(String, String)],
    ) -> Table {
        let own = self.columns.iter().map(|(_, printed)| printed.as_str());
        let heads = baselines.iter().map(|(_, label)| label.as_str()).chain(TRIVIAL_HEADS);
        Table::new(artefact.id, artefact.title)
            .caption(self.caption(cells))
            .columns([Column::left("Variant")])
            .columns(own.map(|head| Column::right(head).under("the paper's methods")))
            .columns(heads.map(|head| Column::right(head).under("for reference")))
    }

    /// Adds the lines of a dataset: the published one, and one a variant.
    fn add_dataset<'a>(
        &self,
        source: &Source<'_, '_>,
        dataset: &'a str,
        variants: &'a [Variant],
        filled: &mut Filled<'a>,
    ) -> Result<(), ExperimentError> {
        let of_dataset: Vec<&StudyCell> =
            source.cells.iter().filter(|cell| cell.key().dataset == dataset).collect();
        if of_dataset.is_empty() || superseded(dataset, source.cells) {
            return Ok(());
        }
        let metric = of_dataset[0].metric().name();
        let (whole, group) = match of_dataset[0].subset_of() {
            Some(whole) => (whole, format!("{whole} ({metric}; a subset of its rows)")),
            None => (dataset, format!("{dataset} ({metric})")),
        };
        let published = self.published_row(source.printed, whole, source.slots.len());
        filled.table.rows.push(published.under(&group));
        for Variant { name, .. } in variants {
            let row = of_dataset.iter().copied().filter(|cell| cell.key().variant == *name);
            let row: Vec<&StudyCell> = row.collect();
            if row.is_empty() {
                continue;
            }
            let (line, reports) = self.line_of(source, name, &row, whole)?;
            let lacking = |r: &CellReport| r.note.as_deref() == Some(NOT_RUN);
            if reports.iter().any(lacking) {
                filled.gaps.0.insert(name.as_str());
                filled.gaps.1.insert(dataset);
            }
            // A line without a number says nothing that the note below does not.
            if reports.iter().all(lacking) {
                filled.not_run.entry(name.as_str()).or_default().push(dataset);
            } else {
                filled.table.rows.push(Row::new(line).under(&group));
            }
            filled.reports.extend(reports);
        }
        Ok(())
    }

    /// The cells of a variant on a dataset, which is `whole` in print, with their reports.
    fn line_of(
        &self,
        source: &Source<'_, '_>,
        variant: &str,
        row: &[&StudyCell],
        whole: &str,
    ) -> Result<(Vec<Cell>, Vec<CellReport>), ExperimentError> {
        let Source { context, artefact, repeats, .. } = *source;
        let (mut line, mut reports) = (vec![Cell::text(variant)], Vec::new());
        // As in print: marks and tests are among the paper's own methods. A reference is held
        // against the best of these, and changes no mark.
        // What has not been solved is no method's best.
        let own: Vec<&StudyCell> = row
            .iter()
            .copied()
            .filter(|cell| self.of_paper(&cell.key().method) && !cell.unsolved())
            .collect();
        let best = best_of(&own);
        let control = self.controls.iter().any(|name| name == variant);
        for slot in source.slots {
            let Some(cell) = row.iter().copied().find(|cell| fills(cell, slot)) else {
                line.push(Cell::text(""));
                continue;
            };
            let theirs = source.printed.iter().filter(|_| !control).find(|published| {
                let named =
                    |(own, theirs): &(String, String)| own == slot && *theirs == published.method;
                published.dataset == whole && self.columns.iter().any(named)
            });
            let report = self.report(context, artefact, cell, best, theirs, repeats)?;
            let report = Self::explained(context, cell.key(), report)?;
            line.push(self.show(context, artefact, cell, &report));
            reports.push(report);
        }
        Ok((line, reports))
    }

    fn caption(&self, cells: &[StudyCell]) -> String {
        let errors = cells.iter().any(|cell| cell.metric() != Metric::Accuracy);
        let unit = if errors {
            "accuracy in percent, RMSE of targets scaled to [0, 100]"
        } else {
            "accuracy in percent"
        };
        format!(
            "Mean ± standard deviation over {}: {unit}. Bold: the best of the paper's methods; underlined: not significantly worse at 5 %.",
            self.splits
        )
    }

    /// What the marks of the cells mean: only what this table has of them.
    fn reading(&self, datasets: &[String], folds: bool) -> Vec<String> {
        let (test, naive) = if folds {
            ("paired t-test", "the same, since folds need no correction")
        } else {
            ("corrected resampled t-test", "by the paper's paired t-test")
        };
        let mut notes = vec![
            format!(
                "± divides by J − 1 in our cells, in the published ones {}.",
                self.printed_deviation
            ),
            format!(
                "Bold and underlined follow the repeats that two cells have in common, by the {test}. A cell that equals the best on every pair is underlined without a test; a single pair is never tested."
            ),
        ];
        if datasets.iter().any(|dataset| dataset == "mnist") {
            notes.push(
                "MNIST, where the test part is fixed: the larger p of a bootstrap over test rows and seeds and of the t-test over seeds, beside McNemar's exact test of each seed. One seed is no test."
                    .to_owned(),
            );
        }
        notes.extend([
            "A cell without a converged fit is neither bold nor underlined."
                .to_owned(),
            "j/J: repeats of a cell, and of the paper's.".to_owned(),
            format!("p to best: two-sided, against the best of the paper's methods, by the same test; naive: {naive}."),
            "Methods for reference are never marked. A significant difference from the best is printed with its mean."
                .to_owned(),
        ]);
        notes
    }

    /// Whether the paper's table has a column of the method.
    fn of_paper(&self, method: &str) -> bool {
        self.columns.iter().any(|(own, _)| own == method)
    }

    /// Name and label of every other method of the spec: a baseline listed there gets a column.
    fn baselines(&self, cells: &[StudyCell]) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for cell in cells {
            let name = cell.key().method.as_str();
            let other = !self.of_paper(name) && !TRIVIAL.contains(&name);
            if other && found.iter().all(|(known, _)| known != name) {
                found.push((name.to_owned(), cell.label().to_owned()));
            }
        }
        found
    }

    fn published_row(&self, printed: &[PublishedCell], dataset: &str, slots: usize) -> Row {
        let mut row = vec![Cell::text("published")];
        for (_, method) in &self.columns {
            let found =
                printed.iter().find(|cell| cell.dataset == dataset && cell.method == *method);
            row.push(found.map_or_else(
                || Cell::text(""),
                |cell| {
                    let shown = Cell::mean_std(cell.mean, cell.std, cell.digits);
                    let shown = if cell.mark == "best" { shown.bold() } else { shown };
                    if cell.mark == "underlined" { shown.underline() } else { shown }
                },
            ));
        }
        row.resize(1 + slots, Cell::text(""));
        Row::new(row)
    }

    fn report(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
        cell: &StudyCell,
        best: Option<&StudyCell>,
        theirs: Option<&PublishedCell>,
        repeats: usize,
    ) -> Result<CellReport, ExperimentError> {
        let key = cell.key();
        let score = cell.score();
        let is_best = best.is_some_and(|best| best.key().method == key.method);
        let against: Option<Comparison> = match best {
            Some(best) if !is_best => compare(cell, best)?,
            _ => None,
        };
        let judgement = match (theirs, score) {
            (Some(theirs), Some(_)) => Some(judge(cell, theirs, repeats)?),
            _ => None,
        };
        let verdict = match (theirs, score, judgement) {
            (Some(_), Some(_), Some(judgement)) => {
                let agrees = matches!(judgement.verdict, Verdict::Exact | Verdict::Agrees);
                let chosen = agrees && self.chosen_by_print(&key.variant, &key.dataset);
                Some(if chosen { BY_CHOICE } else { word(judgement.verdict) }.to_owned())
            }
            (Some(_), ..) => Some("missing".to_owned()),
            _ => None,
        };
        let note = match (cell.without_score().next(), context.missing.get(&key.dataset)) {
            _ if not_run(context, cell) => Some(NOT_RUN.to_owned()),
            (Some((record, status)), _) => {
                let error = record.result.error.clone().unwrap_or_default();
                Some(format!("{} repeat(s) {status:?}: {error}", cell.without_score().count()))
            }
            (None, Some(_)) if score.is_none() => Some("data missing".to_owned()),
            _ => None,
        };
        Ok(CellReport {
            published: theirs.map(|cell| PublishedNumber { mean: cell.mean, std: cell.std }),
            verdict,
            difference: judgement.map(|judgement| judgement.difference),
            interval: judgement.map(|judgement| judgement.interval),
            over_best: against.as_ref().map(|test| test.difference),
            best: is_best && score.is_some(),
            note,
            ..CellReport::of(artefact.id, cell, against.as_ref())
        })
    }

    /// With the finding that explains why the cell differs, if one does.
    fn explained(
        context: &RenderContext<'_>,
        key: &Key,
        mut report: CellReport,
    ) -> Result<CellReport, ExperimentError> {
        if let (Some("differs"), Some(difference)) = (report.verdict.as_deref(), report.difference)
            && let Some(cause) = context.cause(key, &report.label, Some(difference))?
        {
            report.finding = Some(cause.finding.to_owned());
            report.cause_known = Some(cause.known);
        }
        Ok(report)
    }

    /// Whether the scaling of a dataset in a variant was chosen because it comes nearer to the print.
    fn chosen_by_print(&self, variant: &str, dataset: &str) -> bool {
        self.chosen.get(variant).is_some_and(|own| own.iter().any(|name| name == dataset))
    }

    /// Where the scaling was chosen by the print: a sentence for each variant.
    fn agreement_by_choice(&self, reports: &[CellReport]) -> Vec<String> {
        let sentence = |(variant, datasets): (&String, &Vec<String>)| {
            let of_choice = |report: &&CellReport| {
                report.variant == *variant && datasets.contains(&report.dataset)
            };
            reports.iter().any(|report| of_choice(&report)).then(|| {
                format!(
                    "By choice: in {variant} the scaling of {} was chosen because it comes nearer to the print. A cell that agrees there is no evidence, and is not counted among those that agree.",
                    datasets.join(", ")
                )
            })
        };
        self.chosen.iter().filter_map(sentence).collect()
    }

    /// How many cells came out which way, and how many significant differences survive.
    fn summary(&self, artefact: Head<'_>, reports: &[CellReport], folds: bool) -> Table {
        let mut table = Table::new(format!("{}-verdicts", artefact.id), format!("{}, in numbers", artefact.title))
        .caption(
            "How many published cells have which verdict, and how many differences from the best of the paper's methods are significant at 5 %.",
        )
        .columns([Column::left("Variant")]);
        let heads = CLASSES.into_iter().chain(["all"]);
        table = table.columns(heads.map(|head| Column::right(head).under("published cells")));
        let (tests, meant): (&[&str], _) = if folds {
            (&["paired t"], "Paired t: the ordinary paired t-test. Folds need no correction.")
        } else {
            (
                &["naive", "corrected"],
                "Naive: the paper's paired t-test. Corrected: Nadeau and Bengio's.",
            )
        };
        for head in tests {
            table = table.columns([Column::right(*head).under("significant differences")]);
        }
        let mut variants: Vec<&str> =
            reports.iter().map(|report| report.variant.as_str()).collect();
        variants.dedup();
        let mut seen: Vec<&str> = Vec::new();
        for variant in variants {
            if seen.contains(&variant) {
                continue;
            }
            seen.push(variant);
            let of_variant: Vec<&CellReport> = reports
                .iter()
                .filter(|report| report.variant == variant && self.of_paper(&report.method))
                .collect();
            if !of_variant.iter().any(|report| decided(report)) {
                continue;
            }
            let count = |test: &dyn Fn(&CellReport) -> bool| {
                of_variant.iter().filter(|report| test(report)).count() as f64
            };
            let mut row = vec![Cell::text(variant)];
            row.extend(counts(of_variant.iter().copied()));
            let tested = |r: &CellReport| !r.degenerate && r.pairs > 1;
            let naive = |r: &CellReport| tested(r) && r.p_naive.is_some_and(|p| p < LEVEL);
            let corrected = |r: &CellReport| tested(r) && r.p_corrected.is_some_and(|p| p < LEVEL);
            if !folds {
                row.push(Cell::number(count(&naive), 0));
            }
            row.push(Cell::number(count(&corrected), 0));
            table = table.row(Row::new(row));
        }
        let own = self.agreement_by_choice(reports);
        let notes = VERDICTS.into_iter().chain([meant]).map(str::to_owned).chain(own);
        notes.fold(table, Table::note)
    }
}

/// The command that runs the cells without a record.
fn resume_command(
    context: &RenderContext<'_>,
    artefact: Head<'_>,
    variants: &BTreeSet<&str>,
    datasets: &BTreeSet<&str>,
) -> String {
    // What is committed counts as done.
    let (id, profile) = (artefact.id, context.profile);
    let mut command = format!("mercer reproduce {id} --profile {profile} --extend");
    let variants = variants.iter().map(|name| [" --variant ", name]);
    let datasets = datasets.iter().map(|name| [" --dataset ", name]);
    variants.chain(datasets).flatten().for_each(|word| command.push_str(word));
    format!("What has not been run yet: `{command}`.")
}

/// Whether another dataset has the row: the whole one that of its subset, once it has been run, and
/// the subset that of the whole one before.
fn superseded(dataset: &str, cells: &[StudyCell]) -> bool {
    let run =
        |name: &str| cells.iter().any(|cell| cell.key().dataset == name && cell.score().is_some());
    let own = cells.iter().find(|cell| cell.key().dataset == dataset);
    match own.and_then(StudyCell::subset_of) {
        Some(whole) => run(whole),
        None => cells.iter().any(|cell| cell.subset_of() == Some(dataset)) && !run(dataset),
    }
}

fn fills(cell: &StudyCell, slot: &str) -> bool {
    let method = cell.key().method.as_str();
    method == slot || (slot == "majority / mean" && matches!(method, "majority" | "mean"))
}

pub(crate) fn judge(
    cell: &StudyCell,
    theirs: &PublishedCell,
    repeats: usize,
) -> Result<Judgement, ExperimentError> {
    let ours = Ours {
        values: cell.values().into_iter().map(|(_, value)| value).collect(),
        paper_repeats: cell.repeats_of_paper() as usize,
        complete: cell.complete() && cell.capped().is_none(),
    };
    let theirs = theirs.statistic(repeats);
    Ok(if cell.metric().larger_is_better() {
        verdict(&ours, &theirs)?
    } else {
        verdict_on_error(&ours, &theirs)?
    })
}

#[cfg(test)]
mod tests;
