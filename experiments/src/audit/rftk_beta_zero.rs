//! Does the trace penalty of RFTK do anything? The control that the code leaves in a comment.

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/rftk-beta-zero",
    title: "RFTK with and without its trace penalty",
    studies: &["rftk/table1"],
    datasets: &[],
    computed: &[],
    render,
};

const STUDY: &str = "rftk/table1";

const PAIRS: &[Pair] = &[
    Pair {
        name: "RFTK: beta as in the code against 0",
        with: Side(STUDY, "released", "rftk"),
        without: &[Side(STUDY, "no-trace", "rftk")],
    },
    Pair {
        name: "RFTK as printed, tuned on its own: beta among the candidates against 0",
        with: Side(STUDY, "printed", "rftk"),
        without: &[Side(STUDY, "printed-no-trace", "rftk")],
    },
    Pair {
        name: "RFTK in the corrected protocol, tuned on its own: beta among the candidates against 0",
        with: Side(STUDY, "corrected", "rftk"),
        without: &[Side(STUDY, "corrected-no-trace", "rftk")],
    },
    Pair {
        name: "RFTK without a penalty against RF-SGD: learning the frequencies",
        with: Side(STUDY, "no-trace", "rftk"),
        without: &[Side(STUDY, "released", "rf-sgd")],
    },
    Pair {
        name: "RFTK with the code's values against kernel ridge tuned on its own",
        with: Side(STUDY, "released", "rftk"),
        without: &[Side(STUDY, "corrected", "kernel-ridge")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "The paper credits the trace penalty; its code adds it, unsquared, in the first batch of each pass and every hundredth after it. Here beta is set to 0 and nothing else is changed; where methods are tuned, each side is.",
        PAIRS,
    )
}
