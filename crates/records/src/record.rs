use crate::{RecordError, sha256_hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Version of the form of a record.
pub const SCHEMA: u32 = 1;

/// Everything that can change the result of a trial.
///
/// ```
/// use mercer_records::Key;
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// let again = Key { repeat: 1, ..key.clone() };
/// assert_eq!(key.digest(), key.clone().digest());
/// assert_ne!(key.digest(), again.digest()); // another repeat is another trial
/// let read: Key = serde_json::from_str(&serde_json::to_string(&key)?)?;
/// assert_eq!((read.digest(), key.digest().len()), (key.digest(), 64));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Version of this form.
    pub schema: u32,
    /// The study that the trial belongs to, `askl/table2`; also the root of its random streams.
    pub artefact: String,
    /// `printed`, `released`, `tuned`, or the name of an ablation.
    #[serde(serialize_with = "store_variant", deserialize_with = "read_variant")]
    pub variant: String,
    /// Name of the dataset.
    pub dataset: String,
    /// SHA-256 of its rows after the catalogue's encoding.
    pub fingerprint: String,
    /// Name of the method.
    pub method: String,
    /// The method's revision.
    pub revision: u32,
    /// The settings that the spec fixes; a tuner's choice is part of the result.
    pub settings: BTreeMap<String, Value>,
    /// How the rest is set: `null`, a tuner with its budget, or given settings' digest.
    pub tuning: Value,
    /// Rows used, how inputs and targets are scaled, how the rows are split, cuts.
    pub protocol: BTreeMap<String, Value>,
    /// Repeat, from 0.
    pub repeat: u32,
    /// Root seed.
    pub seed: u64,
    /// Time and memory limits that would stop the trial, and its fit's number of threads.
    pub limits: BTreeMap<String, Value>,
}

impl Key {
    /// Returns the name of the trial: SHA-256 of the canonical text.
    pub fn digest(&self) -> String {
        // Written straight, the fields in the order of their names: a tree of values takes five times as long.
        let sorted = Sorted {
            artefact: &self.artefact,
            dataset: &self.dataset,
            fingerprint: &self.fingerprint,
            limits: &self.limits,
            method: &self.method,
            protocol: &self.protocol,
            repeat: self.repeat,
            revision: self.revision,
            schema: self.schema,
            seed: self.seed,
            settings: &self.settings,
            tuning: &self.tuning,
            variant: stored_variant(&self.variant),
        };
        sha256_hex(&serde_json::to_vec(&sorted).unwrap_or_default())
    }
}

/// Variants by the name that they have, and by the name under which the first records were stored: that
/// name is part of their digests.
const STORED: [[&str; 2]; 2] = [["tuned", "corrected"], ["tuned-no-trace", "corrected-no-trace"]];

/// Returns the name of a variant in a stored key.
///
/// ```
/// use mercer_records::{shown_variant, stored_variant};
/// assert_eq!((stored_variant("tuned"), shown_variant("corrected")), ("corrected", "tuned"));
/// assert_eq!((stored_variant("printed"), shown_variant("printed")), ("printed", "printed"));
/// ```
pub fn stored_variant(shown: &str) -> &str {
    STORED.iter().find(|names| names[0] == shown).map_or(shown, |names| names[1])
}

/// Returns the variant whose stored key has this name: the inverse of [`stored_variant`].
///
/// ```
/// assert_eq!(mercer_records::shown_variant("corrected-no-trace"), "tuned-no-trace");
/// ```
pub fn shown_variant(stored: &str) -> &str {
    STORED.iter().find(|names| names[1] == stored).map_or(stored, |names| names[0])
}

fn store_variant<S: Serializer>(shown: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stored_variant(shown))
}

fn read_variant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(shown_variant(&String::deserialize(deserializer)?).to_owned())
}

/// A [`Key`] with its fields in the order of their names.
#[derive(Serialize)]
struct Sorted<'a> {
    artefact: &'a str,
    dataset: &'a str,
    fingerprint: &'a str,
    limits: &'a BTreeMap<String, Value>,
    method: &'a str,
    protocol: &'a BTreeMap<String, Value>,
    repeat: u32,
    revision: u32,
    schema: u32,
    seed: u64,
    settings: &'a BTreeMap<String, Value>,
    tuning: &'a Value,
    variant: &'a str,
}

/// How a trial ended.
///
/// ```
/// use mercer_records::Status;
/// assert_eq!(serde_json::to_string(&Status::OutOfTime)?, r#""out-of-time""#); // in a record
/// assert!(serde_json::from_str::<Status>(r#""lost""#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// With a score.
    Done,
    /// The loss became NaN or infinite; there is no score.
    Diverged,
    /// Stopped by the time limit.
    OutOfTime,
    /// Stopped, or refused, by the memory limit.
    OutOfMemory,
    /// Any other error.
    Failed,
}

