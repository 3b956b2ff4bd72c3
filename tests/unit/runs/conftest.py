"""A package with a tiny trainer, made anew for each test, and studies of it."""

import importlib
import itertools
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from verify.runs import Runs, Store, Study

TRAINER = '''
"""A trainer of parabolas."""

import os
import time

import torch

from {package} import losses
from verify.train.loop import train
from verify.train.optimisers import SGD


def parabolas(batch):
    """Descend on (x - target)^2 from a start that depends on the seed."""
    with open(os.path.join(os.path.dirname(__file__), "log"), "a") as log:
        log.write("trained\\n")
    seeds = torch.tensor(batch.seeds, dtype=torch.float64)
    start = (seeds / 7)[:, None].repeat(1, batch.common("size"))
    target = batch.tensor("target")
    return train(
        {{"x": start.to(target)}},
        lambda params, _: losses.squares(params["x"], target),
        lambda t: time.sleep(batch.options.get("pause", 0.0)),
        SGD(batch.tensor("lr")),
        batch.options["steps"],
        observe=lambda params: {{"first": params["x"][:, 0], "all": params["x"]}},
        limit=1e6,
        progress=batch.progress,
    )


def no_record(batch):
    return 5


def too_few(batch):
    return train({{"x": torch.zeros(1, 1)}}, lambda p, _: p["x"].sum(1), lambda t: None,
                 SGD(0.1), 1)


def dies(batch):
    os.kill(os.getpid(), 9)


def too_large(batch):
    torch.empty(1 << 60, dtype=torch.uint8)


def too_large_for_python(batch):
    raise MemoryError


def too_large_for_a_gpu(batch):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


def wrong(batch):
    raise RuntimeError("CUDA error: unspecified launch failure")
'''

LOSSES = """
def squares(x, target):
    return (x - target[:, None]).square().sum(dim=1)
"""

NUMBERS = itertools.count()


@dataclass
class Lab:
    """A package on sys.path, a store, and what was trained."""

    root: Path
    package: str
    store: Store

    def study(self, *, trainer="parabolas", **changes):
        given = {
            "name": "toy/parabolas",
            "trainer": f"{self.package}.work:{trainer}",
            "configurations": [
                {"target": t, "lr": lr, "size": size}
                for size in (2, 3)
                for t in (0.0, 1.0)
                for lr in (0.1, 2.0)
            ],
            "seeds": [11, 12, 13],
            "options": {"steps": 20},
            "same": ("size",),
            "chunk": 5,
        }
        return Study(**(given | changes))

    def runs(self, backend=None, **more):
        return Runs(self.store, **({"backend": backend} if backend else {}), **more)

    @property
    def trained(self):
        log = self.root / self.package / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def write(self, name, text):
        path = self.root / self.package / name
        path.write_text(textwrap.dedent(text).format(package=self.package))


@pytest.fixture
def lab(tmp_path, monkeypatch):
    package = f"toy_lab_{next(NUMBERS)}_{id(tmp_path)}"
    (tmp_path / package).mkdir()
    made = Lab(tmp_path, package, Store(tmp_path / "cache"))
    made.write("__init__.py", '"""A laboratory."""\n')
    made.write("work.py", TRAINER)
    made.write("losses.py", LOSSES)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield made
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        del sys.modules[name]
