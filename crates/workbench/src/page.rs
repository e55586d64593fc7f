use crate::compare::is_classes;
use crate::{Across, Comparison, Evaluation, WorkbenchError};
use mercer_learning::{Method, Metric, Task};
use mercer_records::Tuning;
use mercer_render::{
    Axis, Block, Cell, Column, Figure, Kind, Mark, Panel, Report, Row, Section, Series, Table,
    critical_difference,
};
use std::fmt::Write as _;

/// The page of a comparison: a table of all metrics, the tests, the spread over the splits, ranks;
/// `command` is what was typed.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, compare, comparison_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 2 };
/// let found = compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?;
/// let page = comparison_page(&found, "mercer compare ...")?;
/// assert!(page.contains("Comparison on toys") && !page.contains("<script src"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn comparison_page(comparison: &Comparison, command: &str) -> Result<String, WorkbenchError> {
    let mut report = Report::new(format!("Comparison on {}", comparison.data))
        .subtitle(format!("{}, {} splits", comparison.task, comparison.splits))
        .provenance("Command", command)
        .provenance("Library", env!("CARGO_PKG_VERSION"));
    for (name, value) in &comparison.provenance {
        report = report.provenance(*name, value.clone());
    }
    Ok(with_comparison(report, comparison, "", "")?.to_html()?)
}

/// The page of several files: ranks and tests over the files, then what is said of each; `command` is
/// what was typed.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, across, across_page, compare};
/// let names = ["kernel-ridge".to_owned(), "majority".to_owned()];
/// let splitting = Splitting::Folds { folds: 2, repeats: 1 };
/// let mut files = Vec::new();
/// for name in ["toys", "others"] {
///     let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
///     let file = RowFile::spooled(text.as_bytes(), name, None)?;
///     let table = Table::read(&file, &SchemaOptions::default())?;
///     files.push(compare(BASELINES, &names, &table, splitting, &Choices::plain(), |_, _, _| {})?);
/// }
/// let page = across_page(&across(files)?, "mercer compare ...")?;
/// assert!(page.contains("Over all files"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn across_page(across: &Across, command: &str) -> Result<String, WorkbenchError> {
    let count = across.files.len();
    let mut section = Section::new("across", "Over all files")
        .intro(across_intro(across))
        .block(Block::Table(means_table(across)));
    if let Some(cd) = across.critical_difference {
        let ranks: Vec<(String, f64)> =
            across.methods.iter().filter_map(|m| Some((m.title.clone(), m.rank?))).collect();
        let diagram = critical_difference("across-ranks", "Mean ranks over the files", &ranks, cd)?
            .caption(
                "Methods joined by a bar differ by less than Nemenyi's critical difference at 5 %: \
                 one rank a file, so the files count and their splits do not.",
            );
        section = section.block(Block::Diagram(diagram));
    }
    if !across.pairs.is_empty() {
        section = section.block(Block::Table(across_pairs(across)));
    }
    let mut report = Report::new(format!("Comparison on {count} files"))
        .subtitle(format!("{} methods", across.methods.len()))
        .provenance("Command", command)
        .provenance("Library", env!("CARGO_PKG_VERSION"))
        .section(section);
    for (at, file) in across.files.iter().enumerate() {
        for (name, value) in &file.provenance {
            // What the files have in common stands there once.
            if at == 0 || ["Data", "SHA-256", "Filled in", "Left out"].contains(name) {
                report = report.provenance(*name, value.clone());
            }
        }
        report = with_comparison(report, file, &format!("file-{}-", at + 1), &file.data)?;
    }
    Ok(report.to_html()?)
}

fn across_intro(across: &Across) -> String {
    let mut text =
        "One number a file and method: the mean over its splits. Ranks count from 1, the \
                    best, and ties share the mean of their places."
            .to_owned();
    if let Some(test) = &across.friedman {
        let p = test.p_iman_davenport;
        let files = test.datasets;
        let _ = write!(
            text, // writing to a string cannot fail
            " That all methods rank alike: Friedman's test with Iman and Davenport's correction, \
             p = {p:.4} over {files} files."
        );
    }
    if across.methods.iter().any(|method| method.rank.is_none()) {
        text += " A method that failed on a file has no rank.";
    }
    text
}

