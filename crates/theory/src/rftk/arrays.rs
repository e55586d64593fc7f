//! What of this folder takes arrays, under the names of `mercer bound`.

use super::{ridge, scale, variance};
use crate::arrays::{ArrayCalculator, ArrayInput, GRAM, count, list, number, table};
use crate::{
    Bound, RidgeCondition, TraceScale, effective_ridge, effective_ridge_beside, ridgeless_limit,
    trace_scale_from_features, trace_scale_from_gram,
};
use ndarray::Array1;

pub(crate) const EFFECTIVE_RIDGE: ArrayCalculator = ArrayCalculator {
    name: "rftk-effective-ridge",
    title: "The ridge that ridgeless random features amount to, from the kernel's eigenvalues",
    source: ridge::EFFECTIVE,
    inputs: &[EIGENVALUES, FEATURES],
    evaluate: |inputs| {
        let eigenvalues = list(inputs, &EIGENVALUES)?;
        let features = count(inputs, &FEATURES)?;
        let found = effective_ridge(&eigenvalues, features, RidgeCondition::Features)?;
        let misprinted = effective_ridge(&eigenvalues, features, RidgeCondition::Misprinted)?;
        Ok(Bound {
            value: found.lambda,
            terms: vec![
                ("λn", found.shift),
                ("Tr[K(K + λnI)⁻¹]", found.trace),
                ("rank of K", found.rank as f64),
                ("λ as misprinted, trace M/n", misprinted.lambda),
            ],
            vacuous: None,
            source: ridge::EFFECTIVE,
        })
    },
};

pub(crate) const EFFECTIVE_RIDGE_BESIDE: ArrayCalculator = ArrayCalculator {
    name: "rftk-effective-ridge-beside",
    title: "The ridge that random features with a ridge of their own amount to, from the kernel's eigenvalues",
    source: ridge::BESIDE,
    inputs: &[EIGENVALUES, FEATURES, OWN_RIDGE],
    evaluate: |inputs| {
        let eigenvalues = list(inputs, &EIGENVALUES)?;
        let own = number(inputs, &OWN_RIDGE)?;
        let found = effective_ridge_beside(&eigenvalues, count(inputs, &FEATURES)?, own)?;
        Ok(Bound {
            value: found.lambda,
            terms: vec![
                ("λ", own),
                ("t", found.shift),
                ("Tr[K(K + tI)⁻¹]", found.trace),
                ("rank of K", found.rank as f64),
            ],
            vacuous: None,
            source: ridge::BESIDE,
        })
    },
};

pub(crate) const RANK_OF_GRAM: ArrayCalculator = ArrayCalculator {
    name: "rftk-effective-rank-gram",
    title: "Effective rank of a kernel matrix, beside the trace that RFTK penalises",
    source: scale::RANK,
    inputs: &[GRAM],
    evaluate: |inputs| Ok(rank(trace_scale_from_gram(table(inputs, &GRAM)?)?)),
};

pub(crate) const RANK_OF_FEATURES: ArrayCalculator = ArrayCalculator {
    name: "rftk-effective-rank-features",
    title: "Effective rank of the kernel matrix of features, beside the trace that RFTK penalises",
    source: scale::RANK,
    inputs: &[FEATURE_ROWS],
    evaluate: |inputs| Ok(rank(trace_scale_from_features(table(inputs, &FEATURE_ROWS)?)?)),
};

fn rank(found: TraceScale) -> Bound {
    Bound {
        value: found.effective_rank,
        terms: vec![("tr(K)", found.trace), ("‖K‖_F", found.frobenius)],
        vacuous: None,
        source: scale::RANK,
    }
}

pub(crate) const RIDGELESS_VARIANCE: ArrayCalculator = ArrayCalculator {
    name: "rftk-ridgeless-variance",
    title: "Mean variance of ridgeless regression with Gaussian features at test points, exactly",
    source: variance::EXCESS,
    inputs: &[GRAM, CROSS, SELF_KERNELS, TARGETS, FEATURES_BEYOND],
    evaluate: |inputs| {
        let list = |input| list(inputs, input).map(Array1::from);
        let (own, targets) = (list(&SELF_KERNELS)?, list(&TARGETS)?);
        let (gram, cross) = (table(inputs, &GRAM)?, table(inputs, &CROSS)?);
        let limit = ridgeless_limit(gram, cross, own.view(), targets.view())?;
        limit.excess_risk(count(inputs, &FEATURES_BEYOND)?)
    },
};

const FEATURE_ROWS: ArrayInput = ArrayInput {
    name: "features",
    meaning: "φ(X), one point a row",
    range: "a table of n rows and M columns",
    example: &[&[1.0, 0.0], &[0.0, 1.0], &[0.0, 2.0]],
};
const CROSS: ArrayInput = ArrayInput {
    name: "cross",
    meaning: "k_x, the kernel of test points (rows) with training points (columns)",
    range: "a table of m rows and n columns",
    example: &[&[0.6, 0.3]],
};
const SELF_KERNELS: ArrayInput = ArrayInput {
    name: "self-kernels",
    meaning: "K(x, x) of the test points",
    range: "a list of m, none below what the training points explain",
    example: &[&[1.0]],
};
const TARGETS: ArrayInput = ArrayInput {
    name: "targets",
    meaning: "y of the training points",
    range: "a list of n",
    example: &[&[2.0], &[1.0]],
};
const FEATURES_BEYOND: ArrayInput = ArrayInput {
    name: "features",
    meaning: "M, the number of random features",
    range: "a whole number from n + 2",
    example: &[&[10.0]],
};
const EIGENVALUES: ArrayInput = ArrayInput {
    name: "eigenvalues",
    meaning: "those of the kernel matrix K",
    range: "a list, none negative",
    example: &[&[1.0], &[0.5], &[0.25], &[0.125]],
};
const OWN_RIDGE: ArrayInput = ArrayInput {
    name: "lambda",
    meaning: "λ, the ridge of the features, in (ΦᵀΦ + λnI)",
    range: "a number, not negative",
    example: &[&[0.01]],
};
const FEATURES: ArrayInput = ArrayInput {
    name: "features",
    meaning: "M, the number of random features",
    range: "a whole number from 1",
    example: &[&[2.0]],
};
