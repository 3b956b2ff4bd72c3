"""Chunks trained by the jobs of a Slurm cluster, one array per study, with submitit.

A job fills the store and returns nothing. A chunk is done when the store has it, and
a job is looked for in the queue only to find out whether waiting still makes sense:
neither its state nor Slurm's accounting says anything about a result.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from verify.runs.errors import BackendError
from verify.runs.slurm_options import PREFIX, SlurmOptions
from verify.runs.store import Store
from verify.runs.study import Chunk
from verify.runs.work import fill

__all__ = ["SlurmBackend", "SlurmOptions"]

Report = Callable[[Chunk, float], None]
Work = Callable[[Chunk, str, tuple[str, ...]], None]

ARRAY = 1000  # jobs of one array: Slurm's MaxArraySize is 1001 unless set
SILENCE = 60  # looks at the queue without an answer before giving up
TAIL = 15  # lines of a log that an error shows
_SUBMITIT = "the Slurm back-end needs submitit: pip install 'theorem-verify[slurm]'"
# Reasons of pending jobs that no waiting removes.
_HOPELESS = {
    "BadConstraints",
    "DependencyNeverSatisfied",
    "JobHoldMaxRequeue",
    "PartitionTimeLimit",
    "launch failed requeued held",
}


@dataclass(frozen=True)
class Job:
    """A job that was submitted.

    Attributes:
        id: As squeue shows it, such as ``17_3``.
        logs: What it writes, the most telling first.
    """

    id: str
    logs: tuple[Path, ...]


class Queue(Protocol):
    """What is asked of a cluster."""

    def submit(self, chunks: Sequence[Chunk]) -> list[Job]:
        """Submit one job for each chunk, in this order."""

    def listed(self) -> Mapping[str, str] | None:
        """Give the jobs that have not ended, with reasons; None without an answer."""

    def cancel(self) -> None:
        """Cancel whatever was submitted and has not ended."""


def start(
    work: Work, folder: str, paths: tuple[str, ...], restarts: int, chunk: Chunk
) -> None:
    """Do what a job does, unless Slurm has started it again too often.

    Args:
        work: Trains a chunk into the store.
        folder: Of the store.
        paths: For ``sys.path``.
        restarts: How often is often enough.
        chunk: What to train.

    Raises:
        BackendError: It was preempted, or its node failed, too often.
    """
    count = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    if count > restarts:
        raise BackendError(
            f"Slurm started this job again {count} times: it is preempted too often, "
            f"or its nodes fail; try another partition, or raise {PREFIX}RESTARTS"
        )
    work(chunk, folder, paths)


class SubmititQueue:
    """A cluster, reached by sbatch, squeue and scancel.

    Args:
        options: What jobs ask for.
        folder: Of the store.
        work: What jobs do, importable by name.
    """

    def __init__(self, options: SlurmOptions, folder: Path, work: Work = fill) -> None:
        self.options, self.folder, self.work = options, folder, work
        beside = folder.with_name(f"{folder.name}-slurm")
        self.logs = (options.folder or beside).absolute()
        self._arrays: list[str] = []

    def submit(self, chunks: Sequence[Chunk]) -> list[Job]:
        """Submit an array for the chunks of each study.

        Args:
            chunks: Those of a study next to each other.

        Returns:
            Their jobs, in the same order.

        Raises:
            BackendError: Slurm refuses.
        """
        jobs: list[Job] = []
        for study, group in itertools.groupby(chunks, key=lambda c: c.study):
            same = list(group)
            for i in range(0, len(same), ARRAY):
                jobs += self._submit_array(study, same[i : i + ARRAY])
        return jobs

    def _submit_array(self, study: str, chunks: Sequence[Chunk]) -> list[Job]:
        import submitit

        paths = tuple(os.path.abspath(path) for path in sys.path)
        work = functools.partial(
            start, self.work, str(self.folder), paths, self.options.restarts
        )
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            # Timed out is ended: such a job comes back through `retries`, so that one
            # number bounds how often a chunk is tried, whatever goes wrong.
            executor = submitit.AutoExecutor(
                self.logs, cluster="slurm", slurm_max_num_timeout=0
            )
            executor.update_parameters(**self._parameters(study))
            jobs = executor.map_array(work, chunks)
        except ImportError as error:  # before 1.5.4 it asks setuptools for a module
            raise BackendError(f"{_SUBMITIT} ({error})") from error
        except (RuntimeError, OSError) as error:
            raise BackendError(
                f"Slurm did not accept the jobs of study {study!r} (partition "
                f"{self.options.partition or 'default'}): {error}"
            ) from error
        self._arrays.append(jobs[0].job_id.partition("_")[0])
        return [Job(j.job_id, (j.paths.stderr, j.paths.stdout)) for j in jobs]

    def _parameters(self, study: str) -> dict[str, Any]:
        options = self.options
        asked = str(options.gpus) != "0"
        gpus = {"gpus-per-node": str(options.gpus)} if asked else {}
        return {
            "name": "verify-" + re.sub(r"[^\w.-]+", "-", study),
            "timeout_min": options.minutes,
            "mem_gb": options.memory_gb,
            "cpus_per_task": options.cpus,
            "tasks_per_node": 1,
            "slurm_partition": options.partition,
            "slurm_array_parallelism": options.array_parallelism,
            # The warning before the time limit ends the job; it has nothing to save.
            "slurm_signal_delay_s": 1,
            # Since Slurm 22.05 a step does not inherit this from its job.
            "slurm_srun_args": [f"--cpus-per-task={options.cpus}"],
            "slurm_additional_parameters": {"requeue": True} | gpus | {**options.extra},
        }

    def listed(self) -> Mapping[str, str] | None:
        """Ask squeue for this user's jobs: it fails on an id that it has forgotten."""
        command = ["squeue", "--noheader", "--array", f"--user={os.getuid()}"]
        answer = _run([*command, "--format=%i|%r"])
        if answer is None:
            return None
        pairs = (line.strip().partition("|") for line in answer.splitlines())
        return {job: reason for job, _, reason in pairs}

    def cancel(self) -> None:
        """Cancel every array of this object."""
        if self._arrays:
            _run(["scancel", *self._arrays])


