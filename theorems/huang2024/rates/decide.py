"""Verdicts on bounds: proved for all data, or refuted on a family solved by hand."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.huang2024.rates import families, proof
from theorems.huang2024.rates.families import R, value
from theorems.huang2024.rates.notation import (
    AFTER,
    C_0T,
    LOSS_AFTER,
    PRINTED_AFTER,
    WITH_FREQUENCIES,
    Delta,
    K,
    L,
    S,
    eta,
    phi,
    t,
)
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.symbolic import formula

STEP = Fraction(3, 10)
"""A step size that satisfies η ≤ ‖W*‖/e on every family but PAIR, and 1/4 there."""

SMALLER = Fraction(1, 4)
ON_TIME = 8_000_000
"""Steps of length 1/4 by which Theorem 2's threshold is over on PAIR."""

LATEST = 60  # steps up to 10^60 are tried
ROOM = 60  # R = sqrt2 eta t + Delta + ROOM: y is below e^-60

MARGIN = 15_000
"""Δ = η_0 T of stage 1 with |V| = 2, η_0 = 1/2, T = 30000, as Theorem 2 asks for:
T ≥ 1696 ‖W*_ov‖^5 log|V| log T/η_0. Nothing changes for another Δ."""

M = sp.Symbol("M", positive=True, integer=True)  # R = M log 2: pi is rational


def late_frequency(step: int) -> int:
    """M such that the rare column of COLUMNS has hardly moved after ``step`` steps."""
    with decimal.localcontext(prec=LATEST + 20):
        two = decimal.Decimal(2)
        moved = two.sqrt() * step * STEP.numerator / STEP.denominator
        return math.ceil((moved + MARGIN + ROOM) / two.ln()) + 1


def _steps() -> Iterator[int]:
    return (10**k for k in range(1, LATEST + 1))


def _delayed(expr: sp.Expr) -> sp.Expr:
    """An expression about COLUMNS, with the frequencies 2^M : 1."""
    by_ratio = expr.subs(K, families.COLUMNS_K).subs(families.COLUMNS)
    return by_ratio.subs(R, M * sp.log(2))


def _instance(step: int) -> dict[str, Any]:
    return {"Delta": MARGIN, "eta": STEP, "t": step, "M": late_frequency(step)}


def _falls_with(bound: sp.Expr) -> bool:
    """Whether a bound might fall when K grows: then COLUMNS_K does not bound it."""
    slope = sp.diff(bound, K)
    return slope != 0 and not proof.at_most(sp.S.Zero, slope)


def bound_on_gap(claim: Claim) -> Outcome:
    """Decide ``1 - cos(W, W*) <= claim.bound`` on the data of ``claim.domain``."""
    bound = sp.sympify(claim.bound)
    if claim.domain.several:
        return _refuted_on_three(bound)
    if proof.at_most(WITH_FREQUENCIES, bound):
        return Holds(
            "proved for all data, frequencies, step sizes and t",
            steps=(*proof.direction(), f"{WITH_FREQUENCIES} ≤ {bound}"),
            certificate=_example(bound),
        )
    families.delayed()
    if _falls_with(bound):
        return Inconclusive("a bound that falls with K", cause=Cause.NO_PROOF)
    here = _delayed(bound)
    for step in _steps():
        at = _instance(step)
        if value(here, **at) < 0.99 * (1 - 1 / math.sqrt(2)):
            says = (
                f"texts abb, baa, the first 2^M times as often, {step} steps: the rare "
                "column has not moved, 1 - cos is above the bound"
            )
            witness = formula(here, "<", _delayed(families.COLUMNS_GAP), at, says)
            return Refuted(says, witness=witness, steps=families.delayed())
    return undecided("no family exceeds the bound")


def _refuted_on_three(bound: sp.Expr) -> Outcome:
    families.stuck()
    here = bound.subs(families.THREE)
    for step in _steps():
        at = {"Delta": MARGIN, "eta": STEP, "t": step}
        if value(here, **at) < 0.99 * value(families.THREE_GAP, **at):
            says = (
                "[a, a, b, q] followed by a = n(a) = n(b), all weight on it: W tends "
                f"to (1, 0, -1), not to (1, 1, -2); 1 - cos after {step} steps"
            )
            witness = formula(here, "<", families.THREE_GAP, at, says)
            return Refuted(says, witness=witness, steps=families.stuck())
    return undecided("the bound does not fall below the limit of 1 - cos")


def undecided(why: str) -> Outcome:
    """Say that there is neither a proof nor, for the reason given, a refutation."""
    return Inconclusive(f"no proof, and {why}", cause=Cause.NO_PROOF)


def _example(bound: sp.Expr) -> dict[str, Any]:
    """COLUMNS with equal frequencies keeps 1 - cos = 0."""
    at = {"Delta": MARGIN, "eta": STEP, "t": 100}
    says = "texts abb and baa, equally often, 100 steps: 1 - cos = 0"
    here = bound.subs(K, 2 * sp.log(2)).subs(families.COLUMNS)
    return formula(sp.S.Zero, "<=", here, at, says)


def bound_on_weight(claim: Claim) -> Outcome:
    """Decide ``phi_+ >= 1/(1 + L_max e^(-t rate))`` for all t >= ``claim.after``."""
    after, rate = sp.sympify(claim.after), sp.sympify(claim.rate)
    if proof.at_most(AFTER, after) and proof.at_most(rate, eta / (8 * S**2)):
        return Holds(
            "proved for all data, frequencies and step sizes",
            steps=(*proof.weights(), f"{rate} ≤ η/(8‖W*‖²), {after} is late enough"),
            certificate=_pair_weight(rate, ">=", 10),
        )
    return _never_so_fast(after, rate) or _too_early(after, rate)


