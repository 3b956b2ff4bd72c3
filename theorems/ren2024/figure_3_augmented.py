"""Figure 3, centre right: augmented layers on the linear task.

Ren and Liu (NeurIPS 2024), Section 5: "when we only use g_2 ... the model actually
shows slightly faster convergence than other cases"; with a two-layer g_2^+ it
"initially converges slightly slower", but "eventually accelerates convergence and
achieves a better solution".

Deviations from the text:
    1. Learning rates: the normal layer has 0.003, augmented ones 0.005 (Appendix E.1).
       @paper-rates compares just these; @equal-rates has the normal layer at 0.005 too.
    2. Batches, epochs and initialisation are not given: see figure_3_regularised.py.
       g(x) = GELU(Wx), g_2^+(x) = W_b GELU(W_a x), all d x d, entries N(0, 1/d).
    3. "Other cases" are the normal layer, g_1, and g_1 with g_2. "Initially" is the
       first tenth of training.

The normal layer at the larger rate beats itself at the smaller one. And g_1 alone
cannot succeed: GELU is at least -0.17, so no average of augmented values predicts a
label below that: it harms at either rate (figure-3/augmented/values; the factor of 2
was chosen after a study had been seen).
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

NORMAL, FAST = Symbol("normal"), Symbol("normal_fast")
NAMES = {NORMAL: "normal", FAST: "normal, fast"}
KEYS_AT_LEAST = (
    "whether keys alone help is undecided with so many seeds; the number of epochs and "
    "the initialisation behind the figure would decide"
)


def reading(name: str, reference: Symbol, says: str) -> Claim:
    """The sentences of Section 5 against a normal layer at one of the two rates."""
    return Claim(
        id=f"ren2024/figure-3/augmented@{name}",
        kind=Kind.EMPIRICAL,
        title=f"augmented keys learn faster, {name.replace('-', ' ')}",
        says=(
            "On the linear task g_2 alone learns faster than the normal layer, g_1 and "
            "both; g_2^+ is slower than the normal layer at first and ends better; "
            + says
        ),
        latex=(
            r"e_{g_2} < e_{normal}, e_{g_1}, e_{g_1, g_2}; \quad "
            r"e_{g_2^+} < e_{normal}"
        ),
        quantifiers="one fresh prompt per step",
        source=PAPER.at("Figure 3", "centre right; Section 5, Appendix E.1"),
        wording=Wording.GUESSED,
        recipe_complete=False,
        parameters={"reference": reference, "alone": Symbol("g_2")},
        variants=(
            Variant("g_1 alone", why="values instead of keys", alone=Symbol("g_1")),
        ),
        finding=inconclusive(Cause.BUDGET, KEYS_AT_LEAST),
    )


READINGS = (
    reading("equal-rates", FAST, "all have the rate 0.005."),
    reading("paper-rates", NORMAL, "the normal layer has 0.003, the others 0.005."),
)

VALUES = Claim(
    id="ren2024/figure-3/augmented/values",
    kind=Kind.EMPIRICAL,
    title="augmented values harm",
    says=(
        "On the linear task g_1, alone or with g_2, learns slower and ends worse than "
        "the normal layer at either rate, by more than a factor 2 in error."
    ),
    latex=r"e_{g_1}, e_{g_1, g_2} > 2 e_{normal}",
    quantifiers="one fresh prompt per step",
    source=PAPER.at("Figure 3", "centre right; our measurement"),
    wording=Wording.OURS,
    parameters={"worse": Tuple(Symbol("g_1"), Symbol("both")), "factor": Rational(2)},
    mutants=(
        Mutant("g_2 harms", why="keys do not matter here", worse=Tuple(Symbol("g_2"))),
        Mutant("by a factor 10", why="the floor is lower", factor=Rational(10)),
    ),
)

RATES = Claim(
    id="ren2024/figure-3/rates",
    kind=Kind.EMPIRICAL,
    title="the larger rate alone learns faster",
    says=(
        "The normal layer at the rate 0.005 of the augmented and negative layers "
        "learns faster than at its own rate 0.003."
    ),
    latex=r"e_{normal}(0.005) < e_{normal}(0.003)",
    quantifiers="linear task, mean over training",
    source=PAPER.at("Figure 3", "Appendix E.1; our measurement"),
    wording=Wording.OURS,
    parameters={"faster": FAST, "slower": NORMAL},
    mutants=(
        Mutant("the smaller rate", why="both are small", faster=NORMAL, slower=FAST),
    ),
)


@evidence
def linear(profile: Profile, root_seed: int, device: str, runs: Runs) -> Trainings:
    """All variants on the linear task."""
    return runs.get(designs.study("linear", profile, root_seed, device))


def _named(symbol: Symbol) -> str:
    return NAMES.get(symbol, str(symbol).replace("both", "g_1 and g_2"))


@check(
    *READINGS, grade="trained", scope="two epochs (full: four)",
    profiles=("default", "full"),
)  # fmt: skip
def keys_alone(claim: Claim, linear: Trainings, profile: Profile) -> Outcome:
    """Compare augmented layers with the normal one and with each other."""
    from theorems.ren2024.studies import compare

    normal, alone = _named(claim.reference), _named(claim.alone)
    others = [n for n in (normal, "g_1", "g_1 and g_2") if n != alone]
    shown = [normal, "g_1", "g_2", "g_1 and g_2", "g_2^+"]
    return compare.decide(
        [
            *(compare.below(linear, alone, other) for other in others),
            compare.above(linear, "g_2^+", normal, compare.START),
            compare.below(linear, "g_2^+", normal, compare.END),
        ],
        profile.level,
        note=compare.divergences(linear, shown),
        figures=(
            compare.figure(
                linear, f"figure-3-augmented-{claim.reading}", "Augmented", shown
            ),
        ),
    )


@check(
    VALUES, grade="trained", scope="two epochs (full: four)",
    profiles=("default", "full"),
)  # fmt: skip
def augmented_values(claim: Claim, linear: Trainings, profile: Profile) -> Outcome:
    """Compare the ends with both normal layers."""
    from theorems.ren2024.studies import compare

    slack = math.log10(float(claim.factor))
    return compare.decide(
        [
            compare.above(linear, _named(one), normal, compare.END, slack)
            for one in claim.worse
            for normal in NAMES.values()
        ],
        profile.level,
    )


@check(
    RATES, grade="trained", scope="two epochs (full: four)",
    profiles=("default", "full"),
)  # fmt: skip
def larger_rate(claim: Claim, linear: Trainings, profile: Profile) -> Outcome:
    """Compare the courses of the normal layer at two rates."""
    from theorems.ren2024.studies import compare

    names = _named(claim.faster), _named(claim.slower)
    return compare.decide([compare.below(linear, *names)], profile.level)