def _run(command: Sequence[str]) -> str | None:
    """Run a command of Slurm; what it printed, or None when it failed."""
    # SQUEUE_STATES and its like would hide jobs, which then seem to have ended.
    env = {k: v for k, v in os.environ.items() if not k.startswith("SQUEUE_")}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=60, env=env
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


class SlurmBackend:
    """Trains chunks in jobs of a Slurm cluster.

    Args:
        options: What the jobs ask for, and how they are watched.
        work: What a job does, importable by name.
    """

    name = "slurm"

    def __init__(self, options: SlurmOptions, work: Work = fill) -> None:
        self.options, self.work = options, work

    def train(self, chunks: Sequence[Chunk], store: Store, report: Report) -> None:
        """Submit the chunks, one array per study, and wait until all are stored.

        Args:
            chunks: What the store lacks.
            store: On a file system that the nodes share.
            report: Called with a chunk and 1.0 when it is stored.

        Raises:
            BackendError: There is no Slurm here, or a chunk's jobs failed.
        """
        if not chunks:
            return
        require_slurm()
        queue = SubmititQueue(self.options, store.folder, self.work)
        order = sorted(chunks, key=lambda c: (c.study, -c.bytes_needed))
        follow(order, store.has, queue, report, self.options)


def require_slurm() -> None:
    """Find out whether jobs can be submitted from here.

    Raises:
        BackendError: submitit or sbatch is missing.
    """
    if importlib.util.find_spec("submitit") is None:
        raise BackendError(_SUBMITIT)
    missing = [c for c in ("sbatch", "srun", "squeue", "scancel") if not _there(c)]
    if missing:
        raise BackendError(
            f"the Slurm back-end needs {missing[0]!r}, which is not on the PATH: start "
            "from a login node of the cluster, or use --backend processes --study-jobs "
            "N on this machine; the results are the same"
        )


