//! Bound (11) of ASKL beside that of NSKL, from output weights that start at 0 and from those of the code.

use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("theory/askl-start")?;
    let (spec, cells) = &*study;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Trace norm of the output weights at the end of training, and bound (11) of ASKL over that of NSKL, without the factor that both share. Means over repeats. Below 1 ASKL has the lower bound.")
        .columns(["Dataset", "Start"].map(Column::left))
        .columns(["Trace norm, ASKL", "Trace norm, NSKL", "Bound, ASKL over NSKL", "Repeats"].map(Column::right));
    for dataset in &spec.datasets {
        for variant in &spec.variants {
            let of = |method: &str| {
                cells.iter().find(|cell| {
                    let key = cell.key();
                    (&key.dataset, &key.variant) == (dataset, &variant.name) && key.method == method
                })
            };
            let (Some(askl), Some(nskl)) = (of("askl"), of("nskl")) else { continue };
            let [Some(own), Some(other)] = [askl, nskl].map(|cell| mean(cell, fact::TRACE_NORM))
            else {
                continue;
            };
            let features = [askl, nskl].map(|cell| mean(cell, fact::FEATURE_NORM_SQUARED));
            let ratio = match features {
                [Some(a), Some(b)] if other > 0.0 => own / other * (a / b).sqrt(),
                _ => f64::NAN,
            };
            table = table.row(
                Row::new([
                    Cell::text(dataset),
                    Cell::text(&variant.name),
                    Cell::number(own, 2),
                    Cell::number(other, 2),
                    Cell::number(ratio, 3),
                    Cell::count(askl.records().count()),
                ])
                .under(dataset),
            );
        }
    }
    for variant in &spec.variants {
        table = table.note(format!("{}: {}.", variant.name, variant.summary));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

fn mean(cell: &StudyCell, name: &str) -> Option<f64> {
    let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
    summarise(&values).map(|summary| summary.mean)
}
