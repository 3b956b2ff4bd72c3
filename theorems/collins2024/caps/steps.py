"""Steps of written proofs, each decided by computer algebra.

Signs are proved by coefficients: a polynomial whose variables are shifted by their
lower bounds and that has no negative coefficient is not negative. What does not come
out so is "not proved", never "refuted".
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from verify import Cause, Undecided

Low = Mapping[sp.Symbol, sp.Expr | int]


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
    """Prove an identity of powers, exponentials and gamma functions."""
    difference = sp.expand(left - right)
    proved = difference == 0 or _equal_over(left, right)
    proved = proved or sp.simplify(sp.gammasimp(difference)) == 0
    return need(f"{says}: {left} = {right}", bool(proved))


def _equal_over(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether a quotient with gamma functions is 1."""
    if right == 0 or not (left.has(sp.gamma) or right.has(sp.gamma)):
        return False
    return bool(sp.gammasimp(left / right) == 1)


def nonnegative(expr: sp.Expr, low: Low) -> bool:
    """Prove that a rational expression is not negative above lower bounds.

    Args:
        expr: A quotient of polynomials.
        low: A lower bound of every symbol.

    Returns:
        True if it was proved; False says nothing.

    >>> x = sp.Symbol("x")
    >>> nonnegative(x**2 - 2 * x + 1, {x: 1}), nonnegative(1 - x, {x: 0})
    (True, False)
    """
    if expr.free_symbols - low.keys():
        return False
    shifted = expr.xreplace({x: x + bound for x, bound in low.items()})
    parts = sp.fraction(sp.cancel(sp.together(shifted)))
    symbols = sorted(low, key=str)
    signs = [_signs(sp.Poly(part, *symbols)) for part in parts]
    return parts[0] == 0 or signs in ([{1}, {1}], [{-1}, {-1}])


def positive(says: str, expr: sp.Expr, low: Low) -> str:
    """Prove that a rational expression is not negative above lower bounds."""
    return need(f"{says}: {expr} ≥ 0", nonnegative(expr, low))


def rising(says: str, expr: sp.Expr, x: sp.Symbol) -> str:
    """Prove ``expr >= 0`` for x >= 0 from its value at 0 and its derivative.

    All other symbols run up from 0, too.
    """
    slope = sp.cancel(sp.together(sp.diff(expr, x)))
    zero = sp.simplify(expr.subs(x, 0)) == 0
    low = dict.fromkeys(expr.free_symbols, 0)
    return need(f"{says}: {expr} ≥ 0", zero and nonnegative(slope, low))


def _signs(polynomial: sp.Poly) -> set[int]:
    return {int(sp.sign(coefficient)) for coefficient in polynomial.coeffs()}
