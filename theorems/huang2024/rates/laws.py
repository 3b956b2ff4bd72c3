"""Verdicts on exact orders: how long a rare column waits, how fast things decay."""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from theorems.huang2024.rates import families, observed, proof
from theorems.huang2024.rates.decide import SMALLER, STEP, M, undecided
from theorems.huang2024.rates.families import R, value
from theorems.huang2024.rates.notation import Delta, eta, t
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.symbolic import formula


def delay(claim: Claim) -> Outcome:
    """Decide 1 - cos > ``claim.gap`` on COLUMNS for 1 <= t <= ``claim.until``."""
    gap, until = sp.sympify(claim.gap), sp.sympify(claim.until)
    beyond = sp.Symbol("r", positive=True)
    shorter = ((R - Delta) / (2 * eta) - until).subs(R, Delta + 10 + beyond)
    most = sp.exp(-10 * (1 - 1 / sp.sqrt(2)))  # DELAY/X at R - Delta = 10
    least = 1 - (1 + most / (1 - most)) / sp.sqrt(2)
    if gap < least and nonnegative(shorter, {beyond: 0, Delta: 0, eta: 0}):
        return Holds(
            "proved for all Δ, η and R ≥ Δ + 10",
            steps=(
                *families.delayed(),
                "X = √2ηt ≤ (R - Δ)/√2: DELAY/X ≤ e^{X + Δ - R} ≤ e^{-10(1 - 1/√2)}",
                f"1 - (1 + y/x)/√2 ≥ {least} > {gap}",
            ),
            certificate=formula(least, ">", gap, {}, "1 - cos at the last step"),
        )
    limit = 1 - 1 / sp.sqrt(2)
    if gap > limit:
        says = "x, y ≥ 0: cos ≥ 1/√2, so that 1 - cos never exceeds 1 - 1/√2"
        return Refuted(says, witness=formula(limit, "<", gap, {}, says))
    return _delay_is_over(gap, until)


def _delay_is_over(gap: sp.Expr, until: sp.Expr) -> Outcome:
    families.squared()
    high, last = (
        x.subs(R, M * sp.log(2)) for x in (families.COLUMNS_HIGH - gap, until)
    )
    for rarer in (1000, 10_000):
        at: dict[str, Any] = {"Delta": 1, "eta": STEP, "M": rarer}
        at["t"] = int(value(last, **at))
        if value(high, **at) < 0:
            says = (
                f"texts abb, baa, the first 2^{rarer} times as often, {at['t']} steps: "
                "1 - cos is below the claimed value"
            )
            witness = formula(sp.Max(high, t - last), "<=", sp.S.Zero, at, says)
            return Refuted(says, witness=witness, steps=families.squared())
    return undecided("no contradiction to the upper bound")


RUNS = ((40, 0.5, 0.05), (40, 5.0, 0.3), (200, 1.0, 0.01), (1000, 1.0, 1.0))
LONGEST = 100_000


