"""Brackets of the minimiser: intervals at whose ends the sign of L' is proved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure.point import enclose_at
from theorems.collins2024.enclosure.population import FIRST, Population, ball

if TYPE_CHECKING:
    from flint import arb

BITS = 192
DIGITS = (8, 16, 21, 26, 32)  # of L', tried in turn
CLEAR = 32  # a slope is resolved when it is as many radii away from 0
MOST_DOUBLINGS = 60
SECANTS = (1e-8, 1e-11, 1e-14, 1e-18, 1e-22)  # accuracies of L' on the way to w*
BISECTIONS = 12

Number = Fraction | int | float


class BracketError(ArithmeticError):
    """No interval was found, or proved, to hold a minimiser."""


@dataclass(frozen=True)
class Bracket:
    """An interval in which the loss has a stationary point.

    Attributes:
        left: Left end; L' < 0 there.
        right: Right end; L' > 0 there.
        below: L'(left) is below this negative number.
        above: L'(right) is above this positive number.
    """

    left: Fraction
    right: Fraction
    below: Fraction
    above: Fraction


def enclose(
    kind: str,
    d: int,
    n: int,
    sigma2: Number,
    w: Number,
    eps: float = 1e-15,
    *,
    L2: Number = 1,
    first: str = FIRST[0],
) -> tuple[arb, arb]:
    """Enclose the population loss and its derivative at one scale.

    Args:
        kind: ``affine`` or ``relu``.
        d: Size of a covariate.
        n: Number of labelled tokens.
        sigma2: Variance of the noise; a double is taken as the number it is.
        w: Scale: gamma_i is proportional to exp(w x_i . x).
        eps: Largest radius allowed.
        L2: Square of the Lipschitz constant.
        first: Discrepancy of the first harmonic.

    Returns:
        Balls around L(w) and L'(w).

    >>> value, slope = enclose("affine", 5, 20, Fraction(1, 10000), 6)
    >>> value.str(10, radius=False), bool(slope < 0)
    ('0.01806178957', True)
    """
    population = Population(kind, d, n, Fraction(sigma2), Fraction(L2), first)
    return _enclosed(population, Fraction(w), eps)


@lru_cache(maxsize=512)
def _enclosed(population: Population, w: Fraction, eps: float) -> tuple[arb, arb]:
    from flint import ctx

    with ctx.workprec(BITS):
        return enclose_at(population, ball(w), eps)


def slope_at(population: Population, w: Fraction) -> arb:
    """L'(w), enclosed ever tighter until its sign is clear; it may stay open."""
    found, scale = ball(0.0), min(1.0, float(population.scale))
    for digits in DIGITS:
        found = _enclosed(population, w, 10.0**-digits * scale)[1]
        if CLEAR * found.rad() < found.abs_lower():
            break
    return found


def prove(population: Population, left: Fraction, right: Fraction) -> Bracket:
    """Prove L'(left) < 0 < L'(right), to as many digits as that takes.

    Args:
        population: The loss.
        left: Left end.
        right: Right end.

    Returns:
        The bracket.

    Raises:
        BracketError: The signs are others, or stay open.
    """
    below, above = slope_at(population, left), slope_at(population, right)
    if not (left < right and below < 0 < above):
        raise BracketError(
            f"L' is {below} at {float(left)} and {above} at {float(right)}: not a "
            "bracket of a minimiser"
        )
    return Bracket(left, right, -toward_zero(below), toward_zero(above))


def toward_zero(x: arb) -> Fraction:
    """A short rational between 0 and the absolute value of everything in a ball."""
    from flint import ctx

    with ctx.workprec(64):
        mantissa, exponent = x.abs_lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def bracket(
    kind: str,
    d: int,
    n: int,
    sigma2: Number,
    rel: Fraction | float = Fraction(1, 10**12),
    *,
    L2: Number = 1,
) -> Bracket:
    """Find a minimiser, and prove that it lies within ``rel`` of a short decimal.

    Args:
        kind: ``affine`` or ``relu``.
        d: Size of a covariate.
        n: Number of labelled tokens.
        sigma2: Variance of the noise.
        rel: Relative half-width.
        L2: Square of the Lipschitz constant.

    Returns:
        The bracket. That it holds the only stationary point is another matter.

    Raises:
        BracketError: L' keeps one sign at all scales that were tried.
    """
    population = Population(kind, d, n, Fraction(sigma2), Fraction(L2))
    rel = Fraction(rel)
    digits = len(str(int(1 / rel))) + 2
    centre = Fraction(f"{float(_root(population)):.{min(digits, 17)}g}")
    return prove(population, centre * (1 - rel), centre * (1 + rel))


def _root(population: Population) -> Fraction:
    """About the first zero of L': doubling, bisection, then secants; nothing proved."""
    low, high = Fraction(0), Fraction(1, 2)
    for _ in range(MOST_DOUBLINGS):
        if slope_at(population, high) > 0:
            break
        low, high = high, 2 * high
    else:
        raise BracketError(f"L' stays negative up to {float(high)}: {population}")
    for _ in range(MOST_DOUBLINGS):
        if low or slope_at(population, high / 2) < 0:
            break
        high /= 2
    low = low or high / 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if slope_at(population, middle) < 0:
            low = middle
        else:
            high = middle
    return _polish(population, low, high)


def _polish(population: Population, low: Fraction, high: Fraction) -> Fraction:
    points = [low, high]
    scale = min(1.0, float(population.scale))
    slopes = [float(_enclosed(population, w, 1e-8 * scale)[1]) for w in points]
    for eps in SECANTS:
        (a, b), (x, y) = points[-2:], slopes[-2:]
        if x == y:
            break
        step = Fraction(y) * (b - a) / Fraction(y - x)
        after = min(max(b - step, low), high)
        if after in points:
            break
        points.append(Fraction(round(after * 2**80), 2**80))
        slopes.append(float(_enclosed(population, points[-1], eps * scale)[1].mid()))
    return points[-1]


def scale_brackets(
    kind: str, d: int, ratios: Iterable[int], rel: Fraction = Fraction(1, 10**9)
) -> list[tuple[int, Bracket]]:
    """Brackets of w* at some Lambda = n L^2/sigma^2, with L = sigma = 1 and n = Lambda.

    Args:
        kind: ``affine`` or ``relu``.
        d: Size of a covariate.
        ratios: Values of Lambda, whole numbers of at least 2.
        rel: Relative half-width.

    Returns:
        Lambda and the bracket, in order.
    """
    return [(ratio, bracket(kind, d, ratio, 1, rel)) for ratio in ratios]
