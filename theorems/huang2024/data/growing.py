"""Texts grown token by token, so that all their prefixes satisfy the assumptions.

The next token is a function of the prefix: texts that begin alike go on alike, and
there is one longest text for each first token. A text goes on with the successor of a
token that keeps every order free of confused tokens and the counts of Assumption 3; it
ends where there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from theorems.huang2024.data.dataset import Dataset, from_texts
from theorems.huang2024.data.draws import Draws, pick

if TYPE_CHECKING:
    from theorems.huang2024.data.generate import Shape


class _Orders:
    """For each query the tokens that are above and below some token so far."""

    def __init__(self, n: Sequence[int]) -> None:
        self.n = n
        self.above: list[set[int]] = [set() for _ in n]
        self.below: list[set[int]] = [set() for _ in n]

    def choices(self, text: Sequence[int]) -> list[int]:
        """The labels that a sample may have."""
        labels = sorted({self.n[x] for x in text})
        return [label for label in labels if self._allows(text, label)]

    def _allows(self, text: Sequence[int], label: int) -> bool:
        counts = Counter(text)
        carriers = {x for x in counts if self.n[x] == label}
        others = counts.keys() - carriers
        optimal = sum(counts[x] for x in carriers)
        query = text[-1]
        crowded = any(counts[x] > optimal for x in others)
        confused = carriers & self.below[query] or others & self.above[query]
        return not (others and (crowded or confused))

    def add(self, text: Sequence[int], label: int) -> None:
        """Take a sample into the order of its query."""
        carriers = {x for x in text if self.n[x] == label}
        others = set(text) - carriers
        if others:
            self.above[text[-1]] |= carriers
            self.below[text[-1]] |= others


def grown_texts(draws: Draws, n: Sequence[int], wanted: Shape) -> Dataset:
    """Texts from every first token, at least one prefix with a constraint.

    Args:
        draws: Source of choices.
        n: The collocation; n(n(x)) != n(x) for some x.
        wanted: Kind of dataset.

    Returns:
        The dataset of all proper prefixes. Some texts also occur cut short, and each
        text occurs as often as its weight says.
    """
    orders, size = _Orders(n), len(n)
    texts = []
    for start in draws.shuffled(range(size)):
        text = [start, n[start]]
        for _ in draws.times(0, wanted.max_length - 1):
            _grow(draws, orders, text)
        texts.append(text)
    if not any(orders.above):
        short = next(text for text in texts if n[text[1]] != text[1])
        _grow(draws, orders, short)
    return _counted(draws, n, texts, wanted)


def _grow(draws: Draws, orders: _Orders, text: list[int]) -> None:
    choices = orders.choices(text)
    if choices:
        label = pick(draws, choices)
        orders.add(text, label)
        text.append(label)


def _counted(
    draws: Draws, n: Sequence[int], texts: list[list[int]], wanted: Shape
) -> Dataset:
    times = [draws.weight(wanted.skew) for _ in texts]
    for text in tuple(texts):
        if draws.integer(0, 1):
            cut = draws.integer(2, len(text))
            texts.append(text[:cut])
            times.append(draws.weight(wanted.skew))
    return from_texts(len(n), n, texts, times=times)
