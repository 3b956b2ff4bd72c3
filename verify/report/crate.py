"""``verify report --format crate``: the folder of a run as an RO-Crate.

An RO-Crate is a folder with a description that archives read (RO-Crate 1.1, Process Run
Crate 0.5): what is in it, what made it and when, which papers it is about. Folders of
the machine are taken out of what is copied, and nobody is named as having run it.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from importlib import metadata
from pathlib import Path

from verify.journal import NAME, JournalError, read
from verify.record import Report
from verify.report import schema
from verify.report.crate_graph import LICENCE, SCHEMA, SOFTWARE, CrateFiles, describe
from verify.report.redact import redact_journal, redact_report
from verify.report.views import ReportError, write_views

_SPDX = re.compile(r"[A-Za-z0-9.+-]+")


class CrateError(RuntimeError):
    """The crate cannot be written; the message says why and what to do."""


def write_crate(
    report: Report, run_dir: Path, out: Path, *, licence: str = LICENCE
) -> list[Path]:
    """Write the RO-Crate of a run, at once or not at all.

    Args:
        report: The record, of a finished run or of one that was killed.
        run_dir: The folder of the run, for its journal.
        out: A folder that does not exist or is empty; a name that ends in ``.zip``
            makes a zip file.
        licence: SPDX identifier of the licence under which the crate is given away.

    Returns:
        The files of the crate, its description first; the zip file alone for a zip.

    Raises:
        CrateError: rocrate is not installed, there is something at ``out``, the folder
            holds no journal of this run, or a view could not be written.
    """
    _needs_rocrate()
    if not _SPDX.fullmatch(licence):
        raise CrateError(f"{licence!r} is no SPDX identifier; MIT or CC-BY-4.0 are")
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise CrateError(f"{out} is there already; remove it or name another --out")
    journal, resumed = _journal(report, run_dir)
    stage = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        stage.mkdir(parents=True)
        files = _write_files(report, journal, stage)
        describe(files, stage, resumed=resumed, licence=licence)
        if out.suffix == ".zip":
            _zip(stage, out)
            return [out]
        os.replace(stage, out)
    except OSError as error:
        raise CrateError(
            f"cannot write {out} ({error.strerror or error}); name another --out"
        ) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    names = sorted(path.name for path in out.iterdir())
    first = "ro-crate-metadata.json"
    return [out / first, *(out / name for name in names if name != first)]


def _needs_rocrate() -> None:
    try:
        import rocrate.rocrate  # ruff: ignore[unused-import] - asked before any file
    except ImportError as error:
        raise CrateError(
            "an RO-Crate needs the package rocrate: "
            f"pip install '{SOFTWARE}[crate]' ({error})"
        ) from error


def _journal(report: Report, run_dir: Path) -> tuple[bytes, bool]:
    """The journal's bytes, and whether the run was resumed."""
    try:
        run = read(run_dir).header.id
        data = (run_dir / NAME).read_bytes()
    except (JournalError, OSError) as error:
        raise CrateError(f"a crate holds the journal of its run: {error}") from error
    if run != report.run.id:
        raise CrateError(
            f"the journal in {run_dir} is of run {run}, the report of run "
            f"{report.run.id}; make the report of that folder again"
        )
    return data, b'\n{"type": "resume"' in data


def _write_files(report: Report, journal: bytes, stage: Path) -> CrateFiles:
    report, in_report = redact_report(report)
    lines, in_journal = redact_journal(journal)
    try:
        paths = write_views(report, stage)
    except ReportError as error:
        raise CrateError(f"a view is missing, so there is no crate: {error}") from error
    texts = {NAME: lines, SCHEMA: schema.text().encode(), "LICENSE": _licence_text()}
    for name, data in texts.items():
        if data:
            (stage / name).write_bytes(data)
            paths.append(stage / name)
    return CrateFiles(report, paths, in_report + in_journal)


def _licence_text() -> bytes:
    """The licence of the software; empty where its installation lacks it."""
    for file in metadata.files(SOFTWARE) or []:
        if file.name == "LICENSE" and Path(str(file.locate())).is_file():
            return Path(str(file.locate())).read_bytes()
    return b""


def _zip(stage: Path, out: Path) -> None:
    """Zip a folder; the same folder gives the same bytes."""
    temporary = stage.with_suffix(".zip")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(stage.iterdir()):
                archive.writestr(
                    zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0)),
                    path.read_bytes(),
                    zipfile.ZIP_DEFLATED,
                )
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
