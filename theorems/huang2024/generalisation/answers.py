"""What the trained model answers to sentences outside its training data.

The attention on a token is in proportion to e^score, and non-comparable tokens have
score 0. With Phi_i the attention on tokens followed by i, the probability of i is
e^(Delta Phi_i) / sum_j e^(Delta Phi_j).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.huang2024.generalisation import growth
from theorems.huang2024.generalisation.exact import LOWEST, MIDDLE, OPTIMAL, PAIR, eps
from theorems.huang2024.generalisation.growth import L, V
from theorems.huang2024.generalisation.observed import LATE, Trained, classes
from theorems.huang2024.generalisation.setting import Setting
from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.notation import S
from theorems.huang2024.stage_one.notation import eta as eta_0
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Holds, Inconclusive, Outcome, Refuted, Tightness, recheck
from verify.claim import Claim
from verify.numerics import table
from verify.slack import slack
from verify.symbolic import formula

Floats = NDArray[np.float64]

ONE, SEVERAL, MAJORITY, WITH_OPTIMAL = (
    "one type of non-comparable token",
    "two types of non-comparable tokens, equally often",
    "several types of non-comparable tokens, one next token the most frequent",
    "a non-comparable and an optimal token",
)

FIRST, SECOND, BELOW = sp.symbols("n_x_0 n_x_1 n_x")
"""Next tokens: of x_0, the (most frequent) non-comparable token, of another
non-comparable one, and of a non-optimal one."""


@dataclass(frozen=True)
class Question:
    """Which sentences are asked, of which models.

    Attributes:
        setting: Data and training.
        inputs: What stands in a sentence besides non-optimal tokens, the query
            among them.
    """

    setting: Setting
    inputs: str

    def __str__(self) -> str:
        return f"{self.setting}; {self.inputs}"


def depth(claim: Claim) -> sp.Expr:
    """Delta after the claimed number of steps of stage 1."""
    return sp.simplify(claim.stage_1 * eta_0 / S)


# ------------------------------------------------------------------------------- proof


_LOW = {L: 1, sp.Symbol("C", positive=True): 1, sp.Symbol("r", positive=True): 0}


@functools.cache
def one_type() -> tuple[str, ...]:
    """1 - T <= (|V|-1) e^(-Delta/2) once e^-score >= 3(L-1) for non-optimal tokens."""
    C, r, A, B = sp.symbols("C r A B", positive=True)
    low = {L: 2, r: 0, C: 1}
    return (
        *growth.growth(),
        positive(
            "φ_0 is least for one copy of x_0 and L - 1 other tokens",
            C / (C + (L - 1) * r) - 1 / (1 + (L - 1) * r),
            low,
        ),
        equal(
            "φ_0 ≥ 3/4 for scores ≤ -log(3(L-1)), which t ≥ (that + C)/c steps give",
            1 / (1 + (L - 1) / (3 * (L - 1))),
            sp.Rational(3, 4),
        ),
        positive(
            "1 - T ≤ (|V|-1) e^(Δ/4) / e^(3Δ/4)", B / A - B / (A + B), {A: 0, B: 0}
        ),
    )


@functools.cache
def majority() -> tuple[str, ...]:
    """1 - T <= (|V|-1) e^(-Delta/(2L)) once the others have attention 1/(4L)."""
    psi = 1 / (4 * L)
    C, r = sp.symbols("C r", positive=True)
    share = L * r / (C + L * r)
    return (
        *one_type(),
        positive("attention on others rises with e^score", sp.diff(share, r), _LOW),
        positive(
            "it is at most 1/(4L) for scores ≤ -log(4L²)",
            psi - share.subs(r, 1 / (4 * L**2)),
            _LOW,
        ),
        positive(
            "one more copy leads by (1 - ψ)/L - ψ ≥ 1/(2L) for ψ ≤ 1/(4L)",
            (1 - psi) / L - psi - 1 / (2 * L),
            _LOW,
        ),
    )


def proof(claim: Claim) -> tuple[str, ...]:
    """The steps that prove a claim; empty if they do not."""
    inputs, setting = claim.domain.inputs, claim.domain.setting
    if not (setting.alike and setting.normalised and setting.zero_start):
        return ()
    if claim.predicted != FIRST or inputs not in {ONE, MAJORITY}:
        return ()
    half = 2 if inputs == ONE else 2 * L
    bound = (V - 1) * sp.simplify(sp.exp(-depth(claim) / half))
    if not nonnegative(sp.simplify(claim.miss - bound), {V: 2, eps: 0}):
        return ()
    steps = one_type() if inputs == ONE else majority()
    return (*steps, f"e^(-Δ/{half}) is at most {bound / (V - 1)} for T as claimed")


# ------------------------------------------------------------------------- exact cases

COPIES = {
    ONE: {FIRST: 1, BELOW: 1},
    SEVERAL: {FIRST: 1, SECOND: 1, BELOW: 1},
    MAJORITY: {FIRST: 2, SECOND: 1, BELOW: 1},
    WITH_OPTIMAL: {OPTIMAL: 1, FIRST: 1, BELOW: 1},
}
SURE = 100  # steps of length 1 after which score differences exceed 70
SCORES = {FIRST: MIDDLE, SECOND: MIDDLE, BELOW: LOWEST, OPTIMAL: OPTIMAL}


def probability(inputs: str, answer: sp.Symbol, margin: sp.Expr) -> sp.Expr:
    """Probability of an answer of PAIR (exact.py), by T and t; every next token new."""
    terms = {
        role: copies * sp.exp(PAIR[SCORES[role]])
        for role, copies in COPIES[inputs].items()
    }
    total = sum(terms.values())
    masses = {role: sp.exp(margin * term / total) for role, term in terms.items()}
    return masses[answer] / (sum(masses.values()) + V - len(masses))


def counterexample(claim: Claim) -> dict[str, Any] | None:
    """A sentence to which PAIR gives another answer, or this one less surely."""
    inputs = claim.domain.inputs
    likely = probability(inputs, claim.predicted, depth(claim))
    length = sum(COPIES[inputs].values())
    says = (
        f"one sample [o, q], {inputs}: after {SURE} steps {claim.predicted} is less "
        "likely than claimed"
    )
    for small in (Fraction(1, 10), Fraction(1, 1000)):
        values = {"V": 4, "L": length, "epsilon": small, "t": SURE, "eta": 1}
        record = formula(1 - likely, ">", claim.miss, values, says)
        if recheck.decide(record).valid:
            return record
    return None


def decide(claim: Claim) -> Outcome:
    """Prove a claim about answers, or refute it at an exact case."""
    if steps := proof(claim):
        return Holds("the non-comparable token has attention 3/4 or more", steps=steps)
    if witness := counterexample(claim):
        return Refuted(str(witness["says"]), witness=witness)
    return Inconclusive("neither proof nor counterexample", cause=Cause.NO_PROOF)


# --------------------------------------------------------------------- trained models


@dataclass(frozen=True, eq=False)
class Asked:
    """One sentence, asked of one model.

    Attributes:
        model: Whom.
        sentence: The tokens; the last one is the query.
        inputs: Which sort of sentence.
        doubt: log(1 - probability) of each answer.
    """

    model: Trained
    sentence: tuple[int, ...]
    inputs: str
    doubt: dict[sp.Symbol, float]


def doubts(model: Trained, sentence: Sequence[int]) -> Floats:
    """log(1 - T_i) for all tokens i, without cancellation."""
    n, size = model.dataset.successor, model.dataset.size
    scores = model.column(sentence[-1])[list(sentence)]
    weights = np.exp(scores - scores.max())
    masses = np.zeros(size)
    np.add.at(masses, [n[x] for x in sentence], weights / weights.sum())
    logits = model.delta * masses
    total = np.logaddexp.reduce(logits)
    return np.array([
        np.logaddexp.reduce(np.delete(logits, i)) - total for i in range(size)
    ])


def ask(models: Sequence[Trained], rng: np.random.Generator) -> list[Asked]:
    """Ask every model about every query that admits such a sentence."""
    return [
        question
        for model in models
        for query in model.dataset.queries
        if query in model.dataset.types(query).non_optimal
        for question in _of_query(model, query, rng)
    ]


def _of_query(model: Trained, query: int, rng: np.random.Generator) -> Iterator[Asked]:
    tokens, n = classes(model, query), model.dataset.successor
    free = [int(x) for x in rng.permutation(tokens[MIDDLE])]
    if not free:
        return
    first = free[0]
    second = next((x for x in free if n[x] != n[first]), None)
    best = int(rng.choice(tokens[OPTIMAL]))
    heads = {ONE: [first], WITH_OPTIMAL: [first, best]}
    if second is not None:
        heads |= {SEVERAL: [first, second], MAJORITY: [first, first, second]}
    for inputs, head in heads.items():
        below = rng.choice(tokens[LOWEST], rng.integers(0, 4)).tolist()
        body = rng.permutation(head * int(rng.integers(1, 3)) + below).tolist()
        sentence = (*body, query)
        doubt = doubts(model, sentence)
        answers = {FIRST: n[first], BELOW: n[query]}
        if second is not None:
            answers[SECOND] = n[second]
        found = {role: float(doubt[i]) for role, i in answers.items()}
        yield Asked(model, sentence, inputs, found)


def judged(claim: Claim, asked: Sequence[Asked]) -> Outcome:
    """Compare probabilities with the claimed ones, at the ε that T belongs to."""
    rows, found, claimed = compared(claim, asked)
    excess = found - claimed
    worst = int(np.argmax(excess))
    common: dict[str, Any] = {
        "n": len(rows),
        "searched": f"sentences of up to 10 tokens, t = {LATE}, Δ from 0.05 to 60",
        "measured": float(excess[worst]),
        "target": 0.0,
        "margin": float(-excess[worst]),
    }
    if excess[worst] <= 0:
        sizes = Counter(one.model.dataset.size for one in rows)
        reason = f"all {len(rows)} answers as claimed, |V| in {sorted(sizes)}"
        ratio = Tightness("1 - T", float(np.exp(excess[worst])))
        drawn = slack({"1 - T": np.exp(excess).tolist()}, title="Slack of the answers")
        return Holds(reason, tightness=(ratio,), figures=(drawn,), **common)
    witness = too_sure(claim, rows[worst], found[worst], claimed[worst])
    return Refuted("an answer is less sure than claimed", witness=witness, **common)


def too_sure(claim: Claim, one: Asked, found: float, claimed: float) -> dict[str, Any]:
    """A table of one answer that is less sure than claimed."""
    return table(
        {"found": [found], "claimed": [claimed]},
        relation=[">", ["in", "found"], ["in", "claimed"]],
        aggregate="all",
        says=(
            f"log(1 - T) of {claim.predicted} after {one.sentence}, "
            f"Δ = {one.model.delta:.3g}, trained on {one.model.dataset}"
        ),
    )


def compared(
    claim: Claim, asked: Sequence[Asked]
) -> tuple[list[Asked], Floats, Floats]:
    """What a claim is about, with log(1 - T) found and claimed.

    Delta fixes T, and T fixes epsilon.
    """
    rows = [
        one
        for one in asked
        if one.inputs == claim.domain.inputs
        and one.model.belongs(claim.domain.setting)
        and claim.predicted in one.doubt
    ]
    found = np.array([one.doubt[claim.predicted] for one in rows])
    per_log = sp.lambdify(L, sp.simplify(depth(claim) / sp.log(1 / eps)))
    miss = sp.lambdify((V, eps), claim.miss)
    claimed = [
        np.log(
            miss(
                one.model.dataset.size,
                np.exp(-one.model.delta / float(per_log(len(one.sentence)))),
            )
        )
        for one in rows
    ]
    return rows, found, np.array(claimed)
