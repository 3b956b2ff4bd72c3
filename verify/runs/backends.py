"""Back-ends: where chunks are trained. Results come through the store alone."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Protocol

from verify.runs.errors import BackendError
from verify.runs.store import Store
from verify.runs.study import Chunk
from verify.runs.work import fill, train_into

Report = Callable[[Chunk, float], None]

NAMES = ("auto", "local", "processes", "slurm")
POLL = 0.2  # seconds between looks at a chunk that another process trains


class Backend(Protocol):
    """Brings chunks into a store."""

    @property
    def name(self) -> str:
        """For people."""

    def train(self, chunks: Sequence[Chunk], store: Store, report: Report) -> None:
        """Return when every chunk is in the store.

        Args:
            chunks: What the store lacked a moment ago.
            store: Where the results go.
            report: Called with a chunk and the share of it that is done.

        Raises:
            BackendError: A chunk cannot be brought into the store.
        """


class InProcess:
    """Trains chunk after chunk in this process; others may share the work."""

    name = "local"

    def train(self, chunks: Sequence[Chunk], store: Store, report: Report) -> None:
        """Train every chunk that nobody else is training, then wait for the others."""
        elsewhere = [c for c in chunks if not self._train(c, store, report)]
        while elsewhere:
            time.sleep(POLL)
            # The holder of a lock may have been killed: whoever gets it trains.
            elsewhere = [c for c in elsewhere if not self._train(c, store, report)]

    def _train(self, chunk: Chunk, store: Store, report: Report) -> bool:
        with store.lock(chunk.key, wait=False) as held:
            if not held:
                return False
            if not store.has(chunk.key):

                def tick(done: int, steps: int) -> None:
                    report(chunk, done / steps)

                train_into(chunk, store, tick)
        report(chunk, 1.0)
        return True


def _end_with_parent() -> None:
    """Let a training process end when the process that started it was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Processes:
    """Trains chunks in processes of this machine.

    Args:
        jobs: Processes at once.
    """

    name = "processes"

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise BackendError(f"--study-jobs must be 1 or more, got {jobs}")
        self.jobs = jobs

    def train(self, chunks: Sequence[Chunk], store: Store, report: Report) -> None:
        """Train every chunk, largest first."""
        if not chunks:
            return
        order = sorted(chunks, key=lambda c: -c.bytes_needed)
        pool = ProcessPoolExecutor(
            min(self.jobs, len(chunks)),
            multiprocessing.get_context("spawn"),
            initializer=_end_with_parent,
        )
        try:
            paths = tuple(sys.path)
            waiting = {
                pool.submit(fill, chunk, str(store.folder), paths): chunk
                for chunk in order
            }
            for done in as_completed(waiting):
                done.result()
                report(waiting[done], 1.0)
        except BrokenProcessPool as error:
            raise BackendError(
                f"a training process of study {chunks[0].study!r} died (killed, or out "
                "of memory); finished chunks are kept: start again, with a smaller "
                "--study-jobs if memory was short"
            ) from error
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
