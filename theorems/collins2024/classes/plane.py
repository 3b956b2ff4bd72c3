"""The loss in M for d = n = 2, by quadrature over three angles.

The average over tasks is exact (by the kernel), and so is that over noise:

    L = E[(g1^2 + g2^2)(rho(x1, x1) + s^2) + 2 g1 g2 rho(x1, x2) + rho(x, x)
          - 2 g1 rho(x1, x) - 2 g2 rho(x2, x)].

The integrand is periodic and analytic in each angle for affine tasks, so that the
trapezoid rule converges geometrically; the error is taken from a second, finer grid.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
COARSE, FINE = 20, 32  # points per angle


@dataclass(frozen=True)
class Setting:
    """Affine tasks f(x) = l w.x + b, w = T v, covariates x = C u; u, v uniform.

    Attributes:
        covariates: C, 2 x 2.
        tasks: T, 2 x 2.
        variance: sigma^2, with L = 1.
    """

    covariates: ArrayLike
    tasks: ArrayLike
    variance: float

    def loss(self, M: ArrayLike, points: int = COARSE) -> float:
        """The loss (ICL) at a 2 x 2 matrix M."""
        angles = 2 * np.pi * np.arange(points) / points
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        x = circle @ np.asarray(self.covariates, dtype=float).T
        direction = np.asarray(self.tasks, dtype=float)
        rho = (
            1 + x @ direction @ direction.T @ x.T / 2
        ) / 3  # E l^2 = 1/3, E vv' = I/2
        score = x @ np.asarray(M, dtype=float) @ x.T  # of token i for query q
        first, second = score[:, None, :], score[None, :, :]
        g1 = 1 / (1 + np.exp(second - first))
        g2 = 1 - g1
        own = np.diag(rho) + self.variance
        value = g1**2 * own[:, None, None] + g2**2 * own[None, :, None]
        value += 2 * g1 * g2 * rho[:, :, None] + np.diag(rho)[None, None, :]
        value -= 2 * g1 * rho[:, None, :] + 2 * g2 * rho[None, :, :]
        return float(value.mean())

    def least(self, form: ArrayLike, reach: float = 12.0) -> "Least":
        """The least loss at w * form, w in [0, reach], and where."""
        shape = np.asarray(form, dtype=float)
        scales = np.linspace(0, reach, 13)
        values = [self.loss(w * shape) for w in scales]
        k = int(np.argmin(values))
        w = _golden(
            lambda w: self.loss(w * shape),
            scales[max(k - 1, 0)],
            scales[min(k + 1, len(scales) - 1)],
        )
        coarse, fine = self.loss(w * shape), self.loss(w * shape, FINE)
        return Least(w, fine, abs(coarse - fine))


@dataclass(frozen=True)
class Least:
    """A minimum along a ray of matrices.

    Attributes:
        scale: w.
        value: The loss there, on the finer grid.
        error: Its difference from the coarser grid.
    """

    scale: float
    value: float
    error: float


def _golden(function: Callable[[float], float], low: float, high: float) -> float:
    """Golden-section search: 24 steps shrink a bracket of 2 to 2e-5.

    At a minimum the loss is flat: an error of 2e-5 in w costs 2e-10 of its curvature.
    """
    ratio = (np.sqrt(5) - 1) / 2
    a, b = low, high
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(24):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = function(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = function(d)
    return float((a + b) / 2)
