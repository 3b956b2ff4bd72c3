"""Self-checks of the engine: each instrument against others that share no code with it.

Instances are fixed or drawn from a fixed seed: a run repeats them exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from verify.selfcheck import Compared, SelfCheck, compare, self_check

EPS = 2.0**-52
SEED = 0


@self_check(
    says="Max-margin solutions: exact over the rationals, and by each solver at hand.",
    why="Weak duality: |x - x*|²/2 is at most the gap between |z|²/2 of a feasible z "
    "and the dual value of the solver's multipliers, rounding of both included; one "
    "further rounding per coordinate of the exact point",
)
def exact_and_numerical_margins() -> Iterator[Compared]:
    """Compare the exact active-set method with conic, first-order and dual solvers."""
    import numpy as np

    from verify import max_margin
    from verify.max_margin.solvers import numerical

    for number, rows in enumerate(_separable()):
        bounds = [1] * len(rows)
        exact = max_margin.minimise(rows, bounds)
        point = np.array([float(x) for x in exact.solution])
        for solver in solvers():
            answer = numerical(rows, bounds, solver=solver)
            distance = float(np.linalg.norm(answer.x - point))
            rounding = EPS * float(np.abs(point).sum())
            yield Compared(
                f"problem {number}, exact and {solver}",
                distance,
                answer.error + rounding,
            )


def solvers() -> tuple[str, ...]:
    """The solvers of quadratic problems at hand, a dual method of scipy included."""
    import cvxpy as cp

    known = cp.installed_solvers()
    wanted = ("CLARABEL", "OSQP", "SCS")
    return (*(name for name in wanted if name in known), "SCIPY-DUAL")


def _separable() -> Iterator[list[list[int]]]:
    """Rows of separable problems: small integers with a margin against some vector."""
    from random import Random

    draws = Random(SEED)  # ruff: ignore[suspicious-non-cryptographic-random-usage]
    for rows, columns in ((6, 3), (10, 6), (12, 12)):
        truth = [draws.choice([-2, -1, 1, 2]) for _ in range(columns)]
        found: list[list[int]] = []
        while len(found) < rows:
            row = [draws.randint(-3, 3) for _ in range(columns)]
            side = sum(a * b for a, b in zip(row, truth, strict=True))
            if side:
                found.append([x if side > 0 else -x for x in row])
        yield found


@self_check(
    says="Max-margin solutions: the active-set method, closed forms, and the method "
    "for difference constraints.",
    why="All are exact over the rationals: no difference is allowed",
)
def exact_margins_and_closed_forms() -> Iterator[Compared]:
    """Compare what three exact ways give where all three apply."""
    from verify.max_margin import minimise, order_margin

    orthogonal = [[3, 4, 0, 0], [-4, 3, 0, 0], [0, 0, 5, 12]]
    for rows, bounds in (
        ([[2, -1, 3]], [5]),
        ([[Fraction(1, 3), Fraction(-2, 7)]], [Fraction(5, 11)]),
        (orthogonal, [1, 2, 3]),
        (orthogonal, [2, -1, 5]),
    ):
        # Orthogonal rows: each constraint is met alone, by b a/|a|² where b > 0.
        lengths = [sum(Fraction(x) ** 2 for x in row) for row in rows]
        steps = [max(Fraction(b), Fraction(0)) for b in bounds]
        closed = sum(
            (b * b / a for b, a in zip(steps, lengths, strict=True)), Fraction(0)
        )
        found = minimise(rows, bounds)
        what = f"|x|² under {len(rows)} orthogonal constraints >= {bounds}"
        yield compare(what, found.norm_squared, closed, 0)
    for edges in (
        [(0, 2), (0, 3), (0, 4), (1, 4)],
        [(0, 1), (1, 2), (2, 3), (0, 4)],
        [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (2, 3), (2, 6)],
    ):
        size = 1 + max(token for edge in edges for token in edge)
        rows = [[(i == o) - (i == m) for i in range(size)] for o, m in edges]
        by_order, by_rows = order_margin(edges), minimise(rows, [1] * len(edges))
        worst = max(
            abs(score - by_rows.solution[token])
            for token, score in by_order.scores.items()
        )
        yield compare(f"scores of the order {edges}", worst, Fraction(0), 0)


@self_check(
    says="Gradients of a loss with a quadratic and a logistic term: derived by "
    "verify.symbolic, by torch's autograd, by central differences.",
    why="Rounding: γ_k of the gradient's terms in absolute value, k operations along "
    "the longest path, times 1 + |score| for what is exponentiated. Differences: the "
    "third derivative along an entry is at most |u_i v_j|³/(6√3), which leaves h²/6 "
    "of it, and the loss's own rounding over h",
)
def gradients() -> Iterator[Compared]:
    """Compare three ways to the gradient of one loss at random points."""
    import numpy as np
    import torch

    loss, slope = _loss_and_slope()
    rng = np.random.default_rng(SEED)
    for n, m in ((2, 3), (4, 2)):
        x = {
            "W": rng.standard_normal((n, m)),
            "B": rng.standard_normal((m, 2)),
            "u": rng.standard_normal((n, 1)),
            "v": rng.standard_normal((m, 1)),
        }
        derived = slope(x)
        leaf = torch.tensor(x["W"], requires_grad=True)
        tensors = {name: torch.tensor(value) for name, value in x.items()}
        (by_torch,) = torch.autograd.grad(_in_torch(tensors | {"W": leaf}), leaf)
        rounding, slack = _rounding(x)
        shape = f"{n} x {m}"
        yield Compared(
            f"{shape}, symbolic and autograd",
            float(np.abs(derived - by_torch.numpy()).max()),
            2 * rounding,
        )
        # entries moved by h are rounded: the middle shifts, and the slope with it
        second = (x["B"] ** 2).sum(1) + np.square(x["u"] @ x["v"].T) / 4
        shift = EPS * (1 + float(np.abs(x["W"]).max())) * float(second.max())
        h = 2.0**-17  # near the cube root of the precision: both errors are alike
        third = np.abs(x["u"] @ x["v"].T) ** 3 / (6 * math.sqrt(3))
        quotients = np.array([
            [_quotient(loss, x, i, j, h) for j in range(m)] for i in range(n)
        ])
        yield Compared(
            f"{shape}, symbolic and central differences",
            float(np.abs(derived - quotients).max()),
            h * h / 6 * float(third.max()) + slack / h + rounding + shift,
        )


def _loss_and_slope() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """|W B|²/2 + log(1 + exp(-uᵀ W v)), and its derived gradient, in numpy."""
    import sympy as sp

    from verify.symbolic import evaluator, gradient

    n, m = sp.symbols("n m", integer=True, positive=True)
    W, B = sp.MatrixSymbol("W", n, m), sp.MatrixSymbol("B", m, 2)
    u, v = sp.MatrixSymbol("u", n, 1), sp.MatrixSymbol("v", m, 1)
    square = sp.Trace(W * B * B.T * W.T) / 2
    loss = square + sp.log(1 + sp.exp(-(u.T * W * v)[0, 0]))
    return evaluator(loss), evaluator(gradient(loss, W))


def _in_torch(x: dict[str, Any]) -> Any:
    import torch

    score = (x["u"].T @ x["W"] @ x["v"])[0, 0]
    return ((x["W"] @ x["B"]) ** 2).sum() / 2 + torch.nn.functional.softplus(-score)


def _quotient(
    loss: Callable[..., Any], x: dict[str, Any], i: int, j: int, h: float
) -> float:
    ends = []
    for side in (1, -1):
        moved = x["W"].copy()
        moved[i, j] += side * h
        # x + h as rounded: the quotient is over the distance really moved
        ends.append((float(loss(x | {"W": moved})), moved[i, j]))
    (high, above), (low, below) = ends
    return float((high - low) / (above - below))


def _rounding(x: dict[str, Any]) -> tuple[float, float]:
    """Bounds on the rounding of the gradient and, near the point, of the loss."""
    import numpy as np

    from verify.numerics import gamma

    w, b, u, v = (np.abs(x[name]) for name in ("W", "B", "u", "v"))
    w = w + 2.0**-17
    score = float((u.T @ w @ v)[0, 0])
    # every path: at most four inner products of at most 4 terms, and 20 others
    unit = gamma(4 * max(w.shape) + 20)
    slope = w @ b @ b.T + (1 + score) * (u @ v.T)
    value = float(((w @ b) ** 2).sum()) / 2 + (1 + score) * (math.log(2) + score)
    return unit * float(slope.max()), unit * value


@self_check(
    says="Integrals: enclosed by the deep recheck, by Simpson's rule, in closed form.",
    why="Simpson's rule leaves h⁴/180 max|f''''|, and γ_n of a sum of n positive "
    "terms; the enclosure its radius; closed forms in 30 digits are rounded to double",
)
def integrals() -> Iterator[Compared]:
    """Compare integrals over [0, 1] of functions with known fourth derivatives."""
    import numpy as np
    import sympy as sp

    from verify.numerics import gamma

    cases: tuple[tuple[str, Any, Callable[[Any], Any], float, Any], ...] = (
        (
            "exp(-x²)",
            ["exp", ["neg", ["mul", ["in", "x"], ["in", "x"]]]],
            lambda x: np.exp(-x * x),
            12.0,
            sp.sqrt(sp.pi) / 2 * sp.erf(1),
        ),
        (
            "1/(1 + x)",
            ["div", 1, ["add", 1, ["in", "x"]]],
            lambda x: 1 / (1 + x),
            24.0,
            sp.log(2),
        ),
    )
    panels = 2000
    x = np.linspace(0, 1, panels + 1)
    weights = np.full(panels + 1, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    for name, tree, function, fourth, closed in cases:
        middle, radius = enclosed(["integral", "x", 0, 1, tree])
        simpson = float(weights @ function(x)) / (3 * panels)
        left = fourth / (180 * panels**4) + gamma(panels + 20) * simpson
        yield compare(f"{name}, balls and Simpson", middle, simpson, radius + left)
        exact = float(closed.evalf(30))
        yield compare(
            f"{name}, balls and closed form", middle, exact, radius + EPS * abs(exact)
        )


def enclosed(tree: Any) -> tuple[float, float]:
    """What the deep recheck makes of an expression without inputs.

    Args:
        tree: An expression of records of kind ``enclosure``.

    Returns:
        Midpoint, rounded to double, and a radius that covers the rounding.
    """
    from flint import ctx

    from verify import recheck_deep as deep

    with ctx.workprec(128):
        ball = deep._Calculator().value(tree, deep._Scope({})).real
    middle = float(ball.mid())
    return middle, float(ball.rad()) + EPS * abs(middle)


@self_check(
    says="exp, log and sqrt: rational enclosures of the plain recheck, and balls.",
    why="Both enclose the value, so that their centres differ by at most the sum of "
    "their radii",
)
def elementary_functions() -> Iterator[Compared]:
    """Compare the standard library's decimals, as recheck uses them, with Arb."""
    from flint import arb, ctx, fmpq

    from verify import recheck

    points = [Fraction(1, 3), Fraction(17, 5), Fraction(123456789, 1000), Fraction(40)]
    for op in ("exp", "log", "sqrt"):
        for x in points:
            if op == "exp" and x > 100:
                continue
            low, *rest = recheck._enclose(op, x, 128)
            high = rest[0] if rest else low
            with ctx.workprec(192):
                ball = getattr(arb(fmpq(x.numerator, x.denominator)), op)()
                ends = [arb(fmpq(y.numerator, y.denominator)) for y in (low, high)]
                apart = abs(ball.mid() - (ends[0] + ends[1]) / 2)
                allowed = ball.rad() + (ends[1] - ends[0]) / 2
                over = apart / abs(ball), allowed / abs(ball)
            # rounded outwards: relative sizes are far below the precision of a double
            yield Compared(
                f"{op}({x})",
                float(over[0].lower()),
                float(over[1].upper()) * (1 + 2 * EPS),
            )


