"""The rate of Proposition 1 when tokens are weighted.

Not in the paper. Its L_0 sums all tokens alike, and then the direction is exact from
the first step on; constants and rate of Proposition 1 can be told only when the
symmetry between tokens is broken. With positive token weights in L_0, ρ the largest
over the smallest,

    1 - cos(W_ov^(t), W*) ≤ K ‖W*‖³ log(2|V|ρ) log t/(η_0t),  2η_0 ≤ ‖W*‖, t ≥ 2,

holds with the paper's K = 12, and with K = 11/10, but not without ρ, not with a higher
power of t, and not without ‖W*‖³. For fixed weights the gap falls like t⁻²
(``stage_one/skewed.py``: 1 - cos ≤ |V|(|V|-1) (log(ρ|V|) + h)²/(8η_0²t²)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import observed, skewed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    EVERY_MAP,
    SMALL_STEP,
    WEIGHTED,
    WHOLE,
    S,
    V,
    eta,
    explicit,
    rho,
    t,
)
from theorems.huang2024.stage_one.observed import at_least, value, where
from verify import (
    Anchor,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Variant,
    Wording,
    check,
    necessity,
)
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

weighted_paths = observed.weighted_paths

SHAPE = S**3 * sp.log(2 * V * rho) * sp.log(t) / (eta * t)

CLAIM = Claim(
    id="huang2024/proposition-1/weighted",
    title="rate of stage 1 under token weights",
    says=(
        "For any positive token weights in L_0, the largest ρ times the smallest, the "
        "direction converges as in Proposition 1 with log(2|V|ρ) for log(2|V|)."
    ),
    latex=(
        r"1 - \cos(W^{(t)}_{ov}, W^*_{ov}) \le "
        r"\frac{12 \|W^*_{ov}\|^3 \log(2|V|\rho) \log t}{\eta_0 t}"
    ),
    quantifiers=(
        f"{EVERY_MAP} with 2η_0 ≤ ‖W*‖, all positive token weights, all t ≥ 2"
    ),
    source=PAPER.at("Proposition 1"),
    wording=Wording.OURS,
    domain=WEIGHTED,
    assumes=(*WHOLE, SMALL_STEP),
    parameters={"gap": 12 * SHAPE},
    mutants=(
        Mutant(
            "weights forgotten",
            why="a light token waits log ρ for its turn",
            gap=12 * SHAPE.subs(rho, 1),
        ),
        Mutant("t⁻² for t⁻¹", why="not uniformly in ρ", gap=12 * SHAPE / t),
        Mutant("t⁻³ for t⁻¹", why="not uniformly in ρ", gap=12 * SHAPE / t**2),
        Mutant(
            "no ‖W*‖³", why="many heavy and many light tokens", gap=12 * SHAPE / S**3
        ),
        Mutant("K = 1/20", why="0.083 is needed", gap=SHAPE / 20),
        Mutant("opposite sign", why="a cosine is at most 1", gap=-12 * SHAPE),
    ),
    anchors=(
        Anchor("K = 24", why="weaker", gap=24 * SHAPE),
        Anchor(
            "no log t",
            why="the proof loses it only in its last step",
            gap=12 * SHAPE / sp.log(t),
        ),
        Anchor("K = 11/10", why="the proof gives it", gap=skewed.FACTOR * SHAPE),
    ),
    variants=(
        Variant(
            "K = 1/10", why="between what is proved and what is needed", gap=SHAPE / 10
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def margins_stay_close(claim: Claim) -> Outcome:
    """Margins differ by at most log(ρ|V|) + h while their mean grows like t."""
    proved = Relation("bound", claim.gap, skewed.RATE)
    if proved.proved({t: 2, eta: 0, rho: 1}):
        return Holds("for every positive weights", steps=skewed.direction())
    return skewed.refuted_or_open((
        "light tokens are still behind: 1 - cosine exceeds its bound",
        skewed.GAP_LEAST,
        ">",
        claim.gap,
    ))


@check(CLAIM, grade="property", scope="weights from 1 to e^-10000, |V| ≤ 10^6")
def gaps_along_weighted_paths(claim: Claim, weighted_paths: Columns) -> Outcome:
    """Follow stage 1 under weights in floating point, extreme ones first."""
    columns = where(weighted_paths, weighted_paths["t"] >= 2)
    slack = columns["slack"]
    allowed = 2 * np.sqrt(columns["gap"]) * slack + slack**2
    bound = value(claim.gap, columns)
    return at_least(bound, columns["gap"], columns, allowed, "1 - cosine ≤ bound")


# ---------------------------------------------------------------- necessity


@necessity(
    CLAIM,
    assumption="small-step",
    needed=True,
    grade="symbolic",
    scope="|V| = 2, t = 2, η_0 = 2000, ρ = 2",
)
def long_steps(claim: Claim) -> Outcome:
    """After two steps the gap does not fall with η_0, while its bound does."""
    witness = formula(
        skewed.GAP_AT_TWO,
        ">",
        explicit(claim.gap),
        {"V": 2, "t": 2, "eta_0": 2_000, "rho": 2},
        "the second step, to the light token, overshoots: the gap exceeds its bound",
    )
    return Refuted("long steps break the bound", witness=witness)
