"""Fits through Python are those of the command line, and stop when they are told to."""

import doctest
import json
import os
import pickle
import signal
import subprocess
import threading
import time
from pathlib import Path

import joblib
import mercer
import numpy as np
import pandas
import pytest
from mercer._estimators import FEATURES
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

MERCER = Path(__file__).parents[2] / "target" / "release" / "mercer"
RANDOM = np.random.default_rng(7)
ROWS = RANDOM.normal(size=(60, 3))
CLASSES = np.where(ROWS[:, 0] + ROWS[:, 1] ** 2 > 0.7, "in", "out")
NUMBERS = np.sin(ROWS[:, 0]) + ROWS[:, 1]


@pytest.mark.parametrize("name", sorted(mercer.all_estimators()))
def test_a_fit_is_that_of_the_command_line(name, tmp_path):
    cls = mercer.all_estimators()[name]
    target = CLASSES if is_classifier(cls()) else NUMBERS
    frame = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
    data, model = tmp_path / "data.csv", tmp_path / "model.safetensors"
    frame.assign(target=target).to_csv(data, index=False)
    line = ["fit", "--method", cls._method, "--data", data, "--target", "target", "--threads", "1", "--out", model]
    subprocess.run([MERCER, *line, "--quiet"], check=True, capture_output=True)
    estimator = cls().fit(frame, target)
    theirs = mercer._mercer.Model.from_bytes(model.read_bytes())
    assert json.loads(theirs.header())["facts"] == estimator.diagnostics_
    other = RANDOM.normal(size=(20, 3))
    assert theirs.decision(other, 1)[2] == estimator._model.decision(other, 1)[2]


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_features_are_those_of_the_kernel(name):
    for target in (CLASSES, NUMBERS):
        learned = FEATURES[name](features=40).set_output(transform="pandas").fit(ROWS, target)
        features = learned.transform(ROWS)
        assert features.shape == (60, 40) and features.columns[3] == f"{name.lower()}3"
        assert np.allclose(features @ features.T, learned.kernel_(ROWS), atol=1e-6)
    with pytest.raises(NotFittedError):
        FEATURES[name]().transform(ROWS)
    counts = np.round(10 * NUMBERS)
    as_numbers = FEATURES[name](features=40, task="regression").fit(ROWS, counts)
    again = FEATURES[name](features=40).fit(ROWS, counts + 1e-9)
    assert np.allclose(as_numbers.transform(ROWS), again.transform(ROWS), atol=1e-4)
    pipeline = make_pipeline(FEATURES[name](features=200), LogisticRegression(max_iter=1000))
    assert cross_val_score(pipeline, ROWS, CLASSES, cv=3).mean() > 0.7


def test_the_committed_cells_are_at_hand():
    table = mercer.results("askl/table2", frame="pandas")
    cell = table[(table.dataset == "segment") & (table.method == "askl") & (table.variant == "tuned")].iloc[0]
    assert cell.published_mean == 95.02 and cell.low < cell.difference < cell.high
    assert abs(cell["mean"] - cell.published_mean - cell.difference) < 1e-9
    with pytest.raises(ValueError, match="no cells of 'askl/table9'; there are those of askl/"):
        mercer.results("askl/table9")
    examples = doctest.testmod(mercer._data, extraglobs={"mercer": mercer})
    assert examples.attempted > 2 and examples.failed == 0


def test_a_kernel_matrix_is_what_the_kernel_is_to_scikit_learn():
    """scikit-learn 1.9: rows and columns of the matrix are divided together."""
    squares = ((ROWS[:, None] - ROWS) ** 2).sum(axis=2)
    matrix = np.exp(-0.3 * squares)
    plain = SVC(kernel="rbf", gamma=0.3, C=2.0)
    ours = mercer.GaussianSVMClassifier(kernel="precomputed", cost=2.0)
    wanted = cross_val_score(plain, ROWS, CLASSES, cv=KFold(4))
    assert (cross_val_score(ours, matrix, CLASSES, cv=KFold(4)) == wanted).all()
    decisions = ours.fit(matrix[:40][:, :40], CLASSES[:40]).decision_function(matrix[40:][:, :40])
    theirs = plain.fit(ROWS[:40], CLASSES[:40]).decision_function(ROWS[40:])
    # The difference of the scores of two classes; within the tolerance of either solver.
    assert np.allclose(decisions / 2, theirs, atol=2e-3)
    ridge = mercer.KernelRidgeRegressor(kernel="precomputed", lambda_=0.01).fit(matrix, NUMBERS)
    again = pickle.loads(pickle.dumps(ridge))
    by_std = mercer.KernelRidgeRegressor(std=0.6**0.5, scaling=None, lambda_=0.01).fit(ROWS, NUMBERS)
    assert np.allclose(again.predict(matrix[:9]), by_std.predict(ROWS[:9]), atol=1e-9)
    with pytest.raises(ValueError, match="the table has 60 rows and 3 inputs"):
        ours.fit(ROWS, CLASSES)
    compared = mercer.compare({"ours": ours, "theirs": SVC(kernel="precomputed", C=2.0)}, matrix, CLASSES, cv=4, frame="pandas")
    assert compared["mean"].nunique() == 1


