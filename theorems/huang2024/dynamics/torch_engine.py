"""Stage 2 of many datasets at once in torch, on any device.

The recursion of ``kernels``, written once more with whole arrays: datasets, queries,
sentences and tokens are padded to a common size. Sums run along axes, never by scatter,
so that results are the same on every run, on a GPU too. On a CPU ``engine.run`` is
faster; here the transcription is shorter and more literal, and a test ties the two.

Axes: b datasets, q queries, s sentences of the query, x tokens, i next tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from theorems.huang2024.dynamics.compact import Compact
from theorems.huang2024.dynamics.layout import Floats

CHUNK = 64
"""Steps between two looks at whether the late phase describes them: a look waits."""

ROUNDING = 1e-16


@dataclass(frozen=True, eq=False)
class Scores:
    """One dataset's record; first axis time.

    Attributes:
        norm: ||W||.
        gap: 1 - cos(W, W*); NaN at W = 0.
        weights: Scores of ``Compact.pairs``.
    """

    norm: Floats
    gap: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Batch:
    """Datasets, padded.

    Attributes:
        log_count: Logarithm of a token's count in a sentence, -inf without; b q s x.
        carrier: Whether the token carries the label; b q s x.
        log_weight: log pi, -inf in the padding and where the gradient is zero; b q s.
        wrong: 0 for next tokens that exist and are not the label, else -inf; b q s i.
        following: Whether i = n(x); b x i.
        log_sum: c_e of F2, -inf where there is no edge; b q o m.
        drift: Of the edges in the moving frame; b q o m.
        direction: W* / ||W*||, the frame; b q x.
        base: 1 / ||W*||; b.
        delta: Delta of stage 1; b.
        eta: Step sizes; b.
        limit: Largest exponent of an edge in the late phase; b.
        mergeable: Whether all datasets have a late phase.
    """

    log_count: Tensor
    carrier: Tensor
    log_weight: Tensor
    wrong: Tensor
    following: Tensor
    log_sum: Tensor
    drift: Tensor
    direction: Tensor
    base: Tensor
    delta: Tensor
    eta: Tensor
    limit: Tensor
    mergeable: bool


def descent(batch: Batch, w: Tensor) -> Tensor:
    """-grad L / ||grad L|| at the scores w; b q x.

    As in ``kernels``: 1 - [T]_y, phi_minus and pi are logarithms, next tokens enter by
    rho_i = [T]_i / (1 - [T]_y).
    """
    delta = batch.delta[:, None, None]
    scores = batch.log_count + w[:, :, None]
    plus, share_plus = _side(scores, batch.carrier)
    minus, share = _side(scores, ~batch.carrier)
    log_minus = -_softplus(plus - minus)
    phi_minus, phi_plus = log_minus.exp(), (-_softplus(minus - plus)).exp()
    mass = torch.einsum("bqsx,bxi->bqsi", share, batch.following)
    logits = (delta * phi_minus)[..., None] * mass + batch.wrong
    others = logits.logsumexp(-1)
    rho_i = (logits - others[..., None]).exp()
    rho = torch.einsum("bqsi,bxi->bqsx", rho_i, batch.following)
    lead = delta * phi_plus - others
    late = delta * phi_minus + others - _softplus(-lead)
    log_wrong = torch.where(lead > 0, late, delta - _softplus(lead))
    first = (rho * (share > 0)).amax(-1, keepdim=True)
    mean = (share * (rho - first)).sum(-1, keepdim=True)
    phi_plus, phi_minus = phi_plus[..., None], phi_minus[..., None]
    force = phi_plus * share_plus * (1 + first + mean)
    force -= share * (phi_plus * (1 + rho) + phi_minus * (rho - first - mean))
    factor = batch.log_weight + log_wrong + log_minus
    scale = (factor - factor.amax((1, 2), keepdim=True)).exp()
    return _normalised((scale[..., None] * force).sum(2))


def _softplus(x: Tensor) -> Tensor:
    """log(1 + e^x) for any x; torch's own is linear above a threshold."""
    return x.clamp_min(0) + torch.log1p(torch.exp(-x.abs()))


