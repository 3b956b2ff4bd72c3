"""Means over seeds that should lie in a range, decided at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify import Holds, Inconclusive, Outcome, Refuted
from verify.fit.intervals import MINIMUM, mean_interval, mean_is
from verify.verdict import Cause

Floats = NDArray[np.float64]


def within(
    cases: Mapping[str, Floats], low: float, high: float, level: float, **evidence: Any
) -> Outcome:
    """Decide whether every mean lies in [low, high].

    Args:
        cases: By name, one number per seed; NaN where a run diverged.
        low: Lower end.
        high: Upper end.
        level: Error probability, shared out over the cases (Bonferroni).
        **evidence: Further fields of the outcome.

    Returns:
        HOLDS if every Student interval lies inside, REFUTED with a recomputable
        witness if one lies wholly outside, else INCONCLUSIVE.
    """
    kept = {name: values[np.isfinite(values)] for name, values in cases.items()}
    lost = sum(v.size for v in cases.values()) - sum(v.size for v in kept.values())
    common: dict[str, Any] = {
        "n": sum(v.size for v in kept.values()),
        "discards": {"the run diverged": lost} if lost else {},
        "level": level,
        **evidence,
    }
    if min(v.size for v in kept.values()) < MINIMUM:
        return Inconclusive("too few finished seeds", cause=Cause.BUDGET, **common)
    share = level / len(kept)
    found = {name: mean_interval(values, share) for name, values in kept.items()}
    told = "; ".join(f"{k} {i.mean:.3g} ± {i.error:.2g}" for k, i in found.items())
    beyond = {name: max(low - i.high, i.low - high) for name, i in found.items()}
    worst = max(beyond, key=lambda name: beyond[name])
    interval = found[worst]
    common |= {"measured": interval.mean, "interval": (interval.low, interval.high)}
    if beyond[worst] > 0:
        under = interval.high < low
        bound = low if under else high
        shifted = kept[worst] - bound
        witness = mean_is(
            "<" if under else ">",
            shifted,
            mean_interval(shifted, share),
            f"{worst} - {bound}",
        )
        says = f"outside [{low:.3g}, {high:.3g}]: {told}"
        return Refuted(says, witness=witness, target=bound, **common)
    slack = min(min(i.low - low, high - i.high) for i in found.values())
    if slack < 0:
        says = f"an interval reaches out of [{low:.3g}, {high:.3g}]: {told}"
        return Inconclusive(says, cause=Cause.BUDGET, **common)
    margin = slack / ((high - low) / 2)
    return Holds(f"in [{low:.3g}, {high:.3g}]: {told}", margin=margin, **common)
