"""Max-margin problems in floating point, with residuals recomputed and a proved error.

Weak duality bounds the error. For multipliers y >= 0 and any feasible z the minimiser
x* satisfies |z - x*|²/2 <= |z|²/2 - (b·y - |Aᵀy|²/2), since the objective is strongly
convex with modulus 1 and the bracket is a lower bound of its least value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verify.max_margin.exact import Exact, minimise
from verify.max_margin.records import kkt
from verify.optimise import solve as optimise
from verify.verdict import Undecided

Floats = NDArray[np.float64]
SOLVER = "CLARABEL"
SECOND = ("OSQP", "SCS")  # the first of them that cvxpy has is the second opinion
# First-order methods stop early: OSQP in cvxpy at 1e-5. The violation is no tolerance
# of a result, since `Numerical.error` counts it.
LOOSE = 1e-2


@dataclass(frozen=True)
class Residuals:
    """How far a point and multipliers miss each condition, recomputed from them.

    Attributes:
        primal: Largest violation of A x >= b.
        dual: Largest violation of y >= 0.
        stationarity: Largest entry of |x - Aᵀy|.
        complementarity: Largest |y_i (a_i x - b_i)|.
    """

    primal: float
    dual: float
    stationarity: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of them."""
        return max(self.primal, self.dual, self.stationarity, self.complementarity)


@dataclass(frozen=True)
class Numerical:
    """A solver's answer.

    Attributes:
        solver: Its name.
        x: The point, of shape ``(coordinates,)``.
        multipliers: Of shape ``(rows,)``.
        residuals: Recomputed from the two.
        error: Bound on the Euclidean distance to the minimiser; infinite if no multiple
            of the point is feasible.
    """

    solver: str
    x: Floats
    multipliers: Floats
    residuals: Residuals
    error: float


@dataclass(frozen=True)
class Margin:
    """The exact solution of a hard-margin problem, and the solver's.

    Attributes:
        exact: Minimiser and multipliers in rationals.
        numerical: The solver's answer; None if it gave none.
        rows: The matrix A as it was given.
        bounds: The vector b.
    """

    exact: Exact
    numerical: Numerical | None
    rows: Sequence[Sequence[Any]]
    bounds: Sequence[Any]

    @property
    def error(self) -> float:
        """Largest difference between the solver's point and the exact one, or NaN."""
        if self.numerical is None:
            return math.nan
        exact = np.array([float(x) for x in self.exact.solution])
        return float(np.abs(self.numerical.x - exact).max())

    def certificate(
        self, says: str, claimed: Mapping[int, Fraction] | None = None
    ) -> dict[str, Any]:
        """Write the solution as a record of kind ``kkt``.

        Args:
            says: What it shows, in one sentence.
            claimed: Values claimed for some coordinates, at least one of them wrong.

        Returns:
            The record.
        """
        rows = [{j: x for j, x in enumerate(row) if x} for row in self.rows]
        point = dict(enumerate(self.exact.solution))
        return kkt(says, rows, self.bounds, point, self.exact.multipliers, claimed)


def numerical(A: ArrayLike, b: ArrayLike, *, solver: str = SOLVER) -> Numerical:
    """Minimise |x|²/2 subject to A x >= b in floating point.

    Args:
        A: Of shape ``(rows, coordinates)``.
        b: Of shape ``(rows,)``.
        solver: A solver of cvxpy for quadratic problems, or ``SCIPY-DUAL``.

    Returns:
        The answer with its residuals and the bound on its error.

    Raises:
        ValueError: The shapes do not fit, or a number is not finite.

    >>> answer = numerical([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    >>> answer.x.round(6).tolist(), answer.error < 1e-4
    ([0.5, 1.0], True)
    """
    A, b = np.asarray(A, np.float64), np.asarray(b, np.float64)
    if A.ndim != 2 or b.shape != A.shape[:1] or not A.size:
        message = f"A of shape {A.shape} and b of shape {b.shape}; give (m, n) and (m,)"
        raise ValueError(message)
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError("A or b has a NaN or an infinity; correct the constraints")
    x, y = _dual(A, b) if solver == "SCIPY-DUAL" else _cvxpy(A, b, solver)
    return Numerical(solver, x, y, _residuals(A, b, x, y), _error(A, b, x, y))


def _cvxpy(A: Floats, b: Floats, solver: str) -> tuple[Floats, Floats]:
    import cvxpy as cp
    from cvxpy.atoms.sum_squares import sum_squares

    x = cp.Variable(A.shape[1])
    constraint: Any = A @ x >= b
    problem = cp.Problem(cp.Minimize(sum_squares(x) / 2), [constraint])
    if solver == SOLVER:
        optimise(problem, solver=solver)
    else:
        optimise(problem, solver=solver, violation=LOOSE)
    return np.asarray(x.value), np.asarray(constraint.dual_value)


