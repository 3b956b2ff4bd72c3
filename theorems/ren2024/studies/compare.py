"""Comparing variants seed by seed, and deciding what a sentence says about them.

Errors are held-out squared errors over the variance of the label. Two numbers stand for
a run: its *course*, the mean of the logarithm over all snapshots but the start (early
and fast convergence makes it small), and its *end*, the logarithm at the last one. On
the exponential task runs diverge; there ``e/(1 + e)`` takes the place of the logarithm
and a diverged run counts as 1, the limit of large errors, so that no run is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.fit.intervals import MINIMUM, Interval, mean_interval, mean_is
from verify.outcome import Figure, Holds, Inconclusive, Outcome, Refuted, Series
from verify.runs import Trained, Trainings
from verify.verdict import Cause

Floats = NDArray[np.float64]
COURSE, END, START = "course", "end", "start"
RESAMPLES = 2000


@dataclass(frozen=True)
class Comparison:
    """A sentence about the mean over seeds of a difference of two variants.

    Attributes:
        says: The difference, in words.
        values: One per seed; NaN where a run diverged.
        sign: ``<`` or ``>``: the claimed side of 0.
        outcomes: The only values that can occur, where they are few, such as yes and
            no. Clopper and Pearson's exact interval then decides; Student's has width 0
            where all seeds agree.
    """

    says: str
    values: Floats
    sign: str
    outcomes: tuple[float, ...] = ()


def bounded(trainings: Trainings) -> bool:
    """Whether errors are bounded instead of logarithmic: on the exponential task."""
    return trainings.groups[0].configurations[0]["task"] == "exp"


def errors(trainings: Trainings, name: str) -> Floats:
    """Transformed errors of a variant at all snapshots, ``(seeds, snapshots)``."""
    runs: Trained = trainings.where(name=name)
    seen = runs.observed["nmse"].astype(np.float64)
    lost = runs.diverged_at >= 0
    if bounded(trainings):
        with np.errstate(invalid="ignore", over="ignore"):
            share = seen / (1 + seen)
        # What overflowed is as large as what diverged.
        share = np.where(np.isfinite(share), share, 1.0)
        when = runs.steps[None, :] > np.maximum(runs.diverged_at, 0)[:, None]
        return np.where(lost[:, None] & when, 1.0, share)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(seen)
    logs[lost] = np.nan
    return np.asarray(logs)


def summary(trainings: Trainings, name: str, part: str) -> Floats:
    """One number per seed: the course, the end, or the first after the start."""
    seen = errors(trainings, name)
    if part == COURSE:
        return np.asarray(seen[:, 1:].mean(axis=1))
    return np.asarray(seen[:, -1] if part == END else seen[:, 1])


def below(
    trainings: Trainings,
    name: str,
    reference: str,
    part: str = COURSE,
    slack: float = 0,
) -> Comparison:
    """The claim that a variant's errors are smaller than another's, up to ``slack``."""
    difference = summary(trainings, name, part) - summary(trainings, reference, part)
    says = f"{name} minus {reference}, {part}"
    return Comparison(says + f" - {slack:.4g}" * bool(slack), difference - slack, "<")


def above(
    trainings: Trainings,
    name: str,
    reference: str,
    part: str = COURSE,
    slack: float = 0,
) -> Comparison:
    """The claim that a variant's errors are larger than another's, plus ``slack``."""
    less = below(trainings, name, reference, part, slack)
    return Comparison(less.says, less.values, ">")


@dataclass(frozen=True)
class _Judged:
    comparison: Comparison
    values: Floats
    interval: Interval

    @property
    def separation(self) -> float:
        """Above 1: on the claimed side; below -1: on the other."""
        sign = 1 if self.comparison.sign == ">" else -1
        found = float(np.clip(sign * self.interval.separation, -1e300, 1e300))
        if self.comparison.outcomes:
            level = self.interval.level
            low, high = counted(self.values, self.comparison.outcomes, level)
            if low <= 0 <= high:
                return float(np.clip(found, -1, 1))
        return found


def counted(
    values: Floats, outcomes: Sequence[float], level: float
) -> tuple[float, float]:
    """Bounds of a mean of few possible values, from Clopper and Pearson's of shares.

    Args:
        values: One per independent seed, each one of ``outcomes``.
        outcomes: Two or more values; the level is shared out over all but the first.
        level: Probability that the bounds miss the mean.

    Returns:
        Lower and upper bound.
    """
    from scipy.stats import binomtest

    base, *others = outcomes
    low = high = base
    for outcome in others:
        hits = int(np.sum(values == outcome))
        share = binomtest(hits, len(values)).proportion_ci(1 - level / len(others))
        ends = [(outcome - base) * share.low, (outcome - base) * share.high]
        low, high = low + min(ends), high + max(ends)
    return float(low), float(high)


def _interval(comparison: Comparison, values: Floats, level: float) -> Interval:
    """The interval of a mean; that of few possible values is exact."""
    found = mean_interval(values, level)
    if not comparison.outcomes or not found.error:
        return found
    low, high = counted(values, comparison.outcomes, level)
    reach = [abs(end - found.mean) / found.error for end in (low, high)]
    return replace(found, low=low, high=high, below=reach[0], above=reach[1])


def decide(
    comparisons: Sequence[Comparison], level: float, *, note: str = "", **evidence: Any
) -> Outcome:
    """Decide that all comparisons hold, with error probability ``level`` in all.

    The level is shared out evenly (Bonferroni). HOLDS: every Student interval lies on
    the claimed side. REFUTED: one lies wholly on the other. Wilcoxon's test and a
    bootstrap describe the least sure one and decide nothing.

    Args:
        comparisons: At least one, each with at least 32 seeds.
        level: Error probability of the whole decision.
        note: Added to the reason.
        **evidence: Further fields of the outcome.

    Returns:
        The outcome.
    """
    kept = [c.values[np.isfinite(c.values)] for c in comparisons]
    lost = sum(len(c.values) for c in comparisons) - sum(map(len, kept))
    common: dict[str, Any] = {
        "n": sum(map(len, kept)),
        "level": level,
        "target": 0.0,
        "discards": {"pairs with a diverged run": lost} if lost else {},
        **evidence,
    }
    few = [c.says for c, v in zip(comparisons, kept, strict=True) if len(v) < MINIMUM]
    if few:
        reason = f"fewer than {MINIMUM} pairs in which no run diverged: {few[0]}"
        return Inconclusive(reason, cause=Cause.BUDGET, **common)
    share = level / len(comparisons)
    judged = [
        _Judged(c, v, _interval(c, v, share))
        for c, v in zip(comparisons, kept, strict=True)
    ]
    worst = min(judged, key=lambda one: one.separation)
    interval = worst.interval
    common |= {"measured": interval.mean, "interval": (interval.low, interval.high)}
    sure = sum(one.separation > 1 for one in judged)
    reason = f"{sure} of {len(judged)} separated; least: {described(worst)}"
    reason += f"; {note}" if note else ""
    says, values, sign = worst.comparison.says, worst.values, worst.comparison.sign
    if worst.separation > 1:
        margin = worst.separation - 1
        record = mean_is(sign, values, interval, says)
        return Holds(reason, certificate=record, margin=margin, **common)
    if worst.separation < -1:
        against = "<" if sign == ">" else ">"
        record = mean_is(against, values, interval, says)
        margin = worst.separation + 1
        return Refuted(reason, witness=record, margin=margin, **common)
    return Inconclusive(reason, cause=Cause.BUDGET, **common)


def described(judged: _Judged) -> str:
    """Mean, error, how many seeds agree, Wilcoxon's p and a bootstrap interval."""
    from scipy import stats

    values, i = judged.values, judged.interval
    p = stats.wilcoxon(values).pvalue if np.any(values) else 1.0
    draws = np.random.default_rng(0).choice(values, (RESAMPLES, len(values)))
    low, high = np.quantile(draws.mean(axis=1), (0.025, 0.975))
    agree = int(np.sum(values > 0 if judged.comparison.sign == ">" else values < 0))
    return (
        f"{judged.comparison.says} is {i.mean:.3g} ± {i.error:.2g} (claimed "
        f"{judged.comparison.sign} 0; {agree} of {len(values)} seeds agree, Wilcoxon "
        f"p = {p:.2g}, bootstrap 95 % [{low:.3g}, {high:.3g}])"
    )


