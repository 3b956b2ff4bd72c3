"""Lemma I.1: the sum of a unimodal function is within its maximum of its integral.

Collins et al. (NeurIPS 2024), Lemma I.1: |Σ f(i) - ∫ f(t) dt| ≤ max f for continuous f
that rises up to a place T and falls from there on.

Deviations from the text:
    1. The display is lost, and with it the ranges of i and t. Readings: the whole line;
       i = 1..m against [0, m], as Lemma G.3 uses it; i = 0..m against [0, m].
    2. f ≥ 0 is assumed: the text does not say it, and has it wherever it is used.
    3. Continuity is not used: a function that rises, then falls, is enough.
    4. The line is decided for f that vanishes outside some interval, which may be as
       long as one likes; it is moved to [0, m]. Both sides converge as it grows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.steps import equal
from theorems.collins2024.caps.unimodal import Polygon
from verify import (
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Outcome,
    Refuted,
    Tightness,
    Verdict,
    Wording,
    check,
    necessity,
)
from verify.search import Search
from verify.slack import slack
from verify.symbolic import formula

m, k = sp.symbols("m k", integer=True)
f, J = sp.IndexedBase("f"), sp.IndexedBase("J")  # f(i), and ∫ over [i, i+1]
M = sp.Symbol("M")  # max f

ASSUMES = (
    Assumption("unimodal", "f rises up to some T, and falls from there on"),
    Assumption("nonnegative", "f ≥ 0"),
    Assumption("continuous", "f is continuous"),
)
PEAKS = (
    Mutant("half the maximum", why="a spike at an integer", factor=sp.Rational(1, 2)),
    Mutant("nine tenths", why="a thin spike at an integer", factor=sp.Rational(9, 10)),
)
FROM_3 = Mutant("integral from 3", why="a flat f loses 3 units", low=sp.Integer(3))


def _reading(
    name: str, title: str, says: str, *mutants: Mutant, first: int, ends: str
) -> Claim:
    return Claim(
        id=f"collins2024/lemma-i.1@{name}",
        title=f"sum and integral, {title}",
        says=says,
        latex=r"\Bigl|\sum_i f(i) - \int f(t)\, dt\Bigr| \le \max_t f(t)",
        quantifiers="for all f as assumed",
        source=PAPER.at("Lemma I.1", "Appendix I"),
        wording=Wording.GUESSED,
        domain=ends,
        assumes=ASSUMES,
        parameters={
            "first": sp.Integer(first),
            "last": m,
            "low": sp.S.Zero,
            "high": m,
            "factor": sp.S.One,
        },
        mutants=(*PEAKS, FROM_3, *mutants),
    )


SIGNS = (
    "f rises up to T ≥ k: J_{i-1} ≤ f_i for i ≤ k and f_i ≤ J_i for i < k",
    "f falls from T < k + 1: f_i ≥ J_i for i > k and J_{i-1} ≥ f_i for i > k + 1",
    "M ≥ J_k; J_k ≥ min(f_k, f_{k+1}) and M ≥ max(f_k, f_{k+1})",
)
FREE, VANISHING = "any values at the ends", "0 at the ends"

LINE = _reading(
    "line",
    "the whole line",
    "The sum of f over all integers differs from its integral by at most max f.",
    Mutant("integral up to m - 3", why="a flat f", high=m - 3),
    first=0,
    ends=VANISHING,
)
IN_USE = _reading(
    "from-one",
    "i = 1..m",
    "The sum over i = 1..m differs from the integral over [0, m] by at most max f.",
    Mutant("up to m - 2", why="a flat f loses two terms", last=m - 2),
    first=1,
    ends=FREE,
)
CLOSED = _reading(
    "from-zero",
    "i = 0..m",
    "The sum over i = 0..m differs from the integral over [0, m] by at most max f.",
    Mutant("integral from 1", why="a flat f has m + 1 terms", low=sp.S.One),
    first=0,
    ends=FREE,
)
READINGS = (LINE, IN_USE, CLOSED)


def _induction(
    says: str, sign: int, first: int, parts: Callable[[Any, Any], Mapping[str, sp.Expr]]
) -> tuple[str, ...]:
    """Prove sign (Σ_{first}^m f - ∫_0^m f) + M to be the sum of parts, for 0 ≤ k < m.

    Base m = 1, k = 0; from m to m + 1; and from k to k + 1, where the part ``rising``
    joins the parts before the peak and ``falling`` leaves those after it.
    """
    base = sign * (sp.Add(*(f[i] for i in range(first, 2))) - J[0]) + M
    now, moved = parts(m, k), parts(m, k + 1)
    step = moved["rising"] + moved["peak"] - now["peak"] - now["falling"]
    start = parts(1, 0)
    return (
        equal(f"{says}: m = 1, k = 0", base, start["peak"] + start["end"]),
        equal(f"{says}: from m to m + 1", sign * (f[m + 1] - J[m]), now["next"]),
        equal(f"{says}: from k to k + 1", step, sp.S.Zero),
    )


@functools.cache
def telescopes() -> tuple[str, ...]:
    """The proof: two decompositions into parts that are not negative.

    k is the integer part of T, 0 ≤ k < m; J_i = ∫ over [i, i+1].
    """
    below = _induction(
        "Σ_1^m - ∫ + M = Σ_{i≤k} (f_i - J_{i-1}) + (M - J_k) + Σ_{k<i<m} (f_i - J_i) "
        "+ f_m",
        1,
        1,
        lambda last, at: {
            "rising": f[at] - J[at - 1],
            "peak": M - J[at],
            "falling": f[at + 1] - J[at + 1],
            "next": (f[last] - J[last]) + f[last + 1] - f[last],
            "end": f[last],
        },
    )
    above = _induction(
        "∫ + M - Σ_0^m = Σ_{i<k} (J_i - f_i) + (J_k + M - f_k - f_{k+1}) "
        "+ Σ_{i>k+1} (J_{i-1} - f_i)",
        -1,
        0,
        lambda last, at: {
            "rising": J[at - 1] - f[at - 1],
            "peak": J[at] + M - f[at] - f[at + 1],
            "falling": J[at + 1] - f[at + 2],
            "next": J[last] - f[last + 1],
            "end": sp.S.Zero,
        },
    )
    a, b = sp.symbols("a b", real=True)
    smaller, larger = (a + b - sp.Abs(a - b)) / 2, (a + b + sp.Abs(a - b)) / 2
    return (
        *SIGNS,
        equal("min + max", smaller + larger, a + b),
        *below,
        *above,
        "with f_0 ≥ 0 the sum from 0 keeps the bound from below, and the sum from 1 "
        "the one from above; if T ≥ m or T < 0 one of the two parts is all there is",
    )


def sides(claim: Claim, function: Polygon) -> tuple[Fraction, Fraction]:
    """|Σ - ∫| and the claimed bound."""
    length = function.span[1]
    ends = [claim.first, claim.last, claim.low, claim.high]
    first, last, low, high = (int(end.subs(m, length)) for end in ends)
    gap = abs(function.total(first, last) - function.integral(low, max(low, high)))
    factor = Fraction(int(claim.factor.p), int(claim.factor.q))
    return gap, factor * function.largest


def violated(claim: Claim, function: Polygon) -> bool:
    """Whether the claim is false for a function."""
    gap, bound = sides(claim, function)
    return gap > bound


def witness(claim: Claim, function: Polygon) -> dict[str, Any]:
    """Record |Σ - ∫| and the bound, with the values and cell integrals behind them."""
    length = function.span[1]
    ends = [claim.first, claim.last, claim.low, claim.high]
    first, last, low, high = (int(end.subs(m, length)) for end in ends)
    values = {f"f{i}": function.at(i) for i in range(first, last + 1)}
    cells = {f"J{i}": function.integral(i, i + 1) for i in range(low, high)}
    gap = sp.Add(*map(sp.Symbol, values)) - sp.Add(*map(sp.Symbol, cells))
    knots = ", ".join(
        f"({x}, {y})" for x, y in zip(function.knots, function.values, strict=True)
    )
    return formula(
        sp.Abs(gap),
        ">",
        claim.factor * sp.Symbol("M"),
        {**values, **cells, "M": function.largest},
        f"polygon through {knots}: |sum - integral| above the claimed multiple of max",
    )


def polygon(*points: tuple[Any, Any]) -> Polygon:
    """A polygon through points."""
    return Polygon(*(tuple(map(Fraction, axis)) for axis in zip(*points, strict=True)))


THIN = Fraction(1, 64)
SPIKE = polygon((0, 0), (1 - THIN, 0), (1, 1), (1 + THIN, 0), (2, 0))
PLATEAU = polygon((0, 0), (THIN, 1), (8 - THIN, 1), (8, 0))
FLAT = polygon((0, 1), (8, 1))
TWO_SPIKES = polygon(
    (0, 0),
    (1 - THIN, 0),
    (1, 1),
    (1 + THIN, 0),
    (2 - THIN, 0),
    (2, 1),
    (2 + THIN, 0),
    (3, 0),
)


def known(claim: Claim) -> Sequence[Polygon]:
    """Functions close to the bound: a spike, a plateau, a constant."""
    return (SPIKE, PLATEAU) if claim.domain == VANISHING else (SPIKE, PLATEAU, FLAT)


@check(*READINGS, grade="symbolic", scope="all")
def telescoping_cells(claim: Claim) -> Outcome:
    """Compare values with integrals over the cells to their left and right."""
    ranges = (claim.first, claim.last, claim.low, claim.high)
    fits = claim.first in {0, 1} and ranges[1:] == (m, 0, m)
    if fits and bool(claim.factor >= 1):
        return Holds(
            "proved for all f that rise, then fall",
            steps=telescopes(),
            certificate=None,
        )
    for function in known(claim):
        if violated(claim, function):
            found = witness(claim, function)
            return Refuted(str(found["says"]), witness=found)
    return Inconclusive("no proof, and no known function fails", cause=Cause.NO_PROOF)


def functions(claim: Claim) -> Any:
    """Polygons on quarters of [0, m] that rise, then fall."""
    from hypothesis import strategies as st

    def make(drawn: tuple[int, list[int], int]) -> Polygon:
        length, raw, top = drawn
        raw = (raw * 4 * length)[: 4 * length + 1]
        values = [*sorted(raw[:top]), *sorted(raw[top:], reverse=True)]
        if claim.domain == VANISHING:
            values[0] = values[-1] = 0
        return polygon(*((Fraction(i, 4), y) for i, y in enumerate(values)))

    return st.tuples(
        st.integers(1, 4),
        st.lists(st.integers(0, 16), min_size=2, max_size=17),
        st.integers(0, 17),
    ).map(make)


@check(*READINGS, grade="property", scope="polygons on [0, m], m ≤ 8, exact")
def exact_polygons(claim: Claim, search: Search) -> Outcome:
    """Hunt over polygons with rational knots and values."""
    ratios: list[float] = []

    def fails(function: Polygon) -> bool:
        gap, bound = sides(claim, function)
        if bound:
            ratios.append(float(gap / bound))
        return gap > bound

    outcome = search.for_all(
        functions(claim),
        fails,
        lambda function: witness(claim, function),
        searched="polygons with knots at quarters, m ≤ 4; spikes and plateaus",
        pinned=known(claim),
        scale=0.3,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    gap, bound = sides(claim, SPIKE)
    return outcome.but(
        tightness=(Tightness("spike", float(gap / bound)),),
        figures=(slack({"|sum - integral|": ratios}, title="Slack of the bound"),),
    )


@necessity(
    *READINGS, assumption="unimodal", needed=True, grade="certified", scope="two spikes"
)
def several_maxima(claim: Claim) -> Outcome:
    """Two spikes at integers add up."""
    if violated(claim, TWO_SPIKES):
        return Refuted("two maxima", witness=witness(claim, TWO_SPIKES))
    return Holds("holds for two spikes", searched="two spikes")


@necessity(
    CLOSED,
    assumption="nonnegative",
    needed=True,
    grade="certified",
    scope="the constant -1",
)
def negative_functions(claim: Claim) -> Outcome:
    """For f = -1 the maximum itself is negative."""
    negative = polygon((0, -1), (2, -1))
    if violated(claim, negative):
        return Refuted("f = -1", witness=witness(claim, negative))
    return Holds("holds for f = -1", searched="the constant -1")


@necessity(
    *READINGS,
    assumption="continuous",
    needed=False,
    grade="property",
    scope="step functions with jumps at integers and between",
)
def step_functions(claim: Claim, search: Search) -> Outcome:
    """Jumps as edges of width 2^-20: a search over them finds nothing."""
    from hypothesis import strategies as st

    width = Fraction(1, 2**20)

    def make(drawn: tuple[list[int], int, int]) -> Polygon:
        raw, top, shift = drawn
        levels = [*sorted(raw[:top]), *sorted(raw[top:], reverse=True)]
        if claim.domain == VANISHING:
            levels = [0, *levels, 0]
        points: list[tuple[Fraction, int]] = []
        for i, level in enumerate(levels):
            at = i + Fraction(shift, 4) if i else Fraction(0)
            points += [(at + width, level)] if i else [(at, level)]
            points += [(i + 1 + Fraction(shift, 4), level)]
        points.append((Fraction(len(levels) + 1), levels[-1]))
        return polygon(*points)

    return search.for_all(
        st.tuples(
            st.lists(st.integers(0, 9), min_size=1, max_size=5),
            st.integers(0, 5),
            st.integers(0, 3),
        ).map(make),
        lambda function: violated(claim, function),
        lambda function: witness(claim, function),
        searched="step functions of up to 7 levels, jumps of width 2^-20",
        scale=0.2,
    )
