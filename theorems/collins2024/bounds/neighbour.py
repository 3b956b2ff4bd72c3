"""The nearest token: a floor under the bias that no scale removes.

For d >= 3, n >= 2 and every w >= n^{1/m}:  E_1 >= FLOOR n^{-1/m}.
"""

import functools

import sympy as sp

from theorems.collins2024.bounds.notation import DENSITY, m, n, w
from theorems.collins2024.bounds.steps import equal, need, positive

CROWD = 2 * DENSITY * 4 ** (m - 1) * (1 + sp.gamma(m))
"""Of (n - 1) E[e^{-w(u' - u)} | u' > u], u <= n^{-1/m}."""

REACH = DENSITY * 2 ** (m - 1) / m
"""Of n P(u' <= n^{-1/m})."""

FLOOR = DENSITY * (1 - 2**-m) / (2 * m) * 4**-REACH / (1 + CROWD) ** 2

y, M = sp.symbols("y M", positive=True)


@functools.cache
def floor() -> tuple[str, ...]:
    """Steps to E_1 >= FLOOR n^{-1/m}."""
    U = n ** (-1 / M)
    at = [n * U ** (M - 1) / w, n / w**M]
    chord = sp.log(1 - y) + 2 * sp.log(2) * y
    return (
        "E_1 ≥ E γ² G(u) at the token with the least u; given u, the other u' are "
        "independent, of the law of u' > u: E γ² ≥ (1 + (n-1) E e^{-w(u'-u)})^-2 "
        "(Jensen), which falls with w no further than at w = n^{1/m}",
        "f(u) ≤ c_d 2^{m-1} u^{m-1}, (u + δ)^{m-1} ≤ 2^{m-1}(u^{m-1} + δ^{m-1}): "
        "∫ e^{-wδ} f(u + δ) dδ ≤ c_d 4^{m-1}(u^{m-1}/w + Γ(m)/w^m)",
        *(equal("n times it at u = n^{-1/m}, w = n^{1/m}",
                sp.powsimp(part.subs(w, 1 / U), force=True), sp.S.One) for part in at),
        "P(u' > u) ≥ P(u' > 1) = 1/2: (n-1) E e^{-w(u'-u)} ≤ CROWD",
        positive("G = u(2 - u), 2 - u ≥ 1: u = 1/(1 + y)", 1 - 1 / (1 + y), {y: 0}),
        "f(u) ≥ c_d u^{m-1} for u ≤ 1: with U = n^{-1/m} "
        "n P(U/2 ≤ u' ≤ U) ≥ c_d (1 - 2^-m)/m",
        need("log(1-y) ≥ -2 log 2 y on [0, 1/2]: concave, 0 at both ends",
             chord.subs(y, 0) == 0
             and sp.simplify(chord.subs(y, sp.S.Half)) == 0
             and sp.simplify(sp.diff(chord, y, 2) + (1 - y) ** -2) == 0),
        "n P(u' ≤ U) ≤ REACH and P(u' ≤ U) ≤ 1/2: P(no u' ≤ U among n - 1) ≥ 4^-REACH",
        "P(U/2 ≤ u_(1) ≤ U) ≥ n P(U/2 ≤ u' ≤ U) (1 - P(u' ≤ U))^{n-1}",
        "E_1 ≥ (1 + CROWD)^-2 (U/2) P(U/2 ≤ u_(1) ≤ U) ≥ FLOOR U",
    )  # fmt: skip
