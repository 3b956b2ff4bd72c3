"""Intervals for means of per-seed statistics.

Seeds are independent, so the mean of one number per seed has a Student interval. In a
skewed sample the mean and its error move together, and Student's interval misses on the
side of the long tail: at level 1.7e-7, of 5 million samples of 32 exponential seeds,
200 times in a million. There it is widened by Hall's transformation, which takes the
skewness from the sample (8 in a million are left; `benchmarks/power` measures what that
does to verdicts). A tail that no seed shows cannot be allowed for. A bootstrap over ten
seeds does not keep its promise in the tails either (98.3 % where 99.9 % was promised);
it may describe, but not decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MINIMUM = 32  # seeds below which an interval does not decide
STANDARD_ERRORS = 4.0  # an effect closer to a boundary than this is undecided
WIDEST = 3.0
"""Most that skewness widens a side, in Student's quantiles. Where Hall's transformation
leaves its range, this still decides effects of some 20 standard errors; it costs little
(32 lognormal seeds of skewness 33 miss 2.0 instead of 1.8 times in ten thousand)."""


@dataclass(frozen=True)
class Interval:
    """An interval for a mean.

    Attributes:
        mean: The estimate.
        low: Lower end.
        high: Upper end.
        error: Standard error of the mean.
        below: What lies below the mean, in standard errors.
        above: What lies above the mean, in standard errors.
        n: Seeds.
        level: Probability that the interval misses the mean.
    """

    mean: float
    low: float
    high: float
    error: float
    below: float
    above: float
    n: int
    level: float

    @property
    def separation(self) -> float:
        """Distance of 0 from the mean over that of the end; above 1 it lies outside.

        Negative where the mean is.
        """
        width = (self.below if self.mean > 0 else self.above) * self.error
        if width:
            return self.mean / width
        return float(np.copysign(np.inf, self.mean)) if self.mean else 0.0


def mean_interval(values: ArrayLike, level: float) -> Interval:
    """Make the two-sided interval of a mean: Student's, wider toward a long tail.

    Args:
        values: One number per independent seed, shape ``(n,)``, finite.
        level: Probability that the interval misses the mean.

    Returns:
        The interval, never narrower than Student's or than four standard errors to each
        side. Where the sample is skewed, the side of the longer tail reaches as far as
        Hall's cubic transformation of the t-statistic says (P. Hall, "On the removal of
        skewness by transformation", J. R. Stat. Soc. B 54, 1992), `WIDEST` times
        Student's quantile at most.

    Raises:
        ValueError: Fewer than two values, one that is not finite, or a level outside
            ``(0, 1)``.

    >>> i = mean_interval([1.0, 2.0, 3.0, 4.0], level=0.05)
    >>> (i.mean, round(i.low, 2), round(i.high, 2)) == (2.5, -0.08, 5.08)
    True
    >>> i = mean_interval([1.0, 1.0, 1.0, 1.0, 1.0, 3.0], level=0.05)
    >>> (i.below, round(i.above, 1))
    (4.0, 12.0)
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
    slant = 0.0
    if error:
        scaled = (sample - mean) / sample.std()
        # Products, since a power of floats may round otherwise for the mirrored sample.
        slant = float(np.mean(scaled * scaled * scaled) / np.sqrt(sample.size))
    below, above = _widened(reach, -slant), _widened(reach, slant)
    return Interval(
        mean, mean - below * error, mean + above * error, error, below, above,
        sample.size, level,
    )  # fmt: skip


def _widened(reach: float, slant: float) -> float:
    """The distance toward a tail, in standard errors.

    Hall's T + slant T²/3 + slant² T³/27 + slant/6 of the t-statistic T has almost a
    normal law; this is -T where it equals -reach.

    Args:
        reach: Without a tail.
        slant: Skewness toward this side over the root of the sample's size.

    Returns:
        The wider distance, ``reach`` where there is no tail.
    """
    if not slant > 0:
        return reach
    inside = 1 - slant * (reach + slant / 6)
    if inside <= 0:
        return WIDEST * reach
    return float(np.clip(3 / slant * (1 - np.cbrt(inside)), reach, WIDEST * reach))


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
    >>> decide(mean_is(">", values, mean_interval(values, 0.05), "gains")).valid
    True
    """
    rows = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        square = Fraction(value) ** 2
        rows.append([value.hex(), f"{square.numerator}/{square.denominator}"])
    mean, squares = ["in", "value"], ["in", "square"]
    variance = ["div", ["sub", squares, ["mul", mean, mean]], interval.n - 1]
    reach = interval.below if sign == ">" else interval.above
    far = ["mul", reach.hex(), ["sqrt", variance]]
    side = ["sub", mean, far] if sign == ">" else ["add", mean, far]
    return {
        "kind": "table",
        "says": f"{says}: mean {'-' if sign == '>' else '+'} {reach:.3g} "
        f"standard errors is {sign} 0",
        "columns": ["value", "square"],
        "rows": rows,
        "aggregate": "mean",
        "relation": [sign, side, 0],
    }
