"""Where the constants come from: every step is an identity or a sign that is checked.

What n tokens add to one:

    tilted Jensen   n E[a_1 g(u_1) / S] = n A[g] E'[1/S] >= E_w g / (1 + 1/(nA)),
                    with E' weighted by a_1 g(u_1): E' S <= 1 + (n - 1) A. With a_1^2 g
                    and 1/S^2: n E[a_1^2 g / S^2] >= A_2[g] / (n A^2 J^2).
    few tokens      T = P(S < nA/2) <= exp(-n A^2 / (8 A_2)) = exp(-n / (8R)), from
                    E e^{-sa} <= 1 - sA + s^2 A_2 / 2 (Chernoff).
"""

import functools

import sympy as sp

from theorems.collins2024.bias import constants as of
from theorems.collins2024.bounds import tilt
from theorems.collins2024.bounds.notation import d, m, n, w
from theorems.collins2024.bounds.steps import equal, need, positive
from theorems.collins2024.bounds.tilt import FAR_HIGH, FAR_LOW, R_HIGH, R_LOW

u, x, y, s, t = sp.symbols("u x y s t", positive=True)
HALF = sp.Rational(1, 2)
LOW = {x: 0, d: 2}


def beyond(expr: sp.Expr) -> sp.Expr:
    """An expression at w = d + x."""
    return expr.subs(w, d + x)


@functools.cache
def tokens() -> tuple[str, ...]:
    """From one token to n of them."""
    chernoff = n * (-s * x + s**2 * y / 2) + s * n * x / 2  # x = A, y = A_2
    best = chernoff.subs(s, x / (2 * y))
    powers = [(q, sp.exp(-x) * (sp.E * x / q) ** q) for q in (1, 2, 3)]
    slopes = [sp.simplify(sp.diff(sp.log(f), x) - (q / x - 1)) for q, f in powers]
    return (
        *tilt.ratio(),
        "tilted Jensen: E' a_1 ≤ 1, so E' S ≤ 1 + (n - 1)A and E' S^-q ≥ (1 + nA)^-q",
        equal("Chernoff at s = A/(2A_2)", best, -n * x**2 / (8 * y)),
        need("e^-x (ex/q)^q peaks at x = q, q = 1, 2, 3", slopes == [0, 0, 0]),
        need("with the value 1", all(f.subs(x, q) == 1 for q, f in powers)),
        "so T = P(S < nA/2) ≤ e^{-n/(8R)} ≤ (8qR/(en))^q",
    )


@functools.cache
def in_range() -> tuple[str, ...]:
    """The range of Corollary G.5: n / log n >= 45 sqrt(d) (w/2)^(d/2), w >= d."""
    least = 45 * sp.sqrt(d) * (w / 2) ** (d / 2)
    few_w = (16 * R_HIGH * of.r / sp.E) ** 2 / w
    few_n = (24 * R_HIGH / sp.E) ** 3 * of.r**2 / w * (w**m / n)
    grown = bool(2 / sp.log(2) < 63) and bool(sp.log(63) > 1)
    return (
        *tokens(),
        "n/log n ≥ 45√2 ≥ 63; on [2, 63] it is at most its larger end (falls, rises)",
        need("2/log 2 < 63, 63/log 63 < 63, log 63 > 1: so n > 63, log n ≥ 1", grown),
        _powers("w^m / least n", w**m / least, of.r / sp.sqrt(w)),
        "so w^m/n ≤ r/√w, and 1/(nA) ≤ 3w^m/n ≤ 3r/√d: 1 + 1/(nA) ≤ J",
        _powers("T ≤ (16R/(en))², R ≤ R_HIGH w^m", few_w, of.FEW_W / w),
        _powers("T ≤ (24R/(en))³", few_n, of.FEW_N * w ** (m - 1) / n),
    )


