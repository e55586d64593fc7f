//! What is declared about some papers: the engine knows them by this alone.

use crate::artefact::{Artefact, Renderer};
use crate::claim::Claim;
use crate::growth::Timing;
use crate::note::Note;
use crate::query::Scalar;
use crate::simulation::Simulation;
use crate::{ExperimentError, Finding, Paper};
use mercer_harness::{Path, Spec};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Files of one folder: the name without its ending, and the text.
pub type Files = &'static [(&'static str, &'static str)];

/// `n_test / n_train` behind a value of a curve, from that of the split.
pub type Ratio = fn(f64, &str) -> f64;

/// What a catalogue is made of.
pub struct Declared {
    /// Sections of the report, by the folder of their artefacts and their title, in order.
    pub sections: &'static [(&'static str, &'static str)],
    /// The papers among them.
    pub papers: &'static [Paper],
    /// Tables and figures: `artefacts/askl-table2.toml` is `askl/table2`.
    pub artefacts: Files,
    /// Functions that render what no kind of table does, by the artefact.
    pub renderers: &'static [(&'static str, Renderer)],
    /// Simulations and measurements.
    pub simulations: &'static [&'static Simulation],
    /// Those of them that measure how times grow.
    pub timings: &'static [Timing],
    /// Trials that are whole curves.
    pub curves: &'static [Path],
    /// Of those that fit a part of their training rows.
    pub ratios: &'static [(&'static str, Ratio)],
    /// Specs: `specs/askl-table2.toml` is that of `askl/table2`.
    pub studies: Files,
    /// Printed numbers, by paper.
    pub published: Files,
    /// Claims, by paper.
    pub claims: Files,
    /// Findings, by id.
    pub findings: Files,
    /// Methods of ours written out, with the numbers as queries: `notes/hyper-linear-time.md` is the page
    /// `hyper/linear-time`.
    pub notes: Files,
    /// Numbers that findings ask for by name.
    pub scalars: &'static [(&'static str, Scalar)],
    /// The verdicts of the claims under the earlier rule, as TOML: claim, variant, verdict.
    pub before: &'static str,
    /// What the pages say.
    pub texts: Texts,
}

/// What the pages say about all of it.
pub struct Texts {
    /// Title of the first page.
    pub title: &'static str,
    /// The line below that title.
    pub subtitle: &'static str,
    /// What is typed first, as Markdown.
    pub commands: &'static str,
    /// Chapters of the book that stand on the site: name and Markdown. The first section of `statistics` says
    /// what the verdicts mean.
    pub chapters: Files,
    /// A chapter for each paper by its key, two sections of which open its page: `What came out` and
    /// `Why numbers differ`.
    pub tours: Files,
}

/// Everything that is declared, the artefacts read.
pub struct Catalogue {
    declared: Declared,
    artefacts: Vec<Artefact>,
    before: BTreeMap<String, BTreeMap<String, String>>,
}

/// `askl-table2` as `askl/table2`.
fn id_of(file: &str) -> String {
    file.replacen('-', "/", 1)
}

fn parsed<T: DeserializeOwned>(file: String, text: &str) -> Result<T, ExperimentError> {
    toml::from_str(text).map_err(|error| ExperimentError::Form { file, reason: error.to_string() })
}

impl Catalogue {
    /// Reads the artefacts.
    ///
    /// # Errors
    /// If the file of one does not have its form, or what it names is not there.
    pub fn new(declared: Declared) -> Result<Self, ExperimentError> {
        let mut artefacts = Vec::with_capacity(declared.artefacts.len());
        for (name, text) in declared.artefacts {
            let file = format!("artefacts/{name}.toml");
            let mut artefact: Artefact = parsed(file.clone(), text)?;
            artefact.id = id_of(name);
            artefact.source = format!("experiments/{file}");
            let renderer = declared.renderers.iter().find(|(id, _)| *id == artefact.id);
            artefact.renderer = renderer.map(|(_, renderer)| *renderer);
            if let Some(reason) = artefact.fault() {
                return Err(ExperimentError::Form { file, reason: reason.to_owned() });
            }
            artefacts.push(artefact);
        }
        let renders = |id: &str| artefacts.iter().any(|artefact: &Artefact| artefact.id == id);
        if let Some((id, _)) = declared.renderers.iter().find(|(id, _)| !renders(id)) {
            let (file, reason) =
                (format!("artefacts/{id}.toml"), "a function renders it".to_owned());
            return Err(ExperimentError::Form { file, reason });
        }
        artefacts.sort_by_key(|artefact| artefact.order);
        let before = parsed("claims-before.toml".to_owned(), declared.before)?;
        Ok(Self { declared, artefacts, before })
    }

