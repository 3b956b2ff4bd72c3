"""Panels decide signs that are there, and leave open those that are not."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from verify.certify.panels import (
    PanelError,
    constant_sign,
    derivative,
    interpolate,
    value,
)

HALF = Fraction(1, 2)


def panel(function, peak, low=Fraction(0), high=Fraction(2), terms=24, rho=4.0):
    with ctx.workprec(100):
        return interpolate(function, low, high, terms=terms, rho=arb(rho), peak=peak)


def chebyshev(function, low, high):
    """A panel of an entire function: centre 1, radius 1, |z - 1| <= 2.125 on E_4."""
    return panel(function, arb("3.2").exp(), low, high)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_exponential_keeps_its_sign(sign):
    found = chebyshev(lambda w: sign * w.exp(), Fraction(0), Fraction(2))
    assert found.sign() == sign
    assert found.slope_sign() == sign
    assert found.error < arb("1e-12")
    assert found.slope_error < arb("1e-9")


def test_a_zero_inside_is_left_open():
    found = chebyshev(lambda w: w.exp() - 2, Fraction(0), Fraction(2))
    assert found.sign() == 0
    assert found.slope_sign() == 1


def test_a_touching_zero_is_left_open():
    found = chebyshev(lambda w: (w - 1) ** 2, Fraction(0), Fraction(2))
    assert found.sign() == 0


def test_the_remainder_covers_the_function_and_its_slope():
    with ctx.workprec(100):
        found = panel(lambda w: (-w).exp(), arb("3.2").exp(), terms=8)
        for i in range(21):
            x = arb(i - 10) / 10
            w = found.centre + found.radius * x
            gap = value(found.coefficients, x) - (-w).exp()
            assert abs(gap) < found.error
            slope = value(derivative(found.coefficients), x) / found.radius
            assert abs(slope + (-w).exp()) < found.slope_error
        assert found.error < arb("1e-2")


def test_wide_values_widen_the_remainder():
    found = chebyshev(lambda w: w.exp() + arb(0, "0.01"), Fraction(0), Fraction(2))
    assert found.error > arb("0.01")
    assert all(c.is_exact() for c in found.coefficients)
    assert found.sign() == 1  # exp is at least 1


def test_a_sign_inside_the_slack_is_open():
    one = [arb(1)]
    assert constant_sign(one, arb("0.99")) == 1
    assert constant_sign(one, arb(1)) == 0
    assert constant_sign([arb(0), arb(1)], arb(0)) == 0  # x itself
    assert constant_sign([arb("1.5"), arb(0), arb(1)], arb("0.4")) == 1
    assert constant_sign([arb("1.5"), arb(0), arb(1)], arb("0.6")) == 0


def test_clenshaw_and_derivative_agree_with_the_polynomial():
    coefficients = [arb(1), arb(-2), arb(3), arb(5)]
    x = arb(HALF.numerator) / HALF.denominator
    # 1 - 2x + 3(2x^2 - 1) + 5(4x^3 - 3x)
    assert value(coefficients, x).contains(1 - 1 + 3 * arb("-0.5") + 5 * arb(-1))
    # -2 + 12x + 5(12x^2 - 3)
    assert value(derivative(coefficients), x).contains(4)


@pytest.mark.parametrize(
    ("low", "high"), [(Fraction(0), Fraction(1, 3)), (Fraction(1), Fraction(1))]
)
def test_intervals_are_dyadic_and_not_empty(low, high):
    with pytest.raises(PanelError, match="dyadic"):
        panel(lambda w: w, arb(1), low, high)
