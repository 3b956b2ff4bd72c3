"""All prefix-closed data on few tokens, up to the names of the tokens.

Data are texts, at most one longest for each first token: what follows a prefix is a
function of it. How a text may go on, and which orders its samples have, depends on the
set of its tokens, its last token and its orders so far. There are finitely many such
states, so that texts of any length are covered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from theorems.huang2024.columns.column import Column
from theorems.huang2024.data.dataset import Pair, from_texts

Text = tuple[int, ...]
Orders = tuple[frozenset[Pair], ...]
"""For each query its pairs (o, m)."""


def maps(size: int, *, injective: bool) -> list[tuple[int, ...]]:
    """Maps V -> V, injective or not, one of those that differ by names of tokens."""
    names = [*permutations(range(size))]
    chosen = {
        min(_renamed(n, name) for name in names)
        for n in product(range(size), repeat=size)
        if (len(set(n)) == size) == injective
    }
    return sorted(chosen)


def _renamed(n: Sequence[int], name: Sequence[int]) -> tuple[int, ...]:
    image = [0] * len(n)
    for x, y in enumerate(n):
        image[name[x]] = name[y]
    return tuple(image)


def texts(n: Sequence[int], start: int) -> dict[Orders, Text]:
    """The orders that texts from a first token can have under Assumption 1.

    Args:
        n: The next-token map.
        start: The first token.

    Returns:
        For each family of orders a shortest text of two tokens or more that has it.
    """
    text = (start, n[start])  # its only sample is one token, which has no order
    nothing: Orders = (frozenset(),) * len(n)
    found, seen, todo = {nothing: text}, set(), deque([(text, nothing)])
    while todo:
        text, orders = todo.popleft()
        for label in {n[x] for x in text}:
            grown = _with(orders, n, text, label)
            state = frozenset((*text, label)), label, grown
            if grown is not None and state not in seen:
                seen.add(state)
                found.setdefault(grown, (*text, label))
                todo.append(((*text, label), grown))
    return found


def _with(orders: Orders, n: Sequence[int], text: Text, label: int) -> Orders | None:
    """The orders with one more sample; None if a token becomes confused."""
    tokens, query = set(text), text[-1]
    upper = [x for x in tokens if n[x] == label]
    pairs = product(upper, tokens.difference(upper))
    joined = orders[query].union(pairs)
    return (
        None if _confused(joined) else (*orders[:query], joined, *orders[query + 1 :])
    )


def _confused(order: frozenset[Pair]) -> bool:
    return not {o for o, _ in order}.isdisjoint(m for _, m in order)


def data_columns(size: int, *, injective: bool) -> tuple[list[Column], int]:
    """The columns of all realizable prefix-closed data on so many tokens.

    Args:
        size: Number of tokens.
        injective: Whether n is injective, or any map that is not.

    Returns:
        Columns, each once and with data that have it, those of few comparable tokens
        first; and how many families of orders the data have, up to names.
    """
    found: dict[tuple[Pair, ...], Column] = {}
    families = 0
    for n in maps(size, injective=injective):
        for chosen, orders in _unions(n):
            families += 1
            for query, order in enumerate(orders):
                edges = tuple(sorted(order))
                if edges and edges not in found:
                    found[edges] = Column(
                        size, edges, (from_texts(size, n, chosen), query)
                    )
    columns = sorted(found.values(), key=lambda one: (sum(one.sizes), one.edges))
    return columns, families


def _unions(n: Sequence[int]) -> Iterator[tuple[list[Text], Orders]]:
    """Every family of orders of data, with one text for each first token.

    A first token whose text is not used has its text of two tokens, without an order.
    """
    known: dict[Orders, list[Text]] = {(frozenset(),) * len(n): []}
    for start in range(len(n)):
        more = texts(n, start)
        grown: dict[Orders, list[Text]] = {}
        for (orders, chosen), (others, text) in product(known.items(), more.items()):
            union = tuple(a | b for a, b in zip(orders, others, strict=True))
            if union not in grown and not any(map(_confused, union)):
                grown[union] = [*chosen, text]
        known = grown
    for orders, chosen in known.items():
        yield chosen, orders
