"""Decide the witnesses and certificates of a report again.

``python recheck.py REPORT.json`` needs the standard library of Python 3.11, no paper.
Rational arithmetic is exact; exp, log, sqrt and fractional powers become rational
enclosures, ever tighter until the relation is decided; one left open is never true. The
digests show careless changes; they are no signature, since any editor can renew them.
"""

import hashlib
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise, product
from typing import Any, NamedTuple

SCHEMA_VERSION = 1
LADDER = (64, 128, 256, 512, 1024)  # bits of the enclosures, tried in turn
# Bounds that keep a hostile report from hanging its reader; one exceeded is an error.
MAX_FILE, MAX_DEPTH, MAX_NODES = 64 << 20, 200, 200_000  # bytes; nesting; values
MAX_DIGITS, MAX_BITS = 4300, 800_000  # of a number as written; of one on the way
MAX_SIDE, MAX_COUNT = 256, 10_000  # rows or columns; terms of a sum, |integer exponent|
MAX_EXP, MAX_TEXT = 1 << 19, 400  # |x| in exp(x); characters of a place or a reason
MAX_WORK, MAX_TOTAL = 400_000, 40_000_000  # steps of ~2 µs: of a record, of a report
SPENT = [0]  # such steps in this process
NOT_HERE = frozenset({"enclosure"})  # kinds left to `verify recheck --deep`
VOLATILE: Mapping[str, frozenset[str]] = {  # what result_digest leaves out
    "": frozenset({"verdict_digest", "result_digest", "provenance"}),  # top level
    "run": frozenset({"id", "started", "seconds", "jobs", "command"}),
    "claims": frozenset({"seconds"}),  # numbers, at any depth, as in self_checks
}
_RATIONAL = re.compile(rf"(-?[0-9]{{1,{MAX_DIGITS}}})(?:/([0-9]{{1,{MAX_DIGITS}}}))?")
_HEX = re.compile(r"(-?)0x([0-9a-f]{1,16})(?:\.([0-9a-f]{0,16}))?p([+-]?[0-9]{1,4})")
_CORNERS: dict[str, Any] = {"div": operator.truediv, "max": max, "min": min}
_CORNERS |= {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
_STATED = "id statement_text statement_latex parameters verdict fault finding"
_FATES = {"mutants": "name change rejected", "anchors": "name change refuted"}
SIGNS = {"<": {-1}, "<=": {-1, 0}, "==": {0}, ">=": {0, 1}, ">": {1}, "!=": {-1, 1}}
Span = tuple[Fraction, ...]  # (x,) is exact, (lo, hi) an enclosure, () unknown
Value = tuple[tuple[int, ...], list[Span]]  # shape, () or (rows, columns), and entries
Tensor = dict[tuple[int, ...], Fraction]  # coefficients by exponents or by indices


class RecheckError(ValueError):
    """A record or report is malformed: the message names the place and the remedy."""


class Decision(NamedTuple):
    """Whether one record holds, None if undecided or not decided here, and why."""

    valid: bool | None
    reason: str


class Item(NamedTuple):
    """One line of a recheck: the place of a record or digest, and how it fared."""

    place: str
    kind: str
    valid: bool | None
    reason: str


def need(condition: object, message: str) -> None:
    """Raise RecheckError unless the condition is true."""
    if not condition:
        raise RecheckError(message)


@contextmanager
def blame(what: str) -> Generator[None]:
    """Raise RecheckError with these words in place of any exception."""
    try:
        yield
    except Exception as error:
        raise RecheckError(f"{what}: {error}"[:MAX_TEXT]) from error


def measure(value: object, depth: int, nodes: float) -> None:
    """Raise RecheckError if a JSON value is nested deeper or has more values."""
    level: list[Any] = [value]
    while level:
        nodes, depth = nodes - len(level), depth - 1
        need(nodes >= 0 <= depth, "too large or nested too deep: split or flatten it")
        nests = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [x for nest in nests if isinstance(nest, list) for x in nest]


def number(raw: object) -> Value:
    """Return an exact number as written; RecheckError if it is none."""
    text = str(raw) if type(raw) in {int, str} else ""
    if match := _HEX.fullmatch(text):
        sign, whole, part, power = match.groups(default="")
        scale = Fraction(2) ** (int(power) - 4 * len(part))
        return (), [(int(sign + whole + part, 16) * scale,)]
    if match := _RATIONAL.fullmatch(text):
        return (), [(Fraction(int(match[1]), int(match[2] or 1)),)]
    shown = ascii(text[:40] or type(raw).__name__)
    raise RecheckError(f"{shown} is no exact number: write 3, 'p/q' or a hex double")


def _whole(value: Value, low: int = -MAX_WORK, high: int = MAX_WORK) -> int:
    match value:
        case ((), [(x,)]) if x.denominator == 1 and low <= x <= high:
            return int(x)
    raise RecheckError(f"an exact integer from {low} to {high} is needed here")


def _down(x: Fraction, bits: int) -> Fraction:
    # The largest dyadic number of that many bits, or fewer, that is at most x.
    ulp = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - bits)
    return x // ulp * ulp


