//! What a program left in its folder: the model.

use crate::outside::Outside;
use crate::program::{Until, failed};
use crate::table;
use mercer_learning::{Fitting, LearningError, Predictor, Sample, Settings, State, Task};
use ndarray::{Array1, Array2, ArrayView2, Ix1};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The version of what Mercer and a program say to each other.
const PROTOCOL: u32 = 1;

/// Files of a request, which are no part of a model.
const OF_REQUEST: [&str; 8] = [
    "request.json",
    "facts.json",
    "train.parquet",
    "train.csv",
    "test.parquet",
    "test.csv",
    "predictions.parquet",
    "predictions.csv",
];

pub(crate) struct Model {
    outside: &'static Outside,
    task: Task,
    features: usize,
    settings: Settings,
    folder: TempDir,
    /// The rows asked last, by their hash, and the answer: accuracy and AUC ask for the same.
    last: Mutex<Option<([u8; 32], Array2<f64>)>>,
}

impl Model {
    /// Has a program fit; beside the model what it says of it.
    pub(crate) fn fit(
        outside: &'static Outside,
        settings: Settings,
        sample: &Sample,
        seed: u32,
        fitting: &Fitting<'_>,
    ) -> Result<(Self, BTreeMap<String, f64>), LearningError> {
        let model = Self::new(outside, sample.task(), sample.features(), settings)?;
        let file = model.file("train");
        table::write_sample(&model.folder.path().join(&file), sample).map_err(failed)?;
        let more = json!({ "action": "fit", "data": file, "seed": seed });
        model.request(more, fitting.threads, &Until::Limits(fitting.limits))?;
        let facts = std::fs::read(model.folder.path().join("facts.json")).ok();
        let facts = facts.map_or_else(|| Ok(BTreeMap::new()), |text| serde_json::from_slice(&text));
        let facts = facts
            .map_err(|error| failed(format!("facts.json is no object of numbers: {error}")))?;
        model.clear();
        Ok((model, facts))
    }

    fn new(
        outside: &'static Outside,
        task: Task,
        features: usize,
        settings: Settings,
    ) -> Result<Self, LearningError> {
        let folder = tempfile::Builder::new()
            .prefix("mercer-")
            .tempdir()
            .map_err(|error| no_folder(&error))?;
        Ok(Self { outside, task, features, settings, folder, last: Mutex::default() })
    }

    fn file(&self, part: &str) -> String {
        format!("{part}.{}", self.outside.declared.data.suffix())
    }

    fn classes(&self) -> Option<usize> {
        match self.task {
            Task::Classification { classes } => Some(classes),
            Task::Regression => None,
        }
    }

    fn request(&self, more: Value, threads: usize, until: &Until<'_>) -> Result<(), LearningError> {
        let mut request = json!({
            "protocol": PROTOCOL,
            "method": self.outside.name,
            "task": self.task.name(),
            "classes": self.classes(),
            "columns": table::columns(self.features),
            "target": table::TARGET,
            "settings": self.settings,
            "threads": threads,
            "predictions": self.file("predictions"),
        });
        if let Some(estimator) = self.outside.programs.estimator(self.classes().is_some()) {
            request["estimator"] = json!(estimator);
        }
        if let (Some(request), Value::Object(more)) = (request.as_object_mut(), more) {
            request.extend(more);
        }
        let path = self.folder.path().join("request.json");
        std::fs::write(&path, request.to_string()).map_err(|error| no_folder(&error))?;
        self.outside.programs.run(self.folder.path(), threads, until)
    }

    /// Takes the files of a request away.
    fn clear(&self) {
        for file in OF_REQUEST {
            drop(std::fs::remove_file(self.folder.path().join(file)));
        }
    }

    fn scores(&self, inputs: ArrayView2<'_, f64>) -> Result<Array2<f64>, LearningError> {
        let mut hash = Sha256::new();
        inputs.iter().for_each(|value| hash.update(value.to_le_bytes()));
        let rows: [u8; 32] = hash.finalize().into();
        // One question at a time: the folder is one.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, scores)) = &*last
            && *known == rows
        {
            return Ok(scores.clone());
        }
        let file = self.file("test");
        table::write_inputs(&self.folder.path().join(&file), inputs).map_err(failed)?;
        let until = Until::Seconds(self.outside.declared.seconds);
        let asked = self.request(json!({ "action": "predict", "data": file }), 1, &until);
        let answer = self.folder.path().join(self.file("predictions"));
        let scores = asked
            .and_then(|()| table::predictions(&answer, inputs.nrows(), self.task).map_err(failed));
        self.clear();
        let scores = scores?;
        *last = Some((rows, scores.clone()));
        Ok(scores)
    }
}

impl Predictor for Model {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    /// Numbers that are none where the program fails: [`Predictor::try_decision`] says why.
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.scores(inputs).unwrap_or_else(|_| {
            Array2::from_elem((inputs.nrows(), self.classes().unwrap_or(1)), f64::NAN)
        })
    }

    fn try_decision(&self, inputs: ArrayView2<'_, f64>) -> Result<Array2<f64>, LearningError> {
        self.scores(inputs)
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.classes()?;
        let scores = self.scores(inputs).ok()?;
        let sums = |row: ndarray::ArrayView1<'_, f64>| {
            row.iter().all(|share| *share >= 0.0) && (row.sum() - 1.0).abs() < 1e-6
        };
        // Votes for one class say nothing of how sure they are.
        let sure = scores.iter().all(|score| [0.0, 1.0].contains(score));
        (scores.rows().into_iter().all(sums) && !sure).then_some(scores)
    }

    fn state(&self) -> State {
        let files = std::fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        let mut names = Vec::new();
        let mut state = State::new()
            .with("classes", self.classes())
            .with("features", self.features)
            .with("settings", &self.settings);
        for entry in files {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(bytes) = std::fs::read(entry.path()) else { continue };
            if OF_REQUEST.contains(&name.as_str()) {
                continue;
            }
            let words: Array1<u32> = bytes
                .chunks(4)
                .map(|word| {
                    let mut four = [0; 4];
                    four[..word.len()].copy_from_slice(word);
                    u32::from_le_bytes(four)
                })
                .collect();
            state = state.with_array(&format!("file {}", names.len()), &words);
            names.push((name, bytes.len()));
        }
        state.with("files", names)
    }
}

/// Puts the files of a kept model into a folder of their own.
pub(crate) fn restore(
    outside: &'static Outside,
    state: &State,
) -> Result<Box<dyn Predictor>, LearningError> {
    let task = match state.value::<Option<usize>>("classes")? {
        Some(classes) => Task::Classification { classes },
        None => Task::Regression,
    };
    let model = Model::new(outside, task, state.value("features")?, state.value("settings")?)?;
    let files: Vec<(String, usize)> = state.value("files")?;
    for (number, (name, length)) in files.into_iter().enumerate() {
        let words = state.array::<u32, Ix1>(&format!("file {number}"))?;
        let plain = Path::new(&name).file_name().is_some_and(|own| own == name.as_str());
        if !plain || words.len() != length.div_ceil(4) {
            return Err(failed(format!("`{name}` of the model is damaged")));
        }
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        std::fs::write(model.folder.path().join(&name), bytes)
            .map_err(|error| no_folder(&error))?;
    }
    Ok(Box::new(model))
}

fn no_folder(error: &std::io::Error) -> LearningError {
    failed(format!("no folder for its files: {error}"))
}
