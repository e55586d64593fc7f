use crate::{Artefact, Catalogue, ExperimentError, RecordSet, Simulation};
use mercer_harness::{HarnessError, Selection, Trial, plan};
use mercer_learning::Method;
use mercer_records::Status;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What some artefacts need: trials, and simulations without data.
#[derive(Default)]
pub struct Work {
    /// Trials, each once.
    pub trials: Vec<Trial>,
    /// Simulations, each once.
    pub simulations: Vec<&'static Simulation>,
}

impl Work {
    /// Takes out what a set of records has already, and says how many trials that were. Trials that it has
    /// as failed stay in if they are to be tried again.
    pub fn leave_out(&mut self, records: &RecordSet, retry_failed: bool) -> usize {
        let planned = self.trials.len();
        self.trials.retain(|trial| match records.of(trial).map(|record| record.result.status) {
            Some(Status::Done | Status::Diverged) => false,
            Some(_) => retry_failed,
            None => true,
        });
        self.simulations.retain(|computed| records.get(&computed.key()).is_none());
        planned - self.trials.len()
    }
}

impl Catalogue {
    /// Plans what the artefacts need under a profile, narrowed by a selection.
    ///
    /// A name in the selection must be known to at least one of the studies; a study that does not
    /// know it contributes nothing.
    ///
    /// # Errors
    /// If a name is known to none of the studies, the names together meet no trial of the profile, or a
    /// spec does not have the profile.
    pub fn work(
        &self,
        artefacts: &[&Artefact],
        methods: &[Method],
        profile: &str,
        selection: &Selection,
        records: &RecordSet,
    ) -> Result<Work, ExperimentError> {
        // Many artefacts show the same study: each is planned once.
        let names: BTreeSet<&str> =
            artefacts.iter().flat_map(|artefact| &artefact.studies).map(String::as_str).collect();
        let mut planned: BTreeMap<&str, Planned> = names
            .into_par_iter()
            .map(|name| Ok((name, planned(self, name, methods, profile, selection, records)?)))
            .collect::<Result<_, ExperimentError>>()?;
        let mut work = Work::default();
        let mut seen = BTreeSet::new();
        for artefact in artefacts {
            for name in &artefact.studies {
                let Some(Ok(trials)) = planned.get_mut(name.as_str()) else { continue };
                let wanted = |dataset: &str| {
                    artefact.datasets.is_empty()
                        || artefact.datasets.iter().any(|own| own == dataset)
                };
                let own = trials.extract_if(.., |trial| wanted(&trial.key.dataset));
                work.trials.extend(own.filter(|trial| seen.insert(trial.digest.clone())));
            }
            for name in &artefact.simulations {
                let computed = self
                    .simulation(name)
                    .filter(|found| work.simulations.iter().all(|other| other.name != found.name));
                work.simulations.extend(computed);
            }
        }
        records.sound()?;
        let studies = planned.len();
        let first = artefacts.iter().flat_map(|artefact| &artefact.studies).next();
        if planned.values().all(Result::is_err)
            && let Some(Err(error)) = first.and_then(|name| planned.remove(name.as_str()))
        {
            return Err(error.into());
        }
        let named = !(selection.variants.is_empty()
            && selection.datasets.is_empty()
            && selection.methods.is_empty());
        if named && studies > 0 && work.trials.is_empty() {
            return Err(ExperimentError::NothingSelected { profile: profile.to_owned() });
        }
        Ok(work)
    }
}

/// The trials of a study, or the name in the selection that it does not know.
type Planned = Result<Vec<Trial>, HarnessError>;

fn planned(
    catalogue: &Catalogue,
    study_name: &str,
    methods: &[Method],
    profile: &str,
    selection: &Selection,
    records: &RecordSet,
) -> Result<Planned, ExperimentError> {
    match plan(&catalogue.study(study_name)?, methods, profile, selection, &|key| {
        records.tuning(key)
    }) {
        Ok(trials) => Ok(Ok(trials)),
        // A method may be in some variants of a study and not in others; a dataset of the artefact alone is enough.
        Err(error @ HarnessError::Unknown { kind: "variant" | "dataset" | "method", .. }) => {
            Ok(Err(error))
        }
        Err(error) => Err(error.into()),
    }
}
