"""Equations (12), (13) and (32): regularising the dual model's loss.

Ren and Liu (NeurIPS 2024), Section 4 and Appendix D.1. The dual model is trained on

    L = -1/(ηD) Σ_i (W_V x_i)ᵀ W φ(W_K x_i) + α/(2η) ‖W‖_F²,                  Eq. (12)

so that one step with learning rate η gives

    Ŵ = (1 - α) W_0 + 1/D Σ_i W_V x_i φ(W_K x_i)ᵀ,                            Eq. (32)

which predicts h' = W_V [X_D, (1-α) X_T] softmax(...), the softmax unchanged: Eq. (13).

Deviations from the text:
    1. The displays are lost. The coefficient α/(2η) is the only one of α, α/2, α/η and
       α/(2η) under which a step discards the portion α of W_0. At η = 1/2 or 1 others
       pass as well; the checks draw η.
    2. The softmax weights of Eq. (13) are those of Eq. (1): its D counts X_T in full.
Not decided here: the form for self-attention (equation_13_self_attention.py), training
(Figure 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import decide
from theorems.ren2024.duals.drawn import Layer, feature_layers, fixed_layers
from theorems.ren2024.duals.notation import (
    KERNEL,
    NORM,
    ONE_PLAIN_STEP,
    PER_QUERY,
    REGULARISED,
    SIMILARITY,
    alpha,
)
from theorems.ren2024.duals.sides import compare, trained_weights
from theorems.ren2024.model import (
    V_D,
    V_T,
    D,
    Phi_D,
    Phi_T,
    W,
    eta,
    kernel_sum,
    p,
)
from verify import (
    Claim,
    Mutant,
    Outcome,
    Wording,
    check,
    evidence,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import Identity

if TYPE_CHECKING:
    from theorems.ren2024.duals.floats import Layers

COEFFICIENTS = (
    Mutant(
        "α/2 ‖W‖²",
        why="W_0 keeps 1 - ηα; the same at η = 1",
        loss=SIMILARITY + alpha / 2 * NORM,
    ),
    Mutant(
        "α ‖W‖²",
        why="W_0 keeps 1 - 2ηα; the same at η = 1/2",
        loss=SIMILARITY + alpha * NORM,
    ),
    Mutant("α/η ‖W‖²", why="W_0 keeps 1 - 2α", loss=SIMILARITY + alpha / eta * NORM),
    Mutant("no regulariser", why="W_0 is kept whole", loss=SIMILARITY),
    Mutant(
        "opposite sign",
        why="W_0 keeps 1 + α",
        loss=SIMILARITY - alpha / (2 * eta) * NORM,
    ),
)

DUAL = Claim(
    id="ren2024/equation-12/dual",
    title="a step on the regularised loss",
    says=(
        "One step of gradient descent on the regularised loss discards the portion α "
        "of the weights it starts from and adds what a step on Eq. (9) adds."
    ),
    latex=r"\widehat{W} = (1 - \alpha) W_0 + \frac{1}{D} \sum_i "
    r"W_V x_i \otimes \phi(W_K x_i)",
    quantifiers="for all N, d_o, d_r ≥ 1, all η > 0, all real α, all W_0",
    source=PAPER.at("Equation (12)", "Eq. (32), Appendix D.1"),
    wording=Wording.DERIVED,
    assumes=(ONE_PLAIN_STEP,),
    parameters={
        "loss": REGULARISED,
        "init": W,
        "trained": (1 - alpha) * W + V_D * Phi_D.T / D,
        "steps": Integer(1),
        "step_length": Integer(1),  # learning rate in units of eta
    },
    mutants=(
        *COEFFICIENTS,
        Mutant(
            "both parts smoothed",
            why="a step adds the demonstrations in full",
            trained=(1 - alpha) * W + alpha * V_D * Phi_D.T / D,
        ),
        Mutant(
            "two steps",
            why="(1 - α)² of W_0 is left",
            steps=Integer(2),
        ),
    ),
)

ATTENTION = Claim(
    id="ren2024/equation-13",
    title="attention of the regularised dual model",
    says=(
        "The dual model trained on the regularised loss predicts attention with the "
        "query tokens' values times 1 - α."
    ),
    latex=(
        r"h'_{T+1} = W_V [X_D, (1 - \alpha) X_T]\, \mathrm{softmax}\bigl("
        r"(W_K X)^\top W_Q x'_{T+1}\bigr)"
    ),
    quantifiers=(
        "for all N ≥ 1, T ≥ 0, d_o, d_r ≥ 1, all weights and tokens, all η > 0, all "
        "real α"
    ),
    source=PAPER.at("Equation (13)", "from Eq. (12); Appendix D.1"),
    wording=Wording.DERIVED,
    assumes=(KERNEL, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        "loss": REGULARISED,
        "init": V_T * Phi_T.T / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(Phi_T),
        "steps": Integer(1),
        "step_length": Integer(1),
        "values_D": V_D,
        "values_T": (1 - alpha) * V_T,
        "features_D": Phi_D,
        "features_T": Phi_T,
        "query": p,
    },
    mutants=(
        *COEFFICIENTS,
        Mutant(
            "1 - α on the demonstrations",
            why="the regulariser acts on W_0, which holds the query tokens",
            values_D=(1 - alpha) * V_D,
            values_T=V_T,
        ),
        Mutant("1 + α", why="a positive α discards", values_T=(1 + alpha) * V_T),
        Mutant(
            "weights that sum to one",
            why="D is that of the unmodified layer",
            normaliser=kernel_sum(Phi_D) + (1 - alpha) * kernel_sum(Phi_T),
        ),
    ),
)


def weights(claim: Claim) -> Identity:
    """The weights after a step on the claim's loss, and as claimed."""
    says = "a step on the loss gives other weights"
    return compare(trained_weights(claim), claim.trained, says)


