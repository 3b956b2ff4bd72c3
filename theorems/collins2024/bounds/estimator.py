"""What n tokens add to one, for every n >= 1 and w >= 0.

With A = A(w), R = R(w) and x = n/R, any delta in (0, 1):

    noise   R (1 + 1/(nA))^-2 <= nV <= 7R
            nV <= R/(1 - delta)² + n e^{-delta² x/2};  V rises with w
    bias    E_1 >= d_1(w)²
            E_k >= (d_k(w)² + (R/n) g_k(2w)) (1 + 1/(nA))^-2,  g_k(w) = E_w G_k
            E_k <= 4 (d_k(w)² + 2 (R/n) d_k(2w)) + 5 e^{-x/8}
            E_k <= (d_k(w)² + 2 (R/n) d_k(2w))/(1 - delta)² + 5 e^{-delta² x/2}
            g_1(2w) >= m/(w + d/2)
    start   L'(w) < 0 for 0 <= w <= START, L = 1, sigma² <= n, n >= 2, in either class
    left    L(-w) > L(w) for w > 0
"""

import functools

import sympy as sp

from theorems.collins2024.bounds import tilt
from theorems.collins2024.bounds.notation import d, m, w
from theorems.collins2024.bounds.steps import equal, need, positive

R, nA, x, y = sp.symbols("R nA x y", positive=True)
s, a, b = sp.symbols("s a b", positive=True)

SHRINK = (1 + 1 / nA) ** -2
NOISE_LOW, NOISE_HIGH = R * SHRINK, 7 * R
NEAR_LOW = m / (w + d / 2)
"""Of g_1(2w) = E_{2w}(1 - t²)."""

START = 1 / (2 * (72 * d + 400 * d**2))


@functools.cache
def noise() -> tuple[str, ...]:
    """Bounds on V."""
    chernoff = 1 - y + y**2 / 2 - sp.exp(-y)
    pair = a**2 * b * (s - y) + b**2 * a * (y - s)  # s, y: the t of both tokens
    return (
        "under the law tilted by a_1²: E 1/S² ≥ (E S)^-2 (Jensen), a_1 ≤ 1, so "
        "E S ≤ 1 + nA and nV = n² E a_1²/S² ≥ n² A(2w)/(1 + nA)²",
        equal("which is", (nA**2 * R) / (1 + nA) ** 2, sp.cancel(NOISE_LOW)),
        equal("second slope of 1 - y + y²/2 - e^{-y}", sp.diff(chernoff, y, 2),
              1 - sp.exp(-y)),
        need("its value and slope at 0", chernoff.subs(y, 0) == 0
             and sp.diff(chernoff, y).subs(y, 0) == 0),
        "E e^{-sa} ≤ exp(-sA + s² A(2w)/2): P(S ≤ (1-δ)nA) ≤ e^{-δ² n/(2R)} (Chernoff)",
        "Σγ² ≤ 1, and Σγ² ≤ Σa²/((1-δ)nA)² if S > (1-δ)nA",
        equal("n e^{-x/8} with n = Rx peaks at x = 8",
              sp.diff(x * sp.exp(-x / 8), x), (1 - x / 8) * sp.exp(-x / 8)),
        need("δ = 1/2: 4 + 8/e ≤ 7", bool(4 + 8 / sp.E < 7)),
        "∂γ_i = γ_i(t_i - t̄), so V' = 2 E Σ γ_i² γ_j (t_i - t_j)",
        equal("pairs", pair, a * b * (a - b) * (s - y)),
        "γ_i - γ_j has the sign of t_i - t_j when w ≥ 0: V' ≥ 0",
    )  # fmt: skip


@functools.cache
def bias() -> tuple[str, ...]:
    """Bounds on E_k."""
    D = sp.Symbol("D")
    return (
        *noise(),
        *tilt.distance(),
        "averaging Y(y)Y(y') over rotations about x leaves P_k(x·y)P_k(x·y'): "
        "E_k = E[D̄² + Σγ_i² G_k(t_i)], D̄ = Σ γ_i D_k(t_i)",
        equal("2D - D² = 1 - P²", 2 * D - D**2, 1 - (1 - D) ** 2),
        "E D̄ = nA E[D_k/S] under the law tilted by a_1, E[1/S | t_1] ≥ 1/(1 + nA): "
        "E D̄ ≥ d_k/(1 + 1/(nA)); and E Σγ²G as V",
        "k = 1: u_1 and 1/(a_1 + S') both rise with u_1, nA E[1/S] = E Σγ_i = 1: "
        "E D̄ ≥ E_w u = d_1 (Chebyshev's association)",
        "S > (1-δ)nA: D̄² ≤ (Σ a D)²/((1-δ)nA)², of mean at most "
        "(d_k² + R E_{2w}D_k²/n)/(1-δ)²; else D̄² + Σγ²G ≤ 4 + 1",
        "D² + G = 2D: E_k ≤ (d_k² + 2 R d_k(2w)/n)/(1-δ)² + 5 e^{-δ² n/(2R)}",
        "g_1(2w) = (m/w) E_{2w} t by (I); E_{2w} t ≥ q(2w)",
        positive("√(d²/4 + 4w²) ≤ d/2 + 2w",
                 (d / 2 + 2 * w) ** 2 - d**2 / 4 - 4 * w**2, {d: 2, w: 0}),
        equal("(m/w) 2w/(d/2 + d/2 + 2w)", m / w * 2 * w / (d + 2 * w), NEAR_LOW),
    )  # fmt: skip


@functools.cache
def start() -> tuple[str, ...]:
    """No stationary point in [0, START]: the loss falls there."""
    second = 16 + 2  # |t_i + t_j - 2t̄| ≤ 4, Var ≤ 1
    share = 1 / (3 * d)
    curve = 4 * second * share + 18 * sp.exp(2)
    pull = share / d / 2  # ReLU; twice this for affine tasks; 1 - 1/n ≥ 1/2
    bound = 4 * 18 * share + 18 * sp.Rational(37, 5)
    return (
        "γ_i = 1/n at w = 0; E_1 = E|x - Σγ_i x_i|²; reflecting all but x, "
        "E ∂|Σγ_i x_i|² = 0 there",
        "E_1'(0) = -2 E Σ t_i(t_i - t̄)/n = -(2/d)(1 - 1/n); V and E_k of even k are "
        "even in w",
        "∂²γ_iγ_j = γ_iγ_j((t_i + t_j - 2t̄)² - 2Var), so |E_k''| ≤ 18·4",
        "γ_i ≤ e^{2w}/n, so n|V''| ≤ 18 e^{2w} ≤ 18 e² for w ≤ 1",
        need("e² ≤ 37/5", bool(sp.exp(2) < sp.Rational(37, 5))),
        "weights of E_k: 1/(3d) for affine tasks, at most 1/(6d) + 1/(6d) for ReLU",
        equal(
            "curvature with σ² ≤ n", curve.subs(sp.exp(2), sp.Rational(37, 5)), bound
        ),
        positive("START · curvature ≤ -L'(0)", pull - START * bound, {d: 2}),
        positive("START ≤ 1", 1 - START, {d: 2}),
    )


@functools.cache
def left() -> tuple[str, ...]:
    """The loss is larger at -w than at w."""
    return (
        "reflect all x_i: V and E_k of even k are even in w, and "
        "E_1 = E[1 - 2t̄ + |Σγ_i x_i|²]: E_1(-w) - E_1(w) = 4 E t̄(w)",
        "∂ E t̄ = E Var_γ(t) > 0 and E t̄ = 0 at w = 0: L(-w) > L(w) for w > 0, n ≥ 2",
    )
