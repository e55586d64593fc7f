//! What Table 2 of hyper-RKHS owes to choices that the paper leaves open.

use super::pairs::{self, Pair, Side};
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/hyper-sensitivity",
    title: "Choices that the paper leaves open",
    studies: &[TABLE, STUDY],
    datasets: &[],
    computed: &[],
    render,
};

const TABLE: &str = "hyper/table2";
const STUDY: &str = "audit/hyper-sensitivity";

/// A method in a variant of the audit against itself in the printed one.
const fn pair(name: &'static str, variant: &'static str, without: &'static [Side]) -> Pair {
    Pair { name, with: Side(STUDY, variant, without[0].2), without }
}

const KRR: &[Side] = &[Side(TABLE, "printed", "hyper-krr")];
const SVR: &[Side] = &[Side(TABLE, "printed", "hyper-svr")];
const KRR_WISHART: &[Side] = &[Side(TABLE, "printed", "hyper-krr-wishart")];
const SVR_WISHART: &[Side] = &[Side(TABLE, "printed", "hyper-svr-wishart")];
const RANDOM: &[Side] = &[Side(TABLE, "printed", "random-kernel")];

const PAIRS: &[Pair] = &[
    pair("hyper-SVR (Gaussian): tube of 0.01 against 0.1", "narrow-tube", SVR),
    pair("hyper-SVR (Wishart): tube of 0.01 against 0.1", "narrow-tube", SVR_WISHART),
    pair("hyper-SVR (Gaussian): the regression's C to 1e5 against to 10", "whole-grid", SVR),
    pair("hyper-SVR (Wishart): the regression's C to 1e5 against to 10", "whole-grid", SVR_WISHART),
    pair("hyper-KRR (Gaussian): target 1/0 against +1/-1", "one-zero", KRR),
    pair("hyper-SVR (Gaussian): target 1/0 against +1/-1", "one-zero", SVR),
    pair("hyper-KRR (Gaussian): ties to more regularisation against to less", "ties", KRR),
    pair(
        "hyper-SVR (Gaussian): ties to a smaller C, then cost, against to a smaller spread",
        "ties",
        SVR,
    ),
    pair("hyper-KRR (Wishart): ties to more regularisation against to less", "ties", KRR_WISHART),
    pair("hyper-KRR (Gaussian): negative eigenvalues flipped against as they are", "flipped", KRR),
    pair("hyper-SVR (Gaussian): negative eigenvalues flipped against as they are", "flipped", SVR),
    pair(
        "hyper-KRR (Wishart): negative eigenvalues flipped against as they are",
        "flipped",
        KRR_WISHART,
    ),
    pair(
        "hyper-KRR (Wishart): b = d + 1.5 and so D = σ²/2 against d + 3 and 2 σ²",
        "few-degrees",
        KRR_WISHART,
    ),
    pair(
        "hyper-SVR (Wishart): b = d + 1.5 and so D = σ²/2 against d + 3 and 2 σ²",
        "few-degrees",
        SVR_WISHART,
    ),
    pair(
        "hyper-KRR (Wishart): b = d + 12 and so D = 11 σ² against d + 3 and 2 σ²",
        "many-degrees",
        KRR_WISHART,
    ),
    pair(
        "hyper-SVR (Wishart): b = d + 12 and so D = 11 σ² against d + 3 and 2 σ²",
        "many-degrees",
        SVR_WISHART,
    ),
    pair("hyper-KRR (Wishart): D by feature against isotropic", "by-feature", KRR_WISHART),
    pair("hyper-SVR (Wishart): D by feature against isotropic", "by-feature", SVR_WISHART),
    pair("RF: equal features and a ridge against weights and a machine", "public-code", RANDOM),
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    pairs::render(
        desk,
        ARTEFACT.id,
        ARTEFACT.title,
        "Each change alone, on the splits and with the search of the variant `printed` of Table 2.",
        PAIRS,
    )
}
