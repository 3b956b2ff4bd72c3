"""Proposition 1: stage 1 converges in direction to the max-margin solution.

Huang, Liang and Yang (NeurIPS 2024), Proposition 1; repeated and proved as Proposition
3 in Appendix B. For t ≥ 2, with W* the solution of problem (2),

    ⟨W_ov^(t)/‖W_ov^(t)‖, W*/‖W*‖⟩ ≥ 1 - K ‖W*‖³ log(2|V|) log t/(η_0t),
    tη_0/(2‖W*‖) ≤ ‖W_ov^(t)‖ ≤ tη_0,
    L_0(W_ov^(t)) ≤ O(exp(-η_0t/(4‖W*‖))).

Since L_0 sums all tokens alike, W_ov^(t) = tη_0 W*/‖W*‖ exactly: the cosine is 1 from
the first step on, and the rate is no test of anything (proposition_1_sharp.py; for
token weights proposition_1_weighted.py).

Deviations from the text:
    1. The first display is lost. Its shape follows from the proof; K = 12 is what the
       threshold of Corollary 1 needs if ‖e - e'‖ ≤ 2 is used, K = 24 if sqrt2 is.
    2. The constant of O is |V|(|V| - 1); it has to grow with |V|, as L_0 at t = 0 does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import closed, decide, observed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    EQUAL,
    EQUAL_MEAN,
    EVERY_MAP,
    NORM_STAR,
    SMALL_STEP,
    WHOLE,
    S,
    V,
    by_norm,
    eta,
    explicit,
    t,
)
from theorems.huang2024.stage_one.observed import at_least, together, value, where
from theorems.huang2024.stage_one.signs import nonnegative, rising
from verify import (
    Anchor,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Variant,
    Wording,
    check,
    necessity,
    recheck,
)
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

equal_paths = observed.equal_paths

SHAPE = S**3 * sp.log(2 * V) * sp.log(t) / (eta * t)
AT = PAPER.at("Proposition 1", "Proposition 3 in Appendix B")
MEAN = Anchor("mean over tokens", why="steps are normalised", domain=EQUAL_MEAN)
FROM_TWO = f"{EVERY_MAP}, all t ≥ 2"

DIRECTION = Claim(
    id="huang2024/proposition-1/direction",
    title="stage 1 converges in direction",
    says=(
        "The direction of W_ov^(t) approaches that of the max-margin solution at rate "
        "log t/t."
    ),
    latex=(
        r"\left\langle \frac{W^{(t)}_{ov}}{\|W^{(t)}_{ov}\|}, "
        r"\frac{W^*_{ov}}{\|W^*_{ov}\|} \right\rangle \ge 1 - "
        r"\frac{12 \|W^*_{ov}\|^3 \log(2|V|) \log t}{\eta_0 t}"
    ),
    quantifiers=f"{FROM_TWO}, 2η_0 ≤ ‖W*‖",
    source=AT,
    wording=Wording.DERIVED,
    domain=EQUAL,
    assumes=(*WHOLE, SMALL_STEP),
    parameters={"gap": 12 * SHAPE},  # bounds 1 - cosine
    mutants=(
        Mutant("opposite sign", why="a cosine is at most 1", gap=-12 * SHAPE),
        Mutant(
            "log(|V|/3) for log(2|V|)",
            why="negative for |V| = 2",
            gap=12 * S**3 * sp.log(V / 3) * sp.log(t) / (eta * t),
        ),
        Mutant(
            "log(t/10) for log t",
            why="negative for t < 10",
            gap=12 * S**3 * sp.log(2 * V) * sp.log(t / 10) / (eta * t),
        ),
    ),
    anchors=(
        Anchor("equality", why="the closed form", gap=sp.Integer(0)),
        MEAN,
    ),
    variants=tuple(
        Variant(name, why="the gap is 0: no constant or rate can be told", gap=gap)
        for name, gap in (
            ("K = 24", 24 * SHAPE),
            ("K = 1", SHAPE),
            ("t⁻³", 12 * SHAPE / t**2),
            ("no ‖W*‖³", 12 * SHAPE / S**3),
        )
    ),
)

NORM = Claim(
    id="huang2024/proposition-1/norm",
    title="the norm grows linearly",
    says="The norm of W_ov^(t) lies between tη_0/(2‖W*‖) and tη_0.",
    latex=r"\frac{t\eta_0}{2\|W^*_{ov}\|} \le \|W^{(t)}_{ov}\| \le t\eta_0",
    quantifiers=FROM_TWO,
    source=AT,
    domain=EQUAL,
    assumes=WHOLE,
    parameters={"low": t * eta / (2 * S), "high": t * eta},
    mutants=(
        Mutant("at least 2tη_0/‖W*‖", why="above tη_0", low=2 * t * eta / S),
        Mutant("at least tη_0‖W*‖/2", why="above tη_0", low=t * eta * S / 2),
        Mutant("at most tη_0/‖W*‖", why="false for |V| ≥ 3", high=t * eta / S),
        Mutant("at most sqrt(t)η_0", why="linear growth", high=sp.sqrt(t) * eta),
    ),
    anchors=(Anchor("equality", why="the closed form", low=t * eta), MEAN),
)

LOSS = Claim(
    id="huang2024/proposition-1/loss",
    title="the loss of stage 1 decays exponentially",
    says="L_0(W_ov^(t)) = O(exp(-η_0t/(4‖W*‖))).",
    latex=r"L_0(W^{(t)}_{ov}) \le O(\exp(-\eta_0 t / (4 \|W^*_{ov}\|)))",
    quantifiers=f"{FROM_TWO}; the constant is |V|(|V|-1)",
    source=AT,
    domain=EQUAL,
    assumes=WHOLE,
    parameters={"rate": 1 / (4 * S), "constant": V * (V - 1)},
    mutants=(
        Mutant("rate 2/‖W*‖", why="the rate is 1/‖W*‖", rate=2 / S),
        Mutant("rate 1 per cent too high", why="it is 1/‖W*‖", rate=101 / (100 * S)),
        Mutant("rate without ‖W*‖", why="false for |V| ≥ 3", rate=sp.Integer(1)),
    ),
    anchors=(
        Anchor("exact rate", why="the closed form", rate=1 / S),
        Anchor("rate of Corollary 1's proof", why="‖W*‖ ≥ 1", rate=1 / (4 * S**2)),
        MEAN,
    ),
)


# ---------------------------------------------------------------- exact


@check(DIRECTION, grade="symbolic", scope="all")
def the_direction_is_exact(claim: Claim) -> Outcome:
    """Put the closed form in: 1 - cosine is 0."""
    return decide.everywhere(
        [Relation("bound of 1 - cosine ≥ 0", claim.gap, sp.S.Zero)],
        {t: 2, eta: 0},
        decide.grid(decide.small_step),
        closed.equal_weights(),
    )


@check(NORM, grade="symbolic", scope="all")
def the_norm_is_exact(claim: Claim) -> Outcome:
    """Put the closed form in: ‖W_ov^(t)‖ = tη_0."""
    relations = (
        Relation("lower bound of the norm", closed.NORM, claim.low),
        Relation("upper bound of the norm", claim.high, closed.NORM),
    )
    return decide.everywhere(
        relations, {t: 2, eta: 0}, decide.grid(), closed.equal_weights()
    )


@check(LOSS, grade="symbolic", scope="all")
def the_loss_is_exact(claim: Claim) -> Outcome:
    """L_0 ≤ |V|(|V|-1)e^{-u} with u = η_0t/‖W*‖; a larger rate fails by any factor.

    If the rate exceeds 1/‖W*‖, L_0 e^{rate η_0t} ≥ (|V|-1) e^{(rate - 1/‖W*‖) η_0t} has
    no bound, since log(1 + y) ≥ y/|V| for y ≤ |V| - 1.
    """
    y = sp.Symbol("y")
    below = rising(y - sp.log(1 + y), y, {y: 0})
    slower = nonnegative(by_norm(explicit(1 / S - claim.rate)), {S: 1})
    enough = nonnegative(by_norm(claim.constant - V * (V - 1)), {S: 1})
    if below and slower and enough:
        steps = ("log(1 + y) ≤ y for y ≥ 0", f"{claim.rate} ≤ 1/‖W*‖ for ‖W*‖ ≥ 1")
        return Holds("for all |V| ≥ 2", steps=(*closed.equal_weights(), *steps))
    exponent = sp.exp(-explicit(claim.rate) * eta * t)
    for size, steps in ((2, 1_200), (3, 1_000), (6, 1_000)):
        instance = {V.name: size, t.name: steps, eta.name: Fraction(1, 2)}
        witness = formula(
            closed.LOSS,
            ">",
            100 * claim.constant * exponent,
            instance,
            "the loss exceeds a hundred times its bound; the ratio grows without bound",
        )
        if recheck.decide(witness).valid:
            return Refuted("the loss decays more slowly", witness=witness)
    return Inconclusive("no proof and no counterexample", cause=Cause.NO_PROOF)


# ---------------------------------------------------------------- paths


@check(DIRECTION, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def directions_along_paths(claim: Claim, equal_paths: Columns) -> Outcome:
    """Follow stage 1 with equal weights; the gap is squared rounding."""
    columns = where(equal_paths, equal_paths["t"] >= 2)
    slack = columns["slack"]
    allowed = 2 * np.sqrt(columns["gap"]) * slack + slack**2
    bound = value(claim.gap, columns)
    return at_least(bound, columns["gap"], columns, allowed, "1 - cosine ≤ bound")


@check(NORM, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def norms_along_paths(claim: Claim, equal_paths: Columns) -> Outcome:
    """Follow stage 1 with equal weights in floating point."""
    columns = where(equal_paths, equal_paths["t"] >= 2)
    low, high = value(claim.low, columns), value(claim.high, columns)
    norm = columns["norm"]
    allowed = columns["slack"] * columns["t"] * columns["eta_0"]
    return together(
        at_least(norm, low, columns, allowed, "norm ≥ lower bound"),
        at_least(high, norm, columns, allowed, "norm ≤ upper bound"),
    )


@check(LOSS, grade="property", scope="equal weights, |V| ≤ 100, η_0 ≤ ‖W*‖/2")
def losses_along_paths(claim: Claim, equal_paths: Columns) -> Outcome:
    """Compare logarithms of the loss, so that nothing underflows."""
    columns = where(equal_paths, equal_paths["t"] >= 2)
    size, time = columns["V"], columns["t"] * columns["eta_0"]
    mean = np.log(size) if claim.domain.mean else 0.0
    bound = np.log(value(claim.constant, columns)) - value(claim.rate, columns) * time
    allowed = columns["slack"] * (1 + columns["high"] + np.log(size) + time)
    loss = columns["log_loss"] - mean
    return at_least(bound, loss, columns, allowed, "log L_0 ≤ log bound")


# ---------------------------------------------------------------- necessity


def _broken(reason: str, left: Any, op: str, right: Any, **at: Any) -> Outcome:
    witness = formula(explicit(left), op, explicit(right), at, reason)
    return Refuted(reason, witness=witness)


@necessity(
    NORM,
    assumption="unit-norm",
    needed=True,
    grade="symbolic",
    scope="norm R > 2‖W*‖",
)
def longer_embeddings(claim: Claim) -> Outcome:
    """Embeddings of norm R: ‖W*‖ = sqrt(|V|-1)/R, while steps still have length η_0."""
    R = sp.Symbol("R", positive=True)
    low = claim.low.subs(S, NORM_STAR / R)
    reason = "the lower bound exceeds tη_0, which t steps cannot exceed"
    return _broken(reason, low, ">", t * eta, V=2, R=3, t=2, eta_0=Fraction(1, 2))


@necessity(
    NORM,
    assumption="zero-start",
    needed=True,
    grade="symbolic",
    scope="‖W^(0)‖ = 5",
)
def norm_from_elsewhere(claim: Claim) -> Outcome:
    """Far from 0 the first steps cannot bring the norm down to tη_0."""
    reason = "‖W^(t)‖ ≥ ‖W^(0)‖ - tη_0 exceeds the upper bound"
    left = sp.Symbol("start") - t * eta
    at = {"V": 2, "start": 5, "t": 2, "eta_0": Fraction(1, 2)}
    return _broken(reason, left, ">", claim.high, **at)


PLAIN = sp.log(1 + eta * V * sp.exp(eta) * t)  # bounds the margin of plain descent


@necessity(
    NORM,
    assumption="normalised",
    needed=True,
    grade="symbolic",
    scope="plain descent",
)
def norm_of_plain_descent(claim: Claim) -> Outcome:
    """Plain steps η_0|V|/(e^m + |V| - 1) let e^m grow by at most η_0|V|e^{η_0}."""
    reason = "‖W^(t)‖ = m‖W*‖ grows like log t only"
    return _broken(reason, PLAIN * S, "<", claim.low, V=2, t=200, eta_0=Fraction(1, 2))


@necessity(
    LOSS,
    assumption="normalised",
    needed=True,
    grade="symbolic",
    scope="plain descent",
)
def loss_of_plain_descent(claim: Claim) -> Outcome:
    """Plain descent has loss at least |V| log(1 + (|V|-1)/(1 + η_0|V|e^{η_0}t))."""
    reason = "the loss of plain descent falls like 1/t, beyond every constant"
    left = V * sp.log(1 + (V - 1) / (1 + eta * V * sp.exp(eta) * t))
    right = 1000 * claim.constant * sp.exp(-claim.rate * eta * t)
    return _broken(reason, left, ">", right, V=2, t=400, eta_0=Fraction(1, 2))


@necessity(
    DIRECTION,
    assumption="zero-start",
    needed=True,
    grade="symbolic",
    scope="W^(0) ⟂ W*",
)
def direction_from_elsewhere(claim: Claim) -> Outcome:
    """From a far start orthogonal to W* the cosine is at most tη_0/(‖W^(0)‖ - tη_0)."""
    start = sp.Symbol("start")
    cosine = t * eta / (start - t * eta)
    reason = "the cosine stays near 0 while the bound is below 1"
    at = {"V": 2, "start": 10**6, "t": 1000, "eta_0": Fraction(1, 2)}
    return _broken(reason, 1 - cosine, ">", claim.gap, **at)


@necessity(
    DIRECTION,
    assumption="small-step",
    needed=False,
    grade="symbolic",
    scope="any η_0 > 0, equal weights",
)
def direction_with_long_steps(claim: Claim) -> Outcome:
    """The closed form holds for steps of any length."""
    return decide.everywhere(
        [Relation("bound of 1 - cosine ≥ 0", claim.gap, sp.S.Zero)],
        {t: 2, eta: 0},
        decide.grid(),
        closed.equal_weights(),
    )
