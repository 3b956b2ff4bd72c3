"""The scores of Table 1, in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.float64]


def matthews(truth: Labels, found: Labels) -> float:
    """Matthews correlation of two binary labellings; 0 when one is constant."""
    return pearson(truth, found)


def pearson(truth: Labels, found: Labels) -> float:
    """Linear correlation; 0 when one side is constant."""
    x, y = truth - truth.mean(), found - found.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size > 0 else 0.0


def spearman(truth: Labels, found: Labels) -> float:
    """Correlation of ranks, ties sharing theirs."""
    return pearson(_ranks(truth), _ranks(found))


def _ranks(values: Labels) -> Labels:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + 1 + last) / 2)[which]


def accuracy(truth: Labels, found: Labels) -> float:
    """Share of equal labels."""
    return float(np.mean(truth == found))


def f1(truth: Labels, found: Labels) -> float:
    """Harmonic mean of precision and recall of label 1; 0 without a hit."""
    hits = float(np.sum((truth == 1) & (found == 1)))
    return 2 * hits / float(np.sum(truth == 1) + np.sum(found == 1)) if hits else 0.0


SCORES: dict[str, Callable[[Labels, Labels], float]] = {
    "Matthews correlation": matthews,
    "F1": f1,
    "accuracy": accuracy,
    "Pearson correlation": pearson,
    "Spearman correlation": spearman,
}
