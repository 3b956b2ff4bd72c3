"""What the jobs of the Slurm back-end ask for: from options and the environment."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verify.runs.errors import BackendError

PREFIX = "VERIFY_SLURM_"
# What sbatch is told anyway, and the option that says it.
_OURS = {
    "partition": "partition",
    "gpus-per-node": "gpus",
    "time": "minutes",
    "mem": "memory_gb",
    "cpus-per-task": "cpus",
} | dict.fromkeys(
    ("array", "error", "job-name", "nodes", "no-requeue", "ntasks-per-node"), ""
)
_OURS |= dict.fromkeys(("open-mode", "output", "requeue", "signal"), "")


@dataclass(frozen=True, kw_only=True)
class SlurmOptions:
    """What the jobs ask of the cluster, and how they are watched.

    Attributes:
        partition: Where to queue; None for the cluster's default.
        gpus: Per job, such as 1 or ``h200:1``; 0 asks for none.
        minutes: Time limit of a job, which trains one chunk.
        memory_gb: Main memory of a job.
        cpus: Of a job; a chunk is trained by one thread.
        array_parallelism: Jobs of a study that run at once.
        extra: Further options of sbatch by name; True for one without a value.
        folder: Of logs; beside the store when None.
        retries: Further jobs for a chunk whose job ended without it.
        restarts: How often Slurm may start one job again, after a preemption say.
        poll_seconds: Between looks at the store and the queue.
        grace_seconds: How long a result may become visible after its job has gone;
            a network file system keeps what it knows for up to a minute.

    Raises:
        BackendError: A value is out of range; the message says how to set it.
    """

    partition: str | None = None
    gpus: int | str = 0
    minutes: int = 60
    memory_gb: float = 8.0
    cpus: int = 1
    array_parallelism: int = 64
    extra: Mapping[str, str | bool] = field(default_factory=dict)
    folder: Path | None = None
    retries: int = 2
    restarts: int = 20
    poll_seconds: float = 10.0
    grace_seconds: float = 60.0

    def __post_init__(self) -> None:
        typed = re.fullmatch(r"0|([\w.-]+:)?[1-9][0-9]*", str(self.gpus), re.ASCII)
        self._require("gpus", bool(typed), "a number, or a kind and a number: h200:1")
        for name in ("retries", "restarts"):
            self._require(name, getattr(self, name) >= 0, "0 or more")
        for name in ("minutes", "cpus", "array_parallelism"):
            self._require(name, getattr(self, name) >= 1, "1 or more")
        for name in ("memory_gb", "poll_seconds"):
            value = getattr(self, name)
            self._require(name, 0 < value < math.inf, "a number above 0")
        finite = 0 <= self.grace_seconds < math.inf
        self._require("grace_seconds", finite, "a number from 0 on")
        named = self.partition is None or re.fullmatch(r"[^\s]+", self.partition)
        self._require("partition", bool(named), "a name from `sinfo`, without spaces")
        for key, value in self.extra.items():
            self._check_extra(key, value)

    def _require(self, name: str, fine: bool, remedy: str) -> None:
        if not fine:
            raise BackendError(_wrong(name, getattr(self, name), remedy))

    def _check_extra(self, key: str, value: str | bool) -> None:
        if key in _OURS:
            other = f"give `{_OURS[key]}`" if _OURS[key] else "leave it out"
            remedy = f"another: the back-end sets this one, {other}"
            raise BackendError(_wrong("extra", key, remedy))
        plain = value is True or (isinstance(value, str) and value.isprintable())
        if not re.fullmatch(r"[a-z][a-z-]*", key) or not plain:
            remedy = "long options of sbatch, as in account=name"
            raise BackendError(_wrong("extra", f"{key}={value}", remedy))

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str] = os.environ, /, **given: object
    ) -> SlurmOptions:
        """Read options from the environment; those given come first.

        Args:
            environ: ``VERIFY_SLURM_PARTITION`` and so on, one for each attribute;
                ``VERIFY_SLURM_EXTRA`` as in ``"account=lab constraint=a100"``.
            **given: Attributes, as values or as text; None is as if it were not given.

        Returns:
            The options.

        Raises:
            BackendError: An option is unknown, or its value is not possible.
        """
        if unknown := sorted(set(given) - set(_READERS)):
            raise BackendError(
                f"no Slurm option {unknown[0]!r}; choose from {sorted(_READERS)}, and "
                "give other options of sbatch as `extra` (--slurm-option KEY=VALUE)"
            )
        values = {}
        for name, (read, kind) in _READERS.items():
            value = given.get(name)
            if value is None:
                value = environ.get(PREFIX + name.upper()) or None
            if value is not None:
                try:
                    values[name] = read(value)
                except (TypeError, ValueError) as error:
                    raise BackendError(_wrong(name, value, kind)) from error
        return cls(**values)


def read_extra(given: object) -> dict[str, str | bool]:
    """Read further options of sbatch.

    Args:
        given: Text such as ``"account=lab exclusive"``, quoted as for a shell; or a
            sequence of ``KEY=VALUE``; or a mapping.

    Returns:
        Values by name, written with dashes; True for an option without a value.

    Raises:
        ValueError: The text ends within a quotation.
        TypeError: It is none of these.

    >>> read_extra("--account=lab exclusive")
    {'account': 'lab', 'exclusive': True}
    """
    if isinstance(given, Mapping):
        pairs = [(str(key), value) for key, value in given.items()]
    elif isinstance(given, Iterable):
        words = shlex.split(given) if isinstance(given, str) else map(str, given)
        split = [word.partition("=") for word in words]
        pairs = [(key, value if equals else True) for key, equals, value in split]
    else:
        raise TypeError(f"{given!r} of {type(given)} names no options")
    return {key.strip().lstrip("-").replace("_", "-"): value for key, value in pairs}


def _whole(given: object) -> int:
    return int(str(given))  # no rounding: "1.5" is refused


def _number(given: object) -> float:
    return float(str(given))


def _path(given: object) -> Path:
    return Path(str(given)).expanduser().absolute()


_READERS: dict[str, tuple[Callable[[object], Any], str]] = {
    "partition": (str, "the name of a partition"),
    "gpus": (str, "a number, or a kind and a number: h200:1"),
    "minutes": (_whole, "a whole number"),
    "memory_gb": (_number, "a number"),
    "cpus": (_whole, "a whole number"),
    "array_parallelism": (_whole, "a whole number"),
    "extra": (read_extra, "KEY=VALUE KEY=VALUE, with quotes as in a shell"),
    "folder": (_path, "a folder"),
    "retries": (_whole, "a whole number"),
    "restarts": (_whole, "a whole number"),
    "poll_seconds": (_number, "a number"),
    "grace_seconds": (_number, "a number"),
}
_FLAGS = {
    "partition": "--slurm-partition P",
    "gpus": "--slurm-gpus N",
    "minutes": "--slurm-minutes M",
    "extra": "--slurm-option KEY=VALUE",
}


def _wrong(name: str, value: object, remedy: str) -> str:
    flag = f"{_FLAGS[name]} or " if name in _FLAGS else ""
    variable = PREFIX + name.upper()
    return f"Slurm option `{name}` is {value!r}: use {remedy} ({flag}{variable})"
