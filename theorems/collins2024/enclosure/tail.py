"""L' > 0 beyond some W, from the two nearest tokens (d >= 3).

For tokens in order of u_i = 1 - t_i, with delta = u_j - u_i, x = w delta,

    L'/(2c) >= E sum_{i<j} gamma_i gamma_j delta {(gamma_i - gamma_j)(G_i + sigma^2/c)
                                       - delta (2 gamma_j + alpha mean u + beta)}.

The first part is at least what the nearest token gives alone; the second is bounded by
gamma_j <= q(x_j) = 1/(1 + e^{x_j}), x_j taken from the nearest, and by
Var(u) <= sum gamma_j (1 - gamma_j) delta_j^2. Given the nearest, the others are
independent, and w^2 times each part is an integral whose bound is monotone in w: what
holds at W holds beyond. The integrals over u are Riemann sums of monotone pieces in
balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb, factorial
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure.population import (
    Population,
    PopulationError,
    ball,
    growths,
    kinks,
)

if TYPE_CHECKING:
    from flint import arb

CELLS = 1500  # u = 2 (i/CELLS)^2: fine where the nearest token is
BITS = 64
FARTHEST = 400


@dataclass(frozen=True)
class Cells:
    """A partition of [0, 2] and what is known on its cells.

    Attributes:
        ends: The points u_0 = 0 < ... < u_CELLS = 2.
        beyond: P(u > u_i) at these points.
        height: The density is height (u (2 - u))^{(d-3)/2}.
        useful: Lower bounds of sum_k w_k G_k on the cells within [0, 1].
    """

    ends: list[arb]
    beyond: list[arb]
    height: arb
    useful: list[arb]


@lru_cache(maxsize=16)
def cells(kind: str, d: int) -> Cells:
    """The partition for a class of tasks."""
    from flint import arb, ctx

    with ctx.workprec(BITS):
        half = arb(d - 1) / 2
        ends = [2 * (arb(i) / CELLS) ** 2 for i in range(CELLS + 1)]
        beyond = [
            (1 - u / 2).beta_lower(half, half, regularized=True) for u in ends[1:-1]
        ]
        height = (half + arb("0.5")).gamma() / (arb.const_sqrt_pi() * half.gamma())
        near = [(u, v) for u, v in pairwise(ends) if v <= 1]
        useful = [_useful(kind, d, u, v) for u, v in near]
        return Cells(ends, [arb(1), *beyond, arb(0)], height, useful)


def _useful(kind: str, d: int, low: arb, high: arb) -> arb:
    """Lower bound of sum_k w_k (1 - P_k^2) for u in [low, high], within [0, 1]."""
    first = low * (2 - low)
    if kind == "affine":
        return first
    t, total = 1 - low.union(high), first / 2
    before, now = ball(1.0), t
    weights = kinks(d, 8)
    for k in range(1, 8):
        before, now = now, ((2 * k + d - 2) * t * now - k * before) / (k + d - 2)
        if k % 2:
            part = d * weights[k + 1] * (1 - now * now) / 2
            total += part.lower() if part > 0 else 0
    return total


def moment(k: int) -> arb:
    """int_0^inf x^k/(1 + e^x) dx = k! (1 - 2^-k) zeta(k + 1); log 2 for k = 0."""
    from flint import arb

    if k == 0:
        return arb(2).log()
    return factorial(k) * (1 - arb(2) ** -k) * arb(k + 1).zeta()


def steep_moment(k: int) -> arb:
    """int_0^inf x^k q^2 (1 - q) dx with q = 1/(1 + e^x), for k >= 2: by parts."""
    return ball(float(k)) / 2 * (moment(k - 1) - (k - 1) * moment(k - 2))


def gain(population: Population, W: arb) -> arb:
    """Lower bound of the first part, times w^2, for all w >= W.

    The inner integral over x in [0, W (1 - u)] is bounded by Jensen's inequality for
    the weight x e^-x (1 - e^-x) of total 3/4, whose mean of e^-x is 5/36 over its mass.

    Args:
        population: The loss.
        W: Scale.

    Returns:
        A ball.
    """
    grid = cells(population.kind, population.d)
    n, noise = population.n, ball(population.sigma2 / population.c)
    total = ball(0.0)
    for i, useful in enumerate(grid.useful):
        low, high = grid.ends[i], grid.ends[i + 1]
        X = W * (1 - high)
        mass = ball(0.75) - (X + 1) * (-X).exp()
        if not mass > 0:
            continue
        others = (n - 2) * _crowd(population.d, grid, i, W)
        inner = mass / (1 + others + 5 / (36 * mass)) ** 3
        density = grid.height**2 * (low * (2 - low)) ** (population.d - 3)
        weight = (high - low) * density * grid.beyond[i + 1] ** (n - 2)
        total += weight * (useful + noise) * inner
    return n * (n - 1) * total


def _crowd(d: int, grid: Cells, i: int, W: arb) -> arb:
    """Upper bound on E[e^{-W (u' - u)} | u' > u] for u in cell i, within [0, 1].

    The density is at most its value at 1, and f(u + x) <= f(u) (1 + x/u)^P.
    """
    low, high, beyond = grid.ends[i], grid.ends[i + 1], grid.beyond[i + 1]
    flat = grid.height / W
    if not low > 0:
        return flat / beyond
    steps, sum_ = (d - 2) // 2, ball(0.0)
    for step in range(steps + 1):
        twice = d - 3 - 2 * step  # f(u) u^-l is u^{twice/2} (2 - u)^{(d-3)/2}
        base = (low if twice < 0 else high).sqrt() ** twice
        shape = grid.height * base * (2 - low).sqrt() ** (d - 3)
        sum_ += comb(steps, step) * factorial(step) * shape / W ** (step + 1)
    return (sum_ if sum_ < flat else flat) / beyond


def loss(population: Population, W: arb) -> arb:
    """Upper bound of the second part, times w^2, for all w >= W.

    In every cell that pair (alpha, beta) is taken which bounds alpha u + beta best.

    Args:
        population: The loss.
        W: Scale.

    Returns:
        A ball.
    """
    grid, n, d = cells(population.kind, population.d), population.n, population.d
    pairs = growths(population)
    sizes = [(float(alpha), float(beta)) for alpha, beta in pairs]
    terms = [_terms(d, W, alpha) for alpha, _ in pairs]
    total = ball(0.0)
    for i in range(CELLS):
        low, high = grid.ends[i], grid.ends[i + 1]
        x = float(high)
        best = min(range(len(pairs)), key=lambda j: sizes[j][0] * x + sizes[j][1])
        slope = pairs[best][0] * high + pairs[best][1]
        inner = sum(
            high ** (d - 3 - step) * (fixed + slope * moved)
            for step, (fixed, moved) in enumerate(terms[best])
        )
        weight = (high - low) * (2 - low) ** (d - 3) * grid.beyond[i] ** (n - 2)
        total += weight * inner
    return n * (n - 1) * grid.height**2 * total / W


def _terms(d: int, W: arb, alpha: arb) -> list[tuple[arb, arb]]:
    """Integrals over x, for each power of x/(W u) in f(u + x/W) <= f(u)(1 + x/(W u))^P.

    The density's steepness is P = ceil((d - 3)/2). In x^k q (1 - q) = -x^k q' a part is
    integrated.
    """
    steps = (d - 2) // 2
    return [
        (
            weight * (2 * steep_moment(2 + step) + alpha * moment(3 + step) / W),
            weight * (2 + step) * moment(1 + step),
        )
        for step in range(steps + 1)
        for weight in [comb(steps, step) / W**step]
    ]


def margin(population: Population, W: int) -> arb:
    """A lower bound of w^2 L'(w)/(2c) for all w >= W.

    Args:
        population: The loss; d >= 3.
        W: A positive scale.

    Returns:
        A ball; L' > 0 on [W, infinity) if it is positive.

    Raises:
        PopulationError: d = 2, where the density is infinite at its ends.
    """
    from flint import arb, ctx

    if population.d < 3 or population.first != "1 - t":
        raise PopulationError("the tail is bounded for d >= 3, and the paper's loss")
    with ctx.workprec(BITS):
        scale = arb(W)
        return gain(population, scale) - loss(population, scale)


def settles(population: Population) -> int:
    """A whole W with a positive margin; by bisection, the smallest if it is monotone.

    Args:
        population: The loss.

    Returns:
        W, or 0 when none up to FARTHEST has one.
    """
    high = 4
    while high <= FARTHEST and not margin(population, high) > 0:
        high *= 2
    if high > FARTHEST:
        return 0
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        positive = margin(population, middle) > 0
        low, high = (low, middle) if positive else (middle, high)
    return high
