"""Pre-training of one softmax self-attention layer (ren2024, §5, Appendix E.1).

Choices where the text is silent:

1. Initial entries are ``N(0, 1/d)``, drawn per run.
2. Every step sees one fresh prompt ("at each step, we use generated" tokens); an
   epoch is ``steps_per_epoch`` of them.
3. The layer is the exact softmax, not its random-feature estimate.
4. Scores are scaled by ``1/√d`` as in Eq. (1); ``scale=1`` gives Eq. (7).

The keys are all tokens with the query, as in E.1's self-attention. Only the label
part of the last token's output is trained.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from verify.train.attention import product, softmax_attention
from verify.train.determinism import per_run
from verify.train.loop import Trajectory, train
from verify.train.optimisers import SGD, Optimiser, Params
from verify.train.tasks import (
    Prompts,
    RegressionTask,
    draw_prompts,
    draw_tasks,
    prompt_stream,
)

NAMES = ("W_Q", "W_K", "W_V")
# ren2024, E.1: learning rate of the normal model, prompts per epoch.
LEARNING_RATE = 0.003
STEPS_PER_EPOCH = 1024


def initial_attention(
    d: int, seeds: Sequence[int], device: torch.device | str = "cpu"
) -> Params:
    """Draw ``W_Q``, ``W_K``, ``W_V`` of every run with entries ``N(0, 1/d)``.

    Args:
        d: Size of a token.
        seeds: One integer per run.
        device: Where the parameters go.

    Returns:
        Three tensors ``(runs, d, d)``, float64.
    """

    def draw(g: torch.Generator) -> Tensor:
        return torch.randn(d, d, generator=g, dtype=torch.float64) / math.sqrt(d)

    return {name: per_run(draw, seeds, "init", name, device=device) for name in NAMES}


def attend(params: Params, X: Tensor, scale: float) -> Tensor:
    """Compute the layer's output for the last token, with all tokens as keys.

    Args:
        params: ``W_Q``, ``W_K``, ``W_V``, each ``(runs, d, d)``.
        X: Prompts, ``(runs, ..., d, tokens)``.
        scale: Factor of the scores.

    Returns:
        ``h'``, shape ``(runs, ..., d)``.
    """
    shape = (X.shape[0], *(1,) * (X.ndim - 3), X.shape[-2], X.shape[-2])
    W_Q, W_K, W_V = (params[name].view(shape) for name in NAMES)
    # W_V (X a) = (W_V X) a and Xᵀ (W_Kᵀ q) = (W_K X)ᵀ q: cheaper in this order.
    u = product(W_K.mT, product(W_Q, X[..., -1:]))
    return product(W_V, softmax_attention(X, X, u, scale)).squeeze(-1)


def pretrain_attention(
    task: RegressionTask,
    seeds: Sequence[int],
    *,
    epochs: int,
    optimiser: Optimiser | None = None,
    steps_per_epoch: int = STEPS_PER_EPOCH,
    scale: float | None = None,
    held_out: int = 512,
    snapshots: Iterable[int] | None = None,
    limit: float = math.inf,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Pre-train one attention layer per seed on its own task.

    Args:
        task: The family of tasks, such as ``LINEAR``.
        seeds: One integer per run; a run's result depends on no other.
        epochs: Passes of ``steps_per_epoch`` fresh prompts.
        optimiser: By default ``SGD(0.003)``, one prompt per step.
        steps_per_epoch: Prompts per epoch.
        scale: Factor of the scores, by default ``d ** -0.5``.
        held_out: Prompts of the held-out set, the same at every snapshot.
        snapshots: Steps before which to record; by default the start and the end.
        limit: Losses at or above it count as diverged.
        dtype: Of parameters and prompts; draws are made in float64.
        device: Where to train.
        progress: Called with the steps made and their number after each step.

    Returns:
        The record, ``observed["nmse"]`` being the held-out squared error over the
        variance of the held-out targets: 1 is as good as predicting their mean.
    """
    W = draw_tasks(task, seeds, device).to(dtype)
    start = initial_attention(task.d, seeds, device)
    factor = 1 / math.sqrt(task.d) if scale is None else scale
    test = draw_prompts(task, W, seeds, 0, held_out, stream="held-out")
    spread = test.target.var(dim=1, correction=0).sum(dim=-1)

    def loss(params: Params, prompts: Prompts) -> Tensor:
        return _squared_errors(params, prompts, factor).mean(dim=-1)

    def observe(params: Params) -> dict[str, Tensor]:
        errors = _squared_errors(params, test, factor)
        return {"nmse": errors.mean(dim=1).sum(dim=-1) / spread}

    return train(
        {name: p.to(dtype) for name, p in start.items()},
        loss,
        prompt_stream(task, W, seeds),
        SGD(LEARNING_RATE) if optimiser is None else optimiser,
        epochs * steps_per_epoch,
        observe=observe,
        snapshots=snapshots,
        limit=limit,
        progress=progress,
    )


def _squared_errors(params: Params, prompts: Prompts, scale: float) -> Tensor:
    predicted = attend(params, prompts.X, scale)[..., -prompts.target.shape[-1] :]
    return (predicted - prompts.target).square()
