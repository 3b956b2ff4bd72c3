"""Assumption B.4 looked for violations in drawn tasks (d = 3, L = 1)."""

import itertools

import numpy as np
import sympy as sp

from theorems.collins2024.classes import sampled
from theorems.collins2024.classes.sampled import (
    COSINES,
    DIMENSION,
    Estimate,
    bernstein,
)
from theorems.collins2024.classes.tasks import L, TaskLaw, d, theta
from verify import Holds, Outcome, Refuted
from verify.numerics import gamma, table

SEARCHED = "tasks at five angles in two placements, d = 3"


def assumption_b4(
    law: TaskLaw, claimed: sp.Expr | None, count: int, seed: int, level: float
) -> Outcome:
    """Judge drawn tasks: quotients, means of f(x) f(y), and those of their squares.

    Args:
        law: The class.
        claimed: A formula for E f(x) f(y) in the angle, or None.
        count: Number of tasks.
        seed: Of the draws.
        level: Probability of a false alarm, shared by all comparisons.

    Returns:
        HOLDS, or REFUTED with the numbers that contradict.
    """
    x, y = sampled.pairs()
    f, g = np.moveaxis(
        sampled.values(law, np.stack([x, y]), count, seed), 1, 0
    )  # (count, placements, pairs) each
    distance = np.linalg.norm(x - y, axis=-1)
    # A value is a sum of at most three terms of size 2 and an inner product of three.
    slack = 8 * gamma(12)
    excess = np.abs(f - g) - distance - slack
    if excess.max() > 0:
        return _refuted(float(excess.max()), 0.0, "|f(x) - f(y)| less |x - y|, L = 1")
    each = level / (4 * len(COSINES) * len(x))
    change = (f - g).reshape(count, -1)
    # |f| <= 2 and |f(x) - f(y)| <= 2 by now: ranges [-4, 4], [0, 4] and [0, 16]
    spread = [bernstein(c**2, 4.0, each) for c in change.T]
    fourth = [bernstein(c**4, 16.0, each) for c in change.T]
    products = (f * g).reshape(count, -1)
    means = [bernstein(c, 8.0, each) for c in products.T]
    for outcome in (_kernel(claimed, means), _order(spread), _placement(fourth)):
        if outcome is not None:
            return outcome
    return Holds(f"{law.name}: nothing against it", n=count, searched=SEARCHED)


def _kernel(claimed: sp.Expr | None, means: list[Estimate]) -> Outcome | None:
    """Compare means of f(x) f(y) with the kernel."""
    if claimed is None:
        return None
    rho = sp.lambdify(theta, claimed.subs({L: 1, d: DIMENSION}), "numpy")
    angles = np.arccos(COSINES)
    for k, mean in enumerate(means):
        gap = abs(mean.mean - float(rho(angles[k % len(COSINES)])))
        if gap > mean.radius:
            return _refuted(gap, mean.radius, "E f(x) f(y) is not the kernel")
    return None


def _order(spread: list[Estimate]) -> Outcome | None:
    """E (f(x) - f(y))^2 = 2 rho(1) - 2 rho(x.y) must rise as x.y falls."""
    size = len(COSINES)
    for first, second in itertools.combinations(range(size), 2):
        here, there = spread[first], spread[second]
        fall, radius = here.mean - there.mean, here.radius + there.radius
        if fall > radius:
            return _refuted(fall, radius, "E f(x) f(y) rises as x.y falls")
    return None


def _placement(fourth: list[Estimate]) -> Outcome | None:
    """E (f(x) - f(y))^4 must not change under a rotation of both points."""
    size = len(COSINES)
    for first, second in zip(fourth[:size], fourth[size:], strict=True):
        gap, radius = abs(first.mean - second.mean), first.radius + second.radius
        if gap > radius:
            return _refuted(gap, radius, "E (f(x) - f(y))^4 changes under a rotation")
    return None


def _refuted(value: float, bound: float, says: str) -> Outcome:
    """Record a value beyond its bound."""
    witness = table(
        {"value": [value], "bound": [bound]},
        relation=[">", ["in", "value"], ["in", "bound"]],
        aggregate="all",
        says=says,
    )
    return Refuted(says, witness=witness, searched=SEARCHED)
