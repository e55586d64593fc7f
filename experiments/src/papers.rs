//! The four papers, and what came out of each in two sentences: for the first page and the README.

/// A paper.
///
/// ```
/// assert_eq!(mercer_experiments::FOUR[3].name, "MCE");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Its folder in the reports: `askl`.
    pub key: &'static str,
    /// Its short name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its authors, by their family names.
    pub authors: &'static str,
    /// Where and when it appeared.
    pub venue: &'static str,
    /// Where it can be read.
    pub link: &'static str,
    /// Its main table in the reports.
    pub table: &'static str,
    /// What came out.
    pub results: [&'static str; 2],
}

/// In the order of the report.
pub const FOUR: [Paper; 4] = [
    Paper {
        key: "askl",
        name: "ASKL",
        title: "Automated Spectral Kernel Learning",
        authors: "Li, Liu, Wang",
        venue: "AAAI 2020",
        link: "https://arxiv.org/abs/1909.04894",
        table: "askl/table2.md",
        results: [
            "Learned frequencies beat random ones that are trained alike.",
            "The two penalties of ASKL show no gain.",
        ],
    },
    Paper {
        key: "rftk",
        name: "RFTK",
        title: "Ridgeless Regression with Random Features",
        authors: "Li, Liu, Zhang",
        venue: "IJCAI 2022",
        link: "https://arxiv.org/abs/2205.00477",
        table: "rftk/table1.md",
        results: [
            "Double descent comes out as plotted.",
            "The trace penalty shows no gain in accuracy.",
        ],
    },
    Paper {
        key: "hyper",
        name: "hyper-RKHS",
        title: "Generalization Properties of hyper-RKHS and its Applications",
        authors: "Liu, Shi, Huang, Yang, Suykens",
        venue: "JMLR 2021",
        link: "https://jmlr.org/papers/v22/19-482.html",
        table: "hyper/table2.md",
        results: [
            "Known kernels are learned.",
            "No learned kernel beats one cross-validated Gaussian significantly.",
        ],
    },
    Paper {
        key: "mce",
        name: "MCE",
        title: "Hyperparameter Learning for Conditional Kernel Mean Embeddings with Rademacher Complexity Bounds",
        authors: "Hsu, Nock, Ramos",
        venue: "ECML-PKDD 2018",
        link: "https://arxiv.org/abs/1809.00175",
        table: "mce/table1.md",
        results: [
            "GMCE comes out to the digit on four of six datasets.",
            "Its lead over the median heuristic rests on a ridge.",
        ],
    },
];
