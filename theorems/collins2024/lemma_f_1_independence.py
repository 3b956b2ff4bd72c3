"""Lemma F.1, a step of its proof: the centred task is independent of its mean.

Collins et al. (NeurIPS 2024), proof of Lemma F.1, with fbar = f - E_x f: "We observe
that fbar is independent of E_x f." With mu = E (w.x)_+ and f = l1 (w.x)_+ + l2 (-w.x)_+
+ b

    affine  fbar = l w.x, E_x f = b                     independent
    ReLU    E_x f = b + (l1 + l2) mu, and l1 + l2 = fbar(w) + fbar(-w) - 2 fbar(w'),
            w' at right angles to w          dependent: covariance 2 mu L^2/3.

The lemma survives. Its proof multiplies fbar(x) and E_x f at fixed points, and these
are uncorrelated for both classes: E_w (w.x)_+ = mu at every unit x.

Deviations from the text:
    1. The displays are lost; the sentence is printed.
Not decided here: the lemma itself (theorem_3_6_linear.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import AFFINE, RELU, sampled
from theorems.collins2024.classes.decide import Equal, all_of
from theorems.collins2024.classes.tasks import Feature, L, TaskLaw, z
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
from verify.numerics import table
from verify.profiles import Profile

mu = sp.Symbol("mu", positive=True)  # E (w.x)_+; 1/4 for d = 3

INDEPENDENCE = Claim(
    id="collins2024/lemma-f.1/independence",
    kind=Kind.PROOF_STEP,
    title="centred task and mean are independent",
    says="The centred task f - E_x f is independent of E_x f.",
    latex=r"\bar f \perp \mathbb{E}_x f",
    quantifiers="for ReLU tasks, all d",
    source=PAPER.at("Lemma F.1", "proof"),
    wording=Wording.PRINTED,
    domain=RELU,
    parameters={"covariance": sp.S.Zero},
    anchors=(
        Anchor("affine tasks", why="fbar = l w.x and E_x f = b", domain=AFFINE),
        Anchor(
            "ReLU tasks, with their covariance",
            why="l1 + l2 is a function of fbar and part of E_x f",
            covariance=2 * mu * L**2 / 3,
        ),
    ),
    mutants=(
        Mutant("covariance L²/3", why="l and b are independent", covariance=L**2 / 3),
        Mutant(
            "covariance of ReLU tasks",
            why="l and b are independent",
            covariance=2 * mu * L**2 / 3,
        ),
        Mutant("negative", why="l and b are independent", covariance=-(L**2) / 3),
    ),
    finding=refuted(
        "ReLU tasks: l1 + l2 is a function of the centred task and part of the mean"
    ),
    nearest="collins2024/lemma-f.1/independence/repaired",
)

REPAIRED = Claim(
    id="collins2024/lemma-f.1/independence/repaired",
    kind=Kind.PROOF_STEP,
    title="centred task and mean are uncorrelated",
    says=(
        "At every unit x the centred task f(x) - E_x f is uncorrelated with E_x f, "
        "which is all that the proof uses."
    ),
    latex=r"\mathbb{E}_f[\bar f(x) \, \mathbb{E}_x f] = 0",
    quantifiers="for all unit x, affine and ReLU tasks, all d",
    source=PAPER.at("Lemma F.1", "repair of its proof"),
    wording=Wording.OURS,
    domain=(AFFINE, RELU),
    parameters={"correlation": sp.S.Zero},
    mutants=(
        Mutant(
            "as for w = x",
            why="w is uniform: E (w.x)_+ = mu",
            correlation=L**2 / 3 * mu * (1 - 2 * mu),
        ),
        Mutant(
            "as for w at right angles to x",
            why="w is uniform",
            correlation=-2 * L**2 / 3 * mu**2,
        ),
        Mutant("a constant", why="means agree", correlation=L**2 / 30),
    ),
)


def mean(feature: Feature) -> sp.Expr:
    """E_x phi(w.x): mu for either side's slope, 1 for a constant."""
    if not any(side.has(z) for side in feature):
        return feature[0]
    right, left = (sp.cancel(side / z) for side in feature)
    return (right - left) * mu


