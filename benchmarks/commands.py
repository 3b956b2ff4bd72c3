"""Start `verify run` as a user does, and read what it leaves behind.

Shared by the studies of stability and of faults.
"""

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TRUST = ROOT / "verify" / "report" / "trust"
PYTHON = (sys.executable, "-m")
# What a shell may have set; a study sets these itself, one at a time.
SETTINGS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "ATEN_CPU_CAPABILITY",
    "NUMBA_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTEST_ADDOPTS",
    "VERIFY_CACHE",
    "VERIFY_BACKEND",
    "VERIFY_COMMAND",
    "GITHUB_STEP_SUMMARY",
    "LD_PRELOAD",
)
_SAYING = threading.Lock()
_RUNNING: set[subprocess.Popen[bytes]] = set()


def say(text: str) -> None:
    """Write a line for people; standard output is for figures."""
    with _SAYING:
        print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr, flush=True)


def environment(**changes: str) -> dict[str, str]:
    """The environment of a run: this one's, without what changes numbers."""
    kept = {name: x for name, x in os.environ.items() if name not in SETTINGS}
    places = [changes.pop("PYTHONPATH", ""), str(ROOT), kept.get("PYTHONPATH", "")]
    return kept | changes | {"PYTHONPATH": os.pathsep.join(filter(None, places))}


@dataclass(frozen=True)
class Done:
    """How a command ended.

    Attributes:
        code: Exit code.
        text: What it printed on both outputs.
        seconds: Wall clock.
    """

    code: int
    text: str
    seconds: float

    @property
    def last(self) -> str:
        """The last line it printed."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        return lines[-1].strip() if lines else "nothing printed"


@dataclass(frozen=True)
class Command:
    """A `verify run`.

    Attributes:
        out: Folder of the run.
        cache: Folder of trained runs.
        select: Claims; none selects all.
        profile: Budgets.
        seed: Root seed.
        jobs: Check workers.
        device: Where tensors live.
        env: Changes of the environment.
        root: Folder that has theorems/.
    """

    out: Path
    cache: Path
    select: tuple[str, ...] = ()
    profile: str = "smoke"
    seed: int = 0
    jobs: int = 2
    device: str = "cpu"
    env: Mapping[str, str] = field(default_factory=dict)
    root: Path = ROOT

    def line(self, *, resume: bool = False) -> list[str]:
        """The command as a list of words."""
        return [
            *(*PYTHON, "verify", "run", *self.select, "--quiet"),
            *("--profile", self.profile, "--device", self.device),
            *("--seed", str(self.seed), "--jobs", str(self.jobs)),
            *("--out", str(self.out), "--cache", str(self.cache)),
            *(["--resume"] if resume else []),
        ]

    def start(self, log: Path, *, resume: bool = False) -> subprocess.Popen[bytes]:
        """Start it in a process group of its own, which can be killed as a whole."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as file:
            return subprocess.Popen(
                self.line(resume=resume),
                cwd=self.root,
                env=environment(**self.env),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(
        self,
        *,
        resume: bool = False,
        log: Path | None = None,
        limit: float | None = None,
    ) -> Done:
        """Run it to its end.

        Args:
            resume: Go on where the run in ``out`` stopped.
            log: Where its output goes; by default beside ``out``.
            limit: Seconds after which it is killed.

        Returns:
            How it ended.
        """
        log = log or self.out.with_name(self.out.name + ".log")
        began = time.monotonic()
        process = self.start(log, resume=resume)
        _RUNNING.add(process)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit)
        finally:
            kill(process)
            _RUNNING.discard(process)
        text = log.read_text("utf-8", "replace")
        return Done(process.returncode, text, time.monotonic() - began)

    def report(self) -> dict[str, Any]:
        """The record that the run wrote."""
        text = (self.out / "report.json").read_text("utf-8")
        found: dict[str, Any] = json.loads(text)
        return found


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command with everything that it started, as a power cut would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_all() -> None:
    """Kill every command that runs, so that an interrupt leaves nothing behind."""
    for process in list(_RUNNING):
        kill(process)


def end_cleanly() -> None:
    """Let SIGTERM end a study like an interrupt, with the runs that it started."""

    def stop(*signal_and_frame: object) -> None:
        del signal_and_frame
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def journal(folder: Path) -> list[dict[str, Any]]:
    """Read the whole lines of a journal with the standard library alone.

    A study that trusted the reader of the engine could not find fault with it.
    """
    try:
        data = (folder / "journal.jsonl").read_bytes()
    except OSError:
        return []
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def commit() -> str:
    """The commit of the code that runs, with a plus when files were changed."""
    found = []
    for words in (["rev-parse", "--short=7", "HEAD"], ["status", "--porcelain"]):
        done = subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True
        )
        found.append(done.stdout.strip() if done.returncode == 0 else "")
    return (found[0] or "unknown") + ("+" if found[1] else "")


def write_trust(
    name: str,
    *,
    title: str,
    says: str,
    command: str,
    seconds: float,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    notes: Sequence[str],
) -> Path:
    """Write what a study found to where the report reads it.

    Args:
        name: Of the study; names the file.
        title: Heading.
        says: The result in one or two sentences.
        command: How to repeat it.
        seconds: How long it took.
        columns: Heads of the table.
        rows: The table, numbers and text.
        notes: What a reader should know.

    Returns:
        The file.
    """
    TRUST.mkdir(parents=True, exist_ok=True)
    record = {
        "name": name,
        "title": title,
        "says": says,
        "command": command,
        "measured": {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": commit(),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}",
            "seconds": round(seconds, 1),
        },
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "notes": list(notes),
    }
    path = TRUST / f"{name}.json"
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", "utf-8")
    return path


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lay a table out for a terminal."""
    texts = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in texts
    )
