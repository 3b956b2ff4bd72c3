"""Theorem 4.4, Case 1, sharpened: without noise the constraint always binds.

Collins et al. (NeurIPS 2024), Theorem 4.4: the minimiser is c BB^T/c_u² "for some c in
(0, 1]". With σ = 0 the loss h(c) at c BB^T/c_u² falls strictly on (0, 2], for every k
and every n ≥ 2, so that c = 1, and c = 2 in Theorem H.5: c is not learnt but given.

Pair by pair (subspace/reduction.py): with γ_i, γ_j = p, q and u_i.u, u_j.u = a > b each
pair adds at most p q (a - b)(p (1 - a)(1 + b) - q (1 - b)(1 + a)) < 0 to h'/2, as
e^{cx}(1 - x)/(1 + x) falls for c ≤ 2: the inequality of Lemma H.3. The reach 2 is sharp
over k: for n = 2 the best scale falls to 2 as k grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from verify import (
    Assumption,
    Claim,
    Holds,
    Mutant,
    Outcome,
    Refuted,
    Undecided,
    Wording,
    check,
)
from verify.numerics import table
from verify.search import Search

ERROR = 1e-11  # of the quadrature: see subspace/landscape.py
Instance = tuple[int, int, float, float]  # k, n, and two scales, the smaller first


@dataclass(frozen=True)
class Setting:
    """Noise and number of tokens.

    Attributes:
        noise: sigma^2 k/c_u^2.
        least: Smallest n.
    """

    noise: float = 0.0
    least: int = 2


CLAIM = Claim(
    id="collins2024/theorem-4.4/boundary",
    title="without noise the constraint binds",
    says="For σ = 0 the loss at c BB^T/c_u² falls strictly for 0 < c ≤ 2: c* = C.",
    latex=r"\sigma = 0: \quad h'(c) < 0 \text{ for } 0 < c \le 2, \quad "
    r"M^* = \tfrac{C}{c_u^2} B B^\top \ (C \le 2)",
    quantifiers="for all k ≥ 1, n ≥ 2",
    source=PAPER.at("Theorem 4.4", "Case 1, sharpened"),
    wording=Wording.OURS,
    domain=Setting(),
    assumes=(
        Assumption("noiseless", "σ = 0"),
        Assumption("several-tokens", "n ≥ 2"),
    ),
    parameters={"reach": sp.Integer(2), "sign": -sp.S.One},
    mutants=(
        Mutant("up to c = 4", why="k = 5, n = 2: least near 2.3", reach=sp.Integer(4)),
        Mutant("up to c = 3", why="k = 5, n = 2: least near 2.3", reach=sp.Integer(3)),
        Mutant("it rises", why="at c = 0 it falls", sign=sp.S.One),
        Mutant("noise", why="a wider window averages it", domain=Setting(noise=4.0)),
        Mutant("n = 1 too", why="there the loss is constant", domain=Setting(least=1)),
    ),
)


def losses(claim: Claim, one: Instance) -> tuple[float, float]:
    """The loss, in units of c_u²/k, at the two scales."""
    from theorems.collins2024.subspace.family import terms

    k, n, low, high = one
    if n == 1:  # one token has attention 1
        return 2 + claim.domain.noise, 2 + claim.domain.noise
    first, second = (terms(k, 1, c, 0.0, n) for c in (low, high))
    noise = claim.domain.noise
    return float(first.loss(1, noise)), float(second.loss(1, noise))


def violated(claim: Claim, one: Instance) -> bool:
    """Whether the loss does not move as claimed, beyond the error."""
    _, n, _, high = one
    if n < claim.domain.least or high > claim.reach:
        return False
    first, second = losses(claim, one)
    move = float(claim.sign) * (second - first)
    return move < -2 * ERROR or (n == 1 and move <= 0)


def witness(claim: Claim, one: Instance) -> dict[str, Any]:
    """The two losses as a table."""
    first, second = losses(claim, one)
    k, n, low, high = one
    op = "<=" if claim.sign > 0 else ">="
    return table(
        {"first": [first], "second": [second]},
        relation=[op, ["in", "second"], ["in", "first"]],
        aggregate="all",
        says=f"k = {k}, n = {n}: losses at c = {low:.4g} and, next, {high:.4g}",
    )


PINNED: tuple[Instance, ...] = (
    (1, 1, 0.5, 1.0),
    (1, 2, 0.5, 1.0),
    (5, 2, 2.5, 3.0),
    (5, 2, 2.5, 4.0),
    (30, 2, 1.75, 2.0),
    (30, 1000, 1.75, 2.0),
)


@check(CLAIM, grade="symbolic", scope="all")
def every_pair_falls(claim: Claim) -> Outcome:
    """Prove h' < 0 pair by pair, or show two scales against it."""
    from theorems.collins2024.subspace import reduction

    for one in PINNED:
        if violated(claim, one):
            record = witness(claim, one)
            return Refuted(str(record["says"]), witness=record)
    fits = claim.domain == Setting() and claim.reach <= 2 and claim.sign < 0
    if not fits:
        raise Undecided("no proof for this range")
    return Holds("each pair of tokens lowers the loss", steps=reduction.falling())


@check(CLAIM, grade="property", scope="k ≤ 30, n ≤ 300, by quadrature")
def losses_at_two_scales(claim: Claim, search: Search) -> Outcome:
    """Compare the losses at two scales."""
    reach = float(claim.reach)
    scale = st.floats(0.0, 1.0, width=32)

    def spread(drawn: tuple[int, int, float, float]) -> Instance:
        k, n, first, second = drawn
        low, high = sorted((first, second))
        return k, n, reach * low, reach * high

    drawn = st.tuples(
        st.sampled_from((1, 2, 3, 5, 10, 30)),
        st.sampled_from((2, 3, 5, 10, 30, 300)),
        scale,
        scale,
    )
    return search.for_all(
        drawn.map(spread),
        lambda one: violated(claim, one),
        lambda one: witness(claim, one),
        searched="k in 1..30, n in 2..300, two scales up to the reach",
        pinned=PINNED,
        scale=0.2,
    )
