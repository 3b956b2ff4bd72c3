"""Definition 4.1: Lipschitzness of a class in a direction w.

Collins et al. (NeurIPS 2024), Definition 4.1 and the remark after Definition 4.2. For
the tasks f(x) = a.B^T x with |a| <= R,

    f(w w^T x) - f(w w^T x') = (a.B^T w) (w.x - w.x'),

so that the least L is sup_a |a.B^T w| = R |B^T w|: R for w in col(B), 0 for w in
col(B_perp), and in between for every other direction. The remark gives the two ends.

Deviations from the text:
    1. X has two points with different w.x; else every real L would do, and there is no
       least one.
    2. f is evaluated at w w^T x, which need not be in X: tasks are functions on R^d.
"""

from __future__ import annotations

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

R, p, q, z = sp.symbols("R p q z", positive=True)  # B^T w = (p, q), B_perp^T w = z

CLAIM = Claim(
    id="collins2024/definition-4.1",
    kind=Kind.DEFINITION,
    title="Lipschitzness in a direction",
    says=(
        "The tasks a.B^T x, |a| ≤ R, have the Lipschitzness R |B^T w| in the direction "
        "w: R in col(B), 0 in its complement."
    ),
    latex=r"\mathrm{Lip}_w(\mathcal{F}, \mathcal{X}) = R \, \|B^\top w\|",
    quantifiers="for all unit w, all R > 0, all k",
    source=PAPER.at("Definition 4.1", "and the remark after Definition 4.2"),
    wording=Wording.PRINTED,
    parameters={"largest": R * sp.sqrt(p**2 + q**2)},
    mutants=(
        Mutant(
            "R in every direction",
            why="only the part of w in col(B) matters",
            largest=R * sp.sqrt(p**2 + q**2 + z**2),
        ),
        Mutant(
            "largest entry",
            why="a turns to B^T w",
            largest=R * sp.Max(p, q),
        ),
        Mutant("sum of entries", why="|a| ≤ R is no box", largest=R * (p + q)),
        Mutant("squared", why="one factor of B^T w", largest=R * (p**2 + q**2)),
        Mutant("the complement", why="no task depends on B_perp^T x", largest=R * z),
        Mutant("without R", why="slopes scale", largest=sp.sqrt(p**2 + q**2)),
    ),
)

# B^T w = (p, q) with p² + q² + z² = 1, all rational and |B^T w| rational
INSTANCE = {"R": 2, "p": Fraction(12, 25), "q": Fraction(9, 25), "z": Fraction(4, 5)}


def turned(size: Fraction, first: Fraction, second: Fraction) -> list[Fraction]:
    """Quotients a.B^T w over a of norm ``size`` in 24 rational directions."""
    points = [(Fraction(a, c), Fraction(b, c)) for a, b, c in TRIPLES]
    signs = [(s, t) for s in (1, -1) for t in (1, -1)]
    both = [(x * s, y * t) for x, y in points for s, t in signs]
    return [size * (x * first + y * second) for x, y in (*both, *map(swapped, both))]


TRIPLES = ((1, 0, 1), (3, 4, 5), (5, 12, 13))


def swapped(pair: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """The two entries exchanged."""
    return pair[1], pair[0]


@check(CLAIM, grade="symbolic", scope="all")
def cauchy_schwarz_is_attained(claim: Claim) -> Outcome:
    """At a = R B^T w/|B^T w| the quotient is R |B^T w|; Lagrange bounds the others."""
    claimed, attained = sp.sympify(claim.largest), R * sp.sqrt(p**2 + q**2)
    point = {x: sp.Rational(INSTANCE[x.name]) for x in (R, p, q, z)}
    if claimed.subs(point) != attained.subs(point):
        says = "claimed, and the quotient of the task with a along B^T w"
        return Refuted(says, witness=formula(claimed, "!=", attained, INSTANCE, says))
    a, b = sp.symbols("a b", real=True)
    gap = (a**2 + b**2) * (p**2 + q**2) - (a * p + b * q) ** 2
    lagrange = sp.expand(gap - (a * q - b * p) ** 2) == 0
    at_best = sp.simplify(R * (p * p + q * q) / sp.sqrt(p**2 + q**2) - claimed) == 0
    if not (lagrange and at_best):
        raise Undecided("the claimed formula was not brought to R |B^T w|")
    steps = [
        "f(w w^T x) - f(w w^T x') = (a.B^T w)(w.x - w.x')",
        "|a|²|B^T w|² - (a.B^T w)² = Σ (a_i b_j - a_j b_i)² with b = B^T w",
        "a = R b/|b| has a.b = R |b|",
    ]
    return Holds("the largest quotient is R |B^T w|", steps=steps)


@check(CLAIM, grade="property", scope="rational directions and slopes, k = 2")
def slopes_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare with the quotients of rational slopes; the best one is among them."""

    def case(instance: tuple[Fraction, Fraction, int]) -> dict[str, Fraction]:
        size, tilt, which = instance
        x, y, c = TRIPLES[which]
        along = (1 - tilt**2) / (1 + tilt**2)
        first, second = along * Fraction(x, c), along * Fraction(y, c)
        found = max(turned(size, first, second))
        across = 2 * tilt / (1 + tilt**2)
        values = {"R": size, "p": first, "q": second, "z": across}
        return values | {"found": found}

    def record(instance: tuple[Fraction, Fraction, int]) -> dict[str, Any]:
        says = "largest quotient over tasks, one of which has a along B^T w"
        return formula(claim.largest, "!=", sp.Symbol("found"), case(instance), says)

    def violated(instance: tuple[Fraction, Fraction, int]) -> bool:
        values = case(instance)
        point = {s: sp.Rational(values[s.name]) for s in (R, p, q, z)}
        return bool(
            claim.largest.subs(point, simultaneous=True) != sp.Rational(values["found"])
        )

    size = st.fractions(Fraction(1, 4), Fraction(3), max_denominator=4)
    tilt = st.fractions(Fraction(1, 5), Fraction(4, 5), max_denominator=5)
    return search.for_all(
        st.tuples(size, tilt, st.integers(0, 2)),
        violated,
        record,
        searched="k = 2, R in [1/4, 3], w at rational angles to col(B)",
        pinned=((Fraction(2), Fraction(1, 2), 1),),
        scale=0.1,
    )
