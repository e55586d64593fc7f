"""Whole commands beside scikit-learn's: read a CSV file, fit, predict another file, write the predictions.

    python end_to_end.py compare --ours ../../target/release/mercer --data ../../data --rounds 3

Ours runs as two commands (`mercer fit`, `mercer predict`), and as one Python script with our estimators; theirs is
the same script with scikit-learn's. Each run is a process of its own, imports included, on all cores. Both sides
have standardised columns, the same length scale √d, C, ridge and number of features, so their scores should be
alike; score and most memory are printed beside the seconds. Rows are of letter (16 columns), MNIST (its middle
pixels in means of four, 100 columns), cadata (8), satimage (36) and covtype (54; its first 16; with products of
its quantities 100). Recursive feature machines stand beside
the package xRFM, both with their defaults; a fifth of the training rows is the validation part that its fit demands.
The Gaussian process of GPyTorch has a length scale per column, as ours, and a hundred steps of Adam.
Needs scikit-learn, pandas and our package (`./setup --python`), xRFM and GPyTorch for their rows. Prints one JSON object.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TEST_ROWS, FEATURES, COST, RIDGE = 2000, 2000, 10, 1e-6
# Dataset, training rows, methods, and columns if not the dataset's. A Gram matrix of 200,000 rows fits nowhere.
CASES = [
    ("letter", 2000, ["svm", "krr", "rf", "nystroem", "rfm"]),
    ("letter", 18000, ["svm", "krr", "rf", "nystroem", "rfm"]),
    ("mnist", 2000, ["svm", "krr", "rf", "nystroem", "rfm"]),
    ("mnist", 20000, ["svm", "krr", "rf", "nystroem"]),
    ("cadata", 2000, ["svm", "krr", "rf", "nystroem", "gp", "gpytorch", "rfm"]),
    ("cadata", 18000, ["svm", "krr", "rf", "nystroem"]),
    ("satimage", 2000, ["rfm"]),
    ("covtype", 2000, ["rfm"]),
    ("covtype", 200000, ["rf", "nystroem"]),
    ("covtype", 200000, ["rf", "nystroem"], 16),
    ("covtype", 200000, ["rf", "nystroem"], 100),
]
OURS = {"svm": "gaussian-svm", "krr": "kernel-ridge", "rf": "rf-ridge", "nystroem": "falkon", "gp": "gaussian-process", "gpytorch": "gaussian-process", "rfm": "rfm"}
NAMES = {
    "svm": "SVC and SVR", "krr": "KernelRidge", "rf": "RBFSampler and ridge", "nystroem": "Nystroem and ridge",
    "gp": "GaussianProcessRegressor", "gpytorch": "GPyTorch", "rfm": "xRFM",
}
# Not of scikit-learn.
PACKAGES = ["gpytorch", "rfm"]


def write_files(dataset, rows, columns, folder, data):
    import mercer
    import numpy
    import pandas

    found = mercer.load_dataset(dataset, data)
    inputs, target = found.data, found.target
    if dataset == "mnist":
        inputs = inputs.reshape(-1, 28, 28)[:, 4:24, 4:24].reshape(-1, 10, 2, 10, 2).mean(axis=(2, 4)).reshape(-1, 100)
    if columns and columns > inputs.shape[1]:
        # Of covtype the first ten columns are quantities.
        first, second = numpy.triu_indices(10)
        inputs = numpy.hstack([inputs, inputs[:, first] * inputs[:, second]])
    inputs = inputs[:, : columns or None]
    order = numpy.random.default_rng(1).permutation(len(inputs))[: rows + TEST_ROWS]
    table = pandas.DataFrame(inputs[order], columns=[f"x{j}" for j in range(inputs.shape[1])])
    # A name keeps classes from being read as numbers.
    table["target"] = target[order] if dataset == "cadata" else [f"class{c}" for c in target[order]]
    for name, part in [("train", table[:rows]), ("test", table[rows:])]:
        part.to_csv(folder / f"{name}.csv", index=False)


def make(side, method, columns, rows, regression):
    """The model of a side, on standardised columns."""
    std, gamma, ridge = columns**-0.5, 0.5 / columns, RIDGE
    if side == "ours":
        import mercer

        kind = "Regressor" if regression else "Classifier"
        name, settings = {
            "svm": ("GaussianSVM", {"cost": COST, "std": std}),
            # By itself it draws 12,000 of more rows.
            "krr": ("KernelRidge", {"lambda_": ridge, "std": std, "cap": rows}),
            # As in scikit-learn: √2 times the features of the paper, whose ridge is worth twice as much.
            "rf": ("RFRidge", {"features": FEATURES, "std": std, "lambda_": ridge, "normalisation": "unit"}),
            "nystroem": ("Falkon", {"centres": FEATURES, "std": std, "lambda_": ridge}),
            "gp": ("GaussianProcess", {}),
            "gpytorch": ("GaussianProcess", {}),
            "rfm": ("RFM", {}),
        }[method]
        return getattr(mercer, name + kind)(**settings)
    from sklearn import gaussian_process, kernel_approximation, kernel_ridge, linear_model, svm
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if method == "rfm":
        return Xrfm(regression, StandardScaler())
    if method == "gpytorch":
        return Gpytorch(StandardScaler())
    linear = linear_model.Ridge(ridge * rows) if regression else linear_model.RidgeClassifier(ridge * rows)
    if method == "svm":
        parts = [svm.SVR(C=COST, gamma=gamma) if regression else svm.SVC(C=COST, gamma=gamma)]
    elif method == "krr":
        parts = [kernel_ridge.KernelRidge(alpha=ridge * rows, kernel="rbf", gamma=gamma)]
    elif method == "rf":
        parts = [kernel_approximation.RBFSampler(gamma=gamma, n_components=FEATURES, random_state=1), linear]
    elif method == "nystroem":
        # As many landmarks as rows has a matrix of the rows.
        landmarks = min(FEATURES, rows)
        parts = [kernel_approximation.Nystroem(gamma=gamma, n_components=landmarks, random_state=1), linear]
    else:
        kernels = gaussian_process.kernels
        kernel = kernels.ConstantKernel() * kernels.RBF(columns**0.5) + kernels.WhiteKernel(0.1)
        parts = [gaussian_process.GaussianProcessRegressor(kernel, normalize_y=True)]
    return make_pipeline(StandardScaler(), *parts)


class Xrfm:
    """xRFM on scaled columns, with a fifth of the rows as its validation part."""

    def __init__(self, regression, scaler):
        self.regression, self.scaler = regression, scaler

    def fit(self, inputs, target):
        import numpy
        import xrfm

        order = numpy.random.default_rng(1).permutation(len(inputs))
        last, first = order[: len(order) // 5], order[len(order) // 5 :]
        if not self.regression:
            self.classes, target = numpy.unique(target, return_inverse=True)
        target = target.reshape(-1, 1).astype("float32" if self.regression else "int64")
        inputs = self.scaler.fit_transform(inputs).astype("float32")
        self.model = xrfm.xRFM(verbose=False, random_state=1)
        self.model.fit(inputs[first], target[first], inputs[last], target[last])
        return self

    def predict(self, inputs):
        told = self.model.predict(self.scaler.transform(inputs).astype("float32"))
        return told.reshape(-1) if self.regression else self.classes[told.reshape(-1)]


class Gpytorch:
    """An exact Gaussian process on scaled columns, its hyperparameters by the marginal likelihood."""

    def __init__(self, scaler):
        self.scaler = scaler

    def fit(self, inputs, target):
        import gpytorch
        import torch

        kernels, inputs = gpytorch.kernels, torch.tensor(self.scaler.fit_transform(inputs))

        class Process(gpytorch.models.ExactGP):
            def __init__(self, inputs, target, likelihood):
                super().__init__(inputs, target, likelihood)
                self.mean = gpytorch.means.ConstantMean()
                self.kernel = kernels.ScaleKernel(kernels.RBFKernel(ard_num_dims=inputs.shape[1]))

            def forward(self, x):
                return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

        self.likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        target = torch.tensor(target)
        self.model = Process(inputs, target, self.likelihood).double()
        self.model.train(), self.likelihood.train()
        optimiser = torch.optim.Adam(self.model.parameters(), lr=0.1)
        evidence = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.model)
        for _ in range(100):
            optimiser.zero_grad()
            loss = -evidence(self.model(inputs), target)
            loss.backward()
            optimiser.step()
        return self

    def predict(self, inputs):
        import torch

        self.model.eval(), self.likelihood.eval()
        with torch.no_grad():
            return self.model(torch.tensor(self.scaler.transform(inputs))).mean.numpy()


def run(side, method, folder):
    """A process of one side in Python."""
    import pandas

    train, test = pandas.read_csv(folder / "train.csv"), pandas.read_csv(folder / "test.csv")
    regression = train["target"].dtype.kind == "f"
    inputs, target = train.drop(columns="target").to_numpy(float), train["target"].to_numpy()
    scale = (target.mean(), target.std()) if regression else None
    model = make(side, method, inputs.shape[1], len(inputs), regression)
    # A support vector regression of scikit-learn does not scale its target; ours does.
    if side == "theirs" and regression:
        target = (target - scale[0]) / scale[1]
    # Its kernel ridge has no classes: one-hot columns, as ours.
    classes = pandas.get_dummies(target).columns if (side, method, regression) == ("theirs", "krr", False) else None
    if classes is not None:
        target = pandas.get_dummies(target).to_numpy(float)
    model.fit(inputs, target)
    predicted = model.predict(test.drop(columns="target").to_numpy(float))
    if side == "theirs" and regression:
        predicted = predicted * scale[1] + scale[0]
    if classes is not None:
        predicted = classes[predicted.argmax(axis=1)]
    pandas.DataFrame({"prediction": predicted}).to_csv(folder / "predictions.csv", index=False)


def timed(commands, folder, kernels):
    """Seconds by the clock, and the most memory of a process in megabytes. All cores, whatever the caller's variables say."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")} | kernels
    start, most = time.perf_counter(), 0
    for command in commands:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            ended = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said.decode()[-500:]
            raise RuntimeError(f"ended by {ended}")
        most = max(most, used.ru_maxrss / 1024)
    return time.perf_counter() - start, most


