//! What all pages say of the trials behind them.

use crate::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_render::Report;
use std::collections::{BTreeMap, BTreeSet};

/// The profile that proves that everything runs, on a few rows and for a few steps.
pub(crate) const PIPE: &str = "smoke";

/// The label of the page on protocol and coverage.
pub(crate) const METHOD: &str = "How it was done";

/// Where the trials behind the page come from.
#[derive(Default)]
pub(crate) struct Shown {
    records: usize,
    hosts: BTreeMap<String, usize>,
    code: BTreeMap<String, usize>,
    seeds: Vec<String>,
    /// By method, those that did not converge of how many; only methods with any.
    pub(crate) open: BTreeMap<String, (usize, usize)>,
}

impl Shown {
    /// Of the trials that the profile plans, not of every record in the folder.
    pub(crate) fn of(
        context: &RenderContext<'_>,
        rendered: &[(&Artefact, Rendered)],
    ) -> Result<Self, ExperimentError> {
        let mut shown = Self::default();
        let studies: BTreeSet<&String> =
            rendered.iter().flat_map(|(artefact, _)| &artefact.studies).collect();
        for name in studies {
            let study = context.cells(name)?;
            let (spec, cells) = &*study;
            let before = shown.records;
            for record in cells.iter().flat_map(StudyCell::records) {
                shown.records += 1;
                let (open, all) = shown.open.entry(record.key.method.clone()).or_default();
                *open += usize::from(record.result.open_fits() > 0);
                *all += 1;
                *shown.hosts.entry(record.run.host.clone()).or_default() += 1;
                let code = match record.run.code.as_str() {
                    "" => "older trials, without a revision",
                    code if code.ends_with("-dirty") => "sources edited after a commit",
                    code => code,
                };
                *shown.code.entry(code.to_owned()).or_default() += 1;
            }
            if shown.records > before {
                shown.seeds.push(format!("{name} {}", spec.seed));
            }
        }
        shown.open.retain(|_, (open, _)| *open > 0);
        Ok(shown)
    }

    /// A page that ends with it.
    pub(crate) fn provenance(&self, page: Report, context: &RenderContext<'_>) -> Report {
        page.provenance("Software", format!("mercer {}", env!("CARGO_PKG_VERSION")))
            .provenance("Profile", context.profile)
            .provenance("Trials shown", self.records.to_string())
            .provenance("Hosts", listed(&self.hosts))
            .provenance("Code that ran them", listed(&self.code))
            .provenance("Seeds", self.seeds.join("; "))
            .provenance("Not converged", not_converged(&self.open))
    }
}

fn listed(counts: &BTreeMap<String, usize>) -> String {
    let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let listed: Vec<String> =
        counts.into_iter().map(|(name, trials)| format!("{name} ({trials} trials)")).collect();
    if listed.is_empty() { "none".to_owned() } else { listed.join("; ") }
}

/// Methods with fits that ended above their tolerance, and how many.
fn not_converged(open: &BTreeMap<String, (usize, usize)>) -> String {
    let listed: Vec<String> = open
        .iter()
        .map(|(method, (open, all))| format!("{method} ({open} of {all} trials)"))
        .collect();
    if listed.is_empty() { "none".to_owned() } else { listed.join("; ") }
}
