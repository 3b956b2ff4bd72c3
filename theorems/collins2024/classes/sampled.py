"""Tasks drawn from a law, and empirical Bernstein bounds on what they show."""

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.classes.tasks import L, TaskLaw, z

Floats = NDArray[np.float64]

# x.y of the pairs of points, and two placements: along the axes, and turned by the
# rotation of the triple 3, 4, 5.
COSINES = (1.0, 0.6, 0.0, -0.6, -1.0)
TURN = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
DIMENSION = 3


def pairs() -> tuple[Floats, Floats]:
    """Points x, y of shape (placements, pairs, 3)."""
    y = [(t, math.sqrt(1 - t * t), 0.0) for t in COSINES]
    x = [(1.0, 0.0, 0.0)] * len(y)
    both = np.array([x, y])
    turned = both @ TURN.T
    return np.stack([both[0], turned[0]]), np.stack([both[1], turned[1]])


def values(law: TaskLaw, points: Floats, count: int, seed: int) -> Floats:
    """Values of f at points, L = 1; shape (count, *points.shape[:-1])."""
    rng = np.random.default_rng(seed)
    if law.directions == "axes":
        w = np.eye(DIMENSION)[rng.integers(DIMENSION, size=count)]
        w *= rng.choice((-1.0, 1.0), size=(count, 1))
    else:
        w = rng.standard_normal((count, DIMENSION))
        w /= np.linalg.norm(w, axis=1, keepdims=True)
    reach = float(law.reach.subs(L, 1))
    inner = np.tensordot(w, points, axes=(1, points.ndim - 1))
    total = np.zeros_like(inner)
    for right, left in law.features:
        sides = [sp.lambdify(z, side, "numpy")(inner) for side in (right, left)]
        c = rng.uniform(-reach, reach, count).reshape(-1, *[1] * (inner.ndim - 1))
        total += c * np.where(inner > 0, *sides)
    return total


@dataclass(frozen=True)
class Estimate:
    """A mean with an interval that misses it with at most the stated probability."""

    mean: float
    radius: float


def bernstein(sample: Floats, bound: float, level: float) -> Estimate:
    """Mean of a bounded sample with its empirical Bernstein radius.

    |mean - E| <= sqrt(2 v log(3/a)/N) + 3 b log(3/a)/N with probability 1 - a, v the
    sample variance and b the width of the range (Audibert, Munos and Szepesvari 2009,
    Theorem 1).

    Args:
        sample: Shape (N,).
        bound: Width of an interval that holds every value.
        level: a.

    Returns:
        The estimate.
    """
    logs = math.log(3 / level)
    size = len(sample)
    radius = math.sqrt(2 * float(sample.var()) * logs / size) + 3 * bound * logs / size
    return Estimate(float(sample.mean()), radius)
