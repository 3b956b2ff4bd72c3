"""Resolution: brackets around a value, from at most eight decisions."""

from fractions import Fraction

import pytest
import sympy as sp

from verify.resolution import resolve_parameter


def bracket(low, high, claimed=Fraction(1), reach=0.5):
    """Resolve a check that accepts exactly [low, high], and note what it is asked."""
    asked = []

    def rejects(value):
        asked.append(value)
        return not low <= value <= high

    return resolve_parameter(rejects, "rate", claimed, reach), asked


def exact(text):
    return Fraction(str(text))


@pytest.mark.parametrize("width", ["1/3", "1/1000", "1/12345678"])
def test_brackets_contain_the_threshold(width):
    width = Fraction(width)
    found, asked = bracket(1 - width, 1 + width)
    assert exact(found.below.rejected) < 1 - width <= exact(found.below.accepted)
    assert exact(found.above.accepted) <= 1 + width < exact(found.above.rejected)
    assert exact(found.below.rejected) >= Fraction(1, 2)
    assert exact(found.above.rejected) <= Fraction(3, 2)
    assert found.decisions == len(asked) <= 8
    assert found.monotone


def test_what_a_bracket_names_was_decided():
    found, asked = bracket(Fraction(9, 10), Fraction(101, 100))
    for side in (found.below, found.above):
        assert exact(side.rejected) in asked
        assert exact(side.accepted) in {*asked, 1}


def test_sides_are_told_apart():
    found, _ = bracket(Fraction(999_999, 10**6), Fraction(13, 10))
    below = 1 - exact(found.below.rejected)
    assert exact(found.above.accepted) > 1 + 10 * below
    assert exact(found.below.rejected) < Fraction(999_999, 10**6)
    assert exact(found.above.rejected) > Fraction(13, 10)


def test_only_the_claimed_value_is_accepted():
    found, asked = bracket(1, 1)
    assert exact(found.below.accepted) == exact(found.above.accepted) == 1
    assert 0 < exact(found.above.rejected) - 1 < Fraction(1, 10**9)
    assert 0 < 1 - exact(found.below.rejected) < Fraction(1, 10**9)
    assert len(asked) <= 8


def test_reach_that_is_accepted_has_no_rejection():
    found, asked = bracket(0, Fraction(101, 100))
    assert found.below.rejected is None
    assert exact(found.below.accepted) == Fraction(1, 2)
    assert found.above.rejected is not None
    assert found.monotone
    assert min(asked) == Fraction(1, 2)


def test_gap_inside_is_flagged():
    def rejects(value):
        return Fraction(1, 32) < abs(value - 1) < Fraction(1, 4)

    found = resolve_parameter(rejects, "rate", Fraction(1), 0.5)
    assert not found.monotone
    assert exact(found.above.rejected) == Fraction(17, 16)
    assert 1 < exact(found.above.accepted) < Fraction(17, 16)
    assert found.decisions <= 8


def test_gap_on_one_side_is_enough():
    found = resolve_parameter(lambda v: 1 < v < Fraction(6, 5), "rate", Fraction(1), 1)
    assert not found.monotone
    assert found.below.rejected is None


@pytest.mark.parametrize(
    ("claimed", "text"),
    [(sp.Integer(3), "3"), (sp.Rational(7, 3), "7/3"), (Fraction(7, 3), "7/3")],
)
def test_exact_values_stay_exact(claimed, text):
    seen = []
    centre = exact(text)

    def rejects(value):
        seen.append(value)
        return abs(value - claimed) > sp.Rational(1, 10)

    found = resolve_parameter(rejects, "rate", claimed, 0.5)
    assert found.claimed == text
    assert exact(found.below.rejected) < centre - Fraction(1, 10)
    assert exact(found.above.rejected) > centre + Fraction(1, 10)
    assert exact(found.above.accepted) <= centre + Fraction(1, 10)
    assert not any(isinstance(value, float | sp.Float) for value in seen)


def test_floats_and_integers():
    found, _ = bracket(0.9, 1.2, claimed=1.0)
    assert found.claimed == pytest.approx(1.0)
    assert found.below.rejected < 0.9 <= found.below.accepted <= 1
    assert found.above.accepted <= 1.2 < found.above.rejected
    found, _ = bracket(1, 3, claimed=2, reach=1)
    assert (found.below.rejected, found.above.rejected) == (None, None)
    assert (exact(found.below.accepted), exact(found.above.accepted)) == (1, 3)


def test_error_of_the_check_passes():
    with pytest.raises(ZeroDivisionError):
        resolve_parameter(lambda value: 1 / 0, "rate", Fraction(1), 0.5)


def test_what_cannot_be_decided_is_neither_accepted_nor_rejected():
    found = resolve_parameter(lambda value: None, "rate", Fraction(1), 0.5)
    assert (found.below.rejected, found.above.rejected) == (None, None)
    assert exact(found.below.accepted) == exact(found.above.accepted) == 1
