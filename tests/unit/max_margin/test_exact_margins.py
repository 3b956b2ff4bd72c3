"""The exact active-set method: any start, infeasibility, budgets, input."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from margin_oracles import dot, minimum

from verify.max_margin import InfeasibleError, minimise
from verify.max_margin.exact import rational
from verify.verdict import Cause, Undecided

F = Fraction


@st.composite
def problems(draw):
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    entry = st.integers(-2, 2) | st.sampled_from([F(1, 2), F(-3, 2)])
    row = st.lists(entry, min_size=n, max_size=n)
    A = draw(st.lists(row, min_size=m, max_size=m))
    b = draw(st.lists(st.integers(-1, 2), min_size=m, max_size=m))
    guess = draw(st.lists(st.integers(0, m - 1), max_size=m + 1))
    return A, b, guess


@settings(max_examples=300, deadline=None)
@given(problems())
def test_any_start_reaches_the_minimum_or_a_proof_of_infeasibility(problem):
    A, b, guess = problem
    expected = minimum(A, b)
    if expected is None:
        with pytest.raises(InfeasibleError, match="add up to") as caught:
            minimise(A, b, guess)
        weights = caught.value.combination
        assert min(weights.values()) > 0
        assert sum(w * b[i] for i, w in weights.items()) > 0
        for j in range(len(A[0])):
            assert sum(w * A[i][j] for i, w in weights.items()) == 0
        return
    found = minimise(A, b, guess)
    assert found.solution == expected
    assert found.norm_squared == dot(expected, expected)
    slacks = [dot(row, expected) - bound for row, bound in zip(A, b, strict=True)]
    assert found.tight == tuple(i for i, slack in enumerate(slacks) if not slack)
    assert min(found.multipliers) >= 0
    assert not any(
        y * slack for y, slack in zip(found.multipliers, slacks, strict=True)
    )
    for j, x in enumerate(expected):
        assert sum(y * row[j] for y, row in zip(found.multipliers, A, strict=True)) == x


A, B = [[1, 0], [0, 1], [1, 1], [2, 1]], [1, 1, 0, 1]


def test_a_wrong_active_set_is_repaired_and_a_right_one_is_kept():
    right = minimise(A, B, [0, 1])
    assert right.repairs == 0
    for guess in ([], [2], [3], [2, 3], [3, 2, 1, 0], [0, 0, 0]):
        found = minimise(A, B, guess)
        assert found.solution == right.solution == (1, 1)
        assert found.repairs > 0


def test_repairs_that_are_used_up_are_undecided():
    assert minimise(A, B, steps=2).repairs == 2
    with pytest.raises(Undecided, match="was not repaired in 1 steps") as caught:
        minimise(A, B, steps=1)
    assert caught.value.cause is Cause.BUDGET


def test_dependent_rows():
    rows = [[1, -1, 0], [1, -1, 0], [0, 1, -1], [1, 0, -1], [2, -2, 0], [0, 0, 0]]
    found = minimise(rows, [1, 1, 1, 2, 2, 0], range(6))
    assert found.solution == (1, 0, -1)
    assert found.tight == (0, 1, 2, 3, 4, 5)


def test_floats_are_taken_exactly():
    found = minimise([[0.1]], [F(1, 10)])
    assert found.solution == (F(1, 10) / F(0.1),)


@pytest.mark.parametrize(
    ("rows", "bounds", "says"),
    [
        ([], [], "lengths"),
        ([[]], [1], "lengths"),
        ([[1], [1, 2]], [1, 1], r"lengths \[1, 2\]"),
        ([[1]], [1, 1], "2 bounds for 1 rows"),
        ([[float("nan")]], [1], "nan is no exact number"),
        ([[1]], [float("inf")], "inf is no exact number"),
        ([["x"]], [1], "'x' is no exact number"),
        ([[None]], [1], "None is no exact number"),
    ],
)
def test_input_that_is_no_problem_is_refused(rows, bounds, says):
    with pytest.raises(ValueError, match=says):
        minimise(rows, bounds)


def test_a_guess_must_name_rows():
    for guess in ([1], [-1]):
        with pytest.raises(ValueError, match="count from 0"):
            minimise([[1]], [1], guess)


def test_a_row_of_zeros_with_a_positive_bound_is_infeasible():
    with pytest.raises(InfeasibleError) as caught:
        minimise([[1], [0]], [1, 1])
    assert caught.value.combination == {1: 1}


def test_matrix_keeps_its_numbers():
    table = rational([[1, F(2, 3)], [0.5, -1]]).tolist()
    assert [[str(x) for x in row] for row in table] == [["1", "2/3"], ["1/2", "-1"]]