/// Predictions on the test rows, in the order of the split.
///
/// ```
/// use mercer_records::Predicted;
/// let predicted = Predicted::Classes(vec![2, 0]);
/// assert_eq!(serde_json::to_string(&predicted)?, r#"{"classes":[2,0]}"#);
/// let real: Predicted = serde_json::from_str(r#"{"real":[0.1]}"#)?;
/// assert_eq!(real, Predicted::Real(vec![0.1])); // the same bits
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predicted {
    /// Class indices.
    Classes(Vec<u32>),
    /// Real values.
    Real(Vec<f64>),
}

/// One candidate at one rung of the tuner.
///
/// ```
/// use mercer_records::TuningStep;
/// let failed = TuningStep { settings: [].into(), effort: 0.25, score: None };
/// let text = serde_json::to_string(&failed)?;
/// assert_eq!(text, r#"{"effort":0.25,"score":null,"settings":{}}"#); // a failed fit is kept, too
/// assert_eq!(serde_json::from_str::<TuningStep>(&text)?, failed);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningStep {
    /// Share of the full effort spent on it at this rung.
    pub effort: f64,
    /// Validation score; `None` if the fit failed or diverged.
    pub score: Option<f64>,
    /// The candidate's settings, without those that the spec fixes.
    pub settings: BTreeMap<String, Value>,
}

/// What the tuner did.
///
/// ```
/// use mercer_records::{Tuning, TuningStep};
/// let step = |lambda: f64, score| TuningStep {
///     settings: [("lambda".to_owned(), lambda.into())].into(),
///     effort: 1.0,
///     score,
/// };
/// let history = vec![step(0.1, Some(0.8)), step(0.01, Some(0.9)), step(0.001, None)];
/// let best = history.iter().max_by(|a, b| a.score.partial_cmp(&b.score).unwrap()).unwrap();
/// let tuning = Tuning { chosen: best.settings.clone(), history: history.clone() };
/// assert_eq!(tuning.chosen["lambda"], 0.01); // and why is on record
/// let read: Tuning = serde_json::from_str(&serde_json::to_string(&tuning)?)?;
/// assert_eq!(read, tuning);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The settings chosen.
    pub chosen: BTreeMap<String, Value>,
    /// All candidates, in the order tried.
    pub history: Vec<TuningStep>,
}

/// One look at an iterative fit.
///
/// ```
/// use mercer_records::CurvePoint;
/// let point = CurvePoint { step: 6, epoch: 1.5, values: [("loss".to_owned(), 0.25)].into() };
/// let text = serde_json::to_string(&point)?;
/// assert_eq!(text, r#"{"epoch":1.5,"step":6,"values":{"loss":0.25}}"#);
/// assert!(serde_json::from_str::<CurvePoint>(&text.replace("step", "stop")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Passes over the training rows so far.
    pub epoch: f64,
    /// Steps so far.
    pub step: u64,
    /// Metrics and the learner's own numbers.
    pub values: BTreeMap<String, f64>,
}

/// Result of a trial: bit-identical on the same machine type, whatever the number of jobs.
///
/// Its fields, and the fields of its parts, stand in the order of their names, as in the canonical text.
///
/// ```
/// use mercer_records::TrialResult;
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let text = serde_json::to_string(&result)?;
/// assert!(!text.contains("tuning")); // what there is none of is not written
/// let read: TrialResult = serde_json::from_str(&text)?;
/// assert_eq!(read.digest(), result.digest());
/// let other = TrialResult { metrics: [("accuracy".to_owned(), 0.76)].into(), ..result.clone() };
/// assert_ne!(other.digest(), result.digest());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialResult {
    /// How the fit ended, as the learner says it.
    pub convergence: Value,
    /// Looks at the fit, for curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CurvePoint>,
    /// The error, if it did not end with a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Other numbers: norms, objective, iterations, rows used.
    pub facts: BTreeMap<String, f64>,
    /// Metrics on the test rows, by name; shares are in `[0, 1]`.
    pub metrics: BTreeMap<String, f64>,
    /// Predictions on the test rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
    /// Rows of the training and of the test part.
    pub rows: [u64; 2],
    /// Settings that the fit used, all of them.
    pub settings: BTreeMap<String, Value>,
    /// How it ended.
    pub status: Status,
    /// The tuner's choice and history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Arc<Tuning>>,
    /// Test rows classified wrongly, where the test part is fixed. A test over rows needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Vec<u32>>,
}

/// Name of the value by which a point of a curve counts its open fits. These ended above their tolerance; a suffix
/// distinguishes several kinds, as in `open clip log`.
pub const OPEN: &str = "open";

