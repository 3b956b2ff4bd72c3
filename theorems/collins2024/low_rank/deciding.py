"""One-sided bounds on means over seeds, decided at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verify.fit import intervals
from verify.fit.intervals import MINIMUM, mean_interval, mean_is
from verify.outcome import Holds, Inconclusive, Outcome, Refuted
from verify.verdict import Cause

if TYPE_CHECKING:
    from sympy import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """A bound on the mean of one number per seed.

    Attributes:
        says: What the numbers are.
        values: One per seed; NaN where a run diverged.
        sign: ``<`` or ``>``, the claimed relation of mean and bound.
        bound: The bound.
    """

    says: str
    values: Floats
    sign: str
    bound: float


@dataclass(frozen=True)
class _Judged:
    one: Bound
    shifted: Floats
    interval: intervals.Interval

    @property
    def separation(self) -> float:
        """Distance on the claimed side over half the width: above 1 it is sure."""
        side = 1.0 if self.one.sign == ">" else -1.0
        return side * self.interval.separation

    def __str__(self) -> str:
        one, i = self.one, self.interval
        mean = one.bound + i.mean
        return f"{one.says} is {mean:.3g} ± {i.error:.2g} ({one.sign} {one.bound:.3g})"


def inside(says: str, values: Floats, ends: Interval) -> list[Bound]:
    """Bound a mean logarithm by those of the ends of an interval in (0, oo)."""
    found = []
    if ends.start > 0:
        found.append(Bound(says, values, ">", float(np.log(float(ends.start)))))
    if ends.end.is_finite:
        found.append(Bound(says, values, "<", float(np.log(float(ends.end)))))
    return found


def at_once(bounds: Sequence[Bound], level: float, **evidence: Any) -> Outcome:
    """Decide whether all means keep their bounds, with error probability ``level``.

    The level is shared out evenly (Bonferroni). The margin is the distance of a mean
    from its bound over half the width of its interval, less 1.

    Args:
        bounds: At least one, with at least 32 seeds each.
        level: Error probability of the whole decision.
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS with the least sure one as certificate, REFUTED with the surest
        contradiction as witness, INCONCLUSIVE otherwise.
    """
    kept = [b.values[np.isfinite(b.values)] for b in bounds]
    lost = sum(len(b.values) for b in bounds) - sum(map(len, kept))
    common: dict[str, Any] = {
        "n": sum(map(len, kept)),
        "discards": {"the run diverged": lost} if lost else {},
        "level": level,
        **evidence,
    }
    short = [b.says for b, v in zip(bounds, kept, strict=True) if len(v) < MINIMUM]
    if short:
        reason = f"fewer than {MINIMUM} finished seeds: {', '.join(short)}"
        return Inconclusive(reason, cause=Cause.BUDGET, **common)
    share = level / len(bounds)
    found = [
        _Judged(one, values - one.bound, mean_interval(values - one.bound, share))
        for one, values in zip(bounds, kept, strict=True)
    ]
    return _decided(min(found, key=lambda f: f.separation), common)


def _decided(worst: _Judged, common: dict[str, Any]) -> Outcome:
    one, i, separation = worst.one, worst.interval, worst.separation
    common |= {
        "measured": one.bound + i.mean,
        "target": one.bound,
        "interval": (one.bound + i.low, one.bound + i.high),
    }
    says = f"{one.says} minus {one.bound:.6g}"
    if separation < -1:
        sign = "<" if one.sign == ">" else ">"
        witness = mean_is(sign, worst.shifted, i, says)
        return Refuted(str(worst), witness=witness, margin=separation + 1, **common)
    if separation > 1:
        certificate = mean_is(one.sign, worst.shifted, i, says)
        reason = f"least sure: {worst}"
        return Holds(reason, certificate=certificate, margin=separation - 1, **common)
    return Inconclusive(f"not separated: {worst}", cause=Cause.BUDGET, **common)
