"""Pre-training on low-rank tasks, as Appendix J.1 describes it.

Adam on tied M_K = M_Q from 0.001 I, one fresh task with one query per step; softmax and
linear attention. At every snapshot both diagonal blocks of M are measured, and its
errors on held-out tasks: of M itself and, if asked for, of its part in col(B) alone.

Attention that sees Bᵀx instead of x is attention with Bᵀ M B in place of M, since
(P x)ᵀ M (P q) = xᵀ (P M P) q with P = B Bᵀ: its gradient is that at W P, times P.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from verify.train import window
from verify.train.icl import Prompt
from verify.train.layout import contract, runs_first, runs_last
from verify.train.loop import train
from verify.train.low_rank import (
    LowRankTasks,
    Setting,
    linear_gradient,
    linear_loss,
    structure,
)
from verify.train.optimisers import Adam

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from verify.runs import Batch
    from verify.train.loop import Trajectory
    from verify.train.optimisers import Params

BLOCK = 20  # held-out tasks evaluated at once: their tokens stay in a core's cache


def pretrain(batch: Batch) -> Trajectory:
    """Train the runs of a batch, which share the kind of attention.

    Configurations have ``attention``, ``task``, ``lr``, ``sees``: ``all`` or
    ``subspace``, and ``spurious``: ``c_v`` of product covariates. Options:
    ``covariates``, ``d``, ``k``, ``n``, ``sigma``, ``steps``, ``decay``, ``init``,
    ``every``: steps between snapshots, and ``tests``: held-out tasks.
    """
    names = tuple(str(c["task"]) for c in batch.configurations)
    d, k, n = (int(batch.common(name)) for name in ("d", "k", "n"))
    setting = Setting(names, batch.common("covariates"), d, k, n)
    tasks = LowRankTasks(
        setting, batch.seeds, batch.common("sigma"), batch.tensor("spurious"),
        batch.device,
    )  # fmt: skip
    steps, dtype = batch.common("steps"), getattr(torch, batch.dtype)
    at = tasks.prompts()
    W = torch.eye(d, dtype=dtype, device=batch.device).mul_(batch.common("init"))
    unit = _Unit(batch, tasks)
    return train(
        {"W": runs_first(W.unsqueeze(-1).repeat(1, 1, len(names)))},
        unit.loss,
        lambda step: Prompt(*(part.to(dtype) for part in at(step))),
        Adam(batch.tensor("lr"), decay=batch.common("decay")),
        steps,
        gradient=unit.gradient,
        observe=_Tests(batch, tasks, unit),
        snapshots=range(0, steps + 1, batch.common("every")),
        progress=batch.progress,
    )


class _Unit:
    """Softmax or linear attention on what each run sees of the covariates."""

    def __init__(self, batch: Batch, tasks: LowRankTasks) -> None:
        self.softmax = batch.common("attention") == "softmax"
        self._loss = window.loss if self.softmax else linear_loss
        self._gradient: Callable[[Params, Prompt], tuple[Tensor, Params]]
        self._gradient = window.gradient if self.softmax else linear_gradient
        sees = [c["sees"] == "subspace" for c in batch.configurations]
        narrow = torch.tensor(sees, device=batch.device)[:, None, None]
        B = tasks.frames.B
        full = torch.eye(len(B[0]), dtype=B.dtype, device=B.device)
        P = torch.where(narrow, B @ B.mT, full).to(getattr(torch, batch.dtype))
        self._P = runs_last(P) if any(sees) else None

    def seen(self, W: Tensor) -> Tensor:
        """W P, or W itself where all runs see everything."""
        if self._P is None:
            return W
        return runs_first(contract(runs_last(W)[:, :, None], self._P[None], 1))

    def loss(self, params: Params, prompt: Prompt) -> Tensor:
        """Squared error of every run."""
        return self._loss({"W": self.seen(params["W"])}, prompt)

    def gradient(self, params: Params, prompt: Prompt) -> tuple[Tensor, Params]:
        """The same with its gradient in W."""
        losses, grads = self._gradient({"W": self.seen(params["W"])}, prompt)
        return losses, {"W": self.seen(grads["W"])}


class _Tests:
    """Observes the blocks of M, and the error on one set of held-out tasks per run."""

    def __init__(self, batch: Batch, tasks: LowRankTasks, unit: _Unit) -> None:
        self.frames, self.unit = tasks.frames, unit
        self.projected = bool(batch.common("projected"))
        count = int(batch.common("tests"))
        starts = range(0, count, BLOCK)
        blocks = (range(start, min(start + BLOCK, count)) for start in starts)
        self.blocks = [
            # Runs last: (tasks, tokens, coordinates, runs).
            Prompt(*(runs_last(part) for part in tasks.draw(block, held_out=True)))
            for block in blocks
        ]

    def __call__(self, params: Params) -> Mapping[str, Tensor]:
        W = self.unit.seen(params["W"])
        seen = structure(W, self.frames) | {"error": self._error(W)}
        if self.projected:
            B = self.frames.B
            seen["error_projected"] = self._error(W @ B @ B.mT)
        return seen

    def _error(self, W: Tensor) -> Tensor:
        """Mean squared error, ``(runs,)``, of ``M = WᵀW``."""
        M = runs_last(W.mT @ W)
        total: Any = 0.0
        for x, y, query, target in self.blocks:
            u = contract(M[None], query[:, 0][:, None], 2)
            scores = contract(x, u[:, None], 2)
            weights = torch.softmax(scores, dim=1) if self.unit.softmax else scores
            error = contract(weights, y, 1) - target[:, 0]
            total = total + error.square().sum(dim=0)
        return total / sum(len(block.y) for block in self.blocks)
