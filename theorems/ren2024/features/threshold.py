"""How many random features a kernel value takes: proofs, and exact counterexamples.

With s = ‖x + y‖² the estimate over the kernel is a mean of d_r independent copies of
``X = e^{g√s - s/2}``, g standard normal: the importance sampling of one Gaussian by
another, s/2 apart in relative entropy. The bounds follow Chatterjee and Diaconis, "The
sample size required in importance sampling" (2018).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from theorems.ren2024.features.formulas import equal, need
from verify.symbolic import formula

s, t = sp.symbols("s t", positive=True)

TAIL = sp.exp(-(t**2) / (8 * s))  # bounds 2 Φ(-t/(2√s))
BELOW = TAIL * (1 + sp.exp(-t / 2) / 2)  # P(K̂ ≥ K/2) for d_r ≤ e^{s/2 - t}
ERROR = TAIL + sp.exp(-t / 4)  # E |K̂/K - 1| for d_r ≥ e^{s/2 + t}


@functools.cache
def tilted() -> tuple[str, ...]:
    """E X; X > a, and the tail of X, as Gaussian tails."""
    g, u = sp.symbols("g u", positive=True)
    slope = sp.diff(sp.exp(-(u**2) / 2) / 2, u) + sp.exp(-(u**2) / 2) / sp.sqrt(
        2 * sp.pi
    )
    turning = sp.solve(sp.simplify(slope * sp.exp(u**2 / 2)), u)
    return (
        equal("g√s - s/2 - g²/2", g * sp.sqrt(s) - s / 2 - g**2 / 2,
              -((g - sp.sqrt(s)) ** 2) / 2),
        "E f(X) X = E f(X') with log X' ~ N(s/2, s), while log X ~ N(-s/2, s)",
        "so E X; X ≤ a = Φ((log a - s/2)/√s), P(X > a) = Φ(-(log a + s/2)/√s)",
        need("Φ(-u) ≤ e^{-u²/2}/2: equal at 0 and at ∞; the difference rises, then "
             "falls: one turning point", turning == [sp.sqrt(2 / sp.pi)]),
    )  # fmt: skip


@functools.cache
def below_half() -> tuple[str, ...]:
    """Too few features: P(K̂ ≥ K/2) ≤ ``BELOW`` for d_r ≤ e^{s/2 - t}, t ≤ s/2."""
    log_a = s / 2 - t / 2
    first = sp.expand((log_a - s / 2) / sp.sqrt(s))
    rest = s / 2 - t - (log_a + s / 2) ** 2 / (2 * s)
    return (
        *tilted(),
        "with a = e^{(s - t)/2}: K̂ ≥ K/2 needs some X > a, or a mean of X; X ≤ a of "
        "1/2: P ≤ d_r P(X > a) + 2 E X; X ≤ a (standard: union bound, Markov)",
        equal("(log a - s/2)/√s", first, -t / (2 * sp.sqrt(s))),
        equal("2 Φ(-t/(2√s)) ≤ e^{-t²/8s}: exponent", -(first**2) / 2, -(t**2) / 8 / s),
        "log a + s/2 = s - t/2 ≥ 0",
        equal("d_r P(X > a): exponent", sp.expand(rest), -t / 2 - t**2 / (8 * s)),
    )


@functools.cache
def near_one() -> tuple[str, ...]:
    """Enough features: E |K̂/K - 1| ≤ ``ERROR`` for d_r ≥ e^{s/2 + t}."""
    log_a = s / 2 + t / 2
    last = sp.expand((log_a - s / 2) / sp.sqrt(s))
    return (
        *tilted(),
        "with a = e^{(s + t)/2}, Y = X; X ≤ a: |K̂/K - 1| is at most |mean Y - E Y| + "
        "mean (X - Y) + (1 - E Y), the last two of mean E X; X > a each",
        equal("2 E X; X > a ≤ e^{-t²/8s}: exponent", -(last**2) / 2, -(t**2) / 8 / s),
        "E |mean Y - E Y| ≤ (E Y²/d_r)^½ ≤ (a/d_r)^½ as Y² ≤ a Y (standard: Jensen)",
        equal("(a/d_r)^½: exponent", sp.expand((log_a - s / 2 - t) / 2), -t / 4),
    )


# ---------------------------------------------------------------- counterexamples


def against_few(
    threshold: sp.Expr,
) -> Iterator[tuple[sp.Expr, Mapping[str, Any], str]]:
    """Lower bounds of P(K̂ ≥ K/2) that may exceed a claimed bound.

    Args:
        threshold: log d_r may be as large as this less t.

    Yields:
        The lower bound in s and t, the instance, and why it is one.
    """
    one = {"s": Fraction(1), "t": Fraction(1, 2)}
    if exponent_at(threshold - t, one) >= 0:
        yield (
            sp.S.Half,
            one,
            "one feature, s = 1: P(X ≥ 1/2) = Φ(log 2 - 1/2) ≥ 1/2",
        )
    # d_r between e^{s/2 + r} and e^{s/2 + r + 1}, which is at most e^{threshold - t}
    at = {"s": Fraction(10**4), "t": Fraction(1250)}
    r = threshold - t - s / 2 - 1
    if exponent_at(r, at) > 1:
        yield (
            1 - 2 * ERROR.subs(t, r),
            at,
            "P(K̂ < K/2) ≤ 2 E |K̂/K - 1|, of which enough features leave little",
        )


def against_many(
    threshold: sp.Expr,
) -> Iterator[tuple[sp.Expr, Mapping[str, Any], str]]:
    """Lower bounds of E |K̂/K - 1| that may exceed a claimed bound.

    Args:
        threshold: log d_r may be as small as this plus t.

    Yields:
        The lower bound in s and t, the instance, and why it is one.
    """
    at = {"s": Fraction(10**4), "t": Fraction(1000)}
    # d_r between e^{threshold + t} and e^{s/2 - r}, e times as much
    r = s / 2 - (threshold + t) - 1
    if exponent_at(r, at) > 1:
        yield (1 - BELOW.subs(t, r)) / 2, at, "too few features: K̂ < K/2 mostly"
    # d_r features exactly: E |Y| ≥ (E Y²)^{3/2}/(E Y⁴)^{1/2} (standard: Hölder)
    many = {"s": Fraction(1), "t": Fraction(14)}
    d_r = sp.Integer(2**21)
    if exponent_at(threshold + t, many) <= 14.5:  # log 2^21 = 14.556
        second = sp.exp(s) - 1
        fourth = sp.exp(6 * s) - 4 * sp.exp(3 * s) + 6 * sp.exp(s) - 3
        mean = second / d_r
        power = fourth / d_r**3 + 3 * second**2 * (d_r - 1) / d_r**3
        yield mean * sp.sqrt(mean) / sp.sqrt(power), many, "2^21 features at s = 1"


def exponent_at(expr: sp.Expr, at: Mapping[str, Fraction]) -> float:
    """The value of an exponent at an instance."""
    return float(expr.subs({s: sp.Rational(at["s"]), t: sp.Rational(at["t"])}))


def exceeds(
    lower: sp.Expr, bound: sp.Expr, at: Mapping[str, Any], says: str
) -> dict[str, Any] | None:
    """Record that a lower bound exceeds a claimed one, when it clearly does."""
    values = {s: sp.Rational(at["s"]), t: sp.Rational(at["t"])}
    low, claimed = (sp.sympify(e).subs(values) for e in (lower, bound))
    if not float(low.evalf(30)) > float(claimed.evalf(30)):
        return None
    plain = {s: sp.Symbol("s"), t: sp.Symbol("t")}
    return formula(
        sp.sympify(lower).subs(plain), ">", sp.sympify(bound).subs(plain), at, says
    )


# ---------------------------------------------------------------- draws


def ratios(size: float, features: int, draws: int, seed: Any) -> Any:
    """K̂/K in independent trials.

    Args:
        size: s.
        features: d_r.
        draws: Number of trials.
        seed: Of the draws.

    Returns:
        Shape ``(draws,)``.
    """
    g = np.random.default_rng(seed).standard_normal((draws, features))
    return np.exp(g * size**0.5 - size / 2).mean(axis=1)
