//! `mercer bound`: the calculators of `theory`.

use crate::Ended;
use crate::args::BoundArgs;
use crate::list::Listing;
use crate::own::open;
use anyhow::Context;
use mercer_experiments::registry;
use mercer_learning::Convergence;
use mercer_theory::{
    ARRAY_CALCULATORS, ArrayCalculator, ArrayInput, Bound, CALCULATORS, Calculator, find_calculator,
};
use mercer_workbench::{Header, Model, Table, WorkbenchError};
use ndarray::Array2;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// The words of a command line in which each input of a bound may be a flag: after `bound`,
/// `--rows 100` and `--rows=100` are `rows=100`.
pub(crate) fn without_flags(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let known = |name: &str| {
        CALCULATORS.iter().flat_map(|calculator| calculator.inputs).any(|input| input.name == name)
            || ARRAY_CALCULATORS
                .iter()
                .flat_map(|calculator| calculator.inputs)
                .any(|input| input.name == name)
    };
    // The command is the first word that is no flag: those before it take no values.
    let command = words.iter().skip(1).position(|word| !word.to_string_lossy().starts_with('-'));
    let Some(command) = command.map(|at| at + 1).filter(|&at| words[at] == "bound") else {
        return words;
    };
    let mut at = command + 1;
    while at < words.len() {
        let word = words[at].to_string_lossy().into_owned();
        if let Some(flag) = word.strip_prefix("--") {
            match flag.split_once('=') {
                Some((name, _)) if known(name) => words[at] = flag.into(),
                None if known(flag) && at + 1 < words.len() => {
                    let value = words.remove(at + 1);
                    words[at] = format!("{flag}={}", value.to_string_lossy()).into();
                }
                _ => {}
            }
        }
        at += 1;
    }
    words
}

