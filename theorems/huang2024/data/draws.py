"""Sources of choices: numpy generators here, Hypothesis in strategies.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np


class Draws(Protocol):
    """A source of choices."""

    def integer(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``; the simplest is ``low``."""

    def times(self, low: int, high: int) -> Iterator[int]:
        """Count from 0 to a number drawn between ``low`` and ``high``."""

    def some(self, items: Sequence[int]) -> list[int]:
        """Each item or not; the simplest is none."""

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """The items in another order; the simplest is the order given."""

    def weight(self, skew: float) -> int:
        """A positive integer, about e^(skew g) on some scale, g standard normal."""


class RandomDraws:
    """Draws from a numpy generator, in blocks: single calls would take most time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._block: list[float] = []

    def integer(self, low: int, high: int) -> int:
        """A uniform integer."""
        if not self._block:
            self._block = self._rng.random(128).tolist()
        return low + int(self._block.pop() * (high - low + 1))

    def times(self, low: int, high: int) -> Iterator[int]:
        """Count to a uniform integer."""
        return iter(range(self.integer(low, high)))

    def some(self, items: Sequence[int]) -> list[int]:
        """Each item with probability one half."""
        return [item for item in items if self.integer(0, 1)]

    def shuffled(self, items: Sequence[int]) -> list[int]:
        """A uniform permutation."""
        return permuted(items, (self.integer(0, i) for i in range(len(items))))

    def weight(self, skew: float) -> int:
        """e^(skew g) in units of 2^-40, at least one unit; 1 without skew."""
        if not skew:
            return 1
        return max(1, int(2.0**40 * np.exp(skew * self._rng.standard_normal())))


def pick(draws: Draws, items: Sequence[int]) -> int:
    """One of the items; the simplest is the first."""
    return items[draws.integer(0, len(items) - 1)]


def permuted(items: Sequence[int], steps: Iterable[int]) -> list[int]:
    """The permutation that inserts the i-th item ``steps[i]`` places before the end.

    Args:
        items: In any order.
        steps: Of each item from 0 to its index; zeros leave the order.

    Returns:
        The items in the new order.
    """
    order: list[int] = []
    for i, (item, step) in enumerate(zip(items, steps, strict=True)):
        order.insert(i - step, item)
    return order