def test_a_model_survives_pickle_and_joblib(tmp_path):
    fitted = mercer.ASKLClassifier().fit(ROWS, CLASSES)
    for copied in (pickle.loads(pickle.dumps(fitted)), joblib.load(joblib.dump(fitted, tmp_path / "model")[0])):
        assert (copied.decision_function(ROWS) == fitted.decision_function(ROWS)).all()
    assert pickle.loads(pickle.dumps(mercer.ASKLClassifier(features=50))).features == 50


def test_the_command_line_reads_what_python_fitted(tmp_path):
    frame = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
    fitted = mercer.KernelRidgeRegressor().fit(frame, NUMBERS)
    model, data = tmp_path / "model.safetensors", tmp_path / "data.csv"
    model.write_bytes(fitted.to_bytes())
    frame.to_csv(data, index=False)
    line = [MERCER, "predict", model, "--data", data, "--out", "-", "--quiet"]
    printed = subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()[1:]
    assert np.allclose([float(own.split(",")[-1]) for own in printed], fitted.predict(frame), rtol=1e-12)


def test_the_learned_kernel_can_be_looked_at():
    fitted = mercer.ASKLClassifier(features=30).fit(ROWS, CLASSES)
    assert fitted.frequencies_.shape == (3, 30) == fitted.frequencies_prime_.shape
    gram = fitted.kernel_(ROWS)
    assert gram.shape == (60, 60) and np.allclose(gram, gram.T)
    assert np.allclose(fitted.kernel_(ROWS[:5], ROWS[5:9]), gram[:5, 5:9])
    with pytest.raises(AttributeError, match="no frequencies"):
        mercer.KernelRidgeRegressor().fit(ROWS, NUMBERS).frequencies_


def test_what_was_learned_is_what_predicts():
    asked = {"KernelRidgeClassifier": {}, "HyperKRRClassifier": {}, "GMCEClassifier": {"epochs": 20}, "ASKLClassifier": {"features": 30}}
    fitted = {name: mercer.all_estimators()[name](**own).fit(ROWS, CLASSES) for name, own in asked.items()}
    hyper = fitted["HyperKRRClassifier"].learned_
    assert len(hyper["kernel/pairs"]) == len(fitted["HyperKRRClassifier"].hyper_coefficients_)
    assert np.array_equal(fitted["HyperKRRClassifier"].weights_, hyper["weights"])
    ridge = fitted["KernelRidgeClassifier"]
    own = ridge.kernel_(ROWS) @ ridge.weights_ + ridge.learned_["mean"]
    assert np.allclose(own[:, 1] - own[:, 0], ridge.decision_function(ROWS), atol=1e-9)
    assert fitted["ASKLClassifier"].weights_.shape == (30, 2)
    machine = fitted["HyperKRRClassifier"]
    own = machine.kernel_(ROWS) @ machine.weights_ + hyper["bias"]
    assert np.allclose(own[:, 0], machine.decision_function(ROWS) / 2, atol=1e-9)
    assert fitted["GMCEClassifier"].length_scale_.shape == (3,)
    process = mercer.GaussianProcessRegressor().fit(ROWS, NUMBERS)
    assert process.length_scale_.shape == (1,) and np.isfinite(process.learned_["noise"])
    assert process.weights_.shape == (60, 1)
    with pytest.raises(AttributeError, match="no coefficients of pairs; learned_ has"):
        ridge.hyper_coefficients_
    assert mercer.RandomKernelClassifier().fit(ROWS, CLASSES).frequencies_.shape[0] == 3
    assert not hasattr(mercer.ASKLClassifier(), "frequencies_")


@pytest.mark.parametrize(
    "kernel, decay", [("gaussian", lambda r: np.exp(-(r**2) / 2)), ("laplace", lambda r: np.exp(-r)), ("linear", None)]
)
def test_the_length_scale_is_that_of_the_kernel(kernel, decay):
    fitted = mercer.KernelRidgeRegressor(kernel=kernel, scaling=None).fit(ROWS, NUMBERS)
    if decay is None:
        with pytest.raises(AttributeError, match="no length scale"):
            fitted.length_scale_
        return
    distance = np.linalg.norm(ROWS[0] - ROWS[1])
    assert fitted.kernel_(ROWS)[0, 1] == pytest.approx(decay(distance / fitted.length_scale_[0]), rel=1e-9)


def test_missing_numbers_are_refused_or_filled():
    holes = ROWS.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mercer.KernelRidgeRegressor().fit(holes, NUMBERS)
    filled = mercer.KernelRidgeRegressor(impute="mean").fit(holes, NUMBERS)
    assert np.isfinite(filled.predict(holes)).all()


