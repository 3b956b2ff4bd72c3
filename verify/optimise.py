"""Convex problems with a named solver, whose word is never taken for the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.verdict import Cause, Undecided

if TYPE_CHECKING:
    import cvxpy as cp

ACCURACY = 1e-10


def solve(
    problem: cp.Problem, *, solver: str = "CLARABEL", violation: float = 1e-7
) -> float:
    """Solve a convex problem, or say that it is undecided.

    Args:
        problem: Stated in cvxpy. Make a new one for each solve: settings of an earlier
            solve stick to it.
        solver: Named always; a default chosen by the library may be inaccurate.
        violation: Largest violation of a constraint that is accepted; recomputed here
            from the solution, not read from the solver.

    Returns:
        The optimal value.

    Raises:
        Undecided: The status is anything else than ``optimal`` (``optimal_inaccurate``
            included), the solver failed, or a constraint is violated.
    """
    import cvxpy as cp

    options = (
        {"tol_gap_abs": ACCURACY, "tol_gap_rel": ACCURACY, "tol_feas": ACCURACY}
        if solver == "CLARABEL"
        else {}
    )
    try:
        value: Any = problem.solve(solver=solver, **options)
    except cp.error.SolverError as error:
        raise Undecided(f"{solver} failed: {error}", Cause.SOLVER) from error
    if problem.status != cp.OPTIMAL:
        raise Undecided(f"{solver} ended {problem.status}", Cause.SOLVER)
    violations: list[Any] = [c.violation() for c in problem.constraints]
    worst = max((float(v.max()) for v in violations), default=0.0)
    if not worst <= violation:
        raise Undecided(
            f"{solver} says optimal, but a constraint is violated by {worst:.2g}",
            Cause.SOLVER,
        )
    return float(value)
