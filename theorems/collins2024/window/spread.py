"""Bias and variance of the estimate, for Figure 2.

For an affine task the estimate at x, averaged over tokens and noise, misses f(x) by
l (w·x) b with ``b = E Σ γ_i u_i``, ``u_i = 1 - x_i·x``; noise gives it the variance
σ² V, ``V = E Σ γ_i²``. Both are integrals over ``S = Σ e^{-w u_i}``, since
``1/S = ∫ e^{-sS} ds``:  ``b = n ∫ A_1 A_0^{n-1} ds`` with ``A_0 = E e^{-s e}``,
``A_1 = E e u e^{-s e}``, ``e = e^{-w u}``.
"""

from __future__ import annotations

from functools import cache

import numpy as np

NODES = 400  # Gauss-Legendre in the angle; e^{-w u} is at least .1 wide: 12 nodes
# Trapezoid in log s: the integrand, of width 1, is analytic in a strip of width π/2, so
# that a step of .1 leaves e^{-10 π²}. It falls like s below 1, and beyond e^{2w}, where
# even the farthest token has S s > 1, like e^{-s}.
STEP = 0.1
LARGEST = 100.0
LOGS = np.arange(-40.0, 2 * LARGEST + 10, STEP)


@cache
def _rule() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(NODES)


def bias(w: float, n: int, d: int) -> float:
    """b, for w from 0 to 100 and n up to a few hundred."""
    x, weights = _rule()
    angle = (x + 1) * np.pi / 2
    p = weights * np.sin(angle) ** (d - 2)
    p /= p.sum()
    u = 1 - np.cos(angle)
    e, s = np.exp(-w * u), np.exp(LOGS)
    kernel = np.exp(-np.outer(s, e))
    A_0, A_1 = kernel @ p, kernel @ (p * e * u)
    return float(n * np.sum(s * A_1 * A_0 ** (n - 1)) * STEP)
