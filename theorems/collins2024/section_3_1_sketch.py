"""Section 3.1: the sketch with "modified softmax attention", an average over a cap.

Collins et al. (NeurIPS 2024), Section 3.1. For tasks L ω·x the average runs over tokens
with |x_i - x| < 1/√w, and sums are replaced by their expectation. The text says

    bias² = Θ(L²/w²)                           ("Noiseless Estimator Bias")
    noise = Θ(w^{d/2}σ²/n)                     ("Noise")
    L_signal = Θ(L²/w)                         ("Combining")
    w* = Θ((nL²/σ²)^{2/(d+2)})                 ("Combining")

The first holds: the cap's centre of mass is known in closed form. The third contradicts
it and is false; the second has the dimension of the ball, not of the sphere; the last
is the right minimum of the wrong sum. For this estimator w* = Θ(Λ^{2/(d+3)}).

Deviations from the text:
    1. w is w_KQ here, as in the sketch.
    2. That most of a cap lies near its boundary is not used.
Not decided here: the estimator with random sums; Theorem 3.4 itself.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import observed, orders, sketch
from theorems.collins2024.bias.assumptions import SPHERE
from theorems.collins2024.bias.terms import least, most
from theorems.collins2024.bounds.notation import d, m, n, w
from verify import (
    Anchor,
    Assumption,
    Claim,
    Grade,
    Kind,
    Mutant,
    Need,
    Outcome,
    Requires,
    Wording,
    check,
    evidence,
    refuted,
)
from verify.profiles import Profile

BIAS, NOISE = "cap, bias", "cap, noise"
EXPECTED = Assumption("expected", "sums over tokens are replaced by their expectation")
NARROW = Assumption("narrow", "w ≥ 1/2: the cap is at most half of the sphere")
SQUARE, INVERSE = w**-2, 1 / w
BALL, EXACT = w ** (d / 2) / n, w**m / n


def both(order: sp.Expr) -> dict[str, sp.Expr]:
    """An order from below and above."""
    return {"lower": order, "upper": order}


def shared(name: str) -> dict[str, sp.Expr]:
    """The constants exhibited for a quantity."""
    return {"least": least(name), "most": most(name)}


BIAS_CLAIM = Claim(
    id="collins2024/section-3.1/bias",
    kind=Kind.PROOF_STEP,
    title="sketch: bias of a cap",
    says="The squared bias of the uniform average over the cap is Θ(L²/w²).",
    latex=r"\mathrm{bias}^2 = \Theta(L^2 / w^2)",
    quantifiers="for all d ≥ 2 and w ≥ 1/2",
    source=PAPER.at("Section 3.1", "Noiseless Estimator Bias"),
    domain=BIAS,
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={**both(SQUARE), **shared(BIAS)},
    mutants=(
        Mutant("L²/w", why="the centre is 1/w away, not 1/√w", **both(INVERSE)),
        Mutant("L²/w³", why="the centre is 1/w away", **both(w**-3)),
    ),
)

SIGNAL_CLAIM = Claim(
    id="collins2024/section-3.1/signal",
    kind=Kind.PROOF_STEP,
    title="sketch: signal term, second statement",
    says="The signal term of the modified attention is Θ(L²/w).",
    latex=r"\mathcal L_{\mathrm{signal}} = \Theta(L^2 / w)",
    quantifiers=BIAS_CLAIM.quantifiers,
    source=PAPER.at("Section 3.1", "Combining the terms"),
    domain=BIAS,
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={**both(INVERSE), **shared(BIAS)},
    finding=refuted("the squared bias is exactly of order L²/w², as said just before"),
    nearest="collins2024/section-3.1/bias",
    anchors=(Anchor("L²/w²", why="the exact order", **both(SQUARE)),),
    mutants=(
        Mutant("1/√w", why="the centre is 1/w away", **both(1 / sp.sqrt(w))),
        Mutant("L²/w³", why="the centre is 1/w away", **both(w**-3)),
    ),
)

NOISE_CLAIM = Claim(
    id="collins2024/section-3.1/noise",
    kind=Kind.PROOF_STEP,
    title="sketch: noise of a cap",
    says="One over the number of tokens in the cap is Θ(w^{d/2}/n).",
    latex=r"1 / \textstyle\sum_j 1_j = \Theta(w^{d/2} / n)",
    quantifiers=BIAS_CLAIM.quantifiers,
    source=PAPER.at("Section 3.1", "Noise"),
    domain=NOISE,
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={**both(BALL), **shared(NOISE)},
    finding=refuted("a cap of radius 1/√w has measure of order w^{-(d-1)/2}"),
    nearest="collins2024/section-3.1/noise/repaired",
    anchors=(Anchor("w^{(d-1)/2}", why="the sphere's dimension", **both(EXACT)),),
    mutants=(
        Mutant("w^{(d+1)/2}", why="beyond the sphere's dimension", **both(w * EXACT)),
        Mutant("w^{(d-2)/2}", why="below it", **both(BALL / w)),
    ),
)

NOISE_REPAIRED = Claim(
    id="collins2024/section-3.1/noise/repaired",
    kind=Kind.PROOF_STEP,
    title="sketch: noise of a cap, repaired",
    says="One over the number of tokens in the cap is Θ(w^{(d-1)/2}/n).",
    latex=r"1 / \textstyle\sum_j 1_j = \Theta(w^{(d-1)/2} / n)",
    quantifiers=BIAS_CLAIM.quantifiers,
    source=PAPER.at("Section 3.1", "Noise"),
    wording=Wording.OURS,
    domain=NOISE,
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={**both(EXACT), **shared(NOISE)},
    mutants=(
        Mutant("as printed", why="the ball's dimension", **both(BALL)),
        *NOISE_CLAIM.mutants,
    ),
)

OPTIMUM = Claim(
    id="collins2024/section-3.1/modified-attention",
    kind=Kind.PROOF_STEP,
    title="sketch: best scale of the modified attention",
    says="For linear tasks the modified attention is best at w = Θ(Λ^{2/(d+2)}).",
    latex=r"w^* = \Theta\left((n L^2 / \sigma^2)^{2/(d+2)}\right)",
    quantifiers="for all d ≥ 2, Λ → ∞",
    source=PAPER.at("Section 3.1", "Combining the terms"),
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={"exponent": 2 / (d + 2)},
    finding=refuted("bias² w^-2 and noise w^{(d-1)/2}/Λ balance at Λ^{2/(d+3)}"),
    nearest="collins2024/section-3.1/modified-attention/repaired",
    anchors=(Anchor("2/(d+3)", why="the exact balance", exponent=2 / (d + 3)),),
    mutants=(
        Mutant("2/(d+4)", why="noise d/2 with bias w^-2", exponent=2 / (d + 4)),
        Mutant("1/(d+2)", why="half of the text's", exponent=1 / (d + 2)),
    ),
)

OPTIMUM_REPAIRED = Claim(
    id="collins2024/section-3.1/modified-attention/repaired",
    kind=Kind.PROOF_STEP,
    title="sketch: best scale, repaired",
    says="For linear tasks the modified attention is best at w = Θ(Λ^{2/(d+3)}).",
    latex=r"w^* = \Theta\left((n L^2 / \sigma^2)^{2/(d+3)}\right)",
    quantifiers=OPTIMUM.quantifiers,
    source=PAPER.at("Section 3.1", "Combining the terms"),
    wording=Wording.OURS,
    assumes=(SPHERE, EXPECTED, NARROW),
    parameters={"exponent": 2 / (d + 3)},
    mutants=(
        Mutant("as printed", why="the sum it minimises is wrong", exponent=2 / (d + 2)),
        *OPTIMUM.mutants,
    ),
)

BALANCE = Claim(
    id="collins2024/section-3.1/balance",
    kind=Kind.PROOF_STEP,
    title="sketch: minimum of the stated sum",
    says="The sum L²/w + w^{d/2}σ²/n is least at w = Θ(Λ^{2/(d+2)}).",
    latex=r"\arg\min_w L^2/w + w^{d/2} \sigma^2/n = \Theta(\Lambda^{2/(d+2)})",
    quantifiers="for all d ≥ 2",
    source=PAPER.at("Section 3.1", "Combining the terms"),
    parameters={
        "fall": sp.S.One,
        "rise": d / 2,
        "exponent": 2 / (d + 2),
    },
    mutants=(
        Mutant("2/(d+3)", why="that belongs to another sum", exponent=2 / (d + 3)),
        Mutant("bias w^-2", why="then it is 2/(d+4)", fall=sp.Integer(2)),
    ),
    requires=Requires(
        (Need(frozenset({Grade.SYMBOLIC}), everywhere=True),),
        why="a closed form: nothing to search",
    ),
)


@evidence
def caps(profile: Profile, seed: int) -> observed.Table:
    """Exact bias and noise of caps, by the incomplete beta function."""
    return sketch.orders_of(seed, profile.pick(smoke=30, default=300, full=3000))


@evidence
def optima(profile: Profile) -> sketch.Optima:
    """Exact best scales of caps, Λ up to 1e20."""
    exponents = profile.pick(
        smoke=(6, 20), default=(4, 8, 12, 16, 20), full=range(3, 21)
    )
    return sketch.optima(tuple(exponents))


@check(
    BIAS_CLAIM, SIGNAL_CLAIM, NOISE_CLAIM, NOISE_REPAIRED, grade="symbolic", scope="all"
)
def orders_of_a_cap(claim: Claim) -> Outcome:
    """Integrate over the cap: its centre of mass in closed form, its measure."""
    return orders.decide(claim)


@check(BIAS_CLAIM, NOISE_REPAIRED, grade="property", scope="d = 2..6, w ≤ 1e7")
def caps_within_their_constants(claim: Claim, caps: observed.Table) -> Outcome:
    """Hold the exhibited constants against exact caps."""
    return observed.decide(claim, caps)


@check(OPTIMUM, OPTIMUM_REPAIRED, grade="symbolic", scope="all")
def best_scale(claim: Claim) -> Outcome:
    """Locate the minimiser between constants times a power of Λ."""
    return sketch.decide(claim)


@check(OPTIMUM_REPAIRED, grade="property", scope="d = 2..6, Λ = 1e4 to 1e20")
def best_scale_on_instances(claim: Claim, optima: sketch.Optima) -> Outcome:
    """Hold the constants against exact minimisers."""
    return sketch.held(claim, optima)


@check(BALANCE, grade="symbolic", scope="all")
def minimum_of_the_sum(claim: Claim) -> Outcome:
    """Set the slope to zero."""
    return sketch.powers_balance(claim)
