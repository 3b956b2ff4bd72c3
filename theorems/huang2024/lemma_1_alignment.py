"""Lemma 1: the gradient of stage 1 points towards the max-margin solution.

Huang, Liang and Yang (NeurIPS 2024), Lemma 1 of Appendix B. With W*_ov the solution of
problem (2), and along stage 1 of Algorithm 1,

    ⟨-∇L_0/‖∇L_0‖, W*_ov/‖W*_ov‖⟩ ≥ 1/(2‖W*_ov‖)                                 Eq. (8)
    tη_0/(2‖W*_ov‖) ≤ ‖W_ov^(t)‖ ≤ tη_0.

For the paper's L_0, which sums all tokens alike, the cosine is 1 from the first step on
and ‖W_ov^(t)‖ = tη_0. To see what the lemma's argument can give, the second claim puts
weights on the tokens: then the cosine is at least 1/sqrt|V|, which is sharp.

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof and from Equation (8)'s uses.
    2. |V| ≥ 2; for |V| = 1 problem (2) has no constraint and W*_ov = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import closed, decide, observed, skewed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    EQUAL,
    EQUAL_MEAN,
    EVERY_MAP,
    WEIGHTED,
    WHOLE,
    S,
    V,
    by_norm,
    eta,
    t,
)
from theorems.huang2024.stage_one.observed import at_least, together, value
from theorems.huang2024.stage_one.signs import nonnegative
from verify import (
    Anchor,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Variant,
    Wording,
    check,
)

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.paths import Columns

equal_paths, weighted_paths = observed.equal_paths, observed.weighted_paths

CLAIM = Claim(
    id="huang2024/lemma-1",
    title="the gradient of stage 1 points to the solution",
    says=(
        "The negative gradient of L_0 has cosine at least 1/(2‖W*‖) with the "
        "max-margin solution, and the norm of W_ov grows linearly."
    ),
    latex=(
        r"\left\langle \frac{-\nabla L_0}{\|\nabla L_0\|}, "
        r"\frac{W^*_{ov}}{\|W^*_{ov}\|} \right\rangle \ge \frac{1}{2\|W^*_{ov}\|}, "
        r"\quad \frac{t\eta_0}{2\|W^*_{ov}\|} \le \|W^{(t)}_{ov}\| \le t\eta_0"
    ),
    quantifiers=f"{EVERY_MAP}, all t ≥ 0",
    source=PAPER.at("Lemma 1", "Equation (8); Appendix B"),
    wording=Wording.DERIVED,
    domain=EQUAL,
    assumes=WHOLE,
    parameters={
        "alignment": 1 / (2 * S),
        "low": t * eta / (2 * S),
        "high": t * eta,
    },
    mutants=(
        Mutant("2/‖W*‖ for 1/(2‖W*‖)", why="above 1 for |V| ≤ 4", alignment=2 / S),
        Mutant("‖W*‖/2 for 1/(2‖W*‖)", why="above 1 for |V| ≥ 6", alignment=S / 2),
        Mutant("norm at least 2tη_0/‖W*‖", why="above tη_0", low=2 * t * eta / S),
        Mutant("norm at least tη_0‖W*‖/2", why="above tη_0", low=t * eta * S / 2),
        Mutant("norm at most tη_0/‖W*‖", why="false for |V| ≥ 3", high=t * eta / S),
        Mutant("norm at most tη_0/2", why="steps have length η_0", high=t * eta / 2),
    ),
    anchors=(
        Anchor("equality", why="the closed form", alignment=sp.Integer(1), low=t * eta),
        Anchor("mean over tokens", why="steps are normalised", domain=EQUAL_MEAN),
    ),
)

UNDER_WEIGHTS = Claim(
    id="huang2024/lemma-1/weighted",
    title="sharp form of Lemma 1 under token weights",
    says=(
        "For any positive token weights in L_0 the negative gradient has cosine at "
        "least 1/sqrt|V| = 1/sqrt(1 + ‖W*‖²) with the max-margin solution along "
        "stage 1, and tη_0/sqrt|V| ≤ ‖W_ov‖ ≤ tη_0; 1/sqrt|V| is the largest such "
        "constant of the cosine."
    ),
    latex=(
        r"\left\langle \frac{-\nabla L_0}{\|\nabla L_0\|}, "
        r"\frac{W^*_{ov}}{\|W^*_{ov}\|} \right\rangle \ge \frac{1}{\sqrt{|V|}}"
    ),
    quantifiers=f"{EVERY_MAP}, all positive token weights, all t ≥ 0",
    source=PAPER.at("Lemma 1"),
    wording=Wording.OURS,
    domain=WEIGHTED,
    assumes=WHOLE,
    parameters={
        "alignment": 1 / sp.sqrt(V),
        "low": t * eta / sp.sqrt(V),
        "high": t * eta,
    },
    mutants=(
        Mutant(
            "1/‖W*‖ for 1/sqrt|V|",
            why="one token with nearly all weight has cosine 1/sqrt|V|",
            alignment=1 / S,
        ),
        Mutant(
            "one per cent more",
            why="1/sqrt|V| is sharp",
            alignment=sp.Rational(101, 100) / sp.sqrt(V),
        ),
        Mutant("cosine 1", why="weights break the symmetry", alignment=sp.Integer(1)),
        Mutant("norm is tη_0", why="the direction turns under weights", low=t * eta),
        Mutant("norm at most tη_0/2", why="first steps are straight", high=t * eta / 2),
    ),
    anchors=(
        Anchor(
            "the paper's constant", why="1/(2‖W*‖) < 1/sqrt|V|", alignment=1 / (2 * S)
        ),
        Anchor("the paper's norm", why="as before", low=t * eta / (2 * S)),
    ),
    variants=(
        Variant(
            "norm at least 7/10 tη_0",
            why="the smallest ratio known is near 1/sqrt2",
            low=sp.Rational(7, 10) * t * eta,
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def closed_form_satisfies_it(claim: Claim) -> Outcome:
    """Put the closed form in: cosine 1, norm tη_0."""
    relations = (
        Relation("cosine of the gradient", closed.COSINE, claim.alignment),
        Relation("lower bound of the norm", closed.NORM, claim.low),
        Relation("upper bound of the norm", claim.high, closed.NORM),
    )
    return decide.everywhere(
        relations, {t: 0, eta: 0}, decide.grid(), closed.equal_weights()
    )


@check(UNDER_WEIGHTS, grade="symbolic", scope="all")
def cauchy_schwarz_on_rays(claim: Claim) -> Outcome:
    """(Σg)² ≥ ‖g‖² for positive g; sharp as all weight goes to one token."""
    least = skewed.COSINE_LEAST
    sides = (
        least - claim.alignment,
        t * eta * least - claim.low,
        claim.high - t * eta,
    )
    low = {S: 1, t: 0, eta: 0}
    if all(nonnegative(by_norm(side), low) for side in sides):
        return Holds(
            "(Σg)² ≥ ‖g‖² for every positive g",
            steps=skewed.alignment(),
            certificate=skewed.counterexample(
                "the cosine at the start", skewed.COSINE_AT_ZERO, ">=", claim.alignment
            ),
        )
    return skewed.refuted_or_open(
        ("cosine at the start", skewed.COSINE_AT_ZERO, "<", claim.alignment),
        ("norm after two steps, |V| = 2", skewed.TWO_STEPS, "<", claim.low.subs(t, 2)),
        ("norm after one step", eta, ">", claim.high.subs(t, 1)),
    )


def _along(claim: Claim, columns: Columns) -> Outcome:
    """Judge the three inequalities at every observed step."""
    alignment, low, high = (
        value(claim.parameters[name], columns) for name in ("alignment", "low", "high")
    )
    slack, norm = columns["slack"], columns["norm"]
    length = columns["t"] * columns["eta_0"] * slack
    return together(
        at_least(columns["alignment"], alignment, columns, slack, "cosine ≥ bound"),
        at_least(norm, low, columns, length, "norm ≥ lower bound"),
        at_least(high, norm, columns, length, "norm ≤ upper bound"),
    )


@check(CLAIM, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def holds_along_paths(claim: Claim, equal_paths: Columns) -> Outcome:
    """Follow stage 1 with equal weights in floating point."""
    return _along(claim, equal_paths)


@check(UNDER_WEIGHTS, grade="property", scope="weights from 1 to e^-10000, |V| ≤ 10^6")
def holds_along_weighted_paths(claim: Claim, weighted_paths: Columns) -> Outcome:
    """Follow stage 1 under weights in floating point, extreme ones first."""
    return _along(claim, weighted_paths)
