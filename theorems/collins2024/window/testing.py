"""Pre-training with test errors on other classes of tasks: the recipe of Figure 5."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from verify.train import window
from verify.train.icl import Prompt, Setting, prompts
from verify.train.layout import runs_first
from verify.train.loop import train
from verify.train.optimisers import Adam
from verify.train.random import keys_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from verify.runs import Batch
    from verify.train.loop import Trajectory
    from verify.train.optimisers import Params

TESTS = ("affine", "relu", "cosine")  # with Lipschitzness 1
TASKS = 5  # of each class at every test: the caption of Figure 5


def pretrain(batch: Batch) -> Trajectory:
    """Train as in Figures 3 and 4, and test at every snapshot on fresh held-out tasks.

    Configurations have ``task``, ``L``, ``sigma``, ``n``, ``queries`` and ``lr``;
    options ``d``, ``steps``, ``decay``, ``init``, and ``every``: steps between tests.
    Observed: ``trace_over_d``, ``largest_off_diagonal``, and ``error_affine``,
    ``error_relu``, ``error_cosine``: mean squared error over five tasks.
    """
    d, n, queries = (batch.common(name) for name in ("d", "n", "queries"))
    tasks = tuple(str(c["task"]) for c in batch.configurations)
    setting = Setting(tasks, "isotropic", d, n, queries)
    keys = keys_of(batch.seeds, *window.NAMES, device=batch.device)
    at = prompts(setting, keys, batch.tensor("L"), batch.tensor("sigma"))
    steps, dtype = batch.common("steps"), getattr(torch, batch.dtype)
    W = torch.eye(d, dtype=dtype, device=batch.device).mul_(batch.common("init"))
    return train(
        {"W": runs_first(W.unsqueeze(-1).repeat(1, 1, len(tasks)))},
        window.loss,
        lambda step: Prompt(*(part.to(dtype) for part in at(step))),
        Adam(batch.tensor("lr"), decay=batch.common("decay")),
        steps,
        gradient=window.gradient,
        observe=_Tests(batch, keys, dtype),
        snapshots=range(0, steps + 1, batch.common("every")),
        progress=batch.progress,
    )


class _Tests:
    """Observes M and its errors; each call draws the next tasks of held-out streams."""

    def __init__(self, batch: Batch, keys: Tensor, dtype: torch.dtype) -> None:
        sizes = (batch.common(name) for name in ("d", "n", "queries"))
        d, n, queries = sizes
        self.dtype, self.steps = dtype, itertools.count()
        one, sigma = torch.ones_like(batch.tensor("L")), batch.tensor("sigma")
        self.at = {
            test: prompts(
                Setting(test, "isotropic", d, n, queries),
                keys, one, sigma, held_out=True,
            )
            for test in TESTS
        }  # fmt: skip

    def __call__(self, params: Params) -> Mapping[str, Tensor]:
        number = next(self.steps)
        seen = window.observables(params)
        del seen["spectral_norm"]
        for test, at in self.at.items():
            errors = [
                window.loss(params, Prompt(*(p.to(self.dtype) for p in at(step))))
                for step in range(number * TASKS, (number + 1) * TASKS)
            ]
            seen[f"error_{test}"] = torch.stack(errors).mean(dim=0)
        return seen
