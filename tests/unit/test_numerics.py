"""Tolerances: they bound real rounding errors, and comparisons show what they found."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import Cause, Verdict, recheck
from verify.numerics import (
    WITNESS_ROWS,
    Tolerance,
    ToleranceError,
    gamma,
    table,
    within,
)
from verify.outcome import faults_of, honest

DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])

# No product of two of them underflows, so that relative bounds apply.
numbers = st.floats(2.0**-40, 2.0**40, width=32) | st.floats(
    -(2.0**40), -(2.0**-40), width=32
)
vectors = st.lists(numbers, min_size=1, max_size=40)


def as_column(values, dtype):
    return np.array(values, dtype=dtype)


def exact(array):
    return [Fraction(float(x)) for x in array]


def one_by_one(terms):
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total


# ---------------------------------------------------------------- rounding bounds


@DTYPES
@given(vectors, st.integers(0, 2**20))
def test_gamma_bounds_sums_in_any_order(dtype, values, scale):
    x = as_column(values, dtype) / as_column([1 + scale], dtype)
    wanted = sum(exact(x))
    allowed = Fraction(gamma(len(x) - 1, dtype)) * sum(map(abs, exact(x)))
    for total in (one_by_one(x), one_by_one(x[::-1]), x.sum(), np.sort(x).sum()):
        assert abs(Fraction(float(total)) - wanted) <= allowed


@DTYPES
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40))
def test_gamma_bounds_dot_products(dtype, pairs):
    x, y = (as_column(side, dtype) for side in zip(*pairs, strict=True))
    products = [a * b for a, b in zip(exact(x), exact(y), strict=True)]
    allowed = Fraction(gamma(len(pairs), dtype)) * sum(map(abs, products))
    for total in (one_by_one(x * y), x @ y):
        assert abs(Fraction(float(total)) - sum(products)) <= allowed


@DTYPES
@pytest.mark.parametrize("k", [1, 10, 200])
def test_gamma_is_attained(dtype, k):
    unit = np.finfo(dtype).eps / 2
    x = as_column([1.0] + [float(unit)] * k, dtype)
    size = sum(exact(x))
    error = abs(Fraction(float(one_by_one(x))) - size)
    assert 0.99 < float(error / (Fraction(gamma(k, dtype)) * size)) <= 1
    assert error > Fraction(gamma(k - 1, dtype)) * size


@DTYPES
def test_gamma_grows_with_the_operations(dtype):
    bounds = [gamma(k, dtype) for k in (0, 1, 2, 50, 10**4)]
    assert bounds == sorted(set(bounds))
    assert bounds[0] == 0
    assert bounds[1] > np.finfo(dtype).eps / 2  # strictly above k u


@pytest.mark.parametrize(
    ("operations", "dtype"),
    [(2.0**23, "float32"), (1e300, "float64"), (math.inf, "float64"), (-1, "float64"),
     (math.nan, "float64")],
)  # fmt: skip
def test_gamma_refuses_where_it_says_nothing(operations, dtype):
    with pytest.raises(ToleranceError, match="no useful rounding bound"):
        gamma(operations, dtype)


def test_a_wider_dtype_still_bounds():
    assert 0 < gamma(2.0**23, "float64") < 1e-8


# ---------------------------------------------------------------- within


def allowed(*values):
    return Tolerance(np.array(values, dtype=float), "by fiat")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_an_error_or_a_tolerance_that_is_no_number_decides_nothing(value):
    lost = within([0.5, value], allowed(1, 1), says="s")
    open_ended = within([0.5, 9.0], allowed(1, value), says="s")
    for outcome in (lost, open_ended):
        assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, Cause.NAN)
        assert (outcome.n, outcome.witness) == (2, None)


def test_an_error_beyond_its_bound_refutes_whatever_another_is():
    """Found by a full run: two of 19979 mutated layers divided by a sum of 0."""
    outcome = within([0.5, math.nan, 3.0], allowed(1, 1, 1), says="s")
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.witness["rows"] == [[(3.0).hex(), (1.0).hex()]]
    assert outcome.discards == {"errors that are not finite": 1}


@pytest.mark.parametrize("errors", [[], [0.1], [0.1] * 3, 0.1])
def test_errors_and_tolerances_come_in_pairs(errors):
    with pytest.raises(ValueError, match="2 tolerances"):
        within(errors, allowed(1, 1), says="s")


@pytest.mark.parametrize(("error", "bound"), [(-1.0, 1.0), (0.5, -1.0)])
def test_errors_and_tolerances_are_absolute(error, bound):
    with pytest.raises(ValueError, match="negative"):
        within([error], allowed(bound), says="s")


def test_nothing_compared_does_not_hold():
    outcome = honest(within([], allowed(), says="s", discards={"diverged": 3}))
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, Cause.BUDGET)
    assert outcome.discards == {"diverged": 3}


@pytest.mark.parametrize(
    ("error", "bound", "verdict"),
    [
        (1.0, 1.0, Verdict.HOLDS),
        (0.0, 0.0, Verdict.HOLDS),
        (5e-324, 0.0, Verdict.REFUTED),
        (math.nextafter(1.0, 2.0), 1.0, Verdict.REFUTED),
        (math.nextafter(3e-310, 1.0), 3e-310, Verdict.REFUTED),
        (1e308, 1e-308, Verdict.REFUTED),
    ],
)
def test_the_boundary_is_exact(error, bound, verdict):
    outcome = within([error], allowed(bound), says="s")
    assert outcome.verdict is verdict
    assert faults_of(outcome) == ""
    assert honest(outcome) is outcome  # its numbers are finite, however large
    if verdict is Verdict.REFUTED:
        assert recheck.decide(outcome.witness).valid


def test_matrices_are_compared_entry_by_entry():
    bounds = Tolerance(np.full((2, 2), 1.0), "by fiat")
    outcome = within([[0.0, 0.25], [0.5, 0.0]], bounds, says="s")
    assert (outcome.verdict, outcome.n, outcome.measured) == (Verdict.HOLDS, 4, 0.5)


sizes = st.floats(0, 1e6) | st.sampled_from([0.0, 5e-324, 1.0, 2.0, 1e300])


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=25))
def test_within_decides_and_shows_the_violations(pairs):
    errors, bounds = map(list, zip(*pairs, strict=True))
    wrong = [i for i, (e, b) in enumerate(pairs) if Fraction(e) > Fraction(b)]
    labels = {"row": np.arange(len(pairs))}
    outcome = within(errors, allowed(*bounds), says="too far", labels=labels)
    assert faults_of(outcome) == ""
    assert outcome.n == len(pairs)
    if not wrong:
        assert outcome.verdict is Verdict.HOLDS
        assert outcome.measured <= 1
        return
    assert outcome.verdict is Verdict.REFUTED
    rows = outcome.witness["rows"]
    shown = [row[outcome.witness["columns"].index("row")] for row in rows]
    assert len(shown) == len(set(shown)) == min(len(wrong), WITNESS_ROWS)
    assert set(shown) <= set(wrong)
    assert recheck.decide(outcome.witness).valid
    for index, row in zip(shown, rows, strict=True):
        assert float.fromhex(row[0]) == errors[index]
        assert float.fromhex(row[1]) == bounds[index]


def test_the_worst_violations_come_first():
    outcome = within([3.0, 40.0, 1.0, 9.0], allowed(2, 4, 5, 1), says="too far")
    assert [float.fromhex(row[0]) for row in outcome.witness["rows"]] == [40, 9, 3]
    assert (outcome.measured, outcome.margin) == (10.0, -9.0)
    assert outcome.witness["says"] == "too far (by fiat)"


@pytest.mark.parametrize(
    "labels",
    [{"n": [1]}, {"n": [1, 2, 3]}, {"n": [[1, 2]]}, {"error": [5, 6]},
     {"tolerance": [0, 0]}],
    ids=repr,
)  # fmt: skip
def test_a_label_neither_shifts_nor_replaces_a_column(labels):
    for errors in ([0.5, 3.0], [0.5, 0.5]):
        with pytest.raises(ValueError, match="no further column of 2"):
            within(errors, allowed(1, 1), says="s", labels=labels)


# ---------------------------------------------------------------- tables


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_a_table_keeps_floats_exactly(values):
    record = table({"x": values}, relation=["==", 0, 0], aggregate="all", says="s")
    assert [float.fromhex(row[0]) for row in record["rows"]] == values


def test_a_table_keeps_integers_and_refuses_ragged_columns():
    options = {"relation": ["<", ["in", "n"], 1], "aggregate": "all", "says": "s"}
    large = np.array([2**62 + 1])
    assert table({"n": large}, **options)["rows"] == [[2**62 + 1]]
    with pytest.raises(ValueError, match="shorter"):
        table({"n": [1, 2], "m": [1]}, **options)
