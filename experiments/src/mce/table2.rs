//! Table 2: the architectures, with what was measured of each.

use super::complexity::{SECONDS, step_seconds};
use super::{Cells, accuracy, mean_of, shown as number};
use mercer_datasets::Catalogue;
use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

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

/// The complexity of a fit, means over its repeats.
pub(crate) struct Sizes {
    /// Whether the objective took 1 for `α`.
    pub one: bool,
    /// `r` as the objective had it.
    pub used: Option<f64>,
    /// The largest `√k(x, x)` of the training rows.
    pub alpha: Option<f64>,
    /// `α ‖W‖` of the final read-out.
    pub complexity: Option<f64>,
}

impl Sizes {
    /// Of the records of a cell. Older ones of kernel embeddings have no `alpha`: of a Gaussian kernel it is
    /// the scale, and the objective's `r` the product.
    pub(crate) fn of(cell: &StudyCell) -> Self {
        let sensitivity = cell
            .records()
            .next()
            .and_then(|record| record.result.settings.get("sensitivity").cloned());
        let one = sensitivity.as_ref().and_then(|value| value.as_str()) == Some("one");
        let used = mean_of(Some(cell), "complexity");
        let products: Vec<f64> = cell
            .records()
            .filter_map(|record| {
                let facts = &record.result.facts;
                Some(facts.get(fact::ALPHA)? * facts.get(fact::NORM)?)
            })
            .collect();
        let product = summarise(&products).map(|summary| summary.mean);
        let alpha = mean_of(Some(cell), fact::ALPHA);
        if one {
            return Self { one, used, alpha, complexity: product };
        }
        let gaussian = cell.records().next().is_some_and(|record| {
            record.result.settings.get("kernel").and_then(|kernel| kernel.as_str())
                == Some("gaussian")
        });
        let scale = mean_of(Some(cell), "scale").filter(|_| gaussian);
        Self { one, used, alpha: alpha.or(scale), complexity: product.or(used) }
    }
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("The paper's words for each architecture, beside measured size, time and accuracy on the released folds. Only α and r of Theorem 4 compare architectures.")
        .note("Factored size: of the matrix that a step factors. Seconds a step: on one core.")
        .note("α of the objective: 1 in the explicit networks, as in the authors' code; elsewhere the largest √k(x, x) of the training rows. Its r is α‖W‖ as the objective has it.")
        .note("α of Theorem 4: the largest length of the features. Its r is α‖W‖ of the output layer; the r of an objective with α = 1 is no complexity of the theorem.")
        .note(SECONDS)
        .columns(["Architecture", "Width", "Depth", "Scalability", "Flexibility", "Typical data"].map(|head| Column::left(head).under("printed")))
        .columns([Column::left("Here").under("measured"), Column::left("Dataset").under("measured")])
        .columns(["Factored size", "Seconds a step", "α of the objective", "its r", "α of Theorem 4", "its r ", "Accuracy"].map(|head| Column::right(head).under("measured")));
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
                let sizes = Sizes::of(cell);
                let head = words.map(|word| Cell::text(if shown { "" } else { word }));
                let own = [
                    Cell::text(format!("{method} ({variant})")),
                    Cell::text(dataset),
                    Cell::count(size),
                    seconds,
                    Cell::text(if sizes.one { "1" } else { "largest" }),
                    number(sizes.used, 2),
                    number(sizes.alpha, 2),
                    number(sizes.complexity, 2),
                    accuracy(Some(cell)),
                ];
                table = table.row(Row::new(head.into_iter().chain(own)));
                shown = true;
            }
        }
        if !shown {
            let nothing = ["not run", "", "", "", "", "", "", "", ""].map(Cell::text);
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
        let specs: Vec<_> = ["mce/table1", "audit/mce"]
            .iter()
            .map(|name| crate::catalogue().study(name).unwrap())
            .collect();
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