def with_weights(layer: Layer) -> Layer:
    """Initial weights and a normaliser at will, made of a layer's own numbers."""
    grown = layer["v_q"] @ layer["phi_k"].T
    return layer | {"W": grown, "D": 1 + abs(layer["beta"])}


def _fixed() -> tuple[Layer, ...]:
    return tuple(map(with_weights, fixed_layers()))


@check(DUAL, grade="symbolic", scope="all")
def step_on_the_regularised_loss(claim: Claim) -> Outcome:
    """Differentiate the loss at any W and any sizes."""
    return decide.settle(weights(claim), _fixed())


@check(DUAL, grade="property", scope="rational layers, N ≤ 4, d_o ≤ 2, d_r ≤ 3")
def steps_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Take the step in fractions, η and D multiplied out."""
    compare = weights(claim)

    def violated(layer: Layer) -> bool:
        return decide.step_taken(claim, layer) != decide.value(claim.trained, layer)

    return search.for_all(
        feature_layers().map(with_weights),
        violated,
        compare.witness,
        searched="values in [-3, 3], η ≤ 8, |α| ≤ 3",
        pinned=_fixed(),
        scale=0.3,
    )


@check(ATTENTION, grade="symbolic", scope="all")
def prediction_is_the_modified_layer(claim: Claim) -> Outcome:
    """Prove Ŵφ(q) = h' for all sizes, with the gradient of the loss."""
    return decide.prove(claim)


@check(ATTENTION, grade="property", scope="rational layers, N ≤ 4, T ≤ 2")
def trained_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Train the dual model in fractions and compare with the literal layer."""
    return decide.train_and_compare(claim, search)


@check(ATTENTION, grade="property", scope="binary tokens, d ≤ 2, kernel 2^(x·y)")
def equals_modified_softmax_exactly(claim: Claim, search: Search) -> Outcome:
    """Compare with softmax to base 2 of the tokens themselves."""
    return decide.train_and_compare(claim, search, decide.literal_softmax)


@evidence
def random_layers(profile: Profile, seed: int) -> Layers:
    """Random layers with random features, in float64."""
    from theorems.ren2024.duals import floats

    return floats.random_layers(profile.instances // 4, seed)


@check(ATTENTION, grade="numeric", scope="random layers, N ≤ 24, float64, autograd")
def trained_by_autograd(claim: Claim, random_layers: Layers) -> Outcome:
    """Let autograd differentiate the regularised loss."""
    from theorems.ren2024.duals import floats

    return floats.by_autograd(claim, random_layers)