fn means_table(across: &Across) -> Table {
    let heads = std::iter::once(Column::left("File"))
        .chain([Column::left("metric")])
        .chain(across.methods.iter().map(|method| Column::right(method.title.clone())));
    let mut table = Table::new("across-means", "Mean scores")
        .caption("Bold is the best of a file; the last row has the mean ranks.")
        .columns(heads);
    for (at, file) in across.files.iter().enumerate() {
        let (factor, digits) = scale_of(file.primary());
        let means = || across.methods.iter().map(|method| method.means[at]);
        let larger = file.primary().larger_is_better();
        let best = means().flatten().reduce(|a, b| if larger { a.max(b) } else { a.min(b) });
        let metric = if factor > 1.0 { format!("{}, %", file.metric) } else { file.metric.into() };
        let mut cells = vec![Cell::text(file.data.clone()), Cell::text(metric)];
        cells.extend(means().map(|mean| match mean {
            Some(mean) => {
                let cell = Cell::number(factor * mean, digits);
                if best.is_some_and(|best| best.to_bits() == mean.to_bits()) {
                    cell.bold()
                } else {
                    cell
                }
            }
            None => Cell::missing("failed", "see the file below"),
        }));
        table = table.row(Row::new(cells));
    }
    let mut ranks = vec![Cell::text("mean rank"), Cell::text("")];
    let of = |rank: Option<f64>| rank.map_or_else(|| Cell::text("-"), |r| Cell::number(r, 2));
    ranks.extend(across.methods.iter().map(|method| of(method.rank)));
    table.row(Row::new(ranks))
}

