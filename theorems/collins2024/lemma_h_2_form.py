"""Lemma H.2: the form of the minimiser.

Collins et al. (NeurIPS 2024), Appendix H.2. Over symmetric M with |B^T M B| ≤ ĉ/c_u²
any minimiser is claimed to be M* = c_1 BB^T + c_2 B⊥B⊥^T with 0 < |c_1| ≤ ĉ/c_u². Two
steps of the proof fail (lemma_h_2_steps.py).

What the argument does show: for B^T M B⊥ = 0 (``lemma-h.2/blocks``). Whether mixed
blocks could help is open; none that do were found.

Deviations from the text:
    1. The display is lost; it is rebuilt from the sentences around it.
    2. n ≥ 2 is assumed: for n = 1 the loss does not depend on M.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import blocks
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    evidence,
    inconclusive,
)
from verify.numerics import table
from verify.profiles import Profile
from verify.search import Search
from verify.symbolic import formula

SYMMETRIC = Assumption("symmetric", "M = M^T")
BOUNDED = Assumption("bounded", "|B^T M B| ≤ ĉ/c_u²")
SEVERAL = Assumption("several", "n ≥ 2")
LEAST, LARGEST, ZERO = sp.symbols("least largest zero")

CLAIM = Claim(
    id="collins2024/lemma-h.2",
    title="form of the minimiser",
    says="Any minimiser is c_1 BB^T + c_2 B⊥B⊥^T with 0 < |c_1| ≤ ĉ/c_u².",
    latex=r"M^* = c_1^* B B^\top + c_2^* B_\perp B_\perp^\top",
    quantifiers="for all B, n ≥ 2, σ ≥ 0, ĉ > 0, over symmetric M, |B^T M B| ≤ ĉ/c_u²",
    source=PAPER.at("Lemma H.2", "Appendix H.2"),
    wording=Wording.DERIVED,
    assumes=(SYMMETRIC, BOUNDED, SEVERAL),
    finding=inconclusive(
        Cause.NO_PROOF,
        "a lower bound of the loss where B^T M B⊥ is not 0, or a counterexample there",
    ),
)

BLOCKS = Claim(
    id="collins2024/lemma-h.2/blocks",
    title="form of the minimiser, no mixed blocks",
    says=(
        "If B^T M B⊥ = 0, the loss of M is at least the infimum over c_1 in "
        "[0, ĉ/c_u²] and c_2 of that of c_1 BB^T + c_2 B⊥B⊥^T."
    ),
    latex=(
        r"B^\top M B_\perp = 0 \implies \mathcal L(M) \ge \inf_{0 \le c_1 \le "
        r"\hat c / c_u^2, c_2} \mathcal L(c_1 B B^\top + c_2 B_\perp B_\perp^\top)"
    ),
    quantifiers="for all B, n, σ ≥ 0, ĉ > 0, symmetric M with B^T M B⊥ = 0",
    source=PAPER.at("Lemma H.2", "repair"),
    wording=Wording.OURS,
    assumes=(SYMMETRIC, BOUNDED),
    parameters={"where": LEAST, "sign": sp.S.One},
    mutants=(
        Mutant("at most", why="A = diag(1, -1)", sign=-sp.S.One),
        Mutant("the largest c_1 is best", why="not with much noise", where=LARGEST),
        Mutant("c_1 = 0 is best", why="Lemma H.1", where=ZERO),
    ),
)

# A, noise, ĉ: k = 1, n = 2, where A is a number and e^{2A} is rational
Case = tuple[Fraction, Fraction, Fraction]  # y = e^{2A}, noise, e^{2ĉ}
CASES: tuple[Case, ...] = (
    (Fraction(1, 4), Fraction(0), Fraction(4)),
    (Fraction(4), Fraction(0), Fraction(4)),
    (Fraction(1), Fraction(20), Fraction(4)),
)


def _other(claim: Claim, case: Case) -> Fraction | None:
    """The y of a multiple of BB^T with which the claim compares the case."""
    top = case[2]
    if claim.where == LEAST:
        # at most the infimum: any other admissible scale contradicts it
        return top if claim.sign < 0 else None
    return top if claim.where == LARGEST else Fraction(1)


def by_hand(claim: Claim) -> dict[str, Any] | None:
    """An exact contradiction with k = 1, n = 2, if there is one."""
    for case in CASES:
        other = _other(claim, case)
        if other is None:
            continue
        y, noise, _ = case
        gap = blocks.line(Fraction(0), noise, y) - blocks.line(
            Fraction(0), noise, other
        )
        if claim.sign * gap < 0:
            s, a, b = sp.symbols("noise y z", positive=True)
            left, right = (blocks.line(sp.S.Zero, s, x) for x in (a, b))
            says = "k = 1, n = 2: loss at e^(2A) = y, and at e^(2c_1) = z"
            inputs = {"noise": noise, "y": y, "z": other}
            return formula(left, "<" if claim.sign > 0 else ">", right, inputs, says)
    return None


@check(BLOCKS, grade="symbolic", scope="all")
def rotation_decides(claim: Claim) -> Outcome:
    """Prove it by rotations; or compare two scales for k = 1, n = 2."""
    if claim.where == LEAST and claim.sign > 0:
        return Holds("u.w ≤ 1, at scales |Au| ≤ |A|", steps=blocks.without_mixed())
    record = by_hand(claim)
    if record is None:
        return Inconclusive("no proof; two scales agree", cause=Cause.NO_PROOF)
    return Refuted(str(record["says"]), witness=record)


# Entries of A and R: with noise, without R, one large entry is worse than none.
CORNERS = ((2.0, -2.0, 1.0), (0.5, 2.0, -1.0), (2.0, 0.0, 0.0))
Row = tuple[float, ...]  # entries of A, R, noise, loss, and least, largest, zero


@evidence
def losses(profile: Profile, seed: int) -> list[Row]:
    """Losses of diagonal A, and of multiples of I up to the larger entry."""
    import numpy as np

    rng = np.random.default_rng(seed)
    count = profile.pick(smoke=9, default=30, full=600)
    drawn = rng.uniform(-2, 2, (count, 3)).tolist()
    rows = []
    for index, (first, second, R) in enumerate([*CORNERS, *drawn]):
        noise = (0.0, 0.1, 20.0)[index % 3]
        loss = blocks.circle((first, second), R, noise)
        scales = np.linspace(0, max(abs(first), abs(second)), 13)
        values = blocks.multiples(scales, R, noise)
        others = (float(min(values)), float(values[-1]), float(values[0]))
        rows.append((first, second, R, noise, loss, *others))
    return rows


@check(BLOCKS, grade="property", scope="k = 2, d - k = 1, n = 2, quadrature")
def circles(claim: Claim, losses: list[Row]) -> Outcome:
    """Compare random diagonal A with multiples of I up to the larger entry.

    The rules are trapezoidal in the angles and the integrands analytic: with 24 nodes
    and entries up to 2 the error is below 1e-10.
    """
    import numpy as np

    place = {LEAST: 5, LARGEST: 6, ZERO: 7}[claim.where]
    rows = [(*row[:5], row[place]) for row in losses]
    gaps = [int(claim.sign) * (row[4] - row[5]) for row in rows]
    worst = int(np.argmin(gaps))
    found: dict[str, Any] = {
        "n": len(rows),
        "searched": "entries of A and R in [-2, 2], corners included",
    }
    if gaps[worst] > -1e-9:
        return Holds("no diagonal A does better than a multiple of I", **found)
    names = ("A1", "A2", "R", "noise", "loss", "other")
    relation = ["<" if claim.sign > 0 else ">", ["in", "loss"], ["in", "other"]]
    says = "the loss of M, and the one with which it is compared"
    columns = {name: [x] for name, x in zip(names, rows[worst], strict=True)}
    record = table(columns, relation=relation, aggregate="all", says=says)
    return Refuted(says, witness=record, **found)


@check(CLAIM, grade="property", scope="k = 1 = d - k, n ≤ 4, exact sums")
def mixed_blocks(claim: Claim, search: Search) -> Outcome:
    """Hunt for an M with mixed blocks that does better than all c BB^T, c ≤ ĉ."""
    from hypothesis import strategies as st
    from scipy.optimize import minimize_scalar

    number = st.integers(-300, 300).map(lambda j: j / 100)
    instance = st.tuples(
        number, number, number, st.integers(2, 4), st.sampled_from((0.0, 0.1, 1.0))
    )

    def both(at: tuple[float, float, float, int, float]) -> tuple[float, float]:
        n, noise = at[3:]
        top = abs(at[0]) or 0.01
        family = minimize_scalar(
            lambda c: blocks.plane(c, 0.0, 0.0, n, noise),
            bounds=(0.0, top),
            method="bounded",
        )
        ends = min(blocks.plane(top, 0.0, 0.0, n, noise), float(family.fun))
        search.aim(ends - blocks.plane(*at), label="gain")
        return blocks.plane(*at), ends

    def record(at: tuple[float, float, float, int, float]) -> dict[str, Any]:
        columns = {
            name: [x] for name, x in zip(("loss", "family"), both(at), strict=True)
        }
        relation = ["<", ["in", "loss"], ["in", "family"]]
        says = f"A, R, E, n, noise = {at}: less than every c BB^T, c ≤ |A|"
        return table(columns, relation=relation, aggregate="all", says=says)

    def violated(at: tuple[float, float, float, int, float]) -> bool:
        loss, least = both(at)
        return loss < least - 1e-9  # rounding in sums of 512 terms is below 1e-12

    return search.for_all(
        instance,
        violated,
        record,
        searched="A, R, E in [-3, 3], n = 2..4, σ² in {0, 0.1, 1}",
        pinned=claim.pinned,
        scale=0.15,
    )
