"""Definition 3.1: Lipschitzness, the least L with f(x) - f(x') <= L |x - x'|.

Collins et al. (NeurIPS 2024), Definition 3.1. The set of such L is closed from below,
so that a least one exists for every Lipschitz f on a set of at least two points: the
supremum of difference quotients, never negative, as both orders of a pair count. For
the classes of Definition 3.2 it is, on all of R^d and on the sphere,

    affine  |l| |w|,    ReLU  max(|l1|, |l2|) |w|.

Deviations from the text:
    1. On a single point every L would do, and there is no smallest.
    2. On the sphere the slope of a ReLU task is approached at w.x = 0, not attained.
Not decided here: the largest Lipschitzness of a class (definition_3_2_classes.py).
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

l1, l2, w = sp.symbols("l1 l2 w", real=True)  # w is |w|

CLAIM = Claim(
    id="collins2024/definition-3.1",
    kind=Kind.DEFINITION,
    title="Lipschitzness",
    says=(
        "Lipschitzness is the largest difference quotient: |l| |w| for affine tasks, "
        "max(|l1|, |l2|) |w| for ReLU tasks."
    ),
    latex=r"\mathrm{Lip}(f) = \sup_{x \ne x'} \frac{f(x) - f(x')}{\|x - x'\|}",
    quantifiers="for all l, l1, l2, b, w, on R^d",
    source=PAPER.at("Definition 3.1"),
    wording=Wording.PRINTED,
    parameters={
        "affine": sp.Abs(l1) * sp.Abs(w),
        "relu": sp.Max(sp.Abs(l1), sp.Abs(l2)) * sp.Abs(w),
    },
    mutants=(
        Mutant("signed", why="both orders of a pair count", affine=l1 * sp.Abs(w)),
        Mutant("without |w|", why="f changes by l |w| along w", affine=sp.Abs(l1)),
        Mutant(
            "sum of slopes",
            why="no point sees both sides",
            relu=(sp.Abs(l1) + sp.Abs(l2)) * sp.Abs(w),
        ),
        Mutant(
            "smaller slope",
            why="the steeper side counts",
            relu=sp.Min(sp.Abs(l1), sp.Abs(l2)) * sp.Abs(w),
        ),
        Mutant("one side", why="so does the other", relu=sp.Abs(l1) * sp.Abs(w)),
    ),
)

Task = tuple[Fraction, Fraction, Fraction]  # l1, l2, |w|
SIGNS = [Fraction(s) for s in (-1, 1)]


def by_quotients(task: Task, *, relu: bool) -> Fraction:
    """Largest quotient over points on the line through w, by brute force.

    Moves across w change the distance and not the task.
    """
    a, c, norm = task
    ends = [Fraction(k, 2) for k in range(-4, 5)]

    def f(t: Fraction) -> Fraction:
        if relu:
            return a * max(norm * t, Fraction(0)) + c * max(-norm * t, Fraction(0))
        return a * norm * t

    return max((f(s) - f(t)) / abs(s - t) for s in ends for t in ends if s != t)


def mismatch(claim: Claim, task: Task) -> dict[str, Any] | None:
    """A record that a formula of the claim is not the largest quotient."""
    inputs = dict(zip(("l1", "l2", "w"), task, strict=True))
    values = {s: sp.Rational(inputs[s.name]) for s in (l1, l2, w)}
    for name, claimed in (("affine", claim.affine), ("relu", claim.relu)):
        quotient = by_quotients(task, relu=name == "relu")
        if claimed.subs(values) != sp.Rational(quotient):
            says = f"the largest quotient of this {name} task"
            names = {**inputs, "quotient": quotient}
            return formula(claimed, "!=", sp.Symbol("quotient"), names, says)
    return None


CORNERS = [(a, 2 * c, Fraction(2)) for a in SIGNS for c in SIGNS] + [
    (2 * a, c, Fraction(2)) for a in SIGNS for c in SIGNS
]


@check(CLAIM, grade="symbolic", scope="all")
def three_cases(claim: Claim) -> Outcome:
    """Bound the quotient by cases of signs, and attain it; else compare at corners.

    f is a function of t = w.x: slopes l1 |w| for t > 0, -l2 |w| for t < 0. On one side
    quotients are +-l1 or +-l2 times |w|; across 0 they are mediants of such. Both are
    attained, in either order of the pair.
    """
    s, t = sp.symbols("s t", positive=True)
    mediant = (l1 * s - l2 * t) / (s + t)  # from -t to s
    weights = [s / (s + t), t / (s + t)]
    convex = sp.cancel(mediant - weights[0] * l1 - weights[1] * -l2) == 0
    whole = sp.cancel(sum(weights) - 1) == 0 and all(x.is_positive for x in weights)
    truth = {
        "affine": sp.Abs(l1) * sp.Abs(w),
        "relu": sp.Max(sp.Abs(l1), sp.Abs(-l2)) * sp.Abs(w),
    }
    same = all(sp.simplify(getattr(claim, k) - truth[k]) == 0 for k in truth)
    if convex and whole and same:
        return Holds("across 0 the quotient is a mean of l1 and -l2", n=3)
    record = next((r for r in (mismatch(claim, c) for c in CORNERS) if r), None)
    if record:
        return Refuted(str(record["says"]), witness=record)
    raise Undecided("agrees at all corners, and is not proved")


@check(CLAIM, grade="property", scope="rational tasks, nine points on a line")
def quotients_by_brute_force(claim: Claim, search: Search) -> Outcome:
    """Compare with the largest quotient over pairs of points."""
    number = st.fractions(Fraction(-3), Fraction(3), max_denominator=4)
    norm = st.fractions(Fraction(1, 4), Fraction(3), max_denominator=4)
    return search.for_all(
        st.tuples(number, number, norm),
        lambda task: mismatch(claim, task) is not None,
        lambda task: mismatch(claim, task) or {},
        searched="l1, l2 in [-3, 3], |w| in [1/4, 3]",
        scale=0.15,
    )
