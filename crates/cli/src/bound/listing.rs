//! What `mercer bound` prints: the calculators, the inputs of one, and a bound.

use crate::columns::Listing;
use crate::columns::{print_entries, print_words};
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

/// The largest number up to which all whole ones are numbers of double precision.
const WHOLE: f64 = 9_007_199_254_740_992.0; // 2^53

/// A number to twelve places, without the noise of the last bits; `--json` has them all. Whole numbers have all
/// their digits, or, where double precision has not, a power of ten.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() <= WHOLE {
        return format!("{value}");
    }
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    if rounded.is_finite() && rounded.abs() > WHOLE {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_all_their_digits_and_others_twelve() {
        let cases = [
            (108f64.powi(6), "1586874322944"),
            (49_990f64.powi(6), "1.56062593725e28"),
            (0.1 + 0.2, "0.3"),
            (-0.25, "-0.25"),
            (2.0, "2"),
            (f64::INFINITY, "inf"),
        ];
        for (value, shown) in cases {
            assert_eq!(plain(value), shown);
        }
    }
}
