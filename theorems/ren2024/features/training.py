"""Pre-training of an attention layer that computes with random features (E.1).

"We approximate the attention matrix calculation using random features as kernel mapping
function instead of using the traditional softmax function." One set of 1200 directions
per run, drawn before training and kept. Otherwise as verify/train/pretrain.py. Single
precision: the layer is trained, nothing is decided, in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from verify.train.determinism import per_run
from verify.train.loop import Trajectory, train
from verify.train.optimisers import SGD, Params
from verify.train.pretrain import LEARNING_RATE, initial_attention
from verify.train.tasks import LINEAR, Prompts, draw_tasks, prompt_stream

FEATURES = 1200  # E.1: 100 (d_t + d_s)
SCALE = LINEAR.d**-0.25  # 1/√d of the scores, shared by keys and query


def pretrain_through_features(
    seeds: Sequence[int],
    steps: int,
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Pre-train on the linear task through random features, one run per seed.

    Args:
        seeds: One integer per run; tasks, prompts and initial weights are those of
            the exact layer with the same seed.
        steps: Prompts, one per step.
        progress: Called with steps done and their number.

    Returns:
        The record.
    """
    w = per_run(_directions, seeds, "directions")
    tasks = draw_tasks(LINEAR, seeds).float()
    start = {k: p.float() for k, p in initial_attention(LINEAR.d, seeds).items()}

    def gradient(params: Params, prompts: Prompts) -> tuple[Tensor, Params]:
        return losses_and_gradients(params, prompts, w)

    return train(
        start,
        lambda params, prompts: gradient(params, prompts)[0],
        prompt_stream(LINEAR, tasks, seeds),
        SGD(LEARNING_RATE),
        steps,
        gradient=gradient,
        progress=progress,
    )


def _directions(g: torch.Generator) -> Tensor:
    return torch.randn(FEATURES, LINEAR.d, generator=g)


def losses_and_gradients(
    params: Params, prompts: Prompts, w: Tensor
) -> tuple[Tensor, Params]:
    """Squared errors of the last token's label, and their closed-form gradients.

    With ``A_rj ∝ e^{w_r·(k_j + q) - ‖k_j‖²/2}`` summing to 1, the label is
    ``h = Σ_rj A_rj v_j``, and with ``B_j = Σ_r A_rj w_r``

        dh/dq = Σ_j (v_j - h) B_j,   dh/dk_j = (v_j - h) (B_j - a_j k_j).

    Args:
        params: ``W_Q, W_K, W_V``, each ``(runs, d, d)``.
        prompts: ``X (runs, d, n)`` and ``target (runs, 1)``.
        w: Directions, ``(runs, d_r, d)``.

    Returns:
        Losses ``(runs,)`` and the gradients of their sum.
    """
    X, query = prompts.X, prompts.X[..., -1:]
    keys = SCALE * torch.bmm(params["W_K"], X)
    q = SCALE * torch.bmm(params["W_Q"], query)
    values = torch.bmm(params["W_V"][:, -1:], X)  # (runs, 1, n)
    A = torch.bmm(w, keys + q)
    A -= keys.square().sum(dim=1, keepdim=True) / 2
    A -= A.amax(dim=(1, 2), keepdim=True)
    A.exp_()
    B, a = torch.bmm(A.mT, w).mT, A.sum(dim=1, keepdim=True)
    total = a.sum(dim=2, keepdim=True)
    B, a = B / total, a / total
    h = (values * a).sum(dim=2, keepdim=True)
    error = h[:, 0, 0] - prompts.target[:, 0]
    slope = 2 * error[:, None, None]
    centred = slope * (values - h)
    W_V = torch.zeros_like(params["W_V"])
    W_V[:, -1:] = slope * torch.bmm(a, X.mT)
    return error.square(), {
        "W_Q": SCALE * torch.bmm((centred * B).sum(dim=2, keepdim=True), query.mT),
        "W_K": SCALE * torch.bmm(centred * (B - a * keys), X.mT),
        "W_V": W_V,
    }
