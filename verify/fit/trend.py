"""Deciding whether something grows along an ordered list of settings.

Runs of one seed under different settings are paired: they share all that is random.
One setting after the other need not be separated for a trend to stand, but none may
fall, the ends must be separated, and so must the trend over all settings. A step that
lies four standard errors below 0, and yet is not separated from it, leaves all open.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verify.fit.intervals import (
    MINIMUM,
    STANDARD_ERRORS,
    Interval,
    mean_interval,
    mean_is,
)
from verify.outcome import Holds, Inconclusive, Outcome, Refuted
from verify.verdict import Cause

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """One series of settings.

    Attributes:
        name: For people.
        settings: In the order in which the values are claimed to grow, at least two.
        values: ``(seeds, settings)``; NaN where a run has no value (it diverged).
    """

    name: str
    settings: Sequence[Any]
    values: ArrayLike


@dataclass(frozen=True)
class _Comparison:
    says: str
    values: Floats
    interval: Interval
    is_step: bool


def increasing(panels: Sequence[Panel], level: float, **evidence: Any) -> Outcome:
    """Decide whether the values of every panel grow in the order of its settings.

    All intervals hold at once with error probability ``level``, which is shared out
    evenly (Bonferroni). HOLDS: in every panel the ends are separated in the claimed
    order, the least-squares slope over ranks is positive, and no step is four standard
    errors below 0. REFUTED: some interval lies wholly on the wrong side.

    Args:
        panels: Panels with at least 32 seeds each that have every value.
        level: Error probability of the whole decision.
        **evidence: Further fields of the outcome.

    Returns:
        The outcome; HOLDS carries the least separated ends as a certificate, REFUTED
        the most separated contradiction as a witness, both recomputable.

    Raises:
        ValueError: No panel, a panel with fewer than two settings, or values of another
            shape.

    >>> noise = np.random.default_rng(0).normal(size=(32, 3))
    >>> panel = Panel("depth", (1, 2, 4), noise + [0.0, 5.0, 10.0])
    >>> increasing([panel], level=1e-6).verdict.value
    'HOLDS'
    >>> increasing([Panel("depth", (1, 2, 4), noise)], level=1e-6).verdict.value
    'INCONCLUSIVE'
    """
    if not panels:
        raise ValueError("`panels` is empty: give at least one")
    complete = [_complete(panel) for panel in panels]
    dropped = sum(lost for _, lost in complete)
    common: dict[str, Any] = {
        "n": sum(len(rows) for rows, _ in complete),
        "discards": {"a run of the seed diverged": dropped} if dropped else {},
        "level": level,
        "target": 0.0,
        **evidence,
    }
    short = [
        p.name for p, (r, _) in zip(panels, complete, strict=True) if len(r) < MINIMUM
    ]
    if short:
        reason = f"fewer than {MINIMUM} complete seeds in {', '.join(short)}"
        return Inconclusive(reason, cause=Cause.BUDGET, **common)
    share = level / sum(len(panel.settings) + 1 for panel in panels)
    found = [
        comparison
        for panel, (rows, _) in zip(panels, complete, strict=True)
        for comparison in _comparisons(panel, rows, share)
    ]
    return _decided(found, common)


def _decided(found: Sequence[_Comparison], common: dict[str, Any]) -> Outcome:
    steps = [c for c in found if c.is_step]
    apart = sum(c.interval.separation > 1 for c in steps)
    wrong = min(found, key=lambda c: c.interval.separation)
    weakest = min(
        (c for c in found if not c.is_step), key=lambda c: c.interval.separation
    )
    contrary = wrong.interval.separation < -1
    told = wrong if contrary else weakest
    interval, separation = told.interval, told.interval.separation
    common |= {
        "measured": interval.mean,
        "interval": (interval.low, interval.high),
        "margin": _finite(separation + 1 if contrary else separation - 1),
    }
    if contrary:
        reason = f"{wrong.says} is {interval.mean:.3g} ± {interval.error:.2g}"
        witness = mean_is("<", wrong.values, interval, wrong.says)
        return Refuted(reason, witness=witness, **common)
    reason = f"{apart} of {len(steps)} steps separated; least sure: {weakest.says}"
    lowest = min(steps, key=lambda c: c.interval.separation)
    if lowest.interval.mean < -STANDARD_ERRORS * lowest.interval.error:
        common["margin"] = _finite(lowest.interval.separation)
        reason = f"{lowest.says} may be negative"
        return Inconclusive(reason, cause=Cause.BUDGET, **common)
    if separation > 1:
        certificate = mean_is(">", weakest.values, interval, weakest.says)
        return Holds(reason, certificate=certificate, **common)
    return Inconclusive(reason, cause=Cause.BUDGET, **common)


def _complete(panel: Panel) -> tuple[Floats, int]:
    """The seeds of a panel that have every value, and how many have not."""
    values = np.asarray(panel.values, dtype=np.float64)
    width = len(panel.settings)
    if width < 2 or values.ndim != 2 or values.shape[1] != width:
        raise ValueError(
            f"panel {panel.name!r} has {width} settings and values of shape "
            f"{values.shape}; give (seeds, settings) with at least two settings"
        )
    whole = np.isfinite(values).all(axis=1)
    return values[whole], int(np.sum(~whole))


def _comparisons(panel: Panel, rows: Floats, level: float) -> list[_Comparison]:
    def compare(says: str, values: Floats, *, is_step: bool = False) -> _Comparison:
        about = f"{panel.name}: {says}"
        return _Comparison(about, values, mean_interval(values, level), is_step)

    names = [str(setting) for setting in panel.settings]
    ranks = np.arange(len(names)) - (len(names) - 1) / 2
    slope = rows @ (ranks / np.square(ranks).sum())
    return [
        *(
            compare(f"{b} minus {a}", rows[:, i + 1] - rows[:, i], is_step=True)
            for i, (a, b) in enumerate(itertools.pairwise(names))
        ),
        compare(f"{names[-1]} minus {names[0]}", rows[:, -1] - rows[:, 0]),
        compare(f"slope over {', '.join(names)}", slope),
    ]


def _finite(value: float) -> float:
    return float(np.clip(value, -np.finfo(float).max, np.finfo(float).max))
