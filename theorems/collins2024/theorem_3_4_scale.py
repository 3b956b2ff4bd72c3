"""Theorem 3.4: the optimal window scales with Λ = nL²/σ².

Collins et al. (NeurIPS 2024), Theorem 3.4, with Theorems E.1 (ReLU tasks) and E.2
(affine tasks): the minimiser M* = w_KQ Σ of the population loss has w_KQ between powers
of Λ, with α = 1/(d+4) and β = 1/(d+2). Decided by proof in every d ≥ 2: bias² is of
order w^-2 for affine and w^{-3/2} for ReLU tasks, the variance of order w^{(d-1)/2}/n:

    affine    w* ~ κ Λ^{2/(d+3)}        ReLU    w* ~ κ Λ^{2/(d+2)}

as long as n leaves many tokens in the window. The text's proof has w^{-2} to w^{-1} and
w^{d/2}/n; its interval for ReLU tasks is right, and its upper end sharp, since the two
slips cancel. For affine tasks its exponent 2/(d+4) is too small.

Hypotheses:
    1. Covariates are uniform on the unit sphere, M = w I (Lemma B.5).
    2. σ² ≤ nL², that is Λ ≥ 1.
    3. Enough tokens: E.1's n ≥ (L log n/σ)^d, E.2's n ≥ (L log² n/σ)^{d+2}; without the
       logarithms Λ ≤ n^{(d+2)/d} and Λ ≤ n^{(d+4)/(d+2)}. n ≥ n_0(d) is "n = Ω(1)".

Deviations from the text:
    1. The displayed interval is lost. Case 2 is used as [β, 2β] in the proof of E.3;
       Case 1 has the ends that the proof's bounds allow, each a reading.
    2. The theorem asks for σ² ≥ Ω(n^{-d/2}), its proof for hypothesis 3: decided apart.
    3. w is that of exp(w x_i·x), twice the appendix's. Constants depend on d alone.
Not decided here: Σ ≠ I; unimodality of the loss; trained models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.bounds import decide, figures, observed
from theorems.collins2024.bounds.notation import d
from verify import (
    Anchor,
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Resolve,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.profiles import Profile

alpha, beta = 1 / (d + 4), 1 / (d + 2)
affine, relu = sp.Symbol("affine"), sp.Symbol("relu")
E_1, E_2 = (d + 2) / d, (d + 4) / (d + 2)
"""Exponents of n that bound Λ, without the logarithms that make it smaller."""
EDGE = (d + 3) / (d + 1)
PRINTED = (d + 2) / 2  # of Λ at σ² = n^{-d/2}

SPHERE = Assumption("sphere", "covariates are uniform on the unit sphere; M = w I")
RATIO = Assumption("ratio", "σ² ≤ nL², that is Λ ≥ 1")
TOKENS = Assumption("tokens", "Λ ≤ n^condition, and n ≥ n_0(d)")
ASSUMED = (SPHERE, RATIO, TOKENS)

STATED = "for all d ≥ 2, n ≥ n_0(d), L, σ with 1 ≤ Λ ≤ n^condition, every minimiser"


def interval(
    name: str, task: sp.Symbol, low: sp.Expr, high: sp.Expr, **fields: Any
) -> Claim:
    """A claim that w* lies between two powers of Λ."""
    return Claim(
        id=f"collins2024/theorem-3.4/{name}",
        says=fields.pop("says", "").format(
            low=_plain(low), high=_plain(high), task=task.name
        ),
        latex=rf"\Omega(\Lambda^{{{sp.latex(low)}}}) \le w_{{KQ}} \le "
        rf"O(\Lambda^{{{sp.latex(high)}}})",
        quantifiers=STATED,
        assumes=ASSUMED,
        parameters={
            "task": task,
            "low": low,
            "high": high,
            "condition": fields.pop("condition"),
        },
        **fields,
    )


def _plain(expr: sp.Expr) -> str:
    return str(expr).replace(" ", "")


BETWEEN = "The optimal scale for {task} tasks is between Λ^({low}) and Λ^({high})."

RELU_MUTANTS = (
    Mutant("upper end halved", why="w* is of order Λ^{2/(d+2)}", high=beta),
    Mutant("upper end of affine tasks", why="2/(d+3) < 2/(d+2)", high=2 / (d + 3)),
    Mutant("upper end of E.2", why="2/(d+4) < 2/(d+2)", high=2 * alpha),
    Mutant("lower end 2/(d+1)", why="above 2/(d+2)", low=2 / (d + 1)),
    Mutant("both ends doubled", why="4β > 2β", low=4 * beta, high=8 * beta),
)
UNDER_PRINTED = Mutant(
    "σ² down to n^{-d/2}, as printed",
    why="d ≥ 5: w* ≤ C n^{2/d}, while Λ^β = n^{1/2}",
    condition=PRINTED,
)
AFFINE_MUTANTS = (
    Mutant("upper end halved", why="w* is of order Λ^{2/(d+3)}", high=1 / (d + 3)),
    Mutant("upper end α", why="1/(d+4) < 2/(d+3)", high=alpha),
    Mutant("lower end of ReLU tasks", why="2/(d+2) > 2/(d+3)", low=2 * beta),
    Mutant("both ends doubled", why="4α > 2/(d+3)", low=4 * alpha, high=4 * beta),
    Mutant(
        "σ² down to n^{-d/2}",
        why="d ≥ 5: w* ≤ C n^{2/(d+1)}, less than Λ^α already",
        condition=PRINTED,
    ),
)
TOO_SMALL = refuted("w* is of order Λ^{2/(d+3)}, and 2/(d+4) < 2/(d+3)")
REPAIRED_HIGH = Anchor(
    "upper end 2/(d+3)", why="the order of w*, proved", high=2 / (d + 3)
)
CASE_1 = PAPER.at("Theorem 3.4", "Case 1, and Theorem E.2; the display is lost")
NEAREST = "collins2024/theorem-3.4/affine/repaired"
TITLES = {
    "2a-2a": "both exponents 2/(d+4)",
    "a-2a": "exponents 1/(d+4) and 2/(d+4)",
    "a-2b": "exponents 1/(d+4) and 2/(d+2)",
    "2a-2b": "exponents 2/(d+4) and 2/(d+2)",
}


def case_1(reading: str, low: sp.Expr, high: sp.Expr, **fields: Any) -> Claim:
    """A reading of Case 1."""
    return interval(
        f"affine@{reading}",
        affine,
        low,
        high,
        title=f"affine tasks: {TITLES[reading]}",
        says=BETWEEN,
        source=CASE_1,
        wording=Wording.GUESSED,
        condition=E_2,
        **fields,
    )


SMALL = {"finding": TOO_SMALL, "nearest": NEAREST, "anchors": (REPAIRED_HIGH,)}
LOW_2A = (
    *AFFINE_MUTANTS,
    Mutant("ReLU tasks", why="2/(d+2) > 2/(d+3)", task=relu, high=2 / (d + 3)),
)

AFFINE_2A_2A = case_1("2a-2a", 2 * alpha, 2 * alpha, mutants=AFFINE_MUTANTS, **SMALL)
AFFINE_A_2A = case_1("a-2a", alpha, 2 * alpha, mutants=AFFINE_MUTANTS, **SMALL)
AFFINE_A_2B = case_1("a-2b", alpha, 2 * beta, mutants=LOW_2A)
AFFINE_2A_2B = case_1("2a-2b", 2 * alpha, 2 * beta, mutants=LOW_2A)

AFFINE_REPAIRED = interval(
    "affine/repaired",
    affine,
    2 / (d + 3),
    2 / (d + 3),
    says="The optimal scale for {task} tasks is of order Λ^({low}) exactly.",
    title="affine tasks: exact order",
    source=CASE_1,
    wording=Wording.OURS,
    condition=EDGE,
    mutants=(
        *AFFINE_MUTANTS[:3],
        Mutant("the proof's 2/(d+4)", why="too small", low=2 * alpha, high=2 * alpha),
        AFFINE_MUTANTS[4],
    ),
)

RELU = interval(
    "relu",
    relu,
    beta,
    2 * beta,
    title="ReLU tasks: exponents 1/(d+2) and 2/(d+2)",
    says=BETWEEN,
    source=PAPER.at("Theorem 3.4", "Case 2, and Theorem E.1; used in E.3"),
    wording=Wording.DERIVED,
    condition=E_1,
    mutants=(*RELU_MUTANTS, UNDER_PRINTED),
)

CONDITION = interval(
    "condition",
    relu,
    beta,
    2 * beta,
    says=BETWEEN[:-1] + " for all σ² from n^{{-d/2}} to nL².",
    title="ReLU tasks, range of σ² as printed",
    source=PAPER.at("Theorem 3.4", "Ω(n^{-d/2}) ≤ σ² ≤ O(nL²)"),
    wording=Wording.DERIVED,
    condition=PRINTED,
    finding=refuted(
        "d ≥ 5, σ² = n^{-d/2}: the tokens are too few, w* ≤ C n^{2/d} whatever the "
        "noise, and Λ^β = n^{1/2}"
    ),
    nearest="collins2024/theorem-3.4/condition/repaired",
    anchors=(Anchor("σ² ≥ L² n^{-2/d}", why="Theorem E.1", condition=E_1),),
    mutants=RELU_MUTANTS,
)

CONDITION_AFFINE = interval(
    "condition/affine",
    affine,
    alpha,
    2 * beta,
    says=BETWEEN[:-1] + " for all σ² from n^{{-d/2}} to nL².",
    title="affine tasks, range of σ² as printed, widest reading",
    source=CONDITION.source,
    wording=Wording.GUESSED,
    condition=PRINTED,
    finding=refuted(
        "d ≥ 5, σ² = n^{-d/2}: w* ≤ C n^{2/(d+1)} whatever the noise, less than Λ^α"
    ),
    nearest=NEAREST,
    anchors=(Anchor("σ² ≥ L² n^{-2/(d+1)}", why="many tokens", condition=EDGE),),
    mutants=AFFINE_MUTANTS[:4],
)

CONDITION_REPAIRED = interval(
    "condition/repaired",
    relu,
    beta,
    2 * beta,
    says=BETWEEN[:-1] + " for all σ² from L² n^{{-2/d}} to nL².",
    title="ReLU tasks, range of σ² of Theorem E.1, without logarithms",
    source=CONDITION.source,
    wording=Wording.OURS,
    condition=E_1,
    mutants=(*RELU_MUTANTS, UNDER_PRINTED),
)

GAMMA = 2 ** (d - 2) * sp.gamma(d / 2)


def sharp(task: sp.Symbol, offset: int, inside: sp.Expr, *mutants: Mutant) -> Claim:
    """A claim about the constant: w* ~ inside^(2/(d + offset)) Λ^(2/(d + offset))."""
    kappa = inside ** (2 / (d + offset))
    return Claim(
        id=f"collins2024/theorem-3.4/sharp/{task.name}",
        title=f"{task.name} tasks: exponent and constant",
        says=(
            f"w*/(κ Λ^{{2/(d+{offset})}}) tends to 1 for {task.name} tasks, with κ in "
            "closed form."
        ),
        latex=rf"w^* \sim {sp.latex(kappa)} \Lambda^{{2/(d+{offset})}}",
        quantifiers="for all d ≥ 2, as Λ → ∞ and Λ/n^EDGE → 0",
        source=PAPER.at("Theorem 3.4"),
        wording=Wording.OURS,
        assumes=ASSUMED,
        parameters={
            "task": task,
            "numerator": sp.Integer(2),
            "offset": sp.Integer(offset),
            "constant": kappa,
        },
        mutants=(
            *mutants,
            Mutant("exponent halved", why="another order", numerator=sp.Integer(1)),
            Mutant("exponent doubled", why="another order", numerator=sp.Integer(4)),
            Mutant("the proof's 2/(d+4)", why="too small", offset=sp.Integer(4)),
            Mutant(
                "w for 2w", why="the appendix's w is half of it", constant=kappa / 2
            ),
            Mutant(
                "tasks with w ~ N(0, I)",
                why="E ww^T = I instead of I/d: Λ is dΛ",
                constant=kappa * d ** (2 / (d + offset)),
            ),
            Mutant("of dimension d + 1", why="other", constant=kappa.subs(d, d + 1)),
        ),
        resolves=(Resolve("numerator", reach=0.5), Resolve("offset", reach=0.5)),
    )


SHARP_AFFINE = sharp(
    affine,
    3,
    (d - 1) * GAMMA / (3 * d * sp.sqrt(sp.pi)),
    Mutant("exponent of ReLU tasks", why="too large", offset=sp.Integer(2)),
)
SHARP_RELU = sharp(
    relu,
    2,
    (2 - sp.sqrt(2))
    * GAMMA
    * sp.gamma(d / 2)
    / (3 * sp.pi ** sp.Rational(3, 2))
    / sp.gamma((d + 1) / 2),
    Mutant("bias² of order w^-2", why="the kink gives w^{-3/2}", offset=sp.Integer(3)),
)

INTERVALS = (
    AFFINE_2A_2A,
    AFFINE_A_2A,
    AFFINE_A_2B,
    AFFINE_2A_2B,
    AFFINE_REPAIRED,
    RELU,
    CONDITION,
    CONDITION_AFFINE,
    CONDITION_REPAIRED,
)


@evidence
def optima(
    profile: Profile, seed: int, progress: Callable[[int, int], None]
) -> observed.Optima:
    """Minimisers of the exact loss at random settings, and at σ² = n^{-d/2}."""
    count, drawn = profile.pick(smoke=(1, 0), default=(12, 11), full=(100, 25))
    return observed.observe(seed, count, drawn, progress)


@check(*INTERVALS, grade="symbolic", scope="all")
def proved_with_constants(claim: Claim) -> Outcome:
    """Bounds with closed constants in d; a family where they exclude the claim."""
    return decide.interval(claim)


@check(
    *INTERVALS,
    grade="property",
    scope="d = 2..6, 1e3 ≤ κΛ^ORDER ≤ 1e4, n ≈ Λ; σ² = n^{-d/2} up to n = 1e8",
)
def slopes_of_exact_minimisers(claim: Claim, optima: observed.Optima) -> Outcome:
    """Local slopes of w*, corrected to Λ = ∞, against both ends."""
    outcome = observed.interval(claim, optima)
    drawn = [figures.interval(claim, optima), figures.slopes(claim, optima)]
    if optima.curves and claim.id == RELU.id:
        drawn.append(figures.regimes(optima, str(claim.task)))
    return outcome.but(figures=drawn)


@check(SHARP_AFFINE, SHARP_RELU, grade="symbolic", scope="all")
def constant_proved(claim: Claim) -> Outcome:
    """Two-sided bounds of bias and variance that meet as w grows."""
    return decide.constant(claim)


@check(
    SHARP_AFFINE,
    SHARP_RELU,
    grade="property",
    scope="d = 2..6, 1e3 ≤ κΛ^ORDER ≤ 1e4, n ≈ Λ",
)
def minimisers_near_the_law(claim: Claim, optima: observed.Optima) -> Outcome:
    """Minimisers of the exact loss less second-order terms, against the law."""
    return observed.constant(claim, optima)


@necessity(
    RELU,
    assumption="tokens",
    needed=True,
    grade="symbolic",
    scope="σ² = n^{-d/2}, d = 5",
)
def needs_many_tokens(claim: Claim) -> Outcome:
    """Drop the condition on n: the printed range of σ² instead."""
    return decide.interval(claim.at(condition=PRINTED))
