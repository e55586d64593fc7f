"""Time and memory of `mercer fit` with its defaults on covtype, class 2 against the rest, as the rows grow.

    python growth.py --ours ../../target/release/mercer --data ../../data

Prints the table of book/src/rfm.md, one run each. Seconds are by the clock and include reading the CSV file.
Needs our Python package and pandas (`./setup --python`).
"""

import argparse
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

METHODS = ["rfm", "gaussian-process", "falkon", "metric-svm", "hyper-krr-linear", "hyper-krr-metric", "gaussian-svm"]
SIZES = [2_000, 20_000, 200_000]


def write(data, folder):
    import mercer
    import numpy
    import pandas

    found = mercer.load_dataset("covtype", data)
    order = numpy.random.default_rng(1).permutation(len(found.data))[: SIZES[-1]]
    table = pandas.DataFrame(found.data[order])
    table["target"] = numpy.where(found.target[order].astype(str) == "2", "two", "rest")
    for rows in SIZES:
        table[:rows].to_csv(folder / f"{rows}.csv", index=False)


def fit(mercer, method, rows, folder):
    """Seconds, and the most megabytes."""
    command = [mercer, "fit", "--quiet", "--method", method, "--data", f"{rows}.csv", "--target", "target", "--force", "--out", "model"]
    start = time.perf_counter()
    _, status, usage = os.wait4(subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL).pid, 0)
    if status != 0:
        sys.exit(f"{method} on {rows} rows ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", required=True, help="the program `mercer`")
    parser.add_argument("--data", required=True, help="the folder of the datasets")
    parser.add_argument("--methods", default=",".join(METHODS))
    given = parser.parse_args()
    mercer = str(pathlib.Path(given.ours).resolve())
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: a child's peak of memory is at least what its parent holds.
        writer = multiprocessing.get_context("spawn").Process(target=write, args=(given.data, pathlib.Path(folder)))
        writer.start()
        writer.join()
        print("| method | " + " | ".join(f"s, {rows:,} rows" for rows in SIZES) + " | most memory, MB, in this order |")
        print("|:--|" + "--:|" * (len(SIZES) + 1))
        for method in given.methods.split(","):
            found = [fit(mercer, method, rows, folder) for rows in SIZES]
            cells = [f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}" for seconds, _ in found]
            print(f"| `{method}` | " + " | ".join(cells) + " | " + ", ".join(f"{memory:,.0f}" for _, memory in found) + " |", flush=True)


if __name__ == "__main__":
    main()
