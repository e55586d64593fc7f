//! Numbers that findings ask for by name: formulas of a few inputs, and counts over the printed tables.

use crate::audit::rows::rows;
use crate::audit::{askl_frozen, askl_looseness, askl_objective, askl_underlines};
use crate::catalogue;
use crate::rftk::figure1b::distance_slope;
use mercer_kernels::WishartHyper;
use mercer_report::{ExperimentError, Inputs, RenderContext, Scalar};
use mercer_statistics::binomial_deviation;
use ndarray::{Array1, Array2};

/// | name | inputs | value |
/// |---|---|---|
/// | `slope-of-norm` | `squared-norm` | `2 ‖a‖`: by so much the gradient of `‖a‖` is shorter than that of `‖a‖²` |
/// | `frozen-reach` | `features` | `2 √(D/π)`, the largest output of a standard normal read-out |
/// | `steps` | `rows`, `batch`, `epochs` | of the optimiser |
/// | `shrinkage` | `rows`, `batch`, `epochs`, `rate`, `lambda1` | what every singular value loses |
/// | `smallest-singular-value` | `features`, `outputs` | `√D − √K` |
/// | `mean-target` | `zero`, `mean` | the mean, from the RMSE of two trivial predictors |
/// | `wishart-similarity` | `gaussian`, `columns`, `excess`, `scatter` | Wishart's hyper-kernel of a pair with itself, `b = d + excess` and `D = scatter · σ² I`, where `exp(−‖x − x'‖²/(2σ²))` is `gaussian` |
/// | `example-of-slack` | `what` | the average of the example that is `exact`, that of the `pairing` of norms, the `bound` (11), the `rate` (12) |
/// | `binomial` | `paper`, `dataset`, `method` | deviation of a printed accuracy on the test rows of a repeat, in points |
/// | `printed-marks` | `what` | printed cells of ASKL's Table 2 that are `level` with the best of the row, `underlined`, or `both`; accuracies whose mean plus deviation is `above-hundred` |
/// | `printed-differences` | `what` | differences of printed means of that table from the best of the row: `all`, or those significant by the `naive` test, or by the `corrected` one of methods that are independent or move `together` over the splits |
/// | `concordant-pairs` | `variant`, `what` | pairs of methods of that table: `all`, or those in which the smaller `objective` or `loss` scores better |
/// | `distance-slope` | `variant`, `dataset`, `batch` | slope of the squared distance of RFTK's Figure 1(b) against the passes, both logarithmic |
pub(crate) const SCALARS: &[(&str, Scalar)] = &[
    ("slope-of-norm", |_, inputs| Ok(Some(2.0 * inputs.number("squared-norm")?.sqrt()))),
    ("frozen-reach", |_, inputs| Ok(Some(askl_frozen::reach(inputs.number("features")?)))),
    ("steps", |_, inputs| {
        let (rows, batch) = (inputs.number("rows")? as usize, inputs.number("batch")? as usize);
        Ok(Some(askl_frozen::steps(rows, batch, inputs.number("epochs")?)))
    }),
    ("shrinkage", |_, inputs| {
        Ok(Some(askl_frozen::shrinkage(
            inputs.number("rows")? as usize,
            inputs.number("batch")? as usize,
            inputs.number("epochs")?,
            inputs.number("rate")?,
            inputs.number("lambda1")?,
        )))
    }),
    ("smallest-singular-value", |_, inputs| {
        let (features, outputs) = (inputs.number("features")?, inputs.number("outputs")?);
        Ok(Some(askl_frozen::smallest_singular_value(features, outputs)))
    }),
    ("mean-target", |_, inputs| {
        Ok(Some(askl_frozen::mean_target(inputs.number("zero")?, inputs.number("mean")?)))
    }),
    ("wishart-similarity", |_, inputs| {
        let (columns, excess) = (inputs.number("columns")? as usize, inputs.number("excess")?);
        let (gaussian, scatter) = (inputs.number("gaussian")?, inputs.number("scatter")?);
        wishart_similarity(gaussian, columns, excess, scatter).map(Some)
    }),
    ("example-of-slack", |_, inputs| {
        let slack = askl_looseness::slack()?;
        Ok(Some(match inputs.name("what")? {
            "exact" => slack.exact.spectral,
            "pairing" => slack.exact.frobenius,
            "bound" => slack.bound,
            "rate" => slack.rate,
            other => return Err(wrong(&format!("the example has no `{other}`"))),
        }))
    }),
    ("binomial", |_, inputs| {
        let (dataset, method) = (inputs.name("dataset")?, inputs.name("method")?);
        let cells = catalogue().published(inputs.name("paper")?)?.1;
        let same =
            |cell: &&mercer_report::PublishedCell| cell.dataset == dataset && cell.method == method;
        let found = cells.iter().find(same).ok_or_else(|| wrong(&"it is not printed"))?;
        let test_rows = rows(dataset)?.1 as u64;
        Ok(Some(100.0 * binomial_deviation(found.mean / 100.0, test_rows)?))
    }),
    ("printed-marks", |_, inputs| printed_marks(inputs).map(|count| Some(count as f64))),
    ("printed-differences", |_, inputs| {
        let found = askl_underlines::significant(&askl_underlines::judged()?);
        Ok(Some(match inputs.name("what")? {
            "all" => found.all,
            "naive" => found.naive,
            "corrected" => found.corrected,
            "together" => found.together,
            other => return Err(wrong(&format!("no differences are `{other}`"))),
        } as f64))
    }),
    ("concordant-pairs", |context, inputs| {
        let Some(found) = askl_objective::concordance(context, inputs.name("variant")?)? else {
            return Ok(None);
        };
        Ok(Some(match inputs.name("what")? {
            "objective" => found.by_objective as f64,
            "loss" => found.by_loss as f64,
            "all" => found.pairs as f64,
            other => return Err(wrong(&format!("no pairs are `{other}`"))),
        }))
    }),
    ("distance-slope", of_distance),
];

