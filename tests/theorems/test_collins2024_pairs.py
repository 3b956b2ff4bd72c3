"""Lemmas H.1 to H.4: what the modules compute, against other computations."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024 import lemma_h_1_zero as h1
from theorems.collins2024 import lemma_h_3_signal as h3
from theorems.collins2024 import lemma_h_4_noise as h4
from theorems.collins2024.pairs import blocks, line, noise, sphere, zero


def signal(u, others, weights, c):
    """|Σ (u_i - u) α_i e_i|² / (Σ α_j e_j)², as in the paper."""
    e = weights * np.exp(c * others @ u)
    return np.sum(((others - u) * e[:, None]).sum(axis=0) ** 2) / e.sum() ** 2


def variance(u, others, weights, c):
    e = weights * np.exp(c * others @ u)
    return np.sum(e**2) / e.sum() ** 2


@pytest.mark.parametrize(("claim", "loss"), [(h3.CLAIM, signal), (h4.CLAIM, variance)])
def test_slope_on_the_line_is_that_of_the_loss(claim, loss):
    weights, c, step = np.array([1.0, 0.4, 0.7]), 0.8, 1e-5
    u = np.array([1.0])

    def mean(first):
        moved = weights.copy()
        moved[0] = first
        cases = product((1.0, -1.0), repeat=3)
        return sum(loss(u, np.array(x)[:, None], moved, c) for x in cases)

    direct = (mean(1 + step) - mean(1 - step)) / (2 * step)
    found = line.slope(claim, tuple(weights), float(np.exp(2 * c)))
    assert found == pytest.approx(direct, rel=1e-7)


@pytest.mark.parametrize(("claim", "loss"), [(h3.CLAIM, signal), (h4.CLAIM, variance)])
def test_slope_on_the_circle_is_that_of_the_loss(claim, loss):
    weights, c, step, n = np.array([1.0, 0.4]), 0.8, 1e-5, 24
    angles = 2 * np.pi * np.arange(n) / n  # exact for trigonometric polynomials
    points = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    u = np.array([1.0, 0.0])

    def mean(first):
        moved = np.array([first, weights[1]])
        pairs = product(points, repeat=2)
        return np.mean([loss(u, np.array(x), moved, c) for x in pairs])

    direct = (mean(1 + step) - mean(1 - step)) / (2 * step)
    one = sphere.Instance(2, tuple(weights), 1.0)
    found, _ = sphere.slope(claim, one, c, 40)
    assert found == pytest.approx(direct, rel=1e-6)


def test_float_and_exact_slopes_agree_on_violations():
    false = h4.CLAIM.changed(h4.CLAIM.mutants[-1])
    bad = ((Fraction(1), Fraction(47, 1000)), Fraction(50))
    good = ((Fraction(1), Fraction(1, 2)), Fraction(50))
    assert line.fails(false, bad)
    assert not line.fails(false, good)
    assert line.slope(false, *bad) < 0


def test_polynomials_have_the_sign_of_the_derivative():
    w, s = noise.w, noise.s
    for alpha, y in ((Fraction(1, 3), Fraction(9)), (Fraction(47, 1000), Fraction(60))):
        at = {
            w: sp.Rational(str(alpha / (1 + alpha) ** 2)),
            s: sp.Rational(str((y - 1) ** 2 / y)),
        }
        slope = line.slope(h4.CLAIM, (Fraction(1), alpha), y)
        assert sp.sign(noise.F2.subs(at)) == (1 if slope > 0 else -1)


def test_thresholds():
    root = max(sp.Poly(noise.LIMIT, noise.s).nroots())
    y = (root + 2 + sp.sqrt(root**2 + 4 * root)) / 2
    assert float(sp.log(y) / 2) == pytest.approx(1.9113038, abs=1e-6)


def test_density_of_two_samples_on_spheres():
    """(ρκ)' ≤ 2hρ, by integration, where the proof takes it from a formula."""
    for k in (4, 5, 9):
        h = np.linspace(0.01, 0.97, 60)
        rho, weighted = np.empty_like(h), np.empty_like(h)
        for i, x in enumerate(h):
            m = np.linspace(-(1 - x), 1 - x, 4001)
            q = ((1 - x) ** 2 - m**2) * ((1 + x) ** 2 - m**2)
            law = np.maximum(q, 0) ** ((k - 3) / 2)
            rho[i] = np.trapezoid(law, m)
            weighted[i] = np.trapezoid(law * (1 - m**2 + x**2), m)
        assert np.all(np.diff(rho) < 0)
        assert np.all(np.diff(weighted) <= 2 * h[1:] * rho[:-1] * np.diff(h) + 1e-6)


def test_slope_at_zero_is_exact():
    rng = np.random.default_rng(0)
    weights = (Fraction(3), Fraction(1))
    assert zero.exact(2, weights) == zero.rational(zero.SLOPE, 2, weights)
    u, step = np.array([1.0, 0.0]), 1e-4
    angles = rng.uniform(0, 2 * np.pi, (20_000, 2))
    points = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    e = [np.array([3.0, 1.0]) * np.exp(c * points @ u) for c in (-step, step)]
    errors = [
        np.sum(
            (np.einsum("ni,nid->nd", x / x.sum(1, keepdims=True), points) - u) ** 2, 1
        )
        for x in e
    ]
    slopes = (errors[1] - errors[0]) / (2 * step)
    error = 5 * slopes.std() / np.sqrt(len(slopes))
    assert abs(slopes.mean() - float(zero.exact(2, weights))) < error


def test_one_sample_has_no_slope():
    assert zero.exact(3, (Fraction(2),)) == 0
    assert h1.violated(h1.ANY_N, (1, (Fraction(1),)))


def test_losses_with_blocks_agree():
    """Mixed blocks with k = 1 average two points of the family."""
    A, R, E, n, s = 0.7, 0.4, 0.3, 3, 0.2
    mixed = blocks.plane(A, R, E, n, s)
    family = [blocks.plane(A + t, R + t, 0.0, n, s) for t in (E, -E)]
    assert mixed == pytest.approx(np.mean(family))
    exact = blocks.line(Fraction(0), Fraction(1, 5), Fraction(4))
    assert float(exact) == pytest.approx(blocks.plane(np.log(2), 0, 0, 2, 0.2))
    assert blocks.circle((0.9, 0.9), 0.3, 0.1) == pytest.approx(
        float(blocks.multiples(np.array([0.9]), 0.3, 0.1)[0])
    )
