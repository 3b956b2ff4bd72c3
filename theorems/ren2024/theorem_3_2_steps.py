"""Theorem 3.2, step by step: two steps fail, the Rademacher steps hold with slack.

Ren and Liu (NeurIPS 2024), proof of Theorem C.1. The steps, R_S a sum over the sample:

    (29)  L(f̂) ≤ L̂(f̂) + 4ρR_S(F̃)/N + 3√(log(4/δ)/(2N)), with prob. 1 - δ/2      fails
    (30)  L̂(f*) ≤ L(f*) + 3√(log(2/δ)/(2N)), with prob. 1 - δ/2                  fails
          h(a, b) = -⟨a, b⟩ is √2ρ-Lipschitz where ‖a‖, ‖b‖ ≤ ρ                  holds
          R_S(G) ≤ 2ρ R_S(F̃)                                                    holds
    (31)  R_S(F̃) ≤ w √(d_o Tr K_S)                                              holds

Both that fail lack the factor 2ρ², the range of the loss. The chain from R_S(G) to
2ρw√(d_o Tr K_S) gives away a factor 2√d_o: by Cauchy-Schwarz R_S(G) ≤ wρ √Tr K_S at
once, with equality for a single token.

Deviations from the text:
    1. The displays are lost; constants are rebuilt from the prose.
    2. In (31) the text may have d_o for √d_o, which is weaker.
Not decided here: Lemma C.2 (lemma_c_2_contraction.py).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.bound import coins, hunts, proofs
from theorems.ren2024.bound.coins import FIXED, UNIFORM
from theorems.ren2024.bound.notation import (
    BOUNDED,
    IID,
    RANGE,
    N,
    R,
    d_o,
    delta,
    rho,
    root_log,
    trace,
    w,
)
from theorems.ren2024.bound.signs import LOSSES, MODELS, ratio, witness
from theorems.ren2024.bound.slopes import INNER, hunt, steepest
from theorems.ren2024.bound.tokens import Population
from verify import (
    Anchor,
    Cause,
    Claim,
    Grade,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Need,
    Outcome,
    Refuted,
    Requires,
    Wording,
    check,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search

ENOUGH = Requires(
    (Need(frozenset({Grade.CERTIFIED})),), why="a refutation needs no more"
)
NO_RANGE = "the range of the loss is 2ρ², not 1"


def _step(name: str, **fields: Any) -> Claim:
    fields.setdefault("wording", Wording.DERIVED)
    return Claim(
        id=f"ren2024/theorem-3.2/{name}",
        kind=Kind.PROOF_STEP,
        **fields,
    )


def _deviations(first: sp.Expr, term: sp.Expr, logless: sp.Expr) -> tuple[Mutant, ...]:
    """False changes of a bound that consists of a complexity and a deviation."""
    return (
        Mutant("range 2ρ", why=NO_RANGE, bound=first + 2 * rho * term),
        Mutant(
            "deviation 1/N",
            why="means of N coins vary like 1/√N",
            bound=first + RANGE * term / sp.sqrt(N),
        ),
        Mutant(
            "no log(1/δ)",
            why="for small δ the bound is exceeded",
            bound=first + RANGE * logless,
        ),
    )


UNIFORM_STEP = _step(
    "uniform",
    title="uniform bound of the proof",
    says=(
        "With probability at least 1 - δ/2, L(f̂) ≤ L̂(f̂) + 4ρR_S(F̃)/N + "
        "3√(log(4/δ)/(2N))."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \hat{\mathcal{L}}(\hat f) + "
        r"\tfrac{4\rho R_S(\tilde F)}{N} + 3\sqrt{\tfrac{\log(4/\delta)}{2N}}"
    ),
    quantifiers="for all N, d_o, w, ρ, D_T, δ > 0",
    source=PAPER.at("Theorem C.1", "proof, Eqs. (27)-(29)"),
    assumes=(BOUNDED, IID),
    parameters={
        "bound": 4 * rho * R / N + 3 * root_log(4),
        "gap": UNIFORM,
        "chance": delta / 2,
    },
    mutants=_deviations(4 * rho * R / N, 3 * root_log(4), sp.sqrt(1 / N) / 8),
    anchors=(
        Anchor(
            "range 2ρ²",
            why="Eq. (27) for the loss scaled to [0, 1]",
            bound=4 * rho * R / N + RANGE * 3 * root_log(4),
        ),
    ),
    requires=ENOUGH,
    finding=refuted(
        f"{NO_RANGE}: for ρ = 10 and δ = 1e-6 tokens of two values exceed it"
    ),
    nearest="ren2024/theorem-3.2/repaired",
)

HOEFFDING = _step(
    "hoeffding",
    title="Hoeffding's inequality in the proof",
    says="With probability at least 1 - δ/2, L̂(f*) ≤ L(f*) + 3√(log(2/δ)/(2N)).",
    latex=(
        r"\hat{\mathcal{L}}(f^*) \le \mathcal{L}(f^*) + "
        r"3\sqrt{\tfrac{\log(2/\delta)}{2N}}"
    ),
    quantifiers="for all N, d_o, w, ρ, D_T, δ > 0",
    source=PAPER.at("Theorem C.1", "proof, Eq. (30)"),
    wording=Wording.PRINTED,
    assumes=(BOUNDED, IID),
    parameters={"bound": 3 * root_log(2), "gap": FIXED, "chance": delta / 2},
    mutants=_deviations(sp.S.Zero, root_log(2), sp.sqrt(1 / N)),
    anchors=(
        Anchor(
            "range 2ρ², without the 3",
            why="Hoeffding's inequality",
            bound=RANGE * root_log(2),
        ),
    ),
    requires=ENOUGH,
    finding=refuted(f"{NO_RANGE}: for ρ ≥ 3 tokens of two values exceed it"),
    nearest="ren2024/theorem-3.2/repaired",
)

LIPSCHITZ = _step(
    "lipschitz",
    title="the loss is Lipschitz",
    says="h(a, b) = -⟨a, b⟩ is √2ρ-Lipschitz where ‖a‖, ‖b‖ ≤ ρ.",
    latex=r"|h(a,b) - h(a',b')| \le \sqrt2 \rho \|(a,b) - (a',b')\|",
    quantifiers="for all d_o, ρ and all a, a', b, b' of norm at most ρ",
    source=PAPER.at("Theorem C.1", "proof, before Eq. (29)"),
    wording=Wording.PRINTED,
    parameters={"square": 2 * rho**2},
    mutants=(
        Mutant("ρ", why="both arguments move", square=rho**2),
        Mutant("√2", why="slopes scale with ρ", square=sp.Integer(2)),
        Mutant(
            "1.4 ρ",
            why="√2 is approached at a = b",
            square=sp.Rational(49, 25) * rho**2,
        ),
    ),
)

CONTRACTION = _step(
    "contraction",
    title="from losses to models",
    says="R_S(G) ≤ 2ρ R_S(F̃).",
    latex=r"R_S(G) \le 2\rho R_S(\tilde F)",
    quantifiers="for all samples, d_o, w, ρ",
    source=PAPER.at("Theorem C.1", "proof, Lemma C.2 with L = √2ρ"),
    wording=Wording.PRINTED,
    assumes=(BOUNDED,),
    parameters={"bound": 2 * rho * R, "average": LOSSES},
    mutants=(
        Mutant("no ρ", why="values may be ρ long", bound=2 * R),
        Mutant(
            "ρ/2",
            why="for d_o = 1 and values ±ρ both averages agree up to ρ",
            bound=rho * R / 2,
        ),
        Mutant(
            "2ρ R_S(F̃)/√N",
            why="both averages are sums over the sample",
            bound=rho * R / sp.sqrt(N),
        ),
    ),
)

CLASS = _step(
    "class",
    title="average of the models",
    says="R_S(F̃) ≤ w √(d_o Tr K_S).",
    latex=r"R_S(\tilde F) \le w \sqrt{d_o \mathrm{Tr}(K_S)}",
    quantifiers="for all samples, d_o, w",
    source=PAPER.at("Theorem C.1", "proof, Eq. (31)"),
    assumes=(BOUNDED,),
    parameters={"bound": w * sp.sqrt(d_o * trace), "average": MODELS},
    mutants=(
        Mutant("no d_o", why="d_o rows add up", bound=w * sp.sqrt(trace)),
        Mutant("no w", why="the class scales with w", bound=sp.sqrt(d_o * trace)),
        Mutant(
            "a mean over the sample",
            why="R_S is a sum here",
            bound=w * sp.sqrt(d_o * trace / N),
        ),
    ),
)

RADEMACHER = _step(
    "rademacher",
    title="average of the losses, directly",
    says="R_S(G) ≤ wρ √Tr K_S: without Lemma C.2, and without a dimension.",
    latex=r"R_S(G) \le w \rho \sqrt{\mathrm{Tr}(K_S)}",
    quantifiers="for all samples, d_o, w, ρ",
    source=PAPER.at("Theorem C.1", "proof"),
    wording=Wording.OURS,
    assumes=(BOUNDED,),
    parameters={"bound": w * rho * sp.sqrt(trace), "average": LOSSES},
    mutants=(
        Mutant("no ρ", why="values may be ρ long", bound=w * sp.sqrt(trace)),
        Mutant("no w", why="the class scales with w", bound=rho * sp.sqrt(trace)),
        Mutant(
            "1/√d_o of it",
            why="one token with a value of length ρ has equality for any d_o",
            bound=w * rho * sp.sqrt(trace / d_o),
        ),
        Mutant(
            "a mean over the sample",
            why="R_S is a sum here",
            bound=w * rho * sp.sqrt(trace / N),
        ),
    ),
)

SAMPLES = (  # tokens with features of norm 1; w = ρ in the first, 1/4 in the last
    Population(((0, 3),), ((0,),), (1,), 1),
    Population(((3,), (3,), (-3,)), ((0,), (0,), (0,)), (1, 1, 1), 3),
    Population(((0, 1), (1, 0)), ((2,), (2,)), (1, 1), 2),
    Population(((1, 0, 0),) * 2, ((2,), (-2,)), (1, 1), 2),
)
PROOFS = {
    (LOSSES, 2 * rho * R): lambda: (*proofs.lipschitz(), *proofs.contraction()),
    (MODELS, w * sp.sqrt(d_o * trace)): proofs.class_average,
    (LOSSES, w * rho * sp.sqrt(trace)): proofs.rademacher,
}


@check(
    UNIFORM_STEP,
    HOEFFDING,
    grade="certified",
    scope="tokens of two values, N ≤ 1601, ρ ≤ 100, δ ≥ 1e-6",
)
def exact_binomial_tails(claim: Claim, profile: Profile) -> Outcome:
    """Enclose the bound, and count the failures exactly."""
    sizes = profile.pick(smoke=(201,), default=(101, 401), full=(101, 401, 1601))
    return coins.decide(claim, sizes)


@check(LIPSCHITZ, grade="symbolic", scope="all")
def gradient_on_balls(claim: Claim) -> Outcome:
    """Bound the gradient, and compare with a pair of points near the corner."""
    return steepest(claim, INNER, 2 * rho**2, proofs.lipschitz)


@check(LIPSCHITZ, grade="property", scope="rational points, d_o ≤ 2, ρ ≤ 3")
def rational_pairs(claim: Claim, search: Search) -> Outcome:
    """Hunt for two points further apart in h than the constant allows."""
    return hunt(claim, INNER, search)


@check(CONTRACTION, CLASS, RADEMACHER, grade="symbolic", scope="all")
def suprema_over_the_ball(claim: Claim) -> Outcome:
    """Prove the step for every sample, or find one of a few that contradicts it."""
    proof = PROOFS.get((claim.average, claim.bound))
    if proof is not None:
        return Holds("proved for all samples", steps=proof())
    for sample in SAMPLES:
        if ratio(claim, sample) > 1 + 1e-9:
            record = witness(claim, sample)
            return Refuted(str(record["says"]), witness=record)
    return Inconclusive("no proof, and no sample contradicts", cause=Cause.NO_PROOF)


@check(
    CONTRACTION,
    CLASS,
    RADEMACHER,
    grade="property",
    scope="samples of at most 4 tokens, d_o ≤ 3",
)
def all_signs_enumerated(claim: Claim, search: Search) -> Outcome:
    """Hunt over samples; both averages are sums over all signs."""
    return hunts.averages(claim, search, SAMPLES)
