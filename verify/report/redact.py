"""Take the folders of a machine out of a record, so that it can be given away.

Commands, crashes and tracebacks name folders, and folders name people and projects.
Nothing else in a record says who ran it or on which host.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from verify import recheck
from verify.record import Report
from verify.report.views import finite

PLACE = "<path>"

# Written by people, not by machines: ~a & b is a negation there, and no folder.
AUTHORED = {
    "change", "certificate", "figures", "parameters", "quantifiers", "source",
    "statement_latex", "statement_text", "steps", "title", "witness",
}  # fmt: skip
# An absolute path of two or more parts where a text may begin to name one.
_PART = r"[\w.+@%~-]+/"
_START = (
    rf"(?:~/|/(?!\d+/)(?:[\w.+@%~-]{{2,}}/|{_PART}{_PART})|[A-Za-z]:\\|\\\\[\w.-]+\\)"
)
_PATH = re.compile(
    rf"""(?<=")(?:file://)?{_START}[^"\n]+(?=")   # in quotes it may hold spaces
    |(?<=')(?:file://)?{_START}[^'\n]+(?=')
    |(?:(?<=^)|(?<=[\s"'`=:;,(\[<>]))(?:file://)?{_START}[^\s"'`:,;()\[\]<>]+""",
    re.VERBOSE,
)
_TAIL = re.compile(r"(?:.*[/\\])?((?:theorems|verify|tests|site-packages)[/\\].+)")


class Redacted(NamedTuple):
    """Something without folders, and how many were taken out."""

    value: Any
    paths: int


def redact(value: Any) -> Redacted:
    """Replace the absolute paths in the texts of JSON data that machines write.

    What stands below ``theorems``, ``verify``, ``tests`` or ``site-packages`` is the
    same on every machine and stays.

    Args:
        value: JSON data.

    Returns:
        The data, with ``<path>`` for each folder.

    >>> redact({"command": "verify run --out /home/ann/x"})
    Redacted(value={'command': 'verify run --out <path>'}, paths=1)
    >>> redact('File "/home/ann/w/theorems/a/b.py", line 3').value
    'File "<path>/theorems/a/b.py", line 3'
    """
    if isinstance(value, str):
        text, paths = _PATH.subn(_shortened, value)
        return Redacted(text, paths)
    if isinstance(value, dict):
        parts = {
            key: Redacted(inner, 0) if key in AUTHORED else redact(inner)
            for key, inner in value.items()
        }
        kept = {key: part.value for key, part in parts.items()}
        return Redacted(kept, sum(part.paths for part in parts.values()))
    if isinstance(value, list | tuple):
        items = [redact(inner) for inner in value]
        return Redacted([x.value for x in items], sum(x.paths for x in items))
    return Redacted(value, 0)


def _shortened(match: re.Match[str]) -> str:
    tail = _TAIL.fullmatch(match[0])
    return f"{PLACE}/{tail[1]}" if tail else PLACE


def redact_report(report: Report) -> Redacted:
    """A report without the folders of its machine.

    A digest that was right is made anew, since it also covers the reasons of checks
    that broke; one that was wrong stays wrong.

    Args:
        report: The record.

    Returns:
        The report; the same where no path stands in it.
    """
    plain = finite(report.model_dump(mode="json"))
    data, paths = redact(plain)
    if not paths:
        return Redacted(report, 0)
    for name, digest in (
        ("verdict_digest", recheck.verdict_digest),
        ("result_digest", recheck.result_digest),
    ):
        if digest(plain) == plain[name]:
            data[name] = digest(data)
    return Redacted(Report.model_validate(data), paths)


def redact_journal(data: bytes) -> Redacted:
    """The lines of a journal without the folders of its machine.

    Args:
        data: The file; a last line that a kill cut off is left out.

    Returns:
        Bytes; lines in which no path stands are kept as they are.
    """
    lines, total = [], 0
    whole = data[: data.rfind(b"\n") + 1]
    for line in whole.splitlines():
        value, paths = redact(json.loads(line))
        total += paths
        text = json.dumps(value, allow_nan=False).encode() if paths else line
        lines.append(text + b"\n")
    return Redacted(b"".join(lines), total)
