"""How boxes are halved: each test kills mutants of `verify.certify.positivity`."""

from fractions import Fraction

import pytest
import sympy as sp

from verify.certify.positivity import _longest, bernstein
from verify.recheck import decide

x, y = sp.symbols("x y")
NEAR = x**2 - x + sp.Rational(26, 100)  # on [0, 1] it is positive by 1/100


@pytest.mark.parametrize("other", [Fraction(1, 1000), 1, 1000])
@pytest.mark.parametrize("first", [True, False])
def test_sides_are_halved_alike_however_long_they_are(other, first):
    """A long side that does not matter must not take all the halvings."""
    sides = {x: (0, 1), y: (0, other)}
    box = sides if first else dict(reversed(sides.items()))
    record = bernstein(NEAR, box, says="s", halvings=8)
    assert record is not None
    assert decide(record).valid is True


def test_the_side_that_is_longest_against_its_start_is_next():
    start = [(Fraction(0), Fraction(8)), (Fraction(1), Fraction(2))]
    assert _longest(start, start) == 0
    assert _longest([(Fraction(4), Fraction(8)), start[1]], start) == 1
    assert _longest([start[0], (Fraction(1), Fraction(3, 2))], start) == 0
    point = [(Fraction(3), Fraction(3)), (Fraction(0), Fraction(1))]
    quarter = [point[0], (Fraction(0), Fraction(1, 4))]
    assert _longest(quarter, point) == 1
