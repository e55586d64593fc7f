use crate::ExperimentError;
use mercer_harness::Spec;
use std::path::Path;

/// The specs, by the artefact that their trials belong to.
pub const STUDIES: &[(&str, &str)] = &[
    ("askl/table2", include_str!("../specs/askl-table2.toml")),
    ("audit/askl", include_str!("../specs/audit-askl.toml")),
    ("audit/askl-norms", include_str!("../specs/audit-askl-norms.toml")),
    ("audit/askl-first", include_str!("../specs/audit-askl-first.toml")),
    ("theory/askl-bound", include_str!("../specs/theory-askl-bound.toml")),
    ("theory/askl-start", include_str!("../specs/theory-askl-start.toml")),
    ("rftk/table1", include_str!("../specs/rftk-table1.toml")),
    ("mce/table1", include_str!("../specs/mce-table1.toml")),
    ("mce/figure1", include_str!("../specs/mce-figure1.toml")),
    ("audit/mce", include_str!("../specs/audit-mce.toml")),
    ("audit/mce-draws", include_str!("../specs/audit-mce-draws.toml")),
    ("rftk/figure2a", include_str!("../specs/rftk-figure2a.toml")),
    ("rftk/figure2a-average", include_str!("../specs/rftk-figure2a-average.toml")),
    ("hyper/table2", include_str!("../specs/hyper-table2.toml")),
    ("hyper/table3", include_str!("../specs/hyper-table3.toml")),
    ("hyper/figure2", include_str!("../specs/hyper-figure2.toml")),
    ("hyper/figure3", include_str!("../specs/hyper-figure3.toml")),
    ("mce/figure2-sizes", include_str!("../specs/mce-figure2-sizes.toml")),
    ("mce/figure2-cnn", include_str!("../specs/mce-figure2-cnn.toml")),
    ("mce/figure2-pixels", include_str!("../specs/mce-figure2-pixels.toml")),
    ("rftk/figure1b", include_str!("../specs/rftk-figure1b.toml")),
    ("rftk/figure2b", include_str!("../specs/rftk-figure2b.toml")),
    ("audit/rftk", include_str!("../specs/audit-rftk.toml")),
    ("hyper/table1", include_str!("../specs/hyper-table1.toml")),
    ("hyper/all-pairs", include_str!("../specs/hyper-all-pairs.toml")),
    ("hyper/covtype", include_str!("../specs/hyper-covtype.toml")),
    ("hyper/exact-or-nystrom", include_str!("../specs/hyper-exact-or-nystrom.toml")),
    ("audit/hyper", include_str!("../specs/audit-hyper.toml")),
    ("audit/hyper-ridge", include_str!("../specs/audit-hyper-ridge.toml")),
    ("audit/hyper-sensitivity", include_str!("../specs/audit-hyper-sensitivity.toml")),
    ("audit/hyper-spectrum", include_str!("../specs/audit-hyper-spectrum.toml")),
    ("audit/hyper-subsets", include_str!("../specs/audit-hyper-subsets.toml")),
    ("audit/rftk-width", include_str!("../specs/audit-rftk-width.toml")),
    ("audit/rftk-penalty", include_str!("../specs/audit-rftk-penalty.toml")),
    ("audit/hyper-third-factor", include_str!("../specs/audit-hyper-third-factor.toml")),
];

/// The spec of a study.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn study(name: &str) -> Result<Spec, ExperimentError> {
    let Some((_, text)) = STUDIES.iter().find(|(id, _)| *id == name) else {
        let known: Vec<&str> = STUDIES.iter().map(|(id, _)| *id).collect();
        return Err(ExperimentError::Form {
            file: name.to_owned(),
            reason: format!("no such study; there are {}", known.join(", ")),
        });
    };
    Ok(Spec::parse(text, Path::new(name))?)
}
