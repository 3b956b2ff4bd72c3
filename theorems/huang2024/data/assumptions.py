"""Assumptions 1 to 3 as validators that name the sample and the tokens at fault.

Assumption 1 has four parts here. Two of them say that n and the samples belong
together: a sample of one token x is followed by n(x), a longer one by the successor of
one of its tokens. The other two ask for orders: each relation of Definition 1 has no
cycle, hence lies in a strict partial order, and has no confused tokens. Types are those
of an order: a relation with a cycle is reported for its cycle alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theorems.huang2024.data.dataset import Dataset, Pair, Sentence
from verify.numerics import gamma

COLLOCATION = "assumption-1/collocation"
CARRIER = "assumption-1/carrier"
ORDER = "assumption-1/order"
CONFUSED = "assumption-1/confused"
ORTHONORMAL = "assumption-2"
COUNTS = "assumption-3"

REALIZABLE = (COLLOCATION, CARRIER, ORDER, CONFUSED)
OF_DATA = (*REALIZABLE, COUNTS)


@dataclass(frozen=True)
class Violation:
    """One fault of a dataset.

    Attributes:
        assumption: Which assumption, or part of one, is violated.
        says: In words.
        sentence: A sample at fault; its last token is the query.
        tokens: The tokens at fault: of a cycle or a chain x > x' > x'' in this order,
            the carrier and the token that outnumbers it, or the one token.
    """

    assumption: str
    says: str
    sentence: Sentence
    tokens: tuple[int, ...]


def violations(dataset: Dataset) -> list[Violation]:
    """All faults under Assumptions 1 and 3, in the order of the samples and queries."""
    found = [*_labels(dataset)]
    for query in dataset.queries:
        found += _order(dataset, query)
    return [*found, *_counts(dataset)]


def is_realizable(dataset: Dataset) -> bool:
    """Whether Assumption 1 holds, all parts of it."""
    return not any(
        fault.assumption in REALIZABLE
        for fault in (
            *_labels(dataset),
            *(fault for query in dataset.queries for fault in _order(dataset, query)),
        )
    )


def has_counts(dataset: Dataset) -> bool:
    """Whether Assumption 3 holds."""
    return not any(_counts(dataset))


def _labels(dataset: Dataset) -> Iterator[Violation]:
    n = dataset.successor
    for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
        if any(n[x] == label for x in sentence):
            continue
        if len(sentence) == 1:
            says = f"{sentence} is followed by {label}, not by n({sentence[0]})"
            yield Violation(COLLOCATION, says, sentence, sentence)
        else:
            says = f"{sentence} is followed by {label}, the successor of none of them"
            yield Violation(CARRIER, says, sentence, tuple(sorted(set(sentence))))


def _order(dataset: Dataset, query: int) -> Iterator[Violation]:
    order = dataset.order(query)
    types = dataset.types(query)
    if not types.confused:  # then there is no chain, hence no cycle
        return
    cycle = find_cycle(order)
    if cycle:
        says = f"tokens {cycle} are each greater than the next, in a circle"
        sentence = _sample_with(dataset, query, (cycle[0], cycle[-1]))
        yield Violation(ORDER, says, sentence, cycle)
        return
    for token in sorted(types.confused):
        over = min(x for x, y in order if y == token)
        under = min(y for x, y in order if x == token)
        says = f"{over} > {token} > {under} under query {query}"
        sentence = _sample_with(dataset, query, (token, under))
        yield Violation(CONFUSED, says, sentence, (over, token, under))


def _sample_with(dataset: Dataset, query: int, tokens: Iterable[int]) -> Sentence:
    wanted = set(tokens)
    samples = (dataset.sentences[i] for i in dataset.samples_of(query))
    return next(sentence for sentence in samples if wanted <= set(sentence))


def find_cycle(order: Iterable[Pair]) -> tuple[int, ...]:
    """A cycle x > x' > ... > x of a relation, or an empty tuple.

    Args:
        order: Pairs (greater, smaller).

    Returns:
        Its tokens, each greater than the next and the last greater than the first.
    """
    below: dict[int, list[int]] = {}
    for greater, smaller in sorted(order):
        below.setdefault(greater, []).append(smaller)
    done: set[int] = set()
    for start in below:
        path, branches = [start], [iter(below[start])]
        while path:
            step = next(branches[-1], None)
            if step is None:
                done.add(path.pop())
                branches.pop()
            elif step in path:
                return tuple(path[path.index(step) :])
            elif step not in done and step in below:
                path.append(step)
                branches.append(iter(below[step]))
    return ()


def _counts(dataset: Dataset) -> Iterator[Violation]:
    """Tokens that stand more often in a sample than all its carriers together.

    A sample without a carrier has no optimal token to count; it violates Assumption 1.
    """
    n = dataset.successor
    for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
        counts = Counter(sentence)
        carriers = [x for x in counts if n[x] == label]
        optimal = sum(counts[x] for x in carriers)
        for token, count in sorted(counts.items()):
            if carriers and token not in carriers and count > optimal:
                says = f"{token} stands {count} times in {sentence}, carriers {optimal}"
                yield Violation(COUNTS, says, sentence, (carriers[0], token))


def embedding_violations(embedding: Any) -> list[Violation]:
    """Pairs of columns of an embedding whose inner product Assumption 2 forbids.

    Args:
        embedding: ``d x |V|``, a column for each token: exact (int or Fraction in an
            array of objects) or floating point.

    Returns:
        A violation for each token of another norm than one and each pair of tokens that
        is not orthogonal. Floating-point columns are allowed the rounding of their
        inner product and of the entries themselves: d + 2 operations on each.
    """
    columns = np.asarray(embedding)
    rows, size = columns.shape
    exact = columns.dtype == object
    allowed = Fraction(0) if exact else gamma(rows + 2, columns.dtype.name)
    found = []
    for i in range(size):
        for j in range(i, size):
            product = sum(columns[k, i] * columns[k, j] for k in range(rows))
            if abs(product - (i == j)) > allowed:
                says = f"the inner product of tokens {i} and {j} is {product}"
                found.append(Violation(ORTHONORMAL, says, (), (i, j)))
    return found
