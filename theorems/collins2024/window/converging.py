"""A recipe of ours that reaches the optimum: larger start, decaying rate, averages.

Adam on tied weights as in Appendix J, but from a window of the right order, and with a
rate that falls slowly enough to move and far enough to settle. What is read off is the
mean of M over many steps, since one task per step leaves every single M noisy.
"""

from __future__ import annotations

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


def pretrain(batch: Batch) -> Trajectory:
    """Train the runs of a batch, which share d, n and N.

    Configurations have ``task``, ``d``, ``n``, ``queries``, ``L`` and ``sigma``;
    options ``lr``, ``decay``, ``init``, ``steps``, ``every``: steps between snapshots,
    and ``stretch``: diagonal of Σ^{-1} as words, the covariates being Σ^{-1} u
    (Assumption 3.3); "1" for the sphere.

    With tasks ``w ~ Σ U_d`` the labels ``w·x`` are those of the sphere: only what the
    unit sees as covariates changes.
    """
    tasks = tuple(str(c["task"]) for c in batch.configurations)
    d = int(batch.common("d"))
    setting = Setting(tasks, "isotropic", d, batch.common("n"), batch.common("queries"))
    keys = keys_of(batch.seeds, *window.NAMES, device=batch.device)
    at = prompts(setting, keys, batch.tensor("L"), batch.tensor("sigma"))
    steps, dtype = batch.common("steps"), getattr(torch, batch.dtype)
    words = str(batch.common("stretch")).split()
    stretch = torch.tensor([float(word) for word in words], dtype=torch.float64)
    stretch = stretch.expand(d).to(batch.device)

    def prompt(step: int) -> Prompt:
        x, y, query, target = at(step)
        drawn = Prompt(x * stretch, y, query * stretch, target)
        return Prompt(*(part.to(dtype) for part in drawn))

    W = torch.eye(d, dtype=dtype, device=batch.device).mul_(batch.common("init"))
    rates = torch.full((len(tasks),), batch.common("lr"), dtype=dtype)
    return train(
        {"W": runs_first(W.unsqueeze(-1).repeat(1, 1, len(tasks)))},
        window.loss,
        prompt,
        Adam(rates.to(batch.device), decay=batch.common("decay")),
        steps,
        gradient=window.gradient,
        observe=diagonal,
        snapshots=range(0, steps + 1, batch.common("every")),
        progress=batch.progress,
    )


def diagonal(params: Params) -> Mapping[str, Tensor]:
    """Diagonal of M = WᵀW, ``(runs, d)``, and its largest other entry, ``(runs,)``."""
    W = params["W"]
    M = W.mT @ W
    entries = M.diagonal(dim1=-2, dim2=-1)
    return {
        "diagonal": entries.clone(),
        "largest_off_diagonal": (M - entries.diag_embed()).abs().amax(dim=(-2, -1)),
    }
