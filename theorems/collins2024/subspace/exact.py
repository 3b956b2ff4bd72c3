"""The loss for k = d - k = 1, a finite sum, for every symmetric M.

With x_i = c_u B u_i + c_v B_perp v_i, u_i, v_i = 1 or -1, and M in units of 1/c_u^2,
1/(c_u c_v) and 1/c_v^2,

    M = ((f, t), (t, g)),   score of (u_i, v_i) at the query (1, v): u_i (f + t v)
                            + v_i (t + g v),

and queries (-1, v) mirror these. One formula serves floats, sympy and balls.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

TOKENS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
y, z, noise = sp.symbols("y z noise", positive=True)


@functools.cache
def counts(n: int) -> tuple[tuple[tuple[int, ...], Fraction], ...]:
    """How often each of the four tokens occurs among n, with probabilities."""
    found = []
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                split = (a, b, c, n - a - b - c)
                ways = math.factorial(n)
                for part in split:
                    ways //= math.factorial(part)
                found.append((split, Fraction(ways, 4**n)))
    return tuple(found)


@dataclass(frozen=True)
class Entries:
    """M = ((f, t), (t, g)), numbers of any type."""

    f: Any
    t: Any
    g: Any


def loss(
    M: Entries,
    n: int,
    variance: Any,
    exp: Callable[[Any], Any],
    lift: Callable[[Fraction], Any] = float,
) -> Any:
    """E (sum gamma_i u_i - u)^2 + sigma^2 E sum gamma_i^2, with c_u = 1.

    Args:
        M: Entries, scalars or arrays.
        n: Number of tokens.
        variance: sigma^2.
        exp: Exponential of that type of number.
        lift: A fraction as such a number.

    Returns:
        The loss, of the type of the entries.
    """
    total = 0
    for v in (1, -1):
        A, Q = M.f + v * M.t, M.t + v * M.g
        score = [exp(u * A + w * Q) for u, w in TOKENS]
        for split, chance in counts(n):
            S = sum(m * a for m, a in zip(split, score, strict=True))
            miss = 2 * (split[2] * score[2] + split[3] * score[3])  # those with u = -1
            squares = sum(m * a * a for m, a in zip(split, score, strict=True))
            total = total + lift(chance / 2) * (
                (miss * miss + variance * squares) / (S * S)
            )
    return total


def slope(M: Entries, n: int, variance: Any, exp: Any, lift: Any) -> Any:
    """The derivative of the loss in g, at t = 0, for scalars."""
    total = 0
    score = [exp(u * M.f + w * M.g) for u, w in TOKENS]
    for split, chance in counts(n):
        S = sum(m * a for m, a in zip(split, score, strict=True))
        gamma = [a / S for a in score]
        mean = sum(m * x * w for m, x, (_, w) in zip(split, gamma, TOKENS, strict=True))
        turn = [x * (w - mean) for x, (_, w) in zip(gamma, TOKENS, strict=True)]
        miss = 2 * (split[2] * gamma[2] + split[3] * gamma[3])
        moved = 2 * (split[2] * turn[2] + split[3] * turn[3])
        spread = sum(m * x * y for m, x, y in zip(split, gamma, turn, strict=True))
        total = total + lift(chance) * 2 * (miss * moved + variance * spread)
    return total


def at(M: Entries, n: int, variance: float) -> Any:
    """The loss in floating point; entries may be arrays."""
    return loss(M, n, variance, np.exp)


@functools.cache
def formula_of(n: int) -> sp.Expr:
    """The loss at t = 0 as a rational function of y = e^f, z = e^g and ``noise``."""
    total = sp.S.Zero
    score = (y**2 * z**2, y**2, z**2, sp.S.One)  # times yz
    for split, chance in counts(n):
        S = sum(m * a for m, a in zip(split, score, strict=True))
        miss = 2 * (split[2] * score[2] + split[3] * score[3])
        squares = sum(m * a**2 for m, a in zip(split, score, strict=True))
        total += sp.Rational(chance) * (miss**2 + noise * squares) / S**2
    return total


def minimum(n: int, variance: float, bound: float) -> tuple[Fraction, float]:
    """The best c in (0, bound] of M = c BB^T, rounded to 1/1024, and its loss."""
    grid = np.arange(1, int(1024 * bound) + 1) / 1024
    values = at(Entries(grid, 0.0, 0.0), n, variance)
    best = int(np.argmin(values))
    return Fraction(best + 1, 1024), float(values[best])
