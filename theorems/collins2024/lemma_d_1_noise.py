"""Lemma D.1: the noise term is of order σ²w^{d/2}/n; and its exact order.

Collins et al. (NeurIPS 2024), Appendix D: for d + √d ≤ w_KQ ≤ (n/(45√d log n))^{2/d},

    L_noise = σ² E Σ γ_i² = Θ(σ² w_KQ^{d/2} / n).

The upper bound holds. The lower one does not: a sphere in R^d has dimension d - 1, and
the order is w^{(d-1)/2}. The exponent d/2 comes from Lemma G.1's cap, used downstream.

Deviations from the text:
    1. w = 2 w_KQ, so that γ_i is proportional to exp(w x_i·x): constants change.
    2. The display is lost; its order is legible in the sketch and in Appendix E.
    3. "With probability 1 - 1/n" is replaced by bounds on expectations.
Not decided here: what the exponent does to Theorem 3.4 (theorem_3_4_*).
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import observed, orders
from theorems.collins2024.bias.assumptions import RANGE
from theorems.collins2024.bias.terms import NOISE, least, most
from theorems.collins2024.bounds.notation import d, m, n, w
from verify import Anchor, Claim, Mutant, Outcome, Wording, check, evidence, refuted
from verify.profiles import Profile

PRINTED = w ** (d / 2) / n
EXACT = w**m / n

UPPER = Claim(
    id="collins2024/lemma-d.1/upper",
    title="noise, from above",
    says="The noise term is at most a constant (of d) times σ²w^{d/2}/n.",
    latex=r"\mathcal L_{\mathrm{noise}}(w) \le C_d\, \sigma^2 w^{d/2} / n",
    quantifiers="for all d ≥ 2 and n, w in the range of the lemma",
    source=PAPER.at("Lemma D.1"),
    wording=Wording.DERIVED,
    domain=NOISE,
    assumes=(RANGE,),
    parameters={"upper": PRINTED, "most": most(NOISE)},
    mutants=(
        Mutant(
            "w^{(d-2)/2}",
            why="the exact power is (d - 1)/2",
            upper=w ** ((d - 2) / 2) / n,
        ),
        Mutant("n^-2", why="a weight is at least 1/n on average", upper=PRINTED / n),
        Mutant("no growth", why="a narrow window sees fewer tokens", upper=1 / n),
    ),
)

LOWER = Claim(
    id="collins2024/lemma-d.1/lower",
    title="noise, from below",
    says="The noise term is at least a constant (of d) times σ²w^{d/2}/n.",
    latex=r"\mathcal L_{\mathrm{noise}}(w) \ge c_d\, \sigma^2 w^{d/2} / n",
    quantifiers=UPPER.quantifiers,
    source=PAPER.at("Lemma D.1"),
    wording=Wording.DERIVED,
    domain=NOISE,
    assumes=(RANGE,),
    parameters={"lower": PRINTED, "least": least(NOISE)},
    finding=refuted(
        "n E Σγ² is at most C w^{(d-1)/2}, so that the ratio falls like w^{-1/2}"
    ),
    nearest="collins2024/lemma-d.1/repaired",
    anchors=(Anchor("w^{(d-1)/2}", why="the exact order", lower=EXACT),),
    mutants=(
        Mutant("w^{(d+1)/2}", why="beyond the exact order", lower=w * EXACT),
        Mutant("n^{-1/2}", why="noise falls like 1/n", lower=sp.sqrt(n) * EXACT),
    ),
)

REPAIRED = Claim(
    id="collins2024/lemma-d.1/repaired",
    title="noise, exact order",
    says="The noise term is of order σ²w^{(d-1)/2}/n, from below and above.",
    latex=r"\mathcal L_{\mathrm{noise}}(w) = \Theta(\sigma^2 w^{(d-1)/2} / n)",
    quantifiers=UPPER.quantifiers,
    source=PAPER.at("Lemma D.1"),
    wording=Wording.OURS,
    domain=NOISE,
    assumes=(RANGE,),
    parameters={
        "lower": EXACT,
        "upper": EXACT,
        "least": least(NOISE),
        "most": most(NOISE),
    },
    mutants=(
        Mutant("as printed", why="the ratio falls", lower=PRINTED, upper=PRINTED),
        Mutant(
            "w^{(d-2)/2}",
            why="the ratio grows",
            lower=w ** ((d - 2) / 2) / n,
            upper=w ** ((d - 2) / 2) / n,
        ),
        Mutant("w^{d-1}", why="twice the power", lower=w ** (d - 1) / n),
        Mutant("n^-2", why="noise falls like 1/n", upper=EXACT / n),
    ),
)


@evidence
def losses(profile: Profile, seed: int) -> observed.Table:
    """Exact noise on random instances of the range."""
    return observed.smooth(seed, profile.pick(smoke=10, default=120, full=600))


@check(UPPER, LOWER, REPAIRED, grade="symbolic", scope="all")
def order_of_the_noise(claim: Claim) -> Outcome:
    """Bound E Σγ² by one-token integrals, from both sides, with constants in d."""
    return orders.decide(claim)


@check(UPPER, REPAIRED, grade="property", scope="d = 2..6, w ≤ 1e7, n ≤ 1e18")
def noise_within_its_constants(claim: Claim, losses: observed.Table) -> Outcome:
    """Hold the exhibited constants against the exact noise."""
    return observed.decide(claim, losses)
