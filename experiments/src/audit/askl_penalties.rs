//! What do the two penalties of ASKL contribute?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-penalties",
    title: "The penalties of ASKL",
    studies: &["askl/table2", "audit/askl"],
    datasets: &[],
    computed: &[],
    render,
};

const TABLE: &str = "askl/table2";
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
    Pair {
        name: "tuned: trace norm against lambda1 = 0",
        with: Side(TABLE, "tuned", "askl"),
        without: &[Side(ABLATION, "tuned-no-trace-norm", "askl")],
    },
    Pair {
        name: "tuned: feature norm against lambda2 = 0",
        with: Side(TABLE, "tuned", "askl"),
        without: &[Side(ABLATION, "tuned-no-feature-norm", "askl")],
    },
    Pair {
        name: "tuned: both penalties against none",
        with: Side(TABLE, "tuned", "askl"),
        without: &[Side(ABLATION, "tuned-no-penalty", "askl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "Read-out trained, all else as in the code: with its unsquared norms and its lambdas the penalties have next to nothing to do. The last three: tuned as the variant `tuned` of Table 2 is, each side with 27 candidates inside the training part, where what the penalties may weigh is searched.",
        PAIRS,
    )
}
