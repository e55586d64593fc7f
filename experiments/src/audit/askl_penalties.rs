//! What do the two penalties of ASKL contribute?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-penalties",
    title: "The penalties of ASKL",
    studies: &["audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const ABLATION: &str = "audit/askl";

const PAIRS: &[Pair] = &[
    Pair {
        name: "trace norm: lambda1 as in the code against 0",
        with: Side(ABLATION, "trained", "askl"),
        without: &[Side(ABLATION, "no-trace-norm", "askl")],
    },
    Pair {
        name: "feature norm: lambda2 as in the code against 0",
        with: Side(ABLATION, "trained", "askl"),
        without: &[Side(ABLATION, "no-feature-norm", "askl")],
    },
    Pair {
        name: "both penalties against none",
        with: Side(ABLATION, "trained", "askl"),
        without: &[Side(ABLATION, "no-penalty", "askl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "Read-out trained, all else as in the code.",
        PAIRS,
    )
}
