use crate::{program, upper};
use mercer_datasets::{
    Base, Catalogue, Column, DataError, Limits, Manifest, RowFormat, Table, TableOptions,
    decompress, idx, svmlight,
};
use mercer_parquet::Compression;
use polars_core::prelude::{DataFrame, NamedFrom, Series};
use std::io::{Read, Write};

/// A parser with files to begin with.
pub struct Target {
    pub name: &'static str,
    /// Files that parse.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Pieces of text worth inserting.
    pub words: &'static [&'static [u8]],
    /// What came out, in words; an error is a contradiction.
    pub run: fn(&[u8]) -> Result<String, String>,
    /// Whether a damaged file can end the process: the decoder of Parquet is not ours.
    pub may_abort: bool,
}

const NUMBERS: &[&[u8]] = &[
    b"nan",
    b"inf",
    b"-0",
    b"1e308",
    b"1e-400",
    b"9007199254740993",
    b"+.5",
    b"0x10",
    b"\r\n",
    b"\"",
    b",",
    b" ",
    b":",
    b"#",
    b"99999999999",
    b"0000000000000000000000001",
    b"e",
    b"\xff",
];

const TARGETS: &[Target] = &[
    Target {
        name: "svmlight",
        seeds: svmlight_seeds,
        words: NUMBERS,
        run: run_svmlight,
        may_abort: false,
    },
    Target {
        name: "number",
        seeds: number_seeds,
        words: NUMBERS,
        run: run_number,
        may_abort: false,
    },
    Target { name: "csv", seeds: csv_seeds, words: NUMBERS, run: run_csv, may_abort: false },
    Target { name: "parquet", seeds: parquet_seeds, words: &[], run: run_parquet, may_abort: true },
    Target { name: "idx", seeds: idx_seeds, words: &[], run: run_idx, may_abort: false },
    Target { name: "packed", seeds: packed_seeds, words: &[], run: run_packed, may_abort: false },
    Target {
        name: "manifest",
        seeds: manifest_seeds,
        words: NUMBERS,
        run: run_manifest,
        may_abort: false,
    },
    Target {
        name: "rows",
        seeds: upper::row_seeds,
        words: NUMBERS,
        run: upper::run_rows,
        may_abort: false,
    },
    Target {
        name: "model",
        seeds: upper::model_seeds,
        words: NUMBERS,
        run: upper::run_model,
        may_abort: false,
    },
    Target {
        name: "record",
        seeds: upper::record_seeds,
        words: NUMBERS,
        run: upper::run_record,
        may_abort: false,
    },
    Target {
        name: "study",
        seeds: upper::study_seeds,
        words: NUMBERS,
        run: upper::run_study,
        may_abort: false,
    },
    Target {
        name: "archive",
        seeds: upper::archive_seeds,
        words: NUMBERS,
        run: upper::run_archive,
        may_abort: false,
    },
    Target {
        name: "checkpoint",
        seeds: upper::checkpoint_seeds,
        words: NUMBERS,
        run: upper::run_checkpoint,
        may_abort: false,
    },
    Target {
        name: "campaign",
        seeds: program::campaign_seeds,
        words: NUMBERS,
        run: program::run_campaign,
        may_abort: false,
    },
    Target {
        name: "bound",
        seeds: program::bound_seeds,
        words: NUMBERS,
        run: program::run_bound,
        may_abort: false,
    },
];

pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

pub fn names() -> String {
    TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ")
}

fn limits() -> Limits {
    Limits { bytes: 1 << 20, features: 1 << 12, cells: 1 << 18 }
}

/// A table that came out must be finite and even.
fn sound(table: Result<Table, DataError>) -> Result<String, String> {
    match table {
        Err(error) => Ok(error.to_string()),
        Ok(table) => {
            let (n, d) = table.inputs.dim();
            if n == 0 || d == 0 || n != table.targets.len() || n * d > limits().cells {
                return Err(format!("an odd table of {n} x {d} came out"));
            }
            if !table.inputs.iter().all(|value| value.is_finite()) {
                return Err("an input that is not finite came out".to_owned());
            }
            if let Column::Numbers(values) = &table.targets
                && !values.iter().all(|value| value.is_finite())
            {
                return Err("a target that is not finite came out".to_owned());
            }
            Ok(format!("table, {} columns, {} rows", "c".repeat(d.min(8)), "r".repeat(n.min(8))))
        }
    }
}

fn svmlight_seeds() -> Vec<Vec<u8>> {
    vec![
        b"1 1:0.5 2:-3e2 7:1\n-1 2:4 # x\r\n2.5 1:1 3:0.25 4:9 9:1\n".to_vec(),
        b"0 0:1 5:.5\n\n+1 3:1e-3".to_vec(),
    ]
}

fn run_svmlight(bytes: &[u8]) -> Result<String, String> {
    let detected = svmlight::parse(bytes, "f", Base::Detect, None, &limits());
    let wide = svmlight::parse(bytes, "f", Base::One, Some(64), &limits());
    if let (Ok(detected), Ok(wide)) = (&detected, &wide) {
        let d = detected.inputs.ncols();
        let agree = |row: usize| {
            let (wide, detected) = (wide.inputs.row(row), detected.inputs.row(row));
            wide.iter().take(d).eq(detected.iter()) && wide.iter().skip(d).all(|v| *v == 0.0)
        };
        if d > 64 || !(0..detected.inputs.nrows()).all(agree) {
            return Err("stated and detected columns differ".to_owned());
        }
    }
    sound(detected)
}

fn number_seeds() -> Vec<Vec<u8>> {
    [&b"0.1"[..], b"-12345678901234567890e-5", b"1e22", b".5", b"7."].map(<[u8]>::to_vec).to_vec()
}

