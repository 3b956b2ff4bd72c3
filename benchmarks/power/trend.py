"""Monotone trends: `verify.fit.trend.increasing` on paired seeds.

A claim says that values grow by more than ``slope`` per setting, in every panel. Seeds
are paired: each has an offset of its own, and noise at every setting whose spread
differs from setting to setting. True claims have plateaus (steps of exactly 0) and
weak rises; false ones a step that falls, or a trend that is reversed, by ``wrongness``
standard deviations of the paired difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.power.cases import Drawn, Extra, Family
from benchmarks.power.noise import BEYOND, Floats, Law, loguniform, pick, seeds
from verify import Claim, Kind, Outcome
from verify.fit.trend import Panel, increasing
from verify.profiles import Profile, profile
from verify.verdict import Grade

DIP, REVERSED, FLAT = "a step falls", "reversed", "flat"
SHAPES = ("plateau at the start", "plateau in the middle", "plateau at the end", "none")


@dataclass(frozen=True)
class Data:
    """Values of one or two panels, each ``(seeds, settings)``."""

    panels: tuple[Floats, ...]

    def __str__(self) -> str:
        return " and ".join("x".join(map(str, v.shape)) for v in self.panels)


def decide(claim: Claim, profile: Profile) -> Outcome:
    """Each step, the ends and the least-squares slope of every panel at once."""
    panels = []
    for number, values in enumerate(claim.domain.panels):
        ranks = np.arange(values.shape[1])
        shifted = values - float(claim.slope) * ranks
        panels.append(Panel(f"panel {number}", ranks.tolist(), shifted))
    return increasing(panels, profile.level)


def rising(rng: np.random.Generator, count: int) -> Floats:
    """True steps in units of the spread: zeros make plateaus."""
    steps = np.array([loguniform(rng, 0.1, 5.0) for _ in range(count - 1)])
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    if count > 2 and shape != "none":
        width = int(rng.integers(1, count - 1))
        start = {"start": 0, "end": count - 1 - width}.get(shape.rpartition(" ")[2])
        start = int(rng.integers(0, count - width)) if start is None else start
        steps[start : start + width] = 0.0
    return steps


def panel(
    rng: np.random.Generator, n: int, law: Law, kind: str, wrongness: float
) -> Floats:
    """One panel of a kind: true (an empty word), DIP, REVERSED or FLAT."""
    count = int(rng.integers(3, 7))
    spread = np.exp(rng.normal(0.0, 0.5, count))
    steps = rising(rng, count)
    if kind == REVERSED:
        width = float(np.hypot(spread[0], spread[-1]))
        steps = -steps * wrongness * width / steps.sum()
    elif kind == DIP:
        at = int(rng.integers(count - 1))
        dip = wrongness * float(np.hypot(spread[at], spread[at + 1]))
        # The ends stay apart, so that only the step itself tells.
        steps[:] = 3 * dip + steps
        steps[at] = -dip
    elif kind == FLAT:
        steps[:] = 0.0
    means = np.concatenate([[0.0], np.cumsum(steps)])
    offsets = 3 * rng.standard_normal((n, 1))
    return np.asarray(means + offsets + spread * law(rng, (n, count)))


def lose(rng: np.random.Generator, values: Floats) -> Floats:
    """Let a few runs diverge beyond the seeds that are needed."""
    lost = np.full((int(rng.integers(1, 6)), values.shape[1]), np.nan)
    return np.concatenate([values, lost])


def made(rng: np.random.Generator, law: Law, sort: str, kind: str, w: float) -> Drawn:
    """A claim about one or two panels, one of them of the kind."""
    n = seeds(rng)
    panels = [panel(rng, n, law, kind, w)]
    if rng.random() < 0.5:
        panels.append(panel(rng, n, law, FLAT if kind == FLAT else "", w))
    if rng.random() < 0.2:
        panels[0] = lose(rng, panels[0])
    return Drawn(sort, {"slope": 0}, Data(tuple(panels)), {"slope": 10**6})


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """A trend under a law within the assumptions."""
    name, law = pick(rng)
    kind = "" if truth else DIP if rng.random() < 0.7 else REVERSED
    sort = f"{name}, {kind}" if kind else name
    return made(rng, law, sort, kind, wrongness)


def beyond(rng: np.random.Generator, *, law: Law) -> Drawn:
    """A true trend under a law outside the assumptions."""
    return made(rng, law, "true", "", 0.0)


def flat(rng: np.random.Generator) -> Drawn:
    """Nothing grows: false, and nothing shows it."""
    name, law = pick(rng)
    return made(rng, law, name, FLAT, 0.0)


FAMILY = Family(
    name="monotone trend",
    decide=decide,
    grade=Grade.TRAINED,
    kind=Kind.EMPIRICAL,
    draw=draw,
    unit="fall of a step over the standard deviation of its paired difference",
    grid=(0.5, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0),
    stated=3.0,
    why=(
        "with 32 normal seeds a fall of 3 deviations lies 17 standard errors below 0, "
        "where the interval reaches 6 to 7, and up to 20 toward a long tail"
    ),
    true_profile=profile("smoke"),
    false_profile=profile("smoke"),
    extras={
        name: Extra(f"true trends, {name}", True, partial(beyond, law=law))
        for name, law in BEYOND.items()
    }
    | {"flat": Extra("flat trends, claimed to grow", False, flat)},
)
