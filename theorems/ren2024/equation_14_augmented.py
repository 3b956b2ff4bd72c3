"""Equation (14): attention with augmented keys and values.

Ren and Liu (NeurIPS 2024), Section 4 and Appendix D.2. For any two functions g_1, g_2
the dual model trained on

    L = -1/(ηD) Σ_i [g_1(W_V x_i)]ᵀ W φ(g_2(W_K x_i))

predicts h' = g_1(W_V X) softmax(g_2(W_K X)ᵀ W_Q x'): "augmentations for all tokens",
the query tokens among them, but not for the query itself, which is no key.

Deviations from the text:
    1. The displays are lost. That all tokens are augmented is in the prose; that the
       query is not follows from W_Q x' being the dual model's test input.
Not decided here: which g_1, g_2 help (Figure 3).
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
    Psi_D,
    Psi_T,
    gV_D,
    gV_T,
    psi_q,
)
from theorems.ren2024.model import V_D, V_T, D, Phi_D, Phi_T, W, eta, kernel_sum, p
from verify import Claim, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile
from verify.search import Search

if TYPE_CHECKING:
    from theorems.ren2024.duals.floats import Layers

LOSS = -Trace(gV_D.T * W * Psi_D) / (eta * D)

CLAIM = Claim(
    id="ren2024/equation-14",
    title="augmented attention",
    says=(
        "The dual model trained on augmented keys and values predicts attention with "
        "the keys and values of all tokens augmented."
    ),
    latex=(
        r"h'_{T+1} = g_1(W_V X)\, \mathrm{softmax}\bigl("
        r"g_2(W_K X)^\top W_Q x'_{T+1}\bigr)"
    ),
    quantifiers=(
        "for all functions g_1, g_2, all N ≥ 1, T ≥ 0, d_o, d_r ≥ 1, all weights and "
        "tokens, all η > 0"
    ),
    source=PAPER.at("Equation (14)", "and its loss; Appendix D.2"),
    wording=Wording.DERIVED,
    assumes=(KERNEL, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        "loss": LOSS,
        "init": gV_T * Psi_T.T / D,
        "normaliser": kernel_sum(Psi_D) + kernel_sum(Psi_T),
        "steps": Integer(1),
        "step_length": Integer(1),
        "values_D": gV_D,
        "values_T": gV_T,
        "features_D": Psi_D,
        "features_T": Psi_T,
        "query": p,
    },
    mutants=(
        Mutant(
            "W_0 not augmented",
            why="query tokens are keys like any other",
            init=V_T * Phi_T.T / D,
        ),
        Mutant(
            "query tokens not augmented",
            why="W_0 holds them augmented",
            values_T=V_T,
            features_T=Phi_T,
        ),
        Mutant("g_2 on the query", why="the test input is W_Q x'", query=psi_q),
        Mutant(
            "labels not augmented",
            why="the layer's values are",
            loss=-Trace(V_D.T * W * Psi_D) / (eta * D),
        ),
        Mutant(
            "inputs not augmented",
            why="the layer's keys are",
            loss=-Trace(gV_D.T * W * Phi_D) / (eta * D),
        ),
        Mutant(
            "D of the keys as they were",
            why="weights no longer sum to one",
            normaliser=kernel_sum(Phi_D) + kernel_sum(Phi_T),
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
