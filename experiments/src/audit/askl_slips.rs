//! Slips of the paper's text: what is printed, what the derivation gives, which test shows it.

use crate::{Artefact, Desk, ExperimentError, Rendered};
use mercer_render::{Cell, Column, Row, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-slips",
    title: "Slips of the text",
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

/// One slip.
pub(super) struct Slip {
    /// Where in the text or the code.
    pub place: &'static str,
    /// What stands there.
    pub printed: &'static str,
    /// What is right.
    pub corrected: &'static str,
    /// What is used here.
    pub here: &'static str,
    /// File and test function.
    pub shown_by: &'static [(&'static str, &'static str)],
}

const PRINTED_TEXT: &str = "crates/models/tests/printed_text.rs";
const FEATURE_MAP: &str = "crates/kernels/src/feature_map.rs";
const SPECTRAL: &str = "crates/models/src/spectral/tests.rs";

const SLIPS: &[Slip] = &[
    Slip {
        place: "after (9), the matrix D",
        printed: "diag{(−1/√(2D)) / sin(Ωᵀx + b)}, a fraction",
        corrected: "diag{−1/√(2D) · sin(Ωᵀx + b)}, a product",
        here: "the product, in all variants",
        shown_by: &[
            (PRINTED_TEXT, "the_matrix_d_is_a_product_and_not_the_printed_fraction"),
            (
                SPECTRAL,
                "gradients_agree_with_central_differences_for_every_map_phase_loss_and_penalty",
            ),
        ],
    },
    Slip {
        place: "(6)",
        printed: "two independent phases b, b', \"equivalent in the expectation manner\" to (5)",
        corrected: "one shared phase b, as in the section on the learning framework",
        here: "shared in printed and corrected, independent in released",
        shown_by: &[
            (FEATURE_MAP, "golden_population_kernels"),
            (FEATURE_MAP, "the_expected_kernel_is_the_mean_over_phases"),
        ],
    },
    Slip {
        place: "after (4)",
        printed: "f(x) = Wᵀφ(x) in R^D",
        corrected: "f(x) in R^K: W is D × K",
        here: "K scores a row",
        shown_by: &[(SPECTRAL, "golden_loss_feature_norm_and_gradients")],
    },
    Slip {
        place: "Stationary Kernels; Experimental Setup",
        printed: "a Gaussian kernel of width σ has the spectral density N(0, 1/σ); in the experiments Ω ~ N(0, σ²)",
        corrected: "width σ belongs to N(0, σ⁻² I); entries of Ω with deviation σ give exp(−σ²‖x − x'‖²/2)",
        here: "the experiments' convention: the setting `std` is the deviation of the entries of Ω",
        shown_by: &[(FEATURE_MAP, "golden_population_kernels")],
    },
    Slip {
        place: "(4) against the gradient after (9)",
        printed: "λ2 ‖φ(X)‖_F² over all n rows; its gradient divided by the batch size m",
        corrected: "the gradient is that of the mean (1/n) ‖φ(X)‖_F²: λ2 is n times weaker than in (4)",
        here: "the mean, in printed and corrected",
        shown_by: &[(
            PRINTED_TEXT,
            "the_printed_feature_gradient_is_that_of_the_mean_not_of_the_sum",
        )],
    },
    Slip {
        place: "Influence of Non-Stationary Kernels",
        printed: "k(x, x) = cos((ω − ω')ᵀx) in [−1, 1], trace ≪ n, bounds \"much tighter\"",
        corrected: "k(x, x) = (1 + cos((ω − ω')ᵀx))/2 in [0, 1]; at the random start the trace is at least about n/2 and (11) at most 29 % below (12)",
        here: "the true diagonal",
        shown_by: &[
            (FEATURE_MAP, "diagonals_lie_where_the_theory_puts_them"),
            ("crates/theory/tests/askl.rs", "diagonals_are_those_of_the_gram_matrix"),
        ],
    },
    Slip {
        place: "Lemma 1",
        printed: "|ℓ(f(x), y) − ℓ(f(x'), y')| ≤ L ‖x − x'‖",
        corrected: "the right-hand side needs ‖f(x) − f(x')‖, at equal labels; L = √2 for hinge and cross-entropy",
        here: "L = √2",
        shown_by: &[(PRINTED_TEXT, "hinge_and_cross_entropy_are_lipschitz_in_the_scores")],
    },
    Slip {
        place: "Experimental Setup against Table 2",
        printed: "mean squared error (text), RMSE (table)",
        corrected: "RMSE: read as MSE, the printed 7.9 on abalone would be an RMSE of 2.8, four times below the mean predictor's",
        here: "RMSE",
        shown_by: &[(
            "experiments/tests/specs.rs",
            "every_published_number_stands_beside_one_of_ours",
        )],
    },
    Slip {
        place: "Table 2",
        printed: "porker",
        corrected: "poker, the poker-hand set",
        here: "poker",
        shown_by: &[(
            "experiments/tests/specs.rs",
            "every_published_number_stands_beside_one_of_ours",
        )],
    },
    Slip {
        place: "(14)",
        printed: "sup of Ê(f) − E(f)",
        corrected: "the absolute deviation",
        here: "only the first term of (10) is computed",
        shown_by: &[("crates/theory/tests/askl.rs", "golden_bound_rate_and_exact_averages")],
    },
    Slip {
        place: "(18), (19)",
        printed: "a sum over i, k and inequalities in (18); no sum over the D frequencies in (19)",
        corrected: "a sum over i, j and equalities; the sum over j as in (11)",
        here: "(11)",
        shown_by: &[("crates/theory/tests/askl.rs", "golden_bound_rate_and_exact_averages")],
    },
];

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(_: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = table(ARTEFACT.id, ARTEFACT.title, SLIPS);
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

/// A line a slip.
pub(super) fn table(id: &str, title: &str, slips: &[Slip]) -> Table {
    let table = Table::new(id, title)
        .caption("What is printed, what the derivation gives, what is used here, and the tests that show it.")
        .columns(["Where", "Printed", "Correct", "Here", "Shown by"].map(Column::left));
    slips.iter().fold(table, |table, slip| {
        let tests: Vec<String> =
            slip.shown_by.iter().map(|(file, test)| format!("{file}: {test}")).collect();
        let texts = [slip.place, slip.printed, slip.corrected, slip.here].map(Cell::text);
        table.row(Row::new(texts.into_iter().chain([Cell::text(tests.join("; "))])))
    })
}

/// The tests that slips name and that are not there, or are no tests.
#[cfg(test)]
pub(super) fn unfounded(slips: &[Slip]) -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let named = slips.iter().flat_map(|slip| slip.shown_by);
    let missing = named.filter(|(file, test)| {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let before = text.split(&format!("fn {test}(")).next().unwrap_or_default();
        before.len() == text.len() || !before.contains("#[test]")
    });
    missing.map(|(file, test)| format!("{file}: {test}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_that_is_named_exists() {
        assert_eq!(unfounded(SLIPS), Vec::<String>::new());
        let stranger: &[(&str, &str)] = &[("experiments/src/lib.rs", "no_such_test")];
        let slip = Slip { place: "", printed: "", corrected: "", here: "", shown_by: stranger };
        assert_eq!(unfounded(&[slip]), ["experiments/src/lib.rs: no_such_test"]);
    }
}
