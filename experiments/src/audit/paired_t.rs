//! How often the papers' paired t-test finds a difference where there is none.

use super::sizes;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, Simulation};
use mercer_statistics::{EqualMethods, null_rejection_rates, wilson_interval};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const SIMULATION: Simulation =
    Simulation { name: "audit/paired-t", measures: false, revision: 1, settings, compute };

/// Simulated studies; the standard error of a rate near 5 % is then 0.3 points.
const STUDIES: u64 = 4000;
/// Level of the tests.
const LEVEL: f64 = 0.05;
/// Numbers of splits that are tried; the papers use 10 and 30.
const SPLITS: [usize; 3] = [5, 10, 30];

fn study(splits: usize) -> EqualMethods {
    EqualMethods { splits, ..EqualMethods::default() }
}

fn settings() -> Value {
    json!({ "studies": STUDIES, "level": LEVEL, "splits": SPLITS, "study": EqualMethods::default() })
}

fn compute() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for splits in SPLITS {
        let study = study(splits);
        let all: Vec<Vec<f64>> =
            (0..STUDIES).into_par_iter().map(|number| study.differences(number)).collect();
        let rates = null_rejection_rates(STUDIES, LEVEL, study.test_over_train(), |number| {
            all[number as usize].clone()
        })?;
        for (name, rate) in [("naive", rates.naive), ("corrected", rates.corrected)] {
            let rejected = (rate * STUDIES as f64).round() as u64;
            let interval = wilson_interval(rejected, STUDIES, 0.95)?;
            numbers.insert(format!("{name} {splits:02}"), rate);
            numbers.insert(format!("{name} {splits:02} low"), interval.0);
            numbers.insert(format!("{name} {splits:02} high"), interval.1);
        }
    }
    Ok(numbers)
}

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption(format!(
            "Two methods that are equally good by symmetry, compared on J random 80/20 splits of one sample of 500 rows, {STUDIES} simulated studies: how often each test says \"significant at 5 %\". An honest test says so 5 % of the time; 95 % Wilson intervals."
        ))
        .columns([Column::right("Splits J")])
        .columns(["Paired t (as in the papers)", "Corrected resampled t"].map(Column::right));
    if let Some(record) = context.records.get(&SIMULATION.key()) {
        let facts = &record.result.facts;
        for splits in SPLITS {
            let cell = |name: &str| {
                let number = |end: &str| {
                    100.0
                        * facts
                            .get(&format!("{name} {splits:02}{end}"))
                            .copied()
                            .unwrap_or(f64::NAN)
                };
                Cell::text(format!(
                    "{:.1} % [{:.1}, {:.1}]",
                    number(""),
                    number(" low"),
                    number(" high")
                ))
                .sort(number(""))
            };
            table = table.row(Row::new([Cell::count(splits), cell("naive"), cell("corrected")]));
        }
    } else {
        table = table.note("Not run yet: mercer reproduce audit/paired-t");
    }
    let mut tables = vec![table];
    tables.extend(sizes::tables(context.records.get(&sizes::SIMULATION.key())));
    Ok(Rendered { tables, ..Rendered::default() })
}
