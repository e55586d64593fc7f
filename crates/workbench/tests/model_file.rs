//! A model file that is cut, edited or invented is refused. Nothing worse ever happens.

use mercer_baselines::BASELINES;
use mercer_datasets::{RowFile, SchemaOptions};
use mercer_workbench::{Choices, Model, Table, WorkbenchError, fit};
use proptest::prelude::*;
use std::path::Path;

fn model() -> Model {
    let text = "x,colour,kind\n-1,red,a\n-2,blue,a\n1,red,b\n2,blue,b\n";
    let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
    let table = Table::read(&file, &SchemaOptions::default()).unwrap();
    fit(BASELINES, "kernel-ridge", &table, &Choices::plain()).unwrap()
}

fn read(bytes: &[u8]) -> Result<Model, WorkbenchError> {
    Model::from_bytes(bytes, Path::new("m"), BASELINES)
}

#[test]
fn a_file_is_written_whole_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let model = model();
    model.save(&path, false).unwrap();
    assert_eq!(Model::load(&path, BASELINES).unwrap().header, model.header);
    assert!(matches!(model.save(&path, false), Err(WorkbenchError::Exists { .. })));
    model.save(&path, true).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    // A program without the method says so.
    let error = Model::load(&path, &[]).unwrap_err().to_string();
    assert!(error.contains("unknown method `kernel-ridge`"), "{error}");
}

/// Other programs read it: the layout is safetensors.
#[test]
fn the_layout_is_that_of_safetensors() {
    let bytes = model().to_bytes().unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let array = &json["sections/points"];
    assert_eq!(array["dtype"], "F64");
    assert_eq!(array["shape"], serde_json::json!([4, 3]));
    let ours = json["__metadata__"]["mercer"].as_str().unwrap();
    let (ours, sum) = ours.split_once('\n').unwrap();
    assert_eq!(sum.len(), 64);
    let ours: serde_json::Value = serde_json::from_str(ours).unwrap();
    assert_eq!((&ours["method"], &ours["format"]), (&"kernel-ridge".into(), &"1.1".into()));
}

/// Files of format 1.0, written by the program that wrote such files: they load, predict, and say less.
#[test]
fn files_of_an_older_format_load() {
    let table = include_bytes!("fixtures/format-1.0.safetensors");
    let sparse = include_bytes!("fixtures/format-1.0-svmlight.safetensors");
    for (bytes, inputs) in [(&table[..], 3), (&sparse[..], 2)] {
        let model = read(bytes).unwrap();
        assert_eq!((model.header.format.as_str(), &model.header.chosen), ("1.0", &None));
        assert_eq!(model.header.origin("cap"), None);
        assert!(model.header.preparation.filled(&model.header.schema).is_empty());
        let rows = ndarray::Array2::from_elem((2, inputs), 0.5);
        assert!(model.predict(rows, "f", &[1, 2], 1).is_ok());
        // Nothing is added when such a file is written again.
        assert_eq!(model.to_bytes().unwrap(), bytes);
    }
    // Its columns are numbered from 0, and how often is not known: a file without a column 0 is read.
    let schema = read(sparse).unwrap().header.schema;
    assert_eq!((schema.columns[0].position, schema.numbering), (0, None));
    let format = Some(mercer_datasets::RowFormat::Svmlight);
    let file = RowFile::spooled(&b"1 1:2\n"[..], "f.svm", format).unwrap();
    assert_eq!(schema.read(&file).unwrap().chunk(9, false).unwrap().0, ndarray::array![[0.0, 2.0]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn damage_is_refused_and_never_panics(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        head: bool,
    ) {
        let model = model();
        let whole = model.to_bytes().unwrap();
        let mut bytes = whole.clone();
        for (at, byte) in edits {
            // Half of the time where the lengths and the JSON are.
            let length = if head { bytes.len().min(400) } else { bytes.len() };
            bytes[at.index(length)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(whole.len()));
        }
        // Blanks around the JSON may change; nothing that is read may.
        if let Ok(read) = read(&bytes) {
            prop_assert_eq!(read.to_bytes().unwrap(), whole);
        }
    }

    #[test]
    fn invented_files_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
    }
}
