"""Theorem 3, sharpened: signs of scores from the first step on.

Huang, Liang and Yang (NeurIPS 2024), Theorem 3 orders the scores of optimal,
non-comparable and non-optimal tokens for large t. Their signs

    x*ᵀ W_kq^(t) x_q > 0 = x_0ᵀ W_kq^(t) x_q > xᵀ W_kq^(t) x_q

are there from the first step on, for all T ≥ 1 and all step sizes, if Assumption 3
counts tokens by their next token. For injective n it does; for other maps n the first
steps can lift a non-optimal token.
"""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st
from sympy import Integer

from theorems.huang2024 import PAPER
from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.strategies import datasets
from theorems.huang2024.generalisation import growth, start
from theorems.huang2024.generalisation.setting import (
    ANY_ALIKE,
    COUNTS_ALIKE,
    ZERO_START,
    counts_alike,
)
from theorems.huang2024.model import ORTHONORMAL, REALIZABLE
from verify import (
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    necessity,
)
from verify.search import Search

SIGNS = Claim(
    id="huang2024/theorem-3/order/signs",
    title="signs of scores from the first step on",
    says=(
        "If Assumption 3 counts tokens by their next token, as it does for injective "
        "n, then from the first step on optimal tokens have positive scores, "
        "non-optimal ones negative scores, and non-comparable ones exactly zero."
    ),
    latex=r"x_*^\top W^{(t)}_{kq} x_q > 0 = x_0^\top W^{(t)}_{kq} x_q > "
    r"x^\top W^{(t)}_{kq} x_q",
    quantifiers="for all such data, any n, all T ≥ 1, t ≥ 1, all η, η_0 > 0",
    source=PAPER.at("Theorem 3", "sharpened: no Ω"),
    wording=Wording.OURS,
    domain=ANY_ALIKE,
    assumes=(REALIZABLE, ORTHONORMAL, COUNTS_ALIKE, ZERO_START),
    parameters={
        "optimal": Integer(1),
        "non_comparable": Integer(0),
        "non_optimal": Integer(-1),
        "first": Integer(1),
    },
    mutants=(
        Mutant("optimal tokens at zero", why="they rise", optimal=Integer(0)),
        Mutant("optimal tokens negative", why="they rise", optimal=Integer(-1)),
        Mutant("non-optimal tokens at zero", why="they fall", non_optimal=Integer(0)),
        Mutant(
            "non-comparable tokens positive",
            why="no sample of the query contains them: their gradient is 0",
            non_comparable=Integer(1),
        ),
        Mutant("from the start on", why="at t = 0 all scores are 0", first=Integer(0)),
        Mutant(
            "tokens counted one by one",
            why=(
                "three tokens with one next token outweigh the optimal one, and lift "
                "the others in the first step"
            ),
            domain=dataclasses.replace(ANY_ALIKE, alike=False),
        ),
        Mutant(
            "another start",
            why="a non-comparable token keeps the score that it starts with",
            domain=dataclasses.replace(ANY_ALIKE, zero_start=False),
        ),
    ),
)


@check(SIGNS, grade="symbolic", scope="all")
def signs_persist(claim: Claim) -> Outcome:
    """Prove by induction on t that all moves have their sign; small cases refute."""
    if not claim.domain.alike:
        witness = start.crowd(claim)
        return Refuted(witness["says"], witness=witness)
    witness = start.wrong_sign(claim)
    if witness is not None:
        return Refuted(witness["says"], witness=witness)
    return Holds("each move has its sign at every step", steps=growth.signs())


DATA = st.one_of(
    datasets(injective=None, max_size=5, max_length=6, repeats=3, skew=1.0),
    datasets(kind="prefixes", injective=None, max_size=5, max_length=6, skew=1.0),
)
SETTINGS = st.tuples(
    DATA, st.sampled_from([0.1, 1.0, 5.0, 20.0]), st.sampled_from([0.01, 0.3, 2.0])
)
PINNED = ((start.CROWD_DATA, 20.0, 0.3), (start.PAIR_DATA, 1.0, 0.3))


@check(SIGNS, grade="property", scope="|V| ≤ 5, L_max ≤ 6, Δ ≤ 20, η ≤ 2, t ≤ 32")
def signs_in_short_runs(claim: Claim, search: Search) -> Outcome:
    """Train for some steps; aim at scores near the wrong side of zero."""

    def violation(instance: tuple[Dataset, float, float]) -> dict | None:
        dataset, delta, step = instance
        if claim.domain.alike and not counts_alike(dataset):
            search.discard("Assumption 3 fails with tokens counted by next token")
        return start.violation(claim, dataset, delta, step, search.aim)

    return search.for_all(
        SETTINGS,
        lambda instance: violation(instance) is not None,
        lambda instance: violation(instance) or {},
        searched="sentences and prefixes, any map n",
        pinned=PINNED,
        scale=0.5,
    )


@necessity(
    SIGNS,
    assumption="counts-alike",
    needed=True,
    grade="symbolic",
    scope="one sample of five tokens that satisfies Assumption 3",
)
def with_tokens_counted_one_by_one(claim: Claim) -> Outcome:
    """Three tokens of one next token against one optimal token."""
    witness = start.crowd(claim)
    return Refuted(witness["says"], witness=witness)


@necessity(
    SIGNS,
    assumption="zero-start",
    needed=True,
    grade="symbolic",
    scope="one sample of two tokens",
)
def with_another_start(claim: Claim) -> Outcome:
    """A non-comparable token keeps its score."""
    witness = start.kept(claim)
    return Refuted(witness["says"], witness=witness)
