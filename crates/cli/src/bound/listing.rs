//! What `mercer bound` prints: the calculators, the inputs of one, and a bound.

use crate::columns::{print_entries, print_words};
use crate::list::Listing;
use mercer_theory::{
    ARRAY_CALCULATORS, ArrayCalculator, ArrayInput, Bound, CALCULATORS, Calculator,
};
use serde_json::{Value, json};
use std::io::Write;

/// What may be typed for an input.
pub(super) fn example(input: &ArrayInput) -> String {
    entries(input).to_string()
}

fn entries(input: &ArrayInput) -> Value {
    let row = |row: &&[f64]| if let [one] = row { json!(one) } else { json!(row) };
    let rows: Vec<Value> = input.example.iter().map(row).collect();
    let one = matches!(rows.as_slice(), [Value::Number(_)]);
    if one { rows[0].clone() } else { json!(rows) }
}

pub(super) fn array_inputs(calculator: &ArrayCalculator) -> Listing {
    let row = |input: &ArrayInput| {
        let example = entries(input);
        vec![json!(input.name), json!(input.meaning), json!(input.range), Value::Null, example]
    };
    let heads = &["input", "meaning", "range", "default", "example"];
    Listing { heads, rows: calculator.inputs.iter().map(row).collect() }
}

pub(super) fn calculators() -> Listing {
    let row = |name: &str, title: &str, source: &str, inputs: Vec<&str>| {
        vec![json!(name), json!(title), json!(inputs.join(" ")), json!(source)]
    };
    let of_numbers = CALCULATORS.iter().map(|calculator| {
        let inputs = calculator.inputs.iter().map(|input| input.name).collect();
        row(calculator.name, calculator.title, calculator.source, inputs)
    });
    let of_arrays = ARRAY_CALCULATORS.iter().map(|calculator| {
        let inputs = calculator.inputs.iter().map(|input| input.name).collect();
        row(calculator.name, calculator.title, calculator.source, inputs)
    });
    let heads = &["bound", "title", "inputs", "source"];
    Listing { heads, rows: of_numbers.chain(of_arrays).collect() }
}

/// The same for people, who have no lines of two hundred letters.
pub(super) fn print_calculators() -> anyhow::Result<()> {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |row: &Vec<Value>| {
        let [name, title, inputs, source] = [0, 1, 2, 3].map(|at| words(&row[at]));
        (
            name,
            vec![title, format!("  inputs: {}", inputs.replace(' ', ", ")), format!("  {source}")],
        )
    };
    print_entries(&calculators().rows.iter().map(entry).collect::<Vec<_>>())?;
    writeln!(std::io::stdout())?;
    print_words("`mercer bound NAME` says what the inputs of one mean, with an example of each.")
}

pub(super) fn inputs(calculator: &Calculator) -> Listing {
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

pub(super) fn print(name: &str, title: &str, bound: &Bound, as_json: bool) -> anyhow::Result<()> {
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
