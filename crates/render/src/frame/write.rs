use super::{METRIC, trial};
use crate::RenderError;
use mercer_records::{Predicted, Record, canonical, stored_variant};
use polars_core::prelude::{
    Column, DataFrame, DataType, Float64Type, IntoSeries, ListBuilderTrait,
    ListPrimitiveChunkedBuilder, NamedFrom, PolarsNumericType, Series, UInt32Type,
};
use std::collections::BTreeSet;

/// One row a record, without predictions.
///
/// ```
/// use mercer_render::frame::to_frame;
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
/// let other = mercer_records::Key { repeat: 1, ..key.clone() };
/// let records = [key, other].map(|key| {
///     mercer_records::Record::new(key, result.clone(), Default::default())
/// });
/// let frame = to_frame(&records)?;
/// assert_eq!(frame.height(), 2);
/// let accuracy = frame.column("metric.accuracy").expect("a column a metric");
/// assert_eq!(accuracy.f64().expect("numbers").get(1), Some(0.75));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Frame`] if the library refuses.
pub fn to_frame(records: &[Record]) -> Result<DataFrame, RenderError> {
    let mut columns = vec![
        values(records, "trial", trial),
        values(records, "schema", |r| r.key.schema),
        values(records, "artefact", |r| r.key.artefact.clone()),
        values(records, "variant", |r| stored_variant(&r.key.variant).to_owned()),
        values(records, "dataset", |r| r.key.dataset.clone()),
        values(records, "fingerprint", |r| r.key.fingerprint.clone()),
        values(records, "method", |r| r.key.method.clone()),
        values(records, "revision", |r| r.key.revision),
        values(records, "settings", |r| canonical(&r.key.settings)),
        values(records, "tuning", |r| canonical(&r.key.tuning)),
        values(records, "protocol", |r| canonical(&r.key.protocol)),
        values(records, "repeat", |r| r.key.repeat),
        values(records, "seed", |r| r.key.seed),
        values(records, "limits", |r| canonical(&r.key.limits)),
        values(records, "status", |r| canonical(&r.result.status).trim_matches('"').to_owned()),
        values(records, "error", |r| r.result.error.clone()),
    ];
    let names: BTreeSet<&String> = records.iter().flat_map(|r| r.result.metrics.keys()).collect();
    for name in names {
        let metric = |r: &Record| r.result.metrics.get(name).copied();
        columns.push(values(records, &format!("{METRIC}{name}"), metric));
    }
    let wrong = records.iter().map(|r| r.result.wrong.as_deref());
    columns.extend([
        lists::<UInt32Type>("wrong", DataType::UInt32, wrong),
        values(records, "facts", |r| canonical(&r.result.facts)),
        values(records, "convergence", |r| canonical(&r.result.convergence)),
        values(records, "used_settings", |r| canonical(&r.result.settings)),
        values(records, "tuned", |r| r.result.tuning.as_ref().map(canonical)),
        values(records, "curve", |r| canonical(&r.result.curve)),
        values(records, "train_rows", |r| r.result.rows[0]),
        values(records, "test_rows", |r| r.result.rows[1]),
        values(records, "predicted", had_predictions),
        values(records, "result_sha256", |r| r.result_sha256.clone()),
        values(records, "seconds", |r| canonical(&r.run.seconds)),
        values(records, "peak_bytes", |r| r.run.peak_bytes),
        values(records, "yardstick_seconds", |r| r.run.yardstick_seconds),
        values(records, "host", |r| r.run.host.clone()),
        values(records, "version", |r| r.run.version.clone()),
        values(records, "code", |r| r.run.code.clone()),
        values(records, "processor_seconds", |r| canonical(&r.run.processor_seconds)),
        values(records, "finished", |r| r.run.finished),
    ]);
    frame(records.len(), columns)
}

/// A column of what each record has.
fn values<T>(records: &[Record], name: &str, get: impl Fn(&Record) -> T) -> Column
where
    Series: NamedFrom<Vec<T>, [T]>,
{
    column(name, records.iter().map(get).collect())
}

/// Whether the record's check sum covers predictions: those it has, or those that it was read
/// without.
fn had_predictions(record: &Record) -> bool {
    record.result.predicted.is_some() || record.is_stripped()
}

/// One row a record with predictions: `trial`, and a list of `classes` or of `real` values.
///
/// ```
/// use mercer_render::frame::predictions_frame;
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
/// let without = mercer_records::Record::new(key.clone(), result.clone(), Default::default());
/// let predicted = Some(mercer_records::Predicted::Classes(vec![2, 0, 1]));
/// let result = mercer_records::TrialResult { predicted, ..result };
/// let with = mercer_records::Record::new(key, result, Default::default());
/// let frame = predictions_frame(&[without, with])?;
/// assert_eq!(frame.height(), 1); // records without predictions have no row
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// [`RenderError::Frame`] if the library refuses.
pub fn predictions_frame(records: &[Record]) -> Result<DataFrame, RenderError> {
    let with: Vec<_> =
        records.iter().filter_map(|r| r.result.predicted.as_ref().map(|p| (r, p))).collect();
    let trials: Vec<String> = with.iter().map(|(record, _)| trial(record)).collect();
    let classes = with.iter().map(|(_, predicted)| match predicted {
        Predicted::Classes(classes) => Some(classes.as_slice()),
        Predicted::Real(_) => None,
    });
    let real = with.iter().map(|(_, predicted)| match predicted {
        Predicted::Real(values) => Some(values.as_slice()),
        Predicted::Classes(_) => None,
    });
    let columns = vec![
        column("trial", trials),
        lists::<UInt32Type>("classes", DataType::UInt32, classes),
        lists::<Float64Type>("real", DataType::Float64, real),
    ];
    frame(with.len(), columns)
}

fn frame(height: usize, columns: Vec<Column>) -> Result<DataFrame, RenderError> {
    DataFrame::new(height, columns).map_err(|source| RenderError::Frame { action: "build", source })
}

fn column<T>(name: &str, values: Vec<T>) -> Column
where
    Series: NamedFrom<Vec<T>, [T]>,
{
    Column::from(Series::new(name.into(), values))
}

fn lists<'a, T: PolarsNumericType>(
    name: &str,
    dtype: DataType,
    rows: impl ExactSizeIterator<Item = Option<&'a [T::Native]>>,
) -> Column {
    let mut builder = ListPrimitiveChunkedBuilder::<T>::new(name.into(), rows.len(), 0, dtype);
    rows.for_each(|row| builder.append_opt_slice(row));
    Column::from(builder.finish().into_series())
}
