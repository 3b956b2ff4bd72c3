"""Theorem 1, norm: the attention matrix grows linearly.

Huang, Liang and Yang (NeurIPS 2024), Theorem 1. Under Assumptions 1 to 3, for t ≥ 2,

    tη/(2‖W*_kq‖) ≤ ‖W_kq^(t)‖ ≤ tη.

The proof's Lemma 6 gives only tη/(2 L_max ‖W*‖). For injective n the bound is right all
the same, with √2 for 2 (lemma_6_alignment.py). If n is any map it is false for a single
sample of 32 tokens: two groups of tokens, each with one next token, draw the error in
turn; W goes to and fro between them and gains only along the optimal token.

Deviations from the text:
    1. None in the bound, which is printed in the text. "η < O(1)" is not used.
Not decided here: the direction (theorem_1_direction.py).
"""

from __future__ import annotations

from fractions import Fraction
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
    SMALL_STEP,
    L,
    S,
    X,
    eta,
    t,
)
from verify import (
    Anchor,
    Claim,
    Mutant,
    Outcome,
    Refuted,
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
    from theorems.huang2024.descent.observed import Along, Rows

ROOT2 = sp.sqrt(2)
SINCE = 2  # the theorem is about t >= 2
BOTH_ORDERS = 16, 15  # tokens with one next token, and with another

MUTANTS = (
    Mutant("tη/‖W*‖", why="√2 tη for one pair", low=t * eta / S),
    Mutant("tη L_max/(2‖W*‖)", why="√2 tη for one pair", low=t * eta * L / (2 * S)),
    Mutant("tη ‖W*‖", why="above tη for many pairs", low=t * eta * S),
    Mutant("t²η/(2‖W*‖)", why="growth is linear", low=t**2 * eta / (2 * S)),
    Mutant("at most η √t", why="growth is linear", high=eta * sp.sqrt(t)),
    Mutant("at most tη/2", why="one pair goes straight", high=t * eta / 2),
    Mutant(
        "at most tη/(√2‖W*‖)",
        why="equal pairs go straight",
        high=t * eta / (ROOT2 * S),
    ),
)

AS_INJECTIVE = Claim(
    id="huang2024/theorem-1/norm@injective",
    title="the norm of W_kq grows linearly, n injective",
    says="From t = 2 on the norm of W_kq lies between tη/(2‖W*_kq‖) and tη.",
    latex=r"\frac{t\eta}{2\|W^*_{kq}\|} \le \|W^{(t)}_{kq}\| \le t\eta",
    quantifiers="for all data of Assumptions 1-3, all η > 0, Δ > 0 and t ≥ 2",
    source=PAPER.at("Theorem 1", "Appendix C.5"),
    wording=Wording.PRINTED,
    domain=INJECTIVE,
    assumes=(*AS_PRINTED, SMALL_STEP),
    parameters={"low": t * eta / (2 * S), "high": t * eta},
    mutants=MUTANTS,
    anchors=(
        Anchor("√2 for 2", why="theorem-1/norm/repaired", low=t * eta / (ROOT2 * S)),
        Anchor("as in Lemma 6", why="weaker", low=t * eta / (2 * L * S)),
    ),
)

AS_ANY_MAP = Claim(
    id="huang2024/theorem-1/norm@any-map",
    title="the norm of W_kq grows linearly, any map n",
    says=AS_INJECTIVE.says,
    latex=AS_INJECTIVE.latex,
    quantifiers=AS_INJECTIVE.quantifiers,
    source=AS_INJECTIVE.source,
    wording=Wording.PRINTED,
    domain=ANY_MAP,
    assumes=AS_INJECTIVE.assumes,
    parameters=AS_INJECTIVE.parameters,
    mutants=MUTANTS,
    anchors=(
        Anchor("grouped counts", why="theorem-1/norm/repaired", domain=GROUPED),
        Anchor("n injective", why="grouped counts follow", domain=INJECTIVE),
    ),
    finding=refuted(
        "two groups of tokens, each with one next token, draw the error in turn and W "
        "goes to and fro; one sample of 32 tokens suffices"
    ),
    nearest="huang2024/theorem-1/norm/repaired",
    pinned=((cases.crowd(*BOTH_ORDERS), 1000.0, 0.3),),
)

REPAIR = Claim(
    id="huang2024/theorem-1/norm/repaired",
    title="sharp linear growth of the norm of W_kq",
    says=(
        "If in no sample the tokens with one other next token outnumber the carriers, "
        "the norm of W_kq lies between tη/(√2‖W*‖) and tη at every step, for any map n."
    ),
    latex=r"\frac{t\eta}{\sqrt{2}\|W^*_{kq}\|} \le \|W^{(t)}_{kq}\| \le t\eta",
    quantifiers="for all maps n, all η > 0, Δ > 0 and t ≥ 0",
    source=PAPER.at("Theorem 1", "repaired"),
    wording=Wording.OURS,
    domain=GROUPED,
    assumes=REPAIRED,
    parameters={"low": t * eta / (ROOT2 * S), "high": t * eta},
    mutants=(
        *MUTANTS,
        Mutant(
            "one per cent more",
            why="one pair attains it",
            low=sp.Rational(101, 100) * t * eta / (ROOT2 * S),
        ),
    ),
    anchors=(Anchor("as printed", why="weaker", low=t * eta / (2 * S)),),
)

CLAIMS = (AS_INJECTIVE, AS_ANY_MAP, REPAIR)


# ---------------------------------------------------------------- exact


@check(*CLAIMS, grade="symbolic", scope="all")
def steps_add_up(claim: Claim) -> Outcome:
    """Every step has cosine at least 1/(√2‖W*‖) with W*; refute at exact norms."""
    if not claim.domain.grouped:
        crowd = exact.Crowd(BOTH_ORDERS, power=2**40)
        says = "[o, 16 m, 15 k], n(m) all equal and n(k) all equal, Δ = 32·40·log 2"
        return Refuted(
            "the second step takes back most of the first",
            witness=after_two_steps(crowd, claim.low, says),
        )
    claimed = (
        Bound("lower bound", X, ">=", claim.low, t * eta / (ROOT2 * S)),
        Bound("upper bound", X, "<=", claim.high, t * eta),
    )
    return decide.bounds(claimed, exact.pair_runs(), proofs.alignment())


def after_two_steps(crowd: exact.Crowd, low: sp.Expr, says: str) -> dict[str, object]:
    """Record that ‖W^(2)‖ is below a bound."""
    inputs = {"t": 2, "eta": Fraction(3, 10), "L": 1 + sum(crowd.distinct)}
    bound = low.subs(S, crowd.norm_star)
    says = f"{says}: the norm at t = 2 is below the bound"
    return formula(crowd.two_steps(), "<", bound, inputs, says)


# ---------------------------------------------------------------- floating point


def _relations(claim: Claim) -> tuple[Along, ...]:
    from theorems.huang2024.descent.observed import Along

    return (
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
    runs.append(observed.Setting(cases.crowd(*BOTH_ORDERS), 1000.0, 0.3))
    return observed.follow(runs)


@check(*CLAIMS, grade="property", scope="random data, |V| ≤ 7, L ≤ 12, t ≤ 300")
def holds_along_paths(claim: Claim, paths: Rows) -> Outcome:
    """Follow many paths in floating point; report how tight the bounds are."""
    from theorems.huang2024.descent import observed

    rows = observed.of(paths, claim.domain, SINCE)
    return observed.judge(_relations(claim), rows, "random and extreme data")


@check(*CLAIMS, grade="property", scope="small data drawn by a search, t ≤ 60")
def survives_a_search(claim: Claim, search: Search) -> Outcome:
    """Let Hypothesis shorten W."""
    from theorems.huang2024.descent import hunt

    return hunt.search_paths(claim, _relations(claim), search, since=SINCE)


# ---------------------------------------------------------------- necessity


@necessity(
    AS_INJECTIVE,
    assumption="counts",
    needed=True,
    grade="certified",
    scope="three tokens, two steps, η = 3/10",
)
def without_counts(claim: Claim) -> Outcome:
    """[o, m, m, m, k, k, k, k] goes to and fro like the 32 tokens."""
    crowd = exact.Crowd((1, 1), (3, 4), 2**180)
    says = "m three times, k four times, Δ = 8·180·log 2"
    witness = after_two_steps(crowd, claim.low, says)
    return Refuted("the second step takes back the first", witness=witness)


@necessity(
    REPAIR,
    assumption="grouped-counts",
    needed=True,
    grade="certified",
    scope="32 tokens, two steps, η = 3/10",
)
def without_grouped_counts(claim: Claim) -> Outcome:
    """The data that refute the theorem for any map."""
    crowd = exact.Crowd(BOTH_ORDERS, power=2**40)
    witness = after_two_steps(crowd, claim.low, "16 m and 15 k")
    return Refuted("the second step takes back the first", witness=witness)


@necessity(
    AS_INJECTIVE,
    REPAIR,
    assumption="zero-start",
    needed=True,
    grade="certified",
    scope="one pair that starts at -5 W*/‖W*‖",
)
def from_another_start(claim: Claim) -> Outcome:
    """A start opposite to W* is walked back before the norm grows."""
    inputs = {"t": 10, "eta": sp.S.Half}
    says = "after 10 steps of 1/2 from -5 W*/‖W*‖ the norm is 0, one pair [o, q]"
    low = claim.low.subs(S, 1 / ROOT2)
    return Refuted(says, witness=formula(t * eta - 5, "<", low, inputs, says))


@necessity(
    AS_INJECTIVE,
    REPAIR,
    assumption="normalised",
    needed=True,
    grade="certified",
    scope="one pair, plain steps, Δ = 1/2",
)
def plain_gradient_descent(claim: Claim) -> Outcome:
    """‖∇L‖ = √2 Δ φ_+(1 - φ_+)·2(1 - T_y) ≤ √2 Δ/4 for φ_+ ≥ 1/2, |V| = 2."""
    most = t * eta * ROOT2 * exact.Delta / 4
    inputs = {"t": 2, "eta": sp.S.Half, "Delta": sp.S.Half}
    says = "plain steps for one pair [o, q] add up to less than the bound"
    low = claim.low.subs(S, 1 / ROOT2)
    return Refuted(says, witness=formula(most, "<", low, inputs, says))


@necessity(
    AS_INJECTIVE,
    REPAIR,
    assumption="orthonormal",
    needed=True,
    grade="certified",
    scope="one pair, embeddings of norm 3",
)
def embeddings_of_another_norm(claim: Claim) -> Outcome:
    """With norm R the solution is R² times shorter, and a step as long as before."""
    inputs = {"t": 2, "eta": sp.S.Half}
    low = claim.low.subs(S, 1 / (9 * ROOT2))
    says = "for embeddings of norm 3 the lower bound exceeds tη, one pair [o, q]"
    return Refuted(says, witness=formula(t * eta, "<", low, inputs, says))


@necessity(
    AS_INJECTIVE,
    assumption="small-step",
    needed=False,
    grade="property",
    scope="random data, η = 30 and 1000",
)
def steps_of_any_length(claim: Claim, profile: Profile, seed: int) -> Outcome:
    """The proof of the sharp bound asks nothing of η."""
    from theorems.huang2024.descent import observed

    count = profile.pick(smoke=30, default=90, full=900)
    runs = observed.random_settings(seed, count)
    long = [
        observed.Setting(one.dataset, one.delta, (30.0, 1000.0)[i % 2])
        for i, one in enumerate(runs)
    ]
    rows = observed.of(observed.follow(long), claim.domain, SINCE)
    return observed.judge(_relations(claim), rows, "random data, long steps")
