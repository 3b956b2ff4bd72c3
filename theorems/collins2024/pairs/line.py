"""H_signal and H_noise for k = 1, where every expectation is a finite sum.

Each u_i.u is 1 or -1, so that e^{c u_i.u} is y or 1 up to a common factor, y = e^{2c}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import exp, inf, log
from typing import Any

import sympy as sp

from verify import Claim
from verify.numerics import gamma
from verify.search import Search
from verify.symbolic import formula

SIGNAL, NOISE = sp.symbols("signal noise")
MAX, MIN = "largest", "smallest"
y = sp.Symbol("y", positive=True)

STEPS = 10**6
ROUNDINGS = 200  # fewer behind each of at most 32 parts

Point = tuple[tuple[Fraction, ...], Fraction]  # weights, the first one varied, and y


@dataclass(frozen=True)
class Range:
    """Where a lemma is claimed.

    Attributes:
        low: c is above this.
        high: c is at most this; infinite for all.
        first: Whether α_1 is the largest or the smallest weight.
        even: Whether all weights may be equal.
        samples: Largest n; with k = 1 as many as ``line_samples``.
        line_samples: Largest n for k = 1.
    """

    low: float
    high: float
    first: str = MAX
    even: bool = False
    samples: int = 4
    line_samples: int = 4

    def admits(self, point: Point) -> bool:
        """Whether an instance with k = 1 belongs to it."""
        weights, at = point
        c = log(at) / 2
        end = max(weights) if self.first == MAX else min(weights)
        mixed = self.even or len(set(weights)) > 1
        fits = weights[0] == end and mixed and min(weights) > 0
        return fits and self.low < c <= self.high and len(weights) <= self.line_samples

    def span(self) -> tuple[Fraction, Fraction]:
        """Rational ends of y inside the range, c below 12."""
        low, high = max(self.low, -12.0), min(self.high, 12.0)
        ends = exp(2 * low + 1e-9), exp(2 * high - 1e-9)
        return Fraction(ends[0]), Fraction(ends[1])


def positive(high: float = inf, **changes: Any) -> Range:
    """The range 0 < c ≤ high."""
    return Range(0.0, high, **changes)


def slope(claim: Claim, weights: tuple[Any, ...], at: Any) -> Any:
    """2^n dH/dα_1, up to a positive factor: a sum over the signs of all u_i.u."""
    signs = product((1, -1), repeat=len(weights))
    return sum(sum(term(claim, one, weights, at)) for one in signs)


def term(
    claim: Claim, signs: tuple[int, ...], weights: tuple[Any, ...], at: Any
) -> tuple[Any, Any]:
    """The two parts of the derivative of a quotient, for given signs."""
    power = int(claim.power)
    e = [at if s > 0 else 1 for s in signs]
    S = sum(x * w for x, w in zip(e, weights, strict=True))
    top, bend = _numerator(claim, signs, e, weights)
    return bend / S**power, -power * top * e[0] / S ** (power + 1)


def _numerator(
    claim: Claim, signs: tuple[int, ...], e: list[Any], weights: tuple[Any, ...]
) -> tuple[Any, Any]:
    """The numerator for given signs, and its derivative in α_1."""
    if claim.statistic == SIGNAL:
        t = int(claim.offset)
        terms = [x * (s - t) for x, s in zip(e, signs, strict=True)]
        N = sum(w * x for w, x in zip(weights, terms, strict=True))
        return N**2, 2 * N * terms[0]
    r = int(claim.degree)
    top = sum((x * w) ** r for x, w in zip(e, weights, strict=True))
    return top, r * e[0] ** r * weights[0] ** (r - 1)


def fails(claim: Claim, point: Point) -> bool:
    """Whether the derivative has not the claimed sign: in floats, if near 0 exactly."""
    weights, at = tuple(map(float, point[0])), float(point[1])
    terms = [
        term(claim, signs, weights, at)
        for signs in product((1, -1), repeat=len(weights))
    ]
    value, size = (sum(map(sum, terms)), sum(abs(x) for pair in terms for x in pair))
    if int(claim.sign) * value > gamma(ROUNDINGS) * size:
        return False
    return not int(claim.sign) * slope(claim, *point) > 0


def witness(claim: Claim, point: Point) -> dict[str, Any]:
    """The instance as a formula of its weights and y."""
    weights, at = point
    names = sp.symbols(f"alpha1:{len(weights) + 1}", positive=True)
    inputs = {s.name: w for s, w in zip(names, weights, strict=True)} | {"y": at}
    op = "<=" if claim.sign > 0 else ">="
    says = (
        f"k = 1, n = {len(weights)}, c = {log(at) / 2:.6g}, y = e^(2c): the derivative "
        "in α_1, times 2^n and a positive factor"
    )
    return formula(sp.sympify(slope(claim, names, y)), op, sp.S.Zero, inputs, says)


PINNED: tuple[Point, ...] = (
    ((Fraction(1), Fraction(47, 1000)), Fraction(50)),  # H.4 beyond c = 1.9113
    ((Fraction(1), Fraction(1, 8)), Fraction(1, 7)),  # H.3 at c < 0
    ((Fraction(1), Fraction(1)), Fraction(2)),  # equal weights
    ((Fraction(1), Fraction(1, 2)), Fraction(7)),
    ((Fraction(1), Fraction(2)), Fraction(3)),
    ((Fraction(1), Fraction(1, 2), Fraction(1, 3)), Fraction(5)),
)


def pinned(claim: Claim) -> list[Point]:
    """Known instances inside the claimed range."""
    return [point for point in PINNED if claim.domain.admits(point)]


def by_hand(claim: Claim) -> Point | None:
    """A counterexample among small instances, if there is one."""
    low, high = claim.domain.span()
    ys = [Fraction(j, 4) for j in (1, 2, 3, 6, 8, 12, 20, 28, 60, 200)]
    grid: Iterator[Point] = (
        ((Fraction(1), Fraction(j, 10)), at)
        for at in ys
        if low <= at <= high
        for j in (1, 3, 5, 8, 15, 20, 40)
    )
    points = [*pinned(claim), *grid]
    return next((p for p in points if claim.domain.admits(p) and fails(claim, p)), None)


def hunt(claim: Claim, search: Search, scale: float = 0.2) -> Any:
    """Search weights and scales for a derivative of the wrong sign."""
    from hypothesis import strategies as st

    low, high = claim.domain.span()
    one = st.integers(1, 50).map(lambda j: Fraction(j, 50))
    count = claim.domain.line_samples
    start, length = log(low), log(high) - log(low)

    def make(drawn: tuple[list[Fraction], int]) -> Point:
        weights = sorted(drawn[0], reverse=claim.domain.first == MAX)
        grown = Fraction(exp(start + length * drawn[1] / STEPS))
        return tuple(weights), min(max(grown.limit_denominator(1000), low), high)

    def violated(point: Point) -> bool:
        if not claim.domain.admits(point):
            search.discard("outside the claimed range")
        return fails(claim, point)

    scales = st.integers(1, STEPS)
    return search.for_all(
        st.tuples(st.lists(one, min_size=2, max_size=count), scales).map(make),
        violated,
        lambda point: witness(claim, point),
        searched=f"k = 1, n = 2..{count}, {log(low) / 2:.3g} < c ≤ {log(high) / 2:.3g}",
        pinned=pinned(claim),
        scale=scale,
    )
