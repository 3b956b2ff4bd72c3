"""Datasets made to violate one part of an assumption, and nothing else.

The samples of one query are replaced by few that violate exactly that part; those of
other queries stay. Samples of one token have no order and stay too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from theorems.huang2024.data.assumptions import (
    CARRIER,
    COLLOCATION,
    CONFUSED,
    COUNTS,
    OF_DATA,
    ORDER,
)
from theorems.huang2024.data.dataset import DatasetError, Sentence
from theorems.huang2024.data.draws import Draws, pick

if TYPE_CHECKING:
    from theorems.huang2024.data.generate import Samples


def break_one(draws: Draws, n: Sequence[int], samples: Samples, part: str) -> None:
    """Change samples in place so that one part of an assumption fails.

    Args:
        draws: Source of choices.
        n: The collocation, not constant, of at least three tokens.
        samples: Labels by sentence; Assumptions 1 and 3 hold.
        part: Which part is to fail.

    Raises:
        DatasetError: There is no such part.
    """
    if part not in OF_DATA:
        raise DatasetError(f"no assumption {part!r}; there are {', '.join(OF_DATA)}")
    if part in {COLLOCATION, CARRIER}:
        samples |= _wrong_label(draws, n, 1 if part == COLLOCATION else 2)
        return
    a, query, b = _roles(draws, n)
    for sentence in [s for s in samples if s[-1] == query and len(s) > 1]:
        del samples[sentence]
    samples |= _FAULTS[part](draws, n, a, query, b)


def _wrong_label(draws: Draws, n: Sequence[int], length: int) -> Samples:
    """A sample whose label is the successor of none of its tokens."""
    size = len(n)
    sentence = tuple(draws.integer(0, size - 1) for _ in range(length))
    free = [y for y in range(size) if y not in {n[x] for x in sentence}]
    return {sentence: pick(draws, free)}


def _roles(draws: Draws, n: Sequence[int]) -> tuple[int, int, int]:
    """Tokens a and b and a query whose successor differs from theirs."""
    roles = [
        (a, query, b)
        for a, query, b in permutations(range(len(n)), 3)
        if n[a] != n[query] != n[b]
    ]
    return roles[draws.integer(0, len(roles) - 1)]


def _cycle(draws: Draws, n: Sequence[int], a: int, query: int, b: int) -> Samples:
    if n[a] != n[b] and draws.integer(0, 1):
        return {(a, b, query): n[a], (b, a, query): n[b]}
    return {(a, query): n[a], (query, a, query): n[query]}


def _chain(draws: Draws, n: Sequence[int], a: int, query: int, b: int) -> Samples:
    ends = [x for x in range(len(n)) if x not in {a, query, b} and n[x] != n[b]]
    if ends and n[a] != n[b] and draws.integer(0, 1):
        return {(a, b, query): n[a], (b, ends[0], query): n[b]}
    return {(a, query): n[a], (b, query): n[query]}


def _crowd(draws: Draws, n: Sequence[int], a: int, query: int, b: int) -> Samples:
    copies = 2 + draws.integer(0, 2)
    if n[a] != n[b] and draws.integer(0, 1):
        crowd: Sentence = (b,) * copies + (a, query)
    else:
        crowd = (a, *(query,) * copies)
    return {crowd: n[a]}


_FAULTS = {ORDER: _cycle, CONFUSED: _chain, COUNTS: _crowd}
