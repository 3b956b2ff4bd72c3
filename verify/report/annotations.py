"""GitHub annotations for changed verdicts, and for nothing else.

GitHub shows ten errors of a step and drops the others without a word. So the most
urgent come first, and a warning, of which ten more are shown, says how many are left.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from verify.diff import Difference, Row, Status
from verify.report.changes import one_line
from verify.report.words import clean

SHOWN = 10  # errors of one step that GitHub shows


def annotate(difference: Difference, root: Path) -> list[str]:
    """Workflow commands that mark changed verdicts where the claims are declared.

    Args:
        difference: Of the base report and a new one.
        root: Folder of the checkout, to which the paths are relative.

    Returns:
        One ``::error`` per changed verdict, the most urgent first, at most ten; then
        one ``::warning`` if there are more. Empty where no verdict changed.
    """
    rows = difference.of(Status.CHANGED, Status.GONE)
    found = [_error(row, root) for row in rows[:SHOWN]]
    left = len(rows) - SHOWN
    if left > 0:
        message = (
            f"{left} more changed {'verdict is' if left == 1 else 'verdicts are'} not "
            "annotated, because GitHub shows ten errors of a step; the log and the "
            "summary of the step list them all"
        )
        found.append(command("warning", message, title="verify diff"))
    return found


def command(kind: str, message: str, **properties: str) -> str:
    """A workflow command.

    Args:
        kind: ``error``, ``warning`` or ``notice``.
        message: What is said.
        **properties: Such as ``title``; empty ones are left out.

    Returns:
        One line, whatever the texts contain.

    >>> command("error", "50 %, or: less", title="a:b,c")
    '::error title=a%3Ab%2Cc::50 %25, or: less'
    """
    given = ",".join(f"{k}={_property(v)}" for k, v in properties.items() if v)
    return f"::{kind} {given}".rstrip() + f"::{_data(message)}"


def quoted(text: str) -> str:
    """Text that the runner prints and does not obey, whatever lines it has."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text.rstrip()}\n::{token}::\n"


def _data(text: str) -> str:
    return (
        clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    )  # fmt: skip


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _error(row: Row, root: Path) -> str:
    old, new = row.words
    claim = row.new or row.old
    lines = [f"{old} -> {new}", row.why]
    if row.stated:
        lines.append("stated otherwise: " + ", ".join(row.stated))
    if row.new:
        lines.append(f"again: {row.new.command}")
    place = _place(claim.module, row.id, root) if claim else {}
    message = "\n".join(one_line(line) for line in lines if line)
    return command("error", message, **place, title=one_line(row.id))


def _place(module: str, claim_id: str, root: Path) -> dict[str, str]:
    """File and line where a claim is declared; empty if there is no such file."""
    try:
        path = (root / module).resolve()
        if path.suffix != ".py" or not path.is_relative_to(root.resolve()):
            return {}
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):  # absent, no text, or no path at all
        return {}
    names = map(re.escape, _names(claim_id))
    found = (_line(lines, rf"[\"']{name}[\"']") for name in names)
    line = next(filter(None, found), 0) or _line(lines, r"\bClaim\(") or 1
    return {"file": path.relative_to(_workspace(root)).as_posix(), "line": str(line)}


def _names(claim_id: str) -> list[str]:
    """How a module may spell an id, which it may put together; the surest first."""
    base, _, reading = claim_id.partition("@")
    part = base.partition("/")[2]
    return [x for x in (claim_id, base, f"{part}@{reading}", part, reading) if x]


def _line(lines: list[str], pattern: str) -> int:
    """The first line that matches, counted from 1; 0 if there is none."""
    return next((n for n, text in enumerate(lines, 1) if re.search(pattern, text)), 0)


def _workspace(root: Path) -> Path:
    """What GitHub takes paths relative to: the checkout that holds the project."""
    workspace = os.environ.get("GITHUB_WORKSPACE", "")
    root = root.resolve()
    return Path(workspace).resolve() if _holds(workspace, root) else root


def _holds(workspace: str, root: Path) -> bool:
    return bool(workspace) and root.is_relative_to(Path(workspace).resolve())
