"""Proposition 2: the max-margin attention has a closed form.

Huang, Liang and Yang (NeurIPS 2024), Proposition 2, repeated and proved as
Proposition 4 in Appendix D.1. Under Assumptions 1 and 2, for a query x_q with k optimal
and m non-optimal tokens, the solution of problem (3) satisfies

    x*ᵀ W x_q = m/(k+m),    xᵀ W x_q = -k/(k+m),    x₀ᵀ W x_q = 0

for optimal x*, non-optimal x and non-comparable x₀. Its proof takes the multiplier
1/(k+m) for every pair (x*, x), as if each stood in a sample; only pairs that do have a
constraint. Data where some do not are enough to make the formula wrong, five tokens
being the fewest:

    samples [o₁ m₁ m₂ q], [o₂ q]: scores 2/3, -1/3, -1/3 and 1/2, -1/2, not 3/5, -2/5.

It is right on each block of tokens that constraints with equality connect, right as
printed exactly under Hall's condition (proposition_2_hall.py), and right on
prefix-closed data if n is injective: there each query has one optimal token.

Deviations from the text:
    1. The displays are lost; the formula survives in the proof of Proposition 4.
    2. With orthonormal embeddings problem (3) decouples: one query at a time.
    3. Frequencies and repetitions do not enter problem (3), and Assumption 3 is not
       assumed.
Not decided here: signs of the scores (proposition_2_signs.py); that training converges
to the solution of problem (3), beyond the data trained here (theorem_1_direction.py).
"""

from __future__ import annotations

from sympy import Eq, Ge, Integer, Rational

from theorems.huang2024 import PAPER
from theorems.huang2024.columns import decide, families, necessity, proof, training
from theorems.huang2024.columns.decide import gap, k, m
from theorems.huang2024.columns.families import (
    ANY_MAP,
    COMPLETE,
    EVERY,
    FIVE,
    FIVE_IN_TEXTS,
    PREFIXES,
    SENTENCES,
    Columns,
)
from theorems.huang2024.columns.training import Trained
from theorems.huang2024.model import INJECTIVE, ORTHONORMAL, REALIZABLE
from theorems.huang2024.model import PREFIXES as CLOSED
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify import necessity as without
from verify.search import Search

small_columns, random_columns = families.small_columns, families.random_columns
trained_columns = training.trained_columns

FORMULA = {
    "optimal": m / (k + m),
    "non_optimal": -k / (k + m),
    "non_comparable": Integer(0),
}
WRONG = (
    Mutant(
        "k and m swapped",
        why="feasible, and not minimal: 1/3, -2/3 for one token above two",
        optimal=k / (k + m),
        non_optimal=-m / (k + m),
    ),
    Mutant(
        "half the margin",
        why="the scores then differ by 1/2, and no constraint holds",
        optimal=m / (2 * (k + m)),
        non_optimal=-k / (2 * (k + m)),
    ),
    Mutant(
        "scores 1/2 and -1/2",
        why="feasible, and minimal only for k = m",
        optimal=Rational(1, 2),
        non_optimal=Rational(-1, 2),
    ),
    Mutant(
        "non-comparable tokens above 0",
        why="no constraint holds them there",
        non_comparable=Rational(1, 10),
    ),
)
LATEX = (
    r"x_*^\top W^*_{kq} x_q = \frac{m}{k+m}, \quad "
    r"x^\top W^*_{kq} x_q = -\frac{k}{k+m}, \quad x_0^\top W^*_{kq} x_q = 0"
)
SAYS = (
    "For a query with k optimal and m non-optimal tokens, the solution of problem (3) "
    "gives all optimal tokens the score m/(k+m), all non-optimal ones -k/(k+m), and "
    "non-comparable ones 0"
)
AT = PAPER.at("Proposition 2", "proved as Proposition 4, Appendix D.1, Eqs. (14)-(15)")
ON_COMPLETE = Anchor(
    "complete orders",
    why="then the multipliers 1/(k+m) of the proof belong to constraints",
    domain=COMPLETE,
)

