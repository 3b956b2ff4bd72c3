"""What the two sides of a witness's relation come to: an aid to redoing it by hand.

This decides nothing: :mod:`verify.recheck` does, in rational enclosures. Here numbers
stay exact while they are short, and are rounded to :data:`DIGITS` digits after that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from typing import Any

from verify import recheck

DIGITS = 40
SHOWN = 10
MAX_BITS = 4_000  # of an exact number; a longer one is rounded
MAX_STEPS = 5_000
MAX_EXP = 1 << 19  # as in recheck: what is larger cannot be read anyway
MAX_LENGTH = 24  # characters of an exact number that is still read with ease

_CONTEXT = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
_FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "max": max,
    "min": min,
}


class UnreadableError(ValueError):
    """A side has no value that this module could print."""


def sides(record: Mapping[str, Any]) -> str:
    """The values of both sides of a formula's relation, in words.

    Args:
        record: A witness or certificate of any content.

    Returns:
        A sentence; empty for other kinds, matrices and whatever cannot be evaluated.

    >>> sides({"kind": "formula", "inputs": {"k": 2},
    ...        "relation": ["!=", ["pow", ["in", "k"], 3], 9]})
    'The left side is 8, the right side 9.'
    """
    if record.get("kind") != "formula":
        return ""
    try:
        with localcontext(_CONTEXT):
            evaluator = _Evaluator(record["inputs"])
            a, b = (evaluator.value(tree, {}) for tree in record["relation"][1:])
            return f"The left side is {_text(a, b)}, the right side {_text(b, a)}."
    except Exception:  # ruff: ignore[blind-except] - an aid that may be missing
        return ""


def _text(value: Any, other: Any) -> str:
    exact = str(value).replace("-", "−")
    if isinstance(value, Fraction) and len(exact) <= MAX_LENGTH:
        return exact
    # As many digits as it takes to tell the sides apart.
    texts = [
        [f"{_rounded(x):.{digits}g}" for x in (value, other)]
        for digits in (SHOWN, DIGITS - 10)
    ]
    shown = next((mine for mine, its in texts if mine != its), texts[0][0])
    return "about " + shown.replace("-", "−")


def _rounded(x: Any) -> Decimal:
    if isinstance(x, Fraction):
        return Decimal(x.numerator) / Decimal(x.denominator)
    return Decimal(x)


class _Evaluator:
    """Evaluates expression trees over scalars, within a budget of steps."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self.inputs = inputs
        self.steps = MAX_STEPS

    def value(self, tree: Any, names: Mapping[str, Any]) -> Any:
        self.steps -= 1
        if self.steps < 0:
            raise UnreadableError("too many steps")
        match tree:
            case ["in", str(name)]:
                return names[name] if name in names else _number(self.inputs[name])
            case ["entry", ["in", str(name)], i, j]:
                row, column = (int(self.value(x, names)) for x in (i, j))
                return _number(self.inputs[name][row][column])
            case ["sum", str(name), low, high, body]:
                ends = [int(self.value(x, names)) for x in (low, high)]
                terms = range(ends[0], ends[1] + 1)
                values = (self.value(body, {**names, name: Fraction(n)}) for n in terms)
                return reduce(_both(operator.add), values, Fraction(0))
            case [str(op), *rest]:
                return self.operate(op, [self.value(x, names) for x in rest])
        return _number(tree)

    def operate(self, op: str, values: list[Any]) -> Any:
        if op in _FOLDS and values:
            return reduce(_both(_FOLDS[op]), values)
        match op, values:
            case "sub", [x, y]:
                return _both(operator.sub)(x, y)
            case "div", [x, y]:
                return _both(operator.truediv)(x, y)
            case "neg", [x]:
                return -x
            case "abs", [x]:
                return abs(x)
            case "pow", [x, y]:
                return _power(x, y)
            case (("exp" | "log" | "sqrt"), [x]):
                if op == "exp" and abs(x) > MAX_EXP:
                    raise UnreadableError("exp of a large number")
                return getattr(_rounded(x), {"log": "ln"}.get(op, op))()
        raise UnreadableError(f"no value of {op}")


def _number(raw: Any) -> Fraction:
    return recheck.number(raw)[1][0][0]


def _both(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Apply a function to two numbers of one kind, exact while both are short."""

    def apply(x: Any, y: Any) -> Any:
        if not (isinstance(x, Fraction) and isinstance(y, Fraction)):
            x, y = _rounded(x), _rounded(y)
        found = function(x, y)
        if isinstance(found, Fraction) and _bits(found) > MAX_BITS:
            return _rounded(found)
        return found

    return apply


def _bits(x: Fraction) -> int:
    return max(x.numerator.bit_length(), x.denominator.bit_length())


def _power(x: Any, y: Any) -> Any:
    exact = isinstance(x, Fraction) and isinstance(y, Fraction) and y.denominator == 1
    if exact and _bits(x) * abs(y) <= MAX_BITS:
        return x ** int(y)
    if abs(y) > MAX_EXP:
        raise UnreadableError("a power of a large number")
    return _rounded(x) ** _rounded(y)
