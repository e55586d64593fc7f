import time

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils.metaestimators import _safe_split

from . import stats


def compare(estimators, X, y, *, cv=None, scoring=None, rope=0.01, groups=None, frame=None):
    """Fit several estimators to the same splits and test their differences from the best.

    Parameters
    ----------
    estimators : dict of name to estimator
        Any scikit-learn estimators; pipelines too.
    X, y : inputs and targets
    cv : splitter, int or None
        None is ten random splits of 80/20, stratified for classes. An int is that many folds.
    scoring : str or None
        Accuracy for classes and R² for numbers by default.
    rope : float
        A mean difference up to this counts as equal in the Bayesian probabilities.
    frame : "polars", "pandas" or None
        What the table is; None is polars.

    Returns
    -------
    A data frame with a row an estimator, best mean first: mean and deviation over the splits, the difference from
    the best with its 95 % interval, Holm's p over the differences, the probabilities that the estimator is
    worse than, equal to and better than the best, and the seconds of a fit.

    Random splits and repeated folds get Nadeau and Bengio's corrected t-test, the folds of one cross-validation the
    ordinary paired t-test.
    """
    estimators = dict(estimators)
    classifier = all(is_classifier(own) for own in estimators.values())
    if cv is None:
        kind = StratifiedShuffleSplit if classifier else ShuffleSplit
        cv = kind(n_splits=10, test_size=0.2, random_state=1)
    cv = check_cv(cv, y, classifier=classifier)
    scorer = get_scorer(scoring or ("accuracy" if classifier else "r2"))
    splits = list(cv.split(X, y, groups))
    scores = {name: [] for name in estimators}
    seconds = {name: [] for name in estimators}
    for train, test in splits:
        for name, estimator in estimators.items():
            # Of a kernel matrix rows and columns.
            rows, targets = _safe_split(estimator, X, y, train)
            others, truths = _safe_split(estimator, X, y, test, train)
            started = time.perf_counter()
            fitted = clone(estimator).fit(rows, targets)
            seconds[name].append(time.perf_counter() - started)
            scores[name].append(scorer(fitted, others, truths))
    scores = {name: np.array(own) for name, own in scores.items()}
    order = sorted(scores, key=lambda name: -scores[name].mean())
    best = scores[order[0]]
    ratio = np.mean([len(test) / len(train) for train, test in splits])
    # Folds test each row once; where rows are tested again, as by repeated folds, the splits overlap.
    tested = np.concatenate([np.asarray(test) for _, test in splits])
    overlap = len(np.unique(tested)) < len(tested)
    share = ratio / (1 + ratio)
    table = []
    for name in order:
        row = {
            "estimator": name,
            "mean": scores[name].mean(),
            "std": scores[name].std(ddof=1) if len(splits) > 1 else None,
            "minus_best": None,
            "low": None,
            "high": None,
            "p_holm": None,
            "p_worse": None,
            "p_equal": None,
            "p_better": None,
            "fit_seconds": float(np.median(seconds[name])),
        }
        if name != order[0] and len(splits) > 1:
            row |= _against(scores[name] - best, ratio, share, overlap, rope)
        table.append(row)
    tested = [row for row in table if row["p_holm"] is not None]
    for row, p in zip(tested, stats.holm([row["p_holm"] for row in tested]) if tested else []):
        row["p_holm"] = float(p)
    return _frame(table, frame)


def _against(differences, ratio, share, overlap, rope):
    test = stats.corrected_t(differences, ratio) if overlap else stats.paired_t(differences)
    posterior = stats.bayesian_correlated_t(differences, share, rope)
    half = test.standard_error * _quantile(test.degrees_of_freedom)
    return {
        "minus_best": test.mean,
        "low": test.mean - half,
        "high": test.mean + half,
        "p_holm": test.p_two_sided,
        "p_worse": posterior.worse,
        "p_equal": posterior.equal,
        "p_better": posterior.better,
    }


def _quantile(freedom):
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def _frame(rows, kind):
    if kind not in (None, "polars", "pandas"):
        raise ValueError(f"frame is {kind!r}; it must be 'polars', 'pandas' or None")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    import polars

    return polars.DataFrame(columns)