def figure(trainings: Trainings, name: str, title: str, shown: Sequence[str]) -> Figure:
    """Errors of some variants against steps, median over the runs that finished."""
    series = []
    for variant in shown:
        runs = trainings.where(name=variant)
        seen = runs.observed["nmse"][runs.diverged_at < 0].astype(np.float64)
        if not len(seen) or not np.isfinite(seen).all():
            continue
        low, middle, high = np.quantile(seen, (0.25, 0.5, 0.75), axis=0).tolist()
        label = variant + f" ({runs.diverged} diverged)" * bool(runs.diverged)
        steps = runs.steps.tolist()
        series.append(Series(label, steps, middle, low, high))
    return Figure(
        name=name,
        title=title,
        x_label="prompts seen",
        y_label="held-out squared error / variance of the label",
        series=tuple(series),
        y_log=True,
        caption="Median and quartiles over seeds; what is decided compares pairs.",
    )


def diverged(trainings: Trainings, name: str) -> Floats:
    """1 for every seed whose run diverged, 0 for the others."""
    return np.asarray(trainings.where(name=name).diverged_at >= 0, dtype=np.float64)


def divergences(trainings: Trainings, shown: Sequence[str]) -> str:
    """How many runs of each variant diverged, in words."""
    counts = {name: trainings.where(name=name).diverged for name in shown}
    told = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    return f"diverged: {told}" if told else "no run diverged"
