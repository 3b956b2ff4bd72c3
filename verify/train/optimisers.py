"""Optimisers as pure functions on parameters with a leading run axis.

Parameters are ``dict[str, Tensor]``, every tensor ``(runs, ...)``. All rules act on
each run alone, so that a batch of runs equals the runs one by one. A learning rate
is a number for all runs or a tensor ``(runs,)``; at step ``t``, counted from 0, it
is multiplied by ``decay ** t``.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

Params = dict[str, Tensor]
State = Mapping[str, Params]


class Optimiser(Protocol):
    """What the training loop asks of an optimiser."""

    def init(self, params: Params) -> State:
        """Make the state before the first step."""

    def step(
        self, params: Params, grads: Params, state: State, t: int
    ) -> tuple[Params, State]:
        """Make step ``t``, counted from 0: return new parameters and state."""


def over_runs(per_run: Tensor, like: Tensor) -> Tensor:
    """Shape one value per run to broadcast against a parameter.

    Args:
        per_run: ``(runs,)``, or a scalar for all runs.
        like: ``(runs, ...)``.

    Returns:
        ``(runs, 1, ..., 1)`` with the number of axes of ``like``.
    """
    return per_run.view(-1, *(1,) * (like.ndim - 1))


@dataclass(frozen=True, eq=False)
class SGD:
    """Gradient descent: ``p ← p − lr (g + weight_decay p)``, as ``torch.optim.SGD``.

    Attributes:
        lr: Learning rate, a number or ``(runs,)``.
        decay: Factor of the learning rate per step, in ``(0, 1]``.
        weight_decay: Coefficient of the penalty ``‖p‖²/2``.

    Raises:
        ValueError: If an attribute is NaN, infinite, negative or out of its range.
    """

    lr: float | Tensor
    decay: float = 1.0
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        rates = torch.as_tensor(self.lr)
        if rates.ndim > 1 or not bool((rates.isfinite() & (rates >= 0)).all()):
            raise ValueError(
                f"`lr` must be a finite number >= 0 or such a (runs,), got {self.lr}"
            )
        _check("decay", self.decay, 0 < self.decay <= 1, "in (0, 1]")
        _check(
            "weight_decay", self.weight_decay, 0 <= self.weight_decay < math.inf, ">= 0"
        )

    def init(self, params: Params) -> State:
        """Make the state before the first step.

        Args:
            params: Parameters, each ``(runs, ...)``.

        Returns:
            What the rule remembers, each ``(runs, ...)``; empty without memory.
        """
        del params
        return {}

    def step(
        self, params: Params, grads: Params, state: State, t: int
    ) -> tuple[Params, State]:
        """Make one step for every run.

        Args:
            params: Parameters, each ``(runs, ...)``.
            grads: Gradients, as ``params``.
            state: What ``init`` or the last step returned.
            t: Steps made so far.

        Returns:
            New parameters and state; the arguments are left unchanged.
        """
        if self.weight_decay:
            grads = {
                name: torch.add(g, params[name], alpha=self.weight_decay)
                for name, g in grads.items()
            }
        directions, state = self._directions(grads, state, t)
        rate = self.lr * self.decay**t
        return {
            name: _descend(p, directions[name], rate) for name, p in params.items()
        }, state

    def _directions(self, grads: Params, state: State, t: int) -> tuple[Params, State]:
        del t
        return grads, state


@dataclass(frozen=True, eq=False)
class Momentum(SGD):
    """Heavy ball: ``v ← β v + g``, ``p ← p − lr v``, as ``torch.optim.SGD``.

    Attributes:
        beta: Weight ``β`` of the past, in ``[0, 1)``; the rest as in :class:`SGD`.
    """

    beta: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("beta", self.beta, 0 <= self.beta < 1, "in [0, 1)")

    def init(self, params: Params) -> State:  # ruff: ignore[undocumented-public-method]
        return {"velocity": _zeros(params)}

    def _directions(self, grads: Params, state: State, t: int) -> tuple[Params, State]:
        del t
        velocity = {
            name: torch.add(grads[name], v, alpha=self.beta)
            for name, v in state["velocity"].items()
        }
        return velocity, {"velocity": velocity}


@dataclass(frozen=True, eq=False)
class Adam(SGD):
    """Adam with bias correction (Kingma and Ba, 2015), as ``torch.optim.Adam``.

    Attributes:
        beta1: Weight of the past in the first moment, in ``[0, 1)``.
        beta2: Weight of the past in the second moment, in ``[0, 1)``.
        eps: Added to the root of the second moment; the rest as in :class:`SGD`.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        super().__post_init__()
        _check("beta1", self.beta1, 0 <= self.beta1 < 1, "in [0, 1)")
        _check("beta2", self.beta2, 0 <= self.beta2 < 1, "in [0, 1)")
        _check("eps", self.eps, 0 < self.eps < math.inf, "> 0")

    def init(self, params: Params) -> State:  # ruff: ignore[undocumented-public-method]
        return {"first": _zeros(params), "second": _zeros(params)}

    def _directions(self, grads: Params, state: State, t: int) -> tuple[Params, State]:
        first = {
            name: torch.lerp(m, grads[name], 1 - self.beta1)
            for name, m in state["first"].items()
        }
        second = {
            name: torch.addcmul(
                self.beta2 * v, grads[name], grads[name], value=1 - self.beta2
            )
            for name, v in state["second"].items()
        }
        bias1, bias2 = 1 - self.beta1 ** (t + 1), 1 - self.beta2 ** (t + 1)
        directions = {
            name: (m / bias1) / ((second[name] / bias2).sqrt() + self.eps)
            for name, m in first.items()
        }
        return directions, {"first": first, "second": second}


@dataclass(frozen=True, eq=False)
class NormalisedGD(SGD):
    """Normalised gradient descent: ``p ← p − lr g / ‖g‖`` (huang2024, Algorithm 1).

    ``‖g‖`` is the Euclidean norm over all parameters of one run, computed on the
    gradient over its largest entry, so that gradients near 1e-200 keep their
    direction. A run with zero gradient stays where it is. Attributes as in
    :class:`SGD`.
    """

    def _directions(self, grads: Params, state: State, t: int) -> tuple[Params, State]:
        del t
        flat = [g.reshape(len(g), -1) for g in grads.values()]
        joined = flat[0] if len(flat) == 1 else torch.cat(flat, dim=1)
        # Both norms of torch.linalg take 5 ns per number where the runs lie last.
        largest = joined.abs().amax(dim=1, keepdim=True)
        scaled = joined / largest.masked_fill(largest == 0, 1.0)
        # An entry of `scaled` is ±1, and so its norm at least 1, unless all are 0.
        norm = scaled.square().sum(dim=1, keepdim=True).sqrt().clamp_min(1.0)
        parts = torch.split(scaled / norm, [f.shape[1] for f in flat], dim=1)
        directions = {
            name: part.reshape(g.shape)
            for (name, g), part in zip(grads.items(), parts, strict=True)
        }
        return directions, state


def _descend(p: Tensor, direction: Tensor, rate: float | Tensor) -> Tensor:
    if isinstance(rate, Tensor):
        return torch.addcmul(p, over_runs(rate.to(p), p), direction, value=-1)
    return torch.add(p, direction, alpha=-rate)


def _zeros(params: Params) -> Params:
    return {name: torch.zeros_like(p) for name, p in params.items()}


def _check(name: str, value: float, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"`{name}` must be {allowed} and finite, got {value}")
