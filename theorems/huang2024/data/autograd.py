"""Derivatives of the literal loss (1) by automatic differentiation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.generate import random_datasets
from verify.numerics import Floats, gamma


def loss_as_stated(W_ov: Any, W_kq: Any, E: Any, dataset: Dataset) -> torch.Tensor:
    """The loss of Eq. (1), one sample after the other.

    Args:
        W_ov: ``|V| x d``.
        W_kq: ``d x d``.
        E: Embeddings, ``d x |V|``, a column for each token.
        dataset: The samples with their frequencies.

    Returns:
        Σ π^(n) (log Σ_i exp(e_iᵀ T̄) - e_yᵀ T̄) with T̄ = W_ov X φ(Xᵀ W_kq X_{-1}).
    """
    total = torch.zeros((), dtype=E.dtype)
    for pi, sentence, label in zip(
        dataset.frequencies, dataset.sentences, dataset.labels, strict=True
    ):
        X = E[:, list(sentence)]
        phi = torch.softmax(X.T @ W_kq @ X[:, -1], dim=0)
        outputs = W_ov @ X @ phi
        total = total + float(pi) * (torch.logsumexp(outputs, dim=0) - outputs[label])
    return total


@dataclass(frozen=True)
class Case:
    """One dataset, with the derivative of its loss in one direction.

    Attributes:
        value: <∇_kq L, W'> by autograd.
        samples: Frequency and arrays of each sample, by the names of Lemma 4.
    """

    value: float
    samples: list[tuple[float, dict[str, Any]]]


@dataclass(frozen=True)
class Gradients:
    """Derivatives of random losses.

    Attributes:
        cases: The datasets.
        allowed: Bound on the rounding error of each comparison, ``(cases,)``.
        why: How it is derived.
        says: What was drawn.
    """

    cases: list[Case]
    allowed: Floats
    why: str
    says: str


def random_gradients(count: int, seed: int) -> Gradients:
    """Losses at random weights, with orthonormal embeddings of random rotation."""
    rng = np.random.default_rng(seed)
    cases, allowed = [], []
    for dataset in random_datasets(seed, count, injective=None, skew=2.0):
        v = dataset.size
        d = v + int(rng.integers(0, 3))
        E = np.linalg.qr(rng.standard_normal((d, v)))[0]
        W_kq, W = rng.standard_normal((2, d, d))
        Delta, c = float(rng.uniform(0.5, 8.0)), rng.standard_normal(v)
        case, bound = _case(dataset, E, W_kq, W, Delta, c)
        cases.append(case)
        allowed.append(bound)
    return Gradients(
        cases,
        np.array(allowed),
        "γ_k of k = 8 (d² + L + |V|) operations, forth and back, times the sum of the "
        "absolute terms, times 1 + the largest logits that are exponentiated",
        "any n, |V| ≤ 6, L_max ≤ 8, W_kq and W' standard normal, Δ in [1/2, 8]",
    )


def _case(
    dataset: Dataset, E: Any, W_kq: Any, W: Any, Delta: float, c: Any
) -> tuple[Case, float]:
    n, (d, v) = list(dataset.successor), E.shape
    W_ov = (Delta * np.eye(v)[:, n] + np.outer(np.ones(v), c)) @ E.T
    leaf = torch.tensor(W_kq, requires_grad=True)
    loss = loss_as_stated(torch.tensor(W_ov), leaf, torch.tensor(E), dataset)
    (slope,) = torch.autograd.grad(loss, leaf)
    value = float((slope.numpy() * W).sum())
    samples, bound = [], 0.0
    for pi, sentence, label in zip(
        dataset.weights(), dataset.sentences, dataset.labels, strict=True
    ):
        tokens = list(sentence)
        X = E[:, tokens]
        scores = X.T @ W_kq @ X[:, -1]
        phi = np.exp(scores - scores.max())
        phi /= phi.sum()
        outputs = W_ov @ X @ phi
        T = np.exp(outputs - outputs.max())
        T /= T.sum()
        samples.append((
            float(pi),
            {
                "X": X,
                "x_q": X[:, [-1]],
                "M": np.eye(v)[:, [n[x] for x in tokens]],
                "y": np.eye(v)[:, [label]],
                "Phi": np.diag(phi),
                "p": T[:, None],
                "W": W,
                "Delta": Delta,
            },
        ))
        pushed = np.abs(X).T @ np.abs(W) @ np.abs(X[:, -1])
        terms = 2 * Delta * (phi @ pushed + pushed.max())  # |T - 1{..}| <= 1, twice
        logits = 1 + np.abs(scores).max() + np.abs(outputs).max() + Delta
        bound += float(pi) * terms * logits
    operations = 8 * (d * d + dataset.max_length + v)
    return Case(value, samples), gamma(operations) * bound
