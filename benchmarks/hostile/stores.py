"""Spoiled entries of the store of trained runs: never wrong numbers in silence.

Each case spoils the file of one entry and reads it. It may be gone (and is trained
again), or be what it was; any other numbers are a fault, and so is an exception that is
not documented. Housekeeping looks at the same files.
"""

import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hostile import mutate
from benchmarks.hostile.watch import Watch
from verify.runs.errors import RunsError
from verify.runs.housekeeping import collect, inventory
from verify.runs.store import Entry, Store
from verify.runs.study import canonical, key_of

MADE = {"study": "slopes", "runs": 3, "seconds": 1.5, "host": "here"}


class Stores:
    """Cases on one store.

    Args:
        folder: For the store.
        seed: Of the campaign.
    """

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder = folder
        self.seed = seed
        self.text = canonical({"format": 1, "trainer": "a:b", "seeds": [0, 1, 2]})
        self.key = key_of(self.text)
        rng = np.random.default_rng(seed)
        self.arrays = {
            "losses": rng.normal(size=(3, 4)),
            "steps": np.arange(4),
            "diverged_at": np.full(3, -1),
            "observed/slope": rng.normal(size=(3, 4, 2)).astype(np.float32),
        }

    def store(self, watch: Watch, number: int) -> None:
        """One spoiled entry through `get`, `inventory` and `collect`."""
        case = f"store {number}"
        rng = mutate.drawn(self.seed, "store", number)
        store = Store(self.folder / "cache")
        store.put(self.text, self.arrays, MADE)
        path = store.path(self.key)
        whole = path.read_bytes()
        path.write_bytes(_spoiled(rng, whole))
        watch.run(case, lambda: inventory(store), (RunsError,))
        entry = watch.run(case, lambda: store.get(self.key), (RunsError,))
        watch.refused += entry is None
        if entry is not None:
            watch.need(case, self._same(entry), "other numbers than were stored")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_spoiled(rng, whole))
        later = time.time() + 60
        watch.run(case, lambda: collect(store, older_than=later), (RunsError,))

    def _same(self, entry: Entry) -> bool:
        names = entry.arrays.keys() == self.arrays.keys()
        return entry.text == self.text and names and all(
            entry.arrays[k].dtype == a.dtype and np.array_equal(entry.arrays[k], a)
            for k, a in self.arrays.items()
        )  # fmt: skip


def _spoiled(rng: random.Random, data: bytes) -> bytes:
    """The bytes of an entry with its numbers, its header or its length changed."""
    size = int.from_bytes(data[:8], "little")
    head, body = data[8 : 8 + size], data[8 + size :]
    draw = rng.random()
    if draw < 0.3:
        return data[:8] + head + mutate.spoiled(rng, body)
    if draw < 0.5:
        return mutate.spoiled(rng, data)
    if draw < 0.6:
        return rng.choice((0, 1, 2**63, 2**64 - 1, size - 1, size + 1)).to_bytes(
            8, "little"
        ) + data[8:]  # fmt: skip
    header: Any = json.loads(head)
    if draw < 0.8:  # its notes, of which no digest tells
        made = mutate.value(rng) if rng.random() < 0.5 else mutate.changed(rng, MADE)
        header["__metadata__"]["made"] = rng.choice((
            json.dumps(made), "[" * 100_000, "NaN", "{", "[]", '{"runs": NaN}', "5",
        ))  # fmt: skip
    elif draw < 0.9:
        header["__metadata__"] = mutate.changed(rng, header["__metadata__"])
    else:
        header = mutate.changed(rng, header)
    new = mutate.dumped(header)
    return len(new).to_bytes(8, "little") + new + body
