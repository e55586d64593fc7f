//! The formats above the datasets: a user's own rows, model files, records, studies,
//! checkpoints, archives.

use mercer_baselines::BASELINES;
use mercer_datasets::{Impute, Limits, Row, RowFile, RowFormat, SchemaOptions};
use mercer_harness::Spec;
use mercer_learning::{Method, Settings, State};
use mercer_records::{Record, sha256_hex};
use mercer_render::frame::{from_frame, to_frame};
use mercer_workbench::{Choices, Model, Table, fit};
use ndarray::{Array2, array};
use polars_core::prelude::{DataFrame, DataType, NamedFrom, Series};
use safetensors::SafeTensors;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const TOYS: &str = "x,colour,kind\n-1,red,a\n-2,blue,a\n-3,red,a\n-4,blue,a\n1,red,b\n2,blue,b\n3,red,b\n4,blue,b\n";

const LINE: &str = "x,y\n-1,-1.5\n-2,-2.5\n-3,-3.5\n-4,-4.25\n1,1.5\n2,2.5\n3,3.5\n4,4.25\n";

pub fn row_seeds() -> Vec<Vec<u8>> {
    vec![
        TOYS.into(),
        b"\xef\xbb\xbfa,b,\"c d\"\r\n1,,\"x\"\"y\"\r\n2,NA,\"two\nlines\"\r\n".to_vec(),
        b"1;2,5;a\n3;4,5;b\n".to_vec(),
        b"1\t2\ta\n\n3\t4\tb".to_vec(),
        b"sep=;\r\n# a remark\r\na;b;y\r\n1;00123;u\r\n2;00124;v\r\n".to_vec(),
        b"2019,2020,2021\n1.5,2.5,1\n2.5,0.5,0\n3.5,4.25,1\n".to_vec(),
        b"red,box\nblue,ball\nred,ball\n12,345\n".to_vec(),
    ]
}

type Rows = Vec<Vec<String>>;

fn rows_of(bytes: &[u8]) -> Result<Rows, String> {
    let text = |error: mercer_datasets::DataError| error.to_string();
    let file = RowFile::spooled(bytes, "f", Some(RowFormat::Text(b','))).map_err(text)?;
    let mut rows = file.rows().map_err(text)?;
    let mut found = Vec::new();
    while let Some((_, row)) = rows.next().map_err(text)? {
        let Row::Fields(fields) = row else { return Err("a sparse row of text".to_owned()) };
        found.push((0..fields.len()).map(|at| fields.field(at).text()).collect());
    }
    Ok(found)
}

/// Rows are of one width, and the same after they were written with every field in quotes (RFC 4180);
/// a table of them holds as many numbers as it says.
pub fn run_rows(bytes: &[u8]) -> Result<String, String> {
    let said = match rows_of(bytes) {
        Err(error) => error,
        Ok(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            if rows.iter().any(|row| row.len() != width) {
                return Err("rows of several widths".to_owned());
            }
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let lines: Vec<String> = rows
                .iter()
                .map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n")
                .collect();
            match rows_of(lines.concat().as_bytes()) {
                Ok(again) if again == rows => {}
                other => return Err(format!("{rows:?} came back as {other:?}")),
            }
            format!("rows {} {}", "r".repeat(rows.len().min(8)), "c".repeat(width.min(8)))
        }
    };
    let limits = Limits { bytes: 1 << 20, features: 1 << 12, cells: 1 << 18 };
    let options = SchemaOptions { limits, ..SchemaOptions::default() };
    let table = RowFile::spooled(bytes, "f", None)
        .map_err(|error| error.to_string())
        .and_then(|file| Table::read(&file, &options).map_err(|error| error.to_string()));
    Ok(match table {
        Ok(table) if table.rows() == 0 => return Err("a table without rows".to_owned()),
        Ok(table) => {
            format!("{said}, a table of {} columns", "c".repeat(table.schema.width().min(8)))
        }
        Err(error) => format!("{said}, {error}"),
    })
}

/// Every registered method: those of the papers and the baselines.
static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    [
        mercer_models::askl::METHODS,
        mercer_models::rftk::METHODS,
        mercer_models::mce::METHODS,
        mercer_models::mce::CEN_METHODS,
        mercer_models::hyper_rkhs::METHODS,
        BASELINES,
    ]
    .concat()
});

