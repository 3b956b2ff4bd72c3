"""Expressions of symbolic size written out entry by entry at small sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import mul
from typing import Any

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement

from verify.symbolic.errors import SymbolicError
from verify.symbolic.proof import Proof, prove_equal, require_same_shape
from verify.symbolic.scalars import is_matrix


def components(
    expr: sp.Basic,
    sizes: Mapping[sp.Symbol, int],
    *,
    names: Mapping[str, str] | None = None,
) -> sp.Basic:
    """Write an expression out in scalar symbols.

    Args:
        expr: A scalar or a matrix expression of symbolic size.
        sizes: An integer for every dimension symbol; also replaces the symbol where
            it stands as a number.
        names: What to call the entries of a matrix, by the matrix's name; the entry
            (0, 1) of ``V_D`` is ``V_D_0_1`` unless renamed here.

    Returns:
        An explicit matrix, or a scalar.

    Raises:
        SymbolicError: If a size is missing, two symbols get one name, or a part of
            the expression has no entries to write out.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> x = sp.MatrixSymbol("x", n, 1)
    >>> components(x.T * x / n, {n: 2})
    Matrix([[x_0_0**2/2 + x_1_0**2/2]])
    """
    expr = sp.sympify(expr)
    _check_names(expr, sizes, names or {})
    return _Writer(sizes, names or {}).write(expr)


def prove_equal_at(
    left: sp.Basic, right: sp.Basic, sizes: Mapping[sp.Symbol, int]
) -> Proof:
    """Prove an identity entry by entry at given sizes.

    Args:
        left: A scalar or a matrix expression of symbolic size.
        right: The other side.
        sizes: An integer for every dimension symbol.

    Returns:
        The proof, or the residual that was left.

    Raises:
        SymbolicError: If a size is missing or the sides differ in shape.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> A, B = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("B", n, n)
    >>> prove_equal_at(sp.Trace(A * B), sp.Trace(B * A), {n: 2}).proved
    True
    """
    left, right = sp.sympify(left), sp.sympify(right)
    require_same_shape(left, right)
    return prove_equal(components(left, sizes), components(right, sizes))


def size_of(dimension: sp.Expr, sizes: Mapping[sp.Symbol, int]) -> int:
    """Evaluate a dimension.

    Args:
        dimension: An integer expression in dimension symbols.
        sizes: An integer for every dimension symbol.

    Returns:
        The integer.

    Raises:
        SymbolicError: If a symbol has no size, or the result is no count.
    """
    value = sp.sympify(dimension)
    # Substitution costs more than all that follows: most dimensions need none.
    if not value.is_Integer:
        value = sp.sympify(sizes[value]) if value in sizes else value.subs(dict(sizes))
    if not value.is_Integer or value < 0:
        given = ", ".join(f"{k}={n}" for k, n in sizes.items()) or "none"
        raise SymbolicError(
            f"dimension {dimension} has no size >= 0 (sizes given: {given}; it came "
            f"out as {value}); give an integer for every dimension symbol"
        )
    return int(value)


def _check_names(
    expr: Any, sizes: Mapping[sp.Symbol, int], names: Mapping[str, str]
) -> None:
    taken = {one.name for one in expr.atoms(sp.Symbol) if not isinstance(one, sp.Dummy)}
    for matrix in sorted(expr.atoms(sp.MatrixSymbol), key=str):
        rows, columns = (size_of(n, sizes) for n in matrix.shape)
        stem = names.get(matrix.name, matrix.name)
        entries = {f"{stem}_{i}_{j}" for i in range(rows) for j in range(columns)}
        if clash := sorted(entries & taken):
            raise SymbolicError(
                f"an entry of {matrix.name} would be called {clash[0]}, a name that "
                "is taken; rename the entries through `names`"
            )
        taken |= entries


@dataclass(frozen=True)
class _Writer:
    """One pass over an expression, with the matrices written out so far."""

    sizes: Mapping[sp.Symbol, int]
    names: Mapping[str, str]
    written: dict[Any, Any] = field(default_factory=dict)

    def write(self, expr: Any) -> Any:
        if expr not in self.written:
            matrix = is_matrix(expr)
            self.written[expr] = (self._matrix if matrix else self._scalar)(expr)
        return self.written[expr]

    def _matrix(self, expr: Any) -> Any:
        match expr:
            case sp.MatrixBase():
                return sp.ImmutableMatrix(expr).applyfunc(self.write)
            case sp.MatAdd():
                return reduce(lambda a, b: a + b, map(self.write, expr.args))
            case sp.MatMul():
                return reduce(mul, map(self.write, expr.args))
            case sp.Transpose():
                return self.write(expr.arg).T
            case sp.MatPow() if expr.exp.is_Integer:
                return self.write(expr.base) ** int(expr.exp)
            case sp.HadamardProduct():
                return reduce(
                    sp.matrix_multiply_elementwise, map(self.write, expr.args)
                )
            case sp.HadamardPower():
                power = self.write(expr.exp)
                return self.write(expr.base).applyfunc(lambda entry: entry**power)
        rows, columns = (size_of(n, self.sizes) for n in expr.shape)
        return sp.ImmutableMatrix(rows, columns, self._entries(expr))

    def _entries(self, expr: Any) -> Any:
        match expr:
            case sp.MatrixSymbol():
                stem = self.names.get(expr.name, expr.name)
                return lambda i, j: sp.Symbol(f"{stem}_{i}_{j}")
            case sp.OneMatrix():
                return lambda *_: sp.S.One
            case sp.ZeroMatrix():
                return lambda *_: sp.S.Zero
            case sp.Identity():
                return sp.KroneckerDelta
        raise SymbolicError(
            f"no entries to write out for {type(expr).__name__}: {expr}"
        )

    def _scalar(self, expr: Any) -> Any:
        match expr:
            case sp.Trace():
                return self.write(expr.arg).trace()
            case MatrixElement():
                matrix, i, j = map(self.write, expr.args)
                return matrix[i, j]
            case sp.Sum():
                return self._total(expr.function, expr.limits)
            case sp.Symbol():
                return sp.Integer(self.sizes[expr]) if expr in self.sizes else expr
        return expr.func(*map(self.write, expr.args)) if expr.args else expr

    def _total(self, function: Any, limits: Any) -> Any:
        if not limits:
            return self.write(function)
        *inner, (index, low, high) = limits
        values = range(int(self.write(low)), int(self.write(high)) + 1)
        parts = []
        for value in values:
            here = {index: sp.Integer(value)}
            bounds = [tuple(part.xreplace(here) for part in limit) for limit in inner]
            parts.append(self._total(function.xreplace(here), bounds))
        return sp.Add(*parts)
