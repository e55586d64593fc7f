//! Table 1: accuracy of kernel and random-feature methods on the paper's datasets, and on vowel.

use crate::accuracies::{Accuracies, RANDOM_SPLITS};
use crate::{Artefact, Desk, ExperimentError, Rendered};
use mercer_render::{Cell, Column, Row, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "rftk/table1",
    title: "Test accuracy of kernel and random-feature methods",
    studies: &["rftk/table1"],
    datasets: &[],
    computed: &[],
    render,
};

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = Accuracies {
        artefact: &ARTEFACT,
        study: "rftk/table1",
        paper: "rftk",
        methods: &[
            ("kernel-ridge", "KernelRidge"),
            ("kernel-ridgeless", "KernelRidgeless"),
            ("rf-ridgeless", "RF"),
            ("rf-sgd", "RF-SGD"),
            ("rftk", "RFTK"),
        ],
        splits: RANDOM_SPLITS,
        notes: &[
            "Sensorless is in no mirror that was found: its cells say so.",
            "Vowel was run by the authors and left out of the printed table; its published numbers are from output saved with their code.",
        ],
    };
    let mut rendered = table.render(desk)?;
    rendered.tables.push(iterations(desk)?);
    Ok(rendered)
}

/// How far the iterations came where the matrix was too large to store.
fn iterations(desk: &Desk<'_>) -> Result<Table, ExperimentError> {
    let study = desk.cells(ARTEFACT.studies[0])?;
    let mut table = Table::new("rftk/table1-iterations", "Kernel systems too large to store")
        .caption("Conjugate gradients on the cells that the paper prints as /: rows, iterations, relative residual of the worst right-hand side, whether it is below the tolerance, test accuracy; minutes of the fit and GiB that the trial held, with other work on the machine.")
        .columns(["Variant", "Dataset", "Method"].map(Column::left))
        .columns(["Rows", "Iterations", "Residual"].map(Column::right))
        .columns([Column::left("Ended")])
        .columns(["Accuracy (%)", "Minutes", "GiB"].map(Column::right));
    for cell in &study.1 {
        for record in cell.records() {
            let (facts, result) = (&record.result.facts, &record.result);
            let (Some(residual), Some(iterations)) =
                (facts.get("residual"), facts.get("iterations"))
            else {
                continue;
            };
            let converged = result.convergence.get("status").and_then(|status| status.as_str());
            let ended = match converged {
                Some("converged") => "converged".to_owned(),
                _ => format!("not converged, residual {residual:.1e}"),
            };
            let accuracy = result.metrics.get("accuracy").map_or(f64::NAN, |share| 100.0 * share);
            let minutes = record.run.seconds.get("fit").map_or(f64::NAN, |s| s / 60.0);
            table = table.row(Row::new([
                Cell::text(&record.key.variant),
                Cell::text(&record.key.dataset),
                Cell::text(cell.label()),
                Cell::count(result.rows[0] as usize),
                Cell::number(*iterations, 0),
                Cell::text(format!("{residual:.1e}")).sort(*residual),
                Cell::text(ended),
                Cell::number(accuracy, 2),
                Cell::number(minutes, 1),
                Cell::number(record.run.peak_bytes as f64 / f64::from(1 << 30), 2),
            ]));
        }
    }
    Ok(table)
}
