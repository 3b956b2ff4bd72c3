"""Theorem B.1: one Transformer layer is one gradient step on a model with a bias.

Ren and Liu (NeurIPS 2024), Theorem B.1. With h' the attention output, I_M the diagonal
of ones where W_1 h' + b_1 ≥ 0, W_F = W_2 I_M W_1 and b_F = W_2 I_M b_1 + b_2, the layer
W_2 ReLU(W_1 h' + b_1) + b_2 equals the prediction of f(x) = W φ(x) + b after one step
on W alone, from W_F W_0 and with b = b_F, on

    L = -1/(ηD) Σ_i (W_F W_V x_i)ᵀ (W φ(W_K x_i) + b).                         Eq. (21)

Deviations from the text:
    1. Section 3.2 says that the labels are W_F W_K x_i; the proof needs W_F W_V x_i.
    2. I_M is d_h x d_h (once printed d x d). It depends on the query, as D does.
    3. No residual connection or layer normalisation, as Section 2.1 says: mutants show
       that the statement is false with them.
Not decided here: the rank of W_F (rank_wf_low_rank.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer, OneMatrix, Trace

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import transformer
from theorems.ren2024.duals.notation import KERNEL, ONE_PLAIN_STEP, PER_QUERY
from theorems.ren2024.duals.transformer import (
    I_M,
    K_D,
    W_1,
    W_2,
    W_F,
    b,
    b_1,
    b_2,
    h,
)
from theorems.ren2024.model import (
    V_D,
    V_T,
    D,
    N,
    Phi_D,
    Phi_T,
    W,
    d_o,
    eta,
    kernel_sum,
    v_q,
)
from verify import Assumption, Claim, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile
from verify.search import Search

if TYPE_CHECKING:
    from theorems.ren2024.duals.floats import Layers

OUTPUT = W * Phi_D + b * OneMatrix(1, N)
LOSS = -Trace((W_F * V_D).T * OUTPUT) / (eta * D)
W_0 = V_T * Phi_T.T / D

CLAIM = Claim(
    id="ren2024/theorem-b.1",
    title="one Transformer layer is one gradient step",
    says=(
        "The output of attention followed by a ReLU network equals the prediction of "
        "the dual model Wφ(x) + b after one step of gradient descent on W."
    ),
    latex=(
        r"\hat x'_{T+1} = \widehat{W} \phi(W_Q x'_{T+1}) + b_F, \quad \mathcal{L} = "
        r"-\frac{1}{\eta D} \sum_i (W_F W_V x_i)^\top (W \phi(W_K x_i) + b)"
    ),
    quantifiers=(
        "for all N ≥ 1, T ≥ 0, d_o, d_h, d_r ≥ 1, all weights and tokens, all η > 0"
    ),
    source=PAPER.at("Theorem B.1", "Eqs. (20)-(23)"),
    wording=Wording.DERIVED,
    assumes=(
        KERNEL,
        ONE_PLAIN_STEP,
        PER_QUERY,
        Assumption("pattern", "I_M is that of the query's own h'"),
    ),
    parameters={
        "loss": LOSS,
        "init": W_F * W_0,
        "bias": W_2 * I_M * b_1 + b_2,
        "bias_trained": Integer(0),
        "normaliser": kernel_sum(Phi_D) + kernel_sum(Phi_T),
        "gate": W_1 * h + b_1,
        "inner": W_1 * h + b_1,  # before the layer's ReLU
        "skip": b_2,  # beside W_2 ReLU(inner)
    },
    mutants=(
        Mutant(
            "labels W_F W_K x_i",
            why="attention averages values",
            loss=-Trace((W_F * K_D).T * OUTPUT) / (eta * D),
        ),
        Mutant(
            "labels W_V x_i",
            why="the network acts on them",
            loss=-Trace(V_D.T * OUTPUT) / (eta * D),
        ),
        Mutant("initial weights W_0", why="the network acts on them", init=W_0),
        Mutant("b trained", why="its slope is not zero", bias_trained=Integer(1)),
        Mutant("b_F without b_2", why="the layer adds it", bias=W_2 * I_M * b_1),
        Mutant("b_F without b_1", why="active units add it", bias=b_2),
        Mutant(
            "I_M without b_1",
            why="the ReLU sees W_1 h' + b_1",
            gate=W_1 * h,
        ),
        Mutant(
            "I_M of another h",
            why="units switch between tokens",
            gate=W_1 * v_q + b_1,
        ),
        Mutant("residual connection", why="h' is added once more", skip=b_2 + h),
        Mutant(
            "centred before the network",
            why="layer normalisation, scale left out, takes the mean off",
            inner=W_1 * (h - OneMatrix(d_o, d_o) * h / d_o) + b_1,
        ),
        Mutant("no η in the loss", why="the step is η times too long", loss=LOSS * eta),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def one_step_for_every_pattern(claim: Claim) -> Outcome:
    """Prove both sides equal for all sizes with I_M a symbol."""
    return transformer.prove(claim)


@check(CLAIM, grade="symbolic", scope="every pattern of d_h ≤ 3 units, d_o ≤ 2")
def patterns_entry_by_entry(claim: Claim) -> Outcome:
    """Write out every pattern of active units at small sizes."""
    return transformer.prove_patterns(claim)


@check(CLAIM, grade="property", scope="rational layers, N ≤ 4, d_h ≤ 3")
def layers_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Compare the trained dual model with the literal ReLU network."""
    return transformer.hunt(claim, search)


@evidence
def random_networks(profile: Profile, seed: int) -> Layers:
    """Random layers with random feed-forward networks, in float64."""
    from theorems.ren2024.duals import transformer_floats

    return transformer_floats.random_networks(profile.instances // 4, seed)


@check(CLAIM, grade="numeric", scope="random layers, d_h ≤ 16, float64, autograd")
def trained_by_autograd(claim: Claim, random_networks: Layers) -> Outcome:
    """Let autograd differentiate the loss of Eq. (21)."""
    from theorems.ren2024.duals import transformer_floats

    return transformer_floats.by_autograd(claim, random_networks)
