"""Scalars and products: small questions, and cancelling to lowest terms."""

from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement


def is_matrix(expr: sp.Basic) -> bool:
    """Tell matrix expressions and explicit matrices from scalars.

    Args:
        expr: Any sympy object.

    Returns:
        True for whatever has rows and columns.
    """
    return bool(getattr(expr, "is_Matrix", False))


def is_divisor(part: sp.Expr) -> bool:
    """Tell factors that stand below the fraction bar.

    Args:
        part: A factor of a product.

    Returns:
        True for powers with a negative number as exponent.
    """
    return bool(part.is_Pow and part.exp.is_number and part.exp.is_negative)


def split_fraction(product: sp.Mul) -> tuple[sp.Expr, sp.Expr]:
    """Split a product at the fraction bar, changing nothing else.

    Args:
        product: A scalar product.

    Returns:
        Numerator and denominator.
    """
    above = [part for part in product.args if not is_divisor(part)]
    below = [1 / part for part in product.args if is_divisor(part)]
    return sp.Mul(*above), sp.Mul(*below)


def freeze(expr: sp.Expr) -> tuple[sp.Expr, dict[sp.Symbol, sp.Expr]]:
    """Replace traces, entries and sums by plain symbols.

    Args:
        expr: A scalar in canonical form.

    Returns:
        The expression in plain symbols, and what each new symbol stands for.
    """
    symbols: dict[Any, Any] = {}

    def walk(part: Any) -> Any:
        if isinstance(part, sp.Trace | MatrixElement | sp.Sum | sp.Determinant):
            # The name fixes the order of generators on every machine.
            return symbols.setdefault(part, sp.Dummy(str(part)))
        if not part.args or is_matrix(part):
            return part
        return part.func(*[walk(inner) for inner in part.args])

    frozen = walk(expr)
    return frozen, {symbol: part for part, symbol in symbols.items()}


def tidy(coefficient: sp.Expr) -> sp.Expr:
    """Cancel a canonical scalar to lowest terms.

    Args:
        coefficient: A scalar in canonical form.

    Returns:
        The same scalar over one denominator; rational functions that vanish are 0.
    """
    return _tidied(sp.sympify(coefficient))


@lru_cache(maxsize=8192)  # a claim, its mutants and its anchors share most of it
def _tidied(coefficient: sp.Expr) -> sp.Expr:
    frozen, meaning = freeze(coefficient)
    try:
        cancelled = sp.cancel(sp.together(frozen))
    except sp.PolynomialError:  # Piecewise and other things that are no polynomial
        cancelled = sp.simplify(frozen)
    return cancelled.xreplace(meaning)
