//! Table 2: the architectures, with what was measured of each.

use super::{Cells, STUDIES, accuracy, complexity::step_seconds, mean_of};
use crate::{Artefact, Desk, ExperimentError, Rendered};
use mercer_datasets::Catalogue;
use mercer_render::{Cell, Column, Row, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "mce/table2",
    title: "Properties of the architectures, printed and measured",
    studies: STUDIES,
    datasets: &[],
    computed: &[],
    render,
};

/// Printed: architecture, width, depth, scalability, flexibility, typical data; and the variant and
/// method that stand for it.
const PRINTED: [([&str; 6], &[StandIn]); 4] = [
    (
        ["Implicit MCE", "wide", "shallow", "low", "high", "high or low d, low n"],
        &[("released", "gmce", Width::Rows)],
    ),
    (
        ["Explicit MCE", "narrow", "shallow", "high", "low", "low d, high n"],
        &[("fourier", "gmce", Width::Fixed(200)), ("monomials", "gmce", Width::Monomials)],
    ),
    (
        ["Implicit CEN", "wide", "deep", "low", "high", "structured d, low n"],
        &[("released", "cen-implicit", Width::Rows)],
    ),
    (
        ["Explicit CEN", "narrow", "deep", "high", "high", "structured d, high n"],
        &[("released", "cen-1", Width::Fixed(8)), ("released", "cen-2", Width::Fixed(32))],
    ),
];

/// Variant, method, and what its steps factor.
type StandIn = (&'static str, &'static str, Width);

/// Size of the matrix that is factored each step.
#[derive(Clone, Copy)]
enum Width {
    /// As many as training rows.
    Rows,
    /// So many features.
    Fixed(usize),
    /// Monomials of degree 2 of the columns.
    Monomials,
}

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(desk)?;
    let mut table = Table::new(ARTEFACT.id, ARTEFACT.title)
        .caption("The printed words for each architecture; and, dataset by dataset where it was run, the size of the matrix that a step factors, seconds a step on one core (beside other work), complexity r and test accuracy on the released folds.")
        .columns(["Architecture", "Width", "Depth", "Scalability", "Flexibility", "Typical data"].map(|head| Column::left(head).under("printed")))
        .columns([Column::left("Here").under("measured"), Column::left("Dataset").under("measured")])
        .columns(["Factored size", "Seconds a step", "r", "Accuracy"].map(|head| Column::right(head).under("measured")));
    for (words, stand_ins) in PRINTED {
        let mut shown = false;
        for (variant, method, width) in stand_ins {
            for dataset in &cells.table.0.datasets {
                let Some(cell) = cells.find(variant, dataset, method) else { continue };
                let rows = cell.records().next().map_or(0, |record| record.result.rows[0] as usize);
                let size = match width {
                    Width::Rows => rows,
                    Width::Fixed(features) => *features,
                    Width::Monomials => {
                        let d =
                            Catalogue::builtin().find(dataset).map_or(0, |entry| entry.features);
                        (d + 1) * (d + 2) / 2
                    }
                };
                let seconds = step_seconds(cell)
                    .map_or_else(|| Cell::text("-"), |s| Cell::text(format!("{s:.1e}")).sort(s));
                let r = mean_of(Some(cell), "complexity")
                    .map_or_else(|| Cell::text("-"), |r| Cell::number(r, 2));
                let head = words.map(|word| Cell::text(if shown { "" } else { word }));
                let own = [
                    Cell::text(format!("{method} ({variant})")),
                    Cell::text(dataset),
                    Cell::count(size),
                    seconds,
                    r,
                    accuracy(Some(cell)),
                ];
                table = table.row(Row::new(head.into_iter().chain(own)));
                shown = true;
            }
        }
        if !shown {
            let nothing = ["not run", "", "", "", "", ""].map(Cell::text);
            table = table.row(Row::new(words.map(Cell::text).into_iter().chain(nothing)));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row whose stand-in no study plans could never be filled.
    #[test]
    fn every_stand_in_is_planned() {
        let specs: Vec<_> = STUDIES.iter().map(|name| crate::study(name).unwrap()).collect();
        for (words, stand_ins) in PRINTED {
            for (variant, method, _) in stand_ins {
                let planned = specs.iter().flat_map(|spec| &spec.variants).any(|planned| {
                    planned.name == *variant && planned.methods.iter().any(|m| m.name == *method)
                });
                assert!(planned, "{}: {variant} has no {method}", words[0]);
            }
        }
    }
}
