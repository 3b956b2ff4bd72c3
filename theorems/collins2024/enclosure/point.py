"""Enclosures of L(w) and L'(w) at one scale w, to a requested accuracy.

Sizes (points of the law, harmonics, step and ends of the trapezoid sum) are chosen in
floating point; what each leaves out is then bounded in balls and added to the radius,
so that a poor choice makes a result wide, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure.discrete import (
    PHASES,
    Ellipse,
    exchange,
    spill,
    truncation,
)
from theorems.collins2024.enclosure.laplace import Grid, Stage, stage, trapezoid
from theorems.collins2024.enclosure.population import Population, ball

if TYPE_CHECKING:
    from flint import arb

SHARE = 16  # each of five errors is planned to be at most eps/16
GUARD = 40  # bits beyond eps
TRIES = 6


class AccuracyError(ArithmeticError):
    """The requested accuracy was not reached: sizes or precision do not suffice."""


@dataclass(frozen=True)
class Plan:
    """Sizes of one enclosure.

    Attributes:
        size: Points of the law.
        top: Largest degree.
        psi: Phase of the ellipse of the exchange.
        psi_top: Phase of the ellipse of the truncation.
        nu: Points per octave of the trapezoid sum.
    """

    size: int
    top: int
    psi: float
    psi_top: float
    nu: int


@lru_cache(maxsize=256)
def plan(population: Population, reach: float, eps: float) -> Plan:
    """Choose sizes for all scales up to ``reach`` in absolute value.

    Args:
        population: The loss.
        reach: Largest scale.
        eps: Accuracy.

    Returns:
        The sizes.
    """
    from flint import ctx

    with ctx.workprec(128):
        share, width = ball(eps / SHARE), ball(reach)
        top, psi_top = 0, PHASES[-1]
        if population.kind == "relu":
            top, psi_top = min(
                (_degrees(population, psi, width, share), psi) for psi in PHASES
            )
        weights, noise = population.weights(top), ball(population.sigma2) + ball(1.0)
        size, psi = min(
            (_points(population, psi, width, weights, noise, share), psi)
            for psi in PHASES
        )
        constant = 32 * ball(population.c) + 8 * (ball(population.sigma2) + 1)
        nu = next(nu for nu in range(1, 99) if _aliasing(nu, constant) < share)
    return Plan(size, top, psi, psi_top, nu)


def _degrees(population: Population, psi: float, width: arb, share: arb) -> int:
    """The smallest top whose remainder is within ``share``, by bisection."""
    ellipse = Ellipse.of(psi, width)

    def suffices(half: int) -> bool:
        rest = population.rest(2 * half)
        return bool(truncation(population, ellipse, 2 * half, rest) < share)

    high = 1
    while not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return 2 * high


def _points(
    population: Population,
    psi: float,
    width: arb,
    weights: dict[int, arb],
    noise: arb,
    share: arb,
) -> int:
    ellipse, least = Ellipse.of(psi, width), spill(population.d) + 1
    excess = exchange(population, ellipse, least, weights, noise) / share
    return least + max(
        0, math.ceil(float((excess.log() / ellipse.rho.log() / 2).upper()))
    )


def _aliasing(nu: int, constant: arb) -> arb:
    """Error of the infinite trapezoid sum, 2 C cos^-3 phi/(e^{2 pi phi/h} - 1)."""
    from flint import arb

    step = ball(2.0).log() / nu
    phi = (2 * arb.pi() / (3 * step)).atan()
    return 2 * constant / phi.cos() ** 3 / (2 * arb.pi() * phi / step).expm1()


def _grid(stage: Stage, a: list[arb], constant: arb, nu: int, eps: float) -> Grid:
    """Ends of the sum: by floating point, as far as the two tails ask for."""
    import numpy as np

    share = eps / SHARE
    weight = np.array([float(x) for x in stage.mass])
    exponent = np.array([float(x) for x in a])
    n, C = stage.population.n, float(constant.upper())
    mean, square = weight @ exponent, weight @ exponent**2
    second = n * square + n * (n - 1) * mean**2
    low = min(math.sqrt(2 * share / (C * second)), 0.99 / n)
    first = math.floor(nu * math.log2(low))
    last = first
    while last < first + 40_000:
        last += nu
        with np.errstate(divide="ignore"):
            decay = np.log(weight @ np.exp(-(2.0 ** (last / nu)) / 2 * exponent))
        if math.log(16 * C) + n * decay < math.log(share):
            break
    return Grid(nu, first, last)


def _tails(stage: Stage, a: list[arb], grid: Grid, constant: arb) -> arb:
    """What lies beyond both ends of the sum.

    Left, where n s <= 1: C E[S^2] s^2/2. Right: (1 + h) 2^3 C (E e^{-s a/2})^n.
    """
    n, p, low = stage.population.n, stage.mass, grid.at(grid.first)
    if not n * low <= 1:
        raise AccuracyError("the left end of the sum is too far right")
    mean = sum(x * y for x, y in zip(p, a, strict=True))
    square = sum(x * y * y for x, y in zip(p, a, strict=True))
    left = constant * (n * square + n * (n - 1) * mean**2) * low**2 / 2
    half = grid.at(grid.last) / 2
    decay = sum(x * (-half * y).exp() for x, y in zip(p, a, strict=True))
    return left + (1 + grid.step) * 8 * constant * decay**n


def enclose_at(
    population: Population, w: arb, eps: float, reach: float | None = None
) -> tuple[arb, arb]:
    """Enclose L(w) and L'(w) at the ball of scales ``w``.

    Args:
        population: The loss.
        w: The scale, a ball.
        eps: Largest radius allowed.
        reach: Plan for all scales up to this one, so that neighbours share their law.

    Returns:
        Balls around L(w) and L'(w).

    Raises:
        AccuracyError: The radius stayed above ``eps``.
    """
    from flint import ctx

    if w < 0:  # the same numbers from t -> -t, with the first harmonic reflected
        return _reflected(population, w, eps, reach)
    if not w >= 0:
        raise AccuracyError(f"the ball {w} reaches to both sides of 0: split it")
    chosen = plan(population, max(reach or 0.0, float(w.abs_upper())), eps)
    bits = math.ceil(-math.log2(eps)) + GUARD
    for _ in range(TRIES):
        with ctx.workprec(bits):
            found = _enclose(population, w, chosen, eps)
        if all(x.rad() < eps for x in found):
            return found
        bits += 48
    raise AccuracyError(
        f"L'({w}) is enclosed to {found[1].rad()} only, not to {eps}: {population}"
    )


def _reflected(
    population: Population, w: arb, eps: float, reach: float | None
) -> tuple[arb, arb]:
    from dataclasses import replace

    if population.first == "1 - t^2":
        return _flip(enclose_at(population, -w, eps, reach))
    other = {"1 - t": "1 + t", "1 + t": "1 - t"}[population.first]
    return _flip(enclose_at(replace(population, first=other), -w, eps, reach))


def _flip(pair: tuple[arb, arb]) -> tuple[arb, arb]:
    return pair[0], -pair[1]


def _enclose(
    population: Population, w: arb, chosen: Plan, eps: float
) -> tuple[arb, arb]:
    from flint import arb, ctx

    here = stage(population, chosen.size, chosen.top, ctx.prec)
    a = [(-w * u).exp() for u in here.points]
    # Per sample the monomials of L' have total mass at most 32 c + 8 v; L less.
    constant = 32 * ball(population.c) + 8 * here.noise
    grid = _grid(here, a, constant, chosen.nu, eps)
    small = ball(2.0) ** (-2 * ctx.prec - 2 * abs(grid.last) // grid.nu)
    loss, slope = trapezoid(here, a, grid, small)
    error = _aliasing(grid.nu, constant) + _tails(here, a, grid, constant)
    weights = population.weights(chosen.top)
    wide = Ellipse.of(chosen.psi, w)
    error += exchange(population, wide, chosen.size, weights, here.noise)
    rest = population.rest(chosen.top)
    error += truncation(population, Ellipse.of(chosen.psi_top, w), chosen.top, rest)
    blur = arb(0).union(error) - arb(0).union(error)
    return loss + rest + blur, slope + blur
