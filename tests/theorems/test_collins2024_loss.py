"""The population loss of collins2024 by quadrature, against slower ways to it."""

import json
import math

import mpmath
import numpy as np
import pytest
import sympy

from benchmarks import window
from theorems.collins2024.loss import (
    affine,
    cosine,
    evaluate,
    isotropic,
    linear,
    literal,
    minimise,
    moments,
    nodes,
    population,
    reference,
    relu,
)
from theorems.collins2024.loss import asymptotic as limits
from theorems.collins2024.loss.tasks import kink, square, wave
from verify.numerics import gamma

CLASSES = {"affine": affine, "relu": relu}
DEGREES = (1, 2, 5)
# About 300 rounded operations stand behind a moment: exponentials, sums of positive
# terms (pairwise), a power of B_0 whose logarithm is below CUT.
CLOSE = gamma(300)
# w* is where a slope, known to 1e-14 of the loss over w, vanishes: 1e-12.
SHARP = 1e-12

# Minimisers and minima by ball arithmetic, all digits proved: class, d, n, sigma^2.
CERTIFIED = (
    ("affine", 5, 20, 1e-4, 6.68065830075423, 0.01795288181674239606),
    ("relu", 5, 20, 1e-4, 6.73194202269269, 0.01641935321165157099),
    ("affine", 2, 5, 0.09, 2.30943061413546, 0.1045372671939044301),
    ("relu", 2, 5, 0.09, 1.72522847661047, 0.08833683617479566089),
    ("affine", 2, 100, 1, 2.79559912071775, 0.03541557979468773971),
    ("relu", 2, 100, 1, 2.64773145062134, 0.03720593955151093870),
    ("affine", 3, 5, 1, 0.46165735533657, 0.3196949183924155692),
    ("relu", 3, 5, 1, 0.252941574042358, 0.2795881942489540462),
    ("affine", 3, 100, 0.09, 6.24836747281464, 0.009907230821313465107),
    ("relu", 3, 100, 0.09, 6.57122416749667, 0.01109309670734309069),
)


def close(expected, rel=CLOSE):
    """Compare relatively: an absolute tolerance would pass small numbers."""
    return pytest.approx(expected, rel=rel, abs=0)


def stacked(w, n, d, degrees=DEGREES):
    found = moments(w, n, d, degrees)
    return np.concatenate([[found.V], found.E])


@pytest.mark.parametrize(
    ("w", "n", "d"), [(3.0, 2, 4), (-6.0, 3, 2), (1.0, 3, 5), (15.0, 2, 3), (0.0, 2, 6)]
)
def test_moments_are_products_over_tokens(w, n, d):
    expected = reference.product(w, n, d, DEGREES, nodes=140 if n == 2 else 60)
    assert stacked(w, n, d) == close(expected)


@pytest.mark.parametrize(
    ("w", "n", "d"), [(3.0, 7, 4), (-6.0, 30, 2), (12.0, 1e6, 5), (8.0, 1e15, 3)]
)
def test_moments_in_many_digits(w, n, d):
    expected = reference.precise(w, n, d, (1, 2), digits=32, nodes=80, step=0.2)
    assert stacked(w, n, d, (1, 2)) == close([float(value) for value in expected])


@pytest.mark.parametrize(("w", "n", "d"), [(3.0, 7, 4), (-6.0, 30, 2), (100.0, 20, 5)])
def test_moments_are_sampled(w, n, d):
    drawn = reference.sample(w, n, d, DEGREES, 4000, np.random.default_rng(0))
    # |z| > 5 has probability 6e-7 for a normal mean.
    assert np.all(np.abs(stacked(w, n, d) - drawn.mean) < 5 * drawn.error)


@pytest.mark.parametrize("make", [affine, relu, cosine])
def test_the_loss_is_equation_3(make):
    task, rng = make(3, 2.0), np.random.default_rng(1)
    errors = [
        literal.squared_error(task.name, 3, 4.0, 6, 0.5, 2.0, rng) for _ in range(2000)
    ]
    mean, error = literal.average(errors)
    assert abs(evaluate(task, 4.0, 6, 0.5).value - mean) < 5 * error


