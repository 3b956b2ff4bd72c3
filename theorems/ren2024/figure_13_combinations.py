"""Figure 13: combinations of the modifications on all three tasks.

Ren and Liu (NeurIPS 2024), Appendix E.3: "for linear tasks, a combination of
regularized and augmented modifications is sufficient. However, for the other two tasks,
the results are actually worse than using regularized or augmented modification
individually".

Deviations from the text:
    1. No parameters are given. Here: A - αI normalised with α = -1/2 (exponential task:
       16, which the text recommends there), g_2, and k = 3, β = 0.1 shared by all
       tokens, all at the rate 0.005.
    2. "Sufficient": it ends better than the normal layer and at most a half above all
       three together; a bound chosen after such a study had shown a spread of 4 %.
    3. "Worse individually" is read as: with any two or all three the error ends above
       that of A - αI alone and of g_2 alone.
Errors on the exponential task are compared as e/(1 + e): see figure_12_exponential.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sympy import Rational, Symbol, Tuple

from theorems.ren2024 import PAPER
from theorems.ren2024.studies import designs
from verify import (
    Cause,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Variant,
    Wording,
    check,
    evidence,
    inconclusive,
)
from verify.profiles import Profile

if TYPE_CHECKING:
    from verify.runs import Runs, Trainings

VALUES, BOTH = Symbol("g_1"), Symbol("regularised_and_augmented")
NEGATIVE = Symbol("augmented_and_negative")
SHARED = Symbol("regularised_and_negative")
ALL = Symbol("all_three")
ALONE = {"linear": "regularised, fast", "trig": "skip-normalised -0.5",
         "exp": "skip-normalised 16"}  # fmt: skip

LINEAR = Claim(
    id="ren2024/figure-13/linear",
    kind=Kind.EMPIRICAL,
    title="two modifications suffice on the linear task",
    says=(
        "On the linear task the regularised and augmented layer ends better than the "
        "normal one and at most a half above the layer with all three modifications."
    ),
    latex=r"e_{r, a} < e_{normal}, \quad e_{r, a} < 1.5\, e_{r, a, n}",
    quantifiers="α = -1/2, g_2, k = 3, β = 0.1, rate 0.005",
    source=PAPER.at("Figure 13", "left; Appendix E.3"),
    wording=Wording.GUESSED,
    recipe_complete=False,
    parameters={"enough": BOTH, "slack": Rational(3, 2)},
    mutants=(
        Mutant("augmented values", why="they harm", enough=VALUES),
        Mutant("half of all three", why="they end alike", slack=Rational(1, 2)),
    ),
)


def other(part: str, task: str) -> Claim:
    """The sentence about one of the other two tasks."""
    return Claim(
        id=f"ren2024/figure-13/{part}",
        kind=Kind.EMPIRICAL,
        title=f"combinations are worse on the {task} task",
        says=(
            f"On the {task} task every combination ends worse than the regularised and "
            "than the augmented layer alone."
        ),
        latex=r"e_{combined} > e_r, e_a",
        quantifiers="α = -1/2 or 16, g_2, k = 3, β = 0.1, rate 0.005",
        source=PAPER.at("Figure 13", "centre and right; Appendix E.3"),
        wording=Wording.GUESSED,
        recipe_complete=False,
        parameters={"combined": Tuple(BOTH, SHARED, NEGATIVE, ALL)},
        variants=(Variant("only both", why="unknown", combined=Tuple(BOTH)),),
        finding=inconclusive(
            Cause.RECIPE if part == "exponential" else Cause.BUDGET,
            "not reproduced with these parameters; those of the figure would decide",
        ),
    )


TRIG = other("trigonometric", "trigonometric")
EXP = other("exponential", "exponential")


@evidence
def linear(profile: Profile, root_seed: int, device: str, runs: Runs) -> Trainings:
    """All variants on the linear task."""
    return runs.get(designs.study("linear", profile, root_seed, device))


@evidence
def trig(profile: Profile, root_seed: int, device: str, runs: Runs) -> Trainings:
    """All variants on the trigonometric task."""
    return runs.get(designs.study("trig", profile, root_seed, device))


@evidence
def exponential(profile: Profile, root_seed: int, device: str, runs: Runs) -> Trainings:
    """All variants on the exponential task."""
    return runs.get(designs.study("exp", profile, root_seed, device))


def _name(symbol: Symbol) -> str:
    return "g_1" if symbol == VALUES else str(symbol).replace("_", " ")


@check(
    LINEAR, grade="trained", scope="two epochs (full: four)",
    profiles=("default", "full"),
)  # fmt: skip
def two_suffice(claim: Claim, linear: Trainings, profile: Profile) -> Outcome:
    """Compare the ends, seed by seed."""
    from theorems.ren2024.studies import compare

    name, slack = _name(claim.enough), math.log10(float(claim.slack))
    shown = ["normal, fast", "regularised, fast", "g_2", name, "all three"]
    return compare.decide(
        [
            compare.below(linear, name, "normal, fast", compare.END),
            compare.below(linear, name, "all three", compare.END, slack),
        ],
        profile.level,
        figures=(compare.figure(linear, "figure-13-linear", "Combinations", shown),),
    )


def _worse(claim: Claim, task: str, trained: Trainings, profile: Profile) -> Outcome:
    from theorems.ren2024.studies import compare

    names = [_name(symbol) for symbol in claim.combined]
    alone = [ALONE[task], "g_2"]
    shown = ["normal", *alone, *names]
    return compare.decide(
        [
            compare.above(trained, name, one, compare.END)
            for name in names
            for one in alone
        ],
        profile.level,
        note=compare.divergences(trained, shown),
        figures=(compare.figure(trained, f"figure-13-{task}", "Combinations", shown),),
    )


@check(
    TRIG, grade="trained", scope="four epochs (full: eight)",
    profiles=("default", "full"),
)  # fmt: skip
def combinations_on_trig(claim: Claim, trig: Trainings, profile: Profile) -> Outcome:
    """Compare the ends with those of single modifications, seed by seed."""
    return _worse(claim, "trig", trig, profile)


@check(
    EXP, grade="trained", scope="six epochs (full: twelve)",
    profiles=("default", "full"),
)  # fmt: skip
def combinations_on_exp(
    claim: Claim, exponential: Trainings, profile: Profile
) -> Outcome:
    """Compare the ends with those of single modifications, seed by seed."""
    return _worse(claim, "exp", exponential, profile)
