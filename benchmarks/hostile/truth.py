"""Whether a record is true, decided by other means than `verify.recheck`.

Trees are evaluated in the balls of Arb at two thousand bits, and exactly in Fractions
where only + - * / and whole powers occur; Bernstein coefficients come from substituting
each cell into the polynomial; the Karush-Kuhn-Tucker conditions from dense matrices;
integrals from mpmath. Slow, plain and without budgets: for records that are tampered
with a little, not for hostile ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from benchmarks.hostile.trees import OPS, NoValue, exact, related

Json = Any


def formula(record: Json) -> bool | None:
    """Whether a formula holds."""
    return related(record["relation"], record["inputs"], record["inputs"])


def table(record: Json) -> bool | None:
    """Whether any row, all rows or the means satisfy a relation."""
    columns, how = record["columns"], record["aggregate"]
    rows = [[exact(x) for x in row] for row in record["rows"]]
    if how == "mean":
        rows = [[sum(c, Fraction()) / len(rows) for c in zip(*rows, strict=True)]]
    if how not in {"any", "all", "mean"}:
        raise NoValue(how)
    truths = []
    for row in rows:
        names = {
            k: f"{x.numerator}/{x.denominator}"
            for k, x in zip(columns, row, strict=True)
        }
        truths.append(related(record["relation"], names, names))
    if how == "any":
        return True if True in truths else None if None in truths else False
    return False if False in truths else None if None in truths else True


def kkt(record: Json) -> bool | None:
    """Whether a point is the one of least norm, and not the one compared with."""
    names = [*record["solution"]]
    x = np.array([exact(record["solution"][name]) for name in names], object)
    A = np.full((len(record["rows"]), len(names)), Fraction(0), object)
    b, y = [], []
    for i, (left, bound, multiplier) in enumerate(record["rows"]):
        for name, a in left.items():
            if name not in names:
                raise NoValue(name)
            A[i, names.index(name)] = exact(a)
        b.append(exact(bound))
        y.append(exact(multiplier))
    slack, dual = A @ x - np.array(b, object), np.array(y, object)
    sound = bool(
        np.all(slack >= 0) and np.all(dual >= 0) and np.all(slack * dual == 0)
        and np.all(A.T @ dual == x)
    )  # fmt: skip
    compare = record.get("compare")
    if compare is not None:
        sound &= any(exact(v) != x[names.index(k)] for k, v in compare.items())
    parts = [record["rows"], record["solution"], compare]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return sound and hashlib.sha256(text.encode()).hexdigest() == record["digest"]


def family(record: Json) -> bool | None:
    """Whether the instances hold, and move as `CONTRIBUTING.md` says they must."""
    down = {"0": True, "infinity": False}.get(record["toward"])
    rows = record["instances"]
    if down is None or len(rows) < 2 or not str(record["limit"]).strip():
        return False
    bound = ["abs", record["bound"]] if down else record["bound"]
    ats = [exact(x["at"]) for x in rows]
    values = [exact(x["value"]) for x in rows]
    steps = [*itertools.pairwise(values)]
    moves = all(x < y for x, y in itertools.pairwise(ats))
    moves &= all((x > y) if down else (x < y) for x, y in steps) and min(values) > 0
    if not moves or any(
        x["relation"] not in ({"<", "<="} if down else {">", ">="}) for x in rows
    ):
        return False
    name, truths = record["variable"], []
    for x in rows:
        at = {name: x["at"]}
        truths.append(related([x["relation"], bound, x["value"]], at, at))
    for x, y in itertools.pairwise(rows):
        op = ">" if down else "<"
        truths.append(related([op, bound, bound], {name: x["at"]}, {name: y["at"]}))
    return False if False in truths else None if None in truths else True


def polynomial(record: Json) -> bool | None:
    """Whether the record proves its polynomial positive."""
    left: dict[tuple[int, ...], Fraction] = {}
    squares = [term for _, terms in record["squares"] for term in terms]
    if any(
        type(n) is not int or n < 0
        for _, at in [*record["terms"], *squares]
        for n in at
    ):
        raise NoValue("an exponent")
    for coefficient, at in record["terms"]:
        left[tuple(at)] = exact(coefficient)
    for weight, terms in record["squares"]:
        if exact(weight) < 0:
            return False
        for (c, s), (d, t) in itertools.product(terms, repeat=2):
            at = tuple(i + j for i, j in zip(s, t, strict=True))
            left[at] = left.get(at, Fraction()) - exact(weight) * exact(c) * exact(d)
    n = len(record["variables"])
    box = record["box"]
    if box is None:
        rest = {at: x for at, x in left.items() if x and any(at)}
        least = left.get((0,) * n, Fraction())
        return not rest and OPS[record["relation"]](least, 0)
    corners = [[exact(x) for x in side] for side in box]
    if any(low > high for low, high in corners):
        return False
    left = {at: x for at, x in left.items() if x}
    degrees = [max((at[i] for at in left), default=0) for i in range(n)]
    boxes = _cells(record["cells"], corners, degrees)
    least = min(min(_bernstein(left, cell, degrees)) for cell in boxes)
    return OPS[record["relation"]](least, 0)


def _cells(cells: Json, box: list[list[Fraction]], degrees: Sequence[int]) -> list[Any]:
    if cells is None:
        return [box]
    axis, first, second = cells
    if not 0 <= axis < len(box):
        raise NoValue(axis)
    low, high = box[axis]
    middle = (low + high) / 2
    halves = []
    for side, inner in (([low, middle], first), ([middle, high], second)):
        halves += _cells(inner, [*box[:axis], side, *box[axis + 1 :]], degrees)
    return halves


def _bernstein(
    terms: Mapping[tuple[int, ...], Fraction], box: Any, degrees: Sequence[int]
) -> list[Fraction]:
    """Bernstein coefficients on a box: x = low + (high - low) t, then t's powers."""
    shape = tuple(d + 1 for d in degrees)
    power: dict[tuple[int, ...], Fraction] = {}
    for at, c in terms.items():
        for ks in itertools.product(*(range(e + 1) for e in at)):
            x = c
            for k, e, (low, high) in zip(ks, at, box, strict=True):
                x *= math.comb(e, k) * low ** (e - k) * (high - low) ** k
            power[ks] = power.get(ks, Fraction()) + x
    found = []
    for i in np.ndindex(shape):
        total = Fraction()
        for ks, c in power.items():
            if all(k <= j for k, j in zip(ks, i, strict=True)):
                share = Fraction(1)
                for k, j, n in zip(ks, i, degrees, strict=True):
                    share *= Fraction(math.comb(j, k), math.comb(n, k))
                total += c * share
        found.append(total)
    return found


