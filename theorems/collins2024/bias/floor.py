"""Wide windows: where w <= d + sqrt(d) the affine signal is at least a constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bias import constants as of
from theorems.collins2024.bias import proof
from theorems.collins2024.bounds.notation import d
from theorems.collins2024.bounds.steps import equal
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.numerics import table
from verify.outcome import Tightness
from verify.slack import slack
from verify.symbolic import formula

PROVED = (of.NEAR / (d + sp.sqrt(d))) ** 2 / (3 * d)
TOKENS = sp.Symbol("n", positive=True)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Exact affine signals over L^2 of wide windows, one instance per entry."""

    d: Floats
    w: Floats
    n: Floats
    signal: Floats


def steps() -> tuple[str, ...]:
    """From the mean distance at w = d + sqrt d to all smaller w."""
    edge = d + sp.sqrt(d)
    return (
        *proof.nearest(),
        *proof.decomposition(),
        "dū/dw = -Var_γ(u) ≤ 0: ū at w ≤ d + √d is at least ū at d + √d, E ū NEAR/w",
        equal("(NEAR/(d + √d))²/(3d)", (of.NEAR / edge) ** 2 / (3 * d), PROVED),
    )


def decide(claim: Claim) -> Outcome:
    """Prove the exhibited floor, or compare a larger one with w = 0.

    At w = 0 all weights are 1/n: E_1 = (1 + 1/n).
    """
    floor = sp.sympify(claim.floor)
    proved = steps()
    if floor == PROVED:
        return Holds("proved for all d ≥ 2, n ≥ 1 and w ≤ d + √d", steps=proved)
    for size in (2, 3, 10):
        uniform = (1 + 1 / TOKENS) / (3 * size)
        here = floor.subs(d, size)
        if bool(here > uniform.subs(TOKENS, 100)):
            says = f"d = {size}, n = 100, w = 0: signal (1 + 1/n)L²/(3d)"
            witness = formula(uniform, "<", here, {"n": 100}, says)
            return Refuted(says, witness=witness, steps=proved)
    return Inconclusive("no proof of this floor", cause=Cause.NO_PROOF)


def draw(seed: int, count: int) -> Table:
    """Random d, n and w <= d + sqrt d, the edge and negative scales included."""
    from theorems.collins2024.loss import affine, evaluate

    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, count)
    tokens = np.floor(10 ** rng.uniform(0, 4, count))
    edge = sizes + np.sqrt(sizes)
    scales = edge * rng.choice([1.0, 0.5, 0.0, -1.0, -10.0], count)
    found = [
        float(evaluate(affine(int(size)), scale, n, 0.0).signal)
        for size, scale, n in zip(sizes, scales, tokens, strict=True)
    ]
    return Table(sizes.astype(float), scales, tokens, np.array(found))


def observed(claim: Claim, seen: Table) -> Outcome:
    """Hold a floor against exact signals."""
    floor = sp.lambdify(d, claim.floor, modules=["scipy", "numpy"])
    least = np.array([float(floor(size)) for size in seen.d])
    ratio = least / seen.signal
    row = int(np.argmax(ratio))
    worst = float(ratio[row])
    found = {"n": len(ratio), "measured": worst, "target": 1.0, "margin": 1 - worst}
    if worst <= 1:
        tightness = (Tightness("floor of wide windows", worst),)
        says = f"the floor is at most {worst:.2g} of the signal"
        drawn = slack({"floor": ratio.tolist()}, title="Slack of the floor")
        return Holds(says, tightness=tightness, figures=(drawn,), **found)
    witness = table(
        {
            "d": [seen.d[row]],
            "w": [seen.w[row]],
            "n": [seen.n[row]],
            "signal": [seen.signal[row]],
            "floor": [least[row]],
        },
        relation=["<", ["in", "signal"], ["in", "floor"]],
        aggregate="all",
        says="exact signal over L² by quadrature, and the claimed floor",
    )
    return Refuted("the signal falls below the floor", witness=witness, **found)
