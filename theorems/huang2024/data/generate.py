"""Random datasets that satisfy Assumptions 1 and 3, and some that violate one part.

One description serves numpy generators and Hypothesis alike: it asks a source of draws
for integers, of which 0 is always the simplest choice. Types of tokens are drawn first
and samples kept to them, so that nothing is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theorems.huang2024.data.broken import break_one
from theorems.huang2024.data.dataset import (
    PREFIXES,
    SENTENCES,
    Dataset,
    DatasetError,
    Sentence,
    normalised,
)
from theorems.huang2024.data.draws import Draws, RandomDraws, pick
from theorems.huang2024.data.growing import grown_texts

Samples = dict[Sentence, int]


@dataclass(frozen=True)
class Shape:
    """What kind of dataset is drawn.

    Attributes:
        kind: ``sentences`` or ``prefixes``.
        injective: The collocation: a permutation (True), never one (False; at least
            three tokens), or any map (None).
        size: Least and largest number of tokens.
        queries: Least and largest number of queries with constraints; all tokens at
            most. For sentences only.
        per_query: Largest number of samples for each of them. For sentences only.
        max_length: Length of the longest sample.
        repeats: Largest number of repeated tokens, of carriers and of others, in one
            sample. For sentences only: texts repeat as they like.
        skew: Frequencies in proportion to e^(skew g), g standard normal; 0 is uniform.
        singles: Whether each token is also a sample of its own, which shows n.
    """

    kind: str = SENTENCES
    injective: bool | None = True
    size: tuple[int, int] = (2, 6)
    queries: tuple[int, int] = (1, 20)
    per_query: int = 4
    max_length: int = 8
    repeats: int = 2
    skew: float = 0.0
    singles: bool = False

    def __post_init__(self) -> None:
        least = 3 if self.injective is False else 2
        if not least <= self.size[0] <= self.size[1]:
            raise DatasetError(f"sizes {self.size} do not begin at {least} or above")
        if self.max_length < 2:
            raise DatasetError("samples of one token have no constraint")
        if self.kind not in {SENTENCES, PREFIXES}:
            raise DatasetError(f"kind is {self.kind!r}, not sentences or prefixes")


def shape(
    *,
    size: int | tuple[int, int] = (2, 6),
    queries: int | tuple[int, int] = (1, 20),
    injective: bool | None = True,
    **options: Any,
) -> Shape:
    """A shape from plain numbers: an integer is an exact size or number of queries."""
    sizes = (size, size) if isinstance(size, int) else size
    if injective is False and not isinstance(size, int):
        sizes = (max(3, sizes[0]), max(3, sizes[1]))
    counts = (queries, queries) if isinstance(queries, int) else queries
    return Shape(size=sizes, queries=counts, injective=injective, **options)


def random_dataset(rng: np.random.Generator, **options: Any) -> Dataset:
    """One random dataset that satisfies Assumptions 1 and 3 and has a constraint.

    Args:
        rng: Source of randomness.
        **options: As for :func:`shape`.

    Returns:
        The dataset.
    """
    return build(RandomDraws(rng), shape(**options))


def random_datasets(seed: int, count: int, **options: Any) -> list[Dataset]:
    """Random datasets, see :func:`random_dataset`; one seed fixes them all."""
    wanted, draws = shape(**options), RandomDraws(np.random.default_rng(seed))
    return [build(draws, wanted) for _ in range(count)]


def violating(rng: np.random.Generator, assumption: str, **options: Any) -> Dataset:
    """A random dataset of sentences that violates one part of an assumption only.

    Args:
        rng: Source of randomness.
        assumption: One of ``assumptions.OF_DATA``.
        **options: As for :func:`shape`; at least three tokens.

    Returns:
        The dataset.
    """
    options["size"] = options.get("size", (3, 6))
    return build_broken(RandomDraws(rng), shape(**options), assumption)


def build(draws: Draws, wanted: Shape) -> Dataset:
    """A dataset from a source of draws."""
    size = draws.integer(*wanted.size)
    n = next_tokens(draws, size, wanted.injective)
    if wanted.kind == PREFIXES:
        return grown_texts(draws, n, wanted)
    return _dataset(draws, n, _samples(draws, n, wanted), wanted)


def build_broken(draws: Draws, wanted: Shape, assumption: str) -> Dataset:
    """A dataset of sentences that violates one part of an assumption."""
    size = draws.integer(*wanted.size)
    n = next_tokens(draws, size, wanted.injective)
    samples = _samples(draws, n, wanted)
    break_one(draws, n, samples, assumption)
    return _dataset(draws, n, samples, wanted)


def _dataset(
    draws: Draws, n: Sequence[int], samples: Samples, wanted: Shape
) -> Dataset:
    return Dataset(
        len(n),
        tuple(n),
        tuple(samples),
        tuple(samples.values()),
        normalised(draws.weight(wanted.skew) for _ in samples),
    )


def next_tokens(draws: Draws, size: int, injective: bool | None) -> list[int]:
    """A next-token map under which some sample has a constraint.

    The simplest one is the cycle 0, 1, .., 0. Needed is a token x with n(n(x)) != n(x):
    then [x, n(x)] holds tokens with different successors.
    """
    cycle = [*range(1, size), 0]
    if injective:
        n = draws.shuffled(cycle)
    else:
        n = [cycle[(x + draws.integer(0, size - 1)) % size] for x in range(size)]
    if injective is False and len(set(n)) == size:
        n[-1] = n[0]
    if all(n[n[x]] == n[x] for x in range(size)):
        n = cycle if injective is not False else [*range(1, size), 1]
    return n


def _samples(draws: Draws, n: Sequence[int], wanted: Shape) -> Samples:
    size = len(n)
    order = draws.shuffled(range(size))
    # Under a query every token may have the successor of the query: no constraint.
    queries = [q for q in order if any(n[x] != n[q] for x in range(size))]
    low, high = (min(bound, len(queries)) for bound in wanted.queries)
    samples: Samples = {}
    for _, query in zip(draws.times(low, high), queries, strict=False):
        samples |= _of_query(draws, n, query, wanted)
    for x in order:
        if wanted.singles or draws.integer(0, 3) == 3:
            samples.setdefault((x,), n[x])
    return samples


def _of_query(draws: Draws, n: Sequence[int], query: int, wanted: Shape) -> Samples:
    """Types for the tokens of one query, and samples that keep to them."""
    tokens = range(len(n))
    others = [x for x in tokens if n[x] != n[query]]
    first = pick(draws, others)
    rest = [x for x in others if x != first]
    samples: Samples = {}
    if draws.integer(0, 3) < 3:  # the query is below, as it is in most texts
        optimal = [first, *draws.some(rest)]
        below = draws.some([x for x in tokens if x not in (*optimal, query)])
        for _ in draws.times(1, wanted.per_query):
            lead = pick(draws, optimal)
            samples |= _sample(draws, n, (query, lead, query), (optimal, below), wanted)
    else:  # the query is optimal, and the label of all its samples follows it
        optimal = draws.some([x for x in tokens if n[x] == n[query] and x != query])
        below = [first, *draws.some(rest)]
        for _ in draws.times(1, wanted.per_query):
            fallen = pick(draws, below)
            samples |= _sample(
                draws, n, (query, query, fallen), (optimal, below), wanted
            )
    if draws.integer(0, 7) == 7:  # nothing but successors of one label: no constraint
        alike = draws.some([x for x in tokens if n[x] == n[query]])
        samples[*alike[: wanted.max_length - 1], query] = n[query]
    return samples


def _sample(
    draws: Draws,
    n: Sequence[int],
    roles: tuple[int, int, int],
    types: tuple[list[int], list[int]],
    wanted: Shape,
) -> Samples:
    """One sample with its query, a carrier and a token below given.

    Repeated tokens below are never more than the carriers: Assumption 3.
    """
    query, lead, fallen = roles
    label, (optimal, below) = n[lead], types
    carriers, lower = [lead], [fallen]
    for pool, chosen in (
        ([x for x in optimal if n[x] == label and x != lead], carriers),
        ([x for x in below if n[x] != label and x not in (lead, fallen)], lower),
    ):
        room = wanted.max_length - len(carriers) - len(lower)
        chosen += draws.some(pool)[:room]
    for pool in (carriers, lower):
        distinct = tuple(pool)
        for _ in draws.times(0, wanted.repeats):
            token = pick(draws, distinct)
            full = len(carriers) + len(lower) >= wanted.max_length
            crowded = pool is lower and lower.count(token) >= len(carriers)
            if not full and not crowded:
                pool.append(token)
    body = carriers + lower
    body.remove(query)
    return {(*draws.shuffled(body), query): label}
