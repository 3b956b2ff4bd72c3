"""Laws of decay, t^-p (log t)^q, told apart on logarithmically spaced points.

With q whole, y t^p is a polynomial of degree q in log t up to terms that vanish with
1/t. On points equally spaced in log t that is a statement about finite differences:
the (q+1)-th vanishes, the q-th has the sign of the leading coefficient and does not.
With q > 0 it also grows: one that still falls tells nothing of its leading term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SPACING = 1e-3
"""Allowed relative deviation of the spacing in log t (whole numbers of steps)."""


class FitStatus(StrEnum):
    """What became of a fit.

    ``CONVERGED``: the law describes the points. ``BOUND_HIT``: so does one with fewer
    logarithms, or the values over t^-p still fall; the leading coefficient is at its
    bound 0. ``MISFIT``: it does not.
    ``ABNORMAL``: some value is not a positive finite number.
    """

    CONVERGED = "converged"
    BOUND_HIT = "bound hit"
    MISFIT = "misfit"
    ABNORMAL = "abnormal"


@dataclass(frozen=True)
class Fit:
    """A law held against one series.

    Attributes:
        status: What became of it.
        bend: Largest |(q+1)-th difference| of y t^p over its largest value.
        lead: Smallest q-th difference over the largest value; 1 for q = 0 by
            definition of a constant.
        rise: Smallest first difference over the largest value; 0 for q = 0.
        slopes: Local exponents d log y / d log t between neighbouring points.
        n: Points.
    """

    status: FitStatus
    bend: float
    lead: float
    rise: float
    slopes: tuple[float, ...]
    n: int


@dataclass(frozen=True)
class Law:
    """y ~ t^-power (log t)^logs.

    Attributes:
        power: p, any real number.
        logs: q, a whole number.

    >>> t = 2.0 ** np.arange(10, 16)
    >>> Law(2, 0).fit(t, 3 / t**2, tolerance=1e-3).status.value
    'converged'
    >>> Law(1, 0).fit(t, 3 / t**2, tolerance=1e-3).status.value
    'misfit'
    """

    power: float
    logs: int

    def __post_init__(self) -> None:
        if self.logs < 0 or not math.isfinite(self.power):
            raise ValueError(
                f"no law t^-{self.power} (log t)^{self.logs}: the power must be "
                "finite and the number of logarithms whole and not negative"
            )

    def __str__(self) -> str:
        logs = {0: "", 1: " log t"}.get(self.logs, f" (log t)^{self.logs}")
        return f"t^-{self.power:g}{logs}"

    def differences(self, t: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """The differences of y t^p that decide, over its largest value.

        Args:
            t: Points equally spaced in log t, shape ``(n,)``, at least q + 2 of them.
            y: Positive values, shape ``(..., n)``.

        Returns:
            The (q+1)-th differences ``(..., n-q-1)``, the q-th ``(..., n-q)``, and the
            first ``(..., n-1)``, which are all 0 for q = 0.

        Raises:
            ValueError: Too few points, or points that are not equally spaced.
        """
        times, values = _series(t, y)
        if len(times) < self.logs + 2:
            raise ValueError(f"{self} needs {self.logs + 2} points, got {len(times)}")
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(values) + self.power * np.log(times)
            scaled = np.exp(logs - logs.max(axis=-1, keepdims=True))
        lead = np.diff(scaled, n=self.logs, axis=-1)
        rise = np.diff(scaled, axis=-1) * bool(self.logs)
        return np.diff(lead, axis=-1), lead, rise

    def fit(self, t: ArrayLike, y: ArrayLike, tolerance: float) -> Fit:
        """Hold the law against one series.

        Args:
            t: Points equally spaced in log t, shape ``(n,)``.
            y: Values, shape ``(n,)``.
            tolerance: Allowed differences over the largest value of y t^p; see
                :func:`resolution` for one with a reason.

        Returns:
            The fit.
        """
        times, values = _series(t, y)
        if not (np.isfinite(values).all() and (values > 0).all()):
            nan = math.nan
            return Fit(FitStatus.ABNORMAL, nan, nan, nan, (), len(times))
        bends, leads, rises = self.differences(times, values)
        bend, lead = float(np.abs(bends).max()), float(leads.min())
        rise = float(rises.min())
        status = FitStatus.CONVERGED
        if bend > tolerance:
            status = FitStatus.MISFIT
        elif lead < tolerance or rise < -tolerance:
            status = FitStatus.BOUND_HIT
        slopes = tuple(local_slopes(times, values).tolist())
        return Fit(status, bend, lead, rise, slopes, len(times))


def _series(t: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    times = np.asarray(t, dtype=np.float64)
    values = np.asarray(y, dtype=np.float64)
    if times.ndim != 1 or values.shape[-1:] != times.shape or len(times) < 2:
        raise ValueError(
            f"`t` has shape {times.shape} and `y` {values.shape}; give (n,) and "
            "(..., n) with n >= 2"
        )
    steps = np.diff(np.log(times))
    if not (steps > 0).all() or np.ptp(steps) > SPACING * steps[0]:
        raise ValueError("`t` must increase in equal steps of log t")
    return times, values


def local_slopes(t: ArrayLike, y: ArrayLike) -> Floats:
    """Exponents d log y / d log t between neighbouring points.

    Args:
        t: Positive increasing points, shape ``(n,)``.
        y: Positive values, shape ``(..., n)``.

    Returns:
        Shape ``(..., n-1)``.

    >>> local_slopes([1.0, 10.0, 100.0], [1.0, 0.01, 1e-4]).round(6).tolist()
    [-2.0, -2.0]
    """
    times = np.asarray(t, dtype=np.float64)
    values = np.asarray(y, dtype=np.float64)
    slopes: Floats = np.diff(np.log(values), axis=-1) / np.diff(np.log(times))
    return slopes


def resolution(t: ArrayLike) -> float:
    """A quarter of the least difference by which neighbouring laws are told apart.

    Of the laws t^-p (log t)^q with q = 0, 1, 2 and whole p, the nearest two differ by a
    factor log t between p-equal laws of q = 1 and 2: the second difference of (log t)²
    is 2h², over its largest value (log t_max)².

    Args:
        t: Points equally spaced in log t, shape ``(n,)``.

    Returns:
        The tolerance.

    >>> round(resolution([2.0**14, 2.0**15, 2.0**16]), 5)
    0.00195
    """
    times, _ = _series(t, t)
    step = float(np.log(times[-1] / times[0])) / (len(times) - 1)
    return 0.25 * 2 * step**2 / math.log(float(times[-1])) ** 2


def against(
    law: Law, tolerance: float, points: int
) -> tuple[list[Any], list[Any], list[Any]]:
    """Relations over columns ``u0 .. u{points-1}`` that say a law fails.

    Args:
        law: The law; the columns hold y t^p over its largest value.
        tolerance: As for :meth:`Law.fit`.
        points: Number of points.

    Returns:
        "Some (q+1)-th difference exceeds the tolerance", "some q-th difference is
        below it" and, for q > 0, "some first difference is below its negative", for
        records of kind ``table``; for q = 0 the third is the second.

    >>> against(Law(2, 0), 0.5, 2)[0]  # doctest: +NORMALIZE_WHITESPACE
    ['>', ['abs', ['add', ['mul', -1, ['in', 'u0']], ['mul', 1, ['in', 'u1']]]],
     '0x1.0000000000000p-1']
    """
    bends = [
        ["abs", _difference(k, law.logs + 1)] for k in range(points - law.logs - 1)
    ]
    leads = [_difference(k, law.logs) for k in range(points - law.logs)]
    rises = [_difference(k, 1) for k in range(points - 1)]
    bound_hit = ["<", _least(leads), tolerance.hex()]
    return (
        [">", bends[0] if len(bends) == 1 else ["max", *bends], tolerance.hex()],
        bound_hit,
        ["<", _least(rises), (-tolerance).hex()] if law.logs else bound_hit,
    )


def _least(differences: list[list[Any]]) -> list[Any]:
    return differences[0] if len(differences) == 1 else ["min", *differences]


def _difference(first: int, order: int) -> list[Any]:
    """The difference of an order as a tree: sum of (-1)^(order-i) binom u_(first+i)."""
    terms: list[Any] = [
        ["mul", (-1) ** (order - i) * math.comb(order, i), ["in", f"u{first + i}"]]
        for i in range(order + 1)
    ]
    return terms[0] if len(terms) == 1 else ["add", *terms]
