"""Theorem 3, first part: non-comparable tokens are inserted in the middle.

Huang, Liang and Yang (NeurIPS 2024), Theorem 3; proof in Appendix D.2.

For T = Ω(log(1/ε)) and t = Ω(log(1/ε)) there is a constant C_0 such that

    (x* - x_0)ᵀ W_kq^(t) x_q ≥ C_0 log(1/ε),    (x_0 - x)ᵀ W_kq^(t) x_q ≥ C_0 log(1/ε)

for optimal x*, non-comparable x_0 and non-optimal x under every query x_q.

The text derives it from Theorem 1 and Proposition 2, of which the second is wrong in
general and the first for maps n that are not injective. What is needed of them is less:
scores that keep their sign and grow linearly, with constants that T does not enter.
This is proved from the signs of the gradient alone (generalisation/growth.py).

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof, from the words after it and
       from Theorem 2. T, t = Ω(log(1/ε)) is read as: T, t ≥ c log(1/ε), where c and C_0
       may depend on the data and on the step sizes, and ε ≤ 1/2.
    2. The conditions are those of Theorem 1, on which the proof rests.
    3. Data without a constraint have nothing to order; Algorithm 1 then divides 0/0.
Not decided here: signs in the first steps (theorem_3_signs.py), predictions
(theorem_3_prediction.py), the limits of the scores.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import sympy as sp
from sympy import Tuple

from theorems.huang2024 import PAPER
from theorems.huang2024.data.assumptions import COUNTS as OUTNUMBERED
from theorems.huang2024.data.generate import violating
from theorems.huang2024.generalisation import exact, growth, observed
from theorems.huang2024.generalisation.exact import (
    BOUNDED_DATA,
    LOWEST,
    MIDDLE,
    OPTIMAL,
    eps,
)
from theorems.huang2024.generalisation.growth import SPEED, eta
from theorems.huang2024.generalisation.observed import Trained
from theorems.huang2024.generalisation.setting import (
    ANY_MAP,
    COUNTS_ALIKE,
    INJECTIVE,
    NORMALISED,
    ONE_OPTIMAL,
    ONE_TYPE,
    ZERO_START,
)
from theorems.huang2024.model import COUNTS, ORTHONORMAL, REALIZABLE
from theorems.huang2024.model import INJECTIVE as INJECTIVE_MAP
from verify import (
    Anchor,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.profiles import Profile

LOG = sp.log(1 / eps)
FROM_TOP = Tuple(OPTIMAL, MIDDLE, LOWEST)

SAYS = (
    "After T, t = Ω(log(1/ε)) steps and under every query, every optimal token scores "
    "above every non-comparable one, and this above every non-optimal one, by at least "
    "C_0 log(1/ε)"
)
LATEX = (
    r"(x_* - x_0)^\top W^{(t)}_{kq} x_q \ge C_0 \log\tfrac{1}{\epsilon}, \quad "
    r"(x_0 - x)^\top W^{(t)}_{kq} x_q \ge C_0 \log\tfrac{1}{\epsilon}"
)

MUTANTS = (
    Mutant(
        "order reversed",
        why="optimal tokens rise from the first step on",
        order=Tuple(LOWEST, MIDDLE, OPTIMAL),
    ),
    Mutant(
        "non-comparable tokens on top",
        why="their scores stay 0, those of optimal tokens are positive",
        order=Tuple(MIDDLE, OPTIMAL, LOWEST),
    ),
    Mutant(
        "non-comparable tokens at the bottom",
        why="their scores stay 0, those of non-optimal tokens are negative",
        order=Tuple(OPTIMAL, LOWEST, MIDDLE),
    ),
    Mutant(
        "gaps of log(1/ε)²",
        why="a step has length η: scores grow no faster than t",
        gap=LOG**2,
    ),
    Mutant(
        "gaps of log(1/ε) log log(1/ε)",
        why="the same",
        gap=LOG * sp.log(LOG),
    ),
)


def _not_normalised(setting: Any) -> Mutant:
    return Mutant(
        "gradient descent not normalised",
        why="scores then grow like log t",
        domain=dataclasses.replace(setting, normalised=False),
    )


AS_PRINTED = Claim(
    id="huang2024/theorem-3/order@injective",
    title="non-comparable tokens in the middle, n injective",
    says=SAYS + "; n is injective.",
    latex=LATEX,
    quantifiers=(
        "for all data that satisfy Assumptions 1 and 3, n injective, all η, η_0 > 0"
    ),
    source=PAPER.at("Theorem 3", "proof in Appendix D.2"),
    wording=Wording.DERIVED,
    domain=INJECTIVE,
    assumes=(REALIZABLE, ORTHONORMAL, COUNTS, INJECTIVE_MAP, NORMALISED, ZERO_START),
    parameters={"order": FROM_TOP, "gap": LOG},
    mutants=(*MUTANTS, _not_normalised(INJECTIVE)),
)

ANY = Claim(
    id="huang2024/theorem-3/order@any-map",
    title="non-comparable tokens in the middle, any n",
    says=SAYS + "; n is any map.",
    latex=LATEX,
    quantifiers="for all data that satisfy Assumptions 1 and 3, all η, η_0 > 0",
    source=PAPER.at("Theorem 3", "proof in Appendix D.2"),
    wording=Wording.DERIVED,
    domain=ANY_MAP,
    assumes=(REALIZABLE, ORTHONORMAL, COUNTS, NORMALISED, ZERO_START),
    parameters={"order": FROM_TOP, "gap": LOG},
    mutants=(*MUTANTS, _not_normalised(ONE_TYPE)),
    anchors=(
        Anchor(
            "one optimal token in each sample",
            why="then no two tokens compete for the same gradient",
            domain=ONE_TYPE,
        ),
        Anchor("n injective", why="the other reading", domain=INJECTIVE),
    ),
    finding=refuted(
        "with n(a) = n(b) the sample [a, a, b, q] → n(a) leaves b, which is optimal, "
        "with a bounded score for all T and t: a takes nearly all of the gradient"
    ),
    nearest="huang2024/theorem-3/order/repaired",
    pinned=(BOUNDED_DATA,),
)

REPAIRED = Claim(
    id="huang2024/theorem-3/order/repaired",
    title="scores move apart linearly, whatever T is",
    says=(
        "If each sample has one optimal token type and Assumption 3 counts tokens by "
        "their next token, then scores of optimal tokens are at least ct - C, those of "
        "non-optimal tokens at most -(ct - C), those of non-comparable tokens 0, with "
        "c > 0 and C that depend neither on T nor on t."
    ),
    latex=(
        r"x_*^\top W^{(t)}_{kq} x_q \ge c t - C, \quad x_0^\top W^{(t)}_{kq} x_q = 0, "
        r"\quad x^\top W^{(t)}_{kq} x_q \le -(c t - C), \quad "
        r"c = \frac{\eta}{4\sqrt2 E (1 + e^\eta E)}"
    ),
    quantifiers="for all such data, any n, all T ≥ 1, t ≥ 0, all η, η_0 > 0",
    source=PAPER.at("Theorem 3", "repair and explicit constants"),
    wording=Wording.OURS,
    domain=ONE_TYPE,
    assumes=(
        REALIZABLE,
        ORTHONORMAL,
        COUNTS_ALIKE,
        ONE_OPTIMAL,
        NORMALISED,
        ZERO_START,
    ),
    parameters={"order": FROM_TOP, "gap": LOG, "speed": SPEED},
    mutants=(
        *MUTANTS,
        _not_normalised(ONE_TYPE),
        Mutant(
            "a score gains η in each step",
            why="two scores at least share a step of length η",
            speed=eta,
            blind={"gaps_late_in_training": "compares with C_0, not with the speed"},
        ),
    ),
)


trained = observed.trained


@check(AS_PRINTED, ANY, REPAIRED, grade="symbolic", scope="all")
def scores_grow_from_signs(claim: Claim) -> Outcome:
    """Prove linear growth; small cases refute what is more or elsewhere.

    Let c log(1/ε) ≤ t. Scores are at least SPEED t - LAG; c is chosen so large that LAG
    is at most half of it, and C_0 = c SPEED / 2. T enters nowhere.
    """
    if not claim.domain.one_optimal:
        witness = exact.bounded_token(claim.gap)
        reason = "an optimal token's score is bounded in T and t"
        return Refuted(reason, witness=witness, steps=exact.bounded())
    if not claim.domain.normalised:
        witness, reason = exact.slow_descent(claim.gap), "scores grow like log t"
        return Refuted(reason, witness=witness, steps=exact.slow())
    witness = exact.wrong_order(tuple(claim.order))
    if witness is None and exact.gap_grows_too_fast(claim.gap):
        witness = exact.fast_gap(claim.gap)
    if witness is None and "speed" in claim.parameters:
        witness = exact.too_fast(claim.speed)
    if witness is not None:
        return Refuted(str(witness["says"]), witness=witness)
    return Holds(
        f"scores are at least {SPEED} t - C in absolute value",
        steps=growth.growth(),
    )


@check(
    AS_PRINTED,
    ANY,
    REPAIRED,
    grade="property",
    scope=f"|V| ≤ 6, Δ from 0.05 to 60, η from 0.1 to 1, t = {observed.LATE}",
)
def gaps_late_in_training(claim: Claim, trained: list[Trained]) -> Outcome:
    """Compare all gaps with a quarter of the speed that max-margin scores promise."""
    chosen = [model for model in trained if model.belongs(claim.domain)]
    return observed.judged(chosen, tuple(claim.order), claim.gap)


@necessity(
    AS_PRINTED,
    assumption="injective",
    needed=True,
    grade="symbolic",
    scope="one sample of four tokens, any T and t",
)
def without_injectivity(claim: Claim) -> Outcome:
    """The same data as for the other reading."""
    witness = exact.bounded_token(claim.gap)
    reason = "an optimal token's score is bounded"
    return Refuted(reason, witness=witness, steps=exact.bounded())


@necessity(
    AS_PRINTED,
    assumption="normalised",
    needed=True,
    grade="symbolic",
    scope="one sample of two tokens, any T and t",
)
def without_normalisation(claim: Claim) -> Outcome:
    """Plain gradient descent on one sample [o, q]."""
    witness = exact.slow_descent(claim.gap)
    return Refuted("scores grow like log t", witness=witness, steps=exact.slow())


@evidence
def outnumbered(profile: Profile, seed: int) -> list[Trained]:
    """Data of injective n in which one token outnumbers the optimal ones."""
    rng = np.random.default_rng(seed)
    count = profile.pick(smoke=10, default=40, full=400)
    data = [violating(rng, OUTNUMBERED, size=(3, 6)) for _ in range(count)]
    return observed.train(data, rng)


@necessity(
    AS_PRINTED,
    assumption="counts",
    needed=False,
    grade="property",
    scope=f"|V| ≤ 6, Assumption 3 violated, t = {observed.LATE}",
)
def without_assumption_3(claim: Claim, outnumbered: list[Trained]) -> Outcome:
    """The order comes out late in training all the same, if not in the first steps."""
    return observed.judged(outnumbered, tuple(claim.order), claim.gap)
