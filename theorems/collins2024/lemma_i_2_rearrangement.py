"""Lemma I.2: rearrangement can only increase the integral of a product.

Collins et al. (NeurIPS 2024), Lemma I.2, by reference to textbooks [66], [67]:
∫ f g ≤ ∫ f* g* for the symmetric decreasing rearrangements f*, g*: the sets {f* > r}
are balls about a common centre, as large as {f > r}. Lemma B.5 uses it on a sphere.

Deviations from the text:
    1. The display is lost; it is rebuilt from what stands after it.
    2. Neither the space nor signs are stated. Readings: the line, or R^d, where both
       functions must be nonnegative with level sets {f > r}, r > 0, of finite measure;
       and the sphere, as in Lemma B.5, where any bounded functions will do.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.cells import Cells, Layer
from theorems.collins2024.caps.steps import equal, need
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

FALLING, RISING, KEPT = sp.symbols("falling rising kept")
WAYS = {FALLING: True, RISING: False, KEPT: None}

MUTANTS = (
    Mutant("at least", why="equal functions on separate cells", above=sp.true),
    Mutant("g* rises", why="f = g", g_star=RISING),
    Mutant("f in place", why="f = g = 1 away from the centre", f_star=KEPT),
    Mutant("nine tenths", why="f = f*, g = g*", factor=sp.Rational(9, 10)),
)
SIGN = Assumption("nonnegative", "f ≥ 0 and g ≥ 0")


def _reading(
    name: str, title: str, says: str, assumes: tuple[Assumption, ...]
) -> Claim:
    return Claim(
        id=f"collins2024/lemma-i.2@{name}",
        title=f"rearrangement, {title}",
        says=says,
        latex=r"\int f g \le \int f^* g^*",
        quantifiers="for all measurable f, g as assumed",
        source=PAPER.at("Lemma I.2", "Appendix I"),
        wording=Wording.DERIVED,
        assumes=assumes,
        parameters={
            "f_star": FALLING,
            "g_star": FALLING,
            "factor": sp.S.One,
            "above": sp.false,
        },
        mutants=MUTANTS,
    )


LINE = _reading(
    "line",
    "the line",
    "On R^d the integral of f g is at most that of the rearrangements.",
    (SIGN, Assumption("vanishing", "{f > r} and {g > r} are finite for r > 0")),
)
SPHERE = _reading(
    "sphere",
    "the sphere",
    "On a sphere the integral of f g is at most that of the rearrangements.",
    (Assumption("bounded", "f and g are bounded, of any sign"),),
)


@functools.cache
def layers() -> tuple[str, ...]:
    """The layer-cake proof for nonnegative functions."""
    a, b, c = sp.symbols("a b c", nonnegative=True)  # |A∩B|, |A\B|, |B\A|
    v, s = sp.symbols("v s", positive=True)
    layer = sp.integrate(sp.Piecewise((1, s < v), (0, True)), (s, 0, sp.oo))
    smaller = (2 * a + b + c - sp.Abs(b - c)) / 2
    return (
        equal("∫_0^∞ 1{s < v} ds", layer, v),
        "standard (Tonelli): ∫ f g = ∫∫ |{f > s} ∩ {g > t}| ds dt over s, t > 0",
        equal(
            "min(a + b, a + c) - a, with a = |A∩B|, b = |A∖B|, c = |B∖A|",
            sp.expand(smaller - a),
            (b + c - sp.Abs(b - c)) / 2,
        ),
        need("min(b, c) ≥ 0", sp.Min(b, c).is_nonnegative),
        "so |A ∩ B| ≤ min(|A|, |B|); balls about one centre are nested, so that for "
        "them it is an equality, and {f* > s}, {g* > t} are as large as A and B",
    )


@functools.cache
def shifts() -> tuple[str, ...]:
    """On a space of measure 1 constants may be added: signs do not matter."""
    fg, f, g, c, e = sp.symbols("fg f g c e")  # ∫fg, ∫f, ∫g, two constants
    whole = fg + c * g + e * f + c * e  # ∫ (f + c)(g + e)
    star = sp.Symbol("fg_star")
    return (
        "{f + c > r} = {f > r - c}, so (f + c)* = f* + c; ∫ f* = ∫ f, as their level "
        "sets are equally large",
        equal(
            "∫ (f+c)*(g+e)* - ∫ (f+c)(g+e)",
            whole.subs(fg, star) - whole,
            star - fg,
        ),
        "with c, e so large that both functions are nonnegative",
    )


def sides(claim: Claim, cells: Cells) -> tuple[list[Layer], list[Layer]]:
    """The cells of f g, and those of the claimed rearrangements."""
    ways = [WAYS[claim.f_star], WAYS[claim.g_star]]
    return cells.in_place(), cells.rearranged(*ways)


def violated(claim: Claim, cells: Cells) -> bool:
    """Whether the claim is false for two functions."""
    left, right = (cells.product(side) for side in sides(claim, cells))
    right *= Fraction(int(claim.factor.p), int(claim.factor.q))
    return left < right if claim.above else left > right


def witness(claim: Claim, cells: Cells) -> dict[str, Any]:
    """Record both integrals as sums over cells."""
    inputs = {f"f{i}": value for i, value in enumerate(cells.f)}
    inputs |= {f"g{i}": value for i, value in enumerate(cells.g)}

    def total(side: list[Layer]) -> sp.Expr:
        terms = (
            sp.Rational(w) * sp.Symbol(f"f{i}") * sp.Symbol(f"g{j}") for w, i, j in side
        )
        return sp.Add(*terms)

    left, right = map(total, sides(claim, cells))
    op = "<" if claim.above else ">"
    says = f"∫ f g {op} claimed side, cells of measure {[*map(str, cells.sizes)]}"
    return formula(left, op, claim.factor * right, inputs, says)


def cells(*rows: tuple[int, int, int]) -> Cells:
    """Cells from rows of measure, f and g."""
    return Cells(*(tuple(map(Fraction, axis)) for axis in zip(*rows, strict=True)))


APART = cells((1, 1, 0), (1, 0, 1))  # f and g on separate cells
AWAY = cells((1, 0, 0), (1, 1, 1))  # both on the second cell
TOGETHER = cells((1, 1, 1), (1, 0, 0))
KNOWN = (APART, AWAY, TOGETHER, cells((1, 3, 1), (2, 1, 2), (1, 2, 3)))


@check(LINE, SPHERE, grade="symbolic", scope="all")
def layer_cake(claim: Claim) -> Outcome:
    """Write both integrals over level sets; on the sphere add constants first."""
    fits = (claim.f_star, claim.g_star, claim.above) == (FALLING, FALLING, sp.false)
    if fits and claim.factor >= 1:
        steps = layers() if claim.id == LINE.id else (*layers(), *shifts())
        return Holds("proved for all measurable functions", steps=steps)
    for known in KNOWN:
        if violated(claim, known):
            found = witness(claim, known)
            return Refuted(str(found["says"]), witness=found)
    return Inconclusive("no proof, and no example fails", cause=Cause.NO_PROOF)


@check(LINE, SPHERE, grade="property", scope="functions on up to 7 cells, exact")
def exact_cells(claim: Claim, search: Search) -> Outcome:
    """Hunt over functions on cells of rational measure; of any sign on the sphere.

    A sphere has measure 1: its cells are scaled, which changes both sides alike.
    """
    from hypothesis import strategies as st

    low = 0 if claim.id == LINE.id else -9
    row = st.tuples(st.integers(1, 6), st.integers(low, 9), st.integers(low, 9))
    ratios: list[float] = []

    def fails(drawn: Cells) -> bool:
        left, right = (drawn.product(side) for side in sides(claim, drawn))
        if left >= 0 and right > 0:
            ratios.append(float(left / right))
        return violated(claim, drawn)

    outcome = search.for_all(
        st.lists(row, min_size=1, max_size=7).map(lambda rows: cells(*rows)),
        fails,
        lambda drawn: witness(claim, drawn),
        searched="up to 7 cells of measure 1 to 6, values up to 9",
        pinned=_ordered_first(KNOWN),
        scale=0.4,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    left, right = (TOGETHER.product(side) for side in sides(claim, TOGETHER))
    says = "integral of f g over that of f* g*, both positive"
    return outcome.but(
        tightness=(Tightness("f = f*, g = g*", float(left / right)),),
        figures=(slack({says: ratios}, title="Slack of the rearrangement"),),
    )


def _ordered_first(known: Sequence[Cells]) -> list[Cells]:
    return sorted(known, key=lambda one: len(one.sizes))


@necessity(
    LINE,
    assumption="nonnegative",
    needed=True,
    grade="certified",
    scope="f = g = -1 on [0, 1]",
)
def negative_on_the_line(claim: Claim) -> Outcome:
    """{f > r} is the whole line but a unit for r < 0, so that f* = g* = 0.

    A ball of infinite measure is the whole line: {f* > r} is that for all r < 0.
    """
    unit, positive = cells((1, -1, -1)), cells((1, 0, 0))
    rearranged = positive.product(sides(claim, positive)[1])
    if unit.product(unit.in_place()) <= rearranged:
        return Holds("holds", searched="f = g = -1 on [0, 1]")
    record = formula(
        sp.Symbol("f0") * sp.Symbol("g0"),
        ">",
        sp.Rational(rearranged),
        {"f0": -1, "g0": -1},
        "f = g = -1 on [0, 1], 0 elsewhere: ∫ f g = 1, and f* = g* = 0",
    )
    return Refuted("f* = g* = 0", witness=record)
