"""Self-attention layers with the modifications of Section 4, many runs at once.

A run is a variant of the layer and a seed; all variants of a seed see the same prompts,
so that products with a prompt are one matrix product per seed. Only the label of the
last token is predicted (Appendix E.1), hence only the last row of ``W_V`` is trained,
unless an augmentation stands behind it.

Axes: variant ``C``, seed ``S``, prompt ``P``, token ``n``, size of a token ``d``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import elu, gelu

from verify.train.layout import contract, runs_first, runs_last
from verify.train.optimisers import Params


@dataclass(frozen=True, eq=False)
class Variants:
    """The modification of every variant, each tensor ``(C,)``.

    The last token's attention ``a`` loses ``t`` at one token, its own one or
    (``other``) the first; with ``norm`` it is divided by ``1 - t``, its sum:

    - ``skip``: ``t = α``, that is ``A - αI``;
    - ``diagonal``: ``t = α a_q``, that is ``A - α diag(A)``, the dual of Eq. (12);
    - ``scores``: ``t = α / Σ exp(s)``, that is ``A_u - αI`` before normalisation.

    Attributes:
        skip: Coefficient ``α`` of that kind, 0 for none; likewise the next two.
        diagonal: See above.
        scores: See above.
        norm: 1 or 0.
        other: Whether the mass is taken from the first token instead.
        beta: ``β`` of Eq. (15), 0 for none.
        k: Number of negative samples.
        per_token: Whether every token has its own negative samples, or all have those
            of the last token.
        g_1: Whether values are augmented.
        g_2: Whether keys are.
        plus: Whether ``g_2`` has a second layer.
        elu: Whether that one's activation is ELU, not GELU.
    """

    skip: Tensor
    diagonal: Tensor
    scores: Tensor
    norm: Tensor
    other: Tensor
    beta: Tensor
    k: Tensor
    per_token: Tensor
    g_1: Tensor
    g_2: Tensor
    plus: Tensor
    elu: Tensor

    def __len__(self) -> int:
        return len(self.skip)


def predict(params: Params, X: Tensor, variants: Variants) -> Tensor:
    """Predict the label of the last token.

    Args:
        params: ``W_Q``, ``W_K`` and either ``v``, the last row of ``W_V``, or ``W_V``,
            ``g_1`` (last row), ``W_a``, ``W_b``; each ``(C·S, ...)``, seeds fastest.
        X: Prompts, ``(S, P, d, n)``.
        variants: What each of the ``C`` variants is.

    Returns:
        Shape ``(C·S, P)``.
    """
    S, P, d, _ = X.shape
    C = len(variants)
    p = {n: w.contiguous().view(C, S, *w.shape[1:]) for n, w in params.items()}
    query = X[..., -1].mT  # (S, d, P)
    z = p["W_Q"] @ query / math.sqrt(d)  # (C, S, d, P)
    if "W_a" in p:
        scores, c = _augmented(p, X, z, variants)
    else:
        u = (p["W_K"].mT @ z).permute(1, 3, 0, 2)  # (S, P, C, d)
        v = p["v"].transpose(0, 1)[:, None].expand(S, P, C, d)
        scores, c = (torch.cat([u, v], dim=2) @ X).split(C, dim=2)  # (S, P, C, n)
    found = _read(scores, c, variants) - _negative(p, X, scores, c, variants)
    return found.permute(2, 0, 1).reshape(C * S, P)


def gradient(
    params: Params, X: Tensor, target: Tensor, variants: Variants
) -> tuple[Tensor, Params]:
    """Squared errors of plain layers on one prompt each, and their gradient.

    Scores and values are differentiated automatically, what lies before them in closed
    form: ``u = W_Kᵀ z``, ``z = W_Q x_q / √d``, scores ``Xᵀu`` and values ``Xᵀv`` give
    ``dW_K = z duᵀ`` and ``dW_Q = W_K du x_qᵀ / √d``. Elementwise along the runs, which
    lie last in memory, this takes a fifth of the time of batched products.

    Args:
        params: ``W_Q``, ``W_K`` and ``v``, each ``(C·S, ...)``, seeds fastest.
        X: ``(S, d, n)``.
        target: ``(S,)``.
        variants: What each of the ``C`` variants is.

    Returns:
        Squared errors ``(C·S,)`` and the gradient of their sum.
    """
    S, d, _ = X.shape
    C = len(variants)
    query = runs_last(X[..., -1]).repeat(1, C) / math.sqrt(d)  # (d, runs)
    W_Q, W_K, v = (runs_last(params[name]) for name in ("W_Q", "W_K", "v"))
    z = contract(W_Q, query[None], 1)
    u = contract(W_K, z[:, None], 0)
    rows = torch.cat([u.view(d, C, S), v.view(d, C, S)], dim=1)
    rows = rows.permute(2, 1, 0).contiguous()
    leaf = torch.bmm(rows, X).requires_grad_()  # (S, 2C, n)
    with torch.enable_grad():
        scores, c = leaf.unsqueeze(1).split(C, dim=2)
        by_seed = {
            name: runs_first(w).view(C, S, d, d)
            for name, w in (("W_Q", W_Q), ("W_K", W_K))
        }
        found = _read(scores, c, variants)
        found = found - _negative(by_seed, X[:, None], scores, c, variants)
        errors = (found[:, 0] - target[:, None]).square()  # (S, C)
    (slope,) = torch.autograd.grad(errors.sum(), leaf)
    back = torch.bmm(slope, X.mT).permute(2, 1, 0).contiguous()  # (d, 2C, S)
    du, dv = (part.reshape(d, C * S) for part in back.split(C, dim=1))
    dz = contract(W_K, du[None], 1)
    grads = {"W_Q": dz[:, None] * query, "W_K": z[:, None] * du, "v": dv}
    losses = errors.detach().mT.reshape(-1)
    return losses, {name: runs_first(g) for name, g in grads.items()}


def _augmented(
    p: Params, X: Tensor, z: Tensor, variants: Variants
) -> tuple[Tensor, Tensor]:
    """Scores and values with augmentations where a variant has them, Eq. (14)."""
    C, S, d, P = z.shape
    on = {name: getattr(variants, name)[:, None] for name in ("g_1", "g_2", "plus")}
    W_K, W_a = p["W_K"], p["W_a"]
    M = torch.where(on["g_2"][..., None, None], W_a @ W_K, W_K)
    Y = M.permute(1, 0, 2, 3).reshape(S, 1, C * d, d) @ X
    Y = Y.view(S, P, C, d, -1)
    G = _activated(Y, variants)
    z = torch.where(on["plus"][..., None, None], p["W_b"].mT @ z, z)
    scores = (z.permute(1, 3, 0, 2).unsqueeze(-2) @ G).squeeze(-2)
    row = (p["g_1"].unsqueeze(-2) @ p["W_V"]).squeeze(-2)
    v = torch.where(on["g_1"][..., None], row, p["W_V"][..., -1, :])
    c = v.transpose(0, 1)[:, None] @ X
    return scores, torch.where(variants.g_1[:, None], gelu(c), c)


def _activated(Y: Tensor, variants: Variants) -> Tensor:
    curved = gelu(Y)
    if bool(variants.elu.any()):
        curved = torch.where(variants.elu[:, None, None], elu(Y), curved)
    return torch.where(variants.g_2[:, None, None], curved, Y)


def _read(scores: Tensor, c: Tensor, variants: Variants) -> Tensor:
    """What the last token reads from the values ``c``, Eq. (13) and its relatives."""
    attention = torch.softmax(scores, dim=-1)
    total = (attention * c).sum(dim=-1)
    t = variants.skip + variants.diagonal * attention[..., -1]
    if bool(variants.scores.any()):
        t = t + variants.scores * torch.exp(-torch.logsumexp(scores, dim=-1))
    own = torch.where(variants.other, c[..., 0], c[..., -1])
    return (total - t * own) / (1 - variants.norm * t)


def _negative(
    p: Params, X: Tensor, scores: Tensor, c: Tensor, variants: Variants
) -> Tensor:
    """``β`` times the mean value of the negative samples, Eq. (15)."""
    total = torch.zeros_like(scores[..., 0])
    for per_token in (False, True):
        chosen = ((variants.beta != 0) & (variants.per_token == per_token)).nonzero()
        if not len(chosen):
            continue
        at = chosen[:, 0]
        k = variants.k[at]
        weights = torch.arange(int(k.max()), device=k.device) < k[:, None]
        weights = weights * (variants.beta[at] / k)[:, None]  # (chosen, k)
        means = _means_of_all if per_token else _means_of_last
        lowest = means(p, X, scores[:, :, at], c[:, :, at], weights, at)
        total = total.index_copy(2, at, lowest)
    return total


def _means_of_last(
    p: Params, X: Tensor, scores: Tensor, c: Tensor, weights: Tensor, at: Tensor
) -> Tensor:
    """The tokens that the last token attends to least are everyone's negatives."""
    del p, X, at
    others = scores[..., :-1].detach()
    lowest = others.topk(weights.shape[-1], dim=-1, largest=False).indices
    return (c.gather(-1, lowest) * weights).sum(dim=-1)


