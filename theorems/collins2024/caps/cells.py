"""Two functions that are constant on cells of rational measure, and rearrangements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

Layer = tuple[Fraction, int, int]


@dataclass(frozen=True)
class Cells:
    """Two functions on a common partition.

    Attributes:
        sizes: Measures of the cells, positive.
        f: Values of the first function.
        g: Values of the second function.
    """

    sizes: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    def in_place(self) -> list[Layer]:
        """Measure, and places of the values of f and g, on each cell."""
        return [(size, i, i) for i, size in enumerate(self.sizes)]

    def rearranged(self, f_falls: bool | None, g_falls: bool | None) -> list[Layer]:
        """The same, cell by cell of the rearrangements about a common centre.

        Superlevel sets of a decreasing rearrangement are balls about the centre, of
        the measure of those of the function: only the measure counts.

        Args:
            f_falls: Whether f falls from the centre; rises; or stays in place.
            g_falls: Likewise for g.
        """
        first, second = self._order(self.f, f_falls), self._order(self.g, g_falls)
        return list(self._merge(first, second))

    def _order(self, values: tuple[Fraction, ...], falls: bool | None) -> list[int]:
        places = list(range(len(values)))
        if falls is None:
            return places
        return sorted(places, key=lambda i: -values[i] if falls else values[i])

    def _merge(self, first: list[int], second: list[int]) -> Iterator[Layer]:
        left = [self.sizes[i] for i in first]
        right = [self.sizes[j] for j in second]
        i = j = 0
        while i < len(first) and j < len(second):
            common = min(left[i], right[j])
            yield common, first[i], second[j]
            left[i], right[j] = left[i] - common, right[j] - common
            i, j = i + (left[i] == 0), j + (right[j] == 0)

    def product(self, layers: list[Layer]) -> Fraction:
        """Integral of the product over layers."""
        return sum((w * self.f[i] * self.g[j] for w, i, j in layers), Fraction(0))
