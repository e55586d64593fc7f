//! Ours: stage 1 over all pairs in linear time, where the paper's methods reach the majority rate.

use mercer_learning::fact;
use mercer_render::{Cell, Column, Kind, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};
use mercer_statistics::summarise;

const GIB: f64 = 1_073_741_824.0;
const STUDIES: [&str; 2] = ["hyper/all-pairs", "hyper/covtype"];

/// An estimated error in percent, marked where factors ended before the tolerance asked for was met.
fn error(share: f64, open: usize) -> Cell {
    let cell = Cell::number(100.0 * share, 2);
    if open > 0 { cell.badge("tolerance not met", Kind::Muted) } else { cell }
}

/// What was wanted of ijcnn1 before it was run: accuracy and balanced accuracy, in percent.
const WANTED: [(&str, &str, f64); 2] =
    [("accuracy", "accuracy", 96.0), ("balanced-accuracy", "balanced accuracy", 87.0)];

/// Whether a variant has it.
fn goals(cell: &mercer_report::StudyCell) -> Option<String> {
    if cell.key().dataset != "ijcnn1" || cell.key().method != "hyper-krr-linear" {
        return None;
    }
    let mut said = Vec::new();
    for (metric, name, wanted) in WANTED {
        let values: Vec<f64> = cell.of(metric).into_iter().map(|(_, value)| value).collect();
        let found = 100.0 * summarise(&values)?.mean;
        let word = if found >= wanted { "met" } else { "missed" };
        said.push(format!("at least {wanted:.0} % {name} ({word}: {found:.2} %)"));
    }
    Some(format!(
        "Wanted of ijcnn1 before it was run, {}: {}.",
        cell.key().variant,
        said.join(", ")
    ))
}

/// How far the features of a second stage are from the kernel that they stand in for.
fn apart(cell: &mercer_report::StudyCell) -> Option<String> {
    let errors = cell.of(fact::FEATURES_ERROR).into_iter().map(|(_, error)| error);
    let error = summarise(&errors.collect::<Vec<_>>())?.mean;
    Some(format!(
        "{}, {}: the features of stage 2 (at most 100 pivots of the pair kernel, functions of a thousandth of the largest eigenvalue and more) differ from the learned kernel by {:.1} % of its norm, over 200 training rows, in the mean over repeats.",
        cell.key().dataset,
        cell.key().variant,
        100.0 * error
    ))
}

/// Where a method and the machine beside it do not have the same repeats: their means over those that both
/// have.
pub(super) fn uneven(cells: &[mercer_report::StudyCell]) -> Vec<String> {
    let repeats = |cell: &mercer_report::StudyCell| -> Vec<u32> {
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
            "{}, {}: the two do not have the same repeats; over those that both have ({}) {} has {a:.2} % and {} {b:.2} %.",
            ours.key().dataset,
            ours.key().variant,
            common.len(),
            ours.label(),
            theirs.label(),
        ))
    })
    .collect()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Accuracy and balanced accuracy in percent on the official test rows; facts of the learned kernel: columns of the pair kernel's factor; relative error of the normal matrix over all pairs, in percent, estimated from the pairs of 1000 rows (its guaranteed bound stands among the facts of the records); relative error of the learned kernel in the norm of the regression, in percent, by the residual that the solution leaves in the equations of the same landmarks over all pairs: this is what is asked to be within 1 %, and a cell says where it is not (older fits asked it of the normal matrix only, and did not say the other; how far 14 landmarks are from the exact solution is another matter: audit/hyper-third-factor); share of negative eigenvalue mass; processor seconds of the final fit, stage 2 included (median; - where only the clock on the wall was kept), and its peak memory in GiB. Printed for ijcnn1 on another machine: hyper-KRR 89.71 to 90.94 % in 752 to 1375 s, distributed BMKL 97.34 to 97.36 % in 5845 to 230576 s. Means over repeats (seeds: landmarks and rows of stage 2). The SVM has the rows of stage 2.")
        .columns(["Dataset", "Variant", "Method"].map(Column::left))
        .columns(["Accuracy", "Balanced", "Rank", "Error, %", "Solution, %", "Negative mass", "Support", "Fit, s", "GiB", "Repeats"].map(Column::right));
    let studies =
        STUDIES.iter().map(|study| context.cells(study)).collect::<Result<Vec<_>, _>>()?;
    for cell in studies.iter().flat_map(|study| &study.1) {
        let records: Vec<_> = cell
            .records()
            .filter(|record| record.result.metrics.contains_key("accuracy"))
            .collect();
        if records.is_empty() {
            continue;
        }
        let mean = |of: &dyn Fn(&mercer_records::Record) -> Option<f64>| {
            let values: Vec<f64> = records.iter().filter_map(|record| of(record)).collect();
            summarise(&values).map_or(f64::NAN, |summary| summary.mean)
        };
        let median = |of: &dyn Fn(&mercer_records::Record) -> Option<f64>| {
            let values: Vec<f64> = records.iter().filter_map(|record| of(record)).collect();
            summarise(&values).map_or(f64::NAN, |summary| summary.median)
        };
        let metric = |name: &str| 100.0 * mean(&|record| record.result.metrics.get(name).copied());
        let fact = |name: &str| mean(&|record| record.result.facts.get(name).copied());
        let solved = fact("solution-error");
        table = table.row(Row::new([
            Cell::text(&cell.key().dataset),
            Cell::text(&cell.key().variant),
            Cell::text(cell.label()),
            Cell::number(metric("accuracy"), 2),
            Cell::number(metric("balanced-accuracy"), 2),
            Cell::number(fact("pair-kernel-rank"), 0),
            // What the older fits were asked for, and what later ones are.
            error(fact("normal-error"), if solved.is_nan() { cell.open() } else { 0 }),
            error(solved, if solved.is_nan() { 0 } else { cell.open() }),
            Cell::number(fact("negative-mass"), 3),
            Cell::number(fact("support-vectors"), 0),
            Cell::number(median(&|record| record.run.processor_seconds.get("fit").copied()), 1),
            Cell::number(mean(&|record| Some(record.run.peak_bytes as f64 / GIB)), 2),
            Cell::text(format!("{}/{}", records.len(), cell.repeats_of_paper())),
        ]));
    }
    for (_, cells) in studies.iter().map(|study| &**study) {
        for note in uneven(cells) {
            table = table.note(note);
        }
    }
    for cell in studies.iter().flat_map(|study| &study.1) {
        table = goals(cell).into_iter().chain(apart(cell)).fold(table, Table::note);
    }
    table = table.note("Stage 1 alone was wanted in at most 3 s on two cores, together with both shares. On two cores it takes 1.1 to 1.3 s as tuned with 3000 rows in stage 2, 2.6 to 2.8 with 8000 (benches/README.md; the seconds of this table are of one core, beside other work): with 8000 rows a fit has all three.");
    for (study, _) in studies.iter().map(|study| &**study) {
        for variant in &study.variants {
            table =
                table.note(format!("{}, {}: {}.", study.artefact, variant.name, variant.summary));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
