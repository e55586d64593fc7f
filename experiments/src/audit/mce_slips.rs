//! Slips of the text of the MCE paper and of its code: what is printed, what is right, which test shows it.

use super::askl_slips::{Slip, table};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "audit/mce-slips",
    title: "Slips of the text and of the code",
    source: file!(),
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

const THEORY: &str = "crates/theory/tests/mce.rs";
const MODELS: &str = "crates/models/src/mce/tests.rs";
const NETWORKS: &str = "crates/models/src/mce/cen/tests.rs";
const BATCHES: &str = "crates/models/src/mce/batches.rs";
const SCALING: &str = "crates/datasets/src/scaling.rs";
const TABLE1: &str = "experiments/tests/embeddings.rs";

const SLIPS: &[Slip] = &[
    Slip {
        place: "(12)",
        printed: "the mean of the losses (text); their sum over the batch (code)",
        corrected: "two objectives: with the mean, 4e r is smallest at a constant classifier",
        here: "the mean in printed, the sum elsewhere (audit/mce-sum-or-mean)",
        shown_by: &[(TABLE1, "two_starts_on_iris_meet_and_the_mean_form_does_not_work")],
    },
    Slip {
        place: "the norm of W",
        printed: "a trace norm, ‖W‖_tr",
        corrected: "tr(VᵀKV) is the square of the Hilbert-Schmidt (Frobenius) norm; it is no nuclear norm",
        here: "the Frobenius norm, named so",
        shown_by: &[(MODELS, "sensitivity_and_norm_stand_among_the_facts")],
    },
    Slip {
        place: "sensitivity s and λ",
        printed: "two hyperparameters that are learned",
        corrected: "f, r and q depend on λ/s² alone",
        here: "λ/s² is a fact of each record (audit/mce-redundancy)",
        shown_by: &[(MODELS, "scale_and_lambda_are_one_parameter")],
    },
    Slip {
        place: "Algorithm 1, Theorem 4",
        printed: "K + n_b λ I in the batch (algorithm), K + n λ I (theorem)",
        corrected: "the rows of the matrix at hand: n_b in a batch, n at the end, where V is formed on all rows",
        here: "so; the released GMCE-SGD column comes out with it",
        shown_by: &[(TABLE1, "slow_batches_come_out_as_printed")],
    },
    Slip {
        place: "q, Section 4",
        printed: "(Y)_i for a row of Y beside y_i for its class",
        corrected: "the loss takes the class's probability, the embedding the row of ones and noughts",
        here: "one name for each",
        shown_by: &[(MODELS, "golden_objective_of_four_points")],
    },
    Slip {
        place: "Theorem 2",
        printed: "R_n ≤ 2αρ, whatever n",
        corrected: "a fixed kernel has 2αρ/√n",
        here: "`mce-rademacher` has the first, `mce-ball-complexity` the exact value below both",
        shown_by: &[(THEORY, "the_ball_is_below_both_bounds")],
    },
    Slip {
        place: "Theorems 3 and 4",
        printed: "E loss ≤ mean loss + 4e r + a deviation",
        corrected: "the loss is at most 1, so that nothing is said from r = 1/(4e) on; every model trained with summed losses is beyond",
        here: "`mercer bound mce-risk` says that it is vacuous (theory/mce-bound)",
        shown_by: &[
            (THEORY, "the_bound_is_vacuous_from_its_complexity_on_whatever_the_rows"),
            (MODELS, "the_right_side_of_the_bound_is_never_below_one"),
        ],
    },
    Slip {
        place: "Theorem 10, step (40)",
        printed: "|log a − log b| ≤ |a − b|/b",
        corrected: "divided by the smaller of the two: false for a < b (a = 0.1, b = 0.5: 1.61 > 0.8)",
        here: "`mce-log-distance` and `mce-entropy-factor` have both",
        shown_by: &[
            (THEORY, "logarithms_are_apart_by_at_most_their_bound"),
            (THEORY, "entropies_are_off_by_at_most_the_corrected_factor"),
        ],
    },
    Slip {
        place: "Table 1, CV, code",
        printed: "a column for cross-validation; the class of that name is the plain one, byte by byte",
        corrected: "the code has no cross-validation, and none of MED",
        here: "both written anew; grids that the paper does not state stand in the settings",
        shown_by: &[(MODELS, "cross_validation_and_the_median_say_what_they_chose")],
    },
    Slip {
        place: "Cholesky factorisation, code",
        printed: "a failed one ends the training without a word",
        corrected: "a jitter, counted and said",
        here: "`jitter` and `jitter-steps` are facts of each record, and a warning of the command",
        shown_by: &[
            (MODELS, "a_singular_matrix_takes_a_jitter_and_says_so"),
            (NETWORKS, "steps_that_need_a_jitter_are_counted"),
        ],
    },
    Slip {
        place: "scaling, code",
        printed: "(x − min)/(max − min): 0/0 in a constant column (segment has one, MNIST many)",
        corrected: "such a column becomes 0",
        here: "so, in every scaling",
        shown_by: &[(SCALING, "constant_columns_map_to_zero")],
    },
    Slip {
        place: "dropout, code",
        printed: "one network (text); two masks a step, one to form W and one to score the batch (code)",
        corrected: "W is scored on features that it was not formed of",
        here: "two in released, one in the variant one-mask of mce/figure2-cnn; features that did not form W have gradients of their own",
        shown_by: &[
            (MODELS, "explicit_gradients_agree_with_central_differences"),
            (NETWORKS, "the_objective_goes_through_the_layers"),
        ],
    },
    Slip {
        place: "loss of the images, code",
        printed: "probabilities clipped to [ε, 1] (text)",
        corrected: "from below alone (code): the loss goes on falling above 1",
        here: "a setting, `clip`; the code's for the images",
        shown_by: &[(MODELS, "a_probability_above_one_may_be_clipped_or_not")],
    },
    Slip {
        place: "sensitivity of a network, code",
        printed: "α = sup ‖φ(x)‖ in r (text)",
        corrected: "1 (code): a chain of norms for α is computed and not used",
        here: "1 in the networks of Table 1, as the code; `mercer bound` takes the model's own α",
        shown_by: &[(NETWORKS, "sensitivity_and_norm_are_those_of_the_read_out")],
    },
    Slip {
        place: "GMCE-SGD, code",
        printed: "batches of a tenth of the rows (text)",
        corrected: "one generator makes the folds and then every pass's order, so that a fold's batches depend on the fits before it",
        here: "the same stream, whence the released column",
        shown_by: &[(BATCHES, "a_later_fold_goes_on_where_the_earlier_fits_stopped")],
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

    #[test]
    fn every_test_that_is_named_exists() {
        assert_eq!(unfounded(SLIPS), Vec::<String>::new());
    }
}
