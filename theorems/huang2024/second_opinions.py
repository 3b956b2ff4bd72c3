"""Self-checks: the compiled recursion, and Algorithm 1 by automatic differentiation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from verify import Compared, self_check

SEED = 0


@self_check(
    says="One normalised step of stage 2 from random scores: by the compiled "
    "recursion, and as the paper writes it, with torch's autograd.",
    why="Both gradients round by at most γ_k of their terms in absolute value, "
    "k = 8 (d² + L + |V|) operations forth and back, times 1 + the largest logits; a "
    "direction turns by at most twice that over the gradient's norm; changing the "
    "basis of W costs γ_4d of its entries",
)
def recursion_and_autograd() -> Iterator[Compared]:
    """Compare one step of each on random datasets, so that no error accumulates."""
    import numpy as np
    import torch

    from theorems.huang2024.data.generate import random_datasets
    from theorems.huang2024.dynamics.engine import run
    from theorems.huang2024.dynamics.literal import Transformer
    from verify.numerics import gamma

    eta, steps = 0.1, 20
    rng = np.random.default_rng(SEED)
    for number, dataset in enumerate(random_datasets(SEED, 6, size=(3, 6), skew=1.0)):
        draws = torch.Generator().manual_seed(number)
        model = Transformer(dataset, dataset.size + 2, draws)
        model.stage_1(0.3, steps)
        delta = 0.3 * steps / math.sqrt(dataset.size - 1)
        W = _scores(dataset, rng)
        model.W_kq = model.E @ torch.tensor(W) @ model.E.T
        moved = next(model.stage_2(eta, 1)).numpy()
        start = {(x, q): W[x, q] for x, q in zip(*np.nonzero(W), strict=True)}
        (track,) = run(
            [dataset], delta=delta, eta=eta, at=[0, 1], start=[start], solutions=[None]
        )
        norm = float(np.exp(track.log_gradient[0]))
        d = dataset.size + 2
        operations = 8 * (d * d + dataset.max_length + dataset.size)
        logits = 1 + float(np.abs(W).max()) + 2 * delta
        rounding = gamma(operations) * 4 * delta * logits
        basis = gamma(4 * d) * float(np.abs(moved).sum())
        yield Compared(
            f"dataset {number} of {dataset.size} tokens",
            float(np.abs(moved - track.matrix(1)).max()),
            2 * eta * 2 * rounding / norm + basis,
        )


def _scores(dataset, rng):
    """Random scores of the tokens that stand before each query."""
    import numpy as np

    W = np.zeros((dataset.size, dataset.size))
    for sentence in dataset.sentences:
        tokens = [*set(sentence)]
        W[tokens, sentence[-1]] = rng.standard_normal(len(tokens))
    return W
