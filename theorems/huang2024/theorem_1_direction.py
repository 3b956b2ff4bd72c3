"""Theorem 1, direction: how fast W_kq turns to the max-margin solution.

Huang, Liang and Yang (NeurIPS 2024), Theorem 1; proved in Appendix C.5 as Eq. (13). For
η ≤ ‖W*_kq‖/e and t ≥ 2,

    1 - cos(W_kq^(t), W*_kq) ≤ C N L_max⁴ ‖W*_kq‖⁴ log²t / (tη).

No C makes this true. It knows nothing of the frequencies π^(n): a sample that is rare
enough is not learnt before any given step, and until then W points elsewhere. What
holds, for every t ≥ 1, every step size and every Δ, and also without log²t and N, is

    1 - cos ≤ ‖W*‖²/t (1 + 2‖W*‖/η (log 1/min π + Δ + log(2L(L-1)(1 + (|V|-1)e^-Δ)))),

L = L_max, provided that each sentence has one type of optimal token: injective maps n
see to that. With others W can converge in another direction. Where the bracket's long
term is below 26 N L_max⁴ ‖W*‖ log²t, this is below the printed bound with C = 53: what
refutes it are frequencies far from each other, more than e^100, not everyday data.

Deviations from the text:
    1. The display and its constant are lost; 53 is the smaller of two readings of the
       1696 = 53 · 32 in the proof of Theorem 2. Neither reading changes a verdict.
Not decided here: how fast 1 - cos really decays (theorem_1_decay.py).
"""

from __future__ import annotations

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.data import assumptions
from theorems.huang2024.rates import decide, figures, laws, observed
from theorems.huang2024.rates.families import R
from theorems.huang2024.rates.notation import (
    ANY_MAP,
    AS_PRINTED,
    AS_PROVED,
    INJECTIVE,
    ONE_TYPE,
    PRINTED_CONSTANT,
    RATE,
    SMALL_STEP,
    WITH_FREQUENCIES,
    Delta,
    K,
    S,
    eta,
    t,
)
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Tightness,
    Variant,
    Wording,
    check,
    necessity,
    refuted,
)
from verify.search import Search

LATEX = (
    r"1 - \frac{\langle W^{(t)}_{kq}, W^*_{kq} \rangle}{\|W^{(t)}_{kq}\| \|W^*_{kq}\|} "
    r"\le \frac{C N L_{\max}^4 \|W^*_{kq}\|^4 \log^2 t}{t \eta}"
)
PINNED = (observed.DELAYED, observed.PAIR, observed.THREE)

MUTANTS = (
    Mutant(
        "frequencies forgotten",
        why="a rare sample is not learnt before log(1/π) steps or so",
        bound=WITH_FREQUENCIES.subs(K, 0),
    ),
    Mutant(
        "log log of the rarest frequency",
        why="the delay is proportional to log 1/π",
        bound=WITH_FREQUENCIES.subs(K, sp.log(1 + K)),
    ),
    Mutant(
        "a tenth",
        why="two texts, one rare, come within a factor 2√2/(1 - 1/√2) of the bound",
        bound=WITH_FREQUENCIES / 10,
    ),
    Mutant("t² for t", why="the delay itself grows like t", bound=WITH_FREQUENCIES / t),
)
WITHOUT_DELTA = Variant(
    "Δ forgotten",
    why="the proof compares gradients of samples crudely; no violation is known",
    bound=WITH_FREQUENCIES.subs(Delta, 0),
)

