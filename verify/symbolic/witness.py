"""Expressions as JSON trees, so that a witness can be decided without sympy.

A number is an int or a string ``"p/q"``; an inner node is a list that starts with its
operation, for example ``["add", ["in", "x"], 1]`` or ``["entry", ["in", "A"], 0, 0]``.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
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
_ENCLOSED: Mapping[Any, str] = {  # for `enclosure` alone
    sp.besseli: "besseli",
    sp.cos: "cos",
    sp.erf: "erf",
    sp.gamma: "gamma",
    sp.sin: "sin",
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
    _require_elementary(expr)
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
    for side in (left, right):
        _require_elementary(sp.sympify(side))
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


def family(
    bound: sp.Expr,
    variable: sp.Symbol,
    at: Sequence[Any],
    *,
    toward: str,
    says: str,
    limit: str,
) -> dict[str, Any]:
    """Write a bound that tends to 0 or to infinity as a witness, with instances.

    For a claim with unnamed constants: `bound` is proved to bound a ratio along a
    family of cases, from above if it tends to 0, from below if to infinity. The values
    are the bound's own, rounded outward to three digits. `verify recheck` decides the
    instances; that the bound tends there is proved in the steps of the check.

    Args:
        bound: An expression in the variable alone.
        variable: The symbol that grows.
        at: At least two growing values of it: int or Fraction.
        toward: ``0`` or ``infinity``.
        says: What is bounded, in one sentence.
        limit: Why the bound tends there, as the proof has it.

    Returns:
        A record of kind ``family``.

    Raises:
        SymbolicError: If the bound reads another symbol, is no positive number at an
            instance, or has a part without a node; if it tends elsewhere.

    >>> n = sp.Symbol("n", positive=True)
    >>> words = {"says": "the ratio vanishes", "limit": "a negative power of n"}
    >>> record = family(n ** sp.Rational(-1, 2), n, (10, 1000), toward="0", **words)
    >>> record["bound"], record["instances"]  # doctest: +NORMALIZE_WHITESPACE
    (['div', 1, ['sqrt', ['in', 'n']]],
     [{'at': 10, 'relation': '<', 'value': '317/1000'},
      {'at': 1000, 'relation': '<', 'value': '317/10000'}])
    """
    if toward not in _TOWARD:
        raise SymbolicError(f"toward is 0 or infinity, not {toward!r}")
    if bound.free_symbols - {variable}:
        raise SymbolicError(f"{plain(bound)} reads more than {variable}")
    relation, rounded = _TOWARD[toward]
    instances = []
    for value in at:
        exact = as_fraction(variable.name, value)
        near = rounded(bound.subs(variable, sp.Rational(exact)))
        instances.append({
            "at": _number(exact),
            "relation": relation,
            "value": _number(near),
        })
    return {
        "kind": "family",
        "says": says,
        "variable": variable.name,
        "bound": tree(bound, {}),
        "toward": toward,
        "instances": instances,
        "limit": limit,
    }


def enclosure(
    left: sp.Basic, op: str, right: sp.Basic, inputs: Mapping[str, Any], says: str
) -> dict[str, Any]:
    """Write a relation between integrals or special functions as a record.

    ``verify recheck --deep`` decides it in balls: beyond what `formula` takes, the
    sides may hold ``Integral``, ``besseli``, ``gamma``, ``erf``, ``sin``, ``cos`` and
    ``pi``, but no matrices. The ends of an integral are finite, and its integrand is
    bounded on the way.

    Args:
        left: A scalar expression.
        op: One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
        right: The other side.
        inputs: Exact values by name; those that neither side reads are left out.
        says: What the relation shows, in one sentence.

    Returns:
        A record of kind ``enclosure``.

    Raises:
        SymbolicError: If an input is missing or not finite, a part has no node, two
            symbols share a name, or the relation is none of the above.

    >>> t, w = sp.symbols("t w")
    >>> area = sp.Integral(sp.exp(w * t), (t, 0, 1))
    >>> record = enclosure(area, "<", sp.pi, {"w": 2, "n": 5}, "it is below pi")
    >>> record["inputs"], record["relation"]  # doctest: +NORMALIZE_WHITESPACE
    ({'w': 2}, ['<', ['integral', 't', 0, 1,
     ['exp', ['mul', ['in', 't'], ['in', 'w']]]], ['pi']])
    """
    if op not in _RELATIONS:
        raise SymbolicError(f"no relation {op!r}; there are {', '.join(_RELATIONS)}")
    sides = [sp.sympify(side) for side in (left, right)]
    symbols = set[sp.Symbol]().union(*(side.atoms(sp.Symbol) for side in sides))
    twice = [name for name, k in Counter(x.name for x in symbols).items() if k > 1]
    if twice:
        raise SymbolicError(f"two symbols share the name {twice[0]}; rename one")
    names = {x.name for side in sides for x in side.free_symbols}
    require_names(names, inputs.keys() & names, names)
    values = {k: _value(k, inputs[k], matrix=False) for k in sorted(names)}
    return {
        "kind": "enclosure",
        "says": says,
        "inputs": values,
        "relation": [op, *(_node(side, {}) for side in sides)],
    }


def _require_elementary(expr: Any) -> None:
    found = [part for part in sp.preorder_traversal(expr) if _is_enclosed(part)]
    if found:
        name = type(found[0]).__name__
        raise SymbolicError(
            f"no node for {name}: {plain(found[0])}; `enclosure` writes it for balls"
        )


def _is_enclosed(part: Any) -> bool:
    return part is sp.pi or type(part) in {sp.Integral, *_ENCLOSED}


def _outward(sign: int, value: sp.Expr) -> Fraction:
    """Round to three digits, and beyond the value by at least a part of the last."""
    near = value.evalf(20)
    if not (near.is_Float and near > 0):
        raise SymbolicError(f"the bound is {near}, which is no positive number")
    unit = Fraction(10) ** (int(sp.floor(sp.log(near, 10).evalf())) - 2)
    scaled = Fraction(str(near)) / unit
    return unit * (math.floor(scaled) + 1 if sign > 0 else math.ceil(scaled) - 1)


_TOWARD: Mapping[str, tuple[str, Any]] = {
    "0": ("<", partial(_outward, 1)),
    "infinity": (">", partial(_outward, -1)),
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
        case sp.E:
            return ["exp", 1]
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
            return _over("sum", expr, sizes)
        case sp.Integral():
            return _over("integral", expr, sizes)
        case sp.pi:
            return ["pi"]
    name = _FUNCTIONS.get(type(expr)) or _ENCLOSED.get(type(expr))
    if name:
        return [name, *inner(*expr.args)]
    raise SymbolicError(f"no node for {type(expr).__name__}: {plain(expr)}")


def _over(op: str, expr: Any, sizes: Mapping[sp.Symbol, int]) -> Tree:
    node = _node(expr.function, sizes)
    for limits in expr.limits:
        if len(limits) != 3:
            raise SymbolicError(f"{plain(expr)} has no ends; a node needs both")
        index, low, high = limits
        node = [op, index.name, _node(low, sizes), _node(high, sizes), node]
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
