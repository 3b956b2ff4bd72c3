"""Two samples: both losses grow with the larger weight, for every scale c.

Let a = m + h, b = m - h be the projections u_1.u, u_2.u, ρ the density of h on [0, 1],
z = ch + δ, δ = log(α_1/α_2)/2 > 0. The attention on sample 1 is 1/2 + g with
g = tanh(z)/2, and given h, averaged over m and over the parts across u,

    |γ u_1 + (1 - γ)u_2 - u|² = (3 + μ - h²)/2 + 2 κ g² - 4 h g,    μ = E m²,
    γ² + (1 - γ)² = 1/2 + 2 g²,                                    κ = 1 - μ + h².

With G = tanh²/2, W = G': d/dδ of the expectations is ∫ f(h) (W(ch + δ) - W(ch - δ)) dh,
f = ρ for the noise and f = ρκ + 2c ∫_h 2sρ(s) ds for the signal. If f does not rise, it
is a mixture of indicators of [0, T], for each of which the integral is
(G(cT + δ) - G(cT - δ))/c > 0.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.collins2024.pairs import signal
from theorems.collins2024.pairs.steps import equal, need

m, h, g, z, delta, nu, t = sp.symbols("m h g z delta nu t", real=True)
c, kappa, T = sp.symbols("c kappa T", positive=True)
s, r = sp.symbols("s r", positive=True)
G = sp.tanh(z) ** 2 / 2
W = sp.diff(G, z)
Q = ((1 - h) ** 2 - m**2) * ((1 + h) ** 2 - m**2)  # (1 - a²)(1 - b²)


def _even(expr: sp.Expr) -> sp.Expr:
    """The part that is even in m: the law of m given h is symmetric."""
    return sp.expand((expr + expr.subs(m, -m)) / 2)


@functools.cache
def reduced() -> tuple[str, ...]:
    """Both losses as integrals over h."""
    first, second = m + h, m - h
    gamma, rest = sp.Rational(1, 2) + g, sp.Rational(1, 2) - g
    # |u_1 - u|² = 2 - 2a; (u_1 - u).(u_2 - u) has the mean 1 + ab - a - b
    square = gamma**2 * (2 - 2 * first) + rest**2 * (2 - 2 * second)
    square += 2 * gamma * rest * (1 + first * second - first - second)
    stated = (3 + m**2 - h**2) / 2 + 2 * (1 - m**2 + h**2) * g**2 - 4 * h * g
    weight = 1 / (1 + sp.exp(-2 * z)) - sp.Rational(1, 2)
    return (
        equal("the squared error, even part in m", _even(square), stated),
        equal("γ² + (1 - γ)²", gamma**2 + rest**2, sp.Rational(1, 2) + 2 * g**2),
        equal(
            "γ - 1/2 = tanh(z)/2",
            weight.rewrite(sp.exp),
            (sp.tanh(z) / 2).rewrite(sp.exp),
        ),
        equal("2g² = G", 2 * (sp.tanh(z) / 2) ** 2, G),
        equal(
            "4hg' = 2h sech²",
            4 * h * sp.diff(sp.tanh(z) / 2, z),
            2 * h * (1 - sp.tanh(z) ** 2),
        ),
        equal("(sech²)' = -2W", sp.diff(1 - sp.tanh(z) ** 2, z), -2 * W),
        need("W is odd", sp.simplify(W.subs(z, -z) + W) == 0),
        "h and -h together: κ(W(ch+δ) - W(ch-δ)) + 2hB, "
        "B = sech²(ch-δ) - sech²(ch+δ), B(0) = 0, B' = 2c(W(ch+δ) - W(ch-δ))",
        "Φ = ∫_h^1 2sρ(s) ds: by parts ∫ 2hρB = ∫ ΦB', so f = ρκ + 2cΦ",
        "f = ∫ 1[h ≤ T] d(-f)(T), and ∫_0^T (W(ch+δ) - W(ch-δ)) dh is "
        "(G(cT+δ) - G(δ) - G(cT-δ) + G(-δ))/c; G is even and grows with |z|: positive",
    )


@functools.cache
def densities() -> tuple[str, ...]:
    """Prove that ρ falls, and (ρκ)' ≤ 2hρ: for k = 2 by elliptic integrals."""
    slope = sp.factor(sp.diff(Q, h))
    M = sp.Symbol("M", positive=True)  # 1 - h²
    K, E = sp.elliptic_k(M), sp.elliptic_e(M)
    falls = sp.diff(E, M) - (E - K) / (2 * M)
    return (
        "k ≥ 3: ρ ∝ ∫ Q^ν dm over |m| ≤ 1 - h, ν = (k-3)/2 ≥ 0, Q = (1-a²)(1-b²)",
        equal("dQ/dh", slope, -4 * h * (1 + m**2 - h**2)),
        "so ρ falls, and (ρκ)' is at most the part of κ' = 2h, the ends moving in: "
        "(ρκ)' ≤ 2hρ",
        "k = 2: a = cos A, b = cos B, |h| = st with s = |sin (A+B)/2|, "
        "t = |sin (A-B)/2| independent, of density ∝ 1/sqrt(1-s²)",
        equal("κ = s² + t²", 1 - (1 - s**2) * (1 - r**2) + (s * r) ** 2, s**2 + r**2),
        equal(
            "s² = 1 - (1-h²)sin²φ: (1 - s²)(s² - h²) = ((1-h²) sin φ cos φ)²",
            ((1 - s**2) * (s**2 - h**2)).subs(s, sp.sqrt(1 - (1 - h**2) * t**2)),
            (1 - h**2) ** 2 * t**2 * (1 - t**2),
        ),
        "so ρ = ∫_h ds/sqrt((1-s²)(s²-h²)) = K(M) and ρκ = 2E(M), M = 1 - h²",
        need("dE/dM = (E - K)/(2M)", sp.simplify(falls) == 0),
        "(ρκ)' = 2h (K - E)/M ≤ 2hK as 1 - M sin² ≥ 1 - M: E ≥ (1 - M)K",
        "K falls with h",
    )


@functools.cache
def noise() -> tuple[str, ...]:
    """Two samples, k ≥ 2: H_noise grows with α_1, for all c > 0."""
    return (*reduced(), *densities(), "f = ρ falls: strict, as ρ is no constant")


@functools.cache
def bias() -> tuple[str, ...]:
    """Two samples, any k, and k = 1 with any n: H_signal grows with α_1, all c > 0."""
    return (
        "k = 1, any n:",
        *signal.on_the_line(),
        "k ≥ 2, c ≤ 2: Lemma H.3",
        *signal.ratio_falls(),
        "k ≥ 2, c ≥ 1/2: f' = (ρκ)' - 4chρ ≤ 2hρ(1 - 2c) ≤ 0",
        *reduced(),
        *densities(),
    )
