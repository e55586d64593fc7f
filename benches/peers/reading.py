"""Reading a CSV file of a million rows, predicting them, and how the linear methods grow.

    python reading.py --ours ../../target/release/mercer --rounds 5

The rows are made up: 1,000,000 x 30 numbers and a class. A model of `majority` does nothing but read, and write a line a
row; on one core it stands beside `polars.read_csv`. `rf-ridge` with 500 features stands beside `majority`, on all cores.
A fit of 500,000 rows stands beside one of 20,000: above 1, time grows with a smaller exponent than 1.1.
Needs polars (`./setup --python`). Prints one JSON object; times are by the clock.
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

ROWS, COLUMNS, FEATURES = 1_000_000, 30, 500
GROWN = {"rf-ridge": "features", "rf-sgd": "features", "falkon": "centres"}
READ = "import sys, polars; polars.read_csv(sys.argv[1])"


def write(folder):
    import numpy
    import polars

    numbers = numpy.random.default_rng(1).normal(size=(ROWS, COLUMNS)).round(6)
    table = polars.DataFrame(numbers, schema=[f"x{j}" for j in range(COLUMNS)])
    sums = numbers[:, 0] + numbers[:, 1] * numbers[:, 2]
    table = table.with_columns(polars.Series("target", ["up" if s > 0 else "down" for s in sums]))
    for name, rows in [("all", ROWS), ("half", 500_000), ("few", 20_000)]:
        table[:rows].write_csv(folder / f"{name}.csv")
    return polars.__version__


def seconds(command, folder, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")} | variables
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", required=True, help="the program `mercer`")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    mercer, results = str(pathlib.Path(given.ours).resolve()), []

    def add(what, peer, ours, theirs, rounds, limit=1.0):
        """`limit` times theirs is what ours is held against."""
        times = [(ours(), theirs()) for _ in range(rounds)]
        results.append({
            "what": what, "peer": peer, "ratios": [limit * t / o for o, t in times],
            "ours_ms": 1e3 * statistics.median(o for o, _ in times),
            "torch_ms": {"theirs": 1e3 * limit * statistics.median(t for _, t in times)},
        })
        print(results[-1], file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        version, size = write(folder), (folder / "all.csv").stat().st_size / 1e6

        def fit(method, rows):
            name = GROWN.get(method)
            settings = ["--set", f"{name}={FEATURES}"] if name else []
            return [mercer, "fit", "--quiet", "--method", method, *settings, "--data", f"{rows}.csv", "--target", "target",
                    "--force", "--out", f"{method}.model"]

        def predict(method, *more):
            return [mercer, "predict", "--quiet", f"{method}.model", "--data", "all.csv", "--force", "--out", "told.csv", *more]

        for method in ("majority", "rf-ridge"):
            seconds(fit(method, "few"), folder)
        shape = f"{ROWS:,} x {COLUMNS}, {size:.0f} MB"
        add(f"reading a CSV file, {shape}, one core", f"polars {version}, read_csv",
            lambda: seconds(predict("majority", "--threads", "1"), folder),
            lambda: seconds([sys.executable, "-c", READ, "all.csv"], folder, POLARS_MAX_THREADS="1"), given.rounds)
        add(f"predictions of rf-ridge, D = {FEATURES}, {shape}", "three times `majority`, which reads and writes",
            lambda: seconds(predict("rf-ridge"), folder), lambda: seconds(predict("majority"), folder), given.rounds, 3.0)
        for method in GROWN:
            add(f"fit of {method} on 500,000 x {COLUMNS} rows", "25^1.1 times that on 20,000 rows",
                lambda: seconds(fit(method, "half"), folder), lambda: seconds(fit(method, "few"), folder), 3, 25**1.1)
    print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
