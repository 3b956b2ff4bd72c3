"""Lemma H.2, two steps of its proof that fail.

Collins et al. (NeurIPS 2024), Appendix H.2:

    1. "|G*x| = C_2* for all x, which implies, using also that M is symmetric, that
       G* = C_2* B⊥^T". G* = C_2* R B⊥^T with any symmetric orthogonal R, a reflection
       among them, fits as well, and has the same loss. Harmless where C_2* = 0.
    2. The loss is bounded below by one at scale |B^T M x|. If B^T M B⊥ is not 0, that
       may exceed ĉ/c_u, the largest scale of an admissible c_1 BB^T.

Deviations from the text:
    1. Displays are lost; that the constraint is used as in step 2 is a guess.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
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

SYMMETRIC = Assumption("symmetric", "M = M^T")
BOUNDED = Assumption("bounded", "|B^T M B| ≤ ĉ/c_u²")

one, two = sp.symbols("lambda1 lambda2", real=True)

REPAIRED = Claim(
    id="collins2024/lemma-h.2/symmetry/repaired",
    kind=Kind.PROOF_STEP,
    title="G* is a multiple of a reflection",
    says=(
        "If M is symmetric, B^T M = C_1 B^T and |B⊥^T M x| is the same for all x, then "
        "the eigenvalues of B⊥^T M B⊥ have one modulus."
    ),
    latex=r"\lambda_1^2 = \lambda_2^2",
    quantifiers="for any two eigenvalues of B⊥^T M B⊥",
    source=PAPER.at("Lemma H.2", "repair of the last step"),
    wording=Wording.OURS,
    assumes=(SYMMETRIC,),
    parameters={"vanishes": one**2 - two**2},
    mutants=(
        Mutant("opposite", why="R = I", vanishes=one + two),
        Mutant("third powers", why="R may be a reflection", vanishes=one**3 - two**3),
        Mutant("all are 0", why="R = I", vanishes=one**2 + two**2),
        Mutant("as printed", why="R may be a reflection", vanishes=one - two),
    ),
)

SYMMETRY = Claim(
    id="collins2024/lemma-h.2/symmetry",
    kind=Kind.PROOF_STEP,
    title="G* is a multiple of B⊥",
    says=(
        "If M is symmetric, B^T M = C_1 B^T and |B⊥^T M x| is the same for all x, then "
        "B⊥^T M B⊥ is a multiple of I."
    ),
    latex=r"\lambda_1 = \lambda_2",
    quantifiers=REPAIRED.quantifiers,
    source=PAPER.at("Lemma H.2", "last sentence of the proof"),
    wording=Wording.PRINTED,
    assumes=(SYMMETRIC,),
    parameters={"vanishes": one - two},
    anchors=(Anchor("one modulus", why="proved", vanishes=one**2 - two**2),),
    mutants=REPAIRED.mutants[:3],
    finding=refuted("M = diag(C_1, 1, -1), B = e_1: |B⊥^T M x| = |v| for all x"),
    nearest=REPAIRED.id,
)


def reflected(claim: Claim, pair: tuple[Fraction, Fraction]) -> dict[str, Any]:
    """Two eigenvalues of one modulus for which the claimed relation fails."""
    inputs = {"lambda1": pair[0], "lambda2": pair[1]}
    says = "M = diag(C_1, λ_1, λ_2), B = e_1: |B⊥^T M x| = |λ_1| |v| for all x"
    return formula(claim.vanishes, "!=", sp.S.Zero, inputs, says)


def _differs(claim: Claim, pair: tuple[Fraction, Fraction]) -> bool:
    values = {one: sp.Rational(str(pair[0])), two: sp.Rational(str(pair[1]))}
    return bool(claim.vanishes.subs(values) != 0)


@check(REPAIRED, SYMMETRY, grade="symbolic", scope="all")
def eigenvalues_of_one_modulus(claim: Claim) -> Outcome:
    """|Rv| = C for all unit v says R² = C² I; R is symmetric: λ = ±C, any signs."""
    C = sp.Symbol("C", real=True)
    for signs in ((1, 1), (1, -1)):
        value = sp.expand(claim.vanishes.subs({one: signs[0] * C, two: signs[1] * C}))
        pair = Fraction(signs[0]), Fraction(signs[1])
        if value != 0 and _differs(claim, pair):
            return Refuted("λ = ±1", witness=reflected(claim, pair))
        if value != 0:
            return Inconclusive("not 0 for all C, but at 1", cause=Cause.NO_PROOF)
    steps = (
        "B⊥^T M B = (B^T M B⊥)^T = 0, so B⊥^T M x = c_v R v",
        "R = B⊥^T M B⊥ is symmetric",
        "v.R²v = C² for all unit v: R² = C² I, and every eigenvalue is C or -C",
        f"{claim.vanishes} is 0 at (C, C) and (C, -C)",
    )
    return Holds("all eigenvalues are C or -C", steps=steps)


@check(REPAIRED, SYMMETRY, grade="property", scope="eigenvalues of one modulus")
def pairs_of_eigenvalues(claim: Claim, search: Search) -> Outcome:
    """Hunt over moduli and signs."""
    from hypothesis import strategies as st

    modulus = st.integers(1, 40).map(lambda j: Fraction(j, 8))
    sign = st.sampled_from((1, -1))
    return search.for_all(
        st.tuples(modulus, sign, sign).map(lambda x: (x[0] * x[1], x[0] * x[2])),
        lambda pair: _differs(claim, pair),
        lambda pair: reflected(claim, pair),
        searched="moduli up to 5, both signs",
        pinned=[(Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))],
        scale=0.2,
    )


cu, cv, chat, mixed = sp.symbols("c_u c_v c_hat mixed", positive=True)

CONSTRAINT = Claim(
    id="collins2024/lemma-h.2/constraint",
    kind=Kind.PROOF_STEP,
    title="the scale |B^T M x| obeys the constraint",
    says="If |B^T M B| ≤ ĉ/c_u² then |B^T M x| ≤ ĉ/c_u for all x = c_u B u + c_v B⊥ v.",
    latex=r"\|B^\top M x\| \le \hat c / c_u",
    quantifiers="for all M of the domain and all x; mixed = |B^T M B⊥|",
    source=PAPER.at("Lemma H.2", "the scale C_1(Fx)"),
    wording=Wording.GUESSED,
    assumes=(SYMMETRIC, BOUNDED),
    parameters={"bound": chat / cu},
    anchors=(
        Anchor(
            "with the mixed block",
            why="triangle inequality, attained for k = 1 = d - k",
            bound=chat / cu + cv * mixed,
        ),
    ),
    mutants=(
        Mutant(
            "half the mixed block",
            why="k = 1: attained",
            bound=chat / cu + cv * mixed / 2,
        ),
        Mutant("the larger of both", why="k = 1", bound=sp.Max(chat / cu, cv * mixed)),
        Mutant("mixed block alone", why="M = BB^T", bound=cv * mixed),
    ),
    finding=refuted("k = 1, d = 2, M = [[1, 1], [1, 0]], x = (1, 1): 2 is above 1"),
    nearest="collins2024/lemma-h.2/blocks",
)


def attained(claim: Claim, values: dict[str, Fraction]) -> dict[str, Any]:
    """|B^T M x| for k = 1 = d - k, M = [[ĉ/c_u², mixed], [mixed, 0]], u = v = 1."""
    says = "k = 1, d = 2, B = e_1, M = [[ĉ/c_u², mixed], [mixed, 0]], x = (c_u, c_v)"
    return formula(chat / cu + cv * mixed, ">", claim.bound, values, says)


def _exceeds(claim: Claim, values: dict[str, Fraction]) -> bool:
    names = {s: sp.Rational(str(values[s.name])) for s in (cu, cv, chat, mixed)}
    return bool((chat / cu + cv * mixed - claim.bound).subs(names) > 0)


ALL_ONE = dict.fromkeys(("c_u", "c_v", "c_hat", "mixed"), Fraction(1))


@check(CONSTRAINT, grade="symbolic", scope="all")
def triangle_inequality(claim: Claim) -> Outcome:
    """|B^T M x| ≤ c_u |B^T M B| + c_v |B^T M B⊥|, attained for k = 1 = d - k."""
    if sp.expand(claim.bound - chat / cu - cv * mixed) == 0:
        return Holds(
            "the triangle inequality",
            steps=["B^T M x = c_u B^T M B u + c_v B^T M B⊥ v"],
        )
    if _exceeds(claim, ALL_ONE):
        return Refuted("all are 1", witness=attained(claim, ALL_ONE))
    return Inconclusive("no proof; not exceeded at 1", cause=Cause.NO_PROOF)


@check(CONSTRAINT, grade="property", scope="k = 1, d = 2, rational entries")
def matrices_are_tried(claim: Claim, search: Search) -> Outcome:
    """Hunt over c_u, c_v, ĉ and the mixed entry."""
    from hypothesis import strategies as st

    number = st.integers(1, 40).map(lambda j: Fraction(j, 8))
    return search.for_all(
        st.fixed_dictionaries(dict.fromkeys(ALL_ONE, number)),
        lambda values: _exceeds(claim, values),
        lambda values: attained(claim, values),
        searched="k = 1, d = 2, multiples of 1/8 up to 5",
        pinned=[ALL_ONE],
        scale=0.2,
    )
