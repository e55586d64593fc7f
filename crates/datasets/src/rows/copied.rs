//! Formats that are read by way of a copy. ARFF and JSON become delimited text whose columns have names; Arrow becomes
//! Parquet.
//!
//! A row of the copy stands in the line that it has in the file; of a JSON array, in the line of its number.

mod arff;
mod json;

use super::{LOOKED_AT, Spool};
use crate::DataError;
use crate::quiet::quietly;
use std::collections::BTreeSet;
use std::io::{BufRead, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};

/// A format that is read by way of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Original {
    Arff,
    Json,
    Arrow,
}

/// What the columns of a text are called, and which of them its format declares to be categories.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) nominal: BTreeSet<usize>,
}

/// The copy, gone with this.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) path: PathBuf,
    /// `None` for Parquet, which has them itself.
    pub(super) columns: Option<Columns>,
    _spool: Spool,
}

impl Original {
    /// By a suffix, which may stand before a packer's suffix.
    pub(super) fn by_suffix(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        name.split('.').skip(1).find_map(|part| match part {
            "arff" => Some(Self::Arff),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        })
    }

    /// By how a file begins.
    pub(super) fn by_beginning(reader: impl Read) -> std::io::Result<Option<Self>> {
        let mut start = Vec::new();
        reader.take(LOOKED_AT).read_to_end(&mut start)?;
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
        let mut lines = start
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty());
        Ok(if start.starts_with(b"ARROW1") {
            Some(Self::Arrow)
        } else if start.trim_ascii_start().starts_with(b"{\"") || json::is_array(start) {
            Some(Self::Json)
        } else {
            let first = lines.find(|line| !line.starts_with(b"%"));
            first.filter(|line| arff::is_head(line)).map(|_| Self::Arff)
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Arff => "ARFF",
            Self::Json => "JSON",
            Self::Arrow => "Arrow",
        }
    }

    /// Copies what `open` reads, which it may do twice.
    pub(super) fn copy(
        self,
        name: &str,
        open: &dyn Fn() -> Result<Box<dyn BufRead + Send>, DataError>,
    ) -> Result<Copied, DataError> {
        let failed = |error| DataError::io(&std::env::temp_dir())(error);
        let (spool, path) = Spool::of(&mut std::io::empty()).map_err(failed)?;
        let mut file =
            BufWriter::new(std::fs::OpenOptions::new().write(true).open(&path).map_err(failed)?);
        let columns = match self {
            Self::Arff => Some(arff::copy(name, open()?, &mut file)?),
            Self::Json => Some(json::copy(name, open, &mut file)?),
            Self::Arrow => {
                let mut bytes = Vec::new();
                open()?.read_to_end(&mut bytes).map_err(DataError::io(Path::new(name)))?;
                let problem = match bytes.as_slice() {
                    [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
                        // The decoder panics in some damaged files.
                        let written =
                            quietly(|| mercer_parquet::write_arrow(Cursor::new(bytes), &mut file));
                        match written {
                            Some(Ok(())) => None,
                            Some(Err(error)) => Some(format!("is no whole Arrow file: {error}")),
                            None => Some("is no whole Arrow file: its decoder gave up".to_owned()),
                        }
                    }
                    start => Some(format!("is {}", not_arrow(start))),
                };
                if let Some(problem) = problem {
                    return Err(DataError::format(name, problem));
                }
                None
            }
        };
        file.flush().map_err(failed)?;
        Ok(Copied { path, columns, _spool: spool })
    }
}

/// What a file is that has the suffix of Arrow and does not begin as one.
fn not_arrow(start: &[u8]) -> &'static str {
    if start.starts_with(b"FEA1") || start.starts_with(&[0xff; 4]) {
        OLD_ARROW
    } else {
        "not an Arrow file; rename it if it is something else"
    }
}

/// Of a stream, and of Feather's first version.
pub(super) const OLD_ARROW: &str = "an Arrow stream or Feather version 1, which are not read; write it as a file \
    (pandas: to_feather or to_parquet)";

