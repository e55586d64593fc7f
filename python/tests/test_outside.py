"""The shipped estimators of scikit-learn as methods of the command line: they need a Python that has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

MERCER = Path(__file__).parents[2] / "target" / "release" / "mercer"
BOTH = ["extra-trees", "forest", "histgb", "mlp", "neighbours", "svm"]


def run(*words):
    environment = dict(os.environ, MERCER_PYTHON=sys.executable)
    ended = subprocess.run([MERCER, *words], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    load_wine(as_frame=True).frame.to_csv(folder / "wine.csv", index=False)
    load_diabetes(as_frame=True).frame.to_csv(folder / "diabetes.csv", index=False)
    return folder


@pytest.mark.parametrize("table, own", [("wine", "logistic"), ("diabetes", "ridge")])
def test_every_shipped_estimator_stands_in_a_comparison(tables, table, own):
    names = [f"@sklearn-{name}" for name in [*BOTH, own]]
    floor = "majority" if table == "wine" else "mean"
    data = str(tables / f"{table}.csv")
    said = json.loads(
        run("compare", "--methods", ",".join([floor, *names]), "--data", data, "--target", "target", "--holdout", "0.7", "--json")
    )
    done = [one["evaluation"]["Ok"] for one in said["methods"]]
    methods = {one["method"]: one for one in done}
    assert set(names) < set(methods)
    metric = "accuracy" if table == "wine" else "rmse"
    mean = {name: one["estimates"][metric]["mean"] for name, one in methods.items()}
    for name in names:
        ahead = mean[name] - mean[floor] if table == "wine" else mean[floor] - mean[name]
        # A network of 200 epochs on 300 rows of unscaled targets has not arrived.
        assert ahead > 0 or name == "@sklearn-mlp", mean


def test_a_ridge_from_outside_is_that_of_scikit_learn(tables):
    data = str(tables / "diabetes.csv")
    model, out = str(tables / "ridge.model"), str(tables / "predicted.csv")
    line = ["--data", data, "--target", "target", "--out", model, "--set", "alpha=3"]
    run("fit", "--method", "@sklearn-ridge", *line)
    run("predict", "--model", model, "--data", data, "--out", out)
    frame = pd.read_csv(data)
    inputs, target = frame.drop(columns="target"), frame["target"]
    scaled = StandardScaler().fit_transform(inputs)
    theirs = Ridge(alpha=3).fit(scaled, target).predict(scaled)
    ours = pd.read_csv(out)["prediction"]
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_a_class_beside_its_file_is_a_method(tables, tmp_path):
    """That of the book, word by word."""
    chapter = (MERCER.parents[2] / "book/src/outside.md").read_text()
    for name in ["mine.py", "mine.toml"]:
        (tmp_path / name).write_text(chapter.split(f"file={name}\n")[1].split("```")[0])
    line = ["--methods-from", str(tmp_path / "mine.toml"), "--data", str(tables / "wine.csv"), "--target", "target"]
    said = json.loads(run("evaluate", "--method", "near", "--set", "power=1", "--folds", "3", "--json", *line))
    assert said["estimates"]["accuracy"]["mean"] > 0.9
