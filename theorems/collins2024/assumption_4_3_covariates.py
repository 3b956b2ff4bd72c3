"""Assumption 4.3: covariates with label-relevant and spurious parts.

Collins et al. (NeurIPS 2024), Assumption 4.3: x = c_u B u + c_v B_perp v with u ~ U_k
and v ~ U_{d-k}, c_u != 0 and any c_v. Hence |B^T x| = |c_u|, |B_perp^T x| = |c_v|, and

    E x x^T = (c_u²/k) BB^T + (c_v²/(d-k)) B_perp B_perp^T.

It can be satisfied for all 1 <= k < d. The validator rejects c_u = 0, another radius,
another law of u, and u and v that depend on each other.

Deviations from the text:
    1. u and v are independent, which the text leaves to be understood.
Not decided here: c_v = 0, which the assumption allows and Theorem 4.4 does not survive
(theorem_4_4_direction.py).
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

c_u, c_v = sp.symbols("c_u c_v", real=True)
k, rest = sp.symbols("k rest", positive=True, integer=True)  # rest = d - k


@dataclass(frozen=True)
class Covariates:
    """x = radius (c_u B u + c_v B_perp v).

    Attributes:
        radius: 1 in the paper.
        uniform: u ~ U_k; otherwise u is uniform on the coordinate axes.
        independent: u and v are; otherwise v = u where k = d - k.
        silent: c_u = 0.
    """

    radius: int = 1
    uniform: bool = True
    independent: bool = True
    silent: bool = False


PRINTED = Covariates()

CLAIM = Claim(
    id="collins2024/assumption-4.3",
    kind=Kind.ASSUMPTION,
    title="law of the covariates",
    says=(
        "There are covariates c_u B u + c_v B⊥ v with u, v uniform on spheres and "
        "c_u ≠ 0; their second moments are c_u²/k along B and c_v²/(d-k) across."
    ),
    latex=r"x = c_u B u + c_v B_\perp v, \quad \mathbb{E} x x^\top = \tfrac{c_u^2}{k} "
    r"B B^\top + \tfrac{c_v^2}{d-k} B_\perp B_\perp^\top",
    quantifiers="for all 1 ≤ k < d, c_u ≠ 0, c_v (0 included)",
    source=PAPER.at("Assumption 4.3"),
    wording=Wording.PRINTED,
    domain=PRINTED,
    parameters={"along": c_u**2 / k, "across": c_v**2 / rest},
    mutants=(
        Mutant("c_u²", why="u has norm 1: its entries share it", along=c_u**2),
        Mutant("c_v²", why="so do those of v", across=c_v**2),
        Mutant(
            "exchanged", why="u goes with B", along=c_v**2 / rest, across=c_u**2 / k
        ),
        Mutant("radius 2", why="u, v have norm 1", domain=replace(PRINTED, radius=2)),
        Mutant(
            "u on the axes",
            why="second moments agree, fourth ones do not",
            domain=replace(PRINTED, uniform=False),
        ),
        Mutant(
            "v = u",
            why="then E (e.B^T x)² (e.B⊥^T x)² is E (u.e)^4, no product",
            domain=replace(PRINTED, independent=False),
        ),
        Mutant(
            "c_u = 0",
            why="no label depends on x, and E |B^T x|² = 0",
            domain=replace(PRINTED, silent=True),
        ),
    ),
)

VALUES = {"c_u": Fraction(2), "c_v": Fraction(3), "k": 2, "rest": 3}


def uneven(law: Covariates) -> dict[str, Any] | None:
    """A record that the law of u, or the pair, is not that of the assumption."""
    first, second = sp.symbols("first second")
    if not law.uniform:
        says = "E (u.e)^4 for u on the axes, at e = (3, 4)/5 and at e = (1, 0), k = 2"
        return formula(
            (first**4 + second**4) / 2,
            "!=",
            sp.Rational(1, 2),
            {"first": Fraction(3, 5), "second": Fraction(4, 5)},
            says,
        )
    if not law.independent:  # E (u.e)^4 = 3/(k(k+2)), (E (u.e)²)² = 1/k²
        says = "E (u.e)² (v.e)² for v = u, and the product of the means"
        return formula(3 / (k * (k + 2)), "!=", 1 / k**2, {"k": 2}, says)
    return None


def moments_differ(claim: Claim, values: dict[str, Any]) -> dict[str, Any] | None:
    """A record that k and d - k moments do not add up to |B^T x|² and |B_perp^T x|²."""
    law: Covariates = claim.domain
    if law.silent and values["c_u"] != 0:
        says = "|B^T x|² = 0 for c_u = 0, not positive"
        return formula(sp.S.Zero * c_u, "<=", sp.S.Zero, {"c_u": 0}, says)
    point = {s: sp.Rational(values[s.name]) for s in (c_u, c_v, k, rest)}
    for size, claimed, scale in ((k, claim.along, c_u), (rest, claim.across, c_v)):
        left, right = size * claimed, (law.radius * scale) ** 2
        if left.subs(point) != right.subs(point):
            says = "sum of the second moments, and |B^T x|² or |B⊥^T x|², constant"
            return formula(left, "!=", right, values, says)
    return None


@check(CLAIM, grade="symbolic", scope="all")
def moments_are_those_of_spheres(claim: Claim) -> Outcome:
    """E u u^T = I/k, E v v^T = I/(d-k), E u v^T = 0: traces are 1."""
    record = uneven(claim.domain) or moments_differ(claim, VALUES)
    if record:
        return Refuted(str(record["says"]), witness=record)
    for size, claimed, scale in ((k, claim.along, c_u), (rest, claim.across, c_v)):
        if sp.simplify(size * claimed - scale**2) != 0:
            raise Undecided("formulas differ, and the instance does not tell")
    steps = [
        "|B^T x|² = c_u² |u|² and |B⊥^T x|² = c_v² |v|²: B^T B = I, B^T B⊥ = 0",
        "rotations of u, v leave the law: moments are multiples of I, traces add up",
        "U_k × U_{d-k} is such a law, for k = 1 as well: u = ±1",
    ]
    return Holds("uniform u and v satisfy it", steps=steps)


@check(CLAIM, grade="property", scope="rational scales, k, d - k ≤ 4")
def scales_are_validated(claim: Claim, search: Search) -> Outcome:
    """Validate draws of c_u, c_v, k and d - k."""

    def record(case: tuple[Fraction, Fraction, int, int]) -> dict[str, Any] | None:
        values = dict(zip(("c_u", "c_v", "k", "rest"), case, strict=True))
        return uneven(claim.domain) or moments_differ(claim, values)

    scale = st.fractions(Fraction(1, 4), Fraction(4), max_denominator=4)
    return search.for_all(
        st.tuples(scale, st.just(Fraction(0)) | scale, *[st.integers(1, 4)] * 2),
        lambda case: record(case) is not None,
        lambda case: record(case) or {},
        searched="c_u in [1/4, 4], c_v in {0} or [1/4, 4], k, d - k in 1..4",
        pinned=((Fraction(2), Fraction(3), 2, 3),),
        scale=0.1,
    )
