"""Small datasets, each made for one purpose; all of them can be redone by hand.

Under "distinct next tokens" n is the identity, which is injective.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theorems.huang2024.data.dataset import Dataset, normalised


def single_pair() -> Dataset:
    """[o, q]: one constraint, the direction never turns."""
    return Dataset(2, (0, 1), ((0, 1),), (0,), (Fraction(1),))


def pairs(count: int, light: Fraction | None = None) -> Dataset:
    """[o, q] for ``count`` queries, each token once above and once below.

    The columns of W do not interact, and W* is (1/2, -1/2) in each of them.

    Args:
        count: Number of pairs and of tokens, at least 2.
        light: Frequency of every pair but the first; equal by default.

    Returns:
        The dataset, n the identity.
    """
    light = Fraction(1, count) if light is None else light
    sentences = tuple(((x + 1) % count, x) for x in range(count))
    frequencies = (1 - (count - 1) * light, *[light] * (count - 1))
    labels = tuple(o for o, _ in sentences)
    return Dataset(count, tuple(range(count)), sentences, labels, frequencies)


def crowd(first: int, second: int) -> Dataset:
    """[o, m_1.. , k_1..]: the m share one next token, the k share another.

    Each token stands once, as Assumption 3 asks; the last k is the query.
    """
    size = 1 + first + second
    n = (0, *[1] * first, *[1 + first] * second)
    return Dataset(size, n, (tuple(range(size)),), (0,), (Fraction(1),))


def repeats(first: int, second: int) -> Dataset:
    """[o, m.., k..] with m and k repeated: injective, against Assumption 3."""
    sentence = (0, *[1] * first, *[2] * second)
    return Dataset(3, (0, 1, 2), (sentence,), (0,), (Fraction(1),))


def outvoted(weight: int = 99) -> Dataset:
    """[o, m, m', q] and, rare, [o', z, z', q]: n(m) = n(m'), all else distinct.

    Two tokens with one next token draw the first sample's error; its query rises
    towards the carrier, and in the rare sample it rises above o'.
    """
    o, rare, m, m_too, z, z_too, q = range(7)
    n = (0, 1, 2, 2, 4, 5, 6)
    sentences = ((o, m, m_too, q), (rare, z, z_too, q))
    return Dataset(7, n, sentences, (o, rare), normalised([weight, 1]))


def against(crowded: int, low: int, over: int, weight: int) -> Dataset:
    """A sample whose gradient turns away from W*, and rare ones that make it so.

    [o, m_1.., q_1..]: the m share a next token, so that the error falls on them alone
    and the q rise with o. Rare samples [o_k, q_1..] put the q lowest in W*.

    Args:
        crowded: Number of m.
        low: Number of q, of which the last is the query.
        over: Number of rare samples.
        weight: How often the first sample occurs for each occurrence of a rare one.

    Returns:
        The dataset.
    """
    size = 1 + crowded + low + over
    m, q = range(1, 1 + crowded), range(1 + crowded, 1 + crowded + low)
    rare = range(1 + crowded + low, size)
    n = tuple(1 if x in m else x for x in range(size))
    sentences = ((0, *m, *q), *((o, *q) for o in rare))
    frequencies = normalised([weight, *[1] * over])
    return Dataset(size, n, sentences, (0, *rare), frequencies)


def against_counts(copies: int, low: int, over: int, weight: int) -> Dataset:
    """As :func:`against`, with one m repeated: injective, against Assumption 3."""
    size = 2 + low + over
    q, rare = range(2, 2 + low), range(2 + low, size)
    sentences = ((0, *[1] * copies, *q), *((o, *q) for o in rare))
    frequencies = normalised([weight, *[1] * over])
    return Dataset(size, tuple(range(size)), sentences, (0, *rare), frequencies)


def crowded_out(weight: int) -> Dataset:
    """[o, m, m, q] and, rare, [o', q, q, q]: injective, against Assumption 3."""
    o, rare, m, q = range(4)
    sentences = ((o, m, m, q), (rare, q, q, q))
    frequencies = normalised([weight, 1])
    return Dataset(4, (0, 1, 2, 3), sentences, (o, rare), frequencies)


def confused(weight: int) -> Dataset:
    """[a, b, q] -> n(a) and, rare, [b, c, q] -> n(b): the token b is confused."""
    a, b, c, q = range(4)
    sentences = ((a, b, q), (b, c, q))
    return Dataset(4, (0, 1, 2, 3), sentences, (a, b), normalised([weight, 1]))


def two_carriers() -> Dataset:
    """[a, a, b, q] -> n(a) = n(b): W turns to a and away from W*."""
    return Dataset(3, (0, 0, 1), ((0, 0, 1, 2),), (0,), (Fraction(1),))


def star(size: int) -> Dataset:
    """[o, m_1, .., q], all different: |l| = 1 in the longest sample."""
    tokens = tuple(range(size))
    return Dataset(size, tokens, (tokens,), (0,), (Fraction(1),))


INJECTIVE_CASES: Sequence[Dataset] = (
    single_pair(),
    star(3),
    star(8),
    pairs(2),
    pairs(8),
    pairs(2, Fraction(1, 10**9)),
    pairs(8, Fraction(1, 10**9)),
    pairs(25, Fraction(1, 10**9)),
)
