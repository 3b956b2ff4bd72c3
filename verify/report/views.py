"""Render a record in any format, and write all views of it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verify.record import Report
from verify.report.badge import to_badge
from verify.report.junit import to_junit
from verify.report.page import to_html
from verify.report.summary import capped, to_markdown
from verify.report.tex import to_tex

STEP_SUMMARY_BYTES = 1 << 20  # GitHub drops the whole summary of a step above this


class ReportError(RuntimeError):
    """Some views could not be written; the message names them and what is complete."""


def to_json(report: Report) -> str:
    """The record itself, with a line per top-level field, paper, self-check and claim.

    Compact, and a change of one claim is a change of one line.

    Args:
        report: The record.

    Returns:
        JSON; NaN and infinities are written as words.
    """
    data = report.model_dump(mode="json")
    fields = ",\n".join(f"{_dump(key)}: {_lines(value)}" for key, value in data.items())
    return f"{{\n{fields}\n}}\n"


def _lines(value: Any) -> str:
    """A list of objects with a line for each, anything else in one line."""
    if not isinstance(value, list) or not value:
        return _dump(value)
    return "[\n" + ",\n".join(map(_dump, value)) + "\n]"


def _dump(value: Any) -> str:
    try:
        return _plain(value)
    except ValueError:  # a NaN: rare enough not to look for it in everything
        return _plain(finite(value))


def _plain(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def finite(value: Any) -> Any:
    """JSON data with NaN and infinities as words, as strict JSON wants them."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


_RENDERERS: dict[str, Callable[[Report], str]] = {
    "html": to_html,
    "md": to_markdown,
    "tex": to_tex,
    "junit": to_junit,
    "json": to_json,
    "badge": to_badge,
}
FORMATS = tuple(_RENDERERS)
FILES = {
    "json": "report.json",
    "html": "index.html",
    "md": "summary.md",
    "junit": "junit.xml",
    "tex": "claims.tex",
    "badge": "badge.svg",
}


def render(report: Report, format: str) -> str:  # ruff: ignore[builtin-argument-shadowing]
    """Render a record.

    Args:
        report: The record.
        format: One of :data:`FORMATS`.

    Returns:
        The text of the view.

    Raises:
        ValueError: There is no such format.
    """
    if format not in _RENDERERS:
        known = ", ".join(FORMATS)
        raise ValueError(f"unknown format {format!r}; the formats are {known}")
    return _RENDERERS[format](report)


def write_views(report: Report, folder: Path) -> list[Path]:
    """Write the record and all views of it, each file at once or not at all.

    Args:
        report: The record.
        folder: Made if it does not exist.

    Returns:
        The files, ``report.json`` first.

    Raises:
        ReportError: A view failed; every other file has been written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [write(folder / FILES["json"], to_json(report))]
    failures: list[tuple[str, Exception]] = []
    for format_, name in FILES.items():
        if format_ == "json":
            continue
        try:
            written.append(write(folder / name, render(report, format_)))
        except Exception as error:  # ruff: ignore[blind-except] - raised below
            failures.append((name, error))
    if failures:
        said = "; ".join(f"{name} ({type(e).__name__}: {e})" for name, e in failures)
        done = ", ".join(path.name for path in written)
        raise ReportError(
            f"could not write {said}; complete in {folder}: {done}"
        ) from failures[0][1]
    return written


def append_step_summary(text: str, path: Path | str) -> None:
    """Append to the file that ``GITHUB_STEP_SUMMARY`` names, within GitHub's limit.

    Args:
        text: Markdown.
        path: The file; other steps may have written to it.
    """
    path = Path(path)
    used = path.stat().st_size if path.exists() else 0
    room = STEP_SUMMARY_BYTES - used - 1024
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(capped(text, room) + "\n")


def write(path: Path, text: str) -> Path:
    """Write a file at once or not at all.

    Args:
        path: Where; a file that is there is replaced.
        text: Its content.

    Returns:
        The path.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        # A lone surrogate becomes an escape, which JSON reads back.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
