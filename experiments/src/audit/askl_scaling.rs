//! How much of the table is the scaling of the inputs?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-scaling",
    title: "Scaling of the inputs, and a bias",
    studies: &["askl/table2", "audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const CODE: &str = "askl/table2";
const ABLATION: &str = "audit/askl";

const PAIRS: &[Pair] = &[
    Pair {
        name: "SK: raw inputs against [-1, 1]",
        with: Side(ABLATION, "raw", "sk"),
        without: &[Side(ABLATION, "symmetric", "sk"), Side(CODE, "released", "sk")],
    },
    Pair {
        name: "NSK: raw inputs against [-1, 1]",
        with: Side(ABLATION, "raw", "nsk"),
        without: &[Side(ABLATION, "symmetric", "nsk"), Side(CODE, "released", "nsk")],
    },
    Pair {
        name: "NSKL: raw inputs against [-1, 1]",
        with: Side(ABLATION, "raw", "nskl"),
        without: &[Side(ABLATION, "symmetric", "nskl"), Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: raw inputs against [-1, 1]",
        with: Side(ABLATION, "raw", "askl"),
        without: &[Side(ABLATION, "symmetric", "askl"), Side(ABLATION, "trained", "askl")],
    },
    Pair {
        name: "SK: standardised inputs against [-1, 1]",
        with: Side(ABLATION, "standard", "sk"),
        without: &[Side(ABLATION, "symmetric", "sk"), Side(CODE, "released", "sk")],
    },
    Pair {
        name: "NSKL: standardised inputs against [-1, 1]",
        with: Side(ABLATION, "standard", "nskl"),
        without: &[Side(ABLATION, "symmetric", "nskl"), Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: standardised inputs against [-1, 1]",
        with: Side(ABLATION, "standard", "askl"),
        without: &[Side(ABLATION, "symmetric", "askl"), Side(ABLATION, "trained", "askl")],
    },
    Pair {
        name: "NSKL: with a bias against without",
        with: Side(ABLATION, "bias", "nskl"),
        without: &[Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: with a bias against without",
        with: Side(ABLATION, "bias", "askl"),
        without: &[Side(ABLATION, "trained", "askl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "The paper does not say how inputs are scaled, and the code has no bias term.",
        PAIRS,
    )
}
