"""The garbage collector, told what is none.

It looks at every object again and again, and theorem modules are a million of them:
5 % of a run, half of what writing the report takes.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""New objects before a collection, and collections before those of older objects."""


def settle() -> None:
    """Leave out what is there by now, which stays until the process ends."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def paused() -> Generator[None, None, None]:
    """Collect nothing while much is made and all of it is kept.

    Yields:
        Nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
