"""Appendix B.1, low rank: rank W_F = rank I_M is generic, not implied.

Ren and Liu (NeurIPS 2024), remark on "potential low-rankness" after Theorem B.1, for
W_F = W_2 I_M W_1 with W_1 ∈ R^{d_h x d}, W_2 ∈ R^{d x d_h}:

    rank W_F ≤ min(rank W_1, rank W_2, rank I_M);                             holds
    with rank W_1 = rank W_2 = d, d_h > d, and rank I_M < d, a lower bound
    "implies the rank of W_F will exactly equal to Rank(I_M)".                false

Sylvester's inequality subtracts 2 d_h, not 2 d: the inner dimension is d_h. If the only
active unit of a network has no incoming weight, W_F = 0 whatever the ranks of W_1, W_2.
For weights with a density, rank W_F = min(d, rank I_M) almost surely, which is what the
text uses.

Deviations from the text:
    1. The displays are lost. That the lower bound is Sylvester's with 2d is a guess;
       the equality that it is said to imply is in the prose.
Not decided here: how many units are active (Figure 14).
"""

from __future__ import annotations

from sympy import Eq, Ge, Le, Lt, Min

from theorems.ren2024 import PAPER
from theorems.ren2024.duals import ranks
from theorems.ren2024.duals.ranks import (
    EQUAL,
    EVERY,
    GENERIC,
    GENERIC_RANK,
    PRINTED_LOWER,
    SQUARE,
    STATED,
    SYLVESTER,
    UPPER,
    d,
    d_h,
    r,
    r_1,
    r_2,
    r_M,
)
from verify import (
    Anchor,
    Assumption,
    Claim,
    Kind,
    Mutant,
    Outcome,
    Wording,
    check,
    refuted,
)
from verify.search import Search

FULL = Assumption("full-rank", "rank W_1 = rank W_2 = d")
WIDE = Assumption("wide", "d_h > d")
FEW = Assumption("few-active", "rank I_M < d")
DENSITY = Assumption("density", "W_1, W_2 have a joint density")

PRINTED = Claim(
    id="ren2024/rank-wf",
    title="rank W_F = rank I_M",
    says="With full-rank W_1, W_2 and rank I_M < d, rank W_F equals rank I_M.",
    latex=r"\mathrm{Rank}(W_F) = \mathrm{Rank}(I_M)",
    quantifiers="for all d_h > d ≥ 1, all such W_1, W_2, all b_1, h",
    source=PAPER.at("Appendix B.1", "potential low-rankness of W_F"),
    wording=Wording.PRINTED,
    domain=STATED,
    assumes=(FULL, WIDE, FEW),
    parameters={"relation": EQUAL},
    mutants=(
        Mutant("one more", why="rank W_F ≤ rank I_M", relation=Eq(r, r_M + 1)),
        Mutant("d", why="I_M may have fewer ones", relation=Eq(r, d)),
        Mutant("less", why="nonsingular W_1, W_2 keep it", relation=Lt(r, r_M)),
    ),
    anchors=(
        Anchor("d_h = d", why="W_1 and W_2 are then invertible", domain=SQUARE),
        Anchor(
            "min(d, rank I_M), generic weights",
            why="a minor that is not identically zero",
            domain=GENERIC,
            relation=GENERIC_RANK,
        ),
    ),
    finding=refuted("the active units may have dependent or no weights"),
    nearest="ren2024/rank-wf/repaired",
)

REPAIRED = Claim(
    id="ren2024/rank-wf/repaired",
    title="rank W_F = min(d, rank I_M) almost surely",
    says=(
        "For weights with a density, rank W_F is min(d, rank I_M) almost surely, "
        "whatever b_1 and h."
    ),
    latex=r"\mathrm{Rank}(W_F) = \min\{d, \mathrm{Rank}(I_M)\}",
    quantifiers="for all d, d_h ≥ 1, all b_1, h, almost all W_1, W_2",
    source=PRINTED.source,
    wording=Wording.OURS,
    domain=GENERIC,
    assumes=(DENSITY,),
    parameters={"relation": GENERIC_RANK},
    mutants=(
        Mutant("rank I_M", why="it is at most d", relation=EQUAL),
        Mutant("d", why="I_M may have fewer ones", relation=Eq(r, d)),
        Mutant("min(d_h, rank I_M)", why="d < d_h", relation=Eq(r, Min(d_h, r_M))),
        Mutant(
            "one less", why="the minor is not zero", relation=Eq(r, Min(d, r_M) - 1)
        ),
    ),
)

