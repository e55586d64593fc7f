use crate::askl::{EXCESS, RADEMACHER, RATE};
use crate::hyper;
use crate::mce::calculators as mce;
use crate::rftk::calculators as rftk;
use crate::{Bound, TheoryError, askl_rate, excess_risk_first_term, rademacher_from_trace};
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
    /// What is allowed.
    pub range: &'static str,
    /// Its value where none is given; without one the input must be given.
    pub default: Option<f64>,
    /// A value to try; those of one calculator's inputs are in range together.
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
    /// One line that says what is bounded.
    pub title: &'static str,
    /// Paper, theorem or equation.
    pub source: &'static str,
    /// What it takes.
    pub inputs: &'static [Input],
    /// The bound of inputs that are all there; call [`Calculator::bound`], which checks that.
    pub evaluate: fn(&BTreeMap<&str, f64>) -> Result<Bound, TheoryError>,
}

impl Calculator {
    /// The input of that name.
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

/// Names that may have been meant: one by a slip of the fingers (a quarter of its letters at most), else
/// the few that the word is a part of; nothing where none is near.
fn hint(name: &str, known: &[&str]) -> String {
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

/// Every bound of scalar inputs.
pub const CALCULATORS: &[Calculator] = &[
    Calculator {
        name: "askl-rademacher",
        title: "Rademacher complexity of spectral kernel machines with a nuclear norm bound",
        source: RADEMACHER,
        inputs: &[TRACE_NORM, OUTPUTS, ROWS, TRACE],
        evaluate: |inputs| {
            rademacher_from_trace(
                number(inputs, &TRACE_NORM)?,
                count(inputs, &OUTPUTS)?,
                count(inputs, &ROWS)?,
                number(inputs, &TRACE)?,
            )
        },
    },
    Calculator {
        name: "askl-rate",
        title: "Convergence rate of spectral kernel machines, without its constant",
        source: RATE,
        inputs: &[TRACE_NORM, OUTPUTS, ROWS],
        evaluate: |inputs| {
            let (k, n) = (count(inputs, &OUTPUTS)?, count(inputs, &ROWS)?);
            askl_rate(number(inputs, &TRACE_NORM)?, k, n)
        },
    },
    Calculator {
        name: "askl-excess-risk",
        title: "First term of the excess risk bound of spectral kernel machines",
        source: EXCESS,
        inputs: &[TRACE_NORM, OUTPUTS, ROWS, TRACE, LIPSCHITZ, LOSS_RANGE],
        evaluate: |inputs| {
            let rademacher = rademacher_from_trace(
                number(inputs, &TRACE_NORM)?,
                count(inputs, &OUTPUTS)?,
                count(inputs, &ROWS)?,
                number(inputs, &TRACE)?,
            )?;
            if !rademacher.value.is_finite() {
                let (calculator, quantity) = ("askl-excess-risk", "R̂(H)");
                return Err(TheoryError::Overflow { calculator, quantity });
            }
            let (l, m) = (number(inputs, &LIPSCHITZ)?, number(inputs, &LOSS_RANGE)?);
            excess_risk_first_term(l, rademacher.value, m)
        },
    },
    rftk::STEP_LIMIT,
    rftk::SGD_RATE,
    rftk::SGD_REGIME,
    rftk::VARIANCE_FACTOR,
    rftk::EXCESS_RISK,
    rftk::RIDGE_LIMIT,
    rftk::EXCESS_SPLIT,
    rftk::BIAS_RATE,
    rftk::EFFECTIVE_RANK,
    rftk::PENALTY_START,
    mce::COMPLEXITY,
    mce::MULTIPLIER,
    mce::RISK,
    mce::CLIPPED_RISK,
    mce::DEVIATION,
    mce::LOG_DISTANCE,
    mce::EMBEDDING_RATE,
    mce::BEST_RATE,
    hyper::SVR_INDEX,
    hyper::SVR_INDEX_CONSISTENT,
    hyper::KRR_INDEX,
    hyper::KRR_INDEX_CONSISTENT,
    hyper::KRR_OPERATIONS,
];

/// The calculator of that name.
///
/// ```
/// use mercer_theory::find_calculator;
/// assert_eq!(find_calculator("rftk-sgd-rate")?.inputs.len(), 3);
/// let refused = find_calculator("askl-rat").err().unwrap();
/// assert!(refused.to_string().starts_with("unknown bound `askl-rat`; did you mean `askl-rate`?"));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::UnknownCalculator`], with the names that exist.
pub fn find_calculator(name: &str) -> Result<&'static Calculator, TheoryError> {
    CALCULATORS.iter().find(|calculator| calculator.name == name).ok_or_else(|| {
        let known = CALCULATORS.iter().map(|calculator| calculator.name);
        let known = known.chain(crate::ARRAY_CALCULATORS.iter().map(|calculator| calculator.name));
        let known: Vec<_> = known.collect();
        let hint = hint(name, &known);
        TheoryError::UnknownCalculator { name: name.to_owned(), hint, known: known.join(", ") }
    })
}

const TRACE_NORM: Input = Input {
    name: "trace-norm",
    meaning: "B, the bound on the nuclear norm of the read-out W",
    range: "not negative",
    default: None,
    example: 20.0,
};
const OUTPUTS: Input = Input {
    name: "outputs",
    meaning: "K, the number of outputs",
    range: "a whole number from 1",
    default: None,
    example: 10.0,
};
pub(crate) const ROWS: Input = Input {
    name: "rows",
    meaning: "n, the number of training rows",
    range: "a whole number from 1",
    default: None,
    example: 10_000.0,
};
const TRACE: Input = Input {
    name: "trace",
    meaning: "the sum of k(x_i, x_i) over the training rows, at most n for spectral kernels",
    range: "not negative",
    default: None,
    example: 10_000.0,
};
const LIPSCHITZ: Input = Input {
    name: "lipschitz",
    meaning: "L of the loss in the 2-norm; the square root of 2 for hinge and cross-entropy",
    range: "positive",
    default: Some(std::f64::consts::SQRT_2),
    example: std::f64::consts::SQRT_2,
};
const LOSS_RANGE: Input = Input {
    name: "loss-range",
    meaning: "the width of the loss's range, or the loss at chance (1 for the hinge, ln K for cross-entropy), from which on the bound says nothing",
    range: "positive",
    default: Some(1.0),
    example: 1.0,
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
