"""Remark 2.1 (ii) for softmax attention: the narrowest window is best for little noise.

Collins et al. (NeurIPS 2024), Remark 2.1: labels constant on Voronoi cells. Softmax
attention with M = w I attends to the nearest token only as w -> infinity, with the loss
s^2. Two tokens in d = 3 have independent x_i.x, uniform on [-1, 1], so that their gap g
has the density 1 - g/2 on [0, 2], and the farther token has the weight 1/(1 + e^{wg}).
With labels of variance t^2, independent between cells,

    w (L(w) - s^2)  ->  2 t^2 (ln 2 - 1/2) - s^2  =  (2 ln 2 - 1) t^2 - s^2:

for s^2/t^2 above 2 ln 2 - 1 = 0.386... some finite window is better than the nearest
token, below it all sufficiently narrow ones are worse.

Deviations from the text:
    1. A statement of ours: the text does not speak of windows here.
Not decided here: n > 2, where the two nearest tokens give the same integral; whether
some wide window is better still below the threshold.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import Equal, all_of
from verify import (
    Cause,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Undecided,
    Wording,
    check,
)
from verify.numerics import table
from verify.search import Search
from verify.symbolic import formula

CLAIM = Claim(
    id="collins2024/remark-2.1/rapid/window",
    kind=Kind.PROOF_STEP,
    title="windows for Voronoi labels",
    says=(
        "With two tokens in d = 3 and independent labels of variance τ², narrow "
        "windows beat the nearest token exactly when σ²/τ² exceeds 2 ln 2 - 1."
    ),
    latex=(
        r"\lim_{w \to \infty} w\,(\mathcal{L}(w) - \sigma^2) = "
        r"(2 \ln 2 - 1)\,\tau^2 - \sigma^2"
    ),
    quantifiers="for n = 2, d = 3, all σ, τ > 0",
    source=PAPER.at("Remark 2.1", "(ii)"),
    wording=Wording.OURS,
    parameters={"threshold": 2 * sp.log(2) - 1},
    mutants=(
        Mutant("0", why="little noise is not worth averaging", threshold=sp.S.Zero),
        Mutant("ln 2", why="the bias counts twice, less a half", threshold=sp.log(2)),
        Mutant("1/2", why="2 ln 2 - 1 is less", threshold=sp.S.Half),
        Mutant("1/4", why="2 ln 2 - 1 is more", threshold=sp.S.One / 4),
    ),
)

r = sp.Symbol("r", nonnegative=True)  # w g
share = 1 / (1 + sp.exp(r))  # weight of the farther token


def integral(says: str, function: sp.Expr, primitive: sp.Expr) -> sp.Expr:
    """Integrate over r > 0 by a primitive that is checked and tends to 0."""
    difference = sp.simplify(sp.diff(primitive, r) - function)
    if difference != 0 or sp.limit(primitive, r, sp.oo) != 0:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return -primitive.subs(r, 0)


@check(CLAIM, grade="symbolic", scope="all")
def integrals_over_the_gap(claim: Claim) -> Outcome:
    """Integrate the change of the loss over r = wg; 1 - r/(2w) -> 1 dominated.

    The loss is τ² ((1 - γ)² + q²) + σ² (γ² + q²) with γ = 1 - q: over σ² it changes by
    2 τ² q² - 2 σ² q (1 - q), which decays like e^{-r}.
    """
    q = sp.Symbol("q")
    tau, noise = sp.symbols("tau noise")
    literal = tau * (q**2 + q**2) + noise * ((1 - q) ** 2 + q**2)
    change = 2 * tau * q**2 - 2 * noise * q * (1 - q)
    whole = integral("∫ q", share, -sp.log(1 + sp.exp(-r)))
    mixed = integral("∫ q (1 - q)", share * (1 - share), -share)
    ratio = (2 * (whole - mixed)) / (2 * mixed)  # τ² and σ² terms
    derived = sp.expand(ratio)
    if claim.threshold != derived:
        says = "the threshold claimed is not the ratio of the integrals"
        witness = formula(claim.threshold, "!=", derived, {}, says)
        return Refuted(says, witness=witness)
    return all_of(
        Equal("change of the loss", literal - noise, change),
        steps=[f"∫ q = {whole}, ∫ q (1 - q) = {mixed}, ∫ q² is their difference"],
    )


NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
NARROW = 400.0


def excess(ratio: float, w: float = NARROW) -> float:
    """Return w (L(w) - σ²) for τ = 1 and σ² the ratio, by Gauss-Legendre in r < 40.

    Beyond r = 40 the integrand is below e^{-40}.
    """
    x = 20 * (NODES + 1)
    q = 1 / (1 + np.exp(x))
    change = 2 * q**2 - 2 * ratio * q * (1 - q)
    return float(20 * np.sum(WEIGHTS * (1 - x / (2 * w)) * change))


# |w (L - s^2) - limit| <= (1/2w) ∫ r (2 q^2 + 2 ratio q (1 - q)) <= (1/2w) ∫ 4 r e^{-r}
# for ratios up to 1, as q (1 - q) and q^2 are below e^{-r}.
REMAINDER = 2 / NARROW


@check(CLAIM, grade="property", scope="w = 400, σ²/τ² in [0, 1]")
def narrow_windows_compared(claim: Claim, search: Search) -> Outcome:
    """Look at the sign of L(w) - σ² on either side of the threshold."""
    threshold = float(claim.threshold)

    def violated(ratio: Fraction) -> bool:
        value = excess(float(ratio))
        below = float(ratio) < threshold
        return value < -REMAINDER if below else value > REMAINDER

    def witness(ratio: Fraction) -> dict[str, Any]:
        value = excess(float(ratio))
        return table(
            {
                "excess": [value],
                "ratio": [float(ratio)],
                "threshold": [threshold],
                "remainder": [REMAINDER],
            },
            relation=[
                "<",
                [
                    "mul",
                    ["in", "excess"],
                    ["sub", ["in", "threshold"], ["in", "ratio"]],
                ],
                0,
            ],
            aggregate="all",
            says="w (L(w) - σ²) has the sign opposite to the one claimed",
        )

    pinned = [Fraction(k, 20) for k in (1, 6, 9, 13)]
    return search.for_all(
        st.fractions(Fraction(0), Fraction(1), max_denominator=100),
        violated,
        witness,
        searched="σ²/τ² in [0, 1]",
        pinned=pinned,
        scale=0.2,
    )
