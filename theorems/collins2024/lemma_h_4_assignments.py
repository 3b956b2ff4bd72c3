"""Lemma H.4, the step to four assignments: right for two atoms, wrong for k ≥ 2.

Collins et al. (NeurIPS 2024), Appendix H.1: "the expectation over (u_1, u_i') can be
written as an integral over (y_1, y_2) ∈ S^{k-1} × S^{k-1} of a sum of the derivatives
at each of the four assignments of (u_1, u_i') to (y_1, y_2)". In the proof of Lemma H.4
these are p_a² h_aa + p_b² h_bb + p_a p_b (h_ab + h_ba), and only with the first two is
the sum positive.

An expectation over two independent points is the mean over the two assignments
(y_1, y_2), (y_2, y_1). The others put both samples at one point: an event of
probability 0 for k ≥ 2, where p_a = P[u_1.u = a] = 0. For k = 1, with the one pair
{1, -1}, the sum over four is right. The two alone may be negative within c ≤ 1: at
α = 3/10, y = 7, h_ab + h_ba < 0. So the printed proof covers k = 1; for k ≥ 2 the
lemma holds by another one (lemma_h_4_noise.py). In Lemma H.3 two assignments suffice.

Deviations from the text:
    1. Displays (58) to (62) are lost; the step is quoted from the sketch.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs.noise import alpha, y
from theorems.collins2024.pairs.steps import equal, need
from verify import (
    Anchor,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

half, quarter, third = (sp.Rational(1, n) for n in (2, 4, 3))
NAMES = ("same_first", "ordered", "swapped", "same_second")


def _weights(*values: sp.Expr) -> dict[str, sp.Expr]:
    return dict(zip(NAMES, map(sp.sympify, values), strict=True))


REPAIRED = Claim(
    id="collins2024/lemma-h.4/assignments/repaired",
    kind=Kind.PROOF_STEP,
    title="two assignments",
    says="An expectation over (u_1, u_2) is the mean over two assignments.",
    latex=(
        r"\mathbb{E} h(u_1, u_2) = \mathbb{E}_{y_1, y_2} "
        r"\tfrac12 (h(y_1, y_2) + h(y_2, y_1))"
    ),
    quantifiers="for independent uniform points, the derivative h of Lemma H.4, all k",
    source=PAPER.at("Lemma H.4", "repair of the sketch in Appendix H.1"),
    wording=Wording.OURS,
    parameters=_weights(0, half, half, 0),
    mutants=(
        Mutant(
            "counted twice",
            why="the mean of h is not 0",
            ordered=sp.S.One,
            swapped=sp.S.One,
        ),
        Mutant(
            "halved", why="the mean of h is not 0", ordered=quarter, swapped=quarter
        ),
        Mutant(
            "as printed",
            why="both samples at one point is another event",
            **_weights(quarter, quarter, quarter, quarter),
        ),
        Mutant(
            "three assignments",
            why="both samples at one point is another event",
            same_first=third,
            ordered=third,
            swapped=third,
        ),
    ),
)

CLAIM = Claim(
    id="collins2024/lemma-h.4/assignments",
    kind=Kind.PROOF_STEP,
    title="four assignments",
    says="An expectation over (u_1, u_2) is the mean over all four assignments.",
    latex=(
        r"\mathbb{E} h(u_1, u_2) = \mathbb{E}_{y_1, y_2} "
        r"\tfrac14 \sum_{r, s} h(y_r, y_s)"
    ),
    quantifiers=REPAIRED.quantifiers,
    source=PAPER.at("Lemma H.4", "sketch in Appendix H.1"),
    wording=Wording.PRINTED,
    parameters=_weights(quarter, quarter, quarter, quarter),
    anchors=(
        Anchor(
            "two assignments",
            why="the points are independent and identically distributed",
            **_weights(0, half, half, 0),
        ),
    ),
    mutants=(REPAIRED.mutants[0], REPAIRED.mutants[3]),
    finding=refuted(
        "h(y_1, y_1) has the mean (1-α)/(1+α)³ (times 2α), h(y_1, y_2) has not; with "
        "p_a = P[u_1.u = a] its share is 0 for k ≥ 2"
    ),
    nearest="collins2024/lemma-h.4/spheres",
)


def derivative(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The summand of the derivative over 2α: e_1, e_2 are ``first`` and ``second``."""
    return first * second * (first - alpha * second) / (first + alpha * second) ** 3


def sides(claim: Claim) -> tuple[sp.Expr, sp.Expr]:
    """Both sides for k = 1, where e_i is y or 1."""
    ends = (y, sp.S.One)
    left = sum(derivative(*pair) for pair in product(ends, repeat=2)) / 4
    right = sp.S.Zero
    for one, two in product(ends, repeat=2):
        places = ((one, one), (one, two), (two, one), (two, two))
        for name, place in zip(NAMES, places, strict=True):
            right += claim.parameters[name] * derivative(*place) / 4
    return left, right


def witness(claim: Claim, at: tuple[Fraction, Fraction]) -> dict[str, Any]:
    """Both sides at k = 1, exactly."""
    inputs = {"alpha": at[0], "y": at[1]}
    says = "k = 1, y = e^(2c): the expectation, and the integral over assignments"
    left, right = sides(claim)
    return formula(left, "!=", right, inputs, says)


EXAMPLE = (Fraction(1, 2), Fraction(3))


@check(CLAIM, REPAIRED, grade="symbolic", scope="all")
def weights_of_the_assignments(claim: Claim) -> Outcome:
    """The means N of h(y_1, y_2) and D of h(y_1, y_1) differ: compare coefficients."""
    same = claim.same_first + claim.same_second
    other = claim.ordered + claim.swapped
    if same == 0 and other == 1:
        D, (left, right) = derivative(sp.S.One, sp.S.One), sides(claim)
        alone = derivative(y, sp.S.One) + derivative(sp.S.One, y)
        at = {alpha: sp.Rational(3, 10), y: 7}
        steps = (
            "(y_1, y_2) and (y_2, y_1) have the law of (u_1, u_2)",
            equal("h(y_1, y_1), up to 2α", D, (1 - alpha) / (1 + alpha) ** 3),
            need("for k = 1 both sides agree", sp.cancel(left - right) == 0),
            need("h_ab + h_ba < 0 at α = 3/10, y = 7 < e²", bool(alone.subs(at) < 0)),
        )
        return Holds("each of the two has the law of (u_1, u_2)", steps=steps)
    record = witness(claim, EXAMPLE)
    return Refuted("k = 1, α = 1/2, e^(2c) = 3: they differ", witness=record)


@check(CLAIM, REPAIRED, grade="property", scope="k = 1, exact")
def both_sides_at_points(claim: Claim, search: Search) -> Outcome:
    """Compare both sides at rational α and y."""
    from hypothesis import strategies as st

    left, right = sides(claim)
    evaluate = sp.lambdify((alpha, y), left - right, "math")
    return search.for_all(
        st.tuples(
            st.integers(1, 99).map(lambda j: Fraction(j, 100)),
            st.integers(11, 700).map(lambda j: Fraction(j, 10)),
        ),
        lambda at: evaluate(*at) != 0,
        lambda at: witness(claim, at),
        searched="multiples of 1/100 and 1/10",
        pinned=[EXAMPLE],
        scale=0.2,
    )
