"""How far to trust a report: the error rates measured of the engine itself.

Each study of ``benchmarks/`` writes one JSON file into ``verify/report/trust``, which
the package ships. A file that is absent or malformed is said to be so on the page: an
error rate that nobody measured must not read like one that is zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from verify.record import Report
from verify.report.words import duration, num
from verify.selfcheck_run import SelfCheckRecord

EXPECTED = {
    "power": "Error rates on synthetic claims",
    "stability": "Stability of verdicts over seeds and threads",
    "mutation": "Mutation of the engine itself",
    "faults": "Killed, starved and interrupted runs",
    "hostile": "Hostile reports and caches",
}
MAX_BYTES = 1 << 20
MAX_ROWS = 60


class StudyError(ValueError):
    """A file of a study is malformed; the message says where and what to do."""


@dataclass(frozen=True)
class Study:
    """One measurement of the engine, or the reason why there is none.

    Attributes:
        name: Its name, that of its file.
        title: Heading.
        says: The result in a sentence or two.
        measured: When, on what and by which command, in words.
        command: The command that measures it again.
        columns: Header of its table.
        rows: Its table.
        notes: What else a reader should know.
        trouble: Why there is no result; empty if there is one.
    """

    name: str
    title: str
    says: str = ""
    measured: str = ""
    command: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    trouble: str = ""


def studies(folder: Traversable | None = None) -> list[Study]:
    """Read all studies of the engine.

    Args:
        folder: Where the files are; by default that of the package.

    Returns:
        One entry for each study that is expected, measured or not, then any others.
    """
    folder = files("verify.report") / "trust" if folder is None else folder
    found: dict[str, Study] = {}
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(".json"):
                name = file.name.removesuffix(".json")
                found[name] = _read(name, file)
    for name, title in EXPECTED.items():
        absent = Study(name, title, trouble="Not measured for this version.")
        found.setdefault(name, absent)
    return [found[name] for name in [*EXPECTED, *sorted(found.keys() - EXPECTED)]]


def _read(name: str, file: Traversable) -> Study:
    try:
        raw = file.read_bytes()
        if len(raw) > MAX_BYTES:
            raise StudyError(f"it has {len(raw)} bytes, more than {MAX_BYTES}")
        return parse(json.loads(raw))
    except (OSError, ValueError, RecursionError) as error:
        trouble = (
            f"The measurement could not be read: trust/{name}.json: {error}. Measure "
            "again, or restore the file."
        )
        return Study(name, EXPECTED.get(name, name), trouble=trouble)


def parse(data: Any) -> Study:
    """Turn the content of a file into a study.

    Args:
        data: The parsed JSON.

    Returns:
        The study.

    Raises:
        StudyError: Something is missing or of the wrong kind; the message names it.
    """
    if not isinstance(data, dict):
        raise StudyError("it is no JSON object")
    texts = [_text(data, key) for key in ("name", "title", "says", "command")]
    name, title, says, command = texts
    columns = tuple(map(str, _list(data, "columns")))
    rows = []
    for place, row in enumerate(_list(data, "rows")):
        cells = row if isinstance(row, list) else []
        sound = all(type(cell) in {int, float, str} for cell in cells)
        if not sound or len(cells) != len(columns):
            raise StudyError(f"rows[{place}] is no list of {len(columns)} cells")
        rows.append(tuple(num(cell, 4) for cell in cells))
    if not rows:
        raise StudyError("rows is empty: nothing was measured")
    notes = [str(note) for note in data.get("notes") or []]
    if len(rows) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS} of {len(rows)} rows are shown.")
    measured = _measured(data.get("measured"))
    return Study(
        name, title, says, measured, command, columns, tuple(rows[:MAX_ROWS]),
        tuple(notes),
    )  # fmt: skip


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise StudyError(f"{key} is no text")
    return value


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        raise StudyError(f"{key} is no list")
    return value


def _measured(data: Any) -> str:
    if not isinstance(data, dict):
        raise StudyError("measured is no object with date, commit, machine, seconds")
    seconds = data.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise StudyError("measured.seconds is no number")
    date, commit, machine = (_text(data, key) for key in ("date", "commit", "machine"))
    return f"{date}, commit {commit}, {machine}, {duration(seconds)}"


SELF_CHECKS = {"DISAGREE": "disagree", "NOT_RUN": "not run", "AGREE": "agree"}


def self_checks(report: Report) -> list[SelfCheckRecord]:
    """The self-checks of a run: independent ways to one number, compared.

    Args:
        report: The record.

    Returns:
        Those that disagree first, those that agree last.
    """
    rank = [*SELF_CHECKS]
    return sorted(report.self_checks, key=lambda check: rank.index(check.verdict))
