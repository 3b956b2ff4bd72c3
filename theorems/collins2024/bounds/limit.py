"""The constant: w* ~ KAPPA Lambda^ORDER, from two-sided bounds that meet.

As w, nA(w) -> infinity and w^{m+p-1}/n -> 0, with L = 1,

    bias² = BIAS w^-p (1 + o(1)),   nV = SPREAD w^m (1 + o(1)),
    KAPPA = (p BIAS/(m SPREAD))^{1/(m+p)},

    BIAS    (d-1)²/(12d) for affine tasks, B_d sqrt(2π)(sqrt 2 - 1)/36 for ReLU tasks
    SPREAD  2^-m/K_d
"""

import functools

import sympy as sp

from theorems.collins2024.bounds import estimator, harmonics, scale, tilt
from theorems.collins2024.bounds.notation import MASS, PEAK, d, k, m, nu, w
from theorems.collins2024.bounds.scale import AFFINE, Law
from theorems.collins2024.bounds.steps import equal, need

x, z, a, b, M, P = sp.symbols("x z a b M P", positive=True)

SLACK = sp.Rational(3, 2) * (4 / sp.E) ** 2 * (2 * m) ** m
"""H in E_w u <= m/w + H/w², w >= 1."""

SHAPE = sp.sqrt(2 * sp.pi) * (sp.sqrt(2) - 1) / 3
"""Integral of phi(x) = (1 - e^{-x²/2})²/x^4 over x > 0."""

SPREAD = 2**-m / MASS


def bias(law: Law) -> sp.Expr:
    """BIAS, in closed form."""
    return law.share * m**2 if law is AFFINE else PEAK * SHAPE / 12


@functools.cache
def kappa(law: Law) -> sp.Expr:
    """KAPPA, in closed form."""
    return (law.p * bias(law) / (m * SPREAD)) ** law.order


@functools.cache
def token() -> tuple[str, ...]:
    """One token: m/w - m²/(2w²) <= E_w u <= m/w + H/w², and R between its orders."""
    r, second = sp.symbols("r second")  # E_w t, E_w u²
    first = sp.solve(w * (2 * x - second) - 2 * M * r, x)[0]
    peak = sp.diff(x**2 * sp.exp(-x / 2), x)
    return (
        *tilt.ratio(),
        equal("(I) solved for E_w u, 1 - t² = 2u - u²", first, M * r / w + second / 2),
        equal("x² e^{-x/2} peaks at 4", peak, x * (2 - x / 2) * sp.exp(-x / 2)),
        "E_w u² ≤ (4/e)² w^-2 A(w/2)/A(w) ≤ (4/e)² w^-2 · 3(2m)^m: "
        "E_w u ≤ m/w + H/w², w ≥ 1",
        "so w^m A e^{-H/w} never falls, and its limit is K_d: A ≤ K_d w^-m e^{H/w}",
        "with A ≥ K_d w^-m e^{-m²/(2w)}: R/(SPREAD w^m) lies between "
        "e^{-(m²/4 + 2H)/w} and e^{(m² + H/2)/w}",
    )


@functools.cache
def shape() -> tuple[str, ...]:
    """The integral of phi, and that phi falls."""
    g = 1 - 2 * sp.exp(-(x**2) / 2) + sp.exp(-(x**2))
    parts = (
        -g / (3 * x**3)
        - sp.Rational(2, 3) * (sp.exp(-(x**2) / 2) - sp.exp(-(x**2))) / x
    )
    rest = sp.Rational(2, 3) * (2 * sp.exp(-(x**2)) - sp.exp(-(x**2) / 2))
    whole = sp.Rational(2, 3) * (sp.sqrt(sp.pi) - sp.sqrt(sp.pi / 2))
    falling = sp.diff(1 - sp.exp(-z) - z * sp.exp(-z), z)  # -z² d/dz (1 - e^{-z})/z
    return (
        equal("φ less a derivative", g / x**4 - sp.diff(parts, x), rest),
        need("what is derived vanishes at 0", sp.limit(parts, x, 0) == 0),
        "and at infinity; ∫ e^{-x²} = √π/2, ∫ e^{-x²/2} = √(π/2)",
        equal("∫ φ", sp.expand(whole), sp.expand(SHAPE)),
        equal("1 - e^-z - z e^-z rises from 0", falling, z * sp.exp(-z)),
        "so φ(x) = ((1 - e^-z)/z)²/4 with z = x²/2 falls; φ(0) = 1/4, φ ≤ x^-4",
    )


