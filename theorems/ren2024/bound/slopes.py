"""Lipschitz constants of the losses on products of balls: exact pairs of points.

A loss is h(f, v, v_1, .., v_K) = -⟨f, v - mean v_j⟩, all arguments of norm at most ρ;
without negatives K = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.ren2024.bound.notation import K, rho
from theorems.ren2024.bound.steps import rational
from verify import (
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Outcome,
    Refuted,
    Tightness,
    Verdict,
)
from verify.search import Search
from verify.slack import slack
from verify.symbolic import tree

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Pair:
    """Two points of the product of balls.

    Attributes:
        radius: ρ.
        first: f, v and the negatives.
        second: The same of the other point.
    """

    radius: int
    first: tuple[Vector, ...]
    second: tuple[Vector, ...]


def loss(point: tuple[Vector, ...]) -> Fraction:
    """H at one point."""
    f, v, *negatives = point
    means = [
        sum((u[t] for u in negatives), Fraction()) / max(len(negatives), 1)
        for t in range(len(f))
    ]
    return -sum((a * (b - c) for a, b, c in zip(f, v, means, strict=True)), Fraction())


def apart(pair: Pair) -> Fraction:
    """The squared distance of the points."""
    both = zip(pair.first, pair.second, strict=True)
    gaps = (zip(x, y, strict=True) for x, y in both)
    return sum(((a - b) ** 2 for gap in gaps for a, b in gap), Fraction())


def corner(radius: int, negatives: int, step: Fraction = Fraction(1, 1000)) -> Pair:
    """A corner of the balls, where the gradient is longest, and a step inwards."""
    signs = [1, 1, *[-1] * negatives]
    speeds = [Fraction(2 if negatives else 1), Fraction(1)]
    speeds += [Fraction(1, max(negatives, 1))] * negatives
    first = tuple((Fraction(radius * s),) for s in signs)
    second = tuple(
        (s * (radius - step * speed),) for s, speed in zip(signs, speeds, strict=True)
    )
    return Pair(radius, first, second)


@dataclass(frozen=True)
class Form:
    """Which loss.

    Attributes:
        negatives: Numbers of negatives that are tried.
    """

    negatives: tuple[int, ...]

    def corners(self) -> tuple[Pair, ...]:
        """The steepest pairs, for ρ below, at and above 1."""
        return tuple(corner(r, k) for k in self.negatives for r in (1, 3))


INNER = Form((0,))
WITH_NEGATIVES = Form((1, 2, 4))


def allowed(claim: Claim, pair: Pair) -> Fraction:
    """The claimed square of the constant."""
    negatives = max(len(pair.first) - 2, 1)
    value = claim.square.subs({rho: pair.radius, K: negatives})
    return Fraction(int(value.p), int(value.q))


def excessive(claim: Claim, pair: Pair) -> bool:
    """Whether the losses differ by more than the claimed constant allows."""
    rise = loss(pair.first) - loss(pair.second)
    return rise**2 > allowed(claim, pair) * apart(pair)


def witness(claim: Claim, pair: Pair) -> dict[str, Any]:
    """Both losses, written out, against the claimed constant."""
    names: dict[str, str] = {}

    def entry(side: str, part: int, t: int) -> list[str]:
        name = f"{side}{part}_{t}"
        point = pair.first if side == "x" else pair.second
        names[name] = str(point[part][t])
        return ["in", name]

    width, parts = len(pair.first[0]), len(pair.first)
    places = [(i, t) for i in range(parts) for t in range(width)]
    steps = [["sub", entry("x", i, t), entry("y", i, t)] for i, t in places]
    squares = [["pow", step, 2] for step in steps]

    def written(side: str) -> list[Any]:
        terms: list[Any] = []
        for t in range(width):
            f, value = entry(side, 0, t), entry(side, 1, t)
            if parts > 2:
                rest = [entry(side, i, t) for i in range(2, parts)]
                value = ["sub", value, ["div", ["add", 0, *rest], parts - 2]]
            terms.append(["mul", f, value])
        return ["neg", ["add", 0, *terms]]

    rise = ["sub", written("x"), written("y")]
    limit = tree(rational(allowed(claim, pair)), {})
    return {
        "kind": "formula",
        "says": f"ρ = {pair.radius}, {parts - 2} negatives: the losses at two points "
        "differ by more than the constant times their distance",
        "inputs": names,
        "relation": [">", ["pow", rise, 2], ["mul", limit, ["add", 0, *squares]]],
    }


def steepest(
    claim: Claim, form: Form, proved: sp.Expr, proof: Callable[[], tuple[str, ...]]
) -> Outcome:
    """Hold if the claimed square is at least the proved one, else look at corners."""
    excess = sp.simplify(claim.square / proved)
    if excess.is_number and excess >= 1:
        pair = corner(1, form.negatives[0])
        rise = loss(pair.first) - loss(pair.second)
        reached = float(rise**2 / (allowed(claim, pair) * apart(pair))) ** 0.5
        tight = Tightness("slope at a step of 1/1000 from a corner", reached)
        return Holds("proved for all ρ", steps=proof(), tightness=(tight,))
    for pair in form.corners():
        if excessive(claim, pair):
            record = witness(claim, pair)
            return Refuted(str(record["says"]), witness=record)
    return Inconclusive("no proof, and no corner is steeper", cause=Cause.NO_PROOF)


def hunt(claim: Claim, form: Form, search: Search) -> Outcome:
    """Search rational pairs of points."""
    from hypothesis import strategies as st

    squares: list[float] = []

    @st.composite
    def pairs(draw: Any) -> Pair:
        radius, width = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        parts = 2 + draw(st.sampled_from(form.negatives))
        # twelfths of ρ; with two entries up to 8/12, 0.94 ρ in all
        most = 12 if width == 1 else 8
        entries = st.integers(-most, most)
        points = st.tuples(*[st.tuples(*[entries] * width)] * parts)

        def scaled(point: Any) -> tuple[Vector, ...]:
            return tuple(tuple(Fraction(x * radius, 12) for x in v) for v in point)

        return Pair(radius, scaled(draw(points)), scaled(draw(points)))

    def violated(pair: Pair) -> bool:
        distance = apart(pair)
        if not distance:
            search.discard("the same point twice")
        rise = loss(pair.first) - loss(pair.second)
        square = rise**2 / (allowed(claim, pair) * distance)
        squares.append(min(float(square), 1.0))
        return square > 1

    outcome = search.for_all(
        pairs(),
        violated,
        lambda pair: witness(claim, pair),
        searched="multiples of ρ/12, ρ ≤ 3, d_o ≤ 2",
        pinned=form.corners(),
        scale=0.25,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    says, reached = "slope over constant", [square**0.5 for square in squares]
    return outcome.but(
        tightness=(Tightness(says, max(reached, default=0.0)),),
        figures=(slack({says: reached}, title="Slack of the Lipschitz constant"),),
    )
