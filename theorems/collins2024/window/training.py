"""Pre-training of the attention unit, as Appendix J describes it.

Adam on tied M_K = M_Q from 0.001 I, one fresh task per step, d = 5, learning rate
decayed by 0.999 per step, N query tokens per prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from verify.train import window
from verify.train.icl import Setting

if TYPE_CHECKING:
    from verify.runs import Batch
    from verify.train.loop import Trajectory


def pretrain(batch: Batch) -> Trajectory:
    """Train the runs of a batch, which share n and N.

    Configurations have ``task``, ``covariates``, ``n``, ``queries``, ``L``, ``sigma``
    and ``lr``; options ``d``, ``steps``, ``decay``, ``init``, and ``every``: steps
    between snapshots.
    """
    setting = Setting(
        tuple(str(c["task"]) for c in batch.configurations),
        tuple(str(c["covariates"]) for c in batch.configurations),
        batch.common("d"),
        batch.common("n"),
        batch.common("queries"),
    )
    steps = batch.common("steps")
    return window.pretrain(
        setting,
        batch.seeds,
        batch.tensor("L"),
        batch.tensor("sigma"),
        batch.tensor("lr"),
        steps=steps,
        decay=batch.common("decay"),
        init=batch.common("init"),
        snapshots=range(0, steps + 1, batch.common("every")),
        dtype=getattr(torch, batch.dtype),
        device=batch.device,
        progress=batch.progress,
    )
