"""Appendix C.2: the bound with negative samples. It lacks the same factor.

Ren and Liu (NeurIPS 2024), Appendix C.2. With K negative samples x_ij for each x_i,

    L̂(f) = -1/N Σ_i 1/K Σ_j (Wφ(W_K x_i))ᵀ (W_V x_i - W_V x_ij),

"we can obtain", with r = K/N,

    L(f̂) ≤ L(f) + O( wρ d_o √(Tr K_S (5/N² + 1/(rN³))) + √(log(1/δ)/N) ).

The range of this loss is 4ρ²; the factor ρ² is missing as in Theorem 3.2. Negatives of
value 0 turn one into the other, so that the same family refutes both.

The term 1/(rN³) comes from a Lipschitz constant, √(5 + 1/K) ρ, which is right. That K
matters little ("the reduction is limited") is a trait of the bound: the mean square of
the gap is exactly (A + B/K)/N with B the variance of the negatives, which may be all.

Deviations from the text:
    1. The displays are lost. The power of d_o cannot be read and is a symbol here.
    2. Demonstrations are independent together with their negatives. Negatives that are
       other demonstrations, as in the experiments, are not.
Not decided here: experiments with negative samples.
"""

from __future__ import annotations

import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.bound import growing, hunts, negatives, proofs
from theorems.ren2024.bound.notation import (
    BOUNDED,
    COMPLEXITY,
    DEVIATION,
    M2,
    NEGATIVES_IID,
    ORDER,
    S2,
    SMALL_RISK,
    K,
    N,
    d_o,
    delta,
    kappa2,
    power,
    rho,
    tau2,
    trace,
    w,
)
from theorems.ren2024.bound.slopes import WITH_NEGATIVES, hunt, steepest
from theorems.ren2024.bound.tokens import Population
from verify import (
    Anchor,
    Assumption,
    Claim,
    Grade,
    Holds,
    Kind,
    Mutant,
    Need,
    Outcome,
    Requires,
    Wording,
    check,
    refuted,
)
from verify.search import Search

r = K / N
PRINTED = sp.sqrt(sp.log(1 / delta) / N)
NOT_IN_0_1 = "the loss lies in [-2ρ², 2ρ²], not in [0, 1]: for large ρ the bound fails"

BOUND = Claim(
    id="ren2024/bound-c.2",
    title="generalisation bound, negative samples",
    says=(
        "With probability at least 1 - δ the minimiser of the empirical loss with "
        "K = rN negatives has a loss above the least one by no more than a universal "
        "constant times wρ d_o^power √(Tr K_S (5/N² + 1/(rN³))) + √(log(1/δ)/N)."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f) + O\Bigl(w \rho d_o "
        r"\sqrt{\mathrm{Tr}(K_S) \bigl(\tfrac{5}{N^2} + \tfrac{1}{rN^3}\bigr)} + "
        r"\sqrt{\tfrac{\log(1/\delta)}{N}}\Bigr)"
    ),
    quantifiers="there is a constant; for all N, K, d_o, w, ρ, D_T, 0 < δ ≤ 1/2",
    source=PAPER.at("Appendix C.2"),
    wording=Wording.DERIVED,
    domain=growing.ANY,
    assumes=(BOUNDED, NEGATIVES_IID, SMALL_RISK),
    parameters={
        "complexity": w
        * rho
        * d_o**power
        * sp.sqrt(trace * (5 / N**2 + 1 / (r * N**3))),
        "deviation": PRINTED,
        "reach": sp.Integer(2),
    },
    mutants=(
        Mutant("ρ for ρ²", why="the range is 4ρ²", deviation=rho * PRINTED),
        Mutant(
            "1/N for 1/√N",
            why="the sign of a mean of N coins is wrong with a probability above δ",
            deviation=ORDER / sp.sqrt(N),
        ),
        Mutant(
            "no log(1/δ)",
            why="an excess of ρ² has a probability of 4^-N",
            deviation=rho**2 / sp.sqrt(N),
        ),
    ),
    anchors=(
        Anchor("ρ² √(log(1/δ)/N)", why="the range is 4ρ²: McDiarmid", deviation=ORDER),
        Anchor("ρ ≤ 1", why="then ρ² ≤ 1", domain=growing.AT_MOST_1),
    ),
    requires=Requires(
        (Need(frozenset({Grade.SYMBOLIC}), True),),
        why="no constant is named, and a search cannot refute all",
    ),
    finding=refuted(NOT_IN_0_1),
    nearest="ren2024/bound-c.2/repaired",
)

