mod files;

use crate::curves_page::looks;
use crate::provenance::{OF_A_FILE, provenance};
use crate::{
    Across, Choices, Comparison, Evaluation, MethodScores, Provenance, Table as Rows,
    WorkbenchError, primary,
};
use mercer_learning::{Metric, Task, counted};
use mercer_render::{
    Axis, Block, Cell, Column, Figure, Kind, Mark, Panel, Report, Row, Section, Series, Table,
    critical_difference, number,
};

/// Returns the page of a comparison. It has a table of all metrics, the tests, the spread over the splits, and ranks.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Provenance, Choices, Splitting, Table, compare, comparison_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let asked = Provenance { command: "mercer compare ...", date: "2026-11-20" };
/// let page = comparison_page(&found, asked)?;
/// assert!(page.contains("Comparison on toys") && !page.contains("<script src"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn comparison_page(
    comparison: &Comparison,
    asked: Provenance<'_>,
) -> Result<String, WorkbenchError> {
    let splits = if comparison.splits == 1 { "split" } else { "splits" };
    let mut report = Report::new(format!("Comparison on {}", comparison.data)).subtitle(format!(
        "{} of `{}`, {} {splits}",
        comparison.task, comparison.target, comparison.splits
    ));
    report = asked.begin(report);
    for (name, value) in &comparison.provenance {
        report = report.provenance(*name, value.clone());
    }
    Ok(with_comparison(report, comparison, "", "")?.to_html()?)
}

/// Returns the page of one method: its scores, and its predictions of the test rows. A model is scored as it is, so
/// that no `choices` belong to it.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Provenance, Choices, Splitting, Table, evaluate, evaluation_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let (splitting, choices) = (Splitting::Folds { folds: 2, repeats: 1 }, Choices::plain());
/// let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &choices, |_, _| {})?;
/// let asked = Provenance { command: "mercer evaluate ...", date: "2026-11-20" };
/// let page = evaluation_page(found, &table, &splitting.describe(), Some(&choices), asked)?;
/// assert!(page.contains("kernel-ridge on toys") && page.contains("Receiver operating characteristic"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn evaluation_page(
    evaluation: Evaluation,
    table: &Rows,
    splitting: &str,
    choices: Option<&Choices<'_>>,
    asked: Provenance<'_>,
) -> Result<String, WorkbenchError> {
    let metric = choices.and_then(|choices| choices.metric).unwrap_or(primary(table.task()));
    let known = provenance(table, choices.unwrap_or(&Choices::plain()));
    let known = known.into_iter().filter(|(name, _)| choices.is_some() || OF_A_FILE.contains(name));
    let mut report = Report::new(format!("{} on {}", evaluation.method, table.name))
        .subtitle(format!("{} of `{}`, {splitting}", evaluation.task, table.schema.target.name));
    report = asked.begin(report);
    for (name, value) in known.clone() {
        report = report.provenance(name, value);
    }
    let one = Comparison::of_one(evaluation, table, splitting.to_owned(), metric, known.collect());
    Ok(with_comparison(report, &one, "", "")?.to_html()?)
}

