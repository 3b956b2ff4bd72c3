"""A difference of two reports for reading: plain text, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from verify.diff import Difference, Row, Status
from verify.record import Report
from verify.report.summary import MAX_BYTES, capped, code, escaped
from verify.report.views import finite
from verify.report.words import clean, duration, num, plural

LISTED = 10  # ids in a list that is not asked for in full


class _Section(NamedTuple):
    """A list with a line per claim."""

    title: str
    rows: list[Row]
    write: Callable[[Row], str]


def one_line(text: str) -> str:
    """Text that stays in one line and steers no terminal."""
    return clean(" ".join(text.split()))


def to_text(difference: Difference, *, everything: bool = False) -> str:
    """A difference as plain text, changed verdicts first.

    Args:
        difference: Of two reports.
        everything: List every claim that differs in anything.

    Returns:
        One line per change.
    """
    lines = [
        f"old: {_facts(difference.old)}",
        f"new: {_facts(difference.new)}",
        *(f"note: {one_line(note)}" for note in difference.notes),
    ]
    for title, rows, write in _sections(difference, everything):
        lines.append(f"{title}:")
        width = max(len(one_line(row.id)) for row in rows)
        lines += [
            f"  {one_line(row.id):{width}}  {write(row)}".rstrip() for row in rows
        ]
    for title, rows in _asides(difference):
        shown = rows if everything else rows[:LISTED]
        left = len(rows) - len(shown)
        ids = ", ".join(one_line(row.id) for row in shown)
        lines.append(f"{title}: {ids}" + (f" and {left} more (--all)" if left else ""))
    return "\n".join([*lines, verdict_line(difference)]) + "\n"


def to_markdown(difference: Difference, *, everything: bool = False) -> str:
    """A difference as Markdown, within GitHub's limits.

    Args:
        difference: Of two reports.
        everything: List every claim that differs in anything.

    Returns:
        Markdown; where it is cut, it says so.
    """
    lines = [
        "# Compared with the earlier report",
        "",
        f"**{escaped(verdict_line(difference))}**",
        "",
        f"- old: {escaped(_facts(difference.old))}",
        f"- new: {escaped(_facts(difference.new))}",
        *(f"- note: {escaped(note)}" for note in difference.notes),
    ]
    for title, rows, write in _sections(difference, everything):
        lines += ["", f"## {escaped(title)}", "", "| Claim | Difference |", "|---|---|"]
        lines += [f"| {code(row.id)} | {escaped(write(row))} |" for row in rows]
    for title, rows in _asides(difference):
        ids = ", ".join(code(row.id) for row in rows)
        lines += ["", f"- {escaped(title)}: {ids}"]
    return capped(clean("\n".join(lines) + "\n"), MAX_BYTES)


def to_json(difference: Difference, *, everything: bool = False) -> str:
    """A difference as JSON.

    Args:
        difference: Of two reports.
        everything: A row for claims without any difference as well.

    Returns:
        An object with both runs, whether a verdict changed, and a row per claim.
    """
    rows = [r for r in difference.rows if everything or _differs(r)]
    data = {
        "old": _run(difference.old),
        "new": _run(difference.new),
        "notes": list(difference.notes),
        "verdicts_changed": difference.verdicts_changed,
        "counts": {status.value: len(difference.of(status)) for status in Status},
        "rows": [_as_data(row) for row in rows],
    }
    return (
        json.dumps(finite(data), allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    )


def changed(row: Row) -> str:
    """A changed verdict in one line: from what to what, why, what is restated."""
    said = one_line(f"{' -> '.join(row.words)}  {row.why}".rstrip())
    if row.stated:
        said += f" [stated otherwise: {', '.join(map(one_line, row.stated))}]"
    return said


def verdict_line(difference: Difference) -> str:
    """One sentence: what changed, of how many claims."""
    moved, gone, same = (
        len(difference.of(s)) for s in (Status.CHANGED, Status.GONE, Status.SAME)
    )
    said = {0: "no verdict changed", 1: "1 verdict changed"}.get(
        moved, f"{moved} verdicts changed"
    )
    said += f", {plural(gone, 'claim')} gone" if gone else ""
    of_all = f"{same} of {plural(len(difference.rows), 'claim')}"
    return f"{said}; the same verdict for {of_all}"


def _sections(difference: Difference, everything: bool) -> list[_Section]:
    """What has a line per claim; no list is empty."""
    same = difference.of(Status.SAME)
    alike = difference.old.run.profile == difference.new.run.profile
    found = [
        _Section("changed verdicts", difference.of(Status.CHANGED), changed),
        _Section(
            "claims that are gone",
            difference.of(Status.GONE),
            lambda row: f"{' -> '.join(row.words)}  {row.why}",
        ),
        _Section(
            "stated otherwise, with the same verdict",
            [row for row in difference.rows if row.stated and not _has_line(row)],
            _restated,
        ),
        _Section(
            "the same verdict from other evidence",
            [row for row in same if row.strength and (alike or everything)],
            lambda row: one_line(" -> ".join(row.strength or ())),
        ),
        _Section(
            "margins",
            [row for row in same if row.moved or (everything and row.margins)],
            lambda row: _margins(row, everything),
        ),
        _Section(
            "times",
            [row for row in same if row.slower or (everything and any(row.seconds))],
            lambda row: " -> ".join(map(duration, row.seconds)),
        ),
    ]
    return [section for section in found if section.rows]


def _has_line(row: Row) -> bool:
    return row.status in {Status.CHANGED, Status.GONE}


def _asides(difference: Difference) -> list[tuple[str, list[Row]]]:
    """What is a list of ids, by its reason; no list is empty."""
    found: dict[str, list[Row]] = {}
    for row in difference.of(Status.NEW, Status.ONLY_HERE, Status.NOT_HERE):
        reason = f" ({one_line(row.why)})" if row.status is Status.NOT_HERE else ""
        found.setdefault(f"{row.status}{reason}", []).append(row)
    return [
        (f"{title}, {plural(len(rows), 'claim')}", rows)
        for title, rows in found.items()
    ]


def _restated(row: Row) -> str:
    """What is stated otherwise; a short field with its texts, a long one by name."""
    parts = []
    for name, (old, new) in row.stated.items():
        both = one_line(f"{old} -> {new}")
        parts.append(one_line(name) + (f": {both}" if len(both) < 80 else ""))
    return "; ".join(parts)


def _margins(row: Row, everything: bool) -> str:
    names = row.margins if everything else row.moved
    return "; ".join(
        one_line(f"{name}: " + " -> ".join(num(m, 3) for m in row.margins[name]))
        for name in names
    )


def _facts(report: Report) -> str:
    """How a run was made, in one line."""
    run = report.run
    commit = str(report.provenance.get("commit") or "unknown")[:10]
    dirty = " with changes" if report.provenance.get("uncommitted_changes") else ""
    return one_line(
        f"profile {run.profile}, seed {run.seed}, {run.device}, "
        f"{plural(len(report.claims), 'claim')}, commit {commit}{dirty}, {run.started}"
    )


def _run(report: Report) -> dict[str, Any]:
    names = {"id", "started", "profile", "seed", "device", "partial", "exit_code"}
    run = report.run.model_dump(mode="json", include=names)
    return run | {"commit": report.provenance.get("commit")}


def _differs(row: Row) -> bool:
    return bool(
        row.status is not Status.SAME
        or row.stated
        or row.strength
        or row.moved
        or row.slower
    )


def _as_data(row: Row) -> dict[str, Any]:
    claim = row.new or row.old
    return {
        "id": row.id,
        "status": row.status.value,
        "verdicts": row.words,
        "why": row.why,
        "stated_otherwise": row.stated,
        "strength": row.strength,
        "margins": row.margins,
        "margins_moved": row.moved,
        "seconds": row.seconds,
        "time_changed": row.slower,
        "module": claim.module if claim else "",
        "command": claim.command if claim else "",
    }
