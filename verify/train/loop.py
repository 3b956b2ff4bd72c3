"""The training loop: all runs in one program, and an honest record of each."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

import torch
from torch import Tensor

from verify.train.optimisers import Optimiser, Params, over_runs

Batch = TypeVar("Batch")
Observe = Callable[[Params], Mapping[str, Tensor]]


class Status(Enum):
    """How a run ended.

    FINISHED: every step was made. DIVERGED: a loss was NaN, infinite or not below
    the limit; the run was frozen at the parameters with that loss, and kept.
    """

    FINISHED = "finished"
    DIVERGED = "diverged"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The record of a training.

    Attributes:
        params: Final parameters, each ``(runs, ...)``.
        steps: The snapshots: steps made before each, strictly increasing.
        losses: ``(snapshots, runs)``, on the batch of the snapshot's own step, which
            has not been trained on before unless ``batches`` repeats itself.
        observed: What ``observe`` returned, stacked to ``(snapshots, runs, ...)``.
        diverged_at: ``(runs,)``, the step whose loss failed, −1 for finished runs.
    """

    params: Params
    steps: tuple[int, ...]
    losses: Tensor
    observed: dict[str, Tensor]
    diverged_at: Tensor

    @property
    def status(self) -> tuple[Status, ...]:
        """How each run ended."""
        ends = self.diverged_at.tolist()
        return tuple(Status.FINISHED if t < 0 else Status.DIVERGED for t in ends)


def log_spaced(steps: int, per_decade: int = 8) -> tuple[int, ...]:
    """Space snapshots logarithmically, with the start and the end among them.

    Args:
        steps: The last step, at least 0.
        per_decade: Snapshots per factor of ten.

    Returns:
        Strictly increasing steps from 0 to ``steps``.

    >>> log_spaced(100, per_decade=2)
    (0, 1, 3, 10, 32, 100)
    """
    count = math.ceil(per_decade * math.log10(steps)) if steps else 0
    inner = (round(10 ** (i / per_decade)) for i in range(count))
    return tuple(sorted({0, steps, *(t for t in inner if t < steps)}))


def train(
    params: Params,
    loss: Callable[[Params, Batch], Tensor],
    batches: Callable[[int], Batch],
    optimiser: Optimiser,
    steps: int,
    *,
    gradient: Callable[[Params, Batch], tuple[Tensor, Params]] | None = None,
    observe: Observe | None = None,
    snapshots: Iterable[int] | None = None,
    limit: float = math.inf,
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Train every run at once.

    The gradient is that of the sum of the losses over runs, so runs do not interact.
    A run whose loss is not below ``limit`` is frozen where it is; the others take
    the same steps as without it.

    Args:
        params: Initial parameters, each ``(runs, ...)``; left unchanged.
        loss: Maps parameters and a batch to losses ``(runs,)``.
        batches: Gives the batch of each step ``0..steps``, the last only evaluated.
        optimiser: The rule, such as ``SGD(0.003)``.
        steps: Steps to make.
        gradient: Maps parameters and a batch to losses ``(runs,)`` and the gradient
            of their sum, named and shaped as ``params``: the closed form of
            ``loss``, used in place of automatic differentiation.
        observe: Maps parameters to named observables, each ``(runs, ...)``.
        snapshots: Steps before which to record; by default the start and the end.
        limit: Losses at or above it count as diverged.
        progress: Called with the steps made and ``steps`` after each step.

    Returns:
        The record; runs keep their places.

    Raises:
        ValueError: If ``params`` is empty or its run axes differ, ``snapshots`` lie
            outside ``0..steps``, or ``loss`` or ``gradient`` returns other names or
            shapes than it should.
    """
    runs = _runs(params)
    at = _snapshots(snapshots, steps)
    snapshot = frozenset(at)
    params = {name: p.detach().clone() for name, p in params.items()}
    state = optimiser.init(params)
    alive = torch.ones(
        runs, dtype=torch.bool, device=next(iter(params.values())).device
    )
    survived = torch.zeros(runs, dtype=torch.int64, device=alive.device)
    kept: list[tuple[Tensor, Mapping[str, Tensor]]] = []
    for t in range(steps + 1):
        losses, grads = (
            _checked(gradient(params, batches(t)), params, runs)
            if gradient
            else _value_and_grad(params, loss, batches(t), runs)
        )
        alive = alive & (losses < limit)
        survived = survived + alive
        if t in snapshot:
            with torch.no_grad():
                kept.append((losses, observe(params) if observe else {}))
        if t < steps:
            moved, state = optimiser.step(params, grads, state, t)
            params = {
                name: torch.where(over_runs(alive, p), moved[name], p)
                for name, p in params.items()
            }
            if progress:
                progress(t + 1, steps)
    return _trajectory(params, at, kept, torch.where(alive, -1, survived))


def _trajectory(
    params: Params,
    steps: tuple[int, ...],
    kept: list[tuple[Tensor, Mapping[str, Tensor]]],
    diverged_at: Tensor,
) -> Trajectory:
    losses = torch.stack([losses for losses, _ in kept])
    observed = {k: torch.stack([seen[k] for _, seen in kept]) for k in kept[0][1]}
    return Trajectory(params, steps, losses, observed, diverged_at)


def _value_and_grad(
    params: Params, loss: Callable[[Params, Batch], Tensor], batch: Batch, runs: int
) -> tuple[Tensor, Params]:
    leaves = {name: p.detach().requires_grad_() for name, p in params.items()}
    losses = loss(leaves, batch)
    if losses.shape != (runs,):
        raise ValueError(
            f"`loss` must return one loss per run, ({runs},), got {tuple(losses.shape)}"
        )
    grads = torch.autograd.grad(losses.sum(), list(leaves.values()))
    return losses.detach(), dict(zip(leaves, grads, strict=True))


def _checked(
    result: tuple[Tensor, Params], params: Params, runs: int
) -> tuple[Tensor, Params]:
    losses, grads = result
    if losses.shape != (runs,):
        raise ValueError(
            f"`gradient` must return one loss per run, ({runs},), got "
            f"{tuple(losses.shape)}"
        )
    if grads.keys() != params.keys():
        raise ValueError(
            f"`gradient` must return gradients of {sorted(params)}, as `params`, got "
            f"{sorted(grads)}"
        )
    for name, p in params.items():
        if grads[name].shape != p.shape:
            raise ValueError(
                f"`gradient` must return {tuple(p.shape)} for {name!r}, as `params`, "
                f"got {tuple(grads[name].shape)}"
            )
    return losses, grads


def _runs(params: Params) -> int:
    counts = {name: p.shape[0] if p.ndim else 0 for name, p in params.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise ValueError(f"`params` must share a leading run axis >= 1, got {counts}")
    return next(iter(counts.values()))


def _snapshots(snapshots: Iterable[int] | None, steps: int) -> tuple[int, ...]:
    if steps < 0:
        raise ValueError(f"`steps` must be >= 0, got {steps}")
    at = tuple(sorted(set((0, steps) if snapshots is None else snapshots)))
    if not at or at[0] < 0 or at[-1] > steps:
        raise ValueError(f"`snapshots` must be steps within 0..{steps}, got {at}")
    return at
