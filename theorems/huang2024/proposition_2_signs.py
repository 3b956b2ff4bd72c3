"""Proposition 2: signs of the max-margin attention.

Huang, Liang and Yang (NeurIPS 2024), Proposition 2, as Theorem 3 and Example 2 use it:
whatever the values, non-comparable tokens are inserted between the optimal and the
non-optimal ones. The solution of problem (3) satisfies, under Assumptions 1 and 2,

    0 < x*ᵀ W x_q < 1,    -1 < xᵀ W x_q < 0,    x₀ᵀ W x_q = 0

for optimal x*, non-optimal x and non-comparable x₀. This survives where the closed form
does not (proposition_2_closed_form.py), and no bound can be improved: one token above m
others has the score m/(1+m), the first of k tokens above one other 1/(1+k).

Deviations from the text:
    1. The text has it as a consequence of the closed form; it is proved here from the
       conditions of Karush, Kuhn and Tucker alone.
Not decided here: signs of trained scores (theorem_3_generalisation.py).
"""

from __future__ import annotations

from sympy import Integer, Rational

from theorems.huang2024 import PAPER
from theorems.huang2024.columns import families, intervals, necessity, proof
from theorems.huang2024.columns.decide import hunt
from theorems.huang2024.columns.families import EVERY, FIVE, FIVE_IN_TEXTS, Columns
from theorems.huang2024.model import ORTHONORMAL, REALIZABLE
from verify import Claim, Mutant, Outcome, Refuted, Wording, check
from verify import necessity as without
from verify.search import Search

small_columns, random_columns = families.small_columns, families.random_columns

CLAIM = Claim(
    id="huang2024/proposition-2/signs",
    title="signs of the max-margin attention",
    says=(
        "In the solution of problem (3) the scores of a query's optimal tokens lie "
        "between 0 and 1, those of its non-optimal tokens between -1 and 0, and those "
        "of non-comparable tokens are 0."
    ),
    latex=(
        r"0 < x_*^\top W^*_{kq} x_q < 1, \quad -1 < x^\top W^*_{kq} x_q < 0, \quad "
        r"x_0^\top W^*_{kq} x_q = 0"
    ),
    quantifiers="for all realizable data, all n: V → V, all queries",
    source=PAPER.at("Proposition 2", "as used in Theorem 3 and Example 2"),
    wording=Wording.OURS,
    domain=EVERY,
    assumes=(REALIZABLE, ORTHONORMAL),
    parameters={
        "optimal_low": Integer(0),
        "optimal_high": Integer(1),
        "non_optimal_low": Integer(-1),
        "non_optimal_high": Integer(0),
        "non_comparable": Integer(0),
    },
    mutants=(
        Mutant(
            "optimal scores above 1/3",
            why="two tokens above one have 1/3",
            optimal_low=Rational(1, 3),
        ),
        Mutant(
            "optimal scores below 2/3",
            why="one token above two has 2/3",
            optimal_high=Rational(2, 3),
        ),
        Mutant(
            "non-optimal scores above -2/3",
            why="one token below two has -2/3",
            non_optimal_low=Rational(-2, 3),
        ),
        Mutant(
            "non-optimal scores below -1/3",
            why="two tokens below one have -1/3",
            non_optimal_high=Rational(-1, 3),
        ),
        Mutant(
            "optimal and non-optimal exchanged",
            why="an optimal score exceeds one below it by 1",
            optimal_low=Integer(-1),
            optimal_high=Integer(0),
            non_optimal_low=Integer(0),
            non_optimal_high=Integer(1),
        ),
        Mutant(
            "non-comparable tokens above 0",
            why="no constraint holds them there",
            non_comparable=Rational(1, 10),
        ),
    ),
    pinned=(FIVE, FIVE_IN_TEXTS),
)


@check(CLAIM, grade="symbolic", scope="all")
def signs_from_the_conditions(claim: Claim, small_columns: Columns) -> Outcome:
    """Lead a score outside its interval to a contradiction, in columns of any size.

    Multipliers are sums on each side: an optimal token has w = Σy, a non-optimal one
    -Σy, and a positive y makes its constraint tight.
    """
    (low, high), (least, most) = (
        intervals.bounds(claim, side) for side in intervals.SIDES
    )
    steps = [
        *proof.signs(),
        proof.Step(f"({low}, {high}) contains (0, 1)", low <= 0 and high >= 1),
        proof.Step(f"({least}, {most}) contains (-1, 0)", least <= -1 and most >= 0),
        proof.identity("no constraint, no score", claim.non_comparable, Integer(0)),
    ]
    return proof.decide(
        steps,
        small_columns["every"],
        lambda column: intervals.violated(claim, column),
        lambda column: intervals.witness(claim, column),
    )


def _listed(claim: Claim, search: Search, columns: Columns, says: str) -> Outcome:
    """Look at the exact solution of every column."""
    every = columns["every"]
    outcome = search.exhaust(
        every,
        lambda column: intervals.violated(claim, column),
        lambda column: intervals.witness(claim, column),
        searched=says,
    )
    if outcome.witness:
        return outcome
    return outcome.but(tightness=intervals.tightness(every))


@check(CLAIM, grade="certified", scope="all orders of ≤ 7 comparable tokens")
def signs_of_small_orders(
    claim: Claim, search: Search, small_columns: Columns
) -> Outcome:
    """Look at the exact solution of every bipartite order, up to names."""
    says = "bipartite orders of up to 7 tokens, also without a common token"
    return _listed(claim, search, small_columns, says)


@check(CLAIM, grade="certified", scope="random data, |V| ≤ 20")
def signs_of_wide_columns(
    claim: Claim, search: Search, random_columns: Columns
) -> Outcome:
    """Look at the exact solutions of columns of random data."""
    says = "random data of 4 to 20 tokens, samples of up to 12"
    return _listed(claim, search, random_columns, says)


@check(CLAIM, grade="property", scope="data of any kind, |V| ≤ 6")
def signs_on_data(claim: Claim, search: Search) -> Outcome:
    """Hunt for data with a score outside its interval."""
    says = f"{claim.domain}, |V| ≤ 6"
    return hunt(claim, search, says, intervals.violated, intervals.witness)


@without(
    CLAIM,
    assumption="orthonormal",
    needed=True,
    grade="certified",
    scope="three tokens, one pair of them not orthogonal",
)
def oblique_token(claim: Claim) -> Outcome:
    """A non-comparable token has a score if it is not orthogonal to an optimal one."""
    says = "a non-comparable token has the score 3/10"
    return Refuted(says, witness=necessity.oblique(claim.non_comparable))


@without(
    CLAIM,
    assumption="realizable",
    needed=True,
    grade="certified",
    scope="three tokens, one of them confused",
)
def confused_token(claim: Claim) -> Outcome:
    """With a confused token between them, an optimal token is 2 above another."""
    says = "the scores are 1, 0, -1"
    return Refuted(says, witness=necessity.chain_outside(claim.optimal_high))
