"""Lemma G.4: the order of g_p(r) = Σ_i |x_i - x|^p e^{-r|x_i - x|²}, from above.

Collins et al. (NeurIPS 2024), Lemma G.4 and its use in Appendices C and D. For points
x_i drawn uniformly from the sphere S^{d-1}, n/log n ≥ 45 √d r^{d/2}, n > 5, d > 2 and
p ≤ 2, with probability at least 1 - 1/(2n),

    g_p(r) = O(n r^{-(d+p)/2}).

The exponent is wrong, since the sphere has dimension d - 1: the mean of a summand is
K r^{-(d-1+p)/2} (1 + o(1)), and the sum stays near its mean. From below see
corollary_g_5_attention_sums.py.

Deviations from the text:
    1. The display is lost; it is rebuilt from what Appendices C and D put in.
    2. r ≥ (d + √d)/2, as where it is used: as r → 0 the bound from below fails.
    3. 0 ≤ p: the text has p = 0, 1/2, 1.
Not decided here: the constants of the proof; their displays are lost.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps import attention
from theorems.collins2024.caps.area import d
from theorems.collins2024.caps.attention import EXACT, IN_TEXT, LEADING, START, p, r
from verify import (
    Anchor,
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Verdict,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

SETTING = (
    Assumption("uniform", "x_1, .., x_n are independent and uniform on S^{d-1}"),
    Assumption("many", "n/log n ≥ 45 √d r^{d/2}, n > 5"),
    Assumption("powers", "d > 2, 0 ≤ p ≤ 2"),
    Assumption("narrow", "r ≥ (d + √d)/2"),
)
WORDS = "for all integers d ≥ 3 and n, all real p and r as assumed"
NO_POWER = (
    "it holds the exhibited constant against means at finite r; that no constant at "
    "all is enough takes a limit"
)


def statement(**fields: Any) -> dict[str, Any]:
    """What the claims of both modules share."""
    return {"quantifiers": WORDS, "assumes": SETTING, **fields}


WRONG = (
    Mutant(
        "exponent (d+1+p)/2",
        why="the mean is of order r^{-(d-1+p)/2}",
        exponent=(d + 1 + p) / 2,
    ),
    Mutant(
        "p counted twice",
        why="|x_i - x| is of order r^{-1/2}",
        exponent=(d - 1) / 2 + p,
    ),
    Mutant(
        "exponent larger by 1/100",
        why="still wrong as r grows",
        exponent=EXACT + sp.Rational(1, 100),
        blind={"means_of_summands": NO_POWER},
    ),
    Mutant(
        "constant 9/10 of the leading one",
        why="the mean tends to K r^{-(d-1+p)/2}",
        constant=sp.Rational(9, 10) * LEADING,
    ),
)

CLAIM = Claim(
    id="collins2024/lemma-g.4",
    title="order of the sums g_p, from above",
    says=(
        "With probability at least 1 - 1/(2n), g_p(r) is at most a constant, which "
        "depends on d and p only, times n r^{-(d+p)/2}."
    ),
    latex=r"g_p(r) = O\bigl(n\, r^{-(d+p)/2}\bigr)",
    source=PAPER.at("Lemma G.4", "Appendix G.2"),
    wording=Wording.GUESSED,
    parameters={
        "exponent": IN_TEXT,
        "constant": attention.UNNAMED,
        "start": START,
        "above": sp.true,
    },
    mutants=WRONG,
    anchors=(
        Anchor(
            "exponent (d-1+p)/2, constant 2K",
            why="proved",
            exponent=EXACT,
            constant=attention.ABOVE,
        ),
    ),
    finding=refuted(
        "the sum is of exact order n r^{-(d-1+p)/2}: the sphere has dimension d - 1"
    ),
    nearest="collins2024/lemma-g.4/repaired",
    **statement(),
)

REPAIRED = Claim(
    id="collins2024/lemma-g.4/repaired",
    title="order of the sums g_p, from above, repaired",
    says=(
        "With probability at least 1 - 1/(2n), g_p(r) is at most 2K n r^{-(d-1+p)/2}, "
        "K = Γ(d/2) Γ((d-1+p)/2) / (2√π Γ((d-1)/2))."
    ),
    latex=r"g_p(r) \le 2 K n\, r^{-(d-1+p)/2}",
    source=CLAIM.source,
    wording=Wording.OURS,
    parameters={
        **CLAIM.parameters,
        "exponent": EXACT,
        "constant": attention.ABOVE,
    },
    mutants=(
        Mutant("exponent (d+p)/2", why="as printed", exponent=IN_TEXT),
        *WRONG,
    ),
    **statement(),
)


@check(CLAIM, REPAIRED, grade="symbolic", scope="all")
def chernoff_around_the_mean(claim: Claim) -> Outcome:
    """Bound the mean by a gamma integral and the sum by Chernoff's inequality."""
    return attention.order(claim)


@check(
    CLAIM,
    REPAIRED,
    grade="property",
    scope="mean of a summand, d in {3, 5, 7}, p in {0, 2}, r up to 2^17",
)
def means_of_summands(claim: Claim, search: Search) -> Outcome:
    """Hold the constant against the exact mean, which it must not be below."""
    outcome = attention.drawn(claim, search)
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    tight = attention.against_mean(claim, 3, 0, 2**16).tightness("mean, d = 3, p = 0")
    return outcome.but(tightness=(tight,), figures=(attention.figure(),))


@necessity(
    REPAIRED,
    assumption="many",
    needed=True,
    grade="certified",
    scope="d = 3, p = 0, n = 6, r = 12",
)
def few_points(claim: Claim) -> Outcome:
    """One of six points is likely to be so close to x that the sum is too large.

    For d = 3, u = 1 - x_i·x is uniform on [0, 2]: some u ≤ 1/20 with the probability
    1 - (1 - 1/40)^6, above 1/(2n) = 1/12, and then g ≥ e^{-2r/20}.
    """
    at = {d: 3, p: 0, r: 12}
    largest = 6 * (claim.constant * r**-claim.exponent).subs(at)
    likely = 1 - (1 - sp.Rational(1, 40)) ** 6 - sp.Rational(1, 12)
    gap = sp.Min(sp.exp(-sp.Rational(6, 5)) - largest, likely, evaluate=False)
    says = "six points, r = 12: the sum is above the bound with probability > 1/12"
    return Refuted(says, witness=formula(gap, ">", sp.S.Zero, {}, says))
