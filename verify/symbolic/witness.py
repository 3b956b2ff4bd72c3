"""Expressions as JSON trees, so that a witness can be decided without sympy.

A number is an int or a string ``"p/q"``; an inner node is a list that starts with its
operation, for example ``["add", ["in", "x"], 1]`` or ``["entry", ["in", "A"], 0, 0]``.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement

from verify.symbolic.backends import as_fraction
from verify.symbolic.errors import SymbolicError
from verify.symbolic.explicit import size_of
from verify.symbolic.proof import check_shapes, require_same_shape
from verify.symbolic.scalars import is_divisor, is_matrix, split_fraction
from verify.symbolic.shapes import require_names, signature
from verify.symbolic.text import contract_sums, plain

Tree: TypeAlias = int | str | list[Any]

_RELATIONS = ("==", "!=", "<", "<=", ">", ">=")
_FUNCTIONS: Mapping[Any, str] = {
    sp.Abs: "abs",
    sp.Add: "add",
    sp.Max: "max",
    sp.Min: "min",
    sp.Mul: "mul",
    sp.Trace: "trace",
    sp.exp: "exp",
    sp.log: "log",
}


def tree(expr: sp.Basic, sizes: Mapping[sp.Symbol, int]) -> Tree:
    """Export an expression as a JSON tree.

    Args:
        expr: A scalar or a matrix expression.
        sizes: An integer for every dimension symbol, also where it is a number.

    Returns:
        Nested lists, ints and strings.

    Raises:
        SymbolicError: If a part of the expression has no node, or a size is missing.

    >>> n = sp.Symbol("n", integer=True, positive=True)
    >>> x = sp.MatrixSymbol("x", n, 1)
    >>> tree((x.T * x)[0, 0] / n, {n: 3})
    ['div', ['entry', ['matmul', ['transpose', ['in', 'x']], ['in', 'x']], 0, 0], 3]
    """
    expr = sp.sympify(expr)
    check_shapes(expr)
    return _node(contract_sums(expr), dict(sizes))


def formula(
    left: sp.Basic, op: str, right: sp.Basic, inputs: Mapping[str, Any], says: str
) -> dict[str, Any]:
    """Write a relation and its exact inputs as a witness.

    Args:
        left: A scalar or a matrix expression.
        op: One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
        right: The other side.
        inputs: Values by name: int, Fraction or float, alone or as a matrix. Names
            that neither side reads are left out of the record.
        says: What the relation shows, in one sentence.

    Returns:
        A record of kind ``formula``: rationals as int or ``"p/q"``, floats in
        hexadecimal, expressions as trees.

    Raises:
        SymbolicError: If an input is missing, of a wrong shape or not finite, or if
            the relation is none of the above.

    >>> x = sp.Symbol("x")
    >>> formula(x**2, "<", x, {"x": Fraction(1, 2), "y": 3}, "squares shrink")
    ... # doctest: +NORMALIZE_WHITESPACE
    {'kind': 'formula', 'says': 'squares shrink', 'inputs': {'x': '1/2'},
     'relation': ['<', ['pow', ['in', 'x'], 2], ['in', 'x']]}
    """
    if op not in _RELATIONS:
        raise SymbolicError(f"no relation {op!r}; there are {', '.join(_RELATIONS)}")
    left, right = (contract_sums(sp.sympify(side)) for side in (left, right))
    require_same_shape(left, right)
    names = signature(left, right)
    require_names(names.required, inputs.keys() & names.required, names.required)
    values = {k: _value(k, inputs[k], matrix=False) for k in names.scalars}
    matrices = {k: _value(k, inputs[k], matrix=True) for k in names.matrices}
    shapes = {name: (len(rows), len(rows[0])) for name, rows in matrices.items()}
    sizes = names.sizes(shapes, names.counts(inputs))
    values |= matrices
    return {
        "kind": "formula",
        "says": says,
        "inputs": dict(sorted(values.items())),
        "relation": [op, tree(left, sizes), tree(right, sizes)],
    }


def _node(expr: Any, sizes: Mapping[sp.Symbol, int]) -> Tree:
    def inner(*parts: Any) -> list[Any]:
        return [_node(part, sizes) for part in parts]

    if isinstance(expr, sp.MatrixExpr | MatrixElement):
        return _matrix_node(expr, sizes)
    match expr:
        case sp.Symbol() if expr in sizes:
            return sizes[expr]
        case sp.Symbol():
            return ["in", expr.name]
        case sp.Number() if expr.is_finite:
            return _number(Fraction(*map(int, sp.Rational(expr).as_numer_denom())))
        case sp.Mul() if any(map(is_divisor, expr.args)):
            return ["div", *inner(*split_fraction(expr))]
        case sp.Pow() if is_divisor(expr):
            return ["div", 1, *inner(1 / expr)]
        case sp.Pow() if expr.exp == sp.S.Half:
            return ["sqrt", *inner(expr.base)]
        case sp.Pow():
            return ["pow", *inner(expr.base, expr.exp)]
        case sp.Sum():
            return _total(expr, sizes)
    if type(expr) in _FUNCTIONS:
        return [_FUNCTIONS[type(expr)], *inner(*expr.args)]
    raise SymbolicError(f"no node for {type(expr).__name__}: {plain(expr)}")


def _total(expr: Any, sizes: Mapping[sp.Symbol, int]) -> Tree:
    node = _node(expr.function, sizes)
    for index, low, high in expr.limits:
        node = ["sum", index.name, _node(low, sizes), _node(high, sizes), node]
    return node


def _matrix_node(expr: Any, sizes: Mapping[sp.Symbol, int]) -> Tree:
    def inner(*parts: Any) -> list[Any]:
        return [_node(part, sizes) for part in parts]

    if isinstance(expr, MatrixElement):
        return ["entry", *inner(*expr.args)]
    counts = [size_of(size, sizes) for size in expr.shape]
    match expr:
        case sp.MatrixSymbol():
            return ["in", expr.name]
        case sp.OneMatrix():
            return ["ones", *counts]
        case sp.ZeroMatrix():
            return ["zeros", *counts]
        case sp.Identity():
            return ["eye", counts[0]]
        case sp.MatAdd():
            return ["add", *inner(*expr.args)]
        case sp.Transpose():
            return ["transpose", *inner(expr.arg)]
        case sp.MatPow() if expr.exp.is_Integer and expr.exp > 0:
            return ["matmul", *inner(expr.base) * int(expr.exp)]
        case sp.MatMul():
            scalars = [part for part in expr.args if not is_matrix(part)]
            matrices = inner(*(part for part in expr.args if is_matrix(part)))
            product = ["matmul", *matrices] if len(matrices) > 1 else matrices[0]
            return ["mul", *inner(*scalars), product] if scalars else product
    raise SymbolicError(f"no node for {type(expr).__name__}: {plain(expr)}")


def _value(name: str, value: Any, *, matrix: bool) -> Any:
    array = np.asarray(value, object)
    if array.ndim != (2 if matrix else 0) or not array.size:
        wanted = "a matrix without empty axes" if matrix else "a single number"
        raise SymbolicError(f"{name} must be {wanted}; its shape is {array.shape}")
    if not matrix:
        return _exact(name, array[()])
    return [[_exact(name, one) for one in row] for row in array]


def _exact(name: str, value: Any) -> int | str:
    if isinstance(value, float | np.floating):
        if not isfinite(value):
            raise SymbolicError(f"{name} holds {value}; a witness needs finite numbers")
        return float(value).hex()
    return _number(as_fraction(name, value))


def _number(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)
