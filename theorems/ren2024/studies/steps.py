"""What is claimed about the way of a dual model during gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.numerics import Tolerance, table, within
from verify.outcome import Holds, Outcome, Refuted

if TYPE_CHECKING:
    from theorems.ren2024.studies.dual import Paths

ONE_BY_ONE, TOGETHER = "one sample per step", "all samples in each step"
# Recipes of the dual model of a Transformer layer.
LABELS, WRONG_LABELS, WRONG_START, NO_BIAS = (
    "labels W_F W_V x", "labels W_F W_K x", "W_init = W_0", "b = 0"
)  # fmt: skip
ROUNDING = (
    "γ_m times the sums of absolute values behind the output, m = 4(N + d_r + 2) + 24 "
    "for attention and 4(N + 1 + d_r + d_h + d) + 40 for a Transformer layer"
)


def arrives(paths: Paths, recipe: str, steps: int, name: str = "") -> Outcome:
    """Whether the prediction equals the output after some steps, in every run."""
    from theorems.ren2024.studies import dual

    path = paths.distance[recipe]
    if not 0 <= steps < len(path):
        raise ValueError(f"{steps} steps of {len(path) - 1} that were made")
    drawn = (dual.figure(name, paths, recipe),) if name else ()
    return within(
        path[steps],
        Tolerance(paths.allowed, ROUNDING),
        says="the trained dual model's prediction differs from the layer's output",
        discards=paths.discards,
        searched=paths.says,
        figures=drawn,
    )


def wanders(paths: Paths, rises: int, arrivals: int) -> Outcome:
    """Whether every run's way rises ``rises`` times or more, and arrives so often.

    With ``rises = 0`` the way is claimed not to rise at all.
    """
    path, n = paths.distance[ONE_BY_ONE], paths.n
    # A rise counts if rounding cannot explain it.
    up = (np.diff(path[: n + 1], axis=0) > 2 * paths.allowed).sum(axis=0)
    there = (path[: 2 * n + 1] <= paths.allowed).sum(axis=0)
    as_claimed = (up >= rises) if rises else (up == 0)
    good = as_claimed & (there == arrivals)
    climbs = [">=" if rises else "==", ["in", "rises"], rises]
    lands = ["==", ["in", "arrivals"], arrivals]
    reason = (
        f"rises before step N = {n}: {up.min()} to {up.max()}; arrivals within 2N "
        f"steps: {there.min()} to {there.max()}"
    )
    common = {"n": len(good), "discards": paths.discards, "searched": paths.says}
    columns = {"rises": up, "arrivals": there}
    if good.all():
        record = table(columns, relation=lands, aggregate="all", says=reason)
        return Holds(reason, certificate=record, **common)
    wrong = climbs if not as_claimed.all() else lands
    chosen = ~as_claimed if not as_claimed.all() else ~good
    opposite = {">=": "<", "==": "!="}[wrong[0]]
    record = table(
        {key: value[chosen] for key, value in columns.items()},
        relation=[opposite, *wrong[1:]],
        aggregate="all",
        says=reason,
    )
    return Refuted(reason, witness=record, **common)
