"""Bounds up to a constant: proved, or refuted by a family that outgrows them.

The family: N demonstrations of `coins` with m = 1/2, δ = 4^{-N}/2 and ρ = N. With a
probability ((1-m)/2)^N = 4^{-N} > δ every s is -1, and then the excess is 2ρ²m = ρ²:
no constant helps if the claimed terms are o(ρ²).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from theorems.ren2024.bound import proofs
from theorems.ren2024.bound.notation import ORDER, K, N, d_o, delta, rho, trace, w
from theorems.ren2024.bound.steps import equal, need
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.symbolic import family

n = sp.Symbol("n", positive=True)
kappa = sp.Symbol("kappa", positive=True)  # norm of φ
RISK = 4**-n / 2


@dataclass(frozen=True)
class Radius:
    """Which ρ are allowed.

    Attributes:
        says: In words.
        bounded: Whether ρ ≤ 1.
    """

    says: str
    bounded: bool = False

    def __str__(self) -> str:
        return self.says


ANY = Radius("any ρ > 0")
AT_MOST_1 = Radius("ρ ≤ 1", bounded=True)


def monomial(expr: sp.Expr, radius: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Bound an expression over ρ² along the family by c n^e, with log(1/δ) ≤ 3n.

    Args:
        expr: A product of powers, growing with log(1/δ).
        radius: ρ along the family.

    Returns:
        c and e.
    """
    values = {trace: n * kappa**2, w: radius / kappa, d_o: 1, K: 1, N: n, rho: radius}
    written = expr.subs(sp.log(1 / delta), 3 * n).subs(values) / radius**2
    coefficient, exponent = sp.powdenest(written, force=True).as_coeff_exponent(n)
    return coefficient, exponent


@functools.cache
def event() -> tuple[str, ...]:
    """What happens with a probability above δ."""
    m, a = sp.symbols("m a")
    loss = -rho * m * a  # L(f) of the model with W φ = a
    lost = (loss.subs(a, -rho) - loss.subs(a, rho)).subs(m, sp.S.Half)
    return (
        equal("P(every s_i = -1)", ((1 - sp.S.Half) / 2) ** n, 4**-n),
        equal("it exceeds δ: their ratio", 4**-n / RISK, sp.Integer(2)),
        equal("log(1/δ)", sp.expand_log(-sp.log(RISK)), sp.log(2) + 2 * n * sp.log(2)),
        need("log(1/δ) ≤ 3n at n = 1", bool(3 * sp.log(2) <= 3)),
        need("and its slope is below 3", bool(2 * sp.log(2) <= 3)),
        equal("then L̂(f) falls towards a = -ρ: its slope", sp.diff(rho * a, a), rho),
        equal("and L(f̂) - L(f*) with a = -ρ for a = ρ", lost, rho**2),
    )


def decide(claim: Claim) -> Outcome:
    """Prove the claimed order, or let the family outgrow it."""
    if proved(claim):
        says = "a constant is exhibited"
        return Holds(says, steps=proofs.up_to_a_constant(claim.reach))
    radius = sp.S.One if claim.domain.bounded else n
    parts = [monomial(x, radius) for x in (claim.complexity, claim.deviation)]
    shrinks = [c == 0 or (c.is_number and e < 0) for c, e in parts]
    if not all(shrinks):
        return Inconclusive("no proof, and the family stays", cause=Cause.NO_PROOF)
    terms = [c * n**e for c, e in parts]
    steps = (
        *event(),
        need("complexity over ρ² is c n^e with e < 0", bool(shrinks[0])),
        need("deviation over ρ² is at most c n^e with e < 0", bool(shrinks[1])),
        f"excess over both is at least 1/({terms[0]} + {terms[1]}), without bound",
    )
    record = family(
        1 / sum(terms),
        n,
        (100, 10**4, 10**6, 10**8),
        toward="infinity",
        says="N = n demonstrations, ρ = n, δ = 4^-n/2: with a probability above δ the "
        "excess over the claimed order is at least this",
        limit="the reciprocal is a sum of negative powers of n",
    )
    return Refuted("no constant bounds the excess", witness=record, steps=steps)


def proved(claim: Claim) -> bool:
    """Whether the deviation alone is at least the proved order, for all allowed ρ."""
    ratio = sp.simplify(claim.deviation / ORDER)
    if claim.domain.bounded:  # then 1/ρ² ≥ 1
        ratio = sp.simplify(ratio * rho**2) if ratio.has(rho) else ratio
    return bool(ratio.is_number and ratio > 0 and claim.complexity.is_nonnegative)
