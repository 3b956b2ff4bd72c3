"""Lemma B.1, two sentences around it: c = 1, and which classes are symmetric.

Collins et al. (NeurIPS 2024), Appendix B. After the proof of Lemma B.1:

"For simplicity, we set the (d+1, d+1)-th element to 1." This costs something: with
equal weights the best c is 1/(1 + 1/(n d) + 3 s^2/(n L^2)), for n = 1 whatever M is.

"In all of the distributions over functions we consider for pretraining, f is equally
likely as -f." Not for cos(L w.x) in Section 3.2, nor for the classes of Appendix J.1:
they have a mean.

Deviations from the text:
    1. The text does not say that c = 1 loses nothing; that is a reading.
Not decided here: the best c with the best M for n > 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import exactly
from theorems.collins2024.classes.tasks import L, d, n
from verify import (
    Anchor,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

K = L**2 / 3 * (1 + 1 / d)  # E f(x)^2 for affine tasks
R = L**2 / 3  # E f(x) f(x_i)
c = sp.Symbol("c", positive=True)
v = sp.Symbol("variance", positive=True)  # sigma^2
UNIFORM = K - 2 * c * R + c**2 * (L**2 / 3 * (1 + 1 / (n * d)) + v / n)
BEST = 1 / (1 + 1 / (n * d) + 3 * v / (n * L**2))

NORMALISED = Claim(
    id="collins2024/lemma-b.1/normalisation",
    kind=Kind.PROOF_STEP,
    title="c = 1 loses nothing",
    says="With equal weights, in particular for n = 1, the best c is 1.",
    latex=r"c^* = 1",
    quantifiers="for all n, d, σ ≥ 0, affine tasks, M = 0 or n = 1",
    source=PAPER.at("Lemma B.1", "sentence after it"),
    wording=Wording.GUESSED,
    parameters={"best": sp.S.One},
    anchors=(Anchor("shrunk", why="the loss is a parabola in c", best=BEST),),
    mutants=(
        Mutant(
            "noise left out",
            why="noise shrinks c as well",
            best=1 / (1 + 1 / (n * d)),
        ),
        Mutant("half", why="one minimum", best=BEST / 2),
        Mutant(
            "n left out",
            why="averaging reduces both",
            best=1 / (1 + 1 / d + 3 * v / L**2),
        ),
    ),
    finding=refuted("shrinking by 1/(1 + 1/(nd) + 3σ²/(nL²)) is better"),
    nearest="collins2024/lemma-b.1/normalisation/repaired",
)

SHRUNK = Claim(
    id="collins2024/lemma-b.1/normalisation/repaired",
    kind=Kind.PROOF_STEP,
    title="the best c for equal weights",
    says=(
        "With equal weights the best c is 1/(1 + 1/(nd) + 3σ²/(nL²)), less than 1: "
        "c = 1 is a restriction, which fades as n grows."
    ),
    latex=r"c^* = \Big(1 + \tfrac{1}{nd} + \tfrac{3 \sigma^2}{n L^2}\Big)^{-1}",
    quantifiers=NORMALISED.quantifiers,
    source=PAPER.at("Lemma B.1", "repair of the sentence after it"),
    wording=Wording.OURS,
    parameters={"best": BEST},
    mutants=(
        *NORMALISED.mutants,
        Mutant("c = 1", why="labels vary and are noisy", best=sp.S.One),
    ),
)


@check(NORMALISED, SHRUNK, grade="symbolic", scope="all")
def parabola_in_c(claim: Claim) -> Outcome:
    """E f(x) f(x_i) = L²/3, E f̄² = L²/3 (1 + 1/(nd)) + σ²/n: minimise in c."""
    least = sp.cancel(R / UNIFORM.coeff(c, 2))
    if sp.cancel(claim.best - least) == 0:
        return Holds("the loss is a parabola in c", steps=[f"c* = {least}"])
    says = "the loss at the c claimed exceeds that at a smaller one"
    left, right = UNIFORM.subs(c, claim.best), UNIFORM.subs(c, BEST)
    values = {"L": 1, "d": 2, "n": 3, "variance": 1}
    values = {name: Fraction(value) for name, value in values.items()}
    return Refuted(says, witness=formula(left, ">", right, values, says))


@check(NORMALISED, SHRUNK, grade="property", scope="rational settings, n ≤ 5, d ≤ 5")
def other_c_are_tried(claim: Claim, search: Search) -> Outcome:
    """Look for a c with a lower loss."""
    positive = st.fractions(Fraction(1, 10), Fraction(3), max_denominator=10)
    strategy = st.fixed_dictionaries({
        "L": positive,
        "variance": positive,
        "n": st.integers(1, 5),
        "d": st.integers(2, 5),
        "c": st.fractions(Fraction(0), Fraction(2), max_denominator=20),
    })
    here = UNIFORM.subs(c, claim.best)
    names = (L, v, n, d, c)
    gap = exactly(here - UNIFORM, *names)

    def violated(at: dict[str, Any]) -> bool:
        return bool(gap(*(at[s.name] for s in names)) > 0)

    def witness(at: dict[str, Any]) -> dict[str, Any]:
        return formula(UNIFORM, "<", here, at, "a c with a lower loss")

    first = {"L": 1, "variance": 1, "n": 3, "d": 2}
    return search.for_all(
        strategy,
        violated,
        witness,
        searched="L², σ² up to 9, n, d ≤ 5, c in [0, 2]",
        pinned=[{**first, "c": Fraction(k, 20)} for k in (4, 9, 10, 12, 14)],
        scale=0.2,
    )


# --- "all of the distributions over functions we consider" ---------------------------

# A lower bound of E f(x) at some x: 0 where coefficients are centred, so that f ~ -f.
MEANS: dict[str, sp.Expr] = {
    "affine": sp.S.Zero,
    "ReLU": sp.S.Zero,
    "cosine": 1 - 1 / (2 * d),  # cos s >= 1 - s^2/2 with s = w.x, L = 1
    "squares, J.1": 1 / d,  # E (a.B^T x)^2 = |B^T x|^2/k, k = d here, at |B^T x| = 1
    "affine + 2, J.1": sp.Integer(2),
}

CLASSES = Claim(
    id="collins2024/lemma-b.1/classes",
    kind=Kind.PROOF_STEP,
    title="classes are symmetric",
    says="In all classes used for pretraining f is equally likely as -f.",
    latex=r"f \sim -f",
    quantifiers="for the affine, ReLU and cosine classes and those of Appendix J.1",
    source=PAPER.at("Lemma B.1", "sentence after its proof"),
    wording=Wording.PRINTED,
    domain=tuple(MEANS),
    parameters={"mean": sp.S.Zero},
    anchors=(
        Anchor(
            "affine and ReLU", why="coefficients are centred", domain=("affine", "ReLU")
        ),
    ),
    mutants=(
        Mutant(
            "with cosines", why="cos(w.x) > 0 on average", domain=("affine", "cosine")
        ),
        Mutant("with squares", why="they are positive", domain=("squares, J.1",)),
        Mutant("with an offset", why="it is 2", domain=("affine + 2, J.1",)),
    ),
    finding=refuted("cosines, squares and affine tasks with offset 2 have a mean"),
    nearest="collins2024/lemma-b.1/classes/repaired",
)

SYMMETRIC = Claim(
    id="collins2024/lemma-b.1/classes/repaired",
    kind=Kind.PROOF_STEP,
    title="classes are symmetric",
    says="In the affine and the ReLU class f is equally likely as -f.",
    latex=r"f \sim -f",
    quantifiers="for Definition 3.2",
    source=PAPER.at("Lemma B.1", "repair of the sentence after its proof"),
    wording=Wording.OURS,
    domain=("affine", "ReLU"),
    parameters={"mean": sp.S.Zero},
    mutants=CLASSES.mutants,
)


@check(CLASSES, SYMMETRIC, grade="symbolic", scope="all")
def means_vanish(claim: Claim) -> Outcome:
    """Coefficients of the two classes are centred and symmetric; others have a mean.

    cos s ≥ 1 - s²/2 with E (w.x)² = 1/d.
    """
    for name in claim.domain:
        bound = MEANS[name]
        if bound != 0:
            says = f"lower bound of the mean of {name} tasks at one point"
            values = {"d": Fraction(2)}
            return Refuted(says, witness=formula(bound, ">", claim.mean, values, says))
    return Holds("(l, b) and (l1, l2, b) are distributed as their negatives")


@check(CLASSES, SYMMETRIC, grade="property", scope="drawn tasks, d = 3, at x = e_1")
def signs_balance(claim: Claim, search: Search) -> Outcome:
    """Compare the mean over drawn tasks with 0; |f| ≤ 3."""
    from theorems.collins2024.classes.sampled import bernstein
    from verify.numerics import table

    rng = np.random.default_rng(search.seed)
    size = 20_000
    inner = rng.uniform(-1, 1, size)  # w.e_1 for w ~ U_3
    a, b_, b = rng.uniform(-1, 1, (3, size))
    drawn = {
        "affine": a * inner + b,
        "ReLU": np.where(inner > 0, a * inner, -b_ * inner) + b,
        "cosine": np.cos(inner),
        "squares, J.1": inner**2,
        "affine + 2, J.1": inner + 2,
    }
    for name in claim.domain:
        found = bernstein(drawn[name], 6.0, 1e-7)  # 1e-6 over at most ten means
        gap = abs(found.mean - float(claim.mean))
        if gap > found.radius:
            says = f"mean of {name} tasks, and its radius"
            values = {"gap": [gap], "radius": [found.radius]}
            relation = [">", ["in", "gap"], ["in", "radius"]]
            witness = table(values, relation=relation, aggregate="all", says=says)
            return Refuted(says, witness=witness, n=size)
    return Holds("means vanish", n=size)
