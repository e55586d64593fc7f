//! Slips of the text of the RFTK paper and of its code: what is printed, what is right, which test shows
//! it.

use super::askl_slips::{Slip, table};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "audit/rftk-slips",
    title: "Slips of the text and of the code",
    source: file!(),
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

const THEORY: &str = "crates/theory/tests/rftk.rs";
const MODELS: &str = "crates/models/src/rftk/tests.rs";
const AVERAGED: &str = "experiments/src/rftk/averaged.rs";
const FEW_ROWS: &str = "experiments/src/rftk/few_rows.rs";
const FACTORS: &str = "experiments/src/rftk/sgd_factors.rs";
const TABLE2: &str = "experiments/src/rftk/table2.rs";
const SLIPS_HERE: &str = "experiments/src/audit/rftk_slips.rs";
const SPECS: &str = "experiments/tests/specs.rs";

const SLIPS: &[Slip] = &[
    Slip {
        place: "Theorem 3",
        printed: "Tr[K(K + λnI)⁻¹] = M/n in the theorem, = M in its discussion",
        corrected: "M: with M/n there would be a ridge where M = n",
        here: "M; `rftk-effective-ridge` has the other beside it",
        shown_by: &[
            (THEORY, "at_the_threshold_one_condition_interpolates_and_the_misprint_does_not"),
            (THEORY, "the_mean_projection_is_that_of_the_effective_ridge"),
            (AVERAGED, "the_mean_over_draws_is_nearer_to_the_kernel_at_the_effective_ridge"),
        ],
    },
    Slip {
        place: "random features; Figure 2(a)",
        printed: "φ = cos(Oᵀx + b)/√M approaches the Gaussian kernel, Tr(K) = n",
        corrected: "it approaches half of it, Tr(K) = n/2; a ridge λ acts as 2λ",
        here: "the printed factor in printed and released, √(2/M) in corrected; both kernels in Figure 2(a)",
        shown_by: &[
            (
                AVERAGED,
                "beyond_the_rows_the_mean_is_the_ridgeless_kernel_and_the_variance_falls_as_stated",
            ),
            (FEW_ROWS, "the_saved_distance_to_the_kernel_is_half_of_the_kernel_itself"),
        ],
    },
    Slip {
        place: "bandwidth",
        printed: "three conventions: exp(−‖·‖²/(2σ²)) with frequencies N(0, 1/σ²) (Sections 3 and 5); exp(−σ²‖·‖²/2) with N(0, σ²) (Section 6); k, the deviation of the frequencies (code)",
        corrected: "k = 1/σ in the first and k = σ in the second: \"σ² = 100\" is of the first, though it stands in Section 6, for the code has k = 0.1",
        here: "k in every spec, as `std`; a grid of σ² is translated once (audit/rftk-width)",
        shown_by: &[(SLIPS_HERE, "three_conventions_name_one_kernel")],
    },
    Slip {
        place: "Corollary 1, cases 2 and 3",
        printed: "γ = 1, from Theorem 1",
        corrected: "Theorem 1 allows at most 1/(8(1 + ln T)) ≤ 1/8",
        here: "`rftk-sgd-regime` says that these cases are not covered, and why",
        shown_by: &[(THEORY, "the_cases_of_the_corollary_cost_what_it_says")],
    },
    Slip {
        place: "Theorem 2",
        printed: "a constant times α ‖f‖²/M, α = M/(M − n), for random features",
        corrected: "exact with M/(M − n − 1) and the posterior variance for Gaussian features; for Fourier features the constant differs, by twelve in an example",
        here: "the identity beside what the draws have (rftk/figure2a-average)",
        shown_by: &[
            (THEORY, "gaussian_features_have_the_stated_mean_and_variance"),
            (THEORY, "for_fourier_features_the_identity_lacks_a_factor_of_twelve"),
        ],
    },
    Slip {
        place: "(6)",
        printed: "the excess risk, a square, is at most the sum of the distances",
        corrected: "at most the square of that sum",
        here: "`rftk-excess-risk`, with the printed sum among its terms",
        shown_by: &[(THEORY, "the_square_of_the_sum_lies_below_three_times_the_squares")],
    },
    Slip {
        place: "Remark 2, the motivation of the penalty",
        printed: "a smaller trace is better",
        corrected: "the trace follows the scale of the features, no ridgeless prediction does",
        here: "the trace beside the effective rank",
        shown_by: &[(
            THEORY,
            "halved_features_have_a_quarter_of_the_trace_and_the_same_predictions",
        )],
    },
    Slip {
        place: "Section 6.1, on Figures 2(b) and 2(c)",
        printed: "the error of stochastic gradients (Theorem 1) and that of random features (Theorem 3) depend on Tr(K)",
        corrected: "the bound of Theorem 1 has n, b, γ and t and no trace; Theorem 3 has Tr[K(K + λnI)⁻¹] = M; and Tr(K) is n for every Gaussian kernel, as the paper says below Theorem 3, while the ridge of that condition is not",
        here: "`rftk-sgd-rate` and `rftk-effective-ridge` have the terms that are there",
        shown_by: &[(
            SLIPS_HERE,
            "of_gaussian_kernels_the_trace_is_one_and_the_effective_ridge_is_not",
        )],
    },
    Slip {
        place: "Table 2, RFTK",
        printed: "O(nMbT/s)",
        corrected: "O(nMdT/s), as Section 5 derives: the trace is over all n rows, whatever the batch",
        here: "rftk/table2 measures n, M, b, T and s; in b the time grows hardly at all; d is measured by complexity/sgd",
        shown_by: &[(TABLE2, "in_the_batch_size_the_share_is_that_of_what_grows_with_it")],
    },
    Slip {
        place: "the step of w",
        printed: "w − (γ/b) Σ (w·φ − y) φ as the gradient step of the squared loss",
        corrected: "that gradient has a factor 2",
        here: "the printed step for RF-SGD, the gradient for RFTK",
        shown_by: &[(FACTORS, "passes_are_the_printed_steps_on_the_drawn_rows")],
    },
    Slip {
        place: "synthetic problem, code",
        printed: "y = min(−w·x, w·x) (text); both arguments of the minimum are the same (code): y = −w·x",
        corrected: "two different problems",
        here: "both: rftk-kink and rftk-slope",
        shown_by: &[(
            "crates/datasets/src/generate.rs",
            "the_synthetic_targets_are_the_text_s_and_the_code_s",
        )],
    },
    Slip {
        place: "synthetic problem, code",
        printed: "loss of predictions (b × 1) and targets (b): all pairs of the batch",
        corrected: "row by row; over all pairs it fits the mean target of the batch",
        here: "row by row in every variant",
        shown_by: &[(FACTORS, "a_loss_over_all_pairs_of_a_batch_fits_the_mean_target")],
    },
    Slip {
        place: "penalty, code",
        printed: "β ‖φ(X)‖_F² over the training rows (text)",
        corrected: "β ‖φ(X')‖_F/m over the m validation rows, in every hundredth batch (code): another penalty",
        here: "each form in its variant, the code's over as many training rows: its validation rows are the inputs of the test part, for all but MNIST, which no fit sees here",
        shown_by: &[(SPECS, "the_released_penalty_of_rftk_is_that_of_the_code")],
    },
    Slip {
        place: "approximation error, code",
        printed: "‖K − ΦΦᵀ‖_F/n² over M, of features φ = cos(·)/√M (saved beside Figure 2(a))",
        corrected: "it tends to ‖K‖_F/(2n²), not to 0: these features approach half of K",
        here: "nowhere; the distance to the kernel's predictor takes the half into account",
        shown_by: &[(AVERAGED, "the_printed_features_miss_the_kernel_by_half_of_it")],
    },
    Slip {
        place: "Figure 2(a)",
        printed: "the third pair of curves is labelled λ = 1 (figure saved with the code)",
        corrected: "λ = 1e-2, which the code plots under that label",
        here: "1e-2, by its own name",
        shown_by: &[(SPECS, "the_ridges_of_figure_2a_are_those_that_the_code_plots")],
    },
    Slip {
        place: "Figures 2(b) and 2(c)",
        printed: "\"near 100 epochs\": the axis is read as epochs (text)",
        corrected: "it counts records, one in 200 batches, some eight a pass: 253 of them are 30 passes (code)",
        here: "records, with the passes beside them",
        shown_by: &[(SPECS, "figure_2b_records_once_in_200_batches")],
    },
    Slip {
        place: "closed forms, code",
        printed: "pseudo-inverse (text); \"ridgeless\" in Table 2's column of regularisers, \"only kernel ridge has the penalty\" (Section 6.2)",
        corrected: "explicit inverses in single precision, ridges of 1e-7 (random features) and 1e-8 (kernel) (code): neither of the two is ridgeless",
        here: "each in its variant (audit/rftk-precision)",
        shown_by: &[(
            MODELS,
            "single_precision_with_an_inverse_agrees_only_where_the_matrix_is_good",
        )],
    },
];

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(_: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = table(ARTEFACT.id, ARTEFACT.title, SLIPS);
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::askl_slips::unfounded;
    use mercer_kernels::{Kernel, std_of_bandwidth};
    use mercer_linalg::symmetric_eigen;
    use mercer_theory::{RidgeCondition, effective_ridge};
    use ndarray::{Array2, array};

    #[test]
    fn every_test_that_is_named_exists() {
        assert_eq!(unfounded(SLIPS), Vec::<String>::new());
    }

    #[test]
    fn of_gaussian_kernels_the_trace_is_one_and_the_effective_ridge_is_not() {
        let x = Array2::from_shape_fn((12, 2), |(i, j)| {
            ((5 * i + 3 * j) % 7) as f64 / 3.0 + i as f64 / 50.0
        });
        let [narrow, wide] = [2.0, 0.5].map(|std| Kernel::Gaussian { std }.gram(x.view()));
        for gram in [&narrow, &wide] {
            assert!((gram.diag().sum() - 12.0).abs() < 1e-12);
        }
        let ridge = |gram: &Array2<f64>| {
            let values = symmetric_eigen(gram.view()).unwrap().values;
            effective_ridge(values.as_slice().unwrap(), 4, RidgeCondition::Features).unwrap().lambda
        };
        assert!(ridge(&narrow) > 2.0 * ridge(&wide), "{} {}", ridge(&narrow), ridge(&wide));
    }

    /// The σ² = 100 of the text, read by its first convention, is the k = 0.1 of the code; by its second it would
    /// be k = 10.
    #[test]
    fn three_conventions_name_one_kernel() {
        let variance = 100.0_f64;
        let (x, z) = (array![0.5, -1.0, 2.0], array![3.0, 0.5, -1.0]);
        let apart: f64 = (&x - &z).mapv(|gap| gap * gap).sum();
        let code = |std: f64| Kernel::Gaussian { std }.of(x.view(), z.view());
        let first = (-apart / (2.0 * variance)).exp();
        let second = |variance: f64| (-variance * apart / 2.0).exp();
        assert!((std_of_bandwidth(variance.sqrt()) - 0.1).abs() < 1e-15);
        assert!((code(0.1) - first).abs() < 1e-14);
        assert!((second(0.01) - first).abs() < 1e-14);
        assert!((code(10.0) - second(variance)).abs() < 1e-14 && second(variance) < 1e-300);
    }
}
