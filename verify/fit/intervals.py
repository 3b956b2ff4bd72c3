"""Student intervals over per-seed statistics.

Seeds are independent, so the mean of one number per seed has a Student interval. A
bootstrap over ten seeds does not keep its promise in the tails (98.3 % where 99.9 % was
promised); it may describe, but not decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MINIMUM = 32  # seeds below which an interval does not decide
STANDARD_ERRORS = 4.0  # an effect closer to a boundary than this is undecided


@dataclass(frozen=True)
class Interval:
    """An interval for a mean.

    Attributes:
        mean: The estimate.
        low: Lower end.
        high: Upper end.
        error: Standard error of the mean.
        reach: Half the width, in standard errors.
        n: Seeds.
        level: Probability that the interval misses the mean.
    """

    mean: float
    low: float
    high: float
    error: float
    reach: float
    n: int
    level: float

    @property
    def separation(self) -> float:
        """Distance of 0 from the mean over half the width; above 1 it lies outside."""
        width = self.reach * self.error
        if width:
            return self.mean / width
        return float(np.copysign(np.inf, self.mean)) if self.mean else 0.0


def student(values: ArrayLike, level: float) -> Interval:
    """Make the two-sided Student interval of a mean.

    Args:
        values: One number per independent seed, shape ``(n,)``, finite.
        level: Probability that the interval misses the mean.

    Returns:
        The interval, never narrower than four standard errors to each side.

    Raises:
        ValueError: Fewer than two values, one that is not finite, or a level outside
            ``(0, 1)``.

    >>> i = student([1.0, 2.0, 3.0, 4.0], level=0.05)
    >>> (i.mean, round(i.low, 2), round(i.high, 2)) == (2.5, -0.08, 5.08)
    True
    """
    from scipy import stats

    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size < 2 or not np.isfinite(sample).all():
        raise ValueError(
            f"`values` must be at least two finite numbers, one per seed; got shape "
            f"{sample.shape} with {int(np.sum(~np.isfinite(sample)))} not finite"
        )
    if not 0 < level < 1:
        raise ValueError(f"`level` must lie in (0, 1), got {level}")
    mean = float(sample.mean())
    error = float(sample.std(ddof=1) / np.sqrt(sample.size))
    quantile = float(stats.t.isf(level / 2, sample.size - 1))
    reach = max(quantile, STANDARD_ERRORS)
    return Interval(
        mean, mean - reach * error, mean + reach * error, error, reach,
        sample.size, level,
    )  # fmt: skip


def mean_is(sign: str, values: ArrayLike, interval: Interval, says: str) -> Any:
    """Record that an interval lies on one side of 0, so that anyone can recompute it.

    Args:
        sign: ``>`` for an interval above 0, ``<`` for one below.
        values: What the interval was made of, shape ``(n,)``.
        interval: The interval.
        says: What the numbers are.

    Returns:
        A record of kind ``table``: each value and its exact square; the relation forms
        mean and standard error anew and compares.

    >>> from verify.recheck import decide
    >>> values = [2.0, 2.5, 3.0, 2.5]
    >>> decide(mean_is(">", values, student(values, 0.05), "gains")).valid
    True
    """
    rows = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        square = Fraction(value) ** 2
        rows.append([value.hex(), f"{square.numerator}/{square.denominator}"])
    mean, squares = ["in", "value"], ["in", "square"]
    variance = ["div", ["sub", squares, ["mul", mean, mean]], interval.n - 1]
    far = ["mul", interval.reach.hex(), ["sqrt", variance]]
    side = ["sub", mean, far] if sign == ">" else ["add", mean, far]
    return {
        "kind": "table",
        "says": f"{says}: mean {'-' if sign == '>' else '+'} {interval.reach:.3g} "
        f"standard errors is {sign} 0",
        "columns": ["value", "square"],
        "rows": rows,
        "aggregate": "mean",
        "relation": [sign, side, 0],
    }
