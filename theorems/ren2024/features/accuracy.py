"""How accurate random features are in an attention layer: Figures 6 to 9.

The layer is self-attention on prompts of 16 tokens. Estimates of its 16 x 16 matrix
and of its output are compared with exact softmax, for several numbers of features,
averaged over repeated draws of the directions (50 in E.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from theorems.ren2024.features.training import FEATURES, SCALE
from verify import Figure, Series
from verify.train.attention import gram_features
from verify.train.determinism import deterministic, generator
from verify.train.optimisers import Params
from verify.train.pretrain import initial_attention, pretrain_attention
from verify.train.seeds import seed_of
from verify.train.tasks import LINEAR, draw_prompts, draw_tasks

Floats = NDArray[np.float64]

GRID = (12, 40, 120, 400, FEATURES)
BLOCK = 8  # runs at a time, so that their features stay in the cache
PROMPTS = 5  # of each run; errors and sizes are averaged over them
METRICS = ("attention MSE", "attention MAE", "output MSE", "output MAE")


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Errors of random features in trained layers, one row per run.

    Attributes:
        relative: By metric, errors over the mean square or absolute value of the exact
            entries, ``(runs, len(GRID))``.
        uniform: By metric, errors over that of uniform attention, of the same shape.
        large: Absolute error with 1200 features of each query's largest weight,
            ``(runs,)``.
        others: The same of its other weights.
        norms: ``‖k + q‖²`` of all pairs, ``(runs, prompts, n, n)``.
        exact: Largest error of attention through Gram features, ``(runs,)``.
        says: What the layers are, in words.
    """

    relative: dict[str, Floats]
    uniform: dict[str, Floats]
    large: Floats
    others: Floats
    norms: Floats
    exact: Floats
    says: str


def initial(runs: int, repeats: int, seed: int) -> Accuracy:
    """Errors at initial weights, entries N(0, 1/d).

    Args:
        runs: Seeds.
        repeats: Draws of the directions, averaged over.
        seed: Root.

    Returns:
        The errors.
    """
    seeds = _seeds(runs, seed)
    params = initial_attention(LINEAR.d, seeds)
    return measure(params, seeds, repeats, f"{runs} seeds, weights N(0, 1/12)")


def trained(
    runs: int,
    steps: int,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], object] | None = None,
) -> Accuracy:
    """Errors after pre-training on the linear task with exact softmax.

    Args:
        runs: Seeds.
        steps: Of SGD, one prompt each.
        repeats: Draws of the directions, averaged over.
        seed: Root.
        progress: Called with steps done and their number.

    Returns:
        The errors.
    """
    seeds = _seeds(runs, seed)
    with deterministic():
        record = pretrain_attention(
            LINEAR, seeds, epochs=1, steps_per_epoch=steps, progress=progress
        )
    before, after = (float(x.median()) for x in record.observed["nmse"][[0, -1]])
    return measure(
        record.params,
        seeds,
        repeats,
        f"{runs} seeds, {steps} steps with exact softmax; median held-out error "
        f"{before:.2g} before, {after:.2g} after, in units of the label's variance",
    )


def trained_through_features(
    runs: int,
    steps: int,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], object] | None = None,
) -> Accuracy:
    """Errors after pre-training through 1200 random features.

    Args:
        runs: Seeds.
        steps: Of SGD, one prompt each.
        repeats: Draws of the directions, averaged over.
        seed: Root.
        progress: Called with steps done and their number.

    Returns:
        The errors.
    """
    from theorems.ren2024.features.training import pretrain_through_features

    seeds = _seeds(runs, seed)
    with deterministic():
        record = pretrain_through_features(seeds, steps, progress)
    says = f"{runs} seeds, {steps} steps through {FEATURES} random features"
    params = {name: p.double() for name, p in record.params.items()}
    return measure(params, seeds, repeats, says)


def _seeds(runs: int, seed: int) -> list[int]:
    return [seed_of(seed, "run", run) for run in range(runs)]


def measure(params: Params, seeds: Sequence[int], repeats: int, says: str) -> Accuracy:
    """Measure errors on fresh prompts of each run.

    Args:
        params: ``W_Q, W_K, W_V``, each ``(runs, d, d)``, float64.
        seeds: One per run.
        repeats: Draws of the directions, averaged over.
        says: What the layers are.

    Returns:
        The errors; runs with weights that are not finite have NaN.
    """
    with deterministic():
        tasks = draw_tasks(LINEAR, seeds)
        X = draw_prompts(LINEAR, tasks, seeds, 0, PROMPTS, stream="test").X
        W_Q, W_K, W_V = (params[name][:, None] for name in ("W_Q", "W_K", "W_V"))
        K, Q, V = SCALE * W_K @ X, SCALE * W_Q @ X, W_V @ X
        draws = generator(seed_of(seeds[0], "features", repeats))
        blocks = [slice(i, i + BLOCK) for i in range(0, len(seeds), BLOCK)]
        parts = [_block(K[b], Q[b], V[b], repeats, draws, says) for b in blocks]
    return Accuracy(
        _joined([part.relative for part in parts]),
        _joined([part.uniform for part in parts]),
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("large", "others", "norms", "exact")
        ),
        says=says,
    )


