//! Which step from the code to the tuned protocol costs ASKL and NSKL accuracy on poker?

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/askl-steps",
    title: "From the code to the tuned protocol on poker, one change at a time",
    studies: &["askl/table2", "audit/askl"],
    datasets: &["poker"],
    computed: &[],
    render,
};

const TABLE: &str = "askl/table2";
const ABLATION: &str = "audit/askl";

/// One change for both methods, against the code on standardised inputs.
const fn step(names: [&'static str; 2], variant: &'static str) -> [Pair; 2] {
    let [nskl, askl] = names;
    [
        Pair {
            name: nskl,
            with: Side(ABLATION, variant, "nskl"),
            without: &[Side(ABLATION, "standard", "nskl")],
        },
        Pair {
            name: askl,
            with: Side(ABLATION, variant, "askl"),
            without: &[Side(ABLATION, "standard", "askl")],
        },
    ]
}

const STEPS: [[Pair; 2]; 5] = [
    step(["NSKL: squared norms", "ASKL: squared norms"], "standard-squared"),
    step(["NSKL: one phase for both maps", "ASKL: one phase for both maps"], "standard-shared"),
    step(["NSKL: a bias in the read-out", "ASKL: a bias in the read-out"], "standard-bias"),
    step(
        ["NSKL: scaled on the training part", "ASKL: scaled on the training part"],
        "standard-training",
    ),
    step(["NSKL: all four", "ASKL: all four"], "standard-together"),
];

const TUNED: [Pair; 2] = [
    Pair {
        name: "NSKL: tuned, all four",
        with: Side(TABLE, "tuned", "nskl"),
        without: &[Side(ABLATION, "standard-together", "nskl")],
    },
    Pair {
        name: "ASKL: tuned, all four",
        with: Side(TABLE, "tuned", "askl"),
        without: &[Side(ABLATION, "standard-together", "askl")],
    },
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let pairs: Vec<Pair> = STEPS.as_flattened().iter().chain(&TUNED).copied().collect();
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "Without: the code's values and the code's objective on standardised inputs, the read-out of ASKL trained. With: one thing as the variant `tuned` of Table 2 has it, then all four, none of it tuned. The last two: what tuning changes once all four are changed.",
        &pairs,
    )
}
