//! What of this folder takes scalars, under the names of `mercer bound`.

use super::{ridge, risk, scale, sgd, variance};
use crate::calculators::{Calculator, Input, ROWS, count, number};
use crate::{
    Bound, SgdRegime, TheoryError, bias_rate, effective_rank, effective_ridge_limit,
    penalty_at_start, ridgeless_excess_risk, ridgeless_variance_factor, sgd_error_rate, sgd_regime,
    sgd_step_limit, split_excess_risk,
};

pub(crate) const STEP_LIMIT: Calculator = Calculator {
    name: "rftk-step-limit",
    title: "Largest learning rate that the theorem on stochastic gradients allows",
    source: sgd::CONDITIONS,
    inputs: &[ROWS, ITERATIONS, DELTA],
    evaluate: |inputs| {
        let (n, t) = (count(inputs, &ROWS)?, count(inputs, &ITERATIONS)?);
        sgd_step_limit(n, t, number(inputs, &DELTA)?)
    },
};

pub(crate) const SGD_RATE: Calculator = Calculator {
    name: "rftk-sgd-rate",
    title: "Squared distance of RF-SGD to ridgeless random features, without its constant",
    source: sgd::RATE,
    inputs: &[BATCH, STEP, ITERATIONS],
    evaluate: |inputs| {
        let (b, t) = (count(inputs, &BATCH)?, count(inputs, &ITERATIONS)?);
        sgd_error_rate(b, number(inputs, &STEP)?, t)
    },
};

pub(crate) const SGD_REGIME: Calculator = Calculator {
    name: "rftk-sgd-regime",
    title: "Batch, learning rate, iterations and cost of a case of Corollary 1, and its error",
    source: sgd::REGIMES,
    inputs: &[CASE, ROWS, FEATURES, DELTA],
    evaluate: |inputs| {
        let case = count(inputs, &CASE)?;
        let regime = SgdRegime::ALL.get(case - 1).copied().ok_or(TheoryError::Range {
            argument: CASE.name,
            value: case as f64,
            must: CASE.range,
        })?;
        let (n, m) = (count(inputs, &ROWS)?, count(inputs, &FEATURES)?);
        let setting = sgd_regime(regime, n, m, number(inputs, &DELTA)?)?;
        let mut terms = vec![("b", setting.batch), ("γ", setting.step), ("T", setting.iterations)];
        terms.extend_from_slice(&setting.error.terms);
        // Why the theorem is silent, where it is: γ above its limit, or too few rows.
        let limit = &setting.step_limit;
        let needed = limit.term("32·ln²(2/δ)").unwrap_or(f64::NAN);
        terms.extend([
            ("b·T·M", setting.cost),
            ("limit of γ", limit.value),
            ("γ over its limit, covered up to 1", setting.step / limit.value),
            ("n over what it needs, covered from 1", n as f64 / needed),
        ]);
        let vacuous = Some(!setting.covered());
        Ok(Bound { value: setting.error.value, terms, vacuous, source: sgd::REGIMES })
    },
};

pub(crate) const VARIANCE_FACTOR: Calculator = Calculator {
    name: "rftk-variance-factor",
    title: "Factor of the variance of ridgeless random features, infinite where M = n",
    source: variance::FACTOR,
    inputs: &[ROWS, FEATURES],
    evaluate: |inputs| ridgeless_variance_factor(count(inputs, &ROWS)?, count(inputs, &FEATURES)?),
};

pub(crate) const EXCESS_RISK: Calculator = Calculator {
    name: "rftk-features-risk",
    title: "Risk of ridgeless regression with Gaussian features beyond the kernel predictor's",
    source: variance::EXCESS,
    inputs: &[POSTERIOR_VARIANCE, NORM_SQUARED, ROWS, FEATURES],
    evaluate: |inputs| {
        ridgeless_excess_risk(
            number(inputs, &POSTERIOR_VARIANCE)?,
            number(inputs, &NORM_SQUARED)?,
            count(inputs, &ROWS)?,
            count(inputs, &FEATURES)?,
        )
    },
};

pub(crate) const RIDGE_LIMIT: Calculator = Calculator {
    name: "rftk-ridge-limit",
    title: "Largest ridge that M random features can amount to",
    source: ridge::LIMIT,
    inputs: &[KERNEL_TRACE, ROWS, FEATURES],
    evaluate: |inputs| {
        let (n, m) = (count(inputs, &ROWS)?, count(inputs, &FEATURES)?);
        effective_ridge_limit(number(inputs, &KERNEL_TRACE)?, n, m)
    },
};

pub(crate) const EXCESS_SPLIT: Calculator = Calculator {
    name: "rftk-excess-risk",
    title: "Excess risk of RF-SGD from its three parts",
    source: risk::SPLIT,
    inputs: &[SGD_DISTANCE, FEATURES_DISTANCE, BIAS, VARIANCE],
    evaluate: |inputs| {
        split_excess_risk(
            number(inputs, &SGD_DISTANCE)?,
            number(inputs, &FEATURES_DISTANCE)?,
            number(inputs, &BIAS)?,
            number(inputs, &VARIANCE)?,
        )
    },
};

