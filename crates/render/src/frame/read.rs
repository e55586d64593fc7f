use super::{METRIC, trial};
use crate::RenderError;
use mercer_records::{Key, Predicted, Record, Run, TrialResult, shown_variant};
use polars_core::prelude::{
    BooleanChunked, Column, DataFrame, Float64Chunked, ListChunked, PolarsError, StringChunked,
    UInt32Chunked, UInt64Chunked,
};
use rayon::prelude::*;
use serde_json::from_str;
use std::collections::{BTreeMap, HashMap};

/// The records of a data frame, with their predictions as far as the table of predictions holds
/// them. Each record that is whole again is verified against its check sum.
///
/// ```
/// use mercer_render::frame::{from_frame, predictions_frame, to_frame};
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
/// let predicted = Some(mercer_records::Predicted::Classes(vec![2, 0, 1]));
/// let result = mercer_records::TrialResult { predicted, ..result };
/// let records = [mercer_records::Record::new(key, result, Default::default())];
/// let frame = to_frame(&records)?;
/// let whole = from_frame(&frame, Some(&predictions_frame(&records)?))?;
/// assert_eq!(whole, records); // and verified against their check sums
/// let stripped = from_frame(&frame, None)?;
/// assert!(stripped[0].is_stripped() && stripped[0].result.predicted.is_none());
/// assert!(from_frame(&frame.drop("method").expect("it is there"), None).is_err());
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Column`] if a column is missing or has another type; [`RenderError::Row`] if a
/// row is no record or was changed.
pub fn from_frame(
    frame: &DataFrame,
    predictions: Option<&DataFrame>,
) -> Result<Vec<Record>, RenderError> {
    Ok(named_from_frame(frame, predictions)?.into_iter().map(|(_, record)| record).collect())
}

/// The same, each with the digest of its key: see [`from_frame`].
///
/// ```
/// use mercer_render::frame::{named_from_frame, to_frame};
/// let none = to_frame(&[])?;
/// assert!(named_from_frame(&none, None)?.is_empty());
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// As [`from_frame`].
pub fn named_from_frame(
    frame: &DataFrame,
    predictions: Option<&DataFrame>,
) -> Result<Vec<(String, Record)>, RenderError> {
    let table = Table::of(frame)?;
    let predictions = predictions.map(Predictions::of).transpose()?;
    (0..frame.height())
        .into_par_iter()
        .map(|row| {
            let error = |reason: String| RenderError::Row { row, reason };
            let mut record = table.record(row).map_err(|reason| error(reason.0))?;
            let name = trial(&record);
            if table.trial.get(row) != Some(&name) {
                return Err(error("its digest does not match its key".to_owned()));
            }
            let predicted = table.predicted.get(row) == Some(true);
            if let Some(predictions) = predictions.as_ref().filter(|_| predicted) {
                record.result.predicted = predictions.of_trial(&name)?;
            }
            let whole = record.result.predicted.is_some() || !predicted;
            if whole && record.result.digest() != record.result_sha256 {
                return Err(error("its check sum does not match its result".to_owned()));
            }
            record.stripped_sha256 = (!whole).then(|| record.result.digest());
            Ok((name, record))
        })
        .collect()
}

/// Why a row is no record.
struct Reason(String);

impl From<serde_json::Error> for Reason {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// A column in its type.
fn typed<'a, T>(
    frame: &'a DataFrame,
    name: &str,
    cast: impl Fn(&'a Column) -> Result<&'a T, PolarsError>,
) -> Result<&'a T, RenderError> {
    frame
        .column(name)
        .and_then(cast)
        .map_err(|error| RenderError::Column { column: name.to_owned(), reason: error.to_string() })
}

/// The columns by their type and name.
struct Table<'a> {
    trial: &'a StringChunked,
    texts: BTreeMap<&'static str, &'a StringChunked>,
    small: BTreeMap<&'static str, &'a UInt32Chunked>,
    counts: BTreeMap<&'static str, &'a UInt64Chunked>,
    metrics: Vec<(String, &'a Float64Chunked)>,
    wrong: &'a ListChunked,
    predicted: &'a BooleanChunked,
    yardstick: &'a Float64Chunked,
    /// Tables written before there was such a column have none.
    code: Option<&'a StringChunked>,
    /// As old ones.
    processor: Option<&'a StringChunked>,
}

const TEXTS: [&str; 20] = [
    "artefact",
    "variant",
    "dataset",
    "fingerprint",
    "method",
    "settings",
    "tuning",
    "protocol",
    "limits",
    "status",
    "error",
    "facts",
    "convergence",
    "used_settings",
    "tuned",
    "curve",
    "result_sha256",
    "seconds",
    "host",
    "version",
];
const SMALL: [&str; 3] = ["schema", "revision", "repeat"];
const COUNTS: [&str; 5] = ["seed", "train_rows", "test_rows", "peak_bytes", "finished"];

