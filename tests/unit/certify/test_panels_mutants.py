"""What a panel's remainders are made of, term by term: each test kills mutants.

A remainder that is too small is a proof of nothing, and the functions of
``test_panels.py`` stay far within theirs.
"""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from verify.certify.panels import derivative, interpolate, value

TAIL = 400  # terms of a series; the next is below 3^-400 times its square


def panel(function, terms, rho, peak=1, low=Fraction(0), high=Fraction(1)):
    with ctx.workprec(200):
        return interpolate(
            function, low, high, terms=terms, rho=arb(rho), peak=arb(peak)
        )


def exact(x):
    return arb(fmpq(x.numerator, x.denominator))


@pytest.mark.parametrize(("terms", "rho"), [(1, 3), (2, 4), (5, 3), (12, 4)])
@pytest.mark.parametrize("peak", [1, 7])
def test_the_remainders_are_the_sums_of_all_further_coefficients(terms, rho, peak):
    """Coefficient k is at most 2 B rho^-k, and counts twice: itself and its alias."""
    found = panel(lambda w: arb(0), terms, rho, peak, high=Fraction(1, 2))
    powers = [(k, Fraction(4 * peak, rho**k)) for k in range(terms, TAIL)]
    error = sum(c for _, c in powers)
    slope = sum(c * k * k for k, c in powers) / Fraction(1, 4)
    with ctx.workprec(200):
        for given, least in ((found.error, error), (found.slope_error, slope)):
            assert given > exact(least * (1 - Fraction(1, 10**30)))
            assert given < exact(least * (1 + Fraction(1, 10**30)))


@pytest.mark.parametrize("k", [1, 3, 7])
def test_what_values_leave_open_is_in_the_remainders(k):
    """r T_k has values within r of 0, and at 1 the slope r k^2 over the radius."""
    r, terms = arb("0.01"), 8
    wide = panel(lambda w: arb(0, "0.01"), terms, 4)
    plain = panel(lambda w: arb(0), terms, 4)
    with ctx.workprec(200):
        assert wide.error - plain.error >= r * 99 / 100
        assert wide.slope_error - plain.slope_error >= r * k * k / wide.radius
        assert wide.slope_error < 2 * r * terms**3 / wide.radius


@pytest.mark.parametrize("low", [Fraction(0), Fraction(-3, 4), Fraction(5)])
def test_a_polynomial_is_its_own_interpolant(low):
    """x^3 - x in w, on intervals of several lengths: value and slope at 9 points."""
    for length in (Fraction(1, 4), Fraction(2)):
        ends = low, low + length
        found = panel(lambda w: w**3 - w, 4, 3, 1, *ends)
        with ctx.workprec(200):
            assert found.centre == exact(sum(ends) / 2)
            assert found.radius == exact(length / 2)
            for i in range(9):
                x = arb(i - 4) / 4
                w = found.centre + found.radius * x
                near = value(found.coefficients, x) - (w**3 - w)
                slope = value(derivative(found.coefficients), x) / found.radius
                assert abs(near) < arb("1e-40")
                assert abs(slope - (3 * w**2 - 1)) < arb("1e-40")


def test_a_panel_cannot_be_changed():
    found = panel(lambda w: w, 4, 3)
    with pytest.raises(FrozenInstanceError):
        found.error = arb(0)
