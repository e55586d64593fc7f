//! Table 3: large data by divide and conquer, with what the printed accuracies leave out: the
//! majority class, balanced accuracy, and the recall of the rare class.

use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::PublishedCell;
use mercer_report::{Artefact, CellReport, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_report::{PublishedComparison, shown as judged, summary};
use mercer_statistics::summarise;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let (large, forest) = (context.cells("hyper/table3")?, context.cells("hyper/covtype")?);
    // Ours over all pairs has a table of its own; here it stands beside the paper's route, as on covtype.
    let whole = context.cells("hyper/all-pairs")?;
    let ours =
        whole.1.iter().filter(|cell| cell.score().is_some() && cell.key().method != "majority");
    let cells: Vec<&StudyCell> = large.1.iter().chain(&forest.1).chain(ours).collect();
    let (_, printed) = context.catalogue.published("hyper")?;
    let mut reports = Vec::new();
    let mut table = empty_table(artefact);
    for dataset in ["ijcnn1", "covtype"] {
        let of_dataset = |cell: &&StudyCell| cell.key().dataset == dataset;
        let own: Vec<&StudyCell> = cells.iter().copied().filter(of_dataset).collect();
        let majority = own
            .iter()
            .find(|cell| cell.key().method == "majority")
            .and_then(|cell| mean(cell, "accuracy"));
        for cell in own {
            let theirs = printed.iter().find(|theirs| is_of(theirs, dataset, cell));
            let judged = theirs.map(|theirs| against(cell, theirs, artefact).report(context));
            let report = judged.transpose()?;
            let beside = Beside::of(&printed, theirs);
            table = table.row(line(cell, majority, report.as_ref(), beside).under(dataset));
            reports.extend(report);
        }
        let alone = printed.iter().filter(|theirs| {
            is_accuracy(theirs, dataset) && !cells.iter().any(|cell| is_of(theirs, dataset, cell))
        });
        for theirs in alone {
            table = table.row(not_planned(&printed, theirs).under(dataset));
        }
    }
    for (dataset, spec) in [("ijcnn1", &large.0), ("covtype", &forest.0)] {
        for variant in &spec.variants {
            table = table.note(format!("{dataset}, {}: {}.", variant.name, variant.summary));
        }
    }
    table = table.note(
        "ijcnn1, tuned, more-rows, features, all-rows: ours over all pairs, tuned, and the Gaussian SVM on the rows of its second stage (hyper/all-pairs).",
    );
    table = SEARCHED.into_iter().fold(table, Table::note);
    for note in uneven(&large.1).into_iter().chain(uneven(&forest.1)) {
        table = table.note(note);
    }
    for dataset in ["ijcnn1", "covtype"] {
        for note in CORNERS.iter().filter_map(|corner| cornered(&cells, dataset, corner)) {
            table = table.note(note);
        }
    }
    let verdicts = summary(
        &artefact.id,
        &artefact.title,
        "Verdicts over the printed accuracies whose variant is planned here, as in Table 2; printed seconds are of another computer and are not judged. A printed accuracy has no standard deviation and counts as exact.",
        &reports,
    );
    Ok(Rendered { tables: vec![table, verdicts], cells: reports, ..Rendered::default() })
}

/// The accuracy of a cell against a printed one.
fn against<'a>(
    cell: &'a StudyCell,
    theirs: &'a PublishedCell,
    artefact: &'a Artefact,
) -> PublishedComparison<'a> {
    PublishedComparison {
        artefact: &artefact.id,
        cell,
        label: format!("{}, {}", theirs.method, cell.key().variant),
        metric: "accuracy",
        values: cell.values().into_iter().map(|(_, value)| value).collect(),
        theirs: Some(theirs),
        scale: 1.0,
        repeats: 1,
    }
}

/// The line of a printed accuracy that has no cell here.
fn not_planned(printed: &[PublishedCell], theirs: &PublishedCell) -> Row {
    let Beside { accuracy, seconds } = Beside::of(printed, Some(theirs));
    let mut line = vec![Cell::text(parts(theirs)), Cell::text(&theirs.method), accuracy];
    line.push(Cell::text("not planned"));
    line.extend(["", ""].map(Cell::text));
    line.push(seconds);
    line.extend([""; 6].map(Cell::text));
    Row::new(line)
}

