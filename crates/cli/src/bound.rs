//! `mercer bound`: the calculators of `theory`.

mod array;
mod known;
mod listing;

use crate::Ended;
use crate::args::BoundArgs;
use crate::own::{FileArgs, open};
use anyhow::Context;
use array::{Refused, of_json as array_of, of_text};
use known::{ResolvedInput, clipped_elsewhere, missing, of_model, squared, warn_of_other_rows};
use listing::{array_inputs, calculators, inputs, print, print_calculators};
use mercer_methods::all;
use mercer_theory::{ARRAY_CALCULATORS, ArrayCalculator, CALCULATORS, Calculator, find_calculator};
use mercer_workbench::{Model, Table, WorkbenchError};
use ndarray::Array2;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
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
        if args.json {
            calculators().print(true)?;
        } else {
            print_calculators()?;
        }
        return Ok(Ended::Done);
    };
    if let Some(calculator) = ARRAY_CALCULATORS.iter().find(|calculator| calculator.name == name) {
        return of_arrays(calculator, args);
    }
    let calculator = find_calculator(name)?;
    let said = said(calculator, args)?;
    let model = args.model.as_ref().map(|path| Model::load(path, &all())).transpose()?;
    let mut given = match &model {
        Some(model) => of_fitted(calculator, model, args, &said)?,
        None => BTreeMap::new(),
    };
    given.extend(said);
    if given.is_empty() && calculator.inputs.iter().any(|input| input.default.is_none()) {
        inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let given = given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let bound = calculator.bound(&given).map_err(|error| {
        let example = |name: &str| calculator.input(name).map(|input| input.example.to_string());
        let header = model.as_ref().map(|model| &model.header);
        missing(error, example, &ResolvedInput { header, rows: args.data.is_some(), arrays: false })
    })?;
    print(calculator.name, calculator.title, &bound, args.json)?;
    Ok(Ended::Done)
}

/// The inputs of the JSON object, and over them those of the command line.
fn said(calculator: &Calculator, args: &BoundArgs) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut said = BTreeMap::new();
    if let Some(path) = &args.from {
        said.extend(of_json(path)?);
    }
    for input in &args.inputs {
        let (name, value) = input.split_once('=').unwrap_or((input, "nothing"));
        let example = calculator.input(name)?.example;
        let value: f64 = value.parse().with_context(|| {
            format!("input `{name}` is {value}; write a number, such as {name}={example}")
        })?;
        said.insert(name.to_owned(), value);
    }
    Ok(said)
}

/// The inputs that a model knows, and that its rows tell where there are some. Refuses what only a guess could give
/// beside those that were said.
fn of_fitted(
    calculator: &Calculator,
    model: &Model,
    args: &BoundArgs,
    said: &BTreeMap<String, f64>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut known = of_model(&model.header);
    if args.data.is_none() && !said.contains_key("loss") {
        let at = said.get("epsilon").copied();
        clipped_elsewhere(calculator, &model.header, at)?;
    }
    if let Some(data) = &args.data {
        // Where the loss is clipped: as asked, or where the printed bound is smallest.
        let epsilon = said.get("epsilon").copied().unwrap_or((-1f64).exp());
        let table = rows(data, model)?;
        warn_of_other_rows(&model.header, &table);
        let measured = model.measured(&table, epsilon)?;
        known.extend(measured.into_iter().map(|(name, value)| (name.to_owned(), value)));
        known.insert("epsilon".to_owned(), epsilon);
    }
    // A model knows more than any one bound asks for.
    let asked = |name: &str| calculator.inputs.iter().any(|input| input.name == name);
    if asked("lipschitz") && !said.contains_key("lipschitz") && squared(&model.header) {
        let value = "not given".to_owned();
        let must =
            "given: the model was fitted by the squared loss, which has no Lipschitz constant; \
                    name that of its range, twice the largest error"
                .to_owned();
        return Err(WorkbenchError::Argument { name: "lipschitz", value, must }.into());
    }
    known.retain(|name, _| asked(name));
    // Beside a model 1 would be a guess.
    let given = |name: &str| known.contains_key(name) || said.contains_key(name);
    if asked("sensitivity") && !given("sensitivity") {
        let value = format!("not given, and a model of {} has no `alpha`", model.header.method);
        let must =
            "given: the largest root of k(x, x), sensitivity=1 for a kernel with k(x, x) = 1, say"
                .to_owned();
        return Err(WorkbenchError::Argument { name: "sensitivity", value, must }.into());
    }
    Ok(known)
}

/// Reads rows as those were that a model was fitted to.
fn rows(data: &Path, model: &Model) -> anyhow::Result<Table> {
    Ok(Table::with_schema(&open(data, &FileArgs::default())?, model.header.schema.clone())?)
}

/// A bound that takes lists and tables: each from a JSON object, as JSON or from a file on the command
/// line, or of a model and rows.
fn of_arrays(calculator: &ArrayCalculator, args: &BoundArgs) -> anyhow::Result<Ended> {
    let model = args.model.as_ref().map(|path| Model::load(path, &all())).transpose()?;
    let mut given = match &model {
        Some(model) => arrays_of(calculator, model, args.data.as_deref())?,
        None => BTreeMap::new(),
    };
    if let Some(path) = &args.from {
        let object: BTreeMap<String, Value> = serde_json::from_str(&text_of(path)?)
            .with_context(|| format!("{} is no JSON object", path.display()))?;
        for (name, value) in object {
            let known = calculator.input(&name)?.name;
            let array =
                array_of(&value).map_err(|refused| refused.of(known, &value.to_string()))?;
            given.insert(name, array);
        }
    }
    for input in &args.inputs {
        let (name, text) = input.split_once('=').unwrap_or((input, "nothing"));
        let known = calculator.input(name)?.name;
        let array = match text.strip_prefix('@') {
            Some(path) => of_text(&text_of(Path::new(path))?),
            None => serde_json::from_str(text)
                .map_err(|_| Refused::default())
                .and_then(|v| array_of(&v)),
        };
        given.insert(name.to_owned(), array.map_err(|refused| refused.of(known, text))?);
    }
    if given.is_empty() && args.model.is_none() {
        array_inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let given = given.iter().map(|(name, array)| (name.as_str(), array.clone())).collect();
    let bound = calculator.bound(&given).map_err(|error| {
        let example = |name: &str| calculator.input(name).map(listing::example);
        let header = model.as_ref().map(|model| &model.header);
        missing(error, example, &ResolvedInput { header, rows: args.data.is_some(), arrays: true })
    })?;
    print(calculator.name, calculator.title, &bound, args.json)?;
    Ok(Ended::Done)
}

/// The lists and tables that a model knows, and that its rows tell where there are some.
fn arrays_of(
    calculator: &ArrayCalculator,
    model: &Model,
    data: Option<&Path>,
) -> anyhow::Result<BTreeMap<String, Array2<f64>>> {
    let table = data.map(|data| rows(data, model)).transpose()?;
    if let Some(table) = &table {
        warn_of_other_rows(&model.header, table);
    }
    let mut numbers = of_model(&model.header);
    // Here they are the rows themselves, not their number.
    numbers.remove("points");
    let mut given = BTreeMap::new();
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
    Ok(given)
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
        let io = |source| WorkbenchError::Io { path: path.to_owned(), source };
        Ok(std::fs::read_to_string(path).map_err(io)?)
    }
}