def _enclose(op: str, x: Fraction, bits: int) -> Span:
    # The argument is rounded down for the lower end and up for the upper one. decimal
    # rounds exp, ln and sqrt correctly, to half a unit in the last place: one unit is
    # added, at most 10^(1-digits) of the value. A value of 0 is exact: ln(1), sqrt(0).
    root = Fraction(math.isqrt(abs(x.numerator)), math.isqrt(x.denominator))
    if x == {"exp": 0, "log": 1, "sqrt": root * root}[op]:
        return (root if op == "sqrt" else Fraction(op == "exp"),)
    need(op != "exp" or abs(x) <= MAX_EXP, f"exp needs |x| <= {MAX_EXP}: rescale")
    digits, ends = bits // 3 + 10, []
    for sign, rounding in ((-1, ROUND_FLOOR), (1, ROUND_CEILING)):
        context = Context(digits, rounding, MIN_EMIN, MAX_EMAX)
        y = context.divide(Decimal(x.numerator), Decimal(x.denominator))
        value = Fraction(getattr(context, {"log": "ln"}.get(op, op))(y))
        ends.append(value + sign * abs(value) / 10 ** (digits - 1))
    return tuple(ends)


def _compare(op: str, a: Span, b: Span) -> bool | None:
    signs = {(x > y) - (x < y) for x in a for y in b}  # of left - right
    signs |= {0} if len(signs) > 1 else set()
    truths = {sign in SIGNS[op] for sign in signs}
    return truths.pop() if len(truths) == 1 else None


def _join(truths: Sequence[bool | None], decisive: bool | None) -> bool | None:
    return decisive if decisive in truths else None if None in truths else not decisive


