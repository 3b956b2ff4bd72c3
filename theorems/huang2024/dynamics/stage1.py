"""Stage 1 of Algorithm 1: in closed form, and with weights on the tokens.

With orthonormal embeddings the columns W x of W_ov decouple. By symmetry (Lemma 3) all
i != n(x) have the same score in column x, so that from W = 0 on

    W x = m_x (e_n(x) - 1/|V|),        m_x the margin of token x,

and with weights a_x in front of the terms of L_0 the normalised step is

    m_x += eta_0 sqrt(|V| / (|V|-1)) b_x / ||b||,
    b_x = a_x e^-m_x / (1 + (|V|-1) e^-m_x).

Equal weights keep all margins equal: W_ov^(t) = t eta_0 W*_ov / ||W*_ov||, exactly and
from the first step, whatever n is. Only weights make the rate in Proposition 1 a
question. Embeddings of norm R (Assumption 2 dropped) multiply the margin's step by R
and the norm of W by 1/R.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theorems.huang2024.dynamics.layout import Floats, Integers


@dataclass(frozen=True)
class Exact:
    """Stage 1 with equal weights after ``t`` steps, in closed form.

    Attributes:
        size: |V| >= 2.
        eta_0: Step size.
        t: Steps; an array for several.
        R: Norm of the embeddings.
    """

    size: int
    eta_0: float
    t: float | Floats
    R: float = 1.0

    @property
    def norm_star(self) -> float:
        """||W*_ov|| = sqrt(|V|-1) / R."""
        return math.sqrt(self.size - 1) / self.R

    @property
    def norm(self) -> float | Floats:
        """||W_ov|| = t eta_0."""
        return self.t * self.eta_0

    @property
    def margin(self) -> float | Floats:
        """Delta = (e_n(x) - e_i)^T W x = t eta_0 / ||W*||, for all x and i != n(x)."""
        return self.norm / self.norm_star

    @property
    def loss(self) -> Floats:
        """L_0 = |V| log(1 + (|V|-1) e^-Delta); divide by |V| for the mean."""
        return self.size * np.log1p((self.size - 1) * np.exp(-np.asarray(self.margin)))

    def matrix(self, successor: Sequence[int]) -> Floats:
        """W_ov E in the token basis: column x is Delta (e_n(x) - 1/|V|)."""
        columns = np.full((self.size, self.size), -1 / self.size)
        columns[list(successor), range(self.size)] += 1
        return self.margin * columns


@dataclass(frozen=True, eq=False)
class Weighted:
    """Stage 1 with weights on the tokens; first axis settings, second time.

    Attributes:
        times: Steps, ``(k,)``.
        norm: ||W_ov||, ``(s, k)``.
        gap: 1 - cos(W_ov, W*_ov), ``(s, k)``; NaN at W = 0.
        loss: The weighted L_0, ``(s, k)``.
        margins: m_x, ``(s, k, |V|)``.
        align: <-grad L_0/||grad L_0||, W*/||W*||>, ``(s, k)``.
        own: <-grad L_0/||grad L_0||, W>, ``(s, k)``.
    """

    times: Integers
    norm: Floats
    gap: Floats
    loss: Floats
    margins: Floats
    align: Floats
    own: Floats


def weighted(
    weights: Sequence[Sequence[float]] | Floats,
    *,
    eta_0: float | Sequence[float],
    at: Sequence[int],
    R: float | Sequence[float] = 1.0,
) -> Weighted:
    """Run stage 1 with weights on the terms of L_0, many settings at once.

    Args:
        weights: a_x > 0, ``(s, |V|)``.
        eta_0: Step size, one or one per setting.
        at: Increasing steps to record after.
        R: Norm of the embeddings, one or one per setting.

    Returns:
        The records.
    """
    a = np.asarray(weights, dtype=np.float64)
    settings, size = a.shape
    scale = math.sqrt(size / (size - 1))
    norms = np.broadcast_to(np.asarray(R, dtype=np.float64), settings)[:, None]
    length = np.broadcast_to(np.asarray(eta_0, dtype=np.float64), settings)[:, None]
    state = _Margins(np.log(a), norms * length / math.sqrt(size - 1))
    rows, t = [], 0
    for end in at:
        for _ in range(end - t):
            state.step()
        t = end
        rows.append(state.record())
    margins, gap, force = (np.stack(each, axis=1) for each in zip(*rows, strict=True))
    return Weighted(
        times=np.array(at, dtype=np.int64),
        norm=np.linalg.norm(margins, axis=2) / scale / norms,
        gap=gap,
        loss=(a[:, None] * np.log1p((size - 1) * np.exp(-margins))).sum(axis=2),
        margins=margins,
        align=force.mean(axis=2) * math.sqrt(size),
        own=(force * margins).sum(axis=2) / scale / norms,
    )


class _Margins:
    """Margins in the moving frame: m = t * drift + r, drift that of equal weights.

    m grows like t and the gap is about the differences between its entries; r holds
    these without the rounding of t * drift.
    """

    def __init__(self, log_weights: Floats, drift: Floats) -> None:
        self.log_weights, self.drift = log_weights, drift
        self.r = np.zeros_like(log_weights)
        self.t = 0

    def force(self) -> Floats:
        """The step b / ||b||; the common factor e^-(t drift) is left out."""
        size = self.r.shape[1]
        m = self.t * self.drift + self.r
        log_b = self.log_weights - self.r - np.log1p((size - 1) * np.exp(-m))
        b = np.exp(log_b - log_b.max(axis=1, keepdims=True))
        return b / np.linalg.norm(b, axis=1, keepdims=True)

    def step(self) -> None:
        """One normalised step: with equal weights b/||b|| = 1/sqrt(|V|)."""
        root = math.sqrt(self.r.shape[1])
        self.r += self.drift * (root * self.force() - 1)
        self.t += 1

    def record(self) -> tuple[Floats, Floats, Floats]:
        """Margins, gap and b / ||b||.

        cos(W, W*) = mean(m) sqrt(|V|) / ||m||, and with c the entries of m less their
        mean 1 - cos = ||c||^2 / (||m|| (||m|| + mean sqrt(|V|))).
        """
        m = self.t * self.drift + self.r
        centred = self.r - self.r.mean(axis=1, keepdims=True)
        norm = np.linalg.norm(m, axis=1)
        along = m.mean(axis=1) * math.sqrt(m.shape[1])
        with np.errstate(invalid="ignore"):
            gap = (centred**2).sum(axis=1) / (norm * (norm + along))
        return m, gap, self.force()