/// The table without its rows.
fn empty_table(artefact: &Artefact) -> Table {
    let table = Table::new(&artefact.id, &artefact.title)
        .caption("Accuracy and time of learned kernels on ijcnn1 (official test part) and covtype (class 2 against the rest, all rows that do not train). On the paper's route twice the subsets have twice the pairs, so differences between v are not the effect of subsets alone.")
        .columns([Column::left("Variant"), Column::left("Method")])
        .columns(
            [
                "published",
                "accuracy",
                "balanced accuracy",
                "recall of the rare class",
                "published seconds",
                "seconds to tune",
                "to fit",
                "to predict",
                "training rows",
                "pairs",
                "repeats",
            ]
            .map(Column::right),
        );
    NOTES.into_iter().fold(table, Table::note)
}

/// What the columns mean.
const NOTES: [&str; 6] = [
    "Accuracies and recall are in percent. The recall of the rare class follows from accuracy and balanced accuracy, given the share of the majority class.",
    "Seconds: processor seconds on one thread, medians over repeats. Printed seconds are of another computer and of all v parts.",
    "Tuned variants search before the fit. The methods of the paper's route and SVM-CV search within it, so their seconds to fit include the search.",
    "Repeats that share a search have the seconds of the repeat that ran it. They are empty where only wall-clock time was kept.",
    "Training rows: rows that a method was fitted to. Small print: the available rows, if a cap left some out, or the rows of stage 2, if it has fewer.",
    "Pairs: ordered pairs that the regression sums over. Repeats: run, of planned.",
];

/// Where a method and the machine beside it do not have the same repeats: their means over those that both
/// have.
fn uneven(cells: &[StudyCell]) -> Vec<String> {
    let repeats = |cell: &StudyCell| -> Vec<u32> {
        cell.of("accuracy").into_iter().map(|(repeat, _)| repeat).collect()
    };
    let ours = cells.iter().filter(|cell| cell.key().method == "hyper-krr-linear");
    ours.filter_map(|ours| {
        let theirs = cells.iter().find(|cell| {
            cell.key().method == "gaussian-svm" && cell.key().variant == ours.key().variant
        })?;
        if repeats(ours) == repeats(theirs) {
            return None;
        }
        let common = mercer_report::common_repeats(&[ours, theirs]);
        let (a, b) = (ours.mean_over(&common)?, theirs.mean_over(&common)?);
        Some(format!(
            "{}, {}: the two methods have different repeats. Over the repeats that both have ({}) {} has {a:.2} % and {} {b:.2} %.",
            ours.key().dataset,
            ours.key().variant,
            common.len(),
            ours.label(),
            theirs.label(),
        ))
    })
    .collect()
}

/// The printed accuracy and seconds of a row; empty where the paper has none.
struct Beside {
    accuracy: Cell,
    seconds: Cell,
}

impl Beside {
    fn of(printed: &[PublishedCell], theirs: Option<&PublishedCell>) -> Self {
        let seconds = theirs.and_then(|theirs| {
            printed.iter().find(|other| {
                other.metric == "seconds"
                    && (&other.dataset, &other.method) == (&theirs.dataset, &theirs.method)
                    && parts(other) == parts(theirs)
            })
        });
        let cell = |cell: Option<&PublishedCell>, digits| {
            cell.map_or_else(|| Cell::text(""), |cell| Cell::number(cell.mean, digits))
        };
        Self { accuracy: cell(theirs, 2), seconds: cell(seconds, 0) }
    }
}

/// Into how many parts the rows were divided: `v=5`.
fn parts(cell: &PublishedCell) -> &str {
    cell.setting.split(' ').next().unwrap_or_default()
}

fn is_accuracy(cell: &PublishedCell, dataset: &str) -> bool {
    (cell.table.as_str(), cell.dataset.as_str()) == ("3", dataset)
        && cell.metric == "accuracy_percent"
}

/// Whether a printed accuracy is that of a cell of ours.
fn is_of(theirs: &PublishedCell, dataset: &str, cell: &StudyCell) -> bool {
    let own = METHODS.iter().find(|(own, _)| *own == cell.key().method);
    is_accuracy(theirs, dataset)
        && cell.key().dataset == dataset
        && own.is_some_and(|(_, name)| theirs.method == *name)
        && parts(theirs) == cell.key().variant
}