fn across_pairs(across: &Across) -> Table {
    let title = |name: &str| {
        let found = across.methods.iter().find(|method| method.method == name);
        found.map_or_else(|| name.to_owned(), |method| method.title.clone())
    };
    let mut table = Table::new("across-pairs", "The best mean rank against the others")
        .caption(
            "Wilcoxon's signed-rank test over the files, of differences of accuracies or of the \
             logarithms of errors; Holm adjusts for the number of pairs. That the best was chosen \
             by looking is in neither.",
        )
        .columns([Column::left("Best"), Column::left("Other")])
        .columns(["better", "equal", "worse", "p", "p Holm"].map(Column::right));
    for pair in &across.pairs {
        let [better, equal, worse] = pair.wins.map(Cell::count);
        table = table.row(Row::new([
            Cell::text(title(&pair.best)),
            Cell::text(title(&pair.other)),
            better,
            equal,
            worse,
            p_value(pair.p),
            p_value(pair.p_holm),
        ]));
    }
    table
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
    let metric = comparison.primary();
    let (rows, columns) = comparison.shape;
    let scale = scale_of(metric);
    let chance = if metric == Metric::Accuracy {
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
    let intro = format!(
        "{} rows and {} input columns of `{}`, target `{}`. Every method saw the same splits: {}. \
         {chance}{notes}",
        rows, columns, comparison.data, comparison.target, comparison.splitting
    );
    let mut results = Section::new(id("methods"), head("The methods"))
        .intro(intro)
        .block(Block::Table(scores_table(comparison, id("scores"))))
        .block(Block::Figure(spread(comparison, metric, scale, id("spread"))));
    if let Some(cd) = comparison.critical_difference {
        let ranks: Vec<(String, f64)> = comparison
            .methods
            .iter()
            .filter_map(|method| Some((method.title.clone(), method.rank?)))
            .collect();
        let diagram = critical_difference(id("ranks"), "Mean ranks over the splits", &ranks, cd)?
            .caption(
                "Methods joined by a bar differ by less than Nemenyi's critical difference at 5 %. \
                 It takes the splits for independent, which they are not: where it parts two \
                 methods and the corrected test does not, believe the test.",
            );
        results = results.block(Block::Diagram(diagram));
    }
    let mut report = report.section(results);
    if !comparison.pairs.is_empty() {
        let text = "The best mean against each other method. *Corrected* is the resampled t-test of \
                    Nadeau and Bengio (2003), whose variance allows for training parts that overlap; \
                    *Holm* adjusts it for the number of pairs; *naive* is the paired t-test that \
                    takes splits for independent, and finds too much. That the best was chosen by \
                    looking is in none of them.";
        let section = Section::new(id("tests"), head("Which differences are real"))
            .intro(text)
            .block(Block::Table(pairs_table(comparison, scale, id("pairs"))));
        report = report.section(section);
    }
    let settings = Block::Table(settings_table(comparison, id("settings")));
    Ok(report.section(Section::new(id("settings-used"), head("Settings")).block(settings)))
}

/// Accuracies are shown in percent.
fn scale_of(metric: Metric) -> (f64, usize) {
    if metric == Metric::Accuracy { (100.0, 2) } else { (1.0, 4) }
}

fn scores_table(comparison: &Comparison, id: String) -> Table {
    let evaluations = || comparison.methods.iter().filter_map(|m| m.evaluation.as_ref().ok());
    let mut names: Vec<&String> = evaluations().flat_map(|e| e.estimates.keys()).collect();
    names.sort();
    names.dedup();
    let best = |name: &str| {
        let means = evaluations().filter_map(|e| e.estimates.get(name)).map(|e| e.mean);
        let means: Vec<f64> = means.collect();
        let larger = larger_is_better(name);
        // The only method that has probabilities is not the best of any.
        let rivals = means.len() > 1;
        let best = means.into_iter().reduce(|a, b| if larger { a.max(b) } else { a.min(b) });
        best.filter(|_| rivals)
    };
    let unit = |name: &str| if is_share(name) { format!("{name}, %") } else { name.to_owned() };
    let heads = std::iter::once(Column::left("Method"))
        .chain(names.iter().map(|name| Column::right(unit(name))))
        .chain([Column::right("mean rank")]);
    let mut table = Table::new(id, "Scores on rows not fitted to")
        .caption("Mean and deviation over the splits (divided by J - 1); bold is the best mean.")
        .columns(heads);
    for method in &comparison.methods {
        let mut cells = vec![Cell::text(method.title.clone())];
        match &method.evaluation {
            Ok(evaluation) => {
                for name in &names {
                    cells.push(score_cell(evaluation, name, best(name)));
                }
            }
            Err(error) => {
                cells.extend(names.iter().map(|_| Cell::missing("failed", error.clone())));
            }
        }
        cells.push(method.rank.map_or_else(|| Cell::text("-"), |rank| Cell::number(rank, 2)));
        table = table.row(Row::new(cells));
    }
    table
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
            "95 % interval of the mean: {:.digits$} to {:.digits$}",
            factor * low,
            factor * high
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
    is_share(name) || ["r2", "auc"].contains(&name)
}

fn pairs_table(comparison: &Comparison, (factor, digits): (f64, usize), id: String) -> Table {
    let title = |name: &str| {
        let found = comparison.methods.iter().find(|method| method.method == name);
        found.map_or_else(|| name.to_owned(), |method| method.title.clone())
    };
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
    for pair in &comparison.pairs {
        let verdict = if pair.p_holm < 0.05 {
            Cell::text("").badge("differs", Kind::Good)
        } else {
            Cell::text("").badge("not told apart", Kind::Neutral)
        };
        let (low, high) = pair.interval;
        table = table.row(Row::new([
            Cell::text(title(&pair.best)),
            Cell::text(title(&pair.other)),
            Cell::number(factor * pair.difference, digits),
            Cell::text(format!("{:.digits$} to {:.digits$}", factor * low, factor * high)),
            p_value(pair.p_naive),
            p_value(pair.p_corrected),
            p_value(pair.p_holm),
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
            let values = evaluation.splits.iter().map(|split| factor * split[metric.name()]);
            Some((method.title.as_str(), values.collect()))
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
        .series(Series::points("mean", means))
        .mark(Mark::Horizontal {
            y: factor * comparison.chance,
            label: "without the inputs".to_owned(),
        });
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
        table = table.row(Row::new([Cell::text(method.title.clone()), Cell::text(text)]));
    }
    table
}

/// Names and values in a line that can be broken.
fn listed<'a>(settings: impl Iterator<Item = (&'a str, &'a serde_json::Value)>) -> String {
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

/// The page of a tuning: every candidate with its score, by rung.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Budget, Choices, Table, method_for, tune, tuning_page};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let method = method_for(BASELINES, "kernel-ridge", table.task())?;
/// let tuning = tune(method, &table, Budget::Candidates(3), &Choices::plain())?;
/// let page = tuning_page(&table.name, method, table.task(), &tuning)?;
/// assert!(page.contains("kernel ridge"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// What a figure returns.
pub fn tuning_page(
    data: &str,
    method: &Method,
    task: Task,
    tuning: &Tuning,
) -> Result<String, WorkbenchError> {
    let (factor, label) = if is_classes(task) {
        (100.0, "accuracy, %")
    } else {
        (-1.0, "error, in deviations of the target")
    };
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
    let figure =
        Figure::new("history", "Scores on the held-out fifth of the training rows").panel(panel);
    let mut table = Table::new("candidates", "All candidates").columns([
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
        table = table.row(Row::new(row));
    }
    let chosen = serde_json::to_string(&tuning.chosen).unwrap_or_default();
    let section = Section::new("tuning", "What was tried")
        .intro(format!(
            "Successive halving on four fifths of the training rows, scored on the rest; ties go to \
             the earlier candidate. Chosen: `{chosen}`."
        ))
        .block(Block::Figure(figure))
        .block(Block::Table(table));
    let report = Report::new(format!("Tuning {} on {data}", method.title))
        .subtitle(method.summary)
        .provenance("Library", env!("CARGO_PKG_VERSION"))
        .section(section);
    Ok(report.to_html()?)
}
