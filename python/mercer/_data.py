import json

import numpy as np
from sklearn.utils import Bunch

from ._compare import _frame
from ._mercer import cells, evaluate_bound, load


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


def results(table, frame=None):
    """The cells of a table of the report, such as ``askl/table2``: what came out here beside what the paper prints.

    Returns a data frame (``frame`` as in ``compare``) with a row a dataset, variant and method. ``difference`` is ours
    minus the paper's, ``low`` and ``high`` are its 95 % interval; errors and accuracies are in the paper's unit.

    >>> table = mercer.results("askl/table2", frame="pandas")
    >>> table[(table.dataset == "segment") & (table.method == "askl")].published_mean.tolist()
    [95.02, 95.02, 95.02]
    """
    found = json.loads(cells())["cells"]
    rows = []
    for cell in found:
        if cell["artefact"] != table:
            continue
        published, interval = cell["published"] or {}, cell["interval"] or (None, None)
        rows.append(
            {name: cell[name] for name in ("dataset", "variant", "method", "metric", "mean", "std", "repeats")}
            | {"published_mean": published.get("mean"), "published_std": published.get("std")}
            | {name: cell[name] for name in ("verdict", "difference")}
            | {"low": interval[0], "high": interval[1], "finding": cell["finding"]}
        )
    if not rows:
        known = sorted({cell["artefact"] for cell in found})
        raise ValueError(f"no cells of {table!r}; there are those of {', '.join(known)}")
    return _frame(rows, frame)
