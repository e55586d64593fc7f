//! `mercer._mercer`: what the Python package asks of Rust. Arrays come by the buffer protocol; the estimators
//! are made in Python from what `methods` says.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is a value")]

mod model;
mod stats;

use mercer_datasets::Library;
use mercer_learning::{Method, Setting, Settings, Shape, Targets, Task};
use mercer_methods::registry;
use mercer_theory::find_calculator;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Shapes at which the defaults of a method are asked for: those that differ between them depend on the data.
const SHAPES: [(usize, usize); 3] = [(40, 2), (1_000, 20), (100_000, 300)];

/// The value that a first run takes, or nothing where it depends on the data.
fn default_of(method: &Method, setting: &Setting, task: Task) -> Option<Value> {
    let at = |(rows, features)| {
        let begun: Settings = method.begun(&Shape { rows, features, task });
        begun.get(setting.name).unwrap_or(&setting.default).clone()
    };
    let [small, medium, large] = SHAPES.map(at);
    (small == medium && medium == large).then_some(small)
}

fn described(method: &Method, task: Task) -> Value {
    let settings = (method.settings)().into_iter().map(|setting| {
        let default = default_of(method, &setting, task);
        json!({
            "name": setting.name,
            "meaning": setting.meaning,
            "allowed": setting.allowed(),
            "default": default.clone().unwrap_or(Value::Null),
            "depends_on_data": default.is_none(),
        })
    });
    json!({
        "method": method.name,
        "class": method.class_name(task),
        "title": method.title,
        "summary": method.summary,
        "formula": method.formula,
        "when": method.when,
        "cites": method.cites,
        "classification": task != Task::Regression,
        "weighs_rows": method.weighs_rows(),
        "settings": settings.collect::<Vec<_>>(),
    })
}

/// Every method and task as JSON: names, settings with meaning and default, source.
#[pyfunction]
fn methods() -> String {
    let tasks = [Task::Classification { classes: 3 }, Task::Regression];
    let all = registry();
    let own = |method: &Method| {
        let able = tasks.into_iter().filter(|task| method.tasks.include(*task));
        able.map(|task| described(method, task)).collect::<Vec<_>>()
    };
    Value::Array(all.iter().flat_map(own).collect()).to_string()
}

/// Rows, columns, numbers, targets, class names and official training rows of a dataset.
type Loaded<'py> = (usize, usize, Bound<'py, PyByteArray>, Vec<f64>, Vec<String>, usize);

/// A dataset of the catalogue, from a folder or from those inside.
#[pyfunction]
fn load<'py>(py: Python<'py>, name: &str, folder: Option<PathBuf>) -> PyResult<Loaded<'py>> {
    let found = Library::discover(folder.as_deref()).and_then(|library| library.load(name));
    let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let targets = match found.sample.targets() {
        Targets::Classes { labels, .. } => labels.iter().map(|&label| f64::from(label)).collect(),
        Targets::Real(values) => values.to_vec(),
    };
    let (rows, columns, bytes) = model::shaped(py, &found.sample.inputs().to_owned())?;
    Ok((rows, columns, bytes, targets, found.labels, found.parts.train.len()))
}

/// The committed cells of the papers' tables, and of the audits', as JSON.
#[pyfunction]
const fn cells() -> &'static str {
    include_str!("../../reports/cells.json")
}

/// Cores that this process may use, by its affinity and by the limits of its container.
#[pyfunction]
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A bound of scalar inputs.
#[pyfunction]
fn evaluate_bound(name: &str, inputs: BTreeMap<String, f64>) -> PyResult<f64> {
    let given = inputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let bound = find_calculator(name).and_then(|calculator| calculator.bound(&given));
    bound.map(|bound| bound.value).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymodule]
fn _mercer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(cells, module)?)?;
    module.add_function(wrap_pyfunction!(cores, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate_bound, module)?)?;
    stats::add(module)
}
