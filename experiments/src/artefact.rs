use crate::{Desk, ExperimentError, askl, audit, complexity, hyper, mce, rftk, theory};
use mercer_render::{Diagram, Figure, Table};
use serde::Serialize;

/// The papers, by short name and title, in the order of the report.
pub const PAPERS: &[(&str, &str)] = &[
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
];

/// A table or figure of a paper, or one of ours.
#[derive(Clone, Copy)]
pub struct Artefact {
    /// The file that renders it, below the root of the repository: `file!()`.
    pub source: &'static str,
    /// `askl/table2`.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// Studies whose records it shows.
    pub studies: &'static [&'static str],
    /// Datasets of those studies that it shows; empty means all.
    pub datasets: &'static [&'static str],
    /// Names of the computed records that it shows.
    pub computed: &'static [&'static str],
    /// Turns records into tables and figures; fits nothing.
    pub render: fn(&Desk<'_>) -> Result<Rendered, ExperimentError>,
}

impl std::fmt::Debug for Artefact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Artefact").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Artefact {
    /// Whether it belongs to a paper: one of its tables and figures, an audit of it, its theory or its
    /// costs.
    fn is_of(&self, paper: &str) -> bool {
        let (folder, name) = self.id.split_once('/').unwrap_or((self.id, ""));
        let about = || {
            let rest = name.strip_prefix(paper);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        folder == paper || (["audit", "theory", "complexity"].contains(&folder) && about())
    }
}

/// All of them, in the order of the report.
pub const ARTEFACTS: &[Artefact] = &[
    askl::table1::ARTEFACT,
    askl::table2::ARTEFACT,
    askl::ranks::ARTEFACT,
    askl::figure1::ARTEFACT,
    askl::figure2::ARTEFACT,
    askl::figure3::ARTEFACT,
    askl::figure4::ARTEFACT,
    rftk::table1::ARTEFACT,
    rftk::table2::ARTEFACT,
    rftk::figure1a::ARTEFACT,
    rftk::figure1b::ARTEFACT,
    rftk::figure1c::ARTEFACT,
    rftk::figure2a::ARTEFACT,
    rftk::figure2a_average::ARTEFACT,
    hyper::table2::ARTEFACT,
    hyper::table3::ARTEFACT,
    hyper::figure2::ARTEFACT,
    hyper::figure3::ARTEFACT,
    mce::table1::ARTEFACT,
    mce::table2::ARTEFACT,
    mce::figure1::ARTEFACT,
    mce::figure2_sizes::ARTEFACT,
    mce::figure2_cnn::ARTEFACT,
    mce::figure2_pixels::ARTEFACT,
    rftk::figure2b::ARTEFACT,
    rftk::figure2c::ARTEFACT,
    hyper::table1::ARTEFACT,
    hyper::figure1::ARTEFACT,
    hyper::all_pairs::ARTEFACT,
    hyper::exact_or_nystrom::ARTEFACT,
    audit::paired_t::ARTEFACT,
    audit::askl_read_out::ARTEFACT,
    audit::askl_phases::ARTEFACT,
    audit::askl_loss::ARTEFACT,
    audit::askl_scaling::ARTEFACT,
    audit::askl_epochs::ARTEFACT,
    audit::askl_penalties::ARTEFACT,
    audit::askl_steps::ARTEFACT,
    audit::askl_cost::ARTEFACT,
    audit::askl_search::ARTEFACT,
    audit::askl_first::ARTEFACT,
    audit::askl_frozen::ARTEFACT,
    audit::askl_objective::ARTEFACT,
    audit::askl_deviations::ARTEFACT,
    audit::askl_underlines::ARTEFACT,
    audit::askl_looseness::ARTEFACT,
    audit::askl_slips::ARTEFACT,
    audit::askl_protocol::ARTEFACT,
    audit::rftk_beta_zero::ARTEFACT,
    mce::sum_or_mean::ARTEFACT,
    mce::folds::ARTEFACT,
    mce::redundancy::ARTEFACT,
    mce::median::ARTEFACT,
    mce::draws::ARTEFACT,
    audit::rftk_bandwidth::ARTEFACT,
    audit::rftk_precision::ARTEFACT,
    audit::rftk_penalty::ARTEFACT,
    audit::rftk_trace_scale::ARTEFACT,
    audit::rftk_width::ARTEFACT,
    audit::rftk_slips::ARTEFACT,
    audit::hyper_slips::ARTEFACT,
    audit::mce_slips::ARTEFACT,
    audit::hyper::NORMALISER,
    audit::hyper::VARIANCE,
    audit::hyper::PAIRS,
    audit::hyper_ridge::ARTEFACT,
    audit::hyper_sensitivity::ARTEFACT,
    audit::hyper_spectrum::ARTEFACT,
    audit::hyper_subsets::ARTEFACT,
    audit::hyper_third_factor::ARTEFACT,
    audit::tuning::ARTEFACT,
    theory::askl_bound::ARTEFACT,
    theory::askl_start::ARTEFACT,
    theory::mce_bound::ARTEFACT,
    theory::hyper_decomposition::ARTEFACT,
    mce::complexity::ARTEFACT,
    complexity::hyper::ARTEFACT,
    complexity::hyper_memory::ARTEFACT,
    complexity::page::ARTEFACT,
];

