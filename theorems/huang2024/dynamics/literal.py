"""Algorithm 1 as the paper writes it, one dataset at a time, for tests.

Embeddings are random orthonormal vectors, gradients are automatic, both stages are
trained. In float64 the gradient of stage 2 loses its direction after some hundred
steps (1 - [T]_y and phi_minus are differences of numbers near 1): this is what the
engines are for, and why this module is only their reference at the start.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from theorems.huang2024.data.dataset import Dataset


class Transformer:
    """T_theta(X) = softmax(W_ov X softmax(X^T W_kq x_L)) with its two losses.

    Args:
        dataset: What it is trained on.
        dimension: d >= |V|, the width of the embeddings.
        generator: Draws the embeddings.
    """

    def __init__(
        self, dataset: Dataset, dimension: int, generator: torch.Generator
    ) -> None:
        self.dataset = dataset
        shape = (dimension, dataset.size)
        noise = torch.randn(shape, generator=generator, dtype=torch.float64)
        self.E = torch.linalg.qr(noise).Q  # columns: embeddings (Assumption 2)
        self.W_ov = torch.zeros(shape[::-1], dtype=torch.float64)
        self.W_kq = torch.zeros(dimension, dimension, dtype=torch.float64)

    def collocation_loss(self, W: Tensor) -> Tensor:
        """L_0(W) = sum_x log(1 + sum_{i != n(x)} exp(-(e_n(x) - e_i)^T W x))."""
        n, total = self.dataset.successor, torch.zeros((), dtype=torch.float64)
        for x in range(self.dataset.size):
            logits = W @ self.E[:, x]
            others = [i for i in range(self.dataset.size) if i != n[x]]
            margins = logits[n[x]] - logits[others]
            total = total + torch.log(1 + torch.exp(-margins).sum())
        return total

    def loss(self, W: Tensor) -> Tensor:
        """L(theta) = -sum_n pi_n log [T_theta(X_n)]_y with W_kq = W."""
        total, data = torch.zeros((), dtype=torch.float64), self.dataset
        for sentence, label, pi in zip(
            data.sentences, data.labels, data.weights(), strict=True
        ):
            X = self.E[:, list(sentence)]
            attention = torch.softmax(X.T @ (W @ X[:, -1]), dim=0)
            logits = self.W_ov @ (X @ attention)
            total = total - pi * torch.log_softmax(logits, dim=0)[label]
        return total

    def stage_1(self, eta_0: float, steps: int) -> None:
        """Train the feed-forward layer."""
        for _ in range(steps):
            self.W_ov = _step(self.collocation_loss, self.W_ov, eta_0)

    def stage_2(self, eta: float, steps: int) -> Iterator[Tensor]:
        """Train the attention layer.

        Args:
            eta: Step size.
            steps: Number of steps.

        Yields:
            W in the token basis, E^T W_kq E, after each step.
        """
        for _ in range(steps):
            self.W_kq = _step(self.loss, self.W_kq, eta)
            yield self.E.T @ self.W_kq @ self.E


def _step(loss, W: Tensor, eta: float) -> Tensor:
    """One step of normalised gradient descent."""
    W = W.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(W), W)
    return (W - eta * gradient / gradient.norm()).detach()
