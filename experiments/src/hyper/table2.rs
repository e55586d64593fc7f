//! Table 2: accuracy with learned kernels on six datasets, 40 % of the rows for training.

use crate::accuracies::Accuracies;
use crate::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "hyper/table2",
    title: "Test accuracy with learned kernels",
    studies: &["hyper/table2"],
    datasets: &[],
    computed: &[],
    render,
};

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let table = Accuracies {
        artefact: &ARTEFACT,
        study: "hyper/table2",
        paper: "hyper",
        splits: "random splits, 40 % of the rows for training",
        methods: &[
            ("kta", "KTA"),
            ("bmkl", "BMKL"),
            ("random-kernel", "RF"),
            ("mikl", "MIKL"),
            ("svm-cv", "SVM-CV"),
            ("hyper-krr", "hyper-KRR(Gaussian)"),
            ("hyper-svr", "hyper-SVR(Gaussian)"),
            ("hyper-krr-wishart", "hyper-KRR(Wishart)"),
            ("hyper-svr-wishart", "hyper-SVR(Wishart)"),
        ],
        notes: &[
            "KTA: weights of 11 Gaussians by centred alignment (non-negative least squares), then a machine; wine: target +1 for equal classes, -1 otherwise, which gives the same weights as 1 and 0.",
            "DANK and the distributed BMKL belong to Figure 3 and Table 3.",
        ],
    };
    table.render(desk)
}
