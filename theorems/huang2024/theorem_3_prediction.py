"""Theorem 3, second part: what is predicted after an unseen sentence.

Huang, Liang and Yang (NeurIPS 2024), Theorem 3; proof in Appendix D.2.

If the trained transformer takes an input X with query x_q that consists of a
non-comparable token x_0 and of non-optimal tokens, then it predicts n(x_0) with high
probability.

Non-comparable tokens have score 0 exactly, non-optimal ones at most -(ct - C)
(generalisation/growth.py). So x_0 has attention 3/4 or more once t exceeds a constant,
and n(x_0) has probability 1 - (|V|-1)ε or more after T ≥ 2‖W*_ov‖/η_0 log(1/ε) steps.

Deviations from the text:
    1. "With high probability" is read as in the words after Theorem 2: with probability
       1 - O(ε) for T = Ω(log(1/ε)).
    2. X has at most L tokens and t may depend on L: e^{ct} copies of a non-optimal
       token outweigh x_0.
    3. Whether X may contain several non-comparable tokens is not clear: "a
       non-comparable token x_0" says one, which may stand several times as in the
       proof. Reading @several-types takes two.
    4. The query is a token of X, hence non-optimal under its own order. For a query
       that is optimal there the statement is empty.
Not decided here: inputs with optimal tokens (example_2_generalisation.py has one).
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.huang2024 import PAPER
from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.data.strategies import datasets
from theorems.huang2024.dynamics.engine import run
from theorems.huang2024.generalisation import answers, observed
from theorems.huang2024.generalisation.answers import (
    BELOW,
    FIRST,
    MAJORITY,
    ONE,
    SECOND,
    SEVERAL,
    WITH_OPTIMAL,
    Asked,
    Question,
)
from theorems.huang2024.generalisation.exact import eps
from theorems.huang2024.generalisation.growth import L, V, eta, t
from theorems.huang2024.generalisation.observed import LATE, Trained
from theorems.huang2024.generalisation.setting import (
    ANY_ALIKE,
    ANY_MAP,
    COUNTS_ALIKE,
    INJECTIVE,
    LENGTH,
    NORMALISED,
    ZERO_START,
)
from theorems.huang2024.model import COUNTS, ORTHONORMAL, REALIZABLE
from theorems.huang2024.model import INJECTIVE as INJECTIVE_MAP
from theorems.huang2024.stage_one.notation import S
from theorems.huang2024.stage_one.notation import eta as eta_0
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Requires,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula
from verify.verdict import FALSIFICATION

SAYS = (
    "After T, t = Ω(log(1/ε)) steps an input that consists of a non-comparable token "
    "x_0 and of non-optimal tokens, the query among them, is followed by n(x_0) with "
    "probability 1 - O(ε)"
)
LATEX = r"[T_{\theta^{(t)}}(X)]_{I(n(x_0))} \ge 1 - (|V|-1)\epsilon"
SOURCE = PAPER.at("Theorem 3", "second part; proof in Appendix D.2")
BASE = (REALIZABLE, ORTHONORMAL, COUNTS, NORMALISED, ZERO_START, LENGTH)
STEPS = 2 * S / eta_0 * sp.log(1 / eps)
PARAMETERS = {"predicted": FIRST, "miss": (V - 1) * eps, "stage_1": STEPS}


def _mutants(question: Question) -> tuple[Mutant, ...]:
    return (
        Mutant(
            "the successor of a non-optimal token",
            why="its score falls without bound",
            predicted=BELOW,
        ),
        Mutant(
            "1 - ε³", why="at attention 1 it is not that sure", miss=(V - 1) * eps**3
        ),
        Mutant(
            "a fourth of the steps in stage 1",
            why="Δ is then log(1/ε)/2, and no probability exceeds 1/(1 + e^-Δ)",
            stage_1=STEPS / 4,
        ),
        Mutant(
            "an optimal token in the input",
            why="the model attends to it",
            domain=dataclasses.replace(question, inputs=WITH_OPTIMAL),
        ),
    )


AS_PRINTED = Claim(
    id="huang2024/theorem-3/prediction@injective",
    title="prediction after one type of non-comparable token, n injective",
    says=SAYS + "; n is injective.",
    latex=LATEX,
    quantifiers="for all data that satisfy Assumptions 1 and 3, n injective",
    source=SOURCE,
    wording=Wording.DERIVED,
    domain=Question(INJECTIVE, ONE),
    assumes=(*BASE, INJECTIVE_MAP),
    parameters=PARAMETERS,
    mutants=_mutants(Question(INJECTIVE, ONE)),
)

ANY = Claim(
    id="huang2024/theorem-3/prediction@any-map",
    title="prediction after one type of non-comparable token, any n",
    says=SAYS + "; n is any map.",
    latex=LATEX,
    quantifiers="for all data that satisfy Assumptions 1 and 3",
    source=SOURCE,
    wording=Wording.DERIVED,
    domain=Question(ANY_MAP, ONE),
    assumes=BASE,
    parameters=PARAMETERS,
    mutants=_mutants(Question(ANY_MAP, ONE)),
    requires=Requires(
        (FALSIFICATION,),
        why=(
            "proved where Assumption 3 counts tokens by their next token "
            "(prediction/counts); without that only searched"
        ),
    ),
)

BY_COUNTS = Claim(
    id="huang2024/theorem-3/prediction/counts",
    title="prediction for any n, counts by next token",
    says=(
        "The same for any map n, however many optimal tokens a sample has, if "
        "Assumption 3 counts tokens by their next token."
    ),
    latex=LATEX,
    quantifiers="for all data that satisfy Assumptions 1 and 3, counted so",
    source=SOURCE,
    wording=Wording.OURS,
    domain=Question(ANY_ALIKE, ONE),
    assumes=(REALIZABLE, ORTHONORMAL, COUNTS_ALIKE, NORMALISED, ZERO_START, LENGTH),
    parameters=PARAMETERS,
    mutants=_mutants(Question(ANY_ALIKE, ONE)),
)

SEVERAL_TYPES = Claim(
    id="huang2024/theorem-3/prediction@several-types",
    title="prediction after several types of non-comparable tokens",
    says=SAYS + "; the input may contain other non-comparable tokens as well.",
    latex=LATEX,
    quantifiers="for all data that satisfy Assumptions 1 and 3, n injective",
    source=SOURCE,
    wording=Wording.GUESSED,
    domain=Question(INJECTIVE, SEVERAL),
    assumes=(*BASE, INJECTIVE_MAP),
    parameters=PARAMETERS,
    mutants=_mutants(Question(INJECTIVE, ONE)),
    anchors=(
        Anchor(
            "one type",
            why="then it takes all of the attention",
            domain=Question(INJECTIVE, ONE),
        ),
    ),
    finding=refuted(
        "two non-comparable tokens, each standing once, have the same attention for "
        "all T and t: their successors tie, and neither is more likely than 1/2"
    ),
    nearest="huang2024/theorem-3/prediction/majority",
)

MOST = Claim(
    id="huang2024/theorem-3/prediction/majority",
    title="the most frequent next token among non-comparable tokens",
    says=(
        "If the input consists of non-comparable and non-optimal tokens, then the next "
        "token that most of its non-comparable tokens have is predicted with "
        "probability 1 - (|V|-1)ε or more after T ≥ 2L‖W*_ov‖/η_0 log(1/ε) steps of "
        "stage 1 and more than a constant of stage 2; equally frequent ones tie."
    ),
    latex=(
        r"\hat i = \arg\max_i \#\{\ell : x_\ell \in M_{x_q}, n(x_\ell) = i\}, \quad "
        r"[T_{\theta^{(t)}}(X)]_{\hat i} \ge 1 - (|V|-1)\epsilon"
    ),
    quantifiers="for all data that satisfy Assumptions 1 and 3, n injective",
    source=SOURCE,
    wording=Wording.OURS,
    domain=Question(INJECTIVE, MAJORITY),
    assumes=(*BASE, INJECTIVE_MAP),
    parameters=PARAMETERS | {"stage_1": L * STEPS},
    mutants=(
        Mutant(
            "a rarer non-comparable token",
            why="attention on tokens of score 0 is in proportion to their number",
            predicted=SECOND,
        ),
        Mutant(
            "the successor of a non-optimal token",
            why="its score falls without bound",
            predicted=BELOW,
        ),
        Mutant(
            "as many as most",
            why="two equally frequent ones tie",
            domain=Question(INJECTIVE, SEVERAL),
        ),
        Mutant(
            "a fourth of log(1/ε) in stage 1",
            why="a lead of one copy in L is worth Δ/L at most",
            stage_1=STEPS / 4,
        ),
    ),
)


trained = observed.trained


@evidence
def asked(trained: list[Trained], seed: int) -> list[Asked]:
    """Sentences of all sorts, asked of all models."""
    return answers.ask(trained, np.random.default_rng(seed))


@check(AS_PRINTED, BY_COUNTS, SEVERAL_TYPES, MOST, grade="symbolic", scope="all")
def follows_from_scores(claim: Claim) -> Outcome:
    """Bound attention and output by the scores that are proved."""
    return answers.decide(claim)


@check(
    AS_PRINTED,
    ANY,
    BY_COUNTS,
    SEVERAL_TYPES,
    MOST,
    grade="property",
    scope=f"|V| ≤ 6, inputs of up to 10 tokens, t = {LATE}",
)
def trained_models_answer(claim: Claim, asked: list[Asked]) -> Outcome:
    """Ask trained models and compare with the claimed probability."""
    return answers.judged(claim, asked)


DATA = st.one_of(
    datasets(injective=None, max_size=5, max_length=7, repeats=3, skew=2.0),
    datasets(kind="prefixes", injective=None, max_size=5, max_length=7, skew=2.0),
)
SETTINGS = st.tuples(DATA, st.sampled_from([1.0, 5.0, 20.0]), st.integers(0, 99))
SOON = 2_000


@check(ANY, grade="property", scope=f"|V| ≤ 5, L_max ≤ 7, Δ ≤ 20, η = 1, t = {SOON}")
def hunt_for_a_wrong_answer(claim: Claim, search: Search) -> Outcome:
    """Aim at non-optimal tokens whose scores fall slowly; nothing is proved here."""

    def worst(instance: tuple[Dataset, float, int]) -> dict[str, Any] | None:
        dataset, delta, seed = instance
        plain = not claim.domain.setting.normalised
        track = run([dataset], delta=delta, eta=1.0, at=[SOON], plain=plain)[0]
        model = Trained(dataset, track, 1.0, delta, not plain)
        asked = answers.ask([model], np.random.default_rng(seed))
        rows, found, claimed = answers.compared(claim, asked)
        if not rows:
            search.discard("no query admits such an input")
        search.aim(max(slowest(model)), "score of a non-optimal token")
        i = int(np.argmax(found - claimed))
        if found[i] > claimed[i]:
            return answers.too_sure(claim, rows[i], found[i], claimed[i])
        return None

    return search.for_all(
        SETTINGS,
        lambda instance: worst(instance) is not None,
        lambda instance: worst(instance) or {},
        searched="sentences and prefixes, any map n",
        scale=0.1,
    )


def slowest(model: Trained) -> list[float]:
    """For each query the largest score of a non-optimal token."""
    return [
        float(model.column(query)[sorted(below)].max())
        for query in model.dataset.queries
        if (below := model.dataset.types(query).non_optimal)
    ]


@necessity(
    AS_PRINTED,
    assumption="length",
    needed=True,
    grade="symbolic",
    scope="one sample of two tokens, any T and t",
)
def without_a_bound_on_the_length(claim: Claim) -> Outcome:
    """More copies of a non-optimal token than e^{-score} outweigh x_0."""
    others = sp.Symbol("copies", positive=True) * sp.exp(-t * eta / sp.sqrt(2))
    masses = [sp.exp(answers.depth(claim) * x / (1 + others)) for x in (1, others)]
    likely = masses[0] / (masses[0] + masses[1] + V - 2)
    says = "one sample [o, q]: q, standing 2000 times, has more attention than x_0"
    at = {"copies": 2000, "t": 10, "eta": 1, "V": 3, "epsilon": Fraction(1, 10)}
    return Refuted(says, witness=formula(1 - likely, ">", claim.miss, at, says))
