//! What a trial costs: seconds of a fit and the most memory held, dataset by dataset.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use polars_core::prelude::{
    ChunkAgg, ChunkCompareEq, ChunkQuantile, Column as Values, DataFrame, PolarsResult,
};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let (spec, cells) = &*study;
    let mut methods: Vec<(String, String)> = Vec::new();
    for cell in cells {
        let named = (cell.key().method.clone(), cell.label().to_owned());
        if !methods.contains(&named) {
            methods.push(named);
        }
    }
    let fault = |error: polars_core::prelude::PolarsError| ExperimentError::Form {
        file: artefact.id.clone(),
        reason: error.to_string(),
    };
    let trials = trials(cells).map_err(fault)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Median seconds of the final fit over all variants and repeats, tuning apart, one thread a trial, two trials side by side and other work on the machine: an order of magnitude, not a benchmark. Last column: the most memory that any trial on the dataset held, in MiB, its share of the data included.")
        .columns([Column::left("Dataset")])
        .columns(methods.iter().map(|(_, label)| Column::right(label)))
        .columns([Column::right("peak MiB")]);
    for dataset in &spec.datasets {
        let of_dataset = only(&trials, "dataset", dataset).map_err(fault)?;
        if of_dataset.height() == 0 {
            continue;
        }
        let mut row = vec![Cell::text(dataset)];
        for (method, _) in &methods {
            let of_method = only(&of_dataset, "method", method).map_err(fault)?;
            let median = of_method.column("seconds").map_err(fault)?.f64().map_err(fault)?.median();
            row.push(median.map_or_else(|| Cell::text(""), |seconds| Cell::number(seconds, 2)));
        }
        let peak = of_dataset.column("peak").map_err(fault)?.f64().map_err(fault)?.max();
        row.push(Cell::number(peak.unwrap_or(f64::NAN) / f64::from(1 << 20), 0));
        table = table.row(Row::new(row));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

/// One row a trial with a score: dataset, method, seconds of the fit, peak bytes.
fn trials(cells: &[StudyCell]) -> PolarsResult<DataFrame> {
    let records: Vec<_> = cells
        .iter()
        .flat_map(StudyCell::records)
        .filter(|record| record.run.seconds.contains_key("fit"))
        .collect();
    let texts = |name: &str, get: &dyn Fn(usize) -> String| {
        Values::new(name.into(), (0..records.len()).map(get).collect::<Vec<_>>())
    };
    let numbers = |name: &str, get: &dyn Fn(usize) -> f64| {
        Values::new(name.into(), (0..records.len()).map(get).collect::<Vec<_>>())
    };
    let columns = vec![
        texts("dataset", &|i| records[i].key.dataset.clone()),
        texts("method", &|i| records[i].key.method.clone()),
        numbers("seconds", &|i| records[i].run.seconds["fit"]),
        numbers("peak", &|i| records[i].run.peak_bytes as f64),
    ];
    DataFrame::new(records.len(), columns)
}

/// The rows whose `column` is `value`.
fn only(frame: &DataFrame, column: &str, value: &str) -> PolarsResult<DataFrame> {
    frame.filter(&frame.column(column)?.str()?.equal(value))
}
