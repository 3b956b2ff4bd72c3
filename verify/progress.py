"""Progress of a run: a bar with an ETA on a terminal, plain lines in CI."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from verify.record import CheckRecord

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """Shows what is finished and how long the rest may take.

    Args:
        mode: ``none``, ``lines`` or ``bar``.
        expected: Seconds that each (claim, check) took in the run before, if known; the
            estimate weighs the remaining checks by them.
    """

    def __init__(
        self, mode: str, expected: Mapping[tuple[str, str], float] | None = None
    ) -> None:
        self.mode = mode
        self.expected = dict(expected or {})
        self.total = 0
        self.done = 0
        self.spent = 0.0
        self.began = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def start(self, total: int) -> None:
        """Learn the number of checks, and begin to show progress."""
        if self.total or not total:
            return
        self.total, self.began = total, time.monotonic()
        if self.mode == "bar":
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("checks", total=total)
            self._bar.start()

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
            sys.stdout.write(
                f"[{self.done}/{self.total}{eta}] {record.word:12} {record.grade:9} "
                f"{record.claim} {record.name} ({record.seconds:.1f} s)\n"
            )
            sys.stdout.flush()

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
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
