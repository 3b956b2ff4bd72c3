"""Decide claims about minimisers from the signs of L' that balls prove.

A claim fixes losses and an interval for each. If L' is proved to change sign from minus
to plus in some interval that does not meet the claimed one, then there is a stationary
point elsewhere: the claim is refuted. Its witness holds the ends of enclosures; they
are recomputed by :func:`theorems.collins2024.enclosure.enclose`, not by the witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from theorems.collins2024.enclosure.brackets import Bracket, slope_at, toward_zero
from theorems.collins2024.enclosure.line import Line
from theorems.collins2024.enclosure.population import CLASSES, FIRST, Population
from verify import Claim, Holds, Inconclusive, Outcome, Refuted
from verify.verdict import Cause

if TYPE_CHECKING:
    from flint import arb

d, t = sp.symbols("d t")
DISCREPANCY = 1 - t  # of the first harmonic
BELOW = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 32), Fraction(0), Fraction(-1))
ABOVE = (Fraction(5, 4), Fraction(2), Fraction(4), Fraction(16))


@dataclass(frozen=True)
class Claimed:
    """One loss of a claim and the interval that is to hold its stationary point.

    Attributes:
        population: The loss.
        centre: Middle of the interval, in the scale's convention of the paper.
        width: Relative half-width.
        scale: gamma_i is proportional to exp(scale w x_i . x).
    """

    population: Population
    centre: Fraction
    width: Fraction
    scale: Fraction

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Ends of the interval."""
        return self.centre * (1 - self.width), self.centre * (1 + self.width)

    def slope(self, w: Fraction) -> arb:
        """L' at w in the claim's convention, up to the factor ``scale`` > 0."""
        return slope_at(self.population, w * self.scale)


def fraction(x: Any) -> Fraction:
    """A sympy rational as a fraction."""
    return Fraction(int(x.p), int(x.q))


def losses(claim: Claim) -> Iterator[Claimed]:
    """Every loss of a claim, class by class.

    Args:
        claim: With parameters ``configurations`` (d, n, sigma^2, w* of the affine and
            of the ReLU class), ``half_width``, ``scale``, ``spread`` (E |omega|^2 of a
            task's direction) and ``discrepancy`` (of the first harmonic).

    Yields:
        The losses, with their intervals.
    """
    first = dict(zip(map(sp.sympify, ("1-t", "1+t", "1-t**2")), FIRST, strict=True))
    for size, n, sigma2, *centres in claim.configurations:
        for kind, centre in zip(CLASSES, centres, strict=True):
            population = Population(
                kind,
                int(size),
                int(n),
                fraction(sigma2),
                fraction(claim.spread.subs(d, size)),
                first[claim.discrepancy],
            )
            yield Claimed(
                population,
                fraction(centre),
                fraction(claim.half_width),
                fraction(claim.scale),
            )


def brackets(claim: Claim) -> Outcome:
    """Decide whether every interval holds a stationary point.

    Args:
        claim: See :func:`losses`.

    Returns:
        HOLDS with the table of slopes, REFUTED with an interval beside a claimed one
        that holds another, or INCONCLUSIVE when a sign stays open.
    """
    found = []
    for claimed in losses(claim):
        left, right = claimed.ends
        below, above = claimed.slope(left), claimed.slope(right)
        if below < 0 < above:
            found.append(Bracket(left, right, -toward_zero(below), toward_zero(above)))
            continue
        if below > 0:
            return _elsewhere(claimed, BELOW, right=False)
        if above < 0:
            return _elsewhere(claimed, ABOVE, right=True)
        return Inconclusive(
            f"the sign of L' at {float(left)} or {float(right)} stays open",
            cause=Cause.UNDECIDED,
        )
    return Holds(
        f"L' changes sign in each of {len(found)} intervals",
        n=len(found),
        certificate=_table(
            {
                "left": [x.left for x in found],
                "right": [x.right for x in found],
                "below": [x.below for x in found],
                "above": [x.above for x in found],
            },
            ["min", ["neg", ["in", "below"]], ["in", "above"]],
            "bounds of L'(left) < 0 < L'(right), the ends of enclosures in balls",
        ),
    )


