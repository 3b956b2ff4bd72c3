"""Corollary G.5: the order of g_p(r) = Σ_i |x_i - x|^p e^{-r|x_i - x|²}, from below.

Collins et al. (NeurIPS 2024), Corollary G.5 and its use in Appendices C and D: in the
setting of Lemma G.4, with probability at least 1 - 1/(2n),

    g_p(r) = Ω(n r^{-(d+p)/2}).

True and loose: the exact order is n r^{-(d-1+p)/2}.

Deviations from the text:
    1. The display is lost; it is rebuilt from what Appendices C and D put in.
    2. r ≥ (d + √d)/2, as where it is used: as r → 0 the bound fails.
    3. 0 ≤ p: the text has p = 0, 1/2, 1.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps import attention
from theorems.collins2024.caps.area import d
from theorems.collins2024.caps.attention import EXACT, IN_TEXT, LEADING, START, p, r
from theorems.collins2024.lemma_g_4_attention_sums import statement
from verify import (
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Verdict,
    Wording,
    check,
    necessity,
)
from verify.search import Search
from verify.symbolic import formula

WRONG = (
    Mutant(
        "exponent (d-2+p)/2",
        why="the mean is of order r^{-(d-1+p)/2}",
        exponent=(d - 2 + p) / 2,
    ),
    Mutant(
        "without p",
        why="|x_i - x| is of order r^{-1/2}",
        exponent=(d - 1) / 2,
    ),
    Mutant(
        "twice the leading constant",
        why="a mean is at most K r^{-(d-1+p)/2}",
        constant=2 * LEADING,
    ),
    Mutant("any r > 0", why="the bound exceeds n as r → 0", start=sp.S.Zero),
)

CLAIM = Claim(
    id="collins2024/corollary-g.5",
    title="order of the sums g_p, from below",
    says=(
        "With probability at least 1 - 1/(2n), g_p(r) is at least a constant, which "
        "depends on d and p only, times n r^{-(d+p)/2}."
    ),
    latex=r"g_p(r) = \Omega\bigl(n\, r^{-(d+p)/2}\bigr)",
    source=PAPER.at("Corollary G.5", "Appendix G.2"),
    wording=Wording.GUESSED,
    parameters={
        "exponent": IN_TEXT,
        "constant": attention.BELOW,
        "start": START,
        "above": sp.false,
    },
    mutants=WRONG,
    **statement(),
)

SHARP = Claim(
    id="collins2024/corollary-g.5/sharp",
    title="order of the sums g_p, from below, exact",
    says=(
        "With probability at least 1 - 1/(2n), g_p(r) is at least "
        "2^{-(d+1)/2} K n r^{-(d-1+p)/2}, K = Γ(d/2) Γ((d-1+p)/2) / (2√π Γ((d-1)/2))."
    ),
    latex=r"g_p(r) \ge 2^{-(d+1)/2} K n\, r^{-(d-1+p)/2}",
    source=CLAIM.source,
    wording=Wording.OURS,
    parameters={**CLAIM.parameters, "exponent": EXACT},
    mutants=WRONG,
    **statement(),
)


@check(CLAIM, SHARP, grade="symbolic", scope="all")
def chernoff_around_the_mean(claim: Claim) -> Outcome:
    """Bound the mean by half a gamma integral, the sum by Chernoff's inequality."""
    return attention.order(claim)


@check(
    CLAIM,
    SHARP,
    grade="property",
    scope="mean of a summand, d in {3, 5, 7}, p in {0, 2}, r up to 2^17",
)
def means_of_summands(claim: Claim, search: Search) -> Outcome:
    """Hold the constant against the exact mean, which it must not be above."""
    outcome = attention.drawn(claim, search)
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    tight = attention.against_mean(claim, 3, 0, Fraction(5, 2))
    return outcome.but(tightness=(tight.tightness("mean, d = 3, p = 0, r = 5/2"),))


@necessity(
    CLAIM,
    SHARP,
    assumption="many",
    needed=True,
    grade="certified",
    scope="d = 3, p = 0, n = 6, r = 1000",
)
def few_points(claim: Claim) -> Outcome:
    """All six points are likely to be so far from x that the sum is too small.

    For d = 3, u = 1 - x_i·x is uniform on [0, 2]: all u ≥ 1/100 with the probability
    (1 - 1/200)^6, far above 1/(2n) = 1/12, and then g ≤ 6 e^{-2r/100}.
    """
    at = {d: 3, p: 0, r: 1000}
    least = 6 * (claim.constant * r**-claim.exponent).subs(at)
    likely = (1 - sp.Rational(1, 200)) ** 6 - sp.Rational(1, 12)
    gap = sp.Min(least - 6 * sp.exp(-20), likely, evaluate=False)
    says = "six points, r = 1000: the sum is below the bound with probability > 1/12"
    return Refuted(says, witness=formula(gap, ">", sp.S.Zero, {}, says))


@necessity(
    CLAIM,
    assumption="narrow",
    needed=True,
    grade="certified",
    scope="d = 3, p = 0, r → 0",
)
def flat_windows(claim: Claim) -> Outcome:
    """As r → 0 every summand is at most 1 and the claimed bound is unbounded."""
    bound = attention.against_mean(claim, 3, 0, Fraction(1, 2**20))
    if bound.holds():
        return Holds("the bound holds", searched="d = 3, p = 0, r = 2^-20")
    return Refuted("the bound exceeds n", witness=bound.witness())
