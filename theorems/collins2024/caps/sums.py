"""Bounds on γ(d, α, m) = Σ_{i=1}^m i^d e^{-αi} (Definition G.2), with their proofs."""

from __future__ import annotations

import functools
from fractions import Fraction

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.balls import evaluate
from theorems.collins2024.caps.steps import equal, need, positive, rising
from verify import Assumption, Claim

d, alpha, m, x = sp.symbols("d alpha m x", positive=True)
i = sp.Symbol("i", integer=True, positive=True)

COMPLETE = sp.gamma(d + 1) / alpha ** (d + 1)  # ∫_0^∞ t^d e^{-αt} dt
THRESHOLD = (d + sp.sqrt(d)) / alpha
LARGEST = (d / (alpha * sp.E)) ** d  # max of t^d e^{-αt}
STIRLING = sp.sqrt(2 * sp.pi * d) * (d / sp.E) ** d
STEEPEST = sp.sqrt(2 * sp.pi * d)
"""The α up to which LARGEST ≤ STIRLING/α^{d+1}."""

SOURCE = PAPER.at("Lemma G.3", "Appendix G.1")
POSITIVE = Assumption("positive", "d ≥ 1 and α > 0")
NEVER = sp.oo
TWO = sp.Integer(2)

BELOW = sp.exp(-alpha) / 2  # constants that are proved
ABOVE = sp.Integer(2)


@functools.cache
def complete() -> tuple[str, ...]:
    """BELOW COMPLETE ≤ γ for all α > 0, γ ≤ 2 COMPLETE for α ≤ STEEPEST; d ≥ 1.

    The summand over t^d e^{-αt} at t in [i-1, i] is (i/t)^d e^{-α(i-t)} ≥ e^{-α}, so
    that γ ≥ e^{-α} ∫_0^m, and the integral is COMPLETE P(X ≤ αm) for a gamma variable X
    of shape d + 1.
    """
    whole = sp.integrate(x**3 * sp.exp(-alpha * x), (x, 0, sp.oo))
    shift = sp.Symbol("shift", positive=True)  # i - t, with x for t
    return (
        equal("∫_0^∞ t^3 e^{-αt} dt as an example", whole, COMPLETE.subs(d, 3)),
        rising("log of (i/t)^d, i = t + shift", d * sp.log(1 + shift / x), shift),
        "i - t ≤ 1 in the cell, so e^{-α(i-t)} ≥ e^{-α} and γ ≥ e^{-α} ∫_0^m",
        positive("αm ≥ d + √d ≥ d + 1, √d = x ≥ 1", x**2 + x - (x**2 + 1), {x: 1}),
        "standard (Chen and Rubin 1986): the median of a gamma variable is below its "
        "mean d + 1, so P(X ≤ αm) > 1/2",
        equal(
            "log of t^d e^{-αt} at its maximum d/α",
            sp.expand_log(d * sp.log(d / alpha) - d),
            sp.expand_log(d * sp.log(d) - d * sp.log(alpha) - d),
        ),
        "Lemma I.1: γ ≤ ∫_0^m t^d e^{-αt} dt + LARGEST ≤ COMPLETE + LARGEST",
        need(
            "LARGEST α^{d+1} / STIRLING = α/√(2πd)",
            sp.simplify(
                sp.powsimp(
                    sp.expand_power_base(
                        LARGEST * alpha ** (d + 1) / STIRLING, force=True
                    )
                )
                - alpha / STEEPEST
            )
            == 0,
        ),
        "at most 1 for α ≤ √(2πd); Lemma G.6: STIRLING ≤ Γ(d+1), so LARGEST ≤ COMPLETE",
    )


@functools.cache
def partial() -> tuple[str, ...]:
    """m^d e^{-αm} ≤ γ ≤ √e m^{d+1} e^{-αm} for m < THRESHOLD."""
    return (
        "all terms are positive and the last one is m^d e^{-αm}",
        "Lemma G.7: each of the m terms is at most √e m^d e^{-αm}",
        equal("m of them", m * sp.sqrt(sp.E) * m**d, sp.sqrt(sp.E) * m ** (d + 1)),
    )


def steepest(claim: Claim, size: int) -> Fraction:
    """The largest α, rounded down; some α beyond d if there is none."""
    if claim.largest is NEVER:
        return Fraction(size + 1)
    if claim.largest.is_number and claim.largest.is_rational:
        return Fraction(int(claim.largest.p), int(claim.largest.q))
    return Fraction(int(float(evaluate(claim.largest, {d: size})) * 4096), 4096)
