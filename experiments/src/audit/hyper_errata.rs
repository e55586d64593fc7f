//! Slips of the text of the hyper-RKHS paper: what is printed, what is right, which test shows it; and, where
//! a number can, an example of each.
//!
//! What has a finding or a table of its own stands there: the pair factors of the Gaussian hyper-kernel, its
//! normaliser, "the variance of the data", Theorem 8's index, the terms divided by `v`, the cost of Table 3.

use mercer_kernels::{
    GaussianHyper, HyperKernel, Kernel, KernelError, LearnedKernel, Pairs, std_of_bandwidth,
};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};
use mercer_theory::{PairRegularity, TheoryError, pair_ridge_index, pair_svr_index};
use ndarray::array;
use std::f64::consts::{PI, TAU};

/// A slip in an example.
struct Example {
    place: &'static str,
    what: &'static str,
    printed: f64,
    correct: f64,
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    let mut numbers = Table::new("audit/hyper-slips-numbers", "Errors in the paper in numbers")
        .caption("An example for each error in the paper that a number shows: the value by the printed formula, and by the corrected one.")
        .columns(["Where", "Example"].map(Column::left))
        .columns(["as printed", "corrected"].map(Column::right));
    for Example { place, what, printed, correct } in examples()? {
        numbers = numbers.row(Row::new([
            Cell::text(place),
            Cell::text(what),
            shown(printed),
            shown(correct),
        ]));
    }
    rendered.tables.push(numbers);
    Ok(rendered)
}

/// Four decimals; whole numbers without, small ones as powers of ten.
fn shown(value: f64) -> Cell {
    let text = if value.fract() == 0.0 {
        mercer_render::number(value, 0)
    } else if value.abs() < 1e-3 {
        format!("{value:.1e}")
    } else {
        format!("{value:.4}")
    };
    Cell::text(text).sort(value)
}

fn examples() -> Result<Vec<Example>, ExperimentError> {
    let mut all = of_kernels().map_err(|error| failed(&error))?;
    all.extend(of_bounds().map_err(|error| failed(&error))?);
    all.extend(of_indices().map_err(|error| failed(&error))?);
    all.push(Example {
        place: "Section 5.3",
        what: "different pairs of m = 108 points, the training rows of heart",
        printed: binomial(2, 108),
        correct: Pairs::count(108) as f64,
    });
    Ok(all)
}

fn failed(error: &impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: file!().to_owned(), reason: error.to_string() }
}

fn of_kernels() -> Result<Vec<Example>, KernelError> {
    // The printed exponent has a kink at 0, which is a node: halves of trapezes, to 1e-6.
    let integral = |density: &dyn Fn(f64) -> f64| -> f64 {
        (-60_000..=60_000).map(|i| density(f64::from(i) * 1e-3) * 1e-3).sum()
    };
    let gaussian = |x: f64| Kernel::Gaussian { std: 1.0 }.of(array![x].view(), array![0.0].view());
    let at_infinity = decoupled()?;
    Ok(vec![
        Example {
            place: "Section 2.4, the Gaussian kernel",
            what: "d = 1, σ² = 1: its integral over the line, which the factor is to make 1",
            printed: integral(&|x| (-0.5 * x.abs()).exp()) / TAU.sqrt(),
            correct: integral(&gaussian) / TAU.sqrt(),
        },
        Example {
            place: "Section 2.4, σ_h → ∞",
            what: "two pairs in d = 2, σ² = 0.7, σ_h² = 1e6: the hyper-kernel over the product of the two Gaussian kernels of the pairs; corrected: both without normalisers",
            printed: at_infinity.normalised,
            correct: at_infinity.bare,
        },
        Example {
            place: "Section 2.4, the Wishart hyper-kernel, σ_h",
            what: "d = 1, pairs (0.3, −0.5) and (1.1, 0.2), D = 1.3, b = 3, where it is 0.0173: Gaussian ones mixed over the inverse Wishart law of σ², with σ_h² = 1e6 and with σ_h² = 1e-9",
            printed: mixed(1e6)?,
            correct: mixed(1e-9)?,
        },
    ])
}

/// The Gaussian hyper-kernel over the product of the two Gaussian kernels of its pairs.
struct Decoupled {
    normalised: f64,
    bare: f64,
}

fn decoupled() -> Result<Decoupled, KernelError> {
    let (variance, spread) = (0.7, 1e6);
    let (p, q) = ([array![0.3, -0.2], array![-0.5, 0.4]], [array![1.1, 0.0], array![0.2, 0.7]]);
    let hyper = GaussianHyper::printed(variance, spread)?;
    let kernel = Kernel::Gaussian { std: std_of_bandwidth(variance.sqrt()) };
    let product = kernel.of(p[0].view(), p[1].view()) * kernel.of(q[0].view(), q[1].view());
    let bare = hyper.of((p[0].view(), p[1].view()), (q[0].view(), q[1].view())) / product;
    // (2πσ²)^(−d/2) of each of the two, d = 2.
    let log_product = -2.0 * (TAU * variance).ln();
    Ok(Decoupled { normalised: bare * (hyper.log_normaliser(2) - log_product).exp(), bare })
}

