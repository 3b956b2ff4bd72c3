"""Corollary 1: after stage 1 every token's successor wins by a margin.

Huang, Liang and Yang (NeurIPS 2024), Corollary 1 of Appendix C.1. Let
T ≥ 384 ‖W*_ov‖⁵ log(2|V|) log T / η_0 and Δ = η_0T/(4‖W*_ov‖²). Then

    Δ ≤ (e_{In(x)} - e_i)ᵀ W_ov^(T) x ≤ 3Tη_0/(2‖W*_ov‖)   for all x, i ≠ In(x).

The margin is Tη_0/‖W*_ov‖ for every T ≥ 0, that is 4‖W*_ov‖ Δ: the threshold on T is
not needed. That wrong tokens score alike is Lemma 3.

Deviations from the text:
    1. The displays are lost; constants are rebuilt from the threshold and the proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.stage_one import closed, decide, observed
from theorems.huang2024.stage_one.decide import Relation
from theorems.huang2024.stage_one.notation import (
    EQUAL,
    EQUAL_MEAN,
    EVERY_MAP,
    SMALL_STEP,
    WHOLE,
    S,
    T,
    V,
    eta,
    explicit,
    t,
)
from theorems.huang2024.stage_one.observed import at_least, together, value, where
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Wording,
    check,
    necessity,
)
from verify.symbolic import Compiled

if TYPE_CHECKING:
    from theorems.huang2024.stage_one.observed import Columns

equal_paths = observed.equal_paths

CLAIM = Claim(
    id="huang2024/corollary-1",
    title="margin after stage 1",
    says=(
        "After T ≥ 384‖W*‖⁵ log(2|V|) log T/η_0 steps the score of n(x) exceeds every "
        "other by at least η_0T/(4‖W*‖²) and at most 3η_0T/(2‖W*‖)."
    ),
    latex=(
        r"\Delta := \frac{\eta_0 T}{4\|W^*\|^2} \le "
        r"(e_{I_n(x)} - e_i)^\top W^{(T)}_{ov} x \le \frac{3 T \eta_0}{2\|W^*\|}"
    ),
    quantifiers=f"{EVERY_MAP} with 2η_0 ≤ ‖W*‖, all T from the threshold on",
    source=PAPER.at("Corollary 1", "Appendix C.1"),
    wording=Wording.DERIVED,
    domain=EQUAL,
    assumes=(*WHOLE, SMALL_STEP),
    parameters={
        "threshold": 384 * S**5 * sp.log(2 * V) * sp.log(T) / eta,
        "delta": eta * T / (4 * S**2),
        "high": 3 * T * eta / (2 * S),
    },
    mutants=(
        Mutant("Δ = 2η_0T/‖W*‖", why="twice the margin", delta=2 * eta * T / S),
        Mutant(
            "Δ = η_0T‖W*‖/4²",
            why="false for ‖W*‖ > 4; too large a size for the paths that reach T",
            delta=eta * T * S / 16,
            blind={"holds_beyond_the_threshold": "only |V| = 2 reaches it in time"},
        ),
        Mutant("at most Tη_0/(2‖W*‖)", why="half the margin", high=T * eta / (2 * S)),
        Mutant("at most 3Δ/4", why="below Δ", high=3 * eta * T / (16 * S**2)),
    ),
    anchors=(
        Anchor("no threshold", why="the closed form", threshold=sp.Integer(2)),
        Anchor("equality", why="the closed form", delta=eta * T / S, high=eta * T / S),
        Anchor("mean over tokens", why="steps are normalised", domain=EQUAL_MEAN),
    ),
)


def _by_closed_form(claim: Claim, instances: list[decide.Instance]) -> Outcome:
    """The margin is Tη_0/‖W*‖, whatever T and η_0."""
    margin = closed.MARGIN.subs(t, T)
    relations = (
        Relation("margin ≥ Δ", margin, claim.delta),
        Relation("margin ≤ its upper bound", claim.high, margin),
    )
    return decide.everywhere(
        relations, {T: 1, eta: 0}, instances, closed.equal_weights()
    )


@check(CLAIM, grade="symbolic", scope="all")
def closed_form_has_the_margin(claim: Claim) -> Outcome:
    """Put the closed form in; counterexamples are sought beyond the threshold."""
    threshold = Compiled(explicit(claim.threshold), "numpy")

    def admissible(one: decide.Instance) -> bool:
        from_there = float(threshold({name: float(x) for name, x in one.items()}))
        return decide.small_step(one) and one[T.name] >= from_there

    return _by_closed_form(claim, decide.grid(admissible, step=T.name))


@check(CLAIM, grade="property", scope="|V| = 2 from the threshold to the budget's T")
def holds_beyond_the_threshold(claim: Claim, equal_paths: Columns) -> Outcome:
    """Follow stage 1 until T passes the threshold, and read the margins off."""
    late = where(equal_paths, equal_paths["t"] >= 2)
    late = where(late, late["t"] >= value(claim.threshold, late))
    allowed = late["slack"] * late["high"]
    return together(
        at_least(late["low"], value(claim.delta, late), late, allowed, "margin ≥ Δ"),
        at_least(
            value(claim.high, late), late["high"], late, allowed, "margin ≤ bound"
        ),
    )


@necessity(
    CLAIM, assumption="small-step", needed=False, grade="symbolic", scope="any η_0 > 0"
)
def any_step_size(claim: Claim) -> Outcome:
    """The closed form holds for steps of any length."""
    return _by_closed_form(claim, decide.grid(step=T.name))
