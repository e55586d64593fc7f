use mercer_records::{
    CurvePoint, Key, Predicted, Record, Run, SCHEMA, Status, TrialResult, Tuning, TuningStep,
};
use mercer_render::frame::{from_frame, predictions_frame, read_parquet, to_frame, write_parquet};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A record whose every part is filled in, from a few numbers.
fn record(repeat: u32, number: f64, predicted: Option<Predicted>, status: Status) -> Record {
    let settings = BTreeMap::from([
        ("rate".to_owned(), json!(number)),
        ("features".to_owned(), json!(2000)),
        ("map".to_owned(), json!("φ_i \"quoted\"")),
    ]);
    let done = status == Status::Done;
    let key = Key {
        schema: SCHEMA,
        artefact: "askl/table2".to_owned(),
        variant: "released".to_owned(),
        dataset: "segment".to_owned(),
        fingerprint: "ab".repeat(32),
        method: "askl".to_owned(),
        revision: 3,
        settings: settings.clone(),
        tuning: json!({"halving": 27, "float": 1.0}),
        protocol: BTreeMap::from([("split".to_owned(), json!([0.8, 0.2]))]),
        repeat,
        seed: u64::MAX - u64::from(repeat),
        limits: BTreeMap::from([("seconds".to_owned(), Value::Null)]),
    };
    let step =
        TuningStep { settings: settings.clone(), effort: 1.0 / 9.0, score: done.then_some(number) };
    let result = TrialResult {
        status,
        error: (!done).then(|| "loss became NaN\nat step 3".to_owned()),
        metrics: if done {
            BTreeMap::from([("accuracy".to_owned(), number)])
        } else {
            BTreeMap::new()
        },
        facts: BTreeMap::from([("norm".to_owned(), -number), ("zero".to_owned(), -0.0)]),
        convergence: json!({"steps": 100, "gap": number}),
        settings: settings.clone(),
        tuning: done.then(|| std::sync::Arc::new(Tuning { chosen: settings, history: vec![step] })),
        curve: vec![CurvePoint {
            step: 200,
            epoch: 1.5,
            values: BTreeMap::from([("loss".to_owned(), number)]),
        }],
        predicted,
        wrong: done.then(|| vec![1, 5, repeat]),
        rows: [1848, 462],
    };
    let run = Run {
        seconds: BTreeMap::from([("fit".to_owned(), number.abs())]),
        processor_seconds: if done {
            BTreeMap::from([("fit".to_owned(), 0.9 * number.abs())])
        } else {
            BTreeMap::new()
        },
        peak_bytes: 1 << 40,
        yardstick_seconds: 0.03,
        host: "EPYC, AVX-512".to_owned(),
        version: "0.1.0".to_owned(),
        code: "0123456789ab".to_owned(),
        finished: 1_800_000_000,
    };
    Record::new(key, result, run)
}

fn records() -> Vec<Record> {
    vec![
        record(0, 0.1 + 0.2, Some(Predicted::Classes(vec![0, 6, 3])), Status::Done),
        record(1, 1e-310, Some(Predicted::Real(vec![0.1 + 0.2, -0.0, 1e300])), Status::Done),
        record(2, 5.0, Some(Predicted::Classes(vec![])), Status::Done),
        record(3, 2.0, None, Status::Diverged),
        record(4, 2.0, None, Status::OutOfMemory),
    ]
}

#[test]
fn records_go_to_parquet_and_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (main, side) =
        (folder.path().join("a/records.parquet"), folder.path().join("side.parquet"));
    let records = records();
    write_parquet(&to_frame(&records).unwrap(), &main).unwrap();
    write_parquet(&predictions_frame(&records).unwrap(), &side).unwrap();
    let back =
        from_frame(&read_parquet(&main).unwrap(), Some(&read_parquet(&side).unwrap())).unwrap();
    assert_eq!(back, records);
    for record in back {
        assert_eq!(record.result.digest(), record.result_sha256);
    }
    // Nothing else is left in the folders.
    assert_eq!(std::fs::read_dir(main.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_same_records_make_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name);
        write_parquet(&to_frame(&records()).unwrap(), &path).unwrap();
        std::fs::read(path).unwrap()
    };
    assert!(write("one") == write("two"));
}

