"""Measure the exact loss and its minimiser against literal ways; see README.md here.

python benchmarks/window.py [--json] [--quick]
"""

import argparse
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import integrate, optimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from theorems.collins2024.loss import affine, evaluate, minimise, reference, relu

# The paper's default (Appendix J), and a scale near its minimiser.
D, N, SIGMA, W = 5, 20, 0.01, 6.7
CLASSES = {"affine": affine, "relu": relu}


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def milliseconds(function: Callable[[], object], repeats: int) -> float:
    """Time one call, the best of several."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def nested(w: float) -> float:
    """The affine loss by adaptive quadrature inside adaptive quadrature."""
    density = math.gamma(D / 2) / (math.sqrt(math.pi) * math.gamma((D - 1) / 2))

    def inner(y: float, power: int, gap: int) -> float:
        def token(u: float) -> float:
            x = math.exp(min(y - w * u, 6.6))
            mass = density * (u * (2 - u)) ** ((D - 3) / 2)
            return mass * x**power * math.exp(-x) * u**gap

        return integrate.quad(token, 0, 2, epsabs=0, epsrel=1e-10, limit=200)[0]

    def outer(y: float) -> float:
        b = inner(y, 0, 0)
        pair = inner(y, 2, 1) / (3 * D) * 2 + SIGMA**2 * inner(y, 2, 0)
        both = (N - 1) * inner(y, 1, 1) ** 2 / (3 * D)
        return N * b ** (N - 2) * (b * pair + both)

    return integrate.quad(outer, -30, 2 * w + 4, epsabs=0, epsrel=1e-9, limit=400)[0]


def loss_case(quick: bool) -> dict[str, float]:
    """Compare one loss with nested quadrature, and with sampling to the same error."""
    repeats, tasks = 5 if quick else 30, {name: CLASSES[name](D) for name in CLASSES}
    times = {
        name: milliseconds(partial(evaluate, task, W, N, SIGMA, 1), repeats)
        for name, task in tasks.items()
    }
    slow = milliseconds(lambda: nested(W), 1)
    difference = abs(nested(W) / evaluate(affine(D), W, N, SIGMA).value - 1)
    rng, draws = np.random.default_rng(0), 2000 if quick else 20_000
    sampled = milliseconds(lambda: reference.sample(W, N, D, (1,), draws, rng), 1)
    drawn = reference.sample(W, N, D, (1,), draws, rng)
    say(
        f"loss and slope: {times['affine']:.2f} ms affine, {times['relu']:.2f} relu; "
        f"nested quadrature (no slope) {slow:.0f} ms; {draws} draws {sampled:.0f} ms "
        f"for a relative error of {drawn.error[1] / drawn.mean[1]:.0e}"
    )
    return {
        "loss_affine_ms": times["affine"],
        "loss_relu_ms": times["relu"],
        "nested_ms": slow,
        "speedup_over_nested": slow / times["affine"],
        "difference": float(difference),
        "draws_ms": sampled,
        "draws_relative_error": float(drawn.error[1] / drawn.mean[1]),
    }


def optimum_case(quick: bool) -> dict[str, float]:
    """Compare one minimiser with a library's search that sees values only."""
    repeats, result = 3 if quick else 10, {}
    for name, make in CLASSES.items():
        task = make(D)

        def search(task: Any = task) -> float:
            found = optimize.minimize_scalar(
                lambda x: float(evaluate(task, math.exp(x), N, SIGMA).value),
                bracket=(0.0, 1.0),
                tol=1e-7,
            )
            return math.exp(found.x)

        ours = milliseconds(lambda task=task: minimise(task, N, SIGMA), repeats)
        theirs = milliseconds(search, repeats)
        gap = abs(search() / minimise(task, N, SIGMA).w - 1)
        say(f"minimiser, {name}: {ours:.1f} ms; by values {theirs:.1f}, off {gap:.0e}")
        result |= {
            f"optimum_{name}_ms": ours,
            f"optimum_{name}_by_values_ms": theirs,
            f"optimum_{name}_ratio": theirs / ours,
        }
    return result


def table_case(quick: bool) -> dict[str, float]:
    """Time the scaling table: both classes, d = 2 to 6, three points per decade."""
    powers = np.linspace(2, 4, 3) if quick else np.linspace(2, 10, 25)
    start = time.perf_counter()
    for make in CLASSES.values():
        for d in range(2, 7):
            minimise(make(d), 10.0**powers, 1.0)
    taken = time.perf_counter() - start
    points = 10 * len(powers)
    say(f"scaling table: {points} minimisers in {taken:.1f} s")
    return {"table_s": taken, "table_ms_per_optimum": 1e3 * taken / points}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object, last line")
    parser.add_argument("--quick", action="store_true", help="seconds, rough figures")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {"machine": platform.machine(), "quick": options.quick}
    for case in (loss_case, optimum_case, table_case):
        result |= case(options.quick)
    if options.json:
        print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
