"""The journal of a run: one line per finished check, written as soon as it is known.

A run that is killed leaves its journal; the report is rebuilt from it, and
``verify run --resume`` skips what is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from verify.record import CheckRecord, Header
from verify.selfcheck_run import SelfCheckRecord

NAME = "journal.jsonl"
VIEWS = (
    "report.json",
    "index.html",
    "summary.md",
    "junit.xml",
    "claims.tex",
    "badge.svg",
)
PREVIOUS = "previous"


# What reading a line raises that is no JSON, or no object, or lacks a field.
MALFORMED = (
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


class JournalError(ValueError):
    """A run folder cannot be written, read or resumed; the message says what to do."""


@dataclass
class Journal:
    """What a run set out to do and what it has done.

    Attributes:
        header: First line.
        records: Finished checks by (claim, check); a later line replaces an earlier.
        self_checks: Finished self-checks by name.
        crashes: Nodes whose process died.
        end: The closing line; absent while a run has not finished.
    """

    header: Header
    records: dict[tuple[str, str], CheckRecord] = field(default_factory=dict)
    self_checks: dict[str, SelfCheckRecord] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)
    end: dict[str, Any] | None = None

    @property
    def done(self) -> set[tuple[str, str]]:
        """What a resumed run skips: finished checks, and self-checks by their name.

        Faults of our own run again: what raised may have been the machine's trouble.
        """
        own = [
            ("self-check", x.name) for x in self.self_checks.values() if not x.failed
        ]
        return {*own, *(key for key, x in self.records.items() if not x.broken)}

    def take(self, line: dict[str, Any]) -> None:
        """Take one line in."""
        kind = line.pop("type", None)
        if kind == "check":
            record = CheckRecord.model_validate(line)
            self.records[record.claim, record.name] = record
        elif kind == "self-check":
            own = SelfCheckRecord.model_validate(line)
            self.self_checks[own.name] = own
        elif kind == "crash":
            self.crashes.append(str(line.get("node")))
        elif kind == "resume":
            self.crashes, self.end = [], None
        elif kind == "end":
            self.end = line


def read(folder: Path) -> Journal:
    """Read the journal of a run, finished or not.

    Args:
        folder: Folder of the run.

    Returns:
        The journal. A last line cut off by a kill is passed over.

    Raises:
        JournalError: There is none, or it is damaged.
    """
    path = folder / NAME
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JournalError(
            f"{folder} holds no run ({error.strerror}); name the folder that "
            "`verify run --out` wrote"
        ) from error
    lines = data.splitlines()
    torn = not data.endswith(b"\n")  # a kill cut the last line while it was written
    try:
        head = json.loads(lines[0])
        head.pop("type")
        journal = Journal(Header.model_validate(head))
    except MALFORMED as error:
        raise JournalError(f"{path} does not begin with a run's header") from error
    for number, text in enumerate(lines[1:], start=2):
        try:
            line = json.loads(text)
            journal.take(line)
        except MALFORMED as error:
            if torn and number == len(lines):
                break
            raise JournalError(
                f"{path}, line {number}: damaged; delete that line, or run without "
                "--resume"
            ) from error
    return journal


class Writer:
    """Appends to the journal of one run, each line flushed to disk.

    Args:
        folder: Folder of the run; made when it is missing.
        header: What the run sets out to do.
        resume: Continue the journal that is there.

    Raises:
        JournalError: The folder cannot be written, or there is no such run to resume.
    """

    def __init__(self, folder: Path, header: Header, *, resume: bool) -> None:
        self.folder = folder
        self.expected = _seconds_before(folder)
        self._file = _open(folder, resume=resume)
        try:
            self.journal = self._begun(header, resume=resume)
        except JournalError:
            self.close()
            raise

    def _begun(self, header: Header, *, resume: bool) -> Journal:
        """Write the first line of this run; a run killed before its first has none."""
        if not resume or not os.fstat(self._file.fileno()).st_size:
            self._append("header", header.model_dump(mode="json"))
            return Journal(header)
        journal = read(self.folder)
        _same_run(journal.header, header)
        self._append("resume", {"id": header.id})
        journal.take({"type": "resume"})
        return journal

    def check(self, record: CheckRecord) -> None:
        """Append a finished check."""
        self._append("check", record.model_dump(mode="json"))
        self.journal.records[record.claim, record.name] = record

    def self_check(self, record: SelfCheckRecord) -> None:
        """Append a finished self-check."""
        self._append("self-check", record.model_dump(mode="json"))
        self.journal.self_checks[record.name] = record

    def crash(self, node: str) -> None:
        """Append a node whose process died."""
        self._append("crash", {"node": node})
        self.journal.crashes.append(node)

    def end(self, exit_code: int, seconds: float) -> None:
        """Append the closing line."""
        line = {"exit_code": exit_code, "seconds": seconds}
        self._append("end", line)
        self.journal.end = line

    def close(self) -> None:
        """Close the file and free the folder for another run."""
        self._file.close()

    def _append(self, kind: str, line: dict[str, Any]) -> None:
        """Append a line and see it to the disk, whole or not at all.

        Raises:
            JournalError: It cannot be written.
        """
        text = json.dumps({"type": kind, **line}, allow_nan=False)
        left, handle = memoryview(text.encode() + b"\n"), self._file.fileno()
        size = os.fstat(handle).st_size
        try:
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, size)  # a torn line would spoil those after it
            raise JournalError(
                f"cannot write to {self.folder} ({error.strerror}); what is finished "
                "is kept: make room, then go on with --resume"
            ) from error


def _seconds_before(folder: Path) -> dict[tuple[str, str], float]:
    """How long each check took in the run before; empty when that is unknown."""
    try:
        return {key: r.seconds for key, r in read(folder).records.items()}
    except JournalError:
        return {}


def _open(folder: Path, *, resume: bool) -> IO[bytes]:
    """Open the journal for appending; keep what an earlier run left in ``previous``."""
    path = folder / NAME
    if resume and not path.exists():
        raise JournalError(f"nothing to resume in {folder}; run without --resume")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("ab", buffering=0)
        _lock(file, folder)
        _sweep(folder)
        if resume:
            file.truncate(path.read_bytes().rfind(b"\n") + 1)  # what a kill cut off
            return file
        if path.stat().st_size:
            _keep(folder, (NAME, *VIEWS))
        file.truncate(0)
    except OSError as error:
        raise JournalError(
            f"cannot write to {folder} ({error.strerror}); choose another --out"
        ) from error
    return file


def _lock(file: IO[bytes], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: two runs in one folder are not told apart there
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise JournalError(
            f"another run is writing to {folder}; wait for it or choose another --out"
        ) from error


def _sweep(folder: Path) -> None:
    """Remove views that a killed process was writing beside their place."""
    import psutil

    for path in folder.glob(".*.tmp"):
        name, _, process = path.stem.removeprefix(".").rpartition(".")
        if name in VIEWS and process.isdigit() and not psutil.pid_exists(int(process)):
            path.unlink(missing_ok=True)


def _keep(folder: Path, names: Sequence[str]) -> None:
    previous = folder / PREVIOUS
    previous.mkdir(exist_ok=True)
    for name in names:
        if (folder / name).exists():
            shutil.copy2(folder / name, previous / name)
            if name != NAME:
                (folder / name).unlink()


def _same_run(old: Header, new: Header) -> None:
    for name in ("profile", "seed", "device", "key"):
        if getattr(old, name) != getattr(new, name):
            what = "code or selection" if name == "key" else name
            raise JournalError(
                f"the run to resume had another {what}; run without --resume"
            )
