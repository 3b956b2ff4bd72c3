"""Lemma C.3: the affine class satisfies Assumption B.4.

Collins et al. (NeurIPS 2024), Lemma C.3, for f(x) = l w.x + b with w ~ U_d and l, b
uniform on [-L, L]:

    E f(x) f(y) = L^2/3 (1 + x.y/d).

Deviations from the text:
    1. The lemma names Definition 3.2, where w ~ Sigma U_d; part 1 needs |w| <= 1, so
       that it is decided for Sigma = I (definition_3_2_classes.py).
Not decided here: the ReLU class (lemma_c_7_relu.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import AFFINE, AXES, SQUARES, STEEP, observed
from theorems.collins2024.classes.tasks import L, d, theta
from theorems.collins2024.classes.validate import assumption_b4
from verify import Claim, Mutant, Outcome, Wording, check
from verify.profiles import Profile

CLAIM = Claim(
    id="collins2024/lemma-c.3",
    title="the affine class satisfies Assumption B.4",
    says=(
        "Affine tasks are L-Lipschitz, have E f(x) f(y) = L²/3 (1 + x.y/d), which "
        "increases with x.y, and are invariant under isometries."
    ),
    latex=r"\mathbb{E} f(x) f(y) = \tfrac{L^2}{3}\left(1 + \tfrac{x^\top y}{d}\right)",
    quantifiers="for unit x, y, all d ≥ 2, all L > 0, Σ = I",
    source=PAPER.at("Lemma C.3"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    parameters={"kernel": L**2 / 3 * (1 + sp.cos(theta) / d)},
    mutants=(
        Mutant("slopes up to 2L", why="part 1 fails", domain=STEEP),
        Mutant("squares instead of w.x", why="part 2 fails", domain=SQUARES),
        Mutant("directions along the axes", why="part 3 fails", domain=AXES),
        Mutant(
            "w of covariance I",
            why="|w| = 1, so its covariance is I/d",
            kernel=L**2 / 3 * (1 + sp.cos(theta)),
        ),
        Mutant(
            "variance L²",
            why="a uniform variable on [-L, L] has variance L²/3",
            kernel=L**2 * (1 + sp.cos(theta) / d),
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def validator_decides(claim: Claim) -> Outcome:
    """Decide all parts and the kernel from the law of tasks."""
    return assumption_b4(claim.domain, claim.kernel)


@check(CLAIM, grade="property", scope="drawn tasks, d = 3, L = 1")
def drawn_tasks_agree(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Look for a violation among drawn tasks."""
    count = profile.pick(smoke=50_000, default=50_000, full=300_000)
    law, level = claim.domain, profile.level
    return observed.assumption_b4(law, claim.kernel, count, seed, level)