def enclosure(record: Json) -> bool | None:
    """Whether a relation holds, by quadrature to 30 digits; None if that is close."""
    op, a, b = record["relation"]
    with mpmath.workdps(40):
        try:
            inputs = {k: _mpf(x) for k, x in record["inputs"].items()}
            left, right = _mp(a, inputs), _mp(b, inputs)
        except (ZeroDivisionError, ValueError, TypeError, OverflowError) as error:
            raise NoValue(str(error)) from error
        if not (mpmath.isfinite(left) and mpmath.isfinite(right)):
            return None
        if mpmath.im(left) or mpmath.im(right):
            return None
        apart = abs(left - right)
        if apart <= mpmath.mpf(10) ** -20 * (1 + abs(left)):
            return None
        return OPS[op](left, right)


def _mpf(raw: Json) -> Any:
    x = exact(raw)
    return mpmath.mpf(x.numerator) / x.denominator


def _mp(node: Json, names: Mapping[str, Any]) -> Any:
    if not isinstance(node, list):
        return _mpf(node)
    op, *rest = node
    if op == "in":
        if rest[0] not in names:
            raise NoValue(rest)
        return names[rest[0]]
    if op == "pi":
        return +mpmath.pi
    if op in {"integral", "sum"}:
        name, low, high, body = rest
        start, stop = _mp(low, names), _mp(high, names)

        def inner(t: Any) -> Any:
            return _mp(body, {**names, name: t})

        if op == "integral":
            return mpmath.quad(inner, [start, (start + stop) / 2, stop])
        return mpmath.fsum(
            inner(mpmath.mpf(i)) for i in range(int(start), int(stop) + 1)
        )
    xs = [_mp(x, names) for x in rest]
    plain: dict[str, Any] = {
        "add": lambda *v: mpmath.fsum(v), "mul": lambda *v: mpmath.fprod(v),
        "sub": operator.sub, "div": operator.truediv, "neg": operator.neg,
        "pow": operator.pow, "max": max, "min": min, "abs": abs, "exp": mpmath.exp,
        "log": mpmath.log, "sqrt": mpmath.sqrt, "erf": mpmath.erf, "sin": mpmath.sin,
        "cos": mpmath.cos, "gamma": mpmath.gamma, "besseli": mpmath.besseli,
    }  # fmt: skip
    return plain[op](*xs)


DECIDERS: dict[str, Callable[[Json], bool | None]] = {
    "formula": formula, "table": table, "kkt": kkt, "family": family,
    "polynomial": polynomial, "enclosure": enclosure,
}  # fmt: skip


def decide(record: Json) -> bool | None:
    """Whether a record is true; None where this module cannot tell.

    Args:
        record: Of any kind, well formed or nearly so.

    Returns:
        False also for what is malformed: it shows nothing.
    """
    try:
        return DECIDERS[record["kind"]](record)
    except (NoValue, KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return False
    except (AttributeError, OverflowError):
        return False
