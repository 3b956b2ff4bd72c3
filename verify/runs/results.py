"""Asking for a study, and what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.runs.backends import Backend, InProcess
from verify.runs.errors import StoreError
from verify.runs.store import Store
from verify.runs.study import Chunk, Configuration, Scalar, Study

Array = NDArray[Any]
Progress = Callable[[str, float, int], None]
ATTEMPTS = 3  # an entry found damaged is trained again; a disk that spoils all is told


@dataclass(frozen=True)
class Trained:
    """Some runs of a study that have the same shapes.

    Attributes:
        configurations: One per run.
        seeds: ``(runs,)``, int64.
        steps: ``(snapshots,)``, steps made before each snapshot.
        losses: ``(runs, snapshots)``.
        observed: Observables, each ``(runs, snapshots, ...)``.
        params: Final parameters, each ``(runs, ...)``.
        diverged_at: ``(runs,)``, step of the divergence, −1 for finished runs.
    """

    configurations: tuple[Configuration, ...]
    seeds: Array
    steps: Array
    losses: Array
    observed: Mapping[str, Array]
    params: Mapping[str, Array]
    diverged_at: Array

    @property
    def diverged(self) -> int:
        """How many runs diverged."""
        return int((self.diverged_at >= 0).sum())

    def where(self, **wanted: Scalar) -> Trained:
        """Keep the runs of some configurations.

        Args:
            **wanted: Names and values of the configuration.

        Returns:
            Those runs, in their order.

        Raises:
            KeyError: No run has these values.
        """
        chosen = [
            i
            for i, c in enumerate(self.configurations)
            if all(c.get(name) == value for name, value in wanted.items())
        ]
        if not chosen:
            raise KeyError(f"no run with {wanted}")
        at = np.asarray(chosen)
        return Trained(
            tuple(self.configurations[i] for i in chosen),
            self.seeds[at],
            self.steps,
            self.losses[at],
            {name: a[at] for name, a in self.observed.items()},
            {name: a[at] for name, a in self.params.items()},
            self.diverged_at[at],
        )


@dataclass(frozen=True)
class Trainings:
    """The result of a study.

    Attributes:
        study: What was asked for.
        groups: The runs by shape, as the study's ``same`` groups them.
        keys: Keys of the entries that the results were read from.
    """

    study: Study
    groups: tuple[Trained, ...]
    keys: tuple[str, ...]

    @property
    def diverged(self) -> int:
        """How many runs diverged."""
        return sum(group.diverged for group in self.groups)

    def where(self, **wanted: Scalar) -> Trained:
        """Keep the runs of some configurations that share one shape.

        Args:
            **wanted: Names and values of the configuration.

        Returns:
            Those runs.

        Raises:
            KeyError: No run has these values, or runs of several shapes have.
        """
        found = []
        for group in self.groups:
            try:
                found.append(group.where(**wanted))
            except KeyError:
                continue
        if len(found) != 1:
            raise KeyError(
                f"{len(found)} shapes of runs with {wanted} in {self.study.name!r}; "
                f"fix one of {self.study.same} too"
                if found
                else f"no run with {wanted} in {self.study.name!r}"
            )
        return found[0]


@dataclass
class Runs:
    """What a check asks for studies.

    Attributes:
        store: Where runs are kept.
        backend: Where they are trained.
        progress: Called with a study's name, the runs finished and the runs in all.
        served: A note on every study served, for the report.
    """

    store: Store
    backend: Backend = field(default_factory=InProcess)
    progress: Progress | None = None
    served: list[dict[str, Any]] = field(default_factory=list)

    def get(self, study: Study) -> Trainings:
        """Return the runs of a study, training what the store has not.

        Args:
            study: What is wanted.

        Returns:
            The results, read from the store.

        Raises:
            RunsError: They cannot be had; the message says what to do.
            StoreError: What is stored is damaged again and again.
        """
        began = time.perf_counter()
        chunks = study.chunks()
        missing: Sequence[Chunk] = [c for c in chunks if not self.store.has(c.key)]
        for _ in range(ATTEMPTS):
            if missing:
                self.store.require_writable()
                self.backend.train(missing, self.store, self._reporter(study, missing))
            entries = {c.key: self.store.get(c.key) for c in chunks}
            missing = [c for c in chunks if entries[c.key] is None]
            if not missing:
                break
        else:
            raise StoreError(
                f"entries of study {study.name!r} were damaged {ATTEMPTS} times in "
                f"{self.store.folder}; look at the disk, or choose another --cache"
            )
        groups = _groups(study, chunks, {k: e.arrays for k, e in entries.items() if e})
        for chunk in chunks:
            self.store.touch(chunk.key)
        found = Trainings(study, groups, tuple(c.key for c in chunks))
        self.served.append({
            "name": study.name,
            "runs": study.runs,
            "diverged": found.diverged,
            "device": study.device,
            "dtype": study.dtype,
            "keys": [key[:16] for key in found.keys],
            "seconds": time.perf_counter() - began,
        })
        return found

    def _reporter(
        self, study: Study, missing: Sequence[Chunk]
    ) -> Callable[[Chunk, float], None]:
        shares = dict.fromkeys((c.key for c in missing), 0.0)
        sizes = {c.key: c.runs for c in missing}
        before = study.runs - sum(sizes.values())

        def report(chunk: Chunk, share: float) -> None:
            shares[chunk.key] = share
            if self.progress is not None:
                done = before + sum(sizes[k] * s for k, s in shares.items())
                self.progress(study.name, done, study.runs)

        return report


def _groups(
    study: Study, chunks: Sequence[Chunk], entries: Mapping[str, Mapping[str, Array]]
) -> tuple[Trained, ...]:
    """Join the chunks of each shape, in order."""
    grouped: dict[tuple[Scalar, ...], list[tuple[dict[str, Any], Any]]] = {}
    for chunk in chunks:
        content = chunk.content
        shape = tuple(content["configurations"][0][name] for name in study.same)
        grouped.setdefault(shape, []).append((content, entries[chunk.key]))
    return tuple(_joined(parts) for parts in grouped.values())


def _joined(parts: Sequence[tuple[dict[str, Any], Mapping[str, Array]]]) -> Trained:
    def join(name: str) -> Array:
        return np.concatenate([arrays[name] for _, arrays in parts])

    first = parts[0][1]

    def part(prefix: str) -> dict[str, Array]:
        return {
            name.removeprefix(prefix): join(name)
            for name in first
            if name.startswith(prefix)
        }

    return Trained(
        tuple(c for content, _ in parts for c in content["configurations"]),
        np.asarray([s for content, _ in parts for s in content["seeds"]]),
        first["steps"],
        join("losses"),
        part("observed/"),
        part("params/"),
        join("diverged_at"),
    )