@functools.cache
def noise() -> tuple[str, ...]:
    """V_LOW w^m/n <= V <= V_HIGH w^m/n; the upper bound for all n and w >= 1."""
    return (
        *in_range(),
        "n E[a_1²/S²] ≥ A_2/(nA²(1 + 1/(nA))²) ≥ (R/n)/J²",
        "V ≤ E[Σa²/(nA/2)²] + T ≤ 4R/n + T, T ≤ 8R/(en)",
        need("4 + 8/e ≤ 7", bool(4 + 8 / sp.E < 7)),
        equal("V_LOW", of.V_LOW, R_LOW / of.J**2),
        equal("V_HIGH", of.V_HIGH, 7 * R_HIGH),
    )


@functools.cache
def nearest() -> tuple[str, ...]:
    """E u-bar >= NEAR / w for w >= d, all n >= 1."""
    half = FAR_LOW / 2 - m / (4 * w)
    scale = 1 / (m * (2 * sp.E * n) ** (1 / m))  # s
    mass = sp.E * (m * s) ** m * n  # n P(u <= s), bounded
    at = (scale / 2).subs(n, 3 * w**m)
    return (
        *tokens(),
        positive("nA ≥ 1: E ū ≥ E_w u/2 ≥ m/(4w)", beyond(half), LOW),
        "nA < 1: ū ≥ u_(1), the least u; P(u ≤ s) ≤ e A(1/s) ≤ e(ms)^m",
        _powers("n P(u ≤ s) at s = 1/(m(2en)^{1/m})", mass.subs(s, scale), HALF),
        "P(u_(1) > s) ≥ 1 - n P(u ≤ s) ≥ 1/2: E ū ≥ s/2, and n < 1/A ≤ 3w^m",
        _powers("s/2 at n = 3w^m", at, (6 * sp.E) ** (-1 / m) / (2 * m) / w),
    )


@functools.cache
def nearest_token() -> tuple[str, ...]:
    """No scale sees more than the nearest token: the signal is of order n^(-2/m)."""
    half = 1 / (m * (2 * sp.E * n) ** (1 / m)) / 2  # s/2, as in ``nearest``
    return (
        *nearest(),
        *halves(),
        *decomposition(),
        "for every w and n: E_1 ≥ E ū² ≥ (E u_(1))² ≥ (s/2)²",
        _powers("(s/2)²/(6d)", half**2 / (6 * d), of.NEAREST * n ** (-2 / m)),
        "any L-Lipschitz task: at most 4L² (Lemma C.2)",
    )


@functools.cache
def affine() -> tuple[str, ...]:
    """E_1 = E[u-bar^2 + sum gamma^2 G], G = u(2 - u); affine signal L^2/(3d) E_1."""
    left = 1 - FAR_HIGH.subs(w, 2 * w)
    bias = 4 * FAR_HIGH**2
    spread = 8 * R_HIGH * w**m / n * FAR_HIGH.subs(w, 2 * w)
    return (
        *in_range(),
        *nearest(),
        *decomposition(),
        equal("u² + G", u**2 + u * (2 - u), 2 * u),
        "S ≥ nA/2: E ū² ≤ 4((E_w u)² + A_2[u²]/(nA²)), E Σγ²G ≤ 4A_2[G]/(nA²); else "
        "ū ≤ 2, Σγ²G ≤ 1: E_1 ≤ 4(E_w u)² + 8A_2[u]/(nA²) + 5T, A_2[u] = A_2 E_2w u",
        equal("4(E_w u)²", bias, d**2 / w**2),
        _powers("8A_2[u]/(nA²)", spread, 2 * d * R_HIGH * w ** (m - 1) / n),
        "E ū² ≥ (E ū)² ≥ (NEAR/w)²",
        "E Σγ²G ≥ A_2[G]/(nA²J²), A_2[G] = A_2 (2m/(2w))(1 - E_2w u) by (I)",
        positive("1 - E_2w u ≥ 3/4", beyond(left - sp.Rational(3, 4)), LOW),
    )


@functools.cache
def decomposition() -> tuple[str, ...]:
    """E_1 in the u alone: x_i = t_i x + sqrt(1 - t_i^2) e_i, e_i uniform across x."""
    return (
        "E⟨e_i, e_j⟩ = 0 for i ≠ j, given t: E|Σγ√(1 - t²) e|² = E Σγ²(1 - t²)",
        equal("1 - t²", 1 - (1 - u) ** 2, u * (2 - u)),
        equal("|x - x_i|² = 2u", (1 - t) ** 2 + 1 - t**2, 2 * (1 - t)),
        "E_1 = E[ū² + Σγ²G]; E l² = L²/3 and E⟨ω, v⟩² = |v|²/d; the offset cancels",
    )


