"""Minimal scores under difference constraints w_o - w_m >= 1, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd
from typing import Any

from verify.max_margin import flow
from verify.max_margin.exact import minimise
from verify.max_margin.records import kkt

Edge = tuple[int, int]
ZERO = Fraction(0)
_fraction = lru_cache(maxsize=4096)(Fraction)  # few differ, and each costs a gcd


class CycleError(ValueError):
    """No scores satisfy the constraints: some edges form a cycle.

    Attributes:
        cycle: Tokens of one cycle: each is above the next, the last above the first.
    """

    def __init__(self, cycle: Sequence[int]) -> None:
        self.cycle = tuple(cycle)
        chain = " > ".join(map(str, [*cycle, cycle[0]]))
        edges = [*zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        super().__init__(
            f"tokens cannot satisfy {chain}: each score must exceed the next by 1; "
            f"drop one of the edges {', '.join(map(str, edges))}"
        )


@dataclass(frozen=True)
class Block:
    """Tokens connected by tight edges.

    In a bipartite order with k tokens above and m below their scores are m / (k + m)
    and -k / (k + m).

    Attributes:
        upper: Tokens of the block that are above others and below none, by any edge.
        lower: Tokens that are below others and above none.
        middle: Tokens that are both; none in a bipartite order.
    """

    upper: frozenset[int]
    lower: frozenset[int]
    middle: frozenset[int] = frozenset()


@dataclass(frozen=True)
class OrderMargin:
    """The scores of minimal norm under w_o - w_m >= 1, with what proves them.

    Attributes:
        scores: By token, for tokens with an edge, ascending. All others have score 0.
        multipliers: By edge, ascending. One valid set of perhaps many.
        norm_squared: Sum of the squared scores.
        tight: Edges with w_o - w_m = 1, ascending.
        leaves: The integer certificate of a bipartite order; empty for any other.
    """

    scores: dict[int, Fraction]
    multipliers: dict[Edge, Fraction]
    norm_squared: Fraction
    tight: tuple[Edge, ...]
    leaves: tuple[flow.Leaf, ...] = field(default=(), repr=False)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The components of the tight edges, ordered by their least tokens."""
        tokens = [*self.scores]
        place = {token: i for i, token in enumerate(tokens)}
        near = [0] * len(tokens)
        for o, m in self.tight:
            near[place[o]] |= 1 << place[m]
            near[place[m]] |= 1 << place[o]
        over, under = ({edge[i] for edge in self.multipliers} for i in (0, 1))
        blocks = []
        for part in flow.components(near, (1 << len(tokens)) - 1):
            inside = {tokens[i] for i in flow.bits(part)}
            sides = inside - under, inside - over, inside & over & under
            blocks.append(Block(*map(frozenset, sides)))
        return tuple(blocks)

    @cached_property
    def idle(self) -> tuple[Edge, ...]:
        """Tight edges whose multiplier is 0 in every valid set of multipliers."""
        place = {token: i for i, token in enumerate(self.scores)}
        tight = [(place[o], place[m]) for o, m in self.tight]
        used = [self.multipliers[edge] > 0 for edge in self.tight]
        idle = flow.idle(tight, used)
        return tuple(
            edge for edge, is_idle in zip(self.tight, idle, strict=True) if is_idle
        )

    @property
    def strictly_complementary(self) -> bool:
        """Whether some valid set of multipliers is positive on every tight edge."""
        return not self.idle

    def slack(self, edge: Edge) -> Fraction:
        """By how much an edge exceeds its bound: w_o - w_m - 1."""
        return self.scores[edge[0]] - self.scores[edge[1]] - 1

    def stands(self) -> bool:
        """Decide the conditions of Karush, Kuhn and Tucker again.

        Returns:
            Whether the scores are the only minimiser. For a bipartite order this is
            decided from integers, about ten times faster than from the record.
        """
        if self.leaves:
            edges = [*self.multipliers]
            tokens, above, upper = _masks(edges)
            proved = flow.stands(self.leaves, above, upper)
            return proved and _from_leaves(edges, tokens, self.leaves) == self
        rest = dict(self.scores)
        for (o, m), multiplier in self.multipliers.items():
            rest[o] -= multiplier
            rest[m] += multiplier
            slack = self.slack((o, m))
            if slack < 0 or multiplier < 0 or slack * multiplier:
                return False
        return not any(rest.values())

    def certificate(
        self, says: str, claimed: Mapping[int, Fraction] | None = None
    ) -> dict[str, Any]:
        """Write the solution as a record of kind ``kkt``.

        Args:
            says: What it shows, in one sentence.
            claimed: Scores claimed by token, at least one of them wrong. The record is
                then a witness against them.

        Returns:
            The record. An order without an edge has none.
        """
        return matrix_certificate({None: self}, says, claimed, symbol="w")