def _there(command: str) -> bool:
    return shutil.which(command) is not None


@dataclass(frozen=True)
class _Try:
    chunk: Chunk
    job: Job
    number: int = 1
    missed: int = 0  # looks at the queue that did not show the job


def follow(
    chunks: Sequence[Chunk],
    has: Callable[[str], bool],
    queue: Queue,
    report: Report,
    options: SlurmOptions,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Submit chunks and wait until all are stored; cancel what is left on any error.

    Args:
        chunks: What to train.
        has: Whether the store has a key.
        queue: Where to submit.
        report: Called with a chunk and 1.0 when it is stored.
        options: How to watch.
        pause: Waits for some seconds.

    Raises:
        BackendError: A chunk's jobs ended without it, will never start, or the queue
            has stopped answering.
    """
    try:
        tries = _submitted(queue, [(chunk, 1) for chunk in chunks])
        silent = 0
        while tries:
            # The queue first: a job that ends in between has stored its chunk by then.
            listed = queue.listed()
            tries = _unfinished(tries, has, report)
            silent = 0 if listed is not None else silent + 1
            if tries and silent > SILENCE:
                raise BackendError(
                    f"squeue failed {silent} times in a row while {len(tries)} chunks "
                    "were in the queue; finished chunks are kept: start again when "
                    "Slurm answers"
                )
            if tries and listed is not None:
                tries = _looked_for(tries, listed, queue, options)
            if tries:
                pause(options.poll_seconds)
    except BaseException:
        queue.cancel()
        raise


def _submitted(queue: Queue, wanted: Sequence[tuple[Chunk, int]]) -> list[_Try]:
    jobs = queue.submit([chunk for chunk, _ in wanted])
    return [_Try(c, job, n) for (c, n), job in zip(wanted, jobs, strict=True)]


def _unfinished(
    tries: Sequence[_Try], has: Callable[[str], bool], report: Report
) -> list[_Try]:
    left = []
    for t in tries:
        if has(t.chunk.key):
            report(t.chunk, 1.0)
        else:
            left.append(t)
    return left


def _looked_for(
    tries: Sequence[_Try],
    listed: Mapping[str, str],
    queue: Queue,
    options: SlurmOptions,
) -> list[_Try]:
    """Count for how long jobs have been gone; submit anew, or give up."""
    looks = math.ceil(options.grace_seconds / options.poll_seconds)
    kept: list[_Try] = []
    lost: list[_Try] = []
    for t in tries:
        if t.job.id not in listed:
            missed = t.missed + 1
            (lost if missed > looks else kept).append(replace(t, missed=missed))
        elif listed[t.job.id] in _HOPELESS:
            raise BackendError(
                f"study {t.chunk.study!r}: job {t.job.id} will never start "
                f"({listed[t.job.id]}); ask for less, or choose another partition"
            )
        else:
            kept.append(replace(t, missed=0))
    for t in lost:
        if t.number > options.retries:
            raise BackendError(_obituary(t))
    if lost:
        kept += _submitted(queue, [(t.chunk, t.number + 1) for t in lost])
    return kept


def _obituary(last: _Try) -> str:
    chunk, job = last.chunk, last.job
    said = f"study {chunk.study!r}: chunk {chunk.key[:16]} of {chunk.runs} runs was "
    said += f"not stored by {last.number} jobs; the last was {job.id}. "
    for log in job.logs:
        with contextlib.suppress(OSError):
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            if lines:
                return f"{said}The end of {log}:\n" + "\n".join(lines[-TAIL:])
    return (
        f"{said}It wrote no log: do the nodes see {job.logs[0].parent}? A folder that "
        f"they share is named with {PREFIX}FOLDER, the store with --cache"
    )
