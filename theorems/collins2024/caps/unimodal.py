"""Continuous functions that rise, then fall: piecewise linear, exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor


@dataclass(frozen=True)
class Polygon:
    """A continuous piecewise linear function, zero outside its knots if it ends so.

    Attributes:
        knots: Abscissae, strictly growing.
        values: Ordinates there.
    """

    knots: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    @property
    def rises_then_falls(self) -> bool:
        """Whether no value after a fall is larger than the one before."""
        steps = [b - a for a, b in pairwise(self.values)]
        first = next((k for k, step in enumerate(steps) if step < 0), len(steps))
        return all(step <= 0 for step in steps[first:])

    @property
    def largest(self) -> Fraction:
        """Maximum."""
        return max(self.values)

    def at(self, x: Fraction | int) -> Fraction:
        """Value, 0 outside the knots."""
        for (a, b), (y, z) in zip(
            pairwise(self.knots), pairwise(self.values), strict=True
        ):
            if a <= x <= b:
                return y + (z - y) * (Fraction(x) - a) / (b - a)
        return Fraction(0)

    def integral(self, low: Fraction | int, high: Fraction | int) -> Fraction:
        """Integral between two places inside the knots, or 0 outside."""
        inside = [x for x in self.knots if low < x < high]
        places = [Fraction(low), *inside, Fraction(high)]
        return sum(
            ((self.at(a) + self.at(b)) * (b - a) / 2 for a, b in pairwise(places)),
            Fraction(0),
        )

    def total(self, low: int, high: int) -> Fraction:
        """Sum over integers."""
        return sum((self.at(k) for k in range(low, high + 1)), Fraction(0))

    @property
    def span(self) -> tuple[int, int]:
        """Integers around the knots."""
        return floor(self.knots[0]), ceil(self.knots[-1])
