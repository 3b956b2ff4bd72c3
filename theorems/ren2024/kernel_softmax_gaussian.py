"""The softmax kernel and the Gaussian kernel (Section 3.1).

Ren and Liu (NeurIPS 2024), between Eqs. (6) and (7):

    K_sm(x, y) = e^{xᵀy} = e^{(‖x‖² + ‖y‖²)/2} K_gauss(x, y),  K_gauss = e^{-‖x-y‖²/2}.

Deviations from the text: none. Logarithms of both sides are compared.
"""

from __future__ import annotations

import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.features.formulas import (
    GAUSS,
    SOFTMAX,
    agree,
    drawn_pairs,
    square,
    x,
    y,
)
from verify import Claim, Mutant, Outcome, Wording, check
from verify.search import Search
from verify.symbolic import Identity

SAYS = "the softmax kernel and the scaled Gaussian kernel differ"

CLAIM = Claim(
    id="ren2024/kernel/softmax-gaussian",
    title="softmax kernel from the Gaussian kernel",
    says=(
        "The softmax kernel is the Gaussian kernel of variance 1 times "
        "e^{(‖x‖²+‖y‖²)/2}."
    ),
    latex=(
        r"e^{x^\top y} = e^{(\|x\|^2 + \|y\|^2)/2} K_{gauss}(x, y), \quad "
        r"K_{gauss}(x, y) = e^{-\|x - y\|^2/2}"
    ),
    quantifiers="for all d_o ≥ 1, all x, y in R^{d_o}",
    source=PAPER.at("Equation (7)", "Section 3.1, before the equation"),
    wording=Wording.PRINTED,
    parameters={
        "factor": (square(x) + square(y)) / 2,
        "gauss": GAUSS,
        "kernel": SOFTMAX,
    },
    mutants=(
        Mutant("no ½ in the factor", why="at x = y", factor=square(x) + square(y)),
        Mutant("no factor", why="K_gauss(x, x) = 1", factor=sp.S.Zero),
        Mutant("factor of x alone", why="K_sm is symmetric", factor=square(x) / 2),
        Mutant("variance 2", why="½xᵀy would be left", gauss=GAUSS / 2),
        Mutant("variance ½", why="2xᵀy would be left", gauss=2 * GAUSS),
        Mutant("‖x+y‖ for ‖x-y‖", why="e^{-xᵀy}", gauss=-square(x + y) / 2),
        Mutant("e^{xᵀy/2}", why="half the exponent", kernel=SOFTMAX / 2),
    ),
)


@check(CLAIM, grade="symbolic", scope="all")
def exponents_agree(claim: Claim) -> Outcome:
    """Expand ‖x - y‖² for columns of any size."""
    return agree(claim.kernel, claim.factor + claim.gauss, SAYS)


@check(CLAIM, grade="property", scope="rational tokens, d ≤ 4")
def exponents_agree_exactly(claim: Claim, search: Search) -> Outcome:
    """Compare exponents of drawn tokens in fractions."""
    identity = Identity(claim.kernel, claim.factor + claim.gauss, SAYS)
    return identity.search(
        search, drawn_pairs(), searched="entries in [-2, 2]", scale=0.5
    )