@functools.cache
def kink() -> tuple[str, ...]:
    """ReLU: sum b_k d_k² = B_d (SHAPE/2) w^{-3/2} (1 + o(1)), with the remainder."""
    square = (k + nu) ** 2 - nu**2
    upper = (k + m) ** 2 - m**2
    return (
        *harmonics.drops(),
        *harmonics.weights(),
        *shape(),
        equal("k(k+d-2)", sp.expand(k * (k + d - 2)), sp.expand(square)),
        equal("k(k+d-1)", sp.expand(k * (k + d - 1)), sp.expand(upper)),
        "from above: k ≤ w^{1/4}: d_k ≤ (d+1)(k-1)²/w, in all B_d (d+1)² w^{-7/4}/2",
        "k > w^{1/4}: d_k ≤ 1 - exp(-(k+m)²/(2w)), (k-1)^-4 ≤ (k+m)^-4 "
        "(1 + (m+1)/(w^{1/4} - 1))^4, and φ falls: Σ_{k even ≥ 2} φ((k+m)/√w) ≤ "
        "(√w/2) ∫ φ",
        "from below: w^{1/4} ≤ k ≤ w^{3/4}: asinh y ≥ log(1 + y) ≥ y(1 - y), so "
        "d_k ≥ 1 - e^{-θz} ≥ θ(1 - e^{-z}), z = (k+ν)²/(2w), "
        "θ = (1 - (m + w^{3/4})/w)(1 - ν² w^{-1/2})",
        "Σ φ((k+ν)/√w) ≥ (√w/2)(∫ φ - (w^{1/4} + 2 + |ν|)/(4√w) - w^{-3/4}/3)",
        "both are B_d (SHAPE/2) w^{-3/2} (1 + O(w^{-1/4})); (d_1²/d) is O(w^-2)",
    )


@functools.cache
def balance() -> tuple[str, ...]:
    """The least value of a w^-p + (b/Lambda) w^m is at KAPPA Lambda^ORDER alone."""
    h = (M * x**-P + P * x**M) / (M + P)
    slope = M * P / (M + P) * x ** (-P - 1) * (x ** (M + P) - 1)
    t = sp.Symbol("t", positive=True)
    right = (P * (1 + M * t + M**2 * t**2 / 2) + M * (1 - P * t)) / (M + P)
    scaled = b * z**M / (a * z**-P)  # z = κ, Λ = 1
    at = scaled.subs(b, P * a / (M * z ** (M + P)))
    return (
        equal("h(x) = (m x^-p + p x^m)/(m + p)", sp.simplify(sp.diff(h, x) - slope), 0),
        "h' has the sign of x - 1",
        equal("at κ both terms are as p : m", sp.powsimp(sp.simplify(at)), P / M),
        equal("log x = t ≥ 0", right, 1 + P * M**2 * t**2 / (2 * (M + P))),
        "e^s ≥ 1 + s + s²/2 and e^-s ≥ 1 - s, s ≥ 0; and with m, p exchanged for t ≤ 0",
        "h(x) ≤ θ implies (log x)² ≤ 2(m+p)(θ - 1)/(pm min(p, m))",
    )


@functools.cache
def limit(law: Law) -> tuple[str, ...]:
    """Steps to w*/(KAPPA Lambda^ORDER) -> 1."""
    own = () if law is AFFINE else kink()
    return (
        *scale.window(law),
        *token(),
        *own,
        *balance(),
        *estimator.bias(),
        "affine: (m/w)²(1 - m/(2w))² ≤ d_1² ≤ (m/w + H/w²)²",
        "loss from below: bias and R/Λ, times (1 + 1/(nA))^-2",
        "from above, δ = (R/n)^{1/4}: the same over (1 - δ)², "
        "2 (R/n) d_k(2w), and tails of e^{-√(n/R)/2} that vanish against w^-p",
        equal(
            "cross term against w^-p: w^{m-1}/n = w^-p (w^{m+p-1}/n)",
            m - 1,
            -law.p + (m + law.p - 1),
        ),
        "LOW ≤ w*/Λ^ORDER ≤ HIGH: uniformly there, so θ → 1 as Λ → ∞, "
        "Λ^{(m+p-1)/(m+p)}/n → 0, and w*/(KAPPA Λ^ORDER) → 1",
    )
