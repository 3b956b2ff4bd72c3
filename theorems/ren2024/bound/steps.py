"""Steps of written proofs and balls for the bounds, each decided by the machine."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from verify import Cause, Undecided

if TYPE_CHECKING:
    from flint import arb


def need(says: str, proved: object) -> str:
    """Keep a step that was proved.

    Args:
        says: The step in words.
        proved: Whether the machine agrees.

    Returns:
        The step, for the record.

    Raises:
        Undecided: It was not proved.
    """
    if proved is not True and proved is not sp.true:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says


def equal(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """Prove an identity of elementary expressions."""
    difference = sp.expand(left - right)
    proved = difference == 0 or sp.simplify(difference) == 0
    return need(f"{says}: {left} = {right}", bool(proved))


def rational(value: Any) -> sp.Rational:
    """A number as sympy has it."""
    exact = Fraction(value)
    return sp.Rational(exact.numerator, exact.denominator)


def ball(expr: sp.Expr, at: Mapping[sp.Symbol, Any]) -> arb:
    """Enclose an expression of rational operations, roots and logarithms.

    Args:
        expr: The expression.
        at: An exact number for every free symbol.

    Returns:
        A ball at the working precision.

    Raises:
        TypeError: A part of the expression is of another kind.

    >>> x = sp.Symbol("x")
    >>> bool(ball(sp.sqrt(x) - 1, {x: 4}) == 1)
    True
    """
    from flint import arb, fmpq

    if isinstance(expr, sp.Symbol):
        exact = Fraction(at[expr])
        return arb(fmpq(exact.numerator, exact.denominator))
    if isinstance(expr, sp.Rational):
        return arb(fmpq(int(expr.p), int(expr.q)))
    parts = [ball(part, at) for part in expr.args]
    if isinstance(expr, sp.Add):
        return sum(parts, arb(0))
    if isinstance(expr, sp.Mul):
        product = arb(1)
        for part in parts:
            product *= part
        return product
    if isinstance(expr, sp.log):
        return parts[0].log()
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        return parts[0] ** int(expr.exp)
    if isinstance(expr, sp.Pow) and (2 * expr.exp).is_Integer:
        return parts[0].sqrt() ** int(2 * expr.exp)
    raise TypeError(f"no ball for {expr.func}: {expr}")
