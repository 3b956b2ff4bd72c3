"""A finite law in place of that of x_i . x, and what the exchange costs.

The tokens enter the loss through t_i = x_i . x only, whose density is proportional to
(1 - t^2)^{(d-3)/2}. A Gauss rule gives a law on N points that agrees with it on
polynomials of degree below 2N - 2m. One coordinate at a time is exchanged; as a
function of one t_i the integrands are analytic as long as w |Im t_i| < pi.

After the exchange the problem is the exact problem for another law, a finite one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure.population import Population, ball

if TYPE_CHECKING:
    from flint import arb

Column = list["arb"]
PHASES = (1.5707, 2.0, 2.3, 2.5, 2.7, 2.85, 3.0)  # psi: below pi/2, or below pi
WIDEST = 4.0  # the ellipse is capped: near w = 0 it would be as large as we please


@lru_cache(maxsize=64)
def law(d: int, size: int, bits: int) -> tuple[Column, Column]:
    """Points t_i and probabilities p_i: Gauss-Legendre, Gauss-Chebyshev for even d.

    Args:
        d: Size of a covariate.
        size: Number N of points.
        bits: Precision.

    Returns:
        Balls around the points and the probabilities.
    """
    from flint import arb, ctx

    with ctx.workprec(bits):
        density = arb(d) / 2
        factor = density.gamma() / (
            arb.const_sqrt_pi() * (density - arb("0.5")).gamma()
        )
        if d % 2:
            pairs = [arb.legendre_p_root(size, k, weight=True) for k in range(size)]
        else:
            even = arb.pi() / size
            angles = [arb(2 * k + 1) / (2 * size) for k in range(size)]
            pairs = [(angle.cos_pi(), even) for angle in angles]
        m = spill(d)
        points = [t for t, _ in pairs]
        return points, [factor * w * (1 - t * t) ** m for t, w in pairs]


def spill(d: int) -> int:
    """m: the density is (1 - t^2)^m times the weight of the Gauss rule."""
    return (d - 3) // 2 if d % 2 else (d - 2) // 2


@lru_cache(maxsize=64)
def harmonics(d: int, size: int, top: int, bits: int) -> dict[int, Column]:
    """P_k at the points of the law, for even k from 2 to ``top``.

    The recurrence loses at most log2(1 + sqrt 2) < 1.28 bits a step in balls, so it
    runs at a precision higher by as much.

    Args:
        d: Size of a covariate.
        size: Number of points.
        top: Largest degree.
        bits: Precision of the results.

    Returns:
        Degree to values.
    """
    from flint import ctx

    more = bits + 20 + math.ceil(1.28 * top)
    points, _ = law(d, size, more)
    with ctx.workprec(more):
        before, now = [ball(1.0)] * size, points
        found = {}
        for k in range(1, top):
            # (k + d - 2) P_{k+1} = (2k + d - 2) t P_k - k P_{k-1}
            after = [
                ((2 * k + d - 2) * t * y - k * x) / (k + d - 2)
                for t, x, y in zip(points, before, now, strict=True)
            ]
            before, now = now, after
            if k % 2:
                found[k + 1] = now
    return found


@dataclass(frozen=True)
class Ellipse:
    """Where one coordinate may move: E_rho, inside |Im t| <= psi/w.

    Attributes:
        rho: Sum of the half axes.
        kappa: |S|^2 >= kappa (|a_1|^2 + (sum of the others)^2) there.
        half_axis: The larger half axis, a bound on |t|.
    """

    rho: arb
    kappa: arb
    half_axis: arb

    @staticmethod
    def of(psi: float, w: arb) -> Ellipse:
        """The ellipse of a phase psi < pi, for all scales up to |w|."""
        wide = ball(WIDEST)
        width = w.abs_upper()
        if width > 0:
            b = ball(psi) / width
            reach = b + (1 + b * b).sqrt()
            wide = reach if reach < wide else wide
        kappa = ball(1.0) if psi <= PHASES[0] else 1 + ball(psi).cos()
        return Ellipse(wide, kappa, (wide + 1 / wide) / 2)

    @property
    def swing(self) -> arb:
        """Bound on |t_i + t_j - 2 mean t|: the factor that a derivative costs."""
        return 2 * self.half_axis * (1 + (2 / self.kappa).sqrt())

    @property
    def series(self) -> arb:
        """1/(kappa (1 - 1/rho)), which all bounds share."""
        return 1 / (self.kappa * (1 - 1 / self.rho))


def truncation(population: Population, ellipse: Ellipse, top: int, mass: arb) -> arb:
    """Bound on what degrees above ``top`` add beyond mass (1 + V), and on its slope.

    E_k = 1 + V - 2n E gamma_1 P_k(t_1)
                + n E gamma_1 P_k(t_1) sum_{j>1} gamma_j P_k(t_j),
    and P_k is orthogonal to polynomials of smaller degree. With |gamma_1| <= kappa^-1/2
    and |gamma_1| sum_{j>1} |gamma_j| <= 1/(2 kappa) on the ellipse, |E_k' - V'| is at
    most 3n swing rho^-k /(kappa (1 - 1/rho)); |E_k - 1 - V| has 5n for 3n swing >= 6n.

    Args:
        population: The loss.
        ellipse: Where one coordinate may move.
        top: Largest degree that is kept.
        mass: Weight of the others.

    Returns:
        The bound.
    """
    if population.kind == "affine":
        return ball(0.0)
    n = population.n
    decay = ellipse.rho ** (-(top + 2))
    return mass * 3 * n * ellipse.swing * ellipse.series * decay


def exchange(
    population: Population,
    ellipse: Ellipse,
    size: int,
    weights: dict[int, arb],
    noise: arb,
) -> arb:
    """Bound on the change of L, and of L', when the law is exchanged for N points.

    n times the error of the Gauss rule, 4 sup rho^{-(2N-2m)}/(1 - 1/rho), with the
    supremum of the integrand on the ellipse: |D_k| <= 2 rho^k there.

    Args:
        population: The loss.
        ellipse: Where one coordinate may move.
        size: Number N of points.
        weights: The c_k.
        noise: Weight of V.

    Returns:
        The bound.
    """
    rho = ellipse.rho
    peak = sum((12 * c * rho**k for k, c in weights.items()), noise)
    if population.first == "1 - t^2":  # |1 - t^2| <= 2 rho^2
        peak += 12 * weights[1] * (rho**2 - rho)
    decay = rho ** (-(2 * size - 2 * spill(population.d)))
    return 4 * population.n * decay * ellipse.series * peak * ellipse.swing
