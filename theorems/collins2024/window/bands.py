"""Means over seeds, each claimed to lie in a range, decided at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.fit.intervals import MINIMUM, Interval, mean_interval, mean_is
from verify.outcome import Holds, Inconclusive, Outcome, Refuted
from verify.verdict import Cause

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """A range in which the mean of one number per seed should lie.

    Attributes:
        says: What the numbers are.
        values: One per seed; NaN where a run diverged.
        low: Lower end.
        high: Upper end.
    """

    says: str
    values: Floats
    low: float
    high: float


def spread(values: Floats) -> tuple[list[float], list[float], list[float]]:
    """Mean and the 5 to 95 % range over seeds, for figures.

    Args:
        values: ``(seeds, points)``; a row with a NaN, a run that diverged, is left out.

    Returns:
        Means, lower and upper edges, ``(points,)`` each; empty where no run is left.
    """
    kept = values[np.isfinite(values).all(axis=1)]
    if not len(kept):
        return [], [], []
    low, high = np.quantile(kept, [0.05, 0.95], axis=0)
    return kept.mean(axis=0).tolist(), low.tolist(), high.tolist()


@dataclass(frozen=True)
class _Judged:
    band: Band
    values: Floats
    interval: Interval

    @property
    def slack(self) -> float:
        """Distance of the interval from the nearer end, over half the range."""
        band, i = self.band, self.interval
        half = (band.high - band.low) / 2
        return float(min(i.low - band.low, band.high - i.high) / half)

    @property
    def beyond(self) -> float:
        """How far the whole interval lies outside; negative where it does not."""
        band, i = self.band, self.interval
        return float(max(band.low - i.high, i.low - band.high))


def within(bands: Sequence[Band], level: float, **evidence: Any) -> Outcome:
    """Decide whether all means lie in their ranges, with error probability ``level``.

    The level is shared out evenly (Bonferroni). The margin is the distance of the
    interval from the nearer end of the range, over half the range.

    Args:
        bands: At least one, with at least 32 seeds each.
        level: Error probability of the whole decision.
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS if every interval lies in its range, REFUTED with a recomputable witness
        if one lies wholly outside, INCONCLUSIVE otherwise.
    """
    kept = [band.values[np.isfinite(band.values)] for band in bands]
    lost = sum(len(b.values) for b in bands) - sum(map(len, kept))
    common: dict[str, Any] = {
        "n": sum(map(len, kept)),
        "discards": {"the run diverged": lost} if lost else {},
        "level": level,
        **evidence,
    }
    short = [b.says for b, v in zip(bands, kept, strict=True) if len(v) < MINIMUM]
    if short:
        reason = f"fewer than {MINIMUM} finished seeds: {', '.join(short)}"
        return Inconclusive(reason, cause=Cause.BUDGET, **common)
    share = level / len(bands)
    found = [
        _Judged(band, values, mean_interval(values, share))
        for band, values in zip(bands, kept, strict=True)
    ]
    worst = max(found, key=lambda one: one.beyond)
    if worst.beyond > 0:
        return _outside(worst, share, common)
    return _inside(min(found, key=lambda one: one.slack), common)


def _inside(tightest: _Judged, common: dict[str, Any]) -> Outcome:
    band, i = tightest.band, tightest.interval
    common |= {
        "measured": i.mean,
        "target": (band.low + band.high) / 2,
        "interval": (i.low, i.high),
    }
    says = f"{band.says} is {i.mean:.4g} ± {i.error:.2g} "
    says += f"in [{band.low:.4g}, {band.high:.4g}]"
    if tightest.slack >= 0:
        return Holds(f"tightest: {says}", margin=tightest.slack, **common)
    return Inconclusive(
        f"an interval reaches out: {says}", cause=Cause.BUDGET, **common
    )


def _outside(worst: _Judged, share: float, common: dict[str, Any]) -> Outcome:
    band, i = worst.band, worst.interval
    below = i.high < band.low
    bound = band.low if below else band.high
    shifted = worst.values - bound
    says = f"{band.says} minus {bound:.6g}"
    witness = mean_is(
        "<" if below else ">", shifted, mean_interval(shifted, share), says
    )
    side = "below" if below else "above"
    return Refuted(
        f"{band.says} is {i.mean:.4g} ± {i.error:.2g}, {side} {bound:.4g}",
        witness=witness,
        measured=i.mean,
        target=bound,
        interval=(i.low, i.high),
        **common,
    )
