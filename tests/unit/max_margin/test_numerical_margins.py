"""Solvers: proved errors, recomputed residuals, repairs, second opinions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from margin_oracles import dense

from verify.max_margin import (
    InfeasibleError,
    cross_check,
    frobenius,
    numerical,
    order_margin,
    solve,
)
from verify.max_margin import solvers as module
from verify.recheck import decide
from verify.verdict import Cause, Undecided

ORDERS = {
    "five": [(0, 2), (0, 3), (0, 4), (1, 4)],
    "degenerate": [(0, 2), (0, 3), (1, 3)],
    "chain": [(0, 1), (1, 2), (2, 3), (0, 3), (4, 3)],
    "wide": [(o, m) for o in range(4) for m in range(4, 9) if (o * m) % 3 != 1],
}
SOLVERS = ["CLARABEL", "OSQP", "SCS", "SCIPY-DUAL"]


def problem(name):
    return dense(sorted(ORDERS[name])), [1] * len(ORDERS[name])


def distance(answer, exact):
    return float(np.linalg.norm(answer.x - [float(x) for x in exact]))


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_error_is_within_its_bound(name, solver):
    A, b = problem(name)
    answer = numerical(A, b, solver=solver)
    exact = order_margin(ORDERS[name]).scores.values()
    assert distance(answer, exact) <= answer.error
    assert answer.error < 0.1  # useful: scores are multiples of more than that
    assert answer.solver == solver


@pytest.mark.parametrize("name", ORDERS)
def test_solutions_are_exact_and_certified(name):
    A, b = problem(name)
    found = solve(A, b)
    assert found.exact.solution == tuple(order_margin(ORDERS[name]).scores.values())
    assert found.error <= found.numerical.error < 1e-4
    record = found.certificate("least", claimed={0: Fraction(9, 10)})
    assert decide(record).valid


def test_residuals_are_recomputed():
    A, b = problem("five")
    rows, bounds = np.array(A, float), np.array(b, float)
    exact = solve(A, b).exact
    x, y = (np.array(part, float) for part in (exact.solution, exact.multipliers))
    fine = module._residuals(rows, bounds, x, y)
    assert fine.worst <= 4 * np.finfo(float).eps
    assert module._error(rows, bounds, x, y) < 1e-6
    for point, weights, field in [
        (0.5 * x, y, "primal"),
        (x, y - 0.25, "dual"),
        (x, 2 * y, "stationarity"),
        (2 * x, y, "complementarity"),
    ]:
        bad = module._residuals(rows, bounds, point, weights)
        assert getattr(bad, field) >= 0.25
        assert bad.worst >= 0.25
        moved = float(np.linalg.norm(point - x))
        assert module._error(rows, bounds, point, weights) >= moved


def test_no_multiple_feasible_leaves_the_error_unbounded():
    rows, bounds = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.5])
    zero = np.zeros(2)
    assert module._error(rows, bounds, np.array([-1.0, 0.0]), zero) == math.inf
    assert module._error(rows, bounds, np.array([2.0, 0.0]), zero) == math.inf
    assert module._error(rows, bounds, np.array([1.0, 0.0]), zero) >= 1


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_a_solver_that_lies_is_repaired(monkeypatch, offset):
    A, b = problem("wide")
    right = solve(A, b).exact

    def lie(rows, bounds, solver):
        y = np.array([(i + offset) % 3 for i in range(len(bounds))], float)
        return np.zeros(rows.shape[1]), y

    monkeypatch.setattr(module, "_cvxpy", lie)
    found = solve(A, b)
    assert found.exact.solution == right.solution
    assert found.exact.repairs > 0
    assert found.error > 0.1
    with pytest.raises(Undecided, match="was not repaired"):
        solve(A, b, steps=0)


def test_a_solver_that_fails_costs_nothing_but_time(monkeypatch):
    def fail(rows, bounds, solver):
        raise Undecided("no", Cause.SOLVER)

    A, b = problem("five")
    right = solve(A, b).exact.solution
    monkeypatch.setattr(module, "_cvxpy", fail)
    found = solve(A, b)
    assert found.exact.solution == right
    assert found.numerical is None
    assert math.isnan(found.error)
    with pytest.raises(Undecided):
        numerical(A, b)


def test_infeasible_problems_are_proved_to_be_so():
    with pytest.raises(InfeasibleError, match="1 of row 0, 1 of row 1"):
        solve([[1, -1], [-1, 1]], [1, 1])


def test_fractions_survive():
    third = Fraction(1, 3)
    found = solve([[third, third]], [third])
    assert found.exact.solution == (Fraction(1, 2),) * 2


@pytest.mark.parametrize("second", [None, "SCS", "SCIPY-DUAL"])
def test_two_solvers_agree(second):
    check = cross_check(*problem("wide"), second=second)
    assert check.agree
    assert check.first.solver == "CLARABEL"
    assert check.second.solver == (second or "OSQP")
    assert check.distance <= check.allowed < 0.1


def test_without_other_solvers_scipy_answers(monkeypatch):
    import cvxpy

    monkeypatch.setattr(cvxpy, "installed_solvers", lambda: ["CLARABEL"])
    assert cross_check(*problem("five")).second.solver == "SCIPY-DUAL"


def test_solvers_that_disagree_are_found_out(monkeypatch):
    true = module._cvxpy

    def shifted(rows, bounds, solver):
        x, y = true(rows, bounds, "CLARABEL")
        return (x, y) if solver == "CLARABEL" else (0.9 * x, y)

    monkeypatch.setattr(module, "_error", lambda *_: 1e-6)
    monkeypatch.setattr(module, "_cvxpy", shifted)
    assert not cross_check(*problem("five")).agree


@pytest.mark.parametrize("d", [5, 8])
def test_matrices_with_orthonormal_embeddings(d):
    basis = np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0]
    edges = ORDERS["five"]
    pairs = [(basis[o] - basis[m], basis[4]) for o, m in edges]
    pairs += [(basis[1] - basis[0], basis[1])]  # another query: columns decouple
    found = frobenius(pairs, (d, d))
    exact = np.zeros((d, d))
    exact[:5, 4] = [float(x) for x in order_margin(edges).scores.values()]
    exact[:2, 1] = -0.5, 0.5
    assert (
        np.linalg.norm(basis @ found.matrix @ basis.T - exact) <= found.numerical.error
    )
    assert found.numerical.error < 1e-4
    assert found.numerical.residuals.worst < 1e-7


def test_head_of_the_next_token_problem():
    V = 5
    pairs = [
        (np.eye(V)[(x + 1) % V] - np.eye(V)[i], np.eye(V)[x])
        for x in range(V)
        for i in range(V)
        if i != (x + 1) % V
    ]
    found = frobenius(pairs, (V, V))
    exact = np.roll(np.eye(V), 1, axis=0) - 1 / V
    assert np.linalg.norm(found.matrix - exact) <= found.numerical.error
    assert np.linalg.norm(exact) == pytest.approx(math.sqrt(V - 1))


@pytest.mark.parametrize(
    ("A", "b", "says"),
    [
        ([[1.0, math.nan]], [1.0], "NaN"),
        ([[1.0]], [math.inf], "infinity"),
        ([1.0], [1.0], r"give \(m, n\)"),
        ([[1.0]], [1.0, 1.0], r"b of shape \(2,\)"),
        (np.zeros((0, 2)), np.zeros(0), r"A of shape \(0, 2\)"),
    ],
)
def test_input_that_is_no_problem_is_refused_with_its_shapes(A, b, says):
    with pytest.raises(ValueError, match=says):
        numerical(A, b)


def test_vectors_must_fit_the_matrix():
    with pytest.raises(ValueError, match=r"\(3,\) and \(2,\) do not fit"):
        frobenius([(np.ones(3), np.ones(2))], (2, 2))
    with pytest.raises(ValueError, match="W = 0"):
        frobenius([], (2, 2))


def test_an_unknown_solver_is_undecided():
    with pytest.raises(Undecided, match="NONE failed"):
        numerical([[1.0]], [1.0], solver="NONE")
