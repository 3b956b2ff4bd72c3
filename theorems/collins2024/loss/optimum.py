"""The scale that minimises the loss, and how it moves with noise and samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theorems.collins2024.loss.moments import validated
from theorems.collins2024.loss.nodes import Floats
from theorems.collins2024.loss.population import parts, squared
from theorems.collins2024.loss.tasks import TaskClass

# In log w: the last step of Newton's method (its square is the error), the longest.
SETTLED, LONGEST = 1e-9, float(np.log(8))
# Relative distance of the points where the sign change is verified.
NEIGHBOUR = 1e-6
ITERATIONS = 200


class Sensitivity(NamedTuple):
    """Elasticities of the optimum, by implicit differentiation of ``L'(w) = 0``.

    Attributes:
        noise: ``d log w* / d log sigma^2``; for classes scaled by ``L`` minus
            ``d log w* / d log L^2``.
        samples: ``d log w* / d log n``.
    """

    noise: Floats
    samples: Floats


class Optimum(NamedTuple):
    """A stationary point ``w*``, with ``L' < 0`` just below it, ``L' > 0`` above.

    Attributes:
        w: Its position.
        value: The loss there.
        curvature: Second derivative there.
        sensitivity: How it moves.
    """

    w: Floats
    value: Floats
    curvature: Floats
    sensitivity: Sensitivity


def minimise(task: TaskClass, n: ArrayLike, sigma: ArrayLike) -> Optimum:
    """Find the minimiser of the loss over ``w > 0``.

    Newton's method in ``log w``, kept inside a bracket on which ``L'`` changes sign.
    The loss is observed, not proved, to have one stationary point there.

    Args:
        task: A class whose loss falls at ``w = 0``; each with mass in degree 1 does.
        n: Numbers of labelled tokens, more than 1; broadcast with ``sigma``.
        sigma: Standard deviations of the labels' noise, at least 0.

    Raises:
        ValueError: An argument is out of its range, or the loss does not fall at 0.
    """
    n, _ = validated(n, n, task.d, 0)
    n, variance = np.broadcast_arrays(n, squared(sigma))
    if not np.all(n > 1):
        raise ValueError("n is more than 1: with one token no scale matters")
    rows = [
        solve(task, float(a), float(b))
        for a, b in zip(n.ravel(), variance.ravel(), strict=True)
    ]
    table = np.array(rows).reshape(*n.shape, 5)
    w, value, curvature, noise, samples = np.moveaxis(table, -1, 0)
    return Optimum(w, value, curvature, Sensitivity(noise, samples))


def guess(task: TaskClass, n: float, variance: float) -> float:
    """Start where noise, or the spacing of tokens, balances the bias.

    ``L'(0) = -2 c_1 (1 - 1/n) / d`` and ``sigma^2 V'' = 2 sigma^2 / (n d)`` at 0 give
    ``n c_1 / sigma^2`` where that is small.
    """
    mass = float(task.weights[np.array(task.degrees) == 1].sum())
    if mass == 0:
        signal, noise = parts(task, 0.0, n, 2)
        if signal[2] + variance * noise[2] >= 0:
            raise ValueError(
                f"{task.name}: the loss does not fall at w = 0 for n = {n:g}, "
                f"sigma^2 = {variance:g}; evaluate it on a grid instead"
            )
        mass = signal[0] / task.d
    ratio = n * mass / variance if variance > 0 else np.inf
    noisy = (task.d * ratio) ** (2 / (task.d + 2))
    return min(ratio, 0.5 * noisy, 2 * n ** (2 / (task.d + 1)))


def newton(w: float, signal: Floats, noise: Floats) -> float:
    """Choose a step in ``log w`` towards ``L' = 0``.

    Far from it, where bias and noise are powers of ``w``, Newton's method for
    ``log(-signal') = log(noise')``; near it for ``L'`` itself.
    """
    _, slope, curvature, _ = signal + noise
    step = -slope / (w * curvature) if curvature > 0 else -np.sign(slope) * LONGEST
    if abs(step) > 0.05 and signal[1] < 0 < noise[1]:
        bend = w * (signal[2] / signal[1] - noise[2] / noise[1])
        if bend < 0:
            step = -np.log(-signal[1] / noise[1]) / bend
    return float(np.clip(step, -LONGEST, LONGEST))


def solve(task: TaskClass, n: float, variance: float) -> list[float]:
    """Find ``w*`` for one point; give the loss, curvature and elasticities there."""
    w, low, high = guess(task, n, variance), 0.0, np.inf
    for _ in range(ITERATIONS):
        signal, noise = parts(task, w, n, 2)
        noise = variance * noise
        value, slope, curvature, samples = signal + noise
        low, high = (w, high) if slope < 0 else (low, w)
        step = newton(w, signal, noise)
        if abs(step) < SETTLED and curvature > 0:
            break
        inside = low < w * np.exp(step) < high
        w = w * np.exp(step) if inside else between(low, high, w)
    else:
        raise ValueError(
            f"{task.name}: no sign change of the slope was isolated for n = {n:g}, "
            f"sigma^2 = {variance:g}; last scale {w:g}, bracket ({low:g}, {high:g})"
        )
    at = w * np.exp(step)
    verify_sign_change(task, at, n, variance)
    scale = at * curvature
    return [at, value, curvature, -noise[1] / scale, -n * samples / scale]


def between(low: float, high: float, w: float) -> float:
    """A point inside the bracket, geometrically in the middle."""
    if high == np.inf:
        return 2 * w
    return float(np.sqrt(low * high)) if low > 0 else w / 2


def verify_sign_change(task: TaskClass, w: float, n: float, variance: float) -> None:
    """Check that the slope is negative just below ``w`` and positive just above."""
    for factor in (1 - NEIGHBOUR, 1 + NEIGHBOUR):
        signal, noise = parts(task, w * factor, n, 1)
        if (signal[1] + variance * noise[1]) * (factor - 1) <= 0:
            raise ValueError(
                f"{task.name}: the slope does not change sign at w = {w:g} "
                f"(n = {n:g}, sigma^2 = {variance:g})"
            )
