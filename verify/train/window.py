"""The attention unit with tied weights on in-context regression.

``M = WᵀW``, and the prediction at a query ``q`` is ``Σ_i y_i softmax_i(x_iᵀ M q)``:
the larger ``M``, the narrower the window of tokens it averages. :func:`loss` is
literal; :func:`gradient` is its closed form in elementwise arithmetic along the run
axis, many times cheaper than batched products of matrices this small.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from verify.train.icl import Prompt, Setting, prompts
from verify.train.layout import contract, runs_first
from verify.train.loop import Trajectory, train
from verify.train.optimisers import Adam, Params
from verify.train.random import keys_of

# collins2024, Appendix J: W starts at 0.001 I.
INIT = 0.001
NAMES = ("in-context regression",)


def predict(M: Tensor, prompt: Prompt) -> Tensor:
    """Predict the label at every query.

    Args:
        M: ``(runs, d, d)``.
        prompt: The prompts.

    Returns:
        Shape ``(runs, queries)``.
    """
    scores = prompt.query @ M.mT @ prompt.x.mT
    return (torch.softmax(scores, dim=-1) @ prompt.y[..., None]).squeeze(-1)


def loss(params: Params, prompt: Prompt) -> Tensor:
    """Average the squared errors over the queries of every run.

    Args:
        params: ``W``, ``(runs, d, d)``.
        prompt: The prompts.

    Returns:
        Shape ``(runs,)``.
    """
    W = params["W"]
    return (predict(W.mT @ W, prompt) - prompt.target).square().mean(dim=-1)


def gradient(params: Params, prompt: Prompt) -> tuple[Tensor, Params]:
    """Compute :func:`loss` and its gradient in closed form.

    With scores ``S = Q M Xᵀ``, weights ``P = softmax(S)`` and the residual
    ``r = 2 (P y − f) / N``: ``dS = P ∘ (y − P y) ∘ r``, ``dM = Qᵀ dS X`` and
    ``dW = W (dM + dMᵀ)``.

    Args:
        params: ``W``, ``(runs, d, d)``.
        prompt: The prompts.

    Returns:
        Losses ``(runs,)`` and the gradient in ``W``, ``(runs, d, d)``.
    """
    # Axes from here on: query, token or coordinate, run.
    x, y, query, target = (part.movedim(0, -1) for part in prompt)
    W = params["W"].movedim(0, -1)
    M = contract(W.unsqueeze(2), W.unsqueeze(1), 0)
    u = contract(query.unsqueeze(2), M.unsqueeze(0), 1)
    S = contract(u.unsqueeze(1), x.unsqueeze(0), 2)
    # P times its row sums: `torch.softmax` over an inner axis takes 1.7 times longer.
    weights = S.sub_(S.amax(dim=1, keepdim=True)).exp_()
    total = weights.sum(dim=1)
    error = (weights * y).sum(dim=1).div_(total)
    centred = y - error.unsqueeze(1)
    error -= target
    residual = error.mul(2 / len(error)).div_(total)
    dS = weights.mul_(centred).mul_(residual.unsqueeze(1))
    # One coordinate at a time: its products for all tokens stay in cache.
    dQ = torch.stack([(dS * column).sum(dim=1) for column in x.unbind(1)])
    dM = contract(query.unsqueeze(2), dQ.transpose(0, 1).unsqueeze(1), 0)
    dW = contract(W.unsqueeze(2), (dM + dM.transpose(0, 1)).unsqueeze(0), 1)
    return error.square().mean(dim=0), {"W": runs_first(dW)}


def observables(params: Params) -> dict[str, Tensor]:
    """Summarise ``M = WᵀW`` of every run; NaN where it is not finite.

    Args:
        params: ``W``, ``(runs, d, d)``.

    Returns:
        ``spectral_norm``, the largest eigenvalue; ``trace_over_d``, the mean
        eigenvalue; ``largest_off_diagonal``, in absolute value; each ``(runs,)``.
    """
    W = params["W"].contiguous()
    M = W.mT @ W
    # LAPACK refuses a batch for one entry that is not finite.
    M = M.where(M.isfinite().all(dim=(-2, -1), keepdim=True), math.nan)
    broken = M[:, 0, 0].isnan()
    eigenvalues = torch.linalg.eigvalsh(M.nan_to_num(nan=0.0))
    diagonal = M.diagonal(dim1=-2, dim2=-1)
    return {
        "spectral_norm": eigenvalues[:, -1].masked_fill(broken, math.nan),
        "trace_over_d": diagonal.mean(dim=-1),
        "largest_off_diagonal": (M - diagonal.diag_embed()).abs().amax(dim=(-2, -1)),
    }


def pretrain(
    setting: Setting,
    seeds: Sequence[int],
    lipschitz: Tensor,
    noise: Tensor,
    learning_rate: Tensor,
    *,
    steps: int,
    decay: float = 1.0,
    init: float = INIT,
    snapshots: Iterable[int] | None = None,
    limit: float = math.inf,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Train one attention unit per run with Adam, one fresh prompt per step.

    Args:
        setting: What the runs have in common.
        seeds: One integer per run; runs of equal seeds see paired prompts.
        lipschitz: ``L``, ``(runs,)``, float64.
        noise: ``σ``, ``(runs,)``, float64.
        learning_rate: Of Adam at the first step, ``(runs,)``.
        steps: Steps to make.
        decay: Factor of the learning rate per step, in ``(0, 1]``.
        init: ``W`` starts at ``init`` times the identity.
        snapshots: Steps before which to record; by default the start and the end.
        limit: Losses at or above it count as diverged.
        dtype: Of parameters and prompts; draws are made in float64.
        device: Where to draw and to train.
        progress: Called with the steps made and their number after each step.

    Returns:
        The record, with ``W`` as parameter and :func:`observables` as observed.

    Raises:
        ValueError: If ``learning_rate`` has another shape, or ``init`` is 0, where
            the gradient vanishes, or not finite.
    """
    if learning_rate.shape != (len(seeds),):
        raise ValueError(
            f"`learning_rate` must be ({len(seeds)},), one number per seed, got "
            f"{tuple(learning_rate.shape)}"
        )
    if not 0 < abs(init) < math.inf:
        raise ValueError(
            f"`init` must be finite and not 0, where no gradient leads on, got {init}"
        )
    at = prompts(setting, keys_of(seeds, *NAMES, device=device), lipschitz, noise)
    W = torch.eye(setting.d, dtype=dtype, device=device).mul_(init)
    return train(
        {"W": runs_first(W.unsqueeze(-1).repeat(1, 1, len(seeds)))},
        loss,
        lambda step: Prompt(*(part.to(dtype) for part in at(step))),
        Adam(learning_rate.to(device, dtype), decay=decay),
        steps,
        gradient=gradient,
        observe=observables,
        snapshots=snapshots,
        limit=limit,
        progress=progress,
    )
