"""Assumption B.4 decided for a law of tasks, from the law alone.

1. every f is L-Lipschitz;
2. E f(x) f(y) = rho(x.y) for unit x, y, with rho increasing;
3. f o phi is distributed as f for every isometry phi that fixes 0.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024.classes.decide import Equal
from theorems.collins2024.classes.kernels import kernel, slope, steepest
from theorems.collins2024.classes.tasks import L, TaskLaw, d, theta
from verify import Cause, Holds, Inconclusive, Outcome, Refuted, Verdict
from verify.symbolic import formula

# E (w.x)^4 for unit x: on the sphere 3/(d(d+2)) at every x; on the axes sum x_i^4 / d.
TRIPLE = (Fraction(3, 5), Fraction(4, 5))


def same(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether two formulas in the angle agree after expansion."""
    return bool(sp.expand(sp.expand_trig(left - right)) == 0)


def lipschitz(law: TaskLaw) -> Outcome:
    """Part 1: f is piecewise a polynomial in w.x and continuous, |w| = 1."""
    steep = steepest(law)
    if sp.expand(L - steep).is_nonnegative:
        return Holds(f"|f(x) - f(y)| ≤ max|f'| |w.(x - y)| ≤ {steep} |x - y|")
    says = "the difference quotient of f along w reaches this, more than L"
    return Refuted(says, witness=formula(steep, ">", L, {"L": 1}, says))


def increasing(law: TaskLaw) -> Outcome:
    """Part 2: the slope of rho in x.y is positive on (-1, 1).

    It is proved for slopes that are constant or linear in the angle: signs at 0 and pi
    suffice. A slope of -1 at the angle pi is refuted by two values of rho.
    """
    steep = slope(law)
    ends = [steep.subs(theta, end) for end in (0, sp.pi)]
    linear = same(sp.diff(steep, theta, 2), sp.S.Zero)
    if linear and ends[0].is_positive and ends[1].is_nonnegative:
        return Holds(f"d rho/d(x.y) = {steep} > 0 for angles below pi")
    low, high = (kernel(law).subs(theta, sp.pi / k) for k in (1, 2))
    values = {"L": 1, "d": 2}
    if (low - high).subs({L: 1, d: 2}).is_positive:
        says = "rho(-1) exceeds rho(0)"
        return Refuted(says, witness=formula(low, ">", high, values, says))
    return Inconclusive("no sign of the slope of rho", cause=Cause.NO_PROOF)


def invariant(law: TaskLaw) -> Outcome:
    """Part 3: f o phi has the direction phi'w, so w and phi'w must agree in law."""
    if law.directions == "uniform":
        return Holds("U_d is the law on the sphere that isometries keep: phi'w ~ w")
    along, across = sp.symbols("along across")
    moment = (along**4 + across**4) / d
    rest = {"along": TRIPLE[0], "across": TRIPLE[1], "d": 2}
    says = "E (w.x)^4 is not that at e_1, though x has norm 1"
    return Refuted(says, witness=formula(moment, "!=", 1 / d, rest, says))


def assumption_b4(law: TaskLaw, claimed: sp.Expr | None = None) -> Outcome:
    """Decide the three parts, and the kernel where one is claimed.

    Args:
        law: The class.
        claimed: A formula for E f(x) f(y) in the angle, or None.

    Returns:
        HOLDS with all steps, or what the first failing part says.
    """
    parts: list[Callable[[TaskLaw], Outcome]] = [lipschitz, increasing, invariant]
    steps = []
    for part in parts:
        outcome = part(law)
        if outcome.verdict is not Verdict.HOLDS:
            return outcome
        steps.append(outcome.reason)
    if claimed is None:
        return Holds(f"{law.name}: three parts are proved", steps=steps)
    return _kernel_is(law, claimed, steps)


def _kernel_is(law: TaskLaw, claimed: sp.Expr, steps: list[str]) -> Outcome:
    """Compare kernels for all angles; refute at 0 and pi, where values are rational."""
    if same(claimed, kernel(law)):
        steps.append(f"E f(x) f(y) = {kernel(law)}: integrals over four arcs")
        return Holds(f"{law.name}: three parts and the kernel", steps=steps)
    values: dict[str, Any] = {"L": 1, "d": 2}
    for end in (sp.S.Zero, sp.pi):
        left, right = (sp.cancel(k.subs(theta, end)) for k in (claimed, kernel(law)))
        parts = Equal(f"kernel at the angle {end}", left, right, (values,)).decide()
        if parts.verdict is Verdict.REFUTED:
            return parts
    return Inconclusive("kernels not told apart", cause=Cause.NO_PROOF)