/// What a rendering leaves.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Tables, in order.
    pub tables: Vec<Table>,
    /// Figures and diagrams, in order.
    pub drawings: Vec<Drawing>,
    /// The cells behind the tables, for `--json`.
    pub cells: Vec<CellReport>,
}

/// A figure with numbers, or one drawn from structure alone.
#[derive(Debug, Clone)]
pub enum Drawing {
    /// Curves and points.
    Figure(Figure),
    /// Boxes and arrows.
    Diagram(Diagram),
}

impl Drawing {
    /// `askl/figure3`.
    pub fn id(&self) -> &str {
        match self {
            Self::Figure(figure) => &figure.id,
            Self::Diagram(diagram) => &diagram.id,
        }
    }
}

/// One cell as `reproduce --json` prints it: percentages and target units as the paper has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CellReport {
    /// `askl/table2`.
    pub artefact: String,
    /// Dataset.
    pub dataset: String,
    /// Name of the method in the registry.
    pub method: String,
    /// Head of the column.
    pub label: String,
    /// Variant.
    pub variant: String,
    /// `accuracy` (percent) or `rmse` (target units).
    pub metric: String,
    /// Mean over the repeats with a score.
    pub mean: Option<f64>,
    /// Deviation divided by `J − 1`.
    pub std: Option<f64>,
    /// Repeats with a score.
    pub repeats: usize,
    /// Repeats of the paper.
    pub repeats_of_paper: u32,
    /// How the settings were found.
    pub tuning: String,
    /// The printed number.
    pub published: Option<PublishedNumber>,
    /// `exact`, `agrees`, `by choice`, `differs`, `open`, `short`, `missing`, or nothing where nothing was printed.
    pub verdict: Option<String>,
    /// The finding that explains why it differs; none where that is an open question.
    pub finding: Option<String>,
    /// Whether that finding says why, or only that neither the text nor the code gives the number.
    pub cause_known: Option<bool>,
    /// Our mean minus theirs.
    pub difference: Option<f64>,
    /// Welch's 95 % interval of that difference.
    pub interval: Option<(f64, f64)>,
    /// Its mean minus that of the best of the paper's methods, over the repeats that both have; none
    /// where it is that best.
    pub over_best: Option<f64>,
    /// Against the best of the paper's methods in the row: p of the paper's test.
    pub p_naive: Option<f64>,
    /// Against the best of the paper's methods in the row: p of the corrected test; where the test part is fixed,
    /// the larger of the bootstrap's over rows and seeds and the t-test's over seeds.
    pub p_corrected: Option<f64>,
    /// McNemar's exact test on the pair of each seed, where the test part is fixed.
    pub p_mcnemar: Vec<f64>,
    /// Repeats common to it and that best; none where it is the best.
    pub pairs: usize,
    /// Whether the differences have no spread: p is then 0 or 1 by convention, not by evidence.
    pub degenerate: bool,
    /// Best mean of the paper's methods in its row.
    pub best: bool,
    /// Why there is no score, if there is none.
    pub note: Option<String>,
}

/// A printed mean with its deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedNumber {
    /// Mean.
    pub mean: f64,
    /// Deviation.
    pub std: f64,
}

/// The artefacts that some names mean: an id, a paper (with it `audit/PAPER-…`, `theory/PAPER-…` and
/// `complexity/PAPER-…`), or, without names, all.
///
/// # Errors
/// [`ExperimentError::UnknownArtefact`], with the nearest name.
pub fn select(names: &[String]) -> Result<Vec<&'static Artefact>, ExperimentError> {
    if names.is_empty() {
        return Ok(ARTEFACTS.iter().collect());
    }
    let mut chosen: Vec<&Artefact> = Vec::new();
    for name in names {
        let before = chosen.len();
        for artefact in ARTEFACTS {
            let means = artefact.id == name || artefact.is_of(name);
            if means && !chosen.iter().any(|other| other.id == artefact.id) {
                chosen.push(artefact);
            }
        }
        if chosen.len() == before && !chosen.iter().any(|a| a.id.starts_with(name.as_str())) {
            return Err(ExperimentError::UnknownArtefact {
                name: name.clone(),
                hint: nearest(name)
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?")),
            });
        }
    }
    Ok(chosen)
}

fn nearest(name: &str) -> Option<&'static str> {
    let papers = PAPERS.iter().map(|(paper, _)| *paper);
    ARTEFACTS
        .iter()
        .map(|artefact| artefact.id)
        .chain(papers)
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 4)
        .map(|(_, known)| known)
}
