"""Theorem 3.2: a generalisation bound for the dual model, without the loss's range.

Ren and Liu (NeurIPS 2024), Theorem 3.2, repeated and proved as Theorem C.1. With
F = {Wφ(W_K ·) : ‖W‖ ≤ w} and ‖W_V x‖, ‖Wφ(W_K x)‖ ≤ ρ, with probability at least 1 - δ,
for all f in F,

    L(f̂) ≤ L(f) + O( wρ d_o √Tr K_S / N + √(log(1/δ)/N) )                  Eq. (11)

The loss lies in [-ρ², ρ²]; the theorem behind Eq. (27) and Hoeffding's inequality are
applied as if it lay in [0, 1]. So the second term lacks a factor ρ². On both sides of
the bound L scales like ρ², the second term does not scale at all: for large ρ the bound
fails, whatever the constant in O(.) and whatever power of d_o stands there, as d_o = 1
suffices.

With the factor the bound holds, without any dimension. And then the first term is never
the larger: wρ √Tr K_S/N ≤ ρ²/√N by the assumption itself.

Deviations from the text:
    1. The display is lost. The power of d_o (1 or 1/2) cannot be read; it is a symbol
       here, so that one row decides for all powers.
    2. A constant in O(.) may depend on nothing: ρ stands in the first term.
    3. 0 < δ ≤ 1/2. Near δ = 1 the printed log(1/δ) vanishes, log(4/δ) of the proof does
       not.
Not decided here: the steps of the proof (theorem_3_2_steps.py), what rate the gap
really has (theorem_3_2_rates.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.ren2024 import PAPER
from theorems.ren2024.bound import coins, growing, hunts, proofs, tokens
from theorems.ren2024.bound.coins import EXCESS
from theorems.ren2024.bound.notation import (
    BOUNDED,
    COMPLEXITY,
    DEVIATION,
    IID,
    ORDER,
    RANGE,
    SHARP_DEVIATION,
    SHARP_MEAN,
    SMALL_RISK,
    N,
    d_o,
    delta,
    power,
    rho,
    root_log,
    trace,
    w,
)
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
    necessity,
    recheck,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search

NOT_IN_0_1 = "the loss lies in [-ρ², ρ²], not in [0, 1]: for large ρ the bound fails"
PRINTED = sp.sqrt(sp.log(1 / delta) / N)
OF_PROOF = 3 * root_log(4) + 3 * root_log(2)

THEOREM = Claim(
    id="ren2024/theorem-3.2",
    title="generalisation bound",
    says=(
        "With probability at least 1 - δ the minimiser of the empirical loss has a "
        "loss above the least one by no more than a universal constant times "
        "wρ d_o^power √Tr K_S/N + √(log(1/δ)/N)."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f) + O\Bigl("
        r"\frac{w \rho d_o \sqrt{\mathrm{Tr}(K_S)}}{N} + "
        r"\sqrt{\tfrac{\log(1/\delta)}{N}}\Bigr)"
    ),
    quantifiers="there is a constant; for all N, d_o, w, ρ, D_T, f in F, 0 < δ ≤ 1/2",
    source=PAPER.at("Theorem 3.2", "Eq. (11); Theorem C.1, Eq. (26)"),
    wording=Wording.DERIVED,
    domain=growing.ANY,
    assumes=(BOUNDED, IID, SMALL_RISK),
    parameters={
        "complexity": w * rho * d_o**power * sp.sqrt(trace) / N,
        "deviation": PRINTED,
        "reach": sp.Integer(1),
    },
    mutants=(
        Mutant("ρ for ρ²", why="the range is 2ρ²", deviation=rho * PRINTED),
        Mutant("√ρ for ρ²", why="the range is 2ρ²", deviation=sp.sqrt(rho) * PRINTED),
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
        Mutant(
            "a quarter power of log(1/δ)",
            why="tails are Gaussian, no lighter",
            deviation=rho**2 * sp.log(1 / delta) ** sp.Rational(1, 4) / sp.sqrt(N),
        ),
    ),
    anchors=(
        Anchor("ρ² √(log(1/δ)/N)", why="the range is 2ρ²: McDiarmid", deviation=ORDER),
        Anchor(
            "ρ² √(log(1/δ)/N) alone",
            why="wρ √Tr K_S/N ≤ ρ²/√N",
            deviation=ORDER,
            complexity=sp.S.Zero,
        ),
        Anchor("ρ ≤ 1", why="then ρ² ≤ 1", domain=growing.AT_MOST_1),
    ),
    requires=Requires(
        (Need(frozenset({Grade.SYMBOLIC}), True),),
        why="no constant is named, and a search cannot refute all",
    ),
    finding=refuted(NOT_IN_0_1),
    nearest="ren2024/theorem-3.2/repaired",
)

WRONG = (
    Mutant("range 1", why=NOT_IN_0_1, bound=COMPLEXITY + DEVIATION / RANGE),
    Mutant("range 2ρ", why="the range is 2ρ²", bound=COMPLEXITY + DEVIATION / rho),
    Mutant(
        "deviation 1/N",
        why="the sign of a mean of N coins is wrong with a probability above δ",
        bound=COMPLEXITY + DEVIATION / sp.sqrt(N),
    ),
    Mutant(
        "no log(1/δ)",
        why="for small δ the bound is exceeded",
        bound=COMPLEXITY + RANGE * 4 / sp.sqrt(2 * N),
    ),
)

CONSTANTS = Claim(
    id="ren2024/theorem-3.2/constants",
    kind=Kind.PROOF_STEP,
    title="generalisation bound, constants of the proof",
    says=(
        "With probability at least 1 - δ, L(f̂) ≤ L(f*) + 4wρ√(d_o Tr K_S)/N + "
        "3√(log(4/δ)/2N) + 3√(log(2/δ)/2N)."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f^*) + "
        r"\tfrac{4 w \rho \sqrt{d_o \mathrm{Tr}(K_S)}}{N} + "
        r"3\sqrt{\tfrac{\log(4/\delta)}{2N}} + 3\sqrt{\tfrac{\log(2/\delta)}{2N}}"
    ),
    quantifiers="for all N, d_o, w, ρ, D_T, δ > 0",
    source=PAPER.at("Theorem C.1", "proof, Eqs. (30)-(31)"),
    wording=Wording.DERIVED,
    assumes=(BOUNDED, IID),
    parameters={
        "bound": 4 * w * rho * sp.sqrt(d_o * trace) / N + OF_PROOF,
        "gap": EXCESS,
        "chance": delta,
    },
    mutants=WRONG,
    anchors=(
        Anchor(
            "range 2ρ²",
            why="the proof with the loss scaled to [0, 1]",
            bound=4 * w * rho * sp.sqrt(d_o * trace) / N + RANGE * OF_PROOF,
        ),
    ),
    requires=Requires(
        (Need(frozenset({Grade.CERTIFIED})),), why="a refutation needs no more"
    ),
    finding=refuted(
        "N = 101, ρ = 10, δ = 1/100: tokens of two values exceed it with a probability "
        "above δ"
    ),
    nearest="ren2024/theorem-3.2/repaired",
)

REPAIRED = Claim(
    id="ren2024/theorem-3.2/repaired",
    title="generalisation bound, with the range of the loss",
    says=(
        "With probability at least 1 - δ, L(f̂) ≤ L(f*) + 2wρ√Tr K_S/N + "
        "2ρ²(3√(log(4/δ)/2N) + √(log(2/δ)/2N)): dimension-free."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f^*) + "
        r"\tfrac{2 w \rho \sqrt{\mathrm{Tr}(K_S)}}{N} + 2\rho^2\Bigl("
        r"3\sqrt{\tfrac{\log(4/\delta)}{2N}} + \sqrt{\tfrac{\log(2/\delta)}{2N}}\Bigr)"
    ),
    quantifiers="for all N, d_o, w, ρ, D_T, δ in (0, 1)",
    source=PAPER.at("Theorem 3.2"),
    wording=Wording.OURS,
    assumes=(BOUNDED, IID),
    parameters={"bound": COMPLEXITY + DEVIATION, "gap": EXCESS, "chance": delta},
    mutants=WRONG,
    pinned=hunts.COINS,
)

SHARP = Claim(
    id="ren2024/theorem-3.2/sharp",
    title="generalisation bound without a data-dependent term",
    says=(
        "With probability at least 1 - δ, L(f̂) ≤ L(f*) + 2ρ²/√N + 4ρ²√(log(1/δ)/2N)."
    ),
    latex=(
        r"\mathcal{L}(\hat f) \le \mathcal{L}(f^*) + \tfrac{2\rho^2}{\sqrt N} + "
        r"4\rho^2\sqrt{\tfrac{\log(1/\delta)}{2N}}"
    ),
    quantifiers=REPAIRED.quantifiers,
    source=PAPER.at("Theorem 3.2"),
    wording=Wording.OURS,
    assumes=(BOUNDED, IID),
    parameters={
        "bound": SHARP_MEAN + SHARP_DEVIATION,
        "gap": EXCESS,
        "chance": delta,
    },
    mutants=(
        Mutant(
            "range 1",
            why=NOT_IN_0_1,
            bound=(SHARP_MEAN + SHARP_DEVIATION) / RANGE,
        ),
        Mutant(
            "all of it 1/N",
            why="the sign of a mean of N coins is wrong with a probability above δ",
            bound=(SHARP_MEAN + SHARP_DEVIATION) / sp.sqrt(N),
        ),
        Mutant(
            "no deviation",
            why="an excess above 2ρ²/√N has a probability near 16 %",
            bound=SHARP_MEAN,
        ),
    ),
    pinned=hunts.COINS,
)

PROOFS = {
    COMPLEXITY + DEVIATION: proofs.repaired,
    SHARP_MEAN + SHARP_DEVIATION: proofs.sharp,
    DEVIATION: proofs.no_complexity_term,
}


def sizes(profile: Profile) -> tuple[int, ...]:
    """Numbers of demonstrations in the exact family."""
    return profile.pick(smoke=(61,), default=(101, 401), full=(101, 401, 1601))


@check(THEOREM, grade="symbolic", scope="all")
def outgrown_by_coins(claim: Claim) -> Outcome:
    """Exhibit a constant, or let N and ρ grow with δ = 4^-N/2."""
    return growing.decide(claim)


@check(REPAIRED, SHARP, grade="symbolic", scope="all")
def bounded_differences(claim: Claim) -> Outcome:
    """Scale the loss to [0, 1] and bound the Rademacher average by Cauchy-Schwarz."""
    proof = PROOFS.get(claim.bound)
    if proof is not None:
        return Holds("proved for all distributions", steps=proof())
    for setting in coins.settings((61, 101)):
        found = coins.failure(claim, setting)
        if found is not None and coins.fails(claim, found):
            record = coins.witness(claim, found)
            return Refuted(str(record["says"]), witness=record)
    return Inconclusive("no proof, and no coin fails", cause=Cause.NO_PROOF)


@check(
    CONSTANTS,
    REPAIRED,
    SHARP,
    grade="certified",
    scope="tokens of two values, N ≤ 1601, ρ ≤ 100, δ ≥ 1e-6",
)
def exact_binomial_tails(claim: Claim, profile: Profile) -> Outcome:
    """Enclose the bound, and count the failures of the worst coin exactly."""
    return coins.decide(claim, sizes(profile))


@check(
    REPAIRED,
    SHARP,
    grade="property",
    scope="populations of at most 3 types of tokens, N ≤ 60",
)
def every_sample_counted(claim: Claim, search: Search) -> Outcome:
    """Hunt over values, keys, probabilities, N and δ; all samples are enumerated."""
    return hunts.excess_beyond_bound(claim, search, claim.pinned)


@necessity(
    REPAIRED,
    SHARP,
    assumption="iid",
    needed=True,
    grade="property",
    scope="one draw repeated N times",
)
def the_same_token_again(claim: Claim, search: Search) -> Outcome:
    """Repeat a single draw N times: a sample of one, judged as N demonstrations."""
    many = (50, 100, 200, 400)
    single = Population(((1,), (-1,)), ((0,), (0,)), (4, 1), 1)
    return search.exhaust(
        many,
        lambda n: recheck.decide(tokens.repeated(claim, single, n)).valid is True,
        lambda n: tokens.repeated(claim, single, n),
        searched=f"N in {many} copies of one token",
    )


@necessity(
    REPAIRED,
    SHARP,
    assumption="bounded",
    needed=True,
    grade="certified",
    scope="tokens of two values, ten times as long as ρ",
)
def longer_values(claim: Claim) -> Outcome:
    """Let the values be 10ρ long, with the bound for ρ."""
    short = claim.at(bound=claim.bound.subs({rho: rho / 10, w: w / 10}))
    return coins.decide(short, (61,))
