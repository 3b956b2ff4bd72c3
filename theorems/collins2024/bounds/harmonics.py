"""Every degree: how much of a harmonic survives the tilt, and what |z| is made of.

(D)  1 - d_k(w) = prod_{j<k} r_j,  r_j = E_w t in dimension d + 2j
     k(k+d-2)/(2w + k(k+d-2)) <= d_k(w) <= min(1, k(k+d-1)/(2w)),  rising in k
     d_k(w) <= 1 - exp(-k(k+d-1)/(2w))
(B)  E |omega.x| |omega.y| = sum_{k even} b_k P_k(x.y),  sum b_k = 1/d
     B_d (k + d/2 - 1)^-4 <= b_k <= B_d (k - 1)^-4,  k^4 b_k -> B_d
     sum_{k even} b_k D_k(t) <= u/d
"""

import functools

import sympy as sp

from theorems.collins2024.bounds import tilt
from theorems.collins2024.bounds.notation import DENSITY, PEAK, d, k, m, nu, w
from theorems.collins2024.bounds.steps import equal, need, positive

DROP_LOW = k * (k + d - 2) / (2 * w + k * (k + d - 2))
DROP_HIGH = k * (k + d - 1) / (2 * w)

t, M = sp.symbols("t M", positive=True)
j, p = sp.symbols("j p", positive=True)

# With k = 2p: the coefficient of |t| and the number of harmonics of a degree.
COEFFICIENT = (
    2
    * DENSITY
    * sp.gamma(m)
    * sp.gamma(2 * p - 1)
    / (2 ** (2 * p) * sp.gamma(p) * sp.gamma(p + m + 1))
)
"""|lambda_k|; its sign alternates."""

COUNT = (2 * k + d - 2) * sp.gamma(k + d - 2) / (sp.gamma(d - 1) * sp.gamma(k + 1))
RATIO = (
    ((k - 1) / (k + d + 1)) ** 2
    * (2 * k + d + 2) * (k + d - 1) * (k + d - 2)
    / ((2 * k + d - 2) * (k + 2) * (k + 1))
)  # fmt: skip
"""b_{k+2}/b_k."""

DEGREES = (1, 2, 3, 4)  # for which Rodrigues' formula is written out


def gegenbauer(degree: int) -> sp.Expr:
    """P_k by Rodrigues' formula, with M for m."""
    found = sp.S.One
    for i in reversed(range(degree)):  # d/dt of (1 - t²)^{M+i} times a polynomial
        slope = sp.diff(found, t) * (1 - t**2) - 2 * (M + i) * t * found
        found = sp.cancel(-slope / (2 * (M + i)))
    return found


@functools.cache
def product() -> tuple[str, ...]:
    """(D) as a product."""
    found = [gegenbauer(degree) for degree in DEGREES]
    ones = [
        equal(f"P_{degree}(1)", poly.subs(t, 1), sp.S.One)
        for degree, poly in zip(DEGREES, found, strict=True)
    ]
    return (
        *tilt.riccati(),
        *ones,
        equal("P_2", found[1], ((2 * M + 1) * t**2 - 1) / (2 * M)),
        "Rodrigues: P_k (1 - t²)^{m-1} = (-d/dt)^k (1 - t²)^{k+m-1}/(2^k m(m+1)...)",
        "k integrations by parts: E_w P_k = w^k J_{m+k}/(2^k m...(m+k-1) J_m), "
        "J_m = ∫ (1 - t²)^{m-1} e^{wt} dt",
        "(I) in dimension d + 2j: r_j = w J_{m+j+1}/(2(m+j) J_{m+j}); their product",
    )


@functools.cache
def drops() -> tuple[str, ...]:
    """(D): the bounds."""
    low = sp.summation(m + j, (j, 0, k - 1))
    high = sp.summation(m + j + sp.S.Half, (j, 0, k - 1))
    return (
        *product(),
        *tilt.distance(),
        "0 < r_j < 1: d_k rises with k and is at most 1",
        "tilt, in dimension d + 2j: r_j ≤ w/(w + m + j), 1 - r_j ≤ (m + j + 1/2)/w",
        equal("Σ_{j<k} (m + j)", low, k * (k + d - 2) / 2),
        equal("Σ_{j<k} (m + j + 1/2)", high, k * (k + d - 1) / 2),
        "Π(1 + x_j) ≥ 1 + Σ x_j: d_k ≥ 1 - 1/(1 + k(k+d-2)/(2w))",
        equal("that bound", 1 - 1 / (1 + k * (k + d - 2) / (2 * w)), DROP_LOW),
        "1 - Π r_j ≤ Σ (1 - r_j) ≤ k(k+d-1)/(2w)",
        "r_j ≥ √(1 + y²) - y = exp(-asinh y) ≥ e^{-y}, y = (m + j + 1/2)/w",
    )


@functools.cache
def weights() -> tuple[str, ...]:
    """(B)."""
    after = COEFFICIENT.subs(p, p + 1) / COEFFICIENT
    step = ((k - 1) / (k + d + 1)).subs(k, 2 * p)
    count = COUNT.subs(k, k + 2) / COUNT
    down = (k + nu) ** 4 - RATIO * (k + 2 + nu) ** 4
    up = RATIO * (k + 1) ** 4 - (k - 1) ** 4
    return (
        *product(),
        "Funk-Hecke: b_k = λ_k² N_k, λ_k = E |t| P_k(t); Rodrigues and two "
        "integrations by parts give λ_k at k = 2p, and 0 at odd k",
        _same("|λ_{k+2}/λ_k| = (k - 1)/(k + d + 1)", after, step),
        _same("N_{k+2}/N_k", count, RATIO * ((k + d + 1) / (k - 1)) ** 2),
        positive("b_k (k + d/2 - 1)^4 never grows", down, {k: 2, d: 2}),
        positive("b_k (k - 1)^4 never falls", up, {k: 2, d: 2}),
        *_limit(),
        "Parseval: Σ b_k = E z² = 1/d, z = ω·x",
        "(|z| - |z'|)² ≤ (z - z')², in the mean: 2 Σ b_k D_k ≤ |x - y|²/d = 2u/d",
    )


def _same(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """An identity between quotients of gamma functions, by its quotient."""
    quotient = sp.powsimp(sp.expand_func(sp.gammasimp(left / right)))
    return need(says, bool(sp.simplify(quotient) == 1))


def _limit() -> tuple[str, ...]:
    """k^4 b_k -> B_d, from Γ(z + a)/Γ(z + b) ~ z^{a-b}."""
    constant = DENSITY * sp.gamma(m) / (2 * sp.sqrt(sp.pi))
    shape = sp.gamma(p - sp.S.Half) / sp.gamma(p + m + 1)
    leading = constant**2 * 2 ** (d + 2) * 2 / sp.gamma(d - 1)
    return (
        _same("|λ_k| = c Γ(p - 1/2)/Γ(p + m + 1)", COEFFICIENT, constant * shape),
        "Γ(z + a)/Γ(z + b) ~ z^{a-b}: k^4 b_k → c² 2^{d+2} 2/Γ(d - 1)",
        _same("which is B_d = 8 c_d/π", leading, PEAK),
    )
