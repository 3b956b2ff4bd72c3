"""One token under the weight e^{wt}: how far it is, and how much mass there is.

With r = E_w t, the mean of t under the tilted law, all bounds come from two facts:

    (I)   w E_w(1 - t²) = 2m r          integration by parts
    (II)  r' = Var_w t = 1 - r² - 2mr/w

Bounds, for all w > 0 and d >= 2 unless said otherwise:

    m/(w + m)            <= 1 - sqrt(1 + (m/w)²) + m/w <= E_w u <= min(1, d/(2w))
    E_w u                <= m/w                                           (d >= 3)
    K_d w^-m e^{-m²/(2w)} <= A(w) <= (1 + w/m)^-m;  A(w) <= K_d w^-m        (d >= 3)
    max(1, w)^-m / 3     <= A(w)
    R_LOW w^m <= R(w) <= R_HIGH w^m      (w >= 1), and R >= 1
"""

import functools

import sympy as sp

from theorems.collins2024.bounds.notation import MASS, d, m, w
from theorems.collins2024.bounds.steps import equal, need, positive

FAR_LOW = m / (w + m)  # of E_w u
FAR_HIGH = d / (2 * w)
A_HIGH = (m / w) ** m
A_LOW = w**-m / 3  # w >= 1
R_LOW = (2 * m**2) ** -m / 3
R_HIGH = 9 * (m / 2) ** m

t, y, M = sp.symbols("t y M", positive=True)
v = sp.Symbol("v", positive=True)


@functools.cache
def riccati() -> tuple[str, ...]:
    """(I) and (II)."""
    density = (1 - t**2) ** (M - 1) * sp.exp(w * t)
    parts = sp.diff((1 - t**2) ** M * sp.exp(w * t), t)
    r, second = sp.symbols("r second")  # E_w t, E_w t²
    variance = (second - r**2).subs(second, 1 - 2 * M * r / w)
    return (
        equal(
            "derivative of (1 - t²)^m e^{wt} over the tilted density",
            sp.simplify(parts / density),
            w * (1 - t**2) - 2 * M * t,
        ),
        "its integral over [-1, 1] vanishes since m > 0: (I) w E_w(1 - t²) = 2m E_w t",
        "differentiation under the integral: r' = Var_w t",
        equal("(II) Var_w t by (I)", variance, 1 - r**2 - 2 * M * r / w),
    )


@functools.cache
def distance() -> tuple[str, ...]:
    """Bounds on E_w u = 1 - r."""
    root = sp.sqrt(1 + y**2)
    above = root - y  # at y = m/w the root of 1 - r² - 2mr/w
    below = (root - y).subs(y, M / w)  # M stands for d/2 = m + 1/2 here
    slope = w * sp.diff(sp.log(below), w)
    gap = (1 + y - y / (1 + y)) ** 2 - root**2
    return (
        *riccati(),
        equal("y = m/w: the root of the quadratic", above**2 + 2 * y * above, sp.S.One),
        "Var_w t ≥ 0, so r ≤ √(1 + y²) - y and E_w u ≥ 1 + y - √(1 + y²)",
        positive("(1 + y - y/(1 + y))² ≥ 1 + y²", gap, {y: 0}),
        "hence E_w u ≥ y/(1 + y) = m/(w + m)",
        equal(
            "q = √(1 + y²) - y at y = d/(2w) grows by w q'/q = y/√(1 + y²)",
            slope,
            (M / w) / sp.sqrt(1 + (M / w) ** 2),
        ),
        "w q'/q ≤ 1, so q' ≤ q/w = (d/w) q - (2m/w) q = 1 - q² - (2m/w) q; q(0) = r(0) "
        "= 0; (r - q)' ≥ -(r + q + 2m/w)(r - q): comparison gives r ≥ q",
        positive("√(1 + y²) ≥ 1, so E_w u ≤ 1 - q ≤ y = d/(2w)", root**2 - 1, {y: 0}),
        "t is an increasing function of t: r' ≥ 0, r(0) = 0, so E_w u ≤ 1",
        "d ≥ 3: the density of wu over that of Γ(m) is proportional to "
        "(2 - v/w)^{m-1}, not increasing: E_w(wu) ≤ m (Chebyshev's association)",
    )


@functools.cache
def mass() -> tuple[str, ...]:
    """Bounds on A(w) = E e^{-wu}; A'/A = -E_w u and A(0) = 1."""
    tangent = (1 + y**2 / 2) ** 2 - (1 + y**2)
    upper = -M * sp.log(1 + w / M)
    third = sp.exp(-sp.Rational(1, 8)) / sp.sqrt(2 * sp.pi) - sp.Rational(1, 3)
    return (
        *distance(),
        equal("slope of log (1 + w/m)^-m", sp.diff(upper, w), -M / (w + M)),
        "A'/A = -E_w u ≤ -m/(w + m): A ≤ (1 + w/m)^-m ≤ (m/w)^m",
        positive("√(1 + y²) ≤ 1 + y²/2", tangent, {y: 0}),
        equal("slope of m²/(2w)", sp.diff(M**2 / (2 * w), w), -(M**2) / (2 * w**2)),
        "so w^m A e^{m²/(2w)} never grows (E_w u ≥ y - y²/2, y = m/w); its limit is "
        "K_d (Watson's lemma): A ≥ K_d w^-m e^{-m²/(2w)}",
        "d ≥ 3: E_w u ≤ m/w, so w^m A never falls: w^m A ≤ K_d, and for w ≥ 1 "
        "w^m A ≥ A(1) ≥ e^{-E u} = 1/e (Jensen)",
        need("1/e ≥ 1/3", bool(sp.exp(-1) > sp.Rational(1, 3))),
        equal("K_2", MASS.subs(d, 2), 1 / sp.sqrt(2 * sp.pi)),
        need("d = 2, w ≥ 1: K_2 e^{-1/8} ≥ 1/3", bool(third > 0)),
        "so A ≥ w^-m/3 for w ≥ 1, and A ≥ A(1) ≥ 1/3 for w ≤ 1, in every d ≥ 2",
    )


@functools.cache
def ratio() -> tuple[str, ...]:
    """Bounds on R = A(2w)/A(w)²."""
    high = (A_HIGH.subs(w, 2 * w) / A_LOW**2).subs(d, 2 * M + 1)
    low = (A_LOW.subs(w, 2 * w) / A_HIGH**2).subs(d, 2 * M + 1)
    scale = w**M
    return (
        *mass(),
        _same("R ≤ A_high(2w)/A_low(w)²", high, R_HIGH.subs(d, 2 * M + 1) * scale),
        _same("R ≥ A_low(2w)/A_high(w)²", low, R_LOW.subs(d, 2 * M + 1) * scale),
        "R ≥ 1: E a² ≥ (E a)²",
    )


def _same(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """An identity between products of powers."""
    both = (
        sp.powdenest(sp.expand_power_base(sp.powsimp(x)), force=True)
        for x in (left, right)
    )
    logs = [sp.expand(sp.expand_log(sp.log(x), force=True)) for x in both]
    return need(f"{says}: {left} = {right}", bool(sp.expand(logs[0] - logs[1]) == 0))
