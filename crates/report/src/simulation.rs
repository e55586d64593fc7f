use crate::ExperimentError;
use mercer_records::{Key, Record, Run, SCHEMA, Status, Store, TrialResult};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A simulation that needs no data and no learner of the registry: its result is one record.
pub struct Simulation {
    /// `audit/paired-t`.
    pub name: &'static str,
    /// Whether it measures times: no two runs of it are alike.
    pub measures: bool,
    /// Raised whenever the numbers change.
    pub revision: u32,
    /// Its settings, part of the key.
    pub settings: fn() -> Value,
    /// The numbers.
    pub compute: fn() -> Result<BTreeMap<String, f64>, ExperimentError>,
}

/// A number whose name begins so is a time: it goes to the part of a record that says how it was
/// computed, which is never compared.
const TIME: &str = "seconds ";

impl Simulation {
    /// The key of its record.
    pub fn key(&self) -> Key {
        Key {
            schema: SCHEMA,
            artefact: self.name.to_owned(),
            variant: "simulation".to_owned(),
            dataset: "generated".to_owned(),
            fingerprint: String::new(),
            method: "simulation".to_owned(),
            revision: self.revision,
            settings: BTreeMap::from([("settings".to_owned(), (self.settings)())]),
            tuning: Value::Null,
            protocol: BTreeMap::new(),
            repeat: 0,
            seed: 0,
            limits: BTreeMap::new(),
        }
    }

    /// Computes and writes the record, unless it is there; `code` is the revision of the source.
    ///
    /// # Errors
    /// Of the computation or the record directory.
    pub fn ensure(&self, store: &Store, code: &str) -> Result<Record, ExperimentError> {
        let key = self.key();
        if let Some(record) = store.get(&key)? {
            return Ok(record);
        }
        let start = Instant::now();
        let (times, facts): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (self.compute)()?.into_iter().partition(|(name, _)| name.starts_with(TIME));
        let result = TrialResult {
            status: Status::Done,
            error: None,
            metrics: BTreeMap::new(),
            facts,
            convergence: json!({ "status": "exact" }),
            settings: BTreeMap::new(),
            tuning: None,
            curve: Vec::new(),
            predicted: None,
            wrong: None,
            rows: [0, 0],
        };
        let run = Run {
            seconds: times
                .into_iter()
                .chain([("compute".to_owned(), start.elapsed().as_secs_f64())])
                .collect(),
            host: mercer_harness::host().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            code: code.to_owned(),
            finished: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
            ..Run::default()
        };
        let record = Record::new(key, result, run);
        store.put(&record)?;
        Ok(record)
    }
}
