//! What a read-out that is never trained can and cannot do.

use super::askl_protocol::short;
use super::rows::rows;
use mercer_datasets::Catalogue;
use mercer_harness::Spec;
use mercer_learning::{Task, fact};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};

/// What every singular value loses over training: `t η λ1`, with `t` the number of steps.
pub(crate) fn shrinkage(rows: usize, batch: usize, epochs: f64, rate: f64, lambda1: f64) -> f64 {
    epochs * rows.div_ceil(batch.max(1)) as f64 * rate * lambda1
}

/// About the smallest singular value of a `D × K` matrix of standard normal entries: `√D − √K`.
pub(crate) fn smallest_singular_value(features: f64, outputs: f64) -> f64 {
    features.sqrt() - outputs.sqrt()
}

/// The largest output of one column of a standard normal read-out, in expectation: with
/// `|φ_j| ≤ 2/√(2D)`, `Σ_j |w_j| 2/√(2D)` has the mean `2 √(D/π)`.
pub(crate) fn reach(features: f64) -> f64 {
    2.0 * (features / std::f64::consts::PI).sqrt()
}

/// Deviation of that sum over draws of the read-out: `√(2 − 4/π)`, whatever `D` is.
pub(crate) fn reach_deviation() -> f64 {
    (2.0 - 4.0 / std::f64::consts::PI).sqrt()
}

/// Mean of the targets, from the RMSE of predicting 0 and of predicting the mean.
pub(crate) fn mean_target(zero: f64, mean: f64) -> f64 {
    (zero * zero - mean * mean).max(0.0).sqrt()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let ablation = context.cells("audit/askl")?;
    let tables =
        vec![shrinking(artefact, &study.0, &study.1)?, reaching(&study.0, &study.1, &ablation.1)?];
    Ok(Rendered { tables, ..Rendered::default() })
}

fn find<'a>(
    cells: &'a [StudyCell],
    variant: &str,
    dataset: &str,
    method: &str,
) -> Option<&'a StudyCell> {
    cells.iter().find(|cell| {
        let key = cell.key();
        key.variant == variant && key.dataset == dataset && key.method == method
    })
}

fn form(error: impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: "specs/askl-table2.toml".to_owned(), reason: error.to_string() }
}

fn mean_of(cell: &StudyCell, name: &str) -> Option<f64> {
    let values = cell.of(name);
    let sum: f64 = values.iter().map(|(_, value)| value).sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}

fn shrinking(
    artefact: &Artefact,
    spec: &Spec,
    cells: &[StudyCell],
) -> Result<Table, ExperimentError> {
    let mut table = Table::new(&artefact.id, "How far the frozen read-out shrinks")
        .caption("ASKL as the code runs it: after t steps W_t = W_0 − t η λ1 U_0 V_0ᵀ, so each singular value loses t η λ1. The smallest one of a D × K standard normal matrix is about √D − √K. Where less is lost than that, no value crosses 0 and clipping would change nothing. Trace norm at the end: mean over the records of the variant `released`.")
        .columns([Column::left("Dataset")])
        .columns(["K", "Steps t", "Rate η", "λ1", "Lost t η λ1", "Smallest at the start", "Share lost (%)", "Trace norm at the end"].map(Column::right))
        .columns([Column::left("Does the clip act?")]);
    for dataset in &spec.datasets {
        let entry = Catalogue::builtin().find(dataset).map_err(form)?;
        let outputs = match entry.task {
            Task::Classification { classes } => classes,
            Task::Regression => 1,
        };
        let (train, _) = rows(dataset)?;
        let (features, batch) =
            (number(spec, dataset, "features")?, number(spec, dataset, "batch")?);
        let (epochs, rate) = (number(spec, dataset, "epochs")?, number(spec, dataset, "rate")?);
        let lambda1 = number(spec, dataset, "lambda1")?;
        let lost = shrinkage(train, batch as usize, epochs, rate, lambda1);
        let smallest = smallest_singular_value(features, outputs as f64);
        let end =
            find(cells, "released", dataset, "askl").and_then(|c| mean_of(c, fact::TRACE_NORM));
        table = table.row(Row::new([
            Cell::text(dataset),
            Cell::count(outputs),
            Cell::number(epochs * train.div_ceil(batch as usize) as f64, 0),
            Cell::text(short(rate)).sort(rate),
            Cell::text(short(lambda1)).sort(lambda1),
            Cell::number(lost, 4),
            Cell::number(smallest, 1),
            Cell::number(100.0 * lost / smallest, 3),
            end.map_or_else(|| Cell::text("not run"), |end| Cell::number(end, 1)),
            Cell::text(if lost < smallest { "no" } else { "yes" }),
        ]));
    }
    Ok(table)
}

