"""Comparing two reports: verdicts, margins, timings."""

from __future__ import annotations

from dataclasses import dataclass

from verify.record import CheckRecord, ClaimRecord, Report

Row = dict[str, object]


@dataclass(frozen=True)
class Difference:
    """How two reports differ.

    Attributes:
        rows: One per claim that differs in anything shown.
        verdicts_changed: Whether a verdict, or the set of claims, changed.
        same: Number of claims without any difference.
    """

    rows: list[Row]
    verdicts_changed: bool
    same: int

    def text(self) -> str:
        """The differences for reading, changed verdicts first."""
        ordered = sorted(self.rows, key=lambda row: row["old"] == row["new"])
        lines = [_line(row) for row in ordered]
        return "\n".join([*lines, f"{self.same} claims without a difference"])


def compare(old: Report, new: Report) -> Difference:
    """Compare two reports claim by claim.

    Args:
        old: Earlier report.
        new: Later report.

    Returns:
        What changed. Timings are listed, and are no change of their own.
    """
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    rows = []
    for name in dict.fromkeys([*before, *after]):
        row = _row(name, before.get(name), after.get(name))
        if row["old"] != row["new"] or row["margins"]:
            rows.append(row)
    changed = any(row["old"] != row["new"] for row in rows)
    same = len(before.keys() | after.keys()) - len(rows)
    return Difference(rows, changed, same)


def _row(name: str, old: ClaimRecord | None, new: ClaimRecord | None) -> Row:
    return {
        "id": name,
        "old": _word(old),
        "new": _word(new),
        "margins": _margins(old, new) if old and new else {},
        "seconds": [_seconds(old), _seconds(new)],
        "reason": new.reason if new else "",
    }


def _word(claim: ClaimRecord | None) -> str:
    if claim is None:
        return "absent"
    return f"{claim.verdict} ({claim.fault})" if claim.fault else claim.verdict.value


def _margins(old: ClaimRecord, new: ClaimRecord) -> dict[str, list[object]]:
    earlier = {check.name: check.margin for check in old.checks}
    return {
        check.name: [earlier[check.name], check.margin]
        for check in new.checks
        if check.name in earlier and _moved(earlier[check.name], check)
    }


def _moved(before: object, check: CheckRecord) -> bool:
    return before != check.margin


def _seconds(claim: ClaimRecord | None) -> float | None:
    return None if claim is None else sum(check.seconds for check in claim.checks)


def _line(row: Row) -> str:
    if row["old"] != row["new"]:
        return f"{row['id']}: {row['old']} -> {row['new']}  {row['reason']}".rstrip()
    return f"{row['id']}: {row['old']}; margins {row['margins']}"
