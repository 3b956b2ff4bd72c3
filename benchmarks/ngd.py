"""Measure Algorithm 1 of huang2024 against training one model at a time; see README.md.

python benchmarks/ngd.py [--json] [--quick] [--device cpu|cuda]
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.dynamics import kernels, torch_engine
from theorems.huang2024.dynamics.compact import compact, solve
from theorems.huang2024.dynamics.engine import run
from theorems.huang2024.dynamics.jobs import Job
from theorems.huang2024.dynamics.literal import Transformer
from theorems.huang2024.dynamics.stage1 import Exact

# Stage 1: step size and steps; stage 2: step size. As many datasets as in the figures.
ETA_0, T, ETA, DATASETS, THREADS = 0.3, 60, 0.1, 60, 2
SHAPE = {"size": (3, 20), "queries": (1, 20), "per_query": 4, "max_length": 10}


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def seconds(function: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def deltas(datasets: Sequence[Dataset]) -> list[float]:
    """Delta of stage 1 for each."""
    return [float(Exact(each.size, ETA_0, T).margin) for each in datasets]


def literal(dataset: Dataset, steps: int) -> list[torch.Tensor]:
    """Train one model by automatic differentiation, from its second stage on."""
    model = Transformer(dataset, dataset.size, torch.Generator().manual_seed(0))
    exact = Exact(dataset.size, ETA_0, T).matrix(dataset.successor)
    model.W_ov = torch.as_tensor(exact) @ model.E.T
    return list(model.stage_2(ETA, steps))


def literal_case(datasets: Sequence[Dataset], solutions: Any, quick: bool) -> Any:
    """Compare with one model at a time, results included, over the same steps."""
    steps, count = (20, 3) if quick else (60, 8)
    chosen, exact = datasets[:count], solutions[:count]

    def ours() -> list:
        options = {"delta": deltas(chosen), "eta": ETA, "at": [steps]}
        return run(chosen, solutions=exact, **options)

    def theirs() -> list:
        return [literal(dataset, steps)[-1].numpy() for dataset in chosen]

    rounds = [(seconds(ours), seconds(theirs)) for _ in range(2 if quick else 3)]
    own, other = (1e6 * min(each) / steps / count for each in zip(*rounds, strict=True))
    pairs = zip(ours(), theirs(), strict=True)
    gap = max(float(np.abs(track.matrix() - W).max()) for track, W in pairs)
    say(f"literal: {other:.0f} µs per step, ours {own:.1f}: {other / own:.0f} times")
    return {
        "us_per_dataset_step": own,
        "literal_us_per_dataset_step": other,
        "ratio": other / own,
        "difference": gap,
    }


def phases_case(datasets: Sequence[Dataset], solutions: Any, quick: bool) -> Any:
    """Measure a step in the early and in the late phase: CPU time of one thread."""
    jobs = [
        Job(compact(*each), {}, delta=20.0, eta=ETA, at=np.array([1]))
        for each in zip(datasets, solutions, strict=True)
    ]

    def spent(start: int, end: int) -> float:
        before = time.process_time()
        for job in jobs:
            kernels.advance(job.problem, start, end)
        return 1e6 * (time.process_time() - before) / (end - start) / len(jobs)

    early = spent(0, 300)  # the first datasets enter the late phase at about 400
    spent(300, 20_000)
    late = spent(20_000, 30_000 if quick else 70_000)
    say(f"a step of one dataset: early {early:.2f} µs, late {late:.2f} µs")
    return {"early_us": early, "late_us": late}


def horizon_case(datasets: Sequence[Dataset], solutions: Any, quick: bool) -> Any:
    """Measure all datasets to 1e5 step by step, and to 1e6 with F4."""
    found: dict[str, Any] = {"datasets": len(datasets), "threads": THREADS}
    options: dict[str, Any] = {"delta": deltas(datasets), "eta": ETA}
    options |= {"solutions": solutions, "threads": THREADS}
    for name, end in (("to_1e5_s", 10**5), ("to_1e6_s", 10**6)):
        at = [1000, end // 10 if quick else end]
        found[name] = seconds(lambda at=at: run(datasets, at=at, **options))
        say(f"{len(datasets)} datasets {name.rstrip('_s')}: {found[name]:.1f} s")
    found["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def torch_case(
    datasets: Sequence[Dataset], solutions: Any, device: str, quick: bool
) -> Any:
    """Measure the torch engine, start-up left out, and its difference from ours."""
    steps = 64 if quick else 512
    data = [compact(*each) for each in zip(datasets, solutions, strict=True)]
    options: dict[str, Any] = {"delta": deltas(datasets), "eta": ETA}

    def spent(end: int) -> float:
        return seconds(
            lambda: torch_engine.run(data, at=[end], device=device, **options)
        )

    spent(1)
    cost = 1e6 * (spent(2 * steps) - spent(steps)) / steps / len(data)
    theirs = torch_engine.run(data, at=[steps], device=device, **options)
    ours = run(datasets, at=[steps], solutions=solutions, **options)
    pairs = zip(ours, theirs, strict=True)
    gap = max(float(np.abs(a.weights - b.weights).max()) for a, b in pairs)
    say(f"torch on {device}: {cost:.1f} µs per step and dataset, difference {gap:.0e}")
    return {"device": device, "us_per_dataset_step": cost, "difference": gap}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all cases and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object, last line")
    parser.add_argument("--quick", action="store_true", help="seconds, rough figures")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        say("error: --device cuda needs a GPU that torch can see; there is none")
        return 2
    torch.set_num_threads(1)
    datasets = random_datasets(0, 6 if options.quick else DATASETS, **SHAPE)
    solutions = [solve(dataset) for dataset in datasets]
    found: dict[str, Any] = {"start_s": seconds(lambda: warm(datasets, solutions))}
    say(f"loading or compiling the loops: {found['start_s']:.1f} s")
    for name, case in (
        ("literal", literal_case),
        ("step", phases_case),
        ("horizon", horizon_case),
    ):
        found[name] = case(datasets, solutions, options.quick)
    found["torch"] = torch_case(datasets, solutions, options.device, options.quick)
    if options.json:
        print(json.dumps(found))
    return 0


def warm(datasets: Sequence[Dataset], solutions: Any) -> None:
    """Load or compile everything that is timed later."""
    run(datasets[:1], delta=20.0, eta=ETA, at=[2], solutions=solutions[:1])


if __name__ == "__main__":
    sys.exit(main())