/// Returns the page of several files. It has ranks and tests over the files, then the results of each.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Provenance, Choices, Splitting, Table, across, across_page, compare};
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 1 };
/// let mut files = Vec::new();
/// for name in ["toys", "others"] {
///     let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
///     let file = RowFile::spooled(text.as_bytes(), name, None)?;
///     let table = Table::read(&file, &SchemaOptions::default())?;
///     files.push(compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?);
/// }
/// let asked = Provenance { command: "mercer compare ...", date: "2026-11-20" };
/// let page = across_page(&across(files)?, asked)?;
/// assert!(page.contains("Over all files"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn across_page(across: &Across, asked: Provenance<'_>) -> Result<String, WorkbenchError> {
    let count = across.files.len();
    let mut section = Section::new("across", "Over all files")
        .intro(files::intro(across))
        .block(Block::Table(files::means(across)));
    if let Some(cd) = across.critical_difference {
        let ranks: Vec<(String, f64)> =
            across.methods.iter().filter_map(|m| Some((m.method.clone(), m.rank?))).collect();
        let diagram = critical_difference("across-ranks", "Mean ranks over the files", &ranks, cd)?
            .caption(
                "Methods joined by a bar differ by less than Nemenyi's critical difference at 5 %: \
                 one rank a file, so the files count and their splits do not.",
            );
        section = section.block(Block::Diagram(diagram));
    }
    section = section.block(match across.untested() {
        None => Block::Table(files::pairs(across)),
        Some(why) => Block::Text(format!("There is no test over the files: {why}.")),
    });
    let report = Report::new(format!("Comparison on {count} files"))
        .subtitle(format!("{} methods", across.methods.len()));
    let mut report = asked.begin(report).section(section);
    for (at, file) in across.files.iter().enumerate() {
        for (name, value) in &file.provenance {
            // What the files have in common stands there once.
            if at == 0 || OF_A_FILE.contains(name) {
                report = report.provenance(*name, value.clone());
            }
        }
        report = with_comparison(report, file, &format!("file-{}-", at + 1), &file.data)?;
    }
    Ok(report.to_html()?)
}

/// The sections of one file's comparison, their ids behind `prefix`, their heads before `of`.
fn with_comparison(
    report: Report,
    comparison: &Comparison,
    prefix: &str,
    of: &str,
) -> Result<Report, WorkbenchError> {
    let id = |name: &str| format!("{prefix}{name}");
    let head = |text: &str| if of.is_empty() { text.to_owned() } else { format!("{of}: {text}") };
    let metric = comparison.metric;
    let scale = scale_of(metric);
    let results = Section::new(id("methods"), head("The methods")).intro(intro(comparison));
    let mut results = scores_tables(comparison, &id("scores"))
        .into_iter()
        .fold(results, |results, table| results.block(Block::Table(table)))
        .block(Block::Figure(spread(comparison, metric, scale, id("spread"))));
    if let Some(cd) = comparison.critical_difference {
        let ranks: Vec<(String, f64)> = comparison
            .methods
            .iter()
            .filter_map(|method| Some((method.method.clone(), method.rank?)))
            .collect();
        let diagram = critical_difference(id("ranks"), "Mean ranks over the splits", &ranks, cd)?
            .caption(
                "Methods joined by a bar differ by less than Nemenyi's critical difference at 5 %. \
                 It takes the splits for independent, which they are not: where it parts two \
                 methods and the corrected test does not, believe the test.",
            );
        results = results.block(Block::Diagram(diagram));
    }
    let tests = Section::new(id("tests"), head("Which differences are real"));
    let tests = if let Some(why) = comparison.untested() {
        tests.intro(format!("There is no test: {why}."))
    } else {
        let text = "The best mean against each other method. *Corrected* is the resampled t-test of \
                    Nadeau and Bengio (2003), whose variance allows for training parts that overlap, and of \
                    folds drawn once the ordinary one; \
                    *Holm* adjusts it for the number of pairs; *naive* is the paired t-test that \
                    takes splits for independent, and finds too much. That the best was chosen by \
                    looking is in none of them.";
        tests.intro(text).block(Block::Table(pairs_table(comparison, scale, id("pairs"))))
    };
    let mut report = report.section(results);
    if comparison.methods.len() > 1 {
        report = report.section(tests);
    }
    let report = looks(report, comparison, prefix, &head("The test rows"));
    let settings = Block::Table(settings_table(comparison, id("settings")));
    Ok(report.section(Section::new(id("settings-used"), head("Settings")).block(settings)))
}

