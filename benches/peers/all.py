"""Every side-by-side script in one run, and what came out in one line of a file that is never rewritten.

    python all.py --bin ../../target/release --rounds 5 --out ../peers.jsonl --remark "quiet machine"

A remark that calls the machine quiet waits five minutes at most until other programs want less than a tenth of its
cores, and is refused where they do not; what they wanted then is kept as `load`.

Each script alternates ours and theirs, so that both meet the same machine, and gives one ratio a
round: their time over ours, above 1 where ours is faster. A script whose programs are not installed is
named among what is missing. `performance page` shows minimum, median and maximum.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def machine():
    """Name, family and model of the processor: two kinds of machine can have one name."""
    lines = (line.split(":", 1) for line in open("/proc/cpuinfo") if ":" in line)
    told = {}
    for name, value in lines:
        told.setdefault(name.strip(), value.strip())
    return "{model name} (family {cpu family}, model {model})".format_map(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="target/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default="benches/peers.jsonl")
    parser.add_argument("--remark", required=True, help="what the times suffer from")
    parser.add_argument("--compiled", action="store_true", help="torch.compile too (needs a C++ compiler)")
    parser.add_argument(
        "--printed", action="append", default=[], metavar="SCRIPT=FILE",
        help="take what this script printed on the same day instead of running it again",
    )
    parser.add_argument("--only", action="append", help="a script's name; all without one")
    parser.add_argument("--cases", default="", help="of end_to_end, such as '--methods nystroem --least 2001'")
    given = parser.parse_args()
    # Before the scripts: afterwards it is theirs.
    load, cores, patience = os.getloadavg()[0], os.cpu_count() or 1, 300
    while "quiet" in given.remark.lower() and load > 0.1 * cores:
        if patience <= 0:
            sys.exit(f"{load:.1f} programs want {cores} cores: not quiet; wait, or say in --remark what else runs")
        # A build ended just now, maybe.
        time.sleep(10)
        load, patience = os.getloadavg()[0], patience - 10
    rounds = ["--rounds", str(given.rounds)]

    def ours(name):
        return ["--ours", os.path.join(given.bin, name)]

    compiled = ["--compiled"] if given.compiled else []
    printed = dict(pair.split("=", 1) for pair in given.printed)
    commands = {
        "torch_askl": [["compare", *ours("step"), *rounds, *compiled]],
        "torch_networks": [["compare", *ours("network"), *rounds, *compiled]],
        "scikit_learn_svm": [[*ours("svm"), "--cost", cost, *rounds] for cost in ("1", "100")],
        "closed_forms": [["compare", *ours("closed"), *rounds]],
        "end_to_end": [["compare", *ours("mercer"), *rounds, *given.cases.split()]],
        "reading": [[*ours("mercer"), *rounds]],
    }
    rows, missing = [], {}

    def add(report):
        if isinstance(report, dict):
            missing.update(report.get("failed", {}))
            report = report.get("results", [report])
        for row in report:
            kept = {key: row[key] for key in ("what", "peer", "ratios")}
            # Milliseconds of every variant of theirs, ours among them.
            kept["variants"] = {"ours": row["ours_ms"], **row["torch_ms"]} if "torch_ms" in row else {}
            # Of a whole command: seconds, megabytes and score of both sides.
            if "ours" in row and "theirs" in row:
                kept["sides"] = {side: row[side] for side in ("ours", "theirs")}
            rows.append(kept)

    for script in given.only or commands:
        if script in printed:
            add(json.loads(pathlib.Path(printed[script]).read_text()))
            continue
        for arguments in commands[script]:
            command = [sys.executable, str(HERE / f"{script}.py"), *arguments]
            print(" ".join([script, *arguments]), file=sys.stderr)
            answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if answer.returncode != 0:
                missing[script] = (answer.stderr.strip().splitlines() or ["no message"])[-1]
                continue
            add(json.loads(answer.stdout))
    if not rows and not missing:
        sys.exit(f"nothing could be measured: {missing}")
    for row in rows:
        ratios = row["ratios"]
        row.update(minimum=min(ratios), median=statistics.median(ratios), maximum=max(ratios))
        print(f"{row['what']}: {row['minimum']:.2f} {row['median']:.2f} {row['maximum']:.2f}")
    def git(*words):
        return subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()

    # What this writes is no part of the source.
    source = [":/crates", ":/benches/src", ":/benches/peers/*.py", ":/Cargo.lock"]
    changed = "-dirty" if git("status", "--porcelain", "--", *source) else ""
    written = {
        "machine": machine(),
        "day": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "code": git("rev-parse", "--short=12", "HEAD") + changed,
        # Of the times that were taken now; of those printed earlier the remark tells.
        "load": None if set(given.only or commands) <= set(printed) else load,
        "remark": given.remark,
        # Empty: every case was timed, and older ones are not shown any more.
        "cases": given.cases,
        "missing": missing,
        "rows": rows,
    }
    with open(given.out, "a") as runs:
        runs.write(json.dumps(written) + "\n")


if __name__ == "__main__":
    main()
