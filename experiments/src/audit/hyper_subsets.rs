//! What hyper-KRR on subsets loses covtype by: the ridge, the machine's cost, negative eigenvalues.

use mercer_records::Record;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

const STUDY: &str = "audit/hyper-subsets";
const FOREST: &str = "hyper/covtype";

/// Rows of Table 3 that stand beside the audit's.
const BESIDE: [(&str, &str); 7] = [
    ("v=50", "hyper-krr"),
    ("v=50", "hyper-non-negative"),
    ("v=50", "hyper-svr"),
    ("v=200", "hyper-non-negative"),
    ("v=200", "hyper-svr"),
    ("tuned", "hyper-krr-linear"),
    ("tuned", "gaussian-svm"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let (own, forest) = (context.cells(STUDY)?, context.cells(FOREST)?);
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Class 2 of covtype against the rest, splits of Table 3; percent on all rows that do not train, deviation over repeats where there are more than one. λ, spread and C: as set, or as the search chose them in each repeat. Negative mass: share of the negative eigenvalues of the learned kernel on the 3000 points of stage 2 in the sum of absolute values. Smallest and largest: eigenvalues there; a target of +1 and -1 has one of some 3000.")
        .columns(["Source", "Method", "λ", "spread", "C"].map(Column::left))
        .columns(
            ["accuracy", "balanced accuracy", "negative mass", "smallest", "largest", "repeats"]
                .map(Column::right),
        );
    for cell in &own.1 {
        table = table.row(line(cell, "ours"));
    }
    for (variant, method) in BESIDE {
        let found = forest.1.iter().find(|cell| {
            let key = cell.key();
            (key.variant.as_str(), key.method.as_str()) == (variant, method)
        });
        if let Some(cell) = found {
            table = table.row(line(cell, "Table 3"));
        }
    }
    for variant in &own.0.variants {
        table = table.note(format!("{}: {}.", variant.name, variant.summary));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

fn line(cell: &StudyCell, source: &str) -> Row {
    let percent = |name: &str| {
        let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| 100.0 * value).collect();
        match summarise(&values) {
            None => Cell::text("-"),
            Some(found) if found.count < 2 => Cell::number(found.mean, 2),
            Some(found) => Cell::mean_std(found.mean, found.sample_std, 2),
        }
    };
    let fact = |name: &str, digits| {
        let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
        summarise(&values).map_or_else(|| Cell::text(""), |found| Cell::number(found.mean, digits))
    };
    // Of a search what it chose in each repeat; else what all repeats have.
    let setting = |chosen: &str, name: &str| {
        let of = |record: &Record| {
            let result = &record.result;
            let given = || result.settings.get(name)?.as_f64();
            result.facts.get(chosen).copied().or_else(given)
        };
        let mut values: Vec<String> =
            cell.records().filter_map(of).map(|value| value.to_string()).collect();
        values.dedup();
        Cell::text(values.join(", "))
    };
    Row::new([
        Cell::text(format!("{source}, {}", cell.key().variant)),
        Cell::text(cell.label()),
        if cell.key().method == "hyper-svr" {
            Cell::text("") // its C over pairs is another setting
        } else {
            setting("chosen-lambda", "lambda")
        },
        setting("chosen-spread", "spread"),
        setting("chosen-cost", "cost"),
        percent("accuracy"),
        percent("balanced-accuracy"),
        fact("negative-mass", 3),
        fact("smallest-eigenvalue", 2),
        fact("largest-eigenvalue", 1),
        Cell::text(format!("{}/{}", cell.records().count(), cell.repeats_of_paper())),
    ])
}