def score(folder):
    """Accuracy, or R² of numbers."""
    import numpy
    import pandas

    truth, told = pandas.read_csv(folder / "test.csv")["target"], pandas.read_csv(folder / "predictions.csv")["prediction"]
    if truth.dtype.kind == "f":
        return 1 - float(((truth - told) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())
    return float(numpy.mean(truth.to_numpy() == told.to_numpy()))


def python(folder, *words):
    """What a process of this file prints. This one stays small: a child is charged with its parent's memory."""
    command = [sys.executable, os.path.abspath(__file__), *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(given):
    mercer, results, failed = str(pathlib.Path(given.ours).resolve()), [], {}
    data = str(pathlib.Path(given.data).resolve())
    for dataset, rows, methods, *columns in CASES:
        wanted = given.least <= rows <= given.most and dataset in (given.datasets or [dataset])
        if not wanted or given.methods and not {*methods} & {*given.methods}:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            prepare = ["prepare", "--dataset", dataset, "--rows", str(rows), "--columns", str(*columns or [0]), "--data", data]
            version = python(folder, *prepare).strip()
            columns = len((folder / "train.csv").open().readline().split(",")) - 1
            for method in [own for own in methods if own in (given.methods or methods)]:
                std = repr(columns**-0.5)
                settings = {
                    "svm": [f"cost={COST}", f"std={std}"], "krr": [f"lambda={RIDGE}", f"std={std}", f"cap={rows}"], "gp": [],
                    "gpytorch": [], "rfm": [], "nystroem": [f"centres={FEATURES}", f"std={std}", f"lambda={RIDGE}"],
                }.get(method, [f"features={FEATURES}", f"std={std}", f"lambda={RIDGE}", "normalisation=unit"])
                fit = [mercer, "fit", "--quiet", "--method", OURS[method], "--data", "train.csv", "--target", "target"]
                fit += ["--force", "--out", "model.safetensors", *(word for one in settings for word in ("--set", one))]
                predict = [mercer, "predict", "--quiet", "model.safetensors", "--data", "test.csv", "--force", "--out", "predictions.csv"]
                script = [sys.executable, os.path.abspath(__file__), "run", "--method", method, "--side"]
                sides = {"command": [fit, predict], "python": [[*script, "ours"]], "theirs": [[*script, "theirs"]]}
                taken, kernels = {side: [] for side in sides}, {}
                # The long ones once.
                for _ in range(given.rounds if rows <= 2000 else 1):
                    for side, commands in list(sides.items()):
                        try:
                            try:
                                used = timed(commands, folder, kernels if side == "theirs" else {})
                            except RuntimeError as error:
                                # With 18,000 rows its solver crashes in OpenBLAS's kernels for AVX-512.
                                if kernels or side != "theirs" or "signal 11" not in str(error):
                                    raise
                                kernels = {"OPENBLAS_CORETYPE": "Haswell"}
                                used = timed(commands, folder, kernels)
                        except RuntimeError as error:
                            failed[f"{NAMES[method]}, {dataset}, {rows} rows, {side}"] = str(error)
                            break
                        taken[side].append((*used, float(python(folder, "score"))))
                told = [part for part in ("command", "python") if taken[part] and not taken["theirs"]]
                if told:
                    seconds, megabytes, worth = taken[told[0]][0]
                    failed[f"{NAMES[method]}, {dataset}, {rows} rows, theirs"] += (
                        f"; {OURS[method]}, two commands: {seconds:.2f} s, {megabytes:.0f} MB, score {worth:.3f}")
                if not all(taken.values()):
                    print(failed, file=sys.stderr)
                    continue
                medians = {side: [statistics.median(part) for part in zip(*own)] for side, own in taken.items()}
                for side in sorted(sides.keys() - {"theirs"}):
                    words = {"command": "two commands", "python": "in Python"}[side]
                    results.append({
                        "what": f"{OURS[method]}, {dataset}, {rows} x {columns}, {words}",
                        "peer": (NAMES[method] if method in PACKAGES else f"scikit-learn {version}, {NAMES[method]}")
                        + (" (Haswell kernels)" if kernels else ""),
                        "ratios": [t[0] / o[0] for o, t in zip(taken[side], taken["theirs"])],
                        "ours": medians[side], "theirs": medians["theirs"],
                    })
                    print(results[-1], file=sys.stderr)
    print(json.dumps({"results": results, "failed": failed}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    both = commands.add_parser("compare", help="ours and theirs, in turn")
    both.add_argument("--ours", required=True, help="the program `mercer`")
    both.add_argument("--data", default="data")
    both.add_argument("--rounds", type=int, default=3)
    both.add_argument("--least", type=int, default=0, help="the least rows of a case")
    both.add_argument("--most", type=int, default=10**9, help="the most rows of a case")
    both.add_argument("--datasets", nargs="+", help="these alone")
    both.add_argument("--methods", nargs="+", choices=list(NAMES), help="these alone")
    one = commands.add_parser("run", help="one side, in the folder of its files")
    one.add_argument("--side", choices=["ours", "theirs"], required=True)
    one.add_argument("--method", choices=list(NAMES), required=True)
    files = commands.add_parser("prepare", help="writes the files of a case")
    files.add_argument("--dataset", required=True)
    files.add_argument("--rows", type=int, required=True)
    files.add_argument("--columns", type=int, default=0, help="those of the dataset without it")
    files.add_argument("--data", required=True)
    commands.add_parser("score", help="prints what the predictions are worth")
    given, here = parser.parse_args(), pathlib.Path.cwd()
    if given.command == "compare":
        compare(given)
    elif given.command == "run":
        run(given.side, given.method, here)
    elif given.command == "score":
        print(score(here))
    else:
        import sklearn

        write_files(given.dataset, given.rows, given.columns, here, given.data)
        print(sklearn.__version__)


if __name__ == "__main__":
    main()
