"""Lemmas C.4, C.5 and Corollary C.6: the signal term of affine tasks.

Collins et al. (NeurIPS 2024), Appendix C.1. With w = w_KQ ≥ (d + √d)/2,

    C.4     L_aff ≤ O(L²/w² + L² w^{d/2-1}/n)
    C.5     L_aff ≥ Ω(L²/w²); for smaller w, L_aff ≥ Ω(L²)
    C.6     both

All hold. The proof here is short: L_aff = L²/(3d) E[ū² + Σγ²u(2 - u)], u = 1 - x_i·x;
the second term is exactly of order w^{(d-3)/2}/n, a factor √w below the text's.

Deviations from the text:
    1. w = 2 w_KQ, so that γ_i is proportional to exp(w x_i·x): constants change.
    2. The displays are lost; their orders are legible in Appendix E. A further term
       O(L²/n), from an event of probability 1/n, may be among them; it is not needed.
    3. "With probability 1 - 1/n" is replaced by bounds on expectations.
Not decided here: Corollary G.5, on which the text's proof rests.
"""

from __future__ import annotations

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bias import floor, observed, orders
from theorems.collins2024.bias.assumptions import RANGE, SPHERE, WIDE
from theorems.collins2024.bias.terms import AFFINE, least, most
from theorems.collins2024.bounds.notation import d, m, n, w
from verify import Claim, Mutant, Outcome, Wording, check, evidence
from verify.profiles import Profile

BIAS = w**-2
SPREAD = w ** (d / 2 - 1) / n
HARMLESS = {
    "signal_within_its_constants": (
        "where n is in the range, the two terms differ by less than the constant"
    )
}

UPPER_MUTANTS = (
    Mutant("w^-3", why="a window of radius 1/√w is off by 1/w", upper=w**-3 + SPREAD),
    Mutant(
        "no spread",
        why="few tokens leave a centre off by √(w^{m-1}/n)",
        upper=BIAS,
        blind=HARMLESS,
    ),
    Mutant(
        "n^-2 in the spread",
        why="it falls like 1/n",
        upper=BIAS + SPREAD / n,
        blind=HARMLESS,
    ),
)

UPPER = Claim(
    id="collins2024/lemma-c.4",
    title="bias of the affine class, from above",
    says="The signal term of affine tasks is at most O(L²/w² + L²w^{d/2-1}/n).",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^{\mathrm{aff}}_L)) \le C_d "
        r"\left(\frac{L^2}{w^2} + \frac{L^2 w^{d/2-1}}{n}\right)"
    ),
    quantifiers="for all d ≥ 2, n and w in the range",
    source=PAPER.at("Lemma C.4"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    assumes=(SPHERE, RANGE),
    parameters={"upper": BIAS + SPREAD, "most": most(AFFINE)},
    mutants=UPPER_MUTANTS,
)

LOWER_MUTANTS = (
    Mutant("w^-1", why="the bias itself is of order 1/w", lower=1 / w),
    Mutant("w^{-3/2}", why="bias² is of order w^-2", lower=w ** -sp.Rational(3, 2)),
    Mutant("constant", why="narrow windows have small bias", lower=sp.S.One),
)

LOWER = Claim(
    id="collins2024/lemma-c.5",
    title="bias of the affine class, from below",
    says="The signal term of affine tasks is at least Ω(L²/w²).",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^{\mathrm{aff}}_L)) \ge c_d "
        r"L^2 / w^2"
    ),
    quantifiers="for all d ≥ 2, all n and all w_KQ ≥ (d + √d)/2",
    source=PAPER.at("Lemma C.5"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    assumes=(SPHERE, WIDE),
    parameters={"lower": BIAS, "least": least(AFFINE, 0)},
    mutants=LOWER_MUTANTS,
)

