"""Decide enclosures again: relations between integrals and special functions, in balls.

``verify recheck --deep REPORT.json`` decides what `verify.recheck` decides, and records
of kind ``enclosure`` as well: ``inputs`` are exact numbers by name and ``relation`` is
``[op, left, right]`` over trees of scalars, with the operations of kind ``formula`` and

* ``["integral", variable, from, to, body]``, between finite ends;
* ``["besseli", order, x]``, ``["gamma", x]``, ``["erf", x]``, ``["sin", x]``,
  ``["cos", x]``, ``["pi"]``.

python-flint (Arb) encloses every value at growing precision until the relation is
decided; one left open is never true. In an integrand the functions take their principal
values, `abs`, `max` and `min` their analytic extensions, and whatever is not analytic
on a ball says so: the quadrature of Arb then bisects instead of trusting a contour. An
integral counts with its real part, and its imaginary part must enclose 0.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from verify import recheck
from verify.recheck import SIGNS, Decision, RecheckError, blame, measure, need

if TYPE_CHECKING:
    from flint import acb, arb

LADDER = (64, 128, 256)  # bits; a singular end costs about bits² / 4 evaluations
MAX_WORK = 300_000  # steps of a few microseconds, over all precisions
COST = {"besseli": 100, "gamma": 20, "erf": 20, "integral": 100}  # in such steps
MAX_INPUTS = 1000  # they are copied for each term of a sum, each point of an integral
CACHE = 256  # a run decides a record again for each node that returns it


class OverBudget(Exception):
    """An enclosure takes more steps than MAX_WORK: it stays undecided."""


@blame("malformed record")
def decide(record: Mapping[str, Any]) -> Decision:
    """Decide a witness or certificate of any kind.

    Args:
        record: The record.

    Returns:
        Whether it holds; undecided when no precision of the ladder, or no budget,
        separates the two sides.

    Raises:
        RecheckError: The record is malformed.

    >>> half = {"kind": "enclosure", "says": "erf(1/2) is above 1/2", "inputs": {}}
    >>> decide(half | {"relation": [">", ["erf", "1/2"], "1/2"]}).valid
    True
    """
    if record["kind"] not in recheck.NOT_HERE:
        return recheck.decide(record)
    measure(record, recheck.MAX_DEPTH, recheck.MAX_NODES)
    need(record.keys() == {"kind", "says", "inputs", "relation"}, "unknown fields")
    return _decide(recheck.canonical([record["inputs"], record["relation"]]))


@lru_cache(maxsize=CACHE)
def _decide(text: bytes) -> Decision:
    from flint import ctx

    inputs, relation = json.loads(text)
    need("seconds" not in inputs, "an input named seconds is not digested: rename it")
    need(len(inputs) <= MAX_INPUTS, f"over {MAX_INPUTS} inputs")
    op, left, right = relation if isinstance(relation, list) else [""] * 3
    need(op in SIGNS, "a relation is [op, left, right], op == != < <= > >=")
    calculator = _Calculator()
    for bits in LADDER:
        with ctx.workprec(bits):
            scope = _Scope({name: _number(raw) for name, raw in inputs.items()})
            try:
                sides = [_real(calculator.value(x, scope)) for x in (left, right)]
            except OverBudget:
                return Decision(None, f"undecided within {MAX_WORK} steps")
            truths = {sign in SIGNS[op] for sign in _signs(*sides)}
        if len(truths) == 1:
            return Decision(truths.pop(), f"decided in balls of {bits} bits")
    return Decision(None, f"undecided in balls of {LADDER[-1]} bits")


def _number(raw: Any) -> acb:
    from flint import acb, arb, fmpq

    exact = recheck.number(raw)[1][0][0]
    return acb(arb(fmpq(exact.numerator, exact.denominator)))


def _real(value: acb) -> arb:
    need(not value.is_finite() or value.imag.contains(0), "a side is no real number")
    return value.real


def _signs(a: arb, b: arb) -> set[int]:
    """The signs of a - b that the balls leave open; all of them for NaN."""
    if a < b or a > b:
        return {-1 if a < b else 1}
    if a == b:  # both are exact
        return {0}
    return {-1, 0} if a <= b else {0, 1} if a >= b else {-1, 0, 1}


class _Scope(NamedTuple):
    """Balls by name; whether in an integrand, and one that must be analytic there."""

    names: Mapping[str, acb]
    inside: bool = False
    analytic: bool = False

    def bind(self, name: str, value: acb, **changes: bool) -> _Scope:
        return self._replace(names={**self.names, name: value}, **changes)


class _Calculator:
    """The value of a tree in balls; all trees and precisions on one budget."""

    work = MAX_WORK

    def pay(self, steps: int) -> None:
        """Take steps off the budget of this record, and of its report."""
        self.work -= steps
        recheck.SPENT[0] += steps
        if self.work < 0:
            raise OverBudget

    def value(self, node: Any, scope: _Scope) -> acb:
        from flint import acb

        op = node[0] if isinstance(node, list) and node else None
        steps = COST.get(op, 1) if isinstance(op, str) else 1
        self.pay(steps + sys.getsizeof(node) // 64)
        match node:
            case ["in", str(name)]:
                need(name in scope.names, f"no input is named {name[:40]!a}")
                return scope.names[name]
            case ["pi"]:
                return acb.pi()
            case [("sum" | "integral"), str(name), low, high, body]:
                start, stop = self.value(low, scope), self.value(high, scope)
                over = self._sum if op == "sum" else self._integral
                return over(name, start, stop, body, scope)
            case [str(op), *rest]:
                return _apply(op, [self.value(x, scope) for x in rest], scope)
        return _number(node)

    def _sum(self, name: str, low: acb, high: acb, body: Any, scope: _Scope) -> acb:
        from flint import acb

        start, stop = (_integer(x, recheck.MAX_WORK) for x in (low, high))
        need(stop - start < recheck.MAX_COUNT, "a sum has too many terms")
        total = acb(0)
        for i in range(start, stop + 1):
            total += self.value(body, scope.bind(name, acb(i)))
        return total

    def _integral(
        self, name: str, low: acb, high: acb, body: Any, scope: _Scope
    ) -> acb:
        # The ends may be balls, those of an inner integral complex ones, while Arb is
        # given exact ends: x = low + t (high - low), t from 0 to 1. No exception passes
        # through Arb; after one it is left to end in NaN.
        from flint import acb, ctx

        errors: list[Exception] = []

        def integrand(t: acb, is_analytic: bool) -> acb:
            analytic = scope.analytic or is_analytic
            at = scope.bind(
                name, low + t * (high - low), inside=True, analytic=analytic
            )
            try:
                if not errors:
                    return self.value(body, at)
            except Exception as error:  # ruff: ignore[blind-except] - raised below
                errors.append(error)
            return acb("nan")

        whole = acb.integral(integrand, 0, 1, eval_limit=ctx.prec**2)
        if errors:
            raise errors[0]
        whole *= high - low
        return whole if scope.inside else acb(_real(whole))


def _is_integer(x: acb) -> bool:
    return x.is_exact() and x.contains_integer()


def _integer(value: acb, most: int) -> int:
    found = value.real.unique_fmpz() if _is_integer(value) else None
    if found is None or abs(found) > most:
        raise RecheckError(f"an exact integer of at most {most} is needed here")
    return int(found)


def _apply(op: str, args: list[acb], scope: _Scope) -> acb:
    """Apply an operation; NaN where it is not analytic on a ball and has to be."""
    match args:
        case [x] if op in {"neg", "exp", "sin", "cos", "erf", "gamma"}:
            return -x if op == "neg" else _method(x, op)
        case [x] if op == "abs":
            return x.real_abs(analytic=scope.analytic)
        case [x] if op in {"log", "sqrt"}:
            return _method(_in_domain(op, x, scope), op, scope.analytic)
        case [x, *rest] if op in {"add", "mul", "max", "min"}:
            for y in rest:
                if op in {"add", "mul"}:
                    x = x + y if op == "add" else x * y
                else:
                    x = _method(x, f"real_{op}", y, scope.analytic)
            return x
        case [x, y] if op == "sub":
            return x - y
        case [x, y] if op == "div":
            need(
                scope.inside or not y.is_zero(), "division by zero: correct the record"
            )
            return x / y
        case [x, y] if op == "pow":
            return _power(x, y, scope)
        case [order, x] if op == "besseli":
            return _besseli(order, x, scope)
    raise RecheckError(f"{op[:40]!a} does not apply to {len(args)} balls")


def _method(x: acb, name: str, *args: Any) -> acb:
    return cast("acb", getattr(x, name)(*args))


def _in_domain(op: str, x: acb, scope: _Scope) -> acb:
    """Outside integrals a function has a real value, or none."""
    from flint import acb

    if scope.inside or not x.is_finite():
        return x
    need(not x.real < 0, f"{op} outside its domain: correct the record")
    return x if x.real >= 0 else acb("nan")


def _power(base: acb, exponent: acb, scope: _Scope) -> acb:
    from flint import acb, arb

    if _is_integer(exponent):
        return base ** _integer(exponent, recheck.MAX_COUNT)
    base = _in_domain("pow", base, scope)
    if _is_integer(2 * exponent):
        root = base.sqrt(analytic=scope.analytic)
        return root ** _integer(2 * exponent, recheck.MAX_COUNT)
    positive = exponent.imag.is_zero() and exponent.real > 0
    if not scope.analytic and positive and base.is_finite() and base.contains(0):
        # |z^e| = |z|^e for real e: quadrature meets 0 at the ends of its path.
        most = arb(0, arb(base.abs_upper()) ** exponent.real)
        return acb(most, most)
    return base.pow(exponent, analytic=scope.analytic)


def _besseli(order: acb, x: acb, scope: _Scope) -> acb:
    from flint import acb

    if not _is_integer(order):  # a cut along x < 0
        x = _in_domain("besseli", x, scope)
        if scope.analytic and x.imag.contains(0) and not x.real > 0:
            return acb("nan")
    return x.bessel_i(order)


def main(argv: Sequence[str]) -> int:
    """Recheck a report, enclosures included.

    Args:
        argv: The path of the report.

    Returns:
        0 (good), 1 (bad or undecided) or 2 (unreadable, or python-flint is missing).
    """
    try:
        import flint  # ruff: ignore[unused-import] - a missing one is said once
    except ImportError as error:
        sys.stderr.write(f"recheck: --deep needs python-flint: {error}\n")
        return 2
    return recheck.main(argv, decide)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
