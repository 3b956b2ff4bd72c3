"""F4: the late phase beyond 1e5 steps, as an ordinary differential equation in log t.

In the moving frame the late recursion rho_{t+1} = rho_t + f(rho_t, t),

    f = eta (-G/||G|| - u),

is slow: rho tends to a constant, or grows like log t where a tight edge of problem (3)
has multiplier zero. The flow of

    rho'(t) = f(rho - f/2, t - 1/2)

(the modified equation f - (f_rho f + f_t)/2 to next order) agrees with the recursion to
relative O(1/t^2); rho' = f alone to O(1/t) only.

The flow says nothing about a recursion that is unstable. Linearised at its limit, the
step is I - (eta/||W*||) M off W*, M the Laplacian of the tight edges weighted with
their multipliers. A token's degree is |w*_x|, and w*_o - w*_m = 1 on a tight edge, so
that no eigenvalue of M exceeds 1 (an eigenvalue of a Laplacian is at most the largest
sum of the two degrees of an edge): stable if eta < 2 ||W*||. Every block of (3) has an
eigenvector to 1, so that with two blocks or more this is sharp.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from theorems.huang2024.dynamics import kernels
from theorems.huang2024.dynamics.layout import Floats, Problem

RTOL = 1e-9
"""Of LSODA, per step."""

RESTART = 200
"""Steps made one by one, to be compared with the flow."""

AGREEMENT = 10 * RTOL
"""Allowed relative difference after them: the flow's error accumulates a few RTOL."""


class NotContinuedError(ArithmeticError):
    """F4 does not apply, or failed its check; the message says which. Step directly."""


def continued(problem: Problem, t: int, times: Floats) -> list[Floats]:
    """Follow the late phase from step ``t`` to later steps.

    Args:
        problem: A problem in the late phase, in the moving frame of its own W*, with
            its state after ``t`` steps; the state is not kept.
        t: Steps made; the relative error is O(1/t^2).
        times: Increasing steps beyond ``t``.

    Returns:
        rho after each.

    Raises:
        NotContinuedError: The recursion is unstable (eta >= 2 ||W*||), the problem is
            not in the late phase, or the flow and direct steps disagree.
    """
    _check(problem, t)
    last = float(times[-1])
    again = max(float(t), last - RESTART)
    points = np.unique([*times, again])
    flow = _Flow(problem)
    found = flow.solve(problem.pairs["rho"].copy(), t, points)
    states = dict(zip(points.tolist(), found, strict=True))
    problem.pairs["rho"] = states[again]
    made = kernels.late(problem, int(again), int(last))
    direct = problem.pairs["rho"]
    size = max(1.0, float(np.abs(direct).max(initial=0.0)))
    gap = float(np.abs(direct - states[last]).max(initial=0.0)) / size
    if made != int(last) or not gap <= AGREEMENT:
        raise NotContinuedError(
            f"after {RESTART} direct steps up to {last:g} the state differs from the "
            f"flow's by {gap:.1e}, more than {AGREEMENT:.0e}"
        )
    return [states[time] for time in times.tolist()]


def _check(problem: Problem, t: int) -> None:
    """Refuse what the flow does not describe."""
    law, edges = problem.law, problem.edges
    if not (law.mergeable and law.along and law.base > 0):
        raise NotContinuedError("F4 needs F2 and the moving frame of W*")
    if np.intersect1d(edges["upper"], edges["lower"]).size:
        raise NotContinuedError("a confused token: the bound on eta is not proved")
    norm = 1 / law.base
    if not law.eta < 2 * norm:
        raise NotContinuedError(
            f"eta = {law.eta:g} >= 2 ||W*|| = {2 * norm:g}: the recursion is unstable "
            "at its limit, and the flow cannot see that"
        )
    tau = t * law.eta
    if not kernels.merged(problem, tau)[0] - tau * law.base < law.limit:
        raise NotContinuedError(f"after {t} steps the late phase has not begun")


class _Flow:
    """The modified equation of one problem, in s = log t."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.laplacian = np.zeros((len(problem.pairs),) * 2)

    def force(self, rho: Floats, t: float) -> Floats:
        """f; leaves -G and the edges' weights in memory."""
        pairs, eta = self.problem.pairs, self.problem.law.eta
        pairs["rho"] = rho
        _, self.length = kernels.merged(self.problem, t * eta)
        return eta * (pairs["g"] / self.length - pairs["frame"])

    def jacobian(self, rho: Floats, t: float) -> Floats:
        """f_rho = -eta (I - g g^T) Laplacian / ||G||, with g = -G/||G||."""
        self.force(rho, t)
        kernels.laplacian(self.problem, self.laplacian)
        g = self.problem.pairs["g"] / self.length
        across = self.laplacian - np.outer(g, g @ self.laplacian)
        return across * (-self.problem.law.eta / self.length)

    def slope(self, s: float, rho: Floats) -> Floats:
        """D rho / d log t of the modified equation."""
        t = math.exp(s)
        return t * self.force(rho - self.force(rho, t) / 2, t - 0.5)

    def slope_jacobian(self, s: float, rho: Floats) -> Floats:
        """Its derivative in rho."""
        t = math.exp(s)
        half = rho - self.force(rho, t) / 2
        outer = self.jacobian(half, t - 0.5)
        return t * (outer - outer @ self.jacobian(rho, t) / 2)

    def solve(self, rho: Floats, t: int, points: Floats) -> list[Floats]:
        """The states at increasing steps >= t."""
        later = points[points > t]
        s = np.log(later)
        found = solve_ivp(
            self.slope,
            (math.log(t), float(s[-1])),
            rho,
            method="LSODA",
            t_eval=s,
            jac=self.slope_jacobian,
            rtol=RTOL,
            atol=RTOL,
        )
        if not found.success or found.y.shape[1] != len(s):
            raise NotContinuedError(f"LSODA: {found.message}")
        head = [rho] * (len(points) - len(later))
        return [*head, *np.ascontiguousarray(found.y.T)]