CLAIM = Claim(
    id="huang2024/theorem-1/direction@injective",
    title="direction of W_kq, n injective",
    says=(
        "For injective n, 1 - cos(W^(t), W*) ≤ 53 N L_max⁴ ‖W*‖⁴ log²t/(tη) for all "
        "t ≥ 2, whatever the frequencies."
    ),
    latex=LATEX,
    quantifiers="for all data under Assumptions 1-3, 0 < η ≤ ‖W*‖/e, t ≥ 2",
    source=PAPER.at("Theorem 1", "Equation (13); Appendix C.5"),
    wording=Wording.GUESSED,
    domain=INJECTIVE,
    assumes=AS_PRINTED,
    parameters={"bound": PRINTED_CONSTANT * RATE},
    anchors=(
        Anchor(
            "the bound that knows the frequencies",
            why="proved in theorem-1/direction/repaired",
            bound=WITH_FREQUENCIES,
        ),
    ),
    mutants=(
        *MUTANTS,
        Mutant(
            "any map n",
            why="with two optimal types in a sentence W converges elsewhere",
            domain=ANY_MAP,
        ),
    ),
    variants=(
        Variant("twice the constant", why="the other reading", bound=106 * RATE),
        Variant("a million times", why="no constant helps", bound=10**6 * 53 * RATE),
    ),
    finding=refuted(
        "no constant is free of the frequencies: two texts, the first 2^M times as "
        "often, keep 1 - cos = 1 - 1/√2 until step M log 2/(√2 η)"
    ),
    nearest="huang2024/theorem-1/direction/repaired",
    pinned=PINNED,
)

ANY = Claim(
    id="huang2024/theorem-1/direction@any-map",
    title="direction of W_kq, any n",
    says=(
        "For any next-token map, W^(t) converges in direction to W*, with "
        "1 - cos(W^(t), W*) ≤ 53 N L_max⁴ ‖W*‖⁴ log²t/(tη) for all t ≥ 2."
    ),
    latex=LATEX,
    quantifiers=CLAIM.quantifiers,
    source=CLAIM.source,
    wording=Wording.GUESSED,
    domain=ANY_MAP,
    assumes=AS_PRINTED,
    parameters=CLAIM.parameters,
    anchors=(
        Anchor(
            "one optimal type per sentence, with the frequencies",
            why="proved in theorem-1/direction/repaired",
            domain=ONE_TYPE,
            bound=WITH_FREQUENCIES,
        ),
    ),
    mutants=(
        *MUTANTS,
        Mutant(
            "several optimal types after all",
            why="[a, a, b, q] followed by a = n(a) = n(b)",
            domain=ANY_MAP,
        ),
    ),
    finding=refuted(
        "[a, a, b, q] followed by a = n(a) = n(b): W converges to (1, 0, -1), not to "
        "(1, 1, -2); 1 - cos tends to 1 - √3/2"
    ),
    nearest="huang2024/theorem-1/direction/repaired",
    pinned=PINNED,
)

REPAIRED = Claim(
    id="huang2024/theorem-1/direction/repaired",
    title="direction of W_kq, with the frequencies",
    says=(
        "If each sentence has one type of optimal token, 1 - cos(W^(t), W*) is at most "
        "‖W*‖²/t (1 + 2‖W*‖G/η), G = log(1/min π) + Δ + "
        "log(2L_max(L_max - 1)(1 + (|V| - 1)e^-Δ))."
    ),
    latex=(
        r"1 - \cos(W^{(t)}_{kq}, W^*_{kq}) \le \frac{\|W^*\|^2}{t} \left( 1 + \frac{2 "
        r"\|W^*\|}{\eta} \log \frac{2 L (L - 1) (e^\Delta + |V| - 1)}{\min \pi} "
        r"\right)"
    ),
    quantifiers="for all such data, all Δ > 0, η > 0, t ≥ 1",
    source=PAPER.at("Theorem 1"),
    wording=Wording.OURS,
    domain=ONE_TYPE,
    assumes=AS_PROVED,
    parameters={"bound": WITH_FREQUENCIES},
    mutants=(
        *MUTANTS,
        Mutant(
            "several optimal types",
            why="[a, a, b, q] followed by a = n(a) = n(b)",
            domain=ANY_MAP,
        ),
    ),
    variants=(WITHOUT_DELTA,),
    pinned=PINNED,
)

