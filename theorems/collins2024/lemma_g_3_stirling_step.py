"""Lemma G.3's use of Stirling's approximation: it needs α at most √(2πd).

Collins et al. (NeurIPS 2024), end of the upper bound in the proof of Lemma G.3:

    (d/(αe))^d ≤ α^{-(d+1)} √(2πd) (d/e)^d ≤ Γ(d+1)/α^{d+1}.

The first inequality is α ≤ √(2πd); from end to end it is α (d/e)^d ≤ Γ(d+1). The text
puts in α = 2, where it holds.

Deviations from the text:
    1. That no bound on α is stated is a reading: the display of the lemma is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps import sums
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal
from theorems.collins2024.caps.sums import (
    COMPLETE,
    LARGEST,
    NEVER,
    POSITIVE,
    STEEPEST,
    TWO,
    alpha,
    d,
    steepest,
)
from verify import (
    Anchor,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Verdict,
    Wording,
    check,
    refuted,
)
from verify.search import Search

STEP = Claim(
    id="collins2024/lemma-g.3/stirling-step",
    kind=Kind.PROOF_STEP,
    title="the largest term against the integral",
    says="(d/(αe))^d is at most Γ(d+1)/α^{d+1}.",
    latex=(
        r"\Bigl(\frac{d}{\alpha e}\Bigr)^d \le \frac{\sqrt{2 \pi d}}{\alpha^{d+1}} "
        r"\Bigl(\frac{d}{e}\Bigr)^d \le \frac{\Gamma(d+1)}{\alpha^{d+1}}"
    ),
    quantifiers="for all real d ≥ 1, α > 0",
    source=PAPER.at("Lemma G.3", "end of the upper bound"),
    wording=Wording.DERIVED,
    assumes=(POSITIVE,),
    parameters={"scale": COMPLETE, "largest": NEVER},
    mutants=(
        Mutant("Γ(d) for Γ(d+1)", why="α = 2 at d = 3", scale=COMPLETE / d),
        Mutant("a third", why="e^{1/(12d)}/3 < 1 at α = √(2πd)", scale=COMPLETE / 3),
        Mutant("α ≤ 2 √(2πd)", why="twice too large there", largest=2 * STEEPEST),
    ),
    anchors=(
        Anchor("α ≤ √(2πd)", why="Lemma G.6", largest=STEEPEST),
        Anchor("α ≤ 2", why="√(2π) > 2", largest=TWO),
    ),
    finding=refuted("it is α (d/e)^d ≤ Γ(d+1), false for α = 3, d = 1"),
    nearest="collins2024/lemma-g.3/stirling-step/repaired",
)

STEP_REPAIRED = Claim(
    id="collins2024/lemma-g.3/stirling-step/repaired",
    kind=Kind.PROOF_STEP,
    title="the largest term against the integral, repaired",
    says="For α ≤ √(2πd), (d/(αe))^d is at most Γ(d+1)/α^{d+1}.",
    latex=(
        r"\left(\tfrac{d}{\alpha e}\right)^d \le \tfrac{\Gamma(d+1)}{\alpha^{d+1}}, "
        r"\quad \alpha \le \sqrt{2 \pi d}"
    ),
    quantifiers="for all real d ≥ 1, 0 < α ≤ √(2πd)",
    source=STEP.source,
    wording=Wording.OURS,
    assumes=(POSITIVE,),
    parameters={"scale": COMPLETE, "largest": STEEPEST},
    mutants=STEP.mutants,
)


def of_term(claim: Claim, size: int, rate: Fraction) -> Bound:
    """The largest term against the integral, both times α^{d+1} (e/d)^d."""
    says = f"largest term against the claimed bound, d = {size}, α = {rate}"
    scaled = claim.scale * alpha ** (d + 1) * (sp.E / d) ** d
    return Bound(alpha, scaled, {alpha: rate}, says, {d: size})


def terms_grid(claim: Claim) -> Iterator[Bound]:
    """D up to 50, α the largest, 3d if there is none."""
    for size in (1, 2, 3, 10, 50):
        top = Fraction(3 * size) if claim.largest is NEVER else steepest(claim, size)
        yield of_term(claim, size, top)


@check(STEP, STEP_REPAIRED, grade="symbolic", scope="all")
def stirling_needs_small_alpha(claim: Claim) -> Outcome:
    """The first inequality is α ≤ √(2πd); the second is Lemma G.6."""
    over = sp.simplify((claim.largest / STEEPEST) ** 2)
    over = over.subs(d, 1) if claim.largest.is_number else over
    fits = claim.scale == COMPLETE and bool(over <= 1)
    steps = None
    if fits:
        steps = (
            *sums.complete()[-3:],
            equal("LARGEST", LARGEST, (d / (alpha * sp.E)) ** d),
        )
    return settle(steps, terms_grid(claim), says="proved for all d ≥ 1")


@check(STEP, STEP_REPAIRED, grade="property", scope="integers d ≤ 60, rational α")
def largest_terms_in_balls(claim: Claim, search: Search) -> Outcome:
    """Hunt over d and α."""
    from hypothesis import strategies as st

    outcome = hunt(
        search,
        st.tuples(st.integers(1, 60), st.integers(1, 64)),
        lambda drawn: [of_term(claim, drawn[0], _part(claim, *drawn))],
        searched="d ≤ 60, α = j/64 of the largest (of 4d if there is none)",
        pinned=((1, 64), (3, 64), (60, 64)),
        scale=0.3,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    tight = of_term(claim, 60, steepest(claim, 60)).tightness("d = 60, largest α")
    return outcome.but(tightness=(tight,))


def _part(claim: Claim, size: int, part: int) -> Fraction:
    top = Fraction(4 * size) if claim.largest is NEVER else steepest(claim, size)
    return top * part / 64
