"""Lemma 3: stage 1 gives all wrong tokens the same score.

Huang, Liang and Yang (NeurIPS 2024), Lemma 3 of Appendix C.1. For zero initialisation
and every step t,

    (e_i - e_j)ᵀ W_ov^(t) x = 0   for all i, j ≠ In(x).

The proof needs neither equal weights of the tokens nor normalised steps.

Deviations from the text:
    1. The display is lost; it is rebuilt from its use in Corollary 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import closed, decide, observed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    EVERY_MAP,
    WEIGHTED,
    WHOLE,
    S,
    eta,
    t,
)
from theorems.huang2024.stage_one.observed import equals, value
from verify import Claim, Mutant, Outcome, Refuted, Wording, check, necessity
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

literal_paths = observed.literal_paths

WRONG, ONE_RIGHT = "i, j ≠ In(x)", "i = In(x), j ≠ In(x)"

CLAIM = Claim(
    id="huang2024/lemma-3",
    title="wrong tokens have equal scores",
    says="Throughout stage 1 all tokens but n(x) have the same score after x.",
    latex=r"(e_i - e_j)^\top W^{(t)}_{ov} x = 0 \quad \forall i, j \ne I_n(x)",
    quantifiers=f"{EVERY_MAP}, any positive token weights, all t ≥ 0",
    source=PAPER.at("Lemma 3", "Appendix C.1"),
    wording=Wording.DERIVED,
    domain=WEIGHTED,
    assumes=WHOLE,
    parameters={"apart": sp.Integer(0), "pairs": WRONG},
    mutants=(
        Mutant("i may be In(x)", why="n(x) has the larger score", pairs=ONE_RIGHT),
        Mutant("apart by the margin", why="they are equal", apart=t * eta / S),
        Mutant("apart by η_0", why="they are equal", apart=eta),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def columns_stay_on_rays(claim: Claim) -> Outcome:
    """Equal scores have equal gradients, by induction from W^(0) = 0."""
    scores = {WRONG: sp.S.Zero, ONE_RIGHT: closed.MARGIN}
    apart = Relation("difference of scores", scores[claim.pairs], claim.apart, "==")
    return decide.everywhere([apart], {t: 0, eta: 0}, decide.grid(), closed.rays())


@check(
    CLAIM,
    grade="property",
    scope="random weights, |V| ≤ 7, 60 steps, η_0 ≤ ‖W*‖/2",
)
def holds_for_whole_matrices(claim: Claim, literal_paths: Columns) -> Outcome:
    """Train W_ov with random orthonormal embeddings and compare scores."""
    apart = literal_paths[{WRONG: "wrong_apart", ONE_RIGHT: "high"}[claim.pairs]]
    scale = literal_paths["t"] * literal_paths["eta_0"]
    return equals(
        apart,
        value(claim.apart, literal_paths),
        literal_paths,
        literal_paths["slack"] * scale,
        "scores of two tokens after x differ by what is claimed",
    )


# ---------------------------------------------------------------- necessity


@necessity(
    CLAIM,
    assumption="zero-start",
    needed=True,
    grade="certified",
    scope="|V| = 3, t = 1",
)
def from_unequal_scores(claim: Claim) -> Outcome:
    """Start every column at scores (0, 1, 0), n(x) the first: one step keeps a gap."""
    odds = sp.Matrix([1, sp.E, 1]) / (2 + sp.E)
    gradient = odds - sp.Matrix([1, 0, 0])
    length = sp.sqrt(3 * sum(entry**2 for entry in gradient))
    apart = 1 - eta * (odds[1] - odds[2]) / length
    apart = apart.replace(sp.E, sp.exp(sp.Symbol("one")))
    witness = formula(
        apart,
        "!=",
        claim.apart,
        {eta.name: Fraction(1, 10), "one": 1},
        "after a step from scores (0, 1, 0) the wrong tokens' scores still differ",
    )
    return Refuted("unequal scores stay unequal", witness=witness)


@necessity(
    CLAIM,
    assumption="orthogonal",
    needed=True,
    grade="certified",
    scope="|V| = 3, t = 1",
)
def with_correlated_embeddings(claim: Claim) -> Outcome:
    """Two unit embeddings with product 3/5 pass scores on to each other."""
    X = sp.MatrixSymbol("X", 3, 3)
    descent = sp.Identity(3) - sp.OneMatrix(3, 3) / 3  # of every column, at W = 0
    size = sp.sqrt(sp.Trace(X.T * X * descent))  # ‖descent Xᵀ‖, a projection
    scores = descent * X.T * X
    columns = [[1, Fraction(3, 5), 0], [0, Fraction(4, 5), 0], [0, 0, 1]]
    witness = formula(
        eta * (scores[1, 0] - scores[2, 0]) / size,
        "!=",
        claim.apart,
        {"X": np.array(columns, dtype=object), eta.name: 1},
        "after one step the wrong tokens' scores differ, n the identity",
    )
    return Refuted("correlated embeddings mix the columns", witness=witness)


@necessity(
    CLAIM,
    assumption="normalised",
    needed=False,
    grade="symbolic",
    scope="any step length",
)
def any_step_lengths(claim: Claim) -> Outcome:
    """The induction uses that a step is along the gradient, not how long it is."""
    apart = Relation("difference of scores", sp.S.Zero, claim.apart, "==")
    return decide.everywhere([apart], {}, decide.grid(), closed.rays())
