"""Section 3.1: a uniform average over the cap |x_i - x| < 1/sqrt(w), that is u < h.

Here w is w_KQ and h = 1/(2w). Sums over tokens are replaced by their expectation, as
the text does: squared bias (L^2/d) mu^2 for tasks L omega.x, noise sigma^2/(n F),

    F = P(u < h) = c_d int_0^h f,  f = (u (2 - u))^(m-1),    mu = E[u | u < h].
"""

import functools

import sympy as sp

from theorems.collins2024.bias.constants import HALF
from theorems.collins2024.bias.terms import Known, Term
from theorems.collins2024.bounds.notation import DENSITY, d, m, w
from theorems.collins2024.bounds.steps import equal, need

u, h, v = sp.symbols("u h v", positive=True)
M = sp.Symbol("M", positive=True)

SPAN = 2 ** sp.Abs(m - 1)  # (2 - u)^(m-1) varies by this factor at most on [0, 1]
LEAST, MOST = sp.Min(1, 2 ** (m - 1)), sp.Max(1, 2 ** (m - 1))

BIAS_LOW = (m / (m + 1) / SPAN / 2) ** 2 / d
BIAS_HIGH = sp.Rational(1, 4) / d
NOISE_LOW = m * 2**m / (DENSITY * MOST)
NOISE_HIGH = m * 2**m / (DENSITY * LEAST)


def quantity(name: str) -> Known | None:
    """What is proved about the cap, for w >= 1/2; None for other quantities."""
    match name:
        case "cap, bias":
            lower, upper = (
                (Term(factor, sp.Integer(-2)),) for factor in (BIAS_LOW, BIAS_HIGH)
            )
        case "cap, noise":
            lower, upper = (
                (Term(factor, m, sp.Integer(-1)),) for factor in (NOISE_LOW, NOISE_HIGH)
            )
        case _:
            return None
    return Known(name, lower, upper, centre, edge=m)


@functools.cache
def centre() -> tuple[str, ...]:
    """The centre of mass of a cap, in closed form, and both orders."""
    f = (u * (2 - u)) ** (M - 1)
    whole = sp.diff((u * (2 - u)) ** M, u)
    power = sp.integrate(u ** (M - 1), (u, 0, h))
    first = sp.integrate(u**M, (u, 0, h))
    return (
        equal(
            "derivative of (u(2 - u))^m over (u(2 - u))^{m-1}",
            sp.simplify(whole / f),
            2 * M * (1 - u),
        ),
        "centre of mass: 1 - μ = c_d (h(2 - h))^m/(2mF), in closed form",
        "for u ≤ h ≤ 1 the factor (2 - u)^{m-1} lies between min and max(1, 2^{m-1})",
        equal("∫u^{m-1}", power, h**M / M),
        equal("∫u^m over ∫u^{m-1}", first / power, h * M / (M + 1)),
        "F = c_d h^m/m times a factor in that range; h m/((m + 1)SPAN) ≤ μ ≤ h",
        equal("h", (1 / (2 * w)) ** 2, 1 / (4 * w**2)),
        need("BIAS_HIGH", sp.simplify(BIAS_HIGH * d - HALF**2) == 0),
    )


def loss(dimension: int, scale: float, ratio: float) -> float:
    """Loss over L^2 at Lambda = ``ratio``."""
    bias, noise = exact(dimension, scale)
    return bias + noise / ratio


@functools.lru_cache(maxsize=4096)
def exact(dimension: int, scale: float) -> tuple[float, float]:
    """``mu^2/d`` and ``1/F`` by the incomplete beta function.

    u/2 is Beta(m, m): F = I_{h/2}(m, m), and 1 - mu by the closed form of ``centre``;
    mu itself is h-sized, so it is taken from I_{h/2}(m + 1, m) without cancellation.
    """
    from scipy import special

    size, half = (dimension - 1) / 2, 1 / (4 * scale)
    mass = special.betainc(size, size, half)
    mean = special.betainc(size + 1, size, half) / mass  # times E u = 1
    return float(mean) ** 2 / dimension, 1 / float(mass)


def constants() -> tuple[sp.Expr, sp.Expr]:
    """c_3 and c_4: c_3 <= w* Lambda^(-1/(m+2)) <= c_4.

    The loss at w = Lambda^(1/(m+2)) is at most (BIAS_HIGH + NOISE_HIGH) times
    Lambda^(-2/(m+2)); where bias or noise alone exceeds that, w is no minimiser.
    """
    most = BIAS_HIGH + NOISE_HIGH
    return sp.sqrt(BIAS_LOW / most), (most / NOISE_LOW) ** (1 / m)


@functools.cache
def balance() -> tuple[str, ...]:
    """Steps to ``constants``."""
    e = 1 / (m + 2)
    return (
        *centre(),
        equal("noise at Λ^e: me - 1", m * e - 1, -2 * e),
        "BIAS_LOW w*^-2 ≤ (BIAS_HIGH + NOISE_HIGH)Λ^{-2e}: w* ≥ c_3 Λ^e",
        "NOISE_LOW w*^m/Λ ≤ (BIAS_HIGH + NOISE_HIGH)Λ^{-2e}: w* ≤ c_4 Λ^e",
        equal("e", e, 2 / (d + 3)),
    )
