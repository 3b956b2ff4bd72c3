"""Lemma B.5: every minimiser attends by distance, M* = w Sigma^-1 with w > 0.

Collins et al. (NeurIPS 2024), Lemma B.5. Under Assumption B.2 (x = Sigma^{1/2} u, u
uniform on the sphere) and Assumption B.4 any minimiser of (ICL) is a multiple of
Sigma^-1: in whitened coordinates M' = Sigma^{1/2} M Sigma^{1/2} = w I.

The printed proof compares, query by query, M' with a map that does not turn the query,
and appeals to the rearrangement inequality (Lemma I.2) in R^d for functions on the
sphere that may be negative. None of this is needed: the reflection that exchanges the
query with the centre of attention decides (classes/minimiser.py), for every d, n >= 2.

Deviations from the text:
    1. n >= 2 is added: one token has attention 1 for every M.
    2. "Increasing" in Assumption B.4 is strict; w > 0 is proved as well.
    3. Whether there is a minimiser is not part of the lemma; there is one for
       sigma = L and n >= 3, for instance.
Not decided here: Theorem 3.4, whose covariates are others (theorem_3_4_form.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import minimiser
from theorems.collins2024.classes.minimiser import Whitening
from verify import (
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    necessity,
)
from verify.search import Search

TWO = Assumption("two-tokens", "n ≥ 2")
EYE = sp.ImmutableMatrix(sp.eye(2))

CLAIM = Claim(
    id="collins2024/lemma-b.5",
    title="M is a multiple of the inverse covariance",
    says=(
        "With covariates Σ^{1/2} u and a class that satisfies Assumption B.4, every "
        "minimiser of the loss is w Σ^{-1} with w > 0."
    ),
    latex=r"M^* = w_{KQ} \Sigma^{-1}, \quad w_{KQ} > 0",
    quantifiers="for all d ≥ 2, n ≥ 2, σ ≥ 0, Σ ≻ 0, all classes as in B.4",
    source=PAPER.at("Lemma B.5"),
    wording=Wording.DERIVED,
    domain=Whitening(sp.Rational(1, 2)),
    assumes=(
        Assumption("covariates", "x = Σ^{1/2} u, u uniform (Assumption B.2)"),
        Assumption("class", "the whitened class satisfies Assumption B.4"),
        TWO,
    ),
    parameters={"power": sp.Integer(-1), "turn": EYE},
    mutants=(
        Mutant("identity", why="not whitened by Σ^{1/2} twice", power=sp.Integer(0)),
        Mutant(
            "Σ itself", why="it widens what should be narrowed", power=sp.Integer(1)
        ),
        Mutant("Σ^{-2}", why="whitened twice over", power=sp.Integer(-2)),
        Mutant(
            "w < 0",
            why="attention on the far side: the kernel increases",
            turn=-EYE,
        ),
        Mutant(
            "one axis reflected",
            why="queries off the axes are turned",
            turn=sp.ImmutableMatrix([[1, 0], [0, -1]]),
        ),
        Mutant(
            "a quarter turn",
            why="attention at right angles to the query",
            turn=sp.ImmutableMatrix([[0, -1], [1, 0]]),
        ),
        Mutant(
            "one axis twice as narrow",
            why="queries between the axes are turned",
            turn=sp.ImmutableMatrix([[1, 0], [0, 2]]),
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def proved_by_a_reflection(claim: Claim) -> Outcome:
    """Prove the form for every d and n, or show a query that it turns."""
    return minimiser.decide(claim)


@check(CLAIM, grade="property", scope="d = n = 2, affine tasks, random M")
def no_matrix_is_better(claim: Claim, search: Search) -> Outcome:
    """Look for a lower loss by quadrature."""
    return minimiser.hunt(claim, search)


@necessity(CLAIM, assumption="two-tokens", needed=True, grade="symbolic", scope="n = 1")
def one_token_has_all_attention(claim: Claim) -> Outcome:
    """With one token the attention is e^s/e^s = 1, whatever M: all are minimisers."""
    says = "the attention of a single token of any weight"
    weight = ["in", "weight"]
    record = {
        "kind": "formula",
        "says": says,
        "inputs": {"weight": 3},
        "relation": ["==", ["div", weight, weight], 1],
    }
    return Refuted(f"{says} is 1: {claim.id} fails", witness=record)
