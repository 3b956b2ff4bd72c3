"""What users of `verify.max_margin` rely on beside the solution.

Names that are exported, records that stay as they were decided, budgets, second
solvers, and that a good solver's answer spares the exact method its steps. Each test
kills mutants.
"""

import dataclasses
import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

import verify.max_margin as package
from verify.max_margin import (
    Block,
    CrossCheck,
    Exact,
    Margin,
    MatrixMargin,
    Numerical,
    OrderMargin,
    Residuals,
    cross_check,
    exact,
    minimise,
    order_margin,
    solve,
    solvers,
)
from verify.max_margin.flow import Leaf, idle, stands
from verify.verdict import Undecided

EYE = [[2, 0, 0], [0, 1, 0], [0, 0, 4]]


def test_everything_public_is_exported():
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert {*package.__all__} == public
    assert len(package.__all__) == len(public)


RECORDS = [
    Block, CrossCheck, Exact, Leaf, Margin, MatrixMargin, Numerical, OrderMargin,
    Residuals,
]  # fmt: skip


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_what_was_decided_cannot_be_changed(kind):
    made = kind(*[0.0] * len([f for f in dataclasses.fields(kind) if f.init]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(kind)[0].name, 1.0)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_budget_is_ten_repairs_a_row_and_a_hundred(monkeypatch, rows):
    budgets = []

    def add(self, new, budget):
        budgets.append(budget)
        raise Undecided("enough")

    monkeypatch.setattr(exact._ActiveSet, "add", add)
    for steps in (None, 7):
        with pytest.raises(Undecided, match="enough"):
            minimise(EYE[:rows], [1] * rows, steps=steps)
    assert budgets == [10 * rows + 100, 7]


def test_a_good_answer_leaves_nothing_to_repair():
    """Its active rows, the surest first, are those of the exact solution."""
    found = solve(EYE, [1, 1, 1])
    assert found.exact.repairs == 0
    assert minimise(EYE, [1, 1, 1]).repairs == 3
    edges = [(0, 2), (0, 3), (0, 4), (1, 4)]
    rows = [[(t == o) - (t == m) for t in range(5)] for o, m in edges]
    assert solve(rows, [1] * 4).exact.repairs == 0


def test_of_dependent_rows_the_surest_are_kept(monkeypatch):
    """The last two rows are one; the solver puts its weight on the second of them."""
    monkeypatch.setattr(
        solvers, "_cvxpy", lambda *_: (np.array([1.0]), np.array([0.0, 0.25, 0.75]))
    )
    found = solve([[1], [1], [1]], [0, 1, 1])
    assert found.exact.multipliers == (0, 0, 1)


@pytest.mark.parametrize(
    ("known", "second"),
    [(["SCS"], "SCS"), (["SCS", "OSQP"], "OSQP"), ([], "SCIPY-DUAL")],
)
def test_who_gives_the_second_opinion(monkeypatch, known, second):
    import cvxpy

    monkeypatch.setattr(cvxpy, "installed_solvers", lambda: ["CLARABEL", *known])
    assert cross_check(EYE, [1, 1, 1]).second.solver == second


def test_the_bound_of_an_exact_answer_is_that_of_its_rounding():
    """Four roundings in each of m + n places, of |x|^2/2 + |b|.y + |A'y|^2/2."""
    one, two = np.ones(1), np.ones((1, 1))
    eps = float(np.finfo(float).eps)
    error = solvers._error(two, one, one, one)
    assert error == pytest.approx(math.sqrt(2 * 4 * 2 * eps * 2), rel=1e-12)


def test_a_chain_has_exact_scores_and_multipliers():
    found = order_margin([(0, 1), (1, 2), (0, 2)])
    assert found.scores == {0: Fraction(1), 1: Fraction(0), 2: Fraction(-1)}
    assert found.multipliers == {(0, 1): 1, (0, 2): 0, (1, 2): 1}
    assert found.norm_squared == 2


def test_a_flow_must_be_right_in_both_ways():
    """Each lower token gives as many units as there are upper ones, to allowed ones."""
    both = 0b11
    even, uneven = {2: {0: 1, 1: 1}, 3: {0: 1, 1: 1}}, {2: {0: 2, 1: 1}, 3: {1: 1}}
    for flow, right in ((even, True), (uneven, False)):  # upper ones get 2 in each
        leaf = Leaf(upper=both, lower=0b1100, flow=flow)
        assert stands([leaf], {2: both, 3: both}, both) is right
    leaves = [
        Leaf(upper=0b1, lower=0b1100, flow={2: {0: 1}, 3: {0: 1}}),
        Leaf(upper=0b10, lower=0b10000, flow={4: {1: 1}}),
    ]
    above = {2: 0b1, 3: 0b1, 4: 0b10}
    assert stands(leaves, above, both)
    assert not stands(leaves, above | {2: both}, both)  # 1/2 + 1/3 is less than 1


def test_as_many_flags_as_edges():
    with pytest.raises(ValueError, match="zip"):
        idle([(0, 1), (0, 2)], [True])


@pytest.mark.parametrize("solver", ["CLARABEL", "SCIPY-DUAL"])
def test_the_solver_that_is_named_is_asked(solver):
    assert solve(EYE, [1, 1, 1], solver=solver).numerical.solver == solver
