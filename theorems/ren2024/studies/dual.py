"""Dual models trained at pre-trained weights, with the random features of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from theorems.ren2024.layers.floating import Arrays, rounding_bound
from theorems.ren2024.studies import designs, model
from theorems.ren2024.studies.steps import (
    LABELS,
    NO_BIAS,
    ONE_BY_ONE,
    TOGETHER,
    WRONG_LABELS,
    WRONG_START,
)
from theorems.ren2024.studies.training import TASKS
from verify.numerics import gamma
from verify.outcome import Figure, Series
from verify.profiles import Profile
from verify.runs import Runs
from verify.train.attention import kernel_attention, positive_random_features
from verify.train.determinism import deterministic, per_run
from verify.train.tasks import draw_prompts, draw_tasks

READING = "keys-with-query"
FEATURES = 100  # d_r = 100 (d_t + d_s), Section 5
HIDDEN = 4  # d_h over d of the feed-forward layer; the text has no number


@dataclass(frozen=True, eq=False)
class Layers:
    """Pre-trained layers with one fresh prompt each.

    Attributes:
        arrays: Values and features by name, leading axis runs.
        attention: ``h'`` by the same random features, ``(runs, d, 1)``.
        allowed: Bound on the rounding error, ``(runs,)``.
        seeds: One per run.
        discards: Runs not judged, by reason.
    """

    arrays: Arrays
    attention: Tensor
    allowed: Tensor
    seeds: list[int]
    discards: dict[str, int]


@dataclass(frozen=True, eq=False)
class Paths:
    """Distances of the dual model's prediction to the output of the layer.

    Attributes:
        distance: By recipe, ``(steps + 1, runs)``, from before the first step on.
        allowed: Bound on the rounding error, ``(runs,)``.
        size: Norm of the output, ``(runs,)``.
        n: Demonstrations.
        discards: Runs not judged, by reason.
        says: What was trained, in words.
    """

    distance: Mapping[str, np.ndarray]
    allowed: np.ndarray
    size: np.ndarray
    n: int
    discards: dict[str, int]
    says: str


def layers(
    task: str, profile: Profile, root_seed: int, device: str, runs: Runs
) -> Layers:
    """Pre-train the layer of a task, one run per seed, and show it a fresh prompt."""
    trained = runs.get(designs.normal(task, profile, root_seed, device)).where(
        name="normal"
    )
    kept = np.flatnonzero(trained.diverged_at < 0)
    kept = kept[: profile.pick(smoke=8, default=32, full=32)]
    seeds = [int(trained.seeds[i]) for i in kept]
    family = TASKS[task]
    with deterministic():
        tasks = draw_tasks(family, seeds)
        X = draw_prompts(family, tasks, seeds, 0, 1, stream="test").X[:, 0]
        # Rows of W_V that no loss reaches stay as they were drawn.
        W_V = per_run(model.draws(family.d, ["W_V"])["W_V"], seeds, "init", "W_V")
        W_V[:, -1] = torch.from_numpy(trained.params["v"][kept]).double()
        W_Q, W_K = (
            torch.from_numpy(trained.params[name][kept]).double()
            for name in ("W_Q", "W_K")
        )
        arrays = _features(X, W_Q, W_K, W_V, seeds)
        attention, allowed = _attention(arrays), rounding_bound(READING, arrays)
    # Weights on the way to divergence underflow features: 0 / 0 where all do, and a
    # first gradient that overflows where the normaliser is subnormal.
    largest = arrays["V_D"].abs().amax(dim=(-2, -1)) / (arrays["eta"] * _total(arrays))
    usable = attention.isfinite().all(dim=(-2, -1)) & allowed.isfinite()
    usable &= largest.isfinite()
    discards = {
        "diverged in pre-training": trained.diverged,
        "kernel values underflow": int((~usable).sum()),
    }
    return Layers(
        {name: x[usable] for name, x in arrays.items()},
        attention[usable],
        allowed[usable],
        [seed for seed, good in zip(seeds, usable.tolist(), strict=True) if good],
        {reason: count for reason, count in discards.items() if count},
    )


def _features(
    X: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, seeds: list[int]
) -> Arrays:
    """Values and positive random features; the last token is the query, T = 0."""
    d = X.shape[-2]

    def draw(g: torch.Generator) -> Tensor:
        return torch.randn(FEATURES * d, d, generator=g, dtype=torch.float64)

    directions = per_run(draw, seeds, "features")
    values, keys = W_V @ X, d**-0.25 * (W_K @ X)
    query = d**-0.25 * (W_Q @ X[..., -1:])
    phi = positive_random_features(keys, directions)
    eta = per_run(
        lambda g: 10 ** (-3 + 5 * torch.rand((), generator=g, dtype=torch.float64)),
        seeds,
        "eta",
    )
    return {
        "V_D": values[..., :-1], "V_T": values[..., :0], "v_q": values[..., -1:],
        "Phi_D": phi[..., :-1], "Phi_T": phi[..., :0], "phi_k": phi[..., -1:],
        "K_D": W_K @ X[..., :-1],
        "p": positive_random_features(query, directions), "eta": eta,
    }  # fmt: skip


def _joined(arrays: Arrays) -> tuple[Tensor, Tensor]:
    return (
        torch.cat([arrays["V_D"], arrays["v_q"]], dim=-1),
        torch.cat([arrays["Phi_D"], arrays["phi_k"]], dim=-1),
    )


def _total(arrays: Arrays) -> Tensor:
    """D, the sum of all kernel values, ``(runs,)``."""
    return (_joined(arrays)[1].mT @ arrays["p"]).sum(dim=(-2, -1))


def _attention(arrays: Arrays) -> Tensor:
    V, Phi = _joined(arrays)
    return kernel_attention(V, Phi, arrays["p"])


def descend(
    W: Tensor,
    labels: Tensor,
    arrays: Arrays,
    steps: int,
    predicted: Callable[[Tensor], Tensor],
    *,
    together: bool = False,
) -> np.ndarray:
    """Train ``Wφ`` on Eq. (9) by autograd and follow the distance of its prediction.

    Args:
        W: Initial weights, ``(runs, d_o, d_r)``.
        labels: ``(runs, d_o, N)``.
        arrays: Features, ``p`` and ``eta``.
        steps: Steps to make; samples are taken in turn.
        predicted: Maps the prediction ``Wφ(q)`` to its distance, ``(runs,)``.
        together: Whether each step uses all samples.

    Returns:
        Distances, ``(steps + 1, runs)``.
    """
    Phi, query, eta = arrays["Phi_D"], arrays["p"], arrays["eta"]
    D = _total(arrays)
    n = labels.shape[-1]
    found = [predicted(W @ query)]
    for step in range(steps):
        at = slice(None) if together else slice(step % n, step % n + 1)
        W = W.detach().requires_grad_()
        loss = -((labels[..., at] * (W @ Phi[..., at])).sum(dim=(-2, -1)) / (eta * D))
        (slope,) = torch.autograd.grad(loss.sum(), W)
        W = W.detach() - eta[:, None, None] * slope
        found.append(predicted(W @ query))
    return torch.stack(found).numpy()


def start(arrays: Arrays) -> Tensor:
    """``W_0 = V_T φ(K_T)ᵀ / D``, the query's own token being the only one in it."""
    D = _total(arrays)[:, None, None]
    return arrays["v_q"] @ arrays["phi_k"].mT / D


