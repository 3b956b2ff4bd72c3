"""Lemma H.4: the exact range of c for k = 1.

For k = 1 and n = 2 the derivative of H_noise in the larger weight is, up to a positive
factor, F_2(w, s) with w = α/(1 + α)² in (0, 1/4), α = α_2/α_1, and s = 4 sinh² c:

    F_2 = 4 + s - w(1 - 6w)s² + 2w³s³.

Its discriminant in w is 8 s⁶ (s³ - 36 s² - 324 s - 648), so that F_2 > 0 for all w
exactly while s is below the positive zero 43.745... of the cubic: c < 1.91130....
(With the paper's count of the summands (a, a), (b, b), the bound that comes out is
s < 6 + 6√3, c < 1.4545.) For k ≥ 2 there is no bound, see lemma_h_4_noise.py.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import noise
from theorems.collins2024.pairs.noise import F2, LIMIT, s, w
from verify import (
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
)
from verify.certify.positivity import bernstein
from verify.search import Search
from verify.symbolic import formula

CLAIM = Claim(
    id="collins2024/lemma-h.4/range",
    title="exact range of c, k = 1",
    says=(
        "For k = 1, n = 2 the noise term grows with the larger weight, whatever the "
        "weights, exactly while 4 sinh² c is below the positive zero of "
        "s³ - 36s² - 324s - 648."
    ),
    latex=r"s^3 - 36 s^2 - 324 s - 648 < 0, \quad s = 4 \sinh^2 c",
    quantifiers="for k = 1 and all α_1 > α_2 > 0",
    source=PAPER.at("Lemma H.4", "its range of c"),
    wording=Wording.OURS,
    parameters={"cubic": LIMIT},
    mutants=(
        Mutant("6 + 6√3", why="the lemma goes further", cubic=s**2 - 12 * s - 72),
        Mutant("c = 1", why="the lemma goes further", cubic=s - noise.S_ONE),
        Mutant("s < 45", why="false at s = 44", cubic=s - 45),
        Mutant("s < 43", why="true up to 43.7", cubic=s - 43),
        Mutant("no bound", why="false at s = 44", cubic=s - 10**4),
    ),
)


def negative(at: Fraction) -> Fraction | None:
    """Some w in (0, 1/4) with F_2(w, s) <= 0, if floating point finds one."""
    value = sp.Rational(str(at))
    x = float(at)
    # F_2' = s² (-1 + 12w + 6sw²) vanishes at the least value for w > 0
    near = Fraction((sqrt(36 + 6 * x) - 6) / (6 * x)).limit_denominator(10**6)
    least = F2.subs({s: value, w: sp.Rational(str(near))})
    return near if near < Fraction(1, 4) and least <= 0 else None


def violation(claim: Claim, at: Fraction) -> dict[str, Any] | None:
    """A record that the claim is wrong about this s, if it is."""
    claimed = bool(claim.cubic.subs(s, sp.Rational(str(at))) < 0)
    found = negative(at)
    if claimed and found is not None:
        return formula(F2, "<=", sp.S.Zero, {"s": at, "w": found}, f"F_2 ≤ 0, s = {at}")
    if claimed or found is not None:
        return None
    says = f"at s = {at}, beyond the claimed range, F_2 > 0 for all weights"
    quarter = sp.Rational(1, 4)
    return bernstein(F2.subs(s, sp.Rational(str(at))), {w: (0, quarter)}, says=says)


@check(CLAIM, grade="symbolic", scope="all")
def discriminant_decides(claim: Claim) -> Outcome:
    """Compare with the discriminant of F_2 in w; or try the s at which it matters."""
    if claim.cubic == LIMIT:
        steps = (*noise.slopes(), *noise.substituted(), *noise.threshold())
        says = "at s = 43.7, c = 1.9108, F_2 > 0 for all weights"
        box = {w: (0, sp.Rational(1, 4))}
        found = bernstein(F2.subs(s, sp.Rational(437, 10)), box, says=says)
        return Holds("the first zero of F_2", steps=steps, certificate=found)
    for at in map(Fraction, ("6", "20", "87/2", "44")):
        record = violation(claim, at)
        if record is not None:
            return Refuted(str(record["says"]), witness=record)
    return Inconclusive("no proof; no s contradicts it", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="0 < s ≤ 100")
def scales_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare the claimed range with F_2 at rational s, densely around the limit."""
    from hypothesis import strategies as st

    near = st.integers(430, 445).map(lambda j: Fraction(j, 10))
    wide = st.integers(1, 1000).map(lambda j: Fraction(j, 10))

    return search.for_all(
        st.one_of(near, wide),
        lambda at: violation(claim, at) is not None,
        lambda at: violation(claim, at) or {},
        searched="multiples of 1/10 up to 100",
        pinned=[Fraction(x) for x in ("6", "43", "87/2", "437/10", "438/10", "44")],
        scale=0.1,
    )
