//! Shared or independent phases: the non-stationary kernel, or half a stationary one.

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-phases",
    title: "One phase or two",
    studies: &["askl/table2", "audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const CODE: &str = "askl/table2";
const ABLATION: &str = "audit/askl";

const PAIRS: &[Pair] = &[
    Pair {
        name: "NSK: shared against independent phases",
        with: Side(ABLATION, "shared", "nsk"),
        without: &[Side(CODE, "released", "nsk")],
    },
    Pair {
        name: "NSKL: shared against independent phases",
        with: Side(ABLATION, "shared", "nskl"),
        without: &[Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: shared against independent phases",
        with: Side(ABLATION, "shared", "askl"),
        without: &[Side(ABLATION, "trained", "askl")],
    },
    Pair {
        name: "NSK against SK, independent phases",
        with: Side(CODE, "released", "nsk"),
        without: &[Side(CODE, "released", "sk")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "With independent phases, as in the code and in equation (6), the expected kernel of NSK is half that of SK; only a shared phase gives the non-stationary kernel (5).",
        PAIRS,
    )
}
