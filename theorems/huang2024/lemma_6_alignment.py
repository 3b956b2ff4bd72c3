"""Lemma 6: the gradient of stage 2 points to the solution, and the norm grows.

Huang, Liang and Yang (NeurIPS 2024), Lemma 6 of Appendix C.3. Along stage 2 of
Algorithm 1 from W_kq = 0, under Assumptions 1 to 3,

    ⟨-∇L/‖∇L‖, W*/‖W*‖⟩ ≥ min_n φ_+^{(n,t)} / (2‖W*‖)
    tη/(2 L_max ‖W*‖) ≤ ‖W_kq^(t)‖ ≤ tη.

For injective n more is true, without φ_+ and L_max: the step is a sum of x_o - x_m over
edges of problem (3) with weights ≥ 0, so that the cosine is at least 1/(√2‖W*‖), and
this is sharp. If n is any map, Assumption 3 does not keep the weights ≥ 0, and the very
first step can be all but orthogonal to W* (25 tokens).

Deviations from the text:
    1. The displays are lost. The cosine is "strictly larger than the minimum optimal
       token weight" in Section 5.3, over 2‖W*‖ in the uses; L_max in the norm is forced
       by t_0 of Lemma 7 and by C_1 of Theorem 2. Theorem 1 has the norm without it.
    2. "Strictly" is not decided: one pair [o, q] attains 1/(√2‖W*‖).
Not decided here: the direction of W itself (theorem_1_direction.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from theorems.huang2024 import PAPER
from theorems.huang2024.descent import cases, decide, exact, proofs
from theorems.huang2024.descent.decide import Bound
from theorems.huang2024.descent.notation import (
    ANY_MAP,
    AS_PRINTED,
    GROUPED,
    INJECTIVE,
    REPAIRED,
    L,
    S,
    X,
    cosine,
    eta,
    phi,
    t,
)
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Variant,
    Wording,
    check,
    evidence,
    necessity,
    refuted,
)
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

if TYPE_CHECKING:
    from theorems.huang2024.data.dataset import Dataset
    from theorems.huang2024.descent.observed import Along, Rows

ROOT2 = sp.sqrt(2)

MUTANTS = (
    Mutant("φ_+/‖W*‖", why="above 1 for one pair, late", alignment=phi / S),
    Mutant("1/‖W*‖", why="√2 for one pair", alignment=1 / S),
    Mutant("‖W*‖ φ_+/2", why="above 1 for many pairs", alignment=S * phi / 2),
    Mutant("1/(2φ_+ ‖W*‖)", why="above 1 at the start", alignment=1 / (2 * phi * S)),
    Mutant("norm ≥ tη/‖W*‖", why="√2 tη for one pair", low=t * eta / S),
    Mutant("norm ≥ tη L_max/(2‖W*‖)", why="√2 tη too", low=t * eta * L / (2 * S)),
    Mutant("norm ≥ tη ‖W*‖", why="above tη for many pairs", low=t * eta * S),
    Mutant("norm ≤ tη/2", why="one pair goes straight", high=t * eta / 2),
    Mutant(
        "norm ≤ tη/(√2‖W*‖)", why="equal pairs go straight", high=t * eta / (ROOT2 * S)
    ),
)

AS_INJECTIVE = Claim(
    id="huang2024/lemma-6@injective",
    title="the gradient of stage 2 points to W*, n injective",
    says=(
        "The negative gradient has cosine at least min φ_+/(2‖W*‖) with the max-margin "
        "solution, and the norm of W_kq grows linearly."
    ),
    latex=(
        r"\left\langle \frac{-\nabla L}{\|\nabla L\|}, "
        r"\frac{W^*_{kq}}{\|W^*_{kq}\|} \right\rangle \ge "
        r"\frac{\min_n \varphi_+^{(n,t)}}{2\|W^*_{kq}\|}, \quad "
        r"\frac{t\eta}{2 L_{\max} \|W^*_{kq}\|} \le \|W^{(t)}_{kq}\| \le t\eta"
    ),
    quantifiers="for all data of Assumptions 1-3, all η > 0, Δ > 0 and t ≥ 0",
    source=PAPER.at("Lemma 6", "Appendix C.3"),
    wording=Wording.DERIVED,
    domain=INJECTIVE,
    assumes=AS_PRINTED,
    parameters={
        "alignment": phi / (2 * S),
        "low": t * eta / (2 * L * S),
        "high": t * eta,
    },
    mutants=MUTANTS,
    anchors=(
        Anchor(
            "the sharp form",
            why="the claim lemma-6/sharp",
            alignment=1 / (ROOT2 * S),
            low=t * eta / (ROOT2 * S),
        ),
        Anchor("without φ_+", why="follows from that", alignment=1 / (2 * S)),
    ),
)

AS_ANY_MAP = Claim(
    id="huang2024/lemma-6@any-map",
    title="the gradient of stage 2 points to W*, any map n",
    says=AS_INJECTIVE.says,
    latex=AS_INJECTIVE.latex,
    quantifiers=AS_INJECTIVE.quantifiers,
    source=AS_INJECTIVE.source,
    wording=Wording.DERIVED,
    domain=ANY_MAP,
    assumes=AS_PRINTED,
    parameters=AS_INJECTIVE.parameters,
    mutants=MUTANTS,
    anchors=(
        Anchor("grouped counts", why="lemma-6/sharp is stronger", domain=GROUPED),
        Anchor("n injective", why="grouped counts follow", domain=INJECTIVE),
    ),
    finding=refuted(
        "tokens that share a next token draw the whole error, other non-optimal tokens "
        "rise with the optimal one: the first step is all but orthogonal to W*"
    ),
    nearest="huang2024/lemma-6/sharp",
    pinned=((cases.against(9, 6, 9, 10_000), 40.0, 0.3),),
)

SHARP = Claim(
    id="huang2024/lemma-6/sharp",
    title="sharp form of Lemma 6",
    says=(
        "If in no sample the tokens with one other next token outnumber the carriers, "
        "the negative gradient has cosine at least 1/(√2‖W*‖) with the max-margin "
        "solution and tη/(√2‖W*‖) ≤ ‖W_kq‖ ≤ tη, for any map n; √2 is sharp."
    ),
    latex=(
        r"\left\langle \frac{-\nabla L}{\|\nabla L\|}, "
        r"\frac{W^*_{kq}}{\|W^*_{kq}\|} \right\rangle \ge "
        r"\frac{1}{\sqrt{2}\|W^*_{kq}\|}, \quad "
        r"\frac{t\eta}{\sqrt{2} \|W^*_{kq}\|} \le \|W^{(t)}_{kq}\| \le t\eta"
    ),
    quantifiers="for all maps n, all η > 0, Δ > 0 and t ≥ 0",
    source=PAPER.at("Lemma 6", "sharpened"),
    wording=Wording.OURS,
    domain=GROUPED,
    assumes=REPAIRED,
    parameters={
        "alignment": 1 / (ROOT2 * S),
        "low": t * eta / (ROOT2 * S),
        "high": t * eta,
    },
    mutants=(
        Mutant(
            "one per cent more",
            why="one pair among rare ones attains it, for any ‖W*‖",
            alignment=sp.Rational(101, 100) / (ROOT2 * S),
        ),
        Mutant("1/‖W*‖", why="√2 for one pair", alignment=1 / S),
        Mutant("1/2", why="‖W*‖ has no bound", alignment=sp.S.Half),
        Mutant(
            "1/sqrt(√2‖W*‖)",
            why="rare pairs raise ‖W*‖ and turn nothing",
            alignment=1 / sp.sqrt(ROOT2 * S),
        ),
        Mutant(
            "one per cent more norm",
            why="one pair attains it",
            low=sp.Rational(101, 100) * t * eta / (ROOT2 * S),
        ),
        Mutant("norm ≥ tη/‖W*‖", why="√2 tη for one pair", low=t * eta / S),
        Mutant("norm ≥ tη ‖W*‖", why="above tη for many pairs", low=t * eta * S),
        Mutant("norm ≤ tη/2", why="one pair goes straight", high=t * eta / 2),
    ),
    anchors=(
        Anchor(
            "as printed",
            why="φ_+ ≤ 1 and 1/2 < 1/√2",
            alignment=phi / (2 * S),
            low=t * eta / (2 * L * S),
        ),
    ),
    variants=(
        Variant(
            "norm ≥ 7/10 tη",
            why="paths that turn early refute it; no closed form here",
            low=sp.Rational(7, 10) * t * eta,
        ),
    ),
)

CLAIMS = (AS_INJECTIVE, AS_ANY_MAP, SHARP)


# ---------------------------------------------------------------- exact


@check(*CLAIMS, grade="symbolic", scope="all")
def step_is_a_sum_of_edges(claim: Claim) -> Outcome:
    """Write the step as Σσ(x_o - x_m) with σ ≥ 0; refute at exact first steps."""
    if not claim.domain.grouped:
        return Refuted(
            "the first step is all but orthogonal to W*",
            witness=first_step(
                cases.against(9, 6, 9, 10_000),
                claim.alignment,
                "[o, 9 m, 6 q], n(m) all equal, and nine times, rare, [o_k, 6 q]",
            ),
        )
    proved = 1 / (ROOT2 * S)
    claimed = (
        Bound("cosine ≥ bound", cosine, ">=", claim.alignment, proved),
        Bound("norm ≥ lower bound", X, ">=", claim.low, t * eta * proved),
        Bound("norm ≤ upper bound", X, "<=", claim.high, t * eta),
    )
    instances = (*exact.pair_runs(), *exact.first_steps())
    return decide.bounds(claimed, instances, proofs.alignment())


def first_step(dataset: Dataset, bound: sp.Expr, says: str) -> dict[str, object]:
    """The cosine of the first step with W*: rational but for roots and e^(Δ/L)."""
    star = exact.solution(dataset)
    longest = dataset.max_length
    inputs = {"Delta": 40, "phi": sp.Rational(1, longest)}
    says = f"{says}: the cosine is below the bound at t = 0, where φ_+ = 1/{longest}"
    claimed = bound.subs(S, exact.norm(star))
    return formula(exact.alignment(dataset, star), "<", claimed, inputs, says)


# ---------------------------------------------------------------- floating point


def _relations(claim: Claim) -> tuple[Along, ...]:
    from theorems.huang2024.descent.observed import Along

    return (
        Along("cosine ≥ bound", cosine, claim.alignment),
        Along("norm ≥ lower bound", X, claim.low),
        Along("norm ≤ upper bound", claim.high, X),
    )


@evidence
def paths(profile: Profile, seed: int) -> Rows:
    """Random and extreme data, and the counterexample."""
    from theorems.huang2024.descent import observed

    count = profile.pick(smoke=60, default=300, full=3_000)
    runs = observed.random_settings(seed, count)
    runs += [observed.Setting(one, 5.0, 3.0) for one in cases.INJECTIVE_CASES]
    runs.append(observed.Setting(cases.against(9, 6, 9, 10_000), 40.0, 0.3))
    return observed.follow(runs)


@check(*CLAIMS, grade="property", scope="random data, |V| ≤ 7, L ≤ 12, t ≤ 300")
def holds_along_paths(claim: Claim, paths: Rows) -> Outcome:
    """Follow many paths in floating point; report how tight the bounds are."""
    from theorems.huang2024.descent import observed

    return observed.judge(
        _relations(claim), observed.of(paths, claim.domain), "random and extreme data"
    )


@check(*CLAIMS, grade="property", scope="small data drawn by a search, t ≤ 60")
def survives_a_search(claim: Claim, search: Search) -> Outcome:
    """Let Hypothesis turn the gradient away from W*."""
    from theorems.huang2024.descent import hunt

    return hunt.search_paths(claim, _relations(claim), search)


# ---------------------------------------------------------------- necessity


@necessity(
    AS_INJECTIVE,
    SHARP,
    assumption="zero-start",
    needed=True,
    grade="certified",
    scope="one pair that starts at -5 W*/‖W*‖",
)
def from_another_start(claim: Claim) -> Outcome:
    """A start opposite to W* is walked back before the norm grows."""
    inputs = {"t": 10, "eta": sp.S.Half, "L": 2}
    low = claim.low.subs(S, 1 / ROOT2)
    says = "after 10 steps of 1/2 from -5 W*/‖W*‖ the norm is 0, one pair [o, q]"
    return Refuted(says, witness=formula(t * eta - 5, "<", low, inputs, says))


@necessity(
    AS_INJECTIVE,
    SHARP,
    assumption="normalised",
    needed=True,
    grade="certified",
    scope="one pair, one plain step, Δ = 1/8",
)
def plain_gradient_descent(claim: Claim) -> Outcome:
    """A plain step has the length of the gradient, which Δ bounds."""
    force = exact.descent(cases.single_pair(), {})
    length = eta * exact.Delta * exact.norm(force)
    inputs = {"t": 1, "eta": sp.S.Half, "L": 2, "Delta": sp.Rational(1, 8)}
    says = "the first plain step of one pair [o, q] is too short"
    low = claim.low.subs(S, 1 / ROOT2)
    return Refuted(says, witness=formula(length, "<", low, inputs, says))


@necessity(
    AS_INJECTIVE,
    SHARP,
    assumption="orthonormal",
    needed=True,
    grade="certified",
    scope="one pair, embeddings of norm 3",
)
def embeddings_of_another_norm(claim: Claim) -> Outcome:
    """With norm R the solution is R² times shorter, and a step as long as before."""
    inputs = {"t": 1, "eta": sp.S.Half, "L": 2}
    low = claim.low.subs(S, 1 / (9 * ROOT2))
    says = "for embeddings of norm 3 the lower bound exceeds tη, one pair [o, q]"
    return Refuted(says, witness=formula(t * eta, "<", low, inputs, says))


@necessity(
    SHARP,
    assumption="grouped-counts",
    needed=True,
    grade="certified",
    scope="25 tokens, t = 0",
)
def without_grouped_counts(claim: Claim) -> Outcome:
    """The data that refute the lemma for any map."""
    dataset = cases.against(9, 6, 9, 10_000)
    witness = first_step(dataset, claim.alignment, "nine m with one next token")
    return Refuted("all but orthogonal", witness=witness)


@necessity(
    AS_INJECTIVE,
    assumption="counts",
    needed=True,
    grade="certified",
    scope="42 tokens, t = 0",
)
def without_counts(claim: Claim) -> Outcome:
    """[o, 40 times m, 10 q] and, rare, thirty times [o_k, 10 q]."""
    dataset = cases.against_counts(40, 10, 30, 10**5)
    witness = first_step(dataset, claim.alignment, "m stands 40 times, o once")
    return Refuted("the first step turns away from W*", witness=witness)


@necessity(
    AS_INJECTIVE,
    assumption="no-confused",
    needed=False,
    grade="property",
    scope="random data with one confused token, |V| ≤ 6, t ≤ 300",
)
def with_a_confused_token(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """Confused tokens break the printed bounds in nothing that was tried."""
    from theorems.huang2024.descent import observed

    count = profile.pick(smoke=30, default=100, full=1_000)
    rows = observed.follow(observed.confused_settings(seed, count))
    return observed.judge(_relations(claim), rows, "data with one confused token")


@necessity(
    SHARP,
    assumption="no-confused",
    needed=True,
    grade="numeric",
    scope="[a, b, q] -> n(a) and [b, c, q] -> n(b), Δ = 200, η = 3",
)
def sharp_with_a_confused_token(claim: Claim) -> Outcome:
    """The cosine falls to .85 of the sharp bound as b is pressed down."""
    from theorems.huang2024.descent import observed

    rows = observed.follow([observed.Setting(cases.confused(99), 200.0, 3.0)])
    return observed.judge(_relations(claim), rows, "four tokens")
