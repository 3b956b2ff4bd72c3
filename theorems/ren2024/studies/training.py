"""Pre-training of modified layers, the variants of a seed on the same prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from theorems.ren2024.studies import model
from verify.train.determinism import per_run
from verify.train.layout import runs_first, runs_last
from verify.train.loop import Trajectory, train
from verify.train.optimisers import SGD, Params
from verify.train.tasks import (
    EXP,
    LINEAR,
    TRIG,
    Prompts,
    RegressionTask,
    draw_prompts,
    draw_tasks,
    prompt_stream,
)

if TYPE_CHECKING:
    from verify.runs import Batch

TASKS: dict[str, RegressionTask] = {task.name: task for task in (LINEAR, TRIG, EXP)}
SWITCHES = ("other", "per_token", "g_1", "g_2", "plus", "elu")
NUMBERS = ("skip", "diagonal", "scores", "norm", "beta", "k")


def pretrain(batch: Batch) -> Trajectory:
    """Train the runs of a batch: every variant with every seed, seeds fastest.

    Configurations have ``task``, ``kind`` (``plain`` or ``augmented``), ``lr`` and the
    fields of :class:`model.Variants`; options ``epoch`` (prompts per epoch), ``epochs``
    and ``held_out`` by task.
    """
    task = TASKS[batch.common("task")]
    seeds = list(dict.fromkeys(batch.seeds))
    if list(batch.seeds) != seeds * (len(batch.seeds) // len(seeds)):
        raise ValueError("a batch holds every variant with every seed, seeds fastest")
    rows = batch.configurations[:: len(seeds)]
    dtype = getattr(torch, batch.dtype)
    variants = model.Variants(
        **{n: torch.tensor([float(r[n]) for r in rows], dtype=dtype) for n in NUMBERS},
        **{n: torch.tensor([bool(r[n]) for r in rows]) for n in SWITCHES},
    )
    variants = model.Variants(**{
        n: x.to(batch.device) for n, x in vars(variants).items()
    })
    W = draw_tasks(task, seeds, batch.device).to(dtype)
    held_out = int(batch.options[f"{task.name} held out"])
    test = draw_prompts(task, W, seeds, 0, held_out, stream="held-out")
    spread = test.target.var(dim=1, correction=0).sum(dim=-1)
    steps = int(batch.options[f"{task.name} steps"])

    def errors(params: Params, X: Tensor, target: Tensor) -> Tensor:
        found = model.predict(params, X, variants).view(len(rows), *target.shape)
        return (found - target).square().mean(dim=-1)

    def loss(params: Params, prompts: Prompts) -> Tensor:
        return errors(params, prompts.X[:, None], prompts.target).view(-1)

    def observe(params: Params) -> dict[str, Tensor]:
        return {"nmse": (errors(params, test.X, test.target[..., 0]) / spread).view(-1)}

    def gradient(params: Params, prompts: Prompts) -> tuple[Tensor, Params]:
        return model.gradient(params, prompts.X, prompts.target[:, 0], variants)

    kind = batch.common("kind")
    return train(
        initial(kind, task.d, seeds, len(rows), dtype, batch.device),
        loss,
        prompt_stream(task, W, seeds),
        SGD(batch.tensor("lr").view(-1)),
        steps,
        gradient=gradient if kind == "plain" else None,
        observe=observe,
        snapshots=snapshots(steps),
        progress=batch.progress,
    )


def snapshots(steps: int) -> tuple[int, ...]:
    """When the held-out error is taken: every tenth of the steps."""
    return tuple(steps * i // 10 for i in range(11))


def initial(
    kind: str,
    d: int,
    seeds: list[int],
    variants: int,
    dtype: torch.dtype,
    device: torch.device | str,
) -> Params:
    """Parameters at the start, equal for all variants of a seed."""
    names = ["W_Q", "W_K", "W_V"]
    names += ["W_a", "W_b", "g_1"] if kind == "augmented" else []
    params = {
        name: per_run(draw, seeds, "init", name, device=device)
        for name, draw in model.draws(d, names).items()
    }
    if kind == "plain":
        params["v"] = params.pop("W_V")[:, -1]
    repeated = {
        name: w.to(dtype).repeat(variants, *(1,) * (w.ndim - 1))
        for name, w in params.items()
    }
    # Runs last in memory, as `model.gradient` computes.
    return {name: runs_first(runs_last(w)) for name, w in repeated.items()}
