"""Example 2: what the transformer trained on Example 1 answers, for all T, t >= 1.

Under each query of Example 1 one token is optimal and the rest of its samples' tokens
are non-optimal, so that growth.py gives the signs of all scores, and columns of W_kq
sum to 0. With exponentials y, z > 1 that depend on query, T and t, e^score is

    query S:  S y, P 1/y        query O:  O yz, S 1/y, V 1/z
    query V:  V y, S 1/y        query P:  O y, P 1/y           and 1 for other tokens.

Attention is in proportion to it; the next token with the largest attention has the
largest probability, whatever Delta > 0 is.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from theorems.huang2024.data.dataset import EXAMPLE_1, S
from theorems.huang2024.generalisation import growth
from theorems.huang2024.generalisation.setting import counts_alike, one_optimal
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Claim, Undecided
from verify.numerics import table
from verify.symbolic import formula

TOKENS = "SVOP"
FOLLOWS = dict(zip("SVOP", "VOPS", strict=True))
y, z = sp.symbols("y z", positive=True)
before = sp.Symbol("before", positive=True)  # e to the score that S starts with
SCORES = {
    "S": {"S": y, "P": 1 / y},
    "V": {"V": y, "S": 1 / y},
    "O": {"O": y * z, "S": 1 / y, "V": 1 / z},
    "P": {"O": y, "P": 1 / y},
}
SAMPLES = ("S", "SV", "SVO", "V", "VO", "O", "OP", "P", "PS")
INPUTS = ("SP", "OSP", "VP", "SVP", "VSP")

ZERO, ELSEWHERE = (
    "W_kq starts in zero",
    "S starts with a negative score under P",
)
INSTANCE = {y: Fraction(2), z: Fraction(3), before: Fraction(1, 100)}


def signs_apply() -> tuple[str, ...]:
    """Verify on the data what the table of exponentials says; steps of the proof."""
    tokens = dict(enumerate(TOKENS))
    for query, scores in SCORES.items():
        types = EXAMPLE_1.types(TOKENS.index(query))
        above = {tokens[x] for x in types.optimal}
        below = {tokens[x] for x in types.non_optimal}
        rising = {x for x, score in scores.items() if nonnegative(score - 1, _low())}
        if above != rising or below != scores.keys() - rising or types.confused:
            raise Undecided(f"types under {query} are others", Cause.NO_PROOF)
        if sp.prod(scores.values()) != 1:
            raise Undecided(f"scores under {query} do not sum to 0", Cause.NO_PROOF)
    if not (counts_alike(EXAMPLE_1) and one_optimal(EXAMPLE_1)):
        raise Undecided("Assumption 3 fails", Cause.NO_PROOF)
    return (
        *growth.signs(),
        "types of all tokens under all queries are those of the table",
        "columns sum to 0, since sum_x φ_x (a_x - ā) = 0",
    )


def _low() -> dict[sp.Symbol, int]:
    return {y: 1, z: 1, before: 0}


def masses(sentence: str, start: str = ZERO) -> dict[str, sp.Expr]:
    """Attention on the tokens followed by each token, up to a common factor."""
    scores = SCORES[sentence[-1]]
    total: dict[str, sp.Expr] = dict.fromkeys(TOKENS, sp.Integer(0))
    for x in sentence:
        moved = before if start == ELSEWHERE and x == "S" else sp.Integer(1)
        total[FOLLOWS[x]] += scores.get(x, moved)
    return total


def wrong(sentence: str, answer: str, start: str = ZERO) -> dict[str, Any] | None:
    """Why an answer is not the one for all T and t, or None if it is proved.

    Args:
        sentence: Tokens.
        answer: The token predicted, or several that tie, as in ``O=V``.
        start: Where training starts.

    Returns:
        A formula at y = 2, z = 3, values that small and large steps reach.

    Raises:
        Undecided: Neither way.
    """
    mass, best = masses(sentence, start), answer.split("=")
    for i in TOKENS:
        difference = sp.factor(mass[best[0]] - mass[i])
        if i in best and difference == 0:
            continue
        if i not in best and difference != 0 and nonnegative(difference, _low()):
            continue  # strictly: y, z > 1, and some monomial is left
        says = f"after {sentence}, {answer} against {i}: masses in terms of e^score"
        op = "!=" if i in best else "<="
        value = difference.subs({s: sp.Rational(x) for s, x in INSTANCE.items()})
        if (value != 0) if op == "!=" else value <= 0:
            at = {symbol.name: x for symbol, x in INSTANCE.items()}
            return formula(mass[best[0]], op, mass[i], at, says)
        raise Undecided(f"{says} is not decided", Cause.NO_PROOF)
    return None


def stated(claim: Claim) -> Iterable[tuple[str, str]]:
    """The sentences that a claim answers; a tie is stated for both orders."""
    yield from ((s, getattr(claim, s)) for s in ("SP", "OSP", "VP", "SVP"))
    yield "VSP", claim.SVP


def label(sample: str) -> str:
    """What follows a sample of Example 1."""
    indices = tuple(TOKENS.index(x) for x in sample)
    return TOKENS[EXAMPLE_1.labels[EXAMPLE_1.sentences.index(indices)]]


def observed_wrong(
    sentence: str, answer: str, weights: np.ndarray, rounding: float
) -> dict[str, Any] | None:
    """Why an answer is not that of one trained model, as a table.

    Args:
        sentence: Tokens.
        answer: As for :func:`wrong`.
        weights: Attention, or probability, of each next token, ``(4,)``.
        rounding: Bound on their errors.

    Returns:
        The table, or None.
    """
    best = answer.split("=")
    value = dict(zip(TOKENS, weights.tolist(), strict=True))
    for i in TOKENS:
        lead = value[best[0]] - value[i]
        tie = i in best
        if (abs(lead) > rounding) if tie else (lead <= rounding):
            relation = (
                [">", ["abs", ["sub", ["in", "claimed"], ["in", "other"]]], ["in", "u"]]
                if tie
                else ["<=", ["sub", ["in", "claimed"], ["in", "other"]], ["in", "u"]]
            )
            columns = {"claimed": [value[best[0]]], "other": [value[i]]}
            return table(
                {**columns, "u": [rounding]},
                relation=relation,
                aggregate="all",
                says=f"after {sentence}: {answer} against {i}, trained",
            )
    return None


def attention(scores: np.ndarray, sentence: str) -> np.ndarray:
    """Attention on tokens followed by each token, from W in the token basis."""
    indices = [TOKENS.index(x) for x in sentence]
    weights = np.exp(scores[indices, indices[-1]])
    total = np.zeros(4)
    np.add.at(total, [TOKENS.index(FOLLOWS[x]) for x in sentence], weights)
    return total / weights.sum()


START = {(S, TOKENS.index("P")): -5.0}
"""The start ``ELSEWHERE`` in trained models."""
