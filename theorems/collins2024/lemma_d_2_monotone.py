"""Lemma D.2: the noise term grows with the scale.

Collins et al. (NeurIPS 2024), Appendix D: L_noise(w) is non-decreasing in w. For w ≥ 0

    dV/dw = 2 E Σ_{i<j} γ_i γ_j (u_j - u_i)(γ_i - γ_j) ≥ 0,    V = E Σγ_i²,

as closer tokens have more weight: true for any tokens, as in Lemma I.3. V is even in w,
so that it falls for w < 0.

Deviations from the text:
    1. The statement is lost; it is read off its proof and its use in Appendix E. That w
       is not negative is understood there.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import rising
from theorems.collins2024.bias.assumptions import SPHERE
from verify import (
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Wording,
    check,
    evidence,
    necessity,
)
from verify.profiles import Profile

POSITIVE = Assumption("scale", "w ≥ 0: closer tokens have more weight")

CLAIM = Claim(
    id="collins2024/lemma-d.2",
    title="noise grows with the scale",
    says="For w ≥ 0 the noise term is non-decreasing in w.",
    latex=r"0 \le w' \le w \implies \mathcal L_{\mathrm{noise}}(w') \le "
    r"\mathcal L_{\mathrm{noise}}(w)",
    quantifiers="for all d ≥ 2, n ≥ 1; even for any fixed tokens",
    source=PAPER.at("Lemma D.2"),
    wording=Wording.DERIVED,
    domain=rising.POSITIVE,
    assumes=(SPHERE, POSITIVE),
    parameters={"sign": sp.S.One, "slope": rising.SLOPE},
    mutants=(
        Mutant("it falls", why="narrow windows see fewer tokens", sign=-sp.S.One),
        Mutant("negative scales", why="V is even in w", domain=rising.NEGATIVE),
        Mutant(
            "half the slope",
            why="each pair occurs twice",
            slope=rising.SLOPE / 2,
        ),
        Mutant(
            "slope with γ_i + γ_j",
            why="equal weights have no slope",
            slope=rising.WRONG,
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def slope_is_a_sum_over_pairs(claim: Claim) -> Outcome:
    """Prove the formula of the slope for any tokens, and its sign pair by pair."""
    return rising.decide(claim)


@evidence
def slopes(profile: Profile, seed: int) -> rising.Slopes:
    """Exact dV/dw on random d, n and w, with the noise at both ends of a step."""
    return rising.draw(seed, profile.pick(smoke=15, default=150, full=2000))


@check(CLAIM, grade="property", scope="d = 2..6, n ≤ 1e6, 1e-2 ≤ |w| ≤ 1e4")
def slope_on_instances(claim: Claim, slopes: rising.Slopes) -> Outcome:
    """Hunt for a scale at which the exact noise has the other sign of slope."""
    return rising.observed(claim, slopes)


@necessity(
    CLAIM,
    assumption="scale",
    needed=True,
    grade="symbolic",
    scope="d = 3, n = 1000, w from -5 to 0",
)
def negative_scales(claim: Claim) -> Outcome:
    """The noise at w = -5 is that at 5, more than that at 0."""
    return rising.evenness(claim.sign)