/// Numbers that make a fit, and its file, small.
const SMALL: [(&str, u64); 5] =
    [("features", 4), ("epochs", 1), ("landmarks", 3), ("folds", 2), ("iterations", 2)];

/// A small file of the method fitted to classes, or else to numbers, or why both are refused.
fn model(method: &Method) -> Result<Vec<u8>, String> {
    let declared = (method.settings)();
    let known = |name: &str| declared.iter().any(|setting| setting.name == name);
    let settings = SMALL
        .iter()
        .filter(|(name, _)| known(name))
        .fold(Settings::new(), |settings, &(name, value)| settings.with(name, value));
    let choices = Choices { settings, ..Choices::plain() };
    let fitted = |text: &str| {
        let file = RowFile::spooled(text.as_bytes(), "toys", None).map_err(|e| e.to_string())?;
        let table = Table::read(&file, &SchemaOptions::default()).map_err(|e| e.to_string())?;
        let model = fit(&METHODS, method.name, &table, &choices);
        model.and_then(|model| model.to_bytes()).map_err(|error| error.to_string())
    };
    fitted(TOYS).or_else(|classes| fitted(LINE).map_err(|numbers| format!("{classes}; {numbers}")))
}

/// Files with what few fits leave: numbers that were filled, and numbered columns.
fn filled_and_numbered() -> Result<Vec<Vec<u8>>, String> {
    let fitted = |text: &str, format| {
        let file =
            RowFile::spooled(text.as_bytes(), "toys", Some(format)).map_err(|e| e.to_string())?;
        let table = Table::read(&file, &SchemaOptions::default()).map_err(|e| e.to_string())?;
        let choices = Choices { impute: Some(Impute::Mean), ..Choices::plain() };
        let model = fit(&METHODS, "majority", &table, &choices);
        model.and_then(|model| model.to_bytes()).map_err(|error| error.to_string())
    };
    Ok(vec![
        fitted(&TOYS.replace("-2,", ",").replace("red,b", ",b"), RowFormat::Text(b','))?,
        fitted("1 0:5 1:2\n-1 1:3\n1 0:2\n-1 0:1 2:7\n", RowFormat::Svmlight)?,
    ])
}

pub fn model_seeds() -> Vec<Vec<u8>> {
    let mut seeds = filled_and_numbered().unwrap_or_else(|error| {
        eprintln!("no file with holes to begin with: {error}");
        Vec::new()
    });
    let mut slowest = (Duration::ZERO, "");
    let start = Instant::now();
    for method in METHODS.iter() {
        let began = Instant::now();
        match model(method) {
            Ok(seed) => seeds.push(seed),
            Err(error) => eprintln!("no file of {} to begin with: {error}", method.name),
        }
        slowest = slowest.max((began.elapsed(), method.name));
    }
    let (took, name) = slowest;
    eprintln!(
        "model: files of {} of {} methods to begin with, in {:.1?} ({name} {took:.1?})",
        seeds.len(),
        METHODS.len(),
        start.elapsed()
    );
    seeds
}

/// The file with the check sum that its header and arrays ask for: damage beyond the check sum, as a
/// program that writes such files wrongly would make it.
fn mended(bytes: &[u8]) -> Option<Vec<u8>> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    let tensors = SafeTensors::deserialize(bytes).ok()?;
    let text = metadata.metadata().as_ref()?.get("mercer")?;
    let header = text.split_once('\n').map_or(text.as_str(), |(header, _)| header);
    let views: BTreeMap<String, _> = tensors.tensors().into_iter().collect();
    let mut summed = Vec::new();
    let mut part = |bytes: &[u8]| {
        summed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        summed.extend_from_slice(bytes);
    };
    part(header.as_bytes());
    for (name, view) in &views {
        part(name.as_bytes());
        part(format!("{:?}", view.shape()).as_bytes());
        part(view.data());
    }
    let text = format!("{header}\n{}", sha256_hex(&summed));
    let metadata = HashMap::from([("mercer".to_owned(), text)]);
    safetensors::serialize(views, Some(metadata)).ok()
}

