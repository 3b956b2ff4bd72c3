"""The BERT encoder as a function of its weights, with a hook for its attention.

Rows of a hidden state are tokens, ``(..., n, width)``; what attention mixes has columns
as tokens, as in the paper: ``(..., heads, d, n)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from theorems.ren2024.real.checkpoint import Checkpoint
from verify.numerics import gamma

Weights = Mapping[str, Tensor]
Bound = Callable[[], Tensor]
Tap = Callable[[Tensor, Bound], Tensor]
Drop = Callable[[Tensor], Tensor]

U = 2.0**-53
GELU_ULPS = 8  # of x: erf is good to 2 ulp, its argument and the products to 4


def untapped(x: Tensor, bound: Bound) -> Tensor:
    """Record nothing."""
    del bound
    return x


def undropped(x: Tensor) -> Tensor:
    """Drop nothing."""
    return x


@dataclass(frozen=True, eq=False)
class Mixing:
    """What one attention layer is given.

    Attributes:
        index: Of the layer, from 0.
        hidden: Its input, ``(..., n, width)``.
        V: Values, ``(..., heads, d, n)``.
        K: Keys.
        Q: Queries.
    """

    index: int
    hidden: Tensor
    V: Tensor
    K: Tensor
    Q: Tensor


Attend = Callable[[Mixing], Tensor]


@dataclass(frozen=True, eq=False)
class Bert:
    """An encoder with its hooks.

    Attributes:
        weights: By name.
        heads: Attention heads of a layer.
        layers: Number of layers.
        eps: Of the layer normalisations.
        tap: Sees every intermediate result with a bound on its rounding error.
        drop: Dropout of hidden states.
    """

    weights: Weights
    heads: int
    layers: int
    eps: float
    tap: Tap = untapped
    drop: Drop = undropped

    @classmethod
    def of(cls, checkpoint: Checkpoint, **hooks: Any) -> Bert:
        """The encoder of a checkpoint."""
        weights, heads = checkpoint.weights, checkpoint.heads
        return cls(weights, heads, checkpoint.layers, checkpoint.eps, **hooks)

    def linear(self, x: Tensor, name: str) -> Tensor:
        """Apply a linear map."""
        W, b = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return self.tap(
            functional.linear(x, W, b),
            lambda: (
                gamma(W.shape[1] + 1) * functional.linear(x.abs(), W.abs(), b.abs())
            ),
        )

    def normed(self, x: Tensor, name: str) -> Tensor:
        """Apply a layer normalisation.

        Its mean errs by γ_n mean|x| and its deviation relatively by γ_2n at most; with
        the scale, the shift and the operations between them γ_(2n+8) covers all.
        """
        g, b = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

        def bound() -> Tensor:
            centred = x - x.mean(dim=-1, keepdim=True)
            sigma = (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
            size = (centred.abs() + x.abs().mean(dim=-1, keepdim=True)) / sigma
            return gamma(2 * x.shape[-1] + 8) * (g.abs() * size + b.abs())

        return self.tap(functional.layer_norm(x, g.shape, g, b, self.eps), bound)

    def added(self, x: Tensor, y: Tensor) -> Tensor:
        """Add a residual connection."""
        total = x + y
        return self.tap(total, lambda: U * total.abs())

    def gelu(self, x: Tensor) -> Tensor:
        """Apply the activation."""
        return self.tap(functional.gelu(x), lambda: GELU_ULPS * U * x.abs())

    def embedded(self, ids: Tensor, types: Tensor) -> Tensor:
        """Embed tokens: word, position and type, normalised."""
        n = ids.shape[-1]
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:n]
        x = x + self.weights["embeddings.token_type_embeddings.weight"][types]
        return self.drop(self.normed(x, "embeddings.LayerNorm"))

    def encoded(self, x: Tensor, attend: Attend) -> Tensor:
        """Run all layers.

        Args:
            x: Embedded tokens, ``(..., n, width)``.
            attend: Maps what a layer's attention is given to ``(..., heads, d, n)``.

        Returns:
            Hidden states, ``(..., n, width)``.
        """
        for index in range(self.layers):
            at = f"encoder.layer.{index}."
            V, K, Q = (
                self.split(self.linear(x, f"{at}attention.self.{name}"))
                for name in ("value", "key", "query")
            )
            mixed = joined(attend(Mixing(index, x, V, K, Q)))
            mixed = self.drop(self.linear(mixed, f"{at}attention.output.dense"))
            x = self.normed(self.added(x, mixed), f"{at}attention.output.LayerNorm")
            inner = self.gelu(self.linear(x, f"{at}intermediate.dense"))
            inner = self.drop(self.linear(inner, f"{at}output.dense"))
            x = self.normed(self.added(x, inner), f"{at}output.LayerNorm")
        return x

    def split(self, x: Tensor) -> Tensor:
        """Split rows into heads, columns as tokens: ``(..., heads, d, n)``."""
        *batch, n, width = x.shape
        heads = x.reshape(*batch, n, self.heads, width // self.heads)
        return heads.movedim(-3, -1)


def joined(x: Tensor) -> Tensor:
    """Join heads, ``(..., heads, d, n)`` to ``(..., n, width)``."""
    *batch, heads, d, n = x.shape
    return x.movedim(-1, -3).reshape(*batch, n, heads * d)


def plain(given: Mixing) -> Tensor:
    """Softmax attention, Eq. (5), every token a query."""
    scores = given.K.mT @ given.Q / given.K.shape[-2] ** 0.5
    return given.V @ torch.softmax(scores, dim=-2)
