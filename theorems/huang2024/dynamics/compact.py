"""What Algorithm 1 needs of a dataset, as flat arrays: F1 and F2.

After stage 1 the logits of sentence n are Delta * Phi_i + const, Phi_i being the
attention on tokens whose next token is i, so that stage 2 closes on the scores
W[x, q] = x^T W_kq q of the (token, query) pairs that occur together.

    F1  a sentence whose tokens all have the same next token has gradient exactly 0; the
        scores of a pair that occurs in no other sentence stay what they are;
    F2  where each sentence has one optimal token o and attends to the others with total
        weight below the unit roundoff over Delta, every factor of the output softmax is
        a constant, the same for all sentences, and

            -grad L  ~  sum_e exp(c_e - (w_o - w_m)) (x_o - x_m) q^T,
            c_e = log sum_n pi_n C_nm / C_no    (C_nx: how often x occurs in sentence n)

        over the edges e = (o, m) of problem (3): sentences that share an edge merge.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from theorems.huang2024.data.dataset import Dataset, Pair
from theorems.huang2024.dynamics.layout import (
    EDGE,
    ENTRY,
    SENTENCE,
    Floats,
    Records,
)

Solution = Mapping[int, Any]
"""The exact solution of problem (3): for each query an ``OrderMargin``."""


@dataclass(frozen=True, eq=False)
class Compact:
    """A dataset as the engines see it.

    Attributes:
        dataset: Where it comes from.
        pairs: The (token, query) pairs.
        sentences: The sentences kept.
        entries: Their distinct tokens, sentence by sentence.
        edges: The merged edges, with the drift they have in the moving frame: their
            slack over ||W*||, exactly 0 on a tight edge of problem (3).
        mergeable: Whether F2 applies: one optimal token type in each sentence.
        direction: W* / ||W*|| on the pairs; zeros where there is no such direction.
        norm: ||W*||; 0 where the data set no constraint, NaN where problem (3) was
            given no solution.
    """

    dataset: Dataset
    pairs: tuple[Pair, ...]
    sentences: Records
    entries: Records
    edges: Records
    mergeable: bool
    direction: Floats
    norm: float


def solve(dataset: Dataset) -> dict[int, Any]:
    """Solve problem (3) exactly, query by query."""
    from verify.max_margin import order_margin

    edges = {query: dataset.edges(query) for query in dataset.queries}
    return {query: order_margin(pairs) for query, pairs in edges.items() if pairs}


def compact(
    dataset: Dataset, solution: Solution | None, extra: Mapping[Pair, float] = {}
) -> Compact:
    """Flatten a dataset.

    Args:
        dataset: Any dataset; the assumptions of the paper are not needed.
        solution: The exact solution of problem (3); ``None`` where it has none.
        extra: Pairs to keep besides those of F1 (of a start other than zero).

    Returns:
        The arrays.
    """
    kept = [i for i in range(dataset.N) if _attends(dataset, i)]
    pairs = {(x, s[-1]) for i in kept if (s := dataset.sentences[i]) for x in s}
    index = {pair: k for k, pair in enumerate(sorted(pairs | set(extra)))}
    parts = [_Part(dataset, i, index) for i in kept]
    scores, norm = _scores(solution, index)
    return Compact(
        dataset,
        tuple(index),
        _sentences(parts),
        np.array([row for part in parts for row in part.entries()], dtype=ENTRY),
        _edges(parts, scores, norm),
        bool(parts) and all(len(part.upper) == 1 for part in parts),
        np.array([float(w) for w in scores]) / (norm if norm > 0 else 1.0),
        norm,
    )


def _attends(dataset: Dataset, i: int) -> bool:
    """Whether a sentence has a token that is no carrier."""
    return len(dataset.carriers(i)) < len(dataset.sentences[i])


def _scores(
    solution: Solution | None, index: Mapping[Pair, int]
) -> tuple[list[Fraction], float]:
    if solution is None:
        return [Fraction(0)] * len(index), math.nan
    zero, none = Fraction(0), {}
    columns = {q: margin.scores for q, margin in solution.items()}
    scores = [columns.get(q, none).get(x, zero) for x, q in index]
    return scores, math.sqrt(sum(margin.norm_squared for margin in solution.values()))


class _Part:
    """One sentence, sorted into carriers and other tokens."""

    def __init__(self, dataset: Dataset, i: int, index: Mapping[Pair, int]) -> None:
        sentence, label = dataset.sentences[i], dataset.labels[i]
        self.sample, self.log_weight = i, log(dataset.frequencies[i])
        self.counts = Counter(sentence)
        following = {x: dataset.successor[x] for x in sorted(self.counts)}
        self.pair = {x: index[x, sentence[-1]] for x in following}
        self.upper = [x for x, y in following.items() if y == label]
        self.lower = [x for x, y in following.items() if y != label]
        names = dict.fromkeys(following[x] for x in self.lower)
        self.groups = {y: k for k, y in enumerate(names)}
        self.group = {x: self.groups[following[x]] for x in self.lower}

    def entries(self) -> Iterator[tuple[float, ...]]:
        """Rows of ``ENTRY``."""
        for x in self.upper + self.lower:
            log_count = math.log(self.counts[x])
            yield self.pair[x], self.group.get(x, 0), log_count, 0.0, 0.0

    def edges(self) -> Iterator[tuple[tuple[int, int], float]]:
        """For each edge its ends and log(pi C_m / C_o)."""
        for o, m in product(self.upper, self.lower):
            log_ratio = math.log(self.counts[m] / self.counts[o])
            yield (self.pair[o], self.pair[m]), self.log_weight + log_ratio


def _sentences(parts: Sequence[_Part]) -> Records:
    rows, first = [], 0
    for part in parts:
        middle = first + len(part.upper)
        end, groups = middle + len(part.lower), len(part.groups)
        still = not part.upper and groups == 1
        where = first, middle, end, groups, part.sample, still
        rows.append((*where, part.log_weight, 0.0, 0.0))
        first = end
    return np.array(rows, dtype=SENTENCE)


def log(x: Fraction) -> float:
    """Logarithm of a positive fraction, however small."""
    return math.log(x.numerator) - math.log(x.denominator)


def _edges(parts: Sequence[_Part], scores: Sequence[Fraction], norm: float) -> Records:
    terms: dict[tuple[int, int], list[float]] = defaultdict(list)
    for part in parts:
        for edge, term in part.edges():
            terms[edge].append(term)
    rows = [(o, m, _log_sum(terms[o, m]), 0.0, 0.0) for o, m in sorted(terms)]
    edges = np.array(rows, dtype=EDGE)
    if norm > 0:
        slack = (_slack(scores[o], scores[m]) for o, m in sorted(terms))
        edges["drift"] = np.fromiter(slack, float, len(edges)) / norm
    return edges


def _slack(upper: Fraction, lower: Fraction) -> float:
    """w_o - w_m - 1, exactly 0 where it is 0."""
    slack = float(upper) - float(lower) - 1
    return slack if abs(slack) > 1e-9 else float(upper - lower - 1)


def _log_sum(terms: list[float]) -> float:
    top = max(terms)
    return top + math.log(math.fsum(math.exp(x - top) for x in terms))