AT_MOST = Claim(
    id="ren2024/rank-wf/upper",
    title="rank W_F is at most each factor's",
    says="The rank of W_F is at most the least of the ranks of W_1, W_2 and I_M.",
    latex=(
        r"\mathrm{Rank}(W_F) \le \min\{\mathrm{Rank}(W_1), \mathrm{Rank}(W_2), "
        r"\mathrm{Rank}(I_M)\}"
    ),
    quantifiers="for all d, d_h ≥ 1, all W_1, W_2, b_1, h",
    source=PRINTED.source,
    wording=Wording.DERIVED,
    domain=EVERY,
    parameters={"relation": UPPER},
    mutants=(
        Mutant("less", why="all ranks may be one", relation=Lt(r, Min(r_1, r_2, r_M))),
        Mutant("one less than I_M", why="as above", relation=Le(r, r_M - 1)),
        Mutant("half of d_h", why="d = d_h = 1", relation=Le(2 * r, d_h)),
    ),
)

AT_LEAST = Claim(
    id="ren2024/rank-wf/lower",
    kind=Kind.PROOF_STEP,
    title="Sylvester's inequality with 2d",
    says="The rank of W_F is at least rank W_1 + rank W_2 + rank I_M - 2d.",
    latex=(
        r"\mathrm{Rank}(W_F) \ge \mathrm{Rank}(W_1) + \mathrm{Rank}(W_2) + "
        r"\mathrm{Rank}(I_M) - 2d"
    ),
    quantifiers=PRINTED.quantifiers,
    source=PRINTED.source,
    wording=Wording.GUESSED,
    domain=STATED,
    assumes=PRINTED.assumes,
    parameters={"relation": PRINTED_LOWER},
    mutants=(
        Mutant(
            "- d", why="d + rank I_M is too much", relation=Ge(r, r_1 + r_2 + r_M - d)
        ),
        Mutant("d", why="I_M may have fewer ones", relation=Ge(r, d)),
    ),
    anchors=(
        Anchor("d_h = d", why="the inner dimension is then d", domain=SQUARE),
        Anchor("- 2 d_h", why="Sylvester", domain=EVERY, relation=SYLVESTER),
    ),
    finding=refuted("the inner dimension is d_h"),
    nearest="ren2024/rank-wf/lower/repaired",
)

AT_LEAST_REPAIRED = Claim(
    id="ren2024/rank-wf/lower/repaired",
    kind=Kind.PROOF_STEP,
    title="Sylvester's inequality",
    says="The rank of W_F is at least rank W_1 + rank W_2 + rank I_M - 2 d_h.",
    latex=AT_LEAST.latex.replace("2d", "2 d_h"),
    quantifiers=AT_MOST.quantifiers,
    source=PRINTED.source,
    wording=Wording.OURS,
    domain=EVERY,
    parameters={"relation": SYLVESTER},
    mutants=(
        Mutant("2d", why="the inner dimension is d_h", relation=PRINTED_LOWER),
        Mutant("- d_h", why="d = d_h = 1", relation=Ge(r, r_1 + r_2 + r_M - d_h)),
        Mutant(
            "one more",
            why="d = d_h = 1 is tight",
            relation=Ge(r, r_1 + r_2 + r_M - 2 * d_h + 1),
        ),
    ),
)

CLAIMS = (PRINTED, REPAIRED, AT_MOST, AT_LEAST, AT_LEAST_REPAIRED)


@check(*CLAIMS, grade="symbolic", scope="all")
def ranks_of_products(claim: Claim) -> Outcome:
    """Block elimination, subspaces, and a minor exhibited for every pattern."""
    return ranks.settle(claim)


@check(*CLAIMS, grade="property", scope="integer networks, d ≤ 3, d_h ≤ 6")
def ranks_over_the_integers(claim: Claim, search: Search) -> Outcome:
    """Hunt for a network that breaks the relation; ranks by flint."""
    return ranks.hunt(claim, search)
