import numpy as np
from sklearn.utils import Bunch

from ._mercer import evaluate_bound, load


def load_dataset(name, folder=None):
    """A dataset of the catalogue: the small ones are in the package, the others are read from ``folder``.

    Returns ``data`` (n, d), ``target`` (n,), ``target_names`` and ``train_rows``: rows from there on are the
    official test part.
    """
    rows, columns, numbers, target, names, train_rows = load(name, folder)
    data = np.frombuffer(numbers, dtype=np.float64).reshape(rows, columns)
    target = np.asarray(target)
    if names:
        target = target.astype(np.intp)
    return Bunch(data=data, target=target, target_names=names, train_rows=train_rows)


def bound(name, **inputs):
    """A bound of the four papers: its value. ``mercer bound`` on the command line lists names and inputs.

    >>> round(bound("askl-rate", trace_norm=2.5, outputs=2, rows=4), 4)
    1.7678
    """
    return evaluate_bound(name, {own.replace("_", "-"): float(value) for own, value in inputs.items()})