FLOOR = Claim(
    id="collins2024/lemma-c.5/wide-windows",
    title="bias of the affine class, wide windows",
    says="Where w_KQ is below (d + √d)/2 the signal term is at least Ω(L²).",
    latex=(
        r"w_{KQ} \le \tfrac{d + \sqrt d}{2} \implies \mathcal L_{\mathrm{signal}} "
        r"\ge c_d L^2"
    ),
    quantifiers="for all d ≥ 2, n ≥ 1 and all such w_KQ, negative ones included",
    source=PAPER.at("Lemma C.5"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    assumes=(SPHERE,),
    parameters={"floor": floor.PROVED},
    mutants=(
        Mutant("L²/(2d)", why="at w = 0 it is (1 + 1/n)L²/(3d)", floor=1 / (2 * d)),
        Mutant("L²/4", why="at w = 0 it is (1 + 1/n)L²/(3d)", floor=sp.Rational(1, 4)),
    ),
)

BOTH = Claim(
    id="collins2024/corollary-c.6",
    title="bias of the affine class",
    says=(
        "The signal term of affine tasks lies between Ω(L²/w²) and "
        "O(L²/w² + L²w^{d/2-1}/n)."
    ),
    latex=(
        r"c_d \frac{L^2}{w^2} \le \mathcal L_{\mathrm{signal}} \le C_d \left("
        r"\frac{L^2}{w^2} + \frac{L^2 w^{d/2-1}}{n}\right)"
    ),
    quantifiers=UPPER.quantifiers,
    source=PAPER.at("Corollary C.6"),
    wording=Wording.DERIVED,
    domain=AFFINE,
    assumes=(SPHERE, RANGE),
    parameters={**UPPER.parameters, **LOWER.parameters},
    mutants=(
        *UPPER_MUTANTS,
        *LOWER_MUTANTS,
    ),
)

SHARP = Claim(
    id="collins2024/corollary-c.6/sharp",
    title="bias of the affine class, exact order",
    says="The signal term of affine tasks is of order L²/w² + L²w^{(d-3)/2}/n.",
    latex=(
        r"\mathcal L_{\mathrm{signal}}(w; D(\mathcal F^{\mathrm{aff}}_L)) = \Theta"
        r"\left(\frac{L^2}{w^2} + \frac{L^2 w^{(d-3)/2}}{n}\right)"
    ),
    quantifiers=UPPER.quantifiers,
    source=PAPER.at("Corollary C.6"),
    wording=Wording.OURS,
    domain=AFFINE,
    assumes=(SPHERE, RANGE),
    parameters={
        "lower": BIAS + w ** (m - 1) / n,
        "upper": BIAS + w ** (m - 1) / n,
        "least": least(AFFINE),
        "most": most(AFFINE),
    },
    mutants=(
        *(
            Mutant(
                mutant.name,
                why=mutant.why,
                blind=mutant.blind,
                upper=mutant.changes["upper"],
            )
            for mutant in UPPER_MUTANTS
        ),
        Mutant(
            "w^{-3/2} from below",
            why="it is of order w^-2",
            lower=w ** -sp.Rational(3, 2),
        ),
        Mutant(
            "the text's spread, from below",
            why="w^{d/2-1} is √w too large",
            lower=BIAS + SPREAD,
        ),
    ),
)


@evidence
def losses(profile: Profile, seed: int) -> observed.Table:
    """Exact signals on random instances of the range."""
    return observed.smooth(seed, profile.pick(smoke=10, default=120, full=600))


@check(UPPER, LOWER, BOTH, SHARP, grade="symbolic", scope="all")
def order_of_the_signal(claim: Claim) -> Outcome:
    """Bound E[ū² + Σγ²u(2 - u)] by one-token integrals, with constants in d."""
    return orders.decide(claim)


@check(UPPER, LOWER, BOTH, SHARP, grade="property", scope="d = 2..6, w ≤ 1e7, n ≤ 1e18")
def signal_within_its_constants(claim: Claim, losses: observed.Table) -> Outcome:
    """Hold the exhibited constants against the exact signal."""
    return observed.decide(claim, losses)


@evidence
def wide(profile: Profile, seed: int) -> floor.Table:
    """Exact signals of wide windows."""
    return floor.draw(seed, profile.pick(smoke=20, default=200, full=1000))


@check(FLOOR, grade="symbolic", scope="all")
def floor_from_the_mean_distance(claim: Claim) -> Outcome:
    """The mean distance ū falls with w, and is known at w = d + √d."""
    return floor.decide(claim)


@check(FLOOR, grade="property", scope="d = 2..6, n ≤ 1e4, -100 ≤ w ≤ d + √d")
def floor_on_instances(claim: Claim, wide: floor.Table) -> Outcome:
    """Hold the floor against the exact signal of wide windows."""
    return floor.observed(claim, wide)
