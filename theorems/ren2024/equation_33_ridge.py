"""Equation (33): the dual model fitted by ridge regression.

Ren and Liu (NeurIPS 2024), Appendix D.1. With the loss

    L = 1/2 ‖W φ(K_D) - V_D‖² + α/2 ‖W‖²

the optimal weights are W* = V_D [φ(K_D)ᵀφ(K_D) + αI]⁻¹ φ(K_D)ᵀ, and attention becomes

    H = W_V X [exp((W_K X)ᵀ W_K X) + αI]⁻¹ exp((W_K X)ᵀ W_Q X),                Eq. (33)

"where we neglect the normalization operation".

Deviations from the text:
    1. The displays are lost; a common factor of the loss is free. The ratio of its two
       parts is fixed by α standing alone beside the kernel matrix.
    2. One query column at a time; X are the tokens the dual model is fitted to.
Not decided here: cost and training.
"""

from __future__ import annotations

from sympy import Identity as Eye
from sympy import Trace

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import ridge
from theorems.ren2024.duals.notation import KERNEL, NORM, alpha
from theorems.ren2024.model import V_D, N, Phi_D, W, kernel_sum, p
from verify import Assumption, Claim, Mutant, Outcome, Wording, check
from verify.search import Search

MISFIT = W * Phi_D - V_D
FIT = Trace(MISFIT.T * MISFIT)
SOLVED = V_D * (Phi_D.T * Phi_D + alpha * Eye(N)) ** -1

CLAIM = Claim(
    id="ren2024/equation-33",
    title="attention of the ridge regression",
    says=(
        "The only minimum of the ridge loss is W*, and it predicts the values times "
        "the inverse of the kernel matrix plus αI times the kernels with the query."
    ),
    latex=(
        r"H = W_V X \left[\exp\bigl((W_K X)^\top W_K X\bigr) + \alpha I\right]^{-1} "
        r"\exp\bigl((W_K X)^\top W_Q X\bigr)"
    ),
    quantifiers="for all N, d_o, d_r ≥ 1, all values, features and queries, all α > 0",
    source=PAPER.at("Equation (33)", "Appendix D.1"),
    wording=Wording.DERIVED,
    assumes=(KERNEL, Assumption("convex", "α > 0")),
    parameters={
        "loss": FIT / 2 + alpha / 2 * NORM,
        "optimum": SOLVED * Phi_D.T,
        "layer": SOLVED * Phi_D.T * p,
    },
    mutants=(
        Mutant(
            "α ‖W‖²",
            why="then 2α stands in the inverse",
            loss=FIT / 2 + alpha * NORM,
        ),
        Mutant(
            "fit without 1/2",
            why="then α/2 stands in the inverse",
            loss=FIT + alpha / 2 * NORM,
        ),
        Mutant("no inverse", why="that is linear attention", layer=V_D * Phi_D.T * p),
        Mutant(
            "- αI",
            why="a regulariser adds to the kernel matrix",
            layer=V_D * (Phi_D.T * Phi_D - alpha * Eye(N)) ** -1 * Phi_D.T * p,
        ),
        Mutant(
            "normalised",
            why="normalisation is neglected",
            layer=SOLVED * Phi_D.T * p / kernel_sum(Phi_D),
        ),
        Mutant(
            "α of the optimum doubled",
            why="the slope there is α W*",
            optimum=V_D * (Phi_D.T * Phi_D + 2 * alpha * Eye(N)) ** -1 * Phi_D.T,
        ),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def square_is_completed(claim: Claim) -> Outcome:
    """Prove for all sizes that the slope vanishes at W* and the excess is squares."""
    return ridge.prove(claim)


@check(CLAIM, grade="property", scope="rational features, N ≤ 3, d_r ≤ 2")
def normal_equations_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Solve for W itself, in the space of features, and compare."""
    return ridge.hunt(claim, search, tokens=False)


@check(CLAIM, grade="property", scope="binary tokens, d ≤ 2, kernel 2^(x·y)")
def kernel_of_tokens_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Compare with the kernel matrix of the tokens themselves."""
    return ridge.hunt(claim, search, tokens=True)
