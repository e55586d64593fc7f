use crate::{Catalogue, ExperimentError, RecordSet};
use mercer_harness::{Selection, Spec, TuningSource, plan};
use mercer_learning::Method;
use mercer_records::{Key, Record};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the studies ask for today, under any of their profiles.
///
/// A record is found by its key, in which every setting stands: a spec that gives another value, or a
/// method of a newer revision, leaves records behind that no run and no table ever opens again.
#[derive(Debug)]
pub struct ReachableKeys {
    digests: HashSet<String>,
    known: HashSet<String>,
}

impl ReachableKeys {
    /// Plans every study under each of its profiles, for the versions of the data that these records are of.
    ///
    /// # Errors
    /// If a study cannot be planned.
    pub fn of(
        catalogue: &Catalogue,
        records: &RecordSet,
        methods: &[Method],
    ) -> Result<Self, ExperimentError> {
        let mut digests = HashSet::new();
        for name in catalogue.studies() {
            let spec = catalogue.study(&name)?;
            let mut profiles: BTreeSet<&str> = spec.profiles.keys().map(String::as_str).collect();
            profiles.insert("paper"); // cuts nothing, and need not be listed
            for selection in selections(&spec, records) {
                for profile in &profiles {
                    let archive = |key: &Key| records.tuning(key);
                    for trial in plan(&spec, methods, profile, &selection, &archive)? {
                        digests.insert(trial.key.digest());
                        if let TuningSource::Tuner { key, .. } = &trial.tuning {
                            digests.insert(key.digest());
                        }
                    }
                }
            }
        }
        records.sound()?;
        digests.extend(catalogue.simulations().iter().map(|own| own.key().digest()));
        let simulations = catalogue.simulations().iter().map(|own| own.name.to_owned());
        Ok(Self { digests, known: catalogue.studies().chain(simulations).collect() })
    }

    /// Whether a key is among them, or of no study that is known here.
    pub fn includes(&self, key: &Key) -> bool {
        !self.known.contains(&key.artefact) || self.digests.contains(&key.digest())
    }
}

/// All of a study on the catalogue's data, and on each other version of which there are records.
fn selections(spec: &Spec, records: &RecordSet) -> Vec<Selection> {
    let catalogue = mercer_datasets::Catalogue::builtin();
    let other = |record: &&Record| {
        let of_catalogue = catalogue.find(&record.key.dataset).map(|entry| &entry.fingerprint);
        let fingerprint = &record.key.fingerprint;
        of_catalogue.is_ok_and(|known| known.as_ref().unwrap_or(&String::new()) != fingerprint)
    };
    let versions: BTreeSet<(&String, &String)> = records
        .records()
        .filter(|record| record.key.artefact == spec.artefact)
        .filter(|record| spec.datasets.contains(&record.key.dataset))
        .filter(other)
        .map(|record| (&record.key.dataset, &record.key.fingerprint))
        .collect();
    let of = |(dataset, version): (&String, &String)| Selection {
        datasets: vec![dataset.clone()],
        versions: BTreeMap::from([(dataset.clone(), version.clone())]),
        ..Selection::default()
    };
    let plain = std::iter::once(Selection::default()).chain(versions.into_iter().map(of));
    let both = |plain: Selection| [Selection { grid: true, ..plain.clone() }, plain];
    plain.flat_map(both).collect()
}
