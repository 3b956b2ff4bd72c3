"""How far studies are: told by the processes that train, shown by the one that prints.

Workers of a distributed run have no terminal. Each writes a small file into the folder
of the run, and the controller reads them. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".studies"
PAUSE = 0.5  # seconds between two reports of one study


@dataclass(frozen=True)
class StudyProgress:
    """How far one study is.

    Attributes:
        name: Of the study.
        done: Runs finished, counting parts of those that are under way.
        total: Runs in all.
        rate: Runs per second since training began; 0 while that is unknown.
    """

    name: str
    done: float
    total: int
    rate: float

    @property
    def eta(self) -> float | None:
        """Seconds left, if that can be told."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    def __str__(self) -> str:
        left = "" if self.eta is None else f", about {self.eta:.0f} s left"
        return (
            f"study {self.name}: {self.done:.0f} of {self.total} runs, "
            f"{self.rate:.3g} runs/s{left}"
        )


class Feed:
    """Tells how far studies are, a few times a second at most.

    Args:
        folder: Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self._began: dict[str, tuple[float, float]] = {}
        self._told: dict[str, float] = {}

    def __call__(self, name: str, done: float, total: int) -> None:
        """Tell how far a study is; trouble with the file is no trouble of the study.

        Args:
            name: Of the study.
            done: Runs finished.
            total: Runs in all.
        """
        now = time.monotonic()
        began, before = self._began.setdefault(name, (now, done))
        if done < total and now - self._told.get(name, -PAUSE) < PAUSE:
            return
        self._told[name] = now
        rate = (done - before) / (now - began) if now > began else 0.0
        number = list(self._began).index(name)
        path = self.folder / f"{os.getpid()}-{number}.json"
        temporary = path.with_suffix(".tmp")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps([name, done, total, rate]), "utf-8")
            temporary.replace(path)


def read(folder: Path) -> Iterator[StudyProgress]:
    """Read what all processes told.

    Args:
        folder: Of the run.

    Yields:
        One state per study and process.
    """
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            name, done, total, rate = json.loads(path.read_text("utf-8"))
            yield StudyProgress(str(name), float(done), int(total), float(rate))
        except (OSError, ValueError):
            continue


def clear(folder: Path) -> None:
    """Forget what was told."""
    with contextlib.suppress(OSError):
        for path in (folder / FOLDER).iterdir():
            path.unlink(missing_ok=True)
        (folder / FOLDER).rmdir()