TWICE = 2 * (COMPLEXITY + DEVIATION)

REPAIRED = Claim(
    id="ren2024/bound-c.2/repaired",
    title="generalisation bound, negative samples, with the range",
    says=(
        "With K negatives and probability at least 1 - δ, L(f̂) ≤ L(f*) + "
        "4wρ√Tr K_S/N + 4ρ²(3√(log(4/δ)/2N) + √(log(2/δ)/2N))."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f^*) + "
        r"\tfrac{4 w \rho \sqrt{\mathrm{Tr}(K_S)}}{N} + 4\rho^2\Bigl("
        r"3\sqrt{\tfrac{\log(4/\delta)}{2N}} + \sqrt{\tfrac{\log(2/\delta)}{2N}}\Bigr)"
    ),
    quantifiers="for all N, K, d_o, w, ρ, D_T, δ in (0, 1)",
    source=PAPER.at("Appendix C.2"),
    wording=Wording.OURS,
    assumes=(BOUNDED, NEGATIVES_IID),
    parameters={"bound": TWICE},
    mutants=(
        Mutant("range 1", why=NOT_IN_0_1, bound=2 * COMPLEXITY + DEVIATION / rho**2),
        Mutant(
            "1/N",
            why="the sign of a mean of N coins is wrong with a probability above δ",
            bound=TWICE / sp.sqrt(N),
        ),
        Mutant(
            "no deviation",
            why="means of N coins vary like 1/√N",
            bound=2 * COMPLEXITY,
        ),
    ),
)

LIPSCHITZ = Claim(
    id="ren2024/bound-c.2/lipschitz",
    kind=Kind.PROOF_STEP,
    title="the loss with negatives is Lipschitz",
    says=(
        "h(f, v, v_1, .., v_K) = -⟨f, v - mean v_j⟩ is √(5 + 1/K) ρ-Lipschitz where "
        "all norms are at most ρ."
    ),
    latex=(
        r"\|J\|_F^2 \le 4\rho^2 + \rho^2 + \tfrac{K}{K^2}\rho^2 = "
        r"(5 + \tfrac1K)\rho^2"
    ),
    quantifiers="for all K, d_o, ρ",
    source=PAPER.at("Appendix C.2", "proof sketch"),
    wording=Wording.PRINTED,
    parameters={"square": (5 + 1 / K) * rho**2},
    mutants=(
        Mutant("√5 ρ", why="the negatives move, too", square=5 * rho**2),
        Mutant("√(4 + 1/K) ρ", why="the value moves, too", square=(4 + 1 / K) * rho**2),
        Mutant(
            "√(5 + 1/K²) ρ",
            why="K parts of length ρ/K",
            square=(5 + 1 / K**2) * rho**2,
        ),
        Mutant("no ρ", why="slopes scale with ρ", square=5 + 1 / K),
    ),
)

VARIANCE = w**2 * (S2 - M2 + tau2 * kappa2 / K) / N

