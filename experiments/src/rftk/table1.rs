//! Table 1: accuracy of kernel and random-feature methods on the paper's datasets, and on vowel.

use crate::accuracies::{Accuracies, RANDOM_SPLITS};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "rftk/table1",
    title: "Test accuracy of kernel and random-feature methods",
    studies: &["rftk/table1"],
    datasets: &[],
    computed: &[],
    render,
};

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = Accuracies {
        artefact: &ARTEFACT,
        study: "rftk/table1",
        paper: "rftk",
        methods: &[
            ("kernel-ridge", "KernelRidge"),
            ("kernel-ridgeless", "KernelRidgeless"),
            ("rf-ridgeless", "RF"),
            ("rf-sgd", "RF-SGD"),
            ("rftk", "RFTK"),
        ],
        splits: RANDOM_SPLITS,
        notes: &[
            "Sensorless is in no mirror that was found: its cells say so.",
            "Vowel was run by the authors and left out of the printed table; its published numbers are from output saved with their code.",
        ],
    };
    table.render(desk)
}
