"""Definitions 3.2, B.3 and C.1: affine and ReLU classes, and their Lipschitzness.

Collins et al. (NeurIPS 2024), Definition 3.2: f = l w.x + b and f = l1 (w.x)_+ +
l2 (-w.x)_+ + b with w ~ Sigma U_d and coefficients uniform on [-L, L]. "Note that the
max Lipschitzness of any function in these classes is L."

    3.2  w = Sigma u    largest Lipschitzness L lambda_max(Sigma): L for Sigma = I only
    B.3  w ~ N(0, Sigma^-1)    |w| is unbounded, so there is no largest one
    C.1  w ~ U_d        largest Lipschitzness L; covariance I/d

In the metric |Sigma (x - x')| of whitened covariates (Assumption 3.3) the classes of
3.2 are L-Lipschitz. Appendix C says that "we have set the covariance of w to be
identity", which is true of B.3 for Sigma = I and not of C.1: the two differ by the
factor d in L^2, that is in Lambda.

Deviations from the text:
    1. Displays are lost; the laws of w, l and b are printed.
Not decided here: moments of the classes (lemma_c_3_affine.py, lemma_c_7_relu.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import AFFINE, RELU
from theorems.collins2024.classes.decide import Equal, all_of, exactly
from theorems.collins2024.classes.kernels import steepest
from theorems.collins2024.classes.tasks import L, d
from verify import (
    Anchor,
    Claim,
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

top = sp.Symbol("top", positive=True)  # lambda_max(Sigma)
IDENTITY = sp.S.One  # the largest |w| for Sigma = I
UNBOUNDED = sp.oo

MUTANTS = (
    Mutant("twice", why="|w| = 1 and |l| ≤ L", largest=2 * L),
    Mutant("half", why="l = L is reached", largest=L / 2),
    Mutant("L²", why="it scales like L", largest=L**2),
)

CLAIM = Claim(
    id="collins2024/definition-3.2",
    kind=Kind.DEFINITION,
    title="affine and ReLU classes",
    says="The largest Lipschitzness of a function in either class is L.",
    latex=r"\max_{f \in \mathcal{F}} \mathrm{Lip}(f) = L",
    quantifiers="for all L > 0, d ≥ 2, Σ ≻ 0 with w ~ ΣU_d",
    source=PAPER.at("Definition 3.2"),
    wording=Wording.PRINTED,
    domain=top,
    parameters={"largest": L},
    anchors=(
        Anchor("Σ = I", why="|w| = 1", domain=IDENTITY),
        Anchor("with λ_max(Σ)", why="|Σu| ≤ λ_max(Σ)", largest=L * top),
    ),
    mutants=MUTANTS,
    finding=refuted("it is L λ_max(Σ), and Σ is any positive definite matrix"),
    nearest="collins2024/definition-3.2/repaired",
)

REPAIRED = Claim(
    id="collins2024/definition-3.2/repaired",
    kind=Kind.DEFINITION,
    title="affine and ReLU classes",
    says=(
        "The largest Lipschitzness of a function in either class is L λ_max(Σ); in the "
        "metric |Σ(x - x')| it is L."
    ),
    latex=r"\max_{f \in \mathcal{F}} \mathrm{Lip}(f) = L \lambda_{\max}(\Sigma)",
    quantifiers=CLAIM.quantifiers,
    source=PAPER.at("Definition 3.2", "repair of the note after it"),
    wording=Wording.OURS,
    domain=top,
    parameters={"largest": L * top},
    mutants=(
        Mutant("as printed", why="|w| exceeds 1", largest=L),
        Mutant("squared", why="f is linear in w", largest=L * top**2),
        Mutant("inverse", why="w = Σu", largest=L / top),
    ),
)

NORMAL = Claim(
    id="collins2024/definition-b.3",
    kind=Kind.DEFINITION,
    title="classes with normal directions",
    says="With w ~ N(0, Σ^{-1}) the largest Lipschitzness of a function is L.",
    latex=CLAIM.latex,
    quantifiers="for all L > 0, Σ ≻ 0 with w ~ N(0, Σ^{-1})",
    source=PAPER.at("Definition B.3"),
    wording=Wording.PRINTED,
    domain=UNBOUNDED,
    parameters={"largest": L},
    anchors=(Anchor("w ~ U_d", why="|w| = 1", domain=IDENTITY),),
    mutants=MUTANTS,
    finding=refuted("|w| is unbounded: there is no largest Lipschitzness"),
    nearest="collins2024/definition-3.2/repaired",
)

POINTS = ((1, 0), (0, 1), (Fraction(3, 5), Fraction(4, 5)))


@check(CLAIM, REPAIRED, NORMAL, grade="symbolic", scope="all")
def slope_times_norm(claim: Claim) -> Outcome:
    """R times the slope of features times the largest |w|, for both classes.

    |Σu| ≤ λ_max(Σ) with equality at an eigenvector. A normal w takes norms near 4.
    """
    norm = claim.domain
    if norm == UNBOUNDED:
        return _longer(claim, Fraction(4))
    instance = {"L": Fraction(1, 3), "top": Fraction(2)}
    parts = [
        Equal(f"{law.name} tasks", claim.largest, steepest(law) * norm, (instance,))
        for law in (AFFINE, RELU)
    ]
    return all_of(*parts, steps=["l w.(x - x') is attained along w, at l = ±L"])


def _longer(claim: Claim, size: Fraction) -> Outcome:
    says = "L |w| for a w of this length, which is in the support, exceeds the largest"
    length = sp.Symbol("length")
    values = {"L": Fraction(1), "length": size, "top": Fraction(1)}
    witness = formula(L * length, ">", claim.largest, values, says)
    return Refuted(says, witness=witness)


@check(CLAIM, REPAIRED, NORMAL, grade="property", scope="rational Σ, u, d = 2")
def directions_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare with the largest L |Σu| over u, Σ = diag(top, 1/2)."""
    length = st.fractions(Fraction(1), Fraction(4), max_denominator=4)
    reach = st.fractions(Fraction(1, 4), Fraction(3), max_denominator=4)

    def largest(size: Fraction) -> Fraction:
        squares = [size**2 * u**2 + Fraction(v) ** 2 / 4 for u, v in POINTS]
        best = max(squares)
        return size if best == size**2 else Fraction(0)  # the eigenvector is best

    def sides(instance: tuple[Fraction, Fraction]) -> tuple[sp.Expr, Fraction]:
        size = instance[0] if claim.domain != IDENTITY else Fraction(1)
        return claim.largest, instance[1] * largest(size)

    value_of = exactly(claim.largest, L, top)

    def differ(instance: tuple[Fraction, Fraction]) -> bool:
        return value_of(instance[1], instance[0]) != sides(instance)[1]

    def witness(instance: tuple[Fraction, Fraction]) -> dict[str, Any]:
        claimed, found = sides(instance)
        says = "largest quotient over tasks with |l| ≤ L along an eigenvector"
        values = {"L": instance[1], "top": instance[0], "found": found}
        return formula(claimed, "!=", sp.Symbol("found"), values, says)

    return search.for_all(
        st.tuples(length, reach),
        differ,
        witness,
        searched="λ_max in [1, 4], L in [1/4, 3]",
        pinned=((Fraction(2), Fraction(1, 3)),),
        scale=0.2,
    )


