"""Tokens of the paper's linear task, with the true softmax kernel.

s = Wt, t uniform on [-1, 1]^11, token x = (t, s) (Section 5). A pool of tokens is taken
as S_T, "all possible tokens", so that M is known; samples are drawn from it with
replacement. Only kernel values are needed, never features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.ren2024.bound.notation import (
    COMPLEXITY,
    DEVIATION,
    M2,
    S2,
    N,
    d_o,
    delta,
    rho,
    trace,
    w,
)
from verify import Cause, Claim, Figure, Holds, Inconclusive, Outcome, Refuted, Series
from verify.fit.intervals import mean_interval, mean_is

Floats = NDArray[np.float64]

POOL, WIDTH = 64, 4
SIZES = (8, 32, 128, 512)
RISK = 0.05
RADIUS = 3.0
NEAR = 0.25
ENOUGH = 400  # draws that a witness records


@dataclass(frozen=True, eq=False)
class Draws:
    """Gaps of many samples of each size.

    Attributes:
        squares: sup_f |L - L̂|², ``(sizes, draws)``.
        excess: L(f̂) - L(f*), of the same shape.
        bounds: The repaired bound at δ = 0.05, mean over the draws, ``(sizes,)``.
        moments: Values of S2, M2 and w.
    """

    squares: Floats
    excess: Floats
    bounds: Floats
    moments: dict[sp.Symbol, float]


def draw(count: int, seed: int) -> Draws:
    """Draw samples of each size from one pool of tokens."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, (POOL, 11))
    x = np.hstack([t, t @ rng.normal(size=(11, 1))])
    keys = x @ rng.normal(size=(12, WIDTH))
    keys /= np.linalg.norm(keys, axis=1).max()  # longer keys: few tokens are all
    values = x @ rng.normal(size=(12, WIDTH)) / np.sqrt(12)
    kernel = np.exp(keys @ keys.T)
    G = values @ values.T * kernel
    p = np.full(POOL, 1 / POOL)
    moments = {S2: float(p @ np.diag(G)), M2: float(p @ G @ p), w: RADIUS}
    longest = float(np.linalg.norm(values, axis=1).max())
    feature = float(np.sqrt(np.diag(kernel).max()))
    most = max(longest, RADIUS * feature)
    bound = sp.lambdify((trace, N, w, rho, delta, d_o), COMPLEXITY + DEVIATION, "numpy")
    squares, excess, bounds = [], [], []
    for n in SIZES:
        mean = rng.multinomial(n, p, size=count) / n
        off = mean - p
        squares.append(RADIUS**2 * np.einsum("si,si->s", off @ G, off))
        norm = np.sqrt(np.einsum("si,si->s", mean @ G, mean))
        excess.append(RADIUS * (np.sqrt(moments[M2]) - mean @ G @ p / norm))
        traces = n * mean @ np.diag(kernel)
        bounds.append(float(np.mean(bound(traces, n, RADIUS, most, RISK, WIDTH))))
    return Draws(np.array(squares), np.array(excess), np.array(bounds), moments)


def decide(claim: Claim, draws: Draws, level: float) -> Outcome:
    """Compare sup_f |L - L̂|² N^{2 exponent} with its exact mean at exponent 1/2.

    The mean ratio is 1 at every N if the claim is true; all intervals hold at once at
    ``level``. HOLDS if they lie within 1/4 of 1: at N = 512 that is an exponent off by
    0.025 at most, a tenth of the distance to the nearest mutant.
    """
    values = [draws.moments[x] for x in (S2, M2, w)]
    exact = values[2] ** 2 * (values[0] - values[1])
    twice = 2 * float(claim.exponent)
    ratios = [
        n**twice * row / exact for n, row in zip(SIZES, draws.squares, strict=True)
    ]
    found = [mean_interval(row, level / len(SIZES)) for row in ratios]
    off = [max(abs(i.low - 1), abs(i.high - 1)) for i in found]
    worst = int(np.argmax(off))
    common = {
        "n": int(draws.squares.size),
        "level": level,
        "target": 1.0,
        "measured": found[worst].mean,
        "interval": (found[worst].low, found[worst].high),
        "figures": (figure(draws),),
        "searched": f"a pool of {POOL} tokens of the linear task, N in {SIZES}; "
        f"slopes over N: {slopes(draws)}",
    }
    beyond = [
        (max(i.low - 1, 1 - i.high), n, row)
        for i, n, row in zip(found, SIZES, ratios, strict=True)
    ]
    most, n, row = max(beyond, key=lambda one: one[0])
    if most > 0:
        few = row[:ENOUGH] - 1
        interval = mean_interval(few, level / len(SIZES))
        sign = ">" if interval.mean > 0 else "<"
        if not (interval.low > 0 or interval.high < 0):
            return Inconclusive("too close to tell", cause=Cause.BUDGET, **common)
        says = f"N = {n}: N^{twice:g} times the mean square gap over its value, less 1"
        return Refuted(
            f"at N = {n} the mean square is not the claimed one",
            witness=mean_is(sign, few, interval, says),
            **common,
        )
    if off[worst] > NEAR:
        return Inconclusive("an interval is too wide", cause=Cause.BUDGET, **common)
    reason = f"ratios to the claimed mean square are 1 within {off[worst]:.2g}"
    return Holds(reason, margin=1 - off[worst] / NEAR, **common)


def slopes(draws: Draws) -> str:
    """Least-squares slopes of the logarithms, for the reader."""
    x = np.log2(SIZES)
    rows: Sequence[tuple[str, Floats]] = (
        ("supremum", 0.5 * np.log2(draws.squares.mean(1))),
        ("excess", np.log2(draws.excess.mean(1))),
    )
    return ", ".join(f"{name} {np.polyfit(x, y, 1)[0]:.2f}" for name, y in rows)


def figure(draws: Draws) -> Figure:
    """Gaps and bound against N."""
    sizes = [float(n) for n in SIZES]

    def line(label: str, values: Floats) -> Series:
        return Series(label, sizes, [float(x) for x in values])

    return Figure(
        "gap",
        "Gap between risk and empirical risk, tokens of the linear task",
        "demonstrations N",
        "gap",
        (
            line(
                "supremum over the class, root mean square",
                np.sqrt(draws.squares.mean(1)),
            ),
            line(
                "excess of the minimiser, 95 % quantile",
                np.quantile(draws.excess, 1 - RISK, axis=1),
            ),
            line("repaired bound, δ = 0.05", draws.bounds),
        ),
        x_log=True,
        y_log=True,
        caption="The supremum falls like N^-1/2, the excess like 1/N; the bound is far "
        "above both.",
    )
