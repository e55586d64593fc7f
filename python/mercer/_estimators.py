"""One class a method and task, made from the registry: a new method needs no line here."""

import inspect
import json
import keyword
import textwrap

from ._base import DEPENDS, _Classifier, _Features, _Regressor, _WeighingClassifier, _WeighingRegressor
from ._mercer import methods

_COMMON = [
    ("scaling", "standard", "standard, unit-length or another scaling that `mercer fit --scale` takes; None scales nothing. It is learned from the rows of `fit`."),
    ("impute", None, "mean or median stands in for NaN; None refuses NaN."),
    ("tune", False, "True tunes the settings inside the rows of `fit` with 27 candidates; a number, or a time such as '60s', sets the budget."),
    ("random_state", None, "Seed of the random streams; None is 1, as on the command line."),
    ("n_jobs", None, "Threads; None is OMP_NUM_THREADS, or else all cores, as -1 is."),
    ("max_seconds", None, "A fit that takes longer ends with TimeoutError."),
    ("verbose", 0, "1 prints the time of a fit."),
]

# Of classifiers that weigh rows.
_CLASS_WEIGHT = ("class_weight", None, "'balanced' gives all classes one weight together; a dict of class and number multiplies the weights of their rows.")


def python_name(setting):
    name = setting.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _default(setting):
    value = setting["default"]
    return DEPENDS if setting["depends_on_data"] or isinstance(value, (dict, list)) else value


# Of transformers.
_TASK = ("task", None, "'classification' or 'regression'; None takes whole numbers and texts in y for classes, other numbers for values.")


def _common(method, features=False):
    """The parameters beside the settings."""
    if features:
        return [*_COMMON, _TASK]
    return [*_COMMON, _CLASS_WEIGHT] if method["weighs_rows"] and method["classification"] else _COMMON


def _doc(method, settings, features):
    task = "classes" if method["classification"] else "numbers"
    gives = "Gives the learned features to what comes after it in a pipeline" if features else f"Predicts {task}"
    lines = [f"{method['title']}: {method['summary']}. {gives}.", ""]
    lines.extend([f"For: {method['when']}.", "", method["formula"], "", "Parameters", "----------"])

    def parameter(name, default, meaning):
        lines.append(f"{name} : default {default!r}")
        lines.extend(textwrap.wrap(meaning, 100, initial_indent="    ", subsequent_indent="    "))

    for setting, (name, _, default) in zip(method["settings"], settings):
        meaning = setting["meaning"].rstrip(".")
        if setting["depends_on_data"]:
            meaning += ". Its default depends on the data"
        elif default == DEPENDS and setting["default"] != DEPENDS:
            meaning += f". By default {json.dumps(setting['default'])}"
        parameter(name, default, f"{meaning}. It is {setting['allowed']}.")
    for name, default, meaning in _common(method, features):
        parameter(name, default, meaning)
    fitted = [
        ("settings_", "all settings of the fit"),
        ("diagnostics_", "named numbers that the fit left"),
        ("n_features_in_", "columns of X"),
    ]
    if method["classification"] and not features:
        fitted.insert(0, ("classes_", "the classes, in the order of the scores"))
    lines.extend(["", "Attributes", "----------"])
    for name, meaning in fitted:
        lines.extend([name, f"    {meaning[0].upper()}{meaning[1:]}."])
    lines.extend(["", "References", "----------", method["cites"]])
    return "\n".join(lines)


def _make(method, features=False):
    name = method["class"]
    if features:
        name = name.removesuffix("Classifier") + "Features"
    settings = tuple((python_name(own["name"]), own["name"], _default(own)) for own in method["settings"])
    parameters = [(own, default) for own, _, default in settings]
    parameters += [(own, default) for own, default, _ in _common(method, features)]
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(own, inspect.Parameter.KEYWORD_ONLY, default=default) for own, default in parameters]
    )
    defaults = dict(parameters)

    def __init__(self, **given):
        for own in given:
            if own not in defaults:
                raise TypeError(f"{name} has no parameter {own!r}")
        for own, default in defaults.items():
            setattr(self, own, given.get(own, default))

    __init__.__signature__ = signature
    bases = (_WeighingClassifier, _WeighingRegressor) if method["weighs_rows"] else (_Classifier, _Regressor)
    base = _Features if features else bases[0] if method["classification"] else bases[1]
    made = {
        "__init__": __init__,
        "__doc__": _doc(method, settings, features),
        "__module__": "mercer",
        "_method": method["method"],
        "_settings": settings,
    }
    return type(name, (base,), made)


def _has_features(method):
    """Random features of frequencies with a deviation; ``features`` alone is a size of other things, too."""
    return method["classification"] and {"features", "std"} <= {own["name"] for own in method["settings"]}


_METHODS = json.loads(methods())
CLASSES = {own.__name__: own for own in map(_make, _METHODS)}
# Transformers of the methods that learn or draw features.
FEATURES = {own.__name__: own for own in (_make(method, True) for method in _METHODS if _has_features(method))}


def all_estimators():
    """All estimators by name."""
    return dict(CLASSES)
