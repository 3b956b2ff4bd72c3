"""Lemma H.3, step (54): where the range c ≤ 2 comes from.

Collins et al. (NeurIPS 2024), Appendix H.2. With γ_{a,b} = (1 + a)(1 - b)

    b > a  ⟺  e^{ca} γ_{b,a} - e^{cb} γ_{a,b} > 0    for a ≠ b in [-1, 1], 0 < c ≤ 2.

The paper shows it by the signs of two derivatives. In short: it says that
ψ(x) = e^{cx}(1 - x)/(1 + x) falls, and (log ψ)' = c - 2/(1 - x²) ≤ c - 2. So 2 is the
largest c, exactly.

Deviations from the text:
    1. The display is lost; it is rebuilt from the sentences around it, which give the
       values of γ at a = -1 and b = 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.pairs import signal
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
    Resolve,
    Wording,
    check,
    necessity,
)
from verify.numerics import gamma
from verify.search import Search
from verify.symbolic import formula

a, b, c = sp.symbols("a b c", real=True)
GAMMA = (1 + a) * (1 - b)

CLAIM = Claim(
    id="collins2024/lemma-h.3/pairs",
    kind=Kind.PROOF_STEP,
    title="the pairs of Lemma H.3",
    says="For a < b, 0 < c ≤ 2: e^{ca}(1 - a)(1 + b) > e^{cb}(1 + a)(1 - b).",
    latex=r"a < b \implies e^{ca} \gamma_{b,a} > e^{cb} \gamma_{a,b}",
    quantifiers="for all -1 ≤ a < b ≤ 1, 0 < c ≤ 2",
    source=PAPER.at("Lemma H.3", "(54)"),
    wording=Wording.DERIVED,
    assumes=(Assumption("scale", "0 < c ≤ 2"),),
    parameters={"gamma": GAMMA, "largest": sp.Integer(2)},
    mutants=(
        Mutant("c up to 3", why="near x = 0 ψ then rises", largest=sp.Integer(3)),
        Mutant("c up to 2.1", why="the same", largest=sp.Rational(21, 10)),
        Mutant("swapped signs", why="a = 0 < b", gamma=(1 - a) * (1 + b)),
        Mutant("without 1 - b", why="b = -a = 1/2, c = 2", gamma=1 + a),
    ),
    resolves=(Resolve("largest", reach=1.0),),
)

Triple = tuple[Fraction, Fraction, Fraction]  # a, b, c


@functools.cache
def _sides(gamma_ab: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    swapped = gamma_ab.subs({a: b, b: a}, simultaneous=True)
    return sp.exp(c * a) * swapped, sp.exp(c * b) * gamma_ab


def witness(claim: Claim, at: Triple) -> dict[str, Any]:
    """A pair a < b for which the inequality fails."""
    left, right = _sides(claim.gamma)
    inputs = dict(zip("abc", at, strict=True))
    return formula(left, "<=", right, inputs, "a < b, and the left side is no larger")


def violated(claim: Claim, at: Triple) -> bool:
    """Whether the pair is a counterexample, by rounding; the witness decides."""
    left, right = _evaluator(claim.gamma)(*map(float, at))
    return bool(right - left > gamma(100) * (abs(left) + abs(right)))


@functools.cache
def _evaluator(gamma_ab: sp.Expr) -> Callable[..., tuple[float, float]]:
    return sp.lambdify((a, b, c), _sides(gamma_ab), "math")


def _by_hand(claim: Claim) -> Triple | None:
    top = Fraction(str(claim.largest))
    grid = [Fraction(j, 4) for j in range(-4, 5)]
    near = [Fraction(sqrt(float(top) - 2) * 0.9)] if 2 < top < 3 else [Fraction(1, 2)]
    pairs = [(-x, x) for x in near] + [p for p in product(grid, grid) if p[0] < p[1]]
    points = [(p, q, scale) for scale in (top, top / 4) for p, q in pairs]
    return next((x for x in points if violated(claim, x)), None)


@check(CLAIM, grade="symbolic", scope="all")
def ratio_falls(claim: Claim) -> Outcome:
    """Prove that ψ falls; or look at small pairs, and near 0 at the largest c."""
    found = _by_hand(claim)
    if found is not None:
        record = witness(claim, found)
        return Refuted(str(record["says"]), witness=record)
    if sp.expand(claim.gamma - GAMMA) == 0 and claim.largest <= 2:
        return Holds("(log ψ)' = c - 2/(1 - x²) < 0", steps=signal.ratio_falls())
    return Inconclusive("no proof; small pairs agree", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="a, b in multiples of 1/1000, c ≤ 2")
def pairs_are_tried(claim: Claim, search: Search) -> Outcome:
    """Hunt over pairs, many of them close to 0, where the inequality is tight."""
    from hypothesis import strategies as st

    top = Fraction(str(claim.largest))
    sides = st.integers(-1000, 1000).map(lambda j: Fraction(j, 1000))
    small = st.integers(1, 1000).map(lambda j: Fraction(j, 1000))
    mirrored = small.map(lambda x: (-x, x))
    pairs = st.one_of(st.tuples(sides, sides), mirrored)
    scales = st.one_of(st.just(top), st.integers(1, 100).map(lambda j: top * j / 100))

    def fails(drawn: tuple[tuple[Fraction, Fraction], Fraction]) -> bool:
        (first, second), scale = drawn
        if first >= second:
            search.discard("a ≥ b")
        return violated(claim, (first, second, scale))

    return search.for_all(
        st.tuples(pairs, scales),
        fails,
        lambda drawn: witness(claim, (*drawn[0], drawn[1])),
        searched="-1 ≤ a < b ≤ 1, c up to the claimed value",
        pinned=[((Fraction(-j, 100), Fraction(j, 100)), top) for j in (1, 5, 20, 50)],
        scale=0.1,
    )


@necessity(
    CLAIM,
    assumption="scale",
    needed=True,
    grade="certified",
    scope="c = 3",
)
def beyond_two(claim: Claim) -> Outcome:
    """Beyond 2 the pairs break, though the lemma may still hold."""
    at = (Fraction(-1, 2), Fraction(1, 2), Fraction(3))
    record = witness(claim, at)
    return Refuted("c = 3, b = -a = 1/2", witness=record)