def test_a_wrong_setting_is_named():
    with pytest.raises(ValueError, match="`lambda` is -1"):
        mercer.KernelRidgeRegressor(lambda_=-1.0).fit(ROWS, NUMBERS)
    with pytest.raises(TypeError, match="no parameter 'lamda'"):
        mercer.KernelRidgeRegressor(lamda=1.0)


def test_it_works_inside_the_tools_of_scikit_learn():
    frame = pandas.DataFrame(ROWS, columns=["a", "b", "c"]).assign(colour=["red", "blue"] * 30)
    encoded = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    assert make_pipeline(encoded, mercer.KernelRidgeClassifier()).fit(frame, CLASSES).score(frame, CLASSES) > 0.8
    search = GridSearchCV(mercer.KernelRidgeClassifier(), {"lambda_": [1e-3, 1e-1]}, cv=3, n_jobs=2)
    assert search.fit(ROWS, CLASSES).best_params_["lambda_"] in (1e-3, 1e-1)
    assert cross_val_score(mercer.ASKLClassifier(), ROWS, CLASSES, cv=3, n_jobs=2).mean() > 0.6


def test_threads_follow_the_machine_the_environment_and_the_setting(monkeypatch):
    cores = mercer._mercer.cores()
    assert 1 <= cores <= len(os.sched_getaffinity(0))
    threads = lambda n_jobs: mercer.KernelRidgeClassifier(n_jobs=n_jobs)._threads()  # noqa: E731
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads(n_jobs) for n_jobs in (None, -1, -cores, 3)] == [cores, cores, 1, 3]
    for said, expected in [("1", 1), (" 3", 3), ("3,1", 3), ("0", cores), ("many", cores)]:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert threads(None) == expected
    with pytest.raises(ValueError, match="`n_jobs` is 0"):
        threads(0)
    # The solver of the SVM does the same sums on any number of threads.
    scores = [mercer.GaussianSVMClassifier(n_jobs=n).fit(ROWS, CLASSES).decision_function(ROWS) for n in (1, 2)]
    np.testing.assert_array_equal(*scores)


def test_compare_gives_everybody_the_same_splits():
    both = {"ridge": mercer.KernelRidgeClassifier(), "forest": RandomForestClassifier(random_state=1)}
    table = mercer.compare(both, ROWS, CLASSES, cv=KFold(5, shuffle=True, random_state=1))
    assert table.columns[:2] == ["estimator", "mean"] and len(table) == 2
    other = table.row(1, named=True)
    assert other["low"] <= other["minus_best"] <= other["high"] and other["minus_best"] <= 0
    assert other["p_worse"] + other["p_equal"] + other["p_better"] == pytest.approx(1)


def test_compare_corrects_where_splits_overlap():
    both = {"ridge": mercer.KernelRidgeClassifier(), "majority": mercer.MajorityClassifier()}

    def p(cv):
        return mercer.compare(both, ROWS, CLASSES, cv=cv).row(1, named=True)["p_holm"]

    folds, repeated = KFold(5, shuffle=True, random_state=1), RepeatedKFold(n_splits=5, n_repeats=2, random_state=1)
    for cv, test in ((folds, mercer.stats.paired_t), (repeated, lambda own: mercer.stats.corrected_t(own, 0.25))):
        scores = [cross_val_score(own, ROWS, CLASSES, cv=cv) for own in both.values()]
        assert p(cv) == pytest.approx(test(scores[0] - scores[1]).p_two_sided, rel=1e-9)


def test_datasets_of_the_catalogue_are_inside():
    segment = mercer.load_dataset("segment")
    assert segment.data.shape == (2310, 19) and len(segment.target_names) == 7
    with pytest.raises(ValueError, match="segmant"):
        mercer.load_dataset("segmant")


@pytest.fixture
def heeds_ctrl_c():
    # A program that a shell starts in the background ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_fit_obeys_its_limit_of_time_and_ctrl_c(heeds_ctrl_c):
    rows, targets = RANDOM.normal(size=(20_000, 30)), RANDOM.normal(size=20_000)
    slow = mercer.ASKLRegressor(epochs=10_000)
    with pytest.raises(TimeoutError):
        slow.set_params(max_seconds=0.5).fit(rows, targets)
    pressed = []

    def press():
        time.sleep(0.5)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        slow.set_params(max_seconds=None).fit(rows, targets)
    assert time.perf_counter() - pressed[0] < 1


def test_other_threads_run_while_a_fit_does():
    count, done = 0, threading.Event()

    def fit():
        mercer.ASKLRegressor(epochs=20).fit(RANDOM.normal(size=(5000, 20)), RANDOM.normal(size=5000))
        done.set()

    threading.Thread(target=fit).start()
    while not done.wait(0.01):
        count += 1
    assert count > 3
