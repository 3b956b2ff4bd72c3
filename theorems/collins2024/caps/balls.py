"""Claimed expressions, evaluated in ball arithmetic at exact numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import sympy as sp

if TYPE_CHECKING:
    from flint import arb

Exact = Fraction | int
At = Mapping[sp.Symbol, Exact]
Balls = Mapping[sp.Symbol, "arb"]
Compiled = Callable[[Balls], "arb"]

_UNARY: Mapping[Any, str] = {sp.exp: "exp", sp.log: "log", sp.gamma: "gamma"}
_CONSTANTS: Mapping[Any, str] = {sp.pi: "pi", sp.E: "const_e"}


def number(value: Any) -> arb:
    """A rational number as a ball at the working precision.

    >>> number(Fraction(1, 2)).mid().str(3)
    '0.500'
    """
    from flint import arb, fmpq

    exact = Fraction(int(value.p), int(value.q)) if hasattr(value, "q") else value
    exact = Fraction(exact)
    return arb(fmpq(exact.numerator, exact.denominator))


def evaluate(expr: sp.Expr, at: At) -> arb:
    """Enclose an expression of rational operations, exp, log, gamma, powers and sums.

    Args:
        expr: The expression.
        at: An exact number for every free symbol.

    Returns:
        A ball that holds the value.
    """
    return compiled(sp.sympify(expr))({
        symbol: number(value) for symbol, value in at.items()
    })


@functools.cache
def compiled(expr: sp.Expr) -> Compiled:
    """Turn an expression into a function of balls by symbol.

    Args:
        expr: The expression.

    Returns:
        The function; it works at the precision of the moment.

    Raises:
        TypeError: A part of the expression is of another kind.
    """
    from flint import arb

    match expr:
        case sp.Symbol():
            return operator.itemgetter(expr)
        case sp.Integer():
            whole = arb(int(expr))
            return lambda _: whole
        case sp.Rational():
            return lambda _: number(expr)
        case sp.Add():
            return _folded(operator.add, expr)
        case sp.Mul():
            return _folded(operator.mul, expr)
        case sp.Pow():
            return _power(expr)
        case sp.Sum():
            return _sum(expr)
    if expr in _CONSTANTS:
        name = _CONSTANTS[expr]
        return lambda _: getattr(arb, name)()
    if expr.func not in _UNARY:
        raise TypeError(f"no ball for {expr.func}: {expr}")
    method, inner = operator.methodcaller(_UNARY[expr.func]), compiled(expr.args[0])
    return lambda at: method(inner(at))


def _folded(operation: Callable[[Any, Any], Any], expr: sp.Expr) -> Compiled:
    parts = [compiled(part) for part in expr.args]
    return lambda at: reduce(operation, [part(at) for part in parts])


def _power(expr: sp.Pow) -> Compiled:
    base = compiled(expr.base)
    if isinstance(expr.exp, sp.Integer):
        whole = int(expr.exp)
        return lambda at: base(at) ** whole
    if expr.exp == sp.S.Half:
        return lambda at: base(at).sqrt()
    exponent = compiled(expr.exp)
    return lambda at: base(at) ** exponent(at)


def _sum(expr: sp.Sum) -> Compiled:
    ((index, low, high),) = expr.limits
    first, last, term = compiled(low), compiled(high), compiled(expr.function)

    def total(at: Balls) -> arb:
        span = range(_whole(first(at)), _whole(last(at)) + 1)
        return reduce(operator.add, [term({**at, index: number(i)}) for i in span])

    return total


def _whole(ball: arb) -> int:
    return int(ball.unique_fmpz())
