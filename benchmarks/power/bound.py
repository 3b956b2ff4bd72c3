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


# -------------------------------------------------------------------------- true bounds


def _linear(rng: np.random.Generator, at: Point) -> sp.Expr:
    """A linear form with the value 0 at a point."""
    terms = [
        int(rng.integers(-9, 10)) * (x - sp.Rational(a.numerator, a.denominator))
        for x, a in zip(variables(len(at)), at, strict=True)
    ]
    return sp.Add(*terms)


def _point(rng: np.random.Generator, size: int) -> Point:
    return tuple(Fraction(int(j), GRID) for j in rng.integers(0, GRID + 1, size))


def _anything(rng: np.random.Generator, size: int) -> sp.Expr:
    """A polynomial of degree 2 that stands on both sides."""
    x = variables(size)
    products = [a * b for i, a in enumerate(x) for b in x[i:]]
    return sp.Add(*(int(rng.integers(-9, 10)) * term for term in (1, *x, *products)))


def squares(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """Let b - a be a sum of squares that vanishes at one point."""
    size = int(rng.integers(1, 4))
    at = _point(rng, size)
    gap = sp.Add(*(_linear(rng, at) ** 2 for _ in range(int(rng.integers(1, 4)))))
    common = _anything(rng, size)
    return common, sp.expand(common + gap), at


def cauchy(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """(u.v)² <= |u|² |v|² for affine u and v that are parallel at one point."""
    size = int(rng.integers(1, 4))
    at = _point(rng, size)
    u = [int(rng.integers(1, 9)) + _linear(rng, at) for _ in range(2)]
    ratio = sp.Rational(int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    v = [ratio * (a - _linear(rng, at)) for a in u]
    values = {
        x: sp.Rational(a.numerator, a.denominator)
        for x, a in zip(variables(size), at, strict=True)
    }
    v = [b + ratio * a.subs(values) - b.subs(values) for a, b in zip(u, v, strict=True)]
    inner = sp.Add(*(a * b for a, b in zip(u, v, strict=True)))
    lengths = sp.Mul(*(sp.Add(*(a**2 for a in w)) for w in (u, v)))
    return sp.expand(inner**2), sp.expand(lengths), at


def fractions(rng: np.random.Generator) -> tuple[sp.Expr, sp.Expr, Point]:
    """A sum of squares over a positive denominator."""
    left, right, at = squares(rng)
    below = 1 + variables(len(at))[0] ** 2
    return left / below, right / below, at


TRUE = {"squares": squares, "cauchy": cauchy, "fractions": fractions}


# ------------------------------------------------------------------------- false bounds


def corner(rng: np.random.Generator, size: int, volume: float) -> sp.Expr:
    """Let b - a be the distance from a corner less a reach, negative in a simplex."""
    reach = (volume * math.factorial(size)) ** (1 / size)
    sign = [int(s) for s in rng.choice((0, 1), size)]
    inner = sp.Add(*(x if s else 1 - x for s, x in zip(sign, variables(size),
                                                       strict=True)))  # fmt: skip
    return inner - sp.Rational(Fraction(reach).limit_denominator(10**6))


def ball(rng: np.random.Generator, size: int, volume: float) -> sp.Expr:
    """Let b - a be |x - c|² - r², negative in a ball in the interior."""
    unit = math.pi ** (size / 2) / math.gamma(size / 2 + 1)
    radius = (volume / unit) ** (1 / size)
    centre = rng.uniform(radius, 1 - radius, size) if radius < 0.5 else [0.5] * size
    exact = [sp.Rational(Fraction(float(c)).limit_denominator(10**4)) for c in centre]
    far = sp.Add(*((x - c) ** 2 for x, c in zip(variables(size), exact, strict=True)))
    return far - sp.Rational(Fraction(radius**2).limit_denominator(10**6))


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
    slope = 1 + variables(size)[0]
    right = sp.expand(left + slope * FALSE[sort](rng, size, wrongness))
    return _drawn(f"{sort}{', aimed' * aimed}", left, right, Cube(size, aimed), ())


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
    unit="share of the domain in which the bound fails; 300 examples",
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
