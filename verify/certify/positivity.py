"""Polynomials that are positive on a box or everywhere, with exact certificates.

Bernstein: on a box a polynomial is at least its least Bernstein coefficient; a box on
which that says too little is halved along one side, and again. Squares: a polynomial
that is a sum of squares, plus a constant, is at least that constant everywhere. cvxpy
proposes the squares in floating point, exact rationals decide (L D L^T without pivots).

Both proofs are records of kind ``polynomial``, which `verify/recheck.py` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from verify.recheck import decide

if TYPE_CHECKING:
    import sympy as sp

HALVINGS = (
    12  # of one cell; a polynomial with a zero inside the box needs infinitely many
)
DENOMINATOR = 10**6  # to which a Gram matrix is rounded

Box = Mapping["sp.Symbol", tuple[Any, Any]]
Matrix = list[list[Fraction]]


class PositivityError(ValueError):
    """What is to be certified is no polynomial with rational coefficients."""


def bernstein(
    polynomial: sp.Expr,
    box: Box,
    *,
    says: str,
    strict: bool = True,
    halvings: int = HALVINGS,
) -> dict[str, Any] | None:
    """Certify that a polynomial is positive on a box.

    Args:
        polynomial: With rational coefficients, in the symbols of the box.
        box: Least and largest value of each symbol, exact.
        says: What the record shows, in one sentence.
        strict: Whether it is positive, or only not negative.
        halvings: How often one cell may be halved.

    Returns:
        A record of kind ``polynomial``, or None if this does not succeed, which says
        nothing.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> record = bernstein(x**2 - x + 1, {x: (0, 1)}, says="it is positive")
    >>> record["terms"], record["cells"]
    ([[1, [0]], [-1, [1]], [1, [2]]], None)
    """
    symbols = list(box)
    ends = [[_written(_fraction(x)) for x in box[s]] for s in symbols]
    record = _record(polynomial, symbols, says, strict) | {"box": ends}

    def cells(at: list[tuple[Fraction, Fraction]], depth: int) -> Any:
        side = [[_written(x) for x in pair] for pair in at]
        if decide(record | {"box": side}).valid:
            return None
        if depth == 0:
            raise _OpenError
        axis = _longest(at, start)
        low, high = at[axis]
        middle = (low + high) / 2
        halves = ((low, middle), (middle, high))
        parts = ([*at[:axis], half, *at[axis + 1 :]] for half in halves)
        return [axis, *(cells(part, depth - 1) for part in parts)]

    start = [(_fraction(low), _fraction(high)) for low, high in box.values()]
    try:
        return record | {"cells": cells(start, halvings)}
    except _OpenError:
        return None


class _OpenError(Exception):
    """A cell is as small as allowed and still open."""


def _longest(
    at: Sequence[tuple[Fraction, Fraction]], start: Sequence[tuple[Fraction, Fraction]]
) -> int:
    """The side that was halved least."""
    shares = [
        (b - a) / (d - c) if d > c else Fraction(0)
        for (a, b), (c, d) in zip(at, start, strict=True)
    ]
    return shares.index(max(shares))


def squares(
    polynomial: sp.Expr, symbols: Sequence[sp.Symbol], *, says: str, strict: bool = True
) -> dict[str, Any] | None:
    """Certify that a polynomial is positive everywhere, as a sum of squares.

    Args:
        polynomial: With rational coefficients.
        symbols: Its symbols.
        says: What the record shows, in one sentence.
        strict: Whether it is positive, or only not negative.

    Returns:
        A record of kind ``polynomial``, or None if this does not succeed, which says
        nothing: a positive polynomial need not be a sum of squares.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> record = squares(x**2 - x + 1, [x], says="it is positive")
    >>> record["box"] is None and decide(record).valid
    True
    """
    record = _record(polynomial, symbols, says, strict) | {"box": None}
    terms = {tuple(at): _fraction(x) for x, at in record["terms"]}
    half = [-(-max(at[i] for at in terms) // 2) for i in range(len(symbols))]
    least, most = (-(-f(map(sum, terms)) // 2) for f in (min, max))
    grid = product(*(range(n + 1) for n in half))
    # No other monomial can occur: those of least and of largest degree do not cancel.
    basis = [at for at in grid if least <= sum(at) <= most]
    gram = _gram(terms, basis)
    for slack in (Fraction(1, 2), Fraction(0)):  # of the constant that is left over
        if gram is None:
            return None
        found = _exact_squares(terms, basis, gram, slack)
        if found is not None and decide(record | {"squares": found}).valid:
            return record | {"squares": found}
    return None


def _gram(
    terms: Mapping[tuple[int, ...], Fraction], basis: Sequence[tuple[int, ...]]
) -> Any:
    """A Gram matrix of the polynomial, as far inside the cone as it can be."""
    import cvxpy as cp
    import numpy as np

    Q, t = cp.Variable((len(basis), len(basis)), PSD=True), cp.Variable()
    sums: dict[tuple[int, ...], Any] = {}
    for (i, a), (j, b) in product(enumerate(basis), repeat=2):
        at = _plus(a, b)
        sums[at] = sums.get(at, 0) + Q[i, j]
    if terms.keys() - sums.keys():
        return None
    inside = Q - t * np.eye(len(basis))
    gaps = [total - float(terms.get(at, 0)) for at, total in sums.items()]
    equations = [cp.constraints.zero.Zero(gap) for gap in gaps]
    problem = cp.Problem(cp.Maximize(t), [inside >> 0, *equations])
    problem.solve(solver=cp.CLARABEL)
    return Q.value if problem.status == cp.OPTIMAL else None


def _exact_squares(
    terms: Mapping[tuple[int, ...], Fraction],
    basis: Sequence[tuple[int, ...]],
    gram: Any,
    slack: Fraction,
) -> list[Any] | None:
    """Round the matrix, restore its sums exactly, and factor what comes out."""
    n = len(basis)
    rounded = [
        [Fraction(round(float(x) * DENOMINATOR), DENOMINATOR) for x in row]
        for row in gram
    ]
    Q = [[(rounded[i][j] + rounded[j][i]) / 2 for j in range(n)] for i in range(n)]
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, j in product(range(n), repeat=2):
        places.setdefault(_plus(basis[i], basis[j]), []).append((i, j))
    for at, entries in places.items():
        gap = terms.get(at, Fraction(0)) - sum(Q[i][j] for i, j in entries)
        for i, j in entries:
            Q[i][j] += gap / len(entries)
    zero = (0,) * len(basis[0])
    if zero in basis:  # what is taken here is the constant that is left over
        k = basis.index(zero)
        Q[k][k] -= slack * _room(Q, k)
    factors = ldl(Q)
    if factors is None:
        return None
    L, D = factors
    return [
        [
            _written(D[j]),
            [[_written(L[i][j]), list(basis[i])] for i in range(n) if L[i][j]],
        ]
        for j in range(n)
        if D[j]
    ]


def _room(Q: Matrix, k: int) -> Fraction:
    """How much entry (k, k) can be lowered: its Schur complement."""
    order = [*(i for i in range(len(Q)) if i != k), k]
    factors = ldl([[Q[i][j] for j in order] for i in order])
    return factors[1][-1] if factors else Fraction(0)


def ldl(Q: Matrix) -> tuple[Matrix, list[Fraction]] | None:
    """Factor a symmetric matrix as L D L^T over the rationals.

    Args:
        Q: A symmetric matrix.

    Returns:
        L with ones on its diagonal and D >= 0; None if the matrix is not positive
        semidefinite.

    >>> ldl([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(3)]]) is None
    True
    """
    n = len(Q)
    rest = [row[:] for row in Q]
    L = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    D = [Fraction(0)] * n
    for j in range(n):
        D[j] = rest[j][j]
        column = [rest[i][j] for i in range(j + 1, n)]
        if D[j] < 0 or (D[j] == 0 and any(column)):
            return None
        if D[j] == 0:
            continue
        for i in range(j + 1, n):
            L[i][j] = rest[i][j] / D[j]
        for i, k in product(range(j + 1, n), repeat=2):
            rest[i][k] -= L[i][j] * L[k][j] * D[j]
    return L, D


def _record(
    polynomial: sp.Expr, symbols: Sequence[sp.Symbol], says: str, strict: bool
) -> dict[str, Any]:
    """The record without its proof."""
    import sympy as sp

    try:
        poly = sp.Poly(polynomial, *symbols, domain=sp.QQ)
    except (sp.PolynomialError, sp.CoercionFailed) as error:
        text = f"no polynomial in {symbols} over the rationals: {error}"
        raise PositivityError(text) from error
    return {
        "kind": "polynomial",
        "says": says,
        "variables": [s.name for s in symbols],
        "terms": [[_written(_fraction(x)), list(at)] for at, x in sorted(poly.terms())],
        "relation": ">" if strict else ">=",
        "cells": None,
        "squares": [],
    }


def _plus(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _fraction(value: Any) -> Fraction:
    """An exact number; sympy's rationals count as such."""
    return Fraction(str(value))


def _written(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)
