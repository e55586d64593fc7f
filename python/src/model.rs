use mercer_datasets::{Holds, Impute, InputColumn, Kind, Schema, TargetColumnKept, Truths};
use mercer_harness::{Stop, TrialLimits, free_memory};
use mercer_learning::{LearningError, Settings, find};
use mercer_linalg::{Matrix, SparseRows};
use mercer_methods::registry;
use mercer_workbench::{
    Budget, Choices, ClassWeight, RowWeights, Table, WorkbenchError, fit, held, scaling_of,
};
use ndarray::{Array2, s};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Stack of the thread that fits, as a main thread has it.
const STACK: usize = 16 << 20;

/// How often a fit looks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);

/// How messages call the rows.
const ROWS: &str = "X";

fn refused(error: WorkbenchError) -> PyErr {
    let text = error.to_string();
    match error {
        WorkbenchError::Learning(LearningError::Interrupted) => PyKeyboardInterrupt::new_err(text),
        WorkbenchError::Learning(LearningError::OutOfTime { .. }) => PyTimeoutError::new_err(text),
        WorkbenchError::Learning(LearningError::OutOfMemory { .. })
        | WorkbenchError::Memory { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A matrix of numbers as NumPy holds it, in any order of its axes.
fn matrix(py: Python<'_>, numbers: &PyBuffer<f64>) -> PyResult<Array2<f64>> {
    let &[rows, columns] = numbers.shape() else {
        return Err(wrong(format!(
            "expected a table of 2 dimensions, got {}",
            numbers.dimensions()
        )));
    };
    Array2::from_shape_vec((rows, columns), numbers.to_vec(py)?).map_err(wrong)
}

/// Rows as they are held: a table, or `(starts, columns, numbers, width)` of what is not 0.
fn rows(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    type Parts = (PyBuffer<u32>, PyBuffer<u32>, PyBuffer<f64>, usize);
    let Ok((starts, columns, numbers, width)) = given.extract::<Parts>() else {
        return Ok(matrix(py, &given.extract()?)?.into());
    };
    let [starts, columns] = [starts.to_vec(py)?, columns.to_vec(py)?];
    let shape = (starts.len().saturating_sub(1), width);
    let rows = SparseRows::try_new(shape, starts, columns, numbers.to_vec(py)?);
    held(rows.map_err(|(_, _, _, error)| wrong(error))?, ROWS).map_err(refused)
}

/// `(rows, columns, bytes)`, from which NumPy makes an array without a copy.
pub(crate) type Shaped<'py> = (usize, usize, Bound<'py, PyByteArray>);

pub(crate) fn shaped<'py>(py: Python<'py>, numbers: &Array2<f64>) -> PyResult<Shaped<'py>> {
    let bytes = PyByteArray::new_with(py, 8 * numbers.len(), |bytes| {
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })?;
    Ok((numbers.nrows(), numbers.ncols(), bytes))
}

fn lines(inputs: &Array2<f64>) -> Vec<usize> {
    (0..inputs.nrows()).collect()
}

/// Columns of numbers under these names, and the target after them.
fn schema(names: Vec<String>, labels: Vec<String>, kind: Kind) -> Schema {
    let target = TargetColumnKept { name: "y".to_owned(), position: names.len(), kind, labels };
    let columns = names.into_iter().enumerate().map(|(position, name)| InputColumn {
        name,
        position,
        content: Holds::Numbers,
        literal: false,
        own_missing: false,
    });
    Schema {
        named: true,
        sparse: false,
        numbering: None,
        missing: None,
        columns: columns.collect(),
        dropped: Vec::new(),
        target,
    }
}

fn table(
    inputs: Matrix,
    targets: Vec<f64>,
    names: Vec<String>,
    labels: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
) -> Table {
    let mut hash = Sha256::new();
    match &inputs {
        Matrix::Dense(inputs) => inputs.iter().for_each(|x| hash.update(x.to_le_bytes())),
        Matrix::Sparse(inputs) => {
            for (number, (row, column)) in inputs {
                hash.update([row.to_le_bytes(), column.to_le_bytes()].concat());
                hash.update(number.to_le_bytes());
            }
        }
    }
    for number in targets.iter().chain(weights.iter().flatten()) {
        hash.update(number.to_le_bytes());
    }
    let sha256 = format!("{:x}", hash.finalize());
    let (kind, truths) = match labels {
        Some(_) => {
            let codes = targets.into_iter().map(|code| code as u32).collect();
            (Kind::Classification, Truths::Classes(codes))
        }
        None => (Kind::Regression, Truths::Values(targets)),
    };
    let schema = schema(names, labels.unwrap_or_default(), kind);
    Table {
        name: ROWS.to_owned(),
        schema,
        lines: (0..inputs.nrows()).collect(),
        raw: inputs,
        truths,
        sha256,
        division: None,
        weights: weights.map(|values| RowWeights { column: "sample_weight".to_owned(), values }),
        unheld: None,
    }
}