/// What the settings of the paper's route were chosen by, which is not what they are used in.
const SEARCHED: [&str; 4] = [
    "The paper's route (v=...): the folds tune another solution than the fit uses. So the chosen settings need not be the best for the fit.",
    "The folds solve hyper-KRR and hyper-SVR exactly, over all pairs of at most 100 points (the non-negative regression in the span of 20 landmarks' pairs). The fit has 14 landmarks and 20,000 random pairs in each subset.",
    "The fit uses λ as it was chosen, and for the regression the C of the same ridge.",
    "No cell changes negative eigenvalues of the learned kernel. audit/hyper-subsets shows the effect of clipping on covtype.",
];

/// The first of all settings that a search tries, which it takes where none is better: the least spread, penalty
/// and cost.
struct Corner {
    /// Whether it is that of the regression with a tube. Older records of the others have its fact, too.
    tube: bool,
    penalty: &'static str,
    /// The fact of the penalty that was chosen, whose least value is 1e-5.
    fact: &'static str,
    means: &'static str,
}

const CORNERS: [Corner; 2] = [
    Corner { tube: false, penalty: "λ", fact: "chosen-lambda", means: "the least regularised" },
    Corner {
        tube: true,
        penalty: "the regression's C",
        fact: "chosen-pair-cost",
        means: "the most regularised, whose kernel is next to a constant",
    },
];

/// How often the searches of a penalty ended where they began. The rows that a search divides are drawn by the repeat
/// alone: searches of other methods and numbers of subsets on the same rows are no further evidence.
fn cornered(cells: &[&StudyCell], dataset: &str, corner: &Corner) -> Option<String> {
    let (mut searched, mut first) = (0, 0);
    let (mut of, mut draws) = (BTreeSet::new(), BTreeMap::new());
    let own = |cell: &&&StudyCell| {
        cell.key().dataset == dataset && (cell.key().method == "hyper-svr") == corner.tube
    };
    for cell in cells.iter().filter(own) {
        for record in cell.records() {
            let facts = &record.result.facts;
            let near = |(name, least): (&str, f64)| {
                facts.get(name).is_some_and(|&value| (value / least - 1.0).abs() < 1e-9)
            };
            let (Some(right), Some(points), Some(_)) =
                (facts.get("search-right"), facts.get("search-points"), facts.get(corner.fact))
            else {
                continue;
            };
            searched += 1;
            let least = [(corner.fact, 1e-5), ("chosen-spread", 0.25), ("chosen-cost", 0.03125)];
            if least.into_iter().all(near) {
                first += 1;
                of.insert(cell.label());
                draws.insert(record.key.repeat, format!("{right:.0} of {points:.0}"));
            }
        }
    }
    let right =
        draws.iter().map(|(repeat, right)| format!("{right} rows right in repeat {repeat}"));
    let right = right.collect::<Vec<_>>().join(", ");
    let many = match draws.len() {
        0 => return None,
        1 => "one draw of rows".to_owned(),
        more => format!("{more} draws of rows"),
    };
    let Corner { penalty, means, .. } = corner;
    Some(format!(
        "{dataset}: {first} of {searched} searches of {penalty} chose the first corner of the grid ({penalty} = 1e-5, {means}, spread 0.25, C = 2^-5; {}), with {right}. These are only {many}, shared by the methods and by all numbers of subsets. The search takes the first of equally good settings, and all are equally good where none finds the rare class.",
        of.into_iter().collect::<Vec<_>>().join(", ")
    ))
}

/// Our names of the printed methods.
const METHODS: [(&str, &str); 4] = [
    ("hyper-non-negative", "Pan2017"),
    ("hyper-krr", "hyper-KRR"),
    ("hyper-svr", "hyper-SVR"),
    ("distributed-bmkl", "distributed BMKL"),
];

fn mean(cell: &StudyCell, name: &str) -> Option<f64> {
    let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
    summarise(&values).map(|summary| summary.mean)
}

