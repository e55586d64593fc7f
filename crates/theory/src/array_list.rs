//! The bounds of lists and tables.

use crate::arrays::{ArrayCalculator, ArrayInput, GRAM, OUTPUTS, count, list, number, table};
use crate::mce::arrays as mce;
use crate::rftk::arrays as rftk;
use crate::{Bound, enumerate_rademacher, rademacher_from_features, rademacher_from_frequencies};

/// Every bound that takes a list or a table.
pub const ARRAY_CALCULATORS: &[ArrayCalculator] = &[
    ArrayCalculator {
        name: "askl-rademacher-features",
        title: "Rademacher complexity of spectral kernel machines from the norms of features",
        source: crate::askl::RADEMACHER,
        inputs: &[TRACE_NORM, OUTPUTS, NORMS],
        evaluate: |inputs| {
            rademacher_from_features(
                number(inputs, &TRACE_NORM)?,
                count(inputs, &OUTPUTS)?,
                &list(inputs, &NORMS)?,
            )
        },
    },
    ArrayCalculator {
        name: "askl-rademacher-frequencies",
        title: "Rademacher complexity of spectral kernel machines from frequencies and points",
        source: crate::askl::RADEMACHER,
        inputs: &[TRACE_NORM, OUTPUTS, FREQUENCIES, FREQUENCIES_PRIME, POINTS],
        evaluate: |inputs| {
            rademacher_from_frequencies(
                number(inputs, &TRACE_NORM)?,
                count(inputs, &OUTPUTS)?,
                table(inputs, &FREQUENCIES)?,
                table(inputs, &FREQUENCIES_PRIME)?,
                table(inputs, &POINTS)?,
            )
        },
    },
    ArrayCalculator {
        name: "askl-rademacher-exact",
        title: "Rademacher complexity of spectral kernel machines by every pattern of signs",
        source: crate::askl::EXACT,
        inputs: &[TRACE_NORM, FEW_OUTPUTS, GRAM],
        evaluate: |inputs| {
            let (b, k) = (number(inputs, &TRACE_NORM)?, count(inputs, &FEW_OUTPUTS)?);
            let averages = enumerate_rademacher(b, k, table(inputs, &GRAM)?)?;
            Ok(Bound {
                value: averages.spectral,
                terms: vec![("by the Frobenius norm", averages.frobenius)],
                vacuous: None,
                source: crate::askl::EXACT,
            })
        },
    },
    rftk::EFFECTIVE_RIDGE,
    rftk::EFFECTIVE_RIDGE_BESIDE,
    rftk::RANK_OF_GRAM,
    rftk::RANK_OF_FEATURES,
    rftk::RIDGELESS_VARIANCE,
    mce::BALL_COMPLEXITY,
    mce::ENTROPY_FACTOR,
];

const TRACE_NORM: ArrayInput = ArrayInput {
    name: "trace-norm",
    meaning: "B, the bound on the nuclear norm of the read-out W",
    range: "a number, not negative",
    example: &[&[20.0]],
};
const FEW_OUTPUTS: ArrayInput = ArrayInput {
    range: "a whole number from 1; times the points at most 20",
    example: &[&[2.0]],
    ..OUTPUTS
};
const NORMS: ArrayInput = ArrayInput {
    name: "feature-norms-squared",
    meaning: "the squared norms of the features, one a point",
    range: "a list, none negative",
    example: &[&[0.5], &[0.4], &[0.6]],
};
const FREQUENCIES: ArrayInput = ArrayInput {
    name: "frequencies",
    meaning: "the frequencies of the first map, one a column, in 1/input unit",
    range: "a table of d rows and D columns",
    example: &[&[0.5, -0.2], &[0.1, 0.3]],
};
const FREQUENCIES_PRIME: ArrayInput = ArrayInput {
    name: "frequencies-prime",
    meaning: "those of the second map",
    range: "a table of d rows and D columns",
    example: &[&[0.4, -0.1], &[0.2, 0.2]],
};
const POINTS: ArrayInput = ArrayInput {
    name: "points",
    meaning: "the points, one a row",
    range: "a table of n rows and d columns",
    example: &[&[1.0, 2.0], &[0.0, -1.0], &[2.0, 0.5]],
};
