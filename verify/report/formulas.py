"""Witnesses and certificates in a form that a person can redo by hand."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.recheck import number
from verify.report.words import exact

MAX_ROWS = 12
MAX_COLUMNS = 8
MAX_SCALARS = 40
MAX_TEXT = 4000
MAX_LINE = 240
MAX_RELATION = 600

_INFIX = {"add": (" + ", 1), "sub": (" − ", 1), "mul": (" · ", 2), "matmul": (" ", 2)}
_SIGNS = {"==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}
_HOW = {
    "any": "at least one row satisfies",
    "all": "every row satisfies",
    "mean": "the column means satisfy",
}
_ATOM, _POWER, _PRODUCT, _SUM = 9, 3, 2, 1


def infix(tree: Any) -> str:
    """Write an expression tree as a formula.

    Args:
        tree: Nested lists ``[operation, argument, ...]`` with numbers as leaves.

    Returns:
        The formula; an operation it does not know is written as a function.
    """
    return _infix(tree)[0]


def _infix(tree: Any) -> tuple[str, int]:
    """The text and how strongly its outermost operation binds."""
    match tree:
        case ["in", str(name)]:
            return name, _ATOM
        case [("add" | "sub" | "mul" | "matmul") as op, first, *rest] if rest:
            sign, level = _INFIX[op]
            parts = [_wrap(first, level), *(_wrap(x, level + 1) for x in rest)]
            return sign.join(parts), level
        case ["div", a, b]:
            return f"{_wrap(a, _PRODUCT)} / {_wrap(b, _POWER)}", _PRODUCT
        case ["neg", a]:
            return f"−{_wrap(a, _PRODUCT)}", _SUM
        case ["pow", a, n]:
            return f"{_wrap(a, _POWER + 1)}^{_wrap(n, _ATOM)}", _POWER
        case ["transpose", a]:
            return f"{_wrap(a, _POWER + 1)}ᵀ", _POWER
        case ["abs", a]:
            return f"|{infix(a)}|", _ATOM
        case ["entry", a, i, j]:
            return f"{_wrap(a, _ATOM)}[{infix(i)}, {infix(j)}]", _ATOM
        case ["sum", str(name), low, high, body]:
            ends = f"{name} = {infix(low)} … {infix(high)}"
            return f"Σ_({ends}) {_wrap(body, _PRODUCT)}", _SUM
        case ["integral", str(name), low, high, body]:
            ends = f"{name} = {infix(low)} … {infix(high)}"
            return f"∫_({ends}) {_wrap(body, _PRODUCT)} d{name}", _SUM
        case ["besseli", order, x]:
            return f"I_{_wrap(order, _ATOM)}({infix(x)})", _ATOM
        case ["pi"]:
            return "π", _ATOM
        case [str(op), *arguments]:
            return f"{op}({', '.join(map(infix, arguments))})", _ATOM
    text = exact(tree).replace("-", "−", 1)
    return text, _SUM if text[:1] == "−" else _PRODUCT if "/" in text else _ATOM


def _wrap(tree: Any, level: int) -> str:
    text, binds = _infix(tree)
    return text if binds >= level else f"({text})"


def relation_text(relation: Any) -> str:
    """Write ``[op, left, right]`` as a formula."""
    match relation:
        case [str(op), left, right]:
            return f"{infix(left)} {_SIGNS.get(op, op)} {infix(right)}"
    return json.dumps(relation)


@dataclass(frozen=True)
class Matrix:
    """A named input, cut to what a page can show."""

    name: str
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True)
class Readable:
    """A witness or certificate for reading.

    Attributes:
        kind: Its kind, in the record's words.
        says: One sentence.
        scalars: Named exact numbers.
        matrices: Named matrices.
        relation: The relation, as a formula.
        columns: Header of the table.
        rows: First rows of the table.
        note: What is not shown.
        raw: JSON, for kinds that have no better form.
    """

    kind: str
    says: str = ""
    scalars: tuple[tuple[str, str], ...] = ()
    matrices: tuple[Matrix, ...] = ()
    relation: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""
    raw: str = ""

    @property
    def short(self) -> str:
        """All of it in one line; empty where that would be too long to read."""
        small = self.kind in {"formula", "enclosure"} and not self.rows
        if not small or self.raw or any(m.note for m in self.matrices):
            return ""
        parts = [f"{name} = {value}" for name, value in self.scalars]
        for matrix in self.matrices:
            cells = "; ".join(" ".join(row) for row in matrix.rows)
            parts.append(f"{matrix.name} = [{cells}]")
        text = f"{', '.join(parts)}: {self.relation}" if parts else self.relation
        return text if len(text) <= MAX_LINE else ""

    @property
    def sentence(self) -> str:
        """The relation with its subject; empty without a relation."""
        if not self.relation or self.kind in {"family", "polynomial"}:
            return self.relation
        start = {"table": "In this table", "kkt": "This"}.get(self.kind)
        return f"{start or 'This satisfies'} {self.relation}"


def readable(record: Mapping[str, Any]) -> Readable:
    """Turn a witness or certificate into its readable form.

    Args:
        record: The record; a malformed one is shown as it stands.

    Returns:
        The readable form.
    """
    kind, says = str(record.get("kind", "record")), str(record.get("says", ""))
    try:
        if kind in {"formula", "enclosure"}:
            return _formula(record, kind, says)
        if kind == "table":
            return _table(record, kind, says)
        if kind == "kkt":
            return _kkt(record, kind, says)
        if kind == "family":
            return _family(record, kind, says)
        if kind == "polynomial":
            return _polynomial(record, kind, says)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        says = f"{says} (malformed: shown as recorded)".strip()
    raw = _beginning(record)
    note = "cut: report.json has all of it" if len(raw) > MAX_TEXT else ""
    return Readable(kind, says, raw=raw[:MAX_TEXT], note=note)


def _beginning(record: Mapping[str, Any]) -> str:
    """As much of a record's JSON as is shown, and a little more."""
    encoder = json.JSONEncoder(indent=1, ensure_ascii=False, default=str)
    raw = ""
    for piece in encoder.iterencode(record):
        raw += piece
        if len(raw) > MAX_TEXT:
            break
    return raw


