"""scikit-learn's own checks, for every estimator."""

import warnings

import mercer
import pytest
from mercer._estimators import FEATURES
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

# The slowest do with less: the checks fit some fifty times. The first that a name begins with counts.
SMALLER = {
    "BMKL": {"iterations": 50},
    "CENCNN": {"features": 16, "epochs": 30, "rate": 0.005, "lambda_": 0.1, "weight": 0.1},
    "DANK": {"steps": 20, "cap": 60},
    "DistributedBMKL": {"iterations": 50},
    "GMCE": {"epochs": 100},
    "HyperKRRWishart": {"points": 8},
    "HyperKRR": {"points": 20},
    "HyperSVRWishart": {"points": 8},
    "HyperSVR": {"points": 20},
    "MCEERM": {"epochs": 100},
    "MIKL": {"steps": 2, "cap": 60},
    "RFTK": {"features": 500},
    "SoftmaxCNN": {"features": 64},
}


def estimators():
    for name, cls in mercer.all_estimators().items():
        smaller = [own for method, own in SMALLER.items() if name.startswith(method)]
        yield cls(**(smaller[0] if smaller else {}))


# Equal rows and a weight end in equal numbers only where the fit does; tests/test_weights.py gives each method settings
# at which it does.
LEFT_OUT = "leave-one-out chooses the ridge, and leaves a row out with all its weight, not one of its equal rows"
SINGLE = "the fit is in single precision, and a batch has rows, not weights"
TOLERANCE = "the solver ends within a tolerance of 1e-3"
SEARCH = "the search for the kernel of numbers ends within a tolerance"
INEXACT = {
    LEFT_OUT: ["kernel-ridge", "falkon", "rf-ridge"],
    SINGLE: ["sk", "nsk", "skl", "nskl", "askl", "rf-sgd", "rftk"],
    TOLERANCE: ["gaussian-svm"],
    SEARCH: ["gaussian-process"],
}


def expected_to_fail(estimator):
    reasons = [reason for reason, methods in INEXACT.items() if estimator._method in methods]
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return {check: reason for check in checks for reason in reasons}


def transformers():
    for cls in FEATURES.values():
        yield cls(features=50)


# No other check is expected to fail.
@pytest.mark.parametrize("estimator", [*estimators(), *transformers()], ids=lambda one: type(one).__name__)
def test_scikit_learn(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_estimator(estimator, expected_failed_checks=expected_to_fail(estimator), on_skip=None)