/// The table, how it was divided, what is easily reached, and the notes.
fn intro(comparison: &Comparison) -> String {
    let (rows, columns) = comparison.shape;
    let chance = if comparison.task == "classification" {
        format!(
            "The most frequent class alone is right in {:.2} % of the rows.",
            100.0 * comparison.chance
        )
    } else {
        format!("The target's deviation, the error of its mean, is {:.4}.", comparison.chance)
    };
    let notes = if comparison.notes.is_empty() {
        String::new()
    } else {
        format!(" Note: {}.", comparison.notes.join("; "))
    };
    let same =
        if comparison.methods.len() > 1 { "Every method saw the same splits" } else { "Rows" };
    format!(
        "{} and {} of `{}`, target `{}`. {same}: {}. {chance}{notes}",
        counted(rows, "row", "rows"),
        counted(columns, "input column", "input columns"),
        comparison.data,
        comparison.target,
        comparison.splitting
    )
}

/// Accuracies are shown in percent.
fn scale_of(metric: Metric) -> (f64, usize) {
    if is_share(metric.name()) { (100.0, 2) } else { (1.0, 4) }
}

/// The names of all metrics that some method has, what the methods are compared by first, and those that would not fit
/// beside them.
fn metrics(comparison: &Comparison) -> (Vec<&str>, Vec<&str>) {
    let evaluations = comparison.methods.iter().filter_map(|m| m.evaluation.as_ref().ok());
    let mut names: Vec<&str> =
        evaluations.flat_map(|e| e.estimates.keys()).map(String::as_str).collect();
    names.sort_by_key(|&name| (name != comparison.metric.name(), name));
    names.dedup();
    let further = ["precision", "f1", "mape"];
    names.into_iter().partition(|name| !further.contains(name) || *name == comparison.metric.name())
}

/// All scores: of one method a line each, of several a line a method.
fn scores_tables(comparison: &Comparison, id: &str) -> Vec<Table> {
    let (names, further) = metrics(comparison);
    if let [MethodScores { method, evaluation: Ok(evaluation), .. }] = comparison.methods.as_slice()
    {
        let names = [names, further].concat();
        let mut table = Table::new(id, "Scores on rows not fitted to")
            .caption(scores_caption(comparison))
            .columns([Column::left("Metric"), Column::right(method.clone())]);
        table.notes = interval_notes(comparison, &names);
        for name in names {
            let cells = [Cell::text(unit(name)), score_cell(evaluation, name, None)];
            table = table.row(Row::new(cells));
        }
        return vec![table];
    }
    // Of a single method there are no ranks.
    let ranked = comparison.methods.iter().any(|method| method.rank.is_some());
    let mut first =
        scores_table(comparison, id, &names, ranked).caption(scores_caption(comparison));
    first.notes = interval_notes(comparison, &[names, further.clone()].concat());
    if further.is_empty() {
        return vec![first];
    }
    let second = scores_table(comparison, &format!("{id}-further"), &further, false);
    vec![first, second.caption("The metrics that did not fit above.")]
}

fn scores_caption(comparison: &Comparison) -> String {
    let best = if comparison.methods.len() > 1 { "; bold is the best" } else { "" };
    if comparison.splits > 1 {
        format!(
            "Mean and deviation over the splits (divided by J - 1), below it a 95 % interval of the mean{best}."
        )
    } else {
        format!("Scores on the one test part, below each its 95 % interval{best}.")
    }
}

/// A metric's name in the head of its column.
fn unit(name: &str) -> String {
    if is_share(name) { format!("{}, %", words(name)) } else { words(name) }
}

fn scores_table(comparison: &Comparison, id: &str, names: &[&str], ranked: bool) -> Table {
    let evaluations = || comparison.methods.iter().filter_map(|m| m.evaluation.as_ref().ok());
    let best = |name: &str| {
        let means = evaluations().filter_map(|e| e.estimates.get(name)).map(|e| e.mean);
        let means: Vec<f64> = means.collect();
        let larger = larger_is_better(name);
        // The only method that has probabilities is not the best of any.
        let rivals = means.len() > 1;
        let best = means.into_iter().reduce(|a, b| if larger { a.max(b) } else { a.min(b) });
        best.filter(|_| rivals)
    };
    let heads = std::iter::once(Column::left("Method"))
        .chain(names.iter().map(|name| Column::right(unit(name))))
        .chain(ranked.then(|| Column::right("mean rank")));
    let mut table = Table::new(id, "Scores on rows not fitted to").columns(heads);
    for method in &comparison.methods {
        let mut cells = vec![Cell::text(method.method.clone())];
        match &method.evaluation {
            Ok(evaluation) => {
                for name in names {
                    cells.push(score_cell(evaluation, name, best(name)));
                }
            }
            Err(error) => {
                cells.extend(names.iter().map(|_| Cell::missing("failed", error.clone())));
            }
        }
        if ranked {
            cells.push(method.rank.map_or_else(|| Cell::text("-"), |rank| Cell::number(rank, 2)));
        }
        table = table.row(Row::new(cells));
    }
    table
}

