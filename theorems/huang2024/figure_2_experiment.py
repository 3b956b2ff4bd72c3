"""Figure 2: training dynamics on a random dataset.

Huang, Liang and Yang (NeurIPS 2024), Section 7: a random realizable dataset with
|V| = d = 20, T = t = 900, η_0 = 0.2/√d, η = 0.05/√d. The plots are said to show, for
each stage, the convergence of the loss to its minimum, of the weights in direction to
the max-margin solution, and the linear growth of their norm.

Deviations from the text:
    1. How the dataset is drawn is not said. Many are drawn here, of two densities: up
       to four samples per query of up to 11 tokens, and one of up to 4 tokens.
    2. "Convergence" is what 900 steps can show: the loss falls, the cosine is larger
       at t = 450 than at the start, and at t = 900 than at 450. It need not grow all
       the time: with one sample per query it dips between t = 100 and 300.
    3. Stage 1 has the max-margin direction from its first step on (Proposition 1): the
       cosine is 1 throughout, up to rounding.
    4. In stage 2 the first step has cosine .87 (dense) and .96 (sparse) with W*: the
       numbers to compare .95 and .99 with. The cosine with the first step itself falls
       meanwhile.
    5. The times of deviation 2 and the ranges of figure-2/distance were chosen after
       runs like these had been seen; the variant at all times is the stricter reading.
Not decided here: rates (theorem_1_direction.py, theorem_2_loss.py).
"""

from __future__ import annotations

import numpy as np
from sympy import Integer, Interval, Rational, Symbol, Tuple

from theorems.huang2024 import PAPER
from theorems.huang2024.generalisation import experiment
from theorems.huang2024.generalisation.experiment import (
    DENSE,
    SPARSE,
    TIMES,
    Band,
    Curves,
)
from verify import (
    Claim,
    Kind,
    Mutant,
    Outcome,
    Variant,
    Wording,
    check,
    evidence,
)
from verify.fit.trend import Panel, increasing
from verify.profiles import Profile

SOLUTION, FIRST_STEP = Symbol("W_star"), Symbol("first_step")

CLAIM = Claim(
    id="huang2024/figure-2",
    kind=Kind.EMPIRICAL,
    title="loss, direction and norm in both stages",
    says=(
        "In both stages the loss falls towards its minimum, the weights turn to the "
        "max-margin solution, and their norm grows linearly."
    ),
    latex=(
        r"\mathcal{L}(\theta^{(t)}) \downarrow \mathcal{L}_{\min}, \quad "
        r"\frac{\langle W^{(t)}, W^* \rangle}{\|W^{(t)}\| \|W^*\|} \uparrow 1, \quad "
        r"\|W^{(t)}\| \propto t"
    ),
    quantifiers="|V| = d = 20, T = t = 900, η_0 = 0.2/√d, η = 0.05/√d",
    source=PAPER.at("Figure 2", "Section 7"),
    wording=Wording.PRINTED,
    recipe_complete=False,
    parameters={
        "loss": Integer(-1),
        "direction": SOLUTION,
        "cosine": Integer(1),
        "norm": Integer(1),
        "times": Tuple(1, 450, 900),
    },
    mutants=(
        Mutant(
            "the loss does not fall", why="it falls 50-fold or more", loss=Integer(1)
        ),
        Mutant(
            "the cosine falls", why="it grows in both densities", cosine=Integer(-1)
        ),
        Mutant(
            "to the direction of the first step",
            why="the cosine with it falls from 1",
            direction=FIRST_STEP,
        ),
        Mutant(
            "norm grows like sqrt t",
            why="steps of length η add up",
            norm=Rational(1, 2),
        ),
        Mutant("norm grows like t²", why="steps have length η", norm=Integer(2)),
    ),
    variants=(
        Variant(
            "at all times",
            why="with one sample per query the cosine dips between t = 100 and 300",
            times=Tuple(1, 100, 300, 450, 900),
        ),
    ),
)

