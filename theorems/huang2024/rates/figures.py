"""Figures of Theorem 1's bound on the direction: its slack, and one run against it."""

from __future__ import annotations

import math
from dataclasses import replace

import sympy as sp

from theorems.huang2024.rates.observed import Hunt, delayed, run
from verify import Figure, Series
from verify.slack import slack
from verify.symbolic import Compiled

STEPS = 300  # for which the rare column of the shown run stays still
SHOWN = replace(delayed(STEPS), times=tuple(round(10 ** (k / 4)) for k in range(1, 17)))


def gap_figures(hunt: Hunt, bound: sp.Expr) -> tuple[Figure, ...]:
    """The bound's slack over all runs of a search, and along a run made to be late.

    Args:
        hunt: A finished search for ``gap/bound - 1 > room``.
        bound: On 1 - cos, in the symbols of ``notation``.

    Returns:
        Two figures.
    """
    ratios = [1 + over + hunt.room for over in hunt.worst]
    distribution = slack(
        {"1 - cos over its bound, worst step of a run": ratios},
        title="Slack of the bound on the direction",
    )
    return distribution, late_run(bound)


def late_run(bound: sp.Expr) -> Figure:
    """1 - cos along a run on two texts of which one is very rare, and the bound."""
    columns = run(SHOWN)
    allowed, steps = Compiled(bound, "numpy"), columns["t"]
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    alone = 1 - 1 / math.sqrt(2)
    return Figure(
        "late-run",
        "Direction of W on two texts, one of them very rare",
        "step t",
        "1 - cos(W, W*)",
        (
            Series("observed", steps, columns["gap"]),
            Series("bound", steps, [float(allowed(row)) for row in rows]),
        ),
        x_log=True,
        y_log=True,
        bands={"the frequent text alone": (alone, alone)},
        caption=(
            f"log(1/min π) = {columns['K'][0]:.0f}, η = {SHOWN.eta:g}, "
            f"Δ = {SHOWN.delta:g}. Until step {STEPS} or so the rare text is not "
            "learnt, and W has the direction of the other one alone."
        ),
    )