/// Writes a row of delimited text and ends its line.
fn write_row(to: &mut dyn Write, fields: &[Option<String>]) -> std::io::Result<()> {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            to.write_all(b",")?;
        }
        match field {
            // Blanks around a text are its own, as inside of quotes.
            Some(text) if text.contains([',', '"', '\n', '\r']) || text.trim() != text => {
                write!(to, "\"{}\"", text.replace('"', "\"\""))?;
            }
            Some(text) => to.write_all(text.as_bytes())?,
            // A blank line would be no row.
            None if fields.len() == 1 => to.write_all(b"\"\"")?,
            None => {}
        }
    }
    to.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Kind, RowFile, SchemaOptions, Truths, survey};
    use std::path::Path;

    const CSV: &str = "size,colour,kind\n1.5,red,1\n,\"dark, blue\",2\n-2,red,1\n0,red,2\n";
    const ARFF: &str = "% toys\n@RELATION toys\n@ATTRIBUTE size REAL\n@ATTRIBUTE colour {red,'dark, blue'}\n\
                        @ATTRIBUTE kind {1,2}\n@DATA\n1.5,red,1\n?,'dark, blue',2\n-2,red,1\n0,red,2\n";
    const LINES: &str = "{\"size\":1.5,\"colour\":\"red\",\"kind\":1}\n{\"colour\":\"dark, blue\",\"kind\":2}\n\
                         {\"size\":-2,\"colour\":\"red\",\"kind\":1}\n{\"size\":0,\"colour\":\"red\",\"kind\":2}\n";

    /// Names, numbers (missing ones as -1), classes and lines.
    type Table = (Vec<String>, Vec<f64>, Truths, Vec<usize>);

    fn read(file: &RowFile) -> Result<Table, DataError> {
        let options =
            SchemaOptions { kind: Some(Kind::Classification), ..SchemaOptions::default() };
        let (schema, _) = survey(file, &options)?;
        let (numbers, truths, lines) = schema.read(file)?.chunk(usize::MAX, true)?;
        let numbers = numbers.iter().map(|x| if x.is_nan() { -1.0 } else { *x }).collect();
        Ok((schema.feature_names(), numbers, truths, lines))
    }

    #[test]
    fn copy_makes_the_table_that_csv_makes() {
        let spooled = |text: &str| RowFile::spooled(text.as_bytes(), "pipe", None).unwrap();
        let (names, numbers, truths, lines) = read(&spooled(CSV)).unwrap();
        let array = format!("[{}]", LINES.trim_end().replace('\n', ",\n"));
        for (text, from) in [(ARFF, 7), (LINES, 1), (array.as_str(), 1)] {
            let found = read(&spooled(text)).unwrap();
            assert_eq!((&found.0, &found.1, &found.2), (&names, &numbers, &truths), "{text}");
            assert_eq!(found.3, lines.iter().map(|line| line - 2 + from).collect::<Vec<_>>());
        }
        // By suffix, packed, and with the hash of the file itself.
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("t.arff.zst", ARFF), ("t.jsonl.zst", LINES), ("t.json", array.as_str())]
        {
            let path = folder.path().join(name);
            let packed = name.ends_with("zst");
            let bytes =
                if packed { zstd::encode_all(text.as_bytes(), 1).unwrap() } else { text.into() };
            std::fs::write(&path, &bytes).unwrap();
            let file = RowFile::open(&path, None).unwrap();
            assert_eq!(read(&file).unwrap().1, numbers, "{name}");
            let own =
                crate::fingerprint::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(&bytes));
            assert_eq!(file.sha256().unwrap(), own);
        }
    }

    #[test]
    fn arff_declares_what_is_a_class_and_what_a_category() {
        let text =
            "@relation r\n@attribute code {1,2,3}\n@attribute y {10,20}\n@data\n1,10\n3,20\n2,10\n";
        let file = RowFile::spooled(text.as_bytes(), "pipe", None).unwrap();
        let (schema, _) = survey(&file, &SchemaOptions::default()).unwrap();
        assert_eq!(schema.feature_names(), ["code=1", "code=2", "code=3"]);
        assert_eq!(schema.target.labels, ["10", "20"]);
    }

    /// Written by pandas 3.1.1 and pyarrow 26.0.1: packed by LZ4 and by zstd, categories as a dictionary, two batches.
    #[test]
    fn arrow_files_have_their_types() {
        for name in ["types.feather", "types-zstd.arrow"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
            let (names, numbers, truths, _) = read(&RowFile::open(&path, None).unwrap()).unwrap();
            assert_eq!(
                names,
                ["size", "whole", "colour=blue", "colour=green", "colour=red", "flag"],
                "{name}"
            );
            let rows = [
                [1.5, 1.0, 0.0, 0.0, 1.0, 1.0],
                [2.0, 2.0, 1.0, 0.0, 0.0, 0.0],
                [-1.0, 3.0, 0.0, 0.0, 1.0, 1.0],
                [4.25, 4.0, 0.0, 1.0, 0.0, 1.0],
            ];
            assert_eq!(numbers, rows.concat());
            assert_eq!(truths, Truths::Classes(vec![0, 1, 0, 1]));
        }
        let cut = RowFile::spooled(&b"ARROW1\0\0 and no more"[..], "pipe", None).unwrap_err();
        assert!(cut.to_string().starts_with("pipe: is no whole Arrow file"), "{cut}");
    }
}
