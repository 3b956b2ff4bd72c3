"""Scores that a claim gives to the tokens of a column, and witnesses against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from theorems.huang2024.columns.column import Column
from theorems.huang2024.columns.families import Columns
from theorems.huang2024.data.dataset import Dataset
from verify import Claim, Outcome
from verify.search import Search

k, m = sp.symbols("k m", positive=True, integer=True)
gap = sp.Symbol("gap", real=True)
"""w_o - w_m of a constraint, at least 1."""


@lru_cache(maxsize=4096)
def _value(formula: sp.Expr, optimal: int, non_optimal: int) -> Fraction:
    value = sp.Rational(sp.sympify(formula).subs({k: optimal, m: non_optimal}))
    return Fraction(int(value.p), int(value.q))


@lru_cache(maxsize=4096)
def _joins(relation: sp.Basic, difference: Fraction) -> bool:
    return bool(relation.subs(gap, sp.Rational(*difference.as_integer_ratio())))


def claimed(claim: Claim, column: Column) -> dict[int, Fraction]:
    """The scores of all tokens according to a claim.

    Args:
        claim: With parameters ``optimal`` and ``non_optimal`` (in ``k`` and ``m``),
            ``non_comparable``, and maybe ``joined``: which constraints join their
            tokens into one block (a relation in ``gap``). Without it, k and m count
            all comparable tokens of the query.
        column: A column.

    Returns:
        Scores by token.
    """
    rule = claim.parameters.get("joined")
    parts = [({*column.upper, *column.lower}, len(column.upper))]
    if rule is not None:
        parts = column.parts(lambda difference: _joins(rule, difference))
    scores = dict.fromkeys(column.free, _value(claim.non_comparable, 0, 0))
    for tokens, above in parts:
        high, low = (
            _value(side, above, len(tokens) - above)
            for side in (claim.optimal, claim.non_optimal)
        )
        scores |= {x: high if x in column.upper else low for x in tokens}
    return scores


def differs(claim: Claim, column: Column) -> bool:
    """Whether the solution has other scores than those claimed."""
    return any(column.score(x) != w for x, w in claimed(claim, column).items())


def witness(claim: Claim, column: Column) -> dict[str, Any]:
    """Record the solution, why it is the only one, and that the claim has another."""
    stated = claimed(claim, column)
    free = {x: Fraction(0) for x in column.free if stated[x]}
    whole = replace(column.margin, scores=column.margin.scores | free)
    says = f"{column}: the solution has other scores than those claimed"
    return whole.certificate(says, {x: stated[x] for x in whole.scores})


def on_small(claim: Claim, search: Search, columns: Columns, searched: str) -> Outcome:
    """Compare a claim with the solution of every small column of its domain."""
    return search.exhaust(
        columns[claim.domain.name],
        lambda column: differs(claim, column),
        lambda column: witness(claim, column),
        searched=searched,
    )


def on_data(claim: Claim, search: Search, searched: str) -> Outcome:
    """Hunt for data with a column that a claim gets wrong."""
    return hunt(claim, search, searched, differs, witness)


def hunt(
    claim: Claim,
    search: Search,
    searched: str,
    violated: Callable[[Claim, Column], bool],
    record: Callable[[Claim, Column], dict[str, Any]],
) -> Outcome:
    """Hunt for data of a claim's domain with a column that violates it.

    Nothing is aimed at: scores agree exactly or not at all.

    Args:
        claim: The claim; its pinned datasets come first.
        search: The engine's search.
        searched: The space, in words.
        violated: Whether the claim is false on a column.
        record: Witness of a violation.

    Returns:
        The outcome of the search.
    """

    def first(dataset: Dataset) -> list[Column]:
        columns = claim.domain.columns(dataset)
        if not columns:
            search.discard(f"no column with {claim.domain}")
        return [one for one in columns if violated(claim, one)][:1]

    return search.for_all(
        claim.domain.data(),
        lambda dataset: bool(first(dataset)),
        lambda dataset: record(claim, *first(dataset)),
        searched=searched,
        pinned=[one for one in claim.pinned if claim.domain.admits(one)],
        scale=0.5,
    )
