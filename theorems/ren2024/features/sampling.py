"""Draws of positive random features at small tokens, in groups for Student intervals.

Formulas are read with the entries of each draw: nothing is simplified beforehand.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.ren2024.features.formulas import d_r, x, y
from verify import Holds, Inconclusive, Outcome, Refuted
from verify.fit.intervals import Interval, mean_interval, mean_is
from verify.symbolic import Compiled
from verify.verdict import Cause

Floats = NDArray[np.float64]

GROUPS, FEATURES, SIZE, TOKENS = 32, 4, 4, 5
NORM = 0.5  # of keys and query: ‖k + q‖² is near 0.5, where moments are tame
LAYER = 4  # seed of the layer: the same in every run, only directions are drawn anew


@dataclass(frozen=True, eq=False)
class Sample:
    """Directions, and one small layer.

    Attributes:
        directions: ``(groups, draws, d_r, d)``, standard normal.
        keys: ``(tokens, d)``.
        query: ``(d,)``.
        values: ``(tokens, 2)``.
    """

    directions: Floats
    keys: Floats
    query: Floats
    values: Floats


def draw(draws: int, seed: int) -> Sample:
    """Draw directions for the layer.

    Args:
        draws: Of each of the groups.
        seed: Of the directions.

    Returns:
        The sample.
    """
    random = np.random.default_rng(seed)
    w = random.standard_normal((GROUPS, draws, FEATURES, SIZE))
    layer = np.random.default_rng(LAYER)
    tokens = layer.standard_normal((TOKENS + 1, SIZE))
    tokens *= NORM / np.linalg.norm(tokens, axis=1, keepdims=True)
    return Sample(w, tokens[:-1], tokens[-1], layer.standard_normal((TOKENS, 2)))


def at(expr: sp.Expr, a: Floats, b: Floats) -> float:
    """The value of a formula in two tokens and d_r."""
    tokens = {x.name: a[:, None], y.name: b[:, None]}
    return float(_compiled(expr)({**tokens, "d": len(a), "d_r": FEATURES}))


@functools.lru_cache(maxsize=64)
def _compiled(expr: sp.Expr) -> Compiled:
    return Compiled(expr, "numpy")


def features(
    sample: Sample, token: Floats, shift: sp.Expr, scale: sp.Expr, spread: sp.Expr
) -> Floats:
    """Features of a token, ``(groups, draws, d_r)``.

    Args:
        sample: Directions.
        token: ``(d,)``.
        shift: Of the exponent, in x.
        scale: Factor of every feature.
        spread: Variance of the directions' entries.

    Returns:
        ``scale · exp(wᵀx + shift(x))``.
    """
    w = sample.directions @ token * float(spread) ** 0.5
    exponents = w + at(shift, token, token)
    return float(scale.subs(d_r, FEATURES)) * np.exp(exponents)


def decide(cases: dict[str, Floats], level: float, says: str) -> Outcome:
    """Decide whether all means are zero, from one value per group.

    Args:
        cases: By name, one value per group; its mean is 0 if the claim is true.
        level: Error probability, shared out over the cases.
        says: What a mean other than zero shows.

    Returns:
        REFUTED when an interval excludes 0, else HOLDS.
    """
    intervals = {
        name: mean_interval(values, level / len(cases))
        for name, values in cases.items()
    }
    worst = max(intervals, key=lambda name: abs(intervals[name].separation))
    interval = intervals[worst]
    common: dict[str, Any] = {
        "measured": interval.mean,
        "target": 0.0,
        "interval": (interval.low, interval.high),
        "level": level,
        "margin": 1 - min(abs(interval.separation), 1e300),
        "n": sum(values.size for values in cases.values()),
        "searched": f"{', '.join(cases)}; {GROUPS} independent groups of draws",
    }
    told = f"{worst}: {interval.mean:.3g} ± {(interval.high - interval.low) / 2:.2g}"
    if abs(interval.separation) > 1:
        sign = ">" if interval.mean > 0 else "<"
        witness = mean_is(sign, cases[worst], interval, f"{says}, {worst}")
        return Refuted(f"{says}: {told}", witness=witness, **common)
    if not _sharp(intervals):
        return Inconclusive(f"too few draws: {told}", cause=Cause.BUDGET, **common)
    return Holds(f"no mean differs from the formula; {told}", **common)


def _sharp(intervals: dict[str, Interval]) -> bool:
    """Whether every interval is narrower than ±1/4: false formulas miss by more."""
    return all((i.high - i.low) / 2 < 0.25 for i in intervals.values())
