"""Measure batched training against loops over single models; see README.md here.

python benchmarks/training.py [--json] [--device cpu|cuda] [--quick] [--case NAME]
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from verify.train.icl import Setting
from verify.train.layout import runs_first
from verify.train.loop import Trajectory, train
from verify.train.optimisers import NormalisedGD
from verify.train.transformer import (
    Classification,
    classifier_gradient,
    classifier_loss,
)
from verify.train.window import pretrain

SEEDS = 100
# In-context regression: dimension, tokens, queries, Lipschitz constant, noise, rates.
D, N_TOKENS, N_QUERIES, LIPSCHITZ, NOISE, RATE, DECAY = 5, 20, 4, 1.0, 0.1, 0.01, 0.999
# Max-margin attention: inputs, tokens, dimension, length of a step, steps.
INPUTS, TOKENS, WIDTH, STEP, STEPS = 6, 8, 10, 0.1, 2000
AXES = {"steps": (100, 200, 400, 800), "n": (10, 20, 40, 80, 160), "d": (3, 5, 10, 20)}
Run = Callable[[int, Callable[[int, int], object] | None], Trajectory]


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def synchronise() -> None:
    """Wait for a GPU, if there is one, to finish what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(function: Callable[[], object]) -> float:
    """Time one call, a GPU's own work included."""
    synchronise()
    start = time.perf_counter()
    function()
    synchronise()
    return time.perf_counter() - start


