"""The ASKL training step in PyTorch on the CPU, and both side by side.

    python torch_askl.py run --d 784 --k 10 --threads 2 --steps 100
    python torch_askl.py compare --ours ../../target/release/step --rounds 5 > peers.json

`run` times every variant: Adam as a loop over tensors (the default), foreach and fused; the
threshold by `linalg.svd` of W or by `linalg.eigh` of its Gram matrix; eager, or with the forward
pass compiled. `compare` alternates our step and the variants in separate processes, so that both
meet the same machine, and prints medians over rounds and their ratios. The step is the same:
batch 32, D = 2000, two maps with a shared phase, cross-entropy, mean squared feature norm,
Adam on W, O and O', then the threshold, every step, single precision.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

BATCH, FEATURES, ROWS, WARM_UP = 32, 2000, 4096, 15
RATE, LAMBDA1, LAMBDA2 = 1e-3, 1e-4, 1e-4


def variants(compiled):
    for adam in ("default", "foreach", "fused"):
        for threshold in ("svd", "eigh"):
            yield adam, threshold, False
    if compiled:
        for threshold in ("svd", "eigh"):
            yield "fused", threshold, True


def name(variant):
    adam, threshold, compiled = variant
    return f"{adam}-{threshold}-{'compiled' if compiled else 'eager'}"


def times(variant, d, k, threads, steps):
    """Seconds of each step of one variant."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    adam, how, compiled = variant
    std = d**-0.5
    x_all = torch.rand(ROWS, d) * 2 - 1
    y_all = torch.randint(k, (ROWS,))
    o1 = (torch.randn(d, FEATURES) * std).requires_grad_()
    o2 = (torch.randn(d, FEATURES) * std).requires_grad_()
    b = torch.rand(FEATURES) * 2 * torch.pi
    w = torch.randn(FEATURES, k).requires_grad_()
    options = {"default": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    optimiser = torch.optim.Adam([w, o1, o2], lr=RATE, **options[adam])
    scale, tau = (2 * FEATURES) ** -0.5, RATE * LAMBDA1

    def objective(x, y, o1, o2, w):
        phi = (torch.cos(x @ o1 + b) + torch.cos(x @ o2 + b)) * scale
        loss = torch.nn.functional.cross_entropy(phi @ w, y)
        return loss + LAMBDA2 * phi.square().sum() / x.shape[0]

    if compiled:
        objective = torch.compile(objective)

    def shrink():
        with torch.no_grad():
            if how == "svd":
                u, s, vt = torch.linalg.svd(w, full_matrices=False)
                w.copy_((u * (s - tau).clamp(min=0)) @ vt)
            else:
                g, v = torch.linalg.eigh(w.T @ w)
                keep = (1 - tau * g.clamp(min=1e-30).rsqrt()).clamp(min=0)
                w.copy_(w @ ((v * keep) @ v.T))

    seconds, order = [], torch.randperm(ROWS)
    for step in range(steps + WARM_UP):
        rows = order[(step * BATCH) % ROWS :][:BATCH]
        begun = time.perf_counter()
        x, y = x_all[rows], y_all[rows]
        optimiser.zero_grad(set_to_none=True)
        objective(x, y, o1, o2, w).backward()
        optimiser.step()
        shrink()
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - begun)
    return seconds


def run(arguments):
    import torch

    report = {"torch": torch.__version__, "d": arguments.d, "k": arguments.k, "threads": arguments.threads}
    report["median_ms"] = {}
    for variant in variants(arguments.compiled):
        if arguments.only and name(variant) not in arguments.only:
            continue
        try:
            seconds = times(variant, arguments.d, arguments.k, arguments.threads, arguments.steps)
        except Exception as error:  # torch.compile needs a C++ compiler, which may be missing
            print(f"{name(variant)}: {error}", file=sys.stderr)
            continue
        report["median_ms"][name(variant)] = 1e3 * statistics.median(seconds)
    print(json.dumps(report))


def json_of(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def side_by_side(commands):
    """Runs the commands at the same time and returns what each printed."""
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for c in commands]
    return [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]


def compare(arguments):
    this = [sys.executable, __file__, "run"] + (["--compiled"] if arguments.compiled else [])
    results = []
    for d, k in ((784, 10), (16, 26)):
        shape = ["--d", str(d), "--k", str(k), "--steps", str(arguments.steps if d > 100 else 5 * arguments.steps)]
        for mode in ("latency", "throughput"):
            ours, theirs = [], {}
            for _ in range(arguments.rounds):
                if mode == "latency":
                    ours.append(json_of([arguments.ours, *shape, "--threads", "2"])["median_ms"])
                    reports = [json_of([*this, *shape, "--threads", "2"])]
                else:
                    # Two fits at once, one thread each: milliseconds a step over both.
                    rate = json_of([arguments.ours, *shape, "--threads", "1", "--trials", "2"])
                    ours.append(1e3 / rate["steps_per_second"])
                    reports = side_by_side([[*this, *shape, "--threads", "1"]] * 2)
                for variant in reports[0]["median_ms"]:
                    both = [report["median_ms"][variant] for report in reports]
                    theirs.setdefault(variant, []).append(1 / sum(1 / ms for ms in both))
            mine = statistics.median(ours)
            medians = {variant: statistics.median(values) for variant, values in theirs.items()}
            eager = {variant: ms for variant, ms in medians.items() if variant.endswith("eager")}
            best = min(eager, key=eager.get)
            rounds = zip(ours, *(theirs[variant] for variant in eager))
            results.append(
                {
                    "what": f"training step, d = {d}, K = {k}, {mode}",
                    "peer": f"PyTorch {reports[0]['torch']}, its best eager variant",
                    "ratios": [min(others) / own for own, *others in rounds],
                    "d": d,
                    "k": k,
                    "mode": mode,
                    "rounds": arguments.rounds,
                    "torch": reports[0]["torch"],
                    "ours_ms": mine,
                    "torch_ms": medians,
                    "best_eager": best,
                    "ratio_to_best_eager": eager[best] / mine,
                    "ratio_to_best": min(medians.values()) / mine,
                    "ratio_to_default": medians["default-svd-eager"] / mine,
                }
            )
            last = results[-1]
            print(
                f"d={d} K={k} {mode}: ours {mine:.3f} ms, best eager {best} {eager[best]:.3f} ms, "
                f"ratio {last['ratio_to_best_eager']:.2f}",
                file=sys.stderr,
            )
    print(json.dumps(results, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("--d", type=int, default=784)
    one.add_argument("--k", type=int, default=10)
    one.add_argument("--threads", type=int, default=2)
    one.add_argument("--steps", type=int, default=100)
    one.add_argument("--compiled", action="store_true")
    one.add_argument("--only", action="append")
    one.set_defaults(call=run)
    both = commands.add_parser("compare")
    both.add_argument("--ours", default="target/release/step")
    both.add_argument("--rounds", type=int, default=5)
    both.add_argument("--steps", type=int, default=100)
    both.add_argument("--compiled", action="store_true")
    both.set_defaults(call=compare)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
