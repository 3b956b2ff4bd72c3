"""Lemma H.4, steps of its proof: a polynomial is positive on (1, e²], not for all y.

Collins et al. (NeurIPS 2024), Appendix H.2. With α = α_2/α_1 in (0, 1), y = e^{c(a-b)}

    P(y, α) = a_6 (y⁶ + 1) - a_5 (y⁵ + y) + a_4 (y⁴ + y²) + a_3 y³.

P > 0 is claimed from y > 1 and 0 < α < 1 alone: the terms from y³ down are positive,
and "y⁶a_6 - y⁵a_5 + y⁴a_4" is, "where (68) follows by minimizing the terms inside the
parentheses over y". On the domain of the lemma, y ≤ e², both are right. For all y ≥ 1
neither is: at α = 1/100 the minimum over y of y²a_6 - y a_5 + a_4 is -24.5, and P < 0
first at y = 18.338. So the range of c must be used, and "(3/2) a_6 < a_4", true, is not
what is needed.

Deviations from the text:
    1. Displays (67) and (68) are lost: whether y ≤ e² is used there cannot be seen.
       Both readings are decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import noise
from theorems.collins2024.pairs.noise import A4, A5, A6, DIAGONAL, PRINTED, alpha, y
from theorems.collins2024.pairs.steps import need
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.certify.positivity import bernstein
from verify.search import Search
from verify.symbolic import formula


@dataclass(frozen=True)
class Up:
    """1 ≤ y ≤ top, 0 < α < 1; without a bound ``top`` is None."""

    top: Fraction | None


ON_DOMAIN = Up(Fraction(73891, 10000))  # above e² = 7.38905...
FAR = Fraction(10**6)
UP_TO_TWENTY = Up(Fraction(20))

GROUP = y**2 * A6 - y * A5 + A4
ABOVE = Assumption("above", "y ≤ e², as c ≤ 1 and a - b ≤ 2")

POLYNOMIAL = Claim(
    id="collins2024/lemma-h.4/polynomial",
    kind=Kind.PROOF_STEP,
    title="the polynomial of Lemma H.4 is positive",
    says="P(y, α) > 0 for 1 ≤ y ≤ e² and 0 < α < 1.",
    latex=r"P(y, \alpha) > 0",
    quantifiers="for all 1 ≤ y ≤ e², 0 < α < 1",
    source=PAPER.at("Lemma H.4", "(65)-(66)"),
    wording=Wording.DERIVED,
    domain=ON_DOMAIN,
    assumes=(ABOVE,),
    parameters={"polynomial": PRINTED},
    mutants=(
        Mutant("y up to 20", why="P < 0 at y = 19, α = 0.136", domain=UP_TO_TWENTY),
        Mutant(
            "without the summands (a, a), (b, b)",
            why="(a, b) and (b, a) alone may be negative",
            polynomial=sp.expand(PRINTED - DIAGONAL),
        ),
        Mutant(
            "twice the fifth coefficient",
            why="α = 1/2, y = e²",
            polynomial=sp.expand(PRINTED - 2 * A5 * (y**5 + y)),
        ),
        Mutant(
            "without the fourth coefficient",
            why="α = 1/2, y = 4",
            polynomial=sp.expand(PRINTED - A4 * (y**4 + y**2)),
        ),
    ),
)

MUTANTS = (
    Mutant("three times a_5", why="α = 1/2, y = 4", group=GROUP - 2 * y * A5),
    Mutant("a_4 = 1", why="α = 1/2, y = 2", group=GROUP - A4 + 1),
    Mutant("without a_4", why="y = 2", group=GROUP - A4),
)
STATEMENT: dict[str, Any] = {
    "kind": Kind.PROOF_STEP,
    "latex": r"y^6 a_6 - y^5 a_5 + y^4 a_4 > 0",
    "source": PAPER.at("Lemma H.4", "(67)-(68)"),
    "wording": Wording.GUESSED,
    "parameters": {"group": GROUP},
    "mutants": MUTANTS,
}

GROUPING = Claim(
    id="collins2024/lemma-h.4/grouping@domain",
    title="leading terms of the polynomial, y ≤ e²",
    says="y⁶a_6 - y⁵a_5 + y⁴a_4 > 0 for 1 ≤ y ≤ e².",
    quantifiers="for all 1 ≤ y ≤ e², 0 < α < 1",
    domain=ON_DOMAIN,
    assumes=(ABOVE,),
    **STATEMENT,
)

ANY_Y = Claim(
    id="collins2024/lemma-h.4/grouping@all-y",
    title="leading terms of the polynomial, all y",
    says="y⁶a_6 - y⁵a_5 + y⁴a_4 > 0 for all y ≥ 1, by its minimum over y.",
    quantifiers="for all y ≥ 1, 0 < α < 1",
    domain=Up(None),
    anchors=(Anchor("y ≤ e²", why="certified", domain=ON_DOMAIN),),
    finding=refuted("α = 1/100: the minimum over y, at y = a_5/(2a_6), is -24.5"),
    nearest=GROUPING.id,
    **STATEMENT,
)

Point = tuple[Fraction, Fraction]  # alpha, y


def _expression(claim: Claim) -> sp.Expr:
    return claim.parameters.get("polynomial", claim.parameters.get("group"))


def _value(expr: sp.Expr, at: Point) -> sp.Rational:
    names = {alpha: sp.Rational(str(at[0])), y: sp.Rational(str(at[1]))}
    return expr.subs(names)


def _points(claim: Claim) -> list[Point]:
    """Values of α with the worst y of the range, and a few others."""
    top = claim.domain.top or FAR
    found = []
    for a in (Fraction(1, 100), Fraction(136, 1000), Fraction(3, 10), Fraction(1, 2)):
        best = sp.Rational(str(a))
        vertex = Fraction(str((A5 / (2 * A6)).subs(alpha, best)))
        ys = {
            min(x, top) for x in (vertex, Fraction(19), Fraction(4), Fraction(2), top)
        }
        found += [(a, x) for x in sorted(ys) if x >= 1]
    return found


def witness(claim: Claim, at: Point) -> dict[str, Any]:
    """A point at which it is not positive."""
    inputs = {"alpha": at[0], "y": at[1]}
    says = f"at α = {at[0]}, y = {float(at[1]):.6g} it is not positive"
    return formula(_expression(claim), "<=", sp.S.Zero, inputs, says)


@check(POLYNOMIAL, GROUPING, ANY_Y, grade="certified", scope="all")
def bernstein_decides(claim: Claim) -> Outcome:
    """Certify it by Bernstein coefficients; or find a point where it fails."""
    expr = _expression(claim)
    for at in _points(claim):
        if _value(expr, at) <= 0:
            record = witness(claim, at)
            return Refuted(str(record["says"]), witness=record)
    if claim.domain.top is None:
        return Inconclusive("no bound on y", cause=Cause.NO_PROOF)
    says = "positive for 0 ≤ α ≤ 1 and y from 1 to above e²"
    box = {alpha: (0, 1), y: (1, claim.domain.top)}
    found = bernstein(sp.expand(expr), box, says=says)
    if found is None:
        return Inconclusive("the certificate does not come out", cause=Cause.NO_PROOF)
    steps = (need("e² < 7.3891", bool(sp.exp(2) < sp.Rational(73891, 10000))),)
    if expr == PRINTED:
        steps += (*noise.slopes(), *noise.substituted())
    return Holds("a certificate in exact rationals", steps=steps, certificate=found)


@check(POLYNOMIAL, GROUPING, ANY_Y, grade="property", scope="rational α and y, exact")
def points_are_tried(claim: Claim, search: Search) -> Outcome:
    """Hunt for a point at which it is not positive."""
    from hypothesis import strategies as st

    top = claim.domain.top or Fraction(10**4)
    evaluate = sp.lambdify((alpha, y), _expression(claim), "math")
    return search.for_all(
        st.tuples(
            st.integers(1, 199).map(lambda j: Fraction(j, 200)),
            st.integers(0, 1000).map(lambda j: 1 + (top - 1) * Fraction(j, 1000) ** 2),
        ),
        lambda at: evaluate(*at) <= 0,
        lambda at: witness(claim, at),
        searched="multiples of 1/200, y in the claimed range",
        pinned=_points(claim),
        scale=0.3,
    )


@necessity(
    POLYNOMIAL,
    assumption="above",
    needed=True,
    grade="certified",
    scope="y = 19",
)
def without_the_bound(claim: Claim) -> Outcome:
    """P is negative at y = 19, α = 0.136."""
    at = (Fraction(136, 1000), Fraction(19))
    return Refuted("y = 19, α = 0.136", witness=witness(claim, at))
