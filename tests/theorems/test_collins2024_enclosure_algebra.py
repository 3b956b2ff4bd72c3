"""Algebra behind the certified minimiser: identities that the written proof uses."""

import pytest
import sympy as sp
from flint import acb, ctx

from theorems.collins2024.enclosure import tail


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(160):
        yield


def test_fermi_moments():
    x = sp.symbols("x", positive=True)
    q = 1 / (1 + sp.exp(x))
    # q' = -q (1 - q), so that q^2 (1 - q) = -(q^2)'/2 and q^2 = q + q'
    assert sp.simplify(sp.diff(q, x) + q * (1 - q)) == 0
    for k in (2, 3, 4):
        exact = acb.integral(
            lambda y, _, k=k: y**k * y.exp() / (1 + y.exp()) ** 3, 0, 90
        ).real
        assert abs(tail.steep_moment(k) - exact) < 1e-20


def test_weight_of_the_nearest_pair():
    x = sp.symbols("x", positive=True)
    weight = x * sp.exp(-x) * (1 - sp.exp(-x))
    assert sp.integrate(weight, (x, 0, sp.oo)) == sp.Rational(3, 4)
    assert sp.integrate(weight * sp.exp(-x), (x, 0, sp.oo)) == sp.Rational(5, 36)


def test_masses_of_monomials():
    """What the absolute monomials of L' add up to, with three tokens."""
    g1, g2 = sp.symbols("g1 g2")
    g = (g1, g2, 1 - g1 - g2)
    squares = sum(x**2 for x in g)
    ordered = [(i, j) for i in range(3) for j in range(3) if i != j]
    mixed = 2 * sum(g[i] ** 2 * g[j] for i, j in ordered) + 6 * g[0] * g[1] * g[2]
    assert sp.expand(mixed - (1 - squares)) == 0
    cubes = sum(x**3 for x in g) + sum(g[i] ** 2 * g[j] for i, j in ordered)
    assert sp.expand(cubes - squares) == 0


def test_two_forms_of_the_error_on_a_harmonic():
    g, D = sp.symbols("g1:4"), sp.symbols("D1:4")
    mean = sum(x * y for x, y in zip(g, D, strict=True))
    first = mean**2 + sum(x**2 * y * (2 - y) for x, y in zip(g, D, strict=True))
    pairs = mean**2 - sum((x * y) ** 2 for x, y in zip(g, D, strict=True))
    second = 2 * sum(x**2 * y for x, y in zip(g, D, strict=True)) + pairs
    assert sp.expand(first - second) == 0
    P = sp.symbols("P")
    assert sp.expand((1 - P) * (2 - (1 - P)) - (1 - P**2)) == 0


@pytest.mark.parametrize("j", [0, 1, 2])
def test_derivatives_of_the_transforms(j):
    """d/dw s^j a^j g e^{-sa} = s^{j+1} a^{j+1} u g e^{-sa} - j s^j a^j u g e^{-sa}."""
    w, u, s, g = sp.symbols("w u s g")
    a = sp.exp(-w * u)

    def transform(k):
        return s**k * a**k * g * sp.exp(-s * a)

    gap = sp.diff(transform(j), w) - u * (transform(j + 1) - j * transform(j))
    assert sp.simplify(gap) == 0


U, D, G = sp.symbols("u1:4"), sp.symbols("D1:4"), sp.symbols("g1:4")
PAIRS = ((0, 1), (0, 2), (1, 2))


def _mean(values):
    return sum(x * y for x, y in zip(G, values, strict=True))


def _slope(expression, rates):
    """Derivative in w of a function of weights with d gamma_i/dw = gamma_i rate_i."""
    return sum(
        sp.diff(expression, g) * g * rate for g, rate in zip(G, rates, strict=True)
    )


def _is_zero(expression):
    """Whether it vanishes wherever the three weights add up to 1."""
    return sp.expand(expression.subs(G[2], 1 - G[0] - G[1])) == 0


def test_pair_form_of_the_slope():
    """Half the derivatives of E_k's integrand and of V's, at three tokens."""
    mean, rates = _mean(D), [_mean(U) - u for u in U]
    b = [x * (2 - x) for x in D]
    energy = mean**2 + sum(x**2 * y for x, y in zip(G, b, strict=True))
    pairs = [(i, j, G[i] * G[j] * (U[j] - U[i])) for i, j in PAIRS]
    bias = sum(
        c * (G[i] * b[i] - G[j] * b[j] - mean * (D[j] - D[i])) for i, j, c in pairs
    )
    assert _is_zero(_slope(energy, rates) / 2 - bias)
    noise = sum(c * (G[i] - G[j]) for i, j, c in pairs)
    assert _is_zero(_slope(sum(x**2 for x in G), rates) / 2 - noise)
    variance = sum(G[i] * G[j] * (U[j] - U[i]) ** 2 for i, j in PAIRS)
    assert _is_zero(_slope(_mean(U), rates) + variance)


def test_pair_form_at_negative_scales():
    """Half the derivative of (1 + mean t)^2 + sum gamma^2 (1 - t^2), weights e^{wt}."""
    t, mean = U, _mean(U)
    b = [1 - x**2 for x in t]
    spread = sum(x**2 * y for x, y in zip(G, b, strict=True))
    pairs = sum(
        G[i] * G[j] * gap * ((1 + mean) * gap + G[i] * b[i] - G[j] * b[j])
        for i, j in PAIRS
        for gap in [t[i] - t[j]]
    )
    rates = [x - mean for x in t]
    assert _is_zero(_slope((1 + mean) ** 2 + spread, rates) / 2 - pairs)
    assert sp.expand((1 + mean) ** 2 - (1 - mean) ** 2 - 4 * mean) == 0
    left = b[0] - b[1] + (t[0] - t[1]) * (t[0] + t[1])
    assert sp.expand(left) == 0
