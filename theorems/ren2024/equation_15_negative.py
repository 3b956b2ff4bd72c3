"""Equation (15): attention with negative samples.

Ren and Liu (NeurIPS 2024), Section 4 and Appendix D.3. With a set N(i) of negative
samples for each demonstration the dual model is trained on

    L = -1/(ηD) Σ_i (W_V x_i - β/|N(i)| Σ_{j∈N(i)} W_V x_j)ᵀ W φ(W_K x_i)

and predicts h' = W_V [X̃_D, X_T] softmax((W_K X)ᵀ W_Q x'), x̃_i = x_i - β/|N(i)| Σ x_j.

With P the matrix of 1/|N(i)|, W_V X̃_D = V_D (I - βP); the weights of the
demonstrations then sum to 1 - β times what they did.

Deviations from the text:
    1. The displays are lost but for x̃_i; negative samples are demonstrations.
Not decided here: how to choose N(i), and whether it helps (Figure 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer, Trace

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import decide
from theorems.ren2024.duals.notation import (
    KERNEL,
    ONE_PLAIN_STEP,
    PER_QUERY,
    SIMILARITY,
    P,
    beta,
)
from theorems.ren2024.model import V_D, V_T, D, N, Phi_D, Phi_T, W, eta, kernel_sum, p
from verify import Claim, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile
from verify.search import Search

if TYPE_CHECKING:
    from theorems.ren2024.duals.floats import Layers

NEGATIVE = V_D - beta * V_D * P
LOSS = -Trace(NEGATIVE.T * W * Phi_D) / (eta * D)

CLAIM = Claim(
    id="ren2024/equation-15",
    title="attention with negative samples",
    says=(
        "The dual model trained with negative samples predicts attention in which "
        "every demonstration's value is less β times the mean of its negatives."
    ),
    latex=(
        r"h'_{T+1} = W_V [\tilde X_D, X_T]\, \mathrm{softmax}\bigl("
        r"(W_K X)^\top W_Q x'_{T+1}\bigr), \quad \tilde x_i = x_i - "
        r"\frac{\beta}{|\mathcal{N}(i)|} \sum_{j \in \mathcal{N}(i)} x_j"
    ),
    quantifiers=(
        "for all sets N(i), all real β, all N ≥ 1, T ≥ 0, d_o, d_r ≥ 1, all weights "
        "and tokens, all η > 0"
    ),
    source=PAPER.at("Equation (15)", "and its loss; Appendix D.3"),
    wording=Wording.DERIVED,
    assumes=(KERNEL, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        "loss": LOSS,
        "init": V_T * Phi_T.T / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(Phi_T),
        "steps": Integer(1),
        "step_length": Integer(1),
        "values_D": NEGATIVE,
        "values_T": V_T,
        "features_D": Phi_D,
        "features_T": Phi_T,
        "query": p,
    },
    mutants=(
        Mutant(
            "the sum of the negatives, N times their mean",
            why="β stands for their mean",
            loss=-Trace((V_D - N * beta * V_D * P).T * W * Phi_D) / (eta * D),
        ),
        Mutant(
            "negatives added",
            why="the loss pushes them away",
            values_D=V_D + beta * V_D * P,
        ),
        Mutant("no negatives in the loss", why="the layer has them", loss=SIMILARITY),
        Mutant(
            "who has i among its negatives",
            why="the mean is over N(i)",
            loss=-Trace((V_D - beta * V_D * P.T).T * W * Phi_D) / (eta * D),
        ),
        Mutant(
            "negatives in the keys",
            why="x̃ stands in the values alone",
            loss=-Trace(V_D.T * W * (Phi_D - beta * Phi_D * P)) / (eta * D),
        ),
        Mutant(
            "weights that sum to one",
            why="D is that of the unmodified layer",
            normaliser=(1 - beta) * kernel_sum(Phi_D) + kernel_sum(Phi_T),
        ),
        Mutant("no η in the loss", why="the step is η times too long", loss=LOSS * eta),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def prediction_is_the_modified_layer(claim: Claim) -> Outcome:
    """Prove Ŵφ(q) = h' for all sizes, with the gradient of the loss."""
    return decide.prove(claim)


@check(CLAIM, grade="property", scope="rational layers, N ≤ 4, T ≤ 2")
def trained_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Train the dual model in fractions and compare with the literal layer."""
    return decide.train_and_compare(claim, search)


@check(CLAIM, grade="property", scope="binary tokens, d ≤ 2, kernel 2^(x·y)")
def equals_modified_softmax_exactly(claim: Claim, search: Search) -> Outcome:
    """Compare with softmax to base 2 of the tokens themselves."""
    return decide.train_and_compare(claim, search, decide.literal_softmax)


@evidence
def random_layers(profile: Profile, seed: int) -> Layers:
    """Random layers with random features, in float64."""
    from theorems.ren2024.duals import floats

    return floats.random_layers(profile.instances // 4, seed)


@check(CLAIM, grade="numeric", scope="random layers, N ≤ 24, float64, autograd")
def trained_by_autograd(claim: Claim, random_layers: Layers) -> Outcome:
    """Let autograd differentiate the modified loss."""
    from theorems.ren2024.duals import floats

    return floats.by_autograd(claim, random_layers)