/// A model that is read is written and read back as the same bytes, and predicts or refuses.
pub fn run_model(bytes: &[u8]) -> Result<String, String> {
    let read = |bytes: &[u8]| {
        Model::from_bytes(bytes, Path::new("m"), &METHODS).map_err(|error| error.to_string())
    };
    let as_is = read(bytes).map_or_else(|error| error, |_| "sound".to_owned());
    let Some(mended) = mended(bytes) else { return Ok(as_is) };
    let model = match read(&mended) {
        Ok(model) => model,
        Err(error) => return Ok(format!("{as_is}; mended: {error}")),
    };
    let written = model.to_bytes().map_err(|error| format!("cannot be written: {error}"))?;
    let again = read(&written).map_err(|error| format!("cannot be read back: {error}"))?;
    if again.to_bytes().ok().as_ref() != Some(&written) {
        return Err("written twice it differs".to_owned());
    }
    let width = model.header.schema.width();
    if width > 1 << 12 {
        return Ok(format!("{as_is}; mended: a wide model"));
    }
    let rows = Array2::from_elem((2, width), 0.5);
    let predicted = model.predict(rows, "f", &[1, 2], 1);
    Ok(format!(
        "{as_is}; mended: predicts {}",
        predicted.map_or_else(|e| e.to_string(), |_| "rows".to_owned())
    ))
}

pub fn record_seeds() -> Vec<Vec<u8>> {
    let result = serde_json::json!({
        "status": "done", "metrics": { "accuracy": 0.75 }, "facts": { "steps": 12.0 },
        "convergence": { "reason": "tolerance" }, "settings": { "std": 0.5, "loss": "squared" },
        "tuning": { "chosen": { "std": 0.5 }, "history": [{ "settings": { "std": 0.5 }, "effort": 1.0, "score": 0.5 }] },
        "curve": [{ "step": 3, "epoch": 0.5, "values": { "loss": 1e-3 } }],
        "predicted": { "classes": [0, 1, 2] }, "wrong": [1], "rows": [120, 30],
    });
    let record = serde_json::json!({
        "key": {
            "schema": 1, "artefact": "a/b", "variant": "given", "dataset": "iris", "fingerprint": "00",
            "method": "kernel-ridge", "revision": 1, "settings": { "std": 1.0 }, "tuning": null,
            "protocol": { "split": { "kind": "random", "train": 0.8 } }, "repeat": 0, "seed": 3,
            "limits": { "seconds": 60.0 },
        },
        "result_sha256": sha256_hex(result.to_string().as_bytes()), "result": result,
        "run": {
            "seconds": { "fit": 0.25 }, "processor_seconds": { "fit": 0.2 }, "peak_bytes": 4096,
            "yardstick_seconds": 0.005, "host": "h", "version": "0.1.0", "code": "c", "finished": 1,
        },
    });
    vec![record.to_string().into_bytes()]
}

/// A record with the check sum that its result asks for, where it has the form of one.
fn summed(text: &str) -> Option<String> {
    let mut record: Value = serde_json::from_str(text).ok()?;
    let sum = sha256_hex(record.get("result")?.to_string().as_bytes());
    *record.get_mut("result_sha256")? = sum.into();
    Some(record.to_string())
}

/// A record that is read is the same after it was written and read again.
pub fn run_record(bytes: &[u8]) -> Result<String, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok("no text".to_owned()) };
    let read = |text: &str| Record::parse(text, Path::new("r")).map_err(|error| error.to_string());
    let mut said = String::new();
    for text in std::iter::once(text.to_owned()).chain(summed(text)) {
        match read(&text) {
            Err(error) => said += &error,
            Ok(record) => {
                let written = serde_json::to_string(&record).map_err(|error| error.to_string())?;
                let again = read(&written)?;
                if again != record || again.key.digest() != record.key.digest() {
                    return Err("it changed on its way through a file".to_owned());
                }
                said += "record";
            }
        }
    }
    Ok(said)
}

