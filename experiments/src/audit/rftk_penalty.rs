//! What RFTK gains by the text's penalty where its weight is large enough to be seen.

use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell, compare};
use mercer_statistics::summarise;

const STUDY: &str = "audit/rftk-penalty";
/// The variant without a penalty.
const NONE: &str = "0";

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("RFTK as the text has it at settings that do not change with it (those of a search in which the penalty weighed next to nothing), on the splits of Table 1; only the weight β of the penalty differs: β Tr(K) at the start, beside a mean loss of ln K of f = 0. Tr(K)/n: trace of the kernel matrix of the training rows over n at the end, which the penalty is to make small, and which begins at 0.5. Loss: mean cross-entropy on the training rows at the end. Accuracy: percent of test rows, mean ± deviation over repeats. Gain: over that without a penalty, paired, ± half of its 95 % interval, and two-sided p by the corrected test, each by itself.")
        .columns([Column::left("Dataset")])
        .columns(
            ["β Tr(K)", "β", "Tr(K)/n", "loss", "accuracy", "gain", "p", "repeats"]
                .map(Column::right),
        );
    let mut cells: Vec<&StudyCell> = study.1.iter().collect();
    let place = |cell: &StudyCell| study.0.datasets.iter().position(|d| *d == cell.key().dataset);
    cells.sort_by_key(|cell| place(cell));
    for cell in cells {
        let key = cell.key();
        let fact = |name: &str, digits| {
            let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
            summarise(&values)
                .map_or_else(|| Cell::text("-"), |found| Cell::number(found.mean, digits))
        };
        let beta = cell.records().find_map(|record| record.result.settings.get("beta")?.as_f64());
        let score = cell.score();
        let without = study
            .1
            .iter()
            .find(|other| (other.key().dataset == key.dataset) && other.key().variant == NONE);
        let test = match without {
            Some(without) if key.variant != NONE => compare(cell, without)?,
            _ => None,
        };
        let beta = beta.map_or_else(
            || Cell::text("-"),
            |beta| Cell::text(if beta > 0.0 { format!("{beta:.2e}") } else { "0".to_owned() }),
        );
        table = table.row(Row::new([
            Cell::text(&key.dataset),
            Cell::text(&key.variant),
            beta,
            fact(fact::FEATURE_NORM_SQUARED, 3),
            fact(fact::LOSS, 4),
            score.map_or_else(|| Cell::text("-"), |s| Cell::mean_std(s.mean, s.std, 2)),
            test.as_ref().map_or_else(
                || Cell::text(""),
                |test| {
                    let half = test.interval.1 - test.difference;
                    Cell::text(format!("{:+.2} ± {half:.2}", test.difference)).sort(test.difference)
                },
            ),
            test.filter(|test| test.untested().is_none()).map_or_else(
                || Cell::text(""),
                |test| Cell::text(probability(test.p_corrected)).sort(test.p_corrected),
            ),
            Cell::text(format!("{}/{}", cell.records().count(), cell.repeats_of_paper())),
        ]));
    }
    for variant in &study.0.variants {
        table = table.note(format!("{}: {}.", variant.name, variant.summary));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
