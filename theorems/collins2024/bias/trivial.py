"""The bound 4L^2 on the signal term."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from theorems.collins2024.bias.kink import Ratios
from theorems.collins2024.bounds.steps import equal, nonnegative, positive
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.numerics import table
from verify.outcome import Tightness
from verify.slack import slack
from verify.symbolic import formula

L, x = sp.symbols("L x", positive=True)
u = sp.Symbol("u", positive=True)
SCALES = (1.0, 100.0)


def steps() -> tuple[str, ...]:
    """Lemma C.2's proof."""
    far = (2 - u).subs(u, 2 / (1 + x))  # u in [0, 2]
    return (
        "(Σγ(f_i - f))² ≤ Σγ(f_i - f)² (Jensen, Σγ = 1, γ ≥ 0), for every w",
        "|f_i - f| ≤ L|x_i - x|, |x_i - x|² = 2u",
        positive("2u ≤ 4 for u ≤ 2", 2 * far, {x: 0}),
        equal("(2L)²", (2 * L) ** 2, 4 * L**2),
    )


def decide(claim: Claim) -> Outcome:
    """Prove ``claim.bound``, or exceed it with one token: L^2/3 at d = 2."""
    bound = sp.sympify(claim.bound)
    if nonnegative(bound - 4 * L**2, {L: 0}):
        return Holds("at most (2L)² for each token", steps=steps())
    one = 2 * L**2 / (3 * 2)  # E|x - x_1|² = 2
    for value in (1, 100):
        if bool(one.subs(L, value) > bound.subs(L, value)):
            says = f"affine tasks, d = 2, n = 1, any w, L = {value}: signal L²/3"
            witness = formula(one, ">", bound, {"L": value}, says)
            return Refuted(says, witness=witness, steps=steps())
    return Inconclusive("no proof of this bound", cause=Cause.NO_PROOF)


def observed(claim: Claim, seen: Ratios) -> Outcome:
    """Hold a bound against exact signals, which scale with L^2."""
    bound = sp.lambdify(L, claim.bound)
    signal = np.maximum(seen.relu, seen.affine)
    row = int(np.argmax(signal))
    ratios = [float(signal[row]) * size**2 / bound(size) for size in SCALES]
    worst = max(ratios)
    found = {"n": 2 * len(signal), "measured": worst, "target": 1.0}
    found["margin"] = 1 - worst
    if worst <= 1:
        tightness = (Tightness("4L²", worst),)
        parts = {
            f"{name} tasks": (values * SCALES[0] ** 2 / bound(SCALES[0])).tolist()
            for name, values in (("ReLU", seen.relu), ("affine", seen.affine))
        }
        drawn = slack(parts, title="Slack of the bound on the signal")
        says = f"at most {worst:.3g} of it"
        return Holds(says, tightness=tightness, figures=(drawn,), **found)
    size = SCALES[ratios.index(worst)]
    columns = {"L": size, "signal": signal[row] * size**2, "bound": bound(size)}
    witness = table(
        {name: [value] for name, value in columns.items()},
        relation=[">", ["in", "signal"], ["in", "bound"]],
        aggregate="all",
        says="exact signal by quadrature, and the claimed bound",
    )
    return Refuted("a larger signal", witness=witness, **found)


def steep(bound: sp.Expr) -> dict[str, Any]:
    """Tasks 10 L omega.x with one token: E(10L omega.(x_1 - x))^2 = 200 L^2/d."""
    says = "tasks 10L ω·x, d = 2, n = 1: signal 200L²/d"
    return formula(200 * L**2 / 2, ">", sp.sympify(bound), {"L": Fraction(1)}, says)
