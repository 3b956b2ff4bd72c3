"""The noise term as a function of w: its slope, for any tokens."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bounds.steps import equal, need
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.symbolic import formula

POSITIVE, NEGATIVE = "w ≥ 0", "w ≤ 0"

# A pair of tokens: weights and distances; the slope of V is the mean of a sum of SLOPE.
G_I, G_J = sp.symbols("gamma_i gamma_j", positive=True)
U_I, U_J = sp.symbols("u_i u_j", real=True)
SLOPE = 2 * G_I * G_J * (U_J - U_I) * (G_I - G_J)
WRONG = 2 * G_I * G_J * (U_J - U_I) * (G_I + G_J)
SMALL = 3  # tokens for which the formula is also compared as a whole

w, n = sp.symbols("w n", positive=True)

Floats = NDArray[np.float64]


def slope_of(count: int) -> tuple[sp.Expr, list[sp.Expr], list[sp.Symbol]]:
    """d/dw of sum gamma^2, and weights and distances, for ``count`` tokens."""
    distances = list(sp.symbols(f"u1:{count + 1}", real=True))
    scale = sp.Symbol("w", real=True)
    a = [sp.exp(-scale * u) for u in distances]
    weights = [one / sum(a) for one in a]
    return sp.diff(sum(g**2 for g in weights), scale), weights, distances


@cache
def steps(pair: sp.Expr) -> tuple[str, ...]:
    """The slope from pairs: proved for any number of tokens."""
    both = 2 * G_I**2 * G_J * (U_J - U_I) + 2 * G_J**2 * G_I * (U_I - U_J)
    told = []
    for count in range(2, SMALL + 1):
        total, weights, distances = slope_of(count)
        terms = [
            pair.subs(
                {
                    G_I: weights[i],
                    G_J: weights[j],
                    U_I: distances[i],
                    U_J: distances[j],
                },
                simultaneous=True,
            )
            for i in range(count)
            for j in range(i + 1, count)
        ]
        free = [sp.Symbol(f"e{i}", positive=True) for i in range(count)]
        scale = sp.Symbol("w", real=True)
        swap = {sp.exp(-scale * u): e for u, e in zip(distances, free, strict=True)}
        gap = sp.cancel(sp.together((total - sum(terms)).subs(swap)))
        told.append(need(f"{count} tokens: the sum over pairs is the slope", gap == 0))
    return (
        "∂γ_i/∂w = -γ_i(u_i - Σγ_j u_j) = Σ_j γ_iγ_j(u_j - u_i), as Σγ = 1",
        equal("2γ_i ∂γ_i, from i and from j", both, pair),
        *told,
    )


def decide(claim: Claim) -> Outcome:
    """Prove the slope and its sign, or refute one of them."""
    pair = sp.sympify(claim.slope)
    if sp.expand(pair - SLOPE) != 0:
        return _other_slope(pair)
    told = steps(pair)
    upward = (claim.sign > 0) == (str(claim.domain) == POSITIVE)
    if not upward:
        return evenness(claim.sign).but(steps=told)
    x, y = sp.symbols("x y", positive=True)  # u_j - u_i >= 0, gamma_i - gamma_j >= 0
    ordered = SLOPE.subs({U_J: U_I + x, G_I: G_J + y})
    sign = need("closer tokens have more weight: pair ≥ 0", bool(ordered >= 0))
    return Holds("for any tokens, pair by pair", steps=(*told, sign))


def _other_slope(pair: sp.Expr) -> Outcome:
    """Two tokens at distances 0 and log 2, w = 1: weights 2/3 and 1/3."""
    at = {"gamma_i": Fraction(2, 3), "gamma_j": Fraction(1, 3)}
    here = {U_I: 0, U_J: 1}
    # the true slope per unit of u_j - u_i is SLOPE at these weights
    says = "two tokens with weights 2/3 and 1/3, one unit apart: slope of Σγ²"
    left, right = (sp.expand(x.subs(here)) for x in (pair, SLOPE))
    witness = formula(left, "!=", right, at, says)
    return Refuted("another slope for two tokens", witness=witness, steps=steps(SLOPE))


def evenness(sign: sp.Expr) -> Outcome:
    """Compare w = ±5 with w = 0 at d = 3, n = 1000, where A is elementary.

    d = 3: u is uniform on [0, 2], A(w) = (1 - e^{-2w})/(2w). By tilted Jensen
    V >= R/(n (1 + 1/(nA))^2); at w = 0 it is 1/n. V(-w) = V(w), as t and -t are alike.
    """
    A = (1 - sp.exp(-2 * w)) / (2 * w)
    least = A.subs(w, 2 * w) / A**2 / (1 + 1 / (n * A)) ** 2 / n
    says = (
        "d = 3, n = 1000: the noise at w = 5 and w = -5, from below, against 1/n at 0; "
        f"the claim's sign is {sign}"
    )
    witness = formula(least, ">", 1 / n, {"w": 5, "n": 1000}, says)
    return Refuted("V(-5) = V(5) > V(0)", witness=witness)


@dataclass(frozen=True)
class Slopes:
    """Exact noise and its slope; a pair of tokens for the formula of the slope."""

    d: Floats
    w: Floats
    n: Floats
    slope: Floats
    pairs: Floats


def draw(seed: int, count: int) -> Slopes:
    """Random d, n and w of either sign; random pairs (u_i, u_j, w)."""
    from theorems.collins2024.loss import moments

    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, count)
    tokens = np.floor(10 ** rng.uniform(0.31, 6, count))
    scales = rng.choice([-1.0, 1.0], count) * 10 ** rng.uniform(-2, 4, count)
    scales[:2] = -1.0, 1.0
    found = [
        float(moments(scale, size, int(d), (1,), order=1).dV)
        for d, scale, size in zip(sizes, scales, tokens, strict=True)
    ]
    pairs = np.stack([rng.uniform(0, 2, count), rng.uniform(0, 2, count), scales])
    pairs[2] = np.clip(pairs[2], -5, 5)
    return Slopes(sizes.astype(float), scales, tokens, np.array(found), pairs)


def observed(claim: Claim, seen: Slopes) -> Outcome:
    """Hold sign and formula of the slope against exact values."""
    mine = seen.w > 0 if str(claim.domain) == POSITIVE else seen.w < 0
    signed = float(claim.sign) * seen.slope[mine]
    row = int(np.argmin(signed))
    found: dict[str, Any] = {"n": int(mine.sum()), "measured": float(signed[row])}
    found["target"] = 0.0
    if signed[row] < 0:
        columns = {
            name: [getattr(seen, name)[mine][row]] for name in ("d", "w", "n", "slope")
        }
        says = "exact slope of the noise by quadrature, of the other sign"
        relation = [">" if claim.sign < 0 else "<", ["in", "slope"], 0]
        witness = table(columns, relation=relation, aggregate="all", says=says)
        return Refuted("the noise has the other slope", witness=witness, **found)
    return _formula_on_pairs(claim, seen) or Holds(
        f"no other sign among {mine.sum()} slopes", **found
    )


def _formula_on_pairs(claim: Claim, seen: Slopes) -> Outcome | None:
    """Difference quotients of sum gamma^2 for two tokens, over steps of 1e-4.

    With s the logistic function, sum gamma^2 is 1 - 2 s'((u_j - u_i) w), whose third
    derivative is at most 16 sup|s""| <= 2; the quotient errs by h^2/3 < 1e-8 and by
    rounding, 2 eps/h < 1e-11. 1e-6 allows for both.
    """
    near, far, scale = seen.pairs
    step, allowed = 1e-4, 1e-6

    def weight(at: Floats) -> Floats:
        return 1 / (1 + np.exp(-at * (far - near)))

    def squares(at: Floats) -> Floats:
        return weight(at) ** 2 + (1 - weight(at)) ** 2

    quotient = (squares(scale + step) - squares(scale - step)) / (2 * step)
    function = sp.lambdify((G_I, G_J, U_I, U_J), claim.slope)
    claimed = function(weight(scale), 1 - weight(scale), near, far)
    gap = np.abs(quotient - claimed)
    row = int(np.argmax(gap))
    if gap[row] <= allowed:
        return None
    witness = table(
        {"quotient": [quotient[row]], "claimed": [claimed[row]]},
        relation=[
            ">",
            ["abs", ["sub", ["in", "quotient"], ["in", "claimed"]]],
            allowed.hex(),
        ],
        aggregate="all",
        says="two tokens: difference quotient of Σγ², and the claimed slope",
    )
    return Refuted("another slope for two tokens", witness=witness, n=len(gap))