fn words(name: &str) -> String {
    name.replace('-', " ")
}

/// Which intervals stand below the scores, and what a dash means, once for the whole table.
fn interval_notes(comparison: &Comparison, names: &[&str]) -> Vec<String> {
    let evaluations = || comparison.methods.iter().filter_map(|m| m.evaluation.as_ref().ok());
    // In the order of the columns.
    let mut by: Vec<(&str, Vec<String>)> = Vec::new();
    for name in names {
        let mut found =
            evaluations().filter_map(|e| e.estimates.get(*name)?.interval_by.as_deref());
        let Some(found) = found.next() else { continue };
        match by.iter_mut().find(|(known, _)| *known == found) {
            Some((_, of)) => of.push(words(name)),
            None => by.push((found, vec![words(name)])),
        }
    }
    let one = by.len() == 1;
    let note = |(by, of): &(&str, Vec<String>)| {
        let of = if one { String::new() } else { format!(" of {}", of.join(", ")) };
        format!("95 % intervals{of}: {by}.")
    };
    let mut notes: Vec<String> = by.iter().map(note).collect();
    let alike = |e: &Evaluation| {
        names.iter().any(|name| e.estimates.get(*name).is_some_and(|e| e.std == Some(0.0)))
    };
    if evaluations().any(alike) {
        notes.push("No interval where every split gives the same score.".to_owned());
    }
    let lacking =
        |name: &&&str| evaluations().any(|evaluation| !evaluation.estimates.contains_key(**name));
    let lacking: Vec<String> = names.iter().filter(lacking).map(|name| words(name)).collect();
    if !lacking.is_empty() {
        notes.push(format!(
            "{}: a dash where a method gives no class probabilities at these settings (mercer list \
             methods NAME says with which it does), or where the score cannot be had.",
            lacking.join(", ")
        ));
    }
    notes
}

fn score_cell(evaluation: &Evaluation, name: &str, best: Option<f64>) -> Cell {
    let Some(estimate) = evaluation.estimates.get(name) else { return Cell::text("-") };
    let (factor, digits) = if is_share(name) { (100.0, 2) } else { (1.0, 4) };
    let cell = match estimate.std {
        Some(std) => Cell::mean_std(factor * estimate.mean, factor * std, digits),
        None => Cell::number(factor * estimate.mean, digits),
    };
    let cell = match estimate.interval {
        Some((low, high)) => cell.detail(format!(
            "{} to {}",
            number(factor * low, digits),
            number(factor * high, digits)
        )),
        None => cell,
    };
    if best.is_some_and(|best| best.to_bits() == estimate.mean.to_bits()) {
        cell.bold()
    } else {
        cell
    }
}

fn is_share(name: &str) -> bool {
    name.ends_with("accuracy")
}

fn larger_is_better(name: &str) -> bool {
    let of = [Task::Classification { classes: 2 }, Task::Regression].map(Metric::of_task);
    of.into_iter().flatten().any(|metric| metric.name() == name && metric.larger_is_better())
}

