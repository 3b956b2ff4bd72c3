"""Finite classes of functions for Lemma C.2, where both sides are exact.

A function on the points f(z_i) extends to an L-Lipschitz h on R^n if and only if it is
L-Lipschitz on them (McShane), so that h is a list of values and L² the largest square
of a slope: rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

import sympy as sp

from theorems.ren2024.bound.steps import rational
from verify import Claim, Outcome, Tightness, Verdict
from verify.search import Search
from verify.slack import slack
from verify.symbolic import tree

L = sp.Symbol("L", positive=True)
INDEPENDENT, SHARED = sp.symbols("independent shared")  # signs of the coordinates

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Instance:
    """A finite class on a sample, with a loss.

    Attributes:
        functions: For each function its values f(z_1), .., f(z_M).
        loss: h at the values that occur, in their sorted order.
    """

    functions: tuple[tuple[Vector, ...], ...]
    loss: tuple[int, ...]

    @cached_property
    def heights(self) -> dict[Vector, int]:
        """H as a table."""
        found = sorted({value for f in self.functions for value in f})
        return dict(zip(found, self.loss, strict=False))

    @cached_property
    def slope(self) -> Fraction:
        """L², the largest square of a slope of h."""
        slopes = [
            Fraction((g - h) ** 2, sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
            for (x, g), (y, h) in combinations(self.heights.items(), 2)
        ]
        return max(slopes, default=Fraction())


PINNED = (
    Instance((((1, 1),), ((0, 0),)), (0, 1)),
    Instance((((1, 1),), ((0, 0),)), (0, 10)),
    Instance((((1, -1),), ((0, 0),)), (0, 1)),
)
"""One point, two functions: √2 is attained, with L small and large."""


def left_terms(instance: Instance) -> list[list[int]]:
    """Σ_i σ_i h(f(z_i)) for all signs (rows) and functions."""
    points = len(instance.functions[0])
    losses = [[instance.heights[v] for v in f] for f in instance.functions]
    return [
        [sum(s * h for s, h in zip(signs, row, strict=True)) for row in losses]
        for signs in product((-1, 1), repeat=points)
    ]


def right_terms(instance: Instance, signs: sp.Symbol) -> list[list[int]]:
    """Σ_it σ_it f_t(z_i) for all signs (rows) and functions."""
    flat = [[x for value in f for x in value] for f in instance.functions]
    points, width = len(instance.functions[0]), len(instance.functions[0][0])
    if signs == SHARED:
        several = (
            [s for s in one for _ in range(width)]
            for one in product((-1, 1), repeat=points)
        )
    else:
        several = (list(one) for one in product((-1, 1), repeat=points * width))
    return [
        [sum(s * x for s, x in zip(one, row, strict=True)) for row in flat]
        for one in several
    ]


def average(rows: list[list[int]]) -> Fraction:
    """The mean of the suprema."""
    return Fraction(sum(map(max, rows)), len(rows))


def square(claim: Claim, instance: Instance) -> Fraction:
    """The claimed factor, squared, at the instance's L."""
    value = sp.expand(claim.factor**2).subs(L**2, rational(instance.slope))
    return Fraction(int(value.p), int(value.q))


def violated(claim: Claim, instance: Instance) -> bool:
    """Whether the left side, never negative, is above the right one."""
    left = average(left_terms(instance))
    right = average(right_terms(instance, claim.signs))
    return left**2 > square(claim, instance) * right**2


def witness(claim: Claim, instance: Instance) -> dict[str, Any]:
    """Both averages, term by term."""

    def mean(rows: list[list[int]]) -> list[Any]:
        return ["div", ["add", *(["max", *row] for row in rows), 0], len(rows)]

    root = {L: sp.sqrt(rational(instance.slope))}
    return {
        "kind": "formula",
        "says": f"values {instance.functions}, h = {instance.loss}: the average of the "
        "losses is above the claimed multiple of that of the coordinates",
        "inputs": {},
        "relation": [
            ">",
            mean(left_terms(instance)),
            [
                "mul",
                tree(claim.factor.subs(root), {}),
                mean(right_terms(instance, claim.signs)),
            ],
        ],
    }


def hunt(claim: Claim, search: Search) -> Outcome:
    """Search small classes; all signs are enumerated."""
    from hypothesis import strategies as st

    squares: list[Fraction] = []

    @st.composite
    def instances(draw: Any) -> Instance:
        points, width = draw(st.integers(1, 2)), draw(st.integers(1, 2))
        vector = st.tuples(*[st.integers(-2, 2)] * width)
        function = st.tuples(*[vector] * points)
        count = draw(st.integers(2, 3))
        functions = draw(st.tuples(*[function] * count))
        heights = st.integers(-3, 3)
        return Instance(functions, draw(st.tuples(*[heights] * (count * points))))

    def judged(instance: Instance) -> bool:
        if not instance.slope:
            search.discard("h is constant")
        right = average(right_terms(instance, claim.signs))
        bound = square(claim, instance) * right**2
        if bound:
            ratio = average(left_terms(instance)) ** 2 / bound
            squares.append(min(ratio, Fraction(1)))
            search.aim(float(ratio), "left over right, squared")
        return violated(claim, instance)

    outcome = search.for_all(
        instances(),
        judged,
        lambda instance: witness(claim, instance),
        searched="at most 3 functions, M, n ≤ 2, values in [-2, 2], h in [-3, 3]",
        pinned=claim.pinned,
        scale=0.5,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    says, ratios = "left side over right side", [float(x) ** 0.5 for x in squares]
    return outcome.but(
        tightness=(Tightness(says, max(ratios, default=0.0)),),
        figures=(slack({says: ratios}, title="Slack of the contraction"),),
    )
