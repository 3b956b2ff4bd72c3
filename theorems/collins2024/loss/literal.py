"""Equation (3) as it is written: draw a prompt, attend, compare. Slow and plain.

Shares nothing with the quadrature: tasks are drawn by Definition 3.2, covariates as
vectors, and the attention acts on labels.
"""

from __future__ import annotations

import numpy as np

from theorems.collins2024.loss.nodes import Floats


def sphere(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw unit vectors (last axis) uniformly."""
    vectors = rng.standard_normal(shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def draw_task(name: str, L: float, direction: Floats, rng: np.random.Generator):
    """Draw a function of Definition 3.2 (or Section 3.2's cosine)."""
    l1, l2, b = rng.uniform(-L, L, size=3)
    if name == "affine":
        return lambda x: l1 * x @ direction + b
    if name == "relu":
        return lambda x: (
            l1 * np.maximum(x @ direction, 0) + l2 * np.maximum(-x @ direction, 0) + b
        )
    if name == "cosine":
        return lambda x: np.cos(L * x @ direction)
    raise ValueError(f"classes are affine, relu and cosine, not {name}")


def squared_error(
    name: str,
    d: int,
    w: float,
    n: int,
    sigma: float,
    L: float,
    rng: np.random.Generator,
) -> float:
    """The squared error of one prompt."""
    task = draw_task(name, L, sphere(rng, d), rng)
    x, query = sphere(rng, n, d), sphere(rng, d)
    labels = task(x) + sigma * rng.standard_normal(n)
    weights = np.exp(w * x @ query)
    return float((weights @ labels / weights.sum() - task(query)) ** 2)


def linear_error(
    name: str, M: Floats, n: int, sigma: float, L: float, rng: np.random.Generator
) -> float:
    """The squared error of linear attention (Section 3.1) on one prompt."""
    d = len(M)
    task = draw_task(name, L, sphere(rng, d), rng)
    x, query = sphere(rng, n, d), sphere(rng, d)
    labels = task(x) + sigma * rng.standard_normal(n)
    return float((labels @ (x @ M @ query) - task(query)) ** 2)


def average(errors: list[float]) -> tuple[float, float]:
    """The mean and its standard error."""
    values = np.array(errors)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
