"""The loss of linear attention in closed form (Theorem 3.6, Lemma F.1).

``h_LA = sum_i (f(x_i) + e_i) x_i^T M x`` has no normalisation. With
``K_1 = E f(x)^2`` and ``kappa_1 = E a^2 / d``, ``a w`` the linear part of a task:

    E f(x_1) x_1^T M x f(x)                     = kappa_1 tr M / d^2,
    E (f(x_1)^2 + sigma^2) (x_1^T M x)^2        = (K_1 + sigma^2) |M|_F^2 / d^2,
    E f(x_1) f(x_2) (x_1^T M x) (x_2^T M x)     = kappa_1 |M|_F^2 / d^3,

since ``E f(x) x = a w / d`` (even parts drop) and ``E x x^T = E w w^T = I / d``; the
second also needs that ``E_f f(x_1)^2`` does not depend on ``x_1``.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

d, n, sigma, L = sympy.symbols("d n sigma L", positive=True)
trace = sympy.Symbol("tr_M", real=True)
square = sympy.Symbol("square_M", nonnegative=True)

# E l^2 of the affine class; of ReLU a = (l1 - l2) / 2 has half of it.
LINEAR = {"affine": L**2 / 3, "relu": L**2 / 6}


@dataclass(frozen=True)
class LinearAttention:
    """The loss of linear attention on a class of tasks.

    Attributes:
        power: ``K_1 = E f(x)^2``.
        kappa: ``kappa_1``.
        loss: In ``d, n, sigma, L, tr M, |M|_F^2``.
        scale: The minimiser is ``scale`` times the identity.
        minimum: The least loss over all ``M``.
    """

    power: sympy.Expr
    kappa: sympy.Expr
    loss: sympy.Expr
    scale: sympy.Expr
    minimum: sympy.Expr

    def value(self, **numbers: float) -> float:
        """The loss in floating point, by the names ``d, n, sigma, L, tr_M, square_M``.

        >>> linear_attention("affine").value(d=2, n=1, sigma=0, L=1, tr_M=0, square_M=0)
        0.5
        """
        return number(self.loss, numbers)

    def least(self, **numbers: float) -> float:
        """The minimum in floating point, by the names ``d, n, sigma, L``."""
        return number(self.minimum, numbers)


def number(expression: sympy.Expr, numbers: dict[str, float]) -> float:
    """Evaluate an expression at numbers for the names of its symbols."""
    names = {symbol.name: symbol for symbol in (d, n, sigma, L, trace, square)}
    return float(expression.subs({names[name]: v for name, v in numbers.items()}))


def linear_attention(name: str) -> LinearAttention:
    """Give the closed form for the class ``affine`` or ``relu``.

    By Cauchy-Schwarz ``(tr M)^2 <= d |M|_F^2``, with equality at multiples of the
    identity: the minimum is that of a parabola in the scale.

    Raises:
        ValueError: There is no such class.
    """
    if name not in LINEAR:
        raise ValueError(
            f"linear attention: classes are {', '.join(LINEAR)}, not {name}"
        )
    # Both classes: E f^2 = (E l^2)(1 + 1/d), a ReLU task being a z + c |z| + b.
    power, kappa = L**2 / 3 * (1 + 1 / d), LINEAR[name] / d
    quadratic = n * (power + sigma**2) / d**2 + n * (n - 1) * kappa / d**3
    loss = power - 2 * n * kappa * trace / d**2 + square * quadratic
    scale = sympy.simplify(n * kappa / d**2 / quadratic)
    minimum = power - sympy.simplify((n * kappa / d) ** 2 / (d * quadratic))
    return LinearAttention(power, kappa, loss, scale, minimum)
