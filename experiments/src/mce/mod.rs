//! Conditional mean embeddings and their Rademacher complexity bound.

pub(crate) mod complexity;
pub(crate) mod curves;
pub(crate) mod figure1;
pub(crate) mod figure2_pixels;
pub(crate) mod pixel_lengths;
pub(crate) mod sizes;
pub(crate) mod table1;
pub(crate) mod table2;

use mercer_render::Cell;
use mercer_report::{ExperimentError, RenderContext, StudyCell};
use mercer_statistics::summarise;
use std::sync::Arc;

/// The cells of Table 1 and of its audits.
struct Cells {
    table: Arc<(mercer_harness::Spec, Vec<StudyCell>)>,
    audit: Arc<(mercer_harness::Spec, Vec<StudyCell>)>,
}

/// Both studies, as an artefact lists them.
const STUDIES: &[&str] = &["mce/table1", "audit/mce"];

impl Cells {
    fn of(context: &RenderContext<'_>) -> Result<Self, ExperimentError> {
        Ok(Self { table: context.cells(STUDIES[0])?, audit: context.cells(STUDIES[1])? })
    }

    /// A cell with at least one record, by variant, dataset and method; of either study.
    fn find(&self, variant: &str, dataset: &str, method: &str) -> Option<&StudyCell> {
        self.table.1.iter().chain(&self.audit.1).find(|cell| {
            let key = cell.key();
            (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                == (variant, dataset, method)
                && cell.records().next().is_some()
        })
    }
}

/// Mean and deviation of a cell, and how many repeats stand behind it.
fn accuracy(cell: Option<&StudyCell>) -> Cell {
    cell.and_then(|cell| Some((cell, cell.score()?))).map_or_else(
        || Cell::text("not run"),
        |(cell, score)| {
            Cell::mean_std(score.mean, score.std, 1)
                .repeats(format!("{}/{}", score.repeats, cell.repeats_of_paper()))
                .sort(score.mean)
        },
    )
}

/// Mean of a fact over the repeats.
fn mean_of(cell: Option<&StudyCell>, name: &str) -> Option<f64> {
    let values: Vec<f64> = cell?.of(name).into_iter().map(|(_, value)| value).collect();
    summarise(&values).map(|summary| summary.mean)
}

/// A number, or a dash where it is not there.
fn shown(value: Option<f64>, digits: usize) -> Cell {
    value.map_or_else(|| Cell::text("-"), |value| Cell::number(value, digits))
}
