//! `mercer bound`: the calculators of `theory`.

use crate::Ended;
use crate::args::BoundArgs;
use crate::list::Listing;
use anyhow::Context;
use mercer_theory::{Bound, CALCULATORS, Calculator, find_calculator};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

pub(crate) fn run(args: &BoundArgs) -> anyhow::Result<Ended> {
    let Some(name) = &args.name else {
        calculators().print(args.json)?;
        return Ok(Ended::Done);
    };
    let calculator = find_calculator(name)?;
    if args.inputs.is_empty() && calculator.inputs.iter().any(|input| input.default.is_none()) {
        inputs(calculator).print(args.json)?;
        return Ok(Ended::Done);
    }
    let mut given = BTreeMap::new();
    for input in &args.inputs {
        let (name, value) = input.split_once('=').unwrap_or((input, "nothing"));
        let value: f64 = value
            .parse()
            .with_context(|| format!("input `{name}` is {value}; write {name}=NUMBER"))?;
        given.insert(name, value);
    }
    print(calculator, &calculator.bound(&given)?, args.json)?;
    Ok(Ended::Done)
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
    let vacuous = if bound.vacuous { "vacuous: it says nothing here" } else { "not vacuous" };
    writeln!(stdout, "  {vacuous}; {}", bound.source)?;
    Ok(())
}
