//! How much of each study is run: a line for each of its variants.

use crate::{Artefact, ExperimentError, RenderContext, StudyCell};
use mercer_render::{Cell, Column, Row, Table};

/// What a reader of the table must know.
pub(crate) const RULES: &str = "A cell is one method on one dataset in one variant. All: as many repeats as the paper has; in a study of ours, as many as it sets. Each table says how many repeats each of its cells has. `Without a score`: trials that ended at a limit, or failed; their cells say which. `just extend ARTEFACT` runs what is missing; with `--dry-run` it prints the hours first.";

/// Repeats from which a cell is counted apart, without having all of the paper's.
const MANY: usize = 10;
const SOME: usize = 3;

/// The cells of one variant of a study, by how many of the paper's repeats are recorded.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    cells: usize,
    whole: usize,
    many: usize,
    some: usize,
    few: usize,
    none: usize,
    planned: usize,
    recorded: usize,
    without_score: usize,
}

impl Counts {
    fn add(&mut self, cell: &StudyCell) {
        let planned = cell.trials().count();
        let recorded = cell.records().count();
        self.cells += 1;
        self.planned += planned;
        self.recorded += recorded;
        self.without_score += cell.without_score().count();
        *match recorded {
            all if all >= cell.repeats_of_paper() as usize => &mut self.whole,
            0 => &mut self.none,
            MANY.. => &mut self.many,
            SOME.. => &mut self.some,
            _ => &mut self.few,
        } += 1;
    }
}

/// The table over the studies behind these artefacts, each once, in their order.
///
/// # Errors
/// If a study does not have the profile.
pub fn coverage(
    context: &RenderContext<'_>,
    artefacts: &[&Artefact],
) -> Result<Table, ExperimentError> {
    let mut studies: Vec<&str> = Vec::new();
    for name in artefacts.iter().flat_map(|artefact| &artefact.studies) {
        if !studies.contains(&name.as_str()) {
            studies.push(name);
        }
    }
    let mut table = Table::new(
        "coverage",
        format!("Repeats run under profile {}, beside the paper's", context.profile),
    )
    .columns(["Study", "Variant"].map(Column::left))
    .columns(
        [
            "Cells",
            "All of the paper's",
            "Ten or more",
            "Three to nine",
            "One or two",
            "None",
            "Trials, recorded",
            "planned",
            "Without a score",
        ]
        .map(Column::right),
    );
    for study in studies {
        let laid_out = context.cells(study)?;
        let mut variants: Vec<(&str, Counts)> = Vec::new();
        for cell in &laid_out.1 {
            let name = cell.key().variant.as_str();
            let at = variants.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                variants.push((name, Counts::default()));
                variants.len() - 1
            });
            variants[at].1.add(cell);
        }
        for (variant, counts) in variants {
            let numbers = [
                counts.cells,
                counts.whole,
                counts.many,
                counts.some,
                counts.few,
                counts.none,
                counts.recorded,
                counts.planned,
                counts.without_score,
            ];
            let cells = [Cell::text(study), Cell::text(variant)].into_iter();
            table = table.row(Row::new(cells.chain(numbers.map(Cell::count))));
        }
    }
    Ok(table)
}
