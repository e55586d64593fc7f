use crate::{Bound, TheoryError};
use std::collections::BTreeMap;

/// A number that a [`Calculator`] takes.
///
/// ```
/// use mercer_theory::CALCULATORS;
/// for calculator in CALCULATORS {
///     let examples = calculator.inputs.iter().map(|input| (input.name, input.example)).collect();
///     assert!(calculator.bound(&examples).is_ok()); // they are in range together
/// }
/// let lipschitz = CALCULATORS.iter().flat_map(|known| known.inputs).find(|i| i.name == "lipschitz");
/// assert_eq!(lipschitz.unwrap().default, Some(2f64.sqrt()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Input {
    /// Name on the command line, kebab-case.
    pub name: &'static str,
    /// The formula's letter and what it means.
    pub meaning: &'static str,
    /// The allowed values.
    pub range: &'static str,
    /// Its value where none is given; without one the input must be given.
    pub default: Option<f64>,
    /// A value to try; the examples of one calculator's inputs are in range together.
    pub example: f64,
}

/// A bound of scalar inputs: what `mercer bound` lists and evaluates.
///
/// ```
/// use mercer_theory::find_calculator;
/// let rate = find_calculator("askl-rate")?;
/// let refused = rate.bound(&[("outputs", 2.0), ("rows", 4.0)].into()).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "`askl-rate` needs `trace-norm` (B, the bound on the nuclear norm of the read-out W)"
/// );
/// let given = [("trace-norm", 1.0), ("outputs", 2.0), ("rows", 4.0), ("width", 3.0)].into();
/// assert!(rate.bound(&given).unwrap_err().to_string().contains("has no input `width`"));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Calculator {
    /// Name on the command line, kebab-case, its paper's short name first.
    pub name: &'static str,
    /// One line that names the bounded quantity.
    pub title: &'static str,
    /// Paper, theorem or equation.
    pub source: &'static str,
    /// What it takes.
    pub inputs: &'static [Input],
    /// The bound of inputs that are all there; call [`Calculator::bound`], which checks that.
    pub evaluate: fn(&BTreeMap<&str, f64>) -> Result<Bound, TheoryError>,
}

impl Calculator {
    /// Returns the input of that name.
    ///
    /// ```
    /// use mercer_theory::find_calculator;
    /// let rate = find_calculator("askl-rate")?;
    /// assert_eq!(rate.input("rows")?.range, "a whole number from 1");
    /// let refused = rate.input("row").unwrap_err().to_string();
    /// assert!(refused.contains("has no input `row`; did you mean `rows`?"), "{refused}");
    /// # Ok::<(), mercer_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`TheoryError::UnknownInput`], with the names that exist.
    pub fn input(&self, name: &str) -> Result<&'static Input, TheoryError> {
        let known = || self.inputs.iter().map(|input| input.name);
        let found = self.inputs.iter().find(|input| input.name == name);
        found.ok_or_else(|| unknown(self.name, name, known()))
    }

    /// Fills in defaults, checks that every input is there and known, and evaluates.
    ///
    /// ```
    /// use mercer_theory::find_calculator;
    /// let rate = find_calculator("askl-rate")?;
    /// let bound = rate.bound(&[("trace-norm", 2.5), ("outputs", 2.0), ("rows", 4.0)].into())?;
    /// assert!((bound.value - 1.7677669529663689).abs() < 1e-12);
    /// # Ok::<(), mercer_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`TheoryError::UnknownInput`], [`TheoryError::Missing`], what the bound says of a value, or
    /// [`TheoryError::Overflow`]: a bound that is returned has finite terms and a finite value.
    pub fn bound(&self, given: &BTreeMap<&str, f64>) -> Result<Bound, TheoryError> {
        let calculator = self.name;
        for &name in given.keys() {
            self.input(name)?;
        }
        let mut complete = BTreeMap::new();
        for &Input { name, meaning, default, .. } in self.inputs {
            let value = given.get(name).copied().or(default);
            let missing = TheoryError::Missing { calculator, input: name, meaning };
            complete.insert(name, value.ok_or(missing)?);
        }
        let bound = (self.evaluate)(&complete)
            .map_err(|error| error.called(self.inputs.iter().map(|input| input.name)))?;
        finite(calculator, bound)
    }
}

/// The error of an input that a calculator does not take.
pub(crate) fn unknown(
    calculator: &'static str,
    input: &str,
    known: impl Iterator<Item = &'static str>,
) -> TheoryError {
    let known: Vec<&str> = known.collect();
    let hint = hint(input, &known);
    TheoryError::UnknownInput { calculator, input: input.to_owned(), hint, known: known.join(", ") }
}

/// Names that may have been meant. One may be wrong by a slip of the fingers (a quarter of its letters at most). Else
/// the few that the word is a part of are taken; nothing where none is near.
pub(crate) fn hint(name: &str, known: &[&str]) -> String {
    let slips = |known: &&str| (strsim::damerau_levenshtein(known, name), (*known).to_owned());
    let near = known.iter().map(slips).min();
    let letters = name.chars().count();
    let near = near.filter(|(count, _)| *count <= (letters / 4).max(1) && *count < letters);
    let parts = || known.iter().filter(|known| letters > 2 && known.contains(name));
    let meant: Vec<String> = match near {
        Some((_, near)) => vec![near],
        None => parts().map(|&part| part.to_owned()).collect(),
    };
    match meant.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

/// The bound, unless its value or a term of it is beyond all numbers.
pub(crate) fn finite(calculator: &'static str, bound: Bound) -> Result<Bound, TheoryError> {
    let quantities = bound.terms.iter().copied().chain([("the value", bound.value)]);
    match quantities.into_iter().find(|(_, quantity)| !quantity.is_finite()) {
        Some((quantity, _)) => Err(TheoryError::Overflow { calculator, quantity }),
        None => Ok(bound),
    }
}

pub(crate) const ROWS: Input = Input {
    name: "rows",
    meaning: "n, the number of training rows",
    range: "a whole number from 1",
    default: None,
    example: 10_000.0,
};

/// The value of an input; [`Calculator::evaluate`] may have been called without it.
pub(crate) fn number(inputs: &BTreeMap<&str, f64>, input: &Input) -> Result<f64, TheoryError> {
    inputs.get(input.name).copied().or(input.default).ok_or(TheoryError::Missing {
        calculator: "the calculator",
        input: input.name,
        meaning: input.meaning,
    })
}

/// A whole number from 1 that f64 represents exactly.
pub(crate) fn count(inputs: &BTreeMap<&str, f64>, input: &Input) -> Result<usize, TheoryError> {
    let value = number(inputs, input)?;
    if value >= 1.0 && value <= 2f64.powi(53) && value.fract() == 0.0 {
        return Ok(value as usize);
    }
    Err(TheoryError::Range { argument: input.name, value, must: input.range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_hinted_at_only_within_a_quarter_of_its_letters() {
        let known = ["scale", "trace-norm", "rows"];
        assert_eq!(hint("scael", &known), "; did you mean `scale`?");
        assert_eq!(hint("trace", &known), "; did you mean `trace-norm`?");
        // Three slips in eight letters, and a word of one letter: neither is near.
        assert_eq!(hint("scalexyz", &known), "");
        assert_eq!(hint("q", &known), "");
    }
}
