"""Lemma C.2: vector contraction of Rademacher averages.

Ren and Liu (NeurIPS 2024), Lemma C.2, quoted from Maurer (ALT 2016), Corollary 4. For
points z_1, .., z_M, a class F̃ of functions into R^n and an L-Lipschitz h: R^n → R,

    E sup_f Σ_i σ_i h(f(z_i)) ≤ √2 L E sup_f Σ_{i,t} σ_it f_t(z_i).            Eq. (28)

It holds, and √2 cannot be lowered: one point, n = 2, f = ±(1, 1)/2, h the mean of both
coordinates times √2.

Deviations from the text:
    1. None.
Not decided here: whether its use in Theorem 3.2 is sharp (theorem_3_2_steps.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.bound import classes, proofs
from theorems.ren2024.bound.classes import INDEPENDENT, SHARED, L
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    necessity,
)
from verify.search import Search

CLAIM = Claim(
    id="ren2024/lemma-c.2",
    title="vector contraction",
    says=(
        "The Rademacher average of h ∘ f is at most √2 L times that of the coordinates "
        "of f with a sign for each."
    ),
    latex=(
        r"\mathbb{E} \sup_{\tilde f} \sum_i \sigma_i h(\tilde f(z_i)) \le \sqrt2 L\, "
        r"\mathbb{E} \sup_{\tilde f} \sum_{i,t} \sigma_{it} \tilde f_t(z_i)"
    ),
    quantifiers="for all M, n, z_i, classes F̃ and L-Lipschitz h",
    source=PAPER.at("Lemma C.2", "Eq. (28); Maurer (2016), Corollary 4"),
    wording=Wording.PRINTED,
    assumes=(Assumption("lipschitz", "h is L-Lipschitz in the Euclidean norm"),),
    parameters={"factor": sp.sqrt(2) * L, "signs": INDEPENDENT},
    mutants=(
        Mutant("7/5 for √2", why="√2 is attained", factor=sp.Rational(7, 5) * L),
        Mutant("no √2", why="√2 is attained", factor=L),
        Mutant("no L", why="h scales with L", factor=sp.sqrt(2)),
        Mutant(
            "one sign for all coordinates",
            why="then f = ±(1, -1) has a vanishing right side",
            signs=SHARED,
        ),
    ),
    pinned=classes.PINNED,
)


@check(CLAIM, grade="symbolic", scope="all")
def one_point_after_the_other(claim: Claim) -> Outcome:
    """Prove it with Khintchine's inequality, or contradict it with one point."""
    enough = sp.simplify(claim.factor / (sp.sqrt(2) * L))
    if claim.signs == INDEPENDENT and enough.is_number and enough >= 1:
        return Holds("proved for all classes", steps=proofs.contraction())
    for instance in classes.PINNED:
        if classes.violated(claim, instance):
            record = classes.witness(claim, instance)
            return Refuted(str(record["says"]), witness=record)
    return Inconclusive("no proof, and no class contradicts", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="classes of at most 3 functions, M, n ≤ 2, exact")
def all_signs_enumerated(claim: Claim, search: Search) -> Outcome:
    """Hunt over classes and values of h; squares of both sides are rational."""
    return classes.hunt(claim, search)


@necessity(
    CLAIM,
    assumption="lipschitz",
    needed=True,
    grade="property",
    scope="h that is 2L-Lipschitz",
)
def steeper_losses(claim: Claim, search: Search) -> Outcome:
    """Let h be twice as steep as L says."""
    return classes.hunt(claim.at(factor=claim.factor / 2), search)
