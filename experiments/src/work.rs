use crate::{Artefact, Computed, ExperimentError, Shelf, study};
use mercer_harness::{HarnessError, Selection, Spec, Trial, plan};
use mercer_learning::Method;
use mercer_records::{Key, Status};
use std::collections::BTreeSet;

/// What some artefacts need: trials, and simulations without data.
#[derive(Default)]
pub struct Work {
    /// Trials, each once.
    pub trials: Vec<Trial>,
    /// Simulations, each once.
    pub computed: Vec<&'static Computed>,
}

impl Work {
    /// Takes out what a shelf has already, and says how many trials that were. Trials that it has
    /// as failed stay in if they are to be tried again.
    pub fn leave_out(&mut self, shelf: &Shelf, retry_failed: bool) -> usize {
        let planned = self.trials.len();
        self.trials.retain(|trial| {
            match shelf.get(&trial.key).map(|record| record.result.status) {
                Some(Status::Done | Status::Diverged) => false,
                Some(_) => retry_failed,
                None => true,
            }
        });
        self.computed.retain(|computed| shelf.get(&computed.key()).is_none());
        planned - self.trials.len()
    }
}

/// Plans what the artefacts need under a profile, narrowed by a selection.
///
/// A name in the selection must be known to at least one of the studies; a study that does not
/// know it contributes nothing.
///
/// # Errors
/// If a name is known to none of the studies, the names together meet no trial of the profile, or a
/// spec does not have the profile.
pub fn work(
    artefacts: &[&Artefact],
    methods: &[Method],
    profile: &str,
    selection: &Selection,
    shelf: &Shelf,
) -> Result<Work, ExperimentError> {
    let mut work = Work::default();
    let mut seen = BTreeSet::new();
    let mut strangers: Vec<HarnessError> = Vec::new();
    let mut studies = 0;
    let archive = |key: &Key| shelf.tuning(key);
    for artefact in artefacts {
        for name in artefact.studies {
            let spec = study(name)?;
            studies += 1;
            let own = narrowed(&spec, artefact, selection);
            let trials = match plan(&spec, methods, profile, &own, &archive) {
                Ok(trials) => trials,
                Err(
                    stranger @ HarnessError::Unknown {
                        kind: "variant" | "dataset" | "method", ..
                    },
                ) => {
                    strangers.push(stranger);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            for trial in trials {
                let wanted = artefact.datasets.is_empty()
                    || artefact.datasets.contains(&trial.key.dataset.as_str());
                if wanted && seen.insert(trial.key.digest()) {
                    work.trials.push(trial);
                }
            }
        }
        for name in artefact.computed {
            let computed = Computed::find(name)
                .filter(|found| work.computed.iter().all(|other| other.name != found.name));
            work.computed.extend(computed);
        }
    }
    if studies > 0 && strangers.len() == studies {
        return Err(strangers.swap_remove(0).into());
    }
    let named = !(selection.variants.is_empty()
        && selection.datasets.is_empty()
        && selection.methods.is_empty());
    if named && studies > 0 && work.trials.is_empty() {
        return Err(ExperimentError::NothingSelected { profile: profile.to_owned() });
    }
    Ok(work)
}

/// A method may be in some variants of a study and not in others; a dataset of the artefact alone
/// is enough.
fn narrowed(spec: &Spec, artefact: &Artefact, selection: &Selection) -> Selection {
    let mut own = selection.clone();
    if own.datasets.is_empty() && !artefact.datasets.is_empty() {
        own.datasets = artefact
            .datasets
            .iter()
            .filter(|name| spec.datasets.iter().any(|known| known == *name))
            .map(|name| (*name).to_owned())
            .collect();
    }
    own
}
