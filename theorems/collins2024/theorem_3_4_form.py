"""Theorem 3.4, form of the minimiser: M* = w Sigma as printed, w Sigma^2 in truth.

Collins et al. (NeurIPS 2024), Theorem 3.4: under Assumption 3.3 (x = Sigma^-1 u) with
w ~ Sigma U_d (Definition 3.2) "any minimizer of the pretraining loss satisfies
M* = w_KQ Sigma". With x = Sigma^-1 u scores are u_i.(Sigma^-1 M Sigma^-1) u, and
f(x) = l (Sigma v).(Sigma^-1 u) + b = l v.u + b is isotropic in u: the loss is that of
the isotropic problem at Sigma^-1 M Sigma^-1, whose minimisers are w I, w > 0 (Lemma
B.5, proved for every d, n >= 2 in classes/minimiser.py). So M* = w Sigma^2, and w Sigma
is no minimiser unless Sigma is a multiple of I.

Symmetry alone shows the same: the isotropic loss at Q'M'Q is that at M' for every
rotation Q. If all minimisers were multiples w Sigma^-1, w != 0, so would be their
rotations, and they are not.

Deviations from the text:
    1. n >= 2, as in Lemma B.5. The theorem's range contains cases with a minimiser:
       sigma = L and n >= 3, for instance.
Not decided here: how w scales.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import minimiser
from theorems.collins2024.classes.minimiser import Whitening
from verify import (
    Anchor,
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Wording,
    check,
    refuted,
)
from verify.search import Search

EYE = sp.ImmutableMatrix(sp.eye(2))
ASSUMES = (
    Assumption("covariates", "x = Σ^{-1} u, u uniform (Assumption 3.3)"),
    Assumption("tasks", "w ~ ΣU_d (Definition 3.2)"),
    Assumption("two-tokens", "n ≥ 2"),
)
MUTANTS = (
    Mutant("identity", why="covariates are not isotropic", power=sp.Integer(0)),
    Mutant("Σ^{-1}", why="that is for covariates Σ^{1/2} u", power=sp.Integer(-1)),
    Mutant("Σ^3", why="whitened too often", power=sp.Integer(3)),
    Mutant("w < 0", why="attention on the far side", turn=-EYE),
    Mutant(
        "a quarter turn",
        why="attention at right angles to the query",
        turn=sp.ImmutableMatrix([[0, -1], [1, 0]]),
    ),
)

CLAIM = Claim(
    id="collins2024/theorem-3.4/form",
    title="form of the minimiser",
    says="Any minimiser of the pretraining loss is a positive multiple of Σ.",
    latex=r"M^* = w_{KQ} \Sigma",
    quantifiers="for all d ≥ 2, n ≥ 2, Σ ≻ 0, in the range of σ of Theorem 3.4",
    source=PAPER.at("Theorem 3.4", "with Assumption 3.3 and Definition 3.2"),
    wording=Wording.PRINTED,
    domain=Whitening(sp.Integer(-1)),
    assumes=ASSUMES,
    parameters={"power": sp.Integer(1), "turn": EYE},
    anchors=(
        Anchor("Σ²", why="Σ^{-1} Σ² Σ^{-1} = I", power=sp.Integer(2)),
        Anchor(
            "covariates Σ^{-1/2} u",
            why="then Σ^{-1/2} Σ Σ^{-1/2} = I",
            domain=Whitening(sp.Rational(-1, 2)),
        ),
    ),
    mutants=MUTANTS,
    finding=refuted("the covariates Σ^{-1} u give w Σ²; w Σ needs Σ^{-1/2} u"),
    nearest="collins2024/theorem-3.4/form/repaired",
)

REPAIRED = Claim(
    id="collins2024/theorem-3.4/form/repaired",
    title="form of the minimiser",
    says="Any minimiser of the pretraining loss is a positive multiple of Σ².",
    latex=r"M^* = w_{KQ} \Sigma^2",
    quantifiers=CLAIM.quantifiers,
    source=PAPER.at("Theorem 3.4", "repair of the form"),
    wording=Wording.OURS,
    domain=CLAIM.domain,
    assumes=ASSUMES,
    parameters={"power": sp.Integer(2), "turn": EYE},
    mutants=(
        *MUTANTS,
        Mutant("as printed", why="whitened once too few", power=sp.Integer(1)),
    ),
)


@check(CLAIM, REPAIRED, grade="symbolic", scope="all")
def proved_by_a_reflection(claim: Claim) -> Outcome:
    """Prove the form for every d and n, or show a query that it turns."""
    return minimiser.decide(claim)


@check(CLAIM, REPAIRED, grade="property", scope="d = n = 2, affine tasks, random M")
def no_matrix_is_better(claim: Claim, search: Search) -> Outcome:
    """Look for a lower loss by quadrature, with literal covariates and tasks."""
    return minimiser.hunt(claim, search)
