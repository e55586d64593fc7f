"""Drives an estimator with the interface of scikit-learn for Mercer.

A line on standard input names a folder; request.json in it says what is asked. A line on standard output answers.
"""

import json
import os
import pickle
import sys


def missing(error, named):
    package = {"sklearn": "scikit-learn"}.get(error.name, error.name)
    remedy = f"{sys.executable} -m pip install {package}, or name another Python by MERCER_PYTHON"
    if error.name == named and package == named:
        remedy += f", or put {named}.py beside the file that names it"
    return f"this Python has no module {error.name}: {remedy}"


def estimator(request):
    import importlib
    import inspect

    module, name = request["estimator"].split(":")
    kind = getattr(importlib.import_module(module), name)
    settings = {name: value for name, value in request["settings"].items() if value is not None}
    # A class of one's own need not have get_params; that of others may know more than the signature says.
    known = kind().get_params() if hasattr(kind, "get_params") else inspect.signature(kind).parameters
    if "random_state" in known:
        settings.setdefault("random_state", request["seed"])
    if "n_jobs" in known:
        settings.setdefault("n_jobs", request["threads"])
    return kind(**settings)


def rows(folder, request):
    import numpy

    path = os.path.join(folder, request["data"])
    table = numpy.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return table


def answer(folder, request):
    import importlib

    importlib.import_module(request["estimator"].split(":")[0])  # before numpy: what lacks it is named first
    import numpy

    kept = os.path.join(folder, "model.pickle")
    classes = request["classes"]
    if request["action"] == "fit":
        table = rows(folder, request)
        inputs, target = table[:, :-1], table[:, -1]
        model = estimator(request)
        model.fit(inputs, target.astype(int) if classes else target)
        with open(kept, "wb") as file:
            pickle.dump(model, file)
        return
    with open(kept, "rb") as file:
        model = pickle.load(file)
    inputs = rows(folder, request)
    if not classes:
        heads, values = ["value"], numpy.asarray(model.predict(inputs), dtype=float).reshape(-1, 1)
    elif hasattr(model, "predict_proba"):
        heads = [f"score{label}" for label in range(classes)]
        values = numpy.zeros((len(inputs), classes))
        values[:, model.classes_] = model.predict_proba(inputs)
    else:
        heads, values = ["class"], model.predict(inputs).reshape(-1, 1)
    with open(os.path.join(folder, request["predictions"]), "w", encoding="utf-8") as file:
        file.write(",".join(heads) + "\n")
        for row in values:
            file.write(",".join(repr(float(value)) for value in row) + "\n")


def main():
    sys.path.append(os.getcwd())  # a module beside the file that names it
    answers, sys.stdout = sys.stdout, sys.stderr  # what an estimator prints is no answer
    for line in sys.stdin:
        folder = json.loads(line)["folder"]
        with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
            request = json.load(file)
        try:
            answer(folder, request)
            said = {"ok": True}
        except ModuleNotFoundError as error:
            said = {"error": missing(error, request["estimator"].split(":")[0])}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=answers, flush=True)


main()