def delay_in_runs(claim: Claim) -> Outcome:
    """The same, by running Algorithm 1 on COLUMNS."""
    gaps, discards = [], 0
    for log2_ratio, delta, size in RUNS:
        at = {"R": log2_ratio * math.log(2), "Delta": delta, "eta": size}
        last = math.floor(value(sp.sympify(claim.until), **at))
        if last > LONGEST:
            discards += 1
            continue
        times = tuple(sorted({1, max(1, last // 2), last}))
        data = families.columns(log2_ratio)
        gaps += observed.run(observed.Setting(data, delta, size, times))["gap"]
    least, claimed = min(gaps), float(claim.gap)
    found: dict[str, Any] = {
        "n": len(gaps),
        "discards": {f"longer than {LONGEST} steps": discards} if discards else {},
        "measured": least,
        "target": claimed,
        "searched": "first, middle and last claimed step of each run",
    }
    if least > claimed:
        return Holds(f"1 - cos ≥ {least:.4f} up to the claimed step", **found)
    witness = table(
        {"gap": [least]},
        relation=["<=", ["in", "gap"], claimed.hex()],
        aggregate="all",
        says="1 - cos before the claimed step is over",
    )
    return Refuted(f"1 - cos falls to {least:.4f}", witness=witness, **found)


def order_of_decay(claim: Claim) -> Outcome:
    """Decide 1 - cos(W, direction) ~ t^-power (log t)^logs on strict data."""
    if str(claim.direction) == "first gradient":
        return _not_the_first_gradient()
    power, logs = sp.sympify(claim.power), sp.sympify(claim.logs)
    if (power, logs) == (2, 0):
        return Holds(
            "at most C/t² on all strictly complementary data, and at least c/t² on "
            "COLUMNS",
            steps=(*proof.strict(), *families.squared()),
            certificate=_bracket(sp.S.Zero, "<="),
        )
    claimed = t**-power * sp.log(t) ** logs
    slower = bool(power < 2 or (power == 2 and logs > 0))
    witness = _bracket(claimed, ">" if slower else "<")
    says = f"t^-{power} log^{logs} t is {'slower' if slower else 'faster'} than c t^-2"
    return Refuted(says, witness=witness, steps=(*proof.strict(), *families.squared()))


T_1, T_2 = sp.symbols("t_1 t_2", positive=True)
FIRST, LAST, FACTOR = 10, 10**2000, 1000
"""Steps between which a logarithm squared grows beyond all constants of COLUMNS."""


def _bracket(claimed: sp.Expr, op: str) -> dict[str, Any]:
    """Compare f(t_2)/f(t_1) with the same of 1 - cos on COLUMNS, up to a factor."""
    low, high = families.COLUMNS_LOW, families.COLUMNS_HIGH
    if op == "<":  # even 1000 times f falls below
        side = low.subs(t, T_2) / high.subs(t, T_1) / FACTOR
    else:
        side = high.subs(t, T_2) / low.subs(t, T_1) * FACTOR
    ratio = claimed.subs(t, T_2) / claimed.subs(t, T_1) if claimed else claimed
    at = {"R": 2, "Delta": 1, "eta": STEP, "t_1": FIRST, "t_2": LAST}
    says = (
        "from step 10 to step 10^2000 the claimed law falls by a factor 1000 "
        f"{'less' if op == '>' else 'more'} than 1 - cos can on texts abb, baa, the "
        "first e² times as often"
    )
    if not claimed:
        says = "bounds on 1 - cos for texts abb and baa"
    return formula(ratio, op, side, at, says)


def _not_the_first_gradient() -> Outcome:
    families.squared()
    says = (
        "texts abb, baa, the first e² times as often: 1 - cos(W, first gradient) stays "
        "above 1/10"
    )
    at = {"R": 2, "eta": STEP, "t": 10**6}
    tenth = sp.Rational(1, 10)
    witness = formula(families.FIRST_GRADIENT_GAP, ">", tenth, at, says)
    return Refuted(says, witness=witness, steps=families.squared())


def excess_on_pair(claim: Claim) -> Outcome:
    """Decide -log(L - L_min)/t -> ``claim.speed * claim.unit`` on PAIR."""
    unit = sp.sympify(claim.unit).subs(families.PAIR)
    speed = sp.sympify(claim.speed)
    rate = sp.simplify(families.PAIR_SCORE / t)
    exact = sp.simplify(unit / rate)
    steps = (
        "[a, b] followed by b = n(a): φ_- = 1/(1 + e^x), x = √2ηt, exactly",
        "2Δφ_-/(1 + e^Δ) ≤ L - L_min ≤ 2Δφ_- e^{2Δφ_-}/(1 + e^Δ): log is -x + O(1)",
        f"η/‖W*‖ = {unit}, so that the rate is {exact} of it",
        *proof.never_faster(),
    )
    at = {"eta": SMALLER}
    if sp.simplify(speed * unit - rate) == 0:
        says = "the square of the claimed rate on the text abb"
        witness = formula((speed * unit) ** 2, "==", rate**2, at, says)
        return Holds(
            "exact on one text, never exceeded on any", steps=steps, certificate=witness
        )
    says = "the text abb: -log(L - L_min)/t tends to √2η; the claim's square is another"
    witness = formula((speed * unit) ** 2, "!=", rate**2, at, says)
    return Refuted(says, witness=witness, steps=steps)