def attention_paths(layer: Layers, rounds: int = 2) -> Paths:
    """Train the dual models of attention: one sample per step, and all in each."""
    n = layer.arrays["V_D"].shape[-1]

    def distance(prediction: Tensor) -> Tensor:
        return (prediction - layer.attention).norm(dim=(-2, -1))

    W, labels = start(layer.arrays), layer.arrays["V_D"]
    with deterministic():
        found = {ONE_BY_ONE: descend(W, labels, layer.arrays, rounds * n + 1, distance)}
        if n < 100:  # steps on all samples cost n times as much
            found[TOGETHER] = descend(
                W, labels, layer.arrays, n + 1, distance, together=True
            )
    return _paths(layer, found, layer.attention, layer.allowed)


def _paths(
    layer: Layers, found: Mapping[str, np.ndarray], output: Tensor, allowed: Tensor
) -> Paths:
    d_r = layer.arrays["p"].shape[-2]
    return Paths(
        found,
        allowed.numpy(),
        output.norm(dim=(-2, -1)).numpy(),
        layer.arrays["V_D"].shape[-1],
        layer.discards,
        f"{len(layer.seeds)} pre-trained layers, one fresh prompt each, {d_r} random "
        "features, η from 1e-3 to 100",
    )


def transformer_paths(layer: Layers) -> Paths:
    """The dual models of a whole Transformer layer (Theorem B.1), and altered ones."""
    d = layer.attention.shape[-2]
    shapes = {
        "W_1": (HIDDEN * d, d), "b_1": (HIDDEN * d, 1),
        "W_2": (d, HIDDEN * d), "b_2": (d, 1),
    }  # fmt: skip
    W_1, b_1, W_2, b_2 = (
        per_run(_normal(*shape), layer.seeds, "init", name)
        for name, shape in shapes.items()
    )
    before = W_1 @ layer.attention + b_1
    active = (before >= 0).double()
    output = W_2 @ (before * active) + b_2
    W_F, b_F = W_2 @ (active * W_1), W_2 @ (active * b_1) + b_2
    arrays, n = layer.arrays, layer.arrays["V_D"].shape[-1]
    W_0, right = start(arrays), W_F @ arrays["V_D"]
    recipes = {
        LABELS: (W_F @ W_0, right, b_F),
        WRONG_LABELS: (W_F @ W_0, W_F @ arrays["K_D"], b_F),
        WRONG_START: (W_0, right, b_F),
        NO_BIAS: (W_F @ W_0, right, torch.zeros_like(b_F)),
    }
    with deterministic():
        found = {
            name: descend(W, labels, arrays, 2 * n + 1, _distance_with(bias, output))
            for name, (W, labels, bias) in recipes.items()
        }
    allowed = _transformer_bound(arrays, W_1, b_1, W_2, b_2)
    return _paths(layer, found, output, allowed)


