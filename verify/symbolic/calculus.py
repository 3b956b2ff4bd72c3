"""Derivatives of scalar losses with respect to a matrix of symbolic size."""

from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement

from verify.symbolic.errors import SymbolicError
from verify.symbolic.explicit import components
from verify.symbolic.proof import check_shapes, is_zero, normal_form
from verify.symbolic.scalars import freeze, is_matrix
from verify.symbolic.text import plain
from verify.symbolic.words import (
    Terms,
    Word,
    as_matrix,
    factors_of,
    scalar,
    transpose_word,
)


def gradient(loss: sp.Expr, W: sp.MatrixSymbol) -> sp.MatrixExpr:
    """Differentiate a scalar with respect to a matrix.

    The loss is expanded into traces and entries of products, each of which is
    differentiated by the product rule; the chain rule joins them. sympy's own
    ``diff`` is not used: for ``Trace(A*W) + Trace(B*W)`` sympy 1.14 returns 0.
    Every result passes a control before it is returned: all dimensions become 2 or
    3, and each entry must equal the plain derivative of the written-out loss.

    Args:
        loss: A scalar in traces and entries of matrix products.
        W: The matrix, of symbolic size (or of small integer size).

    Returns:
        The gradient in normal form, of the shape of `W`.

    Raises:
        SymbolicError: If the loss is no scalar, if `W` occurs where no rule applies,
            or if the control disagrees.

    >>> n, m = sp.symbols("n m", integer=True, positive=True)
    >>> A, W = sp.MatrixSymbol("A", m, n), sp.MatrixSymbol("W", n, m)
    >>> gradient(sp.Trace(A * W) + sp.Trace(W * W.T) / 2, W)
    W + A.T
    """
    loss = sp.sympify(loss)
    if is_matrix(loss):
        raise SymbolicError(
            f"the loss must be a scalar, not a matrix of shape {loss.shape}; take its "
            "trace or its [0, 0] entry"
        )
    check_shapes(loss)
    result = normal_form(_chain_rule(loss, W))
    _control(loss, W, result)
    return result


def _chain_rule(loss: Any, W: Any) -> Any:
    frozen, meaning = freeze(sp.expand(scalar(loss)))
    parts = []
    for symbol, quantity in meaning.items():
        if quantity.has(W):
            outer = sp.diff(frozen, symbol).xreplace(meaning)
            parts.append(sp.MatMul(outer, _quantity(quantity, W)))
    if frozen.has(W):
        raise SymbolicError(f"no rule to differentiate {plain(loss)} by {W}")
    return sp.MatAdd(sp.ZeroMatrix(*W.shape), *parts)


def _quantity(quantity: Any, W: Any) -> Any:
    """Differentiate one trace, or one 1 x 1 product, by the product rule."""
    if isinstance(quantity, sp.Trace):
        matrix = quantity.arg
    elif isinstance(quantity, MatrixElement) and quantity.parent.shape == (1, 1):
        matrix = quantity.parent
    else:
        raise SymbolicError(
            f"no rule to differentiate {plain(quantity)} by {W}; write it as the "
            "trace of a product, or as the entry [0, 0] of a 1 x 1 product"
        )
    word = factors_of(matrix)
    found: Terms = {}
    for k, atom in enumerate(word):
        if place := _place(word, k, W):
            found[place] = found.get(place, 0) + 1
        elif atom.has(W):
            raise SymbolicError(f"no rule to differentiate {plain(atom)} by {W}")
    return sp.MatAdd(
        *(sp.MatMul(c, as_matrix(w[1:], W.rows)) for w, c in found.items())
    )


def _place(word: Word, k: int, W: Any) -> Word:
    """Derivative of tr(left * word[k] * right), tagged; empty if word[k] is not W."""
    left, right = word[:k], word[k + 1 :]
    if word[k] == W:  # d tr(L W R) = tr(R L dW)
        return (W, *transpose_word(right + left))
    if word[k] == sp.Transpose(W):  # d tr(L W' R) = tr((R L)' dW)
        return (W, *right, *left)
    return ()


def _control(loss: Any, W: Any, result: Any) -> None:
    """Compare with derivatives entry by entry at sizes 2 and 3.

    Raises:
        SymbolicError: If any entry differs.
    """
    parts = [loss, result, W]
    matrices = set().union(*(part.atoms(sp.MatrixExpr) for part in parts))
    free = set().union(*(n.free_symbols for m in matrices for n in m.shape))
    own = [n for n in W.shape if n in free]
    rest = sorted(free - set(own), key=str)
    order = list(dict.fromkeys([*own, *rest]))
    sizes = {n: 2 + k % 2 for k, n in enumerate(order)}
    value, slope, point = (components(part, sizes) for part in parts)
    for i in range(point.rows):
        for j in range(point.cols):
            expected = sp.diff(value, point[i, j])
            if not is_zero(expected - slope[i, j]):
                raise SymbolicError(
                    f"the gradient by {W} fails its control at sizes {sizes}: entry "
                    f"[{i}, {j}] is {slope[i, j]}, the derivative of the written-out "
                    f"loss is {expected}; the loss was {plain(loss)}"
                )
