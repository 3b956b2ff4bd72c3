"""Lemma H.3: the bias grows with the largest weight, pair by pair.

With S = Σ α_j e_j, e_j = e^{c u_j.u}, a = u_1.u, b = u_i.u:

    dH/dα_1 = 2 E Σ_{i,j} e_1 e_i e_j α_i α_j (u_1 - u_i).(u_j - u)/S³.

Swapping u_1 and u_i pairs (a, b) with (b, a). A term with j other than 1, i has the
factor (a - b)(u_j.u - 1) and falls with S; the two others add up to

    ½(D + D')(α_1 - α_i)(p + q) + ½(D - D')(α_1 + α_i)(p - q),
    p = e^{ca}(1 - a)(1 + b), q = e^{cb}(1 + a)(1 - b), D = S_ab^-3, D' = S_ba^-3.

For a > b the pair has D < D', and p ≤ q as e^{cx}(1 - x)/(1 + x) falls for c ≤ 2.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.collins2024.pairs.steps import equal, need

a, b, c, x, s = sp.symbols("a b c x s", real=True)
RATIO = sp.exp(c * x) * (1 - x) / (1 + x)
p, q, D, E_ = sp.symbols("p q D D_swapped", positive=True)
one, other, e1, ei, R = sp.symbols("alpha1 alpha_i e1 e_i R", positive=True)


@functools.cache
def gradient() -> tuple[str, ...]:
    """The derivative as a double sum, and its dot products in projections."""
    N, S, d, t = sp.symbols("N S delta t")
    moved = sp.diff((N + t * e1 * d) ** 2 / (S + t * e1) ** 2, t).subs(t, 0)
    u1, ui, u = sp.symbols("u1 ui u")
    parts = sp.expand((u1 - ui) * (u1 - u) - (u1**2 - u1 * u - ui * u1 + ui * u))
    return (
        equal(
            "each coordinate of the derivative of |N|²/S², δ = u_1 - u",
            moved,
            2 * e1 * N * (S * d - N) / S**3,
        ),
        equal(
            "S(u_1 - u) - N = Σ α_i e_i (u_1 - u_i), term by term",
            (u1 - u) - (ui - u),
            u1 - ui,
        ),
        "the parts of u_1, u_i, u_j across u are independent with mean 0 given a, b, "
        "s_j: E u_1.u_i = ab, E (u_1 - u_i).(u_j - u) = (a - b)(s_j - 1)",
        need("the four dot products of (u_1 - u_i).(u_1 - u)", parts == 0),
        equal("j = 1", 1 - a - a * b + b, (1 - a) * (1 + b)),
        equal("j = i", a * b - a - 1 + b, -(1 + a) * (1 - b)),
    )


@functools.cache
def grouped() -> tuple[str, ...]:
    """The sums over (a, b) and (b, a), for any c > 0."""
    pair = D * (one * p - other * q) + E_ * (one * q - other * p)
    split = (D + E_) * (one - other) * (p + q) + (D - E_) * (one + other) * (p - q)
    swapped = (one * e1 + other * ei) - (one * ei + other * e1)
    return (
        equal("pair {1, i}", pair, split / 2),
        equal("S_ab - S_ba", swapped, (one - other) * (e1 - ei)),
        "so for α_1 > α_i, a > b: S_ab > S_ba, D < D'",
        "j not in {1, i}: (a - b)(D - D') ≤ 0 times s_j - 1 ≤ 0",
        "α_i = α_1: swapping u_1 and u_i changes the sign of the summand: it is 0",
    )


@functools.cache
def ratio_falls() -> tuple[str, ...]:
    """Prove p ≤ q for a > b, c ≤ 2."""
    slope = sp.diff(sp.log(1 - x) - sp.log(1 + x) + c * x, x)
    return (
        "p ≤ q for a > b says that ψ(x) = e^{cx}(1 - x)/(1 + x) falls on (-1, 1]",
        equal("(log ψ)'", slope, c - 2 / (1 - x**2)),
        equal("2/(1 - x²) - 2", 2 / (1 - x**2) - 2, 2 * x**2 / (1 - x**2)),
        "so (log ψ)' ≤ c - 2 - 2x²/(1 - x²): negative but at x = 0 for c = 2",
        "at a = 1 or b = -1 p = 0 ≤ q",
    )


@functools.cache
def proof() -> tuple[str, ...]:
    """Lemma H.3 for all n, k, and c in (0, 2]."""
    return (
        *gradient(),
        *grouped(),
        *ratio_falls(),
        "strict: some α_i < α_1, and p + q > 0 unless a = b = ±1",
    )


@functools.cache
def on_the_line() -> tuple[str, ...]:
    """For k = 1, where a and b are 1 or -1, no bound on c is needed."""
    P = sp.exp(c * a) * (1 - a) * (1 + b)
    Q = sp.exp(c * b) * (1 + a) * (1 - b)
    ends = {a: 1, b: -1}
    return (
        *gradient(),
        *grouped(),
        need("k = 1, a = 1, b = -1: p = 0", P.subs(ends) == 0),
        equal("and q > 0", Q.subs(ends), 4 * sp.exp(-c)),
    )
