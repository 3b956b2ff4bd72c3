"""Example 2: predictions after sentences that Example 1 does not contain.

Huang, Liang and Yang (NeurIPS 2024), Example 2: the transformer trained on Example 1
answers V to SP, since S is not comparable under P and comes before P after training,
and P to OSP, since O stays above S.

This holds for all T ≥ 1 and t ≥ 1 and all step sizes, not only late in training: scores
have their sign from the first step on (generalisation/growth.py).

Deviations from the text:
    1. "The trained transformer" has T, t ≥ 1; the next token predicted is the one with
       the largest probability.
    2. Of VP the text says that P might be the better answer; the trained transformer
       says O. SVP and VSP, which are not in the text, show a tie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from sympy import Integer

from theorems.huang2024 import PAPER
from theorems.huang2024.data.dataset import EXAMPLE_1
from theorems.huang2024.generalisation import grammar
from theorems.huang2024.generalisation.grammar import (
    ELSEWHERE,
    FOLLOWS,
    INPUTS,
    SAMPLES,
    START,
    TOKENS,
    ZERO,
)
from theorems.huang2024.generalisation.setting import ZERO_START
from theorems.huang2024.model import ORTHONORMAL
from verify import (
    Claim,
    Figure,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Series,
    Wording,
    check,
    evidence,
)
from verify.numerics import gamma
from verify.profiles import Profile
from verify.search import Search

CLAIM = Claim(
    id="huang2024/example-2",
    kind=Kind.EXAMPLE,
    title="predictions after SP and OSP",
    says=(
        "Trained on Example 1, the transformer predicts V after SP, P after OSP, O "
        "after VP and the next token of each of the nine samples; after SVP and VSP "
        "the tokens V and O are equally likely."
    ),
    latex=r"SP \mapsto V, \quad OSP \mapsto P, \quad VP \mapsto O",
    quantifiers="for all T ≥ 1, t ≥ 1, all η_0, η > 0",
    source=PAPER.at("Example 2"),
    wording=Wording.PRINTED,
    domain=ZERO,
    assumes=(ORTHONORMAL, ZERO_START),
    parameters={
        "SP": "V",
        "OSP": "P",
        "VP": "O",
        "SVP": "O=V",
        "samples": Integer(9),
    },
    mutants=(
        Mutant("S after SP", why="n(P) = S, but P is below S", SP="S"),
        Mutant("a tie after SP", why="P has a negative score", SP="S=V"),
        Mutant("V after OSP", why="n(S) = V, but O is above S", OSP="V"),
        Mutant("P after VP", why="that would be preferable, says the text", VP="P"),
        Mutant("V after SVP", why="S and V have score 0 both", SVP="V"),
        Mutant(
            "one sample is answered wrongly",
            why="the optimal token of each has the most attention",
            samples=Integer(8),
        ),
        Mutant(
            "another start",
            why="S keeps the score it starts with, and can be below P for long",
            domain=ELSEWHERE,
        ),
    ),
)


def _count(claim: Claim, right: int) -> dict[str, Any] | None:
    """How many samples are answered rightly, against the claim."""
    if right == claim.samples:
        return None
    return {
        "kind": "formula",
        "says": "number of samples that are answered rightly",
        "inputs": {"found": right, "stated": int(claim.samples)},
        "relation": ["!=", ["in", "found"], ["in", "stated"]],
    }


@check(CLAIM, grade="symbolic", scope="all")
def follows_from_the_signs(claim: Claim) -> Outcome:
    """Compare attention on next tokens as rational functions of e^score."""
    steps = list(grammar.signs_apply())
    for sentence, answer in grammar.stated(claim):
        if witness := grammar.wrong(sentence, answer, claim.domain):
            return Refuted(f"another answer to {sentence}", witness=witness)
        steps.append(f"{sentence} is followed by {answer}, for all y, z > 1")
    right = [s for s in SAMPLES if grammar.wrong(s, grammar.label(s)) is None]
    if witness := _count(claim, len(right)):
        return Refuted(f"{len(right)} samples are answered rightly", witness=witness)
    return Holds("for all T, t ≥ 1", n=len(SAMPLES) + len(INPUTS), steps=steps)


SETTINGS = st.tuples(
    st.integers(1, 400),  # T
    st.sampled_from([0.001, 0.05, 0.2]),  # eta_0
    st.integers(1, 400),  # t
    st.sampled_from([0.001, 0.025, 1.0]),  # eta
)
ROUNDING = gamma(40)
"""Of an attention: an exponential of four units, two sums, a quotient; scores enter by
their differences, which have the sign of t ≥ 1 moves of the same sign."""


def _wrong_run(claim: Claim, setting: tuple[int, float, int, float]) -> Any:
    """A wrong answer after one training."""
    from theorems.huang2024.dynamics.engine import run

    T, eta_0, t, eta = setting
    start = [START] if claim.domain == ELSEWHERE else None
    delta = T * eta_0 / np.sqrt(3)  # ||W*_ov|| = sqrt(|V| - 1)
    track = run([EXAMPLE_1], delta=delta, eta=eta, at=[t], start=start)[0]
    W = track.matrix()
    for sentence, answer in grammar.stated(claim):
        mass = grammar.attention(W, sentence)
        if witness := grammar.observed_wrong(sentence, answer, mass, ROUNDING):
            return witness
    right = sum(
        grammar.observed_wrong(s, grammar.label(s), grammar.attention(W, s), ROUNDING)
        is None
        for s in SAMPLES
    )
    return _count(claim, right)


@check(CLAIM, grade="property", scope="T, t ≤ 400, η_0 from .001 to .2, η to 1")
def answers_at_any_time(claim: Claim, search: Search) -> Outcome:
    """Train with any number of steps of any size, and ask."""
    return search.for_all(
        SETTINGS,
        lambda setting: _wrong_run(claim, setting) is not None,
        lambda setting: _wrong_run(claim, setting) or {},
        searched="numbers and sizes of steps of both stages",
        pinned=((1, 0.05, 1, 0.025), (400, 0.05, 1, 0.025)),
        scale=0.25,
    )


@evidence
def literal(profile: Profile, seed: int) -> dict[str, np.ndarray]:
    """Algorithm 1 word by word: random embeddings, both stages, automatic gradients.

    Returns:
        For each start the outputs of the trained model, ``(runs, sentences, 4)``.
    """
    import torch

    from theorems.huang2024.dynamics.literal import Transformer

    found: dict[str, list[Any]] = {ZERO: [], ELSEWHERE: []}
    for k, start in (
        (k, s) for k in range(profile.pick(smoke=1, default=2, full=8)) for s in found
    ):
        generator = torch.Generator().manual_seed(seed + k)
        model = Transformer(EXAMPLE_1, 5, generator)
        model.stage_1(0.1, 100)
        if start == ELSEWHERE:
            for (x, q), score in START.items():
                model.W_kq += score * torch.outer(model.E[:, x], model.E[:, q])
        *_, _ = model.stage_2(0.025, 60)
        rows = []
        for sentence in (*INPUTS, *SAMPLES):
            X = model.E[:, [TOKENS.index(x) for x in sentence]]
            phi = torch.softmax(X.T @ (model.W_kq @ X[:, -1]), dim=0)
            rows.append(torch.softmax(model.W_ov @ (X @ phi), dim=0).numpy())
        found[start].append(np.array(rows))
    return {start: np.array(runs) for start, runs in found.items()}


LITERAL_ROUNDING = gamma(160 * 200)
"""160 steps of fewer than 200 rounded operations on numbers of order 1."""


@check(CLAIM, grade="trained", scope="d = 5, T = 100, t = 60, η_0 = .1, η = .025")
def literal_training_answers(claim: Claim, literal: dict[str, np.ndarray]) -> Outcome:
    """Ask models that were trained as the paper writes it."""
    right = []
    for outputs in literal[claim.domain]:
        row = dict(zip((*INPUTS, *SAMPLES), outputs, strict=True))
        for sentence, answer in grammar.stated(claim):
            if witness := grammar.observed_wrong(
                sentence, answer, row[sentence], LITERAL_ROUNDING
            ):
                return Refuted(f"another answer to {sentence}", witness=witness)
        right.append(sum(TOKENS[row[s].argmax()] == grammar.label(s) for s in SAMPLES))
    if witness := _count(claim, min(right)):
        return Refuted(f"{min(right)} samples answered rightly", witness=witness)
    return Holds("as stated", n=len(right), figures=(_figure(),))


def _figure() -> Figure:
    """Probabilities of the answers along stage 2."""
    from theorems.huang2024.dynamics.engine import run

    times = sorted({round(10**x) for x in np.linspace(0, 3, 31)})
    delta = 900 * 0.1 / np.sqrt(3)
    track = run([EXAMPLE_1], delta=delta, eta=0.025, at=times)[0]
    series = []
    for sentence in ("SP", "OSP", "VP", "SVP"):
        answer = FOLLOWS["V"] if sentence == "SVP" else getattr(CLAIM, sentence)
        masses = [
            grammar.attention(track.matrix(k), sentence) for k in range(len(times))
        ]
        logits = delta * np.array(masses)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        chance = (odds / odds.sum(axis=1, keepdims=True))[:, TOKENS.index(answer)]
        series.append(Series(f"{answer} after {sentence}", times, chance.tolist()))
    return Figure(
        name="answers",
        title="Probability of the answer along stage 2",
        x_label="t",
        y_label="probability",
        x_log=True,
        series=tuple(series),
        caption="Trained on Example 1 with T = 900, η_0 = .1, η = .025. SVP is a tie.",
    )
