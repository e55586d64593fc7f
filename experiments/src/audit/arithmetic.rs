//! Formulas of a few numbers that findings quote: no records, no data.

use super::{askl_frozen, askl_looseness};
use mercer_kernels::WishartHyper;
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;

/// The value of a formula.
///
/// | name | inputs | value |
/// |---|---|---|
/// | `ratio` | `of`, `to` | `of / to` |
/// | `gap` | `of`, `to` | `of − to` |
/// | `sum` | `of`, `to` | `of + to` |
/// | `product` | `of`, `to` | `of · to` |
/// | `root` | `of` | `√of` |
/// | `slope-of-norm` | `squared-norm` | `2 ‖a‖`: by so much the gradient of `‖a‖` is shorter than that of `‖a‖²` |
/// | `frozen-reach` | `features` | `2 √(D/π)`, the largest output of a standard normal read-out |
/// | `shrinkage` | `rows`, `batch`, `epochs`, `rate`, `lambda1` | what every singular value loses |
/// | `smallest-singular-value` | `features`, `outputs` | `√D − √K` |
/// | `mean-target` | `zero`, `mean` | the mean, from the RMSE of two trivial predictors |
/// | `wishart-similarity` | `gaussian`, `columns`, `excess`, `scatter` | Wishart's hyper-kernel of a pair with itself, `b = d + excess` and `D = scatter · σ² I`, where `exp(−‖x − x'‖²/(2σ²))` is `gaussian` |
/// | `slack-of-the-bound` | | (11) over the exact average, in the example |
/// | `slack-of-the-pairing` | | the part of it that the pairing of norms has |
///
/// # Errors
/// A sentence, if there is no such formula or one of its inputs is not there.
pub(crate) fn evaluate(name: &str, inputs: &BTreeMap<&str, f64>) -> Result<f64, String> {
    let input = |input: &str| {
        inputs.get(input).copied().ok_or_else(|| format!("`{name}` needs the input `{input}`"))
    };
    Ok(match name {
        "ratio" => input("of")? / input("to")?,
        "gap" => input("of")? - input("to")?,
        "sum" => input("of")? + input("to")?,
        "product" => input("of")? * input("to")?,
        "root" => input("of")?.sqrt(),
        "slope-of-norm" => 2.0 * input("squared-norm")?.sqrt(),
        "frozen-reach" => askl_frozen::reach(input("features")?),
        "shrinkage" => askl_frozen::shrinkage(
            input("rows")? as usize,
            input("batch")? as usize,
            input("epochs")?,
            input("rate")?,
            input("lambda1")?,
        ),
        "smallest-singular-value" => {
            askl_frozen::smallest_singular_value(input("features")?, input("outputs")?)
        }
        "mean-target" => askl_frozen::mean_target(input("zero")?, input("mean")?),
        "wishart-similarity" => wishart_similarity(
            input("gaussian")?,
            input("columns")? as usize,
            input("excess")?,
            input("scatter")?,
        )?,
        "slack-of-the-bound" => {
            let slack = askl_looseness::slack().map_err(|error| error.to_string())?;
            slack.bound / slack.exact.spectral
        }
        "slack-of-the-pairing" => {
            let slack = askl_looseness::slack().map_err(|error| error.to_string())?;
            slack.exact.frobenius / slack.exact.spectral
        }
        _ => return Err(format!("no formula is called `{name}`")),
    })
}

/// A pair's similarity with itself; only the distance of its points matters, so that they differ in one column.
fn wishart_similarity(
    gaussian: f64,
    columns: usize,
    excess: f64,
    scatter: f64,
) -> Result<f64, String> {
    let scale = Array2::from_diag(&Array1::from_elem(columns, scatter));
    let kernel = WishartHyper::new(scale.view(), columns as f64 + excess)
        .map_err(|error| error.to_string())?;
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
    fn unsquared_norms_weaken_the_gradients_by_two_norms() {
        let weaker = |squared: f64| evaluate("slope-of-norm", &[("squared-norm", squared)].into());
        // A standard normal 2000 × 10 read-out, and a batch of 32 with diagonals of one half.
        assert_relative_eq!(weaker(20_000.0).unwrap(), 282.8427, epsilon = 1e-4);
        assert_relative_eq!(weaker(16.0).unwrap(), 8.0);
    }

    #[test]
    fn a_pair_is_like_itself_by_a_power_of_the_distance_of_its_points() {
        // h = (1 + ‖x − x'‖²/(κ σ²))^(−(b + 3)/2) with D = κ σ² I: at ‖x − x'‖² = 2σ², b = 63, 2^-33.
        let of = |scatter: f64| {
            let inputs = [
                ("gaussian", (-1f64).exp()),
                ("columns", 60.0),
                ("excess", 3.0),
                ("scatter", scatter),
            ];
            evaluate("wishart-similarity", &inputs.into()).unwrap()
        };
        assert_relative_eq!(of(2.0), 0.5f64.powi(33), max_relative = 1e-12);
        assert_relative_eq!(of(63.0), (1.0f64 + 2.0 / 63.0).powi(-33), max_relative = 1e-12);
    }

    #[test]
    fn a_formula_names_what_it_lacks() {
        let error = evaluate("ratio", &[("of", 1.0)].into()).unwrap_err();
        assert_eq!(error, "`ratio` needs the input `to`");
        assert!(evaluate("magic", &BTreeMap::new()).is_err());
        assert_relative_eq!(evaluate("ratio", &[("of", 1.0), ("to", 4.0)].into()).unwrap(), 0.25);
        assert_relative_eq!(evaluate("product", &[("of", 3.0), ("to", 4.0)].into()).unwrap(), 12.0);
        let slack = evaluate("slack-of-the-bound", &BTreeMap::new()).unwrap();
        assert_relative_eq!(slack, 1.5152814785757627 / 1.37273238169954, max_relative = 1e-8);
    }
}