impl<'a> Table<'a> {
    fn of(frame: &'a DataFrame) -> Result<Self, RenderError> {
        let texts = TEXTS.iter().map(|&name| Ok((name, typed(frame, name, Column::str)?)));
        let small = SMALL.iter().map(|&name| Ok((name, typed(frame, name, Column::u32)?)));
        let counts = COUNTS.iter().map(|&name| Ok((name, typed(frame, name, Column::u64)?)));
        let names = frame.get_column_names();
        let metrics = names.iter().filter_map(|name| {
            let metric = name.strip_prefix(METRIC)?.to_owned();
            Some(typed(frame, name, Column::f64).map(|column| (metric, column)))
        });
        let newer = |name| frame.column(name).ok().and_then(|column| column.str().ok());
        Ok(Self {
            trial: typed(frame, "trial", Column::str)?,
            texts: texts.collect::<Result<_, RenderError>>()?,
            small: small.collect::<Result<_, RenderError>>()?,
            counts: counts.collect::<Result<_, RenderError>>()?,
            metrics: metrics.collect::<Result<_, RenderError>>()?,
            wrong: typed(frame, "wrong", Column::list)?,
            predicted: typed(frame, "predicted", Column::bool)?,
            yardstick: typed(frame, "yardstick_seconds", Column::f64)?,
            code: newer("code"),
            processor: newer("processor_seconds"),
        })
    }

    fn record(&self, row: usize) -> Result<Record, Reason> {
        let empty = |name: &str| Reason(format!("column {name:?} is empty"));
        let option = |name: &'static str| self.texts[name].get(row);
        let text = |name: &'static str| option(name).ok_or_else(|| empty(name));
        let owned = |name: &'static str| text(name).map(str::to_owned);
        let small = |name: &'static str| self.small[name].get(row).ok_or_else(|| empty(name));
        let count = |name: &'static str| self.counts[name].get(row).ok_or_else(|| empty(name));

        let key = Key {
            schema: small("schema")?,
            artefact: owned("artefact")?,
            variant: shown_variant(text("variant")?).to_owned(),
            dataset: owned("dataset")?,
            fingerprint: owned("fingerprint")?,
            method: owned("method")?,
            revision: small("revision")?,
            settings: from_str(text("settings")?)?,
            tuning: from_str(text("tuning")?)?,
            protocol: from_str(text("protocol")?)?,
            repeat: small("repeat")?,
            seed: count("seed")?,
            limits: from_str(text("limits")?)?,
        };
        let metrics = self.metrics.iter();
        let metrics = metrics.filter_map(|(name, values)| Some((name.clone(), values.get(row)?)));
        let result = TrialResult {
            status: serde_json::from_value(owned("status")?.into())?,
            error: option("error").map(str::to_owned),
            metrics: metrics.collect(),
            facts: from_str(text("facts")?)?,
            convergence: from_str(text("convergence")?)?,
            settings: from_str(text("used_settings")?)?,
            tuning: option("tuned").map(from_str).transpose()?,
            curve: from_str(text("curve")?)?,
            predicted: None,
            wrong: classes(self.wrong, row).map_err(|error| Reason(error.to_string()))?,
            rows: [count("train_rows")?, count("test_rows")?],
        };
        let run = Run {
            seconds: from_str(text("seconds")?)?,
            processor_seconds: match self.processor.and_then(|column| column.get(row)) {
                Some(text) => from_str(text)?,
                None => BTreeMap::new(),
            },
            peak_bytes: count("peak_bytes")?,
            yardstick_seconds: self.yardstick.get(row).ok_or_else(|| empty("yardstick_seconds"))?,
            host: owned("host")?,
            version: owned("version")?,
            code: self.code.and_then(|column| column.get(row)).unwrap_or_default().to_owned(),
            finished: count("finished")?,
        };
        // The check sum is the one written, which covers predictions that may not be here.
        Ok(Record {
            key,
            result,
            result_sha256: owned("result_sha256")?,
            run,
            stripped_sha256: None,
        })
    }
}

/// A list of whole numbers.
fn classes(lists: &ListChunked, row: usize) -> Result<Option<Vec<u32>>, PolarsError> {
    let Some(list) = lists.get_as_series(row) else { return Ok(None) };
    Ok(Some(list.u32()?.iter().flatten().collect()))
}

/// The table of predictions with an index of its trials.
struct Predictions<'a> {
    rows: HashMap<&'a str, usize>,
    classes: &'a ListChunked,
    real: &'a ListChunked,
}

impl<'a> Predictions<'a> {
    fn of(frame: &'a DataFrame) -> Result<Self, RenderError> {
        let trials = typed(frame, "trial", Column::str)?;
        let rows = (0..trials.len()).filter_map(|row| Some((trials.get(row)?, row))).collect();
        let classes = typed(frame, "classes", Column::list)?;
        Ok(Self { rows, classes, real: typed(frame, "real", Column::list)? })
    }

    fn of_trial(&self, trial: &str) -> Result<Option<Predicted>, RenderError> {
        let Some(&row) = self.rows.get(trial) else { return Ok(None) };
        let error = |column: &str| {
            let column = column.to_owned();
            move |error: PolarsError| RenderError::Column { column, reason: error.to_string() }
        };
        if let Some(classes) = classes(self.classes, row).map_err(error("classes"))? {
            return Ok(Some(Predicted::Classes(classes)));
        }
        if let Some(list) = self.real.get_as_series(row) {
            let real = list.f64().map_err(error("real"))?;
            return Ok(Some(Predicted::Real(real.iter().flatten().collect())));
        }
        Ok(None)
    }
}
