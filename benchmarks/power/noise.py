"""Laws of per-seed noise, each of mean 0 and standard deviation 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Law = Callable[[np.random.Generator, tuple[int, ...]], Floats]

OUTLIERS, FAR = 0.03, 10.0  # share of deviating seeds, and by how much they deviate


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """The law for which Student's interval is exact."""
    return rng.standard_normal(shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's law with three degrees of freedom: no fourth, not even third moment."""
    return rng.standard_t(3, shape) / math.sqrt(3)


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A gamma law of skewness 1, on either side."""
    side = rng.choice((-1.0, 1.0))
    return np.asarray(side * (rng.gamma(4.0, 1.0, shape) - 4.0) / 2.0)


def lognormal(spread: float) -> Law:
    """A lognormal law on either side; skewness 1.75 at 0.5, 6.2 at 1."""
    mean = math.exp(spread**2 / 2)
    deviation = mean * math.sqrt(math.expm1(spread**2))

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        side = rng.choice((-1.0, 1.0))
        return np.asarray(side * (rng.lognormal(0, spread, shape) - mean) / deviation)

    return draw


def contaminated(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Three in a hundred seeds have ten times the spread."""
    wide = np.where(rng.random(shape) < OUTLIERS, FAR, 1.0)
    size = math.sqrt(1 + OUTLIERS * (FAR**2 - 1))
    return np.asarray(wide * rng.standard_normal(shape) / size)


def exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Skewness 2, on either side."""
    return np.asarray(rng.choice((-1.0, 1.0)) * (rng.exponential(1.0, shape) - 1.0))


LAWS: Mapping[str, Law] = {
    "normal": normal,
    "heavy tails (t, 3 degrees)": heavy,
    "skewness 1 (gamma)": skewed,
    "skewness 1.75 (lognormal)": lognormal(0.5),
    "skewness 2 (exponential)": exponential,
    "contaminated (3 % ten times as wide)": contaminated,
}
"""Within the assumptions; the trained checks of the suite show all of them."""


def stragglers(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Three in a hundred seeds lie ten deviations away, all on one side."""
    away = (rng.random(shape) < OUTLIERS) * FAR
    size = math.sqrt(1 + FAR**2 * OUTLIERS * (1 - OUTLIERS))
    noise = rng.standard_normal(shape) + away - FAR * OUTLIERS
    return np.asarray(rng.choice((-1.0, 1.0)) * noise / size)


def correlated(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Seeds share a part of their noise: correlation 0.1."""
    own = rng.standard_normal(shape)
    shared = rng.standard_normal((1, *shape[1:]))
    return np.asarray(math.sqrt(0.9) * own + math.sqrt(0.1) * shared)


def rare(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A yes or no per seed, with 5 % on one side: many samples show no spread."""
    share = 0.05
    side = rng.choice((-1.0, 1.0))
    events = (rng.random(shape) < share) - share
    return np.asarray(side * events / math.sqrt(share * (1 - share)))


BEYOND: Mapping[str, Law] = {
    "skewness 6 (lognormal)": lognormal(1.0),
    "3 % of seeds far on one side": stragglers,
    "seeds correlated by 0.1": correlated,
    "yes or no per seed, 5 % yes": rare,
}
"""Outside the assumptions: what the intervals at 1e-6 then do."""


def pick(rng: np.random.Generator) -> tuple[str, Law]:
    """One of the laws within the assumptions."""
    name = list(LAWS)[int(rng.integers(len(LAWS)))]
    return name, LAWS[name]


def seeds(rng: np.random.Generator) -> int:
    """A number of seeds, mostly the least."""
    return int(rng.choice((32, 32, 32, 64, 128)))


def loguniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))
