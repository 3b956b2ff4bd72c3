"""Expression trees evaluated in Fractions and in Arb's balls: see `truth`."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np

Json = Any
BITS = 2000
OPS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class NoValue(Exception):
    """A record is malformed, or a tree has no value: nothing is claimed by it."""


def exact(raw: Json) -> Fraction:
    """An exact number: an integer, p/q or a hexadecimal double."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return Fraction(raw)
    if not isinstance(raw, str):
        raise NoValue(raw)
    try:
        if re.fullmatch(r"-?\d+(/\d+)?", raw, re.ASCII):
            return Fraction(raw)
        if re.fullmatch(r"-?0x[\da-f]+(\.[\da-f]*)?p[+-]?\d+", raw):
            return _hexadecimal(raw)
    except ZeroDivisionError as error:
        raise NoValue(raw) from error
    raise NoValue(raw)


def _hexadecimal(raw: str) -> Fraction:
    # Not float.fromhex, which rounds what is longer than a double.
    mantissa, _, power = raw.replace("0x", "").partition("p")
    whole, _, part = mantissa.partition(".")
    return Fraction(int(whole + part, 16)) * Fraction(2) ** (int(power) - 4 * len(part))


class Exact:
    """Arithmetic of Fractions."""

    number = staticmethod(exact)

    @staticmethod
    def apply(op: str, *xs: Any) -> Any:
        """An operation on scalars.

        Raises:
            NoValue: It has no value here.
        """
        if op == "pow" and xs[1].denominator == 1:
            if xs[0] == 0 and xs[1] < 0:
                raise NoValue("division by zero")
            return Fraction(xs[0]) ** int(xs[1])
        if op == "div" and xs[1] == 0:
            raise NoValue("division by zero")
        if op in {"pow", "exp", "log", "sqrt"}:
            raise ArithmeticError(op)  # not by this arithmetic
        table: dict[str, Any] = {
            "add": operator.add, "sub": operator.sub, "mul": operator.mul,
            "div": operator.truediv, "neg": operator.neg, "abs": abs, "max": max,
            "min": min,
        }  # fmt: skip
        return table[op](*xs)


class Balls:
    """Arithmetic of Arb's balls."""

    @staticmethod
    def number(raw: Json) -> Any:
        """A ball around an exact number."""
        x = exact(raw)
        return flint.arb(flint.fmpq(x.numerator, x.denominator))

    @staticmethod
    def apply(op: str, *xs: Any) -> Any:
        """An operation on scalars."""
        if op == "pow":
            return xs[0] ** xs[1]
        if op in {"exp", "log", "sqrt"}:
            return getattr(xs[0], op)()
        if op in {"max", "min"}:
            return getattr(xs[0], op)(xs[1])
        if op == "abs":
            return abs(xs[0])
        return Exact.apply(op, *xs) if op != "div" else xs[0] / xs[1]


FOLDED = {"add", "mul", "max", "min"}


def value(node: Json, names: Mapping[str, Any], on: Any) -> Any:
    """The value of a tree: a scalar, or an array of objects for a matrix.

    Raises:
        NoValue: The tree is malformed.
    """
    if not isinstance(node, list):
        return on.number(node)
    op, *rest = node
    if op == "in":
        if rest[0] not in names:
            raise NoValue(rest)
        return names[rest[0]]
    if op == "sum":
        return _sum(rest, names, on)
    xs = [value(x, names, on) for x in rest]
    if op in FOLDED and len(xs) > 2:
        return functools.reduce(lambda x, y: _apply(op, x, y, on=on), xs)
    if op in FOLDED and len(xs) == 1:
        return xs[0]
    return _apply(op, *xs, on=on)


def _sum(rest: Sequence[Json], names: Mapping[str, Any], on: Any) -> Any:
    name, low, high, body = rest
    start, stop = (whole(value(x, names, on)) for x in (low, high))
    total = on.number(0)
    for i in range(start, stop + 1):
        term = value(body, {**names, name: on.number(i)}, on)
        total = term if i == start else total + term
    return total


def whole(x: Any) -> int:
    """A whole number.

    Raises:
        NoValue: It is none.
    """
    if isinstance(x, Fraction):
        if x.denominator != 1:
            raise NoValue(x)
        return int(x)
    found = x.unique_fmpz() if x.is_exact() else None
    if found is None:
        raise NoValue(x)
    return int(found)


def _apply(op: str, *xs: Any, on: Any) -> Any:
    matrices = [isinstance(x, np.ndarray) for x in xs]
    if not any(matrices):
        if op in {"ones", "zeros", "eye"}:
            return _filled(op, [whole(x) for x in xs], on)
        return on.apply(op, *xs)
    if op == "matmul":
        return xs[0] @ xs[1]
    if op == "transpose":
        return xs[0].T
    if op == "entry":
        return xs[0][whole(xs[1]), whole(xs[2])]
    if op in {"trace", "total"}:
        cells = np.diag(xs[0]) if op == "trace" else xs[0].ravel()
        return functools.reduce(operator.add, cells)
    shape = next(x.shape for x in xs if isinstance(x, np.ndarray))
    full = [x if isinstance(x, np.ndarray) else np.full(shape, x, object) for x in xs]
    out = np.empty(shape, object)
    for at in np.ndindex(shape):
        out[at] = on.apply(op, *(x[at] for x in full))
    return out


def _filled(op: str, sides: Sequence[int], on: Any) -> Any:
    r, c = (*sides, *sides)[:2]
    cells = [
        [int(op == "ones" or (op == "eye" and i == j)) for j in range(c)]
        for i in range(r)
    ]
    return _matrix(cells, on)


def _matrix(rows: Json, on: Any) -> Any:
    out = np.empty((len(rows), len(rows[0])), object)
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            out[i, j] = on.number(x)
    return out


def related(
    relation: Json, left: Mapping[str, Json], right: Mapping[str, Json]
) -> bool | None:
    """Whether a relation holds for inputs given by name; None where no bits tell.

    Raises:
        NoValue: It is malformed.
    """
    op, a, b = relation
    for on in (Exact, Balls):
        try:
            with flint.ctx.workprec(BITS):
                sides = [
                    value(tree, {k: _input(x, on) for k, x in names.items()}, on)
                    for tree, names in ((a, left), (b, right))
                ]
                return _compared(op, *sides)
        except ArithmeticError:
            continue
    return None


def _input(raw: Json, on: Any) -> Any:
    return _matrix(raw, on) if isinstance(raw, list) else on.number(raw)


def _compared(op: str, a: Any, b: Any) -> bool | None:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        pairs = [*zip(a.ravel(), b.ravel(), strict=True)]
    else:
        pairs = [(a, b)]
    truths = [_pair(op, x, y) for x, y in pairs]
    if op == "!=":
        return True if True in truths else None if None in truths else False
    return False if False in truths else None if None in truths else True


def _pair(op: str, x: Any, y: Any) -> bool | None:
    if isinstance(x, Fraction):
        return OPS[op](x, y)
    if not (x.is_finite() and y.is_finite()):
        return None
    if not x.overlaps(y):
        return OPS[op](float((x - y) > 0), 0.5) if op in {">", ">="} else (
            bool(x < y) if op in {"<", "<="} else op == "!="
        )  # fmt: skip
    return None