def _dual(A: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Minimise |Aᵀy|²/2 - b·y over y >= 0; nnls errs where rows are dependent."""
    from scipy.optimize import minimize

    found = minimize(
        lambda y: (0.5 * np.sum((y @ A) ** 2) - b @ y, A @ (y @ A) - b),
        np.zeros(len(b)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(b),
        options={"ftol": 0.0, "gtol": 1e-12, "maxiter": 100_000, "maxfun": 1_000_000},
    )
    return found.x @ A, found.x


def _residuals(A: Floats, b: Floats, x: Floats, y: Floats) -> Residuals:
    slack = A @ x - b
    return Residuals(
        primal=float(np.maximum(-slack, 0).max()),
        dual=float(np.maximum(-y, 0).max()),
        stationarity=float(np.abs(x - y @ A).max()),
        complementarity=float(np.abs(y * slack).max()),
    )


def _error(A: Floats, b: Floats, x: Floats, y: Floats) -> float:
    """The bound of the module's docstring, at the least feasible multiple of x."""
    reach = A @ x
    if not (reach[b > 0] > 0).all():
        return math.inf
    scale = max(1.0, float(np.max(b[b > 0] / reach[b > 0], initial=1.0)))
    # A product of n terms is off by at most n·eps times the sum of their sizes; rows
    # with b <= 0 must bear the scaling too, up to that.
    eps = float(np.finfo(np.float64).eps)
    rounding = A.shape[1] * eps * (np.abs(A) @ np.abs(scale * x) + np.abs(b))
    if (scale * reach < b - rounding).any():
        return math.inf
    y = np.maximum(y, 0)
    upper, lower = 0.5 * float(scale * x @ (scale * x)), float(b @ y)
    lower -= 0.5 * float((y @ A) @ (y @ A))
    sizes = (
        upper + float(np.abs(b) @ y) + 0.5 * float((y @ np.abs(A)) @ (y @ np.abs(A)))
    )
    gap = max(upper - lower, 0.0) + 4 * sum(A.shape) * eps * sizes
    return math.sqrt(2 * gap) + (scale - 1) * math.sqrt(float(x @ x))


def solve(
    A: Sequence[Sequence[Any]] | NDArray[Any],
    b: Sequence[Any] | NDArray[Any],
    *,
    solver: str = SOLVER,
    steps: int | None = None,
) -> Margin:
    """Solve min |x|²/2 subject to A x >= b, numerically and then exactly.

    The active set is read off the numerical answer; where it is wrong it is repaired in
    exact arithmetic, so that the solver's word decides nothing.

    Args:
        A: Rows of int, Fraction or float, the last taken at their exact values.
        b: One bound per row.
        solver: Named solver.
        steps: Most repairs; by default ten per row and a hundred.

    Returns:
        Both solutions.

    Raises:
        InfeasibleError: No point is feasible; its attribute proves it.
        Undecided: The repairs were used up.

    >>> found = solve([[2, 0], [0, 1]], [1, 1])
    >>> [str(x) for x in found.exact.solution]
    ['1/2', '1']
    """
    rows, bounds = [list(row) for row in A], list(b)
    answer, guess = None, []
    try:
        floats = np.array([[float(x) for x in row] for row in rows])
        answer = numerical(floats, [float(x) for x in bounds], solver=solver)
    except Undecided:
        pass  # the exact method then starts from nothing, and says what is wrong
    else:
        slack = floats @ answer.x - np.array([float(x) for x in bounds])
        y = answer.multipliers
        guess = [int(i) for i in np.argsort(-y) if y[i] > slack[i]]
    return Margin(minimise(rows, bounds, guess, steps=steps), answer, rows, bounds)


@dataclass(frozen=True)
class CrossCheck:
    """Two solvers on one problem.

    Attributes:
        first: The answer of the named solver.
        second: The other one's.
        distance: Euclidean distance of the two points.
        allowed: Sum of the proved errors of the two.
    """

    first: Numerical
    second: Numerical
    distance: float
    allowed: float

    @property
    def agree(self) -> bool:
        """Whether both can be right; False shows that a solver is at fault."""
        return self.distance <= self.allowed


def cross_check(
    A: ArrayLike, b: ArrayLike, *, solver: str = SOLVER, second: str | None = None
) -> CrossCheck:
    """Solve a problem with two solvers and compare.

    Args:
        A: Of shape ``(rows, coordinates)``.
        b: Of shape ``(rows,)``.
        solver: The first solver.
        second: The second one; by default OSQP or SCS, whichever cvxpy has, or else
            the dual problem in scipy.

    Returns:
        Both answers, their distance and the distance that their errors allow.

    >>> cross_check([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0]).agree
    True
    """
    if second is None:
        import cvxpy as cp

        known = cp.installed_solvers()
        second = next((name for name in SECOND if name in known), "SCIPY-DUAL")
    one, two = (numerical(A, b, solver=name) for name in (solver, second))
    distance = float(np.linalg.norm(one.x - two.x))
    return CrossCheck(one, two, distance, one.error + two.error)


@dataclass(frozen=True)
class MatrixMargin:
    """A matrix of minimal Frobenius norm.

    Attributes:
        matrix: The solver's matrix.
        numerical: The answer for its entries in row-major order.
    """

    matrix: Floats
    numerical: Numerical


def frobenius(
    constraints: Iterable[tuple[ArrayLike, ArrayLike]],
    shape: tuple[int, int],
    *,
    solver: str = SOLVER,
) -> MatrixMargin:
    """Minimise ||W||_F subject to left · W right >= 1, in floating point.

    Args:
        constraints: Pairs of vectors (left, right).
        shape: Shape of W.
        solver: Named solver.

    Returns:
        The matrix, with its residuals and a bound on its error in Frobenius norm.

    Raises:
        ValueError: There is no constraint, or a vector does not fit the shape.

    >>> frobenius([([1.0, 0.0], [0.0, 2.0])], (2, 2)).matrix.round(6).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    rows = []
    for left, right in constraints:
        pair = np.asarray(left, np.float64), np.asarray(right, np.float64)
        if (pair[0].shape, pair[1].shape) != ((shape[0],), (shape[1],)):
            shapes = f"{pair[0].shape} and {pair[1].shape}"
            raise ValueError(f"vectors of shapes {shapes} do not fit a W of {shape}")
        rows.append(np.outer(*pair).ravel())
    if not rows:
        raise ValueError("no constraint is given: the solution is W = 0")
    answer = numerical(np.array(rows), np.ones(len(rows)), solver=solver)
    return MatrixMargin(answer.x.reshape(shape), answer)