@pytest.mark.parametrize("name", CLASSES)
def test_linear_attention_is_as_drawn(name):
    rng = np.random.default_rng(2)
    M = rng.standard_normal((3, 3)) / 4
    errors = [literal.linear_error(name, M, 5, 0.5, 2.0, rng) for _ in range(2000)]
    mean, error = literal.average(errors)
    form = linear.linear_attention(name)
    numbers = {"d": 3, "n": 5, "sigma": 0.5, "L": 2.0}
    value = form.value(**numbers, tr_M=np.trace(M), square_M=np.sum(M**2))
    assert abs(value - mean) < 5 * error
    at_best = {
        linear.trace: linear.d * form.scale,
        linear.square: linear.d * form.scale**2,
    }
    assert sympy.simplify(form.loss.subs(at_best) - form.minimum) == 0
    # Theorem 3.6: b alone leaves L^2 / 3.
    assert form.least(**numbers) > 4 / 3


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("n", [2, 20, 1e6, 1e12])
def test_at_zero_all_tokens_count_alike(d, n):
    found = moments(0.0, n, d, DEGREES, order=1)
    assert found[1] == close(1 / n)
    assert found[0] == close(np.full(3, 1 + 1 / n))
    assert found.dE[0] == close(-2 / d * (1 - 1 / n))
    loss = {name: evaluate(CLASSES[name](d), 0.0, n, 0.5) for name in CLASSES}
    b = math.gamma(d / 2) ** 2 / (math.pi * math.gamma((d + 1) / 2) ** 2)
    parts = {"affine": 1 / (3 * d), "relu": 1 / (6 * d) + (1 / d - b) / 6}
    for name, part in parts.items():
        expected = (1 + 1 / n) * part + 0.25 / n
        assert loss[name].value == close(expected)


def test_one_token_has_all_the_weight():
    found = moments([-3.0, 0.0, 1e6], 1, 4, DEGREES, order=2)
    assert np.all(found.E == 2)
    assert np.all(found.V == 1)
    for derivative in (found.dE, found.dV, found.ddE, found.ddV):
        assert not derivative.any()


@pytest.mark.parametrize(("w", "n", "d"), [(5.0, 12, 2), (-4.0, 9, 3), (40.0, 50, 4)])
def test_derivatives_are_difference_quotients(w, n, d):
    step = 1e-3 * abs(w)
    below, at, above = (moments(w + i * step, n, d, DEGREES, 2) for i in (-1, 0, 1))
    for value, first, second in (("E", "dE", "ddE"), ("V", "dV", "ddV")):
        for low, high in ((value, first), (first, second)):
            quotient = (getattr(above, low) - getattr(below, low)) / (2 * step)
            # A third derivative, of the size of the first over w^2, is left.
            size = np.abs(getattr(at, high)).max()
            assert getattr(at, high) == pytest.approx(quotient, abs=1e-5 * size)


def test_signs_and_order_of_moments():
    w = np.linspace(0.0, 30.0, 16)
    found = moments(w, 25, 3, (1, 2, 3, 4), order=1)
    assert np.all(np.diff(found.V) > 0)
    assert np.all(found.dV[1:] > 0)
    assert np.all(found.E[0] == close(1 + 1 / 25))
    # Smoother harmonics are averaged better, and even ones do not see the sign of w.
    assert np.all(np.diff(found.E[1:], axis=-1) > 0)
    mirrored = moments(-w, 25, 3, (1, 2, 3, 4))
    assert mirrored[1] == close(found.V)
    assert mirrored.E[:, 1::2] == close(found.E[:, 1::2])
    assert np.all(mirrored.E[1:, 0] > found.E[1:, 0])


@pytest.mark.parametrize(
    ("w", "n", "d"), [(40.0, 100, 2), (35.0, 2, 4), (50.0, 20, 3), (60.0, 3, 5)]
)
def test_both_samplings_agree(w, n, d, monkeypatch):
    found = []
    for wide in (1e9, 10.0):
        monkeypatch.setattr(nodes, "WIDE", wide)
        found.append(stacked(w, n, d))
    assert found[0] == close(found[1])


