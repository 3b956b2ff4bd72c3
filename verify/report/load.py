"""Reading the report of a run back, with one plain line for whatever is wrong with it.

Nothing in a report is trusted: it is read strictly (:func:`verify.recheck.load`), then
validated field by field; no code is run from it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from verify import recheck
from verify.build import build
from verify.journal import NAME, JournalError, read
from verify.record import SCHEMA_VERSION, Report

JSON_NAME = "report.json"


class LoadError(ValueError):
    """A report cannot be read; the message is one line and names the remedy."""


def load(path: Path) -> Report:
    """Read the report of a run.

    Args:
        path: A ``report.json``, or the folder of a run, finished or not: there the
            journal is read, and only without one the ``report.json``.

    Returns:
        The report; that of a run which did not finish says so.

    Raises:
        LoadError: There is none, or it is damaged, or of another version.
    """
    if not path.is_dir():
        return _from_json(path)
    if (path / JSON_NAME).is_file() and not (path / NAME).exists():
        return _from_json(path / JSON_NAME)  # published without its journal
    return _from_journal(path)


def _from_journal(folder: Path) -> Report:
    try:
        return build(read(folder))
    except JournalError as error:
        raise LoadError(_newer_journal(folder) or _line(error)) from error
    except (ArithmeticError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise LoadError(
            f"{folder / NAME} is damaged ({type(error).__name__}: {_line(error)}); "
            "run the claims again"
        ) from error


def _from_json(path: Path) -> Report:
    try:
        return Report.model_validate(recheck.load(path))
    except recheck.RecheckError as error:
        raise LoadError(_diagnosis(path) or f"{path}: {_line(error)}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise LoadError(
            f"{path} does not have the fields of schema version {SCHEMA_VERSION}: "
            f"{_line(place)}: {_line(first['msg'])} ({error.error_count()} in all); "
            "write it again with `verify report`"
        ) from error


def _line(text: object) -> str:
    """Text in one line, and no longer than one reads."""
    said = " ".join(str(text).split())
    return said if len(said) <= 300 else said[:300] + " …"


def _diagnosis(path: Path) -> str:
    """Say what a file is that is no report; empty if that cannot be told."""
    try:
        with path.open("rb") as file:
            data = file.read(recheck.MAX_FILE + 1)
    except OSError as error:
        return (
            f"{path} cannot be read ({error.strerror}); name a report or a run folder"
        )
    if len(data) > recheck.MAX_FILE:
        return f"{path} has over {recheck.MAX_FILE >> 20} MB and is read as no report"
    if not data.strip():
        return (
            f"{path} is empty: whatever wrote it was stopped; write it again with "
            "`verify report` and the folder of the run"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"{path} is no report: it is binary, or no UTF-8 text"
    if "\x00" in text:
        return f"{path} is no report: it is binary"
    return _of_text(path, text)


def _of_text(path: Path, text: str) -> str:
    head = _parsed(text.splitlines()[0])
    if isinstance(head, dict) and "type" in head:
        return f"{path} is the journal of a run; name its folder, {path.parent}"
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) - 1
        what = "is cut off" if cut else "is no JSON"
        return (
            f"{path} {what} (line {error.lineno}, column {error.colno}: {error.msg}); "
            "write it again with `verify report` and the folder of the run"
        )
    except (ValueError, RecursionError):
        return ""
    if isinstance(found, dict) and {"verdict_digest", "claims"} & found.keys():
        return other_version(path, found.get("schema_version"))
    return f"{path} is JSON, but no report: it has no claims" if found != {} else ""


def _newer_journal(folder: Path) -> str:
    """Say which version a journal has, if it is not ours."""
    try:
        with (folder / NAME).open("rb") as file:
            head = _parsed(file.readline(recheck.MAX_FILE).decode("utf-8", "replace"))
    except OSError:
        return ""
    if not isinstance(head, dict):
        return ""
    return other_version(folder / NAME, head.get("schema_version"))


def other_version(path: Path, version: Any) -> str:
    """Say what to do about a report of another schema version; empty for ours."""
    if type(version) is not int or version == SCHEMA_VERSION:
        return ""
    remedy = (
        "install a newer theorem-verify"
        if version > SCHEMA_VERSION
        else "make it again with this theorem-verify, or read it with an older one"
    )
    return (
        f"{path} has schema_version {_line(version)}, and this release reads version "
        f"{SCHEMA_VERSION}: {remedy}"
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