COVARIANCE = Claim(
    id="collins2024/definition-c.1/covariance",
    kind=Kind.DEFINITION,
    title="covariance of directions",
    says="With w ~ U_d the covariance of w is the identity.",
    latex=r"w \sim U_d: \quad \mathbb{E} w w^\top = I",
    quantifiers="for all d ≥ 2",
    source=PAPER.at("Definition C.1", "sentence before it; and Section B.1"),
    wording=Wording.PRINTED,
    domain=sp.S.One,  # E |w|^2
    parameters={"variance": sp.S.One},
    anchors=(
        Anchor("I/d", why="E |w|² = 1 is its trace", variance=1 / d),
        Anchor("w ~ N(0, I)", why="then E |w|² = d", domain=d),
    ),
    mutants=(
        Mutant("I/d²", why="its trace is E |w|² = 1", variance=1 / d**2),
        Mutant("2I/d", why="its trace is E |w|² = 1", variance=2 / d),
        Mutant("I/(d + 1)", why="its trace is E |w|² = 1", variance=1 / (d + 1)),
    ),
    finding=refuted("it is I/d: the classes of B.3 and C.1 differ by d in Λ"),
    nearest="collins2024/definition-c.1/covariance/repaired",
)

SPREAD = Claim(
    id="collins2024/definition-c.1/covariance/repaired",
    kind=Kind.DEFINITION,
    title="covariance of directions",
    says="With w ~ U_d the covariance of w is I/d.",
    latex=r"w \sim U_d: \quad \mathbb{E} w w^\top = \tfrac1d I",
    quantifiers=COVARIANCE.quantifiers,
    source=PAPER.at("Definition C.1", "repair"),
    wording=Wording.OURS,
    domain=sp.S.One,
    parameters={"variance": 1 / d},
    mutants=(
        *COVARIANCE.mutants,
        Mutant("as printed", why="its trace is 1", variance=sp.S.One),
    ),
)


@check(COVARIANCE, SPREAD, grade="symbolic", scope="all")
def trace_is_the_norm(claim: Claim) -> Outcome:
    """The covariance is v I by symmetry, and d v = E |w|²."""
    instance = {"d": Fraction(3)}
    return all_of(
        Equal("trace", d * claim.variance, sp.sympify(claim.domain), (instance,))
    )


@check(
    COVARIANCE, SPREAD, grade="property", scope="cross-polytopes of directions, d ≤ 6"
)
def cross_polytopes(claim: Claim, search: Search) -> Outcome:
    """Average w w^T over ±e_i, scaled to the norm claimed: it is v I exactly."""

    def variance(size: int) -> Fraction:
        norm = sp.Rational(sp.sympify(claim.domain).subs(d, size))
        return Fraction(2 * int(norm.p), 2 * size * int(norm.q))  # two of 2d points

    def witness(size: int) -> dict[str, Any]:
        says = "variance of the first coordinate over ±e_i"
        values = {"d": size, "found": variance(size)}
        return formula(claim.variance, "!=", sp.Symbol("found"), values, says)

    return search.exhaust(
        range(2, 7),
        lambda size: claim.variance.subs(d, size) != sp.Rational(variance(size)),
        witness,
        searched="d = 2..6",
    )