def even_part(feature: Feature) -> sp.Expr:
    """phi(1) + phi(-1) - 2 phi(0): constants drop out, so it is one of fbar."""
    right, left = feature
    return right.subs(z, 1) + left.subs(z, -1) - 2 * right.subs(z, 0)


INSTANCE = {"L": Fraction(1), "mu": Fraction(1, 4)}


@check(INDEPENDENCE, grade="symbolic", scope="all")
def covariance_with_the_even_part(claim: Claim) -> Outcome:
    """Cov(E_x f, fbar(w) + fbar(-w) - 2 fbar(w')), coefficients of variance L²/3."""
    law: TaskLaw = claim.domain
    parts = [mean(f) * even_part(f) for f in law.features]
    derived = sp.expand(law.reach**2 / 3 * sum(parts))
    says = "covariance of the mean with a function of the centred task"
    return all_of(Equal(says, claim.covariance, derived, (INSTANCE,)))


@check(REPAIRED, grade="symbolic", scope="all")
def correlation_vanishes(claim: Claim) -> Outcome:
    """E_f fbar(x) E_x f = L²/3 sum_j (E_w phi_j(w.x) - E_x phi_j) E_x phi_j.

    w.x has the same law whether w or x is uniform, so E_w phi_j(w.x) = E_x phi_j(w.x).
    """
    over_w = sp.Symbol("over_w", positive=True)  # E_w (w.x)_+ at a fixed unit x
    parts = []
    for law in claim.domain:
        terms = [(mean(f).subs(mu, over_w) - mean(f)) * mean(f) for f in law.features]
        derived = sp.expand((law.reach**2 / 3 * sum(terms)).subs(over_w, mu))
        parts.append(
            Equal(f"{law.name} tasks", claim.correlation, derived, (INSTANCE,))
        )
    return all_of(*parts)


@check(INDEPENDENCE, REPAIRED, grade="property", scope="drawn tasks, d = 3, L = 1")
def drawn_tasks_agree(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Estimate the covariance from drawn coefficients and directions, mu = 1/4.

    |E_x f| <= 3/2, |fbar| <= 1 and |l1 + l2| <= 2: products lie in [-3, 3].
    """
    count = profile.pick(smoke=50_000, default=50_000, full=300_000)
    single = isinstance(claim.domain, TaskLaw)
    claimed = claim.covariance if single else claim.correlation
    target = float(claimed.subs({L: 1, mu: sp.Rational(1, 4)}))
    for law in [claim.domain] if single else claim.domain:
        product = _products(law, count, seed, at_point=not single)
        found = sampled.bernstein(product, 6.0, profile.level / 2)
        gap = abs(found.mean - target)
        if gap > found.radius:
            says = f"covariance of {law.name} tasks less the one claimed"
            rows = {"gap": [gap], "radius": [found.radius]}
            relation = [">", ["in", "gap"], ["in", "radius"]]
            witness = table(rows, relation=relation, aggregate="all", says=says)
            return Refuted(says, witness=witness, n=count)
    return Holds("covariances agree", n=count, measured=found.mean, target=target)


def _products(law: TaskLaw, count: int, seed: int, *, at_point: bool) -> Any:
    """E_x f times fbar(e_1), or times the even part of fbar, per drawn task."""
    import numpy as np

    rng = np.random.default_rng(seed)
    inner = rng.uniform(-1, 1, count)  # w.e_1 for w ~ U_3 (Archimedes)
    average, other = np.zeros(count), np.zeros(count)
    for feature in law.features:
        c = rng.uniform(-1, 1, count)
        centre = float(mean(feature).subs(mu, sp.Rational(1, 4)))
        sides = [sp.lambdify(z, side, "numpy")(inner) for side in feature]
        value = np.where(inner > 0, *sides) - centre
        average += c * centre
        other += c * (value if at_point else float(even_part(feature)))
    return average * other