@self_check(
    says="Chebyshev interpolants with proved remainders, and the functions themselves "
    "in balls.",
    why="The remainder that the interpolant states, of values and of slopes",
)
def interpolants() -> Iterator[Compared]:
    """Compare interpolants of exp with exp, between their nodes."""
    from flint import arb, ctx

    from verify.certify.panels import derivative, interpolate, value

    with ctx.workprec(128):
        for terms in (6, 12):
            low, high, rho = Fraction(0), Fraction(2), arb(2 * terms)
            # on the ellipse the real part is at most 1 + (rho + 1/rho)/2
            peak = (1 + (rho + 1 / rho) / 2).exp()
            panel = interpolate(
                lambda x: x.exp(), low, high, terms=terms, rho=rho, peak=peak
            )
            slopes = derivative(panel.coefficients)
            for tenth in range(1, 10):
                t = arb(2 * tenth - 10) / 10
                x = panel.centre + panel.radius * t
                gaps = (
                    ("value", value(panel.coefficients, t), panel.error),
                    ("slope", value(slopes, t) / panel.radius, panel.slope_error),
                )
                for what, found, error in gaps:
                    yield Compared(
                        f"{what} with {terms} terms at {float(x.mid()):.1f}",
                        float(abs(found - x.exp()).lower()),
                        float(error.upper()),
                    )


