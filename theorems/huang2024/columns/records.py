"""Records of kind ``formula`` that say more of a column's solution than what it is.

A record holds the solution with its multipliers, conditions that make it the solution,
and further conditions; each is a tree that must not be positive, so that one comparison
decides all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from theorems.huang2024.columns.column import Column

Tree = Any


def entry(name: str, i: int, j: int = 0) -> Tree:
    """An entry of an input."""
    return ["entry", ["in", name], i, j]


def score(column: Column, token: int) -> Tree:
    """The score of a comparable token."""
    if token in column.upper:
        return entry("high", column.upper.index(token))
    return entry("low", column.lower.index(token))


def away(tree: Tree, value: Fraction, distance: Fraction = Fraction(0)) -> Tree:
    """Not positive if a number is a value, or at least that far from it if given."""
    gap = ["abs", ["sub", tree, number(value)]]
    return ["sub", number(distance), gap] if distance else gap


def number(value: Fraction) -> int | str:
    """A rational as records have it."""
    return value.numerator if value.denominator == 1 else str(value)


def certified(column: Column, says: str, also: Sequence[Tree]) -> dict[str, Any]:
    """Record that a column has its solution, and that no further tree is positive.

    Args:
        column: A column.
        says: What the further trees show.
        also: Trees over the inputs: ``above``, 1 where the i-th optimal token is to be
            above the j-th non-optimal one and else 0, their scores ``high`` and
            ``low``, and multipliers ``y``.

    Returns:
        The record.
    """
    pairs = column.margin.multipliers
    grid = [[pairs.get((o, x)) for x in column.lower] for o in column.upper]
    return {
        "kind": "formula",
        "says": f"{column}: {says}",
        "inputs": {
            "above": [[int(y is not None) for y in row] for row in grid],
            "high": [[number(column.score(o))] for o in column.upper],
            "low": [[number(column.score(x))] for x in column.lower],
            "y": [[number(y or Fraction(0)) for y in row] for row in grid],
        },
        "relation": ["<=", ["max", *_conditions(*column.sizes), *also], 0],
    }


def _conditions(k: int, m: int) -> Iterator[Tree]:
    """Stationary, feasible and complementary; no multiplier where no constraint is."""
    for i in range(k):
        given = ["add", *(entry("y", i, j) for j in range(m))]
        yield ["abs", ["sub", entry("high", i), given]]
    for j in range(m):
        taken = ["add", *(entry("y", i, j) for i in range(k))]
        yield ["abs", ["add", entry("low", j), taken]]
    for i in range(k):
        for j in range(m):
            slack = ["sub", ["sub", entry("high", i), entry("low", j)], 1]
            y, above = entry("y", i, j), entry("above", i, j)
            yield ["neg", y]
            yield ["neg", ["mul", above, slack]]
            yield ["mul", y, slack]
            yield ["mul", y, ["sub", 1, above]]
