"""Symbols and hypotheses of the generalisation bounds.

N, K        demonstrations; negative samples of each, r = K/N
w, ρ, δ     radius of the class, bound on ‖W_V x‖ and ‖Wφ(W_K x)‖, risk
trace       Tr K_S
R           the Rademacher average R_S(F̃), a sum over S as in Eq. (28)
S2, M2      E ‖W_V x‖² K(x, x) and ‖M‖²
"""

from __future__ import annotations

import sympy as sp

from verify import Assumption

N, K, d_o = sp.symbols("N K d_o", positive=True, integer=True)
w, rho, delta, trace, R = sp.symbols("w rho delta trace R", positive=True)
power = sp.Symbol("power", positive=True)  # of d_o: the text leaves 1/2 or 1 open
S2, M2, tau2, kappa2 = sp.symbols("S2 M2 tau2 kappa2", positive=True)

BOUNDED = Assumption(
    "bounded", "‖W_V x‖ ≤ ρ and ‖Wφ(W_K x)‖ ≤ ρ for all tokens x and all ‖W‖ ≤ w"
)
IID = Assumption("iid", "the demonstrations are drawn independently from D_T")
NEGATIVES_IID = Assumption(
    "iid",
    "the demonstrations, each with its K negative samples, are drawn independently",
)
SMALL_RISK = Assumption("small-risk", "0 < δ ≤ 1/2")


def root_log(times: int, risk: sp.Expr = delta) -> sp.Expr:
    """The deviation √(log(times/δ)/(2N)) of Hoeffding's and McDiarmid's bounds."""
    return sp.sqrt(sp.log(times / risk) / (2 * N))


RANGE = 2 * rho**2  # of g(x) = -(W_V x)ᵀ W φ(W_K x), which lies in [-ρ², ρ²]
COMPLEXITY = 2 * w * rho * sp.sqrt(trace) / N
DEVIATION = RANGE * (3 * root_log(4) + root_log(2))
SHARP_MEAN = RANGE / sp.sqrt(N)
SHARP_DEVIATION = 2 * RANGE * root_log(1)
ORDER = rho**2 * sp.sqrt(sp.log(1 / delta) / N)  # of a repaired O(.)