AS_PRINTED = Claim(
    id="huang2024/proposition-2@injective-sentences",
    title="closed form, any sentences, n injective",
    says=f"{SAYS}; the data are any sentences and n is injective.",
    latex=LATEX,
    quantifiers="for all realizable sentences, n injective, all queries",
    source=AT,
    wording=Wording.DERIVED,
    domain=SENTENCES,
    assumes=(REALIZABLE, ORTHONORMAL, INJECTIVE),
    parameters=FORMULA,
    mutants=WRONG,
    anchors=(ON_COMPLETE,),
    finding=refuted(
        "pairs of tokens that share no sample have no constraint: with the samples "
        "[o₁ m₁ m₂ q] and [o₂ q] the scores are 2/3, -1/3, -1/3 and 1/2, -1/2"
    ),
    nearest="huang2024/proposition-2/repaired",
    pinned=(FIVE,),
)

FOR_ANY_MAP = Claim(
    id="huang2024/proposition-2@any-map",
    title="closed form, even prefix-closed data, n any map",
    says=f"{SAYS}; the data are all prefixes of texts, and n is any map.",
    latex=LATEX,
    quantifiers="for all realizable prefix-closed data, all n: V → V, all queries",
    source=AT,
    wording=Wording.DERIVED,
    domain=ANY_MAP,
    assumes=(REALIZABLE, ORTHONORMAL, CLOSED),
    parameters=FORMULA,
    mutants=WRONG,
    anchors=(ON_COMPLETE,),
    finding=refuted(
        "if n(o₂) = n(m₂) = q, the texts o₁ m₁ m₂ q m₁, o₂ q q and q o₁ have the "
        "constraints of the five-token counterexample"
    ),
    nearest="huang2024/proposition-2/repaired",
    pinned=(FIVE_IN_TEXTS,),
)

ON_TEXTS = Claim(
    id="huang2024/proposition-2@injective-prefixes",
    title="closed form, prefix-closed data, n injective",
    says=f"{SAYS}; the data are all prefixes of texts and n is injective.",
    latex=LATEX,
    quantifiers="for all realizable prefix-closed data, n injective, all queries",
    source=AT,
    wording=Wording.DERIVED,
    domain=PREFIXES,
    assumes=(REALIZABLE, ORTHONORMAL, INJECTIVE, CLOSED),
    parameters=FORMULA,
    mutants=(
        *WRONG,
        Mutant(
            "n any map",
            why="a query may have two optimal tokens that share no sample",
            domain=ANY_MAP,
        ),
        Mutant(
            "any sentences",
            why="the shorter samples that make k = 1 may be missing",
            domain=SENTENCES,
        ),
    ),
    pinned=(FIVE, FIVE_IN_TEXTS),
)

REPAIRED = Claim(
    id="huang2024/proposition-2/repaired",
    title="closed form on blocks",
    says=(
        "The comparable tokens of a query split into blocks, connected by the "
        "constraints that hold with equality; in a block of k optimal and m "
        "non-optimal tokens these have the scores m/(k+m) and -k/(k+m), and "
        "non-comparable tokens 0, whatever the frequencies and repetitions."
    ),
    latex=(
        r"x_*^\top W^*_{kq} x_q = \frac{m_B}{k_B+m_B}, \quad "
        r"x^\top W^*_{kq} x_q = -\frac{k_B}{k_B+m_B} \quad (x_*, x \in B)"
    ),
    quantifiers="for all realizable data, all n: V → V, all queries",
    source=AT,
    wording=Wording.OURS,
    domain=EVERY,
    assumes=(REALIZABLE, ORTHONORMAL),
    parameters={**FORMULA, "joined": Eq(gap, 1)},
    mutants=(
        *WRONG,
        Mutant(
            "blocks merged",
            why="Proposition 2 as printed: one block for all constraints",
            joined=Ge(gap, 1),
        ),
    ),
    anchors=(
        Anchor(
            "complete orders in one block",
            why="all constraints hold with equality there",
            domain=COMPLETE,
            joined=Ge(gap, 1),
        ),
    ),
    pinned=(FIVE, FIVE_IN_TEXTS),
)

