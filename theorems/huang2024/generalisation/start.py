"""Signs of scores in the first steps: small cases, and short runs.

CROWD: tokens o, q, m_1, m_2, m_3 with n(m_1) = n(m_2) = n(m_3) and the sample
[o, m_1, m_2, m_3, q] -> n(o). Assumption 3 holds: one optimal token, and none stands
more than once. But at t = 0 three fifths of the attention say n(m_1): with
T_m = e^(3 Delta/5) / Z, T_q = T_y = e^(Delta/5) / Z and Z their sum over |V| = 5 tokens

    abar = (-(1 - T_y) + 3 T_m + T_q) / 5 > T_q

for large Delta, so that the non-optimal q rises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from theorems.huang2024.data.dataset import Dataset
from theorems.huang2024.generalisation.exact import OPTIMAL, PAIR
from theorems.huang2024.generalisation.growth import eta, t
from theorems.huang2024.generalisation.observed import Trained, classes
from verify import Claim
from verify.numerics import table
from verify.symbolic import formula

Record = dict[str, Any]

# o, q, m_1, m_2, m_3 are 0..4: n(o) = 1, n(q) = 2, n(m_i) = 0
CROWD_DATA = Dataset(
    5, (1, 2, 0, 0, 0), ((0, 2, 3, 4, 1),), (1,), (Fraction(1),), "sentences"
)
PAIR_DATA = Dataset(3, (2, 0, 1), ((0, 1),), (2,), (Fraction(1),), "sentences")

TIMES = (1, 2, 4, 8, 16, 32)
delta = sp.Symbol("Delta", positive=True)


def crowd(claim: Claim) -> Record:
    """A non-optimal token that rises in the first step."""
    fifth, most = sp.exp(delta / 5), sp.exp(3 * delta / 5)
    total = most + 2 * fifth + 2  # two tokens are followed by none in the sample
    mean = (-(1 - fifth / total) + 3 * most / total + fifth / total) / 5
    moves = mean - fifth / total  # the way the query's score goes
    return formula(
        moves * claim.non_optimal,
        "<",
        sp.Integer(0),
        {"Delta": 10},
        "three tokens with one next token: at t = 0 a - abar is negative for the "
        "non-optimal query, which rises",
    )


def kept(claim: Claim) -> Record:
    """A start that is kept: no gradient reaches a non-comparable token."""
    score = sp.Symbol("start", positive=True)
    says = "a non-comparable token that starts with score 1 keeps it"
    return formula(score, "!=", claim.non_comparable, {"start": 1}, says)


def wrong_sign(claim: Claim) -> Record | None:
    """A sign that is claimed and that PAIR does not have at the first step claimed."""
    if not claim.domain.zero_start:
        return kept(claim)
    for name, score in PAIR.items():
        claimed = getattr(claim, str(name))
        inputs = {"t": int(claim.first), "eta": 1}
        says = f"one sample [o, q]: sign of the {name} token at t = {claim.first}"
        sign = sp.sign(score.subs({t: int(claim.first), eta: 1}))
        if sign != claimed:
            if not claimed:
                return formula(score, "!=", claimed, inputs, says)
            return formula(score * claimed, "<=", sp.Integer(0), inputs, says)
    return None


def violation(
    claim: Claim,
    dataset: Dataset,
    margin: float,
    step: float,
    aim: Callable[[float, str], None],
) -> Record | None:
    """A score of the wrong sign in a short run.

    Args:
        claim: With a sign for each type and the first step.
        dataset: What is trained on.
        margin: Delta.
        step: Step size.
        aim: Told how close the worst score is to the wrong side.

    Returns:
        A table of the score, or None. A score that rounds to 0 where a sign is claimed
        is no violation, unless the step is 0.
    """
    from theorems.huang2024.dynamics.engine import run

    first = int(claim.first)
    times = [0] * (first == 0) + [*TIMES]
    begin = [_start(claim, dataset)]
    track = run([dataset], delta=margin, eta=step, at=times, start=begin)[0]
    model = Trained(dataset, track, step, margin)
    closest = -math.inf
    for k, query in product(range(len(times)), dataset.queries):
        column = model.column(query, track.weights[k])
        for name, x in _comparable(model, query):
            claimed = int(getattr(claim, str(name)))
            still = times[k] == 0 or (x, query) not in track.pairs
            if _wrong(column[x], claimed, still=still):
                what = f"{name} token {x} under query {query} at t = {times[k]}"
                return _observed(column[x], claimed, what, dataset)
            closest = max(closest, -column[x] * claimed)
    aim(float(closest), "score closest to the wrong side")
    return None


def _comparable(model: Trained, query: int) -> list[tuple[sp.Symbol, int]]:
    """All tokens with their types, if the query compares any."""
    tokens = classes(model, query)
    return [(name, x) for name in tokens for x in tokens[name] if tokens[OPTIMAL]]


def _start(claim: Claim, dataset: Dataset) -> dict[tuple[int, int], float]:
    if claim.domain.zero_start:
        return {}
    return {
        (x, query): 1.0
        for query in dataset.queries
        for x in dataset.types(query).non_comparable
    }


def _wrong(score: float, claimed: int, *, still: bool) -> bool:
    """Whether a sign is wrong; 0 is, where nothing has moved the score."""
    if not claimed:
        return score != 0
    return score * claimed < 0 or (score == 0 and still)


def _observed(score: float, claimed: int, what: str, dataset: Dataset) -> Record:
    relation = ["<=", ["mul", ["in", "score"], ["in", "claimed"]], 0]
    if not claimed:
        relation = ["!=", ["in", "score"], 0]
    return table(
        {"score": [score], "claimed": [claimed]},
        relation=relation,
        aggregate="all",
        says=f"sign of the {what}, of {dataset}",
    )