    /// Sections of the report: folder and title, in order.
    pub fn sections(&self) -> &'static [(&'static str, &'static str)] {
        self.declared.sections
    }

    /// The papers, in the order of the report.
    pub fn papers(&self) -> &'static [Paper] {
        self.declared.papers
    }

    /// What the pages say.
    pub(crate) const fn texts(&self) -> &Texts {
        &self.declared.texts
    }

    /// The paper that a trial is counted with: that of its study, or the one whose audit it is.
    pub fn paper_of<'a>(&self, study: &'a str) -> &'a str {
        let (folder, name) = study.split_once('/').unwrap_or((study, ""));
        let is_paper = |key: &str| self.papers().iter().any(|paper| paper.key == key);
        let about = name.split('-').next().unwrap_or(name);
        if !is_paper(folder) && is_paper(about) { about } else { folder }
    }

    /// Tables and figures, in the order of the report.
    pub fn artefacts(&self) -> &[Artefact] {
        &self.artefacts
    }

    /// Simulations and measurements.
    pub fn simulations(&self) -> &'static [&'static Simulation] {
        self.declared.simulations
    }

    /// The simulation of that name.
    pub fn simulation(&self, name: &str) -> Option<&'static Simulation> {
        self.declared.simulations.iter().copied().find(|own| own.name == name)
    }

    /// What a simulation of that name measures.
    pub(crate) fn timing(&self, name: &str) -> Option<&'static Timing> {
        self.declared.timings.iter().find(|timing| timing.measurement.name == name)
    }

    /// Trials that are whole curves.
    pub fn curves(&self) -> &'static [Path] {
        self.declared.curves
    }

    /// The share of the rows behind a value of the curves of a method, where that is not the split's.
    pub(crate) fn ratio(&self, method: &str) -> Option<Ratio> {
        self.declared.ratios.iter().find(|(name, _)| *name == method).map(|(_, ratio)| *ratio)
    }

    /// The names of the studies.
    pub fn studies(&self) -> impl Iterator<Item = String> {
        self.declared.studies.iter().map(|(file, _)| id_of(file))
    }

    /// Whether there is a study of that name.
    pub(crate) fn has_study(&self, name: &str) -> bool {
        self.declared.studies.iter().any(|(file, _)| id_of(file) == name)
    }

    /// The spec of a study.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn study(&self, name: &str) -> Result<Spec, ExperimentError> {
        let Some((_, text)) = self.declared.studies.iter().find(|(file, _)| id_of(file) == name)
        else {
            let known: Vec<String> = self.studies().collect();
            return Err(ExperimentError::Form {
                file: name.to_owned(),
                reason: format!("no such study; there are {}", known.join(", ")),
            });
        };
        Ok(Spec::parse(text, std::path::Path::new(name))?)
    }

    /// The file of a paper's printed numbers.
    pub(crate) fn printed(&self, paper: &str) -> Option<&'static str> {
        self.declared.published.iter().find(|(name, _)| *name == paper).map(|(_, text)| *text)
    }

    /// The claims of a paper; none of what is no paper.
    ///
    /// # Errors
    /// If its file does not have its form.
    pub fn claims(&self, paper: &str) -> Result<Vec<Claim>, ExperimentError> {
        #[derive(Deserialize)]
        struct File {
            claim: Vec<toml::Table>,
        }
        let Some((_, text)) = self.declared.claims.iter().find(|(name, _)| *name == paper) else {
            return Ok(Vec::new());
        };
        let file = format!("claims/{paper}.toml");
        let claims = parsed::<File>(file.clone(), text)?.claim.into_iter();
        claims
            .map(|table| Claim::from_table(paper, table))
            .collect::<Result<_, String>>()
            .map_err(|reason| ExperimentError::Form { file, reason })
    }

    /// All findings.
    ///
    /// # Errors
    /// If a page's front matter does not have its form.
    pub fn findings(&self) -> Result<Vec<Finding>, ExperimentError> {
        self.declared.findings.iter().map(|(id, text)| Finding::parse(id, text)).collect()
    }

    /// The notes that are written with one of these artefacts.
    pub(crate) fn notes_beside(
        &self,
        artefacts: &[&Artefact],
    ) -> Result<Vec<Note>, ExperimentError> {
        let notes = self.declared.notes.iter().map(|(name, text)| Note::parse(name, text));
        let mut notes = notes.collect::<Result<Vec<_>, _>>()?;
        notes.retain(|note| artefacts.iter().any(|artefact| artefact.id == note.beside));
        Ok(notes)
    }

    /// The function behind a number that findings ask for by name.
    pub(crate) fn scalar(&self, name: &str) -> Option<Scalar> {
        self.declared.scalars.iter().find(|(own, _)| *own == name).map(|(_, scalar)| *scalar)
    }

    /// The verdicts of the claims under the earlier rule.
    pub(crate) const fn before(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.before
    }

    /// The printed columns of a study: its paper, and the names of its methods, ours and the printed ones.
    pub(crate) fn columns(&self, study: &str) -> Option<(&str, &[(String, String)])> {
        let results = self.artefacts.iter().filter_map(|artefact| artefact.results.as_ref());
        let own = results.into_iter().find(|results| results.study == study)?;
        Some((&own.paper, &own.columns))
    }

    /// The artefacts that some names mean: an id, a paper (with it `audit/PAPER-…`, `theory/PAPER-…` and
    /// `complexity/PAPER-…`), or, without names, all.
    ///
    /// # Errors
    /// [`ExperimentError::UnknownArtefact`], with the nearest name.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Artefact>, ExperimentError> {
        if names.is_empty() {
            return Ok(self.artefacts.iter().collect());
        }
        let mut chosen: Vec<&Artefact> = Vec::new();
        for name in names {
            let before = chosen.len();
            for artefact in &self.artefacts {
                let means = artefact.id == *name || artefact.is_of(name);
                if means && !chosen.iter().any(|other| other.id == artefact.id) {
                    chosen.push(artefact);
                }
            }
            if chosen.len() == before && !chosen.iter().any(|a| a.id.starts_with(name.as_str())) {
                return Err(ExperimentError::UnknownArtefact {
                    name: name.clone(),
                    hint: self
                        .nearest(name)
                        .map_or(String::new(), |near| format!("; did you mean `{near}`?")),
                });
            }
        }
        Ok(chosen)
    }

    fn nearest(&self, name: &str) -> Option<&str> {
        let sections = self.declared.sections.iter().map(|(section, _)| *section);
        self.artefacts
            .iter()
            .map(|artefact| artefact.id.as_str())
            .chain(sections)
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(distance, _)| *distance <= 4)
            .map(|(_, known)| known)
    }
}

