"""Training steps of two small networks in PyTorch on the CPU, and ours beside them.

    python torch_networks.py run --net mlp --threads 2 --steps 100
    python torch_networks.py compare --ours ../../target/release/network --rounds 5 > peers.json

The steps: `mlp` is 19-96-32 with ReLU on the full batch of 2079 rows; `cnn` is 5x5x32, maximum
over 2 x 2, 5x5x64, the same, dense 1024, on 1000 images of 28 x 28. Features forward, backward from
a given gradient of the features, Adam, all in single precision; no dropout on either side. `cen2` is
a whole step of CEN-2 on as many rows in seven classes, in double precision as ours runs: the features of
`mlp`, W = (Z'Z + n lambda I)^-1 Z'Y by a Cholesky factor, the sum of -log clip(f_y, 1e-15, 1) plus 4e |W|,
backward through the factorisation and the layers, Adam for the network and log lambda. `run` times fused Adam eager and, with `--compiled`, under torch.compile. `compare` alternates ours and
theirs in separate processes, theirs under glibc's defaults and with the allocator told to keep its
memory, which is PyTorch's best setting here, and prints medians over rounds and ratios, theirs
over ours: above 1 ours is faster.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

ROWS = {"mlp": 2079, "cnn": 1000, "cen2": 2079}
STEPS = {"mlp": 200, "cnn": 4, "cen2": 200}
CLASSES = 7
WHAT = {
    "mlp": "a fully connected network",
    "cnn": "a convolutional network",
    "cen2": "CEN-2 with its embedding",
}
WARM_UP = 3
KEEP = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "67108864",
}


def network(net):
    from torch import nn

    if net != "cnn":
        return nn.Sequential(nn.Linear(19, 96), nn.ReLU(), nn.Linear(96, 32), nn.ReLU())
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(),
    )


def objective(z, one_hot, log_lambda):
    """The read-out of an embedding of the features z, and its objective with summed losses."""
    import torch

    normal = z.T @ z + len(z) * torch.exp(log_lambda) * torch.eye(z.shape[1], dtype=z.dtype)
    w = torch.cholesky_solve(z.T @ one_hot, torch.linalg.cholesky(normal))
    said = (z @ w * one_hot).sum(1)
    loss = -torch.log(torch.clamp(said, 1e-15, 1.0)).sum()
    return w, loss + 4 * math.e * torch.linalg.norm(w)


def check_objective():
    """Against three points worked out elsewhere: experiments/golden/mce.toml, mce-2."""
    import torch

    z = torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    one_hot = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    w, q = objective(z, one_hot, torch.tensor(math.log(0.1), dtype=torch.float64))
    known = [[0.805860805860806, -0.244200244200244], [0.073260073260073, 0.280830280830281]]
    assert torch.allclose(w, torch.tensor(known, dtype=torch.float64), rtol=1e-12, atol=1e-14), w
    said = [0.952380952380952, 0.280830280830281, 0.805860805860806]
    expected = -sum(map(math.log, said)) + 4 * math.e * 0.8906615982826318
    assert abs(q.item() - expected) < 1e-10, (q.item(), expected)


def embedding_times(threads, steps, compiled):
    """Milliseconds of each step of CEN-2."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    check_objective()
    rows = ROWS["cen2"]
    model = network("cen2").double()
    x = torch.rand(rows, 19, dtype=torch.float64) * 2 - 1
    one_hot = torch.nn.functional.one_hot(torch.randint(CLASSES, (rows,)), CLASSES).double()
    log_lambda = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([*model.parameters(), log_lambda], lr=1e-3, fused=True)

    def of(x):
        return objective(model(x), one_hot, log_lambda)[1]

    forward = torch.compile(of) if compiled else of
    taken = []
    for step in range(WARM_UP + steps):
        clock = time.perf_counter()
        optimiser.zero_grad()
        forward(x).backward()
        optimiser.step()
        if step >= WARM_UP:
            taken.append(1e3 * (time.perf_counter() - clock))
    return taken


def times(net, threads, steps, compiled):
    """Milliseconds of each step."""
    import torch

    if net == "cen2":
        return embedding_times(threads, steps, compiled)
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
    for net in arguments.net or ROWS:
        for threads in (1, 2):
            ours, theirs = [], {}
            for _ in range(arguments.rounds):
                own = ["--convolutional", str(int(net == "cnn")), "--cen", str(int(net == "cen2"))]
                own += ["--rows", str(ROWS[net])]
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
                "what": f"step of {WHAT[net]}, {ROWS[net]} rows, {threads} threads",
                "peer": f"PyTorch {report['torch']}, its best allocator",
                "ratios": [min(others) / own for own, *others in rounds],
                "net": net, "threads": threads, "rounds": arguments.rounds, "torch": report["torch"],
                "ours_ms": mine, "torch_ms": medians, "best": best, "ratio_to_best": medians[best] / mine,
            })
            print(
                f"{net}, {threads} threads: ours {mine:.3f} ms, {best} {medians[best]:.3f} ms, "
                f"ratio {medians[best] / mine:.2f}",
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