pub(crate) fn run(args: &BoundArgs) -> anyhow::Result<Ended> {
    let Some(name) = &args.name else {
        calculators().print(args.json)?;
        return Ok(Ended::Done);
    };
    if let Some(calculator) = ARRAY_CALCULATORS.iter().find(|calculator| calculator.name == name) {
        return of_arrays(calculator, args);
    }
    let calculator = find_calculator(name)?;
    let mut said = BTreeMap::new();
    if let Some(path) = &args.from {
        said.extend(of_json(path)?);
    }
    for input in &args.inputs {
        let (name, value) = input.split_once('=').unwrap_or((input, "nothing"));
        let value: f64 = value
            .parse()
            .with_context(|| format!("input `{name}` is {value}; write {name}=NUMBER"))?;
        said.insert(name.to_owned(), value);
    }
    let mut given = BTreeMap::new();
    if let Some(path) = &args.model {
        let model = Model::load(path, &registry())?;
        let mut known = of_model(&model.header);
        if let Some(data) = &args.data {
            // Where the loss is clipped: as asked, or where the printed bound is smallest.
            let epsilon = said.get("epsilon").copied().unwrap_or((-1f64).exp());
            let table = Table::with_schema(&open(data, None)?, model.header.schema.clone())?;
            warn_of_other_rows(&model.header, &table);
            let measured = model.measured(&table, epsilon)?;
            known.extend(measured.into_iter().map(|(name, value)| (name.to_owned(), value)));
            known.insert("epsilon".to_owned(), epsilon);
        }
        // A model knows more than any one bound asks for.
        let asked = |name: &str| calculator.inputs.iter().any(|input| input.name == name);
        if asked("lipschitz") && !said.contains_key("lipschitz") && squared(&model.header) {
            let value = "not given".to_owned();
            let must = "given: the model was fitted by the squared loss, which has no Lipschitz constant; \
                        name that of its range, twice the largest error"
                .to_owned();
            return Err(WorkbenchError::Argument { name: "lipschitz", value, must }.into());
        }
        given.extend(known.into_iter().filter(|(name, _)| asked(name)));
        // Beside a model 1 would be a guess.
        if asked("sensitivity")
            && !given.contains_key("sensitivity")
            && !said.contains_key("sensitivity")
        {
            let value = "not given".to_owned();
            let must =
                "given: the model's facts have no `alpha`, the largest root of k(x, x)".to_owned();
            return Err(WorkbenchError::Argument { name: "sensitivity", value, must }.into());
        }
    }
    given.extend(said);
    if given.is_empty() && calculator.inputs.iter().any(|input| input.default.is_none()) {
        inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let given = given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    print(calculator.name, calculator.title, &calculator.bound(&given)?, args.json)?;
    Ok(Ended::Done)
}

/// A bound that takes lists and tables: each from a JSON object, as JSON or from a file on the command
/// line, or of a model and rows.
fn of_arrays(calculator: &ArrayCalculator, args: &BoundArgs) -> anyhow::Result<Ended> {
    let mut given: BTreeMap<String, Array2<f64>> = BTreeMap::new();
    if let Some(path) = &args.model {
        let model = Model::load(path, &registry())?;
        let table = match &args.data {
            Some(data) => {
                Some(Table::with_schema(&open(data, None)?, model.header.schema.clone())?)
            }
            None => None,
        };
        if let Some(table) = &table {
            warn_of_other_rows(&model.header, table);
        }
        let numbers = of_model(&model.header);
        for input in calculator.inputs {
            let number = numbers.get(input.name).map(|&number| Array2::from_elem((1, 1), number));
            let found = match &table {
                Some(table) => model.measured_array(table, input.name)?,
                None => None,
            };
            if let Some(array) = found.or(number) {
                given.insert(input.name.to_owned(), array);
            }
        }
    }
    if let Some(path) = &args.from {
        let object: BTreeMap<String, Value> = serde_json::from_str(&text_of(path)?)
            .with_context(|| format!("{} is no JSON object", path.display()))?;
        for (name, value) in object {
            let array = array_of(&value).ok_or_else(|| no_array(&name, &value.to_string()))?;
            given.insert(name, array);
        }
    }
    for input in &args.inputs {
        let (name, text) = input.split_once('=').unwrap_or((input, "nothing"));
        let array = match text.strip_prefix('@') {
            Some(path) => of_text(&text_of(Path::new(path))?),
            None => serde_json::from_str(text).ok().as_ref().and_then(array_of),
        };
        given.insert(name.to_owned(), array.ok_or_else(|| no_array(name, text))?);
    }
    if given.is_empty() && args.model.is_none() {
        array_inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let given = given.iter().map(|(name, array)| (name.as_str(), array.clone())).collect();
    print(calculator.name, calculator.title, &calculator.bound(&given)?, args.json)?;
    Ok(Ended::Done)
}

/// An array in a file: JSON, or lines of numbers between commas, semicolons, tabs or blanks, the first
/// line being left out where it names columns.
fn of_text(text: &str) -> Option<Array2<f64>> {
    if text.trim_start().starts_with('[') {
        return array_of(&serde_json::from_str(text).ok()?);
    }
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let numbers = |line: &str| -> Option<Vec<f64>> {
        let between = |letter: char| matches!(letter, ',' | ';' | '\t' | ' ');
        let words = line.split(between).map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| word.parse().ok()).collect()
    };
    let rows: Vec<Option<Vec<f64>>> = lines.map(numbers).collect();
    let named = rows.first().is_some_and(Option::is_none);
    let rows: Vec<_> = rows.into_iter().skip(usize::from(named)).collect::<Option<_>>()?;
    table_of(&rows)
}

fn array_inputs(calculator: &ArrayCalculator) -> Listing {
    let row = |input: &ArrayInput| {
        let entries = |row: &&[f64]| if let [one] = row { json!(one) } else { json!(row) };
        let rows: Vec<Value> = input.example.iter().map(entries).collect();
        let one = matches!(rows.as_slice(), [Value::Number(_)]);
        let example = if one { rows[0].clone() } else { json!(rows) };
        vec![json!(input.name), json!(input.meaning), json!(input.range), Value::Null, example]
    };
    let heads = &["input", "meaning", "range", "default", "example"];
    Listing { heads, rows: calculator.inputs.iter().map(row).collect() }
}

fn no_array(name: &str, text: &str) -> WorkbenchError {
    let shown: String = text.chars().take(32).collect();
    let value = format!("{name}={shown}");
    let must = "a number, a list [1,2] or a table [[1,2],[3,4]] as JSON, or @FILE, a CSV or JSON file of numbers".to_owned();
    WorkbenchError::Argument { name: "input", value, must }
}

/// A number, a list (a column) or a table of rows of equal length.
fn array_of(value: &Value) -> Option<Array2<f64>> {
    if let Some(number) = value.as_f64() {
        return Some(Array2::from_elem((1, 1), number));
    }
    let rows: Vec<Vec<f64>> = value
        .as_array()?
        .iter()
        .map(|row| match row.as_array() {
            Some(row) => row.iter().map(Value::as_f64).collect(),
            None => row.as_f64().map(|number| vec![number]),
        })
        .collect::<Option<_>>()?;
    table_of(&rows)
}

fn table_of(rows: &[Vec<f64>]) -> Option<Array2<f64>> {
    let width = rows.first()?.len();
    let even = rows.iter().all(|row| row.len() == width);
    even.then(|| Array2::from_shape_vec((rows.len(), width), rows.concat()).ok())?
}

fn warn_of_other_rows(header: &Header, table: &Table) {
    if table.sha256 != header.data.sha256 {
        tracing::warn!(
            "{} is not the file that the model was fitted to: rows, trace and loss are those of its \
             {} rows, and a bound speaks of training rows",
            table.name,
            table.rows()
        );
    }
}

/// Whether a model was fitted by the squared loss, for all that its header says.
fn squared(header: &Header) -> bool {
    let named = header.settings.get("loss").and_then(serde_json::Value::as_str);
    header.task() == mercer_learning::Task::Regression || named == Some("squared")
}

/// The inputs of bounds that a model knows.
fn of_model(header: &Header) -> BTreeMap<String, f64> {
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

/// The inputs in a JSON object.
fn of_json(path: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    serde_json::from_str(&text_of(path)?)
        .with_context(|| format!("{} is no JSON object of numbers", path.display()))
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).context("standard input")
    } else {
        std::fs::read_to_string(path).with_context(|| path.display().to_string())
    }
}

