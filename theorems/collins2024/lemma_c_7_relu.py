"""Lemma C.7: the ReLU class satisfies Assumption B.4, though not by the printed proof.

Collins et al. (NeurIPS 2024), Lemma C.7, for f(x) = l1 (w.x)_+ + l2 (-w.x)_+ + b with
w ~ U_d and l1, l2, b uniform on [-L, L]; with t the angle of x and y

    E f(x) f(y) = L^2/3 (1 + (sin t + (pi - t) cos t)/(pi d)),
    d/d(x.y) of it = L^2 (pi - t)/(3 pi d) > 0.

The proof writes the correlation as E[(w.x)(w.y) | same side] P(same side) and says:

    P(opposite sides) = 1 - 2 arccos(x.y)/pi       false: it is arccos(x.y)/pi;
    E[(w.x)(w.y) | same side] increases with x.y   false: it is 1/d at x = y and larger
                                                   for angles a little above 0.

The lemma stands: the slope above is positive. (The product of positive increasing
functions, "non-increasing" in the text, is increasing; its factors are not.)

Deviations from the text:
    1. Displays of the proof are lost; the two steps are in its sentences.
Not decided here: what Assumption B.4 is good for (lemma_b_5_minimiser.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes import (
    AFFINE,
    AXES,
    RELU,
    SQUARES,
    STEEP,
    observed,
    sampled,
)
from theorems.collins2024.classes.kernels import feature_kernel
from theorems.collins2024.classes.tasks import LEFT, RIGHT, L, d, theta
from theorems.collins2024.classes.validate import assumption_b4
from verify import (
    Anchor,
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
from verify.numerics import table
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

SAME = (sp.sin(theta) + (sp.pi - theta) * sp.cos(theta)) / (sp.pi * d)

CLAIM = Claim(
    id="collins2024/lemma-c.7",
    title="the ReLU class satisfies Assumption B.4",
    says=(
        "ReLU tasks are L-Lipschitz, their correlation increases with x.y, and they "
        "are invariant under isometries."
    ),
    latex=(
        r"\mathbb{E} f(x) f(y) = \tfrac{L^2}{3}\left(1 + \tfrac{\sin\theta + "
        r"(\pi - \theta)\cos\theta}{\pi d}\right), \quad \cos\theta = x^\top y"
    ),
    quantifiers="for unit x, y, all d ≥ 2, all L > 0",
    source=PAPER.at("Lemma C.7"),
    wording=Wording.DERIVED,
    domain=RELU,
    parameters={"kernel": L**2 / 3 * (1 + SAME)},
    mutants=(
        Mutant("slopes up to 2L", why="part 1 fails", domain=STEEP),
        Mutant("squares instead of w.x", why="part 2 fails", domain=SQUARES),
        Mutant("directions along the axes", why="part 3 fails", domain=AXES),
        Mutant(
            "the affine class",
            why="its kernel is L²/3 (1 + x.y/d)",
            domain=AFFINE,
        ),
        Mutant(
            "w of covariance I",
            why="|w| = 1, so its covariance is I/d",
            kernel=L**2 / 3 * (1 + d * SAME),
        ),
        Mutant(
            "one side only",
            why="both l1 and l2 contribute",
            kernel=L**2 / 3 * (1 + SAME / 2),
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def validator_decides(claim: Claim) -> Outcome:
    """Decide all parts and the kernel from the law of tasks."""
    return assumption_b4(claim.domain, claim.kernel)


@check(CLAIM, grade="property", scope="drawn tasks, d = 3, L = 1")
def drawn_tasks_agree(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Look for a violation among drawn tasks."""
    count = profile.pick(smoke=50_000, default=50_000, full=300_000)
    law, level = claim.domain, profile.level
    return observed.assumption_b4(law, claim.kernel, count, seed, level)


# --- the steps of the printed proof -------------------------------------------------

