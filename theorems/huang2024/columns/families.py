"""Which columns a claim is about, and the evidence that lists them.

A sample's query is one of its tokens, so that it is above or below all others: the
constraints of a query form a bipartite graph with a token that is adjacent to the whole
other side. With n injective this is the query below all optimal tokens, or the only
optimal token; conversely every such graph is a column of some data (column.realised).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

from hypothesis import strategies as st

from theorems.huang2024.columns.column import Column, column, columns_of
from theorems.huang2024.columns.texts import data_columns
from theorems.huang2024.data.dataset import Dataset, Pair, from_texts, normalised
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.data.strategies import datasets
from verify import evidence
from verify.profiles import Profile

FEW, SEVERAL = 7, 8
"""Comparable tokens of all graphs, and of those with a token adjacent to all."""

WIDEST = 20
"""|V| of the paper's experiment."""

FIVE = Dataset(  # o_1, o_2, m_1, m_2, q are 0, 1, 2, 3, 4; n is the cycle
    size=5,
    successor=(1, 2, 3, 4, 0),
    sentences=((0, 2, 3, 4), (1, 4)),
    labels=(1, 2),
    frequencies=normalised((1, 1)),
)

FIVE_IN_TEXTS = from_texts(  # the same constraints; n(1) = n(3)
    5, (2, 4, 3, 4, 0), [(0, 2, 3, 4, 2), (1, 4, 4), (4, 0)]
)

FOUR = Dataset(  # one block, with a constraint that holds with equality and needs no y
    size=4,
    successor=(1, 2, 3, 0),
    sentences=((0, 2, 3), (1, 3)),
    labels=(1, 2),
    frequencies=normalised((1, 1)),
)

SIX = Dataset(  # three optimal tokens 0, 1, 2, of which 0 and 1 are above 5 alone
    size=6,
    successor=(1, 2, 3, 4, 5, 0),
    sentences=((0, 5), (1, 5), (2, 3, 4, 5)),
    labels=(1, 2, 3),
    frequencies=normalised((1, 1, 1)),
)


@dataclass(frozen=True)
class Domain:
    """A family of columns.

    Attributes:
        name: Key of its columns in the evidence.
        says: In words.
        data: Makes a Hypothesis strategy of datasets.
        only: Which columns of these datasets belong to the family.
        admits: Which datasets belong to it.
    """

    name: str
    says: str
    data: Callable[[], st.SearchStrategy[Dataset]]
    only: Callable[[Column], bool] = lambda _: True
    admits: Callable[[Dataset], bool] = lambda _: True

    def __str__(self) -> str:
        return self.says

    def columns(self, dataset: Dataset) -> list[Column]:
        """The columns of a dataset that belong to the family."""
        return [one for one in columns_of(dataset) if self.only(one)]


def sentences() -> st.SearchStrategy[Dataset]:
    """Sentences, n injective, frequencies and repetitions from even to extreme."""
    return datasets(max_size=6, per_query=5, skew=4.0)


def prefixes() -> st.SearchStrategy[Dataset]:
    """Texts with all their prefixes, n injective."""
    return datasets(kind="prefixes", max_size=6, max_length=10)


def any_texts() -> st.SearchStrategy[Dataset]:
    """Texts with all their prefixes, n not injective."""
    return datasets(kind="prefixes", injective=False, max_size=6, max_length=10)


def any_data() -> st.SearchStrategy[Dataset]:
    """Sentences and texts, n any map."""
    loose = datasets(injective=False, max_size=6, per_query=5)
    return st.one_of(sentences(), loose, prefixes(), any_texts())


SENTENCES = Domain(
    "sentences",
    "any sentences, n injective",
    sentences,
    admits=lambda data: data.injective,
)
PREFIXES = Domain(
    "prefixes",
    "prefix-closed data, n injective",
    prefixes,
    admits=lambda data: data.injective and data.is_prefix_closed,
)
ANY_MAP = Domain(
    "any-map",
    "prefix-closed data, n any map",
    any_texts,
    admits=lambda data: data.is_prefix_closed,
)
EVERY = Domain("every", "all data without confused tokens", any_data)
COMPLETE = Domain(
    "complete",
    "complete orders: each optimal token above each non-optimal one",
    any_data,
    lambda column: column.complete,
)