/// `balanced`, or a weight a class, by its label.
fn class_weight(given: &Value) -> Result<ClassWeight, WorkbenchError> {
    let Some(by_label) = given.as_object() else {
        return given.as_str().unwrap_or_default().parse();
    };
    let weight = |(label, weight): (&String, &Value)| match weight.as_f64() {
        Some(weight) if weight > 0.0 && weight.is_finite() => Ok((label.clone(), weight)),
        _ => Err(WorkbenchError::Argument {
            name: "class_weight",
            value: format!("{weight} of class `{label}`"),
            must: "a number above 0".to_owned(),
        }),
    };
    Ok(ClassWeight::Given(by_label.iter().map(weight).collect::<Result<_, _>>()?))
}

/// The choices of a fit beside its settings, as JSON has it.
struct Asked {
    settings: Settings,
    scaling: String,
    impute: Option<String>,
    tune: Option<String>,
    class_weight: Option<Value>,
    seed: u64,
    threads: usize,
    seconds: Option<f64>,
}

impl Asked {
    fn read(text: &str) -> PyResult<Self> {
        let asked: Value = serde_json::from_str(text).map_err(wrong)?;
        let word = |name: &str| asked[name].as_str().map(str::to_owned);
        let none = serde_json::Map::new();
        let settings = asked["settings"].as_object().unwrap_or(&none).iter();
        Ok(Self {
            settings: settings
                .fold(Settings::new(), |all, (name, value)| all.with(name, value.clone())),
            scaling: word("scaling").unwrap_or_default(),
            impute: word("impute"),
            tune: word("tune"),
            class_weight: Some(asked["class_weight"].clone()).filter(|own| !own.is_null()),
            seed: asked["seed"].as_u64().unwrap_or(1),
            threads: asked["threads"].as_u64().unwrap_or(1) as usize,
            seconds: asked["seconds"].as_f64(),
        })
    }

    fn choices<'a>(&self, limits: &'a TrialLimits) -> Result<Choices<'a>, WorkbenchError> {
        let impute = match self.impute.as_deref() {
            None => None,
            Some("mean") => Some(Impute::Mean),
            Some("median") => Some(Impute::Median),
            Some(other) => {
                let (value, must) = (format!("`{other}`"), "None, mean or median".to_owned());
                return Err(WorkbenchError::Argument { name: "impute", value, must });
            }
        };
        Ok(Choices {
            settings: self.settings.clone(),
            scaling: scaling_of(
                &self.settings,
                self.scaling.parse().map_err(WorkbenchError::Data)?,
            ),
            impute,
            tune: self.tune.as_deref().map(str::parse::<Budget>).transpose()?,
            metric: None,
            class_weight: self.class_weight.as_ref().map(class_weight).transpose()?,
            calibrate: false,
            threshold: None,
            importance: false,
            learning_curve: false,
            seed: self.seed,
            threads: self.threads,
            limits,
        })
    }
}

/// A fitted model: what `mercer fit` writes to a file.
#[pyclass(module = "mercer._mercer", frozen)]
pub(crate) struct Model(mercer_workbench::Model);

#[pymethods]
impl Model {
    /// Fits a method; `asked` is JSON. Ctrl-C ends it.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "Python hands a table over in its parts")]
    fn fit(
        py: Python<'_>,
        method: &str,
        inputs: &Bound<'_, PyAny>,
        targets: Vec<f64>,
        names: Vec<String>,
        labels: Option<Vec<String>>,
        weights: Option<Vec<f64>>,
        asked: &str,
    ) -> PyResult<Self> {
        let table = table(rows(py, inputs)?, targets, names, labels, weights);
        let asked = Asked::read(asked)?;
        let stop = Stop::default();
        let (send, done) = channel();
        std::thread::scope(|scope| {
            let theirs = stop.clone();
            let work = move || {
                let limits = TrialLimits::start(asked.seconds, free_memory(), theirs);
                let fitted = asked
                    .choices(&limits)
                    .and_then(|choices| fit(&registry(), method, &table, &choices));
                // Nobody waits any more: then nobody asks.
                let _ = send.send(fitted);
            };
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
            // Shared between threads while Python's other threads run.
            let done = Mutex::new(done);
            let wait = |time| match done.lock() {
                Ok(done) => done.recv_timeout(time),
                Err(poisoned) => poisoned.into_inner().recv_timeout(time),
            };
            loop {
                match py.detach(|| wait(LOOK)) {
                    Ok(fitted) => return Ok(Self(fitted.map_err(refused)?)),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(pressed) = py.check_signals() {
                            // The scope waits for the end of the fit.
                            stop.ask();
                            return Err(pressed);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(pyo3::exceptions::PyRuntimeError::new_err("the fit panicked"));
                    }
                }
            }
        })
    }

