"""Small cases whose scores are computed or bounded exactly, as witnesses.

PAIR: tokens o, q and x_0 (and x_1), n the cycle o -> q -> x_0 -> .. -> o, one sample
[o, q] -> n(o). Under q, o is optimal, q non-optimal, x_0 and x_1 non-comparable. The
gradient is a multiple of (x_o - x_q) x_q^T whatever T is, so that after t steps

    w_o = t eta / sqrt2,    w_q = -t eta / sqrt2,    w_0 = w_1 = 0.

BOUNDED: n(a) = n(b) = a, n(q) = b, one sample [a, a, b, q] -> a. The carriers rise like
their attention, w_b by eta / sqrt(2 (r^2 + r + 1)) and w_a by r times that, with
r = 2 e^(w_a - w_b) >= 2. So w_a - w_b gains eta / sqrt14 or more in each step, r is at
least 2 e^(s eta / sqrt14) after s steps, and

    w_b <= sum_s eta / (2 sqrt2) e^(-s eta / sqrt14)
         = eta / (2 sqrt2 (1 - e^(-eta / sqrt14)))     for all T and t.

SLOW: PAIR trained without normalisation. As -grad <= 2 Delta e^(-2 w_o), e^(2 w_o)
grows by at most g e^g in a step, g = 4 eta Delta: w_o <= log(1 + t g e^g) / 2.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy as sp

from theorems.huang2024.data.dataset import SENTENCES, Dataset
from theorems.huang2024.generalisation.growth import SPEED, E, eta, t
from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.signs import nonnegative, rising
from verify import Cause, Undecided
from verify.symbolic import formula

Record = dict[str, Any]

OPTIMAL, MIDDLE, LOWEST = sp.symbols("optimal non_comparable non_optimal")
eps = sp.Symbol("epsilon", positive=True)
C_0 = sp.Symbol("C_0", positive=True)

PAIR = {
    OPTIMAL: t * eta / sp.sqrt(2),
    MIDDLE: sp.Integer(0),
    LOWEST: -t * eta / sp.sqrt(2),
}
BOUND = eta / (2 * sp.sqrt(2) * (1 - sp.exp(-eta / sp.sqrt(14))))
g = sp.Symbol("g", positive=True)
SLOW = sp.log(1 + t * g * sp.exp(g)) / 2

BOUNDED_DATA = Dataset(
    4, (0, 0, 1, 2), ((0, 0, 1, 2),), (0,), (Fraction(1),), SENTENCES
)
"""BOUNDED with a fourth token, which is non-comparable; a, b, q are 0, 1, 2."""

LATE = 10**6  # log(1/epsilon), and the step
SMALL = Fraction(1, 10)  # a constant C_0: any other is beaten by a smaller epsilon


@functools.cache
def bounded() -> tuple[str, ...]:
    """The steps of BOUNDED."""
    r, z = sp.symbols("r z", positive=True)
    share = sp.Matrix([r, 1, -(r + 1)])
    return (
        equal(
            "norm of the step, w_b's share 1",
            share.dot(share),
            2 * (r**2 + r + 1),
        ),
        positive(
            "(r - 1)^2 / (2 (r^2 + r + 1)) >= 1/14 for r >= 2",
            14 * (r - 1) ** 2 - 2 * (r**2 + r + 1),
            {r: 2},
        ),
        positive("2 (r^2 + r + 1) >= 2 r^2", 2 * (r**2 + r + 1) - 2 * r**2, {r: 0}),
        equal("geometric series", 1 / (1 - z), 1 + z / (1 - z)),
    )


@functools.cache
def slow() -> tuple[str, ...]:
    """The steps of SLOW."""
    x = sp.Symbol("x", real=True)
    if not rising(x * sp.exp(x) - sp.exp(x) + 1, x, {x: 0}):
        raise Undecided("e^x - 1 <= x e^x is not proved", Cause.NO_PROOF)
    return ("h (e^(g/h) - 1) <= g e^(g/h) <= g e^g for h >= 1",)


def gap_grows_too_fast(gap: sp.Expr) -> bool:
    """Whether a gap outgrows every multiple of log(1/epsilon) as epsilon -> 0."""
    ell = sp.Symbol("ell", positive=True)
    return sp.limit(gap.subs(eps, sp.exp(-ell)) / ell, ell, sp.oo) is sp.oo


def _claimed(gap: sp.Expr) -> sp.Expr:
    """C_0 times the gap at log(1/epsilon) = t, the least t that is allowed."""
    return C_0 * sp.simplify(gap.subs(eps, sp.exp(-t)))


def _late(says: str, left: sp.Expr, gap: sp.Expr, **inputs: Any) -> Record:
    values = {"C_0": SMALL, "t": LATE, **inputs}
    says = f"{says}; at log(1/ε) = t = 10^6 and C_0 = 1/10, and so on as t grows"
    return formula(left, "<", _claimed(gap), values, says)


def bounded_token(gap: sp.Expr) -> Record:
    """A score that never exceeds a number stays below C_0 times the gap."""
    return _late(
        "an optimal token's score is bounded for all T and t", BOUND, gap, eta=1
    )


def slow_descent(gap: sp.Expr) -> Record:
    """Without normalisation scores grow like log t."""
    return _late("without normalisation w_o <= log(1 + t g e^g)/2", SLOW, gap, g=1)


def fast_gap(gap: sp.Expr) -> Record:
    """Scores of PAIR grow like t and no faster."""
    return _late("one sample [o, q] gives w_o = t eta/sqrt2", PAIR[OPTIMAL], gap, eta=1)


def wrong_order(order: tuple[sp.Symbol, ...]) -> Record | None:
    """A pair of types that PAIR has in the opposite order."""
    for upper, lower in pairwise(order):
        difference = PAIR[upper] - PAIR[lower]
        if not nonnegative(difference, {t: 0, eta: 0}):
            says = f"one sample [o, q]: {upper} is below {lower} for all T and t"
            return formula(difference, "<", sp.Integer(0), {"t": 1, "eta": 1}, says)
    return None


def too_fast(speed: sp.Expr) -> Record | None:
    """Scores of PAIR, which has one pair of tokens, are slower than a claimed speed."""
    if nonnegative(SPEED - speed, {eta: 0, E: 1}):
        return None
    says = "one sample [o, q]: w_o gains eta/sqrt2 in a step, less than claimed"
    return formula(eta / sp.sqrt(2), "<", speed, {"eta": Fraction(1, 10), "E": 1}, says)