FREQUENCIES = Claim(
    id="huang2024/theorem-1/direction/frequencies",
    title="the rate depends on the frequencies",
    says=(
        "For the texts abb and baa with n(a) = b, n(b) = a, the first e^R times as "
        "often, R ≥ Δ + 10, 1 - cos(W^(t), W*) > 1/4 for all 1 ≤ t ≤ (R - Δ)/(2η)."
    ),
    latex=(
        r"1 - \cos(W^{(t)}_{kq}, W^*_{kq}) > \tfrac14 \quad (1 \le t \le "
        r"\tfrac{R - \Delta}{2 \eta})"
    ),
    quantifiers="for all Δ > 0, η > 0, R ≥ Δ + 10",
    source=PAPER.at("Theorem 1"),
    wording=Wording.OURS,
    domain=INJECTIVE,
    parameters={"gap": sp.Rational(1, 4), "until": (R - Delta) / (2 * eta)},
    mutants=(
        Mutant("gap 1/3", why="cos ≥ 1/√2 as x, y ≥ 0", gap=sp.Rational(1, 3)),
        Mutant(
            "four times as long",
            why="then both columns have grown, and 1 - cos is about 1/16",
            until=2 * (R - Delta) / eta,
        ),
        Mutant(
            "the square of the logarithm",
            why="the delay is proportional to R",
            until=(R - Delta) ** 2 / eta,
        ),
    ),
)

BOUNDED = (CLAIM, ANY, REPAIRED)
gap = sp.Symbol("gap", positive=True)


@check(*BOUNDED, grade="symbolic", scope="all")
def proved_or_refuted_by_hand(claim: Claim) -> Outcome:
    """Prove the bound from Gibbs' inequality, or solve a dataset that exceeds it."""
    return decide.bound_on_gap(claim)


@check(*BOUNDED, grade="property", scope="random data, |V| ≤ 5, t ≤ 3000; pinned ones")
def no_run_exceeds_it(claim: Claim, search: Search) -> Outcome:
    """Run Algorithm 1 on skewed data and compare 1 - cos with the bound."""
    small = SMALL_STEP in claim.assumes
    hunt = observed.Hunt(
        gap / claim.bound - 1,
        "1 - cos above the bound",
        applies=sp.Min(t - 2, S / sp.E - eta if small else t),
        room=observed.ROUNDING,
    )
    outcome = hunt(search, claim, scale=0.2)
    worst = max(1 + hunt.excess(row) for one in PINNED[:2] for row in hunt.rows(one))
    if outcome.verdict != "HOLDS" or worst > 1:
        return outcome
    return outcome.but(
        tightness=(Tightness("1 - cos, pinned runs", worst),),
        figures=figures.gap_figures(hunt, claim.bound),
    )


@check(FREQUENCIES, grade="symbolic", scope="all")
def rare_column_waits(claim: Claim) -> Outcome:
    """Bound what the rare column has moved; beyond, bound both from above."""
    return laws.delay(claim)


@check(FREQUENCIES, grade="property", scope="R from 28 to 700, η from 1/100 to 1")
def rare_column_waits_in_runs(claim: Claim) -> Outcome:
    """Run Algorithm 1 up to the claimed step."""
    return laws.delay_in_runs(claim)


# ---------------------------------------------------------------- necessity


@necessity(
    REPAIRED,
    assumption="one-type",
    needed=True,
    grade="symbolic",
    scope="[a, a, b, q] followed by a = n(a) = n(b)",
)
def two_optimal_types(claim: Claim) -> Outcome:
    """With two optimal types in one sentence W converges elsewhere."""
    return decide.on_three(claim.bound)


@necessity(
    REPAIRED,
    assumption="counts",
    needed=False,
    grade="property",
    scope="random data with outnumbered optimal tokens, |V| ≤ 5, t ≤ 3000",
)
def outnumbered(claim: Claim, search: Search) -> Outcome:
    """The proof needs Assumption 3 for signs; no violation was found without it."""
    return observed.beyond(search, assumptions.COUNTS, gap / claim.bound - 1)


@necessity(
    REPAIRED,
    assumption="zero-start",
    needed=True,
    grade="numeric",
    scope="texts abb, W^(0) = -1000 W*",
)
def wrong_start(claim: Claim) -> Outcome:
    """A start far on the wrong side is still there after any number of steps."""
    return observed.started_elsewhere(claim.bound)


@necessity(
    REPAIRED,
    assumption="normalised",
    needed=True,
    grade="numeric",
    scope="texts abb, baa, plain gradient descent",
)
def plain_descent(claim: Claim) -> Outcome:
    """Plain gradient descent grows like log t, and its direction is slow."""
    return observed.plain(claim.bound)
