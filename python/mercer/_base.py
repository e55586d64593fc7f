"""What all estimators share. The classes themselves are made in ``_estimators``."""

import json
import os
import time
import warnings
from numbers import Integral

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ._mercer import Model, cores

DEPENDS = "auto"


# Numbers of sparse rows that are laid out at a time.
_BLOCK = 1 << 20


def _parts(X):
    """Sparse rows as where each begins, columns, numbers and how many columns there are; other rows as they are."""
    if not issparse(X):
        return X
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X.indptr.astype(np.uint32), X.indices.astype(np.uint32), X.data, X.shape[1]


def _array(shaped):
    rows, columns, numbers = shaped
    return np.frombuffer(numbers, dtype=np.float64).reshape(rows, columns)


def _plain(value):
    """A setting as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a setting cannot be a {type(value).__name__}")


def _label(value):
    """A class name as a file has it: 1, not 1.0."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value)


def _has(name):
    def fitted_with(self):
        return hasattr(self, "_model") and getattr(self, name)

    return available_if(fitted_with)


class _Estimator(BaseEstimator):
    _method = ""
    _settings = ()  # (name in Python, name of the setting, default)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute is not None
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags

    def _threads(self):
        if self.n_jobs is None:
            # As linear algebra does below NumPy; loky's workers set it, so that they share the cores.
            asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
            return int(asked) if asked.isascii() and asked.isdigit() and int(asked) > 0 else cores()
        if self.n_jobs == 0:
            raise ValueError("`n_jobs` is 0; it must be at least 1, negative, or None")
        return max(1, self.n_jobs if self.n_jobs > 0 else cores() + 1 + self.n_jobs)

    def _seed(self):
        if self.random_state is None:
            return 1
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _asked(self, class_weight):
        given = {}
        for ours, setting, default in self._settings:
            value = getattr(self, ours)
            if not (value is default or (type(value) is type(default) and value == default)):
                given[setting] = value
        tune = self.tune
        if tune is True:
            tune = 27
        return json.dumps(
            {
                "settings": given,
                "scaling": "none" if self.scaling is None else self.scaling,
                "impute": self.impute,
                "tune": None if tune in (None, False) else str(tune),
                "class_weight": class_weight,
                "seed": self._seed(),
                "threads": self._threads(),
                "seconds": self.max_seconds,
            },
            default=_plain,
        )

    def _checks(self):
        finite = True if self.impute is None else "allow-nan"
        return {"dtype": np.float64, "order": "C", "ensure_all_finite": finite, "accept_sparse": "csr"}

    def _both(self, X, y, **options):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        return validate_data(self, X, y, ensure_min_samples=2, **self._checks(), **options)

    def _weights(self, X, sample_weight):
        """The weights of the rows as numbers from 0, not all of them 0; None where none are given."""
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return weights.tolist()

    def _coded(self, y):
        """The classes of ``y``, the number of each row's, and their names."""
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes; y has 1 class")
        labels = [_label(value) for value in classes]
        if len(set(labels)) < len(labels):
            labels = [f"{label} ({place})" for place, label in enumerate(labels)]
        return classes, codes.astype(np.float64), labels

    def _of_classes(self, labels):
        """Weights of classes as ``balanced``, or by label."""

    def _fit_model(self, X, targets, labels, weights):
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{column}" for column in range(X.shape[1])] if names is None else list(names)
        started = time.perf_counter()
        asked = self._asked(None if labels is None else self._of_classes(labels))
        model = Model.fit(self._method, _parts(X), targets, names, labels, weights, asked)
        header = json.loads(model.header())
        self._model = model
        self.settings_ = header["settings"]
        self.diagnostics_ = header["facts"]
        self.tuning_ = header["tuning"]
        if header["unconverged"]:
            warnings.warn(f"{self._method}: {header['unconverged']}", ConvergenceWarning, stacklevel=3)
        for text in header["warnings"]:
            warnings.warn(text, UserWarning, stacklevel=3)
        if self.verbose:
            print(f"[{type(self).__name__}] fitted {X.shape[0]} rows in {time.perf_counter() - started:.2f} s")
        return self

    def _inputs(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._checks())

    def _said(self, what, X, *rest):
        """What the model says of rows; of sparse ones some at a time."""
        call = getattr(self._model, what)
        if not issparse(X):
            return _array(call(X, *rest))
        rows = max(1, _BLOCK // X.shape[1])
        blocks = (X[start : start + rows].toarray() for start in range(0, X.shape[0], rows))
        return np.concatenate([_array(call(block, *rest)) for block in blocks])

    def _has_kernel(self):
        probe = np.zeros((1, self.n_features_in_))
        return self._model.kernel(probe, probe) is not None

    @property
    def frequencies_(self):
        """Frequencies of the fitted features, ``(n_features_in_, features)``, in units of the scaled inputs."""
        check_is_fitted(self)
        found = self._model.frequencies()
        if found is not None:
            return _array(found[0])
        learned = self.learned_
        for name in ("frequencies", "map/frequencies"):
            if name in learned:
                return learned[name].T
        raise AttributeError(f"{type(self).__name__} has no frequencies")

    @property
    def frequencies_prime_(self):
        """The second frequencies of a kernel that is not stationary; those of a stationary one are the first."""
        check_is_fitted(self)
        found = self._model.frequencies()
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no pairs of frequencies")
        return _array(found[1])

    @property
    def learned_(self):
        """A copy of what the model file holds of the fitted function, by name; a part's as ``part/name``.

        Inputs are scaled by ``scaling``, targets of regression to mean 0 and standard deviation 1.
        """
        data = self.to_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        arrays = json.loads(data[8:start])
        header, _ = json.JSONDecoder().raw_decode(arrays.pop("__metadata__")["mercer"])
        found, columns = {}, set()

        def gather(state, before):
            found.update((before + name, value) for name, value in state["values"].items())
            columns.update(before + name for name in state["column_major"])
            for name, part in state["parts"].items():
                gather(part, f"{before}{name}/")

        gather(header["state"], "")
        kinds = {"F32": np.float32, "F64": np.float64, "U32": np.uint32}
        for name, array in arrays.items():
            first, last = (start + place for place in array["data_offsets"])
            if first < last:
                numbers = np.frombuffer(data[first:last], dtype=kinds[array["dtype"]])
                found[name] = numbers.reshape(array["shape"], order="F" if name in columns else "C")
        return found

    def _only(self, attribute, found):
        if len(found) != 1:
            kind = type(self).__name__
            raise AttributeError(f"{kind} has {'several' if found else 'no'} {attribute}; learned_ has all that it learned")
        return found[0]

    @property
    def weights_(self):
        """Coefficients of the features, training points or support vectors.

        One column per output; for support vector machines one per pair of classes.
        """
        learned = self.learned_
        names = ["weights", "read_out", "coefficients", "machine/weights"]
        found = [learned[name] for name in names if name in learned][:1]
        found = found or [value for name, value in learned.items() if name.endswith("/weights")]
        weights = self._only("weights", found)
        return weights[:, None] if weights.ndim == 1 else weights

    @property
    def length_scale_(self):
        """Length scale of the kernel, one for all its inputs or one each; for a Gaussian kernel 1/``std``."""
        found = []
        for name, value in self.learned_.items():
            last = name.rsplit("/", 1)[-1]
            if last in ("lengths", "bandwidth"):
                found.append(value)
            elif last == "kernel" and isinstance(value, dict):
                if "lengths" in value:
                    found.append(value["lengths"])
                elif value.get("kind") in ("gaussian", "matern"):
                    found.append(1 / value["std"])
        return np.atleast_1d(self._only("length scales", found))

    @property
    def hyper_coefficients_(self):
        """Coefficients of a learned kernel, one a pair of points; ``learned_["kernel/pairs"]`` names the pairs."""
        learned = self.learned_
        names = ["kernel/coefficients", "features/coefficients"]
        return self._only("coefficients of pairs", [learned[name] for name in names if name in learned])

    def kernel_(self, X, Y=None):
        """The fitted kernel between the rows of ``X`` and ``Y``, ``(len(X), len(Y))``."""
        X = self._inputs(X)
        Y = X if Y is None else self._inputs(Y)
        X, Y = (rows.toarray() if issparse(rows) else rows for rows in (X, Y))
        found = self._model.kernel(X, Y)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no kernel that can be evaluated")
        return _array(found)

    def to_bytes(self):
        """The model file that ``mercer predict`` reads."""
        check_is_fitted(self)
        return self._model.to_bytes()


# Methods that do not look at the inputs.
_BLIND = ("majority", "mean", "zero")


class _Classifier(ClassifierMixin, _Estimator):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._method in _BLIND
        return tags

    def fit(self, X, y):
        """Fit to inputs ``X`` of shape (n, d) and classes ``y`` of shape (n,)."""
        return self._fit(X, y, None)

    def _fit(self, X, y, sample_weight):
        X, y = self._both(X, y)
        weights = self._weights(X, sample_weight)
        self.classes_, codes, labels = self._coded(y)
        return self._fit_model(X, codes, labels, weights)

    def _of_classes(self, labels):
        """Weights of classes as ``balanced``, or by label."""
        given = getattr(self, "class_weight", None)
        if not isinstance(given, dict):
            return given
        classes = self.classes_.tolist()
        unknown = [value for value in given if value not in classes]
        if unknown:
            raise ValueError(f"class_weight names {unknown[0]!r}, but the classes of y are {classes}")
        return {label: float(given[value]) for value, label in zip(classes, labels) if value in given}

    def _probabilities(self):
        return self._model.probabilities(np.zeros((1, self.n_features_in_)), 1) is not None

    @property
    def _has_probabilities(self):
        return self._probabilities()

    def predict(self, X):
        """The class of each row."""
        X = self._inputs(X)
        return self.classes_[self._said("values", X, self._threads())[:, 0].astype(np.intp)]

    def decision_function(self, X):
        """Class scores, (n, classes); of two classes the difference of the second and the first, (n,)."""
        X = self._inputs(X)
        scores = self._said("decision", X, self._threads())
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @_has("_has_probabilities")
    def predict_proba(self, X):
        """Class probabilities, (n, classes)."""
        X = self._inputs(X)
        return self._said("probabilities", X, self._threads())


class _Regressor(RegressorMixin, _Estimator):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._method in _BLIND
        return tags

    def fit(self, X, y):
        """Fit to inputs ``X`` of shape (n, d) and numbers ``y`` of shape (n,)."""
        return self._fit(X, y, None)

    def _fit(self, X, y, sample_weight):
        X, y = self._both(X, y, y_numeric=True)
        return self._fit_model(X, y.astype(np.float64), None, self._weights(X, sample_weight))

    @property
    def _has_deviations(self):
        return self._model.deviations(np.zeros((1, self.n_features_in_))) is not None

    @_has("_has_deviations")
    def predict_std(self, X):
        """The standard deviation of a new observation at each row, in the unit of ``y``."""
        X = self._inputs(X)
        return self._said("deviations", X)[:, 0]

    def predict(self, X):
        """The value of each row, in the unit of ``y``."""
        X = self._inputs(X)
        return self._said("values", X, self._threads())[:, 0]


class _Features(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Estimator):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def fit(self, X, y):
        """Learn the features of inputs ``X`` of shape (n, d) from targets ``y`` of shape (n,), classes or numbers."""
        X, y = self._both(X, y)
        task = self.task
        if task is None:
            task = "regression" if type_of_target(y).startswith("continuous") else "classification"
        if task not in ("classification", "regression"):
            raise ValueError(f"task is {task!r}; it must be 'classification', 'regression' or None")
        if task == "regression":
            return self._fit_model(X, y.astype(np.float64), None, None)
        _, codes, labels = self._coded(y)
        return self._fit_model(X, codes, labels, None)

    def transform(self, X):
        """The features of each row, (n, features): their products are ``kernel_``."""
        X = self._inputs(X)
        return self._said("features", X)

    @property
    def _n_features_out(self):
        return self.frequencies_.shape[1]


class _Weighing:
    """Of methods that weigh rows: scikit-learn looks for the argument of ``fit``."""

    def fit(self, X, y, sample_weight=None):
        """Fit to inputs ``X`` of shape (n, d) and targets ``y`` of shape (n,); row ``i`` counts as
        ``sample_weight[i]`` equal rows, and not at all where that is 0."""
        return self._fit(X, y, sample_weight)


class _WeighingClassifier(_Weighing, _Classifier):
    pass


class _WeighingRegressor(_Weighing, _Regressor):
    pass
