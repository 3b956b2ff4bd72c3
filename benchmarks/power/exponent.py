"""Exponents of trained scales: Student intervals inside a range of a derived width.

The rule of `collins2024/theorem-3.4/trained`: per seed, the least-squares slope of
log y over log x, less (exact local slope - exact exponent), must on average lie within
a quarter of the distance to the nearest mutant. Several classes are decided at once.
Data are y = C x^p (1 + c x^-w) with the known correction, trained exponents that differ
from p by a bias, slopes that differ from seed to seed, and mostly noise of a spread
that depends on x. Half of the classes of true claims, and all of those outside the
assumptions, have their mean exactly on the edge of the range: the worst case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.power.cases import Drawn, Extra, Family
from benchmarks.power.noise import BEYOND, Floats, Law, loguniform, pick, seeds
from theorems.collins2024.window import bands
from verify import Claim, Kind, Outcome
from verify.profiles import Profile, profile
from verify.verdict import Grade

QUARTER = 0.25  # of the distance to the nearest mutant: the tolerance
EDGE = 0.5  # share of true claims whose mean is on the edge of the range


@dataclass(frozen=True)
class Curves:
    """Logarithms of y for every seed, ``(seeds, points)``, and what is known exactly.

    Attributes:
        log_x: Abscissae, ``(points,)``.
        log_y: Ordinates.
        correction: Exact local slope less the exact exponent.
        distance: Of the exponent to the nearest mutant.
    """

    log_x: Floats
    log_y: Floats
    correction: float
    distance: float


@dataclass(frozen=True)
class Classes:
    """One set of curves for every exponent of a claim."""

    curves: tuple[Curves, ...]

    def __str__(self) -> str:
        return f"{len(self.curves)} classes"


def slopes(log_x: Floats, log_y: Floats) -> Floats:
    """Least-squares slopes, one per row."""
    centred = log_x - log_x.mean()
    return np.asarray(log_y @ centred / (centred @ centred))


def decide(claim: Claim, profile: Profile) -> Outcome:
    """Corrected slopes within a quarter of the distance to the nearest mutant."""
    found = []
    for number, one in enumerate(claim.domain.curves):
        claimed = float(claim.parameters[f"p_{number}"])
        allowed = QUARTER * one.distance
        values = slopes(one.log_x, one.log_y) - one.correction
        says = f"exponent of class {number}"
        found.append(bands.Band(says, values, claimed - allowed, claimed + allowed))
    return bands.within(found, profile.level)


def curve(
    rng: np.random.Generator, n: int, law: Law, p: float, off: float, noisy: float
) -> Curves:
    """Curves whose corrected slopes have the mean ``p + off`` in units of tolerance.

    Args:
        rng: Source of numbers.
        n: Seeds.
        law: Of all noise.
        p: Exact exponent.
        off: Bias of the trained exponents, over the tolerance.
        noisy: What noise of single points adds to slopes, over their spread.
    """
    points = int(rng.integers(3, 7))
    log_x = np.linspace(np.log(100), np.log(rng.uniform(2000, 20_000)), points)
    distance = loguniform(rng, 0.02, 0.5)
    tolerance = QUARTER * distance
    size, power = rng.uniform(-3, 5), rng.uniform(0.3, 1.5)
    exact = p * log_x + np.log1p(size * np.exp(-power * log_x))
    correction = float(slopes(log_x, exact[None, :])[0]) - p
    spread = tolerance * loguniform(rng, 0.05, 0.6)
    tilt = off * tolerance + spread * law(rng, (n, 1))
    widths = np.exp(rng.normal(0.0, 0.7, points))
    centred = log_x - log_x.mean()
    own = float(np.linalg.norm(centred * widths)) / float(centred @ centred)
    widths *= noisy * spread / own
    noise = widths * law(rng, (n, points))
    offset = rng.standard_normal((n, 1))
    return Curves(log_x, offset + exact + tilt * centred + noise, correction, distance)


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """Exponents of one to three classes, the first of them wrong if the claim is."""
    name, law = pick(rng)
    n, noisy = seeds(rng), float(rng.choice((0.0, 0.1, 0.5)))
    found, claimed = [], {}
    for number in range(int(rng.integers(1, 4))):
        p = rng.uniform(0.2, 2.0)
        off = 1.0 if rng.random() < EDGE else rng.random()
        off = off if truth or number else wrongness
        found.append(curve(rng, n, law, p, off * rng.choice((-1.0, 1.0)), noisy))
        claimed[f"p_{number}"] = p
    return _drawn(name, found, claimed)


def beyond(rng: np.random.Generator, *, law: Law) -> Drawn:
    """One exponent on the edge of its range, under a law outside the assumptions."""
    p, side = rng.uniform(0.2, 2.0), rng.choice((-1.0, 1.0))
    return _drawn("true", [curve(rng, seeds(rng), law, p, side, 0.0)], {"p_0": p})


def _drawn(sort: str, found: list[Curves], claimed: dict[str, float]) -> Drawn:
    gross = {"p_0": claimed["p_0"] + 100 * found[0].distance}
    return Drawn(sort, claimed, Classes(tuple(found)), gross)


FAMILY = Family(
    name="exponent",
    decide=decide,
    grade=Grade.TRAINED,
    kind=Kind.EMPIRICAL,
    draw=draw,
    unit="error of the exponent over its tolerance (4 is the nearest mutant)",
    grid=(1.1, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0),
    stated=4.0,
    why="the nearest mutant: the tolerance is a quarter of the distance to it",
    true_profile=profile("smoke"),
    false_profile=profile("smoke"),
    extras={
        name: Extra(
            f"true exponents on the edge of their range, {name}",
            True,
            partial(beyond, law=law),
        )
        for name, law in BEYOND.items()
    },
)
