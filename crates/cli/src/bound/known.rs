//! What a model knows of the inputs of bounds.

use crate::settings::small;
use mercer_datasets::{RowFile, RowFormat, SchemaOptions};
use mercer_learning::{Convergence, Method, Settings, Shape, Task, counted};
use mercer_methods::all;
use mercer_theory::{Calculator, TheoryError};
use mercer_workbench::{Choices, Header, Model, Table, WorkbenchError, fit};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) fn warn_of_other_rows(header: &Header, table: &Table) {
    if table.sha256 != header.data.sha256 {
        tracing::warn!(
            "{} is not the file that the model was fitted to: rows, trace and loss are those of its \
             {}, and a bound speaks of training rows",
            table.name,
            counted(table.rows(), "row", "rows")
        );
    }
}

/// Whether a model was fitted by the squared loss, for all that its header says.
pub(super) fn squared(header: &Header) -> bool {
    let named = header.settings.get("loss").and_then(serde_json::Value::as_str);
    header.task() == mercer_learning::Task::Regression || named == Some("squared")
}

/// Refuses the loss that an embedding was fitted by where a bound wants it clipped at another `ε`: at
/// the one that was asked for, or below `1/e` where the bound has none of its own.
pub(super) fn clipped_elsewhere(
    calculator: &Calculator,
    header: &Header,
    asked: Option<f64>,
) -> Result<(), WorkbenchError> {
    let wants = |name: &str| calculator.inputs.iter().any(|input| input.name == name);
    let of_embedding = header.settings.get("sensitivity").is_some();
    let Some(own) = header.settings.get("epsilon").and_then(serde_json::Value::as_f64) else {
        return Ok(());
    };
    if !of_embedding || !wants("loss") {
        return Ok(());
    }
    let must = match asked.filter(|_| wants("epsilon")) {
        Some(epsilon) if epsilon.total_cmp(&own).is_ne() => {
            format!("clipped at epsilon = {epsilon}")
        }
        None if !wants("epsilon") && own >= (-1f64).exp() => {
            "clipped at an epsilon below 1/e = 0.368, which the theorem wants".to_owned()
        }
        _ => return Ok(()),
    };
    let value = format!("that of the fit, clipped at epsilon = {own}");
    let must = format!("{must}: add --data FILE to measure it on rows, or give loss=");
    Err(WorkbenchError::Argument { name: "loss", value, must })
}

/// The inputs of bounds that a model knows.
pub(super) fn of_model(header: &Header) -> BTreeMap<String, f64> {
    let rows = header.data.rows as f64;
    let numbers = header.settings.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
    let mut known: BTreeMap<String, f64> =
        numbers.map(|(name, value)| (name.to_owned(), value)).collect();
    // What was learned, over where it started.
    known.extend(header.facts.clone());
    // Of embeddings: what their objective called loss and complexity may be a sum, of one batch, or with
    // 1 for alpha, for all that the kernel is.
    if header.settings.get("sensitivity").is_some() {
        let fact = |name: &str| header.facts.get(name).copied();
        let (alpha, norm) = (fact("alpha"), fact("norm"));
        let complexity = alpha.zip(norm).map(|(alpha, norm)| alpha * norm);
        for (name, value) in
            [("complexity", complexity), ("sensitivity", alpha), ("loss", fact("mean-loss"))]
        {
            match value {
                Some(value) => known.insert(name.to_owned(), value),
                None => known.remove(name),
            };
        }
    }
    // Other methods have landmarks, too, which are not those of a hyper-kernel; what a fit of one chose by itself
    // stands in how many pairs of them it has.
    let fact = |name: &str| header.facts.get(name).copied();
    let subsets = known.get("subsets").copied().unwrap_or(1.0);
    let landmarks = fact("landmark-pairs")
        .map(|pairs| 0.5 * ((8.0 * pairs / subsets + 1.0).sqrt() - 1.0))
        .filter(|count| count.fract() == 0.0);
    let points = fact("stage-1-rows").unwrap_or(rows);
    known.remove("landmarks");
    known.extend(landmarks.map(|count| ("landmarks".to_owned(), count)));
    known.insert("points".to_owned(), points);
    let steps = match header.convergence {
        Convergence::FixedSteps { steps } => Some(steps as f64),
        _ => None,
    };
    let features = header.facts.get("feature-norm-squared");
    for (name, value) in [
        ("rows", Some(rows)),
        ("outputs", Some(header.task().outputs() as f64)),
        // The sum of k(x, x) over the rows, k being that of the fitted features.
        ("trace", features.map(|mean| mean * rows)),
        ("step", header.settings.get("rate").and_then(serde_json::Value::as_f64)),
        ("iterations", steps),
    ] {
        if let Some(value) = value {
            known.insert(name.to_owned(), value);
        }
    }
    known
}