/// The pairs and the law of the Wishart example; `b = 3`.
const LINE: ([f64; 2], [f64; 2], f64) = ([0.3, -0.5], [1.1, 0.2], 1.3);

/// Gaussian hyper-kernels, as constructed and normalised, mixed over inverse Wishart variances, `d = 1`.
fn mixed(spread: f64) -> Result<f64, KernelError> {
    let (p, q, scale) = LINE;
    let [(a, b), (c, d)] = [p, q].map(|[x, y]| (array![x], array![y]));
    let mut sum = 0.0;
    // Over the logarithm of the variance, by steps of 0.02.
    for i in -600..=600 {
        let log = f64::from(i) * 0.02;
        let variance = log.exp();
        let hyper = GaussianHyper::constructed(variance, spread)?;
        let value = hyper.of((a.view(), b.view()), (c.view(), d.view()));
        // |D|^(b/2)/(2^(b/2) Γ(b/2)) Σ^(−(b+2)/2) exp(−D/(2Σ)), and Γ(3/2) = √π/2.
        let law = (scale / 2.0).powf(1.5) / (0.5 * PI.sqrt());
        let density = law * (-2.5 * log - scale / (2.0 * variance)).exp();
        sum += value * hyper.log_normaliser(1).exp() * density * variance * 0.02;
    }
    Ok(sum)
}

fn of_bounds() -> Result<Vec<Example>, KernelError> {
    // k = h(q, ·)/10, q a point with itself: h(q, q) = 1, and so G = 1.
    let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.7, 0.4)?);
    let point = array![[0.0]];
    let k = LearnedKernel::new(hyper, point.view(), &Pairs::all(1), &array![0.1])?;
    let squared = k.norm_squared(1);
    // m = 4: U_i is the mean of four terms.
    let xi = 3.0;
    let (m, power) = (100.0f64, -1.0); // θ = 1
    Ok(vec![
        Example {
            place: "(1)",
            what: "k = h(q, ·)/10 with h(q, q) = 1 and G = 1, whose largest value is 0.1: the bound on it",
            printed: squared,
            correct: squared.sqrt(),
        },
        Example {
            place: "Lemma 11, U_i",
            what: "m = 4, every ξ equal to 3: U_i, whose mean is to be 3",
            printed: (2.0 * xi + 2.0 * (xi * xi)) / 4.0,
            correct: (4.0 * xi) / 4.0,
        },
        Example {
            place: "Lemma 11, (26)",
            what: "U_1 and U_2 are 2 and 0 or 0 and 2 by a coin: the mean of the probabilities that they are 1 or more; corrected: the probability that their mean is",
            printed: mean_of(|first, second| 0.5 * (at_least_one(first) + at_least_one(second))),
            correct: mean_of(|first, second| at_least_one(0.5 * (first + second))),
        },
        Example {
            place: "A.2",
            what: "m = 100, θ = 1: the bound on 1/(m − 1) = 0.0101",
            printed: m.powf(power),
            correct: 2.0 * m.powf(power),
        },
    ])
}

/// The mean of a function of the two variables of which one is 2 and the other 0.
fn mean_of(function: impl Fn(f64, f64) -> f64) -> f64 {
    0.5 * (function(2.0, 0.0) + function(0.0, 2.0))
}

fn at_least_one(value: f64) -> f64 {
    f64::from(u8::from(value >= 1.0))
}

