"""Slow ways to the same moments: sampling, plain products, many digits."""

from __future__ import annotations

from typing import NamedTuple

import mpmath
import numpy as np
from scipy import special

from theorems.collins2024.loss.nodes import Floats


class Sampled(NamedTuple):
    """A Monte-Carlo mean with its standard error.

    Attributes:
        mean: Of ``(V, E_k...)``.
        error: Its standard error.
    """

    mean: Floats
    error: Floats


def polynomials(t: Floats, d: int, degrees: tuple[int, ...]) -> Floats:
    """``P_k(t)``, degrees first, from Chebyshev and Gegenbauer polynomials."""
    if d == 2:
        return np.stack([special.eval_chebyt(k, t) for k in degrees])
    alpha = d / 2 - 1
    return np.stack([
        special.eval_gegenbauer(k, alpha, t) / special.eval_gegenbauer(k, alpha, 1.0)
        for k in degrees
    ])


def integrand(t: Floats, w: float, d: int, degrees: tuple[int, ...]) -> Floats:
    """``(V, E_k...)`` given the tokens' ``t_i = x_i . x`` (last axis).

    ``E_k`` given ``t`` is ``D_bar^2 + sum gamma_i^2 (1 - P_k(t_i)^2)``.
    """
    weights = special.softmax(w * t, axis=-1)
    P = polynomials(t, d, degrees)
    bias = (weights * (1 - P)).sum(-1) ** 2
    spread = (weights**2 * (1 - P**2)).sum(-1)
    return np.concatenate([(weights**2).sum(-1)[None], bias + spread])


def sample(
    w: float,
    n: int,
    d: int,
    degrees: tuple[int, ...],
    draws: int,
    rng: np.random.Generator,
) -> Sampled:
    """Draw tokens as vectors; average ``V`` and ``E_k``."""
    vectors = rng.standard_normal((draws, n, d))
    t = vectors[..., 0] / np.linalg.norm(vectors, axis=-1)
    values = integrand(t, w, d, degrees)
    return Sampled(values.mean(-1), values.std(-1, ddof=1) / np.sqrt(draws))


def product(
    w: float, n: int, d: int, degrees: tuple[int, ...], nodes: int = 80
) -> Floats:
    """Integrate over all ``n`` angles at once (n = 2 or 3), not by Laplace's form."""
    x, weights = np.polynomial.legendre.leggauss(nodes)
    theta = np.pi / 2 * (1 + x)
    weights = weights * np.sin(theta) ** (d - 2)
    weights = weights / weights.sum()
    t = np.stack(np.meshgrid(*[np.cos(theta)] * n, indexing="ij"), axis=-1)
    mass = weights
    for _ in range(n - 1):
        mass = mass[..., None] * weights
    values = integrand(t, w, d, degrees)
    return (values * mass).reshape(len(values), -1).sum(-1)


def precise(
    w: float,
    n: float,
    d: int,
    degrees: tuple[int, ...],
    digits: int = 40,
    nodes: int = 100,
    step: float = 0.15,
) -> list[mpmath.mpf]:
    """``(V, E_k...)`` by the Laplace representation in ``digits`` digits."""
    with mpmath.workdps(digits):
        w, n, end = mpmath.mpf(w), mpmath.mpf(n), 2 * abs(w) + 6
        u, mass = law(d, nodes)
        D = [[1 - normalised(k, d, 1 - x) for x in u] for k in degrees]
        total, size = [mpmath.mpf(0)] * (len(degrees) + 1), mpmath.mpf(0)
        y = -mpmath.log(n) - mpmath.mpf(digits)
        while y < end:
            terms = scale(y, w, n, u, mass, D)
            total = [a + b for a, b in zip(total, terms, strict=True)]
            if terms[0] < size < total[0] * mpmath.mpf(10) ** (4 - digits):
                break
            y, size = y + mpmath.mpf(step), terms[0]
        return [mpmath.mpf(step) * value for value in total]


def law(d: int, nodes: int) -> tuple[list[mpmath.mpf], list[mpmath.mpf]]:
    """Nodes in ``u`` and probabilities, by Newton's method for Legendre's roots."""
    x, _ = np.polynomial.legendre.leggauss(nodes)
    u, mass = [], []
    for start in x:
        root = mpmath.mpf(float(start))
        for _ in range(3):
            value, before = (
                mpmath.legendre(nodes, root),
                mpmath.legendre(nodes - 1, root),
            )
            slope = nodes * (before - root * value) / (1 - root**2)
            root = root - value / slope
        theta = mpmath.pi / 2 * (1 + root)
        u.append(2 * mpmath.sin(theta / 2) ** 2)
        mass.append(2 / ((1 - root**2) * slope**2) * mpmath.sin(theta) ** (d - 2))
    return u, [value / mpmath.fsum(mass) for value in mass]


def normalised(k: int, d: int, t: mpmath.mpf) -> mpmath.mpf:
    """``P_k(t)`` as a hypergeometric polynomial (DLMF 18.5.9)."""
    return mpmath.hyp2f1(-k, k + d - 2, mpmath.mpf(d - 1) / 2, (1 - t) / 2)


def scale(
    y: mpmath.mpf,
    w: mpmath.mpf,
    n: mpmath.mpf,
    u: list[mpmath.mpf],
    mass: list[mpmath.mpf],
    D: list[list[mpmath.mpf]],
) -> list[mpmath.mpf]:
    """The integrands of ``V`` and ``E_k`` at one ``y``."""
    X = [mpmath.exp(y - w * value) for value in u]
    kept = [p * mpmath.exp(-x) for p, x in zip(mass, X, strict=True)]
    b = mpmath.fsum(kept)
    one = [p * x for p, x in zip(kept, X, strict=True)]
    two = [p * x for p, x in zip(one, X, strict=True)]
    pair = n * b ** (n - 1)
    result = [pair * mpmath.fsum(two)]
    for gap in D:
        bias = n * (n - 1) * b ** (n - 2) * mpmath.fdot(one, gap) ** 2
        result.append(2 * pair * mpmath.fdot(two, gap) + bias)
    return result
