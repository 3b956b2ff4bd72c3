"""Figure 14, left: training the dual model of a Transformer layer ends at its output.

Ren and Liu (NeurIPS 2024), Appendix E.4, after Theorem B.1: with a feed-forward layer
behind the attention, x̂ = W_2 ReLU(W_1 h' + b_1) + b_2 = W_F h' + b_F, the dual model
f(x) = Wφ(x) + b starts at W_F W_0 and b_F, and only W is trained,
with labels W_F W_V x.

Deviations from the text:
    1. Steps on one demonstration each, N = 15, as for Figure 3.
    2. The attention is pre-trained on the linear task without the feed-forward layer,
       whose weights are random, d_h = 4d; the identity holds at any weights.
    3. Section 3.2 has labels W_F W_K x: a slip, refuted as a mutant here.
Not decided here: the identity itself (Theorem B.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer

from theorems.ren2024 import PAPER
from theorems.ren2024.studies.steps import (
    LABELS,
    NO_BIAS,
    WRONG_LABELS,
    WRONG_START,
    arrives,
)
from verify import Claim, Kind, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile

if TYPE_CHECKING:
    from theorems.ren2024.studies.dual import Paths
    from verify.runs import Runs

CLAIM = Claim(
    id="ren2024/figure-14/equivalence",
    kind=Kind.EMPIRICAL,
    title="the dual model of a Transformer layer arrives after N steps",
    says=(
        "After N = 15 gradient steps on one demonstration each the dual model of a "
        "Transformer layer predicts its output, to rounding."
    ),
    latex=(
        r"\|\hat{y}_{test} - \hat{x}'_{T+1}\|_2 = 0 \text{ after } N = 15 "
        r"\text{ steps}"
    ),
    quantifiers="linear task, pre-trained attention, d_r = 1200, d_h = 48",
    source=PAPER.at("Figure 14", "left part; Appendix E.4"),
    wording=Wording.DERIVED,
    recipe_complete=False,
    parameters={"steps": Integer(15), "recipe": LABELS},
    mutants=(
        Mutant("one step earlier", why="a demonstration is missing", steps=Integer(14)),
        Mutant("one step later", why="one counts twice", steps=Integer(16)),
        Mutant("labels W_F W_K x", why="a slip of the text", recipe=WRONG_LABELS),
        Mutant("W_init = W_0", why="W_F is missing", recipe=WRONG_START),
        Mutant("b = 0", why="the layer has biases", recipe=NO_BIAS),
    ),
)


@evidence
def dual_paths(profile: Profile, root_seed: int, device: str, runs: Runs) -> Paths:
    """Dual models of Transformer layers, attention pre-trained on the linear task."""
    from theorems.ren2024.studies import dual

    return dual.transformer_paths(
        dual.layers("linear", profile, root_seed, device, runs)
    )


@check(CLAIM, grade="trained", scope="one prompt per seed, d_r = 1200, d_h = 48")
def dual_model_arrives(claim: Claim, dual_paths: Paths) -> Outcome:
    """Compare the distance after the claimed steps with a bound on rounding."""
    return arrives(dual_paths, str(claim.recipe), int(claim.steps), "figure-14-left")
