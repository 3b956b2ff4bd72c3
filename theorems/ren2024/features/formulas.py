"""Kernels and moments of random features as formulas in two tokens x and y.

One feature is ``exp(wᵀx + shift(x))`` with Gaussian ``w``; everything about it follows
from ``E exp(wᵀz) = exp(v ‖z‖²/2)`` for entries of variance ``v``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from verify import Cause, Holds, Inconclusive, Outcome, Verdict
from verify.symbolic import Identity

d, d_r = sp.symbols("d d_r", positive=True, integer=True)
x, y = sp.MatrixSymbol("x", d, 1), sp.MatrixSymbol("y", d, 1)


def inner(a: sp.MatrixExpr, b: sp.MatrixExpr) -> sp.Expr:
    """The inner product of two columns, as a scalar."""
    return sp.Trace(a.T * b)


def square(a: sp.MatrixExpr) -> sp.Expr:
    """The squared norm of a column."""
    return inner(a, a)


SOFTMAX = inner(x, y)  # logarithm of K_sm
GAUSS = -square(x - y) / 2  # logarithm of K_gauss


class NotProvedError(AssertionError):
    """A step of a written proof did not come out."""


def need(says: str, condition: object) -> str:
    """A step of a proof that has been checked.

    Args:
        says: What it says.
        condition: Whether it is so.

    Returns:
        ``says``.

    Raises:
        NotProvedError: It is not.
    """
    if condition is not True and condition is not sp.true:
        raise NotProvedError(f"{says}: {condition}")
    return says


def equal(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """A step of a proof: two formulas agree."""
    return need(says, sp.simplify(left - right) == 0)


@functools.cache
def gaussian_moments() -> tuple[str, ...]:
    """E e^{wᵀz} = e^{v‖z‖²/2}: one coordinate by completing the square."""
    w, z, v = sp.symbols("w z v", positive=True)
    exponent = w * z - w**2 / (2 * v)
    completed = v * z**2 / 2 - (w - v * z) ** 2 / (2 * v)
    mass = sp.integrate(sp.exp(-(w**2) / (2 * v)), (w, -sp.oo, sp.oo))
    return (
        equal("wz - w²/2v = vz²/2 - (w - vz)²/2v", exponent, completed),
        equal("∫ e^{-w²/2v} dw = √(2πv), also about vz", mass, sp.sqrt(2 * sp.pi * v)),
        "E e^{wᵀz} is a product over independent coordinates: e^{v‖z‖²/2}",
    )


def moment(power: int, shift: sp.Expr, spread: sp.Expr) -> sp.Expr:
    """The logarithm of E (f(x) f(y))^power for one feature f.

    Args:
        power: 1 or 2.
        shift: Of the exponent of f, as a formula in x.
        spread: Variance of the entries of w.

    Returns:
        A scalar in x and y.
    """
    both = shift + shift.subs(x, y)
    return power**2 * spread * square(x + y) / 2 + power * both


def all_of(*parts: Outcome, steps: Iterable[str] = ()) -> Outcome:
    """A conjunction: the first part that does not hold decides, else all steps."""
    proved = list(steps)
    for part in parts:
        if part.verdict is not Verdict.HOLDS:
            return part
        proved += part.steps
    return Holds("every part is proved", steps=proved)


def agree(left: sp.Expr, right: sp.Expr, says: str) -> Outcome:
    """Prove that two scalars in x and y are equal, or show tokens where not."""
    return Identity(left, right, says).decide(token_pairs())


def token_pairs() -> list[dict[str, Any]]:
    """A few exact pairs of tokens in one and two dimensions, and d_r = 3."""
    pairs = (((1,), (1,)), ((1,), (2,)), ((1, -1), (2, 1)))
    return [
        {"x": column(a), "y": column(b), "d": len(a), "d_r": Fraction(3)}
        for a, b in pairs
    ]


def column(values: Iterable[Any]) -> Any:
    """A column of fractions."""
    return np.array([[Fraction(value)] for value in values], dtype=object)


def drawn_pairs() -> st.SearchStrategy[dict[str, Any]]:
    """Pairs of rational tokens, d ≤ 4, entries in [-2, 2], and d_r ≤ 9."""
    numbers = st.lists(st.integers(-8, 8), min_size=3, max_size=9)
    return numbers.map(_pair)


def _pair(numbers: list[int]) -> dict[str, Any]:
    size = (len(numbers) - 1) // 2
    parts = [Fraction(k, 4) for k in numbers[1:]]
    return {
        "x": column(parts[:size]),
        "y": column(parts[size : 2 * size]),
        "d": size,
        "d_r": Fraction(abs(numbers[0]) + 1),
    }


def undecided(reason: str) -> Outcome:
    """INCONCLUSIVE for want of a proof."""
    return Inconclusive(reason, cause=Cause.NO_PROOF)
