"""Theorem 3.5: what a scale learnt from ReLU tasks costs on other tasks.

Collins et al. (NeurIPS 2024), Theorem 3.5 (E.3). After pretraining on D(F^+_L), with
Λ = nL²/σ² and β = 1/(d + 2),

    1. any L-Lipschitz task has loss O(L²/Λ^β);
    2. D(F^+_{L'}) with L' > L has loss Ω(L'²/Λ^{2β});
    3. D(F^+_{L'}) with L' < L has loss Ω(Λ^{βd/2}/n).

The first holds. The second is false: the bias of ReLU tasks is of order L'²w^{-3/2} and
w* of order Λ^{2β}, so that the loss is of order L'²Λ^{-3β}. The third lacks σ²:
dividing all tasks and the noise by k changes neither Λ nor w*, but the loss by k². With
σ², and (d - 1)/2 for d/2 (Lemma D.1), it holds.

Deviations from the text:
    1. w = 2 w_KQ: constants change.
    2. The bounds that hold take the conclusion of Theorem 3.4 as a hypothesis, with its
       constants c_1 and c_2; the refutations locate w* without it, for d = 3.
Not decided here: Theorem 3.4.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import orders, transfer
from theorems.collins2024.bias.assumptions import LIPSCHITZ, RANGE, SPHERE, WINDOW
from theorems.collins2024.bias.terms import LAMBDA, least, most
from theorems.collins2024.bias.window import ANY, FLATTER, STEEPER, beta
from theorems.collins2024.bounds.notation import d, m
from verify import Anchor, Claim, Mutant, Outcome, Wording, check, evidence, refuted
from verify.profiles import Profile

SLOW = {"losses_within_their_constants": "it takes Λ beyond 1e8 to show"}
LEARNT = "for all d ≥ 2, at any scale that Theorem 3.4 allows, in the range of G.5"

UPPER = Claim(
    id="collins2024/theorem-3.5/upper",
    title="tasks of the same Lipschitzness",
    says="After pretraining, every L-Lipschitz task has loss at most O(L²/Λ^β).",
    latex=r"\mathcal L \le C\, L^2 / \Lambda^{\beta}",
    quantifiers=LEARNT,
    source=PAPER.at("Theorem 3.5", "Theorem E.3"),
    domain=ANY,
    assumes=(SPHERE, LIPSCHITZ, WINDOW, RANGE),
    parameters={"upper": LAMBDA**-beta, "most": most(ANY)},
    mutants=(
        Mutant(
            "Λ^{-6β}", why="the loss is of order Λ^{-3β}", upper=LAMBDA ** (-6 * beta)
        ),
        Mutant("Λ^-1", why="3β < 1: no parametric rate", upper=1 / LAMBDA),
        Mutant(
            "Λ^{-7β/2}",
            why="ReLU tasks themselves have Λ^{-3β}",
            upper=LAMBDA ** (-sp.Rational(7, 2) * beta),
            blind=SLOW,
        ),
    ),
)

STEEP = Claim(
    id="collins2024/theorem-3.5/lower-steeper",
    title="steeper tasks, from below",
    says="For L' > L the loss on D(F^+_{L'}) is at least Ω(L'²/Λ^{2β}).",
    latex=r"L' > L \implies \mathcal L \ge c\, L'^2 / \Lambda^{2\beta}",
    quantifiers="for all d ≥ 2, L' > L, at the learnt scale",
    source=PAPER.at("Theorem 3.5", "Theorem E.3"),
    domain=STEEPER,
    assumes=(SPHERE, RANGE),
    parameters={"lower": LAMBDA ** (-2 * beta), "least": least(STEEPER)},
    finding=refuted(
        "with L' = 2L and n → ∞ the loss is at most C L'²Λ^{-3β}: w* reaches Λ^{2β}, "
        "and the bias of ReLU tasks falls like w^{-3/2}, not like 1/w"
    ),
    nearest="collins2024/theorem-3.5/lower-steeper/repaired",
    anchors=(Anchor("Λ^{-3β}", why="the exact order", lower=LAMBDA ** (-3 * beta)),),
    mutants=(
        Mutant("Λ^{-β}", why="even larger", lower=LAMBDA**-beta),
        Mutant(
            "Λ^{-5β/2}",
            why="the exact order is Λ^{-3β}",
            lower=LAMBDA ** (-sp.Rational(5, 2) * beta),
        ),
    ),
)

STEEP_REPAIRED = Claim(
    id="collins2024/theorem-3.5/lower-steeper/repaired",
    title="steeper tasks, repaired",
    says="For L' > L the loss on D(F^+_{L'}) is at least Ω(L'²/Λ^{3β}).",
    latex=r"L' > L \implies \mathcal L \ge c\, L'^2 / \Lambda^{3\beta}",
    quantifiers=LEARNT,
    source=PAPER.at("Theorem 3.5", "Theorem E.3"),
    wording=Wording.OURS,
    domain=STEEPER,
    assumes=(SPHERE, WINDOW, RANGE),
    parameters={"lower": LAMBDA ** (-3 * beta), "least": least(STEEPER)},
    mutants=(
        Mutant(
            "as printed",
            why="the exact order is Λ^{-3β}",
            lower=LAMBDA ** (-2 * beta),
            blind=SLOW,
        ),
        Mutant("no decay", why="more samples help here too", lower=sp.S.One),
    ),
)

FLAT = Claim(
    id="collins2024/theorem-3.5/lower-flatter",
    title="flatter tasks, from below",
    says="For L' < L the loss on D(F^+_{L'}) is at least Ω(Λ^{βd/2}/n).",
    latex=r"L' < L \implies \mathcal L \ge c\, \Lambda^{\beta d/2} / n",
    quantifiers="for all d ≥ 2, L' < L, σ > 0, at the learnt scale",
    source=PAPER.at("Theorem 3.5", "Theorem E.3"),
    domain=FLATTER,
    assumes=(SPHERE, WINDOW, RANGE),
    parameters={
        "lower": LAMBDA ** (beta * d / 2),
        "noise": sp.S.Zero,
        "least": least(FLATTER),
    },
    finding=refuted(
        "tasks and noise divided by k leave Λ and w* as they are and divide the loss "
        "by k²: the bound lacks σ²"
    ),
    nearest="collins2024/theorem-3.5/lower-flatter/repaired",
    anchors=(
        Anchor(
            "σ²Λ^{β(d-1)/2}/n",
            why="the noise at the lower end of the window",
            lower=LAMBDA ** (beta * m),
            noise=sp.Integer(2),
        ),
    ),
    mutants=(
        Mutant("σ instead of σ²", why="the loss is quadratic", noise=sp.S.One),
        Mutant(
            "Λ^{βd}",
            why="noise at the learnt scale is of order Λ^{β(d-1)}",
            lower=LAMBDA ** (beta * d),
        ),
    ),
)

FLAT_REPAIRED = Claim(
    id="collins2024/theorem-3.5/lower-flatter/repaired",
    title="flatter tasks, repaired",
    says="For L' < L the loss on D(F^+_{L'}) is at least Ω(σ²Λ^{β(d-1)/2}/n).",
    latex=r"L' < L \implies \mathcal L \ge c\, \sigma^2 \Lambda^{\beta (d-1)/2} / n",
    quantifiers=LEARNT,
    source=PAPER.at("Theorem 3.5", "Theorem E.3"),
    wording=Wording.OURS,
    domain=FLATTER,
    assumes=(SPHERE, WINDOW, RANGE),
    parameters={
        "lower": LAMBDA ** (beta * m),
        "noise": sp.Integer(2),
        "least": least(FLATTER),
    },
    mutants=(
        Mutant("without σ²", why="the loss is quadratic in f and σ", noise=sp.S.Zero),
        Mutant("σ instead of σ²", why="the loss is quadratic", noise=sp.S.One),
        Mutant(
            "Λ^{βd}",
            why="noise at the learnt scale is of order Λ^{β(d-1)}",
            lower=LAMBDA ** (beta * d),
        ),
        Mutant("Λ", why="then the loss would not fall", lower=LAMBDA),
    ),
)


@evidence
def learnt(profile: Profile) -> transfer.Learnt:
    """Exact minimisers for ReLU tasks, and the losses on other tasks there."""
    return transfer.learn(
        profile.pick(smoke=(5, 8), default=(5, 6, 8), full=(5, 6, 7, 8))
    )


@check(UPPER, STEEP, STEEP_REPAIRED, grade="symbolic", scope="all")
def powers_of_lambda(claim: Claim) -> Outcome:
    """Insert the ends of the window into the orders of bias and noise."""
    return orders.decide(claim)


@check(FLAT, FLAT_REPAIRED, grade="symbolic", scope="all")
def noise_scales_with_the_labels(claim: Claim) -> Outcome:
    """Scale tasks and noise; then compare powers of Λ."""
    return transfer.flatter(claim)


@check(
    UPPER,
    STEEP_REPAIRED,
    FLAT_REPAIRED,
    grade="property",
    scope="d = 2..4, L = σ = 1, Λ = n from 1e5 to 1e8",
)
def losses_within_their_constants(claim: Claim, learnt: transfer.Learnt) -> Outcome:
    """Hold the constants against exact losses at exact minimisers."""
    return transfer.observed(claim, learnt)