class _Calculator:
    # Interval arithmetic over the rationals, at one precision and on one budget.
    bits, work = LADDER[0], MAX_WORK

    def pay(self, operands: Sequence[Fraction] = (), steps: int = 1) -> None:
        # A gcd of long numbers, or their product, takes a time like that of many steps.
        sizes = [[n.bit_length() for n in x.as_integer_ratio()] for x in operands]
        most = max(map(max, sizes), default=0)
        steps *= 1 + (most >> 12) ** 2 + max((n * d >> 21 for n, d in sizes), default=0)
        self.work, SPENT[0] = self.work - steps, SPENT[0] + steps
        need(self.work >= 0 and most <= MAX_BITS, "over MAX_WORK or MAX_BITS")

    def hull(self, ends: Sequence[Fraction], cost: int = 1) -> Span:
        self.pay(steps=1 + 4 * cost * len(ends))
        if len(ends) < 2 or min(ends) == max(ends):
            return tuple(ends[:1])
        return _down(min(ends), self.bits), -_down(-max(ends), self.bits)

    def binary(self, op: str, a: Span, b: Span) -> Span:
        # Corners suffice, since each operation is monotone in each argument.
        if op == "div" and b and b[0] <= 0 <= b[-1]:
            need(len(b) == 2, "division by zero: correct the record")
            return ()
        self.pay([*a, *b])
        return self.hull([_CORNERS[op](x, y) for x in a for y in b])

    def unary(self, op: str, a: Span) -> Span:
        if op in {"neg", "abs"}:
            zero = [Fraction(0)] if op == "abs" and a and a[0] < 0 < a[-1] else []
            return self.hull([getattr(operator, op)(x) for x in a] + zero)
        if op != "exp" and a:
            inside = [x > 0 if op == "log" else x >= 0 for x in a]
            need(inside[-1], f"{op} outside its domain: correct the record")
            a = a if inside[0] else ()
        self.pay(a, 8)
        ends = [y for x in a for y in _enclose(op, x, self.bits)]
        self.pay(ends)
        return self.hull(ends, self.bits // 3)

    def power(self, a: Span, e: Fraction) -> Span:
        need(abs(e) <= MAX_COUNT, f"pow needs |exponent| <= {MAX_COUNT}: use exp, log")
        if e.denominator > 2:
            return self.unary("exp", self.binary("mul", (e,), self.unary("log", a)))
        if e.denominator == 2:
            return self.power(self.unary("sqrt", a), 2 * e)
        if e <= 0:
            one = (Fraction(1),) if a else ()
            return self.binary("div", one, self.power(a, -e)) if e else one
        half = self.unary("abs", self.power(a, Fraction(e // 2)))
        square = self.binary("mul", half, half)
        return self.binary("mul", square, a) if e % 2 else square

    def operate(self, op: str, *args: Value) -> Value:
        on, add, mul = (partial(self.binary, name) for name in (op, "add", "mul"))
        match op, args:
            case (("neg" | "abs" | "exp" | "log" | "sqrt"), [(shape, cells)]):
                return shape, [self.unary(op, x) for x in cells]
            case (("add" | "sub" | "max" | "min"), [(r, a), (c, b)]) if r == c:
                return r, [*map(on, a, b)]
            case (("mul" | "div"), [(shape, cells), ((), [y])]):
                return shape, [on(x, y) for x in cells]
            case "mul", [((), [x]), (shape, cells)]:
                return shape, [on(x, y) for y in cells]
            case "pow", [((), [x]), ((), [(e,)])]:
                return (), [self.power(x, e)]
            case "matmul", [((r, n), a), ((m, c), b)] if m == n:
                rows = [a[i : i + n] for i in range(0, r * n, n)]
                terms = (map(mul, row, b[j::c]) for row in rows for j in range(c))
                return (r, c), [reduce(add, products) for products in terms]
            case "transpose", [((r, c), cells)]:
                return (c, r), [self.hull(x) for j in range(c) for x in cells[j::c]]
            case (("trace" | "total"), [((r, c), cells)]) if r == c or op == "total":
                return (), [reduce(add, cells[:: c + 1 if op == "trace" else 1])]
            case "entry", [((r, c), cells), i, j]:
                return (), [cells[_whole(i, 0, r - 1) * c + _whole(j, 0, c - 1)]]
            case (("ones" | "zeros"), [_, _]) | ("eye", [_]):
                r, c = (_whole(side, 1, MAX_SIDE) for side in (*args, *args)[:2])
                equal, other = (Fraction(op != "zeros"),), (Fraction(op == "ones"),)
                cells = [other if k % (c + 1) else equal for k in range(r * c)]
                return (r, c), [self.hull(x) for x in cells]
        shapes = ", ".join(str(shape) for shape, _ in args)
        raise RecheckError(f"{op[:40]!a} does not apply to shapes {shapes}")

    def value(self, node: Any, names: dict[str, Value]) -> Value:
        self.pay(steps=2 + sys.getsizeof(node) // 64)
        match node:
            case ["in", str(name)]:
                need(name in names, f"no input is named {name[:40]!a}")
                return names[name]
            case ["sum", str(name), low, high, body]:
                start, stop = (_whole(self.value(x, names)) for x in (low, high))
                need(stop - start < MAX_COUNT, f"a sum has over {MAX_COUNT} terms")
                self.pay(steps=len(names))  # they are copied
                scope, span = {**names}, map(number, range(start, stop + 1))
                terms = [self.value(body, scope) for scope[name] in span]
                return reduce(partial(self.operate, "add"), terms or [number(0)])
            case [str(op), *rest]:
                args = [self.value(x, names) for x in rest]
                if args and op in {"add", "mul", "max", "min", "matmul"}:
                    return reduce(partial(self.operate, op), args)
                return self.operate(op, *args)
        return number(node)

    def read(self, raw: Any) -> Value:
        rows = raw if isinstance(raw, list) else [[raw]]
        widths = {len(row) if isinstance(row, list) else 0 for row in rows}
        fits = len(widths) == 1 and 1 <= max(widths) <= MAX_SIDE >= len(rows)
        need(fits, f"no rectangle of numbers, at most {MAX_SIDE} by {MAX_SIDE}")
        cells = [number(x)[1][0] for row in rows for x in row]
        return (len(rows), len(rows[0])) if rows is raw else (), cells

    def holds(self, relation: Any, *names: dict[str, Value]) -> bool | None:
        # The names are those of both sides, or of the left and of the right one.
        op, *sides = relation if type(relation) is list else [""]
        need(op in SIGNS, "a relation is [op, left, right], op == != < <= > >=")
        for self.bits in LADDER:
            pairs = zip(sides, (names * 2)[:2], strict=True)
            (shape, a), (other, b) = (self.value(*pair) for pair in pairs)
            need(shape == other, f"{op} of shapes {shape} and {other}")
            truth = _join([*map(partial(_compare, op), a, b)], op == "!=")
            if truth is not None:
                return truth
        return None

    def decide(self, relation: Any, cases: Sequence[Any], how: str) -> Decision:
        truths = [self.holds(relation, names) for names in cases]
        counts = ", ".join(f"{truths.count(x)} {x}" for x in (True, False, None))
        return Decision(_join(truths, how == "any"), f"{counts}; at {self.bits} bits")


def _formula(inputs: dict[str, Any], relation: Any) -> Decision:
    need("seconds" not in inputs, "an input named seconds is not digested: rename it")
    calculator = _Calculator()
    names = {name: calculator.read(raw) for name, raw in inputs.items()}
    return calculator.decide(relation, [names], "all")


def _table(columns: Any, rows: Any, aggregate: Any, relation: Any) -> Decision:
    names = [*dict.fromkeys(map(str, columns))]
    need(columns == names, "columns is no list of new names")
    need({*map(type, rows)} == {list}, "rows is no list of at least one row")
    need(aggregate in {"any", "all", "mean"}, "aggregate is none of any, all, mean")
    cases = [dict(zip(columns, map(number, row), strict=True)) for row in rows]
    calculator = _Calculator()
    if aggregate == "mean":
        add, div = (partial(calculator.operate, op) for op in ("add", "div"))
        sums = {name: reduce(add, [case[name] for case in cases]) for name in columns}
        cases = [{name: div(sums[name], number(len(rows))) for name in columns}]
    return calculator.decide(relation, cases, aggregate)


def _spans(raw: dict[str, Any]) -> dict[str, Span]:
    return {name: number(x)[1][0] for name, x in raw.items()}


def _kkt(rows: Any, solution: Any, digest: Any, compare: Any = None) -> Decision:
    # If x = A'y, Ax >= b, y >= 0 and y'(Ax - b) = 0, then Az >= b implies that
    # x'(z - x) = y'(Az - b) >= 0, so |z|^2 >= |x|^2 + |z - x|^2: x alone is least.
    sealed = hashlib.sha256(canonical([rows, solution, compare])).hexdigest()
    x, rest, calculator = _spans(solution), _spans(solution), _Calculator()
    sub, mul = (partial(calculator.binary, op) for op in ("sub", "mul"))
    low: list[Span] = []  # min(slack, multiplier) in each row
    for left, *right in rows:
        gap, y = (number(value)[1][0] for value in right)
        for name, a in _spans(left).items():
            gap, rest[name] = sub(gap, mul(a, x[name])), sub(rest[name], mul(a, y))
        low.append(min(calculator.unary("neg", gap), y))
    claims = [x[name] == value for name, value in _spans(compare or {}).items()]
    faults = {
        "no Karush-Kuhn-Tucker point": not low or any(map(any, [*low, *rest.values()])),
        "the values compared are the solution's": compare is not None and all(claims),
        "the numbers differ from their digest": digest != sealed,
    }
    found = "; ".join(fault for fault, present in faults.items() if present)
    return Decision(not found, found or "the unique solution of least norm")


def _family(
    variable: str, bound: Any, toward: Any, instances: Any, limit: Any
) -> Decision:
    # From each instance to the next the variable grows, and the value and the bound,
    # or its modulus toward 0, approach the limit: one that stands still shows nothing.
    op = {"0": "<", "infinity": ">"}.get(toward, "")
    need(op, "toward is neither '0' nor 'infinity'")
    need(type(limit) is str and limit.strip(), "limit says why the bound tends there")
    need(len(instances) > 1, "a family has at least two instances")
    side, calculator = ["abs", bound] if op == "<" else bound, _Calculator()
    ats, values = ([number(x[key]) for x in instances] for key in ("at", "value"))
    for series, sign in ((ats, "<"), (values, ">" if op == "<" else "<")):
        moves = all(_compare(sign, a[0], b[0]) for (_, a), (_, b) in pairwise(series))
        need(moves, "the variable does not grow, or a value not toward the limit")
    need(all(x > 0 for _, ((x,),) in values), "a value is not positive")
    cases = [{variable: at} for at in ats]
    truths = []
    for x, names in zip(instances, cases, strict=True):
        fits = len(x) == 3 and x["relation"] in {op, f"{op}="}
        need(fits, f"an instance is at, value and relation, {op} or {op}=")
        truths.append(calculator.holds([x["relation"], side, x["value"]], names))
    for old, new in pairwise(cases):
        truths.append(calculator.holds([op, side, side], new, old))
    left = "the limit is proved in the check's steps, not rechecked here"
    holds = f"{len(instances)} instances hold; {left}"
    valid = _join(truths, False)
    return Decision(valid, holds if valid else f"instances and their order: {truths}")


def _along(tensor: Tensor, axis: int, n: int, weight: Any, pay: Any) -> Tensor:
    # The linear map with entries weight(i, j), i, j = 0 ... n, applied along one axis.
    mapped: Tensor = {}
    for (at, x), i in product(tensor.items(), range(n + 1)):
        place = (*at[:axis], i, *at[axis + 1 :])
        mapped[place] = mapped.get(place, Fraction()) + weight(i, at[axis]) * x
        pay([mapped[place]], 5)
    return mapped


def _bernstein(n: int, low: Fraction, high: Fraction, i: int, j: int) -> Fraction:
    # Coefficient i, in degree n, of x^j on [low, high]: its blossom at low and high.
    pick = (math.comb(i, k) * math.comb(n - i, j - k) for k in range(j + 1))
    terms = (c * high**k * low ** (j - k) for k, c in enumerate(pick))
    return sum(terms, Fraction()) / math.comb(n, j)


def _halved(flip: int, i: int, j: int) -> Fraction:
    return Fraction(math.comb(abs(flip - i), abs(flip - j)), 1 << abs(flip - i))


def _least(tensor: Tensor, degrees: Sequence[int], cells: Any, pay: Any) -> Fraction:
    # The least Bernstein coefficient over all cells, which de Casteljau halves.
    size = math.prod(n + 1 for n in degrees)
    pay(steps=size)
    if cells is None:
        return min([*tensor.values(), *[Fraction()] * (len(tensor) < size)])
    axis, *halves = cells
    need(axis in range(len(degrees)) and len(halves) == 2, "a cell is no [axis, c, c]")
    found = []
    for half, flip in zip(halves, (0, degrees[axis]), strict=True):
        part = _along(tensor, axis, degrees[axis], partial(_halved, flip), pay)
        found.append(_least(part, degrees, half, pay))
    return min(found)


def _terms(raw: Any, dimension: int) -> Tensor:
    tensor = {tuple(at): number(x)[1][0][0] for x, at in raw}
    whole = all(type(n) is int and 0 <= n <= MAX_SIDE for at in tensor for n in at)
    fits = whole and {*map(len, tensor)} <= {dimension} and len(tensor) == len(raw)
    need(fits, "terms are no list of [coefficient, exponents], each exponents once")
    return tensor


def _polynomial(
    variables: Any, terms: Any, relation: Any, box: Any, cells: Any, squares: Any
) -> Decision:
    # The terms less all weight q^2 are at least their least Bernstein coefficient. They
    # are a constant when the squares are the proof, and the box (null) is all of space.
    need(relation in {">", ">="}, "relation is neither > nor >=")
    pay, left = _Calculator().pay, _terms(terms, len(variables))
    for weight, raw in squares:
        square, w = _terms(raw, len(variables)), number(weight)[1][0][0]
        need(w >= 0, "a square has a negative weight")
        for (s, x), (t, y) in product(square.items(), repeat=2):
            at = tuple(map(operator.add, s, t))
            left[at] = left.get(at, Fraction()) - w * x * y
            pay([left[at]], 5)
    left = {at: x for at, x in left.items() if x}
    degrees = [max((at[i] for at in left), default=0) for i in range(len(variables))]
    need(box is not None or not any(degrees), "no box, and more than squares is left")
    sides = [(0, 0)] * len(degrees) if box is None else box
    ends = [[number(x)[1][0][0] for x in side] for side in sides]
    for i, ((low, high), n) in enumerate(zip(ends, degrees, strict=True)):
        need(low <= high, "a side of the box is upside down")
        pay([low**n, high**n], len(left) * (n + 1) ** 2)
        left = _along(left, i, n, partial(_bernstein, n, low, high), pay)
    least = _least(left, degrees, cells, pay)
    sign = (least > 0) - (least < 0)
    word = ("zero", "positive", "negative")[sign]
    return Decision(sign in SIGNS[relation], f"the least Bernstein coefficient: {word}")


DECIDERS: dict[str, Callable[..., Decision]] = {"formula": _formula, "table": _table}
ELSEWHERE = Decision(None, "not rechecked here: use verify recheck --deep")
LATE = Decision(None, "undecided: the whole report is over MAX_TOTAL steps")
DECIDERS |= dict.fromkeys(NOT_HERE, lambda **_: ELSEWHERE)
DECIDERS |= {"kkt": _kkt, "family": _family, "polynomial": _polynomial}


@blame("malformed record")
def decide(record: Mapping[str, Any]) -> Decision:
    """Return whether a witness or certificate holds; RecheckError if malformed."""
    measure(record, MAX_DEPTH, MAX_NODES)
    fields = {name: x for name, x in record.items() if name not in {"kind", "says"}}
    need(str(record["kind"]) in DECIDERS, f"kind is none of {', '.join(DECIDERS)}")
    return DECIDERS[record["kind"]](**fields)


@blame("not canonical JSON")
def canonical(value: object) -> bytes:
    """Return the spelling of a JSON value that is digested; RecheckError on NaN."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()


@blame("incomplete claim")
def verdict_digest(report: Mapping[str, Any]) -> str:
    """Return the digest of statements, verdicts, and fates of mutants and anchors."""
    rows = []
    for claim in sorted(report["claims"], key=operator.itemgetter("id")):
        row = {name: claim[name] for name in _STATED.split()}
        for group, kept in _FATES.items():
            row[group] = [{k: x[k] for k in kept.split()} for x in claim[group]]
        rows.append(row)
    need(len({row["id"] for row in rows}) == len(rows), "two claims share an id")
    return hashlib.sha256(canonical(rows)).hexdigest()


@blame("incomplete report")
def result_digest(report: Mapping[str, Any]) -> str:
    """Return the digest without VOLATILE fields, and without self_checks if none."""
    timed, names = (
        ("claims", "self_checks"),
        {*product(VOLATILE["claims"], (int, float))},
    )
    text = canonical({k: report[k] for k in timed if report.get(k) or k == timed[0]})
    keep = partial(filter, lambda pair: (pair[0], type(pair[1])) not in names)
    parts = json.loads(text, object_pairs_hook=lambda pairs: dict(keep(pairs)))
    run = {k: x for k, x in report["run"].items() if k not in VOLATILE["run"]}
    kept = {k: x for k, x in report.items() if k not in {*VOLATILE[""], *timed}}
    return hashlib.sha256(canonical(kept | {"run": run} | parts)).hexdigest()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice in one object")
    return dict(pairs)


def load(path: Any) -> dict[str, Any]:
    """Return the report in a file, read strictly; RecheckError if it is none."""
    with blame(f"{path} is no report"):
        with open(path, "rb") as file:
            text = file.read(MAX_FILE + 1)
        need(len(text) <= MAX_FILE, f"over {MAX_FILE} bytes")
        report: dict[str, Any] = json.loads(text.decode(), object_pairs_hook=_object)
        measure(report, MAX_DEPTH + 20, math.inf)
        canonical(report)  # refuses NaN, Infinity and 1e999
        version, claims, run = (report[x] for x in ("schema_version", "claims", "run"))
        newer = f"schema_version {version!a}: use the recheck.py of a newer release"
        need(type(version) is int and version == SCHEMA_VERSION, newer)
        fits = type(claims) is list and {type(run), *map(type, claims)} == {dict}
        need(fits, "claims is no list of objects, or run no object")
    return report


def _records(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    place = place[:MAX_TEXT]
    for i, child in enumerate(value if isinstance(value, list) else ()):
        name = child.get("id", child.get("name")) if isinstance(child, dict) else i
        yield from _records(f"{place}[{name if type(name) is str else i}]", child)
    for key, child in value.items() if isinstance(value, dict) else ():
        if key not in {"witness", "certificate"}:
            yield from _records(f"{place}.{key}", child)
        elif child is not None:
            yield f"{place}.{key}", child


def recheck(
    report: Mapping[str, Any], decider: Callable[[Any], Decision] = decide
) -> list[Item]:
    """Return one item per witness, certificate and digest of a report."""
    items, most = [], SPENT[0] + MAX_TOTAL
    for place, record in _records("claims", report.get("claims")):
        try:
            decision = decider(record) if SPENT[0] <= most else LATE
        except RecheckError as error:
            decision = Decision(False, str(error))
        kind = str(record.get("kind")) if isinstance(record, dict) else "none"
        items.append(Item(place, kind, decision.valid, decision.reason))
    for name, digest in (("verdict", verdict_digest), ("result", result_digest)):
        valid = report.get(f"{name}_digest") == digest(report)
        reason = "matches" if valid else "differs: the report was changed"
        items.append(Item(f"{name}_digest", "digest", valid, reason))
    return items


def main(argv: Sequence[str], decider: Callable[[Any], Decision] = decide) -> int:
    """Recheck a report, a line per item; return 0 (good), 1 (bad) or 2 (unreadable)."""
    try:
        need(len(argv) == 1, "usage: python recheck.py REPORT.json")
        items = recheck(load(argv[0]), decider)
    except RecheckError as error:
        sys.stderr.write(f"recheck: {error}".encode("unicode_escape").decode() + "\n")
        return 2
    words = []
    for item in items:
        left = "undecided" if item.reason != ELSEWHERE.reason else "not rechecked here"
        word = {True: "ok", False: "BAD", None: left}[item.valid]
        line = f"{word:<18}  {item.place}: {item.reason}"
        sys.stdout.write(line.encode("unicode_escape").decode() + "\n")
        words.append(word)
    counts = ", ".join(f"{words.count(word)} {word}" for word in sorted({*words}))
    sys.stdout.write(f"{len(items)} items: {counts}\n")
    return 1 if {"BAD", "undecided"} & {*words} else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
