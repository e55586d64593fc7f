"""Tests for comparing methods over splits and data sets, on plain lists or arrays.

Differences are one a split, first method minus second. All p values come from the same Rust code as the tables.
"""

from typing import NamedTuple

import numpy as np

from ._mercer import (
    bayesian_correlated_t as _bayesian_correlated_t,
    bootstrap_interval as _bootstrap_interval,
    corrected_t as _corrected_t,
    friedman as _friedman,
    hierarchical_t as _hierarchical_t,
    holm as _holm,
    paired_t as _paired_t,
    stouffer as _stouffer,
    wilcoxon as _wilcoxon,
)

__all__ = [
    "bayesian_correlated_t",
    "bootstrap_interval",
    "corrected_t",
    "friedman",
    "hierarchical_t",
    "holm",
    "paired_t",
    "stouffer",
    "wilcoxon",
]


class TTest(NamedTuple):
    """A t-test of a mean difference."""

    mean: float
    standard_error: float
    degrees_of_freedom: float
    statistic: float
    p_two_sided: float
    p_greater: float
    degenerate: bool


class Posterior(NamedTuple):
    """Probabilities that the mean difference is below -rope, within it, above it."""

    worse: float
    equal: float
    better: float


class Stouffer(NamedTuple):
    """Combined evidence of several data sets."""

    z: float
    p_two_sided: float


class Wilcoxon(NamedTuple):
    """Wilcoxon's signed-rank test."""

    positive_ranks: float
    negative_ranks: float
    zeros: int
    p_two_sided: float
    p_greater: float
    exact: bool


class Friedman(NamedTuple):
    """Friedman's test with Nemenyi's critical difference; ``groups`` are methods that it does not separate."""

    average_ranks: list
    chi_squared: float
    p_chi_squared: float
    iman_davenport: float
    p_iman_davenport: float
    critical_difference: float
    groups: list


def _numbers(values):
    return np.asarray(values, dtype=float).ravel().tolist()


def paired_t(differences):
    """Ordinary paired t-test: for independent pairs, and for the folds of one cross-validation.

    >>> round(paired_t([1.0, 2.0, 0.5, 1.5]).p_two_sided, 4)
    0.0305
    """
    return TTest(*_paired_t(_numbers(differences)))


def corrected_t(differences, test_over_train):
    """Paired t-test for random splits of one data set, with Nadeau and Bengio's variance.

    ``variance = s² (1/J + test_over_train)``: the splits share training rows, so that their scores move together.

    Parameters
    ----------
    differences : array of shape (J,)
        Score of the first method minus that of the second, one a split.
    test_over_train : float
        Test rows over training rows of a split: 0.25 for 80/20.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52.

    >>> round(corrected_t([1.0, 2.0, 0.5, 1.5], 0.25).p_two_sided, 4)
    0.0867
    """
    return TTest(*_corrected_t(_numbers(differences), test_over_train))


def bayesian_correlated_t(differences, correlation, rope):
    """Posterior of the mean difference over splits whose scores correlate (Corani, Benavoli 2015).

    ``correlation`` is the share of test rows in a split: 0.2 for 80/20, 1/k for k folds.

    >>> posterior = bayesian_correlated_t([0.01, 0.02, 0.005, 0.015], 0.2, 0.01)
    >>> posterior.better > posterior.worse
    True
    """
    return Posterior(*_bayesian_correlated_t(_numbers(differences), correlation, rope))


def hierarchical_t(gains, rope):
    """Posterior of the mean gain over data sets, from (mean, standard error) of each (Corani, Benavoli 2017).

    >>> hierarchical_t([(2.0, 0.5), (1.5, 0.5), (2.5, 0.6)], 1.0).better > 0.5
    True
    """
    return Posterior(*_hierarchical_t([tuple(map(float, own)) for own in gains], rope))


def holm(p_values):
    """Holm's adjusted p values, in the order given.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    return np.array(_holm(_numbers(p_values)))


def stouffer(p_greater):
    """Stouffer's combination of one-sided p values, one a data set.

    >>> round(stouffer([0.05, 0.05, 0.05]).z, 3)
    2.849
    """
    return Stouffer(*_stouffer(_numbers(p_greater)))


def wilcoxon(differences):
    """Wilcoxon's signed-rank test, exact where ties allow it.

    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0]).p_two_sided
    0.0625
    """
    return Wilcoxon(*_wilcoxon(_numbers(differences)))


def friedman(scores, larger_is_better=True, alpha=0.05):
    """Friedman's test of scores of shape (data sets, methods).

    >>> friedman([[3, 2, 1], [3, 1, 2], [3, 2, 1], [3, 2, 1]]).average_ranks
    [1.0, 2.25, 2.75]
    """
    rows = np.asarray(scores, dtype=float).tolist()
    return Friedman(*_friedman(rows, larger_is_better, alpha))


def bootstrap_interval(values, level=0.95, resamples=2000, seed=1):
    """Interval of the mean of the rows (bias-corrected and accelerated); None where they do not vary.

    >>> low, high = bootstrap_interval([0, 1, 1, 0, 1, 1, 1, 0, 1, 1] * 10)
    >>> low < 0.7 < high
    True
    """
    return _bootstrap_interval(_numbers(values), resamples, level, seed)
