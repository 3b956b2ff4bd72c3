"""Hypothesis strategies of datasets; they shrink to few tokens and short samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import factorial
from typing import Any

from hypothesis import strategies as st

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.draws import permuted
from theorems.huang2024.data.generate import build, build_broken, shape


@lru_cache(maxsize=512)
def integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Integers of a range; one strategy serves all draws."""
    return st.integers(low, high)


class HypothesisDraws:
    """Choices that Hypothesis makes and shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """An integer that shrinks towards ``low``."""
        return low if low == high else self._draw(integers(low, high))

    def times(self, low: int, high: int) -> Iterator[int]:
        """Ask before each further time, so that single items can be shrunk away."""
        for count in range(high):
            if count >= low and not self._draw(integers(0, 2)):
                return
            yield count

    def some(self, items: Sequence[int]) -> list[int]:
        """A subset, drawn as the bits of one number: single draws take most time."""
        bits = self.integer(0, 2 ** len(items) - 1)
        return [item for i, item in enumerate(items) if bits >> i & 1]

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """A permutation, drawn as one number in the factorial number system."""
        code, steps = self.integer(0, factorial(len(items)) - 1), []
        for i in range(len(items)):
            code, step = divmod(code, i + 1)
            steps.append(step)
        return permuted(items, steps)

    def weight(self, skew: float) -> int:
        """A power of two up to e^(4 skew), about the spread of e^(skew g)."""
        return 1 << self.integer(0, round(6 * skew))


@st.composite
def datasets(draw: st.DrawFn, *, max_size: int = 5, **options: Any) -> Dataset:
    """Datasets that satisfy Assumptions 1 and 3 and have a constraint.

    Args:
        draw: Provided by Hypothesis.
        max_size: Largest number of tokens.
        **options: As for :func:`theorems.huang2024.data.generate.shape`: ``kind``,
            ``injective``, ``max_length``, ``skew`` and others.

    Returns:
        A dataset.
    """
    least = 3 if options.get("injective", True) is False else 2
    wanted = shape(size=(least, max_size), **options)
    return build(HypothesisDraws(draw), wanted)


@st.composite
def violating_datasets(
    draw: st.DrawFn, assumption: str, *, max_size: int = 5, **options: Any
) -> Dataset:
    """Datasets of sentences that violate one part of an assumption and nothing else.

    Args:
        draw: Provided by Hypothesis.
        assumption: One of ``assumptions.OF_DATA``.
        max_size: Largest number of tokens, at least 3.
        **options: As for :func:`datasets`.

    Returns:
        A dataset.
    """
    wanted = shape(size=(3, max_size), **options)
    return build_broken(HypothesisDraws(draw), wanted, assumption)