def _pair_weight(rate: sp.Expr, op: str, step: int) -> dict[str, Any]:
    """The attention on a after [a, b], which is known exactly."""
    weight = (1 / (1 + L * sp.exp(-t * rate))).subs(families.PAIR)
    phi = 1 / (1 + sp.exp(-families.PAIR_SCORE))
    says = f"text abb after {step} steps of length {SMALLER}: attention on a {op} bound"
    return formula(phi, op, weight, {"eta": SMALLER, "t": step}, says)


def _never_so_fast(after: sp.Expr, rate: sp.Expr) -> Outcome | None:
    """Refute a rate above that of PAIR: log(1/phi_+ - 1) is -sqrt2 eta t there."""
    short = (t * rate - sp.log(L)).subs(families.PAIR) - families.PAIR_SCORE
    late = t - after.subs(families.PAIR)
    for step in _steps():
        at = {"Delta": MARGIN, "eta": SMALLER, "t": step}
        if value(short, **at) > 1e-3 and value(late, **at) > 0:
            says = (
                f"text abb, {step} steps: log(1/φ_+ - 1) = -√2ηt, the attention on a "
                "is below the bound"
            )
            witness = formula(sp.Min(late, short), ">", sp.S.Zero, at, says)
            return Refuted(says, witness=witness, steps=proof.edges())
    return None


def _too_early(after: sp.Expr, rate: sp.Expr) -> Outcome:
    """Refute a threshold without frequencies: a rare column is still at 1/2."""
    families.delayed()
    if _falls_with(after):
        return Inconclusive("a threshold that falls with K", cause=Cause.NO_PROOF)
    # log(1/phi_+ - 1) is at least -DELAY there, and claimed to be at most this
    claimed = sp.log(L) - t * rate
    late, over = _delayed(t - after), _delayed(-families.DELAY - claimed)
    for step in _steps():
        at = _instance(step)
        if value(late, **at) > 0 and value(over, **at) > 1:
            says = (
                f"texts abb, baa, the first 2^M times as often, {step} steps: the "
                "attention of the rare sentence is still 1/2"
            )
            witness = formula(sp.Min(late, over), ">", sp.S.Zero, at, says)
            return Refuted(says, witness=witness, steps=families.delayed())
    return undecided("no family is late")


def on_three(bound: sp.Expr) -> Outcome:
    """Hold a bound on 1 - cos against data with two optimal types in a sentence."""
    return _refuted_on_three(sp.sympify(bound))


def bound_on_loss(claim: Claim) -> Outcome:
    """Decide L <= log(1 + (|V| - 1) e^-exponent) for all t >= ``claim.after``."""
    after, exponent = sp.sympify(claim.after), sp.sympify(claim.exponent)
    if proof.at_most(exponent, Delta * (2 * phi - 1)):
        return Holds(
            "proved for all data, steps and frequencies",
            steps=(
                "L_n = log(1 + Σ_{i≠y} e^{-Δ(φ_+ - Φ_i)}) and Φ_i ≤ 1 - φ_+",
                "each sample, hence the mean, is at most its value at min φ_+",
            ),
        )
    if proof.at_most(exponent, C_0T) and after in {LOSS_AFTER, PRINTED_AFTER}:
        return Holds(
            "proved for all data and frequencies",
            steps=(*proof.loss(), *proof.late_enough()),
            certificate=_pair_loss(exponent, "<=", 1000),
        )
    return _loss_of_pair(after, exponent)


def _on_pair(expr: sp.Expr) -> sp.Expr:
    """An expression on PAIR, with the attention known exactly."""
    plus = 1 / (1 + sp.exp(-families.PAIR_SCORE))
    margin = {C_0T: sp.Integer(MARGIN) / 4, Delta: sp.Integer(MARGIN), phi: plus}
    return expr.subs(families.PAIR).subs(margin)


def _pair_loss(exponent: sp.Expr, op: str, step: int) -> dict[str, Any]:
    """L = log(1 + e^(-Delta (2 phi_+ - 1))) there, compared by exponents."""
    says = (
        f"text abb, Δ = {MARGIN}, {step} steps of length {SMALLER}: L = log(1 + e^-E), "
        f"the claimed exponent is {op} E"
    )
    exact = _on_pair(Delta * (2 * phi - 1))
    return formula(_on_pair(exponent), op, exact, {"eta": SMALLER, "t": step}, says)


def _loss_of_pair(after: sp.Expr, exponent: sp.Expr) -> Outcome:
    """Refute an exponent above that of PAIR at a late step, or an early start."""
    exact = _on_pair(Delta * (2 * phi - 1))
    late = _on_pair(t - after)
    for step in (1, 2, 10, 100, 1000, ON_TIME):
        # e^-x is too small to be written in the end: there E <= Delta must do
        least = sp.Integer(MARGIN) if step == ON_TIME else exact
        over = _on_pair(exponent) - least
        at = {"eta": SMALLER, "t": step}
        if value(late, **at) >= 0 and value(over, **at) > 1e-3:
            says = (
                f"text abb, Δ = {MARGIN}, {step} steps: the loss log(1 + e^-E), "
                "E = Δ(2φ_+ - 1), is above the bound"
            )
            witness = formula(sp.Min(late, over), ">=", sp.S.Zero, at, says)
            return Refuted(says, witness=witness, steps=proof.edges())
    return undecided("the text abb does not exceed the bound")
