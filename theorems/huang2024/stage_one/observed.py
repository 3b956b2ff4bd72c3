"""Claims against observed paths: a violation is one beyond the bound on rounding."""

from collections.abc import Mapping

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.huang2024.stage_one import paths
from theorems.huang2024.stage_one.notation import T, explicit, norm_W, rho, t
from verify import Outcome, Tightness, evidence, slack
from verify.numerics import Tolerance, within
from verify.profiles import Profile
from verify.symbolic import Compiled

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats]

ROUNDING = (
    "γ_k of k operations per step, first order in the unit roundoff: errors of steps "
    "add up, since differences of margins contract for 2η_0 ≤ ‖W*‖"
)


SLACK = "Slack of the bounds along the paths of stage 1"


@evidence
def equal_paths(profile: Profile, seed: int) -> Columns:
    """Paths with equal weights, in the classes' arithmetic."""
    rng = np.random.default_rng(seed)
    settings = paths.equal_settings(rng, profile.pick(smoke=20, default=60, full=300))
    return paths.observe(
        settings, profile.pick(smoke=15_000, default=30_000, full=200_000)
    )


@evidence
def weighted_paths(profile: Profile, seed: int) -> Columns:
    """Paths under token weights, in the classes' arithmetic."""
    rng = np.random.default_rng(seed)
    settings = paths.weighted_settings(
        rng, profile.pick(smoke=60, default=200, full=2_000)
    )
    return paths.observe(
        settings, profile.pick(smoke=15_000, default=30_000, full=100_000)
    )


@evidence
def literal_paths(profile: Profile, seed: int) -> Columns:
    """Paths of whole matrices, half of them with equal weights."""
    rng = np.random.default_rng(seed)
    count = profile.pick(smoke=10, default=40, full=400)
    settings = [paths.draw(rng, equal=k % 2 == 0) for k in range(2 * count)]
    return paths.observe_literally(settings, 60)


def where(columns: Columns, chosen: Floats) -> Columns:
    """Keep some rows."""
    return {name: column[chosen] for name, column in columns.items()}


def value(expr: sp.Expr, columns: Columns) -> Floats:
    """Evaluate a parameter of a claim at every row; ρ enters by its logarithm."""
    log_rho = sp.Symbol("log_rho", real=True)
    expr = explicit(expr).subs(T, t)
    expr = sp.expand_log(expr.subs(rho, sp.exp(log_rho)), force=True)
    expr = expr.subs(norm_W, sp.Symbol("norm", positive=True))
    result = Compiled(expr, "numpy")(columns)
    return np.broadcast_to(np.asarray(result, dtype=float), columns["t"].shape)


def at_least(
    left: Floats, right: Floats, columns: Columns, allowed: Floats, says: str
) -> Outcome:
    """Decide ``left >= right`` row by row; report the worst ratio as tightness.

    Args:
        left: One side.
        right: The other side.
        columns: The rows, for the witness.
        allowed: Bound on the rounding of their difference.
        says: What a violation means.

    Returns:
        HOLDS or REFUTED with the worst rows.
    """
    labels = {name: columns[name] for name in ("V", "eta_0", "t")}
    outcome = within(
        np.maximum(right - left, 0.0),
        Tolerance(allowed, ROUNDING),
        says=says,
        labels={**labels, "left": left, "right": right},
        searched="random and extreme sizes, weights and steps",
    )
    some = (left > 0) & (right >= 0)
    ratios = right[some] / left[some]
    ratio = float(np.max(ratios, initial=0.0))
    outcome = outcome.but(tightness=(Tightness(says, min(ratio, 1.0)),))
    if outcome.verdict != "HOLDS" or ratio <= slack.LEAST:
        return outcome
    drawn = slack.slack({says: ratios.tolist()}, title=SLACK)
    return outcome.but(figures=(drawn,))


def equals(
    left: Floats, right: Floats, columns: Columns, allowed: Floats, says: str
) -> Outcome:
    """Decide ``left == right`` row by row, up to rounding."""
    labels = {name: columns[name] for name in ("V", "eta_0", "t")}
    return within(
        np.abs(left - right),
        Tolerance(allowed, ROUNDING),
        says=says,
        labels={**labels, "left": left, "right": right},
        searched="random sizes, maps and step sizes",
    )


def together(*outcomes: Outcome) -> Outcome:
    """The first outcome that does not hold, or the last with everything counted."""
    for outcome in outcomes:
        if outcome.verdict != "HOLDS":
            return outcome
    tightness = tuple(one for outcome in outcomes for one in outcome.tightness)
    worst = min(outcomes, key=lambda one: one.margin if one.margin is not None else 1.0)
    figures = slack.together(one for outcome in outcomes for one in outcome.figures)
    return worst.but(tightness=tightness, figures=figures)