OPPOSITE = Claim(
    id="collins2024/lemma-c.7/sides",
    kind=Kind.PROOF_STEP,
    title="probability of opposite sides",
    says="x and y lie on opposite sides of w with probability 1 - 2 arccos(x.y)/π.",
    latex=r"P[(w^\top x)(w^\top y) < 0] = 1 - \tfrac{2 \arccos(x^\top y)}{\pi}",
    quantifiers="for unit x, y, w ~ U_d, all d ≥ 2",
    source=PAPER.at("Lemma C.7", "proof of part 2"),
    wording=Wording.PRINTED,
    parameters={"probability": 1 - 2 * theta / sp.pi},
    anchors=(
        Anchor(
            "the angle over pi",
            why="w separates x and y when its projection falls into two arcs",
            probability=theta / sp.pi,
        ),
    ),
    mutants=(
        Mutant(
            "same side",
            why="that is the complement",
            probability=1 - theta / sp.pi,
        ),
        Mutant("half", why="there are two arcs", probability=theta / sp.pi / 2),
        Mutant("twice", why="it is at most 1", probability=2 * theta / sp.pi),
    ),
    finding=refuted("it is arccos(x.y)/π: equal points are on the same side"),
    nearest="collins2024/lemma-c.7/sides/repaired",
)

SIDES = Claim(
    id="collins2024/lemma-c.7/sides/repaired",
    kind=Kind.PROOF_STEP,
    title="probability of opposite sides",
    says="x and y lie on opposite sides of w with probability arccos(x.y)/π.",
    latex=r"P[(w^\top x)(w^\top y) < 0] = \tfrac{\arccos(x^\top y)}{\pi}",
    quantifiers=OPPOSITE.quantifiers,
    source=PAPER.at("Lemma C.7", "repair of part 2"),
    wording=Wording.OURS,
    parameters={"probability": theta / sp.pi},
    mutants=(
        *OPPOSITE.mutants,
        Mutant(
            "as printed",
            why="equal points are on the same side",
            probability=1 - 2 * theta / sp.pi,
        ),
    ),
)


@check(OPPOSITE, SIDES, grade="symbolic", scope="all")
def arcs_are_measured(claim: Claim) -> Outcome:
    """Measure the two arcs of s on which cos s and cos(s - θ) have opposite signs."""
    arcs = (theta + sp.pi / 2 - sp.pi / 2) + (theta + 3 * sp.pi / 2 - 3 * sp.pi / 2)
    true = arcs / (2 * sp.pi)
    if sp.simplify(claim.probability - true) == 0:
        return Holds(f"arcs (π/2, θ + π/2), (3π/2, θ + 3π/2): {true} of the circle")
    for angle in (sp.S.Zero, sp.pi):
        left, right = (p.subs(theta, angle) for p in (claim.probability, true))
        if left != right:
            says = f"probability at the angle {angle}"
            return Refuted(says, witness=formula(left, "!=", right, {}, says))
    return Inconclusive("not told apart at 0 and π", cause=Cause.NO_PROOF)