def _formula(record: Mapping[str, Any], kind: str, says: str) -> Readable:
    scalars, matrices = [], []
    for name, value in record["inputs"].items():
        if isinstance(value, list):
            matrices.append(_matrix(str(name), value))
        else:
            scalars.append((str(name), exact(value)))
    relation = relation_text(record["relation"])
    note = (
        "Indices count from 0." if '"entry"' in json.dumps(record["relation"]) else ""
    )
    if len(relation) > MAX_RELATION:
        note += f" The relation has {len(relation)} characters, too many to follow: "
        note += "report.json has all of it."
        relation = relation[:MAX_RELATION] + " …"
    if kind == "enclosure":
        note += " Decided in ball arithmetic; `verify recheck --deep` decides it again."
    return Readable(
        kind, says, tuple(scalars), tuple(matrices), relation, note=note.strip()
    )


def _matrix(name: str, value: list[list[Any]]) -> Matrix:
    shape = f"{len(value)} × {len(value[0])}"
    rows = [[exact(x) for x in row[:MAX_COLUMNS]] for row in value[:MAX_ROWS]]
    cut = len(value) > MAX_ROWS or len(value[0]) > MAX_COLUMNS
    return Matrix(name, rows, f"{shape}, cut: report.json has all of it" if cut else "")


def _table(record: Mapping[str, Any], kind: str, says: str) -> Readable:
    rows, how = record["rows"], record["aggregate"]
    shown = tuple(tuple(exact(x) for x in row) for row in rows[:MAX_ROWS])
    relation = f"{_HOW.get(how, how)} {relation_text(record['relation'])}"
    note = f"{len(rows)} rows"
    if len(rows) > MAX_ROWS:
        note = f"The first {MAX_ROWS} of {len(rows)} rows; report.json has all of them."
    columns = tuple(map(str, record["columns"]))
    return Readable(kind, says, (), (), relation, columns, shown, note)


def _kkt(record: Mapping[str, Any], kind: str, says: str) -> Readable:
    solution, compare = record["solution"], record.get("compare") or {}
    scalars = []
    for name, value in solution.items():
        claimed = f" (claimed: {infix(compare[name])})" if name in compare else ""
        scalars.append((str(name), infix(value) + claimed))
    point = {name: _rational(value) for name, value in solution.items()}
    rows = []
    for left, bound, multiplier in record["rows"][:MAX_ROWS]:
        total = sum(
            (_rational(a) * point[name] for name, a in left.items()), Fraction()
        )
        slack = infix(str(total - _rational(bound)))
        rows.append((f"{_linear(left)} ≥ {infix(bound)}", slack, infix(multiplier)))
    relation = (
        "is the only solution of least norm: no slack and no multiplier is negative, "
        "one of the two is 0 in each row, and the multipliers' sum of the left sides "
        "gives the solution"
    )
    relation += ". It differs from what was claimed" if compare else ""
    note = f"constraints: {len(record['rows'])}, unknowns: {len(solution)}"
    if len(record["rows"]) > MAX_ROWS or len(solution) > MAX_SCALARS:
        note += f"; at most {MAX_ROWS} and {MAX_SCALARS} shown, report.json has all"
    columns = "constraint", "slack", "multiplier"
    shown = tuple(scalars[:MAX_SCALARS])
    return Readable(kind, says, shown, (), relation, columns, tuple(rows), note + ".")


