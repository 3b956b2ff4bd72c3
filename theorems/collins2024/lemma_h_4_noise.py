"""Lemma H.4: the noise term grows with the larger of two weights.

Collins et al. (NeurIPS 2024), Appendix H.2. With u, u_1, u_2 independent and uniform on
the sphere of R^k, α_1 > α_2 > 0 and 0 < c ≤ 1

    H_noise(u, α) = E Σ_i e^{2c u_i.u} α_i² / (Σ_j e^{c u_j.u} α_j)²,   ∂H/∂α_1 > 0.

The paper adds up the summands for (a, a), (b, b), (a, b), (b, a), a and b the values of
u_i.u, and shows that a polynomial P in y = e^{c(a-b)} is positive. That settles k = 1,
where a and b are 1 and -1. For k ≥ 2 the law of u_i.u has no atoms, (a, a) has
probability 0, and (a, b), (b, a) alone may be negative (lemma_h_4_assignments.py): the
lemma then needs another proof, which needs no bound on c. What holds:

    k ≥ 2: for every c > 0 (the density of (u_1 - u_2).u falls on either side of 0);
    k = 1: for c < 1.91130..., and not beyond: there s = 4 sinh² c passes the positive
           zero of s³ - 36 s² - 324 s - 648 (lemma_h_4_range.py).

Deviations from the text:
    1. The display is lost; P, rebuilt, has the coefficients a_4, a_5, a_6 of the text.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import line, noise, sphere, unimodal
from theorems.collins2024.pairs.line import MIN, NOISE, positive
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

UNIFORM = Assumption("uniform", "u_1, u_2 independent, uniform on the sphere")
LARGEST = Assumption("largest", "α_1 > α_2 > 0")
SCALE = Assumption("scale", "0 < c ≤ 1")

TWO: dict[str, int] = {"samples": 2, "line_samples": 2}
ON_SPHERES = "for k ≥ 2 the derivative is positive for every c"
EVEN = "only equal weights differ, where the derivative is 0"
STATED: dict[str, Any] = {
    "statistic": NOISE,
    "degree": sp.Integer(2),  # of the numerator
    "power": sp.Integer(2),  # of the denominator
    "sign": sp.S.One,
}
FALSE = (
    Mutant("it falls", why="equal weights are optimal", sign=-sp.S.One),
    Mutant(
        "third power below", why="H falls as both weights grow", power=sp.Integer(3)
    ),
    Mutant("first power above", why="1/S falls as weights grow", degree=sp.S.One),
)
LATEX = (
    r"H_{\mathrm{noise}} = \mathbb{E} \frac{\sum_i e^{2 c u_i^\top u} \alpha_i^2}"
    r"{(\sum_j e^{c u_j^\top u} \alpha_j)^2}, \quad "
    r"\frac{\partial H_{\mathrm{noise}}}{\partial \alpha_1} > 0"
)

CLAIM = Claim(
    id="collins2024/lemma-h.4",
    title="variance grows with the larger weight",
    says="For n = 2, 0 < c ≤ 1 the derivative of H_noise in the larger weight is > 0.",
    latex=LATEX,
    quantifiers="for all k ≥ 1, u, α_1 > α_2 > 0, 0 < c ≤ 1",
    source=PAPER.at("Lemma H.4", "Appendix H.2"),
    wording=Wording.DERIVED,
    domain=positive(1.0, **TWO),
    assumes=(UNIFORM, LARGEST, SCALE),
    parameters=STATED,
    mutants=(
        *FALSE,
        Mutant(
            "the smaller weight",
            why="more weight on it evens the weights out",
            domain=positive(1.0, first=MIN, **TWO),
        ),
        Mutant(
            "equal weights admitted",
            why="there the derivative is 0",
            domain=positive(1.0, even=True, **TWO),
            blind={"quadrature_on_spheres": EVEN},
        ),
        Mutant(
            "c up to 2",
            why="k = 1, α_2/α_1 = 0.047: false at c = 1.956",
            domain=positive(2.0, **TWO),
            blind={"quadrature_on_spheres": ON_SPHERES},
        ),
    ),
    variants=(
        Variant(
            "up to four samples",
            why="no violation is known for c ≤ 1",
            domain=positive(1.0),
        ),
    ),
)

SPHERES = Claim(
    id="collins2024/lemma-h.4/spheres",
    title="variance grows with the larger weight, k ≥ 2, any scale",
    says="For n = 2 and k ≥ 2 Lemma H.4 holds for every c > 0.",
    latex=LATEX,
    quantifiers="for all k ≥ 2, u, α_1 > α_2 > 0, c > 0",
    source=PAPER.at("Lemma H.4", "its proof for k ≥ 2"),
    wording=Wording.OURS,
    domain=positive(samples=2, line_samples=0),
    assumes=(UNIFORM, LARGEST),
    parameters=STATED,
    mutants=(
        *FALSE,
        Mutant(
            "the smaller weight",
            why="more weight on it evens the weights out",
            domain=positive(first=MIN, samples=2, line_samples=0),
        ),
    ),
)


@evidence
def instances(profile: Profile, seed: int) -> tuple[sphere.Instance, ...]:
    """Random dimensions, weights and scales, two samples."""
    return sphere.draw(seed, profile.pick(smoke=20, default=60, full=3000), samples=2)


def _stated(claim: Claim) -> bool:
    return all(claim.parameters[name] == value for name, value in STATED.items())


def _by_hand(claim: Claim) -> Outcome:
    found = line.by_hand(claim)
    if found is None:
        return Inconclusive("no proof; small cases agree", cause=Cause.NO_PROOF)
    record = line.witness(claim, found)
    return Refuted(str(record["says"]), witness=record)


@check(CLAIM, grade="symbolic", scope="all")
def polynomial_and_densities(claim: Claim) -> Outcome:
    """Prove k = 1 by the polynomial and k ≥ 2 by densities; or try small instances."""
    if not (_stated(claim) and claim.domain == CLAIM.domain):
        return _by_hand(claim)
    steps = (
        "k = 1: a, b are 1 or -1, each of the four with probability 1/4:",
        *noise.slopes(),
        "the root counts twice for k = 1, which adds (y+α)³(1+αy)³ > 0",
        *noise.substituted(),
        noise.inside(),
        "P_1 > 0 there: the certificate",
        "k ≥ 2:",
        *unimodal.noise(),
    )
    return Holds(
        "a positive polynomial for k = 1, a falling density for k ≥ 2",
        steps=steps,
        certificate=noise.printed_positive(),
    )


@check(SPHERES, grade="symbolic", scope="all")
def density_falls(claim: Claim) -> Outcome:
    """Prove it by the density of (u_1 - u_2).u; or compare with it on two circles."""
    if _stated(claim) and claim.domain == SPHERES.domain:
        return Holds("the density of (u_1 - u_2).u falls", steps=unimodal.noise())
    return sphere.decide(claim, sphere.KNOWN)


@check(CLAIM, grade="property", scope="k = 1, exact")
def exact_on_the_line(claim: Claim, search: Search) -> Outcome:
    """Hunt over weights and scales; k = 1 makes the expectation a finite sum."""
    return line.hunt(claim, search)


@check(CLAIM, SPHERES, grade="property", scope="k = 2..10, c ≤ 12, quadrature")
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
    scope="k = 1, c = 1.956",
)
def larger_scales(claim: Claim) -> Outcome:
    """For k = 1 some bound on c is needed."""
    return _by_hand(claim.changed(CLAIM.mutants[-1]))


@necessity(
    CLAIM,
    assumption="largest",
    needed=True,
    grade="certified",
    scope="k = 1",
)
def smaller_weight(claim: Claim) -> Outcome:
    """For the smaller weight the sign is the other one."""
    return _by_hand(claim.changed(CLAIM.mutants[3]))
