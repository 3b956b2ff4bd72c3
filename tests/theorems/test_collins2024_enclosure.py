"""Certified losses: every constant has a case that its absence would change."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import acb, arb, ctx

from theorems.collins2024 import theorem_3_4_minimiser as minimiser
from theorems.collins2024.enclosure import (
    BracketError,
    CertificateError,
    Population,
    PopulationError,
    bracket,
    certify,
    decide,
    discrete,
    enclose,
    laplace,
    line,
    point,
    prove,
    scale_brackets,
    tail,
)
from theorems.collins2024.enclosure import population as constants
from theorems.collins2024.enclosure.population import ball
from theorems.collins2024.loss import affine, evaluate, relu
from verify import Verdict

CASES = [
    ("affine", 5, 20, Fraction(1, 10_000), Fraction("6.68065830075386")),
    ("relu", 5, 20, Fraction(1, 10_000), Fraction("6.73194202269312")),
    ("affine", 2, 5, Fraction(9, 100), Fraction("2.30943061413546")),
    ("relu", 2, 5, Fraction(9, 100), Fraction("1.72522847661047")),
    ("affine", 3, 5, Fraction(1), Fraction("0.46165735533657")),
    ("relu", 4, 7, Fraction(1, 4), Fraction(2)),
]
SMALL = Population("affine", 3, 5, Fraction(1))


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(160):
        yield


# ---- the loss at single scales


@pytest.mark.parametrize("d", [2, 3, 5, 6])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_at_zero_in_closed_form(d, n):
    """L(0) and L'(0): averaging all labels."""
    sigma2 = Fraction(1, 3)
    c = Fraction(1, 3 * d)
    value, slope = enclose("affine", d, n, sigma2, 0, 1e-20)
    assert value.overlaps(ball((1 + Fraction(1, n)) * c + sigma2 / n))
    assert slope.overlaps(ball(-2 * c / d * (1 - Fraction(1, n))))
    value, slope = enclose("relu", d, n, sigma2, 0, 1e-12)
    mean = constants.kinks(d, 0)[0]
    kink = (ball(Fraction(1, d)) - mean) / 6
    exact = ball(1 + Fraction(1, n)) * (ball(c / 2) + kink) + ball(sigma2 / n)
    assert value.overlaps(exact)
    assert value.rad() < 1e-12
    assert slope.overlaps(ball(-c / d * (1 - Fraction(1, n))))


@pytest.mark.parametrize(("kind", "d", "n", "sigma2", "w"), CASES)
def test_tighter_enclosures_lie_in_wider_ones(kind, d, n, sigma2, w):
    best = enclose(kind, d, n, sigma2, w, 1e-20)
    for eps in (1e-4, 1e-7, 1e-10):
        for found, exact in zip(enclose(kind, d, n, sigma2, w, eps), best, strict=True):
            assert found.overlaps(exact)
            assert found.rad() < eps
    assert best[0].rad() < 1e-20


@pytest.mark.parametrize(("kind", "d", "n", "sigma2", "w"), CASES)
@pytest.mark.parametrize("factor", [1, Fraction(137, 100)])
def test_floating_point_quadrature_agrees(kind, d, n, sigma2, w, factor):
    value, slope = enclose(kind, d, n, sigma2, w * factor, 1e-14)
    task = {"affine": affine, "relu": relu}[kind](d)
    found = evaluate(task, float(w * factor), n, math.sqrt(sigma2), order=1)
    assert float(abs(value - float(found.value))) < 1e-12
    assert float(abs(slope - float(found.slope))) < 1e-12


def test_two_tokens_on_the_sphere_by_one_integral():
    """d = 3, n = 2: t is uniform, gamma_1 = 1/(1 + e^{-w x}), x = t_1 - t_2."""
    w = arb(3)

    def density(x, _):  # of x on [0, 2] twice: E over pairs with |t_1 - t_2| = x
        gamma = 1 / (1 + (-w * x).exp())
        rest = 1 - gamma
        # E_1 = E[(1 - mean t)^2 + sum gamma^2 (1 - t^2)], s = (t_1 + t_2)/2 uniform on
        # [-(1 - x/2), 1 - x/2]; E over s of polynomials in s
        half = 1 - x / 2
        second = half * half / 3
        lean = (gamma - rest) * x / 2
        square = (1 - lean) ** 2 + second
        spread = sum(g * g * (1 - second - x * x / 4) for g in (gamma, rest))
        return half * (square + spread)

    exact = acb.integral(density, 0, 2).real / ball(9.0)
    assert enclose("affine", 3, 2, 0, 3, 1e-20)[0].overlaps(exact)
    assert exact.rad() < 1e-20


