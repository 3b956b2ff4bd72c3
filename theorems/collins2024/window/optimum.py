"""The exact optimum of the population loss, for figures and trained runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.outcome import Series

Floats = NDArray[np.float64]

# From "no window" to far beyond every optimum of the figures (n <= 200, d >= 2: the
# nearest token is alone in a window of w ~ n^{2/(d-1)} <= 4e4; figures have d = 5, or
# d = 2 with n <= 128, where w* < 1e3).
SCALES = np.concatenate([[0.0], np.geomspace(0.1, 1e3, 13)])


@dataclass(frozen=True)
class Class:
    """A class of tasks, by the letters of the paper.

    Attributes:
        name: ``affine``, ``relu`` or ``cosine``.
        L: Lipschitz constant.
    """

    name: str
    L: float

    def __str__(self) -> str:
        words = {"affine": "affine", "relu": "ReLU", "cosine": "cosine"}[self.name]
        return f"{words}, L = {self.L:g}"

    def at(self, d: int) -> Any:
        """The class as weights of harmonic degrees, in dimension d."""
        from theorems.collins2024 import loss

        if self.name == "cosine":
            # The masses fall faster than any power; what is left of them below the
            # rounding of their sum is counted as `rest`.
            wave = loss.cosine(d, self.L)
            tails = np.cumsum(wave.weights[::-1])[::-1]
            count = int(np.sum(tails > np.finfo(float).eps * tails[0]))
            rest = wave.rest + float(wave.weights[count:].sum())
            kept = wave.degrees[:count]
            return loss.isotropic("cosine", d, kept, wave.weights[:count], rest)
        return {"affine": loss.affine, "relu": loss.relu}[self.name](d, self.L)


def best(task: Any, n: int, sigma: float) -> float:
    """Minimise the loss over w >= 0, w = 0 included.

    Args:
        task: A class of ``theorems.collins2024.loss``.
        n: Labelled tokens.
        sigma: Standard deviation of the noise.

    Returns:
        w*; 0.0 where no window is better than averaging all labels.
    """
    from scipy.optimize import brentq

    from theorems.collins2024.loss import evaluate, minimise

    if 1 in task.degrees:  # w = 0 is not stationary, and Newton's method starts well
        return float(minimise(task, n, sigma).w)
    at = int(np.argmin(evaluate(task, SCALES, n, sigma).value))
    if at == 0:
        return 0.0
    low, high = SCALES[max(at - 1, 1)], SCALES[min(at + 1, len(SCALES) - 1)]

    def slope(y: float) -> float:
        return float(evaluate(task, np.exp(y), n, sigma, order=1).slope)

    return float(np.exp(brentq(slope, np.log(low), np.log(high), xtol=1e-9)))


def windows(
    name: str, d: int, L: Sequence[float], n: Sequence[float], sigma: Sequence[float]
) -> Floats:
    """w* of each setting of affine or ReLU tasks, by the sign change of the slope.

    Args:
        name: ``affine`` or ``relu``.
        d: Dimension.
        L: Lipschitz constants.
        n: Labelled tokens.
        sigma: Standard deviations of the noise, positive.

    Returns:
        One per setting. Scaling f and σ together leaves w* alone, so that all are
        settings of the class with L = 1.
    """
    from theorems.collins2024.loss import minimise

    ratio = np.asarray(sigma, dtype=float) / np.asarray(L, dtype=float)
    found = minimise(Class(name, 1.0).at(d), np.asarray(n, dtype=float), ratio)
    return np.asarray(found.w, dtype=np.float64)


def level(label: str, value: float, steps: Sequence[int]) -> Series:
    """A horizontal line of a figure at the exact optimum."""
    return Series(label, [float(steps[0]), float(steps[-1])], [value, value])
