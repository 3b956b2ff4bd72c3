"""Classes of tasks, their kernels and validators, and the loss in the plane."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024.classes import (
    AFFINE,
    AXES,
    RELU,
    SQUARES,
    STEEP,
    counted,
    kernels,
    linear,
    minimiser,
    observed,
    sampled,
    validate,
)
from theorems.collins2024.classes.decide import AtLeast, Equal, exactly, nonnegative
from theorems.collins2024.classes.plane import Setting
from theorems.collins2024.classes.tasks import L, d, n, theta
from theorems.collins2024.lemma_b_5_minimiser import CLAIM as MINIMISER
from verify import Verdict

LAWS = {law.name: law for law in (AFFINE, RELU, SQUARES)}


@pytest.mark.parametrize("name", LAWS)
def test_kernels_agree_with_quadrature_in_the_plane(name):
    # d = 2: w runs over the circle; kinks of the ReLU leave an error of order 1/N^2
    law = LAWS[name]
    angles = 2 * np.pi * (np.arange(4000) + 0.5) / 4000
    w = np.stack([np.cos(angles), np.sin(angles)])
    for angle in (0.0, 0.7, 2.0, np.pi):
        total = 0.0
        for right, left in law.features:
            values = []
            for point in ((1.0, 0.0), (np.cos(angle), np.sin(angle))):
                inner = np.array(point) @ w
                sides = [sp.lambdify("z", side)(inner) for side in (right, left)]
                values.append(np.where(inner > 0, *sides))
            total += float(np.mean(values[0] * values[1]))
        exact = kernels.kernel(law).subs({L: sp.sqrt(3), d: 2, theta: angle})
        assert total == pytest.approx(float(exact), abs=1e-6)


def test_kernel_of_the_relu_class_has_the_closed_form():
    closed = (sp.sin(theta) + (sp.pi - theta) * sp.cos(theta)) / (sp.pi * d)
    assert validate.same(kernels.kernel(RELU), L**2 / 3 * (1 + closed))


def test_each_violation_breaks_one_part_alone():
    parts = (validate.lipschitz, validate.increasing, validate.invariant)
    broken = {
        law.name: [part(law).verdict is Verdict.REFUTED for part in parts]
        for law in (STEEP, SQUARES, AXES)
    }
    assert broken == {
        STEEP.name: [True, False, False],
        SQUARES.name: [False, True, False],
        AXES.name: [False, False, True],
    }


@pytest.mark.parametrize("seed", range(3))
def test_drawn_tasks_of_valid_classes_are_never_refuted(seed):
    for law in (AFFINE, RELU):
        kernel = kernels.kernel(law)
        outcome = observed.assumption_b4(law, kernel, 20_000, seed, 1e-6)
        assert outcome.verdict is Verdict.HOLDS


def test_bernstein_covers():
    rng = np.random.default_rng(0)
    missed = sum(
        abs(found.mean - 0.5) > found.radius
        for found in (
            sampled.bernstein(rng.uniform(size=200), 1.0, 0.05) for _ in range(400)
        )
    )
    assert missed <= 20


@pytest.mark.parametrize("law", [AFFINE, RELU], ids=lambda law: law.name)
def test_counted_loss_is_the_closed_form(law):
    found = linear.moments(law)
    M = tuple(Fraction(k, 7) for k in (1, -2, 3, 2))
    noise = Fraction(1, 3)
    at = {
        L: sp.sqrt(3),
        d: 2,
        n: 2,
        linear.variance: sp.Rational(1, 9),
        linear.trace: sp.Rational(3, 7),
        linear.square: sp.Rational(18, 49),
    }
    assert sp.Rational(counted.loss(law, M, noise)) == sp.nsimplify(found.loss.subs(at))


def test_counted_loss_is_the_average_over_all_cases():
    points = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    m = np.array([[0.25, -0.5], [0.75, 0.125]])
    errors = []
    for w, i, j, k in itertools.product(points, range(4), range(4), range(4)):
        for a, b, e1, e2 in itertools.product((1, -1), repeat=4):
            f = a * (points @ w) + b
            s = points @ m @ points[k]
            guess = (f[i] + e1 / 2) * s[i] + (f[j] + e2 / 2) * s[j]
            errors.append((guess - f[k]) ** 2)
    M = (Fraction(1, 4), Fraction(-1, 2), Fraction(3, 4), Fraction(1, 8))
    exact = counted.loss(AFFINE, M, Fraction(1, 2))
    assert float(exact) == pytest.approx(float(np.mean(errors)), rel=1e-12)


def test_plane_agrees_with_random_draws():
    setting = Setting(np.diag([1.0, 0.5]), np.diag([1.0, 2.0]), 0.1)
    M = np.array([[2.0, -1.0], [0.5, 3.0]])
    rng = np.random.default_rng(1)
    u = rng.standard_normal((3, 200_000, 2))
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    x1, x2, x = u @ np.diag([1.0, 0.5])
    v = rng.standard_normal((200_000, 2))
    w = v / np.linalg.norm(v, axis=-1, keepdims=True) @ np.diag([1.0, 2.0])
    slope, offset = rng.uniform(-1, 1, (2, 200_000))
    f1, f2, f = (slope * np.sum(w * p, axis=1) + offset for p in (x1, x2, x))
    noise = np.sqrt(0.1) * rng.standard_normal((2, 200_000))
    score = [np.sum(p @ M * x, axis=1) for p in (x1, x2)]
    g = 1 / (1 + np.exp(score[1] - score[0]))
    errors = (g * (f1 + noise[0]) + (1 - g) * (f2 + noise[1]) - f) ** 2
    z = (errors.mean() - setting.loss(M)) / (errors.std() / np.sqrt(errors.size))
    assert abs(z) < 5


def test_plane_converges():
    setting = Setting(np.eye(2), np.eye(2), 0.1)
    M = np.diag([1.0, 2.0])
    fine = setting.loss(M, 64)
    assert setting.loss(M, 32) == pytest.approx(fine, abs=1e-13)
    assert setting.loss(M, 20) == pytest.approx(fine, abs=1e-8)


def test_slope_of_the_loss_at_zero():
    # q'(0) = -2 (1 - 1/n) E[s rho(s)] with rho(s) = (1 + s/2)/3 and E s^2 = 1/2
    setting = Setting(np.eye(2), np.eye(2), 0.7)
    slope = (setting.loss(1e-4 * np.eye(2)) - setting.loss(-1e-4 * np.eye(2))) / 2e-4
    assert slope == pytest.approx(-1 / 12, rel=1e-6)


def test_three_groups_of_curvature_at_the_minimum():
    # along I, traceless symmetric and antisymmetric: all positive, for d = 2 of
    # multiplicities 1, 2 and 1
    setting = Setting(np.eye(2), np.eye(2), 0.1)
    best = setting.least(np.eye(2)).scale * np.eye(2)
    moves = {
        "scale": np.eye(2),
        "stretch": np.diag([1.0, -1.0]),
        "shear": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "turn": np.array([[0.0, 1.0], [-1.0, 0.0]]),
    }
    h = 1e-2
    here = setting.loss(best, 40)
    second = {
        name: sum(setting.loss(best + s * h * move, 40) - here for s in (-1, 1)) / h**2
        for name, move in moves.items()
    }
    assert all(value > 1e-3 for value in second.values())
    assert second["stretch"] == pytest.approx(second["shear"], rel=1e-4)


def test_minimiser_is_proved_and_its_mutants_are_not():
    assert minimiser.decide(MINIMISER).verdict is Verdict.HOLDS
    for mutant in MINIMISER.mutants:
        outcome = minimiser.decide(MINIMISER.changed(mutant))
        assert outcome.verdict is Verdict.REFUTED, mutant.name


def test_inequalities_are_proved_refuted_or_left_open():
    x = sp.Symbol("x", positive=True)
    assert nonnegative(x**2 - 2 * x + 1, {x: 1})
    assert not nonnegative(1 - x, {x: 0})
    left = AtLeast("x >= 2", x, sp.Integer(2), {x: 1}, ({"x": "3/2"},))
    assert left.decide().verdict is Verdict.REFUTED
    unknown = AtLeast("(x - 2)^2 >= 0", (x - 2) ** 2, sp.S.Zero, {x: 1})
    assert unknown.decide().verdict is Verdict.INCONCLUSIVE
    assert Equal("x + x", x + x, 2 * x).decide().verdict is Verdict.HOLDS


def test_rational_functions_are_evaluated_exactly():
    x, y = sp.symbols("x y")
    value = exactly(x / 3 + 1 / (y + 1), x, y)(Fraction(1, 7), 2)
    assert value == Fraction(1, 21) + Fraction(1, 3)