def _elsewhere(
    claimed: Claimed, factors: tuple[Fraction, ...], *, right: bool
) -> Outcome:
    """Look for a change of sign on one side of the claimed interval."""
    left, end = claimed.ends
    step = 2 * claimed.width if right else -2 * claimed.width
    near = claimed.centre * (1 + step)
    at_near = claimed.slope(near)
    for far in (claimed.centre * factor for factor in factors):
        at_far = claimed.slope(far)
        low, high = (near, far) if right else (far, near)
        below, above = (at_near, at_far) if right else (at_far, at_near)
        if below < 0 < above:
            return Refuted(
                f"{claimed.population.kind}, d = {claimed.population.d}: L' changes "
                f"sign between {float(low):.13g} and {float(high):.13g}, outside the "
                "claimed interval",
                witness=_witness({
                    "left": left,
                    "right": end,
                    "low": low,
                    "high": high,
                    "below": -toward_zero(below),
                    "above": toward_zero(above),
                }),
            )
    return Inconclusive(
        "L' has the wrong sign at the claimed interval, and no change was found",
        cause=Cause.UNDECIDED,
    )


def whole_line(claim: Claim, lines: Mapping[Population, Line]) -> Outcome:
    """Decide whether every interval holds the only stationary point of its loss.

    Args:
        claim: See :func:`losses`.
        lines: Proofs made for the paper's losses.

    Returns:
        HOLDS with the proofs' numbers, REFUTED as in :func:`brackets`, or INCONCLUSIVE
        when there is no proof for a loss and its interval.
    """
    outcome = brackets(claim)
    if outcome.verdict != "HOLDS":
        return outcome
    found = []
    for claimed in losses(claim):
        line = lines.get(claimed.population)
        ends = tuple(w * claimed.scale for w in claimed.ends)
        if line is None or (line.bracket.left, line.bracket.right) != ends:
            return Inconclusive(
                f"nothing proves that {claimed} has one stationary point",
                cause=Cause.NO_PROOF,
            )
        found.append(line)
    columns = {
        "right": [x.bracket.right for x in found],
        "below": [x.bracket.below for x in found],
        "above": [x.bracket.above for x in found],
        "tail": [Fraction(x.start) for x in found],
        "margin": [x.margin for x in found],
    }
    positive = [
        "min",
        ["neg", ["in", "below"]],
        ["in", "above"],
        ["in", "margin"],
        ["sub", ["in", "tail"], ["in", "right"]],
    ]
    says = "L' at the ends, W where the tail begins, and its bound of w^2 L'/(2c)"
    panels = sum(x.panels for x in found)
    return Holds(
        f"one stationary point of each of {len(found)} losses: {panels} panels",
        n=len(found),
        measured=min(float(x.margin) for x in found),
        certificate=_table(columns, positive, says),
        steps=[step for x in found for step in steps(x)],
    )


def steps(line: Line) -> tuple[str, ...]:
    """What is proved for one loss, interval by interval."""
    population, left = line.population, float(line.bracket.left)
    name = f"{population.kind}, d = {population.d}, n = {population.n}"
    minus = (
        "pairs of tokens: L' < 0 on (-∞, 0]"
        if population.kind == "affine"
        else "panels, and -L'(-w) ≥ L'(w): L' < 0 on (-∞, 0]"
    )
    return (
        f"{name}: L' < 0 to the left of w* = {left:.11g}…, by panels from 0",
        f"{name}: L'' > 0 around it, L' changes sign in the interval",
        f"{name}: L' > 0 up to W = {line.start}, by panels",
        f"{name}: w²L'/(2c) > {float(line.margin):.3g} beyond W, by the nearest token",
        f"{name}: {minus}",
    )


def _written(x: Fraction) -> int | str:
    return x.numerator if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def _table(
    columns: Mapping[str, list[Fraction]], positive: list[Any], says: str
) -> dict[str, Any]:
    """A table in whose rows an expression is positive, exactly."""
    rows = zip(*columns.values(), strict=True)
    return {
        "kind": "table",
        "says": says,
        "columns": list(columns),
        "rows": [[_written(x) for x in row] for row in rows],
        "aggregate": "all",
        "relation": ["<", 0, positive],
    }


def _witness(inputs: Mapping[str, Fraction]) -> dict[str, Any]:
    """L'(low) <= below < 0 < above <= L'(high), and [low, high] misses the claimed."""
    gap = [
        "max",
        ["sub", ["in", "left"], ["in", "high"]],
        ["sub", ["in", "low"], ["in", "right"]],
    ]
    return {
        "kind": "formula",
        "says": (
            "L'(low) ≤ below < 0 < above ≤ L'(high), and [low, high] does not meet "
            "[left, right]; below and above are ends of enclosures in balls"
        ),
        "inputs": {name: _written(x) for name, x in inputs.items()},
        "relation": [
            "<",
            0,
            ["min", ["neg", ["in", "below"]], ["in", "above"], gap],
        ],
    }
