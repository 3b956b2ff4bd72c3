"""Lemma G.4's Chernoff step: how many points lie in caps of height i/r.

Collins et al. (NeurIPS 2024), proof of Lemma G.4: "By a Chernoff bound for Binomial
random variables, we have with probability 1 - r/n²" bounds on the numbers N_i of points
with x_i·x ≥ 1 - i/r, i = 1, .., r, "whenever" n/log n ≥ 45 √d r^{d/2}.

It holds with N_i between half and twice its mean n σ_{i/r}: the smallest cap has a mean
of at least 45 log n/√(2π) ≈ 17.95 log n by Lemma G.1, and the two tails of each of r
binomials are n^{-2.24} and n^{-5.98} at most.

Deviations from the text:
    1. The display is lost. That N_i is compared with half and twice its mean is
       a guess.
    2. r is an integer here, as in "for 0 ≤ i ≤ r"; i = 0 is no cap.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, comb, floor, log
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps import area
from theorems.collins2024.caps.area import d, h
from theorems.collins2024.caps.balls import evaluate, number
from theorems.collins2024.caps.steps import equal, need, positive, rising
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
)
from verify.search import Search
from verify.symbolic import formula

r, n = sp.symbols("r n", positive=True)
SIZES = (3, 5)
MANY = 45 * sp.sqrt(d) * r ** (d / 2)

CLAIM = Claim(
    id="collins2024/lemma-g.4/counts",
    kind=Kind.PROOF_STEP,
    title="points in the caps",
    says=(
        "With probability at least 1 - r/n², each cap of height i/r, i = 1, .., r, "
        "holds between half and twice its expected number of points."
    ),
    latex=(
        r"\Pr\bigl(\tfrac12 n\sigma_{i/r} \le N_i \le 2 n\sigma_{i/r},\ "
        r"i = 1..r\bigr) \ge 1 - r/n^2"
    ),
    quantifiers="for all integers d > 2, r ≥ 1, n > 5 with n/log n ≥ 45 √d r^{d/2}",
    source=PAPER.at("Lemma G.4", "proof, Chernoff bound"),
    wording=Wording.GUESSED,
    assumes=(
        Assumption("uniform", "x_1, .., x_n are independent and uniform on S^{d-1}"),
        Assumption("many", "n/log n ≥ 45 √d r^{d/2}, n > 5"),
    ),
    parameters={
        "low": sp.Rational(1, 2),
        "high": sp.Integer(2),
        "decay": sp.Integer(2),
        "many": MANY,
    },
    mutants=(
        Mutant(
            "9/10 of the mean", why="2 deviations at n = 500", low=sp.Rational(9, 10)
        ),
        Mutant(
            "11/10 of the mean", why="2 deviations at n = 500", high=sp.Rational(11, 10)
        ),
        Mutant("r/n^12", why="the tails are no smaller", decay=sp.Integer(12)),
        Mutant("1 for 45", why="at n = 6, r = 1: 7/64 > 1/36", many=MANY / 45),
        Mutant(
            "n/log n ≥ 45 √d",
            why="the smallest cap holds n r^{-(d-1)/2} points",
            many=45 * sp.sqrt(d),
        ),
    ),
)


@functools.cache
def chernoff() -> tuple[str, ...]:
    """The proof for all d > 2, r ≥ 1, i and n ≥ 6."""
    rate = 45 / sp.sqrt(2 * sp.pi)
    k = sp.Symbol("k", positive=True)
    spare = 6 ** -(rate / 8 - 2) + 6 ** -(rate / 3 - 2)
    return (
        *area.exact_range(),
        positive("2/r - 1/r² ≥ 1/r", 1 / r - 1 / r**2, {r: 1}),
        positive("r^{-(d-1)/2} ≥ r^{-d/2} for r ≥ 1", d / 2 - (d - 1) / 2, {d: 2}),
        equal(
            "n/√(2πd) r^{-d/2} with n = 45 √d r^{d/2} log n",
            MANY / sp.sqrt(2 * sp.pi * d) * r ** (-d / 2),
            rate,
        ),
        "so every cap has a mean of at least 45/√(2π) log n, as σ_{i/r} ≥ σ_{1/r}",
        "standard (Chernoff): P(N ≤ μ/2) ≤ e^{-μ/8}, P(N ≥ 2μ) ≤ e^{-μ/3}",
        need("45/(8√(2π)) > 2", bool(rate / 8 > 2)),
        need("both tails at n = 6, times n², are at most 1", bool(spare < 1)),
        rising("powers of n fall: log(1 + k/6)", sp.log(1 + k / 6), k),
    )


def fewest(claim: Claim, size: int, parts: int) -> int:
    """The smallest n > 5 with n/log n at least what is claimed to be enough."""
    wanted = float(evaluate(claim.many, {d: size, r: parts}))
    low, high = 6, 6
    while high / log(high) < wanted:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        enough = middle / log(middle) >= wanted
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _share(size: int, height: Fraction) -> Fraction:
    value = area.polynomial(size).subs(h, sp.Rational(height))
    return Fraction(int(value.p), int(value.q))


def tails(claim: Claim, points: int, share: Fraction) -> tuple[int, int]:
    """The largest count below, and the smallest above, what is claimed."""
    mean = points * share
    low, high = (Fraction(int(x.p), int(x.q)) for x in (claim.low, claim.high))
    return ceil(low * mean) - 1, floor(high * mean) + 1


def violated(claim: Claim, size: int, parts: int) -> bool:
    """Whether one cap alone is off with a probability above r/n^decay.

    Binomial tails are incomplete beta functions, in balls.
    """
    points = fewest(claim, size, parts)
    for part in (1, parts):
        share = _share(size, Fraction(part, parts))
        below, above = tails(claim, points, share)
        off = number(1 - share).beta_lower(points - below, below + 1, 1)
        off += number(share).beta_lower(above, points - above + 1, 1)
        if not bool(off <= number(Fraction(parts, points ** int(claim.decay)))):
            return True
    return False


def witness(claim: Claim, size: int, parts: int) -> Mapping[str, Any]:
    """The likeliest terms of a tail of one cap, which add up to more than r/n^decay."""
    points = fewest(claim, size, parts)
    share = _share(size, Fraction(1, parts))
    below, above = tails(claim, points, share)
    p, q = sp.symbols("p q")
    counts = [*range(below, max(below - 8, -1), -1), *range(above, above + 8)]
    chance = sp.Add(*(comb(points, k) * p**k * q ** (points - k) for k in counts))
    return formula(
        chance,
        ">",
        sp.Rational(parts, points ** int(claim.decay)),
        {"p": share, "q": 1 - share},
        f"d = {size}, r = {parts}, n = {points}: counts outside the claimed range in "
        f"the cap of share {share} are likelier than r/n^{claim.decay}",
    )


def small(claim: Claim) -> Iterator[tuple[int, int]]:
    """Caps of small r; one that fails."""
    cases = ((3, 1), (3, 2), (5, 1), (3, 30))
    return (case for case in cases if violated(claim, *case))


@check(CLAIM, grade="symbolic", scope="all")
def chernoff_for_the_smallest_cap(claim: Claim) -> Outcome:
    """Bound the mean of the smallest cap by Lemma G.1; then Chernoff, r times."""
    enough = sp.simplify(claim.many / MANY)
    if (
        enough.is_number
        and bool(enough >= 1)
        and claim.low <= sp.S.Half
        and claim.high >= 2
        and claim.decay <= 2
    ):
        return Holds("proved for all d > 2, r and n", steps=chernoff())
    for case in small(claim):
        found = witness(claim, *case)
        return Refuted(str(found["says"]), witness=found)
    return Inconclusive("no proof, and no small cap fails", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="d in {3, 5}, r ≤ 64, the fewest points")
def binomial_tails(claim: Claim, search: Search) -> Outcome:
    """Hunt over d and r, with exact shares and binomial tails in balls."""
    from hypothesis import strategies as st

    return search.for_all(
        st.tuples(st.sampled_from(SIZES), st.integers(1, 64)),
        lambda case: violated(claim, *case),
        lambda case: witness(claim, *case),
        searched="d in {3, 5}, r ≤ 64, caps of height 1/r and 1, the smallest n",
        pinned=((3, 1), (3, 30)),
        scale=0.15,
    )