impl CurvePoint {
    /// Returns the fits of this point that ended above their tolerance. They are counted by its values `open` and
    /// `open …`; `None` where it has neither, and so does not say.
    ///
    /// ```
    /// use mercer_records::CurvePoint;
    /// let of = |values: &[(&str, f64)]| CurvePoint {
    ///     step: 0,
    ///     epoch: 0.0,
    ///     values: values.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
    /// };
    /// assert_eq!(of(&[("open clip", 1.0), ("open flip", 0.0)]).open_fits(), Some(1));
    /// assert_eq!(of(&[("opened", 1.0)]).open_fits(), None);
    /// ```
    pub fn open_fits(&self) -> Option<usize> {
        let counts = |(name, value): (&String, &f64)| {
            let rest = name.strip_prefix(OPEN)?;
            (rest.is_empty() || rest.starts_with(' ')).then_some(*value as usize)
        };
        self.values.iter().filter_map(counts).reduce(|a, b| a + b)
    }
}

impl TrialResult {
    /// Returns the fits behind it that ended above their tolerance. They are its own, or the fits that the points of
    /// its curve count ([`CurvePoint::open_fits`]).
    pub fn open_fits(&self) -> usize {
        let said = self.convergence.get("status").and_then(Value::as_str);
        let said = matches!(said, Some("not-converged" | "few-columns" | "far-solution"));
        let counted: usize = self.curve.iter().filter_map(CurvePoint::open_fits).sum();
        counted.max(usize::from(said))
    }
}

impl TrialResult {
    /// Returns the SHA-256 of the canonical text.
    pub fn digest(&self) -> String {
        // Written straight: a tree of values takes five times as long.
        sha256_hex(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// How it was computed: never compared.
///
/// ```
/// use mercer_records::{Record, Run};
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let slow = Run { seconds: [("fit".to_owned(), 60.0)].into(), ..Run::default() };
/// let (first, second) =
///     (Record::new(key.clone(), result.clone(), Run::default()), Record::new(key, result, slow));
/// assert_eq!(first.result_sha256, second.result_sha256); // how long it took changes no result
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Seconds of wall-clock time of each phase (`load`, `tune`, `fit`, `predict`).
    pub seconds: BTreeMap<String, f64>,
    /// Processor seconds of each phase, of the thread that ran the trial. Other programs' share of the machine does not
    /// count, nor do threads that the fit started. Empty in older records, and without a phase that an interrupted run
    /// began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub processor_seconds: BTreeMap<String, f64>,
    /// Most bytes that the trial held at once.
    pub peak_bytes: u64,
    /// Machine-speed yardstick: seconds of a fixed matrix product, measured once a process. It is processor time; in
    /// older records it is wall-clock time.
    pub yardstick_seconds: f64,
    /// Processor and its vector instructions.
    pub host: String,
    /// Version of the software.
    pub version: String,
    /// Revision of the source, with `-dirty` if files had been edited since. The lock file at that revision names every
    /// library's version. Empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Unix seconds at the end.
    pub finished: u64,
}

/// One trial.
///
/// ```
/// use mercer_records::Record;
/// use std::path::Path;
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let record = Record::new(key, result, Default::default());
/// let text = serde_json::to_string(&record)?;
/// assert_eq!(Record::parse(&text, Path::new("r.json")).unwrap(), record);
/// let edited = text.replace("0.75", "0.95"); // a better score, by hand
/// assert!(Record::parse(&edited, Path::new("r.json")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What was run.
    pub key: Key,
    /// What came out.
    pub result: TrialResult,
    /// SHA-256 of `result`, against damage.
    pub result_sha256: String,
    /// How it was computed.
    pub run: Run,
    /// SHA-256 of `result` without its predictions, where it was read without them. The other sum covers them, an
    /// archive does not keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripped_sha256: Option<String>,
}

impl Record {
    /// Creates a record with its check sum.
    pub fn new(key: Key, result: TrialResult, run: Run) -> Self {
        let result_sha256 = result.digest();
        Self { key, result, result_sha256, run, stripped_sha256: None }
    }

    /// Returns whether it was read without its predictions.
    pub fn is_stripped(&self) -> bool {
        self.stripped_sha256.is_some()
    }

    /// Whether the check sum of the present content is right.
    fn is_whole(&self) -> bool {
        let covering = match (&self.stripped_sha256, &self.result.predicted) {
            (None, _) => &self.result_sha256,
            (Some(sum), None) => sum,
            (Some(_), Some(_)) => return false,
        };
        self.result.digest() == *covering
    }

    /// Reads a record and verifies its check sum and schema.
    ///
    /// # Errors
    /// [`RecordError::Corrupt`], naming `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, RecordError> {
        let corrupt = |reason: String| RecordError::Corrupt { path: path.to_owned(), reason };
        let record: Self = serde_json::from_str(text).map_err(|e| corrupt(e.to_string()))?;
        if record.key.schema != SCHEMA {
            return Err(corrupt(format!("schema {} instead of {SCHEMA}", record.key.schema)));
        }
        if !record.is_whole() {
            return Err(corrupt("its check sum does not match its content".to_owned()));
        }
        Ok(record)
    }
}
