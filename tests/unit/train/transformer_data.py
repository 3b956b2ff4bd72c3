"""Random data of both transformers, and one run of them as lists."""

import math
from dataclasses import replace

import naive_transformer as naive
import torch

from verify.train.transformer import Classification, NextToken


def normal(g, *shape):
    return torch.randn(*shape, generator=g, dtype=torch.float64)


def ragged(g, *shape):
    mask = torch.rand(*shape, generator=g) > 0.4
    mask.scatter_(-1, torch.randint(shape[-1], (*shape[:-1], 1), generator=g), True)
    return mask


def classification(shape, seed=0, masked=True):
    runs, inputs, tokens, d = shape
    g = torch.Generator().manual_seed(seed)
    X = normal(g, *shape)
    labels = torch.randint(2, (runs, inputs), generator=g) * 2 - 1
    mask = ragged(g, runs, inputs, tokens) if masked else None
    data = Classification(X, X[:, :, 0].clone(), labels, normal(g, runs, d), mask)
    return {"W": normal(g, runs, d, d) / math.sqrt(d)}, data


def next_token(shape, seed=0, vocabulary=5, tied=True, own=False, masked=True):
    runs, sentences, tokens, d = shape
    g = torch.Generator().manual_seed(seed)
    E = normal(g, *((runs,) if own else ()), vocabulary, d) / math.sqrt(d)
    ids = torch.randint(vocabulary, (runs, sentences, tokens), generator=g)
    target = torch.randint(vocabulary, (runs, sentences), generator=g)
    frequency = torch.rand(runs, sentences, generator=g, dtype=torch.float64)
    frequency /= frequency.sum(1, keepdim=True)
    mask = ragged(g, runs, sentences, tokens) if masked else None
    params = {
        "W_kq": normal(g, runs, d, d),
        "W_ov": normal(g, runs, d if tied else vocabulary, d),
    }
    return params, NextToken(E, ids, target, frequency, mask, tied=tied)


def tokens_of(data, run):
    """The ragged tokens or ids of one run, as lists."""
    rows = data.tokens[run] if isinstance(data, NextToken) else data.inputs[run]
    if data.mask is None:
        return rows.tolist()
    return [row[keep].tolist() for row, keep in zip(rows, data.mask[run], strict=True)]


def classifier_as_stated(W, data, run, **functions):
    return naive.classifier_loss(
        W,
        tokens_of(data, run),
        data.queries[run].tolist(),
        data.labels[run].tolist(),
        data.head[run].tolist(),
        **functions,
    )


def next_token_as_stated(W_kq, W_ov, data, run, **functions):
    E = data.embedding if data.embedding.ndim == 2 else data.embedding[run]
    return naive.next_token_loss(
        W_kq,
        W_ov,
        E.tolist(),
        tokens_of(data, run),
        data.target[run].tolist(),
        data.frequency[run].tolist(),
        data.tied,
        **functions,
    )


def differentiate(loss, params, data):
    leaves = {name: p.clone().requires_grad_() for name, p in params.items()}
    losses = loss(leaves, data)
    grads = torch.autograd.grad(losses.sum(), list(leaves.values()))
    return losses.detach(), dict(zip(leaves, grads, strict=True))


def pick(data, runs):
    """The data of some runs."""
    names = ["labels", "head", "queries", "inputs", "mask"]
    if isinstance(data, NextToken):
        names = ["tokens", "target", "frequency", "mask"]
        if data.embedding.ndim == 3:
            names.append("embedding")
    parts = {n: v[runs] for n in names if (v := getattr(data, n)) is not None}
    return replace(data, **parts)
