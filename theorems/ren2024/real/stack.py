"""Theorem 3.1 in a whole network: every attention replaced by its dual model.

In self-attention every token is a query, with the other tokens as demonstrations and
itself among its keys; its dual model makes one gradient step. All heads and all queries
of a layer are one batch. Around the attentions the network is as it is: output maps,
residual connections, normalisations, feed-forward maps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from theorems.ren2024.layers.floating import Arrays, gram_arrays, rounding_bound
from theorems.ren2024.real import bert
from theorems.ren2024.real.bert import Bert, Mixing
from theorems.ren2024.real.checkpoint import Checkpoint
from theorems.ren2024.real.tokens import WordPiece
from verify import Claim
from verify.symbolic import Compiled, evaluate
from verify.train.determinism import generator

TEXT = (
    "The attention layer reads a few examples and then answers the question about a "
    "new one, and nobody has changed a single weight of the model."
)
READING = "keys-with-query"
PROBES = 16
# A Frobenius norm estimated from 16 probes is 4 times too small with probability below
# 6e-8: at worst (rank one) its square is χ²_16 / 16 of the true one.
SAFETY = 4.0
ROUNDING = (
    "per attention: bound on the rounding of dual model and softmax; through the "
    "stack: to first order the sum over all operations of 2 × rounding bound × "
    f"Frobenius norm of the Jacobian to the end, estimated from {PROBES} probes and "
    f"taken {SAFETY:g} times"
)


@dataclass(frozen=True, eq=False)
class Network:
    """The network on one text, as it is.

    Attributes:
        checkpoint: In float64.
        embedded: Its embedded tokens, ``(n, width)``.
        given: What each attention is given.
        mixed: What each attention returns, ``(heads, d, n)``.
        tolerances: Bound on dual against softmax, per layer, ``(heads * n,)``.
        after: Hidden states after the last layer, ``(n, width)``.
        allowed: Bound on the distance there when all attentions are dual models.
    """

    checkpoint: Checkpoint
    embedded: Tensor
    given: tuple[Mixing, ...]
    mixed: tuple[Tensor, ...]
    tolerances: tuple[Tensor, ...]
    after: Tensor
    allowed: float


def network(checkpoint: Checkpoint, text: str = TEXT, seed: int = 0) -> Network:
    """Run the network as it is, and bound what rounding can do to it.

    Args:
        checkpoint: Any BERT encoder.
        text: One text; each of its tokens is a query.
        seed: Of the probes of the Jacobians.

    Returns:
        What the dual models are compared with.
    """
    checkpoint = checkpoint.to(torch.float64)
    encoded = WordPiece(checkpoint.words).encode(text)
    plain = Bert.of(checkpoint)
    x = plain.embedded(torch.tensor(encoded.ids), torch.tensor(encoded.types))
    given, mixed = [], []

    def recorded(at: Mixing) -> Tensor:
        given.append(at)
        mixed.append(bert.plain(at))
        return mixed[-1]

    after = plain.encoded(x, recorded)
    tolerances = [tolerance(at) for at in given]
    return Network(
        checkpoint,
        x,
        tuple(given),
        tuple(mixed),
        tuple(tolerances),
        after,
        _allowed(checkpoint, x, tolerances, seed),
    )


def arrays_of(V: Tensor, K: Tensor, Q: Tensor, seed: int = 0) -> tuple[Arrays, Arrays]:
    """Describe all heads and queries of a self-attention as layers of Theorem 3.1.

    Args:
        V: Values, ``(heads, d, n)``.
        K: Keys, scaled.
        Q: Queries, scaled.
        seed: Of the learning rates, between 1e-3 and 1e2.

    Returns:
        Arrays by name with a leading axis of ``heads * n``, and the errors of the
        features for :func:`rounding_bound`.
    """
    n = Q.shape[-1]
    order = torch.tensor([[*range(i), *range(i + 1, n), i] for i in range(n)])
    values, keys = (x[..., order].movedim(-2, 1).flatten(0, 1) for x in (V, K))
    q = Q.movedim(-1, 1).flatten(0, 1).unsqueeze(-1)
    parts = [n - 1, 0, 1]
    blocks = dict(zip(("V_D", "V_T", "v_q"), values.split(parts, dim=-1), strict=True))
    points = dict(
        zip(("Phi_D", "Phi_T", "phi_k"), keys.split(parts, dim=-1), strict=True)
    )
    arrays, exponents, residual = gram_arrays(blocks, points, q, strict=False)
    rates = torch.rand(len(q), generator=generator(seed, "eta"), dtype=q.dtype)
    errors = {"exponents": exponents, "residual": residual}
    return arrays | {"eta": 10 ** (5 * rates - 3)}, errors


def tolerance(at: Mixing) -> Tensor:
    """Bound the distance of dual prediction and softmax, per head and query."""
    scale = at.K.shape[-2] ** -0.25
    arrays, errors = arrays_of(at.V, scale * at.K, scale * at.Q)
    return rounding_bound(READING, arrays, **errors)


def dual(claim: Claim, given: Mixing, seed: int = 0) -> Tensor:
    """What the claim's dual models predict in place of an attention.

    Args:
        claim: With parameters ``loss``, ``init``, ``normaliser``, ``steps``,
            ``step_length`` and ``temperature``, the power of ``d`` that divides scores.
        given: What the attention is given.
        seed: Of the learning rates.

    Returns:
        Predictions, ``(heads, d, n)``.
    """
    heads, d, n = given.V.shape
    scale = d ** (-float(claim.temperature) / 2)
    arrays, _ = arrays_of(given.V, scale * given.K, scale * given.Q, seed)
    sizes = {"N": n - 1, "T": 0, "d_o": d, "d_r": arrays["p"].shape[-2]}
    runs = heads * n
    normaliser = evaluate(claim.normaliser, arrays | sizes, "torch")
    fixed = arrays | {
        "D": torch.as_tensor(normaliser, dtype=torch.float64).expand(runs)
    }
    init = evaluate(claim.init, fixed | sizes, "torch")
    weights = init.expand(runs, *init.shape[-2:]).clone()
    rate = float(claim.step_length) * arrays["eta"][:, None, None]
    loss = Compiled(claim.loss, "torch")
    for _ in range(int(claim.steps)):
        weights.requires_grad_()
        (slope,) = torch.autograd.grad(loss(fixed | {"W": weights}).sum(), weights)
        weights = (weights - rate * slope).detach()
    return (weights @ arrays["p"]).reshape(heads, n, d).mT


def layer_distances(claim: Claim, found: Network) -> Tensor:
    """Dual against attention, each layer given the network's own hidden states.

    Args:
        claim: Decides what is trained.
        found: The network as it is.

    Returns:
        Distances per layer, head and query, ``(layers, heads * n)``.
    """
    rows = []
    for at, mixed in zip(found.given, found.mixed, strict=True):
        difference = dual(claim, at, seed=at.index) - mixed
        rows.append(difference.norm(dim=-2).flatten())
    return torch.stack(rows)


def stack_distance(claim: Claim, found: Network) -> float:
    """Dual models in every layer, each given what those before it made.

    Args:
        claim: Decides what is trained.
        found: The network as it is.

    Returns:
        Distance of the hidden states after the last layer; infinite when the dual
        models left the numbers.
    """
    network = Bert.of(found.checkpoint)
    after = network.encoded(found.embedded, lambda at: dual(claim, at, seed=at.index))
    distance = float((after - found.after).norm())
    return distance if math.isfinite(distance) else math.inf


def _allowed(
    checkpoint: Checkpoint, x: Tensor, tolerances: list[Tensor], seed: int
) -> float:
    """Carry all rounding errors to the end, to first order."""
    taps: list[tuple[Tensor, float]] = []

    def tap(value: Tensor, bound: bert.Bound) -> Tensor:
        value = value.requires_grad_() if value.is_leaf else value
        taps.append((value, float(bound().detach().norm())))
        return value

    def attend(at: Mixing) -> Tensor:
        mixed = bert.plain(at)
        taps.append((mixed, float(tolerances[at.index].norm()) / 2))
        return mixed

    after = Bert.of(checkpoint, tap=tap).encoded(x.clone().requires_grad_(), attend)
    squares = torch.zeros(len(taps), dtype=torch.float64)
    draws = generator(seed, "probe")
    values = [value for value, _ in taps]
    for _ in range(PROBES):
        probe = torch.randn(after.shape, generator=draws, dtype=after.dtype)
        slopes = torch.autograd.grad(after, values, probe, retain_graph=True)
        squares += torch.stack([slope.square().sum() for slope in slopes]) / PROBES
    sizes = torch.tensor([size for _, size in taps], dtype=torch.float64)
    return float(SAFETY * (2 * squares.sqrt() * sizes).sum())
