"""Steps of a proof: each is proved when it is written down, or the proof is refused.

A sign is proved by shifting every symbol by its lower bound and finding no coefficient
of the other sign in numerator and denominator; whatever does not come out so is "not
proved", never "refuted".
"""

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

from verify import Cause, Undecided
from verify.symbolic import prove_equal

Low = Mapping[sp.Symbol, sp.Expr | int]


def need(says: str, proved: object) -> str:
    """Keep a step that was proved.

    Args:
        says: The step in words.
        proved: Whether it was.

    Returns:
        The step, for the record.

    Raises:
        Undecided: It was not.
    """
    if proved is not True and proved != sp.true:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says


def equal(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """Prove one identity.

    Args:
        says: The step in words.
        left: One side.
        right: The other side.

    Returns:
        The step, for the record.
    """
    proved = prove_equal(left, right).proved or sp.simplify(left - right) == 0
    return need(f"{says}: {left} = {right}", bool(proved))


def positive(says: str, expr: sp.Expr, low: Low) -> str:
    """Prove that a rational function is not negative.

    Args:
        says: The step in words.
        expr: A quotient of polynomials in the symbols of ``low``.
        low: A lower bound of every symbol.

    Returns:
        The step, for the record.
    """
    return need(f"{says}: {expr} ≥ 0", nonnegative(expr, low))


def nonnegative(expr: sp.Expr, low: Low) -> bool:
    """Find a sign, as :func:`positive` does.

    Args:
        expr: A quotient of polynomials in the symbols of ``low``.
        low: A lower bound of every symbol.

    Returns:
        True if the expression is proved not to be negative; False says nothing.
    """
    return _nonnegative(sp.sympify(expr), tuple(low.items()))


@lru_cache(maxsize=1024)
def _nonnegative(expr: sp.Expr, lows: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> bool:
    low = dict(lows)
    shifted = expr.subs({s: s + bound for s, bound in lows})
    if shifted.free_symbols - set(low) or not shifted.is_rational_function(*low):
        return False
    signs = [_sign(part, low) for part in sp.fraction(sp.cancel(sp.together(shifted)))]
    return 0 in signs[:1] or (None not in signs and signs[0] == signs[1])


def _sign(polynomial: sp.Expr, low: Low) -> int | None:
    """1, -1, 0 for the zero polynomial, or None when coefficients differ in sign."""
    signs = {sp.sign(c) for c in sp.Poly(polynomial, *low).coeffs()}
    return int(signs.pop()) if len(signs) == 1 and signs <= {1, -1, 0} else None