@functools.cache
def lipschitz() -> tuple[str, ...]:
    """Any L-Lipschitz task: signal at most 2L^2 E u-bar <= (2d + 4 FEW_W) L^2/w."""
    return (
        *in_range(),
        *relu_low(),
        "(Σγ(f_i - f))² ≤ Σγ(f_i - f)² ≤ L²Σγ|x_i - x|² = 2L²ū (Jensen)",
        "E ū ≤ 2E_w u + 2T",
        equal(
            "2(2E_w u + 2T) w, T w ≤ x", 2 * (2 * FAR_HIGH * w + 2 * x), 2 * d + 4 * x
        ),
        "x = FEW_W",
    )


@functools.cache
def halves() -> tuple[str, ...]:
    """L_relu = L_aff/2 + (L^2/6) E(sum gamma(|z_i| - |z|))^2, an identity."""
    one, two, L, z = sp.symbols("l_1 l_2 L z", real=True)
    relu = one * sp.Max(z, 0) + two * sp.Max(-z, 0)
    linear, kink = (one - two) / 2, (one + two) / 2

    def mean(expr: sp.Expr) -> sp.Expr:
        for slope in (one, two):
            expr = sp.integrate(expr, (slope, -L, L)) / (2 * L)
        return sp.simplify(expr)

    sides = [
        sp.simplify((relu - linear * z - kink * sp.Abs(z)).subs(z, side * x))
        for side in (1, -1)
    ]
    return (
        need(
            "l_1 z_+ + l_2 (-z)_+ = ((l_1 - l_2) z + (l_1 + l_2)|z|)/2", sides == [0, 0]
        ),
        equal("variance of (l_1 - l_2)/2", mean(linear**2), L**2 / 6),
        equal("variance of (l_1 + l_2)/2", mean(kink**2), L**2 / 6),
        equal("their covariance", mean(linear * kink), sp.S.Zero),
        equal("variance of the affine slope", mean(one**2), 2 * (L**2 / 6)),
    )


@functools.cache
def second_moment() -> tuple[str, ...]:
    """E_w u^2 = E_w u * e_1 with e_1 <= (d + 1)^2 / ((d - 1) w)."""
    M = m.subs(d, 2 * y + 1)  # y = m
    logarithm = (y + 1) * sp.log(u) + y * sp.log(2 - u) - w * u
    law = u * (2 - u) * sp.diff(logarithm, u)  # f'/f times f over the weight
    cubes = 1 + 3 / d  # E u^3 = 1 + 3 E t^2
    squares = 1 + 1 / d
    return (
        need("M is m", sp.simplify(M - y) == 0),
        equal(
            "derivative of u^{m+1}(2 - u)^m e^{-wu} over u^m(2 - u)^{m-1} e^{-wu}",
            law,
            2 * (y + 1) - (2 * y + 1) * u - w * u * (2 - u),
        ),
        "e_1, e_2: means of u with the weights u, u²; its integral vanishes: "
        "w e_1(2 - e_2) = 2(m + 1) - (2m + 1)e_1 ≤ d + 1",
        "e_2 falls with w (association): e_2 ≤ E u³/E u² = (d + 3)/(d + 1) at w = 0",
        equal("2 - e_2", 2 - cubes / squares, (d - 1) / (d + 1)),
        "e_1 ≤ (d + 1)²/((d - 1)w)",
    )


