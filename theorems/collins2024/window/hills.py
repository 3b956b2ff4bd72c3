"""Randomly shifted cosines on the circle, and the best attention on them: Figure 1.

``f(x) = cos(ν θ(x) - b)``, ``θ`` the angle of ``x`` in ``(-π, π]``, ``b`` uniform. Its
Fourier coefficient of frequency ``k`` is ``½ e^{-ib} s(ν - k) + ½ e^{ib} s(ν + k)``,
``s(a) = sin(π a) / (π a)``; averaged over ``b``, frequencies ``±k`` together have the
mass ``½ (s(ν - k)² + s(ν + k)²)``, and ``½ s(ν)²`` for ``k = 0``, which cancels.
For M = w I the covariates may be turned at will, so that only these masses matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from theorems.collins2024.window.optimum import best

# Frequencies kept apart; the masses of ν = 1.5, which jumps at θ = π, fall like k^-2.
# The rest of them, .003 of .5, is counted as if its values were independent.
FREQUENCIES = 32
VARIANCE = 0.5  # of cos(ν θ - b), whatever ν


class Errors(NamedTuple):
    """Least errors at one ν and n: softmax with its window w*, and linear attention."""

    softmax: float
    linear: float
    window: float


def masses(nu: float) -> Any:
    """The class as masses of the frequencies from 1 on."""
    from theorems.collins2024.loss import isotropic

    k = np.arange(1, FREQUENCIES + 1)
    weights = (np.sinc(nu - k) ** 2 + np.sinc(nu + k) ** 2) / 2
    rest = VARIANCE - np.sinc(nu) ** 2 / 2 - weights.sum()
    # A whole ν has one mass; what is left of the others is rounding.
    kept = weights > np.finfo(float).eps
    degrees = tuple(int(one) for one in k[kept])
    rest = max(float(rest), 0.0) if len(degrees) > 1 else 0.0
    return isotropic("hills", 2, degrees, weights[kept], rest)


def linear(nu: float, n: int, sigma: float) -> float:
    """Least error of Σ y_i x_iᵀ M x over M = c I (Remark 2.2).

    With K = E f² and c_1 the mass of frequency 1, as in Theorem 3.6: error
    K - 2cn c_1/d + c² (n (K + σ²)/d + n (n-1) c_1/d²), whose least value is
    K - n c_1² / (d (K + σ²) + (n-1) c_1).
    """
    c_1 = float(np.sinc(nu - 1) ** 2 + np.sinc(nu + 1) ** 2) / 2
    gain = n * c_1**2 / (2 * (VARIANCE + sigma**2) + (n - 1) * c_1)
    return VARIANCE - gain


def errors(nu: float, n: int, sigma: float) -> Errors:
    """Least errors of both kinds of attention."""
    from theorems.collins2024.loss import evaluate

    if nu == 0:  # constants: averaging is exact up to noise (Remark 2.1)
        return Errors(sigma**2 / n, linear(nu, n, sigma), 0.0)
    task = masses(nu)
    w = best(task, n, sigma)
    return Errors(float(evaluate(task, w, n, sigma).value), linear(nu, n, sigma), w)