def test_nearest_tokens_alone_in_the_limit():
    # d = 3: u_(1) of n uniform u on [0, 2] has mean 2 / (n + 1); E_1 = 2 E u_(1).
    # A second token is as near as 1 / w with probability n / w = 1e-5.
    found = moments(1e7, [2, 10, 100], 3, (1,))
    assert found.E[:, 0] == close(4 / np.array([3, 11, 101]), 3e-5)
    assert found[1] == close(np.ones(3), 3e-5)


def test_many_tokens_have_gaussian_limits():
    # Bessel functions' next term is (nu^2 - 1/4) / (2 w), below 10 / w here.
    for d in (2, 3, 5, 6):
        w = 1e4
        found = moments(w, 1e18, d, (1,))
        scale = float(limits.b_d.subs(limits.d, d)) * w ** ((d - 1) / 2) / 1e18
        assert found[1] == close(scale, 10 / w)
        assert found.E[0] == close(((d - 1) / (2 * w)) ** 2, 10 / w)


def test_gauss_legendre_is_exact_to_rounding():
    x, weights = nodes.legendre(61)
    assert weights.sum() == close(2, gamma(4))
    for k in (2, 40, 120):
        assert weights @ x**k == close(2 / (k + 1), gamma(60))


@pytest.mark.parametrize("d", [2, 3, 5])
def test_masses_of_kink_and_cosine_are_those_of_their_kernels(d):
    degrees, mass, rest = kink(d, 40)
    nu = (d - 3) / 2

    def along(f, k):
        norm = mpmath.quad(lambda t: mpmath.sin(t) ** (2 * nu + 1), [0, mpmath.pi])
        total = mpmath.quad(
            lambda t: (
                f(mpmath.cos(t))
                * reference.normalised(k, d, mpmath.cos(t))
                * mpmath.sin(t) ** (2 * nu + 1)
            ),
            [0, mpmath.pi / 2, mpmath.pi],
        )
        return float(total / norm)

    for k in (2, 4, 8):
        count = math.comb(k + d - 1, d - 1) - math.comb(k + d - 3, d - 1)
        assert mass[k // 2 - 1] == close(count * along(abs, k) ** 2, 1e-12)
        cos = along(lambda t: mpmath.cos(3 * t), k)
        found = wave(d, 3.0, k), count * cos**2
        assert float(found[0] / found[1]) - 1 == pytest.approx(0, abs=1e-12)
    b0 = along(abs, 0) ** 2
    assert b0 + mass.sum() + rest == close(1 / d, 1e-14)
    # |z| has energy sum k (k + d - 2) b_k = E(1 - z^2); its terms fall as k^-2.
    more, masses, left = kink(d, 4096)
    energy = sum(k * (k + d - 2) * b for k, b in zip(more, masses, strict=True))
    assert energy == close(1 - 1 / d, 1e-3)
    # What is left behind k falls as k^-3.
    assert left == close(rest * (40 / 4096) ** 3, 0.3)
    found = square(d, 3.0) / along(lambda t: mpmath.cos(3 * t) ** 2, 0)
    assert float(found) - 1 == pytest.approx(0, abs=1e-12)
    assert degrees[-1] == 40


@pytest.mark.parametrize(("name", "d", "n", "variance", "w", "value"), CERTIFIED)
def test_minimisers_are_the_certified_ones(name, d, n, variance, w, value):
    found = minimise(CLASSES[name](d), n, math.sqrt(variance))
    assert found.w == close(w, SHARP)
    assert found.value == close(value)
    assert found.curvature > 0


@pytest.mark.parametrize("name", CLASSES)
def test_elasticities_are_difference_quotients(name):
    task, step = CLASSES[name](3), 1e-4
    n, sigma = 50.0, 0.4
    moved = minimise(task, n * np.exp([-step, step]), sigma).w
    slope = np.diff(np.log(moved))[0] / (2 * step)
    found = minimise(task, n, sigma).sensitivity
    assert found.samples == pytest.approx(slope, abs=1e-7)
    moved = minimise(task, n, sigma * np.exp([-step / 2, step / 2])).w
    slope = np.diff(np.log(moved))[0] / (2 * step)
    assert found.noise == pytest.approx(slope, abs=1e-7)


def test_few_samples_and_little_noise_hide_the_lipschitz_constant():
    lengths, places = (0.1, 0.3, 1.0, 3.0, 10.0), (5.695, 6.553, 6.681, 6.692, 6.694)
    for L, w in zip(lengths, places, strict=True):
        assert minimise(affine(5, L), 20, 0.01).w == pytest.approx(w, abs=5e-4)
    # Much noise: w* = Lambda / (3 d), half of it for a kink.
    assert minimise(affine(5), 1e4, 1e3).w == close(6.66578e-4, 2e-4)
    assert minimise(relu(5), 1e4, 1e3).w == close(3.33320e-4, 2e-4)


def test_constants_of_the_scaling():
    printed = {
        "affine": (0.38843, 0.60571, 0.84914, 1.12468, 1.43092),
        "relu": (0.19892, 0.31362, 0.47254, 0.67131, 0.90651),
    }
    for name, values in printed.items():
        kappa = limits.kappa_d(name)
        found = [float(kappa.subs(limits.d, d)) for d in range(2, 7)]
        assert found == pytest.approx(values, abs=6e-6)
    assert limits.window_exponent["affine"].equals(2 / (limits.d + 3))
    assert limits.window_exponent["relu"].equals(2 / (limits.d + 2))


@pytest.mark.parametrize(
    ("name", "d", "power", "ratio"),
    [
        # As measured once by an independent prototype, to four digits.
        ("relu", 2, 9.5, 0.9999),
        ("relu", 3, 11.5, 0.9999),
        ("relu", 4, 13.5, 0.9998),
        ("relu", 5, 13.5, 0.9994),
        ("relu", 6, 13.5, 0.9986),
        ("affine", 2, 8, 1.0004),
        ("affine", 4, 8, 0.9983),
        ("affine", 6, 8, 0.9894),
    ],
)
def test_two_terms_describe_the_optimum(name, d, power, ratio):
    exact = minimise(CLASSES[name](d), 10.0**power, 1.0).w
    model = limits.two_terms(name, d, 10.0**power)
    assert exact / model == pytest.approx(ratio, abs=5e-5)
    correction = limits.finite_size_correction(name, d, 10.0**power, 1.0)
    assert correction == close(exact / limits.one_term(name, d, 10.0**power), SHARP)


def test_arguments_broadcast():
    loss = evaluate(relu(3), [[1.0], [2.0]], 10, [0.0, 0.1, 0.2], order=2)
    assert loss.value.shape == loss.curvature.shape == (2, 3)
    assert loss.value == pytest.approx(loss.signal + loss.noise)
    assert np.all(loss.noise[:, 0] == 0)
    found = moments([[1.0], [2.0]], [5, 10, 20], 3, (1, 2))
    assert found.E.shape == (2, 3, 2)
    assert minimise(affine(3), [[5], [10]], [0.1, 0.2, 0.3]).w.shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: moments(1.0, 0.5, 3, (1,)), "n is at least 1"),
        (lambda: moments(math.inf, 5, 3, (1,)), "w is finite"),
        (lambda: moments(1.0, 5, 1, (1,)), "d is an integer of at least 2"),
        (lambda: moments(1.0, 5, 3, (1,), order=3), "order is 0, 1 or 2"),
        (lambda: moments(1.0, 5, 3, (-1,)), "degrees are at least 0"),
        (lambda: evaluate(affine(3), 1.0, 5, -1.0), "sigma is finite and at least 0"),
        (lambda: minimise(affine(3), 1, 0.1), "n is more than 1"),
        (lambda: minimise(cosine(5, 10.0), 20, 0.01), "does not fall at w = 0"),
        (lambda: isotropic("odd", 3, (1, 3), (1.0,)), "one weight per distinct degree"),
        (lambda: isotropic("odd", 3, (1,), (-1.0,)), "masses are at least 0"),
        (lambda: linear.linear_attention("cosine"), "classes are affine, relu"),
        (lambda: limits.kappa_d("cosine"), "limits are known for"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_too_many_degrees_are_refused(monkeypatch):
    monkeypatch.setattr(population, "MOST_NEAREST", 64)
    with pytest.raises(ValueError, match="needs more than 64 degrees"):
        evaluate(relu(2), 300.0, 20, 0.1)


def test_the_benchmark_gives_figures(capsys):
    assert window.main(["--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["difference"] < 1e-6
    assert all(
        value > 0 and math.isfinite(value)
        for value in figures.values()
        if isinstance(value, float)
    )
