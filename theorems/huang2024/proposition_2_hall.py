"""When Proposition 2's closed form is right: Hall's condition.

Huang, Liang and Yang (NeurIPS 2024), Proposition 2, takes all tokens of a query for one
block. With N(S) the non-optimal tokens that share a sample of the query with a token of
S, the k optimal and m non-optimal tokens are one block if and only if

    |N(S)| k ≥ |S| m    for every set S of optimal tokens.

Deviations from the text:
    1. The text has no such condition; see proposition_2_closed_form.py.
Not decided here: how often data satisfy it.
"""

from __future__ import annotations

from sympy import Ge, Gt, Le

from theorems.huang2024 import PAPER
from theorems.huang2024.columns import families, hall, proof
from theorems.huang2024.columns.decide import k, m
from theorems.huang2024.columns.families import (
    EVERY,
    FIVE,
    FIVE_IN_TEXTS,
    FOUR,
    SIX,
    Columns,
)
from theorems.huang2024.columns.hall import ALL, PROPER, SINGLE, r, s
from theorems.huang2024.model import ORTHONORMAL, REALIZABLE
from verify import Claim, Mutant, Outcome, Wording, check
from verify.search import Search

small_columns = families.small_columns

CLAIM = Claim(
    id="huang2024/proposition-2/hall",
    title="when the closed form is right",
    says=(
        "The closed form of Proposition 2 is right for a query exactly if any s "
        "optimal tokens share samples with at least s m/k non-optimal ones."
    ),
    latex=r"|N(S)|\, k \ge |S|\, m \quad \text{for all } S \subseteq O_{x_q}",
    quantifiers="for all realizable data, all n: V → V, all queries",
    source=PAPER.at("Proposition 2", "its domain"),
    wording=Wording.OURS,
    domain=EVERY,
    assumes=(REALIZABLE, ORTHONORMAL),
    parameters={"condition": Ge(r * k, s * m), "sets": ALL},
    mutants=(
        Mutant(
            "reversed",
            why="one token above all m satisfies r k ≥ s m",
            condition=Le(r * k, s * m),
        ),
        Mutant(
            "strict",
            why="all optimal tokens have all m below: equality",
            condition=Gt(r * k, s * m),
        ),
        Mutant(
            "strict for fewer than all",
            why="[o₁ m₁ q], [o₂ q] is one block, and o₂ has 1 · 2 = 1 · 2",
            condition=Gt(r * k, s * m),
            sets=PROPER,
        ),
        Mutant(
            "k and m exchanged",
            why="[o₁ m₁ m₂ q], [o₂ q] satisfies it",
            condition=Ge(r * m, s * k),
        ),
        Mutant(
            "Hall's marriage condition",
            why="it compares r with s alone",
            condition=Ge(r, s),
        ),
        Mutant(
            "single tokens only",
            why="two of three tokens above nothing but q violate it together",
            sets=SINGLE,
        ),
    ),
    pinned=(FOUR, FIVE, FIVE_IN_TEXTS, SIX),
)


@check(CLAIM, grade="symbolic", scope="all")
def marriage_of_copies(claim: Claim, small_columns: Columns) -> Outcome:
    """Sum multipliers over S, and conversely pair copies of tokens, for all k and m."""
    return proof.decide(
        hall.proof(claim.condition, claim.sets),
        small_columns["every"],
        lambda column: hall.mismatch(claim, column),
        lambda column: hall.witness(claim, column),
    )


@check(CLAIM, grade="certified", scope="all orders of ≤ 7 comparable tokens")
def condition_of_small_orders(
    claim: Claim, search: Search, small_columns: Columns
) -> Outcome:
    """Compare the condition, set by set, with the exact solution of every order."""
    return search.exhaust(
        small_columns["every"],
        lambda column: hall.mismatch(claim, column),
        lambda column: hall.witness(claim, column),
        searched="bipartite orders of up to 7 tokens, also without a common token",
    )


@check(CLAIM, grade="property", scope="data of any kind, |V| ≤ 6")
def condition_on_data(claim: Claim, search: Search) -> Outcome:
    """Hunt for data with a query where condition and solution disagree."""
    return hall.on_data(claim, search, f"{claim.domain}, |V| ≤ 6")