@pytest.mark.parametrize("kind", ["affine", "relu"])
def test_the_slope_is_the_symmetric_difference(kind):
    h, at = Fraction(1, 2**20), [Fraction(2) + s * Fraction(1, 2**20) for s in (-1, 1)]
    low, high = (enclose(kind, 4, 6, Fraction(1, 4), w, 1e-22)[0] for w in at)
    slope = enclose(kind, 4, 6, Fraction(1, 4), 2, 1e-15)[1]
    assert abs((high - low) / ball(2 * h) - slope) < 1e-11


@pytest.mark.parametrize("top", [2, 4, 8, 16])
def test_few_harmonics_are_paid_for(top, monkeypatch):
    """What the truncation leaves out is inside the radius, however few are kept."""
    population = Population("relu", 4, 6, Fraction(1, 4))
    exact = point.enclose_at(population, arb(2), 1e-12)
    chosen = point.plan(population, 2.0, 1e-12)
    few = point.Plan(chosen.size, top, chosen.psi, chosen.psi_top, chosen.nu)
    found = point._enclose(population, arb(2), few, 1e-12)
    for wide, narrow in zip(found, exact, strict=True):
        assert wide.overlaps(narrow)
    drift = abs(found[1].mid() - exact[1].mid())
    assert drift < found[1].rad()
    if top == 2:
        assert drift > 1e-6  # the truncation is seen


@pytest.mark.parametrize("field", ["size", "nu"])
def test_coarse_sizes_are_paid_for(field):
    population = Population("affine", 5, 20, Fraction(1, 10_000))
    exact = point.enclose_at(population, arb(6), 1e-16)
    chosen = point.plan(population, 6.0, 1e-16)
    coarse = {"size": 24, "nu": 1}[field]
    sizes = {name: getattr(chosen, name) for name in ("size", "top", "psi", "psi_top")}
    sizes |= {"nu": chosen.nu, field: coarse}
    found = point._enclose(population, arb(6), point.Plan(**sizes), 1e-16)
    for wide, narrow in zip(found, exact, strict=True):
        assert wide.overlaps(narrow)
        assert wide.rad() > 1e-12


def test_short_grids_are_paid_for(monkeypatch):
    population = Population("affine", 5, 20, Fraction(1, 10_000))
    exact = point.enclose_at(population, arb(6), 1e-16)
    chosen, whole = point.plan(population, 6.0, 1e-16), point._grid
    for first, last in ((30, 0), (0, -30)):
        monkeypatch.setattr(
            point,
            "_grid",
            lambda *a, f=first, k=last: laplace.Grid(
                chosen.nu, whole(*a).first + f, whole(*a).last + k
            ),
        )
        found = point._enclose(population, arb(6), chosen, 1e-16)
        for wide, narrow in zip(found, exact, strict=True):
            assert wide.overlaps(narrow)
            assert wide.rad() > 1e-14
        drift = abs(found[0].mid() - exact[0].mid())
        assert drift > exact[0].rad()


def test_sums_over_pairs_term_by_term():
    """At 64 bits, from far left to far right, around sums degree by degree at 256."""
    population, grid = (
        Population("relu", 4, 6, Fraction(1, 4)),
        laplace.Grid(1, -40, 14),
    )
    found = {}
    for bits in (64, 256):
        with ctx.workprec(bits):
            stage = laplace.Stage(population, 9, 6, bits)
            a = [(-2 * u).exp() for u in stage.points]
            s = [grid.at(k) for k in range(grid.first, grid.last + 1)]
            rows = laplace.exponentials(grid, a, ball(2.0) ** -400)
            found[bits] = laplace._pair_sums(stage, a, rows, s)
    with ctx.workprec(256):
        weights = population.weights(6)
        for i, x in enumerate(s):
            columns = zip(stage.mass, a, stage.points, strict=True)
            sums = [[ball(0.0)] * 2 for _ in weights]
            for j, (p, y, u) in enumerate(columns):
                e = p * x * y * (-x * y).exp()
                for total, D in zip(sums, stage.discrepancies.values(), strict=True):
                    total[0] += e * D[j]
                    total[1] += e * (x * y - 1) * u * D[j]
            both = list(zip(weights.values(), sums, strict=True))
            exact = [sum(c * t[0] * t[m] for c, t in both) for m in (0, 1)]
            for bits in found:
                for column, value in zip(found[bits], exact, strict=True):
                    assert column[i].overlaps(value)
                    assert column[i].rad() < 2.0 ** (24 - bits)