def graphs(tokens: int, *, common: bool) -> Iterator[Column]:
    """All columns of so many comparable tokens, up to names of the optimal ones.

    Args:
        tokens: Comparable tokens; one more token is not.
        common: Whether the last of them is below all optimal ones, as the query is.

    Yields:
        Columns; with ``common``, each with data.
    """
    query = tokens - 1 if common else None
    for k in range(1, tokens):
        rest = tokens - k - common
        sets = range((1 << rest) - 1, -1 if common else 0, -1)
        for rows in combinations_with_replacement(sets, k):
            if _union(rows) == (1 << rest) - 1:
                edges = [(o, k + j) for o, row in enumerate(rows) for j in _bits(row)]
                edges += [(o, query) for o in range(k) if query is not None]
                yield column(tokens + 1, edges, query)


def _union(rows: tuple[int, ...]) -> int:
    union = 0
    for row in rows:
        union |= row
    return union


def _bits(row: int) -> Iterator[int]:
    return (j for j in range(row.bit_length()) if row >> j & 1)


def complete_graphs(tokens: int) -> Iterator[Column]:
    """Complete bipartite columns of so many comparable tokens."""
    for k in range(1, tokens):
        pairs: list[Pair] = [(o, j) for o in range(k) for j in range(k, tokens)]
        yield column(tokens + 1, pairs, tokens - 1)


Columns = dict[str, tuple[Column, ...]]


@evidence
def small_columns(profile: Profile) -> Columns:
    """Small columns of every domain, exhaustively, those of few tokens first."""
    largest = profile.pick(smoke=4, default=5, full=5)
    texts = {
        injective: [
            one
            for size in range(2, largest + 1)
            for one in data_columns(size, injective=injective)[0]
        ]
        for injective in (True, False)
    }
    first = [one for one in columns_of(FIVE_IN_TEXTS) if sum(one.sizes) == 5]
    listed = {
        "sentences": [
            *(g for n in range(2, 5) for g in graphs(n, common=True)),
            *columns_of(FIVE),  # first among those of five tokens, and |V| = 5
            *(g for n in range(5, SEVERAL + 1) for g in graphs(n, common=True)),
        ],
        "every": [g for n in range(2, FEW + 1) for g in graphs(n, common=False)],
        "complete": [g for n in range(2, SEVERAL + 1) for g in complete_graphs(n)],
        "prefixes": texts[True],
        "any-map": sorted([*first, *texts[False]], key=lambda one: sum(one.sizes)),
    }
    return {name: tuple(columns) for name, columns in listed.items()}


@evidence
def random_columns(profile: Profile, seed: int) -> Columns:
    """Columns of random data with up to 20 tokens, those of few tokens first."""
    count = profile.pick(smoke=25, default=100, full=2_000)
    drawn: dict[str, list[Column]] = {}
    for name, options in {
        "sentences": {"injective": True, "per_query": 8},
        "prefixes": {"kind": "prefixes", "injective": True},
        "any-map": {"kind": "prefixes", "injective": False},
        "loose": {"injective": False, "per_query": 8},
    }.items():
        sets = random_datasets(seed, count, size=(4, WIDEST), max_length=12, **options)
        every = {one: None for data in sets for one in columns_of(data)}
        drawn[name] = sorted(every, key=lambda one: (sum(one.sizes), one.edges))
    together = [one for columns in drawn.values() for one in columns]
    drawn["every"] = sorted(together, key=lambda one: sum(one.sizes))
    drawn["complete"] = [one for one in drawn["every"] if one.complete]
    return {name: tuple(columns) for name, columns in drawn.items()}
