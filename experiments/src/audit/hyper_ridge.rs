//! The errors of Table 1 of hyper-RKHS at ridges that nobody chose.

use crate::hyper::known_kernel::{TARGETS, WAYS};
use crate::hyper::table1::{error_printed, places, point_values};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

const STUDY: &str = "audit/hyper-ridge";

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let (spec, cells) = &*study;
    let (_, printed) = context.catalogue.published("hyper")?;
    let ridges: Vec<&str> = spec.variants.iter().map(|variant| variant.name.as_str()).collect();
    let mut table = empty_table(artefact, &ridges);
    let (mut inside, mut all) = ([0; TARGETS.len()], [0; TARGETS.len()]);
    for dataset in &spec.datasets {
        for (index, (target, way)) in learned() {
            let at = |ridge: &&str| -> Option<&StudyCell> {
                cells
                    .iter()
                    .find(|cell| cell.key().dataset == *dataset && cell.key().variant == **ridge)
            };
            let values: Vec<Vec<f64>> = ridges
                .iter()
                .map(|ridge| at(ridge).map_or_else(Vec::new, |c| point_values(c, index, "rmse")))
                .collect();
            let means: Vec<Option<f64>> =
                values.iter().map(|values| summarise(values).map(|summary| summary.mean)).collect();
            if means.iter().all(Option::is_none) {
                continue;
            }
            let theirs = error_printed(&printed, dataset, way, target);
            let place = theirs.map(|theirs| Place::of(theirs, &means));
            let kernel = TARGETS.iter().position(|name| *name == target).unwrap_or_default();
            if let Some(place) = place {
                all[kernel] += 1;
                inside[kernel] += usize::from(matches!(place, Place::Between(_)));
            }
            let error = |mean: &Option<f64>| match mean {
                Some(mean) => Cell::text(format!("{mean:.3}")).sort(*mean),
                None => Cell::text("-"),
            };
            let repeats = values.iter().map(Vec::len).min().unwrap_or_default();
            let planned = ridges.first().and_then(at).map_or(0, StudyCell::repeats_of_paper);
            let first = [Cell::text(dataset), Cell::text(target), Cell::text(way)];
            let last = [
                Cell::text(place.map_or_else(String::new, |place| place.say(&ridges))),
                Cell::text(format!("{repeats}/{planned}")),
            ];
            let ours = means.iter().map(error);
            let row = first.into_iter().chain([error(&theirs)]).chain(ours).chain(last);
            table = table.row(Row::new(row));
        }
    }
    for ((target, inside), all) in TARGETS.iter().zip(inside).zip(all) {
        table = table.note(format!(
            "{target} kernel: {inside} of {all} printed errors lie between the means of two ridges."
        ));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

/// The table without its rows.
fn empty_table(artefact: &Artefact, ridges: &[&str]) -> Table {
    Table::new(&artefact.id, &artefact.title)
        .caption("RMSE of the learned kernel over ordered pairs of test points, on the splits of Table 1, at one fixed ridge λ; mean over repeats. It shows what another search could have given, not what the paper's search gave.")
        .note("Hyper-SVR has C = 1e3, 10, 0.1, 1e-3 and 1e-5 for 80 points. The spread equals the total variance.")
        .note("Printed lies: the ridges between whose means the printed error lies.")
        .columns(["Dataset", "Target", "Method"].map(Column::left))
        .columns([Column::right("printed")])
        .columns(ridges.iter().map(|ridge| Column::right(format!("λ = {ridge}"))))
        .columns([Column::left("printed lies"), Column::right("Repeats")])
}

/// The places of Table 1, the known kernels themselves left out.
fn learned() -> impl Iterator<Item = (usize, (&'static str, &'static str))> {
    places().filter(|(_, (_, way))| *way != WAYS[0])
}

/// Where a printed error lies among those of the ridges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between that of this ridge and of the next.
    Between(usize),
    /// Below all.
    Below,
    /// Above all.
    Above,
}

impl Place {
    fn of(printed: f64, means: &[Option<f64>]) -> Self {
        let between = means.windows(2).position(|pair| match *pair {
            [Some(a), Some(b)] => (a.min(b)..=a.max(b)).contains(&printed),
            _ => false,
        });
        let below = means.iter().flatten().all(|mean| printed < *mean);
        between.map_or(if below { Self::Below } else { Self::Above }, Self::Between)
    }

    fn say(self, ridges: &[&str]) -> String {
        match self {
            Self::Between(first) => format!("between {} and {}", ridges[first], ridges[first + 1]),
            Self::Below => "below all".to_owned(),
            Self::Above => "above all".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_error_lies_between_neighbours_or_outside() {
        let means = [Some(0.1), Some(0.3), Some(0.2), None];
        assert_eq!(Place::of(0.25, &means), Place::Between(0));
        assert_eq!(Place::of(0.1, &means), Place::Between(0));
        assert_eq!(Place::of(0.05, &means), Place::Below);
        assert_eq!(Place::of(0.5, &means), Place::Above);
        assert_eq!(Place::Between(0).say(&["1e-5", "1e-3"]), "between 1e-5 and 1e-3");
    }

    #[test]
    fn known_kernels_themselves_have_no_error() {
        let found: Vec<usize> = learned().map(|(index, _)| index).collect();
        assert_eq!(found, [1, 2, 3, 5, 6, 7]);
    }
}
