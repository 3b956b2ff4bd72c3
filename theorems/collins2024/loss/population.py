"""The loss of a class of tasks, with derivatives in ``w``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theorems.collins2024.loss.integrals import point
from theorems.collins2024.loss.moments import validated
from theorems.collins2024.loss.nodes import Floats, nearest
from theorems.collins2024.loss.tasks import TaskClass

# What the degrees that are not kept apart may change, relative to the signal; and
# where few tokens have weight: a kink then needs degrees in proportion to the inverse
# distance of tokens, and only the loss and its slope are held to it.
ACCURACY, NEAREST = 1e-13, 1e-9
MOST, MOST_NEAREST = 2**17, 600


class Loss(NamedTuple):
    """The loss ``signal + noise`` and its derivatives in ``w``.

    Attributes:
        value: ``signal + noise``.
        signal: Error on the labels without noise (squared bias).
        noise: ``sigma^2 V``.
        slope: First derivative, or None.
        curvature: Second derivative, or None.
    """

    value: Floats
    signal: Floats
    noise: Floats
    slope: Floats | None = None
    curvature: Floats | None = None


class Summed(NamedTuple):
    """The loss of one point.

    Attributes:
        table: Signal and ``V`` (rows), derivatives (columns).
        missing: What the rest's error may be, relative to the signal.
    """

    table: Floats
    missing: float


def parts(task: TaskClass, w: float, n: float, order: int) -> Floats:
    """Signal (row 0) and ``V`` (row 1), derivatives in ``w`` (columns) of one point.

    Of order 2 a last column is ``d/dn`` of the first derivative.
    """
    if task.up_to is None:
        return summed(task, w, n, point(w, n, task.d, task.degrees, order)).table
    few = nearest(task.d, abs(w), n)
    accuracy, most = (NEAREST, MOST_NEAREST) if few else (ACCURACY, MOST)
    # Degrees beyond several sqrt(w) see an average of independent values.
    last = 64 if few else 16 + 2 * int(np.ceil(4 * np.sqrt(abs(w))))
    while True:
        wider = task.up_to(last)
        found = summed(wider, w, n, point(w, n, task.d, wider.degrees, order), few)
        if found.missing <= accuracy:
            return found.table
        if last >= most:
            raise ValueError(
                f"{task.name}, d = {task.d}: the loss at w = {w:g}, n = {n:g} needs "
                f"more than {last} degrees; choose a smaller |w| or a larger n"
            )
        last = 2 * int(0.75 * last)


def summed(
    task: TaskClass, w: float, n: float, found: list[Floats], few: bool = False
) -> Summed:
    """Weigh the moments; bound what the degrees that are not kept apart may change."""
    table, missing = np.empty((2, len(found))), 0.0
    # By a factor e of w, or of n, quantities change by as much as they are.
    units = 1.0, max(abs(w), 1.0), max(abs(w), 1.0) ** 2, max(abs(w), 1.0) * n
    for column, values in enumerate(found):
        V, E = values[0], values[1:]
        far = V + (1.0 if column == 0 else 0.0)
        table[:, column] = task.weights @ E + task.rest * far, V
        if task.rest > 0 and not (few and column > 1):
            change = task.rest * np.abs(E[-2:] - far).max() * units[column]
            missing = max(missing, float(change / table[0, 0]))
    return Summed(table, missing)


def evaluate(
    task: TaskClass, w: ArrayLike, n: ArrayLike, sigma: ArrayLike, order: int = 0
) -> Loss:
    """Evaluate the loss; all arguments broadcast.

    Args:
        task: The class of tasks.
        w: Scales of the attention, any sign.
        n: Numbers of labelled tokens, at least 1.
        sigma: Standard deviations of the labels' noise, at least 0.
        order: Number of derivatives in ``w``: 0, 1 or 2.

    Raises:
        ValueError: An argument is out of its range.
    """
    w, n = validated(w, n, task.d, order)
    variance = squared(sigma)
    # sigma costs nothing: the pairs (w, n) are integrated once.
    known: dict[tuple[float, float], Floats] = {}
    pairs = list(zip(w.ravel().tolist(), n.ravel().tolist(), strict=True))
    for pair in pairs:
        if pair not in known:
            known[pair] = parts(task, *pair, order)
    table = np.array([known[pair] for pair in pairs]).reshape(*w.shape, 2, -1)
    signal, noise = table[..., 0, :], table[..., 1, :]
    signal, noise = np.broadcast_arrays(signal, noise * variance[..., None])
    total = signal + noise
    derivatives = [total[..., m] for m in range(1, order + 1)]
    return Loss(total[..., 0], signal[..., 0], noise[..., 0], *derivatives)


def squared(sigma: ArrayLike) -> Floats:
    """``sigma^2``, for ``sigma >= 0``."""
    sigma = np.asarray(sigma, dtype=np.float64)
    if not np.all((sigma >= 0) & np.isfinite(sigma)):
        raise ValueError(f"sigma is finite and at least 0; got {sigma.min()}")
    return sigma**2
