"""The tests against SciPy and printed values."""

import numpy as np
import pytest
import scipy.stats
from mercer import stats

RANDOM = np.random.default_rng(1)


@pytest.mark.parametrize("count", [2, 5, 10, 30])
def test_paired_t_is_scipys(count):
    first, second = RANDOM.normal(size=count), RANDOM.normal(size=count)
    ours, theirs = stats.paired_t(first - second), scipy.stats.ttest_rel(first, second)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-10)
    assert ours.p_two_sided == pytest.approx(theirs.pvalue, rel=1e-10)


def test_corrected_t_scales_the_error_as_nadeau_and_bengio():
    differences = RANDOM.normal(0.5, 1, size=10)
    error = differences.std(ddof=1) * np.sqrt(1 / 10 + 0.25)
    p = 2 * scipy.stats.t.sf(abs(differences.mean()) / error, 9)
    assert stats.corrected_t(differences, 0.25).p_two_sided == pytest.approx(p, rel=1e-10)


def test_bayesian_correlated_t_is_a_students_t():
    differences = RANDOM.normal(0.02, 0.03, size=10)
    scale = differences.std(ddof=1) * np.sqrt(1 / 10 + 0.2 / 0.8)
    posterior = scipy.stats.t(9, differences.mean(), scale)
    found = stats.bayesian_correlated_t(differences, 0.2, 0.01)
    assert found.worse == pytest.approx(posterior.cdf(-0.01), rel=1e-10)
    assert found.better == pytest.approx(posterior.sf(0.01), rel=1e-10)
    assert sum(found) == pytest.approx(1)


def test_wilcoxon_is_scipys():
    differences = RANDOM.normal(0.3, 1, size=12)
    ours, theirs = stats.wilcoxon(differences), scipy.stats.wilcoxon(differences, method="exact")
    assert ours.p_two_sided == pytest.approx(theirs.pvalue, rel=1e-10)


def test_friedman_is_scipys():
    scores = RANDOM.normal(size=(8, 4))
    ours, theirs = stats.friedman(scores), scipy.stats.friedmanchisquare(*scores.T)
    assert ours.chi_squared == pytest.approx(theirs.statistic, rel=1e-10)
    assert ours.p_chi_squared == pytest.approx(theirs.pvalue, rel=1e-10)
    # Demsar (2006), Table 5: q = 2.569 for 4 methods.
    assert ours.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 8)), rel=1e-3)


def test_stouffer_is_scipys():
    p = [0.01, 0.2, 0.7, 0.03]
    theirs = scipy.stats.combine_pvalues(p, method="stouffer")
    assert stats.stouffer(p).z == pytest.approx(theirs.statistic, rel=1e-9)


def test_holm_is_monotone_and_keeps_the_order():
    p = RANDOM.uniform(size=9)
    adjusted = stats.holm(p)
    assert (adjusted >= p).all() and (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_what_cannot_be_tested_is_refused_by_name():
    with pytest.raises(ValueError, match="differences"):
        stats.paired_t([1.0])
