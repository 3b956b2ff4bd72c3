"""Assumptions 3.3 and B.2: the laws of the covariates, which do not match.

Collins et al. (NeurIPS 2024):

    3.3  x = Sigma^-1 u,     u ~ U_d: covariance Sigma^-2/d, |Sigma x| = 1
    B.2  x = Sigma^{1/2} u:           covariance Sigma/d,    |Sigma^{-1/2} x| = 1

Assumption 3.3 with Sigma is Assumption B.2 with Sigma^-2 in its place. Appendix E uses
"covariates as Assumption 3.3" with the form M* = w Sigma^-1 of B.2: see
theorem_3_4_form.py.

Both can be satisfied; the validator checks the ellipsoid, the second moments and one
fourth moment, and rejects another radius, another exponent and another law of u.

Deviations from the text:
    1. Sigma is symmetric positive definite (said in Definition 3.2).
Not decided here: which form of M the two laws lead to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from verify import (
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Undecided,
    Wording,
    check,
)
from verify.search import Search
from verify.symbolic import formula

STRETCH = Fraction(4)  # Sigma = diag(1, 4)


@dataclass(frozen=True)
class Covariates:
    """x = radius * Sigma^power u.

    Attributes:
        power: Exponent of Sigma.
        radius: 1 in the paper.
        uniform: u ~ U_d; otherwise u is uniform on the coordinate axes.
    """

    power: sp.Rational
    radius: int = 1
    uniform: bool = True


def covariates(number: str, power: sp.Rational, says: str, latex: str) -> Claim:
    """One of the two assumptions."""
    domain = Covariates(power)
    return Claim(
        id=f"collins2024/assumption-{number.lower()}",
        kind=Kind.ASSUMPTION,
        title="law of the covariates",
        says=says,
        latex=latex,
        quantifiers="for all Σ ≻ 0, all d ≥ 2",
        source=PAPER.at(f"Assumption {number}"),
        wording=Wording.PRINTED,
        domain=domain,
        parameters={"covariance": 2 * power},
        mutants=(
            Mutant(
                "half the exponent",
                why="the covariance has the square of the factor",
                covariance=power,
            ),
            Mutant(
                "inverse exponent",
                why="the axes of the ellipsoid are exchanged",
                covariance=-2 * power,
            ),
            Mutant(
                "radius 2",
                why="u has norm 1",
                domain=replace(domain, radius=2),
            ),
            Mutant(
                "u on the axes",
                why="second moments agree, fourth ones do not",
                domain=replace(domain, uniform=False),
            ),
        ),
    )


FIRST = covariates(
    "3.3",
    sp.Integer(-1),
    "There are covariates x = Σ^{-1} u with u uniform on the sphere; their covariance "
    "is Σ^{-2}/d, that of Assumption B.2 with Σ^{-2} for Σ.",
    r"x = \Sigma^{-1} u, \quad u \sim U_d, \quad \mathbb{E} x x^\top = \Sigma^{-2}/d",
)
SECOND = covariates(
    "B.2",
    sp.Rational(1, 2),
    "There are covariates x = Σ^{1/2} u with u uniform on the sphere; their covariance "
    "is Σ/d.",
    r"x = \Sigma^{1/2} \tilde x, \quad \tilde x \sim U_d, \quad "
    r"\mathbb{E} x x^\top = \Sigma/d",
)


def fraction(x: Any) -> Fraction:
    """A sympy rational as a fraction."""
    return Fraction(int(sp.Rational(x).p), int(sp.Rational(x).q))


def off_the_ellipsoid(claim: Claim, u: tuple[Fraction, Fraction]) -> dict | None:
    """A record that x.Sigma^-c x is not 1 for x = radius Sigma^power u, c claimed."""
    law: Covariates = claim.domain
    scales = [law.radius, law.radius * fraction(sp.Integer(4) ** law.power)]
    x = [scale * value for scale, value in zip(scales, u, strict=True)]
    weight = fraction(sp.Integer(4) ** -claim.covariance)
    if x[0] ** 2 + weight * x[1] ** 2 == 1:
        return None
    first, second, factor = sp.symbols("first second factor")
    return formula(
        first**2 + factor * second**2,
        "!=",
        sp.S.One,
        {"first": x[0], "second": x[1], "factor": weight},
        "x.Σ^{-c} x for Σ = diag(1, 4), with c the exponent of the covariance",
    )


def uneven(claim: Claim) -> dict | None:
    """A record that E (u.e)^4 changes with the direction e."""
    if claim.domain.uniform:
        return None
    first, second = sp.symbols("first second")
    return formula(
        (first**4 + second**4) / 2,
        "!=",
        sp.Rational(1, 2),
        {"first": Fraction(3, 5), "second": Fraction(4, 5)},
        "E (u.e)^4 for u on the axes, at e = (3, 4)/5 and at e = (1, 0), d = 2",
    )


AXES = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))


@check(FIRST, SECOND, grade="symbolic", scope="all")
def covariance_is_a_power(claim: Claim) -> Outcome:
    """E x x^T = r² Σ^a (I/d) Σ^a, and x.Σ^{-2a} x = r² for every x."""
    law: Covariates = claim.domain
    record = uneven(claim)
    for point in AXES:
        record = record or off_the_ellipsoid(claim, point)
    if record:
        return Refuted(str(record["says"]), witness=record)
    steps = [f"Σ^a I Σ^a = Σ^{2 * law.power}; x.Σ^(-2a) x = |u|² = 1"]
    if 2 * law.power != claim.covariance:
        raise Undecided("exponents differ, and points on the axes do not tell")
    return Holds("the covariance is the power claimed", steps=steps)


@check(FIRST, SECOND, grade="property", scope="rational points, Σ = diag(1, 4)")
def points_are_validated(claim: Claim, search: Search) -> Outcome:
    """Validate points x of the law, for rational u on the circle."""

    def circle(t: Fraction) -> tuple[Fraction, Fraction]:
        return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)

    def record(t: Fraction) -> dict | None:
        return uneven(claim) or off_the_ellipsoid(claim, circle(t))

    return search.for_all(
        st.fractions(Fraction(-3), Fraction(3), max_denominator=20),
        lambda t: record(t) is not None,
        lambda t: record(t) or {},
        searched="u = ((1 - t²), 2t)/(1 + t²)",
        pinned=(Fraction(1),),
        scale=0.2,
    )