/// Recall of the rare class from accuracy, balanced accuracy and the majority's share:
/// `a = p r₀ + (1 − p) r₁`, `2 b = r₀ + r₁`.
fn rare_recall(accuracy: f64, balanced: f64, majority: f64) -> Option<f64> {
    let spread = 1.0 - 2.0 * majority;
    (spread.abs() > 1e-3).then(|| (accuracy - 2.0 * majority * balanced) / spread)
}

fn line(
    cell: &StudyCell,
    majority: Option<f64>,
    report: Option<&CellReport>,
    beside: Beside,
) -> Row {
    let percent = |value: Option<f64>| {
        value.map_or_else(|| Cell::text(""), |value| Cell::number(100.0 * value, 2))
    };
    let (accuracy, balanced) = (mean(cell, "accuracy"), mean(cell, "balanced-accuracy"));
    let recall = match (accuracy, balanced, majority) {
        (Some(a), Some(b), Some(p)) => rare_recall(a, b, p),
        _ => None,
    };
    let seconds = |phase: &str| {
        let values: Vec<f64> =
            cell.records().filter_map(|r| r.run.processor_seconds.get(phase).copied()).collect();
        summarise(&values).map_or_else(|| Cell::text(""), |summary| Cell::number(summary.median, 1))
    };
    let repeats = cell.of("accuracy").len();
    let shown = accuracy.map_or_else(
        || {
            let command = format!("mercer reproduce {} --profile paper", cell.key().artefact);
            Cell::missing("not run yet", command)
        },
        |value| {
            let shown = Cell::number(100.0 * value, 2);
            let shown = report.map_or(shown.clone(), |report| judged(shown, report));
            match cell.open_in_words() {
                Some(open) => shown.detail(open),
                None => shown,
            }
        },
    );
    Row::new([
        Cell::text(&cell.key().variant),
        Cell::text(cell.label()),
        beside.accuracy,
        shown,
        percent(balanced),
        percent(recall),
        beside.seconds,
        if cell.tuning() == "tuned" { searched_for(cell) } else { Cell::text("-") },
        seconds("fit"),
        seconds("predict"),
        rows(cell),
        cell.of("pairs")
            .first()
            .map_or_else(|| Cell::text(""), |&(_, pairs)| Cell::number(pairs, 0)),
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
    ])
}

/// Processor seconds of the search: the median of those that ran one. Where the repeats share one the others looked
/// it up, in no time.
fn searched_for(cell: &StudyCell) -> Cell {
    let own = cell.records().filter_map(|r| r.run.processor_seconds.get("tune").copied());
    let own: Vec<f64> = own.collect();
    let longest = own.iter().copied().fold(0.0, f64::max);
    let ran: Vec<f64> = own.into_iter().filter(|seconds| *seconds >= 0.01 * longest).collect();
    summarise(&ran).map_or_else(|| Cell::text(""), |found| Cell::number(found.median, 1))
}

/// Training rows: of the split, of the fit where a cap left some out, and of the machine.
fn rows(cell: &StudyCell) -> Cell {
    let Some(record) = cell.records().next() else { return Cell::text("") };
    let own = |name: &str| {
        let of_fit = cell.of(name).first().map(|&(_, rows)| rows);
        of_fit.filter(|rows| *rows < record.result.rows[0] as f64)
    };
    let all = Cell::number(record.result.rows[0] as f64, 0);
    match (own(fact::ROWS_USED), own("machine-rows")) {
        (Some(used), _) => Cell::number(used, 0).detail(format!("of {}", all.text)),
        (None, Some(machine)) => all.detail(format!("{machine:.0} in stage 2")),
        (None, None) => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_recall_is_what_accuracy_and_balance_leave() {
        // 90 of 100 rows in the majority; 81 of them right, and 4 of the 10 others.
        let (accuracy, balanced) = (0.85, 0.5 * (0.9 + 0.4));
        let recall = rare_recall(accuracy, balanced, 0.9).unwrap();
        assert_abs_diff_eq!(recall, 0.4, epsilon = 1e-12);
        assert_eq!(rare_recall(0.7, 0.7, 0.5), None);
        // The majority class itself finds none of the rare ones.
        assert_abs_diff_eq!(rare_recall(0.9, 0.5, 0.9).unwrap(), 0.0, epsilon = 1e-12);
    }
}