GAP = Claim(
    id="ren2024/bound-c.2/gap",
    title="what negative samples do to the gap",
    says=(
        "If negatives are drawn independently of x, the mean of sup_f |L - L̂|² is "
        "w²(E‖W_V x - μ‖²K(x, x) - ‖M‖² + τ² E K(x, x)/K)/N, with μ and τ² mean and "
        "variance of the values of the negatives."
    ),
    latex=(
        r"\mathbb{E}\sup_f|\mathcal{L}-\hat{\mathcal{L}}|^2 = \frac{w^2}{N}\Bigl("
        r"\mathbb{E}\|W_Vx-\mu\|^2K(x,x) - \|M\|_F^2 + "
        r"\tfrac{\tau^2}{K}\mathbb{E}K(x,x)\Bigr)"
    ),
    quantifiers="for all N, K, d_o, w, D_T and distributions of the negatives",
    source=PAPER.at("Appendix C.2", "in place of the ratio 5 : 1/K"),
    wording=Wording.OURS,
    assumes=(
        NEGATIVES_IID,
        Assumption("apart", "negatives are drawn independently of their x"),
    ),
    parameters={"mean": VARIANCE},
    mutants=(
        Mutant(
            "no effect of K",
            why="a mean of K negatives varies less",
            mean=VARIANCE.subs(K, 1),
        ),
        Mutant(
            "5 + 1/K, as in the bound",
            why="the ratio is that of variances, not of slopes",
            mean=VARIANCE.subs(K, 1) * (5 + 1 / K) / 6,
        ),
        Mutant("1/K²", why="variances add up", mean=VARIANCE.subs(K, K**2)),
        Mutant("1/N²", why="variances add up", mean=VARIANCE / N),
    ),
)

COINS = tuple(
    Population(c.values, c.keys, c.weights, c.n, c.risk, 1, 1) for c in hunts.COINS
)


@check(BOUND, grade="symbolic", scope="all")
def outgrown_by_coins(claim: Claim) -> Outcome:
    """Exhibit a constant, or let N and ρ grow with δ = 4^-N/2 and values 0 for x_ij."""
    return growing.decide(claim)


@check(REPAIRED, grade="symbolic", scope="all")
def bounded_differences(claim: Claim) -> Outcome:
    """Repeat the proof of Theorem 3.2 with W_V x - mean W_V x_ij, at most 2ρ long."""
    if claim.bound == TWICE:
        steps = (negatives.twice_as_long(), *proofs.repaired())
        return Holds("proved for all distributions", steps=steps)
    return negatives.failing_coin(claim, COINS)


@check(
    REPAIRED,
    grade="property",
    scope="populations of at most 3 types of tokens, N ≤ 60, K ≤ 3",
)
def every_sample_counted(claim: Claim, search: Search) -> Outcome:
    """Hunt over values, negatives, keys, N and δ; all samples are enumerated."""
    return hunts.excess_beyond_bound(claim, search, COINS, long=True)


@check(LIPSCHITZ, grade="symbolic", scope="all")
def gradient_on_balls(claim: Claim) -> Outcome:
    """Bound the gradient, and compare with a pair of points near the corner."""
    proved = (5 + 1 / K) * rho**2
    return steepest(claim, WITH_NEGATIVES, proved, proofs.lipschitz_negatives)


@check(LIPSCHITZ, grade="property", scope="rational points, K ≤ 4, d_o ≤ 2, ρ ≤ 3")
def rational_pairs(claim: Claim, search: Search) -> Outcome:
    """Hunt for two points further apart in h than the constant allows."""
    return hunt(claim, WITH_NEGATIVES, search)


@check(GAP, grade="symbolic", scope="all")
def independent_deviations(claim: Claim) -> Outcome:
    """Deviations of the K negatives are orthogonal in the mean."""
    if claim.mean == VARIANCE:
        return Holds("proved for all distributions", steps=proofs.negatives())
    return negatives.first_contradiction(claim)


@check(GAP, grade="property", scope="2 types of tokens and of negatives, N ≤ 2, K ≤ 3")
def all_samples_enumerated(claim: Claim, search: Search) -> Outcome:
    """Hunt over values, keys and probabilities; all samples are enumerated."""
    return negatives.hunt(claim, search)
