"""A trainer of a few milliseconds that can be made to wait, or to fail.

What it waits for enters no result.
"""

import os
import time
from pathlib import Path

import torch

from verify.train.determinism import per_run
from verify.train.loop import Trajectory

STEPS = 20


def job_id():
    """The id of this process's job as squeue shows it; empty outside of Slurm."""
    array, task = map(os.environ.get, ("SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"))
    return f"{array}_{task}" if array else os.environ.get("SLURM_JOB_ID", "")


def train(batch):
    """Run STEPS steps of a random linear recurrence; note every start in a file.

    Options: ``starts``, a folder with a file of job ids for each batch; ``hold``, the
    width whose first batch waits when it is started first; ``fail``, whether to raise.
    """
    width = batch.common("width")
    starts = Path(batch.common("starts")) / f"{width}-{batch.seeds[0]}"
    first = not starts.exists()
    with starts.open("a") as file:
        file.write(f"{job_id()}\n")
    if first and batch.seeds[0] == 0 and batch.common("hold") == width:
        time.sleep(300)
    if batch.common("fail"):
        raise RuntimeError("this trainer fails on purpose")
    dtype = getattr(torch, batch.dtype)
    W = per_run(lambda g: torch.randn(width, width, generator=g), batch.seeds, "W")
    W = W.to(dtype) / width**0.5
    x = torch.ones(len(batch.seeds), width, 1, dtype=dtype)
    losses = []
    for _ in range(STEPS):
        x = torch.tanh(W @ x) * batch.tensor("rate").reshape(-1, 1, 1)
        losses.append(x.square().mean(dim=(1, 2)))
    return Trajectory(
        params={"x": x},
        steps=tuple(range(STEPS)),
        losses=torch.stack(losses),
        observed={"norm": torch.stack(losses).sqrt()},
        diverged_at=torch.full((len(batch.seeds),), -1),
    )
