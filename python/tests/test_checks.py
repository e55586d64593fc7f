"""scikit-learn's own checks, for every estimator."""

import warnings

import mercer
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

# The slowest do with less: the checks fit some fifty times.
SMALLER = {"DANK": {"steps": 50}, "MCEERM": {"epochs": 100}}


def estimators():
    for name, cls in mercer.all_estimators().items():
        smaller = [own for method, own in SMALLER.items() if name.startswith(method)]
        yield cls(**(smaller[0] if smaller else {}))


# No check is expected to fail.
@parametrize_with_checks(list(estimators()))
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
