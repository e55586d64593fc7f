//! What of this folder takes arrays, under the names of `mercer bound`.

use super::{complexity, rates};
use crate::arrays::{ArrayCalculator, ArrayInput, GRAM, list, number, table};
use crate::{ball_complexity, entropy_factor};

pub(crate) const BALL_COMPLEXITY: ArrayCalculator = ArrayCalculator {
    name: "mce-ball-complexity",
    title: "Rademacher complexity of a ball of functions on at most 20 points, exactly",
    source: complexity::BALL,
    inputs: &[GRAM, NORM],
    evaluate: |inputs| ball_complexity(table(inputs, &GRAM)?, number(inputs, &NORM)?),
};

pub(crate) const ENTROPY_FACTOR: ArrayCalculator = ArrayCalculator {
    name: "mce-entropy-factor",
    title: "By which factor the error of an entropy exceeds that of the probabilities",
    source: rates::ENTROPY,
    inputs: &[TRUTH, ESTIMATE],
    evaluate: |inputs| entropy_factor(&list(inputs, &TRUTH)?, &list(inputs, &ESTIMATE)?),
};

const NORM: ArrayInput = ArrayInput {
    name: "norm",
    meaning: "the bound on the functions' norm",
    range: "a number, not negative",
    example: &[&[3.0]],
};
const TRUTH: ArrayInput = ArrayInput {
    name: "truth",
    meaning: "the true probabilities of the classes",
    range: "a list, all positive, of sum 1",
    example: &[&[0.7], &[0.3]],
};
const ESTIMATE: ArrayInput = ArrayInput {
    name: "estimate",
    meaning: "the estimated ones: decision probabilities, whose sum need not be 1",
    range: "a list, all positive",
    example: &[&[0.6], &[0.4]],
};
