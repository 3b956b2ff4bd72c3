"""Certificates of positive polynomials, and that wrong ones are refused."""

import contextlib
import copy
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import recheck
from verify.certify.positivity import PositivityError, bernstein, ldl, squares
from verify.recheck import RecheckError, decide

x, y = sp.symbols("x y")
MOTZKIN = x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1


def test_a_positive_polynomial_needs_cells():
    near = x**2 - x + sp.Rational(26, 100)
    record = bernstein(near, {x: (0, 1)}, says="positive")
    assert record["cells"] is not None
    assert decide(record).valid is True
    assert decide(record | {"cells": None}).valid is False


def test_two_variables():
    touching = (x - y) ** 2 + sp.Rational(1, 50)
    record = bernstein(touching, {x: (0, 1), y: (-1, 2)}, says="positive")
    assert decide(record).valid is True
    assert bernstein(touching - 1, {x: (0, 1), y: (-1, 2)}, says="no") is None


def test_not_negative():
    assert bernstein(x**2, {x: (0, 1)}, says="s") is None
    weak = bernstein(x**2, {x: (0, 1)}, says="s", strict=False)
    assert decide(weak).valid is True
    assert decide(weak | {"relation": ">"}).valid is False
    inner = (2 * x - 1) ** 2  # its zero is at a corner of two cells
    assert decide(bernstein(inner, {x: (0, 1)}, says="s", strict=False)).valid is True


def test_constants_and_points():
    assert decide(bernstein(sp.Integer(3), {x: (0, 1)}, says="s")).valid is True
    assert decide(bernstein(x, {x: (2, 2)}, says="s")).valid is True
    assert bernstein(sp.S.Zero, {x: (0, 1)}, says="s") is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=5),
    st.fractions(-3, 3, max_denominator=7),
    st.fractions(0, 2, max_denominator=7),
    st.fractions(0, 1, max_denominator=9),
)
def test_bernstein_bounds_from_below(coefficients, low, width, t):
    poly = sum((c * x**i for i, c in enumerate(coefficients)), sp.S.Zero)
    record = bernstein(poly, {x: (low, low + width)}, says="s", halvings=2)
    if record is not None:
        assert poly.subs(x, sp.Rational(str(low + t * width))) > 0


def test_sums_of_squares():
    poly = 2 * x**4 + 2 * x**3 * y - x**2 * y**2 + 5 * y**4
    weak = squares(poly, [x, y], says="s", strict=False)
    assert decide(weak).valid is True
    strict = squares(poly + 1, [x, y], says="s")
    assert decide(strict).valid is True
    assert strict["box"] is None


def test_motzkin_is_no_sum_of_squares():
    assert squares(MOTZKIN, [x, y], says="s", strict=False) is None


def test_negative_somewhere():
    assert squares(x**2 - 1, [x], says="s") is None
    assert squares(x**3, [x], says="s", strict=False) is None


def test_other_than_rational_polynomials_are_refused():
    for wrong in (sp.exp(x), sp.sqrt(2) * x, x * y):
        with pytest.raises(PositivityError, match="no polynomial"):
            bernstein(wrong, {x: (0, 1)}, says="s")


def test_ldl():
    Q = [[Fraction(4), Fraction(2)], [Fraction(2), Fraction(1)]]
    L, D = ldl(Q)
    assert D == [4, 0]
    assert L[1][0] == Fraction(1, 2)
    assert ldl([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(1)]]) is None


GOOD = {
    "kind": "polynomial",
    "says": "s",
    "variables": ["x"],
    "terms": [[1, [0]], [-1, [1]], [1, [2]]],
    "relation": ">",
    "box": [[0, 1]],
    "cells": None,
    "squares": [],
}
SQUARE = GOOD | {"box": None, "squares": [[1, [[1, [1]], ["-1/2", [0]]]]]}


def test_records_by_hand():
    assert decide(GOOD).valid is True
    assert decide(SQUARE).valid is True
    assert decide(GOOD | {"box": [[0, "3/2"]], "cells": [0, None, None]}).valid is True


@pytest.mark.parametrize(
    "change",
    [
        {"box": None},
        {"box": [[1, 0]]},
        {"box": [[0, 1], [0, 1]]},
        {"box": [[0]]},
        {"box": [[0.0, 1]]},
        {"terms": [[1, [0, 0]]]},
        {"terms": [[1, [-1]]]},
        {"terms": [[1, [True]]]},
        {"terms": [[1, [0]], [2, [0]]]},
        {"terms": [[0.5, [0]]]},
        {"terms": [[1, ["x"]]]},
        {"relation": "<"},
        {"cells": [1, None, None]},
        {"cells": [0, None]},
        {"cells": 3},
        {"squares": [[-1, [[1, [0]]]]]},
        {"squares": [[1, [[1, [0, 0]]]]]},
        {"more": 1},
    ],
    ids=str,
)
def test_malformed_records_are_refused(change):
    with pytest.raises(RecheckError, match="malformed record"):
        decide(GOOD | change)


def test_changed_numbers_fail():
    for record, where in ((GOOD, "terms"), (SQUARE, "terms"), (SQUARE, "squares")):
        changed = copy.deepcopy(record)
        rows = changed[where] if where == "terms" else changed[where][0][1]
        rows[0][0] = -2
        with contextlib.suppress(RecheckError):
            assert decide(changed).valid is False


def test_work_is_bounded(monkeypatch):
    monkeypatch.setattr(recheck._Calculator, "work", 5)
    with pytest.raises(RecheckError, match="MAX_WORK"):
        decide(GOOD)
    wide = GOOD | {"variables": ["x", "y"], "box": [[0, 1]] * 2}
    monkeypatch.undo()
    with pytest.raises(RecheckError, match="MAX_WORK"):
        decide(wide | {"terms": [[1, [250, 250]]]})