    /// The values that regression predicts, `n × 1`.
    fn values<'py>(
        &self,
        py: Python<'py>,
        inputs: PyBuffer<f64>,
        threads: usize,
    ) -> PyResult<Shaped<'py>> {
        let inputs = matrix(py, &inputs)?;
        let of = lines(&inputs);
        let predicted =
            py.detach(|| self.0.predict(inputs, ROWS, &of, threads)).map_err(refused)?;
        let values = match predicted {
            mercer_workbench::Predicted::Values(values) => values,
            mercer_workbench::Predicted::Classes(codes) => {
                codes.into_iter().map(f64::from).collect()
            }
        };
        shaped(py, &Array2::from_shape_vec((values.len(), 1), values).map_err(wrong)?)
    }

    /// One score a class, `n × K`.
    fn decision<'py>(
        &self,
        py: Python<'py>,
        inputs: PyBuffer<f64>,
        threads: usize,
    ) -> PyResult<Shaped<'py>> {
        let inputs = matrix(py, &inputs)?;
        let of = lines(&inputs);
        let scores = py.detach(|| self.0.decision(inputs, ROWS, &of, threads)).map_err(refused)?;
        shaped(py, &scores)
    }

    /// Standard deviations of new observations, `n × 1`, or nothing where the method has none.
    fn deviations<'py>(
        &self,
        py: Python<'py>,
        inputs: PyBuffer<f64>,
    ) -> PyResult<Option<Shaped<'py>>> {
        let inputs = matrix(py, &inputs)?;
        let of = lines(&inputs);
        let found = py.detach(|| self.0.deviations(inputs, ROWS, &of)).map_err(refused)?;
        found.map(|own| shaped(py, &own.insert_axis(ndarray::Axis(1)))).transpose()
    }

    /// Class probabilities, `n × K`, or nothing where the method has none.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        inputs: PyBuffer<f64>,
        threads: usize,
    ) -> PyResult<Option<Shaped<'py>>> {
        let inputs = matrix(py, &inputs)?;
        let of = lines(&inputs);
        match py.detach(|| self.0.probabilities(inputs, ROWS, &of, threads)) {
            Ok(shares) => shaped(py, &shares).map(Some),
            Err(WorkbenchError::NoProbabilities { .. }) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    /// The fitted kernel between rows and others, or nothing where the method has none.
    fn kernel<'py>(
        &self,
        py: Python<'py>,
        rows: PyBuffer<f64>,
        others: PyBuffer<f64>,
    ) -> PyResult<Option<Shaped<'py>>> {
        let (rows, others) = (matrix(py, &rows)?, matrix(py, &others)?);
        let count = rows.nrows();
        let both =
            ndarray::concatenate(ndarray::Axis(0), &[rows.view(), others.view()]).map_err(wrong)?;
        let of = lines(&both);
        let gram = py.detach(|| self.0.gram(both, ROWS, &of)).map_err(refused)?;
        gram.map(|gram| shaped(py, &gram.slice(s![..count, count..]).to_owned())).transpose()
    }

    /// The learned features of rows, `n × D`, or nothing where the method has none.
    fn features<'py>(
        &self,
        py: Python<'py>,
        inputs: PyBuffer<f64>,
    ) -> PyResult<Option<Shaped<'py>>> {
        let inputs = matrix(py, &inputs)?;
        let of = lines(&inputs);
        let found = py.detach(|| self.0.features(inputs, ROWS, &of)).map_err(refused)?;
        found.map(|own| shaped(py, &own)).transpose()
    }

    /// Frequencies of a spectral kernel and their partners, `d × D` each.
    fn frequencies<'py>(&self, py: Python<'py>) -> PyResult<Option<(Shaped<'py>, Shaped<'py>)>> {
        self.0
            .frequencies()
            .map(|[first, second]| Ok((shaped(py, &first)?, shaped(py, &second)?)))
            .transpose()
    }

    /// Settings, facts, how the fit ended and what to know of it, as JSON.
    fn header(&self) -> PyResult<String> {
        let header = &self.0.header;
        let methods = registry();
        let method = find(&methods, &header.method).map_err(wrong)?;
        let open = method.unconverged(header.convergence, &header.settings, header.task());
        let told = header.warnings(&methods);
        Ok(json!({
            "settings": header.settings,
            "facts": header.facts,
            "tuning": header.tuning,
            "unconverged": open,
            "warnings": told,
        })
        .to_string())
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(refused)?))
    }

    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = this.get_type().getattr("from_bytes")?;
        Ok((restore, (this.get().to_bytes(this.py())?,)))
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let from = Path::new("the bytes");
        Ok(Self(mercer_workbench::Model::from_bytes(bytes, from, &registry()).map_err(refused)?))
    }
}