#[test]
fn without_the_table_of_predictions_all_else_is_there() {
    let records = records();
    let back = from_frame(&to_frame(&records).unwrap(), None).unwrap();
    for (back, record) in back.iter().zip(&records) {
        assert_eq!(back.key, record.key);
        assert_eq!(back.result.metrics, record.result.metrics);
        assert_eq!(back.result.predicted, None);
        assert_eq!(back.result_sha256, record.result_sha256);
    }
}

#[test]
fn an_archive_folded_again_stays_readable() {
    let fold = |records: &[Record]| from_frame(&to_frame(records).unwrap(), None).unwrap();
    let once = fold(&records());
    assert!(once.iter().any(mercer_records::Record::is_stripped));
    assert_eq!(fold(&once), once);
    // As single files, too: each verifies what it has.
    for record in &once {
        let text = serde_json::to_string(record).unwrap();
        let path = std::path::Path::new("r.json");
        assert_eq!(mercer_records::Record::parse(&text, path).unwrap(), *record);
        let changed = text.replacen("\"rows\":[", "\"rows\":[1", 1);
        assert_ne!(changed, text);
        let error = mercer_records::Record::parse(&changed, path).unwrap_err().to_string();
        assert!(error.contains("check sum"), "{error}");
    }
}

#[test]
fn a_changed_number_is_noticed_and_its_row_named() {
    let mut records = records();
    records[3].result.facts.insert("norm".to_owned(), 7.0);
    let error = from_frame(&to_frame(&records).unwrap(), None).unwrap_err().to_string();
    assert!(error.contains("row 3") && error.contains("check sum"), "{error}");
}

#[test]
fn a_missing_column_and_a_file_that_is_no_parquet_are_named() {
    let frame = to_frame(&records()).unwrap().drop("curve").unwrap();
    let error = from_frame(&frame, None).unwrap_err().to_string();
    assert!(error.contains("\"curve\""), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.parquet");
    std::fs::write(&path, "no parquet").unwrap();
    assert!(read_parquet(&path).unwrap_err().to_string().contains("cannot read"));
    let error = read_parquet(&folder.path().join("absent")).unwrap_err().to_string();
    assert!(error.contains("absent"), "{error}");
}

#[test]
fn metrics_are_columns_of_numbers() {
    let frame = to_frame(&records()).unwrap();
    let accuracy = frame.column("metric.accuracy").unwrap().f64().unwrap();
    assert_eq!(accuracy.get(0), Some(0.1 + 0.2));
    assert_eq!(accuracy.get(3), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_finite_numbers_and_texts_survive(
        number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        classes in proptest::collection::vec(any::<u32>(), 0..20),
        host in ".{0,20}",
    ) {
        let mut record = record(9, number, Some(Predicted::Classes(classes)), Status::Done);
        record.run.host = host;
        let records = [record];
        let (main, side) = (to_frame(&records).unwrap(), predictions_frame(&records).unwrap());
        prop_assert_eq!(from_frame(&main, Some(&side)).unwrap(), records);
    }
}

/// Read and written again, the committed records have the same bytes.
#[test]
fn committed_records_come_back_to_the_byte() {
    let records = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reports/records");
    let folder = tempfile::tempdir().unwrap();
    let (again, mut files) = (folder.path().join("again.parquet"), 0);
    for file in std::fs::read_dir(records).unwrap() {
        let path = file.unwrap().path();
        let frame = read_parquet(&path).unwrap();
        from_frame(&frame, None).unwrap();
        write_parquet(&frame, &again).unwrap();
        let same = std::fs::read(&path).unwrap() == std::fs::read(&again).unwrap();
        assert!(same, "{}", path.display());
        files += 1;
    }
    assert!(files > 20, "{files}");
}