def interleaved(functions: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Time functions in turn, so that all meet the same machine; keep each's best."""
    rounds = [[seconds(function) for function in functions] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def per_step(run: Run, steps: int, repeats: int, skip: int = 5) -> float:
    """Time a step, start-up and the first ``skip`` steps left out; best of repeats."""
    best = float("inf")
    for _ in range(repeats):
        marks: list[float] = []

        def mark(made: int, _: int, marks: list[float] = marks) -> None:
            if made in {skip, skip + steps}:
                synchronise()
                marks.append(time.perf_counter())

        run(skip + steps, mark)
        best = min(best, (marks[1] - marks[0]) / steps)
    return best


def study(runs: int, device: str, n: int = N_TOKENS, d: int = D) -> Run:
    """Prepare in-context regression, all runs at once."""
    setting = Setting("affine", "isotropic", d, n, N_QUERIES)
    lipschitz, noise, rate = (
        torch.full((runs,), value, dtype=torch.float64)
        for value in (LIPSCHITZ, NOISE, RATE)
    )

    def run(steps: int, progress: Callable[[int, int], object] | None) -> Trajectory:
        return pretrain(
            setting,
            range(runs),
            lipschitz,
            noise,
            rate,
            decay=DECAY,
            steps=steps,
            device=device,
            progress=progress,
        )

    return run


def study_in_a_loop(steps: int, seeds: Sequence[int]) -> None:
    """Do the same study as a notebook does: model by model, query by query."""
    for seed in seeds:
        torch.manual_seed(seed)
        W = torch.nn.Parameter(0.001 * torch.eye(D, dtype=torch.float64))
        optimiser = torch.optim.Adam([W], lr=RATE)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, DECAY)
        for _ in range(steps):
            points = torch.randn(N_TOKENS + N_QUERIES + 1, D, dtype=torch.float64)
            points = points / points.norm(dim=1, keepdim=True)
            slope, offset = LIPSCHITZ * (2 * torch.rand(2, dtype=torch.float64) - 1)
            values = slope * (points[1:] @ points[0]) + offset
            x, y = points[1 : 1 + N_TOKENS], values[:N_TOKENS]
            y = y + NOISE * torch.randn(N_TOKENS, dtype=torch.float64)
            M = W.T @ W
            loss = torch.zeros((), dtype=torch.float64)
            for query, target in zip(
                points[1 + N_TOKENS :], values[N_TOKENS:], strict=True
            ):
                predicted = torch.softmax(x @ (M @ query), dim=0) @ y
                loss = loss + (predicted - target) ** 2 / N_QUERIES
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()


def margin_data(runs: int, device: str) -> Classification:
    """Draw inputs on the unit sphere, their first tokens as queries, labels, heads."""
    g = torch.Generator().manual_seed(0)
    X, head = (
        torch.nn.functional.normalize(
            torch.randn(runs, *shape, WIDTH, generator=g, dtype=torch.float64), dim=-1
        )
        for shape in ((INPUTS, TOKENS), ())
    )
    labels = torch.randint(2, (runs, INPUTS), generator=g) * 2 - 1
    X, labels, head = X.to(device), labels.to(device), head.to(device)
    return Classification(X, X[:, :, 0].clone(), labels, head)


def still(runs: int, device: str) -> Tensor:
    """Make ``W = 0``, the runs last in memory."""
    zeros = torch.zeros(WIDTH, WIDTH, runs, dtype=torch.float64, device=device)
    return runs_first(zeros)


def margins(data: Classification) -> Run:
    """Prepare normalised gradient descent on a classifier, all runs at once."""
    runs, device = len(data.head), data.head.device.type

    def run(steps: int, progress: Callable[[int, int], object] | None) -> Trajectory:
        return train(
            {"W": still(runs, device)},
            classifier_loss,
            lambda _: data,
            NormalisedGD(STEP),
            steps,
            gradient=classifier_gradient,
            progress=progress,
        )

    return run


def margins_in_a_loop(
    data: Classification, steps: int, seeds: Sequence[int]
) -> list[Tensor]:
    """Do the same as a notebook does: seed by seed, by automatic differentiation."""
    found = []
    for seed in seeds:
        X, z, v = data.inputs[seed], data.queries[seed], data.head[seed]
        y = data.labels[seed].double()
        W = torch.nn.Parameter(torch.zeros(WIDTH, WIDTH, dtype=torch.float64))
        for _ in range(steps):
            attention = torch.softmax((X @ (z @ W.T)[:, :, None])[:, :, 0], dim=1)
            logits = (attention[:, None] @ X)[:, 0] @ v
            loss = torch.log(1 + torch.exp(-y * logits)).mean()
            W.grad = None
            loss.backward()
            with torch.no_grad():
                W -= STEP * W.grad / W.grad.norm()
        found.append(W.detach())
    return found


def compare(
    name: str, run: Run, steps: int, loop: Callable[[], object], loop_steps: int
) -> tuple[float, float]:
    """Time 100 seeds at once and a loop's one seed in turn, in µs per seed-step."""
    times = interleaved([lambda: run(steps, None), loop], repeats=5)
    ours, naive = 1e6 * times[0] / steps / SEEDS, 1e6 * times[1] / loop_steps
    say(f"{name}: {ours:.2f} µs per seed-step, loop {naive:.0f}: {naive / ours:.0f}x")
    return ours, naive


def study_case(device: str, quick: bool) -> dict[str, Any]:
    """Compare the study with the loop over single models."""
    steps, count = (50, 40) if quick else (400, 200)
    loop = partial(study_in_a_loop, count, [0])
    ours, naive = compare("study", study(SEEDS, device), steps, loop, count)
    return {
        "speedup_over_naive": naive / ours,
        "study_us_per_seed_step": ours,
        "naive_us_per_seed_step": naive,
    }


def margin_case(device: str, quick: bool) -> dict[str, Any]:
    """Compare normalised descent with the loop, its results included."""
    steps, count = (200, 100) if quick else (STEPS, 400)
    host = margin_data(SEEDS, "cpu")
    run = margins(margin_data(SEEDS, device))
    loop = partial(margins_in_a_loop, host, count, [0])
    ours, naive = compare("descent", run, steps, loop, count)
    first = run(50, None).params["W"][:3].cpu()
    expected = torch.stack(margins_in_a_loop(host, 50, range(3)))
    gap = float((first - expected).abs().max())
    peer = {"us_per_seed_step": naive, "ratio": naive / ours, "difference": gap}
    return {"ngd_us_per_seed_step": ours, "peers": {"literal_loop": peer}}


def sizes(device: str, quick: bool) -> list[int]:
    """List the numbers of runs of the scaling case."""
    top = 5 if quick else 7
    return [4**k for k in range(top)] + ([16384, 65536] if device == "cuda" else [])


def scaling_case(device: str, quick: bool) -> dict[str, Any]:
    """Measure the study's step against runs, steps, tokens and dimension."""
    work, repeats, rows = 1500 if quick else 20_000, 2 if quick else 3, []
    for runs in sizes(device, quick):
        steps = min(400, max(20, work // runs))
        cost = 1e6 * per_step(study(runs, device), steps, repeats)
        rows.append({"runs": runs, "us_per_run_step": cost / runs})
        say(f"scaling: {runs:6d} runs, {cost / runs:9.3f} µs per run-step")
    result: dict[str, Any] = {"runs": rows, **saturation(rows)}
    for axis, values in AXES.items():
        result[axis] = along(axis, values, device, quick)
    return {"scaling": result}


def along(axis: str, values: Sequence[int], device: str, quick: bool) -> dict[str, Any]:
    """Measure one axis at 512 runs (100 where quick or for steps); fit its power."""
    runs = SEEDS if axis == "steps" or quick else 512
    if axis == "steps":
        run = study(runs, device)
        values = [value // 10 for value in values] if quick else values
        costs = [
            min(seconds(partial(run, count, None)) for _ in range(3))
            for count in values
        ]
    else:
        costs = [
            per_step(study(runs, device, **{axis: v}), 15 if quick else 60, 2)
            for v in values
        ]
    power = float(np.polyfit(np.log(values), np.log(costs), 1)[0])
    say(f"scaling: time grows as {axis}^{power:.2f} over {tuple(values)}")
    fit = affine(values, costs)
    return {"values": list(values), "seconds": costs, "power": power, "affine": fit}


def affine(values: Sequence[int], costs: Sequence[float]) -> dict[str, float]:
    """Fit ``overhead + slope · value`` by relative errors; give the worst of them."""
    x, y = np.array(values, dtype=float), np.array(costs)
    system = np.stack([np.ones_like(x), x], axis=1) / y[:, None]
    found = np.linalg.lstsq(system, np.ones_like(y), rcond=None)[0]
    misfit = float(np.abs(system @ found - 1).max())
    return {"overhead": float(found[0]), "slope": float(found[1]), "misfit": misfit}


def saturation(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Fit a step's time against runs; find from where cost per run is least."""
    runs = [int(row["runs"]) for row in rows]
    cost = np.array([row["us_per_run_step"] for row in rows])
    fit = affine(runs, list(cost * runs))
    near = [r for r, c in zip(runs, cost, strict=True) if c <= 1.1 * cost.min()]
    say(
        f"scaling: {fit['overhead']:.0f} µs per step + {fit['slope']:.2f} µs per "
        f"run-step; within 10 % of the least from {near[0]} runs"
    )
    return {
        "us_per_step": fit,
        "linear_range": [near[0], near[-1]],
        "saturates_at_runs": near[0],
    }


def one_step(W: Tensor, data: Classification) -> Tensor:
    """Make one step in place on static memory, as a captured graph needs it."""
    losses, grads = classifier_gradient({"W": W}, data)
    moved, _ = NormalisedGD(STEP).step({"W": W}, grads, {}, 0)
    alive = (losses < float("inf"))[:, None, None]
    return W.copy_(torch.where(alive, moved["W"], W))


def graph_us(data: Classification, steps: int) -> float | str:
    """Time a step replayed from a CUDA graph, in µs; or say why there is none."""
    W = still(len(data.head), data.head.device.type)
    try:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                one_step(W, data)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            one_step(W, data)
        total = seconds(lambda: [graph.replay() for _ in range(steps)])
        return 1e6 * total / steps
    except (RuntimeError, AssertionError) as error:
        return f"failed: {str(error).splitlines()[0]}"


def line(case: str, runs: int, device: str, steps: int) -> float:
    """Measure one of the two batched cases, print a line, return µs per step."""
    data = margin_data(runs, device)
    run = study(runs, device) if case == "study" else margins(data)
    cost = 1e6 * per_step(run, steps, 3)
    figures = {"case": case, "device": device, "threads": torch.get_num_threads()}
    figures |= {"runs": runs, "us_per_step": cost, "us_per_run_step": cost / runs}
    if case == "ngd" and device == "cuda":
        figures["us_per_step_cuda_graph"] = graph_us(data, steps)
    print(json.dumps(figures), flush=True)
    return cost


def device_case(device: str, quick: bool, top: int = 4096) -> dict[str, Any]:
    """Print a line per case and number of runs; compare with the CPU at 4096 runs."""
    steps, host_steps = (50, 10) if quick else (300, 20)
    ratios: dict[str, Any] = {}
    for case in ("study", "ngd"):
        numbers = [runs for runs in sizes("cpu", quick=False) if runs < top]
        costs = [line(case, runs, device, steps) for runs in (*numbers, top, 4 * top)]
        for name, threads in (("one_thread", 1), ("all_threads", os.cpu_count() or 1)):
            torch.set_num_threads(threads)
            ratio = line(case, top, "cpu", host_steps) / costs[-2]
            ratios[f"{case}_over_{name}"] = ratio
        torch.set_num_threads(1)
    least = min(ratios["study_over_one_thread"], ratios["ngd_over_one_thread"])
    result = {f"gpu_over_cpu_at_{top}": least, **ratios}
    print(json.dumps(result), flush=True)
    return result


CASES = {"study": study_case, "ngd": margin_case, "scaling": scaling_case}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases asked for and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object, last line")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--quick", action="store_true", help="seconds, rough figures")
    parser.add_argument("--case", choices=[*CASES, "device"], help="only this one")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        say("error: --device cuda needs a GPU that torch can see; there is none")
        return 2
    torch.set_num_threads(1)
    cases = CASES | ({"device": device_case} if options.device == "cuda" else {})
    if options.case:
        cases = {options.case: {**CASES, "device": device_case}[options.case]}
    result: dict[str, Any] = {
        "device": options.device,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "machine": machine(options.device),
        "quick": options.quick,
    }
    for case in cases.values():
        result |= case(options.device, options.quick)
    if options.json:
        print(json.dumps(result), flush=True)
    return 0


def machine(device: str) -> str:
    """Name the processor that is measured."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    info = Path("/proc/cpuinfo")
    text = info.read_text("utf-8") if info.exists() else ""
    names = [line for line in text.splitlines() if line.startswith("model name")]
    return names[0].split(": ")[1] if names else platform.machine()


if __name__ == "__main__":
    sys.exit(main())