DISTANCE = Claim(
    id="huang2024/figure-2/distance",
    kind=Kind.EMPIRICAL,
    title="how far 900 steps are from the limit",
    says=(
        "After 900 steps stage 2 is not at its limit: with several samples per query "
        "the cosine is near .95, up by .08 since the first step, and the loss is about "
        "ten times its least value; with one sample near .99, .03 and three times."
    ),
    latex=(
        r"\frac{\langle W^{(900)}, W^* \rangle}{\|W^{(900)}\| \|W^*\|}, \quad "
        r"\mathcal{L}(\theta^{(900)}) / \mathcal{L}_{\min}"
    ),
    quantifiers="mean over random datasets of two densities, the figure's parameters",
    source=PAPER.at("Figure 2", "Section 7; our measurement"),
    wording=Wording.OURS,
    recipe_complete=False,
    parameters={
        "cosine_dense": Interval(Rational(92, 100), Rational(97, 100)),
        "gain_dense": Interval(Rational(4, 100), Rational(12, 100)),
        "loss_dense": Interval(6, 16),
        "cosine_sparse": Interval(Rational(975, 1000), Rational(997, 1000)),
        "gain_sparse": Interval(0, Rational(6, 100)),
        "loss_sparse": Interval(2, 5),
    },
    mutants=(
        Mutant(
            "direction reached",
            why="1 - cos is .05, not .001",
            cosine_dense=Interval(Rational(999, 1000), 1),
        ),
        Mutant(
            "loss at its minimum",
            why="it is about ten times that",
            loss_dense=Interval(1, Rational(11, 10)),
        ),
        Mutant(
            "the direction turns by half",
            why="the first step has cosine .87 already",
            gain_dense=Interval(Rational(1, 2), 1),
        ),
        Mutant(
            "as far with one sample per query",
            why="fewer constraints compete",
            cosine_sparse=Interval(Rational(92, 100), Rational(97, 100)),
        ),
    ),
)


@evidence
def attention(profile: Profile, seed: int) -> dict[str, Curves]:
    """Stage 2 on datasets of both densities."""
    count = profile.pick(smoke=64, default=192, full=512)
    return {name: experiment.stage_2(seed, count, name) for name in (DENSE, SPARSE)}


@evidence
def feed_forward(seed: int) -> Curves:
    """Stage 1 for random permutations; all runs agree but for rounding."""
    return experiment.stage_1(seed, 32)


def _panels(claim: Claim, name: str, curves: Curves) -> list[Panel]:
    times = [int(t) for t in claim.times]
    seen = [TIMES.index(t) for t in times]
    cosine = curves.cosine if claim.direction == SOLUTION else curves.other
    panels = [
        Panel(f"loss, {name}", times, int(claim.loss) * np.log(curves.loss[:, seen]))
    ]
    if name != "stage 1":
        values = int(claim.cosine) * cosine[:, seen]
        panels.append(Panel(f"cosine, {name}", times, values))
    return panels


@check(
    CLAIM,
    grade="trained",
    scope="random datasets of two densities, permutations n",
)
def curves_go_where_they_should(
    claim: Claim,
    attention: dict[str, Curves],
    feed_forward: Curves,
    profile: Profile,
) -> Outcome:
    """Trends of loss and cosine over datasets, and exponents of the norm.

    The exponent may differ from the claimed one by 1/8, a quarter of the distance to
    the nearest mutant. Half of the error probability goes to the trends.
    """
    stages = {"stage 1": feed_forward, **attention}
    panels = [p for name, c in stages.items() for p in _panels(claim, name, c)]
    trends = increasing(
        panels, profile.level / 2, figures=experiment.figures(attention)
    )
    if trends.verdict != "HOLDS":
        return trends
    claimed = float(claim.norm)
    bands = [
        Band(
            f"exponent of the norm, {name},",
            experiment.exponents(curves),
            claimed - 1 / 8,
            claimed + 1 / 8,
        )
        for name, curves in stages.items()
    ]
    norms = experiment.within(bands, profile.level / 2)
    return trends.but(reason=norms.reason) if norms.verdict == "HOLDS" else norms


@check(
    DISTANCE,
    grade="trained",
    scope="random datasets of two densities, permutations n",
    profiles=("default", "full"),  # 64 datasets leave some means near an end open
)
def means_after_900_steps(
    claim: Claim, attention: dict[str, Curves], profile: Profile
) -> Outcome:
    """Student intervals of means over datasets, inside the claimed ranges."""
    bands = []
    for name, curves in attention.items():
        last, first = curves.cosine[:, -1], curves.cosine[:, TIMES.index(1)]
        told = {"cosine": last, "gain": last - first, "loss": curves.loss[:, -1]}
        for what, values in told.items():
            claimed = claim.parameters[f"{what}_{name}"]
            ends = float(claimed.start), float(claimed.end)
            bands.append(Band(f"{what} {name}", values, *ends))
    return experiment.within(
        bands, profile.level, figures=experiment.figures(attention)
    )
