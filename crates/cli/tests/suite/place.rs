//! A folder of its own for every test, with data in it, and the program run there.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder to work in.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// With a folder `data` of stand-ins for segment and abalone: small, generated, and so of
    /// another version than the catalogue's.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        stand_ins(&folder.path().join("data"));
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, in this folder, without the user's environment.
    pub fn command(&self, line: &str) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_mercer")), line)
    }

    /// The same of another copy of the program.
    pub fn command_of(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env_remove("COLUMNS")
            // A machine may ask for older kernels of OpenBLAS than its processor has.
            .env_remove("OPENBLAS_CORETYPE")
            .env_remove("MERCER_DATA")
            .env("XDG_DATA_HOME", self.path("home"))
            .env_remove("MERCER_RESULTS")
            .env_remove("MERCER_LOG");
        command
    }

    /// Runs a command line.
    pub fn run(&self, line: &str) -> Ended {
        Ended::of(&self.command(line).output().unwrap())
    }

    /// Runs `reproduce` on the stand-ins under the profile `smoke`.
    pub fn reproduce(&self, rest: &str) -> Ended {
        self.run(&smoke(rest))
    }

    /// Name and check sum of every record in a directory of this folder.
    pub fn records(&self, directory: &str) -> BTreeMap<String, String> {
        let mut records = BTreeMap::new();
        for path in files(&self.path(directory)) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            // Named by a digest of 64 digits; reports lie in the directory as well.
            if name.len() != 69 || path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let record: Value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{} is damaged: {error}", path.display()));
            let sum = record["result_sha256"].as_str().unwrap().to_owned();
            let before = records.insert(name.clone(), sum);
            assert_eq!(before, None, "{name} is there twice");
        }
        records
    }
}

/// The command line of [`Place::reproduce`].
pub fn smoke(rest: &str) -> String {
    format!("reproduce askl/table2 --profile smoke --data data --accept-version {rest}")
}

/// Every file below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// How the program ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// This, after checking the exit status.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }
}

/// Seven separable classes in 19 columns and a linear target in 8, by a rule without chance.
fn stand_ins(folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    let wave = |i: usize, j: usize| ((i * 31 + j * 17) as f64 * 0.618).sin();
    let mut manifest = "schema = 1\n".to_owned();
    for (name, task, rows, features) in
        [("segment", "classification", 280, 19), ("abalone", "regression", 250, 8)]
    {
        let mut text = String::new();
        for i in 0..rows {
            let class = i % 7;
            let centre = |j: usize| if j % 7 == class { 2.0 } else { 0.0 };
            let inputs: Vec<f64> = (0..features)
                .map(|j| 0.5 * wave(i, j) + if task == "regression" { 0.0 } else { centre(j) })
                .collect();
            if task == "regression" {
                write!(text, "{}", 10.0 + inputs.iter().sum::<f64>()).unwrap();
            } else {
                write!(text, "{}", class + 1).unwrap();
            }
            for (j, value) in inputs.iter().enumerate() {
                write!(text, " {}:{value}", j + 1).unwrap();
            }
            text.push('\n');
        }
        let digest = Sha256::digest(text.as_bytes());
        let sum = digest.iter().fold(String::new(), |mut sum, byte| {
            write!(sum, "{byte:02x}").unwrap();
            sum
        });
        std::fs::write(folder.join(format!("{name}.svm")), &text).unwrap();
        write!(
            manifest,
            "[[dataset]]\nname = \"{name}\"\ntask = \"{task}\"\nfeatures = {features}\n\
             files = [{{ path = \"{name}.svm\", sha256 = \"{sum}\", rows = {rows}, role = \"all\", bytes = {} }}]\n",
            text.len()
        )
        .unwrap();
    }
    std::fs::write(folder.join("MANIFEST.toml"), manifest).unwrap();
}
