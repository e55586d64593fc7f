"""Rows of mostly zeros, as scipy.sparse holds them."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mercer


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = scipy.sparse.random(400, 6000, density=0.003, format="lil", random_state=4)
    y = np.where(rng.random(400) < 0.5, "ham", "spam")
    for row, label in enumerate(y):
        X[row, rng.integers(0, 30, 4) + (50 if label == "spam" else 0)] = 1.0
    return X.tocsr(), y


def test_the_machine_is_that_of_scikit_learn(rows):
    X, y = rows
    ours = mercer.GaussianSVMClassifier(cost=5.0, std=0.02, tolerance=1e-8).fit(X, y)
    scaled = StandardScaler(with_mean=False).fit_transform(X)
    theirs = SVC(C=5.0, gamma=0.02**2 / 2, tol=1e-8).fit(scaled, y)
    # Ours is the second score minus the first.
    found, expected = ours.decision_function(X) / 2, theirs.decision_function(scaled)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert (ours.predict(X) == theirs.predict(scaled)).all()


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
@pytest.mark.parametrize(
    "method, settings", [("KernelRidgeClassifier", {}), ("FalkonClassifier", {}), ("RFRidgeClassifier", {"features": 200})]
)
def test_sparse_rows_are_dense_rows(rows, method, settings, form):
    X, y = rows
    given = getattr(scipy.sparse, form)(X)
    fitted = [getattr(mercer, method)(scaling=None, **settings).fit(some, y) for some in (given, X.toarray())]
    sparse, dense = (model.decision_function(X.toarray()) for model in fitted)
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    np.testing.assert_allclose(fitted[0].decision_function(given), sparse, atol=1e-12)
    again = pickle.loads(pickle.dumps(fitted[0]))
    np.testing.assert_allclose(again.decision_function(given), sparse, atol=1e-12)


def test_zeros_and_equal_places_are_no_numbers_of_their_own(rows):
    X, y = rows
    twice = scipy.sparse.coo_array(X)
    row, column = (np.concatenate([places, places, [0]]) for places in twice.coords)
    data = np.concatenate([twice.data / 2, twice.data / 2, [0.0]])
    column[-1] = 5999
    twice = scipy.sparse.coo_array((data, (row, column)), shape=X.shape)
    one, other = (mercer.KernelRidgeClassifier().fit(some, y).decision_function(X) for some in (X, twice))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_what_is_not_finite_is_refused(rows):
    X, y = rows
    X = X.copy()
    X.data[7] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        mercer.KernelRidgeClassifier().fit(X, y)