/// The value of a one-pair line must be what the standard library says of the same text.
fn run_number(bytes: &[u8]) -> Result<String, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok("no text".to_owned()) };
    if text.contains(|c: char| c.is_ascii_whitespace() || c == '#') {
        return Ok("blanks".to_owned());
    }
    let line = format!("1 1:{text}\n");
    let ours = svmlight::parse(line.as_bytes(), "f", Base::One, Some(1), &limits());
    let theirs = text
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite() && !text.to_lowercase().contains("n"));
    match (ours, theirs) {
        (Ok(table), Some(value)) if table.inputs[[0, 0]].to_bits() == value.to_bits() => {
            Ok(format!("number {}", text.len()))
        }
        (Err(error), None) => Ok(error.to_string()),
        (ours, theirs) => Err(format!("`{text}`: {ours:?} against {theirs:?}")),
    }
}

fn table(bytes: &[u8], format: RowFormat) -> Result<Table, DataError> {
    Table::read(bytes, "f", format, &TableOptions::default(), &limits())
}

fn csv_seeds() -> Vec<Vec<u8>> {
    vec![
        b"a,b,\"c\"\n1,2,x\n3,-4e1,\"y\"\"z\"\n5,6,x\n".to_vec(),
        b"1,2,3\r\n4,5,6\r\n\r\n".to_vec(),
        b"  1 2.5\t3\n4 5 6 \n".to_vec(),
    ]
}

fn run_csv(bytes: &[u8]) -> Result<String, String> {
    let by_blanks = sound(table(bytes, RowFormat::Text(b' ')))?;
    Ok(sound(table(bytes, RowFormat::Text(b',')))? + &by_blanks)
}

fn parquet_seeds() -> Vec<Vec<u8>> {
    let kinds = [Compression::Uncompressed, Compression::Snappy, Compression::Zstd(None)];
    let write = |compression| {
        let columns = vec![
            Series::new("a".into(), [1.5, -2.0, 4.0]).into(),
            Series::new("b".into(), [3i32, 4, 3]).into(),
            Series::new("y".into(), ["box", "ball", "box"]).into(),
        ];
        let mut bytes = Vec::new();
        let frame = DataFrame::new(3, columns).ok()?;
        mercer_parquet::write(&frame, compression, &mut bytes).ok()?;
        Some(bytes)
    };
    kinds.into_iter().filter_map(write).collect()
}

fn run_parquet(bytes: &[u8]) -> Result<String, String> {
    sound(table(bytes, RowFormat::Parquet))
}

fn idx_seeds() -> Vec<Vec<u8>> {
    vec![
        b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x01\x01\x02\x03\xff".to_vec(),
        b"\0\0\x0d\x01\0\0\0\x01\x3f\x80\0\0".to_vec(),
        b"\0\0\x0e\x02\0\0\0\x01\0\0\0\x01\x3f\xf0\0\0\0\0\0\0".to_vec(),
    ]
}

fn run_idx(bytes: &[u8]) -> Result<String, String> {
    match idx::parse(bytes, "f", &limits()) {
        Ok(matrix) if matrix.iter().all(|value| value.is_finite()) => {
            Ok(format!("matrix {}", "c".repeat(matrix.ncols().min(8))))
        }
        Ok(_) => Err("a number that is not finite came out".to_owned()),
        Err(error) => Ok(error.to_string()),
    }
}

fn packed_seeds() -> Vec<Vec<u8>> {
    let text = b"1 1:0.5\n".repeat(40);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut seeds = Vec::new();
    if gzip.write_all(&text).is_ok() {
        seeds.extend(gzip.finish());
    }
    let mut bytes = Vec::new();
    let mut bz = bzip2::read::BzEncoder::new(&text[..], bzip2::Compression::best());
    if bz.read_to_end(&mut bytes).is_ok() {
        seeds.push(std::mem::take(&mut bytes));
    }
    if liblzma::read::XzEncoder::new(&text[..], 6).read_to_end(&mut bytes).is_ok() {
        seeds.push(bytes);
    }
    seeds
}

fn run_packed(bytes: &[u8]) -> Result<String, String> {
    match decompress(bytes.to_vec(), "f", &limits()) {
        Ok(out) if out.len() as u64 <= limits().bytes.max(bytes.len() as u64) => {
            Ok("opened".into())
        }
        Ok(out) => Err(format!("{} bytes came out", out.len())),
        Err(error) => Ok(error.to_string()),
    }
}

fn manifest_seeds() -> Vec<Vec<u8>> {
    vec![
        b"schema = 1\n[[dataset]]\nname = \"a\"\ntask = \"classification\"\nfeatures = 3\nclasses = 2\n\
          class_counts = { \"0\" = 1, \"1\" = 2 }\n\
          files = [{ path = \"a/a.svm\", sha256 = \"00\", rows = 3, role = \"all\", bytes = 9 }]\n"
            .to_vec(),
        b"schema = 1\n[[dataset]]\nname = \"a\"\ntitle = \"A\"\ntask = \"regression\"\nfeatures = 3\n\
          parts = { train = 3, test = 1 }\nurls = []\ncitation = \"\"\nlicence = \"\"\n\
          encoding = \"\"\npapers = []\n[dataset.source]\nformat = \"commas\"\n"
            .to_vec(),
    ]
}

fn run_manifest(bytes: &[u8]) -> Result<String, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok("no text".to_owned()) };
    let manifest = match Manifest::parse(text) {
        Ok(manifest) => format!("manifest of {}", manifest.datasets.len()),
        Err(problem) => problem,
    };
    let catalogue = match Catalogue::parse(text) {
        Ok(catalogue) => format!("catalogue of {}", catalogue.entries().len()),
        Err(problem) => problem,
    };
    Ok(manifest + &catalogue)
}
