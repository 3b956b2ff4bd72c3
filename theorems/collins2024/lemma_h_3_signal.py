"""Lemma H.3: the bias grows with the largest weight.

Collins et al. (NeurIPS 2024), Appendix H.2. With u, u_1, ..., u_n independent and
uniform on the sphere of R^k and weights α_i > 0

    H_signal(u, α) = E |Σ_i (u_i - u) α_i e^{c u_i.u}|² / (Σ_j α_j e^{c u_j.u})²;

if α_1 = max α_i > min α_i and 0 < c ≤ 2 then ∂H_signal/∂α_1 > 0. Proved pair by pair,
as in the paper, whose argument by two derivatives becomes one line (see
lemma_h_3_pairs.py). Its pairs need c ≤ 2. The lemma does not where we can decide it:

    n = 2, any k, or k = 1, any n: the derivative is positive for every c > 0.

For two samples the bias is an integral over h = (u_1 - u_2).u/2 against a density whose
relevant multiple falls in |h| once c ≥ 1/2: c > 2 included.

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof and from Theorem H.5.
Not decided here: n ≥ 3, k ≥ 2, c > 2, where no violation is known.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import line, signal, sphere, unimodal
from theorems.collins2024.pairs.line import MIN, SIGNAL, positive
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Variant,
    Wording,
    check,
    evidence,
    necessity,
)
from verify.profiles import Profile
from verify.search import Search

UNIFORM = Assumption("uniform", "u_1, ..., u_n independent, uniform on the sphere")
LARGEST = Assumption("largest", "α_1 = max α_i > min α_i > 0")
SCALE = Assumption("scale", "0 < c ≤ 2")

EVEN = "only equal weights differ, where the derivative is 0"
STATED: dict[str, Any] = {
    "statistic": SIGNAL,
    "offset": sp.S.One,  # Σ (u_i - offset u) ...
    "power": sp.Integer(2),  # of the denominator
    "sign": sp.S.One,
}
FALSE = (
    Mutant("it falls", why="equal weights are optimal", sign=-sp.S.One),
    Mutant(
        "u dropped from the error",
        why="|Σγu_i|² is large for uneven and for even weights",
        offset=sp.S.Zero,
    ),
    Mutant("third power below", why="H falls as all weights grow", power=sp.Integer(3)),
)


def below(**changes: Any) -> line.Range:
    """Scales from -2 to 0."""
    return line.Range(-2.0, -1e-9, **changes)


CLAIM = Claim(
    id="collins2024/lemma-h.3",
    title="bias grows with the largest weight",
    says="For 0 < c ≤ 2 the derivative of H_signal in the largest weight is positive.",
    latex=(
        r"H_{\mathrm{signal}} = \mathbb{E} \frac{|\sum_i (u_i - u) \alpha_i "
        r"e^{c u_i^\top u}|^2}{(\sum_j \alpha_j e^{c u_j^\top u})^2}, \quad "
        r"\frac{\partial H_{\mathrm{signal}}}{\partial \alpha_1} > 0"
    ),
    quantifiers="for all k ≥ 1, n ≥ 2, u, α with α_1 = max > min > 0, 0 < c ≤ 2",
    source=PAPER.at("Lemma H.3", "Appendix H.2"),
    wording=Wording.DERIVED,
    domain=positive(2.0),
    assumes=(UNIFORM, LARGEST, SCALE),
    parameters=STATED,
    mutants=(
        *FALSE,
        Mutant(
            "the smallest weight",
            why="more weight on it evens the weights out",
            domain=positive(2.0, first=MIN),
        ),
        Mutant(
            "equal weights admitted",
            why="there the derivative is 0",
            domain=positive(2.0, even=True),
            blind={"quadrature_on_spheres": EVEN},
        ),
        Mutant(
            "c from -2 to 0",
            why="k = 1, n = 2: false once e^(-2c) > 2",
            domain=below(),
        ),
    ),
)

ALL_SCALES = Claim(
    id="collins2024/lemma-h.3/range",
    title="bias grows with the largest weight, any scale",
    says="For n = 2, or k = 1, Lemma H.3 holds for every c > 0.",
    latex=CLAIM.latex,
    quantifiers="for all c > 0, and n = 2, k ≥ 1, or n ≥ 2, k = 1",
    source=PAPER.at("Lemma H.3", "its range of c"),
    wording=Wording.OURS,
    domain=positive(samples=2),
    assumes=(UNIFORM, LARGEST),
    parameters=STATED,
    mutants=(
        *FALSE,
        Mutant(
            "the smallest weight",
            why="more weight on it evens the weights out",
            domain=positive(first=MIN, samples=2),
        ),
        Mutant(
            "c from -2 to 0",
            why="k = 1, n = 2: false once e^(-2c) > 2",
            domain=below(samples=2),
        ),
    ),
    variants=(
        Variant(
            "three or more samples",
            why="the pairs break between c = 2.5 and 3, the lemma itself is open",
            domain=positive(),
        ),
    ),
)


@evidence
def instances(profile: Profile, seed: int) -> tuple[sphere.Instance, ...]:
    """Random dimensions, weights and scales."""
    return sphere.draw(seed, profile.pick(smoke=16, default=50, full=1500))


def _stated(claim: Claim) -> bool:
    return all(claim.parameters[name] == value for name, value in STATED.items())


def _by_hand(claim: Claim) -> Outcome:
    found = line.by_hand(claim)
    if found is None:
        return Inconclusive("no proof; small cases agree", cause=Cause.NO_PROOF)
    record = line.witness(claim, found)
    return Refuted(str(record["says"]), witness=record)


@check(CLAIM, grade="symbolic", scope="all")
def pairs_are_positive(claim: Claim) -> Outcome:
    """Prove the lemma from its pairs; or go through small instances with k = 1."""
    if _stated(claim) and claim.domain == CLAIM.domain:
        return Holds("every pair of samples adds a positive term", steps=signal.proof())
    return _by_hand(claim)


@check(ALL_SCALES, grade="symbolic", scope="all")
def densities_fall(claim: Claim) -> Outcome:
    """Prove it by falling densities; or go through small instances with k = 1."""
    if _stated(claim) and claim.domain == ALL_SCALES.domain:
        return Holds(
            "the density against which it is taken falls", steps=unimodal.bias()
        )
    return _by_hand(claim)


@check(CLAIM, ALL_SCALES, grade="property", scope="k = 1, n ≤ 4, exact")
def exact_on_the_line(claim: Claim, search: Search) -> Outcome:
    """Hunt over weights and scales; k = 1 makes the expectation a finite sum."""
    return line.hunt(claim, search)


@check(
    CLAIM, ALL_SCALES, grade="property", scope="k = 2..10, n ≤ 3, c ≤ 12, quadrature"
)
def quadrature_on_spheres(
    claim: Claim, instances: tuple[sphere.Instance, ...]
) -> Outcome:
    """Hold the sign against quadrature in other dimensions."""
    return sphere.decide(claim, instances)


@necessity(
    CLAIM,
    assumption="scale",
    needed=True,
    grade="certified",
    scope="k = 1, n = 2, c < 0",
)
def negative_scales(claim: Claim) -> Outcome:
    """At c = -0.97 even weights are no optimum; above 2 no violation is known."""
    return _by_hand(claim.at(sign=sp.S.One).changed(CLAIM.mutants[-1]))


@necessity(
    CLAIM,
    assumption="largest",
    needed=True,
    grade="certified",
    scope="k = 1, n = 2",
)
def smallest_weight(claim: Claim) -> Outcome:
    """For the smallest weight the sign is the other one."""
    return _by_hand(claim.changed(CLAIM.mutants[3]))
