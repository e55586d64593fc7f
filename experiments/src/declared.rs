//! What is declared about the four papers: the folders beside this one, and the functions and lists that they name.

use crate::scalars::SCALARS;
use crate::{audit, complexity, hyper, mce, rftk, theory};
use mercer_harness::Path;
use mercer_report::{Catalogue, Declared, Headline, Paper, Renderer, Simulation, Texts};
use std::sync::LazyLock;

mod files {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// Everything that is declared about the four papers.
///
/// # Panics
/// If a file of the folder does not have its form, which a test finds.
pub fn catalogue() -> &'static Catalogue {
    static ALL: LazyLock<Catalogue> = LazyLock::new(|| {
        let all = Catalogue::new(Declared {
            sections: SECTIONS,
            papers: &PAPERS,
            artefacts: files::ARTEFACTS,
            renderers: RENDERERS,
            simulations: SIMULATIONS,
            timings: complexity::page::MEASURED,
            curves: CURVES,
            ratios: &[(
                hyper::known_kernel::PATH.method.name,
                hyper::known_kernel::test_over_train,
            )],
            studies: files::SPECS,
            published: files::PUBLISHED,
            claims: files::CLAIMS,
            findings: files::FINDINGS,
            notes: files::NOTES,
            scalars: SCALARS,
            before: include_str!("../claims-before.toml"),
            texts: TEXTS,
        });
        all.unwrap_or_else(|error| panic!("{error}"))
    });
    &ALL
}

/// Sections of the report, in order.
const SECTIONS: &[(&str, &str)] = &[
    ("askl", "Automated Spectral Kernel Learning (Li, Liu, Wang; AAAI 2020)"),
    ("rftk", "Ridgeless Regression with Random Features (Li, Liu, Zhang; IJCAI 2022)"),
    (
        "hyper",
        "Generalization Properties of hyper-RKHS and its Applications (Liu, Shi, Huang, Yang, Suykens; JMLR 2021)",
    ),
    (
        "mce",
        "Hyperparameter Learning for Conditional Kernel Mean Embeddings with Rademacher Complexity Bounds (Hsu, Nock, Ramos; ECML-PKDD 2018)",
    ),
    ("audit", "Audits: why numbers differ"),
    ("theory", "Theory: bounds beside what was measured"),
    ("complexity", "Complexity: time beside counted operations"),
    ("leaderboard", "Leaderboard: all methods, tuned alike"),
];

/// In the order of the report.
const PAPERS: [Paper; 4] = [
    Paper {
        key: "askl",
        name: "ASKL",
        title: "Automated Spectral Kernel Learning",
        authors: "Li, Liu, Wang",
        venue: "AAAI 2020",
        link: "https://doi.org/10.1609/aaai.v34i04.5892",
        table: "askl/table2.md",
        terms: "SK and NSK draw their frequencies at random; SKL, NSKL and ASKL learn them. NSK, NSKL and ASKL use non-stationary kernels. ASKL adds two penalties, the trace norm and the feature norm. `released` has the authors' code on scaled inputs; ASKL's output weights stay at their random start there.",
        results: [
            "Learned frequencies beat random ones if both train their output weights.",
            "Its penalties show no significant gain.",
        ],
        headline: Headline {
            claim: "askl-beats-nskl",
            words: "ASKL over NSKL",
            variants: &[("printed", "printed"), ("released", "released"), ("tuned", "tuned")],
        },
    },
    Paper {
        key: "rftk",
        name: "RFTK",
        title: "Ridgeless Regression with Random Features",
        authors: "Li, Liu, Zhang",
        venue: "IJCAI 2022",
        link: "https://doi.org/10.48550/arXiv.2205.00477",
        table: "rftk/table1.md",
        terms: "RF: random features without a ridge. RF-SGD: the same, by gradient steps. RFTK learns the frequencies, too, under a penalty of the trace. `theorem`: the steps of Theorem 1. Targets: −|w·x| in the text, −w·x in the code.",
        results: [
            "Double descent reproduces.",
            "The trace penalty shows no gain. Overall, RFTK beats kernel ridge only at the bandwidth tuned for RFTK.",
        ],
        headline: Headline {
            claim: "rftk-beats-kernel-ridge",
            words: "RFTK over kernel ridge",
            variants: &[("printed", "printed"), ("released", "released"), ("tuned", "tuned")],
        },
    },
    Paper {
        key: "hyper",
        name: "hyper-RKHS",
        title: "Generalization Properties of hyper-RKHS and its Applications",
        authors: "Liu, Shi, Huang, Yang, Suykens",
        venue: "JMLR 2021",
        link: "https://jmlr.org/papers/v22/19-482.html",
        table: "hyper/table2.md",
        terms: "hyper-KRR learns a kernel by ridge regression over pairs of rows, hyper-SVR by support vector regression; an SVM then uses it. SVM-CV: one Gaussian, by cross-validation. `folded`: the search by five folds, negative eigenvalues flipped. `v=5`: five subsets of the rows. DANK: a rival whose kernel the labels pull; `pull-2` pulls with weight 2.",
        results: [
            "hyper-KRR and hyper-SVR learn a Gaussian kernel, but no published error of that kernel agrees.",
            "No learned kernel beats one cross-validated Gaussian significantly.",
        ],
        headline: Headline {
            claim: "hyper-svr-beats-svm-cv",
            words: "hyper-SVR over a tuned Gaussian",
            variants: &[("printed", "printed")],
        },
    },
    Paper {
        key: "mce",
        name: "MCE",
        title: "Hyperparameter Learning for Conditional Kernel Mean Embeddings with Rademacher Complexity Bounds",
        authors: "Hsu, Nock, Ramos",
        venue: "ECML-PKDD 2018",
        link: "https://doi.org/10.1007/978-3-030-10928-8_14",
        table: "mce/table1.md",
        terms: "GMCE: a conditional embedding, tuned by its complexity bound on all rows; GMCE-SGD: on a tenth at a time. CEN: on the features of a network. ERM, CV, MED: without the bound. `stratified`: each fold has all classes in proportion. In `printed` GMCE predicts one class for every row: the formula has a mean where the code has a sum. Claims that compare it on Table 1 are not judged there. Under folds the test of a cell finds only large differences.",
        results: [
            "With summed losses GMCE matches every digit on four of six datasets.",
            "A smaller ridge (chosen on these folds) brings the median heuristic near GMCE on average.",
        ],
        headline: Headline {
            claim: "mce-bound-beats-median",
            words: "GMCE over the median heuristic",
            variants: &[("released", "released"), ("stratified", "stratified")],
        },
    },
];