pub(crate) const BIAS_RATE: Calculator = Calculator {
    name: "rftk-bias",
    title: "Bias of the kernel predictor from its norm and the trace, without its constant",
    source: risk::BIAS,
    inputs: &[NORM, ANY_TRACE, ROWS],
    evaluate: |inputs| {
        let (norm, trace) = (number(inputs, &NORM)?, number(inputs, &ANY_TRACE)?);
        bias_rate(norm, trace, count(inputs, &ROWS)?)
    },
};

pub(crate) const EFFECTIVE_RANK: Calculator = Calculator {
    name: "rftk-effective-rank",
    title: "Number of eigenvalues of the kernel matrix that count; free of its scale",
    source: scale::RANK,
    inputs: &[KERNEL_TRACE, FROBENIUS],
    evaluate: |inputs| effective_rank(number(inputs, &KERNEL_TRACE)?, number(inputs, &FROBENIUS)?),
};

pub(crate) const PENALTY_START: Calculator = Calculator {
    name: "rftk-penalty-start",
    title: "Where the recorded trace term starts for random Fourier features",
    source: scale::START,
    inputs: &[WEIGHT, ROWS, RECORDED_SHARE],
    evaluate: |inputs| {
        let (beta, share) = (number(inputs, &WEIGHT)?, number(inputs, &RECORDED_SHARE)?);
        penalty_at_start(beta, count(inputs, &ROWS)?, share)
    },
};

/// An input without a default.
const fn input(
    name: &'static str,
    meaning: &'static str,
    range: &'static str,
    example: f64,
) -> Input {
    Input { name, meaning, range, default: None, example }
}

const WHOLE: &str = "a whole number from 1";
const NOT_NEGATIVE: &str = "not negative";
const POSITIVE: &str = "positive";

const ITERATIONS: Input = input("iterations", "T, the number of steps", WHOLE, 100.0);
const FEATURES: Input =
    input("features", "M, the number of random features; not near n", WHOLE, 20_000.0);
const BATCH: Input = input("batch", "b, the rows of a batch", WHOLE, 32.0);
const STEP: Input = input("step", "γ, the learning rate", POSITIVE, 0.01);
const CASE: Input = input(
    "case",
    "the case of Corollary 1: 1 a row a step, 2 mini-batches, 3 all rows a step",
    "1, 2 or 3",
    1.0,
);
const DELTA: Input = Input {
    name: "delta",
    meaning: "δ, the probability that the theorem fails",
    range: "above 0 and below 1",
    default: Some(0.05),
    example: 0.05,
};
const POSTERIOR_VARIANCE: Input = Input {
    name: "posterior-variance",
    meaning: "the mean of K(x,x) − k_x K⁻¹ k_xᵀ over test points; at most the largest K(x,x)",
    range: NOT_NEGATIVE,
    default: Some(1.0),
    example: 1.0,
};
const NORM_SQUARED: Input = input(
    "norm-squared",
    "yᵀK⁻¹y, the squared norm of the ridgeless predictor",
    NOT_NEGATIVE,
    50.0,
);
const NORM: Input =
    input("norm", "the norm of the function in the kernel's space", NOT_NEGATIVE, 7.0);
const KERNEL_TRACE: Input = input("trace", "tr(K), n for a Gaussian kernel", POSITIVE, 10_000.0);
const ANY_TRACE: Input = input("trace", "tr(K), n for a Gaussian kernel", NOT_NEGATIVE, 10_000.0);
const FROBENIUS: Input = input(
    "frobenius",
    "‖K‖_F, the root of the sum of the squared entries",
    "positive and at most the trace",
    500.0,
);
const SGD_DISTANCE: Input =
    input("sgd-distance", "L2 distance of RF-SGD to ridgeless random features", NOT_NEGATIVE, 0.1);
const FEATURES_DISTANCE: Input = input(
    "features-distance",
    "L2 distance of ridgeless random features to the kernel predictor",
    NOT_NEGATIVE,
    0.2,
);
const BIAS: Input = input("bias", "B of the kernel predictor, squared units", NOT_NEGATIVE, 0.05);
const VARIANCE: Input =
    input("variance", "V of the kernel predictor, squared units", NOT_NEGATIVE, 0.04);
const WEIGHT: Input =
    input("weight", "β, the weight of the trace term; 100 for MNIST", NOT_NEGATIVE, 100.0);
const RECORDED_SHARE: Input = Input {
    name: "recorded-share",
    meaning: "the share of the batches that carry the term",
    range: "above 0 and at most 1",
    default: Some(0.1),
    example: 0.1,
};
