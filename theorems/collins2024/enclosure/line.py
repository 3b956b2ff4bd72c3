"""One stationary point on the whole line: a bracket, panels and two tails.

    [0, m]        L' < 0, panels              m = 0.8 w*, M = 1.25 w*, rounded to 1/64
    [m, M]        L'' > 0, panels; L' changes sign inside the bracket
    [M, W]        L' > 0, panels
    [W, infinity) L' > 0, the two nearest tokens (tail)
    (-infinity, 0]  affine: L' < 0 always. ReLU: -L'(-w) = L'(w) + 2c E Var(t), positive
                  where L'(w) >= 0; panels on [0, M]

L' extends analytically to |Im w| < pi/2 and is bounded on |Im w| <= v by
(4c + sigma^2)(2 + 2/cos v)/cos^2 v, since |sum e^{w t_j}| >= cos v sum e^{Re w t_j}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure import tail
from theorems.collins2024.enclosure.brackets import Bracket, prove, toward_zero
from theorems.collins2024.enclosure.point import enclose_at
from theorems.collins2024.enclosure.population import Population, ball

if TYPE_CHECKING:
    from flint import arb

    from verify.certify.panels import Panel

BITS = 192
WIDTH = Fraction(6)  # of the widest panel
HALVINGS = 6
STRIPS = tuple(k / 20 for k in range(8, 31))  # v, below pi/2
EDGE = 64


class CertificateError(ArithmeticError):
    """Some sign was not proved: the message says where."""


@dataclass(frozen=True)
class Line:
    """A proof that a loss has one stationary point.

    Attributes:
        population: The loss.
        bracket: The interval that holds it.
        start: W, where the tail begins.
        margin: w^2 L'(w)/(2c) is above this beyond W.
        panels: Intervals on which a sign was proved.
        evaluations: Enclosures that they took.
    """

    population: Population
    bracket: Bracket
    start: int
    margin: Fraction
    panels: int
    evaluations: int


def certify(population: Population, left: Fraction, right: Fraction) -> Line:
    """Prove that the only stationary point lies between ``left`` and ``right``.

    Args:
        population: The loss; d >= 3.
        left: Positive, with L'(left) < 0.
        right: With L'(right) > 0.

    Returns:
        The proof's numbers.

    Raises:
        CertificateError: A sign was not proved.
    """
    from flint import ctx

    bracket = prove(population, left, right)
    start = tail.settles(population)
    if not start:
        raise CertificateError(f"no tail begins below {tail.FARTHEST}: {population}")
    edge = EDGE * 2 ** max(0, math.ceil(-math.log2(left)))
    low = Fraction(math.floor(left * edge * 4 / 5), edge)
    high = Fraction(math.ceil(right * edge * 5 / 4), edge)
    if not 0 < low < left < right < high:
        raise CertificateError(f"bracket too wide: {left} to {right}")
    walk = Walk(population)
    with ctx.workprec(BITS):
        walk.prove(Fraction(0), low, -1)
        walk.prove(low, high, +1, slope=True)
        if high < start:
            walk.prove(high, Fraction(start), +1)
        if population.kind == "relu":
            mirror = Walk(replace(population, first="1 + t"))
            mirror.prove(Fraction(0), high, +1)
            walk.panels += mirror.panels
            walk.evaluations += mirror.evaluations
    margin = toward_zero(tail.margin(population, start))
    return Line(population, bracket, start, margin, walk.panels, walk.evaluations)


@dataclass
class Walk:
    """Signs of L' or L'' on intervals, panel by panel.

    Attributes:
        population: The loss.
        panels: Panels used.
        evaluations: Enclosures made.
    """

    population: Population
    panels: int = 0
    evaluations: int = 0

    def prove(
        self, low: Fraction, high: Fraction, sign: int, *, slope: bool = False
    ) -> None:
        """Prove that L' (or L'') has this sign on [low, high].

        Args:
            low: Left end, dyadic.
            high: Right end, dyadic.
            sign: 1 or -1.
            slope: Take L'' instead.

        Raises:
            CertificateError: Some panel stays open.
        """
        count = 1
        while (high - low) / count > WIDTH:
            count *= 2
        step = (high - low) / count
        todo = [(low + i * step, low + (i + 1) * step, 0) for i in range(count)]
        while todo:
            left, right, depth = todo.pop()
            panel = self._panel(left, right, slope=slope)
            found = (panel.slope_sign() if slope else panel.sign()) if panel else 0
            if found == sign:
                self.panels += 1
            elif found or depth == HALVINGS:
                which = "L''" if slope else "L'"
                raise CertificateError(
                    f"{which} is not of sign {sign} on [{left}, {right}]"
                )
            else:
                middle = (left + right) / 2
                todo += [(left, middle, depth + 1), (middle, right, depth + 1)]

    def _at(self, w: arb, eps: float, reach: Fraction) -> arb:
        self.evaluations += 1
        return enclose_at(self.population, w, eps, float(reach))[1]

    def _panel(self, low: Fraction, high: Fraction, *, slope: bool) -> Panel | None:
        """Interpolate L' as accurately as its size asks for; None if that is 0."""
        from verify.certify.panels import interpolate

        goal = self._size(low, high, slope=slope)
        if goal is None:
            return None
        radius = float(high - low) / 2
        terms, rho, peak = self._degree(radius, goal / 4, slope=slope)
        blur = terms**3 / radius if slope else terms
        eps = 2.0 ** math.floor(math.log2(goal / (8 * blur)))

        def function(w: arb) -> arb:
            return self._at(w, eps, high)

        return interpolate(function, low, high, terms=terms, rho=rho, peak=peak)

    def _size(self, low: Fraction, high: Fraction, *, slope: bool) -> float | None:
        """About the smallest |L'| (or |L''|, from differences), a guess."""
        near = (high - low) / 16 if slope else Fraction(0)
        pairs = [(low, low + near), (high - near, high)]
        eps, sizes = 2.0**-30 * float(self.population.scale), []
        for pair in pairs:
            first, *more = (self._at(ball(w), eps, high) for w in sorted(set(pair)))
            change = (more[0] - first) / ball(near) if more else first
            sizes.append(float(abs(change).lower()))
        return min(sizes) if min(sizes) > 0 else None

    def _degree(
        self, radius: float, goal: float, *, slope: bool
    ) -> tuple[int, arb, arb]:
        """The fewest terms that reach the goal, over strips |Im w| <= v."""
        return min(
            (self._terms(v, radius, goal, slope=slope) for v in STRIPS),
            key=lambda found: found[0],
        )

    def _terms(
        self, v: float, radius: float, goal: float, *, slope: bool
    ) -> tuple[int, arb, arb]:
        rho, peak = _widest(v, radius), _peak(self.population, v)
        scale = 4 * float(peak) / (1 - 1 / float(rho)) / goal
        terms = math.ceil(math.log(scale) / math.log(float(rho)))
        if slope:
            more = 4 * terms**2 / radius
            terms += math.ceil(math.log(more) / math.log(float(rho)))
        return max(terms, 4), rho, peak


def _widest(v: float, radius: float) -> arb:
    """Largest rho with radius (rho - 1/rho)/2 <= v: inside the strip."""
    slope = ball(v) / ball(radius)
    return (slope + (1 + slope * slope).sqrt()).lower()


def _peak(population: Population, v: float) -> arb:
    cosine = ball(v).cos()
    return ball(population.scale) * (2 + 2 / cosine) / cosine**2