fn pairs_table(comparison: &Comparison, (factor, digits): (f64, usize), id: String) -> Table {
    let difference = if factor > 1.0 { "difference, points" } else { "difference" };
    let mut table = Table::new(id, "The best against the others").columns([
        Column::left("Best"),
        Column::left("Other"),
        Column::right(difference),
        Column::right("95 % interval"),
        Column::right("p naive"),
        Column::right("p corrected"),
        Column::right("p Holm"),
        Column::left("at 5 %"),
    ]);
    if comparison.pairs.iter().any(|pair| pair.degenerate) {
        table = table.note(
            "Where the difference is the same on every split there is no spread to test it by: more \
             splits or rows can tell.",
        );
    }
    for pair in &comparison.pairs {
        let verdict = if pair.degenerate {
            Cell::text("").badge("no test", Kind::Neutral)
        } else if pair.p_holm < 0.05 {
            Cell::text("").badge("differs", Kind::Good)
        } else {
            Cell::text("").badge("not significant", Kind::Neutral)
        };
        let (low, high) = pair.interval;
        let tested = |cell: Cell| if pair.degenerate { Cell::text("-") } else { cell };
        let interval = format!("{:.digits$} to {:.digits$}", factor * low, factor * high);
        table = table.row(Row::new([
            Cell::text(pair.best.clone()),
            Cell::text(pair.other.clone()),
            Cell::number(factor * pair.difference, digits),
            tested(Cell::text(interval)),
            tested(p_value(pair.p_naive)),
            tested(p_value(pair.p_corrected)),
            tested(p_value(pair.p_holm)),
            verdict,
        ]));
    }
    table
}

fn spread(
    comparison: &Comparison,
    metric: Metric,
    (factor, _): (f64, usize),
    id: String,
) -> Figure {
    let label =
        if factor > 1.0 { format!("{}, %", metric.name()) } else { metric.name().to_owned() };
    let shown: Vec<(&str, Vec<f64>)> = comparison
        .methods
        .iter()
        .filter_map(|method| {
            let evaluation = method.evaluation.as_ref().ok()?;
            // Not every split has every metric: one that lacks a class has no AUC.
            let own = evaluation.splits.iter().filter_map(|split| split.get(metric.name()));
            let values: Vec<f64> = own.map(|value| factor * value).collect();
            (!values.is_empty()).then_some((method.method.as_str(), values))
        })
        .collect();
    let names = shown.iter().map(|(name, _)| *name);
    let points = shown
        .iter()
        .enumerate()
        .flat_map(|(at, (_, values))| values.iter().map(move |&value| (at as f64, value)));
    let means = shown
        .iter()
        .enumerate()
        .map(|(at, (_, values))| (at as f64, values.iter().sum::<f64>() / values.len() as f64));
    let panel = Panel::new(Axis::names("", names), Axis::linear(label))
        .series(Series::points("a split", points))
        .series(Series::points("mean", means));
    let alone = comparison.methods.iter().filter_map(|method| method.evaluation.as_ref().ok());
    let of_rows = alone.clone().any(|own| own.test_rows == 1);
    let panel = match metric {
        Metric::Accuracy | Metric::Rmse if !of_rows => panel.mark(Mark::Horizontal {
            y: factor * comparison.chance,
            label: "without the inputs".to_owned(),
        }),
        _ => panel,
    };
    Figure::new(id, "Every split").caption("One point a split and method.").panel(panel)
}

fn settings_table(comparison: &Comparison, id: String) -> Table {
    let mut table = Table::new(id, "Settings of the first split")
        .columns([Column::left("Method"), Column::left("Settings")]);
    for method in &comparison.methods {
        let text = match &method.evaluation {
            Ok(evaluation) => listed(evaluation.settings[0].iter()),
            Err(error) => error.clone(),
        };
        table = table.row(Row::new([Cell::text(method.method.clone()), Cell::text(text)]));
    }
    table
}

/// Names and values in a line that can be broken.
pub(crate) fn listed<'a>(
    settings: impl Iterator<Item = (&'a str, &'a serde_json::Value)>,
) -> String {
    settings.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// A p-value; it sorts by its value, however it is written.
fn p_value(p: f64) -> Cell {
    let mut cell = Cell::number(p, 4);
    if p < 1e-4 {
        "< 0.0001".clone_into(&mut cell.text);
    }
    cell
}
