"""Hall's condition on the tokens below sets of optimal tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import sympy as sp

from theorems.huang2024.columns.column import Column
from theorems.huang2024.columns.decide import hunt, k, m
from theorems.huang2024.columns.proof import Step, contradiction, identity
from theorems.huang2024.columns.records import Tree, away, certified, entry, score
from verify import Claim, Outcome
from verify.search import Search

r, s = sp.symbols("r s", nonnegative=True, integer=True)
"""s optimal tokens have r tokens below them."""

ALL, PROPER, SINGLE = "all sets", "sets without some optimal token", "single tokens"
OPS = {sp.GreaterThan: 0, sp.StrictGreaterThan: 1, sp.LessThan: 0}


def subsets(column: Column, which: str) -> Iterator[tuple[int, ...]]:
    """Sets of optimal tokens that a condition is asked of, small ones first."""
    upper = column.upper
    last = {ALL: len(upper), PROPER: len(upper) - 1, SINGLE: 1}[which]
    for size in range(1, last + 1):
        yield from combinations(upper, size)


@lru_cache(maxsize=200_000)
def counts(column: Column, which: str) -> frozenset[tuple[int, int]]:
    """All (s, r) that occur."""
    below = {o: column.below(o) for o in column.upper}
    return frozenset(
        (len(chosen), len(frozenset().union(*(below[o] for o in chosen))))
        for chosen in subsets(column, which)
    )


@lru_cache(maxsize=64)
def _compiled(condition: sp.Rel) -> Callable[..., bool]:
    return sp.lambdify((k, m, s, r), condition, modules="math")


def satisfied(claim: Claim, column: Column) -> bool:
    """Whether a column satisfies the claim's condition on each of its sets."""
    holds = _compiled(claim.condition)
    return all(holds(*column.sizes, *one) for one in counts(column, claim.sets))


def one_block(column: Column) -> dict[int, Fraction]:
    """The scores of Proposition 2, all tokens of the query in one block."""
    above, under = column.sizes
    high, low = Fraction(under, above + under), Fraction(-above, above + under)
    return dict.fromkeys(column.upper, high) | dict.fromkeys(column.lower, low)


def right(column: Column) -> bool:
    """Whether these are the scores of the solution."""
    return one_block(column) == column.margin.scores


def mismatch(claim: Claim, column: Column) -> bool:
    """Whether a column satisfies the condition and has other scores, or the reverse."""
    return satisfied(claim, column) != right(column)


def witness(claim: Claim, column: Column) -> dict[str, Any]:
    """Record the solution, whether it is one block, and the condition on its sets."""
    stated, sets = one_block(column), [*subsets(column, claim.sets)]
    if right(column):
        failing = next(one for one in sets if not _holds_at(claim, column, one))
        trees = [away(score(column, x), w) for x, w in stated.items()]
        trees.append(_excess(claim, column, failing, holds=False))
        says = f"one block, though the condition fails for {[*failing]}"
        return certified(column, says, trees)
    trees = [_excess(claim, column, one, holds=True) for one in sets]
    x, w = next((x, w) for x, w in stated.items() if column.score(x) != w)
    trees.append(away(score(column, x), w, abs(column.score(x) - w)))
    return certified(column, "several blocks, though the condition holds", trees)


def on_data(claim: Claim, search: Search, searched: str) -> Outcome:
    """Hunt for data with a column where condition and solution disagree."""
    return hunt(claim, search, searched, mismatch, witness)


def _holds_at(claim: Claim, column: Column, chosen: tuple[int, ...]) -> bool:
    below = frozenset().union(*(column.below(o) for o in chosen))
    return _compiled(claim.condition)(*column.sizes, len(chosen), len(below))


def _excess(
    claim: Claim, column: Column, chosen: tuple[int, ...], *, holds: bool
) -> Tree:
    """A tree of integers that is at most 0 exactly if the condition holds (or fails).

    The tokens below the set are counted from the input ``above``.
    """
    rows = [column.upper.index(o) for o in chosen]
    optimal, others = column.sizes
    reached = (["max", *(entry("above", i, j) for i in rows)] for j in range(others))
    found = ["add", *reached]
    values = {k: optimal, m: others, s: len(chosen), r: found}
    condition = claim.condition
    left, right_side = (_tree(sp.expand(x), values) for x in condition.args)
    if isinstance(condition, sp.LessThan):
        left, right_side = right_side, left
    strict = OPS[type(condition)]
    if holds:  # left - right >= strict
        return ["add", ["sub", right_side, left], strict]
    return ["add", ["sub", left, right_side], 1 - strict]


def _tree(expr: sp.Expr, values: dict[sp.Symbol, Tree]) -> Tree:
    if expr.is_Symbol:
        return values[expr]
    if expr.is_Integer:
        return int(expr)
    op = {sp.Add: "add", sp.Mul: "mul"}[expr.func]
    return [op, *(_tree(part, values) for part in expr.args)]


def proof(condition: sp.Rel, sets: str) -> list[Step]:
    """The whole query is one block exactly under Hall's condition.

    Args:
        condition: The condition as claimed.
        sets: Of which sets it is asked.
    """
    flow, copies = sp.symbols("flow copies", nonnegative=True)
    share, taken = m / (k + m), k / (k + m)
    asked = sp.expand(condition.lhs - condition.rhs - (r * k - s * m))
    return [
        contradiction(
            "with the scores of one block the multipliers of S sum up to s m/(k+m), at "
            "most r k/(k+m) of it at the tokens below: r k < s m is impossible",
            flow - s * share,
            r * taken - flow,
            positive=(s * m - r * k) / (k + m),
        ),
        contradiction(
            "conversely, write m copies of each optimal, k of each non-optimal token, "
            "k m on both sides: copies of S, at most s m, have r k neighbours, not "
            "fewer than they are; by Hall's marriage theorem all copies are paired",
            s * m - copies,
            r * k - s * m,
            positive=copies - r * k,
        ),
        identity("pairs over k + m are multipliers: m of each o", m / (k + m), share),
        identity("k of each m", k / (k + m), taken),
        identity(
            "all constraints are tight with these scores", share + taken, sp.Integer(1)
        ),
        Step(
            f"this is the condition claimed: {condition}, for {sets}",
            asked == 0 and isinstance(condition, sp.GreaterThan) and sets == ALL,
        ),
    ]
