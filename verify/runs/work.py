"""Training one chunk into the store: what every back-end does in the end."""

from __future__ import annotations

import contextlib
import importlib
import platform
import sys
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from verify.runs.errors import BackendError, StudyError, TooLittleMemoryError
from verify.runs.store import Arrays, Store
from verify.runs.study import Batch, Chunk, Tick
from verify.runs.version import code_version

if TYPE_CHECKING:
    from verify.train.loop import Trajectory

GIB = 1 << 30
OUT_OF_MEMORY = ("OutOfMemoryError", "not enough memory", "can't allocate memory")


def fill(chunk: Chunk, folder: str, paths: tuple[str, ...] = ()) -> None:
    """Train a chunk unless the store has it: idempotent, locked, atomic.

    It may be killed at any moment and started again.

    Args:
        chunk: What to train.
        folder: Of the store.
        paths: Folders that hold the trainer's package, for ``sys.path``.

    Raises:
        BackendError: This process has other code or packages than the one that asked.
    """
    sys.path[:0] = [path for path in paths if path not in sys.path]
    store = Store(Path(folder))
    with store.lock(chunk.key):
        if not store.has(chunk.key):
            train_into(chunk, store)


def train_into(chunk: Chunk, store: Store, tick: Tick | None = None) -> None:
    """Train a chunk whose lock is held, and store the result.

    Args:
        chunk: What to train.
        store: Where to.
        tick: Called with steps made and steps in all.

    Raises:
        BackendError: This process has other code or packages than the one that asked.
        StoreError: The result cannot be stored.
        StudyError: The trainer is not there, or returns something else than the record
            of these runs.
        TooLittleMemoryError: It would not fit, or memory ran out on the way.
    """
    began = time.perf_counter()
    content = chunk.content
    _same_code(content)
    _fits(chunk, content["device"])
    batch = Batch(
        content["configurations"],
        content["seeds"],
        content["options"],
        content["device"],
        content["dtype"],
        tick,
    )
    from verify.train.determinism import deterministic

    with deterministic(threads=1), _memory_is_trouble(chunk):
        arrays = _arrays(_trainer(content["trainer"])(batch), chunk)
    made = {
        "study": chunk.study,
        "runs": chunk.runs,
        "seconds": time.perf_counter() - began,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "python": platform.python_version(),
    }
    store.put(chunk.text, arrays, made)


@contextlib.contextmanager
def _memory_is_trouble(chunk: Chunk) -> Generator[None, None, None]:
    """Tell a machine that ran out of memory from a trainer that is wrong."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has a class of its own for a GPU; on a CPU the text alone tells.
        ours = isinstance(error, MemoryError) or any(
            said in f"{type(error).__name__} {error}" for said in OUT_OF_MEMORY
        )
        if not ours:
            raise
        needed = chunk.bytes_needed / GIB
        raise TooLittleMemoryError(
            f"study {chunk.study!r}: memory ran out while a chunk of {chunk.runs} runs "
            f"was trained, which needs about {needed:.2f} GiB; free some, use fewer "
            "--jobs or --study-jobs, or a machine with more; finished chunks are kept"
        ) from error


def _trainer(path: str) -> Callable[[Batch], Trajectory]:
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise StudyError(f"no trainer {path!r}: {error}") from error
    return cast("Callable[[Batch], Trajectory]", found)


def _same_code(content: dict[str, Any]) -> None:
    from importlib import metadata

    for what, asked, here in (
        ("torch", content["torch"], metadata.version("torch")),
        ("code", content["code"], code_version(content["trainer"].partition(":")[0])),
    ):
        if asked != here:
            raise BackendError(
                f"the worker on {platform.node()} has other {what} ({here}) than the "
                f"process that asked ({asked}); give both the same environment"
            )


def _fits(chunk: Chunk, device: str) -> None:
    free = free_memory(device)
    if free is not None and chunk.bytes_needed > free:
        raise TooLittleMemoryError(
            f"study {chunk.study!r}: a chunk of {chunk.runs} runs needs about "
            f"{chunk.bytes_needed / GIB:.2f} GiB on {device}, {free / GIB:.2f} GiB are "
            "free; free some, use a machine with more, or a smaller profile (chunks "
            "are not made smaller, since results would change in the last digits)"
        )


def free_memory(device: str) -> int | None:
    """Memory that a training may take, in bytes; None when it cannot be told."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    import psutil

    free = int(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")  # a container or a Slurm job may have less
    try:
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no cgroup v2, or no limit
        return free
    return min(free, max(limit - used, 0))


def _arrays(trajectory: Trajectory, chunk: Chunk) -> Arrays:
    """Lay a record out with the run axis first."""
    try:
        arrays = {
            "steps": np.asarray(trajectory.steps, dtype=np.int64),
            "losses": _numpy(trajectory.losses.movedim(1, 0)),
            "diverged_at": _numpy(trajectory.diverged_at),
        }
        for name, p in trajectory.params.items():
            arrays[f"params/{name}"] = _numpy(p)
        for name, seen in trajectory.observed.items():
            arrays[f"observed/{name}"] = _numpy(seen.movedim(1, 0))
    except AttributeError as error:
        raise StudyError(
            f"study {chunk.study!r}: its trainer returned {type(trajectory)}, not the "
            "Trajectory of a training"
        ) from error
    for name, array in arrays.items():
        if name != "steps" and (array.ndim < 1 or len(array) != chunk.runs):
            raise StudyError(
                f"study {chunk.study!r}: {name!r} has shape {array.shape}; the runs of "
                f"this chunk are {chunk.runs}"
            )
    return arrays


def _numpy(tensor: Any) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = tensor.detach().cpu().contiguous().numpy()
    return array
