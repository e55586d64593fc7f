//! `mercer bound`: the calculators of `theory`.

use crate::Ended;
use crate::args::BoundArgs;
use crate::list::Listing;
use crate::own::open;
use anyhow::Context;
use mercer_experiments::registry;
use mercer_learning::Convergence;
use mercer_theory::{Bound, CALCULATORS, Calculator, find_calculator};
use mercer_workbench::{Header, Model, Table, WorkbenchError};
use serde_json::json;
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
            if table.sha256 != model.header.data.sha256 {
                tracing::warn!(
                    "{} is not the file that the model was fitted to: rows, trace and loss are those of its \
                     {} rows, and a bound speaks of training rows",
                    table.name,
                    table.rows()
                );
            }
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
    }
    given.extend(said);
    if given.is_empty() && calculator.inputs.iter().any(|input| input.default.is_none()) {
        inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let given = given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    print(calculator, &calculator.bound(&given)?, args.json)?;
    Ok(Ended::Done)
}

/// Whether a model was fitted by the squared loss, for all that its header says.
fn squared(header: &Header) -> bool {
    let named = header.settings.get("loss").and_then(serde_json::Value::as_str);
    header.task() == mercer_learning::Task::Regression || named == Some("squared")
}

/// The inputs of bounds that a model knows.
fn of_model(header: &Header) -> BTreeMap<String, f64> {
    let rows = header.data.rows as f64;
    let mut known = header.facts.clone();
    let numbers = header.settings.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
    known.extend(numbers.map(|(name, value)| (name.to_owned(), value)));
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
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).context("standard input")?
    } else {
        std::fs::read_to_string(path).with_context(|| path.display().to_string())?
    };
    serde_json::from_str(&text)
        .with_context(|| format!("{} is no JSON object of numbers", path.display()))
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
    Listing { heads, rows: CALCULATORS.iter().map(row).collect() }
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

fn print(calculator: &Calculator, bound: &Bound, as_json: bool) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if as_json {
        let terms: serde_json::Map<String, serde_json::Value> =
            bound.terms.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let object = json!({
            "bound": calculator.name, "value": bound.value, "terms": terms,
            "vacuous": bound.vacuous, "source": bound.source,
        });
        writeln!(stdout, "{object:#}")?;
        return Ok(());
    }
    writeln!(stdout, "{}: {}", calculator.title, bound.value)?;
    for (name, value) in &bound.terms {
        writeln!(stdout, "  {name} = {value}")?;
    }
    let vacuous = match bound.vacuous {
        Some(true) => "vacuous: it says nothing here",
        Some(false) => "not vacuous",
        None => "vacuous or not: not applicable, it is compared with no loss",
    };
    writeln!(stdout, "  {vacuous}; {}", bound.source)?;
    Ok(())
}