fn of_indices() -> Result<Vec<Example>, TheoryError> {
    let problem = PairRegularity { alpha: 0.6, source: 0.8, capacity: 0.5 };
    let [printed, consistent] =
        [false, true].map(|consistent| pair_svr_index(problem, 2.0, 2.0, consistent));
    let (printed, consistent) = (printed?, consistent?);
    let term = |bound: &mercer_theory::Bound, name: &str| bound.term(name).unwrap_or(f64::NAN);
    let third = term(&printed, "capacity");
    // Heart: d = 13, m = 108; a hyper-kernel with τ = 100 derivatives.
    let (capacity_printed, capacity) = (2.0 * 108f64.powi(2) / 100.0, 2.0 * 26.0 / 100.0);
    let limit = |capacity: f64| {
        let index = pair_ridge_index(PairRegularity { capacity, ..problem }, false)?;
        Ok::<_, TheoryError>(term(&index, "limit of α"))
    };
    Ok(vec![
        Example {
            place: "after (16)",
            what: "heart, m = 108, d = 13, with τ = 100: s",
            printed: capacity_printed,
            correct: capacity,
        },
        Example {
            place: "after (16)",
            what: "the same: the limit of α in Theorem 8",
            printed: limit(capacity_printed)?,
            correct: limit(capacity)?,
        },
        Example {
            place: "Theorem 7, second index",
            what: "α = 0.6, r = 0.8, s = 0.5, p = q = 2",
            printed: term(&printed, "sample"),
            correct: term(&consistent, "sample"),
        },
        Example {
            place: "Theorem 7, third index",
            what: "the same",
            printed: third,
            correct: term(&consistent, "capacity"),
        },
        Example {
            place: "Theorem 7",
            what: "the same: Θ, the least of the three",
            printed: printed.value,
            correct: consistent.value,
        },
        Example {
            place: "Proposition 14",
            what: "the same: the third index with R^s = m^(αs) once more; corrected: as Theorem 7 prints it",
            printed: third - problem.alpha * problem.capacity,
            correct: third,
        },
    ])
}

/// `n` over `k`.
fn binomial(n: u32, k: u32) -> f64 {
    (0..k).map(|i| (f64::from(n) - f64::from(i)) / f64::from(i + 1)).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use mercer_kernels::WishartHyper;

    fn of(examples: &[Example], place: &str) -> (f64, f64) {
        let found = examples.iter().find(|example| example.place == place).unwrap();
        (found.printed, found.correct)
    }

    #[test]
    fn the_printed_exponent_and_both_limits_of_the_blur_are_told_apart() {
        let examples = of_kernels().unwrap();
        let (printed, correct) = of(&examples, "Section 2.4, the Gaussian kernel");
        // ∫ exp(−|x|/2) dx = 4; the trapezes miss it by h²/12 of the two slopes at the kink.
        assert_relative_eq!(printed, 4.0 / TAU.sqrt(), max_relative = 1e-6);
        assert_relative_eq!(correct, 1.0, max_relative = 1e-12);
        let (printed, correct) = of(&examples, "Section 2.4, σ_h → ∞");
        assert_relative_eq!(correct, 1.0, max_relative = 1e-5);
        assert_relative_eq!(printed, 1.0 / (TAU * 1e6), max_relative = 1e-5);
        let (printed, correct) = of(&examples, "Section 2.4, the Wishart hyper-kernel, σ_h");
        let (p, q, scale) = LINE;
        let wishart = WishartHyper::new(array![[scale]].view(), 3.0).unwrap();
        let [(a, b), (c, d)] = [p, q].map(|[x, y]| (array![x], array![y]));
        let value = wishart.of((a.view(), b.view()), (c.view(), d.view()));
        // The blur of 1e-9 is far below the variances that weigh, which are of the order of D.
        assert_relative_eq!(correct, value * wishart.log_normaliser().exp(), max_relative = 1e-7);
        assert!(printed < 0.02 * correct, "{printed} {correct}");
    }

    #[test]
    fn inequalities_as_printed_fail_in_an_example() {
        let examples = of_bounds().unwrap();
        let (printed, correct) = of(&examples, "(1)");
        assert!(printed < 0.1 && (correct - 0.1).abs() < 1e-15, "{printed} {correct}");
        assert_eq!(of(&examples, "Lemma 11, U_i"), (6.0, 3.0));
        assert_eq!(of(&examples, "Lemma 11, (26)"), (0.5, 1.0));
        let (printed, correct) = of(&examples, "A.2");
        let bounded = 1.0 / 99.0;
        assert!(printed < bounded && bounded < correct, "{printed} {correct}");
    }

    #[test]
    fn indices_as_printed_are_not_those_of_the_proofs() {
        let examples = of_indices().unwrap();
        let near = |place: &str, printed: f64, correct: f64| {
            let found = of(&examples, place);
            assert_relative_eq!(found.0, printed, max_relative = 1e-12);
            assert_relative_eq!(found.1, correct, max_relative = 1e-12);
        };
        near("after (16)", 233.28, 0.52);
        near("Theorem 7, second index", 0.66, 0.69);
        near("Theorem 7, third index", 6.0 / 11.0 - 0.2, 6.0 / 11.0 - 0.1);
        near("Theorem 7", 6.0 / 11.0 - 0.2, 6.0 / 11.0 - 0.1);
        near("Proposition 14", 6.0 / 11.0 - 0.5, 6.0 / 11.0 - 0.2);
    }

    #[test]
    fn the_binomial_upside_down_counts_no_pairs() {
        assert_eq!([2, 3, 108].map(|m| binomial(2, m) as usize), [1, 0, 0]);
        assert_eq!(binomial(108, 2) as usize + 108, Pairs::count(108));
    }
}
