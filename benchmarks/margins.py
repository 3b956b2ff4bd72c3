"""Measure exact max-margin columns against a solver; see README.md here.

python benchmarks/margins.py [--json] [--quick] [--columns N]
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from verify.max_margin import OrderMargin, numerical, order_margin
from verify.recheck import decide

VOCABULARY, SENTENCES, LENGTH = 20, 6, 12  # tokens; most per query; most per side
Edges = list[tuple[int, int]]


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    print(text, file=sys.stderr, flush=True)


def column(rng: random.Random) -> Edges:
    """Draw the order of one query: its sentences hold some tokens of either side.

    The query itself is in every sentence, below.
    """
    tokens = rng.sample(range(VOCABULARY), VOCABULARY)
    k = rng.randint(1, VOCABULARY - 2)
    upper, lower = tokens[:k], tokens[k : k + rng.randint(1, VOCABULARY - k)]
    edges: set[tuple[int, int]] = set()
    for _ in range(rng.randint(1, SENTENCES)):
        over = rng.sample(upper, rng.randint(1, min(len(upper), LENGTH)))
        under = rng.sample(lower, rng.randint(0, min(len(lower), LENGTH)))
        edges |= {(o, m) for o in over for m in {*under, lower[0]}}
    return sorted(edges)


def dense(edges: Edges) -> np.ndarray:
    """The constraints as a matrix over the tokens that occur."""
    tokens = sorted({token for edge in edges for token in edge})
    rows = np.zeros((len(edges), len(tokens)))
    for row, (o, m) in zip(rows, edges, strict=True):
        row[tokens.index(o)], row[tokens.index(m)] = 1, -1
    return rows


def milliseconds(function: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Time a function per item."""
    start = time.perf_counter()
    for item in items:
        function(item)
    return 1e3 * (time.perf_counter() - start) / len(items)


def recheck(margin: OrderMargin) -> None:
    """Write the record and let the standalone recheck decide it."""
    if decide(margin.certificate("minimal")).valid is not True:
        raise AssertionError(f"no minimiser: {margin}")


def certify(margin: OrderMargin) -> None:
    """Check the integer certificate."""
    if not margin.stands():
        raise AssertionError(f"no minimiser: {margin}")


def figures(columns: list[Edges], solved: int, repeats: int) -> dict[str, Any]:
    """Time every stage, all in turn in each round; keep the best round of each."""
    sample = columns[:solved]
    rounds = []
    for _ in range(repeats):
        # Fresh ones: a margin keeps what it has been asked once.
        margins = [order_margin(edges) for edges in columns]
        rounds.append({
            "solve_ms": milliseconds(order_margin, columns),
            "certify_ms": milliseconds(certify, margins),
            "strict_ms": milliseconds(lambda m: m.strictly_complementary, margins),
            "record_ms": milliseconds(recheck, margins),
            "solver_ms": milliseconds(
                lambda edges: numerical(dense(edges), np.ones(len(edges))), sample
            ),
        })
    best = {name: min(row[name] for row in rounds) for name in rounds[0]}
    ours = best["solve_ms"] + best["certify_ms"]
    worst = 0.0
    for edges, margin in zip(sample, margins, strict=False):
        x = numerical(dense(edges), np.ones(len(edges))).x
        exact = [float(score) for score in margin.scores.values()]
        worst = max(worst, float(np.abs(x - exact).max()))
    return {
        "columns": len(columns),
        "edges": sum(map(len, columns)) / len(columns),
        "several_blocks": sum(len(m.leaves) > 1 for m in margins),
        "degenerate": sum(not m.strictly_complementary for m in margins),
        "exact_ms_per_column": ours,
        **best,
        "speedup_over_solver": best["solver_ms"] / ours,
        "solver_difference": worst,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object, last line")
    parser.add_argument("--quick", action="store_true", help="seconds, rough figures")
    parser.add_argument("--columns", type=int, default=5000, help="how many to draw")
    options = parser.parse_args(arguments)
    rng = random.Random(0)  # ruff: ignore[suspicious-non-cryptographic-random-usage]
    size = 200 if options.quick else options.columns
    columns = [column(rng) for _ in range(size)]
    result = figures(columns, min(size, 20 if options.quick else 200), 3)
    say(
        f"{result['exact_ms_per_column']:.3f} ms per column with its certificate, "
        f"{result['speedup_over_solver']:.0f} times faster than Clarabel in cvxpy; "
        f"scores differ by {result['solver_difference']:.1e} at most"
    )
    if options.json:
        print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
