//! The bounds of scalar inputs.

use crate::array_list::ARRAY_CALCULATORS;
use crate::askl::{EXCESS, RADEMACHER, RATE};
use crate::calculators::{Calculator, Input, ROWS, count, hint, number};
use crate::hyper;
use crate::mce::calculators as mce;
use crate::rftk::calculators as rftk;
use crate::{TheoryError, askl_rate, excess_risk_first_term, rademacher_from_trace};

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

/// Returns the calculator of that name.
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
/// [`TheoryError::UnknownCalculator`], with near names.
pub fn find_calculator(name: &str) -> Result<&'static Calculator, TheoryError> {
    CALCULATORS.iter().find(|calculator| calculator.name == name).ok_or_else(|| {
        let known = CALCULATORS.iter().map(|calculator| calculator.name);
        let known = known.chain(ARRAY_CALCULATORS.iter().map(|calculator| calculator.name));
        let known: Vec<_> = known.collect();
        let hint = hint(name, &known);
        TheoryError::UnknownCalculator { name: name.to_owned(), hint }
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