def _side(scores: Tensor, side: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithm of a side's total and the softmax over it (0 where it is empty)."""
    inside = scores.masked_fill(~side, -math.inf)
    total = inside.logsumexp(-1)
    share = (inside - total[..., None]).exp()
    return total, share.nan_to_num(0.0)


def _normalised(g: Tensor) -> Tensor:
    return g / g.square().sum((1, 2), keepdim=True).sqrt()


def merged(batch: Batch, rho: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    """F2: the direction of descent from the edges; and whether they describe it."""
    difference = rho[..., :, None] - rho[..., None, :]
    exponent = batch.log_sum - difference - tau[:, None, None, None] * batch.drift
    top = exponent.amax((1, 2, 3))
    p = (exponent - top[:, None, None, None]).exp()
    valid = (top - tau * batch.base < batch.limit).all()
    return _normalised(p.sum(3) - p.sum(2)), valid


def run(
    data: Sequence[Compact],
    *,
    delta: float | Sequence[float],
    eta: float | Sequence[float],
    at: Sequence[int],
    device: torch.device | str = "cpu",
) -> list[Scores]:
    """Train the attention layers of all datasets and record the scores.

    Args:
        data: Datasets with a constraint, and with the solution of problem (3).
        delta: Delta of stage 1, one or one per dataset.
        eta: Step size, one or one per dataset.
        at: Increasing steps to record after.
        device: Where to compute.

    Returns:
        A record for each dataset.

    Raises:
        ValueError: A dataset has no constraint, or no solution was given.
    """
    if not all(each.norm > 0 for each in data):
        raise ValueError("`data` has a dataset without a W*: its gradient may be zero")
    batch = padded(data, delta, eta, device)
    rho, t, late = torch.zeros_like(batch.direction), 0, False
    rows = []
    for end in at:
        while t < end:
            steps = min(CHUNK, end - t)
            rho, late = _chunk(batch, rho, t, steps, late)
            t += steps
        rows.append(_observe(batch, rho, t))
    norm, gap, W = (torch.stack(each).cpu().numpy() for each in zip(*rows, strict=True))
    return [
        Scores(norm[:, b], gap[:, b], _picked(W[:, b], each))
        for b, each in enumerate(data)
    ]


def _chunk(
    batch: Batch, rho: Tensor, t: int, steps: int, late: bool
) -> tuple[Tensor, bool]:
    """Make steps, by edges if these describe every one of them.

    Returns:
        The state, and whether to try the edges next.
    """
    if late:
        found, good = rho, torch.ones((), dtype=torch.bool, device=rho.device)
        for k in range(steps):
            g, valid = merged(batch, found, (t + k) * batch.eta)
            found = found + batch.eta[:, None, None] * (g - batch.direction)
            good &= valid
        if bool(good):
            return found, True
    for k in range(steps):
        w = rho + ((t + k) * batch.eta)[:, None, None] * batch.direction
        step = descent(batch, w) - batch.direction
        rho = rho + batch.eta[:, None, None] * step
    tau = (t + steps) * batch.eta
    return rho, batch.mergeable and bool(merged(batch, rho, tau)[1])


def _observe(batch: Batch, rho: Tensor, t: int) -> tuple[Tensor, Tensor, Tensor]:
    """||W||, 1 - cos(W, W*) from the part of W across W*, and W."""
    u = batch.direction
    W = rho + (t * batch.eta)[:, None, None] * u
    along = (W * u).sum((1, 2))
    across = rho - (rho * u).sum((1, 2), keepdim=True) * u
    squared = across.square().sum((1, 2))
    norm = (along.square() + squared).sqrt()
    beside = (norm - along) / norm
    return norm, torch.where(along > 0, squared / (norm * (norm + along)), beside), W


def _picked(W: Floats, data: Compact) -> Floats:
    """The scores of a dataset's pairs, out of its padded columns."""
    queries = _queries(data)
    tokens, columns = zip(*((x, queries[q]) for x, q in data.pairs), strict=True)
    return W[:, list(columns), list(tokens)]


def _queries(data: Compact) -> dict[int, int]:
    return {q: k for k, q in enumerate(sorted({q for _, q in data.pairs}))}


def padded(
    data: Sequence[Compact],
    delta: float | Sequence[float],
    eta: float | Sequence[float],
    device: torch.device | str,
) -> Batch:
    """Pad datasets to a batch; arguments as of :func:`run`."""
    V = max(each.dataset.size for each in data)
    places = [_places(each) for each in data]
    Q = max(len(_queries(each)) for each in data)
    S = 1 + max(s for place in places for _, s in place)
    empty = _Arrays(len(data), Q, S, V)
    for b, (each, place) in enumerate(zip(data, places, strict=True)):
        empty.fill(b, each, place)
    deltas, etas = (np.broadcast_to(np.float64(x), len(data)) for x in (delta, eta))
    limit = np.array(empty.slack) + np.log(ROUNDING / deltas)
    base = np.array([1 / each.norm for each in data])
    tensors = {
        name: torch.tensor(np.asarray(value), device=device)
        for name, value in {
            **empty.arrays, "base": base, "delta": deltas, "eta": etas, "limit": limit
        }.items()
    }  # fmt: skip
    return Batch(**tensors, mergeable=all(each.mergeable for each in data))


def _places(data: Compact) -> list[tuple[int, int]]:
    """Column and row of each sentence: which query, and which of its sentences."""
    queries, used, places = _queries(data), {}, []
    for sentence in data.sentences:
        q = queries[data.pairs[data.entries[sentence["first"]]["pair"]][1]]
        used[q] = used.get(q, -1) + 1
        places.append((q, used[q]))
    return places


class _Arrays:
    """The padding, and how a dataset is written into it."""

    def __init__(self, B: int, Q: int, S: int, V: int) -> None:
        nothing = -math.inf
        self.arrays = {
            "log_count": np.full((B, Q, S, V), nothing),
            "carrier": np.zeros((B, Q, S, V), dtype=bool),
            "log_weight": np.full((B, Q, S), nothing),
            "wrong": np.full((B, Q, S, V), nothing),
            "following": np.zeros((B, V, V)),
            "log_sum": np.full((B, Q, V, V), nothing),
            "drift": np.zeros((B, Q, V, V)),
            "direction": np.zeros((B, Q, V)),
        }
        # a sentence of padding: two tokens, so that nothing is 0/0; its weight is 0
        self.arrays["log_count"][..., :2] = 0.0
        self.arrays["carrier"][..., 0] = True
        self.arrays["wrong"][..., 1] = 0.0
        self.slack: list[float] = []

    def fill(self, b: int, data: Compact, places: Sequence[tuple[int, int]]) -> None:
        """Write dataset ``b``."""
        arrays, size = self.arrays, data.dataset.size
        arrays["following"][b, range(size), list(data.dataset.successor)] = 1
        queries = _queries(data)
        at = [(queries[q], x) for x, q in data.pairs]
        for (q, x), u in zip(at, data.direction, strict=True):
            arrays["direction"][b, q, x] = u
        for edge in data.edges:
            (q, o), (_, m) = at[edge["upper"]], at[edge["lower"]]
            arrays["log_sum"][b, q, o, m] = edge["log_sum"]
            arrays["drift"][b, q, o, m] = edge["drift"]
        for sentence, (q, s) in zip(data.sentences, places, strict=True):
            self._write((b, q, s), data, sentence, at)
        sentences = data.sentences
        widest = int((sentences["end"] - sentences["first"]).max())
        self.slack.append(float(sentences["log_weight"].min()) - math.log(widest))

    def _write(self, place, data: Compact, sentence, at) -> None:
        arrays = self.arrays
        for name in ("log_count", "wrong"):
            arrays[name][place] = -math.inf
        arrays["carrier"][place] = False
        for e in range(sentence["first"], sentence["end"]):
            x = at[data.entries[e]["pair"]][1]
            arrays["log_count"][place][x] = data.entries[e]["log_count"]
            arrays["carrier"][place][x] = e < sentence["middle"]
        arrays["wrong"][place][: data.dataset.size] = 0.0
        arrays["wrong"][place][data.dataset.labels[sentence["sample"]]] = -math.inf
        if not sentence["still"]:
            arrays["log_weight"][place] = sentence["log_weight"]