def _means_of_all(
    p: Params, X: Tensor, scores: Tensor, c: Tensor, weights: Tensor, at: Tensor
) -> Tensor:
    """Every token has the tokens that it attends to least as negatives."""
    with torch.no_grad():
        M = (p["W_K"][at].mT @ p["W_Q"][at]).transpose(0, 1)[:, None]
        every = X.mT.unsqueeze(2) @ M @ X.unsqueeze(2)  # (S, P, C, key, query)
        n = X.shape[-1]
        own = torch.eye(n, dtype=torch.bool, device=X.device)
        every = every.masked_fill(own, math.inf)
        lowest = every.topk(weights.shape[-1], dim=-2, largest=False).indices
    spread = c.unsqueeze(-1).expand(*c.shape, n).gather(-2, lowest)
    means = (spread * weights[..., None]).sum(dim=-2)
    return (torch.softmax(scores, dim=-1) * means).sum(dim=-1)


def draws(
    d: int, names: Sequence[str]
) -> dict[str, Callable[[torch.Generator], Tensor]]:
    """How each parameter starts: entries ``N(0, 1/d)``."""

    def of(*shape: int) -> Callable[[torch.Generator], Tensor]:
        return lambda g: (
            torch.randn(*shape, generator=g, dtype=torch.float64) / math.sqrt(d)
        )

    return {name: of(d) if name == "g_1" else of(d, d) for name in names}
