"""What the claims about the rates of stage 2 are written in, and the data meant."""

from dataclasses import dataclass

import sympy as sp

from verify import Assumption

N = sp.Symbol("N", positive=True)  # number of distinct samples
L = sp.Symbol("L_max", positive=True)  # length of the longest one, at least 2
V = sp.Symbol("V", positive=True)  # |V|, size of the vocabulary, at least 2
S = sp.Symbol("S", positive=True)  # norm of W*_kq, at least 1/sqrt2
Delta = sp.Symbol("Delta", positive=True)  # margin of the feed-forward layer
eta = sp.Symbol("eta", positive=True)  # step size of stage 2
t = sp.Symbol("t", positive=True)  # step of stage 2
K = sp.Symbol("K", positive=True)  # log(1 / min_n pi^(n))
C_0T = sp.Symbol("C_0T", positive=True)  # C_0 T, with Delta = 4 ||W*_ov|| C_0 T
phi = sp.Symbol("phi", positive=True)  # min_n of the weight of optimal tokens
S_OV = sp.sqrt(V - 1)  # norm of W*_ov

PRINTED_CONSTANT = sp.Integer(53)
"""From 1696 = 53 * 32 in the proof of Theorem 2: the smaller of two readings."""

RATE = N * L**4 * S**4 * sp.log(t) ** 2 / (t * eta)
"""What stands behind the lost constant in Theorem 1."""

SPREAD = 2 * L * (L - 1) * (1 + (V - 1) * sp.exp(-Delta))
PRICE = K + Delta + sp.log(SPREAD)
"""How far weights of edges can lie apart that their scores do not explain."""

WITH_FREQUENCIES = S**2 / t * (1 + 2 * S / eta * PRICE)
"""A bound on 1 - cos(W, W*) that holds: see ``proof``."""

AFTER = 6 * S**4 * (1 + 2 * S / eta * PRICE)
"""Steps after which every optimal token has the weight claimed by Theorem 2."""

PRINTED_AFTER = 1696 * N * L**4 * S**6 * sp.log(t) ** 2 / eta
C_1 = eta / (4 * L * S**2)
MISSING = L * sp.exp(-t * C_1)

LARGE_T = C_0T - 424 * S_OV**3 * sp.log(V) * sp.log(8 * S_OV**2 * C_0T)
"""Not negative where T >= 1696 ||W*_ov||^5 log|V| log T / eta_0, with eta_0 = 1/2."""

LOSS_AFTER = 2 * S**2 * (2 * S / eta * (sp.log(16 * L**2) + L**2) + 1)
"""Steps after which the loss is at most log(1 + (|V| - 1) e^(-C_0 T))."""


@dataclass(frozen=True)
class Data:
    """Which training data a claim is about.

    Attributes:
        several: Whether a sentence may have several optimal token types, which needs
            a next-token map that is not injective.
        says: In words.
    """

    several: bool
    says: str

    def __str__(self) -> str:
        return self.says


INJECTIVE = Data(False, "n injective")
ONE_TYPE = Data(False, "one optimal token type per sentence")
ANY_MAP = Data(True, "any map n")

REALIZABLE = Assumption(
    "realizable", "Assumption 1, with W*_kq ≠ 0 (some sample has a constraint)"
)
ORTHONORMAL = Assumption("orthonormal", "Assumption 2")
COUNTS = Assumption("counts", "Assumption 3")
GROUPED = Assumption(
    "counts", "Assumption 3, counting other tokens with equal next token together"
)
ONE = Assumption("one-type", "each sentence has one type of optimal token")
ZERO_START = Assumption("zero-start", "W_kq^(0) = 0")
NORMALISED = Assumption("normalised", "steps are gradients divided by their norm")
LONG_STAGE_1 = Assumption("long-stage-1", "2 ≤ T, T ≥ 1696 ‖W*_ov‖^5 log|V| log T/η_0")
SMALL_STEP = Assumption("small-step", "η ≤ ‖W*_kq‖/e, used in the proof of Theorem 1")

AS_PRINTED = (REALIZABLE, ORTHONORMAL, COUNTS, ZERO_START, NORMALISED, SMALL_STEP)
AS_PROVED = (REALIZABLE, ORTHONORMAL, GROUPED, ONE, ZERO_START, NORMALISED)
