//! What of this folder takes scalars, under the names of `mercer bound`.

use super::{complexity, rates, risk};
use crate::calculators::{Calculator, Input, ROWS, count, number};
use crate::{
    best_embedding_rate, clipped_risk, deviation_term, embedding_complexity, embedding_rate,
    embedding_risk, log_distance_bound, loss_multiplier,
};

pub(crate) const COMPLEXITY: Calculator = Calculator {
    name: "mce-rademacher",
    title: "Rademacher complexity of conditional mean embeddings with a bounded norm",
    source: complexity::COMPLEXITY,
    inputs: &[SENSITIVITY, NORM, ROWS],
    evaluate: |inputs| {
        let (alpha, rho) = (number(inputs, &SENSITIVITY)?, number(inputs, &NORM)?);
        embedding_complexity(alpha, rho, count(inputs, &ROWS)?)
    },
};

pub(crate) const MULTIPLIER: Calculator = Calculator {
    name: "mce-multiplier",
    title: "What multiplies the complexity in the risk bound of embeddings",
    source: complexity::MULTIPLIER,
    inputs: &[EPSILON],
    evaluate: |inputs| loss_multiplier(number(inputs, &EPSILON)?),
};

pub(crate) const RISK: Calculator = Calculator {
    name: "mce-risk",
    title: "Expected cross-entropy, clipped at 1/e, of a conditional mean embedding",
    source: risk::RISK,
    inputs: &[LOSS, COMPLEXITY_OF_POINT, ROWS, BETA],
    evaluate: |inputs| {
        let (loss, r) = (number(inputs, &LOSS)?, number(inputs, &COMPLEXITY_OF_POINT)?);
        embedding_risk(loss, r, count(inputs, &ROWS)?, number(inputs, &BETA)?)
    },
};

pub(crate) const CLIPPED_RISK: Calculator = Calculator {
    name: "mce-clipped-risk",
    title: "Expected cross-entropy, clipped at epsilon and divided by its largest value, of an embedding",
    source: risk::CLIPPED,
    inputs: &[LOSS, COMPLEXITY_OF_POINT, EPSILON, ROWS, BETA],
    evaluate: |inputs| {
        let (loss, r) = (number(inputs, &LOSS)?, number(inputs, &COMPLEXITY_OF_POINT)?);
        let (epsilon, beta) = (number(inputs, &EPSILON)?, number(inputs, &BETA)?);
        clipped_risk(loss, r, epsilon, count(inputs, &ROWS)?, beta)
    },
};

pub(crate) const LOG_DISTANCE: Calculator = Calculator {
    name: "mce-log-distance",
    title: "By how much logarithms of two probabilities differ at most, and what is printed for it",
    source: rates::ENTROPY,
    inputs: &[FIRST, SECOND],
    evaluate: |inputs| log_distance_bound(number(inputs, &FIRST)?, number(inputs, &SECOND)?),
};

const FIRST: Input = Input {
    name: "first",
    meaning: "a, one of the probabilities",
    range: "positive",
    default: None,
    example: 0.1,
};
const SECOND: Input = Input {
    name: "second",
    meaning: "b, the other",
    range: "positive",
    default: None,
    example: 0.5,
};

pub(crate) const DEVIATION: Calculator = Calculator {
    name: "mce-deviation",
    title: "The term of the risk bound of embeddings that only more rows make smaller",
    source: risk::DEVIATION,
    inputs: &[ROWS, BETA],
    evaluate: |inputs| deviation_term(count(inputs, &ROWS)?, number(inputs, &BETA)?),
};

pub(crate) const EMBEDDING_RATE: Calculator = Calculator {
    name: "mce-rate",
    title: "Rate at which an embedding approaches the truth, without its constant",
    source: rates::RATE,
    inputs: &[ROWS, LAMBDA],
    evaluate: |inputs| embedding_rate(count(inputs, &ROWS)?, number(inputs, &LAMBDA)?),
};

pub(crate) const BEST_RATE: Calculator = Calculator {
    name: "mce-best-rate",
    title: "The best of these rates over the ridge, and that ridge",
    source: rates::RATE,
    inputs: &[ROWS],
    evaluate: |inputs| best_embedding_rate(count(inputs, &ROWS)?),
};

const SENSITIVITY: Input = Input {
    name: "sensitivity",
    meaning: "alpha, the largest root of k(x, x); the scale of a stationary kernel",
    range: "not negative",
    default: Some(1.0),
    example: 1.0,
};
const NORM: Input = Input {
    name: "norm",
    meaning: "rho, the bound on the Hilbert-Schmidt norm of W",
    range: "not negative",
    default: None,
    example: 2.6,
};
const LOSS: Input = Input {
    name: "loss",
    meaning: "the mean clipped cross-entropy of the training rows",
    range: "not negative",
    default: None,
    example: 0.3,
};
const COMPLEXITY_OF_POINT: Input = Input {
    name: "complexity",
    meaning: "r, alpha times the norm of W",
    range: "not negative",
    default: None,
    example: 1.3,
};
const EPSILON: Input = Input {
    name: "epsilon",
    meaning: "the probability below which the loss is clipped",
    range: "above 0 and below 1",
    default: None,
    example: 0.1,
};
const BETA: Input = Input {
    name: "beta",
    meaning: "the probability that the bound fails",
    range: "above 0 and below 1",
    default: Some(0.05),
    example: 0.05,
};
const LAMBDA: Input = Input {
    name: "lambda",
    meaning: "the ridge of (K + n lambda I)^-1",
    range: "positive",
    default: None,
    example: 0.01,
};