fn calculators() -> Listing {
    let row = |calculator: &Calculator| {
        let names: Vec<&str> = calculator.inputs.iter().map(|input| input.name).collect();
        vec![
            json!(calculator.name),
            json!(calculator.title),
            json!(names.join(" ")),
            json!(calculator.source),
        ]
    };
    let heads = &["bound", "title", "inputs", "source"];
    let of_arrays = |calculator: &ArrayCalculator| {
        let names: Vec<&str> = calculator.inputs.iter().map(|input| input.name).collect();
        vec![
            json!(calculator.name),
            json!(calculator.title),
            json!(names.join(" ")),
            json!(calculator.source),
        ]
    };
    let rows = CALCULATORS.iter().map(row).chain(ARRAY_CALCULATORS.iter().map(of_arrays));
    Listing { heads, rows: rows.collect() }
}

fn inputs(calculator: &Calculator) -> Listing {
    let row = |input: &mercer_theory::Input| {
        vec![
            json!(input.name),
            json!(input.meaning),
            json!(input.range),
            json!(input.default),
            json!(input.example),
        ]
    };
    let heads = &["input", "meaning", "range", "default", "example"];
    Listing { heads, rows: calculator.inputs.iter().map(row).collect() }
}

fn print(name: &str, title: &str, bound: &Bound, as_json: bool) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if as_json {
        let terms: serde_json::Map<String, serde_json::Value> =
            bound.terms.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let object = json!({
            "bound": name, "value": bound.value, "terms": terms,
            "vacuous": bound.vacuous, "source": bound.source,
        });
        writeln!(stdout, "{object:#}")?;
        return Ok(());
    }
    writeln!(stdout, "{title}: {}", plain(bound.value))?;
    for (name, value) in &bound.terms {
        writeln!(stdout, "  {name} = {}", plain(*value))?;
    }
    let vacuous = match bound.vacuous {
        Some(true) => "vacuous: it says nothing here",
        Some(false) => "not vacuous",
        None => "vacuous or not: not applicable, it is compared with no loss",
    };
    writeln!(stdout, "  {vacuous}; {}", bound.source)?;
    Ok(())
}

/// A number to twelve places, without the noise of the last bits; `--json` has them all.
fn plain(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}
