"""Theorem 4.4 decided: by the written proof, on the grid, in balls, and by search."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from theorems.collins2024.pairs import noise, signal, unimodal
from theorems.collins2024.subspace import exact, landscape, reduction
from theorems.collins2024.subspace.cases import (
    Cases,
    compared,
    contradiction,
    ends,
)
from theorems.collins2024.subspace.exact import Entries
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted, Undecided
from verify.numerics import table
from verify.outcome import Figure, Series

if TYPE_CHECKING:
    from flint import arb

CERTIFIED = {False: 2, True: 1}  # c up to which Lemmas H.3, and H.4, are proved


def by_proof(claim: Claim) -> Outcome:
    """Reduce to Lemmas H.3 and H.4, or show a better M.

    Args:
        claim: With parameters ``along``, ``across``, ``bound``, ``low`` and ``high``;
            its domain is :class:`Cases`.

    Returns:
        HOLDS on matrices with |c_u B^T M x| <= bound for all x.

    Raises:
        Undecided: The lemmas do not reach the bound, or the form is another one.
    """
    record = contradiction(claim)
    if record is not None:
        return Refuted(str(record["says"]), witness=record)
    cases: Cases = claim.domain
    printed = (claim.along, claim.across, claim.low, claim.high) == (1, 0, 0, 1)
    if not printed or claim.bound > CERTIFIED[cases.noisy]:
        raise Undecided("no proof for this form and range", Cause.NO_PROOF)
    if cases.noisy and cases.most != 2:
        raise Undecided("Lemma H.4 is for n = 2", Cause.NO_PROOF)
    lemmas = [*signal.proof()]
    if cases.noisy:
        on_line = [*noise.slopes(), *noise.substituted(), noise.inside()]
        lemmas += ["k = 1:", *on_line, "k ≥ 2:", *unimodal.noise()]
    steps = [*reduction.steps(), *lemmas]
    return Holds(
        "L(M) ≥ E h(|A|) ≥ min h, equal only at M = cBB^T",
        steps=steps,
        certificate=instance(cases),
    )


def instance(cases: Cases) -> dict[str, Any]:
    """One exact instance: the complement costs something at k = d - k = 1, c = 1."""
    says = f"k = d - k = 1, n = {cases.least}: the loss at BB^T + B⊥B⊥^T, and at BB^T"
    return compared(cases.least, (1.0, 1.0), 1.0, cases.variances[0], says)


# --- the grid ------------------------------------------------------------------------


def on_the_grid(claim: Claim, tables: landscape.Tables) -> Outcome:
    """Compare the claimed form with every field of scores on the grid.

    Args:
        claim: As for :func:`by_proof`.
        tables: The evidence.

    Returns:
        REFUTED by the first case with a lower loss in the constraint; else HOLDS.
    """
    cases: Cases = claim.domain
    worst, cheapest, judged = (np.inf, ""), np.inf, 0
    for case in all_cases(tables, cases):
        scape = landscape.Landscape.of(tables, case)
        record = lower(claim, scape)
        if record is not None:
            return Refuted(str(record["says"]), witness=record, n=judged + 1)
        bound = float(claim.bound)
        gap = scape.floor(bound) - float(scape.within(bound).min())
        cheapest = min(cheapest, scape.cost_across(bound))
        worst = min(worst, (gap, str(case)))
        judged += 1
    if worst[0] < -landscape.ERROR or cheapest <= landscape.ERROR:
        reason = f"a field of scores may be better by {-worst[0]:.3g} at {worst[1]}"
        return Inconclusive(reason, cause=Cause.UNDECIDED, n=judged)
    return Holds(
        f"no field of scores is better in {judged} cases; Q costs ≥ {cheapest:.3g}",
        n=judged,
        figures=(complement(tables, cases, min(float(claim.bound), 1.0)),),
        measured=worst[0],
        target=0,
        searched=f"k, d - k in {sorted(tables)}, n in {landscape.SAMPLES}, σ²k/c_u² in "
        f"{landscape.NOISE}, |A| in {landscape.ALONG}, |Q| in {landscape.ACROSS}",
    )


def complement(tables: landscape.Tables, cases: Cases, c: float) -> Figure:
    """The rise of the loss with |Q| at c BB^T, for each size and the least n."""
    curves = []
    noise = next(x for x in landscape.NOISE if (x > 0) == cases.noisy)
    for k, rest in sorted(tables):
        scape = landscape.Landscape.of(tables, (k, rest, max(cases.least, 2), noise))
        rise = [scape.loss(c, q) - scape.loss(c, 0.0) for q in landscape.ACROSS]
        curves.append(Series(f"k = {k}, d - k = {rest}", landscape.ACROSS, rise))
    return Figure(
        "complement",
        "What attention to spurious directions costs",
        "|Q| = c_v |B⊥^T M x|",
        "rise of the loss, in units of c_u²/k",
        tuple(curves),
        caption=f"At M = c BB^T/c_u² + c' B⊥B⊥^T, c = {c:g}, the smallest n and noise.",
    )


def all_cases(tables: landscape.Tables, cases: Cases) -> list[landscape.Case]:
    """The covered cases of the grid."""
    return [
        (k, rest, n, noise)
        for k, rest in tables
        for n in landscape.SAMPLES
        for noise in landscape.NOISE
        if cases.admits(n, noise)
    ]


def lower(claim: Claim, scape: landscape.Landscape) -> dict[str, Any] | None:
    """A record of a multiple of BB^T with a lower loss than the claimed form."""
    low, high = ends(claim)
    grid = landscape.ACROSS if claim.across else landscape.ALONG
    scales = [c for c in grid if low < c <= high]
    pairs = [(float(claim.along * c), float(claim.across * c)) for c in scales]
    least = min(scape.loss(*pair) for pair in pairs)
    other = float(scape.within(float(claim.bound)).min())
    if not other < least - 2 * landscape.ERROR:
        return None
    says = (
        f"(k, d - k, n, noise) = {scape.case}: the least loss along the claimed form, "
        "and a lower one along BB^T, each up to the error"
    )
    return table(
        {"claimed": [least], "elsewhere": [other], "error": [2 * landscape.ERROR]},
        relation=[
            "<",
            ["in", "elsewhere"],
            ["sub", ["in", "claimed"], ["in", "error"]],
        ],
        aggregate="all",
        says=says,
    )


# --- balls ---------------------------------------------------------------------------

POINTS = tuple(Fraction(j, 4) for j in (1, 2, 4, 8))
TURNS = tuple(Fraction(j, 4) for j in (1, 4, 16))
TOKENS = (2, 3, 5)


def in_balls(claim: Claim) -> Outcome:
    """Certify dL/dc' > 0 for k = d - k = 1 at points of a grid.

    Args:
        claim: As for :func:`by_proof`.

    Returns:
        HOLDS, or REFUTED as in :func:`contradiction`.

    Raises:
        Undecided: A sign is left open, or is the other one.
    """
    record = contradiction(claim)
    if record is not None:
        return Refuted(str(record["says"]), witness=record)
    if (claim.along, claim.across) != (1, 0):
        raise Undecided("another form", Cause.NO_PROOF)
    cases: Cases = claim.domain
    judged = 0
    for n in TOKENS:
        for variance in cases.variances:
            if not cases.admits(n, float(variance)):
                continue
            for c in POINTS:
                if c > claim.bound:
                    continue
                for turn in TURNS:
                    if not slope_ball(c, turn, n, variance) > 0:
                        raise Undecided(f"dL/dc' at c = {c}, c' = {turn}, n = {n}")
                    judged += 1
    return Holds(
        f"dL/dc' > 0 at {judged} points, each in balls",
        n=judged,
        searched="k = d - k = 1, n = 2, 3, 5, c in 1/4..bound, c' in 1/4..4",
    )


def slope_ball(c: Fraction, turn: Fraction, n: int, variance: Fraction) -> arb:
    """A ball around dL/dc' at (c, c')."""
    from flint import arb, fmpq

    def lift(x: Any) -> arb:
        return arb(fmpq(x.numerator, x.denominator))

    M = Entries(lift(c), 0, lift(turn))
    return exact.slope(M, n, lift(variance), lambda x: x.exp(), lift)
