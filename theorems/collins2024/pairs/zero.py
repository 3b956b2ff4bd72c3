"""Lemma H.1: the derivative of the loss at c = 0, by exact moments.

N = Σ γ_i u_i - u, γ_i ∝ α_i e^{c u_i.u}; at c = 0 γ = w = α/Σα and

    γ_i' = w_i (s_i - Σ_j w_j s_j),    s_i = u_i.u,
    J'(0) = 2 E N.Σ γ_i' u_i = -2 E Σ w_i s_i (s_i - Σ_j w_j s_j) = -(2/k)(1 - Σ w²),

since products of three of the u_i have mean 0 and E s_i s_j = [i = j]/k. The noise term
σ² E Σ γ² adds 2σ² Σ w_i E γ_i' = 0.

What is averaged is a polynomial of degree 3 in the u_i, so that the points ±e_1, ...,
±e_k, a design of degree 3, give the exact expectation: a finite sum for every k.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from theorems.collins2024.pairs.steps import equal, need

k, n = sp.symbols("k n", positive=True)
square = sp.Symbol("r", positive=True)  # Σ α² / (Σ α)²
SLOPE = -2 / k * (1 - square)


def exact(size: int, weights: Sequence[Any]) -> Any:
    """J'(0) for k = ``size``, from the quotients themselves, over the design."""
    points = [(axis, sign) for axis in range(size) for sign in (1, -1)]
    total: Any = 0
    for chosen in product(points, repeat=len(weights)):
        total += _summand(chosen, weights)
    return total / len(points) ** len(weights)


def _summand(chosen: Sequence[tuple[int, int]], weights: Sequence[Any]) -> Any:
    """d/dc |Σ_i α_i e^{c s_i} u_i / Σ_j α_j e^{c s_j} - u|² at 0, u = e_1."""
    along = [sign if axis == 0 else 0 for axis, sign in chosen]
    S = sum(weights)
    slope_S = sum(a * s for a, s in zip(weights, along, strict=True))
    total: Any = 0
    for axis in {axis for axis, _ in chosen} | {0}:
        at = [sign if where == axis else 0 for where, sign in chosen]
        T = sum(a * x for a, x in zip(weights, at, strict=True))
        slope_T = sum(a * s * x for a, s, x in zip(weights, along, at, strict=True))
        total += 2 * (T / S - int(axis == 0)) * (slope_T * S - T * slope_S) / S**2
    return total


def claimed(slope: sp.Expr, size: int, weights: Sequence[Any]) -> Any:
    """The claimed derivative for given weights: numbers or symbols."""
    ratio = sum(x * x for x in weights) / sum(weights) ** 2
    values = {k: size, n: len(weights), square: sp.sympify(ratio)}
    return slope.subs(values)


def rational(slope: sp.Expr, size: int, weights: Sequence[Fraction]) -> sp.Rational:
    """The same for rational weights."""
    return claimed(slope, size, [sp.Rational(str(x)) for x in weights])


@functools.cache
def moments() -> tuple[str, ...]:
    """J'(0) for any n and k."""
    a = sp.symbols("alpha1:4", positive=True)
    c, w1, w2 = sp.symbols("c w1 w2")
    s = sp.symbols("s1:4", real=True)
    S = sum(x * sp.exp(c * t) for x, t in zip(a, s, strict=True))
    first = sp.diff(a[0] * sp.exp(c * s[0]) / S, c).subs(c, 0)
    w = [x / sum(a) for x in a]
    mean = sum(x * t for x, t in zip(w, s, strict=True))
    stated = [
        sp.cancel(exact(size, a[:m]) - claimed(SLOPE, size, a[:m]))
        for size, m in ((1, 2), (2, 2), (1, 3))
    ]
    return (
        equal("γ_1' at 0, n = 3", first, w[0] * (s[0] - mean)),
        "E of three of the u_i is 0 (u_i and -u_i have the same law), so only "
        "-2 E u.Σ γ_i' u_i = -2 E Σ w_i s_i (s_i - Σ_j w_j s_j) is left",
        "E s_i² = 1/k (E u_i u_i^T = I/k), E s_i s_j = 0",
        equal(
            "Σ w_i/k - Σ w_i²/k, n = 2",
            (w1 + w2) / k - (w1**2 + w2**2) / k,
            (w1 + w2 - w1**2 - w2**2) / k,
        ),
        "noise: 2σ² Σ w_i E γ_i' = 2σ² Σ w_i² E(s_i - Σ_j w_j s_j) = 0",
        need("exact sums for k ≤ 2, n = 2 and k = 1, n = 3 agree", not any(stated)),
        "Σ w_i² < 1 for n ≥ 2 and positive weights: J'(0) < 0, so J(c) < J(0) for some "
        "c in (0, δ], and 0 is no minimiser",
    )
