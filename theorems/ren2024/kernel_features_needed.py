"""How many random features the softmax kernel takes: about e^{‖x+y‖²/2}.

Statements of ours on Ren and Liu (NeurIPS 2024), Section 5: d_r = 1200 random features
"to obtain relatively accurate estimation". The error of an estimated kernel value is
(e^s - 1)/d_r in mean square, s = ‖x + y‖², which never shows: the mean square comes
from draws so rare that they are not seen. What is seen has a threshold, d_r = e^{s/2}:

    fewer    for d_r ≤ e^{s/2 - t} the estimate is below half of the kernel, but for a
             probability of at most e^{-t²/8s} (1 + e^{-t/2}/2)
    more     for d_r ≥ e^{s/2 + t} its mean relative error is at most
             e^{-t/4} + e^{-t²/8s}

1200 is e^{s/2} at s = 14.2. Keys and queries of trained layers go far beyond
(figure_6_random_features.py).

Not decided here: constants; that both bounds are far from tight is seen in the draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.features import threshold
from theorems.ren2024.features.formulas import undecided
from theorems.ren2024.features.threshold import BELOW, ERROR, TAIL, s, t
from verify import (
    Assumption,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Tightness,
    Variant,
    Wording,
    check,
    evidence,
)
from verify.fit.intervals import mean_interval, mean_is
from verify.profiles import Profile

NORMAL = Assumption("normal", "w_1, ..., w_{d_r} are independent with law N(0, I)")
SOURCE = PAPER.at("Section 5", "Model Setting; Appendix E.1")
LATER = ("default", "full")  # the smoke profile has the paper's own statements
RARE = {"drawn_ratios": "it takes s near 10⁴, and more features than can be drawn"}

FEWER = Claim(
    id="ren2024/kernel/random-features/too-few",
    title="with fewer than e^{‖x+y‖²/2} features the kernel is missed",
    says=(
        "With at most e^{s/2 - t} positive random features, s = ‖x+y‖², the estimate "
        "reaches half of the kernel with probability at most "
        "e^{-t²/8s}(1 + e^{-t/2}/2)."
    ),
    latex=(
        r"d_r \le e^{s/2 - t} \implies P(\phi(x)^\top \phi(y) \ge \tfrac12 "
        r"e^{x^\top y}) \le e^{-t^2/8s} (1 + \tfrac12 e^{-t/2})"
    ),
    quantifiers="for all x, y in R^{d_o}, d_r ≥ 1, 0 ≤ t ≤ s/2",
    source=SOURCE,
    wording=Wording.OURS,
    assumes=(NORMAL,),
    parameters={"threshold": s / 2, "bound": BELOW},
    mutants=(
        Mutant("e^{3s/4 - t} features", why="e^{s/2} are enough",
               threshold=3 * s / 4, blind=RARE),
        Mutant("e^{s - t} features", why="e^{s/2} are enough", threshold=s, blind=RARE),
        Mutant("a quarter of the bound", why="one feature, s = 1", bound=BELOW / 4),
        Mutant("e^{-4t} in the bound", why="one feature, s = 1", bound=sp.exp(-4 * t)),
    ),
    variants=(
        Variant("e^{-t²/2s}", why="the rate of Gaussian tails", bound=BELOW * TAIL**3),
    ),
)  # fmt: skip

MORE = Claim(
    id="ren2024/kernel/random-features/enough",
    title="with more than e^{‖x+y‖²/2} features the kernel is found",
    says=(
        "With at least e^{s/2 + t} positive random features the mean relative error "
        "of the estimate is at most e^{-t/4} + e^{-t²/8s}."
    ),
    latex=(
        r"d_r \ge e^{s/2 + t} \implies \mathbb{E} |\phi(x)^\top \phi(y) e^{-x^\top y} "
        r"- 1| \le e^{-t/4} + e^{-t^2/8s}"
    ),
    quantifiers="for all x, y in R^{d_o}, t ≥ 0",
    source=SOURCE,
    wording=Wording.OURS,
    assumes=(NORMAL,),
    parameters={"threshold": s / 2, "bound": ERROR},
    mutants=(
        Mutant("e^{s/4 + t} features", why="e^{s/2} are needed", threshold=s / 4,
               blind=RARE),
        Mutant("e^t features", why="the norms count", threshold=sp.S.Zero, blind=RARE),
        Mutant("e^{-t}", why="a mean of d_r terms errs by d_r^{-1/2}",
               bound=sp.exp(-t)),
        Mutant("e^{-3t/4}", why="as before", bound=sp.exp(-3 * t / 4)),
    ),
)  # fmt: skip

SIDES: dict[str, tuple[sp.Expr, Callable[[], tuple[str, ...]], Callable[..., Any]]] = {
    FEWER.id: (BELOW, threshold.below_half, threshold.against_few),
    MORE.id: (ERROR, threshold.near_one, threshold.against_many),
}


@check(FEWER, MORE, grade="symbolic", scope="all", profiles=LATER)
def truncated_at_the_threshold(claim: Claim) -> Outcome:
    """Truncate each feature, and tilt the Gaussian; false bounds fail somewhere."""
    proved, steps, refuters = SIDES[claim.id]
    as_proved = sp.simplify(claim.threshold - s / 2) == 0
    if as_proved and sp.simplify(claim.bound - proved) == 0:
        return Holds("proved for all s, t and d_r", steps=steps())
    for lower, at, why in refuters(claim.threshold):
        witness = threshold.exceeds(lower, claim.bound, at, f"{why}: beyond the bound")
        if witness:
            return Refuted(why, witness=witness)
    return undecided("neither the bound that is proved nor one that is refuted")


CASES = {
    FEWER.id: ((1, 0.5), (16, 8), (40, 14), (60, 24)),
    MORE.id: ((1, 4), (2, 6), (4, 6)),
}


@evidence
def draws(profile: Profile, seed: int) -> dict[tuple[float, float, int], Any]:
    """Ratios K̂/K in 32 groups, for each s, t and side."""
    trials = 32 * profile.pick(smoke=40, default=100, full=1000)
    found = {}
    for name, sign in ((FEWER.id, -1), (MORE.id, 1)):
        for size, gap in CASES[name]:
            count = features_at(size / 2 + sign * gap, sign)
            values = threshold.ratios(
                size, count, trials, [seed, int(size), int(2 * gap), count]
            )
            found[size, gap, sign] = values.reshape(32, -1)
    return found


def features_at(exponent: float, sign: int) -> int:
    """The largest number of features below a threshold, or the least above it."""
    return math.ceil(math.exp(exponent)) if sign > 0 else math.floor(math.exp(exponent))


@check(
    FEWER,
    MORE,
    grade="property",
    scope="s ≤ 60, up to 3000 features, drawn",
    profiles=LATER,
)
def drawn_ratios(claim: Claim, draws: Any, profile: Profile) -> Outcome:
    """Student intervals of the frequency or error, against the claimed bound."""
    sign = -1 if claim.id == FEWER.id else 1
    level = profile.level / len(CASES[claim.id])
    tightness, count = [], 0
    for (size, gap), values, bound in _judged(claim, draws, sign):
        seen = values >= 0.5 if sign < 0 else np.abs(values - 1)
        interval = mean_interval(seen.mean(axis=1) - bound, level)
        count += values.size
        at = f"s = {size}, t = {gap}"
        if interval.separation > 1:
            witness = mean_is(">", seen.mean(axis=1) - bound, interval, at)
            return Refuted(f"{at}: beyond {bound:.3g}", witness=witness, n=count)
        tightness.append(Tightness(at, float(seen.mean() / bound)))
    return Holds("no frequency is beyond its bound", n=count, tightness=tightness)


def _judged(
    claim: Claim, draws: Any, sign: int
) -> Iterator[tuple[tuple[float, float], Any, float]]:
    for size, gap in CASES[claim.id]:
        bound = claim.bound.subs({s: sp.Rational(size), t: sp.Rational(gap)})
        yield (size, gap), draws[size, gap, sign], float(bound)
