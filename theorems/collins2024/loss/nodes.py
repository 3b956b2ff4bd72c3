"""Where the integrals of the loss are sampled: scales of ``S``, angles of a token."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]

# exp(-CUT): the mass that may be cut off, relative to the whole.
CUT = 45.0
STEP = 0.2
# Beyond this reach of ``w u`` scales and angles are sampled piece by piece.
WIDE = 60.0
# At ``y - w u > log CUT`` the token has ``exp(-X) < exp(-CUT)``.
AHEAD = float(np.log(CUT))
# Pieces of unit-scale detail lie within EDGE of ``y = 0`` and ``y = 2 w``.
EDGE, WIDTH, PANEL = 12.0, 2.4, 16


class Angles(NamedTuple):
    """Nodes for the law of ``u = 1 - x_i . x``.

    Attributes:
        u: Nodes in (0, 2): a row that all scales share, or a row per scale.
        mass: Weights times the density of ``u``.
        below: Probability of all smaller ``u`` that have no node; one, or per scale.
        above: Probability of all larger ``u`` that have no node.
    """

    u: Floats
    mass: Floats
    below: Floats
    above: Floats


class Block(NamedTuple):
    """Some scales, and the angles that matter there.

    Attributes:
        y: Scales ``y = log s``.
        weights: Their weights in the integral over ``y``.
        at: Angles.
    """

    y: Floats
    weights: Floats
    at: Angles


@lru_cache(maxsize=512)
def legendre(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1].

    By Newton's method in extended precision: an error of the weights is amplified by
    ``n`` in ``B_0^n``, and the weights of an eigenvalue solver are off by 1e-13.
    """
    index = np.arange(count // 2, dtype=np.longdouble)
    x = np.cos(np.longdouble(np.pi) * (index + 0.75) / (count + 0.5))
    if count % 2:
        x = np.append(x, np.longdouble(0))
    for _ in range(6):
        value, slope = polynomial(count, x)
        x = x - value / slope
    weights = 2 / ((1 - x) * (1 + x) * polynomial(count, x)[1] ** 2)
    half = count // 2
    nodes = np.concatenate([-x, x[:half][::-1]])
    weights = np.concatenate([weights, weights[:half][::-1]])
    return nodes.astype(np.float64), weights.astype(np.float64)


def polynomial(
    count: int, x: NDArray[np.longdouble]
) -> tuple[NDArray[np.longdouble], NDArray[np.longdouble]]:
    """The Legendre polynomial of degree ``count`` and its derivative, |x| < 1."""
    before, value = np.ones_like(x), x
    for k in range(1, count):
        before, value = value, ((2 * k + 1) * x * value - k * before) / (k + 1)
    return value, count * (before - x * value) / ((1 - x) * (1 + x))


def constant(d: int) -> float:
    """``c_d`` of the density ``c_d sin(theta)^(d-2)`` of the angle on [0, pi]."""
    return special.gamma(d / 2) / (np.sqrt(np.pi) * special.gamma((d - 1) / 2))


def share(d: int, u: Floats) -> Floats:
    """``F(u)``, the probability of a token at most ``u`` away."""
    half = (d - 1) / 2
    return special.betainc(half, half, np.clip(u / 2, 0.0, 1.0))


def angles(
    d: int,
    w: float,
    low: ArrayLike,
    high: ArrayLike,
    degree: int,
    density: float = 5.0,
) -> Angles:
    """Place nodes on ``low <= w u <= high``; a row each where these are arrays.

    In ``theta = arccos(1 - u)`` the density is analytic for every ``d``, and small
    ``u = 2 sin^2(theta / 2)`` keep their relative accuracy. 40 nodes resolve
    ``exp(-w u)``, ``density`` per unit a step in ``w u`` (5, or 2 where it is near the
    lower end, where nodes are dense), 0.6 per radian ``P_k``; found by doubling until
    nothing changed.
    """
    low, high = np.clip(low, 0.0, 2 * w), np.clip(high, 0.0, 2 * w)
    start = 2 * np.arcsin(np.sqrt(low / w / 2)) if w else np.zeros_like(low)
    end = 2 * np.arcsin(np.sqrt(high / w / 2)) if w else np.full_like(high, np.pi)
    detail = max(density * (high - low).max(), 0.6 * degree * (end - start).max())
    x, weights = legendre(40 + 20 * int(np.ceil(detail / 20)))
    half = (end - start)[..., None] / 2
    theta = start[..., None] + half * (1 + x)
    mass = constant(d) * half * weights * np.sin(theta) ** (d - 2)
    below, above = 2 * np.sin(start / 2) ** 2, 2 * np.cos(end / 2) ** 2
    return Angles(2 * np.sin(theta / 2) ** 2, mass, share(d, below), share(d, above))


def mean_weight(d: int, w: float) -> float:
    """``A(w) = E exp(-w u)``, a Bessel function (DLMF 10.32.2)."""
    nu = d / 2 - 1
    if w == 0:
        return 1.0
    return float(special.gamma(d / 2) * (2 / w) ** nu * special.ive(nu, w))


def first_scale(d: int, w: float, n: float) -> float:
    """``y`` below which the integrands, O(s^2), are negligible.

    There ``s`` is below ``exp(-CUT / 2)`` of both 1 and ``1 / (n A)``.
    """
    return float(min(-np.log(n * mean_weight(d, w)), 0.0) - CUT / 2)


def last_scale(d: int, w: float, n: float) -> float:
    """``y`` beyond which ``B_0(exp(y))^n <= exp(-CUT)``.

    Each of three bounds is enough: at ``y > 2 w + log CUT`` every token has
    ``s a >= CUT``; ``1 - exp(-s a) >= a (1 - exp(-s))`` as it is concave in ``a <= 1``;
    and ``1 - exp(-s a) >= 1 - 1/e`` for the tokens with ``w u <= y``.
    """
    bounds = [2 * w + AHEAD]
    mean = n * mean_weight(d, w)
    if mean > CUT:
        bounds.append(np.log(-np.log1p(-CUT / mean)))
    part = CUT / (1 - np.exp(-1)) / n
    if part < 1:
        half = (d - 1) / 2
        bounds.append(2 * w * float(special.betaincinv(half, half, part)))
    return float(min(bounds))


def nearest(d: int, w: float, n: float) -> bool:
    """Tell whether few tokens have weight: many units of ``w u`` matter."""
    return min(2 * w, last_scale(d, w, n) + CUT) > WIDE


def blocks(d: int, w: float, n: float, degree: int) -> list[Block]:
    """Choose scales and angles for harmonics up to ``degree``.

    Where few units of ``w u`` matter: equal steps of ``y``, the trapezoid rule, whose
    error is below ``exp(-pi^2 / STEP)`` times a constant since the integrands are
    analytic for ``|Im y| < pi / 2``; all scales share the angles.
    """
    first, last = first_scale(d, w, n), last_scale(d, w, n)
    if nearest(d, w, n):
        return pieces(d, w, (first, last), degree)
    # numpy.arange(first, last, STEP) would round the step to the precision of first.
    y = first + STEP * np.arange(int(np.ceil((last - first) / STEP)) + 1)
    at = angles(d, w, 0.0, max(last, 0.0) + CUT, degree)
    return [Block(y, np.full(len(y), STEP), at)]


def pieces(d: int, w: float, ends: tuple[float, float], degree: int) -> list[Block]:
    """Sample a wide range of scales: the regime of the nearest tokens.

    Details of unit size remain at ``y = 0`` and ``y = 2 w``; in between the integrands
    vary with ``y / w``, and per scale only angles near ``w u = y`` matter.
    """
    first, last = ends
    near, far = min(EDGE, last), 2 * w - EDGE
    left = panels(uniform(first, near, d))
    result = [Block(*left, angles(d, w, 0.0, near + CUT, degree))]
    y, weights = panels(graded(w, near, min(far, last), degree, d))
    for scale, weight in zip(*(split(a, degree) for a in (y, weights)), strict=True):
        at = angles(d, w, scale - AHEAD, scale + CUT, degree, 2.0)
        result.append(Block(scale, weight, at))
    if last > far:
        right = panels(uniform(far, last, d))
        result.append(Block(*right, angles(d, w, far - AHEAD, 2 * w, degree)))
    return result


def split(values: Floats, degree: int) -> list[Floats]:
    """Cut scales into parts whose tables of ``D_k`` fit into the processor's cache."""
    parts = 1 + len(values) * (degree + 2) // 1000
    return [part for part in np.array_split(values, parts) if len(part)]


def growth(d: int) -> float:
    """How much a panel may grow, relative to the distance from its end of the law.

    The probability of a nearer token grows as ``y^m``, ``m = (d - 1) / 2``: at most by
    a factor of 3 over a panel.
    """
    return min(0.5, 2.5 / (d - 1))


def uniform(low: float, high: float, d: int) -> Floats:
    """Edges of panels on which functions analytic for ``|Im y| < pi/2`` are resolved.

    Ellipses of half width ``pi / 2`` about a panel of half length 1.2 have
    ``rho = 2.95``, and ``rho^-32 = 1e-15``.
    """
    width = min(WIDTH, EDGE * growth(d))
    return np.linspace(low, high, 1 + max(1, int(np.ceil((high - low) / width))))


def graded(w: float, low: float, high: float, degree: int, d: int) -> Floats:
    """Edges of panels that grow with the distance from ``y = 0`` and ``y = 2 w``.

    Each turns ``P_k^2`` by at most 20 radians, which 16 nodes resolve
    (``J_32(10) < 1e-13``).
    """
    edges, part = [low], growth(d)
    while edges[-1] < high:
        y = edges[-1]
        theta = 2 * np.arcsin(np.sqrt(y / (2 * w)))
        turned = min(theta + 10 / max(degree, 1), np.pi)
        edges.append(
            min(
                y + part * y,
                y + 0.8 * part * max(2 * w - y, EDGE),
                2 * w * np.sin(turned / 2) ** 2,
                high,
            )
        )
    return np.array(edges)


def panels(edges: Floats) -> tuple[Floats, Floats]:
    """Gauss-Legendre rules on consecutive panels."""
    x, weights = legendre(PANEL)
    half = np.diff(edges)[:, None] / 2
    y = edges[:-1, None] + half * (1 + x)
    return y.ravel(), (half * weights).ravel()
