"""Rows with weights count as so many equal rows, where a method weighs rows at all."""

import inspect

import mercer
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

# At these a fit has one solution, found to its last digits: a ridge that is given, one batch of all rows in double
# precision, an iteration that ends at its limit.
EXACT = {
    "lambda_": 1e-3,
    "batch": 64,
    "sampling": "shuffled",
    "precision": "f64",
    "tolerance": 1e-11,
}
# What only one of them has: a kernel that stays as it starts, and a penalty that does not hang on the number of rows.
OWN = {
    "GaussianProcessClassifier": {"iterations": 0},
    "GaussianProcessRegressor": {"iterations": 0},
    "RFTKClassifier": {"beta": 1e-4, "every": 5},
    "RFTKRegressor": {"beta": 1e-4, "every": 5},
}

CLASSES = mercer.all_estimators()
WEIGHING = [name for name, cls in CLASSES.items() if "sample_weight" in inspect.signature(cls.fit).parameters]


def exact(name):
    cls = CLASSES[name]
    known = inspect.signature(cls).parameters
    return cls(**{own: value for own, value in EXACT.items() if own in known}, **OWN.get(name, {}))


@pytest.mark.parametrize("name", WEIGHING)
def test_a_weight_is_so_many_rows(name):
    check_sample_weight_equivalence_on_dense_data(name, exact(name))


@pytest.mark.parametrize("name", WEIGHING)
def test_weights_of_1_are_none(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3))
    y = (X[:, 0] > 0).astype(int) if is_classifier(CLASSES[name]()) else X[:, 0] ** 2
    small = {"epochs": 2} if "epochs" in inspect.signature(CLASSES[name]).parameters else {}
    bare, ones = CLASSES[name](**small).fit(X, y), CLASSES[name](**small).fit(X, y, sample_weight=np.ones(24))
    assert (bare.predict(X) == ones.predict(X)).all()


def test_methods_of_every_family_weigh_rows():
    expected = ["KernelRidgeRegressor", "RFRidgeClassifier", "GaussianSVMClassifier", "ASKLRegressor", "RFTKClassifier"]
    assert set(expected) <= set(WEIGHING)
    assert "sample_weight" not in inspect.signature(mercer.KTAClassifier.fit).parameters


def test_wrong_weights_are_refused():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    for weights, words in [([1, -1, 1, 1], "Negative"), ([1, 2], "shape"), ([0, 0, 0, 0], "zero")]:
        with pytest.raises(ValueError, match=words):
            mercer.KernelRidgeClassifier().fit(X, y, sample_weight=weights)


def test_class_weights_are_weights_of_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    y = np.array(["ill" if row[0] + 0.3 * row[1] > 0.9 else "well" for row in X])
    share = {"ill": 60 / (2 * (y == "ill").sum()), "well": 60 / (2 * (y == "well").sum())}
    for given, weights in [("balanced", share), ({"ill": 3.0}, {"ill": 3.0, "well": 1.0})]:
        # Scaling goes by the weights of rows, and not by those of classes.
        by_class = mercer.KernelRidgeClassifier(class_weight=given, scaling=None).fit(X, y)
        by_row = mercer.KernelRidgeClassifier(scaling=None).fit(X, y, sample_weight=[weights[label] for label in y])
        assert np.allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-9)
    for wrong, words in [({"sick": 2.0}, "'sick', but the classes"), ({"ill": -1.0}, "above 0"), ("equal", "must be balanced")]:
        with pytest.raises(ValueError, match=words):
            mercer.KernelRidgeClassifier(class_weight=wrong).fit(X, y)
    assert "class_weight" not in inspect.signature(mercer.KTAClassifier).parameters
    assert "class_weight" not in inspect.signature(mercer.KernelRidgeRegressor).parameters
