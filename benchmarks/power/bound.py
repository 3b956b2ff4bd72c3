"""Bounds a <= b: `verify.search` over rational points, judged exactly.

True bounds are attained: b - a is a sum of squares, or the Lagrange identity of
Cauchy's inequality, expanded so that both sides cancel; the points of equality are
pinned, where floating point would decide by rounding. False bounds fail only in a
part of the cube of volume ``wrongness``: at a corner, or in a ball in the interior,
with and without `Search.aim`. Others fail at a pinned point by 2^-60.

A search never has scope "all": in the suite such a check decides beside a proof, or
under a `Requires` that says why none is asked for. Here it stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from benchmarks.power.cases import Drawn, Family
from verify import Claim, Outcome
from verify.profiles import profile
from verify.search import Search
from verify.symbolic import Compiled, formula
from verify.verdict import Grade

GRID = 1000  # points are j/1000 in every coordinate
LEAST = Fraction(1, 2**60)
Point = tuple[Fraction, ...]
BACKEND: Any = "exact"


@dataclass(frozen=True)
class Cube:
    """The unit cube, and whether the search is told how close a point is."""

    size: int
    aimed: bool

    def __str__(self) -> str:
        return f"[0, 1]^{self.size}{', aimed' * self.aimed}"


def variables(size: int) -> list[sp.Symbol]:
    """The coordinates."""
    return [sp.Symbol(f"x{i}") for i in range(size)]


def sides(claim: Claim) -> Callable[[Point], tuple[Any, Any]]:
    """Both sides as functions of a point, exact."""
    left, right = (Compiled(x, BACKEND) for x in (claim.left, claim.right))
    names = [x.name for x in variables(claim.domain.size)]

    def at(point: Point) -> tuple[Any, Any]:
        values = dict(zip(names, point, strict=True))
        return left(values), right(values)

    return at


def decide(claim: Claim, search: Search) -> Outcome:
    """Hunt for a point at which the left side exceeds the right one."""
    from hypothesis import strategies as st

    both, size = sides(claim), claim.domain.size

    def violated(point: Point) -> bool:
        left, right = both(point)
        if claim.domain.aimed:
            search.aim(float(left - right), "excess")
        return bool(left > right)

    def witness(point: Point) -> dict[str, Any]:
        names = [x.name for x in variables(size)]
        values = dict(zip(names, point, strict=True))
        return formula(claim.left, ">", claim.right, values, "the bound fails here")

    coordinate = st.integers(0, GRID).map(lambda j: Fraction(j, GRID))
    return search.for_all(
        st.tuples(*[coordinate] * size),
        violated,
        witness,
        searched=f"points of the grid 1/{GRID} in {claim.domain}",
        pinned=claim.pinned,
    )


# ------------------------------------------------------------------------- true bounds
# In a polynomial ring: multiplying out takes microseconds there.


@lru_cache
def ring(size: int) -> Any:
    """The polynomials in the coordinates, with rational coefficients."""
    return sp.ring([x.name for x in variables(size)], sp.QQ)[0]


def _linear(rng: np.random.Generator, at: Point) -> Any:
    """A linear form with the value 0 at a point."""
    x = ring(len(at)).gens
    pairs = zip(x, at, strict=True)
    return sum(int(rng.integers(-9, 10)) * (a - _exact(b)) for a, b in pairs)


def _exact(value: Any) -> Any:
    value = Fraction(value)
    return sp.QQ(value.numerator, value.denominator)


def _point(rng: np.random.Generator, size: int) -> Point:
    return tuple(Fraction(int(j), GRID) for j in rng.integers(0, GRID + 1, size))


def _anything(rng: np.random.Generator, size: int) -> Any:
    """A polynomial of degree 2 that stands on both sides."""
    x = ring(size).gens
    products = [a * b for i, a in enumerate(x) for b in x[i:]]
    terms = (ring(size).one, *x, *products)
    return sum(int(rng.integers(-9, 10)) * term for term in terms)


def squares(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """Let b - a be a sum of squares that vanishes at one point."""
    size = int(rng.integers(1, 4))
    at = _point(rng, size)
    gap = sum(_linear(rng, at) ** 2 for _ in range(int(rng.integers(1, 4))))
    common = _anything(rng, size)
    return common.as_expr(), (common + gap).as_expr(), at


def cauchy(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """(u.v)² <= |u|² |v|² for affine u and v that are parallel at one point."""
    at = _point(rng, int(rng.integers(1, 4)))
    lengths = [int(k) for k in rng.integers(1, 9, 2)]
    ratio = _exact(Fraction(int(rng.integers(1, 9)), int(rng.integers(1, 9))))
    u = [length + _linear(rng, at) for length in lengths]
    v = [ratio * length + _linear(rng, at) for length in lengths]
    inner = u[0] * v[0] + u[1] * v[1]
    product = (u[0] ** 2 + u[1] ** 2) * (v[0] ** 2 + v[1] ** 2)
    return (inner**2).as_expr(), product.as_expr(), at


def fractions(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """A sum of squares over a positive denominator."""
    left, right, at = squares(rng)
    below = 1 + variables(len(at))[0] ** 2
    return left / below, right / below, at


TRUE = {"squares": squares, "cauchy": cauchy, "fractions": fractions}


# ------------------------------------------------------------------------- false bounds


def corner(rng: np.random.Generator, size: int, volume: float) -> Any:
    """Let b - a be the distance from a corner less a reach, negative in a simplex."""
    reach = (volume * math.factorial(size)) ** (1 / size)
    pairs = zip(rng.choice((0, 1), size), ring(size).gens, strict=True)
    far = sum(x if side else 1 - x for side, x in pairs)
    return far - _exact(Fraction(reach).limit_denominator(10**6))


def ball(rng: np.random.Generator, size: int, volume: float) -> Any:
    """Let b - a be |x - c|² - r², negative in a ball in the interior."""
    unit = math.pi ** (size / 2) / math.gamma(size / 2 + 1)
    radius = (volume / unit) ** (1 / size)  # below 1/2 for all volumes of the grid
    centre = rng.uniform(radius, 1 - radius, size)
    exact = [_exact(Fraction(float(c)).limit_denominator(10**4)) for c in centre]
    far = sum((x - c) ** 2 for x, c in zip(ring(size).gens, exact, strict=True))
    return far - _exact(Fraction(radius**2).limit_denominator(10**6))


FALSE = {"corner": corner, "ball": ball}


def draw(rng: np.random.Generator, truth: bool, wrongness: float) -> Drawn:
    """An attained bound, or one that fails in a part of the cube."""
    if truth:
        sort = list(TRUE)[int(rng.integers(len(TRUE)))]
        left, right, at = TRUE[sort](rng)
        return _drawn(sort, left, right, Cube(len(at), bool(rng.integers(2))), (at,))
    sort = list(FALSE)[int(rng.integers(len(FALSE)))]
    size, aimed = int(rng.integers(1, 4)), bool(rng.integers(2))
    left = _anything(rng, size)
    right = left + (1 + ring(size).gens[0]) * FALSE[sort](rng, size, wrongness)
    cube = Cube(size, aimed)
    name = f"{sort}{', aimed' * aimed}"
    return _drawn(name, left.as_expr(), right.as_expr(), cube, ())


def at_a_pinned_point(rng: np.random.Generator) -> Drawn:
    """A true bound that is lowered by 2^-60: it fails where it was attained."""
    sort = list(TRUE)[int(rng.integers(len(TRUE)))]
    left, right, at = TRUE[sort](rng)
    right -= sp.Rational(LEAST.numerator, LEAST.denominator)
    return _drawn("pinned, by 2^-60", left, right, Cube(len(at), False), (at,))


def _drawn(
    sort: str, left: sp.Expr, right: sp.Expr, cube: Cube, pinned: tuple[Point, ...]
) -> Drawn:
    gross = {"right": right - 10**6}
    return Drawn(sort, {"left": left, "right": right}, cube, gross, pinned)


FAMILY = Family(
    name="bound",
    decide=decide,
    grade=Grade.PROPERTY,
    draw=draw,
    others=at_a_pinned_point,
    unit="share of the domain in which the bound fails (300 examples)",
    grid=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    stated=0.2,
    why=(
        "Hypothesis prefers small numbers: in the far corner of three coordinates its "
        "points are a tenth as dense as uniform ones, and 300 of them miss a tenth of "
        "20 % with probability 2e-3 there, less elsewhere"
    ),
    true_profile=profile("smoke"),
    false_profile=replace(profile("default"), refine=False),
    scale=0.5,
)
