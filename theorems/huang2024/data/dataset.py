"""A training dataset, its query-dependent partial orders and its types of tokens.

Tokens are 0..size-1. A sample is a sentence X = [x_1 .. x_L] with the token x_{L+1}
that follows it; its query is x_L. The next-token map n and the samples are given
separately: whether they fit together is Assumption 1 (assumptions.py), not part of the
record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Sentence = tuple[int, ...]
Pair = tuple[int, int]

SENTENCES, PREFIXES = "sentences", "prefixes"


class DatasetError(ValueError):
    """These numbers describe no dataset; the message names the place."""


@dataclass(frozen=True)
class Types:
    """The four disjoint types of tokens under one order (Section 4).

    Attributes:
        optimal: Above some token, below none.
        non_optimal: Below some token, above none.
        confused: Above some token and below some token.
        non_comparable: Neither above nor below any token.
    """

    optimal: frozenset[int]
    non_optimal: frozenset[int]
    confused: frozenset[int]
    non_comparable: frozenset[int]

    def __iter__(self):
        """The four sets, in the order of the attributes."""
        return iter((
            self.optimal,
            self.non_optimal,
            self.confused,
            self.non_comparable,
        ))


def types_of(order: Iterable[Pair], size: int) -> Types:
    """Sort the tokens by a relation of pairs (greater, smaller)."""
    pairs = list(order)
    above = frozenset(greater for greater, _ in pairs)
    below = frozenset(smaller for _, smaller in pairs)
    return Types(
        optimal=above - below,
        non_optimal=below - above,
        confused=above & below,
        non_comparable=frozenset(range(size)) - above - below,
    )


@dataclass(frozen=True)
class Dataset:
    """Distinct samples with their frequencies, and the collocation.

    Attributes:
        size: Number |V| of tokens.
        successor: The collocation n, as a tuple indexed by token.
        sentences: The distinct samples X^(n).
        labels: The token that follows each sample.
        frequencies: pi^(n) > 0, with sum 1.
        kind: ``prefixes`` when the samples are all proper prefixes of texts, each with
            its next token, as in Example 1; ``sentences`` when nothing is asked.
    """

    size: int
    successor: tuple[int, ...]
    sentences: tuple[Sentence, ...]
    labels: tuple[int, ...]
    frequencies: tuple[Fraction, ...]
    kind: str = SENTENCES

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_tokens()
        if sum(self.frequencies) != 1 or min(self.frequencies) <= 0:
            raise DatasetError(f"frequencies {self.frequencies} are no distribution")
        if self.kind == PREFIXES and not self.is_prefix_closed:
            raise DatasetError("a prefix of a sample is no sample of its own")

    def _check_shape(self) -> None:
        if self.kind not in {SENTENCES, PREFIXES}:
            raise DatasetError(f"kind is {self.kind!r}, not sentences or prefixes")
        if len(self.successor) != self.size:
            raise DatasetError(f"n maps {len(self.successor)} of {self.size} tokens")
        if not len(self.sentences) == len(self.labels) == len(self.frequencies) > 0:
            raise DatasetError("give each of one or more samples a label and frequency")
        if len(set(self.sentences)) != len(self.sentences):
            raise DatasetError("a sample occurs twice; its next token is a function")
        if not all(self.sentences):
            raise DatasetError("a sample has no token, hence no query")

    def _check_tokens(self) -> None:
        for tokens in (self.successor, self.labels, *self.sentences):
            if min(tokens) < 0 or max(tokens) >= self.size:
                raise DatasetError(f"{tokens} are not all tokens 0..{self.size - 1}")

    @property
    def N(self) -> int:
        """Number of distinct samples."""
        return len(self.sentences)

    @property
    def max_length(self) -> int:
        """L_max, the length of the longest sample."""
        return max(map(len, self.sentences))

    @cached_property
    def queries(self) -> tuple[int, ...]:
        """The last tokens of the samples, in order."""
        return tuple(sorted({sentence[-1] for sentence in self.sentences}))

    @property
    def injective(self) -> bool:
        """Whether no two tokens have the same next token."""
        return len(set(self.successor)) == self.size

    @cached_property
    def is_prefix_closed(self) -> bool:
        """Whether each sample is a sample cut short, with the token cut as its label.

        One-token samples are cut from nothing.
        """
        label = dict(zip(self.sentences, self.labels, strict=True))
        return all(
            len(sentence) == 1 or label.get(sentence[:-1]) == sentence[-1]
            for sentence in self.sentences
        )

    def carriers(self, i: int) -> tuple[int, ...]:
        """l^(i): positions of sample i whose token is followed by its label."""
        n, label = self.successor, self.labels[i]
        return tuple(p for p, x in enumerate(self.sentences[i]) if n[x] == label)

    def samples_of(self, query: int) -> tuple[int, ...]:
        """Indices of the samples whose last token is ``query``."""
        return tuple(i for i, x in enumerate(self.sentences) if x[-1] == query)

    @cached_property
    def _edges(self) -> Mapping[int, frozenset[Pair]]:
        """For each query the pairs (carrier, other token) of its samples."""
        n = self.successor
        found: dict[int, set[Pair]] = {}
        for sentence, label in zip(self.sentences, self.labels, strict=True):
            tokens = set(sentence)
            upper = [x for x in tokens if n[x] == label]
            lower = [x for x in tokens if n[x] != label]
            pairs = found.setdefault(sentence[-1], set())
            pairs.update((o, m) for o in upper for m in lower)
        return {query: frozenset(pairs) for query, pairs in found.items()}

    def edges(self, query: int) -> frozenset[Pair]:
        """Constraints (o, m) of problem (3) in one column: w_o - w_m >= 1."""
        return self._edges.get(query, frozenset())

    def order(self, query: int) -> frozenset[Pair]:
        """Definition 1: the pairs (x, x') with x >_q x'.

        These are the pairs of :meth:`edges`: both say that x and x' are tokens of one
        sample of the query whose label follows x and not x'.
        """
        return self.edges(query)

    def types(self, query: int) -> Types:
        """The types of all tokens under the order of a query."""
        return types_of(self.order(query), self.size)

    def weights(self) -> NDArray[np.float64]:
        """The frequencies as floats."""
        return np.array([float(pi) for pi in self.frequencies])

    def with_frequencies(self, frequencies: Sequence[Fraction]) -> Dataset:
        """The same samples, more or less often."""
        return Dataset(
            self.size,
            self.successor,
            self.sentences,
            self.labels,
            tuple(frequencies),
            self.kind,
        )


def normalised(weights: Iterable[int]) -> tuple[Fraction, ...]:
    """Frequencies in proportion to positive integers."""
    counts = list(weights)
    total = sum(counts)
    return tuple(Fraction(count, total) for count in counts)


def from_texts(
    size: int,
    successor: Sequence[int],
    texts: Iterable[Sequence[int]],
    *,
    times: Sequence[int] = (),
) -> Dataset:
    """All proper prefixes of texts as samples, as in Example 1.

    Args:
        size: Number of tokens.
        successor: The collocation.
        texts: Each of at least two tokens; a prefix counts once for every text in
            which it stands.
        times: How often each text occurs; once by default.

    Returns:
        The dataset.

    Raises:
        DatasetError: One prefix has two next tokens: no function generates these texts.
    """
    texts = [tuple(text) for text in texts]
    label: dict[Sentence, int] = {}
    counts: Counter[Sentence] = Counter()
    for text, copies in zip(texts, times or [1] * len(texts), strict=True):
        for cut in range(1, len(text)):
            prefix, following = text[:cut], text[cut]
            if label.setdefault(prefix, following) != following:
                raise DatasetError(f"{prefix} is followed by two different tokens")
            counts[prefix] += copies
    return Dataset(
        size,
        tuple(successor),
        tuple(label),
        tuple(label.values()),
        normalised(counts[prefix] for prefix in label),
        PREFIXES,
    )


S, V, O, P = range(4)  # ruff: ignore[ambiguous-variable-name]

EXAMPLE_1 = from_texts(4, (V, O, P, S), [(S, V, O, P), (V, O, P), (O, P, P), (P, S, V)])
