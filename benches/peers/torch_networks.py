"""Training steps of two small networks in PyTorch on the CPU, and ours beside them.

    python torch_networks.py run --net mlp --threads 2 --steps 100
    python torch_networks.py compare --ours ../../target/release/network --rounds 5 > peers.json

The steps: `mlp` is 19-96-32 with ReLU on the full batch of 2079 rows; `cnn` is 5x5x32, maximum
over 2 x 2, 5x5x64, the same, dense 1024, on 1000 images of 28 x 28. Features forward, backward from
a given gradient of the features, Adam, all in single precision; no dropout on either side. `run`
times fused Adam eager and, with `--compiled`, under torch.compile. `compare` alternates ours and
theirs in separate processes, theirs under glibc's defaults and with the allocator told to keep its
memory, which is PyTorch's best setting here, and prints medians over rounds and ratios: below 1 is
faster than PyTorch.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROWS = {"mlp": 2079, "cnn": 1000}
STEPS = {"mlp": 200, "cnn": 4}
WARM_UP = 3
KEEP = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "67108864",
}


def network(net):
    from torch import nn

    if net == "mlp":
        return nn.Sequential(nn.Linear(19, 96), nn.ReLU(), nn.Linear(96, 32), nn.ReLU())
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(),
    )


def times(net, threads, steps, compiled):
    """Milliseconds of each step."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = network(net)
    shape = (ROWS[net], 19) if net == "mlp" else (ROWS[net], 1, 28, 28)
    x = torch.rand(shape) * 2 - 1
    g = torch.rand(ROWS[net], 32 if net == "mlp" else 1024) * 2 - 1
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    forward = torch.compile(model) if compiled else model
    taken = []
    for step in range(WARM_UP + steps):
        clock = time.perf_counter()
        optimiser.zero_grad()
        forward(x).backward(g)
        optimiser.step()
        if step >= WARM_UP:
            taken.append(1e3 * (time.perf_counter() - clock))
    return taken


def run(arguments):
    import torch

    steps = arguments.steps or STEPS[arguments.net]
    medians = {}
    for compiled in (False, True) if arguments.compiled else (False,):
        taken = times(arguments.net, arguments.threads, steps, compiled)
        medians["fused-compiled" if compiled else "fused-eager"] = statistics.median(taken)
    print(json.dumps({"torch": torch.__version__, "median_ms": medians}))


def json_of(command, extra=None):
    environment = {**os.environ, **(extra or {})}
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)


def compare(arguments):
    this = [sys.executable, __file__, "run"]
    results = []
    for net in arguments.net or ("mlp", "cnn"):
        for threads in (1, 2):
            ours, theirs = [], {}
            for _ in range(arguments.rounds):
                own = ["--convolutional", str(int(net == "cnn")), "--rows", str(ROWS[net])]
                own += ["--threads", str(threads), "--steps", str(5 * STEPS[net])]
                ours.append(json_of([arguments.ours, *own])["median_ms"])
                for setting, extra in (("glibc", None), ("kept", KEEP)):
                    peer = ["--net", net, "--threads", str(threads)]
                    peer += ["--compiled"] if arguments.compiled else []
                    report = json_of([*this, *peer], extra)
                    for variant, ms in report["median_ms"].items():
                        theirs.setdefault(f"{variant}-{setting}", []).append(ms)
            mine = statistics.median(ours)
            medians = {variant: statistics.median(values) for variant, values in theirs.items()}
            best = min(medians, key=medians.get)
            rounds = zip(ours, *theirs.values())
            results.append({
                "what": f"step of a {'convolutional' if net == 'cnn' else 'fully connected'} network, "
                f"{ROWS[net]} rows, {threads} threads",
                "peer": f"PyTorch {report['torch']}, its best allocator",
                "ratios": [min(others) / own for own, *others in rounds],
                "net": net, "threads": threads, "rounds": arguments.rounds, "torch": report["torch"],
                "ours_ms": mine, "torch_ms": medians, "best": best, "ratio_to_best": mine / medians[best],
            })
            print(
                f"{net}, {threads} threads: ours {mine:.3f} ms, {best} {medians[best]:.3f} ms, "
                f"ratio {mine / medians[best]:.2f}",
                file=sys.stderr,
            )
    print(json.dumps(results, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--net", choices=ROWS, default="mlp")
    one.add_argument("--threads", type=int, default=2)
    one.add_argument("--steps", type=int)
    one.add_argument("--compiled", action="store_true")
    one.set_defaults(call=run)
    both = commands.add_parser("compare")
    both.add_argument("--ours", default="target/release/network")
    both.add_argument("--net", action="append", choices=ROWS)
    both.add_argument("--rounds", type=int, default=5)
    both.add_argument("--compiled", action="store_true")
    both.set_defaults(call=compare)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
