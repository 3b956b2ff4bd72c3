"""Lemma H.1: the loss falls at scale 0.

Collins et al. (NeurIPS 2024), Appendix H.2. For α_i > 0 and u, u_1, ..., u_n uniform on
the sphere of R^k let

    J(c) = E |Σ_i u_i α_i e^{c u_i.u} / Σ_j α_j e^{c u_j.u} - u|²  (+ σ² E Σ γ_i²).

Then 0 is not in argmin over [0, δ], for any δ > 0. By exact moments

    J'(0) = -(2/k) (1 - Σ α_i² / (Σ α_i)²),

negative for n ≥ 2, whatever σ. For n = 1 it is 0: there J does not depend on c, every c
is a minimiser, and the lemma is false.

Deviations from the text:
    1. The display with the hypotheses is lost: both readings of n are decided. Theorem
       H.5 uses n ≥ 2 only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import zero
from theorems.collins2024.pairs.zero import SLOPE, k, square
from verify import (
    Anchor,
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
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

TWO = Assumption("two", "n ≥ 2")
POSITIVE = Assumption("positive", "all α_i are positive")
UNIFORM = Assumption("uniform", "u, u_1, ..., u_n independent, uniform on the sphere")

MUTANTS = (
    Mutant("it rises", why="the sign is the other one", slope=-SLOPE),
    Mutant("half", why="the square has a 2", slope=SLOPE / 2),
    Mutant("without 1/k", why="E s² = 1/k", slope=SLOPE * k),
    Mutant("Σα²/(Σα)² dropped", why="γ_i' has the mean taken off", slope=-2 / k),
    Mutant(
        "1 - r²", why="r = 1/2 for two equal weights", slope=-2 / k * (1 - square**2)
    ),
)
STATEMENT: dict[str, Any] = {
    "latex": (
        r"J'(0) = -\tfrac2k \Bigl(1 - \frac{\sum_i \alpha_i^2}{(\sum_i \alpha_i)^2}"
        r"\Bigr) < 0, \quad 0 \notin \arg\min_{[0, \delta]} J"
    ),
    "source": PAPER.at("Lemma H.1", "(22)-(26)"),
    "parameters": {"slope": SLOPE},
    "mutants": MUTANTS,
}

CLAIM = Claim(
    id="collins2024/lemma-h.1@two-or-more",
    title="the loss falls at scale 0",
    says="J'(0) < 0, so that 0 is no minimiser of J over [0, δ].",
    quantifiers="for all n ≥ 2, k ≥ 1, α_i > 0, σ ≥ 0, δ > 0",
    wording=Wording.DERIVED,
    domain=2,
    assumes=(TWO, POSITIVE, UNIFORM),
    **STATEMENT,
)

ANY_N = Claim(
    id="collins2024/lemma-h.1@any-n",
    title="the loss falls at scale 0, any n",
    says="J'(0) < 0, so that 0 is no minimiser of J over [0, δ].",
    quantifiers="for all n ≥ 1, k ≥ 1, α_i > 0, σ ≥ 0, δ > 0",
    wording=Wording.GUESSED,
    domain=1,
    assumes=(POSITIVE, UNIFORM),
    anchors=(Anchor("n ≥ 2", why="proved", domain=2),),
    finding=refuted("n = 1: J is constant, J'(0) = 0"),
    nearest=CLAIM.id,
    **STATEMENT,
)

Instance = tuple[int, tuple[Fraction, ...]]  # k and the weights


def violated(claim: Claim, at: Instance) -> bool:
    """Whether J'(0) is another number, or not negative."""
    size, weights = at
    value = zero.exact(size, weights)
    stated = Fraction(str(zero.rational(claim.slope, size, weights)))
    return value != stated or value >= 0


def witness(claim: Claim, at: Instance) -> dict[str, Any]:
    """Both values as formulas of the weights; or that the derivative is 0."""
    size, weights = at
    names = sp.symbols(f"alpha1:{len(weights) + 1}", positive=True)
    inputs = {s.name: x for s, x in zip(names, weights, strict=True)}
    value = sp.sympify(zero.exact(size, names))
    says = f"k = {size}, n = {len(weights)}: J'(0) as a sum over ±e_1, ..., ±e_k"
    stated = sp.sympify(zero.claimed(claim.slope, size, names))
    if Fraction(str(zero.rational(claim.slope, size, weights))) == zero.exact(
        size, weights
    ):
        return formula(value, ">=", sp.S.Zero, inputs, f"{says}, is not negative")
    return formula(value, "!=", stated, inputs, f"{says}, and as claimed")


SMALL: tuple[Instance, ...] = (
    (1, (Fraction(1),)),
    (2, (Fraction(1), Fraction(1))),
    (1, (Fraction(2), Fraction(1))),
)


@check(CLAIM, ANY_N, grade="symbolic", scope="all")
def moments_decide(claim: Claim) -> Outcome:
    """Take the moments for all n and k; or compare small exact sums."""
    for at in SMALL:
        if len(at[1]) >= claim.domain and violated(claim, at):
            record = witness(claim, at)
            return Refuted(str(record["says"]), witness=record)
    if claim.slope != SLOPE or claim.domain < 2:
        return Inconclusive("small cases agree", cause=Cause.NO_PROOF)
    steps = zero.moments()
    return Holds("J'(0) = -(2/k)(1 - Σw²) < 0", steps=steps)


@check(CLAIM, ANY_N, grade="property", scope="k ≤ 3, n ≤ 3, exact")
def exact_sums(claim: Claim, search: Search) -> Outcome:
    """Compare with sums over ±e_1, ..., ±e_k at rational weights."""
    from hypothesis import strategies as st

    weight = st.integers(1, 30).map(lambda j: Fraction(j, 10))
    sizes = st.integers(1, 3)
    return search.for_all(
        st.tuples(
            sizes, st.lists(weight, min_size=claim.domain, max_size=3).map(tuple)
        ),
        lambda at: violated(claim, at),
        lambda at: witness(claim, at),
        searched="k ≤ 3, n ≤ 3, multiples of 1/10",
        pinned=[at for at in SMALL if len(at[1]) >= claim.domain],
        scale=0.05,
    )


@necessity(
    CLAIM, assumption="two", needed=True, grade="certified", scope="n = 1, k = 1"
)
def one_sample(claim: Claim) -> Outcome:
    """With one sample J is constant."""
    return Refuted("n = 1: J'(0) = 0", witness=witness(claim, SMALL[0]))
