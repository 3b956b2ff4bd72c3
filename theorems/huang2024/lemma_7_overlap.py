"""Lemma 7: W_kq overlaps little more with the gradient than the solution does.

Huang, Liang and Yang (NeurIPS 2024), Lemma 7 of Appendix C.4. Along stage 2 of
Algorithm 1 from W_kq = 0, under Assumptions 1 to 3, for t ≥ t_0 = ⌈8 L_max‖W*‖²/η⌉,

    ⟨∇L, W^(t)⟩ ≥ (1 + α_t) ⟨∇L, W*⟩ ‖W^(t)‖/‖W*‖,    α_t = (N + 3) β_0.

The proof compares samples with one another and forgets how often they occur. If a
sample is rare enough, W^(t) is on its way to the solution without it, and the gradient
too, long after t_0: two tokens, two samples and the frequency 10^-400 refute the lemma.
It holds when all samples are equally frequent, and in general with

    α_t = ‖W*‖ log(3 L_max⁶/π_min) / ‖W^(t)‖    for all t ≥ 1,

in which log(1/π_min) cannot be replaced by 9/10 of it.

Deviations from the text:
    1. The display is lost; it is rebuilt from its use in Appendix C.5. β_0 is the
       largest of its three lower bounds in the text.
Not decided here: what Theorem 1 makes of it (theorem_1_direction.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.descent import cases, exact, overlap
from theorems.huang2024.descent.notation import (
    AS_PRINTED,
    EQUAL,
    INJECTIVE,
    L,
    N,
    S,
    X,
    cosine,
    cosine_W,
    eta,
    pi_min,
)
from theorems.huang2024.model import INJECTIVE as INJECTIVE_MAP
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Variant,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search

if TYPE_CHECKING:
    from theorems.huang2024.descent.observed import Along, Rows

BETA = sp.Max(
    2 * S * sp.log(2 * L * X) / X,
    L**2 * S * (1 + sp.log(2 * X)) / X,
    2 * S * (1 + 2 * S) * sp.log(1 + X / (2 * S)) / X,
)
T_0 = 8 * L * S**2 / eta
RARE = exact.RarePairs(2, Fraction(1, 10**400), path=500)
RARER = (
    RARE,
    exact.RarePairs(9, Fraction(1, 10**630)),
    exact.RarePairs(400, Fraction(1, 10**630)),
)

CLAIM = Claim(
    id="huang2024/lemma-7@injective",
    title="the gradient overlaps with W little more than with W*",
    says=(
        "From step t_0 on, the overlap of the gradient with W_kq is at most 1 + α_t "
        "times its overlap with the max-margin solution of the same norm, where "
        "α_t = (N + 3) β_0 does not depend on the frequencies of the samples."
    ),
    latex=(
        r"\langle \nabla L, W^{(t)}_{kq} \rangle \ge (1 + \alpha_t) "
        r"\langle \nabla L, W^*_{kq} \rangle \frac{\|W^{(t)}_{kq}\|}{\|W^*_{kq}\|}"
    ),
    quantifiers="for all data of Assumptions 1-3, all η > 0, Δ > 0 and t ≥ t_0",
    source=PAPER.at("Lemma 7", "Appendix C.4"),
    wording=Wording.DERIVED,
    domain=INJECTIVE,
    assumes=(*AS_PRINTED, INJECTIVE_MAP),
    parameters={"alpha": (N + 3) * BETA, "scale": X / S, "start": T_0},
    mutants=(
        Mutant("α_t < 0", why="one pair needs α = 0", alpha=-(N + 3) * BETA),
        Mutant("α = -1/100", why="the same", alpha=sp.Rational(-1, 100)),
        Mutant("W* as it is", why="W grows and W* does not", scale=sp.S.One),
        Mutant("norms upside down", why="the same", scale=S / X),
        Mutant("root of the norms", why="the same", scale=sp.sqrt(X / S)),
    ),
    anchors=(
        Anchor(
            "equal frequencies",
            why="(N + 3) L_max² (1 + log 8L_max) ≥ log(3 L_max⁶ N)",
            domain=EQUAL,
        ),
    ),
    variants=(
        Variant(
            "α = 0, equal frequencies",
            why="no violation known; false for unequal ones",
            domain=EQUAL,
            alpha=sp.S.Zero,
        ),
    ),
    finding=refuted(
        "a rare sample is not seen before t ~ log(1/π)/η, long after t_0; two tokens "
        "and a frequency of 10^-400 suffice"
    ),
    nearest="huang2024/lemma-7/repaired",
    pinned=((cases.pairs(2, RARE.light), 0.05, 3.0),),
)

REPAIR = Claim(
    id="huang2024/lemma-7/repaired",
    title="Lemma 7 with the frequencies",
    says=(
        "For injective n the overlap of the gradient with W_kq is at most 1 + α_t "
        "times its overlap with the max-margin solution of the same norm, where "
        "α_t = ‖W*‖ log(3 L_max⁶/π_min)/‖W_kq‖, from the first step on."
    ),
    latex=(
        CLAIM.latex
        + r", \quad \alpha_t = \frac{\|W^*_{kq}\|}{\|W^{(t)}_{kq}\|} "
        + r"\log \frac{3 L_{\max}^6}{\pi_{\min}}"
    ),
    quantifiers="for all data of Assumptions 1-3, n injective, all η, Δ > 0 and t ≥ 1",
    source=PAPER.at("Lemma 7", "repaired"),
    wording=Wording.OURS,
    domain=INJECTIVE,
    assumes=(*AS_PRINTED, INJECTIVE_MAP),
    parameters={
        "alpha": S * sp.log(3 * L**6 / pi_min) / X,
        "scale": X / S,
        "start": sp.S.One,
    },
    mutants=(
        Mutant(
            "α = 0",
            why="W heads for the solution without a rare sample",
            alpha=sp.S.Zero,
        ),
        Mutant(
            "no frequencies",
            why="a rare sample is seen at t ~ log(1/π)/η",
            alpha=S * sp.log(3 * L**6) / X,
        ),
        Mutant(
            "half of log(1/π)",
            why="nine pairs need 2/3 of it",
            alpha=S * (sp.log(3 * L**6) - sp.log(pi_min) / 2) / X,
        ),
        Mutant(
            "9/10 of log(1/π)",
            why="400 pairs need 19/20 of it",
            alpha=S * (sp.log(3 * L**6) - sp.Rational(9, 10) * sp.log(pi_min)) / X,
        ),
        Mutant(
            "no ‖W*‖",
            why="Q pairs need (√Q - 1)/√2 log(1/π)/‖W‖",
            alpha=sp.log(3 * L**6 / pi_min) / X,
        ),
        Mutant("α < 0", why="one pair", alpha=-S * sp.log(3 * L**6 / pi_min) / X),
        Mutant("W* as it is", why="W grows and W* does not", scale=sp.S.One),
    ),
    anchors=(
        Anchor("6 for 3", why="weaker", alpha=S * sp.log(6 * L**6 / pi_min) / X),
        Anchor("from t_0 on", why="weaker", start=T_0),
        Anchor("equal frequencies", why="fewer data", domain=EQUAL),
    ),
    pinned=tuple((cases.pairs(one.pairs, one.light), 0.05, 3.0) for one in RARER),
)

CLAIMS = (CLAIM, REPAIR)


# ---------------------------------------------------------------- exact


@check(*CLAIMS, grade="symbolic", scope="all")
def margins_are_weighed_by_their_exponentials(claim: Claim) -> Outcome:
    """Bound the mean margin by the least; refute by rare pairs in closed form."""
    return overlap.decide(claim, RARER)


# ---------------------------------------------------------------- floating point


def _relations(claim: Claim) -> tuple[Along, ...]:
    from theorems.huang2024.descent.observed import Along

    most = (1 + claim.alpha) * cosine * S * claim.scale
    return (Along("overlap with W ≤ bound", most, cosine_W * X),)


@evidence
def paths(profile: Profile, seed: int) -> Rows:
    """Random data with frequencies from equal to very unequal, and rare pairs."""
    from theorems.huang2024.descent import observed

    count = profile.pick(smoke=60, default=240, full=2_400)
    runs = observed.random_settings(seed, count)
    rare = [
        observed.Setting(cases.pairs(one.pairs, one.light), 0.05, 3.0) for one in RARER
    ]
    rare += [observed.Setting(one, 5.0, 3.0) for one in cases.INJECTIVE_CASES]
    return observed.joined(
        observed.follow(runs, (*observed.TIMES, 600)),
        observed.follow(rare, (1, 10, 100, 200, 300, 333)),
    )


@check(*CLAIMS, grade="property", scope="random data, |V| ≤ 7, L ≤ 12, t ≤ 600")
def holds_along_paths(claim: Claim, paths: Rows) -> Outcome:
    """Follow many paths in floating point; report how tight the bound is."""
    from theorems.huang2024.descent import observed

    rows = observed.of(paths, claim.domain, sp.Max(1, claim.start))
    return observed.judge(_relations(claim), rows, "random and extreme data")


@check(*CLAIMS, grade="property", scope="small data drawn by a search, t ≤ 480")
def survives_a_search(claim: Claim, search: Search) -> Outcome:
    """Let Hypothesis keep W from its way."""
    from theorems.huang2024.descent import hunt

    return hunt.search_paths(
        claim,
        _relations(claim),
        search,
        since=sp.Max(1, claim.start),
        at=(5, 20, 60, 120, 200, 333, 480),
        etas=(3.0, 1.0),
    )


# ---------------------------------------------------------------- necessity


@necessity(
    REPAIR,
    assumption="injective",
    needed=True,
    grade="numeric",
    scope="[a, a, b, q] with n(a) = n(b), Δ = 5, η = 3",
)
def with_two_optimal_types(claim: Claim) -> Outcome:
    """W turns to the optimal token that stands twice, and stays there."""
    from theorems.huang2024.descent import observed

    runs = [observed.Setting(cases.two_carriers(), 5.0, 3.0)]
    rows = observed.follow(runs, (100, 200, 300))
    return observed.judge(_relations(claim), rows, "three tokens")


@necessity(
    REPAIR,
    assumption="normalised",
    needed=False,
    grade="property",
    scope="plain gradient descent on random data",
)
def plain_gradient_descent(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """The proof looks at one W with the right signs, however it was reached."""
    from theorems.huang2024.descent import observed

    runs = observed.random_settings(seed, profile.pick(smoke=30, default=90, full=900))
    rows = observed.follow(runs, plain=True)
    rows = observed.of(rows, claim.domain, 1)
    return observed.judge(_relations(claim), rows, "random data")