const TEXTS: Texts = Texts {
    title: "Do four kernel-learning papers reproduce?",
    subtitle: "Tables and figures, run again.",
    commands: "\
```
./setup && just reproduce
target/release/mercer compare --methods askl,gaussian-svm \\
    --data your.csv --report out.html
```

[Your own table](./own-data.html), [in Python](./python.html), [extend it](./extend.html)",
    chapters: &[
        ("own-data", include_str!("../../book/src/own-data.md")),
        ("page", include_str!("../../book/src/page.md")),
        ("python", include_str!("../../book/src/python.md")),
        ("statistics", include_str!("../../book/src/statistics.md")),
        ("extend", include_str!("../../book/src/extend.md")),
        ("outside", include_str!("../../book/src/outside.md")),
        ("words", include_str!("../../book/src/words.md")),
    ],
    tours: &[
        ("askl", include_str!("../../book/src/askl.md")),
        ("rftk", include_str!("../../book/src/rftk.md")),
        ("hyper", include_str!("../../book/src/hyper.md")),
        ("mce", include_str!("../../book/src/mce.md")),
    ],
};

/// What renders what no kind of table does.
const RENDERERS: &[(&str, Renderer)] = &[
    ("rftk/table1", rftk::table1::render),
    ("rftk/figure1a", rftk::figure1a::render),
    ("rftk/figure1b", rftk::figure1b::render),
    ("rftk/figure2a", rftk::figure2a::render),
    ("rftk/figure2a-average", rftk::figure2a_average::render),
    ("hyper/table2", hyper::table2::render),
    ("hyper/table3", hyper::table3::render),
    ("hyper/figure2", hyper::figure2::render),
    ("mce/table1", mce::table1::render),
    ("mce/table2", mce::table2::render),
    ("mce/figure1", mce::figure1::render),
    ("mce/figure2-pixels", mce::figure2_pixels::render),
    ("rftk/figure2c", rftk::figure2c::render),
    ("hyper/table1", hyper::table1::render),
    ("audit/askl-search", audit::askl_search::render),
    ("audit/askl-first", audit::askl_first::render),
    ("audit/askl-objective", audit::askl_objective::render),
    ("audit/askl-underlines", audit::askl_underlines::render),
    ("audit/askl-protocol", audit::askl_protocol::render),
    ("audit/rftk-beta-zero", audit::rftk_beta_zero::render),
    ("audit/hyper-slips", audit::hyper_errata::render),
    ("audit/hyper-ridge", audit::hyper_ridge::render),
    ("audit/tuning", audit::tuning::render),
    ("theory/askl-bound", theory::askl_bound::render),
    ("theory/mce-bound", theory::mce_bound::render),
    ("theory/hyper-decomposition", theory::hyper_decomposition::render),
    ("complexity/mce", mce::complexity::render),
    ("complexity/hyper-memory", complexity::hyper_memory::render),
];

/// Simulations and measurements.
const SIMULATIONS: &[&Simulation] = &[
    &audit::paired_t::SIMULATION,
    &audit::sizes::SIMULATION,
    &rftk::table2::MEASUREMENT,
    &complexity::sgd::MEASUREMENT,
    &complexity::hyper::MEASUREMENT,
    &complexity::hyper_memory::MEASUREMENT,
    &hyper::exact_cost::MEASUREMENT,
    &hyper::figure2::SECONDS,
    &complexity::mce::MEASUREMENT,
    &complexity::mce::FEATURES_ALONE,
    &complexity::threshold::MEASUREMENT,
    &theory::hyper_decomposition::SIMULATION,
];

/// Trials that are whole curves.
const CURVES: &[Path] = &[
    rftk::double_descent::PATH,
    rftk::averaged::PATH,
    rftk::sgd_factors::PATH,
    rftk::width::PATH,
    hyper::approximation::PATH,
    hyper::transfer::PATH,
    mce::curves::PATH,
    mce::sizes::WITH_BOUND,
    mce::sizes::WITHOUT_BOUND,
    mce::sizes::SVC,
    mce::sizes::SVC_CV,
    mce::sizes::GPC,
    mce::pixel_lengths::PATH,
    hyper::known_kernel::PATH,
    hyper::pair_audit::PATH,
    hyper::exact_path::PATH,
    hyper::spectrum_audit::PATH,
    hyper::third_factor::PATH,
];
