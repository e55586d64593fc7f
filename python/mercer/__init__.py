"""Learned kernels as scikit-learn estimators, and tests for comparing methods.

One class a method and task, such as ``ASKLClassifier`` and ``KernelRidgeRegressor``: ``mercer.all_estimators()``
lists them. Classes such as ``ASKLFeatures`` give learned features to a pipeline. ``compare`` runs several estimators on the same splits; ``stats`` has the tests alone.
"""

from . import stats
from ._compare import compare
from ._data import bound, load_dataset, results
from ._estimators import CLASSES as _CLASSES
from ._estimators import FEATURES as _FEATURES
from ._estimators import all_estimators
from ._mercer import __version__

globals().update(_CLASSES | _FEATURES)

__all__ = ["__version__", "all_estimators", "bound", "compare", "load_dataset", "results", "stats", *_CLASSES, *_FEATURES]
