"""Lemma 2: the gradient of stage 1 prefers the solution to the present weights.

Huang, Liang and Yang (NeurIPS 2024), Lemma 2 of Appendix B. Along stage 1,

    ⟨∇L_0, W^(t)⟩ ≥ (1 + α_t) ⟨∇L_0, W*⟩ ‖W^(t)‖/‖W*‖,  α_t = 2‖W*‖ log(2|V|)/‖W^(t)‖.

With the paper's L_0, W^(t) is a multiple of W* and the inequality holds with α_t = 0,
as an equality. Under token weights α_t is needed, and log(2|V|) becomes log(2|V|ρ) with
ρ the largest over the smallest weight.

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof and its use in Proposition 3.
    2. t ≥ 1: at W^(0) = 0 there is no α_0.
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
    NORM_STAR,
    WEIGHTED,
    WHOLE,
    S,
    V,
    eta,
    explicit,
    norm_W,
    rho,
    t,
)
from theorems.huang2024.stage_one.observed import at_least, value, where
from verify import Anchor, Claim, Holds, Mutant, Outcome, Wording, check

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

equal_paths, weighted_paths = observed.equal_paths, observed.weighted_paths

ALPHA = 2 * S * sp.log(2 * V) / norm_W
ALPHA_WEIGHTED = 2 * S * sp.log(2 * V * rho) / norm_W

CLAIM = Claim(
    id="huang2024/lemma-2",
    title="the gradient prefers the solution to the weights",
    says=(
        "The gradient of L_0 has, up to the factor 1 + α_t, at most as large a product "
        "with the solution, brought to the norm of W_ov, as with W_ov itself."
    ),
    latex=(
        r"\langle \nabla L_0, W^{(t)} \rangle \ge (1 + \alpha_t) "
        r"\langle \nabla L_0, W^* \rangle \frac{\|W^{(t)}\|}{\|W^*\|}, \quad "
        r"\alpha_t = \frac{2 \|W^*\| \log(2|V|)}{\|W^{(t)}\|}"
    ),
    quantifiers=f"{EVERY_MAP}, all t ≥ 1",
    source=PAPER.at("Lemma 2", "Appendix B"),
    wording=Wording.DERIVED,
    domain=EQUAL,
    assumes=WHOLE,
    parameters={"alpha": ALPHA},
    mutants=(
        Mutant(
            "α_t of the opposite sign", why="equality holds at α_t = 0", alpha=-ALPHA
        ),
        Mutant("α_t = -1/100", why="below 0", alpha=sp.Rational(-1, 100)),
        Mutant(
            "log(|V|/3) for log(2|V|)",
            why="negative for |V| = 2",
            alpha=2 * S * sp.log(V / 3) / norm_W,
        ),
    ),
    anchors=(
        Anchor("α_t = 0", why="W_ov is a multiple of W*", alpha=sp.Integer(0)),
        Anchor("mean over tokens", why="both sides scale", domain=EQUAL_MEAN),
    ),
)

UNDER_WEIGHTS = Claim(
    id="huang2024/lemma-2/weighted",
    title="Lemma 2 under token weights",
    says=(
        "For any positive token weights in L_0, the largest ρ times the smallest, "
        "Lemma 2 holds with log(2|V|ρ) in place of log(2|V|)."
    ),
    latex=r"\alpha_t = \frac{2 \|W^*\| \log(2|V|\rho)}{\|W^{(t)}\|}",
    quantifiers=f"{EVERY_MAP}, all positive token weights, all t ≥ 1",
    source=PAPER.at("Lemma 2"),
    wording=Wording.OURS,
    domain=WEIGHTED,
    assumes=WHOLE,
    parameters={"alpha": ALPHA_WEIGHTED},
    mutants=(
        Mutant("weights forgotten", why="fails for strong weights", alpha=ALPHA),
        Mutant("α_t = 0", why="W_ov is no multiple of W*", alpha=sp.Integer(0)),
        Mutant("a tenth of α_t", why="too small by 3", alpha=ALPHA_WEIGHTED / 10),
        Mutant("opposite sign", why="α_t = 0 is too small", alpha=-ALPHA_WEIGHTED),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def closed_form_needs_no_excess(claim: Claim) -> Outcome:
    """Put the closed form in: both products are negative and in the ratio ‖W‖/‖W*‖."""
    alpha = explicit(claim.alpha).subs(norm_W, closed.NORM)
    relation = Relation("α_t ≥ 0", sp.sympify(alpha), sp.S.Zero)
    steps = (
        *closed.equal_weights(),
        closed.equal(
            "⟨∇L_0, W⟩ = ⟨∇L_0, W*⟩ ‖W‖/‖W*‖, both negative",
            -closed.g * closed.MARGIN * (V - 1),
            -closed.g * (V - 1) * closed.NORM / NORM_STAR,
        ),
    )
    return decide.everywhere([relation], {t: 1, eta: 0}, decide.grid(), steps)


@check(UNDER_WEIGHTS, grade="symbolic", scope="all")
def terms_beyond_the_logarithm_vanish(claim: Claim) -> Outcome:
    """A token whose margin is far above average has an exponentially small gradient."""
    enough = Relation("α_t is large enough", claim.alpha, ALPHA_WEIGHTED)
    allowed = (claim.alpha * norm_W / S).subs(norm_W, t * eta)
    if enough.proved({rho: 1, norm_W: 0}):
        return Holds("for every positive weights", steps=skewed.pull())
    return skewed.refuted_or_open((
        "one token has nearly all weight: the average margin exceeds its bound",
        skewed.PULL_LEAST,
        ">",
        t * eta / S + allowed,
    ))


def _along(claim: Claim, columns: Columns) -> Outcome:
    """Σ g m ≤ (1 + α) ‖W‖/‖W*‖ Σ g, from the observed products."""
    columns = where(columns, columns["t"] >= 1)
    root = columns["norm"] / value(S, columns)
    allowed = columns["slack"] * (columns["high"] + columns["t"] * columns["eta_0"])
    return at_least(
        root * (1 + value(claim.alpha, columns)),
        columns["pull"],
        columns,
        allowed,
        "⟨∇L_0, W⟩/⟨∇L_0, W*⟩ ≤ (1 + α_t) ‖W‖/‖W*‖",
    )


@check(CLAIM, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def holds_along_paths(claim: Claim, equal_paths: Columns) -> Outcome:
    """Follow stage 1 with equal weights in floating point."""
    return _along(claim, equal_paths)


@check(UNDER_WEIGHTS, grade="property", scope="weights from 1 to e^-10000, |V| ≤ 10^6")
def holds_along_weighted_paths(claim: Claim, weighted_paths: Columns) -> Outcome:
    """Follow stage 1 under weights in floating point, extreme ones first."""
    return _along(claim, weighted_paths)
