"""Where runs are kept and trained: from options and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verify.runs.backends import NAMES, Backend, InProcess, Processes
from verify.runs.errors import BackendError

CACHE = "VERIFY_CACHE"


def default_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the store when none is named.

    Args:
        environ: ``VERIFY_CACHE`` names it; else it lies in ``XDG_CACHE_HOME``.

    Returns:
        The folder, which need not exist.
    """
    if named := environ.get(CACHE):
        return Path(named)
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "theorem-verify"


@dataclass(frozen=True)
class Settings:
    """How studies are run.

    Attributes:
        cache: Folder of the store.
        backend: ``auto``, ``local``, ``processes`` or ``slurm``.
        jobs: Training processes; ``auto`` uses processes when it is above 1.
        slurm: Options of the Slurm back-end, as text.
    """

    cache: Path
    backend: str = "auto"
    jobs: int = 1
    slurm: Mapping[str, str] = field(default_factory=dict)

    def make(self) -> Backend:
        """Make the back-end.

        Returns:
            The back-end.

        Raises:
            BackendError: It is unknown, or an option of it is wrong.
        """
        if self.backend == "slurm":
            from verify.runs.slurm import SlurmBackend, SlurmOptions

            given: dict[str, Any] = dict(self.slurm)
            return SlurmBackend(SlurmOptions.from_environment(**given))
        if self.slurm:
            raise BackendError(
                f"options of Slurm {sorted(self.slurm)} need --backend slurm"
            )
        if self.backend == "processes" or (self.backend == "auto" and self.jobs > 1):
            return Processes(self.jobs)
        if self.backend in {"auto", "local"}:
            return InProcess()
        raise BackendError(f"no back-end {self.backend!r}; choose one of {NAMES}")
