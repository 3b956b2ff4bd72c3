"""Normal forms of matrix identities, and proofs that two sides agree."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy as sp

from verify.symbolic.errors import SymbolicError
from verify.symbolic.scalars import freeze, is_matrix, tidy
from verify.symbolic.text import plain
from verify.symbolic.words import Terms, as_matrix, assemble, scalar, terms, word_key


@dataclass(frozen=True)
class Proof:
    """What became of ``left - right``.

    Attributes:
        proved: True only if the difference is exactly zero in normal form. False
            means "not proved", never "refuted".
        residual: The difference in normal form.
        steps: How the residual came about, one sentence or term each.
    """

    proved: bool
    residual: sp.Basic
    steps: tuple[str, ...]


def normal_form(expr: sp.Basic) -> sp.Basic:
    """Expand, transpose, collect and cancel an expression.

    Products are multiplied out over sums, scalars (also 1 x 1 products) pulled out,
    transposes pushed to the symbols, equal products collected, their coefficients
    cancelled to lowest terms, and zero terms dropped. Nothing is divided by without
    its being a denominator already: the result is equal wherever `expr` is defined.

    Args:
        expr: A scalar, a matrix expression of symbolic size, or an explicit matrix.

    Returns:
        The normal form, of the same kind and shape.

    Raises:
        SymbolicError: If neighbouring factors do not fit.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> A, B = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("B", n, n)
    >>> normal_form((A * B).T - B.T * A.T)
    0
    >>> normal_form((A + 2 * B) * A - A * A)
    2*B*A
    """
    expr = sp.sympify(expr)
    if isinstance(expr, sp.MatrixBase):
        return sp.ImmutableMatrix(expr).applyfunc(lambda entry: tidy(scalar(entry)))
    check_shapes(expr)
    if not is_matrix(expr):
        return tidy(scalar(expr))
    return assemble(terms(expr), expr.shape)


def prove_equal(left: sp.Basic, right: sp.Basic) -> Proof:
    """Try to prove an identity by bringing its difference to zero.

    The identity is one of rational functions: it holds wherever no denominator of
    either side vanishes and every inverse exists.

    Args:
        left: A scalar or a matrix expression.
        right: The other side, of the same shape.

    Returns:
        The proof, or the residual that was left.

    Raises:
        SymbolicError: If the shapes differ, or if factors do not fit.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> A, x = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("x", n, 1)
    >>> prove_equal((x.T * A * x)[0, 0], sp.Trace(A.T * x * x.T)).proved
    True
    >>> prove_equal(A * x, A.T * x).residual
    A*x - A.T*x
    """
    return _proved(*map(_fixed, (left, right)))


def _fixed(side: Any) -> Any:
    side = sp.sympify(side)
    return side.as_immutable() if isinstance(side, sp.MatrixBase) else side


@lru_cache(maxsize=1024)  # each check decides its claim twice; readings share proofs
def _proved(left: Any, right: Any) -> Proof:
    require_same_shape(left, right)
    for side in (left, right):
        check_shapes(side)
    if not is_matrix(left):
        return _prove_scalars(left, right)
    if isinstance(left, sp.MatrixBase) and isinstance(right, sp.MatrixBase):
        return _prove_entries(left, right)
    return _prove_words(left, right)


def is_zero(expr: sp.Expr) -> bool:
    """Decide whether a canonical scalar vanishes identically.

    Args:
        expr: A scalar in canonical form.

    Returns:
        True if it was brought to 0; False if it was not.
    """
    frozen, _ = freeze(tidy(expr))
    if frozen == 0 or frozen.is_rational_function():
        return bool(frozen == 0)
    return bool(sp.simplify(frozen) == 0)


def require_same_shape(left: sp.Basic, right: sp.Basic) -> None:
    """Refuse to compare sides of different shape.

    Args:
        left: One side.
        right: The other side.

    Raises:
        SymbolicError: If one is a scalar and one a matrix, or if shapes differ.
    """
    shapes = [tuple(one.shape) if is_matrix(one) else () for one in (left, right)]
    same = len(shapes[0]) == len(shapes[1]) and all(
        sp.expand(a - b) == 0 for a, b in zip(*shapes, strict=True)
    )
    if not same:
        raise SymbolicError(
            f"the sides differ in shape: left is {_shape(left)}, right is "
            f"{_shape(right)}; take [0, 0] of a 1 x 1 matrix to compare it with a "
            "scalar"
        )


def check_shapes(expr: sp.Basic) -> None:
    """Look for products whose neighbouring factors do not fit.

    sympy lets some of them through, such as a division by a 1 x 1 matrix.

    Args:
        expr: Any expression.

    Raises:
        SymbolicError: Naming the first product that does not fit.
    """
    for product in expr.atoms(sp.MatMul):
        matrices = [part for part in product.args if is_matrix(part)]
        for a, b in pairwise(matrices):
            if sp.expand(a.shape[1] - b.shape[0]) != 0:
                raise SymbolicError(
                    f"factors do not fit in {plain(product)}: {plain(a)} is "
                    f"{_shape(a)}, {plain(b)} is {_shape(b)}; divide by a scalar, "
                    "such as the [0, 0] entry, not by a 1 x 1 matrix"
                )


def _shape(expr: Any) -> str:
    return " x ".join(map(str, expr.shape)) if is_matrix(expr) else "a scalar"


def _prove_scalars(left: Any, right: Any) -> Proof:
    ours, theirs = tidy(scalar(left)), tidy(scalar(right))
    difference = ours - theirs  # 0 at once where both have one lowest form
    vanishes = difference == 0 or is_zero(difference)
    residual = sp.S.Zero if vanishes else tidy(difference)
    steps = (
        f"left: {plain(ours)}",
        f"right: {plain(theirs)}",
        f"difference over one denominator: {plain(residual)}",
    )
    return Proof(vanishes, residual, steps)


def _prove_words(left: Any, right: Any) -> Proof:
    ours, theirs = terms(left), terms(right)
    steps, residual = [], Terms()
    for word in sorted({*ours, *theirs}, key=word_key):
        a, b = ours.get(word, sp.S.Zero), theirs.get(word, sp.S.Zero)
        vanishes = is_zero(a - b)
        residual[word] = sp.S.Zero if vanishes else a - b
        steps.append(
            f"coefficient of {plain(as_matrix(word, left.shape[0]))}: "
            f"left {plain(tidy(a))}, right {plain(tidy(b))}, "
            f"difference {plain(tidy(residual[word]))}"
        )
    rest = assemble(residual, left.shape)
    head = f"both sides multiplied out: {len(ours)} and {len(theirs)} products"
    return Proof(isinstance(rest, sp.ZeroMatrix), rest, (head, *steps))


def _prove_entries(left: Any, right: Any) -> Proof:
    rows, columns = left.shape
    entries, steps = [], []
    for i in range(rows):
        for j in range(columns):
            one = _prove_scalars(left[i, j], right[i, j])
            entries.append(one.residual)
            steps.append(f"entry [{i}, {j}]: difference {plain(one.residual)}")
    residual = sp.ImmutableMatrix(rows, columns, entries)
    return Proof(all(entry == 0 for entry in entries), residual, tuple(steps))