def _joined(parts: Sequence[dict[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def _block(
    K: Tensor, Q: Tensor, V: Tensor, repeats: int, draws: Any, says: str
) -> Accuracy:
    exact = torch.softmax(K.mT @ Q, dim=-2)
    columns = [_averaged(K, Q, V, exact, m, repeats, draws) for m in GRID]
    errors = torch.stack([found for found, _ in columns])  # grid, 4, runs, prompts
    size = _errors(torch.zeros_like(exact), V, exact)
    flat = _errors(torch.full_like(exact, 1 / exact.shape[-2]), V, exact)
    large, others = columns[-1][1]
    return Accuracy(
        _by_metric(errors, size),
        _by_metric(errors, flat),
        large.numpy(),
        others.numpy(),
        (K.unsqueeze(-1) + Q.unsqueeze(-2)).square().sum(dim=-3).numpy(),
        exact_features(K, Q, exact).numpy(),
        says,
    )


def _by_metric(errors: Tensor, unit: Tensor) -> dict[str, Floats]:
    means = (errors.mean(dim=-1) / unit.mean(dim=-1)).permute(1, 2, 0)  # 4, runs, grid
    return {name: means[i].numpy() for i, name in enumerate(METRICS)}


def _errors(estimate: Tensor, V: Tensor, exact: Tensor) -> Tensor:
    """The four metrics, ``(4, runs, prompts)``."""
    error = estimate - exact
    output = V @ error
    return torch.stack([
        f(e).mean(dim=(-2, -1)) for e in (error, output) for f in (torch.square, abs)
    ])


def _averaged(
    K: Tensor, Q: Tensor, V: Tensor, exact: Tensor, m: int, repeats: int, draws: Any
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    total = torch.zeros(4, *K.shape[:2], dtype=K.dtype)
    entries = torch.zeros_like(exact)
    for _ in range(repeats):
        w = torch.randn(*K.shape[:2], m, K.shape[-2], generator=draws, dtype=K.dtype)
        estimate = estimated(K, Q, w)
        total += _errors(estimate, V, exact)
        entries += (estimate - exact).abs()
    entries /= repeats
    top = exact.argmax(dim=-2, keepdim=True)
    large = entries.gather(-2, top).mean(dim=(-3, -2, -1))
    n = exact.shape[-2]
    others = (n * entries.mean(dim=(-3, -2, -1)) - large) / (n - 1)
    return total / repeats, (large, others)


def estimated(K: Tensor, Q: Tensor, w: Tensor) -> Tensor:
    """The attention matrix through random features; columns are queries.

    Args:
        K: Keys, ``(..., d, n)``.
        Q: Queries, ``(..., d, n)``.
        w: Directions, ``(..., d_r, d)``.

    Returns:
        ``(..., n, n)``, columns sum to 1. One shift for all keys and one for each
        query cancel, so that large norms do not underflow.
    """
    keys = w @ K - K.square().sum(dim=-2, keepdim=True) / 2
    keys -= keys.amax(dim=(-2, -1), keepdim=True)
    queries = w @ Q
    queries -= queries.amax(dim=-2, keepdim=True)
    kernel = keys.exp_().mT @ queries.exp_()
    return kernel / kernel.sum(dim=-2, keepdim=True)


def exact_features(K: Tensor, Q: Tensor, exact: Tensor) -> Tensor:
    """Largest error of attention through n + 1 Gram features, for each query in turn.

    Args:
        K: Keys, ``(runs, prompts, d, n)``.
        Q: Queries, of the same shape.
        exact: Softmax attention, ``(runs, prompts, n, n)``.

    Returns:
        ``(runs,)``.
    """
    n = K.shape[-1]
    points = torch.cat(
        [K.unsqueeze(2).expand(-1, -1, n, -1, -1), Q.mT.unsqueeze(-1)], dim=-1
    )
    phi = gram_features(points, strict=False).features
    kernel = (phi[..., :-1].mT @ phi[..., -1:]).squeeze(-1)
    weights = kernel / kernel.sum(dim=-1, keepdim=True)
    return (weights.mT - exact).abs().amax(dim=(-3, -2, -1))


def figure(found: dict[str, Accuracy], metrics: Sequence[str], name: str) -> Figure:
    """Relative errors over the number of features: medians and 5-95 % of the runs.

    Args:
        found: Errors by name of the weights.
        metrics: Which to draw.
        name: Of the figure.

    Returns:
        The figure as data.
    """
    series = []
    for weights, accuracy in found.items():
        for metric in metrics:
            errors = accuracy.relative[metric]
            low, middle, high = np.quantile(errors, (0.05, 0.5, 0.95), axis=0)
            series.append(
                Series(
                    f"{metric}, {weights}",
                    list(GRID),
                    middle.tolist(),
                    low.tolist(),
                    high.tolist(),
                )
            )
    return Figure(
        name=name,
        title="Error of random features in attention",
        x_label="number of features d_r",
        y_label="error over size of the exact entries",
        series=tuple(series),
        x_log=True,
        y_log=True,
        caption="Medians and 5-95 % of the runs, each averaged over repeated draws.",
    )
