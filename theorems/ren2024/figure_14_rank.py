"""Figure 14, right: the upper bound min(d, Rank I_M) of Rank W_F.

Ren and Liu (NeurIPS 2024), Appendix E.4: with d = 12, over 1024 inputs and 5
repetitions, "when d_h ≥ 2.75 d = 33, the upper bound remains stable and equals d = 12.
Otherwise ... W_F exhibits clear low-rank property".

For a feed-forward layer whose rows (W_1, b_1) are independent and symmetric, each
hidden unit is active with probability 1/2 at any input, independently: Rank I_M is
binomial, and the mean of the bound is E min(d, Bin(d_h, 1/2)), a rational number. The
figure's number d_h = 33 is where it comes within 0.07 of 12; it never equals 12.

Deviations from the text:
    1. The layer's weights are not described. Symmetric random weights are assumed, as
       at every usual initialisation; @exactly and @within-a-tenth read "equals".
    2. "Clear low rank" is read as a mean below 11 for d_h ≤ 2d - 1.
Not decided here: whether Rank W_F reaches the bound (Appendix B.1).
"""

from __future__ import annotations

from fractions import Fraction

from sympy import Integer, Rational, Tuple

from theorems.ren2024 import PAPER
from theorems.ren2024.studies import rank
from verify import (
    Anchor,
    Assumption,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    refuted,
)
from verify.profiles import Profile
from verify.verdict import Grade, Need, Requires

SYMMETRIC = Assumption(
    "symmetric", "rows (W_1, b_1) are independent, symmetric and without atoms"
)
TENTH = Rational(1, 10)

WITHIN = Claim(
    id="ren2024/figure-14/rank@within-a-tenth",
    kind=Kind.EMPIRICAL,
    title="from d_h = 33 on the mean bound is within 0.1 of 12",
    says=(
        "For d = 12 the mean of min(d, Rank I_M) is within 0.1 of 12 from d_h = 33 on, "
        "and not for smaller d_h that are multiples of 3; for d_h ≤ 21 it is below 11."
    ),
    latex=r"\mathbb{E} \min(12, \mathrm{Bin}(33, \tfrac12)) = 11.932\ldots",
    quantifiers="d_h = 3, 6, ..., 60; larger by monotony",
    source=PAPER.at("Figure 14", "right part; Appendix E.4"),
    wording=Wording.GUESSED,
    recipe_complete=False,
    assumes=(SYMMETRIC,),
    requires=Requires(
        (Need(frozenset({Grade.CERTIFIED})), Need(frozenset({Grade.PROPERTY}))),
        why="an exact sum stands in for the measurement",
    ),
    parameters={
        "d": Integer(12),
        "threshold": Integer(33),
        "tolerance": TENTH,
        "active": Rational(1, 2),
        "low": Tuple(21, 11),
    },
    mutants=(
        Mutant("2.5 d", why="the mean is 11.82 at 30", threshold=Integer(30)),
        Mutant("3 d", why="33 suffices", threshold=Integer(36)),
        Mutant("3.25 d", why="36 suffices", threshold=Integer(39)),
        Mutant("every unit active", why="only half are", active=Rational(1)),
        Mutant("a third active", why="half are", active=Rational(1, 3)),
        Mutant("low rank up to 27", why="the mean is 11.55 there", low=Tuple(27, 11)),
    ),
)

EXACTLY = Claim(
    id="ren2024/figure-14/rank@exactly",
    kind=Kind.EMPIRICAL,
    title="from d_h = 33 on the mean bound equals 12",
    says="For d = 12 and d_h = 33 the mean of min(d, Rank I_M) equals 12.",
    latex=r"\mathbb{E} \min(12, \mathrm{Rank}\, I_M) = 12",
    quantifiers="d_h = 33, symmetric random weights",
    source=PAPER.at("Figure 14", "right part; Appendix E.4"),
    wording=Wording.GUESSED,
    assumes=(SYMMETRIC,),
    parameters={"d": Integer(12), "d_h": Integer(33), "tolerance": Integer(0)},
    anchors=(Anchor("within a tenth", why="it is 11.932", tolerance=TENTH),),
    mutants=(
        Mutant("at d_h = 30", why="it is 11.82", d_h=Integer(30)),
        Mutant("at d_h = 24", why="it is 11.03", d_h=Integer(24)),
        Mutant("d = 13", why="it is 12.8", d=Integer(13)),
    ),
    finding=refuted("P(Rank I_M < 12) = 0.04 at d_h = 33, so the mean is 11.932"),
    nearest="ren2024/figure-14/rank@within-a-tenth",
)


@check(EXACTLY, grade="certified", scope="d_h = 33, symmetric weights")
def mean_bound_is_d(claim: Claim) -> Outcome:
    """Sum the binomial probabilities in rational arithmetic."""
    d, d_h, slack = int(claim.d), int(claim.d_h), Fraction(str(claim.tolerance))
    mean = rank.mean_bound(d, d_h)
    common = {
        "measured": float(mean), "target": float(d), "n": 1,
    }  # fmt: skip
    record = rank.record(
        d, d_h, Fraction(1, 2), "<" if d - mean > slack else ">=", slack
    )
    reason = f"E min({d}, Bin({d_h}, 1/2)) = {float(mean):.6f}"
    if d - mean > slack:
        return Refuted(reason, witness=record, **common)
    return Holds(reason, certificate=record, **common)


@check(WITHIN, grade="certified", scope="all")
def threshold_is_where_claimed(claim: Claim) -> Outcome:
    """Compare the exact mean on both sides of the threshold; it grows with d_h."""
    d, p = int(claim.d), Fraction(str(claim.active))
    start, slack = int(claim.threshold), Fraction(str(claim.tolerance))
    end, below = (int(x) for x in claim.low)
    at, before = rank.mean_bound(d, start, p), rank.mean_bound(d, start - 3, p)
    low = rank.mean_bound(d, end, p)
    reason = (
        f"mean bound {float(before):.4f}, {float(at):.4f} at d_h = {start - 3}, "
        f"{start}; {float(low):.4f} at {end}"
    )
    failures = [
        (d - at > slack, start, "<", slack),
        (d - before <= slack, start - 3, ">=", slack),
        (low >= below, end, ">=", Fraction(d - below)),
    ]
    common = {"measured": float(at), "target": float(d), "n": 3}
    for failed, d_h, sign, gap in failures:
        if failed:
            return Refuted(reason, witness=rank.record(d, d_h, p, sign, gap), **common)
    return Holds(
        reason,
        certificate=rank.record(d, start, p, ">=", slack),
        steps=(
            "min(d, X + B) ≥ min(d, X) for B ≥ 0: the mean grows with d_h",
            f"exact sums at d_h = {start - 3}, {start} and {end}",
        ),
        figures=(rank.figure(d, p),),
        **common,
    )


@evidence
def layers(seed: int) -> rank.Counts:
    """Active units of random feed-forward layers, one input each."""
    return rank.draw(seed, 12, (21, 27, 30, 33, 36, 39))


@check(WITHIN, grade="property", scope="random layers, d = 12, d_h = 21, 30, 33")
def sampled_layers_agree(
    claim: Claim, layers: rank.Counts, profile: Profile
) -> Outcome:
    """Count the active units of feed-forward layers, compare the mean of the bound.

    Five layers with 1024 inputs each, as in the text, share their weights; here every
    input has a layer of its own, so that counts are independent.
    """
    return rank.sampled(claim, layers, profile)
