"""Closed forms beside SciPy's and scikit-learn's, alternating in one run.

    python closed_forms.py compare --ours ../../target/release/closed --rounds 5 --threads 2

Cholesky factors of a kernel matrix (n = 8192) beside LAPACK's `dpotrf` as SciPy calls it in place,
and kernel ridge regression (n = 4000 and 8000, fit and 2000 predictions) beside scikit-learn's.
Theirs runs with `OPENBLAS_CORETYPE` unset and, on a processor with AVX-512, set to SkylakeX, which
makes the BLAS of their wheels about twice as fast here; the ratio is against the faster of the two.
The numbers are the same on both sides, and predictions are compared. Prints one JSON object.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

INPUTS, TEST_ROWS, STD, LAMBDA = 20, 2000, 0.5, 1e-4


def points(rows, seed):
    import numpy

    mask, state, values = (1 << 64) - 1, seed, []
    for _ in range(rows * INPUTS):
        state = (state * 6364136223846793005 + 1442695040888963407) & mask
        values.append((state >> 11) / (1 << 53))
    return numpy.array(values).reshape(rows, INPUTS)


def run(what, n, out):
    """Prints the seconds of one round of theirs."""
    import numpy

    x = points(n, 1)
    if what == "cholesky":
        from scipy.linalg.lapack import dpotrf
        from sklearn.metrics.pairwise import rbf_kernel

        gram = numpy.asfortranarray(rbf_kernel(x, gamma=STD**2 / 2))
        gram[numpy.diag_indices(n)] += 1.0
        start = time.perf_counter()
        _, info = dpotrf(gram, lower=1, clean=0, overwrite_a=1)
        print(time.perf_counter() - start)
        assert info == 0
        return
    from sklearn.kernel_ridge import KernelRidge

    test, y = points(TEST_ROWS, 2), numpy.sin(3 * x).sum(axis=1)
    start = time.perf_counter()
    model = KernelRidge(alpha=LAMBDA * n, kernel="rbf", gamma=STD**2 / 2).fit(x, y)
    predictions = model.predict(test)
    print(time.perf_counter() - start)
    if out:
        predictions.astype("<f8").tofile(out)


def theirs(what, n, threads, core, out):
    environment = dict(os.environ, OPENBLAS_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
    environment.pop("OPENBLAS_CORETYPE", None)
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    command = [sys.executable, __file__, "run", "--what", what, "--n", str(n), "--out", out]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def ours(binary, what, n, threads, out):
    command = [binary, what, "--n", str(n), "--threads", str(threads), "--rounds", "1", "--out", out]
    environment = dict(os.environ)
    environment.pop("OPENBLAS_CORETYPE", None)
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def program(what):
    import scipy
    import sklearn

    if what == "cholesky":
        return f"SciPy {scipy.__version__}, the faster of two OpenBLAS kernels"
    return f"scikit-learn {sklearn.__version__}, the faster of two OpenBLAS kernels"


def compare(binary, rounds, threads):
    import numpy

    with open("/proc/cpuinfo") as info:
        cores = ["", "SkylakeX"] if "avx512f" in info.read() else [""]
    results = []
    for what, n in (("cholesky", 8192), ("ridge", 4000), ("ridge", 8000)):
        times = {name: [] for name in ["ours", *(core or "unset" for core in cores)]}
        apart = None
        with tempfile.TemporaryDirectory() as folder:
            mine, other = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
            for _ in range(rounds):
                times["ours"].append(ours(binary, what, n, threads, mine))
                for core in cores:
                    times[core or "unset"].append(theirs(what, n, threads, core, other))
            if what == "ridge":
                apart = float(numpy.abs(numpy.fromfile(mine) - numpy.fromfile(other)).max())
        medians = {name: statistics.median(values) for name, values in times.items()}
        best = min(value for name, value in medians.items() if name != "ours")
        peers = [values for name, values in times.items() if name != "ours"]
        results.append({
            "what": f"{'Cholesky factor' if what == 'cholesky' else 'kernel ridge, fit and predictions'}, n = {n}, {threads} threads",
            "peer": program(what), "ratios": [min(others) / own for own, *others in zip(times["ours"], *peers)],
            "kind": what, "n": n, "threads": threads, "median_seconds": medians,
            "ratio_to_their_best": best / medians["ours"], "largest_difference": apart,
        })
    print(json.dumps({"load": os.getloadavg(), "results": results}, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    one = modes.add_parser("run")
    one.add_argument("--what", choices=["cholesky", "ridge"], required=True)
    one.add_argument("--n", type=int, required=True)
    one.add_argument("--out", default="")
    both = modes.add_parser("compare")
    both.add_argument("--ours", required=True)
    both.add_argument("--rounds", type=int, default=5)
    both.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.mode == "run":
        run(given.what, given.n, given.out)
    else:
        compare(given.ours, given.rounds, given.threads)


if __name__ == "__main__":
    main()