def matrix_certificate(
    columns: Mapping[Any, OrderMargin],
    says: str,
    claimed: Mapping[Any, Fraction] | None = None,
    *,
    symbol: str = "W",
) -> dict[str, Any]:
    """Write several columns, which decouple, as one record of kind ``kkt``.

    Args:
        columns: By query. The query ``None`` names a coordinate by its token alone.
        says: What the record shows, in one sentence.
        claimed: Scores claimed by ``(token, query)``, at least one of them wrong.
        symbol: Printed before the name of a coordinate.

    Returns:
        The record.

    Raises:
        ValueError: There is no constraint at all.

    >>> record = matrix_certificate({"q": order_margin([(0, 1)])}, "0 above 1")
    >>> record["solution"]
    {'W[0, q]': '1/2', 'W[1, q]': '-1/2'}
    """
    solution: dict[Any, Fraction] = {}
    rows: list[dict[int, int]] = []
    multipliers: list[Fraction] = []
    for query, column in columns.items():
        place = {token: len(solution) + i for i, token in enumerate(column.scores)}
        for token, score in column.scores.items():
            solution[token if query is None else (token, query)] = score
        rows += [{place[o]: 1, place[m]: -1} for o, m in column.multipliers]
        multipliers += column.multipliers.values()
    if not rows:
        raise ValueError("there is no edge, hence nothing to certify: all scores are 0")
    bounds = [1] * len(rows)
    return kkt(says, rows, bounds, solution, multipliers, claimed, symbol=symbol)


def order_margin(edges: Iterable[Edge]) -> OrderMargin:
    """Find the scores of minimal norm with w_o - w_m >= 1 for all edges (o, m).

    Args:
        edges: Pairs of tokens; the first one is above the second. A token may be both
            above and below others, which is slower.

    Returns:
        The unique solution in rationals, with its certificate.

    Raises:
        CycleError: The edges form a cycle; the message names it.

    >>> five = order_margin([(0, 2), (0, 3), (0, 4), (1, 4)])
    >>> [str(score) for score in five.scores.values()], str(five.norm_squared)
    (['2/3', '1/2', '-1/3', '-1/3', '-1/2'], '7/6')
    >>> [(sorted(b.upper), sorted(b.lower)) for b in five.blocks], five.stands()
    ([([0], [2, 3]), ([1], [4])], True)
    """
    ordered = sorted(set(edges))
    tokens, above, upper = _masks(ordered)
    if any(upper >> m & 1 for m in above):
        return _general(ordered, tokens)
    leaves = flow.settle(above, upper)
    return _from_leaves(ordered, tokens, leaves)


def _masks(edges: Iterable[Edge]) -> tuple[list[int], dict[int, int], int]:
    """Tokens, for each position of a lower one the bits of those above, all uppers."""
    edges = [*edges]
    tokens = sorted({token for edge in edges for token in edge})
    place = {token: i for i, token in enumerate(tokens)}
    above: dict[int, int] = {}
    upper = 0
    for o, m in edges:
        bit, j = 1 << place[o], place[m]
        upper |= bit
        above[j] = above.get(j, 0) | bit
    return tokens, above, upper


def _from_leaves(
    edges: Sequence[Edge], tokens: Sequence[int], leaves: Sequence[flow.Leaf]
) -> OrderMargin:
    scores, levels = dict.fromkeys(tokens, ZERO), {}
    multipliers = dict.fromkeys(edges, ZERO)
    square = ZERO
    for leaf in leaves:
        k, m = leaf.sizes
        level, high, low = gcd(k, m), _fraction(m, k + m), _fraction(-k, k + m)
        for i in flow.bits(leaf.upper):
            scores[tokens[i]], levels[tokens[i]] = high, (k // level, m // level)
        for j in flow.bits(leaf.lower):
            token = tokens[j]
            scores[token], levels[token] = low, (k // level, m // level)
            for i, units in leaf.flow[j].items():
                multipliers[tokens[i], token] = _fraction(units, k + m)
        square += _fraction(k * m, k + m)  # k (m / (k + m))² + m (k / (k + m))²
    tight = tuple(edge for edge in edges if levels[edge[0]] == levels[edge[1]])
    return OrderMargin(scores, multipliers, square, tight, tuple(leaves))


def _general(edges: list[Edge], tokens: list[int]) -> OrderMargin:
    _refuse_cycles(edges)
    place = {token: i for i, token in enumerate(tokens)}
    rows = []
    for o, m in edges:
        row = [0] * len(tokens)
        row[place[o]], row[place[m]] = 1, -1
        rows.append(row)
    found = minimise(rows, [1] * len(rows))
    tight = tuple(edges[i] for i in found.tight)
    multipliers = dict(zip(edges, found.multipliers, strict=True))
    scores = dict(zip(tokens, found.solution, strict=True))
    return OrderMargin(scores, multipliers, found.norm_squared, tight)


def _refuse_cycles(edges: list[Edge]) -> None:
    """Remove tokens that are above nothing until none is left, or name a cycle."""
    below: dict[int, set[int]] = {token: set() for edge in edges for token in edge}
    for o, m in edges:
        below[o].add(m)
    while ends := {token for token, others in below.items() if not others}:
        below = {o: others - ends for o, others in below.items() if o not in ends}
    if not below:
        return
    path = [min(below)]
    while (token := min(below[path[-1]])) not in path:
        path.append(token)
    raise CycleError(path[path.index(token) :])
