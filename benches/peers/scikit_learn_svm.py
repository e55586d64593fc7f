"""Our support vector machine and scikit-learn's (LIBSVM) on the same kernel matrix, side by side.

    python scikit_learn_svm.py --ours ../../target/release/svm --n 4000 --rounds 5

Two Gaussian clouds in 20 dimensions, kernel exp(-0.05 |x - z|^2) in memory, the same C and the same
tolerance on both sides. Rounds alternate; the medians, their ratio (theirs over ours), and the differences of objective
and decision values are printed as one JSON object. LIBSVM keeps its kernel in single precision.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import sklearn
from sklearn.svm import SVC

parser = argparse.ArgumentParser()
parser.add_argument("--ours", required=True)
parser.add_argument("--n", type=int, default=4000)
parser.add_argument("--cost", type=float, default=1.0)
parser.add_argument("--tolerance", type=float, default=1e-6)
parser.add_argument("--rounds", type=int, default=5)
options = parser.parse_args()

rng = np.random.default_rng(20260101)
y = np.arange(options.n) % 2
x = rng.normal(size=(options.n, 20)) + 0.6 * (2 * y[:, None] - 1) * (np.arange(20) < 10)
squares = (x * x).sum(axis=1)
gram = np.exp(-0.05 * np.maximum(squares[:, None] + squares[None] - 2 * x @ x.T, 0.0))
gram = np.ascontiguousarray((gram + gram.T) / 2)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    gram.astype("<f8").tofile(folder / "gram.f64")
    y.astype("u1").tofile(folder / "labels.u8")
    ours, theirs = [], []
    for _ in range(options.rounds):
        command = [options.ours, name, str(options.cost), str(options.tolerance), "3"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ours.append(answer["seconds"])
        machine = SVC(C=options.cost, kernel="precomputed", tol=options.tolerance)
        once = []
        for _ in range(3):
            begun = time.perf_counter()
            machine.fit(gram, y)
            once.append(time.perf_counter() - begun)
        theirs.append(statistics.median(once))
    decision = np.fromfile(folder / "decision.f64", dtype="<f8")

weights = machine.dual_coef_[0]
support = machine.support_
objective = 0.5 * weights @ gram[np.ix_(support, support)] @ weights - np.abs(weights).sum()
print(json.dumps({
    "what": f"support vector machine, n = {options.n}, C = {options.cost:g}, one thread",
    "peer": f"scikit-learn {sklearn.__version__} (LIBSVM)",
    "ratios": [other / own for own, other in zip(ours, theirs)],
    "n": options.n, "cost": options.cost, "tolerance": options.tolerance,
    "program": f"scikit-learn {sklearn.__version__}", "rounds": options.rounds,
    "ours_seconds": statistics.median(ours), "theirs_seconds": statistics.median(theirs),
    "ratio": statistics.median(theirs) / statistics.median(ours),
    "ours_steps": answer["steps"], "their_steps": int(machine.n_iter_[0]),
    "ours_set_aside": answer["set_aside"],
    "objective": answer["objective"],
    "objective_difference_relative": abs(answer["objective"] - objective) / abs(objective),
    "decision_difference_largest": float(np.abs(decision - machine.decision_function(gram)).max()),
    "support": [answer["support"], len(support)],
}, indent=1))
