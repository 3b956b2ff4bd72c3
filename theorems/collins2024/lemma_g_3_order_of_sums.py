"""Lemma G.3: the order of γ(d, α, m) = Σ_{i=1}^m i^d e^{-αi}.

Collins et al. (NeurIPS 2024), Lemma G.3.

    m ≥ (d + √d)/α:  γ(d, α, m) ≍ Γ(d+1)/α^{d+1}

True for bounded α and false without a bound: each term has a factor e^{-αi}, so that γ
falls like e^{-α} while Γ(d+1)/α^{d+1} falls like a power. The text uses it at α = 2.
For smaller m see lemma_g_3_few_terms.py, for a step of the proof that needs
α ≤ √(2πd) lemma_g_3_stirling_step.py.

Deviations from the text:
    1. The display is lost; it is rebuilt from the proof and from its use.
    2. Whether α was bounded cannot be seen. Readings: any α; α ≤ 2; and the constant 2
       above that the proof arrives at, for any α.
    3. d is any real number ≥ 1: the text has half-integers in use.
Not decided here: the constants of the proof from below; their display is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import sympy as sp

from theorems.collins2024.caps import sums
from theorems.collins2024.caps.balls import evaluate
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal, need
from theorems.collins2024.caps.sums import (
    ABOVE,
    BELOW,
    COMPLETE,
    NEVER,
    POSITIVE,
    SOURCE,
    STEEPEST,
    THRESHOLD,
    TWO,
    alpha,
    d,
    i,
    m,
    steepest,
)
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Verdict,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import family

SUM = sp.Sum(i**d * sp.exp(-alpha * i), (i, 1, m))
LONG = Assumption("long", "m ≥ (d + √d)/α")
UNNAMED = sp.symbols("c C", positive=True)  # constants that the text does not name
AT_TWO = sp.exp(-2) / 2
MOST = 160  # terms of a sum that is judged

WRONG = (
    Mutant(
        "one power of α less",
        why="as α → 0 the sum grows like α^{-(d+1)}",
        scale=sp.gamma(d + 1) / alpha**d,
    ),
    Mutant(
        "Γ(d+2) for Γ(d+1)",
        why="d + 1 times as much, and no constant may depend on d",
        scale=sp.gamma(d + 2) / alpha ** (d + 1),
    ),
    Mutant("a third above", why="γ tends to Γ(d+1)/α^{d+1}", above=sp.Rational(1, 3)),
)
SHORT = Mutant(
    "m from a quarter of (d + √d)/α",
    why="the first quarter holds an exponentially small part for large d",
    threshold=THRESHOLD / 4,
)
TOO_MUCH = Mutant(
    "0.6 below", why="γ(1, 2, 1) = e^{-2} is 0.541 of Γ(2)/4", below=sp.Rational(3, 5)
)


def _complete(name: str, **fields: Any) -> Claim:
    parameters = {
        "scale": COMPLETE,
        "below": AT_TWO,
        "above": ABOVE,
        "threshold": THRESHOLD,
        "largest": TWO,
    }
    return Claim(
        id=f"collins2024/lemma-g.3/complete{name}",
        source=SOURCE,
        assumes=(POSITIVE, LONG),
        latex=(
            r"m \ge \frac{d + \sqrt d}{\alpha} \implies "
            r"\gamma(d, \alpha, m) \asymp \frac{\Gamma(d+1)}{\alpha^{d+1}}"
        ),
        parameters=parameters | fields.pop("parameters", {}),
        **fields,
    )


BOUNDED = _complete(
    "@alpha-at-most-2",
    title="order of the sums, α ≤ 2",
    says=(
        "For α ≤ 2 and m ≥ (d + √d)/α the sum is of the order Γ(d+1)/α^{d+1}: between "
        "e^{-2}/2 and 2 times as much."
    ),
    quantifiers="for all real d ≥ 1, 0 < α ≤ 2, integers m ≥ (d + √d)/α",
    wording=Wording.DERIVED,
    mutants=(*WRONG, SHORT, TOO_MUCH),
)

ANY_ALPHA = _complete(
    "@any-alpha",
    title="order of the sums, any α",
    says=(
        "For m ≥ (d + √d)/α the sum is of the order Γ(d+1)/α^{d+1}, whatever α: with "
        "constants that may depend on d only."
    ),
    quantifiers="for all real d ≥ 1, α > 0, integers m ≥ (d + √d)/α",
    wording=Wording.GUESSED,
    parameters={"largest": NEVER, "below": UNNAMED[0], "above": UNNAMED[1]},
    mutants=(*WRONG, SHORT, TOO_MUCH),
    anchors=(
        Anchor(
            "α ≤ 2, constants e^{-2}/2 and 2",
            why="proved, and all that is used",
            largest=TWO,
            below=AT_TWO,
            above=ABOVE,
        ),
    ),
    finding=refuted(
        "as α grows the sum falls like e^{-α}, Γ(d+1)/α^{d+1} like a power of α"
    ),
    nearest="collins2024/lemma-g.3/complete/repaired",
)

PROOF_CONSTANTS = _complete(
    "@proof-constants",
    title="order of the sums, constant of the proof",
    says="For m ≥ (d + √d)/α the sum is at most 2 Γ(d+1)/α^{d+1}, whatever α.",
    quantifiers="for all real d ≥ 1, α > 0, integers m ≥ (d + √d)/α",
    wording=Wording.GUESSED,
    parameters={"largest": NEVER, "below": sp.S.Zero},
    mutants=(WRONG[0], WRONG[2]),
    anchors=(Anchor("α ≤ 2", why="proved, and all that is used", largest=TWO),),
    finding=refuted(
        "near α = d + 1 the sum is about √(d/(2π)) times Γ(d+1)/α^{d+1}, more than 2 "
        "for d = 26"
    ),
    nearest="collins2024/lemma-g.3/complete/repaired",
)

REPAIRED = _complete(
    "/repaired",
    title="order of the sums, α ≤ √(2πd)",
    says=(
        "For α ≤ √(2πd) and m ≥ (d + √d)/α the sum is between e^{-α}/2 and 2 times "
        "Γ(d+1)/α^{d+1}."
    ),
    quantifiers="for all real d ≥ 1, 0 < α ≤ √(2πd), integers m ≥ (d + √d)/α",
    wording=Wording.OURS,
    parameters={"largest": STEEPEST, "below": BELOW},
    mutants=(
        *WRONG,
        SHORT,
        TOO_MUCH,
    ),
)


def of_sum(claim: Claim, size: int, rate: Fraction, last: int) -> list[Bound]:
    """Both bounds on one sum."""
    says = f"claimed bound against the sum, d = {size}, α = {rate}, m = {last}"
    sizes, at = {d: size, m: last}, {alpha: rate}
    return [
        Bound(claim.below * claim.scale, SUM, at, says, sizes),
        Bound(SUM, claim.above * claim.scale, at, says, sizes),
    ]


def shortest(claim: Claim, size: int, rate: Fraction) -> int:
    """The smallest m at or above the claimed threshold."""
    at = {d: Fraction(size), alpha: rate}
    near = max(1, ceil(float(evaluate(claim.threshold, at)) * (1 - 1e-9)))
    enough = Bound(claim.threshold, m, {**at, m: near}, "m is large enough")
    return near if enough.holds() else near + 1


def sums_grid(claim: Claim) -> Iterator[Bound]:
    """D from 1 to 64, α from the largest down to 1/8, few and many terms."""
    for size in (1, 2, 3, 8, 26, 64):
        top = steepest(claim, size)
        for rate in (top, Fraction(1), Fraction(1, 8)):
            last = shortest(claim, size, rate)
            if last <= MOST:
                yield from of_sum(claim, size, rate, last)
                yield from of_sum(claim, size, rate, 2 * last)


def _vanishes(claim: Claim) -> Outcome:
    """One term of d = 1 against the claimed order, as α grows.

    m = 1 is allowed for α ≥ 2, and γ(1, α, 1) = e^{-α}.
    """
    ratio = sp.simplify((SUM.subs({d: 1, m: 1}).doit()) / claim.scale.subs(d, 1))
    steps = (
        equal("γ(1, α, 1) over the order", ratio, alpha**2 * sp.exp(-alpha)),
        need("it tends to 0", sp.limit(ratio, alpha, sp.oo) == 0),
        need(
            "1 ≥ (d + √d)/α from α = 2 on", claim.threshold.subs({d: 1, alpha: 2}) <= 1
        ),
    )
    says = "γ(1, α, 1) over Γ(2)/α² is α² e^{-α}"
    witness = family(
        ratio, alpha, (10, 20, 40, 80), toward="0", says=says, limit="sympy's limit"
    )
    return Refuted(
        "as α grows no constant bounds it from below", witness=witness, steps=steps
    )


def proved(claim: Claim) -> bool:
    """Whether the proof gives the claimed constants on the claimed range."""
    rate = sp.Symbol("rate", positive=True)
    top = claim.largest
    fits = claim.scale == COMPLETE and claim.threshold == THRESHOLD and top is not NEVER
    # below ≤ e^{-α}/2 up to the largest α; the largest α ≤ √(2πd) for all d ≥ 1
    low = sp.simplify((claim.below / BELOW).subs(alpha, rate))
    low = low.subs(rate, top) if top.is_number else low
    high = sp.simplify((top / STEEPEST) ** 2)
    high = high.subs(d, 1) if top.is_number else high
    return bool(
        fits
        and low.is_number
        and high.is_number
        and low <= 1
        and high <= 1
        and claim.above >= ABOVE
    )


@check(BOUNDED, ANY_ALPHA, PROOF_CONSTANTS, REPAIRED, grade="symbolic", scope="all")
def gamma_integral(claim: Claim) -> Outcome:
    """Compare with the gamma integral, cell by cell; or let α grow."""
    if claim.below == UNNAMED[0]:
        return _vanishes(claim)
    return settle(
        sums.complete() if proved(claim) else None,
        sums_grid(claim),
        says="proved for all d ≥ 1",
        certificate=of_sum(claim, 2, Fraction(1), 4)[1].certificate(),
    )


@check(
    BOUNDED,
    ANY_ALPHA,
    PROOF_CONSTANTS,
    REPAIRED,
    grade="property",
    scope="integers d ≤ 32, rational α, m ≤ 160",
)
def sums_in_balls(claim: Claim, search: Search) -> Outcome:
    """Hunt over d, α and m for a sum outside its bounds."""
    from hypothesis import strategies as st

    if claim.below == UNNAMED[0]:
        return Inconclusive(
            "no constant is named, and a search cannot refute all",
            cause=Cause.BUDGET,
        )

    def bounds(drawn: tuple[int, int, int]) -> Sequence[Bound]:
        size, part, longer = drawn
        rate = steepest(claim, size) / 2**part
        last = shortest(claim, size, rate) * longer
        if last > MOST:
            search.discard(f"more than {MOST} terms")
        return of_sum(claim, size, rate, last)

    outcome = hunt(
        search,
        st.tuples(st.integers(1, 32), st.integers(0, 4), st.integers(1, 2)),
        bounds,
        searched="d ≤ 32, α = 2^-j times the largest, m at or twice the threshold",
        pinned=[
            (1, 0, 1),
            (2, 0, 1),
            (26, 0, 1),
            (1, 4, 2),
            (32, 1, 1),
            (32, 2, 1),
            (32, 4, 2),
        ],
        scale=0.15,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    low, high = of_sum(claim, 1, Fraction(2), 1)[0], of_sum(claim, 1, Fraction(2), 9)[1]
    return outcome.but(
        tightness=(
            low.tightness("lower bound, d = 1, α = 2, m = 1"),
            high.tightness("upper bound, d = 1, α = 2, m = 9"),
        )
    )
