"""Figure 3, left: training the dual model ends at the attention output.

Ren and Liu (NeurIPS 2024), Section 5: a layer is pre-trained on the linear task, its
dual model is trained on the N = 15 demonstrations of a fresh prompt, and "after N = 15
epochs training on the dual model, the test prediction is exactly equivalent to the ICL
inference result". Appendix E.2 and Figures 11 and 12 say the same for N = 127, 511.

Deviations from the text:
    1. "Epochs" is read in two ways. A step on one demonstration each gives one gradient
       step on Eq. (9) after N of them. N passes over all demonstrations, the usual
       sense of the word, make N such steps and overshoot N-fold.
    2. Self-attention with T = 0: the query is among its own keys (Appendix E.1), so
       that its own token stands in W_0 and in D.
    3. Random features as in the text, d_r = 100 (d_t + d_s), on both sides; how near
       they come to softmax is another question.
    4. Pre-training makes few passes; the identity holds at any weights.
Not decided here: the identity itself (theorem_3_1_dual_form.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Integer

from theorems.ren2024 import PAPER
from theorems.ren2024.studies.steps import ONE_BY_ONE, TOGETHER, arrives, wanders
from verify import (
    Anchor,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Resolve,
    Wording,
    check,
    evidence,
    refuted,
)
from verify.profiles import Profile

if TYPE_CHECKING:
    from theorems.ren2024.studies.dual import Paths
    from verify.runs import Runs

EARLY = Mutant(
    "one step earlier", why="the last demonstration is missing", steps=Integer(14)
)
LATE = Mutant("one step later", why="the first counts twice", steps=Integer(16))

CLAIM = Claim(
    id="ren2024/figure-3/equivalence@single-samples",
    kind=Kind.EMPIRICAL,
    title="the dual model arrives after N single-sample steps",
    says=(
        "After N = 15 gradient steps on one demonstration each the dual model predicts "
        "the attention output, to rounding."
    ),
    latex=r"\|\hat{y}_{test} - h'_{T+1}\|_2 = 0 \text{ after } N = 15 \text{ steps}",
    quantifiers="linear task, pre-trained layers, d_r = 1200",
    source=PAPER.at("Figure 3", "left part; Section 5"),
    wording=Wording.DERIVED,
    recipe_complete=False,
    parameters={"steps": Integer(15), "samples": ONE_BY_ONE},
    mutants=(
        EARLY,
        LATE,
        Mutant(
            "all demonstrations in each step",
            why="the sum of all steps is N times too long",
            samples=TOGETHER,
        ),
    ),
    resolves=(Resolve("steps", reach=2),),
)

EPOCHS = Claim(
    id="ren2024/figure-3/equivalence@full-passes",
    kind=Kind.EMPIRICAL,
    title="the dual model arrives after N passes",
    says=(
        "After N = 15 passes over all demonstrations the dual model predicts the "
        "attention output."
    ),
    latex=CLAIM.latex,
    quantifiers=CLAIM.quantifiers,
    source=PAPER.at("Figure 3", '"N = 15 epochs", taken literally'),
    wording=Wording.GUESSED,
    parameters={"steps": Integer(15), "samples": TOGETHER},
    anchors=(
        Anchor("one pass", why="one step on Eq. (9), Theorem 3.1", steps=Integer(1)),
        Anchor("one demonstration per step", why="their sum", samples=ONE_BY_ONE),
    ),
    mutants=(
        Mutant("two passes", why="twice the step", steps=Integer(2)),
        Mutant("no pass", why="the demonstrations are missing", steps=Integer(0)),
    ),
    finding=refuted("N passes make N gradient steps of Eq. (9), which overshoot"),
    nearest="ren2024/figure-3/equivalence@single-samples",
)

PATH = Claim(
    id="ren2024/figure-3/path",
    kind=Kind.EMPIRICAL,
    title="the way is not monotone, and leads on",
    says=(
        "On the way of single-sample steps the distance rises at least once before "
        "step N, and of the first 2N steps step N alone reaches 0."
    ),
    latex=r"\exists t < N:\ \delta_{t+1} > \delta_t; \quad \delta_t = 0 \iff t = N",
    quantifiers="every run; t = 0..2N",
    source=PAPER.at("Figure 3", "left part; our measurement"),
    wording=Wording.OURS,
    parameters={"rises": Integer(1), "arrivals": Integer(1)},
    mutants=(
        Mutant("monotone", why="some demonstrations lead away", rises=Integer(0)),
        Mutant("never arrives", why="it does after N steps", arrivals=Integer(0)),
        Mutant("stays there", why="further steps lead away", arrivals=Integer(16)),
    ),
)


@evidence
def dual_paths(profile: Profile, root_seed: int, device: str, runs: Runs) -> Paths:
    """Dual models of layers pre-trained on the linear task."""
    from theorems.ren2024.studies import dual

    return dual.attention_paths(dual.layers("linear", profile, root_seed, device, runs))


@check(CLAIM, EPOCHS, grade="trained", scope="one prompt per seed, d_r = 1200")
def dual_model_arrives(claim: Claim, dual_paths: Paths) -> Outcome:
    """Compare the distance after the claimed steps with a bound on rounding."""
    return arrives(
        dual_paths, str(claim.samples), int(claim.steps), f"figure-3-{claim.reading}"
    )


@check(PATH, grade="trained", scope="one prompt per seed, d_r = 1200")
def way_is_not_monotone(claim: Claim, dual_paths: Paths) -> Outcome:
    """Count rises before step N, and arrivals within 2N steps, run by run."""
    return wanders(dual_paths, int(claim.rises), int(claim.arrivals))