fn wrong(reason: &impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: "findings".to_owned(), reason: reason.to_string() }
}

fn of_distance(
    context: &RenderContext<'_>,
    inputs: &Inputs,
) -> Result<Option<f64>, ExperimentError> {
    let (variant, dataset) = (inputs.name("variant")?, inputs.name("dataset")?);
    let study = context.cells("rftk/figure1b")?;
    let cell = study.1.iter().find(|cell| {
        let key = cell.key();
        (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
            == (variant, dataset, "sgd-factors")
    });
    let batch = inputs.number("batch")? as usize;
    Ok(cell.map(|cell| distance_slope(cell, batch)).filter(|slope| slope.is_finite()))
}

fn printed_marks(inputs: &Inputs) -> Result<usize, ExperimentError> {
    let what = inputs.name("what")?;
    if what == "above-hundred" {
        let cells = catalogue().published("askl")?.1;
        let accuracies = cells.iter().filter(|cell| cell.metric == "accuracy_percent");
        return Ok(accuracies.filter(|cell| cell.mean + cell.std > 100.0).count());
    }
    let mut count = 0;
    for row in askl_underlines::judged()? {
        let (level, underlined) = (row.level(), row.underlined());
        count += match what {
            "level" => level.len(),
            "underlined" => underlined.len(),
            "both" => level.iter().filter(|method| underlined.contains(method)).count(),
            other => return Err(wrong(&format!("no cells are `{other}`"))),
        };
    }
    Ok(count)
}

/// A pair's similarity with itself; only the distance of its points matters, so that they differ in one column.
fn wishart_similarity(
    gaussian: f64,
    columns: usize,
    excess: f64,
    scatter: f64,
) -> Result<f64, ExperimentError> {
    let scale = Array2::from_diag(&Array1::from_elem(columns, scatter));
    let kernel =
        WishartHyper::new(scale.view(), columns as f64 + excess).map_err(|error| wrong(&error))?;
    let x = Array1::zeros(columns);
    let mut z = x.clone();
    z[0] = (-2.0 * gaussian.ln()).sqrt();
    Ok(kernel.of((x.view(), z.view()), (x.view(), z.view())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn a_pair_is_like_itself_by_a_power_of_the_distance_of_its_points() {
        // h = (1 + ‖x − x'‖²/(κ σ²))^(−(b + 3)/2) with D = κ σ² I: at ‖x − x'‖² = 2σ², b = 63, 2^-33.
        let of = |scatter: f64| wishart_similarity((-1f64).exp(), 60, 3.0, scatter).unwrap();
        assert_relative_eq!(of(2.0), 0.5f64.powi(33), max_relative = 1e-12);
        assert_relative_eq!(of(63.0), (1.0f64 + 2.0 / 63.0).powi(-33), max_relative = 1e-12);
    }

    #[test]
    fn the_slack_of_the_bound_is_that_of_the_example() {
        let slack = askl_looseness::slack().unwrap();
        let golden = 1.5152814785757627 / 1.37273238169954;
        assert_relative_eq!(slack.bound / slack.exact.spectral, golden, max_relative = 1e-8);
    }
}
