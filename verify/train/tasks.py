"""The regression prompts of ren2024 (§5, Appendices E.1 and E.2).

A run has one fixed task ``s = f(W t)`` with ``W_ij ~ N(0, 1)``; the columns of a
prompt are tokens ``[t; s]``, and the label of the last one, the query, is masked
to 0. Prompts are drawn in blocks of ``BLOCK`` steps, each block of each run from a
generator of its own: a prompt depends on the run's seed, the stream's name and its
step, and on nothing else.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from verify.train.determinism import per_run

BLOCK = 64


@dataclass(frozen=True)
class RegressionTask:
    """A family of regression tasks and the shape of its prompts.

    Attributes:
        name: Name of the family; part of the seeds.
        link: Elementwise ``f``.
        d_t: Size of an input ``t``.
        low: Inputs are uniform on ``(low, high)``.
        high: See ``low``.
        tokens: Tokens of a prompt, ``N + 1`` with the query.
        d_s: Size of a label.
    """

    name: str
    link: Callable[[Tensor], Tensor]
    d_t: int
    low: float
    high: float
    tokens: int
    d_s: int = 1

    @property
    def d(self) -> int:
        """Size of a token."""
        return self.d_t + self.d_s


LINEAR = RegressionTask("linear", torch.clone, 11, -1.0, 1.0, 16)
TRIG = RegressionTask("trig", torch.cos, 7, 0.0, math.pi, 128)
EXP = RegressionTask("exp", torch.exp, 6, -1.0, 1.0, 512)


class Prompts(NamedTuple):
    """Prompts of all runs.

    Attributes:
        X: ``(runs, ..., d, tokens)``, columns are tokens, the query's label is 0.
        target: ``(runs, ..., d_s)``, the masked label.
    """

    X: Tensor
    target: Tensor


def draw_tasks(
    task: RegressionTask, seeds: Sequence[int], device: torch.device | str = "cpu"
) -> Tensor:
    """Draw the fixed task ``W`` of every run.

    Args:
        task: The family.
        seeds: One integer per run.
        device: Where the result goes.

    Returns:
        Shape ``(runs, d_s, d_t)``, float64.
    """

    def draw(g: torch.Generator) -> Tensor:
        return torch.randn(task.d_s, task.d_t, generator=g, dtype=torch.float64)

    return per_run(draw, seeds, task.name, "task", device=device)


def draw_prompts(
    task: RegressionTask,
    W: Tensor,
    seeds: Sequence[int],
    start: int,
    stop: int,
    *,
    stream: str = "train",
) -> Prompts:
    """Draw the prompts of steps ``start..stop-1`` of every run.

    Args:
        task: The family.
        W: The tasks, ``(runs, d_s, d_t)``; prompts go to their device and dtype.
        seeds: One integer per run, as for :func:`draw_tasks`.
        start: First step.
        stop: One past the last step.
        stream: Name of the stream, such as ``"train"`` or ``"held-out"``.

    Returns:
        ``X (runs, steps, d, tokens)`` and ``target (runs, steps, d_s)``.

    Raises:
        ValueError: If not ``0 <= start < stop``.
    """
    if not 0 <= start < stop:
        raise ValueError(f"`start` < `stop` must hold from 0 on, got {start}, {stop}")

    def draw(g: torch.Generator) -> Tensor:
        t = torch.empty(BLOCK, task.d_t, task.tokens, dtype=torch.float64)
        return t.uniform_(task.low, task.high, generator=g)

    first = start // BLOCK
    blocks = [
        per_run(draw, seeds, task.name, stream, b, device=W.device).to(W.dtype)
        for b in range(first, (stop - 1) // BLOCK + 1)
    ]
    t = torch.cat(blocks, dim=1) if len(blocks) > 1 else blocks[0]
    t = t[:, start - first * BLOCK : stop - first * BLOCK]
    s = task.link(W[:, None] @ t)
    target = s[..., -1].clone()
    s[..., -1] = 0
    return Prompts(torch.cat([t, s], dim=-2), target)


def prompt_stream(
    task: RegressionTask, W: Tensor, seeds: Sequence[int], *, stream: str = "train"
) -> Callable[[int], Prompts]:
    """Serve the prompts step by step, holding one block in memory.

    Args:
        task: The family.
        W: The tasks, ``(runs, d_s, d_t)``.
        seeds: One integer per run.
        stream: Name of the stream.

    Returns:
        A function from the step to ``X (runs, d, tokens)``, ``target (runs, d_s)``.
    """

    @lru_cache(maxsize=1)
    def block(b: int) -> Prompts:
        X, target = draw_prompts(
            task, W, seeds, b * BLOCK, (b + 1) * BLOCK, stream=stream
        )
        # Steps first, so that the prompts of one step are contiguous.
        return Prompts(X.transpose(0, 1).contiguous(), target.transpose(0, 1))

    def at(step: int) -> Prompts:
        X, target = block(step // BLOCK)
        return Prompts(X[step % BLOCK], target[step % BLOCK])

    return at