/// Methods that are named of many.
const NAMED: usize = 8;

/// What a bound was given.
pub(super) struct ResolvedInput<'a> {
    /// A model.
    pub header: Option<&'a Header>,
    /// Whether there were rows beside it.
    pub rows: bool,
    /// Whether the bound is one of lists and tables.
    pub arrays: bool,
}

/// The error of an input that is missing, with what can be done about it; any other as it is.
pub(super) fn missing(
    error: TheoryError,
    example: impl Fn(&str) -> Result<String, TheoryError>,
    had: &ResolvedInput<'_>,
) -> anyhow::Error {
    let TheoryError::Missing { input, .. } = error else { return error.into() };
    let give = match example(input) {
        Ok(example) => format!("{input}={example}, say"),
        Err(error) => return error.into(),
    };
    let told = match had.header {
        None => format!("give it: {give}"),
        Some(header) => {
            let those = knowing(input, had.arrays);
            let own = those.iter().find(|(name, _)| *name == header.method);
            let names = |these: &[(&str, bool)]| {
                let names: Vec<&str> = these.iter().take(NAMED).map(|(name, _)| *name).collect();
                match these.len().saturating_sub(NAMED) {
                    0 => names.join(", "),
                    more => format!("{} and {more} more", names.join(", ")),
                }
            };
            match own {
                Some((_, true)) if !had.rows => {
                    format!("it is measured on rows: add --data FILE, or give it: {give}")
                }
                // A model of the method may, and this one does not: by how it was fitted.
                Some(_) => {
                    format!("this model of {} does not know it; give it: {give}", header.method)
                }
                _ if those.is_empty() => format!("no model knows it, give it: {give}"),
                _ => format!(
                    "a model of {} does not know it, but one of these does: {}; or give it: {give}",
                    header.method,
                    names(&those)
                ),
            }
        }
    };
    let told = format!("{error}; {told}");
    anyhow::Error::new(error).context(told)
}

/// The methods whose models know an input, and whether rows are needed for it: asked of a model of each,
/// fitted to a few rows.
fn knowing(input: &str, arrays: bool) -> Vec<(&'static str, bool)> {
    let methods = all();
    let one = |method: &Method| {
        let (model, table) = toy(&methods, method).ok()?;
        let kept = of_model(&model.header).contains_key(input) && !(arrays && input == "points");
        let measured = || {
            if arrays {
                return model.measured_array(&table, input).ok().flatten().map(|_| ());
            }
            model.measured(&table, 0.1).ok()?.contains_key(input).then_some(())
        };
        if kept { Some((method.name, false)) } else { measured().map(|()| (method.name, true)) }
    };
    methods.iter().filter_map(one).collect()
}

/// A model of sixteen rows.
fn toy(methods: &[Method], method: &Method) -> Result<(Model, Table), WorkbenchError> {
    let classes = Task::Classification { classes: 2 };
    let task = if method.tasks.include(classes) { classes } else { Task::Regression };
    let mut text = "a,b,c,y\n".to_owned();
    for row in 0..16 {
        let [a, b, c] = [7, 3, 5].map(|k| (f64::from(row * k) * 0.618).sin());
        let y = if task == Task::Regression { a } else { f64::from(u8::from(a > 0.0)) };
        let _ = writeln!(text, "{a},{b},{c},{y}"); // writing to a string cannot fail
    }
    let file = RowFile::spooled(text.as_bytes(), "rows", Some(RowFormat::Text(b',')))?;
    let table = Table::read(&file, &SchemaOptions::default())?;
    let shape = Shape { rows: table.rows(), features: table.schema.width(), task };
    let all = small(&(method.defaults)(&shape), Settings::new());
    // What does nothing beside the method's solver would be refused.
    let idle: Vec<&str> = method.inactive(&all, &shape).into_iter().map(|(name, _)| name).collect();
    let kept = all.iter().filter(|(name, _)| !idle.contains(name));
    let settings = kept.fold(Settings::new(), |kept, (name, value)| kept.with(name, value.clone()));
    let choices = Choices { settings, ..Choices::plain() };
    Ok((fit(methods, method.name, &table, &choices)?, table))
}