/// A number that the variant `released` gives ASKL on a dataset.
fn number(spec: &Spec, dataset: &str, name: &str) -> Result<f64, ExperimentError> {
    let released = spec.variants.iter().find(|variant| variant.name == "released");
    let given = spec.given.get(dataset).and_then(|given| given.get(name));
    let value = given.or_else(|| released.and_then(|variant| variant.settings.get(name)));
    value
        .and_then(serde_json::Value::as_f64)
        .ok_or_else(|| form(format!("`{name}` of {dataset} is not a number in `released`")))
}

fn reaching(
    spec: &Spec,
    cells: &[StudyCell],
    ablation: &[StudyCell],
) -> Result<Table, ExperimentError> {
    let (_, printed) = crate::catalogue().published("askl")?;
    let mut table = Table::new("audit/askl-frozen-reach", "How far the frozen read-out reaches")
        .caption(format!("Each feature lies in ±2/√(2D) and there is no bias, so a read-out of standard normal entries that is never trained cannot leave ±Σ_j |w_j| 2/√(2D), which is 2√(D/π) = {:.2} ± {:.2} over draws. The RMSE is then at least the mean target minus that. Targets in [0, 100]; their mean follows from the two trivial predictors of the variant `tuned`.", reach(2000.0), reach_deviation()))
        .columns([Column::left("Dataset")])
        .columns(["Mean target", "Largest output", "RMSE at least", "Frozen (released)", "Trained, all else equal", "Mean predictor", "Published"].map(Column::right));
    for dataset in &spec.datasets {
        let regression = Catalogue::builtin()
            .find(dataset)
            .is_ok_and(|entry| matches!(entry.task, Task::Regression));
        if !regression {
            continue;
        }
        let score = |cells: &[StudyCell], variant: &str, method: &str| {
            find(cells, variant, dataset, method).and_then(StudyCell::score).map(|s| s.mean)
        };
        let shown = |value: Option<f64>| {
            value.map_or_else(|| Cell::text("not run"), |value| Cell::number(value, 2))
        };
        let trivial = score(cells, "tuned", "mean");
        let target = score(cells, "tuned", "zero").zip(trivial);
        let target = target.map(|(zero, mean)| mean_target(zero, mean));
        let reach = reach(number(spec, dataset, "features")?);
        let theirs = printed.iter().find(|cell| cell.dataset == *dataset && cell.method == "ASKL");
        table = table.row(Row::new([
            Cell::text(dataset),
            shown(target),
            Cell::number(reach, 2),
            shown(target.map(|target| (target - reach).max(0.0))),
            shown(score(cells, "released", "askl")),
            shown(score(ablation, "trained", "askl")),
            shown(trivial),
            shown(theirs.map(|cell| cell.mean)),
        ]));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Steps and rates of the code's table.
    #[test]
    fn only_usps_shrinks_visibly() {
        for (rows, epochs, rate, lambda1, lost) in [
            (5833, 10.0, 1e-3, 10.0, 18.3),
            (34_800, 10.0, 1e-2, 1e-3, 0.1088),
            (5995, 10.0, 1e-2, 1e-3, 0.0188),
            (1848, 10.0, 1e-2, 1e-3, 0.0058),
            (12_000, 10.0, 1e-2, 1e-4, 0.00375),
            (54_000, 10.0, 1e-4, 1e-4, 0.000_168_8),
        ] {
            assert_relative_eq!(
                shrinkage(rows, 32, epochs, rate, lambda1),
                lost,
                max_relative = 1e-9
            );
        }
        assert_relative_eq!(smallest_singular_value(2000.0, 10.0), 41.559, epsilon = 1e-3);
    }

    /// 400 draws miss the mean by more than 0.3 with probability below 1e-10.
    #[test]
    fn the_largest_output_of_a_normal_read_out_is_as_computed() {
        let (draws, features) = (400, 2000);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let sums: Vec<f64> = (0..draws)
            .map(|_| {
                let sum: f64 = (0..features)
                    .map(|_| {
                        let w: f64 = StandardNormal.sample(&mut rng);
                        w.abs()
                    })
                    .sum();
                sum * 2.0 / f64::from(2 * features).sqrt()
            })
            .collect();
        let mean = sums.iter().sum::<f64>() / f64::from(draws);
        assert_relative_eq!(mean, reach(2000.0), epsilon = 0.3);
        assert_relative_eq!(reach(2000.0), 50.463, epsilon = 1e-3);
        let spread =
            sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / f64::from(draws - 1);
        assert_relative_eq!(spread.sqrt(), reach_deviation(), epsilon = 0.2);
        assert_relative_eq!(mean_target(5.0, 3.0), 4.0);
    }
}