@self_check(
    says="Fits: local exponents, least-squares slopes and standard errors against "
    "exact laws, scipy's regression and fractions.",
    why="γ_k of the terms in absolute value, k operations along the longest path; a "
    "logarithm within an ulp of itself",
)
def fits() -> Iterator[Compared]:
    """Compare the fits with closed forms on data where these are known."""
    import numpy as np
    from scipy import stats

    from verify.fit.intervals import mean_interval
    from verify.fit.power_law import Law, local_slopes
    from verify.numerics import gamma

    t = 2.0 ** np.arange(3, 12)
    for power in (0.5, 1.0, 3.0):
        y = t**-power
        largest = float(np.abs(np.log(y)).max() + np.log(t).max())
        # logarithms of numbers rounded once: each off by 2 ulp of what it is at most
        allowed = gamma(8) * (largest + 2) * (1 + power) / math.log(2)
        worst = float(np.abs(local_slopes(t, y) + power).max())
        yield Compared(f"local exponent of t^-{power}", worst, allowed)
        bends, *_ = Law(power, 1).differences(t, y * np.log(t))
        scale = gamma(10) * 4 * (1 + largest)
        yield Compared(
            f"t^-{power} log t is its law", float(np.abs(bends).max()), scale
        )
    values = np.array([3.0, 8.0, 1.0, -4.0, 12.0, 5.0, 10.0, -3.0])
    found, n = mean_interval(values, 0.01), len(values)
    exact = [Fraction(int(x)) for x in values]
    mean = sum(exact) / n
    variance = sum((x - mean) ** 2 for x in exact) / (n * (n - 1))
    square = float(variance)  # the data are integers with an integer mean
    yield compare("mean, float and fractions", found.mean, float(mean), 0)
    yield compare("square of the error", found.error**2, square, gamma(10) * square)
    ranks = np.arange(n) - (n - 1) / 2
    closed = sum(x * (2 * i - n + 1) / 2 for i, x in enumerate(exact)) / sum(
        Fraction(2 * i - n + 1, 2) ** 2 for i in range(n)
    )
    slope = float(stats.linregress(ranks, values).slope)
    ours = float(values @ (ranks / np.square(ranks).sum()))
    size = float(np.abs(values * ranks).sum() / np.square(ranks).sum())
    for name, other in (("fractions", float(closed)), ("scipy", slope)):
        yield compare(f"slope and {name}", ours, other, gamma(6 * n) * size)


CHECKS: tuple[SelfCheck, ...] = (
    exact_and_numerical_margins,
    exact_margins_and_closed_forms,
    gradients,
    integrals,
    elementary_functions,
    interpolants,
    fits,
)
