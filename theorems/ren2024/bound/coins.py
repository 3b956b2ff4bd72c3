"""Tokens of one key and two values, where every probability is a binomial tail.

x = (1, s) with s = ±1, P(s = 1) = (1 + m)/2, W_K x = c, W_V x = ρs: d_o = 1, all
features equal, and the class is chosen so that w‖φ(c)‖ = ρ. With a = W φ(c) in
[-ρ, ρ],

    L(f) = -ρ m a,   L̂(f) = -ρ s̄ a,   s̄ the sample mean of s,

so that f* has a = ρ and f̂ has a = ±ρ with the sign of s̄. Negative samples have the
value 0 and change nothing. Three gaps are of interest:

    excess      L(f̂) - L(f*) = 2ρ²m     when s̄ < 0
    uniform     L(f̂) - L̂(f̂) = ρ²|s̄|    when m = 0
    fixed       L̂(f*) - L(f*) = -ρ²s̄    when m = 0, where every f is optimal
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import sympy as sp

from theorems.ren2024.bound.notation import K, N, R, d_o, delta, rho, trace, w
from theorems.ren2024.bound.steps import ball, rational
from verify import Cause, Claim, Holds, Outcome, Refuted, Tightness, Undecided
from verify.symbolic import tree

EXCESS, UNIFORM, FIXED = sp.symbols("excess uniform fixed")
FINE = 10_000  # m is a multiple of 1/FINE
BITS = 128


@dataclass(frozen=True)
class Setting:
    """One size of the family; m is set to the worst value for a claim.

    Attributes:
        n: Demonstrations, odd.
        rho: ρ.
        risk: δ.
    """

    n: int
    rho: int
    risk: Fraction

    @property
    def at(self) -> dict[sp.Symbol, Any]:
        """Values of the symbols; φ(c) has norm 1, so that w = ρ and Tr K_S = N."""
        n = self.n
        walk = Fraction(n * comb(n - 1, n // 2), 2 ** (n - 1))  # E |Σ σ_i|, n odd
        at = {N: n, rho: self.rho, w: self.rho, trace: n, d_o: 1, K: 1}
        return at | {delta: self.risk, R: self.rho * walk}


def settings(sizes: tuple[int, ...]) -> Iterator[Setting]:
    """Small and large ρ and δ, the smallest N first."""
    for n in sizes:
        for most in (1, 3, 10, 100):
            for k in (2, 3, 6):
                yield Setting(n, most, Fraction(1, 10**k))


@dataclass(frozen=True)
class Failure:
    """The likeliest way for a bound to fail in one setting.

    Attributes:
        setting: The size.
        bias: m.
        gap: Size of the gap, an expression in ρ.
        counts: Numbers of s = 1 among N for which the gap is that large.
    """

    setting: Setting
    bias: Fraction
    gap: sp.Expr
    counts: range

    @property
    def chance(self) -> Fraction:
        """The exact probability of the counts."""
        n, whole = self.setting.n, 2 * FINE
        up = int(FINE * (1 + self.bias))
        ways = sum(comb(n, k) * up**k * (whole - up) ** (n - k) for k in self.counts)
        return Fraction(ways, whole**n)


def failure(claim: Claim, setting: Setting) -> Failure | None:
    """The most probable event in which the claimed bound fails.

    Args:
        claim: Its `bound` on its `gap`.
        setting: The size.

    Returns:
        The event, None when the gap never exceeds the bound.
    """
    from flint import ctx

    with ctx.workprec(BITS):
        share = ball(claim.bound / rho**2, setting.at)  # in units of ρ²
        if claim.gap == EXCESS:
            bias = Fraction(int((share * FINE / 2).floor().unique_fmpz()) + 1, FINE)
            if bias >= 1:
                return None
            losing = range((setting.n + 1) // 2)
            return Failure(setting, bias, 2 * rational(bias) * rho**2, losing)
        # -s̄ = 1 - 2k/n > share, and for |s̄| as many counts on the other side
        below = (setting.n * (1 - share) / 2).floor().unique_fmpz()
    if below is None:
        raise Undecided("a bound on the edge of a count", Cause.UNDECIDED)
    last = int(below)
    if last < 0:
        return None
    reached = rational(1 - Fraction(2 * last, setting.n)) * rho**2
    return Failure(setting, Fraction(0), reached, range(last + 1))


def fails(claim: Claim, found: Failure) -> bool:
    """Whether the event is likelier than the claim admits."""
    sides = 2 if claim.gap == UNIFORM else 1
    return sides * found.chance > Fraction(str(claim.chance.subs(_at(found))))


def witness(claim: Claim, found: Failure) -> dict[str, Any]:
    """The event as an exact record: the gap, the bound, and the binomial tail."""
    setting, at = found.setting, _at(found)
    up = int(FINE * (1 + found.bias))
    n, sides = setting.n, 2 if claim.gap == UNIFORM else 1
    terms: list[Any] = [
        ["mul", comb(n, k), ["pow", ["in", "up"], k], ["pow", ["in", "down"], n - k]]
        for k in found.counts
    ]
    tail = ["mul", sides, ["div", ["add", *terms], ["pow", ["in", "whole"], n]]]
    least = (found.gap - claim.bound).subs({k: v for k, v in at.items() if k != rho})
    likely = ["sub", tail, tree(claim.chance.subs(at), {})]
    return {
        "kind": "formula",
        "says": f"N = {n}, ρ = {setting.rho}, m = {found.bias}, δ = {setting.risk}: "
        f"the {claim.gap} gap exceeds the bound with a probability above "
        f"{claim.chance}",
        "inputs": {
            "rho": setting.rho,
            "up": up,
            "down": 2 * FINE - up,
            "whole": 2 * FINE,
        },
        "relation": [">", ["min", tree(least, {}), likely], 0],
    }


def _at(found: Failure) -> dict[sp.Symbol, sp.Rational]:
    return {name: rational(x) for name, x in found.setting.at.items()}


def decide(claim: Claim, sizes: tuple[int, ...]) -> Outcome:
    """Compare the exact probability of failure with the risk, in every setting."""
    judged, worst = 0, Fraction(0)
    for setting in settings(sizes):
        judged += 1
        found = failure(claim, setting)
        if found is None:
            continue
        if fails(claim, found):
            record = witness(claim, found)
            says = f"{record['says']}: {float(found.chance):.4g}"
            return Refuted(says, witness=record, n=judged)
        sides = 2 if claim.gap == UNIFORM else 1
        worst = max(
            worst, sides * found.chance / Fraction(str(claim.chance.subs(_at(found))))
        )
    return Holds(
        f"the probability of failure is at most {float(worst):.2g} of the risk",
        n=judged,
        searched=f"N in {sizes}, ρ ≤ 100, δ ≥ 1e-6, the worst m",
        tightness=(Tightness("probability of failure over the risk", float(worst)),),
    )
