"""Intervals that a claim gives to scores of a column, and witnesses against them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from theorems.huang2024.columns.column import Column
from theorems.huang2024.columns.records import Tree, certified, number, score
from verify import Claim, Tightness

SIDES, ENDS = ("optimal", "non_optimal"), ("low", "high")


def bounds(claim: Claim, side: str) -> tuple[Fraction, Fraction]:
    """The open interval of one type of tokens, ``.._low`` to ``.._high``."""
    low, high = (Fraction(str(claim.parameters[f"{side}_{end}"])) for end in ENDS)
    return low, high


def outside(claim: Claim, column: Column) -> Tree | None:
    """A tree that is not positive since a comparable token's score is not inside."""
    for side, tokens in zip(SIDES, (column.upper, column.lower), strict=True):
        low, high = bounds(claim, side)
        for token in tokens:
            if column.score(token) <= low:
                return ["sub", score(column, token), number(low)]
            if column.score(token) >= high:
                return ["sub", number(high), score(column, token)]
    return None


def violated(claim: Claim, column: Column) -> bool:
    """Whether some score of the solution is not as claimed."""
    wrong_zero = claim.non_comparable != 0 and bool(column.free)
    return wrong_zero or outside(claim, column) is not None


def witness(claim: Claim, column: Column) -> dict[str, Any]:
    """Record the solution, and a score that is not as claimed."""
    tree = outside(claim, column)
    if tree is not None:
        return certified(column, "a score is not in its interval", [tree])
    free = dict.fromkeys(column.free[:1], Fraction(0))
    whole = replace(column.margin, scores=column.margin.scores | free)
    says = f"{column}: a non-comparable token has the score 0"
    value = Fraction(str(claim.non_comparable))
    return whole.certificate(says, dict.fromkeys(free, value))


def tightness(columns: tuple[Column, ...]) -> tuple[Tightness, ...]:
    """The largest scores: stars of many tokens come as close to 1 as one likes."""
    high = max(columns, key=lambda one: max(map(one.score, one.upper)))
    low = max(columns, key=lambda one: max(-one.score(x) for x in one.lower))
    tops = max(map(high.score, high.upper)), max(-low.score(x) for x in low.lower)
    return tuple(
        Tightness(says, float(top), one.margin.certificate(str(one)))
        for says, top, one in zip(
            ("optimal scores < 1", "non-optimal scores > -1"),
            tops,
            (high, low),
            strict=True,
        )
    )
