"""Studies: every configuration × seed of one question, cut into chunks.

A chunk is one batched tensor program, one entry of the store and one job. How a study
is cut depends on the study alone, never on memory, jobs or back-end, because the last
digits of a batched product depend on the size of the batch.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

from verify.runs.errors import StudyError
from verify.runs.version import code_version

if TYPE_CHECKING:
    import torch

FORMAT = 1  # of chunks and entries; another number is another key
DTYPES = ("float64", "float32")
DEVICES = ("cpu", "cuda")

Scalar = str | int | float | bool
Configuration = Mapping[str, Scalar]
Tick = Callable[[int, int], object]


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is trained, and how it is batched.

    Attributes:
        name: For people: shown by progress, cache and report; not part of any key.
        trainer: ``package.module:function``, which maps a :class:`Batch` to a
            ``verify.train.loop.Trajectory``.
        configurations: What is varied, by name; all with the same names.
        seeds: One run of every configuration for each.
        options: What is common to all runs, such as the number of steps.
        same: Names of the configuration that one program must share, since they fix
            the shapes of its tensors.
        chunk: Most runs of one program.
        device: ``cpu`` or ``cuda``.
        dtype: ``float64`` or ``float32``.
        bytes_per_run: Memory that a run needs while it is trained, an upper estimate.

    Raises:
        StudyError: An attribute is empty, unknown, NaN or out of range.
    """

    name: str
    trainer: str
    configurations: Sequence[Configuration]
    seeds: Sequence[int]
    options: Configuration = field(default_factory=dict)
    same: tuple[str, ...] = ()
    chunk: int = 512
    device: str = "cpu"
    dtype: str = "float64"
    bytes_per_run: int = 1 << 16

    def __post_init__(self) -> None:
        names = [sorted(c) for c in self.configurations]
        for what, bad, remedy in (
            (
                "trainer",
                self.trainer.count(":") != 1,
                "use 'package.module:function'",
            ),
            ("configurations", not names, "give at least one"),
            ("configurations", any(n != names[0] for n in names), "use equal names"),
            ("configurations", _repeats(self.configurations), "give each once"),
            ("seeds", not self.seeds, "give at least one"),
            ("seeds", _repeats(self.seeds), "give each once"),
            ("same", names and not set(self.same) <= set(names[0]), f"of {names[:1]}"),
            ("chunk", self.chunk < 1, "use 1 or more"),
            ("device", self.device not in DEVICES, f"choose one of {DEVICES}"),
            ("dtype", self.dtype not in DTYPES, f"choose one of {DTYPES}"),
            ("bytes_per_run", self.bytes_per_run < 1, "estimate it from above"),
        ):
            if bad:
                value = repr(getattr(self, what))
                raise StudyError(
                    f"study {self.name!r}: `{what}` is {value[:200]}: {remedy}"
                )
        for setting in (*self.configurations, self.options):
            for key, chosen in setting.items():
                _finite(self.name, key, chosen)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.configurations) * len(self.seeds)

    def chunks(self) -> list[Chunk]:
        """Cut the study: like shapes together, at most ``chunk`` runs each.

        Returns:
            Chunks in the order of the configurations; in each, seeds vary fastest.

        Raises:
            StudyError: The trainer cannot be found.
        """
        content = {
            "format": FORMAT,
            "trainer": self.trainer,
            "code": code_version(self.trainer.partition(":")[0]),
            "torch": metadata.version("torch"),
            "device": self.device,
            "dtype": self.dtype,
            "options": dict(self.options),
        }
        groups: dict[str, list[tuple[Configuration, int]]] = {}
        for configuration, seed in itertools.product(self.configurations, self.seeds):
            shape = canonical([configuration[name] for name in self.same])
            groups.setdefault(shape, []).append((configuration, seed))
        return [
            Chunk.of(self, content, runs[i : i + self.chunk])
            for runs in groups.values()
            for i in range(0, len(runs), self.chunk)
        ]


@dataclass(frozen=True)
class Chunk:
    """One batched program of a study, as text that can be sent to any process.

    Attributes:
        study: Name of the study.
        text: Canonical JSON of all that determines the result.
        key: SHA-256 of ``text``, in hexadecimal.
        runs: Number of runs.
        bytes_needed: Memory that training needs, an upper estimate.
    """

    study: str
    text: str
    key: str
    runs: int
    bytes_needed: int

    @classmethod
    def of(
        cls,
        study: Study,
        content: Mapping[str, Any],
        runs: Sequence[tuple[Configuration, int]],
    ) -> Chunk:
        """Make the chunk of some runs of a study."""
        configurations = [dict(configuration) for configuration, _ in runs]
        seeds = [seed for _, seed in runs]
        text = canonical({**content, "configurations": configurations, "seeds": seeds})
        return cls(
            study.name, text, key_of(text), len(runs), len(runs) * study.bytes_per_run
        )

    @property
    def content(self) -> dict[str, Any]:
        """The parsed text."""
        parsed: dict[str, Any] = json.loads(self.text)
        return parsed


@dataclass(frozen=True)
class Batch:
    """The runs of a chunk, as their trainer sees them.

    Attributes:
        configurations: One per run.
        seeds: One per run.
        options: Common to all runs.
        device: Where to train.
        dtype: Name of the dtype.
        progress: Called with steps made and steps in all; for display alone.
    """

    configurations: Sequence[Configuration]
    seeds: Sequence[int]
    options: Configuration
    device: str
    dtype: str
    progress: Tick | None = None

    def common(self, name: str) -> Any:
        """Look up what every run shares.

        Args:
            name: Of an option, or of a configuration.

        Returns:
            The value.

        Raises:
            StudyError: The runs differ in it, or none has it.
        """
        if name in self.options:
            return self.options[name]
        values = {canonical(c.get(name)): c.get(name) for c in self.configurations}
        if len(values) != 1 or None in values.values():
            raise StudyError(
                f"the runs of a batch do not share {name!r}: {sorted(values)}; name it "
                "in `same`"
            )
        return next(iter(values.values()))

    def tensor(self, name: str) -> torch.Tensor:
        """Collect a number of the configurations.

        Args:
            name: Of a configuration.

        Returns:
            Shape ``(runs,)``, the batch's dtype and device.
        """
        import torch

        values = [float(c[name]) for c in self.configurations]
        return torch.tensor(values, dtype=getattr(torch, self.dtype)).to(self.device)


def canonical(value: Any) -> str:
    """Write JSON in one way only: sorted keys, no spaces, shortest floats, no NaN.

    Args:
        value: Plain JSON data.

    Returns:
        The text.

    Raises:
        StudyError: The value holds NaN, infinity or something that JSON has not.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{value!r} is no plain, finite JSON: {error}") from error


def key_of(text: str) -> str:
    """The key under which the result of a chunk's text is stored."""
    return hashlib.sha256(text.encode()).hexdigest()


def _repeats(values: Sequence[Any]) -> bool:
    return len({repr(value) for value in values}) < len(values)


def _finite(study: str, name: str, value: object) -> None:
    if not isinstance(value, str | int | float):
        raise StudyError(
            f"study {study!r}: {name!r} is {value!r}; use text, a number or a truth "
            "value"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise StudyError(f"study {study!r}: {name!r} is {value}; it must be finite")