def _family(record: Mapping[str, Any], kind: str, says: str) -> Readable:
    name, limit = str(record["variable"]), {"0": "0", "infinity": "∞"}
    relation = (
        f"The bound {infix(record['bound'])} tends to {limit[record['toward']]} as "
        f"{name} grows: {record['limit']}"
    )
    rows = [
        (exact(x["at"]), f"{_SIGNS[x['relation']]} {exact(x['value'])}")
        for x in record["instances"]
    ]
    note = "The instances are rechecked; the limit is proved in the check's steps."
    if len(rows) > MAX_ROWS:
        note += f" The first {MAX_ROWS} of {len(rows)} are shown."
    columns = name, "bound"
    return Readable(kind, says, (), (), relation, columns, tuple(rows[:MAX_ROWS]), note)


def _polynomial(record: Mapping[str, Any], kind: str, says: str) -> Readable:
    names = [str(name) for name in record["variables"]]
    cut = MAX_ROWS if len(record["terms"]) > MAX_ROWS else None
    terms = [_term(names, raw) for raw in record["terms"][:cut]]
    degree = max(sum(at) for _, at in record["terms"])
    text = " + ".join(terms).replace("+ −", "− ") + (" + …" if cut else "")
    rows = [(f"polynomial (degree {degree})", text)]
    sides = zip(names, record["box"] or [], strict=False)
    rows += [(f"{name} in", f"[{exact(a)}, {exact(b)}]") for name, (a, b) in sides]
    pieces = _pieces(record["cells"])
    rows += [("cells, by halving", str(pieces))] if pieces > 1 else []
    rows += [("squares", str(len(record["squares"])))] if record["squares"] else []
    how = "its squares" if record["box"] is None else "its Bernstein coefficients"
    where = "on this box" if record["box"] else "everywhere"
    sign = _SIGNS[record["relation"]]
    relation = f"The polynomial is {sign} 0 {where}, shown by {how}"
    note = "Decided in exact rationals; report.json has all of it."
    return Readable(kind, says, (), (), relation, ("", ""), tuple(rows), note)


def _term(names: list[str], raw: Any) -> str:
    """A term as the record has it: [coefficient, exponents]."""
    coefficient, at = exact(raw[0]).replace("-", "−", 1), raw[1]
    powers = [f"{x}^{n}" if n > 1 else x for x, n in zip(names, at, strict=True) if n]
    if powers and coefficient in {"1", "−1"}:
        return coefficient[:-1] + " · ".join(powers)
    return " · ".join([coefficient, *powers])


def _pieces(cells: Any) -> int:
    return 1 if cells is None else sum(_pieces(half) for half in cells[1:])


def _linear(left: Mapping[str, Any]) -> str:
    """A linear form, such as a − 2/3 · b."""
    text = ""
    for name, value in left.items():
        a = _rational(value)
        sign = (" − " if a < 0 else " + ") if text else "−" if a < 0 else ""
        text += sign + (f"{abs(a)} · " if abs(a) != 1 else "") + str(name)
    return text or "0"


def _rational(value: Any) -> Fraction:
    return number(value)[1][0][0]


def as_lines(
    record: Mapping[str, Any], role: str, said: Collection[str] = ()
) -> list[str]:
    """A witness or certificate for the terminal.

    Args:
        record: The record.
        role: What it is: a witness or a certificate.
        said: Sentences that stand beside it already.

    Returns:
        Lines without indentation; none of the raw form, which ``report.json`` has.
    """
    view = readable(record)
    says = "" if view.says in said else view.says
    lines = [f"{role} ({view.kind}) {says}".rstrip()]
    if view.scalars:
        lines.append(", ".join(f"{name} = {value}" for name, value in view.scalars))
    for matrix in view.matrices:
        cells = "; ".join(" ".join(row) for row in matrix.rows)
        lines.append(f"{matrix.name} = [{cells}] {matrix.note}".rstrip())
    if view.rows:
        grid = [view.columns, *view.rows]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        for row in grid:
            cells = "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True))
            lines.append(cells.rstrip())
    sentence = view.sentence
    lines += [sentence[0].lower() + sentence[1:]] if sentence else []
    return [*lines, view.note] if view.note else lines
