"""Theorem 3.5 in powers of Lambda = n L^2 / sigma^2; beta = 1/(d + 2).

In ``terms`` the power of w is then that of Lambda. The bounds that hold need the
conclusion of Theorem 3.4, c_1 Lambda^beta <= w <= c_2 Lambda^(2 beta), and a scale in
the range of Corollary G.5. What refutes uses L = sigma = 1 and n = Lambda, where the
minimiser of the loss on ReLU tasks is located without Theorem 3.4:

    L(w) at w = Lambda^(2 beta) is at most U Lambda^(-3 beta); w* where the bias or the
    noise alone is larger is excluded: c_3 Lambda^(2 beta) <= w* <= c_4 Lambda^(2 beta).
"""

from __future__ import annotations

import functools
import math

import sympy as sp

from theorems.collins2024.bias import constants as of
from theorems.collins2024.bias import proof
from theorems.collins2024.bias.terms import Known, Term, total
from theorems.collins2024.bias.terms import quantity as known
from theorems.collins2024.bounds.notation import d, m
from theorems.collins2024.bounds.steps import equal

c_1, c_2 = sp.symbols("c_1 c_2", positive=True)
beta = 1 / (d + 2)
STEEP = 2  # L' = 2L, and L' = L/2

ANY, STEEPER, FLATTER = "new L-Lipschitz task", "steeper task", "flatter task"


def quantity(name: str) -> Known:
    """What is proved about the loss on a new task.

    Raises:
        ValueError: Nothing is proved about it.
    """
    fall = -3 * beta
    noise = of.V_HIGH * c_2**m
    kink = Term(of.KINK_LOW / 6 * c_2 ** -sp.Rational(3, 2), fall)
    words = {"edge": sp.S.Zero, "path": "L = σ = 1, Λ = n = t^{b}", "start": start}
    match name:
        case "new L-Lipschitz task":  # loss / L^2
            high = Term(known("any L-Lipschitz task").upper[0].factor / c_1, -beta)
            c_4 = located()[2]
            low = Term(of.KINK_LOW / 6 * c_4 ** -sp.Rational(3, 2), fall)
            return Known(name, (low,), (high, Term(noise, fall)), upper, **words)
        case "steeper task":  # loss / L'^2
            return Known(name, (kink,), _at_minimiser(STEEP), lower, **words)
        case "flatter task":  # loss n / sigma^2
            low = Term(of.V_LOW * c_1**m, m * beta)
            high = tuple(
                Term(term.factor / STEEP**2, term.power + 1)
                for term in _at_minimiser(sp.Rational(1, STEEP))
            )
            return Known(name, (low,), high, lower, **words)
    raise ValueError(f"nothing is proved about {name!r}")


def located() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """U, c_3 and c_4."""
    most = total(known("relu").upper) + of.V_HIGH
    return (
        most,
        (of.KINK_LOW / 6 / most) ** sp.Rational(2, 3),
        (most / of.V_LOW) ** (1 / m),
    )


def _at_minimiser(steepness: sp.Expr) -> tuple[Term, ...]:
    """Loss over L'^2 at w*, L' = steepness, from above."""
    _, c_3, c_4 = located()
    bias, spread = known("relu").upper
    # w^(m-1)/n falls or grows with w; both ends of the window bound it
    ends = c_3 ** (m - 1) + c_4 ** (m - 1)
    return (
        Term(bias.factor * c_3 ** -sp.Rational(3, 2), -3 * beta),
        Term(spread.factor * ends, 2 * beta * (m - 1) - 1),
        Term(of.V_HIGH * c_4**m / steepness**2, 2 * beta * m - 1),
    )


def start(dimension: int, _a: int, b: int) -> int:
    """A power of ten from which t^b = Lambda excludes all scales outside the range.

    Small scales: signal at least (NEAR/(d + sqrt d))^2/(6d), which is constant. Large
    ones: noise at least that at the edge, V_LOW w^m/n with w = 2(n/(45 sqrt d log n))
    ^(2/d), by Lemma D.2; it falls like n^(-1/d) up to logarithms, U n^(-3 beta) faster.
    """
    most, c_3, c_4 = (math.log(float(x.subs(d, dimension))) for x in located())
    low = math.log(float(of.V_LOW.subs(d, dimension)))
    near = float(of.NEAR.subs(d, dimension)) / (dimension + math.sqrt(dimension))
    half, decay = (dimension - 1) / 2, 3 / (dimension + 2)
    begin = 10
    while True:
        size = b * math.log(begin)  # log n
        logs = math.log(45 * math.sqrt(dimension) * size)
        edge = math.log(2) + 2 / dimension * (size - logs)
        best = most - decay * size
        wide = 2 * math.log(near) - math.log(6 * dimension) > best
        noisy = low + half * edge - size > best
        inside = 2 * size / (dimension + 2) + max(0.0, c_4) < edge
        large = 2 * size / (dimension + 2) + min(0.0, c_3) > math.log(
            2 * (dimension + math.sqrt(dimension))
        )
        # from log n = 3d on, n^x/log n with x >= 1/(3d) grows
        if wide and noisy and inside and large and size > 3 * dimension:
            return begin
        begin *= 10


@functools.cache
def exponents() -> tuple[str, ...]:
    """Powers of Lambda at both ends of the window."""
    bias = -sp.Rational(3, 2) * 2 * beta
    return (
        equal("noise at Λ^{2β}: 2βm - 1", 2 * beta * m - 1, -3 * beta),
        equal("ReLU bias at Λ^{2β}", bias, -3 * beta),
        equal("noise at Λ^β, over σ²/n", beta * m, (d - 1) / (2 * (d + 2))),
        equal("spread at Λ^{2β}", 2 * beta * (m - 1) - 1, -5 * beta),
    )


@functools.cache
def upper() -> tuple[str, ...]:
    """Any L-Lipschitz task: bias at most (2d + 4 FEW_W)L²/w, noise as in Lemma D.1."""
    return (
        *proof.lipschitz(),
        *lower(),
        "w ≥ c_1Λ^β in the bias, w ≤ c_2Λ^{2β} in the noise σ² V_HIGH w^m/n; "
        "σ²/n = L²/Λ",
    )


@functools.cache
def lower() -> tuple[str, ...]:
    """New ReLU tasks, and where w* lies when L = sigma = 1, n = Lambda."""
    return (
        *proof.relu(),
        *proof.noise(),
        *exponents(),
        "from below: signal ≥ (KINK_LOW/6) L'² w^{-3/2} with w ≤ c_2Λ^{2β}; noise ≥ "
        "V_LOW σ² w^m/n with w ≥ c_1Λ^β",
        "L = σ = 1, n = Λ: L(Λ^{2β}) ≤ UΛ^{-3β}, as spread Λ^{-5β} ≤ Λ^{-3β}",
        "a scale below d + √d has signal ≥ (NEAR/(d + √d))²/(6d), as ū falls with w",
        "beyond the range noise is at least that at its edge (Lemma D.2), about "
        "n^{-1/d}, more than UΛ^{-3β} for large Λ, as 1/d < 3β",
        "in between: (KINK_LOW/6) w*^{-3/2} ≤ UΛ^{-3β} and V_LOW w*^m ≤ nUΛ^{-3β}",
    )
