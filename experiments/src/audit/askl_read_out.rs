//! Does it matter that the code never trains the read-out of ASKL?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-read-out",
    title: "The frozen read-out of ASKL",
    studies: &["askl/table2", "audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const CODE: &str = "askl/table2";
const ABLATION: &str = "audit/askl";

const PAIRS: &[Pair] = &[
    Pair {
        name: "ASKL: read-out trained against frozen",
        with: Side(ABLATION, "trained", "askl"),
        without: &[Side(CODE, "released", "askl")],
    },
    Pair {
        name: "ASKL with a trained read-out against NSKL",
        with: Side(ABLATION, "trained", "askl"),
        without: &[Side(CODE, "released", "nskl")],
    },
    Pair {
        name: "ASKL as the code runs it against NSKL",
        with: Side(CODE, "released", "askl"),
        without: &[Side(CODE, "released", "nskl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "The thresholding step of the code writes to a matrix that the optimiser does not hold, so W keeps its random start. Here W is trained and singular values are clipped at 0; all else is as in the code.",
        PAIRS,
    )
}
