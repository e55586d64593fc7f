//! Does it matter that the code minimises another loss and other norms than the paper prints?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-loss",
    title: "The loss and the norms that the code minimises",
    studies: &["askl/table2", "audit/askl", "audit/askl-norms"],
    datasets: &[],
    computed: &[],
    render,
};

const CODE: &str = "askl/table2";
const ABLATION: &str = "audit/askl";
const NORMS: &str = "audit/askl-norms";

const PAIRS: &[Pair] = &[
    Pair {
        name: "SK: hinge against cross-entropy",
        with: Side(ABLATION, "hinge", "sk"),
        without: &[Side(CODE, "released", "sk")],
    },
    Pair {
        name: "NSKL: hinge against cross-entropy",
        with: Side(ABLATION, "hinge", "nskl"),
        without: &[Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: hinge against cross-entropy",
        with: Side(ABLATION, "hinge", "askl"),
        without: &[Side(ABLATION, "trained", "askl")],
    },
    Pair {
        name: "NSKL: squared norms against unsquared",
        with: Side(ABLATION, "squared", "nskl"),
        without: &[Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL: squared norms against unsquared",
        with: Side(ABLATION, "squared", "askl"),
        without: &[Side(ABLATION, "trained", "askl")],
    },
    Pair {
        name: "SK: the same lambda1 before the square",
        with: Side(NORMS, "square", "sk"),
        without: &[Side(CODE, "released", "sk")],
    },
    Pair {
        name: "NSK: the same lambda1 before the square",
        with: Side(NORMS, "square", "nsk"),
        without: &[Side(CODE, "released", "nsk")],
    },
    Pair {
        name: "SK: 1e-7 before the square",
        with: Side(NORMS, "light-square", "sk"),
        without: &[Side(CODE, "released", "sk")],
    },
    Pair {
        name: "NSK: 1e-7 before the square",
        with: Side(NORMS, "light-square", "nsk"),
        without: &[Side(CODE, "released", "nsk")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "The paper trains with the multi-class hinge and squared norms, the code with cross-entropy and unsquared ones. One of the two is changed here, all else is as in the code (read-out of ASKL trained). The last four: what lambda1 weighs in SK and NSK, on usps (lambda1 = 10 in the code) and MNIST (1e-4).",
        PAIRS,
    )
}
