"""Progress of a run: bars with an ETA on a terminal, plain lines in CI.

One bar or line is about checks; each study that trains has one of its own.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verify import feed
from verify.record import CheckRecord

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LOOK = {"bar": 0.5, "lines": 10.0}  # seconds between looks at the studies


class Progress:
    """Shows what is finished and how long the rest may take.

    Args:
        mode: ``none``, ``lines`` or ``bar``.
        expected: Seconds that each (claim, check) took in the run before, if known; the
            estimate weighs the remaining checks by them.
        folder: Of the run, where processes tell how far their studies are.
    """

    def __init__(
        self,
        mode: str,
        expected: Mapping[tuple[str, str], float] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.mode = mode
        self.expected = dict(expected or {})
        self.folder = folder
        self.total = 0
        self.done = 0
        self.spent = 0.0
        self.began = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._studies: dict[str, TaskID] = {}
        self._shown: dict[str, float] = {}
        self._stopped = threading.Event()
        self._watcher: threading.Thread | None = None

    def start(self, total: int) -> None:
        """Learn the number of checks, and begin to show progress."""
        if self.total or not total:
            return
        self.total, self.began = total, time.monotonic()
        if self.folder is not None:
            feed.clear(self.folder)
        if self.mode == "bar":
            self._bar = _bars()
            self._task = self._bar.add_task("checks", total=total, rate="")
            self._bar.start()
        if self.mode in LOOK and self.folder is not None:
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()

    def advance(self, record: CheckRecord) -> None:
        """Show a finished check."""
        self.done += 1
        self.spent += record.seconds
        self.expected.pop((record.claim, record.name), None)
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, advance=1, description=f"{record.claim} {record.name}"
            )
        elif self.mode == "lines":
            eta = f", about {self.eta():.0f} s left" if self.done < self.total else ""
            _line(
                f"[{self.done}/{self.total}{eta}] {record.word:12} {record.grade:9} "
                f"{record.claim} {record.name} ({record.seconds:.1f} s)"
            )

    def skip(self) -> None:
        """Count a check that cannot run here."""
        self.done += 1
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=1)

    def eta(self) -> float:
        """Seconds that the remaining checks may take."""
        elapsed = time.monotonic() - self.began
        remaining = self.total - self.done
        known = sorted(self.expected.values())[-remaining:] if remaining else []
        mean = self.spent / max(self.done, 1)
        work = sum(known) + mean * (remaining - len(known))
        speed = self.spent / elapsed if elapsed > 0 and self.spent else 1.0
        return work / speed

    def stop(self) -> None:
        """Take the bars away."""
        self._stopped.set()
        if self._watcher is not None:
            self._watcher.join()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self.folder is not None:
            feed.clear(self.folder)

    def look(self) -> None:
        """Show how far each study is that moved since the last look."""
        if self.folder is None:
            return
        for study in feed.read(self.folder):
            if self._shown.get(study.name) == study.done:
                continue
            self._shown[study.name] = study.done
            if self._bar is None:
                _line(str(study))
                continue
            if study.name not in self._studies:
                self._studies[study.name] = self._bar.add_task(study.name, rate="")
            self._bar.update(
                self._studies[study.name],
                total=study.total,
                completed=study.done,
                rate=f"{study.rate:.3g} runs/s",
            )

    def _watch(self) -> None:
        while not self._stopped.wait(LOOK[self.mode]):
            self.look()


def _line(text: str) -> None:
    # pytest captures sys.stdout while a check runs in its own process.
    out = sys.__stdout__ or sys.stdout
    out.write(text + "\n")
    out.flush()


def _bars() -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(file=sys.__stderr__ or sys.stderr),
        transient=True,
    )
