"""Helpers of appendices G and I: caps, sums of exponentials, rearrangements."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024.caps import area, attention, sums
from theorems.collins2024.caps.balls import evaluate, number
from theorems.collins2024.caps.bounds import Bound, settle
from theorems.collins2024.caps.cells import Cells
from theorems.collins2024.caps.steps import equal, need, nonnegative, positive, rising
from theorems.collins2024.caps.unimodal import Polygon
from theorems.collins2024.definition_g_2_partial_sums import as_stated, closed
from verify import Undecided, Verdict
from verify.recheck import decide

x, y = sp.symbols("x y", positive=True)
k = sp.Symbol("k", integer=True)


def points_on_sphere(rng, n, d):
    """Points drawn uniformly, from normal vectors."""
    vectors = rng.standard_normal((n, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "expr",
    [
        x**2 / 3 + sp.sqrt(x) - sp.pi * sp.E,
        sp.gamma(x + 1) * sp.exp(-x) * x ** (x / 2),
        sp.Sum(k**x * sp.exp(-k), (k, 1, 5)),
        sp.log(x) / x ** sp.Rational(-3, 2),
    ],
)
def test_balls_hold_the_value(expr):
    ball = evaluate(expr, {x: Fraction(7, 2)})
    exact = expr.subs(x, sp.Rational(7, 2)).evalf(30)
    assert abs(float(ball.mid()) - float(exact)) < 1e-12 * abs(float(exact))


def test_balls_refuse_what_they_do_not_know():
    with pytest.raises(TypeError, match="no ball"):
        evaluate(sp.sin(x), {x: 1})


def test_a_bound_decides_equality_exactly():
    at = {x: Fraction(2)}
    loose = Bound(sp.sqrt(x) ** 2, x, at, "equal")
    assert loose.holds()
    assert not Bound(sp.sqrt(8), 2 * sp.sqrt(x), at, "equal", strict=True).holds()


def test_records_of_bounds_are_valid_and_only_when_true():
    good = Bound(sp.pi, x, {x: Fraction(22, 7)}, "22/7 is above pi")
    assert good.holds()
    assert decide(good.certificate()).valid
    assert decide(good.witness()).valid is False
    bad = Bound(sp.pi, x, {x: Fraction(333, 106)}, "333/106 is below pi")
    assert not bad.holds()
    assert decide(bad.witness()).valid


def test_settle_never_holds_without_a_proof():
    true = Bound(x, x + 1, {x: Fraction(1)}, "")
    assert settle(None, [true], says="").verdict is Verdict.INCONCLUSIVE


def test_steps_refuse_what_is_false():
    assert "x ≥ 0" in positive("a sign", x, {x: 0})
    assert not nonnegative(x - y, {x: 0, y: 0})
    assert not nonnegative(x, {})
    for refused in (
        lambda: need("no", False),
        lambda: equal("no", x, x + 1),
        lambda: rising("no", sp.log(1 + x) - x, x),
    ):
        with pytest.raises(Undecided):
            refused()


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_share_of_a_cap_by_quadrature(size):
    height = Fraction(3, 8)
    grid = (np.arange(200_000) + 0.5) / 200_000
    angles = grid * np.arccos(1 - float(height))  # the cap, by its polar angle
    part = np.mean(np.sin(angles) ** (size - 2)) * np.arccos(1 - float(height))
    whole = np.mean(np.sin(grid * np.pi) ** (size - 2)) * np.pi
    assert float(area.share(size, height).mid()) == pytest.approx(
        part / whole, rel=1e-8
    )


@pytest.mark.parametrize("size", [3, 5, 9])
def test_polynomial_share_is_the_incomplete_beta_function(size):
    for height in (Fraction(1, 3), Fraction(1), Fraction(3, 2)):
        exact = area.polynomial(size).subs(area.h, sp.Rational(height))
        assert bool(abs(area.share(size, height) - number(exact)) < 1e-14)


def test_polynomial_share_needs_odd_d():
    with pytest.raises(ValueError, match="odd"):
        area.polynomial(4)


def test_median_of_gamma_variables_is_below_the_mean():
    """The theorem of Chen and Rubin, which two proofs cite, where it is used."""
    for half in range(2, 120):
        shape = number(Fraction(half, 2))
        assert bool(shape.gamma_lower(shape, 1) > 0.5)


def test_recursion_is_the_sum():
    for size in range(5):
        for last in (1, 2, 9):
            base = Fraction(3, 7)
            assert closed(size, base, last) == as_stated(size, base, last)


def test_largest_term_is_the_maximum():
    term = sums.d * sp.log(x) - sums.alpha * x
    peak = sums.d / sums.alpha
    assert sp.simplify(sp.diff(term, x).subs(x, peak)) == 0
    top = sp.log(sums.LARGEST.subs({sums.d: 3, sums.alpha: 2}))
    at = term.subs({x: peak}).subs({sums.d: 3, sums.alpha: 2})
    assert abs((top - at).evalf(30)) < 1e-25


@pytest.mark.parametrize(("size", "power"), [(3, 0), (3, 2), (5, 0), (7, 2)])
def test_means_by_quadrature_and_their_order(size, power):
    grid = 2 * (np.arange(400_000) + 0.5) / 400_000
    density = (grid * (2 - grid)) ** ((size - 3) / 2)
    density /= density.sum()
    rate = 9.0
    summand = (2 * grid) ** (power / 2) * np.exp(-2 * rate * grid)
    exact = float(evaluate(attention.mean(size, power), {attention.r: 9}).mid())
    assert exact == pytest.approx(float(density @ summand), rel=1e-6)
    at = {attention.d: size, attention.p: power}
    leading = float(evaluate(attention.LEADING, at).mid())
    order = leading * rate ** (-(size - 1 + power) / 2)
    assert 2 ** (-(size - 1) / 2) * order <= exact <= order


@pytest.mark.parametrize(("size", "power"), [(3, 0.0), (3, 1.0), (4, 0.5), (5, 2.0)])
def test_drawn_sums_stay_between_half_and_twice_the_mean_order(size, power):
    """Seeded; a draw outside has a probability below n^{-1.7} by the proof."""
    rng = np.random.default_rng(20)
    rate = (size + size**0.5) / 2
    n = 6
    while n / np.log(n) < 45 * size**0.5 * rate ** (size / 2):
        n += n // 16 + 1
    at = {attention.d: Fraction(size), attention.p: Fraction(power)}
    below, above = (
        float(evaluate(c, at).mid()) for c in (attention.BELOW, attention.ABOVE)
    )
    scale = n * rate ** (-(size - 1 + power) / 2)
    for _ in range(5):
        points = points_on_sphere(rng, n, size)
        gaps = np.linalg.norm(points - points_on_sphere(rng, 1, size), axis=1)
        total = float(np.sum(gaps**power * np.exp(-rate * gaps**2)))
        assert below * scale <= total <= above * scale


def test_polygons():
    tent = Polygon(
        (Fraction(0), Fraction(1), Fraction(3)), (Fraction(0), Fraction(2), Fraction(0))
    )
    assert tent.rises_then_falls
    assert tent.integral(0, 3) == 3
    assert tent.integral(0, 1) == 1
    assert tent.total(0, 3) == 3
    assert tent.at(Fraction(2)) == 1
    assert tent.at(7) == 0
    waves = Polygon(tuple(map(Fraction, range(4))), tuple(map(Fraction, (0, 1, 0, 1))))
    assert not waves.rises_then_falls


def test_rearranged_cells_keep_measure_and_order():
    cells = Cells(
        (Fraction(1), Fraction(2), Fraction(3)),
        (Fraction(1), Fraction(5), Fraction(3)),
        (Fraction(4), Fraction(0), Fraction(2)),
    )
    layers = cells.rearranged(True, True)
    assert sum(width for width, _, _ in layers) == 6
    values = [cells.f[i] for _, i, _ in layers]
    assert values == sorted(values, reverse=True)
    # by hand: 5·4·1 + 5·2·1 + 3·2·2 + 3·0·1 + 1·0·1
    assert cells.product(layers) == 42
    assert cells.product(cells.in_place()) == 4 + 18
    assert cells.product(cells.rearranged(None, None)) == 22
