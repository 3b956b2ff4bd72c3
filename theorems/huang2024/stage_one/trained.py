"""Stage 1 of Algorithm 1 by automatic differentiation, as it is written."""

import numpy as np
import torch
from numpy.typing import NDArray

from verify.numerics import gamma

SIZE, WIDTH = 6, 8
LENGTH = 0.5  # step size

Columns = dict[str, NDArray[np.float64]]


def train(runs: int, steps: int, seed: int, device: str) -> Columns:
    """Train runs with their own embeddings and maps in one program.

    Args:
        runs: Number of runs.
        steps: Number of steps.
        seed: Of embeddings and maps.
        device: Where to train.

    Returns:
        One row per run and step from the first on.
    """
    draw = np.random.default_rng(seed)
    basis = np.linalg.qr(draw.normal(size=(runs, WIDTH, WIDTH)))[0][..., :SIZE]
    X = torch.tensor(basis, dtype=torch.float64, device=device)
    successor = torch.tensor(draw.integers(0, SIZE, (runs, SIZE)), device=device)
    W = torch.zeros(runs, SIZE, WIDTH, dtype=torch.float64, device=device)
    rows: list[Columns] = []
    for now in range(steps + 1):
        W.requires_grad_(True)
        scores = W @ X
        loss = torch.nn.functional.cross_entropy(scores, successor, reduction="none")
        (gradient,) = torch.autograd.grad(loss.sum(), W)
        with torch.no_grad():
            if now:
                rows.append(_row(W, scores, successor, loss.sum(dim=1), now))
            length = torch.linalg.matrix_norm(gradient)[:, None, None]
            W = W - LENGTH * gradient / length
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _row(
    W: torch.Tensor,
    scores: torch.Tensor,
    successor: torch.Tensor,
    loss: torch.Tensor,
    now: int,
) -> Columns:
    """What is observed; a softmax entry near 1 costs e^m of relative accuracy."""
    right = torch.nn.functional.one_hot(successor, SIZE).transpose(1, 2).bool()
    own = (scores * right).sum(dim=1, keepdim=True)
    margins = (own - scores).masked_fill(right, torch.inf)
    low = margins.amin(dim=(1, 2))
    high = margins.masked_fill(right, -torch.inf).amax(dim=(1, 2))
    norm = torch.linalg.matrix_norm(W)
    star = (right.double() - 1 / SIZE) / np.sqrt(SIZE - 1)
    apart = scores / norm[:, None, None] - star
    columns = {
        "norm": norm,
        "low": low,
        "high": high,
        "loss": loss,
        "gap": (apart**2).sum(dim=(1, 2)) / 2,
    }
    slack = gamma((now + 1) * (4 * SIZE * WIDTH + 40)) * (high.exp() + SIZE)
    row = {name: x.cpu().numpy() for name, x in columns.items()}
    row |= {"slack": slack.cpu().numpy()}
    shape = row["norm"].shape
    fixed = {"V": float(SIZE), "eta_0": LENGTH, "t": float(now)}
    return row | {name: np.full(shape, x) for name, x in fixed.items()}
