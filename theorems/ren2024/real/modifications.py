"""The three modifications of Section 4, in the form that Table 1 puts into BERT.

Columns of attention weights belong to queries, as in the paper: ``A`` is
``(..., heads, keys, queries)`` and an output is ``V A``.

Readings, where Appendix E.5 leaves something open:
    1. Regularised: ``Norm(A - αI)``, columns summing to 1, as in Section D.1, which for
       a softmax ``A`` is ``(A - αI) / (1 - α)``.
    2. Negative: the ⌈rn⌉ tokens with the lowest attention scores of token i as query,
       other than i, are N(i), and ``x̃_i = x_i - β/|N(i)| Σ_{j∈N(i)} x_j`` is what is
       mixed (Eq. (15)): columns then sum to 1 - β, the "overall reduction in attention
       scores". Padding is neither counted nor chosen.
    3. Augmented: ``g(x) = Wx + c W_2 GELU(W_1 x)`` on all heads at once, hidden size
       twice the width, one pair ``W_1, W_2`` per layer and per g_1, g_2; new weights
       are drawn as BERT draws its own, biases are 0 at the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import torch
from torch import Tensor
from torch.nn import functional

from theorems.ren2024.real.bert import Bert, Mixing

HIDDEN = 2  # hidden size of the parallel branch over the width (Appendix E.5)


@dataclass(frozen=True)
class Modification:
    """What is done to every attention layer; all zeros is the original.

    Attributes:
        alpha: Of the regularised attention.
        value: The factor c of g_1, on values.
        key: The factor c of g_2, on keys.
        ratio: The share r of tokens that are negative samples.
        beta: How much of the attention scores they take.
    """

    alpha: float = 0.0
    value: float = 0.0
    key: float = 0.0
    ratio: float = 0.0
    beta: float = 0.0

    @classmethod
    def of(cls, configuration: Mapping[str, object]) -> Modification:
        """Read the modification out of a configuration."""
        return cls(**{name: float(configuration[name]) for name in asdict(cls())})

    @property
    def branches(self) -> tuple[str, ...]:
        """Names of the maps that get a parallel branch."""
        return tuple(name for name in ("value", "key") if getattr(self, name))


def new_weights(
    change: Modification, layers: int, width: int, spread: float, draws: torch.Generator
) -> dict[str, Tensor]:
    """Draw the weights that a modification adds.

    Args:
        change: The modification.
        layers: Of the network.
        width: Of the network.
        spread: Standard deviation of new weights.
        draws: Their generator.

    Returns:
        Weights by name; empty unless the modification augments.
    """
    weights = {}
    for index in range(layers):
        for branch in change.branches:
            at = f"encoder.layer.{index}.attention.branch.{branch}"
            sizes = {"1": (HIDDEN * width, width), "2": (width, HIDDEN * width)}
            for part, shape in sizes.items():
                weights[f"{at}.{part}.weight"] = spread * torch.randn(
                    shape, generator=draws
                )
                weights[f"{at}.{part}.bias"] = torch.zeros(shape[0])
    return weights


def attend(
    network: Bert, change: Modification, given: Mixing, real: Tensor, drop: object
) -> Tensor:
    """Modified softmax self-attention.

    Args:
        network: With the branches among its weights.
        change: The modification.
        given: What the attention is given.
        real: Which tokens are no padding, ``(batch, n)``, bool.
        drop: Dropout of attention weights.

    Returns:
        Shape ``(batch, heads, d, n)``.
    """
    V, K = given.V, given.K
    if change.value:
        V = V + change.value * _branch(network, given, "value")
    if change.key:
        K = K + change.key * _branch(network, given, "key")
    scores = K.mT @ given.Q / K.shape[-2] ** 0.5
    A = torch.softmax(scores.masked_fill(~real[:, None, :, None], -math.inf), dim=-2)
    if change.ratio and change.beta:
        V = V @ negatives(A, real, change.ratio, change.beta)
    if change.alpha:
        A = regularised(A, change.alpha)
    return V @ drop(A)


def regularised(A: Tensor, alpha: float) -> Tensor:
    """``Norm(A - αI)`` of column-stochastic weights."""
    eye = torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return (A - alpha * eye) / (1 - alpha)


def negatives(A: Tensor, real: Tensor, ratio: float, beta: float) -> Tensor:
    """The matrix ``I - β P`` that turns values into those of Eq. (15).

    Column i of ``P`` holds 1/|N(i)| at the tokens of N(i).

    Args:
        A: Attention weights, ``(batch, heads, n, n)``, columns queries.
        real: Which tokens are no padding, ``(batch, n)``.
        ratio: Share of the real tokens that N(i) takes, rounded up; at most all others.
        beta: Total weight of the negative samples.

    Returns:
        Shape ``(batch, heads, n, n)``.
    """
    n = A.shape[-1]
    eye = torch.eye(n, dtype=torch.bool, device=A.device)
    chosen = real[:, None, :, None] & ~eye
    ranks = A.detach().masked_fill(~chosen, math.inf).argsort(dim=-2, stable=True)
    ranks = ranks.argsort(-2)
    length = real.sum(dim=-1)
    # 1e-6 absorbs the rounding of r·n when it is a whole number.
    count = torch.ceil(ratio * length - 1e-6).clamp(min=1)
    count = torch.minimum(count, (length - 1).clamp(min=1))[:, None, None, None]
    low = (ranks < count) & chosen
    return eye.to(A.dtype) - beta * low.to(A.dtype) / count.to(A.dtype)


def _branch(network: Bert, given: Mixing, name: str) -> Tensor:
    at = f"encoder.layer.{given.index}.attention.branch.{name}"
    inner = functional.gelu(network.linear(given.hidden, f"{at}.1"))
    return network.split(network.linear(inner, f"{at}.2"))
