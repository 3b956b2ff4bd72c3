"""Proofs of inequalities by signs, sound and incomplete.

A term with logarithms, exponentials and roots becomes a rational function of new
symbols with known lower bounds; every symbol is shifted by its bound; a quotient of
polynomials without negative coefficients is not negative. Whatever does not come out
so is "not proved", never "refuted".
"""

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

Low = Mapping[sp.Symbol, sp.Expr | int]


class _UnprovedError(Exception):
    """A part has no sign that this method finds."""


def nonnegative(expr: sp.Expr, low: Low) -> bool:
    """Prove that an expression is not negative wherever it is defined.

    Args:
        expr: A scalar made of rational operations, roots, ``log`` and ``exp``.
        low: A lower bound of every symbol; a bound of 0 may be excluded.

    Returns:
        True if it was proved; False says nothing.

    >>> x = sp.Symbol("x")
    >>> nonnegative(x**2 - 2 * x + 1, {x: 1}), nonnegative(1 - x, {x: 0})
    (True, False)
    """
    bounds = ((symbol, sp.sympify(bound)) for symbol, bound in low.items())
    return _nonnegative(sp.sympify(expr), tuple(bounds))


@lru_cache(maxsize=2048)  # readings, and a claim decided twice, ask for the same
def _nonnegative(expr: sp.Expr, low: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> bool:
    bounds = dict(low)
    try:
        plain = _Plain(bounds).rewrite(expr)
    except _UnprovedError:
        return False
    if plain.free_symbols - bounds.keys():
        return False
    shifted = plain.xreplace({s: s + bound for s, bound in bounds.items()})
    above, below = sp.fraction(sp.cancel(sp.together(shifted)))
    signs = [_sign(part, sorted(bounds, key=str)) for part in (above, below)]
    return above == 0 or (0 not in signs and signs[0] == signs[1])


def rising(expr: sp.Expr, symbol: sp.Symbol, low: Low) -> bool:
    """Prove ``expr >= 0`` from its value at the lower bound and its derivative.

    Args:
        expr: A differentiable expression.
        symbol: The variable, which runs up from its lower bound.
        low: A lower bound of every symbol.

    Returns:
        True if it was proved; False says nothing.

    >>> x = sp.Symbol("x")
    >>> rising(x - sp.log(1 + x), x, {x: 0})
    True
    """
    start = expr.subs(symbol, low[symbol])
    others = {one: bound for one, bound in low.items() if one != symbol}
    return nonnegative(start, others) and nonnegative(sp.diff(expr, symbol), low)


def _sign(polynomial: sp.Expr, symbols: list[sp.Symbol]) -> int:
    """1 or -1 when no coefficient has the other sign, 0 when some do."""
    if not symbols:
        return int(sp.sign(polynomial))
    try:
        coefficients = sp.Poly(polynomial, *symbols).coeffs()
    except sp.PolynomialError:
        return 0
    signs = {sp.sign(c) for c in coefficients} - {0}
    return int(signs.pop()) if len(signs) == 1 and signs <= {1, -1} else 0


class _Plain:
    """Replaces what is not rational by symbols with lower bounds, in ``bounds``."""

    def __init__(self, bounds: dict[sp.Symbol, sp.Expr]) -> None:
        self.bounds = bounds
        self.known: dict[sp.Expr, sp.Symbol] = {}
        self.given = dict(bounds)

    def rewrite(self, expr: sp.Expr) -> sp.Expr:
        match expr:
            case sp.log():
                inside = expr.args[0]
                if not nonnegative(inside - 1, self.given):
                    raise _UnprovedError
                return self._new(expr, 0)
            case sp.exp():
                at_least_one = nonnegative(expr.args[0], self.given)
                return self._new(expr, 1 if at_least_one else 0)
            case sp.Pow() if not expr.exp.is_Integer:
                twice = 2 * expr.exp
                if not twice.is_Integer or not nonnegative(expr.base, self.given):
                    raise _UnprovedError
                at_least_one = nonnegative(expr.base - 1, self.given)
                root = self._new(sp.sqrt(expr.base), 1 if at_least_one else 0)
                return root**twice
        if not expr.args:
            return expr
        return expr.func(*map(self.rewrite, expr.args))

    def _new(self, expr: sp.Expr, bound: int) -> sp.Symbol:
        if expr not in self.known:
            self.known[expr] = sp.Dummy(f"u{len(self.known)}", positive=True)
            self.bounds[self.known[expr]] = sp.Integer(bound)
        return self.known[expr]
