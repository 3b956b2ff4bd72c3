"""Lemmas C.8 and C.9: the signal term of ReLU tasks.

Collins et al. (NeurIPS 2024), Appendix C.2. With w_KQ ≥ (d + √d)/2,

    C.8     L_relu ≤ O(L²/w) + 4L²/n
    C.9     L_relu ≥ L_aff/2 ≥ Ω(L²/w²)

Both hold in the range of Corollary G.5, and neither is sharp: the exact order is
w^{-3/2}, from queries within 1/√w of the kink. Beyond the range C.8 fails for d ≥ 6:
the nearest token is n^{-1/(d-1)} away, and no scale sees more than it.

Of C.9, an identity gives the half: a task is a z + c|z|, z = ω·x, with uncorrelated a
and c of variance L²/6, so that L_relu = L_aff/2 + (L²/6) E(Σγ|z_i| - |z|)². The text's
own way says that f(x_i) is independent of the affine f(x_j) across the kink; both
contain b.

Deviations from the text:
    1. w = 2 w_KQ, so that γ_i is proportional to exp(w x_i·x): constants change.
    2. The displays are lost; their orders are legible in Appendix E.
    3. C.8 may or may not carry the range of Corollary G.5: both readings are decided.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import kink, observed, orders
from theorems.collins2024.bias.assumptions import LIPSCHITZ as IS_LIPSCHITZ
from theorems.collins2024.bias.assumptions import RANGE, SPHERE, WIDE
from theorems.collins2024.bias.terms import (
    ANY_SCALE,
    EVERYWHERE,
    LIPSCHITZ,
    RELU,
    least,
    most,
)
from theorems.collins2024.bounds.notation import m, n, w
from verify import (
    Anchor,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Wording,
    check,
    evidence,
    refuted,
)
from verify.profiles import Profile

THREE_HALVES = w ** -sp.Rational(3, 2)
SPREAD = w ** (m - 1) / n
BEYOND = {
    "signal_within_its_constants": "with this constant it shows at larger w than tried"
}

WITHIN = Claim(
    id="collins2024/lemma-c.8@within-range",
    title="bias of the ReLU class, from above",
    says="In the range of Corollary G.5 the signal term is at most O(L²/w + L²/n).",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w) \le C_d \left(\frac{L^2}{w} + "
        r"\frac{L^2}{n}\right)"
    ),
    quantifiers="for all d ≥ 2, L-Lipschitz tasks, n and w in the range",
    source=PAPER.at("Lemma C.8"),
    wording=Wording.GUESSED,
    domain=LIPSCHITZ,
    assumes=(SPHERE, IS_LIPSCHITZ, RANGE),
    parameters={"upper": 1 / w + 1 / n, "most": most(LIPSCHITZ)},
    mutants=(
        Mutant("w^-3", why="bias² of ReLU tasks is w^{-3/2}", upper=w**-3 + 1 / n),
        Mutant(
            "w^-2",
            why="bias² of ReLU tasks is w^{-3/2}",
            upper=w**-2 + 1 / n,
            blind=BEYOND,
        ),
        Mutant("1/n alone", why="a window has bias however large n", upper=1 / n),
    ),
)

ANYWHERE = Claim(
    id="collins2024/lemma-c.8@any-scale",
    title="bias of the ReLU class, any scale",
    says="For every w_KQ ≥ (d + √d)/2 the signal term is at most O(L²/w + L²/n).",
    latex=WITHIN.latex,
    quantifiers="for all d ≥ 2, all n and all w_KQ ≥ (d + √d)/2",
    source=PAPER.at("Lemma C.8"),
    wording=Wording.GUESSED,
    domain=ANY_SCALE,
    assumes=(SPHERE, IS_LIPSCHITZ, WIDE),
    parameters=WITHIN.parameters,
    finding=refuted(
        "for d ≥ 6 the nearest token alone costs n^{-4/(d-1)}, more than 1/w + 1/n at "
        "w = n"
    ),
    nearest="collins2024/lemma-c.8@within-range",
    anchors=(
        Anchor("within the range", why="there tokens are many", domain=LIPSCHITZ),
    ),
    mutants=(
        Mutant("w^-2", why="bias² of ReLU tasks is w^{-3/2}", upper=w**-2 + 1 / n),
        Mutant("1/n alone", why="a window has bias however large n", upper=1 / n),
    ),
)

HALF = Claim(
    id="collins2024/lemma-c.9",
    title="ReLU against affine tasks",
    says="The signal term of ReLU tasks is at least half that of affine tasks.",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^+_L)) \ge \tfrac12 "
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^{\mathrm{aff}}_L))"
    ),
    quantifiers="for all d ≥ 2, n ≥ 1, L and all w, negative ones included",
    source=PAPER.at("Lemma C.9"),
    wording=Wording.DERIVED,
    assumes=(SPHERE,),
    parameters={"share": sp.Rational(1, 2)},
    mutants=(
        Mutant("2/3", why="5/8 at d = 3, w = 0", share=sp.Rational(2, 3)),
        Mutant("1", why="slopes differ in sign half of the time", share=sp.S.One),
        Mutant("3/5", why="1 - 4/π² at d = 2, w = 0", share=sp.Rational(3, 5)),
    ),
)

RATE = Claim(
    id="collins2024/lemma-c.9/rate",
    title="bias of the ReLU class, from below",
    says="The signal term of ReLU tasks is at least Ω(L²/w²).",
    latex=r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^+_L)) \ge c_d L^2 / w^2",
    quantifiers="for all d ≥ 2, all n and all w_KQ ≥ (d + √d)/2",
    source=PAPER.at("Lemma C.9"),
    wording=Wording.DERIVED,
    domain=EVERYWHERE,
    assumes=(SPHERE, WIDE),
    parameters={"lower": w**-2, "least": least(EVERYWHERE)},
    mutants=(
        Mutant("w^-1", why="bias² is of order w^{-3/2}", lower=1 / w, blind=BEYOND),
        Mutant("w^{-1/2}", why="bias² is w^{-3/2}", lower=1 / sp.sqrt(w)),
        Mutant("constant", why="narrow windows have small bias", lower=sp.S.One),
    ),
)

SHARP = Claim(
    id="collins2024/lemma-c.8/sharp",
    title="bias of the ReLU class, exact order",
    says="The signal term of ReLU tasks is of order L²w^{-3/2} + L²w^{(d-3)/2}/n.",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^+_L)) = \Theta\left("
        r"\frac{L^2}{w^{3/2}} + \frac{L^2 w^{(d-3)/2}}{n}\right)"
    ),
    quantifiers="for all d ≥ 2, n and w in the range",
    source=PAPER.at("Lemma C.8", "Lemma C.9"),
    wording=Wording.OURS,
    domain=RELU,
    assumes=(SPHERE, RANGE),
    parameters={
        "lower": THREE_HALVES + SPREAD,
        "upper": THREE_HALVES + SPREAD,
        "least": least(RELU),
        "most": most(RELU),
    },
    mutants=(
        Mutant(
            "affine order from above",
            why="queries near the kink add w^{-3/2}",
            upper=w**-2 + SPREAD,
            blind=BEYOND,
        ),
        Mutant("w^-3 from above", why="it is w^{-3/2}", upper=w**-3 + SPREAD),
        Mutant(
            "Lemma C.8's order from below",
            why="only a share w^{-1/2} of queries is near the kink",
            lower=1 / w + SPREAD,
            blind=BEYOND,
        ),
        Mutant("constant from below", why="it falls", lower=sp.S.One),
    ),
)

STEP = Claim(
    id="collins2024/lemma-c.9/independence",
    kind=Kind.PROOF_STEP,
    title="independence across the kink",
    says=(
        "f(x_i) is uncorrelated with the affine f(x_j) for x_i across the kink and x_j "
        "on the query's side: the third equality of the proof."
    ),
    latex=(
        r"\mathbb E[f(x_i) f_{x,\mathrm{aff}}(x_j) \mid w, x_1, \dots, x_n] = 0, "
        r"\quad i \in A,\ j \notin A"
    ),
    quantifiers="for all L, w, x and tokens, slopes and offset uniform on [-L, L]",
    source=PAPER.at("Lemma C.9", "its proof"),
    wording=Wording.PRINTED,
    domain=kink.AS_STATED,
    assumes=(SPHERE,),
    parameters={"covariance": sp.S.Zero},
    finding=refuted(
        "both contain the offset b, of variance L²/3; without it, which changes no "
        "loss, the step holds and so does the lemma"
    ),
    nearest="collins2024/lemma-c.9/independence/repaired",
    anchors=(
        Anchor("without the offset", why="slopes are independent", domain=kink.CENTRED),
    ),
    mutants=(
        Mutant("covariance L²/3", why="the offset is gone", covariance=kink.L**2 / 3),
        Mutant(
            "one slope on both sides",
            why="then f is affine up to a sign",
            domain=kink.ONE_SLOPE,
        ),
    ),
)

STEP_REPAIRED = Claim(
    id="collins2024/lemma-c.9/independence/repaired",
    kind=Kind.PROOF_STEP,
    title="no correlation across the kink, offset removed",
    says="Without the offset, f(x_i) and the affine f(x_j) are uncorrelated across it.",
    latex=STEP.latex,
    quantifiers=STEP.quantifiers,
    source=PAPER.at("Lemma C.9", "its proof"),
    wording=Wording.OURS,
    domain=kink.CENTRED,
    assumes=(SPHERE,),
    parameters=STEP.parameters,
    mutants=(
        *STEP.mutants,
        Mutant("with the offset", why="its variance stays", domain=kink.AS_STATED),
    ),
)


@evidence
def losses(profile: Profile, seed: int) -> observed.Table:
    """Exact signals on random instances of the range."""
    return observed.kinked(seed, profile.pick(smoke=5, default=40, full=400))


@check(WITHIN, ANYWHERE, RATE, SHARP, grade="symbolic", scope="all")
def order_of_the_signal(claim: Claim) -> Outcome:
    """Bound the mean distance, the crossings of the kink and queries close to it."""
    return orders.decide(claim)


@check(WITHIN, RATE, SHARP, grade="property", scope="d = 2..6, w ≤ 5000, n ≤ 1e18")
def signal_within_its_constants(claim: Claim, losses: observed.Table) -> Outcome:
    """Hold the exhibited constants against the exact signal of three classes."""
    return observed.decide(claim, losses)


@check(HALF, grade="symbolic", scope="all")
def half_is_an_identity(claim: Claim) -> Outcome:
    """Split a ReLU task into uncorrelated linear and even parts."""
    return kink.share(claim)


@evidence
def ratios(profile: Profile, seed: int) -> kink.Ratios:
    """ReLU over affine signal, on random d, n and w of any sign."""
    return kink.draw(seed, profile.pick(smoke=6, default=40, full=1000))


@check(HALF, grade="property", scope="d = 2..6, n ≤ 1e6, |w| ≤ 300")
def half_on_instances(claim: Claim, ratios: kink.Ratios) -> Outcome:
    """Hunt for a smaller ratio with the exact loss."""
    return kink.observed(claim, ratios)


@check(STEP, STEP_REPAIRED, grade="symbolic", scope="all")
def covariance_across_the_kink(claim: Claim) -> Outcome:
    """Integrate over slopes and offset, exactly."""
    return kink.covariance(claim)


@check(STEP, STEP_REPAIRED, grade="property", scope="random tokens on a grid of laws")
def covariance_of_a_sum(claim: Claim, seed: int, profile: Profile) -> Outcome:
    """Sum f(x_i) f_aff(x_j) over all signs of slopes and offset, in exact rationals."""
    return kink.enumerate_signs(claim, seed, profile.instances // 10)
