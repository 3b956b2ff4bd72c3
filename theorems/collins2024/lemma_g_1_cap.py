"""Lemma G.1: the area of a spherical cap.

Collins et al. (NeurIPS 2024), Lemma G.1. For the cap {y : y·x > 1 - ε} of the sphere
S^{d-1}, as a share σ_ε of the whole sphere,

    (2ε - ε²)^k / √(2πd) ≤ σ_ε ≤ (2ε - ε²)^k / 2,    0 < ε ≤ 1,

by a flat ball with the boundary of the cap, and by a hemisphere with that boundary.

Deviations from the text:
    1. The display is lost. The proof's ball has dimension d - 1, which gives
       k = (d-1)/2. What follows in the text uses k = d/2; both are decided.
    2. ε ≤ 1 is not stated where the cap is defined; beyond the hemisphere the upper
       bound fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps import area
from theorems.collins2024.caps.area import d, h
from theorems.collins2024.caps.balls import evaluate
from theorems.collins2024.caps.bounds import Bound, first_failure, hunt, settle
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Figure,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Series,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.search import Search

BASE = 2 * h - h**2
SPHERE, BALL = (d - 1) / 2, d / 2
FLAT = 1 / sp.sqrt(2 * sp.pi * d)
HALF = sp.Rational(1, 2)

CAP = Assumption("cap", "0 < ε ≤ 1: the cap is at most a hemisphere")
UNIFORM = Assumption("uniform", "areas are shares of the sphere S^{d-1}, d ≥ 2")


def _statement(**fields: Any) -> dict[str, Any]:
    return {
        "latex": (
            r"\frac{(2\epsilon - \epsilon^2)^{k}}{\sqrt{2 \pi d}} \le \sigma_\epsilon "
            r"\le \tfrac12 (2\epsilon - \epsilon^2)^{k}"
        ),
        "quantifiers": "for all d ≥ 2, 0 < ε ≤ 1",
        "source": PAPER.at("Lemma G.1", "Appendix G.1"),
        "assumes": (CAP, UNIFORM),
        **fields,
    }


OTHERS = (
    Mutant(
        "exponent (d-2)/2",
        why="σ_ε is of order ε^{(d-1)/2}: the lower bound fails at small ε",
        exponent=d / 2 - 1,
    ),
    Mutant(
        "lower constant a tenth larger",
        why="at d = 3 the ratio starts at 1/4 < 1.1/√(6π)",
        lower=sp.Rational(11, 10) * FLAT,
    ),
    Mutant("upper constant 2/5", why="the hemisphere has 1/2", upper=sp.Rational(2, 5)),
    Mutant(
        "lower constant 1/√(2π(d-1))",
        why="the ratio starts at 1/√(2πd) (1 + 1/(4d) + ..)",
        lower=1 / sp.sqrt(2 * sp.pi * (d - 1)),
    ),
    Mutant("ε up to 3/2", why="then σ_ε > 1/2", largest=sp.Rational(3, 2)),
)

CLAIM = Claim(
    id="collins2024/lemma-g.1@exponent-d-1",
    title="area of a spherical cap",
    says=(
        "The share of the sphere in a cap of height ε is between (2ε - ε²)^{(d-1)/2} "
        "over √(2πd) and over 2."
    ),
    wording=Wording.DERIVED,
    parameters={"exponent": SPHERE, "lower": FLAT, "upper": HALF, "largest": sp.S.One},
    mutants=(
        Mutant(
            "exponent d/2",
            why="σ_ε is of order ε^{(d-1)/2}: the upper bound fails at small ε",
            exponent=BALL,
        ),
        *OTHERS,
    ),
    **_statement(),
)

IN_USE = Claim(
    id="collins2024/lemma-g.1@exponent-d",
    title="area of a spherical cap, exponent d/2",
    says=(
        "The share of the sphere in a cap of height ε is between (2ε - ε²)^{d/2} over "
        "√(2πd) and over 2."
    ),
    wording=Wording.GUESSED,
    parameters={**CLAIM.parameters, "exponent": BALL},
    mutants=(
        Mutant(
            "exponent (d+1)/2",
            why="farther from (d-1)/2 than d/2",
            exponent=(d + 1) / 2,
        ),
        *OTHERS,
    ),
    anchors=(Anchor("exponent (d-1)/2", why="proved", exponent=SPHERE),),
    finding=refuted(
        "the sphere S^{d-1} has dimension d - 1: a small cap of height ε is of order "
        "ε^{(d-1)/2}, above ½ (2ε - ε²)^{d/2}"
    ),
    nearest=CLAIM.id,
    **_statement(),
)


def bounds(claim: Claim, size: int, height: Fraction) -> list[Bound]:
    """Both bounds for odd d, where σ is a polynomial."""
    power = BASE**claim.exponent
    says = f"claimed bound against the share σ, d = {size}, ε = {height}"
    share, sizes = area.polynomial(size), {d: size}
    return [
        Bound(claim.lower * power, share, {h: height}, says, sizes),
        Bound(share, claim.upper * power, {h: height}, says, sizes),
    ]


def grid(claim: Claim) -> Iterator[Bound]:
    """Odd d, heights up to the largest and far below it."""
    largest = Fraction(int(claim.largest.p), int(claim.largest.q))
    heights = [largest, largest / 2, *(Fraction(1, 10**k) for k in (1, 2, 4, 8))]
    for size in (3, 5, 9, 21):
        for height in heights:
            yield from bounds(claim, size, height)


@check(CLAIM, IN_USE, grade="symbolic", scope="all")
def ratio_rises(claim: Claim) -> Outcome:
    """Derive the exact range of σ/(2ε - ε²)^{(d-1)/2}, and compare the constants."""
    relative = sp.simplify((claim.lower / FLAT) ** 2)
    proved = (
        sp.expand(claim.exponent - SPHERE) == 0
        and claim.upper.is_number
        and relative.is_number
        and bool(claim.upper >= HALF)
        and bool(relative <= 1)
        and claim.largest <= 1
    )
    return settle(
        area.exact_range() if proved else None,
        grid(claim),
        says="proved for all d ≥ 2, 0 < ε ≤ 1",
        certificate=bounds(claim, 3, Fraction(1, 2))[0].certificate(),
    )


@check(CLAIM, IN_USE, grade="certified", scope="d = 2 to 64, ε = j/16, 2^-j and 2^-4j")
def shares_in_balls(claim: Claim) -> Outcome:
    """Compare with the incomplete beta function, in both parities of d."""
    largest = Fraction(int(claim.largest.p), int(claim.largest.q))
    heights = [largest * Fraction(j, 16) for j in range(1, 17)]
    heights += [Fraction(1, 2**j) for j in (5, 6, 7, 8, 12, 16, 20)]
    judged = 0
    for size in (*range(2, 17), 24, 33, 48, 63, 64):
        for height in heights:
            if not _fits(claim, size, height):
                return _odd_failure(claim)
            judged += 1
    tight = (
        bounds(claim, 41, Fraction(1, 2**20))[0].tightness("below, d = 41, ε = 2^-20"),
        bounds(claim, 3, Fraction(1))[1].tightness("above, at the hemisphere"),
    )
    return Holds(
        f"both bounds at {judged} caps",
        n=judged,
        tightness=tight,
        figures=(_figure(),),
    )


def _figure() -> Figure:
    """σ over (2ε - ε²)^{(d-1)/2}: flat, where σ over (2ε - ε²)^{d/2} rises."""
    heights = [Fraction(1, 2**j) for j in range(13)]
    series = []
    for power, name in ((SPHERE, "(d-1)/2"), (BALL, "d/2")):
        for size in (3, 6):
            at = [{d: size, h: height} for height in heights]
            ratios = [
                float((area.share(size, one[h]) / evaluate(BASE**power, one)).mid())
                for one in at
            ]
            label = f"exponent {name}, d = {size}"
            series.append(Series(label, [float(x) for x in heights], ratios))
    return Figure(
        name="cap",
        title="Share of the sphere in a cap",
        x_label="height ε of the cap",
        y_label="σ over (2ε - ε²)^k",
        series=tuple(series),
        x_log=True,
        y_log=True,
        caption=(
            "With k = (d-1)/2 the ratio stays between 1/√(2πd) and 1/2; with k = d/2 "
            "it grows without bound as the cap shrinks."
        ),
    )


def _fits(claim: Claim, size: int, height: Fraction) -> bool:
    """Whether both bounds hold at one cap; the hemisphere is 1/2 exactly."""
    at = {d: size, h: height}
    share = area.share(size, height)
    power = BASE**claim.exponent
    if height == 1:
        return bool(claim.upper >= HALF) and bool(evaluate(claim.lower, at) <= share)
    lower, upper = (evaluate(c * power, at) for c in (claim.lower, claim.upper))
    return bool(lower <= share) and bool(share <= upper)


def _odd_failure(claim: Claim) -> Outcome:
    """A failure for odd d, where the share is rational and can be recorded."""
    failure = first_failure(grid(claim))
    if failure is None:
        return Inconclusive("fails in balls, not for odd d", cause=Cause.UNDECIDED)
    witness = failure.witness()
    return Refuted(str(witness["says"]), witness=witness)


@check(CLAIM, IN_USE, grade="property", scope="odd d up to 41, rational ε")
def exact_shares(claim: Claim, search: Search) -> Outcome:
    """Hunt over odd d, where σ is an exact polynomial, and rational heights."""
    from hypothesis import strategies as st

    largest = Fraction(int(claim.largest.p), int(claim.largest.q))
    heights = st.builds(
        lambda j, k: largest * j / (64 * 2**k), st.integers(1, 64), st.integers(0, 24)
    )
    sizes = st.sampled_from((3, 5, 7, 9, 13, 21, 41))
    return hunt(
        search,
        st.tuples(sizes, heights),
        lambda drawn: bounds(claim, *drawn),
        searched="d in {3, 5, 7, 9, 13, 21, 41}, ε = j 2^-k/64",
        pinned=[(3, largest), (3, Fraction(1, 10**6)), (9, Fraction(1, 10**6))],
        scale=0.25,
    )


@necessity(
    CLAIM, assumption="cap", needed=True, grade="certified", scope="d = 3, ε = 3/2"
)
def beyond_the_hemisphere(claim: Claim) -> Outcome:
    """At ε = 3/2 the share is 3/4, the bound at most 1/2."""
    upper = bounds(claim, 3, Fraction(3, 2))[1]
    if upper.holds():
        return Holds("the bound holds", searched="d = 3, ε = 3/2")
    return Refuted("three quarters of the sphere", witness=upper.witness())