@pytest.mark.parametrize("kind", ["affine", "relu"])
def test_negative_scales_by_reflection(kind):
    """L(-w) - L(w) = 4 c_1 E mean t: and both slopes from differences."""
    population = Population(kind, 3, 4, Fraction(1, 10))
    here, there = (point.enclose_at(population, arb(s), 1e-14) for s in (2, -2))
    assert there[0] > here[0]
    task = {"affine": affine, "relu": relu}[kind](3)
    found = evaluate(task, -2.0, 4, math.sqrt(0.1), order=1)
    assert float(abs(there[0] - float(found.value))) < 1e-12
    assert float(abs(there[1] - float(found.slope))) < 1e-12
    assert there[1] < 0


# ---- constants


@pytest.mark.parametrize("d", [2, 3, 5, 8])
def test_weights_of_a_kink(d):
    """b_k from their recurrence against E |T| P_k(T), and their sums."""
    t = sp.symbols("t")
    lam = sp.Rational(d - 2, 2)
    density = (1 - t**2) ** sp.Rational(d - 3, 2)
    norm = sp.integrate(density, (t, -1, 1)) if d % 2 else None
    kinks = constants.kinks(d, 400)
    if norm:
        for k in (0, 2, 4):
            p = sp.gegenbauer(k, lam, t) / sp.gegenbauer(k, lam, 1)
            mean = 2 * sp.integrate(sp.expand(t * p * density), (t, 0, 1)) / norm
            exact = sp.Rational(mean) ** 2 * constants.multiplicity(d, k)
            assert kinks[k].overlaps(ball(Fraction(int(exact.p), int(exact.q))))
    left = 1 / arb(d) - sum(kinks.values())
    assert 0 < left < 1e-6
    steep = sum(b * ball(constants.steepness(d, k)) for k, b in kinks.items())
    assert 0 < 1 / arb(d) - steep < 0.01  # its terms fall like k^-2


def test_harmonics_against_flint():
    for d in (4, 5):
        points, _ = discrete.law(d, 7, 128)
        for k, values in discrete.harmonics(d, 7, 24, 128).items():
            lam = arb(d - 2) / 2
            for t, x in zip(points, values, strict=True):
                other = t.gegenbauer_c(arb(k), lam) / arb(1).gegenbauer_c(arb(k), lam)
                assert x.overlaps(other)
                assert x.rad() < 2.0**-118


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6])
def test_the_finite_law_has_the_moments(d):
    """E t^2 = 1/d, E t^4 = 3/(d (d + 2)), and the mass is 1."""
    points, mass = discrete.law(d, 12, 128)
    moments = [
        sum(p * t**k for t, p in zip(points, mass, strict=True)) for k in (0, 2, 4)
    ]
    for found, exact in zip(
        moments, (Fraction(1), Fraction(1, d), Fraction(3, d * (d + 2))), strict=True
    ):
        assert found.overlaps(ball(exact))


# ---- brackets and the whole line


@pytest.mark.parametrize(("kind", "d", "n", "sigma2", "w"), CASES[2:5])
def test_brackets_are_found_and_proved(kind, d, n, sigma2, w):
    found = bracket(kind, d, n, sigma2)
    assert found.left < found.right
    assert abs((found.left + found.right) / 2 / w - 1) < Fraction(1, 10**12)
    assert found.below < 0 < found.above


def test_no_bracket_is_proved_where_there_is_none():
    with pytest.raises(BracketError, match="not a bracket"):
        prove(SMALL, Fraction(1), Fraction(2))


def test_the_line_of_a_small_loss():
    w = Fraction("0.46165735533657")
    left, right = (w * (1 + s * Fraction(1, 10**12)) for s in (-1, 1))
    found = certify(SMALL, left, right)
    assert found.margin > 0
    assert found.start >= 1
    assert found.panels >= 3
    with pytest.raises((CertificateError, BracketError)):
        certify(SMALL, left * 2, right * 2)


def test_a_panel_of_the_wrong_sign_is_no_proof():
    walk = line.Walk(SMALL)
    with pytest.raises(CertificateError, match="not of sign"):
        walk.prove(Fraction(0), Fraction(1, 4), +1)