@functools.cache
def relu_low() -> tuple[str, ...]:
    """E(sum gamma |z_i| - |z|)^2 >= KINK_LOW w^(-3/2)."""
    least = (m / w) ** sp.Rational(3, 2)
    most = 2 * sp.sqrt(FAR_HIGH * (d + 1) ** 2 / ((d - 1) * w))
    root = sp.powsimp(sp.powdenest(least / most, force=True), force=True)
    eta = of.KINK_HALF
    small = sp.expand(of.ROOT**2) / (d - 1)
    density = of.DENSITY * sp.Rational(3, 4) ** m
    return (
        *halves(),
        *in_range(),
        *second_moment(),
        "Hölder, G = u(2 - u) = 1 - t²: E√G ≥ (E G)^{3/2}/(E G²)^{1/2}, E G² ≤ 4E u²",
        positive("E_w G = 2m(1 - E_w u)/w ≥ m/w", beyond(HALF - FAR_HIGH), LOW),
        _powers("E_w √G", root, of.ROOT / sp.sqrt(w)),
        "z_1 = zt + √(1 - z²)√G s: averaging over ±s, E_w|z_1| ≥ √(1 - z²) ABS E_w√G",
        "given x and ω, E Σγ|z_i| ≥ E_w|z_1|/J (tilted Jensen): 2η/√w for |z| ≤ 1/2",
        "ABS² ≤ E s² = 1/(d - 1)",
        positive("ROOT²/(d - 1) ≤ 1/16", sp.Rational(1, 16) - small, {d: 2}),
        "so η ≤ (√3/4)/4 ≤ 1/2",
        equal("η", eta, sp.sqrt(1 - sp.Rational(1, 4)) * of.ROOT * of.ABS / of.J / 2),
        "|z| ≤ η/√w: the error is at least η/√w; density of z ≥ c_d (3/4)^m there",
        equal("η²·2η c_d(3/4)^m", of.KINK_LOW, eta**2 * 2 * eta * density),
    )


@functools.cache
def relu() -> tuple[str, ...]:
    """Both sides of the ReLU signal: w^(-3/2), and w^(m-1)/n from the spread."""
    side = 2 / (sp.pi * d) * sp.Integral(sp.sin(x) ** 2, (x, 0, t))
    cubic = t**3 / 3 - (t - sp.sin(t) * sp.cos(t)) / 2
    crossing = 2 / (sp.pi * d) * (sp.pi / 2 * sp.sqrt(2 * u)) ** 3 / 3
    far = sp.sqrt((d + 1) ** 2 / ((d - 1) * w)) * FAR_HIGH
    factor = sp.pi**2 * sp.sqrt(2) / (6 * d)
    return (
        *affine(),
        *relu_low(),
        "|z_i| - |z| = ±(z_i - z) + 2χ_i, χ_i = |z_i| where the signs differ, else 0",
        "(a + 2b)² ≤ 2a² + 8b²; E(Σγ(z_i - z))² = E_1/d; E(Σγχ)² ≤ 2E_w χ² + T",
        equal(
            "E χ² at angle t", side.doit(), (t - sp.sin(t) * sp.cos(t)) / (sp.pi * d)
        ),
        need("t³/3 - ∫_0^t sin² is 0 at 0", cubic.subs(t, 0) == 0),
        equal("its derivative", sp.diff(cubic, t), t**2 - sp.sin(t) ** 2),
        "sin t ≤ t: E χ² ≤ 2t³/(3πd)",
        "t ≤ (π/2)·2 sin(t/2) = (π/2)√(2u)",
        _powers("2t³/(3πd)", crossing, factor * u ** sp.Rational(3, 2)),
        "E_w u^{3/2} ≤ (E_w u)^{1/2}(E_w u²)^{1/2} = E_w u √e_1",
        _powers("CROSS", factor * far * w ** sp.Rational(3, 2), of.CROSS),
        equal(
            "L²: E_1/(6d) + (2E_1/d + 8(2 CROSS w^{-3/2} + T))/6",
            x / (6 * d) + (2 * x / d + 8 * (2 * y + s)) / 6,
            x / (2 * d) + sp.Rational(8, 3) * y + sp.Rational(4, 3) * s,
        ),
        "w^-2 ≤ w^{-3/2}",
    )


def _powers(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """An identity between products of powers."""
    logs = [sp.expand_log(sp.log(side), force=True) for side in (left, right)]
    difference = sp.simplify(sp.expand(sp.expand_log(logs[0] - logs[1], force=True)))
    return need(f"{says}: {left} = {right}", bool(difference == 0))