READINGS = (AS_PRINTED, FOR_ANY_MAP, ON_TEXTS)


def steps_of(claim: Claim) -> list[proof.Step] | None:
    """The proof for a claim's domain; None where there is none.

    A complete order is one block, however its blocks are described.
    """
    if claim.domain is COMPLETE:
        return proof.complete(claim)
    if claim.domain is PREFIXES:
        return [*proof.one_optimal_token(), *proof.complete(claim, 1)]
    if "joined" in claim.parameters:
        return [*proof.signs(), *proof.blocks(claim)]
    return None


@check(*READINGS, REPAIRED, grade="symbolic", scope="all")
def conditions_of_optimality(claim: Claim, small_columns: Columns) -> Outcome:
    """Prove the scores from the conditions of Karush, Kuhn and Tucker, for all k and m.

    Complete orders: the multipliers 1/(k+m) fit. Prefix-closed data with n injective:
    the order is complete, with k = 1. Any data: constraints with a multiplier are
    tight, and summing them over a block leaves one score on each side.
    """
    return proof.decide(
        steps_of(claim),
        small_columns[claim.domain.name],
        lambda column: decide.differs(claim, column),
        lambda column: decide.witness(claim, column),
    )


@check(AS_PRINTED, grade="certified", scope="all columns of ≤ 8 comparable tokens")
def small_columns_of_sentences(
    claim: Claim, search: Search, small_columns: Columns
) -> Outcome:
    """Compare with the exact solution of every column, up to names of tokens."""
    says = "orders of up to 8 tokens with one below all optimal ones, all realised"
    return decide.on_small(claim, search, small_columns, says)


@check(FOR_ANY_MAP, ON_TEXTS, grade="certified", scope="all texts on few tokens")
def all_texts_on_few_tokens(
    claim: Claim, search: Search, small_columns: Columns
) -> Outcome:
    """Compare with the exact solution of every column of texts of any length.

    What a text may still do depends on finitely many states (columns/texts.py).
    """
    says = "all texts on up to 5 tokens (smoke: 4), of any length, up to names"
    return decide.on_small(claim, search, small_columns, says)


@check(REPAIRED, grade="certified", scope="all orders of ≤ 7 comparable tokens")
def blocks_of_small_orders(
    claim: Claim, search: Search, small_columns: Columns
) -> Outcome:
    """Compare with the exact solution of every bipartite order, up to names."""
    says = "bipartite orders of up to 7 tokens, also without a common token"
    return decide.on_small(claim, search, small_columns, says)


@check(*READINGS, REPAIRED, grade="certified", scope="random data, |V| ≤ 20")
def wide_columns(claim: Claim, search: Search, random_columns: Columns) -> Outcome:
    """Compare with the exact solution of columns of random data."""
    says = "random data of 4 to 20 tokens, samples of up to 12"
    return decide.on_small(claim, search, random_columns, says)


@check(*READINGS, REPAIRED, grade="property", scope="data of the reading, |V| ≤ 6")
def holds_on_data(claim: Claim, search: Search) -> Outcome:
    """Hunt for data on which problem (3), position by position, has other scores."""
    return decide.on_data(claim, search, f"{claim.domain}, |V| ≤ 6")


@check(REPAIRED, grade="numeric", scope="trained columns, 10^6 steps, |V| ≤ 8")
def training_finds_the_blocks(claim: Claim, trained_columns: Trained) -> Outcome:
    """Train the attention layer and compare its scores, on the scale of problem (3).

    Five data have the constraints of the counterexample, with other frequencies,
    repetitions and samples; the others are random.
    """
    return training.judge(claim, trained_columns)


@without(
    ON_TEXTS,
    REPAIRED,
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
    ON_TEXTS,
    REPAIRED,
    assumption="realizable",
    needed=True,
    grade="certified",
    scope="three tokens, one of them confused",
)
def confused_token(claim: Claim) -> Outcome:
    """With a confused token between them, two tokens differ by 2."""
    return Refuted("the scores are 1, 0, -1", witness=necessity.chain(claim))