/// One table of two methods on three datasets.
#[cfg(test)]
pub(crate) fn toy() -> Catalogue {
    let artefact = r#"
        order = 1
        title = "Toys"
        [results]
        study = "toy/table1"
        paper = "toy"
        columns = [["a", "A"], ["b", "B"]]
        equivalent = ["a", "b"]
        splits = "random splits"
        printed-deviation = "by J"
        notes = []
    "#;
    let published = r#"
        repeats = 10
        cell = [
            { dataset = "wine", method = "A", metric = "accuracy_percent", mean = 91.0, std = 1.0 },
            { dataset = "wine", method = "B", metric = "accuracy_percent", mean = 90.0, std = 1.0 },
            { dataset = "iris", method = "A", metric = "accuracy_percent", mean = 88.0, std = 1.0 },
            { dataset = "iris", method = "B", metric = "accuracy_percent", mean = 85.0, std = 1.0 },
            { dataset = "zoo", method = "A", metric = "accuracy_percent", mean = 80.0, std = 1.0 },
        ]
    "#;
    Catalogue::new(Declared {
        sections: &[("toy", "Toys")],
        papers: &[],
        artefacts: Box::leak(Box::new([("toy-table1", artefact)])),
        renderers: &[],
        simulations: &[],
        timings: &[],
        curves: &[],
        ratios: &[],
        studies: &[],
        published: Box::leak(Box::new([("toy", published)])),
        claims: &[],
        findings: &[],
        notes: &[],
        scalars: &[],
        before: "",
        texts: Texts { title: "", subtitle: "", commands: "", chapters: &[], tours: &[] },
    })
    .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_names_the_nearest() {
        let catalogue = toy();
        let error = catalogue.select(&["toy/tabel1".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("did you mean `toy/table1`?"), "{error}");
        assert_eq!(catalogue.select(&["toy".to_owned()]).unwrap()[0].id, "toy/table1");
        assert!(catalogue.study("toy/table1").is_err());
        assert!(catalogue.published("none").is_err());
        assert!(catalogue.claims("none").unwrap().is_empty());
    }
}