def _distance_with(bias: Tensor, output: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda prediction: (prediction + bias - output).norm(dim=(-2, -1))


def _normal(*shape: int) -> Callable[[torch.Generator], Tensor]:
    return lambda g: (
        torch.randn(*shape, generator=g, dtype=torch.float64) / shape[1] ** 0.5
    )


def _transformer_bound(
    arrays: Arrays, W_1: Tensor, b_1: Tensor, W_2: Tensor, b_2: Tensor
) -> Tensor:
    """Bound the rounding errors of the layer's output and of its dual's prediction.

    Both are sums of products of entries of W_2, W_1, V and positive kernel weights, and
    of the biases; the longest path has fewer than 4 (n + d_r + d_h + d) + 40 roundings
    on both sides together, the normaliser among them, and absolute values bound what
    each is relative to. The activation pattern is one and the same on both sides.
    """
    V, Phi = _joined(arrays)
    weights = Phi.mT @ arrays["p"]
    weights = weights / weights.sum(dim=-2, keepdim=True)
    inner = W_1.abs() @ (V.abs() @ weights) + b_1.abs()
    size = (W_2.abs() @ inner + b_2.abs()).norm(dim=(-2, -1))
    paths = V.shape[-1] + Phi.shape[-2] + W_1.shape[-2] + W_1.shape[-1]
    return 2 * gamma(4 * paths + 40) * size


def figure(name: str, paths: Paths, recipe: str) -> Figure:
    """The left part of a figure: the distance during gradient descent."""
    relative = np.maximum(paths.distance[recipe] / paths.size, np.finfo(float).eps / 4)
    low, middle, high = np.quantile(relative, (0.05, 0.5, 0.95), axis=1).tolist()
    steps = list(range(len(relative)))
    return Figure(
        name=name,
        title="Distance of the dual model's prediction to the layer's output",
        x_label="steps of gradient descent",
        y_label="‖ŷ_test - h'‖ / ‖h'‖",
        series=(Series("median and 5-95 % of the runs", steps, middle, low, high),),
        y_log=True,
        marks={"N": float(paths.n)},
        caption=(
            f"One demonstration per step. After N = {paths.n} steps the distance is 0 "
            "to rounding (values below 5.6e-17 are drawn there), and only there."
        ),
    )