pub fn study_seeds() -> Vec<Vec<u8>> {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/specs");
    ["askl-table2.toml", "rftk-table1.toml", "hyper-figure3.toml", "mce-table1.toml"]
        .into_iter()
        .filter_map(|name| std::fs::read(studies.join(name)).ok())
        .collect()
}

/// A study is read the same every time, or refused with its file named.
pub fn run_study(bytes: &[u8]) -> Result<String, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok("no text".to_owned()) };
    match Spec::parse(text, Path::new("study.toml")) {
        Ok(spec) => Ok(format!("study of {}", "d".repeat(spec.datasets.len().min(8)))),
        Err(error) if error.to_string().contains("study.toml") => Ok(error.to_string()),
        Err(error) => Err(format!("names no file: {error}")),
    }
}

pub fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let part = State::new().with_array("rows", &array![3u32, 1, 2]).with("name", "inner");
    let state = State::new()
        .with("step", 12)
        .with_array("weights", &array![[0.1, -0.0], [1e300, f64::MIN_POSITIVE]])
        .with_array("single", &array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]])
        .with_array("empty", &Array2::<f64>::zeros((0, 3)))
        .with_part("part", part);
    vec![state.pack(), State::new().pack()]
}

/// A checkpoint is refused, or packed again to the same bytes; so is one whose check sum was made to fit
/// the damage, as a program that writes such files wrongly would make it.
pub fn run_checkpoint(bytes: &[u8]) -> Result<String, String> {
    let as_is = State::unpack(bytes).map_or_else(|error| error.to_string(), |_| "sound".to_owned());
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return Ok(as_is) };
    let body = &bytes[end + 1..];
    let mended = [sha256_hex(body).as_bytes(), b"\n", body].concat();
    let state = match State::unpack(&mended) {
        Ok(state) => state,
        Err(error) => return Ok(format!("mended: {error}; {as_is}")),
    };
    // Orders of keys and blanks in the head are free: the second time they are ours.
    let packed = state.pack();
    let again = State::unpack(&packed).map_err(|error| format!("cannot be read back: {error}"))?;
    if again.pack() != packed {
        return Err("packed twice it differs".to_owned());
    }
    Ok(format!(
        "mended: packed in {} bits of size; {as_is}",
        "b".repeat(packed.len().ilog2() as usize)
    ))
}

/// An archive of the record of [`record_seeds`].
static ARCHIVE: LazyLock<DataFrame> = LazyLock::new(|| {
    let seed = record_seeds().remove(0);
    let text = String::from_utf8(seed).expect("records are text");
    let text = summed(&text).expect("it has a result");
    let record = Record::parse(&text, Path::new("r")).expect("it is a record");
    to_frame(&[record]).expect("a record is a row")
});

/// The names of its columns of text, and what they hold.
fn texts() -> Vec<(String, String)> {
    let columns = ARCHIVE.columns().iter();
    columns
        .filter_map(|column| {
            let text = column.str().ok()?.get(0).unwrap_or_default().to_owned();
            Some((column.name().to_string(), text))
        })
        .collect()
}

/// One line a column of text.
pub fn archive_seeds() -> Vec<Vec<u8>> {
    let lines: Vec<String> = texts().into_iter().map(|(_, text)| text).collect();
    vec![lines.join("\n").into_bytes()]
}

/// An archive whose text was changed below its compression gives the records that it was made of, or says
/// which row is none. What is compressed is the target `parquet`.
pub fn run_archive(bytes: &[u8]) -> Result<String, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok("no text".to_owned()) };
    let mut frame = ARCHIVE.clone();
    for ((name, _), line) in texts().into_iter().zip(text.split('\n')) {
        if frame.column(&name).is_ok_and(|column| *column.dtype() == DataType::String) {
            let series = Series::new(name.as_str().into(), [line]);
            frame.with_column(series.into()).map_err(|error| error.to_string())?;
        }
    }
    match from_frame(&frame, None) {
        Err(error) => Ok(error.to_string()),
        Ok(records) => {
            let again = to_frame(&records).and_then(|frame| from_frame(&frame, None));
            match again {
                Ok(again) if again == records => Ok("records".to_owned()),
                other => Err(format!("{records:?} came back as {other:?}")),
            }
        }
    }
}
