"""The regularised layer as self-attention: A - αI is not the dual of Eq. (12).

Ren and Liu (NeurIPS 2024), Appendix D.1: "if all other tokens adopt the same
modification" as in Eq. (13), the self-attention layer becomes W_V X (A - αI), "similar
to skip connections", normalised to Norm(A - αI) for stability.

In self-attention the query is its own query token, so that W_0 = v_q φ(k_q)ᵀ/D and
Eq. (13) takes α times *its attention on itself* off: the dual layer is

    W_V X (A - α diag A),

whereas A - αI takes α off whatever that attention is. They agree where α = 0, A_qq = 1
or v_q = 0 alone.

Norm(A - αI) is said to "reduce the attention score of each token to its own
information", which becomes (A_qq - α)/(1 - α): less than A_qq for 0 < α < 1, more than
one for α > 1, as for the α = 16 of Appendix E.

Deviations from the text:
    1. The display is lost; A - αI is read off Lemma D.1 and "skip connections".
Not decided here: which form trains better (Figure 3).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp
from hypothesis import strategies as st
from sympy import Integer, Symbol, oo

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import decide
from theorems.ren2024.duals.notation import (
    KERNEL,
    NORM,
    ONE_PLAIN_STEP,
    PER_QUERY,
    REGULARISED,
    SIMILARITY,
    A_q,
    alpha,
)
from theorems.ren2024.model import V_D, D, Phi_D, eta, kernel_sum, p, phi_k, v_q
from verify import (
    Anchor,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.ren2024.duals.floats import Layers

MUTANTS = (
    Mutant(
        "α/2 ‖W‖²",
        why="W_0 keeps 1 - ηα; the same at η = 1",
        loss=SIMILARITY + alpha / 2 * NORM,
    ),
    Mutant("α/η ‖W‖²", why="W_0 keeps 1 - 2α", loss=SIMILARITY + alpha / eta * NORM),
    Mutant("added, not removed", why="W_0 loses α", removed=-alpha * A_q),
    Mutant(
        "normalised",
        why="the dual model normalises by the D of A",
        total=1 - alpha * A_q,
    ),
    Mutant("α A_qq²", why="W_0 holds the attention once", removed=alpha * A_q**2),
)

PRINTED = Claim(
    id="ren2024/equation-13/self-attention",
    title="A - αI as the dual of the regularised loss",
    says=(
        "In self-attention the dual model trained on the regularised loss predicts "
        "W_V X (A - αI)."
    ),
    latex=r"H = W_V X (A - \alpha I)",
    quantifiers=(
        "for all N, d_o, d_r ≥ 1, all weights and tokens, all η > 0, all real α"
    ),
    source=PAPER.at("Equation (13)", "its self-attention form, Appendix D.1"),
    wording=Wording.GUESSED,
    assumes=(KERNEL, ONE_PLAIN_STEP, PER_QUERY),
    parameters={
        "loss": REGULARISED,
        "init": v_q * phi_k.T / D,
        "normaliser": kernel_sum(Phi_D) + kernel_sum(phi_k),
        "steps": Integer(1),
        "step_length": Integer(1),
        "values_D": V_D,
        "values_own": v_q,
        "features_D": Phi_D,
        "features_own": phi_k,
        "query": p,
        "removed": alpha,
        "total": Integer(1),
    },
    mutants=MUTANTS,
    anchors=(
        Anchor(
            "A - α diag A",
            why="W_0 = v_q φ(k_q)ᵀ/D holds the query's attention on itself",
            removed=alpha * A_q,
        ),
    ),
    finding=refuted("W_0 loses α A_qq of the query's value, not α"),
    nearest="ren2024/equation-13/self-attention/repaired",
)

REPAIRED = Claim(
    id="ren2024/equation-13/self-attention/repaired",
    title="A - α diag A is the dual of the regularised loss",
    says=(
        "In self-attention the dual model trained on the regularised loss predicts "
        "W_V X (A - α diag A)."
    ),
    latex=r"H = W_V X (A - \alpha\, \mathrm{diag}\, A)",
    quantifiers=PRINTED.quantifiers,
    source=PRINTED.source,
    wording=Wording.OURS,
    assumes=PRINTED.assumes,
    parameters={**PRINTED.parameters, "removed": alpha * A_q},
    mutants=(
        *MUTANTS,
        Mutant("A - αI", why="it takes off more than W_0 loses", removed=alpha),
    ),
)

BOTH = (PRINTED, REPAIRED)


@check(*BOTH, grade="symbolic", scope="all")
def prediction_is_the_self_attention(claim: Claim) -> Outcome:
    """Prove both sides equal for all sizes, with the gradient of the loss."""
    return decide.prove(claim)


@check(*BOTH, grade="property", scope="rational layers, N ≤ 4")
def trained_in_exact_arithmetic(claim: Claim, search: Search) -> Outcome:
    """Train the dual model in fractions and compare with the literal layer."""
    return decide.train_and_compare(claim, search)


@check(*BOTH, grade="property", scope="binary tokens, d ≤ 2, kernel 2^(x·y)")
def equals_modified_softmax_exactly(claim: Claim, search: Search) -> Outcome:
    """Compare with softmax to base 2 of the tokens themselves."""
    return decide.train_and_compare(claim, search, decide.literal_softmax)


@evidence
def random_layers(profile: Profile, seed: int) -> Layers:
    """Random layers with random features, in float64."""
    from theorems.ren2024.duals import floats

    return floats.random_layers(profile.instances // 4, seed)


@check(*BOTH, grade="numeric", scope="random layers, N ≤ 24, float64, autograd")
def trained_by_autograd(claim: Claim, random_layers: Layers) -> Outcome:
    """Let autograd differentiate the regularised loss."""
    from theorems.ren2024.duals import floats

    return floats.by_autograd(claim, random_layers)


# ---------------------------------------------------------------- its own information

OWN = Claim(
    id="ren2024/equation-13/own-score",
    title="Norm(A - αI) lowers the score of a token on itself",
    says=(
        "Subtracting α > 0 from the diagonal of the attention block and normalising "
        "its columns reduces the attention score of each token to itself."
    ),
    latex=r"\frac{A_{qq} - \alpha}{1 - \alpha} < A_{qq}",
    quantifiers="for all attention scores 0 < A_qq < 1, all α > 0 other than 1",
    source=PAPER.at("Equation (13)", "its normalised form, Appendix D.1"),
    wording=Wording.GUESSED,
    parameters={"score": (A_q - alpha) / (1 - alpha), "below": oo},
    mutants=(
        Mutant("α < 2", why="for α > 1 the score exceeds one", below=Integer(2)),
        Mutant("α added", why="that raises it", score=(A_q + alpha) / (1 + alpha)),
        Mutant("the column scaled and normalised", why="that leaves it", score=A_q),
    ),
    anchors=(Anchor("α < 1", why="A_qq - α < A_qq (1 - α)", below=Integer(1)),),
    finding=refuted("for α > 1, such as 16, the score is above one"),
    nearest="ren2024/equation-13/own-score/repaired",
)

OWN_REPAIRED = Claim(
    id="ren2024/equation-13/own-score/repaired",
    title="Norm(A - αI) lowers the score for 0 < α < 1",
    says=(
        "For 0 < α < 1, subtracting α from the diagonal of the attention block and "
        "normalising its columns reduces the attention score of each token to itself."
    ),
    latex=OWN.latex,
    quantifiers="for all attention scores 0 < A_qq < 1, all 0 < α < 1",
    source=OWN.source,
    wording=Wording.OURS,
    parameters={**OWN.parameters, "below": Integer(1)},
    mutants=OWN.mutants,
)

x, y = Symbol("x", positive=True), Symbol("y", positive=True)
SCORES = [
    {"A_q": Fraction(a), "alpha": Fraction(b)}
    for a in ("1/2", "1/16", "15/16")
    for b in ("1/2", "16", "3/2", "1/10")
]


def _raised(claim: Claim, case: dict[str, Fraction]) -> bool:
    at = {A_q: sp.Rational(case["A_q"]), alpha: sp.Rational(case["alpha"])}
    return bool(at[alpha] < claim.below) and bool(claim.score.subs(at) >= at[A_q])


def _not_lower(claim: Claim, case: dict[str, Fraction]) -> Any:
    says = "the score of a token on itself is not reduced"
    return formula(claim.score, ">=", A_q, case, says)


@check(OWN, OWN_REPAIRED, grade="symbolic", scope="all")
def sign_of_the_change(claim: Claim) -> Outcome:
    """Put A_qq = y/(1+y), α = x/(1+x) or x: the change has positive coefficients."""
    for case in SCORES:
        if _raised(claim, case):
            return Refuted("it is not reduced", witness=_not_lower(claim, case))
    change = sp.cancel(A_q - claim.score)
    inside = {A_q: y / (1 + y), alpha: x / (1 + x) if claim.below == 1 else x}
    parts = sp.fraction(sp.cancel(change.subs(inside)))
    if all(c > 0 for part in parts for c in sp.Poly(part, x, y).coeffs()):
        return Holds("A_qq less the new score is positive", steps=(str(change),))
    return Inconclusive("signs differ", cause=Cause.NO_PROOF)


@check(OWN, OWN_REPAIRED, grade="property", scope="rational scores, α ≤ 64")
def scores_in_fractions(claim: Claim, search: Search) -> Outcome:
    """Hunt for a score that is not reduced."""
    score = st.integers(1, 63).map(lambda k: Fraction(k, 64))
    shift = (
        st.integers(1, 4096).filter(lambda k: k != 64).map(lambda k: Fraction(k, 64))
    )
    return search.for_all(
        st.builds(lambda a, b: {"A_q": a, "alpha": b}, score, shift),
        lambda case: _raised(claim, case),
        lambda case: _not_lower(claim, case),
        searched="multiples of 1/64",
        pinned=SCORES,
        scale=0.3,
    )
