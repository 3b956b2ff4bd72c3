"""Theorem B.2: L attention layers are L gradient steps on a sequence of dual models.

Ren and Liu (NeurIPS 2024), Theorem B.2. Under a prefix mask (demonstrations attend to
demonstrations, the query to all tokens, itself included) the dual model of layer l,

    L = -1/(ηD) Σ_{i≤N} (W_V h_i)ᵀ W φ(W_K h_i),  W_0 = (W_V h_{N+1}) φ(W_K h_{N+1})ᵀ/D,

with h the outputs of layer l - 1, predicts the query's output after one step, and the
outputs of the demonstrations are

    h_i = D/D_i [f̂(W_Q h_i) - f_init(W_Q h_i)], D_i = 1ᵀφ(W_K H_D)ᵀφ(W_Q h_i). Eq. (25)

Deviations from the text:
    1. The displays are lost. The text writes the labels once as W_V h_i^(l); the layer
       averages W_V h_i^(l-1).
    2. A single layer cannot tell masks apart by its query alone: all tokens of the last
       of two or three layers are compared.
    3. For exact arithmetic through several layers the kernel 1 + x·y + (x·y)² stands in
       for the softmax kernel; the proof uses no property of φ but D, D_i ≠ 0.
"""

from __future__ import annotations

from sympy import Identity, Integer, Trace, ZeroMatrix

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import stack
from theorems.ren2024.duals.notation import (
    KERNEL,
    ONE_PLAIN_STEP,
    PER_QUERY,
    SIMILARITY,
)
from theorems.ren2024.duals.stack import W0, C, D_i, What, r
from theorems.ren2024.model import (
    V_D,
    D,
    N,
    Phi_D,
    W,
    d_o,
    d_r,
    eta,
    kernel_sum,
    phi_k,
    v_q,
)
from verify import Assumption, Claim, Mutant, Outcome, Wording, check
from verify.search import Search

CLAIM = Claim(
    id="ren2024/theorem-b.2",
    title="L attention layers are L gradient steps",
    says=(
        "With a prefix mask, the output of L attention layers equals that of a "
        "sequence of dual models, each trained by one step of gradient descent on "
        "what the one before gives."
    ),
    latex=(
        r"h_{N+1}^{(l)} = \widehat{W}^{(l)} \phi(W_Q^{(l)} h_{N+1}^{(l-1)}), \quad "
        r"h_i^{(l)} = \frac{D^{(l)}}{D_i^{(l)}} \bigl[\hat f^{(l)} - f_{init}^{(l)}"
        r"\bigr](W_Q^{(l)} h_i^{(l-1)})"
    ),
    quantifiers=(
        "for all L, N, d, d_r ≥ 1, all weights and tokens, all η > 0, all feature maps "
        "φ with D, D_i ≠ 0"
    ),
    source=PAPER.at("Theorem B.2", "Eqs. (24)-(25)"),
    wording=Wording.DERIVED,
    assumes=(
        KERNEL,
        ONE_PLAIN_STEP,
        PER_QUERY,
        Assumption("prefix-mask", "demonstrations attend to demonstrations only"),
    ),
    parameters={
        "loss": SIMILARITY,
        "init": v_q * phi_k.T / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(phi_k),
        "demo": D / D_i * (What - W0) * r,
        "demo_normaliser": kernel_sum(Phi_D, r),
        "mask": Identity(N),
        "sees_query": Integer(0),
        "steps": Integer(1),
        "step_length": Integer(1),
    },
    mutants=(
        Mutant(
            "no D/D_i",
            why="a demonstration has a normaliser of its own",
            demo=(What - W0) * r,
        ),
        Mutant(
            "f_init not subtracted",
            why="demonstrations do not attend to the query",
            demo=D / D_i * What * r,
        ),
        Mutant(
            "D_i with the query's key",
            why="demonstrations do not attend to the query",
            demo_normaliser=kernel_sum(Phi_D, r) + kernel_sum(phi_k, r),
        ),
        Mutant("full mask", why="Eq. (25) leaves the query out", sees_query=Integer(1)),
        Mutant("causal mask", why="Eq. (25) has all demonstrations", mask=C),
        Mutant("W_0 = 0", why="the query attends to itself", init=ZeroMatrix(d_o, d_r)),
        Mutant(
            "D without the query's own key",
            why="weights sum to more than one",
            normaliser=kernel_sum(Phi_D),
        ),
        Mutant(
            "no η in the loss",
            why="the step is η times too long",
            loss=-Trace(V_D.T * W * Phi_D) / D,
        ),
        Mutant(
            "opposite sign",
            why="demonstrations are subtracted",
            loss=Trace(V_D.T * W * Phi_D) / (eta * D),
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def layer_by_layer(claim: Claim) -> Outcome:
    """Prove one layer for all sizes and tokens; the rest is induction."""
    return stack.prove(claim)


@check(CLAIM, grade="property", scope="L = 2 and 3, N ≤ 3, d ≤ 2, in fractions")
def stacks_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Run the layers, and the dual models on each other's outputs."""
    return stack.hunt(claim, search)
