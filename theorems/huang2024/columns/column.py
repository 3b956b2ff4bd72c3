"""The constraints that problem (3) puts on one column of W_kq.

With orthonormal embeddings the columns W_kq q of different queries q decouple, and the
scores w_x = x^T W_kq q of one query minimise |w|^2 subject to w_o - w_m >= 1 for every
carrier o and every other token m of a sample with that query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from theorems.huang2024.data.dataset import Dataset, Pair, normalised
from verify.max_margin import OrderMargin, order_margin


@dataclass(frozen=True)
class Column:
    """One query's constraints.

    Attributes:
        size: Number |V| of tokens, 0..size-1.
        edges: The pairs (o, m), ascending; no token is on both sides.
        data: Data and a query that give these constraints, to be named in witnesses.
    """

    size: int
    edges: tuple[Pair, ...]
    data: tuple[Dataset, int] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def upper(self) -> tuple[int, ...]:
        """The optimal tokens."""
        return tuple(sorted({o for o, _ in self.edges}))

    @cached_property
    def lower(self) -> tuple[int, ...]:
        """The non-optimal tokens."""
        return tuple(sorted({m for _, m in self.edges}))

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The non-comparable tokens."""
        return tuple(sorted({*range(self.size)} - {*self.upper, *self.lower}))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many tokens are optimal and non-optimal: k and m."""
        return len(self.upper), len(self.lower)

    @property
    def complete(self) -> bool:
        """Whether every optimal token is above every non-optimal one."""
        return len(self.edges) == len(self.upper) * len(self.lower)

    @cached_property
    def margin(self) -> OrderMargin:
        """The exact solution, whose optimality conditions are decided at once.

        Raises:
            ArithmeticError: They fail; nothing may be concluded.
        """
        found = order_margin(self.edges)
        if not found.stands():
            raise ArithmeticError(f"no certified solution of {self.edges}")
        return found

    def score(self, token: int) -> Fraction:
        """w_x of the solution; 0 without a constraint."""
        return self.margin.scores.get(token, Fraction(0))

    def below(self, token: int) -> frozenset[int]:
        """The non-optimal tokens that share a sample with an optimal one."""
        return frozenset(m for o, m in self.edges if o == token)

    def parts(self, joins: Callable[[Fraction], bool]) -> list[tuple[set[int], int]]:
        """Blocks: tokens connected by those edges whose w_o - w_m is right.

        Args:
            joins: Whether an edge with this difference of scores joins its tokens.

        Returns:
            For each block its tokens and how many of them are optimal.
        """
        block = {token: {token} for token in (*self.upper, *self.lower)}
        for o, m in self.edges:
            if joins(self.score(o) - self.score(m)) and block[o] is not block[m]:
                union = block[o] | block[m]
                block |= dict.fromkeys(union, union)
        parts = {id(tokens): tokens for tokens in block.values()}.values()
        return [(tokens, len(tokens.intersection(self.upper))) for tokens in parts]

    def __str__(self) -> str:
        """The samples, or the constraints where no data are known."""
        if self.data is None:
            return f"constraints {', '.join(f'{o} > {m}' for o, m in self.edges)}"
        data, query = self.data
        samples = zip(data.sentences, data.labels, strict=True)
        shown = [f"{[*s]} -> {y}" for s, y in samples if s[-1] == query and len(s) > 1]
        return f"samples {', '.join(shown)} of query {query}, n = {[*data.successor]}"


def column(size: int, edges: Iterable[Pair], query: int | None = None) -> Column:
    """A column from its constraints; with a query, also data that give them.

    Args:
        size: Number of tokens.
        edges: Pairs (o, m).
        query: The one optimal token, or a token below every optimal one.

    Returns:
        The column.
    """
    known = Column(size, tuple(sorted(edges)))
    if query is None:
        return known
    return Column(size, known.edges, (realised(known, query), query))


def realised(of: Column, query: int) -> Dataset:
    """Data with the constraints of a column under a query, n being the cycle 0, 1, ...

    Each optimal token stands once in one sample, with the tokens below it. n is
    injective, so that it is the sample's only carrier.
    """
    n = tuple((x + 1) % of.size for x in range(of.size))
    samples = [((o, *sorted(of.below(o) - {query})), n[o]) for o in of.upper]
    if query in of.upper:
        sentences = [(*of.lower, query)]
    else:
        sentences = [(*sample, query) for sample, _ in samples]
    return Dataset(
        of.size,
        n,
        tuple(sentences),
        tuple(label for _, label in samples),
        normalised([1] * len(sentences)),
    )


def columns_of(dataset: Dataset) -> list[Column]:
    """Problem (3) of a dataset, written out position by position.

    Args:
        dataset: Without confused tokens.

    Returns:
        One column for every query that has a constraint, in order.
    """
    found: dict[int, set[Pair]] = {}
    for i, sentence in enumerate(dataset.sentences):
        carriers = dataset.carriers(i)
        others = [p for p in range(len(sentence)) if p not in carriers]
        pairs = {(sentence[p], sentence[r]) for p in carriers for r in others}
        found.setdefault(sentence[-1], set()).update(pairs)
    return [
        Column(dataset.size, tuple(sorted(pairs)), (dataset, query))
        for query, pairs in sorted(found.items())
        if pairs
    ]