@pytest.mark.parametrize(
    ("kind", "d", "n", "sigma2"),
    [("affine", 3, 5, 1), ("relu", 3, 5, 1), ("affine", 4, 9, Fraction(1, 4))],
)
def test_the_tail_bound_is_below_the_truth(kind, d, n, sigma2):
    population = Population(kind, d, n, Fraction(sigma2))
    start = tail.settles(population)
    assert start > 0
    margin = tail.margin(population, start)
    assert margin > 0
    for factor in (1, 1.5):
        w = start * factor
        slope = enclose(kind, d, n, sigma2, w, 1e-9)[1]
        assert margin < w * w * slope / (2 * ball(population.c))


def test_the_tail_bound_against_floating_point():
    """Both parts by quadrature in two variables, d = 3: close, on the right side."""
    n, W, sigma2 = 5, 8.0, 1.0
    population = Population("affine", 3, n, Fraction(1))
    u = np.linspace(0, 2, 1001)[:-1] + 0.001
    x = np.linspace(0, 30, 1001)[:-1] + 0.015
    q = 1 / (1 + np.exp(x))
    beyond = (1 - u / 2) ** (n - 2)
    inside = (u[:, None] + x / W) < 2
    steep = 2 * x**2 * q**2 * (1 - q) + u[:, None] * x**2 * q * (1 - q) + x**3 * q / W
    loss = n * (n - 1) / W * (0.25 * beyond[:, None] * inside * steep).sum() * 6e-5
    crowd = (1 - np.exp(-W * (2 - u))) / W / 2 / (1 - u / 2)
    half = u <= 1
    body = x * np.exp(-x) * (1 - np.exp(-x))
    cube = (1 + np.exp(-x) + (n - 2) * crowd[:, None]) ** -3
    fits = x <= W * (1 - u)[:, None]
    useful = u * (2 - u) + sigma2 / float(population.c)
    gain = (half * 0.25 * beyond * useful)[:, None] * fits * body * cube
    gain = n * (n - 1) * gain.sum() * 6e-5
    below, above = (float(f(population, arb(W))) for f in (tail.gain, tail.loss))
    assert 0.88 * gain < below < gain * 1.001
    assert 0.999 * loss < above < loss * 1.25


@pytest.mark.parametrize("kind", ["affine", "relu"])
def test_coarse_cells_are_on_the_safe_side(kind, monkeypatch):
    """With 100 tokens what lies beyond u changes fast: each cell's end matters."""
    population, fine = Population(kind, 5, 100, Fraction(1)), {}
    for count in (1500, 30):
        monkeypatch.setattr(tail, "CELLS", count)
        tail.cells.cache_clear()
        fine[count] = [f(population, arb(40)) for f in (tail.gain, tail.loss)]
    tail.cells.cache_clear()
    assert 0 < fine[30][0] < 0.7 * fine[1500][0]
    assert 1.2 * fine[1500][1] < fine[30][1]


def test_shapes_that_are_not_covered():
    with pytest.raises(PopulationError):
        Population("cosine", 3, 5, Fraction(1))
    with pytest.raises(PopulationError):
        Population("affine", 3, 1, Fraction(1))
    with pytest.raises(PopulationError, match="d >= 3"):
        tail.margin(Population("affine", 2, 5, Fraction(1)), 10)


def test_scales_in_order():
    ((ratio, first), (_, second)) = scale_brackets("affine", 3, (10, 100))
    assert ratio == 10
    assert first.right < second.left
    assert 2.6 < second.left < 2.8


# ---- the claim


def test_a_smaller_interval_in_the_claimed_one_has_no_proof_of_its_own():
    rows = minimiser.MORE.configurations
    narrow = minimiser.MORE.at(
        half_width=sp.Rational(1, 2 * 10**12), configurations=sp.Tuple(rows[0])
    )
    outcome = decide.whole_line(narrow, {})
    assert outcome.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("claim", [minimiser.CLAIM, minimiser.MORE], ids=lambda c: c.id)
@pytest.mark.parametrize("name", [m.name for m in minimiser.CLAIM.mutants])
def test_mutants_fall_by_a_change_of_sign_elsewhere(claim, name):
    (mutant,) = (m for m in claim.mutants if m.name == name)
    outcome = decide.brackets(claim.changed(mutant))
    assert outcome.verdict is Verdict.REFUTED
    inputs = {k: Fraction(v) for k, v in outcome.witness["inputs"].items()}
    assert inputs["below"] < 0 < inputs["above"]
    apart = inputs["high"] < inputs["left"] or inputs["low"] > inputs["right"]
    assert apart
