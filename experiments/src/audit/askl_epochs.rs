//! The one epoch on satimage that the code falls back on.

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-epochs",
    title: "One epoch or ten on satimage",
    studies: &["askl/table2", "audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const PAIRS: &[Pair] = &[
    Pair {
        name: "SK: ten epochs against one",
        with: Side("audit/askl", "ten-epochs", "sk"),
        without: &[Side("askl/table2", "released", "sk")],
    },
    Pair {
        name: "NSK: ten epochs against one",
        with: Side("audit/askl", "ten-epochs", "nsk"),
        without: &[Side("askl/table2", "released", "nsk")],
    },
    Pair {
        name: "SKL: ten epochs against one",
        with: Side("audit/askl", "ten-epochs", "skl"),
        without: &[Side("askl/table2", "released", "skl")],
    },
    Pair {
        name: "NSKL: ten epochs against one",
        with: Side("audit/askl", "ten-epochs", "nskl"),
        without: &[Side("askl/table2", "released", "nskl")],
    },
    Pair {
        name: "ASKL: ten epochs against one",
        with: Side("audit/askl", "ten-epochs", "askl"),
        without: &[Side("askl/table2", "released", "askl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "The code's table of settings has no entry for satimage, and its fallback is one epoch.",
        PAIRS,
    )
}