@check(OPPOSITE, SIDES, grade="property", scope="drawn w, five angles, d = 3")
def signs_are_counted(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Count signs of drawn w at points of five angles.

    Hoeffding: a frequency of N draws misses its probability by more than
    sqrt(log(2/a)/(2N)) with probability at most a.
    """
    import numpy as np

    count = profile.pick(smoke=50_000, default=50_000, full=300_000)
    w = np.random.default_rng(seed).standard_normal((count, sampled.DIMENSION))
    x, y = sampled.pairs()
    cosines = sampled.COSINES
    radius = float(np.sqrt(np.log(2 * len(cosines) / profile.level) / (2 * count)))
    share = np.mean((w @ x[1].T) * (w @ y[1].T) < 0, axis=0)
    at = sp.lambdify(theta, claim.probability, "numpy")
    target = at(np.arccos(cosines))
    worst = int(np.argmax(np.abs(share - target)))
    gap = float(abs(share[worst] - target[worst]))
    found: dict[str, Any] = {
        "n": count,
        "measured": float(share[worst]),
        "target": float(target[worst]),
        "margin": 1 - gap / radius,
    }
    if gap <= radius:
        return Holds("frequencies agree", **found)
    rows = {"gap": [gap], "radius": [radius]}
    relation = [">", ["in", "gap"], ["in", "radius"]]
    says = "a frequency differs from the probability"
    witness = table(rows, relation=relation, aggregate="all", says=says)
    return Refuted(says, witness=witness, **found)


GIVEN_SAME = Claim(
    id="collins2024/lemma-c.7/conditional",
    kind=Kind.PROOF_STEP,
    title="correlation given the same side",
    says="E[(w.x)(w.y) | (w.x)(w.y) > 0] increases with x.y.",
    latex=r"\mathbb{E}[(w^\top x)(w^\top y) \mid (w^\top x)(w^\top y) > 0] \uparrow",
    quantifiers=OPPOSITE.quantifiers,
    source=PAPER.at("Lemma C.7", "proof of part 2"),
    wording=Wording.PRINTED,
    parameters={"share": 1 / (sp.pi - theta)},
    anchors=(
        Anchor(
            "not divided by the probability",
            why="E[(w.x)(w.y); same side] has the slope (π - θ)/(π d)",
            share=1 / sp.pi,
        ),
    ),
    mutants=(
        Mutant(
            "divided by its square",
            why="near x = y the quotient falls still faster",
            share=1 / (sp.pi - theta) ** 2,
        ),
        Mutant(
            "divided by its fourth power",
            why="near x = y the quotient falls still faster",
            share=1 / (sp.pi - theta) ** 4,
        ),
    ),
    finding=refuted(
        "with s = sin θ = 7/25 and cos θ = 24/25 it is above its value at x = y"
    ),
    nearest="collins2024/lemma-c.7",
)


_SYMBOLS = sp.symbols("sine cosine pi_", positive=True)


def power_of(claim: Claim) -> int:
    """The k of a share proportional to (π - θ)^-k."""
    remaining = sp.pi - theta
    return next(k for k in (0, 1, 2, 4) if not (claim.share * remaining**k).has(theta))


def exceeds(power: int) -> sp.Expr:
    """Lower bound of the ratio to x = y: θ ≥ sin θ, and p < π < 22/7.

    The ratio is cos θ (π/(π - θ))^(k-1) + sin θ/π (π/(π - θ))^k for a share
    (π - θ)^-k; both factors increase with θ, and π/(π - θ) falls with π.
    """
    sine_, cosine_, pi_ = _SYMBOLS
    grown = pi_ / (pi_ - sine_)
    return cosine_ * grown ** (power - 1) + sine_ / pi_ * grown**power


@check(GIVEN_SAME, grade="symbolic", scope="all")
def rational_angle_decides(claim: Claim) -> Outcome:
    """Compare the angle of the triple 7, 24, 25 with 0; or prove the slope."""
    if power_of(claim) == 0:
        both = feature_kernel(RIGHT) + feature_kernel(LEFT)
        product = sp.expand(both * d * sp.pi * claim.share)
        slope = sp.cancel(-sp.diff(product, theta) / sp.sin(theta))
        if sp.expand(slope - (1 - theta / sp.pi)) == 0:
            return Holds(
                f"its slope in x.y is {slope}, over d: > 0", steps=[str(product)]
            )
        return Inconclusive(f"slope {slope}", cause=Cause.NO_PROOF)
    return _rises_with_the_angle(claim, Fraction(7, 25), Fraction(24, 25))


def _rises_with_the_angle(claim: Claim, sine: Fraction, cosine: Fraction) -> Outcome:
    left = exceeds(power_of(claim))
    says = "at this angle it exceeds its value at x = y (1), with π < 22/7, θ ≥ sin θ"
    inputs = {"sine": sine, "cosine": cosine, "pi_": Fraction(22, 7)}
    return Refuted(says, witness=formula(left, ">", sp.S.One, inputs, says))


@check(GIVEN_SAME, grade="property", scope="Pythagorean angles in (0, π/2)")
def angles_are_tried(claim: Claim, search: Search) -> Outcome:
    """Compare rational angles with 0 by the same bounds."""
    power = power_of(claim)

    def point(u: Fraction) -> tuple[Fraction, Fraction]:
        return 2 * u / (1 + u * u), (1 - u * u) / (1 + u * u)

    def violated(u: Fraction) -> bool:
        sine, cosine = point(u)
        values = {"sine": sine, "cosine": cosine, "pi_": Fraction(22, 7)}
        names = {s: sp.Rational(values[s.name]) for s in _SYMBOLS}
        return bool(exceeds(power).subs(names) > 1)

    return search.for_all(
        st.fractions(Fraction(1, 100), Fraction(9, 10), max_denominator=100),
        violated,
        lambda u: _rises_with_the_angle(claim, *point(u)).witness or {},
        searched="angles 2 arctan u, u in [1/100, 9/10]",
        scale=0.15,
    )
