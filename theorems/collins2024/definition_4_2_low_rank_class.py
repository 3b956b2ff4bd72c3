"""Definition 4.2: low-rank linear tasks, and "the Lipschitzness is L in col(B)".

Collins et al. (NeurIPS 2024), Definition 4.2: f(x) = a.B^T x with a in R^k, drawn from
U_k. "Note that the Lipschitzness of the class in the direction w is L if w in col(B)".

As printed, a ranges over all of R^k, and in every direction outside col(B_perp) there
are tasks as steep as we please: no L will do. Over the support of the draw, the sphere,
the Lipschitzness is 1 in col(B), which the repair states.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from verify import (
    Anchor,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Undecided,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

L = sp.Symbol("L", positive=True)
ONE = sp.S.One

CHANGES = (
    Mutant("half", why="a along B^T w reaches 1", largest=ONE / 2, radius=ONE),
    Mutant("2", why="|a| = 1: not the least", largest=2 * ONE, radius=ONE),
    Mutant("√2", why="|a| = 1: not the least", largest=sp.sqrt(2), radius=ONE),
    Mutant("|a| ≤ 2", why="then it is 2", largest=ONE, radius=2 * ONE),
)

CLAIM = Claim(
    id="collins2024/definition-4.2",
    kind=Kind.DEFINITION,
    title="the low-rank class has a Lipschitzness",
    says="With a in R^k the class has a finite Lipschitzness L in col(B).",
    latex=r"\mathrm{Lip}_w(\{a^\top B^\top x : a \in \mathbb{R}^k\}) = L, \quad "
    r"w \in \mathrm{col}(B)",
    quantifiers="for some L, all unit w in col(B)",
    source=PAPER.at("Definition 4.2", "and the remark after it"),
    wording=Wording.PRINTED,
    parameters={"largest": L, "radius": sp.oo},
    anchors=(
        Anchor("a on the sphere", why="|a.w| ≤ |a| = 1", largest=ONE, radius=ONE),
    ),
    mutants=CHANGES,
    finding=refuted("for every L the task with a = (L + 1) B^T w is steeper"),
    nearest="collins2024/definition-4.2/repaired",
)

REPAIRED = Claim(
    id="collins2024/definition-4.2/repaired",
    kind=Kind.DEFINITION,
    title="the low-rank class has a Lipschitzness",
    says="With a on the unit sphere the class has the Lipschitzness 1 in col(B).",
    latex=r"\mathrm{Lip}_w(\{a^\top B^\top x : a \in S^{k-1}\}) = 1, \quad "
    r"w \in \mathrm{col}(B)",
    quantifiers="for all unit w in col(B), all k",
    source=PAPER.at("Definition 4.2", "repair"),
    wording=Wording.OURS,
    parameters={"largest": ONE, "radius": ONE},
    mutants=(
        Mutant("half", why="a along B^T w reaches 1", largest=ONE / 2),
        Mutant("2", why="not the least", largest=2 * ONE),
        Mutant("|a| ≤ 2", why="then it is 2", radius=2 * ONE),
        Mutant("all of R^k", why="no L will do", largest=L, radius=sp.oo),
    ),
)


def steepest(claim: Claim, size: Fraction) -> dict[str, Any] | None:
    """A record that the claimed L is not sup |a.w| over |a| <= radius, w in col(B).

    Args:
        claim: With parameters ``largest`` and ``radius``.
        size: A value of L.
    """
    values = {"L": size}
    if claim.radius == sp.oo:  # a = (L + 1) B^T w is in the class
        says = "quotient of the task with a = (L + 1) B^T w, above L"
        return formula(claim.largest + 1, ">", claim.largest, values, says)
    if claim.largest == claim.radius:
        return None
    says = "quotient of the steepest task, a along B^T w"
    return formula(claim.radius, "!=", claim.largest, values, says)


@check(CLAIM, REPAIRED, grade="symbolic", scope="all")
def radius_is_the_slope(claim: Claim) -> Outcome:
    """|a.w| <= |a| by Cauchy and Schwarz, with equality for a along B^T w."""
    record = steepest(claim, Fraction(1))
    if record is not None:
        return Refuted(str(record["says"]), witness=record)
    a, b, w = sp.symbols("a b w", real=True)  # w = (w, v) a unit vector
    v = sp.Symbol("v", real=True)
    gap = (a**2 + b**2) * (w**2 + v**2) - (a * w + b * v) ** 2
    if sp.expand(gap - (a * v - b * w) ** 2) != 0:
        raise Undecided("Lagrange's identity was not proved")
    steps = ["|a|²|w|² - (a.w)² = Σ (a_i w_j - a_j w_i)²", "a = r w has a.w = r"]
    return Holds("the Lipschitzness is the radius", steps=steps)


@check(CLAIM, REPAIRED, grade="property", scope="rational slopes on the circle, k = 2")
def slopes_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare with slopes of rational tasks, among them one along B^T w."""

    def slope(instance: tuple[Fraction, Fraction]) -> Fraction:
        size, tilt = instance
        w = ((1 - tilt**2) / (1 + tilt**2), 2 * tilt / (1 + tilt**2))
        top = size + 1 if claim.radius == sp.oo else Fraction(int(claim.radius))
        return max(top * (x * w[0] + y * w[1]) for x, y in (w, (1, 0), (0, 1)))

    def violated(instance: tuple[Fraction, Fraction]) -> bool:
        claimed = claim.largest.subs(L, sp.Rational(instance[0]))
        found = sp.Rational(slope(instance))
        return found > claimed if claim.radius == sp.oo else found != claimed

    def witness(instance: tuple[Fraction, Fraction]) -> dict[str, Any]:
        op = ">" if claim.radius == sp.oo else "!="
        values = {"L": instance[0], "found": slope(instance)}
        says = "slope along w of a task of the class, against the claimed L"
        return formula(sp.Symbol("found"), op, claim.largest, values, says)

    part = st.fractions(Fraction(0), Fraction(3), max_denominator=9)
    return search.for_all(
        st.tuples(part, part),
        violated,
        witness,
        searched="L in [0, 3], w on the circle",
        pinned=((Fraction(1), Fraction(1, 2)),),
        scale=0.1,
    )
