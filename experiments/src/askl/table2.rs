//! Table 2: accuracy or RMSE of the five methods on twelve datasets, variant by variant.

use crate::accuracies::{Accuracies, RANDOM_SPLITS};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "askl/table2",
    title: "Test accuracy and RMSE on twelve datasets",
    studies: &["askl/table2"],
    datasets: &[],
    computed: &[],
    render,
};

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = Accuracies {
        artefact: &ARTEFACT,
        study: "askl/table2",
        paper: "askl",
        methods: &[
            ("sk", "SK"),
            ("nsk", "NSK"),
            ("skl", "SKL"),
            ("nskl", "NSKL"),
            ("askl", "ASKL"),
        ],
        splits: RANDOM_SPLITS,
        notes: &[
            "The Gaussian SVM by linfa trains on at most 4000 rows and kernel ridge on at most 8000, since they hold the whole Gram matrix; the records say how many were used.",
        ],
    };
    table.render(desk)
}
